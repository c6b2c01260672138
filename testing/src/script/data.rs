//! Dictionaries, texts, and local functions with several methods.

use super::{Ty, Var, Writer};

impl Writer {
    /// Statements about these, and definitions of them.
    pub(super) fn data_statement(&mut self) {
        match self.c.below(6) {
            0 | 1 => self.dictionary_entry(),
            2 => self.text_definition(),
            3 => self.local_methods(),
            _ => self.dictionary_definition(),
        }
    }

    pub(super) fn define(&mut self, letter: &str, ty: Ty, value: &str) {
        let name = self.name(letter);
        self.line(&format!("{name} = {value}"));
        self.scope.push(Var { name, ty, assignable: true, assigned: 1, indexes: None });
    }

    fn dictionary_definition(&mut self) {
        let value = self.expression(Ty::Dict, 2);
        self.define("d", Ty::Dict, &value);
    }

    fn text_definition(&mut self) {
        let value = self.expression(Ty::Text, 2);
        self.define("s", Ty::Text, &value);
    }

    /// An entry that is set, changed, or taken out.
    fn dictionary_entry(&mut self) {
        let Some(at) = self.target(|ty| ty == Ty::Dict) else {
            return self.dictionary_definition();
        };
        let d = self.scope[at].name.clone();
        let (key, value) = (self.key(), self.expression(Ty::Float, 2));
        let text = match self.c.below(6) {
            0 => format!("delete!({d}, {key})"),
            1 => format!("get!({d}, {key}, {value})"),
            2 => format!("get!(() -> 0.5, {d}, {key})"),
            3 => format!("{d}[{key}] = get({d}, {key}, 1.0) + {value}"),
            _ => format!("{d}[{key}] = {value}"),
        };
        self.line(&text);
    }

    /// One of few keys, so that they are met again.
    fn key(&mut self) -> String {
        format!("({} & 7)", self.expression(Ty::Int, 1))
    }

    /// A function with one method for integers and one for floats; it captures what is there.
    fn local_methods(&mut self) {
        let (name, arg) = (self.name("h"), self.name("t"));
        let scope = self.scope.clone();
        // What is captured and assigned to more than once lives in a box of any type.
        let plain = |ty| !matches!(ty, Ty::Closure | Ty::Methods);
        self.scope.retain(|var| var.assigned <= 1 && plain(var.ty));
        let calls = self.recursion.take();
        let bodies = [Ty::Int, Ty::Float].map(|ty| {
            let own = Var { name: arg.clone(), ty, assignable: false, assigned: 1, indexes: None };
            self.scope.push(own);
            let body = self.expression(ty, 2);
            self.scope.pop();
            body
        });
        (self.recursion, self.scope) = (calls, scope);
        for var in &mut self.scope {
            var.assignable &= var.assigned > 1;
        }
        self.note_changing(&name, &bodies);
        for (ty, body) in ["Int64", "Float64"].iter().zip(bodies) {
            self.line(&format!("{name}({arg}::{ty}) = {body}"));
        }
        let ty = Ty::Methods;
        self.scope.push(Var { name, ty, assignable: false, assigned: 1, indexes: None });
    }

    /// `Dict{Int64, Float64}(…)`
    pub(super) fn dictionary(&mut self, depth: u32) -> String {
        match self.c.below(4) {
            0 => {
                let i = self.name("i");
                let value = self.with_counters(&[&i], Ty::Float, depth);
                format!("Dict({i} => {value} for {i} in 1:{})", 1 + self.c.below(3))
            }
            1 => {
                let (d, x) = (self.expression(Ty::Dict, depth), self.expression(Ty::Float, depth));
                format!("merge({d}, Dict(2 => {x}))")
            }
            2 => format!("copy({})", self.expression(Ty::Dict, depth)),
            _ => {
                let entries: Vec<String> = (0..self.c.below(4))
                    .map(|_| format!("{} => {}", self.key(), self.expression(Ty::Float, depth)))
                    .collect();
                format!("Dict{{Int64, Float64}}({})", entries.join(", "))
            }
        }
    }

    pub(super) fn text(&mut self, depth: u32) -> String {
        let t = self.expression(Ty::Text, depth);
        let number = if self.smooth || self.c.chance(60) { Ty::Int } else { Ty::Float };
        match self.c.below(9) {
            0 => format!("({t} * {})", self.expression(Ty::Text, depth)),
            1 => format!("repeat({t}, {} & 3)", self.expression(Ty::Int, 0)),
            2 => format!("{}({t})", self.c.pick(&["uppercase", "reverse", "strip", "string"])),
            3 => format!("first({t}, 3)"),
            4 => format!("replace({t}, \"1\" => \"é\")"),
            5 => format!("join([{t}, \"b\"], \", \")"),
            6 => format!("lpad({}, 4, '0')", self.expression(Ty::Int, depth)),
            7 => format!("\"n$({})\"", self.expression(number, depth)),
            _ => format!("string({}, \"-\", {t})", self.expression(number, depth)),
        }
    }

    /// An integer about a dictionary or a text.
    pub(super) fn counted(&mut self, otherwise: String) -> String {
        match self.variable(|ty| matches!(ty, Ty::Dict | Ty::Text)) {
            Some(v) if v.ty == Ty::Dict && self.c.chance(40) => format!("sum(keys({}))", v.name),
            Some(v) if v.ty == Ty::Text && self.c.chance(40) => format!("ncodeunits({})", v.name),
            Some(v) => format!("length({})", v.name),
            None => otherwise,
        }
    }

    /// A float out of a dictionary.
    pub(super) fn entry(&mut self, otherwise: String) -> String {
        match self.variable(|ty| ty == Ty::Dict) {
            Some(d) if self.c.chance(30) => format!("sum(values({}))", d.name),
            Some(d) => format!("get({}, {}, {otherwise})", d.name, self.key()),
            None => otherwise,
        }
    }

    /// A condition about a dictionary or a text.
    pub(super) fn has(&mut self) -> String {
        match self.variable(|ty| matches!(ty, Ty::Dict | Ty::Text)) {
            Some(d) if d.ty == Ty::Dict => format!("haskey({}, {})", d.name, self.key()),
            Some(s) => match self.c.below(3) {
                0 => format!("occursin(\"1\", {})", s.name),
                1 => format!("startswith({}, \"n\")", s.name),
                _ => format!("({} < {})", s.name, self.expression(Ty::Text, 1)),
            },
            None => "true".to_owned(),
        }
    }
}
