//! Sequences the copies of an edge, which all happen at once, into moves one after the other.
//!
//! A move can be done as soon as nobody reads its destination any more. Where none can, the
//! moves left form cycles; one register of a cycle is saved aside to open it. Linear time. (L. May,
//! "The Parallel Assignment Problem Redefined", 1989; the usual way out of SSA.)

use rustc_hash::FxHashMap;

use super::register::Reg;

/// Calls `emit` with destination and source of each move, in an order that has the effect of all
/// `copies` at once. The destinations are distinct; `temp` is asked for a spare register for
/// the content of one of a cycle.
pub(super) fn sequence(
    copies: &[(Reg, Reg)],
    mut temp: impl FnMut(Reg) -> Reg,
    mut emit: impl FnMut(Reg, Reg),
) {
    let mut source_of: FxHashMap<Reg, Reg> = FxHashMap::default();
    let mut readers: FxHashMap<Reg, u32> = FxHashMap::default();
    let mut order = Vec::with_capacity(copies.len());
    for &(dst, src) in copies.iter().filter(|(dst, src)| dst != src) {
        source_of.insert(dst, src);
        *readers.entry(src).or_default() += 1;
        order.push(dst);
    }
    let no_reader = |readers: &FxHashMap<Reg, u32>, r: Reg| readers.get(&r).is_none_or(|&n| n == 0);
    let mut ready: Vec<Reg> =
        order.iter().rev().copied().filter(|&dst| no_reader(&readers, dst)).collect();
    let mut next = 0;
    loop {
        while let Some(dst) = ready.pop() {
            let Some(src) = source_of.remove(&dst) else { continue };
            emit(dst, src);
            if let Some(count) = readers.get_mut(&src) {
                *count -= 1;
                if *count == 0 && source_of.contains_key(&src) {
                    ready.push(src);
                }
            }
        }
        // What is left are cycles, in which everything is read exactly once.
        let Some(&dst) = order[next..].iter().find(|dst| source_of.contains_key(dst)) else {
            return;
        };
        next += 1;
        let saved = temp(dst);
        emit(saved, dst);
        if let Some(reader) = source_of.iter().find(|&(_, &src)| src == dst).map(|(&d, _)| d) {
            source_of.insert(reader, saved);
        }
        readers.insert(dst, 0);
        ready.push(dst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the moves on registers that hold their own number.
    fn run(copies: &[(Reg, Reg)]) -> Vec<Reg> {
        let mut regs: Vec<Reg> = (0..8).collect();
        sequence(copies, |_| 7, |_, _| {});
        let mut moves = Vec::new();
        sequence(copies, |_| 7, |d, s| moves.push((d, s)));
        for (d, s) in moves {
            regs[d as usize] = regs[s as usize];
        }
        regs.truncate(7);
        regs
    }

    #[test]
    fn every_destination_gets_the_old_value_of_its_source() {
        let cases: [&[(Reg, Reg)]; 6] = [
            &[(0, 1), (1, 0)],
            &[(0, 1), (1, 2), (2, 0)],
            &[(0, 1), (1, 2), (2, 3)],
            &[(0, 1), (1, 0), (2, 0), (3, 1)],
            &[(0, 1), (1, 0), (2, 3), (3, 2), (4, 4), (5, 3)],
            &[(2, 1), (1, 0)],
        ];
        for copies in cases {
            let mut want: Vec<Reg> = (0..7).collect();
            for &(d, s) in copies {
                want[d as usize] = s;
            }
            assert_eq!(run(copies), want, "{copies:?}");
        }
    }
}
