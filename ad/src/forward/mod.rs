//! Forward mode: a function and its derivative in given directions, computed together.
//!
//! ```text
//! func @f(%1: f64) -> f64 {             func @f.jvp(%1: f64, %2: f64) -> tuple<f64, f64> {
//! ^1:                                   ^1:
//!   %2: f64 = math.sin %1         =>      %3: f64 = math.sin %1
//!   %3: f64 = arith.mul %2, %2            %4: f64 = math.cos %1
//!   return %3                             %5: f64 = arith.mul %2, %4
//! }                                       %6: f64 = arith.mul %3, %3
//!                                         %7: f64 = arith.mul %5, %3
//!                                         ..
//! ```
//!
//! Method. Every statement becomes a pair (R. E. Wengert, "A Simple Automatic Derivative Evaluation
//! Program", CACM 1964): the value, and its tangent if it can be other than zero, as an analysis of
//! activity says. Control flow stays as it is; a block parameter gets one for its tangent beside
//! it. Objects have shadows of the same shape, to which everything happens that happens to the
//! objects; so objects that are the same have shadows that are the same. With a width of `n`, there
//! are `n` tangents of each value.
//!
//! Functions that are called are differentiated likewise, once for each choice of active
//! arguments. A function with the attribute `frule=@r` has its derivative computed by `@r`, one
//! with `derivative=:none` is constant. What a call goes to that is only known when the program
//! runs is up to [`ForwardOptions::dynamic`].
//!
//! Why it is right: the chain rule, statement by statement, in the order of the program. Derivatives
//! are ordinary functions, which can be differentiated again: tangents of one derivative are
//! values to the next, and cannot be taken for its own.
//!
//! Cost: linear in the functions, for each choice of active arguments.

mod call_code;
mod control;
mod statement;
mod tangents;
mod writer;

use regraft_ir::{
    Attrs, Constant, Diagnostic, FuncId, Function, Loc, Module, Symbol, Type, is_plain_name,
};
use regraft_passes::analysis::EffectSummaries;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::activity::{Activities, ActivityId};
use crate::calls::Mode;
use crate::marks::JVP_OF;
use crate::nesting::next_level;

/// Options of forward mode.
#[derive(Clone, Debug)]
pub struct ForwardOptions {
    /// In how many directions at once; 1 at least. In more than one, there is no derivative of dynamic
    /// calls, of objects that globals hold, or by a rule that may change something.
    pub width: usize,
    /// The function that calls what is not known before the program runs. It is given what is
    /// called, a tuple of the tangents (of what is called, then of each argument), and the
    /// arguments; it returns a tuple of the result and its tangent.
    pub dynamic: Option<Symbol>,
    /// Assumes that code outside of the module may put something with a derivative into objects that
    /// global names hold. Derivatives of dynamic calls need it.
    pub shared_globals: bool,
}

impl Default for ForwardOptions {
    fn default() -> Self {
        Self { width: 1, dynamic: None, shared_globals: false }
    }
}

/// Adds the function that computes the function `f` of a module and its derivative by those
/// parameters that are `active`, and returns its name. What it calls is added too; what is there
/// stays as it is. A function that was added before is taken as it is.
///
/// Of `@f(x1, ..) -> R` it is `@f.jvp(x1, .., t1, ..) -> tuple<R, tangent of R>`, with a tangent
/// for each active parameter that has one. With a width `n` over 1, each tangent is a tuple of
/// `n`.
///
/// Objects passed for parameters that are not active get shadows of their own if something active
/// may be stored in them. They may not be objects that are passed for other parameters too, unless
/// something active is stored by way of each.
///
/// # Errors
/// If there is no such function, and everything of which no derivative can be taken, each with
/// the calls that lead there. Then nothing is added.
pub fn forward(
    module: &mut Module,
    f: Symbol,
    active: &[bool],
    options: &ForwardOptions,
) -> Result<Symbol, Vec<Diagnostic>> {
    let Some(id) = module.find(f) else {
        let message = format!("there is no function @{}", module.ctx().str(f));
        return Err(vec![Diagnostic::error(message)]);
    };
    let mut driver = Driver::new(module, options);
    let context = driver.all.of(id, active.to_vec());
    let name = driver.request(context, None);
    let mut done = 0;
    let mut made = Vec::new();
    while done < driver.requests.len() {
        if !driver.requests[done].exists {
            made.push(writer::Writer::write(&mut driver, done));
        }
        done += 1;
    }
    if !driver.errors.is_empty() {
        return Err(driver.errors);
    }
    for function in made {
        module.add(function).map_err(|error| vec![error.into()])?;
    }
    Ok(name)
}

/// A derivative that is to be made.
#[derive(Debug)]
struct Request {
    context: ActivityId,
    name: Symbol,
    /// Tells whether it is in the module already.
    exists: bool,
    /// The first call that asked for it.
    caller: Option<(usize, Loc)>,
}

/// Makes derivatives of functions.
struct Driver<'m> {
    module: &'m Module,
    options: &'m ForwardOptions,
    width: usize,
    all: Activities<'m>,
    /// The effects of the functions, once a rule is called in several directions.
    effects: Option<EffectSummaries>,
    requests: Vec<Request>,
    request_of: FxHashMap<ActivityId, usize>,
    names: FxHashSet<Symbol>,
    errors: Vec<Diagnostic>,
    /// Of the shadows of objects of globals: see [`crate::nesting`].
    level: i64,
}

