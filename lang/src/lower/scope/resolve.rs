//! The second pass: the events are replayed, and each name gets its variable. Then what closures
//! capture, and which variables are boxed.

use regraft_ir::{Diagnostic, Symbol};
use regraft_syntax::julia::ExprId;
use smallvec::SmallVec;

use super::{Decl, DeclKind, Event, Func, NONE, Runs, ScopeKind, Scopes, Var, VarKind, Walk, When};

impl Walk<'_> {
    fn error(&mut self, expr: ExprId, message: String, label: &str) {
        let span = self.ast.span(expr).range();
        self.errors.push(Diagnostic::error(message).at(&self.ast.source, span, label));
    }

    // --- the second pass -----------------------------------------------------------------------

    /// Replays the events: finds the variable of each name.
    pub(in crate::lower) fn resolve(&mut self) {
        let events = std::mem::take(&mut self.scopes.events);
        for (at, &event) in events.iter().enumerate() {
            let at = at as u32;
            match event {
                Event::Enter(scope) => self.enter(scope, at),
                Event::Exit => self.exit(),
                Event::Read(expr, name) => {
                    let var = self.lookup(name);
                    self.scopes.refs[expr.index()] = var;
                    if var != NONE {
                        self.note_use(var);
                    }
                }
                Event::Hide(name) => self.hide(name),
                Event::Show(name) => self.show(name),
                Event::Write(expr, name, region) => self.write(expr, name, region, at),
                Event::Define(func, name, expr) => self.define(func, name, expr, at),
                Event::Make(func) => {
                    let region = self.scopes.funcs[func as usize].region;
                    let group = self.scopes.new_group(NONE, region, at);
                    let function = &mut self.scopes.funcs[func as usize];
                    (function.group, function.made_at) = (group, at);
                }
            }
        }
        self.scopes.events = events;
        if !self.scopes.uses.is_empty() || !self.scopes.groups.is_empty() {
            self.capture();
        }
    }

    #[inline]
    fn lookup(&self, name: Symbol) -> u32 {
        match self.scopes.env.get(&name) {
            Some(&var) if self.scopes.vars[var as usize].kind != VarKind::Global => var,
            _ => NONE,
        }
    }

    /// Lets a name of the scope at hand mean what it means around it.
    fn hide(&mut self, name: Symbol) {
        let start = self.scopes.stack.last().map_or(0, |&(_, start)| start);
        let bound = self.scopes.undo[start..].iter().find(|(other, _)| *other == name);
        let Some(&(_, outer)) = bound else { return };
        let own = match outer {
            NONE => self.scopes.env.remove(&name),
            outer => self.scopes.env.insert(name, outer),
        };
        self.scopes.hidden.extend(own.map(|own| (name, own)));
    }

    fn show(&mut self, name: Symbol) {
        if let Some(at) = self.scopes.hidden.iter().rposition(|&(other, _)| other == name) {
            let (_, own) = self.scopes.hidden.swap_remove(at);
            self.scopes.env.insert(name, own);
        }
    }

    /// Notes a use of a variable. Returns whether it is in a function within that of the variable.
    fn note_use(&mut self, var: u32) -> bool {
        let &(scope, _) = self.scopes.stack.last().expect("there is a scope");
        let func = self.scopes.scopes[scope as usize].func;
        let within = self.scopes.vars[var as usize].func != func;
        if within {
            self.scopes.uses.push((func, var));
        }
        within
    }

    fn enter(&mut self, scope: u32, at: u32) {
        self.scopes.stack.push((scope, self.scopes.undo.len()));
        let first = self.scopes.scopes[scope as usize].first_decl;
        let mut next = first;
        while next != NONE {
            let decl = self.scopes.decls[next as usize];
            next = decl.next;
            if decl.kind != DeclKind::Assigned {
                self.declared(scope, decl, at);
            }
        }
        let mut next = first;
        while next != NONE {
            let decl = self.scopes.decls[next as usize];
            next = decl.next;
            if decl.kind == DeclKind::Assigned {
                self.assigned(scope, decl, at);
            }
        }
    }

    fn exit(&mut self) {
        let Some((_, len)) = self.scopes.stack.pop() else { return };
        while self.scopes.undo.len() > len {
            if let Some((name, old)) = self.scopes.undo.pop() {
                match old {
                    NONE => drop(self.scopes.env.remove(&name)),
                    old => drop(self.scopes.env.insert(name, old)),
                }
            }
        }
    }

    /// The variable of that name that belongs to the scope itself.
    fn own(&self, scope: u32, name: Symbol) -> Option<u32> {
        let var = *self.scopes.env.get(&name)?;
        (self.scopes.vars[var as usize].scope == scope).then_some(var)
    }

    fn declared(&mut self, scope: u32, decl: Decl, at: u32) {
        let kind = match decl.kind {
            DeclKind::Param => VarKind::Param,
            DeclKind::Static => VarKind::Static,
            DeclKind::Global => VarKind::Global,
            DeclKind::Local | DeclKind::Assigned => VarKind::Local,
        };
        if let Some(other) = self.own(scope, decl.name) {
            let old = self.scopes.vars[other as usize].kind;
            let name = (self.name_of)(decl.name);
            let (message, label) = match (old, kind) {
                (VarKind::Param, VarKind::Param) => {
                    (format!("two parameters have the name `{name}`"), "the second")
                }
                (VarKind::Static, VarKind::Static) => {
                    (format!("two type parameters have the name `{name}`"), "the second")
                }
                (VarKind::Static, VarKind::Param) | (VarKind::Param, VarKind::Static) => {
                    (format!("`{name}` is a parameter and a type parameter"), "")
                }
                (VarKind::Global, VarKind::Local) | (VarKind::Local, VarKind::Global) => {
                    (format!("`{name}` is declared local and global in one scope"), "")
                }
                (VarKind::Param | VarKind::Static, VarKind::Local | VarKind::Global) => {
                    let what = if kind == VarKind::Local { "local" } else { "global" };
                    (format!("`{name}` is a parameter and is declared {what}"), "")
                }
                _ => {
                    let var = &mut self.scopes.vars[other as usize];
                    var.ty = var.ty.or(decl.ty);
                    return;
                }
            };
            self.error(decl.expr, message, label);
            return;
        }
        // A name that is global wherever it is seen needs no entry.
        if kind == VarKind::Global && self.scopes.scopes[scope as usize].kind == ScopeKind::Global {
            return;
        }
        self.bind(scope, decl, kind, at);
    }

    fn assigned(&mut self, scope: u32, decl: Decl, at: u32) {
        if let Some(&var) = self.scopes.env.get(&decl.name) {
            let var = &mut self.scopes.vars[var as usize];
            if decl.ty.is_some() && var.kind != VarKind::Global && var.ty.is_none() {
                var.ty = decl.ty;
            }
            return;
        }
        if !self.is_global(scope, decl.name) {
            self.bind(scope, decl, VarKind::Local, at);
        }
    }

    /// Returns whether what is assigned in `scope`, and no variable around, is global.
    fn is_global(&self, scope: u32, name: Symbol) -> bool {
        match self.scopes.scopes[scope as usize].kind {
            ScopeKind::Global => true,
            ScopeKind::Loop if self.options.soft_scope => {
                let soft = self.scopes.stack.iter().all(|&(scope, _)| {
                    let kind = self.scopes.scopes[scope as usize].kind;
                    matches!(kind, ScopeKind::Global | ScopeKind::Loop)
                });
                soft && (self.globals.contains(&name) || (self.options.is_global)(name))
            }
            _ => false,
        }
    }

    fn bind(&mut self, scope: u32, decl: Decl, kind: VarKind, at: u32) {
        let index = self.scopes.vars.len() as u32;
        let data = &mut self.scopes.scopes[scope as usize];
        let given = matches!(kind, VarKind::Param | VarKind::Static);
        self.scopes.vars.push(Var {
            name: decl.name,
            kind,
            func: data.func,
            ty: decl.ty,
            boxed: false,
            has_cell: false,
            eager: SmallVec::new(),
            next: NONE,
            scope,
            assigns: u32::from(given),
            first_at: at,
            first_in: data.region,
            assigned_at: at,
            assigned_in: data.region,
            assigned_within: false,
            group: NONE,
            group_region: NONE,
        });
        if kind != VarKind::Global {
            match data.last_var {
                NONE => data.first_var = index,
                last => self.scopes.vars[last as usize].next = index,
            }
            data.last_var = index;
        }
        let old = self.scopes.env.insert(decl.name, index).unwrap_or(NONE);
        self.scopes.undo.push((decl.name, old));
    }

    fn write(&mut self, expr: ExprId, name: Symbol, region: u32, at: u32) {
        let var = self.lookup(name);
        self.scopes.refs[expr.index()] = var;
        if var != NONE {
            self.assign(expr, var, region, at);
        }
    }

    /// Notes an assignment to a variable, unless it is one that cannot be assigned to.
    fn assign(&mut self, expr: ExprId, var: u32, region: u32, at: u32) -> bool {
        let Var { kind, name, .. } = self.scopes.vars[var as usize];
        if kind == VarKind::Static {
            let message = format!("cannot assign to the type parameter `{}`", (self.name_of)(name));
            self.error(expr, message, "assigned here");
            return false;
        }
        let within = self.note_use(var);
        if within && self.is_shared_by_chunks(var) {
            self.refuse_in_chunk(expr, name);
            return false;
        }
        self.count_assignment(var, region, at);
        self.scopes.vars[var as usize].assigned_within |= within;
        true
    }

    /// Returns whether the place at hand is in a chunk of a loop that threads share, and the variable is not.
    fn is_shared_by_chunks(&self, var: u32) -> bool {
        let owner = self.scopes.vars[var as usize].func;
        let mut func = self
            .scopes
            .stack
            .last()
            .map_or(NONE, |&(scope, _)| self.scopes.scopes[scope as usize].func);
        while func != owner && func != NONE {
            let data = &self.scopes.funcs[func as usize];
            if data.is_chunk {
                return true;
            }
            func = data.parent;
        }
        false
    }

    fn refuse_in_chunk(&mut self, expr: ExprId, name: Symbol) {
        let name = (self.name_of)(name);
        let message =
            format!("the loop of `@threads` assigns to `{name}`, which all of its threads share");
        let span = self.ast.span(expr).range();
        let error = Diagnostic::error(message).at(&self.ast.source, span, "assigned here");
        self.errors.push(error.help(format!(
            "add up with `tmapreduce(f, op, xs)`, store to elements of an array, or make it a variable of the \
             loop: `local {name}`"
        )));
    }

    fn count_assignment(&mut self, var: u32, region: u32, at: u32) {
        let var = &mut self.scopes.vars[var as usize];
        if var.assigns == 0 {
            (var.first_at, var.first_in) = (at, region);
        }
        var.assigns += 1;
        (var.assigned_at, var.assigned_in) = (at, region);
    }

    fn define(&mut self, func: u32, name: Symbol, expr: ExprId, at: u32) {
        let region = self.scopes.funcs[func as usize].region;
        let var = self.lookup(name);
        self.scopes.defines |= var == NONE;
        let known = match self.scopes.vars.get(var as usize) {
            Some(var) if var.group != NONE && var.group_region == region => Some(var.group),
            _ => None,
        };
        let group = known.unwrap_or_else(|| self.scopes.new_group(var, region, at));
        let made_at = self.scopes.groups[group as usize].made_at;
        let function = &mut self.scopes.funcs[func as usize];
        (function.group, function.made_at) = (group, made_at);
        self.scopes.groups[group as usize].methods.push((func, expr));
        if var == NONE || known.is_some() {
            return;
        }
        if !self.assign(expr, var, region, at) {
            return;
        }
        let var = &mut self.scopes.vars[var as usize];
        (var.group, var.group_region) = (group, region);
    }

    // --- captures ------------------------------------------------------------------------------

    fn capture(&mut self) {
        let scopes = &mut *self.scopes;
        for group in &mut scopes.groups {
            if let Some(var) = scopes.vars.get(group.var as usize) {
                group.knows_itself = var.assigns == 1;
            }
        }
        // A function that others capture before it is made is in a box, also for itself.
        while scopes.find_captures() {}
    }
}

