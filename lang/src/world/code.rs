//! Code that a dynamo makes for a call, and the method that it was taken from.
//!
//! It has one parameter for each argument, of which none is packed: whoever rewrites code of a
//! method with `args...` sees a function of so many arguments, and gives one.

use std::rc::Rc;
use std::sync::Arc;

use regraft_dialects::core;
use regraft_ir::{Context, Function, Symbol, Type, Value};

use super::entities::{MethodId, StaticValue};
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
