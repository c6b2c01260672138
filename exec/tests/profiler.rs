//! The profiler: sums of hand-made events, the log, errors, limits.

mod common;

use std::sync::Arc;

use common::engine;
use regraft_exec::profiler::{Edge, Overhead, Stamp};
use regraft_exec::{Engine, Limits, Profile, Profiler, ProfilerOptions};
use regraft_ir::{Context, Loc, Symbol};

/// Events as text: `+a 0` starts one at 0, `-a 10` ends it at 10.
fn stamps(ctx: &Context, text: &str) -> Vec<Stamp> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let stamp = |pair: &[&str]| Stamp {
        ticks: pair[1].parse().unwrap(),
        event: ctx.symbol(&pair[0][1..]),
        edge: if pair[0].starts_with('+') { Edge::Start(Loc::UNKNOWN) } else { Edge::Stop },
    };
    words.chunks(2).map(stamp).collect()
}

/// Rows by name: calls, own time, total time.
fn rows(ctx: &Context, profile: &Profile) -> Vec<(String, u64, f64, f64)> {
    let rows = profile.rows(|node| Some(node.event)).into_iter();
    let mut rows: Vec<_> =
        rows.map(|row| (ctx.str(row.key).to_string(), row.calls, row.own, row.total)).collect();
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    rows
}

#[track_caller]
fn check(text: &str, expected: &[(&str, u64, f64, f64)]) {
    let ctx = regraft_dialects::context();
    let profile = Profile::of_stamps(&stamps(&ctx, text), 1.0, Overhead::default());
    let expected =
        expected.iter().map(|&(name, calls, own, total)| (name.to_owned(), calls, own, total));
    assert_eq!(rows(&ctx, &profile), expected.collect::<Vec<_>>());
}

#[test]
fn the_time_of_an_event_is_its_own_without_that_of_events_in_it() {
    check(
        "+a 0 +b 10 -b 30 +b 40 +c 42 -c 45 -b 50 -a 100",
        &[("a", 1, 70.0, 100.0), ("b", 2, 27.0, 30.0), ("c", 1, 3.0, 3.0)],
    );
}

#[test]
fn the_total_of_recursive_calls_counts_once() {
    check("+f 0 +f 10 +f 20 -f 30 -f 60 -f 100", &[("f", 3, 100.0, 100.0)]);
    check(
        "+a 0 +b 10 +a 20 +c 25 -c 35 -a 50 -b 90 -a 100",
        &[("a", 2, 40.0, 100.0), ("b", 1, 50.0, 80.0), ("c", 1, 10.0, 10.0)],
    );
}

#[test]
fn recursion_of_any_shape_takes_one_node_for_each_function() {
    let ctx = regraft_dialects::context();
    let mut text = String::new();
    fn fib(n: u32, now: &mut u64, text: &mut String) {
        *now += 1;
        text.push_str(&format!("+fib {now} "));
        if n >= 2 {
            fib(n - 1, now, text);
            fib(n - 2, now, text);
        }
        *now += 1;
        text.push_str(&format!("-fib {now} "));
    }
    fib(10, &mut 0, &mut text);
    let profile = Profile::of_stamps(&stamps(&ctx, &text), 1.0, Overhead::default());
    assert_eq!(profile.nodes.len(), 1);
    assert_eq!((profile.nodes[0].calls, profile.lost_events), (177, 0));
    assert_eq!(profile.nodes[0].own, profile.nodes[0].total);
}

#[test]
fn an_event_that_ends_ends_those_in_it() {
    check(
        "+a 0 +b 10 +c 20 -a 50",
        &[("a", 1, 10.0, 50.0), ("b", 1, 10.0, 40.0), ("c", 1, 30.0, 30.0)],
    );
    // An end without a start is nothing, a start without an end lasts to the end.
    check("-z 0 +a 0 +b 10 -z 20", &[("a", 1, 10.0, 20.0), ("b", 1, 10.0, 10.0)]);
}

#[test]
fn the_time_of_recording_is_subtracted_from_own_and_total_times() {
    let ctx = regraft_dialects::context();
    let events = stamps(&ctx, "+a 0 +b 10 -b 30 +b 40 -b 50 -a 100");
    let profile =
        Profile::of_stamps(&events, 2.0, Overhead { inside: 1.0, outside: 3.0, again: 0.0 });
    // Twice: b 30 - 2 * 1; a 70 - 1 - 2 * 3, and 100 - 1 - 2 * (1 + 3).
    let expected = [("a".to_owned(), 1, 126.0, 182.0), ("b".to_owned(), 2, 56.0, 56.0)];
    assert_eq!(rows(&ctx, &profile), expected);
    assert_eq!(profile.subtracted(), 3.0 * 2.0 * 4.0);
}

