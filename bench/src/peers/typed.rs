//! The gradients of the cases as functions of Rust, with shadows that are there.

use std::ops::{Deref, DerefMut};

use ndarray::{Array1, Array2, ArrayRef2, Order, s};
use regraft_exec::Val;
use regraft_exec::typed::{ActiveParams, ByMut, ByRef, Fixed, Params, Signature, Valued};
use regraft_exec::value::Element;
use regraft_ir::Diagnostic;
use regraft_lang::{Session, TypedGradient};

/// Computes a gradient once.
pub(super) type Run = Box<dyn FnMut() -> Result<(), Diagnostic>>;

type Slice = ByRef<[f64]>;
type Matrix = ByRef<ArrayRef2<f64>>;

/// The gradient of a function of arguments of the shapes of a case, ready to run; made for their lengths if so asked.
///
/// # Errors
/// If the function is wrong, or not one of such arguments.
pub(super) fn prepare(
    session: &mut Session,
    shape: Shape,
    function: &str,
    args: &[Val],
    for_lengths: bool,
) -> Result<Run, Vec<Diagnostic>> {
    let mut args = Args(args.iter());
    let mut making = Making { session, function, for_lengths };
    Ok(match shape {
        Shape::Slice => {
            let (x, mut dx) = args.slice()?;
            let gradient = making.gradient::<((Slice,), ())>(&(&x,))?;
            Box::new(move || gradient.call((&x,), (&mut dx,)))
        }
        Shape::TwoSlices => {
            let ((mut y, mut dy), (x, mut dx)) = (args.slice()?, args.slice()?);
            let gradient = making.gradient::<((ByMut<[f64]>, Slice), ())>(&(&mut y, &x))?;
            Box::new(move || gradient.call((&mut y, &x), (&mut dy, &mut dx)))
        }
        Shape::TwoMatrices => {
            let ((a, mut da), (b, mut db)) = (args.matrix()?, args.matrix()?);
            let gradient = making.gradient::<((Matrix, Matrix), ())>(&(&a, &b))?;
            Box::new(move || gradient.call((&a, &b), (&mut da, &mut db)))
        }
        Shape::Layers => {
            type F = ((Matrix, Slice, Matrix, Slice, Fixed<Matrix>), ());
            let ((w1, mut dw1), (b1, mut db1)) = (args.matrix()?, args.slice()?);
            let ((w2, mut dw2), (b2, mut db2)) = (args.matrix()?, args.slice()?);
            let (x, _) = args.matrix()?;
            let gradient = making.gradient::<F>(&(&w1, &b1, &w2, &b2, &x))?;
            Box::new(move || {
                let shadows = (&mut *dw1, &mut *db1, &mut *dw2, &mut *db2, ());
                gradient.call((&w1, &b1, &w2, &b2, &x), shadows)
            })
        }
        Shape::Mixture => {
            type F = ((Slice, Matrix, Matrix, Fixed<Matrix>), ());
            let ((a, mut da), (m, mut dm)) = (args.slice()?, args.matrix()?);
            let ((q, mut dq), (x, _)) = (args.matrix()?, args.matrix()?);
            let gradient = making.gradient::<F>(&(&a, &m, &q, &x))?;
            Box::new(move || gradient.call((&a, &m, &q, &x), (&mut da, &mut dm, &mut dq, ())))
        }
        Shape::Jacobian => {
            type Columns = ByRef<[i64]>;
            type F = ((ByMut<ArrayRef2<f64>>, Matrix, Matrix, Slice, Columns, Columns, Matrix), ());
            let jacobian = making.session.compile::<F>(function)?;
            let ((mut rows, _), (cameras, _)) = (args.matrix()?, args.matrix()?);
            let ((points, _), (weights, _)) = (args.matrix()?, args.slice()?);
            let (camera, point) = (args.indices()?, args.indices()?);
            let (features, _) = args.matrix()?;
            Box::new(move || {
                let seen = (&camera[..], &point[..]);
                let all =
                    (&mut *rows, &*cameras, &*points, &weights[..], seen.0, seen.1, &*features);
                jacobian.call(all)
            })
        }
        Shape::Network => {
            type F = ((Matrix, Matrix, Fixed<Matrix>, Fixed<Matrix>), ());
            let ((main, mut dmain), (extra, mut dextra)) = (args.matrix()?, args.matrix()?);
            let ((state, _), (sequence, _)) = (args.matrix()?, args.matrix()?);
            let gradient = making.gradient::<F>(&(&main, &extra, &state, &sequence))?;
            Box::new(move || {
                gradient.call((&main, &extra, &state, &sequence), (&mut dmain, &mut dextra, (), ()))
            })
        }
    })
}

