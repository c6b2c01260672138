//! Members of struct families as struct types of the IR, one for each list of parameters.

use std::rc::Rc;

use regraft_ir::{Constant, StructDef, Symbol, Type, TypeKind};

use super::entities::Field;
use super::types::{FamilyId, FamilyKind, Ty, Types};

/// Struct types within struct types, each of which the one around it brings about, are not
/// followed deeper: `struct P{T} x::P{P{T}} end` never ends.
const MAX_NESTED: usize = 24;

impl Types {
    /// The struct type of a member of a struct family. The parameters are closed.
    pub fn instantiate(&mut self, family: FamilyId, args: &[Ty]) -> Type {
        let key = (family, Rc::from(args));
        if let Some(&known) = self.instances.get(&key) {
            return known;
        }
        let (name, mutable, known) = match &self.family(family).kind {
            FamilyKind::Struct(info) => (info.ir_name, info.mutable, info.fields.is_some()),
            // Only struct families are asked for.
            _ => (self.family(family).name, false, true),
        };
        let mut text = self.ctx.str(name).to_owned();
        if !args.is_empty() {
            let args: Vec<String> = args.iter().map(|arg| self.name(arg)).collect();
            text = format!("{text}{{{}}}", args.join(", "));
        }
        let name = self.ctx.symbol(&text);
        let def = StructDef { name, mutable, fields: Box::new([]), call: None };
        let (_, ty) = self.ctx.add_struct(def);
        self.members.insert(ty, (family, Rc::from(args)));
        self.instances.insert(key, ty);
        if known {
            self.set_fields(family, args, ty);
        } else {
            self.pending.push((family, Rc::from(args), ty));
        }
        ty
    }

    /// Finds out the fields of the types that were made before those of their family were known.
    pub fn settle_pending(&mut self) {
        let (known, pending) = std::mem::take(&mut self.pending).into_iter().partition(|(of, ..)| {
            matches!(&self.family(*of).kind, FamilyKind::Struct(info) if info.fields.is_some())
        });
        self.pending = pending;
        let known: Vec<(FamilyId, Rc<[Ty]>, Type)> = known;
        for (family, args, ty) in known {
            self.set_fields(family, &args, ty);
        }
    }

    fn set_fields(&mut self, family: FamilyId, args: &[Ty], ty: Type) {
        let FamilyKind::Struct(info) = &self.family(family).kind else { return };
        let (mutable, given) = (info.mutable, info.given);
        let Some(declared) = info.fields.clone() else { return };
        self.in_progress.push(ty);
        let nested = self.in_progress.len();
        let fields: Rc<[Field]> = declared
            .iter()
            .enumerate()
            .map(|(i, (name, field))| {
                let field = if nested > MAX_NESTED {
                    Ty::Any
                } else {
                    let field = field.with_args(0, args);
                    self.normalize(&field)
                };
                let declared = self.type_value(&field);
                let mut stored = self.stored(&field);
                if self.holds_in_progress(stored) {
                    // A value cannot be a part of itself.
                    stored = Type::ANY;
                }
                let left_out = (i >= given && Constant::zero(stored).is_none()).then_some(stored);
                if left_out.is_some() {
                    stored = Type::ANY;
                }
                Field { name: *name, declared, stored, left_out }
            })
            .collect();
        self.in_progress.pop();
        if let &TypeKind::Struct(id) = self.ctx.kind(ty) {
            let name = self.ctx.struct_def(id).name;
            let fields: Box<[(Symbol, Type)]> = fields.iter().map(|f| (f.name, f.stored)).collect();
            self.ctx.set_struct(id, StructDef { name, mutable, fields, call: None });
        }
        self.fields.insert(ty, fields);
    }

    /// Returns whether values of the type would hold, in place, one of a type that is not finished.
    fn holds_in_progress(&self, ty: Type) -> bool {
        match self.ctx.kind(ty) {
            TypeKind::Struct(_) => self.in_progress.contains(&ty) && !self.ctx.is_object(ty),
            TypeKind::Tuple(elements) => elements.iter().any(|&ty| self.holds_in_progress(ty)),
            TypeKind::Named(fields) => fields.iter().any(|&(_, ty)| self.holds_in_progress(ty)),
            _ => false,
        }
    }
}
