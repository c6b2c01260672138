//! One function: its parameters, the position at which it grows, what is in scope there.

use std::sync::Arc;

use regraft_dialects::{arith, cf, core};
use regraft_ir::{
    Block, Constant, Context, Function, Inst, Module, Op, OpDef, Operand, Symbol, Type, Value,
};

use super::Config;
use super::types::TypePool;
use super::wanted::{is_unknown, is_wanted};
use crate::choices::Choices;

/// The state that the functions of a module share while they are made.
pub(super) struct Shared<'c> {
    pub(super) ctx: Arc<Context>,
    pub(super) config: &'c Config,
    pub(super) choices: Choices,
    pub(super) module: Module,
    pub(super) types: TypePool,
    /// The ops that statements are made of, from the registry.
    pub(super) ops: Vec<&'static OpDef>,
    /// The functions that are there already.
    pub(super) callees: Vec<Callee>,
    /// Functions that handle the errors of others, by the positions of these.
    pub(super) handlers: Vec<(usize, Callee)>,
}

/// A function that can be called.
#[derive(Clone)]
pub(super) struct Callee {
    pub(super) name: Symbol,
    pub(super) params: Vec<Slot>,
    pub(super) ret: Slot,
    /// About how many instructions a call runs, at most.
    pub(super) cost: u32,
}

/// The types of a parameter of a block or function: its static type, and the type of the values
/// that it has when the program runs. They differ if the static type is `any`.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    pub(super) ty: Type,
    pub(super) known: Type,
}

/// A value in scope.
#[derive(Clone, Copy)]
pub(super) struct Var {
    pub(super) operand: Operand,
    /// Its static type.
    pub(super) ty: Type,
    /// Its type when the program runs; `any` if that is not known either.
    pub(super) known: Type,
}

/// About how many instructions a run of one function may take, so that a case runs fast.
pub(super) const MAX_COST: u32 = 4_000;

impl<'c> Shared<'c> {
    pub(super) fn new(ctx: &Arc<Context>, config: &'c Config, mut choices: Choices) -> Self {
        let mut module = Module::new(ctx);
        let types = TypePool::new(&mut module, config, &mut choices);
        let registry = ctx.registry();
        let of = |arithmetic: bool| {
            let is = move |def: &&OpDef| (def.op.dialect() == arith::ADD.dialect()) == arithmetic;
            let wanted = registry.ops().filter(is).filter(|def| is_wanted(config, def));
            wanted.filter(|def| !is_unknown(ctx.extensions(), config.smooth, def))
        };
        // The first are the simplest: arithmetic.
        let ops = of(true).chain(of(false)).collect();
        let ctx = Arc::clone(ctx);
        let (callees, handlers) = (Vec::new(), Vec::new());
        Self { ctx, config, choices, module, types, ops, callees, handlers }
    }
}

/// A counter of a loop that is being made, to compute indices from.
#[derive(Clone, Copy)]
pub(super) struct Counter {
    /// Its value in a round, of type `i64`.
    pub(super) value: Operand,
    /// The array that it runs over from 1 to the length, if it does.
    pub(super) over: Option<Operand>,
}

/// A function under construction.
pub(super) struct Body<'s, 'c> {
    pub(super) shared: &'s mut Shared<'c>,
    pub(super) f: Function,
    /// The block that grows.
    pub(super) at: Block,
    /// The values that may be used there, in the order of their definitions.
    pub(super) scope: Vec<Var>,
    /// The number of statements that may still be made.
    pub(super) left: u32,
    /// The nesting depth of control flow here.
    pub(super) depth: u32,
    /// The most times that the code here runs.
    pub(super) trips: u32,
    /// About how many instructions a run takes, at most.
    pub(super) cost: u32,
    /// The function as others call it; for calls of itself.
    pub(super) this: Callee,
    /// The counters of the loops around, the innermost last.
    pub(super) counters: Vec<Counter>,
    /// The first argument of a recursive call, if the function is recursive.
    pub(super) recursion: Option<Operand>,
}

/// Makes function number `index` of a module.
pub(super) fn function(shared: &mut Shared<'_>, index: usize, entry: bool) -> (Function, Callee) {
    let this = signature(shared, index, entry);
    with_signature(shared, this, 0)
}

