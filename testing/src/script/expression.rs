//! Expressions, by the type that they have.

use std::fmt::Write as _;

use super::{Callee, Ty, Var, Writer};

impl Writer {
    /// An expression of a type, whose parts nest at most `depth` deep.
    pub(super) fn expression(&mut self, ty: Ty, depth: u32) -> String {
        let start = self.c.open();
        let text = self.drawn(ty, depth);
        self.c.close(start);
        text
    }

    fn drawn(&mut self, ty: Ty, depth: u32) -> String {
        let simple = depth == 0 || self.c.chance(30);
        if simple {
            return self.atom(ty);
        }
        if self.c.chance(10)
            && let Some(call) = self.call(ty, depth - 1)
        {
            return call;
        }
        if self.c.chance(8) {
            let (test, a, b) = (
                self.expression(Ty::Bool, depth - 1),
                self.expression(ty, depth - 1),
                self.expression(ty, depth - 1),
            );
            return format!("({test} ? {a} : {b})");
        }
        match ty {
            Ty::Int => self.int(depth - 1),
            Ty::Float => self.float(depth - 1),
            Ty::Bool => self.bool(depth - 1),
            Ty::Ints => self.vector("Int64", Ty::Int, depth - 1),
            Ty::Floats => self.vector("Float64", Ty::Float, depth - 1),
            Ty::Matrix => {
                let (i, j) = (self.name("i"), self.name("i"));
                let value = self.with_counters(&[&i, &j], Ty::Float, depth - 1);
                let (m, n) = (1 + self.c.below(3), 1 + self.c.below(3));
                format!("[{value} for {i} in 1:{m}, {j} in 1:{n}]")
            }
            Ty::Pair => {
                let (a, b) =
                    (self.expression(Ty::Int, depth - 1), self.expression(Ty::Float, depth - 1));
                format!("({a}, {b})")
            }
            Ty::Struct | Ty::Object => {
                let (a, b) =
                    (self.expression(Ty::Int, depth - 1), self.expression(Ty::Float, depth - 1));
                format!("{}({a}, {b})", ty.name())
            }
            Ty::Dict => self.dictionary(depth - 1),
            Ty::Text => self.text(depth - 1),
            Ty::List => self.list(depth - 1),
            Ty::Either => self.either(depth - 1),
            Ty::Closure | Ty::Methods => self.atom(ty),
        }
    }

    /// A variable whose type fits.
    pub(super) fn variable(&mut self, fits: impl Fn(Ty) -> bool) -> Option<Var> {
        let fitting: Vec<usize> =
            (0..self.scope.len()).filter(|&i| fits(self.scope[i].ty)).collect();
        if fitting.is_empty() {
            return None;
        }
        let nth = self.c.below(fitting.len());
        Some(self.scope[fitting[fitting.len() - 1 - nth]].clone())
    }

    /// A counter that is an index of this vector.
    pub(super) fn index_of(&mut self, vector: &str) -> Option<String> {
        let found = self.scope.iter().rev().find(|var| var.indexes.as_deref() == Some(vector));
        found.map(|var| var.name.clone())
    }

