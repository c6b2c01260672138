//! Induction variables and trip counts agree with what happens when loops run.
//!
//! A pass counts the iterations of each loop, computes every polynomial from these counters
//! beside the value that it stands for, and stops the program where the two differ. Where
//! an exit of a loop is taken, it compares the counter with the trip count, and where it is not,
//! it checks that this is so. Then programs have to do the same with the pass as without.

use regraft_dialects::arith;
use regraft_exec::Limits;
use regraft_ir::{Block, Edge, Function, IrResult, Module, Operand, Type, Value, verify_module};
use regraft_passes::analysis::poly::Sym;
use regraft_passes::analysis::trip_count::{Holds, LatchRuns};
use regraft_passes::analysis::{InductionVariables, LoopForest, LoopId, Poly, TripCounts};
use regraft_passes::transforms::util::materialize::materialize;
use regraft_passes::{
    FunctionPass, PassContext, PassRegistry, PassResult, Pipeline, RunOptions, run_pass,
    run_pipeline,
};
use regraft_syntax::parse_module;
use regraft_testing::choices::Choices;
use regraft_testing::generate::Config;
use regraft_testing::{Agreement, CompareConfig, Tester, compare_functions};

/// Checks evolutions and trip counts when the program runs.
#[derive(Default)]
struct SelfCheck;

impl FunctionPass for SelfCheck {
    const NAME: &'static str = "self-check";

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let ivs = cx.analysis::<InductionVariables>(f);
        let counts = cx.analysis::<TripCounts>(f);
        let forest = ivs.forest();
        let mut claims: Vec<(Value, Value, Poly)> = Vec::new();
        for &block in regraft_ir::DominatorTree::compute(f).order() {
            let start = f.first_inst(block).unwrap_or(Value::terminator(block));
            claims.extend(f.params(block).filter_map(|v| claim(f, &ivs, v, v, start)));
            for v in f.insts(block) {
                if !v.is_terminator() {
                    let next = f.next_inst(v).unwrap_or(Value::terminator(block));
                    claims.extend(claim(f, &ivs, v, v, next));
                }
                // What comes out of other loops may be something else here.
                for used in f.operands(v).filter_map(Operand::as_value) {
                    if forest.loop_of(f.block_of(used)) != forest.loop_of(block) {
                        claims.extend(claim(f, &ivs, used, v, v));
                    }
                }
            }
        }
        let exits: Vec<(LoopId, Edge, LatchRuns)> = forest
            .loops()
            .flat_map(|l| counts.exits(l).iter().map(move |(e, runs)| (l, *e, runs.clone())))
            .collect();
        let counters = Counters::add(f, forest)?;
        for (v, at, poly) in claims {
            if !poly.symbols().all(|s| counters.has(s)) {
                continue;
            }
            cx.count("values checked");
            let expected = materialize(f, &poly, at, &mut |l| counters.of(l))?;
            let same = f.insert(at, arith::eq(v, expected))?;
            require(f, at, same.into())?;
        }
        for (l, exit, runs) in exits {
            if counters.has(Sym::Iteration(l)) {
                let before = forest.get(l).preheader.unwrap_or(exit.from);
                check_exit(f, &counters, l, exit, before, &runs)?;
                cx.count("exits checked");
            }
        }
        Ok(())
    }
}

/// The claim about `v` where it is used by `user`, to be checked before `at`.
fn claim(
    f: &Function,
    ivs: &InductionVariables,
    v: Value,
    user: Value,
    at: Value,
) -> Option<(Value, Value, Poly)> {
    if !f.ty(v).is_int() {
        return None;
    }
    let poly = ivs.evolution_at(f, v, f.block_of(user));
    (poly.as_symbol() != Some(Sym::Value(v))).then_some((v, at, poly))
}

/// A counter for each loop whose header is not the entry.
struct Counters(Vec<Option<Value>>);

impl Counters {
    fn add(f: &mut Function, forest: &LoopForest) -> IrResult<Self> {
        let mut counters = Vec::new();
        for l in forest.loops() {
            let header = forest.get(l).header;
            if f.entry() == Some(header) {
                counters.push(None);
                continue;
            }
            let (zero, one) = (f.constant_id(0i64), f.constant_id(1i64));
            let counter = f.add_param(header, Type::I64, |_| Some(zero))?;
            let back: Vec<Edge> =
                f.in_edges(header).filter(|e| forest.contains(l, e.from)).collect();
            for edge in back {
                let next = f.push(edge.from, arith::add(counter, one))?;
                let last = edge.position as usize + f.param_count(header);
                f.set_operand(Value::terminator(edge.from), last, next)?;
            }
            counters.push(Some(counter));
        }
        Ok(Self(counters))
    }

