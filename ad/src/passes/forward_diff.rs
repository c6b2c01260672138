//! Forward mode as a pass.

use regraft_ir::Module;
use regraft_passes::{ModulePass, OptionDef, Options, PassContext, PassResult, pass};

use super::subject::{numbers, subject};
use crate::forward::{ForwardOptions, forward};

pass! {
    /// Adds the derivative of a function in forward mode.
    ///
    /// Of `@f` it is `@f.jvp`, which takes a tangent for each parameter beside its value, and gives
    /// the tangent of the result beside the result. Arrays, refs and mutable structs come with a
    /// shadow of the same shape, to which happens what happens to them.
    ///
    /// ```text
    /// func @f(%x: f64) -> f64 {     =>     func @f.jvp(%x: f64, %dx: f64) -> tuple<f64, f64> {
    /// ^1:                                  ^1:
    ///   %1: f64 = math.sin %x                %3: f64 = math.sin %x
    ///   return %1                            %4: f64 = math.cos %x
    /// }                                      %5: f64 = arith.mul %dx, %4
    ///                                        %6: tuple<f64, f64> = core.tuple %3, %5
    ///                                        return %6
    ///                                      }
    /// ```
    ///
    /// `width` is the number of directions at once: with more than one, each tangent is a tuple of
    /// so many. `wrt` names the parameters that have tangents by number, as in `wrt="1,3"`; by
    /// itself all of them. `function` names the function; by itself it is the first of the module.
    /// The functions that it calls are differentiated too.
    #[derive(Debug, Default)]
    pub struct ForwardDiff {
        width: usize,
        wrt: Option<Vec<usize>>,
        function: String,
    }
}

impl ModulePass for ForwardDiff {
    const NAME: &'static str = "forward-diff";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] = &[
        OptionDef::int("width", 1, "how many directions at once").between(1, 64),
        OptionDef::text("wrt", "", "the numbers of the parameters that count, or all"),
        OptionDef::text("function", "", "the function, or the first one"),
    ];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        self.width = usize::try_from(options.int("width")).unwrap_or(1);
        self.wrt = numbers(options.text("wrt"))?;
        self.function = options.text("function").trim_start_matches('@').to_owned();
        Ok(())
    }

    fn run(&mut self, module: &mut Module, cx: &mut PassContext<'_>) -> PassResult {
        let (name, active) = subject(module, &self.function, self.wrt.as_deref())
            .map_err(|e| cx.wrong_options(e))?;
        let options = ForwardOptions { width: self.width, ..ForwardOptions::default() };
        let before = module.functions().len();
        if let Err(errors) = forward(module, name, &active, &options) {
            errors.into_iter().for_each(|error| cx.error(error));
        }
        cx.add("functions made", (module.functions().len() - before) as u64);
        Ok(())
    }
}
