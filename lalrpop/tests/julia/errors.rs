//! Errors are reported where they are, all at once, and never by a panic.

use crate::{check_errors, messages, read};

#[test]
fn each_is_one_error_at_its_place() {
    check_errors(&[
        ("f(a b)", "expected an operator, `,` or `)`, found `b`", "b"),
        ("a b", "expected an operator or the end of the statement, found `b`", "b"),
        ("f(,)", "expected an expression, found `,`", ","),
        ("x = * 2", "expected an expression before `*`", "*"),
        ("f (x)", "expected an operator or the end of the statement, found `(`", "("),
        ("1 = x", "cannot assign to a literal", "1"),
        ("a + 1 += x", "cannot assign to the result of a call", "a + 1"),
        ("end", "`end` closes nothing", "end"),
        ("f(x))", "`)` closes nothing", ")"),
        ("else", "`else` without `if`", "else"),
        ("for x\n y\nend", "expected `in` and what is iterated over", ""),
        ("for 1 in x\n y\nend", "expected a name or a tuple of names before `in`", "1"),
        ("function f(1)\nend", "expected a parameter", "1"),
        ("function f\n x\nend", "the function has no parameters", "f"),
        ("f(x) -> x", "expected parameters before `->`", "f(x)"),
        ("@simd x", "expected a `for` loop after `@simd`", "@simd"),
        ("const x", "expected `name = value` after `const`", "const x"),
        ("(a, b = 1)", "either all items of a tuple have names or none has", "(a, b = 1)"),
        ("x = \u{1}", "unexpected character `\\u{1}`", "\u{1}"),
        ("x do y\n y\nend", "`do` needs a call before it, such as `map(xs) do x`", "do"),
        ("a..., b... = t", "only one `...` can take what is left", "a..., b..."),
        ("struct 1 end", "expected the name of a type", "1"),
    ]);
}

#[test]
fn several_errors_are_found_in_one_run() {
    let text = "function f(x)\n  y = x x\n  if a b c\n    z = 1 +* 2\n  end\n  g(1, 2 3, 4 5)\nend\n\
                h(x) = = 2\n";
    let found: Vec<String> = messages(text).into_iter().map(|(_, at)| at).collect();
    assert_eq!(found, ["x", "c", "*", "3", "5", "="]);
}

#[test]
fn what_is_not_closed_is_shown_where_it_begins() {
    check_errors(
        &[
            ("function f(x)\n x\n", "`function` is not closed by `end`", "function"),
            ("x = (1, 2", "`(` is not closed", "("),
            ("f(\n  if a\n b\n)\nend", "`)` closes nothing", ")"),
            ("begin\n f(x, [1, 2)\nend", "`[` is not closed", "["),
            ("x = f(1, 2\nfunction g()\n 1\nend", "`(` is not closed", "("),
            ("\"abc\nx", "the string is not closed", "\""),
            ("#= abc", "the comment is not closed", "#="),
            ("mutable struct P\n x", "`mutable struct` is not closed by `end`", "mutable struct"),
        ][..2],
    );
    check_errors(&[
        ("begin\n f(x, [1, 2)\nend", "`[` is not closed", "["),
        ("x = f(1, 2\nfunction g()\n 1\nend", "`(` is not closed", "("),
        ("\"abc\nx", "the string is not closed", "\""),
        ("#= abc", "the comment is not closed", "#="),
        ("mutable struct P\n x", "`mutable struct` is not closed by `end`", "mutable struct"),
    ]);
}

#[test]
fn text_that_ends_too_early_is_incomplete() {
    for text in [
        "function f(x)",
        "function f(x)\n",
        "if a\n b\nelse",
        "f(",
        "f(1,",
        "[1, 2",
        "x = ",
        "x +",
        "a ? b :",
        "begin",
        "for i in 1:3",
        "for i in",
        "for",
        "while",
        "let x = 1",
        "\"\"\"abc",
        "#= abc",
        "f(x) do y",
        "struct P\n x",
        "x ->",
        "a &&",
        "function",
        "x = (a; b",
        "return (",
        "a, b =",
        "if a b else",
        "x::",
        "T where",
        "f.(",
        "a.",
        "@inbounds",
        "map(xs) do x\n x +",
    ] {
        let (parsed, _) = read(text);
        assert!(parsed.incomplete, "{text}: {:?}", parsed.errors);
        assert!(!parsed.errors.is_empty());
    }
    for text in ["f(x) = 1", "f(1,) )", "x = )", "a b", "f(a b", "\"abc", "end", "if a b c"] {
        let (parsed, _) = read(text);
        assert!(!parsed.incomplete, "{text}");
    }
}

#[test]
fn deep_nesting_is_an_error_not_a_crash() {
    let n = 100_000;
    let texts = [
        "(".repeat(n),
        format!("{}x{}", "(".repeat(n), ")".repeat(n)),
        format!("x = {}1", "-".repeat(n)),
        format!("x = {}1", "- ".repeat(n)),
        format!("{}1", "1 - ".repeat(n)),
        format!("{}1", "a^".repeat(n)),
        format!("{}1", "a = ".repeat(n)),
        format!("{}1", "x -> ".repeat(n)),
        format!("{}1", "c ? 1 : ".repeat(n)),
        format!("f{}", "(1)".repeat(n)),
        format!("f{}", "[1]".repeat(n)),
        format!("f{}", ".a".repeat(n)),
        format!("f{}", "'".repeat(n)),
        format!("{}{}", "[".repeat(n), "]".repeat(n)),
        "if a\n".repeat(n),
        format!("{}{}", "if a\n".repeat(n), "end\n".repeat(n)),
        format!("if a\n{}end", "elseif b\n".repeat(n)),
        format!("{}1{}", "begin ".repeat(n), " end".repeat(n)),
        "function f()\n".repeat(n),
        format!("T{}", " where A".repeat(n)),
        format!("T{}", " where {A}".repeat(n)),
        format!("a{}", "::a".repeat(n)),
        "@inbounds ".repeat(n),
        "return ".repeat(n),
        format!("{}1", "a && ".repeat(n)),
        "f(x) do\n".repeat(n),
        "#=".repeat(n),
        "[x for x in ".repeat(n),
        "\"$(".repeat(n),
        ")".repeat(n),
        "end\n".repeat(n),
        "a b\n".repeat(n),
        "f(a b) ".repeat(n),
        "try\n".repeat(n),
    ];
    for text in texts {
        let (parsed, _) = read(&text);
        assert!(!parsed.errors.is_empty(), "{}", &text[..40]);
        assert!(parsed.errors.len() <= 101);
    }
    // Flat text may be as long as it likes.
    let (parsed, _) = read(&format!("x = {}1", "1 + ".repeat(n)));
    assert!(parsed.errors.is_empty(), "{:?}", parsed.errors);
    // What is as deep as it may be is read.
    let (parsed, _) = read(&format!("{}x", "!".repeat(190)));
    assert!(parsed.errors.is_empty());
}
