//! The data that the functions of a module share, but for ops: types, constants, symbols, attributes,
//! struct definitions, sources.

mod constants;
mod text;

use std::borrow::Cow;
use std::sync::{Arc, PoisonError, RwLock};

use slotmap::SlotMap;

use crate::interner::{Interner, Tag, hash_of};
use crate::location::{Location, Source, SourceMap};
use crate::types::{SizedType, TypeSize};
use crate::{Attrs, Const, Constant, Loc, StructDef, StructId, Symbol, Type, TypeKind};

pub use text::is_plain_name;
pub(crate) use text::{MAX_LOC_PLACES, write_name, write_quoted};

/// Types, constants, symbols, attributes, struct definitions and sources: the part of a
/// [`Context`](crate::Context) that knows no op.
#[derive(Debug)]
pub struct Interned {
    symbols: Interner<Arc<str>>,
    types: Interner<SizedType>,
    constants: Interner<(Constant, Type)>,
    attrs: Interner<Box<[(Symbol, Const)]>>,
    structs: RwLock<SlotMap<StructId, Arc<StructDef>>>,
    sources: SourceMap,
}

impl Interned {
    /// The builtin types, the empty dictionary, and nothing else.
    pub(crate) fn new() -> Self {
        let tag = Tag::next();
        let interned = Self {
            symbols: Interner::tagged("symbol", tag, 0),
            types: Interner::tagged("type", tag, Type::BUILTIN.len() as u32),
            constants: Interner::tagged("constant", tag, 0),
            // The empty dictionary is the same everywhere.
            attrs: Interner::tagged("dictionary of attributes", tag, 1),
            structs: RwLock::default(),
            sources: SourceMap::default(),
        };
        for (ty, name) in Type::BUILTIN {
            // Each builtin is an entry of its own, although their kinds are alike: they are
            // found by their fixed ids alone.
            let id = interned.types.intern_with(
                hash_of(name),
                (),
                |_, ()| false,
                |()| SizedType { kind: TypeKind::Builtin, size: TypeSize::ONE },
                |_| hash_of(name),
            );
            debug_assert_eq!(id, ty.0);
        }
        interned.attrs.intern(Box::new([]));
        interned
    }

    // --- symbols ---------------------------------------------------------------------------

    /// Interns a string.
    pub fn symbol(&self, name: &str) -> Symbol {
        Symbol(self.symbols.intern_with(
            hash_of(name),
            name,
            |other, name| **other == **name,
            Into::into,
            |other| hash_of(&**other),
        ))
    }

    /// Makes room for so many more symbols.
    pub fn reserve_symbols(&self, more: usize) {
        self.symbols.reserve(more, |name| hash_of(&**name));
    }

    /// The symbol for a string, if it was ever interned.
    pub fn find_symbol(&self, name: &str) -> Option<Symbol> {
        self.symbols.find_with(hash_of(name), |other| **other == *name).map(Symbol)
    }

    /// Returns whether a symbol is one of this context.
    #[inline]
    pub(crate) fn has_symbol(&self, symbol: Symbol) -> bool {
        self.symbols.owns(symbol.0)
    }

    /// The string of a symbol.
    ///
    /// # Panics
    /// If it is of another context.
    #[inline]
    #[track_caller]
    pub fn str(&self, symbol: Symbol) -> &str {
        self.symbols.get(symbol.0)
    }

    // --- types -----------------------------------------------------------------------------

    /// Interns a type.
    ///
    /// # Panics
    /// On [`TypeKind::Builtin`]: builtin types are constants of [`Type`]. Also if a type, a symbol
    /// or a constant in it is of another context.
    #[track_caller]
    pub fn ty(&self, kind: TypeKind) -> Type {
        assert!(kind != TypeKind::Builtin, "builtin types are not interned");
        let size = self.size_of_kind(&kind);
        Type(self.types.intern(SizedType { kind, size }))
    }

