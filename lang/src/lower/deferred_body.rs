//! Methods whose code is lowered when it is first asked for.
//!
//! A library defines many methods, of which a program uses few. Of what is defined at top level
//! only the signatures are read at first: they need no names to be resolved. The tree stays, and
//! with it what was known where its statements stand. O(signatures) at first, then O(definition)
//! for each method that is asked for; definitions within other statements are lowered at once.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use regraft_ir::{Context, Diagnostic, Function, Symbol};
use regraft_syntax::julia::{Ast, ExprId, Kind};
use rustc_hash::FxHashSet;

use super::context::{Lower, Scratch, in_text_order};
use super::options::LowerOptions;
use crate::definition::{ClosureDef, Item, MethodDef, Space};

/// The code of a method, before it is lowered.
#[derive(Clone, Debug)]
pub struct DeferredBody {
    text: Rc<Text>,
    definition: ExprId,
    /// The index among the methods of the definition.
    which: usize,
}

/// A statement of a text, of which the methods are lowered later.
#[derive(Clone, Debug)]
pub enum Statement {
    /// Methods without their code: the bodies in the definitions are empty.
    Signatures(Vec<(MethodDef, DeferredBody)>),
    /// Another statement, or one that defines methods within it.
    Item(Item),
}

/// A text of which something may be lowered later.
#[derive(Debug)]
struct Text {
    library: Rc<Library>,
    ast: Ast,
}

/// The state that the texts of a library share.
#[derive(Debug)]
pub struct Library {
    ctx: Arc<Context>,
    space: Space,
    /// The number of functions without names that were made so far.
    counter: Cell<u32>,
    /// The structs that it declared so far.
    structs: RefCell<FxHashSet<Symbol>>,
    /// The memory in which code is built.
    scratch: RefCell<Option<Scratch>>,
}

impl Library {
    /// One without any text, of which the names are looked up in `space`.
    pub fn new(ctx: &Arc<Context>, space: Space) -> Rc<Self> {
        Rc::new(Self {
            ctx: Arc::clone(ctx),
            space,
            counter: Cell::default(),
            structs: RefCell::default(),
            scratch: RefCell::default(),
        })
    }

    /// The context of its texts.
    pub fn ctx(&self) -> &Arc<Context> {
        &self.ctx
    }

    /// Lowers a text in which no loop at top level assigns to global variables, but for the code
    /// of its methods.
    ///
    /// # Errors
    /// Returns the errors of the text outside of the code of its methods, in the order of the text.
    pub fn lower_signatures(self: &Rc<Self>, ast: Ast) -> Result<Vec<Statement>, Vec<Diagnostic>> {
        let found = self.lower_with(&ast, |lower| {
            let mut found: Vec<Found> = Vec::with_capacity(ast.statements().len());
            let mut items = Vec::new();
            for &id in ast.statements() {
                let mut definition = id;
                while let Kind::Inbounds(inner) = ast.kind(definition) {
                    definition = inner;
                }
                if matches!(ast.kind(definition), Kind::Function { body: Some(_), .. }) {
                    lower.signatures_only = true;
                    found.push(Found::Methods(definition, lower.definition(definition, None)));
                    lower.signatures_only = false;
                } else {
                    lower.item(id, &mut items);
                    found.extend(items.drain(..).map(Found::Item));
                }
            }
            found
        })?;
        let text = Rc::new(Text { library: Rc::clone(self), ast });
        let statements = found.into_iter().map(|found| match found {
            Found::Item(item) => Statement::Item(item),
            Found::Methods(definition, methods) => {
                let later = |which| DeferredBody { text: Rc::clone(&text), definition, which };
                let methods = methods.into_iter().enumerate();
                Statement::Signatures(methods.map(|(which, def)| (def, later(which))).collect())
            }
        });
        Ok(statements.collect())
    }

    /// Lowers something of a tree with what is shared.
    fn lower_with<T>(
        &self,
        ast: &Ast,
        lowered: impl FnOnce(&mut Lower<'_>) -> T,
    ) -> Result<T, Vec<Diagnostic>> {
        let options = LowerOptions {
            soft_scope: false,
            is_global: &|_| false,
            space: self.space,
            counter: &self.counter,
        };
        let mut lower = match self.scratch.take() {
            Some(scratch) => Lower::within(&self.ctx, ast, &options, scratch),
            None => Lower::new(&self.ctx, ast, &options),
        };
        lower.structs = self.structs.take();
        let result = lowered(&mut lower);
        let errors = std::mem::take(&mut lower.errors);
        self.structs.replace(std::mem::take(&mut lower.structs));
        self.scratch.replace(Some(lower.into_scratch()));
        if errors.is_empty() { Ok(result) } else { Err(in_text_order(errors)) }
    }
}

/// A statement, while the text is being read.
enum Found {
    Methods(ExprId, Vec<MethodDef>),
    Item(Item),
}

impl DeferredBody {
    /// Lowers the code: the function, and the functions that are made in it.
    ///
    /// # Errors
    /// The errors of its code, in the order of the text.
    pub fn lower(&self) -> Result<(Arc<Function>, Vec<ClosureDef>), Vec<Diagnostic>> {
        let Text { library, ast } = &*self.text;
        let mut methods =
            library.lower_with(ast, |lower| lower.definition(self.definition, None))?;
        if self.which >= methods.len() {
            return Err(Vec::new());
        }
        let method = methods.swap_remove(self.which);
        Ok((method.body, method.closures))
    }
}
