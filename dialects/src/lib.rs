//! The ops of Regraft, one file per dialect.
//!
//! A dialect is a module: `arith::ADD` is an op, `arith::add(x, y)` makes an instruction of it,
//! and `arith::DIALECT` lists its ops with signatures and documentation. All of this comes from
//! one declaration per op, by [`dialect!`], with which users declare ops of their own.
//!
//! [`context`] makes the context of a program of all these ops.
//!
//! ```
//! use regraft_dialects::{arith, cf, context};
//! use regraft_ir::{FunctionBuilder, Type};
//!
//! let ctx = context();
//! let mut b = FunctionBuilder::new(&ctx, "f", &[Type::F64], Type::F64);
//! let square = b.push(arith::mul(b.param(0), b.param(0)))?;
//! b.terminate(cf::ret(square))?;
//! assert_eq!(b.finish()?.to_string(), "\
//! func @f(%1: f64) -> f64 {
//! ^1:
//!   %2: f64 = arith.mul %1, %1
//!   return %2
//! }
//! ");
//! # Ok::<(), regraft_ir::IrError>(())
//! ```

use std::sync::{Arc, LazyLock};

use regraft_ir::{Context, Registry};

pub mod ad;
pub mod arith;
pub mod attrs;
pub mod cf;
pub mod chunks;
mod convert;
pub mod core;
pub mod data;
mod fold;
pub mod linalg;
pub mod macros;
pub mod math;
pub mod mem;
pub mod prof;
pub mod semantics;
pub mod tangent;
pub mod text;
mod types;

/// The crate that ops are declared against, for what [`dialect!`] expands to.
pub use regraft_ir as ir;

/// Adds every dialect of this crate to a registry.
///
/// # Panics
/// If it holds another dialect of the same number, or an op of the same name.
#[track_caller]
pub fn add_all(registry: &mut Registry) {
    registry
        .add(&core::DIALECT)
        .add(&cf::DIALECT)
        .add(&arith::DIALECT)
        .add(&math::DIALECT)
        .add(&data::DIALECT)
        .add(&mem::DIALECT)
        .add(&prof::DIALECT)
        .add(&ad::DIALECT)
        .add(&text::DIALECT)
        .add(&linalg::DIALECT);
}

/// The registry of every dialect of this crate; all calls share one.
pub fn registry() -> Arc<Registry> {
    static REGISTRY: LazyLock<Arc<Registry>> = LazyLock::new(|| {
        let mut registry = Registry::new();
        add_all(&mut registry);
        Arc::new(registry)
    });
    Arc::clone(&REGISTRY)
}

/// An empty context for programs of these ops.
pub fn context() -> Arc<Context> {
    Context::new(registry())
}
