//! Run-time errors: what went wrong, where, and through which calls.

use std::fmt;
use std::sync::Arc;

use regraft_dialects::semantics::{self, Number};
use regraft_ir::{Context, Diagnostic, Symbol, Type};
use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};

use crate::chain::{Chain, Path};
use crate::trace::{add_callers, add_chain, calls};
use crate::value::{Array, IndexError, Shared, Texts, Val};

/// The reason why an instruction stops the program.
#[derive(Debug)]
pub struct Trap(Box<TrapData>);

#[derive(Debug)]
struct TrapData {
    kind: ErrorKind,
    message: String,
    help: Option<String>,
    /// The diagnostic that is shown instead, with places of its own.
    cause: Option<Diagnostic>,
    /// The value that was thrown, if it is no message.
    thrown: Option<Val>,
    /// The values that the message speaks of.
    values: SmallVec<[Val; 2]>,
    /// The calls that led to the handler that throws it on.
    path: Option<Path>,
}

/// The kinds of run-time errors.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ErrorKind {
    /// An op trapped; the name is that of Julia's exception, such as `DivideError`.
    Trap(&'static str),
    /// `core.throw` was run.
    Thrown,
    /// A call, or the program itself, names a function that there is not.
    UnknownFunction,
    /// The arguments that a program is started with do not fit its entry.
    Arguments,
    /// More instructions were run than allowed.
    Fuel,
    /// Calls were nested deeper than allowed.
    Depth,
    /// Values took more memory than allowed.
    Memory,
    /// Somebody asked for a stop.
    Interrupted,
    /// The module cannot be run as it is.
    Module,
}

impl Trap {
    /// A trap with the name of Julia's exception and a sentence without a full stop.
    #[cold]
    pub fn new(name: &'static str, message: impl Into<String>) -> Self {
        Self::of_kind(ErrorKind::Trap(name), message)
    }

    /// A trap of any kind.
    #[cold]
    pub fn of_kind(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(TrapData {
            kind,
            message: message.into(),
            help: None,
            cause: None,
            thrown: None,
            values: SmallVec::new(),
            path: None,
        }))
    }

    /// Makes a trap of the errors that prevented code from being made: the first of them is shown
    /// with its own places, and the chain of calls below it.
    #[cold]
    pub fn because(causes: &[Diagnostic]) -> Self {
        let message = causes.first().map_or("there is no code for it", Diagnostic::message);
        let mut trap = Self::of_kind(ErrorKind::Thrown, message);
        trap.0.cause = causes.first().cloned();
        trap
    }

    /// A value is not of the type that is needed.
    #[cold]
    pub fn type_error(message: impl Into<String>) -> Self {
        Self::new("TypeError", message)
    }

    /// Makes the trap of `core.throw`: a string is the message.
    #[cold]
    pub fn thrown(value: &Val) -> Self {
        match value {
            Val::Str(text) => Self::of_kind(ErrorKind::Thrown, text.as_str()),
            value => {
                let mut trap = Self::of_kind(ErrorKind::Thrown, "");
                trap.0.thrown = Some(value.clone());
                trap
            }
        }
    }

    /// Adds the values that the message speaks of, for those who catch it.
    #[must_use]
    pub fn with_values(mut self, values: impl IntoIterator<Item = Val>) -> Self {
        self.0.values = values.into_iter().collect();
        self
    }

    /// Sets the calls that led to the handler that throws it on.
    #[must_use]
    pub(crate) fn thrown_on(mut self, path: Option<Path>) -> Self {
        self.0.path = path;
        self
    }

    /// Takes the calls that led to a handler that throws it on, if the handler's function has at
    /// least `depth` frames below it.
    pub(crate) fn take_path(&mut self, depth: usize) -> Option<Path> {
        self.0.path.take_if(|path| path.depth >= depth)
    }

    /// Returns the value that a handler of `core.try` is called with, unless it goes through all of
    /// them.
    pub(crate) fn caught(&self, ctx: &Context) -> Option<Val> {
        let TrapData { kind, message, thrown, values, .. } = &*self.0;
        if thrown.is_some() {
            return thrown.clone();
        }
        let mut message = message.as_str();
        let name = match kind {
            ErrorKind::Thrown => match message.split_once(": ") {
                Some((name, rest)) if is_exception(name) => {
                    message = rest;
                    name
                }
                _ => "ErrorException",
            },
            ErrorKind::Trap(name) => name,
            ErrorKind::UnknownFunction => "UndefVarError",
            ErrorKind::Depth => "StackOverflowError",
            ErrorKind::Memory => "OutOfMemoryError",
            ErrorKind::Interrupted => "InterruptException",
            ErrorKind::Fuel | ErrorKind::Arguments | ErrorKind::Module => return None,
        };
        let values = Val::tuple(values.iter().cloned());
        Some(Val::tuple([Val::Sym(ctx.symbol(name)), Val::str(message), values]))
    }

    /// Adds what the user might do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(help.into());
        self
    }

    /// Its kind.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

