//! Values of one of several types: tests narrow them, and calls of them are asked about for each type.

use regraft_dialects::core as core_ops;
use regraft_ir::{Attrs, Constant, Symbol, Type, TypeKind};
use smallvec::SmallVec;

use super::frame::{Arg, Args, Frame, StepKind};
use super::inference::{Inference, Name};
use super::lattice::Lattice;
use crate::definition::Space;
use crate::world::Binding;

/// The most combinations of types of arguments for which a call is asked about.
const MAX_COMBINATIONS: usize = 8;
/// The most calls that one is split into.
const MAX_CALLS: usize = 4;

impl Inference {
    /// `#tested(x, @test, other, outcome)`, and the `!` around the test, if there is one.
    pub(super) fn tested(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let (&[x, test, other, outcome], not) = args.split_first_chunk()?;
        let known = frame.lattice(x);
        if self.partials.is_exact(known) || known.is_bottom() {
            return Some(x);
        }
        let Some(Constant::Bool(mut holds)) = self.partials.value(frame.lattice(outcome)) else {
            return Some(x);
        };
        for &not in not {
            if self.own_name(frame, not) != Some("!") {
                return Some(x);
            }
        }
        let test = match self.own_name(frame, test) {
            Some("!==") => {
                holds = !holds;
                "==="
            }
            Some(test) => test,
            None => return Some(x),
        };
        let want = match test {
            "isa" => self.type_arg(frame, &[other], 0),
            "isnothing" => Some(Type::UNIT),
            "ismissing" => {
                match self.world.resolve(self.ctx.symbol("Missing"), Space::Base, None) {
                    Binding::Type(ty) => Some(ty),
                    _ => None,
                }
            }
            // Of a value that is not the same as another one, all is open unless that is the only
            // one of its type.
            "===" => self.exact_type(frame, other).filter(|&ty| holds || self.has_one_value(ty)),
            _ => None,
        };
        let Some(want) = want else { return Some(x) };
        let narrowed = match known {
            Lattice::Union(_) => {
                let members = self.partials.members(known);
                let kept = members.into_iter().filter(|&member| match holds {
                    true => !self.world.is_disjoint(member, want),
                    false => !self.world.is_below(member, want),
                });
                let kept = kept.collect();
                self.partials.union_of(kept)
            }
            // A union of itself alone: what is told apart.
            _ if holds && self.concrete(want).is_some() => match self.partials.of_type(want) {
                value if self.partials.is_told_apart(want) => value,
                _ => return Some(x),
            },
            _ => return Some(x),
        };
        Some(match narrowed {
            _ if narrowed == known => x,
            Lattice::Const(constant) => Arg::Operand(constant.into()),
            Lattice::Union(_) | Lattice::Bottom => {
                let kind = StepKind::Op(core_ops::CONVERT, Type::ANY);
                frame.push(kind, &[x], narrowed, Attrs::NONE)
            }
            _ => self.assert_type(frame, x, self.partials.type_of(narrowed)),
        })
    }

    /// A call with arguments that are of one of several types, as a call for each of them (union splitting, as in
    /// Julia's compiler); `None` if there are no such arguments, or too many types.
    pub(super) fn split_call(
        &mut self,
        frame: &mut Frame,
        callee: Arg,
        args: &[Arg],
    ) -> Option<Arg> {
        if frame.is_late || !self.partials.is_exact(frame.lattice(callee)) {
            return None;
        }
        let (mut calls, mut split) = (1, None);
        for (i, &arg) in args.iter().enumerate() {
            let known = frame.lattice(arg);
            match known {
                // A value that is passed twice is of one type.
                Lattice::Union(_) if args[..i].contains(&arg) => {}
                Lattice::Union(_) => {
                    calls *= self.partials.members(known).len();
                    split.get_or_insert(i);
                }
                _ if self.partials.is_exact(known) => {}
                _ => return None,
            }
        }
        let value = args[split.filter(|_| calls <= MAX_CALLS)?];
        let members = self.partials.members(frame.lattice(value));
        Some(self.call_for_each(frame, callee, args, value, &members, false))
    }

    /// A call with an argument of any type, as a call for each of the types that the methods of the callee take there; `None` if
    /// they are many, or one of them takes several.
    pub(super) fn split_by_methods(
        &mut self,
        frame: &mut Frame,
        callee: Arg,
        args: &[Arg],
    ) -> Option<Arg> {
        let known = frame.lattice(callee);
        if frame.is_late || !self.partials.is_exact(known) {
            return None;
        }
        let is_any = |&arg: &Arg| frame.lattice(arg) == Lattice::ANY;
        let is_known = |&arg: &Arg| self.partials.is_exact(frame.lattice(arg));
        if !args.iter().all(|arg| is_any(arg) || is_known(arg)) {
            return None;
        }
        let at = args.iter().position(is_any)?;
        let callee_type = self.partials.type_of(known);
        let types = args.iter().map(|&arg| self.partials.type_of(frame.lattice(arg)));
        let types: SmallVec<[Type; 8]> = types.collect();
        let taken = self.world.types_taken(callee_type, &types, at, MAX_CALLS)?;
        if taken.is_empty() || !taken.iter().all(|&ty| self.partials.is_told_apart(ty)) {
            return None;
        }
        self.world.watch_methods(callee_type, frame.spec);
        Some(self.call_for_each(frame, callee, args, args[at], &taken, true))
    }

