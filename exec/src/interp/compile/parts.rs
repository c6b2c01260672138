//! Results that are taken apart at once, and tuples that are made to be returned.
//!
//! ```text
//! %3: tuple<f64, any> = call @f(%1)                 ...
//! %4: any = core.get %3, 2                          %9: tuple<f64, any> = core.tuple %7, %8
//! %5: f64 = core.get %3, 1                          return %9
//! ```
//!
//! Where both meet, the parts go from the registers of the function to those of the caller, and
//! there is no tuple. So several results cost little more than one.
//!
//! The parts are there when the call returns: they count as instructions that stand just after it.

use regraft_dialects::{cf, core, data};
use regraft_ir::{Block, Value};
use smallvec::SmallVec;

use super::super::register::Dst;
use super::Compiler;

/// As many parts are taken at once.
const MAX_PARTS: usize = 8;

impl Compiler<'_> {
    /// Finds all of them. O(instructions and uses).
    pub(super) fn find_parts(&mut self) {
        for i in 0..self.blocks.len() {
            let block = self.blocks[i];
            for v in self.f.body(block) {
                if let Some(parts) = self.parts_of(v, block) {
                    self.parts.taken.extend(parts.iter().copied());
                    self.parts.calls.insert(v, parts);
                }
            }
            self.parts.returned.extend(self.tuple_to_return(block));
        }
    }

    /// The instructions that take parts of the result of a call, if nothing else uses it.
    fn parts_of(&self, v: Value, block: Block) -> Option<SmallVec<[Value; 4]>> {
        let f = self.f;
        if !matches!(f.op(v), Some(core::CALL | core::APPLY)) || f.ty(v).is_scalar() {
            return None;
        }
        let mut parts: SmallVec<[Value; 4]> = SmallVec::new();
        for by in f.uses(v) {
            let takes = matches!(f.op(by.user), Some(core::GET | data::GETFIELD))
                && by.index == 0
                && f.block_of(by.user) == block
                && self.position(by.user).is_some();
            if !takes || parts.len() == MAX_PARTS {
                return None;
            }
            parts.push(by.user);
        }
        parts.sort_unstable_by(|&a, &b| f.comes_before(b, a).cmp(&f.comes_before(a, b)));
        (!parts.is_empty()).then_some(parts)
    }

    /// The position, from 0, of the part that an instruction takes.
    fn position(&self, v: Value) -> Option<u32> {
        let index = self.f.const_i64(self.f.operand(v, 1)?)?;
        (1..=0xffff).contains(&index).then(|| index as u32 - 1)
    }

    fn tuple_to_return(&self, block: Block) -> Option<Value> {
        let f = self.f;
        let end = Value::terminator(block);
        let tuple = f.operand(end, 0).filter(|_| f.op(end) == Some(cf::RETURN))?.as_value()?;
        let is_made = f.op(tuple) == Some(core::TUPLE) && f.body(block).last() == Some(tuple);
        (is_made && f.uses(tuple).count() == 1).then_some(tuple)
    }

    /// The instructions of a block in the order in which they are run.
    pub(super) fn order(&self, block: Block) -> Vec<Value> {
        let body = self.f.body(block);
        if self.parts.calls.is_empty() {
            return body.collect();
        }
        let mut order = Vec::new();
        for v in body.filter(|v| !self.parts.taken.contains(v)) {
            order.push(v);
            order.extend(self.parts.calls.get(&v).into_iter().flatten());
        }
        order
    }

    /// Returns whether an instruction takes a part of a result when the call returns.
    pub(super) fn is_part(&self, v: Value) -> bool {
        self.parts.taken.contains(&v)
    }

    /// Returns whether a tuple is only returned.
    pub(super) fn is_returned(&self, v: Value) -> bool {
        self.parts.returned.contains(&v)
    }

    /// The places that the parts of the result of a call go to, by position.
    pub(super) fn taken_parts(&self, v: Value) -> Option<Box<[(u32, Dst)]>> {
        let parts = self.parts.calls.get(&v)?;
        let place = |&part: &Value| Some((self.position(part)?, self.dsts[part.index()]));
        parts.iter().map(place).collect()
    }
}
