//! Type functions: what programs ask about types and tuples, answered from what is known.
//!
//! Each works on lattice values and gives a constant, a few ops, or calls of its arguments. Where
//! too little is known it becomes a call that is decided when the program runs: then the types
//! are exact, and the same function answers.

use std::rc::Rc;

use regraft_dialects::data::UNDEFINED_FIELD;
use regraft_dialects::{core as core_ops, data};
use regraft_ir::{Attrs, Constant, Symbol, Type, TypeKind};
use smallvec::SmallVec;

use super::builtin_table::Builtin;
use super::frame::{Arg, Args, Frame, StepKind};
use super::inference::Inference;
use super::lattice::{Lattice, field_index, field_types};
use crate::world::{Bound, StaticValue, Ty, TypeArgument, Var};

impl Inference {
    /// A call of a type function.
    pub(super) fn builtin(&mut self, frame: &mut Frame, builtin: Builtin, args: &[Arg]) -> Arg {
        match self.known_builtin(frame, builtin, args) {
            Some(result) => result,
            None => {
                let exact = args.iter().all(|&arg| self.partials.is_exact(frame.lattice(arg)));
                // With exact types it would be asked the same again when it runs.
                if exact && !matches!(builtin, Builtin::ReturnType) {
                    let message =
                        format!("{} cannot be called with these arguments", builtin.name());
                    if self.in_wrapper(frame) {
                        return self.fail(frame, &message);
                    }
                }
                let callee = self.constant_arg(Constant::Func(self.ctx.symbol(builtin.name())));
                self.dynamic(frame, callee, args)
            }
        }
    }

    /// Returns whether a function is a type function that values decide, not types alone.
    pub(crate) fn asks_for_values(&self, function: Symbol) -> bool {
        let builtin = self.builtins.get(&function);
        matches!(builtin, Some(Builtin::Val | Builtin::ApplyType | Builtin::NTuple))
    }

    fn known_builtin(&mut self, frame: &mut Frame, builtin: Builtin, args: &[Arg]) -> Option<Arg> {
        match builtin {
            Builtin::TypeOf => self.type_function(frame, args),
            Builtin::IsA => self.isa(frame, args),
            Builtin::Tested => self.tested(frame, args),
            Builtin::Below => self.below(frame, args),
            Builtin::Tuple => Some(self.tuple(frame, args)),
            Builtin::ApplyType => self.apply_type(frame, args),
            Builtin::BelowParam => self.below_param(frame, args),
            Builtin::TypeAssert => self.type_assert(frame, args),
            Builtin::FieldType => self.field_type(frame, args),
            Builtin::Defined => self.defined(frame, args),
            Builtin::Undefined => {
                Some(self.constant_arg(Constant::Sym(self.ctx.symbol(UNDEFINED_FIELD))))
            }
            Builtin::FieldNames => self.field_names(frame, args),
            Builtin::Parameters | Builtin::HasMethod | Builtin::HasOwn | Builtin::Invoke => {
                self.reflection(frame, builtin, args)
            }
            Builtin::New => self.new_struct(frame, args),
            Builtin::Named => self.named(frame, args),
            Builtin::NamedOf => self.named_of(frame, args),
            Builtin::Val => self.val(frame, args),
            Builtin::Try => self.try_catch(frame, args),
            Builtin::ModuleMember => self.module_member(frame, args),
            Builtin::Supertype => {
                let ty = self.type_arg(frame, args, 0)?;
                let above = self.world.supertype(ty);
                Some(self.constant_arg(Constant::Type(above)))
            }
            Builtin::TypeKind => {
                let ty = self.type_arg(frame, args, 0)?;
                let kind = self.ctx.symbol(self.world.kind_of(ty));
                Some(self.constant_arg(Constant::Sym(kind)))
            }
            Builtin::Methods => self.methods(frame, args),
            Builtin::ReturnType => self.return_type(frame, args),
            Builtin::Known => {
                let known = frame.lattice(*args.first()?).as_const().is_some();
                Some(self.constant_arg(Constant::Bool(known)))
            }
            Builtin::Cell => {
                let are_own = args.iter().all(|&arg| self.is_of_library(frame, arg));
                Some(match are_own && !frame.is_late {
                    true => self.constant_arg(Constant::Unit),
                    false => self.call_name(frame, self.ctx.symbol("#box"), &[], Attrs::NONE),
                })
            }
            Builtin::Late => {
                frame.is_late = true;
                Some(self.constant_arg(Constant::Unit))
            }
            Builtin::Intrinsic => self.intrinsic(frame, args),
            Builtin::UnrollMap => self.unroll_map(frame, args),
            Builtin::UnrollFold => self.unroll_fold(frame, args),
            Builtin::NTuple => self.ntuple(frame, args),
            Builtin::Spread => self.spread(frame, args),
            Builtin::ZeroTangent => self.zero_tangent(frame, args),
            Builtin::Gradient
            | Builtin::GradientAlone
            | Builtin::Pushforward
            | Builtin::DynamicPushforward
            | Builtin::PushforwardMany
            | Builtin::Pullback
            | Builtin::Back
            | Builtin::DynamicReverse => self.derivative(frame, builtin, args),
        }
    }