    fn has(&self, symbol: Sym) -> bool {
        match symbol {
            Sym::Iteration(l) => self.0[l.index()].is_some(),
            Sym::Value(_) => true,
        }
    }

    fn of(&self, l: LoopId) -> Operand {
        self.0[l.index()].expect("it was checked").into()
    }
}

/// Stops with a `DivideError` before `at` if a condition is false.
fn require(f: &mut Function, at: Value, condition: Operand) -> IrResult<()> {
    let divisor = f.insert(at, arith::zext(condition, Type::I64))?;
    let one = f.constant_id(1i64);
    f.insert(at, arith::div(one, divisor))?;
    Ok(())
}

/// `a` or else `b`, of operands of type bool.
fn either(f: &mut Function, at: Value, a: Operand, b: Operand) -> IrResult<Operand> {
    Ok(f.insert(at, arith::or(a, b))?.into())
}

fn not(f: &mut Function, at: Value, a: Operand) -> IrResult<Operand> {
    Ok(f.insert(at, arith::not(a))?.into())
}

/// Checks the counter against the trip count, which is computed at the end of the block `before`,
/// where an exiting branch runs.
fn check_exit(
    f: &mut Function,
    counters: &Counters,
    l: LoopId,
    exit: Edge,
    before: Block,
    runs: &LatchRuns,
) -> IrResult<()> {
    let (at, counter) = (Value::terminator(exit.from), counters.of(l));
    let condition = f.operand(at, 0).expect("a branch has a condition");
    let is_first = f.out_edges(exit.from).next() == Some(exit);
    let leaves = if is_first { condition } else { not(f, at, condition)? };
    let stays = not(f, at, leaves)?;
    let (count, holds) = match runs {
        LatchRuns::Unknown => return Ok(()),
        LatchRuns::Never => return require(f, at, stays),
        LatchRuns::Constant(n) => (f.constant_id(*n as i64).into(), Holds::Always),
        LatchRuns::Symbolic(count) => {
            let narrow =
                count.materialize(f, Value::terminator(before), &mut |l| counters.of(l))?;
            let wide = if count.ty() == Type::I64 {
                narrow
            } else {
                f.insert(at, arith::zext(narrow, Type::I64))?.into()
            };
            (wide, count.holds.clone())
        }
    };
    let same: Operand = f.insert(at, arith::eq(counter, count))?.into();
    let other = not(f, at, same)?;
    // It leaves in just that iteration ...
    let mut right = either(f, at, same, stays)?;
    let mut wrong = either(f, at, other, leaves)?;
    // ... and is never beyond: a counter is small, and a count is an unsigned number.
    let zero = f.constant_id(0i64);
    let before: Operand = f.insert(at, arith::le(counter, count))?.into();
    let huge: Operand = f.insert(at, arith::lt(count, zero))?.into();
    let mut in_time = either(f, at, before, huge)?;
    if let Holds::If(condition) = &holds {
        let holds = condition.materialize(f, at, &mut |l| counters.of(l))?;
        let fails = not(f, at, holds)?;
        for claim in [&mut right, &mut wrong, &mut in_time] {
            *claim = either(f, at, *claim, fails)?;
        }
    }
    require(f, at, right)?;
    if holds != Holds::IfTaken {
        require(f, at, wrong)?;
        require(f, at, in_time)?;
    }
    Ok(())
}

fn tester() -> Tester {
    Tester::new().with_passes(|passes| passes.add::<SelfCheck>())
}

#[test]
fn generated_programs_agree_with_what_is_said_of_them() {
    let preserved = tester().cases(600).seed(40_000).preserves("self-check");
    assert!(preserved.changed > 250, "{preserved:?}");
}

#[test]
fn generated_programs_on_numbers_agree_with_what_is_said_of_them() {
    let config = Config { max_statements: 25, ..Config::scalar() };
    let preserved =
        tester().generate(config).cases(400).seed(50_000).preserves("self-check, fold, dce");
    assert!(preserved.changed > 150, "{preserved:?}");
}

