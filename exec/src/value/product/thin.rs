//! Products of a matrix and a vector, and of two vectors.
//!
//! Sums have a fixed number of partial sums, so that the bits do not depend on the lanes of the CPU.

use super::Real;

/// The partial sums of a dot product.
const PARTS: usize = 16;

/// The columns that are added at once.
const COLUMNS: usize = 4;

/// Writes the products of the elements of `a` and `b` to `into`, a column for each element of `b`.
pub(super) fn outer<T: Real>(into: &mut [T], a: &[T], b: &[T]) {
    if a.is_empty() {
        return;
    }
    for (column, &y) in into.chunks_exact_mut(a.len()).zip(b) {
        for (to, &x) in column.iter_mut().zip(a) {
            *to = x * y;
        }
    }
}

/// Writes the product of a matrix, transposed first if `turned`, and a vector to `into`.
pub(super) fn matrix_vector<T: Real>(into: &mut [T], matrix: &[T], vector: &[T], turned: bool) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has what the function uses.
        unsafe { wide(into, matrix, vector, turned) };
        return;
    }
    narrow(into, matrix, vector, turned);
}

/// The same with wider lanes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn wide<T: Real>(into: &mut [T], matrix: &[T], vector: &[T], turned: bool) {
    narrow(into, matrix, vector, turned);
}

#[inline(always)]
fn narrow<T: Real>(into: &mut [T], matrix: &[T], vector: &[T], turned: bool) {
    if into.is_empty() {
        return;
    }
    if !turned {
        return by_columns(into, matrix, vector);
    }
    if vector.is_empty() {
        return into.fill(T::ZERO);
    }
    for (to, column) in into.iter_mut().zip(matrix.chunks_exact(vector.len())) {
        *to = dot(column, vector);
    }
}

/// The sum of columns, each times an element of the vector.
#[inline(always)]
fn by_columns<T: Real>(into: &mut [T], matrix: &[T], vector: &[T]) {
    let rows = into.len();
    into.fill(T::ZERO);
    let mut blocks = matrix.chunks_exact(rows * COLUMNS);
    let mut factors = vector.chunks_exact(COLUMNS);
    for (block, x) in (&mut blocks).zip(&mut factors) {
        let (first, second) = block.split_at(2 * rows);
        let ((a, b), (c, d)) = (first.split_at(rows), second.split_at(rows));
        for ((((to, &a), &b), &c), &d) in into.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            *to = *to + (a * x[0] + b * x[1]) + (c * x[2] + d * x[3]);
        }
    }
    for (column, &x) in blocks.remainder().chunks_exact(rows).zip(factors.remainder()) {
        for (to, &a) in into.iter_mut().zip(column) {
            *to = *to + a * x;
        }
    }
}

#[inline(always)]
fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    let mut parts = [T::ZERO; PARTS];
    let (mut blocks, mut others) = (a.chunks_exact(PARTS), b.chunks_exact(PARTS));
    for (a, b) in (&mut blocks).zip(&mut others) {
        for ((part, &x), &y) in parts.iter_mut().zip(a).zip(b) {
            *part = *part + x * y;
        }
    }
    for ((part, &x), &y) in parts.iter_mut().zip(blocks.remainder()).zip(others.remainder()) {
        *part = *part + x * y;
    }
    let mut count = PARTS;
    while count > 1 {
        count /= 2;
        let (low, high) = parts.split_at_mut(count);
        low.iter_mut().zip(high).for_each(|(low, &mut high)| *low = *low + high);
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
            let mut found = vec![f64::NAN; m];
            matrix_vector(&mut found, &matrix, &of_columns, false);
            for (i, &found) in found.iter().enumerate() {
                let want: f64 = (0..n).map(|j| matrix[i + j * m] * of_columns[j]).sum();
                assert_eq!(found, want, "row {i} of {m} by {n}");
            }
            let mut found = vec![f64::NAN; n];
            matrix_vector(&mut found, &matrix, &of_rows, true);
            for (j, &found) in found.iter().enumerate() {
                let want: f64 = (0..m).map(|i| matrix[i + j * m] * of_rows[i]).sum();
                assert_eq!(found, want, "column {j} of {m} by {n}");
            }
            let mut found = vec![f64::NAN; m * n];
            outer(&mut found, &of_rows, &of_columns);
            let want = |k: usize| of_rows[k % m] * of_columns[k / m];
            assert!((0..m * n).all(|k| found[k] == want(k)), "{m} by {n}");
        }
    }
}
