//! A position in a function that survives edits around it.
//!
//! ```text
//! let mut at = Cursor::new(f);
//! while let Some(v) = at.next() {
//!     if let Some([x, k]) = at.matches(v, arith::MUL) && at.const_i64(k) == Some(2) {
//!         let sum = at.insert(arith::add(x, x));
//!         at.replace_with(v, sum);
//!     }
//! }
//! ```

use std::ops::Deref;

use crate::{Block, Function, Inst, IrResult, Op, Operand, Value};

/// Walks over the instructions of a function in layout order (terminators included) while the
/// function is being changed through it.
///
/// # What the walk sees
/// Instructions inserted before the current one ([`Cursor::insert`]) are not visited; those
/// inserted after it ([`Cursor::insert_after`]) or appended to later blocks are. Deleting the
/// current instruction, or any other, is fine: the walk goes on behind it, and the cursor stands
/// where it was. Splitting the
/// current block moves the walk along with the instructions.
///
/// # Errors
/// The methods here panic on misuse (operands that do not fit, a stale value), with the message
/// of the [`IrError`](crate::IrError): in a pass, misuse is a bug of the pass, and the pass
/// manager reports it as such. Where failure is part of the plan, use the methods of
/// [`Function`] through [`Cursor::function`], which return errors.
#[derive(Debug)]
pub struct Cursor<'f> {
    function: &'f mut Function,
    /// The block of the next instruction to visit; `None` at the end.
    block: Option<Block>,
    /// The instruction visited last, if it is still there.
    current: Option<Value>,
    /// The instruction to visit next; decided only when the current one goes away.
    next: Next,
    /// Values and blocks that were there when the walk began have smaller indices than these.
    values: usize,
    blocks: usize,
    /// The number of instructions that were not there which it may still visit.
    growth_left: usize,
}

/// By how much a walk may grow, as a multiple of the function and in any case.
const GROWTH: (usize, usize) = (64, 100_000);

#[derive(Clone, Copy, Debug)]
enum Next {
    /// The one behind the current instruction then.
    AfterCurrent,
    /// This one.
    At(Value),
    /// This one, the first of what was inserted behind a current instruction that is gone.
    Inserted(Value),
    /// The first instruction of the block.
    Start,
}

impl<'f> Cursor<'f> {
    /// A cursor at the start of the entry block.
    pub fn new(function: &'f mut Function) -> Self {
        let block = function.entry();
        let (values, blocks) = (function.value_capacity(), function.block_capacity());
        let growth_left = GROWTH.0 * (values + blocks) + GROWTH.1;
        Self { function, block, current: None, next: Next::Start, values, blocks, growth_left }
    }

    /// Sets how many instructions that are made during the walk it may visit: from now on, and 64
    /// for each value and block of the function plus 100,000 at first.
    pub fn set_growth_limit(&mut self, limit: usize) {
        self.growth_left = limit;
    }

    /// The next instruction, in layout order.
    ///
    /// # Panics
    /// If the walk has visited very many instructions that were not there when it began (see
    /// [`Cursor::set_growth_limit`]): then it inserts after what it visits, visits what it inserts,
    /// and would never end.
    #[track_caller]
    #[allow(clippy::should_implement_trait, reason = "an iterator could not be used to edit")]
    pub fn next(&mut self) -> Option<Value> {
        loop {
            let block = self.block?;
            let found = match self.next {
                Next::Start => self.function.insts(block).next(),
                Next::At(v) | Next::Inserted(v) => Some(v),
                Next::AfterCurrent => {
                    let current = self.current.expect("there is a current instruction");
                    // The block of the current instruction may have been split.
                    self.block = Some(self.function.block_of(current));
                    self.function.next_inst(current)
                }
            };
            if let Some(v) = found {
                (self.current, self.next) = (Some(v), Next::AfterCurrent);
                self.block = Some(self.function.block_of(v));
                self.count_growth(v);
                return Some(v);
            }
            self.block = self.function.next_block(self.block?);
            (self.current, self.next) = (None, Next::Start);
        }
    }

    #[inline]
    #[track_caller]
    fn count_growth(&mut self, v: Value) {
        let is_new = v.index() >= if v.is_terminator() { self.blocks } else { self.values };
        if is_new {
            match self.growth_left.checked_sub(1) {
                Some(left) => self.growth_left = left,
                None => self.grows_without_end(v),
            }
        }
    }

    #[cold]
    #[track_caller]
    fn grows_without_end(&self, v: Value) -> ! {
        let f = &*self.function;
        let op = f.op_def(v).map_or("", |def| def.name);
        let visited = f.inst_count();
        let by = f.provenance().map_or(String::new(), |by| format!(" of `{}`", f.ctx().str(by)));
        panic!(
            "the walk{by} over @{} does not end: it visits what it inserts after what it visits, \
             at last `{op}` {v}, and the function has grown to {visited} instructions; insert \
             before what is visited, or see `Cursor::set_growth_limit`",
            f.name_str()
        )
    }

    /// The instruction visited last, unless it was deleted.
    pub fn current(&self) -> Option<Value> {
        self.current
    }

    /// The block that the walk is in.
    pub fn block(&self) -> Option<Block> {
        self.block
    }

