//! Turns the grammars into parsers.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    lalrpop::process_src()
}
