//! Handles of what was deleted, of other functions and of other contexts are refused with a message
//! that names them, at the line of the caller.

mod common;

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use common::{ADD, RETURN, add, context};
use regraft_ir::{
    Block, Constant, Cursor, Edge, Function, Inst, IrErrorKind, Op, Operand, Pipe, StructDef, Type,
    TypeKind, Value,
};

thread_local! {
    /// Tells whether a panic is awaited; `SEEN` is what it said and where.
    static AWAITED: Cell<bool> = const { Cell::new(false) };
    static SEEN: RefCell<Option<(String, String, u32)>> = const { RefCell::new(None) };
}

/// The message of the panic of `work`, which has to be at the line of the caller.
#[track_caller]
fn panic_here<R>(work: impl FnOnce() -> R) -> String {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let outer = take_hook();
        set_hook(Box::new(move |info| {
            let at = info.location().expect("panics have a place");
            let text = info.payload_as_str().unwrap_or_default().to_owned();
            SEEN.with(|seen| *seen.borrow_mut() = Some((text, at.file().to_owned(), at.line())));
            if !AWAITED.with(Cell::get) {
                outer(info);
            }
        }));
    });
    let here = Location::caller();
    AWAITED.with(|awaited| awaited.set(true));
    let result = catch_unwind(AssertUnwindSafe(work));
    AWAITED.with(|awaited| awaited.set(false));
    assert!(result.is_err(), "there is no panic at {here}");
    let (text, file, line) = SEEN.with(|seen| seen.borrow_mut().take()).expect("it was seen");
    assert_eq!((&*file, line), (here.file(), here.line()), "{text}");
    text
}

/// `@f(%1: i64)` with two instructions of which the first was deleted, and a deleted block `^2`.
fn with_gone() -> (Function, Value, Block) {
    let ctx = context();
    let mut f = Function::new(&ctx, "f", &[Type::I64], Type::I64);
    let entry = f.entry().unwrap();
    let x = f.param(entry, 0).unwrap();
    let gone = f.push(entry, add(x, x)).unwrap();
    let kept = f.push(entry, add(x, x)).unwrap();
    f.set_terminator(entry, Inst::new(RETURN).operand(kept)).unwrap();
    f.delete(gone).unwrap();
    let block = f.add_block();
    f.delete_block(block).unwrap();
    (f, gone, block)
}

