//! Copies of a function as a whole: compaction, renumbering, structural equality.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Function, NIL, ValueData};
use crate::{Attrs, Block, Constant, Op, Operand, OperandKind, Symbol, Type, TypeKind, Value};

/// The new ids of the values and blocks of a function that was renumbered. It is to be asked for
/// the handles from before alone: others are not told apart from them.
#[derive(Clone, Debug, Default)]
pub struct Renumbering {
    values: Vec<Option<Value>>,
    blocks: Vec<Option<Block>>,
}

impl Renumbering {
    /// The new handle of a value; `None` if it was dead. A terminator follows its block.
    pub fn value(&self, old: Value) -> Option<Value> {
        match old.terminated_block() {
            Some(b) => self.block(b).map(Value::terminator),
            None => self.values.get(old.index()).copied().flatten(),
        }
    }

    /// The new handle of a block; `None` if it was dead.
    pub fn block(&self, old: Block) -> Option<Block> {
        self.blocks.get(old.index()).copied().flatten()
    }
}

impl Function {
    /// Drops tombstones and unused slots. Values keep their order, but not their numbers. Old
    /// handles are those of another function from then on. O(size).
    ///
    /// # Panics
    /// If a value or block is used that is only [reserved](Function::reserve_numbers).
    #[track_caller]
    pub fn compact(&mut self) -> Renumbering {
        let mut values: Vec<Value> = self.all_values().collect();
        values.sort_unstable_by_key(|v| v.index());
        let mut blocks: Vec<Block> = self.blocks().collect();
        blocks.sort_unstable_by_key(|b| b.index());
        self.rebuild(&values, &blocks)
    }

    /// Numbers values and blocks in layout order, from 1, without gaps. Nothing else changes.
    /// O(size).
    ///
    /// # Panics
    /// As [`Function::compact`].
    #[track_caller]
    pub fn renumber(&mut self) -> Renumbering {
        let values: Vec<Value> = self.all_values().collect();
        let blocks: Vec<Block> = self.blocks().collect();
        self.rebuild(&values, &blocks)
    }

    /// Gives back memory that was reserved for growth, if it is more than an eighth. O(size).
    pub fn shrink_to_fit(&mut self) {
        if self.slots.capacity() - self.slots.len() > self.slots.len() / 8 {
            self.slots = self.slots.as_slice().to_vec();
            // An arena cannot be asked to shrink, but a copy of it is tight.
            self.values = self.values.clone();
            self.blocks = self.blocks.clone();
        }
    }

    /// Returns whether over half of the records are tombstones, so that [`Function::compact`] is
    /// worth its cost.
    pub fn is_mostly_dead(&self) -> bool {
        let values = self.values.len() > 2 * self.live_values as usize;
        values || self.slots.len() as u64 > 4 * u64::from(self.live_slots()) + 64
    }

    fn live_slots(&self) -> u32 {
        self.slots.len() as u32 - self.dead_slots
    }

    /// Makes all records anew, in the given order.
    fn rebuild(&mut self, values: &[Value], blocks: &[Block]) -> Renumbering {
        let mut map = Renumbering {
            values: vec![None; self.values.len()],
            blocks: vec![None; self.blocks.len()],
        };
        let slots = self.live_slots() as usize;
        let (name, values_len, blocks_len) = (self.name_str(), values.len(), blocks.len());
        let mut new = Self::with_capacity(&self.ctx, name, self.ret, values_len, blocks_len, slots);
        (new.attrs, new.loc, new.origin) = (self.attrs, self.loc, self.origin);
        for &v in values {
            map.values[v.index()] = Some(new.values.alloc(ValueData::empty(Op::MISSING)));
        }
        for &b in blocks {
            map.blocks[b.index()] = Some(new.new_block());
        }
        for b in self.blocks() {
            let id = map.block(b).expect("live blocks are mapped");
            new.link_block(id, new.last_block, Block::NONE);
        }
        for b in self.blocks() {
            let id = map.block(b).expect("live blocks are mapped");
            for v in self.params(b) {
                let param = map.value(v).expect("live values are mapped");
                new.install_param(param, id, self.ty(v));
                new.values[param].loc = self.loc(v);
            }
            for v in self.insts(b) {
                let target = map.value(v).expect("live values are mapped");
                new.take_inst(self, v, target, id, &map);
            }
        }
        new.epochs = self.epochs;
        new.epochs.cfg += 1;
        new.epochs.insts += 1;
        new.epochs.types += 1;
        for (v, name) in self.names.iter() {
            let v = map.value(v).expect("names are those of live values");
            new.names.insert(v, name);
        }
        if !self.origins.is_empty() {
            new.origins = vec![None; values.len()];
            for &v in values {
                let origin = self.origins.get(v.index()).copied().flatten();
                new.origins[map.values[v.index()].expect("mapped").index()] =
                    origin.map(|mut origin| {
                        origin.from = origin.from.and_then(|from| map.value(from));
                        origin
                    });
            }
        }
        *self = new;
        map
    }

