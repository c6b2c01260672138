//! Flame graphs.

use inferno::flamegraph::{self, Options};
use regraft_exec::Profile;
use regraft_ir::Context;

/// A profile as a flame graph (SVG): a frame for each chain of calls, as wide as the time in it.
///
/// # Errors
/// If there is no time in it at all.
pub fn flame_graph(ctx: &Context, profile: &Profile, title: &str) -> Result<String, String> {
    let mut stacks: Vec<String> = Vec::with_capacity(profile.nodes.len());
    let mut lines = Vec::with_capacity(profile.nodes.len());
    for node in &profile.nodes {
        // A semicolon separates frames.
        let name = ctx.str(node.event).replace(';', ",");
        let stack = match node.parent {
            Some(parent) => format!("{};{name}", stacks[parent]),
            None => name,
        };
        let own = node.own.round();
        if own >= 1.0 {
            lines.push(format!("{stack} {own:.0}"));
        }
        stacks.push(stack);
    }
    let mut options = Options::default();
    options.title = title.to_owned();
    options.count_name = "ns".to_owned();
    let mut svg = Vec::new();
    flamegraph::from_lines(&mut options, lines.iter().map(String::as_str), &mut svg)
        .map_err(|_| "no function took any time".to_owned())?;
    Ok(String::from_utf8_lossy(&svg).into_owned())
}
