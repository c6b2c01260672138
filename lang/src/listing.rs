//! Listings of Julia's IR as lowered functions.

use std::cell::Cell;
use std::sync::Arc;

use regraft_ir::{Context, Diagnostic, Module, verify_module};
use regraft_syntax::listing;

use crate::definition::{Item, Space};
use crate::lower::{LowerOptions, lower};

/// The functions of a text of listings.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The lowered functions, in order: each parameter and each value is of the type `any`, and calls
    /// name generic functions.
    pub module: Module,
    /// Assumptions that were made, as the listings do not say it.
    pub warnings: Vec<Diagnostic>,
}

impl Listing {
    /// Reads a text of listings; see [`parse_listing`].
    ///
    /// # Errors
    /// All errors of the text; that a listing calls another one with another number of arguments is one.
    pub fn read(ctx: &Arc<Context>, name: &str, text: &str) -> Result<Self, Vec<Diagnostic>> {
        let parsed = listing::parse(ctx, name, text);
        if !parsed.errors.is_empty() {
            return Err(parsed.errors);
        }
        let options = LowerOptions {
            soft_scope: false,
            is_global: &|_| false,
            space: Space::Main,
            counter: &Cell::default(),
        };
        let mut module = Module::new(ctx);
        for item in lower(ctx, &parsed.ast, &options)? {
            let Item::Methods(methods) = item else { continue };
            for method in methods {
                let place = method.head.loc;
                module.add((*method.body).clone()).map_err(|error| {
                    vec![Diagnostic::from(error).at_loc(ctx, place, "in this listing")]
                })?;
            }
        }
        match verify_module(&module) {
            Ok(()) => Ok(Self { module, warnings: parsed.warnings }),
            Err(errors) => Err(errors.into_iter().map(|error| error.in_source(ctx)).collect()),
        }
    }
}

/// Reads what Julia prints for lowered or typed code (`CodeInfo`, `IRCode`), or what IRTools
/// prints, as lowered IR. `name` is what diagnostics call the file; a single listing that nothing
/// names is that of a function with the name of the file.
///
/// [`Session::define_listing`](crate::Session::define_listing) makes methods of listings, which
/// can be called, specialised and differentiated.
///
/// ```
/// let ctx = regraft_dialects::context();
/// let text = "CodeInfo(\n1 ─ %1 = x * x\n│   %2 = Main.sin(%1)\n└──      return %2\n)\n";
/// let module = regraft_lang::parse_listing(&ctx, "f.lowered", text).unwrap();
/// let f = module.function("f").unwrap();
/// assert_eq!(f.params(f.entry().unwrap()).count(), 1);
/// ```
///
/// Linear in the length of the text.
///
/// # Errors
/// All errors of the text, each with its place.
pub fn parse_listing(
    ctx: &Arc<Context>,
    name: &str,
    text: &str,
) -> Result<Module, Vec<Diagnostic>> {
    Listing::read(ctx, name, text).map(|listing| listing.module)
}
