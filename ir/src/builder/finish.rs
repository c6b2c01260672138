//! Completing a function: which parameters for variables there are in the end, and what edges pass
//! for them.

use smallvec::SmallVec;

use super::{Def, FunctionBuilder, node};
use crate::inst::Operands;
use crate::ssa::{Phi, SsaBlock};
use crate::{Block, Function, IrError, IrResult, Operand, Value};

impl FunctionBuilder {
    /// Completes the function: blocks that are not sealed are, blocks that were never entered nor
    /// filled go, as do parameters that are not needed, and edges pass the values of variables.
    /// O(size of the function + parameters for variables · edges to their blocks).
    ///
    /// # Errors
    /// If a block has no terminator, or if a variable is read that is not assigned on every way
    /// to where it is read.
    pub fn finish(mut self) -> IrResult<Function> {
        for block in self.f.blocks().collect::<Vec<_>>() {
            self.seal(block)?;
            let state = &self.blocks[block.index()];
            if !state.is_started && self.ssa.preds(node(block)).is_empty() {
                self.f.delete_block(block)?;
            } else if !state.is_ended {
                return Err(IrError::no_terminator(&self.f, block));
            }
        }
        self.ssa.simplify_all(|_, _| true);
        let needed = self.needed()?;
        self.drop_params(&needed)?;
        self.pass_arguments()?;
        self.name_values()?;
        Ok(self.f)
    }

    /// Finds the phis whose values something uses, by index, and makes parameters of them.
    fn needed(&mut self) -> IrResult<Vec<bool>> {
        self.params.resize(self.ssa.phi_count() as usize, None);
        let mut needed = vec![false; self.params.len()];
        let mut work = Vec::new();
        for phi in 0..self.ssa.phi_count() {
            if self.params[phi as usize].is_some_and(|param| self.f.is_used(param)) {
                self.need(Def::Phi(phi), phi, &mut work)?;
            }
        }
        while let Some(phi) = work.pop() {
            if std::mem::replace(&mut needed[phi as usize], true) {
                continue;
            }
            for arg in self.ssa.phi(phi).args.clone() {
                self.need(arg, phi, &mut work)?;
            }
        }
        for block in self.f.blocks().collect::<Vec<_>>() {
            let mut phis = self.ssa.phis_of(node(block)).to_vec();
            phis.retain(|&phi| needed[phi as usize]);
            phis.sort_by_key(|&phi| self.ssa.phi(phi).variable.0);
            for phi in phis {
                self.param_of(phi)?;
            }
        }
        Ok(needed)
    }

    /// Adds what a value stands for to `work`, if it is a phi. `user` needs it, a phi too.
    fn need(&mut self, def: Def, user: u32, work: &mut Vec<u32>) -> IrResult<()> {
        match self.ssa.find(def) {
            Def::Operand(_) => {}
            Def::Phi(phi) => work.push(phi),
            Def::Undef => {
                let Phi { variable, block, .. } = *self.ssa.phi(user);
                let (name, block) = (self.name_text(variable), self.block_of(block));
                let why =
                    format!("needs the variable {name}, which is not assigned on every way there");
                return Err(IrError::block_unsuitable(&self.f, block, why));
            }
        }
        Ok(())
    }

    /// Takes away the parameters that stand for something else or that nothing needs.
    fn drop_params(&mut self, needed: &[bool]) -> IrResult<()> {
        let mut dropped = Vec::new();
        for phi in 0..self.ssa.phi_count() {
            let Some(param) = self.params[phi as usize] else { continue };
            let new = self.ssa.find(Def::Phi(phi));
            if new == Def::Phi(phi) && needed[phi as usize] {
                continue;
            }
            if self.f.is_used(param) {
                let new = self.operand_of(new);
                self.f.replace_all_uses(param, new)?;
            }
            dropped.push(param);
        }
        self.f.delete_all(&dropped)
    }

    fn operand_of(&mut self, def: Def) -> Operand {
        match self.ssa.find(def) {
            Def::Operand(operand) => operand,
            Def::Phi(phi) => self.params[phi as usize].expect("it is needed").into(),
            Def::Undef => unreachable!("what is needed has a value"),
        }
    }

    /// Lets edges pass what the parameters for variables are to be.
    fn pass_arguments(&mut self) -> IrResult<()> {
        for from in self.f.blocks().collect::<Vec<_>>() {
            let edges = std::mem::take(&mut self.blocks[from.index()].edges);
            let mut added: SmallVec<[Operands; 2]> = SmallVec::new();
            for &(target, index) in &edges {
                let own = self.blocks[target.index()].own_params;
                let params: SmallVec<[Value; 4]> = self.f.params(target).skip(own).collect();
                let mut args = Operands::new();
                for param in params {
                    let phi = self.phis[&param];
                    let arg = self.ssa.phi(phi).args[index as usize];
                    args.push(self.operand_of(arg));
                }
                added.push(args);
            }
            if added.iter().any(|args| !args.is_empty()) {
                self.f.add_edge_args(from, added)?;
            }
        }
        Ok(())
    }

    /// Names values after variables, in layout order, so that names are taken in the order of the text.
    fn name_values(&mut self) -> IrResult<()> {
        for block in self.f.blocks().collect::<Vec<_>>() {
            for v in self.f.params(block).chain(self.f.body(block)).collect::<Vec<_>>() {
                if let Some(&name) = self.given_to.get(&v)
                    && self.f.value_symbol(v).is_none()
                {
                    self.f.name_after(v, name)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn block_of(&self, SsaBlock(index): SsaBlock) -> Block {
        self.f.raw_block(index + 1).expect("every node is a block")
    }
}
