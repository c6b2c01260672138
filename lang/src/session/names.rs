//! Names of values, types and functions in the form of the language, for the interpreter to print.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use regraft_exec::value::{Names, Part, Shown, Texts, Val};
use regraft_ir::{Context, Symbol, Type};

use crate::compiler::Compiler;
use crate::definition::Space;
use crate::world::{Binding, World};

/// The names that a world gives.
pub(super) struct WorldNames {
    ctx: Arc<Context>,
    compiler: Rc<RefCell<Compiler>>,
    /// The types that are shown otherwise than field by field.
    special: Vec<(Type, Special)>,
}

/// A type of the prelude that is not shown field by field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Special {
    UnitRange,
    OneTo,
    StepRange,
    Irrational,
    Pair,
    MethodList,
    Module,
}

const SPECIAL: [(&str, Special); 7] = [
    ("UnitRange", Special::UnitRange),
    ("OneTo", Special::OneTo),
    ("StepRange", Special::StepRange),
    ("Irrational", Special::Irrational),
    ("Pair", Special::Pair),
    ("MethodList", Special::MethodList),
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
        Self { ctx, compiler: Rc::clone(compiler), special }
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

    fn show(&self, value: &Val) -> Option<Shown> {
        let Val::Struct(fields) = value else { return None };
        let ty = fields.ty();
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
            Special::MethodList => match fields.items().first()? {
                Val::Str(text) => text.as_str().to_owned(),
                _ => return None,
            },
            Special::Module => match self.world(|world| world.module(ty))?? {
                Space::Base => "Base".to_owned(),
                Space::Main => "Main".to_owned(),
                Space::Module(path) => format!("Main.{}", self.ctx.str(path)),
            },
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
