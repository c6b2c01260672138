//! Struct types and their constructors, and closures, which are struct types, too.
//!
//! A struct without inner constructors gets those of Julia: `P(a::A, b::B)`, which takes the fields
//! as they are, and `P(a, b)`, which converts them; with parameters `P(a::T, b::T) where T`, which
//! infers them, and `P{T}(a, b) where T`, which converts. Their bodies are lowered code like any
//! other: `call @#new(P, a, b)`.

use std::rc::Rc;
use std::sync::Arc;

use regraft_dialects::{cf, core};
use regraft_ir::{Constant, Diagnostic, Function, Operand, Symbol, Type};

use super::define::{Body, Header};
use super::entities::{Binding, Field};
use super::eval::Eval;
use super::tables::World;
use super::types::{Bound, FamilyId, FamilyKind, StructInfo, Ty, Var};
use crate::definition::{
    Callee, ClosureDef, MethodDef, MethodHead, ParamDecl, Space, StaticDecl, StructDecl, TypeExpr,
    TypeExprKind,
};

impl World {
    /// Declares a struct type and defines its constructors. Declaring the same one again defines
    /// the inner constructors anew, if there are any. One of the same name that is another takes
    /// its place: values and methods of the old one stay what they are.
    ///
    /// # Errors
    /// If a type that it mentions is none, the one above it is not abstract, two fields have one
    /// name, or the name stands for something that is no type.
    pub fn declare_struct(&mut self, decl: StructDecl) -> Result<(), Vec<Diagnostic>> {
        let header = self.header(&decl.params, decl.supertype.as_ref(), decl.space)?;
        let own = self.own(decl.space, decl.name);
        if let Some(old) = self.own_family(own) {
            let fields = self.field_decls(&decl)?;
            let old = self.types.family(old);
            let same = match &old.kind {
                FamilyKind::Struct(info) => {
                    info.mutable == decl.mutable
                        && info.fields.as_ref() == Some(&fields)
                        && *info.fixed == *decl.fixed
                        && info.given == decl.given
                }
                _ => false,
            };
            if same && header.is_of(old) {
                return self.define_all(&decl.constructors);
            }
        } else {
            self.check_unbound(decl.name, decl.space, decl.loc)?;
        }
        let ir_name = self.new_type_name(decl.space, decl.name);
        let info = StructInfo {
            mutable: decl.mutable,
            closure: false,
            fields: None,
            fixed: decl.fixed.clone().into(),
            given: decl.given,
            ir_name,
        };
        let family = self.add_family(decl.name, header, FamilyKind::Struct(info), decl.loc);
        // Its fields may mention it.
        let bare = self.types.family(family).bare.clone();
        let ty = self.types.type_value(&bare);
        self.set(decl.name, decl.space, Binding::Type(ty));
        match self.field_decls(&decl) {
            Ok(fields) => self.set_family_fields(family, fields),
            Err(errors) => {
                self.types.pending.retain(|&(of, ..)| of != family);
                self.set(decl.name, decl.space, own);
                return Err(errors);
            }
        }
        if decl.constructors.is_empty() {
            self.define_default_later(decl, family)
        } else {
            self.define_all(&decl.constructors)
        }
    }

    /// The name in the IR of a struct type that is declared under a name: one that no other has.
    fn new_type_name(&self, space: Space, name: Symbol) -> Symbol {
        let name = self.bindings.qualified(&self.ctx, space, name);
        let is_taken = |name| {
            let mut families = self.types.families.iter();
            families.any(
                |family| matches!(&family.kind, FamilyKind::Struct(info) if info.ir_name == name),
            )
        };
        let text = self.ctx.str(name);
        let more = (2..).map(|count| self.ctx.symbol(&format!("{text}#{count}")));
        std::iter::once(name).chain(more).find(|&name| !is_taken(name)).unwrap_or(name)
    }

