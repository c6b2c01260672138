//! Statements.

use super::{Ty, Var, Writer};

impl Writer {
    /// Statements, one after the other.
    pub(super) fn statements(&mut self) {
        while self.left > 0 {
            let start = self.c.open();
            let more = self.c.chance(85);
            if more {
                self.left -= 1;
                self.statement();
            }
            self.c.close(start);
            if !more {
                break;
            }
        }
    }

    fn statement(&mut self) {
        let nests = self.depth < 3;
        match self.c.below(if nests { 29 } else { 16 }) {
            0..3 => self.definition(),
            3 => self.few_statement(),
            4..7 => self.update(),
            7 | 8 => self.element(),
            9 => self.print(),
            10 => self.field(),
            11 => self.push(),
            12 => self.destructuring(),
            13 => self.closure(),
            14 | 15 => self.data_statement(),
            16 | 17 => self.condition(),
            18..22 => self.for_loop(),
            22 => self.while_loop(),
            23 => self.two_loops(),
            24 => self.leave_early(),
            28 => self.threads_loop(),
            26 | 27 => self.try_block(),
            _ => self.matrix_loop(),
        }
    }

    /// A block of statements with a scope of its own.
    fn block(&mut self, trips: u32) {
        let (scope, outer) = (self.scope.len(), self.trips);
        self.trips *= trips;
        let recursion = if trips > 1 { self.recursion.take() } else { None };
        self.indent += 1;
        self.depth += 1;
        self.statements();
        self.depth -= 1;
        self.indent -= 1;
        if trips > 1 {
            self.recursion = recursion;
        }
        self.trips = outer;
        self.scope.truncate(scope);
    }

    fn definition(&mut self) {
        let ty = self.c.pick(&[Ty::Int, Ty::Float, Ty::Int, Ty::Float, Ty::Floats, Ty::Ints]);
        let types = self.types();
        let ty = if self.smooth && ty == Ty::Ints { Ty::Floats } else { ty };
        let ty = if self.c.chance(25) { self.c.pick(&types) } else { ty };
        let value = self.expression(ty, 3);
        let name = self.name("x");
        self.line(&format!("{name} = {value}"));
        self.scope.push(Var { name, ty, assignable: true, assigned: 1, indexes: None });
    }

    /// A variable that may be assigned to.
    pub(super) fn target(&mut self, fits: impl Fn(Ty) -> bool) -> Option<usize> {
        let places: Vec<usize> = (0..self.scope.len())
            .filter(|&i| self.scope[i].assignable && fits(self.scope[i].ty))
            .collect();
        if places.is_empty() {
            return None;
        }
        let nth = self.c.below(places.len());
        Some(places[places.len() - 1 - nth])
    }

    fn update(&mut self) {
        let Some(at) = self.target(|_| true) else { return self.definition() };
        let Var { name, ty, .. } = self.scope[at].clone();
        self.scope[at].assigned += 1;
        let mut value = self.expression(ty, 3);
        if self.smooth && ty == Ty::Float && self.trips > 1 {
            value = format!("tanh({value})");
        }
        match ty {
            Ty::Int | Ty::Float => {
                let op = self.c.pick(&["=", "+=", "-=", "*="]);
                self.line(&format!("{name} {op} {value}"));
            }
            _ => self.line(&format!("{name} = {value}")),
        }
    }

    /// `v[i] = x`.
    fn element(&mut self) {
        let Some(v) = self.variable(|ty| matches!(ty, Ty::Ints | Ty::Floats)) else {
            return self.definition();
        };
        let value = self.expression(if v.ty == Ty::Ints { Ty::Int } else { Ty::Float }, 2);
        let op = self.c.pick(&["=", "+=", "=", "*="]);
        match self.index_of(&v.name) {
            Some(index) => self.line(&format!("{}[{index}] {op} {value}", v.name)),
            None => {
                let index = self.expression(Ty::Int, 1);
                let v = v.name;
                self.line(&format!("if !isempty({v})"));
                self.line(&format!("    {v}[mod1({index}, length({v}))] {op} {value}"));
                self.line("end");
            }
        }
    }

