//! The classes of words.

use regraft_syntax::julia::{Class, tokens};

#[test]
fn words_have_classes() {
    let text = "function f(x) # note\n @inbounds y = :a + \"s\" * 2.5' where T #= b =# end";
    let found: Vec<(&str, Class)> =
        tokens(text).into_iter().map(|(range, class)| (&text[range], class)).collect();
    use Class::{Comment, Keyword, Macro, Name, Number, Operator, String, Symbol};
    assert_eq!(
        found,
        [
            ("function", Keyword),
            ("f", Name),
            ("(", Operator),
            ("x", Name),
            (")", Operator),
            ("# note", Comment),
            ("@inbounds", Macro),
            ("y", Name),
            ("=", Operator),
            (":a", Symbol),
            ("+", Operator),
            ("\"s\"", String),
            ("*", Operator),
            ("2.5", Number),
            ("'", Operator),
            ("where", Keyword),
            ("T", Name),
            ("#= b =#", Comment),
            ("end", Keyword),
        ]
    );
}
