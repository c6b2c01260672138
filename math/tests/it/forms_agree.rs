//! Scalars, lanes and strips give the same bits.

#![allow(unsafe_code, reason = "calls of addresses, as native code makes them")]

use regraft_math::Forms;

use crate::{Random, same};

const COUNT: usize = 100_000;

fn inputs(forms: &Forms) -> Vec<Vec<f64>> {
    let mut random = Random(forms.name.len() as u64);
    (0..forms.args).map(|_| (0..COUNT).map(|_| random.any()).collect()).collect()
}

/// Describes the first element of `found` that is another than in `want`.
fn check(forms: &Forms, what: &str, inputs: &[Vec<f64>], found: &[f64], want: &[f64]) {
    if let Some(at) = (0..want.len()).find(|&at| !same(found[at], want[at])) {
        let args: Vec<f64> = inputs.iter().map(|input| input[at % COUNT]).collect();
        panic!(
            "{} of {args:?}: {what} give {:?}, one lane gives {:?}",
            forms.name, found[at], want[at]
        );
    }
}

#[test]
fn strips_of_every_width_agree() {
    for forms in Forms::all() {
        let inputs = inputs(forms);
        let args: Vec<&[f64]> = inputs.iter().map(Vec::as_slice).collect();
        let results = COUNT * forms.results;
        let (mut want, mut found) = (vec![0.0; results], vec![0.0; results]);
        let outside = forms.map_by(1, &args, &mut want);
        for count in [2, 4, 8] {
            if let Some(same_outside) = forms.map_by(count, &args, &mut found) {
                check(forms, &format!("strips by {count}"), &inputs, &found, &want);
                assert_eq!(Some(same_outside), outside);
            }
        }
        forms.map(&args, &mut found);
        check(forms, "the widest strips", &inputs, &found, &want);
    }
}

#[test]
fn both_results_are_those_of_functions_of_one() {
    let both = Forms::named("sincos").unwrap();
    let mut random = Random(6);
    for len in (0..40).chain([10_000]) {
        let x: Vec<f64> = (0..len).map(|_| random.any()).collect();
        for count in [1, 2, 4, 8] {
            let mut found = vec![0.0; 2 * len];
            let Some(outside) = both.map_by(count, &[&x], &mut found) else { continue };
            let (sines, cosines) = found.split_at(len);
            for i in 0..len {
                assert!(same(sines[i], regraft_math::sin(x[i])), "sine of {:e}", x[i]);
                assert!(same(cosines[i], regraft_math::cos(x[i])), "cosine of {:e}", x[i]);
            }
            assert_eq!(outside, x.iter().any(|x| x.is_infinite()));
        }
    }
}

#[test]
fn short_strips_and_strips_in_place_agree() {
    let forms = Forms::named("exp").unwrap();
    let x: Vec<f64> = (0..40).map(f64::from).collect();
    for count in [1, 2, 4, 8] {
        for len in 0..x.len() {
            let mut out = vec![-1.0; len + 1];
            if forms.map_by(count, &[&x[..len]], &mut out[..len]).is_none() {
                // This CPU has not so many lanes.
                break;
            }
            assert!((0..len).all(|i| out[i] == regraft_math::exp(x[i])) && out[len] == -1.0);
        }
    }
    // SAFETY: the address of a strip of one argument.
    let strip: unsafe extern "C" fn(*const f64, *mut f64, usize) -> bool =
        unsafe { std::mem::transmute(forms.strip()) };
    let mut numbers = x.clone();
    // SAFETY: both pointers have these elements behind them.
    unsafe { strip(numbers.as_ptr(), numbers.as_mut_ptr(), numbers.len()) };
    assert!(x.iter().zip(&numbers).all(|(&x, &y)| regraft_math::exp(x) == y));
}

#[test]
fn elements_outside_the_domain_are_reported_wherever_they_are() {
    for (name, outside) in [
        ("log", -1.0),
        ("sin", f64::INFINITY),
        ("sincos", f64::NEG_INFINITY),
        ("asin", 2.0),
        ("log1p", -1.5),
    ] {
        let forms = Forms::named(name).unwrap();
        let mut out = vec![0.0; 19 * forms.results];
        for at in 0..19 {
            let mut x = [0.5; 19];
            x[(at + 1) % 19] = f64::NAN;
            assert!(!forms.map(&[&x], &mut out), "{name}");
            x[at] = outside;
            assert!(forms.map(&[&x], &mut out), "{name}");
            assert!(out[at].is_nan());
        }
    }
    let pow = Forms::named("pow").unwrap();
    assert!(pow.map(&[&[2.0, -2.0], &[0.5, 0.5]], &mut [0.0; 2]));
    assert!(!pow.map(&[&[2.0, -2.0], &[0.5, 3.0]], &mut [0.0; 2]));
}

#[cfg(target_arch = "x86_64")]
#[allow(improper_ctypes_definitions, reason = "vectors go in registers, as in C")]
mod x86 {
    use std::arch::x86_64::{__m128d, __m256d, __m512d};
    use std::mem::transmute;

    use super::*;

    macro_rules! by_lanes {
        ($name:ident, $feature:literal, $vector:ty, $count:literal) => {
            /// Calls the form for lanes, with vectors in registers.
            #[target_feature(enable = $feature)]
            unsafe fn $name(address: *const (), inputs: &[Vec<f64>], out: &mut [f64]) {
                for (i, out) in out.chunks_exact_mut($count).enumerate() {
                    let input = |of: usize| -> [f64; $count] {
                        inputs[of][i * $count..(i + 1) * $count]
                            .try_into()
                            .expect("it has this length")
                    };
                    // SAFETY: the address of a function of this type, of vectors of this size.
                    let result: [f64; $count] = unsafe {
                        transmute(if inputs.len() == 1 {
                            let of: unsafe extern "C" fn($vector) -> $vector = transmute(address);
                            of(transmute::<[f64; $count], $vector>(input(0)))
                        } else {
                            let of: unsafe extern "C" fn($vector, $vector) -> $vector =
                                transmute(address);
                            of(
                                transmute::<[f64; $count], $vector>(input(0)),
                                transmute::<[f64; $count], $vector>(input(1)),
                            )
                        })
                    };
                    out.copy_from_slice(&result);
                }
            }
        };
    }

    by_lanes!(two, "sse4.1,fma", __m128d, 2);
    by_lanes!(four, "avx2,fma", __m256d, 4);
    by_lanes!(eight, "avx512f", __m512d, 8);

    #[test]
    fn lanes_in_registers_agree() {
        for forms in Forms::all().iter().filter(|forms| forms.scalar().is_some()) {
            let inputs = inputs(forms);
            let args: Vec<&[f64]> = inputs.iter().map(Vec::as_slice).collect();
            let (mut want, mut found) = (vec![0.0; COUNT], vec![0.0; COUNT]);
            forms.map_by(1, &args, &mut want);
            for count in [2, 4, 8] {
                let Some(address) = forms.lanes(count) else { continue };
                // SAFETY: the CPU has these lanes.
                unsafe {
                    match count {
                        2 => two(address, &inputs, &mut found),
                        4 => four(address, &inputs, &mut found),
                        _ => eight(address, &inputs, &mut found),
                    }
                }
                check(forms, &format!("{count} lanes"), &inputs, &found, &want);
            }
        }
    }
}
