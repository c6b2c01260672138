//! Dispatch: finds the method that a call runs.
//!
//! Answers are kept by callee and argument types: asking again is one lookup in a hash table,
//! without an allocation. A definition asks those questions again that its table could answer,
//! and invalidates the specialisations that got another answer.

use std::rc::Rc;

use regraft_dialects::semantics::is_exact;
use regraft_ir::{Symbol, Type, TypeKind};
use smallvec::SmallVec;

use super::backedges::note;
use super::define::KEYWORD_CALL;
use super::entities::{Dispatch, MethodId, MethodMatch, SpecId};
use super::method::{TableKey, TableOwner};
use super::tables::Method;
use super::tables::World;
use super::types::Ty;

impl World {
    /// The method that a call runs; `by` becomes invalid if that changes. Argument types are those
    /// that the IR knows, of which some may not be exact (`any`, `tuple<any>`).
    ///
    /// O(arguments) if it was asked before; else O(methods of the callee).
    #[inline]
    pub fn dispatch(&mut self, callee: Type, args: &[Type], by: Option<SpecId>) -> Dispatch {
        let id = match self.cache.find(callee, args) {
            Some(id) => id,
            None => self.ask(callee, args),
        };
        let question = &mut self.cache.questions[id as usize];
        if let Some(by) = by {
            note(&mut question.dependents, by);
        }
        question.answer.clone()
    }

    #[cold]
    fn ask(&mut self, callee: Type, args: &[Type]) -> u32 {
        self.define_functions(&[callee]);
        self.define_functions(args);
        for key in self.tables_of(callee, args) {
            self.define_deferred_for(key, args);
        }
        let answer = self.decide(callee, args);
        let id = self.cache.insert(callee, args, answer);
        for key in self.tables_of(callee, args) {
            self.tables.entry(key).or_default().questions.push(id);
        }
        id
    }

    /// Defines all methods of the prelude for a callee that are not parsed yet.
    pub fn know_methods_of(&mut self, callee: Type) {
        self.define_functions(&[callee]);
        for key in self.tables_of(callee, &[]) {
            self.define_whole(key);
        }
    }

    /// Defines the methods of the prelude for a callee, which may be `#kwcall`, with its arguments, that are not
    /// parsed yet; but for those that take only what there is no value of.
    pub(crate) fn know_methods(&mut self, callee: Type, args: &[Type]) {
        for key in self.tables_of(callee, args) {
            self.define_deferred(key);
        }
    }

    /// Says that `by` becomes invalid if the program adds a method of a callee, or replaces one.
    pub(crate) fn watch_methods(&mut self, callee: Type, by: SpecId) {
        self.define_functions(&[callee]);
        for key in self.tables_of(callee, &[]) {
            note(&mut self.tables.entry(key).or_default().watchers, by);
        }
    }

    /// Returns how many arguments a callee takes, if all its methods take as many. O(methods).
    pub(crate) fn argument_count(&mut self, callee: Type) -> Option<usize> {
        self.know_methods_of(callee);
        let mut count = None;
        for key in self.tables_of(callee, &[]) {
            let methods = self.tables.get(&key).into_iter().flat_map(|table| &table.methods);
            for &id in methods {
                let Method { signature, .. } = &self.methods[id];
                let own = signature.params.len().checked_sub(1)?;
                if signature.rest.is_some() || count.is_some_and(|count| count != own) {
                    return None;
                }
                count = Some(own);
            }
        }
        count
    }

    /// Returns whether a method of a function has a parameter at `position` that a value of type `of` may be given for, beside
    /// others of which there are values; the function itself is at position 0. If none has, `by` becomes invalid
    /// when the program defines one. O(methods of the function).
    pub(crate) fn may_mention(
        &mut self,
        function: Symbol,
        position: usize,
        of: Type,
        by: SpecId,
    ) -> bool {
        let key = TableOwner::Function(function).plain();
        if let Some(table) = self.tables.get_mut(&key)
            && let Some(unmentioned) = table.unmentioned.get_mut(&(of, position))
            && unmentioned.known == self.bindings.notes.taken()
        {
            note(&mut unmentioned.dependents, by);
            return false;
        }
        self.define_functions(&[self.ctx.ty(TypeKind::Fn(function)), of]);
        self.define_mentioning(key, position - 1, of);
        let ty = self.types.ty_of(of);
        let mut methods = self.tables.get(&key).into_iter().flat_map(|table| &table.methods);
        if methods.any(|&id| self.may_take_at(id, position, &ty)) {
            return true;
        }
        let table = self.tables.entry(key).or_default();
        let unmentioned = table.unmentioned.entry((of, position)).or_default();
        unmentioned.known = self.bindings.notes.taken();
        note(&mut unmentioned.dependents, by);
        false
    }

