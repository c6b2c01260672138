//! The tape plan as text, and its size.

use std::fmt::Write as _;

use regraft_ir::{Context, Function, Type, TypeKind, Value};
use regraft_passes::analysis::LoopForest;

use super::{Source, TapePlan, positions};

impl TapePlan {
    /// The plan as text: a line for each value of `f`, in program order.
    pub(in super::super) fn describe(&self, f: &Function, forest: &LoopForest) -> String {
        let mut out = String::new();
        let places = positions(f, f.blocks());
        let mut order: Vec<Value> = self.decided.clone();
        order.sort_unstable_by_key(|&v| places[v.index()]);
        let (mut per_iteration, mut once) = (0, 0);
        for v in order {
            let Some(decision) = self.of(v) else { continue };
            let bytes = bytes_of(f.ctx(), f.ty(v));
            let text = match &decision.source {
                Source::Saved => {
                    once += bytes;
                    format!("kept once, {}", counted(bytes))
                }
                Source::Affine(poly) => {
                    format!("recomputed: {}", poly.text(f, forest))
                }
                Source::Summed(sum) => {
                    let (base, step) = (sum.base.text(f, forest), sum.step.text(f, forest));
                    format!("recomputed: {base} + sum of {step}")
                }
                Source::Recomputed => "recomputed".to_owned(),
                Source::Made(_) => "made by the reverse sweep".to_owned(),
                &Source::Stored(store) => {
                    let array = f.operand(store, 0).map(|array| f.operand_text(array));
                    format!("an element of {}", array.unwrap_or_default())
                }
                Source::CachedPerIteration { loops, .. } => {
                    per_iteration += bytes;
                    let over: Vec<String> =
                        loops.iter().map(|&l| forest.get(l).header.to_string()).collect();
                    format!("array over {}, {} an iteration", over.join(", "), counted(bytes))
                }
                Source::Stack => {
                    per_iteration += bytes;
                    format!("stack, {} each time", counted(bytes))
                }
            };
            let ty = f.ctx().type_text(f.ty(v));
            let name = f.value_text(v);
            let _ = writeln!(out, "{name}: {ty}  {text} ({})", decision.why);
        }
        let (once, per_iteration) = (counted(once), counted(per_iteration));
        let _ = writeln!(out, "kept: {once} once, {per_iteration} an iteration");
        out
    }

    /// The bytes that are kept in each iteration of innermost loops.
    pub(in super::super) fn bytes_per_iteration(&self, f: &Function) -> usize {
        self.kept_in_loops().map(|v| bytes_of(f.ctx(), f.ty(v))).sum()
    }
}

/// The bytes that a value takes where it is kept; objects are pointers.
pub(in super::super) fn bytes_of(ctx: &Context, ty: Type) -> usize {
    match ty {
        Type::UNIT => 0,
        Type::BOOL | Type::I8 => 1,
        Type::I16 => 2,
        Type::I32 | Type::F32 => 4,
        Type::ANY => 16,
        _ => match ctx.kind(ty) {
            TypeKind::Tuple(parts) => parts.iter().map(|&part| bytes_of(ctx, part)).sum(),
            TypeKind::Named(fields) => fields.iter().map(|&(_, part)| bytes_of(ctx, part)).sum(),
            &TypeKind::Struct(id) if !ctx.struct_def(id).mutable => {
                ctx.struct_def(id).fields.iter().map(|&(_, part)| bytes_of(ctx, part)).sum()
            }
            TypeKind::Fn(_) | TypeKind::Val(_) | TypeKind::TypeOf(_) => 0,
            _ => 8,
        },
    }
}

/// A number of bytes as text.
fn counted(bytes: usize) -> String {
    if bytes == 1 { "1 byte".to_owned() } else { format!("{bytes} bytes") }
}
