//! Functions of a session that were changed, run in its world.

use regraft_exec::{Engine, EngineKind, Val, native_engines};
use regraft_lang::Session;
use regraft_syntax::parse_module;

/// A function of the session that was changed keeps its name: native code is made of the changed one, not of
/// what the session knows under that name.
#[test]
fn every_engine_runs_what_was_changed() {
    for engine in std::iter::once(EngineKind::Interpreter).chain(native_engines()) {
        let ctx = regraft_dialects::context();
        let mut session = Session::new(&ctx);
        session.set_engine(engine).unwrap();
        let text =
            "function f(n)\n    s = 0\n    for i in 1:n\n        s += i\n    end\n    s\nend\nf(4)";
        assert_eq!(session.run("f.jl", text).unwrap().as_i64(), Some(10), "{engine:?}");
        let changed = "\
func @\"f(Int64)\"(%n: i64) -> i64 {
^1:
  br ^2(0, 1)
^2(%i: i64, %p: i64):
  %more: bool = arith.lt %i, %n
  br %more, ^3, ^4
^3:
  %j: i64 = arith.add %i, 1
  %q: i64 = arith.mul %p, 3
  br ^2(%j, %q)
^4:
  return %p
}
";
        let module = parse_module(&ctx, "changed.ir", changed).unwrap();
        let powers = session.with_interpreter(&module, |interpreter| {
            interpreter.call("f(Int64)", &[Val::I64(4)]).unwrap()
        });
        assert_eq!(powers.as_i64(), Some(81), "{engine:?}");
        assert_eq!(session.run("f.jl", "f(4)").unwrap().as_i64(), Some(10), "{engine:?}");
    }
}
