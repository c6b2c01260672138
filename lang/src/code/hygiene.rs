//! The hygiene of macros, on trees of code that is data.
//!
//! A name in the code that a macro gives means what it means where the macro is defined, unless the
//! code itself makes a variable of it: then it gets a name that nobody else has. What is within
//! `esc` is left as it is. The rules are those of Julia's manual ("Metaprogramming", Hygiene).

use std::cell::Cell;

use regraft_ir::{Context, Symbol};
use regraft_syntax::julia::{Ast, ExprId, Kind, List};
use rustc_hash::{FxHashMap, FxHashSet};

/// The head of the code that a macro gave: the code, and the path of the module of the macro.
pub(crate) const HYGIENIC_SCOPE: &str = "hygienic-scope";

/// Words that mean the same everywhere. Operators do, too.
const FIXED: [&str; 11] =
    ["nothing", "Base", "Core", "Main", "begin", "end", "new", "ccall", "true", "false", "_"];

/// New names for the variables of a scope.
type Scope = FxHashMap<Symbol, Symbol>;

/// The code of one macro.
struct Expansion {
    module: Symbol,
    scopes: Vec<Scope>,
}

/// Renames what macros brought along.
pub(crate) struct Hygiene<'a> {
    ctx: &'a Context,
    ast: &'a mut Ast,
    /// The number of the last new name.
    counter: &'a Cell<u32>,
    expansions: Vec<Expansion>,
}

impl<'a> Hygiene<'a> {
    /// Of the trees of `ast`.
    pub(crate) fn new(ctx: &'a Context, ast: &'a mut Ast, counter: &'a Cell<u32>) -> Self {
        Self { ctx, ast, counter, expansions: Vec::new() }
    }

    /// The tree in which all names mean what they should. O(size).
    pub(crate) fn tree(&mut self, id: ExprId) -> ExprId {
        match self.ast.kind(id) {
            Kind::Name(name) => match self.meaning(name) {
                Some(kind) => self.ast.add(kind, self.ast.span(id)),
                None => id,
            },
            Kind::Form { head, args } => {
                let head = self.ctx.str(head).to_owned();
                stacker::maybe_grow(64 << 10, 1 << 20, || self.form(id, &head, args))
            }
            _ => id,
        }
    }

    /// The meaning of a name, if it is another one than it was.
    fn meaning(&self, name: Symbol) -> Option<Kind> {
        let expansion = self.expansions.last()?;
        if let Some(&new) = expansion.scopes.iter().rev().find_map(|scope| scope.get(&name)) {
            return Some(Kind::Name(new));
        }
        let text = self.ctx.str(name);
        let is_word = text.starts_with(|c: char| c.is_alphabetic() || "_@#".contains(c));
        let keeps = FIXED.contains(&text) || !is_word;
        (!keeps).then_some(Kind::GlobalRef { module: expansion.module, name })
    }

    fn list(&self, list: List) -> Vec<ExprId> {
        self.ast.list(list).to_vec()
    }

    fn args_of(&self, id: ExprId, name: &str) -> Option<Vec<ExprId>> {
        match self.ast.kind(id) {
            Kind::Form { head, args } if self.ctx.str(head) == name => Some(self.list(args)),
            _ => None,
        }
    }

    fn with_args(&mut self, id: ExprId, args: &[ExprId]) -> ExprId {
        let Kind::Form { head, .. } = self.ast.kind(id) else { return id };
        let args = self.ast.add_list(args);
        self.ast.add(Kind::Form { head, args }, self.ast.span(id))
    }

    fn all(&mut self, ids: &[ExprId]) -> Vec<ExprId> {
        ids.iter().map(|&id| self.tree(id)).collect()
    }

