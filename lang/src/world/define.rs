//! Definitions of methods and abstract types.

use std::rc::Rc;
use std::sync::Arc;

use regraft_ir::{Constant, Diagnostic, Function, Loc, Symbol, TypeKind};

use super::builtin::bare;
use super::entities::{Binding, MethodId};
use super::eval::Eval;
use super::method::{Signature, TableKey, TableOwner};
use super::tables::Method;
use super::tables::{DynamoFn, World};
use super::types::{Bound, Family, FamilyId, FamilyKind, Ty, Var};
use crate::definition::{
    AbstractDecl, Callee, MethodDef, MethodHead, Space, StaticDecl, TypeExpr, TypeExprKind,
};
use crate::lower::DeferredBody;
use crate::phases::{Phase, enter};

/// The function that is called for calls with arguments by name: with a named tuple of these, the callee,
/// and the other arguments.
pub(super) const KEYWORD_CALL: &str = "#kwcall";

/// The body of a method.
pub(super) enum Body {
    Lowered(Arc<Function>),
    DeferredBody(DeferredBody),
    Dynamo(DynamoFn),
}

impl World {
    /// Defines a method, in the place of one whose signature takes the same arguments.
    /// Specialisations whose lookups now have another answer become invalid.
    ///
    /// O(methods of the callee), and the lookups that it may answer are answered anew.
    ///
    /// # Errors
    /// If a type that it mentions is none, or the callee can have no methods: all that is wrong,
    /// with the places.
    pub fn define(&mut self, def: MethodDef) -> Result<MethodId, Vec<Diagnostic>> {
        for closure in &def.closures {
            self.register_closure(closure)?;
        }
        self.add_method(&def.head, Body::Lowered(def.body))
    }

    /// Defines a method of the prelude whose code is lowered when [`World::body`] is first asked
    /// for it; the body in the definition is not looked at.
    ///
    /// # Errors
    /// The errors of [`World::define`].
    pub fn define_later(
        &mut self,
        def: &MethodDef,
        code: DeferredBody,
    ) -> Result<MethodId, Vec<Diagnostic>> {
        self.define_later_at(def, code, self.age + 1)
    }

    /// The same of a method that is there from an age on.
    pub(super) fn define_later_at(
        &mut self,
        def: &MethodDef,
        code: DeferredBody,
        born: u64,
    ) -> Result<MethodId, Vec<Diagnostic>> {
        self.add_method_at(&def.head, Body::DeferredBody(code), born, def.head.space)
    }

    /// Lowers the code of a method, if that is not done.
    ///
    /// # Errors
    /// The errors of its code. It is tried again the next time.
    pub(crate) fn lower_now(&mut self, id: MethodId) -> Result<(), Vec<Diagnostic>> {
        let Some(method) = self.methods.get_mut(id) else { return Ok(()) };
        let Some(deferred) = method.deferred_body.take() else { return Ok(()) };
        let born = method.born;
        let first = self.methods.count();
        let _phase = enter(Phase::Lower);
        let done = deferred.lower().and_then(|(body, closures)| {
            closures.iter().try_for_each(|closure| self.register_closure(closure))?;
            Ok(body)
        });
        // They are as old as the method that makes them.
        self.methods.since(first).for_each(|method| method.born = born);
        let method = &mut self.methods[id];
        match done {
            Ok(body) => method.body = Some(body),
            Err(errors) => {
                method.deferred_body = Some(deferred);
                return Err(errors);
            }
        }
        Ok(())
    }

    pub(super) fn add_method(
        &mut self,
        new: &MethodHead,
        body: Body,
    ) -> Result<MethodId, Vec<Diagnostic>> {
        self.add_method_at(new, body, self.age + 1, new.space)
    }

