//! Writes the chosen nodes back into the function.
//!
//! # Method
//! Blocks are visited in preorder of the dominator tree. An instruction of the program whose value
//! is needed becomes the node that was chosen for it, in its place and under its number; where the
//! same node is there already it goes. Nodes that rules have made are computed where they are first
//! needed, or before the outermost loop in which their arguments do not change.
//!
//! # Why it is right
//! All that a node is made of dominates the instruction that it was made for: a rule brings in no
//! variables. So it can be computed wherever the program computes what it stands for. Nodes that
//! rules make cannot trap.

use regraft_ir::{
    Block, DominatorTree, Function, Inst, IrResult, Operand, ResultType, Traits, Value,
};
use smallvec::SmallVec;

use super::explanation::name;
use super::extraction::Extraction;
use super::graph::{Args, Class, EGraph, Node, NodeId};
use crate::analysis::LoopForest;
use crate::rewrite::RuleIndex;

/// The values of a function as nodes, and what is to become of them.
pub(super) struct Elaboration<'a> {
    pub(super) graph: &'a EGraph,
    pub(super) extraction: &'a Extraction,
    /// By [`Value::index`], the class of what is in the graph.
    pub(super) class_of: &'a [Option<Class>],
    /// By [`Value::index`], instructions that stay even if nobody needs their values: they may trap.
    pub(super) stays: &'a [bool],
    pub(super) dom: &'a DominatorTree,
    pub(super) forest: &'a LoopForest,
    pub(super) rules: &'a RuleIndex,
}

/// The numbers of a rewritten function.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Elaborated {
    /// Instructions that were replaced by others or by values that are there.
    pub(super) replaced: u64,
    /// Instructions that were added.
    pub(super) added: u64,
}

impl Elaboration<'_> {
    /// Rewrites the function.
    pub(super) fn run(&self, f: &mut Function) -> IrResult<Elaborated> {
        let mut writer = Writer {
            this: self,
            places: vec![None; self.graph.node_count()],
            counts: Elaborated::default(),
        };
        let mut gone = Vec::new();
        for &block in self.dom.order() {
            let mut next = f.first_inst(block);
            while let Some(v) = next.filter(|v| !v.is_terminator()) {
                next = f.next_inst(v);
                let Some(class) = self.class_of.get(v.index()).copied().flatten() else { continue };
                let node = self.extraction.choice(class);
                if matches!(self.graph.node(node), Node::Leaf(u) if *u == v) {
                    continue;
                }
                let stays = self.stays[v.index()];
                if !self.extraction.is_needed(node) {
                    if !stays {
                        gone.push(v);
                    }
                    continue;
                }
                if self.graph.pinned(node) == Some(v) {
                    writer.places[node.index()] = Some((v.into(), block));
                    continue;
                }
                if writer.is_own(f, v, node) && writer.place(node, block).is_none() {
                    writer.places[node.index()] = Some((v.into(), block));
                    continue;
                }
                writer.counts.replaced += 1;
                if writer.become_node(f, v, block, class, stays)? && !stays {
                    gone.push(v);
                }
            }
        }
        f.delete_all(&gone)?;
        Ok(writer.counts)
    }
}

struct Writer<'a> {
    this: &'a Elaboration<'a>,
    /// The operand that holds a node, and the block where it is computed, by [`NodeId::index`].
    places: Vec<Option<(Operand, Block)>>,
    counts: Elaborated,
}

