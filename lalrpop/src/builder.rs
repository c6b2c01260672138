//! What the lines of IR text do: they fill flat tables, one set per function, which
//! [`assemble`](crate::assemble) makes a function of when its last line is read.

use std::borrow::Cow;
use std::sync::Arc;

use regraft_ir::{
    Attrs, Const, Constant, Context, Diagnostic, Function, Loc, Module, OpDef, Registry, Source,
    StructId, Symbol, Syntax, Type, suggest,
};
use rustc_hash::FxHashMap;

use crate::literal;
use crate::report::{Report, range};
use crate::types::TypeArg;

/// The bytes from .. to.
pub(crate) type Span = (u32, u32);

/// What a value is called in the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ValueRef {
    /// Not at all.
    None,
    Number(u32),
    /// A position in [`FunctionText::names`].
    Name(u32),
}

/// An operand as it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OperandText {
    Value(ValueRef),
    Block(u32),
    Const(Const),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct OperandAt {
    pub(crate) what: OperandText,
    pub(crate) at: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ParamText {
    pub(crate) value: ValueRef,
    pub(crate) at: u32,
    /// `None` if it could not be read.
    pub(crate) ty: Option<Type>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct InstText {
    /// `None` if the line is wrong.
    pub(crate) def: Option<&'static OpDef>,
    pub(crate) result: ValueRef,
    pub(crate) at: u32,
    pub(crate) ty: Option<Type>,
    pub(crate) attrs: Attrs,
    pub(crate) loc: Loc,
    pub(crate) operands_end: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockText {
    /// 0 for instructions that no label precedes.
    pub(crate) number: u32,
    pub(crate) at: u32,
    pub(crate) params_end: u32,
    pub(crate) insts_end: u32,
    /// Where its terminator is.
    pub(crate) term: Option<u32>,
    /// Whether a line that could not be read may have been its terminator.
    pub(crate) broken: bool,
}

/// One function as it is written.
#[derive(Debug)]
pub(crate) struct FunctionText<'s> {
    pub(crate) name: Option<(Symbol, Span)>,
    pub(crate) at: u32,
    pub(crate) ret: Type,
    pub(crate) attrs: Attrs,
    /// How many of `params` are those of the function.
    pub(crate) param_count: u32,
    pub(crate) params: Vec<ParamText>,
    pub(crate) blocks: Vec<BlockText>,
    pub(crate) insts: Vec<InstText>,
    pub(crate) operands: Vec<OperandAt>,
    pub(crate) names: Vec<Cow<'s, str>>,
    pub(crate) name_ids: FxHashMap<Cow<'s, str>, u32>,
}

impl Default for FunctionText<'_> {
    fn default() -> Self {
        Self {
            name: None,
            at: 0,
            ret: Type::ANY,
            attrs: Attrs::NONE,
            param_count: 0,
            params: Vec::new(),
            blocks: Vec::new(),
            insts: Vec::new(),
            operands: Vec::new(),
            names: Vec::new(),
            name_ids: FxHashMap::default(),
        }
    }
}

impl FunctionText<'_> {
    /// Empties the tables and keeps their memory.
    pub(crate) fn clear(&mut self) {
        self.params.clear();
        self.blocks.clear();
        self.insts.clear();
        self.operands.clear();
        self.names.clear();
        self.name_ids.clear();
    }
}

/// A type constructor that is being read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TypeOpen {
    pub(crate) name: Span,
    /// Where its arguments begin among the pending ones.
    pub(crate) start: u32,
}

/// Where in the text of a module the reader is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// Between functions.
    Module,
    /// Between functions, and the user has been told of lines that do not belong there.
    Lost,
    Function,
}

