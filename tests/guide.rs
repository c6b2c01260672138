//! The examples of the guide on differentiation: what a command or an input is shown to give is
//! what it gives.
//!
//! - A block that begins with `# NAME.jl` or `# NAME.ir` is a file of that name.
//! - A block that begins with `$ regraft` is a command, and what it prints.
//! - A block that begins with `regraft> ` is a piece of one session at the prompt, which goes on
//!   from block to block.
//! - A line `...` stands for any number of lines.
//!
//! `UPDATE_GUIDE=1 cargo test --test guide` writes what is printed today into the guide, where that
//! is something else. Where lines are left out, as many are shown before and after as there were;
//! look at what comes out.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const GUIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/differentiation.md");

/// A line of its own between what one input prints and what the next one prints.
const MARK: &str = "=== next ===";

/// A fenced block of the guide: its lines, and where they are.
struct Block<'a> {
    first: usize,
    lines: Vec<&'a str>,
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<Block<'_>> = None;
    for (at, line) in text.lines().enumerate() {
        match (line.starts_with("```"), open.take()) {
            (true, Some(block)) => blocks.push(block),
            (true, None) => open = Some(Block { first: at + 1, lines: Vec::new() }),
            (false, Some(mut block)) => {
                block.lines.push(line);
                open = Some(block);
            }
            (false, None) => {}
        }
    }
    assert!(open.is_none(), "a block of the guide has no end");
    blocks
}

/// The parts of a block that begin with a line that has this prefix: that line without it, the
/// line that it is, and the lines up to the next one.
fn parts<'a>(block: &Block<'a>, prefix: &str) -> Vec<(&'a str, usize, Vec<&'a str>)> {
    let mut parts: Vec<(&str, usize, Vec<&str>)> = Vec::new();
    for (at, &line) in block.lines.iter().enumerate() {
        match (line.strip_prefix(prefix), parts.last_mut()) {
            (Some(input), _) => parts.push((input, block.first + at, Vec::new())),
            (None, Some(part)) => part.2.push(line),
            (None, None) => {}
        }
    }
    parts
}

/// Whether lines are as they are shown to be. The recursion is as deep as there are lines `...`.
fn agree(shown: &[&str], real: &[&str]) -> bool {
    match shown.iter().position(|&line| line == "...") {
        None => shown == real,
        Some(at) => {
            real.len() >= at
                && shown[..at] == real[..at]
                && (at..=real.len()).any(|from| agree(&shown[at + 1..], &real[from..]))
        }
    }
}

/// What is to be shown in place of `shown`.
fn abridged<'a>(shown: &[&'a str], real: &'a str) -> Vec<&'a str> {
    let real: Vec<&str> = real.lines().collect();
    let Some(before) = shown.iter().position(|&line| line == "...") else { return real };
    let after = shown.len() - before - 1;
    if real.len() <= before + after {
        return real;
    }
    [&real[..before], &["..."], &real[real.len() - after..]].concat()
}

fn folder() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("guide");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// What a command prints, with what it says of errors.
fn run(command: &str, input: &str, folder: &Path) -> String {
    let tool = Path::new(env!("CARGO_BIN_EXE_regraft")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut child = Command::new("sh")
        .args(["-c", &format!("({command}) 2>&1")])
        .env("PATH", format!("{}:{path}", tool.display()))
        .env("NO_COLOR", "1")
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
#[cfg(unix)]
fn what_is_shown_is_what_there_is() {
    let text = std::fs::read_to_string(GUIDE).unwrap();
    let folder = folder();
    let mut inputs = Vec::new();
    let mut found: Vec<(&str, usize, Vec<&str>, String)> = Vec::new();
    for block in blocks(&text) {
        let Some(&first) = block.lines.first() else { continue };
        if let Some(name) = first.strip_prefix("# ")
            && (name.ends_with(".jl") || name.ends_with(".ir"))
        {
            std::fs::write(folder.join(name), block.lines[1..].join("\n") + "\n").unwrap();
        } else if first.starts_with("$ regraft") {
            for (command, at, shown) in parts(&block, "$ ") {
                let real = run(command, "", &folder);
                found.push((command, at, shown, real));
            }
        } else if first.starts_with("regraft> ") {
            inputs.extend(parts(&block, "regraft> "));
        }
    }
    let mut session = String::new();
    for (input, ..) in &inputs {
        writeln!(session, "{input}\nprintln({MARK:?})").unwrap();
    }
    let real = run("regraft repl", &session, &folder);
    let real: Vec<&str> = real.split(&format!("{MARK}\n")).collect();
    assert_eq!(real.len(), inputs.len() + 1, "the session has ended early: {real:?}");
    for ((input, at, shown), real) in inputs.into_iter().zip(real) {
        found.push((input, at, shown, real.to_owned()));
    }
    found.sort_by_key(|&(_, at, ..)| at);
    let wrong: Vec<_> = found
        .iter()
        .filter(|(_, _, shown, real)| !agree(shown, &real.lines().collect::<Vec<_>>()))
        .collect();
    if std::env::var_os("UPDATE_GUIDE").is_some() {
        let mut lines: Vec<&str> = text.lines().collect();
        for (_, at, shown, real) in wrong.iter().rev() {
            lines.splice(at + 1..at + 1 + shown.len(), abridged(shown, real));
        }
        std::fs::write(GUIDE, lines.join("\n") + "\n").unwrap();
        return;
    }
    let mut message = String::new();
    for (input, at, shown, real) in &wrong {
        let shown = shown.join("\n");
        writeln!(message, "\nline {}: {input}\n--- shown\n{shown}\n--- real\n{real}", at + 1)
            .unwrap();
    }
    assert!(wrong.is_empty(), "{message}");
    assert!(found.len() > 30, "examples of the guide are not found: there are {}", found.len());
}
