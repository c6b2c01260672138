//! Checks an instruction against the signature of its op, and finds the type of its result.

use smallvec::SmallVec;

use crate::op::pattern_text;
use crate::types::TypeSize;
use crate::{
    InstView, Op, OpDef, Registry, ResultType, Traits, Type, TypeClass, TypeKind, TypePattern,
};

impl InstView<'_> {
    /// The type of its result, by the signature of its op; of a declared one, [`InstView::ty`].
    /// This is what making the instruction asks, for those who infer types before there is one.
    ///
    /// # Errors
    /// If its operands or attributes do not fit: a sentence without a full stop.
    pub fn result_type(&self) -> Result<Type, String> {
        result_type(self)
    }
}

/// The most type variables that a signature can have.
const MAX_VARS: usize = 4;

/// The types that the type variables of a signature stand for in one instruction.
struct Bindings {
    types: [Type; MAX_VARS],
    bound: u8,
    /// Variables of which an occurrence was `any`: the check is left to the running program.
    dynamic: u8,
}

impl Bindings {
    /// Binds or compares; on a mismatch, returns what the variable stands for already.
    #[inline]
    fn bind(&mut self, var: u8, ty: Type) -> Result<(), Type> {
        let bit = 1 << var;
        if ty == Type::ANY {
            self.dynamic |= bit;
        } else if self.bound & bit == 0 {
            self.bound |= bit;
            self.types[usize::from(var)] = ty;
        } else if self.types[usize::from(var)] != ty {
            return Err(self.types[usize::from(var)]);
        }
        Ok(())
    }

    #[inline]
    fn get(&self, var: u8) -> Type {
        let bit = 1 << var;
        if self.dynamic & bit == 0 && self.bound & bit != 0 {
            self.types[usize::from(var)]
        } else {
            Type::ANY
        }
    }
}

/// The type of the result of an instruction, or what is wrong with its operands.
///
/// For a result that is declared, it is the declared type (`view.ty`).
pub(crate) fn result_type(view: &InstView<'_>) -> Result<Type, String> {
    let def = view.def;
    let plain = match view.operands.iter().position(|operand| operand.is_block()) {
        Some(_) if !def.traits.contains(Traits::TERMINATOR) => {
            return Err(format!("`{}` cannot branch to a block", def.mnemonic()));
        }
        Some(first) => first,
        None => view.operands.len(),
    };
    let fixed = def.operands.len() - usize::from(def.variadic);
    if plain < fixed || (plain > fixed && !def.variadic) {
        return Err(arity_error(def, plain));
    }
    let mut vars = Bindings { types: [Type::ANY; MAX_VARS], bound: 0, dynamic: 0 };
    for (i, &ty) in view.types[..plain].iter().enumerate() {
        let spec = &def.operands[i.min(def.operands.len() - 1)];
        let fits = match spec.pattern {
            TypePattern::Is(want) => ty == want || ty == Type::ANY,
            TypePattern::Var(var) => {
                if !def.type_vars[usize::from(var)].contains(ty) {
                    return Err(class_error(view, i, var));
                }
                if let Err(other) = vars.bind(var, ty) {
                    return Err(conflict_error(view, other, ty));
                }
                true
            }
            TypePattern::ArrayOf(var) | TypePattern::RefOf(var) => {
                match (spec.pattern, view.ctx.kind(ty)) {
                    (TypePattern::ArrayOf(_), &TypeKind::Array { element, .. })
                    | (TypePattern::RefOf(_), &TypeKind::Ref(element)) => {
                        def.type_vars[usize::from(var)].contains(element)
                            && vars.bind(var, element).is_ok()
                    }
                    _ => ty == Type::ANY,
                }
            }
            TypePattern::Anything => true,
        };
        if !fits {
            return Err(operand_error(view, i));
        }
    }
    if !view.attrs.is_empty() || def.attrs.iter().any(|attr| attr.required) {
        check_attrs(view)?;
    }
    let ty = match def.result {
        ResultType::Is(ty) => ty,
        ResultType::Var(var) => vars.get(var),
        ResultType::RefOf(var) => view.ctx.ref_type(vars.get(var)),
        ResultType::Declared => view.ty,
        ResultType::Computed(compute) => compute(view)?,
    };
    if let Some(verify) = def.verify {
        verify(view)?;
    }
    if ty.index() >= Type::BUILTIN.len() && !matches!(def.result, ResultType::Declared) {
        check_size(view, ty)?;
    }
    Ok(ty)
}

