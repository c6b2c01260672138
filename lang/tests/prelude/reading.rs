//! Programs that are easily read wrongly: what is written to by `.=`, names like keywords, types of
//! constants, parameters that are taken apart.

use super::check;

#[test]
fn an_element_that_is_an_array_is_written_to() {
    check(
        "mutable struct C; z; end",
        &[
            (
                "let a = [[1.0, 2.0], [3.0, 4.0]]; a[1] .= a[2] .* 3; a end",
                "[[9.0, 12.0], [3.0, 4.0]]",
            ),
            ("let t = ([1, 2], [3]); t[1] .= t[2] .+ [1, 2]; t end", "([4, 5], [3])"),
            ("let t = ([1, 2], [3]); t[2] .+= 1; t end", "([1, 2], [4])"),
            ("let c = C([[1.0], [2.0]]); c.z[1] .+= 5; c.z end", "[[6.0], [2.0]]"),
            ("let n = (a = [1, 2], b = 3); n.a .*= 2; n end", "(a = [2, 4], b = 3)"),
            ("let a = [[[1.0]]]; a[1][1] .= 2; a end", "[[[2.0]]]"),
            ("let a = [[1], [2]]; a[end] .-= 1; a end", "[[1], [1]]"),
            ("let r = Ref([1, 2]); r[] .= 7; r[] end", "[7, 7]"),
            ("let a = [1 2; 3 4]; a[1, :] .= 0; a end", "[0 0; 3 4]"),
            ("let a = [1, 2, 3]; a[2:3] .+= 1; a end", "[1, 3, 4]"),
            ("let a = [1, 2, 3]; @view(a[2:3]) .= 0; a end", "[1, 0, 0]"),
            ("let a = [1, 2, 3]; a[2] .= 5; a end", "error: MethodError"),
        ],
    );
}

#[test]
fn a_keyword_with_an_exclamation_mark_is_a_name() {
    check(
        "return!(x) = 2x\nend!(x) = x + 1\nif!(x) = x\nstruct P; for!; end",
        &[
            ("return!(3)", "6"),
            ("if!(end!(3))", "4"),
            ("P(1).for!", "1"),
            ("[1, 2, 3][end!=3 ? 1 : 2]", "2"),
            ("true!=false", "true"),
            (":end!", ":end!"),
            ("map(end!, [1, 2])", "[2, 3]"),
        ],
    );
}

#[test]
fn constants_have_the_type_that_is_declared() {
    check(
        "const x::Float64 = 3\nconst y::Vector{Float64} = [1, 2]",
        &[
            ("x", "3.0"),
            ("y", "[1.0, 2.0]"),
            ("const z::Int = 2.5", "error: InexactError"),
            ("w::Int = 3.0; w", "3"),
            ("w = 4.0; w", "4"),
            ("w = 4.5", "error: InexactError"),
            ("setw(x) = (global w = x); setw(7.0); w", "7"),
            ("w::Float64 = 1", "error: cannot set type for global w"),
            ("global u::Float64; u = 2; u", "2.0"),
            ("let v::Int = 3.0; v end", "3"),
        ],
    );
}

#[test]
fn parameters_with_a_semicolon() {
    check(
        "f((; x, y)) = x + y\ng((; x)::NamedTuple, z) = x * z\nh((a, b)::Tuple{Int, Int}) = a - b",
        &[
            ("f((x = 3, y = 4))", "7"),
            ("g((x = 3, y = 4), 2)", "6"),
            ("h((5, 3))", "2"),
            ("map(((; x),) -> x, [(x = 1,), (x = 2,)])", "[1, 2]"),
            ("((; x) -> x)(x = 3)", "3"),
            ("((; x = 1) -> x)()", "1"),
            ("((x; y = 1) -> x + y)(2; y = 5)", "7"),
            ("(function (; x) x end)(; x = 2)", "2"),
            ("((a = 1, b = 2) -> a + b)()", "3"),
        ],
    );
}

#[test]
fn what_new_leaves_out() {
    check(
        "mutable struct N; v::Int; w::Float64; N(v) = new(v); N() = new(); end\n\
         mutable struct L; v; next; L(v) = new(v); end",
        &[
            ("let n = N(3); n.w = 1; (n.v, n.w) end", "(3, 1.0)"),
            ("let n = N(); n.v = 2; n.v end", "2"),
            ("let l = L(1); l.next = l; l.next.next.v end", "1"),
            ("L(1).next", "error: UndefRefError: access to undefined reference"),
            ("getfield(L(1), :next)", "error: UndefRefError"),
            ("getfield(L(1), 2)", "error: UndefRefError"),
            ("let r = Ref{Any}(L(1)); r[].next end", "error: UndefRefError"),
            (
                "let l = L(1), name = [:v, :next][2]; getproperty(l, name) end",
                "error: UndefRefError",
            ),
            ("L(1)", "L(1, #undef)"),
            (
                "isdefined(L(1), :next), isdefined(L(1), :v), isdefined(L(1), :w)",
                "(false, true, false)",
            ),
            (
                "let l = L(1); l.next = nothing; (isdefined(l, 2), isdefined(l, 3)) end",
                "(true, false)",
            ),
            ("L(1).v", "1"),
        ],
    );
}

