//! The alias scopes of functions as metadata.

use std::fmt::{self, Write};

/// The metadata of one function: a domain, and scopes in it.
struct Domain {
    /// Its own number.
    id: usize,
    /// The numbers of scopes in the function, and the first of the three that one has as metadata: of itself, of the list of
    /// itself, and of the list of the others.
    scopes: Vec<(u32, usize)>,
}

/// The alias scopes of a unit.
pub(super) struct Scopes {
    domains: Vec<Domain>,
    /// The next number of metadata.
    next: usize,
}

impl Default for Scopes {
    fn default() -> Self {
        Self { domains: Vec::new(), next: FIRST }
    }
}

/// A number that is greater than those of all kinds of memory ([`areas`](super::areas)).
const FIRST: usize = 64;

impl Scopes {
    fn take(&mut self, count: usize) -> usize {
        self.next += count;
        self.next - count
    }

    /// Begins another function.
    pub(super) fn begin(&mut self) {
        let id = self.take(1);
        self.domains.push(Domain { id, scopes: Vec::new() });
    }

    /// The lists of an access in a scope of the function that was begun last: of its scope, and of all others.
    pub(super) fn lists(&mut self, scope: u32) -> Option<(usize, usize)> {
        let known = self.domains.last()?.scopes.iter().find(|&&(number, _)| number == scope);
        let first = match known {
            Some(&(_, first)) => first,
            None => {
                let first = self.take(3);
                self.domains.last_mut()?.scopes.push((scope, first));
                first
            }
        };
        Some((first + 1, first + 2))
    }

    /// The definitions of all metadata.
    pub(super) fn nodes(&self) -> String {
        let mut text = String::new();
        // A string takes everything.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> fmt::Result {
        for Domain { id, scopes } in self.domains.iter().filter(|domain| !domain.scopes.is_empty())
        {
            writeln!(text, "!{id} = distinct !{{!{id}}}")?;
            for &(_, scope) in scopes {
                let (own, others) = (scope + 1, scope + 2);
                writeln!(text, "!{scope} = distinct !{{!{scope}, !{id}}}")?;
                write!(text, "!{own} = !{{!{scope}}}\n!{others} = !{{")?;
                let all = scopes.iter().filter(|&&(_, other)| other != scope);
                for (number, (_, other)) in all.enumerate() {
                    let separator = if number == 0 { "" } else { ", " };
                    write!(text, "{separator}!{other}")?;
                }
                text.push_str("}\n");
            }
        }
        Ok(())
    }
}
