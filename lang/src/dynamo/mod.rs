//! Dynamos: methods whose code Rust makes from the types of their arguments.
//!
//! ```
//! use regraft_ir::Constant;
//! use regraft_dialects::core;
//! use regraft_lang::Session;
//!
//! let mut session = Session::new(&regraft_dialects::context());
//! session
//!     .dynamo("summed(f, args...)", |cx, types| {
//!         let Some(mut code) = cx.lowered(types[0], &types[1..])? else {
//!             return Ok(cx.fall_back(types));
//!         };
//!         let f = code.function_mut();
//!         let plus = f.constant_id(Constant::Func(f.ctx().symbol("+")));
//!         let calls: Vec<_> = f.all_insts().filter(|&v| f.op(v) == Some(core::CALL)).collect();
//!         for call in calls {
//!             let callee = f.operand(call, 0).and_then(|callee| f.const_func(callee));
//!             if callee.is_some_and(|name| f.ctx().str(name) == "*") {
//!                 f.set_operand(call, 0, plus)?;
//!             }
//!         }
//!         cx.recurse(&mut code)?;
//!         Ok(code)
//!     })
//!     .unwrap();
//! let value = session.run("f.jl", "mul(a, b) = a * b\nsummed(mul, 5, 10)").unwrap();
//! assert_eq!(value.as_i64(), Some(15));
//! ```

pub(crate) mod context;
mod seen;
mod signature;
mod untag;

use std::rc::Rc;

use regraft_ir::{Constant, Diagnostic, Symbol, Type, TypeKind};
use regraft_passes::overdub::Overdub;

use crate::definition::{MethodHead, Space};
use crate::session::Session;
use crate::world::{Code, DynamoCx, DynamoFn, World};
use seen::seen;

impl Session {
    /// Defines a method whose code `f` makes from the types of the arguments: `signature` is that of
    /// a function as a program writes it, such as `profile(f, args...)` or `(p::Pullback{S})(x) where S`.
    ///
    /// The code has a parameter for each argument. It is made once for each combination of types, and
    /// anew when something changes that it was made from.
    ///
    /// # Errors
    /// If the signature is wrong: with its places.
    pub fn dynamo(
        &mut self,
        signature: &str,
        f: impl Fn(&mut DynamoCx<'_>, &[Type]) -> Result<Code, Vec<Diagnostic>> + 'static,
    ) -> Result<(), Vec<Diagnostic>> {
        self.with_world(|world| world.dynamo(signature, Space::Main, Rc::new(f)))
    }
}

impl World {
    /// Defines a method of a signature in a space whose code `f` makes.
    ///
    /// # Errors
    /// If the signature is wrong.
    pub fn dynamo(
        &mut self,
        signature: &str,
        space: Space,
        f: DynamoFn,
    ) -> Result<(), Vec<Diagnostic>> {
        self.define_dynamo(signature, space, None, f)
    }

    /// The same with `@inline` or `@noinline`. The code of one that is always expanded is made for constants as they are.
    pub(crate) fn define_dynamo(
        &mut self,
        signature: &str,
        space: Space,
        inline: Option<bool>,
        f: DynamoFn,
    ) -> Result<(), Vec<Diagnostic>> {
        let head = signature::method_head(self.ctx(), signature, space)?;
        let head = MethodHead { inline, ..head };
        let text = signature.to_owned();
        let named: DynamoFn = Rc::new(move |cx, args| {
            f(cx, args).map_err(|errors| {
                let types: Vec<String> =
                    args.iter().map(|&ty| format!("::{}", cx.world.type_name(ty))).collect();
                let of = format!(" (in the dynamo {text}, for ({}))", types.join(", "));
                let name = |error: Diagnostic| {
                    let message = format!("{}{of}", error.message());
                    error.with_message(message)
                };
                errors.into_iter().map(name).collect()
            })
        });
        self.add_dynamo(&head, named).map(drop)
    }
}

impl DynamoCx<'_> {
    /// The name of the function that the dynamo is a method of.
    fn name(&self) -> Option<Symbol> {
        match *self.world.ctx().kind(self.callee) {
            TypeKind::Fn(name) => Some(name),
            _ => None,
        }
    }

    /// Sends every call in the code through the dynamo itself, with the callee as its first argument:
    /// `g(x)` becomes `dynamo(g, x)`. Returns how many.
    ///
    /// # Errors
    /// If an instruction would get too many operands.
    pub fn recurse(&mut self, code: &mut Code) -> Result<usize, Vec<Diagnostic>> {
        let ctx = self.world.ctx().clone();
        let function = |name| ctx.constant_id(Constant::Func(name));
        let Some(own) = self.name() else {
            return Err(vec![Diagnostic::error(
                "a method of values cannot call itself by its name",
            )]);
        };
        let overdub = Overdub {
            first: &[],
            through: function(own),
            before: None,
            after: None,
            name_op: function(ctx.symbol("#intrinsic")),
            within: (function(ctx.symbol("#through")), &[function(own).into()]),
        };
        let count = overdub.run(code.function_mut(), |f, v| seen(self.world, f, v, None));
        count.map_err(Vec::from)
    }
}
