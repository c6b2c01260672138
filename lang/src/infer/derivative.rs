//! Calls of derivatives: made when the function and the types of the arguments are known, else
//! left to the running program.

use regraft_dialects::{ad, core as core_ops};
use regraft_ir::{Attrs, Constant, Type, TypeKind};
use smallvec::SmallVec;

use super::Compiler;
use super::builtin::Builtin;
use super::calls::Args;
use super::frame::{Arg, Frame, StepKind};
use super::lattice::{Lattice, field_types};
use crate::derive::{Answer, Kind, Made, Question};
use crate::world::SpecId;

impl Compiler {
    /// A call of a derivative.
    pub(super) fn derivative(
        &mut self,
        frame: &mut Frame,
        builtin: Builtin,
        args: &[Arg],
    ) -> Option<Arg> {
        let (&f, rest) = args.split_first()?;
        let callee = self.exact_type(frame, f)?;
        let is_second = matches!(builtin, Builtin::Back | Builtin::DynamicBack);
        let types = if is_second {
            let tuple = self.type_arg(frame, rest, 0)?;
            field_types(&self.ctx, tuple)
        } else {
            self.exact_parts(frame, *rest.first()?)?
        };
        let passes =
            matches!(builtin, Builtin::Push | Builtin::PushMany | Builtin::DynamicPullback);
        let tangents = match passes {
            true => self.parts_of(frame, *rest.get(1)?)?,
            false => SmallVec::new(),
        };
        if passes && tangents.len() != types.len() + 1 {
            let (want, have) = (types.len(), tangents.len().saturating_sub(1));
            let message =
                format!("one tangent for each of {want} arguments is wanted, found {have}");
            return Some(self.fail(frame, &message));
        }
        let kind = match builtin {
            Builtin::Gradient => Kind::Gradient,
            Builtin::Push => Kind::Push(None),
            Builtin::PushMany => {
                let many = tangents.iter().find(|&&ty| ty != Type::UNIT)?;
                Kind::Push(Some(u8::try_from(field_types(&self.ctx, *many).len()).ok()?))
            }
            Builtin::Pullback | Builtin::Back => Kind::Pullback,
            _ => Kind::Dynamic,
        };
        // What a tape is does not depend on which shadows there are; who made it asks for both.
        let tangents: Box<[Type]> = match builtin {
            Builtin::DynamicBack => {
                let tuple = self.type_arg(frame, rest, 1)?;
                field_types(&self.ctx, tuple).as_slice().into()
            }
            _ => tangents.as_slice().into(),
        };
        let question = Question { kind, callee, args: types.as_slice().into(), tangents };
        let made = match self.derive(&question) {
            Answer::Made(made) => made,
            Answer::Later => return None,
            Answer::Never(from) if !is_second => {
                self.depend(frame, from);
                let args = self.elements(frame, rest[0])?;
                return Some(self.call_value(frame, f, &args, Attrs::NONE));
            }
            Answer::Never(_) => return None,
            // What has no derivative in several directions at once may have one in each.
            Answer::Fails(from, _) if builtin == Builtin::PushMany => {
                self.depend(frame, from);
                return Some(self.constant_arg(Constant::Unit));
            }
            Answer::Fails(from, errors) => {
                self.depend(frame, from);
                if self.in_wrapper(frame) {
                    self.derived.failures.insert(frame.spec, errors.clone());
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
        let given = if is_second {
            self.second_args(frame, builtin, &made, rest)?
        } else {
            let mut given = self.pack(frame, &made, f, rest[0])?;
            given.extend(rest.get(1).copied());
            given
        };
        let id = if is_second { made.second? } else { made.first };
        Some(self.call_made(frame, id, &given))
    }

    /// The zero tangent of a value whose type is known.
    pub(super) fn zero_tangent(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let &[x] = args else { return None };
        let ty = self.exact_type(frame, x)?;
        let tangent = self.tangent_type(ty);
        let Some(tangent) = tangent else {
            return Some(self.constant_arg(Constant::Unit));
        };
        let known = self.partials.of_type(tangent);
        Some(frame.push(StepKind::Op(ad::ZERO, tangent), &[x], known, Attrs::NONE))
    }

    /// A call of a function that is there, if the arguments are of its types.
    fn call_made(&mut self, frame: &mut Frame, id: SpecId, args: &[Arg]) -> Arg {
        let wanted: SmallVec<[Type; 8]> =
            self.spec(id).key.iter().map(|&known| self.partials.type_of(known)).collect();
        let mut given: Args = SmallVec::new();
        for (&arg, &want) in args.iter().zip(&wanted) {
            given.push(self.assert_type(frame, arg, want));
        }
        frame.effect_free = false;
        let result = self.spec(id).result;
        frame.push(StepKind::Call(id), &given, result, Attrs::NONE)
    }

    /// The arguments of an interface: the callee if it takes one, those of the call, with those of
    /// a vararg as a tuple.
    fn pack(&mut self, frame: &mut Frame, made: &Made, f: Arg, args: Arg) -> Option<Args> {
        let args = self.elements(frame, args)?;
        let mut given: Args = SmallVec::new();
        if made.takes_callee {
            given.push(f);
        }
        match made.fixed {
            Some(fixed) => {
                let fixed = fixed.min(args.len());
                given.extend_from_slice(&args[..fixed]);
                let rest = self.tuple(frame, &args[fixed..]);
                given.push(rest);
            }
            None => given.extend(args),
        }
        Some(given)
    }

    /// What a backward sweep takes: what the forward sweep kept, and a tangent that fits.
    fn second_args(
        &mut self,
        frame: &mut Frame,
        builtin: Builtin,
        made: &Made,
        rest: &[Arg],
    ) -> Option<Args> {
        let mut given: Args = SmallVec::new();
        if builtin == Builtin::DynamicBack {
            given.push(*rest.get(2)?);
            let any = self.forget_type(frame, *rest.get(3)?);
            given.push(any);
            return Some(given);
        }
        given.push(*rest.get(1)?);
        let seed = *rest.get(2)?;
        let want = made.seed;
        let have = self.partials.type_of(frame.lattice(seed));
        let fits = have == want || want == Type::ANY;
        let seed = if fits {
            seed
        } else if want.is_float() && (have.is_float() || have.is_int()) {
            let known = Lattice::Of(want);
            frame.push(StepKind::Op(core_ops::CONVERT, want), &[seed], known, Attrs::NONE)
        } else if want == Type::UNIT {
            self.constant_arg(Constant::Unit)
        } else if have == Type::ANY || have == Type::UNIT {
            let seed = self.forget_type(frame, seed);
            let known = self.partials.of_type(want);
            frame.push(StepKind::Op(ad::UNBOX, want), &[seed], known, Attrs::NONE)
        } else if let Some(filled) = {
            let state = self.elements(frame, given[0]);
            let shadow = state.and_then(|state| state.get(2).copied());
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
        given.push(seed);
        Some(given)
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
        let have = self.partials.type_of(frame.lattice(seed));
        if have == want {
            return Some(seed);
        }
        if want.is_float() && (have.is_float() || have.is_int()) {
            let known = Lattice::Of(want);
            return Some(frame.push(
                StepKind::Op(core_ops::CONVERT, want),
                &[seed],
                known,
                Attrs::NONE,
            ));
        }
        match (want, have) {
            (Type::UNIT, _) => return Some(self.constant_arg(Constant::Unit)),
            (Type::F64, Type::UNIT) => return Some(self.constant_arg(Constant::from(0.0f64))),
            (Type::F32, Type::UNIT) => return Some(self.constant_arg(Constant::from(0.0f32))),
            _ => {}
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
        let shadows = match shadow {
            Some(shadow) => self.elements(frame, shadow),
            None => None,
        };
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
    fn exact_parts(&self, frame: &Frame, arg: Arg) -> Option<SmallVec<[Type; 8]>> {
        self.exact_type(frame, arg)?;
        self.parts_of(frame, arg)
    }

    fn parts_of(&self, frame: &Frame, arg: Arg) -> Option<SmallVec<[Type; 8]>> {
        let ty = self.partials.type_of(frame.lattice(arg));
        matches!(self.ctx.kind(ty), TypeKind::Tuple(_)).then(|| field_types(&self.ctx, ty))
    }
}
