//! Building a function from code with variables that are assigned more than once.

use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::entity::{ValueBehavior, tag_of};
use crate::error::IrErrorKind;
use crate::inst::Operands;
use crate::ssa::{Phi, Ssa, SsaBlock, SsaValue, Unentered, Variable};
use crate::{
    Block, Const, Constant, Context, Function, Inst, IrError, IrResult, Loc, Operand, Symbol, Type,
    Value,
};

/// A variable of a [`FunctionBuilder`], made by [`FunctionBuilder::declare_var`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Var(Value);

impl fmt::Debug for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "variable {}", self.0.index())
    }
}

/// Builds a function block by block, as the front end of a language does.
///
/// There is a current block, to which [`FunctionBuilder::push`] appends, until
/// [`FunctionBuilder::terminate`] ends it and [`FunctionBuilder::switch_to`] goes on in another
/// one. Variables may be assigned in any number of blocks. Where several values of a variable meet,
/// the builder adds a block parameter and passes the values along the edges, so edges are written
/// without arguments for variables: SSA form is constructed on the fly (Braun et al. 2013,
/// "Simple and Efficient Construction of Static Single Assignment Form"; see [`crate::ssa`]).
///
/// A block is *sealed* when every edge that enters it is there: see [`FunctionBuilder::seal`].
/// Sealing early makes fewer parameters along the way. It changes nothing in the end, and
/// [`FunctionBuilder::finish`] seals what is left.
///
/// ```text
/// // i = n; r = 1.0; while 0 < i { r = r * x; i = i - 1 }; return r
/// let mut b = FunctionBuilder::new(&ctx, "pow", &[Type::F64, Type::I64], Type::F64);
/// let (i, r) = (b.declare_var("i", Type::I64), b.declare_var("r", Type::F64));
/// let (x, n) = (b.param(0), b.param(1));
/// b.def_var(i, n)?;
/// b.def_var(r, b.const_f64(1.0))?;
/// let (head, body, exit) = (b.add_block(), b.add_block(), b.add_block());
/// b.terminate(cf::jump(head))?;
///
/// b.switch_to(head)?;
/// let now = b.use_var(i)?;
/// let go = b.push(arith::lt(b.const_i64(0), now))?;
/// b.terminate(cf::jump_if(go, body, exit))?;
///
/// b.switch_to(body)?;
/// let (r_now, i_now) = (b.use_var(r)?, b.use_var(i)?);
/// let product = b.push(arith::mul(r_now, x))?;
/// b.def_var(r, product)?;
/// let less = b.push(arith::sub(i_now, b.const_i64(1)))?;
/// b.def_var(i, less)?;
/// b.terminate(cf::jump(head))?;
///
/// b.switch_to(exit)?;
/// let result = b.use_var(r)?;
/// b.terminate(cf::ret(result))?;
/// let f = b.finish()?;
/// ```
///
/// `head` has become `^2(%i: i64, %r: f64)`, and both edges to it pass the two values.
///
/// # Errors
/// What cannot be done is refused with an [`IrError`] that names the entities, and leaves the
/// builder as it was.
#[derive(Debug)]
pub struct FunctionBuilder {
    f: Function,
    block: Block,
    loc: Loc,
    ssa: Ssa<Def>,
    variables: Vec<VariableData>,
    /// By [`Block::index`], which is the index of its [`SsaBlock`] too.
    blocks: Vec<BlockState>,
    /// By phi: the parameter that was made of it.
    params: Vec<Option<Value>>,
    /// The phi that a parameter was made of.
    phis: FxHashMap<Value, u32>,
}

#[derive(Debug)]
struct VariableData {
    name: Option<Symbol>,
    ty: Type,
    /// Whether it was given a value of a more special type than its own. A parameter that was
    /// handed out keeps its type then, although such a value may be all that reaches it.
    is_mixed: bool,
}

#[derive(Clone, Debug, Default)]
struct BlockState {
    is_started: bool,
    is_ended: bool,
    /// The edges that leave it, each with its index among those that enter its target.
    edges: SmallVec<[(Block, u32); 2]>,
    /// How many parameters it has that are not made for variables. They come first.
    own_params: usize,
}

/// The value of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Def {
    Operand(Operand),
    Phi(u32),
    Undef,
}

impl SsaValue for Def {
    const UNDEF: Self = Self::Undef;

    fn phi(index: u32) -> Self {
        Self::Phi(index)
    }

    fn as_phi(self) -> Option<u32> {
        match self {
            Self::Phi(index) => Some(index),
            _ => None,
        }
    }
}

fn node(block: Block) -> SsaBlock {
    SsaBlock(block.index() as u32)
}

