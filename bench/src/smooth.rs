//! Differentiable functions of any size, to measure what their adjoints take to make.

use std::fmt::Write as _;
use std::sync::Arc;

use regraft_ir::{Context, Module};
use regraft_syntax::parse_module;

/// The shape of the code that the instructions of a function stand in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// One block.
    Straight,
    /// Branches, one after the other.
    Branches,
    /// Counted loops, one after the other.
    Loops,
    /// Counted loops that read and write an array.
    Arrays,
}

impl Shape {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Straight, Self::Branches, Self::Loops, Self::Arrays];

    /// Returns its name in a table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Straight => "one block",
            Self::Branches => "branches",
            Self::Loops => "loops",
            Self::Arrays => "loops over an array",
        }
    }
}

/// A module of one function, `main`, of about `insts` instructions.
///
/// # Panics
/// Never: what is written here can be read.
pub fn module(ctx: &Arc<Context>, shape: Shape, insts: usize) -> Module {
    let text = Text { text: String::new(), insts: 0, blocks: 1, recent: ["x".into(), "y".into()] };
    parse_module(ctx, "smooth", &text.function(shape, insts)).expect("it is right")
}

/// The number of operations between two branches.
const BODY: usize = 20;

struct Text {
    text: String,
    insts: usize,
    blocks: usize,
    /// The names of the last two values.
    recent: [String; 2],
}

impl Text {
    fn function(mut self, shape: Shape, insts: usize) -> String {
        self.text += "func @main(%x: f64, %y: f64, %n: i64, %a: array<f64, 1>) -> f64 {\n^1:\n";
        while self.insts < insts {
            match shape {
                Shape::Straight => self.operations(BODY),
                Shape::Branches => self.branch(),
                Shape::Loops | Shape::Arrays => self.counted_loop(shape),
            }
        }
        let [_, last] = &self.recent;
        let _ = writeln!(self.text, "  return %{last}\n}}");
        self.text
    }

    fn define(&mut self, ty: &str, value: &str) -> String {
        self.insts += 1;
        let name = format!("v{}", self.insts);
        let _ = writeln!(self.text, "  %{name}: {ty} = {value}");
        name
    }

    fn blocks<const N: usize>(&mut self) -> [usize; N] {
        self.blocks += N;
        std::array::from_fn(|i| self.blocks - N + i + 1)
    }

    /// Operations on the last two values each; none of them grows without bounds.
    fn operations(&mut self, count: usize) {
        for i in 0..count {
            let [a, b] = &self.recent;
            let value = match i % 5 {
                0 => format!("arith.mul %{a}, %{b}"),
                1 => format!("arith.add %{a}, %{b}"),
                2 => format!("math.sin %{b}"),
                3 => format!("arith.sub %{b}, %{a}"),
                _ => format!("math.cos %{b}"),
            };
            let name = self.define("f64", &value);
            self.recent.rotate_left(1);
            self.recent[1] = name;
        }
    }

    /// A branch with work on one side.
    fn branch(&mut self) {
        let [side, join] = self.blocks();
        let [a, b] = self.recent.clone();
        let less = self.define("bool", &format!("arith.lt %{a}, %{b}"));
        let _ = writeln!(self.text, "  br %{less}, ^{side}, ^{join}(%{b})\n^{side}:");
        self.operations(BODY);
        let _ = writeln!(self.text, "  br ^{join}(%{})\n^{join}(%j{join}: f64):", self.recent[1]);
        self.insts += 2;
        self.recent = [a, format!("j{join}")];
    }

    /// A loop that carries a float, and reads and writes the array if asked to.
    fn counted_loop(&mut self, shape: Shape) {
        let [head, body, after] = self.blocks();
        let [a, b] = self.recent.clone();
        let (i, sum) = (format!("i{head}"), format!("s{head}"));
        let _ = writeln!(self.text, "  br ^{head}(1, %{b})\n^{head}(%{i}: i64, %{sum}: f64):");
        let more = self.define("bool", &format!("arith.le %{i}, %n"));
        let _ = writeln!(self.text, "  br %{more}, ^{body}, ^{after}\n^{body}:");
        self.recent = [a.clone(), sum.clone()];
        if shape == Shape::Arrays {
            let item = self.define("f64", &format!("mem.load %a, %{i}"));
            self.recent = [sum.clone(), item];
        }
        self.operations(BODY);
        if shape == Shape::Arrays {
            let [_, last] = &self.recent;
            let _ = writeln!(self.text, "  mem.store %a, %{last}, %{i}");
            self.insts += 1;
        }
        let next = self.define("i64", &format!("arith.add %{i}, 1"));
        let _ = writeln!(self.text, "  br ^{head}(%{next}, %{})\n^{after}:", self.recent[1]);
        self.insts += 3;
        self.recent = [a, sum];
    }
}

#[cfg(test)]
mod tests {
    use regraft_dialects::context;
    use regraft_exec::value::{Array, Val};
    use regraft_exec::{Engine, Interpreter};
    use regraft_ir::verify_module;

    use super::*;

    #[test]
    fn functions_are_right_and_of_the_size_that_was_asked_for() {
        for shape in Shape::ALL {
            let module = module(&context(), shape, 1000);
            verify_module(&module).unwrap();
            assert!((800..1100).contains(&module.inst_count()), "{}", module.inst_count());
            let array = Val::from(Array::vector(&[0.5, -0.25, 1.0]));
            let args = [Val::F64(0.5), Val::F64(0.25), Val::I64(3), array];
            let found = Interpreter::new(&module).call("main", &args).unwrap().as_f64().unwrap();
            assert!(found.is_finite() && found != 0.0, "{found}");
        }
    }
}
