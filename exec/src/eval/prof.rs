//! `prof`: the recording profiler.

use regraft_dialects::semantics;
use regraft_ir::Loc;

use super::context::EvalCx;
use crate::error::Trap;
use crate::value::Val;

pub(super) fn record_start(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let &[Val::Sym(event)] = args else { return Err(cx.wrong_types(args)) };
    cx.host.record_start(event, Loc::UNKNOWN);
    Ok(Val::Unit)
}

pub(super) fn record_end(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let &[Val::Sym(event)] = args else { return Err(cx.wrong_types(args)) };
    cx.host.record_end(event);
    Ok(Val::Unit)
}

pub(super) fn reset(cx: &mut EvalCx<'_>, _: &[Val]) -> Result<Val, Trap> {
    cx.host.profiler.reset();
    Ok(Val::Unit)
}

pub(super) fn resize(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let &[Val::I64(capacity)] = args else { return Err(cx.wrong_types(args)) };
    let negative = semantics::Trap::Argument("the capacity of the profiler is negative");
    let capacity = usize::try_from(capacity).map_err(|_| negative)?;
    cx.host.reserve(crate::profiler::Profiler::bytes(capacity))?;
    cx.host.profiler.resize(capacity);
    Ok(Val::Unit)
}

pub(super) fn report(cx: &mut EvalCx<'_>, _: &[Val]) -> Result<Val, Trap> {
    let text = cx.host.profiler_text(cx.ctx);
    cx.host.print(&text)?;
    Ok(Val::Unit)
}
