//! The statements of the files of the prelude, found when this crate is built (`build.rs`).

use regraft_ir::{Context, Symbol};

use super::files::FILES;
use super::statements::{Kind, Owner, Statement};

include!(concat!(env!("OUT_DIR"), "/prelude_index.rs"));

/// A file with its statements.
pub(crate) struct File {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
    pub(crate) statements: &'static [Statement<u16>],
}

/// The files, in the order in which they are run.
pub(crate) fn files() -> impl Iterator<Item = File> {
    let files = FILES.into_iter().zip(STATEMENTS);
    files.map(|((name, text), statements)| File { name, text, statements })
}

/// The names that the statements define, by their numbers.
pub(crate) fn names(ctx: &Context) -> Vec<Symbol> {
    ctx.reserve_symbols(NAMES.lines().count());
    NAMES.lines().map(|name| ctx.symbol(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::{NAMES, files};
    use crate::prelude::statements::{Kind, statements};

    #[test]
    fn the_index_says_what_the_texts_say() {
        let names: Vec<&str> = NAMES.lines().collect();
        for file in files() {
            let found: Vec<_> = statements(file.text).collect();
            assert_eq!(found.len(), file.statements.len(), "{}", file.name);
            for (found, indexed) in found.into_iter().zip(file.statements) {
                assert_eq!(found.range, indexed.range);
                let number = |name: &str| names.iter().position(|&other| other == name).unwrap();
                assert_eq!(found.kind.internal().map(|name| number(&name) as u16), indexed.kind);
            }
        }
        assert_eq!(files().next().unwrap().statements[0].kind, Kind::Alias(0));
        assert_eq!(names[0], "#Int");
        assert!(names.contains(&"@eval") && names.contains(&"#collect"));
    }
}
