//! The shape of a tape: where in it each value stands that is kept once.
//!
//! A few values are a tuple. Many are a tuple of chunks, since instructions have a limited number of
//! operands and types a limited number of parts: scalars of one type are arrays, the rest tuples.
//! Many scalars that are computed only on some ways are put into one array where they are computed:
//! to let each of them meet something else on all other ways would take quadratic time.

use std::sync::Arc;

use regraft_dialects::{core, mem};
use regraft_ir::{
    Block, Constant, Context, Diagnostic, DominatorTree, Edge, Function, Operand, Type, Value,
};
use regraft_passes::transforms::util::ssa_repair;
use rustc_hash::FxHashMap;

use super::tape_plan::place_after;
use crate::tangent_builder::inbounds;
use crate::tangent_builder::{self as build, placeholder};

/// The number of values that a chunk holds.
const CHUNK: usize = 1024;
/// The greatest number of values whose types the type of a tape names: beyond that, what is no scalar is `any`.
const MAX_NAMED: usize = 1 << 15;
/// The greatest number of values computed only on some ways that is not many.
const FEW: usize = 64;

/// The places of values on the tape.
#[derive(Debug)]
pub(super) struct TapeLayout {
    pub(super) chunks: Vec<Chunk>,
    /// Of each value, the position of its chunk and its position there, from 0.
    pub(super) places: Vec<(usize, usize)>,
    /// Tells whether the tape is the only chunk itself.
    pub(super) is_flat: bool,
}

/// Values that stand together.
#[derive(Debug)]
pub(super) struct Chunk {
    /// The element type, if it is an array.
    pub(super) element: Option<Type>,
    /// Tells whether values are put into it where they are computed.
    pub(super) is_stored: bool,
    pub(super) members: Vec<usize>,
}

impl TapeLayout {
    /// For values of these types, of which those that are `partial` are computed only on some ways.
    /// Linear.
    pub(super) fn new(types: &[Type], partial: &[bool]) -> Self {
        let store = partial.iter().filter(|&&partial| partial).count() > FEW;
        if types.len() <= CHUNK && !store {
            let members = (0..types.len()).collect();
            let chunk = Chunk { element: None, is_stored: false, members };
            let places = (0..types.len()).map(|i| (0, i)).collect();
            return Self { chunks: vec![chunk], places, is_flat: true };
        }
        let mut chunks: Vec<Chunk> = Vec::new();
        let mut places = Vec::with_capacity(types.len());
        // The chunk that is being filled, by kind; there are few of them.
        let mut open: Vec<((Option<Type>, bool), usize)> = Vec::new();
        for (i, &ty) in types.iter().enumerate() {
            let element = match ty {
                ty if ty.is_scalar() => Some(ty),
                _ => (types.len() > MAX_NAMED).then_some(Type::ANY),
            };
            let is_stored = store && partial[i] && ty.is_scalar();
            let kind = (element, is_stored);
            let known = open.iter().position(|&(of, _)| of == kind);
            let has_room = |at: usize| is_stored || chunks[open[at].1].members.len() < CHUNK;
            let chunk = match known.filter(|&at| has_room(at)) {
                Some(at) => open[at].1,
                None => {
                    chunks.push(Chunk { element, is_stored, members: Vec::new() });
                    let new = (kind, chunks.len() - 1);
                    match known {
                        Some(at) => open[at] = new,
                        None => open.push(new),
                    }
                    chunks.len() - 1
                }
            };
            places.push((chunk, chunks[chunk].members.len()));
            chunks[chunk].members.push(i);
        }
        Self { chunks, places, is_flat: false }
    }

    /// The type of the tape.
    pub(super) fn ty(&self, ctx: &Context, types: &[Type]) -> Type {
        let of = |chunk: &Chunk| match chunk.element {
            Some(element) => ctx.array_type(element, 1),
            None => {
                let parts: Vec<Type> = chunk.members.iter().map(|&i| types[i]).collect();
                ctx.tuple_type(&parts)
            }
        };
        if self.is_flat {
            return of(&self.chunks[0]);
        }
        let parts: Vec<Type> = self.chunks.iter().map(of).collect();
        ctx.tuple_type(&parts)
    }
}

