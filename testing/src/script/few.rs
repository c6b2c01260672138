//! Values of one of a few types: lists that end in `nothing`, and numbers that are an integer or a float.

use super::{Ty, Writer};

/// The definitions of scripts that such values need.
pub(super) const DEFINITIONS: [&str; 4] = [
    "mutable struct L; v::Float64; next::Union{L, Nothing}; end",
    "weigh(::Nothing) = 0.5",
    "weigh(l::L) = l.v - 0.5 * weigh(l.next)",
    "count_of(l) = l === nothing ? 0 : 1 + count_of(l.next)",
];

impl Writer {
    /// A variable of a few types, or a change of what one holds.
    pub(super) fn few_statement(&mut self) {
        let found = self.variable(|ty| ty == Ty::List).filter(|_| self.c.chance(50));
        let Some(list) = found else {
            let ty = self.c.pick(&[Ty::List, Ty::Either]);
            let value = self.expression(ty, 2);
            return self.define("q", ty, &value);
        };
        let (l, x) = (list.name, self.expression(Ty::Float, 2));
        let change = match self.c.below(3) {
            0 => format!("{l}.next = nothing"),
            1 => format!("{l}.next = L({x}, nothing)"),
            _ => format!("{l}.v = {x}"),
        };
        self.line(&format!("if {l} !== nothing"));
        self.line(&format!("    {change}"));
        self.line("end");
    }

    /// `Union{L, Nothing}`
    pub(super) fn list(&mut self, depth: u32) -> String {
        match self.variable(|ty| ty == Ty::List) {
            Some(l) if self.c.chance(30) => {
                format!("({0} === nothing ? L(1.0, {0}) : {0}.next)", l.name)
            }
            _ => format!(
                "L({}, {})",
                self.expression(Ty::Float, depth),
                self.expression(Ty::List, depth)
            ),
        }
    }

    /// `Union{Int64, Float64}`
    pub(super) fn either(&mut self, depth: u32) -> String {
        let test = self.expression(Ty::Bool, depth);
        let (i, x) = (self.expression(Ty::Int, depth), self.expression(Ty::Float, depth));
        match self.c.chance(50) {
            true => format!("({test} ? {i} : {x})"),
            false => format!("({test} ? {x} : {i})"),
        }
    }

    /// An integer out of one of these.
    pub(super) fn whole(&mut self, otherwise: String) -> String {
        match self.variable(|ty| matches!(ty, Ty::List | Ty::Either)) {
            Some(q) if q.ty == Ty::List => format!("count_of({})", q.name),
            Some(q) => format!("({0} isa Int64 ? {0} : {otherwise})", q.name),
            None => otherwise,
        }
    }

    /// A float out of one of these.
    pub(super) fn part(&mut self, otherwise: String) -> String {
        match self.variable(|ty| matches!(ty, Ty::List | Ty::Either)) {
            Some(q) if q.ty == Ty::Either && self.smooth => {
                format!("sin({} * {otherwise})", q.name)
            }
            Some(q) if q.ty == Ty::Either => format!("({} * {otherwise})", q.name),
            Some(l) if self.c.chance(50) => format!("weigh({})", l.name),
            Some(l) => format!("({0} === nothing ? {otherwise} : {0}.v)", l.name),
            None => otherwise,
        }
    }

    /// A test of one of these.
    pub(super) fn is(&mut self) -> String {
        match self.variable(|ty| matches!(ty, Ty::List | Ty::Either)) {
            Some(q) if q.ty == Ty::Either => format!("({} isa Float64)", q.name),
            Some(l) => match self.c.chance(50) {
                true => format!("isnothing({})", l.name),
                false => format!("({} !== nothing)", l.name),
            },
            None => "false".to_owned(),
        }
    }
}
