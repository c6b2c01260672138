//! The commands: what each is called, takes and does, and its page.

use std::fmt::Write;

use regraft_ir::{Diagnostic, suggest};

use super::console::Console;
use super::{
    Done, Outcome, Repl, files, look, no_argument, pages, profile, run, transform, values,
};

/// The kind of argument of a command, for completion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wants {
    /// Nothing.
    Nothing,
    /// A call or an expression.
    Code,
    /// A call, then perhaps `-p` and a pipeline.
    CodeAndPipeline,
    /// A pipeline.
    Pipeline,
    /// The name of a pass.
    Pass,
    /// The name of an op or a dialect.
    Op,
    /// The name of a command.
    Command,
    /// A file.
    File,
}

/// A command of the REPL.
#[derive(Debug)]
pub(super) struct Command {
    /// Its names without the colon; the first is the one to use.
    pub(super) names: &'static [&'static str],
    /// Its arguments, as its page writes them.
    pub(super) arguments: &'static str,
    /// Its effect, in one line.
    pub(super) summary: &'static str,
    /// The rest of its page.
    pub(super) page: &'static str,
    /// The completion of its argument.
    pub(super) wants: Wants,
    /// Does it; the text is what stands behind the name.
    pub(super) run: fn(&mut Repl, &str, &mut Console<'_>) -> Done,
}

impl Command {
    /// Its name with the colon and what it takes.
    pub(super) fn usage(&self) -> String {
        format!(":{} {}", self.names[0], self.arguments).trim_end().to_owned()
    }
}

/// The command of this name (without the colon).
///
/// # Errors
/// If there is none.
pub(super) fn find(name: &str) -> Result<&'static Command, Diagnostic> {
    if let Some(command) = COMMANDS.iter().find(|command| command.names.contains(&name)) {
        return Ok(command);
    }
    let error = Diagnostic::error(format!("there is no command `:{name}`"));
    // The short names are near to everything.
    let names = COMMANDS.iter().flat_map(|command| command.names.iter().copied());
    let names = names.filter(|known| known.len() > 1);
    Err(match suggest(name, names) {
        Some(near) => error.help(format!("did you mean `:{near}`?")),
        None => error.help("`:help` lists the commands; a symbol as an expression is `(:name)`"),
    })
}

