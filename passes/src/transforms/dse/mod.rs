//! Deletes stores that nothing reads.
//!
//! ```text
//! mem.ref_set %1, %2                      br %3, ^2, ^3
//! br %3, ^2, ^3                    =>   ^2:
//! ^2:                                     mem.ref_set %1, 1.0
//!   mem.ref_set %1, 1.0                 ^3:
//! ^3:                                     mem.ref_set %1, 2.0
//!   mem.ref_set %1, 2.0
//! ```
//!
//! # Method
//! Six steps, each for functions that have something for it alone.
//!
//! 1. *Stack pairs* (`stack_pairs`): within a block, what a `mem.pop` takes is what the `mem.push` put
//!    there that it pairs with.
//! 2. *Redundant stores* (`redundant`): what is stored is in the place already, since it was loaded or
//!    stored there and nothing in between may have written the place. That is asked of MemorySSA.
//! 3. *Products* (`products`): what is added to zeros is stored.
//! 4. *Fills* (`delayed`) move to the ways that do not overwrite them.
//! 5. *Dead stores* (`dead`): a backward data-flow problem over the places that are stored to. A place is
//!    dead where it is overwritten on every path before anything may read it, and, of an object that
//!    nobody else knows, where nothing reads it any more. (Anticipated stores, as in partial dead
//!    code elimination by Knoop, Rüthing and Steffen, 1994, without sinking.)
//! 6. *Elements left behind* (`left_behind`): a loop stores to an element of such an object that it has read
//!    before, and goes on to the next.
//!
//! # Why it is right
//! A place is an object and indices, compared as values; where one of these values is computed anew, the
//! place is another one, and not dead. A store is a read of nothing; an error, or the end of the function,
//! is a read of all that others may know. So an error finds memory as it was. `{undef_after_error=N}` of the function
//! says that nobody reads parameters from the N-th on after an error. A store that may trap
//! stays; but if it is overwritten in its block, it can store what the other one does, which then goes: they
//! trap alike, and so the second one never does. It moves down for that past what nobody can notice only.
//!
//! # Cost
//! O(instructions * places + edges), with a limit on the number of places.

mod candidates;
mod dead;
mod delayed;
mod left_behind;
mod products;
mod redundant;
mod stack_pairs;

use regraft_dialects::attrs::first_undef_after_error;
use regraft_ir::{Constant, Function, IrResult, Operand, Value};
use rustc_hash::FxHashSet;

use crate::analysis::memory_location::{MemoryLocation, Overlap};
use crate::analysis::traps::may_trap;
use crate::analysis::{Access, Aliases, Base, EffectSummaries, inst_effects};
use crate::{FunctionPass, PassContext, PassResult};
use candidates::Candidates;

crate::pass! {
    /// Deletes stores that nothing reads.
    ///
    /// ```text
    /// mem.ref_set %1, %2                      br %3, ^2, ^3
    /// br %3, ^2, ^3                    =>   ^2:
    /// ^2:                                     mem.ref_set %1, 1.0
    ///   mem.ref_set %1, 1.0                 ^3:
    /// ^3:                                     mem.ref_set %1, 2.0
    ///   mem.ref_set %1, 2.0
    /// ```
    ///
    /// A store goes if its place is overwritten on every path before it may be read, if it stores
    /// what is there already, or if the object is known to nobody else and not read any more, be it that a
    /// loop goes on to the next element. Products that are added to such an array go too (`linalg.add_product`);
    /// those that are added to zeros are stored (`linalg.product`), so that the zeros go. A fill of a parameter that some ways
    /// overwrite moves to the others. What was pushed on an array and popped again within a block is used directly. An error
    /// that may come between two stores keeps the first one, unless nobody else knows the object; a store that may
    /// trap stays.
    ///
    /// Places are compared as values, so `gvn` before it helps. It costs O(instructions) for
    /// each place that is stored to, up to a limit; functions that store nothing twice, and nothing to
    /// objects of their own, are skipped.
    #[derive(Debug, Default)]
    pub struct Dse;
}

impl FunctionPass for Dse {
    const NAME: &'static str = "dse";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let pairs = stack_pairs::forward(f, cx.analyses())?;
        let redundant = redundant::stores(f, cx.analyses());
        delete_stores(f, &redundant)?;
        let products = products::store(f, &cx.analysis::<Aliases>(f), cx.effects())?;
        let delayed = delayed::delay(f, cx.analyses())?;
        let mut dead = 0;
        if let Some(candidates) = Candidates::find(f, cx.analyses()) {
            let stores = dead::stores(f, &candidates, cx.analyses());
            dead = stores.len() as u64;
            // Later ones first, as `dead::stores` has those of a block.
            let (trapping, mut gone): (Vec<Value>, Vec<Value>) =
                stores.into_iter().partition(|&v| may_trap(f, v));
            let mut is_gone: FxHashSet<Value> = gone.iter().copied().collect();
            let aliases = cx.analysis::<Aliases>(f);
            for store in trapping {
                let known = (&*aliases, cx.effects());
                match dead::store_later_value(f, &candidates, known, store, &is_gone)? {
                    Some(later) => {
                        is_gone.insert(later);
                        gone.push(later);
                    }
                    None => dead -= 1,
                }
            }
            delete_stores(f, &gone)?;
        }
        let left_behind = left_behind::stores(f, cx.analyses());
        delete_stores(f, &left_behind)?;
        cx.add("pushes popped", pairs);
        cx.add("stores of what is there", redundant.len() as u64);
        cx.add("products stored", products);
        cx.add("fills delayed", delayed);
        cx.add("dead stores", dead + left_behind.len() as u64);
        Ok(())
    }
}

/// Compares a place with what an instruction writes.
fn overlap_of_write(
    f: &Function,
    place: &MemoryLocation,
    write: Value,
    (aliases, summaries): (&Aliases, &EffectSummaries),
) -> Overlap {
    let may_write = || {
        let effects = inst_effects(f, write, summaries);
        aliases.touches(f, &effects, place.object).intersects(Access::WRITES)
    };
    place.overlap_of_write(f, write, |a, b| Overlap::of_offsets(f, a, b), may_write)
}

/// Returns whether nobody reads `object` after an error, as the function says of it.
fn is_undef_after_error(f: &Function, aliases: &Aliases, object: Operand) -> bool {
    let Base::Param(at) = aliases.base(object) else { return false };
    first_undef_after_error(f).is_some_and(|first| at as usize >= first)
}

/// Deletes stores, whose results are `nothing`.
fn delete_stores(f: &mut Function, stores: &[Value]) -> IrResult<()> {
    let nothing = f.constant_id(Constant::Unit);
    for &store in stores {
        f.replace_all_uses(store, nothing)?;
    }
    f.delete_all(stores)
}
