//! First, second and third derivatives of functions of one number, in every mix of the modes.

use super::check_in;

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
