//! `core`: tuples, types, errors, output.

use regraft_dialects::semantics::eval_scalar;
use regraft_ir::{Context, Type, TypeKind};

use super::context::EvalCx;
use super::scalars::scalar_constant;
use crate::error::Trap;
use crate::host::{Caught, no_service};
use crate::trace::{is_library, places};
use crate::value::{Array, ElementType, Val, egal};

pub(super) fn tuple(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    cx.reserve_fields(args.len())?;
    Ok(Val::tuple(args.iter().cloned()))
}

pub(super) fn get(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [value, Val::I64(index)] = args else { return Err(cx.wrong_types(args)) };
    let Some(items) = value.as_fields() else { return Err(cx.wrong_types(args)) };
    let item = usize::try_from(*index).ok().and_then(|index| items.get(index.checked_sub(1)?));
    item.cloned().ok_or_else(|| bounds_of(cx, value, *index))
}

/// A field of a value is asked for that it does not have.
pub(super) fn bounds_of(cx: &EvalCx<'_>, value: &Val, index: i64) -> Trap {
    crate::error::out_of_bounds(&cx.texts().type_of(value), &[index])
}

/// An index that is out of bounds.
pub(super) fn bounds(index: i64, length: usize) -> Trap {
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    regraft_dialects::semantics::Trap::Bounds { index, length }.into()
}

pub(super) fn select(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Bool(condition), x, y] = args else { return Err(cx.wrong_types(args)) };
    Ok(if *condition { x.clone() } else { y.clone() })
}

pub(super) fn convert(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [value] = args else { return Err(cx.wrong_types(args)) };
    if value.is_a(cx.ctx, cx.ty) {
        return Ok(value.clone());
    }
    let converted = scalar_constant(value).and_then(|x| eval_scalar(cx.def, &[x], cx.ty));
    match converted {
        Some(result) => Ok(Val::constant(cx.ctx, result?)),
        None => {
            let (have, want) = (cx.texts().type_of(value), cx.texts().type_text(cx.ty));
            Err(Trap::new(
                "MethodError",
                format!("cannot convert a value of type {have} to {want}"),
            ))
        }
    }
}

pub(super) fn typeassert(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [value] = args else { return Err(cx.wrong_types(args)) };
    if value.is_a(cx.ctx, cx.ty) {
        return Ok(value.clone());
    }
    let (have, want) = (cx.texts().type_of(value), cx.texts().type_text(cx.ty));
    Err(Trap::type_error(format!("in typeassert, expected {want}, found a value of type {have}")))
}

pub(super) fn isa(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let &[ref value, Val::Type(ty)] = args else { return Err(cx.wrong_types(args)) };
    Ok(Val::Bool(value.is_a(cx.ctx, ty)))
}

pub(super) fn type_of(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [value] = args else { return Err(cx.wrong_types(args)) };
    // Where the type is known exactly, the declared result says it: that also holds for tuples
    // that are nested deeper than `type_of` looks.
    match cx.ctx.kind(cx.ty) {
        &TypeKind::TypeOf(ty) => Ok(Val::Type(ty)),
        _ => Ok(Val::Type(value.type_of(cx.ctx))),
    }
}

pub(super) fn same(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [x, y] = args else { return Err(cx.wrong_types(args)) };
    Ok(Val::Bool(egal(x, y)))
}

pub(super) fn throw(_: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    Err(Trap::thrown(args.first().unwrap_or(&Val::Unit)))
}

pub(super) fn rethrow(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let trap = Trap::thrown(args.first().unwrap_or(&Val::Unit));
    Err(trap.thrown_on(cx.host.caught().map(|caught| caught.path.clone())))
}

pub(super) fn caught(cx: &mut EvalCx<'_>, _: &[Val]) -> Result<Val, Trap> {
    match cx.host.caught() {
        Some(caught) => Ok(caught.value.clone()),
        None => Err(Trap::thrown(&Val::str("rethrow() not allowed outside a catch block"))),
    }
}

pub(super) fn backtrace(cx: &mut EvalCx<'_>, _: &[Val]) -> Result<Val, Trap> {
    let texts = cx.texts();
    let spots = cx.host.caught().into_iter().flat_map(Caught::spots);
    let spots = spots.flat_map(|spot| places(cx.ctx, spot));
    let lines = spots.filter(|spot| !is_library(cx.ctx, spot.loc)).map(|spot| {
        let name = texts.function_text(spot.function);
        Val::str(match spot.loc.is_known() {
            true => format!("{name} at {}", cx.ctx.loc_text(spot.loc)),
            false => name,
        })
    });
    let lines: Vec<Val> = lines.collect();
    let array = Array::of_values(ElementType::builtin(Type::STR), &lines, &[lines.len()]);
    Ok(Val::from(array.map_err(|_| cx.host.memory_exceeded())?))
}

pub(super) fn host(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Sym(name), args @ ..] = args else { return Err(cx.wrong_types(args)) };
    match cx.host.services() {
        Some(services) => services.serve(*name, args, cx.host),
        None => Err(no_service(cx.ctx, *name)),
    }
}

/// Returns the text that `print` writes for a value, if there is memory for it.
fn printed(cx: &EvalCx<'_>, value: &Val) -> Result<String, Trap> {
    match cx.texts().print_within(value, cx.host.remaining()) {
        Some(text) => Ok(text),
        None => Err(cx.host.memory_exceeded()),
    }
}