/// All commands, in the order of `:help`.
pub(super) static COMMANDS: &[Command] = &[
    Command {
        names: &["help", "h", "?"],
        arguments: "[COMMAND]",
        summary: "list the commands, or tell more about one",
        page: "",
        wants: Wants::Command,
        run: help,
    },
    Command {
        names: &["quit", "q", "exit"],
        arguments: "",
        summary: "leave; so does Ctrl-D on an empty line",
        page: "",
        wants: Wants::Nothing,
        run: |_, rest, _| no_argument(rest).map(|()| Outcome::Quit),
    },
    Command {
        names: &["time"],
        arguments: "EXPR",
        summary: "evaluate, and tell how long it took",
        page: "The time is that of everything: parsing, inference of what is called for the first\n\
               time with such arguments, and the run itself. Ask twice for the run alone.\n",
        wants: Wants::Code,
        run: values::time,
    },
    Command {
        names: &["profile"],
        arguments: "[CALL]",
        summary: "run a call, and show which functions its time goes to",
        page: "    :profile foo(1.0, 2.0)\n\n\
               A table of functions: how often each was called, the time in it but not in\n\
               functions that it calls (self), and the time in it. The time in which code is\n\
               compiled meanwhile is left out. Without a call, the table of the last one.\n\
               `regraft profile` writes flame graphs and traces.\n",
        wants: Wants::Code,
        run: profile::profile,
    },
    Command {
        names: &["record"],
        arguments: "[--ops] CALL",
        summary: "run a call, and show when each function starts and ends",
        page: "    :record foo(1.0, 2.0)\n    \
               :record --ops foo(1.0, 2.0)\n\n\
               One line for each start and each end, indented by nesting, with the nanoseconds\n\
               since the first. With `--ops`, arithmetic and elementary functions too.\n",
        wants: Wants::Code,
        run: profile::record,
    },
    Command {
        names: &["reset"],
        arguments: "",
        summary: "forget all definitions and the current program",
        page: "The session is as at its start: without definitions, programs and the inputs that\n\
               `:save` writes, and with the pipeline that a session begins with.\n",
        wants: Wants::Nothing,
        run: |repl, rest, _| {
            no_argument(rest)?;
            repl.reset();
            Ok(Outcome::Continue)
        },
    },
    Command {
        names: &["grad", "g"],
        arguments: "CALL",
        summary: "show value and gradient of a call",
        page: "    :grad f(1.0, [1.0, 2.0])\n\n\
               The function is one of the session: of a script, or of an IR file that was loaded.\n\
               The gradient has one entry for each argument, of its shape: arrays, tuples, named\n\
               tuples. It is `nothing` where there is none, as of an integer. The value has to be\n\
               a real number. As an expression it is `withgradient(f, 1.0, [1.0, 2.0])`.\n",
        wants: Wants::Code,
        run: values::grad,
    },
    Command {
        names: &["load", "l"],
        arguments: "FILE",
        summary: "run a script (.jl), or make an IR file (.ir) the current program",
        page: "A script is run as `regraft run FILE` would; what it defines stays. If a statement\n\
               fails, what was defined before it stays.\n\n\
               An IR file is checked, and becomes the current program; `:ir` shows it. Its\n\
               functions are also functions of the session: `foo(1.0)` calls `@foo`.\n\n\
               The functions of listings of Julia's IR (.lowered) are functions of the session.\n",
        wants: Wants::File,
        run: files::load,
    },
    Command {
        names: &["save"],
        arguments: "FILE",
        summary: "write the inputs as a script (.jl), or the current program as IR (.ir)",
        page: "The script is made of all inputs so far that succeeded, and of the scripts that were\n\
               loaded, in order; commands are left out. Running it, or loading it into another\n\
               session, defines the same again.\n\n\
               With a name that ends in `.ir`, the current program is written, as `:ir` shows it.\n",
        wants: Wants::File,
        run: files::save,
    },
    Command {
        names: &["ir"],
        arguments: "[CALL | @FUNCTION]",
        summary: "make the function that a call runs the current program, and show it",
        page: "The function is shown typed, specialised to the types of the arguments, and after\n\
               it all functions that it calls. The arguments are evaluated, for their types; the\n\
               call itself is not run. Types will do as well:\n\n    \
               :ir foo(1.0, [1, 2])\n    \
               :ir foo(Float64, Vector{Int64})\n\n\
               (The method for a type itself is named by the type of that: `zero(Type{Float64})`.)\n\n\
               The current program is a copy: `:opt` changes it, `:undo` and `:redo` go back and\n\
               forth, and nothing of this changes the functions of the session. When `foo` is\n\
               defined anew, `:ir foo(..)` takes the new definition.\n\n\
               Without a call, the current program is shown as it is now, and with `@foo` its\n\
               function of that name.\n",
        wants: Wants::Code,
        run: look::ir,
    },
    Command {
        names: &["typed"],
        arguments: "[CALL]",
        summary: "as :ir CALL; without a call, begin anew with that of the current program",
        page: "Without a call, the function that the current program was made from is typed again:\n\
               without the pipelines, and with what has been defined since.\n",
        wants: Wants::Code,
        run: look::typed,
    },
    Command {
        names: &["lowered"],
        arguments: "[CALL]",
        summary: "show the method that a call dispatches to, as it was written",
        page: "This is IR of generic calls before inference: all values are of type `any`. It is\n\
               only shown; the current program stays what it is. Without a call, that of the\n\
               current program is taken.\n",
        wants: Wants::Code,
        run: look::lowered,
    },
    Command {
        names: &["dot"],
        arguments: "[CALL | @FUNCTION]",
        summary: "show the control flow graph as Graphviz text",
        page: "With a call, the function that it runs becomes the current program. `@FUNCTION` is\n\
               another function of the current program, as `:ir` shows them. To see the picture,\n\
               give the text to `dot -Tsvg`.\n",
        wants: Wants::Code,
        run: look::dot,
    },
    Command {
        names: &["pipeline", "p"],
        arguments: "[PIPELINE]",
        summary: "set the pipeline that :opt applies, or show it",
        page: "    :pipeline fold, dce\n    \
               :pipeline fix{max=4}(simplify-cfg, fold, cse, dce)\n    \
               :pipeline O2\n\n\
               `O2` is what a session begins with. `:passes` lists what pipelines are made of.\n",
        wants: Wants::Pipeline,
        run: transform::pipeline,
    },
    Command {
        names: &["opt", "o"],
        arguments: "[CALL] [-p PIPELINE]",
        summary: "apply a pipeline to the current program, and show what changed",
        page: "    :opt foo(1.0, 2.0)\n    \
               :opt -p inline, fold\n    \
               :opt foo(1.0, 2.0) -p fold, dce\n    \
               :opt --stage lowered foo(1.0, 2.0) -p profile\n\n\
               With a call, the function that it runs becomes the current program first, as with\n\
               `:ir`. Without `-p`, the pipeline is that of `:pipeline`. With `--stage lowered`, it\n\
               is the method as it was written, of calls of generic functions.\n\n\
               The numbers of values and blocks are stable, so that the difference shows what the\n\
               passes did and nothing else. `:undo` takes the pipeline back. If a pass fails, the\n\
               program stays as it was.\n",
        wants: Wants::CodeAndPipeline,
        run: transform::opt,
    },
    Command {
        names: &["explain"],
        arguments: "[%VALUE]",
        summary: "how rules made a value of the current program what it is",
        page: "    :explain %5\n\n\
               The old expression, and under it what it became, with the rule and where it stands.\n\
               Without a value, all that rules have replaced.\n",
        wants: Wants::Nothing,
        run: transform::explain,
    },
    Command {
        names: &["undo", "u"],
        arguments: "",
        summary: "take the last pipeline back",
        page: "What was defined and computed in the session stays as it is: it is the pipelines\n\
               that were applied to the current program that are taken back, the last one first.\n",
        wants: Wants::Nothing,
        run: transform::undo,
    },
    Command {
        names: &["redo", "r"],
        arguments: "",
        summary: "apply again what :undo took back",
        page: "",
        wants: Wants::Nothing,
        run: transform::redo,
    },
    Command {
        names: &["diff", "d"],
        arguments: "",
        summary: "show what all pipelines together changed in the current program",
        page: "That is what was done since the program was made or read, without what was taken back.\n",
        wants: Wants::Nothing,
        run: transform::diff,
    },
    Command {
        names: &["check"],
        arguments: "[N]",
        summary: "run the current program before and after the pipelines on N inputs, and compare",
        page: "Each function is run on N inputs that are made up (20 if not said otherwise), as it was\n\
               first and as it is now. Results, what became of the arguments, output and errors have\n\
               to agree. A run that takes too long is inconclusive.\n",
        wants: Wants::Nothing,
        run: transform::check,
    },
    Command {
        names: &["run"],
        arguments: "[CALL]",
        summary: "run the current program as it is now",
        page: "To see whether a pipeline has changed what the program does. Without a call, it is\n\
               run with the arguments that it was made for. Arguments of another call must have the\n\
               same types:\n\n    \
               :ir foo(1.0)\n    \
               :opt -p fold, dce\n    \
               :run foo(2.5)\n\n\
               Of a program that was read from a file, any function can be run.\n",
        wants: Wants::Code,
        run: run::run,
    },
    Command {
        names: &["passes"],
        arguments: "[NAME]",
        summary: "list the passes, or show the page of one",
        page: "",
        wants: Wants::Pass,
        run: pages::passes,
    },
    Command {
        names: &["ops"],
        arguments: "[NAME]",
        summary: "list the operations, or show the page of one or of a dialect",
        page: "",
        wants: Wants::Op,
        run: pages::ops,
    },
];

