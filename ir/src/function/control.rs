//! Blocks, their parameters, their terminators, and the edges between them.

use rustc_hash::FxHashSet;

use super::{BlockData, Edge, Function, MAX_OPERANDS, State, Use, ValueData};
use crate::entity::MAX_ENTITIES;
use crate::error::IrErrorKind;
use crate::inst::Operands;
use crate::{Block, Inst, IrError, IrResult, Op, Operand, Type, Value};

impl Function {
    /// Appends an empty block to the layout; the first one is the entry.
    ///
    /// # Panics
    /// If the function has 2^25 blocks.
    #[track_caller]
    pub fn add_block(&mut self) -> Block {
        assert!(self.blocks.len() < MAX_ENTITIES, "too many blocks in @{}", self.name_str());
        let b = self.new_block();
        self.link_block(b, self.last_block, Block::NONE);
        b
    }

    /// Adds an empty block just after `after` in the layout.
    ///
    /// # Errors
    /// If `after` is stale, or if the function has 2^25 blocks.
    pub fn add_block_after(&mut self, after: Block) -> IrResult<Block> {
        let next = self.checked_block(after)?.next;
        if self.blocks.len() >= MAX_ENTITIES {
            let message = format!("@{} has more than {MAX_ENTITIES} blocks", self.name_str());
            return Err(IrError::new(IrErrorKind::Limit, message));
        }
        let b = self.new_block();
        self.link_block(b, after, next);
        Ok(b)
    }

    pub(super) fn new_block(&mut self) -> Block {
        let b = self.blocks.alloc(BlockData::empty(State::Reserved));
        self.blocks[b].term.block = b;
        b
    }

    /// Moves a block to just after `after` in the layout.
    ///
    /// # Errors
    /// If either is stale, or if `b` is the entry.
    pub fn move_block_after(&mut self, b: Block, after: Block) -> IrResult<()> {
        self.checked_block(b)?;
        self.checked_block(after)?;
        if b == self.first_block {
            return Err(IrError::block_unsuitable(self, b, "is the entry and stays first"));
        }
        if b != after && self.blocks[after].next != b {
            self.unlink_block(b);
            let next = self.blocks[after].next;
            self.link_block(b, after, next);
        }
        Ok(())
    }

    /// Lays the blocks out in this order.
    ///
    /// # Errors
    /// If `order` is not a permutation of the live blocks, or does not begin with the entry.
    pub fn permute_blocks(&mut self, order: &[Block]) -> IrResult<()> {
        let mut seen = FxHashSet::default();
        for &b in order {
            self.checked_block(b)?;
            if !seen.insert(b) {
                return Err(IrError::block_unsuitable(self, b, "is there twice in the new order"));
            }
        }
        if let Some(b) = self.blocks().find(|b| !seen.contains(b)) {
            return Err(IrError::block_unsuitable(self, b, "is missing in the new order"));
        }
        if let Some(&first) = order.first()
            && first != self.first_block
        {
            let entry = self.first_block;
            return Err(IrError::block_unsuitable(self, entry, "is the entry and stays first"));
        }
        let mut last = self.first_block;
        for &b in order.iter().skip(1) {
            let next = self.blocks[last].next;
            if b != next {
                self.unlink_block(b);
                self.link_block(b, last, next);
            }
            last = b;
        }
        Ok(())
    }

    // --- parameters ------------------------------------------------------------------------

    /// Appends a parameter to a block that no edge enters yet.
    ///
    /// # Errors
    /// If the block is stale, or if an edge enters it: then use [`Function::add_param`].
    pub fn append_param(&mut self, block: Block, ty: Type) -> IrResult<Value> {
        self.add_param(block, ty, |_| None::<Operand>)
    }

