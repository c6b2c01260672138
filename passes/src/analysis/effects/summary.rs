//! Summaries of the effects of calls, as far as a caller has to know.

use std::sync::{Arc, LazyLock};

use regraft_ir::{Constant, Function, Symbol, Type};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

bitflags::bitflags! {
    /// The accesses to the parts of an object.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Access: u8 {
        /// Its elements, its fields or what it holds are read.
        const READS_CONTENTS = 1;
        /// They are written.
        const WRITES_CONTENTS = 2;
        /// Its number of elements or its dimensions are read, be it to check an index.
        const READS_SHAPE = 4;
        /// They are changed.
        const WRITES_SHAPE = 8;
        /// Both parts are read.
        const READS = 1 | 4;
        /// Both parts are written.
        const WRITES = 2 | 8;
    }
}

impl Access {
    /// Returns whether one writes what the other reads or writes, so that they cannot change
    /// places.
    pub(crate) fn conflicts_with(self, other: Self) -> bool {
        const fn written(access: Access) -> u8 {
            (access.bits() & Access::WRITES.bits()) >> 1
        }
        let touched = |access: Access| access.bits() | written(access);
        written(self) & touched(other) != 0 || written(other) & touched(self) != 0
    }

    fn describe(self, out: &mut Vec<String>, of: &str) {
        for (verb, flag) in [("reads", 1), ("writes", 2)] {
            let (contents, shape) = (self.bits() & flag != 0, self.bits() & (flag << 2) != 0);
            match (contents, shape) {
                (true, true) => out.push(format!("{verb} {of}")),
                (true, false) => out.push(format!("{verb} the contents of {of}")),
                (false, true) => out.push(format!("{verb} the shape of {of}")),
                (false, false) => {}
            }
        }
    }
}

/// The effects of a function on the object that it is given for a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ParamEffects {
    /// The accesses to the object itself. What can be reached from it counts as elsewhere.
    pub access: Access,
    /// True if it may be reached by others after the call: it is put into another object, say. That
    /// it is returned does not count.
    pub escapes: bool,
}

/// The object that a function returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Returns {
    /// It never returns.
    #[default]
    Never,
    /// The result is no object, and holds none.
    Plain,
    /// A new object, which nothing else can be reached by.
    Fresh,
    /// The object that it was given for this parameter.
    Param(u32),
    /// It may be any object, or hold some.
    Unknown,
}

impl Returns {
    /// Returns what is true of both.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Never, x) | (x, Self::Never) => x,
            (a, b) if a == b => a,
            _ => Self::Unknown,
        }
    }
}

/// The effects that a call of a function may have. It is an upper bound: passes may make a function
/// do less and never make it do more, so that a summary stays right while they run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EffectSummary {
    /// The effects on each parameter.
    pub params: SmallVec<[ParamEffects; 4]>,
    /// The types of its parameters.
    pub param_types: SmallVec<[Type; 4]>,
    /// The type of what it returns.
    pub ret: Type,
    /// The accesses to objects that are no parameters: what is reached from one, say. It may
    /// happen to all that the caller does not have to itself.
    pub elsewhere: Access,
    /// True if it makes objects that are there after the call.
    pub allocates: bool,
    /// True if it prints, or does something else that can be observed when it happens.
    pub observable: bool,
    /// True if it may stop the program with an error.
    pub may_trap: bool,
    /// True if it may run on for ever.
    pub may_not_end: bool,
    /// The object that it returns.
    pub returns: Returns,
    /// True if nobody writes to the objects that it returns, or compares them, as its attribute `shareable` says.
    pub shareable: bool,
    /// True if nothing at all is known of it.
    pub opaque: bool,
}

impl EffectSummary {
    /// Returns that of a function of which nothing is known.
    pub fn opaque() -> Self {
        Self {
            params: SmallVec::new(),
            param_types: SmallVec::new(),
            ret: Type::ANY,
            elsewhere: Access::all(),
            allocates: true,
            observable: true,
            may_trap: true,
            may_not_end: true,
            returns: Returns::Unknown,
            shareable: false,
            opaque: true,
        }
    }

