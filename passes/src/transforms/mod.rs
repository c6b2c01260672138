//! The transformations that come with Regraft, one file each.

use crate::PassRegistry;

/// Adds the transformations of this folder.
pub fn register(registry: &mut PassRegistry) {
    let _ = registry;
}
