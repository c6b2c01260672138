//! Puts the code of small functions in the place of their calls.
//!
//! ```text
//! func @clamp(%1: i64) -> i64 {
//! ^1:
//!   %2: bool = arith.lt %1, 0
//!   br %2, ^2, ^3
//! ^2:
//!   return 0
//! ^3:
//!   return %1
//! }
//! func @f(%1: i64) -> i64 {            func @f(%1: i64) -> i64 {
//! ^1:                                  ^1:
//!   %2: i64 = call @clamp(%1)            %5: bool = arith.lt %1, 0
//!   %3: i64 = arith.add %2, 1      =>    br %5, ^3, ^4
//!   return %3                          ^3:
//! }                                      br ^2(0)
//!                                      ^4:
//!                                        br ^2(%1)
//!                                      ^2(%4: i64):
//!                                        %3: i64 = arith.add %4, 1
//!                                        return %3
//!                                      }
//! ```
//!
//! # Method
//! Functions are visited in depth-first postorder of the call graph, callees before callers, so
//! that a callee is as it is going to stay when its size is judged (the order of R. Scheifler, "An
//! Analysis of Inline Substitution for a Structured Programming Language", CACM 1977). A call is
//! replaced if the callee was visited before, does not call itself, can return, and is small
//! enough: at most `always` instructions; or at most `max-size` (`once`, if there is no other
//! use of it; `in-loop`, if it has no loop and is called in one) while the caller has not grown by more than
//! `growth` instructions and its own size.
//! Instructions of cold blocks, which end in an error, do not count; calls in cold blocks stay,
//! since what is small is not made larger for the sake of what hardly ever runs. A function with
//! the attribute `inline` is inlined always (`{inline=true}`) or never (`{inline=false}`).
//!
//! Calls by name count, and `core.apply` of what can only be one function: a value of type
//! `fn<@f>`, or a closure struct, which is passed to its function. Calls that pass what does not
//! fit stay, and report their error.
//!
//! # Why it is right
//! Arguments, which are evaluated already, take the place of parameters, and what is returned that
//! of the call. Of functions that call each other in a circle, the one that the walk left first
//! goes into the others, and one that calls itself goes nowhere, so that this ends. A value that
//! was passed or returned as `any` stays one (`core.convert`), as the code behind it may look at
//! its type when it runs. Each copied instruction keeps its place in the source, and that of
//! the call is added ([`Location::Inlined`](regraft_ir::Location)); the mark `{inbounds=true}` of
//! a call goes over to the array accesses that stand in its place.
//!
//! Functions that nobody calls any more stay.
//!
//! # Cost
//! O(instructions + instructions made) expected: the calls of a block are replaced from the last
//! to the first, so that what stands behind each is moved once.

mod splice;

use regraft_ir::{Block, Constant, ControlFlow, Function, IrResult, Module, Type};

use crate::analysis::{Analyses, CallGraph, CallSite, LoopForest};
use crate::options::{OptionDef, Options};
use crate::{ModulePass, PassContext, PassResult};
use splice::{Scratch, Template, splice};

crate::pass! {
    /// Puts the code of small functions in the place of their calls.
    ///
    /// ```text
    /// func @square(%1: f64) -> f64 {
    /// ^1:
    ///   %2: f64 = arith.mul %1, %1
    ///   return %2
    /// }
    /// func @f(%1: f64) -> f64 {             func @f(%1: f64) -> f64 {
    /// ^1:                                   ^1:
    ///   %2: f64 = call @square(%1)            %4: f64 = arith.mul %1, %1
    ///   %3: f64 = math.exp %2          =>     %3: f64 = math.exp %4
    ///   return %3                             return %3
    /// }                                     }
    /// ```
    ///
    /// Callees come before callers. Functions that call themselves are not inlined, nor is
    /// anything where an error is about to be thrown. The attribute `inline` of a function says
    /// that it is always inlined (`{inline=true}`) or never (`{inline=false}`). Functions that
    /// nobody calls any more stay.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Inline {
        /// Callees of at most so many instructions are inlined whatever the caller has grown.
        always: usize,
        /// The most instructions of a callee.
        max_size: usize,
        /// The most instructions of a callee that is used nowhere else.
        once: usize,
        /// The most instructions of a callee without loops that is called in a loop.
        in_loop: usize,
        /// By how many instructions a caller may grow, besides its own size.
        growth: usize,
    }
}

