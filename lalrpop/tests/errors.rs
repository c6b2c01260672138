//! Errors are reported: all in one run, each where it is, none twice.

use regraft_ir::Diagnostic;
use regraft_syntax::{parse_and_verify, parse_module};

fn errors(text: &str) -> Vec<Diagnostic> {
    let ctx = regraft_dialects::context();
    let errors = parse_module(&ctx, "test.ir", text).expect_err("it is wrong");
    for error in &errors {
        for label in error.labels() {
            assert!(text.is_char_boundary(label.span.start), "{error:?}");
            assert!(text.is_char_boundary(label.span.end), "{error:?}");
        }
    }
    errors
}

/// The expected parts of one diagnostic: its message, what its first label marks, and its help.
type Expected<'a> = (&'a str, &'a str, Option<&'a str>);

fn check(text: &str, expected: &[Expected<'_>]) {
    let errors = errors(text);
    let found: Vec<Expected<'_>> = errors
        .iter()
        .map(|d| {
            let marked = d.labels().first().map_or("", |label| &text[label.span.clone()]);
            (d.message(), marked, d.help_text())
        })
        .collect();
    assert_eq!(found, expected, "{errors:?}");
}

/// The same for the body of a function `@f(%1: i64, %2: f64) -> i64` from its first block on.
fn check_body(body: &str, expected: &[Expected<'_>]) {
    check(&format!("func @f(%1: i64, %2: f64) -> i64 {{\n^1:\n{body}}}\n"), expected);
}

const NO_HELP: Option<&str> = None;

#[test]
fn five_errors_give_five_diagnostics_at_their_places() {
    let text = "\
func @f(%1: i64, %2: f46) -> i64 {
^1:
  %3: i64 = arith.ad %1, 1
  %4: i64 = arith.add %3,, 2
  br ^2(%4)
^2(%5: i64):
  %6: i64 = arith.sub %5, %99
  return %6
}

func @g() -> i64 {
^1:
  return 128i8
}
";
    check(
        text,
        &[
            ("unknown type `f46`", "f46", Some("did you mean `f64`?")),
            ("unknown op `arith.ad`", "arith.ad", Some("did you mean `arith.add`?")),
            ("expected an operand or a block such as `^1`, found `,`", ",", NO_HELP),
            ("value %99 is not defined", "%99", NO_HELP),
            ("`128i8` does not fit i8, whose range is -128 to 127", "128i8", NO_HELP),
        ],
    );
}

#[test]
fn what_was_meant_is_suggested() {
    check_body(
        "  retrun %1\n",
        &[("unknown op `retrun`", "retrun", Some("did you mean `return`?"))],
    );
    check_body(
        "  %acc = arith.add %1, 1\n  return %ac\n",
        &[("value %ac is not defined", "%ac", Some("did you mean `%acc`?"))],
    );
    check_body(
        "  br ^21\n^12:\n  return %1\n",
        &[("block ^21 is not defined", "^21", Some("did you mean `^12`?"))],
    );
    check_body("  br ^3\n", &[("block ^3 is not defined", "^3", Some("there are ^1"))]);
    check_body(
        "  %3: tupel<i64> = core.tuple %1\n  return %1\n",
        &[("unknown type `tupel`", "tupel", Some("did you mean `tuple`?"))],
    );
    check(
        "struct @Point {x: f64}\nfunc @f(%1: @Piont) {\n^1:\n  return %1\n}\n",
        &[("unknown struct @Piont", "@Piont", Some("did you mean `@Point`?"))],
    );
    check(
        "fucn @f(%1: i64) -> i64 {\n^1:\n  return %1\n}\n",
        &[("unknown op `fucn`", "fucn", Some("did you mean `func`?"))],
    );
    check_body(
        "  %3 = arith.sin %2\n  %4 = artih.add %1, 1\n  return %4\n",
        &[
            ("unknown op `arith.sin`", "arith.sin", Some("did you mean `math.sin`?")),
            ("unknown op `artih.add`", "artih.add", Some("did you mean `arith.add`?")),
        ],
    );
    check(
        "strutc @P {x: f64}\n",
        &[("unknown op `strutc`", "strutc", Some("did you mean `struct`?"))],
    );
}

#[test]
fn a_broken_line_still_defines_its_value() {
    check_body(
        "  %3: i64 = arith.add %1 %1\n  %4: i64 = arith.add %3, 1\n  br ^2(%3)\n^2(%5: i64):\n  return %4\n",
        &[("expected `loc`, `(`, `{`, `,` or the end of the line, found `%1`", "%1", NO_HELP)],
    );
    // A name as well, and one whose type or op is unknown.
    check_body(
        "  %x: i64 = = \n  %y: i65 = arith.add %1, 1\n  %z: i64 = arith.quux %1\n  %w = arith.add %x, %y\n  %v = arith.mul %w, %z\n  return %v\n",
        &[
            ("expected an op, found `=`", "=", NO_HELP),
            ("unknown type `i65`", "i65", Some("did you mean `i64`?")),
            ("unknown op `arith.quux`", "arith.quux", NO_HELP),
        ],
    );
}

#[test]
fn a_broken_head_leaves_the_body_readable() {
    check(
        "func @f(%1: f64 %x: i64) -> f64 {\n^1:\n  %3: i64 = arith.add %x, 1\n  br ^2(%3)\n^2(%4: i64, %5 f64):\n  %6: f64 = arith.mul %1, %5\n  return %7\n}\n",
        &[
            ("expected `)`, `<` or `,`, found `%x`", "%x", NO_HELP),
            ("expected `)`, `,` or `:`, found `f64`", "f64", NO_HELP),
            ("value %7 is not defined", "%7", NO_HELP),
        ],
    );
    check(
        "func f(%1: f64) -> f64 {\n^1:\n  return %1\n}\n",
        &[("expected a name such as `@f`, found `f`", "f", NO_HELP)],
    );
}

#[test]
fn a_bracket_or_comma_too_much_does_not_swallow_the_next_line() {
    check_body(
        "  br ^2(%1,\n^2(%3: i64):\n  %4: i64 = call @f(%3,\n  %5: i64 = arith.add %3, 1\n  %6 = arith.add %5, %4\n  return %6\n",
        &[
            ("expected an operand, found `^2`", "^2", NO_HELP),
            ("expected `)` or `,`, found `:`", ":", NO_HELP),
        ],
    );
    // But an error in a continued line takes its other lines with it.
    check_body(
        "  %3 = call @f(%1 %1,\n    %2,\n    %2)\n  return %1\n",
        &[("expected `)` or `,`, found `%1`", "%1", NO_HELP)],
    );
}

#[test]
fn missing_and_misplaced_lines_are_reported_once() {
    check("}\n", &[("`}` closes no function", "}", NO_HELP)]);
    check(
        "  %1 = arith.add 1, 2\n  br ^1\n^1:\n  return 1\n}\n",
        &[("instruction outside of a function", "%1 = arith.add 1, 2", NO_HELP)],
    );
    check(
        "func @f() -> i64 {\n^1:\n  return 1\nfunc @g(%x: i64) -> i64 {\n^1:\n  return %x\n",
        &[
            ("expected `}` before the next item", "func @g(%x: i64) -> i64 {", NO_HELP),
            ("expected `}` before the end of the file", "", NO_HELP),
        ],
    );
    check(
        "func @f() -> i64 {\n}\n",
        &[(
            "a function needs a block",
            "func @f() -> i64 {",
            Some("every function begins with a block, `^1:` say"),
        )],
    );
    check(
        "func @f() -> i64 {\n  %1: i64 = arith.add 1, 2\n  return %1\n}\n",
        &[(
            "instruction before the first block",
            "%1: i64 = arith.add 1, 2",
            Some("every function begins with a block, `^1:` say"),
        )],
    );
    let no_end = Some("its last instruction has to be one such as `br` or `return`");
    check_body(
        "  %3 = arith.add %1, 1\n^2:\n  return %1\n  return %1 # comment\n  %4 = arith.add %1, 1\n",
        &[
            ("block ^1 does not end with a terminator", "^1", no_end),
            ("instruction after the end of its block", "return %1", NO_HELP),
        ],
    );
    check(
        "func @f() -> i64 {\n^1(%1: i64):\n  return %1\n}\n",
        &[(
            "the first block cannot have parameters of its own",
            "%1",
            Some("its parameters are those of the function and stand in the line `func`"),
        )],
    );
}

#[test]
fn second_definitions_show_the_first() {
    let text = "\
struct @P {x: f64}
struct @P {y: f64}
func @f(%1: i64, %1: i64) -> i64 {
^1:
  %3: i64 = arith.add %1, 1
  %3: i64 = arith.add %1, 2
  %x: i64 = arith.add %1, 3
  br ^2
^2:
  br ^2
^2:
  %x: i64 = arith.add %1, 4
  return %3
}
func @f() -> i64 {
^1:
  return 1
}
";
    let errors = errors(text);
    let line = |at: usize| text[..at].matches('\n').count() + 1;
    let found: Vec<(&str, Vec<usize>)> = errors
        .iter()
        .map(|d| (d.message(), d.labels().iter().map(|label| line(label.span.start)).collect()))
        .collect();
    assert_eq!(
        found,
        [
            ("struct @P is defined twice", vec![2, 1]),
            ("value %1 is defined twice", vec![3, 3]),
            ("value %3 is defined twice", vec![6, 5]),
            ("block ^2 is defined twice", vec![11, 9]),
            ("value %x is defined twice", vec![12, 7]),
            ("function @f is defined twice", vec![15, 3]),
        ]
    );
}

#[test]
fn what_an_op_does_not_take_is_said_at_its_line() {
    check_body(
        "  %3 = arith.add %1, %2\n  %4 = arith.add %1\n  %5 = arith.add %1, 1 {foo=1}\n  br %2, ^1, ^1\n",
        &[
            (
                "operands of `arith.add` are of different types, i64 and f64",
                "%3 = arith.add %1, %2",
                NO_HELP,
            ),
            ("`arith.add` takes 2 operands, found 1", "%4 = arith.add %1", NO_HELP),
            ("`arith.add` has no attribute `foo`", "%5 = arith.add %1, 1 {foo=1}", NO_HELP),
            ("operand `condition` of `br` is of type f64, expected bool", "br %2, ^1, ^1", NO_HELP),
        ],
    );
    check_body(
        "  br ^2(%2, 1)\n^2(%3: i64):\n  return %3\n",
        &[("the edge to ^2 passes 2 arguments, ^2 has 1 parameter", "br ^2(%2, 1)", NO_HELP)],
    );
    check_body(
        "  br ^2(%2)\n^2(%3: i64):\n  return %3\n",
        &[(
            "argument 1 of the edge to ^2 is of type f64, the parameter of type i64",
            "br ^2(%2)",
            NO_HELP,
        )],
    );
}

#[test]
fn forms_of_one_op_are_not_those_of_another() {
    check_body(
        "  %3 = arith.add(%1, 1)\n  %4 = arith.add %1(1)\n  %5 = call @f, %1\n  return 1: ^1\n",
        &[
            (
                "expected an operand, a block such as `^1`, `loc`, `{` or the end of the line, found `(`",
                "(",
                NO_HELP,
            ),
            ("`arith.add` takes no operands in parentheses", "(", Some("write `arith.add %1, %2`")),
            (
                "`call` needs a callee and its operands in parentheses",
                "call",
                Some("write `call @f(%1, 2.0)`"),
            ),
            ("`return` has no cases", "1", NO_HELP),
        ],
    );
    check_body(
        "  switch %1, 1: ^1\n",
        &[(
            "the default target stands before the cases",
            "1",
            Some("write `switch %1, ^2, 10: ^3`"),
        )],
    );
    check_body("  %3 = br ^1\n", &[("`br` ends a block and defines no value", "%3", NO_HELP)]);
    check_body(
        "  br ^1, %1\n",
        &[(
            "an operand cannot stand behind a block",
            "%1",
            Some("arguments of an edge are written in parentheses: `^2(%1)`"),
        )],
    );
}

#[test]
fn literals_out_of_range_or_shape_are_errors() {
    let message = |literal: &str| {
        let errors = errors(&format!("func @f() {{\n^1:\n  return {literal}\n}}\n"));
        assert_eq!(errors.len(), 1, "{errors:?}");
        errors[0].message().to_owned()
    };
    for (literal, part) in [
        ("9223372036854775808", "does not fit i64"),
        ("-9223372036854775809", "does not fit i64"),
        ("99999999999999999999999999999999999999999999", "does not fit i64"),
        ("0x8000000000000000", "does not fit i64"),
        ("2147483648i32", "does not fit i32"),
        ("-32769i16", "does not fit i16"),
        ("1e999", "is too large for f64"),
        ("-3.5e38f32", "is too large for f32"),
        ("12abc", "`12abc` is no number"),
        ("1.", "`1.` is no number"),
        ("1.e5", "is no number"),
        ("1e", "is no number"),
        ("0x", "is no number"),
        ("1_000", "is no number"),
        ("3i7", "is no number"),
        ("1f32", "a float is written `1.0f32`"),
        ("nan(0x0)", "no NaN"),
        ("nan(0x7ff0000000000000)", "no NaN"),
        ("nan(0x1ffffffff)f32", "no NaN"),
        ("\"\\x\"", "unknown escape `\\x`"),
        ("\"\\u{d800}\"", "unknown escape `\\u`"),
        ("\"open", "the string is not closed"),
        ("@\"open", "the string is not closed"),
        ("\"\\", "the string is not closed"),
        ("%0", "cannot be, numbers begin with 1"),
        ("%99999999999999", "the number is too large"),
        ("%", "`%` needs the number or name of a value"),
        ("@", "`@` needs a name"),
        ("§", "unexpected character `§`"),
        ("\u{7}", "unexpected character `\\u{7}`"),
        ("!array<f64, 0>", "`0` is no rank of an array"),
        ("!array<f64>", "wrong arguments of type `array`"),
        ("!ref", "type `ref` needs arguments"),
        ("!f64<i64>", "type `f64` has no arguments"),
        ("!tuple<1>", "expected a type, found `1`"),
        ("!{a: f64, a: f64}", "field `a` is there twice"),
    ] {
        let found = message(literal);
        assert!(found.contains(part), "{literal}: {found}");
    }
}

#[test]
fn deep_nesting_is_an_error_and_no_overflow() {
    for open in ["tuple<", "{a: ", "ref<", "(", "{"] {
        let text = format!("func @f(%1: {}", open.repeat(100_000));
        assert!(!errors(&text).is_empty());
        let text = format!("func @f() {{\n^1:\n  return !{}\n}}\n", open.repeat(100_000));
        let found = errors(&text);
        assert_eq!(found.len(), 1, "{} errors", found.len());
    }
    let nested = |depth: usize| {
        let ty = format!("{}f64{}", "ref<".repeat(depth), ">".repeat(depth));
        format!("func @f() {{\n^1:\n  return !{ty}\n}}\n")
    };
    let found = errors(&nested(201));
    assert_eq!(found[0].message(), "brackets are nested more than 200 deep");
    parse_module(&regraft_dialects::context(), "deep.ir", &nested(200)).expect("just allowed");
}

#[test]
fn an_open_function_is_read_to_its_end() {
    check(
        "func @f(%1: i64) -> i64 {\n^1:\n  return %9\nfunc @g( -> i64 {\n^1:\n  return %8\nstruct @P {x}\n",
        &[
            ("value %9 is not defined", "%9", NO_HELP),
            ("expected `}` before the next item", "func @g( -> i64 {", NO_HELP),
            ("expected a value such as `%1` or `)`, found `->`", "->", NO_HELP),
            ("value %8 is not defined", "%8", NO_HELP),
            ("expected `}` before the next item", "struct @P {x}", NO_HELP),
            ("expected `:`, found `}`", "}", NO_HELP),
        ],
    );
}

#[test]
fn inferred_types_cannot_grow_without_limit() {
    // Each type holds the one before once, or twice.
    for elements in ["%N", "%N, %N"] {
        let mut text = String::from("func @f(%1: i64) {\n^1:\n");
        for i in 2..5000 {
            let elements = elements.replace('N', &(i - 1).to_string());
            text.push_str(&format!("  %{i} = core.tuple {elements}\n"));
        }
        text.push_str("  return %1\n}\n");
        let found = errors(&text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].message().contains("too large"), "{found:?}");
    }
}

