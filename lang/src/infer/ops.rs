//! The results of ops for operands of which something is known.
//!
//! Types follow from the signature of the op, constants from its fold, which the optimizer and
//! the interpreter share: what traps is never folded. Reading a part of a value that was made in
//! sight gives what the part was made of.

use regraft_dialects::{core as core_ops, data};
use regraft_ir::{
    Attrs, Constant, Fold, InstView, OpDef, Operand, ResultType, Traits, Type, TypeKind, Value,
};
use smallvec::SmallVec;

use super::frame::{Arg, Args, Frame, StepKind};
use super::inference::Inference;
use super::lattice::{Lattice, field_index};

impl Inference {
    /// A value that stands for `index` in questions about an instruction that is not made yet.
    pub(crate) fn stand_in(&mut self, index: u32) -> Value {
        if let Some(v) = self.scratch.raw_value(index + 1) {
            return v;
        }
        self.more_stand_ins(index)
    }

    #[cold]
    fn more_stand_ins(&mut self, index: u32) -> Value {
        let count = (index as usize + 1).next_power_of_two().max(1 << 12);
        let mut scratch = regraft_ir::Function::without_entry(&self.ctx, "", Type::ANY);
        scratch.reserve_numbers(count, 0).expect("an empty function has room for its numbers");
        self.scratch = scratch;
        self.scratch.raw_value(index + 1).expect("it was just reserved")
    }

    /// A call of an op by its name: one with a declared type takes it as its first argument.
    pub(super) fn call_op(
        &mut self,
        frame: &mut Frame,
        def: &'static OpDef,
        args: &[Arg],
        attrs: Attrs,
    ) -> Arg {
        match def.op {
            core_ops::APPLY => return self.call_value(frame, args[0], &args[1..], attrs),
            core_ops::SPLAT => return self.splat(frame, args[0], &args[1..], attrs),
            core_ops::CLOSURE => {
                let known = args.first().and_then(|&name| self.partials.value(frame.lattice(name)));
                return match known {
                    Some(Constant::Func(name)) => self.closure(frame, name, &args[1..]),
                    _ => self.fail(frame, "a closure that is not known"),
                };
            }
            core_ops::GLOBAL | core_ops::SET_GLOBAL => {}
            _ if matches!(def.result, ResultType::Declared) => {
                let Some((&first, rest)) = args.split_first() else {
                    return self.fail(frame, &format!("`{}` takes a type first", def.name));
                };
                let Some(Constant::Type(ty)) = self.partials.value(frame.lattice(first)) else {
                    return self.dynamic_op(frame, def, args);
                };
                let Some(ty) = self.concrete(ty) else {
                    let name = self.world.type_name(ty);
                    return self
                        .fail(frame, &format!("`{}` of the abstract type {name}", def.name));
                };
                return self.op(frame, def, rest, ty, attrs);
            }
            _ => {}
        }
        self.op(frame, def, args, Type::ANY, attrs)
    }

    /// An op of which the declared type is not known: the call is left to the running program.
    fn dynamic_op(&mut self, frame: &mut Frame, def: &'static OpDef, args: &[Arg]) -> Arg {
        let name = self.ctx.symbol(def.name);
        let callee = self.constant_arg(Constant::Func(name));
        self.dynamic(frame, callee, args)
    }

    /// The IR type that a type value stands for, if values can have it (or if it is `Any`).
    pub(super) fn concrete(&self, ty: Type) -> Option<Type> {
        match self.ctx.kind(ty) {
            TypeKind::Struct(_) if !self.world.is_concrete(ty) => None,
            _ => Some(ty),
        }
    }

