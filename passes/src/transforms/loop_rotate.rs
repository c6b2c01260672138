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
//! places then, for which parameters are made ([`ssa_repair`](super::ssa_repair)). A loop that
//! is left by its latch already stays as it is, and so does one whose header is larger than
//! `max-size`, as it is there twice, and one with a parameter of type `any` that begins with a
//! value of a more special type.
//!
//! # Why it is right
//! Each run of the program comes by the same instructions in the same order: the first time those
//! of the header are run in their copy. That holds whatever they do.
//!
//! # Cost
//! O(size of the header), and of the regions where its values are used, for each loop.

use regraft_ir::{Block, Edge, Function, Inst, IrResult, Operand, Value};

use super::clone_blocks::{CloneMap, copy_body};
use super::loop_form::LoopForm;
use super::ssa_repair::repair;
use crate::analysis::LoopForest;
use crate::options::{OptionDef, Options};
use crate::{LoopPass, PassContext, PassResult};

/// Rotates a loop, if its header leaves it, its latch does not, and the header has at most
/// `max_size` instructions. Says whether it did.
///
/// # Errors
/// None if `f` is valid.
pub fn run(f: &mut Function, form: &mut LoopForm, max_size: usize) -> IrResult<bool> {
    if stays_edge(f, form).is_none()
        || f.body(form.header()).nth(max_size).is_some()
        || form.back_edges(f).iter().any(|back| leaves(f, form, back.from))
        || !form.entering(f).into_iter().all(|edge| types_agree(f, edge))
    {
        return Ok(false);
    }
    let preheader = form.ensure_preheader(f)?;
    let latch = form.ensure_single_latch(f)?;
    let Some(stays) = stays_edge(f, form) else { return Ok(false) };
    let old = form.header();
    let mut new = f.edge_target(stays);
    if f.in_edges(new).nth(1).is_some() {
        new = f.split_edge(stays)?;
        form.add_block(new);
    }
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
    for v in values {
        merge(f, v, [(preheader, map.value(v)), (old, v.into())], new)?;
    }
    let enters: Vec<Edge> =
        f.out_edges(preheader).filter(|&edge| f.edge_target(edge) == new).collect();
    for edge in enters {
        f.split_edge(edge)?;
    }
    append(f, latch, old)?;
    Ok(true)
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
    /// though it may trap. Loops that are left by their latch already stay. It costs O(size of
    /// the header) for each loop, and that much more code.
    #[derive(Debug, Default)]
    pub struct LoopRotate {
        max_size: usize,
    }
}

impl LoopPass for LoopRotate {
    const NAME: &'static str = "loop-rotate";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] =
        &[OptionDef::int("max-size", 16, "the most instructions of a header that is copied")];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        self.max_size = usize::try_from(options.int("max-size")).unwrap_or(usize::MAX);
        Ok(())
    }

    fn run(&mut self, f: &mut Function, loops: &[Block], cx: &mut PassContext<'_>) -> PassResult {
        let forest = cx.analysis::<LoopForest>(f);
        for &header in loops {
            if let Some(id) = forest.headed_by(header)
                && run(f, &mut LoopForm::new(&forest, id), self.max_size)?
            {
                cx.count("loops rotated");
            }
        }
        Ok(())
    }
}

/// The only edge of the header that stays in the loop, if another one leaves it.
fn stays_edge(f: &Function, form: &LoopForm) -> Option<Edge> {
    let header = form.header();
    let mut stay = f.out_edges(header).filter(|&edge| form.contains(f.edge_target(edge)));
    let (Some(edge), None) = (stay.next(), stay.next()) else { return None };
    (leaves(f, form, header) && f.edge_target(edge) != header).then_some(edge)
}

fn leaves(f: &Function, form: &LoopForm, block: Block) -> bool {
    f.successors(block).any(|next| !form.contains(next))
}

/// Lets what uses a value of the old header use what comes from there or from the preheader. The
/// parameter of the new header takes over the name of one of the old header, which goes.
fn merge(f: &mut Function, v: Value, defs: [(Block, Operand); 2], new: Block) -> IrResult<()> {
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
    let mut params = repair(f, v, &defs, &users)?;
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
    let types_agree =
        f.edge_args(edge).zip(f.params(old)).all(|(arg, param)| f.operand_type(arg) == f.ty(param));
    if is_jump && types_agree && f.in_edges(old).nth(1).is_none() {
        f.merge_blocks(latch, old)?;
    }
    Ok(())
}

/// Whether what an edge passes is of the types of the parameters, not of more special ones: it may
/// not be accepted everywhere in their place.
fn types_agree(f: &Function, edge: Edge) -> bool {
    let params = f.params(f.edge_target(edge));
    f.edge_args(edge).zip(params).all(|(arg, param)| f.operand_type(arg) == f.ty(param))
}
