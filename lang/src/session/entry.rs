//! Calls that name a method to look at.

use regraft_exec::value::{Val, type_name};
use regraft_ir::{Diagnostic, Source, Symbol, Type};
use regraft_syntax::julia::{Ast, Kind};

use super::Session;
use crate::infer::CallError;
use crate::world::Ty;

/// Names a method to look at.
#[derive(Clone, Copy, Debug)]
pub enum Entry<'a> {
    /// The method that a call would run: `foo(1.0, [1.0, 2.0])`. The arguments are evaluated, for their types.
    Call(&'a str),
    /// The method for arguments of these types: `foo(Float64, Vector{Float64})`.
    Types(&'a str),
    /// Either of the two: types are meant if every argument is one, and there is any. The method
    /// for a type itself is named by the type of that: `zero(Type{Float64})`.
    CallOrTypes(&'a str),
}

impl<'a> From<&'a str> for Entry<'a> {
    fn from(call: &'a str) -> Self {
        Self::Call(call)
    }
}

/// A call by types.
#[derive(Clone, Debug)]
pub(super) struct TypedCall {
    pub(super) source: Source,
    pub(super) callee: Type,
    pub(super) args: Vec<Type>,
}

impl TypedCall {
    /// An error that shows the call.
    pub(super) fn error(&self, message: impl Into<String>) -> Diagnostic {
        let text = &self.source.text;
        Diagnostic::error(message).at(&self.source, 0..text.len(), "")
    }

    /// The errors of a call that no method is for.
    pub(super) fn failed(&self, error: CallError) -> Vec<Diagnostic> {
        let text = &self.source.text;
        vec![Diagnostic::from(error).at(&self.source, 0..text.len(), "")]
    }
}

impl Session {
    /// The values of callee and arguments of a call, and its text.
    pub(super) fn parts_of_call(&mut self, text: &str) -> Result<(Source, Val), Vec<Diagnostic>> {
        let mut ast = self.parse("call", text)?;
        let with_keywords = self.ctx.symbol("#with_keywords");
        parts_of_call(&mut ast, with_keywords).map_err(|error| vec![error])?;
        self.refuel();
        let source = ast.source.clone();
        let parts = self.run_ast(ast, false)?;
        Ok((source, parts))
    }

    /// Finds callee and argument types of a call by evaluating all its parts.
    pub(super) fn resolve_entry(&mut self, entry: Entry<'_>) -> Result<TypedCall, Vec<Diagnostic>> {
        self.resolve_callee(entry).map(|(call, _)| call)
    }

    /// The same, with the callee.
    pub(super) fn resolve_callee(
        &mut self,
        entry: Entry<'_>,
    ) -> Result<(TypedCall, Val), Vec<Diagnostic>> {
        let (Entry::Call(text) | Entry::Types(text) | Entry::CallOrTypes(text)) = entry;
        let (source, parts) = self.parts_of_call(text)?;
        let Val::Tuple(parts) = parts else { return Err(vec![no_call(&source, 0..text.len())]) };
        let Some((callee, args)) = parts.items().split_first() else {
            return Err(vec![no_call(&source, 0..text.len())]);
        };
        let is_type = |arg: &Val| matches!(arg, Val::Type(_));
        let entry = match entry {
            Entry::CallOrTypes(text) if !args.is_empty() && args.iter().all(is_type) => {
                Entry::Types(text)
            }
            entry => entry,
        };
        let ctx = &self.ctx;
        let mut call = TypedCall { source, callee: callee.type_of(ctx), args: Vec::new() };
        for arg in args {
            call.args.push(match (entry, arg) {
                (Entry::Call(_) | Entry::CallOrTypes(_), arg) => arg.type_of(ctx),
                (Entry::Types(_), Val::Type(ty)) => self.exact(*ty, &call)?,
                (Entry::Types(_), other) => {
                    let found = type_name(ctx, other.type_of(ctx));
                    let message = format!("{} is a value of type {found}", self.show(other));
                    let help = "an entry is written with types: foo(Float64, Vector{Int64})";
                    return Err(vec![call.error(message).help(help)]);
                }
            });
        }
        let callee = callee.clone();
        Ok((call, callee))
    }

    /// The type itself if values can be of exactly that type.
    fn exact(&self, ty: Type, call: &TypedCall) -> Result<Type, Vec<Diagnostic>> {
        let compiler = self.compiler.borrow();
        match compiler.world.ty_of(ty) {
            Ty::Concrete(ty) => Ok(ty),
            _ => {
                let name = compiler.world.type_name(ty);
                let message = format!("no value is exactly of the type {name}: it is abstract");
                Err(vec![call.error(message).help("say which of the types below it is meant")])
            }
        }
    }
}

/// Makes the tuple of the callee and the arguments of the call that the tree is. Arguments by name are
/// part of the callee.
fn parts_of_call(ast: &mut Ast, with_keywords: Symbol) -> Result<(), Diagnostic> {
    let end = ast.source.text.len();
    let &[statement] = ast.statements() else { return Err(no_call(&ast.source, 0..end)) };
    let span = ast.span(statement);
    let Kind::Call { callee, args } = ast.kind(statement) else {
        return Err(no_call(&ast.source, span.range()));
    };
    let (args, named) = ast.parted(args);
    let mut parts = vec![callee];
    if !named.is_empty() {
        let function = ast.add(Kind::Name(with_keywords), span);
        let named = ast.add(Kind::NamedTuple(named), span);
        let of = ast.add_list(&[callee, named]);
        parts[0] = ast.add(Kind::Call { callee: function, args: of }, span);
    }
    for &arg in ast.list(args) {
        if let Kind::Typed { value: None, .. } = ast.kind(arg) {
            let error = Diagnostic::error("types are written without `::` here");
            let error = error.at(&ast.source, ast.span(arg).range(), "");
            return Err(error.help("an entry looks like this: foo(Float64, Vector{Float64})"));
        }
        parts.push(arg);
    }
    let parts = ast.add_list(&parts);
    let tuple = ast.add(Kind::Tuple(parts), span);
    let statements = ast.add_list(&[tuple]);
    ast.set_statements(statements);
    Ok(())
}

fn no_call(source: &Source, span: std::ops::Range<usize>) -> Diagnostic {
    let error = Diagnostic::error("this is no call of a function").at(source, span, "");
    error.help("write the call whose method is meant: foo(1.0, 2.0)")
}