    /// Returns whether the parameter of a method at a position may be for a value of a type.
    fn may_take_at(&self, method: MethodId, position: usize, of: &Ty) -> bool {
        let signature = &self.methods[method].signature;
        let Some(param) = signature.params.get(position) else { return signature.rest.is_some() };
        quickly_fits(std::slice::from_ref(param), std::slice::from_ref(of))
            && !self.types.is_disjoint(of, param, &signature.bounds)
    }

    /// The tables with methods that may be for a call.
    pub(super) fn tables_of(&self, callee: Type, args: &[Type]) -> SmallVec<[TableKey; 4]> {
        let mut keys: SmallVec<[TableKey; 4]> = SmallVec::new();
        if let Some(of) = self.keyword_callee(callee, args) {
            let plain = self.owners_of(of);
            keys.extend(plain.into_iter().map(|owner| TableKey { owner, keywords: true }));
        }
        keys.extend(self.owners_of(callee).into_iter().map(TableOwner::plain));
        keys
    }

    /// The type of what is called with arguments by name, if this is such a call.
    pub(super) fn keyword_callee(&self, callee: Type, args: &[Type]) -> Option<Type> {
        let &[_, of, ..] = args else { return None };
        let TypeKind::Fn(name) = *self.ctx.kind(callee) else { return None };
        (self.ctx.str(name) == KEYWORD_CALL).then_some(of)
    }

    fn owners_of(&self, callee: Type) -> SmallVec<[TableOwner; 4]> {
        let mut owners = SmallVec::new();
        match *self.ctx.kind(callee) {
            TypeKind::Fn(name) => owners.push(TableOwner::Function(name)),
            TypeKind::TypeOf(of) => {
                let family = self.types.head(&self.types.ty_of(of));
                owners.extend(family.map(TableOwner::Constructor));
                owners.push(TableOwner::AnyConstructor);
            }
            _ => {
                let family = self.types.head(&Ty::Concrete(callee));
                let above = family.into_iter().flat_map(|family| self.types.ancestors(family));
                owners.extend(above.map(TableOwner::Instance));
            }
        }
        owners
    }

    /// The table that methods of a callee are in.
    pub(super) fn table_for(&self, callee: &Ty) -> Option<TableOwner> {
        Some(match callee {
            Ty::Concrete(ty) => match self.ctx.kind(*ty) {
                &TypeKind::Fn(name) => TableOwner::Function(name),
                _ => TableOwner::Instance(self.types.head(callee)?),
            },
            Ty::TypeOf(of) => match &**of {
                Ty::Var(_) | Ty::Union(_) | Ty::Any | Ty::Bottom | Ty::TypeOf(_) => {
                    TableOwner::AnyConstructor
                }
                of => {
                    let family = self.types.head(of);
                    family.map_or(TableOwner::AnyConstructor, TableOwner::Constructor)
                }
            },
            Ty::Where(_, body) => match &**body {
                Ty::TypeOf(_) => TableOwner::AnyConstructor,
                body => TableOwner::Instance(self.types.head(body)?),
            },
            other => TableOwner::Instance(self.types.head(other)?),
        })
    }

    fn decide(&mut self, callee: Type, args: &[Type]) -> Dispatch {
        if args.contains(&Type::NEVER) || callee == Type::NEVER {
            return Dispatch::Unknown;
        }
        if callee == Type::ANY || self.keyword_callee(callee, args) == Some(Type::ANY) {
            return Dispatch::Unknown;
        }
        let (candidates, types) = self.candidates(callee, args);
        if self.is_exact(callee, args) {
            self.decide_exact(&candidates, &types)
        } else {
            self.decide_partly(&candidates, &types)
        }
    }

