//! Reproducers: IR text with a head that says what to run on it, and with what.
//!
//! ```text
//! # regraft opt -p 'gvn, licm' --check 4
//! # check main(Int64, Vector{Float64}), 4 inputs from seed 17
//! # @main changed its meaning
//! ```
//!
//! The first line is that of every reproducer. A line `# engine cranelift` says what runs the program
//! after the pipeline. The second one is there if the types of the
//! arguments or the seed of the inputs matter; there may be several.

use std::sync::Arc;

use regraft_exec::EngineKind;
use regraft_exec::value::{read_signature, signature};
use regraft_ir::{Context, Diagnostic, Function, Module, Type};
use regraft_passes::reproducer_pipeline;
use regraft_syntax::parse_and_verify;

use crate::compare::CompareConfig;
use crate::generate::Entry;
use crate::reduce::Suspect;
use crate::trial::BrokenKind;

/// A reproducer that was read.
#[derive(Clone, Debug)]
pub struct Repro {
    /// The module, and the functions to run.
    pub suspect: Suspect,
    /// The pipeline that fails.
    pub pipeline: Option<String>,
    /// On how many inputs to run each function, if that is said.
    pub inputs: Option<u32>,
    /// The engine that runs the program after the pipeline.
    pub engine: EngineKind,
    /// The seed of the first input.
    pub seed: u64,
}

impl Repro {
    /// Reads a reproducer, or any IR text: of that, all functions are run.
    ///
    /// # Errors
    /// The mistakes in the text.
    pub fn read(ctx: &Arc<Context>, name: &str, text: &str) -> Result<Self, Vec<Diagnostic>> {
        let module = parse_and_verify(ctx, name, text)?;
        let mut repro = Self {
            suspect: Suspect { module: Module::new(ctx), entries: Vec::new() },
            pipeline: reproducer_pipeline(text),
            inputs: None,
            engine: EngineKind::Interpreter,
            seed: 0,
        };
        let head = text.lines().take_while(|line| line.starts_with('#'));
        for line in head {
            if let Some(engine) = line.strip_prefix(ENGINE).and_then(EngineKind::of_name) {
                repro.engine = engine;
            }
            if !line.starts_with(CHECK) {
                continue;
            }
            let check = Check::read(&module, line).map_err(|why| {
                let message = format!("this line of a reproducer cannot be read: {line}\n{why}");
                let help = "a line is like `# check f(Int64, Float64), 4 inputs from seed 0`";
                vec![Diagnostic::error(message).help(help)]
            })?;
            repro.suspect.entries.push(check.entry);
            repro.inputs = Some(check.inputs);
            repro.seed = check.seed;
        }
        if repro.suspect.entries.is_empty() {
            repro.suspect = Suspect::of(&module);
        }
        repro.suspect.module = module;
        Ok(repro)
    }

    /// The text of a reproducer; `tool` is the command that its first line names, `compare` says what the functions are run on.
    pub fn write(
        tool: &str,
        suspect: &Suspect,
        pipeline: &str,
        CompareConfig { inputs, seed, engine, .. }: &CompareConfig,
        kind: &BrokenKind,
    ) -> String {
        let quoted = pipeline.replace('\'', r"'\''");
        let mut out = format!("# {tool} opt -p '{quoted}' --check {inputs}\n");
        if *engine != EngineKind::Interpreter {
            out.push_str(&format!("{ENGINE}{}\n", engine.name()));
        }
        let ctx = suspect.module.ctx();
        for entry in &suspect.entries {
            let entry = signature(ctx, &entry.name, &entry.params);
            out.push_str(&format!("{CHECK}{entry}, {inputs} inputs from seed {seed}\n"));
        }
        let what = match kind {
            BrokenKind::Failed(failure) => failure.report.clone(),
            BrokenKind::Derivative(failure) => failure.to_string(),
            BrokenKind::Differs(d) => {
                format!(
                    "@{} on ({})\nbefore: {}\nafter: {}",
                    d.function, d.inputs, d.before, d.after
                )
            }
        };
        for line in what.lines().take(40) {
            let line: String = line.chars().take(300).collect();
            out.push_str(format!("# {line}").trim_end());
            out.push('\n');
        }
        out.push('\n');
        out.push_str(&suspect.module.to_string());
        out
    }
}

