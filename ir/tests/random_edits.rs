//! Random sequences of all mutations there are. After each: the links hang together, the epochs
//! tell of what changed, and what was refused changed nothing.

mod common;

use std::collections::BTreeMap;

use common::*;
use regraft_ir::{
    Block, Edge, Epochs, Function, Inst, IrError, Op, Operand, Pipe, Type, Value, verify_function,
};

/// Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

type InstText = (Value, Option<Op>, Vec<Operand>);

/// All that there is to see of a function, by facet.
#[derive(PartialEq, Debug)]
struct Facets {
    cfg: Vec<(Block, Vec<Block>)>,
    insts: BTreeMap<Block, (Vec<Value>, Vec<InstText>)>,
    types: BTreeMap<Value, Type>,
}

impl Facets {
    fn of(f: &Function) -> Self {
        let inst = |v: Value| (v, f.op(v), f.operands(v).collect());
        let insts = |b: Block| (f.params(b).collect(), f.insts(b).map(inst).collect());
        let is_empty =
            |(params, insts): &(Vec<Value>, Vec<InstText>)| params.is_empty() && insts.is_empty();
        let values = |b: Block| f.params(b).chain(f.body(b));
        Self {
            cfg: f.blocks().map(|b| (b, f.successors(b).collect())).collect(),
            insts: f.blocks().map(|b| (b, insts(b))).filter(|(_, x)| !is_empty(x)).collect(),
            types: f.blocks().flat_map(values).map(|v| (v, f.ty(v))).collect(),
        }
    }

    /// Checks that the epochs tell of each difference between `self` and `later`.
    fn check(&self, was: Epochs, later: &Self, now: Epochs, text: &str, f: &Function) {
        assert!(self.cfg == later.cfg || now.cfg > was.cfg, "cfg:\n{text}\n{f}");
        assert!(self.insts == later.insts || now.insts > was.insts, "insts:\n{text}\n{f}");
        let retyped = self.types.iter().any(|(v, ty)| later.types.get(v).is_some_and(|t| t != ty));
        assert!(!retyped || now.types > was.types, "types:\n{text}\n{f}");
    }
}

struct Editor {
    f: Function,
    random: Random,
    /// Values that there are or were, of this function and of another.
    values: Vec<Value>,
    blocks: Vec<Block>,
}

impl Editor {
    fn new(seed: u64) -> Self {
        let (f, blocks, values) = counting_loop();
        let (_, other_blocks, other_values) = counting_loop();
        let values = values.into_iter().chain(blocks.map(Value::terminator)).chain(other_values);
        let mut editor = Self {
            f,
            random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            values: values.collect(),
            blocks: blocks.into_iter().collect(),
        };
        editor.blocks.push(other_blocks[0]);
        editor
    }

    fn value(&mut self) -> Value {
        self.random.pick(&self.values)
    }

    fn operand(&mut self) -> Operand {
        match self.random.below(8) {
            0 => self.f.constant_id(self.random.below(3) as i64).into(),
            1 => self.f.constant_id(0.5f64).into(),
            _ => self.value().into(),
        }
    }

    fn block(&mut self) -> Block {
        self.random.pick(&self.blocks)
    }

    fn inst(&mut self) -> Inst {
        match self.random.below(4) {
            0 => lt(self.operand(), self.operand()),
            1 => print(self.operand()),
            _ => add(self.operand(), self.operand()),
        }
    }

    fn edge(&mut self) -> Edge {
        let edges: Vec<Edge> = self.f.blocks().flat_map(|b| self.f.out_edges(b)).collect();
        match edges.len() {
            0 => Edge { from: self.block(), position: 0 },
            _ if self.random.below(20) == 0 => Edge { from: self.block(), position: 1 },
            _ => self.random.pick(&edges),
        }
    }

    /// An edge to `target` with as many arguments as it takes, mostly.
    fn args(&mut self, target: Block) -> Vec<Operand> {
        let count = if self.f.is_live_block(target) { self.f.param_count(target) } else { 0 };
        let count = if self.random.below(10) == 0 { count + 1 } else { count };
        (0..count).map(|_| self.operand()).collect()
    }

    fn terminator(&mut self) -> Inst {
        let [a, b] = [self.block(), self.block()];
        match self.random.below(4) {
            0 => ret(self.operand()),
            1 => Inst::new(BR).operand(self.operand()).edge(a, self.args(a)).edge(b, self.args(b)),
            _ => Inst::new(BR).edge(a, self.args(a)),
        }
    }

    fn new_value(&mut self, result: Result<Value, IrError>) -> Result<(), IrError> {
        result.map(|v| self.values.push(v))
    }

    fn new_block(&mut self, result: Result<Block, IrError>) -> Result<(), IrError> {
        result.map(|b| {
            self.blocks.push(b);
            self.values.push(Value::terminator(b));
        })
    }

