//! Rules that programs give, and what is not to be differentiated.

use super::{check, check_in, session};

#[test]
fn a_rule_for_reverse_mode_comes_first() {
    check(
        "g(x) = x * x\n\
         rrule(::typeof(g), x) = (g(x), dy -> (NoTangent(), 100 * dy))\n\
         f(x) = g(x) + x\n",
        &[("gradient(f, 3.0)", "(101.0,)"), ("gradient(g, 3.0)", "(100.0,)"), ("f(3.0)", "12.0")],
    );
}

#[test]
fn a_rule_for_forward_mode_comes_first() {
    check(
        "g(x) = x * x\n\
         frule((_, dx), ::typeof(g), x) = (g(x), 100 * dx)\n\
         f(x) = g(x) + x\n",
        &[("derivative(f, 3.0)", "101.0"), ("gradient(f, 3.0)", "(7.0,)")],
    );
}

#[test]
fn rules_are_for_the_types_that_they_say() {
    check(
        "g(x) = x * x\n\
         rrule(::typeof(g), x::Float32) = (g(x), dy -> (NoTangent(), 100 * dy))\n",
        &[("gradient(g, 3.0)", "(6.0,)"), ("gradient(g, 3.0f0)", "(100.0f0,)")],
    );
}

#[test]
fn a_rule_for_a_function_of_the_library() {
    check(
        "f(x) = sin(x) * 2\n",
        &[
            ("gradient(f, 0.0)", "(2.0,)"),
            (
                "rrule(::typeof(sin), x) = (sin(x), dy -> (NoTangent(), 10 * dy)); gradient(f, 0.0)",
                "(20.0,)",
            ),
        ],
    );
}

#[test]
fn rules_get_arrays_and_give_arrays() {
    check(
        "total(x) = sum(x)\n\
         rrule(::typeof(total), x) = (total(x), dy -> (NoTangent(), fill(2 * dy, length(x))))\n\
         f(x) = total(x) * x[1]\n",
        &[("gradient(f, [1.0, 2.0])", "([5.0, 2.0],)")],
    );
}

#[test]
fn a_new_rule_and_a_changed_one_are_used_at_once() {
    let mut session = session("g(x) = x * x\nf(x) = g(x) + x\n");
    check_in(
        &mut session,
        &[
            ("gradient(f, 3.0)", "(7.0,)"),
            (
                "rrule(::typeof(g), x) = (g(x), dy -> (NoTangent(), 10 * dy)); gradient(f, 3.0)",
                "(11.0,)",
            ),
            (
                "rrule(::typeof(g), x) = (g(x), dy -> (NoTangent(), 20 * dy)); gradient(f, 3.0)",
                "(21.0,)",
            ),
            ("f(3.0)", "12.0"),
        ],
    );
}

#[test]
fn what_is_ignored_is_a_constant() {
    check(
        "f(x) = x * ignore_derivatives(x)\ng(x) = x * ignore_derivatives(() -> x * x)\n",
        &[
            ("gradient(f, 3.0)", "(3.0,)"),
            ("derivative(f, 3.0)", "3.0"),
            ("gradient(g, 3.0)", "(9.0,)"),
            ("f(3.0)", "9.0"),
        ],
    );
}

#[test]
fn what_is_declared_to_have_no_derivative_is_a_constant() {
    check(
        "h(x) = x * x\n@non_differentiable h(::Any)\nf(x) = x * h(x)\n",
        &[
            ("gradient(f, 3.0)", "(9.0,)"),
            ("derivative(f, 3.0)", "9.0"),
            ("gradient(h, 3.0)", "(0.0,)"),
        ],
    );
}

#[test]
fn what_is_not_implemented_is_an_error() {
    check(
        "g(x, n) = x * n\n\
         rrule(::typeof(g), x, n) = (g(x, n), dy -> (NoTangent(), n * dy, not_implemented(\"by n\")))\n",
        &[("gradient(g, 3.0, 2.0)", "error: not implemented: by n")],
    );
}

#[test]
fn a_checkpointed_step_of_a_number_keeps_one_number() {
    let mut session = session(
        "step(x) = x + 0.001 * sin(x)\n\
         f(x, n) = (for i in 1:n x = checkpoint(step, x) end; x)\n\
         g(x, n) = (while n > 0; x = checkpoint(step, x); n -= 1; end; x)\n",
    );
    // 200,000 numbers take 1.6 MB, on a stack that grows up to three times that.
    session.set_limits(regraft_exec::Limits { memory: 6 << 20, ..session.limits() });
    check_in(
        &mut session,
        &[
            ("gradient(f, 0.0, 200000)[1] ≈ 1.001^200000", "true"),
            ("gradient(g, 0.0, 200000)[1] ≈ 1.001^200000", "true"),
        ],
    );
}

