//! Errors of the lowering: each is told, with what it is about.

use std::cell::Cell;

use crate::support::{FILE, How, PRELUDE, errors, errors_as, items, lowered, lowered_as, show};
use regraft_ir::Symbol;
use regraft_lang::definition::{Item, Space};
use regraft_lang::testing::{LowerOptions, lower};
use regraft_syntax::julia::{self, Options};

#[test]
fn control_flow_leaves_what_is_around_it() {
    assert_eq!(errors("break"), ["`break` outside of a loop [break]"]);
    assert_eq!(
        errors("for i in 1:2\n    map(x -> (continue; x), i)\nend"),
        ["`continue` outside of a loop [continue]"]
    );
    assert_eq!(errors("return 1"), ["`return` stands in functions only [return 1]"]);
    assert_eq!(
        errors("for i in 1:3\n    return\nend"),
        ["`return` stands in functions only [return]"]
    );
}

#[test]
fn labels_are_those_of_the_function() {
    let found = errors("function f()\n    @label one\n    @label one\n    @goto two\nend");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("the label `one` is there twice"), "{found:?}");
    assert!(found[1].starts_with("there is no label `two`"), "{found:?}");
    // A function within has labels of its own.
    let found = errors("function f()\n    @label a\n    g() = @goto a\nend");
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn names_are_declared_once() {
    assert_eq!(errors("f(x, x) = 1"), ["two parameters have the name `x` [x]"]);
    assert_eq!(errors("f(x) where {T, T} = 1"), ["two type parameters have the name `T` [T]"]);
    assert_eq!(errors("f(T) where {T} = 1"), ["`T` is a parameter and a type parameter [T]"]);
    assert_eq!(
        errors("function f()\n    local q\n    global q\nend"),
        ["`q` is declared local and global in one scope [q]"]
    );
    assert_eq!(
        errors("function f(q)\n    local q = 1\nend"),
        ["`q` is a parameter and is declared local [q]"]
    );
    assert_eq!(errors("f(_, _) = 1"), [] as [&str; 0]);
    assert_eq!(
        errors("struct P\n    x\n    x::Int\nend"),
        ["two fields have the name `x` [x::Int]"]
    );
}

#[test]
fn type_parameters_are_not_assigned() {
    let expected = ["cannot assign to the type parameter `T` [T]"];
    assert_eq!(errors("function f(x::T) where {T}\n    T = 1\nend"), expected);
    assert_eq!(errors("function f(x::T) where {T}\n    T += 1\nend"), expected);
    assert_eq!(errors("function f(x::T) where {T}\n    () -> (T = 1)\nend"), expected);
}

#[test]
fn some_things_stand_at_top_level_only() {
    assert_eq!(
        errors("function f()\n    struct Q end\nend"),
        ["types are declared only at top level [struct Q end]"]
    );
    assert_eq!(
        errors("function f()\n    const a = 1\nend"),
        ["`const` is for global names [const a = 1]"]
    );
    assert_eq!(
        errors("function f()\n    Base.sum(a) = 1\nend"),
        ["methods of other functions are defined only at top level [Base.sum]"]
    );
}

#[test]
fn parameters_are_in_order() {
    assert_eq!(
        errors("f(x, y = 1, z) = 1"),
        ["a parameter without a default value after one that has one [z]"]
    );
    assert_eq!(
        errors("f(x..., y) = 1"),
        ["only the last parameter takes all further arguments [x...]"]
    );
}

#[test]
fn indices_and_splats_have_their_places() {
    // The index of another function is none.
    let found = errors("f(x) = x[map(i -> end, x)]");
    assert!(found.iter().any(|error| error.starts_with("`end`")), "{found:?}");
    assert_eq!(errors("Base.x = 3"), ["cannot assign to a name of another module [Base.x]"]);
}

#[test]
fn all_errors_are_told_at_once() {
    let text = "f(x, x) = break\ng() = (continue; @goto a)\nreturn 3";
    assert_eq!(errors(text).len(), 5, "{:?}", errors(text));
}

