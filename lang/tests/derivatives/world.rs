//! Derivatives in a world that changes, and as functions of modules.

use super::{check_in, session};

#[test]
fn derivatives_follow_redefinitions() {
    let mut session = session("g(x) = 2x\nf(x) = g(x) * x\nother(x) = 5x\n");
    check_in(
        &mut session,
        &[
            ("gradient(f, 3.0)", "(12.0,)"),
            ("gradient(other, 3.0)", "(5.0,)"),
            ("g(x) = 3x; gradient(f, 3.0)", "(18.0,)"),
            ("derivative(f, 3.0)", "18.0"),
            ("g(x::Float64) = x * x; gradient(f, 3.0)", "(27.0,)"),
            ("f(x) = -x; gradient(f, 3.0)", "(-1.0,)"),
            ("gradient(other, 3.0)", "(5.0,)"),
        ],
    );
}

#[test]
fn calls_of_derivatives_are_direct() {
    let mut session = session("f(x) = x * x\ng(x) = gradient(f, x)[1] + 1\n");
    let module = session.typed("g(1.0)").expect("it is typed");
    let text = module.to_string();
    assert!(text.contains("f(Float64).gradient"), "{text}");
    assert!(!text.contains("core.apply"), "{text}");
    let main = module.functions().next().expect("there is a function");
    assert_eq!(session.ctx().type_text(main.ret_type()), "f64");
}

#[test]
fn what_did_not_change_is_not_made_again() {
    let mut session = session("f(x) = x * x\ng(x) = x\n");
    check_in(&mut session, &[("gradient(f, 3.0)", "(6.0,)")]);
    let before = session.typed("gradient(f, 3.0)").expect("it is typed").to_string();
    check_in(&mut session, &[("g(x) = 2x; g(1.0)", "2.0")]);
    let after = session.typed("gradient(f, 3.0)").expect("it is typed").to_string();
    assert_eq!(before, after);
}
