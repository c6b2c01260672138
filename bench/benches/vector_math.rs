//! Measures elementary functions, as scalars and in strips by each number of lanes that the CPU has.
//!
//! `cargo bench -p regraft-bench --bench vector_math` prints nanoseconds per element, the least of many runs in turn
//! on arrays that fit into the caches, beside those of the system's library where Rust has the function.
//!
//! The name of a function may follow, for that one alone.

use std::time::Instant;

use regraft_bench::table::{Bound, Table};
use regraft_math::Forms;

const SIZE: usize = 4096;
const RUNS: usize = 300;

/// Functions with a target for the widest strips, in nanoseconds per element.
const TARGETS: [(&str, f64); 4] = [("exp", 0.5), ("sin", 0.5), ("cos", 0.5), ("tanh", 0.5)];

fn main() {
    // Cargo adds options of its own.
    let wanted = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let mut table = Table::default();
    for forms in Forms::all() {
        if wanted.as_deref().is_none_or(|wanted| wanted == forms.name) {
            add(forms, &mut table);
        }
    }
    println!("\n{table}");
}

/// Adds the figures of a function.
fn add(forms: &Forms, table: &mut Table) {
    let inputs = [numbers(forms.name, 0.618_034), numbers("pow", 0.414_214)];
    let args: Vec<&[f64]> = inputs.iter().take(forms.args).map(Vec::as_slice).collect();
    let mut out = vec![0.0; SIZE * forms.results];
    let widths = [1, 2, 4, 8].map(|count| {
        let ns = least(|| forms.map_by(count, &args, &mut out));
        (count, forms.map_by(count, &args, &mut out).map(|_| ns))
    });
    let system = system(forms.name).map(|f| {
        least(|| {
            for i in 0..SIZE {
                out[i] = f(inputs[0][i], inputs[1][i]);
            }
        })
    });
    let target = TARGETS.iter().find(|(name, _)| *name == forms.name);
    let widest = widths.iter().rev().find(|(_, ns)| ns.is_some()).map_or(1, |&(count, _)| count);
    for (count, ns) in widths {
        let Some(ns) = ns else { continue };
        let bound = match target {
            Some(&(_, most)) if count == widest => Bound::AtMost(most),
            _ => Bound::None,
        };
        let note = match system {
            Some(ns) if count == 1 => format!("system's library {ns:.2}"),
            _ => String::new(),
        };
        let lanes = if count == 1 { "scalar".to_owned() } else { format!("{count} lanes") };
        table.add(format!("{}, {lanes}", forms.name), ns, "ns", bound, note);
    }
}

/// Arguments in the domain of a function.
fn numbers(name: &str, step: f64) -> Vec<f64> {
    let (low, high) = match name {
        "asin" | "acos" => (-1.0, 1.0),
        "log" | "log2" | "log10" | "log1p" | "pow" => (0.01, 10.0),
        _ => (-10.0, 10.0),
    };
    (0..SIZE).map(|i| low + (high - low) * (i as f64 * step).fract()).collect()
}

/// The least time of many runs, in nanoseconds per element.
fn least<R>(mut work: impl FnMut() -> R) -> f64 {
    let time = |work: &mut dyn FnMut() -> R| {
        let start = Instant::now();
        std::hint::black_box(work());
        start.elapsed().as_secs_f64()
    };
    (0..RUNS).map(|_| time(&mut work)).fold(f64::INFINITY, f64::min) * 1e9 / SIZE as f64
}

/// The function in the system's library.
fn system(name: &str) -> Option<fn(f64, f64) -> f64> {
    Some(match name {
        "exp" => |x, _| x.exp(),
        "exp2" => |x, _| x.exp2(),
        "expm1" => |x, _| x.exp_m1(),
        "log" => |x, _| x.ln(),
        "log2" => |x, _| x.log2(),
        "log10" => |x, _| x.log10(),
        "log1p" => |x, _| x.ln_1p(),
        "sin" => |x, _| x.sin(),
        "cos" => |x, _| x.cos(),
        "tan" => |x, _| x.tan(),
        "asin" => |x, _| x.asin(),
        "acos" => |x, _| x.acos(),
        "atan" => |x, _| x.atan(),
        "atan2" => f64::atan2,
        "sinh" => |x, _| x.sinh(),
        "cosh" => |x, _| x.cosh(),
        "tanh" => |x, _| x.tanh(),
        "pow" => f64::powf,
        "cbrt" => |x, _| x.cbrt(),
        "hypot" => f64::hypot,
        _ => return None,
    })
}
