//! Makes a module smaller as long as what is wrong with it stays.
//!
//! ```text
//! func @main(%1: i64, %2: f64) -> f64 {         func @main() -> unit {
//! ^1:                                           ^1:
//!   %3: i64 = arith.mul %1, 3                     %1: i64 = arith.sub 1, 0
//!   %4: i64 = arith.sub %3, %1            ─>      print %1
//!   print %4                                      return nothing
//!   ..                                          }
//! ```
//!
//! # Method
//! Delta debugging (Zeller and Hildebrandt, TSE 2002) by edits that know the IR, as C-Reduce
//! does for C (Regehr et al., PLDI 2012): whole functions and what lies behind a branch go first,
//! then runs of instructions, single ones, parameters; then operands become constants and
//! constants smaller ones. Each edit is tried at all its places, from the last one on, and kept if
//! the module still verifies and still fails. This is repeated until nothing helps any more.
//!
//! # Cost
//! An attempt is a copy of the module and a run of what fails; there are at most so many as asked
//! for. Every step that is kept makes the module smaller, as `size` says, so that the search ends.

mod control;
mod functions;
mod size;
mod values;

use regraft_ir::{
    Block, Constant, Context, FuncId, Function, Module, Operand, Type, TypeKind, Value,
};

use crate::generate::{Entry, ModuleCase};
use crate::trial::{BrokenKind, Trial};
use size::{complexity, size};

/// The subject of a reduction: a module, and those of its functions that show what is wrong.
#[derive(Clone, Debug)]
pub struct Suspect {
    /// The module.
    pub module: Module,
    /// The functions that are run, and the types of their arguments.
    pub entries: Vec<Entry>,
}

impl Suspect {
    /// A module all of whose functions are run.
    pub fn of(module: &Module) -> Self {
        let entry = |f: &Function| Entry { name: f.name_str().to_owned(), params: f.param_types() };
        Self { module: module.clone(), entries: module.functions().map(entry).collect() }
    }
}

impl From<&ModuleCase> for Suspect {
    fn from(case: &ModuleCase) -> Self {
        Self { module: case.module.clone(), entries: case.entries.clone() }
    }
}

/// The smallest module found on which `trial` does something wrong that is like `kind`, and what
/// it does there.
pub fn reduce(
    trial: &Trial,
    suspect: Suspect,
    kind: BrokenKind,
    attempts: u32,
) -> (Suspect, BrokenKind) {
    reduce_while(trial, suspect, kind, attempts, |_, _| true)
}

/// The same, as long as `goes_on` says so, which before each attempt is shown the smallest module
/// so far and how many attempts are left.
pub fn reduce_while(
    trial: &Trial,
    suspect: Suspect,
    kind: BrokenKind,
    attempts: u32,
    goes_on: impl FnMut(&Suspect, u32) -> bool,
) -> (Suspect, BrokenKind) {
    let mut found = kind;
    let fails = |candidate: &Suspect| match trial.run(&candidate.module, &candidate.entries) {
        Err(kind) if kind.is_like(&found) => {
            found = kind;
            true
        }
        _ => false,
    };
    let small = search(suspect, attempts, fails, goes_on);
    (small, found)
}

/// The search itself: `fails` says of a candidate whether it is still wrong, and `goes_on` of the
/// smallest one so far whether to look for a smaller one.
pub fn search(
    suspect: Suspect,
    attempts: u32,
    mut fails: impl FnMut(&Suspect) -> bool,
    mut goes_on: impl FnMut(&Suspect, u32) -> bool,
) -> Suspect {
    let mut best = suspect;
    let mut best_size = size(&best);
    let mut left = attempts;
    loop {
        let mut improved = false;
        for kind in Kind::ALL {
            let mut at = sites(kind, &best).len();
            while at > 0 && left > 0 {
                at -= 1;
                let sites = sites(kind, &best);
                let Some(&site) = sites.get(at) else { continue };
                let mut candidate = best.clone();
                if apply(site, &mut candidate).is_none() {
                    continue;
                }
                let new_size = size(&candidate);
                if new_size >= best_size || regraft_ir::verify_module(&candidate.module).is_err() {
                    continue;
                }
                if !goes_on(&best, left) {
                    left = 0;
                    break;
                }
                left -= 1;
                if fails(&candidate) {
                    (best, best_size, improved) = (candidate, new_size, true);
                    // The same place again: what follows has moved there.
                    at = (at + 1).min(self::sites(kind, &best).len());
                }
            }
        }
        if !improved || left == 0 {
            break;
        }
    }
    tidy(best, fails)
}

