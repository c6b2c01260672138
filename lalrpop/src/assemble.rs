//! From the tables of a function's text to a [`Function`].
//!
//! Parameters are defined first, then
//! instructions in text order, then terminators, so that a type that the text leaves out is
//! found from types that are known. Linear in the size of the text.

use regraft_ir::{
    Diagnostic, Function, Inst, OpDef, Operand, OperandKind, ResultType, Type, Value, suggest,
};

use crate::builder::{Builder, did_you_mean};
use crate::function_text::{FunctionText, InstText, OperandText, Span, ValueRef};
use crate::numbering::Numbering;
use crate::report::range;

/// The most names that are looked at for a "did you mean".
const MAX_CANDIDATES: usize = 2000;

impl Builder<'_> {
    /// Makes a function of the tables. Errors are reported; a value whose definition is wrong
    /// is "poisoned", and what uses it is not looked at.
    pub(crate) fn assemble(&mut self) {
        let mut text = std::mem::take(&mut self.function);
        if let Some(f) = self.assemble_text(&text)
            && self.report.is_empty()
        {
            self.functions.push(f);
        }
        text.clear();
        self.function = text;
    }

    fn assemble_text(&mut self, text: &FunctionText<'_>) -> Option<Function> {
        self.check_blocks(text);
        let numbering = self.number_all(text);
        let name = text.name.map_or("", |(name, _)| self.ctx.str(name)).to_owned();
        let (values, blocks) = (numbering.value_count as usize, numbering.block_count as usize);
        let operands = text.operands.len();
        let mut f = Function::with_capacity(&self.ctx, &name, text.ret, values, blocks, operands);
        f.set_function_attrs(text.attrs);
        f.set_function_loc(self.report.source.loc(text.at as usize));
        if let Err(error) = f.reserve_numbers(values, blocks) {
            self.ir_error(self.line_span(text.at), error.message());
            return None;
        }
        Assembly {
            b: self,
            text,
            numbering,
            f,
            poisoned: Vec::new(),
            any_poisoned: false,
            poisoned_blocks: Vec::new(),
        }
        .run()
    }

    /// Reports blocks that do not end.
    fn check_blocks(&mut self, text: &FunctionText<'_>) {
        if text.blocks.is_empty() {
            let span = self.line_span(text.at);
            let message = "a function needs a block".to_owned();
            self.error_with(span, message, "this function has none", |d, _| {
                d.help("every function begins with a block, `^1:` say")
            });
        }
        for block in &text.blocks {
            if block.term.is_none() && !block.broken {
                let span = self.token_at(block.at);
                let name = self.slice(span);
                let message = format!("block {name} does not end with a terminator");
                self.error_with(span, message, "this block", |d, _| {
                    d.help("its last instruction has to be one such as `br` or `return`")
                });
            }
        }
    }

    #[cold]
    fn ir_error(&mut self, span: Span, message: &str) {
        self.report.push(|source| Diagnostic::error(message).at(source, range(span), ""));
    }
}

struct Assembly<'a, 'b, 's> {
    b: &'a mut Builder<'b>,
    text: &'a FunctionText<'s>,
    numbering: Numbering,
    f: Function,
    /// By value number, if there are any at all.
    poisoned: Vec<bool>,
    any_poisoned: bool,
    /// Blocks some of whose parameters are wrong; edges to them are not looked at.
    poisoned_blocks: Vec<u32>,
}

