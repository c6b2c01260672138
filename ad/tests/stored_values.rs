//! Values that the function itself has stored where they stay, which the reverse sweep reads there.

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
  %y: array<f64, 1> = mem.alloc %twice
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
        (true, "arith.sub %twice, %i", nothing, "%r = mem.load %y, 1"),
        // Every iteration stores to the same element, or two do.
        (false, "arith.sub %j, %i", nothing, nothing),
        (false, "arith.max %i, 1", nothing, nothing),
        // Something else may be stored there: in the loop, after it, and where the array becomes shorter.
        (false, "arith.mul %j, 2", "mem.store %y, 0.5, %at", nothing),
        (false, "arith.mul %j, 2", "mem.store %y, 0.5, 1", nothing),
        (false, "arith.mul %j, 2", nothing, "mem.store %y, 0.5, 2"),
        (false, "arith.mul %j, 2", nothing, "%r = mem.pop %y"),
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
