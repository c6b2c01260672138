//! The floats in values, in the order of a walk, and where their tangents are.
//!
//! The walk goes from the roots on and comes to each object once, so that the number of a float in
//! it is the same for all values of the same shape: tangents and states of programs are vectors of
//! numbers here. Everything that this needs is written down here again, rather than taken from
//! what the programs under test run with.

use std::sync::Arc;

use regraft_ad::tangent::TangentTypes;
use regraft_exec::value::{Array, ElementType, Object, Shared, Val};
use regraft_ir::{Context, Symbol, Type, TypeKind};
use rustc_hash::FxHashMap;

use super::places::{Base, Place};

/// The most floats of a state: beyond that a run says nothing.
pub(super) const MAX_FLOATS: usize = 5_000;
/// The most levels to which values nest.
const MAX_DEPTH: usize = 200;

/// A float of a value.
pub(super) struct Float {
    /// The root that it was first reached from.
    pub(super) root: usize,
    /// The path to it from there: `[2].x`.
    pub(super) path: String,
    pub(super) value: f64,
    pub(super) place: Place,
    /// The place of its tangent; `None` if there is none, which is zero.
    pub(super) tangent: Option<Place>,
    /// True if it is in an object, and its tangent in a shadow therefore.
    pub(super) in_object: bool,
}

/// A value to walk from.
#[derive(Clone)]
pub(super) struct Root {
    pub(super) value: Val,
    /// Its tangent, or its shadow alone; `None` if there is none.
    pub(super) tangent: Option<Val>,
    /// True if floats in it that are in no object are wanted.
    pub(super) own: bool,
}

/// A place to visit.
struct Visit {
    root: usize,
    path: String,
    value: Val,
    place: Place,
    tangent: Option<(Val, Place)>,
    in_object: bool,
    depth: usize,
}

/// The types of tangents, as far as they are known.
pub(super) struct Floats {
    ctx: Arc<Context>,
    types: TangentTypes,
}

impl Floats {
    pub(super) fn new(ctx: &Arc<Context>) -> Self {
        Self { ctx: Arc::clone(ctx), types: TangentTypes::new(ctx) }
    }

    /// Returns the types of tangents.
    pub(super) fn types(&mut self) -> &mut TangentTypes {
        &mut self.types
    }

    /// The floats that can be reached, each once.
    ///
    /// # Errors
    /// If a tangent has another shape than its value, or if objects are shared otherwise.
    pub(super) fn of(&mut self, roots: &[Root]) -> Result<Vec<Float>, String> {
        let mut found = Vec::new();
        let mut shadows: FxHashMap<*const (), Option<*const ()>> = FxHashMap::default();
        let mut owners: FxHashMap<*const (), *const ()> = FxHashMap::default();
        let visit = |(root, from): (usize, &Root)| Visit {
            root,
            path: String::new(),
            value: from.value.clone(),
            place: Place::base(Base::Root(root)),
            tangent: from.tangent.clone().map(|t| (t, Place::base(Base::Root(root)))),
            in_object: false,
            depth: 0,
        };
        let mut todo: Vec<Visit> = roots.iter().enumerate().map(visit).rev().collect();
        while let Some(at) = todo.pop() {
            if found.len() > MAX_FLOATS || at.depth > MAX_DEPTH {
                return Err(TOO_LARGE.to_owned());
            }
            let value = match at.value {
                Val::F64(x) => x,
                Val::F32(x) => x.into(),
                _ => {
                    if self.has_identity(&at.value) {
                        // The same object has the same shadow.
                        let address = address(&at.value);
                        let shadow = at.tangent.as_ref().and_then(|(t, _)| object_address(t));
                        let known = shadows.get(&address).copied();
                        if known.is_none() || (known == Some(None) && shadow.is_some()) {
                            shadows.insert(address, shadow);
                            if let Some(shadow) = shadow
                                && let Some(other) = owners.insert(shadow, address)
                                && other != address
                            {
                                let at = name(at.root, &at.path);
                                return Err(format!("two objects have one shadow: {at}"));
                            }
                        } else if shadow.is_some() && known != Some(shadow) {
                            let at = name(at.root, &at.path);
                            return Err(format!("one object has two shadows: {at}"));
                        }
                        if known.is_some() {
                            continue;
                        }
                    }
                    self.parts(&at, &mut todo)?;
                    continue;
                }
            };
            if at.in_object || roots[at.root].own {
                let tangent = match at.tangent {
                    Some((Val::F64(_) | Val::F32(_), place)) => Some(place),
                    None | Some((Val::Unit, _)) => None,
                    Some((other, _)) => {
                        let at = name(at.root, &at.path);
                        return Err(format!("{other:?} is no tangent of the float {at}"));
                    }
                };
                found.push(Float {
                    root: at.root,
                    path: at.path,
                    value,
                    place: at.place,
                    tangent,
                    in_object: at.in_object,
                });
            }
        }
        Ok(found)
    }

