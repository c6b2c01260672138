//! `regraft profile`, its exports, and the profiler at the prompt.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn regraft(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_regraft"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

#[track_caller]
fn succeeds(args: &[&str], input: &str) -> String {
    let output = regraft(args, input);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// A folder with a program.
fn folder(name: &str) -> (PathBuf, String) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join("program.jl");
    std::fs::write(&program, PROGRAM).unwrap();
    (folder, program.display().to_string())
}

const PROGRAM: &str = "\
fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
function twice(n)
    println(n)
    return fib(n) + fib(n - 1)
end
fails(x) = sqrt(x)
";

#[test]
fn the_table_has_a_row_for_each_function() {
    let (_, program) = folder("profile-table");
    let output = regraft(&["profile", &program, "twice(10)"], "");
    assert_eq!(output.status.code(), Some(0));
    // What the program prints is no result.
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("10\n"));
    let table = String::from_utf8(output.stdout).unwrap();
    let mut lines = table.lines();
    let head: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
    assert_eq!(head, ["self", "%", "total", "calls", "defined", "at", "function"]);
    let row = |name: &str| {
        let row = table.lines().find(|line| line.ends_with(name)).expect(name);
        row.split_whitespace().rev().take(3).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("fib(Int64)")[1..], [format!("{program}:1"), "286".to_owned()]);
    assert_eq!(row("twice(Int64)")[1..], [format!("{program}:2"), "1".to_owned()]);
    assert!(table.contains(" events; recording them took "));
    let few = succeeds(&["profile", &program, "twice(10)", "--min-calls", "2"], "");
    assert!(few.contains("fib(Int64)") && !few.contains("twice(Int64)"));
    // Recursive calls belong to the call that they come from.
    let lines = succeeds(&["profile", &program, "twice(10)", "--lines"], "");
    assert!(
        lines.lines().any(|line| line.contains(&format!("286  {program}:4  fib(Int64)"))),
        "{lines}"
    );
}

#[test]
fn json_has_calls_and_times() {
    let (_, program) = folder("profile-json");
    let text = succeeds(&["profile", &program, "twice(10)", "--json"], "");
    let object: Value = serde_json::from_str(&text).unwrap();
    let functions = object["functions"].as_array().unwrap();
    let fib = functions.iter().find(|row| row["function"] == "fib(Int64)").unwrap();
    assert_eq!((&fib["calls"], &fib["line"]), (&Value::from(286), &Value::from(1)));
    assert!(fib["total"].as_f64() >= fib["self"].as_f64());
    assert_eq!(object["lost"], 0);
    let sum: f64 = functions.iter().map(|row| row["self"].as_f64().unwrap()).sum();
    assert!((sum - object["total"].as_f64().unwrap()).abs() <= functions.len() as f64);
}

#[test]
fn the_exports_can_be_read_back() {
    let (folder, program) = folder("profile-exports");
    let file = |name: &str| folder.join(name).display().to_string();
    let (svg, trace, pb) = (file("flame.svg"), file("trace.json"), file("profile.pb"));
    succeeds(
        &[
            "profile",
            &program,
            "twice(12)",
            "--flamegraph",
            &svg,
            "--trace",
            &trace,
            "--pprof",
            &pb,
        ],
        "",
    );
    let svg = std::fs::read_to_string(svg).unwrap();
    for frame in ["twice(Int64)", "fib(Int64)", "top level"] {
        assert!(svg.contains(&format!("<title>{frame} (")), "{frame}");
    }

    let trace: Value = serde_json::from_str(&std::fs::read_to_string(trace).unwrap()).unwrap();
    let mut open: Vec<&str> = Vec::new();
    let (mut last, mut calls) = (0.0, 0);
    for event in trace["traceEvents"].as_array().unwrap() {
        let name = event["name"].as_str().unwrap();
        let time = event["ts"].as_f64().unwrap();
        assert!(time >= last);
        last = time;
        match event["ph"].as_str().unwrap() {
            "B" => open.push(name),
            "E" => assert_eq!(open.pop(), Some(name)),
            other => panic!("phase {other}"),
        }
        calls += usize::from(event["ph"] == "B" && name == "fib(Int64)");
    }
    assert!(open.is_empty());
    // 2 fib(n + 1) - 1 calls for fib(n).
    assert_eq!(calls, 465 + 287);

    let samples = pprof_samples(&std::fs::read(pb).unwrap());
    let fib = samples.iter().find(|(stack, _)| stack.first().unwrap() == "fib(Int64)").unwrap();
    let around: Vec<&str> = fib.0.iter().map(String::as_str).collect();
    assert_eq!(around, ["fib(Int64)", "twice(Int64)", "top level"]);
    let counted: u64 =
        samples.iter().filter(|(stack, _)| stack[0] == "fib(Int64)").map(|s| s.1).sum();
    assert_eq!(counted, 465 + 287);
}