impl Scopes {
    /// Finds what each group captures, and which variables are boxed. Returns whether a function
    /// turned out not to know itself, which changes what is captured.
    fn find_captures(&mut self) -> bool {
        self.captured.clear();
        for group in &mut self.groups {
            group.captures.clear();
        }
        for i in 0..self.uses.len() {
            let (mut func, var) = self.uses[i];
            let owner = self.vars[var as usize].func;
            // The outermost function that does not run where it stands.
            let (mut when, mut outermost) = (When::Now, NONE);
            while func != owner {
                let Func { group, parent, runs, .. } = self.funcs[func as usize];
                match self.when(runs) {
                    When::Later => (when, outermost) = (When::Later, group),
                    When::WhileCalled if when != When::Later => {
                        (when, outermost) = (When::WhileCalled, group);
                    }
                    _ => {}
                }
                if let Runs::WhileCalled(_, name) = runs {
                    let eager = &mut self.vars[var as usize].eager;
                    if !eager.contains(&name) {
                        eager.push(name);
                    }
                }
                let data = &mut self.groups[group as usize];
                if data.var == var && data.knows_itself {
                    break;
                }
                let is_new = self.captured.insert((group, var, When::Now));
                if is_new {
                    data.captures.push(var);
                }
                let is_other = when != When::Now && self.captured.insert((group, var, when));
                if !is_new && !is_other {
                    break;
                }
                if parent == owner {
                    let stays = match when {
                        When::Now => self.is_set(var, group),
                        _ => self.is_stable(var, outermost),
                    };
                    let may_have_cell = when == When::WhileCalled && self.is_set(var, group);
                    let var = &mut self.vars[var as usize];
                    var.boxed |= !stays && !may_have_cell;
                    var.has_cell |= !stays && may_have_cell;
                }
                func = parent;
            }
        }
        for var in &mut self.vars {
            var.has_cell &= !var.boxed;
        }
        let mut changed = false;
        for group in &mut self.groups {
            let boxed = self.vars.get(group.var as usize).is_some_and(|var| var.boxed);
            if boxed && group.knows_itself {
                group.knows_itself = false;
                changed = true;
            }
        }
        changed
    }