#[test]
fn fields_that_get_their_value_later_have_their_types() {
    check(
        "mutable struct Node\nv::Float64\nnext::Node\n\
         function Node(v); n = new(v); n.next = n; n; end\n\
         Node(v, next) = new(v, next)\nend\n\
         mutable struct Tree{T}; left::Tree{T}; v::T; Tree{T}() where T = new{T}(); end\n\
         struct Lazy; v::Vector{Int}; Lazy() = new(); Lazy(v) = new(v); end\n\
         struct Some2; xs; Some2(xs...) = new(xs...); end",
        &[
            ("let n = Node(2.0); n.next.next.v end", "2.0"),
            ("let n = Node(1, Node(2)); n.next.v + n.v end", "3.0"),
            ("let n = Node(1); n.next = 3; n end", "error: MethodError"),
            ("typeof(Node(1).next), fieldtype(Node, :next)", "(Node, Node)"),
            ("let t = Tree{Int}(); t.v = 3.0; t.v end", "3"),
            ("let t = Tree{Int}(); t.left end", "error: UndefRefError"),
            ("let t = Tree{Vector{Int}}(); t.v end", "error: UndefRefError"),
            ("let t = Tree{Vector{Int}}(); t.left = t; t.v = [1]; t.left.v end", "[1]"),
            ("Lazy().v", "error: UndefRefError"),
            ("Lazy([1]).v", "[1]"),
            ("isdefined(Lazy(), :v)", "false"),
            ("Some2(1).xs", "1"),
            ("Some2()", "error: new of Some2 gives the field `xs` no value"),
        ],
    );
}

#[test]
fn endless_recursion_is_a_stack_overflow() {
    check("f(x) = f(x + 1)", &[("f(1)", "error: StackOverflowError")]);
}

#[test]
fn one_thing_in_brackets_with_a_semicolon_is_a_column() {
    check(
        "",
        &[
            ("[1:3;]", "[1, 2, 3]"),
            ("[[1, 2];]", "[1, 2]"),
            ("[5;]", "[5]"),
            ("[1 2;]", "[1 2]"),
            ("vcat(1:2)", "[1, 2]"),
            ("vcat([1 2; 3 4])", "[1 2; 3 4]"),
        ],
    );
}

#[test]
fn any_number_of_collections() {
    check(
        "",
        &[
            ("append!([1], [2], [3, 4])", "[1, 2, 3, 4]"),
            ("append!([1])", "[1]"),
            ("append!([1.0], (2, 3), 4:5)", "[1.0, 2.0, 3.0, 4.0, 5.0]"),
            ("collect(Iterators.product(1:2, 3:4, 5:6, 7:8))[2, 1, 2, 1]", "(2, 3, 6, 7)"),
            ("sum(x -> prod(x), Iterators.product(1:2, 1:2, 1:2, 1:2, 1:2))", "243"),
            ("length(Iterators.product(1:2, 3:4, 5:6, 7:8, 9:10, 1:3))", "96"),
            ("collect(Iterators.product(1:2))", "[(1,), (2,)]"),
            (
                "collect(Iterators.product(1:2, [3.0, 4.0]))",
                "[(1, 3.0) (1, 4.0); (2, 3.0) (2, 4.0)]",
            ),
        ],
    );
}

#[test]
fn the_factor_of_cholesky_is_the_upper_one() {
    check(
        "using LinearAlgebra\nc = cholesky([4.0 2.0; 2.0 5.0])",
        &[
            ("triu(c.factors)", "[2.0 1.0; 0.0 2.0]"),
            ("collect(c.U)", "[2.0 1.0; 0.0 2.0]"),
            ("collect(c.L)", "[2.0 0.0; 1.0 2.0]"),
            ("c.L * c.U", "[4.0 2.0; 2.0 5.0]"),
            ("c.U' * c.U", "[4.0 2.0; 2.0 5.0]"),
            ("c \\ [8.0, 9.0]", "[1.375, 1.25]"),
            ("det(c) ≈ 16", "true"),
        ],
    );
}

#[test]
fn pairs_are_shown_with_arrows() {
    check(
        "",
        &[
            ("1 => 2", "1 => 2"),
            ("(1 => \"a\", :b => [1])", "(1 => \"a\", :b => [1])"),
            ("foldl(=>, [1, 2, 3])", "(1 => 2) => 3"),
        ],
    );
}

#[test]
fn new_arrays_and_refs_hold_what_their_element_is_when_the_program_runs() {
    check(
        "any(x) = Any[x][1]",
        &[
            (
                "typeof(fill(any(1.0), 2)), typeof(fill(any(1), 2, 2))",
                "(Vector{Float64}, Matrix{Int64})",
            ),
            ("typeof(fill(any(:a), (2,)))", "Vector{Symbol}"),
            ("typeof(Ref(any(1.0)))", "Base.RefValue{Float64}"),
            ("typeof([any(1.0)]), typeof(Any[any(1.0)])", "(Vector{Float64}, Vector{Any})"),
        ],
    );
}
