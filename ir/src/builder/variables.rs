//! Variables of a function under construction: declaring, assigning and reading them.

use id_arena::ArenaBehavior;

use super::{Def, FunctionBuilder, Var, VariableData};
use crate::entity::{ValueBehavior, tag_of};
use crate::error::IrErrorKind;
use crate::ssa::{Phi, Variable};
use crate::{IrError, IrResult, Operand, Type, Value};

impl FunctionBuilder {
    /// Declares a variable. Values that it is given, and parameters that are made for it, are
    /// named after it in the end, unless the name is empty.
    ///
    /// # Panics
    /// If the type is of another context, or if there are 2^25 variables.
    #[track_caller]
    pub fn declare_var(&mut self, name: &str, ty: Type) -> Var {
        assert!(self.ctx().has_type(ty), "{}", IrError::foreign_type(&self.f));
        let name = (!name.is_empty()).then(|| self.ctx().symbol(name));
        self.variables.push(VariableData { name, ty, is_mixed: false });
        let Variable(index) = self.ssa.declare();
        // The tag of the function tells its variables from those of others, as it does values.
        Var(ValueBehavior::new_id(self.tag(), index as usize))
    }

    fn tag(&self) -> u32 {
        tag_of(self.f.entry().expect("it was made with one"))
    }

    fn variable(&self, var: Var) -> IrResult<Variable> {
        if ValueBehavior::arena_id(var.0) != self.tag() {
            let message = format!("{var:?} is one of another function than @{}", self.f.name_str());
            return Err(IrError::new(IrErrorKind::ForeignValue, message));
        }
        Ok(Variable(var.0.index() as u32))
    }

    /// Gives a variable a value at this place of the current block.
    ///
    /// # Errors
    /// If the block has its terminator, if the value is stale or of another function, or if its
    /// type does not fit that of the variable.
    pub fn def_var(&mut self, var: Var, value: impl Into<Operand>) -> IrResult<()> {
        let value = value.into();
        let variable = self.variable(var)?;
        self.check_open()?;
        self.f.check_operand(value)?;
        let (have, want) = (self.f.operand_type(value), self.type_of(variable));
        if value.is_block() || !have.is_assignable_to(want) {
            let message = format!(
                "{} of type {} cannot be given to the variable {} of type {}",
                self.f.operand_text(value),
                self.ctx().type_text(have),
                self.name_text(variable),
                self.ctx().type_text(want),
            );
            return Err(IrError::new(IrErrorKind::Mismatch, message));
        }
        let data = &mut self.variables[variable.0 as usize];
        if have != want && !std::mem::replace(&mut data.is_mixed, true) {
            for phi in 0..self.params.len() as u32 {
                if self.params[phi as usize].is_some() && self.ssa.phi(phi).variable == variable {
                    self.ssa.pin(phi);
                }
            }
        }
        if let (Some(v), Some(name)) = (value.as_value(), self.variables[variable.0 as usize].name)
        {
            self.given_to.entry(v).or_insert(name);
        }
        // What stands for another variable may turn out to stand for something else.
        let phi = value.as_value().and_then(|v| self.phis.get(&v));
        self.ssa.write(variable, phi.map_or(Def::Operand(value), |&phi| Def::Phi(phi)));
        Ok(())
    }

    /// The value of a variable at this place of the current block.
    ///
    /// It is good for as long as the function is being built. After
    /// [`FunctionBuilder::finish`], what stood for a variable may have been replaced.
    ///
    /// # Errors
    /// If the variable has no value here, whichever way control came.
    pub fn use_var(&mut self, var: Var) -> IrResult<Operand> {
        let variable = self.variable(var)?;
        match self.ssa.read(variable) {
            Def::Operand(operand) => Ok(operand),
            Def::Phi(phi) => Ok(self.param_of(phi)?.into()),
            Def::Undef => {
                let name = self.name_text(variable);
                let why = format!("reads the variable {name}, which is not assigned before");
                Err(IrError::block_unsuitable(&self.f, self.block, why))
            }
        }
    }

    pub(super) fn type_of(&self, variable: Variable) -> Type {
        self.variables[variable.0 as usize].ty
    }

    pub(super) fn name_text(&self, variable: Variable) -> String {
        match self.variables[variable.0 as usize].name {
            Some(name) => format!("`{}`", self.ctx().str(name)),
            None => format!("number {}", variable.0),
        }
    }

    /// Makes a parameter of a phi, unless there is one. Edges pass nothing for it yet.
    pub(super) fn param_of(&mut self, phi: u32) -> IrResult<Value> {
        self.params.resize(self.ssa.phi_count() as usize, None);
        if let Some(param) = self.params[phi as usize] {
            return Ok(param);
        }
        let Phi { variable, block, .. } = *self.ssa.phi(phi);
        let block = self.block_of(block);
        let param = self.f.append_param_without_args(block, self.type_of(variable))?;
        let VariableData { name, is_mixed, .. } = self.variables[variable.0 as usize];
        if let Some(name) = name {
            self.given_to.insert(param, name);
        }
        if is_mixed {
            self.ssa.pin(phi);
        }
        self.params[phi as usize] = Some(param);
        self.phis.insert(param, phi);
        Ok(param)
    }
}
