//! Products of a matrix and a vector, and of two vectors.
//!
//! Sums have a fixed number of partial sums, so that the bits do not depend on the lanes of the CPU.

use super::Real;
use crate::value::wide::run_wide;

/// The partial sums of a dot product.
const PARTS: usize = 16;

/// The columns that are added at once.
const COLUMNS: usize = 4;

/// Writes the products of the elements of `a` and `b` to `into`, a column for each element of `b`, or adds
/// them.
pub(super) fn outer<T: Real>(into: &mut [T], a: &[T], b: &[T], adds: bool) {
    if a.is_empty() {
        return;
    }
    run_wide(
        #[inline(always)]
        || {
            for (column, &y) in into.chunks_exact_mut(a.len()).zip(b) {
                for i in 0..a.len() {
                    let product = a[i] * y;
                    column[i] = if adds { column[i] + product } else { product };
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
            for (to, column) in into.iter_mut().zip(matrix.chunks_exact(vector.len())) {
                *to = *to + dot(column, vector);
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

#[inline(always)]
fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    let mut parts = [T::ZERO; PARTS];
    let (blocks, rest) = a.as_chunks::<PARTS>();
    let (others, of_others) = b.as_chunks::<PARTS>();
    for (a, b) in blocks.iter().zip(others) {
        for i in 0..PARTS {
            parts[i] = parts[i] + a[i] * b[i];
        }
    }
    for i in 0..rest.len() {
        parts[i] = parts[i] + rest[i] * of_others[i];
    }
    let mut count = PARTS;
    while count > 1 {
        count /= 2;
        for i in 0..count {
            parts[i] = parts[i] + parts[i + count];
        }
    }
    parts[0]
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
