//! Overdubbing: sends the calls of lowered code through the functions of a context.
//!
//! ```text
//!                                   %4: any = core.global :sin
//!                                   %5: any = core.apply @prehook, %c, %4, %x
//! %3: any = call @sin(%x)     =>    %3: any = core.apply @overdub, %c, %4, %x
//!                                   %6: any = core.apply @posthook, %c, %3, %4, %x
//! ```
//!
//! Control flow and everything that is no call stay as they are, and so does what a call gives:
//! the value keeps its number. Arguments with `...` are evaluated once, before the first function
//! sees them. O(instructions + operands).
//!
//! ```
//! use regraft_passes::overdub::{Overdub, seen};
//! use regraft_ir::{Constant, Operand};
//!
//! let text = "func @f(%x: any, %c: any) -> any {\n^1:\n  %3 = call @sin(%x)\n  return %3\n}";
//! let ctx = regraft_dialects::context();
//! let mut module = regraft_syntax::parse_module(&ctx, "f.ir", text).unwrap();
//! let f = module.function_mut("f").unwrap();
//! let function = |name: &str| ctx.constant_id(Constant::Func(ctx.symbol(name)));
//! let context = f.entry().and_then(|entry| f.param(entry, 1)).map(Operand::from);
//! let first: Vec<Operand> = context.into_iter().collect();
//! let overdub = Overdub {
//!     first: &first,
//!     through: function("overdub"),
//!     before: None,
//!     after: None,
//!     name_op: function("name"),
//!     within: (function("within"), &first),
//! };
//! assert_eq!(overdub.run(f, seen), Ok(1));
//! assert!(f.to_string().contains("%3 = core.apply @overdub, %c, "));
//! ```

mod pass;
mod seen;

use regraft_dialects::core;
use regraft_ir::{Const, Constant, Function, Inst, IrResult, Operand, Symbol, Type, Value};
use smallvec::SmallVec;

pub use pass::OverdubPass;
pub use seen::seen;

/// The functions that calls are sent through. Each takes `first`, the callee and the arguments of the call.
#[derive(Clone, Debug)]
pub struct Overdub<'a> {
    /// The arguments that go first: a context.
    pub first: &'a [Operand],
    /// The function that is called in the place of each call.
    pub through: Const,
    /// The function that is called before it.
    pub before: Option<Const>,
    /// The function that is called after it, with the result behind `first`.
    pub after: Option<Const>,
    /// The function that gives the callee in the place of an op, from the op and its operands.
    pub name_op: Const,
    /// The function that gives what calls a function that a call is given in the same way, and its first arguments.
    pub within: (Const, &'a [Operand]),
}

/// The way in which an instruction is seen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Seen {
    /// It is no call.
    Not,
    /// It is a call.
    Call,
    /// It is a call of this op by its name.
    Op(Symbol),
    /// It calls its arguments at these positions, from 0.
    Calls(SmallVec<[usize; 2]>),
}

type Operands = SmallVec<[Operand; 6]>;

impl Overdub<'_> {
    /// Rewrites the calls in a function, as `seen` tells what is one; returns how many. The
    /// instructions that this inserts are not looked at.
    ///
    /// # Errors
    /// If an instruction would get too many operands.
    pub fn run(
        &self,
        f: &mut Function,
        mut seen: impl FnMut(&Function, Value) -> Seen,
    ) -> IrResult<usize> {
        let insts: Vec<Value> = f.all_insts().filter(|v| !v.is_terminator()).collect();
        let mut count = 0;
        for v in insts {
            match seen(f, v) {
                Seen::Not => continue,
                Seen::Calls(positions) => self.wrap(f, v, &positions)?,
                how => self.send(f, v, &how)?,
            }
            count += 1;
        }
        Ok(count)
    }

    /// Lets functions among the arguments of a call be called within the context.
    fn wrap(&self, f: &mut Function, v: Value, positions: &[usize]) -> IrResult<()> {
        let skipped = usize::from(f.op(v) == Some(core::CALL));
        for position in positions {
            let Some(function) = f.operand(v, position + skipped) else { continue };
            let (within, first) = self.within;
            let args: Operands = first.iter().copied().chain([function]).collect();
            let wrapped = f.insert(v, core::apply(within, args, Type::ANY))?;
            f.set_operand(v, position + skipped, wrapped)?;
        }
        Ok(())
    }

    /// Sends a call through the functions.
    fn send(&self, f: &mut Function, v: Value, how: &Seen) -> IrResult<()> {
        let operands: Operands = f.plain_operands(v).collect();
        let Some((&target, args)) = operands.split_first() else { return Ok(()) };
        let mut call: Operands = SmallVec::new();
        let is_splat = f.op(v) == Some(core::SPLAT);
        match (how, f.const_func(target).filter(|_| f.op(v) == Some(core::CALL))) {
            (&Seen::Op(op), _) => {
                let op = f.constant_id(Constant::Func(op));
                let mut named: Operands = SmallVec::from_slice(&[op.into()]);
                named.extend_from_slice(args);
                let inst = core::apply(self.name_op, named, Type::ANY);
                call.push(f.insert(v, inst)?.into());
            }
            (_, Some(name)) => {
                let name = f.constant_id(Constant::Sym(name));
                call.push(f.insert(v, core::global(name, Type::ANY))?.into());
            }
            _ => call.push(target),
        }
        if is_splat {
            let tuple = f.constant_id(Constant::Func(f.ctx().symbol("tuple")));
            let all = Inst::new(core::SPLAT).operand(tuple).operands(args.iter().copied());
            call.push(f.insert(v, all.with_type(Type::ANY))?.into());
        } else {
            call.extend_from_slice(args);
        }
        if let Some(before) = self.before {
            let inst = self.inst(f, v, before, &[], &call, is_splat)?;
            f.insert(v, inst)?;
        }
        let inst = self.inst(f, v, self.through, &[], &call, is_splat)?;
        f.replace(v, inst)?;
        if let Some(after) = self.after {
            let inst = self.inst(f, v, after, &[v.into()], &call, is_splat)?;
            f.insert_after(v, inst)?;
        }
        Ok(())
    }

    /// A call of one of the functions with `more` behind `first`, and a call.
    fn inst(
        &self,
        f: &mut Function,
        at: Value,
        function: Const,
        more: &[Operand],
        call: &[Operand],
        is_splat: bool,
    ) -> IrResult<Inst> {
        let first = self.first.iter().chain(more).copied();
        if !is_splat {
            let args: Operands = first.chain(call.iter().copied()).collect();
            return Ok(core::apply(function, args, Type::ANY));
        }
        let head: Operands = first.chain(call.first().copied()).collect();
        let tuple = f.constant_id(Constant::Func(f.ctx().symbol("tuple")));
        let head = core::apply(tuple, head, Type::ANY);
        let head = match more {
            [] => f.insert(at, head)?,
            _ => f.insert_after(at, head)?,
        };
        let parts = std::iter::once(head.into()).chain(call[1..].iter().copied());
        Ok(Inst::new(core::SPLAT).operand(function).operands(parts).with_type(Type::ANY))
    }
}
