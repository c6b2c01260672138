//! Random scripts in the Julia subset.
//!
//! ```julia
//! function f1(a1::Int64, a2::Vector{Float64})
//!     x1 = a1 * 3
//!     for i2 in eachindex(a2)
//!         x1 += i2 > 2 ? 1 : x1 % 7
//!         a2[i2] = sin(a2[i2]) + x1
//!     end
//!     println("x1 = ", x1)
//!     (x1, sum(a2))
//! end
//! ```
//!
//! Every variable has one type, so that inference finds all of them and the typed module is whole
//! by itself; expressions are drawn by type. Loops have few rounds whatever the arguments are, and
//! recursion is three deep. As with modules, the same choices give the same script, and simpler
//! choices a simpler one.

mod data;
mod dynamic;
mod expression;
mod few;
mod statement;

use std::fmt::Write;
use std::sync::Arc;

use regraft_dialects::core;
use regraft_ir::{Context, Function, Module};
use regraft_lang::{Entry, Session};

use crate::choices::{Choices, Span};

pub use dynamic::DynamicCase;

/// A generated script of some kind.
pub(crate) trait Drawn: Clone {
    /// Its text.
    fn text(&self) -> &str;

    /// The choices that it was made from, and what belongs together.
    fn parts(&self) -> (&[u32], &[Span]);

    /// The script of the same kind that other choices stand for.
    #[must_use]
    fn again(&self, choices: &[u32]) -> Self;
}

impl Drawn for ScriptCase {
    fn text(&self) -> &str {
        &self.text
    }

    fn parts(&self) -> (&[u32], &[Span]) {
        (&self.choices, &self.spans)
    }

    fn again(&self, choices: &[u32]) -> Self {
        Self::generate(Choices::replay(choices.to_vec()), self.smooth)
    }
}

impl Drawn for DynamicCase {
    fn text(&self) -> &str {
        &self.text
    }

    fn parts(&self) -> (&[u32], &[Span]) {
        (&self.choices, &self.spans)
    }

    fn again(&self, choices: &[u32]) -> Self {
        Self::replay(choices)
    }
}

/// A generated script.
#[derive(Clone, Debug)]
pub struct ScriptCase {
    /// Its text: definitions alone.
    pub text: String,
    /// The entry with the types of its arguments: `main(Int64, Vector{Float64})`.
    pub entry: String,
    /// The choices that it was made from: [`ScriptCase::again`] makes it again.
    pub choices: Vec<u32>,
    pub(crate) spans: Vec<Span>,
    /// True if it is one that has a derivative.
    smooth: bool,
}

impl ScriptCase {
    /// The script of a seed.
    pub fn from_seed(seed: u64) -> Self {
        Self::generate(Choices::from_seed(seed), false)
    }

    /// The script of a seed that has derivatives: of floats above all, where functions are smooth.
    pub fn smooth_from_seed(seed: u64) -> Self {
        Self::generate(Choices::from_seed(seed), true)
    }

    /// The script of the same kind that other choices stand for; any sequence stands for one.
    #[must_use]
    pub fn again(&self, choices: &[u32]) -> Self {
        Self::generate(Choices::replay(choices.to_vec()), self.smooth)
    }

    /// The script that these choices stand for; any sequence stands for one.
    pub fn replay(choices: &[u32]) -> Self {
        Self::generate(Choices::replay(choices.to_vec()), false)
    }

    fn generate(choices: Choices, smooth: bool) -> Self {
        let mut writer = Writer::new(choices, smooth);
        let entry = writer.script();
        let (choices, spans) = writer.c.into_parts();
        Self { text: writer.out, entry, choices, spans, smooth }
    }

