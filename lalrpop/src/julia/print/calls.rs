//! Calls, operators, and literals of collections.

use super::super::Bits;
use super::super::ast::{ExprId, Kind};
use super::names::{self, DECLARATION, POWER, TIMES};
use super::{Form, Printer, STEP};

/// The role of the items of a list.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Items {
    /// Elements.
    Plain,
    /// Operands: an operator among them needs brackets.
    Operands,
    /// Arguments: `x = 1` is one that is given by name.
    Arguments,
}

impl<'a> Printer<'a> {
    /// Writes a list, each item for this precedence.
    pub(super) fn list(
        &mut self,
        ids: &[ExprId],
        separator: &str,
        indent: usize,
        prec: i8,
        items: Items,
    ) {
        for (at, &id) in ids.iter().enumerate() {
            if at > 0 {
                self.out.push_str(separator);
            }
            let brackets = (at == 0 && prec >= POWER && self.begins_with_sign(id))
                || (items == Items::Operands && self.is_operator(id));
            match self.form_of(id) {
                Some(Form { head: "kw", args: &[name, value] }) if items == Items::Arguments => {
                    self.infix(&[name, value], " = ", names::ASSIGNMENT, indent + STEP, prec);
                }
                Some(form) if form.head == "=" && items == Items::Arguments => self.raw(form),
                _ => {
                    let prec = if brackets { 0 } else { prec };
                    self.bracketed(id, brackets, indent + STEP, prec);
                }
            }
        }
    }

    /// Writes a list between brackets.
    pub(super) fn enclosed(&mut self, ids: &[ExprId], brackets: &str, indent: usize, items: Items) {
        let (open, close) = brackets.split_at(1);
        self.out.push_str(open);
        self.list(ids, ", ", indent, 0, items);
        self.out.push_str(close);
    }

    /// Returns whether it is `-x` or a negative number.
    fn begins_with_sign(&self, id: ExprId) -> bool {
        match self.ast.kind(id) {
            Kind::Int(value) => value < 0,
            Kind::Float(value) => value.is_sign_negative(),
            Kind::Float32(value) => value.is_sign_negative(),
            Kind::Bits(Bits::Int128, [_, high]) => high.cast_signed() < 0,
            Kind::Value(number) => (self.value)(number).starts_with('-'),
            _ => self
                .args_of(id, "call")
                .and_then(|args| self.name_of(*args.first()?))
                .is_some_and(names::is_unary),
        }
    }

    /// Returns whether it is the name of an operator that is a function.
    fn is_operator(&self, id: ExprId) -> bool {
        self.name_of(id).is_some_and(|name| names::is_operator(name) && names::is_valid(name))
    }

    /// Writes operands with an operator between them.
    pub(super) fn infix(
        &mut self,
        ids: &[ExprId],
        operator: &str,
        level: i8,
        indent: usize,
        prec: i8,
    ) {
        let brackets = level <= prec;
        if brackets {
            self.out.push('(');
        }
        self.list(ids, operator, indent, level, Items::Operands);
        if brackets {
            self.out.push(')');
        }
    }

    /// Writes a form that is a call or an operator.
    pub(super) fn call_form(&mut self, form: Form<'a>, indent: usize, prec: i8) -> bool {
        match (form.head, form.args) {
            (".", args) => return self.dot(args, indent),
            ("call", [callee, args @ ..]) => self.call(*callee, args, indent, prec),
            ("calldecl", [callee, args @ ..]) => self.plain_call(*callee, args, "()", indent),
            ("curly", [callee, args @ ..]) => {
                self.callee(*callee, false, indent);
                self.arguments(args, "{}", indent, Items::Plain);
            }
            ("ref", [base, indices @ ..]) => self.scoped(self.is_shown, true, |printer| {
                printer.plain_call(*base, indices, "[]", indent);
            }),
            ("comparison", parts) if parts.len() >= 3 && parts.len() % 2 == 1 => {
                self.comparison(parts, indent, prec);
            }
            ("where", [body, params @ ..]) if !params.is_empty() => {
                self.where_form(*body, params, indent, prec);
            }
            ("::" | "<:" | ">:", &[ty]) => {
                self.out.push_str(form.head);
                self.expr(ty, indent, 0);
            }
            ("...", &[inner]) => {
                self.expr(inner, indent, 0);
                self.out.push_str("...");
            }
            ("'", &[inner]) => {
                self.bracketed(inner, self.name_of(inner).is_none(), 0, 0);
                self.out.push('\'');
            }
            ("&", &[inner]) => self.prefixed("&", inner),
            ("$", &[inner]) if !self.is_shown => self.prefixed("$", inner),
            (head, args) if args.len() == 2 && names::is_infix_head(head) => {
                self.infix_form(form, indent, prec);
            }
            _ => return false,
        }
        true
    }

