//! The parts of code that a pass in the language gives back, read from values.

use regraft_exec::value::Val;

pub(super) struct BlockPart {
    /// The number of the block of the function before; 0 if there was none.
    pub(super) from: i64,
    /// Numbers and types.
    pub(super) params: Vec<(i64, Val)>,
    pub(super) statements: Vec<StatementPart>,
    pub(super) branches: Vec<BranchPart>,
}

pub(super) struct StatementPart {
    pub(super) number: i64,
    pub(super) expr: Val,
    pub(super) ty: Val,
    /// The number of the instruction that it was made from; 0 if it is new.
    pub(super) from: i64,
}

/// A branch that is taken if the condition is false, or always if that is `nothing`. Block 0 is where a function returns to.
pub(super) struct BranchPart {
    pub(super) condition: Val,
    pub(super) to: i64,
    pub(super) args: Vec<Val>,
}

impl BlockPart {
    pub(super) fn read(value: &Val) -> Option<Self> {
        let [Val::I64(from), params, types, statements, branches] = fields(value)? else {
            return None;
        };
        let params = items(params)?.into_iter().zip(items(types)?);
        let params = params.map(|(number, ty)| match number {
            Val::I64(number) => Some((number, ty)),
            _ => None,
        });
        Some(Self {
            from: *from,
            params: params.collect::<Option<_>>()?,
            statements: items(statements)?
                .iter()
                .map(StatementPart::read)
                .collect::<Option<_>>()?,
            branches: items(branches)?.iter().map(BranchPart::read).collect::<Option<_>>()?,
        })
    }
}

impl StatementPart {
    fn read(value: &Val) -> Option<Self> {
        let [Val::I64(number), expr, ty, Val::I64(from)] = fields(value)? else { return None };
        Some(Self { number: *number, expr: expr.clone(), ty: ty.clone(), from: *from })
    }
}

impl BranchPart {
    fn read(value: &Val) -> Option<Self> {
        let [condition, Val::I64(to), args] = fields(value)? else { return None };
        Some(Self { condition: condition.clone(), to: *to, args: items(args)? })
    }
}

fn fields(value: &Val) -> Option<&[Val]> {
    match value {
        Val::Tuple(fields) => Some(fields.items()),
        _ => None,
    }
}

/// The elements of an array; `None` if it is none, or if some are not defined.
pub(super) fn items(value: &Val) -> Option<Vec<Val>> {
    match value {
        Val::Array(array) => (0..array.len()).map(|at| array.get(at)).collect(),
        _ => None,
    }
}
