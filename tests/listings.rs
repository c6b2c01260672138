//! Listings of Julia's IR: what they compute, what is made of them, and how they are refused.
//!
//! `tests/listings/*.lowered` are in the forms that Julia and IRTools print, `sources.jl` has the
//! programs that they are the code of.

use std::path::PathBuf;
use std::process::{Command, Output};

use regraft::cli::Tool;
use regraft::dialects::context;
use regraft::lang::{Entry, Session, parse_listing};
use regraft::passes::{Pipeline, RunOptions, run_pipeline};
use regraft::prelude::*;
use regraft::testing::Check;

const FILES: [&str; 12] = [
    "axpy",
    "bend",
    "calls",
    "callable",
    "copied",
    "fibonacci",
    "horner",
    "point",
    "power",
    "squares",
    "statements",
    "steps",
];

fn path(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/listings").join(file)
}

fn read(file: &str) -> String {
    std::fs::read_to_string(path(file)).unwrap()
}

/// A session that knows all listings, and their sources.
fn session() -> Session {
    let mut session = Session::new(&context());
    session.run("sources.jl", &read("sources.jl")).unwrap();
    for file in FILES {
        let name = format!("{file}.lowered");
        session.define_listing(&name, &read(&name)).unwrap_or_else(|errors| {
            panic!("{}", regraft::ir::render_all(&errors, false));
        });
    }
    session
}

#[track_caller]
fn check(session: &mut Session, text: &str, expected: &str) {
    let value = session.eval(text).unwrap_or_else(|errors| {
        panic!("{text}\n{}", regraft::ir::render_all(&errors, false));
    });
    assert_eq!(session.show(&value), expected, "{text}");
}

#[test]
fn listings_compute_what_their_programs_do() {
    let mut session = session();
    for (text, expected) in [
        // 1 + 2·2 + 3·4
        ("horner([1.0, 2.0, 3.0], 2.0)", "17.0"),
        ("horner([1, 2, 3], 2)", "17"),
        ("horner(Float64[], 2.0)", "0.0"),
        ("squares([1.0, 2.0, 3.0])", "14.0"),
        ("squares(Float64[])", "0.0"),
        ("bend(-2.0) == sin(-4.0)", "true"),
        ("bend(2.0) == sin(8.0)", "true"),
        // 6 → 3 → 10 → 5 → 16 → 8 → 4 → 2 → 1
        ("steps(6)", "8"),
        ("steps(27)", "111"),
        ("power(3.0, 4)", "81.0"),
        ("power(2.0, -1)", "1.0"),
        ("y = [1.0, 2.0]; (axpy!(2.0, [10.0, 20.0], y) === y, y)", "(true, [21.0, 42.0])"),
        ("(is_even(10), is_even(7), is_odd(7))", "(true, false, true)"),
        ("fact(10)", "3628800"),
        // 3! = 6, 6! = 720
        ("twice(fact, 3)", "720"),
        ("apply_all(-, 1, 2.5)", "-1.5"),
        ("scaled(Point(1.0, 2.0), 3.0)", "Point{Float64}(3.0, 6.0)"),
        ("scaled(Point(1, 2), 3)", "Point{Int64}(3, 6)"),
        ("norm2(Point(3.0, 4.0))", "25.0"),
        ("mirrored(Point(3.0, 4.0))", "Point{Float64}(4.0, 3.0)"),
        ("reach(Point(3.0, 4.0))", "5.0"),
        ("line(3.0, 0.5)", "6.5"),
        // The parts of the pullback are called last one first.
        ("Pair2((x -> x + 1, x -> 10x))(3)", "(0, 31)"),
        // The second element times the factor.
        ("product([2.0, 3.0], 5.0)", "15.0"),
        // Both values of a step are those of the step before: 0, 1, 1, 2, 3, 5, …
        ("map(fibonacci, 0:10)", "[0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55]"),
    ] {
        check(&mut session, text, expected);
    }
}

