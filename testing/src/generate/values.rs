//! Operands: values in scope, constants, and values made for the purpose.

use regraft_dialects::{core, data, mem};
use regraft_ir::{Constant, Context, Operand, Type, TypeKind};

use super::body::{Body, Var};
use super::types::{array_element, ref_element};
use crate::choices::Choices;

/// A constant of a type that has literals, special values being likely.
pub(crate) fn special_constant(ctx: &Context, ty: Type, c: &mut Choices) -> Option<Constant> {
    Some(match ty {
        Type::UNIT => Constant::Unit,
        Type::BOOL => Constant::Bool(c.chance(50)),
        _ if ty.is_int() => special_int(ty, c),
        Type::F32 => Constant::F32(special_f32(c)),
        Type::F64 => Constant::F64(special_f64(c)),
        Type::SYM => Constant::Sym(ctx.symbol(c.pick(&["x", "y", "a b", "count"]))),
        Type::STR => {
            Constant::Str(ctx.symbol(c.pick(&["", "x", "a\nb", "\"quoted\" \\", "π ≈ 3", "\u{7}"])))
        }
        _ => match *ctx.kind(ty) {
            TypeKind::Fn(name) => Constant::Func(name),
            TypeKind::TypeOf(of) => Constant::Type(of),
            _ => return None,
        },
    })
}

/// Small integers mostly; what is near the ends of the range of the type; any bits.
fn special_int(ty: Type, c: &mut Choices) -> Constant {
    const SMALL: [i64; 9] = [0, 1, 2, 3, -1, 5, 7, 64, -2];
    /// Distances from an end of the range: 0 to 4 from the least, -1 to -5 from the greatest.
    const ENDS: [i64; 7] = [0, -1, 1, -2, 2, 4, -5];
    const OTHER: [i64; 6] = [100, -3, 8, 63, -128, 255];
    let least = i64::MIN >> (64 - ty.bits().unwrap_or(64));
    let value = match c.below(9) {
        0..=5 => c.pick(&SMALL),
        6 => least.wrapping_add(c.pick(&ENDS)),
        7 => c.pick(&OTHER),
        _ => (i64::from(c.bits()) << 32) | i64::from(c.bits()),
    };
    // What is beyond one end is at the other.
    Constant::int(ty, value).expect("an integer type")
}

const FLOATS: [f64; 9] = [0.0, 1.0, 2.0, -1.0, 0.5, 3.0, -0.0, 1.5, -2.5];

/// The bits of an `f64`: numbers near 1 mostly; infinities; NaNs of both signs, quiet and
/// signalling, with payloads; the largest and the smallest numbers, subnormal ones included.
fn special_f64(c: &mut Choices) -> u64 {
    const SPECIAL: [u64; 14] = [
        0x7ff0_0000_0000_0000,
        0x7ff8_0000_0000_0000,
        0xfff0_0000_0000_0000,
        0x7fef_ffff_ffff_ffff,
        0x0010_0000_0000_0000,
        0x0000_0000_0000_0001,
        0x4202_a05f_2000_0000, // 1e10
        0xfff8_0000_0000_0000,
        0x7ff8_0000_0000_002a,
        0x7ff0_0000_0000_0007,
        0xfff4_0000_0000_0001,
        0x8000_0000_0000_0001,
        0x000f_ffff_ffff_ffff,
        0x3ff0_0000_0000_0001,
    ];
    match c.below(8) {
        0..=4 => c.pick(&FLOATS).to_bits(),
        5 | 6 => c.pick(&SPECIAL),
        // Not any bits, which would mostly be far from 1.
        _ => (f64::from(c.bits() as i32) / f64::from(1 << 20)).to_bits(),
    }
}