    /// Adds a method that is there from an age on; names in its body are looked up in `body_space`.
    pub(super) fn add_method_at(
        &mut self,
        new: &MethodHead,
        body: Body,
        born: u64,
        body_space: Space,
    ) -> Result<MethodId, Vec<Diagnostic>> {
        let (callee, name) = self.callee_name(new).map_err(|error| vec![error])?;
        let captured = match &new.callee {
            Callee::Closure(name) => self.closures.get(name).map(|&(family, _)| family),
            _ => None,
        };
        let mut eval = Eval::new(self, new.space);
        let owner = captured.and_then(|family| open_captures(&mut eval, family, new));
        eval.open(&new.statics);
        let callee = match (callee, &new.callee) {
            _ if owner.is_some() => owner.unwrap_or(Ty::Any),
            (Some(ty), _) => ty,
            (None, Callee::Type(expr)) => Ty::TypeOf(Rc::new(eval.ty(expr))),
            (None, Callee::Instance(expr)) => eval.ty(expr),
            (None, _) => Ty::Any,
        };
        let mut params = vec![callee.clone()];
        let mut names = Vec::with_capacity(new.params.len() + 2);
        if new.keywords {
            let ctx = &eval.world.ctx;
            let function = ctx.ty(TypeKind::Fn(ctx.symbol(KEYWORD_CALL)));
            params.splice(0..0, [Ty::Concrete(function), Ty::Any]);
            names.extend([None, None]);
        }
        names.extend(new.params.iter().map(|param| param.name));
        let mut rest = None;
        for (i, param) in new.params.iter().enumerate() {
            if i + 1 == new.params.len() {
                rest = eval.rest(&param.ty);
                if rest.is_some() {
                    break;
                }
            }
            let ty = eval.ty(&param.ty);
            if new.vararg && i + 1 == new.params.len() {
                rest = Some(super::Rest { element: ty, count: None });
            } else {
                params.push(ty);
            }
        }
        let (mut errors, bounds) = (eval.errors, eval.scope);
        let owner = self.table_for(&callee).filter(|_| !is_unfit(&callee));
        let Some(table) = owner.map(|owner| TableKey { owner, keywords: new.keywords }) else {
            if errors.is_empty() {
                let name = self.types.name_within(&callee, &bounds);
                let message = format!("cannot add methods to {name}");
                errors.push(Diagnostic::error(message).at_loc(&self.ctx, new.loc, "defined here"));
            }
            return Err(errors);
        };
        if !errors.is_empty() {
            return Err(errors);
        }
        let name = name.unwrap_or_else(|| {
            let of = match &callee {
                Ty::TypeOf(of) => of,
                other => other,
            };
            match self.types.head(of) {
                Some(family) => self.types.family(family).name,
                None => self.ctx.symbol(&self.types.name_within(&callee, &bounds)),
            }
        });
        let (mut lowered, mut deferred_body, mut dynamo) = (None, None, None);
        match body {
            Body::Lowered(body) => lowered = Some(body),
            Body::DeferredBody(deferred) => deferred_body = Some(deferred),
            Body::Dynamo(f) => dynamo = Some(f),
        }
        let vararg = rest.is_some();
        let statics = bounds.iter().map(|bound| bound.name).collect();
        let signature = Signature::new(bounds.into(), params, rest);
        Ok(self.insert(Method {
            name,
            takes_callee: !new.keywords
                && matches!(new.callee, Callee::Instance(_) | Callee::Closure(_)),
            params: names.len(),
            vararg,
            statics,
            inline: new.inline,
            space: body_space,
            loc: new.loc,
            born,
            signature,
            names: names.into(),
            table,
            dynamo,
            deferred_body,
            body: lowered,
        }))
    }

    fn insert(&mut self, method: Method) -> MethodId {
        let key = method.table;
        let is_new = method.born > self.age;
        if is_new {
            self.define_deferred(key);
        }
        self.age = self.age.max(method.born);
        let table = self.tables.entry(key).or_default();
        let same = table.methods.iter().position(|&id| {
            self.types.same_signature(&self.methods[id].signature, &method.signature)
        });
        if let Some(same) = same {
            let old = table.methods[same];
            let place = |method: &Method| (method.born, method.loc);
            if !is_new && place(&self.methods[old]) > place(&method) {
                // It was replaced before anyone asked for it.
                return old;
            }
            table.methods.remove(same);
            self.methods.remove(old);
            self.replaced.push(old);
        }
        let id = self.methods.push(method);
        table.methods.push(id);
        if let TableKey { owner: TableOwner::Function(function), keywords: false } = key
            && is_new
        {
            self.note_rule(function, id);
        }
        self.ask_again(key, id, is_new);
        id
    }

