//! Functions that are compiled ahead of time: programs in C and in Rust that link them get the values and the errors
//! that the interpreter gives.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::Command;

use regraft::ahead::{Cpu, ObjectFile};
use regraft::exec::EngineKind;
use regraft::lang::Entry;
use regraft::prelude::*;

use common::folder;

#[path = "../common/mod.rs"]
mod common;
mod examples;
mod random;

/// Runs a command, and gives what it prints.
#[track_caller]
fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// The newest file in the folder of what this test was built with that is called `lib`, then `name`, then so.
fn built(name: &str, ending: &str) -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_it = |file: &PathBuf| {
        let file = file.file_name().and_then(|file| file.to_str()).unwrap_or_default();
        let rest = file.strip_prefix("lib").and_then(|file| file.strip_prefix(name));
        let rest = rest.and_then(|rest| rest.strip_suffix(ending));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let newest =
        files.filter(is_it).max_by_key(|file| file.metadata().unwrap().modified().unwrap());
    newest.unwrap_or_else(|| panic!("there is no {name}{ending}"))
}

/// The static library for programs in C.
fn runtime() -> PathBuf {
    built("regraft_runtime", ".a")
}

/// Returns whether there is a compiler of C; says so if there is none.
fn has_c() -> bool {
    let there = Command::new("cc").arg("--version").output().is_ok();
    if !there {
        eprintln!("there is no `cc`: programs in C are not tested");
    }
    there
}

/// A call that says the types of a function's arguments, and the parameters that its gradient is by, if there is one.
type Called<'a> = (&'a str, Option<&'a [&'a str]>);

