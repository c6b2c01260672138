use super::*;
use crate::testing::{
    ADD, BR, CALL, COND, LT, NOTE, RETURN, UNREACHABLE, attr, context, inst, pow, with_graph,
};
use crate::{Constant, Inst, StructDef};

/// The messages about a function, each of which has to show a line.
fn messages(f: &Function) -> Vec<String> {
    show(verify_function(f))
}

fn show(result: Result<(), Vec<Diagnostic>>) -> Vec<String> {
    let errors = result.err().unwrap_or_default();
    errors.iter().map(|error| error.message().to_owned()).collect()
}

/// The text that the first label of a diagnostic is about.
fn line<'a>(text: &'a str, diagnostic: &Diagnostic) -> &'a str {
    &text[diagnostic.labels()[0].span.clone()]
}

fn params(f: &Function) -> Vec<Operand> {
    f.params(f.entry().unwrap()).map(Operand::from).collect()
}

fn straight(ctx: &Arc<Context>) -> (Function, Block, Operand) {
    let f = Function::new(ctx, "f", &[Type::I64], Type::I64);
    let (entry, x) = (f.entry().unwrap(), params(&f)[0]);
    (f, entry, x)
}

fn ret(f: &mut Function, b: Block, x: impl Into<Operand>) {
    f.set_terminator(b, inst(RETURN, [x.into()])).unwrap();
}

#[test]
fn what_is_right_passes() {
    let ctx = context();
    assert_eq!(messages(&pow(&ctx)), [""; 0]);
    let (mut f, entry, x) = straight(&ctx);
    let v = f.push(entry, inst(ADD, [x, x])).unwrap();
    ret(&mut f, entry, v);
    assert_eq!(messages(&f), [""; 0]);
}

#[test]
fn all_errors_come_at_once_each_with_its_line() {
    let ctx = context();
    let (mut f, entry, x) = straight(&ctx);
    let a = f.push(entry, inst(ADD, [x, x])).unwrap();
    let b = f.insert(a, inst(ADD, [x, a.into()])).unwrap();
    let c = f.push(entry, inst(LT, [x, x]).with_type(Type::F64)).unwrap();
    ret(&mut f, entry, c);
    let empty = f.add_block();
    let errors = verify_function(&f).unwrap_err();
    let text = f.to_string();
    let found: Vec<(&str, &str)> = errors.iter().map(|e| (line(&text, e), e.message())).collect();
    assert_eq!(
        found,
        [
            (
                "%3: i64 = t.add %1, %2",
                "operand 2 of `t.add` is %2, which is defined after it in ^1"
            ),
            ("%4: f64 = t.lt %1, %1", "%4 is of type f64, but `t.lt` gives bool here"),
            ("return %4", "`return` of type f64 in @f, which returns i64"),
            ("<no terminator>", "^2 has no terminator"),
        ]
    );
    assert_eq!(&text[errors[0].labels()[1].span.clone()], "%2: i64 = t.add %1, %1");
    assert_eq!((b.number(), empty.number()), (3, 2));
    assert!(errors[1].render(false).contains("%4: f64 = t.lt %1, %1"));
}

#[test]
fn operands_have_to_fit_the_signature() {
    let ctx = context();
    let mut f = Function::new(&ctx, "f", &[Type::I64, Type::F64, Type::BOOL], Type::UNIT);
    let entry = f.entry().unwrap();
    let [x, y, c] = params(&f)[..] else { panic!() };
    for operands in [vec![x, y], vec![c, c], vec![x], vec![x, x, x]] {
        f.push(entry, Inst::new(ADD).operands(operands).with_type(Type::I64)).unwrap();
    }
    let attrs = [attr(&ctx, "dep", true), attr(&ctx, "deep", 1i64)];
    for attrs in attrs {
        let v = f.push(entry, inst(NOTE, [x])).unwrap();
        f.set_attrs(v, attrs).unwrap();
    }
    f.set_terminator(entry, inst(COND, [x, entry.into(), x, y, c]).with_type(Type::NEVER)).unwrap();
    assert_eq!(
        messages(&f),
        [
            "operands of `t.add` are of different types, i64 and f64",
            "operand `x` of `t.add` is of type bool, expected a number type",
            "`t.add` takes 2 operands, found 1",
            "`t.add` takes 2 operands, found 3",
            "`t.note` has no attribute `dep`, did you mean `deep`?",
            "attribute `deep` of `t.note` is of type i64, expected bool",
            "operand `if` of `t.cond` is of type i64, expected bool",
        ]
    );
}

