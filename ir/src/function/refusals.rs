//! The errors of mutations that are refused, naming the entities.

use std::fmt;

use crate::error::{IrError, IrErrorKind};
use crate::{Block, Const, Edge, Function, MAX_OPERANDS, Op, Operand, Type, Value};

impl IrError {
    pub(crate) fn stale_value(f: &Function, v: Value) -> Self {
        Self::new(IrErrorKind::StaleValue, format!("{v} of @{} was deleted", f.name_str()))
    }

    pub(crate) fn stale_block(f: &Function, b: Block) -> Self {
        Self::new(IrErrorKind::StaleBlock, format!("{b} of @{} was deleted", f.name_str()))
    }

    pub(crate) fn foreign_value(f: &Function, v: Value) -> Self {
        let message = format!("{v} is a value of another function than @{}", f.name_str());
        Self::new(IrErrorKind::ForeignValue, message)
    }

    pub(crate) fn foreign_block(f: &Function, b: Block) -> Self {
        let message = format!("{b} is a block of another function than @{}", f.name_str());
        Self::new(IrErrorKind::ForeignBlock, message)
    }

    pub(crate) fn foreign_const(f: &Function, c: Const) -> Self {
        let message =
            format!("{c:?} is a constant of another context than that of @{}", f.name_str());
        Self::new(IrErrorKind::ForeignValue, message)
    }

    pub(crate) fn foreign_type(f: &Function) -> Self {
        let message = format!("a type of another context than that of @{} was used", f.name_str());
        Self::new(IrErrorKind::ForeignValue, message)
    }

    pub(crate) fn foreign_symbol(f: &Function) -> Self {
        let message =
            format!("a symbol of another context than that of @{} was used", f.name_str());
        Self::new(IrErrorKind::ForeignValue, message)
    }

    pub(crate) fn foreign_attrs(of: impl fmt::Display) -> Self {
        let message = format!("the attributes of {of} are of another context");
        Self::new(IrErrorKind::ForeignValue, message)
    }

    pub(crate) fn unknown_op(f: &Function, op: Op) -> Self {
        let message = format!(
            "{op:?} belongs to no dialect that is registered with the context of @{}",
            f.name_str()
        );
        Self::new(IrErrorKind::Unsuitable, message)
    }

    pub(crate) fn no_terminator(f: &Function, b: Block) -> Self {
        let message = format!("{b} of @{} has no terminator yet", f.name_str());
        Self::new(IrErrorKind::Unsuitable, message)
    }

    pub(crate) fn terminator_value(f: &Function, v: Value) -> Self {
        let message = format!("{v} in @{} defines no value", f.name_str());
        Self::new(IrErrorKind::Unsuitable, message)
    }

    pub(crate) fn not_an_inst(f: &Function, v: Value, what: &str) -> Self {
        let message = format!("cannot {what} {} of @{}", f.value_text(v), f.name_str());
        Self::new(IrErrorKind::Unsuitable, message)
    }

    pub(crate) fn block_unsuitable(f: &Function, b: Block, why: impl fmt::Display) -> Self {
        Self::new(IrErrorKind::Unsuitable, format!("{b} of @{} {why}", f.name_str()))
    }

    pub(crate) fn misplaced_edge(f: &Function) -> Self {
        let message =
            format!("in @{}, a block is the target of an edge, not a value", f.name_str());
        Self::new(IrErrorKind::Unsuitable, message)
    }

    pub(crate) fn no_operand(f: &Function, v: Value, index: usize) -> Self {
        let count = f.operand_count(v);
        let message =
            format!("{} has {count} operands, there is no operand {index}", f.value_text(v));
        Self::new(IrErrorKind::Mismatch, message)
    }

    pub(crate) fn too_many_operands() -> Self {
        let message = format!("an instruction has at most {MAX_OPERANDS} operands");
        Self::new(IrErrorKind::Limit, message)
    }

    pub(crate) fn stale_edge(f: &Function, edge: Edge) -> Self {
        let message = format!("there is no edge at {edge:?} of @{}", f.name_str());
        Self::new(IrErrorKind::StaleBlock, message)
    }

    pub(crate) fn replacement_type(f: &Function, old: Value, new: Operand) -> Self {
        let message = format!(
            "{} of type {} cannot stand for {} of type {}",
            f.operand_text(new),
            f.ctx().type_text(f.operand_type(new)),
            f.value_text(old),
            f.ctx().type_text(f.ty(old)),
        );
        Self::new(IrErrorKind::Mismatch, message)
    }

    pub(crate) fn still_used(f: &Function, v: Value) -> Self {
        let users = f.known_uses_in_order(v);
        let mut names: Vec<String> = users.iter().map(|u| f.value_text(u.user)).collect();
        names.dedup();
        let more = names.len().saturating_sub(8);
        names.truncate(8);
        let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
        let (v, users) = (f.value_text(v), names.join(", "));
        Self::new(IrErrorKind::StillUsed, format!("{v} is still used by {users}{tail}"))
    }

    pub(crate) fn edge_mismatch(
        f: &Function,
        target: Block,
        index: usize,
        have: Type,
        want: Type,
    ) -> Self {
        let ctx = f.ctx();
        let message = format!(
            "argument {} of the edge to {target} is of type {}, the parameter of type {}",
            index + 1,
            ctx.type_text(have),
            ctx.type_text(want)
        );
        Self::new(IrErrorKind::Mismatch, message)
    }

    pub(crate) fn edge_arity(target: Block, have: usize, want: usize) -> Self {
        let plural = |n: usize| if n == 1 { "" } else { "s" };
        let message = format!(
            "the edge to {target} passes {have} argument{}, {target} has {want} parameter{}",
            plural(have),
            plural(want)
        );
        Self::new(IrErrorKind::Mismatch, message)
    }

    pub(crate) fn bad_name(name: &str) -> Self {
        Self::new(IrErrorKind::Name, format!("{name:?} cannot be the name of a value"))
    }
}
