//! The passes that there are, by name.

use std::sync::{Arc, LazyLock};

use indexmap::IndexMap;
use regraft_ir::{Extension, render_all, suggest};

use crate::analysis::printable::Printable;
use crate::options::{OptionDef, Options};
use crate::pass::{AnyPass, FunctionPass, LoopPass, ModulePass};
use crate::pass_info::{PassInfo, PassKind, first_line, plain_text};
use crate::pipeline::Pipeline;

/// A pipeline that has a name, under which it is a step of others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NamedPipeline {
    /// Its name: a capital letter first, so that it is told from a pass.
    pub name: &'static str,
    /// The passes.
    pub text: &'static str,
    /// Its purpose, in Markdown, the first line a summary.
    pub doc: &'static str,
}

impl NamedPipeline {
    /// The first line of its page, without the full stop.
    pub fn summary(&self) -> &'static str {
        first_line(self.doc)
    }

    /// Its page as text: its purpose, and its passes.
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
    pub(crate) passes: IndexMap<&'static str, PassInfo>,
    pipelines: IndexMap<&'static str, NamedPipeline>,
    pub(crate) printables: Vec<Printable>,
    /// Those that [`define_pass`](Self::define_pass) added.
    defined: Vec<&'static str>,
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
        self.insert((P::NAME, P::DOC, P::OPTIONS), PassKind::Function, |options| {
            let mut pass = P::default();
            pass.configure(options)?;
            Ok(AnyPass::Function(Box::new(move |f, cx| pass.run(f, cx))))
        });
    }

    /// Adds a pass over loops.
    ///
    /// # Panics
    /// As [`PassRegistry::add`].
    #[track_caller]
    pub fn add_loop<P: LoopPass>(&mut self) {
        self.insert((P::NAME, P::DOC, P::OPTIONS), PassKind::Loop, |options| {
            let mut pass = P::default();
            pass.configure(options)?;
            Ok(AnyPass::Loop(Box::new(move |f, loops, cx| match loops {
                Some(loops) => pass.run(f, loops, cx),
                None => pass.run_all(f, cx),
            })))
        });
    }

    /// Adds a pass over modules.
    ///
    /// # Panics
    /// As [`PassRegistry::add`].
    #[track_caller]
    pub fn add_module<P: ModulePass>(&mut self) {
        self.insert((P::NAME, P::DOC, P::OPTIONS), PassKind::Module, |options| {
            let mut pass = P::default();
            pass.configure(options)?;
            Ok(AnyPass::Module(Box::new(move |module, cx| pass.run(module, cx))))
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
        self.add_known_pipeline(pipeline);
    }

    /// Adds a pipeline that is known to be right.
    pub(crate) fn add_known_pipeline(&mut self, pipeline: NamedPipeline) {
        self.pipelines.insert(pipeline.name, pipeline);
    }

    /// Adds a pass that was made by [`rewrite!`](crate::rewrite!) or
    /// [`PassInfo::of_function`].
    ///
    /// # Panics
    /// As [`PassRegistry::add`].
    #[track_caller]
    pub fn add_pass(&mut self, info: PassInfo) {
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

    /// Adds a pass that a program has made, or puts it in the place of one that was made so.
    ///
    /// # Errors
    /// If its name is taken or is no name.
    pub fn define_pass(&mut self, info: PassInfo) -> Result<(), String> {
        let name = info.name;
        if !is_pass_name(name) || RESERVED.contains(&name) {
            return Err(format!("`{name}` cannot be the name of a pass"));
        }
        if self.defined.contains(&name) {
            self.passes.insert(name, info);
            return Ok(());
        }
        if self.passes.contains_key(name) {
            return Err(format!("there is a pass `{name}` already"));
        }
        self.defined.push(name);
        self.passes.insert(name, info);
        Ok(())
    }

    /// Returns whether a pass of that name is one that a program has made.
    pub fn is_defined(&self, name: &str) -> bool {
        self.defined.contains(&name)
    }

    #[track_caller]
    fn insert(
        &mut self,
        (name, doc, options): (&'static str, &'static str, &[OptionDef]),
        kind: PassKind,
        make: impl Fn(&Options) -> Result<AnyPass, String> + Send + Sync + 'static,
    ) {
        self.add_pass(PassInfo { name, doc, options: options.into(), kind, make: Arc::new(make) });
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

/// Returns whether a text can name a pass or an option: words of letters and digits joined by `-`.
pub(crate) fn is_pass_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.split('-').all(|word| {
            !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        })
}

#[cfg(test)]
mod tests {
    use super::PassRegistry;

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
