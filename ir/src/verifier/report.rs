//! Errors of one function, and how they are shown: in the printed function, which is printed
//! only if there are any.

use std::ops::Range;
use std::sync::Arc;

use crate::printer::{Lines, print_with_lines};
use crate::{Block, Diagnostic, Function, Label, Loc, Value};

/// The entity that an error is about.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// The first line of the function.
    Signature,
    /// The header of a block.
    Block(Block),
    /// An instruction, or the end of a block.
    Inst(Value),
}

struct Error {
    place: Place,
    message: String,
    /// A definition that is to be shown as well.
    related: Option<Value>,
}

/// The errors found so far.
pub(super) struct Report<'a> {
    f: &'a Function,
    errors: Vec<Error>,
}

impl<'a> Report<'a> {
    pub(super) fn new(f: &'a Function) -> Self {
        Self { f, errors: Vec::new() }
    }

    #[cold]
    pub(super) fn error(&mut self, place: Place, message: String) {
        self.errors.push(Error { place, message, related: None });
    }

    /// An error at `place` that is also about the definition of `related`.
    #[cold]
    pub(super) fn related(&mut self, place: Place, message: String, related: Value) {
        self.errors.push(Error { place, message, related: Some(related) });
    }

    pub(super) fn finish(self) -> Result<(), Vec<Diagnostic>> {
        if self.errors.is_empty() { Ok(()) } else { Err(self.diagnostics()) }
    }

    #[cold]
    fn diagnostics(self) -> Vec<Diagnostic> {
        let f = self.f;
        let (text, lines) = print_with_lines(f);
        let text: Arc<str> = text.into();
        let name = format!("@{}", f.name_str());
        let label =
            |span: &Range<usize>, text: &str| Label { span: span.clone(), text: text.to_owned() };
        let diagnose = |error: Error| {
            let mut labels = Vec::new();
            labels.extend(span_of(&lines, error.place).map(|span| label(span, "here")));
            let mut places = vec![(loc_of(f, error.place), "here".to_owned())];
            if let Some(v) = error.related {
                let place = match f.is_param(v) {
                    true if Some(f.block_of(v)) == f.entry() => Place::Signature,
                    true => Place::Block(f.block_of(v)),
                    false => Place::Inst(v),
                };
                let span = span_of(&lines, place)
                    .filter(|&span| Some(span) != span_of(&lines, error.place));
                if let Some(span) = span {
                    labels.push(label(span, "defined here"));
                    places.push((loc_of(f, place), "defined here".to_owned()));
                }
            }
            let diagnostic = Diagnostic::error(error.message)
                .in_text(&name, text.clone(), labels)
                .with_places(places);
            match error.place {
                Place::Inst(v) if f.is_live(v) && f.loc(v).is_known() => {
                    diagnostic.note(format!("from {}", f.ctx().loc_text(f.loc(v))))
                }
                _ => diagnostic,
            }
        };
        self.errors.into_iter().map(diagnose).collect()
    }
}

fn span_of(lines: &Lines, place: Place) -> Option<&Range<usize>> {
    match place {
        Place::Signature => Some(&lines.signature),
        Place::Block(b) => lines.blocks.get(&b),
        Place::Inst(v) => lines.insts.get(&v),
    }
}

/// The location of a place in the user's program.
fn loc_of(f: &Function, place: Place) -> Loc {
    match place {
        Place::Signature => f.function_loc(),
        Place::Block(b) => f.params(b).next().map_or(Loc::UNKNOWN, |v| f.loc(v)),
        Place::Inst(v) if f.is_live(v) => f.loc(v),
        Place::Inst(_) => Loc::UNKNOWN,
    }
}
