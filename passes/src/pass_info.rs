//! A pass as registries and pipelines know it: its name, page and options, and how it is made.

use std::fmt::{self, Write};
use std::sync::Arc;

use regraft_ir::{Function, Module};

use crate::options::{OptionDef, OptionKind, Options};
use crate::pass::{AnyPass, PassContext, PassResult};

/// The unit that a pass works on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PassKind {
    /// One function at a time.
    Function,
    /// Some loops of a function at a time.
    Loop,
    /// The module as a whole.
    Module,
}

/// A pass as the registry knows it.
#[derive(Clone)]
pub struct PassInfo {
    /// Its name in pipelines.
    pub name: &'static str,
    /// Its page, in Markdown as the author wrote it.
    pub doc: &'static str,
    /// The options that it takes.
    pub options: Arc<[OptionDef]>,
    /// The unit that it works on.
    pub kind: PassKind,
    pub(crate) make: Maker,
}

/// Makes a pass with these options.
pub(crate) type Maker = Arc<dyn Fn(&Options) -> Result<AnyPass, String> + Send + Sync>;

impl fmt::Debug for PassInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pass `{}`", self.name)
    }
}

impl PassInfo {
    /// A pass over functions without options, which runs `run` on each.
    pub fn of_function(
        name: &'static str,
        doc: &'static str,
        run: impl Fn(&mut Function, &mut PassContext<'_>) -> PassResult + Clone + Send + Sync + 'static,
    ) -> Self {
        let make = move |_: &Options| Ok(AnyPass::Function(Box::new(run.clone())));
        let options = Arc::default();
        Self { name, doc, options, kind: PassKind::Function, make: Arc::new(make) }
    }

    /// A pass over modules with these options, which runs `run` on each: for passes that are made while a program
    /// runs. It runs on the thread that runs the pipeline.
    pub fn of_module(
        name: &'static str,
        doc: &'static str,
        options: &[OptionDef],
        run: impl Fn(&mut Module, &Options, &mut PassContext<'_>) -> PassResult
        + Clone
        + Send
        + Sync
        + 'static,
    ) -> Self {
        let make = move |options: &Options| {
            let (run, options) = (run.clone(), options.clone());
            Ok(AnyPass::Module(Box::new(move |module, cx| run(module, &options, cx))))
        };
        Self { name, doc, options: options.into(), kind: PassKind::Module, make: Arc::new(make) }
    }

    /// A configured pass.
    ///
    /// # Errors
    /// If the options do not go together.
    pub(crate) fn make(&self, options: &Options) -> Result<AnyPass, String> {
        (self.make)(options)
    }

    /// The first line of its page, without the full stop.
    pub fn summary(&self) -> &'static str {
        first_line(self.doc)
    }

    /// Its page as text: what it does, an example, its options with defaults.
    pub fn page(&self) -> String {
        let mut out = format!("{}{}\n", self.name, options_hint(&self.options));
        out.push_str(match self.kind {
            PassKind::Function => "a pass over functions, each on its own\n",
            PassKind::Loop => {
                "a pass over loops: in `loop(..)`, or by itself over all loops of each function\n"
            }
            PassKind::Module => "a pass over the module as a whole\n",
        });
        if !self.doc.trim().is_empty() {
            out.push('\n');
            out.push_str(&plain_text(self.doc));
        }
        if !self.options.is_empty() {
            out.push_str("\noptions:\n");
            for def in &*self.options {
                let value = match def.kind {
                    OptionKind::Flag => String::new(),
                    _ => format!("={}", def.default_setting()),
                };
                let _ = writeln!(out, "  {}{value}", def.name);
                let default = match def.kind {
                    OptionKind::Flag => format!("; default {}", def.default_setting()),
                    kind => format!("; {kind}"),
                };
                let _ = writeln!(out, "      {}{default}", def.doc);
            }
        }
        out
    }
}

/// The first line of a page, without the full stop.
pub(crate) fn first_line(doc: &'static str) -> &'static str {
    doc.trim_start().lines().next().unwrap_or("").trim().trim_end_matches('.')
}

fn options_hint(options: &[OptionDef]) -> String {
    let mut out = String::new();
    for (i, def) in options.iter().enumerate() {
        out.push_str(if i == 0 { "{" } else { ", " });
        match def.kind {
            OptionKind::Flag => out.push_str(def.name),
            _ => {
                let _ = write!(out, "{}=..", def.name);
            }
        }
    }
    if !options.is_empty() {
        out.push('}');
    }
    out
}

/// A doc comment as plain text: without the one space that rustdoc puts before each line, and
/// with fenced blocks indented instead.
pub(crate) fn plain_text(doc: &str) -> String {
    let lines: Vec<&str> = doc.trim_end().lines().collect();
    let text = lines.iter().filter(|line| !line.trim().is_empty());
    let indent =
        text.map(|line| line.len() - line.trim_start_matches(' ').len()).min().unwrap_or(0);
    let mut out = String::new();
    let mut fenced = false;
    for line in lines {
        let line = line.get(indent..).unwrap_or("").trim_end();
        if line.starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced && !line.is_empty() {
            out.push_str("    ");
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::plain_text;

    #[test]
    fn a_fenced_example_is_shown_indented() {
        let doc = " Adds.\n\n ```text\n %2 = f %1\n\n   ^2\n ```\n Done.\n";
        assert_eq!(plain_text(doc), "Adds.\n\n    %2 = f %1\n\n      ^2\nDone.\n");
    }
}
