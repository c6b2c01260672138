//! Types as Julia names them: `Vector{Float64}`, `P{<:Real}`, `Union{Int64, Nothing}`.

use regraft_exec::{Val, show_string};
use regraft_ir::{Constant, Symbol, Type, TypeKind};

use super::types::{Bound, FamilyId, Rest, Ty, Types, Var};

/// Names that are longer are cut.
const MAX_COUNT: usize = 2000;

struct Namer<'a> {
    types: &'a Types,
    out: String,
    scope: Vec<(Var, Symbol)>,
}

impl Types {
    /// The name of a type.
    pub fn name(&self, ty: &Ty) -> String {
        self.name_within(ty, &[])
    }

    /// The name of a type in which these parameters may occur.
    pub fn name_within(&self, ty: &Ty, bounds: &[Bound]) -> String {
        let mut namer = self.namer(bounds);
        namer.ty(ty);
        namer.out
    }

    fn namer(&self, bounds: &[Bound]) -> Namer<'_> {
        let scope = bounds.iter().map(|b| (b.var, b.name)).collect();
        Namer { types: self, out: String::new(), scope }
    }

    /// The name of a value as the parameter of a type.
    pub fn constant_name(&self, constant: Constant) -> String {
        match constant {
            Constant::Type(ty) => self.name(&self.ty_of(ty)),
            Constant::Func(name) => self.ctx.str(name).to_owned(),
            Constant::Sym(name) => show_string(&self.ctx, &Val::Sym(name)),
            other => self.ctx.constant_text(other),
        }
    }
}