    /// Appends the instruction `v` of `old` to `block`, as `target`.
    fn take_inst(&mut self, old: &Self, v: Value, target: Value, block: Block, map: &Renumbering) {
        let operands: Vec<Operand> = old
            .operands(v)
            .map(|operand| match operand.kind() {
                OperandKind::Value(v) => map.value(v).expect("operands are live").into(),
                OperandKind::Block(b) => map.block(b).expect("targets are live").into(),
                OperandKind::Const(_) => operand,
            })
            .collect();
        let data = *old.data(v);
        let inst = crate::Inst::new(data.op).with_attrs(data.attrs).operands(operands);
        if target.is_terminator() {
            let slots = self.add_slots(target, &inst.operands);
            let seq = data.seq;
            let first_use = NIL;
            let (len, prev, next) = (data.len, Value::NONE, Value::NONE);
            self.blocks[block].term =
                ValueData { slots, len, block, prev, next, seq, first_use, ..data };
        } else {
            let place = self.end_of(block);
            self.install(target, place, &inst, data.ty, data.loc);
        }
    }

    /// Returns whether two functions are the same but for ids, names, locations and origins. Their
    /// own names do not count either. Between two contexts, structs of the same name count as the
    /// same ([`Module::structural_eq`](crate::Module::structural_eq) compares their fields as
    /// well). O(size).
    pub fn structural_eq(&self, other: &Self) -> bool {
        Comparison::new(self, other).run()
    }
}

struct Comparison<'a> {
    a: &'a Function,
    b: &'a Function,
    same_ctx: bool,
    values: FxHashMap<Value, Value>,
    blocks: FxHashMap<Block, Block>,
    /// Types that are the same, or are found not to be.
    types: FxHashSet<(Type, Type)>,
}

impl<'a> Comparison<'a> {
    fn new(a: &'a Function, b: &'a Function) -> Self {
        let same_ctx = std::sync::Arc::ptr_eq(&a.ctx, &b.ctx);
        let (values, blocks, types) = Default::default();
        Self { a, b, same_ctx, values, blocks, types }
    }

    fn run(mut self) -> bool {
        let (a, b) = (self.a, self.b);
        if a.block_count() != b.block_count()
            || a.value_count() != b.value_count()
            || !self.same_type(a.ret, b.ret)
            || !self.same_attrs(a.attrs, b.attrs)
        {
            return false;
        }
        for (x, y) in a.blocks().zip(b.blocks()) {
            self.blocks.insert(x, y);
            if a.param_count(x) != b.param_count(y) || a.insts(x).count() != b.insts(y).count() {
                return false;
            }
            let (xs, ys) = (a.params(x).chain(a.insts(x)), b.params(y).chain(b.insts(y)));
            for (v, w) in xs.zip(ys) {
                self.values.insert(v, w);
            }
        }
        a.blocks().zip(b.blocks()).all(|(x, y)| {
            let (xs, ys) = (a.params(x).chain(a.insts(x)), b.params(y).chain(b.insts(y)));
            xs.zip(ys).all(|(v, w)| self.same_value(v, w))
        })
    }

    fn same_value(&mut self, v: Value, w: Value) -> bool {
        let (x, y) = (self.a.data(v), self.b.data(w));
        x.op == y.op
            && self.same_type(x.ty, y.ty)
            && self.same_attrs(x.attrs, y.attrs)
            && self.a.operand_count(v) == self.b.operand_count(w)
            && self.a.operands(v).zip(self.b.operands(w)).all(|(x, y)| self.same_operand(x, y))
    }

