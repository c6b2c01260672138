//! Programs in `examples` and calls of them, on data that is large enough to measure on.

use regraft_dialects::context;
use regraft_ir::Diagnostic;
use regraft_lang::Session;

/// A call of a program in `examples`.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// The files that define it, and what it is given.
    pub files: &'static [&'static str],
    /// The function.
    pub function: &'static str,
    /// Its arguments, as text.
    pub args: &'static str,
    /// The arguments that it is differentiated with respect to, from 1; all if none are named.
    pub wrt: &'static [usize],
    /// The most instructions of the gradient for each of the function.
    pub most: f64,
}

const fn program(
    files: &'static [&'static str],
    function: &'static str,
    args: &'static str,
) -> Program {
    Program { files, function, args, wrt: &[], most: 3.5 }
}

/// Loops that automatic differentiation is judged by, with as many iterations as it takes for
/// what happens once not to count.
pub const LOOPS: &[Program] = &[
    program(&["jl/sum.jl"], "_sum", "identity, [sin(1.0i) for i in 1:300]"),
    program(&["jl/total.jl"], "total", "[sin(1.0i) for i in 1:300]"),
    Program {
        most: 2.1,
        ..program(
            &["jl/foo_bang.jl"],
            "foo!",
            "[sin(1.0i) for i in 1:300], [cos(1.0i) for i in 1:300]",
        )
    },
    program(&["jl/map_sin_cos_exp.jl"], "_map_sin_cos_exp", "[sin(1.0i) for i in 1:300]"),
    program(
        &["jl/kron_loops.jl"],
        "kron_loops",
        "[sin(1.0i + j) for i in 1:6, j in 1:6], [cos(1.0i + j) for i in 1:8, j in 1:8]",
    ),
    program(
        &["jl/kron_view_sum.jl"],
        "_kron_view_sum",
        "[sin(1.0i + j) for i in 1:6, j in 1:6], [cos(1.0i + j) for i in 1:8, j in 1:8]",
    ),
    program(
        &["jl/matrix_product.jl"],
        "product_sum",
        "[sin(1.0i + j) for i in 1:12, j in 1:12], [cos(1.0i + j) for i in 1:12, j in 1:12]",
    ),
    program(
        &["jl/tanh_layer.jl"],
        "two_layers",
        "[sin(1.0i + j) for i in 1:20, j in 1:20], [cos(1.0i) for i in 1:20], \
         [cos(1.0i + j) for i in 1:20, j in 1:20], [sin(1.0i) for i in 1:20], \
         [cos(2.0i) for i in 1:20]",
    ),
    program(&["jl/log_sum_exp.jl"], "log_sum_exp_rows", "[sin(1.0i + j) for i in 1:15, j in 1:20]"),
    program(
        &["jl/lstm_step.jl"],
        "remember",
        "[0.5, -0.25, 1.0, 0.5], [sin(1.0i) for i in 1:8], [cos(1.0i) for i in 1:8], \
         [sin(1.0i + j) for i in 1:8, j in 1:30]",
    ),
    program(
        &["jl/elimination.jl"],
        "log_det",
        "[i == j ? 8.0 : sin(1.0i * j) for i in 1:12, j in 1:12]",
    ),
    program(
        &["jl/elimination.jl"],
        "squared_solution",
        "[i == j ? 8.0 : sin(1.0i * j) for i in 1:12, j in 1:12], [cos(1.0i) for i in 1:12]",
    ),
    program(
        &["jl/recurrent.jl"],
        "recurrent",
        "[0.2sin(1.0i * j) for i in 1:8, j in 1:8], [cos(1.0i * j) for i in 1:8, j in 1:4], \
         [sin(1.0i + j) for i in 1:4, j in 1:20]",
    ),
    program(&["jl/kalman.jl"], "kalman", "0.1, 0.5, [sin(0.3i) for i in 1:50]"),
    program(&["jl/kalman_matrices.jl"], "kalman_matrices", "-1.0, 0.5, [sin(0.3i) for i in 1:50]"),
    program(&["jl/roots.jl"], "roots", "[-120.0, 274.0, -225.0, 85.0, -15.0]"),
    program(
        &["jl/level_set.jl"],
        "level_set",
        "[sin(0.3i) * cos(0.2j) for i in 1:12, j in 1:12], \
         [1.0 + 0.1i for i in 1:12, j in 1:12], 0.1, 5",
    ),
    program(&["jl/ising.jl"], "ising", "[0.3, 0.4, 0.5], 0.1, 3, 6"),
    program(&["jl/parity.jl"], "alternate", "2.0, 12"),
    program(&["jl/newton.jl"], "newton_sqrt", "150.0"),
    program(&["jl/getfield.jl"], "field_f", "(f = 5.0, a = 4)"),
    program(&["jl/getfield.jl"], "sum_fields", "(f = 5.0, g = 4.0)"),
];

