//! `linalg`: dense products by `matrixmultiply`, factorisations by `nalgebra`.
//!
//! Factorisations work on copies, in double precision.

use nalgebra::linalg::{Cholesky, LU, SVD, Schur, SymmetricEigen};
use nalgebra::{Complex, ComplexField, DMatrix, DMatrixViewMut, DVector, Reflection, Unit};
use regraft_ir::Type;

use super::context::EvalCx;
use crate::error::Trap;
use crate::value::{Array, ElementType, Shared, Val, product};

/// The size up to which a triangular system is solved column by column.
const SMALL: usize = 32;

fn mismatch(cx: &EvalCx<'_>, arrays: &[&Shared<Array>]) -> Trap {
    let sizes: Vec<String> = arrays.iter().map(|array| format!("{:?}", array.dims())).collect();
    let name = cx.def.mnemonic();
    Trap::new("DimensionMismatch", format!("`{name}` does not work on sizes {}", sizes.join(", ")))
}

/// The elements as doubles.
fn numbers(cx: &EvalCx<'_>, array: &Shared<Array>) -> Result<Vec<f64>, Trap> {
    cx.host.reserve_array(ElementType::builtin(Type::F64), array.len())?;
    let single = || Some(array.to_vec::<f32>()?.into_iter().map(f64::from).collect());
    let found = array.to_vec::<f64>().or_else(single);
    found.ok_or_else(|| cx.wrong_types(&[Val::Array(array.clone())]))
}

/// A copy of an array; one of rank 1 is a column.
fn matrix(cx: &EvalCx<'_>, array: &Shared<Array>) -> Result<DMatrix<f64>, Trap> {
    if array.rank() > 2 {
        return Err(mismatch(cx, &[array]));
    }
    Ok(DMatrix::from_vec(array.dim(0), array.dim(1), numbers(cx, array)?))
}

fn square(cx: &EvalCx<'_>, array: &Shared<Array>) -> Result<DMatrix<f64>, Trap> {
    let matrix = matrix(cx, array)?;
    if matrix.is_square() { Ok(matrix) } else { Err(mismatch(cx, &[array])) }
}

/// Writes numbers in memory order.
fn write(cx: &EvalCx<'_>, dest: &Shared<Array>, from: &[f64]) -> Result<(), Trap> {
    if dest.len() != from.len() {
        return Err(mismatch(cx, &[dest]));
    }
    if let Some(buffer) = dest.buffer::<f64>() {
        buffer.copy_from(&from.iter().copied().collect());
    } else if let Some(buffer) = dest.buffer::<f32>() {
        buffer.copy_from(&from.iter().map(|&x| x as f32).collect());
    } else {
        return Err(cx.wrong_types(&[Val::Array(dest.clone())]));
    }
    Ok(())
}

/// Refuses arrays that do not have these sizes.
fn check(cx: &EvalCx<'_>, sizes: &[(&Shared<Array>, usize, usize)]) -> Result<(), Trap> {
    let fits = |&(array, m, n): &(&Shared<Array>, usize, usize)| {
        array.rank() <= 2 && (array.dim(0), array.dim(1)) == (m, n)
    };
    if sizes.iter().all(fits) {
        return Ok(());
    }
    let arrays: Vec<_> = sizes.iter().map(|&(array, ..)| array).collect();
    Err(mismatch(cx, &arrays))
}

pub(super) fn product(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [dest, a, b, Val::Bool(turn_a), Val::Bool(turn_b)] = args else {
        return Err(cx.wrong_types(args));
    };
    multiply(cx, args, [dest, a, b], (*turn_a, *turn_b), false)
}

/// The transpose of a product is the product of the transposed factors in the other order.
pub(super) fn add_product(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [dest, a, b, Val::Bool(turn_dest), Val::Bool(turn_a), Val::Bool(turn_b)] = args else {
        return Err(cx.wrong_types(args));
    };
    if *turn_dest {
        multiply(cx, args, [dest, b, a], (!turn_b, !turn_a), true)
    } else {
        multiply(cx, args, [dest, a, b], (*turn_a, *turn_b), true)
    }
}