    fn atom(&mut self, ty: Ty) -> String {
        if self.c.chance(75)
            && let Some(var) = self.variable(|have| have == ty)
        {
            return var.name;
        }
        match ty {
            Ty::Int if self.smooth => self.c.pick(&["1", "2", "0", "3", "-1", "7"]).to_owned(),
            Ty::Float if self.smooth => {
                self.c.pick(&["0.5", "1.0", "-0.75", "1.5", "0.25", "2.0", "0.0"]).to_owned()
            }
            Ty::Floats if self.smooth => {
                self.c.pick(&["[1.0, 2.0, 0.5]", "[0.5]", "zeros(2)", "[-1.0, 1.5]"]).to_owned()
            }
            Ty::Closure if self.smooth => "(t -> sin(t))".to_owned(),
            Ty::Int => self.c.pick(&["0", "1", "2", "3", "-1", "7", "typemax(Int64)"]).to_owned(),
            Ty::Float => {
                self.c.pick(&["0.0", "1.0", "0.5", "-2.0", "3.25", "-0.0", "1e10"]).to_owned()
            }
            Ty::Bool => self.c.pick(&["true", "false"]).to_owned(),
            Ty::Ints => self.c.pick(&["[1, 2, 3]", "[5]", "Int64[]", "[2, -1]"]).to_owned(),
            Ty::Floats => {
                self.c.pick(&["[1.0, 2.0, 3.0]", "[0.5]", "Float64[]", "[-1.0, 4.0]"]).to_owned()
            }
            Ty::Matrix => self.c.pick(&["[1.0 2.0; 3.0 4.0]", "zeros(2, 3)"]).to_owned(),
            Ty::Pair => "(1, 2.0)".to_owned(),
            Ty::Struct => "P(1, 2.0)".to_owned(),
            Ty::Object => "M(1, 2.0)".to_owned(),
            Ty::Closure => "(t -> t + 1)".to_owned(),
            Ty::Methods => "identity".to_owned(),
            Ty::Dict => self.c.pick(&["Dict(1 => 0.5)", "Dict{Int64, Float64}()"]).to_owned(),
            Ty::List => self.c.pick(&["nothing", "L(0.5, nothing)"]).to_owned(),
            Ty::Either => self.c.pick(&["2", "0.5"]).to_owned(),
            Ty::Text => self.c.pick(&["\"ab\"", "\"\"", "\"aé1\"", "\" x \""]).to_owned(),
        }
    }

    fn call(&mut self, ty: Ty, depth: u32) -> Option<String> {
        if let Some(this) = self.recursion.clone()
            && this.ret == ty
            && self.trips == 1
        {
            // At most once in the text: the work would multiply.
            self.recursion = None;
            let n = self.scope.first()?.name.clone();
            let mut args = vec![format!("{n} - 1")];
            args.extend(this.params[1..].iter().map(|&ty| self.argument(ty, depth)));
            return Some(self.call_of(&this, &args, depth));
        }
        if self.trips > 4 {
            return None;
        }
        let fitting: Vec<usize> =
            (0..self.callees.len()).filter(|&i| self.callees[i].ret == ty).collect();
        if fitting.is_empty() {
            return None;
        }
        let nth = self.c.below(fitting.len());
        let callee = self.callees[fitting[nth]].clone();
        let args: Vec<String> = callee.params.iter().map(|&ty| self.argument(ty, depth)).collect();
        Some(self.call_of(&callee, &args, depth))
    }

    /// An argument; in rounds that threads share, nothing that exists outside of them and can be changed.
    fn argument(&mut self, ty: Ty, depth: u32) -> String {
        let scope = self.scope.clone();
        if self.shared && ty.is_changeable() {
            self.scope.retain(|var| !var.ty.is_changeable());
        }
        let text = self.expression(ty, depth);
        self.scope = scope;
        text
    }

    /// A call with some of the arguments that are passed by name.
    fn call_of(&mut self, callee: &Callee, args: &[String], depth: u32) -> String {
        let mut text = format!("{}({}", callee.name, args.join(", "));
        let mut separator = "; ";
        for (name, ty) in &callee.keywords {
            if self.c.chance(50) {
                let _ = write!(text, "{separator}{name} = {}", self.argument(*ty, depth));
                separator = ", ";
            }
        }
        text.push(')');
        text
    }

