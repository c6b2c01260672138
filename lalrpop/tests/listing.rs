//! Listings of Julia's IR: what they are read as, and their errors.

use regraft_syntax::listing::{Parsed, is_listing, parse};

fn read(text: &str) -> Parsed {
    parse(&regraft_dialects::context(), "test.lowered", text)
}

/// The definition that a listing is read as, as an S-expression.
fn tree(text: &str) -> String {
    let ctx = regraft_dialects::context();
    let parsed = parse(&ctx, "test.lowered", text);
    assert!(parsed.errors.is_empty(), "{text}\n{:?}", parsed.errors);
    parsed.ast.to_sexpr(&ctx)
}

/// The tree of a statement that gives `%1`, in a function of `x`.
#[track_caller]
fn statement(text: &str) -> String {
    let whole = format!("f(x)\nCodeInfo(\n1 ─ %1 = {text}\n└──      return %1\n)\n");
    let tree = tree(&whole);
    let (_, rest) = tree.split_once("(= %1 ").unwrap_or_else(|| panic!("{tree}"));
    let (value, _) = rest.rsplit_once(") (return %1)").unwrap_or_else(|| panic!("{tree}"));
    value.to_owned()
}

#[test]
fn statements_are_read_as_the_language_writes_them() {
    for (listed, written) in [
        ("x * 2", "x * 2"),
        ("2 % x", "2 % x"),
        ("Base.add_int(x, 1)::Int64", "Base.add_int(x, 1)"),
        ("(Core.Intrinsics.add_int)(x, 1)::Int64", "GLOBAL"),
        ("Main.f(x)::Float64", "Main.f(x)::Float64"),
        ("Main.f(x)::Any", "Main.f(x)"),
        ("Main.f(x)::Union{}", "Main.f(x)"),
        ("Main.f(x)::Core.Const(2)", "Main.f(x)"),
        ("Main.f(x)::@NamedTuple{a::Int64}", "Main.f(x)"),
        ("Main.f(x)::Vector{Float64}", "Main.f(x)::Vector{Float64}"),
        ("invoke Main.f(x::Float64, 2::Int64)::Float64", "Main.f(x, 2)::Float64"),
        ("  builtin Base.getfield(x, :a)::Float64", "Base.getfield(x, :a)"),
        ("intrinsic Base.neg_int(x)::Int64", "Base.neg_int(x)"),
        ("  dynamic Main.f(x)", "Main.f(x)"),
        ("π (x, Int64)", "x::Int64"),
        ("Core.typeassert(x, Main.Int64)", "x::Main.Int64"),
        ("$(Expr(:boundscheck, true))", "true"),
        ("$(Expr(:boundscheck))", "true"),
        ("$(QuoteNode(:name))", ":name"),
        ("($(QuoteNode(Float64)))(x)", "(Float64)(x)"),
        ("Main.:+(x, 1)", "Main.:+(x, 1)"),
        ("(Main.P{A, T} where T)(x)", "(Main.P{A})(x)"),
        ("(Main.P{A} where A)(x)", "(Main.P)(x)"),
        ("\"a │ %1 (\"", "\"a │ %1 (\""),
        ("Main.f('(', x')", "Main.f('(', x')"),
        ("(x,)", "(x,)"),
        ("(a = x, b = 1)", "(a = x, b = 1)"),
        ("-1.5f0", "-1.5f0"),
        ("0x0a", "0x0a"),
        (":x", ":x"),
    ] {
        let found = statement(listed);
        if written == "GLOBAL" {
            assert!(found.contains("add_int") && found.contains("Base"), "{found}");
            continue;
        }
        let ctx = regraft_dialects::context();
        let options = regraft_syntax::julia::Options::default();
        let parsed = regraft_syntax::julia::parse(&ctx, "test.jl", written, options);
        assert!(parsed.errors.is_empty(), "{written}");
        assert_eq!(found, parsed.ast.to_sexpr(&ctx).trim(), "{listed}");
    }
}

#[test]
fn jumps_become_gotos_and_phis_assignments_on_edges() {
    let text = "1 ─ nothing::Nothing\n2 ┄ %2 = φ (#1 => 0, #3 => %3)::Int64\n\
                │   %3 = φ (#1 => _2, #3 => %2)::Int64\n└── goto #4 if not _3\n\
                3 ─ goto #2\n4 ─ return %2\n";
    let tree = tree(text);
    let at = |piece: &str| tree.find(piece).unwrap_or_else(|| panic!("{piece} in {tree}"));
    // Both φs get their values before either changes.
    assert!(at("(= %2 next 0)") < at("(= %2 %2 next)"), "{tree}");
    assert!(at("(= %3 next %2)") < tree.rfind("(= %2 %2 next)").unwrap(), "{tree}");
    assert_eq!(tree.matches("%3 next").count(), 4, "{tree}");
}