    /// Appends a parameter to a block, and the value that `arg` gives for its predecessor to
    /// every edge that enters it. O(operands of the terminators of the predecessors).
    ///
    /// # Errors
    /// If something is stale, if an argument is missing (`None`) or of another type, or if a
    /// terminator would get more than [`MAX_OPERANDS`] operands; then nothing has changed.
    pub fn add_param<T: Into<Operand>>(
        &mut self,
        block: Block,
        ty: Type,
        mut arg: impl FnMut(Block) -> Option<T>,
    ) -> IrResult<Value> {
        self.checked_block(block)?;
        self.check_type(ty)?;
        let preds = self.pred_blocks(block);
        let count = self.param_count(block);
        let mut args = Vec::with_capacity(preds.len());
        for &pred in &preds {
            let Some(arg) = arg(pred) else {
                return Err(IrError::edge_arity(block, count, count + 1));
            };
            let arg = arg.into();
            self.check_operand(arg)?;
            let have = self.operand_type(arg);
            if !have.is_assignable_to(ty) || arg.is_block() {
                return Err(IrError::edge_mismatch(self, block, count, have, ty));
            }
            args.push(arg);
            let term = Value::terminator(pred);
            let edges = self.successors(pred).filter(|&target| target == block).count();
            check_operand_count(self.operand_count(term) + edges)?;
        }
        let v = self.append_param_without_args(block, ty)?;
        for (pred, arg) in preds.into_iter().zip(args) {
            self.rewrite_edges(pred, |target, edge_args| {
                if target == block {
                    edge_args.push(arg);
                }
            });
        }
        Ok(v)
    }

    /// Appends a parameter for which the edges that enter the block pass nothing yet.
    pub(crate) fn append_param_without_args(&mut self, block: Block, ty: Type) -> IrResult<Value> {
        let v = self.alloc_value(ValueData::empty(Op::MISSING))?;
        self.install_param(v, block, ty);
        self.record_origin(v, None);
        Ok(v)
    }

    /// Lets each edge that leaves `from` pass some more arguments.
    pub(crate) fn add_edge_args(
        &mut self,
        from: Block,
        args: impl IntoIterator<Item = Operands>,
    ) -> IrResult<()> {
        let args: Vec<Operands> = args.into_iter().collect();
        let more: usize = args.iter().map(Operands::len).sum();
        check_operand_count(self.operand_count(Value::terminator(from)) + more)?;
        let mut args = args.into_iter();
        self.rewrite_edges(from, |_, edge_args| {
            edge_args.extend(args.next().into_iter().flatten());
        });
        Ok(())
    }

    /// Deletes a parameter, and the arguments that the entering edges pass for it.
    ///
    /// # Errors
    /// If `v` is stale, no parameter, or still used (by anything but arguments that go with it).
    pub fn remove_param(&mut self, v: Value) -> IrResult<()> {
        let data = *self.checked(v)?;
        if data.op != Op::PARAM {
            return Err(IrError::not_an_inst(self, v, "remove as a parameter"));
        }
        let (block, position) = (data.block, data.slots as usize);
        if self.uses(v).any(|u| !self.is_argument(u, block, position)) {
            return Err(IrError::still_used(self, v));
        }
        for pred in self.pred_blocks(block) {
            self.rewrite_edges(pred, |target, args| {
                // An edge that was left to the verifier can have too few.
                if target == block && position < args.len() {
                    args.remove(position);
                }
            });
        }
        self.unlink_param(v);
        self.bury(v);
        self.epochs.types += 1;
        Ok(())
    }

    /// The parameter that a use passes a value to; `None` if it is no argument of an edge.
    #[track_caller]
    pub fn parameter_passed(&self, at: Use) -> Option<Value> {
        let index = at.index as usize;
        let before = &self.slots_of(at.user)[..index];
        let target = before.iter().rposition(|slot| slot.operand.is_block())?;
        self.param(before[target].operand.as_block()?, index - target - 1)
    }

    /// Returns whether a use is an argument for the parameter of `block` at that position.
    #[track_caller]
    pub fn is_argument(&self, at: Use, block: Block, position: usize) -> bool {
        let Some(target) = (at.index as usize).checked_sub(position + 1) else { return false };
        at.user.is_terminator()
            && self.operand(at.user, target) == Some(block.into())
            && self.operands(at.user).skip(target + 1).take(position).all(|arg| !arg.is_block())
    }

    /// The distinct blocks whose edges enter `block`, in layout order.
    #[track_caller]
    pub fn pred_blocks(&self, block: Block) -> Vec<Block> {
        let mut preds = self.predecessors(block);
        preds.dedup();
        preds
    }

    /// Rewrites the arguments of all edges that leave `from`.
    fn rewrite_edges(&mut self, from: Block, mut rewrite: impl FnMut(Block, &mut Operands)) {
        let term = Value::terminator(from);
        let mut operands: Operands = self.plain_operands(term).collect();
        for edge in self.out_edges(from) {
            let target = self.edge_target(edge);
            let mut args: Operands = self.edge_args(edge).collect();
            rewrite(target, &mut args);
            operands.push(target.into());
            operands.extend(args);
        }
        self.replace_slots(term, &operands);
        self.epochs.insts += 1;
    }

