//! The variables of a listing: which of its names are parameters.
//!
//! A listing names the parameters, or numbers them (`_2` is the first), but for those of IRTools it
//! does not list them. Names that are read before anything is assigned to them are parameters, in
//! the order in which they are read first.

use regraft_ir::Symbol;
use rustc_hash::{FxHashMap, FxHashSet};

use super::tidy::Tidy;
use crate::julia::{ExprId, Kind, List};

/// The names that a listing uses.
#[derive(Debug, Default)]
pub(super) struct Used {
    /// Names that are read before they are assigned, in order.
    pub(super) unassigned: Vec<Symbol>,
    /// The greatest number of a slot that is read before it is assigned; 1 is the callee.
    pub(super) slots: usize,
    /// Tells whether slots have numbers, and the callee one.
    pub(super) is_numbered: bool,
    /// Names under which the method itself is used.
    pub(super) callee: Vec<Symbol>,
    /// The names that are read, and how often.
    names: FxHashMap<Symbol, usize>,
    assigned: FxHashSet<Symbol>,
}

/// Names of Julia that listings have without their module: values and types.
const OF_JULIA: [&str; 43] = [
    "nothing",
    "missing",
    "NaN",
    "Inf",
    "NaN32",
    "Inf32",
    "Any",
    "Nothing",
    "Missing",
    "Bool",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "Int",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
    "UInt",
    "Float16",
    "Float32",
    "Float64",
    "Char",
    "String",
    "Symbol",
    "Number",
    "Real",
    "Integer",
    "AbstractFloat",
    "Array",
    "Vector",
    "Matrix",
    "AbstractArray",
    "Tuple",
    "NamedTuple",
    "Type",
    "DataType",
    "Union",
    "Function",
    "Val",
    "Ref",
    "typeof",
];

/// The number of a slot: of `_2`.
pub(super) fn slot_number(name: &str) -> Option<usize> {
    let digits = name.strip_prefix('_')?;
    (digits.len() < 6 && digits.bytes().all(|b| b.is_ascii_digit())).then(|| digits.parse().ok())?
}

impl Used {
    pub(super) fn assign(&mut self, name: Symbol) {
        self.assigned.insert(name);
    }

    /// Returns whether a name is read.
    pub(super) fn reads(&self, name: Symbol) -> bool {
        self.names.contains_key(&name)
    }

    /// Returns how often a name is read.
    pub(super) fn reads_of(&self, name: Symbol) -> usize {
        self.names.get(&name).copied().unwrap_or(0)
    }

    /// Returns whether anything is assigned to a name.
    pub(super) fn is_assigned(&self, name: Symbol) -> bool {
        self.assigned.contains(&name)
    }

    fn name(&mut self, tidy: &Tidy<'_>, name: Symbol) {
        let text = tidy.ctx.str(name);
        let reads = self.names.entry(name).or_default();
        *reads += 1;
        let is_static = tidy.statics.contains(&name);
        if *reads > 1 || is_static || self.assigned.contains(&name) || OF_JULIA.contains(&text) {
            return;
        }
        let slot = slot_number(text);
        self.is_numbered |= slot.is_some();
        if text == "#self#" || slot == Some(1) {
            self.callee.push(name);
        } else if let Some(number) = slot {
            self.slots = self.slots.max(number);
        } else if text.starts_with(|c: char| c.is_alphabetic() || c == '_') || text.contains("@_") {
            self.unassigned.push(name);
        }
    }

    /// Notes the names that an expression reads.
    pub(super) fn read(&mut self, tidy: &Tidy<'_>, id: ExprId) {
        match tidy.ast.kind(id) {
            Kind::Name(name) => self.name(tidy, name),
            Kind::Call { callee, args } => {
                // A name that is called as it stands is a global one.
                let span = tidy.ast.span(callee).range();
                let text = tidy.ast.source.text.as_bytes();
                let bracketed = text.get(span.start) == Some(&b'(')
                    || (span.start > 0
                        && text[span.start - 1] == b'('
                        && text.get(span.end) == Some(&b')'));
                let name = tidy.name_of(callee);
                let is_variable =
                    name.is_some_and(|name| name.starts_with(['%', '_', '#']) && name != "#new");
                if name.is_none() || bracketed || is_variable {
                    self.read(tidy, callee);
                }
                self.list(tidy, args);
            }
            Kind::Typed { value: Some(value), .. } | Kind::Splat(value) => self.read(tidy, value),
            Kind::Index { base, indices } => {
                self.read(tidy, base);
                self.list(tidy, indices);
            }
            Kind::Tuple(list) | Kind::Vector(list) => self.list(tidy, list),
            Kind::NamedTuple(list) => {
                for &item in tidy.ast.list(list) {
                    match tidy.ast.kind(item) {
                        Kind::Assign { value, .. } => self.read(tidy, value),
                        _ => self.read(tidy, item),
                    }
                }
            }
            // Types and modules: what is no global name there is a value.
            Kind::Curly { base, params } => {
                self.values(tidy, base);
                for &param in tidy.ast.list(params) {
                    self.values(tidy, param);
                }
            }
            Kind::Field { base, .. } => self.values(tidy, base),
            _ => {}
        }
    }

    /// Notes the values and slots among what else is global.
    fn values(&mut self, tidy: &Tidy<'_>, id: ExprId) {
        match tidy.ast.kind(id) {
            Kind::Name(name) if !tidy.ctx.str(name).starts_with(['%', '@', '_']) => {}
            _ => self.read(tidy, id),
        }
    }

    fn list(&mut self, tidy: &Tidy<'_>, list: List) {
        for &id in tidy.ast.list(list) {
            self.read(tidy, id);
        }
    }
}
