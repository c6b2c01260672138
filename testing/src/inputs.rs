//! Arguments to run a function on.
//!
//! Special values are likely (zeros of both signs, NaNs of both signs with payloads, infinities,
//! subnormal numbers, the ends of the ranges of integers), arrays are short and sometimes empty,
//! arrays of one run mostly have the same dimensions, and an object may be passed more than
//! once, directly or inside of others.

use regraft_exec::value::{Array, ElementType, Val};
use regraft_ir::{Constant, Context, Type, TypeKind};

use crate::choices::Choices;
use crate::generate::special_constant;

/// The depth to which objects nest in generated arguments.
const MAX_DEPTH: u32 = 12;

/// Draws an argument of each of these types.
///
/// The same choices give equal arguments for equal types, of another context too: this is how
/// two runs get the same arguments, without sharing objects.
///
/// # Errors
/// If there are no values of a type, or none that can be made: a sentence that names it.
pub fn arguments(ctx: &Context, types: &[Type], choices: &mut Choices) -> Result<Vec<Val>, String> {
    let style = Style { tame: false, shared: true, length: None };
    let mut inputs = Inputs { ctx, choices, objects: Vec::new(), dims: Vec::new(), style };
    types.iter().map(|&ty| inputs.value(ty, 0)).collect()
}

/// Draws arguments near which a function mostly has a derivative: floats between -2 and 2 that
/// are nothing special, small integers, arrays of a few elements. Objects are only passed twice
/// if `shared` says so; if `alike`, all arrays have the same lengths.
pub(crate) fn tame_arguments(
    ctx: &Context,
    types: &[Type],
    choices: &mut Choices,
    shared: bool,
    alike: bool,
) -> Result<Vec<Val>, String> {
    let length = alike.then(|| 1 + choices.below(3));
    let style = Style { tame: true, shared, length };
    let mut inputs = Inputs { ctx, choices, objects: Vec::new(), dims: Vec::new(), style };
    types.iter().map(|&ty| inputs.value(ty, 0)).collect()
}

/// A float between -2 and 2, of which nothing is special.
pub(crate) fn tame_float(choices: &mut Choices) -> f64 {
    f64::from(choices.bits() as i32) / f64::from(1 << 30)
}

struct Inputs<'a> {
    ctx: &'a Context,
    choices: &'a mut Choices,
    /// The objects that were made, to be used again.
    objects: Vec<(Type, Val)>,
    /// The dimensions of the array that was made last.
    dims: Vec<usize>,
    style: Style,
}

/// The kind of arguments that are drawn.
#[derive(Clone, Copy)]
struct Style {
    /// True if special values are left out.
    tame: bool,
    /// True if an object may be in several places.
    shared: bool,
    /// The length of all arrays along all dimensions, if there is one.
    length: Option<usize>,
}

