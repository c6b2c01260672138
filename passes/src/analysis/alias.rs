//! Alias analysis: which objects a value may be, and whether two values may be the same object.
//!
//! ```text
//! %2: array<f64, 1> = mem.alloc %1        %2: new
//! %3: array<f64, 1> = mem.copy %5         %3: new, returned
//! br %4, ^2(%2), ^2(%2)                   %6 (its parameter): %2
//! ```
//!
//! # Method
//! Every value that may be an object gets a **base**: the instruction that allocates it, the
//! parameter of the function that it is, one of several allocations, or nothing known. The objects in a tuple
//! that is made by a copy in depth, or a zero tangent, are one of several: the same object may be there twice.
//! Block parameters
//! get what all their arguments agree on. That is a sparse data-flow problem of height three (as constant
//! propagation by Wegman and Zadeck, 1991), solved optimistically: a reverse postorder sweep, then a list
//! of what changed. An allocation **escapes** if a use of it can make it known to others: it
//! is stored into an object, made part of a value, or passed to a function that lets it escape
//! (by its [effect summary](super::EffectSummary)); a copy in depth escapes at once if it may hold
//! itself. Escape does not depend on the place: what
//! escapes anywhere escapes. Allocations that meet in a block parameter or a selection are one **group**
//! (by union-find, as in Steensgaard's analysis, 1996): a value that may be one of several may be any of its
//! group. What is in a group with others escapes as well, since other
//! values may be that object then, but only within the function: it is not **visible** outside while no
//! value of its group is made known to others.
//!
//! # Why it is right
//! Two different allocations are two objects, and neither is one that the caller passed. What
//! does not escape is never found in memory, so that nothing whose base is not known is it. Objects
//! of different types are different: types are exact, but for `any`. Two parameters may be the same
//! object, unless the attribute `noalias` of the function says that they are not: `{noalias=3}`
//! promises that no object that is passed for a parameter from the third on is passed for one
//! before it, or can be reached from there, as is so with shadows that derivatives are added up in. `{distinct=3}` promises
//! the same, and that no object is passed for two parameters from the third on.
//! The attribute `shadows` is for a function whose first parameter is a tuple of everything, as a tape is:
//! `{shadows="3,5|7"}` promises that none of these three parts is another part, but for those of one group.
//! An allocation within a loop is a new object each time; so the same base does not mean the same
//! object.
//!
//! # Cost
//! O(values + operands), but for the inverse of Ackermann's function: the base of a value changes at most three times.

use std::fmt::Write as _;

use regraft_dialects::{ad, core, data};
use regraft_ir::{
    Constant, Context, ControlFlow, Function, Operand, Traits, Type, TypeKind, Use, Value, ValueDef,
};

use super::block_list::text_or;
use super::effects::{
    Access, EffectSummaries, InstEffects, Returns, callee_summary, may_be_object,
    may_reach_objects, may_reach_others,
};
use super::tape::Tape;
use super::{Analyses, Analysis, Facets, ValueGroups};

/// The origin of an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Base {
    /// It is no object, as far as anybody knows.
    #[default]
    None,
    /// This instruction allocated it.
    Fresh(Value),
    /// One of several objects that the function allocates: of the group that this allocation stands for.
    Local(Value),
    /// The parameter of the function at this position.
    Param(u32),
    /// A part of the tuple that is the first parameter: one of this group of its shadows, or of none if it is 0.
    Part(u32),
    /// Any object that is not hidden.
    Unknown,
}

impl Base {
    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, x) | (x, Self::None) => x,
            (a, b) if a == b => a,
            // Of the groups, one is kept; which are the same is found out at the end.
            (Self::Fresh(v) | Self::Local(v), Self::Fresh(_) | Self::Local(_)) => Self::Local(v),
            _ => Self::Unknown,
        }
    }
}

/// The bases of all values, and what escapes.
#[derive(Clone, Debug)]
pub struct Aliases {
    /// By [`Value::index`].
    bases: Vec<Base>,
    /// By the index of the value that allocates.
    escaped: Vec<bool>,
    /// By the index of the value that allocates; those that are visible outside the function, by what stands
    /// for their group.
    visible: Vec<bool>,
    /// The allocations that meet others.
    groups: ValueGroups,
    /// By position.
    escaped_params: Vec<bool>,
    /// The position of the first parameter that aliases none before it.
    first_noalias: u32,
    /// The position of the first parameter that aliases no other.
    first_distinct: u32,
}

