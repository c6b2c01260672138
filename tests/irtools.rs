//! The scripts in `examples/irtools`: what each prints. Values are by hand or by differences in the scripts themselves.

use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Scripts and what they print.
const SCRIPTS: [(&str, &str); 7] = [
    ("amb.jl", "k(4) = 16\n1 + k(k(5)) = 21\n(2, 3)\n(3, 4, 5)\nnothing\n"),
    ("call_logger.jl", "norm2(3, 4)\nsquare(3)\n*(3, 3)\nsquare(4)\n*(4, 4)\n+(9, 16)\n= 25\n"),
    ("continuations.jl", "k(4) = 16\n1 + k(k(5)) = 21\n"),
    ("forward_mode.jl", "f'(0.5)  = 0.76309\nf''(0.5) = -0.958083\ntrue\ntrue\n"),
    ("petite_zygote.jl", "(1.0, 1.5403023058681398)\n(27.0,)\ntrue true\n"),
    ("profiler.jl", "true\nvolume\n  area\n    *\n    *\n  *\nsin\n+\nbalanced: true\n"),
    (
        "sneaky_invoke.jl",
        "(\"the method for integers\", 0)\n(\"the method for floats\", 0.5)\n(\"the method for integers\", 1)\n",
    ),
];

#[test]
fn every_script_prints_what_it_should() {
    let folder = Path::new(ROOT).join("examples/irtools");
    let mut there: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".jl"))
        .collect();
    there.sort();
    assert_eq!(there, SCRIPTS.map(|(name, _)| name));
    for (name, expected) in SCRIPTS {
        let output = Command::new(env!("CARGO_BIN_EXE_regraft"))
            .args(["run", name])
            .current_dir(&folder)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{name}:\n{errors}");
    }
}

#[test]
fn the_reverse_mode_of_a_page_is_a_page() {
    let text = include_str!("../examples/irtools/petite_zygote.jl");
    assert!(text.lines().count() <= 120);
}

/// A folder of its own for a test, with the file of the passes and what they run on.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("irtools").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("passes.jl"), PASSES).unwrap();
    std::fs::write(folder.join("f.jl"), "f(x) = 2.0 * x * x + sin(x)\n").unwrap();
    std::fs::copy(Path::new(ROOT).join("examples/ir/pow.ir"), folder.join("pow.ir")).unwrap();
    folder
}

/// Runs the tool in the folder: whether it succeeds, its output, and its errors.
fn tool(folder: &Path, args: &[&str]) -> (bool, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_regraft"))
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

const PASSES: &str = "
using IRTools
using IRTools: xcall, isexpr, insertafter!

op(name) = GlobalRef(Base, Symbol(name))
calls(st, name) = isexpr(st.expr, :call) && st.expr.args[1] == op(name)

# `2.0 * x` becomes `x + x`.
@irpass function mul_to_add(ir; factor = 2.0)
    for (v, st) in ir
        calls(st, \"arith.mul\") && st.expr.args[2] == factor || continue
        ir[v] = xcall(Symbol(\"arith.add\"), st.expr.args[3], st.expr.args[3])
    end
end
# Wrong: it takes sums for differences.
@irpass function wrong(ir)
    for (v, st) in ir
        calls(st, \"arith.add\") && (ir[v] = xcall(Symbol(\"arith.sub\"), st.expr.args[2:end]...))
    end
end
";

#[test]
fn a_pass_of_a_file_runs_on_scripts_and_on_ir() {
    let folder = folder("runs");
    let load = ["opt", "--load", "passes.jl", "-p"];
    let script =
        [&load[..], &["mul-to-add, dce", "f.jl", "--entry", "f(Float64)", "--check", "20"]];
    let (ok, out, err) = tool(&folder, &script.concat());
    assert!(ok, "{err}");
    assert!(out.contains("arith.add %x, %x") && err.contains("mul-to-add"), "{out}{err}");
    let (ok, out, err) = tool(
        &folder,
        &[&load[..], &["mul-to-add{factor=3.0}", "f.jl", "--entry", "f(Float64)", "--diff"]]
            .concat(),
    );
    assert!(ok && out.is_empty(), "{out}{err}");
    let (ok, _, err) =
        tool(&folder, &[&load[..], &["mul-to-add", "pow.ir", "--check", "20"]].concat());
    assert!(ok, "{err}");
}

#[test]
fn a_pass_of_a_file_that_is_wrong_is_found_by_running() {
    let folder = folder("wrong");
    let (ok, _, err) = tool(
        &folder,
        &[
            "opt",
            "--load",
            "passes.jl",
            "-p",
            "wrong",
            "f.jl",
            "--entry",
            "f(Float64)",
            "--check",
            "20",
        ],
    );
    assert!(!ok && err.contains("wrong") && err.contains("f(Float64)"), "{err}");
    let (ok, _, err) = tool(
        &folder,
        &["fuzz", "--load", "passes.jl", "-p", "mul-to-add", "--cases", "20", "--threads", "1"],
    );
    assert!(ok, "{err}");
    let (ok, _, err) = tool(&folder, &["opt", "--load", "f.jl", "-p", "dce", "pow.ir"]);
    assert!(!ok && err.contains("f.jl defines no pass"), "{err}");
}

#[test]
fn a_dynamo_without_end_is_stopped() {
    let file = folder("endless").join("endless.jl");
    let text = "using IRTools: IR, @dynamo\n\
                @dynamo function more(f, n)\n    return :(more(args[1], Val(args[2])))\nend\n\
                @dynamo function forever(f)\n    while true end\n    IR(f)\nend\n\
                try\n    more(sin, 1)\ncatch e\n    println(\"caught\")\nend\n\
                forever(sin)\n";
    std::fs::write(&file, text).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_regraft"))
        .args(["run", "--fuel", "3000000"])
        .arg(&file)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "caught\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains("the fuel limit"));
}
