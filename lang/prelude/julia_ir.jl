# What Julia's IR calls and programs do not: for listings. Intrinsics that are one op each are in
# `lang/src/intrinsics.rs`.

# --- intrinsics -----------------------------------------------------------------------------

ult_int(x::T, y::T) where T<:__Int = arith.lt(arith.xor(x, typemin(T)), arith.xor(y, typemin(T)))
ult_int(x::T, y::T) where T<:__UInt = ult_int(x.bits, y.bits)
ule_int(x, y) = arith.not(ult_int(y, x))
# `checked_sdiv_int` traps at the smallest number by -1, too.
checked_sadd_int(x::T, y::T) where T<:__Int = __with_overflow(x + y, x, y)
checked_ssub_int(x::T, y::T) where T<:__Int = __with_overflow(x - y, x, ~y)
__with_overflow(z, x, y) = (z, signbit(arith.and(arith.xor(x, z), arith.xor(y, z))))
function checked_smul_int(x::T, y::T) where T<:__Int
    z = x * y
    wrong = x == -1 ? y == typemin(T) : x != 0 && div(z, x) != y
    return (z, wrong)
end
flipsign_int(x::T, y::T) where T<:__Int = flipsign(x, y)
muladd_float(x::T, y::T, z::T) where T<:__Float = x * y + z
fpiseq(x::T, y::T) where T<:__Float = isequal(x, y)
sqrt_llvm(x::T) where T<:__Float = x < zero(x) ? typemax(T) - typemax(T) : math.sqrt(x)
sqrt_llvm_fast(x::__Float) = sqrt_llvm(x)
uitofp(::Type{T}, x::__UInt) where T<:__Float = T(x)
bitcast(::Type{T}, x::T) where T<:__Num = x
bitcast(::Type{T}, x::T) where T<:__UInt = x
bitcast(::Type{T}, x::__Num) where T<:__Num = arith.bitcast(T, x)
bitcast(::Type{T}, x::__UInt) where T<:__Num = bitcast(T, x.bits)
bitcast(::Type{T}, x::__Num) where T<:__UInt = __new(T, bitcast(signed(T), x))
bitcast(::Type{T}, x::__UInt) where T<:__UInt = __new(T, bitcast(signed(T), x.bits))
sext_int(::Type{T}, x::__UInt) where T<:__Int = arith.sext(T, x.bits)
zext_int(::Type{T}, x::__UInt) where T<:__Int = arith.zext(T, x.bits)
zext_int(::Type{T}, x::__Bits) where T<:__UInt = __new(T, arith.zext(signed(T), x))
zext_int(::Type{T}, x::__UInt) where T<:__UInt = __new(T, arith.zext(signed(T), x.bits))
trunc_int(::Type{T}, x::__UInt) where T<:__Bits = arith.wrap(T, x.bits)
trunc_int(::Type{T}, x::__Int) where T<:__UInt = __new(T, arith.wrap(signed(T), x))
trunc_int(::Type{T}, x::__UInt) where T<:__UInt = __new(T, arith.wrap(signed(T), x.bits))

# --- functions of Core ----------------------------------------------------------------------

@inline getfield(x, name, check::Bool) = getfield(x, name)
@inline apply_type(T, params...) = __apply_type(T, params...)
@inline _apply_iterate(iterate, f, args) = f(args...)
@inline _apply_iterate(iterate, f, a, b) = f(a..., b...)
@inline _apply_iterate(iterate, f, a, b, c) = f(a..., b..., c...)
@inline kwcall(given, f, args...) = __kwcall(given, f, args...)
throw_boundserror(a, i) = __out_of_bounds(a, i)
throw_inexacterror(f, T, x) = throw(InexactError(f, T, x))
throw_complex_domainerror(f, x) = throw(DomainError(x, string(f, " was called with a negative real argument")))

# --- functions within Base and LinearAlgebra ------------------------------------------------

Slice(r) = r
_unsafe_getindex(style, a::AbstractArray, is...) = __with_rank(a, length(is))[is...]
__with_rank(a, n) = n <= ndims(a) ? a : reshape(a, size(a)..., ntuple(k -> 1, n - ndims(a))...)
struct MulAddMul{A, B}
    alpha::A
    beta::B
end
(p::MulAddMul)(x) = x * p.alpha
(p::MulAddMul)(x, y) = iszero(p.beta) ? p(x) : x * p.alpha + y * p.beta
_modify!(p::MulAddMul, x, c, i) = (c[i...] = iszero(p.beta) ? p(x) : p(x, c[i...]); nothing)
_kron!(c, a, b) = kron!(c, a, b)

# --- arrays, up to 1.10 ---------------------------------------------------------------------

arraylen(a::Array) = length(a)
arraysize(a::Array, d::Int64) = size(a, d)
@inline arrayref(check::Bool, a::Array, i::Int64) = check ? a[i] : @inbounds a[i]
@inline arrayref(check::Bool, a::Array, i::Int64, j::Int64) = check ? a[i, j] : @inbounds a[i, j]
@inline arrayref(check::Bool, a::Array, i::Int64, j::Int64, k::Int64, more::Int64...) = a[i, j, k, more...]
@inline function arrayset(check::Bool, a::Array, x, i::Int64)
    if check
        a[i] = x
    else
        @inbounds a[i] = x
    end
    return a
end
@inline function arrayset(check::Bool, a::Array, x, i::Int64, j::Int64)
    if check
        a[i, j] = x
    else
        @inbounds a[i, j] = x
    end
    return a
end
@inline function arrayset(check::Bool, a::Array, x, i::Int64, j::Int64, k::Int64, more::Int64...)
    a[i, j, k, more...] = x
    return a
end

# --- arrays, from 1.11 on: an element is known by a reference -------------------------------

struct __MemoryRef{A}
    array::A
    index::Int64
end
@inline getfield(a::Array, name::Symbol) = name === :size ? size(a) : __ref_of(a, name)
__ref_of(a, name) = name === :ref ? __MemoryRef(a, 1) :
    throw(ArgumentError(string("type ", typeof(a), " has no field ", name)))
@inline memoryrefnew(r::__MemoryRef) = r
@inline memoryrefnew(r::__MemoryRef, i::Int64) = __MemoryRef(r.array, r.index + i - 1)
@inline memoryrefnew(r::__MemoryRef, i::Int64, check::Bool) = __MemoryRef(r.array, r.index + i - 1)
@inline memoryrefget(r::__MemoryRef, order::Symbol, check::Bool) = r.array[r.index]
@inline function memoryrefset!(r::__MemoryRef, x, order::Symbol, check::Bool)
    r.array[r.index] = x
    return x
end
@inline memoryrefoffset(r::__MemoryRef) = r.index