impl Aliases {
    /// Finds the base of every value. O(values + operands).
    pub(crate) fn compute(f: &Function, cfg: &ControlFlow, summaries: &EffectSummaries) -> Self {
        let finder = Finder {
            f,
            cfg,
            summaries,
            tape: Tape::of(f),
            bases: vec![Base::None; f.value_capacity()],
            changed: Vec::new(),
            objects: Vec::new(),
        };
        finder.find()
    }

    /// The base of a value.
    #[inline]
    pub fn base(&self, operand: impl Into<Operand>) -> Base {
        match operand.into().as_value() {
            Some(v) if !v.is_terminator() => {
                self.bases.get(v.index()).copied().unwrap_or(Base::Unknown)
            }
            _ => Base::None,
        }
    }

    /// Returns whether what `allocation` allocates may become known to others before the function
    /// returns. That it is returned does not count.
    pub fn escapes(&self, allocation: Value) -> bool {
        self.escaped.get(allocation.index()).copied().unwrap_or(true)
    }

    /// Returns whether an object with this base, of those that the function allocates, may become known to
    /// others before it returns. That it is returned does not count.
    pub(crate) fn is_visible(&self, base: Base) -> bool {
        match base {
            Base::Fresh(v) | Base::Local(v) => {
                self.visible.get(self.groups.of(v).index()).copied().unwrap_or(true)
            }
            Base::None | Base::Param(_) | Base::Part(_) | Base::Unknown => true,
        }
    }

    /// The allocation that stands for the group of one: itself, if it meets no other.
    pub(crate) fn group(&self, allocation: Value) -> Value {
        self.groups.of(allocation)
    }

    /// Returns whether the parameter at this position may become known to others than the caller
    /// and those it is known to already. That it is returned does not count.
    pub(crate) fn param_escapes(&self, position: usize) -> bool {
        self.escaped_params.get(position).copied().unwrap_or(true)
    }

    /// The allocation that a value is the object of, if nobody but this function knows that object
    /// while it runs.
    #[inline]
    pub fn non_escaping(&self, operand: impl Into<Operand>) -> Option<Value> {
        match self.base(operand) {
            Base::Fresh(v) if !self.escapes(v) => Some(v),
            _ => None,
        }
    }

    /// Returns whether two values may be the same object. O(1).
    pub fn may_alias(&self, f: &Function, a: Operand, b: Operand) -> bool {
        if !types_may_alias(f.ctx(), f.operand_type(a), f.operand_type(b)) {
            return false;
        }
        match (self.base(a), self.base(b)) {
            (Base::None, _) | (_, Base::None) => false,
            (Base::Fresh(x), Base::Fresh(y)) => x == y,
            (Base::Fresh(_) | Base::Local(_), Base::Param(_) | Base::Part(_))
            | (Base::Param(_) | Base::Part(_), Base::Fresh(_) | Base::Local(_)) => false,
            (Base::Fresh(x) | Base::Local(x), Base::Local(y))
            | (Base::Local(x), Base::Fresh(y)) => self.group(x) == self.group(y),
            (own @ (Base::Fresh(_) | Base::Local(_)), Base::Unknown)
            | (Base::Unknown, own @ (Base::Fresh(_) | Base::Local(_))) => self.is_visible(own),
            (Base::Param(x), Base::Param(y)) => {
                let is_distinct = x != y && x.max(y) >= self.first_distinct;
                !is_distinct && (x < self.first_noalias) == (y < self.first_noalias)
            }
            (Base::Part(x), Base::Part(y)) => x == y,
            (
                Base::Param(_) | Base::Part(_) | Base::Unknown,
                Base::Param(_) | Base::Part(_) | Base::Unknown,
            ) => true,
        }
    }

    /// Returns whether an object that is known to be a parameter, or a part of one, is one of those that alias
    /// none of the others.
    #[inline]
    pub(super) fn is_noalias(&self, base: Base) -> bool {
        match base {
            Base::Param(i) => i >= self.first_noalias,
            Base::Part(group) => group > 0,
            _ => false,
        }
    }

    /// Returns what an instruction with these effects may do to `object`. O(operands).
    pub(crate) fn touches(&self, f: &Function, effects: &InstEffects, object: Operand) -> Access {
        let mut access = Access::empty();
        if self.is_visible(self.base(object)) {
            access |= effects.elsewhere;
        }
        for &(other, what) in &effects.objects {
            if self.may_alias(f, other, object) {
                access |= what;
            }
        }
        access
    }

