//! Instructions that small functions execute after `O2`, beside those after LLVM's -O2.
//!
//! `bench/llvm` has sixty functions in the Julia subset and in Rust, five for each of twelve things that LLVM
//! does; `count.py` counts what LLVM executes and writes `counts.txt`, so that LLVM is needed only when the functions
//! change.
//!
//! # Counting
//! Both sides count instructions of their IR, not of a machine: a counter in each block adds what the block has.
//! Each instruction is 1, a call of an elementary function or of `mem.fill` too. Phis and block parameters,
//! computations of addresses, and jumps without a condition are 0. Rust's functions access arrays without checks
//! and ours within `@inbounds`, so that both sides do the same. LLVM does not vectorise, and does not unroll
//! in part, as neither do we.

use regraft_dialects::{arith, core, mem};
use regraft_exec::value::Array;
use regraft_exec::{Engine, Interpreter, Val};
use regraft_ir::{Block, Constant, Diagnostic, Function, Inst, IrResult, Module, Type, Value};
use regraft_lang::Session;
use regraft_passes::{PassRegistry, Pipeline, RunOptions, run_pipeline};

const FUNCTIONS: &str = include_str!("../llvm/functions.jl");
const CALLS: &str = include_str!("../llvm/calls.txt");
const COUNTS: &str = include_str!("../llvm/counts.txt");

/// The name of the global array of counters.
const EXECUTED: &str = "#executed";

/// A call, and what it executes.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The transformation by which LLVM gains on the function.
    pub kind: &'static str,
    /// The name of the function.
    pub name: &'static str,
    /// The instructions of ours.
    pub ours: u64,
    /// The instructions of LLVM's.
    pub llvm: u64,
    /// True if both compute the same.
    pub same: bool,
}

impl Compared {
    /// Ours, relative to LLVM's.
    pub fn ratio(&self) -> f64 {
        self.ours as f64 / self.llvm as f64
    }
}

/// Runs the calls whose function has `wanted` in its name, after `pipeline`.
///
/// # Errors
/// If a program or the pipeline is wrong.
pub fn compare(wanted: &str, pipeline: &str) -> Result<Vec<Compared>, Vec<Diagnostic>> {
    let pipeline = Pipeline::parse(&PassRegistry::standard(), pipeline)?;
    let mut session = Session::new(&regraft_dialects::context());
    session.run("functions.jl", FUNCTIONS)?;
    let mut found = Vec::new();
    for (kind, call) in CALLS.lines().filter_map(|line| line.split_once(": ")) {
        let Some((name, args)) = call.trim_end_matches(')').split_once('(') else { continue };
        if kind.starts_with('#') || !name.contains(wanted) {
            continue;
        }
        let counted = COUNTS.lines().find(|line| line.split(' ').next() == Some(name));
        let counted: Vec<&str> = counted.unwrap_or_default().split(' ').collect();
        let [_, llvm, result, total] = *counted else { continue };
        let args = session.run("arguments", &format!("({args},)"))?;
        let args = args.as_fields().unwrap_or_default().to_vec();
        let mut module = session.typed(call)?;
        run_pipeline(&mut module, &pipeline, &RunOptions::default().threads(1))
            .map_err(|failure| failure.diagnostics().to_vec())?;
        let (value, ours) = run(&mut module, &args).map_err(|error| vec![error])?;
        let value = match value {
            Val::Unit => "nothing".to_owned(),
            other => session.show(&other),
        };
        let same = same(&value, result) && same(&elements(&args).to_string(), total);
        found.push(Compared { kind, name, ours, llvm: llvm.parse().unwrap_or(0), same });
    }
    Ok(found)
}

/// Returns whether two results are the same text, or the same number up to what elementary functions of
/// different libraries differ by.
fn same(ours: &str, theirs: &str) -> bool {
    match (ours.parse::<f64>(), theirs.parse::<f64>()) {
        (Ok(x), Ok(y)) => (x - y).abs() <= 1e-13 * y.abs(),
        _ => ours == theirs,
    }
}

/// The sum of the elements of all arrays.
fn elements(args: &[Val]) -> f64 {
    let arrays = args.iter().filter_map(Val::as_array);
    let sum = |array: &Array| {
        let values = (0..array.len()).filter_map(|i| array.get(i));
        values.fold(0.0, |sum, x| sum + x.as_f64().or(x.as_i64().map(|x| x as f64)).unwrap_or(0.0))
    };
    arrays.fold(0.0, |total, array| total + sum(array))
}

/// Runs the first function of a module. Returns its value and the instructions that were executed.
fn run(module: &mut Module, args: &[Val]) -> Result<(Val, u64), Diagnostic> {
    let mut costs = Vec::new();
    for id in module.ids().to_vec() {
        if let Some(f) = module.get_mut(id) {
            add_counters(f, &mut costs)?;
        }
    }
    let counters = Val::from(Array::vector(&vec![0_i64; costs.len()]));
    let name = module.functions().next().map(|f| f.name_str().to_owned()).unwrap_or_default();
    let mut engine = Interpreter::new(module);
    engine.host_mut().set_global(module.ctx().symbol(EXECUTED), counters.clone());
    let value = engine.call(&name, args).map_err(|error| error.to_diagnostic())?;
    let runs = counters.as_array().and_then(Array::to_vec::<i64>).unwrap_or_default();
    Ok((value, runs.iter().zip(&costs).map(|(&runs, &cost)| runs as u64 * cost).sum()))
}

/// Adds a counter to each block, and the cost of the block to `costs`.
fn add_counters(f: &mut Function, costs: &mut Vec<u64>) -> IrResult<()> {
    let ty = f.ctx().array_type(Type::I64, 1);
    let name = f.constant_id(Constant::Sym(f.ctx().symbol(EXECUTED)));
    let blocks: Vec<Block> = f.blocks().collect();
    for block in blocks {
        costs.push(cost(f, block));
        let start = f.first_inst(block).unwrap_or(Value::terminator(block));
        let (at, one) = (f.constant_id(costs.len() as i64), f.constant_id(1_i64));
        let counters = f.insert(start, Inst::new(core::GLOBAL).operand(name).with_type(ty))?;
        let before = f.insert(start, mem::load(counters, [at]))?;
        let after = f.insert(start, arith::add(before, one))?;
        f.insert(start, mem::store(counters, after, [at]))?;
    }
    Ok(())
}

/// The instructions of a block, and its terminator if that decides something.
fn cost(f: &Function, block: Block) -> u64 {
    let jumps = f.out_edges(block).count() == 1;
    f.body(block).count() as u64 + u64::from(!jumps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_compute_the_same() {
        let found = compare("", "O2").expect("the functions are right");
        assert_eq!(found.len(), 60);
        for call in &found {
            assert!(call.same, "{} computes something else", call.name);
            assert!(call.llvm > 0 && call.ours > 0, "{} is not counted", call.name);
        }
    }
}
