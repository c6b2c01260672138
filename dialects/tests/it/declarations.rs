//! Every op: its documentation, its builder, its names, its traits.

use regraft_dialects::{arith, cf, context, core, data, macros, math, mem, prof, registry};
use regraft_ir::{
    Constant, Function, Inst, OpDef, Operand, OperandDef, ResultType, Syntax, Traits, Type,
    TypePattern,
};

fn all() -> Vec<&'static OpDef> {
    registry().ops().collect()
}

#[test]
fn every_op_has_a_summary_and_an_example() {
    for def in all() {
        let summary = def.doc.lines().next().unwrap();
        assert!(summary.len() > 10 && !summary.starts_with(' '), "{}: {summary:?}", def.name);
        assert!(
            def.doc.contains(&format!("`{}", def.mnemonic()))
                || def.doc.contains(&format!("= {}", def.mnemonic())),
            "{} has no example",
            def.name
        );
        let traps = def.traits.contains(Traits::MAY_TRAP) && def.effects.opaque
            || !def.traits.contains(Traits::MAY_TRAP)
            || def.doc.contains("Trap")
            || def.doc.contains("Stops the program");
        assert!(traps, "{} does not say when it traps", def.name);
    }
}

#[test]
fn full_and_short_names_find_the_op() {
    let registry = registry();
    for def in all() {
        assert_eq!(registry.find(def.name).unwrap().op, def.op);
        assert_eq!(registry.find(def.mnemonic()).unwrap().op, def.op);
    }
    for (short, full, op) in [
        ("br", "cf.br", cf::BR),
        ("return", "cf.return", cf::RETURN),
        ("switch", "cf.switch", cf::SWITCH),
        ("unreachable", "cf.unreachable", cf::UNREACHABLE),
        ("call", "core.call", core::CALL),
        ("arith.mod", "arith.mod", arith::MOD),
        ("core.typeof", "core.typeof", core::TYPEOF),
    ] {
        assert_eq!(registry.find(short).unwrap().op, op);
        assert_eq!(registry.find(full).unwrap().op, op);
    }
    assert!(registry.find("add").is_none());
    assert_eq!(registry.jump(), Some(cf::BR));
}

#[test]
fn dialects_have_their_fixed_numbers() {
    let numbers: Vec<_> =
        registry().dialects().map(|dialect| (dialect.number, dialect.name)).collect();
    assert_eq!(
        numbers,
        [
            (0, "core"),
            (1, "cf"),
            (2, "arith"),
            (3, "math"),
            (4, "data"),
            (5, "mem"),
            (6, "prof"),
            (7, "ad"),
            (8, "text"),
            (9, "linalg")
        ]
    );
}

#[test]
fn traits_agree_with_each_other_and_with_the_signature() {
    for def in all() {
        let name = def.name;
        let effects = def.effects;
        let none = effects.reads.is_empty()
            && effects.writes.is_empty()
            && !effects.allocates
            && !effects.opaque;
        assert!(!def.traits.contains(Traits::PURE) || none, "{name} is pure and has effects");
        let ends = def.traits.contains(Traits::TERMINATOR);
        let never = matches!(def.result, ResultType::Is(Type::NEVER));
        assert!(!ends || never, "{name} ends a block and gives a value");
        if def.traits.contains(Traits::COMMUTATIVE) {
            assert_eq!(def.operands.len(), 2, "{name}");
            assert_eq!(def.operands[0].pattern, def.operands[1].pattern, "{name}");
        }
        let vars = def.operands.iter().filter_map(|operand| match operand.pattern {
            TypePattern::Var(v) | TypePattern::ArrayOf(v) | TypePattern::RefOf(v) => Some(v),
            _ => None,
        });
        for var in vars {
            assert!(usize::from(var) < def.type_vars.len(), "{name} has no class for a variable");
        }
        if let ResultType::Var(var) | ResultType::RefOf(var) = def.result {
            assert!(usize::from(var) < def.type_vars.len(), "{name} has no class for its result");
        }
    }
}

/// A value of a type that fits each operand of an op, as a parameter of a function.
fn type_for(def: &OpDef, operand: &OperandDef, ctx: &regraft_ir::Context) -> Type {
    use regraft_ir::TypeClass::{Any, Bits, Float, Int, Number, Scalar};
    let of_class = |var: u8| match def.type_vars[usize::from(var)] {
        Int | Bits => Type::I64,
        Any | Number | Float | Scalar => Type::F64,
    };
    match operand.pattern {
        TypePattern::Is(ty) => ty,
        TypePattern::Var(var) => of_class(var),
        TypePattern::ArrayOf(var) => ctx.array_type(of_class(var), 1),
        TypePattern::RefOf(var) => ctx.ref_type(of_class(var)),
        TypePattern::Anything => Type::F64,
    }
}

/// Every op of `arith` and `math` whose result follows from its signature, made as its builder
/// makes it.
#[test]
fn scalar_ops_infer_their_types() {
    let ctx = context();
    for def in arith::DIALECT.ops.iter().chain(math::DIALECT.ops) {
        let types: Vec<Type> =
            def.operands.iter().map(|operand| type_for(def, operand, &ctx)).collect();
        let mut f = Function::new(&ctx, "f", &types, Type::UNIT);
        let entry = f.entry().unwrap();
        let params: Vec<_> = f.params(entry).collect();
        let want = match def.result {
            ResultType::Is(ty) => ty,
            ResultType::Var(_) => types[0],
            _ => continue,
        };
        let made = f.push(entry, Inst::new(def.op).operands(params)).unwrap();
        assert_eq!(f.ty(made), want, "{}", def.name);
        assert!(def.fold.is_some(), "{} does not fold", def.name);
    }
}

