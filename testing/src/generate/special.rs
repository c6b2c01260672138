//! Instructions of ops whose signature alone does not say how to use them.

use regraft_dialects::attrs::{function, with_part};
use regraft_dialects::semantics::unboxed_parts;
use regraft_dialects::{arith, core, data, mem};
use regraft_ir::{Attrs, Constant, Inst, OpDef, Operand, StructDef, Symbol, Type, TypeKind};
use regraft_math::Forms;

use super::body::{Body, Callee, Slot, Var};

impl Body<'_, '_> {
    /// Makes the code of an op that needs code of its own; `None` for all others. The inner
    /// `None` says that there is no use for it here.
    pub(super) fn special(&mut self, def: &'static OpDef) -> Option<Option<Var>> {
        Some(match def.op {
            core::CALL => self.call(),
            core::APPLY => self.apply(),
            core::SPLAT => self.splat(),
            core::TRY => self.try_catch(),
            core::GET => self.get(),
            core::CONVERT => self.conversion(),
            core::TYPEASSERT => self.typeassert(),
            core::ISA => self.isa(),
            data::NAMED => self.aggregate(|kind| matches!(kind, TypeKind::Named(_)), None),
            data::NEW => self.aggregate(|_| false, Some(false)),
            data::NEW_OBJECT => self.aggregate(|_| false, Some(true)),
            data::GETFIELD => self.getfield(),
            data::SETFIELD => self.setfield(),
            data::HASFIELD => self.hasfield(),
            mem::ALLOC => self.alloc(),
            mem::FILL => self.fill(),
            mem::ARRAY => self.array_literal(),
            mem::LOAD => self.load(),
            mem::STORE => self.store(),
            mem::LOAD_PART => self.load_part(),
            mem::STORE_PART => self.store_part(),
            mem::PUSH_PARTS => self.push_parts(),
            mem::LAST_PART => self.last_part(),
            mem::SIZE => self.size(),
            mem::RESIZE => self.resize(),
            mem::PUSH => self.append(),
            mem::POP => self.pop(),
            mem::COPYTO => self.copyto(),
            mem::PROBE => self.probe(),
            mem::INDEX_ENTRIES => self.index_entries(),
            mem::MAP => self.map(),
            // They are of lowered code, or have no value to compare.
            core::GLOBAL | core::SET_GLOBAL | core::STATIC | core::CLOSURE | core::UNDEF => None,
            _ => return None,
        })
    }

    fn result(&self, value: regraft_ir::Value, known: Type) -> Option<Var> {
        Some(Var { operand: value.into(), ty: self.f.ty(value), known })
    }

    // --- calls -----------------------------------------------------------------------------

    /// A function to call, and the arguments for it.
    fn callee(&mut self) -> Option<(Callee, Vec<Operand>)> {
        // One recursive call in the text, at most, and none in a loop: the work would multiply.
        if self.trips == 1
            && self.recursion.is_some()
            && self.c().chance(60)
            && let Some(fuel) = self.recursion.take()
        {
            let this = self.this.clone();
            let mut args = vec![fuel];
            args.extend(self.args(&this.params[1..]));
            return Some((this, args));
        }
        let count = self.shared.callees.len();
        if count == 0 {
            return None;
        }
        let nth = self.c().below(count);
        let callee = self.shared.callees[nth].clone();
        if !self.afford(callee.cost) {
            return None;
        }
        let args = self.args(&callee.params);
        Some((callee, args))
    }

    fn function_constant(&self, name: Symbol) -> Operand {
        self.constant(Constant::Func(name))
    }

    fn call(&mut self) -> Option<Var> {
        let (callee, args) = self.callee()?;
        // The declared type may be less precise than that of the callee.
        let ty = if self.dynamic() && self.c().chance(10) { Type::ANY } else { callee.ret.ty };
        let name = self.function_constant(callee.name);
        let value = self.push(core::call(name, args, ty));
        self.result(value, callee.ret.known)
    }

    fn apply(&mut self) -> Option<Var> {
        let (callee, args) = self.callee()?;
        let name = self.function_constant(callee.name);
        let name = if self.dynamic() && self.c().chance(40) {
            Operand::from(self.push(core::convert(name, Type::ANY)))
        } else {
            name
        };
        let value = self.push(core::apply(name, args, callee.ret.ty));
        self.result(value, callee.ret.known)
    }