    #[track_caller]
    fn size_of_kind(&self, kind: &TypeKind) -> TypeSize {
        let owned = match kind {
            TypeKind::Builtin | TypeKind::Struct(_) => true,
            TypeKind::Tuple(elements) => elements.iter().all(|&ty| self.has_type(ty)),
            TypeKind::Named(fields) => {
                fields.iter().all(|&(name, ty)| self.symbols.owns(name.0) && self.has_type(ty))
            }
            &(TypeKind::Array { element: of, .. } | TypeKind::Ref(of) | TypeKind::TypeOf(of)) => {
                self.has_type(of)
            }
            TypeKind::Fn(name) => self.symbols.owns(name.0),
            &TypeKind::Val(constant) => self.has_constant(constant),
        };
        assert!(owned, "a type cannot be made of parts of another context");
        let size = |ty: Type| self.type_size(ty);
        match kind {
            TypeKind::Builtin | TypeKind::Struct(_) | TypeKind::Fn(_) => TypeSize::ONE,
            TypeKind::Tuple(elements) => TypeSize::around(elements.iter().map(|&ty| size(ty))),
            TypeKind::Named(fields) => TypeSize::around(fields.iter().map(|&(_, ty)| size(ty))),
            &(TypeKind::Array { element: of, .. } | TypeKind::Ref(of) | TypeKind::TypeOf(of)) => {
                TypeSize::around([size(of)])
            }
            &TypeKind::Val(constant) => match self.constant(constant) {
                Constant::Type(of) => TypeSize::around([size(of)]),
                _ => TypeSize::ONE,
            },
        }
    }

    /// The parts that a type is made of.
    ///
    /// # Panics
    /// If it is of another context.
    #[inline]
    #[track_caller]
    pub fn kind(&self, ty: Type) -> &TypeKind {
        &self.types.get(ty.0).kind
    }

    /// The size of a type when it is written down; one of another context is a `?`. O(1).
    #[inline]
    pub(crate) fn type_size(&self, ty: Type) -> TypeSize {
        self.types.try_get(ty.0).map_or(TypeSize::ONE, |sized| sized.size)
    }

    /// Returns whether `ty` is a type of this context.
    #[inline]
    pub(crate) fn has_type(&self, ty: Type) -> bool {
        self.types.owns(ty.0)
    }

    /// `tuple<..>`.
    #[track_caller]
    pub fn tuple_type(&self, elements: &[Type]) -> Type {
        self.ty(TypeKind::Tuple(elements.into()))
    }

    /// `{a: .., b: ..}`.
    #[track_caller]
    pub fn named_type(&self, fields: &[(Symbol, Type)]) -> Type {
        self.ty(TypeKind::Named(fields.into()))
    }

    /// `array<element, rank>`.
    #[track_caller]
    pub fn array_type(&self, element: Type, rank: u8) -> Type {
        self.ty(TypeKind::Array { element, rank })
    }

    /// `ref<element>`.
    #[track_caller]
    pub fn ref_type(&self, element: Type) -> Type {
        self.ty(TypeKind::Ref(element))
    }

    /// Declares a struct; its fields may be set later by [`Interned::set_struct`], so that
    /// structs can refer to themselves.
    ///
    /// # Panics
    /// If a name or a type in it is of another context.
    #[track_caller]
    pub fn add_struct(&self, def: StructDef) -> (StructId, Type) {
        self.check_struct(&def);
        let mut structs = self.structs.write().unwrap_or_else(PoisonError::into_inner);
        let id = structs.insert(Arc::new(def));
        (id, self.ty(TypeKind::Struct(id)))
    }

    /// Replaces the definition of a struct.
    ///
    /// # Panics
    /// If there is no such struct, or if a name or a type in it is of another context.
    #[track_caller]
    pub fn set_struct(&self, id: StructId, def: StructDef) {
        self.check_struct(&def);
        let mut structs = self.structs.write().unwrap_or_else(PoisonError::into_inner);
        match structs.get_mut(id) {
            Some(place) => *place = Arc::new(def),
            None => no_struct(),
        }
    }

