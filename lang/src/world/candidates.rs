//! Messages for calls that no method fits, or for which several are ambiguous.

use std::fmt::{self, Write as _};

use regraft_ir::{Loc, Location, Type, TypeKind};

use super::entities::{Binding, MethodId};
use super::tables::Method;
use super::tables::World;
use super::types::Ty;
use crate::definition::Space;

/// The methods of something that can be called, the most specific ones first.
///
/// Its text is that of Julia's `methods(f)`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MethodList {
    /// The callee that they are methods of: `generic function "f" from Main`.
    pub of: String,
    /// The methods.
    pub methods: Vec<MethodLine>,
}

/// A method in a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MethodLine {
    /// Name, parameters and type parameters: `f(x::T) where T<:Real`.
    pub signature: String,
    /// File and line, after `Base` if it is one of the library.
    pub place: String,
    /// The place of its definition.
    pub loc: Loc,
}

impl fmt::Display for MethodLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.signature)?;
        if !self.place.is_empty() {
            write!(f, "\n     @ {}", self.place)?;
        }
        Ok(())
    }
}

impl fmt::Display for MethodList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.methods.len();
        let plural = if count == 1 { "" } else { "s" };
        write!(f, "# {count} method{plural} for {}", self.of)?;
        if count > 0 {
            f.write_str(":")?;
        }
        let width = count.to_string().len();
        for (number, method) in (1..).zip(&self.methods) {
            let number = format!("[{number}]");
            write!(f, "\n {number:>0$} {1}", width + 2, method.signature)?;
            if !method.place.is_empty() {
                write!(f, "\n{:1$}@ {2}", "", width + 4, method.place)?;
            }
        }
        Ok(())
    }
}

/// The function of the prelude that is called if nothing takes the arguments of a call by name; it has no
/// methods.
const NO_METHOD_WITH_KEYWORDS: &str = "#no_method_with_keywords";

/// The most candidates that are shown.
const MAX_SHOWN: usize = 4;

impl World {
    /// Returns the error of a call that no method is for: a message, and lines of help, which list
    /// the methods that come closest.
    pub fn no_method(&mut self, callee: Type, args: &[Type]) -> (String, Vec<String>) {
        let (callee, args, named) = match (self.ctx.kind(callee), args) {
            (&TypeKind::Fn(name), &[named, of, ref args @ ..])
                if self.ctx.str(name) == NO_METHOD_WITH_KEYWORDS =>
            {
                (of, args, Some(named))
            }
            _ => (callee, args, None),
        };
        self.know_methods_of(callee);
        let name = self.callee_text(callee);
        let call = self.call_text(callee, args, named);
        let message = format!("no method matching {call}");
        let mut methods: Vec<&Method> = self.methods_of(callee).collect();
        if methods.is_empty() {
            let what = match self.ctx.kind(callee) {
                TypeKind::Fn(_) => format!("the function `{name}` has no methods"),
                TypeKind::TypeOf(_) => format!("the type `{name}` has no constructors"),
                _ => format!("objects of type {} are not callable", self.type_name(callee)),
            };
            return (message, vec![what]);
        }
        let all = methods.len();
        methods.sort_by_cached_key(|method| self.distance(method, args));
        let mut help = Vec::new();
        if named.is_some() {
            help.push(format!("no method of `{name}` for these takes arguments by name"));
        }
        help.push("closest candidates are:".to_owned());
        help.extend(methods.iter().take(MAX_SHOWN).map(|method| self.method_text(method)));
        if all > MAX_SHOWN {
            help.push(format!("and {} more", all - MAX_SHOWN));
        }
        (message, help)
    }

    /// Returns the error of a call that several methods are for, none of them more specific than
    /// all others.
    pub fn ambiguous(
        &self,
        callee: Type,
        args: &[Type],
        methods: &[MethodId],
    ) -> (String, Vec<String>) {
        let call = self.call_text(callee, args, None);
        let message = format!("{call} is ambiguous");
        let mut help = vec!["candidates:".to_owned()];
        let candidates = methods.iter().filter_map(|&id| self.method(id));
        help.extend(candidates.take(MAX_SHOWN).map(|method| self.method_text(method)));
        help.push(format!("a method {call} would decide it"));
        (message, help)
    }

    /// The distance of a method from taking arguments: the number of them if it is another, and how
    /// many do not fit; then the order of definition.
    fn distance(&self, method: &Method, args: &[Type]) -> (bool, usize, (u64, Loc)) {
        let signature = &method.signature;
        let takes = signature.takes(args.len() + 1);
        let params = signature.params[1..].iter();
        let rest = signature.rest.iter().map(|rest| &rest.element).cycle();
        let unfit = args
            .iter()
            .zip(params.chain(rest))
            .filter(|(ty, param)| {
                let ty = self.types.ty_of(**ty);
                self.types.is_disjoint(&ty, param, &signature.bounds)
            })
            .count();
        let off = args.len().abs_diff(method.params);
        (!takes, unfit + if takes { 0 } else { off }, (method.born, method.loc))
    }

