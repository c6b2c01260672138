//! The types that are there without a prelude.

use std::rc::Rc;
use std::sync::Arc;

use regraft_ir::{Constant, Context, Loc, Symbol, Type, TypeKind};

use super::types::{
    Bound, Family, FamilyId, FamilyKind, Rest, Ty, Types, Var, WellKnown, close, union,
};

struct Builder {
    ctx: Arc<Context>,
    families: Vec<Family>,
    names: Vec<(Symbol, Ty)>,
}

impl Builder {
    fn var(&self, index: u32, name: &str, upper: Ty) -> Bound {
        Bound { var: Var(index), name: self.ctx.symbol(name), lower: Ty::Bottom, upper }
    }

    fn family(&mut self, name: &str, params: &[&str], supertype: Ty, kind: FamilyKind) -> FamilyId {
        let id = FamilyId(self.families.len() as u32);
        let params: Rc<[Bound]> =
            (0..).zip(params).map(|(i, name)| self.var(i, name, Ty::Any)).collect();
        let bare = match kind {
            FamilyKind::Scalar(ty) => Ty::Concrete(ty),
            _ => bare(id, &params),
        };
        let name = self.ctx.symbol(name);
        self.names.push((name, bare.clone()));
        self.families.push(Family { name, params, supertype, bare, kind, loc: Loc::UNKNOWN });
        id
    }

    fn abstract_type(&mut self, name: &str, above: Option<FamilyId>) -> FamilyId {
        let above = above.map_or(Ty::Any, |above| Ty::App(above, Rc::new([])));
        self.family(name, &[], above, FamilyKind::Abstract)
    }

    fn alias(&mut self, name: &str, params: &[&str], body: Ty) {
        let params: Vec<Bound> =
            (0..).zip(params).map(|(i, name)| self.var(i, name, Ty::Any)).collect();
        let name = self.ctx.symbol(name);
        self.names.push((name, close(&params, body)));
    }
}

/// Returns the type that the name of a family alone means.
pub(super) fn bare(id: FamilyId, params: &[Bound]) -> Ty {
    close(params, Ty::App(id, params.iter().map(|b| Ty::Var(b.var)).collect()))
}

