//! Makes one instruction of a loop that sets all elements of an array to one value, or copies all
//! elements of another array.
//!
//! ```text
//! ^1: br ^2(0)                                 ^1: mem.fill_in_place %x, 0.0
//!                                                  br ^2(0)
//! ^2(%k: i64):                                 ^2(%k: i64):
//!   %c: bool = arith.ge %k, %n           =>      %c: bool = arith.ge %k, %n
//!   br %c, ^4, ^3                                br %c, ^4, ^3
//! ^3:                                          ^3:
//!   %i: i64 = arith.add %k, 1                    %i: i64 = arith.add %k, 1
//!   mem.store %x, 0.0, %i
//!   br ^2(%i)                                    br ^2(%i)
//! ```
//!
//! # Method
//! As LLVM's LoopIdiomRecognize. A store has one index for each of the loops around it that belong to the
//! idiom, each of them the number of the iteration of its loop, from 1, or one that goes down (`nest`). Each loop runs at least as
//! often as the array is long in that dimension, and the store is in bounds, so that all elements are met:
//! that is asked of `Bounds` (`cover`). Then the instruction stands before the outermost of the loops. An
//! array that was made just before is made with its contents instead (`fresh`).
//!
//! # Why it is right
//! The loops surely end, and nothing in them traps, has another effect, or looks at the contents of an array:
//! so nobody can tell when the elements were set. Of several stores to one element, the last one counts, which
//! comes last here as well. Where source and destination are the same array, both copy each element to itself.
//!
//! # Cost
//! O(size of loops with stores), and a bounded number of steps for each store.

mod cover;
mod fresh;
mod nest;

use regraft_dialects::mem;
use regraft_ir::{Block, Constant, Function, IrResult, Operand, Value};

use crate::analysis::LoopForest;
use crate::transforms::util::counters::ensure_preheaders;
use crate::transforms::util::cover::CoverAnalyses;
use crate::{FunctionPass, PassContext, PassResult};
use nest::{Loops, Nest};

crate::pass! {
    /// Makes one instruction of a loop that fills or copies an array.
    ///
    /// ```text
    /// ^1: br ^2(0)                                 ^1: mem.fill_in_place %x, 0.0
    ///                                                  br ^2(0)
    /// ^2(%k: i64):                                 ^2(%k: i64):
    ///   %c: bool = arith.ge %k, %n           =>      %c: bool = arith.ge %k, %n
    ///   br %c, ^4, ^3                                br %c, ^4, ^3
    /// ^3:                                          ^3:
    ///   %i: i64 = arith.add %k, 1                    %i: i64 = arith.add %k, 1
    ///   mem.store %x, 0.0, %i
    ///   br ^2(%i)                                    br ^2(%i)
    /// ```
    ///
    /// A loop, or a nest of loops with an index for each, sets all elements of an array to a value from
    /// before it (`mem.fill_in_place`), or to those of another array of this shape (`mem.copyto`), and does
    /// nothing else that could be noticed; `loop-delete` takes the rest of it. Of an array that was made
    /// just before, `mem.fill` or `mem.copy` makes the contents. All accesses have to be in bounds. It costs
    /// O(size of the loops with stores).
    #[derive(Debug, Default)]
    pub struct LoopIdiom;
}

impl FunctionPass for LoopIdiom {
    const NAME: &'static str = "loop-idiom";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let forest = cx.analysis::<LoopForest>(f);
        let stores = |block: &Block| f.body(*block).any(|v| f.op(v) == Some(mem::STORE));
        if !forest.loops().any(|l| forest.own_blocks(l).iter().any(&stores)) {
            return Ok(());
        }
        let nests = Nest::find_all(f, cx);
        if nests.is_empty() {
            return Ok(());
        }
        let headers: Vec<Block> = nests.iter().map(|nest| forest.get(nest.outer).header).collect();
        ensure_preheaders(f, &headers, &forest, |_| true)?;
        let (mut filled, mut copied, mut made) = (0, 0, 0);
        for (nest, at) in covered(f, cx) {
            for idiom in nest.idioms {
                let new = idiom.apply(f, at)?;
                *(if idiom.source.is_some() { &mut copied } else { &mut filled }) += 1;
                let joins = idiom.source.is_none() || idiom.same_shape;
                made += u64::from(joins && fresh::join(f, new, cx.effects())?);
            }
        }
        cx.add("loops that fill", filled);
        cx.add("loops that copy", copied);
        cx.add("arrays made with contents", made);
        Ok(())
    }
}

/// A store that meets all elements of an array.
#[derive(Clone, Debug)]
struct Idiom {
    store: Value,
    /// The load of what it stores, where that comes from another array.
    source: Option<Value>,
    /// The loops of the indices.
    loops: Loops,
    /// True if both arrays are known to have the same sizes.
    same_shape: bool,
}

impl Idiom {
    /// Puts the instruction before `at` and deletes the store. Returns the instruction.
    fn apply(&self, f: &mut Function, at: Value) -> IrResult<Value> {
        let array = operand(f, self.store, 0);
        let inst = match self.source {
            Some(load) => mem::copyto(array, operand(f, load, 0)),
            None => mem::fill_in_place(array, operand(f, self.store, 1)),
        };
        let new = f.insert(at, inst.at(f.loc(self.store)).made_from(self.store))?;
        if self.source.is_some() {
            let promise = [(f.ctx().symbol("inbounds"), f.constant_id(true))];
            let attrs = f.ctx().attrs(&promise);
            f.set_attrs(new, attrs)?;
        }
        let nothing = f.constant_id(Constant::Unit);
        f.replace_all_uses(self.store, nothing)?;
        f.delete(self.store)?;
        if let Some(load) = self.source {
            f.delete(load)?;
        }
        Ok(new)
    }
}

fn operand(f: &Function, v: Value, position: usize) -> Operand {
    f.operand(v, position).expect("its op has this operand")
}

/// The nests all of whose stores meet all elements in bounds, with the place before each.
fn covered(f: &Function, cx: &mut PassContext<'_>) -> Vec<(Nest, Value)> {
    let forest = cx.analysis::<LoopForest>(f);
    let nests = Nest::find_all(f, cx);
    let analyses = CoverAnalyses::of(f, cx.analyses());
    let mut cover = analyses.cover(f);
    let mut found = Vec::new();
    for mut nest in nests {
        let preheader = forest.get(nest.outer).preheader;
        if let Some(at) = preheader.map(Value::terminator)
            && nest.idioms.iter_mut().all(|idiom| idiom.is_whole(f, &mut cover, at))
        {
            found.push((nest, at));
        }
    }
    found
}