#[test]
fn names_and_parameters_come_from_what_stands_before_a_listing() {
    let code = "CodeInfo(\n1 ─ %1 = x + 1\n└──      return %1\n)\n";
    let slots = "1 ─ %1 = _2 + 1\n└──      return %1\n";
    for (text, name, params) in [
        (code.to_owned(), "test", "x"),
        (format!("g(x)\n{code}"), "g", "x"),
        (format!("function g(x)\n{code}"), "g", "x"),
        (format!("g(y, x::Int)\n{code}"), "g", "y (:: x Int)"),
        (format!("g(y, x...)\n{code}"), "g", "y (... x)"),
        (format!("# what it is\n\njulia> @code_lowered g(1)\n{code}"), "g", "x"),
        (format!("julia> @code_typed optimize=false M.g(1)\n{code}"), "g", "x"),
        (format!("julia> ci = @code_lowered debuginfo=:none g!(1)\n{code}"), "g!", "x"),
        (format!("julia> x = 2;\n\njulia> for i in 1:2\n         h(i)\n       end\n\n{code}"), "test", "x"),
        (format!("julia> code_lowered(g, (Int64,))\n{code}"), "g", "(:: _2 Int64)"),
        (format!("julia> Base.code_ircode_by_type(Tuple{{typeof(g), Int64}})\n{slots}"), "g", "(:: _2 Int64)"),
        (format!("julia> IRTools.IR(typeof(g), Int64)\n{slots}"), "g", "(:: _2 Int64)"),
        ("julia> @code_lowered g(1)\nCodeInfo(\n1 ─ %1 = ($(Expr(:static_parameter, 1)))(x)\n└──      return %1\n)\n".to_owned(), "g", "x"),
        (slots.to_owned(), "test", "_2"),
        (format!("g(x)\n{slots}"), "g", "x"),
        ("MethodInstance for g(::Int64)\n  from g(x::T) where T @ Main a.jl:1\nStatic Parameters\n  \
          T = Int64\nArguments\n  #self#::Core.Const(g)\n  x::Int64\nBody::Int64\n1 ─ return x\n"
            .to_owned(), "g", "(:: x T)"),
        ("MethodInstance for g(::Int64)\nArguments\n  #self#::Core.Const(g)\n  x::Int64\n  \
          y::Core.Const(1)\nBody::Int64\n1 ─ return x\n".to_owned(), "g", "(:: x Int64) y"),
        ("1: (%1, %2)\n  return %2\n".to_owned(), "test", "%2"),
        ("1: (%1 :: typeof(f), %2 :: Int64)\n  return %2\n".to_owned(), "test", "%2"),
    ] {
        let parsed = read(&text);
        assert!(parsed.errors.is_empty(), "{text}\n{:?}", parsed.errors);
        assert_eq!(parsed.names, [name], "{text}");
        assert!(parsed.warnings.is_empty(), "{text}");
        let tree = tree(&text);
        assert!(tree.contains(&format!("{name} ({params})")), "{params} in {tree}");
    }
}

#[test]
fn margins_and_columns_are_no_code() {
    let plain = tree(
        "f(x)\n1 ─ %1 = x + 1\n│   %2 = φ (#1 => 3)\n└── return %1\n"
            .replace("│   %2 = φ (#1 => 3)\n", "")
            .as_str(),
    );
    for text in [
        "f(x)\n1 ─ %1 = x + 1\n└──      return %1\n",
        "f(x)\n3 1 ─ %1 = x + 1   │╻╷ +\n4 └──      return %1 │\n",
        "f(x)\n   1 ─ %1 = x + 1  ││ \n     └──      return %1\n   => Int64\n",
        "f(x)\nCodeInfo(\n    @ REPL[1]:2 within `f`\n   ┌ @ int.jl:87 within `+`\n1 ─│ %1 = x + 1\n│  └\n└──      return %1\n) => Int64\n",
        "f(x)\nCodeInfo(\n1%1  = x + 1\n└──      return %1\n) => Int64\n",
        "f(x)\n2-element Vector{Any}:\n :(x + 1)\n :(return %1)\n",
    ] {
        // The statement of a vector that returns has a number as well.
        let tree = tree(text).replace("(= %2 (return %1))", "(return %1)");
        assert_eq!(tree, plain, "{text}");
    }
}

