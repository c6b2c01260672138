//! Sizes of derivatives after `O2` and after what simplifies them further.

mod programs;
mod size;

use std::sync::LazyLock;

use regraft_ad::{ForwardOptions, PlanKind, ReverseOptions, forward, reverse};
use regraft_dialects::context;
use regraft_exec::{Engine, Interpreter, Val};
use regraft_ir::{Diagnostic, Function, Module, Symbol};
use regraft_lang::Session;
use regraft_passes::O2;
use regraft_passes::rewrite::Math;
use regraft_syntax::parse_module;

use crate::adjoints::{ADBENCH, Adjoint, LOOPS, MOONCAKE, OTHERS, Program, apply, keep_reached};

pub use programs::{FUNCTIONS, POWER, matrix, product_of_powers, sum_of_terms};
pub use size::{Size, mean};

/// The pipeline that others are measured against: `O2` without its algebra.
pub static BASE: LazyLock<String> = LazyLock::new(|| {
    let rewrite = "rewrite{math=exact, ties=false}, ";
    assert!(O2.text.contains(rewrite), "`O2` has this algebra: {}", O2.text);
    O2.text.replace(rewrite, "")
});

/// The pipeline whose results are measured by their size. What makes versions of loops is not in it:
/// two loops of which one runs are more instructions.
pub fn simplify(math: Math) -> String {
    format!("O2, e-graph{{math={}}}", math.name())
}

/// The pipeline whose results are measured by running them: `O3` without `fuse-sweeps`, which saves
/// memory and may take an instruction more in each iteration.
pub fn finish(math: Math) -> String {
    let factor = if math == Math::Fast { "{math=fast}" } else { "" };
    format!("{}, reduction-factor{factor}, e-graph{{math={}}}", O2.name, math.name())
}

/// All programs whose adjoints are measured.
pub fn all_programs() -> impl Iterator<Item = &'static Program> {
    [LOOPS, ADBENCH, MOONCAKE, OTHERS].into_iter().flatten()
}

/// The program of this name.
pub fn program(name: &str) -> Option<&'static Program> {
    all_programs().find(|program| program.name() == name)
}

/// The sizes of one derivative.
#[derive(Clone, Debug)]
pub struct Sizes {
    /// The name of what was differentiated.
    pub name: String,
    /// After [`BASE`].
    pub base: Size,
    /// After what simplifies it, by [`Math`].
    pub finished: [Size; 3],
}

impl Sizes {
    /// Of what `made` makes with a pipeline.
    ///
    /// # Errors
    /// As of `made`.
    pub fn of(
        name: impl Into<String>,
        mut made: impl FnMut(&str) -> Result<Module, Vec<Diagnostic>>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let base = Size::of(&made(&BASE)?);
        let mut finished = [base; 3];
        for math in Math::ALL {
            finished[math as usize] = Size::of(&made(&simplify(math))?);
        }
        Ok(Self { name: name.into(), base, finished })
    }

    /// The size after what simplifies it.
    pub fn after(&self, math: Math) -> Size {
        self.finished[math as usize]
    }
}

/// The sizes of the adjoint of a program, and of its product with the matrix of second derivatives
/// if `second` is asked for.
///
/// # Errors
/// If the program is wrong, or something in it has no derivative.
pub fn sizes(program: &Program, second: bool) -> Result<Sizes, Vec<Diagnostic>> {
    let mut adjoint = Adjoint::new(program, PlanKind::Best, "")?;
    Sizes::of(program.name(), |pipeline| {
        adjoint.optimize(pipeline)?;
        if second { hessian_vector(&adjoint, pipeline) } else { Ok(adjoint.optimized.clone()) }
    })
}

/// The derivative of an adjoint in forward mode: a vector times the matrix of second derivatives.
fn hessian_vector(adjoint: &Adjoint, pipeline: &str) -> Result<Module, Vec<Diagnostic>> {
    let mut module = adjoint.optimized.clone();
    let parameters = adjoint.vjp().param_types().len();
    // Behind the arguments stand the shadows, and at the end a cotangent, which does not vary.
    let mut active = adjoint.active.clone();
    active.resize(parameters - 1, true);
    let name = forward(&mut module, adjoint.made.vjp, &active, &ForwardOptions::default())?;
    apply(&mut module, pipeline)?;
    keep_reached(&mut module, name);
    Ok(module)
}

