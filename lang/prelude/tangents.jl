# Tangents as the caller sees them, and those given by the caller as derivatives take them.
#
# Derivatives know numbers, tuples, named tuples and objects. The tangent of a complex number is a complex
# number to the caller, that of a wrapped array is wrapped in the same way, that of a dictionary has the
# derivatives under its keys, and that of a mutable struct or a `Ref` is the named tuple of those of its fields.

@inline __natural(x, t) = t
__natural(x::Tuple, t::Tuple) = __unroll_map(__natural, x, t)
__natural(x::NamedTuple{K}, t::NamedTuple{K}) where K = __named_of(K, __natural(values(x), values(t)))
__natural(z::Complex, t::NamedTuple) = Complex(__part_of(t.re, z.re), __part_of(t.im, z.im))
__part_of(t, x) = t
__part_of(t::Nothing, x) = zero(x)
__natural(x::AbstractArray{<:Union{Complex, Ref, Tuple, NamedTuple}}, t::AbstractArray) = map(__natural, x, t)
__natural(x::Adjoint, t::NamedTuple) = adjoint(t.parent)
__natural(x::Transpose, t::NamedTuple) = transpose(__natural(x.parent, t.parent))
__natural(x::ReshapedArray, t::NamedTuple) = reshape(__natural(x.parent, t.parent), x.dims)
__natural(x::Diagonal, t::NamedTuple) = Diagonal(__natural(x.diag, t.diag))
__natural(x::SubArray, t::NamedTuple) = __view(__natural(x.parent, t.parent), x.indices)
__natural(x::Nothing, t::NamedTuple) = t
__natural(x, t::NamedTuple{K}) where K = __named_of(K, __unroll_map(__NaturalField(x), K, values(t)))
# An object may contain itself: of what is in it only the fields are shown.
__natural(x, t::Ref) = __natural_object(x, mem.ref_get(t))
__natural_object(x, t) = t
__natural_object(x, t::NamedTuple{K}) where K = __named_of(K, __unroll_map(__FlatField(x), K, values(t)))
__natural_object(x::Nothing, t::NamedTuple) = t
struct __NaturalField{X}
    of::X
end
@inline (n::__NaturalField)(name, t) = t === nothing || !isdefined(n.of, name) ? t : __natural(getfield(n.of, name), t)
struct __FlatField{X}
    of::X
end
@inline (n::__FlatField)(name, t) = t === nothing || !isdefined(n.of, name) ? t : __flat(getfield(n.of, name), t)
__flat(x, t) = t
__flat(x, t::Ref) = mem.ref_get(t)
__flat(x::Union{Number, AbstractArray{<:Number}}, t) = __natural(x, t)
# The tangent of a mirrored matrix; in reverse mode an entry of the triangle that is stored has the
# derivatives by both of its places.
__natural(x::Symmetric, t::NamedTuple) = Symmetric(__natural(x.data, t.data), x.uplo)
__natural(x::Hermitian, t::NamedTuple) = Hermitian(__natural(x.data, t.data), x.uplo)
struct __Mirror{M}
    of::M
end
__natural(x::__Mirror, t::NamedTuple) = __halved(x.of, __natural(x.of.data, t.data))
__halved(x, t) = t
__halved(x::Symmetric, t::AbstractMatrix) = Symmetric((t + transpose(t)) / 2, x.uplo)
__halved(x::Hermitian, t::AbstractMatrix) = Hermitian((t + adjoint(t)) / 2, x.uplo)
__natural(x::Ref{T}, t::Ref) where T = (x = T === Any ? mem.ref_get(t) : __natural(mem.ref_get(x), mem.ref_get(t)),)
__natural(d::Dict, t::Ref) = __tangents_of(d, mem.ref_get(t))
__tangents_of(d, t) = t.vals === nothing ? nothing : Dict([d.keys[e] => __natural(d.vals[e], t.vals[e]) for e in 1:d.last if !__is_deleted(d, e)])

@inline __structural(T, t) = t
__structural(::Type{Complex{T}}, t::Number) where T = (re = convert(float(T), real(t)), im = convert(float(T), imag(t)))
__structural(::Type{T}, t::AbstractArray) where T<:AbstractArray{<:Complex} = __structural_all(eltype(T), t)
__structural_all(T, t) = map(x -> __structural(T, x), t)
@inline __structural(::Type{T}, t::Tuple) where T<:Tuple = __structural_parts(__parameters(T), t)
@inline __structural_parts(types, t) = data.fieldcount(types) == data.fieldcount(t) ? __unroll_map(__structural, types, t) : t
__structural(::Type{Adjoint{T, P}}, t::AbstractMatrix) where {T, P<:Array} = (parent = __as_rank(P, collect(adjoint(t))),)
__structural(::Type{Transpose{T, P}}, t::AbstractMatrix) where {T, P<:Array} = (parent = __as_rank(P, __structural(P, collect(transpose(t)))),)
__structural(::Type{Diagonal{T, V}}, t::AbstractMatrix) where {T, V} = (diag = __structural(V, diag(t)),)
__structural(::Type{ReshapedArray{T, N, P, D}}, t::AbstractArray) where {T, N, P<:Vector, D} =
    (parent = __structural(P, collect(vec(t))), dims = __ntuple(k -> nothing, __val(N)))
__as_rank(::Type{Array{T, 1}}, t) where T = collect(vec(t))
__as_rank(P, t) = t

# A mirrored matrix counts an entry at both of its places.
__structural(::Type{Symmetric{T, P}}, t::AbstractMatrix) where {T, P} = (data = __structural(P, collect(t)), uplo = nothing)
__structural(::Type{Hermitian{T, P}}, t::AbstractMatrix) where {T, P} = (data = __structural(P, collect(t)), uplo = nothing)
__structural(y::__Mirrored, t) = t
__structural(y::__Mirrored, t::AbstractMatrix) = (data = __structural(typeof(y.data), __folded(y, t)), uplo = nothing)
function __folded(y, t)
    out = zeros(eltype(t), size(t, 1), size(t, 2))
    for j in axes(t, 2), i in axes(t, 1)
        if i == j
            out[i, i] = y isa Hermitian ? real(t[i, i]) : t[i, i]
        elseif (y.uplo === :U) == (i < j)
            out[i, j] = t[i, j] + (y isa Hermitian ? conj(t[j, i]) : t[j, i])
        end
    end
    return out
end
# What there has to be of a value, so that a cotangent of it can be taken in its form.
@inline __form(y) = typeof(y)
@inline __form(y::__Mirrored) = y

# What there has to be of an argument, so that a tangent of it can be shown in its form.
@inline __template(x) = x
@inline __template(x::Union{Real, Function, String, Nothing, Symbol, Type, Array}) = nothing
@inline __template(x::Array{<:Union{Complex, Ref, Tuple, NamedTuple}}) = x
@inline __template(x::__Mirrored) = __Mirror(x)
@inline __template(t::Union{Tuple, NamedTuple}) = map(__template, t)
