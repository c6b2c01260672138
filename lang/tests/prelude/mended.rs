//! Mistakes of programs, in Julia's words, and rules of the language that are easy to miss.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use regraft_lang::Session;

use super::check;

#[test]
fn a_negative_exponent_in_the_text_gives_a_float() {
    check(
        "f(x) = x^-2\npower(x, n) = x^n",
        &[
            ("2^-1", "0.5"),
            ("f(4)", "0.0625"),
            ("f(2.0)", "0.25"),
            ("10^-3", "0.001"),
            ("2 * 10^-1", "0.2"),
            ("(-2)^-3", "-0.125"),
            ("[1, 2, 4].^-1", "[1.0, 0.5, 0.25]"),
            ("[1, 2] .^ -2 .+ 1", "[2.0, 1.25]"),
            ("[2.0 0.0; 0.0 4.0]^-1", "[0.5 0.0; 0.0 0.25]"),
            ("[2.0 0.0; 0.0 4.0]^-2", "[0.25 0.0; 0.0 0.0625]"),
            // Only in the text: the type of a power may not depend on the value of the exponent.
            ("power(2, -1)", "error: DomainError with 2:\nCannot raise an integer x"),
            ("let n = -1; 2^n end", "error: DomainError"),
            ("power(2.0, -1)", "0.5"),
        ],
    );
}

#[test]
fn errors_are_worded_as_in_julia() {
    check(
        "struct P; x::Int; end\nmutable struct M; x::Int; end\nset(p, v) = (p.x = v)\n\
         test(x) = x ? 1 : 2\nconst boxed = Any[1, \"a\", [1]]",
        &[
            ("Int64(1.5)", "error: InexactError: Int64(1.5)"),
            ("convert(Int, -0.5)", "error: InexactError: Int64(-0.5)"),
            ("Int(NaN)", "error: InexactError: Int64(NaN)"),
            ("Int(1e20)", "error: InexactError: Int64(1.0e20)"),
            ("Bool(2)", "error: InexactError: Bool(2)"),
            ("P(1.5)", "error: InexactError: Int64(1.5)"),
            ("set(P(1), 2)", "error: setfield!: immutable struct of type P cannot be changed"),
            ("set(M(1), 2)", "2"),
            ("P(1).y", "error: type P has no field `y`"),
            ("(M(1).y = 2)", "error: type M has no field `y`"),
            ("test(1)", "error: TypeError: non-boolean (Int64) used in boolean context"),
            ("test(boxed[2])", "error: TypeError: non-boolean (String) used in boolean context"),
            ("while boxed[3] end", "error: TypeError: non-boolean (Vector{Int64}) used in boolean"),
            ("1 && 2 && true", "error: TypeError: non-boolean (Int64) used in boolean context"),
            (
                "1::Bool",
                "error: TypeError: in typeassert, expected Bool, got a value of type Int64",
            ),
            (
                "boxed[1]::Bool",
                "error: TypeError: in typeassert, expected Bool, got a value of type Int64",
            ),
            (
                "boxed[2]::Int",
                "error: TypeError: in typeassert, expected Int64, got a value of type String",
            ),
            (
                "[1.0, 2.0, 3.0][4]",
                "error: BoundsError: attempt to access 3-element Vector{Float64} at index [4]",
            ),
            (
                "[1 2; 3 4][3, 1]",
                "error: BoundsError: attempt to access 2×2 Matrix{Int64} at index [3, 1]",
            ),
            ("[P(1)][0]", "error: BoundsError: attempt to access 1-element Vector{P} at index [0]"),
            ("(1, 2)[3]", "error: BoundsError: attempt to access Tuple{Int64, Int64} at index [3]"),
            ("1 ÷ 0", "error: DivideError: integer division error"),
            ("mod(1, 0)", "error: DivideError: integer division error"),
            (
                "sqrt(-1.0)",
                "error: DomainError with -1.0:\nsqrt was called with a negative real argument",
            ),
            (
                "log(-1)",
                "error: DomainError with -1.0:\nlog was called with a negative real argument",
            ),
            ("sin(Inf)", "error: DomainError with Inf:\nsin(x) is only defined for finite x."),
            ("acos(2)", "error: DomainError with 2.0:\nacos(x) is not defined for |x| > 1."),
            ("(-8.0)^(1/3)", "error: DomainError with -8.0:\nExponentiation yielding a complex"),
        ],
    );
}

#[test]
fn functions_of_modules_are_found_under_their_names() {
    check(
        "",
        &[
            ("collect(Iterators.take(1:5, 2))", "[1, 2]"),
            ("collect(Iterators.drop(1:5, 3))", "[4, 5]"),
            ("vec(collect(Iterators.product(1:2, 3:4)))", "[(1, 3), (2, 3), (1, 4), (2, 4)]"),
            ("LinearAlgebra.dot([1.0], [2.0])", "2.0"),
            ("Statistics.mean([1, 2])", "1.5"),
            ("Base.length([1])", "1"),
            ("SpecialFunctions.erf(0.0)", "0.0"),
        ],
    );
}