    #[track_caller]
    fn check_struct(&self, def: &StructDef) {
        let field = |&(name, ty): &(Symbol, Type)| self.has_symbol(name) && self.has_type(ty);
        let names = self.has_symbol(def.name) && def.call.is_none_or(|call| self.has_symbol(call));
        let owned = names && def.fields.iter().all(field);
        assert!(owned, "a struct cannot be made of parts of another context");
    }

    /// The definition of a struct.
    ///
    /// # Panics
    /// If there is no such struct.
    #[track_caller]
    pub fn struct_def(&self, id: StructId) -> Arc<StructDef> {
        let structs = self.structs.read().unwrap_or_else(PoisonError::into_inner);
        match structs.get(id) {
            Some(def) => def.clone(),
            None => no_struct(),
        }
    }

    /// The struct definition behind a type, if it is a struct type.
    #[track_caller]
    pub fn struct_of(&self, ty: Type) -> Option<Arc<StructDef>> {
        match self.kind(ty) {
            &TypeKind::Struct(id) => Some(self.struct_def(id)),
            _ => None,
        }
    }

    /// Returns whether an object of this type has an identity: it can be changed in place, and two
    /// of them are told apart.
    #[track_caller]
    pub fn is_object(&self, ty: Type) -> bool {
        match self.kind(ty) {
            TypeKind::Array { .. } | TypeKind::Ref(_) => true,
            &TypeKind::Struct(id) => self.struct_def(id).mutable,
            _ => false,
        }
    }

    // --- constants -----------------------------------------------------------------------

    /// Interns a constant.
    ///
    /// A plain integer is an `i64`, as in the text of the IR; [`Interned::const_i32`] and
    /// [`Constant`] make the others.
    ///
    /// # Panics
    /// If there are more than 2^25 constants, or if it names a symbol or type of another context.
    #[track_caller]
    pub fn constant_id(&self, constant: impl Into<Constant>) -> Const {
        let constant = constant.into();
        assert!(self.owns_parts(constant), "a constant of another context was used");
        Const(self.constants.intern_with(
            hash_of(&constant),
            constant,
            |(other, _), constant| other == constant,
            |constant| (constant, self.type_of_constant(constant)),
            |(other, _)| hash_of(other),
        ))
    }

    /// Returns whether the symbol or type in a constant is of this context.
    fn owns_parts(&self, constant: Constant) -> bool {
        match constant {
            Constant::Sym(name) | Constant::Str(name) | Constant::Func(name) => {
                self.symbols.owns(name.0)
            }
            Constant::Type(ty) => self.types.owns(ty.0),
            _ => true,
        }
    }

    /// The value of an interned constant. O(1).
    ///
    /// # Panics
    /// If it is of another context.
    #[inline]
    #[track_caller]
    pub fn constant(&self, id: Const) -> Constant {
        self.constants.get(id.0).0
    }

    /// The type of an interned constant. O(1).
    ///
    /// # Panics
    /// If it is of another context.
    #[inline]
    #[track_caller]
    pub fn constant_type(&self, id: Const) -> Type {
        self.constants.get(id.0).1
    }

    /// The type of a constant, if it is one of this context.
    #[inline]
    pub(crate) fn try_constant_type(&self, id: Const) -> Option<Type> {
        self.constants.try_get(id.0).map(|&(_, ty)| ty)
    }

    /// Returns whether `id` is a constant of this context.
    #[inline]
    pub fn has_constant(&self, id: Const) -> bool {
        self.constants.owns(id.0)
    }

