//! Objects that nobody else sees become the values that they hold: what `mem2reg` and `sroa` share.
//!
//! # Method
//! An object qualifies if every use is a read or write of a cell that is known: then nothing
//! else has it (the objects of a function that escape are those that are passed, stored or
//! returned). For each cell, the blocks where different contents meet are the iterated dominance
//! frontier of the blocks that write it (R. Cytron et al., "Efficiently Computing Static Single
//! Assignment Form and the Control Dependence Graph", TOPLAS 1991); those get a parameter from
//! which a read is reached: the pruned SSA form of J.-D. Choi, R. Cytron and J. Ferrante,
//! "Automatic Construction of Sparse Data Flow Evaluation Graphs" (POPL 1991), with the parameters
//! that M. Braun et al., "Simple and Efficient Construction of Static Single Assignment Form" (CC
//! 2013) call trivial left out before they are made. All of it is found before anything is
//! changed, and no block is looked at that neither accesses the cell nor leads to a parameter of it.
//! A copy of an array of known dimensions begins with what is loaded from the array there.
//!
//! # Why it is right
//! What a read finds is what was written last on the way to it, or what the object was made with.
//! Reads and writes that trap, such as those of fields that are not there, disqualify an object,
//! so that no error goes; reads of cells that may be undefined do as well.

mod copies;
mod frontier;
mod objects;
mod reaching;

use regraft_ir::{
    Block, ControlFlow, DominatorTree, Function, IrResult, Operand, Symbol, Type, Value,
};
use rustc_hash::FxHashMap;

use crate::Analyses;
use crate::transforms::util::add_params::add_params;
use crate::transforms::util::edit::{delete_unreachable, replace_or_widen};
use frontier::Joins;
use objects::{Access, Object};
pub(crate) use objects::{Kinds, are_accesses, array_dims};
use reaching::{Holds, Reaching};

/// Objects that hold others become values only after those that hold them; deeper ones than this
/// wait for another run.
const MAX_ROUNDS: usize = 8;

/// The numbers of objects and parameters.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Promoted {
    /// Objects that are values now.
    pub objects: usize,
    /// Parameters that were made.
    pub parameters: usize,
}

/// Turns objects into values. O((size + parameters made and what is passed for them) × log edges).
pub(crate) fn run(f: &mut Function, kinds: Kinds, analyses: &mut Analyses) -> IrResult<Promoted> {
    let mut done = Promoted::default();
    for _ in 0..MAX_ROUNDS {
        let cfg = analyses.get::<ControlFlow>(f);
        let mut objects = find(f, &cfg, kinds, analyses);
        if objects.is_empty() {
            break;
        }
        delete_unreachable(f, analyses)?;
        let cfg = analyses.get::<ControlFlow>(f);
        let tree = analyses.get::<DominatorTree>(f);
        copies::load(f, &mut objects)?;
        match promote(f, &cfg, &tree, &objects)? {
            Some(parameters) => done.parameters += parameters,
            None => break,
        }
        done.objects += objects.len();
    }
    Ok(done)
}

fn find(f: &Function, cfg: &ControlFlow, kinds: Kinds, analyses: &mut Analyses) -> Vec<Object> {
    let blocks = f.blocks().filter(|&block| cfg.is_reachable(block));
    let mut dims = |v| copies::dimensions(f, &analyses.get::<DominatorTree>(f), v);
    let all = blocks.flat_map(|block| f.body(block));
    all.filter_map(|v| Object::of(f, cfg, v, kinds, &mut dims)).collect()
}

/// Turns these objects into values; `None` if a terminator would get too many operands.
fn promote(
    f: &mut Function,
    cfg: &ControlFlow,
    tree: &DominatorTree,
    objects: &[Object],
) -> IrResult<Option<usize>> {
    let graph = Joins::new(f, tree);
    let mut reaching = Reaching::default();
    // For each join the object and the cell that it is for.
    let mut owners: Vec<(usize, usize)> = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        let mut by_cell: Vec<Vec<Access>> = vec![Vec::new(); object.cells.len()];
        object.accesses.iter().for_each(|&access| by_cell[access.cell].push(access));
        for (i, (&cell, accesses)) in object.cells.iter().zip(by_cell).enumerate() {
            reaching.add(f, cfg, &graph, object.alloc, cell, accesses);
            owners.resize(reaching.joins.len(), (number, i));
        }
    }
    let needed: Vec<usize> =
        (0..reaching.joins.len()).filter(|&join| reaching.is_needed(join)).collect();
    let Some(params) = make_parameters(f, &mut reaching, &needed)? else { return Ok(None) };
    let names: Vec<Option<Symbol>> = objects.iter().map(|o| f.value_symbol(o.alloc)).collect();
    for &join in &needed {
        let (number, cell) = owners[join];
        if let (Some(of), Some(param)) = (names[number], params[join]) {
            f.set_name_of(objects[number].alloc, None)?;
            name(f, of, &objects[number], cell, param)?;
        }
    }
    replace_reads(f, cfg, &mut reaching, &params)?;
    for object in objects {
        for &(v, constant) in &object.known {
            // Two objects that are compared both know it.
            if f.is_live(v) {
                let constant = f.constant_id(constant);
                replace_or_widen(f, v, constant.into(), v)?;
                f.delete(v)?;
            }
        }
        for access in object.accesses.iter().filter(|access| access.written.is_some()) {
            let unit = f.constant_id(regraft_ir::Constant::Unit);
            replace_or_widen(f, access.inst, unit.into(), access.inst)?;
            f.delete(access.inst)?;
        }
    }
    for object in objects {
        f.delete(object.alloc)?;
    }
    Ok(Some(needed.len()))
}

