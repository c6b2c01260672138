//! The checker is checked: passes that are wrong on purpose are caught, and shown on a module
//! that is about as small as one can be.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use regraft_dialects::{arith, cf, core, data, mem};
use regraft_ir::{Cursor, Function, Inst, Op, Value};
use regraft_passes::{FunctionPass, PassContext, PassRegistry, PassResult};
use regraft_testing::{Broken, BrokenKind, Find, FuzzRun, Fuzzer, Tally, Tester};

/// Declares a pass that calls `$edit` at every instruction until it says that it did something.
macro_rules! wrong_pass {
    ($name:ident, $text:literal, $edit:expr) => {
        #[derive(Default)]
        struct $name;

        impl FunctionPass for $name {
            const NAME: &'static str = $text;

            fn run(&mut self, f: &mut Function, _: &mut PassContext<'_>) -> PassResult {
                let edit: fn(&mut Function, Value) -> bool = $edit;
                let mut at = Cursor::new(f);
                while let Some(v) = at.next() {
                    if edit(at.function(), v) {
                        break;
                    }
                }
                Ok(())
            }
        }
    };
}

wrong_pass!(SwapSub, "swap-sub", |f, v| {
    let Some([x, y]) = f.matches::<2>(v, arith::SUB) else { return false };
    f.replace(v, arith::sub(y, x)).unwrap();
    x != y
});

wrong_pass!(DropStore, "drop-store", |f, v| drop_op(f, v, &[mem::STORE, mem::REF_SET]));

wrong_pass!(DropPush, "drop-push", |f, v| drop_op(f, v, &[mem::PUSH, data::SETFIELD]));

wrong_pass!(DropPrint, "drop-print", |f, v| drop_op(f, v, &[core::PRINT, core::PRINTLN]));

wrong_pass!(SwapPrints, "swap-prints", |f, v| {
    let prints = |v| matches!(f.op(v), Some(core::PRINT | core::PRINTLN));
    let Some(next) = f.next_inst(v).filter(|&next| prints(v) && prints(next)) else {
        return false;
    };
    if f.operands(next).any(|operand| operand == v.into()) {
        return false;
    }
    f.move_before(next, v).unwrap();
    true
});

wrong_pass!(SwapEdges, "swap-edges", |f, v| {
    let block = f.block_of(v);
    let Some([c, then, otherwise]) = f.matches::<3>(v, cf::BR) else { return false };
    if !then.is_block() || !otherwise.is_block() {
        return false;
    }
    f.set_terminator(block, Inst::new(cf::BR).operands([c, otherwise, then])).unwrap();
    then != otherwise
});

wrong_pass!(ForgetZeroSign, "forget-zero-sign", |f, v| {
    // Right for all floats but one.
    let Some([x]) = f.matches::<1>(v, arith::NEG) else { return false };
    if !f.ty(v).is_float() || !f.operand_type(x).is_float() {
        return false;
    }
    let zero = regraft_ir::Constant::float(f.ty(v), 0.0).unwrap();
    let zero = f.constant_id(zero);
    f.replace(v, arith::sub(zero, x)).unwrap();
    true
});

wrong_pass!(ShareArrays, "share-arrays", |f, v| {
    // A copy is taken to be the array itself.
    let Some([array]) = f.matches::<1>(v, mem::COPY) else { return false };
    f.replace_all_uses(v, array).is_ok() && f.delete(v).is_ok()
});

wrong_pass!(DropTrap, "drop-trap", |f, v| drop_op(f, v, &[arith::DIV, arith::REM, mem::LOAD]));

wrong_pass!(WrongType, "wrong-type", |f, v| {
    // Leaves a function that does not verify.
    let wrong = f.op(v) == Some(arith::LT) && !v.is_terminator();
    if wrong {
        f.set_type(v, regraft_ir::Type::F64).unwrap();
    }
    wrong
});

wrong_pass!(Panics, "panics", |f, v| {
    assert_ne!(f.op(v), Some(arith::XOR), "what is xor");
    false
});

/// Deletes an instruction of one of these ops that nobody uses.
fn drop_op(f: &mut Function, v: Value, ops: &[Op]) -> bool {
    f.op(v).is_some_and(|op| ops.contains(&op)) && f.delete(v).is_ok()
}

fn caught<P: FunctionPass + Default>() -> Box<Broken> {
    let tester = Tester::new().with_passes(|passes| passes.add::<P>()).cases(60_000).seed(1000);
    match tester.try_preserves(P::NAME) {
        Ok(preserved) => panic!("{} is not caught: {preserved:?}", P::NAME),
        Err(broken) => broken,
    }
}

