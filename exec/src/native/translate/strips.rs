//! Functions of strips of arrays: `mem.map` calls them with the addresses of elements.

use regraft_dialects::mem;
use regraft_ir::Constant;
use smallvec::SmallVec;

use super::super::emitter::{Emitter, Int2, IntCmp, Mem};
use super::super::math;
use super::Translator;
use crate::interp::{Dst, Pc, Reg, Scalar, Src};

/// Elements of an array from an index on.
#[derive(Clone, Copy)]
struct Strip {
    array: Reg,
    index: Reg,
}

impl Strip {
    fn of(array: &Src, index: &Src) -> Option<Self> {
        match (array, index) {
            (&Src::Val(array), &Src::Scalar(Scalar::I64, index)) => Some(Self { array, index }),
            _ => None,
        }
    }
}

impl<E: Emitter> Translator<'_, '_, E> {
    /// Computes a function of a strip, if all elements are there, and the runtime otherwise. `false` if the
    /// instruction is another one, or the runtime has to run it.
    pub(super) fn strip_inst(&mut self, pc: Pc, site: u32) -> bool {
        let site = &self.source.code.evals[site as usize];
        let [dest, to, Src::Scalar(Scalar::I64, count), sources @ ..] = &*site.args else {
            return false;
        };
        let Dst::Scalar(Scalar::Bool, d) = site.dst else { return false };
        if site.def.op != mem::MAP {
            return false;
        }
        let name = match self.source.f.attr(self.made_from(pc), "function") {
            Some(Constant::Sym(name)) => self.source.f.ctx().str(name),
            _ => return false,
        };
        let (Some((function, results)), Some(dest)) = (math::strip(name), Strip::of(dest, to))
        else {
            return false;
        };
        let (pairs, _) = sources.as_chunks::<2>();
        let sources: Option<SmallVec<[Strip; 2]>> =
            pairs.iter().map(|[array, index]| Strip::of(array, index)).collect();
        let Some(sources) = sources else { return false };
        let count = self.e.read(*count);
        let zero = self.e.int(0);
        let mut fits = self.e.int_cmp(IntCmp::Lt, zero, count);
        let all = match results {
            1 => count,
            results => {
                let results = self.e.int(results as i64);
                self.e.int2(Int2::Mul, count, results)
            }
        };
        let out = self.strip(dest, all, &mut fits);
        let mut args: SmallVec<[E::Value; 4]> = SmallVec::new();
        for source in sources {
            let x = self.strip(source, count, &mut fits);
            let apart = self.are_apart((x, count), (out, all));
            fits = self.e.and(fits, apart);
            args.push(x);
        }
        args.extend([out, count]);
        self.quickly(fits, pc, |this| {
            let outside = this.e.call(&function, &args).expect("it says whether some are outside");
            // The other bits of a bool in a register are anything.
            let one = this.e.int(1);
            let outside = this.e.int2(Int2::And, outside, one);
            let inside = this.e.int2(Int2::Xor, outside, one);
            this.e.write(d, inside);
        });
        true
    }

    /// The address of the first element, and in `fits` whether all are there.
    fn strip(&mut self, strip: Strip, count: E::Value, fits: &mut E::Flag) -> E::Value {
        let (elements, length) =
            (self.elements_of(strip.array), self.lengths_of(strip.array, 1)[0]);
        let (index, minus) = (self.e.read(strip.index), self.e.int(-1));
        let place = self.e.int2(Int2::Add, index, minus);
        let last = self.e.int2(Int2::Sub, length, count);
        let (begins, ends) =
            (self.e.int_cmp(IntCmp::Lt, minus, place), self.e.int_cmp(IntCmp::Le, place, last));
        let both = self.e.and(begins, ends);
        *fits = self.e.and(*fits, both);
        self.e.element(elements, place, Mem::F64.size())
    }

    /// Tests that strips at addresses, of so many elements, have no element in common, or the same first one.
    fn are_apart(
        &mut self,
        (x, of_x): (E::Value, E::Value),
        (y, of_y): (E::Value, E::Value),
    ) -> E::Flag {
        let three = self.e.int(3);
        let mut end = |at, count| {
            let size = self.e.int2(Int2::Shl, count, three);
            self.e.int2(Int2::Add, at, size)
        };
        let (end_x, end_y) = (end(x, of_x), end(y, of_y));
        let tests = [(IntCmp::Eq, x, y), (IntCmp::Le, end_x, y), (IntCmp::Le, end_y, x)];
        let [same, before, behind] = tests.map(|(test, a, b)| {
            let flag = self.e.int_cmp(test, a, b);
            self.e.flag(flag)
        });
        let apart = self.e.int2(Int2::Or, before, behind);
        let either = self.e.int2(Int2::Or, same, apart);
        self.nonzero(either)
    }
}