/// The same of an `f32`.
fn special_f32(c: &mut Choices) -> u32 {
    const SPECIAL: [u32; 14] = [
        0x7f80_0000,
        0x7fc0_0000,
        0xff80_0000,
        0x7f7f_ffff,
        0x0080_0000,
        0x0000_0001,
        0x5015_02f9, // 1e10
        0xffc0_0000,
        0x7fc0_002a,
        0x7f80_0007,
        0xffa0_0001,
        0x8000_0001,
        0x007f_ffff,
        0x3f80_0001,
    ];
    match c.below(8) {
        0..=4 => (c.pick(&FLOATS) as f32).to_bits(),
        5 | 6 => c.pick(&SPECIAL),
        _ => (c.bits() as i32 as f32 / (1 << 20) as f32).to_bits(),
    }
}

/// From how many values in scope one is drawn.
const CHOICES: u32 = 64;

/// One of `count` values, 0 being the last one. Values that were made recently are likelier, so
/// that results are used, and used by what is used.
fn nth_of(choice: u32, count: usize) -> usize {
    let choice = choice as usize;
    (choice * choice * count) / (CHOICES * CHOICES) as usize
}

impl Body<'_, '_> {
    /// A value of type `ty` when the program runs, whose static type is `ty` too, or, if
    /// `dynamic`, possibly `any`.
    pub(super) fn operand(&mut self, ty: Type, dynamic: bool) -> Var {
        let fits = |var: &Var| var.known == ty && (var.ty == ty || dynamic);
        let literal = ty.is_scalar() || matches!(ty, Type::UNIT | Type::SYM | Type::STR);
        let Some(choice) = self.c().maybe(if literal { 75 } else { 88 }, CHOICES) else {
            return self.fresh(ty);
        };
        let count = self.scope.iter().filter(|var| fits(var)).count();
        if count > 0 {
            let nth = nth_of(choice, count);
            return *self.scope.iter().rev().filter(|var| fits(var)).nth(nth).expect("counted");
        }
        // No further draw, if that can be: what follows would get the numbers that this one used
        // where there was a value.
        let mut again = Choices::replay(vec![choice; 4]);
        match self.literal(ty, &mut again) {
            Some(constant) => Var { operand: self.constant(constant), ty, known: ty },
            None => self.fresh(ty),
        }
    }

    /// A constant, if there are any of this type.
    fn literal(&self, ty: Type, c: &mut Choices) -> Option<Constant> {
        if self.shared.config.smooth {
            if ty == Type::F64 {
                return Some(super::smooth::float(c).into());
            }
            if ty.is_int() {
                return Constant::int(ty, c.pick(&[1, 2, 0, 3, 5, -1]));
            }
        }
        special_constant(&self.shared.ctx, ty, c)
    }

    /// Any value at all.
    pub(super) fn anything(&mut self) -> Var {
        match self.c().maybe(80, CHOICES) {
            Some(choice) if !self.scope.is_empty() => {
                let count = self.scope.len();
                self.scope[count - 1 - nth_of(choice, count)]
            }
            Some(_) => self.operand(Type::I64, false),
            None => {
                let ty = self.any_type();
                self.fresh(ty)
            }
        }
    }

    pub(super) fn any_type(&mut self) -> Type {
        self.shared.types.any(&mut self.shared.choices)
    }

    /// A constant, or a value made of operands by instructions.
    pub(super) fn fresh(&mut self, ty: Type) -> Var {
        let ctx = self.ctx();
        let mut choices = std::mem::replace(self.c(), Choices::replay(Vec::new()));
        let constant = self.literal(ty, &mut choices);
        *self.c() = choices;
        if let Some(constant) = constant {
            return Var { operand: ctx.constant_id(constant).into(), ty, known: ty };
        }
        // Types are made of types that were there before, so this ends.
        let inst = match ctx.kind(ty) {
            TypeKind::Tuple(types) => core::tuple(self.typed_operands(types)),
            TypeKind::Named(fields) => {
                let types: Vec<Type> = fields.iter().map(|&(_, ty)| ty).collect();
                data::named(self.fitting_operands(&types), ty)
            }
            &TypeKind::Struct(id) => {
                let def = ctx.struct_def(id);
                let types: Vec<Type> = def.fields.iter().map(|&(_, ty)| ty).collect();
                let fields = self.fitting_operands(&types);
                if def.mutable { data::new_object(fields, ty) } else { data::new(fields, ty) }
            }
            &TypeKind::Array { element, rank: 1 } if self.c().chance(75) => {
                let count = 1 + self.c().below(4);
                let elements = self.fitting_operands(&vec![element; count]);
                mem::array(elements, ty)
            }
            &TypeKind::Array { element, rank } => {
                let value = self.typed_operands(&[element])[0];
                let dims: Vec<Operand> = (0..rank).map(|_| self.small_dim()).collect();
                mem::fill(value, dims)
            }
            &TypeKind::Ref(element) => mem::ref_new(self.typed_operands(&[element])[0]),
            _ => {
                debug_assert_eq!(ty, Type::ANY, "every other type has literals");
                return self.made_dynamic();
            }
        };
        let value = self.push(inst);
        let var = Var { operand: value.into(), ty, known: ty };
        self.define(var);
        var
    }

