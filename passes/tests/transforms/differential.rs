//! Random programs do after each pass what they did before.
//!
//! The programs have loops, nested and irreducible, unreachable blocks, parameters of type `any`,
//! divisions that trap, and output. What they do is found by a small interpreter of the ops that
//! they are made of, which computes by folding constants.

use regraft_dialects::{arith, cf, core};
use regraft_ir::{
    Block, Constant, DominatorTree, Fold, Function, Inst, InstView, Module, OpDef, Operand,
    OperandKind, Traits, Type, Value,
};
use regraft_passes::transforms::{
    cse::Cse, dce::Dce, expand::Expand, fold, indvars::Indvars, loop_simplify::LoopSimplify,
    merge_returns::MergeReturns, prune::Prune, renumber::Renumber, sccp::Sccp,
    simplify_cfg::SimplifyCfg, strength_reduce::StrengthReduce,
};
use regraft_passes::{AllLoops, FunctionPass, Options, transforms};

use super::loop_form;

const PROGRAMS: u64 = 300;

/// A pass over a module.
type Apply = fn(&mut Module);

const PASSES: &[(&str, Apply)] = &[
    ("adce", apply::<transforms::adce::Adce>),
    ("dse", apply::<transforms::dse::Dse>),
    ("fold", apply::<fold::Fold>),
    ("dce", apply::<Dce>),
    ("cse", apply::<Cse>),
    ("strength-reduce", apply::<AllLoops<StrengthReduce>>),
    ("simplify-cfg", apply::<SimplifyCfg>),
    ("indvars", apply::<AllLoops<Indvars>>),
    ("hoist-common", apply::<transforms::hoist_common::HoistCommon>),
    ("loop-idiom", apply::<transforms::loop_idiom::LoopIdiom>),
    ("load-pre", apply::<transforms::load_pre::LoadPre>),
    ("loop-delete", apply::<AllLoops<transforms::loop_delete::LoopDelete>>),
    ("loop-rotate", apply::<AllLoops<transforms::loop_rotate::LoopRotate>>),
    ("loop-simplify", apply::<AllLoops<LoopSimplify>>),
    ("gvn", apply::<transforms::gvn::Gvn>),
    ("licm", apply::<AllLoops<transforms::licm::Licm>>),
    ("merge-returns", apply::<MergeReturns>),
    ("expand", apply::<Expand>),
    ("prune", apply::<Prune>),
    ("reassociate", apply::<transforms::reassociate::Reassociate>),
    ("renumber", apply::<Renumber>),
    ("sccp", apply::<Sccp>),
    ("simplify-cfg{plain}", |module| super::run_text("simplify-cfg{plain}", module)),
    ("loop-coalesce", |module| super::run_text("loop-coalesce", module)),
    ("loop-interchange", |module| super::run_text("loop-interchange", module)),
    ("tile{size=2}", |module| super::run_text("tile{size=2}", module)),
    ("unroll-and-jam{factor=2}", |module| super::run_text("unroll-and-jam{factor=2}", module)),
    ("loop-fuse", |module| super::run_text("loop-fuse", module)),
    ("fuse-sweeps", |module| super::run_text("fuse-sweeps", module)),
    ("strip-math", |module| super::run_text("strip-math{length=3, least=1, arithmetic}", module)),
    ("unroll", |module| super::run_text("unroll", module)),
    ("unroll{factor=3}", |module| super::run_text("unroll{factor=3, any-count}", module)),
];

/// The parts that passes are made with.
const PARTS: &[(&str, Apply)] = &[("close", loop_form::close), ("peel", loop_form::peel)];

fn apply<P: FunctionPass>(module: &mut Module) {
    super::apply::<P>(module, &Options::defaults(P::OPTIONS));
}

#[test]
fn each_pass_keeps_what_random_programs_do() {
    for seed in 0..PROGRAMS {
        let program = Generator::new(seed).program();
        let runs = Run::several(&program, FUEL);
        for &(name, apply) in PASSES.iter().chain(PARTS) {
            let mut module = program.clone();
            apply(&mut module);
            compare(&[name], seed, &runs, &program, &module);
        }
    }
}

#[test]
fn sequences_of_passes_keep_what_random_programs_do() {
    for seed in 0..PROGRAMS {
        let program = Generator::new(seed + 1_000_000).program();
        let runs = Run::several(&program, FUEL);
        let mut random = Random(seed + 1);
        let mut module = program.clone();
        let mut names = Vec::new();
        for _ in 0..6 {
            let (name, apply) = PASSES[random.below(PASSES.len())];
            names.push(name);
            apply(&mut module);
            compare(&names, seed, &runs, &program, &module);
        }
    }
}