    fn edit(&mut self) -> Result<(), IrError> {
        let (v, w, b, c) = (self.value(), self.value(), self.block(), self.block());
        match self.random.below(28) {
            0 => {
                let inst = self.inst();
                let new = self.f.insert(v, inst);
                self.new_value(new)
            }
            1 => {
                let inst = self.inst();
                let new = self.f.insert_after(v, inst);
                self.new_value(new)
            }
            2 => {
                let inst = self.inst();
                let new = self.f.push(b, inst);
                self.new_value(new)
            }
            3 => {
                let inst = self.inst();
                let new = self.f.push_front(b, inst);
                self.new_value(new)
            }
            4 => {
                let inst = if v.is_terminator() { self.terminator() } else { self.inst() };
                self.f.replace(v, inst)
            }
            5 => {
                let new = self.operand();
                self.f.replace_all_uses(v, new)
            }
            6 => {
                let (new, salt) = (self.operand(), self.random.below(2) as u32);
                self.f.replace_uses_if(v, new, |_, u| u.index % 2 == salt)
            }
            7 => self.f.delete(v),
            8 => self.f.delete_tree(v).map(drop),
            9 => {
                let all: Vec<Value> =
                    (0..self.random.below(6)).map(|_| self.value()).chain([v, v]).collect();
                self.f.delete_all(&all)
            }
            10 => {
                let (index, operand) = (self.random.below(4), self.operand());
                self.f.set_operand(v, index, operand)
            }
            11 => {
                let target = self.block();
                self.f.set_operand(v, self.random.below(3), target)
            }
            12 => self.f.move_before(v, w),
            13 => {
                let new = self.f.split_block(v);
                self.new_block(new)
            }
            14 => {
                let edge = self.edge();
                let new = self.f.split_edge(edge);
                self.new_block(new)
            }
            15 | 16 => {
                // Neighbours mostly, so that it happens.
                let pairs: Vec<(Block, Block)> = self
                    .f
                    .blocks()
                    .flat_map(|a| self.f.successors(a).map(move |b| (a, b)))
                    .collect();
                let (b, c) = if pairs.is_empty() { (b, c) } else { self.random.pick(&pairs) };
                self.f.merge_blocks(b, c)
            }
            17 => self.f.delete_block(b),
            18 => self.f.delete_blocks(&[b, c, c]),
            19 => {
                let (arg, some) = (self.operand(), self.random.below(8) > 0);
                let new = self.f.add_param(b, Type::I64, |_| some.then_some(arg));
                self.new_value(new)
            }
            20 => self.f.remove_param(v),
            21 => {
                let inst = self.terminator();
                self.f.set_terminator(b, inst)
            }
            22 => self.f.remove_terminator(b),
            23 => {
                let (edge, args) = (self.edge(), self.args(b));
                self.f.redirect(edge, b, args)
            }
            24 => {
                let new = self.f.add_block_after(b);
                self.new_block(new)
            }
            25 => self.f.move_block_after(b, c),
            26 => {
                let mut order: Vec<Block> = self.f.blocks().collect();
                let (i, j) = (self.random.below(order.len()), self.random.below(order.len()));
                order.swap(i, j);
                self.f.permute_blocks(&order)
            }
            _ => {
                let name = ["a", "b", "7"][self.random.below(3)];
                self.f.transfer_name(v, w);
                self.f.set_name_of(v, Some(name)).map(drop)
            }
        }
    }

    fn step(&mut self) {
        let (before, text, was) = (Facets::of(&self.f), self.f.to_string(), self.f.epochs());
        let result = self.edit();
        self.f.check_invariants().unwrap_or_else(|error| panic!("{error}\n{text}\n{}", self.f));
        let after = Facets::of(&self.f);
        match result {
            Ok(()) => before.check(was, &after, self.f.epochs(), &text, &self.f),
            Err(error) => assert!(before == after, "{error}, and yet\n{text}\n{}", self.f),
        }
    }
}

#[test]
fn random_edits_keep_links_and_tell_what_they_change() {
    for seed in 1..=60 {
        let mut editor = Editor::new(seed);
        for _ in 0..150 {
            editor.step();
        }
        let f = &mut editor.f;
        // Whatever it has become, it can be looked at, verified, copied and numbered anew.
        let _ = verify_function(f);
        let copy = f.clone();
        assert!(f.structural_eq(&copy) && copy.stamp() != f.stamp());
        let ended: Vec<Block> = f.blocks().filter(|&b| f.terminator(b).is_some()).collect();
        if let Ok(piped) = Pipe::new(f).finish() {
            piped.check_invariants().unwrap();
            assert!(f.structural_eq(&piped));
            assert_eq!(f.to_string(), piped.to_string());
        }
        let map = f.compact();
        f.check_invariants().unwrap();
        assert!(f.structural_eq(&copy));
        assert!(ended.iter().all(|&b| map.block(b).is_some()));
        for v in copy.blocks().flat_map(|b| copy.params(b).chain(copy.body(b))) {
            assert_eq!(copy.value_name(v), f.value_name(map.value(v).unwrap()));
        }
        f.renumber();
        f.check_invariants().unwrap();
        assert!(f.structural_eq(&copy));
    }
}