    /// Returns whether a value is an object that has a tangent.
    fn has_identity(&mut self, value: &Val) -> bool {
        match value {
            Val::Array(array) => {
                let ty = self.ctx.array_type(array.element(), array.rank());
                self.types.has_tangent(ty)
            }
            Val::Ref(cell) => {
                let ty = self.ctx.ref_type(cell.element());
                self.types.has_tangent(ty)
            }
            Val::Object(object) => self.shadow_of(object).is_some(),
            _ => false,
        }
    }

    /// The type of what the shadow of a mutable struct holds, if there is anything to hold.
    fn shadow_of(&mut self, object: &Object) -> Option<Type> {
        let shadow = self.types.object_shadow(object.ty())?;
        let &TypeKind::Ref(inner) = self.ctx.kind(shadow) else { return None };
        self.types.has_content(inner).then_some(inner)
    }

    /// Visits the parts of a value.
    fn parts(&mut self, at: &Visit, todo: &mut Vec<Visit>) -> Result<(), String> {
        let tangent = match &at.tangent {
            Some((Val::Unit, _)) | None => None,
            Some(both) => Some(both),
        };
        let wrong = |what: &str| {
            let at = name(at.root, &at.path);
            let tangent = tangent.map(|(t, _)| format!("{t:?}")).unwrap_or_default();
            Err(format!("{tangent} is no tangent of {at}, which is {what}"))
        };
        let start = todo.len();
        let mut visit = |path: String, value: Val, place, tangent, in_object| {
            let (root, depth) = (at.root, at.depth + 1);
            todo.push(Visit { root, path, value, place, tangent, in_object, depth });
        };
        match &at.value {
            Val::Tuple(_) | Val::Named(_) | Val::Struct(_) => {
                let fields = at.value.as_fields().unwrap_or_default();
                let tangents = match tangent {
                    None => None,
                    Some((t, place)) => match t.as_fields() {
                        Some(parts) if parts.len() == fields.len() => Some((parts, place)),
                        _ => return wrong("made of parts"),
                    },
                };
                for (i, field) in fields.iter().enumerate() {
                    let tangent =
                        tangents.map(|(parts, place)| (parts[i].clone(), place.in_field(i)));
                    let path = format!("{}.{}", at.path, i + 1);
                    visit(path, field.clone(), at.place.in_field(i), tangent, at.in_object);
                }
            }
            Val::Array(array) => {
                if !self.has_identity(&at.value) {
                    return Ok(());
                }
                let shadow = match tangent {
                    None => None,
                    Some((Val::Array(shadow), _)) if shadow.dims() == array.dims() => Some(shadow),
                    Some((Val::Array(shadow), _)) => {
                        let dims = (array.dims(), shadow.dims());
                        let what = format!("an array of {:?}; its shadow of {:?}", dims.0, dims.1);
                        return wrong(&what);
                    }
                    Some(_) => return wrong("an array"),
                };
                if array.len() > MAX_FLOATS {
                    return Err(TOO_LARGE.to_owned());
                }
                for i in 0..array.len() {
                    let Some(value) = array.get(i) else { continue };
                    let tangent = match shadow {
                        None => None,
                        Some(shadow) => match shadow.get(i) {
                            Some(t) => {
                                Some((t, Place::base(Base::Element(Shared::clone(shadow), i))))
                            }
                            None => return wrong("an array that has an element there"),
                        },
                    };
                    let path = format!("{}[{}]", at.path, i + 1);
                    let place = Place::base(Base::Element(Shared::clone(array), i));
                    visit(path, value, place, tangent, true);
                }
            }
            Val::Ref(cell) => {
                let tangent = match tangent {
                    None => None,
                    Some((Val::Ref(shadow), _)) => {
                        Some((shadow.get(), Place::base(Base::Cell(Shared::clone(shadow)))))
                    }
                    Some(_) => return wrong("a ref"),
                };
                let place = Place::base(Base::Cell(Shared::clone(cell)));
                visit(format!("{}[]", at.path), cell.get(), place, tangent, true);
            }
            Val::Object(object) => {
                if self.shadow_of(object).is_none() {
                    return Ok(());
                }
                let shadow = match tangent {
                    None => None,
                    Some((Val::Ref(shadow), _)) => {
                        let held = shadow.get();
                        let count = held.as_fields().map(<[Val]>::len);
                        if count != Some(object.len()) && !matches!(held, Val::Unit) {
                            return wrong("a mutable struct of other fields");
                        }
                        Some((held, Place::base(Base::Cell(Shared::clone(shadow)))))
                    }
                    Some(_) => return wrong("a mutable struct"),
                };
                for (i, field) in object.fields().enumerate() {
                    let tangent = shadow.as_ref().and_then(|(held, place)| {
                        let part = held.as_fields()?.get(i)?.clone();
                        Some((part, place.in_field(i)))
                    });
                    let place = Place::base(Base::Field(Shared::clone(object), i));
                    visit(format!("{}.{}", at.path, i + 1), field, place, tangent, true);
                }
            }
            _ => {}
        }
        todo[start..].reverse();
        Ok(())
    }