/// Makes a function that handles errors of another one: it takes the error, which it does not look at, as its
/// text is not the same for all engines and passes, and then what that takes.
pub(super) fn handler(shared: &mut Shared<'_>, of: &Callee) -> (Function, Callee) {
    let name = shared.ctx.symbol(&format!("handle {}", shared.ctx.str(of.name)));
    let error = Slot { ty: Type::ANY, known: Type::ANY };
    let params = std::iter::once(error).chain(of.params.iter().copied()).collect();
    with_signature(shared, Callee { name, params, ret: of.ret, cost: 0 }, 1)
}

/// Makes a function that does not see its first parameters.
fn with_signature(shared: &mut Shared<'_>, this: Callee, unseen: usize) -> (Function, Callee) {
    let types: Vec<Type> = this.params.iter().map(|slot| slot.ty).collect();
    let ctx = Arc::clone(&shared.ctx);
    let f = Function::new(&ctx, ctx.str(this.name), &types, this.ret.ty);
    let at = f.entry().expect("a new function has an entry");
    let scope = f
        .params(at)
        .zip(&this.params)
        .skip(unseen)
        .map(|(v, slot)| Var { operand: v.into(), ty: slot.ty, known: slot.known })
        .collect();
    let mut body = Body {
        left: shared.config.max_statements,
        shared,
        f,
        at,
        scope,
        depth: 0,
        trips: 1,
        cost: 0,
        this,
        counters: Vec::new(),
        recursion: None,
    };
    body.whole();
    let Body { f, mut this, cost, recursion, .. } = body;
    // A recursive function calls itself at most twice a level, and three levels deep.
    this.cost = if recursion.is_some() { cost.saturating_mul(15) } else { cost };
    (f, this)
}

fn signature(shared: &mut Shared<'_>, index: usize, entry: bool) -> Callee {
    let start = shared.choices.open();
    let name = match entry {
        true => "main".to_owned(),
        false if shared.config.names && shared.choices.chance(10) => format!("odd name {index}"),
        false => format!("f{index}"),
    };
    let mut ret = shared.slot();
    if entry && shared.config.dynamic && shared.config.aggregates && shared.choices.chance(45) {
        // It returns whatever it likes, so that one can see more of what it did.
        ret = Slot { ty: Type::ANY, known: Type::ANY };
    }
    shared.choices.close(start);
    let often = if shared.config.smooth { 85 } else { 65 };
    let params = shared.slots(shared.config.max_params, often);
    Callee { name: shared.ctx.symbol(&name), params, ret, cost: 0 }
}

impl Shared<'_> {
    /// Draws what up to `most` parameters take, each of which is there `percent` times in 100.
    fn slots(&mut self, most: u32, percent: u32) -> Vec<Slot> {
        let mut slots = Vec::new();
        while slots.len() < most as usize {
            let start = self.choices.open();
            let more = self.choices.chance(percent);
            if more {
                slots.push(self.slot());
            }
            self.choices.close(start);
            if !more {
                break;
            }
        }
        slots
    }

    /// Draws what a parameter takes.
    pub(super) fn slot(&mut self) -> Slot {
        let known = match self.config.smooth {
            true => self.types.with_floats(&mut self.choices),
            false => self.types.any(&mut self.choices),
        };
        let dynamic = self.config.dynamic && self.choices.chance(12);
        Slot { ty: if dynamic { Type::ANY } else { known }, known }
    }
}

impl Body<'_, '_> {
    pub(super) fn c(&mut self) -> &mut Choices {
        &mut self.shared.choices
    }

    pub(super) fn ctx(&self) -> Arc<Context> {
        Arc::clone(&self.shared.ctx)
    }

    /// Returns whether an operand whose static type is `any` will do.
    pub(super) fn dynamic(&self) -> bool {
        self.shared.config.dynamic
    }

    /// Draws whether to leave it to chance whether something traps.
    pub(super) fn risk(&mut self) -> bool {
        let percent = self.shared.config.trap_percent;
        self.c().chance(percent)
    }

    pub(super) fn constant(&self, constant: impl Into<Constant>) -> Operand {
        self.f.constant_id(constant).into()
    }

    pub(super) fn int(&self, value: i64) -> Operand {
        self.constant(value)
    }

