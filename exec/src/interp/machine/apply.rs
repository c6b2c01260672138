//! Calls of values: what stands behind them, and arguments of any types.

use regraft_ir::Symbol;

use super::super::code::{ApplySite, Code};
use super::super::inst::Arg;
use super::super::leaf::{self, LEAF_REGS};
use super::super::link::Args;
use super::super::register::{Dst, Scalar};
use super::Machine;
use super::transfer::{Returned, assign};
use crate::error::{ErrorKind, Trap};
use crate::value::Val;

impl<'a> Machine<'a> {
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
                "{} takes {} argument{plural}, found {}",
                self.state.host.texts(ctx).function_text(name),
                code.params.len(),
                args.len()
            );
            return Err(Trap::of_kind(kind, message));
        }
        for (i, (arg, &want)) in args.iter().zip(&code.params).enumerate() {
            if !arg.is_a(ctx, want) {
                let texts = self.state.host.texts(ctx);
                let message = format!(
                    "argument {} of {} is of type {}, expected {}",
                    i + 1,
                    texts.function_text(name),
                    texts.type_of(arg),
                    texts.type_text(want)
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
    fn splat(&self, args: Args) -> Result<Args, Trap> {
        let mut out = Args::new();
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
                    let ty = self.state.host.texts(&self.world.ctx).type_of(other);
                    let message = format!("a value of type {ty} cannot be splatted into arguments");
                    return Err(Trap::new("MethodError", message));
                }
            }
        }
        Ok(out)
    }

    /// Prepares the frame of what a call of a value goes to; the frame of the caller is at
    /// `frame`, the new one at `next`. `None` if it has been run already.
    #[inline]
    pub(super) fn apply(
        &mut self,
        code: &Code,
        site: &ApplySite,
        frame: (usize, usize),
        next: (usize, usize),
    ) -> Result<Option<&'a Code>, Trap> {
        let world = self.world;
        let vals = &self.vals[frame.1..];
        if let Some(known) = site.cache.find(&world.ctx, site, vals)
            && let Some(callee) = world.code_in(&known.code)
        {
            if known.leaf && site.check.is_none() && site.parts.is_none() {
                return self.run_leaf(callee, &known.args, site.dst, frame).map(|()| None);
            }
            self.push_frame(callee, next.0, next.1)?;
            self.pass(code, &known.args, frame, next)?;
            if let Some(rest) = &known.rest {
                self.state.host.reserve(size_of_val(&**rest))?;
                let rest = rest.iter().map(|&src| self.operand(code, src, frame.0, frame.1));
                let rest = Val::tuple(rest);
                let place = next.1 + known.args.iter().filter(|arg| arg.is_val()).count();
                assign(&mut self.vals[place], rest);
            }
            return Ok(Some(callee));
        }
        self.apply_slowly(code, site, frame, next).map(Some)
    }

    /// Runs code in place that needs no frame.
    #[inline]
    fn run_leaf(
        &mut self,
        callee: &Code,
        args: &[Arg],
        dst: Dst,
        (s, v): (usize, usize),
    ) -> Result<(), Trap> {
        let mut regs = [0; LEAF_REGS];
        for (place, &arg) in regs.iter_mut().zip(args) {
            *place = match arg {
                Arg::Scalar(reg) => self.scalars[s + reg as usize],
                Arg::Unbox(ty, reg) => {
                    let value = &self.vals[v + reg as usize];
                    match ty.unboxed(value) {
                        Some(slot) => slot,
                        None => return Err(self.wrong_type(value, ty.ty())),
                    }
                }
                // All its parameters are scalars.
                _ => return Err(Trap::type_error("expected a scalar")),
            };
        }
        let result = leaf::run(callee, &mut regs);
        match (dst, Scalar::of(callee.ret)) {
            (Dst::Scalar(want, d), Some(have)) if want == have => {
                self.scalars[s + d as usize] = result;
                Ok(())
            }
            (Dst::Val(d), Some(ty)) => {
                assign(&mut self.vals[v + d as usize], ty.boxed(result));
                Ok(())
            }
            (dst, _) => self.put(dst, s, v, Returned::Scalar(result).into_val(callee.ret)),
        }
    }

    /// The error of a call that no method was for when its code was compiled.
    #[cold]
    fn too_new(&self, callee: &Val, args: &[Val]) -> Trap {
        let texts = self.state.host.texts(&self.world.ctx);
        let name = match callee {
            &Val::Func(name) => texts.function_text(name),
            other => texts.type_of(other),
        };
        let types: Vec<String> =
            args.iter().map(|arg| format!("::{}", texts.type_of(arg))).collect();
        let message = format!("no method matching {name}({})", types.join(", "));
        Trap::new("MethodError", message).help(
            "there is one now, which is too new: the code around the call was compiled before",
        )
    }

    #[inline(never)]
    fn apply_slowly(
        &mut self,
        code: &Code,
        site: &ApplySite,
        (s, v): (usize, usize),
        next: (usize, usize),
    ) -> Result<&'a Code, Trap> {
        let world = self.world;
        let mut args: Args = site.args.iter().map(|&src| self.operand(code, src, s, v)).collect();
        if site.splat {
            args = self.splat(args)?;
        }
        let kind = ErrorKind::Trap("MethodError");
        let Some((callee, args)) = args.split_first() else {
            return Err(Trap::new("MethodError", "a call without a callee"));
        };
        if let Some(name) = site.by_name {
            let Some(slot) = world.lookup(name, Some(&mut self.state.host))? else {
                return Err(world.unknown_name(world.ctx.str(name)));
            };
            let code = self.compiled(slot)?;
            self.push_frame_for(code, name, args, next, kind)?;
            return Ok(code);
        }
        let link = world.link(callee, args, &mut self.state.host)?;
        if site.fails {
            return Err(self.too_new(callee, args));
        }
        let code = self.compiled(link.slot())?;
        let passed = link.arrange(&self.state.host, callee, args)?;
        self.push_frame_for(code, code.name, &passed, next, kind)?;
        if link.is_for_types() {
            site.cache.remember(&world.ctx, site, (callee, args), link, code);
        }
        Ok(code)
    }
}
