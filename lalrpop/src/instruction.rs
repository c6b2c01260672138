//! Instructions: operands, attributes and locations as they are written, and the forms that some
//! ops have of their own.

use regraft_ir::{Attrs, Const, Loc, OpDef, Registry, Syntax, Type, suggest};

use crate::builder::{Builder, did_you_mean};
use crate::function_text::{InstText, OperandAt, OperandText, Span, ValueRef};
use crate::report::range;

/// The most attributes that there can be in one place.
const MAX_ATTRS: usize = 1000;

/// The words that begin a line and are no ops.
const KEYWORDS: [&str; 3] = ["func", "struct", "mutable"];

impl Builder<'_> {
    #[inline]
    pub(crate) fn result(&mut self, name: Span, ty: Option<Type>) {
        let value = self.value_ref(name);
        self.line.result = Some((value, name, ty));
    }

    #[inline]
    pub(crate) fn value(&mut self, name: Span) {
        let what = OperandText::Value(self.value_ref(name));
        self.function.operands.push(OperandAt { what, at: name.0 });
    }

    #[inline]
    pub(crate) fn constant(&mut self, constant: Const, at: u32) {
        self.function.operands.push(OperandAt { what: OperandText::Const(constant), at });
    }

    #[inline]
    pub(crate) fn value_item(&mut self, name: Span) {
        self.check_plain(name.0);
        self.value(name);
    }

    #[inline]
    pub(crate) fn const_item(&mut self, constant: Const, at: u32) {
        self.check_plain(at);
        self.constant(constant, at);
    }

    #[inline]
    pub(crate) fn check_plain(&mut self, at: u32) {
        if self.line.targets {
            let message = "an operand cannot stand behind a block".to_owned();
            self.error_with(self.token_at(at), message, "", |d, _| {
                d.help("arguments of an edge are written in parentheses: `^2(%1)`")
            });
        }
    }

    pub(crate) fn value_callee(&mut self, name: Span) {
        self.value_item(name);
        self.callee(name.1);
    }

    pub(crate) fn const_callee(&mut self, constant: Const, at: u32) {
        self.const_item(constant, at);
        self.callee(at);
    }

    pub(crate) fn callee(&mut self, at: u32) {
        let position = self.line_operands() as u32;
        match self.line.callee {
            None => self.line.callee = Some((position, at)),
            Some(_) => {
                let message = "an instruction has one callee".to_owned();
                self.error(self.token_at(at), message, "second operand list in parentheses");
            }
        }
    }

    /// Returns the number of operands that the present line has so far.
    pub(crate) fn line_operands(&self) -> usize {
        let first = self.function.insts.last().map_or(0, |inst| inst.operands_end as usize);
        self.function.operands.len() - first
    }

    pub(crate) fn case(&mut self, constant: Const, at: u32) {
        self.line.cases.push((self.line_operands() as u32, at));
        self.constant(constant, at);
    }

    #[inline]
    pub(crate) fn target(&mut self, name: Span) {
        let number = self.number(name).unwrap_or(0);
        self.line.targets = true;
        self.function.operands.push(OperandAt { what: OperandText::Block(number), at: name.0 });
    }

    pub(crate) fn attr(&mut self, name: Span, value: Const) {
        let Some(symbol) = self.name_or_report(name) else { return };
        if self.line.attrs.len() >= MAX_ATTRS {
            if self.line.attrs.len() == MAX_ATTRS {
                self.error(
                    name,
                    format!("there are more than {MAX_ATTRS} attributes"),
                    "one too many",
                );
                self.line.attrs.push((symbol, value));
            }
            return;
        }
        if self.line.attrs.iter().any(|&(other, _)| other == symbol) {
            let message = format!("attribute `{}` is given twice", self.slice(name));
            self.error(name, message, "second value");
        }
        self.line.attrs.push((symbol, value));
    }

    #[inline]
    pub(crate) fn inst_line(&mut self, at: u32, op: Span, loc: Option<Loc>) {
        if self.in_function(at, "instruction") {
            let known = self.ctx.registry().find(self.slice(op));
            if let Some(def) = known {
                self.check_syntax(def, op);
            }
            let meant = known.or_else(|| self.unknown_op(op));
            let terminator = meant.is_some_and(OpDef::is_terminator);
            let def = known.filter(|_| !self.line.broken);
            self.push_inst(at, def, terminator, meant.is_none(), loc);
        } else {
            self.function.operands.clear();
        }
        self.end_of_line();
    }

    pub(crate) fn push_inst(
        &mut self,
        at: u32,
        mut def: Option<&'static OpDef>,
        terminator: bool,
        unknown: bool,
        loc: Option<Loc>,
    ) {
        if self.function.blocks.is_empty() {
            let message = "instruction before the first block".to_owned();
            self.error_with(
                self.line_span(at),
                message,
                "expected a block such as `^1:`",
                |d, _| d.help("every function begins with a block, `^1:` say"),
            );
            self.begin_block(at, Some(0));
        }
        let (result, ty) = match self.line.result {
            Some((_, name, _)) if terminator => {
                if let Some(def) = def {
                    let message = format!("`{}` ends a block and defines no value", def.mnemonic());
                    self.error(name, message, "");
                }
                def = None;
                (ValueRef::None, None)
            }
            Some((value, _, ty)) => (value, ty),
            None => (ValueRef::None, None),
        };
        let attrs =
            if self.line.attrs.is_empty() { Attrs::NONE } else { self.ctx.attrs(&self.line.attrs) };
        let block = self.function.blocks.last_mut().expect("there is one");
        let after = block.term.filter(|_| !block.broken);
        if terminator && block.term.is_none() {
            block.term = Some(at);
        } else if unknown {
            block.broken = true;
        }
        block.insts_end += 1;
        if let Some(term) = after {
            block.broken = true;
            def = None;
            let term = self.line_span(term);
            let message = "instruction after the end of its block".to_owned();
            self.error_with(self.line_span(at), message, "this comes too late", |d, source| {
                d.at(source, range(term), "the block ends here")
            });
        }
        let loc = match loc {
            Some(loc) => loc,
            None => self.report.source.loc(at as usize),
        };
        let operands_end = self.function.operands.len() as u32;
        self.function.insts.push(InstText { def, result, at, ty, attrs, loc, operands_end });
    }

    /// Reports an unknown op, and returns the one that was probably meant.
    #[cold]
    pub(crate) fn unknown_op(&mut self, op: Span) -> Option<&'static OpDef> {
        let meant = self.report_unknown(op)?;
        self.ctx.registry().find(meant)
    }

    /// Reports a word that is no op, and returns what was probably meant.
    #[cold]
    pub(crate) fn report_unknown(&mut self, op: Span) -> Option<&'static str> {
        if self.report.only_counts() {
            self.line.broken = true;
            return None;
        }
        let name = self.slice(op);
        let meant = meant_op(self.ctx.registry(), name);
        self.error_with(op, format!("unknown op `{name}`"), "", |d, _| did_you_mean(d, meant));
        meant
    }

    /// Checks that the operands are written as the op wants it, and brings them into order.
    #[inline]
    pub(crate) fn check_syntax(&mut self, def: &'static OpDef, op: Span) {
        let name = def.mnemonic();
        match def.syntax {
            Syntax::Call(_) => {
                if self.line.callee.is_none_or(|(position, _)| position != 1) && !self.line.broken {
                    let message =
                        format!("`{name}` needs a callee and its operands in parentheses");
                    self.error_with(op, message, "", |d, _| {
                        d.help(format!("write `{name} @f(%1, 2.0)`"))
                    });
                }
            }
            _ => {
                if let Some((_, at)) = self.line.callee {
                    let message = format!("`{name}` takes no operands in parentheses");
                    self.error_with(self.token_at(at), message, "", |d, _| {
                        d.help(format!("write `{name} %1, %2`"))
                    });
                }
            }
        }
        match def.syntax {
            Syntax::Switch(_) => self.order_switch(),
            _ => {
                if let Some(&(_, at)) = self.line.cases.first() {
                    let message = format!("`{name}` has no cases");
                    self.error(self.token_at(at), message, "this is a case");
                }
            }
        }
    }

    /// `x, ^default, a: ^2, b: ^3` becomes `x, a, b, ^default, ^2, ^3`.
    pub(crate) fn order_switch(&mut self) {
        let Some(&(first, at)) = self.line.cases.first() else { return };
        let start = self.function.operands.len() - self.line_operands();
        let operands = &mut self.function.operands[start..];
        let plain =
            operands.iter().take_while(|o| !matches!(o.what, OperandText::Block(_))).count();
        if plain >= first as usize {
            let message = "the default target stands before the cases".to_owned();
            let span = self.token_at(at);
            self.error_with(span, message, "expected a block such as `^1`", |d, _| {
                d.help("write `switch %1, ^2, 10: ^3`")
            });
            return;
        }
        let mut ordered = operands[..plain].to_vec();
        ordered.extend(self.line.cases.iter().map(|&(position, _)| operands[position as usize]));
        let mut cases = self.line.cases.iter().map(|&(position, _)| position as usize).peekable();
        for (i, &operand) in operands.iter().enumerate().skip(plain) {
            if cases.next_if_eq(&i).is_none() {
                ordered.push(operand);
            }
        }
        operands.copy_from_slice(&ordered);
    }

    pub(crate) fn location_entry(&mut self, file: Span, line: Span, column: Span) {
        let file = self.name_or_report(file);
        let (line, column) = (self.small_number(line), self.small_number(column));
        if let (Some(file), Some(line), Some(column)) = (file, line, column) {
            let loc = self.ctx.named_loc(self.ctx.str(file), line, column);
            self.line.locs.push((loc, None));
        }
    }

    /// The function that the place before is in.
    pub(crate) fn location_callee(&mut self, name: Span) {
        let callee = self.global_or_report(name);
        if let Some((_, function)) = self.line.locs.last_mut() {
            *function = callee;
        }
    }

    pub(crate) fn location(&mut self) -> Loc {
        // The innermost place stands first, the outermost call last.
        let mut loc = Loc::UNKNOWN;
        while let Some((at, callee)) = self.line.locs.pop() {
            loc = callee.map_or(at, |callee| self.ctx.inlined_loc(at, callee, loc));
        }
        loc
    }

    pub(crate) fn small_number(&mut self, span: Span) -> Option<u32> {
        let number = self.slice(span).parse().ok();
        if number.is_none() {
            self.error(span, format!("`{}` is no line or column", self.slice(span)), "");
        }
        number
    }
}

/// The op or keyword that `wrong` is probably a misspelling of.
fn meant_op(registry: &Registry, wrong: &str) -> Option<&'static str> {
    if let Some((dialect, rest)) = wrong.split_once('.') {
        // The right op of the wrong dialect, or a wrong op of the right one: the other half
        // would make names look alike that are not.
        let rest_of = |def: &'static OpDef| def.name.split_once('.').map_or("", |(_, rest)| rest);
        if let Some(def) = registry.ops().find(|def| rest_of(def) == rest) {
            return Some(def.mnemonic());
        }
        let ops: Vec<_> = registry.ops().filter(|def| def.dialect_name() == dialect).collect();
        if !ops.is_empty() {
            let meant = suggest(rest, ops.iter().map(|def| rest_of(def)))?;
            return ops.into_iter().find(|def| rest_of(def) == meant).map(OpDef::mnemonic);
        }
    }
    let ops: Vec<_> = registry.ops().flat_map(|def| [def.mnemonic(), def.name]).collect();
    suggest(wrong, KEYWORDS.into_iter().chain(ops))
}
