//! Replaces what is always the same constant, across blocks and around loops, and removes branches
//! that always go the same way with what they alone lead to.
//!
//! ```text
//! ^1(%1: i64):                          ^1(%1: i64):
//!   br ^2(0, 1)                           br ^2(0)
//! ^2(%2: i64, %3: i64):                 ^2(%2: i64):
//!   %4: bool = arith.lt %2, %1            %4: bool = arith.lt %2, %1
//!   br %4, ^3, ^6                         br %4, ^5, ^6
//! ^3:
//!   %5: bool = arith.eq %3, 1       =>
//!   br %5, ^5(%3), ^4
//! ^4:
//!   br ^5(2)
//! ^5(%6: i64):                          ^5:
//!   %7: i64 = arith.add %2, %6            %7: i64 = arith.add %2, 1
//!   br ^2(%7, %6)                         br ^2(%7)
//! ^6:                                   ^6:
//!   return %3                             return 1
//! ```
//!
//! # Method
//! [`Ranges`] is asked, which is the sparse conditional propagation of Wegman and Zadeck (TOPLAS
//! 1991) with intervals of integers beside constants: it assumes of each edge that it is not taken,
//! and of each value that it is constant, until it finds otherwise, so that it sees what holds
//! around a loop only together (`%3` and `%6` above). Intervals decide comparisons of values that
//! are not constant (`arith.ge %i, 0` of a counter), drop cases of a switch that cannot be, and
//! tell which operand a minimum, a maximum, an absolute value or a remainder is.
//!
//! # Why it is right
//! What replaces a value is what the value is whenever it is computed, bit for bit; a NaN that an
//! op would make is not folded. An instruction goes only if it has no effect and cannot trap on what
//! its operands can be. An edge goes only if its condition can never ask for it. Loops stay, those
//! without an end too.
//!
//! # Cost
//! O(instructions + operands), with a few evaluations for each instruction
//! (`examples/transform_speed.rs`).

use regraft_dialects::{arith, cf, core};
use regraft_ir::{Block, ControlFlow, Function, Inst, IrResult, Op, Operand, Traits, Value};

use crate::analysis::Ranges;
use crate::analysis::traps::{OperandFacts, may_trap_given};
use crate::transforms::util::allocation_sites::needs_memory_only_given;
use crate::transforms::util::edit::{delete_unreachable, replace_where_it_fits};
use crate::{FunctionPass, PassContext, PassResult};

crate::pass! {
    /// Replaces what is always the same constant, around loops too, and decides branches by it.
    ///
    /// ```text
    /// ^2(%2: i64, %3: i64):                 ^2(%2: i64):
    ///   %4: bool = arith.lt %2, %1            %4: bool = arith.lt %2, %1
    ///   br %4, ^3, ^6                         br %4, ^5, ^6
    /// ^3:
    ///   %5: bool = arith.eq %3, 1       =>
    ///   br %5, ^5(%3), ^4
    /// ^4:
    ///   br ^5(2)
    /// ^5(%6: i64):                          ^5:
    ///   %7: i64 = arith.add %2, %6            %7: i64 = arith.add %2, 1
    ///   br ^2(%7, %6)                         br ^2(%7)
    /// ```
    ///
    /// Intervals of integers decide comparisons too. Code that is not reached is deleted, and so is what nobody uses and
    /// can stop the program, but not on the operands that it has here (`math.log` of `math.exp`).
    /// The cost is linear.
    #[derive(Debug, Default)]
    pub struct Sccp;
}

impl FunctionPass for Sccp {
    const NAME: &'static str = "sccp";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let (cfg, ranges) = (cx.analysis::<ControlFlow>(f), cx.analysis::<Ranges>(f));
        let ranges = &*ranges;
        let (mut instructions, mut branches) = (0, 0);
        let (mut params, mut trapping): (Vec<Value>, Vec<Value>) = Default::default();
        for block in cfg.reverse_postorder().filter(|&block| ranges.is_reached(block)) {
            if Some(block) != f.entry() {
                let first = params.len();
                params.extend(f.params(block).filter(|&param| ranges.constant(f, param).is_some()));
                for &param in &params[first..] {
                    if let Some(constant) = ranges.constant(f, param) {
                        let id = f.constant_id(constant);
                        replace_where_it_fits(f, param, id.into())?;
                    }
                }
            }
            let mut next = f.first_inst(block);
            while let Some(v) = next.filter(|v| !v.is_terminator()) {
                next = f.next_inst(v);
                if f.op_def(v).is_some_and(|def| def.traits.contains(Traits::MAY_TRAP)) {
                    trapping.push(v);
                }
                let Some(result) = known_result(f, ranges, block, v) else { continue };
                let is_removable = is_removable(f, ranges, block, v);
                let replaced = f.is_used(v) && replace_where_it_fits(f, v, result)?;
                if is_removable && (replaced || !f.is_used(v)) {
                    f.delete(v)?;
                    instructions += 1;
                }
            }
            branches += u64::from(drop_edges(f, ranges, block)?);
        }
        let unreachable = delete_unreachable(f, cx.analyses())?;
        params.retain(|&param| f.is_live(param) && !is_needed(f, param));
        f.delete_all(&params)?;
        let unused = delete_unused(f, ranges, &trapping)?;
        cx.add("instructions replaced", instructions);
        cx.add("unused instructions deleted", unused);
        cx.add("parameters replaced", params.len() as u64);
        cx.add("branches decided", branches);
        cx.add("unreachable blocks deleted", unreachable as u64);
        Ok(())
    }
}