impl Assembly<'_, '_, '_> {
    fn run(mut self) -> Option<Function> {
        self.place_blocks();
        self.define_params();
        self.poisoned_blocks.sort_unstable();
        let untyped = self.set_types();
        let late = self.define_insts(untyped);
        if !late.is_empty() {
            self.infer_late(&late);
        }
        self.set_terminators();
        self.set_names();
        self.f.release_reserved();
        Some(self.f)
    }

    fn value(&self, number: u32) -> Option<Value> {
        self.f.raw_value(number)
    }

    fn poison(&mut self, number: u32) {
        if !self.any_poisoned {
            self.any_poisoned = true;
            self.poisoned = vec![false; self.numbering.value_count as usize + 1];
        }
        self.poisoned[number as usize] = true;
    }

    fn place_blocks(&mut self) {
        for &number in &self.numbering.block_numbers {
            if let Some(block) = self.f.raw_block(number) {
                self.f.place_reserved_block(block).expect("each number is defined once");
            }
        }
    }

    fn define_params(&mut self) {
        let mut position = 0;
        let function_params = self.text.param_count as usize;
        for (i, block) in self.text.blocks.iter().enumerate() {
            let number = self.numbering.block_numbers[i];
            let end = (block.params_end as usize).max(if i == 0 { function_params } else { 0 });
            while position < end {
                let param = self.text.params[position];
                let number_of_value = self.numbering.params[position];
                position += 1;
                let Some(v) = self.value(number_of_value) else {
                    self.poisoned_blocks.push(number);
                    continue;
                };
                let (Some(ty), Some(b)) = (param.ty, self.f.raw_block(number)) else {
                    self.poison(number_of_value);
                    self.poisoned_blocks.push(number);
                    continue;
                };
                let loc = self.b.report.source.loc(param.at as usize);
                self.f.define_param(v, b, ty, loc).expect("reserved and not yet defined");
            }
        }
    }

    /// Tells the function the types that the text states, so that instructions can be checked
    /// against operands that are defined further down. Returns whether some are left out.
    fn set_types(&mut self) -> bool {
        let mut untyped = false;
        for (inst, &number) in self.text.insts.iter().zip(&self.numbering.insts) {
            match inst.ty {
                Some(ty) => {
                    if let Some(v) = self.f.raw_value(number) {
                        self.f.set_reserved_type(v, ty);
                    }
                }
                None => untyped |= number != 0,
            }
        }
        untyped
    }

    /// Defines all instructions but terminators. Returns those whose type is not known yet,
    /// because an operand is defined further down in the text and has none.
    fn define_insts(&mut self, untyped: bool) -> Vec<u32> {
        let mut late = Vec::new();
        let mut known_type = Vec::new();
        if untyped {
            known_type = vec![false; self.numbering.value_count as usize + 1];
            for (inst, &number) in self.text.insts.iter().zip(&self.numbering.insts) {
                known_type[number as usize] = inst.ty.is_some();
            }
            for &number in &self.numbering.params {
                known_type[number as usize] = true;
            }
        }
        let (mut position, mut operand) = (0, 0);
        for (i, block) in self.text.blocks.iter().enumerate() {
            let block_number = self.numbering.block_numbers[i];
            let placed = self.f.raw_block(block_number);
            for position in position..block.insts_end as usize {
                let inst = &self.text.insts[position];
                let operands = operand..inst.operands_end as usize;
                operand = operands.end;
                let number = self.numbering.insts[position];
                if number == 0 && inst.def.is_some_and(OpDef::is_terminator) {
                    continue;
                }
                let built = self.inst(inst, operands);
                let (Some(mut built), Some(v), Some(placed)) = (built, self.value(number), placed)
                else {
                    self.poison(number);
                    continue;
                };
                if untyped && inst.ty.is_none() {
                    let waits = built
                        .operand_list()
                        .iter()
                        .any(|o| o.as_value().is_some_and(|v| !known_type[v.number() as usize]));
                    if waits {
                        late.push(position as u32);
                        built = built.with_type(Type::ANY);
                    }
                    known_type[number as usize] = !waits;
                }
                if let Err(error) = self.f.define_inst(v, placed, built) {
                    self.poison(number);
                    self.b.ir_error(self.b.line_span(inst.at), error.message());
                } else if inst.ty.is_none() {
                    self.check_size(inst, v);
                }
            }
            position = block.insts_end as usize;
        }
        late
    }

    /// Types that are written are limited by the text; those that are inferred can hold those of
    /// all instructions before, several times over.
    #[inline]
    fn check_size(&mut self, inst: &InstText, v: Value) {
        let ty = self.f.ty(v);
        if ty.index() >= Type::BUILTIN.len() && !self.b.is_small(ty) {
            self.poison(v.number());
            // It must not be printed, not even in another message.
            self.f.set_type(v, Type::ANY).expect("live");
            let message = "the type of this value is too large";
            self.b.ir_error(self.b.line_span(inst.at), message);
        }
    }

    fn set_terminators(&mut self) {
        let (mut position, mut operand) = (0, 0);
        for (i, block) in self.text.blocks.iter().enumerate() {
            let placed = self.f.raw_block(self.numbering.block_numbers[i]);
            for inst in &self.text.insts[position..block.insts_end as usize] {
                let operands = operand..inst.operands_end as usize;
                operand = operands.end;
                if !inst.def.is_some_and(OpDef::is_terminator) {
                    continue;
                }
                if let Some(built) = self.inst(inst, operands)
                    && let Some(placed) = placed
                    && let Err(error) = self.f.set_terminator(placed, built)
                {
                    self.b.ir_error(self.b.line_span(inst.at), error.message());
                }
            }
            position = block.insts_end as usize;
        }
    }

    /// The instruction of a line; `None` if it is wrong or depends on what is.
    #[inline]
    fn inst(&mut self, inst: &InstText, operands: std::ops::Range<usize>) -> Option<Inst> {
        let def = inst.def;
        let mut good = def.is_some();
        let op = def.map_or(regraft_ir::Op::new(0, 0), |def| def.op);
        let mut built = Inst::new(op).with_attrs(inst.attrs).at(inst.loc);
        if let Some(ty) = inst.ty {
            built = built.with_type(ty);
        }
        let list = built.operand_list_mut();
        for i in operands {
            let operand = self.text.operands[i];
            let number = match operand.what {
                OperandText::Const(c) => {
                    list.push(Operand::from(c));
                    continue;
                }
                OperandText::Block(given) => {
                    let number = self.numbering.blocks.get(given);
                    match self.f.raw_block(number) {
                        Some(block) => {
                            good &= self.poisoned_blocks.binary_search(&number).is_err();
                            list.push(block.into());
                        }
                        None => {
                            good = false;
                            self.undefined_block(given, operand.at);
                        }
                    }
                    continue;
                }
                OperandText::Value(ValueRef::Number(given)) => self.numbering.values.get(given),
                OperandText::Value(ValueRef::Name(id)) => self.numbering.names[id as usize],
                OperandText::Value(ValueRef::None) => {
                    good = false;
                    continue;
                }
            };
            match self.f.raw_value(number) {
                Some(v) => {
                    good &= !self.any_poisoned || !self.poisoned[number as usize];
                    list.push(v.into());
                }
                None => {
                    good = false;
                    self.undefined_value(operand.at);
                }
            }
        }
        good.then_some(built)
    }

    #[cold]
    fn undefined_value(&mut self, at: u32) {
        if self.b.report.only_counts() {
            return;
        }
        let span = self.b.token_at(at);
        let name = self.b.slice(span);
        let text = self.text;
        let ctx_name = |id: u32| format!("%{}", &text.names[id as usize]);
        let greatest =
            text.params.iter().map(|p| p.value).chain(text.insts.iter().map(|i| i.result));
        let defined: Vec<String> = greatest
            .take(MAX_CANDIDATES)
            .filter_map(|value| match value {
                ValueRef::Name(id) => Some(ctx_name(id)),
                ValueRef::Number(n) => Some(format!("%{n}")),
                ValueRef::None => None,
            })
            .collect();
        let meant = suggest_number_or_name(name, &defined);
        self.b.report.push(|source| {
            let d = Diagnostic::error(format!("value {name} is not defined"));
            did_you_mean(d.at(source, range(span), "used here"), meant)
        });
    }

    #[cold]
    fn undefined_block(&mut self, given: u32, at: u32) {
        // A number that cannot be has been reported.
        if given == 0 || self.b.report.only_counts() {
            return;
        }
        let span = self.b.token_at(at);
        let name = self.b.slice(span);
        let known = self.text.blocks.iter().filter(|b| b.number != 0 && b.number != u32::MAX);
        let known: Vec<String> =
            known.take(MAX_CANDIDATES).map(|b| format!("^{}", b.number)).collect();
        let meant = suggest_number_or_name(name, &known);
        self.b.report.push(|source| {
            let d = Diagnostic::error(format!("block {name} is not defined")).at(
                source,
                range(span),
                "no block has this number",
            );
            match meant {
                None if known.len() <= 8 => d.help(format!("there are {}", known.join(", "))),
                _ => did_you_mean(d, meant),
            }
        });
    }

    /// Finds the types that depend on instructions further down. Operands come first, whatever
    /// their place in the text; a cycle (which only wrong programs have) stays `any`.
    fn infer_late(&mut self, late: &[u32]) {
        let mut position_of = vec![u32::MAX; self.numbering.value_count as usize + 1];
        for (position, &number) in self.numbering.insts.iter().enumerate() {
            if number != 0 && self.text.insts[position].ty.is_none() {
                position_of[number as usize] = position as u32;
            }
        }
        let mut entered = vec![false; self.text.insts.len()];
        let mut stack: Vec<(u32, bool)> = Vec::new();
        for &position in late {
            stack.push((position, false));
            while let Some((position, operands_done)) = stack.pop() {
                if operands_done {
                    self.infer_again(position);
                    continue;
                }
                if std::mem::replace(&mut entered[position as usize], true) {
                    continue;
                }
                stack.push((position, true));
                let Some(v) = self.value(self.numbering.insts[position as usize]) else { continue };
                if !self.f.is_live(v) {
                    continue;
                }
                for operand in self.f.operands(v) {
                    if let OperandKind::Value(v) = operand.kind() {
                        let position = position_of[v.number() as usize];
                        if position != u32::MAX && !entered[position as usize] {
                            stack.push((position, false));
                        }
                    }
                }
            }
        }
    }

    fn infer_again(&mut self, position: u32) {
        let number = self.numbering.insts[position as usize];
        let inst = &self.text.insts[position as usize];
        let declared = inst.def.is_none_or(|def| matches!(def.result, ResultType::Declared));
        let Some(v) = self.value(number) else { return };
        if declared || !self.f.is_live(v) {
            return;
        }
        match self.f.infer_type(v) {
            Ok(ty) => {
                self.f.set_type(v, ty).expect("live");
                self.check_size(inst, v);
            }
            Err(message) => {
                self.poison(number);
                self.b.ir_error(self.b.line_span(inst.at), &message);
            }
        }
    }

    fn set_names(&mut self) {
        for (id, name) in self.text.names.iter().enumerate() {
            let Some(v) = self.value(self.numbering.names[id]) else { continue };
            if !self.f.is_live(v) {
                continue;
            }
            if let Err(error) = self.f.set_name_of(v, Some(name)) {
                let wrong = |value| value == ValueRef::Name(id as u32);
                let params = self.text.params.iter().filter(|p| wrong(p.value)).map(|p| p.at);
                let insts = self.text.insts.iter().filter(|i| wrong(i.result)).map(|i| i.at);
                let at = params.chain(insts).next().unwrap_or(self.text.at);
                self.b.ir_error(self.b.token_at(at), error.message());
            }
        }
    }
}

/// As [`suggest`], but every number of one digit is near every other.
fn suggest_number_or_name<'a>(wrong: &str, known: &'a [String]) -> Option<&'a str> {
    let is_digit = |name: &str| name.len() == 2 && name.as_bytes()[1].is_ascii_digit();
    if is_digit(wrong) {
        return None;
    }
    suggest(wrong, known.iter().map(String::as_str).filter(|name| !is_digit(name)))
}
