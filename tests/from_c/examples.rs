//! The examples that link object files.

use std::process::Command;

use super::common::folder;
use super::{built, has_c, printed, runtime};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn the_example_in_c_runs() {
    if !has_c() {
        return;
    }
    let folder = folder("from_c_example");
    let mut build = Command::new("sh");
    build.arg(format!("{ROOT}/examples/from-c/build.sh")).env("OUT", &folder);
    build.env("REGRAFT", env!("CARGO_BIN_EXE_regraft")).env("RUNTIME", runtime());
    printed(&mut build);
    let output = printed(&mut Command::new(folder.join("fit")));
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines[0], "1.000 + 2.000 t, loss 0.000000");
    assert!(lines[1].starts_with("BoundsError"), "{output}");
}

/// As cargo does it: the build script is compiled and run, then the program with what that has said.
#[test]
fn the_example_in_rust_runs() {
    let (folder, example) = (folder("from_c_rust"), format!("{ROOT}/examples/ahead-of-time"));
    let rustc = |source: &str, name: &str| {
        let mut rustc = Command::new("rustc");
        rustc.args(["--edition", "2024", "-O", "-o"]).arg(folder.join(name));
        let library = built(name, ".rlib");
        let search = format!("dependency={}", library.parent().unwrap().display());
        rustc.arg(format!("{example}/{source}")).args(["-L", &search]);
        rustc.arg("--extern").arg(format!("{name}={}", library.display()));
        rustc.env("OUT_DIR", &folder);
        rustc
    };
    printed(&mut rustc("build.rs", "regraft_build"));
    let mut script = Command::new(folder.join("regraft_build"));
    script.current_dir(&example).env("OUT_DIR", &folder).env("CARGO_FEATURE_COMPILED", "1");
    let said = printed(script.env("REGRAFT", env!("CARGO_BIN_EXE_regraft")));
    assert!(said.contains("cargo::rerun-if-changed=src/rosenbrock.jl"), "{said}");
    let mut program = rustc("src/main.rs", "regraft_runtime");
    for line in said.lines() {
        if let Some(folder) = line.strip_prefix("cargo::rustc-link-search=") {
            program.args(["-L", folder]);
        }
        if let Some(library) = line.strip_prefix("cargo::rustc-link-lib=") {
            program.args(["-l", library]);
        }
    }
    printed(&mut program);
    let output = printed(&mut Command::new(folder.join("regraft_runtime")));
    assert_eq!(output, "start: 24.2000\nend: 0.0000 at 1.000 1.000\n");
}