/// New numbers, and only the structs that are used, if it fails even so.
fn tidy(suspect: Suspect, mut fails: impl FnMut(&Suspect) -> bool) -> Suspect {
    let mut tidied = suspect.clone();
    for (_, f) in tidied.module.functions_mut() {
        f.renumber();
    }
    let module = &tidied.module;
    if let Ok(smaller) = Module::of_functions(module.ctx(), module.functions().cloned())
        && smaller.structs().len() < module.structs().len()
    {
        tidied.module = smaller;
    }
    let valid = regraft_ir::verify_module(&tidied.module).is_ok();
    if valid && fails(&tidied) { tidied } else { suspect }
}

/// The kinds of edits, in the order in which they are tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Entry,
    Function,
    Cut,
    Edge,
    Thread,
    Run(usize),
    Operand,
    Lift,
    Forward,
    BlockParam,
    Merge,
    Skip,
    Param,
    Return,
    Constant,
    Name,
}

impl Kind {
    const ALL: [Self; 19] = [
        Self::Entry,
        Self::Function,
        Self::Cut,
        Self::Edge,
        Self::Thread,
        Self::Run(16),
        Self::Run(4),
        Self::Run(1),
        Self::Forward,
        Self::Lift,
        Self::BlockParam,
        Self::Merge,
        Self::Skip,
        Self::Param,
        Self::Return,
        Self::Run(2),
        Self::Operand,
        Self::Constant,
        Self::Name,
    ];
}

/// An edit at a place.
#[derive(Clone, Copy, Debug)]
enum Site {
    /// The function need not be run by itself.
    Entry(usize),
    /// The function goes; calls of it give zero.
    Function(FuncId),
    /// The block returns zero, or what it computed last, instead of going on.
    Cut(FuncId, Block, bool),
    /// The block always takes this edge.
    Edge(FuncId, Block, usize),
    /// The edge goes where its target goes on to by that edge, which ends a loop.
    Thread(FuncId, Block, usize, usize),
    /// So many instructions from this one on go; zero stands for what they give.
    Run(FuncId, Value, usize),
    /// The operand becomes a zero.
    Operand(FuncId, Value, usize),
    /// An operand of the instruction, or a parameter of the function, stands for its result.
    Forward(FuncId, Value, usize),
    /// The operand is what its own instruction takes at that place; the instruction goes.
    Lift(FuncId, Value, usize, usize),
    /// The parameter of a block goes.
    BlockParam(FuncId, Value, bool),
    /// The block becomes the end of the only one before it.
    Merge(FuncId, Block),
    /// Whoever goes to this empty block goes to the next one.
    Skip(FuncId, Block),
    /// The parameter of a function goes, in calls too.
    Param(FuncId, usize),
    /// The function returns nothing.
    Return(FuncId),
    /// The constant becomes a simpler one.
    Constant(FuncId, Value, usize, Simpler),
    /// The value loses its name.
    Name(FuncId, Value),
}

/// A way to make a constant simpler.
#[derive(Clone, Copy, Debug)]
enum Simpler {
    Zero,
    One,
    Half,
    Less,
}

fn sites(kind: Kind, suspect: &Suspect) -> Vec<Site> {
    let mut sites = Vec::new();
    if kind == Kind::Entry {
        return (0..suspect.entries.len()).map(Site::Entry).collect();
    }
    for &id in suspect.module.ids() {
        let Some(f) = suspect.module.get(id) else { continue };
        let operands = |found: &mut Vec<Site>, make: &dyn Fn(Value, usize) -> Vec<Site>| {
            for v in f.blocks().flat_map(|b| f.insts(b)) {
                for index in 0..f.operand_count(v) {
                    found.extend(make(v, index));
                }
            }
        };
        match kind {
            Kind::Entry => {}
            Kind::Function => sites.push(Site::Function(id)),
            Kind::Cut => {
                let both = |b| [Site::Cut(id, b, false), Site::Cut(id, b, true)];
                sites.extend(f.blocks().flat_map(both));
            }
            Kind::Edge => {
                for b in f.blocks() {
                    let count = f.out_edges(b).count();
                    sites.extend((0..count).filter(|_| count > 1).map(|k| Site::Edge(id, b, k)));
                }
            }
            Kind::Thread => {
                for b in f.blocks() {
                    for (k, edge) in f.out_edges(b).enumerate() {
                        let target = f.edge_target(edge);
                        if target == b || f.block_comes_before(target, b) {
                            let count = f.out_edges(target).count();
                            sites.extend((0..count).map(|j| Site::Thread(id, b, k, j)));
                        }
                    }
                }
            }
            Kind::Run(length) => {
                sites.extend(f.all_insts().map(|v| Site::Run(id, v, length)));
            }
            Kind::Operand => operands(&mut sites, &|v, i| {
                let is_value = f.operand(v, i).and_then(Operand::as_value).is_some();
                if is_value { vec![Site::Operand(id, v, i)] } else { Vec::new() }
            }),
            Kind::Lift => operands(&mut sites, &|v, i| {
                let by = f.operand(v, i).and_then(Operand::as_value).filter(|&by| !f.is_param(by));
                let count = by.map_or(0, |by| f.operand_count(by));
                (0..count).map(|k| Site::Lift(id, v, i, k)).collect()
            }),
            Kind::Forward => {
                let params = f.entry().map_or(0, |b| f.param_count(b));
                for v in f.all_insts() {
                    sites.extend((0..f.operand_count(v) + params).map(|i| Site::Forward(id, v, i)));
                }
            }
            Kind::BlockParam => {
                for b in f.blocks().skip(1) {
                    let both = |v| [Site::BlockParam(id, v, false), Site::BlockParam(id, v, true)];
                    sites.extend(f.params(b).flat_map(both));
                }
            }
            Kind::Merge => sites.extend(f.blocks().skip(1).map(|b| Site::Merge(id, b))),
            Kind::Skip => sites.extend(f.blocks().skip(1).map(|b| Site::Skip(id, b))),
            Kind::Param => {
                let count = f.entry().map_or(0, |b| f.param_count(b));
                sites.extend((0..count).map(|i| Site::Param(id, i)));
            }
            Kind::Return => sites.push(Site::Return(id)),
            Kind::Constant => operands(&mut sites, &|v, i| {
                if f.operand(v, i).and_then(Operand::as_const).is_none() {
                    return Vec::new();
                }
                [Simpler::Less, Simpler::Half, Simpler::One, Simpler::Zero]
                    .map(|how| Site::Constant(id, v, i, how))
                    .to_vec()
            }),
            Kind::Name => {
                let values = f.blocks().flat_map(|b| f.params(b).chain(f.body(b)));
                sites.extend(
                    values.filter(|&v| f.value_name(v).is_some()).map(|v| Site::Name(id, v)),
                );
            }
        }
    }
    sites
}

