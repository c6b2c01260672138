//! Clocks, texts and code for the macros of the library.

use std::io::Write as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use regraft_exec::value::{Val, live_bytes};
use regraft_ir::Diagnostic;

use super::Session;
use super::entry::TypedCall;

impl Session {
    /// Returns the answer of the tool of that name; `None` if there is none.
    pub(super) fn tool(&mut self, name: &str, args: &[Val]) -> Option<Val> {
        Some(match (name, args) {
            ("time_ns", []) => Val::I64(self.interpreter.host_mut().now() as i64),
            ("time", []) => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                Val::F64(since.as_secs_f64())
            }
            ("sleep", &[Val::F64(seconds)]) => {
                std::thread::sleep(Duration::try_from_secs_f64(seconds).unwrap_or_default());
                Val::Unit
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
        let args = match types {
            Val::Tuple(fields) => fields.items().to_vec(),
            _ => Vec::new(),
        };
        let args = args.iter().filter_map(|ty| match ty {
            Val::Type(ty) => Some(*ty),
            _ => None,
        });
        let source = self.generated_source();
        let callee = callee.type_of(&self.ctx);
        let call = TypedCall { source, callee, args: args.collect() };
        Ok(Val::str(match what {
            "which" => self.which(&call)?,
            "code_lowered" => self.lowered_module(&call)?.to_string(),
            _ => self.typed_module(&call)?.to_string(),
        }))
    }
}