    /// The type value that an argument is.
    pub(super) fn type_arg(&self, frame: &Frame, args: &[Arg], position: usize) -> Option<Type> {
        match self.partials.value(frame.lattice(*args.get(position)?))? {
            Constant::Type(ty) => Some(ty),
            _ => None,
        }
    }

    pub(super) fn exact_type(&self, frame: &Frame, arg: Arg) -> Option<Type> {
        let known = frame.lattice(arg);
        self.partials.is_exact(known).then(|| self.partials.type_of(known))
    }

    /// The type of a type is one for many.
    fn type_function(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let &[x] = args else { return None };
        let Some(exact) = self.exact_type(frame, x) else {
            let callee = self.constant_arg(Constant::Func(self.ctx.symbol("#late_typeof")));
            return Some(self.call_value(frame, callee, &[x], Attrs::NONE));
        };
        if let &TypeKind::TypeOf(of) = self.ctx.kind(exact)
            && let Some(kind) = self.world.type_of_type(of)
        {
            return Some(self.constant_arg(Constant::Type(kind)));
        }
        Some(self.op(frame, self.ctx.def(core_ops::TYPEOF), &[x], Type::ANY, Attrs::NONE))
    }

    fn isa(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let &[x, _] = args else { return None };
        let want = self.type_arg(frame, args, 1)?;
        if let Lattice::Union(_) = frame.lattice(x) {
            let members = self.partials.members(frame.lattice(x));
            let is = self.world.is_below(members[0], want);
            if members.iter().all(|&member| self.world.is_below(member, want) == is) {
                return Some(self.constant_arg(Constant::Bool(is)));
            }
        }
        let have = self.partials.type_of(frame.lattice(x));
        let is = self.world.is_below(have, want);
        if is || self.exact_type(frame, x).is_some() || self.world.is_disjoint(have, want) {
            return Some(self.constant_arg(Constant::Bool(is)));
        }
        self.concrete(want)?;
        Some(self.op(frame, self.ctx.def(core_ops::ISA), args, Type::ANY, Attrs::NONE))
    }

    fn below(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let (a, b) = (self.type_arg(frame, args, 0)?, self.type_arg(frame, args, 1)?);
        let is = self.world.is_below(a, b);
        Some(self.constant_arg(Constant::Bool(is)))
    }

    /// A value as the parameter of a type.
    fn parameter(&self, value: Lattice) -> Option<StaticValue> {
        if let Some(constant) = self.partials.value(value) {
            return Some(StaticValue::Constant(constant));
        }
        let ty = self.partials.type_of(value);
        match self.ctx.kind(ty) {
            TypeKind::Tuple(elements) if elements.is_empty() => {
                Some(StaticValue::Tuple(Rc::new([])))
            }
            TypeKind::Tuple(_) => {
                let parts = self.partials.parts(value)?;
                let values: Option<Vec<StaticValue>> =
                    parts.iter().map(|&part| self.parameter(part)).collect();
                Some(StaticValue::Tuple(values?.into()))
            }
            _ => None,
        }
    }

    fn apply_type(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let head = self.type_arg(frame, args, 0)?;
        let mut params = Vec::new();
        for &arg in &args[1..] {
            let value = self.parameter(frame.lattice(arg))?;
            let param = match value {
                StaticValue::Constant(Constant::Type(ty)) => self.bound_of(ty),
                _ => None,
            };
            params.push(param.map_or(TypeArgument::Is(value), TypeArgument::Below));
        }
        Some(match self.world.apply_type(head, &params) {
            Ok(ty) => self.constant_arg(Constant::Type(ty)),
            Err(message) => self.fail(frame, &message),
        })
    }