#[test]
fn soft_scope_assigns_to_globals_that_there_are() {
    let text = "for i in 1:3\n    x = i\nend";
    assert!(!lowered(text).contains("set_global"));
    let soft = How { soft_scope: true, globals: &["x"], space: Space::Main };
    assert!(lowered_as(text, soft).contains("core.set_global :x"));
    assert!(!lowered_as(text, How { globals: &[], ..soft }).contains("set_global"));
    // Also to those that an earlier statement of the same text assigns.
    let text = "y = 0\nwhile y < 3\n    y += 1\nend";
    let lowered = lowered_as(text, How { globals: &[], ..soft });
    assert_eq!(lowered.matches("core.set_global :y").count(), 2, "{lowered}");
    // Not in what is no loop, or in a loop within.
    for text in ["let\n    x = 1\nend", "let\n    for i in 1:2\n        x = 1\n    end\nend"] {
        assert!(!lowered_as(text, soft).contains("set_global"));
    }
    assert!(!lowered_as("f() = (for i in 1:2; x = i; end)", soft).contains("set_global"));
}

#[test]
fn names_of_closures_are_told_apart_between_texts() {
    let ctx = regraft_dialects::context();
    let counter = Cell::new(0);
    let options = LowerOptions {
        soft_scope: false,
        is_global: &|_| false,
        space: Space::Main,
        counter: &counter,
    };
    let mut names: Vec<Symbol> = Vec::new();
    for _ in 0..2 {
        let parsed = julia::parse(&ctx, "repl", "x -> x", Options::default());
        for item in lower(&ctx, &parsed.ast, &options).unwrap() {
            if let Item::Run(thunk) = item {
                names.extend(thunk.closures.iter().map(|closure| closure.name));
            }
        }
    }
    assert_eq!(names.len(), 2);
    assert_ne!(names[0], names[1]);
}

#[test]
fn the_prelude_can_call_ops() {
    let lowered = lowered_as("add(x, y) = arith.add(x, y)", PRELUDE);
    assert!(lowered.contains("call @arith.add(%x, %y)"), "{lowered}");
    // In a program, `arith` is a name like any other.
    let lowered = lowered_as("add(x, y) = arith.add(x, y)", FILE);
    assert!(lowered.contains("call @getproperty"), "{lowered}");
}

/// The library of the language, in which everything is used: each function is lowered and verified.
#[test]
fn the_library_lowers_to_functions_that_verify() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/prelude");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    for path in files.iter().filter(|path| path.extension().is_some_and(|ext| ext == "jl")) {
        let text = std::fs::read_to_string(path).unwrap();
        let ctx = regraft_dialects::context();
        match items(&ctx, &text, PRELUDE) {
            // Printing verifies.
            Ok(items) => assert!(!show(&items).is_empty()),
            Err(errors) => panic!("{}: {errors:?}", path.display()),
        }
    }
}

#[test]
fn deep_and_long_code_is_no_trouble() {
    let mut text = String::from("function f(x)\n");
    for i in 0..20_000 {
        text.push_str(&format!("    if x > {i}\n        y = {i}\n    end\n"));
    }
    text.push_str("    y + x\nend\n");
    for _ in 0..45 {
        text.push_str("for i in 1:2\nif i > 1\n");
    }
    text.push_str("z = i\n");
    text.push_str(&"end\nend\n".repeat(45));
    let ctx = regraft_dialects::context();
    let items = items(&ctx, &text, FILE).map_err(|errors| errors.len()).unwrap();
    assert_eq!(items.len(), 2);
}

/// Whatever is left of a program when some of it is cut out, the lowering says what is wrong or
/// makes functions that verify.
#[test]
fn broken_programs_are_no_trouble() {
    let text = include_str!("sample.jl");
    let lines: Vec<&str> = text.lines().collect();
    for cut in 0..lines.len() {
        for len in [1, 2, 5] {
            let mut left = lines.clone();
            left.drain(cut..(cut + len).min(lines.len()));
            let ctx = regraft_dialects::context();
            let parsed = julia::parse(&ctx, "cut.jl", &left.join("\n"), Options::default());
            let counter = Cell::new(0);
            let options = LowerOptions {
                soft_scope: cut % 2 == 0,
                is_global: &|_| cut % 3 == 0,
                space: if cut % 5 == 0 { Space::Base } else { Space::Main },
                counter: &counter,
            };
            if let Ok(items) = lower(&ctx, &parsed.ast, &options) {
                show(&items);
            }
        }
    }
    assert_eq!(errors_as(text, FILE), [] as [&str; 0]);
}
