//! Which values are equal: every value gets a number, which is the first value (or the constant)
//! that it is known to equal.

use std::hash::{Hash, Hasher};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use regraft_dialects::{arith, core, data, mem};
use regraft_ir::{Attrs, Block, Constant, Edge, Function, Op, Operand, Traits, Type, Value};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;

use super::Facts;
use super::memory::{Memory, Seen, Version, maker};
use crate::analysis::{Access, inst_effects};

/// So often equal parameters of loops are guessed before all count as different.
const GUESSES: usize = 6;
/// So many stores elsewhere are looked through for the one that a load sees.
const STEPS: usize = 16;

/// The numbers of all values.
pub(super) struct Numbers {
    of: Vec<Operand>,
}

impl Numbers {
    /// What a value equals: a constant, or a value that stands for all that are equal.
    #[inline]
    pub(super) fn of(&self, operand: Operand) -> Operand {
        operand.as_value().map_or(operand, |v| self.of[v.index()])
    }
}

/// Numbers all reachable values. Near linear.
pub(super) fn number(f: &Function, facts: &Facts, memory: &Memory) -> Numbers {
    let mut guess = Guess::first(f, facts);
    let mut left = GUESSES;
    loop {
        let mut walk = Walk {
            f,
            facts,
            memory,
            guess: &guess,
            numbers: Numbers { of: Vec::new() },
            table: HashTable::with_capacity(f.value_count()),
            of_params: FxHashMap::default(),
            versions: FxHashMap::default(),
        };
        walk.run();
        let numbers = walk.numbers;
        left -= 1;
        if guess.groups.is_empty() {
            return numbers;
        }
        match left {
            0 => guess.give_up(),
            _ => {
                if guess.holds(f, facts, &numbers) {
                    return numbers;
                }
            }
        }
    }
}

// --- parameters of loops -------------------------------------------------------------------------

/// Which parameters of a loop header may be equal, although that depends on itself.
struct Guess {
    /// By header, sets of parameters that enter with equal arguments: positions. Only sets of
    /// several are here.
    groups: FxHashMap<Block, Vec<SmallVec<[u32; 4]>>>,
}

impl Guess {
    /// Any two parameters of one type may be equal.
    fn first(f: &Function, facts: &Facts) -> Self {
        let mut groups = FxHashMap::default();
        for id in facts.forest.loops() {
            let header = facts.forest.get(id).header;
            if f.param_count(header) < 2 {
                continue;
            }
            let entering: Vec<Edge> = edges(f, facts, header, false);
            let mut sets: Vec<(Vec<Operand>, Type, SmallVec<[u32; 4]>)> = Vec::new();
            for (i, param) in f.params(header).enumerate() {
                let args: Vec<Operand> =
                    entering.iter().filter_map(|&edge| f.edge_args(edge).nth(i)).collect();
                let ty = f.ty(param);
                match sets.iter().position(|set| set.0 == args && set.1 == ty) {
                    Some(at) => sets[at].2.push(i as u32),
                    // Of very many parameters, the others are not compared.
                    None if sets.len() < 64 => {
                        sets.push((args, ty, smallvec::smallvec![i as u32]));
                    }
                    None => {}
                }
            }
            let sets: Vec<SmallVec<[u32; 4]>> =
                sets.into_iter().map(|set| set.2).filter(|set| set.len() > 1).collect();
            if !sets.is_empty() {
                groups.insert(header, sets);
            }
        }
        Self { groups }
    }

    /// Splits the sets of which the arguments that come back differ. Returns whether there were
    /// none.
    fn holds(&mut self, f: &Function, facts: &Facts, numbers: &Numbers) -> bool {
        let mut holds = true;
        self.groups.retain(|&header, sets| {
            let back = edges(f, facts, header, true);
            let mut split: Vec<SmallVec<[u32; 4]>> = Vec::new();
            for set in sets.iter() {
                let mut parts: Vec<(Vec<Operand>, SmallVec<[u32; 4]>)> = Vec::new();
                for &i in set {
                    let args: Vec<Operand> = back
                        .iter()
                        .filter_map(|&edge| f.edge_args(edge).nth(i as usize))
                        .map(|arg| numbers.of(arg))
                        .collect();
                    match parts.iter_mut().find(|part| part.0 == args) {
                        Some(part) => part.1.push(i),
                        None => parts.push((args, smallvec::smallvec![i])),
                    }
                }
                holds &= parts.len() == 1;
                split.extend(parts.into_iter().map(|part| part.1).filter(|p| p.len() > 1));
            }
            *sets = split;
            !sets.is_empty()
        });
        holds
    }

    fn give_up(&mut self) {
        self.groups.clear();
    }

    /// The first parameter that the one at `position` is guessed to equal.
    fn leader(&self, header: Block, position: u32) -> u32 {
        let sets = self.groups.get(&header).map_or(&[][..], Vec::as_slice);
        sets.iter().find(|set| set.contains(&position)).map_or(position, |set| set[0])
    }
}