/// `:help [COMMAND]`
pub(super) fn help(_: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    if rest.is_empty() {
        console.result(&overview());
        return Ok(Outcome::Continue);
    }
    let command = find(rest.strip_prefix(':').unwrap_or(rest)).map_err(|error| vec![error])?;
    let mut text = format!("{}\n    {}\n", command.usage(), command.summary);
    if let [_, others @ ..] = command.names
        && !others.is_empty()
    {
        let short: Vec<String> = others.iter().map(|name| format!(":{name}")).collect();
        let _ = writeln!(text, "    also: {}", short.join(", "));
    }
    if !command.page.is_empty() {
        let _ = write!(text, "\n{}", command.page);
    }
    console.result(&text);
    Ok(Outcome::Continue)
}

/// The list of the commands, with what one has to know first.
fn overview() -> String {
    let mut out = String::from(
        "Definitions and expressions are evaluated, and values shown, unless the input ends\n\
         with `;`. An input that ends too early goes on in the next line. What begins with a\n\
         colon is a command; `?NAME` tells about a function, a pass, an operation:\n\n",
    );
    let width = COMMANDS.iter().map(|command| command.usage().len()).max().unwrap_or(0);
    for command in COMMANDS {
        let _ = writeln!(out, "  {:width$}  {}", command.usage(), command.summary);
    }
    out.push_str(
        "\nThe current program is a copy of a function and of what it calls. `:ir foo(1.0)` makes\n\
         one and shows it, `:opt` applies a pipeline of passes to it, `:undo` and `:redo` go back\n\
         and forth, `:ir` shows it as it is now, `:save FILE.ir` writes it.\n\n\
         Ctrl-C stops a running program. `:help opt` tells more about `:opt`.\n",
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_stands_for_two_commands() {
        let mut names: Vec<&str> = COMMANDS.iter().flat_map(|c| c.names.iter().copied()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
