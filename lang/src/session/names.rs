//! Names of values, types and functions in the form of the language, for the interpreter to print.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use regraft_exec::value::{Array, Fields, Names, Object, Part, Shown, Texts, Val};
use regraft_ir::{Context, Source, Symbol, Type};
use rustc_hash::FxHashMap;

use regraft_syntax::julia::{Ast, Bits, Kind, Span};

use crate::code::{CodeTypes, Places, Read, read_tree};
use crate::compiler::Compiler;
use crate::definition::Space;
use crate::world::{Binding, World};

/// The values that are no code in the code that is printed.
#[derive(Default)]
struct Values(Vec<Val>);

impl Read for Values {
    fn value(&mut self, _: &mut World, value: &Val) -> Kind {
        self.0.push(value.clone());
        Kind::Value(self.0.len() as u32 - 1)
    }
}

/// The names that a world gives.
pub(super) struct WorldNames {
    ctx: Arc<Context>,
    compiler: Rc<RefCell<Compiler>>,
    known: OnceCell<Known>,
    /// An empty text, for trees that are only printed.
    no_text: Source,
}

/// The types of the prelude that are shown in a way of their own, found when the first value is shown.
struct Known {
    /// The types that are shown otherwise than field by field.
    special: Vec<(Type, Special)>,
    /// The first of them that a type is below, by types that were asked for.
    found: RefCell<FxHashMap<Type, Option<Special>>>,
    /// The types of expressions and of their parts.
    code: Option<CodeTypes>,
}

/// A type of the prelude that is not shown field by field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Special {
    UnitRange,
    OneTo,
    StepRange,
    Irrational,
    Pair,
    Complex,
    Rational,
    CartesianIndex,
    Dict,
    Set,
    Keys,
    Values,
    /// As its second field, which is a symbol.
    Enum,
    /// As its first field, which is a text.
    Text,
    Module,
    Missing,
    Some,
    /// As the array of its elements.
    Reshaped,
    /// Likewise, of the parent with rows for columns.
    Turned,
}

const SPECIAL: [(&str, Special); 25] = [
    ("UnitRange", Special::UnitRange),
    ("OneTo", Special::OneTo),
    ("StepRange", Special::StepRange),
    ("Irrational", Special::Irrational),
    ("Pair", Special::Pair),
    ("Complex", Special::Complex),
    ("Dict", Special::Dict),
    ("IdDict", Special::Dict),
    ("Set", Special::Set),
    ("KeySet", Special::Keys),
    ("ValueIterator", Special::Values),
    ("#CharRange", Special::StepRange),
    ("Rational", Special::Rational),
    ("Method", Special::Text),
    ("MethodList", Special::Text),
    ("CodeText", Special::Text),
    ("#TestResult", Special::Text),
    ("Missing", Special::Missing),
    ("Some", Special::Some),
    ("CartesianIndex", Special::CartesianIndex),
    ("ReshapedArray", Special::Reshaped),
    ("Adjoint", Special::Turned),
    ("Transpose", Special::Turned),
    ("Enum", Special::Enum),
    ("Module", Special::Module),
];

impl WorldNames {
    /// Returns the names of a world that will have its prelude when the first value is shown.
    pub(super) fn new(compiler: &Rc<RefCell<Compiler>>) -> Self {
        let ctx = Arc::clone(compiler.borrow().ctx());
        let no_text = ctx.add_source("", "").expect("there is room for an empty text");
        Self { ctx, compiler: Rc::clone(compiler), known: OnceCell::new(), no_text }
    }

    /// The types that are shown in a way of their own; none as long as the world is just being changed.
    fn known(&self) -> Option<&Known> {
        if let Some(known) = self.known.get() {
            return Some(known);
        }
        let world = &mut self.compiler.try_borrow_mut().ok()?.world;
        let special = SPECIAL.iter().filter_map(|&(name, special)| {
            match world.resolve(self.ctx.symbol(name), Space::Base, None) {
                Binding::Type(ty) => Some((ty, special)),
                _ => None,
            }
        });
        let special = special.collect();
        let code = CodeTypes::of(world);
        let found = RefCell::default();
        Some(self.known.get_or_init(|| Known { special, found, code }))
    }