/// Compiles functions of a script, and a program in C that calls them; gives what it prints.
#[track_caller]
fn run_c(name: &str, script: &str, calls: &[Called<'_>], main: &str) -> String {
    let folder = folder(name);
    let mut session = Session::new(&context());
    session.run("script.jl", script).unwrap();
    let mut file = ObjectFile::new(Cpu::Any).unwrap();
    for &(call, by) in calls {
        let entry = Entry::CallOrTypes(call);
        file.add(&session.closed(entry, None).unwrap(), None).unwrap();
        if let Some(by) = by {
            file.add(&session.closed_gradient(entry, by).unwrap(), None).unwrap();
        }
    }
    let header = file.header();
    std::fs::write(folder.join("script.h"), &header).unwrap();
    std::fs::write(folder.join("script.o"), file.object().unwrap()).unwrap();
    std::fs::write(folder.join("main.c"), format!("{PRELUDE}\n{main}")).unwrap();
    run_linked(&folder, &["-O1", "-Wall", "-Wextra", "-Werror"])
}

/// Compiles `main.c` in a folder and links it with `script.o` and the library; gives what the program prints.
#[track_caller]
fn run_linked(folder: &Path, flags: &[&str]) -> String {
    let mut cc = Command::new("cc");
    cc.args(flags).args(["-I", ".", "main.c", "script.o"]).arg(runtime());
    printed(cc.args(["-lm", "-lpthread", "-ldl", "-o", "main"]).current_dir(folder));
    printed(&mut Command::new(folder.join("main")))
}

/// What the programs share: `say` prints a message, and frees the error.
const PRELUDE: &str = r#"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "script.h"

static inline int say(regraft_error *error) {
    if (error) printf("%s\n", regraft_error_message(error));
    regraft_error_free(error);
    return error != NULL;
}
"#;

/// What a call in a session shows, or the message of its error.
fn shown(script: &str, call: &str) -> String {
    let mut session = Session::new(&context());
    session.set_engine(EngineKind::Interpreter).unwrap();
    session.run("script.jl", script).unwrap();
    match session.run("call", call) {
        Ok(value) => session.show(&value),
        Err(errors) => errors[0].message().to_owned(),
    }
}

const NUMBERS: &str = "
mixed(a::Float64, b::Float32, c::Int64, d::Int32, e::Int16, f::Int8, g::Bool) =
    a + b + c + d + e + f + (g ? 0.5 : 0.0)
fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
wave(x) = sin(x) * exp(-x) + log(x) + x^2.5 + floor(x) + hypot(x, 1.0)
small(x::Int8) = x + x
half(x::Float32) = x / 2
is_even(n) = n % 2 == 0
both(x, n) = (x / 2, n + 1, x > n)
named(x) = (value = x, twice = 2x)
nothing_at_all(n) = nothing
root(x) = sqrt(x)
";

#[test]
fn numbers_go_in_and_out_as_in_the_interpreter() {
    if !has_c() {
        return;
    }
    let calls = [
        ("mixed(Float64, Float32, Int64, Int32, Int16, Int8, Bool)", None),
        ("fib(Int)", None),
        ("wave(Float64)", None),
        ("small(Int8)", None),
        ("half(Float32)", None),
        ("is_even(Int)", None),
        ("both(Float64, Int)", None),
        ("named(Float64)", None),
        ("nothing_at_all(Int)", None),
        ("root(Float64)", None),
    ];
    let main = r#"
int main(void) {
    double x; int64_t n; int8_t i; float f; bool even;
    say(mixed(1.5, -2.25f, -7000000000, -70000, -300, -3, true, &x)); printf("%.17g\n", x);
    say(fib(20, &n)); printf("%ld\n", (long)n);
    say(wave(1.7, &x)); printf("%.17g\n", x);
    say(small(-100, &i)); printf("%d\n", i);
    say(half(3.0f, &f)); printf("%.9g\n", f);
    say(is_even(7, &even)); printf("%d", even);
    say(is_even(8, &even)); printf("%d\n", even);
    both_result b; say(both(5.0, 4, &b)); printf("%g %ld %d\n", b._1, (long)b._2, b._3);
    named_result v; say(named(1.25, &v)); printf("%g %g\n", v.value, v.twice);
    say(nothing_at_all(1));
    say(root(4.0, NULL));
    say(root(-4.0, &x));
    return 0;
}"#;
    let wave: f64 = shown(NUMBERS, "wave(1.7)").parse().unwrap();
    let mixed: f64 = shown(
        NUMBERS,
        "mixed(1.5, -2.25f0, -7000000000, Int32(-70000), Int16(-300), Int8(-3), true)",
    )
    .parse()
    .unwrap();
    let message = shown(NUMBERS, "root(-4.0)");
    let output = run_c("from_c_numbers", NUMBERS, &calls, main);
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines[0].parse::<f64>().unwrap(), mixed);
    assert_eq!(lines[1], "6765");
    // All bits.
    assert_eq!(lines[2].parse::<f64>().unwrap(), wave);
    // -200 wraps to 56, and only the value of type Int8 is looked at.
    assert_eq!(lines[3], "56");
    assert_eq!(lines[4..8], ["1.5", "01", "2.5 5 1", "1.25 2.5"]);
    assert_eq!(lines[8..], message.lines().collect::<Vec<_>>()[..]);
}

const ARRAYS: &str = r#"
function axpy!(y, a, x)
    for i in eachindex(y, x)
        y[i] += a * x[i]
    end
    return sum(y)
end
squares(n) = [Float64(i)^2 for i in 1:n]
product(a, b) = a * b
function count_true(x)
    n = 0
    for b in x
        n += b
    end
    return n
end
function at(x, i)
    return inner(x, i)
end
@noinline inner(x, i) = x[i]
function words(n)
    s = ""
    for i in 1:n
        s = string(s, i, " ")
    end
    n > 3 && throw(ArgumentError("too many: $s"))
    return length(s)
end
function careful(x)
    try
        return helper(x)
    catch e
        return -1.0
    end
