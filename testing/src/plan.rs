//! Random pipelines, and smaller ones.

use std::fmt;

use regraft_passes::overdub::OverdubPass;
use regraft_passes::transforms::strip_math::StripMath;
use regraft_passes::{
    FunctionPass, OptionDef, OptionKind, PassInfo, PassKind, PassRegistry, Pipeline, Setting,
};

use crate::choices::Choices;
use crate::test_rule::DERIVATIVE_PASSES;

/// A pipeline that can be taken apart.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Plan {
    steps: Vec<Step>,
}

#[derive(Clone, PartialEq, Debug)]
enum Step {
    /// A pass and its options, or a pipeline that has a name.
    Pass(String, String),
    /// `fix{max=..}(..)`.
    Fix(usize, Vec<Step>),
    /// `loop(..)`.
    Loop(Vec<Step>),
}

impl Plan {
    /// A pipeline of a few of all passes that there are, with random options, some repeated, some
    /// applied to the loops of one height after the other.
    ///
    /// # Panics
    /// If there is no pass.
    pub fn random(passes: &PassRegistry, c: &mut Choices) -> Self {
        let count = 1 + c.below(6);
        let mut steps = Vec::new();
        for _ in 0..count {
            steps.push(match c.below(10) {
                0 | 1 => {
                    let inner = 1 + c.below(3);
                    let body = (0..inner).map(|_| random_pass(passes, c, |_| true)).collect();
                    Step::Fix(2 + c.below(3), body)
                }
                2 | 3 if passes.iter().any(is_loop_pass) => {
                    let inner = 1 + c.below(3);
                    Step::Loop((0..inner).map(|_| random_pass(passes, c, is_loop_pass)).collect())
                }
                4 if passes.pipeline("O2").is_some() => {
                    let name = if c.chance(60) { "O2" } else { "O1" };
                    Step::Pass(name.to_owned(), String::new())
                }
                _ => random_pass(passes, c, |_| true),
            });
        }
        let plan = Self { steps };
        match Pipeline::parse(passes, &plan.to_string()) {
            Ok(_) => plan,
            // Some options do not go together.
            Err(_) => plan.without_options(),
        }
    }

    /// A pipeline that changes_meaning: mostly that alone, else something before or after it.
    pub fn differentiating(passes: &PassRegistry, c: &mut Choices) -> Self {
        let around = |c: &mut Choices, percent: u32| {
            let named = |name: &str| vec![Step::Pass(name.to_owned(), String::new())];
            match c.below(3) {
                _ if !c.chance(percent) => Vec::new(),
                0 => named("O1"),
                1 => named("O2"),
                _ => Self::random(passes, c).without_options().steps,
            }
        };
        // Derivatives do not know `core.try`, nor functions of strips.
        let mut steps = vec![Step::Pass("lower-try".to_owned(), String::new())];
        steps.extend(without(around(c, 40), StripMath::NAME));
        let mut last = DERIVATIVE_PASSES[1];
        if c.chance(20) {
            // A derivative of a derivative: either mode over either.
            let inner = c.pick(&DERIVATIVE_PASSES);
            steps.push(Step::Pass(inner.to_owned(), String::new()));
            last = c.pick(&DERIVATIVE_PASSES);
        }
        let wrt = match c.below(20) {
            17 => "{wrt=\"1\"}",
            18 => "{wrt=\"2\"}",
            19 => "{wrt=\"1,3\"}",
            _ => "",
        };
        steps.push(Step::Pass(last.to_owned(), wrt.to_owned()));
        steps.extend(around(c, 30));
        Self { steps }
    }

    /// Returns whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    fn without_options(&self) -> Self {
        fn bare(steps: &[Step]) -> Vec<Step> {
            let one = |step: &Step| match step {
                Step::Pass(name, _) => Step::Pass(name.clone(), String::new()),
                Step::Fix(max, body) => Step::Fix(*max, bare(body)),
                Step::Loop(body) => Step::Loop(bare(body)),
            };
            steps.iter().map(one).collect()
        }
        Self { steps: bare(&self.steps) }
    }

    /// Pipelines that are a little simpler: without one step, with what a step repeats in its
    /// place, without options.
    pub fn smaller(&self) -> Vec<Self> {
        smaller(&self.steps).into_iter().map(|steps| Self { steps }).collect()
    }

    /// The simplest pipeline that `fails` accepts, as far as single steps lead there.
    pub fn shrink(self, mut fails: impl FnMut(&Self) -> bool) -> Self {
        let mut best = self;
        loop {
            let smaller = best.smaller().into_iter().filter(|plan| !plan.is_empty());
            match smaller.into_iter().find(&mut fails) {
                Some(plan) => best = plan,
                None => return best,
            }
        }
    }
}

