//! Marks accesses to arrays that are never to the same one.
//!
//! # Method
//! The arrays that are accessed are values with a [base](crate::analysis::Base). Those that may be the same object are one
//! scope (by union-find over all pairs); accesses get the number of their scope.
//!
//! ```
//! use regraft_passes::{PassRegistry, Pipeline, RunOptions, run_pipeline};
//!
//! let text = "func @f(%x: array<f64, 1>) -> f64 {\n\
//!     ^1:\n  %y: array<f64, 1> = mem.alloc 1\n  %1: f64 = mem.load %x, 1\n\
//!     mem.store %y, %1, 1\n  return %1\n}\n";
//! let ctx = regraft_dialects::context();
//! let mut module = regraft_syntax::parse_module(&ctx, "f.ir", text).unwrap();
//! let pipeline = Pipeline::parse(&PassRegistry::standard(), "alias-scopes").unwrap();
//! assert!(run_pipeline(&mut module, &pipeline, &RunOptions::default()).is_ok());
//! let text = module.to_string();
//! assert!(text.contains("mem.load %x, 1 {scope=1}") && text.contains("%1, 1 {scope=2}"));
//! ```
//!
//! # Cost
//! O(accesses + arrays²), with at most 256 of them.

use regraft_dialects::attrs::{with_scope, without_scope};
use regraft_dialects::mem;
use regraft_ir::{Function, IrResult, Operand, Type, Value};
use rustc_hash::FxHashMap;

use crate::analysis::{Aliases, Base};
use crate::{FunctionPass, PassContext, PassResult};

/// In a function with more arrays, none is marked.
const MAX_ARRAYS: usize = 256;

crate::pass! {
    /// Marks accesses to arrays that are never to the same one.
    ///
    /// ```text
    /// %y = mem.alloc %n                   %y = mem.alloc %n
    /// %1 = mem.load %x, %i         =>     %1 = mem.load %x, %i {scope=1}
    /// mem.store %y, %1, %i                mem.store %y, %1, %i {scope=2}
    /// ```
    ///
    /// Two accesses of one function with different numbers are to different arrays. Where all may be to the same one,
    /// none is marked.
    ///
    /// It is run on what becomes native code, after everything else: LLVM needs no tests of addresses then before it makes
    /// vectors of a loop. The interpreter takes no notice of it. A second run changes nothing.
    #[derive(Debug, Default)]
    pub struct AliasScopes;
}

impl FunctionPass for AliasScopes {
    const NAME: &'static str = "alias-scopes";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let accesses: Vec<Value> = f.all_insts().filter(|&v| is_access(f, v)).collect();
        if accesses.is_empty() {
            return Ok(());
        }
        let aliases = cx.analysis::<Aliases>(f);
        let scopes = Scopes::of(f, &aliases, &accesses);
        for &v in &accesses {
            let (old, ctx) = (f.attrs(v), f.ctx());
            let new = match scopes.number(f, &aliases, v) {
                Some(number) => with_scope(ctx, old, number),
                None => without_scope(ctx, old),
            };
            if new != old {
                f.set_attrs(v, new)?;
                cx.count("accesses");
            }
        }
        Ok(())
    }
}

/// Takes the marks off, where a function has become another one.
pub(super) fn forget(f: &mut Function) -> IrResult<()> {
    let accesses: Vec<Value> = f.all_insts().filter(|&v| is_access(f, v)).collect();
    for v in accesses {
        f.set_attrs(v, without_scope(f.ctx(), f.attrs(v)))?;
    }
    Ok(())
}

fn is_access(f: &Function, v: Value) -> bool {
    let op = f.op(v);
    matches!(op, Some(mem::LOAD | mem::STORE | mem::LOAD_PART | mem::STORE_PART))
}

/// An array, as far as it is known which one it is.
type Key = (Base, Type);

/// The scopes of a function.
struct Scopes {
    arrays: FxHashMap<Key, usize>,
    /// By array, the number of its scope; none if there is one scope.
    numbers: Vec<i64>,
}

fn key(f: &Function, aliases: &Aliases, access: Value) -> Option<(Key, Operand)> {
    let array = f.operand(access, 0)?;
    let base = match aliases.base(array) {
        Base::Local(v) => Base::Local(aliases.group(v)),
        base => base,
    };
    Some(((base, f.operand_type(array)), array))
}

impl Scopes {
    fn of(f: &Function, aliases: &Aliases, accesses: &[Value]) -> Self {
        let (mut arrays, mut samples) = (FxHashMap::default(), Vec::new());
        for &access in accesses {
            let Some((key, array)) = key(f, aliases, access) else { continue };
            arrays.entry(key).or_insert_with(|| {
                samples.push(array);
                samples.len() - 1
            });
        }
        let count = samples.len();
        if count > MAX_ARRAYS {
            return Self { arrays, numbers: Vec::new() };
        }
        // The first array of each scope.
        let mut first: Vec<usize> = (0..count).collect();
        for at in 0..count {
            for before in 0..at {
                if first[before] != first[at] && aliases.may_alias(f, samples[before], samples[at])
                {
                    let (low, high) = (first[before].min(first[at]), first[before].max(first[at]));
                    first.iter_mut().filter(|of| **of == high).for_each(|of| *of = low);
                }
            }
        }
        let mut numbers = vec![0; count];
        let mut last = 0;
        for at in 0..count {
            if first[at] == at {
                last += 1;
                numbers[at] = last;
            } else {
                numbers[at] = numbers[first[at]];
            }
        }
        Self { arrays, numbers: if last > 1 { numbers } else { Vec::new() } }
    }

    fn number(&self, f: &Function, aliases: &Aliases, access: Value) -> Option<i64> {
        let (key, _) = key(f, aliases, access)?;
        self.numbers.get(*self.arrays.get(&key)?).copied()
    }
}
