//! Definitions between a call and its pullback: a pullback is the derivative that it was made with.

use super::{check_in, session};

#[test]
fn a_pullback_keeps_its_derivative_when_the_function_is_defined_anew() {
    let mut session = session("e(x) = exp(x)\n");
    check_in(
        &mut session,
        &[
            ("y, back = pullback(e, 3.0); y", "20.085536923187668"),
            // Before its reverse part has ever run.
            ("e(x) = x^2; back(1.0)", "(20.085536923187668,)"),
            ("back(2.0)", "(40.171073846375336,)"),
            ("z, next = pullback(e, 3.0); next(1.0)", "(6.0,)"),
            ("e(x) = sin(x) * x; (back(1.0), next(1.0))", "((20.085536923187668,), (6.0,))"),
            // d/dx (x sin x) at 3 = sin 3 + 3 cos 3.
            ("gradient(e, 3.0)", "(-2.8288574817414685,)"),
            ("e(x) = 5x; (back(1.0), next(1.0))", "((20.085536923187668,), (6.0,))"),
            ("gradient(e, 3.0)", "(5.0,)"),
        ],
    );
}

#[test]
fn a_pullback_keeps_its_derivative_when_a_callee_is_defined_anew() {
    let mut session = session(
        "g(x) = 2x\nf(x) = g(x) * x\nk = x -> g(x) * x\n\
         loop(x) = (s = x; for i in 1:3; s = g(s) * x; end; s)\n\
         late(x) = (r = Any[x]; g(r[1]) * x)\n\
         again(x) = checkpoint(f, x)\n",
    );
    // Of x g(x): 4x; s = 2^3 x^4, 32 x^3.
    check_in(
        &mut session,
        &[
            ("backs = Any[pullback(h, 3.0)[2] for h in (f, k, loop, late, again)]; 1", "1"),
            ("g(x) = x * x * x; [b(1.0)[1] for b in backs]", "[12.0, 12.0, 864.0, 12.0, 12.0]"),
            // 4x^3.
            ("[gradient(h, 3.0)[1] for h in (f, k, late, again)]", "[108.0, 108.0, 108.0, 108.0]"),
            // Tapes of other types.
            (
                "g(x) = sum([x * i for i in 1:4]); [b(1.0)[1] for b in backs]",
                "[12.0, 12.0, 864.0, 12.0, 12.0]",
            ),
            ("[gradient(h, 3.0)[1] for h in (f, k, late, again)]", "[60.0, 60.0, 60.0, 60.0]"),
            ("g(x::Float64) = 7.0; [b(1.0)[1] for b in backs]", "[12.0, 12.0, 864.0, 12.0, 12.0]"),
        ],
    );
}

#[test]
fn a_pullback_keeps_its_derivative_when_a_rule_comes_changes_or_hides() {
    let mut session = session("f(x) = x^2\ng(x) = f(x) * x\nlate(x) = (r = Any[x]; f(r[1]))\n");
    check_in(
        &mut session,
        &[
            ("y, plain = pullback(f, 3.0); y", "9.0"),
            ("y, around = pullback(g, 3.0); y", "27.0"),
            ("y, within = pullback(late, 3.0); y", "9.0"),
            (
                "rrule(::typeof(f), x) = (f(x), dy -> (nothing, 100dy)); \
                 (plain(1.0), around(1.0), within(1.0))",
                "((6.0,), (27.0,), (6.0,))",
            ),
            ("y, ruled = pullback(f, 3.0); ruled(1.0)", "(100.0,)"),
            ("y, ruled_late = pullback(late, 3.0); ruled_late(1.0)", "(100.0,)"),
            (
                "rrule(::typeof(f), x) = (f(x), dy -> (nothing, 7dy)); \
                 (plain(1.0), around(1.0), ruled(1.0), ruled_late(1.0))",
                "((6.0,), (27.0,), (100.0,), (100.0,))",
            ),
            ("(gradient(f, 3.0), gradient(late, 3.0))", "((7.0,), (7.0,))"),
        ],
    );
}

#[test]
fn pullbacks_of_pullbacks_keep_their_derivatives() {
    // h(x) = x g'(x) = 3 x^3, so that h' = 9 x^2.
    let mut session = session(
        "g(x) = x^3\nfunction h(x)\n y, b = pullback(g, x)\n b(1.0)[1] * x\nend\nlate(x) = h(Any[x][1])\n",
    );
    check_in(
        &mut session,
        &[
            ("y, back = pullback(g, 2.0); y", "8.0"),
            ("y, second = pullback(h, 2.0); y", "24.0"),
            ("y, second_late = pullback(late, 2.0); y", "24.0"),
            ("g(x) = sin(x); (second(1.0), second_late(1.0))", "((36.0,), (36.0,))"),
            // The old pullback is a function like others: it is linear, 12 dy.
            ("z, back_of_back = pullback(back, 2.0); z", "(24.0,)"),
            ("back_of_back((1.0,))", "(12.0,)"),
            ("gradient(t -> back(t)[1]^2, 1.0)", "(288.0,)"),
            ("derivative(t -> back(t)[1]^2, 1.0)", "288.0"),
            ("gradient(t -> back(Any[t][1])[1]^2, 1.0)", "(288.0,)"),
            ("g(x) = 1.0; (back_of_back((1.0,)), second(1.0))", "((12.0,), (36.0,))"),
            ("gradient(t -> back(t)[1]^2, 1.0)", "(288.0,)"),
        ],
    );
}