/// Makes the edit; `None` if it makes no sense there.
fn apply(site: Site, suspect: &mut Suspect) -> Option<()> {
    let module = &mut suspect.module;
    match site {
        Site::Entry(index) => {
            suspect.entries.remove(index);
            if suspect.entries.is_empty() { None } else { Some(()) }
        }
        Site::Function(id) => functions::remove(suspect, id),
        Site::Param(id, index) => functions::remove_param(suspect, id, index),
        Site::Return(id) => functions::return_nothing(module, id),
        Site::Cut(id, b, zero) => control::cut(module.get_mut(id)?, b, zero),
        Site::Edge(id, b, k) => control::take_edge(module.get_mut(id)?, b, k),
        Site::Thread(id, b, k, j) => control::thread(module.get_mut(id)?, b, k, j),
        Site::Merge(id, b) => control::merge(module.get_mut(id)?, b),
        Site::Skip(id, b) => control::skip(module.get_mut(id)?, b),
        Site::BlockParam(id, v, zero) => values::remove_block_param(module.get_mut(id)?, v, zero),
        Site::Run(id, v, length) => values::remove_run(module.get_mut(id)?, v, length),
        Site::Operand(id, v, i) => values::clear_operand(module.get_mut(id)?, v, i),
        Site::Lift(id, v, i, k) => values::lift(module.get_mut(id)?, v, i, k),
        Site::Forward(id, v, i) => values::forward(module.get_mut(id)?, v, i),
        Site::Constant(id, v, i, how) => values::simplify(module.get_mut(id)?, v, i, how),
        Site::Name(id, v) => module.get_mut(id)?.set_name_of(v, None).ok().map(drop),
    }
}

/// The simplest constant of a type.
fn zero(ctx: &Context, ty: Type) -> Option<Constant> {
    Some(match ty {
        Type::UNIT => Constant::Unit,
        Type::BOOL => Constant::Bool(false),
        Type::ANY => Constant::I64(0),
        Type::SYM => Constant::Sym(ctx.symbol("x")),
        Type::STR => Constant::Str(ctx.symbol("")),
        _ => match *ctx.kind(ty) {
            TypeKind::Fn(name) => Constant::Func(name),
            TypeKind::TypeOf(of) => Constant::Type(of),
            _ => Constant::int(ty, 0).or_else(|| Constant::float(ty, 0.0))?,
        },
    })
}

/// Makes a zero, or else a parameter of the function of that type, stand for a value.
fn replace_by_zero(f: &mut Function, v: Value) -> Option<()> {
    if !f.is_used(v) {
        return Some(());
    }
    let ty = f.ty(v);
    if let Some(zero) = zero(f.ctx(), ty) {
        let zero = f.constant_id(zero);
        return f.replace_all_uses(v, zero).ok();
    }
    let entry = f.entry()?;
    let same = f.params(entry).find(|&p| f.ty(p) == ty && p != v)?;
    f.replace_all_uses(v, same).ok()
}
