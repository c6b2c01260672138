//! Completion with Tab: commands, names, keywords, passes and their options, ops, files, symbols.
//!
//! A pure function of the text before the cursor and of what there is to name; the terminal only
//! shows what comes out.

use std::fs;
use std::path::Path;

use regraft_ir::Registry;
use regraft_passes::{OptionKind, PassRegistry};

use super::commands::{COMMANDS, Wants, find};
use super::reader;
use super::symbols::SYMBOLS;

/// Something to insert.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Candidate {
    /// The text to insert.
    pub(super) value: String,
    /// Its description, in a line; may be empty.
    pub(super) description: String,
    /// The start of the text that it replaces, up to the cursor.
    pub(super) start: usize,
    /// True if a blank follows it.
    pub(super) space: bool,
}

/// A pass with its options.
#[derive(Debug)]
struct PassWords {
    name: String,
    summary: String,
    options: Vec<OptionWords>,
}

/// An option of a pass with the words that it takes.
#[derive(Debug)]
struct OptionWords {
    name: &'static str,
    doc: &'static str,
    values: Vec<&'static str>,
    flag: bool,
}

/// The names that can be completed.
#[derive(Debug)]
pub(super) struct Vocabulary {
    /// The names of the session, sorted.
    pub(super) names: Vec<String>,
    passes: Vec<PassWords>,
    /// Ops and dialects, sorted.
    ops: Vec<String>,
}

const KEYWORDS: &[&str] = &[
    "abstract", "begin", "break", "const", "continue", "do", "else", "elseif", "end", "false",
    "for", "function", "global", "if", "let", "local", "mutable", "nothing", "return", "struct",
    "true", "where", "while",
];

const MACROS: &[&str] =
    &["@assert", "@goto", "@inbounds", "@inline", "@label", "@noinline", "@simd"];

impl Vocabulary {
    /// Collects the names of passes and ops.
    pub(super) fn new(passes: &PassRegistry, ops: &Registry) -> Self {
        let option = |def: &regraft_passes::OptionDef| OptionWords {
            name: def.name,
            doc: def.doc,
            values: match def.kind {
                OptionKind::Flag => vec!["false", "true"],
                OptionKind::Choice(words) => words.to_vec(),
                _ => Vec::new(),
            },
            flag: matches!(def.kind, OptionKind::Flag),
        };
        let mut words: Vec<PassWords> = passes
            .iter()
            .map(|info| PassWords {
                name: info.name.to_owned(),
                summary: info.summary().to_owned(),
                options: info.options.iter().map(option).collect(),
            })
            .collect();
        words.push(PassWords {
            name: "fix".to_owned(),
            summary: "Repeats passes until nothing changes any more".to_owned(),
            options: vec![OptionWords {
                name: "max",
                doc: "repeat at most so many times",
                values: Vec::new(),
                flag: false,
            }],
        });
        words.sort_by(|a, b| a.name.cmp(&b.name));
        let mut names: Vec<String> = ops
            .ops()
            .map(|def| def.name.to_owned())
            .chain(ops.dialects().map(|dialect| dialect.name.to_owned()))
            .collect();
        names.sort();
        names.dedup();
        Self { names: Vec::new(), passes: words, ops: names }
    }

    /// Returns the candidates for the last word of `text`.
    pub(super) fn complete(&self, text: &str) -> Vec<Candidate> {
        let line_start = text.rfind('\n').map_or(0, |at| at + 1);
        let line = &text[line_start..];
        let Some((name, _)) = reader::command(line) else {
            if line.trim() == ":" {
                return commands(line, line_start, ":");
            }
            return self.code(text);
        };
        if name.end == line.len() {
            return commands(line, line_start, ":");
        }
        match find(&line[name.clone()]).map(|command| command.wants) {
            Ok(Wants::Code) => self.code(text),
            Ok(Wants::CodeAndPipeline) => match reader::pipeline_flag(&line[name.end..]) {
                Some(flag) if name.end + flag.end < line.len() => {
                    self.pipeline(text, line_start + name.end + flag.end)
                }
                _ => self.code(text),
            },
            Ok(Wants::Pipeline) => self.pipeline(text, line_start + name.end),
            Ok(Wants::Pass) => self.pass_names(text, word_start(text, is_pass_char)),
            Ok(Wants::Op) => {
                let start = word_start(text, |c| c.is_alphanumeric() || "._-".contains(c));
                let ops = self.ops.iter().filter(|op| op.starts_with(&text[start..]));
                ops.map(|op| candidate(op, "", start)).collect()
            }
            Ok(Wants::Command) => commands(line, line_start, ""),
            Ok(Wants::File) => files(text, line_start + name.end + blank_len(&line[name.end..])),
            Ok(Wants::Nothing) | Err(_) => Vec::new(),
        }
    }