    fn type_of_constant(&self, constant: Constant) -> Type {
        match constant {
            Constant::Unit => Type::UNIT,
            Constant::Bool(_) => Type::BOOL,
            Constant::I8(_) => Type::I8,
            Constant::I16(_) => Type::I16,
            Constant::I32(_) => Type::I32,
            Constant::I64(_) => Type::I64,
            Constant::F32(_) => Type::F32,
            Constant::F64(_) => Type::F64,
            Constant::Sym(_) => Type::SYM,
            Constant::Str(_) => Type::STR,
            Constant::Func(name) => self.ty(TypeKind::Fn(name)),
            Constant::Type(of) => self.ty(TypeKind::TypeOf(of)),
        }
    }

    // --- attributes ----------------------------------------------------------------------

    /// Interns a dictionary of attributes. A name that is there twice keeps its last value.
    ///
    /// # Panics
    /// If a name or a value is of another context.
    #[track_caller]
    pub fn attrs(&self, entries: &[(Symbol, Const)]) -> Attrs {
        if entries.is_empty() {
            return Attrs::NONE;
        }
        for &(name, value) in entries {
            let owned = self.symbols.owns(name.0) && self.constants.owns(value.0);
            assert!(owned, "an attribute of another context was used");
        }
        // Sorting is stable: of several values of one name, the last comes first.
        let mut sorted: Vec<(Symbol, Const)> = entries.iter().rev().copied().collect();
        sorted.sort_by(|a, b| self.str(a.0).cmp(self.str(b.0)));
        sorted.dedup_by_key(|entry| entry.0);
        Attrs(self.attrs.intern(sorted.into_boxed_slice()))
    }

    /// Returns whether a dictionary is one of this context.
    #[inline]
    pub(crate) fn has_attrs(&self, attrs: Attrs) -> bool {
        self.attrs.owns(attrs.0)
    }

    /// The entries of a dictionary, by name.
    ///
    /// # Panics
    /// If it is of another context.
    #[track_caller]
    pub fn attr_entries(&self, attrs: Attrs) -> &[(Symbol, Const)] {
        self.attrs.get(attrs.0)
    }

    /// The entries of a dictionary that may be of another context.
    pub(crate) fn try_attr_entries(&self, attrs: Attrs) -> Option<&[(Symbol, Const)]> {
        self.attrs.try_get(attrs.0).map(|entries| &**entries)
    }

    /// The value of one attribute.
    ///
    /// # Panics
    /// If the dictionary is of another context.
    #[track_caller]
    pub fn attr(&self, attrs: Attrs, name: &str) -> Option<Const> {
        if attrs.is_empty() {
            return None;
        }
        let entries = self.attr_entries(attrs);
        entries.iter().find(|(other, _)| self.str(*other) == name).map(|&(_, value)| value)
    }

    // --- locations -------------------------------------------------------------------------

    /// Keeps a source text, so that locations in it can be shown. `None` when all sources
    /// together would exceed 2 GiB.
    pub fn add_source(&self, name: &str, text: impl Into<Cow<'static, str>>) -> Option<Source> {
        self.sources.add(name, text.into())
    }

    /// A location in a file that was not read.
    pub fn named_loc(&self, file: &str, line: u32, column: u32) -> Loc {
        self.sources.named(self.symbol(file), line, column)
    }

    /// The location of an instruction that was written at `at`, in the function `callee`, and inlined at `call_site`.
    pub fn inlined_loc(&self, at: Loc, callee: Symbol, call_site: Loc) -> Loc {
        self.sources.inlined(at, callee, call_site)
    }

    /// The meaning of a location.
    pub fn location(&self, loc: Loc) -> Location {
        self.sources.resolve(loc, |name| self.symbols.get(name.0).clone())
    }

    /// The source text that `loc` lies in and its offset there, if it was read.
    pub fn source_of(&self, loc: Loc) -> Option<(Source, usize)> {
        self.sources.source_of(loc)
    }
}

#[cold]
#[track_caller]
fn no_struct() -> ! {
    panic!("there is no such struct in this context")
}