    /// An op on these operands; `ty` is the type that is declared for its result.
    pub(super) fn op(
        &mut self,
        frame: &mut Frame,
        def: &'static OpDef,
        args: &[Arg],
        ty: Type,
        attrs: Attrs,
    ) -> Arg {
        if def.traits.contains(Traits::TERMINATOR) {
            return self.fail(frame, &format!("`{}` cannot be called", def.name));
        }
        match def.op {
            core_ops::GET | data::GETFIELD => {
                if let Some(part) = self.get_part(frame, args) {
                    return part;
                }
            }
            core_ops::TUPLE => return self.tuple(frame, args),
            data::NEW | data::NAMED => return self.new_value(frame, def, args, ty),
            data::SETFIELD => {
                let of = args.first().map(|&of| self.partials.type_of(frame.lattice(of)));
                if let Some(of) = of.filter(|&of| of != Type::ANY && !self.ctx.is_object(of)) {
                    let of = self.world.type_name(of);
                    let message =
                        format!("setfield!: immutable struct of type {of} cannot be changed");
                    return self.fail(frame, &message);
                }
                let field = args.get(1).and_then(|&at| self.partials.value(frame.lattice(at)));
                if let (Some(of), Some(Constant::Sym(field))) = (of, field)
                    && self.world.is_fixed(of, field)
                {
                    let (of, field) = (self.world.type_name(of), self.ctx.str(field));
                    let message =
                        format!("setfield!: const field .{field} of type {of} cannot be changed");
                    return self.fail(frame, &message);
                }
            }
            _ => {}
        }
        let mut operands: SmallVec<[Operand; 6]> = SmallVec::new();
        let mut types: SmallVec<[Type; 6]> = SmallVec::new();
        for &arg in args {
            let known = frame.lattice(arg);
            types.push(self.partials.type_of(known));
            operands.push(match (known, arg) {
                (Lattice::Const(constant), _) => constant.into(),
                (_, Arg::Step(step)) => self.stand_in(2 * step + 1).into(),
                (_, Arg::Operand(operand)) => match operand.as_value() {
                    Some(v) => self.stand_in(2 * v.index() as u32).into(),
                    None => operand,
                },
            });
        }
        let attrs = self.op_attrs(def, attrs);
        let view = InstView { ctx: &self.ctx, def, operands: &operands, types: &types, attrs, ty };
        let result = match view.result_type() {
            Ok(result) => result,
            Err(_) if !self.in_wrapper(frame) && !self.are_known(frame, args) => {
                // With the types that they have when it runs, it may be one.
                let declared = matches!(def.result, ResultType::Declared);
                let declared = declared.then(|| self.constant_arg(Constant::Type(ty)));
                let all: Args = declared.into_iter().chain(args.iter().copied()).collect();
                return self.dynamic_op(frame, def, &all);
            }
            Err(_) if def.op == data::GETFIELD && args.len() == 2 => {
                return self.no_field(frame, args[0], args[1]);
            }
            Err(message) => return self.fail(frame, &message),
        };
        let view = InstView { ty: result, ..view };
        match def.fold.and_then(|fold| fold(&view)) {
            Some(Fold::Constant(constant)) => return self.constant_arg(constant),
            Some(Fold::Operand(position)) => return args[position],
            None => {}
        }
        if !def.is_removable() {
            frame.effect_free = false;
        }
        let known = match def.op {
            core_ops::GET | data::GETFIELD if result == Type::ANY => self.field_of(frame, args),
            _ => None,
        };
        let known = known.unwrap_or_else(|| self.partials.of_type(result));
        let declared = if matches!(def.result, ResultType::Declared) { ty } else { result };
        frame.push(StepKind::Op(def.op, declared), args, known, attrs)
    }

    /// The error of asking for a field that there is not.
    fn no_field(&mut self, frame: &mut Frame, of: Arg, field: Arg) -> Arg {
        let of = self.world.type_name(self.partials.type_of(frame.lattice(of)));
        let text = |text: &str| self.constant_arg(Constant::Str(self.ctx.symbol(text)));
        let before = text(&format!("FieldError: type {of} has no field `"));
        let parts = [before, field, text("`")];
        let string = self.ctx.def(core_ops::STRING);
        let message = self.op(frame, string, &parts, Type::ANY, Attrs::NONE);
        self.fail_with(frame, message)
    }

    /// Returns whether the types of all arguments are exact.
    fn are_known(&self, frame: &Frame, args: &[Arg]) -> bool {
        args.iter().all(|&arg| self.partials.is_exact(frame.lattice(arg)))
    }

    /// Of the attributes of a call, those that the op has.
    fn op_attrs(&self, def: &'static OpDef, attrs: Attrs) -> Attrs {
        if attrs.is_empty() || def.attrs.is_empty() {
            return Attrs::NONE;
        }
        let entries = self.ctx.attr_entries(attrs);
        let has =
            |&(name, _): &(_, _)| def.attrs.iter().any(|attr| attr.name == self.ctx.str(name));
        if entries.iter().all(has) {
            return attrs;
        }
        let kept: Vec<_> = entries.iter().copied().filter(has).collect();
        self.ctx.attrs(&kept)
    }

    /// A constant as an operand.
    pub(super) fn constant_arg(&self, constant: Constant) -> Arg {
        Arg::Operand(self.ctx.constant_id(constant).into())
    }

    /// A field of a value by a constant index or name: a part that is known, or `core.get`.
    fn get_part(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let &[value, field] = args else { return None };
        let known = frame.lattice(value);
        let field = self.partials.value(frame.lattice(field))?;
        let ty = self.partials.type_of(known);
        let index = field_index(&self.ctx, ty, field)?;
        if self.ctx.is_object(ty) {
            return None;
        }
        // What a tuple was made of in sight is taken from there.
        if let Arg::Step(step) = value {
            let step = frame.steps[step as usize];
            if let StepKind::Op(core_ops::TUPLE | data::NEW | data::NAMED, _) = step.kind {
                let part = frame.step_args(&step)[index];
                let (have, want) = (frame.lattice(part), self.partials.part(known, index)?);
                if self.partials.type_of(have) == self.partials.type_of(want) {
                    return Some(part);
                }
            }
        }
        let mut part = self.partials.part(known, index)?;
        if part.is_bottom() {
            return None;
        }
        if part == Lattice::ANY {
            part = self.field_of(frame, args).unwrap_or(part);
        }
        if let Lattice::Const(constant) = part {
            return Some(Arg::Operand(constant.into()));
        }
        let index = self.constant_arg(Constant::I64(index as i64 + 1));
        let ty = self.partials.type_of(part);
        Some(frame.push(StepKind::Op(core_ops::GET, ty), &[value, index], part, Attrs::NONE))
    }

