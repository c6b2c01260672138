//! `core`: calls, tuples, types, and what is true of all values.
//!
//! ```
//! use regraft_dialects::{context, core};
//! use regraft_ir::{FunctionBuilder, Type};
//!
//! let ctx = context();
//! let mut b = FunctionBuilder::new(&ctx, "f", &[Type::F64, Type::I64], Type::I64);
//! let pair = b.push(core::tuple([b.param(0), b.param(1)]))?;
//! let second = b.push(core::get(pair, b.const_i64(2)))?;
//! assert_eq!(b.function().ty(second), Type::I64);
//! # Ok::<(), regraft_ir::IrError>(())
//! ```

use crate::attrs::{DEFINED, INBOUNDS};
use crate::ir::{Constant, Effects, Fold, InstView, Operand, OperandKind, Syntax, Type, TypeKind};
use crate::semantics::{convert, scalar};
use crate::types::{check_fits, describe, field_type, is_exact, is_subtype};

/// Reads what it is given, and all that can be reached from there.
const READS_ALL: Effects = Effects {
    reads: crate::ir::OperandSet::ALL,
    reads_shape: crate::ir::OperandSet::ALL,
    deep: true,
    ..Effects::NONE
};

/// Output: it may not be moved or removed, and it reads what it prints.
const OUTPUT: Effects = Effects { observable: true, ..READS_ALL };

/// A read of the state of handlers, which calls change: it stays where it is.
const READS_HANDLERS: Effects = Effects { opaque: true, ..Effects::NONE };

/// A read of what no operand stands for. It writes nothing.
const READS_GLOBALS: Effects = Effects { reads_globals: true, ..Effects::NONE };