    /// A call as `f(::Int64; a::Bool)`; `named` is the type of the named tuple of what is given by name.
    fn call_text(&self, callee: Type, args: &[Type], named: Option<Type>) -> String {
        let args: Vec<String> =
            args.iter().map(|&ty| format!("::{}", self.type_name(ty))).collect();
        let mut text = format!("{}({}", self.callee_text(callee), args.join(", "));
        if let Some(TypeKind::Named(fields)) = named.map(|named| self.ctx.kind(named)) {
            let fields: Vec<String> = fields
                .iter()
                .map(|&(name, ty)| format!("{}::{}", self.ctx.str(name), self.type_name(ty)))
                .collect();
            let _ = write!(text, "; {}", fields.join(", "));
        }
        text.push(')');
        text
    }

    fn callee_text(&self, callee: Type) -> String {
        match *self.ctx.kind(callee) {
            TypeKind::Fn(name) => {
                let name = self.ctx.str(name);
                name.strip_prefix("Main.").unwrap_or(name).to_owned()
            }
            TypeKind::TypeOf(of) => self.type_name(of),
            _ => match self.closure_name(callee) {
                Some(name) => self.ctx.str(name).to_owned(),
                None => format!("(::{})", self.type_name(callee)),
            },
        }
    }

    /// The methods that there are of a callee now. O(methods²).
    pub fn method_list(&mut self, callee: Type) -> MethodList {
        self.know_methods_of(callee);
        let mut sorted: Vec<&Method> = Vec::new();
        for method in self.methods_of(callee) {
            let is_below =
                |other: &&Method| self.types.is_more_specific(&method.signature, &other.signature);
            let at = sorted.iter().position(is_below).unwrap_or(sorted.len());
            sorted.insert(at, method);
        }
        let place = |method: &Method| match self.ctx.location(method.loc) {
            Location::File { file, line, .. } => match method.space {
                Space::Base => format!("Base {file}:{line}"),
                Space::Main | Space::Module(_) => format!("{file}:{line}"),
            },
            _ => String::new(),
        };
        let methods = sorted.into_iter().map(|method| MethodLine {
            signature: self.signature_text(method),
            place: place(method),
            loc: method.loc,
        });
        let methods = methods.collect();
        let name = self.callee_text(callee);
        let of = match *self.ctx.kind(callee) {
            TypeKind::Fn(function) => {
                let own = self.bindings.own(Space::Base, function);
                let module = if own == Binding::Undefined || self.ctx.str(function) != name {
                    "Main"
                } else {
                    "Base"
                };
                format!("generic function \"{name}\" from {module}")
            }
            TypeKind::TypeOf(_) => "type constructor".to_owned(),
            _ if self.closure_name(callee).is_some() => {
                format!("anonymous function \"{name}\"")
            }
            _ => "callable object".to_owned(),
        };
        MethodList { of, methods }
    }

    /// A method as it was written: `foo(x::Int64, y::T) where T<:Real at file.jl:3`.
    pub fn method_text(&self, method: &Method) -> String {
        let place = if method.loc.is_known() {
            format!(" at {}", self.ctx.loc_text(method.loc))
        } else {
            String::new()
        };
        format!("{}{place}", self.signature_text(method))
    }

    fn signature_text(&self, method: &Method) -> String {
        let signature = &method.signature;
        let name_of = |ty: &Ty| self.types.name_within(ty, &signature.bounds);
        let mut parts = Vec::new();
        let types = signature.params[1..].iter().chain(signature.rest.iter().map(|r| &r.element));
        for (i, ty) in types.enumerate() {
            let name = method.names.get(i).copied().flatten();
            let mut text = name.map_or(String::new(), |name| self.ctx.str(name).to_owned());
            let is_rest = i + 1 == signature.params.len();
            if *ty != Ty::Any || (text.is_empty() && !is_rest) {
                text.push_str(&format!("::{}", name_of(ty)));
            }
            if is_rest {
                text.push_str("...");
            }
            parts.push(text);
        }
        let callee = match &signature.params[0] {
            Ty::TypeOf(of) if matches!(**of, Ty::Var(_)) => {
                format!("(::{})", name_of(&signature.params[0]))
            }
            Ty::TypeOf(of) => name_of(of),
            callee if method.takes_callee && self.is_plain_instance(callee) => {
                format!("(::{})", name_of(callee))
            }
            _ => self.ctx.str(method.name).to_owned(),
        };
        let clause = self.types.where_clause(&signature.bounds);
        format!("{callee}({}){clause}", parts.join(", "))
    }

    fn is_plain_instance(&self, callee: &Ty) -> bool {
        let Some(family) = self.types.head(callee) else { return true };
        !matches!(&self.types.family(family).kind, super::types::FamilyKind::Struct(info) if info.closure)
    }

    /// The methods that there are of a callee now, in order of definition.
    pub fn methods_of(&self, callee: Type) -> impl Iterator<Item = &Method> + '_ {
        self.tables_of(callee, &[])
            .into_iter()
            .filter_map(|key| self.tables.get(&key))
            .flat_map(|table| table.methods.iter())
            .map(|&id| &self.methods[id])
    }
}
