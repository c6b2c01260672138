//! Calls of derivatives: made when the function and the types of the arguments are known, else
//! left to the running program.

use std::rc::Rc;

use regraft_dialects::semantics::is_subtype;
use regraft_dialects::{ad, core as core_ops};
use regraft_ir::{Attrs, Constant, Symbol, Type, TypeKind};
use smallvec::SmallVec;

use super::builtin_table::Builtin;
use super::derivative_key::{DerivativeEntry, DerivativeKey, DerivativeKind};
use super::frame::{Arg, Args, Frame, StepKind};
use super::inference::Inference;
use super::lattice::{Lattice, field_types};
use crate::world::SpecId;

type Types = SmallVec<[Type; 8]>;

impl Inference {
    /// Asks for a derivative.
    fn derive(&mut self, key: &DerivativeKey) -> DerivativeEntry {
        let oracle = Rc::clone(&self.oracle);
        oracle.derive(self, key)
    }

    /// Returns whether a program gives a rule for a call; `by` becomes invalid if that changes.
    pub(super) fn has_rule(&mut self, callee: Type, args: &[Type], by: SpecId) -> bool {
        if !self.has_rules {
            return false;
        }
        let oracle = Rc::clone(&self.oracle);
        oracle.has_rule(self, callee, args, by)
    }

    /// A call of a derivative.
    pub(super) fn derivative(
        &mut self,
        frame: &mut Frame,
        builtin: Builtin,
        args: &[Arg],
    ) -> Option<Arg> {
        if builtin == Builtin::Back {
            return self.call_back(frame, args);
        }
        let (&f, rest) = args.split_first()?;
        let callee = self.exact_type(frame, f)?;
        let passes = matches!(
            builtin,
            Builtin::Pushforward | Builtin::DynamicPushforward | Builtin::PushforwardMany
        );
        let (types, tangents) = match builtin {
            Builtin::DynamicReverse => self.interleaved(frame, args)?,
            _ => {
                let types = self.exact_parts(frame, *rest.first()?)?;
                let tangents = match passes {
                    true => self.parts_of(frame, *rest.get(1)?)?,
                    false => SmallVec::new(),
                };
                (types, tangents)
            }
        };
        if passes && tangents.len() != types.len() + 1 {
            let (want, have) = (types.len(), tangents.len().saturating_sub(1));
            let message =
                format!("one tangent for each of {want} arguments is wanted, found {have}");
            return Some(self.fail(frame, &message));
        }
        let kind = match builtin {
            Builtin::Gradient => DerivativeKind::Gradient,
            Builtin::GradientAlone => DerivativeKind::GradientAlone,
            Builtin::Pushforward => DerivativeKind::Pushforward(None),
            Builtin::DynamicPushforward => DerivativeKind::DynamicPushforward,
            Builtin::PushforwardMany => {
                let many = tangents.iter().find(|&&ty| ty != Type::UNIT)?;
                DerivativeKind::Pushforward(Some(
                    u8::try_from(field_types(&self.ctx, *many).len()).ok()?,
                ))
            }
            Builtin::Pullback => DerivativeKind::Pullback,
            _ => DerivativeKind::Dynamic,
        };
        let tangents = self.as_declared(kind, callee, &types, tangents.as_slice().into());
        let key = DerivativeKey { kind, callee, args: types.as_slice().into(), tangents };
        let made = match self.derive(&key) {
            DerivativeEntry::Generated(made) => made,
            DerivativeEntry::Deferred => return None,
            DerivativeEntry::Never(from) => {
                self.depend(frame, from);
                let args = match kind {
                    DerivativeKind::Dynamic => args.iter().copied().skip(2).step_by(2).collect(),
                    _ => self.elements(frame, rest[0])?,
                };
                return Some(self.call_value(frame, f, &args, Attrs::NONE));
            }
            // What has no derivative in several directions at once may have one in each.
            DerivativeEntry::Fails(from, _) if builtin == Builtin::PushforwardMany => {
                self.depend(frame, from);
                return Some(self.constant_arg(Constant::Unit));
            }
            DerivativeEntry::Fails(from, errors) => {
                self.depend(frame, from);
                if self.in_wrapper(frame) {
                    self.failures.insert(frame.spec, errors.clone());
                    let message = errors.first().map_or("", |error| error.message()).to_owned();
                    return Some(self.fail(frame, &message));
                }
                // The running program tells the error where it gets there.
                let name = self.ctx.symbol(builtin.name());
                let callee = self.constant_arg(Constant::Func(name));
                return Some(self.no_method(frame, callee, args));
            }
        };
        self.depend(frame, made.from);
        if kind == DerivativeKind::Dynamic {
            return Some(self.call_made(frame, made.first, args));
        }
        let args = self.elements(frame, rest[0])?;
        let mut given = self.pack(frame, made.takes_callee, made.fixed, f, &args);
        given.extend(rest.get(1).copied());
        Some(self.call_made(frame, made.first, &given))
    }

