//! Loops over collections.
//!
//! Julia keeps what `iterate` gives in a slot that is `nothing` or a tuple of an element and a state:
//!
//! ```text
//! │         @_4 = Base.iterate(%3)
//! │   %5  = @_4 === nothing
//! 2 ┄ %8  = @_4
//! │         i = Core.getfield(%8, 1)
//! │   %10 = Core.getfield(%8, 2)
//! │         @_4 = Base.iterate(%3, %10)
//! ```
//!
//! A variable of two types has none that is known. A `for` of the language keeps a state alone, from which it asks
//! whether there is an element, and which. Where a slot is used in no other way than here, it becomes such a
//! state; what that means for a type with methods of `iterate` of its own is the same.
//! O(statements).

use regraft_ir::Symbol;
use rustc_hash::FxHashMap;

use super::tidy::Tidy;
use super::variables::Used;
use crate::julia::{ExprId, Kind};

/// A statement: the value that it gives, by its name, and what stands on the right.
pub(super) type Line = (Option<Symbol>, ExprId);

/// A slot that holds what `iterate` gives.
#[derive(Debug, Default)]
struct Loop {
    /// The collection.
    over: Option<Symbol>,
    /// True if it is used in another way.
    is_other: bool,
    /// The calls, each with the state that it goes on from.
    calls: Vec<(ExprId, Option<ExprId>)>,
    /// `slot === nothing`
    tests: Vec<ExprId>,
    /// `getfield(slot, 1)` and `getfield(slot, 2)`.
    fields: Vec<(ExprId, i64)>,
    /// The number of reads that are known.
    known: usize,
    /// The values that are copies of it.
    copies: Vec<Symbol>,
}

/// Makes states of the slots of loops.
pub(super) fn simplify(tidy: &mut Tidy<'_>, used: &Used, lines: &[Line]) {
    let mut loops: FxHashMap<Symbol, Loop> = FxHashMap::default();
    for &(_, id) in lines {
        if let Kind::Assign { target, value } = tidy.ast.kind(id)
            && let Kind::Name(slot) = tidy.ast.kind(target)
        {
            let call = iterate(tidy, value).filter(|&(over, _)| !used.is_assigned(over));
            let found = loops.entry(slot).or_default();
            match call {
                Some((over, state)) if found.over.is_none_or(|known| known == over) => {
                    found.over = Some(over);
                    found.calls.push((value, state));
                }
                _ => found.is_other = true,
            }
        }
    }
    loops.retain(|_, found| !found.is_other);
    // The slots, and the values that are copies of them.
    let mut names: FxHashMap<Symbol, Symbol> = loops.keys().map(|&slot| (slot, slot)).collect();
    for &(result, id) in lines {
        if let Kind::Name(name) = tidy.ast.kind(id)
            && let Some(found) = loops.get_mut(&name)
            && let Some(result) = result
        {
            found.known += 1;
            found.copies.push(result);
            names.insert(result, name);
        }
    }
    for &(_, id) in lines {
        let id = match tidy.ast.kind(id) {
            Kind::Assign { value, .. } => value,
            _ => id,
        };
        let Kind::Call { callee, args } = tidy.ast.kind(id) else { continue };
        let &[of, other] = tidy.ast.list(args) else { continue };
        let Kind::Name(name) = tidy.ast.kind(of) else { continue };
        let Some(found) = names.get(&name).and_then(|slot| loops.get_mut(slot)) else { continue };
        match tidy.ast.kind(other) {
            Kind::Name(_)
                if tidy.name_of(callee) == Some("===")
                    && tidy.name_of(other) == Some("nothing") =>
            {
                found.tests.push(id);
            }
            Kind::Int(field @ 1..=2)
                if tidy.is_path(callee, "Core.getfield")
                    || tidy.is_path(callee, "Base.getfield") =>
            {
                found.fields.push((id, field));
            }
            _ => continue,
        }
        found.known += 1;
    }
    for (slot, found) in loops {
        let all: usize = found.copies.iter().map(|&copy| used.reads_of(copy)).sum();
        if let Some(over) = found.over
            && found.known == all + used.reads_of(slot)
        {
            rewrite(tidy, over, &found);
        }
    }
}

/// The collection, and the state, of a call of `Base.iterate`.
fn iterate(tidy: &Tidy<'_>, id: ExprId) -> Option<(Symbol, Option<ExprId>)> {
    let Kind::Call { callee, args } = tidy.ast.kind(id) else { return None };
    let (&over, state) = tidy.ast.list(args).split_first()?;
    match tidy.ast.kind(over) {
        Kind::Name(name) if tidy.is_path(callee, "Base.iterate") && state.len() < 2 => {
            Some((name, state.first().copied()))
        }
        _ => None,
    }
}

fn rewrite(tidy: &mut Tidy<'_>, over: Symbol, found: &Loop) {
    for &(id, state) in &found.calls {
        call(tidy, id, if state.is_some() { "#next" } else { "#start" }, over, state);
    }
    for &id in &found.tests {
        let state = first_argument(tidy, id);
        call(tidy, id, "#done", over, state);
    }
    for &(id, field) in &found.fields {
        let Some(state) = first_argument(tidy, id) else { continue };
        match field {
            1 => call(tidy, id, "#item", over, Some(state)),
            _ => tidy.ast.replace(id, state),
        }
    }
}

fn first_argument(tidy: &Tidy<'_>, id: ExprId) -> Option<ExprId> {
    match tidy.ast.kind(id) {
        Kind::Call { args, .. } => tidy.ast.list(args).first().copied(),
        _ => None,
    }
}

/// Puts a call of an internal function in the place of an expression.
fn call(tidy: &mut Tidy<'_>, id: ExprId, function: &str, over: Symbol, state: Option<ExprId>) {
    let span = tidy.ast.span(id);
    let callee = tidy.ast.add(Kind::Name(tidy.ctx.symbol(function)), span);
    let over = tidy.ast.add(Kind::Name(over), span);
    let args: Vec<ExprId> = std::iter::once(over).chain(state).collect();
    let args = tidy.ast.add_list(&args);
    tidy.ast.exprs[id.index()].kind = Kind::Call { callee, args };
}