#[test]
fn the_recorded_type_covers_the_inferred_one() {
    let ctx = context();
    let (mut f, entry, x) = straight(&ctx);
    let v = f.push(entry, inst(ADD, [x, x])).unwrap();
    f.set_type(v, Type::ANY).unwrap();
    f.set_ret_type(Type::ANY);
    ret(&mut f, entry, v);
    assert_eq!(messages(&f), [""; 0]);
    f.set_type(v, Type::I32).unwrap();
    assert_eq!(messages(&f), ["%2 is of type i32, but `t.add` gives i64 here"]);
    let param = x.as_value().unwrap();
    f.set_type(param, Type::F64).unwrap();
    assert_eq!(messages(&f), ["%2 is of type i32, but `t.add` gives f64 here"]);
}

#[test]
fn values_that_were_never_defined_are_found() {
    let ctx = context();
    let mut f = Function::without_entry(&ctx, "f", Type::UNIT);
    f.reserve_numbers(2, 2).unwrap();
    let [v, w] = [1, 2].map(|n| f.raw_value(n).unwrap());
    let [a, b] = [1, 2].map(|n| f.raw_block(n).unwrap());
    f.place_reserved_block(a).unwrap();
    f.set_reserved_type(w, Type::I64);
    f.define_inst(v, a, inst(ADD, [w.into(), w.into()])).unwrap();
    f.set_terminator(a, inst(BR, [b.into()])).unwrap();
    let missing = [
        "operand 1 of `t.add` is %2, which is not defined",
        "operand 2 of `t.add` is %2, which is not defined",
        "operand 1 of `br` is ^2, which is not in the function",
    ];
    assert_eq!(messages(&f), missing);
    assert_eq!(f.release_reserved(), [w]);
    let deleted = missing
        .map(|m| m.replace("not defined", "deleted").replace("which is del", "which was del"));
    assert_eq!(messages(&f), deleted);
}

/// The methods refuse all of this, so that it takes a corruption to bring it about.
#[test]
fn what_belongs_elsewhere_is_found() {
    let ctx = context();
    let (mut f, entry, x) = straight(&ctx);
    let v = f.push(entry, inst(ADD, [x, x])).unwrap();
    ret(&mut f, entry, v);
    let other = pow(&ctx);
    let foreign = params(&other)[1];
    let big = context();
    let constant = (0..100).fold(big.constant_id(0i64), |_, i| big.constant_id(1000i64 + i));
    let check = |v: Value, operand: Operand, expected: &str| {
        let mut broken = f.clone();
        broken.corrupt_operand(v, 0, operand);
        let mut verifier = Verifier::new(&broken, None);
        verifier.function();
        assert_eq!(show(verifier.report.finish()), [expected]);
    };
    check(v, foreign, "operand 1 of `t.add` is %2, which is a value of another function");
    check(v, constant.into(), "operand 1 of `t.add` is a constant of another context");
    let end = Value::terminator(entry);
    check(v, end.into(), "operand 1 of `t.add` is the terminator of ^1, which defines no value");
    let block = other.entry().unwrap();
    check(end, block.into(), "operand 1 of `return` is ^1, which is a block of another function");
}

