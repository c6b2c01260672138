//! Every form of IR text is read as what it means, and prints as text that reads back.

use std::sync::Arc;

use regraft_ir::{
    Block, Constant, Context, Diagnostic, Function, Location, Module, Operand, PrintOptions, Type,
    TypeKind, Value, print_module,
};
use regraft_syntax::{parse_and_verify, parse_module, parse_module_into};

fn module_in(ctx: &Arc<Context>, text: &str) -> Module {
    parse_module(ctx, "test.ir", text).unwrap_or_else(|errors| panic!("{errors:?}"))
}

fn module(text: &str) -> Module {
    module_in(&regraft_dialects::context(), text)
}

fn only(m: &Module) -> &Function {
    m.functions().next().expect("it has a function")
}

fn value(f: &Function, number: u32) -> Value {
    f.value_by_number(number).unwrap_or_else(|| panic!("%{number} is there"))
}

fn operands(f: &Function, v: Value) -> Vec<String> {
    f.operands(v).map(|o| f.operand_text(o)).collect()
}

/// Prints, reads back in the same context and in another one, and compares.
fn round_trip(m: &Module) -> String {
    let text = m.to_string();
    let again = module_in(m.ctx(), &text);
    assert!(m.structs().len() == again.structs().len());
    let other = module(&text);
    assert!(m.structural_eq(&other), "{text}\nreads back as\n{other}");
    assert_eq!(text, other.to_string());
    let narrow = PrintOptions { width: 20, ..PrintOptions::default() };
    let narrow = module(&print_module(m, &narrow));
    assert_eq!(text, narrow.to_string(), "printed narrowly");
    text
}

const POW: &str = "\
# `pow` of the IRTools documentation
func @pow(%1: f64, %2: i64) -> f64 {
^1:
  br ^2(%2, 1.0)
^2(%3: i64, %4: f64):
  %5: bool = arith.lt 0, %3
  br %5, ^3, ^4
^3:
  %6: i64 = arith.sub %3, 1
  %7: f64 = arith.mul %4, %1
  br ^2(%6, %7)
^4:
  return %4
}
";