/// Writes the product of two matrices to the first one, or adds it.
fn multiply(
    cx: &EvalCx<'_>,
    args: &[Val],
    arrays: [&Val; 3],
    turned: (bool, bool),
    adds: bool,
) -> Result<Val, Trap> {
    let [Val::Array(dest), Val::Array(a), Val::Array(b)] = arrays else {
        return Err(cx.wrong_types(args));
    };
    let arrays = [&**dest, &**a, &**b];
    let done = match dest.element() {
        _ if a.element() != dest.element() || b.element() != dest.element() => None,
        Type::F64 => Some(product::multiply::<f64>(arrays, turned, adds)),
        Type::F32 => Some(product::multiply::<f32>(arrays, turned, adds)),
        _ => None,
    };
    let Some(done) = done else { return Err(cx.wrong_types(args)) };
    done.map(|()| Val::Unit).ok_or_else(|| mismatch(cx, &[dest, a, b]))
}

pub(super) fn solve_triangular(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(x), Val::Array(t), Val::Bool(upper), Val::Bool(turned), Val::Bool(unit)] = args
    else {
        return Err(cx.wrong_types(args));
    };
    let (mut result, mut triangle) = (matrix(cx, x)?, square(cx, t)?);
    if result.nrows() != triangle.nrows() {
        return Err(mismatch(cx, &[x, t]));
    }
    if *turned {
        triangle.transpose_mut();
    }
    if *unit {
        triangle.fill_diagonal(1.0);
    }
    substitute(&triangle, upper != turned, result.as_view_mut(), 0);
    write(cx, x, result.as_slice())?;
    Ok(Val::Unit)
}

/// Solves for the rows of `x`, which are those of the triangle from `from` on: one half, then what it
/// takes from the other one, then that.
fn substitute(t: &DMatrix<f64>, upper: bool, mut x: DMatrixViewMut<'_, f64>, from: usize) {
    let (n, columns) = x.shape();
    if n <= SMALL {
        let block = t.view((from, from), (n, n));
        // Divisions by zero give infinities, as numbers do.
        if upper {
            block.solve_upper_triangular_unchecked_mut(&mut x);
        } else {
            block.solve_lower_triangular_unchecked_mut(&mut x);
        }
        return;
    }
    let half = n / 2;
    let (mut top, mut bottom) = x.rows_range_pair_mut(..half, half..);
    let (first, second) = (
        t.view((from, from + half), (half, n - half)),
        t.view((from + half, from), (n - half, half)),
    );
    debug_assert_eq!(top.ncols(), columns);
    if upper {
        substitute(t, upper, bottom.as_view_mut(), from + half);
        top.gemm(-1.0, &first, &bottom, 1.0);
        substitute(t, upper, top, from);
    } else {
        substitute(t, upper, top.as_view_mut(), from);
        bottom.gemm(-1.0, &second, &top, 1.0);
        substitute(t, upper, bottom, from + half);
    }
}

pub(super) fn lu(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(a), Val::Array(rows)] = args else { return Err(cx.wrong_types(args)) };
    let of = matrix(cx, a)?;
    check(cx, &[(rows, of.nrows(), 1)])?;
    let Some(numbers) = rows.buffer::<i64>() else { return Err(cx.wrong_types(args)) };
    let factors = LU::new(of);
    let mut order = DVector::from_iterator(numbers.len(), 1..=numbers.len() as i64);
    factors.p().permute_rows(&mut order);
    write(cx, a, factors.lu_internal().as_slice())?;
    numbers.copy_from(&order.iter().copied().collect());
    Ok(Val::Unit)
}

pub(super) fn cholesky(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(a)] = args else { return Err(cx.wrong_types(args)) };
    // The library reads the lower triangle, and makes the lower factor.
    let Some(factor) = Cholesky::new(square(cx, a)?.transpose()) else {
        return Ok(Val::Bool(false));
    };
    write(cx, a, factor.unpack().transpose().as_slice())?;
    Ok(Val::Bool(true))
}