crate::dialect! {
    /// Calls, tuples, types, and what is true of all values.
    dialect core = 0;

    /// Calls a function of the program by its name.
    ///
    /// `{inbounds=true}` says that the call stands within `@inbounds`: array accesses that it
    /// is expanded to are marked so. It changes nothing else.
    ///
    /// `%3: f64 = call @foo(%1, 2.0)`
    CALL: "call"(callee: _; args: _...) -> declared [CALL, MAY_TRAP] {
        syntax: Syntax::Call("call"),
        effects: Effects::OPAQUE,
        attrs: INBOUNDS,
        verify: Some(verify_call),
    };

    /// Calls a value: a function, a closure struct, or (dynamically) anything.
    ///
    /// Traps (`MethodError`) if the value cannot be called so.
    ///
    /// `%3: f64 = core.apply %1, 2.0`
    APPLY = apply(callee: _; args: _...) -> declared [CALL, MAY_TRAP] {
        effects: Effects::OPAQUE,
    };

    /// Calls a value with the elements of tuples, named tuples and arrays, one after the
    /// other, as its arguments: `f(xs..., ys...)`.
    ///
    /// Traps (`MethodError`) if the value cannot be called so, or if an operand is none of
    /// these.
    ///
    /// `%3: f64 = core.splat %1, %2`
    SPLAT = splat(callee: _; tuples: _...) -> declared [CALL, MAY_TRAP] {
        effects: Effects::OPAQUE,
    };

    /// A tuple of its operands.
    ///
    /// `%3: tuple<i64, f64> = core.tuple %1, %2`
    TUPLE = tuple(; elements: _...) -> (fn tuple_type) [PURE];

    /// Element `index` of a tuple, a named tuple or an immutable struct; the first has index 1.
    ///
    /// The index is a constant and in range, so that it never traps. `data.getfield` takes any
    /// index, and operands of type `any`.
    ///
    /// `%3: f64 = core.get %1, 2`
    GET = get(tuple: _, index: i64) -> (fn get_type) [PURE];

    /// One of two values, both of which are there already: the first if the condition is true.
    ///
    /// `%4: f64 = core.select %1, %2, %3`
    SELECT = select(condition: bool, x: T, y: T) -> T where T: Any [PURE] {
        fold: Some(fold_select),
    } eval(Scalar: scalar::select);

    /// The same value as another type, as Julia's `convert`.
    ///
    /// A number becomes a number (or bool) of the same value. Traps (`InexactError`) if there
    /// is none: an integer out of range, a float with a fraction to an integer, anything but 0
    /// and 1 to bool. Integers and `f64` round to the nearest float, ties to even. Any value
    /// converts to its own type and to `any`; everything else traps (`MethodError`).
    ///
    /// `%2: i32 = core.convert %1`
    CONVERT = convert(x: _) -> declared [PURE, MAY_TRAP] { verify: Some(verify_convert) }
        eval(Scalar => Scalar: convert::convert);

    /// States the type of a value that is known as `any`.
    ///
    /// Traps (`TypeError`) if the value is of another type.
    ///
    /// `%2: f64 = core.typeassert %1`
    TYPEASSERT = typeassert(x: _) -> declared [PURE, MAY_TRAP] {
        fold: Some(fold_typeassert),
        verify: Some(verify_convert),
    };

    /// True if a value is of a type; everything is of type `any`.
    ///
    /// `%2: bool = core.isa %1, !f64`
    ISA = isa(x: _, ty: _) -> bool [PURE] { fold: Some(fold_isa), verify: Some(verify_isa) };

    /// The type of a value, as a value.
    ///
    /// `%2: type<f64> = core.typeof %1`
    TYPEOF = type_of: "typeof"(x: _) -> (fn typeof_type) [PURE] {
        fold: Some(fold_type_of),
    };

    /// True if two values cannot be told apart, as Julia's `===`.
    ///
    /// Values of different types differ. Numbers are compared bit for bit (so that a NaN equals
    /// itself, and `0.0` and `-0.0` differ), tuples and immutable structs by their elements,
    /// strings by their text, objects (arrays, refs, mutable structs) by identity.
    ///
    /// `%3: bool = core.same %1, %2`
    SAME = same(x: _, y: _) -> bool [PURE, COMMUTATIVE] { fold: Some(fold_same) }
        eval(Scalar: scalar::same);

    /// Calls `body` with the captures, and if that fails, `handler` with the error and the captures.
    ///
    /// Both are functions such as `@f`. The handler is called where the `core.try` stands: the
    /// calls that were going on are gone, memory is as they left it. Its first argument, of type
    /// `any`, is the value that was thrown. For the trap of an op, and where a message was thrown, it
    /// is a tuple of the name of Julia's exception, the message, and a tuple of the values that the
    /// message speaks of: `(:DomainError, "with -1.0: ...", (-1.0,))`. An error in the handler goes on
    /// to the `core.try` around. A program that runs out of fuel stops in any case.
    ///
    /// `%3: f64 = core.try @body, @handler, %1, %2`
    TRY = try_catch: "try"(body: _, handler: _; captures: _...) -> declared [CALL, MAY_TRAP] {
        effects: Effects::OPAQUE,
        verify: Some(verify_try),
    };

    /// The error that the innermost handler at work was called with.
    ///
    /// Traps (`ErrorException`) if there is none.
    ///
    /// `%1: any = core.caught`
    CAUGHT = caught() -> any [MAY_TRAP] { effects: READS_HANDLERS };

    /// The calls that led to the error that the innermost handler at work was called with, the
    /// innermost first: a vector of texts such as `f at file.jl:3`. It is empty if there is none.
    ///
    /// `%1: any = core.backtrace`
    BACKTRACE = backtrace() -> any { effects: READS_HANDLERS };

    /// Asks the one who runs the program for something that it does by this name, which is a constant:
    /// `eval`, say. What that reads and writes is not known.
    ///
    /// Traps (`ErrorException`) if it does no such thing, and as it says otherwise.
    ///
    /// `%2: any = core.host :eval, %1`
    HOST = host(name: sym; values: _...) -> any [MAY_TRAP] {
        effects: Effects::OPAQUE,
        verify: Some(verify_name),
    };

    /// Stops the program with an error, unless a `core.try` around it catches that. A string is a
    /// message.
    ///
    /// `core.throw "not implemented"`
    THROW = throw(error: _) -> never [MAY_TRAP] { effects: READS_ALL };

    /// Throws an error on. Stops the program as `core.throw` does, but with the calls that led to the
    /// error that the innermost handler at work was called with.
    ///
    /// `core.rethrow %1`
    RETHROW = rethrow(error: _) -> never [MAY_TRAP] { effects: READS_ALL };

    /// A number from 0 on that is the same for values that `core.same` cannot tell apart, and for
    /// numbers of the same value, whatever their types.
    ///
    /// `%2: i64 = core.hash %1`
    HASH = hash(x: _) -> i64 [PURE] eval(Scalar: scalar::hash);

    /// Prints values, one after the other, as Julia's `print`.
    ///
    /// `core.print "x = ", %1`
    PRINT = print(; values: _...) -> unit { effects: OUTPUT };

    /// Prints values, one after the other, and ends the line.
    ///
    /// `core.println "x = ", %1`
    PRINTLN = println(; values: _...) -> unit { effects: OUTPUT };

    /// The text that `core.print` would print.
    ///
    /// `%2: str = core.string "x = ", %1`
    STRING = string(; values: _...) -> str {
        effects: READS_ALL,
    };

    /// The text of a value as Julia's `show` writes it: strings in quotes.
    ///
    /// `%2: str = core.shown %1`
    SHOWN = shown(x: _) -> str { effects: READS_ALL };

    /// The value of a global name, which is a constant.
    ///
    /// Traps (`UndefVarError`) if it has none, (`TypeError`) if its value is not of the declared
    /// type.
    ///
    /// The attribute `{defined=true}` promises that it does not trap where it stands.
    ///
    /// `%1: any = core.global :x`
    GLOBAL = global(name: sym) -> declared [MAY_TRAP] {
        attrs: DEFINED,
        effects: READS_GLOBALS,
        verify: Some(verify_name),
    };

    /// Gives a value to a global name, which is a constant.
    ///
    /// `core.set_global :x, %1`
    SET_GLOBAL = set_global(name: sym, value: _) -> unit {
        effects: Effects::OPAQUE,
        verify: Some(verify_name),
    };

    /// The type parameter of that name of the method whose code this is.
    ///
    /// There are type parameters only in lowered code, which is not specialised yet. Traps
    /// (`UndefVarError`) if it is run.
    ///
    /// `%1: any = core.static :T`
    STATIC = static_param: "static"(name: sym) -> any [PURE, MAY_TRAP] {
        verify: Some(verify_name),
    };

    /// A closure over its operands, by the name that its definition has.
    ///
    /// Lowered code makes closures so; in typed code they are structs, made by `data.new`. Traps
    /// (`UndefVarError`) if it is run.
    ///
    /// `%2: any = core.closure @f, %1`
    CLOSURE = closure(definition: _; captures: _...) -> declared [PURE, MAY_TRAP] {
        verify: Some(verify_closure),
    };

    /// A placeholder for the value of a variable where it has none yet. Nobody looks at it: code
    /// that might is preceded by a check.
    ///
    /// `%1: f64 = core.undef`
    UNDEF = undef() -> declared [PURE];
}