impl<'m> Driver<'m> {
    fn new(module: &'m Module, options: &'m ForwardOptions) -> Self {
        Self {
            level: next_level(module),
            module,
            options,
            width: options.width.max(1),
            all: Activities::new(module, Mode::Forward, options.shared_globals),
            effects: None,
            requests: Vec::new(),
            request_of: FxHashMap::default(),
            names: FxHashSet::default(),
            errors: Vec::new(),
        }
    }

    /// Tells whether a call of a function may change objects of its caller or print. The first
    /// call takes time linear in the module.
    fn changes_anything(&mut self, f: Symbol) -> bool {
        let effects = self.effects.get_or_insert_with(|| EffectSummaries::compute(self.module));
        let of_f = effects.of(f);
        of_f.writes_anything() || of_f.observable
    }

    /// The name of the derivative of a function, which is made if it is not there.
    fn request(&mut self, context: ActivityId, caller: Option<(usize, Loc)>) -> Symbol {
        if let Some(&request) = self.request_of.get(&context) {
            return self.requests[request].name;
        }
        let (name, exists) = self.name(context);
        self.request_of.insert(context, self.requests.len());
        self.names.insert(name);
        self.requests.push(Request { context, name, exists, caller });
        name
    }

    /// The function, its number and which of its parameters have tangents passed.
    fn signature(&mut self, context: ActivityId) -> (FuncId, &'m Function, Vec<bool>) {
        let id = self.all.function(context);
        let f = self.module.get(id).expect("it was looked at");
        (id, f, self.all.passed(context).to_vec())
    }

    /// The types of the parameters and of the result of a derivative.
    fn types(&mut self, context: ActivityId) -> (Vec<Type>, Type) {
        let (_, f, passed) = self.signature(context);
        let mut params = f.param_types();
        for (ty, passed) in params.clone().into_iter().zip(passed) {
            if passed {
                params.push(self.wide(ty));
            }
        }
        let tangent = self.wide(f.ret_type());
        (params, self.module.ctx().tuple_type(&[f.ret_type(), tangent]))
    }

    /// The type of the tangent of a value as it is passed to and from functions: with a width over
    /// 1, a tuple.
    fn wide(&mut self, ty: Type) -> Type {
        let tangent = self.all.types.tangent(ty);
        match self.width {
            1 => tangent,
            width => self.module.ctx().tuple_type(&vec![tangent; width]),
        }
    }

    /// A name that is free, or that of the same derivative, which is there already.
    fn name(&mut self, context: ActivityId) -> (Symbol, bool) {
        let ctx = self.module.ctx();
        let (id, f, passed) = self.signature(context);
        let types = f.param_types();
        let all: Vec<bool> = types.iter().map(|&ty| self.all.types.has_tangent(ty)).collect();
        let mut base = format!("{}.jvp", f.name_str());
        if passed != all {
            for (i, _) in passed.iter().enumerate().filter(|&(_, &passed)| passed) {
                base.push_str(&format!("_{}", i + 1));
            }
            if !passed.contains(&true) {
                base.push_str("_0");
            }
        }
        if self.width > 1 {
            base.push_str(&format!(".x{}", self.width));
        }
        debug_assert!(!is_plain_name(f.name_str()) || is_plain_name(&base));
        let (params, ret) = self.types(context);
        let of = self.attrs(id);
        for suffix in 0u32.. {
            let name = match suffix {
                0 => ctx.symbol(&base),
                _ => ctx.symbol(&format!("{base}.{suffix}")),
            };
            match self.module.find(name).and_then(|id| self.module.get(id)) {
                None if !self.names.contains(&name) => return (name, false),
                Some(found)
                    if found.function_attrs() == of
                        && found.param_types() == params
                        && found.ret_type() == ret =>
                {
                    return (name, true);
                }
                _ => {}
            }
        }
        (f.name(), false)
    }

    /// The attributes of the derivative of a function.
    fn attrs(&self, function: FuncId) -> Attrs {
        let ctx = self.module.ctx();
        let name = self.module.get(function).map_or_else(|| ctx.symbol(""), Function::name);
        ctx.attrs(&[(ctx.symbol(JVP_OF), ctx.constant_id(Constant::Func(name)))])
    }

    /// Notes an error in what a request differentiates, with the calls that led there.
    fn error(&mut self, request: usize, loc: Loc, message: String, label: &str) {
        /// The most calls that are named.
        const MAX_CALLS: usize = 20;
        let ctx = self.module.ctx();
        let name = |request: &Request| {
            let f = self.module.get(self.all.function(request.context));
            f.map_or("?", Function::name_str).to_owned()
        };
        let mut error = Diagnostic::error(message).at_loc(ctx, loc, label);
        error = error.note(format!("in @{}", name(&self.requests[request])));
        let mut at = request;
        for _ in 0..MAX_CALLS {
            let Some((caller, loc)) = self.requests[at].caller else { break };
            let place = match loc.is_known() {
                true => format!(" at {}", ctx.loc_text(loc)),
                false => String::new(),
            };
            error = error.note(format!("called by @{}{place}", name(&self.requests[caller])));
            at = caller;
        }
        self.errors.push(error);
    }
}