end
@noinline helper(x) = x < 0 ? error("negative") : sum(sqrt(i * x) for i in 1:3)
deep(x) = x < 0 ? x : sqrt(1 + deep(x + 1))
down(x, i) = i == 0 ? sqrt(x[9]) : sqrt(x[i] + down(x, i - 1))
grow!(x) = push!(x, 1.0)
"#;

#[test]
fn arrays_are_lent_and_results_are_freed() {
    if !has_c() {
        return;
    }
    let calls = [
        ("axpy!(Vector{Float64}, Float64, Vector{Float64})", None),
        ("squares(Int)", None),
        ("product(Matrix{Float64}, Matrix{Float64})", None),
        ("count_true(Vector{Bool})", None),
        ("at(Vector{Int64}, Int)", None),
        ("words(Int)", None),
        ("careful(Float64)", None),
        ("deep(Float64)", None),
        ("down(Vector{Int64}, Int)", None),
    ];
    let main = r#"
int main(void) {
    double y[] = {1, 2}, x[] = {10, 20}, s; int64_t n;
    say(axpy(y, 2, 0.5, x, 2, &s)); printf("%g %g %g\n", s, y[0], y[1]);
    say(axpy(y, 2, 0.5, x, 1, &s));
    say(axpy(NULL, 0, 0.5, NULL, 0, &s)); printf("%g\n", s);
    say(axpy(NULL, 2, 0.5, x, 2, &s));
    say(axpy(y, 2, 0.5, y, 2, &s));
    say(axpy((double *)((char *)y + 1), 1, 0.5, x, 1, &s));
    squares_result r;
    say(squares(3, &r)); printf("%zu: %g %g %g\n", r.len, r.data[0], r.data[1], r.data[2]);
    regraft_free(r.data);
    say(squares(0, &r)); printf("%zu\n", r.len); regraft_free(r.data);
    double a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 0, 1}; product_result p;
    say(product(a, 2, 3, b, 3, 1, &p));
    printf("%zu %zu: %g %g\n", p.rows, p.columns, p.data[0], p.data[1]); regraft_free(p.data);
    say(product(a, 3, 2, b, 3, 1, &p));
    bool flags[] = {true, false, true};
    say(count_true(flags, 3, &n)); printf("%ld\n", (long)n);
    int64_t v[] = {7, 8};
    say(at(v, 2, 2, &n)); printf("%ld\n", (long)n);
    regraft_error *error = at(v, 2, 3, &n);
    fputs(regraft_error_report(error), stdout); regraft_error_free(error);
    say(words(3, &n)); printf("%ld\n", (long)n);
    say(words(5, &n));
    say(careful(4.0, &s)); printf("%.3f\n", s);
    say(careful(-4.0, &s)); printf("%g\n", s);
    say(deep(1.0, &s));
    error = down(v, 2, 1, &s);
    fputs(regraft_error_report(error), stdout); regraft_error_free(error);
    say(at(v, 2, 1, &n)); printf("%ld\n", (long)n);
    return 0;
}"#;
    let output = run_c("from_c_arrays", ARRAYS, &calls, main);
    let report = "  × BoundsError: attempt to access 2-element Vector{Int64} at index [3]\n  \
                  note: at script.jl:20:25\n  \
                  note: called from at(Vector{Int64}, Int64), at script.jl:18:12\n";
    let chain = "  × BoundsError: attempt to access 2-element Vector{Int64} at index [9]\n  \
                 note: at script.jl:38:28\n  \
                 note: called from down(Vector{Int64}, Int64), at script.jl:38:48\n";
    let of = |call: &str| shown(ARRAYS, call);
    let expected = format!(
        "18 6 12\n{}\n0\n\
         the array y has the lengths [2], and its address is null\n\
         the arrays y and x overlap in memory, and the function may write to y\n\
         the array y is not aligned: its address is not divisible by 8\n\
         3: 1 4 9\n0\n2 1: 6 8\n{}\n2\n8\n{report}6\n{}\n8.293\n-1\n{}\n{chain}7\n",
        of("axpy!([1.0, 2.0], 0.5, [10.0])"),
        of("product([1.0 4.0; 2.0 5.0; 3.0 6.0], [1.0; 0.0; 1.0;;])"),
        of("words(5)"),
        of("deep(1.0)"),
    );
    assert_eq!(output, expected);
}

