//! The shape of the house: files and crates that do not ask each other in circles, nothing that nobody
//! uses, `unsafe` in one place, and files that can be read in one go.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use syn::visit::Visit;

/// The crates, lowest first: each names only crates before it.
const ORDER: [&str; 11] = [
    "regraft-ir",
    "regraft-math",
    "regraft-syntax",
    "regraft-dialects",
    "regraft-exec",
    "regraft-runtime",
    "regraft-passes",
    "regraft-ad",
    "regraft-lang",
    "regraft-testing",
    "regraft",
];

/// The most lines of a file.
const MAX_LINES: usize = 600;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The packages of the workspace, as `cargo metadata` tells them.
fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

fn folder(package: &Value) -> PathBuf {
    Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap().to_owned()
}

/// The Rust files of a folder and of those in it.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn short(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// The modules of a crate: paths from its root, with the files that they stand in.
struct Modules {
    files: BTreeMap<Vec<String>, PathBuf>,
    /// Names that a module hands on, with the paths that they stand for.
    handed_on: BTreeMap<Vec<String>, BTreeMap<String, Vec<String>>>,
}

impl Modules {
    fn of(source: &Path) -> Self {
        let mut modules = Self { files: BTreeMap::new(), handed_on: BTreeMap::new() };
        for file in rust_files(source) {
            let inside = file.strip_prefix(source).unwrap().with_extension("");
            let mut path: Vec<String> =
                inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            if matches!(path.last().map(String::as_str), Some("mod" | "lib" | "main")) {
                path.pop();
            }
            modules.files.insert(path, file);
        }
        for (path, file) in modules.files.clone() {
            let mut names = BTreeMap::new();
            for item in parsed(&file).items {
                if let syn::Item::Use(item) = item
                    && !matches!(item.vis, syn::Visibility::Inherited)
                {
                    for used in flat(&item.tree) {
                        let name = used.last().cloned().unwrap_or_default();
                        names.insert(name, absolute(&path, &used));
                    }
                }
            }
            modules.handed_on.insert(path, names);
        }
        modules
    }

    /// The file that a path leads to, through what modules hand on.
    fn file_of(&self, path: &[String], depth: usize) -> Option<&PathBuf> {
        let mut module: Vec<String> = Vec::new();
        for (i, part) in path.iter().enumerate() {
            let inner = [&module[..], std::slice::from_ref(part)].concat();
            if self.files.contains_key(&inner) {
                module = inner;
                continue;
            }
            let target = self.handed_on.get(&module)?.get(part);
            return match target.filter(|_| depth < 8) {
                Some(target) => self.file_of(&[target, &path[i + 1..]].concat(), depth + 1),
                None => self.files.get(&module),
            };
        }
        self.files.get(&module)
    }
}

fn parsed(file: &Path) -> syn::File {
    let text = std::fs::read_to_string(file).unwrap();
    syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", short(file)))
}

/// The paths of a `use`.
fn flat(tree: &syn::UseTree) -> Vec<Vec<String>> {
    match tree {
        syn::UseTree::Path(path) => flat(&path.tree)
            .into_iter()
            .map(|rest| [vec![path.ident.to_string()], rest].concat())
            .collect(),
        syn::UseTree::Name(name) => vec![vec![name.ident.to_string()]],
        syn::UseTree::Rename(name) => vec![vec![name.ident.to_string()]],
        syn::UseTree::Glob(_) => vec![Vec::new()],
        syn::UseTree::Group(group) => group.items.iter().flat_map(flat).collect(),
    }
}

/// A path as one from the root of the crate; empty if it leads out of it.
fn absolute(module: &[String], path: &[String]) -> Vec<String> {
    let mut base = match path.first().map(String::as_str) {
        Some("crate") => Vec::new(),
        Some("super" | "self") => module.to_vec(),
        _ => return [module, path].concat(),
    };
    let mut rest = path;
    while let Some((first, others)) = rest.split_first() {
        match first.as_str() {
            "crate" | "self" => {}
            "super" => drop(base.pop()),
            _ => break,
        }
        rest = others;
    }
    [&base[..], rest].concat()
}

/// The files of its crate that a file asks, but for tests in it. A module and the parts that it is made
/// of are one thing: a part may use what the module around it declares, and the module may call its
/// parts by name, as in `mod part; .. part::run()`.
struct Asks<'m> {
    module: Vec<String>,
    modules: &'m Modules,
    files: BTreeSet<PathBuf>,
}

