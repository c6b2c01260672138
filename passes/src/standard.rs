//! All passes that come with Regraft, in one place.

use crate::registry::PassRegistry;
use crate::{builtin, transforms};

impl PassRegistry {
    /// The passes that come with Regraft.
    pub fn standard() -> Self {
        let mut registry = Self::new();
        builtin::register(&mut registry);
        transforms::register(&mut registry);
        registry
    }
}