#[test]
fn errors_that_repeat_take_linear_time() {
    let mut text = String::from("func @f(%1: i64) {\n^1:\n");
    text.push_str(&"  %1: i64 = arith.add %2, 1\n".repeat(100_000));
    text.push_str(&"^1:\n".repeat(100_000));
    text.push_str("  return %1\n}\n");
    assert_eq!(errors(&text).len(), 101);
    let text = format!("{}\n{}", "struct ".repeat(200_000), "mutable ".repeat(200_000));
    assert!(!errors(&text).is_empty());
    let text: String = (0..20_000).map(|i| format!("struct @S{i} {{}}\n")).collect();
    parse_module(&regraft_dialects::context(), "structs.ir", &text).expect("it is right");
    let attrs: Vec<String> = (0..100_000).map(|i| format!("a{i}=1")).collect();
    let text = format!("func @f() {{{}}} {{\n^1:\n  return 1\n}}\n", attrs.join(", "));
    assert_eq!(errors(&text).len(), 1);
}

#[test]
fn a_text_full_of_errors_gives_a_hundred_and_a_count() {
    let mut text = String::from("func @f() {\n^1:\n");
    text.push_str(&"  core.print %9\n".repeat(1234));
    text.push_str("  return 1\n}\n");
    let found = errors(&text);
    assert_eq!(found.len(), 101);
    assert_eq!(found[100].message(), "and 1134 more errors");
    let found = errors(&"%\n".repeat(1_000_000));
    assert_eq!(found.len(), 101);
    assert!(found[100].message().starts_with("and at least "));
}

#[test]
fn what_the_verifier_finds_is_reported_as_well() {
    let ctx = regraft_dialects::context();
    let text = "func @f(%1: bool) -> i64 {\n^1:\n  br %1, ^2, ^3\n^2:\n  %2: i64 = arith.add 1, 2\n  br ^3\n^3:\n  return %2\n}\n";
    parse_module(&ctx, "test.ir", text).expect("nothing is wrong with the text");
    let errors = parse_and_verify(&ctx, "test.ir", text).expect_err("%2 does not dominate its use");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].source_name(), Some("test.ir"));
    let marked: Vec<&str> =
        errors[0].labels().iter().map(|label| &text[label.span.clone()]).collect();
    assert_eq!(marked, ["return %2", "%2: i64 = arith.add 1, 2"]);
    // A stated type that is not what the op gives.
    let text = "func @f(%1: i64) -> i64 {\n^1:\n  %2: f64 = arith.add %1, 2\n  return %1\n}\n";
    let errors = parse_and_verify(&ctx, "test.ir", text).expect_err("%2 is an i64");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(&text[errors[0].labels()[0].span.clone()], "%2: f64 = arith.add %1, 2");
}