impl Asks<'_> {
    fn ask(&mut self, path: &[String]) {
        let asked = self.modules.file_of(&absolute(&self.module, path), 0);
        let around = (0..self.module.len()).map(|n| &self.module[..n]);
        let mut around = around.filter_map(|module| self.modules.files.get(module));
        self.files.extend(asked.filter(|&asked| !around.any(|file| file == asked)).cloned());
    }
}

/// Returns whether a path starts in the crate that it stands in.
fn is_ours(path: &[String]) -> bool {
    matches!(path.first().map(String::as_str), Some("crate" | "super" | "self"))
}

impl<'ast> Visit<'ast> for Asks<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let is_test = item.attrs.iter().any(|attr| attr.path().is_ident("cfg"));
        if let Some((_, items)) = &item.content
            && !is_test
        {
            self.module.push(item.ident.to_string());
            items.iter().for_each(|item| self.visit_item(item));
            self.module.pop();
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        // What is handed on is asked by those who take it.
        if matches!(item.vis, syn::Visibility::Inherited) {
            for path in flat(&item.tree) {
                let first = path.first().into_iter().cloned().collect();
                let part = [self.module.clone(), first].concat();
                if is_ours(&path) || self.modules.files.contains_key(&part) {
                    self.ask(&path);
                }
            }
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        if is_ours(&parts) {
            self.ask(&parts);
        }
        syn::visit::visit_path(self, path);
    }
}

/// The files of a crate, each with those that it asks.
fn arrows(source: &Path) -> BTreeMap<PathBuf, BTreeSet<PathBuf>> {
    let modules = Modules::of(source);
    let mut arrows = BTreeMap::new();
    for (module, file) in &modules.files {
        let mut asks = Asks { module: module.clone(), modules: &modules, files: BTreeSet::new() };
        asks.visit_file(&parsed(file));
        asks.files.remove(file);
        arrows.insert(file.clone(), asks.files);
    }
    arrows
}

