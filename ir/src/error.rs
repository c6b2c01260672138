//! Errors of the API, for IR that is used wrongly; they name the entities.

use std::fmt;

/// The result of a mutation.
pub type IrResult<T> = Result<T, IrError>;

/// The reason why a mutation was refused. The function is as it was.
#[derive(Clone, PartialEq, Eq)]
pub struct IrError(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kind: IrErrorKind,
    message: String,
}

/// The kinds of [`IrError`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IrErrorKind {
    /// The value was deleted.
    StaleValue,
    /// The block was deleted.
    StaleBlock,
    /// The value belongs to another function; or a constant, a type or attributes belong to another
    /// context.
    ForeignValue,
    /// The block belongs to another function.
    ForeignBlock,
    /// The value or block cannot be deleted, because it is used.
    StillUsed,
    /// Operands do not fit the op, or an edge does not fit its target.
    Mismatch,
    /// The request cannot be met for this kind of value or block.
    Unsuitable,
    /// A name is taken, or is no name.
    Name,
    /// A limit is exceeded.
    Limit,
}

impl IrError {
    /// The kind of error.
    pub fn kind(&self) -> IrErrorKind {
        self.0.kind
    }

    /// The message: a sentence without a full stop.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    #[cold]
    pub(crate) fn new(kind: IrErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into() }))
    }
}

impl fmt::Display for IrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for IrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.0.kind, self.0.message)
    }
}

impl std::error::Error for IrError {}
