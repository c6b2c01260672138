//! Parameters of aggregate types become parameters for their parts.
//!
//! A parameter is split if something that is made of parts may come in, and parts of it are looked
//! at, there or in a parameter that it is passed on to. If it is needed as a whole as well, all
//! that comes in has to be made of parts, so that no more is put together than before; it is then
//! put together where it is needed. Which ones are split is found by assuming it of all, and
//! taking back those of which it turns out not to hold, until nothing changes.

use regraft_dialects::core;
use regraft_ir::{Block, ControlFlow, Function, Inst, IrResult, Operand, Traits, Type, Use, Value};
use rustc_hash::FxHashMap;

use crate::transforms::util::add_params::add_params;
use crate::transforms::util::aggregate::{
    construct, is_construction, is_made, part_name, parts, projected,
};
use crate::transforms::util::edit::replace_or_widen;

/// Aggregates with more parts stay whole.
const MAX_PARTS: usize = 32;

/// A parameter that may be split.
#[derive(Debug)]
struct Candidate {
    param: Value,
    block: Block,
    /// Its place among the parameters of the block.
    position: usize,
    parts: Vec<Type>,
    /// The parts that are looked at, as bits.
    projected: u32,
    /// The uses that need all of it.
    whole: Vec<Use>,
    /// The candidates that it is passed on to.
    goes_to: Vec<usize>,
    /// The arguments, by edge.
    sources: Vec<Operand>,
    split: bool,
}

/// Splits parameters, once for each level of nesting at most. Returns how many were split. O(uses
/// of parameters of aggregate types, and their parts).
pub(super) fn run(f: &mut Function, cfg: &ControlFlow) -> IrResult<usize> {
    let mut splitter = Splitter::new(f, cfg);
    if splitter.candidates.is_empty() {
        return Ok(0);
    }
    splitter.choose(f);
    splitter.candidates.retain(|candidate| candidate.split);
    splitter.number();
    if splitter.candidates.is_empty() { Ok(0) } else { splitter.split(f) }
}

struct Splitter {
    candidates: Vec<Candidate>,
    /// The candidate that a parameter is.
    of: FxHashMap<Value, usize>,
}

impl Splitter {
    fn new(f: &Function, cfg: &ControlFlow) -> Self {
        let mut candidates = Vec::new();
        for block in cfg.reverse_postorder().filter(|&block| Some(block) != f.entry()) {
            for (position, param) in f.params(block).enumerate() {
                let Some(parts) = parts(f.ctx(), f.ty(param)) else { continue };
                if parts.len() <= MAX_PARTS {
                    candidates.push(Candidate {
                        param,
                        block,
                        position,
                        parts,
                        projected: 0,
                        whole: Vec::new(),
                        goes_to: Vec::new(),
                        sources: Vec::new(),
                        split: false,
                    });
                }
            }
        }
        let mut splitter = Self { candidates, of: FxHashMap::default() };
        splitter.number();
        for i in 0..splitter.candidates.len() {
            splitter.look(f, i);
        }
        splitter
    }

    fn number(&mut self) {
        let numbers = self.candidates.iter().enumerate();
        self.of = numbers.map(|(i, candidate)| (candidate.param, i)).collect();
    }

    /// Finds the uses and the sources of a candidate.
    fn look(&mut self, f: &Function, i: usize) {
        let param = self.candidates[i].param;
        for at in f.uses_in_order(param) {
            if let Some(part) = projected(f, at) {
                self.candidates[i].projected |= 1 << part;
            } else if let Some(&target) =
                f.parameter_passed(at).and_then(|param| self.of.get(&param))
            {
                self.candidates[i].goes_to.push(target);
            } else {
                self.candidates[i].whole.push(at);
            }
        }
        let position = self.candidates[i].position;
        for edge in f.in_edges_in_order(self.candidates[i].block) {
            self.candidates[i].sources.extend(f.edge_args(edge).nth(position));
        }
    }

    fn candidate(&self, operand: Operand) -> Option<usize> {
        self.of.get(&operand.as_value()?).copied()
    }