/// The builtin types, and the names that stand for them.
pub(super) fn builtin_types(ctx: &Arc<Context>) -> (Types, Vec<(Symbol, Ty)>) {
    let mut b = Builder { ctx: Arc::clone(ctx), families: Vec::new(), names: Vec::new() };
    let var = |index: u32| Ty::Var(Var(index));
    let app = |family: FamilyId, args: &[Ty]| Ty::App(family, args.into());
    let int = |value: i64| Ty::Value(Constant::I64(value));

    let number = b.abstract_type("Number", None);
    let real = b.abstract_type("Real", Some(number));
    let float = b.abstract_type("AbstractFloat", Some(real));
    let integer = b.abstract_type("Integer", Some(real));
    let signed = b.abstract_type("Signed", Some(integer));
    b.abstract_type("Unsigned", Some(integer));
    let string = b.abstract_type("AbstractString", None);
    let function = b.abstract_type("Function", None);
    let builtin = b.abstract_type("Builtin", Some(function));
    let intrinsic = b.abstract_type("IntrinsicFunction", Some(builtin));
    b.abstract_type("AbstractChar", None);
    b.abstract_type("Exception", None);
    b.abstract_type("IO", None);

    let mut scalars = [None; Type::BUILTIN.len()];
    for (ty, name, above) in [
        (Type::BOOL, "Bool", Some(integer)),
        (Type::I8, "Int8", Some(signed)),
        (Type::I16, "Int16", Some(signed)),
        (Type::I32, "Int32", Some(signed)),
        (Type::I64, "Int64", Some(signed)),
        (Type::F32, "Float32", Some(float)),
        (Type::F64, "Float64", Some(float)),
        (Type::UNIT, "Nothing", None),
        (Type::SYM, "Symbol", None),
        (Type::STR, "String", Some(string)),
    ] {
        let above = above.map_or(Ty::Any, |above| app(above, &[]));
        scalars[ty.index()] = Some(b.family(name, &[], above, FamilyKind::Scalar(ty)));
    }

    let abstract_array = b.family("AbstractArray", &["T", "N"], Ty::Any, FamilyKind::Abstract);
    let above = app(abstract_array, &[var(0), var(1)]);
    let dense = b.family("DenseArray", &["T", "N"], above, FamilyKind::Abstract);
    let above = app(dense, &[var(0), var(1)]);
    let array = b.family("Array", &["T", "N"], above, FamilyKind::Array);
    let above = app(abstract_array, &[var(0), int(1)]);
    let range = b.family("AbstractRange", &["T"], above, FamilyKind::Abstract);
    let ordinal =
        b.family("OrdinalRange", &["T", "S"], app(range, &[var(0)]), FamilyKind::Abstract);
    let above = app(ordinal, &[var(0), var(0)]);
    b.family("AbstractUnitRange", &["T"], above, FamilyKind::Abstract);
    let reference = b.family("Ref", &["T"], Ty::Any, FamilyKind::Ref);
    let val = b.family("Val", &["x"], Ty::Any, FamilyKind::Val);
    let named = b.family("NamedTuple", &["names", "T"], Ty::Any, FamilyKind::Named);
    let tuple = b.family("Tuple", &[], Ty::Any, FamilyKind::Abstract);
    b.names.pop();
    let union_name = b.abstract_type("Union", None);
    let data_type = b.abstract_type("DataType", None);
    let union_all = b.abstract_type("UnionAll", None);
    let vararg = b.family("Vararg", &["T", "N"], Ty::Any, FamilyKind::Abstract);

    for (vector, matrix, either, family) in [
        ("Vector", "Matrix", "VecOrMat", array),
        ("AbstractVector", "AbstractMatrix", "AbstractVecOrMat", abstract_array),
        ("DenseVector", "DenseMatrix", "DenseVecOrMat", dense),
        ("StridedVector", "StridedMatrix", "StridedVecOrMat", dense),
    ] {
        let (one, two) = (app(family, &[var(0), int(1)]), app(family, &[var(0), int(2)]));
        b.alias(vector, &["T"], one.clone());
        b.alias(matrix, &["T"], two.clone());
        b.alias(either, &["T"], union([one, two]));
    }
    b.alias("RefValue", &["T"], app(reference, &[var(0)]));
    b.alias("Any", &[], Ty::Any);
    b.alias("Int", &[], Ty::Concrete(Type::I64));
    b.alias("Colon", &[], Ty::Concrete(ctx.ty(TypeKind::Fn(ctx.symbol(":")))));
    b.alias("Type", &["T"], Ty::TypeOf(Rc::new(var(0))));
    let any_tuple = any_tuple();
    b.alias("Tuple", &[], any_tuple);
    let repeated = Rest { element: var(1), count: Some(var(0)) };
    b.alias("NTuple", &["N", "T"], Ty::Tuple(Rc::new([]), Some(Rc::new(repeated))));

    let well_known = WellKnown {
        array,
        reference,
        val,
        named,
        function,
        builtin,
        intrinsic,
        tuple,
        union: union_name,
        data_type,
        union_all,
        vararg,
        scalars,
    };
    let types = Types {
        ctx: Arc::clone(ctx),
        families: b.families,
        well_known,
        members: Default::default(),
        instances: Default::default(),
        fields: Default::default(),
        in_progress: Vec::new(),
        pending: Vec::new(),
        tokens: Default::default(),
        token_of: Default::default(),
        where_tokens: Vec::new(),
        views: Default::default(),
        builtins: Default::default(),
        intrinsics: Default::default(),
    };
    (types, b.names)
}

/// `Tuple`: of any elements.
pub(super) fn any_tuple() -> Ty {
    Ty::Tuple(Rc::new([]), Some(Rc::new(Rest { element: Ty::Any, count: None })))
}
