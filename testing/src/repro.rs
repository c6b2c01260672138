//! Reproducers: IR text with a head that says what to run on it, and with what.
//!
//! ```text
//! # regraft opt -p 'gvn, licm' --check 4
//! # check @main with (i64, array<f64, 1>), 4 inputs from seed 17
//! # @main changed its meaning
//! ```
//!
//! The first line is that of every reproducer. The second one is there if the types of the
//! arguments or the seed of the inputs matter; there may be several.

use std::sync::Arc;

use regraft_ir::{Constant, Context, Diagnostic, Module, Type};
use regraft_passes::reproducer_pipeline;
use regraft_syntax::{parse_and_verify, parse_module_into};

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
    /// The seed of the first input.
    pub seed: u64,
}

impl Repro {
    /// Reads a reproducer, or any IR text: of that, all functions are run.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn read(ctx: &Arc<Context>, name: &str, text: &str) -> Result<Self, Vec<Diagnostic>> {
        let mut module = parse_and_verify(ctx, name, text)?;
        let mut repro = Self {
            suspect: Suspect { module: Module::new(ctx), entries: Vec::new() },
            pipeline: reproducer_pipeline(text),
            inputs: None,
            seed: 0,
        };
        let head = text.lines().take_while(|line| line.starts_with('#'));
        for line in head.filter(|line| line.starts_with(CHECK)) {
            let Some(check) = Check::read(&mut module, line) else {
                let message = format!("this line of a reproducer cannot be read: {line}");
                let help = "a line is like `# check @f with (i64, f64), 4 inputs from seed 0`";
                return Err(vec![Diagnostic::error(message).help(help)]);
            };
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

    /// The text of a reproducer.
    pub fn write(
        suspect: &Suspect,
        pipeline: &str,
        inputs: u32,
        seed: u64,
        kind: &BrokenKind,
    ) -> String {
        let quoted = pipeline.replace('\'', r"'\''");
        let mut out = format!("# regraft opt -p '{quoted}' --check {inputs}\n");
        let ctx = suspect.module.ctx();
        for entry in &suspect.entries {
            let name = ctx.constant_text(Constant::Func(ctx.symbol(&entry.name)));
            let types: Vec<String> = entry.params.iter().map(|&ty| ctx.type_text(ty)).collect();
            let types = types.join(", ");
            out.push_str(&format!(
                "{CHECK}{name} with ({types}), {inputs} inputs from seed {seed}\n"
            ));
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

/// A line that says what to run.
struct Check {
    entry: Entry,
    inputs: u32,
    seed: u64,
}

impl Check {
    fn read(module: &mut Module, line: &str) -> Option<Self> {
        let (name, rest) = line.strip_prefix(CHECK)?.split_once(" with (")?;
        let (types, rest) = rest.rsplit_once("), ")?;
        let (inputs, seed) = rest.split_once(" inputs from seed ")?;
        let ctx = Arc::clone(module.ctx());
        let is_named = |text: &str| ctx.constant_text(Constant::Func(ctx.symbol(text))) == name;
        let name = module
            .functions()
            .map(regraft_ir::Function::name_str)
            .find(|text| is_named(text))?
            .to_owned();
        Some(Self {
            entry: Entry { name, params: read_types(module, types)? },
            inputs: inputs.parse().ok()?,
            seed: seed.trim().parse().ok()?,
        })
    }
}

/// Reads types by reading a function that has them.
fn read_types(module: &mut Module, types: &str) -> Option<Vec<Type>> {
    const NAME: &str = "the types of a reproducer";
    let mut params = String::new();
    for (i, ty) in split(types).into_iter().enumerate() {
        let comma = if i == 0 { "" } else { ", " };
        params.push_str(&format!("{comma}%{}: {ty}", i + 1));
    }
    let text = format!("func @\"{NAME}\"({params}) -> unit {{\n^1:\n  return nothing\n}}\n");
    parse_module_into(module, "types", &text).ok()?;
    let id = module.find(module.ctx().symbol(NAME))?;
    Some(module.remove(id)?.param_types())
}

/// The parts between commas that are in no brackets.
fn split(types: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in types.char_indices() {
        match c {
            '<' | '{' | '(' => depth += 1,
            '>' | '}' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(types[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = types[start..].trim();
    if !last.is_empty() {
        parts.push(last);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        let ctx = regraft_dialects::context();
        let text = "struct @S { a: f64 }\n\nfunc @\"odd name\"(%1: any, %2: array<tuple<i64, f64>, 1>) -> unit {\n^1:\n  return nothing\n}\n";
        let mut module = regraft_syntax::parse_module(&ctx, "a.ir", text).unwrap();
        let params = read_types(&mut module, "@S, array<tuple<i64, f64>, 1>").unwrap();
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
        let text = Repro::write(&suspect, "fold, fix{max=2}(dce)", 3, 42, &kind);
        let again = Repro::read(&regraft_dialects::context(), "b.ir", &text).unwrap();
        assert_eq!(again.pipeline.as_deref(), Some("fold, fix{max=2}(dce)"));
        assert_eq!((again.inputs, again.seed), (Some(3), 42));
        let texts = |repro: &Suspect| -> Vec<String> {
            let ctx = repro.module.ctx();
            repro.entries[0].params.iter().map(|&ty| ctx.type_text(ty)).collect()
        };
        assert_eq!(texts(&again.suspect), texts(&suspect));
        assert_eq!(again.suspect.module.to_string(), suspect.module.to_string());
    }
}
