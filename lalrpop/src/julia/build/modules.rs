//! Modules, and lists of the names that go from one to another.

use super::{Builder, Items};
use crate::julia::ast::{ExprId, Kind, List, Span};
use crate::julia::problems::Problem;

impl Builder<'_> {
    pub(crate) fn module(&mut self, open: Span, head: ExprId, items: Items, close: Span) {
        let span = Span { start: open.start, end: close.end };
        let bare = self.slice(open).starts_with("bare");
        if self.code.is_data() {
            return self.code_type("module", Some(!bare), head, Some(items), span);
        }
        let (body, depth) = self.take_list(items.start);
        let made = match self.kind(head) {
            Kind::Name(name) => self.node(Kind::Module { name, bare, body }, span, depth),
            Kind::Error => self.leaf(Kind::Error, span),
            _ => {
                let at = self.span(head);
                self.wrong(at, "expected the name of a module")
            }
        };
        self.push(made);
    }

    /// `export a, b`
    pub(super) fn export(&mut self, span: Span) -> Kind {
        let text = self.slice(span);
        let names = Self::parts(text, "export".len(), text.len(), ',');
        Kind::Export(self.names_at(span, &names))
    }

    /// `using A, .B: f, g as h`, `import A.b as c`
    pub(super) fn using(&mut self, span: Span) -> Kind {
        let text = self.slice(span);
        let import = text.starts_with("import");
        let word = if import { "import".len() } else { "using".len() };
        let colon = text.match_indices(':').map(|(at, _)| at).find(|&at| {
            // `::` is an operator, and `.:+` another one's name.
            !text[at + 1..].starts_with(':') && !text[..at].ends_with([':', '.'])
        });
        let clauses: Vec<ExprId> = match colon {
            Some(colon) => {
                let names = Self::parts(text, colon + 1, text.len(), ',');
                let names = self.names_at(span, &names);
                vec![self.import_clause(span, (word, colon), Some(names))]
            }
            None => Self::parts(text, word, text.len(), ',')
                .into_iter()
                .map(|part| self.import_clause(span, part, None))
                .collect(),
        };
        let (clauses, _) = self.list_of(&clauses);
        Kind::Using { import, clauses }
    }

    /// `..A.B as C`, between these bytes of the text of a statement.
    fn import_clause(
        &mut self,
        of: Span,
        (start, end): (usize, usize),
        names: Option<List>,
    ) -> ExprId {
        let text = self.slice(of);
        let (start, end) = trimmed(text, start, end);
        let (path, alias) = match text[start..end].find(" as ") {
            Some(at) => ((start, start + at), Some((start + at + " as ".len(), end))),
            None => ((start, end), None),
        };
        let (first, last) = trimmed(text, path.0, path.1);
        let dots = text[first..last].len() - text[first..last].trim_start_matches('.').len();
        let mut parts = Vec::new();
        if dots > 0 {
            parts.push((first, first + dots));
        }
        if first + dots < last || dots == 0 {
            // The last part may be an operator with a dot.
            parts.extend(Self::parts(text, first + dots, last, '.'));
        }
        let path = self.names_at(of, &parts);
        let alias = alias.map(|(start, end)| {
            let (start, end) = trimmed(text, start, end);
            self.field_name(place(of, start, end))
        });
        self.leaf(Kind::Clause { path, alias, names }, place(of, start, end))
    }

    /// The pieces between separators.
    fn parts(text: &str, start: usize, end: usize, separator: char) -> Vec<(usize, usize)> {
        let mut parts = Vec::new();
        let mut at = start;
        for piece in text[start..end].split(separator) {
            parts.push(trimmed(text, at, at + piece.len()));
            at += piece.len() + separator.len_utf8();
        }
        parts
    }

    /// Names, some with another name: `f as g`.
    fn names_at(&mut self, of: Span, parts: &[(usize, usize)]) -> List {
        let text = self.slice(of);
        let mut ids = Vec::with_capacity(parts.len());
        for &(start, end) in parts {
            if start == end {
                // The list may go on in the next line.
                let at_end = self.text[of.range().start + end..].trim().is_empty();
                let message = "expected a name in the list".to_owned();
                let (label, help) = (String::new(), None);
                self.problems.push(Problem { span: of, message, label, help, at_end });
                continue;
            }
            let start =
                start + usize::from(text[start..end].len() > 1 && text[start..].starts_with(':'));
            let (name, alias) = match text[start..end].find(" as ") {
                Some(at) => {
                    let alias = trimmed(text, start + at + " as ".len(), end);
                    (trimmed(text, start, start + at), Some(alias))
                }
                None => ((start, end), None),
            };
            if text[name.0..name.1].contains(char::is_whitespace) {
                self.problems.add(place(of, name.0, name.1), "expected a name in the list");
                continue;
            }
            let mut leaf = |(start, end)| {
                let span = place(of, start, end);
                let symbol = self.field_name(span);
                self.leaf(Kind::Name(symbol), span)
            };
            let name = leaf(name);
            ids.push(match alias.map(&mut leaf) {
                Some(target) => {
                    self.leaf(Kind::Assign { target, value: name }, place(of, start, end))
                }
                None => name,
            });
        }
        self.list_of(&ids).0
    }
}

/// The place of a part of a statement.
fn place(of: Span, start: usize, end: usize) -> Span {
    Span { start: of.start + start as u32, end: of.start + end as u32 }
}

/// The same without blanks at the ends.
fn trimmed(text: &str, start: usize, end: usize) -> (usize, usize) {
    let piece = &text[start..end];
    let first = start + (piece.len() - piece.trim_start().len());
    (first, first + piece.trim().len())
}
