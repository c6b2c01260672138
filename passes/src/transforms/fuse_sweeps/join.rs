//! Two loops become one, as it was planned.

use regraft_dialects::arith;
use regraft_ir::{Block, Constant, Edge, Function, Inst, IrResult, Operand, Value};

use super::plan::{Becomes, Plan, Reversed};
use crate::analysis::InductionVariables;
use crate::transforms::simplify_cfg::merge_after;
use crate::transforms::util::counters::compute;
use crate::transforms::util::edit::{delete_unused, move_body};
use crate::transforms::util::loop_pair::bind_params;

/// The arguments for a parameter of the header of the new loop.
struct Passed {
    initial: Operand,
    next: Operand,
}

impl Plan {
    /// Makes one loop of the two.
    pub(super) fn join(mut self, f: &mut Function, ivs: &InductionVariables) -> IrResult<()> {
        let (first, second) = (self.first, self.second);
        let preheader = self.form.ensure_preheader(f)?;
        self.move_between(f, preheader)?;
        let args = |f: &Function, edge: Edge| f.edge_args(edge).collect::<Vec<Operand>>();
        let enter = f.out_edges(preheader).next().expect("a preheader has an edge");
        let source =
            self.intervening.as_ref().map_or(first.header, |intervening| intervening.block);
        let enter_second = f.out_edges(source).find(|&e| f.edge_target(e) == second.header);
        let enter_second = enter_second.expect("the first loop leads to the second");
        let edges_of_first = [args(f, enter), args(f, first.back_edge(f))];
        let edges_of_second = [args(f, enter_second), args(f, second.back_edge(f))];
        let start = Value::terminator(preheader);
        let counters = |f: &mut Function, all: &[Becomes]| {
            let counters = all.iter().map(|becomes| match becomes {
                Becomes::Counter(counter) => {
                    let first = compute(f, ivs, &counter.0, start, &[])?;
                    Ok(Some([first, compute(f, ivs, &counter.1, start, &[])?]))
                }
                Becomes::Itself | Becomes::Other { .. } => Ok(None),
            });
            counters.collect::<IrResult<Vec<Option<[Operand; 2]>>>>()
        };
        let counters_of_first = counters(f, &self.of_first)?;
        let counters_of_second = counters(f, &self.of_second)?;
        let [at_latch, at_back, at_enter] =
            [first.latch, second.latch, preheader].map(|b| f.loc(Value::terminator(b)));
        f.remove_terminator(preheader)?;
        f.remove_terminator(first.latch)?;
        // Parameters that stay: those of the first header, and new ones for those of the second.
        let mut passed: Vec<Passed> = Vec::new();
        let mut replaced: Vec<(Value, Value)> = Vec::new();
        let mut beside: Vec<(Value, Value, i64)> = Vec::new();
        let end = Value::terminator(second.latch);
        let params: Vec<Value> = f.params(first.header).collect();
        for (i, (&param, becomes)) in params.iter().zip(&self.of_first).enumerate() {
            let (mut initial, mut next) = (edges_of_first[0][i], edges_of_first[1][i]);
            if let Becomes::Other { param: other, plus } = *becomes {
                beside.push((param, other, plus));
            }
            if let Some([from, step]) = counters_of_first[i] {
                (initial, next) = (from, f.insert(end, arith::add(param, step))?.into());
            }
            passed.push(Passed { initial, next });
        }
        let params: Vec<Value> = f.params(second.header).collect();
        for (i, (&param, becomes)) in params.iter().zip(&self.of_second).enumerate() {
            let (mut initial, mut next) = (edges_of_second[0][i], edges_of_second[1][i]);
            if let Becomes::Other { param: other, plus } = *becomes {
                beside.push((param, other, plus));
                continue;
            }
            let joined = f.append_param(first.header, f.ty(param))?;
            if let Some([from, step]) = counters_of_second[i] {
                (initial, next) = (from, f.insert(end, arith::add(joined, step))?.into());
            }
            replaced.push((param, joined));
            passed.push(Passed { initial, next });
        }
        // The loops lead to one another.
        let jump = f.jump_op()?;
        let body_of_second = (f.edge_target(second.stay(f)), args(f, second.stay(f)));
        let exit = (f.edge_target(second.exit(f)), args(f, second.exit(f)));
        let end = Value::terminator(first.header);
        move_body(f, second.header, end)?;
        let tests = [first.test(f), second.test(f)];
        self.lead_on(f, exit)?;
        let (body, body_args) = body_of_second;
        f.set_terminator(first.latch, Inst::new(jump).edge(body, body_args).at(at_latch))?;
        let next: Vec<Operand> = passed.iter().map(|p| p.next).collect();
        let back = Inst::new(jump).edge(first.header, next).at(at_back);
        f.set_terminator(second.latch, back)?;
        let initial: Vec<Operand> = passed.iter().map(|p| p.initial).collect();
        let enter = Inst::new(jump).edge(first.header, initial).at(at_enter);
        f.set_terminator(preheader, enter)?;
        for (old, other, plus) in beside {
            // One of the second loop is a new one by now.
            let moved = replaced.iter().find(|&&(from, _)| from == other).map(|&(_, to)| to);
            let other = moved.unwrap_or(other);
            let constant = Constant::int(f.ty(old), plus).expect("counters are integers");
            let constant = f.constant_id(constant);
            let new = match plus {
                0 => other,
                _ => f.push_front(first.header, arith::add(other, constant))?,
            };
            replaced.push((old, new));
        }
        for &(old, new) in &replaced {
            f.replace_named(old, new)?;
        }
        f.delete_block(second.header)?;
        for &(old, _) in &replaced {
            if f.is_live(old) {
                f.remove_param(old)?;
            }
        }
        merge_after(f, first.latch)?;
        tests.into_iter().try_for_each(|test| delete_unused(f, test))
    }

