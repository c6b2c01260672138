//! Packages: modules that come with the library, and that a program asks for with `using`.
//!
//! Their texts are read as those of the prelude are; nothing of them is there before.

use regraft_ir::Diagnostic;

use crate::start_up::Setup;
use crate::world::World;

/// A package.
#[derive(Debug)]
pub(crate) struct Package {
    /// The name of its module.
    pub(crate) name: &'static str,
    /// The names and texts of its files, which are run in the module in this order.
    pub(crate) files: &'static [(&'static str, &'static str)],
    /// Changes the world when the files were run.
    pub(crate) setup: Setup,
}

/// Leaves the world as it is.
fn nothing(_: &mut World) -> Result<(), Vec<Diagnostic>> {
    Ok(())
}

macro_rules! files {
    ($($file:literal),*) => {
        &[$((
            concat!("packages/", $file),
            include_str!(concat!("../packages/", $file)),
        )),*]
    };
}

/// All packages.
const PACKAGES: [Package; 7] = [
    Package {
        name: "Cassette",
        files: files!["cassette.jl"],
        setup: crate::dynamo::context::define,
    },
    Package { name: "ChainRules", files: files!["chainrules.jl"], setup: nothing },
    Package {
        name: "Contexts",
        files: files![
            "contexts/calls.jl",
            "contexts/count.jl",
            "contexts/trace.jl",
            "contexts/memoize.jl",
            "contexts/log.jl",
            "contexts/sandbox.jl",
            "contexts/coverage.jl",
            "contexts/nonfinite.jl",
            "contexts/operations.jl",
            "contexts/precision.jl",
            "contexts/faults.jl",
            "contexts/intervals.jl",
            "contexts/taint.jl",
            "contexts/exports.jl"
        ],
        setup: nothing,
    },
    Package {
        name: "IRTools",
        files: files![
            "irtools/ir.jl",
            "irtools/pipe.jl",
            "irtools/run.jl",
            "irtools/control.jl",
            "irtools/passes.jl",
            "irtools/irpass.jl",
            "irtools/slots.jl",
            "irtools/show.jl",
            "irtools/all.jl"
        ],
        setup: nothing,
    },
    Package { name: "LoggingProfiler", files: files!["loggingprofiler.jl"], setup: nothing },
    Package { name: "PassesOfContexts", files: files!["passes_of_contexts.jl"], setup: nothing },
    Package { name: "MacroTools", files: files!["macrotools.jl"], setup: nothing },
];

/// Returns the package of that name.
pub(crate) fn package(name: &str) -> Option<&'static Package> {
    PACKAGES.iter().find(|package| package.name == name)
}
