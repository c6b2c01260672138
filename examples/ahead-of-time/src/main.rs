//! Goes down a valley by a function and a gradient that were compiled with this crate.

/// The functions of `rosenbrock.jl`.
mod compiled {
    include!(concat!(env!("OUT_DIR"), "/rosenbrock.rs"));
}

use compiled::{rosenbrock, rosenbrock_gradient};

fn main() -> Result<(), regraft_runtime::Diagnostic> {
    let (mut x, mut dx) = ([-1.2, 1.0], [0.0; 2]);
    println!("start: {:.4}", rosenbrock(&x)?);
    for _ in 0..40_000 {
        rosenbrock_gradient(&x, &mut dx)?;
        x.iter_mut().zip(dx).for_each(|(x, dx)| *x -= 0.001 * dx);
    }
    println!("end: {:.4} at {:.3} {:.3}", rosenbrock(&x)?, x[0], x[1]);
    Ok(())
}