#[test]
fn builders_make_what_they_say() {
    let ctx = context();
    let mut f = Function::new(&ctx, "f", &[Type::F64, Type::I64, Type::BOOL], Type::F64);
    let entry = f.entry().unwrap();
    let [x, n, c] = [0, 1, 2].map(|i| f.param(entry, i).unwrap());
    let two = f.constant_id(2.0);
    let one = f.constant_id(1i64);
    let callee = f.constant_id(Constant::Func(ctx.symbol("g")));
    let name = f.constant_id(Constant::Sym(ctx.symbol("sin")));
    let array = ctx.array_type(Type::F64, 2);
    let point = ctx.named_type(&[(ctx.symbol("a"), Type::F64), (ctx.symbol("b"), Type::I64)]);
    let mut push = |inst: Inst| {
        let made = f.push(entry, inst).unwrap();
        (made, ctx.type_text(f.ty(made)))
    };
    assert_eq!(push(arith::mul(x, two)).1, "f64");
    assert_eq!(push(arith::int_to_float(n, Type::F32)).1, "f32");
    assert_eq!(push(core::call(callee, [x], Type::F64)).1, "f64");
    assert_eq!(push(core::apply(x, [Operand::from(n), two.into()], Type::ANY)).1, "any");
    assert_eq!(push(core::select(c, x, two)).1, "f64");
    assert_eq!(push(core::type_of(x)).1, "type<f64>");
    let (tuple, ty) = push(core::tuple([x, n]));
    assert_eq!(ty, "tuple<f64, i64>");
    assert_eq!(push(core::get(tuple, one)).1, "f64");
    assert_eq!(push(data::getfield(tuple, n)).1, "any");
    let (named, ty) = push(data::named([x, n], point));
    assert_eq!(ty, "{a: f64, b: i64}");
    let b = ctx.constant_id(Constant::Sym(ctx.symbol("b")));
    assert_eq!(push(data::getfield(named, b)).1, "i64");
    let (matrix, ty) = push(mem::alloc([n, n], array));
    assert_eq!(ty, "array<f64, 2>");
    assert_eq!(push(mem::load(matrix, [n, n])).1, "f64");
    assert_eq!(push(mem::store(matrix, x, [n])).1, "unit");
    assert_eq!(push(mem::shape(matrix)).1, "tuple<i64, i64>");
    assert_eq!(push(mem::fill(x, [n, n, n])).1, "array<f64, 3>");
    let (cell, ty) = push(mem::ref_new(x));
    assert_eq!(ty, "ref<f64>");
    assert_eq!(push(mem::ref_get(cell)).1, "f64");
    assert_eq!(push(prof::record_start(name)).1, "unit");
    let then = f.add_block();
    let otherwise = f.add_block();
    let default = f.add_block();
    f.append_param(otherwise, Type::F64).unwrap();
    f.set_terminator(entry, cf::br_if(c, then, [] as [Operand; 0], otherwise, [x])).unwrap();
    f.set_terminator(then, cf::switch(n, default, [(one, default)])).unwrap();
    f.set_terminator(otherwise, cf::ret(x)).unwrap();
    f.set_terminator(default, cf::unreachable()).unwrap();
}

#[test]
fn short_syntax_belongs_to_control_and_calls_alone() {
    for def in all() {
        let short = def.syntax != Syntax::Generic;
        assert_eq!(short, def.dialect_name() == "cf" || def.op == core::CALL, "{}", def.name);
    }
}

#[test]
fn signatures_read_well() {
    let registry = registry();
    let signature = |name: &str| registry.find(name).unwrap().signature();
    assert_eq!(signature("arith.add"), "arith.add(x: T, y: T) -> T where T: a number type");
    assert_eq!(
        signature("mem.load"),
        "mem.load(array: array<T, _>, indices...: i64) -> T where T: any type"
    );
    assert_eq!(signature("mem.ref_new"), "mem.ref_new(value: T) -> ref<T> where T: any type");
    assert_eq!(signature("core.apply"), "core.apply(callee: _, args...: _) -> declared");
}

#[test]
fn doc_lines_lose_one_blank_each() {
    const RAW: &str = " one\n\n  two\nthree";
    const TEXT: [u8; macros::doc_len(RAW)] = macros::doc_text(RAW);
    assert_eq!(str::from_utf8(&TEXT), Ok("one\n\n two\nthree"));
}

mod users_dialect {
    use regraft_dialects::ir::{InstView, Type};

    fn twice(view: &InstView<'_>) -> Result<Type, String> {
        Ok(view.ctx.tuple_type(&[view.types[0], view.types[0]]))
    }

    regraft_dialects::dialect! {
        /// A dialect of somebody else.
        dialect user = 33;

        /// A pair of the same.
        PAIR = pair(x: T) -> (fn twice) where T: Any [PURE];

        /// No builder.
        HIDDEN: "mod"(; xs: T...) -> T where T: Int [PURE];
    }
}

#[test]
fn a_user_declares_ops_of_their_own() {
    let mut registry = regraft_ir::Registry::new();
    regraft_dialects::add_all(&mut registry);
    registry.add(&users_dialect::DIALECT);
    let ctx = regraft_ir::Context::new(registry.into());
    let mut f = Function::new(&ctx, "f", &[Type::I8], Type::UNIT);
    let entry = f.entry().unwrap();
    let x = f.param(entry, 0).unwrap();
    let pair = f.push(entry, users_dialect::pair(x)).unwrap();
    assert_eq!(ctx.type_text(f.ty(pair)), "tuple<i8, i8>");
    assert_eq!(ctx.registry().find("user.mod").unwrap().op, users_dialect::HIDDEN);
    assert!(ctx.registry().find("user.mod").unwrap().variadic);
}
