//! Code that a dynamo makes for a call, and the method that it was taken from.
//!
//! It has one parameter for each argument, of which none is packed: whoever rewrites code of a
//! method with `args...` sees a function of so many arguments, and gives one.

use std::rc::Rc;
use std::sync::Arc;

use regraft_dialects::core;
use regraft_ir::{Constant, Context, Function, IrResult, Operand, Symbol, Type, TypeKind, Value};

use super::entities::{MethodId, StaticValue};
use super::tables::Method;
use crate::definition::Space;

/// The method that code was taken from. Names in the code mean what they mean there.
#[derive(Clone, Debug)]
pub(crate) struct Home {
    /// The method.
    pub(crate) method: MethodId,
    /// The space in which names are looked up.
    pub(crate) space: Space,
    /// The names of the type parameters.
    pub(crate) names: Rc<[Symbol]>,
    /// Their values.
    pub(crate) statics: Rc<[StaticValue]>,
}

/// The code for a call: a lowered function with a parameter of type `any` for each argument.
#[derive(Clone, Debug)]
pub struct Code {
    pub(crate) function: Arc<Function>,
    /// The method that the code was taken from; `None` if it is that which it is for.
    pub(crate) home: Option<Home>,
    /// True if it only passes a call on, and stands in the place of its own calls.
    pub(crate) passes_on: bool,
}

impl Code {
    /// The code of a function that was built from nothing; names in it are looked up where the
    /// dynamo was defined.
    pub fn new(function: Function) -> Self {
        Self { function: Arc::new(function), home: None, passes_on: false }
    }

    /// The code that calls its first parameter with the others: what a dynamo gives that leaves a
    /// call as it is.
    pub fn call(ctx: &Arc<Context>, params: usize) -> Self {
        let mut function = Function::new(ctx, "", &vec![Type::ANY; params], Type::ANY);
        let entry = function.entry().expect("a new function has an entry");
        let params: Vec<Value> = function.params(entry).collect();
        let (callee, args) = params.split_first().expect("a call has a callee");
        let call = core::apply(*callee, args.iter().copied(), Type::ANY);
        let result = function.push(entry, call).expect("any value can be called");
        let ret = regraft_dialects::cf::ret(result);
        function.set_terminator(entry, ret).expect("any value can be returned");
        Self { passes_on: true, ..Self::new(function) }
    }

    /// Another function as the code for the same call: names in it mean the same.
    #[must_use]
    pub fn with_function(&self, function: Function) -> Self {
        Self { function: Arc::new(function), ..self.clone() }
    }

    /// The function.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// The function, to rewrite. It is copied if somebody else has it.
    pub fn function_mut(&mut self) -> &mut Function {
        Arc::make_mut(&mut self.function)
    }
}

/// The lowered code of a method with a parameter for each of `count` arguments, and so many before
/// them, of which the callee is the last one if the method takes it. O(size).
pub(super) fn flatten(
    method: &Method,
    body: &Function,
    count: usize,
    before: usize,
) -> IrResult<Function> {
    let mut function = body.clone();
    let takes_callee = usize::from(method.takes_callee);
    let Some(entry) = function.entry().filter(|_| before > takes_callee || method.vararg) else {
        return Ok(function);
    };
    let old: Vec<Value> = function.params(entry).collect();
    for _ in takes_callee..before {
        function.append_param(entry, Type::ANY)?;
    }
    let fixed = method.params - usize::from(method.vararg) + takes_callee;
    for &param in &old[..fixed.min(old.len())] {
        let new = function.append_param(entry, Type::ANY)?;
        function.replace_all_uses(param, new)?;
    }
    if let (true, Some(&rest)) = (method.vararg, old.get(fixed)) {
        let args = (method.params - 1..count)
            .map(|_| function.append_param(entry, Type::ANY))
            .collect::<IrResult<Vec<Value>>>()?;
        let tuple =
            Operand::from(function.constant_id(Constant::Func(function.ctx().symbol("tuple"))));
        let packed = function.push_front(entry, core::apply(tuple, args, Type::ANY))?;
        function.replace_all_uses(rest, packed)?;
    }
    for &param in &old {
        function.remove_param(param)?;
    }
    Ok(function)
}

/// Returns whether code can be shown of a callee of that type: ops have none.
pub(super) fn is_op(ctx: &Context, callee: Type) -> bool {
    match *ctx.kind(callee) {
        TypeKind::Fn(name) => ctx.registry().find(ctx.str(name)).is_some(),
        _ => false,
    }
}
