//! Running functions and their derivatives.

use regraft_ad::tangent::TangentTypes;
use regraft_exec::{Engine, Host, Interpreter, Val};
use regraft_ir::Module;

use super::{Adjoint, entry};

/// The result of a run of a derivative.
#[derive(Clone, Debug)]
pub struct Gradient {
    /// The value of the function.
    pub value: Val,
    /// For each argument, a tangent: what the cotangent of the result is times the derivative.
    pub tangents: Vec<Val>,
    /// The instructions that the interpreter ran.
    pub instructions: u64,
}

impl Adjoint {
    /// The instructions that the interpreter runs for the function itself.
    ///
    /// # Panics
    /// If the program fails.
    pub fn primal_instructions(&self) -> u64 {
        self.run_primal(self.copied_args()).1
    }

    /// Runs the function and its derivative. The cotangent of the result is 1 if that is a
    /// number, else one of random numbers that depend on the seed.
    ///
    /// # Panics
    /// If the program fails.
    pub fn gradient(&self, seed: u64) -> Gradient {
        let ctx = self.optimized.ctx();
        let (mut args, shadows) = self.with_shadows();
        args.push(self.seed(seed));
        let mut engine = self.interpreter(&self.optimized);
        let name = ctx.str(self.made.vjp);
        let result = engine.call(name, &args).unwrap_or_else(|error| panic!("{name}: {error}"));
        let Some([value, cotangents]) = result.as_fields() else { panic!("{result:?} is no pair") };
        let cotangents = cotangents.as_fields().expect("there is one for each argument");
        let host = Host::default();
        let tangents = host.tangents(ctx);
        let join = |(shadow, cotangent): (&Val, &Val)| {
            tangents.join(shadow, cotangent).expect("they are parts of one tangent")
        };
        Gradient {
            value: value.clone(),
            tangents: shadows.iter().zip(cotangents).map(join).collect(),
            instructions: engine.instructions(),
        }
    }

    /// Returns the instructions of the gradient for each of the function.
    ///
    /// # Panics
    /// If the program fails.
    pub fn ratio(&self) -> f64 {
        self.gradient(1).instructions as f64 / self.primal_instructions() as f64
    }

    /// The derivative along a random direction, twice: as the product of the gradient with the
    /// direction, and by central differences with Richardson extrapolation.
    ///
    /// # Panics
    /// If the program fails.
    pub fn along_a_direction(&self, seed: u64) -> (f64, f64) {
        let host = Host::default();
        let tangents = host.tangents(self.primal.ctx());
        let directions: Vec<Val> = (self.args.iter().zip(&self.active).zip(seed..))
            .map(|((arg, &active), seed)| {
                let direction =
                    if active { tangents.random(arg, seed) } else { tangents.zero(arg) };
                direction.expect("it is small")
            })
            .collect();
        let dot = |x: &Val, y: &Val| tangents.dot(x, y).expect("they are of one value");
        let gradient = self.gradient(seed);
        let product = gradient.tangents.iter().zip(&directions).map(|(x, y)| dot(x, y)).sum();
        let at = |step: f64| {
            let moved = self.args.iter().zip(&directions);
            let moved = moved.map(|(arg, direction)| tangents.perturbed(arg, step, direction));
            self.run_primal(moved.map(|arg| arg.expect("it is small")).collect()).0
        };
        let cotangent = self.seed(seed);
        let slope = |step: f64| {
            let difference = tangents.difference(&at(step), &at(-step)).expect("they are alike");
            dot(&cotangent, &difference) / (2.0 * step)
        };
        let (wide, narrow) = (slope(2e-4), slope(1e-4));
        (product, narrow + (narrow - wide) / 3.0)
    }

    /// Returns the tape: the values that the forward sweep keeps for the reverse sweep.
    ///
    /// # Panics
    /// If the program fails.
    pub fn tape(&self) -> Val {
        let mut engine = self.interpreter(&self.derived);
        let name = self.derived.ctx().str(self.made.forward);
        let result = engine.call(name, &self.with_shadows().0);
        let result = result.unwrap_or_else(|error| panic!("{name}: {error}"));
        result.as_fields().and_then(|parts| parts.last()).expect("the tape comes last").clone()
    }

    /// The arguments with shadows of those that are active and have one, and shadows of all.
    fn with_shadows(&self) -> (Vec<Val>, Vec<Val>) {
        let ctx = self.primal.ctx();
        let host = Host::default();
        let tangents = host.tangents(ctx);
        let mut args = self.copied_args();
        let shadow = |arg: &Val| {
            let zero = tangents.zero(arg).expect("it is small");
            tangents.shadow(&zero).expect("it is a tangent")
        };
        let shadows: Vec<Val> = args.iter().map(shadow).collect();
        let mut types = TangentTypes::new(ctx);
        for (i, &ty) in entry(&self.primal).param_types().iter().enumerate() {
            if self.active[i] && types.has_shadow(ty) {
                args.push(shadows[i].clone());
            }
        }
        (args, shadows)
    }

    /// A cotangent of the result.
    fn seed(&self, seed: u64) -> Val {
        let host = Host::default();
        match self.run_primal(self.copied_args()).0 {
            Val::F64(_) => Val::F64(1.0),
            other => {
                let tangents = host.tangents(self.primal.ctx());
                tangents.random(&other, seed).expect("it is small")
            }
        }
    }

    fn copied_args(&self) -> Vec<Val> {
        let host = Host::default();
        let tangents = host.tangents(self.primal.ctx());
        self.args.iter().map(|arg| tangents.copy(arg).expect("it is small")).collect()
    }

    /// Runs the function: the result, and the number of instructions.
    fn run_primal(&self, args: Vec<Val>) -> (Val, u64) {
        let mut engine = self.interpreter(&self.primal);
        let name = self.primal.ctx().str(self.function);
        let result = engine.call(name, &args).unwrap_or_else(|error| panic!("{name}: {error}"));
        (result, engine.instructions())
    }

    /// An interpreter that knows the global names.
    fn interpreter(&self, module: &Module) -> Interpreter {
        let mut engine = Interpreter::new(module);
        for (name, value) in &self.globals {
            engine.host_mut().set_global(*name, value.clone());
        }
        engine
    }
}
