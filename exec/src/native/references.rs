//! The table in which code of an object file finds addresses.
//!
//! Code in memory holds the addresses of what it works on. Code in a file cannot: each thread that loads it has
//! compact code, constants and tables of its own. So it takes them from a table, which the
//! [context](super::NativeContext) of the run points to, and the file says what belongs into that table.

use rustc_hash::FxHashMap;

use super::emitter::{Address, Function};
use super::functions::{Runtime, all_functions};
use crate::interp::Code;

/// Something whose address code needs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Reference {
    /// A function of ours, by its number in the [list](all_functions).
    Function(u32),
    /// The compact code of a member of the unit.
    Code(u32),
    /// A constant of a member.
    Constant(u32, u32),
    /// The table of a switch of a member.
    Switch(u32, u32),
}

impl Reference {
    /// The form in a file.
    pub(crate) fn words(self) -> [u32; 3] {
        match self {
            Self::Function(number) => [0, number, 0],
            Self::Code(member) => [1, member, 0],
            Self::Constant(member, index) => [2, member, index],
            Self::Switch(member, index) => [3, member, index],
        }
    }

    /// Reads the form in a file.
    fn of_words(words: [u32; 3]) -> Option<Self> {
        Some(match words {
            [0, number, _] => Self::Function(number),
            [1, member, _] => Self::Code(member),
            [2, member, index] => Self::Constant(member, index),
            [3, member, index] => Self::Switch(member, index),
            _ => return None,
        })
    }
}

/// The references of the code of a unit, as they are met.
pub(crate) struct References {
    /// The numbers of the members by their slots in the world.
    members: FxHashMap<u32, u32>,
    functions: FxHashMap<&'static str, u32>,
    list: Vec<Reference>,
    numbers: FxHashMap<Reference, u32>,
}

impl References {
    /// None, for a unit with these members.
    pub(crate) fn new<'a>(members: impl Iterator<Item = &'a Code>, runtime: &Runtime) -> Self {
        let members = members.zip(0..).map(|(code, number)| (code.slot, number)).collect();
        let functions = all_functions(runtime).zip(0..);
        let functions = functions.map(|(function, number)| (function.name, number)).collect();
        Self { members, functions, list: Vec::new(), numbers: FxHashMap::default() }
    }

    /// The place of an address in the table.
    pub(crate) fn number_of(&mut self, address: Address<'_>) -> u32 {
        let member = |code: &Code| self.members[&code.slot];
        self.number(match address {
            Address::Code(code) => Reference::Code(member(code)),
            Address::Constant(code, index) => Reference::Constant(member(code), index),
            Address::Switch(code, index) => Reference::Switch(member(code), index),
        })
    }

    /// The place of the address of a function of ours in the table.
    pub(crate) fn number_of_function(&mut self, function: &Function) -> u32 {
        self.number(Reference::Function(self.functions[function.name]))
    }

    fn number(&mut self, reference: Reference) -> u32 {
        let next = self.list.len() as u32;
        let number = *self.numbers.entry(reference).or_insert(next);
        if number == next {
            self.list.push(reference);
        }
        number
    }

    /// The references in the order of the table.
    pub(crate) fn list(&self) -> &[Reference] {
        &self.list
    }
}

/// The table that a file asks for; `None` if it asks for what there is not.
pub(crate) fn table(
    references: &[[u32; 3]],
    members: &[&Code],
    runtime: &Runtime,
) -> Option<Box<[*const u8]>> {
    let functions: Vec<Function> = all_functions(runtime).collect();
    let member = |number: u32| members.get(number as usize).copied();
    let address = |&words: &[u32; 3]| {
        Some(match Reference::of_words(words)? {
            Reference::Function(number) => functions.get(number as usize)?.address,
            Reference::Code(number) => Address::Code(member(number)?).pointer(),
            Reference::Constant(number, index) => {
                let code = member(number)?;
                code.vals.get(index as usize)?;
                Address::Constant(code, index).pointer()
            }
            Reference::Switch(number, index) => {
                let code = member(number)?;
                code.switches.get(index as usize)?;
                Address::Switch(code, index).pointer()
            }
        })
    };
    references.iter().map(address).collect()
}