    fn print(&mut self) {
        let ty =
            self.c.pick(&[Ty::Int, Ty::Float, Ty::Bool, Ty::Int, Ty::Floats, Ty::Pair, Ty::Text]);
        let value = self.expression(ty, 2);
        let print = self.c.pick(&["println", "print", "println"]);
        self.line(&format!("{print}(\"p = \", {value})"));
    }

    fn field(&mut self) {
        let Some(m) = self.variable(|ty| ty == Ty::Object) else { return self.update() };
        let (field, ty) = self.c.pick(&[("n", Ty::Int), ("x", Ty::Float)]);
        let value = self.expression(ty, 2);
        let op = self.c.pick(&["=", "+=", "*="]);
        self.line(&format!("{}.{field} {op} {value}", m.name));
    }

    fn push(&mut self) {
        let Some(v) = self.variable(|ty| matches!(ty, Ty::Ints | Ty::Floats)) else {
            return self.definition();
        };
        let value = self.expression(if v.ty == Ty::Ints { Ty::Int } else { Ty::Float }, 2);
        // A vector may not grow while a loop runs over it.
        let in_loop = self.scope.iter().any(|var| var.indexes.is_some());
        if in_loop || self.trips > 4 {
            self.print();
        } else {
            self.line(&format!("push!({}, {value})", v.name));
        }
    }

    fn destructuring(&mut self) {
        let value = self.expression(Ty::Pair, 2);
        let (a, b) = (self.name("x"), self.name("x"));
        self.line(&format!("{a}, {b} = {value}"));
        for (name, ty) in [(a, Ty::Int), (b, Ty::Float)] {
            self.scope.push(Var { name, ty, assignable: true, assigned: 1, indexes: None });
        }
    }

    /// A function of one argument that captures what is there.
    fn closure(&mut self) {
        let name = self.name("h");
        let arg = self.name("t");
        // What is captured and assigned to more than once lives in a box of any type.
        let scope = self.scope.clone();
        let plain = |ty| !matches!(ty, Ty::Closure | Ty::Methods);
        self.scope.retain(|var| var.assigned <= 1 && plain(var.ty));
        let ty = self.closure_type();
        let own = Var { name: arg.clone(), ty, assignable: false, assigned: 1, indexes: None };
        self.scope.push(own);
        let calls = std::mem::take(&mut self.recursion);
        let body = self.expression(ty, 2);
        (self.recursion, self.scope) = (calls, scope);
        for var in &mut self.scope {
            var.assignable &= var.assigned > 1;
        }
        self.line(&format!("{name} = {arg} -> {body}"));
        self.note_changing(&name, &[body]);
        let ty = Ty::Closure;
        self.scope.push(Var { name, ty, assignable: false, assigned: 1, indexes: None });
    }

    fn condition(&mut self) {
        let test = self.expression(Ty::Bool, 2);
        self.line(&format!("if {test}"));
        self.block(1);
        if self.c.chance(25) {
            let test = self.expression(Ty::Bool, 2);
            self.line(&format!("elseif {test}"));
            self.block(1);
        }
        if self.c.chance(50) {
            self.line("else");
            self.block(1);
        }
        self.line("end");
    }

    /// A `try` whose parts assign to no variable around, as that would live in a box of any type.
    fn try_block(&mut self) {
        let assignable: Vec<bool> = self.scope.iter().map(|var| var.assignable).collect();
        self.scope.iter_mut().for_each(|var| var.assignable = false);
        let last = self.c.chance(35);
        let handles = !last || self.c.chance(50);
        self.line("try");
        self.block(1);
        self.indent += 1;
        self.risk();
        if self.trips > 1 && self.c.chance(40) {
            self.jump();
        }
        self.indent -= 1;
        self.block(1);
        if handles {
            let name = self.name("e");
            // Without a session that calls what is known when it runs, the error has no derivative.
            let named = !self.smooth && self.c.chance(50);
            self.line(&if named { format!("catch {name}") } else { "catch".to_owned() });
            self.indent += 1;
            if named && self.c.chance(40) {
                self.line(&format!("println(\"caught \", {name} isa ErrorException)"));
            }
            if self.c.chance(20) {
                self.risk();
            }
            self.indent -= 1;
            self.block(1);
            if self.c.chance(25) {
                self.line("else");
                self.block(1);
            }
        }
        if last {
            self.line("finally");
            self.block(1);
        }
        self.line("end");
        for (var, assignable) in self.scope.iter_mut().zip(assignable) {
            var.assignable = assignable;
        }
    }

