//! Types as values.
//!
//! A type value is a type of the IR. What values can have is itself; any other type (`Real`,
//! `Vector`, `Union{Int64, Nothing}`) is an abstract-type token: a struct type without fields, which has no
//! values and stands for the type.

use regraft_ir::{StructDef, Symbol, Type};

use super::entities::StaticValue;
use super::types::{Ty, Types, has_loose};
use regraft_ir::Constant;
use std::rc::Rc;

impl Types {
    /// The type as a type value. Equal types get the same one.
    pub fn type_value(&mut self, ty: &Ty) -> Type {
        match ty {
            Ty::Any => return Type::ANY,
            Ty::Bottom => return Type::NEVER,
            Ty::Concrete(ty) => return *ty,
            Ty::TypeOf(_) => {
                if let Some(exact) = self.exact(ty) {
                    return exact;
                }
            }
            Ty::Tuple(elements, None) => {
                // Where each element is concrete or `Any`, the IR can say it.
                let elements: Option<Vec<Type>> = elements
                    .iter()
                    .map(|ty| if *ty == Ty::Any { Some(Type::ANY) } else { self.exact(ty) })
                    .collect();
                if let Some(elements) = elements {
                    return self.ctx.tuple_type(&elements);
                }
            }
            _ => {}
        }
        if let Some(&known) = self.token_of.get(ty) {
            return known;
        }
        if matches!(ty, Ty::Where(..)) {
            let head = self.head(ty);
            let equal = |token: &&Type| {
                let other = &self.tokens[*token];
                self.head(other) == head && self.is_equal(other, ty)
            };
            if let Some(&known) = self.where_tokens.iter().find(equal) {
                self.token_of.insert(ty.clone(), known);
                return known;
            }
        }
        let name = self.ctx.symbol(&self.name(ty));
        let (_, token) = self.ctx.add_struct(StructDef {
            name,
            mutable: false,
            fields: Box::new([]),
            call: None,
        });
        self.tokens.insert(token, ty.clone());
        self.token_of.insert(ty.clone(), token);
        if matches!(ty, Ty::Where(..)) {
            self.where_tokens.push(token);
        }
        token
    }

    /// Returns the parameter of a type as a value.
    pub fn static_value(&mut self, ty: &Ty) -> StaticValue {
        match ty {
            Ty::Value(constant) => StaticValue::Constant(*constant),
            Ty::Names(names) => {
                let symbol = |&name: &Symbol| StaticValue::Constant(Constant::Sym(name));
                StaticValue::Tuple(names.iter().map(symbol).collect())
            }
            ty if has_loose(ty) => StaticValue::Unbound,
            ty => StaticValue::Constant(Constant::Type(self.type_value(ty))),
        }
    }

    /// The value as the parameter of a type; `None` if it can be none.
    pub fn parameter_of(&self, value: &StaticValue) -> Option<Ty> {
        match value {
            StaticValue::Constant(constant) => match constant {
                Constant::Str(_) | Constant::Unit | Constant::Func(_) => None,
                constant => Some(self.parameter(*constant)),
            },
            StaticValue::Tuple(values) => {
                let names: Option<Rc<[Symbol]>> = values
                    .iter()
                    .map(|value| match value {
                        StaticValue::Constant(Constant::Sym(name)) => Some(*name),
                        _ => None,
                    })
                    .collect();
                names.map(Ty::Names)
            }
            StaticValue::Unbound => None,
        }
    }
}