/// What is read of the present line.
#[derive(Default, Debug)]
struct Line {
    /// Something is wrong with it, and has been reported.
    broken: bool,
    result: Option<(ValueRef, Span, Option<Type>)>,
    /// Where a target was first seen among the operands.
    targets: bool,
    /// The position of the parenthesised operand list after a callee, as in `call`.
    callee: Option<(u32, u32)>,
    /// The positions of the cases, as in `switch`.
    cases: Vec<(u32, u32)>,
    params: Vec<ParamText>,
    attrs: Vec<(Symbol, Const)>,
    locs: Vec<Loc>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct StructDecl {
    pub(crate) id: StructId,
    pub(crate) ty: Type,
    /// Where it is declared, if it is in this text.
    pub(crate) at: Option<u32>,
}

/// The words that begin a line and are no ops.
const KEYWORDS: [&str; 3] = ["func", "struct", "mutable"];

const INT_CACHE: usize = 512;

/// Reads the lines of one text into a module.
pub(crate) struct Builder<'s> {
    pub(crate) text: &'s str,
    pub(crate) ctx: Arc<Context>,
    pub(crate) report: Report,
    pub(crate) structs: FxHashMap<Symbol, StructDecl>,
    /// The structs of this text in order.
    pub(crate) struct_order: Vec<Symbol>,
    pub(crate) type_args: Vec<TypeArg>,
    pub(crate) function: FunctionText<'s>,
    pub(crate) functions: Vec<Function>,
    pub(crate) function_names: FxHashMap<Symbol, Span>,
    base: &'s Module,
    place: Place,
    line: Line,
    ints: Box<[Option<(i64, Const)>; INT_CACHE]>,
    consts: FxHashMap<&'s str, Const>,
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
    fn end_of_line(&mut self) {
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
        if self.place == Place::Function && !self.report.muted {
            self.unclosed(at);
        }
        self.place = Place::Module;
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

    fn begin_function(&mut self, at: u32, name: Option<(Symbol, Span)>, ret: Type) {
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

    /// Ends a function whose closing brace is missing.
    fn unclosed(&mut self, next: u32) {
        let (head, next) = (self.line_span(self.function.at), self.line_span(next));
        self.report.push(|source| {
            Diagnostic::error("expected `}` before the next function")
                .at(source, range(next), "expected `}` before this line")
                .at(source, range(head), "this function is not closed")
        });
        self.finish_function();
    }

    fn duplicate(&mut self, what: &str, second: Span, first: Span) {
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

    fn finish_function(&mut self) {
        self.assemble();
        self.function.clear();
    }

    /// Whether the line stands in a function; if not, says so once.
    #[inline]
    fn in_function(&mut self, at: u32, what: &str) -> bool {
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

    fn begin_block(&mut self, at: u32, number: Option<u32>) {
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

    // --- instructions ----------------------------------------------------------------------

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
    fn check_plain(&mut self, at: u32) {
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

    fn callee(&mut self, at: u32) {
        let position = self.line_operands() as u32;
        match self.line.callee {
            None => self.line.callee = Some((position, at)),
            Some(_) => {
                let message = "an instruction has one callee".to_owned();
                self.error(self.token_at(at), message, "second operand list in parentheses");
            }
        }
    }

    /// How many operands the present line has so far.
    fn line_operands(&self) -> usize {
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

    fn push_inst(
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
    fn unknown_op(&mut self, op: Span) -> Option<&'static OpDef> {
        let meant = self.report_unknown(op)?;
        self.ctx.registry().find(meant)
    }

    /// Reports a word that is no op, and returns what was probably meant.
    #[cold]
    pub(crate) fn report_unknown(&mut self, op: Span) -> Option<&'static str> {
        let name = self.slice(op);
        let meant = meant_op(self.ctx.registry(), name);
        self.error_with(op, format!("unknown op `{name}`"), "", |d, _| did_you_mean(d, meant));
        meant
    }

    /// Checks that the operands are written as the op wants it, and brings them into order.
    #[inline]
    fn check_syntax(&mut self, def: &'static OpDef, op: Span) {
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
    fn order_switch(&mut self) {
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

    // --- locations -------------------------------------------------------------------------

    pub(crate) fn location_entry(&mut self, file: Span, line: Span, column: Span) {
        let file = self.name_or_report(file);
        let (line, column) = (self.small_number(line), self.small_number(column));
        if let (Some(file), Some(line), Some(column)) = (file, line, column) {
            let loc = self.ctx.named_loc(self.ctx.str(file), line, column);
            self.line.locs.push(loc);
        }
    }

    pub(crate) fn location(&mut self) -> Loc {
        // The innermost place stands first, the outermost call last.
        let mut loc = Loc::UNKNOWN;
        while let Some(at) = self.line.locs.pop() {
            loc = self.ctx.inlined_loc(at, loc);
        }
        loc
    }

    fn small_number(&mut self, span: Span) -> Option<u32> {
        let number = self.slice(span).parse().ok();
        if number.is_none() {
            self.error(span, format!("`{}` is no line or column", self.slice(span)), "");
        }
        number
    }

    // --- names and constants ---------------------------------------------------------------

    /// The number behind a sigil.
    #[inline]
    fn number(&mut self, name: Span) -> Option<u32> {
        let digits = &self.text.as_bytes()[name.0 as usize + 1..name.1 as usize];
        let mut number = 0u64;
        for &digit in digits {
            number = number * 10 + u64::from(digit - b'0');
            if number >= u64::from(u32::MAX) {
                break;
            }
        }
        if number == 0 || number >= u64::from(u32::MAX) {
            let why = if number == 0 { "numbers begin with 1" } else { "the number is too large" };
            self.error(name, format!("`{}` cannot be, {why}", self.slice(name)), "");
            return None;
        }
        Some(number as u32)
    }

    #[inline]
    fn value_ref(&mut self, name: Span) -> ValueRef {
        if self.text.as_bytes()[name.0 as usize + 1].is_ascii_digit() {
            return self.number(name).map_or(ValueRef::None, ValueRef::Number);
        }
        self.named_ref(name)
    }

    fn named_ref(&mut self, span: Span) -> ValueRef {
        let Some(name) = self.parsed_name((span.0 + 1, span.1)) else { return ValueRef::None };
        if let Some(&id) = self.function.name_ids.get(&name) {
            return ValueRef::Name(id);
        }
        // A line outside of functions, or the head of the next one while this one is open, may
        // leave names behind that nobody uses.
        let id = self.function.names.len() as u32;
        self.function.names.push(name.clone());
        self.function.name_ids.insert(name, id);
        ValueRef::Name(id)
    }

    /// A name that is plain or in quotes; a wrong escape is reported.
    fn parsed_name(&mut self, span: Span) -> Option<Cow<'s, str>> {
        match literal::name(self.slice(span)) {
            Ok(name) => Some(name),
            Err((offset, len)) => {
                let at = span.0 + offset as u32;
                let wrong = (at, at + len as u32);
                let message = format!("unknown escape `{}`", self.slice(wrong));
                self.error_with(wrong, message, "", |d, _| {
                    d.help("the escapes are `\\\\`, `\\\"`, `\\n`, `\\t`, `\\r` and `\\u{hex}`")
                });
                None
            }
        }
    }

    pub(crate) fn name_or_report(&mut self, span: Span) -> Option<Symbol> {
        let name = self.parsed_name(span)?;
        Some(self.ctx.symbol(&name))
    }

    /// The symbol of `@name`.
    pub(crate) fn global(&self, span: Span) -> Result<Symbol, (usize, usize)> {
        let name = literal::name(self.slice((span.0 + 1, span.1)))?;
        Ok(self.ctx.symbol(&name))
    }

    pub(crate) fn global_or_report(&mut self, span: Span) -> Option<Symbol> {
        self.name_or_report((span.0 + 1, span.1))
    }

    pub(crate) fn nothing(&self) -> Const {
        self.ctx.constant_id(Constant::Unit)
    }

    #[inline]
    pub(crate) fn number_const(&mut self, span: Span) -> Const {
        let text = self.slice(span);
        if let Some(value) = small_int(text.as_bytes()) {
            let cached = &mut self.ints[(value as usize) % INT_CACHE];
            if let Some((known, id)) = *cached
                && known == value
            {
                return id;
            }
            let id = self.ctx.constant_id(value);
            *cached = Some((value, id));
            return id;
        }
        self.cached_const(span, literal::number)
    }

    pub(crate) fn word_const(&mut self, span: Span) -> Const {
        self.cached_const(span, literal::word)
    }

    #[inline]
    fn cached_const(
        &mut self,
        span: Span,
        parse: impl FnOnce(&str) -> Result<Constant, String>,
    ) -> Const {
        let text = self.slice(span);
        if let Some(&id) = self.consts.get(text) {
            return id;
        }
        match parse(text) {
            Ok(constant) => {
                let id = self.ctx.constant_id(constant);
                self.consts.insert(text, id);
                id
            }
            Err(message) => {
                self.error(span, message, "");
                self.nothing()
            }
        }
    }

    pub(crate) fn func_const(&mut self, span: Span) -> Const {
        if let Some(&id) = self.consts.get(self.slice(span)) {
            return id;
        }
        let Some(name) = self.global_or_report(span) else { return self.nothing() };
        let id = self.ctx.constant_id(Constant::Func(name));
        self.consts.insert(self.slice(span), id);
        id
    }

    pub(crate) fn symbol_const(&mut self, span: Span) -> Const {
        match self.name_or_report((span.0 + 1, span.1)) {
            Some(name) => self.ctx.constant_id(Constant::Sym(name)),
            None => self.nothing(),
        }
    }

    pub(crate) fn text_const(&mut self, span: Span) -> Const {
        match self.name_or_report(span) {
            Some(text) => self.ctx.constant_id(Constant::Str(text)),
            None => self.nothing(),
        }
    }

    pub(crate) fn type_const(&mut self, ty: Type) -> Const {
        self.ctx.constant_id(Constant::Type(ty))
    }

    // --- lines that could not be read ------------------------------------------------------

    /// Takes from a line that could not be read what later lines may refer to. `tokens` are
    /// those of the line, with their spans.
    pub(crate) fn broken_line(
        &mut self,
        tokens: &mut dyn Iterator<Item = (u32, crate::token::Token, u32)>,
    ) {
        use crate::token::Token;
        self.drop_line();
        let Some((start, first, end)) = tokens.next() else { return };
        // What follows can only add errors that have been reported already.
        let muted = std::mem::replace(&mut self.report.muted, true);
        match first {
            Token::Func => {
                self.broken_head(start, tokens);
            }
            Token::Block => {
                let number = self.number((start, end));
                self.broken_params(tokens);
                if self.place == Place::Function {
                    if self.function.blocks.is_empty() {
                        self.function.params.append(&mut self.line.params);
                        self.function.param_count = self.function.params.len() as u32;
                    }
                    self.begin_block(start, number);
                }
            }
            Token::CloseBrace => {
                self.report.muted = muted;
                self.end_line(start);
            }
            Token::Value | Token::Word | Token::Call if self.place == Place::Function => {
                let value = if first == Token::Value {
                    self.value_ref((start, end))
                } else {
                    ValueRef::None
                };
                let def = match first {
                    Token::Value => None,
                    _ => self.ctx.registry().find(self.slice((start, end))),
                };
                let terminator = def.is_some_and(OpDef::is_terminator);
                self.line.result = Some((value, (start, end), None)).filter(|_| !terminator);
                if self.function.blocks.is_empty() {
                    self.begin_block(start, Some(0));
                }
                self.push_inst(
                    start,
                    None,
                    terminator,
                    first == Token::Word && def.is_none(),
                    None,
                );
            }
            _ => {
                if let Some(block) = self.function.blocks.last_mut() {
                    block.broken = true;
                }
            }
        }
        self.report.muted = muted;
        self.end_of_line();
    }

    /// The head of a function that could not be read: all values in it count as parameters.
    pub(crate) fn broken_head(
        &mut self,
        start: u32,
        tokens: &mut dyn Iterator<Item = (u32, crate::token::Token, u32)>,
    ) {
        let muted = std::mem::replace(&mut self.report.muted, true);
        let name = self.broken_params(tokens);
        let symbol = name.and_then(|name| Some((self.global(name).ok()?, name)));
        self.report.muted = muted;
        self.begin_function(start, symbol, Type::ANY);
        self.end_of_line();
    }

    /// Takes all values of a line as parameters of unknown type; returns the first `@name`.
    fn broken_params(
        &mut self,
        tokens: &mut dyn Iterator<Item = (u32, crate::token::Token, u32)>,
    ) -> Option<Span> {
        use crate::token::Token;
        let mut name = None;
        for (start, token, end) in tokens {
            match token {
                Token::Value => {
                    let value = self.value_ref((start, end));
                    self.line.params.push(ParamText { value, at: start, ty: None });
                }
                Token::Global => name = name.or(Some((start, end))),
                _ => {}
            }
        }
        name
    }

    // --- spans -----------------------------------------------------------------------------

    /// The token that begins at `at`.
    pub(crate) fn token_at(&self, at: u32) -> Span {
        match crate::token::Lexer::new(self.text, at).next() {
            Some((start, _, end)) => (start, end),
            None => (at, at),
        }
    }

    /// From `at` to the last token of its line.
    pub(crate) fn line_span(&self, at: u32) -> Span {
        let rest = &self.text[at as usize..];
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        let mut end = at;
        let mut tokens = crate::token::Lexer::new(line, 0);
        // A comment is not part of it; only the last line of a very long one is not worth a look.
        for (_, token, token_end) in &mut tokens {
            if token != crate::token::Token::Newline {
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

/// A plain decimal of up to 18 digits, the most common constant by far.
#[inline]
fn small_int(text: &[u8]) -> Option<i64> {
    if text.len() > 18 {
        return None;
    }
    let mut value = 0i64;
    for &byte in text {
        if !byte.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(byte - b'0');
    }
    Some(value)
}
