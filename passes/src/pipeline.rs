//! Checked pipelines: every pass is known, every option has a value.
//!
//! ```text
//! sequence: step, step, ..
//! step:     name{options} | fix{max=N}(sequence) | loop(sequence) | (sequence) | Name{math=..}
//! ```
//!
//! `fix` repeats its sequence until the epochs say that nothing changed any more, at most `max`
//! times. `loop` runs a sequence of loop passes on the innermost loops of a function, then on
//! those around them, and so on. Parentheses alone group. A name with a capital letter stands for a
//! pipeline that the registry knows.

use std::fmt;

use regraft_ir::Diagnostic;

use crate::options::{OptionDef, OptionKind, Options, Setting};
use crate::pass_info::{PassInfo, PassKind};
use crate::rewrite::Math;

/// The options of `fix`.
pub(crate) const FIX_OPTIONS: &[OptionDef] =
    &[OptionDef::int("max", 16, "repeat at most so many times").between(1, 1_000_000)];

/// The option of passes that simplify floats, and of the named pipelines that they are in.
pub(crate) const MATH: OptionDef =
    OptionDef::choice("math", Math::NAMES, Math::NAMES[0], "the algebra that floats follow");

/// A pipeline that can be run. It prints as the text that it can be read from.
#[derive(Clone, Debug, Default)]
pub struct Pipeline {
    pub(crate) steps: Vec<Step>,
    /// The number of passes in it.
    pub(crate) passes: usize,
}

/// A step of a pipeline.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// A pass.
    Pass(PassStep),
    /// Steps that are repeated until nothing changes.
    Fix {
        /// The options, to print them.
        options: Options,
        body: Vec<Step>,
        functions_only: bool,
        /// True if it is part of a named pipeline, which says itself how much is enough.
        is_named: bool,
    },
    /// Passes over loops, for the loops of one nesting depth after the other.
    Loop { body: Vec<Step> },
    /// Steps that belong together.
    Group {
        /// The name that the pipeline has them under.
        name: Option<&'static str>,
        /// The options of the named pipeline.
        options: Options,
        body: Vec<Step>,
        functions_only: bool,
    },
}

/// A pass at a place of a pipeline.
#[derive(Clone, Debug)]
pub struct PassStep {
    pub(crate) info: PassInfo,
    pub(crate) options: Options,
    /// Its place among the passes of the pipeline, in the order of the text.
    pub(crate) position: usize,
}

impl PassStep {
    /// The name of the pass.
    pub fn name(&self) -> &'static str {
        self.info.name
    }

    /// Its options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Its place among the passes of the pipeline, from 0, in the order of the text.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Returns whether its option `math` lets it take floats for numbers that are never infinite, NaN
    /// or -0.0, so that results are the same only about.
    pub fn is_fast(&self) -> bool {
        let math = self.math_option().and_then(|def| Math::find(self.options.text(def.name)));
        math.is_some_and(|math| math != Math::Exact)
    }

    /// The declaration of its option `math`, if it has one.
    fn math_option(&self) -> Option<&OptionDef> {
        let is_math = |option: &&OptionDef| {
            option.name == MATH.name && matches!(option.kind, OptionKind::Choice(_))
        };
        self.info.options.iter().find(is_math)
    }
}

impl fmt::Display for PassStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.info.name, self.options)
    }
}

impl From<PassInfo> for Pipeline {
    /// The pipeline of a pass with default options.
    fn from(info: PassInfo) -> Self {
        let options = Options::defaults(&info.options);
        Self { steps: vec![Step::Pass(PassStep { info, options, position: 0 })], passes: 1 }
    }
}

impl Step {
    pub(crate) fn group(body: Vec<Self>) -> Self {
        let functions_only = body.iter().all(Self::is_functions_only);
        Self::Group { name: None, options: Options::default(), body, functions_only }
    }

    /// A named pipeline. Its option `math` is the default of those of its passes.
    pub(crate) fn named(name: &'static str, options: Options, mut body: Vec<Self>) -> Self {
        body.iter_mut().for_each(Self::set_named);
        for (_, math) in options.given() {
            body.iter_mut().for_each(|step| step.set_math(math));
        }
        let functions_only = body.iter().all(Self::is_functions_only);
        Self::Group { name: Some(name), options, body, functions_only }
    }

    /// Gives the option `math` to each pass and named pipeline that has it and was given none.
    fn set_math(&mut self, math: &Setting) {
        let set = |options: &mut Options, def: &OptionDef| {
            if options.given().all(|(name, _)| name != MATH.name) {
                // A pass of a user may not know this algebra: it stays at its default.
                let _ = options.set(def, math.clone());
            }
        };
        let has_open = match self {
            Self::Group { body, .. } => has_math(body),
            _ => false,
        };
        match self {
            Self::Pass(pass) => {
                if let Some(def) = pass.math_option().copied() {
                    set(&mut pass.options, &def);
                }
            }
            Self::Fix { body, .. } | Self::Loop { body } | Self::Group { body, .. } => {
                body.iter_mut().for_each(|step| step.set_math(math));
            }
        }
        if let Self::Group { name: Some(_), options, .. } = self
            && has_open
        {
            set(options, &MATH);
        }
    }

