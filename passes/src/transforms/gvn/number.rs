//! Global value numbering: every value gets a number, which is the first value (or the constant)
//! that it is known to equal.

use std::hash::{Hash, Hasher};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use regraft_dialects::{arith, core, mem};
use regraft_ir::{Attrs, Block, Edge, Function, Op, Operand, Traits, Type, Value};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;

use super::GvnAnalyses;
use super::congruence::OptimisticClasses;
use super::numbers::Numbers;
use crate::analysis::memory_ssa::{Seen, Version};

/// After so many rounds, all parameters of loops count as different.
const MAX_ROUNDS: usize = 6;

/// Numbers all reachable values. Near linear.
pub(super) fn number(f: &Function, facts: &GvnAnalyses, first_visits: bool) -> Numbers {
    let mut classes = OptimisticClasses::first(f, facts);
    let mut rounds = 0;
    loop {
        let mut walk = Walk {
            f,
            facts,
            classes: &classes,
            numbers: Numbers { of: Vec::new() },
            table: HashTable::with_capacity(f.value_count()),
            of_params: FxHashMap::default(),
            versions: FxHashMap::default(),
            first_visits,
        };
        walk.run();
        let numbers = walk.numbers;
        rounds += 1;
        if classes.is_empty() {
            return numbers;
        }
        if rounds == MAX_ROUNDS {
            classes.give_up();
        } else if classes.holds(f, facts, &numbers) {
            return numbers;
        }
    }
}

// --- the walk ------------------------------------------------------------------------------------

pub(super) struct Walk<'a> {
    pub(super) f: &'a Function,
    pub(super) facts: &'a GvnAnalyses,
    classes: &'a OptimisticClasses,
    pub(super) numbers: Numbers,
    table: HashTable<Value>,
    /// Parameters by what their arguments equal.
    of_params: FxHashMap<(Block, Type, SmallVec<[Operand; 4]>), Value>,
    /// The versions that reads see, where they were looked for past some writes.
    versions: FxHashMap<Value, Version>,
    /// True if reads in a loop are forwarded what was written before it.
    pub(super) first_visits: bool,
}