/// The files from which a path leads back to themselves, in groups.
fn circles(arrows: &BTreeMap<PathBuf, BTreeSet<PathBuf>>) -> Vec<Vec<String>> {
    let reach = |from: &PathBuf| {
        let (mut seen, mut pending) = (BTreeSet::new(), vec![from]);
        while let Some(file) = pending.pop() {
            for next in arrows.get(file).into_iter().flatten() {
                if seen.insert(next) {
                    pending.push(next);
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> =
        arrows.keys().map(|file| (file, reach(file))).collect();
    let mut groups: BTreeSet<Vec<String>> = BTreeSet::new();
    for (file, from_here) in &reached {
        if from_here.contains(file) {
            let group = from_here.iter().filter(|other| reached[**other].contains(file));
            groups.insert(group.map(|file| short(file)).collect());
        }
    }
    groups.into_iter().collect()
}

#[test]
fn no_files_of_a_crate_ask_each_other_in_a_circle() {
    let mut found = Vec::new();
    for package in packages() {
        if ORDER.contains(&package["name"].as_str().unwrap()) {
            found.extend(circles(&arrows(&folder(&package).join("src"))));
        }
    }
    assert!(found.is_empty(), "these files ask each other in circles:\n{found:#?}");
}

#[test]
fn crates_name_only_crates_below_them_and_use_what_they_name() {
    let mut wrong = Vec::new();
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        let rank = ORDER.iter().position(|&other| other == name);
        let text: String = rust_files(&folder(&package))
            .iter()
            .map(|file| std::fs::read_to_string(file).unwrap())
            .collect();
        for dependency in package["dependencies"].as_array().unwrap() {
            let other = dependency["name"].as_str().unwrap();
            let below = ORDER.iter().position(|&crate_name| crate_name == other);
            let is_for_tests = dependency["kind"] == "dev";
            if let (Some(rank), Some(below)) = (rank, below)
                && below >= rank
                && !is_for_tests
            {
                wrong.push(format!("{name} names {other}, which is above it"));
            }
            if !text.contains(&other.replace('-', "_")) {
                wrong.push(format!("{name} names {other} and does not use it"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The public modules of a crate without an example in their docs, below the module of `items`.
fn without_example(
    path: &[String],
    items: &[syn::Item],
    modules: &Modules,
    found: &mut Vec<String>,
) {
    for item in items {
        let syn::Item::Mod(item) = item else { continue };
        let mut attrs = item.attrs.clone();
        let is_hidden = attrs.iter().any(|attr| {
            matches!(&attr.meta, syn::Meta::List(list) if list.tokens.to_string() == "hidden")
        });
        if !matches!(item.vis, syn::Visibility::Public(_)) || is_hidden {
            continue;
        }
        let path = [path, &[item.ident.to_string()]].concat();
        let inner = match &item.content {
            Some((_, items)) => items.clone(),
            None => {
                let file = parsed(&modules.files[&path]);
                attrs.extend(file.attrs);
                file.items
            }
        };
        if !has_example(&attrs) {
            found.push(path.join("::"));
        }
        without_example(&path, &inner, modules, found);
    }
}

/// Returns whether docs have a fenced block: code that runs, or IR.
fn has_example(attrs: &[syn::Attribute]) -> bool {
    attrs.iter().any(|attr| {
        let syn::Meta::NameValue(meta) = &attr.meta else { return false };
        let syn::Expr::Lit(value) = &meta.value else { return false };
        let syn::Lit::Str(text) = &value.lit else { return false };
        meta.path.is_ident("doc") && text.value().lines().any(|line| line.trim().starts_with("```"))
    })
}

#[test]
fn every_public_module_has_an_example_in_its_docs() {
    let mut found = Vec::new();
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        if ORDER.contains(&name) {
            let source = folder(&package).join("src");
            let root = parsed(&source.join("lib.rs"));
            let mut inner = Vec::new();
            without_example(&[], &root.items, &Modules::of(&source), &mut inner);
            found.extend((!has_example(&root.attrs)).then(|| name.to_owned()));
            found.extend(inner.into_iter().map(|module| format!("{name}: {module}")));
        }
    }
    assert!(found.is_empty(), "public modules without an example: {found:#?}");
}

/// The modules that the map of `ARCHITECTURE.md` lists of each folder, in its order.
fn map() -> BTreeMap<String, Vec<String>> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let start = text.find("\n## Map\n").expect("there is a map");
    let mut map: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut folder = None;
    for line in text[start + 1..].lines().skip(1).take_while(|line| !line.starts_with("## ")) {
        if let Some(name) = line.strip_prefix("### `") {
            folder = name.split('`').next();
        } else if let Some(row) = line.strip_prefix("| `") {
            let folder = folder.expect("rows stand below the name of a folder").to_owned();
            let name = row.split('`').next().unwrap().to_owned();
            map.entry(folder).or_default().push(name);
        }
    }
    map
}

#[test]
fn the_map_lists_every_module_and_no_other() {
    let mut wrong = Vec::new();
    for (folder, listed) in map() {
        let entries = std::fs::read_dir(root().join(&folder));
        let entries = entries.unwrap_or_else(|error| panic!("{folder}: {error}"));
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let is_module = |name: &str| !name.contains('.') || name.ends_with(".rs");
        let found: BTreeSet<String> = names
            .filter(|name| is_module(name))
            .map(|name| name.trim_end_matches(".rs").to_owned())
            .filter(|name| !matches!(&**name, "lib" | "main" | "mod"))
            .collect();
        let listed_once: BTreeSet<String> = listed.iter().cloned().collect();
        wrong.extend(found.difference(&listed_once).map(|name| format!("{folder}: no {name}")));
        wrong
            .extend(listed_once.difference(&found).map(|name| format!("{folder}: {name} is gone")));
        if listed.len() != listed_once.len() {
            wrong.push(format!("{folder}: a module is there twice"));
        }
    }
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        let folder = short(&folder(&package).join("src"));
        if ORDER.contains(&name) && !map().contains_key(&folder) {
            wrong.push(format!("{folder} is not on the map"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_file_is_longer_than_it_can_be_read_and_unsafe_code_is_where_it_pays() {
    struct Unsafe(bool);
    impl<'ast> Visit<'ast> for Unsafe {
        fn visit_expr_unsafe(&mut self, _: &'ast syn::ExprUnsafe) {
            self.0 = true;
        }
    }
    let mut wrong = Vec::new();
    for package in packages() {
        // The allocator that counts for benchmarks is part of no library.
        let may_be_unsafe = matches!(
            package["name"].as_str(),
            Some("regraft-exec" | "regraft-math" | "regraft-runtime" | "regraft-bench")
        );
        for file in rust_files(&folder(&package).join("src")) {
            let lines = std::fs::read_to_string(&file).unwrap().lines().count();
            if lines > MAX_LINES {
                wrong.push(format!("{} has {lines} lines", short(&file)));
            }
            let mut found = Unsafe(false);
            found.visit_file(&parsed(&file));
            if found.0 && !may_be_unsafe {
                wrong.push(format!("{} has unsafe code", short(&file)));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