#[test]
fn pruning_takes_back_what_expanding_did() {
    for seed in 0..PROGRAMS {
        let mut program = Generator::new(seed + 2_000_000).program();
        apply::<SimplifyCfg>(&mut program);
        apply::<Prune>(&mut program);
        let before = program.clone();
        apply::<Expand>(&mut program);
        apply::<Prune>(&mut program);
        for (&a, &b) in before.ids().iter().zip(program.ids()) {
            let (a, b) = (before.get(a).expect("live"), program.get(b).expect("live"));
            assert!(a.structural_eq(b), "seed {seed}:\n{a}\nbecomes\n{b}");
        }
    }
}

#[track_caller]
fn compare(passes: &[&str], seed: u64, runs: &[Run], before: &Module, after: &Module) {
    for (old, new) in runs.iter().zip(Run::several(after, 3 * FUEL)) {
        assert!(
            old.agrees_with(&new),
            "seed {seed}, {passes:?}: {old:?}\nbecomes {new:?}\n{before}\nbecomes\n{after}"
        );
    }
}

// --- running -----------------------------------------------------------------------------------

#[derive(Clone, PartialEq, Eq, Debug)]
enum Outcome {
    Returned(Constant),
    Trapped,
    /// Too many jumps.
    RunsOn,
}

#[derive(Debug)]
struct Run {
    printed: Vec<Constant>,
    outcome: Outcome,
}

/// After so many jumps a program counts as one that runs on. What passes made of it gets more, as
/// it may have more blocks.
const FUEL: usize = 60;

impl Run {
    fn several(module: &Module, fuel: usize) -> Vec<Self> {
        let f = module.get(module.ids()[0]).expect("live");
        let inputs = [[0, 0], [1, 2], [-3, 1], [i64::MIN, -1]];
        inputs.iter().map(|args| Self::of(f, args.map(Constant::I64), fuel)).collect()
    }

    fn of(f: &Function, args: [Constant; 2], fuel: usize) -> Self {
        let mut values: Vec<Option<Constant>> = vec![None; f.value_capacity()];
        let mut run = Self { printed: Vec::new(), outcome: Outcome::RunsOn };
        let mut block = f.entry().expect("there is an entry");
        let mut passed = args.to_vec();
        for _ in 0..fuel {
            let params: Vec<Value> = f.params(block).collect();
            assert_eq!(params.len(), passed.len());
            for (param, value) in params.into_iter().zip(passed) {
                values[param.index()] = Some(value);
            }
            for v in f.body(block) {
                match evaluate(f, v, &values) {
                    Some(_) if f.op(v) == Some(core::PRINT) => {
                        run.printed.push(read(f, f.operand(v, 0).unwrap(), &values));
                        values[v.index()] = Some(Constant::Unit);
                    }
                    Some(value) => values[v.index()] = Some(value),
                    None => {
                        run.outcome = Outcome::Trapped;
                        return run;
                    }
                }
            }
            let term = f.terminator(block).expect("blocks are ended");
            let first = f.operand(term, 0).filter(|o| !o.is_block());
            let value = first.map(|operand| read(f, operand, &values));
            let edges: Vec<_> = f.out_edges(block).collect();
            let edge = match f.op(term).unwrap() {
                cf::RETURN => {
                    run.outcome = Outcome::Returned(value.unwrap());
                    return run;
                }
                cf::BR => match value {
                    None => edges[0],
                    Some(Constant::Bool(condition)) => edges[usize::from(!condition)],
                    Some(_) => {
                        run.outcome = Outcome::Trapped;
                        return run;
                    }
                },
                _ => {
                    let cases = f.plain_operands(term).skip(1);
                    let case =
                        cases.map(|case| read(f, case, &values)).position(|c| Some(c) == value);
                    edges[case.map_or(0, |case| case + 1)]
                }
            };
            passed = f.edge_args(edge).map(|arg| read(f, arg, &values)).collect();
            block = f.edge_target(edge);
        }
        run
    }

    /// Returns whether a run of the rewritten program does the same, as far as both were watched.
    fn agrees_with(&self, new: &Self) -> bool {
        match (&self.outcome, &new.outcome) {
            // A pass may add a jump, or spare some.
            (Outcome::RunsOn, _) => new.printed.starts_with(&self.printed),
            (_, Outcome::RunsOn) => false,
            (old, new_outcome) => old == new_outcome && self.printed == new.printed,
        }
    }
}

