//! The text of the prelude as it is read: statement by statement, methods when they are needed.

use regraft_dialects::context;
use regraft_lang::Session;
use regraft_lang::testing::files;
use regraft_lang::testing::statements::{Kind, Owner, statements};
use regraft_syntax::julia::{self, Kind as Expr, Options};

#[test]
fn statements_are_found_where_the_parser_finds_them() {
    let ctx = context();
    let mut at_once = 0;
    for (name, text) in files() {
        let parsed =
            julia::parse(&ctx, name, text, Options { prelude: true, ..Options::default() });
        assert!(parsed.errors.is_empty(), "{name}: {:?}", parsed.errors);
        let ast = parsed.ast;
        let ours: Vec<_> = statements(text).collect();
        assert_eq!(ours.len(), ast.statements().len(), "{name}");
        for (ours, &theirs) in ours.iter().zip(ast.statements()) {
            let span = ast.span(theirs).range();
            let (start, end) = (ours.range.start as usize, ours.range.end as usize);
            let part = &text[start..end];
            assert!(start <= span.start && span.end <= end, "{name}: {part}");
            let mut definition = theirs;
            while let Expr::Inbounds(inner) = ast.kind(definition) {
                definition = inner;
            }
            let defines = matches!(ast.kind(definition), Expr::Function { body: Some(_), .. });
            let kind = ast.kind(definition);
            let is_right = match ours.kind {
                Kind::Method(_) => defines,
                Kind::Declaration(_) => matches!(kind, Expr::Struct { .. } | Expr::Abstract { .. }),
                Kind::Alias(_) | Kind::Constant(_) => matches!(kind, Expr::Const(_)),
                Kind::Function(_) => matches!(kind, Expr::Function { body: None, .. }),
                Kind::Other => true,
            };
            assert!(is_right, "{name}: {part}");
            at_once += usize::from(ours.kind == Kind::Other);
        }
    }
    assert!(at_once < 20, "{at_once} statements are parsed at the start");
}

#[test]
fn what_methods_are_of_stands_in_the_first_line() {
    let text = "# a comment\n\n@inline f(x) =\n    x\nfunction endswith(x)\n    x\nend\n\
                (c::__C{T})(x) where T = x\n(::Type{Array{T}})(x) where T = x\n==(x, y) = true\n\
                const a = f(1)\n@noinline function -(x)\n    x\nend\nstruct P\n    x\nend\nf(1)\n\
                abstract type A{T} <: B end\nmutable struct M{T}\nend\nconst C = P{Int64}\n\
                const D = P\nconst E = __new(P{:E})\nconst F = __new(P, 1)\nfunction g end\nmacro m(x)\n    x\nend\nλ(x) = x\n≈(x, y) = x";
    let found: Vec<_> = statements(text).map(|statement| statement.kind).collect();
    let named = |name| Kind::Method(Owner::Named(name));
    let expected = [
        named("f"),
        named("endswith"),
        Kind::Method(Owner::Instance("__C")),
        Kind::Method(Owner::Type("Array")),
        named("=="),
        Kind::Other,
        named("-"),
        Kind::Declaration("P"),
        named("f"),
        Kind::Declaration("A"),
        Kind::Declaration("M"),
        Kind::Alias("C"),
        Kind::Constant("D"),
        Kind::Constant("E"),
        Kind::Other,
        Kind::Function("g"),
        Kind::Method(Owner::Macro("m")),
        named("λ"),
        named("≈"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn every_method_of_the_prelude_belongs_where_its_first_line_says() {
    let ctx = context();
    let mut session = Session::new(&ctx);
    session.with_world(regraft_lang::world::World::define_all_deferred);
    let sum = session.run("sum.jl", "sum([1, 2, 3])").expect("it runs");
    assert_eq!(session.show(&sum), "6");
}