/// Returns whether a message begins with the name of an exception.
fn is_exception(name: &str) -> bool {
    name.chars().all(char::is_alphanumeric)
        && ["Error", "Exception", "Mismatch"].iter().any(|end| name.ends_with(end))
}

impl From<semantics::Trap> for Trap {
    #[cold]
    fn from(trap: semantics::Trap) -> Self {
        let text = trap.to_string();
        // The name is put in front when the error is shown.
        let message = text.strip_prefix(trap.name()).unwrap_or(&text);
        let number = |number| match number {
            Number::Int(x) => Val::I64(x),
            Number::Float(x) => Val::F64(x),
        };
        let values: SmallVec<[Val; 2]> = match trap {
            semantics::Trap::Inexact { value, to } => smallvec![Val::Type(to), number(value)],
            semantics::Trap::Domain { value, .. } => smallvec![number(value)],
            _ => SmallVec::new(),
        };
        Self::new(trap.name(), message.trim_start_matches([':', ' '])).with_values(values)
    }
}

/// A value is not of the type that code asserts; a bool is asserted where one decides.
#[cold]
pub(crate) fn wrong_type(texts: Texts<'_>, value: &Val, want: Type) -> Trap {
    let (have, expected) = (texts.type_of(value), texts.type_text(want));
    Trap::type_error(match (texts.names, want) {
        (None, _) => format!("expected a value of type {expected}, found {have}"),
        (_, Type::BOOL) => format!("non-boolean ({have}) used in boolean context"),
        _ => format!("in typeassert, expected {expected}, got a value of type {have}"),
    })
}

/// The error of entries that cannot be put into the index of a hash table.
#[cold]
pub(crate) fn index_error(texts: Texts<'_>, hashes: &Shared<Array>, error: IndexError) -> Trap {
    match error {
        IndexError::NoEntry(at) => bounds_error(texts, hashes, &[at]),
        IndexError::SameArray => {
            semantics::Trap::Argument("the hashes are the index itself").into()
        }
        IndexError::Full => semantics::Trap::Argument("the index has no room").into(),
    }
}

/// An index of an array is out of bounds, or there are more or fewer than it has dimensions.
#[cold]
pub(crate) fn bounds_error(texts: Texts<'_>, array: &Shared<Array>, indices: &[i64]) -> Trap {
    let dims = array.dims();
    let within = indices.len() == dims.len()
        && indices.iter().zip(&dims).all(|(&i, &dim)| i >= 1 && i as u64 <= dim as u64);
    if within {
        return Trap::type_error("the array has elements of another type");
    }
    let sizes: Vec<String> = dims.iter().map(ToString::to_string).collect();
    let size = match &sizes[..] {
        [] => "0-dimensional".to_owned(),
        [length] => format!("{length}-element"),
        sizes => sizes.join("×"),
    };
    let ty = texts.type_text(texts.ctx.array_type(array.element(), array.rank()));
    let values = indices.iter().map(|&i| Val::I64(i));
    let index = match indices {
        &[i] => Val::I64(i),
        _ => Val::tuple(values),
    };
    out_of_bounds(&format!("{size} {ty}"), indices).with_values([Val::Array(array.clone()), index])
}

/// An index of something of this description is out of bounds.
#[cold]
pub(crate) fn out_of_bounds(what: &str, indices: &[i64]) -> Trap {
    let indices: Vec<String> = indices.iter().map(ToString::to_string).collect();
    let indices = indices.join(", ");
    Trap::new("BoundsError", format!("attempt to access {what} at index [{indices}]"))
}

/// The text of a value that was thrown. An exception with nothing but a message is shown as that.
fn thrown_text(texts: Texts<'_>, value: &Val) -> String {
    if let Val::Struct(fields) = value
        && let [Val::Str(message)] = fields.items()
    {
        let name = texts.type_text(fields.ty());
        let name = name.trim_start_matches('@');
        return match name {
            "ErrorException" => message.as_str().to_owned(),
            name => format!("{name}: {}", message.as_str()),
        };
    }
    let text = texts.show_within(value, LONGEST);
    text.unwrap_or_else(|| "a value that is too large to show".to_owned())
}

