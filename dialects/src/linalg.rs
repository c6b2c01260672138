//! `linalg`: dense products and factorisations.
//!
//! Matrices are arrays of rank 2; where an array of rank 1 is allowed it counts as one column. Results go
//! into arrays that are there: none of them may be one of the other operands. Nothing is said of the order
//! in which numbers are added; it is the same in each run on the same machine.
//!
//! Products have derivatives. What runs the other ops has rules in the library.
//!
//! ```
//! use regraft_dialects::{context, linalg};
//! use regraft_ir::{FunctionBuilder, Type};
//!
//! let ctx = context();
//! let matrix = ctx.array_type(Type::F64, 2);
//! let mut b = FunctionBuilder::new(&ctx, "f", &[matrix, matrix], Type::UNIT);
//! let (dest, a, no) = (b.param(0), b.param(1), b.const_bool(false));
//! b.push(linalg::product(dest, a, a, no, no))?;
//! assert_eq!(b.function().body(b.block()).count(), 1);
//! # Ok::<(), regraft_ir::IrError>(())
//! ```

use crate::attrs::INBOUNDS;
use crate::ir::{Effects, OperandSet};

/// Reads the elements of some operands, and writes those of some.
const fn reads_and_writes(reads: &[usize], writes: &[usize]) -> Effects {
    Effects {
        reads: set(reads),
        writes: set(writes),
        reads_shape: OperandSet::ALL,
        ..Effects::NONE
    }
}

const fn set(of: &[usize]) -> OperandSet {
    let mut result = OperandSet::NONE;
    let mut at = 0;
    while at < of.len() {
        result = result.with(of[at]);
        at += 1;
    }
    result
}

crate::dialect! {
    /// Dense products and factorisations.
    dialect linalg = 9;

    /// The product of two matrices, each transposed first if its flag says so: as added to zeros.
    ///
    /// Traps (`DimensionMismatch`) if the sizes do not fit, or if `dest` is one of the matrices that are multiplied.
    /// `{inbounds=true}` promises that neither is so.
    ///
    /// `linalg.product %1, %2, %3, true, false`
    PRODUCT = product(dest: [T], a: [T], b: [T], turned_a: bool, turned_b: bool) -> unit
        where T: Float [MAY_TRAP] { effects: reads_and_writes(&[1, 2], &[0]), attrs: INBOUNDS };

    /// Adds the product of two matrices to `dest`, each of the three transposed first if its flag says so.
    ///
    /// Traps (`DimensionMismatch`) if the sizes do not fit, or if `dest` is one of the matrices that are multiplied.
    /// `{inbounds=true}` promises that neither is so.
    ///
    /// `linalg.add_product %1, %2, %3, false, true, false`
    ADD_PRODUCT = add_product(dest: [T], a: [T], b: [T], turned_dest: bool, turned_a: bool,
        turned_b: bool) -> unit where T: Float [MAY_TRAP] {
        effects: reads_and_writes(&[0, 1, 2], &[0]),
        attrs: INBOUNDS,
    };

    /// Replaces `x` by the solution of `t * y = x` for a triangle of the square matrix `t`, the upper or
    /// the lower one; of its transpose if `turned`; with ones on the diagonal if `unit`. No element
    /// outside of the triangle is read.
    ///
    /// Traps (`DimensionMismatch`) if the sizes do not fit.
    ///
    /// `linalg.solve_triangular %1, %2, true, false, false`
    SOLVE_TRIANGULAR = solve_triangular(x: [T], t: [T], upper: bool, turned: bool, unit: bool)
        -> unit where T: Float [MAY_TRAP] { effects: reads_and_writes(&[0, 1], &[0]) };

    /// Replaces a matrix by its factors `L` (below the diagonal, which is 1) and `U`, with partial
    /// pivoting; `rows` gets the numbers of the rows of the matrix that became those of the factors.
    ///
    /// Traps (`DimensionMismatch`) if `rows` has not one element for each row.
    ///
    /// `linalg.lu %1, %2`
    LU = lu(a: [T], rows: [U]) -> unit where T: Float, U: Int [MAY_TRAP] { effects: reads_and_writes(&[0], &[0, 1]) };

    /// Replaces a matrix, of which the upper triangle is read, by its upper Cholesky factor. `false`, with
    /// nothing written, if it is not positive definite.
    ///
    /// Traps (`DimensionMismatch`) if it is not square.
    ///
    /// `%2: bool = linalg.cholesky %1`
    CHOLESKY = cholesky(a: [T]) -> bool where T: Float [MAY_TRAP] { effects: reads_and_writes(&[0], &[0]) };

    /// The factors of a matrix by Householder's reflections: `q` has orthonormal columns, as many as the
    /// matrix has rows or columns, whatever is fewer.
    ///
    /// Traps (`DimensionMismatch`) if the sizes do not fit.
    ///
    /// `linalg.qr %1, %2, %3`
    QR = qr(a: [T], q: [T], r: [T]) -> unit where T: Float [MAY_TRAP] {
        effects: reads_and_writes(&[0], &[1, 2]),
    };

    /// Replaces a symmetric matrix, of which the lower triangle is read, by its eigenvectors; `values` gets
    /// the eigenvalues in ascending order. `false`, with nothing written, if they are not found.
    ///
    /// Traps (`DimensionMismatch`) if the sizes do not fit.
    ///
    /// `%3: bool = linalg.eigen_symmetric %1, %2`
    EIGEN_SYMMETRIC = eigen_symmetric(a: [T], values: [T]) -> bool where T: Float [MAY_TRAP] {
        effects: reads_and_writes(&[0], &[0, 1]),
    };

    /// The same of a Hermitian matrix, told by its real and its imaginary part.
    ///
    /// Traps (`DimensionMismatch`) if the sizes do not fit.
    ///
    /// `%4: bool = linalg.eigen_hermitian %1, %2, %3`
    EIGEN_HERMITIAN = eigen_hermitian(re: [T], im: [T], values: [T]) -> bool where T: Float [MAY_TRAP] {
        effects: reads_and_writes(&[0, 1], &[0, 1, 2]),
    };

    /// Replaces a square matrix by its real Schur form, with 2×2 blocks on the diagonal for pairs of
    /// complex eigenvalues; `q` gets the orthogonal matrix. `false`, with nothing written, if it is not
    /// found.
    ///
    /// Traps (`DimensionMismatch`) if the sizes do not fit.
    ///
    /// `%3: bool = linalg.schur %1, %2`
    SCHUR = schur(a: [T], q: [T]) -> bool where T: Float [MAY_TRAP] { effects: reads_and_writes(&[0], &[0, 1]) };

    /// The thin singular value decomposition: `u`, the values in descending order, and `v` transposed.
    /// `false`, with nothing written, if it is not found.
    ///
    /// Traps (`DimensionMismatch`) if the sizes do not fit.
    ///
    /// `%5: bool = linalg.svd %1, %2, %3, %4`
    SVD = svd(a: [T], u: [T], values: [T], vt: [T]) -> bool where T: Float [MAY_TRAP] {
        effects: reads_and_writes(&[0], &[1, 2, 3]),
    };
}
