//! Makes the definition of a function of a listing: blocks become labels, jumps become `@goto`s.
//!
//! The values that a φ has for an edge, or a jump passes on, are assigned on the edge, all at once: first to
//! variables of the edge, where one value could be that of another φ of the block. Values have
//! the names that the listing gives them (`%3`); the lowering finds the parameters of blocks again.
//! O(statements + edges).

use std::ops::Range;

use regraft_ir::{Diagnostic, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};

use super::exprs::{ExprAt, Exprs};
use super::iteration::{self, Line};
use super::lines::{Block, Listed};
use super::parameters::{Parameters, Params, has_self, param_name, span, value_name};
use super::statement::{Goto, StatementKind};
use super::tidy::{Tidy, Value};
use super::variables::Used;
use crate::julia::{ExprId, Kind, List, Span};

/// A listing on its way into a function.
pub(super) struct Method<'a, 't> {
    pub(super) tidy: &'a mut Tidy<'t>,
    pub(super) exprs: &'a Exprs,
    pub(super) roots: &'a [Option<ExprId>],
    pub(super) warnings: &'a mut Vec<Diagnostic>,
    values: FxHashMap<ExprAt, Value>,
    out: Vec<ExprId>,
    /// The blocks by number: the index.
    blocks: FxHashMap<u32, usize>,
    /// The results and values of the φs of a block for the edge from another one.
    phis: FxHashMap<(u32, u32), Vec<(u32, ExprAt)>>,
}

impl<'a, 't> Method<'a, 't> {
    pub(super) fn new(
        tidy: &'a mut Tidy<'t>,
        exprs: &'a Exprs,
        roots: &'a [Option<ExprId>],
        warnings: &'a mut Vec<Diagnostic>,
    ) -> Self {
        tidy.statics.clear();
        let (values, blocks, phis) = Default::default();
        Self { tidy, exprs, roots, warnings, values, out: Vec::new(), blocks, phis }
    }

    /// Makes the function; none if something is wrong with it.
    pub(super) fn function(mut self, listed: &Listed, name: &str) -> Option<ExprId> {
        let before = self.tidy.errors.len();
        let head = self.parameters().head(&listed.header);
        let instance = head.instance;
        let used = self.tidy_all(listed);
        let lines = self.assigned_values(listed);
        iteration::simplify(self.tidy, &used, &lines);
        let params = self.parameters().find(listed, &used, head, name);
        for (at, block) in listed.blocks.iter().enumerate() {
            if self.blocks.insert(block.number, at).is_some() {
                let message = format!("the block {} is there twice", block.number);
                self.error(block.at.clone(), message, "the second");
            }
        }
        self.check_edges(&listed.blocks);
        if self.tidy.errors.len() > before {
            return None;
        }
        let span = span(&listed.at);
        let this = self.tidy.ctx.symbol(name);
        self.prologue(listed, &used, &params, instance, this, span);
        for at in 0..listed.blocks.len() {
            self.block(&listed.blocks, at);
        }
        let body = self.tidy.ast.add_list(&std::mem::take(&mut self.out));
        let body = Some(self.add(Kind::Block(body), span));
        let name = match instance {
            Some(instance) => instance,
            None => self.add(Kind::Name(this), span),
        };
        let (params, wheres) = (self.list(&params.params), self.list(&params.wheres));
        Some(
            self.add(
                Kind::Function { name, params, wheres, returns: None, body, inline: None },
                span,
            ),
        )
    }

    fn parameters(&mut self) -> Parameters<'_, 't> {
        Parameters { tidy: self.tidy, roots: self.roots, warnings: self.warnings }
    }

    fn error(&mut self, at: Range<usize>, message: impl Into<String>, label: &str) {
        let error = Diagnostic::error(message.into()).at(&self.tidy.ast.source, at, label);
        self.tidy.errors.push(error);
    }

    fn add(&mut self, kind: Kind, span: Span) -> ExprId {
        self.tidy.ast.add(kind, span)
    }

    fn list(&mut self, ids: &[ExprId]) -> List {
        self.tidy.ast.add_list(ids)
    }