#[test]
fn uses_are_dominated_by_their_definitions() {
    let ctx = context();
    let mut f = with_graph(&ctx, &[vec![1, 2], vec![3], vec![3], vec![], vec![3]]);
    let blocks: Vec<Block> = f.blocks().collect();
    let x = params(&f)[1];
    let add =
        |f: &mut Function, b: usize, y: Operand| f.push(blocks[b], inst(ADD, [x, y])).unwrap();
    let left = add(&mut f, 1, x);
    let dead = add(&mut f, 4, left.into());
    add(&mut f, 2, left.into());
    add(&mut f, 3, dead.into());
    // In a block that never runs, not even the order counts.
    f.insert(dead, inst(ADD, [dead.into(), x])).unwrap();
    let own = add(&mut f, 3, x);
    f.set_operand(own, 1, own).unwrap();
    let expected = [
        "operand 2 of `t.add` is %3, which is defined in ^2; ^2 does not dominate ^3",
        "operand 2 of `t.add` is %4, which is defined in ^5; ^5 is not reachable",
        "operand 2 of `t.add` is %8, which it defines itself",
    ];
    assert_eq!(messages(&f), expected);
}

#[test]
fn edge_arguments_are_used_where_the_edge_starts() {
    let ctx = context();
    let mut f = with_graph(&ctx, &[vec![1, 2], vec![3], vec![3], vec![]]);
    let blocks: Vec<Block> = f.blocks().collect();
    let x = params(&f)[1];
    let left = f.push(blocks[1], inst(ADD, [x, x])).unwrap();
    f.add_param(blocks[3], Type::I64, |_| Some(x)).unwrap();
    for from in [1, 2] {
        let end = inst(BR, [blocks[3].into(), left.into()]);
        f.set_terminator(blocks[from], end).unwrap();
    }
    let expected = "operand 2 of `br` is %3, which is defined in ^2; ^2 does not dominate ^3";
    assert_eq!(messages(&f), [expected]);
}

#[test]
fn edges_fit_the_parameters_of_their_targets() {
    let ctx = context();
    let mut f = with_graph(&ctx, &[vec![1, 1], vec![]]);
    let blocks: Vec<Block> = f.blocks().collect();
    let [c, x] = params(&f)[..] else { panic!() };
    let p = f.add_param(blocks[1], Type::I64, |_| Some(x)).unwrap();
    f.set_name_of(p, Some("acc")).unwrap();
    let target = Operand::from(blocks[1]);
    let mut end = |operands: &[Operand]| {
        let end = Inst::new(COND).operands(operands.iter().copied()).with_type(Type::NEVER);
        f.set_terminator(blocks[0], end).unwrap();
        messages(&f)
    };
    assert_eq!(end(&[c, target, x, target, x]), [""; 0]);
    let few = "`t.cond` passes 0 arguments to ^2, which has 1 parameter";
    let many = "`t.cond` passes 2 arguments to ^2, which has 1 parameter";
    assert_eq!(end(&[c, target, target, x, x]), [few, many]);
    let ty = "`t.cond` passes %1 of type bool for the parameter %acc of ^2, which is of type i64";
    assert_eq!(end(&[c, target, x, target, c]), [ty]);
    // Both what is wrong with the condition and with the edge.
    let condition = "operand `if` of `t.cond` is of type i64, expected bool";
    assert_eq!(end(&[x, target, target, x]), [condition, few]);
}

#[test]
fn blocks_end_with_terminators_and_functions_have_an_entry() {
    let ctx = context();
    assert_eq!(
        messages(&Function::without_entry(&ctx, "f", Type::UNIT)),
        ["@f has no entry block"]
    );
    let (mut f, entry, x) = straight(&ctx);
    let v = f.push(entry, inst(NOTE, [x])).unwrap();
    assert_eq!(messages(&f), ["^1 has no terminator"]);
    ret(&mut f, entry, x);
    f.corrupt_op(v, RETURN);
    assert_eq!(messages(&f)[0], "`return` is a terminator and cannot stand within ^1");
    f.corrupt_op(v, NOTE);
    f.corrupt_op(Value::terminator(entry), NOTE);
    assert_eq!(messages(&f), ["^1 ends with `t.note`, which is no terminator"]);
    f.corrupt_op(v, Op::new(50, 3));
    assert_eq!(messages(&f)[0], "op 50.3 belongs to no registered dialect");
}