    // --- terminators and edges -------------------------------------------------------------

    /// Ends a block with `inst`, in place of the terminator it had.
    ///
    /// # Errors
    /// If something is stale, if `inst` is no terminator, or if the operands or the arguments of
    /// the edges do not fit. With [`Inst::with_type`] the edges are left to the verifier.
    pub fn set_terminator(&mut self, block: Block, inst: Inst) -> IrResult<()> {
        self.set_terminator_with(block, inst, Self::param_count)
    }

    /// The same, where edges pass arguments for the first `count` parameters of their targets.
    pub(crate) fn set_terminator_with(
        &mut self,
        block: Block,
        inst: Inst,
        count: impl Fn(&Self, Block) -> usize,
    ) -> IrResult<()> {
        self.checked_block(block)?;
        let def = self.declaration(inst.op)?;
        if !def.is_terminator() {
            let message = format!("`{}` cannot end {block}, it is no terminator", def.mnemonic());
            return Err(IrError::new(IrErrorKind::Unsuitable, message));
        }
        self.check_signature(&inst)?;
        if inst.ty.is_none() {
            self.check_edges(&inst.operands, count)?;
        }
        let term = Value::terminator(block);
        if self.blocks[block].term.op == Op::MISSING {
            let slots = self.add_slots(term, &inst.operands);
            let data = &mut self.blocks[block].term;
            (data.slots, data.len) = (slots, inst.operands.len() as u16);
        } else {
            self.replace_slots(term, &inst.operands);
        }
        let data = &mut self.blocks[block].term;
        (data.op, data.attrs, data.ty, data.seq) = (inst.op, inst.attrs, Type::NEVER, u32::MAX);
        if let Some(loc) = inst.loc {
            data.loc = loc;
        }
        self.epochs.cfg += 1;
        self.epochs.insts += 1;
        Ok(())
    }

    /// Takes the terminator off a block, so that it can be given another one later.
    ///
    /// # Errors
    /// If the block is stale or has no terminator.
    pub fn remove_terminator(&mut self, block: Block) -> IrResult<()> {
        self.checked(Value::terminator(block))?;
        self.drop_slots(Value::terminator(block));
        self.blocks[block].term = ValueData { block, ..ValueData::empty(Op::MISSING) };
        self.epochs.cfg += 1;
        self.epochs.insts += 1;
        Ok(())
    }

    /// Lets an edge go to `target` with `args`. Other edges of the same block move their
    /// [`Edge::position`] if the number of arguments changes.
    ///
    /// # Errors
    /// If something is stale, if the arguments do not fit the parameters of `target`, or if there
    /// would be more than [`MAX_OPERANDS`] operands.
    pub fn redirect<T: Into<Operand>>(
        &mut self,
        edge: Edge,
        target: Block,
        args: impl IntoIterator<Item = T>,
    ) -> IrResult<()> {
        self.checked_edge(edge)?;
        let term = Value::terminator(edge.from);
        let mut new = Operands::new();
        new.push(target.into());
        new.extend(args.into_iter().map(Into::into));
        for &operand in &new {
            self.check_operand(operand)?;
        }
        if new[1..].iter().any(|arg| arg.is_block()) {
            return Err(IrError::misplaced_edge(self));
        }
        self.check_edges(&new, Self::param_count)?;
        let position = edge.position as usize;
        let old_len = 1 + self.edge_args(edge).len();
        check_operand_count(self.operand_count(term) - old_len + new.len())?;
        let all: Operands = self.operands(term).collect();
        let mut operands = Operands::from_slice(&all[..position]);
        operands.extend(new);
        operands.extend_from_slice(&all[position + old_len..]);
        self.replace_slots(term, &operands);
        self.epochs.cfg += 1;
        self.epochs.insts += 1;
        Ok(())
    }

    fn checked_edge(&self, edge: Edge) -> IrResult<()> {
        self.checked(Value::terminator(edge.from))?;
        let target = self.operand(Value::terminator(edge.from), edge.position as usize);
        match target {
            Some(target) if target.is_block() => Ok(()),
            _ => Err(IrError::stale_edge(self, edge)),
        }
    }

