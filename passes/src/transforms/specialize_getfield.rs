//! Replaces dynamic operations by static ones where types and constants decide what they do.
//!
//! ```text
//! ^1(%1: {f: f64, g: i64}):                ^1(%1: {f: f64, g: i64}):
//!   %2: any = data.getfield %1, :f           %2: f64 = core.get %1, 1
//!   %3: any = arith.mul %2, 2.0        =>    %3: f64 = arith.mul %2, 2.0
//!   %4: bool = core.isa %3, !f64             br ^2
//!   br %4, ^2, ^3                          ...
//! ```
//!
//! | before | after | if |
//! |---|---|---|
//! | `data.getfield %x, :f` (or an index) | `core.get %x, 1` | `%x` is a tuple, a named tuple or an immutable struct and has the field |
//! | `core.apply @f, %x`, `core.apply %closure, %x` | `call @f(%x)`, `call @body(%closure, %x)` | the function is known and takes what is passed |
//! | `core.splat %f, %t` | `core.apply %f, ..` of the elements | everything that is splatted is a tuple |
//! | `core.isa`, `core.typeof`, `core.same`, `data.hasfield`, `data.fieldcount`, `mem.rank` | a constant | types decide it |
//! | `core.convert`, `core.typeassert` | the operand | it is of that type already |
//! | an operand that was converted to `any` | what was converted | the user takes it |
//! | a value of type `any` | the same of a better type | its op, or all that enters a parameter, says what it is, and all users take it |
//!
//! # Method
//! A worklist, at first of all instructions in reverse postorder; what becomes of a better type
//! puts its users and the parameters that it is passed to on the list again. Blocks that end in an
//! error are left alone: nobody waits for them.
//!
//! # Why it is right
//! What an instruction does is decided by its operands and their types, and a value that is known
//! as `any` has one of the types that its definition can give. Where that one does not fit, the
//! program traps; such a use keeps its operand of type `any`, and traps as before. Field names
//! that are not there, indices out of range and arguments that do not fit stay, for the same
//! reason.
//!
//! # Cost
//! O(instructions + operands) besides the uses of what changes its type, which are looked at once
//! for each change: at most once for each value (`examples/objects_speed.rs`).

use std::sync::Arc;

use regraft_dialects::{core, data, mem};
use regraft_ir::{
    Block, Constant, ControlFlow, Function, Inst, IrResult, Module, Operand, Type, TypeKind, Use,
    Value, ValueDef,
};

use super::fold::known_result;
use crate::transforms::util::aggregate;
use crate::transforms::util::edit::{refine, replace_where_it_fits};
use crate::{FunctionPass, PassContext, PassResult};

crate::pass! {
    /// Replaces dynamic operations by static ones where types and constants decide what they do.
    ///
    /// ```text
    /// %2: any = data.getfield %1, :f     =>     %2: f64 = core.get %1, 1
    /// %3: any = arith.mul %2, 2.0               %3: f64 = arith.mul %2, 2.0
    /// ```
    ///
    /// Fields of values, calls of known functions and closures, splatted tuples, questions about
    /// types, conversions that change nothing; values of type `any` get the type that they have.
    /// Code that leads to an error only is left alone. Best after `inline` and `sccp`.
    #[derive(Debug, Default)]
    pub struct SpecializeGetfield;
}

impl FunctionPass for SpecializeGetfield {
    const NAME: &'static str = "specialize-getfield";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let cfg = cx.analysis::<ControlFlow>(f);
        let mut work = Vec::with_capacity(f.inst_count());
        // The list is a stack: what comes first is pushed last.
        for &block in cfg.postorder() {
            if !f.is_cold(block) {
                let body: Vec<Value> = f.body(block).collect();
                work.extend(body.into_iter().rev());
                if Some(block) != f.entry() {
                    work.extend(f.params(block).filter(|&param| f.ty(param) == Type::ANY));
                }
            }
        }
        let mut queued = vec![false; f.value_capacity()];
        work.iter().for_each(|v| queued[v.index()] = true);
        let mut pass = Specialize {
            f,
            signatures: cx.signatures(),
            cfg,
            work,
            queued,
            instructions: 0,
            types: 0,
        };
        while let Some(v) = pass.work.pop() {
            pass.queued[v.index()] = false;
            if pass.f.is_live(v) {
                pass.visit(v)?;
            }
        }
        cx.add("instructions specialized", pass.instructions);
        cx.add("types found", pass.types);
        Ok(())
    }
}