    /// The typed module of the entry, in a fresh world; its entry is the first function. `None` if
    /// the functions of the script have calls that are dispatched when they run, which a module
    /// alone cannot do. (The library has such calls where it makes the messages of errors: these
    /// end a run as the error would have.)
    ///
    /// # Errors
    /// If the script is refused, which is a mistake of the generator, or of the language.
    pub fn typed(&self, ctx: &Arc<Context>) -> Result<Option<Module>, Vec<regraft_ir::Diagnostic>> {
        let mut session = Session::new(ctx);
        session.run("script.jl", &self.text)?;
        let module = session.typed(Entry::Types(&self.entry))?;
        let is_dynamic = |f: &Function| {
            f.all_insts().any(|v| {
                matches!(
                    f.op(v),
                    Some(
                        core::APPLY | core::SPLAT | core::GLOBAL | core::SET_GLOBAL | core::CLOSURE
                    )
                )
            })
        };
        // The last one finds the type of the elements of a comprehension when it runs.
        let is_own = |f: &Function| {
            let name = f.name_str().split('(').next().unwrap_or_default();
            ["main", "f1", "f2", "f3", "#narrow"].contains(&name)
        };
        let dynamic = module.functions().any(|f| is_own(f) && is_dynamic(f));
        Ok(if dynamic { None } else { Some(module) })
    }
}

/// The types of values in scripts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ty {
    Int,
    Float,
    Bool,
    Ints,
    Floats,
    Matrix,
    /// `Tuple{Int64, Float64}`
    Pair,
    /// `struct P; a::Int64; b::Float64; end`
    Struct,
    /// `mutable struct M; n::Int64; x::Float64; end`
    Object,
    /// A function of one `Int64` that gives one; in smooth programs, of `Float64`.
    Closure,
    /// A function of an `Int64` or a `Float64` that gives one of the same type.
    Methods,
    /// `Dict{Int64, Float64}`
    Dict,
    /// `String`
    Text,
    /// `Union{L, Nothing}`
    List,
    /// `Union{Int64, Float64}`
    Either,
}

impl Ty {
    /// The types that parameters and results have.
    const ALL: [Self; 9] = [
        Self::Int,
        Self::Float,
        Self::Ints,
        Self::Floats,
        Self::Bool,
        Self::Matrix,
        Self::Pair,
        Self::Struct,
        Self::Object,
    ];

    /// Returns whether a function can change a value of the type that it is passed.
    fn is_changeable(self) -> bool {
        matches!(self, Self::Ints | Self::Floats | Self::Matrix)
            || matches!(self, Self::Object | Self::Dict | Self::List)
    }

    /// The same in programs that have derivatives.
    const SMOOTH: [Self; 9] = [
        Self::Float,
        Self::Floats,
        Self::Float,
        Self::Object,
        Self::Matrix,
        Self::Pair,
        Self::Struct,
        Self::Floats,
        Self::Int,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Int => "Int64",
            Self::Float => "Float64",
            Self::Bool => "Bool",
            Self::Ints => "Vector{Int64}",
            Self::Floats => "Vector{Float64}",
            Self::Matrix => "Matrix{Float64}",
            Self::Pair => "Tuple{Int64, Float64}",
            Self::Struct => "P",
            Self::Object => "M",
            Self::Closure | Self::Methods => "Function",
            Self::Dict => "Dict{Int64, Float64}",
            Self::Text => "String",
            Self::List => "Union{L, Nothing}",
            Self::Either => "Union{Int64, Float64}",
        }
    }
}

/// A variable in scope.
#[derive(Clone, Debug)]
struct Var {
    name: String,
    ty: Ty,
    /// True if it may be assigned to: loop counters may not, nor what a closure has captured.
    assignable: bool,
    /// The number of assignments to it.
    assigned: u32,
    /// For a counter: the vector whose indices it runs over.
    indexes: Option<String>,
}

/// A function that can be called.
#[derive(Clone, Debug)]
struct Callee {
    name: String,
    params: Vec<Ty>,
    /// The parameters that are passed by name, which all have default values.
    keywords: Vec<(String, Ty)>,
    ret: Ty,
}

struct Writer {
    c: Choices,
    out: String,
    indent: usize,
    scope: Vec<Var>,
    callees: Vec<Callee>,
    /// The names that were given, so that each is given once.
    names: usize,
    /// The statements that may still be made in this function.
    left: u32,
    depth: u32,
    /// The most times that the code here runs.
    trips: u32,
    /// The type of the result.
    ret: Ty,
    /// A call of the function itself, if it is recursive and not in a loop.
    recursion: Option<Callee>,
    /// True if programs are to have derivatives.
    smooth: bool,
    /// True in rounds that threads share, none of which may change what another one meets.
    shared: bool,
    /// The functions in variables that call others, and may so change what they capture.
    changing: Vec<String>,
}

