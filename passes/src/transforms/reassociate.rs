//! Brings sums and products into one order, so that equal parts are found and constants meet.
//!
//! ```text
//! ^3(%4: i64):  (in a loop)             ^3(%4: i64):
//!   %5: i64 = arith.add %4, %1            %8: i64 = arith.add %1, %2
//!   %6: i64 = arith.add %5, 3       =>    %9: i64 = arith.add %8, %4
//!   %7: i64 = arith.add %6, %2            %7: i64 = arith.add %9, 3
//! ```
//!
//! # Method
//! Briggs and Cooper: "Effective partial redundancy elimination" (PLDI 1994, section 3.1), as in
//! LLVM's pass of that name. A tree of additions, subtractions and negations (or of products, or of
//! one bitwise op) within a block, whose inner nodes have no other use, is taken apart into its
//! leaves. Those are sorted by where they are computed, what comes from outside of a loop first and
//! the parameters of the loop's header last, and joined again from the left, with one constant at
//! the end: what is invariant stands together for `licm`, what two sums have in common stands in
//! the same order for `cse` and `gvn`, and what is carried around a loop waits for one op only.
//! What cancels goes.
//!
//! # Why it is right
//! Integers under wrapping are a ring, in which all of that is exact; bitwise ops are associative
//! and commutative. Sums and products of floats are not: they are touched with `math=fast` alone.
//!
//! # Cost
//! O(n log n) for a tree of n leaves, and each instruction is part of one tree
//! (`examples/transform_speed.rs`).

use regraft_dialects::arith;
use regraft_dialects::semantics::eval_scalar;
use regraft_ir::{
    Block, Constant, ControlFlow, Function, Inst, IrResult, Op, Operand, Type, Use, Value,
};

use crate::analysis::LoopForest;
use crate::options::{OptionDef, Options};
use crate::pipeline::MATH;
use crate::rewrite::Math;
use crate::transforms::util::edit::replace_where_it_fits;
use crate::{FunctionPass, PassContext, PassResult};

crate::pass! {
    /// Brings sums and products into one order, so that equal parts are found and constants meet.
    ///
    /// ```text
    /// %5: i64 = arith.add %4, %1            %8: i64 = arith.add %1, %2
    /// %6: i64 = arith.add %5, 3       =>    %9: i64 = arith.add %8, %4
    /// %7: i64 = arith.add %6, %2            %7: i64 = arith.add %9, 3
    /// ```
    ///
    /// What comes from outside of a loop stands first, what is carried around it last, and
    /// constants at the end. Integers only, for which that is exact, unless `math=fast`, which
    /// takes the sums and products of floats for those of real numbers. The cost is that of
    /// sorting.
    #[derive(Debug, Default)]
    pub struct Reassociate {
        /// True if floats follow the rules of real numbers too.
        fast: bool,
    }
}

impl FunctionPass for Reassociate {
    const NAME: &'static str = "reassociate";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] = &[OptionDef {
        doc: "with `fast`, floats are reordered too, which changes how they are rounded",
        ..MATH
    }];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        self.fast = options.text(MATH.name) == Math::Fast.name();
        Ok(())
    }

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let (cfg, forest) = (cx.analysis::<ControlFlow>(f), cx.analysis::<LoopForest>(f));
        let mut ranks = vec![0u32; f.value_capacity()];
        let mut next = 0;
        for block in cfg.reverse_postorder() {
            for v in f.params(block).chain(f.body(block)) {
                next += 1;
                ranks[v.index()] = next;
            }
        }
        let mut changed = 0u64;
        for block in cfg.reverse_postorder() {
            let header = forest.loop_of(block).map(|id| forest.get(id).header);
            let roots: Vec<(Value, Family)> = f
                .body(block)
                .filter_map(|v| Family::of(f, v, self.fast).map(|family| (v, family)))
                .filter(|&(v, family)| !is_inner(f, v, family, self.fast))
                .collect();
            for (root, family) in roots {
                let mut tree = Tree::new(f, root, family, self.fast);
                if tree.leaves.len() + tree.constants.len() < 2 && tree.inner.is_empty() {
                    continue;
                }
                tree.order(f, &ranks, header);
                changed += u64::from(tree.rebuild(f)?);
            }
        }
        cx.add("trees reordered", changed);
        Ok(())
    }
}

/// Ops that make one kind of tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Family {
    /// `add`, `sub`, `neg`.
    Sum,
    Product,
    And,
    Or,
    Xor,
}

impl Family {
    fn of(f: &Function, v: Value, fast: bool) -> Option<Self> {
        let ty = f.ty(v);
        let family = match f.op(v)? {
            arith::ADD | arith::SUB | arith::NEG => Self::Sum,
            arith::MUL => Self::Product,
            arith::AND => Self::And,
            arith::OR => Self::Or,
            arith::XOR => Self::Xor,
            _ => return None,
        };
        let allowed = ty.is_int()
            || ty == Type::BOOL && !matches!(family, Self::Sum | Self::Product)
            || ty.is_float() && fast;
        (allowed && f.operands(v).all(|operand| f.operand_type(operand) == ty)).then_some(family)
    }

