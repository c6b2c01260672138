//! Code as data at its limits: whatever a program makes of it, the session goes on.

use regraft_exec::Limits;
use regraft_exec::value::Val;
use regraft_lang::Session;

/// A generator of numbers (Marsaglia's xorshift), so that runs are alike.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % below
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.next(from.len())]
    }
}

const HEADS: &[&str] = &[
    "call",
    "=",
    "block",
    "if",
    "elseif",
    "for",
    "while",
    "let",
    "function",
    "->",
    "tuple",
    "vect",
    "ref",
    "curly",
    "where",
    "::",
    ".",
    "...",
    "kw",
    "parameters",
    "quote",
    "$",
    "macrocall",
    "escape",
    "hygienic-scope",
    "comparison",
    "&&",
    "||",
    "+=",
    ".=",
    "local",
    "global",
    "const",
    "return",
    "break",
    "try",
    "struct",
    "abstract",
    "module",
    "using",
    "import",
    "export",
    "do",
    "generator",
    "comprehension",
    "flatten",
    "filter",
    "vcat",
    "hcat",
    "row",
    "typed_vcat",
    "string",
    "macro",
    "toplevel",
    "inert",
    "'",
    "<:",
    "new",
    "symbolicgoto",
    "symboliclabel",
    "meta",
    ":",
    "as",
    "no",
];

const LEAVES: &[&str] = &[
    ":x",
    ":y",
    ":f",
    ":+",
    ":(:)",
    "1",
    "2.5",
    "true",
    "false",
    "nothing",
    "\"text\"",
    "QuoteNode(:x)",
    "LineNumberNode(1, :f)",
    "GlobalRef(Main, :x)",
    "GlobalRef(Base, :sin)",
    "Main",
    "Int",
    "sin",
    "[1, 2]",
    ":end",
    ":begin",
    ":(x + 1)",
    ":(f(x) = x)",
    "Symbol(\"@show\")",
    "Symbol(\"@m\")",
    "Symbol(\"\")",
    "(1, 2)",
    "QuoteNode(:(a + b))",
    "Float32(1)",
];

/// A text that makes an expression.
fn expression(random: &mut Random, depth: usize) -> String {
    if depth == 0 || random.next(4) == 0 {
        return random.pick(LEAVES).to_owned();
    }
    let args: Vec<String> =
        (0..random.next(4)).map(|_| format!(", {}", expression(random, depth - 1))).collect();
    format!("Expr(Symbol(\"{}\"){})", random.pick(HEADS), args.concat())
}

fn session() -> Session {
    let mut session = Session::new(&regraft_dialects::context());
    session.set_limits(Limits { fuel: Some(100_000), depth: 200, memory: 1 << 24 });
    session
        .run("m.jl", "macro m(x...) esc(Expr(:block, x...)) end; x = 1; y = 2")
        .expect("it runs");
    session
}

#[test]
fn whatever_expression_is_evaluated_the_session_goes_on() {
    let mut random = Random(0x1357_9bdf_0246_8ace);
    let mut session = session();
    let (mut fine, mut wrong) = (0, 0);
    for round in 0..3000 {
        if round % 300 == 0 {
            session = self::session();
        }
        let code = expression(&mut random, 4);
        for program in
            [format!("eval({code})"), format!("string({code})"), format!("@macroexpand $({code})")]
        {
            match session.run("r.jl", &program) {
                Ok(_) => fine += 1,
                Err(errors) => {
                    wrong += 1;
                    assert!(!regraft_ir::render_all(&errors, false).is_empty(), "{program}");
                }
            }
        }
        session.take_output();
    }
    assert!(fine > 2000 && wrong > 1000, "{fine} {wrong}");
    let three = session.run("r.jl", "1 + 2").expect("the session goes on");
    assert_eq!(session.show(&three), "3");
}

#[test]
fn expressions_that_hold_themselves_or_are_too_deep_are_refused() {
    let mut session = session();
    let run = |session: &mut Session, text: &str| match session.run("r.jl", text) {
        Ok(value) => session.show(&value),
        Err(errors) => errors[0].message().to_owned(),
    };
    let cyclic = "e = Expr(:block); push!(e.args, e); eval(e)";
    assert!(
        run(&mut session, cyclic).contains("nested more than"),
        "{}",
        run(&mut session, cyclic)
    );
    let deep = "e = :x; for i in 1:1000; global e = Expr(:call, :-, e); end; eval(e)";
    let refused = run(&mut session, deep);
    assert!(refused.contains("nested more than"), "{refused}");
    assert!(run(&mut session, "string(e)").contains("Expr"));
    let wide = "e = Expr(:block); for i in 1:30; global e = Expr(:block, e, e); end; eval(e)";
    assert!(run(&mut session, wide).contains("parts"));
    assert_eq!(run(&mut session, "e.args = []; e.head = :vect; eval(e)"), "Any[]");
}

#[test]
fn macros_and_generators_run_within_the_limits() {
    let mut session = session();
    let run = |session: &mut Session, text: &str| match session.run("r.jl", text) {
        Ok(value) => session.show(&value),
        Err(errors) => errors[0].message().to_owned(),
    };
    assert!(run(&mut session, "macro endless() while true end end; @endless").contains("fuel"));
    assert!(
        run(&mut session, "macro deep(n) :(@deep $(n + 1)) end; @deep 1").contains("100 times")
    );
    let recursive = "macro r() f(n) = f(n + 1) + 1; f(1) end; @r";
    assert!(run(&mut session, recursive).contains("depth limit"));
    assert!(run(&mut session, "@generated g(x) = (while true end); g(1)").contains("fuel"));
    let nested = "@generated h(::Val{N}) where N = :(h(Val($(N + 1)))); h(Val(1))";
    assert!(!run(&mut session, nested).is_empty());
    let evals = "k(n) = eval(:(k($n + 1))); k(1)";
    assert!(
        run(&mut session, evals).contains("wait for each other"),
        "{}",
        run(&mut session, evals)
    );
    assert_eq!(run(&mut session, "1 + 2"), "3");
}

#[test]
fn what_is_evaluated_again_and_again_leaves_nothing() {
    let mut session = Session::new(&regraft_dialects::context());
    let program = "for i in 1:200; @eval leaf(x) = x + $(i % 10); leaf(1); end; leaf(1)";
    let value = session.run("r.jl", program).expect("it runs");
    assert!(matches!(value, Val::I64(1)), "{value:?}");
}