/// Makes the parameters, and lets the edges pass what is known by then: reads are still there.
/// Returns them by join.
fn make_parameters(
    f: &mut Function,
    reaching: &mut Reaching,
    needed: &[usize],
) -> IrResult<Option<Vec<Option<Value>>>> {
    let wanted: Vec<(Block, Type)> =
        needed.iter().map(|&join| (reaching.joins[join].block, reaching.joins[join].ty)).collect();
    let mut place = vec![usize::MAX; reaching.joins.len()];
    for (i, &join) in needed.iter().enumerate() {
        place[join] = i;
        for k in 0..reaching.joins[join].args.len() {
            let holds = reaching.joins[join].args[k].1;
            reaching.joins[join].args[k].1 = reaching.resolve(holds);
        }
    }
    let made = add_params(f, &wanted, |params, i, pred, _| {
        let args = &reaching.joins[needed[i]].args;
        match args.binary_search_by_key(&pred, |&(pred, _)| pred).map(|k| args[k].1) {
            Ok(Holds::Value(operand)) => operand,
            Ok(Holds::Join(join)) => params[place[join as usize]].into(),
            Err(_) => unreachable!("an argument comes from each predecessor"),
        }
    })?;
    let Some(made) = made else { return Ok(None) };
    let mut params = vec![None; reaching.joins.len()];
    for (&join, param) in needed.iter().zip(made) {
        params[join] = Some(param);
    }
    Ok(Some(params))
}

fn operand(reaching: &mut Reaching, params: &[Option<Value>], holds: Holds) -> Operand {
    match reaching.resolve(holds) {
        Holds::Value(operand) => operand,
        Holds::Join(join) => params[join as usize].expect("a join that stands gets one").into(),
    }
}

/// Lets what each read finds stand for it. What was written can be the result of another read,
/// which comes before.
fn replace_reads(
    f: &mut Function,
    cfg: &ControlFlow,
    reaching: &mut Reaching,
    params: &[Option<Value>],
) -> IrResult<()> {
    let mut reads = std::mem::take(&mut reaching.reads);
    let place = |f: &Function, v: Value| cfg.rpo_index(f.block_of(v));
    reads.sort_unstable_by(|&(a, _), &(b, _)| {
        place(f, a).cmp(&place(f, b)).then_with(|| f.comes_before(b, a).cmp(&f.comes_before(a, b)))
    });
    let mut stands_for: FxHashMap<Value, Operand> = FxHashMap::default();
    for (read, holds) in reads {
        let mut found = operand(reaching, params, holds);
        if let Some(&other) = found.as_value().and_then(|v| stands_for.get(&v)) {
            found = other;
        }
        let ty = f.ty(read);
        let found = match f.operand_type(found) == ty {
            true => found,
            // A user may rely on not knowing what it is; see `edit`.
            false => f.insert(read, regraft_dialects::core::convert(found, ty))?.into(),
        };
        f.replace_named(read, found)?;
        f.delete(read)?;
        stands_for.insert(read, found);
    }
    Ok(())
}

/// Names a parameter after the object and the cell that it is for.
fn name(f: &mut Function, of: Symbol, object: &Object, cell: usize, param: Value) -> IrResult<()> {
    let ctx = f.ctx().clone();
    let field: Option<Symbol> = object.cells[cell].name;
    let symbol = match field {
        None if object.cells.len() == 1 => of,
        None => ctx.symbol(&format!("{}.{}", ctx.str(of), cell + 1)),
        Some(field) => ctx.symbol(&format!("{}.{}", ctx.str(of), ctx.str(field))),
    };
    f.name_after(param, symbol)
}
