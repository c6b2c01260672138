//! Clocks, texts and code for the macros of the library.

use std::io::Write as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use regraft_exec::value::{Val, live_bytes};
use regraft_ir::{Diagnostic, Type};

use super::Session;
use super::entry::TypedCall;
use crate::code::lowered_value;
use crate::world::Dispatch;

impl Session {
    /// Returns the answer of the tool of that name; `None` if there is none.
    pub(super) fn tool(&mut self, name: &str, args: &[Val]) -> Option<Val> {
        Some(match (name, args) {
            ("time_ns", []) => Val::I64(self.interpreter.host_mut().now() as i64),
            ("nthreads", []) => Val::I64(self.shared.threads.get() as i64),
            ("time", []) => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                Val::F64(since.as_secs_f64())
            }
            ("sleep", &[Val::F64(seconds)]) => {
                std::thread::sleep(Duration::try_from_secs_f64(seconds).unwrap_or_default());
                Val::Unit
            }
            ("display", [value]) => {
                let without_end = i32::MAX as usize;
                Val::str(self.display(value, without_end, without_end))
            }
            ("live_bytes", []) => Val::I64(live_bytes() as i64),
            ("stderr", [Val::Str(text)]) => {
                // A message that nobody can be told is lost.
                let _ = std::io::stderr().write_all(text.as_str().as_bytes());
                Val::Unit
            }
            _ => return None,
        })
    }

    /// Returns the text of the method that a call runs, or of its code.
    pub(super) fn look_at(
        &mut self,
        what: &str,
        callee: &Val,
        types: &Val,
    ) -> Result<Val, Vec<Diagnostic>> {
        let call = self.call_of_types(callee.type_of(&self.ctx), types);
        Ok(Val::str(match what {
            "which" => self.which(&call)?,
            "code_lowered" => self.lowered_module(&call)?.to_string(),
            _ => self.typed_module(&call)?.to_string(),
        }))
    }

    /// The lowered code of the method that a call runs, as a value; `nothing` if it has none.
    pub(super) fn lowered_code(
        &mut self,
        callee: Type,
        types: &Val,
    ) -> Result<Val, Vec<Diagnostic>> {
        if self.compiler.borrow().world.is_builtin(callee) {
            return Ok(Val::Unit);
        }
        let call = self.call_of_types(callee, types);
        let by = self.shared.generating.get();
        let found = self.compiler.borrow_mut().world.dispatch(call.callee, &call.args, by);
        let Dispatch::Method(found) = found else { return Ok(Val::Unit) };
        let body = self.ask(|compiler| compiler.world.body(&found, call.callee, &call.args, None));
        let code = body?;
        let types = self.code_types();
        let world = &mut self.compiler.borrow_mut().world;
        Ok(lowered_value(world, types, &found, &code))
    }

    /// A call with arguments of the types in a tuple.
    fn call_of_types(&self, callee: Type, types: &Val) -> TypedCall {
        let args = match types {
            Val::Tuple(fields) => fields.items(),
            _ => &[],
        };
        let args = args.iter().filter_map(|ty| match ty {
            Val::Type(ty) => Some(*ty),
            _ => None,
        });
        TypedCall { source: self.generated_source(), callee, args: args.collect() }
    }
}