    /// The base of every value that is an object, a line each.
    pub fn describe(&self, f: &Function) -> String {
        let mut out = String::new();
        for block in f.blocks() {
            for v in f.params(block).chain(f.body(block)) {
                let text = match self.base(v) {
                    Base::None => continue,
                    Base::Fresh(new) if new != v => f.value_text(new),
                    Base::Fresh(_) if self.escapes(v) => "new, escapes".to_owned(),
                    Base::Fresh(_) => "new".to_owned(),
                    Base::Local(_) => "one of several new ones".to_owned(),
                    Base::Param(i) => match f.entry().and_then(|e| f.param(e, i as usize)) {
                        Some(param) if param != v => f.value_text(param),
                        _ if self.param_escapes(i as usize) => "an argument, escapes".to_owned(),
                        _ => "an argument".to_owned(),
                    },
                    Base::Part(0) => "no shadow".to_owned(),
                    Base::Part(group) => format!("a shadow of group {group}"),
                    Base::Unknown => "any object".to_owned(),
                };
                let _ = writeln!(out, "{}: {text}", f.value_text(v));
            }
        }
        text_or(out, "no objects\n")
    }
}

impl Analysis for Aliases {
    const NAME: &'static str = "aliases";
    const FACETS: Facets = Facets::INSTS.union(Facets::TYPES).union(Facets::EFFECTS);

    fn compute(f: &Function, analyses: &mut Analyses) -> Self {
        let cfg = analyses.get::<ControlFlow>(f);
        Self::compute(f, &cfg, analyses.effects())
    }
}

/// Returns whether objects of two types may be the same.
fn types_may_alias(ctx: &Context, a: Type, b: Type) -> bool {
    (a == b || a == Type::ANY || b == Type::ANY) && may_be_object(ctx, a) && may_be_object(ctx, b)
}

struct Finder<'a> {
    f: &'a Function,
    cfg: &'a ControlFlow,
    summaries: &'a EffectSummaries,
    tape: Option<Tape>,
    bases: Vec<Base>,
    /// Values whose base has changed since their users were visited.
    changed: Vec<Value>,
    /// The values that may be objects, or hold some of one base, and that control may come to.
    objects: Vec<Value>,
}