impl Writer {
    fn new(c: Choices, smooth: bool) -> Self {
        Self {
            c,
            smooth,
            out: String::new(),
            indent: 0,
            scope: Vec::new(),
            callees: Vec::new(),
            names: 0,
            left: 0,
            depth: 0,
            trips: 1,
            ret: Ty::Int,
            recursion: None,
            shared: false,
            changing: Vec::new(),
        }
    }

    /// The types that parameters and results have.
    fn types(&self) -> [Ty; 9] {
        if self.smooth { Ty::SMOOTH } else { Ty::ALL }
    }

    /// Returns the type that closures take and give.
    fn closure_type(&self) -> Ty {
        if self.smooth { Ty::Float } else { Ty::Int }
    }

    fn line(&mut self, text: &str) {
        let indent = 4 * self.indent;
        let _ = writeln!(self.out, "{:indent$}{text}", "");
    }

    fn name(&mut self, letter: &str) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }

    /// The whole script; gives the entry.
    fn script(&mut self) -> String {
        self.line("struct P; a::Int64; b::Float64; end");
        self.line("mutable struct M; n::Int64; x::Float64; end");
        few::DEFINITIONS.into_iter().for_each(|line| self.line(line));
        self.line("turn(a, b, c, n) = n < 1 ? 0.0 : a[1] - 0.5 * turn(b, c, a, n - 1)");
        while self.callees.len() < 3 {
            let start = self.c.open();
            let more = self.c.chance(50);
            if more {
                let name = format!("f{}", self.callees.len() + 1);
                let callee = self.function(name);
                self.callees.push(callee);
            }
            self.c.close(start);
            if !more {
                break;
            }
        }
        let main = self.function("main".to_owned());
        let types: Vec<&str> = main.params.iter().map(|ty| ty.name()).collect();
        format!("main({})", types.join(", "))
    }

    fn function(&mut self, name: String) -> Callee {
        let types = self.types();
        let ret = self.c.pick(&types);
        let mut params = Vec::new();
        while params.len() < 4 {
            let start = self.c.open();
            let more = self.c.chance(70);
            if more {
                params.push(self.c.pick(&types));
            }
            self.c.close(start);
            if !more {
                break;
            }
        }
        self.scope.clear();
        let mut texts = Vec::new();
        for &ty in &params {
            let param = self.name("a");
            // Types of parameters are inferred from calls as well as from what is said.
            texts.push(if self.c.chance(30) {
                param.clone()
            } else {
                format!("{param}::{}", ty.name())
            });
            let assignable = self.c.chance(50);
            self.scope.push(Var { name: param, ty, assignable, assigned: 1, indexes: None });
        }
        // The entry is called by the types of its arguments alone.
        let keywords = if name == "main" { Vec::new() } else { self.keywords() };
        let mut head = texts.join(", ");
        for (i, (text, _)) in keywords.iter().enumerate() {
            head.push_str(if i == 0 { "; " } else { ", " });
            head.push_str(text);
        }
        self.line(&format!("function {name}({head})"));
        self.indent += 1;
        let keywords = keywords.into_iter().map(|(_, keyword)| keyword).collect();
        let callee = Callee { name, params, keywords, ret };
        (self.left, self.depth, self.trips, self.ret) = (10, 0, 1, ret);
        let often = if self.smooth { 60 } else { 25 };
        if callee.params.first() == Some(&Ty::Int) && self.c.chance(often) {
            let n = self.scope[0].name.clone();
            self.scope[0].assignable = false;
            let stop = self.expression(ret, 1);
            self.line(&format!("{n} = min({n}, 3)"));
            self.line(&format!("if {n} <= 0"));
            self.line(&format!("    return {stop}"));
            self.line("end");
            self.recursion = Some(callee.clone());
        }
        self.statements();
        let result = self.expression(ret, 3);
        self.line(&format!("return {result}"));
        self.recursion = None;
        self.indent -= 1;
        self.line("end");
        callee
    }
}

