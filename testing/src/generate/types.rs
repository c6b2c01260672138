//! The types that the values of one module have.

use regraft_ir::{Context, Module, StructDef, Type, TypeClass, TypeKind};

use super::Config;
use crate::choices::Choices;

/// Scalars first, the simplest first; then what is made of them.
pub(super) struct TypePool {
    types: Vec<Type>,
    /// True if there are only the first [`FEW`] of the scalars.
    few: bool,
}

/// The scalars of programs that have derivatives.
const FEW: usize = 3;

/// The types of which there are literals, the simplest first.
const LITERAL: [Type; 10] = [
    Type::I64,
    Type::F64,
    Type::BOOL,
    Type::I32,
    Type::F32,
    Type::I8,
    Type::I16,
    Type::SYM,
    Type::STR,
    Type::UNIT,
];

impl TypePool {
    /// Scalars, and a few types made of them that are drawn.
    pub(super) fn new(module: &mut Module, config: &Config, c: &mut Choices) -> Self {
        let mut pool = Self { types: LITERAL.to_vec(), few: config.smooth };
        let start = c.open();
        if config.smooth {
            pool.types.truncate(FEW);
            pool.smooth(module, config, c);
            c.close(start);
            return pool;
        }
        for _ in 0..4 {
            if config.aggregates && c.chance(45) {
                let ty = pool.aggregate(module, c);
                pool.add(ty);
            }
            if config.objects && c.chance(55) {
                let ty = pool.object(module, config, c);
                pool.add(ty);
            }
        }
        c.close(start);
        pool
    }

    /// Types that floats are in.
    fn smooth(&mut self, module: &mut Module, config: &Config, c: &mut Choices) {
        let ctx = std::sync::Arc::clone(module.ctx());
        let usual = smooth_types(&ctx);
        if config.objects {
            self.add(usual[0]);
        }
        for _ in 0..4 {
            let kind = c.below(10);
            let vector = if config.objects { usual[0] } else { Type::F64 };
            let fields = [Type::F64, c.pick(&[Type::I64, vector])];
            let names = ["a", "count"].map(|name| ctx.symbol(name));
            let fields = names.into_iter().zip(fields).collect();
            match kind {
                7 if config.objects => {
                    let ty = Self::structure(module, fields, true);
                    self.add(ty);
                }
                8 if config.aggregates => {
                    let ty = Self::structure(module, fields, false);
                    self.add(ty);
                }
                9 => {}
                _ => {
                    let ty = c.pick(&usual);
                    let is_object =
                        matches!(ctx.kind(ty), TypeKind::Array { .. } | TypeKind::Ref(_));
                    if is_object && config.objects || !is_object && config.aggregates {
                        self.add(ty);
                    }
                }
            }
        }
    }

    fn add(&mut self, ty: Type) {
        if !self.types.contains(&ty) {
            self.types.push(ty);
        }
    }

    fn aggregate(&mut self, module: &mut Module, c: &mut Choices) -> Type {
        let ctx = std::sync::Arc::clone(module.ctx());
        let fields: Vec<_> =
            (0..c.below(4)).map(|i| (ctx.symbol(["a", "b", "end of"][i]), self.any(c))).collect();
        match c.below(3) {
            0 => ctx.tuple_type(&fields.iter().map(|&(_, ty)| ty).collect::<Vec<_>>()),
            1 => ctx.named_type(&fields),
            _ => Self::structure(module, fields, false),
        }
    }

    fn object(&mut self, module: &mut Module, config: &Config, c: &mut Choices) -> Type {
        let ctx = std::sync::Arc::clone(module.ctx());
        let element = |pool: &Self, c: &mut Choices| {
            if config.dynamic && c.chance(10) { Type::ANY } else { pool.any(c) }
        };
        match c.below(4) {
            0 => ctx.array_type(element(self, c), 1),
            1 => ctx.ref_type(element(self, c)),
            2 => ctx.array_type(element(self, c), 2 + u8::from(c.chance(20))),
            _ => {
                let fields = (0..c.below(3))
                    .map(|i| (ctx.symbol(["a", "count"][i]), element(self, c)))
                    .collect();
                Self::structure(module, fields, true)
            }
        }
    }

