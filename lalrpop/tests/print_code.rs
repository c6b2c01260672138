//! Code that is data as text. What is expected is what Julia 1.10 prints for the same `Expr`.
//!
//! Trees are written as S-expressions: `(head args...)`, `:x` for a quoted symbol, `«a b»` for a
//! name with blanks, `@3` for line 3, `#0` for a value, `Main!f` for a name in a module,
//! `'x` for a quoted expression.

use std::sync::Arc;

use regraft_ir::Context;
use regraft_syntax::julia::{Ast, ExprId, Kind, Span};

struct Reader<'a> {
    ctx: Arc<Context>,
    ast: Ast,
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        let ctx = regraft_dialects::context();
        let source = ctx.add_source("f.jl", "\n\n\n\n\n\n\n\n").expect("it is short");
        Self { ctx, ast: Ast::empty(source), rest: text }
    }

    fn add(&mut self, kind: Kind, at: u32) -> ExprId {
        self.ast.add(kind, Span { start: at, end: at })
    }

    fn until(&mut self, end: impl Fn(char) -> bool) -> &'a str {
        let (text, rest) = self.rest.split_at(self.rest.find(end).unwrap_or(self.rest.len()));
        self.rest = rest;
        text
    }

    fn word(&mut self) -> &'a str {
        self.until(|c| c.is_whitespace() || c == ')')
    }

    fn read(&mut self) -> ExprId {
        self.rest = self.rest.trim_start();
        let first = self.rest.chars().next().expect("an expression");
        let inner = &self.rest[first.len_utf8()..];
        match first {
            '(' => {
                self.rest = inner;
                self.form()
            }
            '«' | '"' => {
                self.rest = inner;
                let end = if first == '«' { '»' } else { first };
                let text = self.until(|c| c == end);
                self.rest = &self.rest[end.len_utf8()..];
                let symbol = self.ctx.symbol(text);
                self.add(if first == '"' { Kind::Str(symbol) } else { Kind::Name(symbol) }, 0)
            }
            '\'' if !inner.is_empty() => {
                self.rest = inner;
                let inner = self.read();
                self.add(Kind::Quote(inner), 0)
            }
            _ => self.atom(),
        }
    }

    fn form(&mut self) -> ExprId {
        let head = self.word();
        let mut args = Vec::new();
        while !self.rest.trim_start().starts_with(')') {
            args.push(self.read());
        }
        self.rest = &self.rest.trim_start()[1..];
        let args = self.ast.add_list(&args);
        let head = self.ctx.symbol(head);
        self.add(Kind::Form { head, args }, 0)
    }

    fn atom(&mut self) -> ExprId {
        let word = self.word();
        let number = |rest: &str| rest.parse::<u32>().ok();
        let kind = match word.split_at(word.chars().next().map_or(0, char::len_utf8)) {
            ("@", rest) if number(rest).is_some() => {
                let file = Some(self.ctx.symbol("f.jl"));
                return self.add(Kind::Line { file, line: number(rest).unwrap_or(1) }, 0);
            }
            ("#", rest) if number(rest).is_some() => Kind::Value(number(rest).unwrap_or(0)),
            (":", rest) if !rest.is_empty() && word != "::" && word != ":=" => {
                Kind::Sym(self.ctx.symbol(rest))
            }
            _ => self.plain(word),
        };
        self.add(kind, 0)
    }

    fn plain(&self, word: &str) -> Kind {
        let begins_number = word.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
        match (word, word.split_once('!')) {
            ("true" | "false", _) => Kind::Bool(word == "true"),
            ("nothing", _) => Kind::Nothing,
            ("Inf" | "NaN", _) => Kind::Float(word.parse().expect("a number")),
            (_, Some((module, name))) if !module.is_empty() && !name.is_empty() && name != "=" => {
                Kind::GlobalRef { module: self.ctx.symbol(module), name: self.ctx.symbol(name) }
            }
            _ if !begins_number => Kind::Name(self.ctx.symbol(word)),
            _ => match (word.parse(), word.strip_suffix("f32").map(str::parse)) {
                (Ok(value), _) => Kind::Int(value),
                (_, Some(value)) => Kind::Float32(value.expect("a number")),
                _ => Kind::Float(word.parse().expect("a number")),
            },
        }
    }
}

fn value(number: u32) -> String {
    ["[1, 2]", "-7"].get(number as usize).copied().unwrap_or("?").to_string()
}

fn printed(tree: &str) -> String {
    let mut reader = Reader::new(tree);
    let id = reader.read();
    reader.ast.code_text(&reader.ctx, id, &value)
}

