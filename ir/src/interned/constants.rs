//! The constants of a context, one method for each type.

use super::Interned;
use crate::{Const, Constant, Type};

/// The constants of a context, one method for each type.
impl Interned {
    /// The constant `nothing`.
    pub fn const_unit(&self) -> Const {
        self.constant_id(Constant::Unit)
    }

    /// A constant of type `bool`.
    pub fn const_bool(&self, value: bool) -> Const {
        self.constant_id(value)
    }

    /// A constant of type `i32`.
    pub fn const_i32(&self, value: i32) -> Const {
        self.constant_id(Constant::I32(value))
    }

    /// A constant of type `i64`.
    pub fn const_i64(&self, value: i64) -> Const {
        self.constant_id(value)
    }

    /// A constant of type `f32`.
    pub fn const_f32(&self, value: f32) -> Const {
        self.constant_id(value)
    }

    /// A constant of type `f64`.
    pub fn const_f64(&self, value: f64) -> Const {
        self.constant_id(value)
    }

    /// A constant of type `str`: `"text"`.
    pub fn const_str(&self, text: &str) -> Const {
        self.constant_id(Constant::Str(self.symbol(text)))
    }

    /// A constant of type `sym`: `:name`.
    pub fn const_sym(&self, name: &str) -> Const {
        self.constant_id(Constant::Sym(self.symbol(name)))
    }

    /// The function of that name as a constant, `@name`: what a call calls.
    pub fn const_func(&self, name: &str) -> Const {
        self.constant_id(Constant::Func(self.symbol(name)))
    }

    /// A type as a constant: `!f64`.
    ///
    /// # Panics
    /// If the type is of another context.
    #[track_caller]
    pub fn const_type(&self, ty: Type) -> Const {
        self.constant_id(Constant::Type(ty))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::context;
    use crate::{Constant, Type};

    #[test]
    fn a_plain_integer_is_an_i64_and_a_plain_float_an_f64() {
        let ctx = context();
        assert_eq!(ctx.constant(ctx.constant_id(63)), Constant::I64(63));
        assert_eq!(ctx.constant(ctx.constant_id(1.5)), Constant::F64(1.5f64.to_bits()));
        assert_eq!(ctx.constant_id(63), ctx.const_i64(63));
        assert_eq!(ctx.constant_type(ctx.const_i32(63)), Type::I32);
        assert_eq!(ctx.constant_type(ctx.const_f32(1.5)), Type::F32);
    }

    #[test]
    fn constants_of_each_type_print_as_ir_text() {
        let ctx = context();
        let constants = [
            ctx.const_unit(),
            ctx.const_bool(true),
            ctx.const_i32(-3),
            ctx.const_i64(-3),
            ctx.const_f32(0.5),
            ctx.const_f64(-0.0),
            ctx.const_str("a b"),
            ctx.const_sym("a"),
            ctx.const_func("f"),
            ctx.const_type(Type::F64),
        ];
        let text = constants.map(|c| ctx.constant_text(ctx.constant(c))).join(" ");
        assert_eq!(text, r#"nothing true -3i32 -3 0.5f32 -0.0 "a b" :a @f !f64"#);
    }
}