    fn define_all(&mut self, methods: &[MethodDef]) -> Result<(), Vec<Diagnostic>> {
        let mut errors = Vec::new();
        for method in methods {
            errors.extend(self.define(method.clone()).err().into_iter().flatten());
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    fn set_family_fields(&mut self, family: FamilyId, fields: Rc<[(Symbol, Ty)]>) {
        if let FamilyKind::Struct(info) = &mut self.types.families[family.0 as usize].kind {
            info.fields = Some(fields);
        }
        self.types.settle_pending();
    }

    fn field_decls(&mut self, decl: &StructDecl) -> Result<Rc<[(Symbol, Ty)]>, Vec<Diagnostic>> {
        let mut eval = Eval::new(self, decl.space);
        eval.open(&decl.params);
        let fields: Rc<[(Symbol, Ty)]> =
            decl.fields.iter().map(|(name, ty)| (*name, eval.ty(ty))).collect();
        let mut errors = eval.errors;
        for (i, (name, ty)) in decl.fields.iter().enumerate() {
            if decl.fields[..i].iter().any(|(other, _)| other == name) {
                let (field, name) = (self.ctx.str(*name), self.ctx.str(decl.name));
                let message = format!("{name} has two fields `{field}`");
                errors.push(Diagnostic::error(message).at_loc(&self.ctx, ty.loc, "the second"));
            }
        }
        if errors.is_empty() { Ok(fields) } else { Err(errors) }
    }

    /// Defines the constructors of a struct that declares none, as methods of an age.
    pub(super) fn define_default(
        &mut self,
        decl: &StructDecl,
        family: FamilyId,
        age: u64,
    ) -> Result<(), Vec<Diagnostic>> {
        let name = TypeExpr { kind: TypeExprKind::Name(decl.name), loc: decl.loc };
        let any = self.ctx.symbol("Any");
        let FamilyKind::Struct(info) = &self.types.family(family).kind else { return Ok(()) };
        let fields = info.fields.clone().unwrap_or_default();
        let params = self.types.family(family).params.clone();
        let typed: Vec<ParamDecl> = decl
            .fields
            .iter()
            .map(|(name, ty)| ParamDecl { name: Some(*name), ty: ty.clone() })
            .collect();
        let untyped: Vec<ParamDecl> = decl
            .fields
            .iter()
            .map(|(name, _)| ParamDecl { name: Some(*name), ty: TypeExpr::any(any) })
            .collect();
        let occurs =
            |bound: &Bound| fields.iter().any(|(_, ty)| ty.occurrences(bound.var) != (0, false));
        if params.iter().all(occurs) {
            let body = self.constructor(decl, family, &params, &fields, false);
            let callee = Callee::Type(name.clone());
            self.constructor_method(decl, callee, typed, &decl.params, (body, age))?;
        }
        let converts = fields.iter().any(|(_, ty)| *ty != Ty::Any);
        if !params.is_empty() {
            let args = decl
                .params
                .iter()
                .map(|param| TypeExpr { kind: TypeExprKind::Name(param.name), loc: decl.loc });
            let applied = TypeExprKind::Apply(Box::new(name), args.collect());
            let callee = Callee::Type(TypeExpr { kind: applied, loc: decl.loc });
            let body = self.constructor(decl, family, &params, &fields, true);
            self.constructor_method(decl, callee, untyped, &decl.params, (body, age))?;
        } else if converts {
            let body = self.constructor(decl, family, &params, &fields, true);
            self.constructor_method(decl, Callee::Type(name), untyped, &[], (body, age))?;
        }
        Ok(())
    }

    fn constructor_method(
        &mut self,
        decl: &StructDecl,
        callee: Callee,
        params: Vec<ParamDecl>,
        statics: &[StaticDecl],
        (body, age): (Function, u64),
    ) -> Result<(), Vec<Diagnostic>> {
        let new = MethodHead {
            callee,
            keywords: false,
            extends_base: false,
            params,
            vararg: false,
            statics: statics.to_vec(),
            inline: Some(true),
            space: decl.space,
            loc: decl.loc,
        };
        let body = Body::Lowered(Arc::new(body));
        self.add_method_at(&new, body, age, Space::Base).map(|_| ())
    }

    /// The lowered code of a default constructor.
    fn constructor(
        &mut self,
        decl: &StructDecl,
        family: FamilyId,
        params: &[Bound],
        fields: &[(Symbol, Ty)],
        converts: bool,
    ) -> Function {
        /// It is built here and nowhere else: that it fits together does not depend on the user.
        const FITS: &str = "a constructor is well formed";
        let ctx = Arc::clone(&self.ctx);
        let any = vec![Type::ANY; fields.len()];
        let mut f = Function::new(&ctx, ctx.str(decl.name), &any, Type::ANY);
        let entry = f.entry().expect(FITS);
        let args: Vec<_> = f.params(entry).collect();
        for (&arg, (name, _)) in args.iter().zip(fields) {
            f.set_name_of(arg, Some(ctx.str(*name))).expect(FITS);
        }
        let constant = |constant: Constant| Operand::from(ctx.constant_id(constant));
        let function = |name: &str| constant(Constant::Func(ctx.symbol(name)));
        let mut push = |inst: regraft_ir::Inst| f.push(entry, inst.at(decl.loc)).expect(FITS);
        let bare = self.types.family(family).bare.clone();
        let bare = constant(Constant::Type(self.types.type_value(&bare)));
        let statics: Vec<Operand> = params
            .iter()
            .map(|bound| push(core::static_param(constant(Constant::Sym(bound.name)))).into())
            .collect();
        let ty = if params.is_empty() {
            bare
        } else {
            let args = std::iter::once(bare).chain(statics.iter().copied());
            push(core::call(function("#apply_type"), args, Type::ANY)).into()
        };
        let mut operands = vec![ty];
        for (i, (&arg, (_, field))) in args.iter().zip(fields).enumerate() {
            let to: Operand = match field {
                field if !converts || *field == Ty::Any => {
                    operands.push(arg.into());
                    continue;
                }
                Ty::Var(Var(index)) => statics[*index as usize],
                field if super::types::has_loose(field) => {
                    let index = constant(Constant::I64(i as i64 + 1));
                    push(core::call(function("#fieldtype"), [ty, index], Type::ANY)).into()
                }
                field => constant(Constant::Type(self.types.type_value(field))),
            };
            let converted = push(core::call(function("convert"), [to, arg.into()], Type::ANY));
            operands.push(converted.into());
        }
        let made = push(core::call(function("#new"), operands, Type::ANY));
        f.set_terminator(entry, cf::ret(made).at(decl.loc)).expect(FITS);
        f.set_function_loc(decl.loc);
        f
    }

    /// The fields of a struct type; `None` if the world knows no such struct.
    pub fn fields(&self, ty: Type) -> Option<Rc<[Field]>> {
        self.types.fields.get(&ty).cloned()
    }

    /// The types that a field may have whose declared type is a union of types that values have; `None` for any
    /// other field, and for one that may have no value.
    pub fn members_of_field(&self, ty: Type, index: usize) -> Option<Vec<Type>> {
        let field = self.types.fields.get(&ty)?.get(index)?;
        let (Ty::Union(members), None) = (self.types.ty_of(field.declared), field.left_out) else {
            return None;
        };
        let types = members.iter().map(|member| match member {
            &Ty::Concrete(ty) => Some(ty),
            _ => None,
        });
        types.collect()
    }

    // --- closures --------------------------------------------------------------------------

    /// Makes a closure known, with its methods. Doing so again with the same code does nothing; other code takes
    /// the place of the old one.
    ///
    /// # Errors
    /// The errors of its methods.
    pub fn register_closure(&mut self, def: &ClosureDef) -> Result<(), Vec<Diagnostic>> {
        let known = self.closures.get(&def.name).map(|&(family, _)| family);
        let same = known.is_some_and(|family| match &self.types.family(family).kind {
            FamilyKind::Struct(StructInfo { fields: Some(fields), .. }) => {
                fields.iter().map(|&(name, _)| name).eq(def.captures.iter().copied())
            }
            _ => false,
        });
        if !same {
            let params: Rc<[Bound]> = (0..)
                .zip(&def.captures)
                .map(|(i, &name)| Bound { var: Var(i), name, lower: Ty::Bottom, upper: Ty::Any })
                .collect();
            let fields = params.iter().map(|b| (b.name, Ty::Var(b.var))).collect();
            let info = StructInfo {
                mutable: false,
                closure: true,
                fields: Some(fields),
                fixed: Rc::new([]),
                given: def.captures.len(),
                ir_name: def.name,
            };
            let supertype = Ty::App(self.types.well_known.function, Rc::new([]));
            let header = Header { params, supertype };
            let loc =
                def.methods.first().map_or(regraft_ir::Loc::UNKNOWN, |method| method.head.loc);
            let family = self.add_family(def.name, header, FamilyKind::Struct(info), loc);
            self.closures.insert(def.name, (family, def.shown));
        }
        let has = |method: &MethodDef| {
            let table = known.and_then(|family| {
                let key = super::method::TableKey {
                    keywords: method.head.keywords,
                    ..super::method::TableOwner::Instance(family).plain()
                };
                self.tables.get(&key)
            });
            table.into_iter().flat_map(|table| &table.methods).any(|&id| {
                let body = &self.methods[id].body;
                body.as_ref().is_some_and(|body| Arc::ptr_eq(body, &method.body))
            })
        };
        if same && def.methods.iter().all(has) {
            return Ok(());
        }
        self.define_all(&def.methods)
    }

    /// The type of all closures of a definition; `None` if there is no such definition.
    pub(crate) fn closure_head(&mut self, name: Symbol) -> Option<Type> {
        let &(family, _) = self.closures.get(&name)?;
        if self.types.family(family).params.is_empty() {
            return self.closure_type(name, &[]);
        }
        let bare = self.types.family(family).bare.clone();
        Some(self.types.type_value(&bare))
    }

    /// The struct type of a closure with captures of these types: a field each, of type `any`
    /// where the type is not exact. `None` if there is no such closure, or it has another number
    /// of captures.
    pub fn closure_type(&mut self, name: Symbol, captures: &[Type]) -> Option<Type> {
        let &(family, _) = self.closures.get(&name)?;
        if self.types.family(family).params.len() != captures.len() {
            return None;
        }
        let args: Vec<Ty> = captures
            .iter()
            .map(|&ty| match self.types.ty_of(ty) {
                ty @ (Ty::Concrete(_) | Ty::TypeOf(_)) => ty,
                _ => Ty::Any,
            })
            .collect();
        Some(self.types.instantiate(family, &args))
    }

    /// The name of the family of the prelude that a type is a member of, if it is of one.
    pub(crate) fn library_name(&self, ty: Type) -> Option<Symbol> {
        let (family, _) = self.types.members.get(&ty)?;
        let name = self.types.family(*family).name;
        (self.own_family(self.bindings.own(Space::Base, name)) == Some(*family)).then_some(name)
    }

    /// The name under which a closure of this type is shown; `None` if it is no closure.
    pub fn closure_name(&self, ty: Type) -> Option<Symbol> {
        let (family, _) = self.types.members.get(&ty)?;
        let name = match &self.types.family(*family).kind {
            FamilyKind::Struct(info) if info.closure => info.ir_name,
            _ => return None,
        };
        self.closures.get(&name).map(|&(_, shown)| shown)
    }
}
