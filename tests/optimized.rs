//! Programs in `examples/jl` after the pipeline `O2`: facts that have to hold, and goldens that show,
//! pass by pass, how it comes to that.

use std::collections::BTreeSet;

use regraft::dialects::{context, mem};
use regraft::ir::{Constant, Function, Module, Value};
use regraft::lang::Session;
use regraft::passes::analysis::{Analyses, InductionVariables, LoopForest, LoopId};
use regraft::passes::{
    O2, PassRegistry, Pipeline, PrintAfter, PrintWhat, RunOptions, run_pipeline,
};
use regraft::testing::assert_ir_snapshot;

/// A call of a program in `examples/jl`, and what `O2` makes of it.
struct Optimized {
    typed: String,
    /// The changes that each pass made.
    passes: String,
    module: Module,
}

impl Optimized {
    fn new(file: &str, call: &str) -> Self {
        let path = format!("{}/examples/jl/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let mut session = Session::new(&context());
        session.run(file, &text).unwrap_or_else(|errors| panic!("{errors:?}"));
        let mut module = session.typed(call).unwrap_or_else(|errors| panic!("{errors:?}"));
        let typed = module.to_string();
        let pipeline = Pipeline::parse(&PassRegistry::standard(), O2.name).unwrap();
        let options = RunOptions::default().threads(1).observe(PrintAfter::new(PrintWhat::Diff));
        let report = run_pipeline(&mut module, &pipeline, &options).unwrap();
        assert_eq!(
            session
                .optimized(call, None)
                .unwrap_or_else(|errors| panic!("{errors:?}"))
                .functions()
                .next()
                .unwrap()
                .to_string(),
            module.functions().next().unwrap().to_string(),
            "`--stage optimized` is O2"
        );
        Self { typed, passes: report.text, module }
    }

    /// The function that is called.
    fn function(&self) -> &Function {
        self.module.functions().next().unwrap()
    }

    /// The program before, what each pass did to it, and the program after.
    fn story(&self) -> String {
        let Self { typed, passes, .. } = self;
        format!("{typed}\n{passes}\n# the whole\n{}", self.function())
    }
}

/// The accesses to arrays in a loop that check their indices.
fn checked_accesses(f: &Function, forest: &LoopForest, l: LoopId) -> Vec<Value> {
    let insts = forest.blocks(l).iter().flat_map(|&block| f.insts(block));
    let is_promised = |v| f.attr(v, "inbounds") == Some(Constant::Bool(true));
    let is_access = |v| matches!(f.op(v), Some(mem::LOAD | mem::STORE));
    insts.filter(|&v| is_access(v) && !is_promised(v)).collect()
}

/// The names of the ops in a loop, terminators left out.
fn ops_within(f: &Function, forest: &LoopForest, l: LoopId) -> BTreeSet<String> {
    let insts = forest.blocks(l).iter().flat_map(|&block| f.body(block));
    insts.filter_map(|v| f.op_def(v)).map(|def| def.mnemonic().to_owned()).collect()
}

/// A single loop that checks no index, whose only induction variable is a counter.
#[track_caller]
fn is_one_tight_loop(f: &Function, params: usize, ops: &[&str]) {
    let mut analyses = Analyses::default();
    let forest = analyses.get::<LoopForest>(f);
    assert_eq!(forest.len(), 1, "one loop:\n{f}");
    let l = forest.loops().next().unwrap();
    assert_eq!(checked_accesses(f, &forest, l), [], "no bounds check:\n{f}");
    let induction = analyses.get::<InductionVariables>(f);
    assert_eq!(induction.basic(l).len(), 1, "one induction variable:\n{f}");
    assert_eq!(f.params(forest.get(l).header).count(), params, "nothing else is carried:\n{f}");
    let wanted: BTreeSet<String> = ops.iter().map(|&op| op.to_owned()).collect();
    assert_eq!(ops_within(f, &forest, l), wanted, "what varies is all that is inside:\n{f}");
}

#[test]
fn adding_to_a_vector_is_one_tight_loop() {
    let optimized = Optimized::new("foo_bang.jl", "foo!([1.0], [2.0])");
    let ops = ["arith.add", "arith.ge", "mem.load", "mem.store"];
    is_one_tight_loop(optimized.function(), 1, &ops);
    assert_ir_snapshot!(optimized.story());
}

#[test]
fn a_sum_is_one_tight_loop() {
    let optimized = Optimized::new("sum.jl", "_sum(identity, [1.0])");
    is_one_tight_loop(optimized.function(), 2, &["arith.add", "arith.lt", "mem.load"]);
    assert_ir_snapshot!(optimized.story());
}

#[test]
fn an_inner_sum_that_is_always_the_same_leaves_the_loops_around_it() {
    let optimized = Optimized::new("kron_sum.jl", "kron_sum_nested([1.0 2.0], [3.0 4.0])");
    let f = optimized.function();
    let forest = Analyses::default().get::<LoopForest>(f);
    let depths: Vec<u32> = forest.loops().map(|l| forest.get(l).depth).collect();
    assert_eq!(depths, [1, 2, 1, 2], "two nests of two loops, one after the other:\n{f}");
    for l in forest.loops() {
        assert_eq!(checked_accesses(f, &forest, l), [], "no bounds check:\n{f}");
    }
    assert_ir_snapshot!(optimized.story());
}

#[test]
fn a_field_whose_name_is_known_is_a_projection() {
    let optimized = Optimized::new("getfield.jl", "field_f((f = 5.0, a = 4))");
    assert!(!optimized.function().to_string().contains("getfield"));
    assert_ir_snapshot!(optimized.story());
}

#[test]
fn names_that_a_loop_goes_through_are_projections() {
    let optimized = Optimized::new("getfield.jl", "sum_fields((f = 5.0, g = 4.0))");
    let f = optimized.function();
    assert!(!f.to_string().contains("getfield"), "{f}");
    assert_eq!(f.block_count(), 1, "{f}");
    assert_ir_snapshot!(optimized.story());
}

/// Arguments by name, default values and the rest leave nothing behind where names are known.
#[test]
fn arguments_by_name_cost_nothing() {
    let program = "f(x; a = 2.0, b = a) = x * a + b\n\
                   g(x; kw...) = f(x; kw..., b = 1.0)\n\
                   plain(x) = x * 3.0 + 1.0\n\
                   named(x) = g(x; a = 3.0)";
    let mut session = Session::new(&context());
    session.run("named.jl", program).unwrap();
    let mut code = |call: &str| {
        let module = session.optimized(call, None).unwrap();
        assert_eq!(module.functions().count(), 1, "{module}");
        let f = module.functions().next().unwrap();
        f.all_insts().map(|v| f.op_def(v).unwrap().mnemonic()).collect::<Vec<_>>()
    };
    let (plain, named) = (code("plain(1.0)"), code("named(1.0)"));
    assert_eq!(named, plain);
    assert_eq!(plain.len(), 3, "{plain:?}");
}
