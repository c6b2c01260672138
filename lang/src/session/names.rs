//! Names of values, types and functions in the form of the language, for the interpreter to print.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use regraft_exec::value::{Names, Part, Shown, Texts, Val};
use regraft_ir::{Context, Source, Symbol, Type};

use regraft_syntax::julia::{Ast, Kind, Span};

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
    /// The types that are shown otherwise than field by field.
    special: Vec<(Type, Special)>,
    /// The types that code is made of.
    code: Option<CodeTypes>,
    /// An empty text, for trees that are only printed.
    no_text: Source,
}

/// A type of the prelude that is not shown field by field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Special {
    UnitRange,
    OneTo,
    StepRange,
    Irrational,
    Pair,
    /// As its second field, which is a symbol.
    Enum,
    /// As its first field, which is a text.
    Text,
    Module,
}

const SPECIAL: [(&str, Special); 10] = [
    ("UnitRange", Special::UnitRange),
    ("OneTo", Special::OneTo),
    ("StepRange", Special::StepRange),
    ("Irrational", Special::Irrational),
    ("Pair", Special::Pair),
    ("MethodList", Special::Text),
    ("CodeText", Special::Text),
    ("#TestResult", Special::Text),
    ("Enum", Special::Enum),
    ("Module", Special::Module),
];

impl WorldNames {
    /// Returns the names of a world with its prelude.
    pub(super) fn new(compiler: &Rc<RefCell<Compiler>>) -> Self {
        let ctx = Arc::clone(compiler.borrow().ctx());
        let world = &mut compiler.borrow_mut().world;
        let special = SPECIAL.iter().filter_map(|&(name, special)| {
            match world.resolve(ctx.symbol(name), Space::Base, None) {
                Binding::Type(ty) => Some((ty, special)),
                _ => None,
            }
        });
        let special = special.collect();
        let code = CodeTypes::of(world);
        let no_text = ctx.add_source("", "").expect("there is room for an empty text");
        Self { ctx, compiler: Rc::clone(compiler), special, code, no_text }
    }

    /// Code as Julia prints it; in quotes, unless it is `bare`.
    fn code_text(&self, value: &Val, bare: bool) -> Option<String> {
        let mut ast = Ast::empty(self.no_text.clone());
        let mut values = Values::default();
        let span = Span { start: 0, end: 0 };
        let tree = {
            let mut compiler = self.compiler.try_borrow_mut().ok()?;
            let places = Places::default();
            let places = (&places, span);
            read_tree(&mut compiler.world, self.code?, &mut ast, value, places, &mut values)
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

    fn is_pair(&self, ty: Type) -> bool {
        let pair = self.special.iter().find(|(_, special)| *special == Special::Pair);
        let is_below = |world: &World| pair.is_some_and(|&(pair, _)| world.is_below(ty, pair));
        self.world(is_below).unwrap_or(false)
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

    fn near(&self, name: Symbol) -> Option<String> {
        self.world(|world| world.near(name, Space::Main))?
    }

    fn show(&self, value: &Val, bare: bool) -> Option<Shown> {
        let ty = match value {
            Val::Struct(fields) => fields.ty(),
            Val::Object(object) => object.ty(),
            _ => return None,
        };
        if self.code.is_some_and(|code| code.contain(ty)) {
            return self.code_text(value, bare).map(Shown::Text);
        }
        let Val::Struct(fields) = value else { return None };
        if let Some(name) = self.world(|world| world.closure_name(ty))? {
            return Some(Shown::Text(self.ctx.str(name).to_owned()));
        }
        let special = self.world(|world| {
            let of = self.special.iter().find(|&&(above, _)| world.is_below(ty, above));
            of.map(|&(_, special)| special)
        })??;
        let part =
            |index: usize| fields.items().get(index).map(|part| Texts::plain(&self.ctx).show(part));
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
