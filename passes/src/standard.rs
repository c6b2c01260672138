//! All passes that come with Regraft and the pipelines that are made of them, in one place.

use crate::registry::{NamedPipeline, PassRegistry};
use crate::{builtin, transforms};

/// Cheap cleaning: what a person would do to generated code before reading it.
pub const O1: NamedPipeline = NamedPipeline {
    name: "O1",
    text: "fix{max=4}(simplify-cfg, fold, cse, dce)",
    doc: "Cleans up, cheaply.\n\n\
          Constants are folded, expressions that are there twice are computed once, and what \
          is not used goes.\n",
};

/// Everything that makes ordinary programs fast without changing one bit of what they compute:
/// what `--stage optimized` shows.
pub const O2: NamedPipeline = NamedPipeline {
    name: "O2",
    text: "fix{max=4}(simplify-cfg, fold, cse, dce)",
    doc: "Makes ordinary programs fast.\n\n\
          This is what the `optimized` stage of a program has been through. Results stay the \
          same, bit for bit.\n",
};

impl PassRegistry {
    /// The passes that come with Regraft, and the pipelines [`O1`] and [`O2`].
    pub fn standard() -> Self {
        let mut registry = Self::new();
        builtin::register(&mut registry);
        transforms::register(&mut registry);
        registry.add_pipeline(O1);
        registry.add_pipeline(O2);
        registry
    }
}