const LOSS: &str = "loss(Matrix{Float64}, Vector{Float64}, Int, Float64)";
const LOSSES: &str = "
function loss(a, x, n, s)
    t = 0.0
    for j in axes(a, 2), i in axes(a, 1)
        t += s * a[i, j]^n * x[j]
    end
    return t
end
";

#[test]
fn gradients_are_those_of_the_session() {
    if !has_c() {
        return;
    }
    let main = r#"
int main(void) {
    double a[] = {1, 2, 3, 4}, x[] = {5, 6}, da[4], dx[2], ds, value;
    say(loss_gradient(a, 2, 2, x, 2, 2, 0.5, da, dx, &ds, &value));
    printf("%.17g\n%.17g %.17g %.17g %.17g\n%.17g %.17g\n%.17g\n", value, da[0], da[1], da[2], da[3], dx[0], dx[1], ds);
    return 0;
}"#;
    let calls = [(LOSS, Some(&[][..]))];
    let output = run_c("from_c_gradients", LOSSES, &calls, main);
    // t = 0.5 (5 (1 + 4) + 6 (9 + 16)); by a: s n a x; by x: s (a1^2 + a2^2); by s: t / s.
    assert_eq!(output, "87.5\n5 10 18 24\n2.5 12.5\n175\n");
}

#[test]
fn a_gradient_by_some_parameters_has_places_for_these() {
    if !has_c() {
        return;
    }
    let main = r#"
int main(void) {
    double a[] = {1, 2, 3, 4}, x[] = {5, 6}, dx[2], ds, value;
    say(loss_gradient(a, 2, 2, x, 2, 2, 0.5, dx, &ds, &value));
    printf("%.17g\n%.17g %.17g\n%.17g\n", value, dx[0], dx[1], ds);
    return 0;
}"#;
    // Of a struct that can be called: w^2 and 2 x w.
    let called = r#"
int main(void) {
    double dx, dw, value;
    say(Cube_gradient(2, 3, &dx, &dw, &value));
    printf("%.17g %.17g %.17g\n", value, dx, dw);
    return 0;
}"#;
    let calls = [("cube(Float64, Float64)", Some(&[][..]))];
    let script = "struct Cube end; (::Cube)(x, w) = x * w * w; cube = Cube()";
    let output = run_c("from_c_gradient_of_struct", script, &calls, called);
    assert_eq!(output, "18 9 12\n");
    // By its name, and by its number.
    let output = run_c("from_c_gradient_by_some", LOSSES, &[(LOSS, Some(&["x", "4"]))], main);
    assert_eq!(output, "87.5\n2.5 12.5\n175\n");

    let mut session = Session::new(&context());
    session.run("script.jl", LOSSES).unwrap();
    let mut refused = |by| {
        let errors = session.closed_gradient(Entry::CallOrTypes(LOSS), &[by]).unwrap_err();
        errors[0].message().to_owned()
    };
    for by in ["y", "0", "5"] {
        assert_eq!(refused(by), format!("there is no parameter `{by}`"));
    }
    assert_eq!(refused("n"), "the parameter `n` has no derivative: it is of type Int64");
}

