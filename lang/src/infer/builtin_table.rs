//! The table of type functions.

use regraft_ir::{Context, Symbol};
use rustc_hash::FxHashMap;

macro_rules! builtins {
    ($($variant:ident $name:literal $doc:literal,)*) => {
        /// A type function.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(super) enum Builtin {
            $(#[doc = $doc] $variant,)*
        }

        const NAMES: &[(&str, Builtin)] = &[$(($name, Builtin::$variant),)*];

        impl Builtin {
            pub(super) const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

builtins! {
    TypeOf "typeof" "The type of a value.",
    IsA "isa" "Whether a value is of a type.",
    Below "<:" "Whether every value of a type is of another.",
    Tuple "tuple" "A tuple.",
    ApplyType "#apply_type" "`T{p…}`",
    BelowParam "#below" "`<:T` as a type parameter.",
    Tested "#tested" "A value, known to have passed a test or not to have passed it.",
    TypeAssert "#typeassert" "A value, known to be of a type.",
    FieldType "#fieldtype" "The declared type of a field.",
    Defined "#defined" "What was read of a field, if it has a value.",
    Undefined "#undefined" "What stands in a field that has no value.",
    Supertype "#supertype" "The type above another one.",
    TypeKind "#type_kind" "The kind of a type: `:abstract`, `:mutable`, `:bits`, `:immutable`; `:open` with parameters that are not known.",
    Parameters "#parameters" "The parameters of a type, as a tuple.",
    HasMethod "#has_method" "Whether there is a method for arguments of these types.",
    HasOwn "#has_own" "Whether the program has a method of its own for arguments of these types, or any.",
    Invoke "#invoke" "A call of the method for arguments of these types.",
    FieldNames "#fieldnames" "The names of the fields of a type, as a tuple.",
    New "#new" "A struct from its fields.",
    Named "#named" "A named tuple from names and values in turn.",
    NamedOf "#named_of" "A named tuple from a tuple of names and a tuple of values.",
    Val "#val" "The value of the type `Val{x}`.",
    Try "#try" "What a function gives, or if it fails, what another gives for the error.",
    ModuleMember "#module_member" "What a name stands for in a module.",
    Methods "#methods" "The text that lists the methods of a function, and a tuple of one text for each.",
    ReturnType "#return_type" "The type of what a call gives, if it is exact.",
    Known "#known" "Whether a value is known.",
    Cell "#cell" "The cell of a variable that is given to functions of these names: nothing if all their methods are the library's.",
    Late "#late" "Nothing: the calls of the function that follow are decided when they run.",
    Intrinsic "#intrinsic" "The intrinsic function that an op is for operands of these types; the op itself, if it is none.",
    UnrollMap "#unroll_map" "A function of the elements of tuples, as a tuple.",
    UnrollFold "#unroll_fold" "A function of what it gave so far and each element of a tuple.",
    NTuple "#ntuple" "A function of 1 to n, as a tuple.",
    Spread "#spread" "An op whose last operands are the elements of a tuple.",
    Gradient "#gradient" "Value and gradient of a function of the elements of a tuple.",
    GradientAlone "#only_gradient" "The gradient alone.",
    Pushforward "#pushforward" "Value and tangent, from the tangents of function and arguments.",
    PushforwardMany "#pushforward_many" "The same for several directions at once.",
    DynamicPushforward "#dynamic_pushforward" "Value and tangent of a dynamic call in what is differentiated.",
    Pullback "#pullback" "A value, and what is needed for its gradients.",
    Back "#back" "The gradients for a tangent of the value.",
    DynamicReverse "#dynamic_reverse" "Value, its shadow and a pullback, from shadows.",
    ZeroTangent "#zero_tangent" "The zero tangent of a value.",
}

/// The table of all, by symbol.
pub(super) fn table(ctx: &Context) -> FxHashMap<Symbol, Builtin> {
    NAMES.iter().map(|&(name, builtin)| (ctx.symbol(name), builtin)).collect()
}
