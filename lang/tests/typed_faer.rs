//! Matrices of the crate `faer`, lent to functions of a session.

use faer::{Mat, MatMut, MatRef};
use regraft_exec::EngineKind;
use regraft_exec::typed::{ByRef, ByValue, Fixed};
use regraft_lang::Session;

fn session(text: &str) -> Session {
    let mut session = Session::new(&regraft_dialects::context());
    session.set_engine(EngineKind::Cranelift).expect("Cranelift runs on this machine");
    session.run("test.jl", text).expect("the program is right");
    session
}

/// The matrix `10 i + j`.
fn matrix(rows: usize, columns: usize) -> Mat<f64> {
    Mat::from_fn(rows, columns, |i, j| 10.0 * (i + 1) as f64 + (j + 1) as f64)
}

const SET: &str = "f(a, i, j) = (a[i, j] += 0.5; a[i, j] + 100 * size(a, 1))";

#[test]
fn matrices_with_and_without_room_behind_their_columns() {
    let mut session = session(SET);
    let f = session.compile::<fn(&mut Mat<f64>, i64, i64) -> f64>("f").unwrap();
    // `faer` begins each column at a multiple of a register's size.
    assert!(matrix(2, 3).col_stride() > 2 && matrix(32, 3).col_stride() == 32);
    for rows in [2, 32] {
        let (mut a, mut expected) = (matrix(rows, 3), matrix(rows, 3));
        assert_eq!(f.call((&mut a, 2, 3)).unwrap(), 23.5 + 100.0 * rows as f64);
        expected[(1, 2)] = 23.5;
        assert_eq!(a, expected);
    }
}

#[test]
fn views() {
    let mut session = session(SET);
    type F = ((MatMut<'static, f64>, ByValue<i64>, ByValue<i64>), f64);
    let f = session.compile::<F>("f").unwrap();
    let (mut a, mut expected) = (matrix(8, 3), matrix(8, 3));
    // Two of the columns, which are lent as they are.
    assert_eq!(f.call((a.as_mut().subcols_mut(1, 2), 1, 1)).unwrap(), 812.5);
    // Some of the rows, and the transpose of these.
    assert_eq!(f.call((a.as_mut().subrows_mut(2, 4), 1, 1)).unwrap(), 431.5);
    assert_eq!(f.call((a.as_mut().subrows_mut(2, 4).transpose_mut(), 3, 2)).unwrap(), 343.5);
    expected[(0, 1)] = 12.5;
    expected[(2, 0)] = 31.5;
    expected[(3, 2)] = 43.5;
    assert_eq!(a, expected);
}

#[test]
fn gradients() {
    let mut session = session("f(a, x, b) = sum(a * x * b)");
    let (a, x, b) = (matrix(2, 3), matrix(3, 1), matrix(1, 1));
    // By a[i, j]: b x[j]; by x[j]: b times the sum of column j.
    let da = Mat::from_fn(2, 3, |_, j| b[(0, 0)] * x[(j, 0)]);
    let dx = Mat::from_fn(3, 1, |j, _| b[(0, 0)] * (a[(0, j)] + a[(1, j)]));
    let value = (0..3).map(|j| (a[(0, j)] + a[(1, j)]) * x[(j, 0)] * b[(0, 0)]).sum::<f64>();

    type Owned = ((ByRef<Mat<f64>>, ByRef<Mat<f64>>, Fixed<ByRef<Mat<f64>>>), f64);
    let gradient = session.compile_gradient::<Owned>("f").unwrap();
    let (mut to_a, mut to_x) = (Mat::zeros(2, 3), Mat::zeros(3, 1));
    assert_eq!(gradient.call((&a, &x, &b), (&mut to_a, &mut to_x, ())).unwrap(), value);
    assert_eq!((&to_a, &to_x), (&da, &dx));

    type Seen = MatRef<'static, f64>;
    let gradient = session.compile_gradient::<((Seen, Seen, Fixed<Seen>), f64)>("f").unwrap();
    let args = (a.as_ref(), x.as_ref(), b.as_ref());
    assert_eq!(gradient.value_and_gradient(args).unwrap(), (value, (da, dx, ())));
}
