//! Derivatives of any order of what goes over arrays as a whole: `fill`, `fill!`, `copy`, `copyto!`.

use super::check;

const MODES: &str = "D(f) = x -> derivative(f, x)\nG(f) = x -> gradient(f, x)[1]\n";

/// Checks the second derivative of `f`, in all mixes of the modes, and the third in three of them,
/// against two functions of `x`, at 1.5.
#[track_caller]
fn check_orders(f: &str, second: &str, third: &str) {
    let definitions = format!("{MODES}{f}\nd2(x) = {second}\nd3(x) = {third}\n");
    let mixes = ["D(D(f))", "D(G(f))", "G(D(f))", "G(G(f))"];
    let higher = ["G(G(G(f)))", "D(G(G(f)))", "G(D(G(f)))"];
    let seconds = mixes.map(|mix| format!("{mix}(1.5) - d2(1.5)"));
    let thirds = higher.map(|mix| format!("{mix}(1.5) - d3(1.5)"));
    let table: Vec<(&str, &str)> =
        seconds.iter().chain(&thirds).map(|expression| (expression.as_str(), "0.0")).collect();
    check(&definitions, &table);
}

#[test]
fn the_sum_of_an_array_of_one_number() {
    check_orders("f(x) = sum(fill(x, 4)) * x^2", "24x", "24");
}

#[test]
fn an_array_that_is_filled_again() {
    check_orders("f(x) = (a = zeros(2); fill!(a, x); a[1] * a[2] * x)", "6x", "6");
    check_orders("f(x) = (a = [x, x]; y = a[1]; fill!(a, x^2); y * a[1] * a[2])", "20x^3", "60x^2");
}

#[test]
fn an_array_that_is_copied_into_another() {
    check_orders("f(x) = (a = zeros(2); copyto!(a, [x, 2x]); a[1] * a[2] * x)", "12x", "12");
    // The last element stays.
    check_orders("f(x) = (a = [x, x, x]; copyto!(a, [x^2, 1.0]); prod(a) * a[2])", "6x", "6");
    // The second number is overwritten by a constant.
    check_orders(
        "f(x) = (a = [x^2, x^3]; y = a[2]; copyto!(a, [3.0]); y * prod(a))",
        "90x^4",
        "360x^3",
    );
}

#[test]
fn a_copy_that_goes_its_own_way() {
    check_orders(
        "f(x) = (a = [x, x]; b = copy(a); b[1] = x^2; a[1] * a[2] * b[1] * b[2])",
        "20x^3",
        "60x^2",
    );
}

#[test]
fn arrays_of_tuples() {
    check_orders(
        "f(x) = (a = fill((x, x^2), 3); s = 0.0; for t in a; s += t[1] * t[2]; end; s * x)",
        "36x^2",
        "72x",
    );
    check_orders(
        "f(x) = (a = [(0.0, 0.0), (1.0, x)]; y = a[2][2]; fill!(a, (x, y * x)); a[1][1] * a[2][2])",
        "6x",
        "6",
    );
    check_orders(
        "f(x) = (a = [(x, 1.0), (x, 1.0)]; copyto!(a, [(x^2, x)]); a[1][1] * a[1][2] * a[2][1])",
        "12x^2",
        "24x",
    );
}

#[test]
fn arrays_of_tuples_that_hold_arrays() {
    check_orders(
        "f(x) = (a = fill((x, [x^2]), 2); a[1][1] * a[2][2][1] * a[1][2][1])",
        "20x^3",
        "60x^2",
    );
    check_orders(
        "f(x) = (a = fill((x, [x]), 2); y = a[1][1] * a[2][2][1]; fill!(a, (x, [x^2])); \
         y * a[1][1] * a[2][2][1])",
        "20x^3",
        "60x^2",
    );
    check_orders(
        "f(x) = (a = fill((x, [x]), 2); b = fill((x^2, [x]), 2); copyto!(a, b); \
         a[1][1] * a[2][2][1] * a[2][1])",
        "20x^3",
        "60x^2",
    );
}

#[test]
fn in_loops() {
    // x, x², x⁴, ..
    check_orders(
        "function f(x)\n  a = fill(x, 2)\n  for i in 1:3\n    fill!(a, a[1] * a[2])\n  end\n  a[2]\nend",
        "56x^6",
        "336x^5",
    );
    check_orders(
        "function f(x)\n  a = [x, x]\n  for i in 1:2\n    b = copy(a)\n    b[1] = a[1] * a[2]\n    \
         copyto!(a, b)\n  end\n  a[1]\nend",
        "6x",
        "6",
    );
}

#[test]
fn arrays_that_are_joined_and_repeated() {
    let of = |joined: &str| {
        let f = format!("f(x) = sum(abs2, {joined}) * x");
        check_orders(&f, "60x", "60");
    };
    of("vcat([x], [3x])");
    of("reduce(vcat, [[x], [0.0, 3x]])");
    of("reduce(hcat, [[x, 0.0], [0.0, 3x]])");
    of("repeat([x, 2x], 2)");
    of("repeat([x, 2x]; inner = 2)");
}
