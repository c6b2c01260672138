//! Blocks, their parameters, and how they end.

use regraft_dialects::{ad, cf, core};
use regraft_ir::{Block, ControlFlow, Inst, Operand, Traits, Type, Value};

use super::writer::{Dual, Writer};

impl Writer<'_, '_> {
    /// Makes the blocks that can be reached, in their order, with their parameters: first the
    /// values, then the tangents. The entry is a block of its own only if something jumps there.
    pub(super) fn make_blocks(&mut self, cfg: &ControlFlow) {
        let from = self.from;
        let Some(entry) = from.entry() else { return };
        let is_target = from.in_edges(entry).any(|edge| cfg.is_reachable(edge.from));
        for block in from.blocks().filter(|&block| cfg.is_reachable(block)) {
            if block == entry && !is_target {
                self.blocks[block.index()] = self.to.entry();
                continue;
            }
            let new = self.to.add_block();
            self.blocks[block.index()] = Some(new);
            for param in from.params(block) {
                if let Some(copy) = self.param(new, from.ty(param)) {
                    self.define(param, copy);
                }
            }
            for param in from.params(block) {
                if !self.is_active(param) {
                    continue;
                }
                let tangent = self.tangent_type(from.ty(param));
                let dual: Dual =
                    (0..self.driver.width).filter_map(|_| self.param(new, tangent)).collect();
                if dual.len() == self.driver.width {
                    self.define_tangent(param, dual);
                }
            }
        }
    }

    fn param(&mut self, block: Block, ty: Type) -> Option<Operand> {
        match self.to.append_param(block, ty) {
            Ok(v) => Some(v.into()),
            Err(error) => {
                self.fail(error);
                None
            }
        }
    }

    /// Takes in the arguments. What is active although it was not passed so starts with a zero
    /// tangent; objects get their shadows together, so that what they share stays shared.
    pub(super) fn enter(&mut self, entry: Block) {
        let from = self.from;
        let Some(start) = self.to.entry() else { return };
        self.loc = from.function_loc();
        self.block = Some(start);
        let params: Vec<Value> = from.params(entry).collect();
        let given: Vec<Operand> = self.to.params(start).map(Operand::from).collect();
        let (given, mut tangents) = (&given[..params.len()], given[params.len()..].iter());
        let passed = self.driver.all.passed(self.context).to_vec();
        let is_block = self.blocks[entry.index()] != Some(start);
        // The parameters of a block of its own stand for the values there.
        let inner = is_block.then(|| (self.values.clone(), self.tangents.clone()));
        for (&param, &given) in params.iter().zip(given) {
            self.define(param, given);
            self.made_from = None;
        }
        for (&param, passed) in params.iter().zip(passed) {
            self.tangents[param.index()] = None;
            if passed && let Some(&tangent) = tangents.next() {
                let dual = self.unpacked(tangent);
                self.define_tangent(param, dual);
            }
        }
        self.missing_shadows(&params);
        let Some((values, duals)) = inner else {
            for &param in &self.active(&params) {
                let dual = self.tangent_of(param.into());
                self.define_tangent(param, dual);
            }
            return;
        };
        let mut args: Vec<Operand> = given.to_vec();
        for &param in &self.active(&params) {
            args.extend(self.tangent_of(param.into()));
        }
        if let Some(block) = self.blocks[entry.index()] {
            self.terminate(Inst::new(cf::BR).edge(block, args));
        }
        (self.values, self.tangents) = (values, duals);
    }

    fn active(&self, params: &[Value]) -> Vec<Value> {
        params.iter().copied().filter(|&param| self.is_active(param)).collect()
    }

    /// Makes shadows for the objects among the parameters that are active but have none.
    fn missing_shadows(&mut self, params: &[Value]) {
        let mut missing = self.active(params);
        missing.retain(|&param| {
            self.tangents[param.index()].is_none()
                && self.driver.all.types.has_shadow(self.from.ty(param))
        });
        if missing.len() < 2 {
            return;
        }
        let values: Vec<Operand> =
            missing.iter().map(|&param| self.operand(param.into())).collect();
        let types: Vec<Type> =
            missing.iter().map(|&param| self.tangent_type(self.from.ty(param))).collect();
        let ty = self.ctx().tuple_type(&types);
        let together = self.emit(core::tuple(values));
        let zeros: Dual =
            (0..self.driver.width).map(|_| self.emit(ad::zero(together, ty))).collect();
        for (i, &param) in missing.iter().enumerate() {
            let dual = zeros.iter().map(|&zero| self.part(zero, i + 1)).collect();
            self.define_tangent(param, dual);
        }
    }

    /// Ends a block as it ended, with the tangents of what its edges pass.
    pub(super) fn end(&mut self, block: Block) {
        let from = self.from;
        let term = Value::terminator(block);
        let Some(def) = from.op_def(term) else { return };
        self.loc = from.loc(term);
        self.made_from = None;
        if def.traits.contains(Traits::RETURN) {
            return self.end_with_return(term);
        }
        let mut operands: Vec<Operand> =
            from.plain_operands(term).map(|old| self.operand(old)).collect();
        for edge in from.out_edges(block) {
            let target = from.edge_target(edge);
            operands.push(self.operand(target.into()));
            let args: Vec<Operand> = from.edge_args(edge).collect();
            operands.extend(args.iter().map(|&old| self.operand(old)));
            for (param, &arg) in from.params(target).zip(&args) {
                if self.is_active(param) {
                    let want = self.tangent_type(from.ty(param));
                    let dual = self.tangent_of(arg);
                    operands.extend(self.all_coerced(dual, want));
                }
            }
        }
        let attrs = from.attrs(term);
        self.terminate(Inst::new(def.op).operands(operands).with_attrs(attrs));
    }

    fn end_with_return(&mut self, term: Value) {
        let from = self.from;
        let old =
            from.operand(term, 0).unwrap_or_else(|| self.constant(regraft_ir::Constant::Unit));
        let value = self.operand(old);
        let value = self.value_coerced(value, from.ret_type());
        let want = self.tangent_type(from.ret_type());
        let dual = self.tangent_of(old);
        let dual = self.all_coerced(dual, want);
        let tangent = self.packed(dual);
        let pair = self.emit(core::tuple([value, tangent]));
        self.terminate(cf::ret(pair));
    }
}
