//! Building a function from code with variables that are assigned more than once.

use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::ssa::{Ssa, SsaBlock, SsaValue, Unentered};
use crate::{
    Block, Const, Constant, Context, Function, Inst, IrError, IrResult, Loc, Operand, Symbol, Type,
    Value,
};

mod finish;
mod variables;

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
/// An operation that cannot be done is refused with an [`IrError`] that names the entities. It
/// leaves the builder as it was.
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
    /// The variable that a value was first given to: it is named after it in the end.
    given_to: FxHashMap<Value, Symbol>,
}

#[derive(Debug)]
struct VariableData {
    name: Option<Symbol>,
    ty: Type,
    /// True if it was given a value of a subtype of its own type. A parameter that was
    /// handed out keeps its type then, although such a value may be all that reaches it.
    is_mixed: bool,
}

#[derive(Clone, Debug, Default)]
struct BlockState {
    is_started: bool,
    is_ended: bool,
    /// The edges that leave it, each with its index among those that enter its target.
    edges: SmallVec<[(Block, u32); 2]>,
    /// The number of its parameters that are not made for variables. They come first.
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
            given_to: FxHashMap::default(),
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

    /// Returns whether the current block has its terminator, so that nothing more goes into it.
    pub fn is_ended(&self) -> bool {
        self.blocks[self.block.index()].is_ended
    }

    /// Returns whether no edge enters the current block, and none can be added: what is pushed to
    /// it never runs. The entry block is always reached.
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
}
