//! `regraft ops`: what operations there are.

use std::fmt::Write;

use regraft_ir::{Diagnostic, Dialect, OpDef, Registry, Traits, suggest};

use super::output::{Failed, Outcome, print, print_json};
use super::{Tool, json};

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The op or dialect to tell about
    name: Option<String>,
    /// Print an object: `{"dialects": [..]}`, or that of the op or dialect that is named
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, tool: &Tool) -> Outcome {
    let (name, ops) = (args.name.as_deref(), tool.ops());
    let text = text(name, ops).map_err(|error| match error.help_text() {
        Some(_) => Failed::from(error),
        None => error.help(format!("`{} ops` lists all ops", tool.name())).into(),
    })?;
    if !args.json {
        return print(&text);
    }
    let one = |name: &str| match ops.find(name) {
        Some(def) => Some(json::op(def)),
        None => ops.dialects().find(|dialect| dialect.name == name).map(json::dialect),
    };
    print_json(&name.and_then(one).unwrap_or_else(|| json::dialects(ops)))
}

/// The list of all ops, or of those of a dialect, or the page of one.
///
/// # Errors
/// If there is no op and no dialect of that name.
pub(crate) fn text(name: Option<&str>, ops: &Registry) -> Result<String, Diagnostic> {
    let Some(name) = name else {
        let dialects: Vec<String> = ops.dialects().map(list).collect();
        return Ok(dialects.join("\n"));
    };
    if let Some(def) = ops.find(name) {
        return Ok(page(def));
    }
    if let Some(dialect) = ops.dialects().find(|dialect| dialect.name == name) {
        return Ok(list(dialect));
    }
    // Names without the dialect may be those of several.
    let ends = |op: &&str| op.split_once('.').is_some_and(|(_, rest)| rest == name);
    let same: Vec<String> =
        ops.ops().map(|def| def.name).filter(ends).map(|op| format!("`{op}`")).collect();
    if !same.is_empty() {
        let error = Diagnostic::error(format!("there is no op and no dialect `{name}`"));
        return Err(error.help(format!("did you mean {}?", same.join(" or "))));
    }
    let names = ops.ops().map(|def| def.name).chain(ops.dialects().map(|dialect| dialect.name));
    let error = Diagnostic::error(format!("there is no op and no dialect `{name}`"));
    Err(match suggest(name, names) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error,
    })
}

/// The first sentence of a page, in one line.
fn summary(doc: &str) -> String {
    let lines = doc.trim().lines().map(str::trim).take_while(|line| !line.is_empty());
    let paragraph = lines.collect::<Vec<_>>().join(" ");
    let end = paragraph.find(". ").map_or(paragraph.len(), |at| at + 1);
    paragraph[..end].to_owned()
}

fn list(dialect: &Dialect) -> String {
    let width = dialect.ops.iter().map(|def| def.name.len()).max().unwrap_or(0);
    let mut out = format!("{}: {}\n", dialect.name, summary(dialect.doc));
    for def in dialect.ops {
        let _ = writeln!(out, "  {:width$}  {}", def.name, summary(def.doc));
    }
    out
}

fn page(def: &OpDef) -> String {
    let mut out = format!("{}\n\n", def.signature());
    for line in def.doc.trim().lines() {
        let _ = writeln!(out, "{}", line.strip_prefix(' ').unwrap_or(line).trim_end());
    }
    let mut facts = Vec::new();
    for (name, _) in def.traits.iter_names() {
        facts.push(name.to_lowercase().replace('_', " "));
    }
    if def.effects.opaque {
        facts.push("has effects beyond its operands".to_owned());
    } else {
        let operands = |set: regraft_ir::OperandSet| -> Vec<&str> {
            let defs = def.operands.iter().enumerate();
            defs.filter(|&(i, _)| set.contains(i)).map(|(_, operand)| operand.name).collect()
        };
        let effects = def.effects;
        let sets = [
            ("reads", effects.reads),
            ("reads the shape of", effects.reads_shape),
            ("writes", effects.writes),
            ("changes the shape of", effects.writes_shape),
        ];
        for (verb, set) in sets {
            if !set.is_empty() {
                facts.push(format!("{verb} {}", operands(set).join(", ")));
            }
        }
        if effects.reads_globals {
            facts.push("reads what no operand stands for".to_owned());
        }
        if effects.observable {
            facts.push("can be observed".to_owned());
        }
        if def.effects.allocates {
            facts.push("allocates".to_owned());
        }
    }
    if !def.traits.contains(Traits::PURE) && facts.is_empty() {
        facts.push("has no effect".to_owned());
    }
    let _ = writeln!(out, "\ntraits: {}", facts.join(", "));
    if !def.attrs.is_empty() {
        let names = def.attrs.iter().map(|attr| {
            let need = if attr.required { " (required)" } else { "" };
            format!("{}{need}", attr.name)
        });
        let _ = writeln!(out, "attributes: {}", names.collect::<Vec<_>>().join(", "));
    }
    if def.mnemonic() != def.name {
        let _ = writeln!(out, "written: {}", def.mnemonic());
    }
    out
}
