//! Functions that run in chunks, which threads may share.
//!
//! ```text
//! func @f(%1: A, %n: i64) -> array<R, 1> {chunks=true, inline=false} {
//!   ..                                          # [@g(%1, 1), @g(%1, 2), .., @g(%1, %n)]
//! }
//! ```
//!
//! A function with the attribute `chunks=true` is a loop that calls one function, its *kernel*, with all
//! of its own parameters but the last, and a number from 1 to the last; it gives the array of the
//! results. The attribute says so, and that whoever runs it may run several calls at a time: it promises
//! that no call reads or writes what another one writes. To run the code as it stands, in order, is always right.
//!
//! The attribute `own=N` says of the parameters whose bits N has (that of the first is 1) that each call reads
//! elements of its own of the array. Derivatives know by it that calls do not meet in its shadow.
//!
//! ```
//! use regraft_dialects::chunks::{chunk_loop, kernel, mark};
//! use regraft_ir::Type;
//!
//! let ctx = regraft_dialects::context();
//! let mut f = chunk_loop(&ctx, "f", ctx.symbol("g"), &[Type::F64], Type::F64)?;
//! mark(&mut f, true, 0);
//! assert_eq!(kernel(&f), Some((ctx.symbol("g"), Type::F64)));
//! # Ok::<(), regraft_ir::IrError>(())
//! ```

use std::sync::Arc;

use crate::attrs::{inbounds, set_function_attr};
use crate::ir::{
    Block, Constant, Context, Function, FunctionBuilder, IrResult, Operand, Symbol, Type, TypeKind,
    Var,
};
use crate::{arith, cf, core, mem};

/// The attribute of functions that run in chunks.
pub const CHUNKS: &str = "chunks";
/// The attribute that tells which parameters each chunk reads elements of its own of.
pub const OWN: &str = "own";

/// Returns the kernel of a function that runs in chunks, and the type of what that gives; `None` of
/// other functions. O(size).
pub fn kernel(f: &Function) -> Option<(Symbol, Type)> {
    let ctx = f.ctx();
    if ctx.attr(f.function_attrs(), CHUNKS).map(|value| ctx.constant(value))
        != Some(Constant::Bool(true))
    {
        return None;
    }
    let TypeKind::Array { element, rank: 1 } = *ctx.kind(f.ret_type()) else { return None };
    let mut calls = f.all_insts().filter(|&v| f.op(v) == Some(core::CALL));
    let callee = |v| f.const_func(f.operand(v, 0)?);
    let first = callee(calls.next()?)?;
    calls.all(|v| callee(v) == Some(first)).then_some((first, element))
}

/// Returns the parameters of which each chunk reads elements of its own, as [`OWN`] tells them.
pub fn own(f: &Function) -> i64 {
    let own = f.ctx().attr(f.function_attrs(), OWN).map(|value| f.ctx().constant(value));
    own.and_then(Constant::as_int).unwrap_or(0)
}

/// Sets the attributes of a function that runs in chunks; without `chunks`, those of a kernel, which stays
/// a function of its own as well.
pub fn mark(f: &mut Function, chunks: bool, own: i64) {
    set_function_attr(f, "inline", Constant::Bool(false));
    if chunks {
        set_function_attr(f, CHUNKS, Constant::Bool(true));
    }
    if own != 0 {
        set_function_attr(f, OWN, Constant::I64(own));
    }
    let ctx = Arc::clone(f.ctx());
    let mut entries = ctx.attr_entries(f.function_attrs()).to_vec();
    entries.sort_by_key(|&(name, _)| ctx.str(name));
    f.set_function_attrs(ctx.attrs(&entries));
}

/// A loop over the numbers from 1 to a count that is being written.
#[derive(Debug)]
pub struct CountedLoop {
    /// The number of the iteration.
    pub number: Operand,
    variable: Var,
    header: Block,
    after: Block,
}

impl CountedLoop {
    /// Begins the loop: what is pushed next is its body.
    ///
    /// # Errors
    /// If `count` is no `i64` of the function.
    pub fn begin(b: &mut FunctionBuilder, count: impl Into<Operand>) -> IrResult<Self> {
        let variable = b.declare_var("", Type::I64);
        b.def_var(variable, b.const_i64(1))?;
        let [header, body, after] = std::array::from_fn(|_| b.add_block());
        b.terminate(cf::jump(header))?;
        b.switch_to(header)?;
        let number = b.use_var(variable)?;
        let more = b.push(arith::le(number, count))?;
        b.terminate(cf::jump_if(more, body, after))?;
        b.seal(body)?;
        b.switch_to(body)?;
        Ok(Self { number, variable, header, after })
    }

    /// Ends the body: what is pushed next comes after the loop.
    ///
    /// # Errors
    /// If the current block has its terminator.
    pub fn end(self, b: &mut FunctionBuilder) -> IrResult<()> {
        let next = b.push(arith::add(self.number, b.const_i64(1)))?;
        b.def_var(self.variable, next)?;
        b.terminate(cf::jump(self.header))?;
        b.seal(self.header)?;
        b.seal(self.after)?;
        b.switch_to(self.after)
    }
}

/// Returns the loop that calls `kernel`, a function from parameters of these types and the number of a chunk to
/// a value of type `result`. It has no attributes yet.
///
/// # Errors
/// If the context has no room for it.
pub fn chunk_loop(
    ctx: &Arc<Context>,
    name: &str,
    kernel: Symbol,
    params: &[Type],
    result: Type,
) -> IrResult<Function> {
    let results = ctx.array_type(result, 1);
    let mut types = params.to_vec();
    types.push(Type::I64);
    let mut b = FunctionBuilder::new(ctx, name, &types, results);
    let args: Vec<Operand> = (0..params.len()).map(|i| b.param(i).into()).collect();
    let count = b.param(params.len());
    let out = b.push(mem::alloc([count], results))?;
    let l = CountedLoop::begin(&mut b, count)?;
    let callee = ctx.constant_id(Constant::Func(kernel));
    let args = args.into_iter().chain([l.number]);
    let value = b.push(core::call(callee, args, result))?;
    b.push(mem::store(out, value, [l.number]).with_attrs(inbounds(ctx)))?;
    l.end(&mut b)?;
    b.terminate(cf::ret(out))?;
    b.finish()
}
