//! The functions that derivatives are asked for by.

use super::check;

#[test]
fn gradients_are_tuples_of_one_entry_for_each_argument() {
    check(
        "f(x, y) = x * x * y\ng(x, n) = x^n\nh(xs) = sum(xs .* xs)\n",
        &[
            ("gradient(f, 3.0, 2.0)", "(12.0, 9.0)"),
            ("gradient(g, 2.0, 3)", "(12.0, nothing)"),
            ("gradient(h, [1.0, 2.0])", "([2.0, 4.0],)"),
            ("gradient(sin, 0.0)", "(1.0,)"),
            ("gradient(x -> x * x, 1.5)", "(3.0,)"),
            ("gradient((x, y) -> x[1] * y, (2.0, 5), 3.0)", "((3.0, nothing), 2.0)"),
            ("gradient(p -> p.a * p.b, (a = 2.0, b = 3.0))", "((a = 3.0, b = 2.0),)"),
            ("gradient(x -> 3, 1.0)", "(0.0,)"),
            ("gradient(() -> 3.0)", "()"),
            ("gradient((x, n) -> n * x, 1.5, 4)", "(4.0, nothing)"),
            ("gradient(x -> x * 2.0f0, 1.5f0)", "(2.0f0,)"),
        ],
    );
}

#[test]
fn withgradient_gives_the_value_as_well() {
    check(
        "f(x, y) = x * y\n",
        &[
            ("withgradient(f, 3.0, 2.0)", "(val = 6.0, grad = (2.0, 3.0))"),
            ("withgradient(x -> sum(x), [1.0, 2.0]).val", "3.0"),
        ],
    );
}

#[test]
fn derivatives_are_those_of_functions_of_one_number() {
    check(
        "f(x) = x^3\n",
        &[
            ("derivative(f, 2.0)", "12.0"),
            ("derivative(f, 2)", "12.0"),
            ("derivative(cos, 0.5)", "-0.479425538604203"),
            ("derivative(x -> 1, 2.0)", "0.0"),
            ("derivative(x -> [x, x * x], 3.0)", "[1.0, 6.0]"),
            ("derivative(x -> (x, 2x), 3.0)", "(1.0, 2.0)"),
            ("derivative(x -> x * x, 1.5f0)", "3.0f0"),
        ],
    );
}

#[test]
fn pullbacks_can_be_called_any_number_of_times() {
    check(
        "f(x) = sum(abs2, x) * x[1]\n",
        &[
            ("y, back = pullback(f, [1.0, 2.0]); y", "5.0"),
            ("back(1.0)", "([7.0, 4.0],)"),
            ("back(1.0)", "([7.0, 4.0],)"),
            ("back(2.0)", "([14.0, 8.0],)"),
            ("back(1)", "([7.0, 4.0],)"),
            ("z, b = pullback(x -> 2 .* x, [1.0, 2.0]); z", "[2.0, 4.0]"),
            ("b([1.0, 10.0])", "([2.0, 20.0],)"),
            ("b([1.0, 0.0])", "([2.0, 0.0],)"),
        ],
    );
}

#[test]
fn pushforwards_take_a_tangent_for_each_argument() {
    check(
        "f(x, y) = x * y\n",
        &[
            ("pushforward(f, 3.0, 2.0)(1.0, 0.0)", "2.0"),
            ("pushforward(f, 3.0, 2.0)(1.0, 10.0)", "32.0"),
            ("pushforward(f, 3.0, 2.0)(nothing, 1)", "3.0"),
            ("pushforward(x -> x .* x, [1.0, 3.0])([1.0, 2.0])", "[2.0, 12.0]"),
            ("pushforward(f, 3.0, 2.0)(1.0)", "error: one tangent for each of 2 arguments"),
        ],
    );
}

#[test]
fn a_jacobian_by_rows_runs_the_function_once() {
    let runs = |call: &str| format!("runs[] = 0; J = {call}; (runs[], J[end, 20])");
    check(
        "const runs = Ref(0)\n\
         function counted(f, x)\n    runs[] += 1\n    return f(x)\nend\n\
         both(x) = counted(x -> [x[1] * x[2], sum(abs2, x)], x)\n\
         pair(x) = counted(x -> (x[1] * x[2], sum(abs2, x)), x)\n\
         total(x) = counted(x -> sum(abs2, x), x)\n\
         turned(x) = counted(x -> reverse(x)[1:2]', x)\n\
         x = collect(1.0:20.0)\n",
        &[
            (&runs("jacobian(both, x)"), "(1, 40.0)"),
            (&runs("jacobian(pair, x)"), "(1, 40.0)"),
            (&runs("jacobian(total, x)"), "(1, 40.0)"),
            (&runs("jacobian(turned, x)"), "(1, 0.0)"),
            (&runs("jacobian(x -> both(vec(x)), reshape(x, 4, 5))"), "(1, 40.0)"),
        ],
    );
}