    /// A call for each of the types that an argument may have. If there are others, no method takes them: one that is added while the
    /// code runs is too new for it.
    fn call_for_each(
        &mut self,
        frame: &mut Frame,
        callee: Arg,
        args: &[Arg],
        value: Arg,
        members: &[Type],
        has_others: bool,
    ) -> Arg {
        let [member, rest @ ..] = members else { return self.no_method(frame, callee, args) };
        let member = *member;
        let call = |this: &mut Self, frame: &mut Frame| {
            let known = match this.partials.of_type(member) {
                Lattice::Const(constant) => Arg::Operand(constant.into()),
                _ => this.assert_type(frame, value, member),
            };
            let args: Args =
                args.iter().map(|&arg| if arg == value { known } else { arg }).collect();
            this.call_value(frame, callee, &args, Attrs::NONE)
        };
        if rest.is_empty() && !has_others {
            return call(self, frame);
        }
        let is = self.ctx.def(core_ops::ISA);
        let want = self.constant_arg(Constant::Type(member));
        let is = self.op(frame, is, &[value, want], Type::ANY, Attrs::NONE);
        frame.push(StepKind::If, &[is], Lattice::Undef, Attrs::NONE);
        let first = call(self, frame);
        frame.push(StepKind::Else, &[first], Lattice::Undef, Attrs::NONE);
        let other = self.call_for_each(frame, callee, args, value, rest, has_others);
        let result = self.partials.join(frame.lattice(first), frame.lattice(other));
        frame.push(StepKind::EndIf, &[other], result, Attrs::NONE)
    }

    /// The name of a function of the prelude.
    fn own_name(&mut self, frame: &mut Frame, function: Arg) -> Option<&'static str> {
        const NAMES: [&str; 6] = ["isa", "===", "!==", "isnothing", "ismissing", "!"];
        let Some(Constant::Func(name)) = self.partials.value(frame.lattice(function)) else {
            return None;
        };
        let own: Symbol = match self.name(frame, name, frame.space) {
            Name::Builtin(builtin) => self.ctx.symbol(builtin.name()),
            Name::Binding(Binding::Function(function)) => function,
            _ => return None,
        };
        NAMES.into_iter().find(|&name| name == self.ctx.str(own))
    }

    /// Returns whether a type has one value only.
    fn has_one_value(&self, ty: Type) -> bool {
        match *self.ctx.kind(ty) {
            TypeKind::Struct(id) => {
                !self.ctx.is_object(ty) && self.ctx.struct_def(id).fields.is_empty()
            }
            _ => matches!(self.partials.of_type(ty), Lattice::Const(_)),
        }
    }

    /// Returns what is known of the result of a call, if some of the arguments are of one of several
    /// types each.
    pub(super) fn result_of_members(
        &mut self,
        frame: &mut Frame,
        callee: Arg,
        args: &[Arg],
    ) -> Lattice {
        let known: SmallVec<[Lattice; 6]> = args.iter().map(|&arg| frame.lattice(arg)).collect();
        let is_union = |known: &Lattice| matches!(known, Lattice::Union(_));
        let combinations: usize = known
            .iter()
            .filter(|known| is_union(known))
            .map(|&known| self.partials.members(known).len())
            .product();
        let is_known = !frame.is_late && self.partials.is_exact(frame.lattice(callee));
        if !is_known || !known.iter().any(is_union) || combinations > MAX_COMBINATIONS {
            return Lattice::ANY;
        }
        let mut result = Lattice::Bottom;
        for combination in 0..combinations {
            let mut left = combination;
            let values: SmallVec<[Lattice; 6]> = known
                .iter()
                .map(|&known| match known {
                    Lattice::Union(_) => {
                        let members = self.partials.members(known);
                        let member = members[left % members.len()];
                        left /= members.len();
                        self.partials.of_type(member)
                    }
                    _ => known,
                })
                .collect();
            let one = self.result_of(frame, callee, &values);
            result = self.partials.join(result, one);
        }
        // A call that fails for each of them fails when control gets to it.
        if result.is_bottom() { Lattice::ANY } else { result }
    }
}