impl Finder<'_> {
    fn find(mut self) -> Aliases {
        let f = self.f;
        if let Some(entry) = f.entry() {
            for (i, param) in f.params(entry).enumerate() {
                if may_be_object(f.ctx(), f.ty(param)) {
                    self.bases[param.index()] = Base::Param(i as u32);
                }
            }
        }
        for block in self.cfg.reverse_postorder() {
            self.objects.extend(f.params(block).filter(|&v| may_be_object(f.ctx(), f.ty(v))));
            for v in f.body(block) {
                if may_be_object(f.ctx(), f.ty(v)) {
                    self.bases[v.index()] = self.base_of(v);
                    self.objects.push(v);
                } else if may_reach_objects(f.ctx(), f.ty(v))
                    && let Some(whole) = copied_whole(f, v)
                {
                    self.bases[v.index()] = Base::Local(whole);
                    self.objects.push(v);
                }
            }
            for edge in f.out_edges(block) {
                let target = f.edge_target(edge);
                let seen = self.cfg.rpo_index(target) <= self.cfg.rpo_index(block);
                for (param, arg) in f.params(target).zip(f.edge_args(edge)) {
                    if self.pass(param, arg) && seen {
                        self.changed.push(param);
                    }
                }
            }
        }
        while let Some(v) = self.changed.pop() {
            for at in f.uses(v) {
                self.revisit(at);
            }
        }
        // What nothing reaches is never run; it may be looked at all the same.
        if self.cfg.reachable_count() < f.block_count() {
            for block in f.blocks().filter(|&b| !self.cfg.is_reachable(b)) {
                for v in f.params(block).chain(f.body(block)) {
                    if may_be_object(f.ctx(), f.ty(v)) {
                        self.bases[v.index()] = Base::Unknown;
                    }
                }
            }
        }
        let groups = self.groups();
        self.escapes(groups)
    }

    /// Finds which allocations meet. O(values + operands).
    fn groups(&self) -> ValueGroups {
        let mut groups = ValueGroups::default();
        let mut meet = |into: Base, arg: Base| {
            if let (Base::Local(a), Base::Fresh(b) | Base::Local(b)) = (into, arg) {
                groups.unite(a, b);
            }
        };
        let f = self.f;
        for &v in &self.objects {
            let into = self.bases[v.index()];
            if !matches!(into, Base::Local(_)) {
                continue;
            }
            match f.def(v) {
                ValueDef::Param(block, position) => {
                    let edges = f.in_edges(block).filter(|edge| self.cfg.is_reachable(edge.from));
                    let args = edges.filter_map(|edge| f.edge_arg(edge, position as usize));
                    args.for_each(|arg| meet(into, self.base(arg)));
                }
                _ if passes_on(f, v) => f.operands(v).for_each(|arg| meet(into, self.base(arg))),
                _ => {}
            }
        }
        groups
    }

    fn base(&self, operand: Operand) -> Base {
        operand.as_value().map_or(Base::None, |v| self.bases[v.index()])
    }

    /// The base of an instruction, as far as those of its operands are known.
    fn base_of(&self, v: Value) -> Base {
        let f = self.f;
        let Some(def) = f.op_def(v) else { return Base::Unknown };
        if passes_on(f, v) {
            return f.operands(v).fold(Base::None, |base, operand| base.join(self.base(operand)));
        }
        if let Some(whole) = copied_whole(f, v) {
            return Base::Local(whole);
        }
        if let Some(group) = self.tape.as_ref().and_then(|tape| tape.part(f, v)) {
            return Base::Part(group);
        }
        if let Some(summary) = callee_summary(f, v, self.summaries) {
            return match summary.returns {
                Returns::Never | Returns::Plain => Base::None,
                Returns::Fresh => Base::Fresh(v),
                Returns::Param(i) => {
                    f.operand(v, i as usize + 1).map_or(Base::Unknown, |arg| self.base(arg))
                }
                Returns::Unknown => Base::Unknown,
            };
        }
        if def.effects.allocates && !def.effects.opaque { Base::Fresh(v) } else { Base::Unknown }
    }

    /// Lets a parameter be what is passed for it, too. Returns whether that is news.
    fn pass(&mut self, param: Value, arg: Operand) -> bool {
        if !may_be_object(self.f.ctx(), self.f.ty(param)) {
            return false;
        }
        let old = self.bases[param.index()];
        let new = old.join(self.base(arg));
        self.bases[param.index()] = new;
        new != old
    }

    /// Looks again at what uses a value whose base has changed.
    fn revisit(&mut self, at: Use) {
        let f = self.f;
        let Some(source) = at.user.terminated_block() else {
            if may_be_object(f.ctx(), f.ty(at.user)) {
                let new = self.base_of(at.user);
                if std::mem::replace(&mut self.bases[at.user.index()], new) != new {
                    self.changed.push(at.user);
                }
            }
            return;
        };
        if !self.cfg.is_reachable(source) {
            return;
        }
        // The edge that this is an argument of starts at the last target before it.
        if let Some(param) = f.parameter_passed(at)
            && let Some(arg) = f.operand(at.user, at.index as usize)
            && self.pass(param, arg)
        {
            self.changed.push(param);
        }
    }

    fn escapes(self, groups: ValueGroups) -> Aliases {
        let f = self.f;
        let params = f.entry().map_or(0, |entry| f.param_count(entry));
        let capacity = if self.objects.is_empty() { 0 } else { f.value_capacity() };
        let mut escaped = vec![false; capacity];
        let mut visible = vec![false; capacity];
        let mut escaped_params = vec![false; params];
        // `into` is the base of the value that the object becomes; none if it is only returned.
        let mut lose = |base: Base, into: Base| match base {
            Base::Fresh(v) | Base::Local(v) => {
                escaped[v.index()] = true;
                if !matches!(into, Base::None | Base::Local(_)) {
                    visible[groups.of(v).index()] = true;
                }
            }
            Base::Param(i) => escaped_params[i as usize] = true,
            Base::None | Base::Part(_) | Base::Unknown => {}
        };
        for &v in &self.objects {
            let base = self.bases[v.index()];
            if !matches!(base, Base::Fresh(_) | Base::Local(_) | Base::Param(_)) {
                continue;
            }
            if self.may_hold_itself(v) {
                lose(base, Base::Unknown);
            }
            for at in f.uses(v) {
                let block = at.user.terminated_block();
                if !self.cfg.is_reachable(block.unwrap_or_else(|| f.block_of(at.user))) {
                    continue;
                }
                if block.is_none() {
                    if self.lets_escape(at.user, at.index as usize, base) {
                        lose(base, self.becomes(at.user));
                    }
                } else if let Some(param) = f.parameter_passed(at) {
                    let is_object = may_be_object(f.ctx(), f.ty(param));
                    let into = if is_object { self.bases[param.index()] } else { Base::Unknown };
                    if base != into {
                        lose(base, into);
                    }
                }
            }
        }
        let first = |attr| {
            let number = f.ctx().attr(f.function_attrs(), attr).map(|c| f.ctx().constant(c));
            let number = number.and_then(Constant::as_int);
            number.and_then(|n| u32::try_from(n - 1).ok()).unwrap_or(u32::MAX)
        };
        let first_distinct = first("distinct");
        Aliases {
            bases: self.bases,
            escaped,
            visible,
            groups,
            escaped_params,
            first_noalias: first("noalias").min(first_distinct),
            first_distinct,
        }
    }

    /// The base of the value that an object becomes as an operand of `v`: of a tuple or struct that is only
    /// returned, none.
    fn becomes(&self, v: Value) -> Base {
        let f = self.f;
        if passes_on(f, v) {
            return self.bases[v.index()];
        }
        if self.is_only_returned(v, MAX_NESTING) { Base::None } else { Base::Unknown }
    }

    /// Returns whether `v` is a tuple or struct that is only returned, by itself or in another one.
    fn is_only_returned(&self, v: Value, nesting: u32) -> bool {
        let f = self.f;
        let is_returned = |at: Use| match f.op_def(at.user) {
            Some(def) if at.user.is_terminator() => def.traits.contains(Traits::RETURN),
            _ => nesting > 0 && self.is_only_returned(at.user, nesting - 1),
        };
        matches!(f.op(v), Some(core::TUPLE | data::NEW)) && f.uses(v).all(is_returned)
    }

    /// Returns whether `v` makes an object that others, or itself, may hold from the start: a copy
    /// in depth of what is part of a cycle does.
    fn may_hold_itself(&self, v: Value) -> bool {
        let deep = self.f.op_def(v).is_some_and(|def| {
            let effects = def.effects;
            effects.allocates && effects.deep && !effects.opaque
        });
        deep && parts_may_reach_others(self.f.ctx(), self.f.ty(v))
    }

    /// Returns whether the operand at `position` of the instruction `v`, which has this base, may
    /// become known to others by it.
    fn lets_escape(&self, v: Value, position: usize, base: Base) -> bool {
        let f = self.f;
        // Of a tuple, the parts are known; whatever else is done with it may make them known to others.
        if f.operand(v, position).is_some_and(|x| !may_be_object(f.ctx(), f.operand_type(x))) {
            return copied_whole(f, v).is_none();
        }
        if passes_on(f, v) {
            return self.bases[v.index()] != base;
        }
        let Some(def) = f.op_def(v) else { return true };
        if let Some(summary) = callee_summary(f, v, self.summaries) {
            return summary.params.get(position.wrapping_sub(1)).is_none_or(|p| p.escapes);
        }
        let effects = def.effects;
        if effects.opaque || def.traits.contains(Traits::CALL) {
            return true;
        }
        let sets = [effects.reads, effects.writes, effects.reads_shape, effects.writes_shape];
        if sets.iter().any(|set| set.contains(position)) {
            // It is worked on; what is put into it stands at another position.
            return false;
        }
        let stores = !effects.writes.is_empty() || !effects.writes_shape.is_empty();
        stores || may_reach_objects(f.ctx(), f.ty(v))
    }
}

