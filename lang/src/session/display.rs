//! Values as a prompt displays them: arrays in rows and columns, as many as there is room for.
//!
//! ```text
//! 3-element Vector{Int64}:          30×30 Matrix{Float64}:
//!  1                                 1.0  2.0  3.0  …  30.0
//!  2                                 ⋮              ⋱
//!  3                                 1.0  2.0  3.0  …  30.0
//! ```
//!
//! # Method
//! The layout is that of Julia's `print_matrix`: as many rows are shown as fit, half of them from the top, half
//! from the bottom; then as many columns as fit beside each other, aligned at the decimal point.
//! Only elements that might be shown are looked at.

use std::sync::Arc;

use regraft_exec::value::{Array, Names, Texts, Val};
use regraft_ir::{Context, Symbol, Type};

use super::Session;

/// The number of blanks between columns.
const GAP: usize = 2;
/// The marks for columns that are left out, and for rows and columns.
const COLUMN_DOTS: &str = "  …  ";
const DIAGONAL_DOTS: &str = "  ⋱  ";
/// The distance between dots, in rows or columns.
const EVERY: usize = 5;
/// Rows of a prompt that are kept free: for the header, and the lines around.
const OTHER_ROWS: usize = 4;
/// The most elements that are shown of an array within another value.
const MAX_WITHIN: usize = 20;

/// The widths of an element to the left and right of the alignment of its column.
type Widths = (usize, usize);

impl Session {
    /// A value as Julia's prompt displays it in a terminal of so many rows and columns: arrays
    /// with a header and in rows and columns, of which those that do not fit are left out; other
    /// values as [`show`](Self::show) writes them, but long arrays within them are shortened.
    pub fn display(&mut self, value: &Val, rows: usize, columns: usize) -> String {
        if self.has_own_show()
            && let Some(Val::Str(text)) = self.call_prelude("#own_display", value)
        {
            return text.as_str().to_owned();
        }
        let array = match value {
            Val::Array(array) => Some((None, array.clone())),
            Val::Struct(_) if self.is_like_an_array(value) && !self.is_range(value) => {
                match self.call_prelude("collect", value) {
                    Some(Val::Array(array)) => Some((Some(value), array)),
                    _ => None,
                }
            }
            _ => None,
        };
        let Some((wrapper, array)) = array.filter(|(_, array)| matches!(array.rank(), 1 | 2))
        else {
            return self.show_shortened(value);
        };
        let dims = array.dims();
        let ty = self.ctx.array_type(array.element(), array.rank());
        let name = match wrapper {
            Some(wrapper) => self.wrapper_name(wrapper, &array),
            None => self.texts.type_name(ty).unwrap_or_else(|| self.ctx.type_text(ty)),
        };
        if array.is_empty() && wrapper.is_none() && dims.len() == 1 {
            return self.show(value);
        }
        let size = match &dims[..] {
            &[length] => format!("{length}-element"),
            dims => dims.iter().map(ToString::to_string).collect::<Vec<_>>().join("×"),
        };
        if array.is_empty() {
            return format!("{size} {name}");
        }
        // In the place of what the program has a method of `show` for stands a text.
        let own = match self.has_own_show() {
            true => self.call_prelude("#own_elements", &Val::Array(array.clone())),
            false => None,
        };
        let array = match own {
            Some(Val::Array(own)) => own,
            _ => array,
        };
        let cells = Cells {
            ctx: &self.ctx,
            names: &*self.texts,
            array: &array,
            rows: dims[0],
            columns: dims.get(1).copied().unwrap_or(1),
            dotted: wrapper.and_then(|wrapper| self.structural_zeros(wrapper)),
        };
        let height = rows.saturating_sub(OTHER_ROWS).max(2);
        format!("{size} {name}:\n{}", cells.text(height, columns.max(10)))
    }

    fn family_name(&self, value: &Val) -> Option<Symbol> {
        let Val::Struct(fields) = value else { return None };
        self.compiler.borrow().world.library_name(fields.ty())
    }

    fn is_range(&self, value: &Val) -> bool {
        let name = self.family_name(value).map(|name| self.ctx.str(name));
        matches!(name, Some("UnitRange" | "OneTo" | "StepRange" | "StepRangeLen" | "LinRange"))
    }

