//! `mem.probe` and `mem.index_entries`: the index of a hash table.

mod common;

use common::{engine, module, native, run, run_both, shown};
use regraft_exec::value::{Array, Val};
use regraft_exec::{Engine, EngineKind, Interpreter};

const OPS: &str = "
func @probe(%index: array<i32, 1>, %hash: i64, %after: i64) -> i64 {
^1:
  %found: i64 = mem.probe %index, %hash, %after
  return %found
}

func @enter(%index: array<i32, 1>, %hashes: array<i32, 1>, %first: i64, %last: i64) -> unit {
^1:
  %done: unit = mem.index_entries %index, %hashes, %first, %last
  return %done
}

func @probe_any(%index: any, %hash: any, %after: any) -> any {
^1:
  %found: any = mem.probe %index, %hash, %after
  return %found
}";

/// An index of `places` places, with the entries that have these hashes.
fn index(engine: &mut Interpreter, places: usize, hashes: &[i32]) -> Val {
    let index = Val::from(Array::vector(&vec![0i32; places]));
    let last = Val::I64(hashes.len() as i64);
    let hashes = Val::from(Array::vector(hashes));
    engine.call("enter", &[index.clone(), hashes, Val::I64(1), last]).expect("there is room");
    index
}

/// The numbers of the entries that are found, one after the other.
fn found(engine: &mut Interpreter, index: &Val, hash: i64) -> Vec<i64> {
    let (mut all, mut after) = (Vec::new(), 0);
    loop {
        let args = [index.clone(), Val::I64(hash), Val::I64(after)];
        let Ok(Val::I64(found)) = engine.call("probe", &args) else { panic!("a number") };
        let Ok(Val::I64(again)) = engine.call("probe_any", &args) else { panic!("a number") };
        assert_eq!(found, again);
        if found == 0 {
            return all;
        }
        all.push(found & 0xffff_ffff);
        after = found >> 32;
    }
}

#[test]
fn each_entry_is_found_by_its_hash() {
    for kind in [EngineKind::Interpreter, EngineKind::Cranelift] {
        entries_are_found_by_their_hashes(&mut native(&module(OPS), kind));
    }
}

#[track_caller]
fn entries_are_found_by_their_hashes(engine: &mut Interpreter) {
    // Hashes that agree in all bits, in the lower ones, in the upper ones; at both ends of the index.
    for hashes in [
        vec![5, 5, 5, 13, 21, 5],
        vec![7, 15, 23, 7, 6, 0],
        vec![i32::MAX, 0, i32::MAX, 1 << 30, 1 << 30 | 7],
        (0..10).map(|i| (i * 0x0123_4567) & i32::MAX).collect(),
    ] {
        for places in [8, 16, 64] {
            if hashes.len() >= places {
                continue;
            }
            let index = index(engine, places, &hashes);
            for &hash in hashes.iter().chain(&[1, 2, 3, 1 << 20]) {
                let all = found(engine, &index, hash.into());
                // The lower bits are those of the place that an entry would have if it were free.
                let may_have =
                    |entry: i64| (hashes[entry as usize - 1] ^ hash) / places as i32 == 0;
                assert!(all.iter().all(|&entry| may_have(entry)), "{hashes:?} {hash}: {all:?}");
                let has = |entry: &i64| hashes[*entry as usize - 1] == hash;
                let expected: Vec<i64> = (1..=hashes.len() as i64).filter(has).collect();
                let exact: Vec<i64> = all.iter().copied().filter(has).collect();
                assert_eq!(exact, expected, "{hashes:?} {hash}");
                // The upper half of the operand is no part of the hash.
                assert_eq!(found(engine, &index, i64::from(hash) | -1 << 31), all);
            }
        }
    }
}

#[test]
fn deleted_entries_are_passed_over_and_left_out() {
    let mut engine = engine(OPS);
    let index = index(&mut engine, 8, &[3, 3, -1, 3]);
    assert_eq!(found(&mut engine, &index, 3), [1, 2, 4]);
    let Val::Array(places) = &index else { panic!("an array") };
    assert_eq!(places.to_vec::<i32>().unwrap(), [0, 0, 0, 1, 2, 4, 0, 0]);
    places.set(4, Val::I32(-1));
    assert_eq!(found(&mut engine, &index, 3), [1, 4]);
}

#[test]
fn an_index_without_an_empty_place_ends_the_search() {
    let index = |places: &[i32]| Val::from(Array::vector(places));
    for kind in [EngineKind::Interpreter, EngineKind::Cranelift] {
        let mut engine = native(&module(OPS), kind);
        assert_eq!(found(&mut engine, &index(&[]), 7), [0i64; 0]);
        assert_eq!(found(&mut engine, &index(&[-1, -1, -1, -1]), 7), [0i64; 0]);
        // Only a power of two of places is looked at.
        assert_eq!(found(&mut engine, &index(&[-1, -1, -1, -1, 7, 7]), 7), [0i64; 0]);
        let args = [index(&[-1, -1, -1, 7, 7, 0]), Val::I64(7), Val::I64(0)];
        assert_eq!(shown(&mut engine, "probe", &args), (4i64 << 32 | 3).to_string());
    }
}

