//! Native code from the command line: what `emit` shows, and engines that agree.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

const PROGRAM: &str = "
function total(x)
    s = 0.0
    for i in eachindex(x)
        s += x[i] * x[i]
    end
    s
end
function add!(y, x)
    for i in eachindex(x)
        y[i] += x[i]
    end
    y
end
fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
quotient(a, b) = div(a, b)
root(x) = sqrt(x) + log(x)
first_of(x) = x[1]
first_of_first(x) = first_of(first_of(x))
";

/// Writes the program, and gives its path.
fn program(name: &str) -> String {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.jl"));
    std::fs::write(&file, PROGRAM).unwrap();
    file.to_string_lossy().into_owned()
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_regraft"));
    command.args(args);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The output of a command that succeeds.
#[track_caller]
fn shown(args: &[&str]) -> String {
    let Output { status, stdout, stderr } = command(args).output().unwrap();
    assert!(status.success(), "{args:?}: {}", text(&stderr));
    text(&stdout)
}

#[test]
fn emit_shows_the_compact_form() {
    let file = program("compact");
    let code = shown(&["emit", &file, "fib(10)"]);
    assert!(code.starts_with("func fib(Int64)(i64) -> i64: "), "{code}");
    assert!(code.contains("= call fib(Int64)(s"), "{code}");
    assert_eq!(code, shown(&["emit", &file, "fib(Int64)", "--stage", "native"]));
}

#[test]
fn emit_shows_llvm_ir_that_is_the_same_in_every_run() {
    let file = program("llvm");
    let code = shown(&["emit", &file, "total([1.0])", "--llvm"]);
    assert!(code.starts_with("define { double, i64 } @total_Vector_Float64__.0(ptr"), "{code}");
    assert!(code.contains("fmul double"), "{code}");
    assert_eq!(code, shown(&["emit", &file, "total([1.0])", "--stage", "llvm"]));
}

#[test]
fn without_llvm_there_is_a_message_that_says_what_was_tried() {
    let file = program("without");
    for args in [
        ["run", &*file, "-e", "fib(10)", "--engine", "llvm"],
        ["emit", &*file, "fib(10)", "--stage", "assembly", "-pO1"],
    ] {
        let output = command(&args).env("REGRAFT_LLVM", "/nowhere/libLLVM.so").output().unwrap();
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains("there is no LLVM library that can be used"), "{message}");
        assert!(message.contains("/nowhere/libLLVM.so: "), "{message}");
        assert!(message.contains("set REGRAFT_LLVM"), "{message}");
    }
}

