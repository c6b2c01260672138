//! The ten cases, of the sizes that are common for them.

use regraft_exec::EngineKind;
use regraft_passes::rewrite::Math;

use super::typed::Shape;
use crate::adjoints::Program;

/// A case: a program with data.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name, the same for all systems.
    pub name: &'static str,
    /// The program, and what it is given.
    pub program: Program,
    /// The function of the arguments in Rust, and their shapes.
    pub typed: (&'static str, Shape),
    /// The prefix of its gradient in `bench/c/adjoints.c`.
    pub baseline: &'static str,
    /// The figures that are asked for.
    pub target: Target,
}

/// The most times as long as the best adjoint in C that a gradient may take.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// By LLVM and exact math.
    pub exact: f64,
    /// By LLVM and fast math.
    pub fast: f64,
    /// By Cranelift and fast math.
    pub cranelift: f64,
}

impl Target {
    /// The figure for an engine by an algebra of floats, if one is asked for.
    pub fn of(&self, engine: EngineKind, math: Math) -> Option<f64> {
        match (engine, math) {
            (EngineKind::Llvm, Math::Exact) => Some(self.exact),
            (EngineKind::Llvm, Math::Fast) => Some(self.fast),
            (EngineKind::Cranelift, Math::Fast) => Some(self.cranelift),
            _ => None,
        }
    }
}

impl Case {
    const fn new(
        name: &'static str,
        program: Program,
        typed: (&'static str, Shape),
        baseline: &'static str,
        [exact, fast, cranelift]: [f64; 3],
    ) -> Self {
        Self { name, program, typed, baseline, target: Target { exact, fast, cranelift } }
    }
}

const fn program(
    files: &'static [&'static str],
    function: &'static str,
    args: &'static str,
    wrt: &'static [usize],
) -> Program {
    Program { files, function, args, wrt, most: f64::INFINITY }
}

const MLP: &[&str] = &["jl/tanh_mlp.jl"];

/// The Jacobian of the errors of observations, each of a camera and a point.
const JACOBIAN: &str = "((jacobian, cameras, points, weights, camera, point, features) -> \
     ba_jacobian!(jacobian, cameras, points, weights, zip(camera, point), features))";

/// The arguments of the perceptron, for so many columns of input.
macro_rules! perceptron {
    ($columns:literal) => {
        concat!(
            "[0.2sin(1.0i * j) for i in 1:128, j in 1:64], [0.1sin(1.0i) for i in 1:128], \
             [0.2cos(1.0i * j) for i in 1:128, j in 1:128], [0.1cos(1.0i) for i in 1:128], \
             [sin(0.1i * j) for i in 1:64, j in 1:",
            $columns,
            "]"
        )
    };
}

/// The cases.
pub const CASES: &[Case] = &[
    Case::new(
        "foo4096",
        program(
            &["jl/foo_bang.jl"],
            "((y, x) -> sum(foo!(y, x)))",
            "[sin(1.0i) for i in 1:4096], [cos(1.0i) for i in 1:4096]",
            &[],
        ),
        ("((y, x) -> sum(foo!(y, x)))", Shape::TwoSlices),
        "foo",
        [1.0, 1.0, 1.7],
    ),
    Case::new(
        "sum1000",
        program(&["jl/sum.jl"], "_sum", "identity, [sin(1.0i) for i in 1:1000]", &[]),
        ("(x -> _sum(identity, x))", Shape::Slice),
        "sum",
        [1.0, 0.7, 4.5],
    ),
    Case::new(
        "sce100",
        program(&["jl/map_sin_cos_exp.jl"], "_map_sin_cos_exp", "[sin(1.0i) for i in 1:100]", &[]),
        ("_map_sin_cos_exp", Shape::Slice),
        "sce",
        [0.25, 1.0, 0.8],
    ),
    Case::new(
        "sce10000",
        program(
            &["jl/map_sin_cos_exp.jl"],
            "_map_sin_cos_exp",
            "[sin(1.0i) for i in 1:10000]",
            &[],
        ),
        ("_map_sin_cos_exp", Shape::Slice),
        "sce",
        [0.2, 1.0, 0.7],
    ),
    Case::new(
        "kron20x40",
        program(
            &["jl/kron_loops.jl"],
            "kron_loops",
            "[sin(1.0i + j) for i in 1:20, j in 1:20], [cos(1.0i + j) for i in 1:40, j in 1:40]",
            &[],
        ),
        ("kron_loops", Shape::TwoMatrices),
        "kron",
        [0.02, 0.01, 0.05],
    ),
    Case::new(
        "mlpB1",
        program(MLP, "tanh_mlp", perceptron!("1"), &[1, 2, 3, 4]),
        ("tanh_mlp", Shape::Layers),
        "mlp",
        [0.95, 1.0, 4.0],
    ),
    Case::new(
        "mlpB32",
        program(MLP, "tanh_mlp", perceptron!("32"), &[1, 2, 3, 4]),
        ("tanh_mlp", Shape::Layers),
        "mlp",
        [0.85, 1.0, 4.0],
    ),
    Case::new(
        "gmm",
        program(
            &["adbench/gmm.jl"],
            "gmm_objective",
            "[sin(1.0i) for i in 1:25], [sin(1.0i * k) for i in 1:10, k in 1:25], \
             [cos(1.0i * k) for i in 1:55, k in 1:25], [sin(0.3i * n) for i in 1:10, n in 1:1000], \
             Wishart(1.0, 0)",
            &[1, 2, 3],
        ),
        ("((a, m, q, x) -> gmm_objective(a, m, q, x, Wishart(1.0, 0)))", Shape::Mixture),
        "gmm",
        [0.9, 0.75, 2.5],
    ),
    Case::new(
        "ba",
        program(
            &["adbench/ba.jl"],
            JACOBIAN,
            "zeros(15, 2 * 31843), [0.5sin(1.0i * j) for i in 1:11, j in 1:49], \
             [cos(1.0i * j) + (i == 3 ? 5.0 : 0.0) for i in 1:3, j in 1:7776], \
             [0.75 + 0.25sin(1.0i) for i in 1:31843], \
             [1 + (i - 1) * 49 ÷ 31843 for i in 1:31843], [1 + i * 48271 % 7776 for i in 1:31843], \
             [cos(1.0i * j) for i in 1:2, j in 1:31843]",
            &[],
        ),
        (JACOBIAN, Shape::Jacobian),
        "ba",
        [1.1, 1.0, 2.0],
    ),
    Case::new(
        "lstm",
        program(
            &["adbench/lstm.jl"],
            "lstm_objective",
            "[sin(1.0i * j) for i in 1:14, j in 1:16], [cos(1.0i * j) for i in 1:14, j in 1:3], \
             [0.1sin(1.0i * j) for i in 1:14, j in 1:4], \
             [(i * j) % 3 == 0 ? 1.0 : 0.0 for i in 1:14, j in 1:1024]",
            &[1, 2],
        ),
        ("lstm_objective", Shape::Network),
        "lstm",
        [0.45, 0.45, 1.5],
    ),
];
