//! Limits of inference: what is bounded stays within its bounds, and what is large is still right.

use std::fmt::Write as _;

use regraft_ir::{Constant, Type, TypeKind};
use regraft_lang::testing::{Lattice, MAX_NESTED, MAX_SPECS};

use crate::lab::Lab;

impl Lab {
    /// `Val{n}` as the IR has it.
    fn val(&self, n: i64) -> Type {
        self.ctx.ty(TypeKind::Val(self.ctx.constant_id(Constant::I64(n))))
    }
}

#[test]
fn static_calls_of_one_method_have_so_many_specialisations_and_no_more() {
    let mut lab = Lab::new();
    lab.main("f(x)", "%2 = call @tuple(%1, 1.5)\n %3 = call @getindex(%2, 2)\n return %3");
    lab.main("g(x)", "%2 = call @f(%1)\n return %2");
    let most = i64::from(MAX_SPECS);
    for n in 0..most + 10 {
        let ty = lab.val(n);
        let spec = lab.spec_of("g", &[ty]);
        let known = lab.compiler.result(spec);
        let expected = if n < most { Type::F64 } else { Type::ANY };
        assert_eq!(lab.compiler.partials.type_of(known), expected, "the call for Val({n})");
    }
    // The running program gets those that it asks for.
    let ty = lab.val(most + 1);
    let spec = lab.spec_of("f", &[ty]);
    let known = lab.compiler.result(spec);
    assert_eq!(lab.compiler.partials.type_of(known), Type::F64);
    lab.check(spec);
}

/// Calls itself with `Val{n - 1}` until that is `Val{0}`: all as large, each another.
const DOWN: &str = "%2 = core.static :N
 %3 = call @==(%2, 0)
 br %3, ^2, ^3
^2:
 return 1.5
^3:
 %4 = call @-(%2, 1)
 %5 = call @#val(%4)
 %6 = call @down(%5)
 return %6";

#[test]
fn specialisations_within_each_other_are_typed_as_far_as_the_limit() {
    let mut lab = Lab::new();
    lab.main("down(::Val{N}) where N", DOWN);
    let few = lab.val(MAX_NESTED as i64 - 1);
    let spec = lab.spec_of("down", &[few]);
    let known = lab.compiler.result(spec);
    assert_eq!(lab.compiler.partials.type_of(known), Type::F64);
    lab.check(spec);
}

#[test]
fn beyond_the_limit_a_call_is_left_to_the_running_program() {
    let mut lab = Lab::new();
    lab.main("down(::Val{N}) where N", DOWN);
    let many = lab.val(3 * MAX_NESTED as i64);
    let spec = lab.spec_of("down", &[many]);
    assert_eq!(lab.compiler.result(spec), Lattice::ANY);
    lab.check(spec);
    let module = lab.compiler.module_of(spec).to_string();
    assert_eq!(module.matches("apply").count(), 1);
    // The running program gets on from there.
    let next = lab.val(2 * MAX_NESTED as i64);
    let spec = lab.spec_of("down", &[next]);
    lab.check(spec);
}

#[test]
fn a_long_function_without_branches() {
    let mut lab = Lab::new();
    let count = 100_000;
    let mut body = String::from("%2 = call @+(%1, 1)\n");
    for v in 2..=count {
        let _ = writeln!(body, " %{} = call @+(%{v}, {v})", v + 1);
    }
    let _ = write!(body, " return %{}", count + 1);
    lab.main("long(x)", &body);
    let spec = lab.spec("long", &["i64"]);
    let known = lab.compiler.result(spec);
    assert_eq!(lab.compiler.partials.type_of(known), Type::I64);
    assert_eq!(lab.compiler.function(spec).inst_count(), count);
}

#[test]
fn a_function_of_many_blocks_that_hand_a_value_on() {
    let mut lab = Lab::new();
    let count = 10_000;
    // Each adds something to what the one before gave it, or goes on with it as it is.
    let mut body = String::from("br ^2(%1)\n");
    for block in 2..count {
        let (x, c, y) = (3 * block, 3 * block + 1, 3 * block + 2);
        let to = block + 1;
        let _ = write!(
            body,
            "^{block}(%{x}: any):\n %{c} = call @<(%{x}, %1)\n %{y} = call @+(%{x}, %1)\n \
             br %{c}, ^{to}(%{y}), ^{to}(%{x})\n"
        );
    }
    let last = 3 * count;
    let _ = write!(body, "^{count}(%{last}: any):\n return %{last}");
    lab.main("many(x)", &body);
    let spec = lab.spec("many", &["f64"]);
    let known = lab.compiler.result(spec);
    assert_eq!(lab.compiler.partials.type_of(known), Type::F64);
    let code = lab.compiler.function(spec);
    assert_eq!((code.block_count(), code.inst_count()), (count - 1, 2 * (count - 2)));
    lab.check(spec);
}