/// Runs a program that is passed on the standard input; gives its output.
fn run_text(input: &str, engine: &str) -> String {
    let mut run = command(&["run", "-", "--engine", engine]);
    let child = run.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{engine}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// Definitions that optimized code holds are replaced: the code that holds them goes.
#[test]
fn native_code_follows_redefinitions() {
    let input = "step(x) = 2x\nfunction walk(n)\n    s = 0\n    for i in 1:n\n        s += step(i)\n    \
                 end\n    s\nend\nprintln(walk(10))\nstep(x) = 3x\nprintln(walk(10))\n\
                 step(x::Int64) = x * x\nprintln(walk(3))\n";
    for engine in ["interp", "cranelift", "auto"] {
        assert_eq!(run_text(input, engine), "110\n165\n14\n", "{engine}");
    }
}

/// A constant gets a value of another type while a function runs that reads it behind a test only.
#[test]
fn a_constant_is_not_read_where_the_program_does_not() {
    let script = "const A = [1.0, 2.0]
function f(n, c)
    @eval const A = Float32[5.0]
    s = 0.0
    for i in 1:n
        if i > c
            s += A[1]
        end
        s += i
    end
    s
end
println(f(3, 100))
";
    for engine in ["interp", "cranelift", "auto"] {
        assert_eq!(run_text(script, engine), "6.0\n", "{engine}");
    }
}

/// The forward and the reverse part of a pullback, and a gradient, are part of the loop that asks for them, as long as the
/// function is the same.
#[test]
fn derivatives_are_part_of_the_loop_that_calls_them() {
    let script = "f(x) = x^2
function slopes(xs)
    s = 0.0
    for x in xs
        _, back = pullback(f, x)
        s += gradient(f, x)[1] + back(1.0)[1]
    end
    s
end
function changed(xs)
    s = 0.0
    for x in xs
        _, back = pullback(f, x)
        @eval f(x) = 5x
        s += back(1.0)[1]
    end
    s
end
xs = [1.0, 2.0, 3.0]
println(slopes(xs))
f(x) = x^3
println(slopes(xs))
println(changed(xs))
println(slopes(xs))
";
    for engine in ["interp", "cranelift", "auto"] {
        // In a function that is at work, `f` is what it was when it was called.
        assert_eq!(run_text(script, engine), "24.0\n84.0\n42.0\n30.0\n", "{engine}");
    }
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("slopes.jl");
    let (loops, _) = script.split_once("function changed").unwrap();
    std::fs::write(&file, format!("{loops}slopes([1.0, 2.0])\n")).unwrap();
    let file = file.to_string_lossy();
    let output = command(&["run", &file, "--engine", "cranelift", "--stats"]).output().unwrap();
    let stats = text(&output.stderr);
    let compiled = stats.lines().find(|line| line.starts_with("native code")).unwrap();
    assert!(compiled.contains("slopes(Vector{Float64})"), "{stats}");
    assert!(!compiled.contains("f(Float64)"), "{stats}");
}

#[test]
fn the_calls_that_led_to_an_error_are_the_same_whatever_was_inlined() {
    let script = "a(x) = x > 0 ? error(\"deep\") : x
b(x) = a(x) + 1
c(x) = b(x) + 1
function tried(x)
    try
        c(x)
    catch
        return catch_backtrace()
    end
end
foreach(line -> println(first(split(line))), tried(1))
";
    for engine in ["interp", "cranelift", "auto"] {
        let calls = "a(Int64)\nb(Int64)\nc(Int64)\ntried(Int64)\ntop\n";
        assert_eq!(run_text(script, engine), calls, "{engine}");
    }
}

#[test]
fn engines_agree() {
    let file = program("agree");
    let has_llvm = command(&["run", &file, "--engine", "llvm"]).output().unwrap().status.success();
    let engines =
        if has_llvm { &["cranelift", "llvm", "auto"][..] } else { &["cranelift", "auto"] };
    for expression in [
        "total([0.1i for i in 1:100])",
        "add!([0.1i for i in 1:100], [1.0 for i in 1:100])",
        "add!([0.1i for i in 1:10], [1.0 for i in 1:11])",
        "fib(20)",
        "quotient(7, -2)",
        "quotient(1, 0)",
        "quotient(typemin(Int64), -1)",
        "root(2.0)",
        "root(-2.0)",
        "first_of(Float64[])",
        "fib(-1)",
        "first_of_first(Any[Float64[]])",
        "first_of_first([Float64[]])",
    ] {
        let run = |engine: &str| {
            let output = command(&["run", &file, "-e", expression, "--engine", engine]).output();
            let Output { status, stdout, stderr } = output.unwrap();
            (status.code(), text(&stdout), text(&stderr))
        };
        let expected = run("interp");
        for engine in engines {
            assert_eq!(run(engine), expected, "{engine}: {expression}");
        }
    }
}

/// Loops that run long go on in the rest of their function, which has been through passes, with all that is live.
#[test]
fn loops_at_work_go_on_in_optimized_code() {
    const LOOPS: &str = "
struct P
    x::Float64
    name::String
end
step(p::P, i) = P(p.x + i, p.name)
# Values of all kinds that change and that do not, in nested loops.
function nested(n, x, s)
    p, t, z, seen = P(0.0, s), (1, 2.0f0), 1.0 + 0.0im, Any[]
    for i in 1:n
        w = [0.5 * i, 1.0]
        for j in 1:3
            p = step(p, w[1] + x[j])
            t = (t[2] > 8 ? 0 : t[1] + j, t[2] > 8 ? 0.0f0 : t[2] + 1)
        end
        z *= 0.999 + 0.001im
        i % 100_000 == 0 && push!(seen, (i, p.name))
    end
    return p, t, round(abs(z) * 1e300), seen, s
end
# The error comes after the loop went on.
function run_over(x, n)
    s = 0
    for i in 1:n
        s += x[(i - 1) % 400_000 < 399_999 ? 1 : 2]
    end
    s
end
guarded(n) = try run_over([1], n) catch e; (typeof(e), n) end
# It calls itself within a loop that has gone on, and after it.
function again(n, depth)
    s = 0
    for i in 1:n
        s += i % 7
        if i == n - 5 && depth > 0
            s += again(n, depth - 1)
        end
    end
    s + (depth > 0 ? again(10, 0) : 0)
end
# Refs and structs are what passes take apart; those that come from outside are only used.
mutable struct Counter
    n::Int
end
function counted(n, c)
    own = Ref(0.5)
    for i in 1:n
        own[] += 1.0
        c.n += i
    end
    own[], c.n
end
function tick(n, c)
    while c.n < n
        c.n += 1
    end
    c.n
end
println(nested(400_000, [1.0, 2.0, 3.0], \"name\"))
println(guarded(399_999), guarded(500_000))
println(again(300_000, 2))
println(counted(500_000, Counter(1)), tick(500_000, Counter(0)), tick(500_000, Counter(0)))
step(p::P, i) = P(p.x - i, p.name)
println(nested(400_000, [1.0, 2.0, 3.0], \"again\"))
run_over([1], 400_000)
";
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("loops_at_work.jl");
    std::fs::write(&file, LOOPS).unwrap();
    let run = |engine: &str| {
        let output = command(&["run", &file.to_string_lossy(), "--engine", engine]).output();
        let Output { status, stdout, stderr } = output.unwrap();
        (status.code(), text(&stdout), text(&stderr))
    };
    let expected = run("interp");
    assert_eq!(expected.0, Some(1), "{}", expected.2);
    assert!(expected.2.contains("BoundsError"), "{}", expected.2);
    assert!(expected.1.contains("(BoundsError, 500000)"), "{}", expected.1);
    assert_eq!(run("auto"), expected);
}