    /// Returns that of `f` before anything of its body was looked at: nothing.
    pub(super) fn none(f: &Function) -> Self {
        let param_types: SmallVec<[Type; 4]> = f.param_types().into();
        Self {
            params: smallvec::smallvec![ParamEffects::default(); param_types.len()],
            param_types,
            ret: f.ret_type(),
            elsewhere: Access::empty(),
            allocates: false,
            observable: false,
            may_trap: false,
            may_not_end: false,
            returns: Returns::Never,
            shareable: f.ctx().attr(f.function_attrs(), "shareable").map(|c| f.ctx().constant(c))
                == Some(Constant::Bool(true)),
            opaque: false,
        }
    }

    /// Allows all that `other` allows, too: a summary of the same function.
    pub(super) fn take_in(&mut self, other: &Self) {
        for (mine, theirs) in self.params.iter_mut().zip(&other.params) {
            mine.access |= theirs.access;
            mine.escapes |= theirs.escapes;
        }
        self.elsewhere |= other.elsewhere;
        self.allocates |= other.allocates;
        self.observable |= other.observable;
        self.may_trap |= other.may_trap;
        self.may_not_end |= other.may_not_end;
        self.opaque |= other.opaque;
        self.returns = self.returns.join(other.returns);
    }

    /// Returns whether it writes objects of its caller.
    pub fn writes_anything(&self) -> bool {
        let params = self.params.iter().map(|p| p.access);
        let all = params.fold(self.elsewhere, |all, access| all | access);
        self.opaque || all.intersects(Access::WRITES)
    }

    /// Returns whether a call does nothing but compute its result (from its arguments and what
    /// memory holds), ends, and does not trap: if the result is not used, it can go.
    pub fn is_removable(&self) -> bool {
        !self.writes_anything() && !self.observable && !self.may_trap && !self.may_not_end
    }

    /// Returns whether two calls that find the same in memory give the same: it writes nothing,
    /// prints nothing, and what it returns has no identity of its own.
    pub(crate) fn is_repeatable(&self) -> bool {
        let returns_same =
            matches!(self.returns, Returns::Never | Returns::Plain | Returns::Param(_));
        !self.writes_anything()
            && !self.observable
            && !self.params.iter().any(|p| p.escapes)
            && (returns_same || self.shareable)
    }

    /// In words, with the parameters named as in `f`.
    pub(crate) fn describe(&self, f: &Function) -> String {
        let mut facts: Vec<String> = Vec::new();
        let names: Vec<String> = f
            .entry()
            .map(|entry| f.params(entry).map(|v| f.value_text(v)).collect())
            .unwrap_or_default();
        if self.opaque {
            facts.push("may do anything".to_owned());
        } else {
            for (param, name) in self.params.iter().zip(&names) {
                param.access.describe(&mut facts, name);
                if param.escapes {
                    facts.push(format!("lets {name} escape"));
                }
            }
            self.elsewhere.describe(&mut facts, "other objects");
            let flags = [
                (self.allocates, "allocates"),
                (self.observable, "can be observed"),
                (self.may_trap, "may trap"),
                (self.may_not_end, "may not end"),
                (self.shareable, "may be shared"),
            ];
            facts.extend(flags.iter().filter(|flag| flag.0).map(|flag| flag.1.to_owned()));
            match self.returns {
                Returns::Never => facts.push("never returns".to_owned()),
                Returns::Plain => {}
                Returns::Fresh => facts.push("returns a new object".to_owned()),
                Returns::Param(i) => {
                    let name = names.get(i as usize).map_or("?", String::as_str);
                    facts.push(format!("returns {name}"));
                }
                Returns::Unknown => facts.push("returns any object".to_owned()),
            }
        }
        if facts.is_empty() {
            facts.push("no effect".to_owned());
        }
        facts.join("; ") + "\n"
    }
}

static OPAQUE: LazyLock<EffectSummary> = LazyLock::new(EffectSummary::opaque);

/// The summaries of the functions of a module. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EffectSummaries {
    by_name: Arc<FxHashMap<Symbol, EffectSummary>>,
}

impl EffectSummaries {
    /// Of no function is anything known.
    pub(crate) fn unknown() -> Self {
        Self::default()
    }

    /// Returns what a call of the function of that name may do: anything, if nothing is known of
    /// it.
    pub fn of(&self, name: Symbol) -> &EffectSummary {
        self.by_name.get(&name).unwrap_or(&OPAQUE)
    }

    /// Returns whether one was cloned from the other and neither has changed since. O(1).
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.by_name, &other.by_name)
    }

    /// Gives the summary of a function.
    pub(super) fn set(&mut self, name: Symbol, summary: EffectSummary) {
        Arc::make_mut(&mut self.by_name).insert(name, summary);
    }
}