    fn form(&mut self, id: ExprId, head: &str, list: List) -> ExprId {
        let args = self.list(list);
        match (head, &*args) {
            (HYGIENIC_SCOPE, &[body, module, ..]) => {
                let Kind::Name(module) = self.ast.kind(module) else { return body };
                self.expansions.push(Expansion { module, scopes: Vec::new() });
                let made = self.scoped(&[body], &[], |hygiene| hygiene.tree(body));
                self.expansions.pop();
                made
            }
            ("escape", &[inner]) => {
                let outer = self.expansions.pop();
                let made = self.tree(inner);
                self.expansions.extend(outer);
                made
            }
            (
                "inert" | "using" | "import" | "export" | "module" | "symbolicgoto"
                | "symboliclabel" | "meta" | "line",
                _,
            ) => id,
            ("quote", &[inner]) => {
                let inner = self.quoted(inner, 1);
                self.with_args(id, &[inner])
            }
            // What macros made is all that is renamed.
            _ if self.expansions.is_empty() => {
                let args = self.all(&args);
                self.with_args(id, &args)
            }
            ("kw", &[name, value]) => {
                let value = self.tree(value);
                self.with_args(id, &[name, value])
            }
            // The names of a named tuple are no variables.
            ("tuple", args) => {
                let item = |hygiene: &mut Self, item| match *hygiene.args_of(item, "=")? {
                    [name, value] => {
                        let value = hygiene.tree(value);
                        Some(hygiene.with_args(item, &[name, value]))
                    }
                    _ => None,
                };
                let made: Vec<ExprId> = args
                    .iter()
                    .map(|&arg| item(self, arg).unwrap_or_else(|| self.tree(arg)))
                    .collect();
                self.with_args(id, &made)
            }
            (".", &[base, name]) if self.args_of(name, "tuple").is_none() => {
                let base = self.tree(base);
                let name = if matches!(self.ast.kind(name), Kind::Form { .. }) {
                    self.tree(name)
                } else {
                    name
                };
                self.with_args(id, &[base, name])
            }
            ("macrocall", &[name, line, ref rest @ ..]) => {
                let mut made = vec![name, line];
                let is_label = matches!(self.ast.kind(name), Kind::Name(name) if matches!(self.ctx.str(name), "@goto" | "@label"));
                made.extend(if is_label { rest.to_vec() } else { self.all(rest) });
                self.with_args(id, &made)
            }
            ("global", args) => {
                let made: Vec<ExprId> = args.iter().map(|&arg| self.global(arg)).collect();
                self.with_args(id, &made)
            }
            ("struct", &[mutable, name, body]) => {
                let mut own = Scope::default();
                self.keep(name, &mut own);
                self.with_scope(own, |hygiene| {
                    let name = hygiene.tree(name);
                    let body = hygiene.fields(body);
                    hygiene.with_args(id, &[mutable, name, body])
                })
            }
            ("abstract", &[name]) => {
                let mut own = Scope::default();
                self.keep(name, &mut own);
                self.with_scope(own, |hygiene| {
                    let name = hygiene.tree(name);
                    hygiene.with_args(id, &[name])
                })
            }
            ("function" | "->" | "macro", &[signature, body]) => self.function(id, signature, body),
            ("=", &[target, value]) if self.called(target).is_some() => {
                self.function(id, target, value)
            }
            ("for" | "let", &[specs, body]) => {
                let all = self.args_of(specs, "block").unwrap_or_else(|| vec![specs]);
                let specs = self.clauses(&all);
                let targets = self.targets(&all);
                self.scoped(&[body], &targets, |hygiene| {
                    let specs = hygiene.targets_of(&specs);
                    let body = hygiene.tree(body);
                    let specs = hygiene.block(specs, id);
                    hygiene.with_args(id, &[specs, body])
                })
            }
            ("while", &[condition, body]) => self.scoped(&[condition, body], &[], |hygiene| {
                let parts = hygiene.all(&[condition, body]);
                hygiene.with_args(id, &parts)
            }),
            ("try", &[body, error, handler, ref rest @ ..]) => {
                let mut made = vec![self.scoped(&[body], &[], |hygiene| hygiene.tree(body))];
                let caught: Vec<ExprId> = if matches!(self.ast.kind(error), Kind::Name(_)) {
                    vec![error]
                } else {
                    vec![]
                };
                let parts =
                    self.scoped(&[handler], &caught, |hygiene| hygiene.all(&[error, handler]));
                made.extend(parts);
                for &part in rest {
                    made.push(self.scoped(&[part], &[], |hygiene| hygiene.tree(part)));
                }
                self.with_args(id, &made)
            }
            ("generator", &[body, ref specs @ ..]) => self.generator(id, body, specs),
            _ => {
                let made = self.all(&args);
                self.with_args(id, &made)
            }
        }
    }