/// Refuses results whose type is made of those of the operands and too large: as parts are
/// shared, a few instructions could make one that nobody can write down.
fn check_size(view: &InstView<'_>, ty: Type) -> Result<(), String> {
    let size = view.ctx.type_size(ty);
    let grows = || view.types.iter().all(|&part| size.exceeds(view.ctx.type_size(part)));
    if size.exceeds(TypeSize::MAX_INFERRED) && grows() {
        return Err(format!("the type of the result of `{}` is too large", view.def.mnemonic()));
    }
    Ok(())
}

fn check_attrs(view: &InstView<'_>) -> Result<(), String> {
    let (ctx, def) = (view.ctx, view.def);
    let Some(entries) = ctx.try_attr_entries(view.attrs) else {
        return Err(format!("the attributes of `{}` are of another context", def.mnemonic()));
    };
    for &(name, value) in entries {
        let name = ctx.str(name);
        let Some(attr) = def.attrs.iter().find(|attr| attr.name == name) else {
            let names = def.attrs.iter().map(|attr| attr.name);
            let hint = crate::suggest(name, names)
                .map_or(String::new(), |s| format!(", did you mean `{s}`?"));
            return Err(format!("`{}` has no attribute `{name}`{hint}", def.mnemonic()));
        };
        let have = ctx.constant_type(value);
        if let TypePattern::Is(want) = attr.pattern
            && have != want
        {
            let (have, want) = (ctx.type_text(have), ctx.type_text(want));
            return Err(format!(
                "attribute `{name}` of `{}` is of type {have}, expected {want}",
                def.mnemonic()
            ));
        }
    }
    for attr in def.attrs.iter().filter(|attr| attr.required) {
        if ctx.attr(view.attrs, attr.name).is_none() {
            return Err(format!("`{}` needs the attribute `{}`", def.mnemonic(), attr.name));
        }
    }
    Ok(())
}

#[cold]
fn arity_error(def: &OpDef, have: usize) -> String {
    let want = def.operands.len() - usize::from(def.variadic);
    let least = if def.variadic { "at least " } else { "" };
    let plural = if want == 1 { "" } else { "s" };
    format!("`{}` takes {least}{want} operand{plural}, found {have}", def.mnemonic())
}

#[cold]
fn class_error(view: &InstView<'_>, index: usize, var: u8) -> String {
    unexpected(view, index, view.def.type_vars[usize::from(var)].describe())
}

#[cold]
fn unexpected(view: &InstView<'_>, index: usize, want: &str) -> String {
    let spec = view.def.operands[index.min(view.def.operands.len() - 1)];
    let (have, op) = (view.ctx.type_text(view.types[index]), view.def.mnemonic());
    format!("operand `{}` of `{op}` is of type {have}, expected {want}", spec.name)
}

#[cold]
fn conflict_error(view: &InstView<'_>, first: Type, second: Type) -> String {
    let (first, second) = (view.ctx.type_text(first), view.ctx.type_text(second));
    format!("operands of `{}` are of different types, {first} and {second}", view.def.mnemonic())
}