    /// The bound of what [`Builtin::BelowParam`] gives: `T where T<:Real` alone.
    fn bound_of(&mut self, ty: Type) -> Option<Type> {
        match self.world.ty_of(ty) {
            Ty::Where(bounds, body) if bounds.len() == 1 && *body == Ty::Var(bounds[0].var) => {
                Some(self.world.type_value(&bounds[0].upper))
            }
            _ => None,
        }
    }

    fn below_param(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let upper = self.type_arg(frame, args, 0)?;
        let upper = self.world.ty_of(upper);
        let var = Var(Var::FIRST_BOUND);
        let bound = Bound { var, name: self.ctx.symbol("T"), lower: Ty::Bottom, upper };
        let ty = Ty::Where(Rc::new([bound]), Rc::new(Ty::Var(var)));
        let ty = self.world.type_value(&ty);
        Some(self.constant_arg(Constant::Type(ty)))
    }

    fn type_assert(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let &[x, _] = args else { return None };
        let want = self.type_arg(frame, args, 1)?;
        if let Some(have) = self.exact_type(frame, x) {
            if self.world.is_below(have, want) {
                return Some(x);
            }
            let (want, have) = (self.world.type_name(want), self.world.type_name(have));
            let message =
                format!("TypeError: in typeassert, expected {want}, got a value of type {have}");
            return Some(self.fail(frame, &message));
        }
        // Where it runs, the assertion of a bool is that of a condition, and says so.
        let concrete = self.concrete(want).filter(|&ty| ty != Type::BOOL)?;
        Some(self.assert_type(frame, x, concrete))
    }

    /// The declared type of a field, as a type value.
    fn field_type(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let ty = self.type_arg(frame, args, 0)?;
        let &name = args.get(1)?;
        let Some(field) = self.partials.value(frame.lattice(name)) else {
            return self.unknown_field_type(frame, ty, name);
        };
        let Some(index) = field_index(&self.ctx, ty, field) else {
            let (ty, field) = (self.world.type_name(ty), self.ctx.constant_text(field));
            return Some(self.fail(
                frame,
                &format!("FieldError: type {ty} has no field `{}`", field.trim_start_matches(':')),
            ));
        };
        let declared = *self.declared_types(ty).get(index)?;
        Some(self.constant_arg(Constant::Type(declared)))
    }

    /// The declared types of the fields of a type.
    fn declared_types(&self, ty: Type) -> Vec<Type> {
        match self.world.fields(ty) {
            Some(fields) => fields.iter().map(|field| field.declared).collect(),
            None => field_types(&self.ctx, ty).to_vec(),
        }
    }

    /// The declared type of a field whose name is known when the program runs: one of those there
    /// are. Of a name that no field has, whoever reads or sets the field tells.
    fn unknown_field_type(&mut self, frame: &mut Frame, ty: Type, name: Arg) -> Option<Arg> {
        let have = self.partials.type_of(frame.lattice(name));
        let declared = self.declared_types(ty);
        if declared.iter().all(|&other| other == declared[0]) && !declared.is_empty() {
            return Some(self.constant_arg(Constant::Type(declared[0])));
        }
        let fields: Vec<Constant> = match have {
            Type::SYM => self.names_of(ty),
            Type::I64 => (1..=declared.len()).map(|i| Constant::I64(i as i64)).collect(),
            _ => return None,
        };
        let any = self.constant_arg(Constant::Type(Type::ANY));
        let mut result = self.forget_type(frame, any);
        for (field, declared) in fields.into_iter().zip(declared) {
            let field = self.constant_arg(field);
            let same = self.ctx.def(core_ops::SAME);
            let is_it = self.op(frame, same, &[name, field], Type::ANY, Attrs::NONE);
            let declared = self.constant_arg(Constant::Type(declared));
            let declared = self.forget_type(frame, declared);
            let args = [is_it, declared, result];
            result = self.op(frame, self.ctx.def(core_ops::SELECT), &args, Type::ANY, Attrs::NONE);
        }
        Some(result)
    }

