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
            ("xs = [[1, 2]]; gradient(f, 2.0)", "error: MethodError"),
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
