//! One-pass copying rewrite of a function, after the `Pipe` of IRTools.

use rustc_hash::FxHashMap;

use crate::error::IrErrorKind;
use crate::{Block, Function, Inst, IrError, IrResult, Operand, Value};

/// Copies a function statement by statement, in layout order, while statements are inserted,
/// replaced and deleted around the one copied last.
///
/// [`Pipe::next`] copies a statement and yields its value with the statement as it was. The copy
/// of a value has the same handle and number as the original, so that old values and new ones can
/// be mixed as operands; new statements get the numbers after the highest of the original. Blocks
/// and their parameters are there from the start, so that a new terminator may branch forward.
///
/// An edit takes O(operands), so that a rewrite takes O(n) in all whatever the mix;
/// [`Pipe::substitute_with`] also redirects the uses that were copied already.
///
/// # What the walk sees
/// Exactly the statements of the original, each once: nothing that is inserted is visited.
///
/// ```text
/// let mut pipe = Pipe::new(&f);
/// while let Some((v, statement)) = pipe.next() {
///     if statement.op() == core::CALL {
///         pipe.insert(v, prof::record_start(name))?;
///         pipe.push(prof::record_end(name))?;
///     }
/// }
/// let g = pipe.finish()?;
/// ```
#[derive(Debug)]
pub struct Pipe<'f> {
    from: &'f Function,
    to: Function,
    /// The operands that stand for values of the original instead of their copies.
    aliases: FxHashMap<Value, Operand>,
    /// The aliases of each value, so that they can follow it. Some may be outdated.
    aliases_of: FxHashMap<Value, Vec<Value>>,
    block: Option<Block>,
    /// The statement to be copied next in `block`; `None` when it is exhausted.
    next: Option<Value>,
    /// The reason why copying had to stop; reported by [`Pipe::finish`].
    failed: Option<IrError>,
}

impl<'f> Pipe<'f> {
    /// A pipe at the start of `from`.
    pub fn new(from: &'f Function) -> Self {
        let mut pipe = Self {
            from,
            to: from.shell(),
            aliases: FxHashMap::default(),
            aliases_of: FxHashMap::default(),
            block: None,
            next: None,
            failed: None,
        };
        pipe.failed = pipe.copy_blocks().err();
        if let Some(entry) = from.entry() {
            pipe.enter(entry);
        }
        pipe
    }

    fn copy_blocks(&mut self) -> IrResult<()> {
        for block in self.from.blocks() {
            self.to.place_reserved_block(block)?;
            for v in self.from.params(block) {
                self.to.define_param(v, block, self.from.ty(v), self.from.loc(v))?;
            }
        }
        Ok(())
    }

    fn enter(&mut self, block: Block) {
        self.block = Some(block);
        self.next = self.from.insts(block).next();
    }

    /// Copies the next statement (terminators included), with substituted operands, and yields
    /// its value and the statement as it was.
    #[allow(clippy::should_implement_trait, reason = "an iterator could not be used to edit")]
    pub fn next(&mut self) -> Option<(Value, Inst)> {
        loop {
            if self.failed.is_some() {
                return None;
            }
            let Some(v) = self.next else {
                let following = self.from.next_block(self.block?);
                self.block = following;
                self.enter(following?);
                continue;
            };
            self.next = self.from.next_inst(v);
            let statement = self.from.statement(v);
            let copy = self.substituted(statement.clone());
            let block = self.from.block_of(v);
            let copied = if v.is_terminator() {
                self.to.set_terminator(block, copy)
            } else {
                self.to.define_inst(v, block, copy)
            };
            if let Err(error) = copied {
                self.failed = Some(error);
                return None;
            }
            return Some((v, statement));
        }
    }