    /// The list changes with the methods.
    fn methods(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let callee = self.exact_type(frame, *args.first()?)?;
        self.world.watch_methods(callee, frame.spec);
        let list = self.world.method_list(callee);
        let text = self.constant_arg(Constant::Str(self.ctx.symbol(&list.to_string())));
        let lines: Args = list
            .methods
            .iter()
            .map(|line| self.constant_arg(Constant::Str(self.ctx.symbol(&line.to_string()))))
            .collect();
        let lines = self.tuple(frame, &lines);
        Some(self.tuple(frame, &[text, lines]))
    }

    fn field_names(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let ty = self.type_arg(frame, args, 0)?;
        let names = self.names_of(ty);
        let names: Args = names.into_iter().map(|name| self.constant_arg(name)).collect();
        Some(self.tuple(frame, &names))
    }

    /// The names of the fields of a type, `x` for a `Ref`; the numbers of the elements of a tuple.
    fn names_of(&self, ty: Type) -> Vec<Constant> {
        match self.ctx.kind(ty) {
            TypeKind::Tuple(elements) => {
                (1..=elements.len()).map(|i| Constant::I64(i as i64)).collect()
            }
            TypeKind::Named(fields) => {
                fields.iter().map(|&(name, _)| Constant::Sym(name)).collect()
            }
            &TypeKind::Struct(id) => {
                let def = self.ctx.struct_def(id);
                def.fields.iter().map(|&(name, _)| Constant::Sym(name)).collect()
            }
            TypeKind::Ref(_) => vec![Constant::Sym(self.ctx.symbol("x"))],
            _ => Vec::new(),
        }
    }

    /// `new(…)`: the fields are converted to their declared types.
    fn new_struct(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let ty = self.type_arg(frame, args, 0)?;
        let values = &args[1..];
        let def = self.ctx.struct_of(ty);
        let (Some(def), Some(fields)) = (def, self.world.fields(ty)) else {
            let name = self.world.type_name(ty);
            return Some(self.fail(frame, &format!("{name} cannot be made with new")));
        };
        if fields.len() < values.len() {
            let (name, want) = (self.world.type_name(ty), fields.len());
            let message = format!("new of {name} takes {want} values, found {}", values.len());
            return Some(self.fail(frame, &message));
        }
        let mut converted: Args = SmallVec::new();
        for (&value, field) in values.iter().zip(fields.iter()) {
            let value = self.convert_field(frame, value, field.declared, field.stored);
            if frame.lattice(value).is_bottom() {
                return Some(value);
            }
            converted.push(value);
        }
        // Numbers without a value are anything in Julia.
        for field in &fields[values.len()..] {
            let undefined =
                || field.left_out.map(|_| Constant::Sym(self.ctx.symbol(UNDEFINED_FIELD)));
            let Some(value) = Constant::zero(field.stored).or_else(undefined) else {
                let name = self.world.type_name(ty);
                let message = format!(
                    "new of {name} gives the field `{}` no value, which each `new` that is written \
                     in {name} gives one",
                    self.ctx.str(field.name)
                );
                return Some(self.fail(frame, &message));
            };
            converted.push(self.constant_arg(value));
        }
        if !def.mutable {
            return Some(self.op(frame, self.ctx.def(data::NEW), &converted, ty, Attrs::NONE));
        }
        let kind = StepKind::Op(data::NEW_OBJECT, ty);
        Some(frame.push(kind, &converted, Lattice::Of(ty), Attrs::NONE))
    }

    /// `#defined(x, name, value)`: the value that was read of a field of `x`. A field that a `new`
    /// leaves out is checked, and has its type from then on.
    fn defined(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let &[whole, name, value] = args else { return None };
        let ty = self.partials.type_of(frame.lattice(whole));
        let fields = match self.world.fields(ty) {
            Some(fields) if fields.iter().any(|field| field.left_out.is_some()) => fields,
            None if ty == Type::ANY => Rc::new([]),
            _ => return Some(value),
        };
        let known = self.partials.value(frame.lattice(name));
        let index = known.and_then(|name| field_index(&self.ctx, ty, name));
        let want = match index.and_then(|index| fields.get(index)) {
            Some(field) if field.left_out.is_none() => return Some(value),
            field => field.and_then(|field| field.left_out),
        };
        let checked =
            self.call_name(frame, self.ctx.symbol("#check_defined_field"), &[value], Attrs::NONE);
        Some(match want {
            Some(want) => self.assert_type(frame, checked, want),
            None => checked,
        })
    }