#[test]
fn what_is_returned_fits_the_result() {
    let ctx = context();
    let (mut f, entry, x) = straight(&ctx);
    ret(&mut f, entry, x);
    f.set_ret_type(Type::F64);
    assert_eq!(messages(&f), ["`return` of type i64 in @f, which returns f64"]);
    f.set_ret_type(Type::ANY);
    assert_eq!(messages(&f), [""; 0]);
    f.set_terminator(entry, Inst::new(UNREACHABLE)).unwrap();
    f.set_ret_type(Type::NEVER);
    assert_eq!(messages(&f), [""; 0]);
}

fn func(ctx: &Context, name: &str) -> Operand {
    ctx.constant_id(Constant::Func(ctx.symbol(name))).into()
}

#[test]
fn calls_agree_with_the_functions_of_the_module() {
    let ctx = context();
    let mut m = Module::new(&ctx);
    m.add(pow(&ctx)).unwrap();
    let mut f = Function::new(&ctx, "f", &[Type::F64, Type::I64], Type::UNIT);
    let entry = f.entry().unwrap();
    let [x, n] = params(&f)[..] else { panic!() };
    let pow = func(&ctx, "pow");
    let mut call = |operands: &[Operand], ty: Type| {
        f.push(entry, Inst::new(CALL).operands(operands.iter().copied()).with_type(ty)).unwrap();
    };
    call(&[pow, x, n], Type::F64);
    call(&[pow, x, n], Type::ANY);
    call(&[func(&ctx, "elsewhere"), n], Type::BOOL);
    call(&[pow, x], Type::F64);
    call(&[pow, x, x], Type::F64);
    call(&[pow, x, n], Type::I64);
    f.set_terminator(entry, Inst::new(UNREACHABLE)).unwrap();
    assert_eq!(messages(&f), [""; 0]);
    let id = m.add(f).unwrap();
    let expected = [
        "`call` passes 1 argument to @pow, which has 2 parameters",
        "`call` passes %1 of type f64 for parameter 2 of @pow, which is of type i64",
        "`call` of type i64, but @pow returns f64",
    ];
    assert_eq!(show(verify_function_in(m.get(id).unwrap(), &m)), expected);
    assert_eq!(show(verify_module(&m)), expected);
}

#[test]
fn names_and_structs_of_a_module_are_checked() {
    let ctx = context();
    let mut m = Module::new(&ctx);
    m.add(pow(&ctx)).unwrap();
    let mut again = pow(&ctx);
    again.set_name(ctx.symbol("pow2"));
    let id = m.add(again).unwrap();
    assert_eq!(show(verify_module(&m)), [""; 0]);
    m.get_mut(id).unwrap().set_name(ctx.symbol("pow"));
    assert_eq!(show(verify_module(&m)), ["there are two functions @pow"]);
    m.get_mut(id).unwrap().set_name(ctx.symbol("pow3"));
    assert_eq!(show(verify_module(&m)), ["the module knows @pow3 under another name"]);
    m.get_mut(id).unwrap().set_name(ctx.symbol("pow2"));

    let x = ctx.symbol("x");
    let def = |name: &str, fields: &[Type]| StructDef {
        name: ctx.symbol(name),
        mutable: false,
        fields: fields.iter().map(|&ty| (x, ty)).collect(),
        call: None,
    };
    let (a, a_type) = m.add_struct(def("A", &[Type::I64])).unwrap();
    let (b, _) = m.add_struct(def("B", &[ctx.tuple_type(&[a_type, Type::I64])])).unwrap();
    let b_type = ctx.ty(TypeKind::Struct(b));
    assert_eq!(show(verify_module(&m)), [""; 0]);
    ctx.set_struct(a, def("A", &[b_type]));
    assert_eq!(
        show(verify_module(&m)),
        ["struct @A contains itself and would be of infinite size"]
    );
    ctx.set_struct(a, StructDef { mutable: true, ..def("A", &[b_type]) });
    assert_eq!(show(verify_module(&m)), [""; 0]);
    ctx.set_struct(a, def("A", &[ctx.ref_type(b_type)]));
    assert_eq!(show(verify_module(&m)), [""; 0]);
    ctx.set_struct(a, def("B", &[Type::I64, Type::NEVER]));
    assert_eq!(
        show(verify_module(&m)),
        [
            "struct @B has two fields `x`",
            "field `x` of struct @B is of type never",
            "there are two structs @B",
        ]
    );
    ctx.set_struct(a, StructDef { call: Some(ctx.symbol("pow")), ..def("A", &[]) });
    assert_eq!(
        show(verify_module(&m)),
        ["struct @A is called by @pow, which takes f64 first, not @A"]
    );
}

