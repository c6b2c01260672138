//! Instructions that are refused, and the words in which they are.

use std::sync::Arc;

use regraft_dialects::{arith, cf, context, core, data, mem};
use regraft_ir::{
    Block, Constant, Context, Function, Inst, Operand, StructDef, StructId, Type, Value,
};

/// A function with parameters of these types, and its entry.
fn function(ctx: &Arc<Context>, types: &[Type]) -> (Function, Block, Vec<Value>) {
    let f = Function::new(ctx, "f", types, Type::UNIT);
    let entry = f.entry().unwrap();
    let params = f.params(entry).collect();
    (f, entry, params)
}

#[track_caller]
fn refused(f: &mut Function, entry: Block, inst: Inst, words: &str) {
    let error = f.push(entry, inst).expect_err("it should be refused").to_string();
    assert!(error.contains(words), "{error}");
}

fn point(ctx: &Context, mutable: bool) -> (StructId, Type) {
    ctx.add_struct(StructDef {
        name: ctx.symbol("Point"),
        mutable,
        fields: [(ctx.symbol("x"), Type::F64), (ctx.symbol("y"), Type::F64)].into(),
        call: None,
    })
}

#[test]
fn conversions_to_unfit_types() {
    let ctx = context();
    let (mut f, entry, p) = function(&ctx, &[Type::I32, Type::F64, Type::STR]);
    refused(&mut f, entry, arith::wrap(p[0], Type::I64), "`arith.wrap` makes a narrower integer");
    refused(&mut f, entry, arith::sext(p[0], Type::I8), "found i8 from i32");
    refused(&mut f, entry, arith::bitcast(p[0], Type::F64), "of the same width");
    refused(&mut f, entry, arith::int_to_float(p[0], Type::I64), "makes a float");
    refused(&mut f, entry, arith::float_to_int(p[1], Type::F64), "makes an integer");
    refused(&mut f, entry, arith::div(p[1], p[1]), "expected an integer type");
    refused(&mut f, entry, core::convert(p[2], Type::F64), "cannot make f64 of str");
    refused(&mut f, entry, core::typeassert(p[0], Type::I64), "cannot make i64 of i32");
    f.push(entry, core::convert(p[2], Type::STR)).unwrap();
    f.push(entry, core::convert(p[1], Type::ANY)).unwrap();
}

#[test]
fn elements_that_are_not_there() {
    let ctx = context();
    let pair = ctx.tuple_type(&[Type::I64, Type::F64]);
    let (mut f, entry, p) = function(&ctx, &[pair, Type::I64, Type::ANY]);
    let index = |i: i64| ctx.constant_id(i);
    for i in [0, -1, 3, i64::MIN, i64::MAX] {
        refused(&mut f, entry, core::get(p[0], index(i)), "has 2 fields and no field");
    }
    refused(&mut f, entry, core::get(p[0], p[1]), "use `data.getfield`");
    refused(&mut f, entry, core::get(p[1], index(1)), "i64 has no fields");
    refused(&mut f, entry, core::get(p[2], index(1)), "any has no fields");
    f.push(entry, data::getfield(p[2], index(1))).unwrap();
}

#[test]
fn structs_and_named_tuples() {
    let ctx = context();
    let (_, value) = point(&ctx, false);
    let (_, object) = point(&ctx, true);
    let named = ctx.named_type(&[(ctx.symbol("alpha"), Type::F64)]);
    let (mut f, entry, p) =
        function(&ctx, &[Type::F64, Type::I64, Type::ANY, value, object, named]);
    let sym = |name: &str| ctx.constant_id(Constant::Sym(ctx.symbol(name)));
    f.push(entry, data::new([p[0], p[0]], value)).unwrap();
    f.push(entry, data::new_object([p[0], p[0]], object)).unwrap();
    refused(&mut f, entry, data::new([p[0], p[0]], object), "an immutable struct type");
    refused(&mut f, entry, data::new_object([p[0], p[0]], value), "a mutable struct type");
    refused(&mut f, entry, data::new([p[0]], value), "has 2 fields, found 1 values");
    refused(&mut f, entry, data::new([p[0], p[1]], value), "field 2 of @Point is of type f64");
    refused(&mut f, entry, data::new([p[0], p[2]], value), "found any");
    refused(&mut f, entry, data::named([p[0]], Type::ANY), "makes a named tuple");
    // A field that is not there traps: a pass may find out that an operand is this constant.
    let missing = f.push(entry, data::getfield(p[5], sym("alhpa"))).unwrap();
    assert_eq!(f.ty(missing), Type::F64);
    refused(&mut f, entry, data::getfield(p[5], p[0]), "named by an i64 or a symbol");
    refused(&mut f, entry, data::setfield(p[3], sym("x"), p[0]), "works on mutable structs");
    for value in [p[0], p[1], p[2]] {
        f.push(entry, data::setfield(p[4], sym("x"), value)).unwrap();
    }
    refused(&mut f, entry, core::get(p[4], ctx.constant_id(1i64)), "is mutable");
}

