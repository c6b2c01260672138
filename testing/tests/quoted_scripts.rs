//! Code that is quoted, printed, parsed or passed through a macro means what it meant.

use regraft_ir::Module;
use regraft_lang::{Entry, Session};
use regraft_testing::script::ScriptCase;

/// The typed module of the entry of a script, or why there is none.
fn typed(text: &str, entry: &str) -> Result<Module, String> {
    let mut session = Session::new(&regraft_dialects::context());
    let told = |errors: Vec<regraft_ir::Diagnostic>| regraft_ir::render_all(&errors, false);
    session.run("script.jl", text).map_err(told)?;
    session.typed(Entry::Types(entry)).map_err(told)
}

#[test]
fn scripts_that_go_through_quotes_and_macros_are_the_same() {
    let ways = [
        |text: &str| format!("eval(quote\n{text}\nend)"),
        |text: &str| format!("macro all(ex) esc(ex) end\n@all begin\n{text}\nend"),
        |text: &str| {
            let literal = format!("{:?}", format!("begin\n{text}\nend"));
            format!("eval(Meta.parse({}))", literal.replace('$', "\\$"))
        },
        // What is printed is read again.
        |text: &str| format!("eval(Meta.parse(string(quote\n{text}\nend)))"),
    ];
    for seed in 0..100 {
        let case = match seed % 2 {
            0 => ScriptCase::from_seed(seed),
            _ => ScriptCase::smooth_from_seed(seed),
        };
        let expected = typed(&case.text, &case.entry).expect("scripts are right").to_string();
        for (way, by) in ways.iter().enumerate() {
            // A macro of the library is expanded when its method is lowered, or with the quote around it. It takes
            // numbers that are in the names of closures then.
            if case.text.contains("@threads") {
                continue;
            }
            // `-(1.0)` is printed as the number that it is.
            if way == 3 && case.text.contains("-(") {
                continue;
            }
            let text = by(&case.text);
            match typed(&text, &case.entry) {
                Ok(module) => {
                    assert_eq!(module.to_string(), expected, "seed {seed}, way {way}\n{text}");
                }
                Err(errors) => panic!("seed {seed}, way {way}\n{errors}\n{text}"),
            }
        }
    }
}
