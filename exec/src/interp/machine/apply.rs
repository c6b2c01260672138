//! Calls of values: what stands behind them, and arguments of any types.

use regraft_ir::{Symbol, Type};
use smallvec::SmallVec;

use super::super::code::{Code, Scalar};
use super::Machine;
use crate::error::{ErrorKind, Trap};
use crate::value::{Val, type_name};

impl Machine<'_> {
    /// Pushes a frame with arguments of any types, which are checked.
    pub(super) fn push_frame_for(
        &mut self,
        code: &Code,
        name: Symbol,
        args: &[Val],
        (s, v): (usize, usize),
        kind: ErrorKind,
    ) -> Result<(), Trap> {
        let ctx = &*self.world.ctx;
        if args.len() != code.params.len() {
            let plural = if code.params.len() == 1 { "" } else { "s" };
            let message = format!(
                "@{} takes {} argument{plural}, found {}",
                ctx.str(name),
                code.params.len(),
                args.len()
            );
            return Err(Trap::of_kind(kind, message));
        }
        for (i, (arg, &want)) in args.iter().zip(&code.params).enumerate() {
            if !arg.is_a(ctx, want) {
                let message = format!(
                    "argument {} of @{} is of type {}, expected {}",
                    i + 1,
                    ctx.str(name),
                    ctx.type_text(arg.type_of(ctx)),
                    ctx.type_text(want)
                );
                return Err(Trap::of_kind(kind, message));
            }
        }
        let (mut scalar, mut val) = (s, v);
        self.push_frame(code, s, v)?;
        for (arg, &want) in args.iter().zip(&code.params) {
            match Scalar::of(want).and_then(|ty| ty.unboxed(arg)) {
                Some(slot) => {
                    self.scalars[scalar] = slot;
                    scalar += 1;
                }
                None => {
                    self.vals[val] = arg.clone();
                    val += 1;
                }
            }
        }
        Ok(())
    }

    /// The arguments of a splat: the callee, then the elements of the collections.
    pub(super) fn splat(&self, args: SmallVec<[Val; 8]>) -> Result<SmallVec<[Val; 8]>, Trap> {
        let mut out = SmallVec::new();
        for (i, arg) in args.into_iter().enumerate() {
            match &arg {
                _ if i == 0 => out.push(arg),
                Val::Tuple(fields) | Val::Named(fields) => {
                    out.extend(fields.items().iter().cloned());
                }
                Val::Array(array) => {
                    self.state.host.reserve(array.len().saturating_mul(size_of::<Val>()))?;
                    for offset in 0..array.len() {
                        let undefined = regraft_dialects::semantics::Trap::UndefRef;
                        out.push(array.get(offset).ok_or(undefined)?);
                    }
                }
                other => {
                    let ty = self.world.ctx.type_text(other.type_of(&self.world.ctx));
                    let message = format!("a value of type {ty} cannot be splatted into arguments");
                    return Err(Trap::new("MethodError", message));
                }
            }
        }
        Ok(out)
    }

    /// The slot of the function that the first of `args` stands for; the others become its
    /// arguments (with a closure itself as the first of them).
    pub(super) fn callee(&self, args: &mut SmallVec<[Val; 8]>) -> Result<(Symbol, u32), Trap> {
        let ctx = &self.world.ctx;
        let name = match args.first() {
            Some(&Val::Func(name)) => {
                args.remove(0);
                Some(name)
            }
            Some(Val::Struct(fields)) => ctx.struct_of(fields.ty()).and_then(|def| def.call),
            Some(Val::Object(object)) => ctx.struct_of(object.ty()).and_then(|def| def.call),
            _ => None,
        };
        let Some(name) = name else {
            let ty = args.first().map_or(Type::ANY, |callee| callee.type_of(ctx));
            let message = format!("a value of type {} cannot be called", type_name(ctx, ty));
            return Err(Trap::new("MethodError", message));
        };
        match self.world.by_name.get(&name) {
            Some(&slot) if self.world.slots[slot as usize].function.is_some() => Ok((name, slot)),
            _ => Err(self.world.unknown_function(name)),
        }
    }
}
