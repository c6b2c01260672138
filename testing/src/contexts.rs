//! What a script does within a context is what it does without.
//!
//! A context sends every call through itself, so that all of a program is rewritten, inferred and
//! run in another way: one that does nothing, two of them around each other, one that counts, and one that
//! remembers what arithmetic gave. Values, output, errors and the state of arguments have to be the same.

use std::fmt::Write;
use std::sync::Arc;

use regraft_exec::Limits;
use regraft_ir::{Context, Diagnostic, render_all};
use regraft_lang::Session;

use crate::choices::Choices;
use crate::script::{Drawn, DynamicCase, ScriptCase};

/// The definitions of the contexts. Their names do not clash with those of generated programs.
const CONTEXTS: &str = "\
import Cassette
Cassette.@context ZNothing
Cassette.@context ZCount
Cassette.@context ZMemory
Cassette.prehook(c::ZCount, f, args...) = (c.metadata[] += 1; nothing)
Cassette.posthook(c::ZCount, out, f, args...) = (c.metadata[] += 1; nothing)
function Cassette.overdub(c::ZMemory, f::Core.IntrinsicFunction, args...)
    key = (f, map(typeof, args), args)
    value = f(args...)
    # What is remembered has a type that inference knows, on which the types of empty arrays depend.
    return get!(c.metadata, key, value)::typeof(value)
end
z_nothing(f, args...) = Cassette.overdub(ZNothing(), f, args...)
z_nested(f, args...) = Cassette.overdub(ZNothing(), Cassette.overdub, ZCount(metadata = Ref(0)), f, args...)
z_count(f, args...) = Cassette.overdub(ZCount(metadata = Ref(0)), f, args...)
z_memory(f, args...) = Cassette.overdub(ZMemory(metadata = Dict{Any, Any}()), f, args...)
z_plain(f, args...) = f(args...)
function z_observed(run, args)
    result = try
        string(\"value \", run(main, args...))
    catch error
        string(\"error \", sprint(showerror, error))
    end
    println(result, \" of \", args)
end
";

/// The functions that run another one in a context.
const RUNS: [&str; 4] = ["z_nothing", "z_nested", "z_count", "z_memory"];

/// The instructions that a run may execute.
const FUEL: u64 = 3_000_000;

/// A script with a call, and a context.
#[derive(Clone, Debug)]
pub(crate) struct ContextCase {
    script: Script,
    seed: u64,
}

#[derive(Clone, Debug)]
enum Script {
    /// Inference knows all types.
    Typed(ScriptCase),
    /// Types are known when it runs.
    Dynamic(DynamicCase),
}

impl ContextCase {
    /// The case of a seed.
    pub(crate) fn from_seed(seed: u64) -> Self {
        let mut choices = Choices::from_seed(seed);
        let script = match choices.chance(40) {
            true => Script::Dynamic(DynamicCase::from_seed(seed)),
            false => Script::Typed(ScriptCase::from_seed(seed)),
        };
        Self { script, seed }
    }

    /// The expression of the arguments.
    fn arguments(&self, choices: &mut Choices) -> String {
        let Script::Typed(script) = &self.script else { return "(0.7,)".to_owned() };
        let types = script.entry.split_once('(').map_or("", |(_, types)| types);
        let mut out = String::from("(");
        for ty in split_types(types.trim_end_matches(')')) {
            argument(&mut out, ty, choices);
            out.push(',');
        }
        out.push(')');
        out
    }

    /// Compares a run in a context with one without. Returns whether that says something: a run that exceeds a limit does not.
    ///
    /// # Errors
    /// The difference.
    pub(crate) fn compare(&self, ctx: &Arc<Context>) -> Result<bool, String> {
        let mut choices = Choices::from_seed(self.seed ^ 0x5bd1_e995);
        let run = RUNS[choices.below(RUNS.len())];
        let arguments = self.arguments(&mut choices);
        let observed = |run: &str| {
            let mut session = Session::new(ctx);
            session.set_limits(Limits { fuel: Some(FUEL), ..Limits::default() });
            let call = format!("z_observed({run}, {arguments})");
            for text in [self.text(), CONTEXTS, &call] {
                session.run("script.jl", text)?;
            }
            Ok(session.take_output())
        };
        let told = |result: Result<String, Vec<Diagnostic>>| {
            result.unwrap_or_else(|errors| render_all(&errors, false))
        };
        let (before, after) = (told(observed("z_plain")), told(observed(run)));
        if is_limit(&before) || is_limit(&after) {
            return Ok(false);
        }
        if before == after {
            return Ok(true);
        }
        let mut message = String::new();
        let _ = write!(
            message,
            "{run}(main, {arguments}...)\n--- plain\n{before}\n--- in a context\n{after}"
        );
        Err(message)
    }
}

impl Drawn for ContextCase {
    fn text(&self) -> &str {
        match &self.script {
            Script::Typed(script) => script.text(),
            Script::Dynamic(script) => script.text(),
        }
    }

    fn parts(&self) -> (&[u32], &[crate::choices::Span]) {
        match &self.script {
            Script::Typed(script) => script.parts(),
            Script::Dynamic(script) => script.parts(),
        }
    }

    fn again(&self, choices: &[u32]) -> Self {
        let script = match &self.script {
            Script::Typed(script) => Script::Typed(script.again(choices)),
            Script::Dynamic(script) => Script::Dynamic(script.again(choices)),
        };
        Self { script, seed: self.seed }
    }
}

/// Returns whether a run ended by a limit, which a context gets to sooner.
fn is_limit(text: &str) -> bool {
    ["fuel", "StackOverflowError", "OutOfMemoryError"].iter().any(|limit| text.contains(limit))
}

/// The types of a list, which may have parameters.
fn split_types(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    list.split(move |c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    })
    .map(str::trim)
    .filter(|ty| !ty.is_empty())
}

/// Writes an argument of a type.
fn argument(out: &mut String, ty: &str, choices: &mut Choices) {
    let int = |choices: &mut Choices| choices.below(9) as i64 - 3;
    let float = |choices: &mut Choices| (choices.below(33) as f64 - 12.0) / 8.0;
    let list = |values: Vec<String>| values.join(", ");
    let count = choices.below(4);
    let text = match ty {
        "Int64" => int(choices).to_string(),
        "Float64" => format!("{:?}", float(choices)),
        "Bool" => choices.chance(50).to_string(),
        "Vector{Int64}" => {
            format!("Int64[{}]", list((0..count).map(|_| int(choices).to_string()).collect()))
        }
        "Vector{Float64}" => {
            format!(
                "Float64[{}]",
                list((0..count).map(|_| format!("{:?}", float(choices))).collect())
            )
        }
        "Matrix{Float64}" => format!("[{:?} {:?}; 0.5 -1.0]", float(choices), float(choices)),
        "Tuple{Int64, Float64}" => format!("({}, {:?})", int(choices), float(choices)),
        "Tuple{Int64,Float64}" => format!("({}, {:?})", int(choices), float(choices)),
        other => format!("{other}({}, {:?})", int(choices), float(choices)),
    };
    out.push_str(&text);
}
