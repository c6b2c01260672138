//! Lists of blocks and empty texts in what analyses print.

use regraft_ir::Block;

/// Writes blocks as text, `^2, ^5`; `none` if there are none.
pub(super) fn list(blocks: impl IntoIterator<Item = Block>) -> String {
    let texts: Vec<String> = blocks.into_iter().map(|block| block.to_string()).collect();
    if texts.is_empty() { "none".to_owned() } else { texts.join(", ") }
}

/// The text, or this if it is empty.
pub(super) fn text_or(text: String, otherwise: &str) -> String {
    if text.is_empty() { otherwise.to_owned() } else { text }
}