    /// The way in which values of a type are shown, if not field by field. The outer `None` as long as the world is just being changed.
    fn special(&self, ty: Type) -> Option<Option<Special>> {
        let known = self.known()?;
        if let Some(&found) = known.found.borrow().get(&ty) {
            return Some(found);
        }
        let found = self.world(|world| {
            let of = known.special.iter().find(|&&(above, _)| world.is_below(ty, above));
            of.map(|&(_, special)| special)
        })?;
        known.found.borrow_mut().insert(ty, found);
        Some(found)
    }

    /// The types that code is made of.
    fn code(&self) -> Option<CodeTypes> {
        self.known()?.code
    }

    /// Code as Julia prints it; in quotes, unless it is `bare`.
    fn code_text(&self, value: &Val, bare: bool) -> Option<String> {
        let mut ast = Ast::empty(self.no_text.clone());
        let mut values = Values::default();
        let span = Span { start: 0, end: 0 };
        let code = self.code()?;
        let tree = {
            let mut compiler = self.compiler.try_borrow_mut().ok()?;
            let places = Places::default();
            let places = (&places, span);
            read_tree(&mut compiler.world, code, &mut ast, value, places, &mut values)
        };
        let text = |number: u32| match values.0.get(number as usize) {
            Some(value) => Texts { ctx: &self.ctx, names: Some(self) }.show(value),
            None => String::new(),
        };
        Some(match tree {
            Ok(id) if bare => ast.code_text(&self.ctx, id, &text),
            Ok(id) => ast.quoted_text(&self.ctx, id, &text),
            Err(why) => format!("Expr(#= {why} =#)"),
        })
    }

    /// `Dict("a" => 1)`; with its parameters where the entries do not say them.
    fn dict(&self, dict: &Object) -> Vec<Part> {
        let (keys, values) = (entries(dict, KEYS), entries(dict, VALUES));
        let is_said = |values: &[Val], field: usize| match dict.get(field) {
            Some(Val::Array(array)) => array.element() != Type::ANY && !values.is_empty(),
            _ => false,
        };
        let said = is_said(&keys, KEYS) && is_said(&values, VALUES);
        let is_id = self.world(|world| world.type_name(dict.ty()).starts_with("Id"));
        let name = if is_id == Some(true) { "IdDict" } else { "Dict" };
        let mut parts = vec![if said { Part::Text(name) } else { Part::Type(dict.ty()) }];
        parts.push(Part::Text("("));
        for (index, (key, value)) in keys.into_iter().zip(values).enumerate() {
            parts.push(Part::Text(if index == 0 { "" } else { ", " }));
            parts.extend([Part::Value(key), Part::Text(" => "), Part::Value(value)]);
        }
        parts.push(Part::Text(")"));
        parts
    }

    /// `Set([1, 2])`, and the keys and values of a dictionary as vectors.
    fn set(&self, special: Special, fields: &Fields) -> Option<Shown> {
        let Some(Val::Object(dict)) = fields.items().first() else { return None };
        let field = if special == Special::Values { VALUES } else { KEYS };
        let Some(Val::Array(of)) = dict.get(field) else { return None };
        let items = entries(dict, field);
        let all = Array::of_values(of.element_type(), &items, &[items.len()]).ok()?;
        Some(Shown::Parts(match special {
            Special::Set if items.is_empty() => vec![Part::Type(fields.ty()), Part::Text("()")],
            Special::Set => vec![Part::Text("Set("), Part::Value(all.into()), Part::Text(")")],
            _ => vec![Part::Value(all.into())],
        }))
    }

