//! Type functions that call a function for each element of a tuple: the calls stand one after the
//! other, each inferred with what is known of its element.

use regraft_ir::{Attrs, Constant, TypeKind};
use smallvec::SmallVec;

use super::frame::{Arg, Args, Frame};
use super::inference::Inference;

/// The longest tuple that is unrolled.
const MAX_UNROLLED: usize = 1 << 10;
/// The same where no tuple is made of it: sums may have many terms.
const MAX_FOLDED: usize = 1 << 16;

impl Inference {
    pub(super) fn unroll_map(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let (&f, tuples) = args.split_first()?;
        let columns = self.columns(frame, tuples)?;
        let count = columns.iter().map(SmallVec::len).min()?;
        if count > MAX_UNROLLED {
            return None;
        }
        let mut results: Args = SmallVec::new();
        for i in 0..count {
            let row: Args = columns.iter().map(|column| column[i]).collect();
            let result = self.call_value(frame, f, &row, Attrs::NONE);
            if frame.lattice(result).is_bottom() {
                return Some(result);
            }
            results.push(result);
        }
        Some(self.tuple(frame, &results))
    }

    fn columns(&mut self, frame: &mut Frame, tuples: &[Arg]) -> Option<Vec<Args>> {
        tuples.iter().map(|&tuple| self.elements(frame, tuple)).collect()
    }

    pub(super) fn unroll_fold(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let &[f, first, tuple] = args else { return None };
        let elements = self.elements(frame, tuple)?;
        if elements.len() > MAX_FOLDED {
            return None;
        }
        let mut so_far = first;
        for element in elements {
            so_far = self.call_value(frame, f, &[so_far, element], Attrs::NONE);
            if frame.lattice(so_far).is_bottom() {
                break;
            }
        }
        Some(so_far)
    }

    pub(super) fn ntuple(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let &[f, count] = args else { return None };
        let ty = self.partials.type_of(frame.lattice(count));
        let count = match *self.ctx.kind(ty) {
            TypeKind::Val(constant) => self.ctx.constant(constant),
            _ => self.partials.value(frame.lattice(count))?,
        };
        let count = match count {
            Constant::I64(count) => usize::try_from(count).ok().filter(|&n| n <= MAX_UNROLLED)?,
            _ => return None,
        };
        let mut results: Args = SmallVec::new();
        for i in 1..=count {
            let index = self.constant_arg(Constant::I64(i as i64));
            let result = self.call_value(frame, f, &[index], Attrs::NONE);
            if frame.lattice(result).is_bottom() {
                return Some(result);
            }
            results.push(result);
        }
        Some(self.tuple(frame, &results))
    }

    pub(super) fn spread(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let (&name, rest) = args.split_first()?;
        let (Constant::Str(name) | Constant::Sym(name)) =
            self.partials.value(frame.lattice(name))?
        else {
            return None;
        };
        let (&tuple, fixed) = rest.split_last()?;
        let mut operands: Args = SmallVec::from_slice(fixed);
        operands.extend(self.elements(frame, tuple)?);
        self.ctx.registry().find(self.ctx.str(name))?;
        let callee = self.constant_arg(Constant::Func(name));
        Some(self.call_value(frame, callee, &operands, Attrs::NONE))
    }
}