struct Specialize<'a> {
    f: &'a mut Function,
    signatures: Option<&'a Module>,
    cfg: Arc<ControlFlow>,
    work: Vec<Value>,
    /// True if a value is on the list.
    queued: Vec<bool>,
    /// Instructions that became others, or went.
    instructions: u64,
    /// Values that are of a better type now.
    types: u64,
}

impl Specialize<'_> {
    fn visit(&mut self, v: Value) -> IrResult<()> {
        let Some(op) = self.f.op(v) else { return self.param(v) };
        match op {
            data::GETFIELD => self.getfield(v)?,
            core::SPLAT => self.splat(v)?,
            core::APPLY => self.apply(v)?,
            core::CALL => self.result_of_call(v)?,
            core::CONVERT if self.f.ty(v) == Type::ANY => return self.widened(v),
            core::ISA
            | core::TYPEOF
            | core::SAME
            | core::CONVERT
            | core::TYPEASSERT
            | data::FIELDCOUNT
            | data::HASFIELD
            | mem::RANK => {
                if let Some(result) = known_result(self.f, v) {
                    return self.replace(v, result);
                }
            }
            _ => {}
        }
        if self.f.ty(v) == Type::ANY
            && let Ok(ty) = self.f.infer_type(v)
        {
            self.refine(v, ty)?;
        }
        Ok(())
    }

    /// A parameter of type `any` that only values of one type enter.
    fn param(&mut self, v: Value) -> IrResult<()> {
        let ValueDef::Param(block, position) = self.f.def(v) else { return Ok(()) };
        if self.f.ty(v) != Type::ANY || Some(block) == self.f.entry() {
            return Ok(());
        }
        let mut ty = None;
        for edge in self.f.in_edges(block) {
            if !self.cfg.is_reachable(edge.from) {
                continue;
            }
            let Some(arg) = self.f.edge_arg(edge, position as usize) else { return Ok(()) };
            let have = self.f.operand_type(arg);
            if arg == v.into() || have == Type::NEVER {
                continue;
            }
            if have == Type::ANY || ty.is_some_and(|ty| ty != have) {
                return Ok(());
            }
            ty = Some(have);
        }
        // Edges that are never taken pass whatever they like, but have to fit all the same.
        let fits = |f: &Function, ty: Type| {
            f.in_edges(block).all(|edge| {
                let arg = f.edge_arg(edge, position as usize);
                arg.is_some_and(|arg| arg == v.into() || f.operand_type(arg).is_assignable_to(ty))
            })
        };
        match ty {
            Some(ty) if fits(self.f, ty) => self.refine(v, ty),
            _ => Ok(()),
        }
    }

    fn getfield(&mut self, v: Value) -> IrResult<()> {
        let (Some(x), Some(field)) = (self.f.operand(v, 0), self.f.operand(v, 1)) else {
            return Ok(());
        };
        let Some(field) = self.f.constant(field) else { return Ok(()) };
        let position = aggregate::position(self.f.ctx(), self.f.operand_type(x), field);
        let Some(position) = position else { return Ok(()) };
        let index = self.f.constant_id(position as i64 + 1);
        self.rewrite(v, core::get(x, index))
    }

    /// A splat of tuples passes their elements.
    fn splat(&mut self, v: Value) -> IrResult<()> {
        let operands: Vec<Operand> = self.f.operands(v).collect();
        let Some((&callee, tuples)) = operands.split_first() else { return Ok(()) };
        let mut counts = Vec::with_capacity(tuples.len());
        for &tuple in tuples {
            counts.push(match self.f.ctx().kind(self.f.operand_type(tuple)) {
                TypeKind::Tuple(types) => types.len(),
                TypeKind::Named(fields) => fields.len(),
                _ => return Ok(()),
            });
        }
        let mut args = Vec::new();
        for (&tuple, count) in tuples.iter().zip(counts) {
            for i in 0..count {
                let index = self.f.constant_id(i as i64 + 1);
                let element = self.f.insert(v, core::get(tuple, index))?;
                args.push(element);
            }
        }
        let ty = self.f.ty(v);
        self.rewrite(v, core::apply(callee, args, ty))?;
        self.apply(v)
    }

    /// A call of a value behind which there is one function is a call of that.
    fn apply(&mut self, v: Value) -> IrResult<()> {
        let (Some(module), Some(callee)) = (self.signatures, self.f.operand(v, 0)) else {
            return Ok(());
        };
        let ctx = self.f.ctx();
        let (name, first) = match *ctx.kind(self.f.operand_type(callee)) {
            TypeKind::Fn(name) => (name, 1),
            TypeKind::Struct(id) => match ctx.struct_def(id).call {
                Some(name) => (name, 0),
                None => return Ok(()),
            },
            _ => return Ok(()),
        };
        let Some(known) = module.find(name).and_then(|id| module.get(id)) else { return Ok(()) };
        let params = known.param_types();
        let args: Vec<Operand> = self.f.operands(v).skip(first).collect();
        let fits = args.len() == params.len()
            && args
                .iter()
                .zip(&params)
                .all(|(&arg, &ty)| self.f.operand_type(arg).is_assignable_to(ty))
            && known.ret_type().is_assignable_to(self.f.ty(v));
        if !fits {
            return Ok(());
        }
        let callee = self.f.constant_id(Constant::Func(name));
        let ty = self.f.ty(v);
        self.rewrite(v, core::call(callee, args, ty))?;
        self.result_of_call(v)
    }

    fn result_of_call(&mut self, v: Value) -> IrResult<()> {
        let Some(module) = self.signatures else { return Ok(()) };
        let name = self.f.operand(v, 0).and_then(|callee| self.f.const_func(callee));
        let known = name.and_then(|name| module.get(module.find(name)?));
        match known.map(Function::ret_type) {
            Some(ty) if self.f.ty(v) == Type::ANY && ty != Type::NEVER => self.refine(v, ty),
            _ => Ok(()),
        }
    }

    /// Lets the users of what was converted to `any` have it as it was, where they take it.
    fn widened(&mut self, v: Value) -> IrResult<()> {
        let Some(x) = self.f.operand(v, 0) else { return Ok(()) };
        if self.f.operand_type(x) == Type::NEVER {
            return Ok(());
        }
        let users = self.users(v);
        let before = self.f.uses(v).count();
        if replace_where_it_fits(self.f, v, x)? {
            self.f.transfer_name(v, x);
            self.f.delete(v)?;
            self.instructions += 1;
        } else if self.f.uses(v).count() == before {
            return Ok(());
        }
        self.push_all(users);
        Ok(())
    }

    fn replace(&mut self, v: Value, result: Operand) -> IrResult<()> {
        let users = self.users(v);
        if replace_where_it_fits(self.f, v, result)? {
            self.f.delete(v)?;
            self.instructions += 1;
            self.push_all(users);
        }
        Ok(())
    }

    /// Gives `v` another right-hand side, of the type that it has.
    fn rewrite(&mut self, v: Value, inst: Inst) -> IrResult<()> {
        let ty = self.f.ty(v);
        self.f.replace(v, inst)?;
        // Whether the users take a better type is found out afterwards.
        self.f.set_type(v, ty)?;
        self.instructions += 1;
        Ok(())
    }

    fn refine(&mut self, v: Value, ty: Type) -> IrResult<()> {
        if ty != self.f.ty(v) && refine(self.f, v, ty)? {
            self.types += 1;
            let users = self.users(v);
            self.push_all(users);
        }
        Ok(())
    }

    /// The instructions that use `v`, and the parameters that it is passed to.
    fn users(&self, v: Value) -> Vec<Value> {
        let uses: Vec<Use> = self.f.uses_in_order(v);
        let reached = |at: Use| match at.user.is_terminator() {
            true => self.f.parameter_passed(at),
            false => Some(at.user),
        };
        uses.into_iter().filter_map(reached).collect()
    }

    fn push_all(&mut self, values: Vec<Value>) {
        self.queued.resize(self.f.value_capacity(), false);
        for v in values.into_iter().rev() {
            let block: Block = self.f.block_of(v);
            if self.cfg.is_reachable(block)
                && !self.f.is_cold(block)
                && !std::mem::replace(&mut self.queued[v.index()], true)
            {
                self.work.push(v);
            }
        }
    }
}
