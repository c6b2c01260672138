//! The command line tool that knows the ops of this crate.

fn main() -> std::process::ExitCode {
    regraft::tool!().with_extensions(own_dialect::extensions()).main()
}