#[test]
fn derivatives_of_listings_are_those_of_their_programs() {
    let mut session = session();
    for (text, expected) in [
        // 2 + 6x at 2, and the powers of 2
        ("gradient(horner, [1.0, 2.0, 3.0], 2.0)", "([1.0, 2.0, 4.0], 14.0)"),
        ("derivative(x -> horner([1.0, 2.0, 3.0], x), 2.0)", "14.0"),
        ("derivative(x -> derivative(z -> horner([1.0, 2.0, 3.0], z), x), 2.0)", "6.0"),
        ("gradient(squares, [1.0, -2.0, 3.0])", "([2.0, -4.0, 6.0],)"),
        ("derivative(x -> squares([x, 2x]), 3.0)", "30.0"),
        ("gradient(power, 3.0, 4)", "(108.0, nothing)"),
        ("derivative(x -> power(x, 4), 3.0)", "108.0"),
        ("gradient(x -> gradient(z -> power(z, 3), x)[1], 2.0)", "(12.0,)"),
        ("gradient(a -> sum(axpy!(a, [1.0, 2.0], [0.0, 0.0])), 5.0)", "(3.0,)"),
        ("derivative(a -> sum(axpy!(a, [1.0, a], [a, 0.0])), 5.0)", "12.0"),
        ("gradient(x -> norm2(scaled(Point(x, 2.0), x)), 1.0)", "(12.0,)"),
        ("gradient(p -> norm2(mirrored(p)), Point(1.0, 2.0))", "((x = 2.0, y = 4.0),)"),
        ("gradient(x -> line(x, 3.0), 1.0)", "(2.0,)"),
        ("gradient(bend, -0.5) == gradient(bend_source, -0.5)", "true"),
        ("gradient(bend, 0.5) == gradient(bend_source, 0.5)", "true"),
        ("derivative(bend, 0.5) ≈ cos(0.125) * 0.75", "true"),
        (
            "gradient(p -> reach(p), Point(3.0, 4.0)) == gradient(p -> reach_source(p), Point(3.0, 4.0))",
            "true",
        ),
        ("gradient(horner, [0.1, 0.2], 0.3) == gradient(horner_source, [0.1, 0.2], 0.3)", "true"),
        ("gradient(squares, [0.1, 0.2]) == gradient(squares_source, [0.1, 0.2])", "true"),
        ("gradient(power, 0.7, 5) == gradient(power_source, 0.7, 5)", "true"),
    ] {
        check(&mut session, text, expected);
    }
}

/// Methods of listings for arguments of given types.
const ENTRIES: [&str; 14] = [
    "horner(Vector{Float64}, Float64)",
    "squares(Vector{Float64})",
    "bend(Float64)",
    "steps(Int64)",
    "power(Float64, Int64)",
    "axpy!(Float64, Vector{Float64}, Vector{Float64})",
    "is_even(Int64)",
    "fact(Int64)",
    "scaled(Point{Float64}, Float64)",
    "mirrored(Point{Float64})",
    "reach(Point{Float64})",
    "line(Float64, Float64)",
    "product(Vector{Float64}, Float64)",
    "fibonacci(Int64)",
];

#[test]
fn every_pass_keeps_what_typed_listings_compute() {
    let mut tool = Tool::new();
    let mut session = session();
    let passes = tool.passes();
    let mut names: Vec<String> = passes.iter().map(|pass| pass.name.to_owned()).collect();
    names.extend(["O2", "O3", "loop(licm, unroll{factor=2})"].map(str::to_owned));
    assert!(names.len() > 30, "{names:?}");
    for entry in ENTRIES {
        let module = session.typed(Entry::Types(entry)).unwrap_or_else(|errors| {
            panic!("{entry}\n{}", regraft::ir::render_all(&errors, false));
        });
        for name in &names {
            let pipeline = Pipeline::parse(passes, name).unwrap();
            let options = RunOptions::default().threads(1).observe(Check::new(4));
            if let Err(failure) = run_pipeline(&mut module.clone(), &pipeline, &options) {
                panic!(
                    "{name} on {entry}\n{}",
                    regraft::ir::render_all(failure.diagnostics(), false)
                );
            }
        }
    }
}

#[test]
fn lowered_listings_go_through_passes_and_print_as_they_read() {
    let mut tool = Tool::new();
    for file in FILES {
        let name = format!("{file}.lowered");
        let ctx = context();
        let module = parse_listing(&ctx, &name, &read(&name)).unwrap();
        verify_module(&module).unwrap();
        let printed = module.to_string();
        assert_eq!(parse_module(&ctx, "printed.ir", &printed).unwrap().to_string(), printed);
        for pipeline in ["O2", "O3", "prune, expand", "simplify-cfg, cse, dce"] {
            let pipeline = Pipeline::parse(tool.passes(), pipeline).unwrap();
            let mut module = module.clone();
            run_pipeline(&mut module, &pipeline, &RunOptions::default()).unwrap();
            verify_module(&module).unwrap();
        }
    }
}

