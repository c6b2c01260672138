//! From the text of a pipeline to one that can be run: finds the passes, sets their options.
//! Everything that is wrong with a pipeline is said at once, each at its place in the text.

use std::ops::Range;

use regraft_ir::{Diagnostic, suggest};
use regraft_syntax::{OptionValue, PassOption, PassSpec};

use crate::builtin::Print;
use crate::options::{OptionDef, OptionKind, Options, Setting};
use crate::panic_guard::guarded;
use crate::pass::FunctionPass;
use crate::pass_info::PassKind;
use crate::pipeline::{FIX_OPTIONS, MATH, PassStep, Pipeline, Step, has_math};
use crate::registry::PassRegistry;

impl Pipeline {
    /// Reads the text of a pipeline of passes of `registry`.
    ///
    /// # Errors
    /// Everything that is wrong: the syntax, or else what [`Pipeline::check`] finds.
    pub fn parse(registry: &PassRegistry, text: &str) -> Result<Self, Vec<Diagnostic>> {
        Self::check(registry, &regraft_syntax::parse_pipeline(text)?)
    }

    /// Makes a pipeline that can be run of one that is merely written.
    ///
    /// # Errors
    /// All unknown passes and options, and all values that do not fit.
    pub fn check(
        registry: &PassRegistry,
        written: &regraft_syntax::Pipeline,
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut checker =
            Checker { registry, written, passes: 0, in_loop: false, errors: Vec::new() };
        let steps = checker.steps(&written.passes);
        if checker.errors.is_empty() {
            Ok(Self { steps, passes: checker.passes })
        } else {
            Err(checker.errors)
        }
    }
}

struct Checker<'a> {
    registry: &'a PassRegistry,
    written: &'a regraft_syntax::Pipeline,
    /// The number of passes so far.
    passes: usize,
    /// True if this is in `loop(..)`.
    in_loop: bool,
    errors: Vec<Diagnostic>,
}

