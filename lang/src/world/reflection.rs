//! Questions that programs ask about types and methods.

use regraft_ir::{Constant, Type};

use super::entities::{Dispatch, MethodMatch, SpecId, StaticValue};
use super::tables::World;
use super::types::Ty;
use crate::definition::Space;

impl World {
    /// The parameters of a type: those of a struct, the elements of a tuple. None for a type that is
    /// not applied to any.
    pub fn type_parameters(&mut self, ty: Type) -> Vec<StaticValue> {
        let parameters: Vec<Ty> = match self.types.ty_of(ty) {
            Ty::Concrete(concrete) => match self.types.tuple_elements(concrete) {
                Some(elements) => elements.to_vec(),
                None => self.types.member(concrete).map_or(Vec::new(), |(_, args)| args.to_vec()),
            },
            Ty::App(_, args) => args.to_vec(),
            Ty::Tuple(elements, rest) => {
                let rest = rest.map(|rest| self.types.vararg(&rest));
                elements.iter().cloned().chain(rest).collect()
            }
            _ => Vec::new(),
        };
        parameters.iter().map(|ty| self.types.static_value(ty)).collect()
    }

    /// The elements of a tuple type, if all are types.
    pub fn types_of_tuple(&mut self, tuple: Type) -> Option<Vec<Type>> {
        let parameters = self.type_parameters(tuple).into_iter();
        let types = parameters.map(|parameter| match parameter {
            StaticValue::Constant(Constant::Type(ty)) => Some(ty),
            _ => None,
        });
        types.collect()
    }

    /// The types that a tuple type gives `count` arguments; `None` if it is of another length.
    pub fn types_for(&mut self, tuple: Type, count: usize) -> Option<Vec<Type>> {
        let (elements, rest) = match self.types.ty_of(tuple) {
            Ty::Concrete(concrete) => (self.types.tuple_elements(concrete)?, None),
            Ty::Tuple(elements, rest) => (elements, rest),
            _ => return None,
        };
        let repeated = match rest {
            Some(rest) => (count.checked_sub(elements.len())?, rest.element.clone()),
            None => (0, Ty::Any),
        };
        let types = elements.iter().cloned().chain(std::iter::repeat_n(repeated.1, repeated.0));
        let types: Vec<Type> = types.map(|ty| self.types.type_value(&ty)).collect();
        (types.len() == count).then_some(types)
    }

    /// Returns whether there is a method for all arguments of declared types, and one of the program's
    /// `own` if that is asked for.
    pub fn has_method(&mut self, callee: Type, declared: &[Type], own: bool, by: SpecId) -> bool {
        self.watch_methods(callee, by);
        match self.declared_method(callee, declared) {
            Dispatch::Method(found) => {
                !own || self.method(found.method).is_some_and(|method| method.space != Space::Base)
            }
            _ => false,
        }
    }

    /// Returns whether the program has added a method to a function.
    pub fn has_own_methods(&mut self, callee: Type, by: SpecId) -> bool {
        self.watch_methods(callee, by);
        self.is_extended(callee)
    }

    /// Returns whether the program has added a method to a function until now. O(methods).
    pub(crate) fn is_extended(&self, callee: Type) -> bool {
        self.methods_of(callee).any(|method| method.space != Space::Base)
    }

    /// Returns whether there is a method outside of a module that may take a value of type `first` as its first argument; `by`
    /// becomes invalid when the methods change. O(methods).
    pub(crate) fn has_methods_for(
        &mut self,
        callee: Type,
        first: Type,
        apart_from: Space,
        by: Option<SpecId>,
    ) -> bool {
        if let Some(by) = by {
            self.watch_methods(callee, by);
        }
        self.know_methods(callee, &[]);
        let first = self.types.ty_of(first);
        self.methods_of(callee).filter(|method| method.space != apart_from).any(|method| {
            let bounds = method.bounds();
            let taken = method.first_param();
            taken.is_none_or(|taken| !self.types.is_disjoint(&first, taken, bounds))
        })
    }

    /// The method that is the most specific one for arguments of declared types, for a call with
    /// arguments that are of these. `None` if there is none, or several.
    pub fn invoked(
        &mut self,
        callee: Type,
        declared: &[Type],
        args: &[Type],
        by: SpecId,
    ) -> Option<MethodMatch> {
        self.watch_methods(callee, by);
        let Dispatch::Method(found) = self.declared_method(callee, declared) else {
            return None;
        };
        let types: Vec<Ty> =
            std::iter::once(&callee).chain(args).map(|&ty| self.types.ty_of(ty)).collect();
        let signature = self.methods[found.method].signature.clone();
        let statics = self.types.match_exact(&signature, &types)?;
        Some(MethodMatch { statics, exact: true, ..found })
    }
}
