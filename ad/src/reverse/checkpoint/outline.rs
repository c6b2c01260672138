//! Outlines an iteration of a loop.
//!
//! ```text
//! ^2(%i: i64, %s: f64):                   func @f.step(%i: i64, %s: f64, %x: f64, %n: i64)
//!   %c: bool = arith.lt %i, %n                -> tuple<i64, f64>
//!   br %c, ^3, ^4                    =>     ..
//! ^3:                                       %t: f64 = arith.mul %s, %x
//!   %t: f64 = arith.mul %s, %x              %j: i64 = arith.add %i, 1
//!   %j: i64 = arith.add %i, 1               %r = core.tuple %j, %t
//!   br ^2(%j, %t)                           return %r
//! ```
//!
//! In the function stays, in place of the loop, a call that makes as many steps as the latch runs,
//! and what is left of the last iteration, in which the loop is left: so a test in the header and one
//! in the latch are one case. Ways out that lead to errors alone go with the step.

use regraft_dialects::{arith, cf, core};
use regraft_ir::{
    Attrs, Block, Constant, Diagnostic, Edge, Function, Operand, OperandKind, Symbol, Type, Value,
};
use regraft_passes::analysis::Analyses;
use regraft_passes::analysis::trip_count::LatchRuns;
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::loops::Loops;
use super::super::prepare::delete_unreachable;

/// A loop that can be outlined.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) header: Block,
    preheader: Block,
    latch: Block,
    /// The block where it is left in the end, and the target.
    exit: (Block, Block),
    runs: LatchRuns,
    /// The blocks of an iteration, and those behind ways out that lead to errors.
    blocks: Vec<Block>,
}

/// An iteration as a function: `(state.., environment..) -> state`.
#[derive(Debug)]
pub(super) struct Outlined {
    pub(super) step: Function,
    /// The types of the state.
    pub(super) state: Vec<Type>,
    /// The values from outside that it uses.
    pub(super) environment: Vec<Value>,
}

/// The loop of this header, if it is in no other one and its iterations are counted before it
/// begins; else why not. `returns` says by [`Block::index`] which blocks the function comes back
/// from. Near linear in the size of the function.
pub(super) fn candidate(
    f: &Function,
    header: Block,
    returns: &[bool],
    analyses: &mut Analyses,
) -> Result<Candidate, &'static str> {
    let Loops { cfg, forest, counts, .. } = Loops::of(f, returns, analyses);
    let id = forest.headed_by(header).ok_or("it is no loop")?;
    let l = forest.get(id);
    if l.has_irreducible {
        return Err("a cycle in it has more than one way in");
    }
    let count = counts.of(id);
    let fits = count.latch_runs.as_constant().is_some() || count.latch_runs.as_symbolic().is_some();
    let is_known = counts.is_known(id) && fits;
    let (Some(preheader), Some(latch), Some(exit), true) =
        (l.preheader, l.single_latch(), count.exit, is_known)
    else {
        return Err("the number of its iterations is not known before it begins");
    };
    // All other ways out have to lead to errors: one that is never taken, as the count knows, may not.
    let exits = l.exits.iter().map(|other| other.edge(f)).filter(|&other| other != exit);
    let mut ends: Vec<Block> = exits.map(|other| f.edge_target(other)).collect();
    if ends.iter().any(|end| returns[end.index()]) {
        return Err("it is left in more than one way");
    }
    if f.op(Value::terminator(exit.from)) != Some(cf::BR) {
        return Err("it is left by a switch");
    }
    // In an order in which definitions come before uses.
    let mut wanted: FxHashSet<Block> = forest.blocks(id).iter().copied().collect();
    while let Some(block) = ends.pop() {
        if wanted.insert(block) {
            ends.extend(f.successors(block));
        }
    }
    let blocks = cfg.reverse_postorder().filter(|block| wanted.contains(block)).collect();
    let exit = (exit.from, f.edge_target(exit));
    let runs = count.latch_runs.clone();
    Ok(Candidate { header, preheader, latch, exit, runs, blocks })
}

