//! Operators: which of them binds tighter, and what they make of their operands.
//!
//! Every operator has a strength to its left and one to its right; one that comes applies all
//! that wait and bind their right operand more strongly than it binds its left one. The levels
//! are those of Julia's manual ("Operator Precedence and Associativity"), which follow its parser.

use super::leaves::whole;
use super::{Builder, Op, Waiting};
use crate::julia::Bits;
use crate::julia::ast::{ExprId, Kind, Span};
use crate::julia::token::{Infix, Level, Oper, Postfix, Prefix};

const ASSIGN: u8 = 3;
const COMMA: u8 = 4;
const COMPARISON: u8 = 16;
const RANGE: u8 = 20;
const WHERE: u8 = 30;
const POWER: u8 = 39;

/// Returns how strongly an operator between two operands binds what is left and what is right of
/// it.
fn strengths(infix: Infix) -> (u8, u8) {
    match infix {
        Infix::Assign | Infix::DotAssign | Infix::Update(_) | Infix::DotUpdate(_) => (ASSIGN, 2),
        Infix::Comma => (COMMA, 5),
        Infix::Question => (9, 0),
        Infix::Else => (0, 8),
        Infix::Or => (13, 12),
        Infix::And => (15, 14),
        Infix::Range => (RANGE, 21),
        Infix::Where => (WHERE, COMPARISON),
        Infix::Juxtapose => (34, 35),
        Infix::Argument => (1, 1),
        Infix::Dot => (50, 51),
        Infix::Typed => (41, WHERE),
        Infix::Arrow => (40, 5),
        Infix::Oper(oper) | Infix::Dotted(oper) => match oper.level() {
            Level::Pair => (7, 6),
            Level::Arrow => (11, 10),
            Level::Comparison => (COMPARISON, 17),
            Level::Pipe if oper == Oper::PipeBack => (19, 18),
            Level::Pipe => (18, 19),
            Level::Plus => (22, 23),
            Level::Times => (24, 25),
            Level::Rational => (26, 27),
            Level::Shift => (28, 29),
            // Not between operands in Julia; reported where it comes.
            Level::Unary => (ASSIGN, 2),
            Level::Power => (POWER, 34),
        },
    }
}

fn strength(prefix: Prefix) -> u8 {
    match prefix {
        Prefix::Oper(Oper::Subtype | Oper::Supertype)
        | Prefix::Touching(Oper::Subtype | Oper::Supertype) => 29,
        Prefix::Oper(_) | Prefix::Touching(_) | Prefix::Dotted(_) => 36,
        Prefix::Typed => WHERE,
        Prefix::Macro | Prefix::TightMacro => 0,
        _ => 1,
    }
}

fn is_assignment(infix: Infix) -> bool {
    matches!(infix, Infix::Assign | Infix::DotAssign | Infix::Update(_) | Infix::DotUpdate(_))
}