#[test]
fn a_function_of_another_context_is_refused() {
    let mut m = Module::new(&context());
    let id = m.add(pow(m.ctx())).unwrap();
    m.set(id, pow(m.ctx())).unwrap();
    *m.get_mut(id).unwrap() = pow(&context());
    assert_eq!(show(verify_module(&m)), ["@pow is over another context than its module"]);
    // Its text is that of its own context.
    assert_eq!(m.to_string(), pow(&context()).to_string());
}

#[test]
fn only_what_has_changed_is_verified_again() {
    let ctx = context();
    let mut m = Module::new(&ctx);
    let pow_id = m.add(pow(&ctx)).unwrap();
    let mut f = Function::new(&ctx, "f", &[Type::F64, Type::I64], Type::F64);
    let entry = f.entry().unwrap();
    let [x, n] = params(&f)[..] else { panic!() };
    let call = inst(CALL, [func(&ctx, "pow"), x, n]).with_type(Type::F64);
    let call = f.push(entry, call).unwrap();
    ret(&mut f, entry, call);
    let id = m.add(f).unwrap();
    let mut cache = VerifyCache::new();
    assert_eq!(show(verify_changed(&m, &mut cache)), [""; 0]);
    assert_eq!(cache.clean_count(), 2);
    // A corruption bumps no epoch, and so shows that nothing is looked at.
    let end = Value::terminator(entry);
    m.get_mut(id).unwrap().corrupt_op(end, NOTE);
    assert_eq!(show(verify_changed(&m, &mut cache)), [""; 0]);
    // A change of another function that leaves its signature does not matter.
    let pow = m.get_mut(pow_id).unwrap();
    let v = pow.value_by_number(5).unwrap();
    pow.insert(v, inst(NOTE, [v.into()])).unwrap();
    let error = "operand 1 of `t.note` is %5, which is defined after it in ^2";
    assert_eq!(show(verify_changed(&m, &mut cache)), [error]);
    assert_eq!(show(verify_changed(&m, &mut cache)), [error], "it is still wrong");
    let pow = m.get_mut(pow_id).unwrap();
    let note = pow.first_inst(pow.block_of(v)).unwrap();
    pow.delete(note).unwrap();
    assert_eq!(show(verify_changed(&m, &mut cache)), [""; 0]);
    // A new signature does.
    m.get_mut(id).unwrap().corrupt_op(end, RETURN);
    m.get_mut(pow_id).unwrap().set_ret_type(Type::ANY);
    let errors = show(verify_changed(&m, &mut cache));
    assert_eq!(errors, ["`call` of type f64, but @pow returns any"]);
    m.remove(id);
    assert_eq!(show(verify_changed(&m, &mut cache)), [""; 0]);
    assert_eq!(cache.clean_count(), 1);
}

#[test]
fn errors_name_the_place_in_the_program() {
    let ctx = context();
    let (mut f, entry, x) = straight(&ctx);
    let at = ctx.named_loc("foo.jl", 3, 5);
    f.push(entry, inst(ADD, [x, x]).with_type(Type::F64).at(at)).unwrap();
    ret(&mut f, entry, x);
    let errors = verify_function(&f).unwrap_err();
    assert_eq!(errors[0].notes(), ["from foo.jl:3:5"]);
    assert_eq!(errors[0].source_name(), Some("@f"));
}