    /// Returns the name in the header of an array that shows the elements of another one.
    fn wrapper_name(&mut self, wrapper: &Val, array: &Array) -> String {
        let plain = self.type_text(wrapper);
        let Val::Struct(fields) = wrapper else { return plain };
        let family = self.family_name(wrapper).map_or("", |name| self.ctx.str(name));
        let function = match family {
            "Adjoint" => "adjoint",
            "Transpose" => "transpose",
            "SubArray" => "view",
            "ReshapedArray" => "reshape",
            _ => return plain,
        };
        let Some(parent) = fields.items().first() else { return plain };
        let mut text = format!("{function}(::{}", self.type_text(parent));
        if function == "view"
            && let Some(Val::Tuple(indices)) = fields.items().get(1)
        {
            for index in indices.items() {
                let shown = self.show(index);
                text.push_str(", ");
                text.push_str(shown.strip_prefix("Base.OneTo(").map_or(&shown, |_| ":"));
            }
        } else if function == "reshape" {
            array.dims().iter().for_each(|dim| text.push_str(&format!(", {dim}")));
        }
        let element = array.element();
        let element = self.texts.type_name(element).unwrap_or_else(|| self.ctx.type_text(element));
        format!("{text}) with eltype {element}")
    }

    fn type_text(&self, value: &Val) -> String {
        let ty = value.type_of(&self.ctx);
        self.texts.type_name(ty).unwrap_or_else(|| self.ctx.type_text(ty))
    }

    /// Returns the test for elements of a matrix that are zero whatever it holds.
    fn structural_zeros(&self, wrapper: &Val) -> Option<fn(usize, usize) -> bool> {
        match self.ctx.str(self.family_name(wrapper)?) {
            "Diagonal" => Some(|row, column| row != column),
            "UpperTriangular" => Some(|row, column| row > column),
            "LowerTriangular" => Some(|row, column| row < column),
            _ => None,
        }
    }

    fn show_shortened(&mut self, value: &Val) -> String {
        if matches!(value, Val::Struct(_)) {
            return self.show(value);
        }
        // What the program says of it is as long as the program wants.
        if let (Val::Object(_), Some(Val::Str(text))) =
            (value, self.ask_prelude("#displayed", value))
        {
            return text.as_str().to_owned();
        }
        let names = Some(&*self.texts as &dyn Names);
        Texts { ctx: &self.ctx, names }.show_shortened(value, Type::ANY, MAX_WITHIN)
    }
}

/// The elements of a vector or matrix that is displayed.
struct Cells<'a> {
    ctx: &'a Arc<Context>,
    names: &'a dyn Names,
    array: &'a Array,
    rows: usize,
    columns: usize,
    dotted: Option<fn(usize, usize) -> bool>,
}