/// The number of instructions and blocks that are left.
fn size(broken: &Broken) -> (usize, usize) {
    let module = &broken.small.module;
    (module.inst_count(), module.functions().map(Function::block_count).sum())
}

#[track_caller]
fn differs<P: FunctionPass + Default>(insts: usize, blocks: usize) {
    let broken = caught::<P>();
    assert!(matches!(broken.kind, BrokenKind::Differs(_)), "{broken}");
    let (i, b) = size(&broken);
    assert!(i <= insts && b <= blocks, "{i} instructions in {b} blocks:\n{broken}");
}

#[test]
fn swapped_operands_are_caught() {
    differs::<SwapSub>(6, 3);
}

#[test]
fn a_lost_store_is_caught() {
    differs::<DropStore>(8, 6);
    differs::<DropPush>(6, 3);
}

#[test]
fn lost_output_is_caught() {
    differs::<DropPrint>(6, 3);
}

#[test]
fn output_in_another_order_is_caught() {
    differs::<SwapPrints>(6, 3);
}

#[test]
fn a_negated_condition_is_caught() {
    differs::<SwapEdges>(6, 4);
}

#[test]
fn a_lost_sign_of_zero_is_caught() {
    differs::<ForgetZeroSign>(6, 3);
}

#[test]
fn an_alias_that_should_not_be_is_caught() {
    differs::<ShareArrays>(6, 3);
}

#[test]
fn a_lost_trap_is_caught() {
    differs::<DropTrap>(6, 3);
}

#[test]
fn a_pass_that_leaves_an_invalid_function_is_caught() {
    let broken = caught::<WrongType>();
    assert!(matches!(broken.kind, BrokenKind::Failed(_)), "{broken}");
    assert!(size(&broken).0 <= 2, "{broken}");
}

#[test]
fn a_pass_that_panics_is_caught() {
    let broken = caught::<Panics>();
    let BrokenKind::Failed(failure) = &broken.kind else { panic!("{broken}") };
    assert!(failure.report.contains("what is xor"), "{broken}");
    assert_eq!(size(&broken), (1, 1), "{broken}");
}

#[test]
fn the_report_says_how_to_reproduce_it() {
    let broken = caught::<SwapSub>();
    let text = broken.to_string();
    for part in ["swap-sub", "before:", "after:", "arith.sub", "func @", "regraft opt"] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    let tester = Tester::new().with_passes(|passes| passes.add::<SwapSub>());
    let again = tester.seed(broken.seed).cases(1).try_preserves("swap-sub").unwrap_err();
    assert_eq!(again.to_string(), text);
}

#[test]
fn finds_and_tally_do_not_depend_on_the_number_of_threads() {
    let mut extensions = regraft_ad::extensions();
    let passes: &mut PassRegistry = extensions.edit();
    passes.add::<SwapSub>();
    passes.add::<SwapEdges>();
    let extensions = Arc::new(extensions);
    let run = |threads: usize, most: usize| -> (Vec<(u64, String)>, Tally, u64) {
        let fuzzer = Fuzzer::new(&extensions, 7).pipeline("swap-sub, swap-edges").unwrap().large();
        let mut run = FuzzRun::new(fuzzer, 5, threads).unwrap();
        let stop = AtomicBool::new(false);
        while run.next_case() < 145 && run.finds().len() < most {
            run.batch(145, most, &stop);
        }
        let text = |find: &Find| (find.case, find.reproducer());
        (run.finds().iter().map(text).collect(), *run.tally(), run.next_case())
    };
    let one = run(1, 4);
    assert!(one.0.len() > 1, "{one:?}");
    assert_eq!(run(3, 4), one);
    let (finds, tally, next) = run(2, 2);
    assert_eq!(finds, one.0[..2]);
    assert_eq!(
        (tally.cases, next),
        (finds[1].0 - 4, finds[1].0 + 1),
        "cases after the last find do not count"
    );
}

#[test]
fn a_run_that_is_stopped_counts_what_it_did() {
    let extensions = Arc::new(regraft_ad::extensions());
    let fuzzer = Fuzzer::new(&extensions, 1).pipeline("dce").unwrap();
    let mut run = FuzzRun::new(fuzzer, 0, 2).unwrap();
    run.batch(64, 1, &AtomicBool::new(true));
    assert_eq!((run.next_case(), run.tally().cases), (0, 0));
    run.batch(20, 1, &AtomicBool::new(false));
    assert_eq!((run.next_case(), run.tally().cases), (20, 20));
}
