//! The format of pprof: `profile.proto`, as it is before compression, which its tools read too.
//!
//! It needs three of the encodings of protocol buffers (numbers, texts, messages), so they stand
//! here; a library for them would bring a compiler of schemas along.

use regraft_exec::Profile;
use regraft_ir::{Context, Symbol};
use rustc_hash::FxHashMap;

use super::place;

/// A message of protocol buffers.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(&mut self, field: u64, value: u64) {
        self.varint(field << 3);
        self.varint(value);
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn numbers(&mut self, field: u64, values: impl Iterator<Item = u64>) {
        let mut packed = Self::default();
        values.for_each(|value| packed.varint(value));
        self.bytes(field, &packed.0);
    }
}

/// The texts of a profile, which its messages name by number; the first is empty.
#[derive(Default)]
struct Texts {
    all: Vec<String>,
    numbers: FxHashMap<String, u64>,
}

impl Texts {
    fn number(&mut self, text: &str) -> u64 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.all.len() as u64;
        self.all.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }
}

/// A profile in the format of pprof. Its samples are chains of calls, with the number of calls and
/// the time in nanoseconds that was spent in the innermost function itself.
pub fn pprof(ctx: &Context, profile: &Profile) -> Vec<u8> {
    let mut out = Message::default();
    let mut texts = Texts::default();
    texts.number("");
    for (name, unit) in [("calls", "count"), ("time", "nanoseconds")] {
        let mut value_type = Message::default();
        value_type.number(1, texts.number(name));
        value_type.number(2, texts.number(unit));
        out.bytes(1, &value_type.0);
    }
    let mut functions: FxHashMap<Symbol, u64> = FxHashMap::default();
    for node in &profile.nodes {
        let count = functions.len() as u64;
        functions.entry(node.event).or_insert(count + 1);
    }
    for (i, node) in profile.nodes.iter().enumerate() {
        let chain = std::iter::successors(Some(i), |&i| profile.nodes[i].parent);
        let mut sample = Message::default();
        sample.numbers(1, chain.map(|i| functions[&profile.nodes[i].event]));
        sample.numbers(2, [node.calls, node.own.round() as u64].into_iter());
        out.bytes(2, &sample.0);
    }
    let mut by_number: Vec<(u64, Symbol)> =
        functions.iter().map(|(&event, &number)| (number, event)).collect();
    by_number.sort_unstable();
    for (number, event) in by_number {
        let at = profile.definitions.get(&event).and_then(|&loc| place(ctx, loc));
        let line_number = at.as_ref().map_or(0, |place| u64::from(place.line));
        // A place in the code for each function.
        let (mut line, mut location) = (Message::default(), Message::default());
        line.number(1, number);
        line.number(2, line_number);
        location.number(1, number);
        location.bytes(4, &line.0);
        out.bytes(4, &location.0);
        let mut function = Message::default();
        let name = texts.number(ctx.str(event));
        function.number(1, number);
        function.number(2, name);
        function.number(3, name);
        function.number(4, texts.number(at.as_ref().map_or("", |place| &place.file)));
        function.number(5, line_number);
        out.bytes(5, &function.0);
    }
    out.number(10, profile.total().round() as u64);
    for text in &texts.all {
        out.bytes(6, text.as_bytes());
    }
    out.0
}
