//! The adjoints that were written by hand in C compute what ours do, which neither side has from the other.

use regraft_bench::peers::{Baseline, CASES, Case, Shape, arrays};
use regraft_dialects::context;
use regraft_exec::Val;
use regraft_ir::{Diagnostic, render_all};
use regraft_lang::Session;
use regraft_passes::rewrite::Math;

/// The most that orders of additions make of a difference, times the largest derivative by an argument.
const TOLERANCE: f64 = 1e-11;

/// The derivatives by each array among the arguments that has a shadow, by its position.
fn ours(session: &mut Session, case: &Case) -> Result<Vec<(usize, Vec<f64>)>, Vec<Diagnostic>> {
    let (function, shape) = case.typed;
    session.run("function", &format!("f = {function}"))?;
    session.run("arguments", &format!("xs = ({},)", case.program.args))?;
    if let Shape::Jacobian = shape {
        return Ok(vec![(0, floats(&session.run("jacobian", "f(xs...)")?))]);
    }
    // A function among the arguments is part of the one that takes arrays alone.
    let gradient = "gradient(f, filter(x -> x isa Array, xs)...)";
    let gradient = session.run("gradient", gradient)?;
    let by_each = gradient.as_fields().expect("there is a derivative by each").iter().map(floats);
    let wrt = case.program.wrt;
    let is_asked = |at: usize| wrt.is_empty() || wrt.contains(&(at + 1));
    Ok(by_each.enumerate().filter(|&(at, _)| is_asked(at)).collect())
}

fn floats(value: &Val) -> Vec<f64> {
    let Val::Array(array) = value else { panic!("{value:?} is no array") };
    array.to_vec().expect("it is one of floats")
}

/// Compares a case for each compiler; the errors of its program.
fn compare(case: &Case, baselines: &[Baseline]) -> Result<(), Vec<Diagnostic>> {
    let mut session = Session::new(&context());
    case.program.load(&mut session)?;
    let args = arrays(&mut session, case)?;
    let ours = ours(&mut session, case)?;
    for baseline in baselines {
        let mut theirs = baseline.prepare(case, &args)?;
        // A second call finds what the first one has left.
        theirs.run();
        theirs.run();
        for (at, ours) in &ours {
            let (data, shadow) = theirs.array(*at);
            let theirs = if let Shape::Jacobian = case.typed.1 { data } else { shadow };
            let largest = ours.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= TOLERANCE * largest;
            let differs = ours.iter().zip(theirs).position(|pair| !is_near(pair));
            let what = format!("{} by {}, argument {at}", case.name, baseline.compiler);
            assert_eq!(ours.len(), theirs.len(), "{what}");
            if let Some(i) = differs {
                panic!("{what}: the derivative by element {i} is {}, not {}", theirs[i], ours[i]);
            }
        }
    }
    Ok(())
}

#[test]
fn adjoints_by_hand_compute_what_ours_do() {
    for math in [Math::Exact, Math::Fast] {
        let baselines = Baseline::all(math);
        let baselines = baselines.unwrap_or_else(|errors| panic!("{}", render_all(&errors, false)));
        assert!(!baselines.is_empty(), "there is no compiler of C, which Rust links with, too");
        for case in CASES {
            if let Err(errors) = compare(case, &baselines) {
                panic!("{}: {}", case.name, render_all(&errors, false));
            }
        }
    }
}
