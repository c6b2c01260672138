//! Matrices of the crate `ndarray`, lent to functions of a session.

use ndarray::{Array1, Array2, ArrayRef2, Axis, ShapeBuilder, s};
use regraft_exec::EngineKind;
use regraft_exec::typed::{ByRef, Fixed};
use regraft_lang::Session;

fn session(text: &str) -> Session {
    let mut session = Session::new(&regraft_dialects::context());
    session.set_engine(EngineKind::Cranelift).expect("Cranelift runs on this machine");
    session.run("test.jl", text).expect("the program is right");
    session
}

/// The matrix `10 i + j`, in the order that the program has.
fn matrix(rows: usize, columns: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns).f(), |(i, j)| 10.0 * (i + 1) as f64 + (j + 1) as f64)
}

#[test]
fn matrices_are_lent() {
    let mut session = session("f(a, i, j) = (a[i, j] += 0.5; a[i, j] + 100 * size(a, 1))");
    let f = session.compile::<fn(&mut ArrayRef2<f64>, i64, i64) -> f64>("f").unwrap();
    let mut a = matrix(2, 3);
    assert_eq!(f.call((&mut a, 2, 3)).unwrap(), 223.5);
    assert_eq!(a[[1, 2]], 23.5);
    // Some of the columns.
    assert_eq!(f.call((&mut a.slice_mut(s![.., 1..]), 1, 1)).unwrap(), 212.5);
    assert_eq!(a[[0, 1]], 12.5);
}

#[test]
fn matrices_in_another_order_are_copied_and_copied_back() {
    let mut session = session("f(a, i, j) = (a[i, j] += 0.5; a[i, j] + 100 * size(a, 1))");
    let f = session.compile::<fn(&mut ArrayRef2<f64>, i64, i64) -> f64>("f").unwrap();
    let by_columns = matrix(2, 3);
    // Row by row, as `ndarray` has them by default.
    let mut rows = Array2::from_shape_fn((2, 3), |index| by_columns[index]);
    assert_eq!(f.call((&mut rows, 2, 3)).unwrap(), 223.5);
    let mut expected = by_columns.clone();
    expected[[1, 2]] = 23.5;
    assert_eq!(rows, expected);
    // One row of some columns, from the last to the first.
    let mut a = by_columns.clone();
    assert_eq!(f.call((&mut a.slice_mut(s![1.., ..;-1]), 1, 1)).unwrap(), 123.5);
    assert_eq!(a, expected);
    // What failed has written, too.
    let mut session = self::session("g(a) = (a[1, 2] = 5.0; a[3, 1] = 6.0; 0.0)");
    let g = session.compile::<fn(&mut ArrayRef2<f64>) -> f64>("g").unwrap();
    assert!(g.call((&mut rows,)).is_err());
    expected[[0, 1]] = 5.0;
    assert_eq!(rows, expected);
}

#[test]
fn one_element_in_all_places() {
    let mut session = session("f(a) = sum(a) + a[end, 1]");
    let f = session.compile::<fn(&ArrayRef2<f64>) -> f64>("f").unwrap();
    let two = Array2::from_elem((1, 1), 2.0);
    assert_eq!(f.call((&two.broadcast((4, 5)).unwrap(),)).unwrap(), 42.0);
    // 2^63 bytes.
    let error = f.call((&two.broadcast((1 << 30, 1 << 30)).unwrap(),)).unwrap_err();
    assert!(error.message().contains("more elements than memory"), "{}", error.message());
    assert_eq!(f.call((&two.broadcast((2, 1)).unwrap(),)).unwrap(), 6.0);
}

#[test]
fn gradients_by_matrices() {
    let mut session = session("f(a, x) = sum(a * x)");
    type F = fn(&ArrayRef2<f64>, &[f64]) -> f64;
    let gradient = session.compile_gradient::<F>("f").unwrap();
    let (a, x) = (matrix(2, 3), [1.0, 2.0, 3.0]);
    let (mut da, mut dx) = (Array2::zeros((2, 3).f()), [0.0; 3]);
    let value = gradient.call((&a, &x), (&mut da, &mut dx)).unwrap();
    assert_eq!(value, a.dot(&Array1::from(x.to_vec())).sum());
    // By a[i, j]: x[j], by x[j]: the sum of column j.
    assert_eq!(da, Array2::from_shape_fn((2, 3), |(_, j)| x[j]));
    assert_eq!(dx, [32.0, 34.0, 36.0]);
    assert_eq!(gradient.value_and_gradient((&a, &x)).unwrap(), (value, (da, dx.to_vec())));
}

#[test]
fn a_gradient_of_two_layers_by_their_weights_alone() {
    let text = "layer(w, x) = w * x ./ 2\nf(w, v, x) = sum(layer(v, layer(w, x)))";
    let mut session = session(text);
    type F = ((ByRef<ArrayRef2<f64>>, ByRef<ArrayRef2<f64>>, Fixed<ByRef<ArrayRef2<f64>>>), ());
    let gradient = session.compile_gradient::<F>("f").unwrap();
    // By loops, and by the library.
    for n in [2, 20] {
        let (w, v, x) = (matrix(n, n), matrix(n, n), matrix(n, 3));
        let [mut dw, mut dv] = [0; 2].map(|_| Array2::zeros((n, n).f()));
        gradient.call((&w, &v, &x), (&mut dw, &mut dv, ())).unwrap();
        // Of sum(V W X) / 4: by W it is Vᵀ 1 1ᵀ Xᵀ / 4, by V 1 1ᵀ (W X)ᵀ / 4. All numbers are whole quarters.
        let (columns, rows) = (v.sum_axis(Axis(0)), x.sum_axis(Axis(1)));
        assert_eq!(dw, Array2::from_shape_fn((n, n), |(i, j)| columns[i] * rows[j] / 4.0));
        let rows = w.dot(&x).sum_axis(Axis(1));
        assert_eq!(dv, Array2::from_shape_fn((n, n), |(_, j)| rows[j] / 4.0));
    }
}
