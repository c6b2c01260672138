//! Turns `while` loops into `do`-`while` loops behind a test.
//!
//! ```text
//! ^1:                                 ^1:
//!   br ^2(0)                            %5: bool = arith.lt 0, %1
//! ^2(%2: i64):                          br %5, ^5, ^4(0)
//!   %3: bool = arith.lt %2, %1        ^5:
//!   br %3, ^3, ^4               =>      br ^3(0)
//! ^3:                                 ^3(%6: i64):
//!   %4: i64 = arith.add %2, 1           %4: i64 = arith.add %6, 1
//!   br ^2(%4)                           %3: bool = arith.lt %4, %1
//! ^4:                                   br %3, ^3(%4), ^4(%4)
//!   return %2                         ^4(%7: i64):
//!                                       return %7
//! ```
//!
//! What is in the loop then surely runs once the loop is entered, so that it can be hoisted though
//! it may trap, and each iteration takes one jump less.
//!
//! # Method
//! As LLVM's LoopRotate: the instructions of the header, which leaves the loop, are copied to the end
//! of the preheader; the header itself, which only the latch leads to now, is appended to the
//! latch, and the block that it led to is the new header. What the header computes comes from two
//! places then, for which parameters are made (`repair_below`). A loop that
//! is left by its latch already stays as it is, and so does one whose header is larger than
//! `max-size`, as it is there twice, and one with a parameter of type `any` that begins with a
//! value of a subtype.
//!
//! # Why it is right
//! Each run of the program comes by the same instructions in the same order: the first time those
//! of the header are run in their copy. That holds whatever they do.
//!
//! # Cost
//! O(size of the headers and uses of their values), and two dominator trees for all loops, however
//! they are nested and however far from a loop its values are used.

use regraft_dialects::{core, mem};
use regraft_ir::{Block, DominatorTree, Edge, Function, Inst, IrResult, Operand, Value};

use crate::analysis::loop_exits::{QuickCount, quick_count};
use crate::analysis::trip_count::LatchRuns;
use crate::analysis::{Analyses, LoopForest, LoopId, TripCounts};
use crate::loop_run::by_nesting_depth;
use crate::options::{OptionDef, Options};
use crate::transforms::licm::after_rotation::{Rotatable, is_partial_function, loops_that_gain};
use crate::transforms::util::clone_blocks::{CloneMap, copy_body};
use crate::transforms::util::edit::only;
use crate::transforms::util::loop_form::{ensure_preheader, gather_edges};
use crate::transforms::util::repair_below::{Below, Places};
use crate::{LoopPass, PassContext, PassResult};

fn can_rotate(f: &Function, forest: &LoopForest, id: LoopId, max_size: usize) -> bool {
    let header = forest.get(id).header;
    let mut in_edges = f.in_edges(header);
    stays_edge(f, forest, id).is_some()
        && f.body(header).nth(max_size).is_none()
        && in_edges.all(|edge| match forest.contains(id, edge.from) {
            true => !leaves(f, forest, id, edge.from),
            false => types_agree(f, edge),
        })
}

/// Loops with fewer iterations are not rotated for the sake of memory.
const FEW_ITERATIONS: u64 = 64;

/// The innermost of the loops that loads, stores or functions leave once they are rotated.
fn with_memory(
    f: &Function,
    forest: &LoopForest,
    ids: &[LoopId],
    analyses: &mut Analyses,
) -> Vec<LoopId> {
    let has = |id: LoopId, is: &dyn Fn(Value) -> bool| {
        forest.blocks(id).iter().flat_map(|&block| f.body(block)).any(is)
    };
    let touches_memory = |v| {
        let op = f.op(v);
        matches!(op, Some(mem::LOAD | mem::STORE | mem::REF_GET | mem::REF_SET | core::GLOBAL))
    };
    let touches = |&id: &LoopId| has(id, &|v| touches_memory(v) || is_partial_function(f, v));
    let first = |&id: &LoopId| {
        let first = f.edge_target(stays_edge(f, forest, id)?);
        f.in_edges(first).nth(1).is_none().then_some((id, first))
    };
    let innermost = ids.iter().filter(|&&id| forest.is_innermost(id)).filter(|id| touches(id));
    // The code of a few iterations is better than a loop: that is for `unroll`, on the loop as it is. A
    // bound that is a constant without a known count is that of such a loop that was simplified.
    let loops = innermost.filter_map(first).filter_map(|(id, first)| {
        let exits = &forest.get(id).exits;
        let mut quick = exits.iter().map(|exit| quick_count(f, forest, id, exit.edge(f)));
        let runs = match (quick.next(), exits.len()) {
            (Some(QuickCount::Constant(n)), 1) => LatchRuns::Constant(n),
            (Some(QuickCount::Other), _) if quick.all(|other| other == QuickCount::Other) => {
                LatchRuns::Unknown
            }
            _ => analyses.get::<TripCounts>(f).of(id).latch_runs.clone(),
        };
        let rotatable = |only_for_functions| Rotatable { id, first, only_for_functions };
        if let LatchRuns::Constant(n) = runs {
            return (n >= FEW_ITERATIONS).then_some(rotatable(false));
        }
        let test = f.operand(Value::terminator(forest.get(id).header), 0);
        let test = test.and_then(Operand::as_value);
        let is_to_constant =
            test.is_some_and(|test| f.operands(test).any(|x| f.const_i64(x).is_some()));
        if !is_to_constant {
            return Some(rotatable(false));
        }
        // One that goes down begins with what nobody knows.
        let goes_down = has(id, &|v| is_partial_function(f, v))
            && analyses.get::<TripCounts>(f).of(id).latch_runs.as_symbolic().is_some();
        goes_down.then(|| rotatable(true))
    });
    let loops: Vec<Rotatable> = loops.collect();
    loops_that_gain(f, &loops, analyses)
}