macro_rules! constants {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $ty:ty)?);)*) => {$(
        $(#[$doc])*
        pub fn $name(&self $(, $arg: $ty)?) -> Const {
            self.ctx().$name($($arg)?)
        }
    )*};
}

impl FunctionBuilder {
    /// Begins a function, and stands in its entry block, which has `params` as its parameters.
    /// Nothing can branch to the entry block.
    ///
    /// # Panics
    /// If a type is of another context.
    #[track_caller]
    pub fn new(ctx: &Arc<Context>, name: &str, params: &[Type], ret: Type) -> Self {
        let f = Function::new(ctx, name, params, ret);
        let block = f.entry().expect("it was made with one");
        let mut ssa = Ssa::new(Unentered::Phi);
        let entry = ssa.add_block();
        ssa.seal(entry);
        ssa.start(entry);
        let state =
            BlockState { is_started: true, own_params: params.len(), ..BlockState::default() };
        Self {
            f,
            block,
            loc: Loc::UNKNOWN,
            ssa,
            variables: Vec::new(),
            blocks: vec![state],
            params: Vec::new(),
            phis: FxHashMap::default(),
        }
    }

    /// The function as far as it has come. Parameters for variables, and what edges pass for
    /// them, are complete after [`FunctionBuilder::finish`] only.
    pub fn function(&self) -> &Function {
        &self.f
    }

    /// The context of its types and constants.
    pub fn ctx(&self) -> &Arc<Context> {
        self.f.ctx()
    }

    /// The parameter of the function at `index`.
    ///
    /// # Panics
    /// If there is none.
    #[track_caller]
    pub fn param(&self, index: usize) -> Value {
        let entry = self.f.entry().expect("it was made with one");
        match self.f.param(entry, index) {
            Some(param) => param,
            None => panic!(
                "@{} has {} parameters, there is no parameter {index}",
                self.f.name_str(),
                self.blocks[0].own_params
            ),
        }
    }

    /// Sets the location of what is built from now on.
    pub fn set_loc(&mut self, loc: Loc) {
        self.loc = loc;
    }

    constants! {
        /// The constant `nothing`.
        const_unit();
        /// A constant of type `bool`.
        const_bool(value: bool);
        /// A constant of type `i32`.
        const_i32(value: i32);
        /// A constant of type `i64`.
        const_i64(value: i64);
        /// A constant of type `f32`.
        const_f32(value: f32);
        /// A constant of type `f64`.
        const_f64(value: f64);
        /// A constant of type `str`.
        const_str(text: &str);
        /// A constant of type `sym`.
        const_sym(name: &str);
        /// The function of that name, as a constant: what a call calls.
        const_func(name: &str);
        /// A type as a constant.
        const_type(ty: Type);
        /// Any constant.
        constant_id(constant: impl Into<Constant>);
    }

    // --- blocks ----------------------------------------------------------------------------

    /// The current block.
    pub fn block(&self) -> Block {
        self.block
    }

    /// Whether the current block has its terminator, so that nothing more goes into it.
    pub fn is_ended(&self) -> bool {
        self.blocks[self.block.index()].is_ended
    }

    /// Whether no edge enters the current block, and none can be added: what is pushed to it
    /// never runs. The entry block is always reached.
    pub fn is_unreachable(&self) -> bool {
        let node = node(self.block);
        node.0 != 0 && self.ssa.is_sealed(node) && self.ssa.preds(node).is_empty()
    }

    /// Adds an empty block at the end of the layout. The current block stays the current one.
    /// If it is never entered nor switched to, it is not there in the end.
    ///
    /// # Panics
    /// If the function has 2^25 blocks.
    #[track_caller]
    pub fn add_block(&mut self) -> Block {
        self.blocks.push(BlockState::default());
        self.ssa.add_block();
        self.f.add_block()
    }

    /// Appends a parameter to a block, which edges to it pass an argument for. (A variable needs
    /// none: this is for what has no variable.)
    ///
    /// # Errors
    /// If an edge enters the block already, or if a variable was read in it.
    pub fn add_param(&mut self, block: Block, ty: Type) -> IrResult<Value> {
        self.f.ensure_block(block)?;
        let own = self.blocks[block.index()].own_params;
        if !self.ssa.preds(node(block)).is_empty() || self.f.param_count(block) > own {
            let why = "gets its parameters before edges enter it and variables are read in it";
            return Err(IrError::block_unsuitable(&self.f, block, why));
        }
        let param = self.f.append_param(block, ty)?;
        self.blocks[block.index()].own_params += 1;
        Ok(param)
    }

    /// Goes on at the end of `block`.
    ///
    /// # Errors
    /// If `block` is none of this function.
    pub fn switch_to(&mut self, block: Block) -> IrResult<()> {
        self.f.ensure_block(block)?;
        self.block = block;
        self.blocks[block.index()].is_started = true;
        self.ssa.start(node(block));
        Ok(())
    }

