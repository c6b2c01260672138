//! The compact form as text: one instruction a line, scalar registers as `s3`, those of values as `v3`,
//! positions as `@3`.

use std::fmt::Write;

use regraft_ir::Context;

use super::code::Code;
use super::inst::{Arg, Inst};
use super::register::{Dst, Src};
use crate::value::show_string;

/// Writes a function; `name_of` says the names of those in slots of the world.
pub(super) fn print(code: &Code, ctx: &Context, name_of: &dyn Fn(u32) -> String) -> String {
    let printer = Printer { code, ctx, name_of };
    let params: Vec<String> = code.params.iter().map(|&ty| ctx.type_text(ty)).collect();
    let (params, ret) = (params.join(", "), ctx.type_text(code.ret));
    let (name, scalars, vals) = (ctx.str(code.name), code.scalar_regs, code.val_regs);
    let mut text = format!("func {name}({params}) -> {ret}: {scalars} scalars, {vals} values\n");
    for (reg, (&slot, class)) in (code.scalar_params..)
        .zip(code.scalars.iter().zip(&code.classes[code.scalar_params as usize..]))
    {
        let value = match class {
            super::Class::Int => (slot as i64).to_string(),
            super::Class::Single => format!("{:?}f32", f32::from_bits(slot as u32)),
            super::Class::Double => format!("{:?}", f64::from_bits(slot)),
        };
        let _ = writeln!(text, "  s{reg} = {value}");
    }
    for (pc, &inst) in code.insts.iter().enumerate() {
        let _ = writeln!(text, "  @{pc:<4} {}", printer.inst(inst));
    }
    text
}

struct Printer<'a> {
    code: &'a Code,
    ctx: &'a Context,
    name_of: &'a dyn Fn(u32) -> String,
}

impl Printer<'_> {
    fn inst(&self, inst: Inst) -> String {
        let code = self.code;
        match inst {
            Inst::Scalar { function, d, a, b, c } => {
                let function = code.functions[usize::from(function)];
                let operands = [a, b.into(), c.into()].map(|reg| format!("s{reg}"));
                let operands = operands[..usize::from(function.operands)].join(", ");
                let (op, ty) = (function.op, function.ty.ty());
                let ty = self.ctx.type_text(ty);
                format!("s{d} = {} {ty} {operands}", self.ctx.def(op).name)
            }
            Inst::LoadConst { vd, index } => format!("v{vd} = {}", self.constant(index)),
            Inst::ReturnConst { index } => format!("return {}", self.constant(index)),
            Inst::Eval { site } => {
                let site = &code.evals[site as usize];
                format!("{}{} {}", set(site.dst), site.def.name, self.srcs(&site.args))
            }
            Inst::ReturnTuple { site } => {
                format!("return ({})", self.srcs(&code.evals[site as usize].args))
            }
            Inst::Call { site } => {
                let site = &code.calls[site as usize];
                let args: Vec<String> = site.args.iter().map(|&arg| self.arg(arg)).collect();
                let callee = (self.name_of)(site.callee);
                format!("{}call {callee}({})", set(site.dst), args.join(", "))
            }
            Inst::Apply { site } => {
                let site = &code.applies[site as usize];
                format!("{}apply {}", set(site.dst), self.srcs(&site.args))
            }
            Inst::Switch { a, table } => {
                let table = &code.switches[table as usize];
                let cases =
                    table.scalars.iter().map(|(case, to)| format!("{}: @{to}", *case as i64));
                let cases: Vec<String> = cases.collect();
                format!("switch s{a} [{}] @{}", cases.join(", "), table.default)
            }
            Inst::SwitchVal { va, table } => {
                let table = &code.switches[table as usize];
                let show = |value| show_string(self.ctx, value);
                let cases = table.vals.iter().map(|(case, to)| format!("{}: @{to}", show(case)));
                let cases: Vec<String> = cases.collect();
                format!("switch v{va} [{}] @{}", cases.join(", "), table.default)
            }
            inst => plain(&format!("{inst:?}")),
        }
    }

    fn constant(&self, index: u32) -> String {
        show_string(self.ctx, &self.code.vals[index as usize])
    }

    fn src(&self, src: Src) -> String {
        match src {
            Src::Scalar(_, reg) => format!("s{reg}"),
            Src::Val(reg) => format!("v{reg}"),
            Src::Last(reg) => format!("last v{reg}"),
            Src::Const(index) => self.constant(index),
            Src::Unit => "nothing".to_owned(),
        }
    }

    fn srcs(&self, srcs: &[Src]) -> String {
        srcs.iter().map(|&src| self.src(src)).collect::<Vec<_>>().join(", ")
    }

    fn arg(&self, arg: Arg) -> String {
        match arg {
            Arg::Scalar(reg) => format!("s{reg}"),
            Arg::Val(src) => self.src(src),
            Arg::Unbox(ty, reg) => format!("unbox {} v{reg}", self.ctx.type_text(ty.ty())),
            Arg::Check(src, ty) => {
                format!("check {} {}", self.ctx.type_text(ty), self.src(src))
            }
        }
    }
}

/// The left side of an instruction whose result goes there.
fn set(dst: Dst) -> String {
    match dst {
        Dst::Scalar(_, reg) => format!("s{reg} = "),
        Dst::Val(reg) => format!("v{reg} = "),
        Dst::Nowhere => String::new(),
    }
}

/// An instruction of which its debug text says all: `AddI { d: 1, a: 2, b: 3 }` is `s1 = add-i s2, s3`.
fn plain(debug: &str) -> String {
    let (name, fields) = debug.split_once(" { ").unwrap_or((debug, ""));
    let (mut result, mut operands, mut last) = (String::new(), Vec::new(), None);
    for field in fields.trim_end_matches(" }").split(", ") {
        let Some((name, value)) = field.split_once(": ") else { continue };
        match name {
            "d" => result = format!("s{value} = "),
            "vd" => result = format!("v{value} = "),
            "a" | "b" | "i" | "condition" => operands.push(format!("s{value}")),
            "j" => last = Some(format!("s{value}")),
            "va" | "vb" => operands.push(format!("v{value}")),
            "to" => operands.push(format!("@{value}")),
            _ => operands.push(value.to_lowercase()),
        }
    }
    operands.extend(last);
    let mut kebab = String::new();
    for (at, c) in name.char_indices() {
        if c.is_uppercase() && at > 0 {
            kebab.push('-');
        }
        kebab.extend(c.to_lowercase());
    }
    let space = if operands.is_empty() { "" } else { " " };
    format!("{result}{kebab}{space}{}", operands.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_read_as_assignments() {
        let text = |inst: Inst| plain(&format!("{inst:?}"));
        assert_eq!(text(Inst::AddI { d: 1, a: 2, b: 3 }), "s1 = add-i s2, s3");
        assert_eq!(text(Inst::LoadF2 { j: 4, d: 1, va: 2, i: 3 }), "s1 = load-f2 v2, s3, s4");
        assert_eq!(text(Inst::JumpLtImm { a: 1, imm: -5, to: 9 }), "jump-lt-imm s1, -5, @9");
        assert_eq!(text(Inst::ReturnUnit), "return-unit");
    }
}