fn shown(tree: &str) -> String {
    let mut reader = Reader::new(tree);
    let id = reader.read();
    reader.ast.quoted_text(&reader.ctx, id, &value)
}

fn compare(cases: &[(&str, &str)], text_of: fn(&str) -> String) {
    let mut wrong = String::new();
    for (tree, expected) in cases {
        let text = text_of(tree);
        if text != *expected {
            wrong += &format!("{tree}\n  is       {text}\n  expected {expected}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn check(cases: &[(&str, &str)]) {
    compare(cases, printed);
}

fn check_shown(cases: &[(&str, &str)]) {
    compare(cases, shown);
}

#[test]
fn operators_stand_between_their_operands() {
    check(&[
        ("(call + a b)", "a + b"),
        ("(call + a b c)", "a + b + c"),
        ("(call : a b)", "a:b"),
        ("(call : 1 2 n)", "1:2:n"),
        ("(call ^ x 2)", "x ^ 2"),
        ("(call / a b)", "a / b"),
        ("(call .+ a b)", "a .+ b"),
        ("(call in x y)", "x in y"),
        ("(call isa x T)", "x isa T"),
        ("(<: A B)", "A <: B"),
        ("(call <: A B)", "A <: B"),
        ("(:: x T)", "x::T"),
        ("(:: T)", "::T"),
        ("(call => a b)", "a => b"),
        ("(call .. a b)", "a .. b"),
        ("(call |> a f)", "a |> f"),
        ("(call ∘ f g)", "f ∘ g"),
        ("(&& a b)", "a && b"),
        ("(.&& a b)", "a .&& b"),
        ("(comparison a < b <= c)", "a < b <= c"),
        ("(call Main!+ a b)", "a + b"),
    ]);
}

#[test]
fn brackets_keep_the_order_of_operations() {
    check(&[
        ("(call + x (call * y z))", "x + y * z"),
        ("(call * x (call + y z))", "x * (y + z)"),
        ("(call - (call - a b) c)", "(a - b) - c"),
        ("(call - a (call - b c))", "a - (b - c)"),
        ("(call ^ x (call ^ y z))", "x ^ (y ^ z)"),
        ("(call ^ (call - x) 2)", "(-x) ^ 2"),
        ("(call - (call ^ x 2))", "-(x ^ 2)"),
        ("(call ^ -1 a)", "(-1) ^ a"),
        ("(call ^ #1 a)", "(-7) ^ a"),
        ("(call ^ x -1)", "x ^ -1"),
        ("(&& a (&& b c))", "a && (b && c)"),
        ("(|| (&& a b) c)", "a && b || c"),
        ("(&& (|| a b) c)", "(a || b) && c"),
        ("(= a (= b c))", "a = (b = c)"),
        ("(call + (= x 1) 2)", "(x = 1) + 2"),
        ("(call == (call != a b) c)", "(a != b) == c"),
        ("(call + (call : a b) 1)", "(a:b) + 1"),
        ("(:: (call ! x) a)", "(!x)::a"),
        ("(comparison (comparison a < b < c) == d == e)", "(a < b < c) == d == e"),
        ("(call + (comparison a < b < c) 1)", "(a < b < c) + 1"),
    ]);
}

#[test]
fn unary_operators_have_brackets_around_forms() {
    check(&[
        ("(call - x)", "-x"),
        ("(call ! x)", "!x"),
        ("(call √ x)", "√x"),
        ("(call ! (call isempty x))", "!(isempty(x))"),
        ("(call - (call * a b))", "-(a * b)"),
        ("(call - (call + a b))", "-((a + b))"),
        ("(call - -)", "-(-)"),
        ("(call / x)", "(/)(x)"),
        ("(call .- x)", "(.-)(x)"),
        ("(call + + +)", "(+) + (+)"),
        ("(call + (... a) b)", "+(a..., b)"),
        ("(call < 1 2 3)", "<(1, 2, 3)"),
        ("(call : 1 2 3 4)", "(:)(1, 2, 3, 4)"),
        ("(call - (parameters x))", "-(; x)"),
    ]);
}

#[test]
fn coefficients_stand_before_names() {
    check(&[
        ("(call * 2 x)", "2x"),
        ("(call + (call * 2 x) 1)", "2x + 1"),
        ("(call ^ (call * 2 x) 2)", "(2x) ^ 2"),
        ("(call * 2 e1)", "2 * e1"),
        ("(call * 2.5 x)", "2.5x"),
        ("(call * 0 x)", "0 * x"),
        ("(call * 2 (call f x))", "2 * f(x)"),
        ("(call * Inf x)", "Inf * x"),
    ]);
}

#[test]
fn calls_and_indices() {
    check(&[
        ("(call f)", "f()"),
        ("(call f a 1)", "f(a, 1)"),
        ("(call f (parameters (kw c 1)) a)", "f(a; c = 1)"),
        ("(call f (parameters (... kw)))", "f(; kw...)"),
        ("(call f a (kw b c))", "f(a, b = c)"),
        ("(call f (= x 1))", "f($(Expr(:(=), :x, 1)))"),
        ("(call (call f x) y)", "(f(x))(y)"),
        ("(call (. A :f) x)", "A.f(x)"),
        ("(call (curly P T) x)", "P{T}(x)"),
        ("(call Main!f x)", "Main.f(x)"),
        ("(call #0 x)", "([1, 2])(x)"),
        ("(call f :x)", "f(:x)"),
        ("(. f (tuple x y))", "f.(x, y)"),
        ("(. + (tuple x y))", "(+).(x, y)"),
        ("(. +)", "(.+)"),
        ("(ref a i)", "a[i]"),
        ("(ref a)", "a[]"),
        ("(ref (ref a 1) (call - end 1))", "(a[1])[end - 1]"),
        ("(ref a (block x y))", "a[(x;\n        y)]"),
        ("(. x :name)", "x.name"),
        ("(. (. x :a) :b)", "x.a.b"),
        ("(. (call f x) :b)", "(f(x)).b"),
        ("(. Base :+)", "Base.:+"),
        ("(. Base :==)", "Base.:(==)"),
        ("(curly T (<: A) 1)", "T{<:A, 1}"),
        ("(' x)", "x'"),
        ("(' (call * A B))", "(A * B)'"),
        ("(... x)", "x..."),
    ]);
}

#[test]
fn collections() {
    check(&[
        ("(tuple)", "()"),
        ("(tuple a)", "(a,)"),
        ("(tuple a b)", "(a, b)"),
        ("(tuple (= a 1) (= b 2))", "(a = 1, b = 2)"),
        ("(tuple (parameters (kw a 1) b))", "(; a = 1, b)"),
        ("(tuple (parameters b) a)", "(a,; b)"),
        ("(tuple (parameters))", "(;)"),
        ("(vect a b)", "[a, b]"),
        ("(hcat a b)", "[a b]"),
        ("(vcat a b)", "[a; b]"),
        ("(vcat a)", "[a;]"),
        ("(vcat (row a b) (row c d))", "[a b; c d]"),
        ("(typed_vcat T (row a b) (row c d))", "T[a b; c d]"),
        ("(typed_hcat T a b)", "T[a b]"),
        ("(braces a b)", "{a, b}"),
        ("(comprehension (generator (call f x) (= x xs)))", "[f(x) for x = xs]"),
        ("(typed_comprehension Int (generator i (= i (call : 1 10))))", "Int[i for i = 1:10]"),
        ("(call sum (generator x (= x xs)))", "sum((x for x = xs))"),
        ("(generator x (= x a) (= y b))", "(x for x = a, y = b)"),
        ("(generator x (filter (call > x 0) (= x a)))", "(x for x = a if x > 0)"),
        (
            "(comprehension (flatten (generator (generator (tuple x y) (= y b)) (= x a))))",
            "[(x, y) for x = a for y = b]",
        ),
    ]);
}

#[test]
fn types_and_where() {
    check(&[
        ("(where A T)", "A where T"),
        ("(where (curly Array T) (<: T Real))", "Array{T} where T <: Real"),
        ("(where A T S)", "A where {T, S}"),
        ("(where (where A T) S)", "(A where T) where S"),
        ("(:: x (where A T))", "x::(A where T)"),
        ("(struct false A (block @2 (:: x Int)))", "struct A\n    #= f.jl:2 =#\n    x::Int\nend"),
        ("(struct true (<: (curly A T) B) (block))", "mutable struct A{T} <: B\nend"),
        ("(abstract (<: A B))", "abstract type A <: B end"),
        ("(module true M (block @1 (= x 1)))", "module M\n#= f.jl:1 =#\nx = 1\nend"),
        ("(module false M (block))", "baremodule M\nend"),
    ]);
}

#[test]
fn assignments() {
    check(&[
        ("(= a 1)", "a = 1"),
        ("(+= a 1)", "a += 1"),
        ("(.= a b)", "a .= b"),
        ("(.*= a b)", "a .*= b"),
        ("(= (tuple a b) (tuple b a))", "(a, b) = (b, a)"),
        ("(local x (= y 1))", "local x, y = 1"),
        ("(global x)", "global x"),
        ("(const (= x 1))", "const x = 1"),
        ("(return x)", "return x"),
        ("(return nothing)", "return"),
        ("(break)", "break"),
        ("(continue)", "continue"),
        ("(export a @m +)", "export a, @m, +"),
        ("(using (. A) (. . . B C))", "using A, ..B.C"),
        ("(import (: (. A) (. b) (as (. c) d)))", "import A: b, c as d"),
        ("(import (as (. A) B))", "import A as B"),
        ("(using Foo)", "$(Expr(:using, :Foo))"),
    ]);
}

#[test]
fn control_flow() {
    check(&[
        ("(if c a b)", "if c\n    a\nelse\n    b\nend"),
        ("(if c (block @2 a))", "if c\n    #= f.jl:2 =#\n    a\nend"),
        (
            "(if c (block a) (elseif (block @2 d) (block b) (block e)))",
            "if c\n    a\nelseif #= f.jl:2 =# d\n    b\nelse\n    e\nend",
        ),
        ("(if c (block a) (elseif d (block b)))", "if c\n    a\nelseif d\n    b\nend"),
        ("(for (= i xs) (block x))", "for i = xs\n    x\nend"),
        ("(for (block (= i xs) (= j ys)) (block x))", "for i = xs, j = ys\n    x\nend"),
        (
            "(while c (block (if d (block (break)))))",
            "while c\n    if d\n        break\n    end\nend",
        ),
        ("(let (block) (block x))", "let\n    x\nend"),
        ("(let (= a 1) (block x))", "let a = 1\n    x\nend"),
        ("(let (block (= a 1) b) (block x))", "let a = 1, b\n    x\nend"),
        ("(try (block a) e (block b))", "try\n    a\ncatch e\n    b\nend"),
        (
            "(try (block a) false (block b) (block c) (block d))",
            "try\n    a\ncatch\n    b\nelse\n    d\nfinally\n    c\nend",
        ),
        ("(try (block a) false false (block c))", "try\n    a\nfinally\n    c\nend"),
        ("(block)", "begin\nend"),
        ("(block a b)", "begin\n    a\n    b\nend"),
    ]);
}

#[test]
fn functions() {
    check(&[
        ("(function (call f x) (block @1 x))", "function f(x)\n    #= f.jl:1 =#\n    x\nend"),
        ("(function (call == a b) (block a))", "function ==(a, b)\n    a\nend"),
        (
            "(function (where (call f (:: x T)) T) (block x))",
            "function f(x::T) where T\n    x\nend",
        ),
        ("(function (:: (call f (parameters (kw a 1))) T) (block))", "function f(; a = 1)::T\nend"),
        ("(function (tuple x) (block x))", "function (x,)\n    x\nend"),
        ("(function f)", "function f end"),
        ("(macro (call m x) (block x))", "macro m(x)\n    x\nend"),
        (
            "(= (call f x) (block @3 (call + x 1)))",
            "f(x) = begin\n        #= f.jl:3 =#\n        x + 1\n    end",
        ),
        ("(= (where (call f x) T) x)", "(f(x) where T) = x"),
        ("(-> x (block x))", "x->begin\n        x\n    end"),
        ("(-> (tuple x y) (call + x y))", "(x, y)->x + y"),
        ("(call map (-> x x) xs)", "map((x->x), xs)"),
        (
            "(do (call map xs) (-> (tuple x) (block @1 x)))",
            "map(xs) do x\n    #= f.jl:1 =#\n    x\nend",
        ),
        ("(do (call f) (-> (tuple a b) (block)))", "f() do a, b\nend"),
    ]);
}

#[test]
fn macro_calls() {
    check(&[
        ("(macrocall @m @4 x y)", "#= f.jl:4 =# @m x y"),
        ("(macrocall @m nothing)", "@m"),
        ("(call + (macrocall @m nothing x y) z)", "@m(x, y) + z"),
        ("(block (macrocall @m @2 x))", "begin\n    #= f.jl:2 =# @m x\nend"),
        ("(macrocall (. A :@m) nothing x)", "A.@m x"),
        ("(macrocall Base!@m nothing x)", "Base.@m x"),
        ("(macrocall @# nothing a)", "@var\"#\" a"),
        ("(macrocall @raw_str nothing «a\\b»)", "@raw_str var\"a\\\\b\""),
        ("(macrocall @r_str nothing \"a\\b\" \"i\")", "r\"a\\b\"i"),
        ("(call f (macrocall @g nothing (= y 3)))", "f(@g(y = 3))"),
    ]);
}

#[test]
fn literals() {
    check_shown(&[
        ("1", "1"),
        ("1.0", "1.0"),
        ("-0.5", "-0.5"),
        ("100000.0", "100000.0"),
        ("1234567.0", "1.234567e6"),
        ("0.0001", "0.0001"),
        ("0.00012", "0.00012"),
        ("0.00001", "1.0e-5"),
        ("1e300", "1.0e300"),
        ("Inf", "Inf"),
        ("1.0f32", "1.0f0"),
        ("1e10f32", "1.0f10"),
        ("123.5f32", "123.5f0"),
        ("true", "true"),
        ("nothing", "nothing"),
        ("\"a$b\n\\\"", "\"a\\$b\\n\\\\\""),
        ("#0", "[1, 2]"),
        ("(call f #0)", ":(f([1, 2]))"),
        ("(call f 1.0f32 \"s\")", ":(f(1.0f0, \"s\"))"),
    ]);
    check(&[
        ("\"a$b\"", "a$b"),
        ("(string \"x\" y \"$\")", "\"x$(y)\\$\""),
        ("(string \"n \" (call f x))", "\"n $(f(x))\""),
        ("x", "x"),
        ("«a b»", "a b"),
    ]);
}

#[test]
fn names() {
    check_shown(&[
        ("x", ":x"),
        ("+", ":+"),
        ("=", ":(=)"),
        ("==", ":(==)"),
        ("+=", ":+="),
        ("&&", ":&&"),
        ("end", ":end"),
        ("'", "Symbol(\"'\")"),
        ("«a b»", "Symbol(\"a b\")"),
        ("##x#230", "Symbol(\"##x#230\")"),
        (":x", ":(:x)"),
        ("(call f ##x#230)", ":(f(var\"##x#230\"))"),
        ("(call foo @bar)", ":(foo(var\"@bar\"))"),
        ("(= «'» 5)", ":(var\"'\" = 5)"),
        ("(call f :|)", ":(f(:|))"),
        ("(call f 'x)", ":(f($(QuoteNode(:x))))"),
        ("(call f '(call g x))", ":(f($(QuoteNode(:(g(x))))))"),
        ("(call f '1)", ":(f($(QuoteNode(1))))"),
        ("Main!f", ":(Main.f)"),
        ("Base!*", ":(Base.:*)"),
        ("@3", ":(#= f.jl:3 =#)"),
    ]);
    check(&[(":x", ":x"), ("Main!f", "Main.f"), ("@3", "#= f.jl:3 =#"), ("(= n! 1)", "n! = 1")]);
}

#[test]
fn quoted_code() {
    check_shown(&[
        ("(call + a b)", ":(a + b)"),
        ("(block @1 x)", "quote\n    #= f.jl:1 =#\n    x\nend"),
        ("(if a (block b))", ":(if a\n      b\n  end)"),
        ("(struct false X (block @1))", ":(struct X\n      #= f.jl:1 =#\n  end)"),
        ("(= f (-> x (block x)))", ":(f = (x->begin\n              x\n          end))"),
        ("(quote (call + x 1))", ":($(Expr(:quote, :(x + 1))))"),
        ("($ x)", ":($(Expr(:$, :x)))"),
        ("(quote x)", ":(:x)"),
        ("(escape x)", ":($(Expr(:escape, :x)))"),
        ("(meta inline)", ":($(Expr(:meta, :inline)))"),
        ("(block (meta inline) x)", "quote\n    $(Expr(:meta, :inline))\n    x\nend"),
        ("(kw a b)", ":($(Expr(:kw, :a, :b)))"),
        ("(unknown (call f x) \"s\" 1)", ":($(Expr(:unknown, :(f(x)), \"s\", 1)))"),
        ("(symbollabel «a b»)", ":($(Expr(:symbollabel, Symbol(\"a b\"))))"),
    ]);
    check(&[
        ("(quote (call + x 1))", ":(x + 1)"),
        ("(quote (block x))", "quote\n    x\nend"),
        ("(call + ($ x) 1)", "$x + 1"),
        ("($ (call f x))", "$(f(x))"),
        ("(escape x)", "$(Expr(:escape, :x))"),
        ("(escape ($ x))", "$(Expr(:escape, :($(Expr(:$, :x)))))"),
    ]);
}

#[test]
fn deep_trees_end_with_dots() {
    let tree = format!("{}x{}", "(call f ".repeat(400), ")".repeat(400));
    assert_eq!(printed(&tree), format!("{}x{}", "f(".repeat(400), ")".repeat(400)));
    for head in ["call f ", "escape ", "block ", "quote ", "if c ", "= y "] {
        let tree = format!("{}x{}", format!("({head}").repeat(2000), ")".repeat(2000));
        assert!(printed(&tree).contains('…'));
        assert!(shown(&tree).contains('…'));
    }
}
