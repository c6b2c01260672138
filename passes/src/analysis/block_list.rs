//! Lists of blocks in what analyses print.

use regraft_ir::Block;

/// Writes blocks as text, `^2, ^5`; `none` if there are none.
pub(super) fn list(blocks: impl IntoIterator<Item = Block>) -> String {
    let texts: Vec<String> = blocks.into_iter().map(|block| block.to_string()).collect();
    if texts.is_empty() { "none".to_owned() } else { texts.join(", ") }
}
