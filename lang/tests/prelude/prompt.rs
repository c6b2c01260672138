//! Questions of a prompt to a session: lists of methods, values in the room that there is, files that
//! are included, types that are declared anew.

use regraft_exec::Val;
use regraft_lang::Session;

fn session(text: &str) -> Session {
    let mut session = Session::new(&regraft_dialects::context());
    eval(&mut session, text);
    session
}

fn eval(session: &mut Session, text: &str) -> String {
    match session.eval(text) {
        Ok(value) => session.show(&value),
        Err(errors) => format!("error: {}", errors[0].message()),
    }
}

fn display(text: &str, rows: usize, columns: usize) -> String {
    let mut session = session("");
    let value = session.eval(text).expect("it has a value");
    session.display(&value, rows, columns)
}

#[test]
fn methods_are_listed_with_their_places() {
    let mut session = session("f(x) = 1");
    eval(&mut session, "f(x::Int, y...) = 2");
    let list = session.methods_of("f").expect("it is a function");
    assert_eq!(
        list.to_string(),
        "# 2 methods for generic function \"f\" from Main:\n \
         [1] f(x::Int64, y...)\n     @ REPL[2]:1\n [2] f(x)\n     @ REPL[1]:1"
    );
    assert_eq!(eval(&mut session, "methods(f)"), list.to_string());
    eval(&mut session, "count_of(g) = length(methods(g))");
    assert_eq!(eval(&mut session, "count_of(f)"), "2");
    eval(&mut session, "f(x, y, z) = 3");
    assert_eq!(eval(&mut session, "count_of(f)"), "3", "it was asked before");
    let base = session.methods_of("pushfirst!").expect("it is of the library").to_string();
    assert!(
        base.starts_with("# 1 method for generic function \"pushfirst!\" from Base:"),
        "{base}"
    );
    assert!(base.contains("@ Base prelude/arrays.jl:"), "{base}");
    assert!(session.methods_of("nobody").is_none());
}

#[test]
fn a_name_can_be_bound_to_a_value() {
    let mut session = session("");
    session.bind("ans", Val::I64(41)).expect("it is free");
    assert_eq!(eval(&mut session, "ans + 1"), "42");
    session.bind("ans", Val::F64(0.5)).expect("it is a variable");
    assert_eq!(eval(&mut session, "ans"), "0.5");
    eval(&mut session, "const c = 1");
    assert!(session.bind("c", Val::I64(2)).is_err());
    assert!(matches!(session.value_of("ans"), Some(Val::F64(0.5))));
}

#[test]
fn a_struct_takes_the_place_of_one_with_other_fields() {
    let mut session = session("struct P; x; end");
    eval(&mut session, "p = P(1); area(p::P) = p.x");
    eval(&mut session, "make() = P(2)");
    assert_eq!(eval(&mut session, "make()"), "P(2)");
    eval(&mut session, "struct P; x; y; end");
    assert_eq!(eval(&mut session, "P(3, 4)"), "P(3, 4)");
    assert_eq!(eval(&mut session, "area(p)"), "1", "old values keep their type");
    assert!(eval(&mut session, "area(P(3, 4))").starts_with("error: MethodError"));
    assert!(eval(&mut session, "make()").starts_with("error: MethodError"), "P takes two now");
    eval(&mut session, "area(p::P) = p.x * p.y");
    assert_eq!(eval(&mut session, "(area(P(3, 4)), area(p), p isa P)"), "(12, 1, false)");
    eval(&mut session, "mutable struct P; x::Float64; end");
    assert_eq!(eval(&mut session, "P(1)"), "P(1.0)");
    assert!(eval(&mut session, "struct P; x::Nope; end").starts_with("error: type `Nope`"));
    assert_eq!(eval(&mut session, "P(2)"), "P(2.0)", "what is wrong replaces nothing");
}

#[test]
fn derivatives_see_the_new_struct() {
    let mut session = session("struct Q; x; end");
    eval(&mut session, "f(x) = Q(x).x^2");
    assert_eq!(eval(&mut session, "gradient(f, 3.0)"), "(6.0,)");
    eval(&mut session, "struct Q; y; x; Q(x) = new(x, 2x); end");
    assert_eq!(eval(&mut session, "gradient(f, 3.0)"), "(24.0,)");
}

