//! Gradients of the cases that were written by hand in C, as the compilers of this machine make them.

#![allow(unsafe_code, reason = "C is called by its addresses")]

use std::env::consts::ARCH;
use std::path::Path;

use libloading::Library;
use ndarray::Array1;
use regraft_exec::Val;
use regraft_ir::Diagnostic;
use regraft_passes::rewrite::Math;

use super::Case;
use super::typed::at_line;
use crate::c_library::{compile, compilers};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/c/adjoints.c");

/// The numbers that a gradient has room for.
const WORK: usize = 1 << 20;

/// An argument as C takes it.
#[repr(C)]
#[derive(Debug)]
struct Argument {
    data: *mut f64,
    shadow: *mut f64,
    rows: usize,
    columns: usize,
}

/// Computes a gradient.
type Gradient = unsafe extern "C" fn(*const Argument, *mut f64);

/// The gradients of all cases, as a compiler of C has made them.
#[derive(Debug)]
pub struct Baseline {
    /// The name of the compiler.
    pub compiler: &'static str,
    library: Library,
}

impl Baseline {
    /// The gradients as each compiler of this machine makes them, `cc` only where there is no other; by an algebra of floats.
    ///
    /// # Errors
    /// If a compiler that is there cannot compile them.
    pub fn all(math: Math) -> Result<Vec<Self>, Vec<Diagnostic>> {
        let made = compilers().into_iter().map(|compiler| Self::new(compiler, math));
        made.collect::<Result<_, _>>().map_err(|error| vec![error])
    }

    fn new(compiler: &'static str, math: Math) -> Result<Self, Diagnostic> {
        let cpu = if ARCH == "x86_64" { "-march=native" } else { "-mcpu=native" };
        let mut options = vec!["-O3", cpu];
        match math {
            Math::Exact | Math::Finite => options.push("-ffp-contract=off"),
            Math::Fast => options.push("-ffast-math"),
        }
        let has_vectors = cfg!(all(target_arch = "x86_64", target_os = "linux"));
        if math == Math::Fast && compiler == "clang" && has_vectors {
            options.push("-fveclib=libmvec");
        }
        Ok(Self { compiler, library: compile(compiler, Path::new(SOURCE), &options)? })
    }

    /// The gradient of a case of these arguments.
    ///
    /// # Errors
    /// If an argument is no array of numbers.
    ///
    /// # Panics
    /// If no gradient of this case is written.
    pub fn prepare(&self, case: &Case, args: &[Val]) -> Result<PreparedBaseline, Vec<Diagnostic>> {
        let symbol = format!("{}_gradient", case.baseline);
        // SAFETY: the functions of the source are of this type.
        let gradient = unsafe { self.library.get::<Gradient>(&symbol) }.expect("it is written");
        let arrays = args.iter().map(Elements::of).collect::<Option<Vec<_>>>();
        let refused = || vec![Diagnostic::error("an argument of the case is no array of numbers")];
        let mut arrays = arrays.ok_or_else(refused)?;
        let args = arrays.iter_mut().map(Elements::argument).collect();
        Ok(PreparedBaseline { gradient: *gradient, args, arrays, work: vec![0.0; WORK] })
    }
}

/// An argument and its shadow, each from the start of a line of the cache on.
#[derive(Debug)]
struct Elements {
    data: Array1<f64>,
    shadow: Array1<f64>,
    dims: [usize; 2],
}

impl Elements {
    /// The elements of an array of floats, or of integers, whose bits C takes as what they are.
    fn of(arg: &Val) -> Option<Self> {
        let Val::Array(array) = arg else { return None };
        let bits = |x: &i64| f64::from_bits(x.cast_unsigned());
        let bits = |elements: Vec<i64>| elements.iter().map(bits).collect();
        let data: Vec<f64> = array.to_vec().or_else(|| array.to_vec().map(bits))?;
        let shadow = at_line(&vec![0.0; data.len()]);
        Some(Self { data: at_line(&data), shadow, dims: [0, 1].map(|dim| array.dim(dim)) })
    }

    fn argument(&mut self) -> Argument {
        let Self { data, shadow, dims: [rows, columns] } = self;
        let (data, shadow) = (data.as_mut_ptr(), shadow.as_mut_ptr());
        Argument { data, shadow, rows: *rows, columns: *columns }
    }
}

/// A gradient that was written by hand, with its arguments.
#[derive(Debug)]
pub struct PreparedBaseline {
    gradient: Gradient,
    /// They point into the arrays.
    args: Vec<Argument>,
    arrays: Vec<Elements>,
    work: Vec<f64>,
}

impl PreparedBaseline {
    /// Computes the gradient.
    pub fn run(&mut self) {
        // SAFETY: the arguments are those of the case, their arrays stand where they did, and no case needs more room.
        unsafe { (self.gradient)(self.args.as_ptr(), self.work.as_mut_ptr()) };
    }

    /// The elements of an argument, column by column, and the derivatives by them.
    pub fn array(&self, argument: usize) -> (&[f64], &[f64]) {
        let Elements { data, shadow, .. } = &self.arrays[argument];
        let side_by_side = "they are side by side";
        (data.as_slice().expect(side_by_side), shadow.as_slice().expect(side_by_side))
    }
}
