//! Written types to types.

use std::rc::Rc;

use regraft_ir::{Constant, Diagnostic, Loc, Symbol, TypeKind, suggest};

use super::entities::{Binding, StaticValue};
use super::tables::World;
use super::types::{Bound, Rest, Ty, Types, Var, close, has_loose, union};
use crate::definition::{Space, StaticDecl, TypeExpr, TypeExprKind};

/// The message for a `Vararg` that is not the last element of a tuple.
const MISPLACED_REST: &str = "`Vararg` stands only at the end of `Tuple{…}`";

/// Evaluates types, and gathers what is wrong with them.
pub(super) struct Eval<'a> {
    pub world: &'a mut World,
    /// The space in which names are looked up.
    space: Space,
    /// The type parameters in scope: the number of each is its place.
    pub scope: Vec<Bound>,
    pub errors: Vec<Diagnostic>,
}

impl<'a> Eval<'a> {
    pub fn new(world: &'a mut World, space: Space) -> Self {
        Self { world, space, scope: Vec::new(), errors: Vec::new() }
    }

    fn error(&mut self, loc: Loc, message: impl Into<String>, label: &str) -> Ty {
        self.errors.push(Diagnostic::error(message).at_loc(&self.world.types.ctx, loc, label));
        Ty::Any
    }

    /// Brings type parameters into scope.
    pub fn open(&mut self, decls: &[StaticDecl]) {
        for decl in decls {
            let lower = decl.lower.as_ref().map_or(Ty::Bottom, |ty| self.ty(ty));
            let upper = decl.upper.as_ref().map_or(Ty::Any, |ty| self.ty(ty));
            let var = Var(self.scope.len() as u32);
            self.scope.push(Bound { var, name: decl.name, lower, upper });
        }
    }

    /// A type: neither a number nor a `Vararg`.
    pub fn ty(&mut self, expr: &TypeExpr) -> Ty {
        let ty = self.parameter(expr);
        match ty {
            Ty::Value(constant) => {
                let text = self.world.types.ctx.constant_text(constant);
                self.error(
                    expr.loc,
                    format!("expected a type, found the value {text}"),
                    "not a type",
                )
            }
            Ty::Names(_) => {
                self.error(expr.loc, "expected a type, found a tuple of symbols", "not a type")
            }
            ty if self.world.types.rest_of(&ty).is_some() => {
                self.error(expr.loc, MISPLACED_REST, "")
            }
            ty => ty,
        }
    }

