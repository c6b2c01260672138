//! Products of a matrix and a vector, and of two vectors.
//!
//! Sums have a fixed number of partial sums, so that the bits do not depend on the lanes of the CPU. Loops go over indices:
//! what adapters of iterators do is not sure to be compiled for the lanes.

use super::Real;
use crate::value::wide::run_wide;

/// The partial sums of a dot product.
const PARTS: usize = 16;

/// The columns that are added at once.
const COLUMNS: usize = 4;

/// Adds the products of the elements of `a` and `b` to `into`, a column for each element of `b`, or to zeros unless
/// `adds` says so.
pub(super) fn outer<T: Real>(into: &mut [T], a: &[T], b: &[T], adds: bool) {
    if a.is_empty() {
        return;
    }
    if adds {
        each_product(
            into,
            a,
            b,
            #[inline(always)]
            |was, product| was + product,
        );
    } else {
        each_product(
            into,
            a,
            b,
            #[inline(always)]
            |_, product| T::ZERO + product,
        );
    }
}

/// Changes each element of a matrix by the product of an element of `a`, that of its row, and one of `b`.
fn each_product<T: Real>(into: &mut [T], a: &[T], b: &[T], change: impl Fn(T, T) -> T) {
    run_wide(
        #[inline(always)]
        || {
            for j in 0..b.len() {
                let column = &mut into[j * a.len()..][..a.len()];
                for i in 0..a.len() {
                    column[i] = change(column[i], a[i] * b[j]);
                }
            }
        },
    );
}

/// Adds the product of a matrix, transposed first if `turned`, and a vector to `into`.
pub(super) fn add_matrix_vector<T: Real>(into: &mut [T], matrix: &[T], vector: &[T], turned: bool) {
    if into.is_empty() || vector.is_empty() {
        return;
    }
    run_wide(
        #[inline(always)]
        || {
            if !turned {
                return add_columns(into, matrix, vector);
            }
            let column = |j: usize| &matrix[j * vector.len()..][..vector.len()];
            let whole = into.len() - into.len() % COLUMNS;
            let mut blocks = into.chunks_exact_mut(COLUMNS);
            for (j, block) in (0..).step_by(COLUMNS).zip(&mut blocks) {
                let sums = dots([column(j), column(j + 1), column(j + 2), column(j + 3)], vector);
                for k in 0..COLUMNS {
                    block[k] = block[k] + sums[k];
                }
            }
            for (j, last) in (whole..).zip(blocks.into_remainder()) {
                *last = *last + dot(column(j), vector);
            }
        },
    );
}

/// Adds the sum of columns, each times an element of the vector.
#[inline(always)]
fn add_columns<T: Real>(into: &mut [T], matrix: &[T], vector: &[T]) {
    let rows = into.len();
    let mut blocks = matrix.chunks_exact(rows * COLUMNS);
    let mut factors = vector.chunks_exact(COLUMNS);
    for (block, x) in (&mut blocks).zip(&mut factors) {
        let (a, rest) = block.split_at(rows);
        let (b, rest) = rest.split_at(rows);
        let (c, d) = rest.split_at(rows);
        let d = &d[..rows];
        for i in 0..rows {
            into[i] = into[i] + (a[i] * x[0] + b[i] * x[1]) + (c[i] * x[2] + d[i] * x[3]);
        }
    }
    for (column, &x) in blocks.remainder().chunks_exact(rows).zip(factors.remainder()) {
        for i in 0..rows {
            into[i] = into[i] + column[i] * x;
        }
    }
}

