//! The tool says its own name.

use std::process::Command;

fn says(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_mul-to-add")).args(args).output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

#[test]
fn help_and_version_are_those_of_the_tool() {
    let version = says(&["--version"]);
    assert!(version.starts_with("mul-to-add (regraft "), "{version}");
    let help = says(&["--help"]);
    assert!(help.contains("Usage: mul-to-add "), "{help}");
    assert!(says(&["opt"]).contains("Usage: mul-to-add opt "), "{}", says(&["opt"]));
    assert!(says(&["passes", "mul-to-add"]).contains("a pass over functions"));
    assert!(says(&["passes", "xyzzy"]).contains("`mul-to-add passes` lists all passes"));
}
