//! Makes a version of a function for arrays of certain lengths, and for certain values of arguments.
//!
//! ```text
//! ^1(%1: array<f64, 1>):                ^1(%1: array<f64, 1>):
//!   %2: i64 = mem.length %1               %4: i64 = mem.length %1
//!   return %2                             %5: bool = arith.eq %4, 3
//!                                         br %5, ^3, ^2
//!                                  =>   ^2:
//!                                         %2: i64 = mem.length %1
//!                                         return %2
//!                                       ^3:
//!                                         %6: i64 = mem.length %1
//!                                         return %6
//! ```
//!
//! # Method
//! The body is copied. Tests at entry, one after the other, choose the copy if all lengths and values are those
//! that were named. In the copy, an argument with a value is that constant. That a length is a constant there is
//! found by `gvn`, which knows what a branch says and whether the array has grown since.
//!
//! # Why it is right
//! Tests have no effect, and both versions do what the function did. Values are compared by `core.same`, which
//! tells `0.0` from `-0.0`.
//!
//! # Cost
//! O(size), and the function is twice as large.

use regraft_dialects::{arith, cf, core, mem};
use regraft_ir::{
    Block, Constant, Context, ControlFlow, Diagnostic, Function, IrResult, Operand, Type, TypeKind,
    Value,
};

use super::util::aggregate::parts;
use super::util::clone_blocks::{CloneMap, clone_blocks};
use crate::{FunctionPass, OptionDef, Options, PassContext, PassResult};

/// The facts that are known of an argument.
#[derive(Clone, PartialEq, Debug)]
enum Known {
    /// Nothing.
    Any,
    /// The length of each dimension of an array.
    Lengths(Vec<i64>),
    /// Facts of the parts of an aggregate.
    Parts(Vec<Self>),
    /// A number or a bool, as it is written.
    Value(Number),
}

/// A number or bool of an option.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Number {
    Bool(bool),
    Int(i64),
    Float(f64),
}

crate::pass! {
    /// Makes a version of a function for arrays of certain lengths, and for certain values of arguments.
    ///
    /// ```text
    /// ^1(%1: array<f64, 1>):                ^1(%1: array<f64, 1>):
    ///   %2: i64 = mem.length %1               %4: i64 = mem.length %1
    ///   return %2                             %5: bool = arith.eq %4, 3
    ///                                         br %5, ^3, ^2
    ///                                  =>   ^2:
    ///                                         %2: i64 = mem.length %1
    ///                                         return %2
    ///                                       ^3:
    ///                                         %6: i64 = mem.length %1
    ///                                         return %6
    /// ```
    ///
    /// `lengths="14x16, _, 3"` says that the first argument is a matrix of 14 rows and 16 columns, and the third
    /// a vector of 3 elements; `lengths="(_, 3)"` that the second part of a tuple or struct is; `values="_, 2"` that the
    /// second argument is 2. The general version stays, and is chosen
    /// by a test at entry. `gvn` and `unroll`, run after, make something of what is constant.
    /// Functions whose parameters do not fit are left alone.
    #[derive(Clone, Debug, Default)]
    pub struct Specialize {
        /// Of each argument, as far as it is named.
        known: Vec<Known>,
        /// The name of the function; empty for all.
        function: String,
    }
}

impl FunctionPass for Specialize {
    const NAME: &'static str = "specialize";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] = &[
        OptionDef::text(
            "lengths",
            "",
            "the lengths of each argument that is an array, `2x3, _, 4`",
        ),
        OptionDef::text("values", "", "the value of each argument that has one, `_, 2.5, true`"),
        OptionDef::text("function", "", "the function; all that fit, if none is named"),
    ];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        let lengths = items(options.text("lengths"));
        let values = items(options.text("values"));
        self.known = vec![Known::Any; lengths.len().max(values.len())];
        for (known, text) in self.known.iter_mut().zip(&lengths) {
            *known = read_known(text)?;
        }
        for (known, text) in self.known.iter_mut().zip(&values).filter(|(_, text)| **text != "_") {
            if *known != Known::Any {
                return Err(format!("an argument has lengths or a value, not both: `{text}`"));
            }
            *known = Known::Value(read_number(text)?);
        }
        self.function = options.text("function").to_owned();
        Ok(())
    }

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let named = self.function.is_empty() || self.function == f.name_str();
        let Some(entry) = f.entry().filter(|&entry| named && self.fits(f, entry)) else {
            return Ok(());
        };
        let cfg = cx.analyses().get::<ControlFlow>(f);
        let others: Vec<Block> = cfg.reverse_postorder().filter(|&block| block != entry).collect();
        self.specialize(f, entry, &others).map_err(Diagnostic::from)?;
        cx.count("functions specialised");
        Ok(())
    }
}

impl Specialize {
    /// Returns whether the parameters are of types for which something can be known.
    fn fits(&self, f: &Function, entry: Block) -> bool {
        let mut known = self.known.iter().zip(f.params(entry));
        self.known.iter().any(|known| *known != Known::Any)
            && self.known.len() <= f.param_count(entry)
            && known.all(|(known, param)| known.fits(f.ctx(), f.ty(param)))
    }