    fn int(&mut self, depth: u32) -> String {
        let x = self.expression(Ty::Int, depth);
        match self.c.below(20) {
            19 => self.whole(x),
            17 => self.counted(x),
            18 => self.of_methods(x),
            0..5 => {
                let op = self.c.pick(&["+", "-", "*", "+"]);
                format!("({x} {op} {})", self.expression(Ty::Int, depth))
            }
            5 => format!("({x} {} {})", self.c.pick(&["%", "÷"]), self.c.pick(&["2", "3", "7"])),
            6 => format!(
                "{}({x}, {})",
                self.c.pick(&["min", "max"]),
                self.expression(Ty::Int, depth)
            ),
            7 => format!("{}({x})", self.c.pick(&["abs", "-", "sign", "~"])),
            8 => format!("({x} {} 3)", self.c.pick(&["&", "|", "<<", ">>"])),
            9 => match self.variable(|ty| matches!(ty, Ty::Ints | Ty::Floats)) {
                Some(v) => format!("length({})", v.name),
                None => x,
            },
            10 | 11 => match self.variable(|ty| ty == Ty::Ints) {
                Some(v) => self.at(&v.name, &x),
                None => x,
            },
            12 => match self.variable(|ty| ty == Ty::Pair) {
                Some(v) => format!("{}[1]", v.name),
                None => x,
            },
            13 => match self.variable(|ty| matches!(ty, Ty::Struct | Ty::Object)) {
                Some(v) if v.ty == Ty::Struct => format!("{}.a", v.name),
                Some(v) => format!("{}.n", v.name),
                None => x,
            },
            14 => match self.variable(|ty| ty == Ty::Closure) {
                _ if self.smooth => x,
                Some(h) => format!("{}({x})", h.name),
                None => x,
            },
            15 => {
                let v = self.expression(Ty::Ints, depth);
                format!("sum({v})")
            }
            _ => {
                let i = self.name("i");
                let value = self.with_counters(&[&i], Ty::Int, depth);
                format!("sum({value} for {i} in 1:{})", 1 + self.c.below(4))
            }
        }
    }

    /// A float of ordinary size, by functions that are smooth where they are used.
    fn smooth_float(&mut self, depth: u32) -> String {
        let x = self.expression(Ty::Float, depth);
        match self.c.below(21) {
            20 => self.part(x),
            18 => self.entry(x),
            19 => self.of_methods(x),
            0 | 1 => {
                let op = self.c.pick(&["+", "-"]);
                format!("({x} {op} {})", self.expression(Ty::Float, depth))
            }
            2 | 3 => {
                let y = self.expression(Ty::Float, depth);
                if self.trips > 1 { format!("sin({x} * {y})") } else { format!("({x} * {y})") }
            }
            4 | 5 => {
                let f = self.c.pick(&["sin", "cos", "tanh", "atan", "-", "abs"]);
                format!("{f}({x})")
            }
            6 => {
                let f = self.c.pick(&["sqrt", "log", "exp", "log1p", "cbrt", "sinh", "asin"]);
                format!("{f}(0.5 + 0.4 * sin({x}))")
            }
            7 => format!("({} / (1.5 + cos({x})))", self.expression(Ty::Float, depth)),
            8 => {
                let f = self.c.pick(&["min", "max", "hypot", "atan"]);
                format!("{f}({x}, {})", self.expression(Ty::Float, depth))
            }
            9 => format!("({x} + {})", self.expression(Ty::Int, depth.min(1))),
            10 | 11 => match self.variable(|ty| ty == Ty::Floats) {
                Some(v) => {
                    let index = self.expression(Ty::Int, 0);
                    self.at(&v.name, &index)
                }
                None => x,
            },
            12 => match self.variable(|ty| matches!(ty, Ty::Struct | Ty::Object | Ty::Pair)) {
                Some(v) => match v.ty {
                    Ty::Struct => format!("{}.b", v.name),
                    Ty::Object => format!("{}.x", v.name),
                    _ => format!("{}[2]", v.name),
                },
                None => x,
            },
            13 => {
                let ty = self.c.pick(&[Ty::Floats, Ty::Matrix]);
                format!("sum({})", self.expression(ty, depth))
            }
            14 => match self.variable(|ty| ty == Ty::Closure) {
                Some(h) => format!("{}({x})", h.name),
                None => x,
            },
            15 => {
                let i = self.name("i");
                let value = self.with_counters(&[&i], Ty::Float, depth);
                format!("sum({value} for {i} in 1:{})", 1 + self.c.below(4))
            }
            16 => {
                let v = self.expression(Ty::Floats, depth);
                let t = self.name("t");
                let shared = self.c.chance(50);
                let value = self.rounds(shared, |w| w.with_variable(&t, Ty::Float, depth));
                match shared {
                    true => format!("tmapreduce({t} -> {value}, +, {v}; init=0.0)"),
                    false => format!("sum({t} -> {value}, {v})"),
                }
            }
            _ => format!("(sin({x}))^2"),
        }
    }