/// Deletes those instructions, in reverse postorder of blocks, that nobody uses and that stop the program on other operands than
/// they have here, such as arrays of lengths that might be negative. Of those that never do, dead code elimination knows.
/// O(instructions).
fn delete_unused(f: &mut Function, ranges: &Ranges, trapping: &[Value]) -> IrResult<u64> {
    let mut deleted = 0;
    for &v in trapping.iter().rev() {
        if f.is_live(v) && !f.is_used(v) && is_removable(f, ranges, f.block_of(v), v) {
            f.delete(v)?;
            deleted += 1;
        }
    }
    Ok(deleted)
}

/// Returns whether a parameter is used by anything but arguments that go with it.
fn is_needed(f: &Function, param: Value) -> bool {
    let block = f.block_of(param);
    let position = f.params(block).position(|other| other == param).unwrap_or(0);
    f.uses(param).any(|at| !f.is_argument(at, block, position))
}

/// Returns whether `v` can go if nobody uses it, on what its operands can be here.
fn is_removable(f: &Function, ranges: &Ranges, block: Block, v: Value) -> bool {
    let Some(def) = f.op_def(v) else { return false };
    let facts = ranges.facts(f, block);
    !def.effects.writes_anything()
        && (!def.traits.contains(Traits::MAY_TRAP) && !f.checks_operands(v)
            || needs_memory_only_given(f, v, |size| facts.int(size).lo >= 0)
            || !may_trap_given(f, v, &facts))
}

/// Returns what an instruction always equals: a constant, or one of its operands.
fn known_result(f: &Function, ranges: &Ranges, block: Block, v: Value) -> Option<Operand> {
    if let Some(constant) = ranges.constant(f, v) {
        return Some(f.constant_id(constant).into());
    }
    let op = f.op(v)?;
    let position = match op {
        core::SELECT => {
            let condition = ranges.interval_at(f, block, f.operand(v, 0)?);
            let chosen = if condition.as_single()? == 0 { 2 } else { 1 };
            (!f.checks_operands(v)).then_some(chosen)?
        }
        arith::MIN | arith::MAX | arith::REM | arith::MOD | arith::ABS if f.ty(v).is_int() => {
            same_as_operand(f, ranges, block, op, v)?
        }
        _ => return None,
    };
    let operand = f.operand(v, position)?;
    (f.operand_type(operand) == f.ty(v)).then_some(operand)
}

/// The operand that an op on integers always gives.
fn same_as_operand(f: &Function, ranges: &Ranges, block: Block, op: Op, v: Value) -> Option<usize> {
    if f.checks_operands(v) {
        return None;
    }
    let x = ranges.interval_at(f, block, f.operand(v, 0)?);
    if op == arith::ABS {
        return (x.lo >= 0).then_some(0);
    }
    let y = ranges.interval_at(f, block, f.operand(v, 1)?);
    match op {
        arith::MIN if x.hi <= y.lo => Some(0),
        arith::MIN if y.hi <= x.lo => Some(1),
        arith::MAX if x.lo >= y.hi => Some(0),
        arith::MAX if y.lo >= x.hi => Some(1),
        arith::REM | arith::MOD if x.lo >= 0 && x.hi < y.lo => Some(0),
        _ => None,
    }
}

/// Takes the edges off the terminator of a block that are never taken. Says whether there were any.
fn drop_edges(f: &mut Function, ranges: &Ranges, block: Block) -> IrResult<bool> {
    let term = Value::terminator(block);
    let (Some(op), count) = (f.op(term), f.successors(block).count()) else { return Ok(false) };
    if count < 2 {
        return Ok(false);
    }
    let taken = ranges.edges_taken(f, block);
    if taken.is_empty() || taken.len() == count {
        return Ok(false);
    }
    let edges: Vec<_> = f.out_edges(block).collect();
    let attach = |f: &Function, inst: Inst, number: usize| {
        inst.edge(f.edge_target(edges[number]), f.edge_args(edges[number]))
    };
    let new = if let [only] = *taken {
        attach(f, Inst::new(f.jump_op()?), only)
    } else if op == cf::SWITCH {
        // Where the default is never taken, the last case that is left takes its place.
        let (default, cases) = match taken.split_first() {
            Some((&0, cases)) => (0, cases),
            _ => (taken[taken.len() - 1], &taken[..taken.len() - 1]),
        };
        let mut inst = Inst::new(op).operands(f.operand(term, 0));
        inst = inst.operands(cases.iter().filter_map(|&case| f.operand(term, case)));
        inst = attach(f, inst, default);
        cases.iter().fold(inst, |inst, &case| attach(f, inst, case))
    } else {
        return Ok(false);
    };
    let inst = new.at(f.loc(term)).with_attrs(if taken.len() == 1 {
        regraft_ir::Attrs::NONE
    } else {
        f.attrs(term)
    });
    f.set_terminator(block, inst)?;
    Ok(true)
}
