//! Replaces operations on tangents by ordinary ones where types decide what they do.
//!
//! ```text
//! %2: tuple<unit, array<f64, 1>>                      %2: tuple<unit, array<f64, 1>>
//! %3: tuple<f64, unit>                                %3: tuple<f64, unit>
//! %4: tuple<f64, array<f64, 1>> = ad.join %2, %3  =>  %5: f64 = core.get %3, 1
//!                                                     %6: array<f64, 1> = core.get %2, 2
//!                                                     %4: tuple<f64, array<f64, 1>> = core.tuple %5, %6
//! ```
//!
//! | before | after |
//! |---|---|
//! | `ad.shadow`, `ad.cotangent`, `ad.join` of tuples, arrays, numbers | projections and tuples; the operand itself, where it is all there is |
//! | `ad.add` of numbers | `arith.add`, for each number in a tuple |
//! | `ad.add`, `ad.join` with `nothing` | the other operand |
//! | `ad.unbox` of what has the type, or is `nothing` | the operand; zeros |
//! | `ad.zero` of numbers; of a tuple with one object | zeros; the zero of that object alone |
//! | `ad.zero` of an object that holds numbers | `mem.ref_new` of zeros |
//! | `ad.copy` of numbers; of an array of values; of a tuple with one object | the operand; `mem.copy`; the copy of that object alone |
//! | `ad.accumulate`, `ad.clear` without any object | nothing |
//! | `ad.clear` of an array of numbers | `mem.fill_in_place` |
//! | `ad.accumulate`, `ad.clear` of a ref of numbers | `mem.ref_get`, `mem.ref_set` |
//!
//! # Method
//! For each instruction, what becomes of it is found as a tree (`expand`) before anything is
//! changed. Parts of type `any` keep the operation, for themselves alone. Types that have many
//! parts stay as they are, and so does code that leads to an error only.
//!
//! # Why it is right
//! The operations are defined part by part. Those that make objects, or add to them, look at an
//! object that is shared once; so they are taken apart only where there is but one object. Where
//! types say that an operation traps, it stays.
//!
//! # Cost
//! O(instructions + parts of the types of those that are replaced), at most `MAX_PARTS` for each.

mod emit;
mod expand;

use regraft_dialects::tangent::TangentTable;
use regraft_ir::{Constant, ControlFlow, Function, Operand, Value};

use self::emit::Emit;
use self::expand::{Expand, Expansion};
use crate::transforms::util::edit::replace_or_widen;
use crate::{FunctionPass, PassContext, PassResult};

crate::pass! {
    /// Replaces operations on tangents by ordinary ones where types decide what they do.
    ///
    /// ```text
    /// %3: f64 = ad.add %1, %2                   =>     %3: f64 = arith.add %1, %2
    /// %4: tuple<unit, unit> = ad.shadow %5             %4: tuple<unit, unit> = core.tuple nothing, nothing
    /// ```
    ///
    /// What derivatives do with tangents of types that are known: their parts are taken, put
    /// together and added without looking at them when the program runs. Code that leads to an
    /// error only is left alone. Best after `inline` and `sccp`.
    #[derive(Debug, Default)]
    pub struct SpecializeTangents;
}

impl FunctionPass for SpecializeTangents {
    const NAME: &'static str = "specialize-tangents";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let cfg = cx.analysis::<ControlFlow>(f);
        let mut types = TangentTable::default();
        let mut done = 0;
        for block in cfg.reverse_postorder() {
            if f.is_cold(block) {
                continue;
            }
            let found: Vec<Value> =
                f.insts(block).filter(|&v| expand::is_candidate(f, v)).collect();
            for v in found {
                let Some(expansion) = Expand::new(f, &mut types).of(v) else { continue };
                let mut emit = Emit::new(f, v);
                let result = match expansion {
                    Expansion::Value(make) => emit.value(&make)?,
                    Expansion::Effects(effects) => {
                        for effect in &effects {
                            emit.effect(effect)?;
                        }
                        Operand::from(f.constant_id(Constant::Unit))
                    }
                };
                replace_or_widen(f, v, result, v)?;
                f.delete(v)?;
                done += 1;
            }
        }
        cx.add("operations on tangents replaced", done);
        Ok(())
    }
}