    fn try_catch(&mut self) -> Option<Var> {
        let count = self.shared.handlers.len();
        if count == 0 {
            return None;
        }
        let nth = self.c().below(count);
        let (of, handler) = self.shared.handlers[nth].clone();
        let body = self.shared.callees[of].clone();
        if !self.afford(body.cost.saturating_add(handler.cost)) {
            return None;
        }
        let args = self.args(&body.params);
        let [name, handler] = [body.name, handler.name].map(|name| self.function_constant(name));
        let value = self.push(core::try_catch(name, handler, args, body.ret.ty));
        self.result(value, body.ret.known)
    }

    fn splat(&mut self) -> Option<Var> {
        let (callee, args) = self.callee()?;
        let name = self.function_constant(callee.name);
        // Some arguments in one tuple, the others in a second one.
        let cut = self.c().below(args.len() + 1);
        let first = self.push(core::tuple(args[..cut].iter().copied()));
        let second = self.push(core::tuple(args[cut..].iter().copied()));
        let value = self.push(core::splat(name, [first, second], callee.ret.ty));
        self.result(value, callee.ret.known)
    }

    // --- types -----------------------------------------------------------------------------

    fn conversion(&mut self) -> Option<Var> {
        const TYPES: [Type; 7] =
            [Type::F64, Type::I64, Type::I32, Type::F32, Type::I16, Type::I8, Type::BOOL];
        let x = self.anything();
        if x.known.is_scalar() && self.c().chance(70) {
            let to = self.c().pick(&TYPES);
            let value = if self.risk() || to.is_float() {
                x.operand
            } else {
                // 0 or 1, of whatever type: nearly every number converts to nearly no type.
                let bit = self.operand(Type::BOOL, false).operand;
                let bit = self.push(core::convert(bit, x.known));
                bit.into()
            };
            let value = self.push(core::convert(value, to));
            return self.result(value, to);
        }
        let to = if self.dynamic() && self.c().chance(50) { Type::ANY } else { x.known };
        let value = self.push(core::convert(x.operand, to));
        self.result(value, x.known)
    }

    fn typeassert(&mut self) -> Option<Var> {
        let x = self.anything();
        let wrong = x.ty == Type::ANY && self.risk();
        let ty = if wrong { self.any_type() } else { x.known };
        let value = self.push(core::typeassert(x.operand, ty));
        self.result(value, ty)
    }

    fn isa(&mut self) -> Option<Var> {
        let x = self.anything();
        let ty = if self.c().chance(50) { self.any_type() } else { x.known };
        let ty = self.constant(Constant::Type(ty));
        let value = self.push(core::isa(x.operand, ty));
        self.result(value, Type::BOOL)
    }

    // --- fields ----------------------------------------------------------------------------

    /// A value of a type that is made of fields.
    fn aggregate(
        &mut self,
        fits: impl Fn(&TypeKind) -> bool,
        mutable: Option<bool>,
    ) -> Option<Var> {
        let ctx = self.ctx();
        let ty = self.shared.types.find(&mut self.shared.choices, |ty| {
            let is = |def: &StructDef| Some(def.mutable) == mutable;
            fits(ctx.kind(ty)) || ctx.struct_of(ty).is_some_and(|def| is(&def))
        })?;
        let types: Vec<Type> = self.fields(ty)?.into_iter().map(|(_, ty)| ty).collect();
        let fields = self.fitting_operands(&types);
        let inst = match mutable {
            None => data::named(fields, ty),
            Some(false) => data::new(fields, ty),
            Some(true) => data::new_object(fields, ty),
        };
        let value = self.push(inst);
        self.result(value, ty)
    }

    /// Names, if there are any, and types of the fields of a type that has fields.
    fn fields(&self, ty: Type) -> Option<Vec<(Option<Symbol>, Type)>> {
        let ctx = &self.shared.ctx;
        let named = |fields: &[(Symbol, Type)]| {
            fields.iter().map(|&(name, ty)| (Some(name), ty)).collect::<Vec<_>>()
        };
        Some(match ctx.kind(ty) {
            TypeKind::Tuple(types) => types.iter().map(|&ty| (None, ty)).collect(),
            TypeKind::Named(fields) => named(fields),
            &TypeKind::Struct(id) => named(&ctx.struct_def(id).fields),
            _ => return None,
        })
    }

    /// A value with fields, of a kind that fits, and one of its fields by index.
    fn with_field(&mut self, fits: impl Fn(&Self, Type) -> bool) -> Option<(Var, usize, Slot)> {
        let good =
            |body: &Self, ty| fits(body, ty) && body.fields(ty).is_some_and(|f| !f.is_empty());
        let in_scope = self.scope.iter().map(|var| var.known);
        let types: Vec<Type> =
            in_scope.chain(self.shared.types.all()).filter(|&ty| good(self, ty)).collect();
        if types.is_empty() {
            return None;
        }
        let ty = self.c().pick(&types);
        let var = self.object(|other| other == ty)?;
        let fields = self.fields(ty)?;
        let index = self.c().below(fields.len());
        let (_, field) = fields[index];
        Some((var, index, Slot { ty: field, known: field }))
    }

