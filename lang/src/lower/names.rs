//! The names that lowered code calls, and which of them the text takes for itself.

use std::sync::Arc;

use regraft_ir::{Context, Symbol};
use regraft_syntax::julia::{Ast, Bits, ExprId, Kind};
use rustc_hash::{FxHashMap, FxHashSet};

use super::LowerOptions;
use crate::definition::Space;

/// Functions of the prelude that are done, when they return, with the functions and generators that they were given as arguments, and
/// that give them to no other function which a program may have methods for.
const EAGER: &[&str] = &[
    "accumulate",
    "all",
    "any",
    "collect",
    "count",
    "derivative",
    "filter",
    "findfirst",
    "findlast",
    "foldl",
    "foldr",
    "foreach",
    "gradient",
    "hessian",
    "hvp",
    "jacobian",
    "join",
    "jvp",
    "map",
    "mapfoldl",
    "mapfoldr",
    "maximum",
    "minimum",
    "ntuple",
    "prod",
    "reduce",
    "sum",
];

macro_rules! names {
    ($($field:ident = $text:literal),* $(,)?) => {
        /// The symbols of the names that lowering knows.
        #[derive(Debug)]
        pub(super) struct Names {
            $(pub(super) $field: Symbol,)*
            /// The names of [`EAGER`].
            eager: FxHashSet<Symbol>,
            /// Names of the prelude that the text defines anew, with how they are told apart.
            shadowed: FxHashMap<Symbol, Symbol>,
        }

        impl Names {
    /// The function that makes a value of its bits.
    pub(super) fn bits(&self, bits: Bits) -> Symbol {
        match bits {
            Bits::Char => self.bits_char,
            Bits::UInt8 => self.bits_uint8,
            Bits::UInt16 => self.bits_uint16,
            Bits::UInt32 => self.bits_uint32,
            Bits::UInt64 => self.bits_uint64,
            Bits::UInt128 => self.bits_uint128,
            Bits::Int128 => self.bits_int128,
        }
    }

            pub(super) fn new(ctx: &Arc<Context>) -> Self {
                let eager = EAGER.iter().map(|name| ctx.symbol(name)).collect();
                Self { $($field: ctx.symbol($text),)* eager, shadowed: FxHashMap::default() }
            }
        }
    };
}

names! {
    any_vector = "#AnyVector",
    append_code = "#append_code",
    eval = "eval",
    expr = "#code_expr",
    generated = "@generated",
    global_ref = "GlobalRef",
    line_node = "LineNumberNode",
    new_array = "mem.array",
    push_code = "#push_code",
    quote_node = "QuoteNode",
    this_module = "@__MODULE__",
    adjoint = "adjoint",
    adjoint_mark = "'",
    any = "Any",
    apply_type = "#apply_type",
    above = "#above",
    assertion_error = "AssertionError",
    below = "#below",
    box_new = "#box",
    box_get = "#box_get",
    box_set = "#box_set",
    cell_new = "#cell",
    cell_get = "#cell_get",
    cell_set = "#cell_set",
    keyword_call = "#kwcall",
    check_keyword_type = "#check_keyword_type",
    check_keywords = "#check_keywords",
    has_keyword = "#has_keyword",
    merge_keywords = "#merge_keywords",
    keyword_pairs = "#pairs",
    late = "#late",
    other_keywords = "#other_keywords",
    required_keyword = "#required_keyword",
    with_keywords = "#with_keywords",
    bits_char = "#Char",
    bits_uint8 = "#UInt8",
    bits_uint16 = "#UInt16",
    bits_uint32 = "#UInt32",
    bits_uint64 = "#UInt64",
    bits_uint128 = "#UInt128",
    bits_int128 = "#Int128",
    broadcast = "#broadcast",
    broadcast_into = "#broadcast!",
    collect = "#collect",
    colon = ":",
    convert = "convert",
    define = "#define",
    destructure = "#destructure",
    destructure_last = "#destructure_last",
    destructure_rest = "#destructure_rest",
    done = "#done",
    dotview = "#dotview",
    filter = "#filter",
    firstindex = "firstindex",
    flatten = "#flatten",
    generator = "#generator",
    getfield = "getfield",
    getindex = "getindex",
    getproperty = "getproperty",
    hcat = "hcat",
    hvcat = "hvcat",
    identity = "identity",
    include = "include",
    item = "#item",
    lastindex = "lastindex",
    literal_power = "#literal_pow",
    minus = "-",
    named = "#named",
    new = "new",
    new_object = "#new",
    next = "#next",
    nothing = "nothing",
    power = "^",
    product = "#product",
    setindex = "setindex!",
    setproperty = "setproperty!",
    start = "#start",
    rethrow = "rethrow",
    subtype = "<:",
    supertype = ">:",
    throw = "throw",
    top = "#top",
    tuple = "tuple",
    ty = "Type",
    type_of = "typeof",
    typeassert = "#typeassert",
    try_catch = "#try",
    try_caught = "#caught",
    try_cleanup = "#cleanup",
    try_exit = "#exit",
    try_exit_new = "#new_exit",
    try_exit_set = "#set_exit",
    try_exited_by = "#exited_by",
    vararg = "Vararg",
    vcat = "vcat",
    vect = "vect",
    view = "view",
}