    // --- names -----------------------------------------------------------------------------------

    /// Tidies all expressions in the order of the text.
    fn tidy_all(&mut self, listed: &Listed) -> Used {
        let mut used = Used::default();
        for block in &listed.blocks {
            for statement in &block.statements {
                match &statement.kind {
                    StatementKind::Expr(at) => self.tidy_statement(*at, &mut used),
                    StatementKind::Return(value) => {
                        value.iter().for_each(|&at| self.tidy_value(at, &mut used));
                    }
                    StatementKind::Pi(value, _) => self.tidy_value(*value, &mut used),
                    StatementKind::Phi(edges) => {
                        for value in edges.iter().filter_map(|edge| edge.value) {
                            self.tidy_value(value, &mut used);
                        }
                    }
                    StatementKind::Goto(goto) => {
                        for &value in goto.args.iter().chain(&goto.unless) {
                            self.tidy_value(value, &mut used);
                        }
                    }
                    StatementKind::Unreachable => {}
                }
            }
        }
        used
    }

    /// The statements that are expressions.
    fn assigned_values(&self, listed: &Listed) -> Vec<Line> {
        let statements = listed.blocks.iter().flat_map(|block| &block.statements);
        let lines = statements.filter_map(|statement| match statement.kind {
            StatementKind::Expr(at) => {
                let result = statement.result.map(|number| value_name(self.tidy, number));
                Some((result, self.values.get(&at)?.value))
            }
            _ => None,
        });
        lines.collect()
    }

    fn tidy_value(&mut self, at: ExprAt, used: &mut Used) {
        let Some(root) = self.roots[at] else { return };
        let value = self.tidy.value(root);
        used.read(self.tidy, value.value);
        self.values.insert(at, value);
    }

    /// `x = value` or `value`, each perhaps in brackets with a type.
    fn tidy_statement(&mut self, at: ExprAt, used: &mut Used) {
        let Some(mut root) = self.roots[at] else { return };
        root = self.assignment(root).unwrap_or(root);
        let Kind::Assign { target, value } = self.tidy.ast.kind(root) else {
            return self.tidy_value(at, used);
        };
        let Kind::Name(name) = self.tidy.ast.kind(target) else {
            return self.tidy.error(target, "a listing assigns to slots only", "expected a name");
        };
        let tidied = self.tidy.value(value);
        used.read(self.tidy, tidied.value);
        used.assign(name);
        let value = self.with_type(tidied);
        let kind = Kind::Assign { target, value };
        self.tidy.ast.exprs[root.index()].kind = kind;
        self.values.insert(at, Value { value: root, ty: None });
    }

    /// The assignment that an expression is, perhaps in brackets and with a type behind them.
    fn assignment(&self, id: ExprId) -> Option<ExprId> {
        match self.tidy.ast.kind(id) {
            Kind::Assign { .. } => Some(id),
            Kind::Typed { value: Some(inner), .. } => self.assignment(inner),
            Kind::Block(list) => match *self.tidy.ast.list(list) {
                [inner] => self.assignment(inner),
                _ => None,
            },
            _ => None,
        }
    }

    // --- code ------------------------------------------------------------------------------------

    /// Gives slots, and the callee, their values.
    fn prologue(
        &mut self,
        listed: &Listed,
        used: &Used,
        params: &Params,
        instance: Option<ExprId>,
        this: Symbol,
        at: Span,
    ) {
        for &(slot, name) in &params.slots {
            if slot != name {
                let value = self.add(Kind::Name(name), at);
                self.assign(slot, value, at);
            }
        }
        let has_self = has_self(self.tidy, used);
        let first = listed.blocks.first().filter(|_| listed.is_ir_tools && !has_self);
        let own = first.and_then(|block| block.params.first()).map(|&n| value_name(self.tidy, n));
        let own = own.filter(|&own| used.reads(own));
        for &name in used.callee.iter().chain(&own) {
            let module = self.tidy.ctx.symbol("Main");
            let value = match instance.and_then(|instance| param_name(self.tidy, instance)) {
                Some(name) => Kind::Name(name),
                None => Kind::GlobalRef { module, name: this },
            };
            let value = self.add(value, at);
            self.assign(name, value, at);
        }
    }

