//! What to say of a call that no method, or more than one, is for.

use regraft_ir::{Type, TypeKind};

use super::method::Method;
use super::types::Ty;
use super::{MethodId, World};

/// As many candidates are shown.
const MOST_SHOWN: usize = 4;

impl World {
    /// What to say of a call that no method is for: a message, and lines of help, which list the
    /// methods that come closest.
    pub fn no_method(&self, callee: Type, args: &[Type]) -> (String, Vec<String>) {
        let name = self.callee_text(callee);
        let message = format!("no method matching {}", self.call_text(callee, args));
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
        let mut help = vec!["closest candidates are:".to_owned()];
        help.extend(methods.iter().take(MOST_SHOWN).map(|method| self.method_text(method)));
        if all > MOST_SHOWN {
            help.push(format!("and {} more", all - MOST_SHOWN));
        }
        (message, help)
    }

    /// What to say of a call that several methods are for, none of them more specific than all
    /// others.
    pub fn ambiguous(
        &self,
        callee: Type,
        args: &[Type],
        methods: &[MethodId],
    ) -> (String, Vec<String>) {
        let message = format!("{} is ambiguous", self.call_text(callee, args));
        let mut help = vec!["candidates:".to_owned()];
        let candidates = methods.iter().filter_map(|&id| self.method(id));
        help.extend(candidates.take(MOST_SHOWN).map(|method| self.method_text(method)));
        let args: Vec<String> =
            args.iter().map(|&ty| format!("::{}", self.type_name(ty))).collect();
        let name = self.callee_text(callee);
        help.push(format!("a method {name}({}) would decide it", args.join(", ")));
        (message, help)
    }

    /// How far a method is from taking arguments: the number of them if it is another, and how
    /// many do not fit; then the order of definition.
    fn distance(&self, method: &Method, args: &[Type]) -> (bool, usize, u64) {
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
        (!takes, unfit + if takes { 0 } else { off }, method.born)
    }

    fn call_text(&self, callee: Type, args: &[Type]) -> String {
        let args: Vec<String> =
            args.iter().map(|&ty| format!("::{}", self.type_name(ty))).collect();
        format!("{}({})", self.callee_text(callee), args.join(", "))
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

    /// A method as it was written: `foo(x::Int64, y::T) where T<:Real at file.jl:3`.
    pub fn method_text(&self, method: &Method) -> String {
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
        let place = if method.loc.is_known() {
            format!(" at {}", self.ctx.loc_text(method.loc))
        } else {
            String::new()
        };
        format!("{callee}({}){clause}{place}", parts.join(", "))
    }

    fn is_plain_instance(&self, callee: &Ty) -> bool {
        let Some(family) = self.types.head(callee) else { return true };
        !matches!(&self.types.family(family).kind, super::types::FamilyKind::Struct(info) if info.closure)
    }

    /// The methods that there are of a callee now, in order of definition.
    pub fn methods_of(&self, callee: Type) -> impl Iterator<Item = &Method> + '_ {
        self.tables_of(callee)
            .into_iter()
            .filter_map(|key| self.tables.get(&key))
            .flat_map(|table| table.methods.iter())
            .map(|id| &self.methods[id.0 as usize])
            .filter(|method| method.died.is_none())
    }
}