#[test]
fn errors_tell_what_is_wrong_and_where() {
    let code = |inner: &str| format!("f(x)\nCodeInfo(\n1 ─ {inner}\n)\n");
    for (text, message, place) in [
        (String::new(), "there is no listing in this text", ""),
        ("x = 3\n".to_owned(), "this is no line of a listing", "x = 3"),
        ("CodeInfo(\n1 ─ return 1\n".to_owned(), "this listing does not end", "CodeInfo("),
        ("CodeInfo(\nreturn 1\n)\n".to_owned(), "a statement stands in no block", "return 1"),
        (code("goto #7"), "there is no block 7", "#7"),
        (code("goto 7"), "a jump names a block", "7"),
        (code("goto #1 when %2"), "a jump ends behind its block", "when %2"),
        (code("%1 = φ (#5 => 1)"), "control does not get to block 1 from block 5", "#5 => 1"),
        (
            code("%1 = φ (#1 => 1, #1 => 2)\n│ goto #1"),
            "a `φ` has two values for block 1",
            "#1 => 2",
        ),
        (code("%1 = φ (5 => 1)"), "a `φ` has a value for each block before it", "5 => 1"),
        (code("%1 = φ (#1 => 1) + 1"), "a `φ` ends behind its brackets, or its type", "+ 1"),
        (
            code("%1 = φᶜ (%2, %3)"),
            "values that a `catch` meets (φᶜ) are not supported",
            "φᶜ (%2, %3)",
        ),
        (code("%1 = ϒ (%2)"), "values that are kept for a `catch` (ϒ) are not supported", "ϒ (%2)"),
        (
            code("$(Expr(:enter, #3))"),
            "exceptions in a listing are not supported",
            "$(Expr(:enter, #3))",
        ),
        (
            code("$(Expr(:foreigncall, :(:f), Int32))"),
            "`Expr(:foreigncall, …)` is not supported in a listing",
            "Expr(:foreigncall, :(:f), Int32)",
        ),
        (
            code("$(Expr(:new_thing, 1))"),
            "`Expr(:new_thing, …)` is not supported in a listing",
            "Expr(:new_thing, 1)",
        ),
        (code("%1 = %splatnew(T, x)"), "`%splatnew` is not supported", "%splatnew(T, x)"),
        (code("%1 = if x 1 else 2 end"), "this stands in no listing", "if x 1 else 2 end"),
        (code("%1 = (x"), "a bracket or a quote has no other one", "("),
        (code("%1 = x; y"), "this is not one expression", "x; y"),
        (code("%1 ="), "a statement is missing", "%1 ="),
        (code("Main.g = x"), "a listing assigns to slots only", "Main.g"),
        (code("return 1\n1 ─ return 2"), "the block 1 is there twice", "1 ─ return 2"),
        (
            "1: (%1)\n  br 2 (%1, 2)\n2: (%3)\n  return %3\n".to_owned(),
            "block 2 has 1 parameters, and gets 2",
            "2",
        ),
        ("1: (x)\n  return 1\n".to_owned(), "a parameter of a block is a value", "x"),
        ("f(1)\n1 ─ return 1\n".to_owned(), "this is no parameter", "1"),
        (
            "1 ─ return 1\n\n1 ─ return 2\n".to_owned(),
            "this listing has no name, and is not the only one",
            "1 ─ return 1",
        ),
        (
            "julia> @code_lowered f(1)\n1 ─ return x + y\n".to_owned(),
            "f is called with 1 arguments, and the listing reads x, y",
            "1 ─ return x + y",
        ),
    ] {
        let parsed = read(&text);
        let Some(error) = parsed.errors.first() else { panic!("{text} is not wrong") };
        assert_eq!(error.message(), message, "{text}");
        assert_eq!(text.get(error.labels()[0].span.clone()), Some(place), "{text}");
    }
}

#[test]
fn all_errors_of_a_text_are_told() {
    let text = "CodeInfo(\n1 ─ goto when\n│   %1 = (x\n│   ϒ (%1)\n2 ─ return 1\n)\n";
    let messages: Vec<String> =
        read(text).errors.iter().map(|error| error.message().to_owned()).collect();
    assert_eq!(messages.len(), 3, "{messages:?}");
}

#[test]
fn what_is_assumed_is_a_warning() {
    let order = read("CodeInfo(\n1 ─ return y - x\n)\n");
    assert_eq!(
        order.warnings[0].message(),
        "the listing does not say in which order test takes its arguments: (y, x) is assumed"
    );
    assert_eq!(
        order.warnings[0].help_text(),
        Some("write the head of the method before it: test(y, x)")
    );
    let end = read("1: (%1)\n  %2 = 1 + 1\n");
    assert_eq!(
        end.warnings[0].message(),
        "the listing ends without a `return`: nothing is returned there"
    );
}

#[test]
fn a_text_of_listings_is_known_by_its_first_lines() {
    for text in
        ["CodeInfo(\n", "\n1 ─ return 1", "2 1 ── %1 = x", "1: (%1)", "julia> f(1)\nCodeInfo("]
    {
        assert!(is_listing(text), "{text}");
    }
    for text in ["", "func @f()", "f(x) = x", "CodeInfo(x)", "x ? 1 : (2)", "2 ─ return 1"] {
        assert!(!is_listing(text), "{text}");
    }
}

#[test]
fn long_listings_are_read_in_time_that_grows_with_their_length() {
    // Ten thousand blocks, each with a value that the next one needs.
    let mut text = String::from("f(x)\n1 ─ %1 = x + 1\n");
    for n in 2..10_000 {
        text.push_str(&format!("{n} ─ %{n} = %{} + 1\n└── goto #{}\n", n - 1, n + 1));
    }
    text.push_str("10000 ─ return %9999\n");
    assert!(read(&text).errors.is_empty());
    for hard in ["(", "[(", "%1 = ", "'", "\"", "goto #1 if not ", "φ (", "$("] {
        let line = format!("1 ─ {}\n", hard.repeat(20_000));
        assert!(!read(&line).errors.is_empty(), "{hard}");
    }
}
