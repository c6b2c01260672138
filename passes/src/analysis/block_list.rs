//! Lists of blocks: as text, and the place of each in one.

use regraft_ir::{Block, Function};

/// Writes blocks as text, `^2, ^5`; `none` if there are none.
pub(super) fn list(blocks: impl IntoIterator<Item = Block>) -> String {
    let texts: Vec<String> = blocks.into_iter().map(|block| block.to_string()).collect();
    if texts.is_empty() { "none".to_owned() } else { texts.join(", ") }
}

/// The text, or this if it is empty.
pub(super) fn text_or(text: String, otherwise: &str) -> String {
    if text.is_empty() { otherwise.to_owned() } else { text }
}

/// The place of each block in a list, by [`Block::index`]; `u32::MAX` if it is not there.
pub(crate) fn places(f: &Function, blocks: &[Block]) -> Vec<u32> {
    let mut places = vec![u32::MAX; f.block_capacity()];
    for (place, block) in blocks.iter().enumerate() {
        places[block.index()] = place as u32;
    }
    places
}