/// Appends the tape to the block that returns.
pub(super) fn pack(
    f: &mut Function,
    exit: Block,
    kept: &[Value],
    layout: &TapeLayout,
    dom: &DominatorTree,
) -> Result<Operand, Diagnostic> {
    let ctx = Arc::clone(f.ctx());
    let at = Value::terminator(exit);
    let mut chunks: Vec<Value> = Vec::new();
    let entry = f.entry().expect("it has blocks");
    for chunk in &layout.chunks {
        if let (Some(element), true) = (chunk.element, chunk.is_stored) {
            chunks.push(store_chunk(f, entry, kept, chunk, element)?);
            continue;
        }
        let members = chunk.members.iter().map(|&i| kept[i]);
        let inst = match chunk.element {
            Some(element) => mem::array(members, ctx.array_type(element, 1)),
            None => core::tuple(members),
        };
        chunks.push(f.insert(at, inst)?);
    }
    let all = match chunks.as_slice() {
        [one] if layout.is_flat => *one,
        _ => f.insert(at, core::tuple(chunks.iter().copied()))?,
    };
    let mut placeholders: FxHashMap<Type, Operand> = FxHashMap::default();
    for (i, &v) in kept.iter().enumerate() {
        let block = f.block_of(v);
        if dom.dominates(block, exit) || layout.chunks[layout.places[i].0].is_stored {
            continue;
        }
        let ty = f.ty(v);
        let stand_in = match placeholders.get(&ty) {
            Some(&known) => known,
            None => {
                let first = f.first_inst(entry).unwrap_or(Value::terminator(entry));
                let made = build::emitting(
                    &ctx,
                    |inst| f.insert(first, inst),
                    |emit| placeholder(&ctx, ty, emit),
                )?;
                placeholders.insert(ty, made);
                made
            }
        };
        let defs = [(entry, stand_in), (block, v.into())];
        for met in ssa_repair::repair(f, v, &defs, &[chunks[layout.places[i].0]])? {
            if let Some(other) = handed_the_same(f, met, stand_in) {
                f.replace_all_uses(met, other)?;
                f.remove_param(met)?;
            }
        }
    }
    for unused in placeholders.into_values().filter_map(Operand::as_value) {
        if !f.is_used(unused) {
            f.delete(unused)?;
        }
    }
    Ok(all.into())
}

/// The parameter beside one in which a value meets its stand-in that is handed the same where the value was computed: where
/// it was not, nobody looks at it. So the shadow of an array that is made on both ways of a branch is kept once. O(parameters
/// of the block × edges into it).
fn handed_the_same(f: &Function, met: Value, stand_in: Operand) -> Option<Value> {
    let block = f.block_of(met);
    let position = f.params(block).position(|param| param == met)?;
    let edges: Vec<Edge> = f.in_edges(block).collect();
    let mut others = f.params(block).enumerate().filter(|&(_, other)| other != met);
    let found = others.find(|&(other_position, other)| {
        f.ty(other) == f.ty(met)
            && edges.iter().all(|&edge| {
                let given = f.edge_arg(edge, position);
                given == Some(stand_in) || given == f.edge_arg(edge, other_position)
            })
    });
    found.map(|(_, other)| other)
}

/// An array into which values are put where they are computed.
fn store_chunk(
    f: &mut Function,
    entry: Block,
    kept: &[Value],
    chunk: &Chunk,
    element: Type,
) -> Result<Value, Diagnostic> {
    let ctx = Arc::clone(f.ctx());
    let length = ctx.constant_id(Constant::I64(chunk.members.len() as i64));
    let array = f.push_front(entry, mem::alloc([length], ctx.array_type(element, 1)))?;
    for (place, &i) in chunk.members.iter().enumerate() {
        let v = kept[i];
        let at = place_after(f, v);
        let index = ctx.constant_id(Constant::I64(place as i64 + 1));
        f.insert(at, mem::store(array, v, [index]))?;
    }
    Ok(array)
}

/// Puts projections of the tape `source` in the place of what stands for parts of it.
pub(super) fn unpack(
    f: &mut Function,
    source: Value,
    layout: &TapeLayout,
    projections: &[(Value, usize)],
) -> Result<(), Diagnostic> {
    let ctx = Arc::clone(f.ctx());
    let index = |i: usize| Operand::from(ctx.constant_id(Constant::I64(i as i64 + 1)));
    for &(at, i) in projections {
        let (chunk, place) = layout.places[i];
        if layout.is_flat {
            f.replace(at, core::get(source, index(place)))?;
            continue;
        }
        let loc = f.loc(at);
        let whole = f.insert(at, core::get(source, index(chunk)).at(loc))?;
        let load = mem::load(whole, [index(place)]).with_attrs(inbounds(&ctx)).at(loc);
        let inst = match layout.chunks[chunk].element {
            None => core::get(whole, index(place)),
            Some(Type::ANY) => {
                let ty = f.ty(at);
                core::typeassert(f.insert(at, load)?, ty)
            }
            Some(_) => load,
        };
        f.replace(at, inst)?;
    }
    Ok(())
}