    /// A dimension of a new array: a constant between 0 and 3, rarely 0.
    pub(super) fn small_dim(&mut self) -> Operand {
        let dim = self.c().pick(&[1, 2, 3, 1, 2, 3, 2, 0]);
        self.int(dim)
    }

    /// A value of static type `any`.
    fn made_dynamic(&mut self) -> Var {
        if let Some(&var) = self.scope.iter().rev().find(|var| var.ty == Type::ANY) {
            return var;
        }
        let of = self.c().pick(&[Type::I64, Type::F64, Type::STR]);
        let value = self.operand(of, false);
        let value = self.push(core::convert(value.operand, Type::ANY));
        let var = Var { operand: value.into(), ty: Type::ANY, known: of };
        self.define(var);
        var
    }

    /// Values of exactly these static types.
    fn typed_operands(&mut self, types: &[Type]) -> Vec<Operand> {
        let make = |&ty: &Type| match ty {
            Type::ANY => self.made_dynamic().operand,
            _ => self.operand(ty, false).operand,
        };
        types.iter().map(make).collect()
    }

    /// Values that fit parts declared with these types: anything for `any`.
    pub(super) fn fitting_operands(&mut self, types: &[Type]) -> Vec<Operand> {
        let make = |&ty: &Type| match ty {
            Type::ANY => self.anything().operand,
            _ => self.operand(ty, false).operand,
        };
        types.iter().map(make).collect()
    }

    /// A value that may be stored where `ty` is declared, if need be after a check.
    pub(super) fn fitting(&mut self, ty: Type) -> Var {
        let dynamic = self.dynamic();
        if ty == Type::ANY { self.anything() } else { self.operand(ty, dynamic) }
    }

    /// An array whose elements are of that type, or of any type for `None`.
    pub(super) fn array(&mut self, element: Option<Type>) -> Option<Var> {
        let ctx = self.ctx();
        let fits = |ty| match array_element(ctx.kind(ty)) {
            Some(have) => element.is_none_or(|want| want == have),
            None => false,
        };
        self.object(fits)
    }

    /// A ref to a value of that type, or of any type for `None`.
    pub(super) fn reference(&mut self, element: Option<Type>) -> Option<Var> {
        let ctx = self.ctx();
        let fits = |ty| match ref_element(ctx.kind(ty)) {
            Some(have) => element.is_none_or(|want| want == have),
            None => false,
        };
        self.object(fits)
    }

    /// A value whose type fits: one in scope, or a new one of a type of the pool.
    pub(super) fn object(&mut self, fits: impl Fn(Type) -> bool) -> Option<Var> {
        let choice = self.c().maybe(90, CHOICES);
        let count = self.scope.iter().filter(|var| fits(var.known)).count();
        if let Some(choice) = choice
            && count > 0
        {
            let nth = nth_of(choice, count);
            return self.scope.iter().rev().filter(|var| fits(var.known)).nth(nth).copied();
        }
        let ty = self.shared.types.find(&mut self.shared.choices, fits)?;
        Some(self.fresh(ty))
    }
}
