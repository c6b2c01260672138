//! The statements of files by the names that they define, with what their methods take.
//!
//! The index of the prelude is made when this crate is built (`build.rs`), so that a session notes nothing when it starts.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::heads::{self, head};
use super::statements::{Kind, Owner, internal, statements};

/// The statements of files. A text is a number wherever possible, and a list a range of a longer one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Index {
    /// The names that the statements define, and those of what methods take.
    pub(crate) names: Cow<'static, [Name]>,
    /// A hash table of the names: the number of one, and 1; 0 where there is none.
    pub(crate) places: Cow<'static, [u16]>,
    /// The statements about each name, in the order of the texts.
    pub(crate) statements: Cow<'static, [Statement]>,
    /// The parameters that say something about arguments.
    pub(crate) takes: Cow<'static, [Take]>,
    /// Numbers of names.
    pub(crate) mentions: Cow<'static, [u16]>,
    /// The statements that are run when a session starts: their files and ranges.
    pub(crate) at_once: Cow<'static, [(u16, Range<u32>)]>,
}

/// A name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Name {
    pub(crate) text: Cow<'static, str>,
    /// The kind of entity that is declared under the name, if one is.
    pub(crate) declares: Option<Declares>,
    /// The statements about it.
    pub(crate) statements: Range<u16>,
}

/// The kind of entity that a name is bound to when it is asked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Declares {
    /// A function.
    Function,
    /// A type.
    Type,
    /// A type that is known under another name, too.
    Alias,
    /// A constant.
    Constant,
}

/// A statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Statement {
    /// The number of its file.
    pub(crate) file: u16,
    /// Its range in the file.
    pub(crate) range: Range<u32>,
    /// The table of the methods that it defines; `None` of the declaration of a type.
    pub(crate) of: Option<TableOf>,
    /// The number of arguments that its methods have to be given.
    pub(crate) least: u8,
    /// The number of arguments that its methods can be given; `None` if there is no limit.
    pub(crate) most: Option<u8>,
    /// The parameters of its methods that say something about arguments, among [`Index::takes`].
    pub(crate) takes: Range<u16>,
}

/// The table that the methods of a statement belong to, said by a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TableOf {
    /// The table of the function of the name, or of the constructors of the type.
    Callee,
    /// The table of calls of values of the type.
    Instance,
    /// The table of the constructors of the type.
    Constructor,
    /// The table of constructors that are not of one type.
    AnyConstructor,
}

/// A parameter that says something about its argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Take {
    /// The position of the parameter.
    pub(crate) position: u8,
    pub(crate) taken: Taken,
    /// The names that it mentions, among [`Index::mentions`].
    pub(crate) names: Range<u16>,
}

/// The values that a parameter takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Taken {
    /// Values of types below one of the names.
    Below,
    /// The function, or the type, of the name.
    Only,
    /// Types below one of the names; any if there are none.
    TypeBelow,
}

/// The name of the type of types, under which constructors stand that are not of one type.
const TYPE: &str = "Type";