impl Walk<'_> {
    fn run(&mut self) {
        let f = self.f;
        // Values of blocks that nothing reaches equal themselves.
        self.numbers.of = vec![f.constant_id(false).into(); f.value_capacity()];
        for block in f.blocks() {
            for v in f.params(block).chain(f.body(block)) {
                self.numbers.of[v.index()] = v.into();
            }
        }
        for block in self.facts.cfg.reverse_postorder() {
            if f.param_count(block) > 0 && Some(block) != f.entry() {
                self.params(block);
            }
            let mut next = f.first_inst(block);
            while let Some(v) = next.filter(|v| !v.is_terminator()) {
                next = f.next_inst(v);
                if let Some(number) = self.instruction(v) {
                    self.numbers.of[v.index()] = number;
                }
            }
        }
    }

    fn params(&mut self, block: Block) {
        let (f, facts) = (self.f, self.facts);
        let mut incoming: SmallVec<[Edge; 4]> = SmallVec::new();
        let mut is_header = false;
        for edge in f.in_edges(block) {
            if !facts.cfg.is_reachable(edge.from) {
                continue;
            }
            if facts.cfg.rpo_index(edge.from) >= facts.cfg.rpo_index(block) {
                is_header = true;
                if !facts.dom.dominates(block, edge.from) {
                    // A cycle with several ways in: its parameters are what they are.
                    return;
                }
            }
            incoming.push(edge);
        }
        incoming.sort_unstable_by_key(|edge| (facts.cfg.rpo_index(edge.from), edge.position));
        let params: SmallVec<[Value; 8]> = f.params(block).collect();
        let mut args: Vec<_> = incoming.iter().map(|&edge| f.edge_args(edge)).collect();
        for (i, &param) in params.iter().enumerate() {
            let passed: SmallVec<[Operand; 4]> =
                args.iter_mut().filter_map(Iterator::next).collect();
            let number = if is_header {
                self.loop_param(block, i as u32, param, &passed, &incoming, &params)
            } else {
                self.join_param(block, param, &passed)
            };
            self.numbers.of[param.index()] = number;
        }
    }

    /// A parameter where nothing goes back: it equals its arguments, if they are equal, or another
    /// parameter that gets the same.
    fn join_param(&mut self, block: Block, param: Value, passed: &[Operand]) -> Operand {
        let numbers: SmallVec<[Operand; 4]> =
            passed.iter().map(|&arg| self.numbers.of(arg)).collect();
        let ty = self.f.ty(param);
        if let Some(&first) = numbers.first()
            && numbers.iter().all(|&number| number == first)
            && self.f.operand_type(first) == ty
        {
            return first;
        }
        let first = *self.of_params.entry((block, ty, numbers)).or_insert(param);
        self.numbers_or_self(first, param)
    }

    fn numbers_or_self(&self, first: Value, param: Value) -> Operand {
        if first == param { param.into() } else { self.numbers.of[first.index()] }
    }

    /// A parameter of a loop: it equals what enters if it is passed back as it is, or a parameter
    /// before it of the same optimistic congruence class.
    fn loop_param(
        &self,
        block: Block,
        position: u32,
        param: Value,
        passed: &[Operand],
        incoming: &[Edge],
        params: &[Value],
    ) -> Operand {
        let mut entering = None;
        let mut agree = true;
        for (&arg, edge) in passed.iter().zip(incoming) {
            if arg == param.into() {
                continue;
            }
            // What comes back is not numbered yet.
            let is_back = self.facts.dom.dominates(block, edge.from);
            let number = self.numbers.of(arg);
            agree &= (!is_back || arg.as_value().is_none())
                && entering.is_none_or(|entering| entering == number);
            entering = Some(number);
        }
        if let Some(number) = entering
            && agree
            && self.f.operand_type(number) == self.f.ty(param)
        {
            return number;
        }
        let leader = params[self.classes.leader(block, position) as usize];
        self.numbers_or_self(leader, param)
    }

    /// Returns what an instruction equals; `None` if it takes no part.
    fn instruction(&mut self, v: Value) -> Option<Operand> {
        let f = self.f;
        let def = f.op_def(v)?;
        if !def.traits.contains(Traits::PURE) {
            let seen = self.facts.memory.seen(v)?;
            if let Some(known) = self.shape_of_new(v, seen) {
                return Some(known);
            }
            if let Some(contents) = seen.contents {
                match self.clobber(v, contents) {
                    Clobber::Stored(value) => return Some(self.numbers.of(value)),
                    Clobber::Version(version) if version != contents => {
                        self.versions.insert(v, version);
                    }
                    Clobber::Version(_) => {}
                }
            }
        }
        if let Some(known) = self.cancelled(v) {
            return Some(known);
        }
        if def.op == core::SAME && self.are_different(v) {
            return Some(f.constant_id(false).into());
        }
        if def.op == core::GET
            && let Some(known) = self.get_of_shape(v)
        {
            return Some(known);
        }
        let key = self.key(v)?;
        let hash = hash(&key);
        let mut table = std::mem::take(&mut self.table);
        let entry = table.entry(
            hash,
            |&other| self.key(other).is_some_and(|other| other == key),
            |&other| self.key(other).map_or(0, |key| self::hash(&key)),
        );
        let number = match entry {
            Entry::Occupied(entry) => self.numbers.of[entry.get().index()],
            Entry::Vacant(entry) => {
                entry.insert(v);
                v.into()
            }
        };
        self.table = table;
        Some(number)
    }

    /// Returns what decides about the value of an instruction.
    #[inline]
    fn key(&self, v: Value) -> Option<Key> {
        let f = self.f;
        let def = f.op_def(v)?;
        let mut operands: SmallVec<[Operand; 4]> =
            f.operands(v).map(|operand| self.numbers.of(operand)).collect();
        let mut op = def.op;
        let commutes = def.traits.contains(Traits::COMMUTATIVE);
        if let [x, y, ..] = &mut operands[..]
            && (commutes && *y < *x || matches!(op, arith::GT | arith::GE))
        {
            std::mem::swap(x, y);
            op = match op {
                arith::GT => arith::LT,
                arith::GE => arith::LE,
                same => same,
            };
        }
        // Whether an index is promised to be in bounds does not change what is there.
        let attrs = if op == mem::LOAD { Attrs::NONE } else { f.attrs(v) };
        let mut seen = None;
        if !def.traits.contains(Traits::PURE) {
            let mut what = self.facts.memory.seen(v)?;
            if let Some(&version) = self.versions.get(&v) {
                what.contents = Some(version);
            }
            self.ask_source(op, &mut operands, &mut what);
            seen = Some(what);
        }
        Some(Key { op, attrs, ty: f.ty(v), seen, operands })
    }
}

/// The end of a clobber walk.
pub(super) enum Clobber {
    /// The read is forwarded this stored value.
    Stored(Operand),
    /// It sees this version of memory.
    Version(Version),
}

/// The expression that decides about the value of an instruction.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    op: Op,
    attrs: Attrs,
    ty: Type,
    seen: Option<Seen>,
    operands: SmallVec<[Operand; 4]>,
}

#[inline]
fn hash(key: &Key) -> u64 {
    let mut hasher = FxHasher::default();
    key.hash(&mut hasher);
    hasher.finish()
}