#[test]
fn arrays_of_the_wrong_shape() {
    let ctx = context();
    let matrix = ctx.array_type(Type::F64, 2);
    let vector = ctx.array_type(Type::F64, 1);
    let (mut f, entry, p) = function(&ctx, &[matrix, vector, Type::I64, Type::F64, Type::ANY]);
    let none: [Value; 0] = [];
    refused(&mut f, entry, mem::alloc([p[2]], matrix), "one operand for each dimension");
    refused(&mut f, entry, mem::alloc([p[2]], Type::F64), "makes an array, found f64");
    refused(&mut f, entry, mem::fill(p[3], none), "between 1 and 255 dimensions");
    refused(&mut f, entry, mem::array([p[3]], matrix), "of rank 1");
    refused(&mut f, entry, mem::array([p[2]], vector), "are of type f64, found i64");
    refused(&mut f, entry, mem::load(p[0], [p[2]; 3]), "takes one index or 2");
    refused(&mut f, entry, mem::load(p[1], none), "takes one index or 1");
    refused(&mut f, entry, mem::load(p[4], none), "at least one index");
    refused(&mut f, entry, mem::load(p[1], [p[3]]), "expected i64");
    refused(&mut f, entry, mem::store(p[1], p[2], [p[2]]), "are of different types, f64 and i64");
    refused(&mut f, entry, mem::push(p[0], p[3]), "arrays of rank 1");
    f.push(entry, mem::load(p[4], [p[2]; 3])).unwrap();
}

#[test]
fn terminators_with_unfit_targets() {
    let ctx = context();
    let (mut f, entry, p) = function(&ctx, &[Type::I64, Type::BOOL, Type::F64]);
    let (a, b) = (f.add_block(), f.add_block());
    let mut refused = |inst: Inst, words: &str| {
        let error = f.set_terminator(entry, inst).expect_err("refused").to_string();
        assert!(error.contains(words), "{error}");
    };
    refused(Inst::new(cf::BR).operand(p[1]).operand(a), "found 1 other operands and 1 targets");
    refused(Inst::new(cf::BR), "found 0 other operands and 0 targets");
    refused(Inst::new(cf::BR).operand(p[0]).operand(a).operand(b), "expected bool");
    let one: Operand = ctx.constant_id(1i64).into();
    refused(cf::switch(p[0], a, [(one, a), (one, b)]), "there twice");
    refused(cf::switch(p[0], a, [(p[0], b)]), "are constants");
    refused(cf::switch(p[2], a, [(ctx.constant_id(1.0), b)]), "found f64");
    refused(cf::switch(p[0], a, [(ctx.constant_id(1.0), b)]), "of different types");
    refused(Inst::new(cf::SWITCH).operand(p[0]).operand(one).operand(a), "each of its 1 cases");
    refused(cf::ret(p[0]).operand(a), "`return` has no target");
    refused(core::throw(p[0]), "");
}

#[test]
fn callees_and_types_are_what_they_should_be() {
    let ctx = context();
    let (mut f, entry, p) = function(&ctx, &[Type::F64]);
    refused(&mut f, entry, core::call(p[0], [p[0]], Type::F64), "use `core.apply`");
    refused(&mut f, entry, core::isa(p[0], p[0]), "is a type such as `!f64`");
}

