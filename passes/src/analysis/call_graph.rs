//! The call graph: which functions of a module call which.
//!
//! A call counts if there is one function that it can go to: `call @f`, and `core.apply` of a value
//! of type `fn<@f>` or of a closure struct. `core.try` calls both its body and its handler. Other
//! calls may go anywhere.
//!
//! The order from callees to callers is a depth-first postorder; functions that call each other in
//! circles are found by R. Tarjan, "Depth-First Search and Linear Graph Algorithms" (SIAM J.
//! Comput. 1972). Both are linear and not recursive (`examples/inline_speed.rs`).

use regraft_dialects::core;
use regraft_ir::{FuncId, Function, Module, Symbol, TypeKind, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A call of a function that is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallSite {
    /// The instruction.
    pub call: Value,
    /// The function that it calls: its node in the [`CallGraph`].
    pub callee: usize,
    /// The position of the first operand that is an argument: 0 for a closure, which is passed
    /// itself, 1 for a function, and 2 for body and handler of `core.try`.
    pub first_arg: usize,
}

impl CallSite {
    /// Returns whether the function is called where the instruction stands, and nothing else
    /// happens there: it is not part of a `core.try`.
    pub fn is_plain(&self) -> bool {
        self.first_arg < 2
    }
}

/// The functions of a module and the calls between them. A node is the position of a function in
/// the module.
#[derive(Clone, Debug)]
pub struct CallGraph {
    ids: Vec<FuncId>,
    nodes: FxHashMap<Symbol, usize>,
    sites: Vec<Vec<CallSite>>,
    uses: Vec<usize>,
}

impl CallGraph {
    /// Looks through all instructions. O(operands) expected.
    pub fn of(module: &Module) -> Self {
        let ids = module.ids().to_vec();
        let nodes = module.functions().zip(0..).map(|(f, node)| (f.name(), node)).collect();
        let uses = vec![0; ids.len()];
        let mut graph = Self { ids, nodes, sites: Vec::new(), uses };
        for f in module.functions() {
            let sites = graph.sites_of(f);
            graph.sites.push(sites);
        }
        graph
    }

    /// The functions, by node.
    pub fn functions(&self) -> &[FuncId] {
        &self.ids
    }

    /// The node of the function of that name.
    pub(crate) fn node(&self, name: Symbol) -> Option<usize> {
        self.nodes.get(&name).copied()
    }

    /// The calls of known functions in a function, in layout order.
    pub fn sites(&self, node: usize) -> &[CallSite] {
        &self.sites[node]
    }

    /// Returns how many operands can only be this function, whether they are called or passed on,
    /// and how many calls of closures go to it.
    pub(crate) fn uses(&self, node: usize) -> usize {
        self.uses[node]
    }

    /// Returns what `v` calls, if it is a plain call of a function that is known. `f` need not be as it
    /// was when the graph was made.
    pub(crate) fn site(&self, f: &Function, v: Value) -> Option<CallSite> {
        let op = f.op(v)?;
        if op != core::CALL && op != core::APPLY {
            return None;
        }
        let callee = f.operand_type(f.operand(v, 0)?);
        let (name, first_arg) = match *f.ctx().kind(callee) {
            TypeKind::Fn(name) => (name, 1),
            TypeKind::Struct(id) => (f.ctx().struct_def(id).call?, 0),
            _ => return None,
        };
        Some(CallSite { call: v, callee: self.node(name)?, first_arg })
    }

    fn sites_of(&mut self, f: &Function) -> Vec<CallSite> {
        let mut sites = Vec::new();
        for v in f.all_insts() {
            for operand in f.operands(v) {
                if let TypeKind::Fn(name) = *f.ctx().kind(f.operand_type(operand))
                    && let Some(callee) = self.node(name)
                {
                    self.uses[callee] += 1;
                }
            }
            if let Some(site) = self.site(f, v) {
                // A closure does not name its function.
                self.uses[site.callee] += usize::from(site.first_arg == 0);
                sites.push(site);
            } else if f.op(v) == Some(core::TRY) {
                let callees = f.operands(v).take(2).filter_map(|callee| f.const_func(callee));
                let callees: SmallVec<[usize; 2]> =
                    callees.filter_map(|name| self.node(name)).collect();
                sites.extend(callees.iter().map(|&callee| CallSite {
                    call: v,
                    callee,
                    first_arg: 2,
                }));
            }
        }
        sites
    }

    /// All nodes, each after those that it calls, but for calls that go back in a circle. O(nodes
    /// and calls).
    pub fn postorder(&self) -> Vec<usize> {
        self.components_and_postorder().1
    }

    /// The strongly connected components: functions that call each other in circles, or a single
    /// one. Each comes after those that it calls; within one, nodes are in postorder. O(nodes and
    /// calls).
    pub fn components(&self) -> Vec<Vec<usize>> {
        self.components_and_postorder().0
    }

    fn components_and_postorder(&self) -> (Vec<Vec<usize>>, Vec<usize>) {
        /// The number of a node that is in a component already.
        const CLOSED: usize = usize::MAX;
        let count = self.ids.len();
        // When a node was entered (from 1), and the first node that it is known to reach back to.
        let (mut entered, mut low) = (vec![0; count], vec![0; count]);
        let (mut time, mut postorder, mut components) = (0, Vec::with_capacity(count), Vec::new());
        // Left, but their component is not complete; they stand in postorder.
        let mut open: Vec<usize> = Vec::new();
        let mut path: Vec<(usize, usize)> = Vec::new();
        for root in 0..count {
            if entered[root] != 0 {
                continue;
            }
            path.push((root, 0));
            while let Some((node, next)) = path.last_mut() {
                let node = *node;
                if *next == 0 && entered[node] == 0 {
                    time += 1;
                    (entered[node], low[node]) = (time, time);
                }
                if let Some(site) = self.sites[node].get(*next) {
                    *next += 1;
                    match entered[site.callee] {
                        0 => path.push((site.callee, 0)),
                        CLOSED => {}
                        at => low[node] = low[node].min(at),
                    }
                    continue;
                }
                path.pop();
                postorder.push(node);
                open.push(node);
                if low[node] == entered[node] {
                    // All that were left since this node was entered belong to it.
                    let first = open.iter().rposition(|&other| entered[other] < entered[node]);
                    let component = open.split_off(first.map_or(0, |last| last + 1));
                    component.iter().for_each(|&member| entered[member] = CLOSED);
                    components.push(component);
                }
                if let Some(&(caller, _)) = path.last() {
                    low[caller] = low[caller].min(low[node]);
                }
            }
        }
        (components, postorder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(text: &str) -> CallGraph {
        let ctx = regraft_dialects::context();
        let module = regraft_syntax::parse_module(&ctx, "test.ir", text);
        CallGraph::of(&module.unwrap_or_else(|errors| panic!("{errors:?}")))
    }

    /// Functions without parameters that call others, by number.
    fn calls(callees: &[&[usize]]) -> CallGraph {
        let mut text = String::new();
        for (i, callees) in callees.iter().enumerate() {
            text += &format!("func @f{i}() -> unit {{\n^1:\n");
            for callee in *callees {
                text += &format!("  call @f{callee}()\n");
            }
            text += "  return nothing\n}\n";
        }
        graph(&text)
    }

    #[test]
    fn callees_come_first() {
        let graph = calls(&[&[1, 2], &[3], &[3], &[], &[0]]);
        assert_eq!(graph.postorder(), [3, 1, 2, 0, 4]);
        assert_eq!(graph.components(), [vec![3], vec![1], vec![2], vec![0], vec![4]]);
        assert_eq!(graph.uses(3), 2);
        assert_eq!(graph.uses(4), 0);
    }

    #[test]
    fn circles_are_one_component() {
        // 1, 2 and 3 call each other in two circles; 4 calls itself; 5 is called from the circle.
        let graph = calls(&[&[1], &[2], &[3, 5], &[1, 2], &[4, 0], &[]]);
        assert_eq!(graph.components(), [vec![5], vec![3, 2, 1], vec![0], vec![4]]);
        assert_eq!(graph.postorder(), [3, 5, 2, 1, 0, 4]);
    }

    #[test]
    fn components_are_those_of_mutual_reachability() {
        // All graphs of four nodes in which the calls are the bits of a number.
        for bits in 0..1 << 12 {
            let mut callees: Vec<Vec<usize>> = vec![Vec::new(); 4];
            let pairs = (0..4).flat_map(|a| (0..4).filter(move |&b| a != b).map(move |b| (a, b)));
            for (i, (a, b)) in pairs.enumerate() {
                if bits >> i & 1 == 1 {
                    callees[a].push(b);
                }
            }
            let slices: Vec<&[usize]> = callees.iter().map(Vec::as_slice).collect();
            let graph = bare(&slices);
            let mut reach = [[false; 4]; 4];
            for a in 0..4 {
                reach[a][a] = true;
                callees[a].iter().for_each(|&b| reach[a][b] = true);
            }
            for k in 0..4 {
                for a in 0..4 {
                    for b in 0..4 {
                        reach[a][b] |= reach[a][k] && reach[k][b];
                    }
                }
            }
            let components = graph.components();
            let home = |node: usize| components.iter().position(|c| c.contains(&node));
            for (a, b) in (0..16).map(|pair| (pair / 4, pair % 4)) {
                let together = reach[a][b] && reach[b][a];
                assert_eq!(home(a) == home(b), together, "{a} {b} in {callees:?}");
                assert!(!reach[a][b] || home(b) <= home(a), "{a} {b} in {callees:?}");
            }
        }
    }

    /// The graph alone, without a module.
    fn bare(callees: &[&[usize]]) -> CallGraph {
        let f = Function::new(&regraft_dialects::context(), "f", &[], regraft_ir::Type::UNIT);
        let call = Value::terminator(f.entry().expect("it has one"));
        let site = |&callee: &usize| CallSite { call, callee, first_arg: 1 };
        let sites = callees.iter().map(|list| list.iter().map(site).collect()).collect();
        let ids = vec![FuncId::default(); callees.len()];
        CallGraph { ids, nodes: FxHashMap::default(), sites, uses: vec![0; callees.len()] }
    }

    #[test]
    fn values_of_function_types_and_closures_are_calls_of_their_functions() {
        let graph = graph(
            "struct @Adder { k: i64 } call @add_k
func @f(%1: fn<@g>, %2: @Adder, %3: any) -> any {
^1:
  %4: i64 = core.apply %1, 1
  %5: i64 = core.apply %2, 1
  %6: any = core.apply %3, 1
  return %6
}
func @g(%1: i64) -> i64 {
^1:
  return %1
}
func @add_k(%1: @Adder, %2: i64) -> i64 {
^1:
  return %2
}
",
        );
        let sites: Vec<(usize, usize)> =
            graph.sites(0).iter().map(|site| (site.callee, site.first_arg)).collect();
        assert_eq!(sites, [(1, 1), (2, 0)]);
        assert_eq!((graph.uses(1), graph.uses(2)), (1, 1));
    }
}