impl Cells<'_> {
    /// The lines, of which there are at most `height`, each at most `width` wide.
    fn text(&self, height: usize, width: usize) -> String {
        let width = width - 1;
        let half = height / 2;
        let cut = self.rows > height;
        let rows: Vec<usize> = if cut {
            (0..half).chain(self.rows - (height - 1) / 2..self.rows).collect()
        } else {
            (0..self.rows).collect()
        };
        let all: Vec<usize> = (0..self.columns).collect();
        let most = width / (1 + GAP);
        let near = |columns: &mut dyn Iterator<Item = usize>, width| {
            self.widths(&rows, &mut columns.take(most), width)
        };
        let whole = near(&mut all.iter().copied(), width);
        let (left, right) = if whole.len() == self.columns {
            (whole, None)
        } else {
            let share = (width - COLUMN_DOTS.chars().count()).div_ceil(2) + 1;
            let mut right = near(&mut all.iter().rev().copied(), share);
            right.reverse();
            let used: usize = right.iter().map(|(l, r)| l + r).sum::<usize>();
            let used = used + (right.len() - 1) * GAP + COLUMN_DOTS.chars().count();
            (near(&mut all.iter().copied(), width.saturating_sub(used)), Some(right))
        };
        let mut out = String::new();
        for (at, &row) in rows.iter().enumerate() {
            if at > 0 {
                out.push('\n');
            }
            if cut && at == half {
                self.dots(&mut out, &left, right.as_deref());
                out.push('\n');
            }
            let mut line = String::from(" ");
            self.row(&mut line, &left, row, 0);
            if let Some(right) = &right {
                line.push_str(if row.is_multiple_of(EVERY) { COLUMN_DOTS } else { "     " });
                self.row(&mut line, right, row, self.columns - right.len());
            }
            out.push_str(line.trim_end());
        }
        out
    }

    /// The line in the place of rows that are left out.
    fn dots(&self, out: &mut String, left: &[Widths], right: Option<&[Widths]>) {
        let mut line = String::from(" ");
        let column_dots = |line: &mut String, widths: &[Widths], phase: usize| {
            for (k, &(l, r)) in (1..).zip(widths) {
                let width = l + r;
                let mut cell = String::new();
                if k % EVERY == phase {
                    cell = " ".repeat(l.saturating_sub(1));
                    cell.push('⋮');
                }
                let pad = width.saturating_sub(cell.chars().count());
                line.push_str(&cell);
                line.push_str(&" ".repeat(pad));
                if k < widths.len() {
                    line.push_str(&" ".repeat(GAP));
                }
            }
        };
        column_dots(&mut line, left, 1);
        if let Some(right) = right {
            line.push_str(DIAGONAL_DOTS);
            let phase = (right.len() as i64 - self.columns as i64 + 1).rem_euclid(EVERY as i64);
            column_dots(&mut line, right, phase as usize);
        }
        out.push_str(line.trim_end());
    }

    fn row(&self, line: &mut String, widths: &[Widths], row: usize, first: usize) {
        for (k, &(left, right)) in widths.iter().enumerate() {
            let cell = self.cell(row, first + k);
            let (l, r) = self.split(&cell, row, first + k);
            line.push_str(&" ".repeat(left.saturating_sub(l)));
            line.push_str(&cell);
            line.push_str(&" ".repeat(right.saturating_sub(r)));
            if k + 1 < widths.len() {
                line.push_str(&" ".repeat(GAP));
            }
        }
    }

    /// Returns the widths of the columns, as many as fit.
    fn widths(
        &self,
        rows: &[usize],
        columns: &mut dyn Iterator<Item = usize>,
        width: usize,
    ) -> Vec<Widths> {
        let mut found: Vec<Widths> = Vec::new();
        let used = |found: &[Widths]| -> usize { found.iter().map(|(l, r)| l + r + GAP).sum() };
        for column in columns {
            let mut widest = (0, 0);
            for &row in rows {
                let (l, r) = self.split(&self.cell(row, column), row, column);
                widest = (widest.0.max(l), widest.1.max(r));
            }
            found.push(widest);
            if found.len() > 1 && used(&found) >= width {
                found.pop();
                break;
            }
        }
        if found.len() < self.columns {
            while found.len() > 1 && used(&found) >= width {
                found.pop();
            }
        }
        found
    }

    /// Returns the widths left and right of the alignment of an element: the point of a number that has one,
    /// the end of another number, the beginning of anything else.
    fn split(&self, cell: &str, row: usize, column: usize) -> Widths {
        let width = cell.chars().count();
        match self.array.get(row + column * self.rows) {
            Some(Val::F64(_) | Val::F32(_)) => {
                let left = cell.find(['.', 'e', 'f', 'E', 'F']);
                let left = left.map_or(width, |at| cell[..at].chars().count());
                (left, width - left)
            }
            Some(Val::I64(_) | Val::I32(_) | Val::I16(_) | Val::I8(_) | Val::Bool(_)) => (width, 0),
            _ => (0, width),
        }
    }

    fn cell(&self, row: usize, column: usize) -> String {
        if self.dotted.is_some_and(|is_zero| is_zero(row, column)) {
            return "⋅".to_owned();
        }
        let Some(value) = self.array.get(row + column * self.rows) else {
            return "#undef".to_owned();
        };
        let texts = Texts { ctx: self.ctx, names: Some(self.names) };
        // Six digits are enough where numbers stand side by side.
        let value = match value {
            Val::F64(x) if self.columns > 1 && x.is_finite() => {
                Val::F64(format!("{x:.5e}").parse().unwrap_or(x))
            }
            Val::F32(x) if self.columns > 1 && x.is_finite() => {
                Val::F32(format!("{x:.5e}").parse().unwrap_or(x))
            }
            value => value,
        };
        texts.show_shortened(&value, self.array.element(), MAX_WITHIN)
    }
}
