//! The functions that native code calls, with the C calling convention.

// Native code passes addresses of what it works on.
#![allow(unsafe_code)]

use std::ptr;

use regraft_ir::TypeKind;

use super::super::code::{Code, SwitchTable};
use super::super::inst::{Inst, Pc};
use super::super::quick::Quick;
use super::super::register::Scalar;
use super::direct::make_machine;
use super::transfer::assign;
use super::{Machine, spot};
use crate::error::Trap;
use crate::native::{Arg, DONE, Function, LEFT, NativeContext, Runtime, Touches};
use crate::value::{Array, ElementType, Header, Val, egal, note_change};

/// The machine that native code runs on, which is made if there is none yet.
///
/// # Safety
/// The context is that of native code at work, and nobody else works on the machine meanwhile.
#[inline]
unsafe fn machine<'m>(cx: *mut NativeContext) -> &'m mut Machine<'m> {
    // SAFETY: as above; `run_native` or `make_machine` has set the pointer.
    unsafe {
        if (*cx).machine.get().is_null() {
            make_machine(cx);
        }
        &mut *(*cx).machine.get().cast::<Machine<'m>>()
    }
}

extern "C" fn begin(
    cx: *mut NativeContext,
    code: *const Code,
    scalars: *mut u64,
    vals: *mut Val,
) -> i64 {
    // SAFETY: native code passes its context, and code that lives as long as it does.
    let (machine, code) = unsafe { (machine(cx), &*code) };
    let (s, v) = machine.window(scalars, vals);
    let (scalars, vals) = (s + code.scalar_regs as usize, v + code.native_vals());
    let mut result = Ok(());
    if scalars > machine.scalars.len() || vals > machine.vals.len() {
        result = machine.grow(scalars, vals);
        machine.note_ends();
    }
    let is_asked = machine.state.native.answer();
    if machine.state.native.is_deep() {
        result = result.and_then(|()| Err(machine.too_deep()));
    } else if is_asked {
        machine.look_up(code, None);
    }
    machine.fail_with(result)
}

extern "C" fn step(
    cx: *mut NativeContext,
    code: *const Code,
    pc: i64,
    scalars: *mut u64,
    vals: *mut Val,
) -> i64 {
    // SAFETY: native code passes its context, and code that lives as long as it does.
    let (machine, code) = unsafe { (machine(cx), &*code) };
    let window = machine.window(scalars, vals);
    let result = machine.step(code, pc as Pc, window);
    machine.note_ends();
    machine.fail_with(result)
}

extern "C" fn fail(
    cx: *mut NativeContext,
    code: *const Code,
    pc: i64,
    scalars: *mut u64,
    vals: *mut Val,
) {
    // SAFETY: native code passes its context, and code that lives as long as it does.
    let (machine, code) = unsafe { (machine(cx), &*code) };
    let window = machine.window(scalars, vals);
    let result = machine.step(code, pc as Pc, window).and_then(|()| {
        let inst = code.insts[pc as usize];
        Err(Trap::type_error(format!("native code and the interpreter differ on {inst:?}")))
    });
    machine.fail_with(result);
}

extern "C" fn return_tuple(
    cx: *mut NativeContext,
    code: *const Code,
    pc: i64,
    scalars: *mut u64,
    vals: *mut Val,
) -> i64 {
    // SAFETY: native code passes its context, and code that lives as long as it does.
    let (machine, code) = unsafe { (machine(cx), &*code) };
    let (s, v) = machine.window(scalars, vals);
    let Inst::ReturnTuple { site } = code.insts[pc as usize] else { return 0 };
    let result = machine.quick(code, &code.evals[site as usize], (s, v)).map(|tuple| {
        machine.vals[v..v + code.val_regs as usize].fill(Val::Unit);
        machine.vals[v] = tuple.unwrap_or(Val::Unit);
    });
    machine.fail_with(result)
}