#[test]
fn a_listing_becomes_the_code_of_its_program() {
    let mut session = session();
    let mut ops = |entry| {
        let module = session.optimized(Entry::Types(entry), None).unwrap();
        let f = module.functions().next().unwrap();
        let defs = f.all_insts().filter_map(|v| f.op_def(v));
        let mut ops: Vec<&str> = defs.map(regraft::ir::OpDef::mnemonic).collect();
        ops.sort_unstable();
        ops.join(" ")
    };
    assert_eq!(ops("power(Float64, Int64)"), ops("power_source(Float64, Int64)"));
}

// --- refusals ------------------------------------------------------------------------------------

#[track_caller]
fn fails(text: &str, call: &str, expected: &str) {
    let mut session = Session::new(&context());
    let result = session.define_listing("f.lowered", text).and_then(|_| session.eval(call));
    let errors = result.expect_err("it is wrong");
    let shown = regraft::ir::render_all(&errors, false);
    assert!(shown.contains(expected), "{expected}\n{shown}");
    assert!(errors.iter().all(|error| !error.labels().is_empty()), "{shown}");
}

#[test]
fn what_is_not_there_is_refused_by_name_when_it_runs() {
    for (statement, expected) in [
        ("Main.missing_one(x)", "missing_one"),
        ("Base.missing_two(x)", "missing_two"),
        ("Mooncake.rrule!!(x)", "Mooncake"),
        ("(Base.Missing.three)(x)", "three"),
        ("invoke Main.missing_four(x::Float64)::Float64", "missing_four"),
        ("%new(Main.MissingType, x)", "MissingType"),
        ("Base.add_float(x, 1)", "add_float"),
        ("Base.arrayref(true, x, 1)", "arrayref"),
        ("($(Expr(:static_parameter, 1)))(x)", "T1"),
        ("%9", "%9"),
    ] {
        let text = format!("f(x)\nCodeInfo(\n1 ─ %1 = {statement}\n└──      return %1\n)\n");
        fails(&text, "f(2.5)", expected);
    }
}

#[test]
fn types_that_are_noted_hold() {
    let text = "CodeInfo(\n1 ─ %1 = Main.identity(x)::Int64\n└──      return %1\n) => Int64\n";
    fails(text, "f(2.5)", "TypeError");
    let text = "CodeInfo(\n1 ─ %1 = π (x, Int64)\n└──      return %1\n) => Int64\n";
    fails(text, "f(2.5)", "TypeError");
    let mut session = Session::new(&context());
    session.define_listing("f.lowered", text).unwrap();
    check(&mut session, "f(2)", "2");
}

// --- the command line ----------------------------------------------------------------------------

fn regraft(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_regraft")).args(args).output().unwrap()
}