/// The greatest number of tuples around one that is only returned.
const MAX_NESTING: u32 = 4;

/// The copy in depth, or zero tangent, of a tuple that `v` is, or is a part of. O(depth).
fn copied_whole(f: &Function, mut v: Value) -> Option<Value> {
    let is_part = f.op(v) == Some(core::GET);
    while f.op(v) == Some(core::GET) {
        v = f.operand(v, 0)?.as_value()?;
    }
    let is_whole = matches!(f.op(v), Some(ad::ZERO | ad::COPY))
        && f.ty(v) != Type::ANY
        && (is_part || !may_be_object(f.ctx(), f.ty(v)));
    is_whole.then_some(v)
}

/// Returns whether an object of this type, or in a tuple of it, may reach others.
fn parts_may_reach_others(ctx: &Context, ty: Type) -> bool {
    match ctx.kind(ty) {
        TypeKind::Tuple(parts) => parts.iter().any(|&part| parts_may_reach_others(ctx, part)),
        _ => may_reach_others(ctx, ty),
    }
}

/// Returns whether the result of an instruction is one of its operands.
fn passes_on(f: &Function, v: Value) -> bool {
    matches!(f.op(v), Some(core::SELECT | core::TYPEASSERT | core::CONVERT | ad::IGNORE))
        && matches!(f.def(v), ValueDef::Inst(_))
}