    /// A statement that may fail.
    fn risk(&mut self) {
        let vector = self.variable(|ty| ty == Ty::Floats);
        match (self.c.below(4), vector) {
            (0, Some(v)) => {
                let (index, value) = (self.small(), self.expression(Ty::Float, 1));
                self.line(&format!("{}[{index}] = {value}", v.name));
            }
            (1, _) if !self.smooth => {
                let (a, b) = (self.expression(Ty::Int, 1), self.small());
                self.line(&format!("println({a} ÷ {b})"));
            }
            (2, _) => {
                let test = self.expression(Ty::Bool, 2);
                self.line(&format!("{test} && throw(DomainError(1))"));
            }
            _ => {
                let test = self.expression(Ty::Bool, 2);
                self.line(&format!("{test} && error(\"stopped\")"));
            }
        }
    }

    fn leave_early(&mut self) {
        let test = self.expression(Ty::Bool, 2);
        if self.c.chance(25) {
            self.line(&format!("{test} && error(\"stopped\")"));
        } else {
            let value = self.expression(self.ret, 2);
            self.line(&format!("if {test}"));
            self.line(&format!("    return {value}"));
            self.line("end");
        }
    }

    /// A range of few integers, whatever the variables are.
    fn range(&mut self) -> String {
        match self.c.below(7) {
            0 => format!("1:{}", 1 + self.c.below(5)),
            1 => format!("{}:-1:{}", 1 + self.c.below(5), self.c.below(3)),
            2 => format!("{}:{}:{}", self.c.below(3), 1 + self.c.below(3), self.c.below(8)),
            3 => format!("1:({} & 3)", self.expression(Ty::Int, 1)),
            4 => format!("({0}):({0} + {1})", self.small(), self.c.below(4)),
            5 => format!("1:min({}, 4)", self.expression(Ty::Int, 1)),
            _ => format!("0:2:({} & 7)", self.expression(Ty::Int, 1)),
        }
    }

    fn small(&mut self) -> String {
        format!("({} & 7)", self.expression(Ty::Int, 0))
    }

    fn for_loop(&mut self) {
        if self.trips > 30 {
            return self.update();
        }
        // Not `@inbounds`, which promises more than these programs keep.
        let mark = self.c.pick(&["", "", "", "@simd "]);
        let i = self.name("i");
        let scope = self.scope.len();
        let counter = |name: String, indexes| Var {
            name,
            ty: Ty::Int,
            assignable: false,
            assigned: 1,
            indexes,
        };
        let vector = self.variable(|ty| matches!(ty, Ty::Ints | Ty::Floats));
        let dictionary = self.target(|ty| ty == Ty::Dict);
        let kind = self.c.below(8);
        match (vector, kind) {
            (_, 6) if let Some(at) = dictionary => {
                let (d, x) = (self.scope[at].name.clone(), self.name("e"));
                self.line(&format!("for ({i}, {x}) in {d}"));
                self.freeze(&d);
                self.scope.push(counter(i, Some(d)));
                self.scope.push(Var { ty: Ty::Float, ..counter(x, None) });
            }
            (Some(v), 1 | 2) => {
                let over = self.c.pick(&["eachindex", "1:length", "length"]);
                let over = match over {
                    "length" => format!("length({}):-1:1", v.name),
                    other => format!("{other}({})", v.name),
                };
                self.line(&format!("{mark}for {i} in {over}"));
                self.freeze(&v.name);
                self.scope.push(counter(i, Some(v.name)));
            }
            (Some(v), 3) => {
                self.line(&format!("for {i} in {}", v.name));
                self.freeze(&v.name);
                let ty = if v.ty == Ty::Ints { Ty::Int } else { Ty::Float };
                // Whatever grows the vector must not be in the loop.
                self.scope.push(Var { ty, ..counter(i, Some(String::new())) });
            }
            (Some(v), 4) => {
                let x = self.name("e");
                self.line(&format!("for ({i}, {x}) in enumerate({})", v.name));
                self.freeze(&v.name);
                let ty = if v.ty == Ty::Ints { Ty::Int } else { Ty::Float };
                self.scope.push(counter(i, Some(v.name)));
                self.scope.push(Var { ty, ..counter(x, None) });
            }
            (Some(v), 7) => {
                let (x, range) = (self.name("e"), self.range());
                let v_name = &v.name;
                let head = match self.c.below(3) {
                    0 => format!("({i}, {x}) in zip({range}, {v_name})"),
                    1 => format!("({i}, {x}) in zip(reverse(1:length({v_name})), {v_name})"),
                    _ => format!("({i}, {x}, _) in zip(1:7, {v_name}, {range})"),
                };
                self.line(&format!("for {head}"));
                self.freeze(&v.name);
                let ty = if v.ty == Ty::Ints { Ty::Int } else { Ty::Float };
                self.scope.push(counter(i, Some(String::new())));
                self.scope.push(Var { ty, ..counter(x, None) });
            }
            (_, 5) => {
                let j = self.name("i");
                let (a, b) = (self.range(), self.range());
                self.line(&format!("for {i} in {a}, {j} in {b}"));
                self.scope.push(counter(i, None));
                self.scope.push(counter(j, None));
            }
            _ => {
                let range = self.range();
                self.line(&format!("for {i} in {range}"));
                self.scope.push(counter(i, None));
            }
        }
        self.jump();
        self.block(4);
        self.line("end");
        self.scope.truncate(scope);
        self.thaw();
    }

