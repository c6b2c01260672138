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
        let (Some(function), Some(dest)) = (math::strip(name), Strip::of(dest, to)) else {
            return false;
        };
        let (pairs, _) = sources.as_chunks::<2>();
        let sources: Option<SmallVec<[Strip; 2]>> =
            pairs.iter().map(|[array, index]| Strip::of(array, index)).collect();
        let Some(sources) = sources else { return false };
        let count = self.e.read(*count);
        let zero = self.e.int(0);
        let mut fits = self.e.int_cmp(IntCmp::Lt, zero, count);
        let out = self.strip(dest, count, &mut fits);
        let mut args: SmallVec<[E::Value; 4]> = SmallVec::new();
        for source in sources {
            let x = self.strip(source, count, &mut fits);
            let apart = self.are_apart(x, out, count);
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
        let (elements, lengths) = self.parts(strip.array, 1);
        let (index, minus) = (self.e.read(strip.index), self.e.int(-1));
        let place = self.e.int2(Int2::Add, index, minus);
        let last = self.e.int2(Int2::Sub, lengths[0], count);
        let (begins, ends) =
            (self.e.int_cmp(IntCmp::Lt, minus, place), self.e.int_cmp(IntCmp::Le, place, last));
        let both = self.e.and(begins, ends);
        *fits = self.e.and(*fits, both);
        self.e.element(elements, place, Mem::F64.size())
    }

    /// Tests that strips have no element in common, or the same ones.
    fn are_apart(&mut self, x: E::Value, y: E::Value, count: E::Value) -> E::Flag {
        let (zero, three) = (self.e.int(0), self.e.int(3));
        let way = self.e.int2(Int2::Sub, x, y);
        let back = self.e.int2(Int2::Sub, zero, way);
        let way = self.e.int2(Int2::Max, way, back);
        let size = self.e.int2(Int2::Shl, count, three);
        let (same, far) =
            (self.e.int_cmp(IntCmp::Eq, way, zero), self.e.int_cmp(IntCmp::Le, size, way));
        let (same, far) = (self.e.flag(same), self.e.flag(far));
        let either = self.e.int2(Int2::Or, same, far);
        self.nonzero(either)
    }
}
