//! The measure that the search makes smaller.

use regraft_ir::{Block, Constant};

use super::Suspect;

/// The measure of a module, in order of weight: first the number of things, then edges that go back, then
/// operands that are not constant, then the sizes of constants, then names.
pub(super) fn size(suspect: &Suspect) -> (usize, usize, usize, u64, usize) {
    let mut back = 0;
    let (mut things, mut values, mut constants, mut names) = (suspect.entries.len(), 0, 0, 0);
    for f in suspect.module.functions() {
        things += 3;
        let mut place = vec![0; f.block_capacity()];
        for (i, b) in f.blocks().enumerate() {
            place[b.index()] = i + 1;
        }
        for b in f.blocks() {
            things += 1 + f.param_count(b);
            // Going back further is to leave a loop.
            let goes_back = |&to: &Block| to == b || f.block_comes_before(to, b);
            back += f.successors(b).filter(goes_back).map(|to| place[to.index()]).sum::<usize>();
            for v in f.params(b).chain(f.insts(b)) {
                names += usize::from(!v.is_terminator() && f.value_name(v).is_some());
            }
            for v in f.insts(b) {
                things += 1 + f.operand_count(v);
                for operand in f.operands(v) {
                    match operand.as_const() {
                        Some(c) => constants += complexity(f.ctx().constant(c)),
                        None => values += 1,
                    }
                }
            }
        }
    }
    (things, back, values, constants, names)
}

pub(super) fn complexity(constant: Constant) -> u64 {
    match constant {
        Constant::Bool(x) => u64::from(x),
        Constant::F32(bits) => float_complexity(f64::from(f32::from_bits(bits))),
        Constant::F64(bits) => float_complexity(f64::from_bits(bits)),
        other => match other.as_int() {
            // Negative numbers are less simple than positive ones. Sums must not overflow.
            Some(x) => {
                (x.unsigned_abs() >> 12).min(1 << 40)
                    + 2 * (x.unsigned_abs() & 0xfff)
                    + u64::from(x < 0)
            }
            None => 0,
        },
    }
}

fn float_complexity(x: f64) -> u64 {
    match x {
        _ if x.to_bits() == 0 => 0,
        1.0 => 1,
        2.0 => 2,
        _ if x.fract() == 0.0 && x.abs() < 1e6 => 3 + x.abs() as u64,
        _ => 2_000_000,
    }
}
