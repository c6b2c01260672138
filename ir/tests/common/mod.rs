//! A small dialect to build functions with; the real ones live above this crate.

#![allow(dead_code, reason = "every test file uses a part of it")]

use std::sync::Arc;

use regraft_ir::{
    Block, Context, Dialect, Effects, Function, Inst, Op, OpDef, Operand, OperandDef, Registry,
    ResultType, Syntax, Traits, Type, TypeClass, TypePattern, Value,
};

pub const ADD: Op = Op::new(40, 0);
pub const LT: Op = Op::new(40, 1);
pub const BR: Op = Op::new(40, 2);
pub const RETURN: Op = Op::new(40, 3);
pub const PRINT: Op = Op::new(40, 4);

const T: OperandDef = OperandDef { name: "x", pattern: TypePattern::Var(0) };
const COND: OperandDef = OperandDef { name: "c", pattern: TypePattern::Is(Type::BOOL) };
const ANYTHING: OperandDef = OperandDef { name: "x", pattern: TypePattern::Anything };

const fn op(
    op: Op,
    name: &'static str,
    operands: &'static [OperandDef],
    result: Type,
    traits: Traits,
) -> OpDef {
    OpDef {
        op,
        name,
        doc: "",
        syntax: Syntax::Generic,
        operands,
        variadic: false,
        type_vars: &[TypeClass::Number],
        result: ResultType::Is(result),
        traits,
        effects: Effects::NONE,
        identity: None,
        attrs: &[],
        verify: None,
        fold: None,
        eval: None,
    }
}

static DIALECT: Dialect = Dialect {
    number: 40,
    name: "t",
    doc: "",
    ops: &[
        OpDef { result: ResultType::Var(0), ..op(ADD, "t.add", &[T, T], Type::ANY, Traits::PURE) },
        op(LT, "t.lt", &[T, T], Type::BOOL, Traits::PURE),
        OpDef {
            syntax: Syntax::Short("br"),
            variadic: true,
            ..op(BR, "t.br", &[COND], Type::NEVER, Traits::TERMINATOR.union(Traits::JUMP))
        },
        OpDef {
            syntax: Syntax::Short("return"),
            ..op(RETURN, "t.return", &[ANYTHING], Type::NEVER, Traits::TERMINATOR)
        },
        OpDef {
            effects: Effects::OPAQUE,
            ..op(PRINT, "t.print", &[ANYTHING], Type::UNIT, Traits::empty())
        },
    ],
};

pub fn context() -> Arc<Context> {
    let mut registry = Registry::new();
    registry.add(&DIALECT);
    Context::new(Arc::new(registry))
}

pub fn add(x: impl Into<Operand>, y: impl Into<Operand>) -> Inst {
    Inst::new(ADD).operand(x).operand(y)
}

pub fn lt(x: impl Into<Operand>, y: impl Into<Operand>) -> Inst {
    Inst::new(LT).operand(x).operand(y)
}

pub fn print(x: impl Into<Operand>) -> Inst {
    Inst::new(PRINT).operand(x)
}

pub fn jump(target: Block, args: &[Value]) -> Inst {
    Inst::new(BR).edge(target, args.iter().copied())
}

pub fn branch(c: impl Into<Operand>, yes: (Block, &[Value]), no: (Block, &[Value])) -> Inst {
    Inst::new(BR).operand(c).edge(yes.0, yes.1.iter().copied()).edge(no.0, no.1.iter().copied())
}

pub fn ret(x: impl Into<Operand>) -> Inst {
    Inst::new(RETURN).operand(x)
}

/// `f(x, y) = (x + y) + y` in one block: %1, %2, %3 = add, %4 = add.
pub fn straight() -> (Function, [Value; 4]) {
    let mut f = Function::new(&context(), "straight", &[Type::I64, Type::I64], Type::I64);
    let entry = f.entry().unwrap();
    let [x, y] = [0, 1].map(|i| f.param(entry, i).unwrap());
    let a = f.push(entry, add(x, y)).unwrap();
    let b = f.push(entry, add(a, y)).unwrap();
    f.set_terminator(entry, ret(b)).unwrap();
    (f, [x, y, a, b])
}

/// `i = 0; while i < n { i += 1 }; return i`: blocks entry, head(i), body, exit.
pub fn counting_loop() -> (Function, [Block; 4], [Value; 4]) {
    let ctx = context();
    let mut f = Function::new(&ctx, "count", &[Type::I64], Type::I64);
    let entry = f.entry().unwrap();
    let n = f.param(entry, 0).unwrap();
    let [head, body, exit] = [(); 3].map(|()| f.add_block());
    let i = f.append_param(head, Type::I64).unwrap();
    let zero = f.constant_id(0i64);
    f.set_terminator(entry, Inst::new(BR).edge(head, [zero])).unwrap();
    let c = f.push(head, lt(i, n)).unwrap();
    f.set_terminator(head, branch(c, (body, &[]), (exit, &[]))).unwrap();
    let one = f.constant_id(1i64);
    let next = f.push(body, add(i, one)).unwrap();
    f.set_terminator(body, jump(head, &[next])).unwrap();
    f.set_terminator(exit, ret(i)).unwrap();
    (f, [entry, head, body, exit], [n, i, c, next])
}

/// The values of a block in order, without the terminator.
pub fn body(f: &Function, b: Block) -> Vec<Value> {
    f.body(b).collect()
}