    /// Lets what is between the loops run before or after them, and its parameters be what the
    /// first loop passes.
    fn move_between(&self, f: &mut Function, preheader: Block) -> IrResult<()> {
        let Some(intervening) = &self.intervening else { return Ok(()) };
        for &v in &intervening.before {
            f.move_before(v, Value::terminator(preheader))?;
        }
        let exit = self.first.exit(f);
        bind_params(f, intervening.block, exit)
    }

    /// Lets the test of the new loop lead to the body of the first one, and to where the second
    /// one was left to.
    fn lead_on(&self, f: &mut Function, exit: (Block, Vec<Operand>)) -> IrResult<()> {
        let (first, second) = (self.first, self.second);
        let (mut target, mut args) = exit;
        if let Some(intervening) = &self.intervening {
            if intervening.is_all_before() {
                // The exit leads elsewhere presently.
                f.redirect(first.exit(f), target, args.clone())?;
                f.remove_terminator(intervening.block)?;
                f.delete_block(intervening.block)?;
            } else {
                let loc = f.loc(Value::terminator(intervening.block));
                let jump = Inst::new(f.jump_op()?).edge(target, args).at(loc);
                f.set_terminator(intervening.block, jump)?;
                (target, args) = (intervening.block, Vec::new());
            }
        }
        f.redirect(first.exit(f), target, args.clone())?;
        if self.reversed == Reversed::First {
            // The first loop counts the other way now; how often the second runs stays as it is.
            let stay = first.stay(f);
            let (body, body_args) = (f.edge_target(stay), f.edge_args(stay).collect::<Vec<_>>());
            let test = Value::terminator(second.header);
            let (Some(op), Some(condition)) = (f.op(test), f.operand(test, 0)) else {
                unreachable!("a loop is left by a branch")
            };
            let leaves = second.exit(f);
            let inst = Inst::new(op).operand(condition).at(f.loc(test));
            let inst = match f.out_edges(second.header).next() == Some(leaves) {
                true => inst.edge(target, args).edge(body, body_args),
                false => inst.edge(body, body_args).edge(target, args),
            };
            f.remove_terminator(second.header)?;
            f.set_terminator(first.header, inst)?;
        } else {
            f.remove_terminator(second.header)?;
        }
        Ok(())
    }
}