/// The edges that go back to a header, or the others.
fn edges(f: &Function, facts: &Facts, header: Block, back: bool) -> Vec<Edge> {
    let reachable = f.in_edges(header).filter(|edge| facts.cfg.is_reachable(edge.from));
    reachable.filter(|edge| facts.dom.dominates(header, edge.from) == back).collect()
}

// --- the walk ------------------------------------------------------------------------------------

struct Walk<'a> {
    f: &'a Function,
    facts: &'a Facts,
    memory: &'a Memory,
    guess: &'a Guess,
    numbers: Numbers,
    table: HashTable<Value>,
    /// Parameters by what their arguments equal.
    of_params: FxHashMap<(Block, Type, SmallVec<[Operand; 4]>), Value>,
    /// The versions that reads see, where they were looked for past some writes.
    versions: FxHashMap<Value, Version>,
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
    /// before it that is guessed to be the same.
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
        let leader = params[self.guess.leader(block, position) as usize];
        self.numbers_or_self(leader, param)
    }

    /// What an instruction equals; `None` if it takes no part.
    fn instruction(&mut self, v: Value) -> Option<Operand> {
        let f = self.f;
        let def = f.op_def(v)?;
        if !def.traits.contains(Traits::PURE) {
            let seen = self.memory.seen(v)?;
            if let Some(known) = self.shape_of_new(v, seen) {
                return Some(known);
            }
            if let Some(contents) = seen.contents {
                match self.look(v, contents) {
                    Look::Stored(value) => return Some(self.numbers.of(value)),
                    Look::Version(version) if version != contents => {
                        self.versions.insert(v, version);
                    }
                    Look::Version(_) => {}
                }
            }
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

    /// What decides about the value of an instruction.
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
            let mut what = self.memory.seen(v)?;
            if let Some(&version) = self.versions.get(&v) {
                what.contents = Some(version);
            }
            self.ask_source(op, &mut operands, &mut what);
            seen = Some(what);
        }
        Some(Key { op, attrs, ty: f.ty(v), seen, operands })
    }

    // --- memory --------------------------------------------------------------------------------

    /// The shape of a copy is that of what was copied, as it was then.
    fn ask_source(&self, op: Op, operands: &mut [Operand], seen: &mut Seen) {
        if !matches!(op, mem::LENGTH | mem::SIZE | mem::SHAPE) {
            return;
        }
        while let Some(copy) = operands[0].as_value()
            && self.f.op(copy) == Some(mem::COPY)
            && seen.shape.is_some()
            && self.memory.shape_at(copy) == seen.shape
            && let Some(before) = self.memory.shape_of_source(copy)
            && let Some(source) = self.f.operand(copy, 0)
        {
            operands[0] = self.numbers.of(source);
            seen.shape = Some(before);
        }
    }

    /// Looks for the write that a read of one object sees, past those that cannot be it.
    fn look(&self, read: Value, mut version: Version) -> Look {
        let (f, facts) = (self.f, self.facts);
        let Some(object) = f.operand(read, 0) else { return Look::Version(version) };
        if !matches!(f.op(read), Some(mem::LOAD | mem::REF_GET | data::GETFIELD)) {
            return Look::Version(version);
        }
        for _ in 0..STEPS {
            let Some(write) = maker(version).and_then(|number| f.value_by_number(number)) else {
                break;
            };
            let same_object = || {
                f.operand(write, 0).is_some_and(|o| self.numbers.of(o) == self.numbers.of(object))
            };
            let places = match (f.op(read), f.op(write)) {
                (Some(mem::LOAD), Some(mem::STORE)) if same_object() => {
                    let at = f.operands(read).skip(1).zip(f.operands(write).skip(2));
                    if f.operand_count(read) + 1 != f.operand_count(write) {
                        break;
                    }
                    self.compare(at)
                }
                (Some(mem::REF_GET), Some(mem::REF_SET)) if same_object() => Places::Same,
                (Some(data::GETFIELD), Some(data::SETFIELD)) if same_object() => {
                    match (f.operand(read, 1), f.operand(write, 1)) {
                        (Some(a), Some(b)) => self.compare_fields(a, b),
                        _ => Places::Unknown,
                    }
                }
                _ => {
                    let effects = inst_effects(f, write, &facts.summaries);
                    let touched = facts.aliases.touches(f, &effects, object);
                    if touched.contains(Access::WRITES_CONTENTS) {
                        Places::Unknown
                    } else {
                        Places::Different
                    }
                }
            };
            match places {
                Places::Same => {
                    let position = if f.op(write) == Some(data::SETFIELD) { 2 } else { 1 };
                    if let Some(value) = f.operand(write, position)
                        && f.operand_type(self.numbers.of(value)) == f.ty(read)
                    {
                        return Look::Stored(value);
                    }
                    break;
                }
                Places::Different => match self.memory.before(write) {
                    Some(before) => version = before,
                    None => break,
                },
                Places::Unknown => break,
            }
        }
        Look::Version(version)
    }

    fn compare(&self, pairs: impl Iterator<Item = (Operand, Operand)>) -> Places {
        let mut result = Places::Same;
        for (a, b) in pairs {
            let (a, b) = (self.numbers.of(a), self.numbers.of(b));
            if a == b {
                continue;
            }
            let ((x, dx), (y, dy)) = (self.offset(a), self.offset(b));
            if x == y && dx != dy {
                return Places::Different;
            }
            result = Places::Unknown;
        }
        result
    }

    fn compare_fields(&self, a: Operand, b: Operand) -> Places {
        let (a, b) = (self.numbers.of(a), self.numbers.of(b));
        match (self.f.constant(a), self.f.constant(b)) {
            _ if a == b => Places::Same,
            (Some(Constant::Sym(_)), Some(Constant::Sym(_)))
            | (Some(Constant::I64(_)), Some(Constant::I64(_))) => Places::Different,
            _ => Places::Unknown,
        }
    }

    /// An index as a value and a constant that is added to it.
    fn offset(&self, index: Operand) -> (Option<Operand>, i64) {
        let f = self.f;
        if let Some(constant) = f.const_i64(index) {
            return (None, constant);
        }
        if let Some(v) = index.as_value() {
            for (op, sign) in [(arith::ADD, 1i64), (arith::SUB, -1)] {
                let Some([x, y]) = f.matches::<2>(v, op) else { continue };
                let (x, y) = (self.numbers.of(x), self.numbers.of(y));
                if let Some(c) = f.const_i64(y) {
                    return (Some(x), sign.wrapping_mul(c));
                }
                if let Some(c) = f.const_i64(x)
                    && op == arith::ADD
                {
                    return (Some(y), c);
                }
            }
        }
        (Some(index), 0)
    }

    /// A dimension of an array that was made with it, and whose shape has not changed since.
    fn shape_of_new(&self, v: Value, mut seen: Seen) -> Option<Operand> {
        let f = self.f;
        let op = f.op(v)?;
        let mut operands = [self.numbers.of(f.operand(v, 0)?)];
        self.ask_source(op, &mut operands, &mut seen);
        let new = operands[0].as_value()?;
        if seen.shape.is_none() || self.memory.shape_at(new) != seen.shape {
            return None;
        }
        let dimension = match op {
            mem::LENGTH if f.op(new)? == mem::ARRAY => {
                return Some(f.constant_id(f.operand_count(new) as i64).into());
            }
            mem::LENGTH if self.dimensions(new)?.len() == 1 => 1,
            mem::SIZE => usize::try_from(f.const_i64(f.operand(v, 1)?)?).ok()?,
            _ => return None,
        };
        self.dimension(new, dimension)
    }

    /// An element of the shape of a new array.
    fn get_of_shape(&self, v: Value) -> Option<Operand> {
        let f = self.f;
        let shape = self.numbers.of(f.operand(v, 0)?).as_value()?;
        if f.op(shape) != Some(mem::SHAPE) {
            return None;
        }
        let mut seen = self.memory.seen(shape)?;
        let mut operands = [self.numbers.of(f.operand(shape, 0)?)];
        self.ask_source(mem::SHAPE, &mut operands, &mut seen);
        let new = operands[0].as_value()?;
        if seen.shape.is_none() || self.memory.shape_at(new) != seen.shape {
            return None;
        }
        self.dimension(new, usize::try_from(f.const_i64(f.operand(v, 1)?)?).ok()?)
    }

    /// The operands that say how large a new array is.
    fn dimensions(&self, new: Value) -> Option<SmallVec<[Operand; 4]>> {
        let skipped = match self.f.op(new)? {
            mem::ALLOC => 0,
            mem::FILL => 1,
            _ => return None,
        };
        Some(self.f.operands(new).skip(skipped).collect())
    }

    /// The size of a new array along a dimension, counted from 1. It is 1 beyond the last.
    fn dimension(&self, new: Value, dimension: usize) -> Option<Operand> {
        let f = self.f;
        let dimensions = self.dimensions(new)?;
        let size = match dimensions.get(dimension.checked_sub(1)?) {
            Some(&size) => self.numbers.of(size),
            None => f.constant_id(1i64).into(),
        };
        (f.operand_type(size) == Type::I64).then_some(size)
    }
}

/// What a read finds.
enum Look {
    /// It gives what was stored.
    Stored(Operand),
    /// It sees this version of memory.
    Version(Version),
}

/// Whether two places of one object are the same.
enum Places {
    Same,
    Different,
    Unknown,
}

/// What decides about the value of an instruction.
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
