//! Profiles as tables, and in the formats of other tools.
//!
//! A [`Profile`](regraft_exec::Profile) comes from [`Session::profile`](regraft_lang::Session::profile).
//!
//! ```
//! use regraft::exec::ProfilerOptions;
//! use regraft::lang::{ProfileOptions, Session};
//!
//! let mut session = Session::new(&regraft::dialects::context());
//! session.run("f.jl", "f(x) = x < 1 ? x : f(x - 1)").unwrap();
//! let options = ProfileOptions { keep: ProfilerOptions::SUM, ops: false };
//! let (_, profile) = session.profile("f(3.0)", options);
//! let svg = regraft::profile::flame_graph(session.ctx(), &profile, "f(3.0)").unwrap();
//! assert!(svg.contains("f(Float64)"));
//! ```

mod chrome_trace;
mod duration;
mod flame_graph;
mod place;
mod pprof;
mod table;

pub use chrome_trace::chrome_trace;
pub use flame_graph::flame_graph;
pub use place::{Place, place};
pub use pprof::pprof;
pub use table::{By, Options, json, table};

pub(crate) use duration::duration_text;
