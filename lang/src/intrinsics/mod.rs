//! Julia's intrinsic functions and the ops that they are: one table.
//!
//! `Base.add_int(x, y)` in a listing is a call of a function of the prelude, whose methods are
//! made of the table: a row says the name, the types that it is for, and the op.

use regraft_ir::{Context, Type, TypeKind};

mod table;

pub(crate) use table::TEXT;
pub use table::{Form, INTRINSICS, Intrinsic};

/// Julia's builtin functions that access arrays, and the ops that they are.
pub(crate) const ACCESSES: [(&str, &str); 2] =
    [("arrayref", "mem.load"), ("arrayset", "mem.store")];

/// The function of Julia that an op is for operands of these types.
pub(crate) fn intrinsic_of(op: &str, operands: &[Type]) -> Option<&'static str> {
    let access = ACCESSES.iter().find(|(_, access)| *access == op).map(|&(name, _)| name);
    access.or_else(|| {
        let rows = INTRINSICS.iter().filter(|row| row.op == op);
        rows.filter(|row| row.form.takes(operands)).map(|row| row.name).next()
    })
}

/// The op that such a function is for arguments of these types.
pub(crate) fn op_of_intrinsic(ctx: &Context, name: &str, args: &[Type]) -> Option<&'static str> {
    if let Some(&(_, op)) = ACCESSES.iter().find(|(access, _)| *access == name) {
        let &array = args.first()?;
        return matches!(ctx.kind(array), TypeKind::Array { .. }).then_some(op);
    }
    let row = INTRINSICS.iter().find(|row| row.name == name)?;
    row.form.takes(args).then_some(row.op)
}

impl Form {
    /// Returns whether an op of that form is one for operands of these types. The type that
    /// a conversion is to is the first one.
    fn takes(self, operands: &[Type]) -> bool {
        let is_float = |ty: Type| matches!(ty, Type::F32 | Type::F64);
        let is_int = |ty: Type| matches!(ty, Type::I8 | Type::I16 | Type::I32 | Type::I64);
        let is_bits = |ty: Type| is_int(ty) || ty == Type::BOOL;
        let all = |count, test: &dyn Fn(Type) -> bool| {
            operands.len() == count && operands.iter().all(|&ty| test(ty))
        };
        match self {
            Self::Int1 => all(1, &is_int),
            Self::Int2 | Self::Signed | Self::Shift => all(2, &is_int),
            Self::Bits1 => all(1, &is_bits),
            Self::Bits2 | Self::Compare => all(2, &is_bits),
            Self::Float1 => all(1, &is_float),
            Self::Float2 => all(2, &is_float),
            Self::Float3 => all(3, &is_float),
            Self::FromInt => operands.len() == 2 && is_bits(operands[1]),
            Self::FromFloat => operands.len() == 2 && is_float(operands[1]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Form, INTRINSICS, TEXT};

    #[test]
    fn each_intrinsic_is_an_op_that_takes_as_many_values() {
        let ctx = regraft_dialects::context();
        for intrinsic in INTRINSICS {
            let op = ctx.registry().find(intrinsic.op).expect(intrinsic.op);
            let taken = match intrinsic.form {
                Form::Int1 | Form::Bits1 | Form::Float1 | Form::FromInt | Form::FromFloat => 1,
                Form::Float3 => 3,
                _ => 2,
            };
            assert_eq!(op.operands.len(), taken, "{}", intrinsic.name);
        }
    }

    #[test]
    fn names_are_there_once_and_have_methods() {
        let mut names: Vec<&str> = INTRINSICS.iter().map(|intrinsic| intrinsic.name).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
        for name in names {
            assert!(TEXT.lines().any(|line| line.starts_with(&format!("{name}("))), "{name}");
        }
    }
}