impl Checker<'_> {
    /// The parser limits the depth of the recursion.
    fn steps(&mut self, specs: &[PassSpec]) -> Vec<Step> {
        specs.iter().filter_map(|spec| self.step(spec)).collect()
    }

    /// A step, unless something is wrong with it, which is then noted.
    fn step(&mut self, spec: &PassSpec) -> Option<Step> {
        match (&*spec.name, &spec.children) {
            ("", Some(body)) => {
                let body = self.steps(body);
                Some(Step::group(body))
            }
            ("fix", Some(body)) => {
                let options = self.options("fix", FIX_OPTIONS, &spec.options);
                let body = self.steps(body);
                Some(Step::fix(options, body))
            }
            ("fix", None) => {
                let help = "write `fix(..)` with the passes to repeat";
                let message = "`fix` needs passes to repeat".to_owned();
                self.error(message, spec.span.clone(), "nothing to repeat", Some(help.to_owned()));
                None
            }
            ("loop", Some(body)) => {
                self.options("loop", &[], &spec.options);
                if self.in_loop {
                    let help = "inner loops come before the ones around them by themselves";
                    let message = "`loop(..)` within `loop(..)`".to_owned();
                    self.error(message, spec.span.clone(), "one too many", Some(help.to_owned()));
                }
                let outside = std::mem::replace(&mut self.in_loop, true);
                let body = self.steps(body);
                self.in_loop = outside;
                Some(Step::Loop { body })
            }
            ("loop", None) => {
                let help = "write `loop(..)` with passes over loops";
                let message = "`loop` needs passes to run on loops".to_owned();
                self.error(message, spec.span.clone(), "nothing to run", Some(help.to_owned()));
                None
            }
            (name, _) if self.registry.pipeline(name).is_some() => self.named(spec),
            (name, body) => {
                let found = self.registry.find(name).cloned();
                if found.is_none() {
                    let help = self.registry.suggest(name).map(did_you_mean);
                    let message = format!("there is no pass `{name}`");
                    self.error(message, spec.span.clone(), "unknown pass", help);
                }
                if let Some(body) = body {
                    if found.is_some() {
                        let message = format!("`{name}` is a pass and takes no passes");
                        self.error(message, spec.span.clone(), "takes options only", None);
                    }
                    // What is inside is looked at all the same, for its own errors.
                    self.steps(body);
                }
                let info = found?;
                if self.in_loop && info.kind != PassKind::Loop {
                    let what = match info.kind {
                        PassKind::Module => "the module",
                        _ => "functions",
                    };
                    let message = format!("`{name}` is a pass over {what}, not over loops");
                    let help = "in `loop(..)` there are passes over loops only".to_owned();
                    self.error(message, spec.span.clone(), "not in `loop(..)`", Some(help));
                }
                let options = self.options(name, &info.options, &spec.options);
                // A pass of a user that panics on its options is no reason to panic here.
                let made = guarded(|| info.make(&options).map(drop));
                if let Err(message) = made.unwrap_or_else(|caught| Err(caught.message)) {
                    let message = format!("`{name}` refuses its options: {message}");
                    self.error(message, spec.span.clone(), "these options", None);
                    return None;
                }
                let position = self.passes;
                self.passes += 1;
                Some(Step::Pass(PassStep { info, options, position }))
            }
        }
    }

    /// A pipeline that has a name. Its text was right when it got the name, so that all that can
    /// be wrong is the place.
    fn named(&mut self, spec: &PassSpec) -> Option<Step> {
        let named = *self.registry.pipeline(&spec.name)?;
        if let Some(body) = &spec.children {
            let message = format!("`{}` is a pipeline and takes no passes", named.name);
            self.error(message, spec.span.clone(), "stands alone", None);
            self.steps(body);
        }
        let written = regraft_syntax::parse_pipeline(named.text).unwrap_or_default();
        let (registry, passes, in_loop) = (self.registry, self.passes, self.in_loop);
        let mut checker =
            Checker { registry, written: &written, passes, in_loop, errors: Vec::new() };
        let body = checker.steps(&written.passes);
        self.passes = checker.passes;
        if !checker.errors.is_empty() {
            let message = format!("`{}` is not made of passes over loops alone", named.name);
            self.error(message, spec.span.clone(), "not in `loop(..)`", None);
        }
        let defs: &[OptionDef] = if has_math(&body) { &[MATH] } else { &[] };
        let options = self.options(named.name, defs, &spec.options);
        Some(Step::named(named.name, options, body))
    }

    fn options(&mut self, pass: &str, defs: &[OptionDef], given: &[PassOption]) -> Options {
        let mut options = Options::defaults(defs);
        for option in given {
            let name = &*option.name;
            let Some(def) = defs.iter().find(|def| def.name == name) else {
                let suggested = suggest(name, defs.iter().map(|def| def.name)).map(did_you_mean);
                let (message, label, all) = match pass {
                    Print::NAME => (
                        format!("there is no analysis `{name}` to print"),
                        "unknown analysis",
                        format!("there are {}", names_of(defs)),
                    ),
                    _ => (
                        format!("`{pass}` has no option `{name}`"),
                        "unknown option",
                        options_there_are(defs),
                    ),
                };
                let help = suggested.unwrap_or(all);
                self.error(message, option.span.clone(), label, Some(help));
                continue;
            };
            let setting = setting_of(&option.value);
            let word = match &setting {
                Setting::Text(word) => Some(word.clone()),
                _ => None,
            };
            if let Err(message) = options.set(def, setting) {
                let help = word.and_then(|word| match def.kind {
                    OptionKind::Choice(words) => suggest(&word, words.iter().copied()),
                    _ => None,
                });
                self.error(message, option.value_span.clone(), "", help.map(did_you_mean));
            }
        }
        options
    }

    fn error(&mut self, message: String, span: Range<usize>, label: &str, help: Option<String>) {
        let mut error = self.written.error(span, message, label);
        if let Some(help) = help {
            error = error.help(help);
        }
        self.errors.push(error);
    }
}

fn setting_of(value: &OptionValue) -> Setting {
    match value {
        OptionValue::Int(n) => Setting::Int(*n),
        OptionValue::Float(x) => Setting::Float(*x),
        OptionValue::Bool(on) => Setting::Flag(*on),
        OptionValue::Word(text) | OptionValue::Str(text) => Setting::Text(text.clone()),
    }
}

fn did_you_mean(name: &str) -> String {
    format!("did you mean `{name}`?")
}

fn options_there_are(defs: &[OptionDef]) -> String {
    match defs {
        [] => "it has no options".to_owned(),
        [_] => format!("its only option is {}", names_of(defs)),
        _ => format!("its options are {}", names_of(defs)),
    }
}

