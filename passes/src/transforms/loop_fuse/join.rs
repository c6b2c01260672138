//! Two loops become one.

use regraft_ir::{Block, Edge, Function, Inst, IrResult, Operand, Traits, Value};

use super::super::simplify_cfg::merge_after;
use crate::analysis::{InductionVariables, LoopForest, LoopId};
use crate::transforms::util::loop_form::LoopForm;

/// A loop with one exit and one latch.
#[derive(Clone, Copy)]
pub(in crate::transforms) struct Counted {
    pub(in crate::transforms) id: LoopId,
    pub(in crate::transforms) header: Block,
    pub(in crate::transforms) latch: Block,
    /// The block that is left from, the header or the latch, and the place of its edge.
    exit: (Block, usize),
}

impl Counted {
    pub(in crate::transforms) fn of(f: &Function, forest: &LoopForest, id: LoopId) -> Option<Self> {
        let l = forest.get(id);
        let [exit] = *l.exits else { return None };
        let latch = l.single_latch()?;
        let back = f.out_edges(latch).filter(|&edge| f.edge_target(edge) == l.header).count();
        let other = if exit.from == latch { 2 } else { 1 };
        if l.has_irreducible
            || Some(l.header) == f.entry()
            || back != 1
            || f.out_edges(latch).count() != other
            || ![l.header, latch].contains(&exit.from)
            || f.out_edges(exit.from).count() != 2
        {
            return None;
        }
        let nth = f.out_edges(exit.from).position(|edge| edge == exit.edge(f))?;
        Some(Self { id, header: l.header, latch, exit: (exit.from, nth) })
    }

    /// Whether the test stands in the header, and is not the only block.
    pub(in crate::transforms) fn is_tested_first(&self) -> bool {
        self.exit.0 == self.header && self.header != self.latch
    }

    /// The edge that leaves it.
    pub(in crate::transforms) fn exit(&self, f: &Function) -> Edge {
        f.out_edges(self.exit.0).nth(self.exit.1).expect("the edge stays in its place")
    }

    /// The other edge of the block that it is left from.
    pub(in crate::transforms) fn stay(&self, f: &Function) -> Edge {
        f.out_edges(self.exit.0).nth(1 - self.exit.1).expect("a test has two edges")
    }

    pub(in crate::transforms) fn back_edge(&self, f: &Function) -> Edge {
        let mut edges = f.out_edges(self.latch);
        edges.find(|&edge| f.edge_target(edge) == self.header).expect("the latch goes back")
    }
}

/// Two loops of which the second begins where the first ends.
pub(super) struct Pair {
    pub(super) first: Counted,
    pub(super) second: Counted,
    /// The block between them, if there is one.
    pub(super) between: Option<Block>,
    /// Parameters of the second header that are always what one of the first is.
    same: Vec<(Value, Value)>,
    form: LoopForm,
}

impl Pair {
    /// A loop and the one that comes after it.
    pub(super) fn after(f: &Function, forest: &LoopForest, id: LoopId) -> Option<Self> {
        let first = Counted::of(f, forest, id)?;
        let target = f.edge_target(first.exit(f));
        let parent = forest.get(id).parent;
        let (between, header) = match forest.headed_by(target) {
            Some(next) if forest.get(next).parent == parent => (None, target),
            _ if forest.loop_of(target) != parent => return None,
            _ => {
                let term = f.terminator(target)?;
                let is_jump = f.op_def(term)?.traits.contains(Traits::JUMP);
                let header = f.operand(term, 0)?.as_block()?;
                if !is_jump || f.in_edges(target).nth(1).is_some() {
                    return None;
                }
                (Some(target), header)
            }
        };
        let next = forest.headed_by(header)?;
        let second = Counted::of(f, forest, next)?;
        let fits = next != id
            && forest.get(next).parent == parent
            && f.in_edges(header).count() == 2
            && first.is_tested_first() == second.is_tested_first();
        fits.then(|| Self {
            first,
            second,
            between,
            same: Vec::new(),
            form: LoopForm::new(forest, id),
        })
    }

    /// Finds the counters that go the same way in both loops.
    pub(super) fn compare_counters(&mut self, variables: &InductionVariables) {
        let of_first = variables.basic(self.first.id);
        for counter in variables.basic(self.second.id) {
            let same = of_first
                .iter()
                .find(|other| (&other.base, &other.step) == (&counter.base, &counter.step));
            self.same.extend(same.map(|other| (counter.param, other.param)));
        }
    }