/// Calls the function `callee` (a constant `@f`), of which `ty` is the return type:
/// `call @f(%1, %2)`.
#[inline]
pub fn call(
    callee: impl Into<Operand>,
    args: impl IntoIterator<Item = impl Into<Operand>>,
    ty: Type,
) -> crate::ir::Inst {
    crate::ir::Inst::new(CALL).operand(callee).operands(args).with_type(ty)
}

fn verify_call(view: &InstView<'_>) -> Result<(), String> {
    match view.constant(0) {
        Some(Constant::Func(_)) => Ok(()),
        _ => Err(format!(
            "the callee of `call` is a function such as `@f`, found {}; use `core.apply`",
            describe(view.ctx, view.types[0])
        )),
    }
}

/// Body and handler are known before anything runs.
fn verify_try(view: &InstView<'_>) -> Result<(), String> {
    for (position, role) in ["body", "handler"].into_iter().enumerate() {
        if !matches!(view.constant(position), Some(Constant::Func(_))) {
            return Err(format!(
                "the {role} of `core.try` is a function such as `@f`, found {}",
                describe(view.ctx, view.types[position])
            ));
        }
    }
    Ok(())
}

/// The name of a global or type parameter is known before anything runs.
fn verify_name(view: &InstView<'_>) -> Result<(), String> {
    match view.constant(0) {
        Some(Constant::Sym(_)) => Ok(()),
        _ => Err(format!(
            "the name in `{}` is a constant symbol such as `:x`, found {}",
            view.def.mnemonic(),
            describe(view.ctx, view.types[0])
        )),
    }
}

