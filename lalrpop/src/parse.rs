//! Reading a whole text: structs first, then everything line by line, starting again after
//! every line that is wrong.

use std::sync::Arc;

use lalrpop_util::ParseError;
use regraft_ir::{Context, Diagnostic, FuncId, Function, IrError, Label, Module, StructId};

use crate::builder::Builder;
use crate::function_text::Span;
use crate::grammar::LinesParser;
use crate::report::{IR_GROUPS, describe_ir, expected_words};
use crate::token::{Lexer, MAX_DEPTH, Token};

/// Reads IR text into a module of its own. `file_name` is what diagnostics call it.
///
/// The text is kept in the context, so that locations in it can be shown. Linear in its length.
///
/// # Errors
/// Everything that is wrong with the text, in its order; at most a hundred diagnostics, and one
/// more that counts the others.
pub fn parse_module(
    ctx: &Arc<Context>,
    file_name: &str,
    text: &str,
) -> Result<Module, Vec<Diagnostic>> {
    let mut module = Module::new(ctx);
    parse_module_into(&mut module, file_name, text)?;
    Ok(module)
}

/// Reads IR text as [`parse_module`] does, and verifies the module.
///
/// # Errors
/// Everything that is wrong with the text; if nothing is, everything that the verifier finds,
/// shown in the text.
pub fn parse_and_verify(
    ctx: &Arc<Context>,
    file_name: &str,
    text: &str,
) -> Result<Module, Vec<Diagnostic>> {
    let module = parse_module(ctx, file_name, text)?;
    match regraft_ir::verify_module(&module) {
        Ok(()) => Ok(module),
        Err(errors) => Err(errors.into_iter().map(|error| error.in_source(ctx)).collect()),
    }
}

/// Adds the functions and structs of IR text to a module; the text can refer to the structs
/// that are there. Returns the new functions.
///
/// # Errors
/// As [`parse_module`]; also names that the module has already. Then nothing was added.
pub fn parse_module_into(
    module: &mut Module,
    file_name: &str,
    text: &str,
) -> Result<Vec<FuncId>, Vec<Diagnostic>> {
    let Some(source) = module.ctx().add_source(file_name, text.to_owned()) else {
        let message = format!("{file_name} is too long: all sources together are limited to 2 GiB");
        return Err(vec![Diagnostic::error(message)]);
    };
    let (functions, structs) = {
        let mut builder = Builder::new(module, source, text);
        read_structs(&mut builder);
        read_lines(&mut builder);
        builder.end_of_text();
        if !builder.report.is_empty() {
            return Err(builder.report.finish());
        }
        let structs = builder.struct_order.iter().map(|name| builder.structs[name].id).collect();
        (builder.functions, structs)
    };
    add_all(module, functions, structs).map_err(|error| vec![error.into()])
}

/// Takes what was read into the module; all or nothing.
fn add_all(
    module: &mut Module,
    functions: Vec<Function>,
    structs: Vec<StructId>,
) -> Result<Vec<FuncId>, IrError> {
    // Names have been looked at by the reader, so that none of these can fail half-way.
    for id in structs {
        module.adopt_struct(id)?;
    }
    functions.into_iter().map(|function| module.add(function)).collect()
}

/// The text that `bytes` are.
///
/// # Errors
/// If they are not UTF-8: a diagnostic that shows where.
pub fn decode(file_name: &str, bytes: &[u8]) -> Result<String, Diagnostic> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return Ok(text.to_owned()),
        Err(error) => error,
    };
    // What comes before the place is shown, so that its line and column are right, and only a
    // little of the rest: it may well be no text at all.
    let start = error.valid_up_to();
    let to = bytes.len().min(start + 60);
    let line_end = bytes[start..to].iter().position(|&b| b == b'\n').map_or(to, |i| start + i);
    let before = String::from_utf8_lossy(&bytes[..start]).into_owned();
    let after = String::from_utf8_lossy(&bytes[start..line_end]);
    let span = before.len()..before.len() + char::REPLACEMENT_CHARACTER.len_utf8();
    let line = 1 + bytes[..start].iter().filter(|&&b| b == b'\n').count();
    let label = Label { span, text: format!("byte 0x{:02x}", bytes[start]) };
    Err(Diagnostic::error(format!("{file_name} is not UTF-8: byte {start}, in line {line}"))
        .in_text(file_name, format!("{before}{after}"), vec![label]))
}

const STRUCT: &str = "struct";

/// Declares all structs of the text, and then their fields, so that everything can refer to
/// them. What is wrong with them is reported when their lines are read again in turn.
fn read_structs(b: &mut Builder<'_>) {
    let text = b.text;
    let mut lines = Vec::new();
    for at in memchr::memmem::find_iter(text.as_bytes(), STRUCT) {
        // Only looking back over what may stand before it keeps this linear.
        let blank = [' ', '\t', '\r'];
        let before = text[..at].trim_end_matches(blank);
        let before = before.strip_suffix("mutable").unwrap_or(before);
        let indent = before.trim_end_matches(blank);
        if !(indent.is_empty() || indent.ends_with(['\n', '\u{feff}'])) {
            continue;
        }
        let mut tokens = Lexer::new(text, (at + STRUCT.len()) as u32);
        if let Some((start, Token::Global, end)) = tokens.next() {
            b.declare_struct((start, end));
            lines.push(before.len() as u32);
        }
    }
    b.report.muted = true;
    for line in lines {
        let mut ended = false;
        let tokens = Lexer::new(text, line)
            .take_while(|&(_, token, _)| !std::mem::replace(&mut ended, token == Token::Newline));
        if LinesParser::new().parse(b, tokens).is_err() {
            b.drop_line();
        }
    }
    b.report.muted = false;
}

