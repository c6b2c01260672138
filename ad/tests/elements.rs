//! Elements of arrays that loops work on: which the reverse sweep loads again, and how many are kept.

use regraft_ad::{ReverseOptions, reverse};
use regraft_exec::value::{Array, Val};
use regraft_exec::{Engine, Interpreter};

/// The derivative of a function of a vector at a point, with the tape plan and the forward part as text.
fn gradient(text: &str, x: &[f64]) -> (Vec<f64>, String, String) {
    let ctx = regraft_dialects::context();
    let mut module = regraft_syntax::parse_and_verify(&ctx, "test.ir", text)
        .unwrap_or_else(|errors| panic!("{}", regraft_ir::render_all(&errors, false)));
    let options = ReverseOptions { describe: true, ..ReverseOptions::default() };
    let made = reverse(&mut module, ctx.symbol("f"), &[true], &options)
        .unwrap_or_else(|errors| panic!("{}", regraft_ir::render_all(&errors, false)));
    let forward = module.function(ctx.str(made.forward)).unwrap().to_string();
    let dx = Val::from(Array::vector(&vec![0.0; x.len()]));
    let args = [Val::from(Array::vector(x)), dx.clone(), Val::F64(1.0)];
    let mut interpreter = Interpreter::new(&module);
    interpreter.call(ctx.str(made.vjp), &args).unwrap_or_else(|e| panic!("{e:?}\n{module}"));
    (dx.as_array().unwrap().to_vec().unwrap(), made.plans[0].1.clone(), forward)
}

/// The sum of the squares of `w = tanh(sin(x[j]))`, each of which is put into `y` at an index, with something done behind
/// that, and after the loop.
fn squares(index: &str, behind: &str, after: &str) -> String {
    format!(
        "
func @f(%x: array<f64, 1>) -> f64 {{
^1:
  %n: i64 = mem.length %x
  %twice: i64 = arith.mul %n, 2
  %room: i64 = arith.add %twice, 2
  %y: array<f64, 1> = mem.alloc %room
  br ^2(0, 0.0)
^2(%i: i64, %s: f64):
  %c: bool = arith.lt %i, %n
  br %c, ^3, ^4
^3:
  %j: i64 = arith.add %i, 1
  %v: f64 = mem.load %x, %j
  %e: f64 = math.sin %v
  %w: f64 = math.tanh %e
  %at: i64 = {index}
  mem.store %y, %w, %at
  {behind}
  %q: f64 = arith.mul %w, %w
  %t: f64 = arith.add %s, %q
  br ^2(%j, %t)
^4:
  {after}
  return %s
}}
"
    )
}

#[test]
fn a_value_is_read_where_it_was_stored_if_it_stays_there() {
    let x = [0.25f64, 0.5, 1.0, 1.5];
    let nothing = "mem.length %y";
    let cases = [
        (true, "arith.mul %j, 2", nothing, nothing),
        (true, "arith.sub %twice, %i", nothing, "%r: f64 = mem.load %y, 1"),
        // What else is stored is at odd indices, or where the next iteration stores over it.
        (true, "arith.mul %j, 2", "mem.store %y, 0.5, 1", nothing),
        (true, "arith.add %j, 1", "%o: i64 = arith.add %at, 1\n  mem.store %y, 0.5, %o", nothing),
        // Every iteration stores to the same element, or two do.
        (false, "arith.sub %j, %i", nothing, nothing),
        (false, "arith.max %i, 1", nothing, nothing),
        // Something else may be stored there: in the loop, after it, and where the array becomes shorter.
        (false, "arith.mul %j, 2", "mem.store %y, 0.5, %at", nothing),
        (false, "arith.mul %j, 2", "mem.store %y, 0.5, 2", nothing),
        (false, "arith.mul %j, 2", "mem.store %y, 0.5, %twice", nothing),
        (false, "arith.add %j, 1", "%o: i64 = arith.sub %at, 1\n  mem.store %y, 0.5, %o", nothing),
        (false, "arith.mul %j, 2", nothing, "mem.store %y, 0.5, 2"),
        (false, "arith.mul %j, 2", nothing, "%r: f64 = mem.pop %y"),
    ];
    for (is_read, index, behind, after) in cases {
        let (found, plan, _) = gradient(&squares(index, behind, after), &x);
        for (x, found) in x.iter().zip(found) {
            let w = x.sin().tanh();
            let expected = 2.0 * w * (1.0 - w * w) * x.cos();
            assert!(
                (found - expected).abs() < 1e-14,
                "{found} {expected} {index} {behind} {after}"
            );
        }
        assert_eq!(
            plan.contains("%w: f64  an element of %y "),
            is_read,
            "{index} {behind}\n{plan}"
        );
        assert_eq!(plan.ends_with(" 0 bytes an iteration\n"), is_read, "{index} {behind}\n{plan}");
    }
}

