//! `fuse-sweeps`.

mod between;
mod kept;
mod order;
mod shapes;
