//! Places whose indices are a value and a constant, so that they can be expressed in other blocks.

use regraft_dialects::arith;
use regraft_ir::{Block, Edge, Function, IrResult, Operand, Type, Value};
use smallvec::SmallVec;

use crate::analysis::memory_location::{MemoryLocation, Overlap, Place, offset};

/// So many additions of constants are looked through.
const MAX_SUMS: usize = 4;

/// An integer: a value, if there is one, and a constant that is added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Index {
    base: Option<Operand>,
    plus: i64,
}

impl Index {
    fn of(f: &Function, operand: Operand) -> Self {
        let mut index = Self { base: Some(operand), plus: 0 };
        for _ in 0..MAX_SUMS {
            let Some(base) = index.base.filter(|&base| f.operand_type(base) == Type::I64) else {
                break;
            };
            let (base, plus) = offset(f, base);
            if base == index.base {
                break;
            }
            index = Self { base, plus: index.plus.wrapping_add(plus) };
        }
        index
    }

    fn overlap(self, other: Self) -> Overlap {
        match self.base == other.base {
            true if self.plus == other.plus => Overlap::Must,
            true => Overlap::No,
            false => Overlap::May,
        }
    }
}

/// A place in an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SymbolicPlace {
    object: Operand,
    /// The ref, field or element.
    part: Part,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Part {
    Ref,
    Field(Operand),
    Element(SmallVec<[Index; 3]>),
}

impl SymbolicPlace {
    /// The place that an instruction reads or writes, if it is one place.
    pub(super) fn of(f: &Function, v: Value) -> Option<Self> {
        let MemoryLocation { object, place } = MemoryLocation::of(f, v)?;
        let part = match place {
            Place::Ref => Part::Ref,
            Place::Field(field) => Part::Field(f.constant(field).is_some().then_some(field)?),
            Place::Element(indices) => {
                Part::Element(indices.into_iter().map(|index| Index::of(f, index)).collect())
            }
        };
        Some(Self { object, part })
    }

    /// The object.
    pub(super) fn object(&self) -> Operand {
        self.object
    }

    /// The same place, if it can be expressed at the start of `block`: by parameters of that, and by
    /// values that are not in blocks that are `inside`.
    pub(super) fn at_start_of(
        self,
        f: &Function,
        block: Block,
        inside: impl Fn(Block) -> bool,
    ) -> Option<Self> {
        let known = |v: Value| match f.block_of(v) {
            home if home == block => f.is_param(v),
            home => !inside(home),
        };
        let all = self.values().all(known);
        all.then_some(self)
    }

    /// The place before an edge that is this one at the start of the block that the edge leads to.
    pub(super) fn along(&self, f: &Function, edge: Edge) -> Option<Self> {
        let target = f.edge_target(edge);
        let passed = |operand: Operand| {
            let is_param = |v: &Value| f.is_param(*v) && f.block_of(*v) == target;
            match operand.as_value().filter(is_param) {
                Some(param) => {
                    let position = f.params(target).position(|other| other == param)?;
                    f.edge_arg(edge, position)
                }
                None => Some(operand),
            }
        };
        let part = match &self.part {
            Part::Element(indices) => {
                let along = |index: &Index| {
                    let Some(base) = index.base else { return Some(*index) };
                    let at = Index::of(f, passed(base)?);
                    Some(Index { base: at.base, plus: at.plus.wrapping_add(index.plus) })
                };
                Part::Element(indices.iter().map(along).collect::<Option<_>>()?)
            }
            part => part.clone(),
        };
        Some(Self { object: passed(self.object)?, part })
    }

    /// Compares this place with another one in the same object.
    pub(super) fn overlap(&self, other: &Self) -> Overlap {
        match (&self.part, &other.part) {
            (Part::Ref, Part::Ref) => Overlap::Must,
            (Part::Field(a), Part::Field(b)) if a == b => Overlap::Must,
            (Part::Element(a), Part::Element(b)) if a.len() == b.len() => {
                Overlap::of_indices(a.iter().zip(b).map(|(a, b)| a.overlap(*b)))
            }
            _ => Overlap::May,
        }
    }

    /// Returns whether the place is expressed by this value.
    pub(super) fn uses(&self, v: Value) -> bool {
        self.values().any(|other| other == v)
    }

    /// The values that express it.
    pub(super) fn values(&self) -> impl Iterator<Item = Value> + '_ {
        let indices = match &self.part {
            Part::Element(indices) => &indices[..],
            Part::Ref | Part::Field(_) => &[],
        };
        let bases = indices.iter().filter_map(|index| index.base);
        bases.chain([self.object]).filter_map(Operand::as_value)
    }

    /// Inserts the load `like` of this place before `at`.
    pub(super) fn load_before(&self, f: &mut Function, at: Value, like: Value) -> IrResult<Value> {
        let mut load = f.statement(like).made_from(like);
        let operands = load.operand_list_mut();
        operands[0] = self.object;
        if let Part::Element(indices) = &self.part {
            for (i, index) in indices.iter().enumerate() {
                let constant = Operand::from(f.constant_id(index.plus));
                operands[i + 1] = match index.base {
                    None => constant,
                    Some(base) if index.plus == 0 => base,
                    Some(base) => f.insert(at, arith::add(base, constant).at(f.loc(like)))?.into(),
                };
            }
        }
        f.insert(at, load)
    }
}
