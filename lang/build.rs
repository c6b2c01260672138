//! Finds the statements of the prelude, so that no session has to: see `src/prelude/index.rs`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Write;
use std::path::Path;

#[path = "src/prelude/files.rs"]
mod files;
#[path = "src/prelude/statements.rs"]
mod statements;

use files::FILES;
use statements::{Kind, Owner, statements};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The texts are part of this program.
    println!("cargo::rerun-if-changed=build.rs");
    let (mut names, mut numbers) = (String::new(), HashMap::new());
    let mut index = format!("static STATEMENTS: [&[Statement<u16>]; {}] = [\n", FILES.len());
    for (_, text) in FILES {
        writeln!(index, "    &[")?;
        for statement in statements(text) {
            let kind = statement.kind.internal().map(|name| {
                let next = numbers.len();
                match numbers.entry(name.into_owned()) {
                    Entry::Occupied(entry) => *entry.get(),
                    Entry::Vacant(entry) => {
                        names.push_str(entry.key());
                        names.push('\n');
                        *entry.insert(next)
                    }
                }
            });
            let kind = match kind {
                Kind::Method(Owner::Named(name)) => format!("Kind::Method(Owner::Named({name}))"),
                Kind::Method(Owner::Macro(name)) => format!("Kind::Method(Owner::Macro({name}))"),
                Kind::Method(Owner::Instance(name)) => {
                    format!("Kind::Method(Owner::Instance({name}))")
                }
                Kind::Method(Owner::Type(name)) => format!("Kind::Method(Owner::Type({name}))"),
                Kind::Declaration(name) => format!("Kind::Declaration({name})"),
                Kind::Alias(name) => format!("Kind::Alias({name})"),
                Kind::Other => "Kind::Other".to_owned(),
            };
            writeln!(index, "        Statement {{ range: {:?}, kind: {kind} }},", statement.range)?;
        }
        writeln!(index, "    ],")?;
    }
    writeln!(index, "];\nstatic NAMES: &str = {names:?};")?;
    let folder = std::env::var("OUT_DIR")?;
    std::fs::write(Path::new(&folder).join("prelude_index.rs"), index)?;
    Ok(())
}