fn verify_closure(view: &InstView<'_>) -> Result<(), String> {
    match view.constant(0) {
        Some(Constant::Func(_)) => Ok(()),
        _ => Err(format!(
            "the definition in `core.closure` is a function such as `@f`, found {}",
            describe(view.ctx, view.types[0])
        )),
    }
}

fn tuple_type(view: &InstView<'_>) -> Result<Type, String> {
    Ok(view.ctx.tuple_type(view.types))
}

fn get_type(view: &InstView<'_>) -> Result<Type, String> {
    let Some(Constant::I64(index)) = view.constant(1) else {
        return Err("the index of `core.get` is a constant i64; use `data.getfield`".to_owned());
    };
    let ty = view.types[0];
    if view.ctx.struct_of(ty).is_some_and(|def| def.mutable) {
        let ty = view.ctx.type_text(ty);
        return Err(format!("`core.get` reads values, and {ty} is mutable; use `data.getfield`"));
    }
    field_type(view.ctx, ty, Constant::I64(index))
}

/// Refuses what is known never to fit; where both types are scalars, or that of the operand is
/// not known exactly, it is up to the value.
fn verify_convert(view: &InstView<'_>) -> Result<(), String> {
    let (from, to) = (view.types[0], view.ty);
    let converts = view.def.op == CONVERT && from.is_scalar() && to.is_scalar();
    if converts || !is_exact(view.ctx, from) {
        return Ok(());
    }
    check_fits(from, to).map_err(|()| {
        format!(
            "`{}` cannot make {} of {}",
            view.def.mnemonic(),
            view.ctx.type_text(to),
            view.ctx.type_text(from)
        )
    })
}

fn verify_isa(view: &InstView<'_>) -> Result<(), String> {
    let ty = view.types[1];
    match view.ctx.kind(ty) {
        TypeKind::TypeOf(_) => Ok(()),
        _ if ty == Type::ANY => Ok(()),
        _ => Err(format!(
            "operand `ty` of `core.isa` is a type such as `!f64`, found {}",
            describe(view.ctx, ty)
        )),
    }
}

fn typeof_type(view: &InstView<'_>) -> Result<Type, String> {
    let ty = view.types[0];
    if is_exact(view.ctx, ty) { Ok(view.ctx.ty(TypeKind::TypeOf(ty))) } else { Ok(Type::ANY) }
}

/// `core.select`: of a constant condition, or of the same value twice.
fn fold_select(view: &InstView<'_>) -> Option<Fold> {
    let [_, x, y] = *view.operands else { return None };
    let chosen = match view.constant(0) {
        Some(Constant::Bool(true)) => 1,
        Some(Constant::Bool(false)) => 2,
        _ if x == y && view.types[0] == Type::BOOL => 1,
        _ => return None,
    };
    // An operand of another type than the result cannot stand for it.
    (view.types[1] == view.types[2]).then_some(Fold::Operand(chosen))
}

/// `core.typeassert` of a value whose type is known to be the one stated.
fn fold_typeassert(view: &InstView<'_>) -> Option<Fold> {
    (view.types[0] == view.ty && view.ty != Type::ANY).then_some(Fold::Operand(0))
}

/// `core.isa`, where the types decide it.
fn fold_isa(view: &InstView<'_>) -> Option<Fold> {
    let (ctx, have) = (view.ctx, view.types[0]);
    let &TypeKind::TypeOf(want) = ctx.kind(view.types[1]) else { return None };
    let known = is_subtype(ctx, have, want);
    (known || is_exact(ctx, have)).then_some(Fold::Constant(Constant::Bool(known)))
}

/// `core.typeof`, where the type of the operand is exact.
fn fold_type_of(view: &InstView<'_>) -> Option<Fold> {
    let ty = view.types[0];
    is_exact(view.ctx, ty).then_some(Fold::Constant(Constant::Type(ty)))
}

/// `core.same`: of one value with itself, of two constants, of values whose types differ.
fn fold_same(view: &InstView<'_>) -> Option<Fold> {
    let [x, y] = *view.operands else { return None };
    let (a, b) = (view.types[0], view.types[1]);
    let known = match (x.kind(), y.kind()) {
        (OperandKind::Const(x), OperandKind::Const(y)) => x == y,
        _ if x == y => true,
        _ if a != b && is_exact(view.ctx, a) && is_exact(view.ctx, b) => false,
        _ => return None,
    };
    Some(Fold::Constant(Constant::Bool(known)))
}
