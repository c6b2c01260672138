//! Expressions to values.

use regraft_ir::{Constant, Loc, Symbol};
use regraft_syntax::julia::{ExprId, Kind, List};
use smallvec::SmallVec;

use super::ssa::Val;
use super::{Indexed, Lower};
use crate::definition::Item;

/// The values of a list of expressions.
pub(super) type Vals = SmallVec<[Val; 8]>;

/// The number of bytes of stack below which a new piece is taken.
const RED_ZONE: usize = 160 << 10;
const STACK_PIECE: usize = 2 << 20;

impl Lower<'_> {
    /// The value of an expression.
    #[inline]
    pub(super) fn expr(&mut self, id: ExprId) -> Val {
        match self.ast.kind(id) {
            Kind::Name(name) => self.name(id, name),
            Kind::Int(x) => self.constant(Constant::I64(x)),
            kind => stacker::maybe_grow(RED_ZONE, STACK_PIECE, || self.inner(id, kind)),
        }
    }

    fn inner(&mut self, id: ExprId, kind: Kind) -> Val {
        match kind {
            Kind::Call { callee, args } => self.call_expr(id, callee, args),
            Kind::Name(name) => self.name(id, name),
            Kind::Int(x) => self.constant(Constant::I64(x)),
            Kind::Float(x) => self.constant(Constant::from(x)),
            Kind::Float32(x) => self.constant(Constant::from(x)),
            Kind::Bits(bits, x) => {
                let words = x.map(|word| self.constant(Constant::I64(word.cast_signed())));
                let words = if bits.is_wide() { &words[..] } else { &words[..1] };
                self.call(self.names.bits(bits), words, self.loc(id))
            }
            Kind::Bool(x) => self.constant(Constant::Bool(x)),
            Kind::Str(x) => self.constant(Constant::Str(x)),
            Kind::Sym(x) => self.constant(Constant::Sym(x)),
            Kind::End => self.bound(id, true),
            Kind::First => self.bound(id, false),
            Kind::Colon => self.func(self.names.colon),
            Kind::Dot { callee, args } => self.dot_call(id, callee, args),
            Kind::Index { base, indices } => self.index(id, base, indices),
            Kind::Field { base, name } => match self.module_member(base, name) {
                Some(name) => self.global(name, self.loc(id)),
                None => {
                    let base = self.expr(base);
                    let name = self.sym(name);
                    self.syntax(self.names.getproperty, &[base, name], self.loc(id))
                }
            },
            Kind::Curly { base, params } => self.apply_type(id, base, params),
            Kind::Where { .. } => {
                let name = self.fresh_name("where").0;
                let ty = self.type_expr(id);
                self.types.push(Item::Type(name, ty));
                self.global(name, self.loc(id))
            }
            Kind::Splat(inner) => {
                self.error(id, "`...` stands in arguments and elements only", "");
                self.expr(inner)
            }
            Kind::Typed { value: Some(value), ty } => {
                let value = self.expr(value);
                let ty = self.expr(ty);
                self.call(self.names.typeassert, &[value, ty], self.loc(id))
            }
            Kind::Typed { value: None, .. } => {
                self.no_value(id, "`::T` without a value stands in signatures only", "")
            }
            Kind::Tuple(list) => self.syntax_list(self.names.tuple, list, self.loc(id)),
            Kind::NamedTuple(list) | Kind::Keywords(list) => self.named_tuple(id, list),
            Kind::Vector(list) => self.syntax_list(self.names.vect, list, self.loc(id)),
            Kind::Matrix(rows) => self.matrix(id, rows),
            Kind::Row(list) => self.syntax_list(self.names.hcat, list, self.loc(id)),
            Kind::Comprehension { ty, body, clauses, nested } => {
                self.comprehension(id, ty, body, clauses, nested)
            }
            Kind::Generator { body, clauses, nested } => self.generator(id, body, clauses, nested),
            Kind::In { iterable, .. } | Kind::Filter(iterable) => self.expr(iterable),
            Kind::Lambda { .. } => self.lambda(id),
            Kind::Function { .. } => self.local_function(id),
            Kind::Generated { function, .. } => match self.ast.kind(function) {
                Kind::Function { body: Some(body), .. } if self.ast.kind(body) != Kind::Nothing => {
                    self.local_function(function)
                }
                _ => self.no_value(id, "a generated function is defined at top level", "not here"),
            },
            Kind::Assign { target, value } => self.assign(id, target, value, true),
            Kind::Update { op, target, value } => self.update(id, op, target, value),
            Kind::DotAssign { target, value } => self.dot_assign(id, target, value),
            Kind::DotUpdate { op, target, value } => self.dot_update(id, op, target, value),
            Kind::And(..) | Kind::Or(..) | Kind::Compare { .. } | Kind::If { .. } => {
                self.control_value(id)
            }
            Kind::Block(list) => self.block_value(list),
            Kind::Let { bindings, body } => {
                self.let_bindings(id, bindings);
                self.expr(body)
            }
            Kind::Inbounds(body) => {
                let outer = std::mem::replace(&mut self.code.inbounds, true);
                let value = self.expr(body);
                self.code.inbounds = outer;
                value
            }
            Kind::Simd(body) => self.expr(body),
            Kind::View(inner) => self.view(inner),
            Kind::Local(list) | Kind::Global(list) => self.declarations(list),
            Kind::Try { .. } | Kind::Finally { .. } => self.try_value(id, true),
            Kind::While { .. }
            | Kind::For { .. }
            | Kind::Break
            | Kind::Continue
            | Kind::Return(_)
            | Kind::Goto(_)
            | Kind::Label(_)
            | Kind::Assert { .. } => {
                self.stmt(id);
                self.unit()
            }
            Kind::Const(_) => self.no_value(id, "`const` is for global names", "only at top level"),
            Kind::Struct { .. } | Kind::Abstract { .. } => self.type_within(id),
            Kind::Module { .. } => {
                self.no_value(id, "a module is made only at top level", "not here")
            }
            Kind::Using { .. } | Kind::Clause { .. } | Kind::Export(_) => {
                self.no_value(id, "names come from other modules only at top level", "not here")
            }
            Kind::Quote(form) => self.quoted(form),
            Kind::GlobalRef { module, name } => {
                let name = self.absolute(module, name);
                self.global(name, self.loc(id))
            }
            Kind::Nothing | Kind::Error => self.unit(),
            Kind::MacroCall { .. } => {
                self.no_value(id, "macros are not expanded here", "a macro of the program")
            }
            Kind::Form { .. } | Kind::Interpolate(_) | Kind::Line { .. } | Kind::Value(_) => {
                self.no_value(id, "code as data stands in quotes only", "")
            }
        }
    }

    /// The values of a block but for the last are not used.
    fn block_value(&mut self, list: List) -> Val {
        let Some((&last, front)) = self.ast.list(list).split_last() else { return self.unit() };
        for &id in front {
            self.stmt(id);
        }
        self.expr(last)
    }

    // --- indices -----------------------------------------------------------------------------

    /// `end` or `begin` within an index.
    fn bound(&mut self, id: ExprId, last: bool) -> Val {
        let Some(Indexed { base, position, count }) = self.code.indexed else {
            let name = if last { "end" } else { "begin" };
            self.error(id, format!("`{name}` stands for an index only within one"), "");
            return self.unit();
        };
        let name = if last { self.names.lastindex } else { self.names.firstindex };
        let loc = self.loc(id);
        if count == 1 {
            return self.syntax(name, &[base], loc);
        }
        let position = self.constant(Constant::I64(position as i64 + 1));
        self.syntax(name, &[base, position], loc)
    }

    /// The values of indices, in which `end` is that of `base`.
    pub(super) fn indices(&mut self, base: Val, front: &[Val], list: List) -> Vals {
        let outer = self.code.indexed;
        let mut out = Vals::from_slice(front);
        let list = self.ast.list(list);
        for (position, &id) in list.iter().enumerate() {
            self.code.indexed = Some(Indexed { base, position, count: list.len() });
            out.push(self.expr(id));
        }
        self.code.indexed = outer;
        out
    }

    /// The values of `front`, and of the expressions of a list.
    pub(super) fn values(&mut self, front: &[Val], list: List) -> Vals {
        let mut out = Vals::from_slice(front);
        out.extend(self.ast.list(list).iter().map(|&id| self.expr(id)));
        out
    }

    fn index(&mut self, id: ExprId, base: ExprId, indices: List) -> Val {
        let base = self.expr(base);
        let callee = self.names.of_prelude(self.names.getindex);
        self.call_indexed(callee, &[base], indices, self.loc(id))
    }

    /// A call with indices of the first of `front` behind it.
    pub(super) fn call_indexed(
        &mut self,
        function: Symbol,
        front: &[Val],
        indices: List,
        loc: Loc,
    ) -> Val {
        if self.has_splat(indices) {
            let callee = self.func(function);
            return self.splat(callee, front, self.ast.list(indices), Some(front[0]), loc);
        }
        let args = self.indices(front[0], front, indices);
        self.call(function, &args, loc)
    }

    /// A call of a function of the prelude that syntax stands for.
    fn syntax_list(&mut self, function: Symbol, args: List, loc: Loc) -> Val {
        self.call_list(self.names.of_prelude(function), args, loc)
    }

    /// Reports an expression that has no value.
    pub(super) fn no_value(&mut self, id: ExprId, message: &str, label: &str) -> Val {
        self.error(id, message, label);
        self.unit()
    }

    // --- types and literals --------------------------------------------------------------------

    pub(super) fn apply_type(&mut self, id: ExprId, base: ExprId, params: List) -> Val {
        let loc = self.loc(id);
        let base = self.expr(base);
        self.apply_type_to(base, params, loc)
    }

    /// `base{params}`
    pub(super) fn apply_type_to(&mut self, base: Val, params: List, loc: Loc) -> Val {
        if self.has_splat(params) {
            let callee = self.func(self.names.apply_type);
            return self.splat(callee, &[base], self.ast.list(params), None, loc);
        }
        let mut args = Vals::from_slice(&[base]);
        args.extend(self.ast.list(params).iter().map(|&param| self.type_param(param)));
        self.call(self.names.apply_type, &args, loc)
    }

    /// A parameter of a type: `<:T` is one, too.
    fn type_param(&mut self, id: ExprId) -> Val {
        if let Kind::Call { callee, args } = self.ast.kind(id)
            && let Kind::Name(op) = self.ast.kind(callee)
            && let &[bound] = self.ast.list(args)
        {
            let name = match op {
                _ if op == self.names.subtype => self.names.below,
                _ if op == self.names.supertype => self.names.above,
                _ => return self.expr(id),
            };
            let bound = self.expr(bound);
            return self.call(name, &[bound], self.loc(id));
        }
        self.expr(id)
    }

    fn matrix(&mut self, id: ExprId, rows: List) -> Val {
        let loc = self.loc(id);
        let rows = self.ast.list(rows);
        let row = |id| match self.ast.kind(id) {
            Kind::Row(list) => self.ast.list(list),
            _ => &[],
        };
        // `[x;]` is a column of one row.
        if let &[only] = rows
            && let Kind::Row(list) = self.ast.kind(only)
            && list.len() > 1
        {
            return self.syntax_list(self.names.hcat, list, loc);
        }
        let splat = |&id: &ExprId| matches!(self.ast.kind(id), Kind::Splat(_));
        if rows.iter().all(|&id| row(id).len() == 1) {
            let callee = self.names.of_prelude(self.names.vcat);
            if rows.iter().any(|&id| row(id).iter().any(splat)) {
                let elements: Vec<ExprId> = rows.iter().flat_map(|&id| row(id)).copied().collect();
                let callee = self.func(callee);
                return self.splat(callee, &[], &elements, None, loc);
            }
            let args: Vals = rows.iter().map(|&id| self.expr(row(id)[0])).collect();
            return self.call(callee, &args, loc);
        }
        if let Some(wrong) = rows.iter().flat_map(|&id| row(id)).find(|id| splat(id)) {
            self.error(*wrong, "`...` in a matrix of several rows is not supported", "");
        }
        let lengths: Vals =
            rows.iter().map(|&id| self.constant(Constant::I64(row(id).len() as i64))).collect();
        let mut args = Vals::from_slice(&[self.syntax(self.names.tuple, &lengths, loc)]);
        args.extend(rows.iter().flat_map(|&id| row(id)).map(|&element| self.expr(element)));
        self.syntax(self.names.hvcat, &args, loc)
    }
}