impl Builder<'_> {
    /// An expression begins.
    #[inline]
    pub(crate) fn begin(&mut self) {
        let span = Span { start: 0, end: 0 };
        self.ops.push(Op { what: Waiting::Mark, right: 0, operands: 0, span });
    }

    /// An expression ends.
    #[inline]
    pub(crate) fn expr(&mut self) -> ExprId {
        while let Some(op) = self.ops.pop()
            && op.what != Waiting::Mark
        {
            self.apply(op);
        }
        self.pop()
    }

    pub(crate) fn prefix(&mut self, prefix: Prefix, span: Span) {
        match prefix {
            Prefix::Quote => self.code.begin_quote(),
            Prefix::Macro | Prefix::TightMacro => self.code.begin_arguments(),
            Prefix::Interpolate => self.code.begin_value(),
            _ => {}
        }
        let (what, right) = (Waiting::Prefix(prefix), strength(prefix));
        self.ops.push(Op { what, right, operands: 1, span });
    }

    pub(crate) fn infix(&mut self, infix: Infix, span: Span) {
        let (left, right) = strengths(infix);
        if left == POWER {
            self.split_sign(span);
        }
        if infix == Infix::Else {
            self.otherwise(span);
            return;
        }
        self.apply_tighter(left, infix);
        if left == COMPARISON {
            self.comparisons.push((infix, span));
        }
        if let Some(top) = self.ops.last_mut()
            && let Waiting::Infix(before) = top.what
        {
            // `a + b + c` is one call of three.
            let joins = match infix {
                Infix::Oper(Oper::Add | Oper::Mul) => before == infix,
                Infix::Comma | Infix::Argument => before == infix,
                Infix::Range => before == Infix::Range && top.operands == 2,
                _ => left == COMPARISON && strengths(before).0 == COMPARISON,
            };
            if joins {
                top.operands += 1;
                return;
            }
            if before == Infix::Range
                && infix == Infix::Range
                && let Some(op) = self.ops.pop()
            {
                self.apply(op);
            }
        }
        self.ops.push(Op { what: Waiting::Infix(infix), right, operands: 2, span });
    }

    /// Applies what binds the operand here more tightly than `infix`, of this strength, does; all
    /// but what `infix` joins.
    fn apply_tighter(&mut self, left: u8, infix: Infix) {
        while let Some(&op) = self.ops.last() {
            let joins = match op.what {
                Waiting::Mark => return,
                Waiting::Infix(before) => match infix {
                    // The bodies of these take in assignments, though not commas.
                    _ if is_assignment(infix) => matches!(before, Infix::Arrow | Infix::Else),
                    Infix::Oper(Oper::Add | Oper::Mul)
                    | Infix::Comma
                    | Infix::Argument
                    | Infix::Range => before == infix,
                    Infix::Where => before == Infix::Typed,
                    // Its right operand is a type, which none of the others is part of.
                    _ if before == Infix::Typed => false,
                    _ => {
                        left == COMPARISON
                            && strengths(before).0 == COMPARISON
                            && before != Infix::Where
                    }
                },
                Waiting::Prefix(_) => false,
            };
            let typed = op.what == Waiting::Infix(Infix::Typed) && infix != Infix::Where;
            if joins || (op.right <= left && !typed) {
                // A chain of `where`s without braces goes from left to right.
                if infix == Infix::Where && self.where_waits() {
                    if let Some(op) = self.ops.pop() {
                        self.apply(op);
                    }
                    continue;
                }
                return;
            }
            self.ops.pop();
            self.apply(op);
        }
    }

    /// Returns whether the right operand of a `where` is being read.
    fn where_waits(&self) -> bool {
        self.ops
            .iter()
            .rev()
            .take_while(|op| op.what != Waiting::Mark && op.right >= COMPARISON)
            .any(|op| op.what == Waiting::Infix(Infix::Where))
    }

    /// The colon of `c ? a : b`.
    fn otherwise(&mut self, span: Span) {
        while let Some(&op) = self.ops.last()
            && op.what != Waiting::Mark
        {
            if op.what == Waiting::Infix(Infix::Question) {
                if let Some(top) = self.ops.last_mut() {
                    *top = Op { what: Waiting::Infix(Infix::Else), right: 8, operands: 3, span };
                }
                return;
            }
            self.ops.pop();
            self.apply(op);
        }
        // Only after an error can there be none.
        self.ops.push(Op { what: Waiting::Infix(Infix::Range), right: 21, operands: 2, span });
    }

    /// `-2^x` is `-(2^x)`, though `-2` is a literal.
    fn split_sign(&mut self, power: Span) {
        let Some(&operand) = self.operands.last() else { return };
        let span = self.span(operand);
        let kind = match self.kind(operand) {
            Kind::Int(value) => whole(-i128::from(value)),
            Kind::Float(value) => Kind::Float(-value),
            Kind::Float32(value) => Kind::Float32(-value),
            Kind::Bits(Bits::Int128, [low, high]) => {
                whole((u128::from(high) << 64 | u128::from(low)).cast_signed().wrapping_neg())
            }
            _ => return,
        };
        let text = self.slice(span);
        let Some(sign) = text.chars().next().filter(|c| matches!(c, '-' | '−')) else { return };
        if self.text[span.end as usize..power.start as usize].contains(')') {
            return;
        }
        let middle = span.start + sign.len_utf8() as u32;
        self.ast.exprs[operand.index()].kind = kind;
        self.ast.exprs[operand.index()].span = Span { start: middle, end: span.end };
        self.prefix(Prefix::Oper(Oper::Sub), Span { start: span.start, end: middle });
    }

    // --- what operators make -----------------------------------------------------------------

    pub(super) fn apply(&mut self, op: Op) {
        let made = match op.what {
            Waiting::Mark => return,
            Waiting::Prefix(prefix) => {
                let operand = self.pop();
                self.apply_prefix(prefix, op.span, operand)
            }
            Waiting::Infix(infix) => self.apply_infix(infix, op),
        };
        self.operands.push(made);
    }

    fn apply_infix(&mut self, infix: Infix, op: Op) -> ExprId {
        let from = self.operands.len() - (op.operands as usize).min(self.operands.len());
        let first = self.outer(self.operands[from]);
        let last = self.outer(self.operands[self.operands.len() - 1]);
        let span = Span { start: first.start, end: last.end.max(first.end) };
        match infix {
            Infix::Oper(_) | Infix::Dotted(_) if strengths(infix).0 == COMPARISON => {
                self.comparison(from, span)
            }
            _ if self.code.is_data() => self.code_infix(infix, op, from, span),
            Infix::Oper(oper) => self.operator_call(oper, op.span, from, span),
            Infix::Juxtapose => self.operator_call(Oper::Mul, op.span, from, span),
            Infix::Range => {
                let callee = self.named(":", op.span);
                let (args, depth) = self.take_operands(from);
                self.node(Kind::Call { callee, args }, span, depth)
            }
            Infix::Dotted(oper) => {
                if oper == Oper::Other || oper.is_only_prefix() {
                    self.foreign_operator(op.span);
                }
                let callee = self.operator(oper, op.span);
                let (args, depth) = self.take_operands(from);
                self.node(Kind::Dot { callee, args }, span, depth)
            }
            Infix::Comma => {
                let (items, depth) = self.take_operands(from);
                let tuple = self.node(Kind::Tuple(items), span, depth);
                self.bare_tuple = Some(tuple);
                tuple
            }
            Infix::Else => {
                let (otherwise, then, condition) = (self.pop(), self.pop(), self.pop());
                let depth = self.depth(condition).max(self.depth(then)).max(self.depth(otherwise));
                let otherwise = Some(otherwise);
                self.node(Kind::If { condition, then, otherwise }, span, depth)
            }
            Infix::Question => {
                self.operands.truncate(from);
                self.problems.add_help(
                    op.span,
                    "`?` without `:`",
                    "expected `:` after this",
                    "it is `condition ? one : other`",
                );
                self.leaf(Kind::Error, span)
            }
            _ => {
                let (right, left) = (self.pop(), self.pop());
                self.apply_two(infix, op.span, left, right, span)
            }
        }
    }

    fn apply_two(
        &mut self,
        infix: Infix,
        at: Span,
        left: ExprId,
        right: ExprId,
        span: Span,
    ) -> ExprId {
        let depth = self.depth(left).max(self.depth(right));
        match infix {
            Infix::And => self.node(Kind::And(left, right), span, depth),
            Infix::Or => self.node(Kind::Or(left, right), span, depth),
            Infix::Typed => self.node(Kind::Typed { value: Some(left), ty: right }, span, depth),
            Infix::Where => {
                let (params, _) = self.list_of(&[right]);
                self.node(Kind::Where { body: left, params }, span, depth)
            }
            Infix::Arrow => self.arrow(left, right, span),
            Infix::Assign => self.assign(left, right, span),
            Infix::DotAssign => {
                self.check_dot_target(left);
                self.node(Kind::DotAssign { target: left, value: right }, span, depth)
            }
            Infix::Update(oper) => {
                self.check_operator(oper, at);
                self.check_update_target(left);
                let op = self.oper_symbol(oper);
                self.node(Kind::Update { op, target: left, value: right }, span, depth)
            }
            Infix::DotUpdate(oper) => {
                self.check_operator(oper, at);
                self.check_dot_target(left);
                let op = self.oper_symbol(oper);
                self.node(Kind::DotUpdate { op, target: left, value: right }, span, depth)
            }
            _ => self.leaf(Kind::Error, span),
        }
    }

    fn check_operator(&mut self, oper: Oper, at: Span) {
        if oper == Oper::Other {
            self.foreign_operator(at);
        }
    }

    #[cold]
    fn foreign_operator(&mut self, at: Span) {
        let text = self.slice(at);
        let message = format!("the operator `{text}` is not supported here");
        self.problems.add(at, message);
    }

    /// Moves the operands from `from` on to a list.
    fn take_operands(&mut self, from: usize) -> (crate::julia::ast::List, u16) {
        let first = self.ast.lists.len() as u32;
        let mut depth = 0;
        for &id in &self.operands[from..] {
            depth = depth.max(self.depth(id));
        }
        self.ast.lists.extend_from_slice(&self.operands[from..]);
        let len = (self.operands.len() - from) as u32;
        self.operands.truncate(from);
        (crate::julia::ast::List { start: first, len }, depth)
    }

    fn operator_call(&mut self, oper: Oper, at: Span, from: usize, span: Span) -> ExprId {
        if oper == Oper::Other || oper.is_only_prefix() {
            self.foreign_operator(at);
        }
        let callee = self.operator(oper, at);
        let (args, depth) = self.take_operands(from);
        self.node(Kind::Call { callee, args }, span, depth)
    }

    fn comparison(&mut self, from: usize, span: Span) -> ExprId {
        let count = self.operands.len() - from - 1;
        let first = self.comparisons.len() - count.min(self.comparisons.len());
        if self.code.is_data() {
            let operators = self.comparisons.split_off(first);
            return self.code_comparison(&operators, from, span);
        }
        if let [(infix, at)] = self.comparisons[first..] {
            self.comparisons.truncate(first);
            let (Infix::Oper(oper) | Infix::Dotted(oper)) = infix else {
                return self.leaf(Kind::Error, span);
            };
            let negated = oper == Oper::NotIn;
            let callee = self.operator(if negated { Oper::In } else { oper }, at);
            let (args, depth) = self.take_operands(from);
            let dotted = matches!(infix, Infix::Dotted(_));
            let made =
                if dotted { Kind::Dot { callee, args } } else { Kind::Call { callee, args } };
            let made = self.node(made, span, depth);
            if !negated {
                return made;
            }
            let callee = self.operator(Oper::Not, at);
            let depth = self.depth(made);
            let (args, _) = self.list_of(&[made]);
            let kind =
                if dotted { Kind::Dot { callee, args } } else { Kind::Call { callee, args } };
            return self.node(kind, span, depth);
        }
        let start = self.list.len() as u32;
        let mut reported = false;
        for at in 0..=count {
            let operand = self.operands[from + at];
            self.list.push(operand);
            if at < count {
                let (infix, at) = self.comparisons[first + at];
                if !reported && matches!(infix, Infix::Dotted(_) | Infix::Oper(Oper::NotIn)) {
                    reported = true;
                    let text = self.slice(at);
                    let message = format!("`{text}` in a chain of comparisons is not supported");
                    self.problems.add(at, message);
                }
                let (Infix::Oper(oper) | Infix::Dotted(oper)) = infix else { continue };
                let name = self.operator(oper, at);
                self.list.push(name);
            }
        }
        self.comparisons.truncate(first);
        self.operands.truncate(from);
        let (parts, depth) = self.take_list(start);
        self.node(Kind::Compare { parts }, span, depth)
    }

    // --- after an operand --------------------------------------------------------------------

    pub(crate) fn postfix(&mut self, postfix: Postfix, span: Span) {
        if self.code.is_data() && postfix != Postfix::Comma {
            let made = self.code_postfix(postfix, span);
            return self.push(made);
        }
        match postfix {
            Postfix::Field => {
                let base = self.pop();
                let name = self.field_name(span);
                let all = Span { start: self.outer(base).start, end: span.end };
                let depth = self.depth(base);
                let made = self.node(Kind::Field { base, name }, all, depth);
                self.push(made);
            }
            Postfix::Adjoint => {
                let operand = self.pop();
                let callee = self.named("'", span);
                let all = Span { start: self.outer(operand).start, end: span.end };
                let depth = self.depth(operand);
                let (args, _) = self.list_of(&[operand]);
                let made = self.node(Kind::Call { callee, args }, all, depth);
                self.push(made);
            }
            Postfix::Splat => {
                self.apply_tighter_than_range();
                let operand = self.pop();
                let all = Span { start: self.outer(operand).start, end: span.end };
                let depth = self.depth(operand);
                let made = self.node(Kind::Splat(operand), all, depth);
                self.push(made);
            }
            Postfix::Comma => {
                self.apply_tighter(COMMA, Infix::Comma);
                let from = match self.ops.last() {
                    Some(op) if op.what == Waiting::Infix(Infix::Comma) => {
                        let operands = op.operands as usize;
                        self.ops.pop();
                        self.operands.len() - operands
                    }
                    _ => self.operands.len() - 1,
                };
                let all = Span { start: self.outer(self.operands[from]).start, end: span.end };
                if self.code.is_data() {
                    let items: Vec<ExprId> = self.operands.drain(from..).collect();
                    let made = self.form("tuple", &items, all);
                    return self.push(made);
                }
                let (items, depth) = self.take_operands(from);
                let made = self.node(Kind::Tuple(items), all, depth);
                self.push(made);
            }
        }
    }

    /// Applies what binds more tightly than a range, for a `...` behind it.
    pub(super) fn apply_tighter_than_range(&mut self) {
        self.apply_tighter(RANGE, Infix::Else);
    }

    /// `T where {A, B}`
    pub(crate) fn apply_for_where(&mut self) {
        self.apply_tighter(WHERE, Infix::Where);
    }
}
