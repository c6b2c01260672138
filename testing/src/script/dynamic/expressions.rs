//! Expressions: numbers, vectors, and what slots of type `Any` hold.

use super::{Held, Kind, Var, Writer};

impl Writer {
    /// A number that is read from a variable.
    pub(super) fn read(&mut self, var: &Var) -> Option<String> {
        let name = &var.name;
        Some(match &var.kind {
            Kind::Number => name.clone(),
            Kind::Vector => match self.c.below(3) {
                0 => format!("{name}[1]"),
                1 => format!("{name}[2]"),
                _ => format!("sum({name})"),
            },
            Kind::Nested => match self.c.below(4) {
                0 => format!("{name}[1][2]"),
                1 => format!("{name}[2][1]"),
                2 => format!("all_of({name})"),
                _ => format!("sum({name}[1])"),
            },
            Kind::Slot(read, held) => match held {
                Held::Number => format!("{name}{read}"),
                Held::Vector => format!("sum({name}{read})"),
                Held::Tuple => format!("{name}{read}[1]"),
                Held::Node => format!("{name}{read}.v"),
            },
            Kind::Obj => match self.c.below(2) {
                0 => format!("{name}.x"),
                _ => format!("sum({name}.z)"),
            },
            Kind::Function => return None,
        })
    }

    fn atom(&mut self) -> String {
        if self.c.chance(10) {
            return self.c.pick(&["0.5", "1.25", "-0.75", "0.1"]).to_owned();
        }
        if self.has_globals && self.c.chance(25) {
            return self.read_global();
        }
        let var = self.of(|kind| *kind != Kind::Function);
        var.and_then(|var| self.read(&var)).unwrap_or_else(|| "x".to_owned())
    }

    /// An expression for a number, between about -2 and 2 if what it is made of is.
    pub(super) fn number(&mut self, depth: u32) -> String {
        let start = self.c.open();
        let text = if depth == 0 || self.c.chance(25) { self.atom() } else { self.made(depth - 1) };
        self.c.close(start);
        text
    }

    fn made(&mut self, depth: u32) -> String {
        let a = self.number(depth);
        match self.c.below(14) {
            0 => format!("sin({a})"),
            1 => format!("tanh({a})"),
            2 | 3 => format!("tanh({a} * {})", self.number(depth)),
            4 => format!("0.5 * ({a} + {})", self.number(depth)),
            5 => format!("exp(-abs2({a}))"),
            6 => format!("{a} / (1.5 + abs2({}))", self.number(depth)),
            7 => format!("sqrt(1.0 + abs2({a}))"),
            8 => format!("ruled(cos({a}), {})", self.number(depth)),
            9 => format!("deep({a}, {}, {})", self.number(0), self.c.below(4)),
            10 => format!("any_of({a})"),
            11 => match self.of(|kind| *kind == Kind::Vector) {
                Some(v) => format!("tanh({a} + checkpoint(twist, {}))", v.name),
                None => format!("checkpoint(step, {a})"),
            },
            12 => match self.of(|kind| *kind == Kind::Function) {
                Some(f) => format!("{}({a})", f.name),
                None => format!("step({a})"),
            },
            _ => format!("log(2.0 + cos({a}))"),
        }
    }

    pub(super) fn vector(&mut self) -> String {
        let own = self.of(|kind| *kind == Kind::Vector);
        match (self.c.below(7), own) {
            (0, _) => format!("fill({}, 2)", self.number(2)),
            (1, Some(v)) => format!("copy({})", v.name),
            (2, Some(v)) => format!("tanh.({} .* {})", v.name, self.number(1)),
            (3, Some(v)) => format!("map(t -> sin(t) * {}, {})", self.number(0), v.name),
            (4, Some(v)) => v.name,
            _ => format!("[{}, {}]", self.number(1), self.number(1)),
        }
    }

    pub(super) fn held(&mut self, held: Held) -> String {
        match held {
            Held::Number => self.number(2),
            Held::Vector => self.vector(),
            Held::Tuple => match self.of(|kind| *kind != Kind::Function) {
                Some(other) => format!("({}, {})", self.number(1), other.name),
                None => format!("({}, 1)", self.number(1)),
            },
            Held::Node => format!("Node({})", self.number(1)),
        }
    }

    /// A number that a global object holds.
    fn read_global(&mut self) -> String {
        match self.c.below(4) {
            0 => "kept[2]".to_owned(),
            1 => format!("sum(hold({}))", self.c.below(3)),
            _ => format!("keep({})", self.c.below(3)),
        }
    }
}