#[test]
fn pullbacks_in_containers_and_closures_keep_their_derivatives() {
    let mut session = session(
        "g(x) = x^2\nf(x, n) = n == 0 ? g(x) : f(g(x), n - 1)\n\
         struct Kept; back; end\nmutable struct Slot; back; end\n\
         grad(b) = dy -> b(dy)[1]\n",
    );
    check_in(
        &mut session,
        &[
            ("kept = Kept(pullback(g, 1.0)[2]); slot = Slot(pullback(g, 2.0)[2]); 1", "1"),
            ("pair = (pullback(g, 3.0)[2], 1); later = grad(pullback(g, 4.0)[2]); 1", "1"),
            ("many = [pullback(g, 1.0 * i)[2] for i in 1:3]; 1", "1"),
            ("const fixed = pullback(f, 2.0, 2)[2]; 1", "1"),
            (
                "g(x) = -x; (kept.back(1.0), slot.back(1.0), pair[1](1.0), later(1.0))",
                "((2.0,), (4.0,), (6.0,), 8.0)",
            ),
            ("[b(1.0)[1] for b in many]", "[2.0, 4.0, 6.0]"),
            // ((x^2)^2)^2 = x^8.
            ("fixed(1.0)", "(1024.0, nothing)"),
            ("slot.back = pullback(g, 2.0)[2]; slot.back(1.0)", "(-1.0,)"),
            (
                "g(x) = 3x; (kept.back(1.0), slot.back(1.0), fixed(1.0))",
                "((2.0,), (-1.0,), (1024.0, nothing))",
            ),
        ],
    );
}

#[test]
fn what_differentiates_when_it_is_called_follows_definitions() {
    let mut session = session("g(x) = 2x\nf(x) = g(x) * x\nv(x) = [sum(g.(x))]\n");
    let mut prepared = session.prepare_gradient("f").expect("there is such a function");
    let at = [regraft_exec::Val::F64(3.0)];
    let mut slope = |session: &mut regraft_lang::Session| {
        let found = prepared.call(session, &at).expect("it has a gradient");
        found.gradient[0].as_f64()
    };
    assert_eq!(slope(&mut session), Some(12.0));
    check_in(
        &mut session,
        &[
            ("push = pushforward(f, 3.0); push(1.0)", "12.0"),
            ("jacobian(v, ones(8))", "[2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0]"),
            ("g(x) = x * x; push(1.0)", "27.0"),
            ("jacobian(v, ones(8))", "[2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0]"),
        ],
    );
    assert_eq!(slope(&mut session), Some(27.0));
    check_in(&mut session, &[("g(x) = 1.0; push(1.0)", "1.0")]);
    assert_eq!(slope(&mut session), Some(1.0));
}

#[test]
fn gradients_follow_definitions_of_what_is_called_late() {
    let mut session = session(
        "abstract type Shape end\nstruct Disc <: Shape; r; end\nstruct Square <: Shape; a::Float64; end\n\
         scale(x) = 3x\narea(d::Disc) = scale(d.r) * d.r\narea(s::Square) = s.a * s.a\n\
         f(x) = (s = 0.0; for p in Shape[Disc(x), Square(2x)]; s += area(p); end; s)\n",
    );
    check_in(
        &mut session,
        &[
            // 3x^2 + 4x^2.
            ("gradient(f, 1.0)", "(14.0,)"),
            ("y, back = pullback(f, 1.0); y", "7.0"),
            ("scale(x) = 5x; gradient(f, 1.0)", "(18.0,)"),
            ("area(s::Square) = 1.0; gradient(f, 1.0)", "(10.0,)"),
            ("struct Line <: Shape; l::Float64; end; area(l::Line) = 7 * l.l; 1", "1"),
            ("g(x) = (s = 0.0; for p in Shape[Line(x), Disc(x)]; s += area(p); end; s); 1", "1"),
            ("(gradient(g, 1.0), back(1.0))", "((17.0,), (14.0,))"),
        ],
    );
}

#[test]
fn what_no_pullback_holds_any_more_goes() {
    let mut session = session("g(x) = 2x\nf(x) = g(x) * x\nlate(x) = f(Any[x][1])\n");
    check_in(&mut session, &[("y, oldest = pullback(f, 1.0); oldest(1.0)", "(4.0,)")]);
    let mut names = Vec::new();
    for i in 1..40 {
        let text =
            format!("g(x) = {i}x; y, back = pullback(f, 1.0); y, other = pullback(late, 1.0)");
        session.eval(&text).expect("it is right");
        let expected = format!("(({0}.0,), ({0}.0,), (4.0,))", 2 * i);
        check_in(&mut session, &[("(back(1.0), other(1.0), oldest(1.0))", &expected)]);
        names.push(session.function_names());
    }
    let counts: Vec<usize> = names.iter().map(Vec::len).collect();
    assert_eq!(counts[10], counts[38], "{counts:?}\n{:#?}", names.last());
}