    /// The vector that a loop runs over stays the one that it is, with its length.
    fn freeze(&mut self, name: &str) {
        for var in &mut self.scope {
            if var.name == name && var.assignable {
                var.assignable = false;
                var.indexes = Some("frozen".to_owned());
            }
        }
    }

    fn thaw(&mut self) {
        let loops = self.scope.iter().any(|var| var.ty == Ty::Int && var.indexes.is_some());
        if loops {
            return;
        }
        for var in &mut self.scope {
            if var.indexes.as_deref() == Some("frozen") {
                (var.assignable, var.indexes) = (true, None);
            }
        }
    }

    /// `continue` or `break` under a condition.
    fn jump(&mut self) {
        if self.c.chance(20) {
            let test = self.expression(Ty::Bool, 2);
            let word = self.c.pick(&["continue", "break"]);
            self.line(&format!("    {test} && {word}"));
        }
    }

    /// A loop that threads share: each round sets an element of its own. It reads elements of other vectors only if
    /// the one that it sets is new, since these may be the same vector.
    fn threads_loop(&mut self) {
        let Some(v) = self.variable(|ty| ty == Ty::Floats) else { return self.for_loop() };
        let is_new = v.assigned > 1 || self.c.chance(50);
        let (mut to, indexes) = (v.name.clone(), Some(v.name));
        if is_new {
            let of = &to;
            let value = match self.c.chance(50) {
                true => format!("copy({of})"),
                false => format!("zeros(length({of}))"),
            };
            let name = self.name("x");
            self.line(&format!("{name} = {value}"));
            to = name;
        }
        let i = self.name("i");
        let own = format!("{to}[{i}]");
        // What is captured and assigned to more than once lives in a box of any type.
        let scope = self.scope.clone();
        let plain = |ty| !matches!(ty, Ty::Closure | Ty::Methods);
        let reads = |ty| is_new || ty != Ty::Floats;
        self.scope.retain(|var| var.assigned <= 1 && plain(var.ty) && reads(var.ty));
        for (name, ty, indexes) in [(i.clone(), Ty::Int, indexes), (own.clone(), Ty::Float, None)] {
            self.scope.push(Var { name, ty, assignable: false, assigned: 1, indexes });
        }
        let calls = std::mem::take(&mut self.recursion);
        let value = self.rounds(true, |w| w.expression(Ty::Float, 2));
        (self.recursion, self.scope) = (calls, scope);
        for var in &mut self.scope {
            var.assignable &= var.assigned > 1;
        }
        if is_new {
            let (name, ty) = (to.clone(), Ty::Floats);
            self.scope.push(Var { name, ty, assignable: false, assigned: 1, indexes: None });
        }
        self.line(&format!("Threads.@threads for {i} in eachindex({to})"));
        self.line(&format!("    {own} = {value}"));
        self.line("end");
    }

