//! Tables of methods, and the answers to questions for methods.

use std::hash::{Hash, Hasher};

use hashbrown::HashTable;
use regraft_ir::Type;
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;

use super::backedges::Dependents;
use super::entities::{Dispatch, MethodId};
use super::method::TableKey;

/// The methods of one callee, or one kind of callees.
#[derive(Default, Debug)]
pub(super) struct Table {
    /// In order of definition.
    pub methods: Vec<MethodId>,
    /// The questions that it had a part in answering.
    pub(super) questions: Vec<u32>,
    /// The specialisations that know all its methods.
    pub(super) watchers: Dependents,
    /// The values, and positions, for which no method has a parameter.
    pub(super) unmentioned: FxHashMap<(Type, usize), Unmentioned>,
}

/// The answer that no method has a parameter for a value at a position.
#[derive(Default, Debug)]
pub(super) struct Unmentioned {
    /// The specialisations that know it.
    pub(super) dependents: Dependents,
    /// The number of names of the prelude that had been asked for.
    pub(super) known: usize,
}

impl Table {
    /// Returns whether it had a part in answering a question.
    pub fn was_asked(&self) -> bool {
        !(self.questions.is_empty() && self.unmentioned.is_empty())
    }
}

#[derive(Debug)]
pub(super) struct Question {
    pub(super) callee: Type,
    pub(super) args: TypeList,
    pub(super) answer: Dispatch,
    pub(super) dependents: Dependents,
}

/// The types of the arguments of a call.
pub(super) type TypeList = SmallVec<[Type; 4]>;

/// Questions and answers.
#[derive(Default, Debug)]
pub(super) struct Cache {
    pub(super) index: HashTable<u32>,
    pub(super) questions: Vec<Question>,
}

#[inline]
fn hash_of(callee: Type, args: &[Type]) -> u64 {
    let mut hasher = FxHasher::default();
    callee.hash(&mut hasher);
    args.iter().for_each(|ty| ty.hash(&mut hasher));
    hasher.finish()
}

impl Cache {
    #[inline]
    pub(super) fn find(&self, callee: Type, args: &[Type]) -> Option<u32> {
        let same = |&id: &u32| {
            let question = &self.questions[id as usize];
            question.callee == callee && *question.args == *args
        };
        self.index.find(hash_of(callee, args), same).copied()
    }

    pub(super) fn insert(&mut self, callee: Type, args: &[Type], answer: Dispatch) -> u32 {
        let id = self.questions.len() as u32;
        let args = TypeList::from_slice(args);
        let code = hash_of(callee, &args);
        self.questions.push(Question { callee, args, answer, dependents: Dependents::new() });
        let questions = &self.questions;
        self.index.insert_unique(code, id, |&id| {
            let question = &questions[id as usize];
            hash_of(question.callee, &question.args)
        });
        id
    }
}

/// Tables by what they are of.
pub(super) type Tables = FxHashMap<TableKey, Table>;