/// The longest value that an error shows, in bytes.
const LONGEST: usize = 1 << 16;

/// A run that did not end well.
#[derive(Clone)]
pub struct ExecError(Box<Inner>);

#[derive(Clone)]
struct Inner {
    ctx: Arc<Context>,
    kind: ErrorKind,
    message: String,
    help: Option<String>,
    cause: Option<Diagnostic>,
    /// The value that was thrown, if it is no message.
    thrown: Option<Val>,
    /// The values that the message speaks of.
    values: SmallVec<[Val; 2]>,
    chain: Chain,
    /// The names of functions in a language.
    names: Vec<(Symbol, String)>,
}

impl ExecError {
    /// The error of a trap at the innermost spot of `chain`.
    #[cold]
    pub fn new(ctx: &Arc<Context>, trap: Trap, chain: Chain) -> Self {
        let TrapData { kind, message, help, cause, thrown, values, .. } = *trap.0;
        let (ctx, names) = (Arc::clone(ctx), Vec::new());
        Self(Box::new(Inner { ctx, kind, message, help, cause, thrown, values, chain, names }))
    }

    /// The value that was thrown, if it is no message.
    pub fn thrown(&self) -> Option<&Val> {
        self.0.thrown.as_ref()
    }

    /// The trap alone, to be raised again in a program that the one that failed ran for.
    pub fn into_trap(self) -> Trap {
        let Inner { kind, message, help, cause, thrown, values, .. } = *self.0;
        let (values, path) = (values, None);
        Trap(Box::new(TrapData { kind, message, help, cause, thrown, values, path }))
    }

    /// Sets the message, for a value that was thrown.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.0.message = message.into();
        self
    }

    /// Its kind.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The message, with the name of the exception in front if an op trapped or calls were nested
    /// too deep.
    pub fn message(&self) -> String {
        match self.0.kind {
            // As Julia has it: `DomainError with -1.0:`.
            ErrorKind::Trap("DomainError") => format!("DomainError {}", self.0.message),
            ErrorKind::Trap(name) => format!("{name}: {}", self.0.message),
            ErrorKind::Depth => format!("StackOverflowError: {}", self.0.message),
            _ => self.0.message.clone(),
        }
    }

    /// The instruction that it happened at, and the calls that led there.
    pub fn chain(&self) -> &Chain {
        &self.0.chain
    }

    /// The report: the line of the user's program, and a note for each caller. If it happened in
    /// the library, the line is the one that led there, and notes say where it was.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let Inner { ctx, help, cause, chain, names, .. } = &*self.0;
        let name = |function| {
            let name = names.iter().find(|(symbol, _)| *symbol == function);
            name.map_or_else(|| format!("@{}", ctx.str(function)), |(_, name)| name.clone())
        };
        if let Some(cause) = cause
            && (!cause.labels().is_empty() || !cause.notes().is_empty())
        {
            return add_callers(cause.clone(), ctx, chain, name);
        }
        let report = Diagnostic::error(self.message());
        let help = help.as_deref().or(cause.as_ref().and_then(Diagnostic::help_text));
        let report = match help {
            Some(help) => report.help(help),
            None => report,
        };
        add_chain(report, ctx, chain, name)
    }

    /// Says how a language names the functions of the chain, and shows a value that was thrown.
    #[must_use]
    pub(crate) fn named(mut self, texts: Texts<'_>) -> Self {
        let Inner { chain, names, thrown, message, .. } = &mut *self.0;
        if let Some(thrown) = thrown {
            *message = thrown_text(texts, thrown);
        }
        if texts.names.is_some() {
            let (spots, _) = calls(texts.ctx, chain);
            let functions: FxHashSet<Symbol> = spots.iter().map(|spot| spot.function).collect();
            let name = |function| (function, texts.function_text(function));
            *names = functions.into_iter().map(name).collect();
        }
        self
    }
}

impl fmt::Display for ExecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

impl fmt::Debug for ExecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_diagnostic().render(false))
    }
}

impl std::error::Error for ExecError {}

impl From<ExecError> for Diagnostic {
    fn from(error: ExecError) -> Self {
        error.to_diagnostic()
    }
}
