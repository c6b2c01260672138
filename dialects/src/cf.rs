//! `cf`: how control leaves a block.
//!
//! ```
//! use regraft_dialects::{cf, context};
//! use regraft_ir::{FunctionBuilder, Type};
//!
//! let ctx = context();
//! let mut b = FunctionBuilder::new(&ctx, "f", &[Type::BOOL], Type::I64);
//! let (then, otherwise) = (b.add_block(), b.add_block());
//! b.terminate(cf::jump_if(b.param(0), then, otherwise))?;
//! for (block, result) in [(then, 1), (otherwise, 2)] {
//!     b.switch_to(block)?;
//!     b.terminate(cf::ret(b.const_i64(result)))?;
//! }
//! assert_eq!(b.finish()?.blocks().count(), 3);
//! # Ok::<(), regraft_ir::IrError>(())
//! ```

use smallvec::SmallVec;

use crate::ir::{Block, Constant, Inst, InstView, Operand, Syntax, Type};

crate::dialect! {
    /// Control flow: the ops that end a block.
    dialect cf = 1;

    /// Goes to another block: always, or to one of two as a condition says.
    ///
    /// The arguments of an edge become the parameters of its block. With a condition, the
    /// first edge is taken if it is true.
    ///
    /// `br ^2(%1, 0)`, `br %3, ^2, ^4(%1)`
    BR: "br"(; condition: bool...) -> never [TERMINATOR, JUMP] {
        syntax: Syntax::Short("br"),
        verify: Some(verify_br),
    };

    /// Goes to the block whose case equals the value, or to the default one.
    ///
    /// The cases are distinct constants of the type of the value: a bool, an integer or a
    /// symbol. The edges are the default one, and then one for each case, in order.
    ///
    /// `switch %1, ^5, 1: ^2, 7: ^3(%2)`
    SWITCH: "switch"(value: T; cases: T...) -> never where T: Any [TERMINATOR] {
        syntax: Syntax::Switch("switch"),
        verify: Some(verify_switch),
    };

    /// Leaves the function with a value.
    ///
    /// `return %3`, `return nothing`
    RETURN = ret: "return"(value: _) -> never [TERMINATOR, RETURN] {
        syntax: Syntax::Short("return"),
        verify: Some(verify_no_edge),
    };

    /// Control never gets here, because something before it does not return, such as
    /// `core.throw`. Traps if it does.
    ///
    /// `unreachable`
    UNREACHABLE = unreachable() -> never [TERMINATOR, MAY_TRAP] {
        syntax: Syntax::Short("unreachable"),
        verify: Some(verify_no_edge),
    };
}

/// Goes to `target` with `args` as its parameters: `br ^2(%1, 0)`.
#[inline]
pub fn br(target: Block, args: impl IntoIterator<Item = impl Into<Operand>>) -> Inst {
    Inst::new(BR).edge(target, args)
}

/// Goes to `target`, a block without parameters: `br ^2`.
#[inline]
pub fn jump(target: Block) -> Inst {
    Inst::new(BR).operand(target)
}

/// Goes to `then` if `condition` is true, else to `otherwise`, blocks without parameters:
/// `br %3, ^2, ^4`.
#[inline]
pub fn jump_if(condition: impl Into<Operand>, then: Block, otherwise: Block) -> Inst {
    Inst::new(BR).operand(condition).operand(then).operand(otherwise)
}

/// Goes to `then` with its arguments if `condition` is true, else to `otherwise` with its own:
/// `br %3, ^2(%1), ^4`.
#[inline]
pub fn br_if(
    condition: impl Into<Operand>,
    then: Block,
    then_args: impl IntoIterator<Item = impl Into<Operand>>,
    otherwise: Block,
    otherwise_args: impl IntoIterator<Item = impl Into<Operand>>,
) -> Inst {
    Inst::new(BR).operand(condition).edge(then, then_args).edge(otherwise, otherwise_args)
}

/// Goes to the block of the case that equals `value`, or to `default`:
/// `switch %1, ^5, 1: ^2, 7: ^3`. Blocks with parameters get their arguments by
/// [`Inst::operands`] and [`Inst::edge`].
pub fn switch(
    value: impl Into<Operand>,
    default: Block,
    cases: impl IntoIterator<Item = (impl Into<Operand>, Block)>,
) -> Inst {
    let (cases, targets): (Vec<Operand>, Vec<Block>) =
        cases.into_iter().map(|(case, target)| (case.into(), target)).unzip();
    Inst::new(SWITCH).operand(value).operands(cases).operand(default).operands(targets)
}

/// The number of operands in front of the edges.
fn plain_count(view: &InstView<'_>) -> usize {
    view.operands.iter().position(|operand| operand.is_block()).unwrap_or(view.operands.len())
}

fn verify_br(view: &InstView<'_>) -> Result<(), String> {
    match (plain_count(view), view.edge_count()) {
        (0, 1) | (1, 2) => Ok(()),
        (plain, edges) => Err(format!(
            "`br` takes one target, or a condition and two targets, found {plain} other \
             operands and {edges} targets"
        )),
    }
}

fn verify_switch(view: &InstView<'_>) -> Result<(), String> {
    let plain = plain_count(view);
    let ty = view.types[0];
    if !(ty.is_int() || ty == Type::BOOL || ty == Type::SYM || ty == Type::ANY) {
        return Err(format!(
            "`switch` works on bool, integers and symbols, found {}",
            view.ctx.type_text(ty)
        ));
    }
    let mut seen: SmallVec<[Constant; 16]> = SmallVec::new();
    for i in 1..plain {
        match view.constant(i) {
            Some(case) => seen.push(case),
            None => return Err("the cases of `switch` are constants".to_owned()),
        }
    }
    seen.sort_unstable_by_key(|&case| switch_key(case));
    if seen.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err("a case of `switch` is there twice".to_owned());
    }
    let edges = view.edge_count();
    if edges != plain {
        return Err(format!(
            "`switch` takes a default target and one for each of its {} cases, found {edges}",
            plain - 1
        ));
    }
    Ok(())
}

/// An order of constants in which equal ones are neighbours.
fn switch_key(case: Constant) -> (u8, i64, Option<crate::ir::Symbol>) {
    match case {
        Constant::Bool(x) => (0, i64::from(x), None),
        Constant::Sym(name) => (2, 0, Some(name)),
        other => (1, other.as_int().unwrap_or(0), None),
    }
}

fn verify_no_edge(view: &InstView<'_>) -> Result<(), String> {
    match view.edge_count() {
        0 => Ok(()),
        _ => Err(format!("`{}` has no target", view.def.mnemonic())),
    }
}