    fn is_mutable(&self, ty: Type) -> bool {
        self.shared.ctx.struct_of(ty).is_some_and(|def| def.mutable)
    }

    fn get(&mut self) -> Option<Var> {
        let (x, index, field) = self.with_field(|body, ty| !body.is_mutable(ty))?;
        let index = self.int(index as i64 + 1);
        let x = if x.ty == x.known {
            x.operand
        } else {
            self.push(core::typeassert(x.operand, x.known)).into()
        };
        let value = self.push(core::get(x, index));
        self.result(value, field.known)
    }

    /// Returns an operand that names a field: by its index or its name, as a constant or (rarely) not.
    fn field_operand(&mut self, ty: Type, index: usize) -> Operand {
        let name = self.fields(ty).and_then(|fields| fields[index].0);
        let constant = match name {
            Some(name) if self.c().chance(50) => Constant::Sym(name),
            _ => Constant::I64(index as i64 + 1),
        };
        let constant = self.constant(constant);
        if self.c().chance(15) {
            // A value whose constant is not seen at once.
            let condition = self.operand(Type::BOOL, false).operand;
            return self.push(core::select(condition, constant, constant)).into();
        }
        constant
    }

    fn getfield(&mut self) -> Option<Var> {
        let (x, index, field) = self.with_field(|_, _| true)?;
        let name = if self.risk() {
            let ty = self.c().pick(&[Type::I64, Type::SYM]);
            let name = self.operand(ty, false).operand;
            // A constant that names no field is an error of the program's text.
            self.push(core::select(self.constant(true), name, name)).into()
        } else {
            self.field_operand(x.known, index)
        };
        let value = self.try_push(data::getfield(x.operand, name)).ok()?;
        let ty = self.f.ty(value);
        let known = if ty == Type::ANY { field.known } else { ty };
        let risky = name.as_const().is_none() && ty == Type::ANY;
        self.result(value, if risky && x.ty != Type::ANY { Type::ANY } else { known })
    }

    fn setfield(&mut self) -> Option<Var> {
        let (x, index, field) = self.with_field(Self::is_mutable)?;
        let name = self.field_operand(x.known, index);
        let new = self.fitting(field.ty);
        let value = self.push(data::setfield(x.operand, name, new.operand));
        self.result(value, Type::UNIT)
    }

    fn hasfield(&mut self) -> Option<Var> {
        let x = self.anything();
        let name = self.operand(Type::SYM, false).operand;
        let names: Vec<Symbol> =
            self.fields(x.known).unwrap_or_default().into_iter().filter_map(|f| f.0).collect();
        let name = if !names.is_empty() && self.c().chance(50) {
            let name = self.c().pick(&names);
            self.constant(Constant::Sym(name))
        } else {
            name
        };
        let value = self.try_push(data::hasfield(x.operand, name)).ok()?;
        self.result(value, Type::BOOL)
    }

    // --- arrays ----------------------------------------------------------------------------

    fn array_type(&mut self, fits: impl Fn(Type, u8) -> bool) -> Option<(Type, Type, u8)> {
        let ctx = self.ctx();
        let parts = |ty| match ctx.kind(ty) {
            &TypeKind::Array { element, rank } => Some((element, rank)),
            _ => None,
        };
        let ty = self.shared.types.find(&mut self.shared.choices, |ty| {
            parts(ty).is_some_and(|(element, rank)| fits(element, rank))
        })?;
        parts(ty).map(|(element, rank)| (ty, element, rank))
    }

    fn rank(&self, ty: Type) -> u8 {
        match self.shared.ctx.kind(ty) {
            &TypeKind::Array { rank, .. } => rank,
            _ => 1,
        }
    }

    fn element(&self, ty: Type) -> Type {
        super::types::array_element(self.shared.ctx.kind(ty)).unwrap_or(Type::ANY)
    }

    fn dims(&mut self, rank: u8) -> Vec<Operand> {
        (0..rank).map(|_| if self.risk() { self.int(-1) } else { self.small_dim() }).collect()
    }

