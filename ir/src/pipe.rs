//! x
/// x
#[derive(Debug)]
pub struct Pipe;
