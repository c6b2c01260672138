//! A cache of calls that resolve to one op, such as `x + y` and `i + 1`: most instructions of most
//! programs.
//!
//! The op follows from the name, the attributes, and the lattice values of the
//! arguments, as long as no two of them are the same value: an op sees of an operand that is not
//! constant its type alone, and whether it is another operand. So the answer is kept in a table
//! of fixed size, in which a new one takes the place of an old one, and the name, the method, the
//! type of the result and the fold are asked for once. A definition that changes any answer
//! empties the table.

use std::hash::{Hash, Hasher};

use regraft_dialects::{core as core_ops, data};
use regraft_ir::{Attrs, Const, Op, Symbol, Type};
use rustc_hash::FxHasher;

use super::frame::{Arg, Frame, StepKind};
use super::lattice::Lattice;
use super::method_facts::{Code, MethodFacts, Piece};
use crate::definition::Space;
use crate::world::SpecId;

/// The most arguments of such a call.
const MAX_ARGS: usize = 3;
/// The number of entries of the cache, a power of two.
const ENTRIES: usize = 512;

/// A call by name with what is known of its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Question {
    name: Symbol,
    attrs: Attrs,
    space: Space,
    count: u8,
    args: [Lattice; MAX_ARGS],
}

impl Question {
    /// The question for a call, if the answer would hold for others like it.
    #[inline]
    pub(super) fn new(frame: &Frame, name: Symbol, args: &[Arg], attrs: Attrs) -> Option<Self> {
        if args.is_empty() || args.len() > MAX_ARGS {
            return None;
        }
        let mut known = [Lattice::Bottom; MAX_ARGS];
        for (i, &arg) in args.iter().enumerate() {
            known[i] = match frame.lattice(arg) {
                constant @ Lattice::Const(_) => constant,
                Lattice::Of(ty) if !args[..i].contains(&arg) => Lattice::Of(ty),
                _ => return None,
            };
        }
        Some(Self { name, attrs, space: frame.space, count: args.len() as u8, args: known })
    }

    #[inline]
    fn place(&self) -> usize {
        let mut hasher = FxHasher::default();
        (self.name, self.args[0], self.args[1]).hash(&mut hasher);
        hasher.finish() as usize & (ENTRIES - 1)
    }
}

/// The op that a call came down to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    becomes: Becomes,
    /// True if the call can be left away if nobody needs its result.
    harmless: bool,
    /// The dependencies of the answer: the name and the method.
    pub(super) from: [SpecId; 2],
}

#[derive(Clone, Copy, Debug)]
enum Becomes {
    Constant(Const),
    /// An op on the arguments at these positions.
    Op {
        op: Op,
        ty: Type,
        attrs: Attrs,
        result: Lattice,
        count: u8,
        positions: [u8; MAX_ARGS],
    },
}

impl Answer {
    /// The answer that was just found, `first_step` being the number of steps before, and `from`
    /// what tells of the name and the method.
    pub(super) fn of(
        frame: &Frame,
        facts: &MethodFacts,
        first_step: usize,
        result: Arg,
        from: [SpecId; 2],
    ) -> Option<Self> {
        let Code::Op { def, pieces, .. } = &facts.code else { return None };
        let special = matches!(
            def.op,
            core_ops::GET
                | core_ops::TUPLE
                | core_ops::APPLY
                | core_ops::SPLAT
                | data::GETFIELD
                | data::NEW
                | data::NAMED
        );
        if special || facts.vararg {
            return None;
        }
        let becomes = match (&frame.steps[first_step..], result) {
            ([], Arg::Operand(operand)) => Becomes::Constant(operand.as_const()?),
            (&[step], Arg::Step(number)) if number as usize == first_step => {
                let StepKind::Op(op, ty) = step.kind else { return None };
                let count = step.args.1 - step.args.0;
                if op != def.op || count as usize != pieces.len() || pieces.len() > MAX_ARGS {
                    return None;
                }
                let mut positions = [0; MAX_ARGS];
                for (position, piece) in positions.iter_mut().zip(pieces) {
                    let &Piece::Param(i) = piece else { return None };
                    *position = i as u8;
                }
                let (attrs, result, count) = (step.attrs, step.result, count as u8);
                Becomes::Op { op, ty, attrs, result, count, positions }
            }
            _ => return None,
        };
        let harmless = matches!(becomes, Becomes::Constant(_)) || def.is_removable();
        Some(Self { becomes, harmless, from })
    }

    /// The call, with these arguments.
    #[inline]
    pub(super) fn replay(self, frame: &mut Frame, args: &[Arg]) -> Arg {
        frame.effect_free &= self.harmless;
        match self.becomes {
            Becomes::Constant(constant) => Arg::Operand(constant.into()),
            Becomes::Op { op, ty, attrs, result, count, positions } => {
                let operands = positions.map(|i| args[usize::from(i)]);
                frame.push(StepKind::Op(op, ty), &operands[..usize::from(count)], result, attrs)
            }
        }
    }
}

/// The answers that are kept.
#[derive(Debug)]
pub(super) struct KnownOps {
    entries: Box<[Option<(Question, Answer)>]>,
}

impl Default for KnownOps {
    fn default() -> Self {
        Self { entries: vec![None; ENTRIES].into_boxed_slice() }
    }
}

impl KnownOps {
    /// Returns the op that a call becomes, if that is known.
    #[inline]
    pub(super) fn answer(&self, question: &Question) -> Option<Answer> {
        match &self.entries[question.place()] {
            Some((known, answer)) if known == question => Some(*answer),
            _ => None,
        }
    }

    pub(super) fn remember(&mut self, question: Question, answer: Answer) {
        self.entries[question.place()] = Some((question, answer));
    }

    /// Empties the table.
    pub(super) fn forget(&mut self) {
        self.entries.fill(None);
    }
}
