//! Passes and programs for the tests of the manager.

use std::sync::Arc;

use regraft_dialects::{arith, mem};
use regraft_ir::{Block, Cursor, Diagnostic, Function, Module, OperandKind, Value, verify_module};
use regraft_passes::{
    Analyses, Analysis, Facets, FunctionPass, ModulePass, OptionDef, Options, PassContext,
    PassRegistry, PassResult, Pipeline,
};

/// A module of IR text, which has to be valid.
pub fn module(text: &str) -> Module {
    let ctx = regraft_dialects::context();
    let module = regraft_syntax::parse_module(&ctx, "test.ir", text)
        .unwrap_or_else(|errors| panic!("{}", regraft_ir::render_all(&errors, false)));
    verify_module(&module)
        .unwrap_or_else(|errors| panic!("{}", regraft_ir::render_all(&errors, false)));
    module
}

/// `count` functions `@f0`, `@f1`, .., each with a loop, of different lengths.
pub fn many_functions(count: usize) -> Module {
    let mut text = String::new();
    for i in 0..count {
        text.push_str(&format!(
            "func @f{i}(%1: i64) -> i64 {{
^1:
  br ^2(%1, 0)
^2(%2: i64, %3: i64):
  %4: bool = arith.lt 0, %2
  br %4, ^3, ^4
^3:
  %5: i64 = arith.sub %2, 1
  %6: i64 = arith.mul %3, 2
"
        ));
        for k in 0..i % 7 {
            text.push_str(&format!("  %{}: i64 = arith.mul %6, 2\n", 7 + k));
        }
        text.push_str("  br ^2(%5, %6)\n^4:\n  return %3\n}\n");
    }
    module(&text)
}

/// The passes of this file and the standard ones.
pub fn registry() -> PassRegistry {
    let mut passes = PassRegistry::standard();
    passes.add::<MulToAdd>();
    passes.add::<CountDown>();
    passes.add::<Liar>();
    passes.add::<Panics>();
    passes.add::<Fails>();
    passes.add::<Breaks>();
    passes.add::<Asks>();
    passes.add::<Retype>();
    passes.add_module::<AddFunction>();
    passes.add_module::<Keep>();
    passes
}

/// A pipeline that has to be right.
pub fn pipeline(text: &str) -> Pipeline {
    Pipeline::parse(&registry(), text)
        .unwrap_or_else(|errors| panic!("{}", regraft_ir::render_all(&errors, false)))
}

/// Replaces `x * 2` by `x + x`: the example of the guide.
#[derive(Default)]
pub struct MulToAdd;

impl FunctionPass for MulToAdd {
    const NAME: &'static str = "mul-to-add";

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let mut at = Cursor::new(f);
        while let Some(v) = at.next() {
            if let Some([x, k]) = at.matches(v, arith::MUL)
                && at.const_i64(k) == Some(2)
            {
                let sum = at.insert(arith::add(x, x));
                at.replace_with(v, sum);
                cx.count("rewritten");
            }
        }
        Ok(())
    }
}

/// Makes the first `sub x, n` of a positive `n` one of `n - 1`: takes `n` runs to settle.
#[derive(Default)]
pub struct CountDown;

impl FunctionPass for CountDown {
    const NAME: &'static str = "count-down";

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        cx.count("runs");
        let found = f.all_insts().find_map(|v| {
            let [x, n] = f.matches(v, arith::SUB)?;
            Some((v, x, f.const_i64(n).filter(|&n| n > 0)?))
        });
        if let Some((v, x, n)) = found {
            let smaller = f.constant_id(n - 1);
            f.replace(v, arith::sub(x, smaller))?;
        }
        Ok(())
    }
}

/// Says that it rewrote something, and did nothing.
#[derive(Default)]
pub struct Liar;

impl FunctionPass for Liar {
    const NAME: &'static str = "liar";

    fn run(&mut self, _: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        cx.add("rewritten", 1_000_000);
        Ok(())
    }
}

/// Wrecks the function, and then panics.
#[derive(Default)]
pub struct Panics {
    at: String,
}

impl FunctionPass for Panics {
    const NAME: &'static str = "panics";
    const OPTIONS: &'static [OptionDef] =
        &[OptionDef::text("at", "", "the only function that it panics at")];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        options.text("at").clone_into(&mut self.at);
        Ok(())
    }

    fn run(&mut self, f: &mut Function, _: &mut PassContext<'_>) -> PassResult {
        if !self.at.is_empty() && f.name_str() != self.at {
            return Ok(());
        }
        let entry = f.entry().expect("functions have an entry");
        f.remove_terminator(entry)?;
        panic!("cannot go on with {}", f.name_str());
    }
}