impl Candidate {
    /// The iteration as a function of that name.
    pub(super) fn step(&self, f: &Function, name: &str) -> Result<Outlined, Diagnostic> {
        let params: Vec<Value> = f.params(self.header).collect();
        let state: Vec<Type> = params.iter().map(|&param| f.ty(param)).collect();
        let inside: FxHashSet<Block> = self.blocks.iter().copied().collect();
        let mut seen: FxHashSet<Value> = FxHashSet::default();
        let mut environment = Vec::new();
        for &block in &self.blocks {
            for v in f.insts(block) {
                for operand in f.operands(v) {
                    if let Some(used) = operand.as_value()
                        && !inside.contains(&f.block_of(used))
                        && seen.insert(used)
                    {
                        environment.push(used);
                    }
                }
            }
        }
        let ctx = f.ctx();
        let types: Vec<Type> =
            state.iter().copied().chain(environment.iter().map(|&v| f.ty(v))).collect();
        let mut step = Function::new(ctx, name, &types, ctx.tuple_type(&state));
        step.set_function_loc(f.function_loc());
        let entry = step.entry().expect("a new function has an entry");
        let given: Vec<Value> = step.params(entry).collect();
        let mut values: FxHashMap<Value, Operand> = FxHashMap::default();
        for (&old, &new) in environment.iter().zip(&given[state.len()..]) {
            values.insert(old, new.into());
            keep_name(f, old, &mut step, new)?;
        }
        let mut blocks: FxHashMap<Block, Block> = FxHashMap::default();
        for &block in &self.blocks {
            let copy = step.add_block();
            blocks.insert(block, copy);
            let params: Vec<Value> = f.params(block).collect();
            for param in params {
                let new = step.append_param(copy, f.ty(param))?;
                values.insert(param, new.into());
                keep_name(f, param, &mut step, new)?;
            }
        }
        step.set_terminator(entry, cf::br(blocks[&self.header], given[..state.len()].to_vec()))?;
        // From the latch control goes on to where the step is over.
        let over = step.add_block();
        let mut results = Vec::with_capacity(state.len());
        for &ty in &state {
            results.push(step.append_param(over, ty)?);
        }
        let result = step.push(over, core::tuple(results))?;
        step.set_terminator(over, cf::ret(result))?;
        for &block in &self.blocks {
            let copy = blocks[&block];
            for v in f.body(block) {
                let mut inst = f.statement(v).with_type(f.ty(v));
                for operand in inst.operand_list_mut() {
                    *operand = translate(*operand, &values, &blocks);
                }
                let new = step.push(copy, inst)?;
                values.insert(v, new.into());
                keep_name(f, v, &mut step, new)?;
            }
            let mut end = if block == self.exit.0 {
                self.staying(f)
            } else {
                f.statement(Value::terminator(block))
            };
            for operand in end.operand_list_mut() {
                let old = *operand;
                *operand = if block == self.latch && old.as_block() == Some(self.header) {
                    over.into()
                } else {
                    translate(old, &values, &blocks)
                };
            }
            step.set_terminator(copy, end)?;
        }
        Ok(Outlined { step, state, environment })
    }

    /// The branch at which the loop is left, as it is if it is not.
    fn staying(&self, f: &Function) -> regraft_ir::Inst {
        let edge = f.out_edges(self.exit.0).find(|&edge| f.edge_target(edge) != self.exit.1);
        let edge = edge.expect("the other edge stays in the loop");
        cf::br(f.edge_target(edge), f.edge_args(edge)).at(f.loc(Value::terminator(self.exit.0)))
    }

