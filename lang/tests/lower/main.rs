//! The lowering: its errors, bodies that are lowered later, and code of any size. What syntax trees
//! become is in the text tests of the whole (`tests/text/lower`).

mod errors;
mod later;
mod support;