extern "C" fn unwind(cx: *mut NativeContext, code: *const Code, pc: i64, vals: *mut Val) {
    // SAFETY: native code passes its context, and code that lives as long as it does.
    let (machine, code) = unsafe { (machine(cx), &*code) };
    machine.native.left.push(spot(code, pc as Pc));
    machine.native.failed_at = pc as Pc;
    let (_, v) = machine.window(machine.scalars.as_ptr(), vals);
    // Arguments of a call that did not begin stand behind the registers.
    machine.empty(v, v + code.native_vals());
}

extern "C" fn refuel(cx: *mut NativeContext) -> i64 {
    // SAFETY: native code passes its context.
    let machine = unsafe { machine(cx) };
    machine.state.native.answer();
    let result = machine.refuel_native();
    machine.fail_with(result)
}

extern "C" fn look_up(
    cx: *mut NativeContext,
    code: *const Code,
    header: i64,
    scalars: *mut u64,
    vals: *mut Val,
) -> i64 {
    let better = {
        // SAFETY: native code passes its context, and code that lives as long as it does.
        let (machine, code) = unsafe { (machine(cx), &*code) };
        let is_asked = machine.state.native.answer();
        if let Err(trap) = machine.refuel_native() {
            return machine.fail_with(Err(trap));
        }
        if is_asked { machine.look_up(code, Some(header as Pc)) } else { None }
    };
    let Some(better) = better else { return 0 };
    // SAFETY: as above.
    unsafe { machine(cx) }.state.replaced += 1;
    let mut result = 0;
    // SAFETY: it is code of the same function, which begins at that header, in this frame. What it calls works on
    // the machine by the pointer in the context, while nobody else does.
    let status = unsafe { better.call(cx, scalars, vals, &mut result) };
    // SAFETY: the context is there.
    unsafe { (*cx).result.set(result) };
    if status == 0 { DONE } else { LEFT }
}

extern "C" fn find_case(table: *const SwitchTable, value: *const Val) -> i64 {
    // SAFETY: native code passes a table of its code, and a register.
    let (table, value) = unsafe { (&*table, &*value) };
    let found = table.vals.iter().find(|(case, _)| egal(case, value));
    found.map_or(table.default, |&(_, to)| to).into()
}

extern "C" fn drop_last(value: *mut Val) {
    // SAFETY: native code passes a place that it writes next.
    unsafe { ptr::drop_in_place(value) };
}

extern "C" fn clear(vals: *mut Val, count: i64) {
    // SAFETY: native code passes the registers of its frame.
    let vals = unsafe { std::slice::from_raw_parts_mut(vals, count as usize) };
    vals.iter_mut().for_each(|place| assign(place, Val::Unit));
}

extern "C" fn new_vector(
    cx: *mut NativeContext,
    place: *mut Val,
    element: i64,
    rows: i64,
    undef: i64,
) -> i64 {
    let element = ElementType::builtin(Scalar::ALL[element as usize].ty());
    // SAFETY: native code passes its context, and a register of its frame.
    unsafe { new_array(machine(cx), place, element, [rows], undef != 0) }
}

extern "C" fn new_matrix(
    cx: *mut NativeContext,
    place: *mut Val,
    element: i64,
    rows: i64,
    columns: i64,
    undef: i64,
) -> i64 {
    let element = ElementType::builtin(Scalar::ALL[element as usize].ty());
    // SAFETY: as above.
    unsafe { new_array(machine(cx), place, element, [rows, columns], undef != 0) }
}

/// Puts a new array in a register, if it may be made.
///
/// # Safety
/// The register is one of a frame of the machine.
unsafe fn new_array<const N: usize>(
    machine: &Machine<'_>,
    place: *mut Val,
    element: ElementType,
    lengths: [i64; N],
    undef: bool,
) -> i64 {
    let Ok(Some(array)) = machine.new_array(element, lengths, undef) else { return 0 };
    // SAFETY: the caller says so.
    assign(unsafe { &mut *place }, array);
    1
}

