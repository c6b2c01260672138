//! The REPL on a terminal: line editing by reedline, with history, completion, colours, and
//! inputs of several lines.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use nu_ansi_term::{Color, Style};
use reedline::{
    ColumnarMenu, Completer, CompletionResult, DefaultHinter, EditCommand, Emacs,
    FileBackedHistory, Highlighter, KeyCode, KeyModifiers, MenuBuilder, Prompt, PromptEditMode,
    PromptHistorySearch, PromptHistorySearchStatus, Reedline, ReedlineEvent, ReedlineMenu, Signal,
    Span, StyledText, Suggestion, ValidationResult, Validator, default_emacs_keybindings,
};
use regraft_ir::Registry;

use super::completion::Vocabulary;
use super::console::Console;
use super::highlight::{Paint, pieces};
use super::{Outcome, Repl, reader};
use crate::cli::output::is_colored;
use crate::paint::style as word_style;

/// The inputs that are kept in the history file.
const HISTORY: usize = 10_000;
const MENU: &str = "completions";

/// Takes inputs until the user leaves.
///
/// # Errors
/// If the terminal fails.
pub(super) fn run(repl: &mut Repl, console: &mut Console<'_>) -> io::Result<()> {
    let vocabulary = Vocabulary::new(repl.tool.registry(), repl.ctx.registry());
    let vocabulary = Arc::new(Mutex::new(vocabulary));
    let mut editor = editor(Arc::clone(repl.ctx.registry()), Arc::clone(&vocabulary));
    let (name, version) = (repl.tool.name(), repl.tool.version());
    console.result(&format!("{name} {version}; :help lists the commands, :quit or Ctrl-D leaves"));
    let prompt = Named(name.to_owned());
    while !console.is_broken() {
        vocabulary.lock().unwrap_or_else(PoisonError::into_inner).names = repl.session.names();
        let text = match editor.read_line(&prompt) {
            Ok(Signal::Success(text)) => text,
            Ok(Signal::CtrlD) => return Ok(()),
            // Ctrl-C drops the line.
            Ok(_) => continue,
            Err(error) => return Err(io::Error::other(error.to_string())),
        };
        for line in text.lines() {
            if repl.line(line, console) == Outcome::Quit {
                return Ok(());
            }
        }
        repl.finish(console);
    }
    Ok(())
}

fn editor(ops: Arc<Registry>, vocabulary: Arc<Mutex<Vocabulary>>) -> Reedline {
    let mut keys = default_emacs_keybindings();
    let complete = vec![ReedlineEvent::Menu(MENU.to_owned()), ReedlineEvent::MenuNext];
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, ReedlineEvent::UntilFound(complete));
    keys.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, ReedlineEvent::MenuPrevious);
    let newline = ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
    keys.add_binding(KeyModifiers::ALT, KeyCode::Enter, newline);
    let menu = ColumnarMenu::default()
        .with_name(MENU)
        .with_marker("> ")
        .with_columns(4)
        .with_column_padding(2);
    let hint = DefaultHinter::default().with_style(Style::new().fg(Color::DarkGray));
    let mut editor = Reedline::create()
        .with_edit_mode(Box::new(Emacs::new(keys)))
        .with_completer(Box::new(Names(vocabulary)))
        .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
        .with_quick_completions(true)
        .with_partial_completions(true)
        .with_highlighter(Box::new(Colors))
        .with_validator(Box::new(Whole(ops)))
        .with_hinter(Box::new(hint))
        .use_bracketed_paste(true)
        .with_ansi_colors(is_colored(&io::stdout()));
    // Without a file the history lasts as long as the session.
    let history = history_file().and_then(|file| FileBackedHistory::with_file(HISTORY, file).ok());
    if let Some(history) = history {
        editor = editor.with_history(Box::new(history));
    }
    editor
}

/// `regraft/history` in the folder for the data of the user; `REGRAFT_HISTORY` names another file,
/// or none at all if it is empty.
fn history_file() -> Option<PathBuf> {
    if let Some(file) = std::env::var_os("REGRAFT_HISTORY") {
        return (!file.is_empty()).then(|| file.into());
    }
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let data = folder("XDG_DATA_HOME")
        .or_else(|| folder("LOCALAPPDATA"))
        .or_else(|| Some(std::env::home_dir()?.join(".local/share")))?;
    Some(data.join("regraft/history"))
}

/// The prompt: the name of the tool, and dots of the same width before further lines.
struct Named(String);

impl Prompt for Named {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.0)
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed("> ")
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Owned(format!("{:>1$} ", "..", self.0.chars().count()))
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        let failing = match search.status {
            PromptHistorySearchStatus::Passing => "",
            PromptHistorySearchStatus::Failing => "nothing ",
        };
        Cow::Owned(format!("({failing}like `{}`) ", search.term))
    }
}

struct Names(Arc<Mutex<Vocabulary>>);

impl Completer for Names {
    fn complete(&mut self, line: &str, pos: usize) -> CompletionResult {
        let before = &line[..line.floor_char_boundary(pos)];
        let vocabulary = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = vocabulary.complete(before).into_iter().map(|candidate| Suggestion {
            value: candidate.value,
            description: Some(candidate.description).filter(|text| !text.is_empty()),
            span: Span::new(candidate.start, before.len()),
            append_whitespace: candidate.space,
            ..Suggestion::default()
        });
        CompletionResult::fresh(found.collect::<Vec<_>>())
    }
}

struct Colors;

impl Highlighter for Colors {
    fn highlight(&self, line: &str, _: usize) -> StyledText {
        let mut text = StyledText::new();
        let mut at = 0;
        for (span, paint) in pieces(line) {
            text.push((Style::new(), line[at..span.start].to_owned()));
            text.push((style(paint), line[span.clone()].to_owned()));
            at = span.end;
        }
        text.push((Style::new(), line[at..].to_owned()));
        text
    }
}

fn style(paint: Paint) -> Style {
    match paint {
        Paint::Command => Style::new().fg(Color::Cyan).bold(),
        Paint::WrongCommand => Style::new().fg(Color::Red),
        Paint::Word(class) => word_style(class),
    }
}

/// Decides whether Enter ends an input or begins another line of it.
struct Whole(Arc<Registry>);

impl Validator for Whole {
    fn validate(&self, text: &str) -> ValidationResult {
        if reader::is_whole(&self.0, text) {
            ValidationResult::Complete
        } else {
            ValidationResult::Incomplete
        }
    }
}