#[test]
fn strips_are_of_functions_that_have_them() {
    let ctx = context();
    let types = [ctx.array_type(Type::F64, 1), ctx.array_type(Type::F32, 1), Type::I64];
    let (mut f, entry, p) = function(&ctx, &types);
    let of = |name: &str, sources: &[Value]| {
        let name = ctx.constant_id(Constant::Sym(ctx.symbol(name)));
        let attrs = ctx.attrs(&[(ctx.symbol("function"), name)]);
        mem::map(p[0], p[2], p[2], sources.iter().copied()).with_attrs(attrs)
    };
    assert!(f.push(entry, of("sin", &[p[0], p[2]])).is_ok());
    assert!(f.push(entry, of("pow", &[p[0], p[2], p[0], p[2]])).is_ok());
    refused(&mut f, entry, of("gamma", &[p[0], p[2]]), "knows no function `gamma`");
    refused(&mut f, entry, of("pow", &[p[0], p[2]]), "takes 4 operands of sources, found 2");
    refused(&mut f, entry, of("sin", &[p[1], p[2]]), "works on arrays of f64");
}

#[test]
fn indices_of_hash_tables_are_arrays_of_i32() {
    let ctx = context();
    let types = [(Type::I32, 1), (Type::I64, 1), (Type::I32, 2)];
    let types = types.map(|(element, rank)| ctx.array_type(element, rank));
    let (mut f, entry, p) = function(&ctx, &[types[0], types[1], types[2], Type::I64]);
    assert!(f.push(entry, mem::probe(p[0], p[3], p[3])).is_ok());
    assert!(f.push(entry, mem::index_entries(p[0], p[0], p[3], p[3])).is_ok());
    let words = "`mem.probe` works on arrays of i32 of rank 1, found array<i64, 1>";
    refused(&mut f, entry, mem::probe(p[1], p[3], p[3]), words);
    refused(&mut f, entry, mem::probe(p[2], p[3], p[3]), "found array<i32, 2>");
    let words = "found array<i32, 2>";
    refused(&mut f, entry, mem::index_entries(p[2], p[2], p[3], p[3]), words);
    refused(&mut f, entry, mem::index_entries(p[0], p[1], p[3], p[3]), "array<i64, 1>");
}

#[test]
fn parts_are_those_of_unboxed_elements() {
    let ctx = context();
    let pair = ctx.tuple_type(&[Type::F64, Type::I64]);
    let types = [ctx.array_type(pair, 1), ctx.array_type(Type::F64, 1), ctx.array_type(pair, 2)];
    let (mut f, entry, p) = function(&ctx, &[types[0], types[1], types[2], Type::I64, Type::F64]);
    let part = |number: i64| {
        let number = ctx.constant_id(number);
        ctx.attrs(&[(ctx.symbol("part"), number)])
    };
    let first = f.push(entry, mem::load_part(p[0], [p[3]]).with_attrs(part(1))).expect("a part");
    let second = f.push(entry, mem::last_part(p[0]).with_attrs(part(2))).expect("a part");
    assert_eq!((f.ty(first), f.ty(second)), (Type::F64, Type::I64));
    assert!(f.push(entry, mem::store_part(p[2], p[4], [p[3], p[3]]).with_attrs(part(1))).is_ok());
    assert!(f.push(entry, mem::push_parts(p[0], [p[4], p[3]])).is_ok());
    let load = |array, number| mem::load_part(array, [p[3]]).with_attrs(part(number));
    refused(&mut f, entry, load(p[1], 1), "keep their elements unboxed, found array<f64, 1>");
    refused(&mut f, entry, load(p[0], 3), "have the parts 1 to 2");
    refused(&mut f, entry, load(p[0], 0), "have the parts 1 to 2");
    let words = "expected a part of type i64, found f64";
    refused(&mut f, entry, mem::store_part(p[0], p[4], [p[3]]).with_attrs(part(2)), words);
    let words = "expected parts of types f64, i64, found i64, f64";
    refused(&mut f, entry, mem::push_parts(p[0], [p[3], p[4]]), words);
    refused(&mut f, entry, mem::push_parts(p[2], [p[4], p[3]]), "arrays of rank 1");
    refused(&mut f, entry, mem::last_part(p[2]).with_attrs(part(1)), "arrays of rank 1");
}
