//! Compares two functions: both are run on generated inputs.

use std::fmt;
use std::sync::Arc;

use regraft_dialects::attrs::first_undef_after_error;
use regraft_exec::value;
use regraft_exec::{Engine, EngineKind, ErrorKind, ExecError, Interpreter, Limits, Tiers, Val};
use regraft_ir::{Context, Function, Module, Type};
use regraft_passes::diff_functions;

use crate::choices::Choices;
use crate::inputs::arguments;
use crate::observe::{FloatMatch, Observation};
use crate::perturb::{of_real_numbers, perturb_values, perturbed};

/// The configuration of a comparison of functions.
#[derive(Clone, Debug)]
pub struct CompareConfig {
    /// On how many inputs to run them.
    pub inputs: u32,
    /// The seed of the inputs.
    pub seed: u64,
    /// The limits of each run. A run that exceeds a limit says nothing: see
    /// [`compare_functions`].
    pub limits: Limits,
    /// The condition under which floats count as equal.
    pub floats: FloatMatch,
    /// The engine of the second function. If that is native code, the places of errors count too.
    pub engine: EngineKind,
    /// The types of the arguments; `None` for those of the parameters. For parameters of type
    /// `any` it says what to pass. The modules need to share their context then.
    pub params: Option<Vec<Type>>,
}

impl CompareConfig {
    /// The floats that count as equal after a pass that [is fast](regraft_passes::PassStep::is_fast),
    /// unless that is said already.
    pub const FAST: FloatMatch = FloatMatch::Relative(1e-6);

    /// The same for a pipeline that is fast, or is not.
    #[must_use]
    pub fn fast(mut self, fast: bool) -> Self {
        if fast && self.floats == FloatMatch::Exact {
            self.floats = Self::FAST;
        }
        self
    }
}

impl Default for CompareConfig {
    /// Eight inputs, 50,000 instructions and 16 MiB each, floats bit for bit.
    fn default() -> Self {
        Self {
            inputs: 8,
            seed: 0,
            limits: Limits { fuel: Some(50_000), depth: 1_000, memory: 16 << 20 },
            floats: FloatMatch::Exact,
            engine: EngineKind::Interpreter,
            params: None,
        }
    }
}

/// The agreement of two functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Agreement {
    /// The inputs on which both returned.
    pub returned: u32,
    /// The inputs on which both stopped with the same error.
    pub trapped: u32,
    /// The inputs that say nothing, because one of them exceeded a limit.
    pub inconclusive: u32,
}

impl Agreement {
    /// The inputs on which both were run.
    pub fn inputs(&self) -> u32 {
        self.returned + self.trapped + self.inconclusive
    }

    /// The inputs on which both did the same.
    pub fn agreed(&self) -> u32 {
        self.returned + self.trapped
    }

    /// Returns whether nothing is known: there were inputs, and none of them was conclusive.
    pub fn says_nothing(&self) -> bool {
        self.inconclusive > 0 && self.agreed() == 0
    }

    /// Adds what was found on other inputs.
    pub fn add(&mut self, other: Self) {
        self.returned += other.returned;
        self.trapped += other.trapped;
        self.inconclusive += other.inconclusive;
    }
}

impl fmt::Display for Agreement {
    /// As `20 inputs: 3 agreed, 17 inconclusive`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inputs = self.inputs();
        let plural = if inputs == 1 { "" } else { "s" };
        write!(f, "{inputs} input{plural}: {} agreed", self.agreed())?;
        if self.inconclusive > 0 {
            write!(f, ", {} inconclusive", self.inconclusive)?;
        }
        Ok(())
    }
}