    fn same_operand(&mut self, x: Operand, y: Operand) -> bool {
        match (x.kind(), y.kind()) {
            (OperandKind::Value(v), OperandKind::Value(w)) => self.values.get(&v) == Some(&w),
            (OperandKind::Block(v), OperandKind::Block(w)) => self.blocks.get(&v) == Some(&w),
            (OperandKind::Const(c), OperandKind::Const(d)) => {
                let (x, y) = (self.a.ctx.constant(c), self.b.ctx.constant(d));
                if self.same_ctx { c == d } else { self.same_constant(x, y) }
            }
            _ => false,
        }
    }

    // Ids of two contexts cannot be compared; what they stand for can.

    /// Returns whether two types are the same, structs by name alone. Linear in the number of
    /// distinct types that they are made of.
    fn same_type(&mut self, x: Type, y: Type) -> bool {
        if self.same_ctx {
            return x == y;
        }
        let mut rest = vec![(x, y)];
        while let Some((x, y)) = rest.pop() {
            // Types that were seen are the same, or the comparison is over.
            if self.types.insert((x, y)) && !self.same_kind(x, y, &mut rest) {
                return false;
            }
        }
        true
    }

    /// Returns whether two types are the same if the pairs that are added to `parts` are.
    fn same_kind(&self, x: Type, y: Type, parts: &mut Vec<(Type, Type)>) -> bool {
        let (ca, cb) = (&self.a.ctx, &self.b.ctx);
        let same_name = |x: Symbol, y: Symbol| ca.str(x) == cb.str(y);
        match (ca.kind(x), cb.kind(y)) {
            // Builtin types have the same ids everywhere.
            (TypeKind::Builtin, TypeKind::Builtin) => x == y,
            (TypeKind::Tuple(xs), TypeKind::Tuple(ys)) => {
                parts.extend(xs.iter().copied().zip(ys.iter().copied()));
                xs.len() == ys.len()
            }
            (TypeKind::Named(xs), TypeKind::Named(ys)) => {
                parts.extend(xs.iter().zip(ys).map(|(x, y)| (x.1, y.1)));
                xs.len() == ys.len() && xs.iter().zip(ys).all(|(x, y)| same_name(x.0, y.0))
            }
            (&TypeKind::Struct(x), &TypeKind::Struct(y)) => {
                same_name(ca.struct_def(x).name, cb.struct_def(y).name)
            }
            (
                &TypeKind::Array { element: x, rank },
                &TypeKind::Array { element: y, rank: other },
            ) => {
                parts.push((x, y));
                rank == other
            }
            (&TypeKind::Ref(x), &TypeKind::Ref(y))
            | (&TypeKind::TypeOf(x), &TypeKind::TypeOf(y)) => {
                parts.push((x, y));
                true
            }
            (&TypeKind::Fn(x), &TypeKind::Fn(y)) => same_name(x, y),
            (&TypeKind::Val(x), &TypeKind::Val(y)) => match (ca.constant(x), cb.constant(y)) {
                (Constant::Type(x), Constant::Type(y)) => {
                    parts.push((x, y));
                    true
                }
                (x, y) => self.same_plain_constant(x, y),
            },
            _ => false,
        }
    }

    fn same_constant(&mut self, x: Constant, y: Constant) -> bool {
        match (x, y) {
            (Constant::Type(x), Constant::Type(y)) => self.same_type(x, y),
            _ => self.same_plain_constant(x, y),
        }
    }

    /// The same of constants that are no types.
    fn same_plain_constant(&self, x: Constant, y: Constant) -> bool {
        match (x, y) {
            (Constant::Sym(x), Constant::Sym(y))
            | (Constant::Str(x), Constant::Str(y))
            | (Constant::Func(x), Constant::Func(y)) => self.a.ctx.str(x) == self.b.ctx.str(y),
            (Constant::Sym(_) | Constant::Str(_) | Constant::Func(_) | Constant::Type(_), _) => {
                false
            }
            _ => x == y,
        }
    }

    fn same_attrs(&mut self, x: Attrs, y: Attrs) -> bool {
        if self.same_ctx {
            return x == y;
        }
        let (ca, cb) = (&self.a.ctx, &self.b.ctx);
        let (xs, ys) = (ca.attr_entries(x), cb.attr_entries(y));
        xs.len() == ys.len()
            && xs.iter().zip(ys).all(|(&(n, c), &(m, d))| {
                ca.str(n) == cb.str(m) && self.same_constant(ca.constant(c), cb.constant(d))
            })
    }
}
