//! The world: every type, function, method and global name that a program knows of, and which
//! method a call runs.
//!
//! It owns no code but the lowered bodies that methods came with. Inference asks it, and tells it
//! which specialisation asked ([`SpecId`]), so that a definition invalidates exactly those whose
//! questions it answers differently.
//!
//! ```
//! use regraft_lang::Session;
//! use regraft_lang::definition::Space;
//! use regraft_lang::world::Binding;
//!
//! let mut session = Session::new(&regraft_dialects::context());
//! session.run("f.jl", "f(x) = x").unwrap();
//! let name = session.ctx().symbol("f");
//! let binding = session.with_world(|world| world.resolve(name, Space::Main, None));
//! assert!(matches!(binding, Binding::Function(_)));
//! ```

mod abstract_token;
mod backedges;
mod bindings;
mod builtin;
mod candidates;
mod code;
mod deferred;
mod define;
mod define_deferred;
mod dispatch;
mod dispatch_table;
mod dynamo;
mod entities;
mod eval;
mod flatten;
mod generated;
mod generator;
mod global_names;
mod instances;
mod ir_program;
mod method;
mod methods;
mod modules;
mod name;
mod reflection;
mod rules;
mod structs;
mod subtype;
mod tables;
mod term;
mod types;

pub use candidates::{MethodLine, MethodList};
pub use code::Code;
pub(crate) use code::Home;
pub(crate) use deferred::Deferred;
pub use entities::{
    Binding, Dispatch, Field, MethodId, MethodMatch, SpecId, StaticValue, TypeArgument,
};
pub(crate) use generator::Request;
pub use tables::{DynamoCx, DynamoFn, Method, World};
pub use types::{Bound, FamilyId, Rest, Ty, Var};