    fn alloc(&mut self) -> Option<Var> {
        // Elements that are no numbers start undefined, and every use of them would trap.
        let risk = self.risk();
        let (ty, _, rank) = self.array_type(|element, _| element.is_scalar() || risk)?;
        let dims = self.dims(rank);
        let value = self.push(mem::alloc(dims, ty));
        self.result(value, ty)
    }

    fn fill(&mut self) -> Option<Var> {
        let value = self.anything();
        let rank = 1 + self.c().below(3) as u8;
        let dims = self.dims(rank);
        let value = self.push(mem::fill(value.operand, dims));
        self.result(value, self.f.ty(value))
    }

    fn array_literal(&mut self) -> Option<Var> {
        let (ty, element, _) = self.array_type(|_, rank| rank == 1)?;
        let count = self.c().below(5);
        let elements = self.fitting_operands(&vec![element; count]);
        let value = self.push(mem::array(elements, ty));
        self.result(value, ty)
    }

    /// An index: mostly one that is in bounds of an array that is not empty.
    fn index(&mut self) -> Operand {
        match self.c().below(4) {
            0 | 1 => self.int(1),
            2 => {
                let index = self.c().pick(&[2, 1, 3]);
                self.int(index)
            }
            _ if self.risk() => self.operand(Type::I64, false).operand,
            _ => {
                let x = self.operand(Type::I64, false).operand;
                let x = self.push(arith::and(x, self.int(1)));
                self.push(arith::add(x, self.int(1))).into()
            }
        }
    }

    fn indices(&mut self, array: Var) -> Vec<Operand> {
        if self.rank(array.known) == 1
            && self.c().chance(60)
            && let Some(index) = self.affine_index(array.operand)
        {
            return vec![index];
        }
        let rank = if self.c().chance(40) { 1 } else { self.rank(array.known) };
        (0..rank).map(|_| self.index()).collect()
    }

    fn load(&mut self) -> Option<Var> {
        let array = self.array(None)?;
        let indices = self.indices(array);
        let value = self.push(mem::load(array.operand, indices));
        self.result(value, self.element(array.known))
    }

    fn store(&mut self) -> Option<Var> {
        let array = self.array(None)?;
        let new = self.fitting(self.element(array.known));
        let indices = self.indices(array);
        let value = self.push(mem::store(array.operand, new.operand, indices));
        self.result(value, Type::UNIT)
    }

    /// An array of unboxed elements, as its type says, with the types of their parts. What is differentiated accesses whole elements.
    fn unboxed(&mut self, fits: impl Fn(u8) -> bool) -> Option<(Var, Vec<Type>)> {
        if self.shared.config.smooth {
            return None;
        }
        let ctx = self.ctx();
        let parts = |ty: Type| match *ctx.kind(ty) {
            TypeKind::Array { element, rank } if fits(rank) => unboxed_parts(&ctx, element),
            _ => None,
        };
        let array = self.object(|ty| parts(ty).is_some())?;
        let parts = parts(array.ty)?;
        Some((array, parts))
    }

    /// The attributes of an access to a part that is a scalar, and its type.
    fn part(&mut self, parts: &[Type]) -> Option<(Attrs, Type)> {
        let scalars: Vec<usize> = (0..parts.len()).filter(|&at| parts[at].is_scalar()).collect();
        let at = self.c().pick(&scalars);
        Some((with_part(&self.ctx(), Attrs::NONE, at), parts[at]))
    }

    fn load_part(&mut self) -> Option<Var> {
        let (array, parts) = self.unboxed(|_| true)?;
        let (attrs, part) = self.part(&parts)?;
        let indices = self.indices(array);
        let value = self.push(mem::load_part(array.operand, indices).with_attrs(attrs));
        self.result(value, part)
    }

    fn store_part(&mut self) -> Option<Var> {
        let (array, parts) = self.unboxed(|_| true)?;
        let (attrs, part) = self.part(&parts)?;
        let new = self.fitting(part);
        if new.ty != part {
            return None;
        }
        let indices = self.indices(array);
        let store = mem::store_part(array.operand, new.operand, indices);
        let value = self.push(store.with_attrs(attrs));
        self.result(value, Type::UNIT)
    }

    fn push_parts(&mut self) -> Option<Var> {
        let (array, parts) = self.unboxed(|rank| rank == 1)?;
        let new: Vec<Var> = parts.iter().map(|&part| self.fitting(part)).collect();
        if new.iter().zip(&parts).any(|(new, &part)| new.ty != part) {
            return None;
        }
        let new = new.into_iter().map(|new| new.operand);
        let value = self.push(mem::push_parts(array.operand, new));
        self.result(value, Type::UNIT)
    }

