//! Resolves names in lowered code: to ops, type functions, globals, type parameters.
//!
//! The world is asked once for each name and space; every specialisation that used an answer
//! depends on it.

use regraft_dialects::{attrs, core as core_ops, data};
use regraft_ir::{Attrs, Constant, Symbol, Type};

use super::frame::{Arg, Args, Frame, StepKind};
use super::inference::{Inference, Name, Owner};
use super::lattice::Lattice;
use crate::definition::Space;
use crate::world::{Binding, StaticValue};

impl Inference {
    /// Returns the meaning of a name; the world is asked once for each name and space.
    pub(super) fn name(&mut self, frame: &mut Frame, name: Symbol, space: Space) -> Name {
        if let Some(&(id, found)) = self.names.get(&(name, space)) {
            if let Some(id) = id {
                self.depend(frame, id);
            }
            return found;
        }
        let (id, found) = match self.op_named(name) {
            Some(def) => (None, Name::Op(def)),
            None => {
                let id = self.world.new_spec();
                // What syntax stands for is said to be the prelude's.
                let (sought, from) = match self.ctx.str(name).strip_prefix("Base.") {
                    Some(plain) => (self.ctx.symbol(plain), Space::Base),
                    None => (name, space),
                };
                let binding = self.world.resolve(sought, from, Some(id));
                let function = match binding {
                    Binding::Function(function) => Some(function),
                    Binding::Undefined => Some(self.world.member_name(sought, from)),
                    _ => None,
                };
                let builtin = function.and_then(|name| self.builtins.get(&name).copied());
                self.own(id, Owner::Name(name, space));
                (Some(id), builtin.map_or(Name::Binding(binding), Name::Builtin))
            }
        };
        self.names.insert((name, space), (id, found));
        if let Some(id) = id {
            self.depend(frame, id);
        }
        found
    }

    /// The value of a name.
    pub(super) fn global(&mut self, frame: &mut Frame, name: Symbol, space: Space) -> Arg {
        match self.name(frame, name, space) {
            Name::Op(def) => {
                let name = self.ctx.symbol(def.name);
                self.constant_arg(Constant::Func(name))
            }
            Name::Builtin(builtin) => {
                let name = self.ctx.symbol(builtin.name());
                self.constant_arg(Constant::Func(name))
            }
            Name::Binding(Binding::Undefined) => {
                let name = self.world.own_name(name, space);
                self.bound(frame, name, Binding::Undefined)
            }
            Name::Binding(binding) => self.bound(frame, name, binding),
        }
    }

    /// The value of what a name is bound to.
    pub(super) fn bound(&mut self, frame: &mut Frame, name: Symbol, binding: Binding) -> Arg {
        let (name, ty) = match binding {
            Binding::Function(name) => return self.constant_arg(Constant::Func(name)),
            Binding::Type(ty) => return self.constant_arg(Constant::Type(ty)),
            Binding::Const(constant) => return self.constant_arg(constant),
            Binding::Global { name, ty } | Binding::Variable { name, ty } => (name, ty),
            Binding::Undefined | Binding::Deferred => (name, Type::ANY),
        };
        let known = self.partials.of_type(ty);
        if let Lattice::Const(constant) = known {
            return Arg::Operand(constant.into());
        }
        if matches!(binding, Binding::Global { .. }) && self.world.is_singleton(ty) {
            return frame.push(StepKind::Op(data::NEW, ty), &[], known, Attrs::NONE);
        }
        frame.effect_free = false;
        let name = self.constant_arg(Constant::Sym(name));
        // A constant is bound to its value when that is there.
        let is_defined = matches!(binding, Binding::Global { .. });
        let attrs = if is_defined { attrs::defined(&self.ctx) } else { Attrs::NONE };
        frame.push(StepKind::Op(core_ops::GLOBAL, ty), &[name], known, attrs)
    }

    /// Gives a value to a global name.
    pub(super) fn set_global(&mut self, frame: &mut Frame, name: Symbol, value: Arg) -> Arg {
        let sought = name;
        let name = match self.name(frame, name, frame.space) {
            Name::Binding(Binding::Variable { name, .. }) => name,
            Name::Binding(Binding::Undefined) => name,
            _ => {
                let text = self.ctx.str(name).to_owned();
                return self.fail(frame, &format!("invalid assignment to the constant {text}"));
            }
        };
        frame.effect_free = false;
        let value = match self.world.declared(sought, frame.space) {
            Some(ty) => {
                let ty = self.constant_arg(Constant::Type(ty));
                self.call_name(frame, self.ctx.symbol("Base.convert"), &[ty, value], Attrs::NONE)
            }
            None => value,
        };
        if frame.lattice(value).is_bottom() {
            return value;
        }
        let name = self.constant_arg(Constant::Sym(name));
        let known = self.partials.constant(Constant::Unit);
        let kind = StepKind::Op(core_ops::SET_GLOBAL, Type::UNIT);
        frame.push(kind, &[name, value], known, Attrs::NONE)
    }

    /// The value of a type parameter of the method.
    pub(super) fn static_param(&mut self, frame: &mut Frame, name: Symbol) -> Arg {
        let spec = self.spec(frame.spec);
        let position = spec.static_names.iter().position(|&other| other == name);
        let value = position.and_then(|i| spec.statics.get(i).cloned());
        match value {
            Some(StaticValue::Unbound) | None => {
                let text = self.ctx.str(name).to_owned();
                self.fail(
                    frame,
                    &format!("UndefVarError: `{text}` not defined in static parameter matching"),
                )
            }
            Some(value) => self.static_value(frame, &value),
        }
    }

    pub(super) fn static_value(&mut self, frame: &mut Frame, value: &StaticValue) -> Arg {
        match value {
            &StaticValue::Constant(constant) => self.constant_arg(constant),
            StaticValue::Unbound => self.constant_arg(Constant::Unit),
            StaticValue::Tuple(values) => {
                let args: Args =
                    values.iter().map(|value| self.static_value(frame, value)).collect();
                self.tuple(frame, &args)
            }
        }
    }
}