    fn code(&self, text: &str) -> Vec<Candidate> {
        let start = word_start(text, |c| c.is_alphanumeric() || c == '_' || c == '!');
        let word = &text[start..];
        if text[..start].ends_with('\\') {
            let word = &text[start - 1..];
            let exact = SYMBOLS.iter().filter(|(name, _)| *name == word);
            let found: Vec<_> = exact.collect();
            // `\ne` is whole, although `\neq` begins like it.
            let found = if found.is_empty() {
                SYMBOLS.iter().filter(|(name, _)| name.starts_with(word)).collect()
            } else {
                found
            };
            return found
                .into_iter()
                .map(|(name, symbol)| candidate(symbol, name, start - 1))
                .collect();
        }
        if text[..start].ends_with('@') {
            let macros = MACROS.iter().filter(|name| name.starts_with(&text[start - 1..]));
            return macros.map(|name| candidate(name, "", start - 1)).collect();
        }
        if word.is_empty() || word.starts_with(|c: char| c.is_ascii_digit()) {
            return Vec::new();
        }
        let names = self.names.iter().map(String::as_str);
        let mut found: Vec<&str> =
            names.chain(KEYWORDS.iter().copied()).filter(|name| name.starts_with(word)).collect();
        found.sort_unstable();
        found.dedup();
        found.into_iter().map(|name| candidate(name, "", start)).collect()
    }

    /// Within a pipeline that begins at `from`.
    fn pipeline(&self, text: &str, from: usize) -> Vec<Candidate> {
        let start = word_start(text, is_pass_char).max(from);
        let before = &text[from..start];
        let Some(open) = before.rfind('{').filter(|&at| !before[at..].contains('}')) else {
            return self.pass_names(text, start);
        };
        let name_start = word_start(&before[..open], is_pass_char);
        let Some(pass) = self.passes.iter().find(|pass| pass.name == before[name_start..open])
        else {
            return Vec::new();
        };
        let word = &text[start..];
        let setting = before[open + 1..].rsplit(',').next().unwrap_or_default().trim();
        if let Some(name) = setting.strip_suffix('=') {
            let option = pass.options.iter().find(|option| option.name == name.trim());
            let values = option.into_iter().flat_map(|option| option.values.iter());
            let values = values.filter(|value| value.starts_with(word));
            return values.map(|value| candidate(value, "", start)).collect();
        }
        let options = pass.options.iter().filter(|option| option.name.starts_with(word));
        options
            .map(|option| {
                let end = if option.flag { "" } else { "=" };
                candidate(&format!("{}{end}", option.name), option.doc, start)
            })
            .collect()
    }

    fn pass_names(&self, text: &str, start: usize) -> Vec<Candidate> {
        let passes = self.passes.iter().filter(|pass| pass.name.starts_with(&text[start..]));
        passes.map(|pass| candidate(&pass.name, &pass.summary, start)).collect()
    }
}

fn candidate(value: &str, description: &str, start: usize) -> Candidate {
    Candidate { value: value.to_owned(), description: description.to_owned(), start, space: false }
}

