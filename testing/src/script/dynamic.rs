//! Random functions of one number whose values are of types that are known when they run.
//!
//! ```julia
//! function main(x)
//!     g1 = Any[tanh(x), [x, 0.5]]
//!     g1[2] = (sin(x), g1)
//!     c2 = x * 0.5
//!     h2 = t -> (c2 = tanh(c2 * t); c2)
//!     for i in 1:3
//!         h2(g1[1])
//!     end
//!     return tanh(g1[2][1]) + tanh(c2)
//! end
//! ```
//!
//! They have derivatives of any order: everything is smooth where it is, and all numbers stay
//! small. What the generators of typed programs leave out is in them: slots of type `Any` that
//! change the type of what they hold, fields of union types, variables that closures assign to,
//! fields that get their value late, recursion, whole arrays that are filled and copied, objects that are replaced, ranges of floats,
//! errors that are caught and what they carry, rules of users, global objects that one function puts something into and another one reads, and
//! points where functions have no derivative but what is computed is constant.

mod attempts;
mod expressions;

use std::fmt::Write;

use crate::choices::{Choices, Span};

/// The definitions of scripts beside `main`. The rules are those that differentiation itself would find.
const PRELUDE: &str = "\
mutable struct Node; v::Any; end
mutable struct Obj; x::Float64; z::Vector{Float64}; end
mutable struct Late; x::Float64; z::Vector{Float64}; Late(x, z) = (o = new(x); o.z = z; o); end
struct Problem <: Exception; v::Float64; end
failing(y, k) = k == 0 ? throw(Problem(sin(y))) : failing(0.9y, k - 1)
struct Cons; head::Float64; tail::Union{Nothing, Cons}; end
any_of(x) = (r = Ref{Any}(x); r[])
total(l) = l === nothing ? 0.0 : sin(l.head) + 0.5 * total(l.tail)
deep(y, x, k) = k == 0 ? y : deep(x, tanh(y * x + 0.1), k - 1)
kept = [0.5, 0.25]
put(x, k) = k == 0 ? (kept[1] = x; nothing) : put(x, k - 1)
keep(k) = k == 0 ? kept[1] : keep(k - 1)
hold(k) = k == 0 ? kept : hold(k - 1)
step(y) = sin(y) * 0.9 + 0.1 * y
twist(a) = sin(a[1]) * a[2]
double!(a) = (a[1] = tanh.(2 .* a[1]); nothing)
ruled(x, y) = x * sin(y)
rrule(::typeof(ruled), x, y) = (ruled(x, y), d -> (nothing, d * sin(y), d * x * cos(y)))
all_of(a) = sum(abs2, a[1]) + sum(a[2])
rrule(::typeof(all_of), a) = (all_of(a), d -> (nothing, [(2 * d) .* a[1], d .* one.(a[2])]))
";

/// A generated script with a function `main` of one `Float64`.
#[derive(Clone, Debug)]
pub struct DynamicCase {
    /// Its text: definitions alone.
    pub text: String,
    /// The choices that it was made from: [`DynamicCase::replay`] makes it again.
    pub choices: Vec<u32>,
    pub(crate) spans: Vec<Span>,
    /// True if it has points at which a function has no derivative, or an infinite one: what is
    /// constant there has a first and a second derivative, and no third.
    pub is_singular: bool,
}

impl DynamicCase {
    /// Definitions that change what `main` calls, and what its derivative calls.
    pub const DEFINED_ANEW: &'static str = "\
step(y) = 3y
deep(y, x, k) = y * x
twist(a) = a[1] - a[2]
total(l) = 2.0
any_of(x) = 4x
double!(a) = nothing
put(x, k) = nothing
hold(k) = [1.0, 2.0]
rrule(::typeof(ruled), x, y) = (0.0, d -> (nothing, 7d, 8d))
rrule(::typeof(step), y) = (0.0, d -> (nothing, 9d))
0.0
";

    /// The script of a seed.
    pub fn from_seed(seed: u64) -> Self {
        Self::generate(Choices::from_seed(seed))
    }

    /// The script that these choices stand for; any sequence stands for one.
    pub fn replay(choices: &[u32]) -> Self {
        Self::generate(Choices::replay(choices.to_vec()))
    }

    fn generate(choices: Choices) -> Self {
        let mut writer = Writer {
            c: choices,
            out: PRELUDE.to_owned(),
            indent: 1,
            vars: Vec::new(),
            names: 0,
            in_loop: false,
            captures: false,
            is_singular: false,
            has_globals: false,
        };
        writer.main();
        let is_singular = writer.is_singular;
        let (choices, spans) = writer.c.into_parts();
        Self { text: writer.out, choices, spans, is_singular }
    }
}

