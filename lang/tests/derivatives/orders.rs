//! First, second and third derivatives of functions of one number, in every mix of the modes.

use super::{check, check_in};

/// A function `D` by forward mode and `G` by reverse mode.
const MODES: &str = "D(f) = x -> derivative(f, x)\nG(f) = x -> gradient(f, x)[1]\n";

/// Checks derivatives of functions of `definitions` at a point: the first and the second in all
/// mixes, the third in pure reverse mode and in forward over reverse over reverse.
#[track_caller]
pub fn check_orders(definitions: &str, table: &[(&str, &str, [&str; 3])]) {
    let mut session = super::session(&format!("{MODES}{definitions}"));
    for (f, x, [first, second, third]) in table {
        let mut wanted = Vec::new();
        for (mixes, value) in [
            (&["D", "G"] as &[&str], first),
            (&["D D", "D G", "G D", "G G"], second),
            (&["G G G", "D G G"], third),
        ] {
            for mix in mixes {
                let modes: Vec<&str> = mix.split(' ').collect();
                let (open, close) = (modes.join("("), ")".repeat(modes.len() - 1));
                wanted.push((format!("{open}({f}{close})({x})"), *value));
            }
        }
        let wanted: Vec<(&str, &str)> = wanted.iter().map(|(e, v)| (e.as_str(), *v)).collect();
        check_in(&mut session, &wanted);
    }
}

/// The expected value is that of 50-digit differences of the exact steps (mpmath).
#[test]
fn implicit_steps_solved_by_newton_iterations_that_stop_when_they_are_close() {
    check(
        "function step(u, p, h)\n    v = u\n    for k in 1:20\n\
             g = v - u - h * (p * v - v^3)\n\
             abs(g) < 1e-13 && break\n\
             v -= g / (1 - h * (p - 3v^2))\n    end\n    v\nend\n\
         f(p) = (u = 1.0; for i in 1:5 u = step(u, p, 0.1) end; u)\n\
         g1(p) = gradient(f, p)[1]\ng2(p) = gradient(g1, p)[1]\n\
         d1(p) = derivative(f, p)\nd2(p) = derivative(d1, p)\n\
         want = -0.03192791551574816\n",
        &[
            ("abs(gradient(g2, 0.7)[1] - want) < 1e-12", "true"),
            ("abs(derivative(d2, 0.7) - want) < 1e-12", "true"),
            ("abs(derivative(g2, 0.7) - want) < 1e-12", "true"),
            ("abs(gradient(d2, 0.7)[1] - want) < 1e-12", "true"),
        ],
    );
}