#[test]
fn every_accessor_names_a_value_that_was_deleted() {
    let (f, v, b) = with_gone();
    let kept = f.value_by_number(3).unwrap();
    let want = "%2 of @f was deleted";
    assert_eq!(panic_here(|| f.ty(v)), want);
    assert_eq!(panic_here(|| f.block_of(v)), want);
    assert_eq!(panic_here(|| f.def(v)), want);
    assert_eq!(panic_here(|| f.is_param(v)), want);
    assert_eq!(panic_here(|| f.operands(v).count()), want);
    assert_eq!(panic_here(|| f.plain_operands(v).count()), want);
    assert_eq!(panic_here(|| f.operand(v, 0)), want);
    assert_eq!(panic_here(|| f.operand_count(v)), want);
    assert_eq!(panic_here(|| f.operand_type(v.into())), want);
    assert_eq!(panic_here(|| f.attrs(v)), want);
    assert_eq!(panic_here(|| f.attr(v, "k")), want);
    assert_eq!(panic_here(|| f.loc(v)), want);
    // A list of which some were deleted can be gone through, and whoever made them is still known.
    assert_eq!((f.op(v), f.matches::<2>(v, ADD), f.origin(v)), (None, None, None));
    assert!(f.op_def(v).is_none() && !f.is_removable(v) && !f.may_trap(v));
    assert_eq!(panic_here(|| f.statement(v)), want);
    assert_eq!(panic_here(|| f.infer_type(v)), want);
    assert_eq!(panic_here(|| f.with_view(v, |view| view.attrs)), want);
    assert_eq!(panic_here(|| f.next_inst(v)), want);
    assert_eq!(panic_here(|| f.prev_inst(v)), want);
    assert_eq!(panic_here(|| f.comes_before(kept, v)), want);
    assert_eq!(panic_here(|| f.uses(v).count()), want);
    assert_eq!(panic_here(|| f.uses_in_order(v)), want);
    assert_eq!(panic_here(|| f.is_used(v)), want);
    assert_eq!(panic_here(|| f.value_name(v).is_some()), want);
    assert_eq!(panic_here(|| f.value_symbol(v)), want);
    let want = "^2 of @f was deleted";
    assert_eq!(panic_here(|| f.ty(Value::terminator(b))), want);
    assert_eq!(panic_here(|| f.insts(b).count()), want);
    assert_eq!(panic_here(|| f.body(b).count()), want);
    assert_eq!(panic_here(|| f.params(b).count()), want);
    assert_eq!(panic_here(|| f.param_count(b)), want);
    assert_eq!(panic_here(|| f.param(b, 0)), want);
    assert_eq!(panic_here(|| f.first_inst(b)), want);
    assert_eq!(panic_here(|| f.last_inst(b)), want);
    assert_eq!(panic_here(|| f.next_block(b)), want);
    assert_eq!(panic_here(|| f.prev_block(b)), want);
    assert_eq!(panic_here(|| f.terminator(b)), want);
    assert_eq!(panic_here(|| f.out_edges(b).count()), want);
    assert_eq!(panic_here(|| f.in_edges(b).count()), want);
    assert_eq!(panic_here(|| f.in_edges_in_order(b)), want);
    assert_eq!(panic_here(|| f.successors(b).count()), want);
    assert_eq!(panic_here(|| f.predecessors(b)), want);
    assert_eq!(panic_here(|| f.pred_blocks(b)), want);
    assert_eq!(panic_here(|| f.has_predecessors(b)), want);
    assert_eq!(panic_here(|| f.block_comes_before(b, f.block_of(kept))), want);
    let edge = Edge { from: b, position: 0 };
    assert_eq!(panic_here(|| f.edge_target(edge)), want);
    assert_eq!(panic_here(|| f.edge_args(edge).count()), want);
    let edge = Edge { from: f.block_of(kept), position: 7 };
    let want = format!("there is no edge at {edge:?} of @f");
    assert_eq!(panic_here(|| f.edge_target(edge)), want);
    assert_eq!(panic_here(|| f.edge_args(edge).count()), want);
}

#[test]
fn every_accessor_names_a_value_of_another_function() {
    let (f, ..) = with_gone();
    let g = Function::new(f.ctx(), "g", &[Type::F64, Type::F64], Type::F64);
    let (b, v) = (g.entry().unwrap(), g.value_by_number(2).unwrap());
    let want = "%2 is a value of another function than @f";
    assert_eq!(panic_here(|| f.ty(v)), want);
    assert_eq!(panic_here(|| f.block_of(v)), want);
    assert_eq!(panic_here(|| f.op(v)), want);
    assert_eq!(panic_here(|| f.op_def(v)), want);
    assert_eq!(panic_here(|| f.matches::<2>(v, ADD)), want);
    assert_eq!(panic_here(|| f.is_removable(v)), want);
    assert_eq!(panic_here(|| f.operand_type(v.into())), want);
    assert_eq!(panic_here(|| f.origin(v)), want);
    assert_eq!(panic_here(|| f.uses(v).count()), want);
    assert_eq!(panic_here(|| f.value_symbol(v)), want);
    assert_eq!(panic_here(|| f.statement(v)), want);
    let want = "^1 is a block of another function than @f";
    assert_eq!(panic_here(|| f.ty(Value::terminator(b))), want);
    assert_eq!(panic_here(|| f.insts(b).count()), want);
    assert_eq!(panic_here(|| f.predecessors(b)), want);
}

