//! The shape of a tape: where in it each value stands that is kept once.
//!
//! A few values are a tuple. Many are a tuple of chunks, since instructions have a limited number of
//! operands and types a limited number of parts: scalars of one type are arrays, the rest tuples.
//! Many scalars that are computed only on some ways are put into one array where they are computed:
//! to let each of them meet something else on all other ways would take quadratic time.

use regraft_ir::{Context, Type};

/// How many values a chunk holds.
const CHUNK: usize = 1024;
/// How many values the type of a tape may name the types of: beyond that, what is no scalar is `any`.
const MOST_NAMED: usize = 1 << 15;
/// How many values that are computed only on some ways are not many.
const FEW: usize = 64;

/// Where values stand.
#[derive(Debug)]
pub(super) struct TapeLayout {
    pub(super) chunks: Vec<Chunk>,
    /// Of each value, the position of its chunk and its position there, from 0.
    pub(super) places: Vec<(usize, usize)>,
    /// Whether the tape is the only chunk itself.
    pub(super) is_flat: bool,
}

/// Values that stand together.
#[derive(Debug)]
pub(super) struct Chunk {
    /// The element type, if it is an array.
    pub(super) element: Option<Type>,
    /// Whether values are put into it where they are computed.
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
                _ => (types.len() > MOST_NAMED).then_some(Type::ANY),
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