#[track_caller]
fn prints(args: &[&str]) -> String {
    let output = regraft(args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn commands_take_listings() {
    let power = path("power.lowered");
    let power = power.to_str().unwrap();
    let text = prints(&["opt", power, "-p", "cse"]);
    assert_eq!(
        text,
        "func @power(%1: any, %2: any) -> any {\n^1:\n  br ^2(%2, 1.0)\n^2(%3: any, %4: any):\n  \
         %5 = call @\"<\"(0, %3)\n  br %5, ^3, ^4\n^3:\n  %6 = call @\"-\"(%3, 1)\n  \
         %7 = call @\"*\"(%4, %1)\n  br ^2(%6, %7)\n^4:\n  return %4\n}\n"
    );
    let typed =
        prints(&["opt", power, "--entry", "power(Float64, Int64)", "-p", "O2", "--check", "4"]);
    assert!(typed.contains("arith.mul") && !typed.contains("any"), "{typed}");
    assert_eq!(prints(&["ir", power]), text);
    assert_eq!(prints(&["ir", power, "power(2.0, 3)", "--stage", "lowered"]), text);
    assert_eq!(prints(&["run", power, "-e", "power(2.0, 10)"]), "1024.0\n");
    assert_eq!(prints(&["grad", power, "power(3.0, 2)"]).lines().next(), Some("value:    9.0"));
    let sources = path("sources.jl");
    let point = path("point.lowered");
    let files = ["run", sources.to_str().unwrap(), point.to_str().unwrap()];
    assert_eq!(prints(&[&files[..], &["-e", "reach(Point(3.0, 4.0))"]].concat()), "5.0\n");
}

#[test]
fn what_a_listing_does_not_say_is_a_warning() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join("minus.lowered");
    std::fs::write(&file, "CodeInfo(\n1 ─ %1 = y - x\n└──      return %1\n)\n").unwrap();
    let output = regraft(&["run", file.to_str().unwrap(), "-e", "minus(3, 1)"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("(y, x) is assumed") && errors.contains("minus(y, x)"), "{errors}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "2\n");
    // With the head of the method it is no guess.
    std::fs::write(&file, "minus(x, y)\nCodeInfo(\n1 ─ %1 = y - x\n└──      return %1\n)\n")
        .unwrap();
    let output = regraft(&["run", file.to_str().unwrap(), "-e", "minus(3, 1)"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "-2\n");
    assert!(output.stderr.is_empty());
}

#[test]
fn a_wrong_listing_is_an_error_of_the_input() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join("wrong.lowered");
    std::fs::write(&file, "CodeInfo(\n1 ─ goto #7\n)\nand more\n").unwrap();
    let output = regraft(&["opt", file.to_str().unwrap(), "-p", "dce"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("wrong.lowered:4:1"));
}

#[test]
fn loops_over_collections_have_known_types() {
    let mut session = session();
    for entry in ["horner(Vector{Float64}, Float64)", "squares(Vector{Float64})"] {
        let module = session.typed(Entry::Types(entry)).unwrap();
        let f = module.functions().next().unwrap();
        assert!(f.all_insts().all(|v| f.ty(v) != Type::ANY), "{f}");
    }
    // A type with methods of `iterate` of its own, and what is iterated over in another way.
    let own = "struct Down\n    n::Int64\nend\n\
               Base.iterate(d::Down) = iterate(d, d.n)\n\
               Base.iterate(d::Down, k) = k == 0 ? nothing : (10k, k - 1)\n\
               Base.length(d::Down) = d.n\nBase.zero(d::Down) = 0\n";
    session.run("own.jl", own).unwrap();
    let text = "added(d)\nCodeInfo(\n1 ─       s = 0\n│         @_3 = Base.iterate(d)\n│   %3  = @_3 === nothing\n\
                │   %4  = Base.not_int(%3)\n└──       goto #4 if not %4\n2 ┄ %6  = @_3\n\
                │         i = Core.getfield(%6, 1)\n│   %8  = Core.getfield(%6, 2)\n│         s = s + i\n\
                │         @_3 = Base.iterate(d, %8)\n│   %11 = @_3 === nothing\n│   %12 = Base.not_int(%11)\n\
                └──       goto #4 if not %12\n3 ─       goto #2\n4 ┄ %15 = RESULT\n└──       return %15\n)\n";
    for (result, of_own, of_array) in
        [("s", "60", "6"), ("(s, @_3)", "(60, nothing)", "(6, nothing)")]
    {
        session.define_listing("added.lowered", &text.replace("RESULT", result)).unwrap();
        check(&mut session, "added(Down(3))", of_own);
        check(&mut session, "added([1, 2, 3])", of_array);
    }
}

#[test]
fn what_is_left_of_changed_listings_is_valid() {
    // A line of a listing goes, or comes twice, or changes its place.
    let mut random = 7_u64;
    let mut below = |bound: usize| {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % bound.max(1)
    };
    let texts: Vec<String> = FILES.iter().map(|file| read(&format!("{file}.lowered"))).collect();
    let mut valid = 0;
    for _ in 0..2000 {
        let mut lines: Vec<&str> = texts[below(texts.len())].lines().collect();
        for _ in 0..1 + below(3) {
            let (i, j) = (below(lines.len()), below(lines.len()));
            match below(3) {
                0 => drop(lines.remove(i)),
                1 => lines.insert(i, lines[j]),
                _ => lines.swap(i, j),
            }
        }
        if let Ok(module) = parse_listing(&context(), "changed.lowered", &lines.join("\n")) {
            verify_module(&module).unwrap();
            valid += 1;
        }
    }
    assert!(valid > 300, "{valid}");
}
