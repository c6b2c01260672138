//! The code of a callee in the place of one call.
//!
//! A callee of one block goes in front of the call, whose result its result takes over. Of any
//! other callee, the entry goes to the end of the part of the block in front of the call, the
//! other blocks follow in their order, and every return becomes a jump to the part behind the
//! call; if there are several, what they return becomes a parameter there.

use regraft_dialects::attrs::without_scope;
use regraft_dialects::{cf, core, mem};
use regraft_ir::{
    Attrs, Block, Constant, ControlFlow, Function, Inst, IrResult, Loc, Operand, OperandKind,
    Operands, Symbol, Traits, Type, Value,
};
use rustc_hash::FxHashMap;

use crate::transforms::util::edit::replace_if_it_fits;

/// The data by which a callee is copied, found once for all its calls.
#[derive(Debug)]
pub(super) struct Template {
    /// The reachable blocks, each after those that dominate it; the entry first.
    order: Vec<Block>,
    /// The same blocks as they are laid out.
    layout: Vec<Block>,
    /// True if something jumps to the entry, so that it has to stay a block.
    entry_is_target: bool,
    returns: usize,
}

impl Template {
    pub(super) fn of(callee: &Function, cfg: &ControlFlow) -> Self {
        let order: Vec<Block> = cfg.reverse_postorder().collect();
        let layout = callee.blocks().filter(|&block| cfg.is_reachable(block)).collect();
        let returns = order.iter().filter(|&&block| is_return(callee, block)).count();
        let reachable = |block| callee.in_edges(block).any(|edge| cfg.is_reachable(edge.from));
        let entry_is_target = order.first().is_some_and(|&entry| reachable(entry));
        Self { order, layout, entry_is_target, returns }
    }

    /// The number of reachable blocks that return.
    pub(super) fn returns(&self) -> usize {
        self.returns
    }

    /// The blocks that can run.
    pub(super) fn blocks(&self) -> &[Block] {
        &self.layout
    }

    fn is_one_block(&self) -> bool {
        self.order.len() == 1 && !self.entry_is_target
    }
}

/// Returns whether a block ends with a return.
fn is_return(f: &Function, block: Block) -> bool {
    let def = f.op_def(Value::terminator(block));
    def.is_some_and(|def| def.traits.contains(Traits::RETURN))
}

/// Memory that splicing uses again and again.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// The operand that stands for each value of the callee. Nothing is cleared between calls: what
    /// is read was written before, since definitions dominate uses.
    values: Vec<Option<Operand>>,
    blocks: Vec<Option<Block>>,
    /// The number to try next behind each name.
    suffixes: FxHashMap<Symbol, u32>,
    /// The last location that was made, for a row of instructions of one place.
    loc: Option<((Loc, Symbol, Loc), Loc)>,
}

impl Scratch {
    /// To be called before another function is changed.
    pub(super) fn start(&mut self) {
        self.suffixes.clear();
    }
}

/// Puts the code of `callee` in the place of `call`, which passes the operands from `first` on.
/// The types of what is passed and returned have to fit.
pub(super) fn splice(
    f: &mut Function,
    call: Value,
    first: usize,
    callee: &Function,
    template: &Template,
    scratch: &mut Scratch,
) -> IrResult<()> {
    let loc = f.loc(call);
    let mark = marks_accesses(f, call).then(|| f.attrs(call));
    let mut copy = Copy { f, call, loc, mark, callee, scratch };
    copy.scratch.values.resize(callee.value_capacity().max(copy.scratch.values.len()), None);
    copy.scratch.blocks.resize(callee.block_capacity().max(copy.scratch.blocks.len()), None);
    let args = copy.arguments(first, template)?;
    if template.is_one_block() {
        copy.one_block(&args, template)
    } else {
        copy.blocks(&args, template)
    }
}

/// Returns whether the call says that accesses in its place are in bounds.
fn marks_accesses(f: &Function, call: Value) -> bool {
    f.op(call) == Some(core::CALL) && f.attr(call, "inbounds") == Some(Constant::Bool(true))
}