    /// The type of the callee if its name alone tells it, and its name as it is shown.
    fn callee_name(
        &mut self,
        new: &MethodHead,
    ) -> Result<(Option<Ty>, Option<Symbol>), Diagnostic> {
        let name = match &new.callee {
            Callee::Function(name) => *name,
            Callee::Closure(name) => {
                let Some(&(family, shown)) = self.closures.get(name) else {
                    let message = format!("there is no closure `{}`", self.ctx.str(*name));
                    return Err(Diagnostic::error(message));
                };
                return Ok((Some(self.types.family(family).bare.clone()), Some(shown)));
            }
            Callee::Type(TypeExpr { kind: TypeExprKind::Name(name), .. }) => {
                return Ok((None, Some(*name)));
            }
            Callee::Type(_) | Callee::Instance(_) => return Ok((None, None)),
        };
        let text = self.ctx.str(name).to_owned();
        let (space, name, imported) = self.home_of(new, name)?;
        let own = self.own(space, name);
        let binding = match own {
            Binding::Undefined if imported => {
                let (_, help) = self.undefined(name, space);
                let text = if new.extends_base { format!("Base.{text}") } else { text };
                let mut error = Diagnostic::error(format!("`{text}` is not defined")).at_loc(
                    &self.ctx,
                    new.loc,
                    "defined here",
                );
                for help in help {
                    error = error.help(help);
                }
                return Err(error);
            }
            // A type of the prelude gets one more constructor.
            Binding::Undefined if space != Space::Base => match self.own(Space::Base, name) {
                binding @ Binding::Type(_) => binding,
                _ => Binding::Function(self.declare_function(name, space, new.loc)?),
            },
            Binding::Undefined => Binding::Function(self.declare_function(name, space, new.loc)?),
            binding => binding,
        };
        let ty = match binding {
            Binding::Function(symbol) => Ty::Concrete(self.ctx.ty(TypeKind::Fn(symbol))),
            Binding::Type(ty) | Binding::Const(Constant::Type(ty)) => {
                Ty::TypeOf(Rc::new(self.types.ty_of(ty)))
            }
            _ => {
                let message = format!("cannot define function `{text}`; it already has a value");
                return Err(Diagnostic::error(message).at_loc(&self.ctx, new.loc, "defined here"));
            }
        };
        Ok((Some(ty), Some(name)))
    }

    /// The space of the function that a method is defined for, its name there, and whether it has to be there
    /// already.
    fn home_of(&self, new: &MethodHead, name: Symbol) -> Result<(Space, Symbol, bool), Diagnostic> {
        if new.extends_base || self.bindings.shared.contains(&name) {
            return Ok((Space::Base, name, new.space != Space::Base));
        }
        let (space, member) = self.bindings.member(&self.ctx, new.space, name);
        if member != name {
            let (space, member) = self.bindings.locate(space, member);
            return Ok((space, member, true));
        }
        if self.bindings.own(space, name) != Binding::Undefined {
            return Ok((space, name, false));
        }
        let exchange = self.bindings.exchanges.get(&space);
        let Some(import) = exchange.and_then(|exchange| exchange.imports.get(&name)) else {
            return Ok((space, name, false));
        };
        if !import.extends {
            let text = self.ctx.str(name);
            let message =
                format!("the function `{text}` of another module has no method added here");
            let help =
                "`import` it instead of `using` it, or write the module in front of its name";
            let error = Diagnostic::error(message).at_loc(&self.ctx, new.loc, "defined here");
            return Err(error.help(help));
        }
        let (space, name) = self.bindings.locate(space, name);
        Ok((space, name, true))
    }

    /// Declares an abstract type. Doing so again is nothing; another one of that name takes the
    /// place of the old one.
    ///
    /// # Errors
    /// If a type that it mentions is none, the one above it is not abstract, or the name stands
    /// for something else.
    pub fn declare_abstract(&mut self, decl: AbstractDecl) -> Result<(), Vec<Diagnostic>> {
        let header = self.header(&decl.params, decl.supertype.as_ref(), decl.space)?;
        let own = self.own(decl.space, decl.name);
        if let Some(old) = self.own_family(own) {
            let old = self.types.family(old);
            if matches!(old.kind, FamilyKind::Abstract) && header.is_of(old) {
                return Ok(());
            }
        } else {
            self.check_unbound(decl.name, decl.space, decl.loc)?;
        }
        let family = self.add_family(decl.name, header, FamilyKind::Abstract, decl.loc);
        let bare = self.types.family(family).bare.clone();
        let ty = self.types.type_value(&bare);
        self.set(decl.name, decl.space, Binding::Type(ty));
        Ok(())
    }

    /// The id that the next family will have.
    pub(super) fn next_family(&self) -> FamilyId {
        FamilyId(self.types.families.len() as u32)
    }

    pub(super) fn add_family(
        &mut self,
        name: Symbol,
        header: Header,
        kind: FamilyKind,
        loc: Loc,
    ) -> FamilyId {
        let id = self.next_family();
        let bare = bare(id, &header.params);
        let Header { params, supertype } = header;
        self.types.families.push(Family { name, params, supertype, bare, kind, loc });
        if self.types.family(id).params.is_empty() {
            self.types.families[id.0 as usize].bare = self.types.app(id, Vec::new());
        }
        id
    }

