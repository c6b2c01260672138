//! Everything that is known of the derivatives of ops: a row for each op of every dialect.

use std::sync::{Arc, LazyLock};

use regraft_ir::{
    Diagnostic, Extension, Function, Op, OpDef, OpTable, OperandSet, Registry, Value,
};

use crate::flow::Flow;
use crate::op_derivative::OpDerivative;
use crate::ops;
use crate::rules::{ScalarRule, ScalarRules};
use crate::tangent::TangentTypes;

/// The derivative of an op.
#[derive(Clone, Copy, Debug)]
pub enum Derivative<'a> {
    /// An op on floats with a rule.
    Scalar(&'a ScalarRule),
    /// Functions write it.
    Written(&'a OpDerivative),
    /// It calls, or ends a block: differentiation itself writes what it becomes.
    Control,
    /// The result has no derivative, or is constant as far as derivatives go; so the op stays as
    /// it is.
    None,
    /// It is not known how to compute it, and why: a sentence without a full stop.
    NotImplemented(&'a str),
}

/// The message about an op whose derivative is not implemented.
pub(crate) fn not_implemented(def: &OpDef, why: &str) -> String {
    format!("`{}` has no derivative: {why}", def.mnemonic())
}

/// Returns whether an op writes to an object that may have a shadow.
pub(crate) fn writes_shadowed(f: &Function, v: Value, types: &mut TangentTypes) -> bool {
    let writes = f.op_def(v).map_or(OperandSet::NONE, |def| def.effects.writes);
    let mut operands = f.plain_operands(v).enumerate();
    operands.any(|(i, object)| writes.contains(i) && types.has_shadow(f.operand_type(object)))
}

/// A row for what has no rule.
#[derive(Clone, Copy, Debug)]
enum Row {
    Written(OpDerivative),
    Control,
    None,
    NotImplemented(&'static str),
}

/// The derivatives of ops.
///
/// The table of a program is an extension of its context. To it, anyone adds what is known of ops
/// of their own, or says otherwise of those that are there.
///
/// ```
/// use std::sync::Arc;
/// use regraft_ad::DerivativeTable;
/// use regraft_dialects::math;
///
/// let mut extensions = regraft_ad::extensions();
/// let ops = Arc::clone(extensions.ops());
/// let table: &mut DerivativeTable = extensions.edit();
/// let text = "d math.tanh(x) = 1 / (cosh(x) * cosh(x))";
/// assert!(table.add_rules(&ops, "mine.rules", text).is_ok());
/// let needs = table.rule(math::TANH).unwrap().partial(0).unwrap().needs();
/// assert!(needs.operand(0) && !needs.result);
/// ```
#[derive(Clone, Debug)]
pub struct DerivativeTable {
    rules: ScalarRules,
    rows: OpTable<Row>,
}

impl Extension for DerivativeTable {
    fn builtin() -> &'static Self {
        static BUILTIN: LazyLock<DerivativeTable> = LazyLock::new(|| DerivativeTable {
            rules: ScalarRules::clone(&ScalarRules::standard()),
            rows: rows(),
        });
        &BUILTIN
    }
}

impl DerivativeTable {
    /// The derivative of `op`; not implemented if there is no row. O(1).
    pub fn get(&self, op: Op) -> Derivative<'_> {
        let unknown = "nothing is known of the derivative of this op";
        self.find(op).unwrap_or(Derivative::NotImplemented(unknown))
    }

    /// The row of `op`. O(1).
    pub fn find(&self, op: Op) -> Option<Derivative<'_>> {
        if let Some(rule) = self.rules.get(op) {
            return Some(Derivative::Scalar(rule));
        }
        Some(match self.rows.get(op)? {
            Row::Written(derivative) => Derivative::Written(derivative),
            Row::Control => Derivative::Control,
            Row::None => Derivative::None,
            Row::NotImplemented(why) => Derivative::NotImplemented(why),
        })
    }

    /// The flow of derivatives through `op`. O(1).
    pub(crate) fn flow(&self, op: Op) -> Flow {
        match self.get(op) {
            Derivative::Written(row) => row.flow,
            // Said when code is made.
            Derivative::NotImplemented(_) => Flow::Value,
            Derivative::Scalar(_) | Derivative::Control | Derivative::None => Flow::None,
        }
    }

    /// The rule of an op on floats.
    pub fn rule(&self, op: Op) -> Option<&ScalarRule> {
        self.rules.get(op)
    }

    /// Adds rules for ops on floats, in place of what there is for the same ops. `ops` are those
    /// that the text may name, and `name` is what errors call it.
    ///
    /// # Errors
    /// Everything that is wrong with the text; then no rule is added.
    pub fn add_rules(
        &mut self,
        ops: &Arc<Registry>,
        name: &str,
        text: &str,
    ) -> Result<(), Vec<Diagnostic>> {
        self.rules.add(ops, name, text)
    }

    /// Lets functions write the derivative of an op.
    pub fn add(&mut self, op: Op, derivative: OpDerivative) {
        self.set(op, Row::Written(derivative));
    }

    /// Says that an op has no derivative: its result is constant, and it puts nothing that has a
    /// derivative anywhere.
    pub fn add_constant(&mut self, op: Op) {
        self.set(op, Row::None);
    }

    fn set(&mut self, op: Op, row: Row) {
        self.rules.remove(op);
        self.rows.insert(op, row);
    }
}

fn rows() -> OpTable<Row> {
    let written = ops::rows().map(|(op, row)| (op, Row::Written(row)));
    let constant = ops::constant().map(|op| (op, Row::None));
    let refused = ops::not_implemented().map(|(op, why)| (op, Row::NotImplemented(why)));
    let control = ops::CONTROL.iter().map(|&op| (op, Row::Control));
    let mut table = OpTable::new();
    for (op, row) in written.chain(constant).chain(refused).chain(control) {
        table.insert(op, row);
    }
    table
}
