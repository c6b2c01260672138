//! What the lowering makes of syntax trees, as text.

mod calls;
mod closures;
mod control;
mod dots;
mod errors;
mod later;
mod support;
mod top;