    /// Code that is quoted: only what stands behind a `$` is looked at.
    fn quoted(&mut self, id: ExprId, level: u32) -> ExprId {
        let Kind::Form { head, args } = self.ast.kind(id) else { return id };
        let level = match self.ctx.str(head) {
            "$" if level == 1 => {
                let args = self.list(args);
                let made = self.all(&args);
                return self.with_args(id, &made);
            }
            "$" => level - 1,
            "quote" => level + 1,
            _ => level,
        };
        let args = self.list(args);
        let made: Vec<ExprId> = args.iter().map(|&arg| self.quoted(arg, level)).collect();
        self.with_args(id, &made)
    }

    /// A name that is declared to be global keeps it.
    fn global(&mut self, id: ExprId) -> ExprId {
        match self.args_of(id, "=").as_deref() {
            Some(&[target, value]) => {
                let target = self.global(target);
                let value = self.tree(value);
                self.with_args(id, &[target, value])
            }
            _ => id,
        }
    }

    /// Fields of a struct keep their names.
    fn fields(&mut self, id: ExprId) -> ExprId {
        let Kind::Form { head, args } = self.ast.kind(id) else { return id };
        let args = self.list(args);
        match (self.ctx.str(head), &*args) {
            ("::", &[name, ty]) => {
                let ty = self.tree(ty);
                self.with_args(id, &[name, ty])
            }
            ("=" | "const", &[field, ref rest @ ..]) if self.called(field).is_none() => {
                let mut made = vec![self.fields(field)];
                made.extend(self.all(rest));
                self.with_args(id, &made)
            }
            ("block", args) => {
                let made: Vec<ExprId> = args.iter().map(|&arg| self.fields(arg)).collect();
                self.with_args(id, &made)
            }
            _ => self.tree(id),
        }
    }

    // --- scopes ------------------------------------------------------------------------------

    /// Goes on in a scope with these new names.
    fn with_scope<T>(&mut self, scope: Scope, run: impl FnOnce(&mut Self) -> T) -> T {
        if let Some(expansion) = self.expansions.last_mut() {
            expansion.scopes.push(scope);
        }
        let made = run(self);
        if let Some(expansion) = self.expansions.last_mut() {
            expansion.scopes.pop();
        }
        made
    }

    /// Goes on in the scope of some code: what the patterns bind is new in it, and what the code
    /// assigns if no scope around has it.
    fn scoped<T>(
        &mut self,
        code: &[ExprId],
        patterns: &[ExprId],
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let mut bound = FxHashSet::default();
        let mut found = Assigned::default();
        patterns.iter().for_each(|&id| self.bound_by(id, &mut bound));
        code.iter().for_each(|&id| self.assigned(id, &mut found));
        found.names.retain(|name| !found.globals.contains(name) && !self.is_bound(*name));
        bound.extend(found.names);
        bound.extend(found.locals);
        let mut bound: Vec<Symbol> = bound.into_iter().collect();
        bound.sort_by_key(|&name| self.ctx.str(name));
        let scope = bound.into_iter().map(|name| (name, self.fresh(name))).collect();
        self.with_scope(scope, run)
    }

    fn is_bound(&self, name: Symbol) -> bool {
        let last = self.expansions.last();
        last.is_some_and(|last| last.scopes.iter().any(|scope| scope.contains_key(&name)))
    }

    fn fresh(&self, name: Symbol) -> Symbol {
        self.counter.set(self.counter.get() + 1);
        self.ctx.symbol(&format!("#{}#{}", self.counter.get(), self.ctx.str(name)))
    }

    /// The names of a type and of its parameters are kept.
    fn keep(&self, id: ExprId, scope: &mut Scope) {
        match self.ast.kind(id) {
            Kind::Name(name) => {
                scope.insert(name, name);
            }
            Kind::Form { head, args } => {
                let args = self.ast.list(args);
                let count = if self.ctx.str(head) == "curly" { args.len() } else { 1 };
                args.iter().take(count).for_each(|&arg| self.keep(arg, scope));
            }
            _ => {}
        }
    }

    // --- functions and loops -----------------------------------------------------------------