extern "C" fn new_values(
    cx: *mut NativeContext,
    code: *const Code,
    pc: i64,
    place: *mut Val,
    rows: i64,
    columns: i64,
) -> i64 {
    // SAFETY: native code passes its context, and code that lives as long as it does.
    let (machine, code) = unsafe { (machine(cx), &*code) };
    // SAFETY: native code passes a register of its frame.
    unsafe {
        match array_made(machine, code, pc) {
            Some((element, 1)) => new_array(machine, place, element, [rows], false),
            Some((element, 2)) => new_array(machine, place, element, [rows, columns], false),
            _ => 0,
        }
    }
}

extern "C" fn new_filled(
    cx: *mut NativeContext,
    code: *const Code,
    pc: i64,
    place: *mut Val,
    value: *const Val,
    rows: i64,
) -> i64 {
    // SAFETY: native code passes its context, and code that lives as long as it does.
    let (machine, code) = unsafe { (machine(cx), &*code) };
    let (Some((element, 1)), Ok(rows)) = (array_made(machine, code, pc), usize::try_from(rows))
    else {
        return 0;
    };
    if machine.state.host.reserve_array(element, rows).is_err() {
        return 0;
    }
    // SAFETY: native code passes registers of its frame.
    let Ok(array) = Array::filled(element, &[rows], unsafe { &*value }) else { return 0 };
    // SAFETY: as above; the value is not looked at any more.
    assign(unsafe { &mut *place }, array.into());
    1
}

/// The type of the elements of the array that an instruction makes, and its rank.
fn array_made(machine: &Machine<'_>, code: &Code, pc: i64) -> Option<(ElementType, u8)> {
    let Inst::Eval { site } = code.insts[pc as usize] else { return None };
    let (ctx, site) = (&machine.world.ctx, &code.evals[site as usize]);
    let &TypeKind::Array { rank, .. } = ctx.kind(site.ty) else { return None };
    match site.quick {
        Quick::Alloc { element, .. } | Quick::Fill(element) => Some((element, rank)),
        _ => None,
    }
}

extern "C" fn new_copy(cx: *mut NativeContext, place: *mut Val, array: *const Val) -> i64 {
    // SAFETY: native code passes its context, and registers of its frame.
    let (machine, Val::Array(array)) = (unsafe { (machine(cx), &*array) }) else { return 0 };
    if machine.state.host.reserve_array(array.element_type(), array.len()).is_err() {
        return 0;
    }
    let copy = Val::copy_of(array);
    // SAFETY: as above; the array is not looked at any more.
    assign(unsafe { &mut *place }, copy);
    1
}

extern "C" fn push(cx: *mut NativeContext, array: *const Val, value: *const Val) -> i64 {
    // SAFETY: native code passes its context, and registers of its frame.
    let (machine, array, value) = unsafe { (machine(cx), &*array, &*value) };
    let Val::Array(array) = array else { return 0 };
    let may_grow = machine.state.host.reserve(array.push_bytes()).is_ok();
    (may_grow && array.push(value.clone()).is_ok()).into()
}

extern "C" fn new_compound(cx: *mut NativeContext, code: *const Code, pc: i64) -> *const Header {
    // SAFETY: native code passes its context, and code that lives as long as it does.
    let (machine, code) = unsafe { (machine(cx), &*code) };
    let (Inst::Eval { site } | Inst::ReturnTuple { site }) = code.insts[pc as usize] else {
        return ptr::null();
    };
    let site = &code.evals[site as usize];
    let Quick::Compound { kind, ty } = site.quick else { return ptr::null() };
    if machine.state.host.reserve_fields(site.args.len()).is_err() {
        return ptr::null();
    }
    Val::unset_compound(kind, ty, site.args.len()).into_header().unwrap_or(ptr::null())
}

extern "C" fn is_a(cx: *mut NativeContext, code: *const Code, pc: i64, value: *const Val) -> i64 {
    // SAFETY: native code passes its context, code that lives as long as it does, and a register of its frame.
    let (machine, code, value) = unsafe { (machine(cx), &*code, &*value) };
    let Inst::Eval { site } = code.insts[pc as usize] else { return 0 };
    match code.evals[site as usize].quick {
        Quick::IsA(ty) | Quick::Assert(ty) => value.is_a(&machine.world.ctx, ty).into(),
        _ => 0,
    }
}