    fn float(&mut self, depth: u32) -> String {
        if self.smooth {
            return self.smooth_float(depth);
        }
        let x = self.expression(Ty::Float, depth);
        match self.c.below(18) {
            17 => {
                // Deep enough for the stacks to grow.
                let depth_of_calls = self.c.pick(&[2, 90, 400]);
                format!(
                    "turn([{x}], [{}], [0.5], {depth_of_calls})",
                    self.expression(Ty::Float, depth)
                )
            }
            16 => self.part(x),
            14 => self.entry(x),
            15 => self.of_methods(x),
            0..5 => {
                let op = self.c.pick(&["+", "-", "*", "/"]);
                format!("({x} {op} {})", self.expression(Ty::Float, depth))
            }
            5 => {
                let f = self.c.pick(&["sin", "abs", "-", "cos", "exp", "tanh", "abs2", "floor"]);
                format!("{f}({x})")
            }
            6 => format!("sqrt(abs({x}))"),
            7 => format!("({x} + {})", self.expression(Ty::Int, depth)),
            8 => format!(
                "{}({x}, {})",
                self.c.pick(&["min", "max"]),
                self.expression(Ty::Float, depth)
            ),
            9 | 10 => match self.variable(|ty| ty == Ty::Floats) {
                Some(v) => {
                    let index = self.expression(Ty::Int, 0);
                    self.at(&v.name, &index)
                }
                None => x,
            },
            11 => match self.variable(|ty| matches!(ty, Ty::Struct | Ty::Object | Ty::Pair)) {
                Some(v) => match v.ty {
                    Ty::Struct => format!("{}.b", v.name),
                    Ty::Object => format!("{}.x", v.name),
                    _ => format!("{}[2]", v.name),
                },
                None => x,
            },
            12 => {
                let ty = self.c.pick(&[Ty::Floats, Ty::Matrix]);
                format!("sum({})", self.expression(ty, depth))
            }
            _ => format!("({x})^2"),
        }
    }

    /// A number through a function with a method for its type.
    fn of_methods(&mut self, x: String) -> String {
        match self.variable(|ty| ty == Ty::Methods) {
            Some(h) => format!("{}({x})", h.name),
            None => x,
        }
    }

    fn bool(&mut self, depth: u32) -> String {
        let ty = self.c.pick(&[Ty::Int, Ty::Float]);
        match self.c.below(11) {
            10 => self.is(),
            9 => self.has(),
            0..5 => {
                let op = self.c.pick(&["<", "==", ">=", "!=", "<=", ">"]);
                format!("({} {op} {})", self.expression(ty, depth), self.expression(ty, depth))
            }
            5 => {
                let op = self.c.pick(&["&&", "||"]);
                let (a, b) = (self.expression(Ty::Bool, depth), self.expression(Ty::Bool, depth));
                format!("({a} {op} {b})")
            }
            6 => format!("!{}", self.expression(Ty::Bool, depth)),
            7 => format!("iseven({})", self.expression(Ty::Int, depth)),
            _ => format!("(0 < {} <= 3)", self.expression(Ty::Int, depth)),
        }
    }