    /// Checks the edges among the operands of a terminator against the parameters of their targets.
    pub(super) fn check_edges(
        &self,
        operands: &[Operand],
        want: impl Fn(&Self, Block) -> usize,
    ) -> IrResult<()> {
        let mut rest = operands;
        while let Some(at) = rest.iter().position(|operand| operand.is_block()) {
            let target = rest[at].as_block().expect("found by `is_block`");
            rest = &rest[at + 1..];
            let count = rest.iter().position(|o| o.is_block()).unwrap_or(rest.len());
            let want = want(self, target);
            if count != want {
                return Err(IrError::edge_arity(target, count, want));
            }
            for (i, (&arg, param)) in rest[..count].iter().zip(self.params(target)).enumerate() {
                let (have, want) = (self.operand_type(arg), self.ty(param));
                if !have.is_assignable_to(want) {
                    return Err(IrError::edge_mismatch(self, target, i, have, want));
                }
            }
        }
        Ok(())
    }

    /// Checks what stands at position `index` of an instruction against the parameter that it is
    /// for, if it is the argument of an edge.
    pub(super) fn check_argument(&self, user: Value, index: usize) -> IrResult<()> {
        let at = Use { user, index: index as u32 };
        let (Some(param), Some(arg)) = (self.parameter_passed(at), self.operand(user, index))
        else {
            return Ok(());
        };
        let (have, want) = (self.operand_type(arg), self.ty(param));
        let ValueData { block, slots: position, .. } = self.values[param];
        match have.is_assignable_to(want) {
            true => Ok(()),
            false => Err(IrError::edge_mismatch(self, block, position as usize, have, want)),
        }
    }

    /// Checks a terminator as it stands: signature and edges.
    pub(super) fn check_terminator(&self, term: Value) -> IrResult<()> {
        self.check_inst(term)?;
        let operands: Operands = self.operands(term).collect();
        self.check_edges(&operands, Self::param_count)
    }

    /// The op that goes to another block and does nothing else.
    ///
    /// # Errors
    /// If no registered dialect has one.
    pub fn jump_op(&self) -> IrResult<Op> {
        self.ctx.registry().jump().ok_or_else(|| {
            IrError::new(IrErrorKind::Unsuitable, "no registered dialect has an op to jump with")
        })
    }

    fn move_terminator(&mut self, from: Block, to: Block) {
        let data = self.blocks[from].term;
        self.blocks[from].term = ValueData { block: from, ..ValueData::empty(Op::MISSING) };
        self.blocks[to].term = ValueData { block: to, ..data };
        let first = data.slots as usize;
        for slot in &mut self.slots[first..first + usize::from(data.len)] {
            slot.user = Value::terminator(to);
        }
        self.epochs.cfg += 1;
        self.epochs.insts += 1;
    }

    // --- splitting and merging -------------------------------------------------------------

    /// Splits the block of `v` before `v`: `v` and what follows, the terminator included, move
    /// to a new block just after it, which the old one jumps to. At a parameter, all
    /// instructions move. Returns the new block. O(moved).
    ///
    /// # Errors
    /// If `v` is stale.
    pub fn split_block(&mut self, v: Value) -> IrResult<Block> {
        let data = *self.checked(v)?;
        let jump = self.jump_op()?;
        let block = data.block;
        let new = self.add_block_after(block)?;
        let first = match data.op {
            Op::PARAM => self.first_inst(block),
            _ if v.is_terminator() => None,
            _ => Some(v),
        };
        if let Some(first) = first {
            self.move_tail(block, first, new);
        }
        let loc = self.loc(v);
        if self.terminator(block).is_some() {
            self.move_terminator(block, new);
        }
        self.set_terminator(block, Inst::new(jump).operand(new).at(loc))?;
        Ok(new)
    }

    /// Puts a new block on an edge. It stands just after the source, has no parameters, and
    /// passes the arguments of the edge on. Returns it.
    ///
    /// # Errors
    /// If the edge is stale.
    pub fn split_edge(&mut self, edge: Edge) -> IrResult<Block> {
        self.checked_edge(edge)?;
        let jump = self.jump_op()?;
        let target = self.edge_target(edge);
        let args: Operands = self.edge_args(edge).collect();
        let loc = self.loc(Value::terminator(edge.from));
        let new = self.add_block_after(edge.from)?;
        // With a type, the arguments are passed on as they are, right or wrong.
        let inst = Inst::new(jump).edge(target, args).at(loc).with_type(Type::NEVER);
        self.set_terminator(new, inst)?;
        self.redirect(edge, new, std::iter::empty::<Operand>())?;
        Ok(new)
    }