extern "C" fn change(object: *const Val, value: *const Val) {
    // SAFETY: native code passes registers of its frame.
    match unsafe { (&*object, &*value) } {
        (Val::Object(object), value) => note_change(object, value),
        (Val::Ref(cell), value) => note_change(cell, value),
        _ => {}
    }
}

fn function(
    name: &'static str,
    address: *const u8,
    params: &'static [Arg],
    result: Option<Arg>,
) -> Function {
    Function { name, address, params, result, touches: Touches::Everything }
}

const FRAME: &[Arg] = &[Arg::Ptr, Arg::Ptr, Arg::Int, Arg::Ptr, Arg::Ptr];

/// The functions that native code calls.
pub(in crate::interp) fn runtime() -> Runtime {
    let status = Some(Arg::Int);
    Runtime {
        begin: function(
            "regraft_begin",
            begin as *const u8,
            &[Arg::Ptr, Arg::Ptr, Arg::Ptr, Arg::Ptr],
            status,
        ),
        step: function("regraft_step", step as *const u8, FRAME, status),
        fail: function("regraft_fail", fail as *const u8, FRAME, None),
        return_tuple: function("regraft_return_tuple", return_tuple as *const u8, FRAME, status),
        unwind: function(
            "regraft_unwind",
            unwind as *const u8,
            &[Arg::Ptr, Arg::Ptr, Arg::Int, Arg::Ptr],
            None,
        ),
        refuel: Function {
            touches: Touches::Context,
            ..function("regraft_refuel", refuel as *const u8, &[Arg::Ptr], status)
        },
        look_up: function("regraft_look_up", look_up as *const u8, FRAME, status),
        find_case: function(
            "regraft_find_case",
            find_case as *const u8,
            &[Arg::Ptr, Arg::Ptr],
            Some(Arg::Int),
        ),
        drop_last: function("regraft_drop_last", drop_last as *const u8, &[Arg::Ptr], None),
        clear: function("regraft_clear", clear as *const u8, &[Arg::Ptr, Arg::Int], None),
        new_vector: function(
            "regraft_new_vector",
            new_vector as *const u8,
            &[Arg::Ptr, Arg::Ptr, Arg::Int, Arg::Int, Arg::Int],
            status,
        ),
        new_matrix: function(
            "regraft_new_matrix",
            new_matrix as *const u8,
            &[Arg::Ptr, Arg::Ptr, Arg::Int, Arg::Int, Arg::Int, Arg::Int],
            status,
        ),
        new_copy: function(
            "regraft_new_copy",
            new_copy as *const u8,
            &[Arg::Ptr, Arg::Ptr, Arg::Ptr],
            status,
        ),
        new_values: function(
            "regraft_new_values",
            new_values as *const u8,
            &[Arg::Ptr, Arg::Ptr, Arg::Int, Arg::Ptr, Arg::Int, Arg::Int],
            status,
        ),
        new_filled: function(
            "regraft_new_filled",
            new_filled as *const u8,
            &[Arg::Ptr, Arg::Ptr, Arg::Int, Arg::Ptr, Arg::Ptr, Arg::Int],
            status,
        ),
        push: function("regraft_push", push as *const u8, &[Arg::Ptr, Arg::Ptr, Arg::Ptr], status),
        new_compound: function(
            "regraft_new_compound",
            new_compound as *const u8,
            &[Arg::Ptr, Arg::Ptr, Arg::Int],
            Some(Arg::Ptr),
        ),
        is_a: function(
            "regraft_is_a",
            is_a as *const u8,
            &[Arg::Ptr, Arg::Ptr, Arg::Int, Arg::Ptr],
            status,
        ),
        note_change: function(
            "regraft_note_change",
            change as *const u8,
            &[Arg::Ptr, Arg::Ptr],
            None,
        ),
    }
}
