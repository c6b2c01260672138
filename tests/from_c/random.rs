//! Random functions, called from C.

use std::rc::Rc;

use regraft::ahead::{Cpu, ObjectFile};
use regraft::exec::value::{Array, egal};
use regraft::exec::{Engine, EngineKind, Interpreter, Names, Val};
use regraft::lang::Closed;
use regraft::prelude::*;
use regraft::testing::arguments;
use regraft::testing::choices::Choices;
use regraft::testing::generate::{Config, ModuleCase};

use super::common::folder;
use super::{PRELUDE, has_c, run_linked};

/// A scalar as a literal of C.
fn literal(value: &Val) -> Option<String> {
    Some(match value {
        Val::Bool(x) => x.to_string(),
        Val::I8(x) => format!("INT8_C({x})"),
        Val::I16(x) => format!("INT16_C({x})"),
        Val::I32(x) => format!("(int32_t)UINT32_C({})", *x as u32),
        Val::I64(x) => format!("(int64_t)UINT64_C({})", *x as u64),
        Val::F32(x) => format!("of_bits32({}u)", x.to_bits()),
        Val::F64(x) => format!("of_bits({}ull)", x.to_bits()),
        _ => return None,
    })
}

/// A scalar as the programs print it: floats by their bits, but for NaN.
fn line(value: &Val) -> String {
    match value {
        Val::F32(x) if x.is_nan() => "nan".to_owned(),
        Val::F64(x) if x.is_nan() => "nan".to_owned(),
        Val::F32(x) => x.to_bits().to_string(),
        Val::F64(x) => x.to_bits().to_string(),
        Val::Bool(x) => i64::from(*x).to_string(),
        Val::I8(x) => x.to_string(),
        Val::I16(x) => x.to_string(),
        Val::I32(x) => x.to_string(),
        value => value.as_i64().map_or_else(|| format!("{value:?}"), |x| x.to_string()),
    }
}

/// The names of the language.
struct Plain;

impl Names for Plain {}

/// The type in C of a scalar.
fn c_type(ty: Type) -> &'static str {
    match ty {
        Type::BOOL => "bool",
        Type::I8 => "int8_t",
        Type::I16 => "int16_t",
        Type::I32 => "int32_t",
        Type::I64 => "int64_t",
        Type::F32 => "float",
        _ => "double",
    }
}

/// Prints one scalar of that type.
fn put(ty: Type, place: &str) -> String {
    match ty {
        Type::F64 => format!("put_double({place});"),
        Type::F32 => format!("put_float({place});"),
        _ => format!("put_int((int64_t){place});"),
    }
}

fn elements(array: &Array) -> Vec<Val> {
    (0..array.storage().len()).map(|at| array.get(at).unwrap()).collect()
}