/// The kind of value that a slot of type `Any` holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Held {
    Number,
    Vector,
    /// A tuple of a number and something else.
    Tuple,
    /// A `Node` that holds a number.
    Node,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Kind {
    Number,
    /// Of two floats.
    Vector,
    /// Two of these.
    Nested,
    /// `Any[..]`, `Ref{Any}(..)` or `Node(..)`, with what it holds; `[1]`, `[]` or `.v` reads it.
    Slot(&'static str, Held),
    Obj,
    /// A function of one number.
    Function,
}

#[derive(Clone, Debug)]
struct Var {
    name: String,
    kind: Kind,
}

struct Writer {
    c: Choices,
    out: String,
    indent: usize,
    vars: Vec<Var>,
    names: usize,
    /// True in a loop: slots keep the kind of value that they hold there.
    in_loop: bool,
    /// True if the code that is written runs later, when slots may hold something else.
    captures: bool,
    is_singular: bool,
    /// True if it uses what a global holds, which it sets first.
    has_globals: bool,
}

impl Writer {
    fn line(&mut self, text: &str) {
        let indent = 4 * self.indent;
        let _ = writeln!(self.out, "{:indent$}{text}", "");
    }

    fn main(&mut self) {
        let _ = writeln!(self.out, "function main(x)");
        self.vars.push(Var { name: "x".to_owned(), kind: Kind::Number });
        self.has_globals = self.c.chance(25);
        if self.has_globals {
            self.line("put(0.5, 1)");
            self.line("kept[2] = 0.25");
        }
        self.statements(12);
        let terms: Vec<String> = self
            .vars
            .clone()
            .iter()
            .skip(1)
            .filter_map(|var| self.read(var))
            .map(|term| format!("tanh({term})"))
            .collect();
        let sum = if terms.is_empty() { "x".to_owned() } else { terms.join(" + ") };
        self.line(&format!("return {sum}"));
        let _ = writeln!(self.out, "end");
    }

    fn statements(&mut self, most: usize) {
        for _ in 0..most {
            let start = self.c.open();
            let more = self.c.chance(80);
            if more {
                self.statement();
            }
            self.c.close(start);
            if !more {
                break;
            }
        }
    }

    fn statement(&mut self) {
        if self.has_globals && self.c.chance(20) {
            return self.global();
        }
        match self.c.below(if self.in_loop { 12 } else { 26 }) {
            0 | 1 => self.update(),
            2 => self.element(),
            3 => self.whole(),
            4 => self.nested(),
            5 | 6 => self.put(),
            7 => self.object(),
            8 => self.call(),
            9 | 10 => self.special(),
            11 => self.range(),
            12 => self.define("t", Kind::Number),
            13 | 14 => self.define("v", Kind::Vector),
            15 => self.define("a", Kind::Nested),
            16 | 17 => self.slot(),
            18 => self.define("o", Kind::Obj),
            19 | 20 => self.closure(),
            21 => self.list(),
            22 => self.unstable(),
            23 | 24 => self.attempt(),
            _ => self.counted(),
        }
    }

    fn name(&mut self, letter: &str) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }

    fn of(&mut self, fits: impl Fn(&Kind) -> bool) -> Option<Var> {
        let fits =
            |var: &&Var| fits(&var.kind) && !(self.captures && matches!(var.kind, Kind::Slot(..)));
        let fitting: Vec<Var> = self.vars.iter().filter(fits).cloned().collect();
        if fitting.is_empty() {
            return None;
        }
        let nth = self.c.below(fitting.len());
        Some(fitting[fitting.len() - 1 - nth].clone())
    }

    // --- definitions -------------------------------------------------------------------------

    fn define(&mut self, letter: &str, kind: Kind) {
        let value = match kind {
            Kind::Vector => self.vector(),
            Kind::Nested => format!("[{}, {}]", self.vector(), self.vector()),
            Kind::Obj => {
                let name = self.c.pick(&["Obj", "Late"]);
                format!("{name}({}, {})", self.number(1), self.vector())
            }
            _ => self.number(3),
        };
        let name = self.name(letter);
        self.line(&format!("{name} = {value}"));
        self.vars.push(Var { name, kind });
    }

    fn any_held(&mut self) -> Held {
        self.c.pick(&[Held::Number, Held::Number, Held::Vector, Held::Tuple, Held::Node])
    }

    fn slot(&mut self) {
        let held = self.any_held();
        let value = self.held(held);
        let name = self.name("g");
        let (made, read) = match self.c.below(3) {
            0 => (format!("Any[{value}]"), "[1]"),
            1 => (format!("Ref{{Any}}({value})"), "[]"),
            _ => (format!("Node({value})"), ".v"),
        };
        self.line(&format!("{name} = {made}"));
        self.vars.push(Var { name, kind: Kind::Slot(read, held) });
    }

    /// A closure that assigns to what it captures, or one that calls itself.
    fn closure(&mut self) {
        let (f, c) = (self.name("h"), self.name("c"));
        self.captures = true;
        match self.c.below(3) {
            0 => {
                let start = self.number(1);
                self.line(&format!("{c} = {start}"));
                self.line(&format!("{f} = t -> ({c} = tanh({c} * t + 0.2); {c})"));
                self.vars.push(Var { name: c, kind: Kind::Number });
            }
            1 => {
                let body = self.number(1);
                self.line(&format!("{c}(k, y) = k == 0 ? y : {c}(k - 1, tanh(y * {body}))"));
                self.line(&format!("{f} = t -> {c}(3, t)"));
            }
            _ => {
                let factor = self.number(1);
                self.line(&format!("{c} = t -> t * {factor}"));
                self.line("for i in 1:2");
                self.line(&format!("    {f} = {c}"));
                self.line(&format!("    {c} = let g = {f}; t -> sin(g(t) * x) + 0.1 * i; end"));
                self.line("end");
                self.line(&format!("{f} = {c}"));
            }
        }
        self.captures = false;
        self.vars.push(Var { name: f, kind: Kind::Function });
    }

    fn list(&mut self) {
        let (l, value) = (self.name("l"), self.number(2));
        self.line(&format!("{l} = nothing"));
        self.line("for i in 1:3");
        self.line(&format!("    {l} = Cons({value} * i, {l})"));
        self.line("end");
        let name = self.name("t");
        self.line(&format!("{name} = total({l})"));
        self.vars.push(Var { name, kind: Kind::Number });
    }

    /// A variable that is an integer first.
    fn unstable(&mut self) {
        let (s, value) = (self.name("s"), self.number(2));
        self.line(&format!("{s} = 0"));
        self.line("for i in 1:3");
        self.line(&format!("    {s} += {value} * 0.5"));
        self.line("end");
        self.vars.push(Var { name: s, kind: Kind::Number });
    }

    // --- changes -----------------------------------------------------------------------------

    /// Puts something into a global object.
    fn global(&mut self) {
        let value = self.number(2);
        let text = match self.c.below(4) {
            0 => format!("kept[2] = {value}"),
            1 => format!("hold({})[2] = {value}", self.c.below(3)),
            _ => format!("put({value}, {})", self.c.below(3)),
        };
        self.line(&text);
    }

    fn update(&mut self) {
        let value = self.number(3);
        match self.of(|kind| *kind == Kind::Number).filter(|var| var.name != "x") {
            Some(var) => self.line(&format!("{} = tanh({value})", var.name)),
            None => self.define("t", Kind::Number),
        }
    }

    fn element(&mut self) {
        let value = self.number(2);
        match self.of(|kind| *kind == Kind::Vector) {
            Some(v) => {
                let index = 1 + self.c.below(2);
                self.line(&format!("{}[{index}] = tanh({value})", v.name));
            }
            None => self.define("v", Kind::Vector),
        }
    }

    fn whole(&mut self) {
        let Some(v) = self.of(|kind| *kind == Kind::Vector) else {
            return self.define("v", Kind::Vector);
        };
        let v = v.name;
        let text = match self.c.below(6) {
            0 | 1 => format!("fill!({v}, {})", self.number(2)),
            2 => format!("copyto!({v}, {})", self.vector()),
            3 => format!("copyto!({v}, [{}])", self.number(2)),
            4 => format!("{v} .= tanh.({v} .* {})", self.number(1)),
            _ => format!("reverse!({v})"),
        };
        self.line(&text);
    }

    fn nested(&mut self) {
        let Some(a) = self.of(|kind| *kind == Kind::Nested) else {
            return self.define("a", Kind::Nested);
        };
        let a = a.name;
        let text = match self.c.below(8) {
            0 | 1 => format!("{a}[{}] = {}", 1 + self.c.below(2), self.vector()),
            2 => format!("{a}[1], {a}[2] = {a}[2], {a}[1]"),
            3 => format!("{a}[2][1] = {}", self.number(2)),
            4 => format!("fill!({a}, {})", self.vector()),
            5 => format!("copyto!({a}, [{}])", self.vector()),
            6 => format!("double!({a})"),
            _ => format!("any_of(double!)({a})"),
        };
        self.line(&text);
    }

    /// Puts something else into a slot of type `Any`.
    fn put(&mut self) {
        let Some(g) = self.of(|kind| matches!(kind, Kind::Slot(..))) else {
            return if self.in_loop { self.update() } else { self.slot() };
        };
        let Kind::Slot(read, old) = g.kind else { return };
        let held = if self.in_loop { old } else { self.any_held() };
        let value = self.held(held);
        let value = if held == Held::Number { format!("tanh({value})") } else { value };
        self.line(&format!("{}{read} = {value}", g.name));
        for var in &mut self.vars {
            if var.name == g.name {
                var.kind = Kind::Slot(read, held);
            }
        }
    }

    fn object(&mut self) {
        match self.of(|kind| *kind == Kind::Obj) {
            Some(o) if self.c.chance(50) => {
                let value = self.vector();
                self.line(&format!("{}.z = {value}", o.name));
            }
            Some(o) => {
                let value = self.number(2);
                self.line(&format!("{}.x = tanh({value})", o.name));
            }
            None if self.in_loop => self.update(),
            None => self.define("o", Kind::Obj),
        }
    }

    fn call(&mut self) {
        match self.of(|kind| *kind == Kind::Function) {
            Some(f) => {
                let value = self.number(1);
                self.line(&format!("{}({value})", f.name));
            }
            None => self.update(),
        }
    }

    /// Something that is constant, where a function on the way has no derivative, or an infinite one.
    fn special(&mut self) {
        self.is_singular = true;
        let (a, b) = (self.number(1), self.number(1));
        let zero = self.name("z");
        self.line(&format!("{zero} = {a}"));
        self.line(&format!("{zero} = {zero} - {zero}"));
        let value = match self.c.below(9) {
            0 => format!("norm([{zero}, {zero}])"),
            1 => format!("hypot({zero}, {zero})"),
            2 => format!("sqrt({zero}^2)"),
            3 => format!("std([{b}, {b}])"),
            4 => format!("abs({zero}) * {b}"),
            5 => format!("logistic(-800.0 + {zero}) * {b}"),
            6 => format!("max({zero}, {zero}) * {b}"),
            7 => format!("{zero}^2 * {b}"),
            _ => format!("atan({zero}, 1.0 + abs2({b}))"),
        };
        let name = self.name("t");
        self.line(&format!("{name} = {b} + {value}"));
        self.vars.push(Var { name, kind: Kind::Number });
    }

    /// A range of floats with a few elements, wherever its ends are.
    fn range(&mut self) {
        let (p, t, r) = (self.name("p"), self.name("t"), self.name("r"));
        let value = self.number(2);
        self.line(&format!("{p} = 0.3 + 0.01 * tanh({value})"));
        let range = match self.c.below(3) {
            0 => format!("0.0:{p}:1.0"),
            1 => format!("{p}:0.4:1.8"),
            _ => format!("(1.0 + {p}):-{p}:{p} / 2"),
        };
        match self.c.below(4) {
            0 => self.line(&format!("{t} = sum(collect({range}))")),
            1 => self.line(&format!("{t} = ({range})[3]")),
            2 => self.line(&format!("{t} = sum(u -> sin(u), {range})")),
            _ => {
                self.line(&format!("{t} = 0.0"));
                self.line(&format!("for {r} in {range}"));
                self.line(&format!("    {t} += {r} * 0.2"));
                self.line("end");
            }
        }
        self.vars.push(Var { name: t, kind: Kind::Number });
    }

    fn counted(&mut self) {
        let trips = 1 + self.c.below(3);
        let (i, scope) = (self.name("i"), self.vars.len());
        self.line(&format!("for {i} in 1:{trips}"));
        (self.in_loop, self.indent) = (true, self.indent + 1);
        let start = self.c.open();
        self.statement();
        self.statements(3);
        self.c.close(start);
        if self.c.chance(20) {
            self.line(&format!("{i} == 2 && break"));
        }
        (self.in_loop, self.indent) = (false, self.indent - 1);
        self.vars.truncate(scope);
        self.line("end");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use regraft_lang::Session;

    #[test]
    fn scripts_run() {
        for seed in 0..200 {
            let case = DynamicCase::from_seed(seed);
            let mut session = Session::new(&regraft_dialects::context());
            let done = session.run("script.jl", &case.text);
            let value = done.and_then(|_| session.eval("main(0.7)"));
            match value {
                Ok(value) => assert!(value.as_f64().is_some_and(f64::is_finite), "{}", case.text),
                Err(errors) => {
                    panic!("seed {seed}: {}\n{}", regraft_ir::render_all(&errors, false), case.text)
                }
            }
            assert_eq!(DynamicCase::replay(&case.choices).text, case.text);
        }
    }
}
