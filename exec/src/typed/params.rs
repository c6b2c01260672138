//! Lists of parameters.

use std::marker::PhantomData;

use regraft_ir::{Context, Type};

use super::param::{Param, Way};
use super::passing::Passing;
use crate::error::Trap;
use crate::value::Dims;

/// The parameters of a [`Signature`](super::Signature), a tuple.
pub trait Params: 'static {
    /// The arguments in Rust, a tuple.
    type Args<'a>;

    /// The types in the program.
    fn types(ctx: &Context) -> Vec<Type>;

    /// The ways in which they are passed.
    fn ways() -> Vec<Way>;

    /// The same arguments, for a shorter time.
    fn shorten<'b, 'a: 'b>(args: Self::Args<'a>) -> Self::Args<'b>;

    /// The lengths of the arguments that are lent as arrays, one entry for each argument.
    fn lengths(args: &Self::Args<'_>) -> Vec<Dims>;

    /// Writes arguments to their registers.
    #[doc(hidden)]
    fn pass(args: Self::Args<'_>, to: &mut Passing<'_>) -> Result<(), Trap>;
}

/// Two lists of parameters, one behind the other. The arguments are a pair of tuples.
#[derive(Debug)]
pub struct Both<P, Q>(PhantomData<(P, Q)>);

impl<P: Params, Q: Params> Params for Both<P, Q> {
    type Args<'a> = (P::Args<'a>, Q::Args<'a>);

    fn types(ctx: &Context) -> Vec<Type> {
        [P::types(ctx), Q::types(ctx)].concat()
    }

    fn ways() -> Vec<Way> {
        [P::ways(), Q::ways()].concat()
    }

    fn shorten<'b, 'a: 'b>((first, second): Self::Args<'a>) -> Self::Args<'b> {
        (P::shorten(first), Q::shorten(second))
    }

    fn lengths((first, second): &Self::Args<'_>) -> Vec<Dims> {
        [P::lengths(first), Q::lengths(second)].concat()
    }

    #[inline(always)]
    fn pass((first, second): Self::Args<'_>, to: &mut Passing<'_>) -> Result<(), Trap> {
        P::pass(first, to)?;
        Q::pass(second, to)
    }
}

macro_rules! params {
    ($($name:ident)*) => {
        #[allow(non_snake_case, unused_variables, clippy::unused_unit)]
        impl<$($name: Param),*> Params for ($($name,)*) {
            type Args<'a> = ($($name::Arg<'a>,)*);

            fn types(ctx: &Context) -> Vec<Type> {
                vec![$($name::ty(ctx)),*]
            }

            fn ways() -> Vec<Way> {
                vec![$($name::way()),*]
            }

            fn shorten<'b, 'a: 'b>(($($name,)*): Self::Args<'a>) -> Self::Args<'b> {
                ($(<$name as Param>::shorten($name),)*)
            }

            fn lengths(($($name,)*): &Self::Args<'_>) -> Vec<Dims> {
                vec![$(<$name as Param>::lengths($name)),*]
            }

            #[inline(always)]
            fn pass(($($name,)*): Self::Args<'_>, to: &mut Passing<'_>) -> Result<(), Trap> {
                $(<$name as Param>::pass($name, to)?;)*
                Ok(())
            }
        }
    };
}

/// Calls a macro with the names of one to twelve parameters.
macro_rules! for_each_count {
    ($implement:ident) => {
        $implement!(A);
        $implement!(A B);
        $implement!(A B C);
        $implement!(A B C D);
        $implement!(A B C D E);
        $implement!(A B C D E G);
        $implement!(A B C D E G H);
        $implement!(A B C D E G H I);
        $implement!(A B C D E G H I J);
        $implement!(A B C D E G H I J K);
        $implement!(A B C D E G H I J K L);
        $implement!(A B C D E G H I J K L M);
    };
}
pub(super) use for_each_count;

params!();
for_each_count!(params);