    fn infix_form(&mut self, form: Form<'a>, indent: usize, prec: i8) {
        let level = names::precedence(form.head);
        if names::is_tight_head(form.head) {
            self.infix(form.args, form.head, level, indent, prec);
        } else {
            self.infix(form.args, &format!(" {} ", form.head), level, indent, prec);
        }
    }

    /// Writes `x.name`, `f.(x)`, `(.+)`; returns whether it is one of these.
    fn dot(&mut self, args: &'a [ExprId], indent: usize) -> bool {
        match *args {
            [operator] if self.name_of(operator).is_some_and(names::is_operator) => {
                self.out.push_str("(.");
                self.out.push_str(self.name_of(operator).unwrap_or_default());
                self.out.push(')');
            }
            [base, field] if self.is_quoted(field) => {
                let brackets = !self.is_quoted(base)
                    && !self.name_of(base).is_some_and(names::is_identifier)
                    && self.args_of(base, ".").is_none();
                self.bracketed(base, brackets, indent, 0);
                self.out.push('.');
                self.field(field, indent);
            }
            [callee, args] => match self.args_of(args, "tuple") {
                Some(args) => {
                    self.callee(callee, true, indent);
                    self.out.push('.');
                    self.arguments(args, "()", indent, Items::Arguments);
                }
                None => return false,
            },
            _ => return false,
        }
        true
    }

    /// Writes the name of a field, which is quoted.
    fn field(&mut self, field: ExprId, indent: usize) {
        let inner = match self.ast.kind(field) {
            Kind::Sym(name) => return self.field_name(self.ctx.str(name)),
            Kind::Quote(inner) => Some(inner),
            _ => self.form_of(field).and_then(|form| form.args.first().copied()),
        };
        let Some(inner) = inner else { return };
        match self.name_of(inner) {
            Some(name) => self.field_name(name),
            None => {
                self.out.push(':');
                self.bracketed(inner, true, indent, 0);
            }
        }
    }

    fn field_name(&mut self, name: &str) {
        let brackets = names::is_bracketed(name);
        if brackets || names::is_operator(name) {
            self.out.push(':');
        }
        if brackets {
            self.out.push('(');
        }
        names::write_name(&mut self.out, name);
        if brackets {
            self.out.push(')');
        }
    }

    /// Writes what is called; in brackets unless it is a name or the like.
    fn callee(&mut self, callee: ExprId, is_dotted: bool, indent: usize) {
        let is_bare = match (self.name_of(callee), self.form_of(callee)) {
            (Some(name), _) => {
                !names::is_valid(name) || (name != ":" && !(is_dotted && names::is_operator(name)))
            }
            (_, Some(form)) => matches!(form.head, "." | "curly"),
            _ => matches!(self.ast.kind(callee), Kind::GlobalRef { .. }),
        };
        self.bracketed(callee, !is_bare, indent, 0);
    }

    /// Writes `f(x; y)`, `a[x]`.
    fn plain_call(&mut self, callee: ExprId, args: &[ExprId], brackets: &str, indent: usize) {
        self.callee(callee, false, indent);
        self.arguments(args, brackets, indent, Items::Arguments);
    }

    /// Writes arguments in brackets, those that are given by name at last.
    pub(super) fn arguments(
        &mut self,
        args: &[ExprId],
        brackets: &str,
        indent: usize,
        items: Items,
    ) {
        let named = args.first().and_then(|&first| self.args_of(first, "parameters"));
        let Some(named) = named else {
            return self.enclosed(args, brackets, indent, items);
        };
        let (open, close) = brackets.split_at(1);
        self.out.push_str(open);
        self.list(&args[1..], ", ", indent, 0, items);
        self.out.push_str("; ");
        self.list(named, ", ", indent, 0, items);
        self.out.push_str(close);
    }