#[test]
fn an_array_that_is_made_anew_each_time_is_not_read() {
    let text = "
func @f(%x: array<f64, 1>) -> f64 {
^1:
  %n: i64 = mem.length %x
  br ^2(0, 0.0)
^2(%i: i64, %s: f64):
  %c: bool = arith.lt %i, %n
  br %c, ^3, ^4
^3:
  %j: i64 = arith.add %i, 1
  %y: array<f64, 1> = mem.alloc %n
  %v: f64 = mem.load %x, %j
  %e: f64 = math.sin %v
  %w: f64 = math.tanh %e
  mem.store %y, %w, %j
  %q: f64 = arith.mul %w, %w
  %t: f64 = arith.add %s, %q
  br ^2(%j, %t)
^4:
  return %s
}
";
    let (found, plan, _) = gradient(text, &[0.5, 1.5]);
    let w = 0.5f64.sin().tanh();
    assert!((found[0] - 2.0 * w * (1.0 - w * w) * 0.5f64.cos()).abs() < 1e-14, "{found:?}");
    assert!(plan.contains("%w: f64  array over ^2"), "{plan}");
}

/// `y` begins as `x`, and each iteration puts `sin(y[a])` into `y[b]`; then the last element of `y` is returned. Both indices
/// are of an iteration `i` from 1 up to 1 less than the length.
fn steps(a: &str, b: &str) -> String {
    format!(
        "
func @f(%x: array<f64, 1>) -> f64 {{
^1:
  %n: i64 = mem.length %x
  %y: array<f64, 1> = mem.copy %x
  br ^2(1)
^2(%i: i64):
  %c: bool = arith.lt %i, %n
  br %c, ^3, ^4
^3:
  %next: i64 = arith.add %i, 1
  %v: f64 = mem.load %y, {a}
  %w: f64 = math.sin %v
  mem.store %y, %w, {b}
  br ^2(%next)
^4:
  %r: f64 = mem.load %y, %n
  return %r
}}
"
    )
}

#[test]
fn an_element_is_loaded_again_if_what_is_stored_over_it_was_stored_before() {
    let x = [0.5f64, 0.75, 1.0];
    // y[i + 1] = sin(y[i]): nothing comes to an element that was read.
    let (found, plan, _) = gradient(&steps("%i", "%next"), &x);
    let expected = x[0].sin().cos() * x[0].cos();
    assert!((found[0] - expected).abs() < 1e-15 && found[1..] == [0.0, 0.0], "{found:?}");
    assert!(plan.ends_with(" 0 bytes an iteration\n"), "{plan}");
    // y[i] = sin(y[i + 1]): the next iteration comes to the element that was read; nothing becomes the last one.
    let (found, plan, _) = gradient(&steps("%next", "%i"), &x);
    assert_eq!(found, [0.0, 0.0, 1.0]);
    assert!(plan.contains("%v: f64  array over ^2"), "{plan}");
    // y[n] = sin(y[n]), twice, and y[i] = sin(y[i]).
    let (found, plan, _) = gradient(&steps("%n", "%n"), &x);
    let expected = x[2].sin().cos() * x[2].cos();
    assert!(found[..2] == [0.0, 0.0] && (found[2] - expected).abs() < 1e-15, "{found:?}");
    assert!(plan.contains("%v: f64  array over ^2"), "{plan}");
    let (found, plan, _) = gradient(&steps("%i", "%i"), &x);
    assert_eq!(found, [0.0, 0.0, 1.0]);
    assert!(plan.contains("%v: f64  array over ^2"), "{plan}");
}

