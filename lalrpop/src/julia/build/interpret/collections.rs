//! Calls, tuples, arrays, generators.

use super::super::Builder;
use crate::julia::ast::{ExprId, Kind, List, Span};
use crate::julia::token::Oper;

impl Builder<'_> {
    pub(super) fn interpret_call(&mut self, callee: ExprId, args: &[ExprId], span: Span) -> ExprId {
        let at = self.span(callee);
        let mut dotted = false;
        let mut negated = false;
        let callee = match self.kind(callee) {
            Kind::Name(name) => {
                let text = self.ctx.str(name);
                let plain = text.strip_prefix('.').filter(|op| Oper::named(op) != Oper::Other);
                dotted = plain.is_some();
                let plain = plain.unwrap_or(text);
                let oper = Oper::named(plain);
                negated = oper == Oper::NotIn;
                match oper {
                    Oper::NotIn => self.operator(Oper::In, at),
                    Oper::Other => {
                        let name = self.ctx.symbol(plain);
                        self.leaf(Kind::Name(name), at)
                    }
                    oper => self.operator(oper, at),
                }
            }
            _ => self.interpret(callee),
        };
        let args = self.interpret_args(args);
        let (args, depth) = self.list_of(&args);
        let kind = |callee, args| match dotted {
            true => Kind::Dot { callee, args },
            false => Kind::Call { callee, args },
        };
        let made = self.node(kind(callee, args), span, depth.max(self.depth(callee)));
        if !negated {
            return made;
        }
        let not = self.operator(Oper::Not, at);
        let (args, depth) = self.list_of(&[made]);
        self.node(kind(not, args), span, depth)
    }

    /// Arguments or parameters: what has a name comes last, as one.
    pub(super) fn interpret_args(&mut self, args: &[ExprId]) -> Vec<ExprId> {
        let (mut plain, mut named) = (Vec::new(), Vec::new());
        for &arg in args {
            if let Some(list) = self.form_args(arg, "parameters") {
                let list = self.ast.list(list).to_vec();
                named.extend(self.interpret_named(&list));
            } else if self.form_args(arg, "kw").is_some() {
                named.splice(0..0, self.interpret_named(&[arg]));
            } else {
                plain.push(self.interpret(arg));
            }
        }
        // Those outside of a `;` come first, in their order.
        let outside = args.iter().filter(|&&arg| self.form_args(arg, "kw").is_some()).count();
        named[..outside].reverse();
        if let (Some(&first), Some(&last)) = (named.first(), named.last()) {
            let end = self.span(last).end.max(self.span(first).start);
            let span = Span { start: self.span(first).start, end };
            let (list, depth) = self.list_of(&named);
            plain.push(self.node(Kind::Keywords(list), span, depth));
        }
        plain
    }

    /// What is given by name: assignments, names, fields, splats.
    pub(super) fn interpret_named(&mut self, args: &[ExprId]) -> Vec<ExprId> {
        let mut made = Vec::with_capacity(args.len());
        for &arg in args {
            let pair = self.form_args(arg, "kw").or_else(|| self.form_args(arg, "="));
            let id = match pair.map(|list| self.ast.list(list)) {
                Some(&[name, value]) => {
                    let span = self.span(arg);
                    let (target, value) = (self.interpret(name), self.interpret(value));
                    let depth = self.depth(target).max(self.depth(value));
                    self.node(Kind::Assign { target, value }, span, depth)
                }
                _ => self.interpret(arg),
            };
            made.push(id);
        }
        made
    }

    pub(super) fn interpret_dot(&mut self, base: ExprId, name: ExprId, span: Span) -> ExprId {
        if let Some(args) = self.form_args(name, "tuple") {
            let callee = self.interpret(base);
            let args = self.ast.list(args).to_vec();
            let args = self.interpret_args(&args);
            let (args, depth) = self.list_of(&args);
            return self.node(Kind::Dot { callee, args }, span, depth.max(self.depth(callee)));
        }
        let base = self.interpret(base);
        let quoted = self.form_args(name, "quote").map(|list| self.ast.list(list).to_vec());
        match (self.kind(name), quoted.as_deref()) {
            (Kind::Sym(name), _) => {
                let name = self.normal(name);
                self.node(Kind::Field { base, name }, span, self.depth(base))
            }
            (_, Some(&[inner])) if let Kind::Name(name) = self.kind(inner) => {
                self.node(Kind::Field { base, name }, span, self.depth(base))
            }
            _ => {
                let name = self.interpret(name);
                self.call_named("getproperty", &[base, name], span)
            }
        }
    }

    pub(super) fn interpret_tuple(&mut self, args: &[ExprId], span: Span) -> ExprId {
        let Some((&first, rest)) = args.split_first() else {
            return self.node(Kind::Tuple(List::default()), span, 0);
        };
        let named = |builder: &Self, id| builder.form_args(id, "=").is_some();
        if let Some(list) = self.form_args(first, "parameters")
            && rest.iter().all(|&id| named(self, id))
        {
            let list = self.ast.list(list).to_vec();
            let mut all = self.interpret_named(rest);
            all.extend(self.interpret_named(&list));
            let (list, depth) = self.list_of(&all);
            return self.node(Kind::NamedTuple(list), span, depth);
        }
        if args.iter().all(|&id| named(self, id)) {
            let all = self.interpret_named(args);
            let (list, depth) = self.list_of(&all);
            return self.node(Kind::NamedTuple(list), span, depth);
        }
        if args.iter().any(|&id| named(self, id) || self.form_args(id, "parameters").is_some()) {
            return self.wrong(span, "either all items of a tuple have names or none has");
        }
        self.node_of(args, span, Kind::Tuple)
    }

    /// The call that joins parts along a dimension: `args` are its number and the parts.
    pub(super) fn interpret_dimensions(&mut self, args: &[ExprId], span: Span) -> ExprId {
        let mut parts = self.each(args);
        for (part, &arg) in parts.iter_mut().zip(args) {
            if self.form_args(arg, "row").is_some() {
                *part = self.node_of(&[*part], self.span(arg), Kind::Matrix);
            }
        }
        self.call_named("#ncat", &parts, span)
    }

    pub(super) fn interpret_array(&mut self, head: &str, args: &[ExprId], span: Span) -> ExprId {
        if head == "vect" {
            return self.node_of(args, span, Kind::Vector);
        }
        if head == "row" {
            return self.node_of(args, span, Kind::Row);
        }
        let (ty, args) = match (head, args) {
            ("typed_hcat" | "typed_vcat", &[ty, ref rest @ ..]) => (Some(ty), rest),
            _ => (None, args),
        };
        let outer = self.indexed;
        self.indexed |= ty.is_some();
        let mut rows = Vec::new();
        if head.ends_with("hcat") {
            rows.push(self.node_of(args, span, Kind::Row));
        } else {
            for &row in args {
                rows.push(match self.form_args(row, "row") {
                    Some(_) => self.interpret(row),
                    None => self.node_of(&[row], span, Kind::Row),
                });
            }
        }
        self.indexed = outer;
        let (rows, depth) = self.list_of(&rows);
        let made = self.node(Kind::Matrix(rows), span, depth);
        match ty {
            None => made,
            Some(ty) => {
                let ty = self.interpret(ty);
                self.call_named("#typed_matrix", &[ty, made], span)
            }
        }
    }

    // --- generators --------------------------------------------------------------------------

    pub(super) fn interpret_generator(
        &mut self,
        id: ExprId,
        head: &str,
        args: &[ExprId],
    ) -> ExprId {
        let span = self.span(id);
        let (ty, generator) = match (head, args) {
            ("typed_comprehension", &[ty, generator]) => (Some(ty), generator),
            ("comprehension", &[generator]) => (None, generator),
            _ => (None, id),
        };
        let outer = self.indexed;
        self.indexed |= ty.is_some();
        let mut clauses = Vec::new();
        let nested = self.form_args(generator, "flatten").is_some();
        let Some(body) = self.interpret_clauses(generator, &mut clauses) else {
            return self.malformed(id, head);
        };
        let body = self.interpret(body);
        self.indexed = outer;
        let ty = ty.map(|ty| self.interpret(ty));
        let (clauses, depth) = self.list_of(&clauses);
        let depth = depth.max(self.depth(body)).max(ty.map_or(0, |ty| self.depth(ty)));
        let kind = match head {
            "generator" | "flatten" => Kind::Generator { body, clauses, nested },
            _ => Kind::Comprehension { ty, body, clauses, nested },
        };
        self.node(kind, span, depth)
    }

    /// The clauses of a generator, outer loops first; returns the form of an element.
    pub(super) fn interpret_clauses(
        &mut self,
        id: ExprId,
        clauses: &mut Vec<ExprId>,
    ) -> Option<ExprId> {
        let flat =
            self.form_args(id, "flatten").and_then(|list| self.ast.list(list).first().copied());
        let args = self.form_args(flat.unwrap_or(id), "generator")?;
        let args = self.ast.list(args).to_vec();
        let (&body, specs) = args.split_first()?;
        for &spec in specs {
            match self.form_args(spec, "filter").map(|list| self.ast.list(list).to_vec()) {
                Some(parts) => {
                    let (&condition, specs) = parts.split_first()?;
                    for &spec in specs {
                        clauses.push(self.interpret_clause(spec));
                    }
                    let span = self.span(condition);
                    let condition = self.interpret(condition);
                    clauses.push(self.node(Kind::Filter(condition), span, self.depth(condition)));
                }
                None => clauses.push(self.interpret_clause(spec)),
            }
        }
        match flat {
            Some(_) => self.interpret_clauses(body, clauses),
            None => Some(body),
        }
    }

    pub(super) fn interpret_clause(&mut self, id: ExprId) -> ExprId {
        let span = self.span(id);
        let pair = self.form_args(id, "=").map(|list| self.ast.list(list).to_vec());
        let Some(&[target, iterable]) = pair.as_deref() else {
            return self.wrong(span, "expected `name = iterable` in a loop");
        };
        let (target, iterable) = (self.interpret(target), self.interpret(iterable));
        self.check_loop_target(target);
        let depth = self.depth(target).max(self.depth(iterable));
        self.node(Kind::In { target, iterable }, span, depth)
    }
}