/// The depth of the recursion is that of random pipelines: two.
fn smaller(steps: &[Step]) -> Vec<Vec<Step>> {
    let mut found = Vec::new();
    for (i, step) in steps.iter().enumerate() {
        let with = |new: &[Step]| [&steps[..i], new, &steps[i + 1..]].concat();
        found.push(with(&[]));
        match step {
            Step::Pass(_, options) if options.is_empty() => {}
            Step::Pass(name, _) => found.push(with(&[Step::Pass(name.clone(), String::new())])),
            Step::Fix(max, body) => {
                found.push(with(body));
                found.extend(smaller(body).into_iter().map(|body| with(&[Step::Fix(*max, body)])));
            }
            Step::Loop(body) => {
                found.push(with(body));
                found.extend(smaller(body).into_iter().map(|body| with(&[Step::Loop(body)])));
            }
        }
    }
    found.retain(|steps| !has_empty(steps));
    found
}

fn has_empty(steps: &[Step]) -> bool {
    steps.iter().any(|step| match step {
        Step::Pass(..) => false,
        Step::Fix(_, body) | Step::Loop(body) => body.is_empty() || has_empty(body),
    })
}

/// Steps without a pass.
fn without(steps: Vec<Step>, pass: &str) -> Vec<Step> {
    let others = steps.into_iter().filter_map(|step| match step {
        Step::Pass(name, _) if name == pass => None,
        Step::Fix(max, body) => Some(Step::Fix(max, without(body, pass))),
        Step::Loop(body) => Some(Step::Loop(without(body, pass))),
        Step::Pass(..) => Some(step),
    });
    others.filter(|step| !matches!(step, Step::Fix(_, body) if body.is_empty())).collect()
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_steps(f, &self.steps)
    }
}

fn write_steps(f: &mut fmt::Formatter<'_>, steps: &[Step]) -> fmt::Result {
    for (i, step) in steps.iter().enumerate() {
        f.write_str(if i == 0 { "" } else { ", " })?;
        match step {
            Step::Pass(name, options) => write!(f, "{name}{options}")?,
            Step::Fix(max, body) => {
                write!(f, "fix{{max={max}}}(")?;
                write_steps(f, body)?;
                f.write_str(")")?;
            }
            Step::Loop(body) => {
                f.write_str("loop(")?;
                write_steps(f, body)?;
                f.write_str(")")?;
            }
        }
    }
    Ok(())
}

fn is_loop_pass(info: &PassInfo) -> bool {
    info.kind == PassKind::Loop
}

fn random_pass(passes: &PassRegistry, c: &mut Choices, which: impl Fn(&PassInfo) -> bool) -> Step {
    // Derivatives of what has none are errors, and so are those of what they are tested with. What calls go through
    // is another program.
    let changes_meaning =
        |info: &PassInfo| DERIVATIVE_PASSES.contains(&info.name) || info.name == OverdubPass::NAME;
    let fitting: Vec<&PassInfo> =
        passes.iter().filter(|info| which(info) && !changes_meaning(info)).collect();
    let info = fitting[c.below(fitting.len())];
    let mut options = Vec::new();
    for def in &*info.options {
        // Most options of most passes are as they are without being said.
        if c.chance(25)
            && let Some(value) = random_value(def, c)
        {
            options.push(format!("{}={value}", def.name));
        }
    }
    let options =
        if options.is_empty() { String::new() } else { format!("{{{}}}", options.join(", ")) };
    Step::Pass(info.name.to_owned(), options)
}

/// A value of an option, those at the ends of its range included.
fn random_value(def: &OptionDef, c: &mut Choices) -> Option<Setting> {
    Some(match def.kind {
        OptionKind::Flag => Setting::Flag(c.chance(50)),
        OptionKind::Int { min, max } => {
            // What may be as large as it likes costs as much as it likes.
            let most = max.min(min.saturating_add(200));
            let small = min.saturating_add(c.below(9) as i64).min(max);
            let end = c.pick(&[min, most, small, small, small]);
            Setting::Int(end)
        }
        OptionKind::Choice(words) => Setting::Text(c.pick(words).to_owned()),
        OptionKind::Float => Setting::Float(c.pick(&[0.0, 0.5, 1.0, 4.0])),
        OptionKind::Text => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_pipelines_can_be_read_and_so_can_smaller_ones() {
        let passes = PassRegistry::standard();
        for seed in 0..500 {
            let plan = Plan::random(&passes, &mut Choices::from_seed(seed));
            for plan in plan.smaller().into_iter().chain([plan]) {
                let text = plan.to_string();
                assert!(Pipeline::parse(&passes, &text).is_ok(), "{text}");
            }
        }
    }

    #[test]
    fn a_pipeline_shrinks_to_the_pass_that_matters() {
        let pass = |name: &str| Step::Pass(name.to_owned(), "{a=1}".to_owned());
        let steps = vec![pass("a"), Step::Fix(3, vec![pass("b"), Step::Loop(vec![pass("c")])])];
        let small = Plan { steps }.shrink(|plan| plan.to_string().contains('c'));
        assert_eq!(small.to_string(), "c");
    }
}
