//! Methods whose code is lowered when it is first asked for.

use std::cell::Cell;
use std::sync::Arc;

use regraft_ir::Context;
use regraft_lang::definition::{Item, MethodDef, MethodHead, Space};
use regraft_lang::testing::files;
use regraft_lang::testing::{Library, LowerOptions, Statement, lower};
use regraft_syntax::julia::{self, Ast, Options};

fn parse(ctx: &Arc<Context>, name: &str, text: &str, prelude: bool) -> Ast {
    let parsed = julia::parse(ctx, name, text, Options { prelude, ..Options::default() });
    assert!(parsed.errors.is_empty(), "{name}: {:?}", parsed.errors);
    parsed.ast
}

/// The methods that are defined at top level, lowered at once.
fn at_once(ctx: &Arc<Context>, ast: &Ast, space: Space) -> Vec<MethodDef> {
    let counter = Cell::new(0);
    let options =
        LowerOptions { soft_scope: false, is_global: &|_| false, space, counter: &counter };
    let items = lower(ctx, ast, &options).expect("the text is right");
    let methods = items.into_iter().filter_map(|item| match item {
        Item::Methods(methods) => Some(methods),
        _ => None,
    });
    methods.flatten().collect()
}

/// The same with the code lowered afterwards, from the last one to the first.
fn afterwards(ctx: &Arc<Context>, ast: Ast, space: Space) -> Vec<MethodDef> {
    let statements = Library::new(ctx, space).lower_signatures(ast).expect("the text is right");
    let mut later = Vec::new();
    for statement in statements {
        if let Statement::Signatures(methods) = statement {
            later.extend(methods);
        }
    }
    let mut methods: Vec<MethodDef> = Vec::new();
    for (mut def, code) in later.into_iter().rev() {
        assert_eq!(def.body.inst_count(), 0, "the code is left out");
        (def.body, def.closures) = code.lower().expect("the code is right");
        methods.push(def);
    }
    methods.reverse();
    methods
}

/// A method as text, with the numbers of functions without names left out: they are given in the
/// order in which code is lowered.
fn text(def: &MethodDef) -> String {
    let MethodHead { callee, params, statics, .. } = &def.head;
    let mut out = format!("{callee:?} {params:?} {statics:?}\n{}\n", def.body);
    for closure in &def.closures {
        out.push_str(&format!("captures {}\n", closure.captures.len()));
        closure.methods.iter().for_each(|method| out.push_str(&text(method)));
    }
    out
}

#[test]
fn the_whole_prelude_can_be_lowered() {
    let ctx = regraft_dialects::context();
    let mut count = 0;
    for (name, source) in files() {
        let ast = parse(&ctx, name, source, true);
        let now = at_once(&ctx, &ast, Space::Base);
        let later = afterwards(&ctx, ast, Space::Base);
        assert_eq!(now.len(), later.len(), "{name}");
        for (now, later) in now.iter().zip(&later) {
            assert_eq!(now.body.inst_count(), later.body.inst_count(), "{name}: {now:?}");
            assert_eq!(now.closures.len(), later.closures.len(), "{name}: {now:?}");
        }
        count += now.len();
    }
    assert!(count > 1000, "{count} methods");
}

#[test]
fn later_is_the_same_code() {
    let source = "
struct P{T}
    x::T
end
P(x, y) = P(x + y)
f(x, y = 2x, z = x + y) = x + y + z
f(x::P{T}, more...) where T = T(x.x)
function loop(n::Int)
    s = 0
    for i in 1:n
        i > 3 && continue
        s += i
    end
    return s
end
@inbounds g(a, i) = a[i]
(p::P)(y) = p.x * y
";
    let ctx = regraft_dialects::context();
    let ast = parse(&ctx, "later.jl", source, false);
    let now = at_once(&ctx, &ast, Space::Main);
    let later = afterwards(&ctx, ast, Space::Main);
    let text = |methods: &[MethodDef]| methods.iter().map(text).collect::<String>();
    assert_eq!(now.len(), 8, "the methods for default values count");
    assert_eq!(text(&now), text(&later));
}

#[test]
fn what_is_wrong_with_code_is_told_when_it_is_lowered() {
    let ctx = regraft_dialects::context();
    let ast = parse(&ctx, "wrong.jl", "f(x) = x\ng(x) = 2x\nh() = (break)\n", false);
    let library = Library::new(&ctx, Space::Main);
    let statements = library.lower_signatures(ast).expect("signatures alone");
    let mut outcomes = Vec::new();
    for statement in &statements {
        let Statement::Signatures(methods) = statement else { panic!("{statement:?}") };
        for (_, code) in methods {
            let outcome = code.lower().map(|_| ());
            assert_eq!(outcome.is_ok(), code.lower().is_ok(), "asked again, it is the same");
            outcomes.push(outcome.is_ok());
        }
    }
    assert_eq!(outcomes, [true, true, false], "a break is in a loop");

    let ast = parse(&ctx, "signature.jl", "f(x = 1, y) = x\n", false);
    assert!(library.lower_signatures(ast).is_err());
}