    fn vector(&mut self, name: &str, element: Ty, depth: u32) -> String {
        let own = if element == Ty::Int { Ty::Ints } else { Ty::Floats };
        match self.c.below(9) {
            0 => {
                let parts: Vec<String> =
                    (0..1 + self.c.below(3)).map(|_| self.expression(element, depth)).collect();
                format!("{name}[{}]", parts.join(", "))
            }
            1 | 2 => {
                let i = self.name("i");
                let value = self.with_counters(&[&i], element, depth);
                let filter =
                    if self.c.chance(25) { format!(" if isodd({i})") } else { String::new() };
                format!("{name}[{value} for {i} in 1:{}{filter}]", self.c.below(5))
            }
            3 => {
                let v = self.expression(own, depth);
                let t = self.name("t");
                let map = self.c.pick(&["map", "map", "tmap"]);
                let value = self.rounds(map == "tmap", |w| w.with_variable(&t, element, depth));
                format!("{map}({t} -> {value}, {v})")
            }
            4 => format!("({} .* {})", self.expression(own, depth), self.expression(element, 0)),
            5 => format!("zeros({name}, {} & 3)", self.expression(Ty::Int, 0)),
            6 => format!(
                "{}({})",
                self.c.pick(&["copy", "reverse", "cumsum"]),
                self.expression(own, depth)
            ),
            7 => {
                let v = self.expression(own, depth);
                format!("({v})[2:end]")
            }
            _ => {
                let v = self.expression(own, depth);
                format!("filter(t -> t > 0, {v})")
            }
        }
    }

    /// An element: at a counter if one runs over the vector, else at some index if there are any.
    fn at(&mut self, vector: &str, index: &str) -> String {
        match self.index_of(vector) {
            Some(counter) => format!("{vector}[{counter}]"),
            None if self.c.chance(6) => format!("{vector}[{index}]"),
            None => {
                let zero = self.scope.iter().find(|var| var.name == vector).map(|var| var.ty);
                let zero = if zero == Some(Ty::Ints) { "0" } else { "0.0" };
                format!("(isempty({vector}) ? {zero} : {vector}[mod1({index}, length({vector}))])")
            }
        }
    }

    /// An expression in which counters may be used.
    pub(super) fn with_counters(&mut self, names: &[&str], ty: Ty, depth: u32) -> String {
        self.captured(names, Ty::Int, ty, depth)
    }

    /// What is drawn for rounds, which threads share or not.
    pub(super) fn rounds(
        &mut self,
        shared: bool,
        draw: impl FnOnce(&mut Self) -> String,
    ) -> String {
        let (scope, outer) = (self.scope.clone(), self.shared);
        self.shared |= shared;
        if self.shared {
            self.scope.retain(|var| !self.changing.contains(&var.name));
        }
        let text = draw(self);
        (self.scope, self.shared) = (scope, outer);
        text
    }

    /// Notes whether a function in a variable calls others.
    pub(super) fn note_changing(&mut self, name: &str, bodies: &[String]) {
        let calls = |f: &Callee| bodies.iter().any(|body| body.contains(&format!("{}(", f.name)));
        if self.callees.iter().any(calls) {
            self.changing.push(name.to_owned());
        }
    }

    fn with_variable(&mut self, name: &str, ty: Ty, depth: u32) -> String {
        self.captured(&[name], ty, ty, depth)
    }

    /// An expression in a generator or a function: what it captures must not be assigned to
    /// again, or it would live in a box of any type.
    fn captured(&mut self, names: &[&str], own: Ty, ty: Ty, depth: u32) -> String {
        let (scope, trips) = (self.scope.clone(), self.trips);
        self.scope.retain(|var| var.assigned <= 1 && !var.assignable);
        self.trips = trips.saturating_mul(4);
        for &name in names {
            let (name, ty) = (name.to_owned(), own);
            self.scope.push(Var { name, ty, assignable: false, assigned: 1, indexes: None });
        }
        let text = self.expression(ty, depth);
        (self.scope, self.trips) = (scope, trips);
        text
    }
}