    fn assign(&mut self, name: Symbol, value: ExprId, at: Span) {
        let target = self.add(Kind::Name(name), at);
        let assigned = self.add(Kind::Assign { target, value }, at);
        self.out.push(assigned);
    }

    /// A value, checked to be of its type.
    fn with_type(&mut self, value: Value) -> ExprId {
        match value.ty {
            Some(ty) => {
                let span = self.tidy.ast.span(value.value);
                self.add(Kind::Typed { value: Some(value.value), ty }, span)
            }
            None => value.value,
        }
    }

    /// The value of an expression that was tidied.
    fn value(&mut self, at: ExprAt) -> ExprId {
        match self.values.get(&at) {
            Some(&value) => self.with_type(value),
            None => {
                let span = span(&self.exprs.range(at));
                self.add(Kind::Error, span)
            }
        }
    }

    fn label(&self, block: u32) -> Symbol {
        self.tidy.ctx.symbol(&format!("#{block}"))
    }

    fn goto(&mut self, block: u32, at: Span) {
        let label = self.label(block);
        let id = self.add(Kind::Goto(label), at);
        self.out.push(id);
    }

    fn block(&mut self, blocks: &[Block], index: usize) {
        let block = &blocks[index];
        let at = span(&block.at);
        let label = self.label(block.number);
        let label = self.add(Kind::Label(label), at);
        self.out.push(label);
        let mut ends = false;
        for statement in &block.statements {
            let at = span(&statement.at);
            ends = false;
            match &statement.kind {
                StatementKind::Phi(_) => {}
                StatementKind::Expr(value) => {
                    let value = self.value(*value);
                    self.result(statement.result, value, at);
                }
                StatementKind::Pi(value, ty) => {
                    let value = self.value(*value);
                    let ty = self.roots[*ty].filter(|&ty| self.tidy.is_type(ty));
                    let value = self.with_type(Value { value, ty });
                    self.result(statement.result, value, at);
                }
                StatementKind::Goto(goto) => {
                    self.jump(blocks, index, goto, at);
                    ends = goto.unless.is_none();
                }
                StatementKind::Return(value) => {
                    let value = value.map(|value| self.value(value));
                    let id = self.add(Kind::Return(value), at);
                    self.out.push(id);
                    ends = true;
                }
                StatementKind::Unreachable => {
                    self.unreachable(at);
                    ends = true;
                }
            }
        }
        if ends {
            return;
        }
        match blocks.get(index + 1) {
            Some(next) => self.edge(blocks, index, next.number, &[], at),
            None => self.end(block, at),
        }
    }

    /// The end of a listing that does not return.
    fn end(&mut self, block: &Block, at: Span) {
        let message = "the listing ends without a `return`: nothing is returned there";
        let place = block.statements.last().map_or(block.at.clone(), |last| last.at.clone());
        let warning = Diagnostic::warning(message).at(&self.tidy.ast.source, place, "the end");
        self.warnings.push(warning);
        let id = self.add(Kind::Return(None), at);
        self.out.push(id);
    }

    fn result(&mut self, result: Option<u32>, value: ExprId, at: Span) {
        match result {
            Some(number) => {
                let name = value_name(self.tidy, number);
                self.assign(name, value, at);
            }
            None => self.out.push(value),
        }
    }

    /// Control does not get here: what is before it throws.
    fn unreachable(&mut self, at: Span) {
        let (module, name) = (self.tidy.ctx.symbol("Base"), self.tidy.ctx.symbol("error"));
        let callee = self.add(Kind::GlobalRef { module, name }, at);
        let message = self.tidy.ctx.symbol("unreachable reached");
        let message = self.add(Kind::Str(message), at);
        let args = self.list(&[message]);
        let call = self.add(Kind::Call { callee, args }, at);
        self.out.push(call);
    }