    /// Returns the function that a dynamic call in differentiated code runs: the forward part of a
    /// derivative itself, if there is one.
    pub(super) fn made_for_dynamic(
        &mut self,
        name: Symbol,
        args: &[Type],
        by: Option<SpecId>,
    ) -> Option<SpecId> {
        if self.builtins.get(&name) != Some(&Builtin::DynamicReverse) {
            return None;
        }
        let is_exact = |&ty: &Type| self.partials.is_exact(self.partials.of_type(ty));
        let (values, tangents): (Types, Types) =
            args.chunks_exact(2).map(|pair| (pair[0], pair[1])).unzip();
        if !values.iter().all(is_exact) {
            return None;
        }
        let (&callee, args) = values.split_first()?;
        let kind = DerivativeKind::Dynamic;
        let tangents = self.as_declared(kind, callee, args, tangents.as_slice().into());
        match self.derive(&DerivativeKey { kind, callee, args: args.into(), tangents }) {
            DerivativeEntry::Generated(made) => {
                if let Some(by) = by {
                    self.world.depend(by, made.from);
                }
                Some(made.first)
            }
            _ => None,
        }
    }

    /// The types of tangents or shadows that are passed, as the types of the values say them: a
    /// field that is declared as any has a tangent of any type, whatever it holds now.
    fn as_declared(
        &mut self,
        kind: DerivativeKind,
        callee: Type,
        args: &[Type],
        mut tangents: Box<[Type]>,
    ) -> Box<[Type]> {
        let values = std::iter::once(callee).chain(args.iter().copied());
        for (have, ty) in tangents.iter_mut().zip(values) {
            let of = self.oracle.tangent_types_of(&self.ctx, ty);
            let want = match kind {
                DerivativeKind::Pushforward(Some(width)) => {
                    self.ctx.tuple_type(&vec![of.tangent; width.into()])
                }
                DerivativeKind::Pushforward(None) | DerivativeKind::DynamicPushforward => {
                    of.tangent
                }
                _ => of.shadow,
            };
            if is_subtype(&self.ctx, *have, want) && want != Type::ANY {
                *have = want;
            }
        }
        tangents
    }

    /// The zero tangent of a value whose type is known.
    pub(super) fn zero_tangent(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let &[x] = args else { return None };
        let ty = self.exact_type(frame, x)?;
        let tangent = self.oracle.tangent_type(&self.ctx, ty);
        let Some(tangent) = tangent else {
            return Some(self.constant_arg(Constant::Unit));
        };
        let known = self.partials.of_type(tangent);
        Some(frame.push(StepKind::Op(ad::ZERO, tangent), &[x], known, Attrs::NONE))
    }

    /// A call of a function that is there, if the arguments are of its types.
    fn call_made(&mut self, frame: &mut Frame, id: SpecId, args: &[Arg]) -> Arg {
        let wanted: Types =
            self.spec(id).key.iter().map(|&known| self.partials.type_of(known)).collect();
        let given = args.iter().zip(&wanted);
        let given: Args = given.map(|(&arg, &want)| self.assert_type(frame, arg, want)).collect();
        frame.effect_free = false;
        let result = self.spec(id).result;
        frame.push(StepKind::Call(id), &given, result, Attrs::NONE)
    }