    /// The repeated end that is written, if it is one.
    pub fn rest(&mut self, expr: &TypeExpr) -> Option<Rest> {
        match &expr.kind {
            TypeExprKind::Vararg(element) => Some(Rest { element: self.ty(element), count: None }),
            TypeExprKind::Name(name) if !self.scope.iter().any(|bound| bound.name == *name) => {
                match self.world.meaning(*name, self.space) {
                    Binding::Type(ty) | Binding::Const(Constant::Type(ty)) => {
                        self.world.types.rest_of(&self.world.types.ty_of(ty))
                    }
                    _ => None,
                }
            }
            TypeExprKind::Apply(head, args) => match (&head.kind, &**args) {
                (TypeExprKind::Name(name), [element, count @ ..])
                    if self.world.types.ctx.str(*name) == "Vararg" && count.len() <= 1 =>
                {
                    let element = self.ty(element);
                    let count = count.first().map(|count| self.parameter(count));
                    Some(Rest { element, count })
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// A type, or what else can be the parameter of one.
    pub fn parameter(&mut self, expr: &TypeExpr) -> Ty {
        match &expr.kind {
            TypeExprKind::Name(name) => self.name(*name, expr.loc),
            TypeExprKind::Constant(Constant::Type(ty)) => self.world.types.ty_of(*ty),
            TypeExprKind::Constant(constant) => match constant {
                Constant::Str(_) | Constant::Unit | Constant::Func(_) => {
                    let text = self.world.types.ctx.constant_text(*constant);
                    self.error(expr.loc, format!("{text} cannot be the parameter of a type"), "")
                }
                constant => Ty::Value(*constant),
            },
            TypeExprKind::Tuple(items) => {
                let mut names = Vec::new();
                for item in items {
                    match self.parameter(item) {
                        Ty::Value(Constant::Sym(name)) => names.push(name),
                        _ => {
                            return self.error(
                                item.loc,
                                "a tuple as the parameter of a type is one of symbols",
                                "not a symbol",
                            );
                        }
                    }
                }
                Ty::Names(names.into())
            }
            TypeExprKind::Below(_) | TypeExprKind::Above(_) => {
                self.error(expr.loc, "`<:T` and `>:T` stand only within the braces of a type", "")
            }
            TypeExprKind::Vararg(_) => {
                self.error(expr.loc, "`T...` stands only at the end of `Tuple{…}`", "")
            }
            TypeExprKind::TypeOf(of) => self.type_of(of),
            TypeExprKind::Where(body, decls) => {
                let first = self.scope.len();
                self.open(decls);
                let body = self.ty(body);
                let bounds = self.scope.split_off(first);
                let closed = close(&bounds, body);
                self.world.types.normalize(&closed)
            }
            TypeExprKind::Apply(head, args) => self.apply(expr, head, args),
        }
    }

    fn name(&mut self, name: Symbol, loc: Loc) -> Ty {
        if let Some(bound) = self.scope.iter().rev().find(|bound| bound.name == name) {
            return Ty::Var(bound.var);
        }
        let text = self.world.types.ctx.str(name).to_owned();
        match self.world.meaning(name, self.space) {
            Binding::Type(ty) => self.world.types.ty_of(ty),
            Binding::Const(constant) => {
                match self.world.types.parameter_of(&StaticValue::Constant(constant)) {
                    Some(ty) => ty,
                    None => self.error(loc, format!("`{text}` is no type"), "expected a type"),
                }
            }
            Binding::Function(_) => {
                let message = format!("`{text}` is a function, not a type");
                self.error(loc, message, "expected a type")
            }
            Binding::Global { .. } | Binding::Variable { .. } => {
                self.error(loc, format!("`{text}` is a variable, not a type"), "expected a type")
            }
            Binding::Undefined | Binding::Deferred => {
                let mut names: Vec<Symbol> = self.world.type_names();
                names.extend(self.scope.iter().map(|bound| bound.name));
                let ctx = self.world.types.ctx.clone();
                let mut names: Vec<&str> = names.iter().map(|&name| ctx.str(name)).collect();
                // No user can write those of the prelude alone.
                names.retain(|name| !name.starts_with('#'));
                names.sort_unstable();
                let mut error = Diagnostic::error(format!("type `{text}` is not defined")).at_loc(
                    &ctx,
                    loc,
                    "not found",
                );
                if let Some(near) = suggest(&text, names) {
                    error = error.help(format!("did you mean `{near}`?"));
                }
                self.errors.push(error);
                Ty::Any
            }
        }
    }

    fn type_of(&mut self, of: &TypeExpr) -> Ty {
        if let TypeExprKind::Name(name) = &of.kind
            && !self.scope.iter().any(|bound| bound.name == *name)
        {
            let ctx = self.world.types.ctx.clone();
            match self.world.meaning(*name, self.space) {
                Binding::Function(symbol) => return Ty::Concrete(ctx.ty(TypeKind::Fn(symbol))),
                Binding::Const(constant) if !matches!(constant, Constant::Type(_)) => {
                    return self.world.types.ty_of(ctx.constant_type(ctx.constant_id(constant)));
                }
                Binding::Global { ty, .. } => return self.world.types.ty_of(ty),
                Binding::Variable { .. } => {
                    let message =
                        format!("the type of the variable `{}` is not known", ctx.str(*name));
                    return self.error(of.loc, message, "not a constant");
                }
                Binding::Undefined | Binding::Deferred => {
                    let message = format!("`{}` is not defined", ctx.str(*name));
                    return self.error(of.loc, message, "not found");
                }
                Binding::Const(_) | Binding::Type(_) => {}
            }
        }
        match self.parameter(of) {
            Ty::Value(constant) => {
                let constant = self.world.types.ctx.constant_id(constant);
                self.world.types.ty_of(self.world.types.ctx.constant_type(constant))
            }
            ty => Ty::TypeOf(Rc::new(ty)),
        }
    }

    fn apply(&mut self, expr: &TypeExpr, head: &TypeExpr, args: &[TypeExpr]) -> Ty {
        if self.rest(expr).is_some() {
            return self.error(expr.loc, MISPLACED_REST, "");
        }
        let base = self.ty(head);
        let first = self.scope.len();
        let applied = if base == super::builtin::any_tuple() {
            let (mut elements, mut rest) = (Vec::new(), None);
            for (i, arg) in args.iter().enumerate() {
                match self.rest(arg) {
                    Some(found) if i + 1 == args.len() => rest = Some(found),
                    Some(_) => {
                        self.error(arg.loc, "`T...` stands only at the end of `Tuple{…}`", "");
                    }
                    None => elements.push(self.argument(arg, true)),
                }
            }
            self.world.types.tuple(elements, rest)
        } else {
            let union = self.world.types.is_union(&base);
            let args_of: Vec<Ty> = args.iter().map(|arg| self.argument(arg, union)).collect();
            match self.world.types.apply(&base, &args_of) {
                Ok(ty) => ty,
                Err(message) => self.error(expr.loc, message, ""),
            }
        };
        // What `<:T` stood for.
        let opened = self.scope.split_off(first);
        if opened.is_empty() {
            return applied;
        }
        let closed = close(&opened, applied);
        self.world.types.normalize(&closed)
    }

    fn argument(&mut self, arg: &TypeExpr, is_type: bool) -> Ty {
        let (lower, upper) = match &arg.kind {
            TypeExprKind::Below(upper) => (Ty::Bottom, self.ty(upper)),
            TypeExprKind::Above(lower) => (self.ty(lower), Ty::Any),
            _ if is_type => return self.ty(arg),
            _ => return self.parameter(arg),
        };
        let var = Var(self.scope.len() as u32);
        // Nobody can write this name.
        let name = self.world.types.ctx.symbol("");
        self.scope.push(Bound { var, name, lower, upper });
        Ty::Var(var)
    }
}

impl World {
    /// Evaluates a type in which no type parameters are in scope.
    ///
    /// # Errors
    /// All that is wrong with it, with the places.
    pub fn eval_type(&mut self, expr: &TypeExpr, space: Space) -> Result<Ty, Vec<Diagnostic>> {
        let mut eval = Eval::new(self, space);
        let ty = eval.ty(expr);
        if eval.errors.is_empty() { Ok(ty) } else { Err(eval.errors) }
    }
}

impl Types {
    /// `base{args…}`.
    pub fn apply(&mut self, base: &Ty, args: &[Ty]) -> Result<Ty, String> {
        if self.is_union(base) {
            return Ok(union(args.iter().cloned()));
        }
        if args.is_empty() {
            return Ok(base.clone());
        }
        if *base == super::builtin::any_tuple() {
            let (rest, elements) = match args.split_last() {
                Some((last, elements)) if let Some(rest) = self.rest_of(last) => {
                    (Some(rest), elements)
                }
                _ => (None, args),
            };
            if elements.iter().any(|ty| self.rest_of(ty).is_some()) {
                return Err(MISPLACED_REST.to_owned());
            }
            return Ok(self.tuple(elements.to_vec(), rest));
        }
        let Ty::Where(bounds, body) = base else {
            return Err(format!("{} takes no type parameters", self.name(base)));
        };
        if args.len() > bounds.len() {
            let (name, most, got) = (self.name(base), bounds.len(), args.len());
            let plural = if most == 1 { "" } else { "s" };
            return Err(format!("{name} takes {most} type parameter{plural}, found {got}"));
        }
        let replace = |var: Var| {
            let index = bounds.iter().position(|b| b.var == var)?;
            args.get(index).cloned()
        };
        for (bound, arg) in bounds.iter().zip(args) {
            let upper = bound.upper.substitute(&replace);
            let lower = bound.lower.substitute(&replace);
            if has_loose(arg) || has_loose(&upper) || has_loose(&lower) {
                continue;
            }
            let is_type = !matches!(arg, Ty::Value(_) | Ty::Names(_));
            let within = self.is_subtype(arg, &upper) && self.is_subtype(&lower, arg);
            if upper == Ty::Any && lower == Ty::Bottom {
                continue;
            }
            if !is_type || !within {
                return Err(format!(
                    "in {}, expected {}, found {}",
                    self.name(base),
                    self.name_of_bounds(bound, &lower, &upper),
                    self.name(arg)
                ));
            }
        }
        let rest: Vec<Bound> = bounds[args.len()..]
            .iter()
            .map(|b| Bound {
                var: b.var,
                name: b.name,
                lower: b.lower.substitute(&replace),
                upper: b.upper.substitute(&replace),
            })
            .collect();
        let body = body.substitute(&replace);
        let applied = if rest.is_empty() { body } else { close(&rest, body) };
        Ok(self.normalize(&applied))
    }

    /// The repeated end of a tuple that `Vararg`, `Vararg{T}` or `Vararg{T, N}` stands for.
    pub fn rest_of(&self, ty: &Ty) -> Option<Rest> {
        let (bounds, body): (&[Bound], &Ty) = match ty {
            Ty::Where(bounds, body) => (bounds, body),
            ty => (&[], ty),
        };
        let Ty::App(family, args) = body else { return None };
        let [element, count] = &**args else { return None };
        if *family != self.well_known.vararg {
            return None;
        }
        let bound = |ty: &Ty| bounds.iter().find(|bound| *ty == Ty::Var(bound.var));
        let element = bound(element).map_or(element, |bound| &bound.upper).clone();
        let count = bound(count).is_none().then(|| count.clone());
        Some(Rest { element, count })
    }

    /// `Vararg{T}` or `Vararg{T, N}`, which stands for the repeated end of a tuple.
    pub fn vararg(&self, rest: &Rest) -> Ty {
        let params = &self.family(self.well_known.vararg).params;
        let count = rest.count.clone().unwrap_or_else(|| Ty::Var(params[1].var));
        let whole = Ty::App(self.well_known.vararg, [rest.element.clone(), count].into());
        if rest.count.is_none() { close(&params[1..], whole) } else { whole }
    }

    /// Returns whether it is what the name `Union` alone means.
    fn is_union(&self, ty: &Ty) -> bool {
        matches!(ty, Ty::App(family, _) if *family == self.well_known.union)
    }

    fn name_of_bounds(&self, bound: &Bound, lower: &Ty, upper: &Ty) -> String {
        let name = self.ctx.str(bound.name);
        match (lower, upper) {
            (Ty::Bottom, upper) => format!("{name}<:{}", self.name(upper)),
            (lower, Ty::Any) => format!("{name}>:{}", self.name(lower)),
            (lower, upper) => format!("{}<:{name}<:{}", self.name(lower), self.name(upper)),
        }
    }
}
