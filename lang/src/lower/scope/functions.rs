//! The first pass over functions: those with parameters, and those that generators are made of.

use regraft_ir::Symbol;
use regraft_syntax::julia::{ExprId, Kind, List};
use smallvec::SmallVec;

use super::{DeclKind, Event, NONE, Runs, ScopeKind, Walk};
use crate::lower::param::Param;

impl Walk<'_> {
    /// `inner` tells a local or anonymous function from one at top level.
    pub(super) fn function(&mut self, id: ExprId, inner: bool) {
        let (name, params, wheres, returns, body) = match self.ast.kind(id) {
            Kind::Lambda { params, wheres, returns, body } => {
                (None, params, wheres, returns, Some(body))
            }
            Kind::Function { name, params, wheres, returns, body, .. } => {
                (Some(name), params, wheres, returns, body)
            }
            _ => return,
        };
        let outer = (self.func, self.scope, self.region);
        let parent = if inner { self.func } else { NONE };
        let func = self.new_func(parent);
        self.scopes.refs[id.index()] = func;
        if inner {
            match name.map(|name| (name, self.ast.kind(name))) {
                None => self.scopes.events.push(Event::Make(func)),
                Some((expr, Kind::Name(name))) => {
                    // At the top of a statement it would be global: that is told of later.
                    self.declare(name, expr, DeclKind::Assigned, None);
                    self.scopes.events.push(Event::Define(func, name, id));
                    self.scopes.events.push(Event::Read(expr, name));
                }
                Some(_) => {
                    self.scopes.defines = true;
                    self.scopes.events.push(Event::Make(func));
                }
            }
        }
        self.func = func;
        self.enter_region(false);
        self.enter_new(ScopeKind::Func);
        self.scopes.funcs[func as usize].scope = self.scope;
        self.statics(wheres, inner);
        if let Some(name) = name
            && let Kind::Typed { value: Some(value), .. } = self.ast.kind(name)
            && let Kind::Name(symbol) = self.ast.kind(value)
        {
            self.declare(symbol, value, DeclKind::Param, None);
            self.scopes.events.push(Event::Read(value, symbol));
        }
        match name.map(|name| self.ast.kind(name)) {
            Some(Kind::Curly { params, .. }) => self.list(params),
            Some(Kind::Typed { value: None, ty }) => self.walk(ty),
            _ => {}
        }
        let (params, named) = self.ast.parted(params);
        for &param in self.ast.list(params) {
            self.param(param, inner);
        }
        // Their types are asked for by the code of the function.
        for &param in self.ast.list(named) {
            self.param(param, true);
        }
        let all = self.ast.list(params).iter().chain(self.ast.list(named)).copied();
        self.defaults(&all.collect::<SmallVec<[ExprId; 8]>>());
        for &param in self.ast.list(params) {
            if let Some(pattern) = Param::of(self.ast, param).pattern {
                self.target(pattern, DeclKind::Local);
            }
        }
        if let Some(returns) = returns {
            self.walk(returns);
        }
        if let Some(body) = body {
            self.walk(body);
        }
        self.scopes.events.push(Event::Exit);
        (self.func, self.scope, self.region) = outer;
    }

    fn param(&mut self, param: ExprId, has_type: bool) {
        let param = Param::of(self.ast, param);
        if let Some((name, expr)) = param.name {
            self.declare(name, expr, DeclKind::Param, None);
            self.scopes.events.push(Event::Read(expr, name));
        }
        if let Some(ty) = param.ty
            && has_type
        {
            self.walk(ty);
        }
    }

    /// Walks over the default values of parameters. Of each, only those before it are there.
    fn defaults(&mut self, params: &[ExprId]) {
        for (i, &param) in params.iter().enumerate() {
            let Some(default) = Param::of(self.ast, param).default else { continue };
            if matches!(
                self.ast.kind(default),
                Kind::Int(_) | Kind::Float(_) | Kind::Bool(_) | Kind::Str(_) | Kind::Sym(_)
            ) {
                continue;
            }
            let later = params[i..].iter().filter_map(|&param| Param::of(self.ast, param).name);
            let later: SmallVec<[Symbol; 8]> = later.map(|(name, _)| name).collect();
            self.scopes.events.extend(later.iter().map(|&name| Event::Hide(name)));
            self.walk(default);
            self.scopes.events.extend(later.iter().map(|&name| Event::Show(name)));
        }
    }

    fn statics(&mut self, wheres: List, inner: bool) {
        for &param in self.ast.list(wheres) {
            let (name, bounds) = match self.ast.kind(param) {
                Kind::Name(_) => (param, [None, None]),
                Kind::Call { args, .. } => match *self.ast.list(args) {
                    [name, bound] => (name, [Some(bound), None]),
                    _ => continue,
                },
                Kind::Compare { parts } => match *self.ast.list(parts) {
                    [lower, _, name, _, upper] => (name, [Some(lower), Some(upper)]),
                    _ => continue,
                },
                _ => continue,
            };
            if let Kind::Name(symbol) = self.ast.kind(name) {
                self.declare(symbol, name, DeclKind::Static, None);
                for bound in bounds.into_iter().flatten().filter(|_| inner) {
                    self.walk(bound);
                }
            }
        }
    }

    /// Each `for` of a generator is a function of what it iterates over. Conditions are functions
    /// of their own, with the same variables.
    pub(super) fn generator(&mut self, body: ExprId, clauses: List, nested: bool, runs: Runs) {
        let outer = (self.func, self.scope, self.region);
        let clauses = self.ast.list(clauses);
        let (mut at, mut depth) = (0, 0);
        while at < clauses.len() {
            let start = at;
            while let Some(Kind::In { iterable, .. }) = clauses.get(at).map(|&id| self.ast.kind(id))
            {
                self.walk(iterable);
                at += 1;
                if nested {
                    break;
                }
            }
            if at == start {
                // A condition without a `for` is an error of the parser.
                break;
            }
            let func = self.new_func(self.func);
            self.scopes.funcs[func as usize].runs = runs;
            self.scopes.refs[clauses[start].index()] = func;
            self.scopes.events.push(Event::Make(func));
            self.func = func;
            self.enter_region(false);
            self.enter_new(ScopeKind::Func);
            depth += 1;
            self.scopes.funcs[func as usize].scope = self.scope;
            for &clause in &clauses[start..at] {
                if let Kind::In { target, .. } = self.ast.kind(clause) {
                    self.target(target, DeclKind::Local);
                }
            }
            while let Some(Kind::Filter(condition)) = clauses.get(at).map(|&id| self.ast.kind(id)) {
                self.walk(condition);
                at += 1;
            }
        }
        self.walk(body);
        for _ in 0..depth {
            self.scopes.events.push(Event::Exit);
        }
        (self.func, self.scope, self.region) = outer;
    }
}