#[test]
fn a_jacobian_by_rows_runs_a_function_of_several_arguments_once() {
    let runs =
        |call: &str| format!("runs[] = 0; J = {call}; (runs[], size.(J), J[1][2, 20], J[2])");
    check(
        "const runs = Ref(0)\n\
         function products(x, y)\n    runs[] += 1\n    return [x[1] * y[1], sum(abs2, x) * y[2]]\nend\n\
         x = collect(1.0:20.0)\n",
        &[
            // The sum of the squares of 1 to 20 is 2870.
            (
                &runs("jacobian(products, x, [3.0, 4.0])"),
                "(1, ((2, 20), (2, 2)), 160.0, [1.0 0.0; 0.0 2870.0])",
            ),
            (
                &runs("jacobian(products, x, (3.0, 4.0))"),
                "(1, ((2, 20), (2, 2)), 160.0, [1.0 0.0; 0.0 2870.0])",
            ),
            (
                &runs("jacobian((a, y) -> products(vec(a), y), reshape(x, 4, 5), [3.0, 4.0])"),
                "(1, ((2, 20), (2, 2)), 160.0, [1.0 0.0; 0.0 2870.0])",
            ),
            // Numbers have a vector: the derivative, for which forward mode runs it once more.
            (
                "runs[] = 0; J = jacobian((x, y) -> products(x, (y, 4.0)), x, 3.0); (runs[], J[1][2, 20], J[2])",
                "(2, 160.0, [1.0, 0.0])",
            ),
        ],
    );
}

#[test]
fn a_jacobian_of_several_arguments_leaves_them_as_they_are() {
    check(
        "function overwriting(x, y)\n    p = x[1] * y[1]\n    y .= 0.0\n    return [p, x[2]^2]\nend\n\
         x = collect(1.0:20.0)\ny = [5.0, 6.0]\nJ = jacobian(overwriting, x, y)\n",
        &[
            ("(x == 1.0:20.0, y)", "(true, [5.0, 6.0])"),
            ("J[1][:, 1:3]", "[5.0 0.0 0.0; 0.0 4.0 0.0]"),
            ("J[2]", "[1.0 0.0; 0.0 0.0]"),
        ],
    );
}

#[test]
fn a_pullback_runs_the_function_once_for_all_tangents() {
    check(
        "const runs = Ref(0)\n\
         function scaled(x)\n    runs[] += 1\n    y = copy(x)\n    for i in eachindex(y)\n        \
         y[i] = y[i]^2\n    end\n    return y\nend\n\
         y, back = pullback(scaled, [1.0, 2.0, 3.0])\n",
        &[
            ("back([1.0, 0.0, 0.0])", "([2.0, 0.0, 0.0],)"),
            ("back([0.0, 1.0, 1.0])", "([0.0, 4.0, 6.0],)"),
            // What came back before is not what a later call adds to.
            ("a = back([1.0, 1.0, 1.0])[1]; back([1.0, 1.0, 1.0]); a", "[2.0, 4.0, 6.0]"),
            ("(back([1.0, 0.0, 0.0]), y)", "(([2.0, 0.0, 0.0],), [1.0, 4.0, 9.0])"),
            ("runs[]", "1"),
        ],
    );
}

#[test]
fn jacobians_are_by_rows_of_the_result() {
    check(
        "f(x) = [x[1] * x[2], x[2] * x[3], x[1] + x[3]]\n\
         wide(x) = [sum(x), x[1] * x[2]]\n\
         tall(x) = [x[1], x[1] * x[2], x[2], 2 * x[1], x[1]^2]\n",
        &[
            ("jacobian(f, [1.0, 2.0, 3.0])", "[2.0 1.0 0.0; 0.0 3.0 2.0; 1.0 0.0 1.0]"),
            ("jacobian(tall, [2.0, 3.0])", "[1.0 0.0; 3.0 2.0; 0.0 1.0; 2.0 0.0; 4.0 0.0]"),
            ("size(jacobian(wide, ones(20)))", "(2, 20)"),
            ("jacobian(wide, ones(20))[2, :] == [1.0; 1.0; zeros(18)]", "true"),
            (
                "jacobian(x -> x .* x, [1.0, 2.0, 3.0, 4.0, 5.0])[5, :]",
                "[0.0, 0.0, 0.0, 0.0, 10.0]",
            ),
        ],
    );
}

#[test]
fn hessians_are_derivatives_of_gradients() {
    check(
        "f(x) = x[1]^2 * x[2] + sin(x[2])\n",
        &[
            ("hessian(f, [2.0, 0.0])", "[0.0 4.0; 4.0 0.0]"),
            ("hessian(x -> x^3, 2.0)", "12.0"),
            ("hvp(f, [2.0, 0.0], [1.0, 10.0])", "[40.0, 4.0]"),
        ],
    );
}

#[test]
fn users_may_take_the_names() {
    check(
        "gradient(a, b) = a + b\nf(x) = x * x\n",
        &[
            ("gradient(1, 2)", "3"),
            ("withgradient(f, 3.0).grad", "(6.0,)"),
            ("derivative(f, 3.0)", "6.0"),
        ],
    );
}
