//! Observations of values: their content, and which objects are the same.
//!
//! Values of two runs cannot be compared as such: they are of two heaps, and of two contexts if
//! two texts were read. An [`Observation`] is a list of what one comes across when one walks
//! through values from the roots on, in which an object is described where it is met first, and
//! is a back reference from then on. Two runs have the same values with the same aliases if and
//! only if the lists are equal.

use std::fmt::{self, Write};

use regraft_exec::value::Val;
use regraft_ir::{Constant, Context, Type, TypeKind};
use rustc_hash::FxHashMap;

/// The most steps of a walk. Tuples that share their parts can be exponentially large.
const MAX_STEPS: usize = 20_000;

/// The values that can be reached from some roots.
#[derive(Clone, Debug)]
pub struct Observation {
    steps: Vec<Step>,
}

/// A part of an observation.
#[derive(Clone, PartialEq, Debug)]
enum Step {
    /// A value without parts that is no float, as text.
    Bool(bool),
    Int(Type, i64),
    F32(f32),
    F64(f64),
    /// A symbol, string, function or type, as IR text; or `nothing`.
    Text(String),
    /// An element that is not defined.
    Undefined,
    /// A value with parts, which follow: its kind and how many parts there are.
    Parts(String, usize),
    /// An object that is met for the first time: likewise, and the number that it gets.
    Object(usize, String, usize),
    /// An object that was met before, by its number.
    Again(usize),
    /// Here the walk was given up.
    Cut,
}

/// The condition under which two floats count as equal.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum FloatMatch {
    /// Bit for bit. Only of two *quiet* NaNs the sign and the payload do not count: which one an
    /// arithmetic operation gives is not part of the meaning of a program. A signalling NaN has
    /// not been computed with, only moved, so all its bits count.
    #[default]
    Exact,
    /// Bit for bit, and any NaN equals any other: for engines.
    AnyNan,
    /// If their difference is at most this, relative to the larger one (and for values below 1,
    /// absolutely). For passes that use the algebra of real numbers.
    Relative(f64),
}

impl FloatMatch {
    /// Returns whether numbers are compared bit for bit.
    pub(crate) fn is_exact(self) -> bool {
        matches!(self, Self::Exact | Self::AnyNan)
    }

    pub(crate) fn equal(self, x: f64, y: f64) -> bool {
        if x.to_bits() == y.to_bits() {
            return true;
        }
        match self {
            Self::Exact => is_quiet(x) && is_quiet(y),
            Self::AnyNan => x.is_nan() && y.is_nan(),
            Self::Relative(_) if x.is_nan() => y.is_nan(),
            Self::Relative(tolerance) => {
                let scale = x.abs().max(y.abs()).max(1.0);
                x == y || (scale.is_finite() && (x - y).abs() <= tolerance * scale)
            }
        }
    }

    /// As [`FloatMatch::equal`]; to widen a NaN would make it quiet.
    fn equal_narrow(self, x: f32, y: f32) -> bool {
        let loud = |x: f32| x.is_nan() && x.to_bits() & (1 << 22) == 0;
        match self {
            Self::Exact if loud(x) || loud(y) => x.to_bits() == y.to_bits(),
            // The tolerance is meant for `f64`; an `f32` has 29 bits less.
            Self::Relative(tolerance) => {
                Self::Relative(tolerance.max(1e-3)).equal(x.into(), y.into())
            }
            Self::Exact | Self::AnyNan => self.equal(x.into(), y.into()),
        }
    }
}

/// Returns whether it is a NaN that some operation may have given.
fn is_quiet(x: f64) -> bool {
    x.is_nan() && x.to_bits() & (1 << 51) != 0
}

impl Observation {
    /// Walks through what can be reached from `roots`. Time and space are bounded; no
    /// recursion.
    pub fn of<'a>(ctx: &Context, roots: impl IntoIterator<Item = &'a Val>) -> Self {
        let mut walk = Walk { ctx, steps: Vec::new(), seen: FxHashMap::default() };
        let mut todo: Vec<Option<Val>> = roots.into_iter().cloned().map(Some).collect();
        todo.reverse();
        while let Some(value) = todo.pop() {
            if walk.steps.len() >= MAX_STEPS {
                walk.steps.push(Step::Cut);
                break;
            }
            walk.visit(value, &mut todo);
        }
        Self { steps: walk.steps }
    }

    /// Returns whether all floats are finite.
    pub fn is_finite(&self) -> bool {
        self.steps.iter().all(|step| match step {
            Step::F64(x) => x.is_finite(),
            Step::F32(x) => x.is_finite(),
            _ => true,
        })
    }

    /// Returns whether two observations are the same.
    pub fn matches(&self, other: &Self, floats: FloatMatch) -> bool {
        self.steps.len() == other.steps.len()
            && self.steps.iter().zip(&other.steps).all(|pair| match pair {
                (&Step::F64(x), &Step::F64(y)) => floats.equal(x, y),
                (&Step::F32(x), &Step::F32(y)) => floats.equal_narrow(x, y),
                (x, y) => x == y,
            })
    }
}

