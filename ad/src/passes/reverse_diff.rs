//! Reverse mode as a pass.

use regraft_ir::Module;
use regraft_passes::{ModulePass, OptionDef, Options, PassContext, PassResult, pass};

use super::subject::{numbers, subject};
use crate::reverse::{Checkpoints, PlanKind, ReverseOptions, reverse};

pass! {
    /// Adds the derivative of a function in reverse mode.
    ///
    /// Of `@f` these functions are made: `@f.forward`, which computes the result and keeps on a
    /// tape what is needed later; `@f.reverse`, which goes back and gives the cotangents of the
    /// parameters; and `@f.vjp`, which does one after the other. Arrays, refs and mutable structs
    /// come with a shadow of the same shape, in which their cotangents are added up.
    ///
    /// ```text
    /// func @f(%1: f64) -> f64 {     =>     func @f.vjp(%1: f64, %2: f64)
    /// ^1:                                      -> tuple<f64, tuple<f64>>
    ///   %2: f64 = math.sin %1                ..
    ///   return %2                            %5: f64 = math.cos %1
    /// }                                      %6: f64 = arith.mul %2, %5
    /// ```
    ///
    /// `plan=naive` keeps everything that is needed, on stacks. `wrt` names the parameters whose
    /// cotangents are asked for by number, as in `wrt="1,3"`; by itself all of them. `function`
    /// names the function; by itself it is the first of the module.
    ///
    /// With `snapshots=n` or `memory=bytes`, counted loops that would keep something keep so many
    /// states instead, or states of so many bytes in all, and make iterations again from these
    /// (binomial checkpointing, as in `revolve`).
    /// With `tape-plan` it is printed
    /// how the reverse sweep comes to each value that it needs.
    #[derive(Debug, Default)]
    pub struct ReverseDiff {
        plan: PlanKind,
        checkpoints: Option<Checkpoints>,
        wrt: Option<Vec<usize>>,
        function: String,
        print: bool,
    }
}

impl ModulePass for ReverseDiff {
    const NAME: &'static str = "reverse-diff";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] = &[
        OptionDef::choice("plan", &["best", "naive"], "best", "what is kept"),
        OptionDef::text("wrt", "", "the numbers of the parameters that count, or all"),
        OptionDef::text("function", "", "the function, or the first one"),
        OptionDef::int("snapshots", 0, "how many states of a loop are kept at one time; 0: all")
            .between(0, i64::MAX),
        OptionDef::int("memory", 0, "how many bytes the states of a loop may take; 0: any")
            .between(0, i64::MAX),
        OptionDef::flag("tape-plan", false, "print how values are kept or found again"),
    ];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        self.plan = match options.text("plan") {
            "naive" => PlanKind::Naive,
            _ => PlanKind::Best,
        };
        self.checkpoints = match (options.int("snapshots"), options.int("memory")) {
            (0, 0) => None,
            (n, 0) => Some(Checkpoints::Snapshots(n.unsigned_abs())),
            (0, bytes) => Some(Checkpoints::Bytes(bytes.unsigned_abs())),
            _ => return Err("`snapshots` and `memory` are two ways to say the same".to_owned()),
        };
        self.wrt = numbers(options.text("wrt"))?;
        self.function = options.text("function").trim_start_matches('@').to_owned();
        self.print = options.flag("tape-plan");
        Ok(())
    }

    fn run(&mut self, module: &mut Module, cx: &mut PassContext<'_>) -> PassResult {
        let (name, active) = subject(module, &self.function, self.wrt.as_deref())
            .map_err(|e| cx.wrong_options(e))?;
        let options = ReverseOptions {
            plan: self.plan,
            checkpoints: self.checkpoints,
            describe: self.print,
            ..ReverseOptions::default()
        };
        match reverse(module, name, &active, &options) {
            Ok(made) => {
                cx.add("bytes kept per iteration", made.bytes_per_iteration as u64);
                if self.print {
                    for (name, text) in &made.plans {
                        cx.print(&format!("tape-plan of @{}:\n", module.ctx().str(*name)));
                        for line in text.lines() {
                            cx.print(&format!("  {line}\n"));
                        }
                    }
                }
            }
            Err(errors) => errors.into_iter().for_each(|error| cx.error(error)),
        }
        Ok(())
    }
}