    pub(crate) fn fix(options: Options, body: Vec<Self>) -> Self {
        let functions_only = body.iter().all(Self::is_functions_only);
        Self::Fix { options, body, functions_only, is_named: false }
    }

    /// Says that it is part of a named pipeline.
    fn set_named(&mut self) {
        if let Self::Fix { is_named, .. } = self {
            *is_named = true;
        }
        if let Self::Fix { body, .. } | Self::Loop { body } | Self::Group { body, .. } = self {
            body.iter_mut().for_each(Self::set_named);
        }
    }

    /// Returns whether it can be run on each function by itself. O(1).
    pub(crate) fn is_functions_only(&self) -> bool {
        match self {
            Self::Pass(pass) => pass.info.kind != PassKind::Module,
            Self::Loop { .. } => true,
            Self::Fix { functions_only, .. } | Self::Group { functions_only, .. } => {
                *functions_only
            }
        }
    }
}

/// Returns what to tell of a `fix` that stopped at its limit: where, and by which passes it was
/// still changing things.
pub(crate) fn unsettled_warning(step: &Step, unit: &str, changing: &[String]) -> Diagnostic {
    let limit = if let Step::Fix { options, .. } = step { fix_limit(options) } else { 0 };
    let rounds = if limit == 1 { "round" } else { "rounds" };
    let message = format!("`fix` stopped at its limit of {limit} {rounds} on {unit}");
    Diagnostic::warning(message)
        .note(format!("the last round was still changed by {}", changing.join(", ")))
        .help(format!(
            "with `fix{{max=N}}` it goes on for N rounds; passes that undo what others do, or that \
             change something each time, never settle: {step}"
        ))
}

/// Returns how often a `fix` repeats at most.
pub(crate) fn fix_limit(options: &Options) -> u32 {
    u32::try_from(options.int("max")).unwrap_or(u32::MAX)
}

impl Pipeline {
    /// The passes in the order of the text; those that are repeated occur once.
    pub fn passes(&self) -> Vec<&PassStep> {
        let mut found = Vec::with_capacity(self.passes);
        collect(&self.steps, &mut found);
        found
    }

    /// For each pass, the place of the first one that is the same, options included. O(passes²).
    pub(crate) fn same_pass(&self) -> Vec<usize> {
        let passes = self.passes();
        let is_same = |a: &PassStep, b: &PassStep| a.name() == b.name() && a.options == b.options;
        let first = |i: usize| passes.iter().position(|other| is_same(other, passes[i]));
        (0..passes.len()).map(|i| first(i).unwrap_or(i)).collect()
    }

    /// Gives the option `math` to each pass and named pipeline that has it and was given none.
    ///
    /// ```
    /// use regraft_passes::rewrite::Math;
    /// use regraft_passes::{PassRegistry, Pipeline};
    ///
    /// let registry = PassRegistry::standard();
    /// let pipeline = Pipeline::parse(&registry, "O2, e-graph, e-graph{math=finite}, O3").unwrap();
    /// let fast = pipeline.with_math(Math::Fast).to_string();
    /// assert_eq!(fast, "O2, e-graph{math=fast}, e-graph{math=finite}, O3{math=fast}");
    /// ```
    #[must_use]
    pub fn with_math(mut self, math: Math) -> Self {
        if math != Math::default() {
            let setting = Setting::Text(math.name().to_owned());
            self.steps.iter_mut().for_each(|step| step.set_math(&setting));
        }
        self
    }

    /// Returns whether one of its passes is [fast](PassStep::is_fast).
    pub fn is_fast(&self) -> bool {
        self.passes().iter().any(|pass| pass.is_fast())
    }

    /// Returns whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.passes == 0
    }
}

/// Returns whether a pass in these steps has the option `math` and was given none.
pub(crate) fn has_math(steps: &[Step]) -> bool {
    let mut passes = Vec::new();
    collect(steps, &mut passes);
    let is_open = |pass: &&PassStep| pass.options.given().all(|(name, _)| name != MATH.name);
    passes.into_iter().filter(is_open).any(|pass| pass.math_option().is_some())
}

/// The parser limits the depth of the recursion.
fn collect<'a>(steps: &'a [Step], found: &mut Vec<&'a PassStep>) {
    for step in steps {
        match step {
            Step::Pass(pass) => found.push(pass),
            Step::Fix { body, .. } | Step::Loop { body } | Step::Group { body, .. } => {
                collect(body, found);
            }
        }
    }
}

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_steps(f, &self.steps)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass(pass) => write!(f, "{pass}"),
            Self::Fix { options, body, .. } => {
                write!(f, "fix{options}(")?;
                write_steps(f, body)?;
                f.write_str(")")
            }
            Self::Loop { body } => {
                f.write_str("loop(")?;
                write_steps(f, body)?;
                f.write_str(")")
            }
            Self::Group { name: Some(name), options, .. } => write!(f, "{name}{options}"),
            Self::Group { body, .. } => {
                f.write_str("(")?;
                write_steps(f, body)?;
                f.write_str(")")
            }
        }
    }
}

fn write_steps(f: &mut fmt::Formatter<'_>, steps: &[Step]) -> fmt::Result {
    for (i, step) in steps.iter().enumerate() {
        f.write_str(if i == 0 { "" } else { ", " })?;
        write!(f, "{step}")?;
    }
    Ok(())
}
