//! A recording profiler, as an exercise in inserting statements: around each call and operation
//! of a function goes a record of its start and one of its end.
//!
//! It is written twice, by inserting into the function and by copying it through a pipe; both
//! give the same function, statement for statement.

use regraft::prelude::*;

/// Returns the name under which an instruction is timed. Calls are timed, and operations that compute
/// something; the recording itself and terminators are not.
fn event(f: &Function, statement: &Inst) -> Option<Symbol> {
    let def = f.ctx().def(statement.op());
    if def.is_terminator() || def.dialect_name() == "prof" {
        return None;
    }
    if statement.op() == core::CALL {
        return f.const_func(*statement.operand_list().first()?);
    }
    let (_, name) = def.name.split_once('.')?;
    Some(f.ctx().symbol(name))
}

/// Inserts the records into the function.
///
/// # Errors
/// The errors of the insertions.
pub fn profile(f: &mut Function) -> IrResult<()> {
    let statements: Vec<Value> = f.all_insts().collect();
    for v in statements {
        let Some(event) = event(f, &f.statement(v)) else { continue };
        let event = f.constant_id(Constant::Sym(event));
        f.insert(v, prof::record_start(event))?;
        f.insert_after(v, prof::record_end(event))?;
    }
    Ok(())
}

/// Copies the function through a pipe, with the records.
///
/// # Errors
/// The errors of the pipe.
pub fn profile_by_pipe(f: &Function) -> IrResult<Function> {
    let mut pipe = Pipe::new(f);
    while let Some((v, statement)) = pipe.next() {
        let Some(event) = event(f, &statement) else { continue };
        let event = f.constant_id(Constant::Sym(event));
        pipe.insert(v, prof::record_start(event))?;
        pipe.push(prof::record_end(event))?;
    }
    pipe.finish()
}

/// The numbers of the statements of a function in the order in which they stand, without
/// terminators.
pub fn statement_order(f: &Function) -> Vec<u32> {
    f.blocks().flat_map(|b| f.body(b)).map(Value::number).collect()
}