    /// Returns whether the types of callee and arguments tell all of their values.
    fn is_exact(&self, callee: Type, args: &[Type]) -> bool {
        std::iter::once(&callee).chain(args).all(|&ty| is_exact(&self.ctx, ty))
    }

    /// The most specific method for all arguments of declared types.
    pub(super) fn declared_method(&mut self, callee: Type, declared: &[Type]) -> Dispatch {
        self.define_functions(&[callee]);
        self.define_functions(declared);
        self.know_methods(callee, declared);
        let (candidates, types) = self.candidates(callee, declared);
        self.decide_exact(&candidates, &types)
    }

    /// The types of an argument, at a position from 0, for which there is a method of a call with other arguments of these
    /// types; `None` if some method takes more than one type there, or there are more than `most` methods.
    pub(crate) fn types_taken(
        &mut self,
        callee: Type,
        args: &[Type],
        position: usize,
        most: usize,
    ) -> Option<Vec<Type>> {
        self.know_methods(callee, args);
        let (candidates, types) = self.candidates(callee, args);
        let possible = self.possible(&candidates, &types);
        if possible.len() > most {
            return None;
        }
        let mut taken = Vec::new();
        for id in possible {
            match self.methods[id].signature.param(position + 1)? {
                Ty::Concrete(ty) if !taken.contains(ty) => taken.push(*ty),
                Ty::Concrete(_) => {}
                _ => return None,
            }
        }
        Some(taken)
    }

    /// The methods that may be meant by a call, and the types of callee and arguments.
    fn candidates(
        &self,
        callee: Type,
        args: &[Type],
    ) -> (SmallVec<[MethodId; 16]>, SmallVec<[Ty; 6]>) {
        let mut types: SmallVec<[Ty; 6]> = SmallVec::new();
        types.push(self.types.ty_of(callee));
        types.extend(args.iter().map(|&ty| self.types.ty_of(ty)));
        let mut candidates: SmallVec<[MethodId; 16]> = SmallVec::new();
        for key in self.tables_of(callee, args) {
            let Some(table) = self.tables.get(&key) else { continue };
            let alive = |&&id: &&MethodId| {
                let method = &self.methods[id];
                method.signature.takes(types.len())
                    && quickly_fits(&method.signature.params, &types)
            };
            candidates.extend(table.methods.iter().filter(alive).copied());
        }
        (candidates, types)
    }

    fn decide_exact(&mut self, candidates: &[MethodId], types: &[Ty]) -> Dispatch {
        let mut fitting = Vec::new();
        for &id in candidates {
            let Method { signature, .. } = &self.methods[id];
            if let Some(statics) = self.types.match_exact(signature, types) {
                fitting.push(MethodMatch { method: id, statics, exact: true });
            }
        }
        match self.most_specific(&fitting.iter().map(|found| found.method).collect::<Vec<_>>()) {
            Ok(None) => Dispatch::None,
            Ok(Some(index)) => Dispatch::Method(fitting.swap_remove(index)),
            Err(several) => Dispatch::Ambiguous(several),
        }
    }

    /// Returns the candidates that values of these types may be given to.
    fn possible(&self, candidates: &[MethodId], types: &[Ty]) -> Vec<MethodId> {
        candidates.iter().copied().filter(|&id| self.may_be_given(id, types)).collect()
    }

    /// Returns whether values of these types, as many as a method takes, may be its callee and arguments.
    fn may_be_given(&self, method: MethodId, types: &[Ty]) -> bool {
        let signature = &self.methods[method].signature;
        let params = (0..types.len()).map_while(|at| signature.param(at));
        let disjoint = |(ty, param)| self.types.is_disjoint(ty, param, &signature.bounds);
        !types.iter().zip(params).any(disjoint)
    }