/// The products of columns and a vector, each of which is the same as if it were the only one.
#[inline(always)]
fn dots<T: Real>([a, b, c, d]: [&[T]; COLUMNS], vector: &[T]) -> [T; COLUMNS] {
    let (mut of_a, mut of_b) = ([T::ZERO; PARTS], [T::ZERO; PARTS]);
    let (mut of_c, mut of_d) = ([T::ZERO; PARTS], [T::ZERO; PARTS]);
    let whole = vector.len() - vector.len() % PARTS;
    let mut at = 0;
    while at < whole {
        let x = &vector[at..][..PARTS];
        let (a, b) = (&a[at..][..PARTS], &b[at..][..PARTS]);
        let (c, d) = (&c[at..][..PARTS], &d[at..][..PARTS]);
        for i in 0..PARTS {
            of_a[i] = of_a[i] + a[i] * x[i];
            of_b[i] = of_b[i] + b[i] * x[i];
            of_c[i] = of_c[i] + c[i] * x[i];
            of_d[i] = of_d[i] + d[i] * x[i];
        }
        at += PARTS;
    }
    let x = &vector[whole..];
    [
        total(&of_a, &a[whole..], x),
        total(&of_b, &b[whole..], x),
        total(&of_c, &c[whole..], x),
        total(&of_d, &d[whole..], x),
    ]
}

#[inline(always)]
fn dot<T: Real>(a: &[T], x: &[T]) -> T {
    let mut parts = [T::ZERO; PARTS];
    let whole = x.len() - x.len() % PARTS;
    let mut at = 0;
    while at < whole {
        let (a, x) = (&a[at..][..PARTS], &x[at..][..PARTS]);
        for i in 0..PARTS {
            parts[i] = parts[i] + a[i] * x[i];
        }
        at += PARTS;
    }
    total(&parts, &a[whole..], &x[whole..])
}

/// The sum of partial sums, and of the products of what is left. Loops over halves, or over the rest, would keep the parts in
/// memory.
#[inline(always)]
fn total<T: Real>(parts: &[T; PARTS], a: &[T], x: &[T]) -> T {
    let p = |i: usize| parts[i] + parts[i + PARTS / 2];
    let mut sum = ((p(0) + p(4)) + (p(2) + p(6))) + ((p(1) + p(5)) + (p(3) + p(7)));
    for i in 0..x.len() {
        sum = sum + a[i] * x[i];
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Products of small integers are exact, in whatever order they are added.
    #[test]
    fn products_with_vectors_are_those_of_the_definition() {
        let sizes = [0, 1, 2, 3, 5, 16, 17, 37];
        for (m, n) in sizes.iter().flat_map(|&m| sizes.map(|n| (m, n))) {
            let matrix: Vec<f64> = (0..m * n).map(|k| (k * 7 % 11) as f64 - 5.0).collect();
            let vector = |len: usize| (0..len).map(|k| (k * 5 % 9) as f64 - 4.0).collect();
            let (of_columns, of_rows): (Vec<f64>, Vec<f64>) = (vector(n), vector(m));
            let was = |len: usize| (0..len).map(|k| (k % 3) as f64).collect::<Vec<_>>();
            let mut found = was(m);
            add_matrix_vector(&mut found, &matrix, &of_columns, false);
            for (i, &found) in found.iter().enumerate() {
                let want: f64 = (0..n).map(|j| matrix[i + j * m] * of_columns[j]).sum();
                assert_eq!(found, was(m)[i] + want, "row {i} of {m} by {n}");
            }
            let mut found = was(n);
            add_matrix_vector(&mut found, &matrix, &of_rows, true);
            for (j, &found) in found.iter().enumerate() {
                let want: f64 = (0..m).map(|i| matrix[i + j * m] * of_rows[i]).sum();
                assert_eq!(found, was(n)[j] + want, "column {j} of {m} by {n}");
            }
            let want = |k: usize| of_rows[k % m] * of_columns[k / m];
            let mut found = vec![f64::NAN; m * n];
            outer(&mut found, &of_rows, &of_columns, false);
            assert!((0..m * n).all(|k| found[k] == want(k)), "{m} by {n}");
            let mut found = was(m * n);
            outer(&mut found, &of_rows, &of_columns, true);
            assert!((0..m * n).all(|k| found[k] == was(m * n)[k] + want(k)), "{m} by {n}");
        }
    }
}