#[test]
fn a_cursor_and_a_pipe_name_what_was_deleted_at_the_line_of_the_caller() {
    let (mut f, v, b) = with_gone();
    let copy = f.clone();
    let kept = f.value_by_number(3).unwrap();
    let mut at = Cursor::new(&mut f);
    assert_eq!(panic_here(|| at.go_to(v)), "%2 of @f was deleted");
    assert_eq!(panic_here(|| at.go_to_block(b)), "^2 of @f was deleted");
    at.go_to(kept);
    at.next();
    assert_eq!(panic_here(|| at.insert(add(v, v))), "%2 of @f was deleted");
    assert_eq!(panic_here(|| at.insert_after(add(v, v))), "%2 of @f was deleted");
    assert_eq!(panic_here(|| at.replace(v, add(kept, kept))), "%2 of @f was deleted");
    assert_eq!(panic_here(|| at.replace_with(kept, v)), "%2 of @f was deleted");
    assert_eq!(panic_here(|| at.delete(v)), "%2 of @f was deleted");
    assert_eq!(panic_here(|| at.delete_tree(v)), "%2 of @f was deleted");
    assert!(panic_here(|| at.delete(kept)).contains("%3 is still used by"));
    let pipe = Pipe::new(&copy);
    assert_eq!(panic_here(|| pipe.function().ty(v)), "%2 of @f was deleted");
    let other = Function::new(copy.ctx(), "g", &[Type::I64], Type::I64);
    let foreign = other.value_by_number(1).unwrap();
    let want = "%1 is a value of another function than @f";
    assert_eq!(panic_here(|| pipe.substitute(foreign)), want);
}

#[test]
fn what_is_of_another_context_is_refused_by_every_mutation() {
    let (mut f, ..) = with_gone();
    let other = context();
    let entry = f.entry().unwrap();
    let kept = f.value_by_number(3).unwrap();
    // Its id would do in this context too, but for the tag.
    let own = [1, 2, 3].map(|i| f.ctx().const_i64(i));
    let foreign = other.const_i64(9);
    assert!(f.ctx().has_constant(own[0]) && !f.ctx().has_constant(foreign));
    let ty = other.tuple_type(&[Type::F64]);
    let attrs = other.attrs(&[(other.symbol("k"), foreign)]);
    let before = f.clone();
    let kinds = [
        f.push(entry, add(kept, foreign)).unwrap_err(),
        f.insert(kept, add(foreign, own[0])).unwrap_err(),
        f.insert_after(kept, add(foreign, foreign)).unwrap_err(),
        f.push_front(entry, add(foreign, foreign)).unwrap_err(),
        f.replace(kept, add(foreign, own[0])).unwrap_err(),
        f.set_operand(kept, 0, foreign).unwrap_err(),
        f.replace_all_uses(kept, foreign).unwrap_err(),
        f.replace_uses_if(kept, foreign, |_, _| true).unwrap_err(),
        f.set_terminator(entry, Inst::new(RETURN).operand(foreign)).unwrap_err(),
        f.push(entry, add(kept, kept).with_attrs(attrs)).unwrap_err(),
        f.push(entry, add(kept, kept).with_type(ty)).unwrap_err(),
        f.set_type(kept, ty).unwrap_err(),
        f.set_attrs(kept, attrs).unwrap_err(),
        f.append_param(entry, ty).unwrap_err(),
        f.name_after(kept, other.symbol("k")).unwrap_err(),
    ];
    for error in &kinds {
        assert_eq!(error.kind(), IrErrorKind::ForeignValue, "{error}");
        assert!(error.message().contains("another context"), "{error}");
    }
    assert!(f.structural_eq(&before));
    f.check_invariants().unwrap();
}

