//! Every form of IR text is read as what it means.

use std::sync::Arc;

use regraft_ir::{Context, Function, Module, Type};
use regraft_syntax::parse_module;

fn context() -> Arc<Context> {
    regraft_dialects::context()
}

fn module(text: &str) -> Module {
    parse_module(&context(), "test.ir", text).unwrap_or_else(|errors| panic!("{errors:?}"))
}

const POW: &str = "\
# `pow` of the IRTools documentation
func @pow(%1: f64, %2: i64) -> f64 {
^1:
  br ^2(%2, 1.0)
^2(%3: i64, %4: f64):
  %5: bool = arith.lt 0, %3
  br %5, ^3, ^4
^3:
  %6: i64 = arith.sub %3, 1
  %7: f64 = arith.mul %4, %1
  br ^2(%6, %7)
^4:
  return %4
}
";

#[test]
fn pow_is_read_with_its_numbers() {
    let m = module(POW);
    let f: &Function = m.function("pow").expect("it is there");
    assert_eq!(f.block_count(), 4);
    assert_eq!(f.inst_count(), 3);
    assert_eq!(f.param_types(), [Type::F64, Type::I64]);
    let v = f.value_by_number(7).expect("%7");
    assert_eq!(f.op_def(v).expect("an instruction").name, "arith.mul");
    assert_eq!(f.block_of(v).number(), 3);
}
