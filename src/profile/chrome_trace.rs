//! The trace event format of Chrome, which Perfetto reads as well.

use regraft_exec::Profile;
use regraft_exec::profiler::Edge;
use regraft_ir::Context;
use serde_json::{Map, Value, json};

use super::place;

/// The log of a profile as an object of the trace event format: an event of phase `B` where one
/// starts, of phase `E` where it ends, times in microseconds. The time that recording took is part
/// of it.
pub fn chrome_trace(ctx: &Context, profile: &Profile) -> Value {
    let events = profile.log.iter().map(|&(time, event, edge)| {
        let mut object = Map::new();
        object.insert("name".to_owned(), json!(ctx.str(event)));
        object.insert("ph".to_owned(), json!(if edge == Edge::Stop { "E" } else { "B" }));
        object.insert("ts".to_owned(), json!(time / 1e3));
        object.insert("pid".to_owned(), json!(1));
        object.insert("tid".to_owned(), json!(1));
        if let Edge::Start(call) = edge
            && let Some(place) = place(ctx, call)
        {
            object.insert("args".to_owned(), json!({ "called from": place.to_string() }));
        }
        Value::Object(object)
    });
    json!({ "displayTimeUnit": "ns", "traceEvents": events.collect::<Vec<_>>() })
}