struct Walk<'a> {
    ctx: &'a Context,
    steps: Vec<Step>,
    /// The numbers of the objects, by address.
    seen: FxHashMap<*const (), usize>,
}

impl Walk<'_> {
    fn visit(&mut self, value: Option<Val>, todo: &mut Vec<Option<Val>>) {
        let Some(value) = value else {
            self.steps.push(Step::Undefined);
            return;
        };
        let step = match &value {
            &Val::Bool(x) => Step::Bool(x),
            &Val::I8(x) => Step::Int(Type::I8, x.into()),
            &Val::I16(x) => Step::Int(Type::I16, x.into()),
            &Val::I32(x) => Step::Int(Type::I32, x.into()),
            &Val::I64(x) => Step::Int(Type::I64, x),
            &Val::F32(x) => Step::F32(x),
            &Val::F64(x) => Step::F64(x),
            Val::Str(text) => {
                let mut out = String::new();
                let _ = write!(out, "{:?}", text.as_str());
                Step::Text(out)
            }
            Val::Unit => Step::Text("nothing".to_owned()),
            &Val::Sym(name) => Step::Text(self.ctx.constant_text(Constant::Sym(name))),
            &Val::Func(name) => Step::Text(self.ctx.constant_text(Constant::Func(name))),
            &Val::Type(ty) => Step::Text(self.ctx.constant_text(Constant::Type(ty))),
            Val::Tuple(fields) => self.parts("tuple".to_owned(), fields.items(), todo),
            Val::Named(fields) => {
                let mut names = String::from("named");
                if let TypeKind::Named(shape) = self.ctx.kind(fields.ty()) {
                    for &(name, _) in shape {
                        let _ = write!(names, " {}", self.ctx.str(name));
                    }
                }
                self.parts(names, fields.items(), todo)
            }
            Val::Struct(fields) => {
                let name = self.ctx.type_text(fields.ty());
                self.parts(name, fields.items(), todo)
            }
            Val::Object(object) => {
                let fields = object.fields().map(Some).collect();
                let name = self.ctx.type_text(object.ty());
                self.object(
                    regraft_exec::value::Shared::as_ptr(object).cast(),
                    || (name, fields),
                    todo,
                )
            }
            Val::Array(array) => {
                let describe = || {
                    let element = self.ctx.type_text(array.element());
                    let name = format!("array of {element}, {:?}", array.dims());
                    // More elements than there are steps need not be copied.
                    let count = array.len().min(MAX_STEPS);
                    (name, (0..count).map(|i| array.get(i)).collect())
                };
                let address = regraft_exec::value::Shared::as_ptr(array).cast();
                match self.seen.get(&address) {
                    Some(&number) => Step::Again(number),
                    None => {
                        let (name, items) = describe();
                        self.object(address, || (name, items), todo)
                    }
                }
            }
            Val::Ref(cell) => {
                let name = format!("ref of {}", self.ctx.type_text(cell.element()));
                let items = vec![Some(cell.get())];
                self.object(
                    regraft_exec::value::Shared::as_ptr(cell).cast(),
                    || (name, items),
                    todo,
                )
            }
        };
        self.steps.push(step);
    }

    fn parts(&self, kind: String, items: &[Val], todo: &mut Vec<Option<Val>>) -> Step {
        todo.extend(items.iter().rev().cloned().map(Some));
        Step::Parts(kind, items.len())
    }

    fn object(
        &mut self,
        address: *const (),
        describe: impl FnOnce() -> (String, Vec<Option<Val>>),
        todo: &mut Vec<Option<Val>>,
    ) -> Step {
        if let Some(&number) = self.seen.get(&address) {
            return Step::Again(number);
        }
        let number = self.seen.len() + 1;
        self.seen.insert(address, number);
        let (kind, items) = describe();
        let count = items.len();
        todo.extend(items.into_iter().rev());
        Step::Object(number, kind, count)
    }
}

