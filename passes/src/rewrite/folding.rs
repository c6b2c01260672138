//! Folds an op on arguments of which only the constants, and which of them are equal, are known.

use regraft_ir::{Attrs, Const, Context, Fold, InstView, Op, Operand, Type, Value};
use smallvec::SmallVec;

/// An argument of an op that may fold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoldArg {
    pub(crate) ty: Type,
    pub(crate) constant: Option<Const>,
    /// The first of the arguments that this one is equal to.
    pub(crate) first: usize,
}

/// The result of an op that folds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Folded {
    /// The argument at this position.
    Arg(usize),
    /// A constant.
    Constant(Const),
}

/// Returns what an op on these arguments folds to. `stand_ins` are values, different from each
/// other: they stand for arguments that are no constants, a fold asks no more of them.
pub(crate) fn fold(
    ctx: &Context,
    op: Op,
    ty: Type,
    args: &[FoldArg],
    stand_ins: &[Value],
) -> Option<Folded> {
    let def = ctx.def(op);
    let known = args.iter().enumerate().any(|(i, arg)| arg.constant.is_some() || arg.first != i);
    if !known && args.len() > 1 {
        return None;
    }
    let mut operands: SmallVec<[Operand; 4]> = SmallVec::new();
    for (i, arg) in args.iter().enumerate() {
        operands.push(match arg.constant {
            Some(constant) => constant.into(),
            None if arg.first != i => operands[arg.first],
            None => (*stand_ins.get(i)?).into(),
        });
    }
    let types: SmallVec<[Type; 4]> = args.iter().map(|arg| arg.ty).collect();
    let (operands, types) = (&operands, &types);
    let view = InstView { ctx, def, operands, types, attrs: Attrs::NONE, ty };
    match (def.fold?)(&view)? {
        Fold::Operand(i) => (types[i] == ty).then_some(Folded::Arg(i)),
        Fold::Constant(constant) => {
            let id = ctx.constant_id(constant);
            (ctx.constant_type(id) == ty).then_some(Folded::Constant(id))
        }
    }
}
