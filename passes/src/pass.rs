//! Passes: the traits that a pass implements, and the context that it is given.
//!
//! A pass does not say whether it changed anything: the manager sees it by the epochs. A fresh
//! pass is made (by `Default` and `configure`) for each execution, so that a pass may keep
//! state in its fields while it runs and the result for one function never depends on another
//! one, nor on the order in which functions are run.

use std::sync::Arc;

use indexmap::IndexMap;
use regraft_ir::{Block, Diagnostic, Function, Module, Renumbering, Value};

use crate::analysis::{Analyses, Analysis, EffectSummaries};
use crate::loop_run::LoopWalk;
use crate::options::{OptionDef, Options};

/// The result of running a pass: an error stops the pipeline, and the function is restored to what
/// it was before the pass.
pub type PassResult = Result<(), Diagnostic>;

/// A pass over one function at a time. Of other functions it sees the signatures only, it must
/// not change that of its own, and functions may be run in parallel.
pub trait FunctionPass: Default + Send + 'static {
    /// Its name in pipelines: words of lower case letters and digits, joined by `-`.
    const NAME: &'static str;
    /// Its page, in Markdown, the first line a summary. With [`pass!`](crate::pass) it is the
    /// doc comment of the struct: `const DOC: &'static str = Self::PAGE;`
    const DOC: &'static str = "";
    /// The options that it takes.
    const OPTIONS: &'static [OptionDef] = &[];

    /// Takes over the options. It is called once before each run, with all options set, if
    /// only to their defaults.
    ///
    /// # Errors
    /// If the options do not go together; the message is a sentence without a full stop.
    fn configure(&mut self, options: &Options) -> Result<(), String> {
        let _ = options;
        Ok(())
    }

    /// Rewrites a function.
    ///
    /// # Errors
    /// If the function cannot be processed. The pipeline stops and says so.
    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult;
}

/// A pass over natural loops. In `loop(..)` it takes turns with other loop passes, for loops of
/// one nesting depth after the other; outside it is a function pass over all loops. Cycles that are
/// no natural loops (irreducible regions) are not for it.
///
/// ```
/// use regraft_ir::{Block, Function};
/// use regraft_passes::{LoopPass, PassContext, PassResult};
///
/// /// Counts loops.
/// #[derive(Default)]
/// struct Census;
///
/// impl LoopPass for Census {
///     const NAME: &'static str = "census";
///
///     fn run(&mut self, _: &mut Function, loops: &[Block], cx: &mut PassContext<'_>) -> PassResult {
///         cx.add("loops", loops.len() as u64);
///         Ok(())
///     }
/// }
/// ```
pub trait LoopPass: Default + Send + 'static {
    /// As [`FunctionPass::NAME`].
    const NAME: &'static str;
    /// As [`FunctionPass::DOC`].
    const DOC: &'static str = "";
    /// As [`FunctionPass::OPTIONS`].
    const OPTIONS: &'static [OptionDef] = &[];

    /// As [`FunctionPass::configure`].
    ///
    /// # Errors
    /// If the options do not go together.
    fn configure(&mut self, options: &Options) -> Result<(), String> {
        let _ = options;
        Ok(())
    }

    /// Rewrites some loops of a function, given by their headers: disjoint loops, all of one
    /// nesting depth (0 for those without loops in them), in layout order. The loops within them
    /// have been visited. Analyses describe the whole function, so a pass asks for each once, not
    /// once for each loop.
    ///
    /// # Errors
    /// If the function cannot be processed. The pipeline stops and says so.
    fn run(&mut self, f: &mut Function, loops: &[Block], cx: &mut PassContext<'_>) -> PassResult;

    /// Rewrites all loops of a function: depth after depth, unless the pass has a faster way.
    ///
    /// # Errors
    /// As [`LoopPass::run`].
    fn run_all(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let mut walk = LoopWalk::new(f, cx.analyses);
        while walk.advance(f, cx.analyses) {
            let loops = walk.loops(f, cx.analyses);
            if !loops.is_empty() {
                self.run(f, &loops, cx)?;
            }
        }
        Ok(())
    }
}

/// A loop pass as a pass over functions, which it is outside of `loop(..)`.
#[derive(Debug, Default)]
pub struct AllLoops<P>(pub P);

impl<P: LoopPass> FunctionPass for AllLoops<P> {
    const NAME: &'static str = P::NAME;
    const DOC: &'static str = P::DOC;
    const OPTIONS: &'static [OptionDef] = P::OPTIONS;

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        self.0.configure(options)
    }

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        self.0.run_all(f, cx)
    }
}