    fn last_part(&mut self) -> Option<Var> {
        let (array, parts) = self.unboxed(|rank| rank == 1)?;
        let (attrs, part) = self.part(&parts)?;
        if !self.risk() {
            // So that there is one.
            let new = self.fitting(self.element(array.known));
            self.push(mem::push(array.operand, new.operand));
        }
        let value = self.push(mem::last_part(array.operand).with_attrs(attrs));
        self.result(value, part)
    }

    fn size(&mut self) -> Option<Var> {
        let array = self.array(None)?;
        let dim = self.index();
        let value = self.push(mem::size(array.operand, dim));
        self.result(value, Type::I64)
    }

    /// An array of rank 1.
    fn vector(&mut self) -> Option<Var> {
        let ctx = self.ctx();
        self.object(|ty| matches!(ctx.kind(ty), TypeKind::Array { rank: 1, .. }))
    }

    fn resize(&mut self) -> Option<Var> {
        let array = self.vector()?;
        let undefined = !self.element(array.known).is_scalar();
        // Longer arrays have undefined elements if these are no numbers.
        let length = match self.risk() {
            true => -1,
            false if undefined => 1,
            false => self.c().pick(&[2, 3, 1, 5]),
        };
        let length = self.int(length);
        let value = self.push(mem::resize(array.operand, length));
        self.result(value, Type::UNIT)
    }

    fn append(&mut self) -> Option<Var> {
        let array = self.vector()?;
        let new = self.fitting(self.element(array.known));
        let value = self.push(mem::push(array.operand, new.operand));
        self.result(value, Type::UNIT)
    }

    fn pop(&mut self) -> Option<Var> {
        let array = self.vector()?;
        let element = self.element(array.known);
        if !self.risk() {
            // So that there is something to take.
            let new = self.fitting(element);
            self.push(mem::push(array.operand, new.operand));
        }
        let value = self.push(mem::pop(array.operand));
        self.result(value, element)
    }

    fn copyto(&mut self) -> Option<Var> {
        let source = self.array(None)?;
        let dest = if self.risk() {
            self.array(Some(self.element(source.known)))?
        } else {
            let copy = self.push(mem::copy(source.operand));
            let var = Var { operand: copy.into(), ty: self.f.ty(copy), known: source.known };
            self.define(var);
            var
        };
        let value = self.push(Inst::new(mem::COPYTO).operand(dest.operand).operand(source.operand));
        self.result(value, Type::UNIT)
    }

    /// A function of a few elements, the array that they go to among their sources at times.
    fn map(&mut self) -> Option<Var> {
        let dest = match self.array(Some(Type::F64)) {
            Some(array) if self.risk() => array,
            _ => self.array_of(Type::F64),
        };
        let all = Forms::all();
        let forms = &all[self.c().below(all.len())];
        let (to, count) = (self.index(), self.index());
        let mut sources = Vec::with_capacity(2 * forms.args);
        for _ in 0..forms.args {
            let array = self.array(Some(Type::F64)).unwrap_or(dest);
            sources.extend([self.exact(array), self.index()]);
        }
        let attrs = function(&self.shared.ctx, forms.name);
        let value = self.push(mem::map(dest.operand, to, count, sources).with_attrs(attrs));
        self.result(value, Type::BOOL)
    }

    /// The index of a hash table, or its hashes, with anything in it.
    fn hash_index(&mut self) -> Var {
        self.array_of(Type::I32)
    }

    /// An array of rank 1, of a type that need not be one of those of the program.
    fn array_of(&mut self, element: Type) -> Var {
        let (ty, dynamic) = (self.shared.ctx.array_type(element, 1), self.dynamic());
        self.operand(ty, dynamic)
    }

    fn probe(&mut self) -> Option<Var> {
        let index = self.hash_index();
        let (hash, after) = (self.operand(Type::I64, false), self.operand(Type::I64, false));
        let value = self.push(mem::probe(index.operand, hash.operand, after.operand));
        self.result(value, Type::I64)
    }

    fn index_entries(&mut self) -> Option<Var> {
        let hashes = self.hash_index();
        let (index, last) = if self.risk() {
            (self.hash_index().operand, self.operand(Type::I64, false).operand)
        } else {
            let (places, empty) = (self.int(64), self.constant(Constant::I32(0)));
            let last = self.push(mem::length(hashes.operand));
            (self.push(mem::fill(empty, [places])).into(), last.into())
        };
        let first = self.int(1);
        let value = self.push(mem::index_entries(index, hashes.operand, first, last));
        self.result(value, Type::UNIT)
    }
}
