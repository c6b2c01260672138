//! Packages: modules that come with the library, and that a program asks for with `using`.
//!
//! Their texts are read as those of the prelude are; nothing of them is there before.

/// A package.
#[derive(Debug)]
pub(crate) struct Package {
    /// The name of its module.
    pub(crate) name: &'static str,
    /// The names and texts of its files, which are run in the module in this order.
    pub(crate) files: &'static [(&'static str, &'static str)],
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
const PACKAGES: [Package; 3] = [
    Package { name: "ChainRules", files: files!["chainrules.jl"] },
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
    },
    Package { name: "MacroTools", files: files!["macrotools.jl"] },
];

/// Returns the package of that name.
pub(crate) fn package(name: &str) -> Option<&'static Package> {
    PACKAGES.iter().find(|package| package.name == name)
}
