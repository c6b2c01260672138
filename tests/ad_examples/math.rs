//! Gradients with the algebra of real numbers, beside exact ones.

use regraft::exec::Val;
use regraft::lang::Mode;
use regraft::passes::rewrite::Math;
use regraft_bench::adjoints::{ADBENCH, LOOPS, MOONCAKE, Program};

use crate::support::{numbers, told};

/// The value of a program and its gradient, each with all its numbers. `None` if its value is no
/// number.
fn gradient(program: &Program, math: Math) -> Option<Vec<Vec<f64>>> {
    let mut session = program.session().unwrap_or_else(|errors| panic!("{}", told(&errors)));
    session.set_math(math);
    let call = format!("{}({})", program.function, program.args);
    match session.gradient_of_call(&call, Mode::Reverse) {
        Ok(found) => {
            let parts: Vec<Val> = std::iter::once(found.value).chain(found.gradient).collect();
            Some(parts.iter().map(numbers).collect())
        }
        Err(errors) => {
            let is_no_number = told(&errors).contains("a gradient is that of a real number");
            assert!(is_no_number, "{}: {}", program.name(), told(&errors));
            None
        }
    }
}

/// Rounding of another order shows in the last digits: relative to the largest number of the value,
/// or of the gradient by one argument, it is at most 1e-12. All programs are well conditioned so.
#[test]
fn gradients_of_real_numbers_are_those_of_floats_but_for_rounding() {
    let mut compared = 0;
    for program in [LOOPS, ADBENCH, MOONCAKE].into_iter().flatten() {
        let Some(exact) = gradient(program, Math::Exact) else { continue };
        for math in [Math::Finite, Math::Fast] {
            let found = gradient(program, math).expect("it is a number with any algebra");
            assert_eq!(found.len(), exact.len());
            for (found, exact) in found.iter().zip(&exact) {
                let largest = exact.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
                let tolerance = if math == Math::Fast { 1e-12 * largest } else { 0.0 };
                assert_eq!(found.len(), exact.len(), "{}", program.name());
                for (x, y) in found.iter().zip(exact) {
                    let (name, math) = (program.name(), math.name());
                    assert!((x - y).abs() <= tolerance, "{name}, {math}: {x:e} and not {y:e}");
                }
            }
        }
        compared += 1;
    }
    assert!(compared > 25, "{compared}");
}