/// Values that Julia prints, and which functions that are only nearly right miss.
#[test]
fn elementary_functions_are_rounded_right() {
    check(
        "",
        &[
            ("exp(1)", "2.718281828459045"),
            ("exp(1.0)", "2.718281828459045"),
            ("exp(2.0)", "7.38905609893065"),
            ("exp(10)", "22026.465794806718"),
            ("log(10)", "2.302585092994046"),
            ("log(2)", "0.6931471805599453"),
            ("log10(1000)", "3.0"),
            ("log2(8)", "3.0"),
            ("sin(1)", "0.8414709848078965"),
            ("cos(0.1)", "0.9950041652780258"),
            ("tan(0.5)", "0.5463024898437905"),
            ("2.0^0.5", "1.4142135623730951"),
            ("2^0.5", "1.4142135623730951"),
            ("10.0^0.5", "3.1622776601683795"),
            ("sinh(1)", "1.1752011936438014"),
            ("cosh(1)", "1.5430806348152437"),
            ("tanh(1)", "0.7615941559557649"),
            ("exp2(0.5)", "1.4142135623730951"),
            ("expm1(1)", "1.7182818284590453"),
            ("log1p(1)", "0.6931471805599453"),
        ],
    );
}

/// The result of a type function is found when it runs if no type tells it before.
#[test]
fn types_may_depend_on_numbers_that_are_known_late() {
    check(
        "f(n) = Val(n)\ng(v::Val{N}) where {N} = 10N\n\
         total(ns) = (s = 0; for n in ns; s += g(Val(n)); end; s)\n\
         make(T, n) = Vector{T}(undef, n)\nrank(n) = Array{Float64, n}\n\
         name(s) = Val(s)\nh(::Val{:a}) = 1\nh(::Val{:b}) = 2",
        &[
            ("f(3)", "Val{3}()"),
            ("f(length([1, 2]))", "Val{2}()"),
            ("total([1, 2, 3])", "60"),
            ("total([3, 4])", "70"),
            ("h(name(:a)) + 10 * h(name(:b))", "21"),
            ("[h(name(s)) for s in (:a, :b, :a)]", "[1, 2, 1]"),
            ("[rank(n) for n in [1, 2]] == [Vector{Float64}, Matrix{Float64}]", "true"),
            ("typeof(make([Float64, Int64][2], 2))", "Vector{Int64}"),
        ],
    );
}

#[test]
fn signatures_of_local_functions_may_mention_type_parameters_around_them() {
    check(
        "function outer(x::T, y) where {T}\n\
             g(z::T) = 1\n\
             g(z) = 2\n\
             (g(x), g(y))\n\
         end\n\
         function sums(x::T, ys) where {T}\n\
             add = (a::T, b::Vector{T}) -> a + sum(b)\n\
             add(x, ys)\n\
         end\n\
         function below(x::T, y) where {T}\n\
             h(z::S, k = x) where {S<:Vector{T}} = (S, k)\n\
             h(y)\n\
         end\n\
         function same(x)\n\
             T = typeof(x)\n\
             k(y::T) = true\n\
             k(x)\n\
         end",
        &[
            ("outer(1, 2)", "(1, 1)"),
            ("outer(1, 2.0)", "(1, 2)"),
            ("outer(1.0, 2.0)", "(1, 1)"),
            ("sums(1, [2, 3])", "6"),
            ("sums(1.0, [2, 3])", "error: MethodError"),
            ("below(1, [2])", "(Vector{Int64}, 1)"),
            ("below(1, [2.0])", "error: MethodError"),
            ("same(1)", "true"),
            ("same(\"a\")", "true"),
        ],
    );
}

/// The report of a session on a program that fails.
fn report(text: &str) -> String {
    let mut session = Session::new(&regraft_dialects::context());
    match session.run("program.jl", text) {
        Ok(value) => panic!("it gives {}", session.show(&value)),
        Err(errors) => errors.iter().map(|error| error.render(false)).collect(),
    }
}

#[test]
fn names_that_are_not_defined_are_guessed_wherever_they_stand() {
    let guessed = [
        "lenght([1])",
        "f(x) = lenght(x)\nf([1])",
        "f(xs) = [lenght(x) for x in xs]\nf([[1]])",
        "f(g, x) = g(x)\nf(lenght, [1])",
    ];
    for text in guessed {
        let report = report(text);
        assert!(report.contains("`lenght` not defined"), "{report}");
        assert!(report.contains("did you mean `length`?"), "{report}");
    }
    let own = report("velocity(x) = x\nf(x) = velocty(x)\nf(1)");
    assert!(own.contains("did you mean `velocity`?"), "{own}");
    for text in ["z", "f() = z + 1\nf()", "q(1)"] {
        let report = report(text);
        assert!(report.contains("not defined") && !report.contains("did you mean"), "{report}");
    }
}

/// Passes on nothing, and asks for a stop as soon as something is printed.
struct StopAtOutput(Arc<AtomicBool>);

impl Write for StopAtOutput {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.store(true, Ordering::Relaxed);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_interrupt_between_two_statements_is_not_lost() {
    let mut session = Session::new(&regraft_dialects::context());
    session.set_output(Box::new(StopAtOutput(session.interrupt_flag())));
    let errors = session.run("program.jl", "x = 1\nprintln(x)\nconst after = 2").unwrap_err();
    assert_eq!(errors[0].to_string(), "interrupted");
    let errors = session.run("program.jl", "after").unwrap_err();
    assert!(errors[0].to_string().contains("`after` not defined"), "{errors:?}");
    // The next run is another one.
    assert!(session.run("program.jl", "x").is_ok());
}
