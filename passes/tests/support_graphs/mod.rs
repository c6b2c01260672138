//! Functions that are graphs and nothing else.

use regraft_ir::Function;
use regraft_syntax::parse_module;

/// A function whose block `i` (from 1) goes to the blocks `edges[i - 1]`.
pub fn graph<T: AsRef<[usize]>>(edges: &[T]) -> Function {
    let mut text = String::from("func @f(%1: bool, %2: i64) -> unit {\n");
    for (i, targets) in edges.iter().enumerate() {
        text += &format!("^{}:\n", i + 1);
        // The entry has parameters.
        let to = |b: usize| if b == 1 { "^1(%1, %2)".to_owned() } else { format!("^{b}") };
        text += &match *targets.as_ref() {
            [] => "  return nothing\n".to_owned(),
            [a] => format!("  br {}\n", to(a)),
            [a, b] => format!("  br %1, {}, {}\n", to(a), to(b)),
            _ => panic!("at most two targets"),
        };
    }
    let module = parse_module(&regraft_dialects::context(), "graph.ir", &(text + "}\n"));
    let module = module.unwrap_or_else(|errors| panic!("{}", errors[0].render(false)));
    module.function("f").expect("it is there").clone()
}

/// Random graphs of up to 12 blocks, with unreachable blocks, endless cycles, several ends.
#[allow(dead_code, reason = "not every test needs them")]
pub fn random_graphs(count: u64) -> impl Iterator<Item = Function> {
    (0..count).map(|seed| {
        let mut state = seed;
        // SplitMix64.
        let mut below = |n: usize| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) % n as u64) as usize
        };
        let n = 1 + below(12);
        let edges: Vec<Vec<usize>> = (0..n)
            .map(|_| {
                let count = [0, 1, 1, 2, 2, 2][below(6)];
                (0..count).map(|_| 1 + below(n)).collect()
            })
            .collect();
        graph(&edges)
    })
}