    /// Parameters and what is above.
    pub(super) fn header(
        &mut self,
        params: &[StaticDecl],
        supertype: Option<&TypeExpr>,
        space: Space,
    ) -> Result<Header, Vec<Diagnostic>> {
        let mut eval = Eval::new(self, space);
        eval.open(params);
        let above = supertype.map_or(Ty::Any, |expr| eval.ty(expr));
        let (mut errors, bounds) = (eval.errors, eval.scope);
        let is_abstract = match &above {
            Ty::Any => true,
            Ty::App(family, _) => {
                matches!(self.types.family(*family).kind, FamilyKind::Abstract)
                    && ![self.types.well_known.union, self.types.well_known.vararg].contains(family)
            }
            _ => false,
        };
        if !is_abstract && errors.is_empty() {
            let name = self.types.name_within(&above, &bounds);
            let loc = supertype.map_or(Loc::UNKNOWN, |expr| expr.loc);
            let message = format!("a type can be below an abstract type only, found {name}");
            errors.push(Diagnostic::error(message).at_loc(&self.ctx, loc, "not abstract"));
        }
        if errors.is_empty() {
            Ok(Header { params: bounds.into(), supertype: above })
        } else {
            Err(errors)
        }
    }

    /// The family that a name of a space stands for.
    pub(super) fn own_family(&self, own: Binding) -> Option<FamilyId> {
        match own {
            Binding::Type(ty) => {
                let ty = self.types.ty_of(ty);
                let family = self.types.head(&ty)?;
                (self.types.family(family).bare == ty).then_some(family)
            }
            _ => None,
        }
    }

    pub(super) fn check_unbound(
        &self,
        name: Symbol,
        space: Space,
        loc: Loc,
    ) -> Result<(), Vec<Diagnostic>> {
        match self.bindings.own(space, name) {
            Binding::Undefined => Ok(()),
            _ => Err(vec![self.redefined(name, loc)]),
        }
    }

    pub(super) fn redefined(&self, name: Symbol, loc: Loc) -> Diagnostic {
        let message = format!("invalid redefinition of `{}`", self.ctx.str(name));
        let mut error = Diagnostic::error(message)
            .at_loc(&self.ctx, loc, "it is something else already")
            .help("give the type another name");
        let old = self.types.families.iter().rev().find(|family| family.name == name);
        if let Some(old) = old.filter(|family| family.loc.is_known() && family.loc != loc) {
            error = error.note(format!("it was declared at {}", self.ctx.loc_text(old.loc)));
        }
        error
    }
}

/// Brings captured types into scope that the signature of a local function mentions, such as the
/// type parameter of the method around it. The type of the closure tells what they are: it is
/// then the answer, with a parameter for each capture. `None` if none are mentioned.
fn open_captures(eval: &mut Eval<'_>, family: FamilyId, new: &MethodHead) -> Option<Ty> {
    let names: Vec<Symbol> =
        eval.world.types.family(family).params.iter().map(|b| b.name).collect();
    let own = |name: Symbol| new.statics.iter().any(|decl| decl.name == name);
    let bounds = new.statics.iter().flat_map(|decl| decl.lower.iter().chain(&decl.upper));
    let written: Vec<&TypeExpr> = new.params.iter().map(|p| &p.ty).chain(bounds).collect();
    let is_meant = |&name: &Symbol| !own(name) && written.iter().any(|ty| ty.mentions(name));
    if !names.iter().any(is_meant) {
        return None;
    }
    // Nobody can write this name.
    let hidden = eval.world.types.ctx.symbol("");
    let args = names.iter().map(|name| {
        let (var, meant) = (Var(eval.scope.len() as u32), is_meant(name));
        let name = if meant { *name } else { hidden };
        eval.scope.push(Bound { var, name, lower: Ty::Bottom, upper: Ty::Any });
        if meant { Ty::TypeOf(Rc::new(Ty::Var(var))) } else { Ty::Var(var) }
    });
    let args: Rc<[Ty]> = args.collect();
    Some(Ty::App(family, args))
}

/// The parameters of a family, and what is above it.
pub(super) struct Header {
    pub params: Rc<[super::Bound]>,
    pub supertype: Ty,
}

impl Header {
    /// Returns whether it says of a type what was said before.
    pub(super) fn is_of(&self, old: &Family) -> bool {
        let same_bounds = |(a, b): (&Bound, &Bound)| a.lower == b.lower && a.upper == b.upper;
        self.params.len() == old.params.len()
            && old.params.iter().zip(&*self.params).all(same_bounds)
            && old.supertype == self.supertype
    }
}

/// Returns whether nothing of this type can be called in a way of its own.
fn is_unfit(callee: &Ty) -> bool {
    matches!(callee, Ty::Any | Ty::Bottom | Ty::Value(_) | Ty::Names(_))
}