/// A random function with arguments: the body of a function in C that calls it and prints what comes out, and what
/// that should be. `None` if it has no form in C.
fn random_case(file: &mut ObjectFile, seed: u64) -> Option<(String, String)> {
    let config = match seed % 3 {
        0 => Config::scalar(),
        _ => Config { prints: false, max_params: 3, ..Config::default() },
    };
    let ctx = context();
    let case = ModuleCase::from_seed(&ctx, &config, seed);
    // The last function calls the others.
    let functions: Vec<&Function> = case.module.functions().collect();
    let root = functions.last()?;
    let (name, types, result) = (root.name_str().to_owned(), root.param_types(), root.ret_type());
    let c_name = format!("case{seed}");
    let title = name.clone();
    let module = Module::of_functions(&ctx, functions.iter().rev().map(|&f| f.clone())).unwrap();
    let args = |ctx: &Context| arguments(ctx, &types, &mut Choices::from_seed(seed)).ok();
    let given = args(&ctx)?;
    // C cannot pass an array twice that is written to.
    let arrays: Vec<&Val> = given.iter().filter(|arg| matches!(arg, Val::Array(_))).collect();
    if (1..arrays.len()).any(|at| arrays[..at].iter().any(|other| egal(other, arrays[at]))) {
        return None;
    }
    let mut body = Vec::new();
    let mut passed = Vec::new();
    let mut after = Vec::new();
    for (at, arg) in given.iter().enumerate() {
        if let Val::Array(array) = arg {
            let element = array.element();
            let items: Vec<String> = elements(array).iter().map(literal).collect::<Option<_>>()?;
            let (len, ty) = (items.len(), c_type(element));
            let items = if len == 0 { "0".to_owned() } else { items.join(", ") };
            body.push(format!("{ty} a{at}[] = {{{items}}};"));
            passed.push(format!("a{at}"));
            passed.extend((0..usize::from(array.rank())).map(|dim| array.dim(dim).to_string()));
            let element = put(element, &format!("a{at}[i]"));
            after.push(format!("for (int i = 0; i < {len}; i++) {element}"));
        } else if !matches!(arg, Val::Unit) {
            passed.push(literal(arg)?);
        }
    }
    let kind = ctx.kind(result).clone();
    let outcome = match kind {
        _ if result.is_scalar() && result != Type::SYM => {
            body.push(format!("{} r;", c_type(result)));
            passed.push("&r".to_owned());
            put(result, "r")
        }
        TypeKind::Array { element, rank } if element.is_scalar() => {
            body.push(format!("{c_name}_result r;"));
            passed.push("&r".to_owned());
            let lengths = match rank {
                1 => vec!["len".to_owned()],
                2 => vec!["rows".to_owned(), "columns".to_owned()],
                _ => (1..=rank).map(|dim| format!("size{dim}")).collect(),
            };
            let product: Vec<String> = lengths.iter().map(|length| format!("r.{length}")).collect();
            let product = product.join(" * ");
            let element = put(element, "r.data[i]");
            format!("for (size_t i = 0; i < {product}; i++) {element} regraft_free(r.data);")
        }
        _ if result == Type::UNIT => String::new(),
        _ => return None,
    };
    let closed = Closed { module, name: title.clone(), title, shadows: None };
    file.add(&closed, Some(&c_name)).ok()?;
    let call = passed.join(", ");
    let text = format!(
        "{}\n    if (!say({c_name}({call}))) {{ {outcome} }}\n    {}",
        body.join("\n    "),
        after.join("\n    ")
    );

    let mut interpreter = Interpreter::new(&closed.module);
    interpreter.set_engine(EngineKind::Interpreter).unwrap();
    interpreter.host_mut().set_names(Rc::new(Plain));
    let mut expected = String::new();
    match interpreter.call(&name, &given) {
        Err(error) => expected += &format!("{}\n", error.to_diagnostic().message()),
        Ok(Val::Unit) => {}
        Ok(Val::Array(array)) => {
            elements(&array).iter().for_each(|x| expected += &(line(x) + "\n"));
        }
        Ok(value) => expected += &(line(&value) + "\n"),
    }
    for arg in &given {
        if let Val::Array(array) = arg {
            elements(array).iter().for_each(|x| expected += &(line(x) + "\n"));
        }
    }
    Some((text, expected))
}

#[test]
fn random_functions_do_in_c_what_the_interpreter_does() {
    if !has_c() {
        return;
    }
    let folder = folder("from_c_random");
    let mut file = ObjectFile::new(Cpu::Any).unwrap();
    let cases: Vec<(u64, String, String)> = (0..600)
        .filter_map(|seed| {
            random_case(&mut file, seed).map(|(text, expected)| (seed, text, expected))
        })
        .collect();
    assert!(cases.len() >= 100, "only {} functions have a form in C", cases.len());
    let mut main = format!("{PRELUDE}{BITS}\nint main(void) {{\n");
    for (seed, text, _) in &cases {
        main += &format!("  {{ printf(\"== {seed}\\n\");\n    {text}\n  }}\n");
    }
    main += "  return 0;\n}\n";
    std::fs::write(folder.join("script.h"), file.header()).unwrap();
    std::fs::write(folder.join("script.o"), file.object().unwrap()).unwrap();
    std::fs::write(folder.join("main.c"), main).unwrap();
    let output = run_linked(&folder, &["-w"]);
    let mut parts = output.split("== ").skip(1);
    for (seed, text, expected) in &cases {
        let part = parts.next().unwrap_or_default();
        assert_eq!(part, format!("{seed}\n{expected}"), "{text}");
    }
}

const BITS: &str = r#"
static double of_bits(uint64_t bits) { double x; memcpy(&x, &bits, 8); return x; }
static float of_bits32(uint32_t bits) { float x; memcpy(&x, &bits, 4); return x; }
static void put_int(int64_t x) { printf("%lld\n", (long long)x); }
static void put_double(double x) {
    uint64_t bits; memcpy(&bits, &x, 8);
    if (x != x) printf("nan\n"); else printf("%llu\n", (unsigned long long)bits);
}
static void put_float(float x) {
    uint32_t bits; memcpy(&bits, &x, 4);
    if (x != x) printf("nan\n"); else printf("%u\n", bits);
}
"#;