    /// The call in the head of a function.
    fn called(&self, id: ExprId) -> Option<Vec<ExprId>> {
        if let Some(args) = self.args_of(id, "call") {
            return Some(args);
        }
        let inner = self.args_of(id, "where").or_else(|| self.args_of(id, "::"))?;
        self.called(*inner.first()?)
    }

    fn function(&mut self, id: ExprId, signature: ExprId, body: ExprId) -> ExprId {
        let mut params = Vec::new();
        let mut kept = Scope::default();
        let name = self.parameters(signature, &mut params, &mut kept);
        // The name of the function is one of the scope around.
        let callee = name.map(|name| self.tree(name));
        self.scoped(&[body], &params, |hygiene| {
            hygiene.with_scope(kept, |hygiene| {
                let signature = hygiene.signature(signature, name, callee);
                let body = hygiene.tree(body);
                hygiene.with_args(id, &[signature, body])
            })
        })
    }

    /// Collects the parameters of a function, type parameters too; those that are passed by name
    /// keep it. Returns the name of the function.
    fn parameters(&self, id: ExprId, params: &mut Vec<ExprId>, kept: &mut Scope) -> Option<ExprId> {
        if let Some(args) = self.args_of(id, "where") {
            params.extend(args.iter().skip(1).map(|&arg| match self.ast.kind(arg) {
                Kind::Form { args, .. } => self.ast.list(args).first().copied().unwrap_or(arg),
                _ => arg,
            }));
            return self.parameters(*args.first()?, params, kept);
        }
        if let Some(args) = self.args_of(id, "::")
            && let &[value, _] = &*args
            && matches!(self.ast.kind(value), Kind::Form { .. })
        {
            return self.parameters(value, params, kept);
        }
        let (name, all) = match self.args_of(id, "call") {
            Some(args) => (args.first().copied(), args.get(1..).unwrap_or(&[]).to_vec()),
            None => match self.args_of(id, "tuple").or_else(|| self.args_of(id, "block")) {
                Some(args) => (None, args),
                None => (None, vec![id]),
            },
        };
        for arg in all {
            match self.args_of(arg, "parameters") {
                Some(named) => {
                    let mut names = FxHashSet::default();
                    named.iter().for_each(|&id| self.bound_by(id, &mut names));
                    kept.extend(names.into_iter().map(|name| (name, name)));
                }
                None => params.push(arg),
            }
        }
        name
    }

    /// The head of a function, whose name has been looked at.
    fn signature(&mut self, id: ExprId, name: Option<ExprId>, callee: Option<ExprId>) -> ExprId {
        if Some(id) == name {
            return callee.unwrap_or(id);
        }
        let Kind::Form { args, .. } = self.ast.kind(id) else { return self.tree(id) };
        let is_part = ["call", "where", "::", "tuple", "block", "parameters", "kw", "..."]
            .iter()
            .any(|part| self.args_of(id, part).is_some());
        if !is_part {
            return self.tree(id);
        }
        let args = self.list(args);
        let made: Vec<ExprId> =
            args.into_iter().map(|arg| self.signature(arg, name, callee)).collect();
        self.with_args(id, &made)
    }

    /// The clauses of a loop, with the expressions that they iterate over, which are of the scope
    /// around.
    fn clauses(&mut self, specs: &[ExprId]) -> Vec<(ExprId, Option<ExprId>, ExprId)> {
        let specs = specs.iter().map(|&spec| match self.args_of(spec, "=").as_deref() {
            Some(&[target, value]) => (target, Some(self.tree(value)), spec),
            _ => (spec, None, spec),
        });
        specs.collect()
    }

    fn targets(&self, specs: &[ExprId]) -> Vec<ExprId> {
        let target = |&spec: &ExprId| match self.args_of(spec, "=").as_deref() {
            Some(&[target, _]) => target,
            _ => spec,
        };
        specs.iter().map(target).collect()
    }

    /// The clauses again, once their targets are bound.
    fn targets_of(&mut self, specs: &[(ExprId, Option<ExprId>, ExprId)]) -> Vec<ExprId> {
        let made = specs.iter().map(|&(target, value, spec)| {
            let target = self.tree(target);
            match value {
                Some(value) => self.with_args(spec, &[target, value]),
                None => target,
            }
        });
        made.collect()
    }

