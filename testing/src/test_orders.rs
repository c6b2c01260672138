//! Tests the derivatives of a function of one number, those of derivatives included, in
//! all mixes of the modes.
//!
//! ```text
//! first     derivative(f, x)  gradient(f, x)  pullback(f, x)   = differences of f
//! second    D(D(f))(x)  D(G(f))(x)  G(D(f))(x)  G(G(f))(x)     = differences of D(f)
//! third     G(G(G(f)))(x)  D(G(G(f)))(x)                       = differences of D(D(f))
//! ```
//!
//! Calls may be resolved when the program runs: it is the language that differentiates. Differences
//! are central, of the fourth order.

use regraft_ad::PlanKind;
use regraft_ir::render_all;
use regraft_lang::Session;

use crate::test_rule::{RuleFailure, RuleProblem, RuleReport};

/// The greatest difference between derivatives of different modes, relative to their size.
const BETWEEN_MODES: f64 = 1e-7;

/// The greatest difference between a derivative and difference quotients.
const FROM_DIFFERENCES: f64 = 1e-4;

/// The mixes of each order, as functions of `f`.
const MIXES: [&[&str]; 3] = [
    &["D(f)", "G(f)", "P(f)"],
    &["D(D(f))", "D(G(f))", "G(D(f))", "G(G(f))", "G(P(f))"],
    &["D(D(D(f)))", "G(G(G(f)))", "D(G(G(f)))"],
];

/// Tests the derivatives of `function`, a function of one `Float64` as the session understands it, up
/// to an order between 1 and 3.
///
/// ```
/// use regraft_testing::test_orders;
///
/// let mut session = regraft_lang::Session::new(&regraft_dialects::context());
/// session.run("f.jl", "f(x) = x^3 * sin(x)").unwrap();
/// let report = test_orders(&mut session, "f", &[0.7, 2.0], 2).unwrap();
/// assert_eq!(report.agreed, 2);
/// ```
///
/// # Errors
/// The mistake, with the mix of modes and the number at which it shows.
///
/// # Panics
/// If the session does not take definitions.
pub fn test_orders(
    session: &mut Session,
    function: &str,
    at: &[f64],
    order: usize,
) -> Result<RuleReport, Box<RuleFailure>> {
    let helpers = format!(
        "orders_D(f) = x -> derivative(f, x)\n\
         orders_G(f) = x -> gradient(f, x)[1]\n\
         orders_P(f) = x -> pullback(f, x)[2](1.0)[1]\n\
         function orders_slope(f, x)\n    h = 1e-3\n    \
         return (8 * (f(x + h) - f(x - h)) - (f(x + 2h) - f(x - 2h))) / 12h\nend\n\
         orders_f = {function}\n"
    );
    session.run("orders", &helpers).expect("the helpers are programs");
    let mut report = RuleReport::default();
    for &x in at {
        report.add(Orders { session, function, x }.check(order.clamp(1, 3))?);
    }
    Ok(report)
}

/// Tests that a pullback of `function` stays the derivative that it was when it was made:
/// `definitions`, which define anew what it calls, are run before the pullback is called.
///
/// # Errors
/// The mistake.
pub fn test_redefinition(
    session: &mut Session,
    function: &str,
    x: f64,
    definitions: &str,
) -> Result<RuleReport, Box<RuleFailure>> {
    let mut orders = Orders { session, function, x };
    let before = format!(
        "orders_first = gradient({function}, {x:?})[1]; \
         orders_value, orders_back = pullback({function}, {x:?}); orders_first"
    );
    let wrong = |orders: &Orders<'_>, why| orders.failure(RuleProblem::Error, "pullback", why);
    let slope = orders.eval(&before).map_err(|why| wrong(&orders, why))?;
    orders.eval(definitions).map_err(|why| wrong(&orders, why))?;
    let later = orders.eval("orders_back(1.0)[1]").map_err(|why| wrong(&orders, why))?;
    if !slope.is_finite() || is_near(slope, later, BETWEEN_MODES) {
        return Ok(RuleReport { agreed: 1, floats: 1, ..RuleReport::default() });
    }
    let message = format!("it is {later} after definitions, and was {slope}");
    Err(orders.failure(RuleProblem::Reverse, "pullback", message))
}

struct Orders<'a> {
    session: &'a mut Session,
    function: &'a str,
    x: f64,
}

impl Orders<'_> {
    fn check(&mut self, order: usize) -> Result<RuleReport, Box<RuleFailure>> {
        let unclear = RuleReport { inconclusive: 1, ..RuleReport::default() };
        let value = self.number("f");
        let value = value.map_err(|why| self.failure(RuleProblem::Primal, "nothing", why))?;
        if !value.is_finite() {
            return Ok(unclear);
        }
        let mut report = RuleReport::default();
        for plan in [PlanKind::Best, PlanKind::Naive] {
            // The naive plan is the oracle of the other one, which is that of higher orders.
            self.session.set_tape_plan(plan, None);
            let most = if plan == PlanKind::Naive { 1 } else { order };
            for (below, mixes) in MIXES[..most].iter().enumerate() {
                let slope = match below {
                    0 => "slope(f)",
                    1 => "slope(D(f))",
                    _ => "slope(D(D(f)))",
                };
                let found = self.number(slope);
                let slope = found.map_err(|why| self.failure(RuleProblem::Error, slope, why))?;
                let mut first = None;
                for mix in *mixes {
                    let found = self.number(mix);
                    let found = found.map_err(|why| self.failure(RuleProblem::Error, mix, why))?;
                    report.floats += 1;
                    report.moving += u64::from(found != 0.0);
                    if !is_near(found, slope, FROM_DIFFERENCES) {
                        let message = format!("it is {found}; differences are {slope}");
                        return Err(self.failure(RuleProblem::Reverse, mix, message));
                    }
                    let other = *first.get_or_insert(found);
                    if !is_near(found, other, BETWEEN_MODES) {
                        let message = format!("it is {found}; {} is {other}", mixes[0]);
                        return Err(self.failure(RuleProblem::Reverse, mix, message));
                    }
                }
            }
        }
        self.session.set_tape_plan(PlanKind::Best, None);
        report.agreed = 1;
        Ok(report)
    }

    /// A mix of modes, or the slope of one, at the number at hand.
    ///
    /// # Errors
    /// The reason why there is none.
    fn number(&mut self, mix: &str) -> Result<f64, String> {
        let named = |text: &str| -> String {
            let name = |c: char| match c {
                'D' | 'G' | 'P' | 'f' => format!("orders_{c}"),
                other => other.to_string(),
            };
            text.chars().map(name).collect()
        };
        let x = self.x;
        let slope = mix.strip_prefix("slope(").and_then(|rest| rest.strip_suffix(')'));
        let text = match slope {
            Some(inner) => format!("orders_slope({}, {x:?})", named(inner)),
            None => format!("{}({x:?})", named(mix)),
        };
        self.eval(&text)
    }

    /// The number that a text comes to.
    fn eval(&mut self, text: &str) -> Result<f64, String> {
        let value = self.session.eval(text).map_err(|errors| render_all(&errors, false))?;
        value.as_f64().ok_or_else(|| format!("it is no number: {}", self.session.show(&value)))
    }

    fn failure(&self, problem: RuleProblem, mix: &str, message: String) -> Box<RuleFailure> {
        Box::new(RuleFailure {
            function: self.function.to_owned(),
            problem,
            mode: mix.to_owned(),
            inputs: format!("{:?}", self.x),
            message,
        })
    }
}

fn is_near(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}
