//! Computes an expression once where it stood several times.
//!
//! ```text
//! ^1(%1: f64, %2: f64):                ^1(%1: f64, %2: f64):
//!   %3: f64 = arith.mul %1, %2           %3: f64 = arith.mul %1, %2
//!   %4: f64 = arith.mul %2, %1     =>
//!   %5: f64 = arith.add %3, %4           %5: f64 = arith.add %3, %3
//! ```
//!
//! # Method
//! Blocks are visited in preorder of the dominator tree, so that whatever dominates an
//! instruction was seen before it, and one hash table finds earlier instructions with the same
//! op, attributes, type and operands (the first two in either order, if the op commutes). One that
//! dominates takes the place of the later one; one that does not is put out of the table: the
//! walk has left the part of the tree where it could be used, and never comes back to it. So the
//! table needs no scopes. With `scope=local` "dominates" means "stands earlier in the block".
//!
//! # Why it is right
//! Only ops that are `PURE` take part: their result depends on operands and attributes alone, and
//! a constant operand is the same only bit for bit. One that traps is no exception, because what
//! dominates it has trapped first. Whatever reads memory or has an effect is left alone.
//! Operands are compared after earlier replacements, so that whole expressions are found.
//!
//! # Cost
//! O(instructions + operands) expected, besides the dominator tree. The table holds four bytes
//! for an instruction; keys are read from the function. A lookup is a random access, so that an
//! instruction of a function that does not fit the caches costs several times as much
//! (`examples/transform_speed.rs`).

use std::hash::{Hash, Hasher};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use regraft_ir::{DominatorTree, Function, Operand, Traits, Value};
use rustc_hash::FxHasher;

use crate::options::{OptionDef, Options};
use crate::{FunctionPass, PassContext, PassResult};

crate::pass! {
    /// Computes an expression once where it stood several times.
    ///
    /// ```text
    /// %3: f64 = arith.mul %1, %2           %3: f64 = arith.mul %1, %2
    /// %4: f64 = arith.mul %2, %1     =>
    /// %5: f64 = arith.add %3, %4           %5: f64 = arith.add %3, %3
    /// ```
    ///
    /// An instruction goes if one with the same op, attributes, type and operands dominates it.
    /// Ops that read memory or have an effect are left alone.
    #[derive(Debug, Default)]
    pub struct Cse {
        /// True if earlier expressions are found in the same block only.
        is_local: bool,
    }
}

impl FunctionPass for Cse {
    const NAME: &'static str = "cse";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] = &[OptionDef::choice(
        "scope",
        &["local", "dominating"],
        "dominating",
        "find earlier expressions in the same block only, or in all that dominate",
    )];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        self.is_local = options.text("scope") == "local";
        Ok(())
    }

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let tree = cx.analysis::<DominatorTree>(f);
        let mut table: HashTable<Value> = HashTable::with_capacity(f.value_count());
        let mut replaced = 0;
        for &block in tree.order() {
            let mut next = f.first_inst(block);
            while let Some(v) = next {
                next = f.next_inst(v);
                let Some(key) = Key::of(f, v) else { continue };
                let entry = table.entry(
                    key.hash,
                    |&other| key.matches(f, v, other),
                    |&other| Key::of(f, other).map_or(0, |key| key.hash),
                );
                match entry {
                    Entry::Vacant(entry) => {
                        entry.insert(v);
                    }
                    Entry::Occupied(mut entry) => {
                        let earlier = *entry.get();
                        let from = f.block_of(earlier);
                        if from == block || !self.is_local && tree.dominates(from, block) {
                            f.replace_named(v, earlier)?;
                            f.delete(v)?;
                            replaced += 1;
                        } else {
                            *entry.get_mut() = v;
                        }
                    }
                }
            }
        }
        cx.add("expressions replaced", replaced);
        Ok(())
    }
}

/// The hashed part of an instruction; the rest is read from the function.
struct Key {
    hash: u64,
    /// True if the first two operands may be swapped.
    commutes: bool,
}

impl Key {
    /// `None` for what takes no part.
    #[inline]
    fn of(f: &Function, v: Value) -> Option<Self> {
        let def = f.op_def(v)?;
        if !def.traits.contains(Traits::PURE) || def.is_terminator() {
            return None;
        }
        let commutes = def.traits.contains(Traits::COMMUTATIVE);
        let mut hasher = FxHasher::default();
        (def.op, f.attrs(v), f.ty(v)).hash(&mut hasher);
        let mut operands = f.operands(v);
        if commutes && let (Some(x), Some(y)) = (operands.next(), operands.next()) {
            (x.min(y), x.max(y)).hash(&mut hasher);
        }
        operands.for_each(|operand| operand.hash(&mut hasher));
        Some(Self { hash: hasher.finish(), commutes })
    }

    /// Returns whether `b` computes the same as `a`, which this is the key of.
    #[inline]
    fn matches(&self, f: &Function, a: Value, b: Value) -> bool {
        if f.op(a) != f.op(b) || f.attrs(a) != f.attrs(b) || f.ty(a) != f.ty(b) {
            return false;
        }
        let (mut xs, mut ys) = (f.operands(a), f.operands(b));
        if xs.len() != ys.len() {
            return false;
        }
        if self.commutes {
            let pair = |operands: &mut dyn Iterator<Item = Operand>| {
                let (x, y) = (operands.next(), operands.next());
                (x.min(y), x.max(y))
            };
            if pair(&mut xs) != pair(&mut ys) {
                return false;
            }
        }
        xs.eq(ys)
    }
}
