//! Everything that crates know of ops: one value, a map from the type of a table to the table.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::{Dialect, Registry};

/// A table that a crate declares and looks things up in: how ops are evaluated, what their
/// derivatives are, which passes there are.
pub trait Extension: Any + Clone + Send + Sync {
    /// The table with the rows that come with the crate that declares it.
    fn builtin() -> &'static Self;
}

/// The dialects that there are, and what crates know of their ops, of passes and of analyses.
///
/// A crate declares its table as an [`Extension`] and gets it by its type. So this crate names none
/// of them, and a program that declares ops of its own adds to all tables in one place. A table that
/// nothing was added to is the built-in one. A context holds the value that it was made with, and
/// whoever works on a function finds the tables there: [`Context::extensions`](crate::Context).
///
/// ```
/// use regraft_ir::{Extension, Extensions, Op, OpTable};
/// use std::sync::LazyLock;
///
/// /// How long ops take.
/// #[derive(Clone, Default)]
/// struct Latencies(OpTable<u32>);
///
/// impl Extension for Latencies {
///     fn builtin() -> &'static Self {
///         static BUILTIN: LazyLock<Latencies> = LazyLock::new(Latencies::default);
///         &BUILTIN
///     }
/// }
///
/// let mut extensions = Extensions::default();
/// extensions.edit::<Latencies>().0.insert(Op::new(3, 0), 4);
/// assert_eq!(extensions.get::<Latencies>().0.get(Op::new(3, 0)), Some(&4));
/// ```
#[derive(Clone, Default)]
pub struct Extensions {
    ops: Arc<Registry>,
    tables: FxHashMap<TypeId, Arc<dyn Table>>,
}

/// An [`Extension`] whose type is not known.
trait Table: Any + Send + Sync {
    fn copied(&self) -> Arc<dyn Table>;
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

impl<T: Extension> Table for T {
    fn copied(&self) -> Arc<dyn Table> {
        Arc::new(self.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

impl Extensions {
    /// The built-in tables, for programs made of the ops of `ops`.
    pub fn new(ops: Arc<Registry>) -> Self {
        Self { ops, tables: FxHashMap::default() }
    }

    /// The ops that there are.
    pub fn ops(&self) -> &Arc<Registry> {
        &self.ops
    }

    /// Adds a dialect; adding the same one again does nothing.
    ///
    /// # Panics
    /// As [`Registry::add`].
    #[track_caller]
    pub fn add_dialect(&mut self, dialect: &'static Dialect) -> &mut Self {
        Arc::make_mut(&mut self.ops).add(dialect);
        self
    }

    /// The table of that type.
    pub fn get<T: Extension>(&self) -> &T {
        let found = self.tables.get(&TypeId::of::<T>());
        found.and_then(|table| (**table).as_any().downcast_ref()).unwrap_or_else(|| T::builtin())
    }

    /// The table of that type, to add to. O(size of the table) if it is shared.
    pub fn edit<T: Extension>(&mut self) -> &mut T {
        const KEYED: &str = "a table stands under its own type";
        let slot =
            self.tables.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::builtin().clone()));
        if Arc::get_mut(slot).is_none() {
            *slot = (**slot).copied();
        }
        let table = Arc::get_mut(slot).expect("it is not shared");
        table.as_any_mut().downcast_mut().expect(KEYED)
    }
}

impl From<Arc<Registry>> for Extensions {
    fn from(ops: Arc<Registry>) -> Self {
        Self::new(ops)
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dialects: Vec<&str> = self.ops.dialects().map(|dialect| dialect.name).collect();
        write!(f, "extensions of {}, {} tables changed", dialects.join(", "), self.tables.len())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::{Extension, Extensions};

    #[derive(Clone, PartialEq, Debug)]
    struct Names(Vec<&'static str>);

    impl Extension for Names {
        fn builtin() -> &'static Self {
            static BUILTIN: LazyLock<Names> = LazyLock::new(|| Names(vec!["first"]));
            &BUILTIN
        }
    }

    #[test]
    fn what_is_added_to_a_copy_is_not_in_the_original() {
        let mut one = Extensions::default();
        one.edit::<Names>().0.push("second");
        let mut two = one.clone();
        two.edit::<Names>().0.push("third");
        assert_eq!(one.get::<Names>().0, ["first", "second"]);
        assert_eq!(two.get::<Names>().0, ["first", "second", "third"]);
        assert_eq!(Extensions::default().get::<Names>(), Names::builtin());
    }
}