    fn structure(
        module: &mut Module,
        fields: Vec<(regraft_ir::Symbol, Type)>,
        mutable: bool,
    ) -> Type {
        let name = module.ctx().symbol(&format!("S{}", module.structs().len()));
        let def = StructDef { name, mutable, fields: fields.into(), call: None };
        module.add_struct(def).expect("the name is new").1
    }

    /// All types of the pool.
    pub(super) fn all(&self) -> impl Iterator<Item = Type> + '_ {
        self.types.iter().copied()
    }

    /// Any type of the pool.
    pub(super) fn any(&self, c: &mut Choices) -> Type {
        // Types that are not made of others are likelier: numbers are what ops work on.
        if c.chance(25) { c.pick(&self.types) } else { c.pick(&LITERAL[..3]) }
    }

    /// A float, or what holds some, mostly; of other numbers there are some for control flow.
    pub(super) fn with_floats(&self, c: &mut Choices) -> Type {
        match c.below(10) {
            0..4 => Type::F64,
            4..8 => c.pick(&self.types[FEW.min(self.types.len() - 1)..]),
            8 => Type::I64,
            _ => self.any(c),
        }
    }

    /// A type of the class.
    pub(super) fn of(&self, class: TypeClass, c: &mut Choices) -> Type {
        let types: &[Type] = match class {
            TypeClass::Any => return self.any(c),
            TypeClass::Number => &[Type::I64, Type::F64, Type::I32, Type::F32, Type::I8, Type::I16],
            TypeClass::Int => &[Type::I64, Type::I32, Type::I8, Type::I16],
            TypeClass::Float => &[Type::F64, Type::F32],
            TypeClass::Bits => &[Type::I64, Type::BOOL, Type::I32, Type::I8, Type::I16],
            TypeClass::Scalar => &LITERAL[..7],
        };
        // The first is the usual one, and values of it are there to be used.
        let picked = if c.chance(60) { c.pick(types) } else { types[0] };
        let left = |ty: &Type| !self.few || LITERAL[..FEW].contains(ty);
        if left(&picked) { picked } else { types.iter().copied().find(left).unwrap_or(picked) }
    }

    /// A type of the pool that `fits`, if there is any.
    pub(super) fn find(&self, c: &mut Choices, fits: impl Fn(Type) -> bool) -> Option<Type> {
        let fitting: Vec<Type> = self.types.iter().copied().filter(|&ty| fits(ty)).collect();
        if fitting.is_empty() { None } else { Some(c.pick(&fitting)) }
    }
}

/// The element type of an array type.
pub(super) fn array_element(kind: &TypeKind) -> Option<Type> {
    if let &TypeKind::Array { element, .. } = kind { Some(element) } else { None }
}

/// Returns the element type of a ref type.
pub(super) fn ref_element(kind: &TypeKind) -> Option<Type> {
    if let &TypeKind::Ref(element) = kind { Some(element) } else { None }
}

/// The types that floats of programs that have derivatives are in, each as likely: vectors twice.
pub(super) fn smooth_types(ctx: &Context) -> Vec<Type> {
    let vector = ctx.array_type(Type::F64, 1);
    let pair = ctx.tuple_type(&[Type::F64, Type::F64]);
    vec![
        vector,
        ctx.ref_type(Type::F64),
        pair,
        ctx.array_type(Type::F64, 2),
        ctx.array_type(vector, 1),
        ctx.tuple_type(&[Type::I64, Type::F64]),
        ctx.named_type(&[(ctx.symbol("a"), Type::F64), (ctx.symbol("b"), vector)]),
        ctx.array_type(pair, 1),
        ctx.ref_type(vector),
        ctx.tuple_type(&[vector, Type::F64]),
        ctx.ref_type(pair),
        ctx.array_type(Type::I64, 1),
    ]
}