    /// A call of the reverse part of a pullback: the function, what the forward part kept, and a
    /// tangent of the value.
    fn call_back(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let &[back, state, seed] = args else { return None };
        let Constant::Func(name) = self.partials.value(frame.lattice(back))? else { return None };
        let id = self.spec_by_name(name)?;
        self.depend(frame, id);
        let &[_, want] = &*self.spec(id).key else { return None };
        let want = self.partials.type_of(want);
        let have = self.partials.type_of(frame.lattice(seed));
        let seed = if want == Type::ANY {
            seed
        } else if let Some(seed) = self.converted(frame, seed, want) {
            seed
        } else if have == Type::ANY || have == Type::UNIT {
            let seed = self.forget_type(frame, seed);
            let known = self.partials.of_type(want);
            frame.push(StepKind::Op(ad::UNBOX, want), &[seed], known, Attrs::NONE)
        } else if let Some(filled) = {
            let parts = self.elements(frame, state);
            let shadow = parts.and_then(|state| state.get(2).copied());
            self.filled(frame, seed, want, shadow)
        } {
            filled
        } else {
            let (want, have) = (self.world.type_name(want), self.world.type_name(have));
            let message = format!(
                "a pullback takes a tangent of the value, of type {want}, found one of type {have}"
            );
            self.fail(frame, &message)
        };
        Some(self.call_made(frame, id, &[state, seed]))
    }

    /// The types of the arguments of a call, and those of the shadows of the callee and of them: each
    /// stands after what it is of.
    fn interleaved(&self, frame: &Frame, args: &[Arg]) -> Option<(Types, Types)> {
        let (mut types, mut shadows) = (Types::new(), Types::new());
        for pair in args.chunks_exact(2) {
            types.push(self.exact_type(frame, pair[0])?);
            shadows.push(self.partials.type_of(frame.lattice(pair[1])));
        }
        types.remove(0);
        Some((types, shadows))
    }

    /// A tangent of type `want` from one that is a number as well, or where it says nothing.
    fn converted(&mut self, frame: &mut Frame, seed: Arg, want: Type) -> Option<Arg> {
        let have = self.partials.type_of(frame.lattice(seed));
        if have == want {
            return Some(seed);
        }
        if want.is_float() && (have.is_float() || have.is_int()) {
            let kind = StepKind::Op(core_ops::CONVERT, want);
            return Some(frame.push(kind, &[seed], Lattice::Of(want), Attrs::NONE));
        }
        (want == Type::UNIT).then(|| self.constant_arg(Constant::Unit))
    }

    /// A tangent of type `want` from one that has `nothing` in the place of zeros; `shadow` is that
    /// of the value, if it has one. The recursion is as deep as types are nested.
    fn filled(
        &mut self,
        frame: &mut Frame,
        seed: Arg,
        want: Type,
        shadow: Option<Arg>,
    ) -> Option<Arg> {
        if let Some(converted) = self.converted(frame, seed, want) {
            return Some(converted);
        }
        let have = self.partials.type_of(frame.lattice(seed));
        if have == Type::UNIT && want.is_float() {
            return Constant::zero(want).map(|zero| self.constant_arg(zero));
        }
        if !matches!(self.ctx.kind(want), TypeKind::Tuple(_)) {
            let shadow = shadow.filter(|_| have == Type::UNIT)?;
            let fits = self.partials.type_of(frame.lattice(shadow)) == want;
            let known = self.partials.of_type(want);
            let zero = StepKind::Op(ad::ZERO, want);
            return fits.then(|| frame.push(zero, &[shadow], known, Attrs::NONE));
        }
        let types = field_types(&self.ctx, want);
        let parts = match have {
            Type::UNIT => None,
            _ => Some(self.elements(frame, seed).filter(|parts| parts.len() == types.len())?),
        };
        let shadows = shadow.and_then(|shadow| self.elements(frame, shadow));
        let mut filled: Args = SmallVec::new();
        for (i, &ty) in types.iter().enumerate() {
            let part = match &parts {
                Some(parts) => parts[i],
                None => self.constant_arg(Constant::Unit),
            };
            let shadow = shadows.as_ref().and_then(|shadows| shadows.get(i).copied());
            filled.push(self.filled(frame, part, ty, shadow)?);
        }
        Some(self.tuple(frame, &filled))
    }

    /// The types of the elements of a tuple, if all are exact.
    fn exact_parts(&self, frame: &Frame, arg: Arg) -> Option<Types> {
        self.exact_type(frame, arg)?;
        self.parts_of(frame, arg)
    }

    fn parts_of(&self, frame: &Frame, arg: Arg) -> Option<Types> {
        let ty = self.partials.type_of(frame.lattice(arg));
        matches!(self.ctx.kind(ty), TypeKind::Tuple(_)).then(|| field_types(&self.ctx, ty))
    }
}