/// The derivative of that order of a function of `x`: derivatives in reverse mode of each other, each of
/// which a pipeline goes over.
///
/// # Errors
/// If the text is wrong, or something in it has no derivative.
pub fn derivative(text: &str, order: usize, pipeline: &str) -> Result<Module, Vec<Diagnostic>> {
    let mut session = Session::new(&context());
    session.run("f.jl", &format!("f(x) = {text}"))?;
    let mut module = session.typed("f(1.0)")?;
    let mut name = module.functions().next().map(Function::name);
    apply(&mut module, if order == 0 { pipeline } else { &BASE })?;
    for _ in 0..order {
        if let Some(f) = name {
            name = Some(slope(&mut module, f)?);
            apply(&mut module, pipeline)?;
        }
    }
    if let Some(name) = name {
        keep_reached(&mut module, name);
    }
    Ok(module)
}

/// Adds the derivative of a function of one number.
fn slope(module: &mut Module, f: Symbol) -> Result<Symbol, Vec<Diagnostic>> {
    let made = reverse(module, f, &[true], &ReverseOptions::default())?;
    let ctx = module.ctx();
    let (of, vjp) = (ctx.str(f), ctx.str(made.vjp));
    let name = format!("{of}'");
    let text = format!(
        "{module}
func @\"{name}\"(%x: f64) -> f64 {{
^1:
  %pair: tuple<f64, tuple<f64>> = call @\"{vjp}\"(%x, 1.0)
  %parts: tuple<f64> = core.get %pair, 2
  %slope: f64 = core.get %parts, 1
  return %slope
}}"
    );
    let with_slope = parse_module(ctx, "derivative", &text)?;
    let name = ctx.symbol(&name);
    *module = with_slope;
    Ok(name)
}

/// The gradient of a function on numbers, with its value, over which a pipeline went.
///
/// # Errors
/// If something has no derivative.
pub fn gradient(mut module: Module, pipeline: &str) -> Result<Module, Vec<Diagnostic>> {
    let Some(f) = module.functions().next() else { return Ok(module) };
    let (name, active) = (f.name(), vec![true; f.param_types().len()]);
    let made = reverse(&mut module, name, &active, &ReverseOptions::default())?;
    apply(&mut module, pipeline)?;
    keep_reached(&mut module, made.vjp);
    Ok(module)
}

/// A gradient of a sum over a Kronecker product after `O2`: a file in
/// `tests/text/reduction-factor`.
///
/// # Errors
/// If it cannot be read.
pub fn kronecker_gradient(name: &str) -> Result<Module, Vec<Diagnostic>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/text/reduction-factor");
    let path = format!("{folder}/{name}.ir");
    let text = std::fs::read_to_string(&path)
        .map_err(|error| vec![Diagnostic::error(format!("{path}: {error}"))])?;
    parse_module(&context(), name, &text)
}

/// The instructions that the interpreter runs for a gradient of two square matrices.
///
/// # Panics
/// If it fails.
pub fn instructions(module: &Module, sizes: [usize; 2]) -> u64 {
    let args: Vec<Val> = sizes.into_iter().map(matrix).collect();
    let mut engine = Interpreter::new(module);
    engine.call("gradient", &args).unwrap_or_else(|error| panic!("{error}"));
    engine.instructions()
}

/// The greatest difference between two gradients, relative to the greatest number in each tangent.
pub fn difference(found: &[Val], expected: &[Val]) -> f64 {
    let of = |(x, y): (&Val, &Val)| {
        let (x, y) = (numbers(x), numbers(y));
        let greatest = y.iter().fold(0.0, |most: f64, y| most.max(y.abs()));
        let apart = x.iter().zip(&y).fold(0.0, |most: f64, (x, y)| most.max((x - y).abs()));
        if apart == 0.0 { 0.0 } else { apart / greatest }
    };
    found.iter().zip(expected).map(of).fold(0.0, f64::max)
}

/// All floats in a value.
fn numbers(value: &Val) -> Vec<f64> {
    let mut found = Vec::new();
    let mut pending = vec![value.clone()];
    while let Some(value) = pending.pop() {
        match &value {
            Val::F64(x) => found.push(*x),
            Val::Array(array) => pending.extend((0..array.len()).filter_map(|i| array.get(i))),
            other => pending.extend(other.as_fields().unwrap_or_default().iter().cloned()),
        }
    }
    found
}
