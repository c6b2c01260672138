//! `regraft repl`: definitions, expressions and commands, one after the other.
//!
//! [`Repl`] is independent of where its inputs come from: a terminal ([`terminal`]) or a script on
//! the standard input, which is treated line by line. Each input either does what it says or is
//! refused with diagnostics; nothing but `:quit` and the end of the input ends the session, not
//! even a bug of ours.

mod commands;
mod completion;
mod console;
mod current;
mod files;
mod highlight;
mod interrupt;
mod look;
mod pages;
mod paste;
mod profile;
mod reader;
mod run;
mod saved;
mod symbols;
mod terminal;
mod transform;
mod values;

use std::io::{self, BufRead, BufWriter, IsTerminal};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use regraft_exec::Profile;
use regraft_ir::{Context, Diagnostic};
use regraft_lang::Session;
use regraft_passes::{O2, Pipeline};
use regraft_syntax::decode;

use crate::cli::Tool;
use crate::cli::output::is_colored;
use console::Console;
use current::Current;
pub(crate) use interrupt::Interruptible;
use paste::Paste;
use saved::Globals;

/// The number of lines from which on an input is a long one.
const LONG: usize = 50;

/// The state after an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outcome {
    /// The next one can come.
    Continue,
    /// The input goes on in the next line.
    More,
    /// The session is over.
    Quit,
}

/// The result of a command.
type Done = Result<Outcome, Vec<Diagnostic>>;

/// A session with its current program.
struct Repl {
    /// The passes and ops that there are, and how the command is called.
    tool: Tool,
    ctx: Arc<Context>,
    session: Session,
    /// The pipeline that `:opt` applies if it is not told otherwise.
    pipeline: Pipeline,
    current: Option<Current>,
    /// The inputs that succeeded, as `:save` writes them.
    inputs: Vec<String>,
    /// The input whose value is `ans`.
    answer: Option<usize>,
    /// The global variables that they assign.
    globals: Globals,
    /// The lines of an input that is not whole yet.
    pending: String,
    /// The number of lines of it.
    pending_lines: usize,
    /// Whether lines are copied from a prompt.
    paste: Paste,
    /// True if inputs come from a terminal.
    on_terminal: bool,
    /// The guard by which Ctrl-C stops the session's programs.
    watched: Option<Interruptible>,
    /// The last profile.
    profile: Option<Profile>,
}

impl Repl {
    /// A session in which nothing has been defined yet.
    fn new(tool: &Tool) -> Self {
        // Tools can have other passes than ours.
        let pipeline = Pipeline::parse(tool.registry(), O2.name).unwrap_or_default();
        let ctx = tool.context();
        Self {
            tool: tool.clone(),
            session: Session::new(&ctx),
            ctx,
            pipeline,
            current: None,
            inputs: Vec::new(),
            answer: None,
            globals: Globals::default(),
            pending: String::new(),
            pending_lines: 0,
            paste: Paste::default(),
            on_terminal: false,
            watched: None,
            profile: None,
        }
    }

    /// Lets pipelines have the passes that programs have defined.
    fn know_passes(&mut self) -> Result<(), Vec<Diagnostic>> {
        for pass in self.session.passes() {
            self.tool.passes().define_pass(pass).map_err(|why| vec![Diagnostic::error(why)])?;
        }
        Ok(())
    }

    /// Begins anew, without definitions and programs.
    fn reset(&mut self) {
        let mut fresh = Self::new(&self.tool);
        fresh.on_terminal = self.on_terminal;
        if self.watched.is_some() {
            fresh.connect();
        }
        *self = fresh;
    }

    /// Passes on what programs print, and lets Ctrl-C stop them.
    fn connect(&mut self) {
        if io::stdout().is_terminal() {
            self.session.set_output(Box::new(io::stdout()));
        } else {
            self.session.set_output(Box::new(BufWriter::new(io::stdout())));
        }
        self.watched = Some(Interruptible::new(self.session.interrupt_flag()));
    }

    /// Takes in one line.
    fn line(&mut self, line: &str, console: &mut Console<'_>) -> Outcome {
        let begins = self.pending.is_empty();
        let Some(line) = self.paste.input(line, begins, !self.on_terminal) else {
            return Outcome::Continue;
        };
        if self.pending.is_empty() {
            if line.trim().is_empty() {
                return Outcome::Continue;
            }
            if reader::command(line).is_some() {
                return self.guarded(line, console, Self::command);
            }
            if let Some(name) = reader::question(line) {
                let is_command = name.is_empty() || name.starts_with(':');
                let page = if is_command { commands::help } else { pages::about };
                return self.guarded(name, console, page);
            }
        }
        self.pending.push_str(line);
        self.pending.push('\n');
        self.pending_lines += 1;
        // To look at the whole input after each line takes quadratic time: in a long one of a
        // script, only lines that are not indented are taken for its end.
        let indented = line.is_empty() || line.starts_with(char::is_whitespace);
        if !self.on_terminal && self.pending_lines > LONG && indented {
            return Outcome::More;
        }
        let text = std::mem::take(&mut self.pending);
        let incomplete = || reader::is_incomplete(self.ctx.registry(), &text);
        match catch_unwind(AssertUnwindSafe(incomplete)) {
            Ok(true) => {
                self.pending = text;
                Outcome::More
            }
            Ok(false) => {
                self.pending_lines = 0;
                self.guarded(&text, console, values::evaluate)
            }
            Err(_) => {
                self.pending_lines = 0;
                self.bug(console)
            }
        }
    }

