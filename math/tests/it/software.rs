//! The fused multiply-add in integers, and functions that are computed with it.

use regraft_math::{Forms, software};

use crate::{Random, same};

type Unary = fn(f64) -> f64;
type Binary = fn(f64, f64) -> f64;

/// A factor or an addend: any float, one of few bits, or one near the end of its range.
fn operand(random: &mut Random) -> f64 {
    match random.bits() % 5 {
        0 => random.any(),
        1 => random.between(-4.0, 4.0).round() * 2f64.powi((random.bits() % 200) as i32 - 100),
        2 => f64::from_bits(random.bits() & 0x800f_ffff_ffff_ffff),
        3 => f64::from_bits(random.bits() & 0x8fff_ffff_ffff_ffff),
        _ => random.between(-2.0, 2.0),
    }
}

#[test]
fn the_fused_multiply_add_is_that_of_the_cpu() {
    let mut random = Random(7);
    for _ in 0..500_000 {
        let [x, y] = [operand(&mut random), operand(&mut random)];
        // A sum that cancels in part, often.
        let z = match random.bits() % 3 {
            0 => -(x * y),
            1 => -(x * y) * (1.0 + random.between(-1e-15, 1e-15)),
            _ => operand(&mut random),
        };
        let (found, want) = (software::fma(x, y, z), x.mul_add(y, z));
        assert!(same(found, want), "{x:e} * {y:e} + {z:e}: found {found:e}, expected {want:e}");
    }
}

#[test]
fn functions_give_the_same_bits_with_it() {
    let one: [(&str, Unary); 20] = [
        ("exp", software::exp),
        ("exp2", software::exp2),
        ("exp10", software::exp10),
        ("expm1", software::expm1),
        ("log", software::log),
        ("log2", software::log2),
        ("log10", software::log10),
        ("log1p", software::log1p),
        ("sin", software::sin),
        ("cos", software::cos),
        ("tan", software::tan),
        ("asin", software::asin),
        ("acos", software::acos),
        ("atan", software::atan),
        ("sinh", software::sinh),
        ("cosh", software::cosh),
        ("tanh", software::tanh),
        ("erf", software::erf),
        ("sqrt", software::sqrt),
        ("cbrt", software::cbrt),
    ];
    let two: [(&str, Binary); 3] =
        [("atan2", software::atan2), ("pow", software::pow), ("hypot", software::hypot)];
    let functions = Forms::all().iter().filter(|forms| forms.scalar().is_some());
    assert_eq!(one.len() + two.len(), functions.count());
    let mut random = Random(8);
    let [x, y]: [Vec<f64>; 2] =
        std::array::from_fn(|_| (0..20_000).map(|_| random.any()).collect());
    let mut want = vec![0.0; x.len()];
    for (name, f) in one {
        Forms::named(name).unwrap().map(&[&x], &mut want);
        for (&x, &want) in x.iter().zip(&want) {
            assert!(same(f(x), want), "{name} of {x:e}: found {:e}, expected {want:e}", f(x));
        }
    }
    for (name, f) in two {
        Forms::named(name).unwrap().map(&[&x, &y], &mut want);
        for ((&x, &y), &want) in x.iter().zip(&y).zip(&want) {
            assert!(
                same(f(x, y), want),
                "{name} of {x:e}, {y:e}: found {:e}, expected {want:e}",
                f(x, y)
            );
        }
    }
}