/// Gives a loop a preheader, a latch that goes to the header and nowhere else, and a block of its own
/// that the header leads to. Returns the header.
fn normalize(f: &mut Function, forest: &LoopForest, id: LoopId) -> IrResult<Block> {
    let is_back = |edge: &Edge| forest.contains(id, edge.from);
    let latches = f.in_edges(forest.get(id).header).filter(is_back);
    let is_latch = latches.map(|edge| f.out_edges(edge.from).nth(1).is_none());
    let has_latch = is_latch.eq([true]);
    let (_, header) = ensure_preheader(f, forest, id)?;
    if !has_latch {
        let mut back = f.in_edges_in_order(header);
        back.retain(is_back);
        let last = back.last().map_or(header, |edge| edge.from);
        gather_edges(f, &back, header, last)?;
    }
    let stays = f.out_edges(header).find(|&edge| forest.contains(id, f.edge_target(edge)));
    if let Some(stays) = stays
        && f.in_edges(f.edge_target(stays)).nth(1).is_some()
    {
        f.split_edge(stays)?;
    }
    Ok(header)
}

/// Rotates a loop that has its normal form. Returns the preheader, and the new header.
fn rotate(
    f: &mut Function,
    forest: &LoopForest,
    places: &Places<'_>,
    id: LoopId,
) -> IrResult<Option<(Block, Block)>> {
    let old = forest.get(id).header;
    let single = |inside: bool| {
        let edges = f.in_edges(old).filter(|e| forest.contains(id, e.from) == inside);
        only(edges).map(|edge| edge.from)
    };
    let (Some(preheader), Some(latch)) = (single(false), single(true)) else { return Ok(None) };
    let Some(stays) = stays_edge(f, forest, id) else { return Ok(None) };
    let new = f.edge_target(stays);
    // The first turn of the header, at the end of the preheader.
    let mut map = CloneMap::new();
    let enters = Edge { from: preheader, position: 0 };
    let args: Vec<Operand> = f.edge_args(enters).collect();
    let values: Vec<Value> = f.params(old).chain(f.body(old)).collect();
    for (param, arg) in f.params(old).zip(args) {
        map.set(param, arg);
    }
    copy_body(f, old, preheader, &mut map)?;
    let mut test: Inst = f.statement(Value::terminator(old));
    for operand in test.operand_list_mut() {
        *operand = map.operand(*operand);
    }
    f.set_terminator(preheader, test)?;
    let below = Below::new(places, std::iter::once(old), |block| block == old);
    for v in values {
        merge(f, &below, v, [(preheader, map.value(v)), (old, v.into())], new)?;
    }
    append(f, latch, old)?;
    Ok(Some((preheader, new)))
}

crate::pass! {
    /// Turns `while` loops into `do`-`while` loops behind a test.
    ///
    /// ```text
    /// ^1:                                 ^1:
    ///   br ^2(0)                            %5: bool = arith.lt 0, %1
    /// ^2(%2: i64):                          br %5, ^5, ^4(0)
    ///   %3: bool = arith.lt %2, %1        ^5:
    ///   br %3, ^3, ^4               =>      br ^3(0)
    /// ^3:                                 ^3(%6: i64):
    ///   %4: i64 = arith.add %2, 1           %4: i64 = arith.add %6, 1
    ///   br ^2(%4)                           %3: bool = arith.lt %4, %1
    /// ^4:                                   br %3, ^3(%4), ^4(%4)
    ///   return %2                         ^4(%7: i64):
    ///                                       return %7
    /// ```
    ///
    /// What is in the loop then surely runs once the loop is entered, so that it can be hoisted
    /// though it may trap. Loops that are left by their latch already stay. With `memory`, only
    /// innermost loops are rotated which a load (of a global name, too) or store leaves then, by `licm` or `load-pre`. It costs
    /// O(size of the header) for each loop, and that much more code.
    #[derive(Debug, Default)]
    pub struct LoopRotate {
        max_size: usize,
        memory: bool,
    }
}