    fn specialize(&self, f: &mut Function, entry: Block, others: &[Block]) -> IrResult<()> {
        let ctx = f.ctx().clone();
        let first = f.first_inst(entry).unwrap_or(Value::terminator(entry));
        let general = f.split_block(first)?;
        let params: Vec<Value> = f.params(entry).collect();
        let mut map = CloneMap::new();
        let constant = |constant| Operand::from(ctx.constant_id(constant));
        // The block that ends with the next test.
        let mut at = entry;
        for (&param, known) in params.iter().zip(&self.known) {
            if let Known::Value(number) = known
                && let Some(value) = number.of_type(f.ty(param))
            {
                let value = constant(value);
                let is_same = f.push(at, core::same(param, value))?;
                at = next_test(f, at, is_same, general)?;
                map.set(param, value);
            }
            at = known.test_lengths(f, at, param, general)?;
        }
        let blocks: Vec<Block> = [general].into_iter().chain(others.iter().copied()).collect();
        let copies = clone_blocks(f, &blocks, at, &mut map)?;
        f.set_terminator(at, cf::jump(copies[0]))?;
        Ok(())
    }
}

impl Known {
    /// Returns whether this can be known of a value of a type.
    fn fits(&self, ctx: &Context, ty: Type) -> bool {
        match self {
            Self::Any => true,
            Self::Lengths(lengths) => match *ctx.kind(ty) {
                TypeKind::Array { rank, .. } => rank as usize == lengths.len(),
                _ => false,
            },
            Self::Parts(known) => parts(ctx, ty).is_some_and(|types| {
                known.len() <= types.len()
                    && known.iter().zip(types).all(|(known, ty)| known.fits(ctx, ty))
            }),
            Self::Value(number) => number.of_type(ty).is_some(),
        }
    }

    /// Tests the lengths in a value from the end of a block on, and returns the block behind the tests.
    fn test_lengths(
        &self,
        f: &mut Function,
        mut at: Block,
        value: Value,
        general: Block,
    ) -> IrResult<Block> {
        let ctx = f.ctx().clone();
        let number = |number| Operand::from(ctx.constant_id(Constant::I64(number)));
        match self {
            Self::Any | Self::Value(_) => {}
            Self::Lengths(lengths) => {
                for (dim, &length) in (1..).zip(lengths) {
                    let size = match lengths.len() {
                        1 => mem::length(value),
                        _ => mem::size(value, number(dim)),
                    };
                    let size = f.push(at, size)?;
                    let is_equal = f.push(at, arith::eq(size, number(length)))?;
                    at = next_test(f, at, is_equal, general)?;
                }
            }
            Self::Parts(known) => {
                for (index, known) in (1..).zip(known).filter(|(_, known)| **known != Self::Any) {
                    // `specialize-getfield` leaves this form, so that `gvn` finds it again.
                    let part = f.push(at, core::get(value, number(index)))?;
                    at = known.test_lengths(f, at, part, general)?;
                }
            }
        }
        Ok(at)
    }
}

/// Ends a block with a test, and returns the block behind it.
fn next_test(f: &mut Function, at: Block, holds: Value, general: Block) -> IrResult<Block> {
    let next = f.add_block_after(at)?;
    f.set_terminator(at, cf::jump_if(holds, next, general))?;
    Ok(next)
}

impl Number {
    /// The constant of a type, if it has this value.
    fn of_type(self, ty: Type) -> Option<Constant> {
        match (self, ty) {
            (Self::Bool(x), Type::BOOL) => Some(Constant::Bool(x)),
            (Self::Int(x), Type::I64) => Some(Constant::I64(x)),
            (Self::Float(x), Type::F64) => Some(Constant::F64(x.to_bits())),
            _ => None,
        }
    }
}

/// The items of a list, of which some may be lists in parentheses.
fn items(text: &str) -> Vec<&str> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let mut depth = 0;
    let parts = text.split(move |c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    });
    parts.map(str::trim).collect()
}

fn read_known(text: &str) -> Result<Known, String> {
    if text == "_" {
        return Ok(Known::Any);
    }
    let Some(parts) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) else {
        return read_lengths(text).map(Known::Lengths);
    };
    let parts: Vec<Known> = items(parts).into_iter().map(read_known).collect::<Result<_, _>>()?;
    let nothing = parts.iter().all(|part| *part == Known::Any);
    Ok(if nothing { Known::Any } else { Known::Parts(parts) })
}

fn read_lengths(text: &str) -> Result<Vec<i64>, String> {
    let lengths: Option<Vec<i64>> = text
        .split('x')
        .map(|length| length.trim().parse().ok().filter(|&length: &i64| length >= 0))
        .collect();
    lengths.ok_or_else(|| format!("`{text}` is no lengths: write `2x3`, `(_, 2x3)` or `_`"))
}

fn read_number(text: &str) -> Result<Number, String> {
    if let Ok(value) = text.parse() {
        return Ok(Number::Bool(value));
    }
    if let Ok(value) = text.parse() {
        return Ok(Number::Int(value));
    }
    let float = text.parse().map(Number::Float);
    float.map_err(|_| format!("`{text}` is no value: write a number, `true`, `false` or `_`"))
}
