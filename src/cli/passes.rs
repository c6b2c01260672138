//! `regraft passes`: what passes there are.

use std::fmt::Write;

use regraft_ir::{Diagnostic, suggest};
use regraft_passes::analysis::printable::Printable;
use regraft_passes::{PassInfo, PassKind, PassRegistry};
use serde_json::json;

use super::output::{Failed, Outcome, print, print_json};
use super::{Tool, json};

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The pass, pipeline or analysis to tell about
    name: Option<String>,
    /// Print an object: `{"analyses": [..], "passes": [..], "pipelines": [..]}`, or that of the
    /// pass that is named
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, tool: &Tool) -> Outcome {
    let (name, passes) = (args.name.as_deref(), tool.registry());
    let text = text(name, passes).map_err(|error| match error.help_text() {
        Some(_) => Failed::from(error),
        None => error.help(format!("`{} passes` lists all passes", tool.name())).into(),
    })?;
    if !args.json {
        return print(&text);
    }
    let analysis = |def: &Printable| json!({"name": def.name, "doc": def.doc});
    print_json(&match name {
        None => json!({
            "analyses": passes.printables().iter().map(analysis).collect::<Vec<_>>(),
            "passes": passes.iter().map(json::pass).collect::<Vec<_>>(),
            "pipelines": passes.pipelines().map(json::pipeline).collect::<Vec<_>>(),
        }),
        Some(name) => match (passes.find(name), passes.pipeline(name)) {
            (Some(pass), _) => json::pass(pass),
            (_, Some(pipeline)) => json::pipeline(pipeline),
            _ => match passes.printables().iter().find(|def| def.name == name) {
                Some(def) => analysis(def),
                None => json!({"name": name, "page": text}),
            },
        },
    })
}

/// The list of all passes by kind, or the page of one.
///
/// # Errors
/// If there is no pass of that name.
pub(crate) fn text(name: Option<&str>, passes: &PassRegistry) -> Result<String, Diagnostic> {
    let Some(name) = name else { return Ok(list(passes)) };
    if let Some(pass) = passes.find(name) {
        return Ok(pass.page());
    }
    if let Some(pipeline) = passes.pipeline(name) {
        return Ok(pipeline.page());
    }
    if let Some(def) = passes.printables().iter().find(|def| def.name == name) {
        let Printable { name, doc, .. } = def;
        return Ok(format!(
            "{name}\nan analysis\n\nTells {doc}. Shown by a pass:\n\n    print{{{name}}}\n"
        ));
    }
    match name {
        "fix" => Ok(FIX.to_owned()),
        "loop" => Ok(LOOP.to_owned()),
        _ => {
            let error = Diagnostic::error(format!("there is no pass `{name}`"));
            let analyses = || passes.printables().iter().map(|def| def.name);
            Err(match passes.suggest(name).or_else(|| suggest(name, analyses())) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error,
            })
        }
    }
}

/// Lists passes, pipelines and analyses, each with one line.
fn list(passes: &PassRegistry) -> String {
    let of = |kind: PassKind| {
        let passes = passes.iter().filter(move |pass| pass.kind == kind);
        let mut lines: Vec<_> = passes.map(|pass: &PassInfo| (pass.name, pass.summary())).collect();
        lines.sort_unstable();
        lines
    };
    let groups = [
        (
            "analyses, shown by `print{NAME}`",
            passes.printables().iter().map(|def| (def.name, def.doc)).collect(),
        ),
        ("passes over loops, for `loop(..)` or by themselves", of(PassKind::Loop)),
        ("passes over functions", of(PassKind::Function)),
        ("passes over the module", of(PassKind::Module)),
        ("pipelines", passes.pipelines().map(|named| (named.name, named.summary())).collect()),
        (
            "words of pipelines",
            vec![
                ("fix", "Repeats passes until none of them changes anything"),
                ("loop", "Runs passes over loops, innermost loops first"),
            ],
        ),
    ];
    let names = groups.iter().flat_map(|(_, lines): &(_, Vec<(&str, &str)>)| lines);
    let width = names.map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for (title, lines) in groups.iter().filter(|(_, lines)| !lines.is_empty()) {
        let _ = writeln!(out, "{}{title}", if out.is_empty() { "" } else { "\n" });
        for (name, summary) in lines {
            let _ = writeln!(out, "{}", format!("  {name:width$}  {summary}").trim_end());
        }
    }
    out
}

/// The page of a form that looks like a pass in a pipeline, but is not one; `LOOP` is another.
const FIX: &str = "\
fix{max=..}(passes)
not a pass, but a word of pipelines

Repeats the passes in its parentheses until none of them changes anything any more.

    fix{max=4}(fold, cse, simplify-cfg, dce)

options:
  max=16
      how often at most; an integer from 1 to 1000000
";

const LOOP: &str = "\
loop(passes)
not a pass, but a word of pipelines

Runs passes over loops: each in turn on all innermost loops of a function, then each on the
loops around those, and so on. Outside of `loop(..)` such a pass goes through all loops at once.

    loop(licm, unroll{factor=4})
";
