//! Methods whose code is made from the types of their arguments (the dynamos of IRTools, Julia's
//! generated functions).

use std::rc::Rc;
use std::sync::Arc;

use regraft_ir::{Diagnostic, Type, TypeKind, Value};

use super::code::{Code, Home};
use super::define::Body;
use super::entities::{Dispatch, MethodId, MethodMatch, SpecId};
use super::flatten::{flatten, is_op};
use super::tables::{DynamoCx, DynamoFn, World};
use crate::definition::{MethodHead, Space};

impl World {
    /// Defines a method whose code `f` makes from the types of the arguments.
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

    /// The lowered code of a method for these arguments. That of a dynamo is made at each call:
    /// whoever asks keeps it, and it has a parameter for each argument.
    ///
    /// # Errors
    /// The errors of the code, or of the dynamo.
    pub fn body(
        &mut self,
        found: &MethodMatch,
        callee: Type,
        args: &[Type],
        by: Option<SpecId>,
    ) -> Result<Code, Vec<Diagnostic>> {
        self.lower_now(found.method)?;
        let Some(method) = self.method(found.method) else {
            return Err(vec![Diagnostic::error("there is no such method")]);
        };
        if let Some(body) = &method.body {
            return Ok(Code { function: Arc::clone(body), home: None, passes_on: false });
        }
        let Some(f) = method.dynamo.clone() else {
            return Err(vec![Diagnostic::error("the method has no code")]);
        };
        let (name, method) = (method.name, found.method);
        let params = args.len() + usize::from(self.methods[method].takes_callee);
        let statics = Rc::clone(&found.statics);
        let mut cx = DynamoCx { world: self, by, callee, statics: &statics, method };
        let code = f(&mut cx, args)?;
        let entry = code.function.entry();
        if entry.is_none_or(|entry| code.function.param_count(entry) != params) {
            let types: Vec<String> =
                args.iter().map(|&ty| format!("::{}", self.type_name(ty))).collect();
            let message = format!(
                "the dynamo {}({}) gives code with another number of parameters than arguments",
                self.ctx.str(name),
                types.join(", ")
            );
            return Err(vec![Diagnostic::error(message)]);
        }
        Ok(code)
    }
}

impl DynamoCx<'_> {
    /// The lowered code of the method that a call of a value of type `callee` with arguments of
    /// these types runs, with a parameter for the callee and one for each argument. `None` if
    /// there is no such method, or if it is an op, or a function that inference knows: these have no code.
    ///
    /// The code is made anew when that method changes, or another one comes in its place. O(size).
    ///
    /// # Errors
    /// The errors of the code.
    pub fn lowered(
        &mut self,
        callee: Type,
        args: &[Type],
    ) -> Result<Option<Code>, Vec<Diagnostic>> {
        self.lowered_behind(0, callee, args)
    }

    /// The same with so many parameters before all others, of which nobody makes use yet.
    ///
    /// # Errors
    /// As of [`lowered`](Self::lowered).
    pub fn lowered_behind(
        &mut self,
        params: usize,
        callee: Type,
        args: &[Type],
    ) -> Result<Option<Code>, Vec<Diagnostic>> {
        if self.world.is_builtin(callee) || is_op(&self.world.ctx, callee) {
            return Ok(None);
        }
        let found = match self.world.dispatch(callee, args, self.by) {
            Dispatch::Method(found) => found,
            Dispatch::Unknown => {
                let message = "which method is called depends on values of unknown types";
                return Err(vec![Diagnostic::error(message)]);
            }
            Dispatch::None | Dispatch::Ambiguous(_) => return Ok(None),
        };
        self.code_behind(params, &found, callee, args).map(Some)
    }

    /// The code of the method that `invoke(f, types, args...)` runs, with so many parameters before those for
    /// `invoke` and its arguments, whose types are `all`. `None` if these do not say which method.
    ///
    /// # Errors
    /// As of [`lowered`](Self::lowered).
    pub(crate) fn invoked_behind(
        &mut self,
        params: usize,
        invoke: Type,
        all: &[Type],
    ) -> Result<Option<Code>, Vec<Diagnostic>> {
        let (&[callee, types, ref args @ ..], Some(by)) = (all, self.by) else { return Ok(None) };
        let ctx = Arc::clone(&self.world.ctx);
        let (&TypeKind::Fn(name), &TypeKind::TypeOf(types)) = (ctx.kind(invoke), ctx.kind(types))
        else {
            return Ok(None);
        };
        if ctx.str(name) != "invoke" {
            return Ok(None);
        }
        match self.world.dispatch(invoke, all, self.by) {
            Dispatch::Method(found) if self.world.methods[found.method].space == Space::Base => {}
            _ => return Ok(None),
        }
        let declared = self.world.types_for(types, args.len()).filter(|declared| {
            args.iter().zip(declared).all(|(&ty, &of)| self.world.is_below(ty, of))
        });
        let Some(declared) = declared else { return Ok(None) };
        let Some(found) = self.world.invoked(callee, &declared, args, by) else { return Ok(None) };
        // The code has its callee in the place of the types.
        let mut code = self.code_behind(params + 2, &found, callee, args)?;
        let f = code.function_mut();
        let entry = f.entry().expect("code has an entry");
        let all: Vec<Value> = f.params(entry).skip(params + 1).take(2).collect();
        if let &[callee, types] = &*all {
            f.replace_all_uses(types, callee).map_err(Vec::from)?;
        }
        Ok(Some(code))
    }

    /// The code of a method with so many parameters before all others.
    fn code_behind(
        &mut self,
        params: usize,
        found: &MethodMatch,
        callee: Type,
        args: &[Type],
    ) -> Result<Code, Vec<Diagnostic>> {
        let Code { function, home, passes_on } = self.world.body(found, callee, args, self.by)?;
        let method = &self.world.methods[found.method];
        let (count, before) = (args.len(), params + 1);
        let function = match method.is_dynamo() {
            false => flatten(method, &function, count, before),
            true => flatten(&method.without_rest(count), &function, count, before),
        };
        let function = function.map_err(Vec::from)?;
        let home = home.unwrap_or_else(|| Home {
            method: found.method,
            space: method.space,
            names: Rc::clone(&method.statics),
            statics: Rc::clone(&found.statics),
        });
        Ok(Code { function: Arc::new(function), home: Some(home), passes_on })
    }

    /// The code that calls its first parameter with the others: that of a call which the dynamo
    /// leaves as it is. `args` are the types of all arguments.
    pub fn fall_back(&self, args: &[Type]) -> Code {
        Code::call(&self.world.ctx, args.len())
    }
}
