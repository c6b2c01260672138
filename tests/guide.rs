//! The examples of the guide: what a command or an input is shown to give is what it gives.
//!
//! Each chapter of `docs/SUMMARY.md` has a folder of its own, in which `examples` is that of the
//! repository, and a session of its own at the prompt. Of its fenced blocks,
//!
//! - one that begins with `# NAME.jl` (or `.ir`, `.lowered`, `.rules`, `.expected`) is a file of that name;
//! - one that begins with `$ ` is a shell session: commands, and what each prints;
//! - one that begins with `regraft> ` is a piece of the session at the prompt, which goes on from
//!   block to block;
//! - one of `julia` without a name is such a piece as well: of a line with `# VALUE` at its end, the
//!   value is what it shows. Lines that are indented, and `end`, go on with the line before;
//! - one of `rust` is compiled and run as a doctest (`src/lib.rs`);
//! - one of `sh`, `toml` or `text,syntax` is no example: what takes long, a manifest, a form.
//!
//! There are no others. A line `...` stands for any number of lines.
//!
//! `UPDATE_GUIDE=1 cargo test --test guide` writes what is printed today into the guide, where that
//! is something else. Where lines are left out, as many are shown before and after as there were;
//! look at what comes out.
#![cfg(unix)]

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The address of the files of the repository.
const IN_REPOSITORY: &str = "https://github.com/regraft/regraft/blob/main/";

/// A line of its own between what one input prints and what the next one prints.
const MARK: &str = "=== next ===";

/// A test for each chapter, so that they run side by side.
macro_rules! chapters {
    ($($test:ident: $file:literal,)*) => {
        $(
            #[test]
            fn $test() {
                check_chapter($file);
            }
        )*

        const CHAPTERS: &[&str] = &[$($file),*];
    };
}

chapters! {
    start: "start.md",
    ir_text: "ir-text.md",
    functions: "functions.md",
    passes: "passes.md",
    analyses: "analyses.md",
    dialects: "dialects.md",
    testing: "testing.md",
    pipelines: "pipelines.md",
    passes_at_the_prompt: "passes-at-the-prompt.md",
    e_graphs: "e-graphs.md",
    language: "language.md",
    contexts: "contexts.md",
    listings: "listings.md",
    dynamos: "dynamos.md",
    derivatives: "derivatives.md",
    rules: "rules.md",
    tape_plans: "tape-plans.md",
    design: "design.md",
    from_text_to_gradient: "from-text-to-gradient.md",
    run_fast: "run-fast.md",
    from_rust: "from-rust.md",
    from_c: "from-c.md",
    profiling: "profiling.md",
    command_line: "command-line.md",
    performance: "performance.md",
}

#[test]
fn every_chapter_is_tested_and_its_rust_is_compiled() {
    let summary = read(&docs().join("SUMMARY.md"));
    let listed: Vec<&str> = links(&summary).collect();
    assert_eq!(listed, CHAPTERS);
    let mut files: Vec<String> = std::fs::read_dir(docs())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".md") && name != "SUMMARY.md")
        .collect();
    files.sort();
    let mut sorted = listed.clone();
    sorted.sort_unstable();
    assert_eq!(files, sorted, "a file of docs/ is not in SUMMARY.md");
    let facade = read(&Path::new(ROOT).join("src/lib.rs"));
    for chapter in listed {
        let has_rust = read(&docs().join(chapter)).lines().any(|line| line.starts_with("```rust"));
        let included = facade.contains(&format!("\"../docs/{chapter}\""));
        assert_eq!(has_rust, included, "{chapter}: Rust blocks, and doctests in src/lib.rs");
    }
}

#[test]
fn every_link_leads_somewhere() {
    let mut wrong = String::new();
    let pages = CHAPTERS.iter().map(|chapter| docs().join(chapter));
    let root = ["README.md", "ARCHITECTURE.md"].map(|name| Path::new(ROOT).join(name));
    for page in pages.chain(root) {
        let text = read(&page);
        for link in links(&text) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match file.strip_prefix(IN_REPOSITORY) {
                Some(path) => Path::new(ROOT).join(path),
                None if file.starts_with("http") => continue,
                None if file.is_empty() => page.clone(),
                None => page.parent().unwrap().join(file),
            };
            // The book has no files but its chapters.
            let leaves_book = page.starts_with(docs()) && link.starts_with("../");
            let is_there =
                target.exists() && (anchor.is_empty() || anchors(&read(&target)).contains(anchor));
            if leaves_book || !is_there {
                writeln!(wrong, "{}: {link}", page.display()).unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn docs() -> PathBuf {
    Path::new(ROOT).join("docs")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines of a page that are not in fenced blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.lines().filter(move |line| {
        let fence = line.starts_with("```");
        inside ^= fence;
        !inside && !fence
    })
}

/// The targets of the links of a page.
fn links(text: &str) -> impl Iterator<Item = &str> {
    prose(text).flat_map(|line| {
        line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link)
    })
}

/// The anchors of the headings of a page.
fn anchors(text: &str) -> HashSet<String> {
    prose(text)
        .filter(|line| line.starts_with('#'))
        .map(|line| {
            let heading = line.trim_start_matches('#').trim().to_lowercase();
            heading
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
                .map(|c| if c == ' ' { '-' } else { c })
                .collect()
        })
        .collect()
}

/// A fenced block: what stands behind its fence, its lines, and where they are.
struct Block<'a> {
    language: &'a str,
    first: usize,
    lines: Vec<&'a str>,
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<Block<'_>> = None;
    for (at, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(_), Some(block)) => blocks.push(block),
            (Some(language), None) => {
                open = Some(Block { language, first: at + 1, lines: Vec::new() });
            }
            (None, Some(mut block)) => {
                block.lines.push(line);
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block has no end");
    blocks
}

/// An input, and what is shown to come out.
struct Example<'a> {
    input: String,
    /// The first line of what is shown.
    at: usize,
    shown: Vec<&'a str>,
    /// Tells whether what is shown stands behind the input, in a comment.
    comment: bool,
}

/// The examples of a block that begin with a line that has this prefix.
fn examples<'a>(block: &Block<'a>, prefix: &str) -> Vec<Example<'a>> {
    let mut examples: Vec<Example<'a>> = Vec::new();
    for (at, &line) in block.lines.iter().enumerate() {
        match (line.strip_prefix(prefix), examples.last_mut()) {
            (Some(input), _) => examples.push(Example {
                input: input.to_owned(),
                at: block.first + at + 1,
                shown: Vec::new(),
                comment: false,
            }),
            (None, Some(example)) => example.shown.push(line),
            (None, None) => {}
        }
    }
    examples
}

