//! The REPL as a script on the standard input uses it.
//!
//! `repl/*.txt` are transcripts: inputs after `> ` (further lines of one after `. `), and below
//! each what it prints, results and diagnostics in one stream. `REGRAFT_UPDATE=1` writes down
//! what is printed now, to be reviewed.

use std::fmt::Write as _;
use std::fs;
use std::io::{PipeReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A folder of its own for a test, with the files that transcripts load.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("repl").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for from in ["examples/ir", "tests/repl/files"] {
        for file in fs::read_dir(Path::new(ROOT).join(from)).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), folder.join(file.file_name())).unwrap();
        }
    }
    folder
}

/// The REPL with both streams in one, in the order in which they are written.
fn spawn(folder: &Path, args: &[&str]) -> (Child, PipeReader) {
    let (reader, writer) = std::io::pipe().unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_regraft"))
        .arg("repl")
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(writer.try_clone().unwrap())
        .stderr(writer)
        .spawn()
        .unwrap();
    (child, reader)
}

/// The output of the REPL for a script.
fn output_of(folder: &Path, args: &[&str], script: &[u8]) -> String {
    let (mut child, mut reader) = spawn(folder, args);
    let mut stdin = child.stdin.take().unwrap();
    let script = script.to_vec();
    // A session that quits does not read the rest.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&script)));
    let mut output = Vec::new();
    reader.read_to_end(&mut output).unwrap();
    writer.join().unwrap();
    let status = child.wait().unwrap();
    assert!(status.success(), "{status}");
    String::from_utf8(output).unwrap()
}

/// The output without what differs from run to run.
fn settled(output: &str) -> String {
    let mut out = String::new();
    for line in output.lines() {
        let line = if line.starts_with("time: ") { "time: .." } else { line };
        let _ = writeln!(out, "{line}");
    }
    out
}

/// An input, and the lines that it prints.
struct Entry {
    input: String,
    output: String,
}

fn entries(text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for line in text.lines() {
        if let Some(input) = line.strip_prefix('>') {
            let input = format!("{}\n", input.strip_prefix(' ').unwrap_or(input));
            entries.push(Entry { input, output: String::new() });
            continue;
        }
        let last = entries.last_mut().expect("a transcript begins with an input");
        match line.strip_prefix('.') {
            Some(more) => {
                let _ = writeln!(last.input, "{}", more.strip_prefix(' ').unwrap_or(more));
            }
            None => {
                let _ = writeln!(last.output, "{line}");
            }
        }
    }
    entries
}

#[track_caller]
fn check(name: &str) {
    let file = Path::new(ROOT).join("tests/repl").join(format!("{name}.txt"));
    let entries = entries(&fs::read_to_string(&file).unwrap());
    if std::env::var_os("REGRAFT_UPDATE").is_some() {
        fs::write(&file, transcript(name, &entries)).unwrap();
        return;
    }
    let script: String = entries.iter().map(|entry| entry.input.as_str()).collect();
    let expected: String = entries.iter().map(|entry| entry.output.as_str()).collect();
    let output = settled(&output_of(&folder(name), &[], script.as_bytes()));
    let diff = regraft::passes::diff_text(&expected, &output);
    assert!(diff.is_empty(), "{name}.txt:\n{diff}");
}