    /// Lets `f` call `steps`, a function `(number of steps, state.., environment..) -> state`,
    /// instead of going around. Returns the call.
    pub(super) fn replace(
        &self,
        f: &mut Function,
        steps: Symbol,
        outlined: &Outlined,
    ) -> Result<Value, Diagnostic> {
        let ctx = f.ctx().clone();
        let at = Value::terminator(self.preheader);
        let loc = f.loc(Value::terminator(self.header));
        let none: Operand = ctx.constant_id(Constant::Unit).into();
        let runs: Operand = match (self.runs.as_constant(), self.runs.as_symbolic()) {
            (Some(n), _) => ctx.constant_id(Constant::I64(n)).into(),
            (None, Some(count)) => count.materialize_i64(f, at, &mut |_| none)?,
            (None, None) => {
                return Err(Diagnostic::error("a loop that is not counted was outlined"));
            }
        };
        let entering = edge_between(f, self.preheader, self.header);
        let mut args = vec![runs];
        args.extend(f.edge_args(entering));
        args.extend(outlined.environment.iter().map(|&v| Operand::from(v)));
        let callee = ctx.constant_id(Constant::Func(steps));
        let ty = ctx.tuple_type(&outlined.state);
        let state = f.insert(at, core::call(callee, args, ty).at(loc))?;
        for i in 0..outlined.state.len() {
            let index = ctx.constant_id(Constant::I64(i as i64 + 1));
            let part = f.insert(at, core::get(state, index).at(loc))?;
            f.set_operand(at, entering.position as usize + 1 + i, part)?;
        }
        let leaving = edge_between(f, self.exit.0, self.exit.1);
        let args: Vec<Operand> = f.edge_args(leaving).collect();
        let end = cf::br(self.exit.1, args).at(f.loc(Value::terminator(self.exit.0)));
        f.set_terminator(self.exit.0, end)?;
        delete_unreachable(f)?;
        Ok(state)
    }

    /// Makes the function that makes steps: `(number of steps, state.., environment..) -> state`.
    pub(super) fn steps(outlined: &Outlined, name: &str) -> Result<Function, Diagnostic> {
        let step = &outlined.step;
        let ctx = step.ctx();
        let types = [Type::I64].into_iter().chain(step.param_types()).collect::<Vec<_>>();
        let mut f = Function::new(ctx, name, &types, step.ret_type());
        f.set_function_loc(step.function_loc());
        let entry = f.entry().expect("a new function has an entry");
        let given: Vec<Value> = f.params(entry).collect();
        let (header, body, end) = (f.add_block(), f.add_block(), f.add_block());
        let count = f.append_param(header, Type::I64)?;
        let mut state = Vec::with_capacity(outlined.state.len());
        for &ty in &outlined.state {
            state.push(f.append_param(header, ty)?);
        }
        let integer = |i: i64| Operand::from(ctx.constant_id(Constant::I64(i)));
        let first = [integer(0)].into_iter();
        let first = first.chain(given[1..=state.len()].iter().map(|&v| v.into()));
        f.set_terminator(entry, cf::br(header, first.collect::<Vec<Operand>>()))?;
        let more = f.push(header, arith::lt(count, given[0]))?;
        let none: [Operand; 0] = [];
        f.set_terminator(header, cf::br_if(more, body, none, end, none))?;
        let args = state.iter().chain(&given[state.len() + 1..]).copied().collect::<Vec<_>>();
        let callee = ctx.constant_id(Constant::Func(step.name()));
        let next = f.push(body, core::call(callee, args, step.ret_type()))?;
        let mut back: Vec<Operand> = vec![f.push(body, arith::add(count, integer(1)))?.into()];
        for i in 0..state.len() {
            back.push(f.push(body, core::get(next, integer(i as i64 + 1)))?.into());
        }
        f.set_terminator(body, cf::br(header, back))?;
        let result = f.push(end, core::tuple(state))?;
        f.set_terminator(end, cf::ret(result))?;
        f.set_function_attrs(Attrs::NONE);
        Ok(f)
    }
}

fn edge_between(f: &Function, from: Block, to: Block) -> Edge {
    let edge = f.out_edges(from).find(|&edge| f.edge_target(edge) == to);
    edge.expect("no block has two edges to one other, and these have one")
}

fn translate(
    operand: Operand,
    values: &FxHashMap<Value, Operand>,
    blocks: &FxHashMap<Block, Block>,
) -> Operand {
    match operand.kind() {
        OperandKind::Value(v) => values.get(&v).copied().unwrap_or(operand),
        OperandKind::Block(block) => blocks.get(&block).map_or(operand, |&block| block.into()),
        _ => operand,
    }
}

fn keep_name(f: &Function, old: Value, to: &mut Function, new: Value) -> Result<(), Diagnostic> {
    match f.value_symbol(old) {
        Some(name) => Ok(to.name_after(new, name)?),
        None => Ok(()),
    }
}