impl LoopPass for LoopRotate {
    const NAME: &'static str = "loop-rotate";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] = &[
        OptionDef::int("max-size", 16, "the most instructions of a header that is copied"),
        OptionDef::flag(
            "memory",
            false,
            "only innermost loops that a load, a store or a function that may be an error leaves then",
        ),
    ];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        self.max_size = usize::try_from(options.int("max-size")).unwrap_or(usize::MAX);
        self.memory = options.flag("memory");
        Ok(())
    }

    fn run(&mut self, f: &mut Function, loops: &[Block], cx: &mut PassContext<'_>) -> PassResult {
        let forest = cx.analysis::<LoopForest>(f);
        let mut ids: Vec<LoopId> = loops.iter().filter_map(|&b| forest.headed_by(b)).collect();
        ids.retain(|&id| can_rotate(f, &forest, id, self.max_size));
        if self.memory {
            ids = with_memory(f, &forest, &ids, cx.analyses());
        }
        let normal = ids.into_iter().map(|id| normalize(f, &forest, id));
        let normal: Vec<Block> = normal.collect::<IrResult<_>>()?;
        if normal.is_empty() {
            cx.add("loops rotated", 0);
            return Ok(());
        }
        // No block is made from here on until all are rotated. What a rotation changes of the dominator
        // tree, the place of the old header and that of the blocks right below it, matters to no other.
        let forest = cx.analysis::<LoopForest>(f);
        let tree = cx.analysis::<DominatorTree>(f);
        let places = Places::new(f, &tree);
        let mut rotated = Vec::new();
        for header in normal {
            if let Some(id) = forest.headed_by(header) {
                rotated.extend(rotate(f, &forest, &places, id)?);
            }
        }
        for &(preheader, new) in &rotated {
            let enters: Vec<Edge> =
                f.out_edges(preheader).filter(|&edge| f.edge_target(edge) == new).collect();
            for edge in enters {
                f.split_edge(edge)?;
            }
        }
        cx.add("loops rotated", rotated.len() as u64);
        Ok(())
    }

    fn run_all(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let forest = cx.analysis::<LoopForest>(f);
        self.run(f, &by_nesting_depth(f, &forest), cx)
    }
}

/// The only edge of the header that stays in the loop, if another one leaves it.
fn stays_edge(f: &Function, forest: &LoopForest, id: LoopId) -> Option<Edge> {
    let header = forest.get(id).header;
    let stays = |&edge: &Edge| forest.contains(id, f.edge_target(edge));
    let edge = only(f.out_edges(header).filter(stays))?;
    (leaves(f, forest, id, header) && f.edge_target(edge) != header).then_some(edge)
}

fn leaves(f: &Function, forest: &LoopForest, id: LoopId, block: Block) -> bool {
    f.successors(block).any(|next| !forest.contains(id, next))
}

/// Lets what uses a value of the old header use what comes from there or from the preheader. The
/// parameter of the new header takes over the name of one of the old header, which goes.
fn merge(
    f: &mut Function,
    below: &Below<'_>,
    v: Value,
    defs: [(Block, Operand); 2],
    new: Block,
) -> IrResult<()> {
    let home = f.block_of(v);
    let mut users: Vec<Value> = f.uses_in_order(v).into_iter().map(|at| at.user).collect();
    users.retain(|&user| f.block_of(user) != home);
    users.dedup();
    if users.is_empty() {
        return Ok(());
    }
    let name = f.value_symbol(v).filter(|_| f.is_param(v));
    if name.is_some() {
        f.set_name_of(v, None)?;
    }
    let at_end = |block| defs.iter().find(|&&(def, _)| def == block).map(|&(_, value)| value);
    let mut params = below.repair(f, v, &users, at_end)?;
    params.sort_by_key(|&param| f.block_of(param) != new);
    for param in params {
        if let Some(name) = name {
            f.name_after(param, name)?;
        }
    }
    Ok(())
}

/// Appends the old header to the latch, if nothing is in the way.
fn append(f: &mut Function, latch: Block, old: Block) -> IrResult<()> {
    let edges: Vec<Edge> = f.out_edges(latch).collect();
    let [edge] = *edges else { return Ok(()) };
    let is_jump = f.plain_operands(Value::terminator(latch)).next().is_none();
    if is_jump && types_agree(f, edge) && f.in_edges(old).nth(1).is_none() {
        f.merge_blocks(latch, old)?;
    }
    Ok(())
}

/// Returns whether what an edge passes is of the types of the parameters, not of subtypes:
/// it may not be accepted everywhere in their place.
fn types_agree(f: &Function, edge: Edge) -> bool {
    let params = f.params(f.edge_target(edge));
    f.edge_args(edge).zip(params).all(|(arg, param)| f.operand_type(arg) == f.ty(param))
}
