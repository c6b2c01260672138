//! The lines of IR text fill flat tables, one set per function. [`assemble`](crate::assemble)
//! makes a function of them when its last line is read.
//!
//! Here is the state of the reader, and what items and blocks do to it. What instructions, types
//! and constants do is in modules of their own.

use std::sync::Arc;

use regraft_ir::{
    Const, Context, Diagnostic, Function, Loc, Module, Source, StructId, Symbol, Type,
};
use rustc_hash::FxHashMap;

use crate::function_text::{BlockText, FunctionText, ParamText, Span, ValueRef};
use crate::report::{Report, range};
use crate::token::{Lexer, Token};
use crate::type_text::{TypeArg, TypeSize};

/// The place of the reader in the text of a module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// Between functions.
    Module,
    /// Between functions, and the user has been told of lines that do not belong there.
    Lost,
    Function,
}

/// The present line as far as it is read.
#[derive(Default, Debug)]
pub(crate) struct Line {
    /// Something is wrong with it, and has been reported.
    pub(crate) broken: bool,
    pub(crate) result: Option<(ValueRef, Span, Option<Type>)>,
    /// The place where a target was first seen among the operands.
    pub(crate) targets: bool,
    /// The position of the parenthesised operand list after a callee, as in `call`.
    pub(crate) callee: Option<(u32, u32)>,
    /// The positions of the cases, as in `switch`.
    pub(crate) cases: Vec<(u32, u32)>,
    pub(crate) params: Vec<ParamText>,
    pub(crate) attrs: Vec<(Symbol, Const)>,
    /// Places, each with the function that it is in, if a call was inlined there.
    pub(crate) locs: Vec<(Loc, Option<Symbol>)>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct StructDecl {
    pub(crate) id: StructId,
    pub(crate) ty: Type,
    /// The place of its declaration, if it is in this text.
    pub(crate) at: Option<u32>,
}

pub(crate) const INT_CACHE: usize = 512;

/// Reads the lines of one text into a module.
pub(crate) struct Builder<'s> {
    pub(crate) text: &'s str,
    pub(crate) ctx: Arc<Context>,
    pub(crate) report: Report,
    pub(crate) structs: FxHashMap<Symbol, StructDecl>,
    /// The structs of this text in order.
    pub(crate) struct_order: Vec<Symbol>,
    pub(crate) type_args: Vec<TypeArg>,
    /// Of types that are not builtin, as far as anybody asked.
    pub(crate) type_sizes: FxHashMap<Type, TypeSize>,
    pub(crate) function: FunctionText<'s>,
    pub(crate) functions: Vec<Function>,
    pub(crate) function_names: FxHashMap<Symbol, Span>,
    pub(crate) base: &'s Module,
    pub(crate) place: Place,
    pub(crate) line: Line,
    pub(crate) ints: Box<[Option<(i64, Const)>; INT_CACHE]>,
    pub(crate) consts: FxHashMap<&'s str, Const>,
}

impl std::fmt::Debug for Builder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder").field("place", &self.place).finish_non_exhaustive()
    }
}

impl<'s> Builder<'s> {
    pub(crate) fn new(base: &'s Module, source: Source, text: &'s str) -> Self {
        let ctx = Arc::clone(base.ctx());
        let structs = base
            .structs()
            .iter()
            .map(|&(id, ty)| (ctx.struct_def(id).name, StructDecl { id, ty, at: None }))
            .collect();
        Self {
            text,
            ctx,
            report: Report::new(source),
            structs,
            struct_order: Vec::new(),
            type_args: Vec::new(),
            type_sizes: FxHashMap::default(),
            function: FunctionText::default(),
            functions: Vec::new(),
            function_names: FxHashMap::default(),
            base,
            place: Place::Module,
            line: Line::default(),
            ints: Box::new([None; INT_CACHE]),
            consts: FxHashMap::default(),
        }
    }

