//! The target of a call of a value, and what it depends on.

use regraft_ir::{Context, Symbol, Type, TypeKind};
use smallvec::SmallVec;

use crate::error::Trap;
use crate::host::Host;
use crate::value::Val;

/// Callee and arguments of a call of a value, or only the latter.
pub(super) type Args = SmallVec<[Val; 8]>;

/// The function that a call of a value runs, and how it takes the arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(super) slot: u32,
    /// Arguments from here on are packed into one tuple.
    pub(super) fixed: Option<usize>,
    pub(super) pass_callee: bool,
    /// True if it is for these very arguments.
    pub(super) by_value: bool,
}

/// The key of an answer of the call resolver.
#[derive(PartialEq, Eq, Hash, Debug)]
pub(crate) struct LinkKey {
    pub(super) callee: Callee,
    pub(super) args: SmallVec<[Type; 6]>,
}

impl Link {
    /// The arguments in the order and form in which the function takes them.
    pub(super) fn arrange(self, host: &Host, callee: &Val, args: &[Val]) -> Result<Args, Trap> {
        let mut out = Args::new();
        if self.pass_callee {
            out.push(callee.clone());
        }
        match self.fixed.and_then(|fixed| args.split_at_checked(fixed)) {
            None => out.extend(args.iter().cloned()),
            Some((fixed, rest)) => {
                host.reserve(size_of_val(rest))?;
                out.extend(fixed.iter().cloned());
                out.push(Val::tuple(rest.iter().cloned()));
            }
        }
        Ok(out)
    }

    pub(super) fn slot(self) -> u32 {
        self.slot
    }

    /// Returns whether a call site may remember it.
    pub(super) fn is_for_types(self) -> bool {
        !self.by_value
    }
}

/// The callee, as far as the answer depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Callee {
    Func(Symbol),
    Type(Type),
    /// Any value of that type.
    Of(Type),
}

impl Callee {
    #[inline]
    pub(super) fn of(ctx: &Context, callee: &Val) -> Self {
        match callee {
            &Val::Func(name) => Self::Func(name),
            &Val::Type(ty) => Self::Type(ty),
            Val::Struct(fields) => Self::Of(fields.ty()),
            Val::Object(object) => Self::Of(object.ty()),
            other => Self::Of(other.type_of(ctx)),
        }
    }
}

/// Returns whether all values that are of this type have exactly this type: tuples that are too
/// large to be written down have types with `any` in them.
pub(super) fn says_all(ctx: &Context, ty: Type) -> bool {
    let mut work = vec![ty];
    while let Some(ty) = work.pop() {
        match ctx.kind(ty) {
            _ if ty == Type::ANY => return false,
            TypeKind::Tuple(parts) => work.extend(parts.iter().copied()),
            TypeKind::Named(parts) => work.extend(parts.iter().map(|&(_, ty)| ty)),
            _ => {}
        }
    }
    true
}