    fn block(&mut self, ids: Vec<ExprId>, at: ExprId) -> ExprId {
        if let [only] = &*ids {
            return *only;
        }
        let args = self.ast.add_list(&ids);
        let head = self.ctx.symbol("block");
        self.ast.add(Kind::Form { head, args }, self.ast.span(at))
    }

    fn generator(&mut self, id: ExprId, body: ExprId, specs: &[ExprId]) -> ExprId {
        // A filter stands in front of its clauses.
        let filter = specs.first().and_then(|&spec| Some((spec, self.args_of(spec, "filter")?)));
        let (filtered, condition, specs) = match &filter {
            Some((spec, args)) => (Some(*spec), args.first().copied(), &args[1..]),
            None => (None, None, specs),
        };
        let values = self.clauses(specs);
        let targets = self.targets(specs);
        self.scoped(&[], &targets, |hygiene| {
            let mut specs = hygiene.targets_of(&values);
            if let (Some(filter), Some(condition)) = (filtered, condition) {
                specs.insert(0, hygiene.tree(condition));
                specs = vec![hygiene.with_args(filter, &specs)];
            }
            specs.insert(0, hygiene.tree(body));
            hygiene.with_args(id, &specs)
        })
    }

    // --- what is bound -----------------------------------------------------------------------

    /// Collects the names that a pattern binds.
    fn bound_by(&self, id: ExprId, names: &mut FxHashSet<Symbol>) {
        match self.ast.kind(id) {
            Kind::Name(name) => {
                names.insert(name);
            }
            Kind::Form { head, args } => {
                let args = self.ast.list(args);
                match self.ctx.str(head) {
                    "tuple" | "parameters" => {
                        args.iter().for_each(|&arg| self.bound_by(arg, names));
                    }
                    "::" if args.len() == 1 => {}
                    "::" | "..." | "kw" | "=" | "<:" | ">:" => {
                        args.iter().take(1).for_each(|&arg| self.bound_by(arg, names));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Collects the names that code assigns in its own scope.
    fn assigned(&self, id: ExprId, found: &mut Assigned) {
        let Kind::Form { head, args } = self.ast.kind(id) else { return };
        let args = self.ast.list(args);
        match (self.ctx.str(head), args) {
            ("=", &[target, value]) => match self.called(target) {
                Some(call) => self.function_name(&call, found),
                None => {
                    self.bound_by(target, &mut found.names);
                    self.assigned(value, found);
                }
            },
            ("tuple", args) => {
                for &arg in args {
                    let value = self.args_of(arg, "=").and_then(|pair| pair.get(1).copied());
                    self.assigned(value.unwrap_or(arg), found);
                }
            }
            ("function", &[signature, ..]) => {
                if let Some(call) = self.called(signature) {
                    self.function_name(&call, found);
                }
            }
            ("local", args) => args.iter().for_each(|&arg| self.bound_by(arg, &mut found.locals)),
            ("global", args) => {
                args.iter().for_each(|&arg| self.bound_by(arg, &mut found.globals));
            }
            (
                "escape" | "quote" | "inert" | "->" | "for" | "while" | "let" | "try" | "generator"
                | "struct" | "module" | "macro" | HYGIENIC_SCOPE,
                _,
            ) => {}
            (head, &[target, value]) if head.ends_with('=') && !is_comparison(head) => {
                self.bound_by(target, &mut found.names);
                self.assigned(value, found);
            }
            (_, args) => args.iter().for_each(|&arg| self.assigned(arg, found)),
        }
    }

    fn function_name(&self, call: &[ExprId], found: &mut Assigned) {
        if let Some(&name) = call.first()
            && let Kind::Name(name) = self.ast.kind(name)
        {
            found.names.insert(name);
        }
    }
}

/// The names that code assigns.
#[derive(Default)]
struct Assigned {
    names: FxHashSet<Symbol>,
    locals: FxHashSet<Symbol>,
    globals: FxHashSet<Symbol>,
}

fn is_comparison(head: &str) -> bool {
    matches!(head, "==" | "!=" | "<=" | ">=" | "===" | "!==" | ".=")
}