impl fmt::Display for Observation {
    /// The roots, separated by commas. An object is written `#1 = kind(parts)` where it is met
    /// first, and `#1` from then on.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // How many parts are still to come of what is open.
        let mut open: Vec<usize> = Vec::new();
        let mut first = true;
        for step in &self.steps {
            if !first {
                f.write_str(", ")?;
            }
            first = false;
            let parts = match step {
                Step::Bool(x) => write!(f, "{x}").map(|()| None),
                Step::Int(Type::I64, x) => write!(f, "{x}").map(|()| None),
                Step::Int(ty, x) => {
                    let bits = ty.bits().unwrap_or(0);
                    write!(f, "{x}i{bits}").map(|()| None)
                }
                // Which NaN it is may be what is the matter.
                Step::F32(x) if x.is_nan() => {
                    write!(f, "nan(0x{:08x})f32", x.to_bits()).map(|()| None)
                }
                Step::F64(x) if x.is_nan() => {
                    write!(f, "nan(0x{:016x})", x.to_bits()).map(|()| None)
                }
                Step::F32(x) => write!(f, "{x:?}f32").map(|()| None),
                Step::F64(x) => write!(f, "{x:?}").map(|()| None),
                Step::Text(text) => f.write_str(text).map(|()| None),
                Step::Undefined => f.write_str("undefined").map(|()| None),
                Step::Again(number) => write!(f, "#{number}").map(|()| None),
                Step::Cut => return f.write_str("..."),
                Step::Parts(kind, count) => write!(f, "{kind}(").map(|()| Some(*count)),
                Step::Object(number, kind, count) => {
                    write!(f, "#{number} = {kind}(").map(|()| Some(*count))
                }
            }?;
            match parts {
                Some(count) => {
                    open.push(count);
                    first = true;
                }
                None => {
                    if let Some(left) = open.last_mut() {
                        *left -= 1;
                    }
                }
            }
            while open.last() == Some(&0) {
                open.pop();
                f.write_char(')')?;
                first = false;
                if let Some(left) = open.last_mut() {
                    *left -= 1;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use regraft_exec::value::Array;

    fn same(a: &[Val], b: &[Val]) -> bool {
        let ctx = regraft_dialects::context();
        Observation::of(&ctx, a).matches(&Observation::of(&ctx, b), FloatMatch::Exact)
    }

    #[test]
    fn aliases_are_seen() {
        let make = || Val::from(Array::vector(&[1.0, 2.0]));
        let (a, b) = (make(), make());
        assert!(same(&[a.clone(), a.clone()], &[b.clone(), b.clone()]));
        assert!(!same(&[a.clone(), a.clone()], &[a, b]));
    }

    #[test]
    fn floats_are_compared_bit_for_bit_but_for_quiet_nans() {
        assert!(!same(&[0.0.into()], &[(-0.0).into()]));
        assert!(same(&[f64::NAN.into()], &[(-f64::NAN).into()]));
        let loud = |payload: u64| Val::F64(f64::from_bits(0x7ff0_0000_0000_0000 | payload));
        assert!(same(&[loud(1)], &[loud(1)]));
        assert!(!same(&[loud(1)], &[loud(2)]) && !same(&[loud(1)], &[f64::NAN.into()]));
        let loud = |payload: u32| Val::F32(f32::from_bits(0x7f80_0000 | payload));
        assert!(same(&[loud(1)], &[loud(1)]));
        assert!(!same(&[loud(1)], &[loud(2)]) && !same(&[loud(1)], &[Val::F32(f32::NAN)]));
        assert!(!same(&[1.0.into()], &[Val::F32(1.0)]));
        assert!(!FloatMatch::Exact.equal(1.0, 1.0 + f64::EPSILON));
        assert!(FloatMatch::Relative(1e-9).equal(1.0, 1.0 + f64::EPSILON));
        assert!(FloatMatch::Relative(1e-9).equal(0.0, -0.0));
        assert!(!FloatMatch::Relative(1e-9).equal(1.0, 1.0 + 1e-8));
        assert!(!FloatMatch::Relative(1e-9).equal(f64::INFINITY, 1.0));
    }

    #[test]
    fn a_cycle_ends() {
        let ctx = regraft_dialects::context();
        let cell = Val::reference(Type::ANY, 0i64.into());
        if let Val::Ref(inner) = &cell {
            inner.set(cell.clone());
        }
        let seen = Observation::of(&ctx, [&cell, &Val::tuple([1i64.into(), cell.clone()])]);
        assert_eq!(seen.to_string(), "#1 = ref of any(#1), tuple(1, #1)");
        if let Val::Ref(inner) = &cell {
            inner.set(Val::Unit);
        }
    }

    #[test]
    fn tuples_that_share_parts_are_cut_off() {
        let ctx = regraft_dialects::context();
        let mut tuple = Val::from(1i64);
        for _ in 0..60 {
            tuple = Val::tuple([tuple.clone(), tuple]);
        }
        assert!(Observation::of(&ctx, [&tuple]).to_string().ends_with("..."));
    }
}
