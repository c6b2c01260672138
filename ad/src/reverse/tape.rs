//! The shape of a tape: where in it each value stands that is kept once.
//!
//! A few values are a tuple. Many are a tuple of chunks, since instructions have a limited number of
//! operands and types a limited number of parts: scalars of one type are arrays, the rest tuples.

use regraft_ir::{Context, Type};

/// How many values a chunk holds.
const CHUNK: usize = 1024;

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
    pub(super) members: Vec<usize>,
}

impl TapeLayout {
    /// For values of these types. Linear.
    pub(super) fn new(types: &[Type]) -> Self {
        if types.len() <= CHUNK {
            let chunk = Chunk { element: None, members: (0..types.len()).collect() };
            let places = (0..types.len()).map(|i| (0, i)).collect();
            return Self { chunks: vec![chunk], places, is_flat: true };
        }
        let mut chunks: Vec<Chunk> = Vec::new();
        let mut places = Vec::with_capacity(types.len());
        // The chunk that is being filled, by type; there are few scalar types.
        let mut open: Vec<(Option<Type>, usize)> = Vec::new();
        for (i, &ty) in types.iter().enumerate() {
            let element = ty.is_scalar().then_some(ty);
            let known = open.iter().position(|&(of, _)| of == element);
            let at = match known {
                Some(at) if chunks[open[at].1].members.len() < CHUNK => at,
                _ => {
                    chunks.push(Chunk { element, members: Vec::new() });
                    let entry = (element, chunks.len() - 1);
                    match known {
                        Some(at) => {
                            open[at] = entry;
                            at
                        }
                        None => {
                            open.push(entry);
                            open.len() - 1
                        }
                    }
                }
            };
            let chunk = open[at].1;
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