/// A pass over a module as a whole.
pub trait ModulePass: Default + Send + 'static {
    /// As [`FunctionPass::NAME`].
    const NAME: &'static str;
    /// As [`FunctionPass::DOC`].
    const DOC: &'static str = "";
    /// As [`FunctionPass::OPTIONS`].
    const OPTIONS: &'static [OptionDef] = &[];

    /// As [`FunctionPass::configure`].
    ///
    /// # Errors
    /// If the options do not go together.
    fn configure(&mut self, options: &Options) -> Result<(), String> {
        let _ = options;
        Ok(())
    }

    /// Rewrites a module.
    ///
    /// # Errors
    /// If the module cannot be processed. The pipeline stops and says so.
    fn run(&mut self, module: &mut Module, cx: &mut PassContext<'_>) -> PassResult;
}

/// The output of a pass besides the function: counts, text, warnings.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) counts: IndexMap<&'static str, u64>,
    pub(crate) text: String,
    pub(crate) warnings: Vec<Diagnostic>,
    pub(crate) errors: Vec<Diagnostic>,
    /// True if the error is about the options.
    pub(crate) wrong_options: bool,
    pub(crate) renumbering: Option<Renumbering>,
    /// The reasons why values were replaced, if they are asked for.
    pub(crate) explanations: Option<Vec<(Value, String)>>,
}

impl Output {
    /// Of a pass that is asked to explain itself.
    pub(crate) fn explained(explain: bool) -> Self {
        Self { explanations: explain.then(Vec::new), ..Self::default() }
    }

    /// Returns whether there is nothing that anybody would miss.
    pub(crate) fn is_idle(&self) -> bool {
        self.counts.values().all(|&n| n == 0)
            && self.text.is_empty()
            && self.warnings.is_empty()
            && self.errors.is_empty()
            && self.renumbering.is_none()
    }
}

/// The context that a pass is given besides the function or module.
#[derive(Debug)]
pub struct PassContext<'a> {
    signatures: Option<&'a Module>,
    analyses: &'a mut Analyses,
    output: &'a mut Output,
}

impl<'a> PassContext<'a> {
    pub(crate) fn new(
        signatures: Option<&'a Module>,
        analyses: &'a mut Analyses,
        output: &'a mut Output,
    ) -> Self {
        Self { signatures, analyses, output }
    }

    /// For a function pass, the signatures of all functions of the module: a module whose
    /// functions need not have bodies. A module pass has the module.
    pub fn signatures(&self) -> Option<&'a Module> {
        self.signatures
    }

    /// Adds one to a statistic of this pass.
    pub fn count(&mut self, what: &'static str) {
        self.add(what, 1);
    }

    /// Adds `n` to a statistic of this pass.
    pub fn add(&mut self, what: &'static str, n: u64) {
        *self.output.counts.entry(what).or_default() += n;
    }

    /// The result of an analysis for the present state of `f`; computed only if no valid one is
    /// cached. It does not follow later changes of `f`: ask again.
    pub fn analysis<A: Analysis>(&mut self, f: &Function) -> Arc<A> {
        self.analyses.get(f)
    }

    /// The cache of analyses, for code that asks for several.
    pub fn analyses(&mut self) -> &mut Analyses {
        self.analyses
    }

    /// Returns what calls of functions of the module may do, for
    /// [`inst_effects`](crate::analysis::inst_effects). Without a manager, anything.
    pub fn effects(&self) -> &EffectSummaries {
        self.analyses.effects()
    }

    /// Tells the user something that does not stop the pipeline.
    pub fn warn(&mut self, warning: Diagnostic) {
        self.output.warnings.push(warning);
    }

    /// Reports an error and lets the pass go on, so that it can report several. The pipeline
    /// stops after the pass, whatever it returns.
    pub fn error(&mut self, error: Diagnostic) {
        self.output.errors.push(error);
    }

    /// An error of the options of the pass, to be returned: they name something that the module does
    /// not have. Then the pipeline is wrong, not the program, and no reproducer is written.
    pub fn wrong_options(&mut self, error: Diagnostic) -> Diagnostic {
        self.output.wrong_options = true;
        error
    }

    /// Runs another pass within this one, with default options. Returns what it counted, which is
    /// not added to the statistics of this pass.
    ///
    /// # Errors
    /// The errors of the pass.
    pub(crate) fn run_within<P: FunctionPass>(
        &mut self,
        f: &mut Function,
    ) -> Result<IndexMap<&'static str, u64>, Diagnostic> {
        let mut output = Output::default();
        let mut cx = PassContext::new(self.signatures, self.analyses, &mut output);
        P::default().run(f, &mut cx)?;
        Ok(output.counts)
    }

    /// Writes text for the user. It comes out in pipeline order, function after function,
    /// whatever runs in parallel.
    pub fn print(&mut self, text: &str) {
        self.output.text.push_str(text);
    }

    /// Returns whether somebody wants to know why values are replaced.
    pub fn explains(&self) -> bool {
        self.output.explanations.is_some()
    }

    /// Says why a value was replaced, if somebody [wants to know](PassContext::explains). The text
    /// has the old instruction first, and then how it became the new one, line by line.
    pub fn explain(&mut self, value: Value, text: String) {
        if let Some(explanations) = &mut self.output.explanations {
            explanations.push((value, text));
        }
    }

    /// Says that values and blocks got new numbers, so that a diff can show old and new ones
    /// alike. Optional, for passes that rebuild the function; call it at most once.
    pub fn renumbered(&mut self, map: Renumbering) {
        self.output.renumbering = Some(map);
    }
}