    /// The value of a field by a constant index or name, if it is declared to be of one of several types.
    fn field_of(&mut self, frame: &Frame, args: &[Arg]) -> Option<Lattice> {
        let &[of, field] = args else { return None };
        let of = self.partials.type_of(frame.lattice(of));
        let index = field_index(&self.ctx, of, self.partials.value(frame.lattice(field))?)?;
        Some(self.partials.union_of(self.world.members_of_field(of, index)?))
    }

    /// A tuple of values.
    pub(super) fn tuple(&mut self, frame: &mut Frame, args: &[Arg]) -> Arg {
        let parts: SmallVec<[Lattice; 8]> = args.iter().map(|&arg| frame.lattice(arg)).collect();
        let known = self.partials.tuple(&parts);
        let ty = self.partials.type_of(known);
        frame.push(StepKind::Op(core_ops::TUPLE, ty), args, known, Attrs::NONE)
    }

    /// A named tuple or immutable struct of type `ty`.
    fn new_value(&mut self, frame: &mut Frame, def: &'static OpDef, args: &[Arg], ty: Type) -> Arg {
        let fields = super::lattice::field_types(&self.ctx, ty);
        if fields.len() != args.len() {
            let (name, want) = (self.world.type_name(ty), fields.len());
            let message = format!("{name} has {want} fields, found {} values", args.len());
            return self.fail(frame, &message);
        }
        let mut values: SmallVec<[Arg; 8]> = SmallVec::new();
        for (&arg, &field) in args.iter().zip(&fields) {
            let asserted = self.assert_type(frame, arg, field);
            if frame.lattice(asserted).is_bottom() {
                return asserted;
            }
            values.push(asserted);
        }
        let parts: SmallVec<[Lattice; 8]> = values.iter().map(|&arg| frame.lattice(arg)).collect();
        let known = self.partials.partial(ty, &parts);
        frame.push(StepKind::Op(def.op, ty), &values, known, Attrs::NONE)
    }

    /// A value as one of type `ty`: itself if it surely is, an error if it surely is not.
    pub(super) fn assert_type(&mut self, frame: &mut Frame, arg: Arg, ty: Type) -> Arg {
        let known = frame.lattice(arg);
        let have = self.partials.type_of(known);
        if ty == Type::ANY || have == ty || have == Type::NEVER {
            return arg;
        }
        frame.effect_free = false;
        let may_hold = !self.partials.is_exact(known) || self.may_be(have, ty);
        let result = if may_hold { self.partials.of_type(ty) } else { Lattice::Bottom };
        // A tuple with parts of any type may be one, which the op does not take as known.
        let arg = self.forget_type(frame, arg);
        frame.push(StepKind::Op(core_ops::TYPEASSERT, ty), &[arg], result, Attrs::NONE)
    }

    /// Returns whether a value of type `have` may be one of type `want`: of tuples with parts of
    /// any type, values have types of their own. O(size of the types).
    fn may_be(&self, have: Type, want: Type) -> bool {
        let mut work = vec![(have, want)];
        while let Some((have, want)) = work.pop() {
            if have == want || want == Type::ANY || have == Type::ANY {
                continue;
            }
            match (self.ctx.kind(have), self.ctx.kind(want)) {
                (TypeKind::Tuple(have), TypeKind::Tuple(want)) if have.len() == want.len() => {
                    work.extend(have.iter().copied().zip(want.iter().copied()));
                }
                (TypeKind::Named(have), TypeKind::Named(want))
                    if have
                        .iter()
                        .map(|&(name, _)| name)
                        .eq(want.iter().map(|&(name, _)| name)) =>
                {
                    let types = |fields: &[(_, Type)]| fields.iter().map(|&(_, ty)| ty).collect();
                    let (have, want): (Vec<Type>, Vec<Type>) = (types(have), types(want));
                    work.extend(have.into_iter().zip(want));
                }
                _ => return false,
            }
        }
        true
    }

    /// The same value, of which nothing is known: for an op that is to fail when it runs.
    pub(super) fn forget_type(&mut self, frame: &mut Frame, arg: Arg) -> Arg {
        if self.partials.type_of(frame.lattice(arg)) == Type::ANY {
            return arg;
        }
        frame.push(StepKind::Op(core_ops::CONVERT, Type::ANY), &[arg], Lattice::ANY, Attrs::NONE)
    }

    /// Code that fails with a message when control gets to it.
    pub(super) fn fail(&mut self, frame: &mut Frame, message: &str) -> Arg {
        let message = self.constant_arg(Constant::Str(self.ctx.symbol(message)));
        self.fail_with(frame, message)
    }

    fn fail_with(&self, frame: &mut Frame, message: Arg) -> Arg {
        frame.effect_free = false;
        let kind = StepKind::Op(core_ops::THROW, Type::NEVER);
        frame.push(kind, &[message], Lattice::Bottom, Attrs::NONE)
    }
}
