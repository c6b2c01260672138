//! Links the command line.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |what: &str, value: &str| std::env::var(what).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        // At addresses that are fixed: else 40,000 of them are written into the tables of LLVM and of passes each time that
        // the program starts, which makes a copy of each page.
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