impl Inputs<'_> {
    fn value(&mut self, ty: Type, depth: u32) -> Result<Val, String> {
        if depth > MAX_DEPTH {
            return Err(format!("values of {} are too deeply nested", self.ctx.type_text(ty)));
        }
        if ty.is_scalar() || matches!(ty, Type::UNIT | Type::SYM | Type::STR) {
            return Ok(self.scalar(ty));
        }
        if ty == Type::ANY {
            if self.style.shared && !self.objects.is_empty() && self.choices.chance(20) {
                let nth = self.choices.below(self.objects.len());
                return Ok(self.objects[nth].1.clone());
            }
            let ty = self.choices.pick(&[Type::I64, Type::F64, Type::BOOL, Type::STR, Type::I32]);
            return Ok(self.scalar(ty));
        }
        let ctx = self.ctx;
        Ok(match ctx.kind(ty) {
            TypeKind::Tuple(types) => Val::tuple(self.values(types, depth)?),
            TypeKind::Named(fields) => {
                let types: Vec<Type> = fields.iter().map(|&(_, ty)| ty).collect();
                let values = self.values(&types, depth)?;
                let names = fields.iter().map(|&(name, _)| ctx.str(name));
                Val::named(ctx, names.zip(values))
            }
            &TypeKind::Struct(id) => {
                let def = ctx.struct_def(id);
                let types: Vec<Type> = def.fields.iter().map(|&(_, ty)| ty).collect();
                if !def.mutable {
                    return Ok(Val::structure(ty, self.values(&types, depth)?));
                }
                return self
                    .object(ty, |inputs| Ok(Val::object(ty, inputs.values(&types, depth)?)));
            }
            &TypeKind::Array { element, rank } => {
                return self.object(ty, |inputs| inputs.array(element, rank, depth));
            }
            &TypeKind::Ref(element) => {
                return self.object(ty, |inputs| {
                    Ok(Val::reference(element, inputs.value(element, depth + 1)?))
                });
            }
            &TypeKind::Fn(name) => Val::Func(name),
            &TypeKind::TypeOf(of) => Val::Type(of),
            TypeKind::Val(_) | TypeKind::Builtin => {
                return Err(format!("no argument of type {} can be made", ctx.type_text(ty)));
            }
        })
    }

    fn values(&mut self, types: &[Type], depth: u32) -> Result<Vec<Val>, String> {
        types.iter().map(|&ty| self.value(ty, depth + 1)).collect()
    }

    fn scalar(&mut self, ty: Type) -> Val {
        if self.style.tame {
            match ty {
                Type::F64 => return Val::F64(tame_float(self.choices)),
                Type::F32 => return Val::F32(tame_float(self.choices) as f32),
                _ => {}
            }
            let small = self.choices.below(8) as i64 - 1;
            if let Some(constant) = Constant::int(ty, small) {
                return Val::constant(self.ctx, constant);
            }
        }
        let constant = special_constant(self.ctx, ty, self.choices).unwrap_or(Constant::Unit);
        Val::constant(self.ctx, constant)
    }

    /// An object: one that is there already, or a new one.
    fn object(
        &mut self,
        ty: Type,
        make: impl FnOnce(&mut Self) -> Result<Val, String>,
    ) -> Result<Val, String> {
        let count = self.objects.iter().filter(|(have, _)| *have == ty).count();
        let share = if self.style.tame { 20 } else { 35 };
        if self.style.shared && count > 0 && self.choices.chance(share) {
            let nth = self.choices.below(count);
            let same = self.objects.iter().filter(|(have, _)| *have == ty).nth(nth);
            return Ok(same.expect("counted").1.clone());
        }
        let object = make(self)?;
        self.objects.push((ty, object.clone()));
        Ok(object)
    }

    fn array(&mut self, element: Type, rank: u8, depth: u32) -> Result<Val, String> {
        let mut dims: Vec<usize> =
            (0..rank).map(|_| self.choices.pick(&[2, 1, 3, 4, 2, 0, 5, 8])).collect();
        if self.style.tame {
            for dim in &mut dims {
                *dim = (*dim).clamp(1, 5);
            }
        }
        if !self.dims.is_empty() && self.choices.chance(65) {
            // Loops over several arrays mostly want them to go together.
            dims = (0..dims.len()).map(|i| self.dims[i.min(self.dims.len() - 1)]).collect();
        }
        if let Some(length) = self.style.length {
            dims.fill(length);
        }
        // What is inside of the elements is a matter of its own.
        let outer = std::mem::take(&mut self.dims);
        let made = self.array_of(element, &dims, depth);
        self.dims = if depth == 0 { dims } else { outer };
        made
    }

    fn array_of(&mut self, element: Type, dims: &[usize], depth: u32) -> Result<Val, String> {
        let count = dims.iter().product();
        let items: Result<Vec<Val>, String> =
            (0..count).map(|_| self.value(element, depth + 1)).collect();
        let array = Array::of_values(ElementType::of(self.ctx, element), &items?, dims)
            .map_err(|error| format!("no array of dimensions {dims:?} can be made: {error:?}"))?;
        Ok(array.into())
    }
}