/// Nests of loops that count in all ways: up and down, by all steps, with all comparisons, tested
/// in the header or in the latch, before or after the step, with ends near the ends of the type.
/// A second exit ends each after some rounds at the latest.
struct Nest<'a> {
    choices: &'a mut Choices,
    ty: &'static str,
    bits: u32,
    text: String,
    next_value: u32,
    next_block: u32,
    /// Values of the type that may be used.
    known: Vec<String>,
}

impl Nest<'_> {
    fn value(&mut self) -> String {
        self.next_value += 1;
        format!("%v{}", self.next_value)
    }

    fn block(&mut self) -> String {
        self.next_block += 1;
        format!("^{}", self.next_block)
    }

    fn constant(&mut self) -> String {
        let (least, greatest) = (i64::MIN >> (64 - self.bits), i64::MAX >> (64 - self.bits));
        let near = self.choices.below(9) as i64 - 4;
        let x = match self.choices.below(6) {
            0 => least + near.abs(),
            1 => greatest - near.abs(),
            2 => 10 * near,
            _ => near,
        };
        self.literal(x)
    }

    fn literal(&self, x: i64) -> String {
        if self.bits == 64 { x.to_string() } else { format!("{x}{}", self.ty) }
    }

    fn operand(&mut self) -> String {
        if self.choices.chance(50) {
            return self.constant();
        }
        let nth = self.choices.below(self.known.len());
        self.known[nth].clone()
    }

    fn push(&mut self, inst: &str) -> String {
        let v = self.value();
        self.text += &format!("  {v}: {} = {inst}\n", self.ty);
        v
    }

    /// A value computed from what is known.
    fn derived(&mut self) {
        let (x, y) = (self.operand(), self.operand());
        let op = self.choices.pick(&["add", "sub", "mul", "mul", "add", "max", "xor"]);
        let v = match self.choices.below(9) {
            0 => self.push(&format!("arith.shl {x}, 3")),
            1 => self.push(&format!("arith.neg {x}")),
            2 => self.push(&format!("arith.not {x}")),
            _ => self.push(&format!("arith.{op} {x}, {y}")),
        };
        self.known.push(v);
    }

    /// A loop of at most `rounds` rounds; goes on in a new block.
    fn counted(&mut self, depth: u32, rounds: u32) {
        let [header, body, latch, exit] = [(); 4].map(|()| self.block());
        let (i, k, s) = (self.value(), self.value(), self.value());
        let (base, sum) = (self.operand(), self.operand());
        let ty = self.ty;
        self.text += &format!("  br {header}({base}, 0, {sum})\n");
        self.text += &format!("{header}({i}: {ty}, {k}: i64, {s}: {ty}):\n");
        let outside = self.known.len();
        // An exit that depends on nothing else, so that all programs end.
        let over = self.value();
        self.text += &format!("  {over}: bool = arith.ge {k}, {rounds}\n");
        self.text += &format!("  br {over}, {exit}, {body}\n{body}:\n");
        let bound = self.operand();
        self.known.push(i.clone());
        let step = match self.choices.below(8) {
            0 => self.constant(),
            1 => self.literal(-1),
            2 => self.literal(-2),
            3 => self.literal(3),
            4 => self.literal(4),
            _ => self.literal(1),
        };
        let minus = self.choices.chance(20);
        let late = self.choices.chance(50);
        let next = |this: &mut Self| {
            this.push(&format!("arith.{} {i}, {step}", if minus { "sub" } else { "add" }))
        };
        let early = self.choices.chance(50).then(|| next(self));
        let tested = match &early {
            Some(early) if self.choices.chance(60) => early.clone(),
            _ if self.choices.chance(20) => self.push(&format!("arith.mul {i}, {step}")),
            _ => i.clone(),
        };
        let op = self.choices.pick(&["lt", "le", "gt", "ge", "eq", "ne"]);
        let (x, y) = if self.choices.chance(50) { (&tested, &bound) } else { (&bound, &tested) };
        let mut test = format!("arith.{op} {x}, {y}");
        if self.choices.chance(20) {
            let inner = self.value();
            self.text += &format!("  {inner}: bool = {test}\n");
            test = format!("arith.not {inner}");
        }
        let c = self.value();
        let stays = self.choices.chance(50);
        let (then, other) = if stays { (&latch, &exit) } else { (&exit, &latch) };
        let branch = format!("  {c}: bool = {test}\n  br {c}, {then}, {other}\n{latch}:\n");
        if !late {
            self.text += &branch;
        }
        for _ in 0..self.choices.below(4) {
            self.derived();
        }
        if depth > 1 && self.choices.chance(70) {
            self.counted(depth - 1, 5);
            for _ in 0..self.choices.below(3) {
                self.derived();
            }
        }
        let x = self.operand();
        let t = self.push(&format!("arith.add {s}, {x}"));
        if late {
            self.text += &branch;
        }
        let next = early.unwrap_or_else(|| next(self));
        let k2 = self.value();
        self.text += &format!("  {k2}: i64 = arith.add {k}, 1\n");
        self.text += &format!("  br {header}({next}, {k2}, {t})\n{exit}:\n");
        // What was computed in the body is not known where the loop ended in the header.
        self.known.truncate(outside);
        self.known.extend([i, s]);
    }

    fn module(choices: &mut Choices) -> String {
        let (ty, bits) = choices.pick(&[("i8", 8), ("i64", 64), ("i16", 16), ("i32", 32)]);
        let known = ["%a", "%b", "%c"].map(str::to_owned).to_vec();
        let text = format!("func @f(%a: {ty}, %b: {ty}, %c: {ty}) -> {ty} {{\n^1:\n");
        let mut nest = Nest { choices, ty, bits, text, next_value: 0, next_block: 1, known };
        nest.derived();
        let rounds = nest.choices.pick(&[300, 20, 7]);
        nest.counted(if rounds == 300 { 1 } else { 3 }, rounds);
        nest.derived();
        let last = nest.known.last().cloned().expect("there are parameters");
        nest.text + &format!("  return {last}\n}}\n")
    }
}