/// A field of a message of protocol buffers.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The fields of a message, by the encoding's description alone.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = bytes[0];
            *bytes = &bytes[1..];
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        value
    }
    let mut out = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let field = match key & 7 {
            0 => Field::Number(varint(&mut bytes)),
            2 => {
                let len = varint(&mut bytes) as usize;
                let (content, rest) = bytes.split_at(len);
                bytes = rest;
                Field::Bytes(content)
            }
            other => panic!("wire type {other}"),
        };
        out.push((key >> 3, field));
    }
    out
}

/// The stacks of a pprof profile, innermost first, with their first values.
fn pprof_samples(bytes: &[u8]) -> Vec<(Vec<String>, u64)> {
    let message = fields(bytes);
    let parts = |number: u64| {
        message.iter().filter_map(move |(field, value)| match value {
            Field::Bytes(bytes) if *field == number => Some(*bytes),
            _ => None,
        })
    };
    let number = |bytes: &[u8], wanted: u64| {
        let found = fields(bytes).into_iter().find(|(field, _)| *field == wanted);
        match found {
            Some((_, Field::Number(value))) => value,
            _ => panic!("no number {wanted}"),
        }
    };
    let part = |bytes: &[u8], wanted: u64| {
        let found = fields(bytes).into_iter().find(|(field, _)| *field == wanted);
        match found {
            Some((_, Field::Bytes(value))) => value.to_vec(),
            _ => panic!("no bytes {wanted}"),
        }
    };
    let texts: Vec<String> =
        parts(6).map(|text| String::from_utf8(text.to_vec()).unwrap()).collect();
    assert_eq!(texts[0], "");
    let units: Vec<&str> = parts(1).map(|ty| texts[number(ty, 2) as usize].as_str()).collect();
    assert_eq!(units, ["count", "nanoseconds"]);
    let name = |location: u64| {
        let location = parts(4).find(|bytes| number(bytes, 1) == location).unwrap();
        let function = number(&part(location, 4), 1);
        let function = parts(5).find(|bytes| number(bytes, 1) == function).unwrap();
        texts[number(function, 2) as usize].clone()
    };
    let packed = |bytes: Vec<u8>| {
        // A packed list is as a message of numbers without keys.
        let mut values = vec![0u64];
        let mut shift = 0;
        for byte in bytes {
            *values.last_mut().unwrap() |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                values.push(0);
                shift = 0;
            }
        }
        values.pop();
        values
    };
    let sample = |bytes: &[u8]| {
        let stack = packed(part(bytes, 1)).into_iter().map(name).collect();
        (stack, packed(part(bytes, 2))[0])
    };
    parts(2).map(sample).collect()
}

#[test]
fn a_log_shows_nesting_and_says_what_was_lost() {
    let (_, program) = folder("profile-log");
    let log = succeeds(&["profile", &program, "fib(2)", "--record"], "");
    let names: Vec<&str> =
        log.lines().filter_map(|line| line.rsplit_once(':')).map(|x| x.0).collect();
    let (fib, inner) = ("fib(Int64)", " fib(Int64)");
    assert_eq!(names, [fib, inner, inner, inner, inner, fib]);
    let output = regraft(&["profile", &program, "fib(10)", "--record", "--capacity", "100"], "");
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("starts and ends were lost"));
}