    /// Zero tangents of values: one object for each object.
    ///
    /// # Errors
    /// If values are nested too deeply.
    pub(super) fn zeros(&mut self, values: &[Val]) -> Result<Vec<Val>, String> {
        let mut made = FxHashMap::default();
        values.iter().map(|value| self.zero(value, &mut made, 0)).collect()
    }

    fn zero(
        &mut self,
        value: &Val,
        made: &mut FxHashMap<*const (), Val>,
        depth: usize,
    ) -> Result<Val, String> {
        if depth > MAX_DEPTH {
            return Err(TOO_LARGE.to_owned());
        }
        let ctx = Arc::clone(&self.ctx);
        let identity = self.has_identity(value);
        if identity && let Some(known) = made.get(&address(value)) {
            return Ok(known.clone());
        }
        let parts = |this: &mut Self, fields: &[Val], made: &mut _| -> Result<Vec<Val>, _> {
            fields.iter().map(|field| this.zero(field, made, depth + 1)).collect()
        };
        Ok(match value {
            Val::F64(_) => Val::F64(0.0),
            Val::F32(_) => Val::F32(0.0),
            Val::Tuple(fields) => Val::tuple(parts(self, fields.items(), made)?),
            Val::Named(fields) => {
                let items = parts(self, fields.items(), made)?;
                Val::named_of(fields.ty(), items.into_iter().collect())
            }
            Val::Struct(fields) => {
                let items = parts(self, fields.items(), made)?;
                named(&ctx, fields.ty(), items)
            }
            Val::Array(array) if identity => {
                let element = self.types.tangent(array.element());
                let shadow = Array::new(ElementType::of(&ctx, element), &array.dims())
                    .map_err(|error| format!("no shadow can be made: {error:?}"))?;
                let shadow = Val::from(shadow);
                made.insert(address(value), shadow.clone());
                if let (Val::Array(shadow), false) = (&shadow, array.element().is_scalar()) {
                    for i in 0..array.len().min(MAX_FLOATS) {
                        if let Some(item) = array.get(i) {
                            shadow.set(i, self.zero(&item, made, depth + 1)?);
                        }
                    }
                }
                shadow
            }
            Val::Ref(cell) if identity => {
                let element = self.types.tangent(cell.element());
                let shadow = Val::reference(element, Val::Unit);
                made.insert(address(value), shadow.clone());
                let held = self.zero(&cell.get(), made, depth + 1)?;
                if let Val::Ref(shadow) = &shadow {
                    shadow.set(held);
                }
                shadow
            }
            Val::Object(object) if identity => {
                let inner = self.shadow_of(object).unwrap_or(Type::ANY);
                let shadow = Val::reference(inner, Val::Unit);
                made.insert(address(value), shadow.clone());
                let items = parts(self, &object.fields().collect::<Vec<_>>(), made)?;
                if let Val::Ref(shadow) = &shadow {
                    shadow.set(named(&ctx, object.ty(), items));
                }
                shadow
            }
            _ => Val::Unit,
        })
    }

    /// The part of tangents that has an identity.
    pub(super) fn shadow_part(&self, tangent: &Val) -> Val {
        self.part(tangent, true)
    }

    /// The part of tangents that is a value.
    pub(super) fn cotangent_part(&self, tangent: &Val) -> Val {
        self.part(tangent, false)
    }

    /// As deep as immutable values are nested, which is limited where tangents are made.
    fn part(&self, tangent: &Val, shadow: bool) -> Val {
        match tangent {
            Val::Tuple(fields) => {
                Val::tuple(fields.items().iter().map(|field| self.part(field, shadow)))
            }
            Val::Named(fields) => {
                let items = fields.items().iter().map(|field| self.part(field, shadow)).collect();
                Val::named_of(fields.ty(), items)
            }
            Val::Array(_) | Val::Ref(_) if shadow => tangent.clone(),
            Val::F64(_) | Val::F32(_) if !shadow => tangent.clone(),
            _ => Val::Unit,
        }
    }
}

/// The tangent of a struct: a named tuple of those of its fields.
fn named(ctx: &Context, ty: Type, items: Vec<Val>) -> Val {
    let def = ctx.struct_of(ty);
    let names = def.iter().flat_map(|def| def.fields.iter().map(|&(name, _)| name));
    let shape = Val::named_shape(ctx, names.collect::<Vec<Symbol>>());
    Val::named_of(shape, items.into_iter().collect())
}

/// The message for a state with too many floats, which is not a failure.
pub(super) const TOO_LARGE: &str = "the values are too large, or nested too deeply";

/// Returns the name of a place: `the result[2]`, `argument 1.3`.
pub(super) fn name(root: usize, path: &str) -> String {
    if root == 0 { format!("the result{path}") } else { format!("argument {root}{path}") }
}

fn address(value: &Val) -> *const () {
    object_address(value).unwrap_or(std::ptr::null())
}

fn object_address(value: &Val) -> Option<*const ()> {
    match value {
        Val::Array(array) => Some(Shared::as_ptr(array).cast()),
        Val::Ref(cell) => Some(Shared::as_ptr(cell).cast()),
        Val::Object(object) => Some(Shared::as_ptr(object).cast()),
        _ => None,
    }
}
