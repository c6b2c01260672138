//! The current program: what the commands about IR are about.
//!
//! It is a copy of a function and of all that it calls, or of an IR file. Pipelines change the
//! copy, never what is defined in the session, and each change can be taken back.

use regraft_ir::{Function, Module};
use regraft_passes::Explanation;

/// The origin of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The function that this call runs.
    Call(String),
    /// This file.
    File(String),
}

/// A program, the pipelines that were applied to it, and those that were taken back.
#[derive(Debug)]
pub(super) struct Current {
    origin: Origin,
    /// The program as it was made, then after each pipeline.
    states: Vec<Module>,
    /// The pipeline that led to `states[i + 1]`.
    pipelines: Vec<String>,
    /// The reasons for which each of them replaced values.
    explanations: Vec<Vec<Explanation>>,
    /// The state that is shown.
    at: usize,
}

impl Current {
    /// A program to which nothing has been applied.
    pub(super) fn new(origin: Origin, module: Module) -> Self {
        Self {
            origin,
            states: vec![module],
            pipelines: Vec::new(),
            explanations: Vec::new(),
            at: 0,
        }
    }

    /// Returns its origin.
    pub(super) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The program as it is now.
    pub(super) fn module(&self) -> &Module {
        &self.states[self.at]
    }

    /// The program as it was made.
    pub(super) fn first(&self) -> &Module {
        &self.states[0]
    }

    /// The function that the program is about: the one called, or the first of a file.
    pub(super) fn function(&self) -> Option<&Function> {
        self.module().functions().next()
    }

    /// The pipelines that were applied, and not taken back.
    pub(super) fn pipelines(&self) -> &[String] {
        &self.pipelines[..self.at]
    }

    /// The reasons why the pipelines replaced values.
    pub(super) fn explanations(&self) -> impl Iterator<Item = &Explanation> {
        self.explanations[..self.at].iter().flatten()
    }

    /// Takes in what a pipeline made of it. What was taken back before is forgotten.
    pub(super) fn apply(
        &mut self,
        pipeline: String,
        module: Module,
        explanations: Vec<Explanation>,
    ) {
        self.states.truncate(self.at + 1);
        self.pipelines.truncate(self.at);
        self.explanations.truncate(self.at);
        self.states.push(module);
        self.pipelines.push(pipeline);
        self.explanations.push(explanations);
        self.at += 1;
    }

    /// Takes the last pipeline back, and gives it.
    pub(super) fn undo(&mut self) -> Option<&str> {
        self.at = self.at.checked_sub(1)?;
        Some(&self.pipelines[self.at])
    }

    /// Applies again what was taken back last, and gives it.
    pub(super) fn redo(&mut self) -> Option<&str> {
        let pipeline = self.pipelines.get(self.at)?;
        self.at += 1;
        Some(pipeline)
    }

    /// Returns the number of pipelines that can be undone, and redone.
    pub(super) fn steps(&self) -> (usize, usize) {
        (self.at, self.pipelines.len() - self.at)
    }

    /// Returns its title, in one line: `foo(1.0), after fold, then dce`.
    pub(super) fn title(&self) -> String {
        let (Origin::Call(name) | Origin::File(name)) = &self.origin;
        let applied = &self.pipelines[..self.at];
        if applied.is_empty() {
            return name.clone();
        }
        format!("{name}, after {}", applied.join(", then "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(functions: usize) -> Module {
        let ctx = regraft_dialects::context();
        let mut module = Module::new(&ctx);
        for i in 0..functions {
            let f = Function::new(&ctx, &format!("f{i}"), &[], regraft_ir::Type::UNIT);
            module.add(f).unwrap();
        }
        module
    }

    #[test]
    fn what_is_undone_comes_back_until_something_else_is_applied() {
        let mut program = Current::new(Origin::Call("f()".to_owned()), module(0));
        assert_eq!(program.undo(), None);
        assert_eq!(program.redo(), None);
        program.apply("a".to_owned(), module(1), Vec::new());
        program.apply("b".to_owned(), module(2), Vec::new());
        assert_eq!(program.title(), "f(), after a, then b");
        assert_eq!(program.undo(), Some("b"));
        assert_eq!(program.undo(), Some("a"));
        assert_eq!(program.undo(), None);
        assert_eq!((program.module().ids().len(), program.steps()), (0, (0, 2)));
        assert_eq!(program.redo(), Some("a"));
        assert_eq!(program.module().ids().len(), 1);
        program.apply("c".to_owned(), module(3), Vec::new());
        assert_eq!(program.redo(), None);
        assert_eq!(program.title(), "f(), after a, then c");
        assert_eq!(program.undo(), Some("c"));
        assert_eq!(program.module().ids().len(), 1);
    }
}
