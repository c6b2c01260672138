//! Invalidation: a definition makes wrong what it has to, and nothing else.

use regraft_ir::{Constant, Loc, Type};
use regraft_lang::definition::Space;
use regraft_lang::world::SpecId;

use super::Tester;

impl Tester {
    /// A specialisation that looked up these calls.
    fn spec(&mut self, calls: &[&str]) -> SpecId {
        let spec = self.world.new_spec();
        for call in calls {
            self.dispatch_by(call, Some(spec));
        }
        spec
    }
}

#[test]
fn a_more_specific_method_invalidates_whom_it_takes_over() {
    let mut t = Tester::with(&["f(x)", "g(x)"]);
    let int = t.spec(&["f(Int64)"]);
    let float = t.spec(&["f(Float64)"]);
    let other = t.spec(&["g(Int64)"]);
    let both = t.spec(&["g(Int64)", "f(Int64)"]);
    t.def("f(x::Int64)");
    assert_eq!(t.world.take_invalidated(), [int, both]);
    assert_eq!(t.world.take_invalidated(), []);
    let _ = (float, other);
    t.def("g(x::Float64)");
    assert_eq!(t.world.take_invalidated(), []);
}

#[test]
fn a_less_specific_method_invalidates_nobody() {
    let mut t = Tester::with(&["f(x::Int64)"]);
    t.spec(&["f(Int64)"]);
    t.def("f(x::Integer)");
    t.def("f(x)");
    t.def("f(x...)");
    assert_eq!(t.world.take_invalidated(), []);
}

#[test]
fn a_replaced_method_invalidates_who_ran_it() {
    let mut t = Tester::with(&["f(x::Int64)", "f(x)"]);
    let int = t.spec(&["f(Int64)"]);
    let float = t.spec(&["f(Float64)"]);
    t.def("f(x::Int64)");
    assert_eq!(t.world.take_invalidated(), [int]);
    t.def("f(x)");
    assert_eq!(t.world.take_invalidated(), [float]);
}

#[test]
fn failed_lookups_are_remembered() {
    let mut t = Tester::with(&["f(x::Int64)"]);
    let none = t.spec(&["f(String)"]);
    let still_none = t.spec(&["f(Symbol)"]);
    t.def("f(x::AbstractString)");
    assert_eq!(t.world.take_invalidated(), [none]);
    t.def("f(x::Symbol)");
    assert_eq!(t.world.take_invalidated(), [still_none]);
}

#[test]
fn an_ambiguity_comes_and_goes() {
    let mut t = Tester::with(&["f(x::Int64, y)"]);
    let first = t.spec(&["f(Int64, Int64)"]);
    let apart = t.spec(&["f(Int64, Float64)"]);
    t.def("f(x, y::Int64)");
    assert_eq!(t.world.take_invalidated(), [first]);
    let second = t.spec(&["f(Int64, Int64)"]);
    t.def("f(x::Int64, y::Int64)");
    assert_eq!(t.world.take_invalidated(), [second]);
    let _ = apart;
}

#[test]
fn lookups_that_are_not_exact() {
    let mut t = Tester::with(&["f(x)", "g(x::Int64)"]);
    let sure = t.spec(&["f(Any)"]);
    let dynamic = t.spec(&["g(Any)"]);
    t.def("g(x::Float64)");
    // It was dynamic and still is.
    assert_eq!(t.world.take_invalidated(), []);
    t.def("f(x::Int64)");
    assert_eq!(t.world.take_invalidated(), [sure]);
    let _ = dynamic;
}

#[test]
fn dependents_are_invalidated_transitively() {
    let mut t = Tester::with(&["f(x)"]);
    let leaf = t.spec(&["f(Int64)"]);
    let middle = t.spec(&[]);
    let root = t.spec(&[]);
    let other = t.spec(&["f(Float64)"]);
    t.world.depend(middle, leaf);
    t.world.depend(root, middle);
    t.world.depend(root, other);
    // Recursion.
    t.world.depend(leaf, root);
    t.def("f(x::Int64)");
    assert_eq!(t.world.take_invalidated(), [leaf, middle, root]);
    t.def("f(x::Float64)");
    assert_eq!(t.world.take_invalidated(), [other]);
    // One that is made from something wrong is wrong.
    let late = t.spec(&[]);
    t.world.depend(late, leaf);
    assert_eq!(t.world.take_invalidated(), [late]);
}

#[test]
fn names_that_get_another_meaning() {
    let mut t = Tester::new();
    t.def_in(Space::Base, "Base.sum(x)");
    let (sum, x) = (t.symbol("sum"), t.symbol("x"));
    let by_main = t.world.new_spec();
    let by_base = t.world.new_spec();
    let by_x = t.world.new_spec();
    t.world.resolve(sum, Space::Main, Some(by_main));
    t.world.resolve(sum, Space::Base, Some(by_base));
    t.world.resolve(x, Space::Main, Some(by_x));
    t.def("other(x)");
    assert_eq!(t.world.take_invalidated(), []);
    t.def("sum(x)");
    assert_eq!(t.world.take_invalidated(), [by_main]);
    // More methods are no other meaning.
    t.def_in(Space::Base, "Base.sum(x, y)");
    t.def("sum(x, y)");
    assert_eq!(t.world.take_invalidated(), []);
    t.world.bind_const(x, Space::Main, Constant::I64(1), Loc::UNKNOWN).unwrap();
    assert_eq!(t.world.take_invalidated(), [by_x]);
    let again = t.world.new_spec();
    t.world.resolve(x, Space::Main, Some(again));
    t.world.bind_const(x, Space::Main, Constant::I64(1), Loc::UNKNOWN).unwrap();
    assert_eq!(t.world.take_invalidated(), []);
    t.world.bind_const(x, Space::Main, Constant::I64(2), Loc::UNKNOWN).unwrap();
    assert_eq!(t.world.take_invalidated(), [again]);
}

#[test]
fn constructors_of_one_type_leave_others_alone() {
    let mut t = Tester::new();
    t.declare("P: x::Int64");
    t.declare("Q: x::Int64");
    let p = t.spec(&["P(String)"]);
    let q = t.spec(&["Q(String)"]);
    t.def("P(x::String)");
    assert_eq!(t.world.take_invalidated(), [p]);
    t.def("(::Type{T})(x::String) where T<:Q");
    assert_eq!(t.world.take_invalidated(), [q]);
}

#[test]
fn constants_of_the_interpreter() {
    let mut t = Tester::new();
    let data = t.symbol("data");
    let name = t.world.bind_global(data, Space::Main, Type::F64, Loc::UNKNOWN).unwrap();
    assert_eq!(name, data);
    let spec = t.world.new_spec();
    t.world.resolve(data, Space::Main, Some(spec));
    t.world.bind_global(data, Space::Main, Type::F64, Loc::UNKNOWN).unwrap();
    assert_eq!(t.world.take_invalidated(), []);
    t.world.bind_global(data, Space::Main, Type::I64, Loc::UNKNOWN).unwrap();
    assert_eq!(t.world.take_invalidated(), [spec]);
}