fn read_lines(b: &mut Builder<'_>) {
    let text = b.text;
    let mut start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() as u32 } else { 0 };
    while !b.report.is_hopeless() {
        let mut lexer = Lexer::new(text, start);
        let error = match LinesParser::new().parse(b, &mut lexer) {
            Ok(()) => return,
            Err(error) => error,
        };
        let (at, token, expected) = match error {
            ParseError::UnrecognizedToken { token: (start, token, end), expected } => {
                ((start, end), token, expected)
            }
            ParseError::ExtraToken { token: (start, token, end) } => {
                ((start, end), token, Vec::new())
            }
            ParseError::UnrecognizedEof { location, expected } => {
                ((location, location), Token::Newline, expected)
            }
            ParseError::InvalidToken { location } => {
                ((location, location), Token::Invalid, Vec::new())
            }
        };
        let line = lexer.line_start();
        let (end, resume) = resume(b, &mut lexer, line, at, token);
        report_line(b, line, end, at, token, &expected);
        start = resume;
    }
}

/// The places where a line that is wrong at `at` ends, and where reading goes on.
///
/// The line ends at the next newline that counts. But a bracket or comma too much makes a newline
/// not count; so it also ends before a line that looks as only the start of a line does.
fn resume(b: &Builder<'_>, lexer: &mut Lexer<'_>, line: u32, at: Span, token: Token) -> (u32, u32) {
    if token == Token::Newline {
        return (at.0, at.1);
    }
    let text = b.text;
    let same_line = text[line as usize..at.0 as usize].rfind('\n').map(|i| line + i as u32 + 1);
    if let Some(start) = same_line
        && starts_line(b, start)
    {
        return (start, start);
    }
    let mut last_end = at.1;
    let mut continues = token.continues();
    for (start, token, end) in lexer {
        if token == Token::Newline {
            return (start, end);
        }
        if continues
            && text[last_end as usize..start as usize].contains('\n')
            && starts_line(b, start)
        {
            return (start, start);
        }
        (last_end, continues) = (end, token.continues());
    }
    (text.len() as u32, text.len() as u32)
}

/// Returns whether the text at `at` looks as only the start of a line does.
fn starts_line(b: &Builder<'_>, at: u32) -> bool {
    let rest = &b.text[at as usize..];
    let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
    let mut tokens =
        Lexer::new(line, 0).map(|(start, token, end)| (token, &line[start as usize..end as usize]));
    let Some((first, text)) = tokens.next() else { return false };
    match first {
        Token::Func | Token::Struct | Token::Mutable | Token::CloseBrace => true,
        Token::Word | Token::Call => b.ctx.registry().find(text).is_some(),
        Token::Value => match tokens.next() {
            Some((Token::Equals, _)) => true,
            Some((Token::Colon, _)) => tokens.any(|(token, _)| token == Token::Equals),
            _ => false,
        },
        Token::Block => tokens
            .take_while(|&(token, _)| token != Token::Newline)
            .last()
            .is_some_and(|(token, _)| token == Token::Colon),
        _ => false,
    }
}

fn report_line(
    b: &mut Builder<'_>,
    line: u32,
    end: u32,
    at: Span,
    token: Token,
    expected: &[String],
) {
    let text = &b.text[..end as usize];
    let mut tokens = Lexer::new(text, line).take_while(|&(_, token, _)| token != Token::Newline);
    let first = Lexer::new(text, line).next();
    if let Some((start, Token::Word, word_end)) = first
        && b.ctx.registry().find(b.slice((start, word_end))).is_none()
    {
        // What follows a word that does not exist cannot be judged.
        if b.report_unknown((start, word_end)) == Some("func") {
            b.broken_head(start, &mut tokens);
            return;
        }
    } else {
        report_token(b, at, token, expected);
    }
    b.broken_line(&mut tokens);
}

fn report_token(b: &mut Builder<'_>, at: Span, token: Token, expected: &[String]) {
    let found = b.slice(at);
    match token {
        Token::Unterminated => {
            b.error(at, "the string is not closed".to_owned(), "expected `\"` on this line");
        }
        Token::TooDeep => {
            b.error(at, format!("brackets are nested more than {MAX_DEPTH} deep"), "one too many");
        }
        Token::Invalid => {
            let c = b.text[at.0 as usize..].chars().next().unwrap_or(' ');
            let at = (at.0, at.0 + c.len_utf8() as u32);
            let (message, label) = match c {
                '%' => ("`%` needs the number or name of a value".to_owned(), "such as `%1`"),
                '^' => ("`^` needs the number of a block".to_owned(), "such as `^1`"),
                '@' => ("`@` needs a name".to_owned(), "such as `@f`"),
                c => (format!("unexpected character `{}`", c.escape_debug()), ""),
            };
            b.error(at, message, label);
        }
        _ => {
            let found = match token {
                Token::Newline if at.0 == at.1 => "the end of the file".to_owned(),
                Token::Newline => "the end of the line".to_owned(),
                _ => format!("`{found}`"),
            };
            let at = if token == Token::Newline { (at.0, at.0) } else { at };
            let expected = expected_words(expected, IR_GROUPS, describe_ir);
            b.error(
                at,
                format!("expected {expected}, found {found}"),
                &format!("expected {expected}"),
            );
        }
    }
}
