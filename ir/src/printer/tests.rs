use super::*;
use crate::testing::{
    ADD, BR, CALL, COND, NOTE, RETURN, SWITCH, UNREACHABLE, attr, context, inst, pow,
};
use crate::{Constant, Inst, Operand, Type, TypeKind};

fn note(operands: Vec<Operand>) -> Inst {
    Inst::new(NOTE).operands(operands)
}

#[test]
fn a_function_prints_as_the_text_format_says() {
    let expected = "\
func @pow(%1: f64, %2: i64) -> f64 {
^1:
  br ^2(%2, 1.0)
^2(%3: i64, %4: f64):
  %5: bool = t.lt 0, %3
  t.cond %5, ^3, ^4
^3:
  %6: i64 = t.add %3, -1
  %7: f64 = t.add %4, %1
  br ^2(%6, %7)
^4:
  return %4
}
";
    assert_eq!(pow(&context()).to_string(), expected);
}

#[test]
fn constants_carry_their_types_and_floats_read_back() {
    let ctx = context();
    let mut f = Function::new(&ctx, "f", &[], Type::UNIT);
    let entry = f.entry().unwrap();
    let mut floats = Vec::new();
    for x in [
        0.0,
        -0.0,
        -3.0,
        0.1,
        1e15,
        9007199254740991.0,
        9007199254740992.0,
        1e16,
        1e300,
        5e-324,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ] {
        let v = f.push(entry, note(vec![ctx.constant_id(x).into()])).unwrap();
        let line = print_inst(&f, v);
        let text = line.rsplit(' ').next().unwrap();
        assert_eq!(text.parse::<f64>().unwrap().to_bits(), x.to_bits(), "{text}");
        assert!(text.contains(['.', 'e', 'i']), "{text} reads back as an integer");
        // The fast path must not differ from the general one.
        assert_eq!(text, ctx.constant_text(Constant::from(x)));
        floats.push(text.to_owned());
    }
    assert_eq!(floats[..4], ["0.0", "-0.0", "-3.0", "0.1"]);
    let constants = [
        Constant::Unit,
        Constant::Bool(true),
        Constant::Bool(false),
        Constant::I8(-3),
        Constant::I16(3),
        Constant::I32(3),
        Constant::I64(i64::MIN),
        Constant::from(1.0f32),
        Constant::F64(0x7ff8_0000_0000_0001),
        Constant::Sym(ctx.symbol("name")),
        Constant::Sym(ctx.symbol("odd name")),
        Constant::Str(ctx.symbol("a \"b\"\n")),
        Constant::Func(ctx.symbol("f")),
        Constant::Type(ctx.array_type(Type::F64, 2)),
    ];
    let operands = constants.map(|c| ctx.constant_id(c).into()).to_vec();
    let v = f.push(entry, note(operands)).unwrap();
    assert_eq!(
        print_inst(&f, v),
        "%13: unit = t.note nothing, true, false, -3i8, 3i16, 3i32, -9223372036854775808, 1.0f32, \
         nan(0x7ff8000000000001), :name, :\"odd name\", \"a \\\"b\\\"\\n\", @f, !array<f64, 2>"
    );
}

#[test]
fn calls_switches_attributes_and_names_have_their_forms() {
    let ctx = context();
    let mut f = Function::new(&ctx, "odd name", &[Type::ANY, Type::I64], Type::ANY);
    f.set_function_attrs(attr(&ctx, "inline", true));
    let entry = f.entry().unwrap();
    let (b2, b3) = (f.add_block(), f.add_block());
    let p = f.append_param(b3, Type::I64).unwrap();
    let [g, x] = [0, 1].map(|i| f.param(entry, i).unwrap());
    let sin = Operand::from(ctx.constant_id(Constant::Func(ctx.symbol("sin"))));
    let call = f.push(entry, inst(CALL, [sin, x.into()]).with_type(Type::F64)).unwrap();
    let dynamic = f.push(entry, inst(CALL, [g.into(), call.into(), x.into()])).unwrap();
    f.set_name_of(x, Some("acc")).unwrap();
    f.set_name_of(call, Some("a b")).unwrap();
    let attrs = ctx.attrs(&[
        (ctx.symbol("k"), ctx.constant_id(Constant::Sym(ctx.symbol("x")))),
        (ctx.symbol("deep"), ctx.constant_id(true)),
    ]);
    f.push(entry, Inst::new(NOTE).with_attrs(attrs)).unwrap();
    let int = |i: i64| Operand::from(ctx.constant_id(i));
    let operands = [x.into(), int(1), int(5), b2.into(), b2.into(), b3.into(), Operand::from(x)];
    f.set_terminator(entry, inst(SWITCH, operands)).unwrap();
    f.set_terminator(b2, Inst::new(UNREACHABLE)).unwrap();
    f.set_terminator(b3, inst(RETURN, [dynamic.into()])).unwrap();
    let expected = "\
func @\"odd name\"(%1: any, %acc: i64) -> any {inline=true} {
^1:
  %\"a b\": f64 = call @sin(%acc)
  %5 = call %1(%\"a b\", %acc)
  %6: unit = t.note {deep=true, k=:x}
  switch %acc, ^2, 1: ^2, 5: ^3(%acc)
^2:
  t.unreachable
^3(%3: i64):
  return %5
}
";
    assert_eq!(p.number(), 3);
    assert_eq!(f.to_string(), expected);
}

