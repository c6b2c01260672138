//! Indices that run on through nests of loops, which the reverse sweep computes again: modulo 2^w, and
//! where inner loops are empty.

use regraft_ad::{PlanKind, ReverseOptions, reverse};
use regraft_exec::value::{Array, Val};
use regraft_exec::{Engine, Interpreter};

/// The gradient by the first argument of a function of a vector and a number, at a vector of zeros of
/// this length, with the tape plan.
fn gradient(text: &str, length: usize, n: i64, plan: PlanKind) -> (Vec<f64>, String) {
    let ctx = regraft_dialects::context();
    let mut module = regraft_syntax::parse_module(&ctx, "test.ir", text)
        .unwrap_or_else(|errors| panic!("{}", regraft_ir::render_all(&errors, false)));
    let function = module.get(module.ids()[0]).unwrap().name();
    let options = ReverseOptions { plan, describe: true, ..ReverseOptions::default() };
    let made = reverse(&mut module, function, &[true, false], &options)
        .unwrap_or_else(|errors| panic!("{}", regraft_ir::render_all(&errors, false)));
    let name = module.ctx().str(made.vjp).to_owned();
    let [x, dx] = [0, 1].map(|_| Val::from(Array::vector(&vec![0.0; length])));
    let mut interpreter = Interpreter::new(&module);
    interpreter
        .call(&name, &[x, Val::I64(n), dx.clone(), Val::F64(1.0)])
        .unwrap_or_else(|e| panic!("{e:?}\n{module}"));
    (dx.as_array().unwrap().to_vec::<f64>().unwrap(), made.plans[0].1.clone())
}

#[test]
fn the_index_of_a_packed_triangle_is_computed_again() {
    // sum of j * x[at], j from 0 up to n, as often as i goes from j + 1 up to n.
    let text = "
func @f(%x: array<f64, 1>, %n: i64) -> f64 {
^1:
  br ^2(0, 1, 0.0)
^2(%j: i64, %at: i64, %s: f64):
  %1: bool = arith.lt %j, %n
  br %1, ^3, ^6
^3:
  %2: i64 = arith.add %j, 1
  %w: f64 = core.convert %j
  br ^4(%2, %at, %s)
^4(%i: i64, %at.1: i64, %s.1: f64):
  %3: bool = arith.lt %i, %n
  br %3, ^5, ^2(%2, %at.1, %s.1)
^5:
  %4: f64 = mem.load %x, %at.1
  %5: f64 = arith.mul %w, %4
  %6: f64 = arith.add %s.1, %5
  %7: i64 = arith.add %i, 1
  %8: i64 = arith.add %at.1, 1
  br ^4(%7, %8, %6)
^6:
  return %s
}
";
    for n in [-3, 0, 1, 2, 5, 8] {
        let pairs = (0..n).flat_map(|j| (j + 1..n).map(move |_| j as f64));
        let mut expected: Vec<f64> = pairs.collect();
        expected.resize(30, 0.0);
        let (found, plan) = gradient(text, 30, n, PlanKind::Best);
        assert_eq!(found, expected, "{n}");
        assert!(!plan.contains("stack"), "{plan}");
        assert_eq!(gradient(text, 30, n, PlanKind::Naive).0, expected, "{n}");
    }
}

#[test]
fn a_sum_of_squares_is_a_polynomial_of_the_third_degree() {
    // x[start + step + 4 step + 9 step ..] with a start that makes everything wrap around.
    let text = "
func @f(%x: array<f64, 1>, %n: i64) -> f64 {
^1:
  br ^2(0, STARTi8, 0.0)
^2(%i: i64, %at: i8, %s: f64):
  %1: bool = arith.lt %i, %n
  br %1, ^3, ^4
^3:
  %2: i64 = arith.zext %at
  %3: i64 = arith.and %2, 127
  %4: i64 = arith.add %3, 1
  %5: f64 = mem.load %x, %4
  %6: f64 = core.convert %i
  %7: f64 = arith.mul %5, %6
  %8: f64 = arith.add %s, %7
  %9: i8 = arith.wrap %i
  %10: i8 = arith.mul %9, %9
  %11: i8 = arith.mul %10, 3i8
  %12: i8 = arith.sub %11, %9
  %13: i8 = arith.add %at, %12
  %14: i64 = arith.add %i, 1
  br ^2(%14, %13, %8)
^4:
  return %s
}
";
    for start in [-128i8, -7, 0, 100] {
        for n in [0, 1, 2, 60, 300] {
            let text = text.replace("START", &start.to_string());
            let (mut at, mut expected) = (start, vec![0.0; 128]);
            for i in 0..n {
                expected[(at & 127) as usize] += i as f64;
                let low = i as i8;
                at = at.wrapping_add(low.wrapping_mul(low).wrapping_mul(3).wrapping_sub(low));
            }
            let (found, plan) = gradient(&text, 128, n, PlanKind::Best);
            assert_eq!(found, expected, "{start} {n}");
            assert!(plan.contains("sum of"), "{plan}");
        }
    }
}

#[test]
fn an_index_without_a_closed_form_is_kept_for_each_outer_iteration() {
    // The inner loop goes on for j % 3 iterations.
    let text = "
func @f(%x: array<f64, 1>, %n: i64) -> f64 {
^1:
  br ^2(0, 1, 0.0)
^2(%j: i64, %at: i64, %s: f64):
  %1: bool = arith.lt %j, %n
  br %1, ^3, ^6
^3:
  %2: i64 = arith.add %j, 1
  %most: i64 = arith.rem %j, 3
  br ^4(0, %at, %s)
^4(%i: i64, %at.1: i64, %s.1: f64):
  %3: bool = arith.lt %i, %most
  br %3, ^5, ^2(%2, %at.1, %s.1)
^5:
  %4: f64 = mem.load %x, %at.1
  %w: f64 = core.convert %j
  %5: f64 = arith.mul %w, %4
  %6: f64 = arith.add %s.1, %5
  %7: i64 = arith.add %i, 1
  %8: i64 = arith.add %at.1, 1
  br ^4(%7, %8, %6)
^6:
  return %s
}
";
    for n in [0, 1, 7] {
        let pairs = (0..n).flat_map(|j| (0..j % 3).map(move |_| j as f64));
        let mut expected: Vec<f64> = pairs.collect();
        expected.resize(12, 0.0);
        let (found, plan) = gradient(text, 12, n, PlanKind::Best);
        assert_eq!(found, expected, "{n}");
        assert!(plan.contains("%at: i64  array over ^2"), "{plan}");
        assert!(!plan.contains("stack"), "{plan}");
    }
}