fn names_of(defs: &[OptionDef]) -> String {
    let names: Vec<String> = defs.iter().map(|def| format!("`{}`", def.name)).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use regraft_ir::{Block, Diagnostic, Function};

    use crate::pipeline::MATH;
    use crate::rewrite::Math;
    use crate::{
        FunctionPass, LoopPass, NamedPipeline, OptionDef, Options, PassContext, PassRegistry,
        PassResult, Pipeline,
    };

    #[derive(Default)]
    struct Inline;

    impl FunctionPass for Inline {
        const NAME: &'static str = "inline";
        const OPTIONS: &'static [OptionDef] = &[
            OptionDef::int("max-size", 80, "").between(1, 1000),
            OptionDef::flag("deep", false, ""),
            OptionDef::choice("order", &["top-down", "bottom-up"], "bottom-up", ""),
            OptionDef::float("gain", 1.0, ""),
            OptionDef::text("only", "", ""),
        ];

        fn configure(&mut self, options: &Options) -> Result<(), String> {
            match options.flag("deep") && options.int("max-size") > 500 {
                true => Err("`deep` needs a `max-size` of at most 500".to_owned()),
                false => Ok(()),
            }
        }

        fn run(&mut self, _: &mut Function, _: &mut PassContext<'_>) -> PassResult {
            Ok(())
        }
    }

    /// A pass that asks for an option that it does not declare.
    #[derive(Default)]
    struct Careless;

    impl FunctionPass for Careless {
        const NAME: &'static str = "careless";

        fn configure(&mut self, options: &Options) -> Result<(), String> {
            let _ = options.flag("fast");
            Ok(())
        }

        fn run(&mut self, _: &mut Function, _: &mut PassContext<'_>) -> PassResult {
            Ok(())
        }
    }

    /// A pass over loops.
    #[derive(Default)]
    struct Turn;

    impl LoopPass for Turn {
        const NAME: &'static str = "turn";

        fn run(&mut self, _: &mut Function, _: &[Block], _: &mut PassContext<'_>) -> PassResult {
            Ok(())
        }
    }

    /// A pass that simplifies floats.
    #[derive(Default)]
    struct Algebra;

    impl FunctionPass for Algebra {
        const NAME: &'static str = "algebra";
        const OPTIONS: &'static [OptionDef] = &[MATH];

        fn run(&mut self, _: &mut Function, _: &mut PassContext<'_>) -> PassResult {
            Ok(())
        }
    }

    fn parse(text: &str) -> Result<Pipeline, Vec<Diagnostic>> {
        let mut registry = PassRegistry::new();
        registry.add::<Inline>();
        registry.add::<Algebra>();
        registry.add::<Careless>();
        registry.add_loop::<Turn>();
        registry.add_pipeline(NamedPipeline {
            name: "O7",
            text: "inline, loop(turn), turn",
            doc: "",
        });
        registry.add_pipeline(NamedPipeline { name: "Turns", text: "turn, turn", doc: "" });
        registry.add_pipeline(NamedPipeline {
            name: "O8",
            text: "O7, algebra, algebra{math=finite}",
            doc: "",
        });
        Pipeline::parse(&registry, text)
    }

    /// Returns what is wrong with `text`: message, the text that it is about, help.
    fn errors(text: &str) -> Vec<(String, String, Option<String>)> {
        let errors = parse(text).expect_err("it is wrong");
        let place = |d: &Diagnostic| text[d.labels()[0].span.clone()].to_owned();
        errors
            .iter()
            .map(|d| (d.message().to_owned(), place(d), d.help_text().map(str::to_owned)))
            .collect()
    }

    fn error(message: &str, place: &str, help: Option<&str>) -> (String, String, Option<String>) {
        (message.to_owned(), place.to_owned(), help.map(str::to_owned))
    }

    #[test]
    fn an_analysis_that_is_not_there_is_no_option() {
        let mut registry = PassRegistry::new();
        crate::builtin::register(&mut registry);
        let errors = Pipeline::parse(&registry, "print{loop-forst, zzz}").unwrap_err();
        assert_eq!(errors[0].message(), "there is no analysis `loop-forst` to print");
        assert_eq!(errors[0].help_text(), Some("did you mean `loop-forest`?"));
        assert_eq!(errors[1].message(), "there is no analysis `zzz` to print");
        let all = errors[1].help_text().unwrap_or_default();
        assert!(all.starts_with("there are `") && all.contains(", `loop-forest`, "), "{all}");
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once_with_its_place() {
        let text = "inlin, inline{max-sise=3, order=botom-up, max-size=0}, fix{min=1}(inlien(x))";
        let order = "option `order` takes one of `top-down`, `bottom-up`, found botom-up";
        let range = "option `max-size` takes an integer from 1 to 1000, found 0";
        assert_eq!(
            errors(text),
            [
                error("there is no pass `inlin`", "inlin", Some("did you mean `inline`?")),
                error(
                    "`inline` has no option `max-sise`",
                    "max-sise",
                    Some("did you mean `max-size`?")
                ),
                error(order, "botom-up", Some("did you mean `bottom-up`?")),
                error(range, "0", None),
                error("`fix` has no option `min`", "min", Some("its only option is `max`")),
                error("there is no pass `inlien`", "inlien", Some("did you mean `inline`?")),
                error("there is no pass `x`", "x", None),
            ]
        );
    }

    #[test]
    fn a_pipeline_with_a_name_is_a_step_of_others() {
        let pipeline = parse("O7, fix{max=2}(Turns, inline), loop(Turns)").expect("it is right");
        assert_eq!(pipeline.to_string(), "O7, fix{max=2}(Turns, inline), loop(Turns)");
        let names: Vec<&str> = pipeline.passes().iter().map(|pass| pass.name()).collect();
        let turns = ["turn", "turn"];
        assert_eq!(names[..5], ["inline", "turn", "turn", turns[0], turns[1]]);
        assert_eq!(names[5..], ["inline", "turn", "turn"]);
        let places: Vec<usize> = pipeline.passes().iter().map(|pass| pass.position()).collect();
        assert_eq!(places, [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn the_math_of_a_pipeline_with_a_name_is_that_of_its_passes() {
        let text = "O8{math=fast}, algebra, O7";
        let pipeline = parse(text).expect("it is right");
        assert_eq!(pipeline.to_string(), text);
        let math = |pipeline: &Pipeline| -> Vec<String> {
            let passes = pipeline.passes();
            let fast = passes.iter().filter(|pass| pass.name() == "algebra");
            fast.map(|pass| pass.options().text("math").to_owned()).collect()
        };
        assert_eq!(math(&pipeline), ["fast", "finite", "exact"]);
        let finite = pipeline.with_math(Math::Finite);
        assert_eq!(finite.to_string(), "O8{math=fast}, algebra{math=finite}, O7");
        assert_eq!(math(&finite), ["fast", "finite", "finite"]);
        assert_eq!(
            errors("O8{math=quick}, O8{max=1}"),
            [
                error(
                    "option `math` takes one of `exact`, `finite`, `fast`, found quick",
                    "quick",
                    None
                ),
                error("`O8` has no option `max`", "max", Some("its only option is `math`")),
            ]
        );
    }

    #[test]
    fn a_pipeline_with_a_name_takes_neither_options_nor_passes_and_fits_its_place() {
        assert_eq!(
            errors("O7{max=1}, Turns(inlien), loop(O7), O9"),
            [
                error("`O7` has no option `max`", "max", Some("it has no options")),
                error("`Turns` is a pipeline and takes no passes", "Turns", None),
                error("there is no pass `inlien`", "inlien", Some("did you mean `inline`?")),
                error("`O7` is not made of passes over loops alone", "O7", None),
                error("there is no pass `O9`", "O9", Some("did you mean `O7`?")),
            ]
        );
    }

    #[test]
    fn what_takes_no_passes_and_what_needs_them_is_told() {
        assert_eq!(
            errors("inline(inline), fix"),
            [
                error("`inline` is a pass and takes no passes", "inline", None),
                error(
                    "`fix` needs passes to repeat",
                    "fix",
                    Some("write `fix(..)` with the passes to repeat")
                ),
            ]
        );
    }

    #[test]
    fn loops_take_passes_over_loops_only() {
        assert_eq!(
            errors("loop(turn, inline, fix(loop(turn)), (nop)), loop{max=1}(turn), loop"),
            [
                error(
                    "`inline` is a pass over functions, not over loops",
                    "inline",
                    Some("in `loop(..)` there are passes over loops only")
                ),
                error(
                    "`loop(..)` within `loop(..)`",
                    "loop",
                    Some("inner loops come before the ones around them by themselves")
                ),
                error("there is no pass `nop`", "nop", None),
                error("`loop` has no option `max`", "max", Some("it has no options")),
                error(
                    "`loop` needs passes to run on loops",
                    "loop",
                    Some("write `loop(..)` with passes over loops")
                ),
            ]
        );
        assert_eq!(
            errors("lop(turn)"),
            [error("there is no pass `lop`", "lop", Some("did you mean `loop`?"))]
        );
    }

    #[test]
    fn a_pass_may_refuse_options_that_do_not_go_together() {
        let message = "`inline` refuses its options: `deep` needs a `max-size` of at most 500";
        assert_eq!(errors("inline{deep, max-size=501}"), [error(message, "inline", None)]);
        let message = "`careless` refuses its options: \
                       the pass asks for the option `fast`, which it does not declare";
        assert_eq!(errors("careless"), [error(message, "careless", None)]);
    }

    #[test]
    fn pipelines_print_as_text_that_reads_back() {
        for text in [
            "",
            "inline",
            "inline{deep, order=top-down, gain=0.25}, (inline, inline{only=\"a b\"})",
            "fix{max=3}(inline, fix(inline)), inline{deep=false, gain=inf, only=\"true\"}",
            "turn, loop(turn, fix{max=2}(turn), (turn, turn)), fix(loop(turn), inline), loop()",
        ] {
            let printed = parse(text).expect("it is right").to_string();
            assert_eq!(printed, text);
        }
    }
}
