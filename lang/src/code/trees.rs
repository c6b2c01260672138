//! Trees of code that is data, to values and back.

use std::sync::Arc;

use regraft_exec::value::{Array, ElementType, Val};
use regraft_ir::Context;
use regraft_syntax::julia::{Ast, ExprId, Kind, Span};
use rustc_hash::FxHashMap;

use super::types::CodeTypes;
use crate::definition::Space;
use crate::world::World;

/// The depth from which on code is too deep to be run.
const MAX_DEPTH: usize = 180;

/// The size from which on code is too large to be run.
const MAX_SIZE: usize = 1 << 20;

/// The places in a text of the expressions that were made values of, by the addresses of these.
#[derive(Default, Debug)]
pub(crate) struct Places {
    spans: FxHashMap<usize, Span>,
    /// The values, so that their addresses stay theirs.
    kept: Vec<Val>,
}

impl Places {
    fn note(&mut self, value: &Val, span: Span) {
        if let Some(address) = address(value) {
            self.spans.insert(address, span);
            self.kept.push(value.clone());
        }
    }

    fn of(&self, value: &Val) -> Option<Span> {
        self.spans.get(&address(value)?).copied()
    }
}

fn address(value: &Val) -> Option<usize> {
    match value {
        Val::Object(object) => Some(std::ptr::from_ref(&**object) as usize),
        _ => None,
    }
}

/// The value of a tree of code.
///
/// The values of all expressions in it are noted with their places. O(size).
pub(crate) fn tree_value(
    world: &mut World,
    types: CodeTypes,
    ast: &Ast,
    id: ExprId,
    places: &mut Places,
) -> Val {
    let ctx = world.ctx().clone();
    match ast.kind(id) {
        Kind::Name(name) => Val::Sym(name),
        Kind::Int(x) => Val::I64(x),
        Kind::Float(x) => Val::F64(x),
        Kind::Float32(x) => Val::F32(x),
        Kind::Bits(bits, x) => types.of_bits(bits, x),
        Kind::Bool(x) => Val::Bool(x),
        Kind::Str(text) => Val::str(ctx.str(text)),
        Kind::Sym(name) => Val::structure(types.quote_node, [Val::Sym(name)]),
        Kind::Quote(inner) => {
            let inner = tree_value(world, types, ast, inner, places);
            Val::structure(types.quote_node, [inner])
        }
        Kind::Line { file, line } => {
            let file = file.map_or(Val::Unit, Val::Sym);
            Val::structure(types.line_node, [Val::I64(line.into()), file])
        }
        Kind::GlobalRef { module, name } => {
            let module = world.module_value(Space::at(&ctx, module));
            Val::structure(types.global_ref, [module, Val::Sym(name)])
        }
        Kind::Form { head, args } => {
            let args: Vec<Val> = ast
                .list(args)
                .iter()
                .map(|&arg| tree_value(world, types, ast, arg, places))
                .collect();
            let args = Array::of_values(ElementType::ANY, &args, &[args.len()])
                .map_or(Val::Unit, Val::from);
            let value = Val::object(types.expr, [Val::Sym(head), args]);
            places.note(&value, ast.span(id));
            value
        }
        // Nothing else is data.
        _ => Val::Unit,
    }
}

/// The way in which values that are no code are put into a tree.
pub(crate) trait Read {
    /// The kind of leaf that stands for a value.
    fn value(&mut self, world: &mut World, value: &Val) -> Kind;

    /// Returns whether tuples are put in as the code that makes them, so that what is in them is known.
    fn takes_tuples_apart(&self) -> bool {
        false
    }
}

/// Adds the tree of a value that is code. Places are those that are known of its expressions, or
/// else `span`.
///
/// O(size), where a part that is there twice counts twice.
///
/// # Errors
/// If it is too deep or too large, or if it is no code, such as an `Expr` whose arguments were taken away.
pub(crate) fn read_tree(
    world: &mut World,
    types: CodeTypes,
    ast: &mut Ast,
    value: &Val,
    (places, span): (&Places, Span),
    read: &mut dyn Read,
) -> Result<ExprId, String> {
    let ctx = Arc::clone(world.ctx());
    let mut reader = Reader { ctx: &ctx, world, types, ast, places, read, size: 0 };
    reader.tree(value, span, 0)
}