#[test]
fn a_switch_without_a_target_for_each_case_prints_its_operands() {
    let ctx = context();
    let mut f = Function::new(&ctx, "f", &[Type::I64], Type::UNIT);
    let entry = f.entry().unwrap();
    let x = f.param(entry, 0).unwrap();
    f.set_terminator(
        entry,
        inst(SWITCH, [x.into(), ctx.constant_id(1i64).into(), entry.into()]).with_type(Type::NEVER),
    )
    .unwrap();
    assert_eq!(print_inst(&f, Value::terminator(entry)), "switch %1, 1, ^1");
}

#[test]
fn a_module_prints_structs_then_functions_with_blank_lines_between() {
    let ctx = context();
    let mut m = Module::new(&ctx);
    let [x, y] = ["x", "y z"].map(|name| ctx.symbol(name));
    let def = StructDef {
        name: ctx.symbol("P"),
        mutable: false,
        fields: [(x, Type::F64), (y, Type::I64)].into(),
        call: None,
    };
    let (_, p) = m.add_struct(def.clone()).unwrap();
    m.add_struct(StructDef {
        name: ctx.symbol("C"),
        mutable: true,
        fields: [].into(),
        ..def.clone()
    })
    .unwrap();
    let body = ctx.symbol("body");
    m.add_struct(StructDef { name: ctx.symbol("Adder 1"), call: Some(body), ..def }).unwrap();
    let named = ctx.named_type(&[(x, p), (y, ctx.ty(TypeKind::Ref(p)))]);
    let mut f = Function::new(&ctx, "f", &[named], named);
    let entry = f.entry().unwrap();
    let a = f.param(entry, 0).unwrap();
    f.set_terminator(entry, inst(RETURN, [a.into()])).unwrap();
    m.add(f).unwrap();
    m.add(Function::without_entry(&ctx, "g", Type::UNIT)).unwrap();
    let expected = "\
struct @P {x: f64, \"y z\": i64}

mutable struct @C {}

struct @\"Adder 1\" {x: f64, \"y z\": i64} call @body

func @f(%1: {x: @P, \"y z\": ref<@P>}) -> {x: @P, \"y z\": ref<@P>} {
^1:
  return %1
}

func @g() -> unit {
}
";
    assert_eq!(print_module(&m, &PrintOptions::default()), expected);
    assert_eq!(m.to_string(), expected);
}

#[test]
fn locations_show_the_chain_of_calls_and_origins_are_comments() {
    let ctx = context();
    let mut f = Function::new(&ctx, "f", &[Type::I64], Type::I64);
    let entry = f.entry().unwrap();
    let x = f.param(entry, 0).unwrap();
    let source = ctx.add_source("f.ir", "abc\n  defg\n").unwrap();
    let at = source.loc(6);
    let call = ctx.named_loc("g.ir", 9, 1);
    let outer = ctx.named_loc("odd \"h\".ir", 7, 2);
    let g = ctx.symbol("g");
    let plain = f.push(entry, inst(ADD, [x.into(), x.into()]).at(at)).unwrap();
    f.push(entry, inst(ADD, [x.into(), x.into()]).at(ctx.inlined_loc(at, g, call))).unwrap();
    f.set_provenance(Some(ctx.symbol("mul-to-add")));
    let twice = ctx.inlined_loc(at, g, ctx.inlined_loc(call, ctx.symbol("h(Any)"), outer));
    f.push(entry, inst(ADD, [x.into(), x.into()]).at(twice).made_from(plain)).unwrap();
    f.set_terminator(entry, inst(RETURN, [x.into()])).unwrap();
    let options = PrintOptions { locs: true, origins: true, ..PrintOptions::default() };
    let expected = "\
func @f(%1: i64) -> i64 {
^1:
  %2: i64 = t.add %1, %1 loc(\"f.ir\":2:3)
  %3: i64 = t.add %1, %1 loc(\"f.ir\":2:3 in @g at \"g.ir\":9:1)
  %4: i64 = t.add %1, %1 loc(\"f.ir\":2:3 in @g at \"g.ir\":9:1 in @\"h(Any)\" at \"odd \\\"h\\\".ir\":7:2)  # by \
        \"mul-to-add\" from %2
  return %1
}
";
    assert_eq!(print_function(&f, &options), expected);
}

#[test]
fn broken_functions_print() {
    let ctx = context();
    let mut f = Function::without_entry(&ctx, "f", Type::I64);
    f.reserve_numbers(3, 2).unwrap();
    let [a, b] = [1, 2].map(|n| f.raw_block(n).unwrap());
    f.place_reserved_block(a).unwrap();
    let [x, y, z] = [1, 2, 3].map(|n| f.raw_value(n).unwrap());
    f.set_reserved_type(y, Type::I64);
    f.define_inst(x, a, inst(ADD, [y.into(), y.into()])).unwrap();
    f.define_inst(z, a, inst(ADD, [x.into(), x.into()])).unwrap();
    assert_eq!(print_inst(&f, Value::terminator(a)), "<no terminator>");
    assert!(f.to_string().ends_with("  <no terminator>\n}\n"));
    f.set_terminator(a, inst(BR, [b.into()])).unwrap();
    f.release_reserved();
    let expected = "\
func @f() -> i64 {
^1:
  %1: i64 = t.add %2?, %2?
  %3: i64 = t.add %1, %1
  br ^2?
}
";
    assert_eq!(f.to_string(), expected);
    assert_eq!(print_inst(&f, y), "%2?");
    let other = pow(&ctx);
    let foreign = other.param(other.entry().unwrap(), 1).unwrap();
    assert_eq!(print_inst(&f, foreign), "%2?");
    let mut empty = Function::new(&ctx, "g", &[], Type::UNIT);
    let gone = empty.add_block();
    empty.delete_block(gone).unwrap();
    assert_eq!(print_inst(&empty, Value::terminator(gone)), "%<the terminator of ^2>?");
}

#[test]
fn wide_lines_break_after_commas_and_opening_brackets_only() {
    let ctx = context();
    let mut f = Function::new(&ctx, "f", &[Type::I64], Type::UNIT);
    let entry = f.entry().unwrap();
    let x = Operand::from(f.param(entry, 0).unwrap());
    let text = ctx.constant_id(Constant::Str(ctx.symbol("a, b (c, d \\\" e"))).into();
    let nan = ctx.constant_id(Constant::F64(0xfff8_0000_0000_0001)).into();
    let ty = ctx.constant_id(Constant::Type(ctx.tuple_type(&[Type::F64; 9]))).into();
    let mut operands = Vec::new();
    for _ in 0..8 {
        operands.extend([x, text, nan, ty]);
    }
    let wide = f.push(entry, note(operands)).unwrap();
    let block = f.add_block();
    for _ in 0..40 {
        f.append_param(block, Type::I64).unwrap();
    }
    f.set_terminator(entry, Inst::new(BR).edge(block, [x; 40])).unwrap();
    let one_line = print_inst(&f, wide);
    let printed = f.to_string();
    let mut joined = String::new();
    for (i, line) in printed.lines().enumerate() {
        assert!(line.len() <= 100, "{line}");
        if line.starts_with("      ") {
            let before = printed.lines().nth(i - 1).unwrap();
            assert!(before.ends_with([',', '(', '<']), "{before}");
            assert!(!before.ends_with("nan("));
            assert!(!line.trim_start().starts_with([')', '>', ']', '}']), "{line}");
            assert!(!line.ends_with(' '));
            joined.push_str(if before.ends_with(',') { " " } else { "" });
            joined.push_str(line.trim_start());
        } else {
            joined.push('\n');
            joined.push_str(line);
        }
    }
    assert!(joined.contains(&format!("\n  {one_line}\n")), "{joined}");
    assert!(joined.contains("\n^2(%3: i64, %4: i64, "), "{joined}");
}

#[test]
fn the_widest_instruction_prints() {
    let ctx = context();
    let mut f = Function::new(&ctx, "f", &[Type::I64], Type::UNIT);
    let entry = f.entry().unwrap();
    let x = Operand::from(f.param(entry, 0).unwrap());
    f.push(entry, note(vec![x; crate::MAX_OPERANDS])).unwrap();
    let printed = f.to_string();
    assert_eq!(printed.matches("%1").count(), crate::MAX_OPERANDS + 1);
}

#[test]
fn a_conditional_branch_prints_targets_and_their_arguments() {
    let ctx = context();
    let mut f = Function::new(&ctx, "f", &[Type::BOOL], Type::UNIT);
    let entry = f.entry().unwrap();
    let x = Operand::from(f.param(entry, 0).unwrap());
    let (a, b) = (f.add_block(), f.add_block());
    f.append_param(a, Type::BOOL).unwrap();
    f.set_terminator(entry, inst(COND, [x, a.into(), x, b.into()])).unwrap();
    assert_eq!(print_inst(&f, Value::terminator(entry)), "t.cond %1, ^2(%1), ^3");
}
