//! Divides by a value once, and multiplies by its inverse.
//!
//! ```text
//! %4: f64 = arith.fdiv %1, %3          %6: f64 = arith.fdiv 1.0, %3
//! %5: f64 = arith.fdiv %2, %3    =>    %4: f64 = arith.mul %1, %6
//!                                      %5: f64 = arith.mul %2, %6
//! ```
//!
//! # Method
//! As GCC's pass `recip`. Divisions by one value are visited in preorder of the dominator tree. The first one and those that it
//! dominates become products with an inverse, which is computed before it, or before the outermost loop around it in
//! which the divisor does not change.
//!
//! # Why it is right
//! A function with `math=:fast` follows the algebra of real numbers. A division of floats does not trap, so that the
//! inverse may be computed where no division was.
//!
//! # Cost
//! O(instructions + divisions times the depth of loops).

use regraft_dialects::{arith, attrs};
use regraft_ir::{Block, Constant, DominatorTree, Function, IrResult, Operand, Type, Value};
use rustc_hash::FxHashMap;

use crate::analysis::{Latencies, LoopForest};
use crate::{FunctionPass, PassContext, PassResult};

crate::pass! {
    /// Divides by a value once, and multiplies by its inverse.
    ///
    /// ```text
    /// %4: f64 = arith.fdiv %1, %3          %6: f64 = arith.fdiv 1.0, %3
    /// %5: f64 = arith.fdiv %2, %3    =>    %4: f64 = arith.mul %1, %6
    ///                                      %5: f64 = arith.mul %2, %6
    /// ```
    ///
    /// Functions with `math=:fast` alone change, as a product with an inverse is rounded twice. A CPU takes three times as long for a
    /// division as for a product, so this pays for two divisions, and for one in a loop by a value from before it. To an
    /// interpreter both are one instruction: it is a pass for native code.
    #[derive(Debug, Default)]
    pub struct Reciprocals;
}

impl FunctionPass for Reciprocals {
    const NAME: &'static str = "reciprocals";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        if !attrs::is_fast(f) {
            return Ok(());
        }
        let dom = cx.analysis::<DominatorTree>(f);
        let forest = cx.analysis::<LoopForest>(f);
        let mut replaced = 0;
        for (divisor, divisions) in divisions(f, &dom) {
            let mut rest = &divisions[..];
            while let Some(&first) = rest.first() {
                // In preorder, what a block dominates follows it at once.
                let dominated = |&&v: &&Value| dom.dominates(f.block_of(first), f.block_of(v));
                let (group, others) = rest.split_at(rest.iter().take_while(dominated).count());
                let (at, outer) = place(f, &forest, divisor, first);
                if pays(f, &forest, group, outer) {
                    replaced += group.len() as u64;
                    invert(f, divisor, at, group)?;
                }
                rest = others;
            }
        }
        cx.add("divisions replaced", replaced);
        Ok(())
    }
}

/// The divisions of floats by each value, in preorder of the dominator tree.
fn divisions(f: &Function, dom: &DominatorTree) -> Vec<(Value, Vec<Value>)> {
    let mut found: Vec<(Value, Vec<Value>)> = Vec::new();
    let mut places: FxHashMap<Value, usize> = FxHashMap::default();
    for v in dom.order().iter().flat_map(|&block| f.body(block)) {
        if f.op(v) != Some(arith::FDIV) || !f.ty(v).is_float() {
            continue;
        }
        let Some(divisor) = f.operand(v, 1).and_then(Operand::as_value) else { continue };
        let place = *places.entry(divisor).or_insert_with(|| {
            found.push((divisor, Vec::new()));
            found.len() - 1
        });
        found[place].1.push(v);
    }
    found
}

/// The instruction before which the inverse of a divisor is computed for a division and those that it dominates, and its block.
fn place(f: &Function, forest: &LoopForest, divisor: Value, first: Value) -> (Value, Block) {
    let mut place = (first, f.block_of(first));
    let mut around = forest.loop_of(place.1);
    while let Some(l) = around.filter(|&l| !forest.contains(l, f.block_of(divisor))) {
        let Some(preheader) = forest.get(l).preheader else { break };
        place = (Value::terminator(preheader), preheader);
        around = forest.get(l).parent;
    }
    place
}

/// Returns whether an inverse in `block` and products take less time than divisions.
fn pays(f: &Function, forest: &LoopForest, divisions: &[Value], block: Block) -> bool {
    let latencies: &Latencies = f.ctx().extensions().get();
    let takes = |op, block| latencies.in_loops(op, Type::F64, forest.depth(block));
    let now: u64 = divisions.iter().map(|&v| takes(arith::FDIV, f.block_of(v))).sum();
    let then: u64 = divisions.iter().map(|&v| takes(arith::MUL, f.block_of(v))).sum();
    then + takes(arith::FDIV, block) < now
}

/// Puts products with the inverse of a divisor, which is computed before `at`, in the place of divisions by it.
fn invert(f: &mut Function, divisor: Value, at: Value, divisions: &[Value]) -> IrResult<()> {
    let Some(one) = Constant::float(f.ty(divisor), 1.0) else { return Ok(()) };
    let one: Operand = f.ctx().constant_id(one).into();
    let inverse = f.insert(at, arith::fdiv(one, divisor))?;
    for &v in divisions {
        match f.operand(v, 0) {
            Some(above) if above != one => f.replace(v, arith::mul(above, inverse)).map(|_| ())?,
            _ => {
                f.replace_named(v, inverse)?;
                f.delete(v)?;
            }
        }
    }
    Ok(())
}