#[test]
fn what_is_the_same_in_a_loop_has_no_place_for_its_iterations() {
    // Twice, each element of y becomes itself plus the sum of the products of its difference to all, and so on for others.
    let text = "
func @f(%x: array<f64, 1>) -> f64 {
^1:
  %n: i64 = mem.length %x
  %y: array<f64, 1> = mem.copy %x
  %z: array<f64, 1> = mem.alloc %n
  br ^2(0)
^2(%t: i64):
  %c1: bool = arith.lt %t, 2
  br %c1, ^3(0), ^12
^3(%i: i64):
  %c2: bool = arith.lt %i, %n
  br %c2, ^4, ^8(0)
^4:
  %i1: i64 = arith.add %i, 1
  br ^5(0, 0.0)
^5(%j: i64, %s: f64):
  %c3: bool = arith.lt %j, %n
  br %c3, ^6, ^7
^6:
  %j1: i64 = arith.add %j, 1
  %b: f64 = mem.load %y, %j1
  %a: f64 = mem.load %y, %i1
  %d: f64 = arith.sub %b, %a
  %q: f64 = arith.mul %d, %d
  %s1: f64 = arith.add %s, %q
  br ^5(%j1, %s1)
^7:
  mem.store %z, %s, %i1
  br ^3(%i1)
^8(%k: i64):
  %c4: bool = arith.lt %k, %n
  br %c4, ^9, ^10
^9:
  %k1: i64 = arith.add %k, 1
  %u: f64 = mem.load %z, %k1
  mem.store %y, %u, %k1
  br ^8(%k1)
^10:
  %t1: i64 = arith.add %t, 1
  br ^2(%t1)
^12:
  %r: f64 = mem.load %y, 1
  return %r
}
";
    // For (p, q), the differences d = p - q give (d^2, d^2), then 0; for (p, q, r), first sums of squares of differences.
    assert_eq!(gradient(text, &[1.0, 3.0]).0, [0.0, 0.0]);
    let [p, q, r] = [1.0f64, 3.0, 4.0];
    let value = |[p, q, r]: [f64; 3]| {
        let y = [p, q, r].map(|a| [p, q, r].iter().map(|b| (b - a).powi(2)).sum::<f64>());
        y.iter().map(|b| (b - y[0]).powi(2)).sum::<f64>()
    };
    let (found, plan, _) = gradient(text, &[p, q, r]);
    for (k, found) in found.iter().enumerate() {
        let moved =
            |by: f64| value(std::array::from_fn(|i| [p, q, r][i] + if i == k { by } else { 0.0 }));
        let expected = (moved(0.001) - moved(-0.001)) / 0.002;
        assert!((found - expected).abs() < 1e-3, "{found} {expected}");
    }
    assert!(plan.contains("%b: f64  array over ^2, ^5, "), "{plan}");
    assert!(plan.contains("%a: f64  array over ^2, ^3, "), "{plan}");
    assert!(plan.contains("%d: f64  recomputed (what it reads is kept in fewer loops)"), "{plan}");
}