#[test]
fn files_are_included_from_where_the_file_is() {
    let folder = std::env::temp_dir().join(format!("regraft-include-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("part")).expect("there is a folder for temporary files");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("it can");
    write("part/a.jl", "include(\"b.jl\")\na() = b() + 1\na()\n");
    write("part/b.jl", "b() = 41\n");
    write("loop.jl", "include(\"loop.jl\")\n");
    write("wrong.jl", "f(\n");
    let main = folder.join("main.jl").display().to_string();
    let mut session = session("");
    let value = session.run(&main, "include(\"part/a.jl\")").expect("it runs");
    assert_eq!(session.show(&value), "42");
    assert_eq!(eval(&mut session, "a()"), "42");
    for (text, message) in [
        ("include(\"loop.jl\")", "StackOverflowError"),
        ("include(\"none.jl\")", "SystemError: opening file"),
        ("include(\"wrong.jl\")", "`(` is not closed"),
        ("include(1)", "`include` takes the path of a file"),
        ("f() = include(\"b.jl\")\nf()", "SystemError: opening file"),
    ] {
        let errors = session.run(&main, text).expect_err("it is wrong");
        assert!(errors[0].message().contains(message), "{text}: {}", errors[0].message());
    }
    let value = session.run(&main, "let\n include(\"part/b.jl\")\n b()\nend").expect("it runs");
    assert_eq!(session.show(&value), "41");
    let value = session.run("own.jl", "include(x) = x\ninclude(3)").expect("it is a function");
    assert_eq!(session.show(&value), "3");
    // Nothing is lost if it stays.
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn arrays_are_displayed_in_rows_and_columns() {
    assert_eq!(display("[1, 20, 3]", 24, 80), "3-element Vector{Int64}:\n  1\n 20\n  3");
    assert_eq!(display("[1.5, 20.25]", 24, 80), "2-element Vector{Float64}:\n  1.5\n 20.25");
    assert_eq!(display("[1 2; 3 40]", 24, 80), "2×2 Matrix{Int64}:\n 1   2\n 3  40");
    assert_eq!(
        display("[1.5 2.0; -3.25 1e10]", 24, 80),
        "2×2 Matrix{Float64}:\n  1.5   2.0\n -3.25  1.0e10"
    );
    assert_eq!(display("[1/3 2/3]", 24, 80), "1×2 Matrix{Float64}:\n 0.333333  0.666667");
    assert_eq!(display("[1/3]", 24, 80), "1-element Vector{Float64}:\n 0.3333333333333333");
    assert_eq!(display("[true, false]", 24, 80), "2-element Vector{Bool}:\n 1\n 0");
    assert_eq!(display("Float32[1.5, 2]", 24, 80), "2-element Vector{Float32}:\n 1.5\n 2.0");
    assert_eq!(display("[\"a\", \"bcd\"]", 24, 80), "2-element Vector{String}:\n \"a\"\n \"bcd\"");
    assert_eq!(display("Float64[]", 24, 80), "Float64[]");
    assert_eq!(display("zeros(0, 3)", 24, 80), "0×3 Matrix{Float64}");
    assert_eq!(display("1:3", 24, 80), "1:3");
    assert_eq!(
        display("[1 2; 3 4]'", 24, 80),
        "2×2 adjoint(::Matrix{Int64}) with eltype Int64:\n 1  3\n 2  4"
    );
    assert_eq!(
        display("view([1, 2, 3], 2:3)", 24, 80),
        "2-element view(::Vector{Int64}, 2:3) with eltype Int64:\n 2\n 3"
    );
    assert_eq!(display("(1, [2, 3])", 24, 80), "(1, [2, 3])");
}

#[test]
fn what_does_not_fit_is_left_out() {
    // As Julia's `show(IOContext(stdout, :limit => true, :displaysize => (10, 30)), "text/plain", x)`.
    assert_eq!(
        display("collect(1:100)", 10, 30),
        "100-element Vector{Int64}:\n   1\n   2\n   3\n   ⋮\n  99\n 100"
    );
    assert_eq!(
        display("[10i + j for i in 1:30, j in 1:30]", 10, 30),
        "30×30 Matrix{Int64}:\n  11   12   13  …   39   40\n  21   22   23      49   50\n  \
         31   32   33      59   60\n   ⋮            ⋱\n 291  292  293     319  320\n \
         301  302  303     329  330"
    );
    assert_eq!(display("collect(1:25)", 100, 80).lines().count(), 26, "it fits");
    assert_eq!(
        display("([1:30;],)", 24, 80),
        "([1, 2, 3, 4, 5, 6, 7, 8, 9, 10  …  21, 22, 23, 24, 25, 26, 27, 28, 29, 30],)"
    );
}