    fn choose(&mut self, f: &Function) {
        // Forwards: where something that is made of parts may come in.
        let mut work: Vec<usize> = Vec::new();
        for i in 0..self.candidates.len() {
            let sources = &self.candidates[i].sources;
            if sources.iter().any(|&arg| is_made(f, arg)) {
                self.candidates[i].split = true;
                work.push(i);
            }
        }
        while let Some(i) = work.pop() {
            for target in self.candidates[i].goes_to.clone() {
                if !std::mem::replace(&mut self.candidates[target].split, true) {
                    work.push(target);
                }
            }
        }
        // Backwards: which parts are looked at.
        self.spread_needs();
        for candidate in &mut self.candidates {
            candidate.split &= candidate.projected != 0;
        }
        // Those that would be put together more often than before are taken back.
        let mut work: Vec<usize> =
            (0..self.candidates.len()).filter(|&i| self.candidates[i].split).collect();
        while let Some(i) = work.pop() {
            let candidate = &self.candidates[i];
            if !candidate.split || !self.is_needed_whole(i) {
                continue;
            }
            let unknown = |&arg: &Operand| {
                !is_made(f, arg)
                    && !self.candidate(arg).is_some_and(|source| self.candidates[source].split)
            };
            if candidate.sources.iter().any(unknown) {
                let others: Vec<usize> = candidate
                    .sources
                    .iter()
                    .filter_map(|&arg| self.candidate(arg))
                    .chain(candidate.goes_to.iter().copied())
                    .collect();
                self.candidates[i].split = false;
                work.extend(others);
            }
        }
        for i in 0..self.candidates.len() {
            if self.candidates[i].split && self.is_needed_whole(i) {
                self.candidates[i].projected = all(self.candidates[i].parts.len());
            }
        }
        self.spread_needs();
    }

    fn is_needed_whole(&self, i: usize) -> bool {
        let candidate = &self.candidates[i];
        !candidate.whole.is_empty()
            || candidate.goes_to.iter().any(|&target| !self.candidates[target].split)
    }

    /// Spreads the needs of parameters to the arguments that are passed for them.
    fn spread_needs(&mut self) {
        let mut work: Vec<usize> = (0..self.candidates.len()).collect();
        while let Some(i) = work.pop() {
            let needed = self.candidates[i].projected;
            for k in 0..self.candidates[i].sources.len() {
                let arg = self.candidates[i].sources[k];
                if let Some(source) = self.candidate(arg)
                    && needed & !self.candidates[source].projected != 0
                {
                    self.candidates[source].projected |= needed;
                    work.push(source);
                }
            }
        }
    }

    /// Splits all candidates that are left.
    fn split(self, f: &mut Function) -> IrResult<usize> {
        let mut wanted = Vec::new();
        // Where the parameters for the parts of each candidate begin, and what they are.
        let mut places: FxHashMap<(usize, usize), usize> = FxHashMap::default();
        let mut keys = Vec::new();
        for (i, candidate) in self.candidates.iter().enumerate() {
            for part in bits(candidate.projected) {
                places.insert((i, part), wanted.len());
                keys.push((i, part));
                wanted.push((candidate.block, candidate.parts[part]));
            }
        }
        let taken = self.take_parts(f)?;
        let params = add_params(f, &wanted, |params, at, _, args| {
            let (i, part) = keys[at];
            let arg = args[self.candidates[i].position];
            match self.candidate(arg) {
                Some(source) => params[places[&(source, part)]].into(),
                None => taken[&(arg, part)],
            }
        })?;
        let Some(params) = params else { return Ok(0) };
        let mut starts = Starts::default();
        for i in 0..self.candidates.len() {
            let own: FxHashMap<usize, Value> = bits(self.candidates[i].projected)
                .map(|part| (part, params[places[&(i, part)]]))
                .collect();
            self.use_parts(f, i, &own, &mut starts)?;
        }
        let gone: Vec<Value> = self.candidates.iter().map(|candidate| candidate.param).collect();
        f.delete_all(&gone)?;
        Ok(gone.len())
    }