    /// The op that joins two parts.
    fn op(self) -> Op {
        match self {
            Self::Sum => arith::ADD,
            Self::Product => arith::MUL,
            Self::And => arith::AND,
            Self::Or => arith::OR,
            Self::Xor => arith::XOR,
        }
    }

    /// The constant that changes nothing.
    fn neutral(self, f: &Function, ty: Type) -> Option<Constant> {
        let identity = f.ctx().def(self.op()).identity?;
        match self {
            // Of floats, adding `-0.0` changes nothing at all.
            Self::Sum if ty.is_float() => Constant::float(ty, -0.0),
            Self::Product if ty.is_float() => Constant::float(ty, 1.0),
            _ if ty == Type::BOOL => Some(Constant::Bool(identity != 0)),
            _ => Constant::int(ty, identity),
        }
    }
}

/// Returns whether `v` is an inner node of the tree of its only user.
fn is_inner(f: &Function, v: Value, family: Family, fast: bool) -> bool {
    let mut uses = f.uses(v);
    match (uses.next(), uses.next()) {
        (Some(Use { user, .. }), None) => {
            !user.is_terminator()
                && f.block_of(user) == f.block_of(v)
                && Family::of(f, user, fast) == Some(family)
                && f.ty(user) == f.ty(v)
        }
        _ => false,
    }
}

/// A leaf, and whether it is subtracted.
type Leaf = (Value, bool);

struct Tree {
    root: Value,
    family: Family,
    ty: Type,
    /// Inner nodes, each after the node that uses it.
    inner: Vec<Value>,
    leaves: Vec<Leaf>,
    /// Constants, and whether they are subtracted.
    constants: Vec<(Constant, bool)>,
}

impl Tree {
    fn new(f: &Function, root: Value, family: Family, fast: bool) -> Self {
        let (inner, leaves, constants) = Default::default();
        let mut tree = Self { root, family, ty: f.ty(root), inner, leaves, constants };
        let mut todo = vec![(root, false)];
        while let Some((v, negative)) = todo.pop() {
            if v != root {
                tree.inner.push(v);
            }
            let first = todo.len();
            for (i, operand) in f.operands(v).enumerate() {
                let flips = match f.op(v) {
                    Some(arith::SUB) => i == 1,
                    Some(arith::NEG) => true,
                    _ => false,
                };
                let negative = negative != flips;
                match (operand.as_value(), f.constant(operand)) {
                    (Some(x), _)
                        if Family::of(f, x, fast) == Some(family)
                            && is_inner(f, x, family, fast) =>
                    {
                        todo.push((x, negative));
                    }
                    (Some(x), _) => tree.leaves.push((x, negative)),
                    (None, Some(constant)) => tree.constants.push((constant, negative)),
                    _ => {}
                }
            }
            todo[first..].reverse();
        }
        tree
    }

    /// Sorts the leaves, and drops what cancels.
    fn order(&mut self, f: &Function, ranks: &[u32], header: Option<Block>) {
        let carried = |v: Value| f.is_param(v) && Some(f.block_of(v)) == header;
        self.leaves.sort_by_key(|&(v, negative)| (carried(v), ranks[v.index()], negative));
        let mut kept: Vec<Leaf> = Vec::with_capacity(self.leaves.len());
        for &(v, negative) in &self.leaves {
            let last = kept.last().copied().filter(|&(last, _)| last == v);
            match (self.family, last) {
                (Family::And | Family::Or, Some(_)) => {}
                (Family::Xor, Some(_)) => drop(kept.pop()),
                // The positive ones of a value come first, so that each negative one finds one.
                (Family::Sum, Some((_, false))) if negative => drop(kept.pop()),
                _ => kept.push((v, negative)),
            }
        }
        self.leaves = kept;
    }

    /// All constants as one, which is added, or joined as the op says.
    fn constant(&self, f: &Function) -> Option<Constant> {
        let op = self.family.op();
        let mut all = self.family.neutral(f, self.ty)?;
        for &(constant, negative) in &self.constants {
            let op = if negative { arith::SUB } else { op };
            all = eval_scalar(f.ctx().def(op), &[all, constant], self.ty)?.ok()?;
        }
        Some(all)
    }