/// Runs one pass on one function with default options and without a manager, as tests of a pass
/// do: nothing is verified, restored or printed. Returns what the pass counted. A loop pass is run
/// as [`AllLoops`].
///
/// # Errors
/// The errors of the pass.
pub fn run_pass<P: FunctionPass>(
    f: &mut Function,
) -> Result<IndexMap<&'static str, u64>, Diagnostic> {
    run_pass_with::<P>(f, &Options::defaults(P::OPTIONS))
}

/// As [`run_pass`], with options.
///
/// # Errors
/// The errors of the pass, and options that do not go together.
pub fn run_pass_with<P: FunctionPass>(
    f: &mut Function,
    options: &Options,
) -> Result<IndexMap<&'static str, u64>, Diagnostic> {
    let mut pass = P::default();
    pass.configure(options).map_err(Diagnostic::error)?;
    let (mut analyses, mut output) = (Analyses::default(), Output::default());
    f.set_provenance(Some(f.ctx().symbol(P::NAME)));
    let result = pass.run(f, &mut PassContext::new(None, &mut analyses, &mut output));
    f.set_provenance(None);
    match output.errors.into_iter().next() {
        Some(error) => Err(error),
        None => result.map(|()| output.counts),
    }
}

/// A configured pass, ready to be run once.
pub(crate) enum AnyPass {
    Function(Box<RunFunction>),
    Loop(Box<RunLoop>),
    Module(Box<RunModule>),
}

type RunFunction = dyn FnOnce(&mut Function, &mut PassContext<'_>) -> PassResult;
/// Runs on some loops, or on all.
type RunLoop = dyn FnOnce(&mut Function, Option<&[Block]>, &mut PassContext<'_>) -> PassResult;
type RunModule = dyn FnOnce(&mut Module, &mut PassContext<'_>) -> PassResult;

/// Declares the struct of a pass and makes its doc comment available to the program, as the
/// constant `PAGE` of the struct, so that the comment is the only source for `regraft passes`.
///
/// ```
/// use regraft_ir::Function;
/// use regraft_passes::{FunctionPass, PassContext, PassResult, pass};
///
/// pass! {
///     /// Does nothing.
///     ///
///     /// It shows how a pass is documented.
///     #[derive(Default)]
///     pub struct Nothing;
/// }
///
/// impl FunctionPass for Nothing {
///     const NAME: &'static str = "nothing";
///     const DOC: &'static str = Self::PAGE;
///
///     fn run(&mut self, _: &mut Function, _: &mut PassContext<'_>) -> PassResult {
///         Ok(())
///     }
/// }
/// assert_eq!(Nothing::PAGE, " Does nothing.\n\n It shows how a pass is documented.\n");
/// ```
#[macro_export]
macro_rules! pass {
    (@split [$($doc:literal)*] [$($attr:tt)*] #[doc = $line:literal] $($rest:tt)*) => {
        $crate::pass! { @split [$($doc)* $line] [$($attr)*] $($rest)* }
    };
    (@split [$($doc:literal)*] [$($attr:tt)*] #[$meta:meta] $($rest:tt)*) => {
        $crate::pass! { @split [$($doc)*] [$($attr)* #[$meta]] $($rest)* }
    };
    (@split [$($doc:literal)*] [$($attr:tt)*] $vis:vis struct $name:ident $($rest:tt)*) => {
        $(#[doc = $doc])*
        $($attr)*
        $vis struct $name $($rest)*

        impl $name {
            /// The doc comment of this pass.
            pub const PAGE: &'static str = concat!($($doc, "\n"),*);
        }
    };
    (#[$($first:tt)*] $($rest:tt)*) => {
        $crate::pass! { @split [] [] #[$($first)*] $($rest)* }
    };
}
