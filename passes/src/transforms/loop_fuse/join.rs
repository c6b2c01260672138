//! Two loops become one.

use regraft_ir::{Block, Edge, Function, Inst, IrResult, Operand, Value};

use crate::analysis::{InductionVariables, LoopForest};
use crate::transforms::simplify_cfg::merge_after;
use crate::transforms::util::edit::{delete_unused, move_body};
use crate::transforms::util::loop_form::LoopForm;
use crate::transforms::util::loop_pair::{LoopPair, bind_params};

/// Two loops that become one.
pub(super) struct Fusion {
    pair: LoopPair,
    /// Parameters of the second header that are always what one of the first is.
    same: Vec<(Value, Value)>,
    form: LoopForm,
}

impl Fusion {
    pub(super) fn new(forest: &LoopForest, pair: LoopPair, variables: &InductionVariables) -> Self {
        let of_first = variables.basic(pair.first.id);
        let same = variables.basic(pair.second.id).iter().filter_map(|counter| {
            let mut others = of_first.iter();
            let same = others
                .find(|other| (&other.base, &other.step) == (&counter.base, &counter.step))?;
            Some((counter.param, same.param))
        });
        Self { same: same.collect(), form: LoopForm::new(forest, pair.first.id), pair }
    }

    /// Makes one loop of the two.
    pub(super) fn join(mut self, f: &mut Function) -> IrResult<()> {
        let LoopPair { first, second, intervening } = self.pair;
        let preheader = self.form.ensure_preheader(f)?;
        self.move_between(f, preheader)?;
        // What the edges into the headers pass.
        let args = |f: &Function, edge: Edge| f.edge_args(edge).collect::<Vec<Operand>>();
        let enter = f.out_edges(preheader).next().expect("a preheader has an edge");
        let enter_second = self.pair.enter_second(f);
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
        let test = if first.is_tested_first() { second } else { first }.test(f);
        f.remove_terminator(preheader)?;
        f.remove_terminator(first.latch)?;
        for (&param, same) in params.iter().zip(&same) {
            let joined = match *same {
                Some(other) => other,
                None => f.append_param(first.header, f.ty(param))?,
            };
            f.replace_named(param, joined)?;
        }
        let jump = f.jump_op()?;
        let next = [next_first, joining(f, second.back_edge(f))].concat();
        if first.is_tested_first() {
            let (stay, leave) = (second.stay(f), second.exit(f));
            let (body, body_args) = (f.edge_target(stay), args(f, stay));
            let (after, after_args) = (f.edge_target(leave), args(f, leave));
            let end = Value::terminator(first.header);
            move_body(f, second.header, end)?;
            f.redirect(first.exit(f), after, after_args)?;
            let at_back = f.loc(Value::terminator(second.latch));
            f.set_terminator(first.latch, Inst::new(jump).edge(body, body_args).at(at_latch))?;
            f.set_terminator(second.latch, Inst::new(jump).edge(first.header, next).at(at_back))?;
            f.remove_terminator(second.header)?;
        } else {
            f.redirect(second.back_edge(f), first.header, next)?;
            if let Some(intervening) = intervening {
                f.remove_terminator(intervening)?;
            }
            f.delete_all(&params)?;
            let inst = Inst::new(jump).operand(second.header).at(at_latch);
            f.set_terminator(first.latch, inst)?;
        }
        f.set_terminator(preheader, Inst::new(jump).edge(first.header, initial).at(at_preheader))?;
        if let Some(intervening) = intervening {
            f.delete_block(intervening)?;
        }
        if first.is_tested_first() {
            f.delete_block(second.header)?;
        }
        merge_after(f, first.latch)?;
        delete_unused(f, test)
    }

    /// Lets what is between the loops run before them, and its parameters be what the first loop
    /// passes.
    fn move_between(&self, f: &mut Function, preheader: Block) -> IrResult<()> {
        let Some(intervening) = self.pair.intervening else { return Ok(()) };
        move_body(f, intervening, Value::terminator(preheader))?;
        let exit = self.pair.first.exit(f);
        bind_params(f, intervening, exit)
    }
}