/// Compiles gradients of a function, for the lengths of its arguments if so asked.
struct Making<'a> {
    session: &'a mut Session,
    function: &'a str,
    for_lengths: bool,
}

impl Making<'_> {
    fn gradient<F>(&mut self, args: &<F::Params as Params>::Args<'_>) -> Found<TypedGradient<F>>
    where
        F: Signature<Params: ActiveParams, Output: Valued>,
    {
        match self.for_lengths {
            true => self.session.compile_gradient_for(self.function, args),
            false => self.session.compile_gradient(self.function),
        }
    }
}

/// The shapes of arguments.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// A vector.
    Slice,
    /// A vector that is changed, and one that is not.
    TwoSlices,
    /// Two matrices.
    TwoMatrices,
    /// The weights and biases of two layers, and the input, a constant.
    Layers,
    /// The parameters of a mixture of normal distributions, and the points, a constant.
    Mixture,
    /// Two matrices of parameters, and two constant ones.
    Network,
    /// A matrix for derivatives that the function asks for itself, and what they are derivatives of.
    Jacobian,
}

/// Arguments, or the errors.
type Found<T> = Result<T, Vec<Diagnostic>>;

/// The arguments that are left.
struct Args<'a>(std::slice::Iter<'a, Val>);

impl Args<'_> {
    /// The next one, with a place for its derivative.
    fn slice(&mut self) -> Found<(Elements, Elements)> {
        let (elements, _) = self.next()?;
        let shadow = vec![0.0; elements.len()];
        Ok((Elements(at_line(&elements)), Elements(at_line(&shadow))))
    }

    fn matrix(&mut self) -> Found<(Array2<f64>, Array2<f64>)> {
        let (elements, sizes) = self.next()?;
        let shadow = vec![0.0; elements.len()];
        let matrix = |elements: &[f64]| {
            let matrix = at_line(elements).into_shape_with_order((sizes, Order::F));
            matrix.map_err(|error| vec![Diagnostic::error(error.to_string())])
        };
        Ok((matrix(&elements)?, matrix(&shadow)?))
    }

    fn indices(&mut self) -> Found<Vec<i64>> {
        Ok(self.next()?.0)
    }

    fn next<T: Element>(&mut self) -> Found<(Vec<T>, (usize, usize))> {
        let found = self.0.next().and_then(|arg| match arg {
            Val::Array(array) => Some((array.to_vec::<T>()?, (array.dim(0), array.dim(1)))),
            _ => None,
        });
        found.ok_or_else(|| {
            vec![Diagnostic::error("an argument of the case is no array of such numbers")]
        })
    }
}

/// The numbers of a line of the cache.
const LINE: usize = 8;

/// Numbers that begin where a line of the cache does, as those of the programs in C do.
pub(super) fn at_line(elements: &[f64]) -> Array1<f64> {
    let mut room = vec![0.0; elements.len() + LINE - 1];
    let start = room.as_ptr().align_offset(LINE * size_of::<f64>()).min(LINE - 1);
    let end = start + elements.len();
    room[start..end].copy_from_slice(elements);
    Array1::from_vec(room).slice_move(s![start..end])
}

/// A vector of numbers that begin where a line of the cache does.
struct Elements(Array1<f64>);

impl Deref for Elements {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        self.0.as_slice().expect("they are side by side")
    }
}

impl DerefMut for Elements {
    fn deref_mut(&mut self) -> &mut [f64] {
        self.0.as_slice_mut().expect("they are side by side")
    }
}