    /// Goes to the start of `block`; the walk continues from there in layout order.
    ///
    /// # Panics
    /// If the block was deleted or is of another function.
    #[track_caller]
    pub fn go_to_block(&mut self, block: Block) {
        or_panic(self.function.ensure_block(block));
        (self.block, self.current, self.next) = (Some(block), None, Next::Start);
    }

    /// Goes to just before `v`, which is visited next.
    ///
    /// # Panics
    /// If `v` was deleted, is of another function, or is a parameter.
    #[track_caller]
    pub fn go_to(&mut self, v: Value) {
        or_panic(self.function.ensure_value(v));
        assert!(
            !self.function.is_param(v),
            "{v} of @{} is a parameter, which no walk visits",
            self.function.name_str()
        );
        (self.block, self.current) = (Some(self.function.block_of(v)), None);
        self.next = Next::At(v);
    }

    /// The function, for what the cursor does not offer. Do not delete the current instruction
    /// through it.
    pub fn function(&mut self) -> &mut Function {
        self.function
    }

    /// The operands of `v` as an array, if it is an instruction of `op` with exactly that many.
    #[inline]
    #[track_caller]
    pub fn matches<const N: usize>(&self, v: Value, op: Op) -> Option<[Operand; N]> {
        self.function.matches(v, op)
    }

    /// Inserts before the current instruction, or where it was if it is gone; what is inserted is
    /// not visited. After [`Cursor::go_to`], that is before the instruction to be visited.
    ///
    /// # Panics
    /// If the cursor stands at no instruction, or if the operands do not fit the op.
    #[track_caller]
    pub fn insert(&mut self, inst: Inst) -> Value {
        let here = match self.next {
            Next::At(v) | Next::Inserted(v) => Some(v),
            _ => None,
        };
        let Some(place) = self.current.or(here) else { no_place() };
        or_panic(self.function.insert(place, inst))
    }

    /// Inserts after the current instruction, or where it was if it is gone; what is inserted is
    /// visited next. Repeated calls keep call order.
    ///
    /// # Panics
    /// If the cursor stands at no instruction or at a terminator, or if the operands do not fit
    /// the op.
    #[track_caller]
    pub fn insert_after(&mut self, inst: Inst) -> Value {
        let new = match (self.current, self.next) {
            (Some(v), _) | (None, Next::Inserted(v)) => self.function.insert_after(v, inst),
            (None, Next::At(v)) => {
                let new = self.function.insert(v, inst);
                new.inspect(|&new| self.next = Next::Inserted(new))
            }
            _ => no_place(),
        };
        or_panic(new)
    }

    /// Replaces the right-hand side of `v`, which keeps its id.
    ///
    /// # Panics
    /// As [`Function::replace`] fails.
    #[track_caller]
    pub fn replace(&mut self, v: Value, inst: Inst) {
        or_panic(self.function.replace(v, inst));
    }

    /// Makes every use of `v` a use of `new`, and deletes `v`.
    ///
    /// # Panics
    /// If `new` cannot stand for `v`, or `v` is no instruction.
    #[track_caller]
    pub fn replace_with(&mut self, v: Value, new: impl Into<Operand>) {
        or_panic(self.function.replace_all_uses(v, new));
        self.delete(v);
    }

    /// Deletes an instruction.
    ///
    /// # Panics
    /// If it is still used; the message names the users.
    #[track_caller]
    pub fn delete(&mut self, v: Value) {
        self.step_off(v);
        or_panic(self.function.delete(v));
    }

    /// Deletes an instruction and the operands that die with it. Returns how many went.
    ///
    /// # Panics
    /// If it is still used.
    #[track_caller]
    pub fn delete_tree(&mut self, v: Value) -> usize {
        let operands_of = |f: &Function, v: Value| -> Vec<Value> {
            f.operands(v).filter_map(Operand::as_value).collect()
        };
        let mut candidates =
            if self.function.is_live(v) { operands_of(self.function, v) } else { Vec::new() };
        self.delete(v);
        let mut deleted = 1;
        // The current instruction, and the next one, may be among them.
        while let Some(v) = candidates.pop() {
            let f = &*self.function;
            if f.is_live(v) && !f.is_used(v) && f.is_removable(v) {
                candidates.extend(operands_of(f, v));
                self.delete(v);
                deleted += 1;
            }
        }
        deleted
    }

    /// If `v` is the current instruction, or the one to be visited next, lets the walk go on
    /// behind it.
    fn step_off(&mut self, v: Value) {
        let goes = self.current == Some(v)
            || matches!(self.next, Next::At(at) | Next::Inserted(at) if at == v);
        if !goes || !self.function.is_live(v) {
            return;
        }
        self.current = None;
        self.block = Some(self.function.block_of(v));
        match self.function.next_inst(v) {
            Some(next) => self.next = Next::At(next),
            None => {
                self.block = self.block.and_then(|b| self.function.next_block(b));
                self.next = Next::Start;
            }
        }
    }
}

/// The result of a mutation; its error is a panic at the line of the caller.
#[track_caller]
fn or_panic<T>(result: IrResult<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}

#[track_caller]
fn no_place() -> ! {
    panic!("the cursor stands at no instruction")
}

impl Deref for Cursor<'_> {
    type Target = Function;

    fn deref(&self) -> &Function {
        self.function
    }
}