/// The objectives of ADBench, on the data in `examples/adbench/data`.
pub const ADBENCH: &[Program] = &[
    Program {
        wrt: &[1, 2, 3],
        ..program(
            &["adbench/gmm.jl", "adbench/data/gmm.jl"],
            "gmm_objective",
            "alphas, means, icf, x, prior",
        )
    },
    Program {
        wrt: &[1, 2, 3],
        ..program(
            &["adbench/ba.jl", "adbench/data/ba.jl"],
            "squared_errors",
            "cameras, points, weights, observations, features",
        )
    },
    Program {
        wrt: &[1, 2],
        ..program(
            &["adbench/lstm.jl", "adbench/data/lstm.jl"],
            "lstm_objective",
            "main, extra, state, sequence",
        )
    },
];

/// The cases of Mooncake's benchmark, on the data in the files.
pub const MOONCAKE: &[Program] = &[
    program(&["mooncake/sum.jl"], "sum", "x"),
    program(&["mooncake/sum_loop.jl"], "_sum", "identity, x"),
    program(&["mooncake/sum_sin.jl"], "sum", "sin, x"),
    program(&["mooncake/sum_sin_loop.jl"], "_sum", "sin, x"),
    program(&["mooncake/kron_sum.jl"], "_kron_sum", "x, y"),
    program(&["mooncake/kron_view_sum.jl"], "_kron_view_sum", "x, y"),
    program(&["mooncake/map_sin_cos_exp.jl"], "map_sin_cos_exp", "x"),
    program(&["mooncake/naive_map_sin_cos_exp.jl"], "naive_map_sin_cos_exp", "x"),
    program(&["mooncake/broadcast_sin_cos_exp.jl"], "broadcast_sin_cos_exp", "x"),
    program(&["mooncake/simple_mlp.jl"], "simple_mlp", "W2, W1, Y, X"),
    program(&["mooncake/gp_lml.jl"], "gp_lml", "x, y, s"),
    program(&["mooncake/turing_broadcast.jl"], "turing_broadcast", "parameters, x"),
    program(&["mooncake/large_single_block.jl"], "large_single_block", "x"),
];

/// Programs of other kinds, on the data in the files.
pub const OTHERS: &[Program] = &[
    Program { wrt: &[2], ..program(&["jl/rk4.jl"], "rk4", "(t, y) -> y, 1.0, 0.0, 0.01, 100") },
    program(&["jl/gp_lml.jl"], "gp_lml", "x, sin.(3 .* x), 0.7, 0.1"),
    Program {
        wrt: &[1, 2, 3],
        ..program(&["jl/gmm.jl"], "gmm_objective", "alphas, means, icf, x, Wishart(1.0, 0)")
    },
    Program {
        wrt: &[1, 2],
        ..program(&["jl/lstm.jl"], "objective", "main, extra, state, sequence")
    },
    program(&["jl/nbody.jl"], "energy", "bodies"),
    program(&["jl/mlp.jl"], "dotted_mlp", "W2, W1, Y, X"),
    program(
        &["jl/kron_sum.jl"],
        "kron_sum_nested",
        "[sin(1.0i + j) for i in 1:6, j in 1:6], [cos(1.0i + j) for i in 1:8, j in 1:8]",
    ),
    program(&["jl/foo.jl"], "foo", "1.0, 2.0"),
    program(&["jl/quadratic.jl"], "f", "0.5"),
    program(&["jl/goto.jl"], "goto_tester", "1.0"),
];

impl Program {
    /// Returns its name in a table.
    pub fn name(&self) -> String {
        let file = self.files[0].trim_end_matches(".jl");
        format!("{file}: {}", self.function)
    }

    /// A session that knows it.
    ///
    /// # Errors
    /// If the files cannot be read, or what is in them is wrong.
    pub fn session(&self) -> Result<Session, Vec<Diagnostic>> {
        let mut session = Session::new(&context());
        // They are measured against loops written by hand.
        session.use_loops();
        self.load(&mut session)?;
        Ok(session)
    }

    /// Defines it in a session.
    ///
    /// # Errors
    /// If the files cannot be read, or what is in them is wrong.
    pub fn load(&self, session: &mut Session) -> Result<(), Vec<Diagnostic>> {
        for file in self.files {
            let path = format!("{}/../examples/{file}", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(&path)
                .map_err(|error| vec![Diagnostic::error(format!("{path}: {error}"))])?;
            session.run(file, &text)?;
        }
        session.take_output();
        Ok(())
    }
}