/// The output of each input: what all up to it print, less what those before do.
fn transcript(name: &str, entries: &[Entry]) -> String {
    let (mut script, mut before, mut text) = (String::new(), String::new(), String::new());
    for entry in entries {
        script.push_str(&entry.input);
        let output = settled(&output_of(&folder(name), &[], script.as_bytes()));
        for (i, line) in entry.input.lines().enumerate() {
            let line = format!("{} {line}", if i == 0 { '>' } else { '.' });
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text.push_str(output.strip_prefix(&before).expect("what was printed stays"));
        before = output;
    }
    text
}

macro_rules! transcripts {
    ($($name:ident: $file:literal,)*) => {
        $(#[test]
        fn $name() {
            check($file);
        })*
    };
}

transcripts! {
    passes_are_written_at_the_prompt: "passes",
    text_of_a_prompt_is_pasted: "pasted",
    pipelines_change_the_current_program_and_are_taken_back: "pipelines",
    commands_tell_what_there_is: "pages",
    wrong_commands_are_refused_and_the_session_goes_on: "mistakes",
    values_are_shown_as_julia_shows_them: "values",
    functions_become_programs: "programs",
    ir_is_called_differentiated_compared_and_forgotten: "ir_programs",
    a_question_mark_asks_about_a_name: "questions",
    rules_are_traced_back: "explain",
    wrong_programs_are_refused_and_the_session_goes_on: "faults",
}

#[test]
fn a_program_is_saved_as_ir_that_reads_back() {
    let folder = folder("save_ir");
    let script = b":load pow.ir\n:opt -p expand\n:save out.ir\n:load out.ir\n:ir\n";
    let output = output_of(&folder, &[], script);
    let shown = output.split("out.ir is the current program now: 1 function\n").nth(1).unwrap();
    let saved = fs::read_to_string(folder.join("out.ir")).unwrap();
    assert_eq!(saved, format!("# pow.ir, after expand\n{shown}"));
}

#[test]
fn files_of_the_command_line_are_loaded_first() {
    let output = output_of(&folder("arguments"), &["none.ir", "gcd.ir"], b":ir\n");
    assert!(output.contains("cannot read none.ir"), "{output}");
    assert!(output.contains("gcd.ir is the current program now"), "{output}");
    assert!(output.contains("func @gcd("), "{output}");
}

#[test]
fn no_bytes_end_the_session() {
    let mut script = b"\xff\xfe\n:\n:\xc3\x28\n\0\n\x1b[A\n)(\n:opt ((( -p\n".to_vec();
    script.extend((0..=255).filter(|&byte| byte != b'\n'));
    script.extend(b"\n:load \xff\n:save\n:pipeline dce\n:pipeline\n");
    let output = output_of(&folder("bytes"), &[], &script);
    assert!(output.ends_with("\ndce\n"), "{output}");
    assert!(!output.contains("bug of regraft"), "{output}");
}

#[test]
fn a_reader_that_goes_ends_the_session_quietly() {
    let folder = folder("closed");
    let (mut child, reader) = spawn(&folder, &[]);
    drop(reader);
    let mut stdin = child.stdin.take().unwrap();
    let _ = stdin.write_all(&b":help\n".repeat(10_000));
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

/// Sends the signal of Ctrl-C, once something has been printed, until `wanted` is printed by what
/// comes after the program that is interrupted. (One signal may come before that program starts,
/// where it stops nothing.)
#[cfg(unix)]
fn interrupted(folder: &Path, args: &[&str], script: &[u8], wanted: &str) -> String {
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::time::Duration;

    let (mut child, mut reader) = spawn(folder, args);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(script).unwrap();
    let mut buffer = [0; 4096];
    let read = reader.read(&mut buffer).unwrap();
    let mut output = String::from_utf8(buffer[..read].to_vec()).unwrap();
    let (sender, receiver) = channel();
    let wanted = wanted.to_owned();
    let end = std::thread::spawn(move || {
        while !output.contains(&wanted) {
            let read = reader.read(&mut buffer).unwrap();
            assert_ne!(read, 0, "{output}");
            output.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
        }
        sender.send(()).unwrap();
        reader.read_to_string(&mut output).unwrap();
        output
    });
    let pid = child.id().to_string();
    while let Err(RecvTimeoutError::Timeout) = receiver.recv_timeout(Duration::from_millis(20)) {
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
    end.join().unwrap()
}

#[test]
#[cfg(unix)]
fn an_interrupt_stops_the_current_program_and_nothing_else() {
    let folder = folder("interrupt_ir");
    let script = b":run endless()\n:run answer()\n";
    let output = interrupted(&folder, &["endless.ir"], script, "42\n");
    assert_eq!(output.matches("interrupted").count(), 1, "{output}");
    assert!(output.ends_with("\n42\n"), "{output}");
}

#[test]
#[cfg(unix)]
fn an_interrupt_stops_a_running_input_and_keeps_what_is_defined() {
    let folder = folder("interrupt");
    let script = b"kept = 1\nn = 0\nwhile true\n  n += 1\nend\nn > kept\n";
    let output = interrupted(&folder, &[], script, "true\n");
    assert_eq!(output.matches("interrupted").count(), 1, "{output}");
    assert!(output.starts_with("1\n0\n"), "{output}");
    assert!(output.ends_with("\ntrue\n"), "{output}");
}

#[test]
fn a_saved_session_does_the_same_as_a_script() {
    let folder = folder("save_script");
    fs::write(folder.join("half.jl"), "half(x) = x / 2\nbase = 100").unwrap();
    let script = b":load half.jl
total = 0
for i in 1:3
    total += i
    base += i
end
no_such_name
f(x) = half(x) + total;
struct P
    x::Float64
end
p = P(f(8));
f(x) = -x;
:save session.jl
";
    output_of(&folder, &[], script);
    let output = output_of(&folder, &["session.jl"], b"(total, base, p.x, f(1))\n");
    assert_eq!(output, "(6, 106, 10.0, -1)\n");
    let saved = fs::read_to_string(folder.join("session.jl")).unwrap();
    assert!(!saved.contains("no_such_name"), "{saved}");
}

#[test]
fn a_saved_session_says_what_ans_was() {
    let folder = folder("save_ans");
    let script = b"f(x) = 2x;\nf(10) + 1\nb = ans + 1\n:save session.jl\n";
    output_of(&folder, &[], script);
    let saved = fs::read_to_string(folder.join("session.jl")).unwrap();
    assert_eq!(saved, "f(x) = 2x;\nans = begin\nf(10) + 1\nend\nb = ans + 1\n");
    assert_eq!(output_of(&folder, &["session.jl"], b"b\n"), "22\n");
}

#[test]
fn inputs_may_be_long() {
    let mut script = String::from("function f(x)\n");
    for i in 0..3_000 {
        script.push_str(&format!("    y{i} = x + {i}\n\n"));
    }
    script.push_str("    y7\nend\nf(1)\n");
    let output = output_of(&folder("long"), &[], script.as_bytes());
    assert_eq!(output, "f (generic function with 1 method)\n8\n");
}
