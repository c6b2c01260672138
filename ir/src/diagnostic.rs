//! Errors for the user: a message, the places in the source that it is about, and help.
//!
//! Messages are lower case without a full stop and name the op and both types. A phase (parsing,
//! verifying) returns all its diagnostics at once.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, NamedSource, SourceCode,
    SourceSpan, SpanContents,
};

use crate::interned::MAX_LOC_PLACES;
use crate::{Context, IrError, Loc, Location, Source};

/// Its severity.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Something the user may want to know.
    Warning,
    /// The input cannot be used.
    Error,
}

/// A place in a source, with what is to be said of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// The bytes that it is about.
    pub span: Range<usize>,
    /// The text beside them; may be empty.
    pub text: String,
}

/// An error or warning.
#[derive(Clone)]
pub struct Diagnostic(Box<Inner>);

#[derive(Clone)]
struct Inner {
    severity: Severity,
    message: String,
    source: Option<NamedSource<Text>>,
    labels: Vec<Label>,
    help: Option<String>,
    notes: Vec<String>,
    /// The places of the user's program that the labels belong to, if they are in a printed
    /// function.
    places: Vec<(Loc, String)>,
}

/// A text that is shown with places marked in it.
#[derive(Clone)]
enum Text {
    Read(Source),
    Printed(Arc<str>),
}

impl SourceCode for Text {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        self.as_str().read_span(span, lines_before, lines_after)
    }
}

impl Text {
    fn as_str(&self) -> &str {
        match self {
            Self::Read(source) => &source.text,
            Self::Printed(text) => text,
        }
    }
}

impl Diagnostic {
    /// An error with this message.
    pub fn error(message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            severity: Severity::Error,
            message: message.into(),
            source: None,
            labels: Vec::new(),
            help: None,
            notes: Vec::new(),
            places: Vec::new(),
        }))
    }

    /// A warning with this message.
    pub fn warning(message: impl Into<String>) -> Self {
        let mut diagnostic = Self::error(message);
        diagnostic.0.severity = Severity::Warning;
        diagnostic
    }

    /// The same with another message.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.0.message = message.into();
        self
    }

    /// Says which bytes of `source` it is about. The first call decides which source is shown.
    #[must_use]
    pub fn at(mut self, source: &Source, span: Range<usize>, text: impl Into<String>) -> Self {
        let len = source.text.len();
        let span = span.start.min(len)..span.end.min(len).max(span.start.min(len));
        if self.0.source.is_none() {
            self.0.source = Some(NamedSource::new(&*source.name, Text::Read(source.clone())));
        }
        self.0.labels.push(Label { span, text: text.into() });
        self
    }

    /// Says at which location of the user's program it happened: a label if the source was read,
    /// else a note. The calls that the instruction was inlined at become notes.
    #[must_use]
    pub fn at_loc(mut self, ctx: &Context, loc: Loc, text: impl Into<String>) -> Self {
        let (mut loc, mut call_sites) = (loc, Vec::new());
        while let Location::Inlined { at, call_site, .. } = ctx.location(loc) {
            call_sites.push(call_site);
            loc = at;
        }
        self = match ctx.source_of(loc) {
            Some((source, offset)) => {
                let offset = source.text.floor_char_boundary(offset);
                let rest = &source.text[offset..];
                let line = rest.find('\n').unwrap_or(rest.len());
                let end = offset + rest[..line].trim_end().len();
                self.at(&source, offset..end, text)
            }
            None if loc.is_known() => self.note(format!("at {}", ctx.loc_text(loc))),
            None => self,
        };
        // The innermost call comes first.
        for call_site in call_sites.into_iter().rev().take(MAX_LOC_PLACES) {
            self = self.note(format!("inlined at {}", ctx.loc_text(call_site)));
        }
        self
    }

    /// Shows `text` (a printed function, say) under `name` as the source, with labels. Several
    /// diagnostics can share one text.
    #[must_use]
    pub fn in_text(mut self, name: &str, text: impl Into<Arc<str>>, labels: Vec<Label>) -> Self {
        self.0.source = Some(NamedSource::new(name, Text::Printed(text.into())));
        self.0.labels = labels;
        self
    }

    /// Says which places of the user's program the labels in a printed function stand for; see
    /// [`Diagnostic::in_source`].
    #[must_use]
    pub fn with_places(mut self, places: Vec<(Loc, String)>) -> Self {
        self.0.places = places;
        self
    }

    /// The same about the user's program in place of a printed function. As it is if the text of
    /// the program was not read, or if it is not known where in it that is.
    #[must_use]
    pub fn in_source(mut self, ctx: &Context) -> Self {
        let places = std::mem::take(&mut self.0.places);
        let source_of = |loc: Loc| ctx.source_of(loc).map(|(source, _)| source);
        let Some(first) = places.first().and_then(|&(loc, _)| source_of(loc)) else {
            self.0.places = places;
            return self;
        };
        self.0.source = None;
        self.0.labels.clear();
        self.0.notes.clear();
        for (loc, text) in places {
            if source_of(loc).is_some_and(|other| other.is_same(&first)) {
                self = self.at_loc(ctx, loc, text);
            }
        }
        self
    }

    /// Adds help: what the user might do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(help.into());
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.0.notes.push(note.into());
        self
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Its severity.
    pub fn severity(&self) -> Severity {
        self.0.severity
    }

    /// The places that it is about.
    pub fn labels(&self) -> &[Label] {
        &self.0.labels
    }

    /// The notes.
    pub fn notes(&self) -> &[String] {
        &self.0.notes
    }

    /// The help, if there is any.
    pub fn help_text(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// The name of the source that the labels are in.
    pub fn source_name(&self) -> Option<&str> {
        self.0.source.as_ref().map(NamedSource::name)
    }

    /// The place of the first label: `file.jl:3`.
    pub fn place(&self) -> Option<String> {
        let source = self.0.source.as_ref()?;
        let start = self.0.labels.first()?.span.start;
        let lines =
            source.inner().as_str().bytes().take(start).filter(|&byte| byte == b'\n').count();
        Some(format!("{}:{}", source.name(), lines + 1))
    }

    /// The report with source excerpts; with terminal colours if `color`.
    pub fn render(&self, color: bool) -> String {
        let theme =
            if color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
        let handler = GraphicalReportHandler::new_themed(theme).with_links(false).with_width(100);
        let mut out = String::new();
        handler.render_report(&mut out, self).expect("writing to a string does not fail");
        for note in &self.0.notes {
            out.push_str("  note: ");
            out.push_str(note);
            out.push('\n');
        }
        out
    }
}

/// The reports of several diagnostics, one after the other.
pub fn render_all(diagnostics: &[Diagnostic], color: bool) -> String {
    diagnostics.iter().map(|d| d.render(color)).collect()
}

impl From<IrError> for Diagnostic {
    fn from(error: IrError) -> Self {
        Self::error(error.message())
    }
}

/// The list of this one error, for functions that return all that they find.
impl From<IrError> for Vec<Diagnostic> {
    fn from(error: IrError) -> Self {
        vec![error.into()]
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostic {}

impl miette::Diagnostic for Diagnostic {
    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.0.severity {
            Severity::Warning => miette::Severity::Warning,
            Severity::Error => miette::Severity::Error,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.0.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.0.source.as_ref().map(|source| source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        if self.0.labels.is_empty() {
            return None;
        }
        Some(Box::new(self.0.labels.iter().map(|label| {
            let text = (!label.text.is_empty()).then(|| label.text.clone());
            LabeledSpan::new(text, label.span.start, label.span.len())
        })))
    }
}
