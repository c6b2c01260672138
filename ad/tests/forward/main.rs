//! Forward mode: the code that it makes, and what that computes.

use std::sync::Arc;

use regraft_ad::{ForwardOptions, forward};
use regraft_exec::value::Array;
use regraft_exec::{Engine, Interpreter, Tangents, Val, show_string};
use regraft_ir::{Context, Diagnostic, Function, Module, PrintOptions, render_all, verify_module};

mod calls;
mod errors;
mod goldens;
mod nested;
mod objects;
mod pass;
mod programs;

/// The module that `text` is, which has to be valid.
fn parse(text: &str) -> Module {
    let ctx = regraft_dialects::context();
    match regraft_syntax::parse_and_verify(&ctx, "test.ir", text) {
        Ok(module) => module,
        Err(errors) => panic!("{}", render_all(&errors, false)),
    }
}

fn printed(f: &Function) -> String {
    regraft_ir::print_function(f, &PrintOptions::default())
}

/// Adds the derivative of `@f` and returns its name. What is made has to be valid, and what was
/// there has to be as it was.
fn differentiate(module: &mut Module, active: &[bool], options: &ForwardOptions) -> String {
    let before: Vec<String> = module.functions().map(printed).collect();
    let f = module.ctx().symbol("f");
    let name = match forward(module, f, active, options) {
        Ok(name) => name,
        Err(errors) => panic!("{}", render_all(&errors, false)),
    };
    if let Err(errors) = verify_module(module) {
        panic!(
            "{}\n{}",
            render_all(&errors, false),
            regraft_ir::print_module(module, &PrintOptions::default())
        );
    }
    let after: Vec<String> = module.functions().map(printed).collect();
    assert_eq!(before, after[..before.len()]);
    for function in module.functions() {
        function.check_invariants().unwrap();
    }
    module.ctx().str(name).to_owned()
}

/// The functions that are made for `@f` with these parameters active.
fn made(text: &str, active: &[bool], width: usize) -> String {
    let mut module = parse(text);
    let count = module.functions().len();
    let options = ForwardOptions { width, ..ForwardOptions::default() };
    differentiate(&mut module, active, &options);
    module.functions().skip(count).map(printed).collect()
}

/// The errors of the derivative of `@f`.
fn errors(text: &str, active: &[bool]) -> String {
    let mut module = parse(text);
    let count = module.functions().len();
    let f = module.ctx().symbol("f");
    let errors = forward(&mut module, f, active, &ForwardOptions::default()).unwrap_err();
    assert_eq!(module.functions().len(), count);
    render_all(&errors, false)
}

fn vector(xs: &[f64]) -> Val {
    Array::vector(xs).into()
}

/// An engine in which `@f` and its derivative run.
struct Run {
    engine: Interpreter,
    ctx: Arc<Context>,
    name: String,
    active: Vec<bool>,
    width: usize,
}

impl Run {
    fn new(text: &str, active: &[bool], width: usize) -> Self {
        let mut module = parse(text);
        let options = ForwardOptions { width, ..ForwardOptions::default() };
        Self::with(&mut module, active, &options)
    }

    fn with(module: &mut Module, active: &[bool], options: &ForwardOptions) -> Self {
        let name = differentiate(module, active, options);
        let engine = Interpreter::new(module);
        let ctx = Arc::clone(module.ctx());
        Self { engine, ctx, name, active: active.to_vec(), width: options.width }
    }

