//! A tiny dialect for the tests of this crate; the real ones live above it.

use std::sync::Arc;

use crate::{
    AttrDef, Attrs, Block, Context, Dialect, Effects, Function, Inst, Op, OpDef, Operand,
    OperandDef, Registry, ResultType, Syntax, Traits, Type, TypeClass, TypePattern,
};

const DIALECT: u8 = 40;
pub(crate) const ADD: Op = Op::new(DIALECT, 0);
pub(crate) const LT: Op = Op::new(DIALECT, 1);
pub(crate) const BR: Op = Op::new(DIALECT, 2);
pub(crate) const COND: Op = Op::new(DIALECT, 3);
pub(crate) const RETURN: Op = Op::new(DIALECT, 4);
pub(crate) const CALL: Op = Op::new(DIALECT, 5);
pub(crate) const SWITCH: Op = Op::new(DIALECT, 6);
pub(crate) const NOTE: Op = Op::new(DIALECT, 7);
pub(crate) const UNREACHABLE: Op = Op::new(DIALECT, 8);

const T: TypePattern = TypePattern::Var(0);
const X: OperandDef = OperandDef { name: "x", pattern: T };
const Y: OperandDef = OperandDef { name: "y", pattern: T };
const ANYTHING: OperandDef = OperandDef { name: "x", pattern: TypePattern::Anything };

const BASE: OpDef = OpDef {
    op: ADD,
    name: "t.add",
    doc: "",
    syntax: Syntax::Generic,
    operands: &[X, Y],
    variadic: false,
    type_vars: &[TypeClass::Number],
    result: ResultType::Var(0),
    traits: Traits::PURE,
    effects: Effects::NONE,
    identity: None,
    attrs: &[],
    verify: None,
    fold: None,
    eval: None,
};

const TERMINATOR: OpDef = OpDef {
    operands: &[],
    result: ResultType::Is(Type::NEVER),
    traits: Traits::TERMINATOR,
    ..BASE
};

static TEST: Dialect = Dialect {
    number: DIALECT,
    name: "t",
    doc: "",
    ops: &[
        BASE,
        OpDef { op: LT, name: "t.lt", result: ResultType::Is(Type::BOOL), ..BASE },
        OpDef {
            op: BR,
            name: "t.br",
            syntax: Syntax::Short("br"),
            traits: Traits::TERMINATOR.union(Traits::JUMP),
            ..TERMINATOR
        },
        OpDef {
            op: COND,
            name: "t.cond",
            operands: &[OperandDef { name: "if", pattern: TypePattern::Is(Type::BOOL) }],
            ..TERMINATOR
        },
        OpDef {
            op: RETURN,
            name: "t.return",
            syntax: Syntax::Short("return"),
            operands: &[ANYTHING],
            traits: Traits::TERMINATOR.union(Traits::RETURN),
            ..TERMINATOR
        },
        OpDef {
            op: CALL,
            name: "t.call",
            syntax: Syntax::Call("call"),
            operands: &[ANYTHING, ANYTHING],
            variadic: true,
            result: ResultType::Declared,
            traits: Traits::CALL,
            effects: Effects::OPAQUE,
            ..BASE
        },
        OpDef {
            op: SWITCH,
            name: "t.switch",
            syntax: Syntax::Switch("switch"),
            operands: &[ANYTHING],
            variadic: true,
            ..TERMINATOR
        },
        OpDef {
            op: NOTE,
            name: "t.note",
            operands: &[ANYTHING],
            variadic: true,
            result: ResultType::Is(Type::UNIT),
            traits: Traits::empty(),
            effects: Effects::OPAQUE,
            attrs: &[
                AttrDef { name: "k", pattern: TypePattern::Anything, required: false },
                AttrDef { name: "deep", pattern: TypePattern::Is(Type::BOOL), required: false },
            ],
            ..BASE
        },
        OpDef { op: UNREACHABLE, name: "t.unreachable", ..TERMINATOR },
    ],
};

/// An empty context whose programs are made of the ops of this file.
pub(crate) fn context() -> Arc<Context> {
    let mut registry = Registry::new();
    registry.add(&TEST);
    Context::new(Arc::new(registry))
}

pub(crate) fn inst<const N: usize>(op: Op, operands: [Operand; N]) -> Inst {
    Inst::new(op).operands(operands)
}

/// A dictionary of one attribute.
pub(crate) fn attr(ctx: &Context, name: &str, value: impl Into<crate::Constant>) -> Attrs {
    ctx.attrs(&[(ctx.symbol(name), ctx.constant_id(value))])
}

/// `pow` of the IRTools documentation.
pub(crate) fn pow(ctx: &Arc<Context>) -> Function {
    let mut f = Function::new(ctx, "pow", &[Type::F64, Type::I64], Type::F64);
    let (entry, head, body, exit) =
        (f.entry().unwrap(), f.add_block(), f.add_block(), f.add_block());
    let [x, n] = [0, 1].map(|i| f.param(entry, i).unwrap());
    let m = f.append_param(head, Type::I64).unwrap();
    let r = f.append_param(head, Type::F64).unwrap();
    let int = |i: i64| Operand::from(ctx.constant_id(i));
    let one = Operand::from(ctx.constant_id(1.0));
    f.set_terminator(entry, inst(BR, [head.into(), n.into(), one])).unwrap();
    let go = f.push(head, inst(LT, [int(0), m.into()])).unwrap();
    f.set_terminator(head, inst(COND, [go.into(), body.into(), exit.into()])).unwrap();
    let less = f.push(body, inst(ADD, [m.into(), int(-1)])).unwrap();
    let more = f.push(body, inst(ADD, [r.into(), x.into()])).unwrap();
    f.set_terminator(body, inst(BR, [head.into(), less.into(), more.into()])).unwrap();
    f.set_terminator(exit, inst(RETURN, [r.into()])).unwrap();
    f
}

/// A function of which block `i` has the edges `graph[i]`, its parameters a bool and an `i64`.
pub(crate) fn with_graph(ctx: &Arc<Context>, graph: &[Vec<usize>]) -> Function {
    let mut f = Function::new(ctx, "graph", &[Type::BOOL, Type::I64], Type::I64);
    for _ in 1..graph.len() {
        f.add_block();
    }
    let blocks: Vec<Block> = f.blocks().collect();
    let [c, x] = [0, 1].map(|i| Operand::from(f.param(blocks[0], i).unwrap()));
    for (&b, targets) in blocks.iter().zip(graph) {
        let edges = targets.iter().map(|&target| blocks[target]);
        let end = match targets.len() {
            0 => inst(RETURN, [x]),
            1 => Inst::new(BR).operands(edges),
            2 => Inst::new(COND).operand(c).operands(edges),
            _ => Inst::new(SWITCH).operand(x).operands(edges),
        };
        // The entry has parameters, so that edges to it would need arguments.
        f.set_terminator(b, end.with_type(Type::NEVER)).unwrap();
    }
    f
}

/// A sequence of numbers that look random (Marsaglia's xorshift).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    /// Edges of up to `max` blocks: mostly one or two each, irreducible loops among them.
    pub(crate) fn graph(&mut self, max: usize) -> Vec<Vec<usize>> {
        let n = 1 + self.below(max);
        (0..n)
            .map(|_| {
                let edges = [0, 1, 1, 2, 2, 2, 3][self.below(7)];
                (0..edges).map(|_| self.below(n)).collect()
            })
            .collect()
    }
}
