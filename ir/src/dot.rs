//! The control flow graph of a function as Graphviz text.
//!
//! One box for each block, with its parameters and instructions as the printer writes them; one
//! arrow for each edge, with the arguments that it passes. The text is the same in every run:
//! blocks and edges come in the order of the function.
//!
//! ```text
//! digraph "pow" {
//!   node [shape=box, fontname="monospace"];
//!   edge [fontname="monospace"];
//!   "^1" [label="^1:\l  br ^2(%2, 1.0)\l"];
//!   "^1" -> "^2" [label="(%2, 1.0)"];
//! }
//! ```
//!
//! O(size of the text).

use std::fmt::Write;

use crate::{Block, Edge, Function, Type, print_inst};

/// The control flow graph of `f` in the language of Graphviz, for `dot -Tsvg`.
///
/// A broken function is drawn as far as it goes: an edge to a block that is not there is left
/// out, and a block without a terminator says so.
pub fn cfg_to_dot(f: &Function) -> String {
    let mut out = String::with_capacity(64 * f.value_count() + 256);
    let _ = writeln!(out, "digraph {} {{", quoted(f.name_str()));
    out.push_str("  node [shape=box, fontname=\"monospace\"];\n");
    out.push_str("  edge [fontname=\"monospace\"];\n");
    for block in f.blocks() {
        let _ = writeln!(out, "  {} [label={}];", node(block), quoted(&block_text(f, block)));
    }
    for block in f.blocks() {
        for (i, edge) in f.out_edges(block).enumerate() {
            let target = f.edge_target(edge);
            if !f.is_live_block(target) {
                continue;
            }
            let _ = write!(out, "  {} -> {}", node(block), node(target));
            let label = edge_text(f, block, edge, i);
            if !label.is_empty() {
                let _ = write!(out, " [label={}]", quoted(&label));
            }
            out.push_str(";\n");
        }
    }
    out.push_str("}\n");
    out
}

fn node(block: Block) -> String {
    format!("\"^{}\"", block.number())
}

/// A block as it is printed in a function.
fn block_text(f: &Function, block: Block) -> String {
    let mut text = format!("^{}", block.number());
    let params: Vec<String> = f.params(block).map(|v| print_inst(f, v)).collect();
    if !params.is_empty() {
        let _ = write!(text, "({})", params.join(", "));
    }
    text.push_str(":\n");
    for v in f.insts(block) {
        let _ = writeln!(text, "  {}", print_inst(f, v));
    }
    if f.terminator(block).is_none() {
        text.push_str("  (no terminator)\n");
    }
    text
}

/// The arguments of an edge; of the two edges of a condition also which of them it is.
fn edge_text(f: &Function, block: Block, edge: Edge, index: usize) -> String {
    let args: Vec<String> = f.edge_args(edge).map(|x| f.operand_text(x)).collect();
    let mut text = String::new();
    if is_condition(f, block) {
        text.push_str(if index == 0 { "true" } else { "false" });
    }
    if !args.is_empty() {
        let space = if text.is_empty() { "" } else { " " };
        let _ = write!(text, "{space}({})", args.join(", "));
    }
    text
}

/// Returns whether a block ends with a choice of two by one truth value (in untyped code, by
/// anything).
fn is_condition(f: &Function, block: Block) -> bool {
    let Some(v) = f.terminator(block) else { return false };
    let mut operands = f.plain_operands(v);
    let decides = operands.next().map(|x| f.operand_type(x));
    f.out_edges(block).count() == 2
        && operands.next().is_none()
        && matches!(decides, Some(Type::BOOL | Type::ANY))
}

/// A text in the quotes of Graphviz, its lines set to the left.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\l"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{context, pow};

    #[test]
    fn a_loop_is_drawn_with_what_its_edges_pass_and_which_way_is_which() {
        let dot = cfg_to_dot(&pow(&context()));
        let edges: Vec<&str> =
            dot.lines().map(str::trim).filter(|line| line.contains("->")).collect();
        let expected = [
            r#""^1" -> "^2" [label="(%2, 1.0)"];"#,
            r#""^2" -> "^3" [label="true"];"#,
            r#""^2" -> "^4" [label="false"];"#,
            r#""^3" -> "^2" [label="(%6, %7)"];"#,
        ];
        assert_eq!(edges, expected);
        assert!(dot.starts_with("digraph \"pow\" {\n"));
        let exit = r#"  "^4" [label="^4:\l  return %4\l"];"#;
        assert!(dot.lines().any(|line| line == exit), "{dot}");
    }

    #[test]
    fn what_graphviz_would_misread_is_escaped() {
        assert_eq!(quoted("a \"b\" \\n\nc"), r#""a \"b\" \\n\lc""#);
    }
}