impl ModulePass for Inline {
    const NAME: &'static str = "inline";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] = &[
        OptionDef::int("max-size", 80, "inline functions of at most so many instructions"),
        OptionDef::int("always", 10, "functions so small are inlined however much a caller grows"),
        OptionDef::int("once", 200, "the most instructions of a function that is used only once"),
        OptionDef::int(
            "in-loop",
            320,
            "the most instructions of a function without loops that is called in a loop",
        ),
        OptionDef::int(
            "growth",
            2_000,
            "by how many instructions a caller may grow, besides its own size",
        ),
    ];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        *self = Self {
            always: options.size("always"),
            max_size: options.size("max-size"),
            once: options.size("once"),
            in_loop: options.size("in-loop"),
            growth: options.size("growth"),
        };
        Ok(())
    }

    fn run(&mut self, module: &mut Module, cx: &mut PassContext<'_>) -> PassResult {
        let graph = CallGraph::of(module);
        let callees = graph.functions().iter().map(|_| None).collect();
        let (limits, scratch) = (*self, Scratch::default());
        let mut inliner = Inliner { limits, graph, callees, scratch, calls: 0, instructions: 0 };
        for node in inliner.graph.postorder() {
            inliner.visit(module, node, cx.analyses())?;
        }
        cx.add("calls inlined", inliner.calls);
        cx.add("instructions copied", inliner.instructions);
        Ok(())
    }
}

/// The most instructions of a callee that is inlined because it asks for it: functions that call
/// the one before them twice double in size each time.
const MAX_COPIED: usize = 100_000;

/// The facts on a function that was visited.
struct Callee {
    /// Instructions that are not in cold blocks.
    size: usize,
    /// All that is copied.
    copied: usize,
    has_loops: bool,
    /// The value of its attribute `inline`.
    wanted: Option<bool>,
    template: Template,
}

struct Inliner {
    limits: Inline,
    graph: CallGraph,
    /// The callees that were visited and can be inlined.
    callees: Vec<Option<Callee>>,
    scratch: Scratch,
    /// Calls that were replaced.
    calls: u64,
    /// Instructions that came in their place.
    instructions: u64,
}

impl Inliner {
    fn visit(&mut self, module: &mut Module, node: usize, analyses: &mut Analyses) -> IrResult<()> {
        let chosen = match module.get(self.graph.functions()[node]) {
            Some(f) => self.choose(module, f, node, analyses),
            None => return Ok(()),
        };
        if !chosen.is_empty() {
            self.replace(module, node, &chosen)?;
        }
        if let Some(f) = module.get(self.graph.functions()[node]) {
            self.callees[node] = self.judge(f, node, analyses);
        }
        Ok(())
    }

    /// The calls in `f` that are going to be replaced, in order.
    fn choose(
        &self,
        module: &Module,
        f: &Function,
        node: usize,
        analyses: &mut Analyses,
    ) -> Vec<CallSite> {
        let mut left = self.limits.growth.saturating_add(f.inst_count());
        let mut cold: Option<(Block, bool)> = None;
        let mut chosen = Vec::new();
        for &at in self.graph.sites(node).iter().filter(|at| at.is_plain()) {
            let Some(callee) = &self.callees[at.callee] else { continue };
            let block = f.block_of(at.call);
            let is_cold = match cold {
                Some((last, is_cold)) if last == block => is_cold,
                _ => f.is_cold(block),
            };
            cold = Some((block, is_cold));
            let code = module.get(self.graph.functions()[at.callee]);
            if !is_cold
                && code.is_some_and(|code| fits(f, at, code))
                && self.is_small(
                    callee,
                    at.callee,
                    || analyses.get::<LoopForest>(f).loop_of(block).is_some(),
                    &mut left,
                )
            {
                chosen.push(at);
            }
        }
        chosen
    }

