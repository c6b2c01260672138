//! Attributes that the ops of several dialects take.

use crate::ir::{AttrDef, Type, TypePattern};

/// A promise that the indices are in bounds.
pub(crate) const INBOUNDS: &[AttrDef] =
    &[AttrDef { name: "inbounds", pattern: TypePattern::Is(Type::BOOL), required: false }];