    /// Says that all edges that enter `block` are there: of the header of a loop, after the
    /// edge that leads back to it; of any other block, before code is put into it. A second time
    /// does nothing.
    ///
    /// # Errors
    /// If `block` is none of this function.
    pub fn seal(&mut self, block: Block) -> IrResult<()> {
        self.f.ensure_block(block)?;
        if !self.ssa.is_sealed(node(block)) {
            if self.blocks[block.index()].is_started {
                self.ssa.set_cyclic(node(block));
            }
            self.ssa.seal(node(block));
        }
        Ok(())
    }

    // --- instructions ----------------------------------------------------------------------

    /// Appends an instruction to the current block.
    ///
    /// # Errors
    /// If the block has its terminator, or as [`Function::push`].
    pub fn push(&mut self, inst: Inst) -> IrResult<Value> {
        self.check_open()?;
        let inst = self.located(inst);
        self.f.push(self.block, inst)
    }

    /// Ends the current block. Edges pass arguments for the parameters that
    /// [`FunctionBuilder::add_param`] made, and none for variables.
    ///
    /// # Errors
    /// If the block has its terminator, if an edge goes to a sealed block or does not fit its
    /// target, or as [`Function::set_terminator`].
    pub fn terminate(&mut self, inst: Inst) -> IrResult<()> {
        self.check_open()?;
        let inst = self.located(inst);
        let targets: SmallVec<[Block; 2]> =
            inst.operand_list().iter().filter_map(|operand| operand.as_block()).collect();
        for &target in &targets {
            self.f.ensure_block(target)?;
            if self.ssa.is_sealed(node(target)) {
                let why = "is sealed (the entry block always is), no edge can be added to it";
                return Err(IrError::block_unsuitable(&self.f, target, why));
            }
        }
        let blocks = &self.blocks;
        let count = |_: &Function, target: Block| blocks[target.index()].own_params;
        self.f.set_terminator_with(self.block, inst, count)?;
        let edges = targets.iter().map(|&target| (target, self.ssa.add_edge(node(target))));
        let edges = edges.collect();
        let state = &mut self.blocks[self.block.index()];
        (state.is_ended, state.edges) = (true, edges);
        Ok(())
    }

    fn located(&self, inst: Inst) -> Inst {
        match inst.loc() {
            None => inst.at(self.loc),
            Some(_) => inst,
        }
    }

    fn check_open(&self) -> IrResult<()> {
        if self.is_ended() {
            let why = "has its terminator already: switch to another block first";
            return Err(IrError::block_unsuitable(&self.f, self.block, why));
        }
        Ok(())
    }

    // --- variables -------------------------------------------------------------------------

    /// Declares a variable. Values that it is given, and parameters that are made for it, are
    /// named after it, unless the name is empty.
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
        Var(<ValueBehavior as id_arena::ArenaBehavior>::new_id(self.tag(), index as usize))
    }

    fn tag(&self) -> u32 {
        tag_of(self.f.entry().expect("it was made with one"))
    }

    fn variable(&self, var: Var) -> IrResult<Variable> {
        use id_arena::ArenaBehavior;
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
            && self.f.value_symbol(v).is_none()
        {
            self.f.name_after(v, name)?;
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

    fn type_of(&self, variable: Variable) -> Type {
        self.variables[variable.0 as usize].ty
    }

    fn name_text(&self, variable: Variable) -> String {
        match self.variables[variable.0 as usize].name {
            Some(name) => format!("`{}`", self.ctx().str(name)),
            None => format!("number {}", variable.0),
        }
    }

    /// Makes a parameter of a phi, unless there is one. Edges pass nothing for it yet.
    fn param_of(&mut self, phi: u32) -> IrResult<Value> {
        self.params.resize(self.ssa.phi_count() as usize, None);
        if let Some(param) = self.params[phi as usize] {
            return Ok(param);
        }
        let Phi { variable, block, .. } = *self.ssa.phi(phi);
        let block = self.block_of(block);
        let param = self.f.append_param_without_args(block, self.type_of(variable))?;
        let VariableData { name, is_mixed, .. } = self.variables[variable.0 as usize];
        if let Some(name) = name {
            self.f.name_after(param, name)?;
        }
        if is_mixed {
            self.ssa.pin(phi);
        }
        self.params[phi as usize] = Some(param);
        self.phis.insert(param, phi);
        Ok(param)
    }

    // --- the end ---------------------------------------------------------------------------

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

    fn block_of(&self, SsaBlock(index): SsaBlock) -> Block {
        self.f.raw_block(index + 1).expect("every node is a block")
    }
}