    /// Puts the leaves together from the left. Says whether anything changed.
    fn rebuild(self, f: &mut Function) -> IrResult<bool> {
        let Some(constant) = self.constant(f) else { return Ok(false) };
        let has_constant = Some(constant) != self.family.neutral(f, self.ty);
        // A product with 0, for one, is 0; floats that are not finite are not real numbers.
        let absorbing = match self.family {
            Family::Product | Family::And if !self.ty.is_float() => Constant::zero(self.ty),
            Family::Or if self.ty == Type::BOOL => Some(Constant::Bool(true)),
            Family::Or => Constant::int(self.ty, -1),
            _ => None,
        };
        if self.leaves.is_empty() || has_constant && Some(constant) == absorbing {
            // Floats whose terms all cancel leave a positive zero.
            let constant = match Constant::zero(self.ty) {
                Some(zero) if self.family == Family::Sum && !has_constant => zero,
                _ => constant,
            };
            let id = f.constant_id(constant);
            if !replace_where_it_fits(f, self.root, id.into())? {
                return Ok(false);
            }
            f.delete(self.root)?;
            self.drop_inner(f)?;
            return Ok(true);
        }
        let parts = self.parts(f, has_constant.then_some(constant));
        if self.is_in_order(f, &parts) {
            return Ok(false);
        }
        self.join(f, &parts)?;
        self.drop_inner(f)?;
        Ok(true)
    }

    /// Returns what is joined, one after the other, each with the op that joins it to those before;
    /// the op of the first is `neg` if it is negative.
    fn parts(&self, f: &Function, constant: Option<Constant>) -> Vec<(Option<Op>, Operand)> {
        let op = self.family.op();
        let mut rest = self.leaves.clone();
        let mut parts = Vec::with_capacity(rest.len() + 1);
        let mut constant = constant;
        match (rest.iter().position(|leaf| !leaf.1), constant) {
            (Some(first), _) => parts.push((None, rest.remove(first).0.into())),
            (None, Some(start)) => {
                parts.push((None, f.constant_id(start).into()));
                constant = None;
            }
            (None, None) => parts.push((Some(arith::NEG), rest.remove(0).0.into())),
        }
        parts.extend(
            rest.into_iter().map(|(v, negative)| {
                (Some(if negative { arith::SUB } else { op }), Operand::from(v))
            }),
        );
        if let Some(constant) = constant {
            // `x - 1` rather than `x + -1`.
            let less = constant.as_int().filter(|&x| x < 0 && self.family == Family::Sum);
            let positive = less.and_then(|x| Constant::int(self.ty, x.checked_neg()?));
            parts.push(match positive.filter(|positive| positive.as_int() > Some(0)) {
                Some(positive) => (Some(arith::SUB), f.constant_id(positive).into()),
                None => (Some(op), f.constant_id(constant).into()),
            });
        }
        parts
    }

    /// Returns whether the tree is just that already.
    fn is_in_order(&self, f: &Function, parts: &[(Option<Op>, Operand)]) -> bool {
        let joins = parts.iter().filter(|part| part.0.is_some()).count();
        if joins != self.inner.len() + 1 {
            return false;
        }
        // Two values in either order are found to be the same by everybody.
        if let [(None, x), (Some(op), y)] = *parts
            && f.op(self.root) == Some(op)
            && y.as_value().is_some()
        {
            let found: Vec<Operand> = f.operands(self.root).collect();
            return found == [x, y] || op != arith::SUB && found == [y, x];
        }
        let mut at = Operand::from(self.root);
        for &(op, part) in parts.iter().rev() {
            let Some(op) = op else { return at == part };
            let Some(v) = at.as_value().filter(|&v| f.op(v) == Some(op)) else { return false };
            if op == arith::NEG {
                return f.operand(v, 0) == Some(part);
            }
            if f.operand(v, 1) != Some(part) {
                return false;
            }
            let Some(left) = f.operand(v, 0) else { return false };
            at = left;
        }
        false
    }

    /// Makes the root the last of the joined parts, and what comes before it new instructions.
    fn join(&self, f: &mut Function, parts: &[(Option<Op>, Operand)]) -> IrResult<()> {
        let mut last: Option<Inst> = None;
        let mut so_far: Option<Operand> = None;
        for &(op, part) in parts {
            if let Some(inst) = last.take() {
                so_far = Some(f.insert(self.root, inst.made_from(self.root))?.into());
            }
            match (op, so_far) {
                (None, _) => so_far = Some(part),
                (Some(op), None) => last = Some(Inst::new(op).operand(part)),
                (Some(op), Some(left)) => last = Some(Inst::new(op).operand(left).operand(part)),
            }
        }
        match (last, so_far) {
            (Some(inst), _) => f.replace(self.root, inst),
            (None, Some(only)) => {
                if replace_where_it_fits(f, self.root, only)? {
                    f.delete(self.root)?;
                }
                Ok(())
            }
            (None, None) => Ok(()),
        }
    }

    fn drop_inner(&self, f: &mut Function) -> IrResult<()> {
        for &v in &self.inner {
            f.delete(v)?;
        }
        Ok(())
    }
}