#[test]
fn what_is_wrong_is_told() {
    let (folder, program) = folder("profile-errors");
    let fails = |args: &[&str], code: i32, message: &str| {
        let output = regraft(args, "");
        let errors = String::from_utf8_lossy(&output.stderr).replace("\n   ", "");
        assert_eq!(output.status.code(), Some(code), "{args:?}: {errors}");
        assert!(errors.contains(message), "{errors}");
        String::from_utf8(output.stdout).unwrap()
    };
    fails(&["profile", &program], 2, "the call that is to be profiled is missing");
    let nowhere = folder.join("none/flame.svg").display().to_string();
    let out = fails(&["profile", &program, "fib(5)", "--flamegraph", &nowhere], 1, "cannot write");
    assert_eq!(out, "");
    fails(&["profile", &program, "nope(5)"], 1, "`nope` not defined");
    fails(&["profile", &program, "fib(5)", "--record", "--lines"], 2, "cannot be used with");
    // What ran until then is shown.
    let out = fails(&["profile", &program, "fails(-1.0)"], 1, "DomainError");
    assert!(out.contains("fails(Float64)"), "{out}");
    let out = fails(&["profile", &program, "fib(90)", "--fuel", "10000"], 1, "fuel");
    assert!(out.contains("fib(Int64)"), "{out}");
}

#[test]
fn functions_of_ir_and_derivatives_are_profiled() {
    let pow =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/ir/pow.ir").display().to_string();
    let table = succeeds(&["profile", &pow, "pow(2.0, 10)"], "");
    assert!(table.lines().any(|line| line.contains("pow")), "{table}");
    let sum =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/jl/sum.jl").display().to_string();
    let table = succeeds(&["profile", &sum, "gradient(x -> _sum(abs, x), [1.0, 2.0])"], "");
    assert!(table.contains("_sum(typeof(abs), Vector{Float64}).forward"), "{table}");
    assert!(table.contains("_sum(typeof(abs), Vector{Float64}).reverse"), "{table}");
}

#[test]
fn the_pass_records_the_calls_of_lowered_code_by_name() {
    let (_, program) = folder("profile-lowered");
    let args = ["opt", &program, "--entry", "fib(Int64)", "--stage", "lowered", "-p", "profile"];
    let ir = succeeds(&args, "");
    assert!(ir.starts_with("func @fib(%n: any) -> any {"), "{ir}");
    for event in [":\"<\"", ":\"-\"", ":fib", ":\"+\""] {
        let start = format!("= prof.record_start {event}\n");
        assert!(ir.contains(&start), "{event} in {ir}");
    }
    let without = regraft(&["opt", &program, "--stage", "lowered", "-p", "profile"], "");
    assert_eq!(without.status.code(), Some(2));
}

#[test]
fn the_prompt_profiles_and_records() {
    let (_, program) = folder("profile-prompt");
    let input = ":profile fib(10)\n:profile\n:record fib(2)\n:record --ops fib(1)\n\
                 :opt --stage lowered fib(2) -p profile\n:profile fib(-\n:opt --stage none fib(2)\n";
    let output = regraft(&["repl", &program], input);
    let out = String::from_utf8(output.stdout).unwrap();
    let rows = out.lines().filter(|line| line.contains(" 177 ") && line.ends_with("fib(Int64)"));
    assert_eq!(rows.count(), 2, "{out}");
    assert_eq!(out.lines().filter(|line| line.starts_with(" fib(Int64): ")).count(), 4, "{out}");
    assert_eq!(out.lines().filter(|line| line.starts_with(" lt: ")).count(), 2, "{out}");
    assert!(out.contains("prof.record_start :fib"), "{out}");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("there is no stage `none`"), "{errors}");
}
