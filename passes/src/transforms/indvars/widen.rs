//! Narrow counters that are used as wider numbers become wide.
//!
//! ```text
//! ^2(%2: i32):                        ^2(%8: i64):
//!   %3: bool = arith.lt %2, %1          %9: bool = arith.lt %8, %7
//!   br %3, ^3, ^4                       br %9, ^3, ^4
//! ^3:                            =>   ^3:
//!   %4: i64 = core.convert %2           %5: f64 = mem.load %6, %8
//!   %5: f64 = mem.load %6, %4           %10: i64 = arith.add %8, 1
//!   ..                                  ..                       with %7 = arith.sext %1 before
//! ```
//!
//! # Why it is right
//! The counter grows by one in an iteration that has found it less than a number of its type, so that
//! it never wraps around, and is the same number as the wide one.

use regraft_dialects::{arith, core};
use regraft_ir::{
    Block, Diagnostic, DominatorTree, Edge, Function, IrResult, Operand, Type, Value,
};

use crate::PassContext;
use crate::analysis::loop_exits::{Test, is_once};
use crate::analysis::{InductionVariables, LoopForest, LoopId};
use crate::transforms::util::counters::add_induction;
use crate::transforms::util::edit::delete_unused;

/// Widens the counters of loops with preheaders, given by their headers. Returns how many.
pub(super) fn widen(
    f: &mut Function,
    headers: &[Block],
    cx: &mut PassContext<'_>,
) -> Result<u64, Diagnostic> {
    let ivs = cx.analysis::<InductionVariables>(f);
    let dom = cx.analysis::<DominatorTree>(f);
    let mut widened = 0;
    for l in headers.iter().filter_map(|&header| ivs.forest().headed_by(header)) {
        let plans: Vec<Plan> =
            narrow(f, &ivs, l).filter_map(|param| Plan::of(f, &ivs, &dom, l, param)).collect();
        for plan in plans {
            plan.carry_out(f, ivs.forest(), l)?;
            widened += 1;
        }
    }
    Ok(widened)
}

/// The narrow parameters of a loop that grow by one and are used as wider numbers.
fn narrow<'a>(
    f: &'a Function,
    ivs: &'a InductionVariables,
    l: LoopId,
) -> impl Iterator<Item = Value> + 'a {
    let counts = ivs.basic(l).iter().filter(|b| b.step.constant_value() == Some(1));
    let narrow = counts.filter(|b| f.ty(b.param).bits().is_some_and(|bits| bits < 64));
    narrow.map(|b| b.param).filter(|&param| f.uses(param).any(|at| is_widening(f, at.user)))
}

fn is_widening(f: &Function, v: Value) -> bool {
    !v.is_terminator()
        && f.ty(v) == Type::I64
        && matches!(f.op(v), Some(core::CONVERT | arith::SEXT))
}

/// A counter that becomes wide.
struct Plan {
    param: Value,
    base: Operand,
    /// The conversions of it to a wide number.
    wide: Vec<Value>,
    exit: Edge,
    bound: Operand,
}

impl Plan {
    fn of(
        f: &Function,
        ivs: &InductionVariables,
        dom: &DominatorTree,
        l: LoopId,
        param: Value,
    ) -> Option<Self> {
        let forest = ivs.forest();
        let preheader = forest.get(l).preheader?;
        let position = f.params(forest.get(l).header).position(|p| p == param)?;
        let base = f.out_edges(preheader).next().and_then(|edge| f.edge_arg(edge, position))?;
        let is_outside =
            |o: Operand| o.as_value().is_none_or(|v| !forest.contains(l, f.block_of(v)));
        let mut exits = forest.get(l).exits.iter().filter(|e| is_once(dom, forest, l, e.from));
        let (exit, bound) = exits.find_map(|exit| {
            let exit = exit.edge(f);
            let Test::Compare { stay, left, right, .. } = Test::of(f, exit)? else { return None };
            let bound = match stay {
                arith::LT if left == param.into() => right,
                arith::GT if right == param.into() => left,
                _ => return None,
            };
            is_outside(bound).then_some((exit, bound))
        })?;
        let users = f.uses_in_order(param).into_iter().map(|at| at.user);
        let wide = users.filter(|&user| is_widening(f, user)).collect();
        Some(Self { param, base, wide, exit, bound })
    }

    fn carry_out(self, f: &mut Function, forest: &LoopForest, l: LoopId) -> IrResult<()> {
        let Some(preheader) = forest.get(l).preheader else { return Ok(()) };
        let before = Value::terminator(preheader);
        let (base, bound) = (wide(f, self.base, before)?, wide(f, self.bound, before)?);
        let one = f.constant_id(1_i64).into();
        let (counter, _) = add_induction(f, forest, l, base, one)?;
        let term = Value::terminator(self.exit.from);
        let leaves_if_true = f.out_edges(self.exit.from).next() == Some(self.exit);
        let inst = match leaves_if_true {
            true => arith::ge(counter, bound),
            false => arith::lt(counter, bound),
        };
        let condition = f.insert(term, inst.at(f.loc(term)))?;
        let old = f.operand(term, 0).and_then(Operand::as_value);
        f.set_operand(term, 0, condition)?;
        delete_unused(f, old)?;
        for v in self.wide {
            f.replace_named(v, counter)?;
            f.delete(v)?;
        }
        f.transfer_name(self.param, counter);
        Ok(())
    }
}

/// Inserts a number as a wide one.
fn wide(f: &mut Function, narrow: Operand, at: Value) -> IrResult<Operand> {
    match f.constant(narrow).and_then(regraft_ir::Constant::as_int) {
        Some(number) => Ok(f.constant_id(number).into()),
        None => f.insert(at, arith::sext(narrow, Type::I64)).map(Operand::from),
    }
}