    /// Makes one loop of them.
    pub(super) fn join(mut self, f: &mut Function) -> IrResult<()> {
        let (first, second) = (self.first, self.second);
        let preheader = self.form.ensure_preheader(f)?;
        self.move_between(f, preheader)?;
        // What the edges into the headers pass.
        let args = |f: &Function, edge: Edge| f.edge_args(edge).collect::<Vec<Operand>>();
        let enter = f.out_edges(preheader).next().expect("a preheader has an edge");
        let source = self.between.unwrap_or(first.exit.0);
        let enter_second = f.out_edges(source).find(|&e| f.edge_target(e) == second.header);
        let enter_second = enter_second.expect("the first loop leads to the second");
        let params: Vec<Value> = f.params(second.header).collect();
        let same: Vec<Option<Value>> = params
            .iter()
            .map(|param| self.same.iter().find(|(of, _)| of == param).map(|&(_, other)| other))
            .collect();
        // What is passed for parameters that join those of the first header.
        let joining = |f: &Function, edge: Edge| -> Vec<Operand> {
            let args = f.edge_args(edge).zip(&same);
            args.filter(|(_, same)| same.is_none()).map(|(arg, _)| arg).collect()
        };
        let initial = [args(f, enter), joining(f, enter_second)].concat();
        let next_first = args(f, first.back_edge(f));
        let [at_preheader, at_latch] =
            [preheader, first.latch].map(|block| f.loc(Value::terminator(block)));
        let test = test_of(f, if first.is_tested_first() { second } else { first });
        f.remove_terminator(preheader)?;
        f.remove_terminator(first.latch)?;
        for (&param, same) in params.iter().zip(&same) {
            let joined = match *same {
                Some(other) => other,
                None => f.append_param(first.header, f.ty(param))?,
            };
            f.hand_on_name(param, joined);
            f.replace_all_uses(param, joined)?;
        }
        let jump = f.jump_op()?;
        let next = [next_first, joining(f, second.back_edge(f))].concat();
        if first.is_tested_first() {
            let (stay, leave) = (second.stay(f), second.exit(f));
            let (body, body_args) = (f.edge_target(stay), args(f, stay));
            let (after, after_args) = (f.edge_target(leave), args(f, leave));
            let end = Value::terminator(first.header);
            let moved: Vec<Value> = f.body(second.header).collect();
            for v in moved {
                f.move_before(v, end)?;
            }
            f.redirect(first.exit(f), after, after_args)?;
            let at_back = f.loc(Value::terminator(second.latch));
            f.set_terminator(first.latch, Inst::new(jump).edge(body, body_args).at(at_latch))?;
            f.set_terminator(second.latch, Inst::new(jump).edge(first.header, next).at(at_back))?;
            f.remove_terminator(second.header)?;
        } else {
            f.redirect(second.back_edge(f), first.header, next)?;
            if let Some(between) = self.between {
                f.remove_terminator(between)?;
            }
            f.delete_all(&params)?;
            let inst = Inst::new(jump).operand(second.header).at(at_latch);
            f.set_terminator(first.latch, inst)?;
        }
        f.set_terminator(preheader, Inst::new(jump).edge(first.header, initial).at(at_preheader))?;
        if let Some(between) = self.between {
            f.delete_block(between)?;
        }
        if first.is_tested_first() {
            f.delete_block(second.header)?;
        }
        merge_after(f, first.latch)?;
        match test {
            Some(v) if f.is_live(v) && !f.is_used(v) && f.is_removable(v) => {
                f.delete_tree(v).map(drop)
            }
            _ => Ok(()),
        }
    }

    /// Lets what is between the loops run before them, and its parameters be what the first loop
    /// passes.
    fn move_between(&self, f: &mut Function, preheader: Block) -> IrResult<()> {
        let Some(between) = self.between else { return Ok(()) };
        let moved: Vec<Value> = f.body(between).collect();
        for v in moved {
            f.move_before(v, Value::terminator(preheader))?;
        }
        let params: Vec<Value> = f.params(between).collect();
        let args: Vec<Operand> = f.edge_args(self.first.exit(f)).collect();
        for (&param, arg) in params.iter().zip(args) {
            f.hand_on_name(param, arg);
            f.replace_all_uses(param, arg)?;
        }
        f.delete_all(&params)
    }
}

/// The instruction that a test decides on.
fn test_of(f: &Function, of: Counted) -> Option<Value> {
    let test = f.operand(Value::terminator(of.exit.0), 0)?.as_value()?;
    (!f.is_param(test)).then_some(test)
}