impl Names {
    /// Returns the names that syntax stands for and that a program could define as well.
    fn of_syntax(&self) -> [Symbol; 22] {
        [
            self.adjoint,
            self.assertion_error,
            self.colon,
            self.convert,
            self.firstindex,
            self.getfield,
            self.getindex,
            self.getproperty,
            self.hcat,
            self.hvcat,
            self.identity,
            self.lastindex,
            self.power,
            self.setindex,
            self.setproperty,
            self.throw,
            self.tuple,
            self.vcat,
            self.vect,
            self.view,
            self.subtype,
            self.supertype,
        ]
    }

    /// Returns whether the prelude has a function of that name that keeps none of the functions and generators it is given.
    pub(super) fn is_eager(&self, name: Symbol) -> bool {
        self.eager.contains(&name)
    }

    /// Finds which of the names that syntax stands for the program defines for itself.
    pub(super) fn find_shadowed(&mut self, ctx: &Context, ast: &Ast, options: &LowerOptions<'_>) {
        if options.space == Space::Base {
            return;
        }
        let names = self.of_syntax();
        for name in names {
            if (options.is_global)(name) {
                self.shadow(ctx, name);
            }
        }
        self.find_shadowed_in(ctx, ast, ast.statements());
    }

    /// Finds which of them these statements define.
    pub(super) fn find_shadowed_in(&mut self, ctx: &Context, ast: &Ast, statements: &[ExprId]) {
        let names = self.of_syntax();
        for &id in statements {
            if let Some(name) = defined(ast, id)
                && names.contains(&name)
            {
                self.shadow(ctx, name);
            }
        }
    }

    fn shadow(&mut self, ctx: &Context, name: Symbol) {
        self.shadowed.insert(name, ctx.symbol(&format!("Base.{}", ctx.str(name))));
    }

    /// The name by which code calls a function of the prelude that syntax stands for.
    #[inline]
    pub(super) fn of_prelude(&self, name: Symbol) -> Symbol {
        if self.shadowed.is_empty() {
            return name;
        }
        self.shadowed.get(&name).copied().unwrap_or(name)
    }
}

/// Returns the name that an expression is, if it is one.
pub(super) fn name_of(ast: &Ast, id: ExprId) -> Option<Symbol> {
    match ast.kind(id) {
        Kind::Name(name) => Some(name),
        _ => None,
    }
}

/// The name that a statement defines.
fn defined(ast: &Ast, id: ExprId) -> Option<Symbol> {
    match ast.kind(id) {
        Kind::Function { name: function, .. } => name_of(ast, function),
        Kind::Assign { target, .. } => name_of(ast, target),
        Kind::Const(inner) | Kind::Generated { function: inner, .. } => defined(ast, inner),
        Kind::Struct { name, .. } | Kind::Abstract { name, .. } => Some(name),
        _ => None,
    }
}

/// Returns whether a variable is a value of a listing, `%3`: its name is no name of the program.
pub(super) fn is_numbered(name: &str) -> bool {
    name.starts_with('%')
}
