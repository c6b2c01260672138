//! Programs with the prelude.

use crate::text::Text;

#[test]
fn first() {
    let mut text = Text::new();
    println!("{}", text.shown("1 + 2"));
}