#[track_caller]
fn read(f: &Function, operand: Operand, values: &[Option<Constant>]) -> Constant {
    match operand.kind() {
        OperandKind::Const(c) => f.ctx().constant(c),
        OperandKind::Value(v) => values[v.index()].unwrap_or_else(|| panic!("{v} is not set\n{f}")),
        OperandKind::Block(b) => panic!("{b} is no value"),
    }
}

/// The value of an instruction; `None` if it traps.
fn evaluate(f: &Function, v: Value, values: &[Option<Constant>]) -> Option<Constant> {
    let def: &'static OpDef = f.op_def(v).unwrap();
    let args: Vec<Constant> = f.operands(v).map(|o| read(f, o, values)).collect();
    if def.op == core::PRINT {
        return Some(Constant::Unit);
    }
    if def.op == core::SELECT {
        return match args[0] {
            Constant::Bool(condition) => Some(args[if condition { 1 } else { 2 }]),
            _ => None,
        };
    }
    let operands: Vec<Operand> = args.iter().map(|&c| f.constant_id(c).into()).collect();
    let types: Vec<Type> = operands.iter().map(|&o| f.operand_type(o)).collect();
    // What the signature refuses traps when the program runs.
    if def.traits.contains(Traits::COMMUTATIVE) || def.operands.len() == 2 {
        if types[0] != types[1] || (types[0] == Type::BOOL && !takes_bool(def)) {
            return None;
        }
        if types[0] == Type::F64 && !takes_float(def) {
            return None;
        }
    }
    let view = InstView {
        ctx: f.ctx(),
        def,
        operands: &operands,
        types: &types,
        attrs: f.attrs(v),
        ty: f.ty(v),
    };
    match def.fold.expect("the op computes")(&view)? {
        Fold::Constant(constant) => Some(constant),
        Fold::Operand(position) => Some(args[position]),
    }
}

fn takes_bool(def: &OpDef) -> bool {
    matches!(def.op, arith::AND | arith::XOR | arith::EQ | arith::LT)
}

fn takes_float(def: &OpDef) -> bool {
    matches!(def.op, arith::ADD | arith::SUB | arith::MUL | arith::EQ | arith::LT)
}

// --- making programs -----------------------------------------------------------------------------

struct Random(u64);

impl Random {
    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }
}

struct Generator {
    random: Random,
    f: Function,
    blocks: Vec<Block>,
}

impl Generator {
    fn new(seed: u64) -> Self {
        let ctx = regraft_dialects::context();
        let f = Function::new(&ctx, "random", &[Type::I64, Type::I64], Type::ANY);
        Self { random: Random(seed), blocks: f.blocks().collect(), f }
    }

    fn program(mut self) -> Module {
        let count = 1 + self.random.below(8);
        for _ in 1..count {
            let block = self.f.add_block();
            for _ in 0..self.random.below(4) {
                let ty = [Type::I64, Type::I64, Type::BOOL, Type::ANY][self.random.below(4)];
                self.f.append_param(block, ty).unwrap();
            }
            self.blocks.push(block);
        }
        // The edges come first, with constants as arguments, as they decide on what dominates.
        for block in self.blocks.clone() {
            let term = self.terminator();
            let filled = self.fill(term, Self::constant);
            self.f.set_terminator(block, filled).unwrap();
        }
        let tree = DominatorTree::compute(&self.f);
        let unreachable = self.blocks.iter().filter(|&&b| !tree.is_reachable(b));
        let order: Vec<Block> = tree.order().iter().chain(unreachable).copied().collect();
        for block in order {
            let mut seen: Vec<Value> = Vec::new();
            for &other in &self.blocks {
                let usable = tree.is_reachable(block) && tree.is_reachable(other);
                if other == block || usable && tree.strictly_dominates(other, block) {
                    seen.extend(self.f.params(other).chain(self.f.body(other)));
                }
            }
            seen.retain(|&v| self.f.ty(v) != Type::UNIT);
            for _ in 0..self.random.below(6) {
                let inst = self.instruction(&seen);
                let v = self.f.push(block, inst).unwrap();
                if self.f.ty(v) != Type::UNIT {
                    seen.push(v);
                }
            }
            self.finish(block, &seen);
        }
        let mut module = Module::new(self.f.ctx());
        module.add(self.f).unwrap();
        super::verify(&module);
        module
    }

