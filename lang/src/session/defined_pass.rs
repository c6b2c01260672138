//! A pass that a program has defined: its name, and its options with their defaults.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use regraft_exec::value::Val;
use regraft_ir::{Context, Symbol, TypeKind};
use regraft_passes::{OptionDef, PassRegistry};

/// A pass, as the program has defined it.
#[derive(Clone, Debug)]
pub(super) struct DefinedPass {
    pub(super) name: &'static str,
    pub(super) doc: &'static str,
    pub(super) function: &'static str,
    /// The names of the options in the program, and their defaults.
    pub(super) options: Vec<(&'static str, OptionDef, DefaultKind)>,
    /// `passes.jl:3`
    pub(super) place: &'static str,
}

/// The type of the default of an option, where settings do not tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DefaultKind {
    Symbol,
    Other,
}

impl DefinedPass {
    /// The pass of that name that a function is, with the defaults of its options.
    ///
    /// # Errors
    /// If a name is none of a pass or option, or the default of an option none of a setting.
    pub(super) fn new(
        ctx: &Context,
        (name, function): (Symbol, Symbol),
        defaults: &Val,
        place: &str,
    ) -> Result<Self, String> {
        let own = ctx.str(name).to_owned();
        let name = own.replace('_', "-");
        let registry: &PassRegistry = ctx.extensions().get();
        if registry.find(&name).is_some() && !registry.is_defined(&name) {
            return Err(format!("there is a pass `{name}` already"));
        }
        if !is_name(&name) {
            return Err(format!(
                "`{own}` cannot be the name of a pass: it takes lower-case letters, digits and `_`"
            ));
        }
        let mut options = Vec::new();
        if let Val::Named(fields) = defaults {
            let names = match ctx.kind(fields.ty()) {
                TypeKind::Named(fields) => fields.iter().map(|&(name, _)| name).collect(),
                _ => Vec::new(),
            };
            for (option, value) in names.into_iter().zip(fields.items()) {
                let option = ctx.str(option);
                let dashed = kept_text(&option.replace('_', "-"));
                if !is_name(dashed) {
                    return Err(format!(
                        "`{option}` cannot be an option of a pass: it takes lower-case letters, digits and `_`"
                    ));
                }
                let (def, kind) = match value {
                    Val::Bool(x) => (OptionDef::flag(dashed, *x, ""), DefaultKind::Other),
                    Val::I64(x) => (
                        OptionDef::int(dashed, *x, "").between(i64::MIN, i64::MAX),
                        DefaultKind::Other,
                    ),
                    Val::F64(x) => (OptionDef::float(dashed, *x, ""), DefaultKind::Other),
                    Val::Str(x) => {
                        (OptionDef::text(dashed, kept_text(x.as_str()), ""), DefaultKind::Other)
                    }
                    Val::Sym(x) => {
                        (OptionDef::text(dashed, kept_text(ctx.str(*x)), ""), DefaultKind::Symbol)
                    }
                    _ => {
                        return Err(format!(
                            "the default of the option `{option}` is no number, text, symbol or truth value"
                        ));
                    }
                };
                options.push((kept_text(option), def, kind));
            }
        }
        Ok(Self {
            name: kept_text(&name),
            doc: kept_text(&format!("Runs `{own}` of the program, which is defined at {place}.")),
            function: kept_text(ctx.str(function)),
            options,
            place: kept_text(place),
        })
    }
}

/// Returns whether a text can name a pass or an option in a pipeline.
fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.split('-').all(|word| !word.is_empty() && word.chars().all(is_letter))
}

/// A text that stays, as the names of passes do. There is one of each.
fn kept_text(text: &str) -> &'static str {
    static TEXTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(text) = texts.get(text) {
        return text;
    }
    let text: &'static str = Box::leak(Box::from(text));
    texts.insert(text);
    text
}