    fn convert_field(
        &mut self,
        frame: &mut Frame,
        value: Arg,
        declared: Type,
        stored: Type,
    ) -> Arg {
        let have = self.partials.type_of(frame.lattice(value));
        if have == declared && have != Type::ANY {
            return value;
        }
        if stored == Type::ANY {
            if matches!(self.world.ty_of(declared), Ty::Any) {
                return value;
            }
            if let Some(have) = self.exact_type(frame, value)
                && self.world.is_below(have, declared)
            {
                return value;
            }
        }
        let convert = self.ctx.symbol("convert");
        let ty = self.constant_arg(Constant::Type(declared));
        let value = self.call_name(frame, convert, &[ty, value], Attrs::NONE);
        if frame.lattice(value).is_bottom() {
            return value;
        }
        self.assert_type(frame, value, stored)
    }

    fn named(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let mut names = Vec::new();
        let mut values: Args = SmallVec::new();
        for pair in args.chunks_exact(2) {
            match self.partials.value(frame.lattice(pair[0]))? {
                Constant::Sym(name) => names.push(name),
                _ => return None,
            }
            values.push(pair[1]);
        }
        Some(self.named_tuple(frame, &names, &values))
    }

    fn named_tuple(&mut self, frame: &mut Frame, names: &[Symbol], values: &[Arg]) -> Arg {
        let fields: Vec<(Symbol, Type)> = names
            .iter()
            .zip(values)
            .map(|(&name, &value)| (name, self.partials.type_of(frame.lattice(value))))
            .collect();
        let mut seen = rustc_hash::FxHashSet::default();
        if let Some(&twice) = names.iter().find(|&&name| !seen.insert(name)) {
            let name = self.ctx.str(twice).to_owned();
            return self
                .fail(frame, &format!("duplicate field name in NamedTuple: {name} is not unique"));
        }
        let ty = self.ctx.named_type(&fields);
        self.op(frame, self.ctx.def(data::NAMED), values, ty, Attrs::NONE)
    }

    fn named_of(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let &[names, values] = args else { return None };
        let StaticValue::Tuple(names) = self.parameter(frame.lattice(names))? else { return None };
        let names: Option<Vec<Symbol>> = names
            .iter()
            .map(|name| match name {
                &StaticValue::Constant(Constant::Sym(name)) => Some(name),
                _ => None,
            })
            .collect();
        let (names, values) = (names?, self.elements(frame, values)?);
        if names.len() != values.len() {
            let message = format!(
                "a named tuple of {} names is made of as many values, found {}",
                names.len(),
                values.len()
            );
            return Some(self.fail(frame, &message));
        }
        Some(self.named_tuple(frame, &names, &values))
    }

    fn val(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let known = frame.lattice(*args.first()?);
        let Lattice::Const(constant) = known else { return None };
        let ty = self.ctx.ty(TypeKind::Val(constant));
        Some(frame.push(StepKind::Op(data::NEW, ty), &[], Lattice::Of(ty), Attrs::NONE))
    }

    /// The type of the result of a call, for arguments of these types.
    fn return_type(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let (&callee, types) = args.split_first()?;
        let mut values: SmallVec<[Lattice; 6]> = SmallVec::new();
        for position in 0..types.len() {
            let ty = self.type_arg(frame, types, position)?;
            values.push(self.concrete(ty).map_or(Lattice::ANY, |ty| self.partials.of_type(ty)));
        }
        let known = self.result_of(frame, callee, &values);
        let ty =
            if self.partials.is_exact(known) { self.partials.type_of(known) } else { Type::ANY };
        Some(self.constant_arg(Constant::Type(ty)))
    }

    /// Returns what is known of the result of a call with such arguments. The call is only asked
    /// about: its steps are taken back.
    pub(super) fn result_of(
        &mut self,
        frame: &mut Frame,
        callee: Arg,
        values: &[Lattice],
    ) -> Lattice {
        let (steps, operands, effect_free) =
            (frame.steps.len(), frame.args.len(), frame.effect_free);
        let kind = StepKind::Op(core_ops::UNDEF, Type::ANY);
        let args: Args =
            values.iter().map(|&known| frame.push(kind, &[], known, Attrs::NONE)).collect();
        let result = self.call_value(frame, callee, &args, Attrs::NONE);
        let known = frame.lattice(result);
        frame.steps.truncate(steps);
        frame.args.truncate(operands);
        frame.effect_free = effect_free;
        known
    }
}
