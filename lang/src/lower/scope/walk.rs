//! The first pass over a statement: what is declared, assigned and read in which scope.

use std::ops::Range;

use regraft_ir::Symbol;
use regraft_syntax::julia::{ExprId, Kind, List};
use smallvec::SmallVec;

use super::{DeclKind, Event, Func, NONE, Region, Runs, ScopeKind, Walk};

/// The number of bytes of stack below which a new piece is taken.
const RED_ZONE: usize = 96 << 10;
const STACK_PIECE: usize = 1 << 20;

/// The function of the prelude that `@threads` calls with the code of a chunk.
const THREADS_FOR: &str = "#threads_for";

impl Walk<'_> {
    /// Walks a statement at top level that is run.
    pub(in crate::lower) fn thunk(&mut self, body: ExprId) {
        let func = self.new_func(NONE);
        self.func = func;
        self.enter_new(ScopeKind::Global);
        self.scopes.funcs[func as usize].scope = self.scope;
        self.walk(body);
        self.leave(NONE);
    }

    /// Walks a function at top level.
    pub(in crate::lower) fn method(&mut self, expr: ExprId) {
        self.function(expr, false);
    }

    fn is_threads_for(&self, callee: ExprId) -> bool {
        matches!(self.ast.kind(callee), Kind::GlobalRef { name, .. } if (self.name_of)(name) == THREADS_FOR)
    }

    /// Walks over a call of what `@threads` expands to, whose first argument is the code of a chunk.
    fn threads_for(&mut self, args: List) {
        for (i, &arg) in self.ast.list(args).iter().enumerate() {
            self.walk(arg);
            if i == 0 && matches!(self.ast.kind(arg), Kind::Lambda { .. }) {
                let func = self.scopes.refs[arg.index()];
                self.scopes.funcs[func as usize].is_chunk = true;
            }
        }
    }

    fn call(&mut self, callee: ExprId, args: List) {
        self.walk(callee);
        let runs = match self.ast.kind(callee) {
            Kind::Name(name) if (self.is_eager)(name) => Runs::WhileCalled(callee, name),
            _ => Runs::Later,
        };
        // The functions that arguments are made of, and how many events there were before the arguments behind them.
        let mut made: SmallVec<[(Range<usize>, usize); 2]> = SmallVec::new();
        for &arg in self.ast.list(args) {
            let first = self.scopes.funcs.len();
            match self.ast.kind(arg) {
                Kind::Generator { body, clauses, nested } => {
                    self.generator(body, clauses, nested, runs);
                    made.push((first..self.scopes.funcs.len(), self.scopes.events.len()));
                }
                Kind::Lambda { .. } => {
                    self.walk(arg);
                    self.scopes.funcs[first].runs = runs;
                    made.push((first..first + 1, self.scopes.events.len()));
                }
                _ => self.walk(arg),
            }
        }
        for (funcs, events) in made {
            let assigns = |event: &Event| matches!(event, Event::Write(..) | Event::Define(..));
            if self.scopes.events[events..].iter().any(assigns) {
                let of_call = self.scopes.funcs[funcs].iter_mut().filter(|func| func.runs == runs);
                of_call.for_each(|func| func.runs = Runs::Later);
            }
        }
        self.scopes.defines |= self.is_eval(callee);
    }

    /// Returns whether a callee may define methods when it is called.
    fn is_eval(&self, callee: ExprId) -> bool {
        let (Kind::Name(name) | Kind::GlobalRef { name, .. } | Kind::Field { name, .. }) =
            self.ast.kind(callee)
        else {
            return false;
        };
        (self.name_of)(name) == "eval"
    }

    pub(super) fn new_func(&mut self, parent: u32) -> u32 {
        self.scopes.funcs.push(Func {
            scope: NONE,
            group: NONE,
            has_labels: false,
            runs: Runs::Later,
            is_chunk: false,
            exits: false,
            loops: 0,
            parent,
            region: self.region,
            made_at: 0,
        });
        self.scopes.funcs.len() as u32 - 1
    }

    pub(super) fn enter_new(&mut self, kind: ScopeKind) -> u32 {
        let scope = self.scopes.new_scope(kind, self.func, self.region);
        self.scopes.events.push(Event::Enter(scope));
        std::mem::replace(&mut self.scope, scope)
    }

    fn leave(&mut self, outer: u32) {
        self.scopes.events.push(Event::Exit);
        self.scope = outer;
    }

    pub(super) fn declare(
        &mut self,
        name: Symbol,
        expr: ExprId,
        kind: DeclKind,
        ty: Option<ExprId>,
    ) {
        self.scopes.declare(self.scope, name, expr, kind, ty);
    }

    pub(super) fn enter_region(&mut self, is_loop: bool) -> u32 {
        self.scopes.regions.push(Region { parent: self.region, is_loop });
        let new = self.scopes.regions.len() as u32 - 1;
        std::mem::replace(&mut self.region, new)
    }

    pub(super) fn list(&mut self, list: List) {
        for &id in self.ast.list(list) {
            self.walk(id);
        }
    }

    fn branch(&mut self, id: ExprId) {
        let region = self.enter_region(false);
        self.walk(id);
        self.region = region;
    }

    pub(in crate::lower) fn walk(&mut self, id: ExprId) {
        match self.ast.kind(id) {
            Kind::Name(name) => self.scopes.events.push(Event::Read(id, name)),
            Kind::Int(_) | Kind::Float(_) | Kind::Sym(_) | Kind::Bool(_) | Kind::Str(_) => {}
            kind => stacker::maybe_grow(RED_ZONE, STACK_PIECE, || self.inner(id, kind)),
        }
    }

    fn inner(&mut self, id: ExprId, kind: Kind) {
        match kind {
            Kind::Name(_)
            | Kind::Int(_)
            | Kind::Float(_)
            | Kind::Float32(_)
            | Kind::Bool(_)
            | Kind::Bits(..) => {}
            Kind::Str(_) | Kind::Sym(_) | Kind::End | Kind::First | Kind::Colon => {}
            Kind::Goto(_) | Kind::Error | Kind::GlobalRef { .. } | Kind::Nothing => {}
            Kind::Form { .. } | Kind::Line { .. } | Kind::Value(_) | Kind::MacroCall { .. } => {}
            Kind::Interpolate(value) => self.walk(value),
            Kind::Quote(form) => self.quoted(form),
            Kind::Module { .. } | Kind::Using { .. } | Kind::Clause { .. } | Kind::Export(_) => {}
            Kind::Break | Kind::Continue => self.leaves(true),
            Kind::Where { .. } => {}
            // A type is global wherever it is declared.
            Kind::Struct { name, .. } | Kind::Abstract { name, .. } => {
                self.declare(name, id, DeclKind::Global, None);
            }
            Kind::Return(value) => {
                self.leaves(false);
                if let Some(value) = value {
                    self.walk(value);
                }
            }
            Kind::Try { body, error, handler, otherwise } => {
                self.part_of_try(body, None);
                self.part_of_try(handler, error);
                if let Some(otherwise) = otherwise {
                    let region = self.enter_region(false);
                    let outer = self.enter_new(ScopeKind::Loop);
                    self.scopes.refs[otherwise.index()] = self.scope;
                    self.walk(otherwise);
                    self.leave(outer);
                    self.region = region;
                }
            }
            Kind::Finally { body, last } => {
                self.part_of_try(body, None);
                self.part_of_try(last, None);
            }
            Kind::Label(_) => self.scopes.funcs[self.func as usize].has_labels = true,
            Kind::Call { callee, args } if self.is_threads_for(callee) => self.threads_for(args),
            Kind::Call { callee, args } => self.call(callee, args),
            Kind::Dot { callee: head, args: list }
            | Kind::Index { base: head, indices: list }
            | Kind::Curly { base: head, params: list } => {
                self.walk(head);
                self.list(list);
            }
            Kind::And(a, b) | Kind::Or(a, b) => {
                self.walk(a);
                self.branch(b);
            }
            Kind::Field { base: x, .. }
            | Kind::In { iterable: x, .. }
            | Kind::Splat(x)
            | Kind::Filter(x)
            | Kind::Const(x)
            | Kind::Inbounds(x)
            | Kind::Simd(x)
            | Kind::View(x) => self.walk(x),
            Kind::Typed { value, ty } => {
                if let Some(value) = value {
                    self.walk(value);
                }
                self.walk(ty);
            }
            Kind::Tuple(list) | Kind::Vector(list) | Kind::Matrix(list) | Kind::Row(list) => {
                self.list(list);
            }
            Kind::Compare { parts: list } | Kind::Block(list) => self.list(list),
            Kind::NamedTuple(list) | Kind::Keywords(list) => self.named_tuple(list),
            Kind::Comprehension { ty, body, clauses, nested } => {
                if let Some(ty) = ty {
                    self.walk(ty);
                }
                self.generator(body, clauses, nested, Runs::WhileCollected);
            }
            Kind::Generator { body, clauses, nested } => {
                self.generator(body, clauses, nested, Runs::Later);
            }
            Kind::Lambda { .. } | Kind::Function { .. } => self.function(id, true),
            Kind::Generated { function, .. } => self.function(function, true),
            Kind::Assign { target, value } => {
                self.walk(value);
                self.target(target, DeclKind::Assigned);
            }
            Kind::Update { target, value, .. } => {
                self.updated(target);
                self.walk(value);
                self.target_name(target);
            }
            Kind::DotAssign { target, value } | Kind::DotUpdate { target, value, .. } => {
                self.walk(target);
                self.walk(value);
            }
            Kind::If { condition, then, otherwise } => {
                self.walk(condition);
                self.branch(then);
                if let Some(otherwise) = otherwise {
                    self.branch(otherwise);
                }
            }
            Kind::While { condition, body } => {
                let region = self.enter_region(true);
                self.walk(condition);
                let outer = self.enter_new(ScopeKind::Loop);
                self.scopes.refs[id.index()] = self.scope;
                self.scopes.funcs[self.func as usize].loops += 1;
                self.walk(body);
                self.scopes.funcs[self.func as usize].loops -= 1;
                self.leave(outer);
                self.region = region;
            }
            Kind::For { clauses, body } => self.for_loop(clauses, body),
            Kind::Let { bindings, body } => self.let_block(id, bindings, body),
            Kind::Local(list) => self.declarations(list, DeclKind::Local),
            Kind::Global(list) => self.declarations(list, DeclKind::Global),
            Kind::Assert { condition, message } => {
                self.walk(condition);
                if let Some(message) = message {
                    self.branch(message);
                }
            }
        }
    }

    fn named_tuple(&mut self, list: List) {
        for &id in self.ast.list(list) {
            match self.ast.kind(id) {
                Kind::Assign { value, .. } => self.walk(value),
                _ => self.walk(id),
            }
        }
    }

    /// Reads the target of an update: the target, as an expression. Its name is read on its own,
    /// since the expression is the target of the assignment as well.
    fn updated(&mut self, target: ExprId) {
        match self.ast.kind(target) {
            Kind::Name(_) => {}
            Kind::Typed { value: Some(value), ty } => {
                self.walk(ty);
                self.updated(value);
            }
            _ => self.walk(target),
        }
    }

    fn target_name(&mut self, target: ExprId) {
        match self.ast.kind(target) {
            Kind::Name(name) => {
                self.declare(name, target, DeclKind::Assigned, None);
                self.scopes.events.push(Event::Write(target, name, self.region));
            }
            Kind::Typed { value: Some(value), .. } => self.target_name(value),
            _ => {}
        }
    }

    /// Walks over the target of an assignment; names are declared as `kind` says.
    pub(super) fn target(&mut self, target: ExprId, kind: DeclKind) {
        match self.ast.kind(target) {
            Kind::Name(name) => {
                self.declare(name, target, kind, None);
                self.scopes.events.push(Event::Write(target, name, self.region));
            }
            Kind::Typed { value: Some(value), ty } => {
                self.walk(ty);
                match self.ast.kind(value) {
                    Kind::Name(name) => {
                        let declared = (kind != DeclKind::Global).then_some(ty);
                        self.declare(name, value, kind, declared);
                        self.scopes.events.push(Event::Write(value, name, self.region));
                    }
                    _ => self.target(value, kind),
                }
            }
            Kind::Tuple(list) | Kind::NamedTuple(list) => {
                for &id in self.ast.list(list) {
                    self.target(id, kind);
                }
            }
            Kind::Splat(inner) => self.target(inner, kind),
            Kind::Index { base, indices } => {
                self.walk(base);
                self.list(indices);
            }
            Kind::Field { base, .. } => self.walk(base),
            // The error is told when it is lowered.
            _ => {}
        }
    }

    fn declarations(&mut self, list: List, kind: DeclKind) {
        for &id in self.ast.list(list) {
            match self.ast.kind(id) {
                Kind::Assign { target, value } => {
                    self.walk(value);
                    self.target(target, kind);
                }
                Kind::Update { target, .. } => {
                    if let Kind::Name(name) = self.ast.kind(target) {
                        self.declare(name, target, kind, None);
                    }
                    self.walk(id);
                }
                Kind::Tuple(names) => self.declarations(names, kind),
                _ => self.declaration(id, kind),
            }
        }
    }

    /// Declares the name of a declaration without a value, and of a function.
    fn declaration(&mut self, id: ExprId, kind: DeclKind) {
        match self.ast.kind(id) {
            Kind::Name(name) => self.declare(name, id, kind, None),
            Kind::Typed { value: Some(value), ty } => {
                self.walk(ty);
                if let Kind::Name(name) = self.ast.kind(value) {
                    let ty = (kind != DeclKind::Global).then_some(ty);
                    self.declare(name, value, kind, ty);
                }
            }
            Kind::Function { name, .. } => {
                if let Kind::Name(symbol) = self.ast.kind(name) {
                    self.declare(symbol, name, kind, None);
                }
                self.walk(id);
            }
            _ => self.walk(id),
        }
    }

    fn let_block(&mut self, id: ExprId, bindings: List, body: ExprId) {
        let outer = self.enter_new(ScopeKind::Let);
        self.scopes.refs[id.index()] = self.scope;
        let mut depth = 1;
        for &binding in self.ast.list(bindings) {
            match self.ast.kind(binding) {
                Kind::Assign { target, value } => {
                    self.walk(value);
                    self.enter_new(ScopeKind::Let);
                    depth += 1;
                    self.scopes.refs[binding.index()] = self.scope;
                    self.target(target, DeclKind::Local);
                }
                _ => self.declaration(binding, DeclKind::Local),
            }
        }
        self.walk(body);
        for _ in 0..depth {
            self.scopes.events.push(Event::Exit);
        }
        self.scope = outer;
    }

    fn for_loop(&mut self, clauses: List, body: ExprId) {
        let (scope, region) = (self.scope, self.region);
        let clauses = self.ast.list(clauses);
        for &clause in clauses {
            if let Kind::In { target, iterable } = self.ast.kind(clause) {
                self.walk(iterable);
                self.enter_region(true);
                self.enter_new(ScopeKind::Loop);
                self.scopes.refs[clause.index()] = self.scope;
                self.target(target, DeclKind::Local);
            }
        }
        self.scopes.funcs[self.func as usize].loops += 1;
        self.walk(body);
        self.scopes.funcs[self.func as usize].loops -= 1;
        for _ in clauses {
            self.scopes.events.push(Event::Exit);
        }
        (self.scope, self.region) = (scope, region);
    }

    /// A part of a `try`: a function without parameters but for the error, whose variables are those
    /// of a scope like that of a loop.
    fn part_of_try(&mut self, part: ExprId, error: Option<ExprId>) {
        let outer = (self.func, self.scope, self.region);
        let func = self.new_func(self.func);
        self.scopes.funcs[func as usize].runs = Runs::AsPart;
        self.scopes.refs[part.index()] = func;
        self.scopes.events.push(Event::Make(func));
        self.func = func;
        self.enter_region(false);
        self.enter_new(ScopeKind::Loop);
        self.scopes.funcs[func as usize].scope = self.scope;
        if let Some(error) = error {
            self.target(error, DeclKind::Local);
        }
        self.walk(part);
        self.scopes.events.push(Event::Exit);
        (self.func, self.scope, self.region) = outer;
    }

    /// Notes which parts of a `try` a `return` leaves; or a `break` or `continue`, which leaves those
    /// within the loop.
    fn leaves(&mut self, stays_in_loop: bool) {
        let mut at = self.func;
        while let Some(func) = self.scopes.funcs.get_mut(at as usize)
            && func.runs == Runs::AsPart
        {
            if stays_in_loop && func.loops > 0 {
                break;
            }
            func.exits = true;
            at = func.parent;
        }
    }
}
