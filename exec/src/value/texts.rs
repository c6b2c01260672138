//! The texts of values and types: as Julia shows them, with what a language on top has to say.

use regraft_ir::{Context, Symbol, Type};

use super::val::Val;

/// The names that a language gives to types, functions and values. Answers may not depend on
/// anything but the value.
pub trait Names {
    /// The name of a type, where it is not the one that follows from its parts: `P{Float64}`
    /// for a struct, the name of a type without values.
    fn type_name(&self, ty: Type) -> Option<String> {
        let _ = ty;
        None
    }

    /// The name of a function: `f` for one that is internally called otherwise.
    fn function_name(&self, function: Symbol) -> Option<String> {
        let _ = function;
        None
    }

    /// The name of a variable, function or type that may be meant by one that is not defined.
    fn near(&self, name: Symbol) -> Option<String> {
        let _ = name;
        None
    }

    /// The types that parts of the text of a struct have to say, so that the text says the type of
    /// the struct; `None` if it does not.
    fn implicit(&self, ty: Type) -> Option<Vec<Type>> {
        let _ = ty;
        None
    }

    /// The form in which a value is shown, or with `bare` printed by itself; it is asked for each
    /// struct, mutable or not.
    fn show(&self, value: &Val, bare: bool) -> Option<Shown> {
        let _ = (value, bare);
        None
    }
}

/// The form in which a value is shown.
#[derive(Debug)]
pub enum Shown {
    /// As this text: `1:3`.
    Text(String),
    /// As these texts and values: `1 => 2`.
    Parts(Vec<Part>),
    /// As this other value, which is not asked for again: a view as a copy of its elements.
    As(Val),
}

/// A part of what a value is shown as.
#[derive(Debug)]
pub enum Part {
    /// This text.
    Text(&'static str),
    /// The name of this type.
    Type(Type),
    /// The text of this value.
    Value(Val),
}

/// Makes texts of values and types.
#[derive(Clone, Copy)]
pub struct Texts<'a> {
    /// The context of types and symbols.
    pub ctx: &'a Context,
    /// The names of a language, if there is one.
    pub names: Option<&'a dyn Names>,
}

impl<'a> Texts<'a> {
    /// Without names of a language.
    pub fn plain(ctx: &'a Context) -> Self {
        Self { ctx, names: None }
    }

    /// The name of a function in messages: `@f` in IR.
    pub fn function_text(self, name: Symbol) -> String {
        let text = self.ctx.str(name);
        match self.names {
            Some(names) => names.function_name(name).unwrap_or_else(|| text.to_owned()),
            None => format!("@{text}"),
        }
    }
}

impl std::fmt::Debug for Texts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Texts").field("names", &self.names.is_some()).finish_non_exhaustive()
    }
}