    fn is_pair(&self, ty: Type) -> bool {
        self.special(ty).flatten() == Some(Special::Pair)
    }

    /// Asks the world, unless it is just being changed.
    fn world<T>(&self, ask: impl FnOnce(&World) -> T) -> Option<T> {
        self.compiler.try_borrow().ok().map(|compiler| ask(&compiler.world))
    }
}

impl Names for WorldNames {
    fn type_name(&self, ty: Type) -> Option<String> {
        self.world(|world| world.type_name(ty))
    }

    fn function_name(&self, function: Symbol) -> Option<String> {
        // What shadows a function of the prelude is told apart by its space.
        let name = self.ctx.str(function);
        // That of a module begins with the module's path.
        let last = name.rsplit_once('.').filter(|(path, last)| {
            path.starts_with(char::is_uppercase) && !last.is_empty() && !path.ends_with('.')
        });
        Some(last.map_or(name, |(_, last)| last).to_owned())
    }

    fn implicit(&self, ty: Type) -> Option<Vec<Type>> {
        if self.code().is_some_and(|code| code.is_char(ty)) {
            return Some(Vec::new());
        }
        let def = self.ctx.struct_of(ty).filter(|_| self.is_pair(ty))?;
        Some(def.fields.iter().map(|&(_, ty)| ty).collect())
    }

    fn near(&self, name: Symbol) -> Option<String> {
        self.world(|world| world.near(name, Space::Main))?
    }

    fn show(&self, value: &Val, bare: bool) -> Option<Shown> {
        let ty = match value {
            Val::Struct(fields) => fields.ty(),
            Val::Object(object) => object.ty(),
            _ => return None,
        };
        if self.code().is_some_and(|code| code.contain(ty)) {
            return self.code_text(value, bare).map(Shown::Text);
        }
        let special = self.special(ty)?;
        if let (Some(Special::Dict), Val::Object(object)) = (special, value) {
            return Some(Shown::Parts(self.dict(object)));
        }
        let Val::Struct(fields) = value else { return None };
        if let Some((bits, words)) = self.code().and_then(|code| code.bits_of(ty, fields.items())) {
            return Some(Shown::Text(match bits {
                Bits::Char if bare => char::from_u32(words[0] as u32)?.to_string(),
                _ if bare => bits.decimal(words),
                bits => bits.text(words),
            }));
        }
        if let Some(name) = self.world(|world| world.closure_name(ty))? {
            return Some(Shown::Text(self.ctx.str(name).to_owned()));
        }
        let special = special?;
        let part = |index: usize| {
            fields
                .items()
                .get(index)
                .map(|part| Texts { ctx: &self.ctx, names: Some(self) }.show(part))
        };
        Some(Shown::Text(match special {
            Special::Pair => {
                let mut parts = Vec::new();
                for (index, item) in fields.items().iter().enumerate() {
                    // A pair within a pair stands in brackets.
                    let within = matches!(item, Val::Struct(of) if self.is_pair(of.ty()));
                    let gap = if index == 0 { "" } else { " => " };
                    let brackets = if within { ["(", ")"] } else { ["", ""] };
                    parts.extend([Part::Text(gap), Part::Text(brackets[0])]);
                    parts.extend([Part::Value(item.clone()), Part::Text(brackets[1])]);
                }
                return Some(Shown::Parts(parts));
            }
            Special::Enum => match fields.items().get(1)? {
                Val::Sym(name) => self.ctx.str(*name).to_owned(),
                _ => return None,
            },
            Special::Text => match fields.items().first()? {
                Val::Str(text) => text.as_str().to_owned(),
                _ => return None,
            },
            Special::Module => self.world(|world| world.module(ty))??.shown(&self.ctx),
            Special::Set | Special::Keys | Special::Values => return self.set(special, fields),
            Special::Dict => return None,
            Special::Some => format!("Some({})", part(0)?),
            Special::Reshaped => match fields.items() {
                [Val::Array(parent), Val::Tuple(dims)] if dims.items().is_empty() => {
                    let item = Part::Value(parent.get(0)?);
                    return Some(Shown::Parts(vec![Part::Text("fill("), item, Part::Text(")")]));
                }
                _ => return reshaped(fields).map(Shown::As),
            },
            Special::Turned => return turned(fields).map(Shown::As),
            Special::Missing => "missing".to_owned(),
            Special::Complex => complex_text(&part(0)?, &part(1)?, fields.items().get(1)?),
            Special::CartesianIndex => {
                format!("CartesianIndex{}", part(0)?.replace(",)", ")"))
            }
            Special::Rational => format!("{}//{}", part(0)?, part(1)?),
            Special::UnitRange => format!("{}:{}", part(0)?, part(1)?),
            Special::OneTo => format!("Base.OneTo({})", part(0)?),
            Special::StepRange => format!("{}:{}:{}", part(0)?, part(1)?, part(2)?),
            Special::Irrational => {
                let name = self.type_name(ty)?;
                name.split_once(':')?.1.trim_end_matches('}').to_owned()
            }
        }))
    }
}