impl Namer<'_> {
    fn list(&mut self, items: &[Ty]) {
        for (i, item) in items.iter().enumerate() {
            self.out.push_str(if i == 0 { "" } else { ", " });
            self.ty(item);
        }
    }

    fn family(&mut self, family: FamilyId, args: &[Ty]) {
        let types = self.types;
        let known = types.well_known;
        let name = types.ctx.str(types.family(family).name);
        if let ("Complex", [Ty::Concrete(part @ (Type::F64 | Type::F32))]) = (name, args) {
            let short = if *part == Type::F64 { "ComplexF64" } else { "ComplexF32" };
            return self.out.push_str(short);
        }
        if let [element, Ty::Value(Constant::I64(rank @ 1..=2))] = args {
            let short = match (name, rank) {
                ("Array", 1) => "Vector",
                ("Array", _) => "Matrix",
                ("AbstractArray", 1) => "AbstractVector",
                ("AbstractArray", _) => "AbstractMatrix",
                ("DenseArray", 1) => "DenseVector",
                ("DenseArray", _) => "DenseMatrix",
                _ => "",
            };
            if !short.is_empty() {
                self.out.push_str(short);
                return self.braces(std::slice::from_ref(element));
            }
        }
        if family == known.named
            && let [Ty::Names(names), Ty::Tuple(elements, None)] = args
        {
            return self.fields(names.iter().copied().zip(elements.iter().cloned()));
        }
        self.out.push_str(if family == known.reference { "Base.RefValue" } else { name });
        if !args.is_empty() {
            self.braces(args);
        }
    }

    fn braces(&mut self, args: &[Ty]) {
        self.out.push('{');
        self.list(args);
        self.out.push('}');
    }

    fn fields(&mut self, fields: impl Iterator<Item = (Symbol, Ty)>) {
        self.out.push_str("@NamedTuple{");
        for (i, (name, ty)) in fields.enumerate() {
            self.out.push_str(if i == 0 { "" } else { ", " });
            self.out.push_str(self.types.ctx.str(name));
            if ty != Ty::Any {
                self.out.push_str("::");
                self.ty(&ty);
            }
        }
        self.out.push('}');
    }

    fn concrete(&mut self, ty: Type) {
        let types = self.types;
        match types.ctx.kind(ty) {
            TypeKind::Tuple(elements) => {
                let elements: Vec<Ty> = elements.iter().map(|&ty| types.ty_of(ty)).collect();
                self.out.push_str("Tuple");
                self.braces(&elements);
            }
            TypeKind::Named(fields) => {
                self.fields(fields.iter().map(|&(name, ty)| (name, types.ty_of(ty))));
            }
            &TypeKind::Fn(name) => {
                let name = types.ctx.str(name);
                let name = name.strip_prefix("Main.").unwrap_or(name);
                self.out.push_str(&format!("typeof({name})"));
            }
            _ => match types.member(ty) {
                Some((family, args)) => self.family(family, &args),
                None => match types.ctx.struct_of(ty) {
                    Some(def) => self.out.push_str(types.ctx.str(def.name)),
                    None => self.out.push_str(&types.ctx.type_text(ty)),
                },
            },
        }
    }

    fn ty(&mut self, ty: &Ty) {
        if self.out.len() > MAX_COUNT {
            if !self.out.ends_with('…') {
                self.out.push('…');
            }
            return;
        }
        match ty {
            Ty::Any => self.out.push_str("Any"),
            Ty::Bottom => self.out.push_str("Union{}"),
            Ty::Concrete(ty) => self.concrete(*ty),
            Ty::App(family, args) => self.family(*family, args),
            Ty::Tuple(elements, rest) => {
                self.out.push_str("Tuple");
                if *ty == super::builtin::any_tuple() {
                    return;
                }
                self.out.push('{');
                self.list(elements);
                if let Some(rest) = rest {
                    self.out.push_str(if elements.is_empty() { "" } else { ", " });
                    self.out.push_str("Vararg{");
                    self.ty(&rest.element);
                    if let Some(count) = &rest.count {
                        self.out.push_str(", ");
                        self.ty(count);
                    }
                    self.out.push('}');
                }
                self.out.push('}');
            }
            Ty::Union(members) => {
                self.out.push_str("Union");
                self.braces(members);
            }
            Ty::Var(var) => match self.scope.iter().rev().find(|(other, _)| other == var) {
                Some(&(_, name)) => self.out.push_str(self.types.ctx.str(name)),
                None => self.out.push('_'),
            },
            Ty::Where(bounds, body) => self.where_type(bounds, body),
            Ty::TypeOf(of) => {
                self.out.push_str("Type");
                self.braces(std::slice::from_ref(of));
            }
            Ty::Value(constant) => self.out.push_str(&self.types.constant_name(*constant)),
            Ty::Names(names) => {
                self.out.push('(');
                for &name in names.iter() {
                    self.out.push_str(&format!(":{}, ", self.types.ctx.str(name)));
                }
                let keep = if names.len() == 1 { 1 } else { 2.min(names.len() * 2) };
                self.out.truncate(self.out.len() - keep);
                self.out.push(')');
            }
        }
    }

    fn where_type(&mut self, bounds: &[Bound], body: &Ty) {
        // `Vector`, `P`, `NTuple`: names that leave the parameters out.
        if let Ty::TypeOf(of) = body
            && let (Ty::Var(var), [bound]) = (&**of, bounds)
            && *var == bound.var
            && bound.upper == Ty::Any
        {
            return self.out.push_str("Type");
        }
        if let Ty::App(family, args) = body {
            let types = self.types;
            let all = types.family(*family);
            let whole = super::types::close(bounds, body.clone());
            if whole == all.bare {
                let known = types.well_known;
                let name = if *family == known.reference { "Ref" } else { types.ctx.str(all.name) };
                return self.out.push_str(name);
            }
            if let Some(Rest { element, count: None }) = types.rest_of(&whole) {
                self.out.push_str("Vararg");
                return self.braces(&[element]);
            }
            if let ([Ty::Var(var), Ty::Value(Constant::I64(1..=2))], [bound]) = (&**args, bounds)
                && *var == bound.var
                && bound.upper == Ty::Any
                && bound.lower == Ty::Bottom
            {
                let start = self.out.len();
                self.family(*family, args);
                if let Some(brace) = self.out[start..].find('{')
                    && !self.out[start..].starts_with(types.ctx.str(all.name))
                {
                    self.out.truncate(start + brace);
                    return;
                }
                self.out.truncate(start);
            }
        }
        let outside = self.scope.len();
        // A parameter that is used once reads best in place: `Vector{<:Real}`.
        let mut later = Vec::new();
        let mut in_place: Vec<(Var, Ty)> = Vec::new();
        for bound in bounds {
            let name = self.types.ctx.str(bound.name);
            if name.is_empty() && bound.lower == Ty::Bottom {
                in_place.push((bound.var, bound.upper.clone()));
            } else {
                later.push(bound);
                self.scope.push((bound.var, bound.name));
            }
        }
        for (var, upper) in in_place {
            let text = format!("<:{}", self.types.name(&upper));
            self.scope.push((var, self.types.ctx.symbol(&text)));
        }
        self.ty(body);
        self.clause(&later);
        self.scope.truncate(outside);
    }

    /// Type parameters as they stand behind `where`; nothing if there are none.
    fn clause(&mut self, bounds: &[&Bound]) {
        let (open, close) = match bounds.len() {
            0 => return,
            1 => (" where ", ""),
            _ => (" where {", "}"),
        };
        self.out.push_str(open);
        for (i, bound) in bounds.iter().enumerate() {
            self.out.push_str(if i == 0 { "" } else { ", " });
            self.bound(bound);
        }
        self.out.push_str(close);
    }

    fn bound(&mut self, bound: &Bound) {
        if bound.lower != Ty::Bottom && bound.upper != Ty::Any {
            self.ty(&bound.lower);
            self.out.push_str("<:");
        }
        self.out.push_str(self.types.ctx.str(bound.name));
        if bound.upper != Ty::Any {
            self.out.push_str("<:");
            self.ty(&bound.upper);
        } else if bound.lower != Ty::Bottom {
            self.out.push_str(">:");
            self.ty(&bound.lower);
        }
    }
}

impl Types {
    /// Type parameters as they stand behind `where`; empty if there are none.
    pub fn where_clause(&self, bounds: &[Bound]) -> String {
        let mut namer = self.namer(bounds);
        namer.clause(&bounds.iter().collect::<Vec<_>>());
        namer.out
    }
}