    /// Takes in the end of the inputs: what is not whole yet is refused.
    fn finish(&mut self, console: &mut Console<'_>) {
        let text = std::mem::take(&mut self.pending);
        self.pending_lines = 0;
        self.paste = Paste::default();
        if !text.is_empty() {
            self.guarded(&text, console, values::evaluate);
        }
    }

    /// Keeps an input for `:save`.
    fn record(&mut self, text: &str) {
        let saved = self.globals.saved(self.ctx.registry(), text);
        if reader::names(&saved, "ans")
            && let Some(before) = self.answer.and_then(|at| self.inputs.get_mut(at))
        {
            // A script has to say what the prompt does by itself.
            *before = format!("ans = begin\n{before}\nend");
        }
        self.answer = Some(self.inputs.len());
        self.inputs.push(saved.trim_end().to_owned());
    }

    fn command(&mut self, text: &str, console: &mut Console<'_>) -> Done {
        let Some((name, rest)) = reader::command(text) else { return Ok(Outcome::Continue) };
        let command = commands::find(&text[name.clone()]).map_err(|error| {
            // The colon belongs to it.
            let source = self.ctx.add_source("REPL", text.to_owned());
            vec![match source {
                Some(source) => error.at(&source, name.start - 1..name.end, ""),
                None => error,
            }]
        })?;
        (command.run)(self, rest, console)
    }

    /// Does something with an input. A panic is a bug of ours, told as one, and the session goes on.
    fn guarded(
        &mut self,
        text: &str,
        console: &mut Console<'_>,
        run: fn(&mut Self, &str, &mut Console<'_>) -> Done,
    ) -> Outcome {
        // What was to be interrupted before is over.
        self.session.interrupt_flag().store(false, Ordering::Relaxed);
        match catch_unwind(AssertUnwindSafe(|| run(self, text, console))) {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(diagnostics)) => {
                // The terminal has written `^C`.
                if self.on_terminal && self.session.interrupt_flag().load(Ordering::Relaxed) {
                    console.printed("\n");
                }
                console.report(&diagnostics);
                Outcome::Continue
            }
            Err(_) => {
                console.printed(&self.session.take_output());
                self.bug(console)
            }
        }
    }

    fn bug(&self, console: &mut Console<'_>) -> Outcome {
        console.report(&[Diagnostic::error(self.tool.bug()).help("the session goes on")]);
        Outcome::Continue
    }
}

/// Runs a session on the terminal, or on the standard input if that is no terminal, after having
/// loaded `files` in order.
///
/// # Errors
/// If results cannot be written.
pub(crate) fn run(files: &[PathBuf], tool: &Tool) -> io::Result<()> {
    // Until there is a session, Ctrl-C has nothing to stop.
    let _watched = Interruptible::new(Arc::default());
    let mut repl = Repl::new(tool);
    let (mut stdout, mut stderr) = (io::stdout(), io::stderr());
    let colors = (is_colored(&io::stdout()), is_colored(&io::stderr()));
    let mut console = Console::new(&mut stdout, &mut stderr).colored(colors.0, colors.1);
    repl.connect();
    for file in files {
        let name = file.display().to_string();
        repl.guarded(&name, &mut console, files::load);
    }
    if io::stdin().is_terminal() && io::stdout().is_terminal() {
        repl.on_terminal = true;
        terminal::run(&mut repl, &mut console)?;
    } else {
        script(&mut repl, &mut console)?;
    }
    match console.into_broken() {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Takes inputs from the standard input until it ends.
fn script(repl: &mut Repl, console: &mut Console<'_>) -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut bytes = Vec::new();
    while !console.is_broken() {
        bytes.clear();
        if input.read_until(b'\n', &mut bytes)? == 0 {
            repl.finish(console);
            return Ok(());
        }
        match decode("<stdin>", &bytes) {
            Ok(line) => {
                let line = line.strip_suffix('\n').unwrap_or(&line);
                let line = line.strip_suffix('\r').unwrap_or(line);
                if repl.line(line, console) == Outcome::Quit {
                    return Ok(());
                }
            }
            Err(error) => console.report(&[error]),
        }
    }
    Ok(())
}

/// Refuses an argument of a command that takes none.
fn no_argument(rest: &str) -> Result<(), Vec<Diagnostic>> {
    match rest {
        "" => Ok(()),
        _ => {
            Err(vec![Diagnostic::error(format!("`{rest}` is too much: nothing is expected here"))])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repl() -> Repl {
        Repl::new(&Tool::new())
    }

    #[test]
    fn a_panic_is_told_as_a_bug_and_the_session_goes_on() {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut console = Console::new(&mut out, &mut err);
        let mut repl = repl();
        let outcome = repl.guarded("", &mut console, |_, _, _| panic!("a bug"));
        assert_eq!(outcome, Outcome::Continue);
        assert_eq!(repl.line(":pipeline dce", &mut console), Outcome::Continue);
        assert_eq!(repl.line(":pipeline", &mut console), Outcome::Continue);
        assert!(String::from_utf8(err).unwrap().contains("this is a bug of regraft"));
        assert_eq!(String::from_utf8(out).unwrap(), "dce\n");
    }

    #[test]
    fn only_quit_quits() {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut console = Console::new(&mut out, &mut err);
        let mut repl = repl();
        for line in ["", ":", ":quit now", ":quti", "\0", ":save", ":load /none"] {
            assert_ne!(repl.line(line, &mut console), Outcome::Quit, "{line}");
        }
        repl.finish(&mut console);
        assert_eq!(repl.line(" :quit ", &mut console), Outcome::Quit);
    }
}