#[test]
fn what_is_of_another_context_is_named_by_every_question() {
    let (mut f, ..) = with_gone();
    let (ctx, other) = (f.ctx().clone(), context());
    let foreign = other.const_sym("a");
    let ty = other.tuple_type(&[Type::F64]);
    let attrs = other.attrs(&[(other.symbol("k"), foreign)]);
    let constant = "a constant of another context was used";
    assert_eq!(panic_here(|| ctx.constant(foreign)), constant);
    assert_eq!(panic_here(|| ctx.constant_type(foreign)), constant);
    assert_eq!(panic_here(|| f.constant(foreign)), constant);
    assert_eq!(panic_here(|| f.const_i64(foreign)), constant);
    assert_eq!(panic_here(|| f.operand_type(foreign.into())), constant);
    assert_eq!(panic_here(|| ctx.constant_id(other.constant(foreign))), constant);
    assert_eq!(panic_here(|| ctx.kind(ty).clone()), "a type of another context was used");
    assert_eq!(panic_here(|| ctx.is_object(ty)), "a type of another context was used");
    assert_eq!(panic_here(|| ctx.const_type(ty)), constant);
    let parts = "a type cannot be made of parts of another context";
    assert_eq!(panic_here(|| ctx.array_type(ty, 1)), parts);
    assert_eq!(panic_here(|| ctx.ref_type(ty)), parts);
    assert_eq!(panic_here(|| ctx.named_type(&[(other.symbol("a"), Type::F64)])), parts);
    assert_eq!(panic_here(|| ctx.ty(TypeKind::Val(foreign))), parts);
    let symbol = "a symbol of another context was used";
    assert_eq!(panic_here(|| ctx.str(other.symbol("a")).len()), symbol);
    let dictionary = "a dictionary of attributes of another context was used";
    assert_eq!(panic_here(|| ctx.attr_entries(attrs).len()), dictionary);
    assert_eq!(panic_here(|| ctx.attr(attrs, "k")), dictionary);
    let attribute = "an attribute of another context was used";
    assert_eq!(panic_here(|| ctx.attrs(&[(ctx.symbol("k"), foreign)])), attribute);
    let named = "a symbol of another context than that of @f was used";
    assert_eq!(panic_here(|| f.set_name(other.symbol("a"))), named);
    assert_eq!(panic_here(|| f.set_provenance(Some(other.symbol("a")))), named);
    let fields = Box::from([(ctx.symbol("x"), ty)]);
    let def = StructDef { name: ctx.symbol("S"), mutable: false, fields, call: None };
    let parts = "a struct cannot be made of parts of another context";
    assert_eq!(panic_here(|| ctx.add_struct(def)), parts);
    let of_f = "a type of another context than that of @f was used";
    assert_eq!(panic_here(|| f.set_ret_type(ty)), of_f);
    assert_eq!(panic_here(|| Function::new(&ctx, "f", &[ty], Type::F64)), of_f);
    let returned = "@f cannot return a type of another context";
    assert_eq!(panic_here(|| Function::new(&ctx, "f", &[], ty)), returned);
}

#[test]
fn what_every_context_has_is_the_same_in_all() {
    let (a, b) = (context(), context());
    assert_eq!(a.attrs(&[]), b.attrs(&[]));
    assert_eq!(a.type_text(Type::F64), "f64");
    assert_eq!(a.tuple_type(&[Type::F64]).index(), b.tuple_type(&[Type::F64]).index());
    let c = a.constant_id(Constant::I32(3));
    assert_eq!(format!("{c:?} {:?}", Operand::from(c)), "const0 const0");
}

#[test]
fn an_op_that_no_dialect_declares_is_refused_by_name() {
    let (mut f, ..) = with_gone();
    let entry = f.entry().unwrap();
    let unknown = || Inst::new(Op::new(50, 3));
    let text = format!("{:?} belongs to no dialect that is registered with the context of @f", {
        Op::new(50, 3)
    });
    assert_eq!(f.push(entry, unknown()).unwrap_err().message(), text);
    assert_eq!(f.set_terminator(entry, unknown()).unwrap_err().message(), text);
}
