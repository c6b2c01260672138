//! The kinds of memory as metadata: types whose places are never the same.

use super::super::emitter::{Area, Mem};
use super::shared::put;

const MEMS: [Mem; 7] = [Mem::I8, Mem::I16, Mem::I32, Mem::I64, Mem::F32, Mem::F64, Mem::Ptr];

/// The metadata of accesses to the headers of objects: its number.
pub(super) const HEADER: usize = 6;

/// The metadata of accesses to an area: its number.
pub(super) fn area_metadata(area: Area) -> usize {
    match area {
        Area::Frame => 2,
        Area::Count => 4,
        Area::Fields => 8,
        Area::Context => 10,
        Area::Elements(mem) | Area::Scope(mem, _) => {
            12 + 2 * MEMS.iter().position(|&other| other == mem).unwrap_or(0)
        }
        _ => HEADER,
    }
}

/// The kinds of memory as types whose places are never the same.
pub(super) fn areas() -> String {
    let mut text = "!0 = !{!\"regraft\"}\n".to_owned();
    let areas = [Area::Frame, Area::Count, Area::Header, Area::Fields, Area::Context];
    for area in areas.into_iter().chain(MEMS.map(Area::Elements)) {
        let access = area_metadata(area);
        let ty = access - 1;
        put(&mut text, format_args!("!{ty} = !{{!\"{area:?}\", !0, i64 0}}\n"));
        put(&mut text, format_args!("!{access} = !{{!{ty}, !{ty}, i64 0}}\n"));
    }
    text
}
