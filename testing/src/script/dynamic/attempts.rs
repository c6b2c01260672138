//! Errors that are caught. Whether one happens does not depend on the argument.

use super::{Kind, Var, Writer};

impl Writer {
    /// A `try` whose value is a number.
    pub(super) fn attempt(&mut self) {
        let name = self.name("t");
        let last = self.c.chance(30);
        self.line(&format!("{name} = try"));
        self.indent += 1;
        // What is made in it is not there afterwards.
        let vars = self.vars.len();
        self.changes();
        self.failure();
        self.changes();
        let value = self.number(2);
        self.line(&format!("tanh({value})"));
        self.vars.truncate(vars);
        self.indent -= 1;
        self.line("catch e");
        self.indent += 1;
        self.changes();
        let value = self.number(1);
        self.line(&format!("e isa Problem ? cos(e.v) : tanh({value})"));
        self.vars.truncate(vars);
        self.indent -= 1;
        if last {
            self.line("finally");
            self.indent += 1;
            self.changes();
            self.line("nothing");
            self.vars.truncate(vars);
            self.indent -= 1;
        }
        self.line("end");
        self.vars.push(Var { name, kind: Kind::Number });
    }

    /// A few changes of what is there, which stays of the kind that it is.
    fn changes(&mut self) {
        let in_loop = std::mem::replace(&mut self.in_loop, true);
        for _ in 0..self.c.below(3) {
            match self.c.below(4) {
                0 => self.element(),
                1 => self.put(),
                2 => self.object(),
                _ => self.update(),
            }
        }
        self.in_loop = in_loop;
    }

    fn failure(&mut self) {
        let (value, depth) = (self.number(2), self.c.below(3));
        match self.c.below(6) {
            0 => {}
            1 => self.line(&format!("throw(Problem({value}))")),
            2 => self.line(&format!("failing({value}, {depth})")),
            3 => self.line(&format!("[{value}][2]")),
            4 => self.line(&format!("for k in 1:3; k == 2 && throw(Problem(k * {value})); end")),
            _ => self.line(&format!("any_of({value})[2]")),
        }
    }
}
