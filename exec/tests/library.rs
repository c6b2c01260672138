//! Errors in the library show the line of the user's program.

use std::rc::Rc;
use std::sync::Arc;

use regraft_exec::value::Names;
use regraft_exec::{Engine, Interpreter};
use regraft_ir::{Context, Diagnostic, Loc, Module, Symbol};

const PRELUDE: &str = "# the library\nfoo(x) = bar(x)\nbar(x) = 10 ÷ x\n";
const MAIN: &str = "main(x) = foo(x)\nmain(0)\n";

/// `@main` calls `@foo` calls `@bar`, which divides; the locations are what `locate` says of
/// each, given the places of the words in the two sources.
fn report(
    locate: impl Fn(&Arc<Context>, &dyn Fn(&str) -> Loc, &dyn Fn(&str) -> Loc) -> [Loc; 3],
) -> (Diagnostic, Arc<Context>) {
    report_by(locate, None)
}

type MakeNames = fn(Arc<Context>) -> Rc<dyn Names>;

/// The same in the names of a language.
fn report_by(
    locate: impl Fn(&Arc<Context>, &dyn Fn(&str) -> Loc, &dyn Fn(&str) -> Loc) -> [Loc; 3],
    names: Option<MakeNames>,
) -> (Diagnostic, Arc<Context>) {
    let text = "func @bar(%1: i64) -> i64 {\n^1:\n  %2: i64 = arith.div 10, %1\n  return %2\n}\n\
                func @foo(%1: i64) -> i64 {\n^1:\n  %2: i64 = call @bar(%1)\n  return %2\n}\n\
                func @main(%1: i64) -> i64 {\n^1:\n  %2: i64 = call @foo(%1)\n  return %2\n}\n";
    let ctx = regraft_dialects::context();
    let mut module: Module = regraft_syntax::parse_and_verify(&ctx, "test.ir", text).unwrap();
    let prelude = ctx.add_source("prelude/base.jl", PRELUDE).unwrap();
    let main = ctx.add_source("main.jl", MAIN).unwrap();
    let locs = locate(&ctx, &|word| prelude.loc(PRELUDE.find(word).unwrap()), &|word| {
        main.loc(MAIN.find(word).unwrap())
    });
    for (name, loc) in ["bar", "foo", "main"].into_iter().zip(locs) {
        let f = module.function_mut(name).unwrap();
        let v = f.value_by_number(2).unwrap();
        f.set_loc(v, loc).unwrap();
    }
    let mut interpreter = Interpreter::new(&module);
    if let Some(names) = names {
        interpreter.host_mut().set_names(names(Arc::clone(&ctx)));
    }
    let error = interpreter.call("main", &[0i64.into()]).unwrap_err();
    (error.to_diagnostic(), ctx)
}

/// The names of a language that writes those of functions as they are.
struct Bare(Arc<Context>);

impl Names for Bare {
    fn function_name(&self, function: Symbol) -> Option<String> {
        Some(self.0.str(function).to_owned())
    }
}

#[test]
fn the_language_names_functions_that_were_inlined_too() {
    let names: MakeNames = |ctx| Rc::new(Bare(ctx));
    let locate = |ctx: &Arc<Context>, base: &dyn Fn(&str) -> Loc, main: &dyn Fn(&str) -> Loc| {
        let inlined = ctx.inlined_loc(base("10 ÷"), ctx.symbol("div"), main("foo(x)"));
        [inlined, main("main(x)"), main("main(0)")]
    };
    let (report, _) = report_by(locate, Some(names));
    let found = report.notes();
    assert_eq!(found[0], "in div, at prelude/base.jl:3:10");
    assert_eq!(found[1], "called from foo, at main.jl:1:1");
}

#[test]
fn the_line_is_that_of_the_user() {
    let (report, _) = report(|_, base, main| [base("10 ÷"), base("bar(x)"), main("foo(x)")]);
    let text = report.render(false);
    assert!(text.contains("main.jl") && text.contains("main(x) = foo(x)"), "{text}");
    assert_eq!(
        report.notes(),
        ["in @bar, at prelude/base.jl:3:10", "called from @foo, at prelude/base.jl:2:10"]
    );
}

#[test]
fn library_code_that_was_inlined_is_seen_through() {
    let (report, _) = report(|ctx, base, main| {
        let inlined = ctx.inlined_loc(base("10 ÷"), ctx.symbol("div"), main("foo(x)"));
        [inlined, main("main(x)"), main("main(0)")]
    });
    let text = report.render(false);
    assert!(text.contains("main(x) = foo(x)"), "{text}");
    assert_eq!(
        report.notes(),
        [
            "in @div, at prelude/base.jl:3:10",
            "called from @foo, at main.jl:1:1",
            "called from @main, at main.jl:2:1"
        ]
    );
}

#[test]
fn without_a_line_of_the_user_the_place_in_the_library_is_shown() {
    let (report, _) = report(|_, base, _| [base("10 ÷"), base("bar(x)"), base("foo(x)")]);
    assert!(report.render(false).contains("bar(x) = 10 ÷ x"));
    assert_eq!(report.notes().len(), 2);
}