    /// Appends block `b` to block `a`, whose jump to `b` is the only edge that enters `b`. The
    /// parameters of `b` become the arguments of that edge, and `b` is deleted. O(size of `b`).
    ///
    /// # Errors
    /// If something is stale, if `a` and `b` do not stand so to each other, or if the jump passes
    /// parameters of `b` (as it can where nothing reaches either): these would be replaced by
    /// themselves.
    pub fn merge_blocks(&mut self, a: Block, b: Block) -> IrResult<()> {
        self.checked_block(a)?;
        self.checked_block(b)?;
        let jump = self.jump_op()?;
        let entering: Vec<Edge> = self.in_edges(b).collect();
        let &[edge] = entering.as_slice() else {
            let why = format!("is entered by {} edges and cannot be merged", entering.len());
            return Err(IrError::block_unsuitable(self, b, why));
        };
        let is_jump = self.blocks[edge.from].term.op == jump && edge.position == 0;
        if edge.from != a || !is_jump || self.out_edges(a).count() != 1 {
            let why = format!("is not entered by a jump of {a} and cannot be merged with it");
            return Err(IrError::block_unsuitable(self, b, why));
        }
        if a == b || b == self.first_block {
            let why = "cannot be merged into its predecessor";
            return Err(IrError::block_unsuitable(self, b, why));
        }
        let params: Vec<Value> = self.params(b).collect();
        let args: Operands = self.edge_args(edge).collect();
        if args.len() != params.len() {
            return Err(IrError::edge_arity(b, args.len(), params.len()));
        }
        for (&param, &arg) in params.iter().zip(&args) {
            self.check_replacement(param, arg)?;
            if arg.as_value().is_some_and(|v| self.is_param(v) && self.block_of(v) == b) {
                let why = "passes its own parameters to itself and cannot be merged";
                return Err(IrError::block_unsuitable(self, b, why));
            }
        }
        for (param, arg) in params.into_iter().zip(args) {
            self.replace_named(param, arg)?;
            self.bury(param);
        }
        self.drop_slots(Value::terminator(a));
        if let Some(first) = self.first_inst(b) {
            self.move_tail(b, first, a);
        }
        self.move_terminator(b, a);
        self.unlink_block(b);
        self.blocks[b] = BlockData::empty(State::Dead);
        Ok(())
    }

    /// Deletes a block with everything in it.
    ///
    /// # Errors
    /// If it is stale, the entry, still branched to from another block, or if something in it is
    /// used elsewhere; the message says by what.
    pub fn delete_block(&mut self, b: Block) -> IrResult<()> {
        self.delete_blocks(&[b])
    }

    /// Deletes blocks that may branch to each other and use each other's values, as the blocks
    /// of an unreachable loop do.
    ///
    /// # Errors
    /// As [`Function::delete_block`]; then nothing has changed.
    pub fn delete_blocks(&mut self, blocks: &[Block]) -> IrResult<()> {
        let mut set: FxHashSet<Block> = FxHashSet::default();
        for &b in blocks {
            self.checked_block(b)?;
            if b == self.first_block {
                let why = "is the entry and cannot be deleted";
                return Err(IrError::block_unsuitable(self, b, why));
            }
            set.insert(b);
        }
        for &b in blocks {
            if let Some(edge) =
                self.in_edges_in_order(b).into_iter().find(|e| !set.contains(&e.from))
            {
                let message =
                    format!("{b} of @{} is still branched to from {}", self.name_str(), edge.from);
                return Err(IrError::new(IrErrorKind::StillUsed, message));
            }
            for v in self.params(b).chain(self.body(b)) {
                if self.uses(v).any(|u| !set.contains(&self.block_of(u.user))) {
                    return Err(IrError::still_used(self, v));
                }
            }
        }
        // First every use goes, then what was used.
        for &b in &set {
            let insts: Vec<Value> = self.insts(b).collect();
            for v in insts {
                self.drop_slots(v);
            }
        }
        for b in set {
            let values: Vec<Value> = self.params(b).chain(self.body(b)).collect();
            for v in values {
                self.bury(v);
            }
            self.unlink_block(b);
            self.blocks[b] = BlockData::empty(State::Dead);
            // Its terminator goes too, and what that used has fewer uses.
            self.epochs.insts += 1;
        }
        Ok(())
    }
}

fn check_operand_count(count: usize) -> IrResult<()> {
    if count <= MAX_OPERANDS { Ok(()) } else { Err(IrError::too_many_operands()) }
}
