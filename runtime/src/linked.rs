//! Functions of object files that Rust calls.

use std::fmt;
use std::sync::OnceLock;

use regraft_exec::typed::{Params, Signature, TypedFunction};

use crate::{Diagnostic, Image, parse};

/// A function of an object file that is linked to the program. It is loaded at its first call.
pub struct Linked<F: Signature> {
    image: fn() -> &'static Image,
    function: OnceLock<Result<TypedFunction<F>, Diagnostic>>,
}

impl<F: Signature> Linked<F> {
    /// The function of an image.
    pub const fn new(image: fn() -> &'static Image) -> Self {
        Self { image, function: OnceLock::new() }
    }

    /// Calls the function with arguments, a tuple.
    ///
    /// # Errors
    /// If the program fails, and if the object file is of another version than this library.
    pub fn call(&self, args: <F::Params as Params>::Args<'_>) -> Result<F::Output, Diagnostic> {
        let function = self.function.get_or_init(|| TypedFunction::of_image((self.image)(), parse));
        match function {
            Ok(function) => function.call(args),
            Err(error) => Err(error.clone()),
        }
    }
}

impl<F: Signature> fmt::Debug for Linked<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Linked").finish_non_exhaustive()
    }
}
