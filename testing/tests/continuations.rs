//! Calls at work go on in the rest of their function: what a program does is the same, errors and their places included.

use std::cell::Cell;
use std::rc::Rc;

use regraft_exec::{
    CallResolver, Engine, EngineKind, ErrorKind, ExecError, Host, Interpreter, Limits,
    ResolvedCall, Tiers, Trap, Val,
};
use regraft_ir::{Block, Context, Function, Module, Symbol, Value, render_all, verify_function};
use regraft_passes::transforms::util::continuation::continuation;
use regraft_testing::choices::Choices;
use regraft_testing::generate::{Config, ModuleCase};
use regraft_testing::{FloatMatch, Observation, arguments};

/// The functions of a module, and the number of rests that were made of them.
struct Rests {
    module: Module,
    made: Rc<Cell<u32>>,
}

impl CallResolver for Rests {
    fn resolve(&mut self, callee: &Val, _: &[Val], _: &mut Host) -> Result<ResolvedCall, Trap> {
        let ctx = self.module.ctx();
        let name = match callee {
            &Val::Func(name) => Some(name),
            other => ctx.struct_of(other.type_of(ctx)).and_then(|def| def.call),
        };
        let function = name.filter(|&name| self.module.find(name).is_some());
        let function = function.ok_or_else(|| Trap::new("MethodError", "it cannot be called"))?;
        let pass_callee = !matches!(callee, Val::Func(_));
        Ok(ResolvedCall { function, fixed: None, pass_callee, by_value: false })
    }

    fn function(
        &mut self,
        name: Symbol,
        _: Option<&mut Host>,
    ) -> Result<Option<Rc<Function>>, Trap> {
        let found = self.module.find(name).and_then(|id| self.module.get(id));
        Ok(found.map(|function| Rc::new(function.clone())))
    }

    fn may_continue(&mut self, _: Symbol) -> bool {
        true
    }

    fn continued(
        &mut self,
        _: Symbol,
        f: &Function,
        block: Block,
        live: &[Value],
    ) -> Option<Rc<Function>> {
        let rest = continuation(f, block, live);
        let loops_to_entry = || f.entry().is_some_and(|entry| f.has_predecessors(entry));
        assert!(rest.is_some() || loops_to_entry(), "{block} {live:?}\n{f}");
        let rest = rest?;
        if let Err(errors) = verify_function(&rest) {
            panic!("{}", render_all(&errors, false));
        }
        self.made.set(self.made.get() + 1);
        Some(Rc::new(rest))
    }
}

/// Runs a call: returns its values, its error and its output, or nothing if a limit ended it.
fn outcome(
    engine: &mut Interpreter,
    ctx: &Context,
    name: &str,
    args: &[Val],
) -> Option<(Observation, String, String)> {
    let result = engine.call(name, args);
    let output = engine.take_output();
    let (values, error) = match &result {
        Ok(value) => (Observation::of(ctx, [value].into_iter().chain(args)), String::new()),
        Err(error) if is_limit(error) => return None,
        Err(error) => (Observation::of(ctx, args), render_all(&[error.to_diagnostic()], false)),
    };
    Some((values, error, output))
}

/// Returns whether an error says nothing of the program: passes of a limit, and names that there are none of, of which one engine
/// knows more.
fn is_limit(error: &ExecError) -> bool {
    let kinds =
        [ErrorKind::Fuel, ErrorKind::Depth, ErrorKind::Memory, ErrorKind::Trap("OutOfMemoryError")];
    kinds.contains(error.kind())
}

#[test]
fn random_programs_do_the_same_in_rests_of_their_functions() {
    let made = Rc::new(Cell::new(0));
    let mut compared = 0;
    for seed in 0..400 {
        let ctx = regraft_dialects::context();
        let case = ModuleCase::from_seed(&ctx, &Config::default(), seed);
        let mut plain = Interpreter::new(&case.module);
        plain.set_engine(EngineKind::Interpreter).unwrap();
        let mut continued = Interpreter::new(&Module::new(&ctx));
        let rests = Rests { module: case.module.clone(), made: Rc::clone(&made) };
        continued.set_call_resolver(Box::new(rests));
        continued.set_tiers(Tiers::AtOnce);
        continued.set_engine(EngineKind::Auto).unwrap();
        for engine in [&mut plain, &mut continued] {
            engine.set_limits(Limits { fuel: Some(100_000), ..Limits::default() });
            engine.host_mut().set_clock(|| 0);
        }
        for entry in &case.entries {
            let args = || arguments(&ctx, &entry.params, &mut Choices::from_seed(seed)).unwrap();
            let (own, other) = (args(), args());
            let want = outcome(&mut plain, &ctx, &entry.name, &own);
            let have = outcome(&mut continued, &ctx, &entry.name, &other);
            let (Some(want), Some(have)) = (want, have) else { continue };
            assert!(want.0.matches(&have.0, FloatMatch::AnyNan), "seed {seed}, @{}", entry.name);
            assert_eq!((want.1, want.2), (have.1, have.2), "seed {seed}, @{}", entry.name);
            compared += 1;
        }
    }
    assert!(compared > 500 && made.get() > 300, "{compared} calls, {} rests", made.get());
}
