//! The objects that commands print with `--json`: modules, reports, diagnostics, passes and ops.
//!
//! Names of keys are part of the contract with scripts; they are described in
//! `docs/command-line.md`.

use std::time::Duration;

use regraft_ir::{
    Diagnostic, Dialect, Edge, Function, Module, OpDef, Operand, OperandKind, Registry, Severity,
    Value,
};
use regraft_passes::{Explanation, NamedPipeline, OptionDef, PassInfo, PassKind, Report, Setting};
use serde_json::{Map, Value as Json, json};

/// A module: its structs and its functions.
pub(super) fn module(module: &Module) -> Map<String, Json> {
    let ctx = module.ctx();
    let structs = module.structs().iter().map(|&(id, _)| {
        let def = ctx.struct_def(id);
        let field =
            |&(name, ty): &(_, _)| json!({"name": ctx.str(name), "type": ctx.type_text(ty)});
        json!({
            "name": ctx.str(def.name),
            "mutable": def.mutable,
            "fields": def.fields.iter().map(field).collect::<Vec<_>>(),
        })
    });
    let mut object = Map::new();
    object.insert("structs".to_owned(), structs.collect());
    object.insert("functions".to_owned(), module.functions().map(function).collect());
    object
}

fn function(f: &Function) -> Json {
    let ctx = f.ctx();
    let block = |b| {
        let params =
            f.params(b).map(|v| json!({"value": f.value_text(v), "type": ctx.type_text(f.ty(v))}));
        let terminator = f.terminator(b).map(|v| {
            let mut object = inst(f, v);
            object.insert(
                "edges".to_owned(),
                f.out_edges(b).map(|edge| self::edge(f, edge)).collect(),
            );
            object
        });
        json!({
            "block": format!("{b}"),
            "parameters": params.collect::<Vec<_>>(),
            "instructions": f.body(b).map(|v| Json::Object(defining(f, v))).collect::<Vec<_>>(),
            "terminator": terminator,
        })
    };
    json!({
        "name": f.name_str(),
        "parameters": f.param_types().iter().map(|&ty| ctx.type_text(ty)).collect::<Vec<_>>(),
        "result": ctx.type_text(f.ret_type()),
        "blocks": f.blocks().map(block).collect::<Vec<_>>(),
    })
}

/// An instruction with the value that it defines.
fn defining(f: &Function, v: Value) -> Map<String, Json> {
    let mut object = Map::new();
    object.insert("value".to_owned(), json!(f.value_text(v)));
    object.insert("type".to_owned(), json!(f.ctx().type_text(f.ty(v))));
    object.append(&mut inst(f, v));
    object
}

fn inst(f: &Function, v: Value) -> Map<String, Json> {
    let ctx = f.ctx();
    let operands = f.plain_operands(v).map(|operand| json!(f.operand_text(operand)));
    let mut object = Map::new();
    object.insert("op".to_owned(), json!(f.op_def(v).map(|def| def.name)));
    object.insert("operands".to_owned(), operands.collect());
    let attrs = ctx.attr_entries(f.attrs(v));
    if !attrs.is_empty() {
        let text = |&(name, constant): &(_, _)| {
            (ctx.str(name).to_owned(), json!(ctx.constant_text(ctx.constant(constant))))
        };
        object.insert("attributes".to_owned(), Json::Object(attrs.iter().map(text).collect()));
    }
    object
}

fn edge(f: &Function, edge: Edge) -> Json {
    let plain = |operand: &Operand| !matches!(operand.kind(), OperandKind::Block(_));
    let arguments = f.edge_args(edge).filter(plain).map(|operand| f.operand_text(operand));
    json!({"block": format!("{}", f.edge_target(edge)), "arguments": arguments.collect::<Vec<_>>()})
}