const CHECK: &str = "# check ";
const ENGINE: &str = "# engine ";

/// A line that says what to run.
struct Check {
    entry: Entry,
    inputs: u32,
    seed: u64,
}

impl Check {
    fn read(module: &Module, line: &str) -> Result<Self, String> {
        let text = line.strip_prefix(CHECK).unwrap_or_default();
        let structs: Vec<Type> = module.structs().iter().map(|&(_, ty)| ty).collect();
        let names = module.functions().map(Function::name_str);
        let (name, params, rest) = read_signature(module.ctx(), names, &structs, text)?;
        let numbers = || {
            let (inputs, seed) = rest.strip_prefix(", ")?.split_once(" inputs from seed ")?;
            Some((inputs.parse().ok()?, seed.trim().parse().ok()?))
        };
        let (inputs, seed) = numbers()
            .ok_or_else(|| format!("expected numbers of inputs and seed, found `{rest}`"))?;
        Ok(Self { entry: Entry { name: name.to_owned(), params }, inputs, seed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        let ctx = regraft_dialects::context();
        let text = "struct @S { a: f64 }\n\nfunc @\"odd name\"(%1: any, %2: array<tuple<i64, f64>, 1>) -> unit {\n^1:\n  return nothing\n}\n";
        let module = regraft_syntax::parse_module(&ctx, "a.ir", text).unwrap();
        let pairs = ctx.array_type(ctx.tuple_type(&[Type::I64, Type::F64]), 1);
        let params = vec![module.structs()[0].1, pairs];
        let entry = Entry { name: "odd name".to_owned(), params: params.clone() };
        let suspect = Suspect { module, entries: vec![entry] };
        let difference = crate::Difference {
            function: "odd name".to_owned(),
            inputs: "1".to_owned(),
            before: "2".to_owned(),
            after: "3\n4".to_owned(),
            diff: String::new(),
        };
        let kind = BrokenKind::Differs(Box::new(difference));
        let text = {
            let compare = CompareConfig { inputs: 3, seed: 42, ..CompareConfig::default() };
            Repro::write("regraft", &suspect, "fold, fix{max=2}(dce)", &compare, &kind)
        };
        let again = Repro::read(&regraft_dialects::context(), "b.ir", &text).unwrap();
        assert_eq!(again.pipeline.as_deref(), Some("fold, fix{max=2}(dce)"));
        assert_eq!((again.inputs, again.seed), (Some(3), 42));
        let texts = |repro: &Suspect| -> Vec<String> {
            let ctx = repro.module.ctx();
            repro.entries[0].params.iter().map(|&ty| ctx.type_text(ty)).collect()
        };
        assert_eq!(texts(&again.suspect), texts(&suspect));
        assert_eq!(again.suspect.module.to_string(), suspect.module.to_string());
        let head = "# check \"odd name\"(S, Vector{Tuple{Int64, Float64}}), 3 inputs from seed 42";
        assert!(text.lines().any(|line| line == head), "{text}");
    }

    #[test]
    fn other_notations_of_a_signature_are_refused_with_the_right_one() {
        let ctx = regraft_dialects::context();
        let module = "\nfunc @f(%1: i64) -> i64 {\n^1:\n  return %1\n}\n";
        for (line, why) in [
            ("# check @f with (i64), 4 inputs from seed 0", "there is no function `@f with `"),
            ("# check f(i64), 4 inputs from seed 0", "unknown type `i64`"),
            ("# check f(Int64) 4 inputs", "expected numbers"),
            ("# check f(Int64", "`,` is missing"),
        ] {
            let errors = Repro::read(&ctx, "a.ir", &format!("{line}{module}")).unwrap_err();
            assert!(errors[0].message().contains(why), "{}", errors[0].message());
            assert!(errors[0].help_text().is_some_and(|help| help.contains("check f(Int64")));
        }
    }
}
