//! Instructions: their results, ops, operands and edges, and where they come from.

use smallvec::SmallVec;

use super::{NO_TERMINATOR, Printer};
use crate::interned::write_quoted;
use crate::{
    Function, Loc, Location, Op, OpDef, Operand, OperandKind, ResultType, Symbol, Syntax, Type,
    Value,
};

impl Printer<'_> {
    /// An instruction or terminator that is linked into its block.
    #[inline]
    pub(super) fn inst(&mut self, f: &Function, v: Value) {
        let Some((facts, operands)) = f.facts_and_operands(v).filter(|(facts, _)| is_op(facts.op))
        else {
            self.out.push_str(if v.is_terminator() { NO_TERMINATOR } else { "<no instruction>" });
            return;
        };
        let def = self.ctx.registry().def(facts.op);
        if !v.is_terminator() {
            self.value_name(f, v);
            // Leaving the type out says `any` where nothing else could be inferred.
            if facts.ty != Type::ANY || !def.is_some_and(has_declared_result) {
                self.out.push_str(": ");
                self.ty(facts.ty);
            }
            self.out.push_str(" = ");
        }
        let Some(def) = def else { return self.unknown_op(f, v, facts.op) };
        self.out.push_str(def.mnemonic());
        match def.syntax {
            Syntax::Generic | Syntax::Short(_) => self.operands(f, operands, true),
            Syntax::Call(_) => self.call(f, v),
            Syntax::Switch(_) => self.switch(f, v),
        }
        self.attrs(facts.attrs);
    }

    #[cold]
    pub(super) fn unknown_op(&mut self, f: &Function, v: Value, op: Op) {
        self.out.push_str(&format!("<{op:?}>"));
        self.operands(f, f.operands(v), true);
        self.attrs(f.attrs(v));
    }

    /// ` %1, ^2(%3, 4), ^3`: operands in order, those of an edge in parentheses.
    #[inline]
    pub(super) fn operands(
        &mut self,
        f: &Function,
        operands: impl Iterator<Item = Operand>,
        mut first: bool,
    ) {
        /// The end of the operands so far.
        #[derive(PartialEq)]
        enum After {
            Plain,
            Target,
            Argument,
        }
        let mut after = After::Plain;
        for operand in operands {
            let separator = match after {
                After::Target if !operand.is_block() => {
                    after = After::Argument;
                    "("
                }
                After::Argument if operand.is_block() => "), ",
                _ if first => " ",
                _ => ", ",
            };
            if operand.is_block() {
                after = After::Target;
            }
            self.out.push_str(separator);
            self.operand(f, operand);
            first = false;
        }
        if after == After::Argument {
            self.out.push(')');
        }
    }

    /// ` @f(%1, 2)`
    pub(super) fn call(&mut self, f: &Function, v: Value) {
        let mut plain = f.plain_operands(v);
        let edges = f.operands(v).skip(plain.len());
        if let Some(callee) = plain.next() {
            self.out.push(' ');
            self.operand(f, callee);
            self.out.push('(');
            for (i, operand) in plain.enumerate() {
                self.out.push_str(if i == 0 { "" } else { ", " });
                self.operand(f, operand);
            }
            self.out.push(')');
            self.operands(f, edges, false);
        } else {
            self.operands(f, edges, true);
        }
    }

    /// ` %x, ^1, 1: ^2, 5: ^3(%a)`
    pub(super) fn switch(&mut self, f: &Function, v: Value) {
        let operands: SmallVec<[Operand; 16]> = f.operands(v).collect();
        let plain = operands.iter().position(|o| o.is_block()).unwrap_or(operands.len());
        let targets = operands.iter().filter(|o| o.is_block()).count();
        if plain == 0 || targets != plain {
            // It is broken; show the operands as they stand.
            return self.operands(f, operands.into_iter(), true);
        }
        self.out.push(' ');
        self.operand(f, operands[0]);
        let mut rest = &operands[plain..];
        for case in 0..plain {
            self.out.push_str(", ");
            if case > 0 {
                self.operand(f, operands[case]);
                self.out.push_str(": ");
            }
            let args = rest[1..].iter().position(|o| o.is_block()).unwrap_or(rest.len() - 1);
            self.operand(f, rest[0]);
            for (i, &arg) in rest[1..=args].iter().enumerate() {
                self.out.push_str(if i == 0 { "(" } else { ", " });
                self.operand(f, arg);
            }
            self.out.push_str(if args > 0 { ")" } else { "" });
            rest = &rest[args + 1..];
        }
    }

    #[inline]
    pub(super) fn operand(&mut self, f: &Function, operand: Operand) {
        match operand.kind() {
            OperandKind::Value(v) => self.value(f, v),
            OperandKind::Const(c) => self.constant(c),
            OperandKind::Block(b) => {
                self.block_name(b);
                if !f.is_live_block(b) {
                    self.out.push('?');
                }
            }
        }
    }

    #[inline]
    pub(super) fn value(&mut self, f: &Function, v: Value) {
        if v.is_terminator() || !f.is_live(v) {
            return self.bad_value(v);
        }
        self.value_name(f, v);
    }

    /// The name or number of a value that is known to be live.
    #[inline]
    pub(super) fn value_name(&mut self, f: &Function, v: Value) {
        self.out.push('%');
        match f.value_symbol(v) {
            None => self.number(u64::from(v.number())),
            Some(name) => self.name(name),
        }
    }

    #[cold]
    pub(super) fn bad_value(&mut self, v: Value) {
        let text = match v.terminated_block() {
            Some(b) => format!("%<the terminator of {b}>"),
            None => v.to_string(),
        };
        self.out.push_str(&text);
        self.out.push('?');
    }

    /// ` loc("f.ir":3:5 in @f at "g.ir":9:1)`, or nothing.
    pub(super) fn loc(&mut self, loc: Loc) {
        let mut rest: SmallVec<[(Loc, Option<Symbol>); 4]> = SmallVec::from_slice(&[(loc, None)]);
        let (mut open, mut within) = (false, None);
        while let Some((loc, function)) = rest.pop() {
            match self.ctx.location(loc) {
                Location::Unknown => {}
                Location::Inlined { at, callee, call_site } => {
                    rest.extend([(call_site, function), (at, Some(callee))]);
                }
                Location::File { file, line, column } => {
                    if let Some(within) = within {
                        self.out.push_str(" in @");
                        self.name(within);
                    }
                    self.out.push_str(if open { " at " } else { " loc(" });
                    (open, within) = (true, function);
                    let _ = write_quoted(&mut self.out, &file);
                    for number in [line, column] {
                        self.out.push(':');
                        self.number(u64::from(number));
                    }
                }
            }
        }
        if open {
            self.out.push(')');
        }
    }

    /// `  # by mul-to-add from %3`
    pub(super) fn origin(&mut self, f: &Function, v: Value) {
        let Some(origin) = f.origin(v) else { return };
        self.out.push_str("  # by ");
        self.name(origin.by);
        if let Some(from) = origin.from {
            self.out.push_str(" from ");
            match from.terminated_block() {
                Some(b) => {
                    self.out.push_str("the terminator of ");
                    self.block_name(b);
                }
                None => self.value(f, from),
            }
        }
    }
}

/// Returns whether it is the op of an instruction.
fn is_op(op: Op) -> bool {
    op != Op::PARAM && op != Op::DEAD && op != Op::MISSING
}

fn has_declared_result(def: &OpDef) -> bool {
    matches!(def.result, ResultType::Declared)
}
