//! The problems of a text, collected.

use regraft_ir::{Diagnostic, Source};

use super::ast::Span;

/// The most diagnostics that one text gives. The others are counted.
const MAX_SHOWN: usize = 100;

/// A diagnostic in the making.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) span: Span,
    pub(crate) message: String,
    pub(crate) label: String,
    pub(crate) help: Option<&'static str>,
    /// Tells whether more text might put it right.
    pub(crate) at_end: bool,
}

/// The problems of one text, in the order in which they were found.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    list: Vec<Problem>,
    more: usize,
}

impl Problems {
    #[cold]
    pub(crate) fn add(&mut self, span: Span, message: impl Into<String>) {
        self.push(Problem {
            span,
            message: message.into(),
            label: String::new(),
            help: None,
            at_end: false,
        });
    }

    #[cold]
    pub(crate) fn add_help(
        &mut self,
        span: Span,
        message: impl Into<String>,
        label: impl Into<String>,
        help: &'static str,
    ) {
        let help = Some(help);
        let (message, label) = (message.into(), label.into());
        self.push(Problem { span, message, label, help, at_end: false });
    }

    #[cold]
    pub(crate) fn push(&mut self, problem: Problem) {
        if self.list.len() < 2 * MAX_SHOWN {
            self.list.push(problem);
        } else {
            self.more += 1;
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= MAX_SHOWN
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.list.truncate(len);
    }

    pub(crate) fn append(&mut self, mut other: Self) {
        self.list.append(&mut other.list);
        self.more += other.more;
    }

    /// The diagnostics in the order of the text, and whether the text only ends too early.
    pub(crate) fn finish(mut self, source: &Source) -> (Vec<Diagnostic>, bool) {
        self.list.sort_by_key(|problem| problem.span.start);
        self.list.dedup_by(|b, a| a.span == b.span && a.message == b.message);
        let incomplete =
            !self.list.is_empty() && self.more == 0 && self.list.iter().all(|p| p.at_end);
        self.more += self.list.len().saturating_sub(MAX_SHOWN);
        let mut out: Vec<Diagnostic> = self
            .list
            .into_iter()
            .take(MAX_SHOWN)
            .map(|problem| {
                let made = Diagnostic::error(problem.message).at(
                    source,
                    problem.span.range(),
                    problem.label,
                );
                match problem.help {
                    Some(help) => made.help(help),
                    None => made,
                }
            })
            .collect();
        if self.more > 0 {
            out.push(Diagnostic::error(format!("and {} more errors", self.more)));
        }
        (out, incomplete)
    }
}