    /// Appends an instruction that is right by construction.
    pub(super) fn push(&mut self, inst: Inst) -> Value {
        let op = inst.op();
        match self.try_push(inst) {
            Ok(value) => value,
            Err(error) => panic!("{}: {error}", self.shared.ctx.def(op).name),
        }
    }

    /// Appends an instruction, if it fits its op.
    pub(super) fn try_push(&mut self, inst: Inst) -> regraft_ir::IrResult<Value> {
        let value = self.f.push(self.at, inst)?;
        self.cost = self.cost.saturating_add(self.trips);
        Ok(value)
    }

    /// Takes a value into scope.
    pub(super) fn define(&mut self, var: Var) {
        self.scope.push(var);
        if self.shared.config.names
            && let Some(v) = var.operand.as_value()
            && self.c().chance(6)
        {
            let name = self.c().pick(&["x", "acc", "a b", "i!", "tmp.1", "\"q\"", "π", "nothing"]);
            self.f.set_name_of(v, Some(name)).expect("these are names");
        }
    }

    /// Ends the block that grows.
    pub(super) fn end(&mut self, terminator: Inst) {
        self.f.set_terminator(self.at, terminator).expect("terminators are made to fit");
        self.cost = self.cost.saturating_add(self.trips);
    }

    /// A new block with these parameters.
    pub(super) fn block(&mut self, slots: &[Slot]) -> Block {
        let block = self.f.add_block();
        for slot in slots {
            self.f.append_param(block, slot.ty).expect("nothing enters a new block");
        }
        block
    }

    /// Goes on at the start of `block`, with its parameters in scope.
    pub(super) fn enter(&mut self, block: Block, slots: &[Slot]) {
        self.at = block;
        let params: Vec<Value> = self.f.params(block).collect();
        for (v, slot) in params.into_iter().zip(slots) {
            self.define(Var { operand: v.into(), ty: slot.ty, known: slot.known });
        }
    }

    /// Draws what a block is to take, from nothing to a few values.
    pub(super) fn slots(&mut self) -> Vec<Slot> {
        self.shared.slots(3, 60)
    }

    /// Values for these parameters.
    pub(super) fn args(&mut self, slots: &[Slot]) -> Vec<Operand> {
        slots.iter().map(|slot| self.operand(slot.known, slot.ty == Type::ANY).operand).collect()
    }

    pub(super) fn condition(&mut self) -> Operand {
        if self.c().chance(60) {
            // Most programs have no bool at hand; a comparison makes one that varies.
            let ty = self.c().pick(&[Type::I64, Type::F64]);
            let (x, y) = (self.operand(ty, false), self.operand(ty, false));
            let op = self.c().pick(&[arith::LT, arith::EQ, arith::LE, arith::NE]);
            let v = self.push(Inst::new(op).operand(x.operand).operand(y.operand));
            return v.into();
        }
        self.operand(Type::BOOL, true).operand
    }

    /// Returns a value from here.
    pub(super) fn leave(&mut self) {
        let slot = self.this.ret;
        let value = match slot.known {
            Type::ANY => self.witness(),
            _ => self.args(&[slot])[0],
        };
        self.end(cf::ret(value));
    }

    /// A tuple of some of what is in scope.
    fn witness(&mut self) -> Operand {
        let mut parts: Vec<Operand> = Vec::new();
        while parts.len() < 6 {
            let start = self.c().open();
            let more = self.c().chance(80);
            if more {
                let var = self.anything();
                parts.push(var.operand);
            }
            self.c().close(start);
            if !more {
                break;
            }
        }
        self.push(core::tuple(parts)).into()
    }

    /// Adds what calling `callee` takes, if it is not too much.
    pub(super) fn afford(&mut self, cost: u32) -> bool {
        let total = self.cost.saturating_add(cost.saturating_mul(self.trips));
        if total <= MAX_COST {
            self.cost = total;
        }
        total <= MAX_COST
    }

    /// Draws an op to make a statement of.
    pub(super) fn any_op(&mut self) -> Option<&'static OpDef> {
        let count = self.shared.ops.len();
        if count == 0 {
            return None;
        }
        let nth = self.c().below(count);
        Some(self.shared.ops[nth])
    }

    /// Returns whether `op` is among those that statements may be made of.
    pub(super) fn allows(&self, op: Op) -> bool {
        self.shared.ops.iter().any(|def| def.op == op)
    }
}