/// The examples of a block of Julia.
fn julia<'a>(block: &Block<'a>) -> Vec<Example<'a>> {
    let mut examples: Vec<Example<'a>> = Vec::new();
    for (at, &line) in block.lines.iter().enumerate() {
        if line.is_empty() {
            continue;
        }
        let (input, shown) = match line.rsplit_once("  # ") {
            Some((input, shown)) => (input.trim_end(), vec![shown]),
            None => (line, Vec::new()),
        };
        if (line.starts_with(' ') || line == "end")
            && let Some(open) = examples.last_mut()
        {
            write!(open.input, "\n{input}").unwrap();
            open.shown = shown;
            continue;
        }
        // What is not shown is nobody's business, unless it is an error.
        examples.push(Example {
            input: input.to_owned(),
            at: block.first + at,
            shown,
            comment: true,
        });
    }
    examples
}

/// Returns whether lines are as they are shown to be. The recursion is as deep as there are lines `...`.
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

/// The lines to be shown in place of `shown`.
fn abridged<'a>(shown: &[&'a str], real: &'a str) -> Vec<&'a str> {
    let real: Vec<&str> = real.lines().collect();
    let Some(before) = shown.iter().position(|&line| line == "...") else { return real };
    let after = shown.len() - before - 1;
    if real.len() <= before + after {
        return real;
    }
    [&real[..before], &["..."], &real[real.len() - after..]].concat()
}

/// An empty folder for the files of a chapter.
fn folder(chapter: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("guide").join(chapter);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::os::unix::fs::symlink(Path::new(ROOT).join("examples"), folder.join("examples")).unwrap();
    folder
}

/// Runs a command: returns what it prints, with what it says of errors.
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
    // A command need not read its input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

/// The name of the file that a block is.
fn file_name<'a>(block: &Block<'a>) -> Option<&'a str> {
    let name = block.lines.first()?.strip_prefix("# ")?;
    let (stem, ending) = name.rsplit_once('.')?;
    (!stem.contains(' ') && matches!(ending, "jl" | "ir" | "lowered" | "rules" | "expected"))
        .then_some(name)
}

fn check_chapter(chapter: &str) {
    let page = docs().join(chapter);
    let text = read(&page);
    let folder = folder(chapter);
    let mut inputs = Vec::new();
    let mut found: Vec<(Example<'_>, String)> = Vec::new();
    for block in blocks(&text) {
        let first = block.lines.first().copied().unwrap_or_default();
        if let Some(name) = file_name(&block) {
            std::fs::write(folder.join(name), block.lines[1..].join("\n") + "\n").unwrap();
        } else if first.starts_with("$ ") {
            for example in examples(&block, "$ ") {
                let real = run(&example.input, "", &folder);
                found.push((example, real));
            }
        } else if first.starts_with("regraft> ") {
            inputs.extend(examples(&block, "regraft> "));
        } else if block.language == "julia" {
            inputs.extend(julia(&block));
        } else {
            let known = ["sh", "toml", "text,syntax"].contains(&block.language)
                || block.language.starts_with("rust");
            assert!(known, "{chapter}:{}: a block that nobody runs: {first}", block.first);
        }
    }
    let mut session = String::new();
    for example in &inputs {
        writeln!(session, "{}\nprintln({MARK:?})", example.input).unwrap();
    }
    if !inputs.is_empty() {
        let real = run("regraft repl", &session, &folder);
        let real: Vec<&str> = real.split(&format!("{MARK}\n")).collect();
        assert_eq!(real.len(), inputs.len() + 1, "the session has ended early: {real:?}");
        found.extend(inputs.into_iter().zip(real.into_iter().map(str::to_owned)));
    }
    found.sort_by_key(|(example, _)| example.at);
    let wrong: Vec<_> = found
        .iter()
        .filter(|(example, real)| {
            let nothing_shown = example.comment && example.shown.is_empty();
            let fine = nothing_shown && !real.contains("  × ");
            !fine && !agree(&example.shown, &real.lines().collect::<Vec<_>>())
        })
        .collect();
    if std::env::var_os("UPDATE_GUIDE").is_some() {
        let mut lines: Vec<&str> = text.lines().collect();
        for (example, real) in wrong.iter().rev().filter(|(example, _)| !example.comment) {
            let end = example.at + example.shown.len();
            lines.splice(example.at..end, abridged(&example.shown, real));
        }
        std::fs::write(page, lines.join("\n") + "\n").unwrap();
        return;
    }
    let mut message = String::new();
    for (Example { input, at, shown, .. }, real) in &wrong {
        let shown = shown.join("\n");
        writeln!(message, "\n{chapter}:{at}: {input}\n--- shown\n{shown}\n--- real\n{real}")
            .unwrap();
    }
    assert!(wrong.is_empty(), "{message}");
}