    /// The function that is being copied.
    pub fn from(&self) -> &'f Function {
        self.from
    }

    /// The copy as far as it has come. Statements that were not copied yet are not live in it.
    pub fn function(&self) -> &Function {
        &self.to
    }

    /// The operand that stands for `v` of the original in the copy: `v` itself, unless
    /// [`Pipe::substitute_with`] said otherwise.
    ///
    /// # Panics
    /// If `v` is a value of another function.
    #[track_caller]
    pub fn substitute(&self, v: Value) -> Operand {
        if self.to.facts(v).is_none() {
            panic!("{}", IrError::foreign_value(self.from, v));
        }
        match self.aliases.get(&v) {
            Some(&operand) => operand,
            None => v.into(),
        }
    }

    /// Lets `new` stand for `v`, in what was copied already and in what is still to come. The copy
    /// of `v` stays; [`Pipe::delete`] takes it away. O(uses of `v` so far, and values that `v`
    /// stands for).
    ///
    /// # Errors
    /// If `v` is no value of the original, or if `new` cannot stand for it.
    pub fn substitute_with(&mut self, v: Value, new: impl Into<Operand>) -> IrResult<()> {
        let new = self.resolve(new.into());
        self.to.replace_all_uses(v, new)?;
        if new == Operand::from(v) {
            return Ok(());
        }
        // Substitution is one step: what stood for something by way of `v` is redirected now.
        let mut aliases = self.aliases_of.remove(&v).unwrap_or_default();
        aliases.retain(|alias| self.aliases.get(alias) == Some(&v.into()));
        aliases.push(v);
        for &alias in &aliases {
            self.aliases.insert(alias, new);
        }
        if let Some(new) = new.as_value() {
            self.aliases_of.entry(new).or_default().append(&mut aliases);
        }
        Ok(())
    }

    /// Inserts a statement just before (the copy of) `v`, in call order.
    ///
    /// # Errors
    /// If `v` was not copied yet, or if the operands do not fit the op.
    pub fn insert(&mut self, v: Value, inst: Inst) -> IrResult<Value> {
        self.check_copied(v)?;
        let inst = self.substituted(inst);
        self.to.insert(v, inst)
    }

    /// Inserts a statement just after (the copy of) `v`, in call order.
    ///
    /// # Errors
    /// As [`Pipe::insert`].
    pub fn insert_after(&mut self, v: Value, inst: Inst) -> IrResult<Value> {
        self.check_copied(v)?;
        let inst = self.substituted(inst);
        self.to.insert_after(v, inst)
    }

    /// Appends a statement behind all that was copied or pushed to the present block; if that
    /// has its terminator already, before the terminator.
    ///
    /// # Errors
    /// If nothing was copied yet, or if the operands do not fit the op.
    pub fn push(&mut self, inst: Inst) -> IrResult<Value> {
        let Some(block) = self.block else {
            return Err(IrError::new(IrErrorKind::Unsuitable, "the pipe stands in no block"));
        };
        let inst = self.substituted(inst);
        self.to.push(block, inst)
    }

    /// Replaces the right-hand side of the copy of `v`, which keeps its handle; a terminator is
    /// replaced by another one.
    ///
    /// # Errors
    /// If `v` was not copied yet, or as [`Function::replace`].
    pub fn replace(&mut self, v: Value, inst: Inst) -> IrResult<()> {
        self.check_copied(v)?;
        let inst = self.substituted(inst);
        self.to.replace(v, inst)
    }

    /// Takes the copy of `v` away. It may still be used, by statements that were copied or that
    /// are still to come: then [`Pipe::substitute_with`] has to say what stands for it, before
    /// or after.
    ///
    /// # Errors
    /// If `v` was not copied yet, or is a parameter or a terminator.
    pub fn delete(&mut self, v: Value) -> IrResult<()> {
        self.check_copied(v)?;
        self.to.undefine(v)
    }

    /// The copy.
    ///
    /// # Errors
    /// If a statement could not be copied, or if a deleted value is still used; the message
    /// names the value and the users.
    pub fn finish(mut self) -> IrResult<Function> {
        while self.next().is_some() {}
        if let Some(error) = self.failed {
            return Err(error);
        }
        match self.to.release_reserved().first() {
            Some(&v) => Err(IrError::still_used(&self.to, v)),
            None => Ok(self.to),
        }
    }

    fn check_copied(&self, v: Value) -> IrResult<()> {
        if self.to.is_live(v) {
            return Ok(());
        }
        if self.from.is_live(v) {
            let message = format!("{} was deleted or is not copied yet", self.from.value_text(v));
            return Err(IrError::new(IrErrorKind::StaleValue, message));
        }
        Err(IrError::foreign_value(self.from, v))
    }

    fn resolve(&self, operand: Operand) -> Operand {
        match operand.as_value() {
            Some(v) => self.aliases.get(&v).copied().unwrap_or(operand),
            None => operand,
        }
    }

    fn substituted(&self, mut inst: Inst) -> Inst {
        if !self.aliases.is_empty() {
            for operand in inst.operand_list_mut() {
                *operand = self.resolve(*operand);
            }
        }
        inst
    }
}
