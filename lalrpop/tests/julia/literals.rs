//! Numbers, strings, symbols, comments, names.

use crate::{check, check_errors, tree};

#[test]
fn numbers() {
    check(&[
        ("42", "42"),
        ("1_000", "1000"),
        ("1.5", "1.5"),
        ("1.", "1.0"),
        (".5", "0.5"),
        ("1e3", "1000.0"),
        ("1.5e-3", "0.0015"),
        ("1f0", "1.0f0"),
        ("2.5f-1", "0.25f0"),
        ("-2", "-2"),
        ("- 2", "(call - 2)"),
        ("x -2", "(call - x 2)"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("9223372036854775807", "9223372036854775807"),
        ("-1.5", "-1.5"),
        ("1:3", "(call : 1 3)"),
        ("x[1.]", "(index x 1.0)"),
        ("true", "true"),
        ("x & 0xff", "(call & x 0xff)"),
        ("0b101", "0x05"),
        ("0o777", "0x01ff"),
        ("0x00000001", "0x00000001"),
        ("-0x01", "(call - 0x01)"),
        ("0x1_00", "0x0100"),
        ("'c'", "'c'"),
        (r"'\n'", r"'\n'"),
        (r"'\''", r"'\''"),
        (r"'\u3b1'", "'α'"),
        ("1 // 2 * 3", "(call * (call // 1 2) 3)"),
        ("1 // 2 << 3", "(call // 1 (call << 2 3))"),
    ]);
    check_errors(&[
        (
            "10000000000000000000000000000000000000000",
            "`10000000000000000000000000000000000000000` is no number of at most 128 bits, and `BigInt` is not supported",
            "10000000000000000000000000000000000000000",
        ),
        (
            "0xfffffffffffffffffffffffffffffffff",
            "`0xfffffffffffffffffffffffffffffffff` is no number of at most 128 bits, and `BigInt` is not supported",
            "0xfffffffffffffffffffffffffffffffff",
        ),
        ("0b12", "`0b12` is not a number", "0b12"),
        ("'ab'", "a character literal holds one character; text stands in `\"`", "'ab'"),
        ("'a", "a character is not closed by `'`", "'a"),
        (r"'\q'", r"there is no escape `\q`", r"'\q'"),
        ("x + 1e400", "`1e400` does not fit Float64", "1e400"),
        ("1f39", "`1f39` does not fit Float32", "1f39"),
    ]);
}

#[test]
fn strings() {
    check(&[
        (r#""a b""#, r#""a b""#),
        (r#""""#, r#""""#),
        (r#""a\n\t\"\\\$""#, r#""a\n\t\"\\$""#),
        (r#""\u00e9\x41""#, r#""éA""#),
        ("\"\"\"\n  a\n    b\n  \"\"\"", r#""a\n  b\n""#),
        ("\"\"\"a \"b\" c\"\"\"", r#""a \"b\" c""#),
        ("\"é ∘\"", "\"é ∘\""),
    ]);
    check_errors(&[(r#""a\q""#, "there is no escape `\\q`", "\\q")]);
}

#[test]
fn symbols() {
    check(&[
        (":a", ":a"),
        (":+", ":+"),
        (":end", ":end"),
        ("x = :if", "(= x :if)"),
        ("f(:a, :b)", "(call f :a :b)"),
        ("a:b", "(call : a b)"),
        (":(a)", ":a"),
        (":(==)", ":=="),
        (":≤", ":≤"),
        ("[:a :b]", "(matrix (row :a :b))"),
        ("x == :a", "(call == x :a)"),
    ]);
}

#[test]
fn names() {
    check(&[
        ("π", "π"),
        ("x₁ + x′", "(call + x₁ x′)"),
        ("Δt = 1", "(= Δt 1)"),
        ("∂f∂x", "∂f∂x"),
        ("x2", "x2"),
        ("_", "_"),
        ("a!b", "a!b"),
        ("mutable = 1", "(= mutable 1)"),
        ("type", "type"),
        ("Inf", "Inf"),
        ("nothing", "nothing"),
    ]);
}

#[test]
fn comments_are_blank_space() {
    check(&[
        ("a # b", "a"),
        ("a #= b =# + c", "(call + a c)"),
        ("#= a #= b =# c\n =# d", "d"),
        ("# only", ""),
        ("", ""),
        ("\n\n;\n", ""),
        ("f(a, # one\n b) # two", "(call f a b)"),
    ]);
}

#[test]
fn names_of_the_prelude_that_no_user_can_write() {
    use regraft_syntax::julia::{Options, parse};
    let ctx = regraft_ir::Context::new(std::sync::Arc::default());
    let parsed =
        parse(&ctx, "p.jl", "__start(x) = x.__y", Options { prelude: true, ..Options::default() });
    assert_eq!(parsed.ast.to_sexpr(&ctx), "(function #start (x) (. x #y))");
    assert_eq!(tree("__start"), "__start");
}
