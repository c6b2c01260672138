//! `print`, which knows the tape plan as well.

use regraft_ir::{Function, Module};
use regraft_passes::analysis::printable::{PRINTABLE, Printable, flags};
use regraft_passes::{FunctionPass, OptionDef, Options, PassContext, PassResult, builtin, pass};

use crate::reverse::{ReverseOptions, reverse};

/// How the reverse sweep comes to what it needs.
const TAPE_PLAN: Printable = Printable {
    name: "tape-plan",
    doc: "how a reverse sweep would find each value that it needs, and what is kept for it",
    describe: tape_plan,
};

pass! {
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
    ///
    /// `tape-plan` tells how each value is found that the derivative of the function by all its
    /// parameters needs on the way back, and how many bytes are kept in each iteration.
    #[derive(Debug, Default)]
    pub struct Print {
        analyses: Vec<&'static Printable>,
    }
}

impl FunctionPass for Print {
    const NAME: &'static str = "print";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] = &FLAGS;

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        let all = PRINTABLE.iter().chain([const { &TAPE_PLAN }]);
        self.analyses = all.filter(|analysis| options.flag(analysis.name)).collect();
        Ok(())
    }

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        builtin::print(f, &self.analyses, cx);
        Ok(())
    }
}

/// A flag for each analysis.
const FLAGS: [OptionDef; PRINTABLE.len() + 1] = {
    let mut all = flags::<{ PRINTABLE.len() + 1 }>();
    all[PRINTABLE.len()] = OptionDef::flag(TAPE_PLAN.name, false, TAPE_PLAN.doc);
    all
};

/// The plan of the derivative of `f` by all its parameters, or why there is none. Of other functions
/// what is there is known: in parallel runs, what they take and give.
fn tape_plan(f: &Function, cx: &mut PassContext<'_>) -> String {
    let mut module = cx.signatures().map_or_else(|| Module::new(f.ctx()), Module::clone);
    let placed = match module.find(f.name()) {
        Some(id) => module.set(id, f.clone()).map(|_| ()),
        None => module.add(f.clone()).map(|_| ()),
    };
    if let Err(error) = placed {
        return format!("{}\n", error.message());
    }
    let active = vec![true; f.param_types().len()];
    let options = ReverseOptions { describe: true, ..ReverseOptions::default() };
    match reverse(&mut module, f.name(), &active, &options) {
        Ok(made) => {
            let own = made.plans.into_iter().rev().find(|&(name, _)| name == f.name());
            own.map_or_else(String::new, |(_, text)| text)
        }
        Err(errors) => errors.iter().map(|error| format!("none: {error}\n")).collect(),
    }
}