/// The reflections are chosen as LAPACK does: the first element of what is reflected changes its sign.
pub(super) fn qr(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(a), Val::Array(q), Val::Array(r)] = args else {
        return Err(cx.wrong_types(args));
    };
    let mut rest = matrix(cx, a)?;
    let (m, n) = rest.shape();
    let k = m.min(n);
    check(cx, &[(q, m, k), (r, k, n)])?;
    let mut reflections = Vec::with_capacity(k);
    for j in 0..k.min(m.saturating_sub(1)) {
        let mut axis: DVector<f64> = rest.view((j, j), (m - j, 1)).column(0).into_owned();
        let norm = axis.norm();
        axis[0] += norm.copysign(axis[0]);
        let reflection = (norm > 0.0).then(|| Reflection::new(Unit::new_normalize(axis), 0.0));
        if let Some(reflection) = &reflection {
            reflection.reflect(&mut rest.view_mut((j, j), (m - j, n - j)));
        }
        reflections.push(reflection);
    }
    let mut orthogonal = DMatrix::<f64>::identity(m, k);
    for (j, reflection) in reflections.iter().enumerate().rev() {
        if let Some(reflection) = reflection {
            reflection.reflect(&mut orthogonal.view_mut((j, j), (m - j, k - j)));
        }
    }
    write(cx, q, orthogonal.as_slice())?;
    write(cx, r, rest.rows(0, k).upper_triangle().as_slice())?;
    Ok(Val::Unit)
}

/// The number of steps after which a factorisation of size `n` is given up.
fn steps(n: usize) -> usize {
    1000 + 100 * n
}

pub(super) fn eigen_symmetric(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(a), Val::Array(values)] = args else { return Err(cx.wrong_types(args)) };
    let of = square(cx, a)?;
    let n = of.nrows();
    check(cx, &[(values, n, 1)])?;
    let Some((sorted, vectors)) = eigen(of) else { return Ok(Val::Bool(false)) };
    write(cx, a, vectors.as_slice())?;
    write(cx, values, &sorted)?;
    Ok(Val::Bool(true))
}

pub(super) fn eigen_hermitian(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(re), Val::Array(im), Val::Array(values)] = args else {
        return Err(cx.wrong_types(args));
    };
    let (real, imaginary) = (square(cx, re)?, matrix(cx, im)?);
    let n = real.nrows();
    check(cx, &[(im, n, n), (values, n, 1)])?;
    let of = real.zip_map(&imaginary, Complex::new);
    let Some((sorted, vectors)) = eigen(of) else { return Ok(Val::Bool(false)) };
    write(cx, re, vectors.map(|z| z.re).as_slice())?;
    write(cx, im, vectors.map(|z| z.im).as_slice())?;
    write(cx, values, &sorted)?;
    Ok(Val::Bool(true))
}

/// The eigenvalues of a Hermitian matrix in ascending order, with the vectors.
fn eigen<T: ComplexField<RealField = f64>>(of: DMatrix<T>) -> Option<(Vec<f64>, DMatrix<T>)> {
    let n = of.nrows();
    let found = SymmetricEigen::try_new(of, f64::EPSILON, steps(n))?;
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| found.eigenvalues[i].total_cmp(&found.eigenvalues[j]));
    let sorted = order.iter().map(|&i| found.eigenvalues[i]).collect();
    Some((sorted, found.eigenvectors.select_columns(&order)))
}

pub(super) fn schur(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(a), Val::Array(q)] = args else { return Err(cx.wrong_types(args)) };
    let of = square(cx, a)?;
    let n = of.nrows();
    check(cx, &[(q, n, n)])?;
    let Some(found) = Schur::try_new(of, f64::EPSILON, steps(n)) else {
        return Ok(Val::Bool(false));
    };
    let (vectors, triangle) = found.unpack();
    write(cx, a, triangle.as_slice())?;
    write(cx, q, vectors.as_slice())?;
    Ok(Val::Bool(true))
}

pub(super) fn svd(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(a), Val::Array(u), Val::Array(values), Val::Array(vt)] = args else {
        return Err(cx.wrong_types(args));
    };
    let of = matrix(cx, a)?;
    let ((m, n), k) = (of.shape(), of.nrows().min(of.ncols()));
    check(cx, &[(u, m, k), (values, k, 1), (vt, k, n)])?;
    let Some(found) = SVD::try_new(of, true, true, f64::EPSILON, steps(m.max(n))) else {
        return Ok(Val::Bool(false));
    };
    let (Some(left), Some(right)) = (found.u, found.v_t) else { return Ok(Val::Bool(false)) };
    write(cx, u, left.as_slice())?;
    write(cx, values, found.singular_values.as_slice())?;
    write(cx, vt, right.as_slice())?;
    Ok(Val::Bool(true))
}
