//! The numbers of values and blocks.
//!
//! They are kept as they are given, unless they are so sparse that they would waste memory; then
//! everything is numbered in text order. What has no number gets the next one after the greatest.

use std::collections::hash_map::Entry;

use regraft_ir::OpDef;
use rustc_hash::FxHashMap;

use crate::builder::Builder;
use crate::function_text::{FunctionText, ValueRef};
use crate::report::range;

/// Numbers up to this many times the count (and a bit more) are kept.
const SPARSE: usize = 4;
const SPARSE_LEAST: usize = 1024;

/// From the numbers of a text to those of the function; 0 is "undefined".
pub(crate) enum Numbers {
    /// They are the same.
    Dense(Vec<u32>),
    Sparse(FxHashMap<u32, u32>),
}

impl Numbers {
    fn new(greatest: u32, count: usize) -> Self {
        if greatest as usize <= SPARSE * count + SPARSE_LEAST {
            Self::Dense(vec![0; greatest as usize + 1])
        } else {
            Self::Sparse(FxHashMap::default())
        }
    }

    #[inline]
    pub(crate) fn get(&self, given: u32) -> u32 {
        match self {
            Self::Dense(table) => table.get(given as usize).copied().unwrap_or(0),
            Self::Sparse(map) => map.get(&given).copied().unwrap_or(0),
        }
    }

    /// Defines `given`; `None` if it is defined already. `next` is the number it gets if
    /// numbers are not kept.
    #[inline]
    fn define(&mut self, given: u32, next: u32) -> Option<u32> {
        match self {
            Self::Dense(table) => {
                let entry = &mut table[given as usize];
                if *entry != 0 {
                    return None;
                }
                *entry = given;
                Some(given)
            }
            Self::Sparse(map) => match map.entry(given) {
                Entry::Occupied(_) => None,
                Entry::Vacant(entry) => Some(*entry.insert(next)),
            },
        }
    }
}

/// The numbers of all values and blocks of one function.
pub(crate) struct Numbering {
    pub(crate) values: Numbers,
    pub(crate) blocks: Numbers,
    /// By position in `FunctionText::names`.
    pub(crate) names: Vec<u32>,
    /// By position among the parameters and among the instructions; 0 for what is defined a
    /// second time, and for terminators.
    pub(crate) params: Vec<u32>,
    pub(crate) insts: Vec<u32>,
    /// By position among the blocks.
    pub(crate) block_numbers: Vec<u32>,
    pub(crate) value_count: u32,
    pub(crate) block_count: u32,
}

impl Builder<'_> {
    pub(crate) fn number_all(&mut self, text: &FunctionText<'_>) -> Numbering {
        let (mut greatest, mut count) = (0, 0);
        let params = text.params.iter().map(|param| param.value);
        for value in params.chain(text.insts.iter().map(|inst| inst.result)) {
            if let ValueRef::Number(number) = value {
                (greatest, count) = (number.max(greatest), count + 1);
            }
        }
        let greatest_block = text.blocks.iter().map(|b| b.number).filter(|&n| n != u32::MAX).max();
        let greatest_block = greatest_block.unwrap_or(0);
        let values = Numbers::new(greatest, count);
        // In a sparse text everything is numbered in order, else what has no number comes last.
        let next = if matches!(values, Numbers::Dense(_)) { greatest + 1 } else { 1 };
        let mut n = Numbering {
            values,
            blocks: Numbers::new(greatest_block, text.blocks.len()),
            names: vec![0; text.names.len()],
            params: Vec::with_capacity(text.params.len()),
            insts: Vec::with_capacity(text.insts.len()),
            block_numbers: Vec::with_capacity(text.blocks.len()),
            value_count: next,
            block_count: 1,
        };
        let mut params = 0;
        let mut insts = 0;
        self.number_params(text, &mut n, &mut params, text.param_count as usize);
        for block in &text.blocks {
            self.number_block(text, &mut n, block.number, block.at);
            self.number_params(text, &mut n, &mut params, block.params_end as usize);
            for inst in &text.insts[insts..block.insts_end as usize] {
                let terminates = inst.def.is_some_and(OpDef::is_terminator);
                let number =
                    if terminates { 0 } else { self.define(text, &mut n, inst.result, inst.at) };
                n.insts.push(number);
            }
            insts = block.insts_end as usize;
        }
        n.value_count = n.value_count.max(next) - 1;
        n.block_count = match &n.blocks {
            Numbers::Dense(_) => greatest_block.max(n.block_count - 1),
            Numbers::Sparse(_) => n.block_count - 1,
        };
        n
    }

    fn number_params(
        &mut self,
        text: &FunctionText<'_>,
        n: &mut Numbering,
        from: &mut usize,
        to: usize,
    ) {
        for param in &text.params[*from..to] {
            let number = self.define(text, n, param.value, param.at);
            n.params.push(number);
        }
        *from = to;
    }

    fn number_block(&mut self, text: &FunctionText<'_>, n: &mut Numbering, given: u32, at: u32) {
        let next = n.block_count;
        let number = match given {
            // The label is missing or wrong, which has been reported.
            0 | u32::MAX => 0,
            _ => match n.blocks.define(given, next) {
                Some(number) => number,
                None if self.report.only_counts() => 0,
                None => {
                    let first = text.blocks.iter().find(|b| b.number == given).map_or(at, |b| b.at);
                    self.defined_twice("block", at, first);
                    0
                }
            },
        };
        n.block_count += u32::from(number == next);
        n.block_numbers.push(number);
    }

    #[inline]
    fn define(
        &mut self,
        text: &FunctionText<'_>,
        n: &mut Numbering,
        value: ValueRef,
        at: u32,
    ) -> u32 {
        let next = n.value_count;
        let number = match value {
            ValueRef::None => next,
            ValueRef::Number(given) => match n.values.define(given, next) {
                Some(number) => number,
                None => {
                    self.value_twice(text, value, at);
                    return 0;
                }
            },
            ValueRef::Name(id) if n.names[id as usize] == 0 => {
                n.names[id as usize] = next;
                next
            }
            ValueRef::Name(_) => {
                self.value_twice(text, value, at);
                return 0;
            }
        };
        n.value_count += u32::from(number == next);
        number
    }

    #[cold]
    fn value_twice(&mut self, text: &FunctionText<'_>, value: ValueRef, at: u32) {
        if self.report.only_counts() {
            return;
        }
        let params = text.params.iter().map(|param| (param.value, param.at));
        let insts = text.insts.iter().map(|inst| (inst.result, inst.at));
        let first =
            params.chain(insts).filter(|&(other, _)| other == value).map(|(_, at)| at).min();
        self.defined_twice("value", at, first.unwrap_or(at));
    }

    #[cold]
    fn defined_twice(&mut self, what: &str, at: u32, first: u32) {
        let (second, first) = (self.token_at(at), self.token_at(first));
        let message = format!("{what} {} is defined twice", self.slice(second));
        self.error_with(second, message, "second definition", |d, source| {
            d.at(source, range(first), "first definition")
        });
    }
}
