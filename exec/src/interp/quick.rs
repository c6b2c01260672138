//! The common cases of ops on values whose types are known only when the program runs.

use regraft_dialects::{ad, attrs, core, data, mem};
use regraft_ir::{Constant, Function, Op, Type, TypeKind, Value};

use crate::value::{Compound, ElementType, Val};

/// The common case of an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Quick {
    /// There is none.
    None,
    /// A value of others, of a type that says which ones may be its parts, and these are.
    Compound {
        kind: Compound,
        ty: Type,
    },
    /// The part at a position, from 0, of a tuple or struct.
    Part(u32),
    /// An element of an array.
    Load,
    /// The same, if the types say that the value `fits`. If not, of an array of scalars, or of one whose elements may be anything.
    Store {
        fits: bool,
    },
    /// The part of an element at a position, from 0, of an array of unboxed elements, to be loaded or stored.
    LoadPart(u8),
    StorePart(u8),
    /// An array whose elements are not set, by their type: scalars are zero, or if they are `undef`, anything.
    Alloc {
        element: ElementType,
        undef: bool,
    },
    /// An array of one value everywhere, or of several values, by the type of its elements.
    Fill(ElementType),
    Array(ElementType),
    /// One of two values.
    Select,
    /// A value as it is.
    Same,
    /// The same if it is of a type: for an assertion, and for a cotangent that has the parts of its type already.
    Assert(Type),
    /// True if a value is of a type.
    IsA(Type),
    /// The number that a value of type `any` is.
    Unbox,
    /// The parts of a tangent that is a number, and the number from its parts.
    Shadow,
    Cotangent,
    Join,
    /// The sum of two numbers.
    Add,
}

impl Quick {
    /// The common case of an instruction.
    pub(crate) fn of(f: &Function, v: Value, op: Op) -> Self {
        let constant = |index| f.operand(v, index).and_then(|operand| f.constant(operand));
        let ty = |index| f.operand(v, index).map(|operand| f.operand_type(operand));
        match op {
            core::TUPLE | data::NAMED | data::NEW | data::NEW_OBJECT | mem::REF_NEW => {
                Self::compound(f, v, op).unwrap_or(Self::None)
            }
            core::GET | data::GETFIELD => match constant(1) {
                Some(Constant::I64(index @ 1..=0xffff)) => Self::Part(index as u32 - 1),
                _ => Self::None,
            },
            mem::LOAD => Self::Load,
            mem::LOAD_PART | mem::STORE_PART => {
                match attrs::part(f.ctx(), f.attrs(v)).and_then(|part| u8::try_from(part).ok()) {
                    Some(part) if op == mem::LOAD_PART => Self::LoadPart(part),
                    Some(part) => Self::StorePart(part),
                    None => Self::None,
                }
            }
            mem::STORE => {
                let fits = match ty(0).map(|array| f.ctx().kind(array)) {
                    Some(&TypeKind::Array { element, .. }) => {
                        element == Type::ANY || ty(1) == Some(element)
                    }
                    _ => false,
                };
                Self::Store { fits }
            }
            mem::ALLOC | mem::FILL | mem::ARRAY => match *f.ctx().kind(f.ty(v)) {
                TypeKind::Array { element, .. } => {
                    let element = ElementType::of(f.ctx(), element);
                    match op {
                        mem::FILL => Self::Fill(element),
                        mem::ARRAY => Self::Array(element),
                        _ => Self::Alloc { element, undef: attrs::is_undef(f.ctx(), f.attrs(v)) },
                    }
                }
                _ => Self::None,
            },
            core::SELECT if [1, 2].iter().all(|&arm| ty(arm) == Some(f.ty(v))) => Self::Select,
            core::CONVERT if f.ty(v) == Type::ANY || ty(0) == Some(f.ty(v)) => Self::Same,
            core::TYPEASSERT => Self::Assert(f.ty(v)),
            core::ISA => match constant(1) {
                Some(Constant::Type(ty)) => Self::IsA(ty),
                _ => Self::None,
            },
            // The only value of its type.
            core::SAME if constant(1) == Some(Constant::Unit) => Self::IsA(Type::UNIT),
            ad::UNBOX if f.ty(v) == Type::F64 => Self::Unbox,
            ad::UNBOX => Self::Assert(f.ty(v)),
            ad::SHADOW if f.ty(v) == Type::ANY => Self::Shadow,
            ad::COTANGENT if f.ty(v) == Type::ANY => Self::Cotangent,
            ad::JOIN if f.ty(v) == Type::ANY => Self::Join,
            ad::ADD if f.ty(v) == Type::ANY => Self::Add,
            _ => Self::None,
        }
    }

    /// The value that an instruction makes of others, if the types of all parts are known to fit.
    fn compound(f: &Function, v: Value, op: Op) -> Option<Self> {
        let (ctx, ty) = (f.ctx(), f.ty(v));
        let fit = |types: &mut dyn ExactSizeIterator<Item = Type>| {
            let parts = f.operands(v).map(|part| f.operand_type(part));
            types.len() == parts.len()
                && parts.zip(types).all(|(part, want)| want == part || want == Type::ANY)
        };
        let (kind, ty) = match (op, ctx.kind(ty)) {
            (core::TUPLE, _) => (Compound::Tuple, Type::ANY),
            (mem::REF_NEW, &TypeKind::Ref(element)) => (Compound::Ref, element),
            (data::NAMED, TypeKind::Named(fields)) => {
                let names = fields.iter().map(|&(name, _)| name);
                fit(&mut fields.iter().map(|&(_, ty)| ty)).then_some(())?;
                (Compound::Named, Val::named_shape(ctx, names))
            }
            (data::NEW | data::NEW_OBJECT, _) => {
                let def = ctx.struct_of(ty)?;
                fit(&mut def.fields.iter().map(|&(_, ty)| ty)).then_some(())?;
                (if def.mutable { Compound::Object } else { Compound::Struct }, ty)
            }
            _ => return None,
        };
        Some(Self::Compound { kind, ty })
    }
}
