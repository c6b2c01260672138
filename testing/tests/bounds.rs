//! Checks that `bounds-elim` is right: in generated programs, an index that it marks as in bounds is
//! clamped to the bounds afterwards, which changes what the program does if it ever was outside.

use std::sync::atomic::{AtomicUsize, Ordering};

use regraft_dialects::{arith, mem};
use regraft_ir::{Attrs, Constant, Cursor, Function, Operand, TypeKind};
use regraft_passes::{FunctionPass, PassContext, PassResult};
use regraft_testing::Tester;

/// Takes the marks off accesses: the interpreter checks all of them anyway.
#[derive(Default)]
struct ForgetMarks;

impl FunctionPass for ForgetMarks {
    const NAME: &'static str = "forget-marks";

    fn run(&mut self, f: &mut Function, _: &mut PassContext<'_>) -> PassResult {
        let mut at = Cursor::new(f);
        while let Some(v) = at.next() {
            if first_index(&at, v).is_some() {
                at.function().set_attrs(v, Attrs::NONE)?;
            }
        }
        Ok(())
    }
}

static CLAMPED: AtomicUsize = AtomicUsize::new(0);

/// Clamps the indices of marked accesses.
#[derive(Default)]
struct ClampMarked;

impl FunctionPass for ClampMarked {
    const NAME: &'static str = "clamp-marked";

    fn run(&mut self, f: &mut Function, _: &mut PassContext<'_>) -> PassResult {
        let mut at = Cursor::new(f);
        while let Some(v) = at.next() {
            let Some(first) = first_index(&at, v) else { continue };
            if at.attr(v, "inbounds") != Some(Constant::Bool(true)) {
                continue;
            }
            CLAMPED.fetch_add(1, Ordering::Relaxed);
            let Some(array) = at.operand(v, 0) else { continue };
            assert!(matches!(at.ctx().kind(at.operand_type(array)), TypeKind::Array { .. }));
            let count = at.operand_count(v);
            for i in first..count {
                let Some(index) = at.operand(v, i) else { continue };
                let f = at.function();
                let size = if count == first + 1 {
                    f.insert(v, mem::length(array))?
                } else {
                    let dim = f.constant_id((i - first + 1) as i64);
                    f.insert(v, mem::size(array, Operand::from(dim)))?
                };
                let one = f.constant_id(1i64);
                let least = f.insert(v, arith::max(index, Operand::from(one)))?;
                let clamped = f.insert(v, arith::min(least, size))?;
                f.set_operand(v, i, clamped)?;
            }
        }
        Ok(())
    }
}

fn first_index(f: &Function, v: regraft_ir::Value) -> Option<usize> {
    match f.op(v)? {
        mem::LOAD => Some(1),
        mem::STORE => Some(2),
        _ => None,
    }
}

fn in_bounds_after(steps: &str, seed: u64) {
    let tester = Tester::new().cases(600).seed(seed).with_passes(|passes| {
        passes.add::<ForgetMarks>();
        passes.add::<ClampMarked>();
    });
    tester.preserves(&format!("forget-marks, {steps}, clamp-marked"));
}

#[test]
fn marked_accesses_are_in_bounds() {
    in_bounds_after("bounds-elim", 5_000_000);
    in_bounds_after("sccp, cse, bounds-elim", 5_100_000);
    in_bounds_after("simplify-cfg, loop-simplify, licm, bounds-elim", 5_200_000);
    in_bounds_after("bounds-elim{versions}", 5_300_000);
    in_bounds_after("sccp, cse, licm, bounds-elim{versions}, licm, gvn", 5_400_000);
    let clamped = CLAMPED.load(Ordering::Relaxed);
    assert!(clamped > 100, "only {clamped} accesses were marked");
}
