//! The code of a document, pasted into the prompt block by block, and what is printed beside what the document shows.
//!
//! A block is a fenced one of Markdown. Behind `julia> ` stand inputs, with what they print behind them; the other lines
//! are inputs too, unless the block begins with IR as it is shown (`1: (%1)`).

use std::io::{self, PipeReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use regraft_dialects::context;
use regraft_lang::Completeness;

use crate::pieces::pieces;

/// A fenced block of a document.
#[derive(Clone, Debug)]
pub struct Block {
    /// The number of its first line.
    pub line: usize,
    /// The words behind the fence.
    pub language: String,
    /// The lines within, without the room in front that the fence has.
    pub text: String,
}

/// An input, and what the document says that it prints.
#[derive(Clone, Debug)]
pub struct Input {
    /// The lines as they stand in the document, prompt and result included.
    pub text: String,
    /// The result that is shown.
    pub shown: Option<String>,
}

/// The outcome of an input.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The input.
    pub input: Input,
    /// The text that the prompt printed.
    pub printed: String,
}

impl Answer {
    /// Returns whether it prints what is shown; `None` if nothing is.
    pub fn is_equal(&self) -> Option<bool> {
        self.input.shown.as_ref().map(|shown| settled(shown) == settled(&self.printed))
    }

    /// Returns whether the prompt refused it.
    pub fn is_refused(&self) -> bool {
        self.printed
            .lines()
            .any(|line| line.starts_with("error: ") || line.starts_with("  × ") || line == "Error:")
    }
}

/// What is done besides feeding the blocks, by their numbers from 1.
#[derive(Clone, Default, Debug)]
pub struct Extras {
    /// Code that is run before a block.
    pub before: Vec<(usize, String)>,
    /// The input whose result a block shows.
    pub values: Vec<(usize, String)>,
    /// Files that hold what stands in a block.
    pub files: Vec<(usize, String)>,
}