/// Returns the counts of the passes of a pipeline.
pub(super) fn statistics(report: &Report) -> Json {
    let passes = report.passes.iter().map(|pass| {
        let counts = pass.counts.iter().map(|(&what, &n)| (what.to_owned(), json!(n)));
        json!({
            "pass": pass.pass,
            "ran": pass.calls,
            "changed": pass.changed,
            "counts": Json::Object(counts.collect()),
        })
    });
    json!({
        "passes": passes.collect::<Vec<_>>(),
        "analyses_computed": report.analyses_computed,
        "analyses_reused": report.analyses_reused,
        "unsettled": report.unsettled,
    })
}

/// Returns the times of the passes of a pipeline, in milliseconds.
/// The reasons why values were replaced.
pub(super) fn explanations(all: &[Explanation]) -> Json {
    let object = |one: &Explanation| {
        json!({
            "pass": one.pass,
            "function": one.function,
            "value": one.value.to_string(),
            "text": one.text,
        })
    };
    all.iter().map(object).collect()
}

pub(super) fn times(report: &Report) -> Json {
    let passes = report.passes.iter().map(|pass| json!({"pass": pass.pass, "ms": ms(pass.time)}));
    json!({
        "passes": passes.collect::<Vec<_>>(),
        "copying_ms": ms(report.copying),
        "observing_ms": ms(report.observing),
        "wall_ms": ms(report.wall),
    })
}

/// A time in milliseconds.
pub(super) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Errors and warnings.
pub(super) fn diagnostics(diagnostics: &[Diagnostic]) -> Json {
    diagnostics.iter().map(diagnostic).collect()
}

fn diagnostic(diagnostic: &Diagnostic) -> Json {
    let severity = match diagnostic.severity() {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let label = |label: &regraft_ir::Label| json!({"start": label.span.start, "end": label.span.end, "text": label.text});
    json!({
        "severity": severity,
        "message": diagnostic.message(),
        "source": diagnostic.source_name(),
        "labels": diagnostic.labels().iter().map(label).collect::<Vec<_>>(),
        "notes": diagnostic.notes(),
        "help": diagnostic.help_text(),
    })
}

/// A pass with its options.
pub(super) fn pass(info: &PassInfo) -> Json {
    let kind = match info.kind {
        PassKind::Function => "function",
        PassKind::Loop => "loop",
        PassKind::Module => "module",
    };
    json!({
        "name": info.name,
        "kind": kind,
        "summary": info.summary(),
        "options": info.options.iter().map(option).collect::<Vec<_>>(),
        "page": info.page(),
    })
}

fn option(def: &OptionDef) -> Json {
    let default = match def.default_setting() {
        Setting::Flag(on) => json!(on),
        Setting::Int(n) => json!(n),
        Setting::Float(x) => json!(x),
        Setting::Text(text) => json!(text),
    };
    json!({"name": def.name, "takes": def.kind.to_string(), "default": default, "doc": def.doc})
}

/// A pipeline that has a name.
pub(super) fn pipeline(pipeline: &NamedPipeline) -> Json {
    json!({"name": pipeline.name, "summary": pipeline.summary(), "pipeline": pipeline.text})
}

/// A dialect with its ops.
pub(super) fn dialect(dialect: &Dialect) -> Json {
    json!({
        "name": dialect.name,
        "doc": dialect.doc.trim(),
        "ops": dialect.ops.iter().map(op).collect::<Vec<_>>(),
    })
}

/// All dialects.
pub(super) fn dialects(ops: &Registry) -> Json {
    json!({"dialects": ops.dialects().map(dialect).collect::<Vec<_>>()})
}

/// An op as it is declared.
pub(super) fn op(def: &OpDef) -> Json {
    let traits = def.traits.iter_names().map(|(name, _)| name.to_lowercase().replace('_', " "));
    let attrs = def.attrs.iter().map(|attr| json!({"name": attr.name, "required": attr.required}));
    json!({
        "name": def.name,
        "signature": def.signature(),
        "written": def.mnemonic(),
        "operands": def.operands.iter().map(|operand| operand.name).collect::<Vec<_>>(),
        "variadic": def.variadic,
        "traits": traits.collect::<Vec<_>>(),
        "attributes": attrs.collect::<Vec<_>>(),
        "doc": def.doc.trim(),
    })
}
