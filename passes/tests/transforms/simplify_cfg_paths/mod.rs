//! `simplify-cfg`: selections and jump threading.

mod selections;
mod threading;
