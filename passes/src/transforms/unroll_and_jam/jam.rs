//! Makes one loop of the inner loops in the copies of an outer one.
//!
//! ```text
//! before_0  inner_0  after_0           before_0  before_1
//! before_1  inner_1  after_1    =>     inner_0 and inner_1, a body of each in turn
//!                                      after_0   after_1
//! ```
//!
//! The bodies are again copies one after the other, for the next loop of the chain.

use regraft_ir::{Block, Edge, Function, Inst, IrResult, Operand, Value};

use super::chain::Chain;
use crate::analysis::traps::only_computes;
use crate::transforms::util::clone_blocks::CloneMap;
use crate::transforms::util::edit::{delete_unused, jump_target, move_body};
use crate::transforms::util::loop_pair::{CountedLoop, bind_params};

/// Where an edge leads, and what it passes.
type Way = (Block, Vec<Operand>);

/// Jams the copies of a chain, which follow each other: the last block of each jumps to the first of
/// the next.
///
/// # Errors
/// None if `f` is valid and the chain was normal.
pub(super) fn jam(
    f: &mut Function,
    chain: &Chain,
    preheaders: &[Block],
    copies: &[CloneMap],
) -> IrResult<()> {
    let outer = chain.outer();
    let mut ends: Vec<Block> = copies.iter().map(|map| map.block(outer.latch)).collect();
    ends.pop();
    for (&end, map) in ends.iter().zip(&copies[1..]) {
        let edge = Edge { from: end, position: 0 };
        bind_params(f, map.block(outer.header), edge)?;
    }
    for (inner, &preheader) in chain.loops[1..].iter().zip(preheaders) {
        let copies: Vec<Copy> =
            copies.iter().map(|map| Copy::of(f, inner, preheader, map)).collect();
        ends = Inner { copies, is_tested_first: inner.is_tested_first() }.join(f, &ends)?;
    }
    Ok(())
}

/// A copy of an inner loop.
struct Copy {
    preheader: Block,
    header: Block,
    latch: Block,
    /// Where the loop is entered to, from the header of one that is tested first.
    stay: Way,
    exit: Way,
    enter: Way,
    back: Way,
    exits: (Block, usize),
}

/// The copies of an inner loop.
struct Inner {
    copies: Vec<Copy>,
    is_tested_first: bool,
}

impl Copy {
    fn of(f: &Function, l: &CountedLoop, preheader: Block, map: &CloneMap) -> Self {
        let (from, nth) = l.exit_place();
        let exits = (map.block(from), nth);
        let (header, latch) = (map.block(l.header), map.block(l.latch));
        let preheader = map.block(preheader);
        let way = |edge: Edge| (f.edge_target(edge), f.edge_args(edge).collect());
        let nth_edge = |nth: usize| f.out_edges(exits.0).nth(nth).expect("a test has two edges");
        let to_header = |from: Block| {
            let mut edges = f.out_edges(from);
            edges.find(|&edge| f.edge_target(edge) == header).expect("it leads to the header")
        };
        Self {
            stay: way(nth_edge(1 - nth)),
            exit: way(nth_edge(nth)),
            enter: way(to_header(preheader)),
            back: way(to_header(latch)),
            preheader,
            header,
            latch,
            exits,
        }
    }

    /// The instruction that its test decides on.
    fn test(&self, f: &Function) -> Option<Value> {
        let test = f.operand(Value::terminator(self.exits.0), 0)?.as_value()?;
        (!f.is_param(test)).then_some(test)
    }
}