/// Two functions do not do the same.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The name of the function.
    pub function: String,
    /// The arguments on which they differ, as text; empty if their signatures differ.
    pub inputs: String,
    /// The observations of the first one.
    pub before: String,
    /// The observations of the second one.
    pub after: String,
    /// The difference of their texts.
    pub diff: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { function, inputs, before, after, diff } = self;
        writeln!(f, "@{function} changed its meaning")?;
        if !inputs.is_empty() {
            writeln!(f, "on      ({inputs})")?;
        }
        writeln!(f, "before: {}", before.replace('\n', "\n        "))?;
        writeln!(f, "after:  {}", after.replace('\n', "\n        "))?;
        if !diff.is_empty() {
            write!(f, "\n{diff}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Difference {}

/// Compares the functions of one name of two modules by running both on generated inputs.
///
/// They have to agree, for each input, on: the result; what became of the arguments; which of
/// the objects in all of these are the same; the output; and the error if there is one (its kind
/// and its message; the location does not count). What became of arguments that nobody reads after an error
/// (`undef_after_error=N` of the first one) does not count then. Floats are compared as `config` says.
///
/// A pass may change how many instructions run, how deep calls are nested and what memory is
/// used. So an input on which either side exceeds a limit, or asks for more memory than there can
/// be, counts as inconclusive, whatever the other side does; [`Agreement::inconclusive`] says how many there were. Where floats need not be
/// equal bit for bit, so does one on which the first function itself does something else as soon
/// as all floats are a little off, comes to a float that is infinite or NaN, or shows the sign of a zero.
///
/// # Errors
/// The first difference that is found, with both functions and their results. Also if a function
/// is missing, if the signatures differ, or if no argument of some type can be made.
pub fn compare_functions(
    before: &Module,
    after: &Module,
    name: &str,
    config: &CompareConfig,
) -> Result<Agreement, Box<Difference>> {
    let difference = |inputs: String, a: String, b: String| {
        let diff = match (before.function(name), after.function(name)) {
            (Some(a), Some(b)) => diff_functions(a, b),
            _ => String::new(),
        };
        let function = name.to_owned();
        Box::new(Difference { function, inputs, before: a, after: b, diff })
    };
    let (f, g) = match (before.function(name), after.function(name)) {
        (Some(f), Some(g)) => (f, g),
        (f, g) => {
            let text = |f: Option<_>| if f.is_some() { "it is there" } else { "it is missing" };
            return Err(difference(String::new(), text(f).to_owned(), text(g).to_owned()));
        }
    };
    let (a, b) = (signature(f), signature(g));
    if a != b {
        return Err(difference(String::new(), a, b));
    }
    let mut first = Side::new(before, f, config);
    let mut second = Side::new(after, g, config);
    second.left_by_error = first.left_by_error;
    second.engine.set_tiers(Tiers::AtOnce);
    if let Err(why) = second.engine.set_engine(config.engine) {
        return Err(difference(String::new(), String::new(), why));
    }
    let with_places = config.engine != EngineKind::Interpreter;
    let mut agreement = Agreement::default();
    for input in 0..config.inputs {
        // Each input has a seed of its own, so that one can be run without the others.
        let seed = config.seed.wrapping_mul(0x1_0000).wrapping_add(u64::from(input));
        let inputs = match (first.prepare(seed), second.prepare(seed)) {
            (Ok(inputs), Ok(_)) => inputs,
            (a, b) => {
                let text = |r: Result<Observation, String>| r.err().unwrap_or_default();
                return Err(difference(String::new(), text(a), text(b)));
            }
        };
        let (x, y) = (first.run(name), second.run(name));
        if x.is_inconclusive() || y.is_inconclusive() {
            agreement.inconclusive += 1;
        } else if !x.matches(&y, config.floats) || with_places && !x.same_place(&y) {
            if !config.floats.is_exact() && unstable(before, name, config, seed, &x) {
                agreement.inconclusive += 1;
                continue;
            }
            let text = |outcome: &Outcome| match with_places {
                true => format!("{outcome}{}", outcome.place()),
                false => outcome.to_string(),
            };
            return Err(difference(inputs.to_string(), text(&x), text(&y)));
        } else if x.error.is_some() {
            agreement.trapped += 1;
        } else {
            agreement.returned += 1;
        }
        if first.types.is_empty() {
            // Without arguments, every run is the same.
            break;
        }
    }
    Ok(agreement)
}

/// Returns whether a function does something else than `seen` if all floats are a little off, or is not
/// one of real numbers.
fn unstable(
    module: &Module,
    name: &str,
    config: &CompareConfig,
    seed: u64,
    seen: &Outcome,
) -> bool {
    let nearby = perturbed(module);
    let Some(f) = nearby.function(name) else { return false };
    let mut side = Side::new(&nearby, f, config);
    if side.prepare(seed).is_err() {
        return false;
    }
    perturb_values(&mut side.args);
    // Overflow is beyond what such a pass promises anything about.
    !seen.values.is_finite()
        || !seen.matches(&side.run(name), config.floats)
        || is_unreal(module, name, config, seed)
}

/// Returns whether a function comes to a float that is infinite or NaN, or shows the sign of a zero.
fn is_unreal(module: &Module, name: &str, config: &CompareConfig, seed: u64) -> bool {
    let Ok(real) = of_real_numbers(module) else { return false };
    let Some(f) = real.function(name) else { return false };
    let mut config = config.clone();
    // An instruction has a few operands, and what is inserted for each is a few instructions more.
    config.limits.fuel = config.limits.fuel.map(|fuel| fuel.saturating_mul(16));
    let mut plain = Side::new(module, f, &config);
    let mut real = Side::new(&real, f, &config);
    plain.prepare(seed).is_ok()
        && real.prepare(seed).is_ok()
        && !real.run(name).matches(&plain.run(name), config.floats)
}

/// The beginning of a message on a difference of signatures.
pub(crate) const SIGNATURE: &str = "its signature is ";

fn signature(f: &Function) -> String {
    let types = value::signature(f.ctx(), f.name_str(), &f.param_types());
    format!("{SIGNATURE}{types}, of type {}", value::type_name(f.ctx(), f.ret_type()))
}

/// One of the two functions.
struct Side {
    engine: Interpreter,
    ctx: Arc<Context>,
    types: Vec<Type>,
    args: Vec<Val>,
    /// The number of arguments that are looked at after an error.
    left_by_error: usize,
}

impl Side {
    fn new(module: &Module, f: &Function, config: &CompareConfig) -> Self {
        let mut engine = Interpreter::new(module);
        engine.set_limits(config.limits);
        // What a program prints of the time must not differ from run to run.
        engine.host_mut().set_clock(|| 0);
        Self {
            engine,
            ctx: Arc::clone(module.ctx()),
            types: config.params.clone().unwrap_or_else(|| f.param_types()),
            args: Vec::new(),
            left_by_error: first_undef_after_error(f).unwrap_or(usize::MAX),
        }
    }

    /// Makes the arguments of the next run.
    fn prepare(&mut self, seed: u64) -> Result<Observation, String> {
        let mut choices = Choices::from_seed(seed);
        self.args = arguments(&self.ctx, &self.types, &mut choices)?;
        Ok(Observation::of(&self.ctx, &self.args))
    }

    fn run(&mut self, name: &str) -> Outcome {
        let result = self.engine.call(name, &self.args);
        let output = self.engine.take_output();
        let (error, result) = match result {
            Ok(value) => (None, Some(value)),
            Err(error) => (Some(error), None),
        };
        let left = if error.is_some() { self.left_by_error } else { usize::MAX };
        let args = &self.args[..left.min(self.args.len())];
        let values = Observation::of(&self.ctx, result.iter().chain(args));
        Outcome { error, values, output, args: args.len() }
    }
}

/// The outcome of a run, as far as it can be observed.
struct Outcome {
    error: Option<ExecError>,
    /// The result, if there is one, and the arguments.
    values: Observation,
    output: String,
    args: usize,
}

impl Outcome {
    fn is_inconclusive(&self) -> bool {
        self.error.as_ref().is_some_and(|error| {
            matches!(
                error.kind(),
                ErrorKind::Fuel
                    | ErrorKind::Depth
                    | ErrorKind::Memory
                    | ErrorKind::Interrupted
                    | ErrorKind::Trap("OutOfMemoryError")
            )
        })
    }

    /// Returns whether two errors happened at the same place, through the same calls.
    fn same_place(&self, other: &Self) -> bool {
        self.place() == other.place()
    }

    /// The place of an error, and the calls that led there, as text.
    fn place(&self) -> String {
        let spots = self.error.iter().flat_map(|error| error.chain().spots());
        spots.map(|spot| format!("\nat {:?} of {:?}", spot.value, spot.function)).collect()
    }

    fn matches(&self, other: &Self, floats: FloatMatch) -> bool {
        let errors = match (&self.error, &other.error) {
            (None, None) => true,
            (Some(a), Some(b)) => a.kind() == b.kind() && a.message() == b.message(),
            _ => false,
        };
        errors
            && same_text(&self.output, &other.output, floats)
            && self.values.matches(&other.values, floats)
    }
}

/// Returns whether two outputs are the same but for numbers that match.
fn same_text(a: &str, b: &str, floats: FloatMatch) -> bool {
    if a == b || floats.is_exact() {
        return a == b;
    }
    let is_in_number = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
    let words = |text: &str| -> Vec<String> {
        text.split(|c| !is_in_number(c)).map(str::to_owned).collect()
    };
    let gaps = |text: &str| text.chars().filter(|&c| !is_in_number(c)).collect::<String>();
    let same = |x: &str, y: &str| match (x.parse::<f64>(), y.parse::<f64>()) {
        (Ok(x), Ok(y)) => floats.equal(x, y),
        _ => x == y,
    };
    let same_numbers = |(x, y): (&String, &String)| {
        let (xs, ys) = (numbers(x), numbers(y));
        xs.len() == ys.len() && xs.iter().zip(ys).all(|(x, y)| same(x, y))
    };
    // As many gaps are between as many words.
    gaps(a) == gaps(b) && words(a).iter().zip(&words(b)).all(same_numbers)
}

/// The numbers in a word, which may stand side by side: each begins with its sign, or at the second point.
fn numbers(word: &str) -> Vec<&str> {
    let (mut found, mut start, mut has_point, mut last) = (Vec::new(), 0, false, ' ');
    for (at, c) in word.char_indices() {
        let is_sign = matches!(c, '-' | '+') && !matches!(last, 'e' | 'E');
        if at > start && (is_sign || c == '.' && has_point) {
            found.push(&word[start..at]);
            (start, has_point) = (at, false);
        }
        has_point |= c == '.';
        last = c;
    }
    found.push(&word[start..]);
    found
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.error {
            None if self.args == 0 => write!(f, "{}", self.values)?,
            None => write!(f, "result, then arguments: {}", self.values)?,
            Some(error) if self.args == 0 => write!(f, "error: {error}")?,
            Some(error) => write!(f, "error: {error}\narguments: {}", self.values)?,
        }
        if !self.output.is_empty() {
            write!(f, "\noutput: {:?}", self.output)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_outputs_match_one_by_one() {
        let near = FloatMatch::Relative(1e-9);
        let same = [
            ("-0.00.0", "0.00.0"),
            ("x = 1.5, 1.0e-5", "x = 1.5000000001, 1.0e-5"),
            ("1.0-2.0", "1.0-2.0000000001"),
        ];
        for (a, b) in same {
            assert!(same_text(a, b, near), "{a} {b}");
            assert!(!same_text(a, b, FloatMatch::Exact), "{a} {b}");
        }
        let others =
            [("1.02.0", "1.03.0"), ("1.0", "1.0-0.0"), ("1.5, 2.5", "1.5 2.5"), ("NaN", "1.0")];
        for (a, b) in others {
            assert!(!same_text(a, b, near), "{a} {b}");
        }
    }
}
