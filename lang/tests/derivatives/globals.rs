//! Global variables that a derivative reads, and those that change in between.

use regraft_exec::Limits;

use super::{check, check_in, session};

#[test]
fn a_global_that_is_only_read_has_no_shadow() {
    let mut session = session("xs = [[1.0i, 2.0] for i in 1:20_000]\nf(w) = w * sum(xs[7])\n");
    // A shadow of the whole takes more than a megabyte.
    session.set_limits(Limits { memory: 1 << 18, ..session.limits() });
    check_in(
        &mut session,
        &[
            ("gradient(f, 2.0)", "(9.0,)"),
            ("hessian(f, 2.0)", "0.0"),
            ("derivative(f, 2.0)", "9.0"),
        ],
    );
}

#[test]
fn a_global_that_gets_a_value_of_another_type() {
    check(
        "xs = [2.0, 3.0]\nf(w) = w * xs[1]\n",
        &[
            ("gradient(f, 2.0)", "(2.0,)"),
            ("xs = [[5.0]]; xs = xs[1]; gradient(f, 2.0)", "(5.0,)"),
            ("xs = (7, :b); gradient(f, 2.0)", "(7.0,)"),
            ("xs = [:b]; gradient(f, 2.0)", "error: MethodError"),
            ("xs = 4.0; gradient(f, 2.0)", "(4.0,)"),
            ("y, back = pullback(f, 2.0); xs = (9.0, 1.0); back(1.0)", "(4.0,)"),
            ("gradient(f, 2.0)", "(9.0,)"),
        ],
    );
}

#[test]
fn a_global_that_changes_its_type_while_code_runs_that_reads_it() {
    check(
        "x = 1.0\nf(w) = w * x\nretype() = (global x = 2; nothing)\n\
         y = 1.0\ng(w) = w * y\n\
         k(w) = (a = f(w); retype(); a + f(w))\n",
        &[
            ("gradient(k, 3.0)", "(3.0,)"),
            ("gradient(f, 3.0)", "(2.0,)"),
            ("x = 1.5; gradient(k, 3.0)", "(3.5,)"),
            ("s = 0.0; for i in 1:3 y = i == 2 ? i : 0.5i; s += gradient(g, 1.0)[1] end; s", "4.0"),
            ("z = 1; (z = 2.5) + z", "5.0"),
        ],
    );
}

#[test]
fn a_global_that_a_derivative_writes_to() {
    check(
        "buffer = [0.0, 0.0]\nf(x) = (buffer[1] = x * x; buffer[2] = buffer[1] * x; buffer[2])\n",
        &[
            ("gradient(f, 2.0)", "(12.0,)"),
            ("buffer", "[4.0, 8.0]"),
            ("derivative(t -> gradient(f, t)[1], 3.0)", "18.0"),
            ("gradient(t -> gradient(f, t)[1], 3.0)", "(18.0,)"),
        ],
    );
}

/// Recursion keeps these out of what calls them.
const CALLEES: &str = "buffer = [0.0, 0.0]\n\
    put(x, n) = n == 0 ? (buffer[1] = x; nothing) : put(x, n - 1)\n\
    get(n) = n == 0 ? buffer[1] : get(n - 1)\n\
    held(n) = n == 0 ? buffer : held(n - 1)\n\
    same(a, n) = n == 0 ? a : same(a, n - 1)\n";

#[test]
fn what_one_function_puts_into_a_global_another_one_reads() {
    let definitions = format!(
        "{CALLEES}f(x) = (put(x^2, 3); get(3) * x)\n\
         g(x) = (held(2)[1] = x^2; get(3) * x)\n\
         h(x) = (same(held(2), 2)[1] = x^2; same(buffer, 1)[1] * x)\n\
         k(x) = (b = (held(1), x); b[1][1] = x^2; get(0) * x)\n\
         c(x) = (put(2.0, 3); get(3) * x)\n\
         l(x) = (for i in 1:3; put(x * get(1) + i, 1); end; get(2))\n"
    );
    for definitions in [definitions.clone(), definitions.replacen("buffer", "const buffer", 1)] {
        let mut session = session(&definitions);
        for f in ["f", "g", "h", "k"] {
            check_in(
                &mut session,
                &[
                    (&format!("gradient({f}, 2.0)"), "(12.0,)"),
                    (&format!("derivative({f}, 2.0)"), "12.0"),
                    (&format!("pullback({f}, 2.0)[2](1.0)"), "(12.0,)"),
                    (&format!("derivative(t -> gradient({f}, t)[1], 2.0)"), "12.0"),
                    (&format!("gradient(t -> gradient({f}, t)[1], 2.0)"), "(12.0,)"),
                    (&format!("gradient(t -> derivative({f}, t), 2.0)"), "(12.0,)"),
                    (&format!("derivative(t -> derivative({f}, t), 2.0)"), "12.0"),
                ],
            );
        }
        check_in(
            &mut session,
            &[
                ("gradient(c, 3.0)", "(2.0,)"),
                // ((b x + 1) x + 2) x + 3, where b = 2 is what was there.
                ("buffer[1] = 2.0; gradient(l, 1.0)", "(10.0,)"),
                ("buffer[1] = 2.0; derivative(l, 1.0)", "10.0"),
            ],
        );
    }
}

#[test]
fn calls_known_when_the_program_runs_share_globals() {
    check(
        &format!(
            "{CALLEES}calls = Any[put, get]\n\
             f(x) = (calls[1](x^2, 3); get(3) * x)\n\
             g(x) = (put(x^2, 3); calls[2](3) * x)\n\
             h(x) = (calls[1](x^2, 3); calls[2](3) * x * buffer[2]^0)\n"
        ),
        &[
            ("gradient(f, 2.0)", "(12.0,)"),
            ("derivative(f, 2.0)", "12.0"),
            ("gradient(g, 2.0)", "(12.0,)"),
            ("derivative(g, 2.0)", "12.0"),
            ("gradient(h, 2.0)", "(12.0,)"),
            ("derivative(h, 2.0)", "12.0"),
            ("derivative(t -> gradient(g, t)[1], 2.0)", "12.0"),
            ("gradient(t -> gradient(f, t)[1], 2.0)", "(12.0,)"),
        ],
    );
}

#[test]
fn a_checkpointed_loop_puts_into_a_global_and_reads_it() {
    check(
        &format!(
            "{CALLEES}step(x) = (put(x * get(1), 1); get(2))\n\
             f(x) = (buffer[1] = 1.0; for i in 1:4; step(x); end; get(1))\n\
             g(x) = (put(x, 2); checkpoint(get, 3) * x)\n\
             k(x) = (y = g(x); put(x^2, 2); y * get(3))\n\
             both(x, n) = (put(x, n); get(n))\n\
             h(x) = checkpoint(both, x, 2) * x\n"
        ),
        &[
            ("gradient(f, 2.0)", "(32.0,)"),
            ("derivative(f, 2.0)", "32.0"),
            // What only reads globals can be run again.
            ("gradient(g, 2.0)", "(4.0,)"),
            ("gradient(k, 2.0)", "(32.0,)"),
            ("gradient(h, 2.0)", "error: cannot be run again on the way back"),
        ],
    );
}