    #[inline]
    pub(crate) fn slice(&self, (start, end): Span) -> &'s str {
        &self.text[start as usize..end as usize]
    }

    /// Reports an error of the present line.
    #[cold]
    pub(crate) fn error(&mut self, span: Span, message: String, label: &str) {
        self.error_with(span, message, label, |d, _| d);
    }

    #[cold]
    pub(crate) fn error_with(
        &mut self,
        span: Span,
        message: String,
        label: &str,
        more: impl FnOnce(Diagnostic, &Source) -> Diagnostic,
    ) {
        self.line.broken = true;
        self.report
            .push(|source| more(Diagnostic::error(message).at(source, range(span), label), source));
    }

    /// Forgets what is left of the present line.
    #[inline]
    pub(crate) fn end_of_line(&mut self) {
        let line = &mut self.line;
        line.broken = false;
        line.result = None;
        line.targets = false;
        line.callee = None;
        line.cases.clear();
        line.params.clear();
        line.attrs.clear();
        self.type_args.clear();
    }

    /// Forgets a line that could not be read to its end.
    pub(crate) fn drop_line(&mut self) {
        let committed = self.function.insts.last().map_or(0, |inst| inst.operands_end);
        self.function.operands.truncate(committed as usize);
        self.line.locs.clear();
        self.end_of_line();
    }

    // --- structs ---------------------------------------------------------------------------

    /// Makes the name of a struct known before anything refers to it.
    pub(crate) fn declare_struct(&mut self, name: Span) {
        let Ok(symbol) = self.global(name) else { return };
        if self.structs.contains_key(&symbol) {
            return;
        }
        let (id, ty) = self.ctx.add_struct(regraft_ir::StructDef {
            name: symbol,
            mutable: false,
            fields: Box::new([]),
            call: None,
        });
        self.structs.insert(symbol, StructDecl { id, ty, at: Some(name.0) });
        self.struct_order.push(symbol);
    }

    pub(crate) fn struct_line(
        &mut self,
        at: u32,
        mutable: bool,
        name: Span,
        fields: u32,
        call: Option<Span>,
    ) {
        self.leave_function(at);
        let call = call.and_then(|span| self.global_or_report(span));
        if let Some(symbol) = self.global_or_report(name) {
            let fields = self.take_fields(fields, name);
            match self.structs.get(&symbol).copied() {
                Some(decl) if decl.at == Some(name.0) => {
                    let def = regraft_ir::StructDef { name: symbol, mutable, fields, call };
                    self.ctx.set_struct(decl.id, def);
                }
                Some(StructDecl { at: Some(first), .. }) => {
                    let first = self.token_at(first);
                    self.duplicate("struct", name, first);
                }
                _ => {
                    let message = format!("there is a struct {} already", self.slice(name));
                    self.error(name, message, "");
                }
            }
        }
        self.end_of_line();
    }

    // --- functions and blocks --------------------------------------------------------------

    pub(crate) fn func_line(&mut self, at: u32, name: Span, ret: Option<Type>) {
        let symbol = self.global_or_report(name);
        self.begin_function(at, symbol.map(|symbol| (symbol, name)), ret.unwrap_or(Type::ANY));
        self.end_of_line();
    }

    pub(crate) fn begin_function(&mut self, at: u32, name: Option<(Symbol, Span)>, ret: Type) {
        if self.place == Place::Function {
            // The names of the parameters were put into the tables of the open function.
            self.unclosed(at);
            for i in 0..self.line.params.len() {
                let ParamText { value, at, .. } = self.line.params[i];
                if let ValueRef::Name(_) = value {
                    let name = self.token_at(at);
                    self.line.params[i].value = self.named_ref(name);
                }
            }
        }
        self.place = Place::Function;
        if let Some((symbol, span)) = name {
            if let Some(&first) = self.function_names.get(&symbol) {
                self.duplicate("function", span, first);
            } else if self.base.find(symbol).is_some() {
                let message = format!("there is a function {} already", self.slice(span));
                self.error(span, message, "");
            } else {
                self.function_names.insert(symbol, span);
            }
        }
        let attrs = self.ctx.attrs(&self.line.attrs);
        let f = &mut self.function;
        (f.name, f.at, f.ret, f.attrs) = (name, at, ret, attrs);
        f.params.append(&mut self.line.params);
        f.param_count = f.params.len() as u32;
    }

    /// Goes on outside of functions, at an item that cannot be in one.
    pub(crate) fn leave_function(&mut self, at: u32) {
        if self.place == Place::Function {
            self.unclosed(at);
        }
        self.place = Place::Module;
    }

    /// Ends a function whose closing brace is missing.
    pub(crate) fn unclosed(&mut self, next: u32) {
        let (head, next) = (self.line_span(self.function.at), self.line_span(next));
        self.report.push(|source| {
            Diagnostic::error("expected `}` before the next item")
                .at(source, range(next), "expected `}` before this line")
                .at(source, range(head), "this function is not closed")
        });
        self.finish_function();
    }

    pub(crate) fn duplicate(&mut self, what: &str, second: Span, first: Span) {
        let message = format!("{what} {} is defined twice", self.slice(second));
        self.error_with(second, message, "second definition", |d, source| {
            d.at(source, range(first), "first definition")
        });
    }

    pub(crate) fn end_line(&mut self, at: u32) {
        match self.place {
            Place::Function => self.finish_function(),
            Place::Lost => {}
            Place::Module => {
                self.error(
                    (at, at + 1),
                    "`}` closes no function".to_owned(),
                    "no function is open here",
                );
            }
        }
        self.place = Place::Module;
        self.end_of_line();
    }

    /// Ends the text.
    pub(crate) fn end_of_text(&mut self) {
        if self.place == Place::Function {
            let head = self.line_span(self.function.at);
            let end = self.text.len();
            self.report.push(|source| {
                Diagnostic::error("expected `}` before the end of the file")
                    .at(source, end..end, "expected `}` here")
                    .at(source, range(head), "this function is not closed")
            });
            self.finish_function();
            self.place = Place::Module;
        }
    }

    pub(crate) fn finish_function(&mut self) {
        self.assemble();
        self.function.clear();
    }

    /// Returns whether the line stands in a function. If it stands in none, says so once.
    #[inline]
    pub(crate) fn in_function(&mut self, at: u32, what: &str) -> bool {
        if self.place == Place::Module {
            self.error(
                self.line_span(at),
                format!("{what} outside of a function"),
                "no function is open here",
            );
            self.place = Place::Lost;
        }
        self.place == Place::Function
    }

    pub(crate) fn block_line(&mut self, name: Span) {
        if self.in_function(name.0, "block") {
            let number = self.number(name);
            self.begin_block(name.0, number);
        }
        self.end_of_line();
    }

    pub(crate) fn begin_block(&mut self, at: u32, number: Option<u32>) {
        let first = self.function.blocks.is_empty();
        if let (true, Some(param)) = (first, self.line.params.first()) {
            let span = self.token_at(param.at);
            let message = "the first block cannot have parameters of its own".to_owned();
            self.error_with(span, message, "", |d, _| {
                d.help("its parameters are those of the function and stand in the line `func`")
            });
        }
        let f = &mut self.function;
        f.params.append(&mut self.line.params);
        f.blocks.push(BlockText {
            number: number.unwrap_or(u32::MAX),
            at,
            params_end: f.params.len() as u32,
            insts_end: f.insts.len() as u32,
            term: None,
            broken: false,
        });
    }

    pub(crate) fn param(&mut self, name: Span, ty: Type) {
        let value = self.value_ref(name);
        let ty = Some(ty).filter(|_| !self.line.broken);
        self.line.params.push(ParamText { value, at: name.0, ty });
    }

    // --- spans -----------------------------------------------------------------------------

    /// The token that begins at `at`.
    pub(crate) fn token_at(&self, at: u32) -> Span {
        match Lexer::new(self.text, at).next() {
            Some((start, _, end)) => (start, end),
            None => (at, at),
        }
    }

    /// From `at` to the last token of its line.
    pub(crate) fn line_span(&self, at: u32) -> Span {
        let rest = &self.text[at as usize..];
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        let mut end = at;
        let mut tokens = Lexer::new(line, 0);
        // A comment is not part of it; only the last line of a very long one is not worth a look.
        for (_, token, token_end) in &mut tokens {
            if token != Token::Newline {
                end = at + token_end;
            }
        }
        (at, end)
    }
}

pub(crate) fn did_you_mean(diagnostic: Diagnostic, meant: Option<&str>) -> Diagnostic {
    match meant {
        Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
        None => diagnostic,
    }
}