#[test]
fn sums_take_no_time_of_a_call_directly_in_one_of_the_same_function() {
    let ctx = regraft_dialects::context();
    let [a, b] = symbols(&ctx, ["a", "b"]);
    let mut host = regraft_exec::Host::default();
    host.set_clock(|| 100);
    let mut profiler = Profiler::new(&ctx, ProfilerOptions::SUM);
    let untimed = || unreachable!("the time of a recursive call is not taken");
    profiler.start(a, Loc::UNKNOWN, || 0);
    profiler.start(a, Loc::UNKNOWN, untimed);
    profiler.start(a, Loc::UNKNOWN, untimed);
    profiler.start(b, Loc::UNKNOWN, || 10);
    assert_eq!(profiler.depth(), 4);
    profiler.stop(b, 40);
    profiler.stop(a, 50);
    profiler.start(a, Loc::UNKNOWN, untimed);
    // An error: a handler goes on in the first call.
    profiler.unwind(1, 60);
    assert_eq!(profiler.depth(), 1);
    profiler.start(b, Loc::UNKNOWN, || 70);
    profiler.start(a, Loc::UNKNOWN, || 75);
    profiler.stop(a, 80);
    profiler.stop(b, 80);
    profiler.stop(a, 90);
    assert_eq!(profiler.depth(), 0);
    let profile = host.finish_profiler(profiler, Overhead::default());
    assert_eq!(
        rows(&ctx, &profile),
        [("a".to_owned(), 5, 55.0, 90.0), ("b".to_owned(), 2, 35.0, 40.0)]
    );
    assert_eq!((profile.events, profile.counted_events), (7, 3));
}

fn symbols<const N: usize>(ctx: &Arc<Context>, names: [&str; N]) -> [Symbol; N] {
    names.map(|name| ctx.symbol(name))
}

#[test]
fn what_finds_no_room_counts_as_the_event_around_it() {
    let ctx = regraft_dialects::context();
    let [a, b, c] = symbols(&ctx, ["a", "b", "c"]);
    let options = ProfilerOptions { log: Some(3), sums: Some(1) };
    let mut host = regraft_exec::Host::default();
    host.set_clock(|| 100);
    let mut profiler = Profiler::new(&ctx, options);
    profiler.start(a, Loc::UNKNOWN, || 0);
    profiler.start(b, Loc::UNKNOWN, || 10);
    profiler.start(c, Loc::UNKNOWN, || 20);
    profiler.stop(c, 30);
    profiler.stop(b, 40);
    assert_eq!((profiler.depth(), profiler.count()), (1, 5));
    let profile =
        host.finish_profiler(profiler, Overhead { inside: 1.0, outside: 1.0, again: 0.0 });
    assert_eq!(rows(&ctx, &profile), [("a".to_owned(), 1, 100.0, 100.0)]);
    assert_eq!((profile.events, profile.lost_events, profile.lost_stamps), (3, 2, 3));
    assert!(profile.log_text(&ctx).starts_with("Warning: The recording buffer was too small"));
}

const FAILING: &str = "
func @inner() -> i64 {
^1:
  %1: unit = prof.record_start :inner
  %2: i64 = core.call @fails()
  %3: unit = prof.record_end :inner
  return %2
}
func @fails() -> i64 {
^1:
  %1: unit = prof.record_start :fails
  %2: i64 = arith.div 1, 0
  %3: unit = prof.record_end :fails
  return %2
}
func @handler(%1: any) -> i64 {
^1:
  %2: unit = prof.record_start :handler
  %3: unit = prof.record_end :handler
  return 7
}
func @main() -> i64 {
^1:
  %1: unit = prof.record_start :main
  %2: i64 = core.try @inner, @handler
  %3: unit = prof.record_end :main
  %4: unit = prof.report
  return %2
}
func @forever() -> unit {
^1:
  %1: unit = prof.record_start :forever
  br ^2
^2:
  br ^2
}";

#[test]
fn a_handler_and_the_end_of_a_run_end_what_an_error_left_open() {
    let mut e = engine(FAILING);
    let mut now = 0;
    e.host_mut().set_clock(move || {
        now += 1;
        now
    });
    assert_eq!(e.call("main", &[]).expect("it runs").as_i64(), Some(7));
    let log = "main: 0.0\n inner: 1.0\n  fails: 2.0\n  fails: 3.0\n inner: 3.0\n handler: 4.0\n \
               handler: 5.0\nmain: 6.0\n";
    assert_eq!(e.take_output(), log);
    e.set_limits(Limits { fuel: Some(100), ..Limits::default() });
    e.call("forever", &[]).expect_err("it does not end");
    assert_eq!(e.host().profiler.depth(), 0);
    e.call("fails", &[]).expect_err("a division by zero");
    assert_eq!(e.host().profiler.depth(), 0);
}