/// Each number has the same hash natively, of whatever type it is, and is the same as itself alone.
#[test]
fn hashes_and_what_is_the_same_are_those_of_the_interpreter() {
    let text = "
func @f(%x: f64, %y: f64, %i: i64, %j: i64) -> any {
^1:
  %1: i64 = core.hash %x
  %2: i64 = core.hash %i
  %3: bool = core.same %x, %y
  %4: bool = core.same %i, %j
  %5: i32 = core.convert %i
  %6: i64 = core.hash %5
  %7: bool = arith.lt %i, %j
  %8: i64 = core.hash %7
  %9: tuple<i64, i64, bool, bool, i64, i64> = core.tuple %1, %2, %3, %4, %6, %8
  return %9
}";
    let call =
        |x: f64, y: f64, i: i64, j: i64| run_both(text, &[x.into(), y.into(), i.into(), j.into()]);
    let [one, zero] = [1i64, 0].map(regraft_dialects::semantics::scalar::hash);
    assert_eq!(call(1.0, 1.0, 1, 1), format!("({one}, {one}, true, true, {one}, {zero})"));
    assert!(call(0.0, -0.0, 0, 1).contains("false, false"));
    assert!(call(f64::NAN, f64::NAN, -5, -5).contains("true, true"));
    assert!(call(0.5, 0.25, -123_456, 1 << 60).contains("false, false"));
}

#[test]
fn values_have_the_hashes_of_the_interpreter_and_are_the_same() {
    let text = "
func @f(%x: any, %y: any, %i: i64) -> any {
^1:
  %1: i64 = core.hash %x
  %2: i64 = core.hash %y
  %3: bool = arith.eq %1, %2
  %4: bool = core.same %x, %y
  %5: bool = core.same %x, \"ab\"
  %6: tuple<i64, any> = core.tuple %i, %x
  %7: tuple<i64, any> = core.tuple %i, %y
  %8: bool = core.same %6, %7
  %9: i64 = core.hash %7
  %10: tuple<bool, bool, bool, bool, i64, i64> = core.tuple %3, %4, %5, %8, %1, %9
  return %10
}";
    let call = |x: Val, y: Val| run_both(text, &[x, y, 3i64.into()]);
    let vector = || Val::from(Array::vector(&[1.0, 2.0]));
    let texts = call(Val::str("ab"), Val::str("ab"));
    assert!(texts.starts_with("(true, true, true, true, "), "{texts}");
    let numbers = call(Val::F64(2.0), Val::I64(2));
    assert!(numbers.starts_with("(true, false, false, false, "), "{numbers}");
    let array = vector();
    let arrays = call(array.clone(), array);
    assert!(arrays.starts_with("(true, true, false, true, "), "{arrays}");
    let others = call(vector(), vector());
    assert!(others.contains(", false, false, false, "), "{others}");
}

#[test]
fn entries_without_a_place_or_a_hash_are_errors() {
    let mut engine = engine(OPS);
    let vector = |items: &[i32]| Val::from(Array::vector(items));
    let mut enter = |places: usize, first: i64, last: i64| {
        let args = [vector(&vec![0; places]), vector(&[1, 2, 3, 4]), first.into(), last.into()];
        shown(&mut engine, "enter", &args)
    };
    assert_eq!(enter(8, 1, 4), "nothing");
    assert_eq!(enter(0, 3, 2), "nothing");
    assert!(enter(8, 0, 4).starts_with("BoundsError"));
    assert!(enter(8, 1, 5).starts_with("BoundsError"));
    assert!(enter(8, i64::MIN, i64::MAX).starts_with("BoundsError"));
    assert_eq!(enter(0, 1, 1), "ArgumentError: the index has no room");
    assert_eq!(enter(4, 1, 4), "ArgumentError: the index has no room");
    let same = vector(&[0; 8]);
    let args = [same.clone(), same, 1i64.into(), 2i64.into()];
    assert_eq!(
        shown(&mut engine, "enter", &args),
        "ArgumentError: the hashes are the index itself"
    );
    let full = [vector(&[-1; 8]), vector(&[1, 2]), 1i64.into(), 2i64.into()];
    assert_eq!(shown(&mut engine, "enter", &full), "ArgumentError: the index has no room");
}

#[test]
fn other_types_are_errors() {
    let text = "
func @f() -> any {
^1:
  %1: array<f64, 1> = mem.alloc 4
  %2: any = core.convert %1
  %3: any = mem.probe %2, 1, 0
  return %3
}";
    assert!(run(text, &[]).starts_with("TypeError"), "{}", run(text, &[]));
}