impl Index {
    /// The index of files: names and texts. O(texts).
    pub(crate) fn of<'t>(files: &[(&'t str, &'t str)]) -> Self {
        let mut found = Vec::new();
        let mut aliases = HashMap::new();
        for (file, &(_, text)) in (0u16..).zip(files) {
            for statement in statements(text) {
                let part = &text[statement.range.start as usize..statement.range.end as usize];
                if let Kind::Alias(name) = statement.kind {
                    aliases.insert(name, part.split_once(" = ").map_or("", |(_, ty)| ty));
                }
                found.push((file, statement, part));
            }
        }
        let alias = |name: &str| aliases.get(name).copied();
        let mut names = Names::default();
        let (mut noted, mut at_once) = (Vec::new(), Vec::new());
        let (mut takes, mut mentions) = (Vec::new(), Vec::new());
        for (file, statement, part) in found {
            let (range, kind) = (statement.range, statement.kind);
            let (of, declares) = match kind {
                Kind::Other => {
                    at_once.push((file, range));
                    continue;
                }
                Kind::Declaration(_) => (None, Declares::Type),
                Kind::Alias(_) => (None, Declares::Alias),
                Kind::Constant(_) => (None, Declares::Constant),
                Kind::Function(_) => (None, Declares::Function),
                Kind::Method(Owner::Named(_) | Owner::Macro(_)) => {
                    (Some(TableOf::Callee), Declares::Function)
                }
                Kind::Method(Owner::Instance(_)) => (Some(TableOf::Instance), Declares::Function),
                Kind::Method(Owner::Type(_)) => (Some(TableOf::Constructor), Declares::Function),
            };
            let head = if of.is_some() { head(part, &alias) } else { heads::Head::default() };
            let is_any = |name: &str| head.statics.iter().any(|(of, _)| *of == name);
            let (of, name) = match kind.name() {
                Some(name) if of == Some(TableOf::Constructor) && is_any(&name) => {
                    (Some(TableOf::AnyConstructor), Cow::Borrowed(TYPE))
                }
                Some(name) => (of, name),
                None => continue,
            };
            let name = names.declare(&name, declares);
            if of.is_none() && declares == Declares::Function {
                continue;
            }
            let first = takes.len() as u16;
            for (position, taken) in head.takes {
                let (taken, of) = match taken {
                    heads::Taken::Below(of) => (Taken::Below, of),
                    heads::Taken::Only(of) => (Taken::Only, vec![of]),
                    heads::Taken::TypeBelow(of) => (Taken::TypeBelow, of),
                };
                let start = mentions.len() as u16;
                mentions.extend(of.into_iter().map(|name| names.number(&internal(name))));
                let names = start..mentions.len() as u16;
                takes.push(Take { position: position as u8, taken, names });
            }
            let most = head.most.map(|most| most as u8);
            let takes = first..takes.len() as u16;
            let least = head.least as u8;
            noted.push((name, Statement { file, range, of, least, most, takes }));
        }
        assert!(mentions.len().max(takes.len()).max(noted.len()) < usize::from(u16::MAX));
        noted.sort_by_key(|&(name, _)| name);
        for (number, &(name, _)) in (0u16..).zip(&noted) {
            let range = &mut names.all[usize::from(name)].statements;
            range.start = if range.end == 0 { number } else { range.start };
            range.end = number + 1;
        }
        let statements = noted.into_iter().map(|(_, statement)| statement).collect();
        Self {
            places: places(&names.all).into(),
            names: names.all.into(),
            statements: Cow::Owned(statements),
            takes: takes.into(),
            mentions: mentions.into(),
            at_once: at_once.into(),
        }
    }

    /// The number of a name. O(length).
    pub(crate) fn find(&self, name: &str) -> Option<u16> {
        let mut place = hash_of(name);
        loop {
            place &= self.places.len() - 1;
            let number = self.places[place].checked_sub(1)?;
            if self.names[usize::from(number)].text == name {
                return Some(number);
            }
            place += 1;
        }
    }
}

/// Names, while an index is made.
#[derive(Default)]
struct Names {
    all: Vec<Name>,
    numbers: HashMap<String, u16>,
}

impl Names {
    fn number(&mut self, name: &str) -> u16 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.all.len() as u16;
        self.numbers.insert(name.to_owned(), number);
        self.all.push(Name { text: name.to_owned().into(), declares: None, statements: 0..0 });
        number
    }

    fn declare(&mut self, name: &str, declares: Declares) -> u16 {
        let number = self.number(name);
        let declared = &mut self.all[usize::from(number)].declares;
        *declared = (*declared).max(Some(declares));
        number
    }
}

/// A hash table of names, of which at least half is free.
fn places(names: &[Name]) -> Vec<u16> {
    let mut places = vec![0; (2 * names.len() + 1).next_power_of_two()];
    for (number, name) in (1..).zip(names) {
        let mut place = hash_of(&name.text);
        while places[place % places.len()] != 0 {
            place += 1;
        }
        let count = places.len();
        places[place % count] = number;
    }
    places
}

/// The hash of a name: that of Fowler, Noll and Vo.
fn hash_of(name: &str) -> usize {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
    let hash = name.bytes().fold(2_166_136_261, step);
    (hash ^ hash >> 15) as usize
}
