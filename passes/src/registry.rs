//! The passes that there are, by name.

use std::fmt::{self, Write};
use std::sync::{Arc, LazyLock};

use indexmap::IndexMap;
use regraft_ir::{Extension, render_all, suggest};

use crate::analysis::printable::Printable;
use crate::builtin::Print;
use crate::options::{OptionDef, OptionKind, Options};
use crate::pass::{AnyPass, FunctionPass, LoopPass, ModulePass};
use crate::pipeline::Pipeline;

/// What a pass works on.
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
    /// What it works on.
    pub kind: PassKind,
    make: Maker,
}

/// Makes a pass with these options.
type Maker = Arc<dyn Fn(&Options) -> Result<AnyPass, String> + Send + Sync>;

impl fmt::Debug for PassInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pass `{}`", self.name)
    }
}

impl PassInfo {
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

    /// What there is to say about it: what it does, an example, its options with defaults.
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
fn first_line(doc: &'static str) -> &'static str {
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
fn plain_text(doc: &str) -> String {
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

/// A pipeline that has a name, under which it is a step of others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NamedPipeline {
    /// Its name: a capital letter first, so that it is told from a pass.
    pub name: &'static str,
    /// The passes.
    pub text: &'static str,
    /// What it is for, in Markdown, the first line a summary.
    pub doc: &'static str,
}

impl NamedPipeline {
    /// The first line of its page, without the full stop.
    pub fn summary(&self) -> &'static str {
        first_line(self.doc)
    }

    /// What there is to say about it: what it is for, and its passes.
    pub fn page(&self) -> String {
        let Self { name, text, doc } = self;
        let doc = plain_text(doc);
        format!("{name}\na pipeline\n\n{doc}\n    {}\n", text.replace('\n', "\n    "))
    }
}

/// The passes that a pipeline can be made of, pipelines that have names, and the analyses that
/// `print{..}` shows.
#[derive(Clone, Debug, Default)]
pub struct PassRegistry {
    passes: IndexMap<&'static str, PassInfo>,
    pipelines: IndexMap<&'static str, NamedPipeline>,
    printables: Vec<Printable>,
}

/// Names that mean something else in pipelines.
pub(crate) const RESERVED: &[&str] = &["fix", "loop", "function", "module"];

impl PassRegistry {
    /// A registry without passes; see [`PassRegistry::standard`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a pass over functions.
    ///
    /// # Panics
    /// If its name is taken or is no name: a mistake in the program that has to be seen at once.
    #[track_caller]
    pub fn add<P: FunctionPass>(&mut self) {
        self.insert(PassInfo {
            name: P::NAME,
            doc: P::DOC,
            options: P::OPTIONS.into(),
            kind: PassKind::Function,
            make: Arc::new(|options| {
                let mut pass = P::default();
                pass.configure(options)?;
                Ok(AnyPass::Function(Box::new(pass)))
            }),
        });
    }

    /// Adds a pass over loops.
    ///
    /// # Panics
    /// As [`PassRegistry::add`].
    #[track_caller]
    pub fn add_loop<P: LoopPass>(&mut self) {
        self.insert(PassInfo {
            name: P::NAME,
            doc: P::DOC,
            options: P::OPTIONS.into(),
            kind: PassKind::Loop,
            make: Arc::new(|options| {
                let mut pass = P::default();
                pass.configure(options)?;
                Ok(AnyPass::Loop(Box::new(pass)))
            }),
        });
    }

    /// Adds a pass over modules.
    ///
    /// # Panics
    /// As [`PassRegistry::add`].
    #[track_caller]
    pub fn add_module<P: ModulePass>(&mut self) {
        self.insert(PassInfo {
            name: P::NAME,
            doc: P::DOC,
            options: P::OPTIONS.into(),
            kind: PassKind::Module,
            make: Arc::new(|options| {
                let mut pass = P::default();
                pass.configure(options)?;
                Ok(AnyPass::Module(Box::new(pass)))
            }),
        });
    }

    /// Gives a pipeline of passes that are there already a name.
    ///
    /// # Panics
    /// If the name is taken or does not start with a capital letter, or if the text is no
    /// pipeline of these passes.
    #[track_caller]
    pub fn add_pipeline(&mut self, pipeline: NamedPipeline) {
        let NamedPipeline { name, text, .. } = pipeline;
        let mut letters = name.chars();
        let is_name = letters.next().is_some_and(|c| c.is_ascii_uppercase())
            && letters.all(|c| c.is_ascii_alphanumeric());
        assert!(is_name, "{name:?} cannot be the name of a pipeline");
        assert!(!self.pipelines.contains_key(name), "there is a pipeline `{name}` already");
        if let Err(errors) = Pipeline::parse(self, text) {
            panic!("the pipeline `{name}`:\n{}", render_all(&errors, false));
        }
        self.pipelines.insert(name, pipeline);
    }

    /// Adds an analysis that `print{..}` shows.
    ///
    /// # Panics
    /// If its name is taken or is no name.
    #[track_caller]
    pub fn add_printable(&mut self, printable: Printable) {
        let name = printable.name;
        assert!(is_pass_name(name), "{name:?} cannot be the name of an analysis");
        let is_there = self.printables.iter().any(|other| other.name == name);
        assert!(!is_there, "there is an analysis `{name}` already");
        self.printables.push(printable);
        self.printables.sort_unstable_by_key(|printable| printable.name);
        let printables: Arc<[Printable]> = self.printables.as_slice().into();
        let flag = |printable: &Printable| OptionDef::flag(printable.name, false, printable.doc);
        let print = PassInfo {
            name: Print::NAME,
            doc: Print::DOC,
            options: printables.iter().map(flag).collect(),
            kind: PassKind::Function,
            make: Arc::new(move |options| {
                let asked = printables.iter().filter(|printable| options.flag(printable.name));
                Ok(AnyPass::Function(Box::new(Print::of(asked.copied().collect()))))
            }),
        };
        self.passes.insert(Print::NAME, print);
    }

    #[track_caller]
    fn insert(&mut self, info: PassInfo) {
        let name = info.name;
        assert!(is_pass_name(name), "{name:?} cannot be the name of a pass");
        assert!(!RESERVED.contains(&name), "`{name}` has another meaning in pipelines");
        for def in &*info.options {
            let checked = def.check(def.default_setting());
            assert!(checked.is_ok(), "pass `{name}`: the default of its {}", checked.unwrap_err());
        }
        assert!(!self.passes.contains_key(name), "there is a pass `{name}` already");
        self.passes.insert(name, info);
    }

    /// The pass of that name.
    pub fn find(&self, name: &str) -> Option<&PassInfo> {
        self.passes.get(name)
    }

    /// The pipeline of that name.
    pub fn pipeline(&self, name: &str) -> Option<&NamedPipeline> {
        self.pipelines.get(name)
    }

    /// The word of pipelines that `wrong` is most likely a misspelling of.
    pub fn suggest(&self, wrong: &str) -> Option<&'static str> {
        let words = || {
            let words = ["fix", "loop"].into_iter();
            words.chain(self.passes.keys().copied()).chain(self.pipelines.keys().copied())
        };
        let found = suggest(wrong, words())?;
        words().find(|&name| name == found)
    }

    /// All passes, in the order in which they were added.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &PassInfo> + '_ {
        self.passes.values()
    }

