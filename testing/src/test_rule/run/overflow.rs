//! Finds out whether intermediate numbers overflow.
//!
//! A run may overflow although nothing of that is left in the end: what is infinite is stored in an
//! array that nobody sees, or is the lesser of two. Its derivative is zero then, and reverse mode, in
//! which zero is multiplied with what is infinite on the way, says that it is no number. Where an op
//! has no finite derivative, such as `atan2` at 0, 0, it does so too, even if nothing moves there. So
//! does it if it is wrong; to tell one from the other, the function and its derivative in forward mode
//! are run again with a check behind each instruction that gives a float. A number of which a periodic
//! function is taken counts as too great where it has no fraction any more: differences see nothing
//! of the function there.

use std::sync::Arc;

use regraft_dialects::{arith, core, math, mem};
use regraft_exec::{Engine, Interpreter, Limits};
use regraft_ir::{Constant, Function, IrResult, Module, Op, Type, Value};

use super::{Checker, Stop};

impl Checker<'_> {
    /// Returns whether the function, or its derivative in this direction, computes on the arguments at hand a
    /// float that is not finite.
    pub(super) fn overflows(&mut self, direction: &[f64]) -> bool {
        let Ok(args) = self.fresh() else { return false };
        let plain = self.plain_run(args);
        // A check that fails is the only error that there is.
        let mut fails = false;
        if let (Ok(checked), true) = (with_checks(self.primal), plain.result.is_ok()) {
            let mut engine = self.engine(&checked);
            fails |= self.fresh().is_ok_and(|args| engine.call(self.function, &args).is_err());
        }
        let derivatives = self.derivatives;
        if let (Ok(checked), Some((function, 1))) =
            (with_checks(self.derivative), derivatives.forward.first())
        {
            let directions = [direction.to_vec()];
            let pushed = self
                .with_derivative(&checked, |this| this.pushed(function, 1, &directions, &plain));
            fails |= matches!(pushed, Err(Stop::Failure(_)));
        }
        fails
    }

    /// Does something with a module in the place of the derivative.
    pub(super) fn with_derivative<T>(
        &mut self,
        module: &Module,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let engine = self.engine(module);
        let own = std::mem::replace(&mut self.derived, engine);
        let result = run(self);
        self.derived = own;
        result
    }

    fn engine(&self, module: &Module) -> Interpreter {
        let mut engine = Interpreter::new(module);
        let Limits { fuel, depth, memory } = self.options.limits;
        engine.set_limits(Limits {
            fuel: fuel.map(|fuel| fuel.saturating_mul(200)),
            depth: depth.saturating_mul(4),
            memory: memory.saturating_mul(16),
        });
        engine.host_mut().set_clock(|| 0);
        engine
    }
}

/// From here on, doubles are integers.
const WHOLE: f64 = (1u64 << 52) as f64;

fn is_periodic(op: Op) -> bool {
    matches!(op, math::SIN | math::COS | math::TAN | math::SINPI | math::COSPI)
}

/// The same functions, in which a float that is not finite is an error.
fn with_checks(module: &Module) -> IrResult<Module> {
    let mut checked = module.clone();
    for id in module.ids().to_vec() {
        if let Some(f) = checked.get_mut(id) {
            add_checks(f)?;
        }
    }
    Ok(checked)
}

fn add_checks(f: &mut Function) -> IrResult<()> {
    let Some(entry) = f.entry() else { return Ok(()) };
    let ctx = Arc::clone(f.ctx());
    let integer = |i: i64| ctx.constant_id(Constant::I64(i));
    let floats: Vec<Value> =
        f.blocks().flat_map(|block| f.body(block)).filter(|&v| f.ty(v).is_float()).collect();
    let one = mem::alloc([integer(1)], ctx.array_type(Type::BOOL, 1));
    let one = f.push_front(entry, one)?;
    for v in floats {
        let at = f.next_inst(v).unwrap_or(Value::terminator(f.block_of(v)));
        // Zero, if it is finite.
        let none = f.insert(at, arith::sub(v, v))?;
        let mut finite = f.insert(at, arith::eq(none, none))?;
        if let (true, Some(x)) = (f.op(v).is_some_and(is_periodic), f.operand(v, 0)) {
            let whole = Constant::float(f.operand_type(x), WHOLE);
            if let Some(whole) = whole {
                let size = f.insert(at, arith::abs(x))?;
                let small = f.insert(at, arith::lt(size, ctx.constant_id(whole)))?;
                finite = f.insert(at, arith::and(finite, small))?;
            }
        }
        let index = f.insert(at, core::select(finite, integer(1), integer(2)))?;
        f.insert(at, mem::load(one, [index]))?;
    }
    Ok(())
}
