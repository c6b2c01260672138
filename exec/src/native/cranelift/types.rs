//! The types of Cranelift for those of the compact form.

use cranelift_codegen::ir::Type;
use cranelift_codegen::ir::types::{F32, F64, I8, I16, I32, I64};

use super::super::emitter::{Arg, Mem};
use crate::interp::Class;

pub(super) fn ty(class: Class) -> Type {
    match class {
        Class::Int => I64,
        Class::Single => F32,
        Class::Double => F64,
    }
}

pub(super) fn arg_ty(arg: Arg) -> Type {
    match arg {
        Arg::Int | Arg::Ptr => I64,
        Arg::Single => F32,
        Arg::Double => F64,
    }
}

pub(super) fn mem_ty(mem: Mem) -> Type {
    match mem {
        Mem::I8 => I8,
        Mem::I16 => I16,
        Mem::I32 => I32,
        Mem::I64 | Mem::Ptr => I64,
        Mem::F32 => F32,
        Mem::F64 => F64,
    }
}