    fn is_small(
        &self,
        callee: &Callee,
        number: usize,
        is_in_loop: impl FnOnce() -> bool,
        left: &mut usize,
    ) -> bool {
        match callee.wanted {
            Some(wanted) => return wanted && callee.copied <= MAX_COPIED,
            None if callee.size <= self.limits.always && callee.copied <= MAX_COPIED => {
                return true;
            }
            None => {}
        }
        let Inline { max_size, once, in_loop, .. } = self.limits;
        let fits = callee.size <= max_size
            || callee.size <= once && self.graph.uses(number) == 1
            || callee.size <= in_loop && !callee.has_loops && is_in_loop();
        let small = fits && callee.copied <= *left;
        if small {
            *left -= callee.copied;
        }
        small
    }

    /// Replaces calls of one function, the last first.
    fn replace(&mut self, module: &mut Module, node: usize, chosen: &[CallSite]) -> IrResult<()> {
        let id = self.graph.functions()[node];
        let Some(place) = module.get_mut(id) else { return Ok(()) };
        // The function is taken out of its module, so that it can be changed while others are
        // read.
        let stand_in = Function::without_entry(place.ctx(), place.name_str(), place.ret_type());
        let mut f = std::mem::replace(place, stand_in);
        self.scratch.start();
        for at in chosen.iter().rev() {
            let (Some(callee), Some(code)) =
                (&self.callees[at.callee], module.get(self.graph.functions()[at.callee]))
            else {
                continue;
            };
            // In code that is never reached, a value can come to be passed to its own call.
            if f.operands(at.call).any(|operand| operand == at.call.into()) {
                continue;
            }
            splice(&mut f, at.call, at.first_arg, code, &callee.template, &mut self.scratch)?;
            self.calls += 1;
            self.instructions += callee.copied as u64;
        }
        match module.get_mut(id) {
            Some(place) => *place = f,
            None => unreachable!("nobody removes functions here"),
        }
        Ok(())
    }

    /// Returns what is known of a function that is as it is going to stay; `None` if it is not to
    /// be inlined anywhere.
    fn judge(&mut self, f: &Function, node: usize, analyses: &mut Analyses) -> Option<Callee> {
        let wanted = match f.ctx().attr(f.function_attrs(), "inline").map(|c| f.ctx().constant(c)) {
            Some(Constant::Bool(wanted)) => Some(wanted),
            _ => None,
        };
        let Inline { always, max_size, once, in_loop, .. } = self.limits;
        let most = always.max(max_size).max(once).max(in_loop);
        if wanted == Some(false) || self.graph.uses(node) == 0 {
            return None;
        }
        // What is too large is not looked at closely.
        if wanted.is_none() && f.inst_count() > most.saturating_mul(8) {
            return None;
        }
        let calls_itself =
            f.all_insts().any(|v| self.graph.site(f, v).is_some_and(|site| site.callee == node));
        if calls_itself || f.entry().is_none() {
            return None;
        }
        let cfg = analyses.get::<ControlFlow>(f);
        let template = Template::of(f, &cfg);
        if template.returns() == 0 {
            return None;
        }
        let (mut size, mut copied) = (0, 0);
        for &block in template.blocks() {
            let count = f.body(block).count() + 1;
            copied += count;
            size += if f.is_cold(block) { 0 } else { count };
        }
        // The return is not copied, or becomes a jump that mostly goes.
        let goes_back = |&block: &Block| {
            f.successors(block).any(|next| cfg.rpo_index(next) <= cfg.rpo_index(block))
        };
        let has_loops = template.blocks().iter().any(goes_back);
        Some(Callee { size: size - 1, copied, has_loops, wanted, template })
    }
}

/// Returns whether the call passes what the callee takes, and takes what it returns.
fn fits(f: &Function, at: CallSite, callee: &Function) -> bool {
    let Some(entry) = callee.entry() else { return false };
    let args = f.operands(at.call).skip(at.first_arg);
    args.len() == callee.param_count(entry)
        && args.zip(callee.params(entry)).all(|(arg, param)| {
            let have = f.operand_type(arg);
            have.is_assignable_to(callee.ty(param)) && have != Type::NEVER
        })
        && callee.ret_type().is_assignable_to(f.ty(at.call))
}
