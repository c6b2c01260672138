//! The index of the files of the prelude, made when this crate is built (`build.rs`).

use std::borrow::Cow;
use std::ops::Range;

use super::index::Declares::{Alias, Constant, Function, Type};
use super::index::TableOf::{AnyConstructor, Callee, Constructor, Instance};
use super::index::Taken::{Below, Only, TypeBelow};
use super::index::{Index, Name, Statement, Take};

include!(concat!(env!("OUT_DIR"), "/prelude_index.rs"));

#[cfg(test)]
mod tests {
    use super::INDEX;
    use crate::prelude::files::FILES;
    use crate::prelude::index::Index;

    #[test]
    fn the_index_says_what_the_texts_say() {
        assert_eq!(INDEX, Index::of(&FILES));
        for (number, name) in (0..).zip(&*INDEX.names) {
            assert_eq!(INDEX.find(&name.text), Some(number));
        }
        assert_eq!(INDEX.find("no such name"), None);
        assert!(INDEX.find("#Int").is_some() && INDEX.find("@eval").is_some());
    }
}
