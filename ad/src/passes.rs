//! Differentiation as passes.

use std::sync::LazyLock;

use regraft_ir::{Diagnostic, Extensions, Function, Module, Symbol, suggest};
use regraft_passes::{ModulePass, OptionDef, Options, PassContext, PassRegistry, PassResult, pass};

use crate::forward::ForwardDiff;
use crate::print::TAPE_PLAN;
use crate::reverse::{Checkpoints, PlanKind, ReverseOptions, reverse};

/// Adds the passes of this crate to a registry, and the tape plan to what `print` shows.
///
/// # Panics
/// If it has a pass of the same name.
#[track_caller]
pub fn add_passes(registry: &mut PassRegistry) {
    registry.add_module::<ForwardDiff>();
    registry.add_module::<ReverseDiff>();
    registry.add_printable(TAPE_PLAN);
}

/// Everything that comes with the dialects, with this crate, and with those below it: the built-in
/// tables, the passes that differentiate included.
pub fn extensions() -> Extensions {
    static ALL: LazyLock<Extensions> = LazyLock::new(|| {
        let mut all = Extensions::new(regraft_dialects::registry());
        add_passes(all.edit());
        all
    });
    ALL.clone()
}

/// The passes that come with Regraft, those of this crate included.
pub fn registry() -> PassRegistry {
    extensions().get::<PassRegistry>().clone()
}

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
                Ok(())
            }
            Err(errors) => {
                for error in errors {
                    cx.error(error);
                }
                Ok(())
            }
        }
    }
}

/// The function of that name, or the first one, and which of its parameters are named by numbers.
///
/// # Errors
/// If there is no such function or parameter.
pub(crate) fn subject(
    module: &Module,
    name: &str,
    wrt: Option<&[usize]>,
) -> Result<(Symbol, Vec<bool>), Diagnostic> {
    let found = if name.is_empty() { module.functions().next() } else { module.function(name) };
    let Some(f) = found else {
        if name.is_empty() {
            return Err(Diagnostic::error("there is no function to differentiate"));
        }
        let error = Diagnostic::error(format!("there is no function @{name} to differentiate"));
        return Err(match suggest(name, module.functions().map(Function::name_str)) {
            Some(near) => error.help(format!("did you mean `function={near}`?")),
            None => error,
        });
    };
    Ok((f.name(), active(wrt, f.param_types().len())?))
}

/// Numbers from 1, separated by commas; `None` for no text.
pub(crate) fn numbers(text: &str) -> Result<Option<Vec<usize>>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let parts = text.split(',').map(str::trim);
    let numbers = parts.map(|part| match part.parse::<usize>() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err(format!("`{part}` is no number of a parameter; the first one is 1")),
    });
    numbers.collect::<Result<_, _>>().map(Some)
}

/// Which of `count` parameters are named by numbers.
fn active(wrt: Option<&[usize]>, count: usize) -> Result<Vec<bool>, Diagnostic> {
    let Some(wrt) = wrt else { return Ok(vec![true; count]) };
    let mut active = vec![false; count];
    for &n in wrt {
        match active.get_mut(n - 1) {
            Some(place) => *place = true,
            None => {
                let message = format!("there is no parameter {n}: the function has {count}");
                return Err(Diagnostic::error(message));
            }
        }
    }
    Ok(active)
}