    fn on(&self) -> Tangents<'_> {
        self.engine.host().tangents(&self.ctx)
    }

    fn call(&mut self, name: &str, args: &[Val]) -> Val {
        match self.engine.call(name, args) {
            Ok(value) => value,
            Err(error) => panic!("@{name}: {}", error.message()),
        }
    }

    /// The active arguments as they are after a call, and its result.
    fn outcome(&self, args: &[Val], result: Val) -> Val {
        let active = args.iter().zip(&self.active).filter(|&(_, &active)| active);
        Val::tuple(active.map(|(arg, _)| arg.clone()).chain([result]))
    }

    /// The result of `@f` for `args + step * tangents`.
    fn moved(&mut self, args: &Val, tangents: &Val, step: f64) -> Val {
        let args = self.on().perturbed(args, step, tangents).unwrap();
        let args = args.as_fields().unwrap().to_vec();
        let result = self.call("f", &args);
        self.outcome(&args, result)
    }

    /// Compares the derivative at `args` with differences, in as many random directions as the
    /// width; the values with those of a plain run.
    fn check(&mut self, args: &[Val]) {
        let args = Val::tuple(args.iter().cloned());
        let directions: Vec<Val> =
            (0..self.width).map(|k| self.direction(&args, k as u64)).collect();
        let plain = self.moved(&args, &directions[0], 0.0);
        let (primal, duals) = self.derivative(&args, &directions);
        assert_eq!(show_string(&self.ctx, &primal), show_string(&self.ctx, &plain));
        for (direction, dual) in directions.iter().zip(&duals) {
            for seed in 10..13 {
                let weights = self.on().random(&plain, seed).unwrap();
                let found = self.on().dot(dual, &weights).unwrap();
                let (expected, error) = self.difference(&args, direction, &weights);
                let far = (found - expected).abs();
                assert!(
                    far <= 10.0 * error + 1e-9 * expected.abs().max(1.0),
                    "derivative {found}, differences {expected} +- {error:e}\n{}",
                    show_string(&self.ctx, dual)
                );
            }
        }
    }

    /// A tangent of the arguments; zero for those that are not active.
    fn direction(&self, args: &Val, seed: u64) -> Val {
        let random = self.on().random(args, 100 + seed).unwrap();
        let zero = self.on().zero(args).unwrap();
        let (random, zero) = (random.as_fields().unwrap(), zero.as_fields().unwrap());
        let choice = random.iter().zip(zero).zip(&self.active);
        Val::tuple(choice.map(
            |((random, zero), &active)| {
                if active { random.clone() } else { zero.clone() }
            },
        ))
    }

    /// Runs the derivative: what `outcome` is, and its tangents.
    fn derivative(&mut self, args: &Val, directions: &[Val]) -> (Val, Vec<Val>) {
        let args = self.on().copy(args).unwrap().as_fields().unwrap().to_vec();
        let directions: Vec<Vec<Val>> = directions
            .iter()
            .map(|direction| self.on().copy(direction).unwrap().as_fields().unwrap().to_vec())
            .collect();
        let mut given = args.clone();
        let ty = |val: &Val| matches!(val, Val::Unit);
        for i in (0..args.len()).filter(|&i| self.active[i]) {
            if ty(&directions[0][i]) {
                continue;
            }
            let parts = directions.iter().map(|direction| direction[i].clone());
            given.push(match self.width {
                1 => directions[0][i].clone(),
                _ => Val::tuple(parts),
            });
        }
        let name = self.name.clone();
        let pair = self.call(&name, &given);
        let pair = pair.as_fields().unwrap();
        let duals = directions
            .iter()
            .enumerate()
            .map(|(k, direction)| {
                let result = match self.width {
                    1 => pair[1].clone(),
                    _ => pair[1].as_fields().unwrap()[k].clone(),
                };
                self.outcome(direction, result)
            })
            .collect();
        (self.outcome(&args, pair[0].clone()), duals)
    }

    /// The derivative of `weights * outcome` by central differences with Richardson extrapolation,
    /// and an estimate of its error.
    fn difference(&mut self, args: &Val, direction: &Val, weights: &Val) -> (f64, f64) {
        let mut h = 0.02;
        let mut row: Vec<f64> = Vec::new();
        let (mut best, mut error) = (f64::NAN, f64::INFINITY);
        for i in 0..7 {
            let above = self.moved(args, direction, h);
            let below = self.moved(args, direction, -h);
            let difference = self.on().difference(&above, &below).unwrap();
            let mut next = vec![self.on().dot(&difference, weights).unwrap() / (2.0 * h)];
            let mut factor = 1.0;
            for j in 0..i {
                factor *= 4.0;
                next.push((next[j] * factor - row[j]) / (factor - 1.0));
                let estimate = (next[j + 1] - next[j]).abs().max((next[j + 1] - row[j]).abs());
                if estimate <= error {
                    (best, error) = (next[j + 1], estimate);
                }
            }
            row = next;
            h /= 2.0;
        }
        (best, error)
    }
}

/// Compares the derivative of `@f` with differences: by all arguments and by each that has a
/// tangent alone, in one direction and in two.
fn check(text: &str, args: &[Val]) {
    let module = parse(text);
    let f = module.function("f").unwrap();
    let mut types = regraft_dialects::tangent::TangentTypes::new(module.ctx());
    let all: Vec<bool> = f.param_types().iter().map(|&ty| types.has_tangent(ty)).collect();
    for width in [1, 2] {
        Run::new(text, &all, width).check(args);
    }
    for i in (0..all.len()).filter(|&i| all[i]) {
        let one: Vec<bool> = (0..all.len()).map(|j| i == j).collect();
        if one != all {
            Run::new(text, &one, 1).check(args);
        }
    }
}

fn names(module: &Module) -> Vec<&str> {
    module.functions().map(Function::name_str).collect()
}