impl Inner {
    /// Makes one loop of them. `ends` has the last block of each copy of the loop around but for the
    /// last copy. Returns those of the copies of the body.
    fn join(self, f: &mut Function, ends: &[Block]) -> IrResult<Vec<Block>> {
        let Self { copies, is_tested_first } = &self;
        let (first, rest) = copies.split_first().expect("there are several copies");
        let last = rest.last().expect("there are several copies");
        // What comes before them runs one after the other, and so does what comes after them.
        for ((&end, copy), next) in ends.iter().zip(copies).zip(rest) {
            let target = jump_target(f, end).expect("the end of a copy is a jump");
            let args: Vec<Operand> = f.operands(Value::terminator(end)).skip(1).collect();
            jump(f, copy.preheader, &(target, args))?;
            jump(f, end, &next.exit)?;
        }
        jump(f, last.preheader, &first.enter)?;
        let unused = copies.iter().filter(|copy| copy.header != self.tester().header);
        let unused: Vec<Value> = unused.filter_map(|copy| copy.test(f)).collect();
        // The last latch goes back, and leaves if the test stands there.
        for (copy, next) in copies.iter().zip(rest) {
            match is_tested_first {
                true => jump(f, copy.latch, &next.stay)?,
                false => f.remove_terminator(copy.latch)?,
            }
        }
        if *is_tested_first {
            jump(f, last.latch, &first.back)?;
        } else {
            let (from, nth) = last.exits;
            for (nth, way) in [(1 - nth, &first.back), (nth, &first.exit)] {
                let edge = f.out_edges(from).nth(nth).expect("a test has two edges");
                f.redirect(edge, way.0, way.1.iter().copied())?;
            }
        }
        self.join_params(f)?;
        for copy in rest {
            let params: Vec<Value> = f.params(copy.header).collect();
            f.delete_all(&params)?;
            if *is_tested_first {
                f.remove_terminator(copy.header)?;
                move_body(f, copy.header, Value::terminator(first.header))?;
                f.delete_block(copy.header)?;
            }
        }
        if !is_tested_first {
            for (copy, next) in copies.iter().zip(rest) {
                jump(f, copy.latch, &(next.header, Vec::new()))?;
            }
        }
        for test in unused {
            delete_unused(f, Some(test))?;
        }
        // Counters step once all copies have used them. What was passed on as it came is now a parameter of the first header.
        let end = Value::terminator(last.latch);
        let steps = copies.iter().flat_map(|copy| &copy.back.1);
        for step in steps.filter_map(|arg| arg.as_value()) {
            if f.is_live(step)
                && !f.is_param(step)
                && f.ty(step).is_int()
                && only_computes(f, step)
                && f.uses(step).all(|at| at.user == end)
            {
                f.move_before(step, end)?;
            }
        }
        Ok(copies[..rest.len()].iter().map(|copy| copy.latch).collect())
    }

    /// The copy whose test is kept.
    fn tester(&self) -> &Copy {
        match self.is_tested_first {
            true => &self.copies[0],
            false => &self.copies[self.copies.len() - 1],
        }
    }

    /// Gives the first header the parameters of the others.
    fn join_params(&self, f: &mut Function) -> IrResult<()> {
        let header = self.copies[0].header;
        let mut joined = Vec::new();
        for copy in &self.copies[1..] {
            let params: Vec<Value> = f.params(copy.header).collect();
            for (i, param) in params.into_iter().enumerate() {
                let last = self.copies[self.copies.len() - 1].preheader;
                let arg = |from: Block| {
                    let way = if from == last { &copy.enter } else { &copy.back };
                    Some(way.1[i])
                };
                joined.push((param, f.add_param(header, f.ty(param), arg)?));
            }
        }
        // Arguments are parameters of the others too, until all have their new ones.
        joined.into_iter().try_for_each(|(old, new)| f.replace_named(old, new))
    }
}

/// Lets a block jump this way, whatever it did.
fn jump(f: &mut Function, from: Block, way: &Way) -> IrResult<()> {
    let term = Value::terminator(from);
    let inst = Inst::new(f.jump_op()?).edge(way.0, way.1.iter().copied());
    let loc = f.is_live(term).then(|| f.loc(term));
    f.set_terminator(from, if let Some(loc) = loc { inst.at(loc) } else { inst })
}