struct Reader<'a> {
    ctx: &'a Context,
    world: &'a mut World,
    types: CodeTypes,
    ast: &'a mut Ast,
    places: &'a Places,
    read: &'a mut dyn Read,
    size: usize,
}

impl Reader<'_> {
    fn tree(&mut self, value: &Val, around: Span, depth: usize) -> Result<ExprId, String> {
        self.size += 1;
        if depth > MAX_DEPTH {
            return Err(format!("the code is nested more than {MAX_DEPTH} deep"));
        }
        if self.size > MAX_SIZE {
            return Err(format!("the code has more than {MAX_SIZE} parts"));
        }
        let span = self.places.of(value).unwrap_or(around);
        let kind = match value {
            Val::Sym(name) => Kind::Name(*name),
            Val::I64(x) => Kind::Int(*x),
            Val::F64(x) => Kind::Float(*x),
            Val::F32(x) => Kind::Float32(*x),
            Val::Bool(x) => Kind::Bool(*x),
            Val::Unit => Kind::Nothing,
            Val::Str(text) => Kind::Str(self.ctx.symbol(text.as_str())),
            Val::Object(object) if object.ty() == self.types.expr => {
                let (Some(Val::Sym(head)), Some(Val::Array(args))) = (object.get(0), object.get(1))
                else {
                    return Err("an `Expr` without a head or arguments is no code".to_owned());
                };
                let mut made = Vec::with_capacity(args.len());
                for index in 0..args.len() {
                    let arg = args.get(index).ok_or("an argument of an `Expr` is not defined")?;
                    let arg = stacker::maybe_grow(64 << 10, 1 << 20, || {
                        self.tree(&arg, span, depth + 1)
                    })?;
                    made.push(arg);
                }
                let args = self.ast.add_list(&made);
                Kind::Form { head, args }
            }
            Val::Struct(fields) => match (fields.ty(), fields.items()) {
                (ty, [inner]) if ty == self.types.quote_node => match inner {
                    Val::Sym(name) => Kind::Sym(*name),
                    inner => Kind::Quote(self.tree(inner, span, depth + 1)?),
                },
                (ty, [Val::I64(line), file]) if ty == self.types.line_node => {
                    let file = if let Val::Sym(file) = file { Some(*file) } else { None };
                    Kind::Line { file, line: u32::try_from(*line).unwrap_or(0) }
                }
                (ty, [Val::Struct(module), Val::Sym(name)]) if ty == self.types.global_ref => {
                    match self.world.module(module.ty()) {
                        Some(space) => {
                            Kind::GlobalRef { module: space.path(self.ctx), name: *name }
                        }
                        None => return Err("a `GlobalRef` names something in a module".to_owned()),
                    }
                }
                (ty, parts) => match self.world.module(ty) {
                    _ if let Some((bits, x)) = self.types.bits_of(ty, parts) => Kind::Bits(bits, x),
                    Some(Space::Base) => {
                        let name = self.ctx.symbol("Base");
                        Kind::GlobalRef { module: name, name }
                    }
                    Some(space) => {
                        let name = self.ctx.symbol("@__MODULE__");
                        Kind::GlobalRef { module: space.path(self.ctx), name }
                    }
                    None => self.read.value(self.world, value),
                },
            },
            Val::Tuple(fields) if self.read.takes_tuples_apart() => {
                let mut made = Vec::with_capacity(fields.items().len());
                for item in fields.items() {
                    made.push(self.literal(item, span, depth + 1)?);
                }
                let (head, args) = (self.ctx.symbol("tuple"), self.ast.add_list(&made));
                Kind::Form { head, args }
            }
            value => self.read.value(self.world, value),
        };
        Ok(self.ast.add(kind, span))
    }

    /// The code that gives a value that may be code itself.
    fn literal(&mut self, value: &Val, span: Span, depth: usize) -> Result<ExprId, String> {
        let ty = match value {
            Val::Object(object) => Some(object.ty()),
            Val::Struct(fields) => Some(fields.ty()),
            _ => None,
        };
        match value {
            Val::Sym(name) => Ok(self.ast.add(Kind::Sym(*name), span)),
            _ if ty.is_some_and(|ty| self.types.contain(ty)) => {
                let inner = self.tree(value, span, depth)?;
                Ok(self.ast.add(Kind::Quote(inner), span))
            }
            value => self.tree(value, span, depth),
        }
    }
}