pub(super) fn print(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    for arg in args {
        let text = printed(cx, arg)?;
        cx.host.print(&text)?;
    }
    Ok(Val::Unit)
}

pub(super) fn println(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    print(cx, args)?;
    cx.host.print("\n")?;
    Ok(Val::Unit)
}

pub(super) fn string(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let mut text = String::new();
    for arg in args {
        let part = printed(cx, arg)?;
        cx.host.reserve(text.len() + part.len())?;
        text.push_str(&part);
    }
    debug_assert!(cx.ty == Type::STR);
    Ok(Val::str(text))
}

pub(super) fn shown(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [value] = args else { return Err(cx.wrong_types(args)) };
    match cx.texts().show_within(value, cx.host.remaining()) {
        Some(text) => Ok(Val::str(text)),
        None => Err(cx.host.memory_exceeded()),
    }
}

pub(super) fn hash(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [value] = args else { return Err(cx.wrong_types(args)) };
    Ok(Val::I64(crate::value::hash(value)))
}

pub(super) fn global(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let &[Val::Sym(name)] = args else { return Err(cx.wrong_types(args)) };
    let value = match cx.host.global(name) {
        Some(value) => value.clone(),
        None => match cx.host.services().and_then(|services| services.global(name)) {
            Some(value) => value,
            None => return Err(cx.host.undefined_global(cx.ctx, name)),
        },
    };
    if value.is_a(cx.ctx, cx.ty) {
        return Ok(value);
    }
    let (have, want) = (cx.texts().type_of(&value), cx.texts().type_text(cx.ty));
    let name = cx.ctx.str(name);
    Err(Trap::type_error(format!(
        "the global `{name}` is declared to be of type {want}, found a value of type {have}"
    )))
}

pub(super) fn set_global(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Sym(name), value] = args else { return Err(cx.wrong_types(args)) };
    cx.host.set_global(*name, value.clone());
    Ok(Val::Unit)
}

/// Refuses an op that stands in lowered code only, and is gone when a method is specialised.
pub(super) fn lowered_only(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let name = match args.first() {
        Some(&(Val::Sym(name) | Val::Func(name))) => cx.ctx.str(name),
        _ => "?",
    };
    let op = cx.def.mnemonic();
    let message = format!("`{op}` of `{name}` has no value in code that is not specialised");
    Err(Trap::new("UndefVarError", message))
}

/// Of how many parts a value that nobody looks at is made at most, and how deep they are.
const HARMLESS_PARTS: usize = 1 << 16;
const HARMLESS_DEPTH: usize = 256;

pub(super) fn undef(cx: &mut EvalCx<'_>, _: &[Val]) -> Result<Val, Trap> {
    let mut harmless = Harmless { ctx: cx.ctx, left: HARMLESS_PARTS, within: Vec::new() };
    Ok(harmless.of(cx.ty))
}

/// Makes values that nobody looks at. They are of the type that they should be of all the same, since
/// they are stored and passed like others, and that is checked.
struct Harmless<'a> {
    ctx: &'a Context,
    /// The number of parts that may still be made.
    left: usize,
    /// The types that a part is being made of.
    within: Vec<Type>,
}

impl Harmless<'_> {
    /// A value of type `ty` where there is an obvious one, else `nothing`. A struct that contains
    /// itself ends there.
    fn of(&mut self, ty: Type) -> Val {
        let ctx = self.ctx;
        match ty {
            Type::BOOL => return Val::Bool(false),
            Type::I8 => return Val::I8(0),
            Type::I16 => return Val::I16(0),
            Type::I32 => return Val::I32(0),
            Type::I64 => return Val::I64(0),
            Type::F32 => return Val::F32(0.0),
            Type::F64 => return Val::F64(0.0),
            Type::SYM => return Val::Sym(ctx.symbol("undef")),
            Type::STR => return Val::str(""),
            _ => {}
        }
        let deep = self.within.len() >= HARMLESS_DEPTH;
        if self.left == 0 || deep || self.within.contains(&ty) {
            return Val::Unit;
        }
        self.left -= 1;
        self.within.push(ty);
        let made = match ctx.kind(ty) {
            TypeKind::Tuple(types) => Val::tuple(types.iter().map(|&ty| self.of(ty))),
            TypeKind::Named(fields) => Val::named_of(
                Val::named_shape(ctx, fields.iter().map(|&(name, _)| name)),
                fields.iter().map(|&(_, ty)| self.of(ty)).collect(),
            ),
            &TypeKind::Struct(id) => {
                let def = ctx.struct_def(id);
                let fields: Vec<Val> = def.fields.iter().map(|&(_, ty)| self.of(ty)).collect();
                if def.mutable { Val::object(ty, fields) } else { Val::structure(ty, fields) }
            }
            &TypeKind::Array { element, rank } => {
                let element = ElementType::of(ctx, element);
                Array::new(element, &vec![0; usize::from(rank)]).map_or(Val::Unit, Val::from)
            }
            &TypeKind::Ref(element) => {
                let content = self.of(element);
                Val::reference(element, content)
            }
            &TypeKind::Fn(name) => Val::Func(name),
            &TypeKind::TypeOf(ty) => Val::Type(ty),
            TypeKind::Val(_) => Val::structure(ty, []),
            TypeKind::Builtin => Val::Unit,
        };
        self.within.pop();
        made
    }
}