/// The elements of an array in other dimensions.
fn reshaped(fields: &Fields) -> Option<Val> {
    let [Val::Array(parent), Val::Tuple(dims)] = fields.items() else { return None };
    let dims = dims.items().iter().map(|dim| match dim {
        &Val::I64(dim) => usize::try_from(dim).ok(),
        _ => None,
    });
    let dims: Vec<usize> = dims.collect::<Option<_>>()?;
    let values: Vec<Val> = (0..parent.len()).map(|at| parent.get(at)).collect::<Option<_>>()?;
    Array::of_values(parent.element_type(), &values, &dims).ok().map(Val::from)
}

/// A matrix with rows for columns, a vector as a row.
fn turned(fields: &Fields) -> Option<Val> {
    let [Val::Array(parent)] = fields.items() else { return None };
    let (rows, columns) = match *parent.dims() {
        [n] => (n, 1),
        [m, n] => (m, n),
        _ => return None,
    };
    let at = |k: usize| parent.get(k / columns + k % columns * rows);
    let values: Vec<Val> = (0..parent.len()).map(at).collect::<Option<_>>()?;
    Array::of_values(parent.element_type(), &values, &[columns, rows]).ok().map(Val::from)
}

/// The fields of a dictionary, by position.
const HASHES: usize = 1;
const KEYS: usize = 2;
const VALUES: usize = 3;
const LAST: usize = 4;

/// The values of a field of a dictionary that belong to entries that are not deleted.
fn entries(dict: &Object, field: usize) -> Vec<Val> {
    let (Some(Val::Array(hashes)), Some(Val::Array(values)), Some(Val::I64(last))) =
        (dict.get(HASHES), dict.get(field), dict.get(LAST))
    else {
        return Vec::new();
    };
    let last = hashes.len().min(usize::try_from(last).unwrap_or(0));
    let is_there = |&at: &usize| matches!(hashes.get(at), Some(Val::I32(hash)) if hash >= 0);
    (0..last).filter(is_there).filter_map(|at| values.get(at)).collect()
}

/// A complex number as Julia shows it, from the texts of its parts.
fn complex_text(re: &str, im: &str, part: &Val) -> String {
    if let Val::Bool(_) = part {
        return if (re, im) == ("false", "true") {
            "im".to_owned()
        } else {
            format!("Complex({re},{im})")
        };
    }
    let (sign, size) = match im.strip_prefix('-') {
        Some(size) => ("-", size),
        None => ("+", im),
    };
    // A part that is no plain number is multiplied.
    let times = if size.ends_with(|c: char| c.is_ascii_digit()) { "" } else { "*" };
    format!("{re} {sign} {size}{times}im")
}