#[test]
fn checkpoints_change_no_value() {
    check(
        "step(x) = sin(x) * x\nf(x) = (for i in 1:5 x = checkpoint(step, x) end; x)\n\
         g(x) = (for i in 1:5 x = step(x) end; x)\n",
        &[
            ("gradient(f, 1.2)[1] ≈ gradient(g, 1.2)[1]", "true"),
            ("derivative(f, 1.2) ≈ derivative(g, 1.2)", "true"),
            ("f(1.2) == g(1.2)", "true"),
        ],
    );
}

#[test]
fn what_a_pullback_or_a_checkpoint_refers_to_is_as_it_was_at_the_call() {
    let definitions = "squares(a) = sum(abs2, a)\n\
         rrule(::typeof(squares), a) = (squares(a), d -> (NoTangent(), (2 * d) .* a))\n\
         first_of(a) = sum(abs2, a[1]) + sum(a[2])\n\
         rrule(::typeof(first_of), a) = (first_of(a), d -> (NoTangent(), [(2 * d) .* a[1], d .* one.(a[2])]))\n\
         times(a, b) = a * b\n\
         rrule(::typeof(times), a, b) = (a * b, d -> (NoTangent(), d * b', a' * d))\n\
         plain(a) = sum(abs2, a)\n\
         written(x) = (a = [x, x]; s = squares(a); a[1] = 9.0; s)\n\
         pushed(x) = (a = [x, x]; s = squares(a); push!(a, 1.0); s)\n\
         replaced(x) = (a = [[x, x], [x]]; s = first_of(a); a[1] = [7.0, 8.0]; s)\n\
         in_a_loop(x) = (a = [[x, x], [x]]; s = 0.0; for i in 1:2; s += first_of(a); a[1] = [7.0x, 8.0]; end; s)\n\
         matrices(x) = (a = [x x; 1.0 x]; b = [1.0 x; x x]; s = times(a, b); a[1] = 9.0; b[2] = 7.0; sum(abs2, s))\n\
         again(x) = (a = [x, x]; s = checkpoint(plain, a); a[1] = 9.0; s)\n\
         again_in_a_loop(x) = (a = [x, x]; s = 0.0; for i in 1:3; s += checkpoint(plain, a); a[1] *= x; end; s)\n\
         after(x) = (a = [x, x]; b = squares(a); c = checkpoint(plain, a); b * c)\n";
    check(
        definitions,
        &[
            ("gradient(written, 3.0)", "(12.0,)"),
            ("gradient(pushed, 3.0)", "(12.0,)"),
            ("gradient(replaced, 3.0)", "(13.0,)"),
            // x^2 + x^2 + x, and then 49 x^2 + 64 + x.
            ("gradient(in_a_loop, 3.0)", "(308.0,)"),
            // x^2 + 2x + ... by forward mode, which runs nothing later.
            ("gradient(matrices, 3.0)[1] ≈ derivative(matrices, 3.0)", "true"),
            ("gradient(again, 3.0)", "(12.0,)"),
            // 3 x^2 + x^2 + x^4 + x^6.
            ("gradient(again_in_a_loop, 2.0)", "(240.0,)"),
            ("gradient(after, 2.0)", "(128.0,)"),
            ("y, back = pullback(a -> squares(a), [1.0, 2.0]); back(1.0)", "([2.0, 4.0],)"),
            (
                "a = [1.0, 2.0]; y, back = pullback(squares, a); a[1] = 7.0; back(1.0)",
                "([2.0, 4.0],)",
            ),
            (
                "a = [1.0, 2.0]; y, back = pullback(t -> checkpoint(plain, t), a); a[1] = 7.0; back(1.0)",
                "([2.0, 4.0],)",
            ),
        ],
    );
}

#[test]
fn a_checkpoint_of_what_is_known_when_the_program_runs() {
    check(
        "twist(a) = sin(a[1]) * a[2]\n\
         f(x) = (g = Any[x, [x, 2x]]; checkpoint(twist, g[2]))\n\
         h(x) = (g = Any[x]; v = fill(g[1], 2); w = checkpoint(twist, v); v[1] = 9.0; w)\n",
        &[
            ("gradient(f, 0.7)[1] ≈ 1.4cos(0.7) + 2sin(0.7)", "true"),
            ("gradient(h, 0.7)[1] ≈ 0.7cos(0.7) + sin(0.7)", "true"),
        ],
    );
}