#[test]
fn threads_have_code_and_memory_of_their_own() {
    if !has_c() {
        return;
    }
    let main = r#"
static void *work(void *data) {
    double *out = data;
    for (int k = 0; k < 200; k++) {
        squares_result r; int64_t n;
        if (say(squares(100, &r))) return NULL;
        *out += r.data[99];
        regraft_free(r.data);
        regraft_error *error = words(5, &n);
        *out += error != NULL;
        regraft_error_free(error);
    }
    return NULL;
}
int main(void) {
    pthread_t threads[8]; double sums[8] = {0};
    for (int t = 0; t < 8; t++) pthread_create(&threads[t], NULL, work, &sums[t]);
    for (int t = 0; t < 8; t++) pthread_join(threads[t], NULL);
    for (int t = 0; t < 8; t++) printf("%g\n", sums[t]);
    return 0;
}"#;
    let calls = [("squares(Int)", None), ("words(Int)", None)];
    let output = run_c("from_c_threads", ARRAYS, &calls, main);
    assert_eq!(output, "2.0002e+06\n".repeat(8));
}

/// The errors of `emit` for a script and a call.
fn refused(script: &str, call: &str, name: Option<&str>) -> String {
    let mut session = Session::new(&context());
    session.run("script.jl", script).unwrap();
    let mut file = ObjectFile::new(Cpu::Any).unwrap();
    let closed = session.closed(Entry::CallOrTypes(call), None);
    let errors = closed.and_then(|closed| file.add(&closed, name)).unwrap_err();
    errors[0].message().to_owned()
}

#[test]
fn what_has_no_form_in_c_is_refused_by_name() {
    let script = "
        f(x, s) = length(s) + x
        g(x) = string(x)
        h(x) = global_count + x
        +(x::Float64, y::Bool) = y ? x : 0.0
        double(x) = 2x
        global_count = 1";
    assert_eq!(
        refused(script, "f(Float64, String)", None),
        "argument 2 (`s`) is of type String, which has no form in C"
    );
    assert_eq!(
        refused(script, "f(Float64, Vector{Vector{Float64}})", None),
        "argument 2 (`s`) is of type Vector{Vector{Float64}}, which has no form in C"
    );
    assert_eq!(
        refused(script, "g(Float64)", None),
        "the result is of type String, which has no form in C"
    );
    assert_eq!(refused(script, "h(Float64)", None), "@h(Float64) reads a global variable");
    assert_eq!(
        refused(script, "double(Float64)", None),
        "`double` cannot be the name of a function in C"
    );
    assert_eq!(
        refused(script, "f(Float64, Vector{Float64})", Some("a-b")),
        "`a-b` cannot be the name of a function in C"
    );
}

/// A file of another version says so, in place of running.
#[test]
fn an_object_file_of_another_version_is_refused() {
    if !has_c() {
        return;
    }
    let folder = folder("from_c_version");
    let mut session = Session::new(&context());
    session.run("script.jl", "twice(x) = 2x").unwrap();
    let mut file = ObjectFile::new(Cpu::Any).unwrap();
    file.add(&session.closed(Entry::Types("twice(Float64)"), None).unwrap(), None).unwrap();
    std::fs::write(folder.join("script.h"), file.header()).unwrap();
    let object = file.object().unwrap();
    let main = "int main(void) { double x; say(twice(2.0, &x)); return 0; }";
    std::fs::write(folder.join("main.c"), format!("{PRELUDE}\n{main}")).unwrap();
    let version = env!("CARGO_PKG_VERSION").as_bytes();
    let run_with = |from: &[u8], to: &[u8]| {
        let mut object = object.clone();
        let at = object.windows(from.len()).position(|bytes| bytes == from).unwrap();
        object[at..at + to.len()].copy_from_slice(to);
        std::fs::write(folder.join("script.o"), object).unwrap();
        run_linked(&folder, &[])
    };
    let other = vec![b'9'; version.len()];
    let message = run_with(version, &other);
    assert!(message.starts_with("the object file was made by version 999"), "{message}");
    // Another program than the machine code is of.
    let message = run_with(b"arith.mul", b"arith.add");
    let expected = "the object file was made by another state of the library than this one\n";
    assert_eq!(message, expected);
}