    /// The analyses that `print{..}` shows, by name.
    pub fn printables(&self) -> &[Printable] {
        &self.printables
    }

    /// All pipelines that have names, in the order in which they were added.
    pub fn pipelines(&self) -> impl ExactSizeIterator<Item = &NamedPipeline> + '_ {
        self.pipelines.values()
    }
}

impl Extension for PassRegistry {
    fn builtin() -> &'static Self {
        static STANDARD: LazyLock<PassRegistry> = LazyLock::new(PassRegistry::standard);
        &STANDARD
    }
}

/// Whether a text can name a pass or an option: words of letters and digits joined by `-`.
fn is_pass_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.split('-').all(|word| {
            !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        })
}

#[cfg(test)]
mod tests {
    use super::{PassRegistry, plain_text};

    #[test]
    fn a_fenced_example_is_shown_indented() {
        let doc = " Adds.\n\n ```text\n %2 = f %1\n\n   ^2\n ```\n Done.\n";
        assert_eq!(plain_text(doc), "Adds.\n\n    %2 = f %1\n\n      ^2\nDone.\n");
    }

    #[test]
    fn every_standard_pass_has_a_summary() {
        for info in PassRegistry::standard().iter() {
            assert!(!info.summary().is_empty(), "`{}` has none", info.name);
        }
    }

    #[test]
    fn a_name_that_is_taken_is_told_at_the_line_that_adds_the_pass() {
        use crate::panic_guard::guarded;
        use crate::transforms::dce::Dce;

        let mut registry = PassRegistry::standard();
        let (caught, line) = (guarded(|| registry.add::<Dce>()).unwrap_err(), line!());
        assert_eq!(caught.message, "there is a pass `dce` already");
        assert!(caught.place.unwrap().ends_with(&format!("registry.rs:{line}")));
    }
}
