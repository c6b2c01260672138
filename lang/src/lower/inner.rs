//! Definitions within the blocks of a statement at top level (`let`, `@testset`, a loop).
//!
//! Types are declared before the statement runs. Methods are defined when control gets to them, by
//! `call @#define(n)`. Which methods the calls of such a statement run is decided when they run
//! (`call @#late()` says so), as those that there will be are not known before.

use regraft_ir::{Constant, Loc};
use regraft_syntax::julia::ExprId;

use super::scope::NONE;
use super::ssa::Val;
use super::{Lower, LowerOptions};
use crate::definition::Item;

impl Lower<'_> {
    /// The definition of a method of a function elsewhere.
    pub(super) fn global_method(&mut self, id: ExprId, name: ExprId) -> Val {
        if !self.scopes.is_at_top(self.code.func) {
            let message = "methods of other functions are defined only at top level";
            return self.no_value(name, message, "defined in a function");
        }
        let func = self.scopes.refs[id.index()];
        let group = if func == NONE { NONE } else { self.scopes.funcs[func as usize].group };
        if group != NONE
            && let Some(&var) = self.scopes.groups[group as usize].captures.first()
        {
            let captured = self.text(self.scopes.vars[var as usize].name);
            let message = "a method of another function uses no local variables around it";
            return self.no_value(name, message, &format!("it uses `{captured}`"));
        }
        let items = self.items_within(id);
        let number = self.fresh_number();
        self.definitions.push((number, items));
        let loc = self.loc(id);
        let number = self.constant(Constant::I64(number.into()));
        self.call(self.names.define, &[number], loc)
    }

    /// Begins the code of a statement that defines methods, or that of a part of a `try` in it.
    pub(super) fn late_if_it_defines(&mut self, loc: Loc) {
        if self.scopes.defines {
            self.call(self.names.late, &[], loc);
        }
    }

    /// The declaration of a type.
    pub(super) fn type_within(&mut self, id: ExprId) -> Val {
        if !self.scopes.is_at_top(self.code.func) {
            return self.no_value(id, "types are declared only at top level", "not here");
        }
        let items = self.items_within(id);
        self.types.extend(items);
        self.unit()
    }

    /// The items of a definition, as if it stood at top level.
    fn items_within(&mut self, id: ExprId) -> Vec<Item> {
        let LowerOptions { is_global, space, counter, .. } = *self.options;
        let options = LowerOptions { soft_scope: false, is_global, space, counter };
        let mut lower = Lower::new(self.ctx, self.ast, &options);
        lower.is_expanded = true;
        lower.structs.clone_from(&self.structs);
        let items = lower.items(&[id]);
        let Lower { errors, structs, .. } = lower;
        self.errors.extend(errors);
        self.structs = structs;
        items
    }
}