struct Copy<'a> {
    f: &'a mut Function,
    call: Value,
    loc: Loc,
    /// The attributes that accesses get.
    mark: Option<Attrs>,
    callee: &'a Function,
    scratch: &'a mut Scratch,
}

impl Copy<'_> {
    /// Returns what is passed for each parameter, of the type of the parameter.
    fn arguments(&mut self, first: usize, template: &Template) -> IrResult<Operands> {
        let mut args: Operands = self.f.operands(self.call).skip(first).collect();
        for (arg, param) in args.iter_mut().zip(self.callee.params(template.order[0])) {
            if self.callee.is_used(param) {
                *arg = self.widened(*arg, self.callee.ty(param), self.call)?;
            }
        }
        Ok(args)
    }

    /// `operand` as one of type `ty`, which it can stand for. Of what a value of type `any` is,
    /// the code that uses it does not know, so one that is better known would not always do.
    fn widened(&mut self, operand: Operand, ty: Type, at: Value) -> IrResult<Operand> {
        if self.f.operand_type(operand) == ty {
            return Ok(operand);
        }
        let inst = core::convert(operand, ty).at(self.loc).made_from(self.call);
        Ok(self.f.insert(at, inst)?.into())
    }

    fn one_block(mut self, args: &[Operand], template: &Template) -> IrResult<()> {
        let entry = template.order[0];
        self.bind_params(entry, args);
        for v in self.callee.body(entry) {
            let inst = self.inst(v);
            let copy = self.f.insert(self.call, inst)?;
            self.defined(v, copy)?;
        }
        let result = self.returned(entry);
        self.replace_call(result)
    }

    fn blocks(mut self, args: &[Operand], template: &Template) -> IrResult<()> {
        let front = self.f.block_of(self.call);
        let behind = self.f.split_block(self.call)?;
        self.f.remove_terminator(front)?;
        let passes_result = template.returns > 1 && self.f.is_used(self.call);
        let result = match passes_result {
            true => Some(self.f.append_param(behind, self.f.ty(self.call))?),
            false => None,
        };
        let entry = template.order[0];
        self.make_blocks(front, template)?;
        if template.entry_is_target {
            let copy = self.block(entry);
            self.end(front, Inst::new(cf::BR).edge(copy, args.iter().copied()).at(self.loc))?;
        } else {
            self.bind_params(entry, args);
        }
        let mut returned = None;
        for &block in &template.order {
            let to = self.block(block);
            for v in self.callee.body(block) {
                let inst = self.inst(v);
                let copy = self.f.push(to, inst)?;
                self.defined(v, copy)?;
            }
            let term = Value::terminator(block);
            if !is_return(self.callee, block) {
                let inst = self.inst(term);
                self.end(to, inst)?;
                continue;
            }
            let value = self.returned(block);
            let loc = self.location(term);
            self.end(to, Inst::new(cf::BR).edge(behind, result.map(|_| value)).at(loc))?;
            returned = Some(value);
        }
        match (result, returned) {
            (Some(param), _) => self.replace_call(param.into()),
            (None, Some(value)) => self.replace_call(value),
            // Nothing returns, so that nothing behind the call runs. It is not for this file to
            // say what a value that is never there is; the policy does not ask for it.
            (None, None) => Ok(()),
        }
    }

    /// Makes the blocks of the callee, with their parameters, behind `front`, which takes in what
    /// the entry holds unless something jumps there.
    fn make_blocks(&mut self, front: Block, template: &Template) -> IrResult<()> {
        let entry = template.order[0];
        let mut last = front;
        for &block in &template.layout {
            if block == entry && !template.entry_is_target {
                self.scratch.blocks[block.index()] = Some(front);
                continue;
            }
            last = self.f.add_block_after(last)?;
            self.scratch.blocks[block.index()] = Some(last);
            for param in self.callee.params(block) {
                let copy = self.f.append_param(last, self.callee.ty(param))?;
                self.defined(param, copy)?;
            }
        }
        Ok(())
    }

    fn block(&self, block: Block) -> Block {
        self.scratch.blocks[block.index()].expect("reachable blocks are made first")
    }

    /// Lets the arguments stand for the parameters of the entry.
    fn bind_params(&mut self, entry: Block, args: &[Operand]) {
        for (param, &arg) in self.callee.params(entry).zip(args) {
            self.scratch.values[param.index()] = Some(arg);
        }
    }

    /// Ends a block. That the edges fit is known, since those of the callee do.
    fn end(&mut self, block: Block, inst: Inst) -> IrResult<()> {
        self.f.set_terminator(block, inst.with_type(Type::NEVER))
    }

    /// Lets `result` stand for the call, and deletes it.
    fn replace_call(mut self, result: Operand) -> IrResult<()> {
        let (call, ty) = (self.call, self.f.ty(self.call));
        if !replace_if_it_fits(self.f, call, result)? {
            let result = self.widened(result, ty, call)?;
            self.f.replace_named(call, result)?;
        }
        self.f.delete(call)
    }

    /// Returns what a block of the callee returns.
    fn returned(&self, block: Block) -> Operand {
        match self.callee.operand(Value::terminator(block), 0) {
            Some(operand) => self.operand(operand),
            None => self.f.constant_id(Constant::Unit).into(),
        }
    }

    fn operand(&self, operand: Operand) -> Operand {
        match operand.kind() {
            OperandKind::Value(v) => {
                self.scratch.values[v.index()].expect("definitions dominate uses")
            }
            OperandKind::Block(block) => self.block(block).into(),
            OperandKind::Const(_) => operand,
        }
    }

    /// An instruction of the callee as one of the caller.
    fn inst(&mut self, v: Value) -> Inst {
        let op = self.callee.op(v).expect("it is an instruction");
        let attrs = match self.mark {
            Some(mark) if matches!(op, mem::LOAD | mem::STORE) => mark,
            _ => without_scope(self.callee.ctx(), self.callee.attrs(v)),
        };
        let loc = self.location(v);
        let operands = self.callee.operands(v).map(|operand| self.operand(operand));
        Inst::new(op)
            .operands(operands)
            .with_attrs(attrs)
            .with_type(self.callee.ty(v))
            .at(loc)
            .made_from(self.call)
    }

    /// Returns where an instruction comes from: its own place, and the call that it was inlined at.
    fn location(&mut self, v: Value) -> Loc {
        let at = self.callee.loc(v);
        let (callee, call_site) = (self.callee.name(), self.loc);
        let key = (at, callee, call_site);
        match self.scratch.loc {
            _ if !at.is_known() => self.loc,
            Some((last, loc)) if last == key => loc,
            _ => {
                let loc = self.f.ctx().inlined_loc(at, callee, call_site);
                self.scratch.loc = Some((key, loc));
                loc
            }
        }
    }

    /// Notes that `copy` is the copy of `v`, and gives it the name of that.
    fn defined(&mut self, v: Value, copy: Value) -> IrResult<()> {
        self.scratch.values[v.index()] = Some(copy.into());
        match self.callee.value_symbol(v) {
            Some(name) => self.name(copy, name),
            None => Ok(()),
        }
    }

    /// Names a value after `name`. Code that is inlined often wants the same names each time, so
    /// the search for a free one goes on where the last ended.
    fn name(&mut self, copy: Value, name: Symbol) -> IrResult<()> {
        let ctx = self.f.ctx().clone();
        let text = ctx.str(name);
        let suffix = self.scratch.suffixes.entry(name).or_insert(0);
        loop {
            let wanted = match *suffix {
                0 => name,
                n => ctx.symbol(&format!("{text}.{n}")),
            };
            *suffix += 1;
            if self.f.value_by_name(ctx.str(wanted)).is_none() {
                return self.f.name_after(copy, wanted);
            }
        }
    }
}
