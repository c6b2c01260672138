//! Julia that is not of the subset is named.

use crate::{check_errors, messages};

#[test]
fn each_is_one_error_that_names_it() {
    check_errors(&[
        ("`ls`", "commands (`` ` ``) are not supported", "`ls`"),
        ("a .&& b", "the operator `.&&` is not supported", ".&&"),
        ("a --> b", "the operator `-->` is not supported here", "-->"),
        ("primitive type P 8 end", "primitive types are not supported", "primitive type"),
        ("x = {1, 2}", "`{…}` that is not applied to a type is not supported", "{"),
        ("struct P\n x = 1\nend", "default values of fields are not supported", "x = 1"),
        ("a .< b .< c", "`.<` in a chain of comparisons is not supported", ".<"),
    ]);
}

#[test]
fn what_stands_around_it_is_still_read() {
    let text = "f(x) = x\n{\n 1 2 3\n}\n@elapsed 1 2\ng(a b)\nx = 'cd' + )\n";
    let found: Vec<String> = messages(text).into_iter().map(|(message, _)| message).collect();
    assert_eq!(
        found,
        [
            "`{…}` that is not applied to a type is not supported",
            "expected an operator, `,` or `)`, found `b`",
            "a character literal holds one character; text stands in `\"`",
            "`)` closes nothing",
        ]
    );
}
