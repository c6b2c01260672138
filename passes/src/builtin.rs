//! The passes that the manager itself offers: `verify` and `print`.

use std::sync::Arc;

use regraft_ir::{Function, verify_function, verify_function_in};

use crate::analysis::printable::{PRINTABLE, Printable};
use crate::options::OptionDef;
use crate::pass::{AnyPass, FunctionPass, PassContext, PassResult};
use crate::pass_info::{PassInfo, PassKind};
use crate::registry::{PassRegistry, is_pass_name};

/// Adds the passes of this file.
pub fn register(registry: &mut PassRegistry) {
    registry.add::<Verify>();
    for &printable in PRINTABLE {
        registry.add_printable(printable);
    }
}

crate::pass! {
    /// Prints each function as it is at this place of the pipeline, or what analyses say of it.
    ///
    /// Nothing is changed. The text goes to where the report of the pipeline goes, function
    /// after function in module order. With the names of analyses as options, these are printed
    /// instead of the function:
    ///
    /// ```text
    /// print{loop-forest}     =>     loop-forest of @f:
    ///                                 loop ^2: blocks ^2, ^3; latches ^3; exits ^2 -> ^4
    /// ```
    #[derive(Debug, Default)]
    pub struct Print {
        analyses: Vec<Printable>,
    }
}

impl PassRegistry {
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
                let mut print = Print { analyses: asked.copied().collect() };
                Ok(AnyPass::Function(Box::new(move |f, cx| print.run(f, cx))))
            }),
        };
        self.passes.insert(Print::NAME, print);
    }
}

impl FunctionPass for Print {
    const NAME: &'static str = "print";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        if self.analyses.is_empty() {
            cx.print(&f.to_string());
        }
        for analysis in &self.analyses {
            let text = (analysis.describe)(f, cx);
            cx.print(&format!("{} of @{}:\n", analysis.name, f.name_str()));
            for line in text.lines() {
                cx.print(&format!("  {line}\n"));
            }
        }
        Ok(())
    }
}

crate::pass! {
    /// Verifies each function, and stops the pipeline if one is not valid.
    ///
    /// The manager verifies what a pass has changed by itself. This pass is for where that is
    /// switched off.
    #[derive(Debug, Default)]
    pub struct Verify;
}

impl FunctionPass for Verify {
    const NAME: &'static str = "verify";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let verified = match cx.signatures() {
            Some(module) => verify_function_in(f, module),
            None => verify_function(f),
        };
        for error in verified.err().unwrap_or_default() {
            cx.error(error);
        }
        Ok(())
    }
}
