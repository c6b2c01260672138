//! Trees of brackets: calls, indices, types with parameters, tuples, arrays, comprehensions.

use super::{Builder, Clauses, Items, Op, ROW, Waiting};
use crate::julia::ast::{ExprId, Kind, List, Span};
use crate::julia::token::Prefix;

impl Builder<'_> {
    fn at_mark(items: Items) -> Span {
        Span { start: items.mark, end: items.mark + 1 }
    }

    /// Forgets what parts rows, where there are none.
    fn without_rows(&mut self, items: Items) {
        if items.semicolons > 0 {
            let start = items.start as usize;
            let mut to = start;
            for at in start..self.list.len() {
                if self.list[at] != ROW {
                    self.list[to] = self.list[at];
                    to += 1;
                }
            }
            self.list.truncate(to);
        }
    }

    fn has_assign(&self, items: Items) -> bool {
        self.list[items.start as usize..]
            .iter()
            .any(|&id| id != ROW && matches!(self.kind(id), Kind::Assign { .. }))
    }

    // --- after an operand --------------------------------------------------------------------

    pub(crate) fn call(&mut self, items: Items, close: Span) {
        if self.code.is_data() {
            let made = self.code_call(items, close, false);
            return self.push(made);
        }
        self.call_of(items, close, |callee, args| Kind::Call { callee, args });
    }

    pub(crate) fn dot_call(&mut self, items: Items, close: Span) {
        if self.code.is_data() {
            let made = self.code_call(items, close, true);
            return self.push(made);
        }
        self.call_of(items, close, |callee, args| Kind::Dot { callee, args });
    }

    fn call_of(&mut self, items: Items, close: Span, kind: fn(ExprId, List) -> Kind) {
        let callee = self.pop();
        let named = self.close_keywords(items, close) || self.has_assign(items);
        let span = Span { start: self.outer(callee).start, end: close.end };
        let (args, depth) = self.take_list(items.start);
        let depth = depth.max(self.depth(callee));
        let made = self.node(kind(callee, args), span, depth);
        if named {
            self.keywords.push(made);
        }
        self.push(made);
    }

    /// Makes one item of all that stands behind a `;`. Returns whether there is anything.
    fn close_keywords(&mut self, items: Items, close: Span) -> bool {
        if items.semicolons == 0 {
            return false;
        }
        if items.semicolons > 1 {
            self.problems.add(Self::at_mark(items), "expected one `;`, before what has a name");
        }
        let start = items.start as usize;
        let first = self.list[start..].iter().position(|&id| id == ROW);
        let first = start + first.unwrap_or(0);
        self.without_rows(items);
        if first >= self.list.len() {
            return false;
        }
        let span = Span { start: items.mark, end: close.start };
        let (list, depth) = self.take_list(first as u32);
        let made = self.node(Kind::Keywords(list), span, depth);
        self.list.push(made);
        true
    }

    /// The list of the keywords that are the last of some arguments or parameters.
    pub(super) fn keywords_of(&self, items: List) -> Option<List> {
        match self.kind(*self.ast.list(items).last()?) {
            Kind::Keywords(list) => Some(list),
            _ => None,
        }
    }

    /// Moves all arguments of a call that have names behind the others: `f(a = 1, x; b)` is
    /// `f(x; a = 1, b)`.
    pub(super) fn gather_keywords(&mut self, call: ExprId) {
        let (Kind::Call { args, .. } | Kind::Dot { args, .. }) = self.kind(call) else { return };
        let (mut plain, mut named) = (Vec::new(), Vec::new());
        for &arg in self.ast.list(args) {
            match self.kind(arg) {
                Kind::Assign { .. } => named.push(arg),
                Kind::Keywords(list) => named.extend_from_slice(self.ast.list(list)),
                _ => plain.push(arg),
            }
        }
        named.iter().for_each(|&id| self.check_named(id));
        let Some((&first, &last)) = named.first().zip(named.last()) else { return };
        let span = Span { start: self.span(first).start, end: self.span(last).end };
        let span = Span { start: span.start, end: span.end.max(span.start) };
        let (list, depth) = self.list_of(&named);
        plain.push(self.node(Kind::Keywords(list), span, depth));
        let (gathered, _) = self.list_of(&plain);
        if let Kind::Call { args, .. } | Kind::Dot { args, .. } =
            &mut self.ast.exprs[call.index()].kind
        {
            *args = gathered;
        }
    }

    pub(crate) fn index(&mut self, items: Items, close: Span) {
        let base = self.pop();
        let span = Span { start: self.outer(base).start, end: close.end };
        if self.code.is_data() {
            let made = self.code_array(Some(base), items, span);
            return self.push(made);
        }
        if items.generator && items.semicolons == 0 && !items.spaces {
            let generator = self.list.pop().unwrap_or(base);
            self.list.truncate(items.start as usize);
            let made = self.comprehension(generator, Some(base), span);
            self.push(made);
            return;
        }
        if items.spaces || items.semicolons > 0 {
            if items.commas > 0 {
                let message =
                    "indices are parted by commas, elements of a matrix by blank space and `;`";
                let help = "in brackets blank space parts elements: write `a[i - 1]` or `a[i-1]`";
                return self.parted_in_two_ways(items, span, message, help);
            }
            if items.doubled.is_some() {
                let cells: Vec<ExprId> = self.list.drain(items.start as usize..).collect();
                let made = self.dimensions(Some(base), &cells, span);
                return self.push(made);
            }
            self.matrix(span, items);
            let matrix = self.pop();
            let callee = self.named("#typed_matrix", self.span(base));
            let (args, depth) = self.list_of(&[base, matrix]);
            let made = self.node(Kind::Call { callee, args }, span, depth);
            self.push(made);
            return;
        }
        let (indices, depth) = self.take_list(items.start);
        let depth = depth.max(self.depth(base));
        let made = self.node(Kind::Index { base, indices }, span, depth);
        self.push(made);
    }

    pub(crate) fn curly(&mut self, items: Items, close: Span) {
        let base = self.pop();
        if items.semicolons > 0 {
            self.problems.add(Self::at_mark(items), "expected `,` between parameters");
            self.without_rows(items);
        }
        let span = Span { start: self.outer(base).start, end: close.end };
        if self.code.is_data() {
            let mut args = vec![base];
            args.extend(self.list.drain(items.start as usize..));
            let made = self.form("curly", &args, span);
            return self.push(made);
        }
        let (params, depth) = self.take_list(items.start);
        let depth = depth.max(self.depth(base));
        let made = self.node(Kind::Curly { base, params }, span, depth);
        self.push(made);
    }

    /// `T where {A, B}`, and `{A, B}` without a type, which has been reported.
    pub(crate) fn where_curly(&mut self, open: Span, items: Items, close: Span) {
        if items.semicolons > 0 {
            self.problems.add(Self::at_mark(items), "expected `,` between parameters");
            self.without_rows(items);
        }
        let _ = open;
        let (params, depth) = self.take_list(items.start);
        self.apply_for_where();
        let body = self.pop();
        let span = Span { start: self.span(body).start, end: close.end };
        if self.code.is_data() {
            let mut args = vec![body];
            args.extend_from_slice(self.ast.list(params));
            let made = self.form("where", &args, span);
            return self.push(made);
        }
        let depth = depth.max(self.depth(body));
        let made = self.node(Kind::Where { body, params }, span, depth);
        self.push(made);
    }

    // --- operands ----------------------------------------------------------------------------

    pub(crate) fn paren(&mut self, open: Span, items: Items, close: Span) {
        let span = Span { start: open.start, end: close.end };
        if let Some(&Op { what: Waiting::Prefix(Prefix::TightMacro), span: name, .. }) =
            self.ops.last()
            && name.end == open.start
        {
            self.ops.pop();
            let args = self.code_arguments(items, false);
            self.code.end();
            let made = self.macro_call(name, &args, Span { start: name.start, end: close.end });
            return self.operand(made);
        }
        match self.code.is_data() {
            true => {
                let made = self.code_brackets(span, items);
                self.operand(made);
            }
            false => {
                self.in_brackets(open, items, close);
                let made = self.pop();
                self.operand(made);
            }
        }
        // A macro that touches its bracket takes what is in it, and nothing behind it.
        if let Some(&op) = self.ops.last()
            && let Waiting::Prefix(prefix) = op.what
            && prefix.is_tight_macro()
            && op.span.end == open.start
        {
            self.ops.pop();
            self.apply(op);
            let made = self.pop();
            self.operand(made);
        }
    }

    fn in_brackets(&mut self, open: Span, items: Items, close: Span) {
        let span = Span { start: open.start, end: close.end };
        let count = self.list.len() - items.start as usize;
        if items.commas == 0 && items.semicolons == 0 && count == 1 {
            self.single(span, items);
            return;
        }
        if items.semicolons > 0 && items.commas == 0 && !items.leads {
            self.without_rows(items);
            let (list, depth) = self.take_list(items.start);
            let made = self.node(Kind::Block(list), span, depth);
            self.push(made);
            return;
        }
        if items.semicolons > 0 && !(items.leads && items.semicolons == 1) {
            self.close_keywords(items, close);
            let (list, depth) = self.take_list(items.start);
            let made = self.node(Kind::Tuple(list), span, depth);
            self.mixed.push(made);
            self.push(made);
            return;
        }
        self.without_rows(items);
        let assigns = self.list[items.start as usize..]
            .iter()
            .filter(|&&id| matches!(self.kind(id), Kind::Assign { .. }))
            .count();
        let count = self.list.len() - items.start as usize;
        // `-(a, b)` is a call.
        if items.commas > 0
            && let Some(op) = self.ops.last()
            && let Waiting::Prefix(Prefix::Touching(oper)) = op.what
            && op.span.end == open.start
        {
            let at = op.span;
            self.ops.pop();
            let callee = self.operator(oper, at);
            let (args, depth) = self.take_list(items.start);
            let span = Span { start: at.start, end: span.end };
            let made = self.node(Kind::Call { callee, args }, span, depth);
            if assigns > 0 {
                self.keywords.push(made);
            }
            self.push(made);
            return;
        }
        if items.leads || (assigns > 0 && assigns == count) {
            for at in items.start as usize..self.list.len() {
                self.check_named(self.list[at]);
            }
            let (list, depth) = self.take_list(items.start);
            let made = self.node(Kind::NamedTuple(list), span, depth);
            self.push(made);
            return;
        }
        // Parameters of a function may have default values; other tuples are looked at when it is
        // known what they are.
        let (list, depth) = self.take_list(items.start);
        let made = self.node(Kind::Tuple(list), span, depth);
        if assigns > 0 {
            self.mixed.push(made);
        }
        self.push(made);
    }

    /// One expression in brackets.
    fn single(&mut self, span: Span, items: Items) {
        let Some(inner) = self.list.pop() else { return };
        self.list.truncate(items.start as usize);
        match self.kind(inner) {
            Kind::Assign { .. } => {
                let depth = self.depth(inner);
                let (list, _) = self.list_of(&[inner]);
                let made = self.node(Kind::Block(list), span, depth);
                self.push(made);
            }
            Kind::Splat(_) => {
                if let Some(op) = self.ops.last()
                    && let Waiting::Prefix(Prefix::Touching(oper)) = op.what
                    && op.span.end == span.start
                {
                    let at = op.span;
                    self.ops.pop();
                    let callee = self.operator(oper, at);
                    let depth = self.depth(inner);
                    let (args, _) = self.list_of(&[inner]);
                    let span = Span { start: at.start, end: span.end };
                    let made = self.node(Kind::Call { callee, args }, span, depth);
                    self.push(made);
                } else {
                    self.push(inner);
                }
            }
            // `(:)` is the function.
            Kind::Colon => {
                let at = self.span(inner);
                let made = self.named(":", at);
                self.push(made);
            }
            _ => self.push(inner),
        }
        if self.bare_tuple == Some(inner) {
            self.bare_tuple = None;
        }
    }

    fn check_named(&mut self, id: ExprId) {
        let fine = match self.kind(id) {
            Kind::Assign { target, .. } => {
                matches!(self.kind(target), Kind::Name(_) | Kind::Error)
            }
            Kind::Name(_) | Kind::Field { .. } | Kind::Splat(_) | Kind::Error => true,
            _ => false,
        };
        if !fine {
            let span = self.span(id);
            self.problems.add(span, "expected `name = value`");
        }
    }

    pub(crate) fn bracket(&mut self, open: Span, items: Items, close: Span) {
        let span = Span { start: open.start, end: close.end };
        if self.code.is_data() {
            let made = self.code_array(None, items, span);
            return self.operand(made);
        }
        if self.has_assign(items) {
            let at = self.list[items.start as usize..]
                .iter()
                .copied()
                .find(|&id| id != ROW && matches!(self.kind(id), Kind::Assign { .. }));
            let at = at.map_or(span, |id| self.span(id));
            self.problems.add(at, "expected an element, found an assignment");
        }
        if items.generator && items.commas == 0 && items.semicolons == 0 && !items.spaces {
            if let Some(generator) = self.list.pop() {
                self.list.truncate(items.start as usize);
                let made = self.comprehension(generator, None, span);
                self.push(made);
            }
            return;
        }
        if items.commas > 0 && (items.spaces || items.semicolons > 0) {
            let message = "elements of an array are parted by commas, or by blank space and `;`";
            let help = "a sign with blank space on its left only begins an element: write `a - b`";
            return self.parted_in_two_ways(items, span, message, help);
        }
        if !items.spaces && items.semicolons == 0 {
            let (list, depth) = self.take_list(items.start);
            let made = self.node(Kind::Vector(list), span, depth);
            self.push(made);
            return;
        }
        self.matrix(span, items);
    }

    /// Reports items that are parted by commas and by blank space, and drops them.
    fn parted_in_two_ways(&mut self, items: Items, span: Span, message: &str, help: &'static str) {
        self.problems.add_help(Self::at_mark(items), message, "both are used here", help);
        self.list.truncate(items.start as usize);
        let made = self.leaf(Kind::Error, span);
        self.push(made);
    }

    fn matrix(&mut self, span: Span, items: Items) {
        let start = items.start as usize;
        let cells: Vec<ExprId> = self.list.drain(start..).collect();
        if items.doubled.is_some() {
            let made = self.dimensions(None, &cells, span);
            return self.push(made);
        }
        let mut deepest = 0;
        for row in cells.split(|&id| id == ROW).filter(|row| !row.is_empty()) {
            let first = self.span(row[0]).start;
            let last = self.span(row[row.len() - 1]).end;
            let (list, depth) = self.list_of(row);
            let made = self.node(Kind::Row(list), Span { start: first, end: last }, depth);
            deepest = deepest.max(self.depth(made));
            self.list.push(made);
        }
        let (rows, _) = self.take_list(items.start);
        let made = self.node(Kind::Matrix(rows), span, deepest);
        self.push(made);
    }

    // --- comprehensions ----------------------------------------------------------------------

    /// The expression of an element has been read.
    pub(crate) fn element(&mut self) -> Clauses {
        let body = self.expr();
        Clauses { start: self.list.len() as u32, body: Some(body), nested: false }
    }

    pub(crate) fn first_target(&mut self, target: ExprId) -> Clauses {
        let clauses = Clauses { start: self.list.len() as u32, body: None, nested: false };
        self.target(clauses, target)
    }

    pub(crate) fn target(&mut self, clauses: Clauses, target: ExprId) -> Clauses {
        if !self.code.is_data() {
            self.check_loop_target(target);
        }
        self.list.push(target);
        clauses
    }

    pub(crate) fn nested(&mut self, mut clauses: Clauses, target: ExprId) -> Clauses {
        clauses.nested = true;
        if self.code.is_data() {
            self.part_clauses();
        }
        self.target(clauses, target)
    }

    pub(crate) fn clause(&mut self, clauses: Clauses, iterable: ExprId) -> Clauses {
        if self.code.is_data() {
            self.code_clause(iterable);
            return clauses;
        }
        if let Some(target) = self.list.pop() {
            let span = Span { start: self.span(target).start, end: self.span(iterable).end };
            let span = Span { start: span.start, end: span.end.max(span.start) };
            let depth = self.depth(target).max(self.depth(iterable));
            let made = self.node(Kind::In { target, iterable }, span, depth);
            self.list.push(made);
        }
        clauses
    }

    pub(crate) fn filter(&mut self, clauses: Clauses, condition: ExprId) -> Clauses {
        let (span, depth) = (self.span(condition), self.depth(condition));
        let made = match self.code.is_data() {
            true => self.form("#filter", &[condition], span),
            false => self.node(Kind::Filter(condition), span, depth),
        };
        self.list.push(made);
        clauses
    }

    pub(crate) fn no_iterable(&mut self, target: ExprId) -> Clauses {
        let start = self.list.len() as u32;
        let span = self.span(target);
        let made = if self.kind(target) == Kind::Error {
            self.leaf(Kind::Error, span)
        } else {
            let end = Span { start: span.end, end: span.end };
            let text = "expected `in` and what is iterated over";
            self.wrong(end, text)
        };
        self.list.push(made);
        Clauses { start, body: None, nested: false }
    }

    pub(crate) fn generator(&mut self, items: &mut Items, clauses: Clauses) {
        let Some(body) = clauses.body else { return };
        let end = self.list.last().map_or(0, |&id| self.span(id).end);
        let span = Span { start: self.span(body).start, end };
        if self.code.is_data() {
            let made = self.code_generator(clauses, body, span);
            items.generator = true;
            return self.list.push(made);
        }
        let (list, depth) = self.take_list(clauses.start);
        let depth = depth.max(self.depth(body));
        let kind = Kind::Generator { body, clauses: list, nested: clauses.nested };
        let made = self.node(kind, span, depth);
        items.generator = true;
        self.list.push(made);
    }

    fn comprehension(&mut self, generator: ExprId, ty: Option<ExprId>, span: Span) -> ExprId {
        let Kind::Generator { body, clauses, nested } = self.kind(generator) else {
            return self.leaf(Kind::Error, span);
        };
        // It takes the place of the generator, whose depth is its own.
        let depth = ty.map_or(0, |ty| self.depth(ty)).max(self.depth(generator).saturating_sub(1));
        self.node(Kind::Comprehension { ty, body, clauses, nested }, span, depth)
    }
}
