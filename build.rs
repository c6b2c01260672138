//! Links the command line.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |what: &str, value: &str| std::env::var(what).is_ok_and(|found| found == value);
    let features = std::env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    let is_static = features.split(',').any(|feature| feature == "crt-static");
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") && !is_static {
        // At addresses that are fixed: else 40,000 of them are written into the tables of LLVM and of passes each time that
        // the program starts, which makes a copy of each page. The price is that the code of the program itself is always at
        // the same place in memory.
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
