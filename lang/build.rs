//! Finds the statements of the prelude, so that no session has to: see `src/prelude/index.rs`.

use std::fmt::{Debug, Write};
use std::path::Path;

#[path = "src/prelude/files.rs"]
mod files;
#[path = "src/prelude/heads.rs"]
mod heads;
#[path = "src/prelude/index.rs"]
#[expect(dead_code, reason = "sessions look names up")]
mod index;
#[path = "src/intrinsics/table.rs"]
#[expect(dead_code, reason = "the index is of the text alone")]
mod intrinsics;
#[path = "src/prelude/statements.rs"]
mod statements;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The texts are part of this program.
    println!("cargo::rerun-if-changed=build.rs");
    let index = index::Index::of(&files::FILES);
    let mut text = String::new();
    let names = index.names.iter().map(|name| {
        let index::Name { text, declares, statements } = name;
        format!(
            "Name {{ text: Cow::Borrowed({text:?}), declares: {declares:?}, statements: {statements:?} }}"
        )
    });
    list(&mut text, "NAMES: [Name", names)?;
    list(&mut text, "PLACES: [u16", debug(&index.places))?;
    list(&mut text, "STATEMENTS: [Statement", debug(&index.statements))?;
    list(&mut text, "TAKES: [Take", debug(&index.takes))?;
    list(&mut text, "MENTIONS: [u16", debug(&index.mentions))?;
    list(&mut text, "AT_ONCE: [(u16, Range<u32>)", debug(&index.at_once))?;
    text.push_str("pub(crate) static INDEX: Index = Index {\n");
    for field in ["names", "places", "statements", "takes", "mentions", "at_once"] {
        writeln!(text, "    {field}: Cow::Borrowed(&{}),", field.to_uppercase())?;
    }
    text.push_str("};\n");
    let folder = std::env::var("OUT_DIR")?;
    std::fs::write(Path::new(&folder).join("prelude_index.rs"), text)?;
    Ok(())
}

/// Values as they are written.
fn debug<T: Debug>(values: &[T]) -> impl ExactSizeIterator<Item = String> {
    values.iter().map(|value| format!("{value:?}"))
}

/// Writes a list as a static.
fn list(
    text: &mut String,
    head: &str,
    elements: impl ExactSizeIterator<Item = String>,
) -> std::fmt::Result {
    writeln!(text, "static {head}; {}] = [", elements.len())?;
    for element in elements {
        writeln!(text, "    {element},")?;
    }
    text.push_str("];\n");
    Ok(())
}
