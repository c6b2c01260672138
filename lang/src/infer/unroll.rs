//! Type functions that call a function for each element of a tuple: the calls stand one after the
//! other, each inferred with what is known of its element.

use regraft_ir::{Attrs, Constant, TypeKind};
use smallvec::{SmallVec, smallvec};

use super::frame::{Arg, Args, Frame};
use super::inference::Inference;

/// The longest tuple that is unrolled.
const MAX_UNROLLED: usize = 1 << 10;
/// The same where no tuple is made of it: sums may have many terms.
const MAX_FOLDED: usize = 1 << 16;

impl Inference {
    pub(super) fn unroll_map(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let (&f, tuples) = args.split_first()?;
        let columns: Option<Vec<Args>> =
            tuples.iter().map(|&tuple| self.elements(frame, tuple)).collect();
        let columns = columns?;
        let count = columns.iter().map(SmallVec::len).min()?;
        if count > MAX_UNROLLED {
            return None;
        }
        let row = |i| columns.iter().map(|column| column[i]).collect();
        let rows: Vec<Args> = (0..count).map(row).collect();
        Some(self.each(frame, f, &rows))
    }

    /// The tuple of what a function gives for each row of arguments.
    fn each(&mut self, frame: &mut Frame, f: Arg, rows: &[Args]) -> Arg {
        let mut results: Args = SmallVec::new();
        for row in rows {
            let result = self.call_value(frame, f, row, Attrs::NONE);
            if frame.lattice(result).is_bottom() {
                return result;
            }
            results.push(result);
        }
        self.tuple(frame, &results)
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
        let row = |i| smallvec![self.constant_arg(Constant::I64(i as i64))];
        let rows: Vec<Args> = (1..=count).map(row).collect();
        Some(self.each(frame, f, &rows))
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