impl Writer {
    /// Parameters that are passed by name, as they are written, with their names and types. A default value
    /// may be made of what comes before it.
    fn keywords(&mut self) -> Vec<(String, (String, Ty))> {
        let types = self.types();
        let mut keywords = Vec::new();
        while keywords.len() < 2 {
            let start = self.c.open();
            let more = self.c.chance(25);
            if more {
                let ty = self.c.pick(&types);
                let default = self.expression(ty, 1);
                let name = self.name("k");
                let text = match self.c.chance(50) {
                    true => format!("{name} = {default}"),
                    false => format!("{name}::{} = {default}", ty.name()),
                };
                let assignable = self.c.chance(50);
                let var = Var { name: name.clone(), ty, assignable, assigned: 1, indexes: None };
                self.scope.push(var);
                keywords.push((text, (name, ty)));
            }
            self.c.close(start);
            if !more {
                break;
            }
        }
        keywords
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_accepted_and_mostly_whole_by_themselves() {
        let (mut whole, mut dynamic) = (0, 0);
        for seed in 0..150 {
            let case = ScriptCase::from_seed(seed);
            match case.typed(&regraft_dialects::context()) {
                Ok(Some(_)) => whole += 1,
                Ok(None) => dynamic += 1,
                Err(errors) => {
                    panic!("seed {seed}: {}\n{}", regraft_ir::render_all(&errors, false), case.text)
                }
            }
        }
        assert!(whole > 6 * dynamic, "{whole} {dynamic}");
    }

    #[test]
    fn scripts_with_derivatives_are_accepted_too() {
        let mut whole = 0;
        for seed in 0..100 {
            let case = ScriptCase::smooth_from_seed(seed);
            match case.typed(&regraft_dialects::context()) {
                Ok(found) => whole += u32::from(found.is_some()),
                Err(errors) => {
                    panic!("seed {seed}: {}\n{}", regraft_ir::render_all(&errors, false), case.text)
                }
            }
            assert_eq!(case.again(&case.choices).text, case.text);
        }
        assert!(whole > 80, "{whole}");
    }

    #[test]
    fn every_construct_is_met() {
        for make in [ScriptCase::from_seed, ScriptCase::smooth_from_seed] {
            let texts: Vec<String> = (0..2400).map(|seed| make(seed).text).collect();
            let constructs = [
                "; k",
                "@threads",
                "tmap",
                "finally",
                "catch",
                "Dict(",
                "delete!(",
                "haskey(",
                ") in d",
                "keys(",
                "(t",
                "::Float64) = ",
                "lpad(",
                "\"n$(",
                " -> ",
                "push!(",
                "@simd",
                "while ",
                "weigh(q",
                ".next = L(",
                " isa Int64 ? q",
                " isa Float64)",
                "isnothing(q",
                "count_of(q",
            ];
            for construct in constructs {
                let met = texts.iter().filter(|text| text.contains(construct)).count();
                assert!(met > 3, "{construct}: {met}");
            }
        }
    }

    #[test]
    fn rounds_meet_no_element_that_another_one_sets() {
        let mut met = 0;
        for seed in 0..1600 {
            let text = ScriptCase::smooth_from_seed(seed).text;
            let mut lines = text.lines().map(str::trim);
            while let Some(line) = lines.next() {
                let Some(head) = line.strip_prefix("Threads.@threads for ") else { continue };
                let (i, over) = head.split_once(" in ").unwrap();
                let vector = over.strip_prefix("eachindex(").unwrap().strip_suffix(')').unwrap();
                let body = lines.next().unwrap();
                let rest = body.replace(&format!("{vector}[{i}]"), "");
                let mut words = rest.split(|c: char| !c.is_alphanumeric());
                assert!(words.all(|word| word != vector), "seed {seed}: {body}");
                met += 1;
            }
        }
        assert!(met > 100, "{met}");
    }

    #[test]
    fn the_same_choices_give_the_same_script() {
        let case = ScriptCase::from_seed(7);
        assert_eq!(ScriptCase::replay(&case.choices).text, case.text);
        let least = ScriptCase::replay(&[]);
        assert_eq!(least.entry, "main()");
    }
}