/// The fenced blocks of a document.
pub fn blocks(document: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<(usize, Block)> = None;
    for (at, line) in document.lines().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let fence = line.trim_start().strip_prefix("```");
        match (&mut open, fence) {
            (None, Some(language)) => {
                let language = language.trim().to_owned();
                open = Some((indent, Block { line: at + 2, language, text: String::new() }));
            }
            (Some(_), Some("")) => found.extend(open.take().map(|(_, block)| block)),
            (Some((room, block)), _) => {
                let line = line.get((*room).min(indent)..).unwrap_or("");
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    found
}

impl Block {
    /// Returns whether it shows a result, and has no inputs.
    pub fn is_result(&self) -> bool {
        let first = self.text.trim_start().lines().next().unwrap_or_default();
        first.split_once(':').is_some_and(|(number, rest)| {
            number.parse::<u32>().is_ok() && (rest.is_empty() || rest.starts_with(" ("))
        })
    }

    /// Its inputs, in order.
    pub fn inputs(&self) -> Vec<Input> {
        let is_prompt = |line: &str| line.starts_with("julia> ");
        let lines: Vec<&str> = self.text.lines().collect();
        let first = lines.iter().position(|line| is_prompt(line)).unwrap_or(lines.len());
        let plain = pieces(&lines[..first].join("\n"), 1);
        let mut inputs: Vec<Input> =
            plain.into_iter().map(|(_, text)| Input { text, shown: None }).collect();
        let mut rest = &lines[first..];
        while !rest.is_empty() {
            let end =
                rest[1..].iter().position(|line| is_prompt(line)).map_or(rest.len(), |at| at + 1);
            let (one, behind) = rest.split_at(end);
            rest = behind;
            let mut count = 1;
            while count < one.len() && is_incomplete(&one[..count]) {
                count += 1;
            }
            let shown = one[count..].join("\n").trim().to_owned();
            let text = format!("{}\n\n", one.join("\n").trim_end());
            inputs.push(Input { text, shown: (!shown.is_empty()).then_some(shown) });
        }
        inputs
    }
}

fn is_incomplete(lines: &[&str]) -> bool {
    let text = lines.join("\n").replacen("julia> ", "", 1) + "\n";
    Completeness::of(context().registry(), &text) == Completeness::Incomplete
}

/// A result without what is not looked at: room around it and at the ends of lines.
fn settled(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
    lines.join("\n")
}

/// Feeds the blocks to one prompt, which runs in `folder`; the answers, block by block.
///
/// # Errors
/// If the prompt cannot be run, or files not be written.
pub fn run(
    prompt: &Path,
    folder: &Path,
    blocks: &[Block],
    extras: &Extras,
) -> io::Result<Vec<Vec<Answer>>> {
    for (number, name) in &extras.files {
        if let Some(block) = number.checked_sub(1).and_then(|at| blocks.get(at)) {
            std::fs::write(folder.join(name), &block.text)?;
        }
    }
    let mut inputs = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let of_block = |list: &[(usize, String)]| -> Vec<String> {
            list.iter()
                .filter(|(number, _)| *number == at + 1)
                .map(|(_, text)| text.clone())
                .collect()
        };
        for code in of_block(&extras.before) {
            inputs.push((None, Input { text: code, shown: None }));
        }
        if block.is_result() {
            let shown = Some(block.text.clone());
            let values = of_block(&extras.values).into_iter();
            inputs.extend(values.map(|text| (Some(at), Input { text, shown: shown.clone() })));
        } else {
            inputs.extend(block.inputs().into_iter().map(|input| (Some(at), input)));
        }
    }
    let printed = answers(prompt, folder, inputs.iter().map(|(_, input)| &*input.text))?;
    let mut found = vec![Vec::new(); blocks.len()];
    for ((at, input), printed) in inputs.into_iter().zip(printed) {
        if let Some(at) = at {
            found[at].push(Answer { input, printed });
        }
    }
    Ok(found)
}

/// Returns the text that the prompt prints for each input.
fn answers<'a>(
    prompt: &Path,
    folder: &Path,
    inputs: impl ExactSizeIterator<Item = &'a str>,
) -> io::Result<Vec<String>> {
    let (mut reader, writer): (PipeReader, _) = io::pipe()?;
    let mut child = Command::new(std::path::absolute(prompt)?)
        .arg("repl")
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .spawn()?;
    let count = inputs.len();
    let mut script = String::new();
    for (at, input) in inputs.enumerate() {
        // An empty line ends what was pasted.
        let end = if input.starts_with("julia> ") { "\n" } else { "" };
        let input = input.trim_end();
        script.push_str(&format!("{input}\n{end}println(\"{}\")\n", marker(at)));
    }
    let mut stdin =
        child.stdin.take().ok_or_else(|| io::Error::other("the prompt takes no input"))?;
    let writer = std::thread::spawn(move || stdin.write_all(script.as_bytes()));
    let mut output = Vec::new();
    reader.read_to_end(&mut output)?;
    // A prompt that ends early does not read the rest.
    let _ = writer.join();
    child.wait()?;
    let output = String::from_utf8_lossy(&output);
    let mut rest = &*output;
    let mut found = Vec::new();
    for at in 0..count {
        let (printed, behind) = rest.split_once(&format!("{}\n", marker(at))).unwrap_or((rest, ""));
        found.push(printed.to_owned());
        rest = behind;
    }
    Ok(found)
}

fn marker(at: usize) -> String {
    format!("::end of input {at}::")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_and_results_are_told_apart() {
        let text = "a\n```julia\nx = 1\njulia> f(x) =\n         x\nf\n\njulia> f(2)\n2\n```\n```\n1: (%1)\n  return %1\n```\n";
        let found = blocks(text);
        assert_eq!((found.len(), found[0].line, &*found[0].language), (2, 3, "julia"));
        let inputs = found[0].inputs();
        let shown: Vec<_> = inputs.iter().map(|input| input.shown.as_deref()).collect();
        assert_eq!(shown, [None, Some("f"), Some("2")]);
        assert!(!found[0].is_result() && found[1].is_result());
    }
}
