//! Loading the prelude.

use std::rc::Rc;
use std::sync::Arc;

use regraft_ir::{Diagnostic, Symbol};

use super::Session;
use crate::definition::Space;
use crate::lower::{self, Library};
use crate::prelude::statements::{Statement, statements};
use crate::prelude::{INTRINSICS, index};
use crate::start_up::StartUp;
use crate::world::{Deferred, DynamoFn};

impl Session {
    /// Runs the files of the prelude. Types are declared when somebody asks for their names; methods are parsed when
    /// somebody asks for the methods of their function, and lowered and inferred when something
    /// calls them.
    pub(super) fn load_prelude(&mut self) {
        let library = Library::new(&self.ctx, Space::Base);
        let extensions = Arc::clone(self.ctx.extensions());
        let start_up: &StartUp = extensions.get();
        let names = index::names(&self.ctx);
        let count = index::files().map(|file| file.statements.len()).sum();
        self.compiler.borrow_mut().world.make_room(names.len(), count);
        for file in index::files() {
            let statements = file.statements.iter().map(|statement| {
                let kind = statement.kind.map(|number| names[usize::from(number)]);
                Statement { range: statement.range.clone(), kind }
            });
            self.load_file(&library, file.name, file.text, statements);
        }
        for &(name, text) in [INTRINSICS].iter().chain(start_up.files()) {
            let ctx = Arc::clone(&self.ctx);
            let statements = statements(text).map(|Statement { range, kind }| {
                let kind = kind.internal().map(|name| ctx.symbol(&name));
                Statement { range, kind }
            });
            self.load_file(&library, name, text, statements);
        }
        for setup in start_up.setups() {
            if let Err(errors) = setup(&mut self.compiler.borrow_mut().world) {
                panic!("a setup fails\n{}", regraft_ir::render_all(&errors, false));
            }
        }
        for (signature, dynamo) in start_up.dynamos() {
            let made: DynamoFn = Rc::new(move |cx, types| dynamo(cx, types));
            let world = &mut self.compiler.borrow_mut().world;
            if let Err(errors) = world.dynamo(signature, Space::Main, made) {
                panic!("a dynamo is wrong\n{}", regraft_ir::render_all(&errors, false));
            }
        }
        self.compiler.borrow_mut().note_deferred_rules();
    }

    /// Computes products, solutions and factorisations of dense matrices by the loops of the prelude from
    /// now on, whatever their size; at first large ones are computed by a library.
    ///
    /// ```
    /// # use regraft_lang::Session;
    /// let mut session = Session::new(&regraft_dialects::context());
    /// session.use_loops();
    /// let sum = session.run("-e", "sum(ones(20, 20) * ones(20, 20))").unwrap();
    /// assert_eq!(sum.as_f64(), Some(8000.0));
    /// ```
    pub fn use_loops(&mut self) {
        const NEVER: &str = "@inline __by_library() = false\n";
        let source = self.ctx.add_source("prelude/loops.jl", NEVER).expect("the text is short");
        let library = Library::new(&self.ctx, Space::Base);
        let statement = Deferred { library, source, part: 0..NEVER.len() as u32 };
        if let Err(errors) = self.load(&statement) {
            panic!("the definition is wrong\n{}", regraft_ir::render_all(&errors, false));
        }
        self.relink();
    }

    fn load_file(
        &mut self,
        library: &Rc<Library>,
        name: &'static str,
        text: &'static str,
        statements: impl Iterator<Item = Statement<Symbol>>,
    ) {
        let source = self.ctx.add_source(name, text).expect("there is room in a new context");
        self.compiler.borrow_mut().world.defer_file(library, &source);
        for Statement { range, kind } in statements {
            let noted = self.compiler.borrow_mut().world.defer(kind, range);
            if let Err(now) = noted
                && let Err(errors) = self.load(&now)
            {
                panic!("{name} is wrong\n{}", regraft_ir::render_all(&errors, false));
            }
        }
    }

    fn load(&mut self, statement: &Deferred) -> Result<(), Vec<Diagnostic>> {
        let mut errors = Vec::new();
        for statement in statement.read()? {
            match statement {
                lower::Statement::Item(item) => {
                    errors.extend(self.run_item(item, Space::Base).err().into_iter().flatten());
                }
                lower::Statement::Signatures(methods) => {
                    for (def, code) in methods {
                        let world = &mut self.compiler.borrow_mut().world;
                        let defined = world.define_later(&def, code);
                        errors.extend(defined.err().into_iter().flatten());
                    }
                }
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}

#[cfg(test)]
mod tests {
    use crate::Session;

    #[test]
    fn signatures_take_no_more_than_their_texts_say() {
        let session = Session::new(&regraft_dialects::context());
        let world = &mut session.compiler.borrow_mut().world;
        let (methods, parameters) = world.check_outlines();
        assert!(methods > 3000 && parameters > 2000, "{methods} methods, {parameters} parameters");
    }
}
