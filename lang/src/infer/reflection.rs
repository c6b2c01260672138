//! Type functions that ask about types and methods.

use regraft_dialects::core as core_ops;
use regraft_ir::{Attrs, Constant, Type, TypeKind};
use smallvec::SmallVec;

use super::builtin_table::Builtin;
use super::frame::{Arg, Args, Frame, StepKind};
use super::inference::{Inference, Name};
use super::lattice::Lattice;
use super::lookup::Found;
use crate::intrinsics::intrinsic_of;
use crate::world::{Binding, StaticValue};

impl Inference {
    pub(super) fn reflection(
        &mut self,
        frame: &mut Frame,
        builtin: Builtin,
        args: &[Arg],
    ) -> Option<Arg> {
        match builtin {
            Builtin::Parameters => self.parameters(frame, args),
            Builtin::HasMethod => self.has_method(frame, args, false),
            Builtin::HasOwn => self.has_method(frame, args, true),
            Builtin::Invoke => self.invoke(frame, args),
            _ => None,
        }
    }

    /// `#module_member(M, name)`
    pub(super) fn module_member(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let &[module, name] = args else { return None };
        let space = self.world.module(self.exact_type(frame, module)?)?;
        match self.partials.value(frame.lattice(name)) {
            Some(Constant::Sym(name)) => Some(self.global(frame, name, space)),
            Some(_) => None,
            None => {
                let eval = self.constant_arg(Constant::Sym(self.ctx.symbol("eval")));
                let kind = StepKind::Op(core_ops::HOST, Type::ANY);
                frame.effect_free = false;
                Some(frame.push(kind, &[eval, module, name], Lattice::ANY, Attrs::NONE))
            }
        }
    }

    /// `#intrinsic(op, operands...)`
    pub(super) fn intrinsic(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let (&op, operands) = args.split_first()?;
        let TypeKind::Fn(name) = *self.ctx.kind(self.exact_type(frame, op)?) else { return None };
        let operands = operands.iter().map(|&arg| self.exact_type(frame, arg));
        let operands: Option<SmallVec<[Type; 4]>> = operands.collect();
        let found = intrinsic_of(self.ctx.str(name), &operands?);
        let function = found.map_or(name, |function| self.ctx.symbol(function));
        Some(self.constant_arg(Constant::Func(function)))
    }

    /// `#parameters(T)`: a tuple.
    fn parameters(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let ty = self.type_arg(frame, args, 0)?;
        let parameters = StaticValue::Tuple(self.world.type_parameters(ty).into());
        Some(self.static_value(frame, &parameters))
    }

    /// The types that a tuple type has as its elements.
    fn listed(&mut self, frame: &Frame, args: &[Arg], position: usize) -> Option<Vec<Type>> {
        let ty = self.type_arg(frame, args, position)?;
        self.world.types_of_tuple(ty)
    }

    /// `#has_method(f, Tuple{…})`, `#has_own(f, Tuple{…})`, `#has_own(f)`
    fn has_method(&mut self, frame: &mut Frame, args: &[Arg], own: bool) -> Option<Arg> {
        let callee = self.exact_type(frame, *args.first()?)?;
        if own && args.len() == 1 {
            let found = self.world.has_own_methods(callee, frame.spec);
            return Some(self.constant_arg(Constant::Bool(found)));
        }
        let types = self.listed(frame, args, 1)?;
        let found = self.world.has_method(callee, &types, own, frame.spec);
        Some(self.constant_arg(Constant::Bool(found)))
    }

    /// Returns whether a name is that of a function all of whose methods are the library's.
    pub(super) fn is_of_library(&mut self, frame: &mut Frame, name: Arg) -> bool {
        let Some(Constant::Sym(name)) = self.partials.value(frame.lattice(name)) else {
            return false;
        };
        let Name::Binding(Binding::Function(function)) = self.name(frame, name, frame.space) else {
            return false;
        };
        let callee = self.ctx.ty(TypeKind::Fn(function));
        !self.world.has_own_methods(callee, frame.spec)
    }

    /// `#invoke(f, Tuple{…}, args…)`: the method for arguments of these types.
    fn invoke(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let (&callee, rest) = args.split_first()?;
        let of = self.exact_type(frame, callee)?;
        let tuple = self.type_arg(frame, args, 1)?;
        let args: Args = rest.iter().skip(1).copied().collect();
        let types: Option<Vec<Type>> =
            args.iter().map(|&arg| self.exact_type(frame, arg)).collect();
        let types = types?;
        let declared = self.world.types_for(tuple, types.len()).filter(|declared| {
            types.iter().zip(declared).all(|(&ty, &of)| self.world.is_below(ty, of))
        });
        let Some(declared) = declared else {
            let message = "TypeError: in invoke, the arguments are not of the types that are given";
            return Some(self.fail(frame, message));
        };
        let Some(found) = self.world.invoked(of, &declared, &types, frame.spec) else {
            let (message, _) = self.world.no_method(of, &declared);
            return Some(self.fail(frame, &format!("MethodError: {message}")));
        };
        let facts = self.facts_for(&found, of, &types, frame.spec);
        let attrs = regraft_ir::Attrs::NONE;
        Some(self.call_found(frame, Found::Method(facts, found), callee, &args, attrs))
    }
}