    /// The operator that is called: one that is looked up in a module counts as well.
    fn called_operator(&self, callee: ExprId) -> Option<&'a str> {
        let name = match self.ast.kind(callee) {
            Kind::Name(name) | Kind::GlobalRef { name, .. } => self.ctx.str(name),
            _ => return None,
        };
        Some(name).filter(|name| names::precedence(name) > 0 || names::is_unary(name))
    }

    fn call(&mut self, callee: ExprId, args: &[ExprId], indent: usize, prec: i8) {
        let operator = self.called_operator(callee);
        let is_plain = args.iter().any(|&arg| self.args_of(arg, "kw").is_some())
            || args.first().is_some_and(|&arg| self.args_of(arg, "parameters").is_some());
        match (operator, args) {
            (Some("*"), &[number, name]) if self.is_coefficient(number, name) => {
                self.infix(args, "", TIMES, indent, prec);
            }
            (Some(operator), &[operand]) if !is_plain && names::is_unary(operator) => {
                self.unary(operator, operand, indent);
            }
            (Some(operator), _) if !is_plain => {
                self.operator_call(operator, args, indent, prec);
            }
            (Some(operator), _) => self.operator_name_call(operator, args, indent),
            (None, _) => self.plain_call(callee, args, "()", indent),
        }
    }

    /// Returns whether `2x` may be written: it would not read as another number.
    fn is_coefficient(&self, number: ExprId, name: ExprId) -> bool {
        let first = self.name_of(name).and_then(|name| name.chars().next());
        let is_number = match self.ast.kind(number) {
            Kind::Int(0) => !matches!(first, Some('b' | 'o' | 'x')),
            Kind::Int(_) | Kind::Bits(Bits::Int128, _) => true,
            Kind::Float(value) => value.is_finite(),
            Kind::Float32(value) => value.is_finite(),
            _ => false,
        };
        is_number && first.is_some_and(|c| !matches!(c, 'e' | 'E' | 'f'))
    }

    fn unary(&mut self, operator: &str, operand: ExprId, indent: usize) {
        let level = names::precedence(operator);
        let brackets = self.form_of(operand).is_some() || self.is_operator(operand);
        let indent = if brackets { indent + STEP } else { indent };
        self.out.push_str(operator);
        self.bracketed(operand, brackets, indent, level);
    }

    /// Writes the call of a binary operator: between its operands where it has enough of them.
    fn operator_call(&mut self, operator: &str, args: &[ExprId], indent: usize, prec: i8) {
        let is_infix = match args.len() {
            2 => true,
            3 if operator == ":" => true,
            count => count > 2 && matches!(operator, "+" | "++" | "*"),
        };
        let has_splat = args.iter().any(|&arg| self.args_of(arg, "...").is_some());
        let level = names::precedence(operator);
        if level == 0 || args.is_empty() || args.len() > 1 && (!is_infix || has_splat) {
            self.operator_name_call(operator, args, indent);
        } else if args.len() == 1 {
            self.out.push('(');
            names::write_name(&mut self.out, operator);
            self.out.push(')');
            self.enclosed(args, "()", indent, Items::Plain);
        } else if operator == ":" {
            self.infix(args, operator, level, indent, prec);
        } else {
            self.infix(args, &format!(" {operator} "), level, indent, prec);
        }
    }

    /// Writes the call of an operator as that of a function: `+(a, b...)`.
    fn operator_name_call(&mut self, operator: &str, args: &[ExprId], indent: usize) {
        match operator {
            ":" => self.out.push_str("(:)"),
            _ => names::write_name(&mut self.out, operator),
        }
        self.arguments(args, "()", indent, Items::Arguments);
    }

    fn comparison(&mut self, parts: &[ExprId], indent: usize, prec: i8) {
        let operators = parts.iter().skip(1).step_by(2);
        let levels = operators.map(|&id| self.name_of(id).map_or(0, names::precedence));
        let level = levels.min().unwrap_or(0);
        if level <= prec {
            self.out.push('(');
        }
        self.list(parts, " ", indent, level, Items::Plain);
        if level <= prec {
            self.out.push(')');
        }
    }

    fn where_form(&mut self, body: ExprId, params: &[ExprId], indent: usize, prec: i8) {
        let brackets = prec >= 1;
        if brackets {
            self.out.push('(');
        }
        self.expr(body, indent, DECLARATION);
        self.out.push_str(" where ");
        match params {
            &[param] => self.expr(param, indent, 1),
            _ => self.enclosed(params, "{}", indent, Items::Plain),
        }
        if brackets {
            self.out.push(')');
        }
    }

    /// Writes a form that is the literal of a collection, or a generator.
    pub(super) fn collection_form(&mut self, form: Form<'a>, indent: usize, prec: i8) -> bool {
        match (form.head, form.args) {
            ("tuple", args) => self.tuple(args, indent),
            ("vect", args) => self.enclosed(args, "[]", indent, Items::Plain),
            ("braces", args) => self.enclosed(args, "{}", indent, Items::Plain),
            ("hcat", args) => self.elements(args, "[]", " ", indent),
            ("vcat", args) => self.elements(args, "[]", "; ", indent),
            ("bracescat", args) => self.elements(args, "{}", "; ", indent),
            ("row", args) => self.list(args, " ", indent, 0, Items::Plain),
            ("typed_hcat", [ty, args @ ..]) => {
                self.expr(*ty, indent, prec);
                self.scoped(self.is_shown, true, |printer| {
                    printer.elements(args, "[]", " ", indent);
                });
            }
            ("typed_vcat", [ty, args @ ..]) => {
                self.expr(*ty, indent, prec);
                self.scoped(self.is_shown, true, |printer| {
                    printer.elements(args, "[]", "; ", indent);
                });
            }
            ("ncat", &[level, ref args @ ..]) if let Some(marks) = self.semicolons(level) => {
                self.elements(args, "[]", &marks, indent);
            }
            ("nrow", &[level, ref args @ ..]) if let Some(marks) = self.semicolons(level) => {
                self.list(args, &marks, indent, 0, Items::Plain);
            }
            ("typed_ncat", &[ty, level, ref args @ ..])
                if let Some(marks) = self.semicolons(level) =>
            {
                self.expr(ty, indent, prec);
                self.scoped(self.is_shown, true, |printer| {
                    printer.elements(args, "[]", &marks, indent);
                });
            }
            ("comprehension", &[body]) => self.comprehension(body, indent),
            ("typed_comprehension", &[ty, body]) => {
                self.expr(ty, indent, 0);
                self.scoped(self.is_shown, true, |printer| printer.comprehension(body, indent));
            }
            ("generator", [_, _, ..]) | ("flatten", [_]) => {
                self.out.push('(');
                self.generator(form, indent);
                self.out.push(')');
            }
            ("filter", [condition, clauses @ ..]) if !clauses.is_empty() => {
                let first_indent = indent.saturating_sub(STEP);
                self.list(clauses, ", ", first_indent, 0, Items::Plain);
                self.out.push_str(" if ");
                self.expr(*condition, indent, 0);
            }
            _ => return false,
        }
        true
    }

    fn tuple(&mut self, args: &'a [ExprId], indent: usize) {
        self.out.push('(');
        let named = args.first().and_then(|&first| self.args_of(first, "parameters"));
        let items = if named.is_some() { &args[1..] } else { args };
        self.list(items, ", ", indent, 0, Items::Plain);
        if items.len() == 1 {
            self.out.push(',');
        }
        if let Some(named) = named {
            self.out.push_str(if named.is_empty() { ";" } else { "; " });
            self.list(named, ", ", indent, 0, Items::Arguments);
        }
        self.out.push(')');
    }

    /// Writes the elements of a matrix literal.
    fn elements(&mut self, args: &[ExprId], brackets: &str, separator: &str, indent: usize) {
        let (open, close) = brackets.split_at(1);
        self.out.push_str(open);
        self.list(args, separator, indent, 0, Items::Plain);
        if args.len() == 1 && brackets == "[]" && separator != " " {
            self.out.push_str(separator.trim_end());
        }
        self.out.push_str(close);
    }

    /// The marks that part an array along a dimension.
    fn semicolons(&self, level: ExprId) -> Option<String> {
        match self.ast.kind(level) {
            Kind::Int(n @ 1..=16) => Some(format!("{} ", ";".repeat(n as usize))),
            _ => None,
        }
    }

    fn comprehension(&mut self, body: ExprId, indent: usize) {
        self.out.push('[');
        match self.form_of(body) {
            Some(form) if matches!(form.head, "generator" | "flatten") => {
                self.generator(form, indent);
            }
            _ => self.expr(body, indent, 0),
        }
        self.out.push(']');
    }

    /// Writes `x for x = xs`. The element of a generator in a `flatten` is the generator of the next
    /// `for`.
    fn generator(&mut self, form: Form<'a>, indent: usize) {
        let mut clauses: Vec<&'a [ExprId]> = Vec::new();
        let mut form = form;
        while let ("flatten", &[inner]) = (form.head, form.args) {
            let Some([body, outer @ ..]) = self.args_of(inner, "generator") else { break };
            clauses.push(outer);
            match self.form_of(*body) {
                Some(next) => form = next,
                None => break,
            }
        }
        let Some((&body, rest)) = form.args.split_first() else { return };
        clauses.push(rest);
        self.expr(body, indent, 0);
        for clause in clauses {
            self.out.push_str(" for ");
            self.list(clause, ", ", indent, 0, Items::Plain);
        }
    }
}