#[test]
fn pow_is_read_with_its_numbers_and_prints_as_it_was() {
    let ctx = regraft_dialects::context();
    let m = parse_and_verify(&ctx, "pow.ir", POW).unwrap_or_else(|errors| panic!("{errors:?}"));
    let f = m.function("pow").expect("it is there");
    assert_eq!(f.block_count(), 4);
    assert_eq!(f.inst_count(), 3);
    assert_eq!(f.param_types(), [Type::F64, Type::I64]);
    let v = value(f, 7);
    assert_eq!(f.op_def(v).expect("an instruction").name, "arith.mul");
    assert_eq!(f.block_of(v).number(), 3);
    let body = POW.split_once('\n').expect("a comment").1;
    assert_eq!(round_trip(&m), body);
    match ctx.location(f.loc(v)) {
        Location::File { file, line, column } => {
            assert_eq!((&*file, line, column), ("pow.ir", 10, 3));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn numbers_are_kept_whatever_their_order() {
    let m = module(
        "func @f(%9: i64) -> i64 {\n^7:\n  %2: i64 = arith.add %9, 1\n  br ^3(%2)\n^3(%4: i64):\n  return %4\n}\n",
    );
    let f = only(&m);
    let numbers: Vec<u32> = f.blocks().map(Block::number).collect();
    assert_eq!(numbers, [7, 3]);
    assert_eq!(operands(f, value(f, 2)), ["%9", "1"]);
    assert!(f.value_by_number(1).is_none() && f.value_by_number(8).is_none());
    round_trip(&m);
}

#[test]
fn sparse_numbers_are_made_dense_in_text_order() {
    let m = module(
        "func @f(%4000000000: i64) -> i64 {\n^3999999999:\n  %70000: i64 = arith.add %4000000000, 1\n  \
         br ^5\n^5:\n  return %70000\n}\n",
    );
    let f = only(&m);
    assert_eq!(f.value_capacity(), 2);
    assert_eq!(operands(f, value(f, 2)), ["%1", "1"]);
    assert_eq!(f.blocks().map(Block::number).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn names_get_free_numbers_and_survive() {
    let m = module(
        "func @f(%x: i64, %5: i64) -> i64 {\n^1:\n  %\"odd name\": i64 = arith.add %x, %5\n  \
         %acc.1 = arith.mul %\"odd name\", %7\n  %7: i64 = arith.sub %x, 1\n  return %acc.1\n}\n",
    );
    let f = only(&m);
    let odd = f.value_by_name("odd name").expect("named");
    assert_eq!(odd.number(), 9, "after the parameter %x, which is 8");
    assert_eq!(operands(f, odd), ["%x", "%5"]);
    assert_eq!(f.ty(f.value_by_name("acc.1").expect("named")), Type::I64);
    let text = m.to_string();
    assert!(text.contains("%\"odd name\": i64 = arith.add %x, %5"), "{text}");
}

#[test]
fn results_without_a_name_are_numbered_last() {
    let m = module(
        "func @f(%1: i64) {\n^1:\n  core.print %1, \"\\n\"\n  %2: i64 = arith.add %1, 1\n  core.println %2\n  return nothing\n}\n",
    );
    let f = only(&m);
    assert_eq!(f.op_def(value(f, 3)).expect("print").name, "core.print");
    assert_eq!(f.op_def(value(f, 4)).expect("println").name, "core.println");
    assert_eq!(f.ty(value(f, 3)), Type::UNIT);
    assert_eq!(f.ret_type(), Type::ANY);
    round_trip(&m);
}

#[test]
fn types_that_are_left_out_are_inferred() {
    let m = module(
        "func @f(%1: f64, %2) {\n^1:\n  %3 = arith.mul %1, 2.0\n  %4 = arith.lt %3, %1\n  \
         %5 = call @sin(%1)\n  %6 = arith.add %2, 1\n  return %3\n}\n",
    );
    let f = only(&m);
    let types: Vec<Type> = (1..=6).map(|n| f.ty(value(f, n))).collect();
    assert_eq!(types, [Type::F64, Type::ANY, Type::F64, Type::BOOL, Type::ANY, Type::ANY]);
    round_trip(&m);
}

#[test]
fn types_are_inferred_from_definitions_further_down_the_text() {
    // ^4 runs before ^3 and ^2, and the text has them the other way round.
    let m = module(
        "func @f(%1: f64) -> f64 {\n^1:\n  br ^4\n^2:\n  %2 = arith.mul %3, %3\n  return %2\n^3:\n  \
         %3 = arith.add %4, 1.0\n  %5 = core.tuple %3, %4\n  br ^2\n^4:\n  %4 = arith.mul %1, %1\n  br ^3\n}\n",
    );
    let f = only(&m);
    assert_eq!(f.ty(value(f, 2)), Type::F64);
    assert_eq!(f.ty(value(f, 3)), Type::F64);
    assert_eq!(m.ctx().type_text(f.ty(value(f, 5))), "tuple<f64, f64>");
    round_trip(&m);
}

#[test]
fn a_cycle_of_types_that_are_left_out_ends() {
    let text =
        "func @f() {\n^1:\n  br ^2\n^2:\n  %1 = core.tuple %2\n  %2 = core.tuple %1\n  br ^2\n}\n";
    let m = module(text);
    assert_eq!(only(&m).inst_count(), 2);
}

#[test]
fn calls_and_switches_have_their_own_form() {
    let m = module(
        "func @f(%1: i64, %2: any) -> i64 {\n^1:\n  %3: i64 = call @g(%1, 2.5)\n  %4 = call @\"odd g\"()\n  \
         switch %1, ^4, 1: ^2, 5: ^3(%3), -7: ^3(8)\n^2:\n  return 1\n^3(%5: i64):\n  return %5\n^4:\n  \
         switch %1, ^2\n}\n",
    );
    let f = only(&m);
    assert_eq!(operands(f, value(f, 3)), ["@g", "%1", "2.5"]);
    assert_eq!(operands(f, value(f, 4)), ["@\"odd g\""]);
    let entry = f.entry().expect("an entry");
    let switch = f.terminator(entry).expect("a switch");
    let expected = ["%1", "1", "5", "-7", "^4", "^2", "^3", "%3", "^3", "8"];
    assert_eq!(operands(f, switch), expected);
    round_trip(&m);
}

/// The constant that a literal stands for.
fn literal(ctx: &Arc<Context>, text: &str) -> Constant {
    let m = module_in(ctx, &format!("func @f() {{\n^1:\n  return {text}\n}}\n"));
    let f = only(&m);
    let end = f.terminator(f.entry().expect("an entry")).expect("a terminator");
    f.constant(f.operand(end, 0).expect("an operand")).expect("a constant")
}

#[test]
fn literals_stand_for_their_constants() {
    let ctx = regraft_dialects::context();
    let sym = |name: &str| Constant::Sym(ctx.symbol(name));
    let string = |text: &str| Constant::Str(ctx.symbol(text));
    let cases = [
        ("1", Constant::I64(1)),
        ("-1", Constant::I64(-1)),
        ("007", Constant::I64(7)),
        ("0x1f", Constant::I64(31)),
        ("-0x10i8", Constant::I8(-16)),
        ("3i8", Constant::I8(3)),
        ("3i16", Constant::I16(3)),
        ("3i32", Constant::I32(3)),
        ("3i64", Constant::I64(3)),
        ("9223372036854775807", Constant::I64(i64::MAX)),
        ("-9223372036854775808", Constant::I64(i64::MIN)),
        ("0x7fffffffffffffff", Constant::I64(i64::MAX)),
        ("127i8", Constant::I8(127)),
        ("-128i8", Constant::I8(-128)),
        ("32767i16", Constant::I16(32767)),
        ("-2147483648i32", Constant::I32(i32::MIN)),
        ("1.0", Constant::F64(1f64.to_bits())),
        ("-0.0", Constant::F64(1 << 63)),
        ("1e300", Constant::F64(1e300f64.to_bits())),
        ("1E-5", Constant::F64(1e-5f64.to_bits())),
        ("2.5e+3", Constant::F64(2500f64.to_bits())),
        ("1.7976931348623157e308", Constant::F64(f64::MAX.to_bits())),
        ("5e-324", Constant::F64(1)),
        ("1.0f32", Constant::F32(1f32.to_bits())),
        // Rounded once: through f64 it would be 1 ulp (of f32) less.
        ("1.00000005960464477540f32", Constant::F32(0x3f80_0001)),
        ("1e-45f32", Constant::F32(1)),
        ("inf", Constant::F64(f64::INFINITY.to_bits())),
        ("-inf", Constant::F64(f64::NEG_INFINITY.to_bits())),
        ("inff32", Constant::F32(f32::INFINITY.to_bits())),
        ("-inff32", Constant::F32(f32::NEG_INFINITY.to_bits())),
        ("nan", Constant::F64(0x7ff8_0000_0000_0000)),
        ("nanf32", Constant::F32(0x7fc0_0000)),
        ("nan(0xfff8000000000001)", Constant::F64(0xfff8_0000_0000_0001)),
        ("nan(0x7f800001)f32", Constant::F32(0x7f80_0001)),
        ("true", Constant::Bool(true)),
        ("false", Constant::Bool(false)),
        ("nothing", Constant::Unit),
        (":name", sym("name")),
        (":\"odd name\"", sym("odd name")),
        (":func", sym("func")),
        ("\"text\"", string("text")),
        ("\"\"", string("")),
        (r#""\\ \" \n \t \r \u{1f600} ü""#, string("\\ \" \n \t \r \u{1f600} ü")),
        ("\"# no comment\"", string("# no comment")),
        ("@f", Constant::Func(ctx.symbol("f"))),
        ("@\"odd\\n\"", Constant::Func(ctx.symbol("odd\n"))),
        ("!f64", Constant::Type(Type::F64)),
        ("!array<f64, 2>", Constant::Type(ctx.array_type(Type::F64, 2))),
        ("!{}", Constant::Type(ctx.named_type(&[]))),
    ];
    for (text, constant) in cases {
        assert_eq!(literal(&ctx, text), constant, "{text}");
        let printed = ctx.constant_text(constant);
        assert_eq!(literal(&ctx, &printed), constant, "{text} printed as {printed}");
    }
}

#[test]
fn types_are_read_as_they_are_printed() {
    let ctx = regraft_dialects::context();
    module_in(&ctx, "struct @P {}\n");
    let types = [
        "any",
        "never",
        "unit",
        "bool",
        "i8",
        "i16",
        "i32",
        "i64",
        "f32",
        "f64",
        "sym",
        "str",
        "tuple<>",
        "tuple<i64, f64>",
        "tuple<tuple<i8>, @P>",
        "{}",
        "{a: f64, b: i64}",
        "{\"odd name\": f64, func: i64, true: bool, nan: f64, at: str}",
        "@P",
        "@\"odd struct\"",
        "array<f64, 1>",
        "array<{a: array<@P, 3>}, 255>",
        "ref<ref<any>>",
        "fn<@f>",
        "fn<@\"odd f\">",
        "val<:f>",
        "val<1>",
        "val<-1i8>",
        "val<0.5f32>",
        "val<\"text\">",
        "val<@f>",
        "val<nothing>",
        "val<!f64>",
        "type<f64>",
        "type<type<@P>>",
        "type<val<true>>",
    ];
    for ty in types {
        let text = format!(
            "struct @P {{x: {ty}}}\nstruct @\"odd struct\" {{}}\nfunc @f(%1: {ty}) -> {ty} {{\n^1:\n  return %1\n}}\n"
        );
        let m = module(&text);
        let f = only(&m);
        assert_eq!(m.ctx().type_text(f.ret_type()), ty);
        assert_eq!(f.ty(value(f, 1)), f.ret_type());
        let (id, _) = m.structs()[0];
        assert_eq!(m.ctx().struct_def(id).fields[0].1, f.ret_type());
    }
    // A colon that touches what is before it is a colon.
    let m = module(
        "func @f(%1:{a:f64,b:i64}) -> f64 {\n^1:\n  %2:f64 = core.get %1, 1\n  return %2\n}\n",
    );
    let ty = only(&m).param_types()[0];
    assert!(matches!(m.ctx().kind(ty), TypeKind::Named(fields) if fields.len() == 2));
}

#[test]
fn structs_may_refer_to_each_other_and_to_themselves() {
    let m = module(
        "func @first(%1: @List) -> @Node {\n^1:\n  %2 = data.getfield %1, :head\n  return %2\n}\n\n\
         mutable struct @List {head: @Node, tail: ref<@List>}\n\
         struct @Node {x: f64,\n  \"odd field\": array<@List, 1>}\n\
         struct @Adder {x: f64} call @body\n",
    );
    let ctx = m.ctx();
    assert_eq!(m.structs().len(), 3);
    let def = |i: usize| ctx.struct_def(m.structs()[i].0);
    assert!(def(0).mutable && !def(1).mutable);
    assert_eq!(ctx.type_text(def(0).fields[0].1), "@Node");
    assert_eq!(def(2).call.map(|name| ctx.str(name)), Some("body"));
    let f = only(&m);
    assert_eq!(ctx.type_text(f.ty(value(f, 2))), "@Node");
    round_trip(&m);
}

#[test]
fn attributes_of_functions_and_instructions_are_read() {
    let m = module(
        "func @f() -> i64 {inline=true, \"odd key\"=:x, at=!{a: f64}} {\n^1:\n  return 1\n}\n",
    );
    let f = only(&m);
    let entries = m.ctx().attr_entries(f.function_attrs());
    let entries: Vec<(&str, String)> = entries
        .iter()
        .map(|&(name, value)| (m.ctx().str(name), m.ctx().constant_text(m.ctx().constant(value))))
        .collect();
    let expected = [("at", "!{a: f64}"), ("inline", "true"), ("odd key", ":x")];
    assert_eq!(entries, expected.map(|(k, v)| (k, v.to_owned())));
    round_trip(&m);
}

#[test]
fn locations_are_read_with_their_calls() {
    let m = module(
        "func @f(%1: i64) -> i64 {\n^1:\n  %2: i64 = arith.add %1, 1 loc(\"a.jl\":3:5 in @\"g(Any)\" at \"b.jl\":9:1 in @h at \"c.jl\":1:2)\n  \
         return %2 loc(\"a.jl\":4:1)\n}\n",
    );
    let f = only(&m);
    let loc = f.loc(value(f, 2));
    assert_eq!(m.ctx().loc_text(loc), "a.jl:3:5, inlined at b.jl:9:1, inlined at c.jl:1:2");
    let Location::Inlined { callee, call_site, .. } = m.ctx().location(loc) else { panic!() };
    assert_eq!(m.ctx().str(callee), "g(Any)");
    let Location::Inlined { callee, .. } = m.ctx().location(call_site) else { panic!() };
    assert_eq!(m.ctx().str(callee), "h");
    let end = f.terminator(f.entry().expect("an entry")).expect("a terminator");
    assert_eq!(m.ctx().loc_text(f.loc(end)), "a.jl:4:1");
    let options = PrintOptions { locs: true, ..PrintOptions::default() };
    let printed = print_module(&m, &options);
    assert!(printed.contains("3:5 in @\"g(Any)\" at"), "{printed}");
    let again = module(&printed);
    assert_eq!(print_module(&again, &options), printed);
}

#[test]
fn lines_may_be_continued_after_commas_and_brackets() {
    let text = "\u{feff}\r\n  # comment\n\n\tfunc @f(\n    %1: i64,   # the first\n\n    %2: tuple<\n i64,\n f64>) -> i64 {\r\n\
        ^1:\r\n  %3: i64 = call @g(\n    %1,\n    %1)\n\n\n  br ^2(\n %3)\n  # another\n^2(\n%4: i64):\n  return %4 # the end\n}";
    let m = module(text);
    let f = only(&m);
    assert_eq!(f.param_types().len(), 2);
    assert_eq!(operands(f, value(f, 3)), ["@g", "%1", "%1"]);
    round_trip(&m);
}

#[test]
fn an_empty_text_is_an_empty_module() {
    for text in ["", "\n", "# nothing", "  \r\n\t"] {
        assert_eq!(module(text).functions().len(), 0);
    }
}

#[test]
fn a_module_can_be_added_to() {
    let ctx = regraft_dialects::context();
    let mut m = module_in(&ctx, "struct @P {x: f64}\nfunc @f() -> i64 {\n^1:\n  return 1\n}\n");
    let more = "func @g(%1: @P) -> f64 {\n^1:\n  %2 = data.getfield %1, :x\n  return %2\n}\nstruct @Q {p: @P}\n";
    let added = parse_module_into(&mut m, "more.ir", more).expect("it is right");
    assert_eq!(added.len(), 1);
    assert_eq!(m.structs().len(), 2);
    assert_eq!(m.get(added[0]).map(Function::name_str), Some("g"));
    let again = parse_module_into(&mut m, "again.ir", more).expect_err("they are there already");
    let messages: Vec<&str> = again.iter().map(Diagnostic::message).collect();
    assert_eq!(messages, ["there is a function @g already", "there is a struct @Q already"]);
    assert_eq!((m.functions().len(), m.structs().len()), (2, 2));
}

#[test]
fn bytes_that_are_no_text_are_shown() {
    assert_eq!(regraft_syntax::decode("a.ir", b"func").expect("text"), "func");
    let error =
        regraft_syntax::decode("a.ir", b"one\ntwo \xff\xfe three\nfour").expect_err("no text");
    assert_eq!(error.message(), "a.ir is not UTF-8: byte 8, in line 2");
    assert!(error.render(false).contains("a.ir:2:5"), "{error:?}");
    assert_eq!(error.labels()[0].text, "byte 0xff");
}

#[test]
fn the_programs_that_ship_verify_and_read_back() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/ir");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("readable").path();
        let text = std::fs::read_to_string(&path).expect("text");
        let ctx = regraft_dialects::context();
        let name = path.display().to_string();
        let m = parse_and_verify(&ctx, &name, &text).unwrap_or_else(|errors| panic!("{errors:?}"));
        round_trip(&m);
        count += 1;
    }
    assert!(count >= 6, "{count} programs");
}

#[test]
fn a_value_with_many_uses_costs_no_more() {
    let mut text = String::from("func @f(%1: i64) -> i64 {\n^1:\n");
    for i in 2..20_000 {
        text.push_str(&format!("  %{i}: i64 = arith.add %1, %1\n"));
    }
    text.push_str("  return %1\n}\n");
    let m = module(&text);
    let f = only(&m);
    assert_eq!(f.uses(value(f, 1)).count(), 2 * 19_998 + 1);
    assert_eq!(f.operand(value(f, 19_999), 1), Some(Operand::from(value(f, 1))));
}