/// A generated module, and its text.
fn nest(seed: u64) -> (Module, String) {
    let text = Nest::module(&mut Choices::from_seed(seed));
    let ctx = regraft_dialects::context();
    let module = parse_module(&ctx, "nest.ir", &text)
        .unwrap_or_else(|errors| panic!("{}\n{text}", errors[0].render(false)));
    verify(&module);
    (module, text)
}

fn verify(module: &Module) {
    if let Err(errors) = verify_module(module) {
        panic!("{}\n{module}", errors[0].render(false));
    }
}

fn same(before: &Module, after: &Module, seed: u64) -> Agreement {
    let config = CompareConfig {
        inputs: 6,
        seed,
        limits: Limits { fuel: Some(200_000), ..CompareConfig::default().limits },
        ..CompareConfig::default()
    };
    match compare_functions(before, after, "f", &config) {
        Ok(agreement) => agreement,
        Err(difference) => panic!("seed {seed}: {difference}\n{before}"),
    }
}

#[test]
fn loops_that_count_in_all_ways_agree_with_what_is_said_of_them() {
    let (mut runs, mut exits, mut values) = (Agreement::default(), 0, 0);
    for seed in 0..1_500 {
        let (before, text) = nest(seed);
        let mut after = before.clone();
        let f = after.get_mut(after.ids()[0]).expect("it is there");
        let counts = run_pass::<SelfCheck>(f).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
        exits += counts.get("exits checked").copied().unwrap_or(0);
        values += counts.get("values checked").copied().unwrap_or(0);
        verify(&after);
        runs.add(same(&before, &after, seed));
    }
    assert!(runs.returned > 8_000 && runs.inconclusive < 100, "{runs:?}");
    assert!(exits > 3_000 && values > 10_000, "{exits} exits, {values} values");
}

#[test]
fn passes_over_induction_variables_keep_what_loops_do() {
    for pipeline in [
        "indvars",
        "loop(loop-simplify, indvars)",
        "indvars{multiply=false}",
        "strength-reduce",
        "indvars, strength-reduce{max-params=1}, indvars{final-values=false}",
    ] {
        let registry = PassRegistry::standard();
        let passes = Pipeline::parse(&registry, pipeline)
            .unwrap_or_else(|errors| panic!("{}", errors[0].render(false)));
        let (mut runs, mut changed) = (Agreement::default(), 0);
        for seed in 0..600 {
            let (before, text) = nest(seed);
            let mut after = before.clone();
            if let Err(failure) = run_pipeline(&mut after, &passes, &RunOptions::default()) {
                panic!("{}\n{text}", failure.diagnostics()[0].render(false));
            }
            changed += u32::from(!before.structural_eq(&after));
            runs.add(same(&before, &after, seed));
        }
        assert!(runs.returned > 3_000 && changed > 30, "{pipeline}: {runs:?}, {changed}");
        tester().cases(300).seed(60_000).preserves(pipeline);
    }
}