impl Writer<'_> {
    /// The operand that holds a node in a block.
    fn place(&self, node: NodeId, block: Block) -> Option<Operand> {
        match self.this.graph.node(node) {
            Node::Leaf(v) => Some((*v).into()),
            Node::Const(constant) => Some((*constant).into()),
            Node::Op(..) => {
                let (operand, at) = self.places[node.index()]?;
                self.this.dom.dominates(at, block).then_some(operand)
            }
        }
    }

    /// Returns whether an instruction is a node as it stands, but for the values that its operands
    /// have become.
    fn is_own(&self, f: &Function, v: Value, node: NodeId) -> bool {
        let Node::Op(op, ty, args) = self.this.graph.node(node) else { return false };
        if f.op(v) != Some(*op) || f.ty(v) != *ty || f.operand_count(v) != args.len() {
            return false;
        }
        let chosen = |class: Class| self.this.extraction.choice(class);
        let mut have: Args = Args::new();
        for operand in f.operands(v) {
            match self.class_of_operand(operand) {
                Some(class) => have.push(class),
                None => return false,
            }
        }
        let equal = |have: &[Class], args: &[Class]| {
            have.iter().zip(args).all(|(&a, &b)| chosen(a) == chosen(b))
        };
        equal(&have, args)
            || args.len() == 2
                && f.op_def(v).is_some_and(|d| d.traits.contains(Traits::COMMUTATIVE))
                && equal(&[have[1], have[0]], args)
    }

    fn class_of_operand(&self, operand: Operand) -> Option<Class> {
        match operand.as_value() {
            Some(v) => self.this.class_of.get(v.index()).copied().flatten(),
            None => self.this.graph.find(&Node::Const(operand.as_const()?)),
        }
    }

    /// Makes an instruction the node that was chosen for it. Returns whether something else holds
    /// that already, so that the instruction can go.
    fn become_node(
        &mut self,
        f: &mut Function,
        v: Value,
        block: Block,
        class: Class,
        stays: bool,
    ) -> IrResult<bool> {
        let node = self.this.extraction.choice(class);
        if let Some(operand) = self.place(node, block) {
            f.replace_named(v, operand)?;
            return Ok(true);
        }
        let inst = self.inst(f, v, block, class)?;
        if stays {
            let made = self.by_rules(f, class, |f| f.insert(v, inst))?;
            f.replace_named(v, made)?;
            self.places[node.index()] = Some((made.into(), block));
            return Ok(true);
        }
        self.by_rules(f, class, |f| f.replace(v, inst))?;
        self.places[node.index()] = Some((v.into(), block));
        Ok(false)
    }

    /// Edits the function; what is made is recorded as made by the rules that led to the chosen
    /// node of a class.
    fn by_rules<T>(
        &self,
        f: &mut Function,
        class: Class,
        edit: impl FnOnce(&mut Function) -> IrResult<T>,
    ) -> IrResult<T> {
        let pass = f.provenance();
        let chain = self.this.graph.chain(class, self.this.extraction.choice(class));
        let names: Vec<&str> = chain.iter().map(|step| name(step, self.this.rules)).collect();
        if let (Some(pass), false) = (pass, names.is_empty()) {
            let by = format!("{}: {}", f.ctx().str(pass), names.join(", "));
            f.set_provenance(Some(f.ctx().symbol(&by)));
        }
        let result = edit(f);
        f.set_provenance(pass);
        result
    }

    /// The instruction of the node of a class, with its arguments computed before `v`.
    fn inst(&mut self, f: &mut Function, v: Value, block: Block, class: Class) -> IrResult<Inst> {
        let chosen = |class: Class| self.this.extraction.choice(class);
        // Arguments that are not there yet come first; each is made when its own are there.
        let mut pending = vec![class];
        while let Some(&next) = pending.last() {
            let before = pending.len();
            for &arg in self.this.graph.node(chosen(next)).args() {
                if self.place(chosen(arg), block).is_none() {
                    pending.push(arg);
                }
            }
            if pending.len() > before {
                continue;
            }
            pending.pop();
            if pending.is_empty() {
                break;
            }
            let node = chosen(next);
            if self.place(node, block).is_none() {
                let (inst, operands) = self.made(f, v, block, node);
                let (at, place) = self.hoisted(f, v, block, &operands);
                let made = self.by_rules(f, next, |f| f.insert(at, inst))?;
                self.counts.added += 1;
                self.places[node.index()] = Some((made.into(), place));
            }
        }
        Ok(self.made(f, v, block, chosen(class)).0)
    }

    /// The instruction of a node whose arguments are there.
    fn made(
        &self,
        f: &Function,
        v: Value,
        block: Block,
        node: NodeId,
    ) -> (Inst, SmallVec<[Operand; 3]>) {
        let Node::Op(op, ty, args) = self.this.graph.node(node) else {
            unreachable!("leaves and constants are always there")
        };
        let operands: SmallVec<[Operand; 3]> = args
            .iter()
            .map(|&arg| self.place(self.this.extraction.choice(arg), block))
            .map(|place| place.expect("arguments are made first"))
            .collect();
        let mut inst = Inst::new(*op).operands(operands.iter().copied()).at(f.loc(v)).made_from(v);
        let declared = f.ctx().def(*op).result;
        if matches!(declared, ResultType::Declared) {
            inst = inst.with_type(*ty);
        }
        (inst, operands)
    }

    /// The place for an instruction that is needed at `v`: before the outermost loop in which its
    /// operands do not change.
    fn hoisted(
        &self,
        f: &Function,
        v: Value,
        block: Block,
        operands: &[Operand],
    ) -> (Value, Block) {
        let (mut at, mut place) = (v, block);
        let mut inner = self.this.forest.loop_of(block);
        while let Some(l) = inner {
            let (data, forest) = (self.this.forest.get(l), self.this.forest);
            let Some(preheader) = data.preheader else { break };
            let varies = |operand: &Operand| {
                operand.as_value().is_some_and(|u| forest.contains(l, f.block_of(u)))
            };
            if operands.iter().any(varies) {
                break;
            }
            (at, place) = (Value::terminator(preheader), preheader);
            inner = data.parent;
        }
        (at, place)
    }
}