#[test]
fn the_shadow_of_an_array_that_is_made_on_both_ways_is_kept_once() {
    // sin(x[1]) of two numbers, x[2]^2 of more.
    let text = "
func @f(%x: array<f64, 1>) -> f64 {
^1:
  %n: i64 = mem.length %x
  %few: bool = arith.lt %n, 3
  br %few, ^2, ^3
^2:
  %a: array<f64, 1> = mem.alloc %n
  %v: f64 = mem.load %x, 1
  %sin: f64 = math.sin %v
  mem.store %a, %sin, 1
  br ^4(%a)
^3:
  %b: array<f64, 1> = mem.alloc %n
  %u: f64 = mem.load %x, 2
  %q: f64 = arith.mul %u, %u
  mem.store %b, %q, 1
  br ^4(%b)
^4(%m: array<f64, 1>):
  %r: f64 = mem.load %m, 1
  return %r
}
";
    let (found, _, forward) = gradient(text, &[0.5, 2.0]);
    assert_eq!(found, [0.5f64.cos(), 0.0]);
    assert_eq!(forward.matches("mem.alloc").count(), 4, "two arrays and their shadows: {forward}");
    assert_eq!(gradient(text, &[0.5, 2.0, 0.0]).0, [0.0, 4.0, 0.0]);
}

/// An op that writes to all that an object of the iteration refers to writes to what was there before it.
#[test]
fn what_a_new_object_refers_to_may_be_written_to_through_it() {
    let text = "
func @f(%x0: array<f64, 1>) -> f64 {
^1:
  %x: array<f64, 1> = mem.copy %x0
  br ^2(0, 0.0)
^2(%i: i64, %s: f64):
  %c: bool = arith.ge %i, 3
  br %c, ^4, ^3
^3:
  %v: f64 = mem.load %x, 1
  %w: f64 = math.sin %v
  %p: f64 = arith.mul %w, %v
  %t: f64 = arith.add %s, %p
  %a: array<array<f64, 1>, 1> = mem.alloc 1
  mem.store %a, %x, 1
  ad.clear %a
  %j: i64 = arith.add %i, 1
  br ^2(%j, %t)
^4:
  return %s
}
";
    // The first iteration alone reads what was given.
    let (found, _, _) = gradient(text, &[0.3, 0.7]);
    let expected = [0.3f64.cos() * 0.3 + 0.3f64.sin(), 0.0];
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-14, "{found} {expected}");
    }
}

/// A value of a loop's header that only later blocks need is kept there: the array has a place for each iteration, and none for
/// the last run of the header.
#[test]
fn what_the_last_run_of_a_header_computes_is_kept_only_if_it_is_needed() {
    let product = |in_header: &str, factor: &str| {
        format!(
            "
func @f(%x: array<f64, 1>) -> f64 {{
^1:
  %n: i64 = mem.length %x
  br ^2(0, 1.0)
^2(%i: i64, %p: f64):
  {in_header}
  %c: bool = arith.lt %i, %n
  br %c, ^3, ^6
^3:
  %j: i64 = arith.add %i, 1
  %v: f64 = mem.load %x, %j
  br ^4(0, 0.0)
^4(%k: i64, %s: f64):
  %d: bool = arith.lt %k, 2
  br %d, ^5, ^7
^5:
  %a: f64 = arith.mul {factor}, %v
  %s2: f64 = arith.add %s, %a
  %k2: i64 = arith.add %k, 1
  br ^4(%k2, %s2)
^7:
  br ^2(%j, %s)
^6:
  return %p
}}
"
        )
    };
    let x = [0.25f64, 0.5, 1.0, 1.5];
    // In each iteration, `p` becomes twice what its factor is, times `x[j]`.
    for (in_header, factor, in_last) in
        [("mem.length %x", "%p", false), ("%q: f64 = math.sin %p", "%q", true)]
    {
        let function = |p: f64| if in_last { (p.sin(), p.cos()) } else { (p, 1.0) };
        let (found, plan, forward) = gradient(&product(in_header, factor), &x);
        let mut states = vec![1.0];
        for x in x {
            states.push(2.0 * function(states[states.len() - 1]).0 * x);
        }
        let mut cotangent = 1.0;
        for j in (0..x.len()).rev() {
            let (q, slope) = function(states[j]);
            let expected = 2.0 * q * cotangent;
            assert!((found[j] - expected).abs() < 1e-14, "{found:?} {expected} {in_header}");
            cotangent *= 2.0 * x[j] * slope;
        }
        assert!(plan.contains("array over ^2"), "{plan}");
        assert_eq!(forward.contains("arith.add %n, 1"), in_last, "{forward}");
    }
}
