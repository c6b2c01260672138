//! Loading the prelude.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use regraft_ir::{Diagnostic, Source};

use super::Session;
use crate::definition::Space;
use crate::lower::{self, Library};
use crate::prelude::index::Index;
use crate::prelude::{INDEX, files};
use crate::start_up::StartUp;
use crate::world::{Deferred, DynamoFn};

impl Session {
    /// Runs the files of the prelude. Types are declared, and most constants bound, when somebody asks for their names;
    /// methods are parsed when a call may mean them, and lowered and inferred when something calls them.
    pub(super) fn load_prelude(&mut self) {
        let library = Library::new(&self.ctx, Space::Base);
        let extensions = Arc::clone(self.ctx.extensions());
        let start_up: &StartUp = extensions.get();
        self.load_library(&library, Cow::Borrowed(&INDEX), files());
        if !start_up.files().is_empty() {
            let files = start_up.files().iter().copied();
            self.load_library(&library, Cow::Owned(Index::of(start_up.files())), files);
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

    fn load_library(
        &mut self,
        library: &Rc<Library>,
        index: Cow<'static, Index>,
        files: impl Iterator<Item = (&'static str, &'static str)>,
    ) {
        let source = |(name, text)| self.ctx.add_source(name, text);
        let sources: Option<Vec<Source>> = files.map(source).collect();
        let sources = sources.expect("there is room in a new context");
        let at_once = index.at_once.clone();
        self.compiler.borrow_mut().world.add_library(index, library, &sources);
        for (file, part) in at_once.iter().cloned() {
            let source = sources[usize::from(file)].clone();
            let name = Arc::clone(&source.name);
            let statement = Deferred { library: Rc::clone(library), source, part };
            if let Err(errors) = self.load(&statement) {
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
        let (methods, parameters) = world.check_heads();
        assert!(methods > 3000 && parameters > 2000, "{methods} methods, {parameters} parameters");
    }
}
