//! Methods whose bodies are made from the types of their arguments (the dynamos of IRTools,
//! Julia's generated functions).

use std::rc::Rc;
use std::sync::Arc;

use regraft_ir::{Diagnostic, Function, Type};

use super::define::Body;
use super::entities::{MethodId, MethodMatch, SpecId};
use super::tables::{DynamoCx, DynamoFn, World};
use crate::definition::MethodHead;

impl World {
    /// Defines a method whose lowered body `f` makes from the types of the arguments. The body has
    /// the parameters that that of any other method would have.
    ///
    /// # Errors
    /// The errors of [`World::define`].
    pub fn add_dynamo(
        &mut self,
        head: &MethodHead,
        f: DynamoFn,
    ) -> Result<MethodId, Vec<Diagnostic>> {
        self.add_method(head, Body::Dynamo(f))
    }

    /// The lowered body of a method for these arguments. Of a dynamo it is made at each call:
    /// whoever asks keeps it.
    ///
    /// # Errors
    /// The errors of the dynamo.
    pub fn body(
        &mut self,
        found: &MethodMatch,
        callee: Type,
        args: &[Type],
        by: Option<SpecId>,
    ) -> Result<Arc<Function>, Diagnostic> {
        if let Err(errors) = self.lower_now(found.method) {
            let unknown = || Diagnostic::error("the method cannot be lowered");
            return Err(errors.into_iter().next().unwrap_or_else(unknown));
        }
        let Some(method) = self.method(found.method) else {
            return Err(Diagnostic::error("there is no such method"));
        };
        if let Some(body) = &method.body {
            return Ok(Arc::clone(body));
        }
        let Some(f) = method.dynamo.clone() else {
            return Err(Diagnostic::error("the method has no body"));
        };
        let statics = Rc::clone(&found.statics);
        let mut cx = DynamoCx { world: self, by, callee, statics: &statics };
        f(&mut cx, args).map(Arc::new)
    }
}