/// The commands that begin like the last word of a line; the short names are not offered.
fn commands(line: &str, line_start: usize, colon: &str) -> Vec<Candidate> {
    let start = word_start(line, |c| c.is_alphanumeric() || c == ':' || c == '?');
    let word = line[start..].trim_start_matches(':');
    let found = COMMANDS.iter().filter(|command| command.names[0].starts_with(word));
    found
        .map(|command| Candidate {
            space: !colon.is_empty() && command.wants != Wants::Nothing,
            ..candidate(
                &format!("{colon}{}", command.names[0]),
                command.summary,
                line_start + start,
            )
        })
        .collect()
}

/// The files whose path begins with the text from `start` on.
fn files(text: &str, start: usize) -> Vec<Candidate> {
    let typed = &text[start..];
    let (folder, prefix) = typed.rfind('/').map_or(("", typed), |at| typed.split_at(at + 1));
    let path = if folder.is_empty() { Path::new(".") } else { Path::new(folder) };
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let mut found: Vec<Candidate> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let is_folder = entry.path().is_dir();
            let fits =
                name.starts_with(prefix) && (!name.starts_with('.') || prefix.starts_with('.'));
            let end = if is_folder { "/" } else { "" };
            fits.then(|| candidate(&format!("{folder}{name}{end}"), "", start))
        })
        .collect();
    found.sort_by(|a, b| a.value.cmp(&b.value));
    found
}

/// Returns the start of the last word of a text.
fn word_start(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    let word = text.chars().rev().take_while(|&c| belongs(c)).map(char::len_utf8).sum::<usize>();
    text.len() - word
}

fn is_pass_char(c: char) -> bool {
    c.is_alphanumeric() || c == '-'
}

fn blank_len(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn offers(text: &str, expected: &[&str]) {
        let ctx = regraft_dialects::context();
        let mut vocabulary = Vocabulary::new(&PassRegistry::standard(), ctx.registry());
        vocabulary.names = ["sum", "sin", "größe", "foo!"].map(String::from).to_vec();
        let found = vocabulary.complete(text);
        let values: Vec<&str> = found.iter().map(|c| c.value.as_str()).collect();
        assert_eq!(values, expected, "{text}");
        for candidate in &found {
            assert!(text.is_char_boundary(candidate.start), "{text}");
        }
    }

    #[test]
    fn names_and_keywords_complete_expressions() {
        offers("x = s", &["sin", "struct", "sum"]);
        offers("grö", &["größe"]);
        offers("f(fo", &["foo!", "for"]);
        offers("function f(x)\n  ret", &["return"]);
        offers("1", &[]);
        offers("", &[]);
        offers("@in", &["@inbounds", "@inline"]);
    }

    #[test]
    fn commands_complete_after_a_colon() {
        offers(":un", &[":undo"]);
        offers(":p", &[":profile", ":pipeline", ":passes"]);
        offers(":help pa", &["passes"]);
        offers(":help :pa", &["passes"]);
        offers("x[:un", &[]);
        offers(":quit ", &[]);
    }

    #[test]
    fn passes_and_options_complete_pipelines() {
        offers(":opt f(s", &["sin", "struct", "sum"]);
        offers(":opt f(x) -p simplify-", &["simplify-cfg"]);
        offers(":pipeline fold, cs", &["cse"]);
        offers(":pipeline fix{", &["max="]);
        offers(":pipeline fix{max=4}(dc", &["dce"]);
        offers(":passes dc", &["dce"]);
    }

    #[test]
    fn ops_complete_by_their_whole_names() {
        offers(":ops arith.ad", &["arith.add"]);
        offers(":ops uni", &[]);
    }

    #[test]
    fn symbols_complete_by_their_names() {
        offers("a \\di", &["÷"]);
        offers("a \\ne", &["≠"]);
        offers("a \\not", &["∉"]);
    }

    #[test]
    fn files_complete_by_their_paths() {
        let root = env!("CARGO_MANIFEST_DIR");
        offers(&format!(":load {root}/Cargo.t"), &[&format!("{root}/Cargo.toml")]);
        offers(&format!(":load {root}/exampl"), &[&format!("{root}/examples/")]);
        offers(":load /there/is/none/", &[]);
    }
}
