//! Statements at top level.

use regraft_ir::Symbol;
use regraft_syntax::julia::{ExprId, Kind, List};

use super::names::name_of;
use super::scope::{NONE, Walk};
use super::{Lower, LowerOptions};
use crate::definition::{Import, Item, Space, Thunk};

impl Lower<'_> {
    /// The items of statements at top level.
    pub(super) fn items(&mut self, statements: &[ExprId]) -> Vec<Item> {
        let mut items = Vec::with_capacity(statements.len());
        for &id in statements {
            self.item(id, &mut items);
        }
        items
    }

    /// Adds the items of a statement, behind the types that stand as values in them.
    pub(super) fn item(&mut self, id: ExprId, items: &mut Vec<Item>) {
        let at = items.len();
        self.item_itself(id, items);
        if !self.types.is_empty() {
            items.splice(at..at, self.types.drain(..));
        }
    }

    fn item_itself(&mut self, id: ExprId, items: &mut Vec<Item>) {
        let is_module = matches!(self.ast.kind(id), Kind::Module { .. });
        if !is_module && !self.is_expanded && !self.ast.macros_in(id).is_empty() {
            items.push(Item::Expand { statement: id, soft_scope: self.options.soft_scope });
            return;
        }
        match self.ast.kind(id) {
            Kind::Function { name, body: None, .. } => match self.ast.kind(name) {
                Kind::Name(name) => items.push(Item::Declare(name, self.loc(id))),
                _ => self.error(name, "expected the name of a function", "this is none"),
            },
            Kind::Function { .. } => {
                let methods = self.definition(id, None);
                items.push(Item::Methods(methods));
            }
            Kind::Generated { function, generator } => {
                let mut methods = self.definition(function, None);
                let name = self.fresh_name("generator").0;
                let generator = self.code_generator(generator, name);
                if let (Some(method), Some(generator)) = (methods.last_mut(), generator) {
                    method.generator = Some(Box::new(generator));
                }
                items.push(Item::Methods(methods));
            }
            Kind::Struct { .. } => {
                if let Some(decl) = self.struct_decl(id) {
                    items.push(Item::Struct(Box::new(decl)));
                }
            }
            Kind::Abstract { .. } => {
                if let Some(decl) = self.abstract_decl(id) {
                    items.push(Item::Abstract(Box::new(decl)));
                }
            }
            Kind::Const(inner) => self.constants(inner, items),
            Kind::Block(list) if self.defines(list) => {
                for &id in self.ast.list(list) {
                    self.item(id, items);
                }
            }
            Kind::If { condition, then, otherwise } if self.is_definition(id) => {
                let condition = Box::new(self.thunk(condition));
                let mut branches = [Vec::new(), Vec::new()];
                self.item(then, &mut branches[0]);
                if let Some(otherwise) = otherwise {
                    self.item(otherwise, &mut branches[1]);
                }
                let [then, otherwise] = branches;
                items.push(Item::If { condition, then, otherwise });
            }
            Kind::Inbounds(inner) if matches!(self.ast.kind(inner), Kind::Function { .. }) => {
                self.item(inner, items);
            }
            Kind::Using { import, clauses } => {
                for &clause in self.ast.list(clauses) {
                    items.extend(self.import(clause, import).map(Item::Import));
                }
            }
            Kind::Export(names) => {
                let names = self.ast.list(names).iter();
                items.push(Item::Export(names.filter_map(|&id| name_of(self.ast, id)).collect()));
            }
            Kind::Module { name, bare, body } => items.push(self.module(id, name, bare, body)),
            Kind::Error => {}
            Kind::Assign { target, .. } if self.declares_type(target).is_some() => {
                items.extend(self.declares_type(target).map(|(name, ty)| {
                    let ty = self.type_expr(ty);
                    Item::Typed(name, ty)
                }));
                let thunk = self.thunk(id);
                items.push(Item::Run(Box::new(thunk)));
            }
            // `global const x = 1`
            Kind::Global(list)
                if let &[only] = self.ast.list(list)
                    && matches!(self.ast.kind(only), Kind::Const(_)) =>
            {
                self.item(only, items);
            }
            Kind::Global(list) if self.ast.list(list).iter().any(|&id| self.types_global(id)) => {
                for &id in self.ast.list(list) {
                    match self.declares_type(id) {
                        Some((name, ty)) => {
                            let ty = self.type_expr(ty);
                            items.push(Item::Typed(name, ty));
                        }
                        None => self.item(id, items),
                    }
                }
            }
            Kind::Call { callee, args }
                if self.ast.kind(callee) == Kind::Name(self.names.include) && args.len() == 1 =>
            {
                let path = Box::new(self.thunk(self.ast.list(args)[0]));
                let call = Box::new(self.thunk(id));
                items.push(Item::Include { path, call });
            }
            _ => {
                let thunk = self.thunk(id);
                items.push(Item::Run(Box::new(thunk)));
            }
        }
    }

    /// The name and type that `x::T` at top level declares.
    fn declares_type(&self, id: ExprId) -> Option<(Symbol, ExprId)> {
        let Kind::Typed { value: Some(name), ty } = self.ast.kind(id) else { return None };
        Some((name_of(self.ast, name)?, ty))
    }

    fn types_global(&self, id: ExprId) -> bool {
        match self.ast.kind(id) {
            Kind::Assign { target, .. } => self.declares_type(target).is_some(),
            _ => self.declares_type(id).is_some(),
        }
    }

    /// A module: its statements are lowered in its own space.
    fn module(&mut self, id: ExprId, name: Symbol, bare: bool, body: List) -> Item {
        let path = match self.options.space {
            Space::Module(around) => format!("{}.{}", self.text(around), self.text(name)),
            Space::Base | Space::Main => self.text(name).to_owned(),
        };
        let space = Space::Module(self.ctx.symbol(&path));
        let options = LowerOptions {
            soft_scope: false,
            is_global: &|_| false,
            space,
            counter: self.options.counter,
        };
        let mut lower = Lower::new(self.ctx, self.ast, &options);
        lower.is_expanded = self.is_expanded;
        lower.names.find_shadowed_in(self.ctx, self.ast, self.ast.list(body));
        let items = lower.items(self.ast.list(body));
        let errors = lower.errors;
        self.errors.extend(errors);
        Item::Module { name, space, bare, items, loc: self.loc(id) }
    }

    /// A clause of `using` or `import`.
    fn import(&self, id: ExprId, extends: bool) -> Option<Import> {
        let Kind::Clause { path, alias, names } = self.ast.kind(id) else { return None };
        let name = |id: ExprId| name_of(self.ast, id);
        let mut path: Vec<Symbol> = self.ast.list(path).iter().filter_map(|&id| name(id)).collect();
        let dots = match path.first().map(|&first| self.text(first)) {
            Some(first) if first.bytes().all(|byte| byte == b'.') => first.len(),
            _ => 0,
        };
        path.drain(..usize::from(dots > 0));
        let names = names.map(|names| {
            let pairs = self.ast.list(names).iter().filter_map(|&id| match self.ast.kind(id) {
                Kind::Assign { target, value } => Some((name(value)?, name(target)?)),
                _ => name(id).map(|name| (name, name)),
            });
            pairs.collect()
        });
        Some(Import { extends, dots, path, alias, names, loc: self.loc(id) })
    }

    /// `const x = 1`, `const x, y = 1, 2`
    fn constants(&mut self, id: ExprId, items: &mut Vec<Item>) {
        match self.ast.kind(id) {
            Kind::Assign { target, value } => match (self.ast.kind(target), self.ast.kind(value)) {
                // The library has many of them, which need no code.
                (Kind::Name(name), Kind::Curly { .. }) if self.options.space == Space::Base => {
                    let ty = self.type_expr(value);
                    items.push(Item::Type(name, ty));
                }
                (Kind::Name(name), Kind::Name(other)) if self.options.space == Space::Base => {
                    items.push(Item::Alias(name, other));
                }
                (Kind::Name(name), Kind::Call { .. })
                    if self.options.space == Space::Base
                        && let Some(of) = self.instance_of(value) =>
                {
                    let ty = self.type_expr(of);
                    items.push(Item::Instance(name, ty));
                }
                (Kind::Name(name), _) => {
                    let thunk = self.thunk(value);
                    items.push(Item::Const(name, Box::new(thunk)));
                }
                (Kind::Typed { value: Some(name), ty }, _)
                    if matches!(self.ast.kind(name), Kind::Name(_)) =>
                {
                    let Kind::Name(name) = self.ast.kind(name) else { return };
                    let thunk = self.thunk_of(id, |lower, loc| {
                        let value = lower.expr(value);
                        let value = lower.convert(ty, value, loc);
                        lower.code.body.ret(value, loc);
                    });
                    items.push(Item::Const(name, Box::new(thunk)));
                }
                (Kind::Tuple(targets), Kind::Tuple(values)) if targets.len() == values.len() => {
                    for (&target, &value) in
                        self.ast.list(targets).iter().zip(self.ast.list(values))
                    {
                        match self.ast.kind(target) {
                            Kind::Name(name) => {
                                let thunk = self.thunk(value);
                                items.push(Item::Const(name, Box::new(thunk)));
                            }
                            _ => self.error(target, "a constant has a name", ""),
                        }
                    }
                }
                _ => self.error(target, "expected `const name = value`", "not a name"),
            },
            Kind::Global(list) => {
                for &id in self.ast.list(list) {
                    self.constants(id, items);
                }
            }
            Kind::Function { .. } => self.item(id, items),
            Kind::Error => {}
            _ => self.error(id, "expected `const name = value`", ""),
        }
    }

    /// The type of which an expression is the only value: `__new(T)`.
    fn instance_of(&self, value: ExprId) -> Option<ExprId> {
        let Kind::Call { callee, args } = self.ast.kind(value) else { return None };
        let (Kind::Name(callee), &[ty]) = (self.ast.kind(callee), self.ast.list(args)) else {
            return None;
        };
        (callee == self.names.new_object).then_some(ty)
    }

    /// Finds what the names of a statement mean.
    pub(super) fn resolve(&mut self, walk: impl FnOnce(&mut Walk<'_>)) {
        self.scopes.reset(self.ast.len());
        let ctx = self.ctx;
        let mut state = Walk {
            scopes: &mut self.scopes,
            ast: self.ast,
            options: self.options,
            is_eager: &|name| self.names.is_eager(name),
            globals: &self.globals,
            errors: &mut self.errors,
            name_of: &|name| ctx.str(name).to_owned(),
            scope: NONE,
            region: 0,
            func: NONE,
        };
        walk(&mut state);
        state.resolve();
    }

    /// A statement that is run.
    pub(super) fn thunk(&mut self, id: ExprId) -> Thunk {
        self.thunk_of(id, |lower, _| lower.tail(id))
    }

    /// A statement of which `code` lowers what is run.
    fn thunk_of(&mut self, id: ExprId, code: impl FnOnce(&mut Self, regraft_ir::Loc)) -> Thunk {
        self.resolve(|walk| walk.thunk(id));
        if self.options.soft_scope {
            self.note_global(id);
        }
        let outer = self.begin_code(0);
        self.code.is_thunk = true;
        let loc = self.loc(id);
        self.enter_scope(self.scopes.funcs[0].scope, loc);
        self.late_if_it_defines(loc);
        code(self, loc);
        let name = self.ctx.str(self.names.top);
        let (body, closures) = self.end_code(outer, name, &[], id);
        let definitions = std::mem::take(&mut self.definitions);
        Thunk { body, closures, definitions, loc }
    }

    /// Notes the names that a statement assigns, for the loops of later ones.
    fn note_global(&mut self, id: ExprId) {
        match self.ast.kind(id) {
            Kind::Assign { target, .. } | Kind::Update { target, .. } => self.note_global(target),
            Kind::Name(name) => {
                self.globals.insert(name);
            }
            Kind::Typed { value: Some(value), .. } | Kind::Splat(value) => self.note_global(value),
            Kind::Tuple(list) | Kind::NamedTuple(list) | Kind::Global(list) => {
                for &id in self.ast.list(list) {
                    self.note_global(id);
                }
            }
            _ => {}
        }
    }
}