    fn while_loop(&mut self) {
        if self.trips > 30 {
            return self.update();
        }
        let k = self.name("k");
        let most = 1 + self.c.below(4);
        let test = self.expression(Ty::Bool, 2);
        self.line(&format!("{k} = 0"));
        self.line(&format!("while {k} < {most} && {test}"));
        self.line(&format!("    {k} += 1"));
        let ty = Ty::Int;
        self.scope.push(Var { name: k, ty, assignable: false, assigned: 2, indexes: None });
        self.block(4);
        self.line("end");
    }

    /// Two loops over the same vector, one after the other.
    fn two_loops(&mut self) {
        let Some(v) = self.variable(|ty| ty == Ty::Floats) else { return self.for_loop() };
        for _ in 0..2 {
            let i = self.name("i");
            let v = &v.name;
            let scope = self.scope.len();
            self.line(&format!("for {i} in eachindex({v})"));
            let (name, indexes) = (i.clone(), Some(v.clone()));
            self.scope.push(Var { name, ty: Ty::Int, assignable: false, assigned: 1, indexes });
            let value = self.expression(Ty::Float, 2);
            self.scope.truncate(scope);
            self.line(&format!("    {v}[{i}] = {value}"));
            self.line("end");
        }
    }

    /// A nest over a matrix.
    fn matrix_loop(&mut self) {
        let there = if self.c.chance(70) { self.variable(|ty| ty == Ty::Matrix) } else { None };
        let m = match there {
            Some(m) => m.name,
            None => self.matrix_of_any_size(),
        };
        let (i, j, s) = (self.name("i"), self.name("i"), self.name("x"));
        self.line(&format!("{s} = 0.0"));
        let [rows, columns] = match self.c.chance(20) {
            true => [1, 2].map(|dim| format!("size({m}, {dim}):-1:1")),
            false => [1, 2].map(|dim| format!("1:size({m}, {dim})")),
        };
        let by_columns = self.c.chance(70);
        let kind = self.c.below(6);
        let made = (kind == 5).then(|| self.name("x"));
        if let Some(made) = &made {
            self.line(&format!("{made} = zeros(size({m}))"));
        }
        match by_columns {
            true => self.line(&format!("for {j} in {columns}, {i} in {rows}")),
            false => self.line(&format!("for {i} in {rows}, {j} in {columns}")),
        }
        let at = format!("{m}[{i}, {j}]");
        let body = match kind {
            0 => format!("{s} += {at}"),
            1 => format!("{at} = {at} * 2.0 + {i}"),
            2 => format!("{s} += {at} * {at}; {at} = {s}"),
            3 => format!("{s} = {i} > {j} ? {s} - {at} : {s} + {at}"),
            4 => format!("{at} = tanh({at})"),
            _ => {
                let made = made.as_ref().unwrap_or(&m);
                format!("{s} = tanh({s}) - {at}; {made}[{i}, {j}] = {s}")
            }
        };
        self.line(&format!("    {body}"));
        self.line("end");
        if !self.smooth && self.c.chance(50) {
            let made = made.as_ref().unwrap_or(&m);
            self.line(&format!("println({s}, \" \", sum({made}))"));
        }
        let made = made.map(|made| (made, Ty::Matrix));
        for (name, ty) in made.into_iter().chain([(s, Ty::Float)]) {
            self.scope.push(Var { name, ty, assignable: true, assigned: 2, indexes: None });
        }
    }

    /// A new matrix, the size of which depends on numbers.
    fn matrix_of_any_size(&mut self) -> String {
        let [rows, columns] = [(); 2].map(|()| self.expression(Ty::Int, 1));
        let value = self.expression(Ty::Float, 1);
        let name = self.name("x");
        self.line(&format!("{name} = fill({value}, {rows} & 3, {columns} & 3)"));
        let (ty, assigned) = (Ty::Matrix, 1);
        self.scope.push(Var { name: name.clone(), ty, assignable: true, assigned, indexes: None });
        name
    }
}