    fn decide_partly(&mut self, candidates: &[MethodId], types: &[Ty]) -> Dispatch {
        let possible = self.possible(candidates, types);
        if possible.is_empty() {
            return Dispatch::None;
        }
        // The most specific of those that might be meant, if it is right in any case.
        let Ok(Some(index)) = self.most_specific(&possible) else { return Dispatch::Unknown };
        let method = possible[index];
        let signature = &self.methods[method].signature;
        match self.types.match_partly(signature, types) {
            Some(Some(statics)) => Dispatch::Method(MethodMatch { method, statics, exact: false }),
            _ => Dispatch::Unknown,
        }
    }

    /// The position of the method that is more specific than all others, or those that none of
    /// the others is more specific than.
    fn most_specific(&self, fitting: &[MethodId]) -> Result<Option<usize>, Rc<[MethodId]>> {
        if fitting.len() < 2 {
            return Ok((!fitting.is_empty()).then_some(0));
        }
        let signature = |index: usize| &self.methods[fitting[index]].signature;
        // The best of all is the best of each pair that it is in: those behind it have been compared with it.
        let mut best = 0;
        for other in 1..fitting.len() {
            if !self.types.is_more_specific(signature(best), signature(other)) {
                best = other;
            }
        }
        let beats = |other| self.types.is_more_specific(signature(best), signature(other));
        if (0..best).all(beats) {
            return Ok(Some(best));
        }
        let undominated = |&index: &usize| {
            !(0..fitting.len()).any(|other| {
                other != index && self.types.is_more_specific(signature(other), signature(index))
            })
        };
        Err((0..fitting.len()).filter(undominated).map(|index| fitting[index]).collect())
    }

    /// Returns whether a method may be one for these arguments.
    fn may_take(&self, method: MethodId, callee: Type, args: &[Type]) -> bool {
        let types = std::iter::once(&callee).chain(args).map(|&ty| self.types.ty_of(ty));
        let types: SmallVec<[Ty; 6]> = types.collect();
        self.methods[method].signature.takes(types.len()) && self.may_be_given(method, &types)
    }

    /// Invalidates the specialisations that know that no method of this table is for what the new one
    /// may be for.
    fn mention(&mut self, key: TableKey, new: MethodId) {
        let Some(table) = self.tables.get(&key) else { return };
        let asked = table.unmentioned.keys().copied();
        let is_for = |&(of, position): &(Type, usize)| {
            self.may_take_at(new, position, &self.types.ty_of(of))
        };
        let mut found: Vec<_> = asked.filter(is_for).collect();
        found.sort_unstable();
        for asked in found {
            let table = self.tables.get_mut(&key);
            let unmentioned = table.and_then(|table| table.unmentioned.remove(&asked));
            for spec in unmentioned.into_iter().flat_map(|asked| asked.dependents) {
                self.edges.invalidate(spec);
            }
        }
    }

    /// Asks the questions again that a method of this table may answer, after it was defined. `is_new` is false of
    /// one that was deferred.
    pub(super) fn ask_again(&mut self, key: TableKey, new: MethodId, is_new: bool) {
        if is_new {
            self.mention(key, new);
        }
        let Some(table) = self.tables.get_mut(&key) else { return };
        let questions = std::mem::take(&mut table.questions);
        if is_new {
            for spec in std::mem::take(&mut table.watchers) {
                self.edges.invalidate(spec);
            }
        }
        for &id in &questions {
            let question = &self.cache.questions[id as usize];
            let (callee, args) = (question.callee, question.args.clone());
            if !self.may_take(new, callee, &args) {
                continue;
            }
            let answer = self.decide(callee, &args);
            let question = &mut self.cache.questions[id as usize];
            if question.answer != answer {
                question.answer = answer;
                for spec in std::mem::take(&mut question.dependents) {
                    self.edges.invalidate(spec);
                }
            }
        }
        if let Some(table) = self.tables.get_mut(&key) {
            table.questions = questions;
        }
    }
}

/// Returns whether it cannot be seen at once that the arguments do not fit.
#[inline]
fn quickly_fits(params: &[Ty], types: &[Ty]) -> bool {
    params.iter().zip(types).all(|pair| match pair {
        (Ty::Concrete(param), Ty::Concrete(ty)) => param == ty,
        (Ty::TypeOf(_), Ty::Concrete(_)) | (Ty::Concrete(_), Ty::TypeOf(_)) => false,
        _ => true,
    })
}