/// Returns an error.
#[derive(Default)]
pub struct Fails;

impl FunctionPass for Fails {
    const NAME: &'static str = "fails";

    fn run(&mut self, f: &mut Function, _: &mut PassContext<'_>) -> PassResult {
        let entry = f.entry().expect("functions have an entry");
        f.remove_terminator(entry)?;
        Err(Diagnostic::error("`arith.mul` is not supported"))
    }
}

/// Moves the last instruction of a block before what it uses.
#[derive(Default)]
pub struct Breaks {
    at: String,
}

impl FunctionPass for Breaks {
    const NAME: &'static str = "breaks";
    const OPTIONS: &'static [OptionDef] =
        &[OptionDef::text("at", "", "the only function that it breaks")];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        options.text("at").clone_into(&mut self.at);
        Ok(())
    }

    fn run(&mut self, f: &mut Function, _: &mut PassContext<'_>) -> PassResult {
        if !self.at.is_empty() && f.name_str() != self.at {
            return Ok(());
        }
        let bad = f.all_insts().find_map(|v| {
            let uses = |operand: regraft_ir::Operand| match operand.kind() {
                OperandKind::Value(used) if !f.is_param(used) && !v.is_terminator() => {
                    (f.block_of(used) == f.block_of(v)).then_some(used)
                }
                _ => None,
            };
            f.operands(v).find_map(uses).map(|used| (v, used))
        });
        if let Some((v, used)) = bad {
            f.move_before(v, used)?;
        }
        Ok(())
    }
}

/// The number of instructions.
#[derive(Debug)]
pub struct InstCount(pub usize);

impl Analysis for InstCount {
    const NAME: &'static str = "instruction count";
    const FACETS: Facets = Facets::INSTS;

    fn compute(f: &Function, _: &mut Analyses) -> Self {
        Self(f.inst_count())
    }
}

/// The number of blocks, by way of another analysis that reads instructions.
#[derive(Debug)]
pub struct Density(pub usize);

impl Analysis for Density {
    const NAME: &'static str = "instructions per block";
    const FACETS: Facets = Facets::CFG;

    fn compute(f: &Function, analyses: &mut Analyses) -> Self {
        Self(analyses.get::<InstCount>(f).0 / f.block_count())
    }
}

/// Asks for an analysis and checks that it is right.
#[derive(Default)]
pub struct Asks;

impl FunctionPass for Asks {
    const NAME: &'static str = "asks";

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let first: Arc<InstCount> = cx.analysis(f);
        assert_eq!(first.0, f.inst_count());
        cx.count("asked");
        Ok(())
    }
}

/// Adds a parameter to the function, which a function pass must not.
#[derive(Default)]
pub struct Retype;

impl FunctionPass for Retype {
    const NAME: &'static str = "retype";

    fn run(&mut self, f: &mut Function, _: &mut PassContext<'_>) -> PassResult {
        let entry: Block = f.entry().expect("functions have an entry");
        let _: Value = f.append_param(entry, regraft_ir::Type::F64)?;
        Ok(())
    }
}

/// Adds a function `@extra`, the first time.
#[derive(Default)]
pub struct AddFunction;

impl ModulePass for AddFunction {
    const NAME: &'static str = "add-function";

    fn run(&mut self, module: &mut Module, cx: &mut PassContext<'_>) -> PassResult {
        if module.function("extra").is_some() {
            return Ok(());
        }
        let first = module.ids().first().and_then(|&id| module.get(id)).cloned();
        if let Some(mut extra) = first {
            extra.set_name(module.ctx().symbol("extra"));
            module.add(extra)?;
            cx.count("added");
        }
        Ok(())
    }
}

/// Lets `@g` keep its first argument in its second one.
#[derive(Default)]
pub struct Keep;

impl ModulePass for Keep {
    const NAME: &'static str = "keep";

    fn run(&mut self, module: &mut Module, cx: &mut PassContext<'_>) -> PassResult {
        if let Some(g) = module.function_mut("g")
            && let Some(entry) = g.entry()
            && let (Some(object), Some(place)) = (g.param(entry, 0), g.param(entry, 1))
        {
            g.push(entry, mem::ref_set(place, object))?;
            cx.count("kept");
        }
        Ok(())
    }
}
