//! Unboxed elements in memory of the pool, if one is at work.

use super::list::class_with;
use super::{is_active, room_of, with};
use crate::value::unboxed::Unboxed;
use crate::value::unboxed_type::UnboxedType;

impl Unboxed {
    /// So many elements of zeros.
    pub(in crate::value) fn zeros(of: UnboxedType, len: usize) -> Self {
        if !is_active() {
            return Self::zeroed(of, len);
        }
        let mut all = room(of, len);
        all.renew(of, len);
        all
    }

    /// The elements whose words these are.
    pub(in crate::value) fn of_words(of: UnboxedType, words: &[u64]) -> Self {
        let all = Self::zeros(of, words.len() / of.count());
        all.words_mut().copy_from_slice(words);
        all
    }

    /// Takes the elements out, and keeps their room.
    pub(in crate::value) fn strip(&self) {
        let all = Self::with_room(self.element(), 0);
        all.swap(self);
        give(all);
    }

    /// Appends an element of these words; `false` if it has another number of parts.
    pub(in crate::value) fn append(&self, words: &[u64]) -> bool {
        if self.len() >= self.capacity() {
            self.grow(self.len() * 2);
        }
        self.push_words(words)
    }

    /// Makes it `len` long; new elements are zeros.
    pub(in crate::value) fn resize(&self, len: usize) {
        if len > self.capacity() {
            self.grow(len.max(self.len() * 2));
        }
        self.set_len(len);
    }

    /// Makes room for `count` elements at least, which is set to zeros.
    #[cold]
    fn grow(&self, count: usize) {
        let of = self.element();
        let mut more = room(of, count.max(4));
        more.renew(of, self.len());
        more.words_mut().copy_from_slice(self.words());
        more.swap(self);
        give(more);
    }
}

impl Clone for Unboxed {
    fn clone(&self) -> Self {
        Self::of_words(self.element(), self.words())
    }
}

/// Room for so many elements.
fn room(of: UnboxedType, count: usize) -> Unboxed {
    let place = of.count() - 1;
    room_of(
        count,
        |lists, class| lists.unboxed[place].take(class),
        |count| Unboxed::with_room(of, count),
    )
}

/// Takes that room back.
fn give(room: Unboxed) {
    if room.capacity() > 0 && is_active() {
        let place = room.element().count() - 1;
        drop(with(|lists| lists.unboxed[place].keep(class_with(room.capacity()), room)));
    }
}

#[cfg(test)]
mod tests {
    use regraft_ir::Type;

    use crate::value::{Array, ElementType, Pool, Storage, Val, egal};

    #[test]
    fn elements_serve_again() {
        let ctx = regraft_dialects::context();
        let triple = ElementType::of(&ctx, ctx.tuple_type(&[Type::F64, Type::I64, Type::BOOL]));
        let element = |x: f64| Val::tuple([Val::F64(x), Val::I64(2), Val::Bool(true)]);
        let (mut pool, mut others) = (Pool::default(), Vec::new());
        let addresses = [(); 3].map(|()| {
            // What an earlier run has freed serves these.
            others.extend((1..=128).map(|rows| vec![1u64; 3 * rows]));
            pool.run(|| {
                let array = Val::from(Array::new(triple, &[3]).expect("it is small"));
                let items = array.as_array().expect("it is one");
                let at = |index| items.get(index).expect("it is there");
                let zeros = Val::tuple([Val::F64(0.0), Val::I64(0), Val::Bool(false)]);
                assert!((0..3).all(|index| egal(&at(index), &zeros)));
                for x in 3..20 {
                    items.push(element(f64::from(x))).expect("it fits");
                }
                items.resize(60).expect("it fits");
                assert!((3..20).all(|index| egal(&at(index), &element(index as f64))));
                assert!((20..60).all(|index| egal(&at(index), &zeros)));
                let Storage::Unboxed(all) = items.storage() else { panic!("{items:?}") };
                all.address()
            })
        });
        assert_eq!(addresses[1], addresses[2]);
    }
}