    /// Returns when the code of a function runs, as seen from what stands around it.
    fn when(&self, runs: Runs) -> When {
        match runs {
            Runs::AsPart | Runs::WhileCollected => When::Now,
            Runs::WhileCalled(callee, _) if self.refs[callee.index()] == NONE => When::WhileCalled,
            Runs::Later | Runs::WhileCalled(..) => When::Later,
        }
    }

    /// Returns whether the variable has a value when the functions of `group`, which do not run later, are made, and keeps
    /// it until they are over.
    fn is_set(&self, var: u32, group: u32) -> bool {
        let (var, group) = (&self.vars[var as usize], &self.groups[group as usize]);
        let given = matches!(var.kind, VarKind::Param | VarKind::Static);
        !var.assigned_within
            && (given
                || !self.funcs[var.func as usize].has_labels
                    && var.assigns > 0
                    && var.first_at < group.made_at
                    && self.encloses(var.first_in, group.region).is_some())
    }

    /// Returns whether the variable has the value that it will always have when the functions of
    /// `group`, which capture it, are made.
    fn is_stable(&self, var: u32, group: u32) -> bool {
        let var = &self.vars[var as usize];
        let group = &self.groups[group as usize];
        let given = matches!(var.kind, VarKind::Param | VarKind::Static);
        if var.assigns != 1 || (self.funcs[var.func as usize].has_labels && !given) {
            return false;
        }
        // An assignment in an inner function is in none of the regions around.
        var.assigned_at < group.made_at
            && self.encloses(var.assigned_in, group.region).is_some()
            && self.encloses(self.scopes[var.scope as usize].region, var.assigned_in) == Some(false)
    }
}