#[cold]
fn operand_error(view: &InstView<'_>, index: usize) -> String {
    let spec = view.def.operands[index.min(view.def.operands.len() - 1)];
    let want = match spec.pattern {
        TypePattern::ArrayOf(var) | TypePattern::RefOf(var) => {
            let kind =
                if matches!(spec.pattern, TypePattern::ArrayOf(_)) { "an array" } else { "a ref" };
            let mut vars = Bindings { types: [Type::ANY; MAX_VARS], bound: 0, dynamic: 0 };
            let earlier = view.def.operands.iter().zip(view.types).take(index);
            for (spec, &ty) in earlier {
                if spec.pattern == TypePattern::Var(var) {
                    let _ = vars.bind(var, ty);
                }
            }
            match vars.get(var) {
                Type::ANY => match view.def.type_vars[usize::from(var)] {
                    TypeClass::Any => kind.to_owned(),
                    class => format!("{kind} of {}", class.describe()),
                },
                element => format!("{kind} of {}", view.ctx.type_text(element)),
            }
        }
        pattern => pattern_text(pattern),
    };
    unexpected(view, index, &want)
}

/// The signature of an op that takes two operands of one builtin type and asks nothing else, in a
/// word: most instructions are of such an op, and looking through its declaration would take
/// longer than making the instruction. 0 for every other op.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainBinary(u32);

impl PlainBinary {
    const NONE: Self = Self(0);
    /// In place of the id of a result type: that of the operands.
    const SAME: u32 = 0xffff;

    pub(crate) fn of(def: &OpDef) -> Self {
        let var = TypePattern::Var(0);
        let takes_two = matches!(def.operands, [x, y] if x.pattern == var && y.pattern == var);
        let asks_more = def.verify.is_some()
            || !def.attrs.is_empty()
            || def.variadic
            || def.traits.contains(Traits::TERMINATOR);
        if !takes_two || asks_more {
            return Self::NONE;
        }
        let result = match def.result {
            ResultType::Var(0) => Self::SAME,
            ResultType::Is(ty) => ty.0,
            _ => return Self::NONE,
        };
        let types = Type::BUILTIN.iter().filter(|(ty, _)| *ty != Type::ANY);
        let accepted = types.filter(|(ty, _)| def.type_vars[0].contains(*ty));
        Self(accepted.fold(result << 16, |mask, (ty, _)| mask | 1 << ty.0))
    }

    /// Returns whether the signature has to be looked at in full, whatever the operands are.
    #[inline]
    pub(crate) fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The type of the result for operands of type `ty`; `None` if the signature has to be
    /// looked at in full.
    #[inline]
    pub(crate) fn result(self, ty: Type) -> Option<Type> {
        if ty.0 >= 16 || self.0 >> ty.0 & 1 == 0 {
            return None;
        }
        let result = self.0 >> 16;
        Some(if result == Self::SAME { ty } else { Type(result) })
    }
}

/// The [`PlainBinary`] of every op of a registry.
#[derive(Debug)]
pub(crate) struct PlainBinaries {
    /// The index at which the ops of each dialect start.
    starts: [u32; 64],
    ops: Vec<PlainBinary>,
}

impl PlainBinaries {
    pub(crate) fn of(registry: &Registry) -> Self {
        // A dialect that is not registered starts beyond the end: its ops have no entry.
        let mut table = Self { starts: [u32::MAX; 64], ops: Vec::new() };
        for dialect in registry.dialects() {
            table.starts[usize::from(dialect.number)] = table.ops.len() as u32;
            table.ops.extend(dialect.ops.iter().map(PlainBinary::of));
        }
        table
    }

    /// The entry of `op`, which has to be of the registry.
    #[inline]
    pub(crate) fn get(&self, op: Op) -> PlainBinary {
        let start = self.starts[usize::from(op.dialect() & 63)];
        let index = start as usize + usize::from(op.index());
        self.ops.get(index).copied().unwrap_or(PlainBinary::NONE)
    }
}

/// Inline room for the operand types of one instruction.
pub(crate) type Types = SmallVec<[Type; 8]>;
