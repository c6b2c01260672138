//! Functions that run one op within a `core.try`.

use regraft_dialects::{cf, core};
use regraft_ir::{
    Attrs, Const, Constant, Function, Inst, IrResult, Module, Op, Operand, OperandKind, Symbol,
    Type, TypeKind, Value,
};
use rustc_hash::FxHashMap;

use super::ALONE;

/// An op on operands of which some are constants.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Key {
    op: Op,
    attrs: Attrs,
    ty: Type,
    operands: Vec<Given>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Given {
    Constant(Const),
    Value(Type),
}

/// The functions that were made so far.
#[derive(Debug, Default)]
pub(super) struct Probes {
    probes: FxHashMap<Key, Symbol>,
    alone: FxHashMap<Key, [Symbol; 2]>,
}

/// The operands of an instruction that are values.
pub(super) fn values(f: &Function, v: Value) -> Vec<Operand> {
    f.operands(v).filter(|operand| operand.as_value().is_some()).collect()
}

impl Probes {
    /// The function that takes the values among the operands of `v`, tries whether that op traps, and
    /// returns whether all is fine, and the error.
    pub(super) fn probe(
        &mut self,
        module: &mut Module,
        f: &Function,
        v: Value,
    ) -> IrResult<Symbol> {
        let key = key_of(f, v);
        if let Some(&known) = self.probes.get(&key) {
            return Ok(known);
        }
        let ctx = f.ctx().clone();
        let outcome = ctx.ty(TypeKind::Tuple(Box::new([Type::BOOL, Type::ANY])));
        let [body, handler] = self.pair(module, f, v, outcome)?;
        let types = types_of(&key);
        let name = free_name(module, f, v, "probe");
        let mut probe = Function::new(&ctx, ctx.str(name), &types, outcome);
        let none = (ctx.symbol("derivative"), ctx.constant_id(Constant::Sym(ctx.symbol("none"))));
        let stays = (ctx.symbol("inline"), ctx.constant_id(Constant::Bool(false)));
        probe.set_function_attrs(ctx.attrs(&[none, stays]));
        if let Some(entry) = probe.entry() {
            let callees = [body, handler].map(|name| ctx.constant_id(Constant::Func(name)).into());
            let operands: Vec<Operand> =
                callees.into_iter().chain(probe.params(entry).map(Operand::from)).collect();
            let tried = Inst::new(core::TRY).operands(operands).with_type(outcome);
            let tried = probe.push(entry, tried)?;
            probe.set_terminator(entry, cf::ret(tried))?;
        }
        module.add(probe)?;
        self.probes.insert(key, name);
        Ok(name)
    }

    /// Body and handler of a `core.try` that runs the op of `v` alone, and gives `outcome`: whether
    /// all is fine, the result, and the error.
    pub(super) fn alone(
        &mut self,
        module: &mut Module,
        f: &Function,
        v: Value,
        outcome: Type,
    ) -> IrResult<[Symbol; 2]> {
        let key = key_of(f, v);
        if let Some(&known) = self.alone.get(&key) {
            return Ok(known);
        }
        let made = self.pair(module, f, v, outcome)?;
        self.alone.insert(key, made);
        Ok(made)
    }

    /// Makes a body that runs the op of `v`, and a handler. What they return has as many parts as the
    /// tuple `outcome`: a result only if there are three.
    fn pair(
        &self,
        module: &mut Module,
        f: &Function,
        v: Value,
        outcome: Type,
    ) -> IrResult<[Symbol; 2]> {
        let ctx = f.ctx().clone();
        let TypeKind::Tuple(parts) = ctx.kind(outcome) else {
            unreachable!("an outcome is a tuple")
        };
        let result = (parts.len() == 3).then(|| parts[1]);
        let types = types_of(&key_of(f, v));
        let constant = |constant| Operand::from(ctx.constant_id(constant));

        let name = free_name(module, f, v, "run");
        let mut body = Function::new(&ctx, ctx.str(name), &types, outcome);
        let alone = (ctx.symbol(ALONE), ctx.constant_id(Constant::Bool(true)));
        body.set_function_attrs(ctx.attrs(&[alone]));
        if let Some(entry) = body.entry() {
            let mut params = body.params(entry).map(Operand::from).collect::<Vec<_>>().into_iter();
            let operands: Vec<Operand> = f
                .operands(v)
                .map(|operand| match operand.as_value() {
                    Some(_) => params.next().unwrap_or(operand),
                    None => operand,
                })
                .collect();
            let op = f.op(v).expect("it is an instruction");
            let inst = Inst::new(op).operands(operands).with_attrs(f.attrs(v)).with_type(f.ty(v));
            let made = body.push(entry, inst.at(f.loc(v)))?;
            if f.ty(v) == Type::NEVER {
                body.set_terminator(entry, Inst::new(cf::UNREACHABLE))?;
            } else {
                let nothing =
                    body.push(entry, core::convert(constant(Constant::Unit), Type::ANY))?;
                let mut fields = vec![constant(Constant::Bool(true))];
                fields.extend(result.map(|_| Operand::from(made)));
                fields.push(nothing.into());
                let fields = body.push(entry, core::tuple(fields))?;
                body.set_terminator(entry, cf::ret(fields))?;
            }
        }
        module.add(body)?;

        let handler_name = free_name(module, f, v, "failed");
        let types: Vec<Type> = std::iter::once(Type::ANY).chain(types).collect();
        let mut handler = Function::new(&ctx, ctx.str(handler_name), &types, outcome);
        if let Some(entry) = handler.entry() {
            let error = handler.params(entry).next().expect("it has the error as a parameter");
            let mut fields = vec![constant(Constant::Bool(false))];
            match result {
                Some(Type::UNIT) => fields.push(constant(Constant::Unit)),
                Some(ty) => fields.push(handler.push(entry, core::undef(ty))?.into()),
                None => {}
            }
            fields.push(error.into());
            let fields = handler.push(entry, core::tuple(fields))?;
            handler.set_terminator(entry, cf::ret(fields))?;
        }
        module.add(handler)?;
        Ok([name, handler_name])
    }
}

fn key_of(f: &Function, v: Value) -> Key {
    let operands = f.operands(v).map(|operand| match operand.kind() {
        OperandKind::Const(constant) => Given::Constant(constant),
        _ => Given::Value(f.operand_type(operand)),
    });
    let op = f.op(v).expect("it is an instruction");
    Key { op, attrs: f.attrs(v), ty: f.ty(v), operands: operands.collect() }
}

fn types_of(key: &Key) -> Vec<Type> {
    let ty = |given: &Given| match given {
        Given::Value(ty) => Some(*ty),
        Given::Constant(_) => None,
    };
    key.operands.iter().filter_map(ty).collect()
}

/// A name for a function about the op of `v` that no function of the module has.
fn free_name(module: &Module, f: &Function, v: Value, part: &str) -> Symbol {
    let op = f.op_def(v).map_or("op", |def| def.name);
    let op = op.rsplit_once('.').map_or(op, |(_, name)| name);
    let text = format!("{op}.{part}");
    let mut name = f.ctx().symbol(&text);
    let mut count = 1;
    while module.find(name).is_some() {
        count += 1;
        name = f.ctx().symbol(&format!("{text}.{count}"));
    }
    name
}
