//! The tables that the lines of one function fill.

use std::borrow::Cow;

use regraft_ir::{Attrs, Const, Loc, OpDef, Symbol, Type};
use rustc_hash::FxHashMap;

/// The bytes from .. to.
pub(crate) type Span = (u32, u32);

/// The way in which the text names a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ValueRef {
    /// Not at all.
    None,
    Number(u32),
    /// A position in [`FunctionText::names`].
    Name(u32),
}

/// An operand as it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OperandText {
    Value(ValueRef),
    Block(u32),
    Const(Const),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct OperandAt {
    pub(crate) what: OperandText,
    pub(crate) at: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ParamText {
    pub(crate) value: ValueRef,
    pub(crate) at: u32,
    /// `None` if it could not be read.
    pub(crate) ty: Option<Type>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct InstText {
    /// `None` if the line is wrong.
    pub(crate) def: Option<&'static OpDef>,
    pub(crate) result: ValueRef,
    pub(crate) at: u32,
    pub(crate) ty: Option<Type>,
    pub(crate) attrs: Attrs,
    pub(crate) loc: Loc,
    pub(crate) operands_end: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockText {
    /// 0 for instructions that no label precedes.
    pub(crate) number: u32,
    pub(crate) at: u32,
    pub(crate) params_end: u32,
    pub(crate) insts_end: u32,
    /// The place of its terminator.
    pub(crate) term: Option<u32>,
    /// Tells whether a line that could not be read may have been its terminator.
    pub(crate) broken: bool,
}

/// One function as it is written.
#[derive(Debug)]
pub(crate) struct FunctionText<'s> {
    pub(crate) name: Option<(Symbol, Span)>,
    pub(crate) at: u32,
    pub(crate) ret: Type,
    pub(crate) attrs: Attrs,
    /// The number of `params` that are those of the function.
    pub(crate) param_count: u32,
    pub(crate) params: Vec<ParamText>,
    pub(crate) blocks: Vec<BlockText>,
    pub(crate) insts: Vec<InstText>,
    pub(crate) operands: Vec<OperandAt>,
    pub(crate) names: Vec<Cow<'s, str>>,
    pub(crate) name_ids: FxHashMap<Cow<'s, str>, u32>,
}

impl Default for FunctionText<'_> {
    fn default() -> Self {
        Self {
            name: None,
            at: 0,
            ret: Type::ANY,
            attrs: Attrs::NONE,
            param_count: 0,
            params: Vec::new(),
            blocks: Vec::new(),
            insts: Vec::new(),
            operands: Vec::new(),
            names: Vec::new(),
            name_ids: FxHashMap::default(),
        }
    }
}

impl FunctionText<'_> {
    /// Empties the tables and keeps their memory.
    pub(crate) fn clear(&mut self) {
        self.params.clear();
        self.blocks.clear();
        self.insts.clear();
        self.operands.clear();
        self.names.clear();
        self.name_ids.clear();
    }
}