    /// A jump that is always taken, or one that is taken if something is false.
    fn jump(&mut self, blocks: &[Block], from: usize, goto: &Goto, at: Span) {
        let Some(unless) = goto.unless else {
            self.edge(blocks, from, goto.target, &goto.args, at);
            return self.goto(goto.target, at);
        };
        let condition = self.value(unless);
        let before = std::mem::take(&mut self.out);
        self.edge(blocks, from, goto.target, &goto.args, at);
        self.goto(goto.target, at);
        let taken = std::mem::replace(&mut self.out, before);
        let taken = self.list(&taken);
        let otherwise = Some(self.add(Kind::Block(taken), at));
        let then = self.add(Kind::Block(List::default()), at);
        let id = self.add(Kind::If { condition, then, otherwise }, at);
        self.out.push(id);
    }

    /// Assigns what the edge from one block to another passes on.
    fn edge(&mut self, blocks: &[Block], from: usize, to: u32, args: &[ExprAt], at: Span) {
        let Some(target) = self.blocks.get(&to).map(|&index| &blocks[index]) else { return };
        let number = blocks[from].number;
        let mut passed: Vec<(u32, ExprId)> = Vec::new();
        for (&param, &arg) in target.params.iter().zip(args) {
            passed.push((param, self.value(arg)));
        }
        let phis = self.phis.get(&(number, to)).cloned().unwrap_or_default();
        passed.extend(phis.into_iter().map(|(result, value)| (result, self.value(value))));
        if let [(param, value)] = *passed {
            let name = value_name(self.tidy, param);
            return self.assign(name, value, at);
        }
        let on_edge = |param: u32| self.tidy.ctx.symbol(&format!("%{param} next"));
        let names: Vec<Symbol> = passed.iter().map(|&(param, _)| on_edge(param)).collect();
        for (&name, &(_, value)) in names.iter().zip(&passed) {
            self.assign(name, value, at);
        }
        for (name, (param, _)) in names.into_iter().zip(passed) {
            let value = self.add(Kind::Name(name), at);
            let param = value_name(self.tidy, param);
            self.assign(param, value, at);
        }
    }

    // --- edges -----------------------------------------------------------------------------------

    /// Checks that jumps lead somewhere, and that blocks get what they have parameters for.
    fn check_edges(&mut self, blocks: &[Block]) {
        let mut before = vec![FxHashSet::default(); blocks.len()];
        for (index, block) in blocks.iter().enumerate() {
            let mut ends = false;
            for statement in &block.statements {
                ends =
                    matches!(statement.kind, StatementKind::Return(_) | StatementKind::Unreachable);
                let StatementKind::Goto(goto) = &statement.kind else { continue };
                ends = goto.unless.is_none();
                match self.blocks.get(&goto.target) {
                    Some(&to) => {
                        before[to].insert(block.number);
                        self.check_args(&blocks[to], goto.args.len(), &goto.at);
                    }
                    None => {
                        let message = format!("there is no block {}", goto.target);
                        self.error(goto.at.clone(), message, "not found");
                    }
                }
            }
            if !ends && let Some(next) = blocks.get(index + 1) {
                before[index + 1].insert(block.number);
                self.check_args(next, 0, &block.at);
            }
        }
        for (index, block) in blocks.iter().enumerate() {
            for statement in &block.statements {
                let StatementKind::Phi(edges) = &statement.kind else { continue };
                let mut seen = FxHashSet::default();
                for edge in edges {
                    if !before[index].contains(&edge.block) {
                        let message = format!(
                            "control does not get to block {} from block {}",
                            block.number, edge.block
                        );
                        self.error(edge.at.clone(), message, "no such edge");
                    } else if !seen.insert(edge.block) {
                        let message = format!("a `φ` has two values for block {}", edge.block);
                        self.error(edge.at.clone(), message, "the second");
                    } else if let (Some(result), Some(value)) = (statement.result, edge.value) {
                        let phis = self.phis.entry((edge.block, block.number)).or_default();
                        phis.push((result, value));
                    }
                }
            }
        }
    }

    fn check_args(&mut self, to: &Block, args: usize, at: &Range<usize>) {
        if to.params.len() != args {
            let message =
                format!("block {} has {} parameters, and gets {args}", to.number, to.params.len());
            self.error(at.clone(), message, "");
        }
    }
}