    /// The parts of everything that comes in from outside: what it is made of, or taken out where it
    /// is defined.
    fn take_parts(&self, f: &mut Function) -> IrResult<FxHashMap<(Operand, usize), Operand>> {
        let mut taken: FxHashMap<(Operand, usize), Operand> = FxHashMap::default();
        for candidate in &self.candidates {
            for &arg in &candidate.sources {
                if self.candidate(arg).is_some() {
                    continue;
                }
                for part in bits(candidate.projected) {
                    if taken.contains_key(&(arg, part)) {
                        continue;
                    }
                    let Some(v) = arg.as_value() else { continue };
                    let operand = if is_construction(f, v) {
                        f.operand(v, part).expect("it has as many parts")
                    } else if f.ty(v) == Type::NEVER {
                        // It is never there, nor are parts of it.
                        f.insert_after(v, core::undef(candidate.parts[part]))?.into()
                    } else {
                        let index = f.constant_id(part as i64 + 1);
                        f.insert_after(v, core::get(v, index))?.into()
                    };
                    taken.insert((arg, part), operand);
                }
            }
        }
        Ok(taken)
    }

    /// Lets the uses of a candidate use its parts.
    fn use_parts(
        &self,
        f: &mut Function,
        i: usize,
        own: &FxHashMap<usize, Value>,
        starts: &mut Starts,
    ) -> IrResult<()> {
        let candidate = &self.candidates[i];
        let (param, block) = (candidate.param, candidate.block);
        if let Some(of) = f.value_symbol(param) {
            f.set_name_of(param, None)?;
            let (ctx, ty) = (f.ctx().clone(), f.ty(param));
            for part in bits(candidate.projected) {
                let name = match part_name(&ctx, ty, part) {
                    Some(field) => format!("{}.{}", ctx.str(of), ctx.str(field)),
                    None => format!("{}.{}", ctx.str(of), part + 1),
                };
                f.name_after(own[&part], ctx.symbol(&name))?;
            }
        }
        // Where the whole is needed, it is put together: at the start of the block, or where
        // control leaves the function and it is needed only there.
        let mut whole_in: FxHashMap<Block, Value> = FxHashMap::default();
        let mut at_start = None;
        for at in f.uses_in_order(param) {
            if let Some(part) = projected(f, at) {
                replace_or_widen(f, at.user, own[&part].into(), at.user)?;
                f.delete(at.user)?;
                continue;
            }
            if f.parameter_passed(at).is_some_and(|target| self.of.contains_key(&target)) {
                continue;
            }
            let ty = f.ty(param);
            let together = |f: &Function| {
                let parts = (0..candidate.parts.len()).map(|part| own[&part].into()).collect();
                construct(f.ctx(), ty, parts)
            };
            let home = f.block_of(at.user);
            let whole = if home != block && leaves(f, home) {
                match whole_in.get(&home) {
                    Some(&whole) => whole,
                    None => {
                        let inst = together(f);
                        let whole = f.insert(at.user, inst)?;
                        whole_in.insert(home, whole);
                        whole
                    }
                }
            } else {
                match at_start {
                    Some(whole) => whole,
                    None => {
                        let inst = together(f);
                        let whole = starts.insert(f, param, inst)?;
                        at_start = Some(whole);
                        whole
                    }
                }
            };
            f.set_operand(at.user, at.index as usize, whole)?;
        }
        Ok(())
    }
}

/// The last thing that was put together at the start of each block in this turn.
#[derive(Default, Debug)]
struct Starts(FxHashMap<Block, Value>);

impl Starts {
    /// Inserts at the start of the block of a parameter, after what this turn put there, but before
    /// what earlier turns did: that was made of the parameter if it was a part of another one.
    fn insert(&mut self, f: &mut Function, param: Value, inst: Inst) -> IrResult<Value> {
        let block = f.block_of(param);
        let next = match self.0.get(&block) {
            Some(&last) => f.next_inst(last),
            None => f.body(block).next(),
        };
        let whole = f.insert_after(param, inst)?;
        f.move_before(whole, next.unwrap_or(Value::terminator(block)))?;
        self.0.insert(block, whole);
        Ok(whole)
    }
}

/// Returns whether control leaves the function at the end of a block.
fn leaves(f: &Function, block: Block) -> bool {
    let def = f.op_def(Value::terminator(block));
    f.is_cold(block) || def.is_some_and(|def| def.traits.contains(Traits::RETURN))
}

fn all(parts: usize) -> u32 {
    if parts >= 32 { u32::MAX } else { (1 << parts) - 1 }
}

fn bits(set: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |&part| set >> part & 1 == 1)
}