    /// A terminator whose operands are holes but for the targets.
    fn terminator(&mut self) -> Inst {
        let n = self.blocks.len();
        let target = |this: &mut Self| this.blocks[this.random.below(n)];
        let choice = self.random.below(8);
        let edges = match choice {
            0 => 0,
            1..3 => 1,
            3..7 => 2,
            _ => 3,
        };
        let targets: Vec<Block> = (0..edges).map(|_| target(self)).collect();
        let one = self.f.constant_id(1i64);
        match *targets.as_slice() {
            [] => cf::ret(one),
            [a] => cf::jump(a),
            [a, b] => Inst::new(cf::BR).operand(one).operand(a).operand(b),
            _ => {
                let two = self.f.constant_id(2i64);
                Inst::new(cf::SWITCH).operands([one, one, two]).operands(targets)
            }
        }
    }

    /// Gives the edges of a terminator without arguments what `value` makes of the types.
    fn fill(&mut self, term: Inst, mut value: impl FnMut(&mut Self, Type) -> Operand) -> Inst {
        let mut operands: Vec<Operand> = Vec::new();
        for (i, &operand) in term.operand_list().iter().enumerate() {
            match operand.as_block() {
                Some(target) => {
                    operands.push(operand);
                    let types: Vec<Type> =
                        self.f.params(target).map(|param| self.f.ty(param)).collect();
                    for ty in types {
                        operands.push(value(self, ty));
                    }
                }
                None if i > 0 => operands.push(operand),
                None => {
                    let ty = match term.op() {
                        cf::BR => Type::BOOL,
                        cf::SWITCH => Type::I64,
                        _ => Type::ANY,
                    };
                    operands.push(value(self, ty));
                }
            }
        }
        Inst::new(term.op()).operands(operands)
    }

    /// The terminator of a block again, with values in the place of constants.
    fn finish(&mut self, block: Block, seen: &[Value]) {
        let term = Value::terminator(block);
        let mut bare = Inst::new(self.f.op(term).unwrap());
        bare = bare.operands(self.f.plain_operands(term));
        bare = bare.operands(self.f.successors(block));
        let filled = self.fill(bare, |this, ty| this.operand(ty, seen));
        self.f.set_terminator(block, filled).unwrap();
        let dynamic = seen.iter().find(|&&v| self.f.ty(v) == Type::ANY);
        if let Some(&v) = dynamic
            && self.f.op(term) == Some(cf::BR)
            && self.f.plain_operands(term).len() == 1
            && self.random.chance(8)
        {
            self.f.set_operand(term, 0, v).unwrap();
        }
    }

    fn constant(&mut self, ty: Type) -> Operand {
        let constant = match ty {
            Type::BOOL => Constant::Bool(self.random.chance(2)),
            Type::ANY if self.random.chance(3) => Constant::from(0.5),
            _ => Constant::I64([-1, 0, 0, 1, 1, 2, 7][self.random.below(7)]),
        };
        self.f.constant_id(constant).into()
    }

    fn operand(&mut self, ty: Type, seen: &[Value]) -> Operand {
        let fitting: Vec<Value> =
            seen.iter().copied().filter(|&v| self.f.ty(v).is_assignable_to(ty)).collect();
        if fitting.is_empty() || self.random.chance(6) {
            return self.constant(ty);
        }
        fitting[self.random.below(fitting.len())].into()
    }

    fn instruction(&mut self, seen: &[Value]) -> Inst {
        let dynamic = self.random.chance(4);
        let int = if dynamic { Type::ANY } else { Type::I64 };
        let choice = self.random.below(12);
        if choice == 0 {
            let x = self.operand(Type::ANY, seen);
            return core::print([x]);
        }
        if choice == 1 {
            let condition = self.operand(Type::BOOL, seen);
            let (x, y) = (self.operand(Type::I64, seen), self.operand(Type::I64, seen));
            return core::select(condition, x, y);
        }
        let (x, y) = loop {
            let (x, y) = (self.operand(int, seen), self.operand(int, seen));
            let (a, b) = (self.f.operand_type(x), self.f.operand_type(y));
            let plain = |ty: Type| ty == Type::I64 || ty == Type::ANY;
            if plain(a) && plain(b) {
                break (x, y);
            }
        };
        match choice {
            2 => arith::div(x, y),
            3 => arith::lt(x, y),
            4 => arith::eq(x, y),
            5 => arith::mul(x, y),
            6 => arith::sub(x, y),
            7 => arith::and(x, y),
            8 => arith::xor(x, y),
            _ => arith::add(x, y),
        }
    }
}
