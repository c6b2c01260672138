//! The size of a program.

use regraft_ir::{Function, Module, Traits, Type};
use regraft_passes::Analyses;
use regraft_passes::analysis::{Latencies, LoopForest};

/// The size of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Size {
    /// Pure instructions.
    pub ops: u64,
    /// Pure instructions that compute a float.
    pub float_ops: u64,
    /// The cycles that pure instructions take, eight times for each loop around them.
    pub latency: u64,
}

impl Size {
    /// Of all functions of a module.
    pub fn of(module: &Module) -> Self {
        let mut size = Self::default();
        module.functions().for_each(|f| size.add(f));
        size
    }

    fn add(&mut self, f: &Function) {
        let latencies: &Latencies = f.ctx().extensions().get();
        let forest = Analyses::default().get::<LoopForest>(f);
        for block in f.blocks() {
            let factor = 1 << (3 * forest.depth(block));
            for v in f.body(block) {
                let Some(def) = f.op_def(v).filter(|def| def.traits.contains(Traits::PURE)) else {
                    continue;
                };
                self.ops += 1;
                self.float_ops += u64::from(f.ty(v) == Type::F64);
                self.latency += u64::from(latencies.of(def.op, f.ty(v))) * factor;
            }
        }
    }

    /// The pure instructions and the latency for each of another program.
    pub fn beside(self, base: Self) -> [f64; 2] {
        let ratio = |x: u64, y: u64| if y == 0 { 1.0 } else { x as f64 / y as f64 };
        [ratio(self.ops, base.ops), ratio(self.latency, base.latency)]
    }
}

/// The geometric mean of some ratios.
pub fn mean(ratios: impl IntoIterator<Item = f64>) -> f64 {
    let logs: Vec<f64> = ratios.into_iter().map(f64::ln).collect();
    (logs.iter().sum::<f64>() / logs.len() as f64).exp()
}
