# Types, fields, functions, errors and text: what everything else is written with.
#
# Names with two underscores in front are internal. `lang/src/prelude/mod.rs` lists those that
# inference provides.

const __Int = Union{Int64, Int32, Int16, Int8}
const __Float = Union{Float64, Float32}
const IEEEFloat = Union{Float64, Float32}
const __Arith = Union{Float64, Int64, Float32, Int32, Int16, Int8}
const __Bits = Union{Bool, Int64, Int32, Int16, Int8}
const __Num = Union{Float64, Int64, Bool, Float32, Int32, Int16, Int8}

# What is iterated over by the functions of iterators.jl, and is no array or tuple.
abstract type __Iterator end

const Callable = Union{Function, Type}

# --- values ---------------------------------------------------------------------------------

function typeof end
function isa end
===(x, y) = core.same(x, y)
@inline !==(x, y) = arith.not(core.same(x, y))
identity(x) = x
ifelse(c::Bool, x::T, y::T) where T = core.select(c, x, y)
function ifelse(c::Bool, x, y)
    if c
        return x
    end
    return y
end
@inline isnothing(x) = core.same(x, nothing)
struct Some{T}
    value::T
end
notnothing(x) = x
notnothing(x::Nothing) = throw(ArgumentError("value must not be nothing"))
something(x) = x
something(x::Some) = x.value
something(x::Some, y...) = x.value
something(x::Nothing) = throw(ArgumentError("No value arguments present"))
something(x::Nothing, y...) = something(y...)
something(x, y...) = x

struct Returns{V} <: Function
    value::V
end
(r::Returns)(args...) = r.value

struct ComposedFunction{O, I} <: Function
    outer::O
    inner::I
end
@inline (c::ComposedFunction)(args...) = c.outer(c.inner(args...))
∘(f) = f
@inline ∘(f, g) = ComposedFunction(f, g)
@inline ∘(f, g, h...) = ∘(ComposedFunction(f, g), h...)
@inline |>(x, f) = f(x)

struct Fix1{F, T} <: Function
    f::F
    x::T
end
@inline (g::Fix1)(y) = g.f(g.x, y)
struct Fix2{F, T} <: Function
    f::F
    x::T
end
@inline (g::Fix2)(y) = g.f(y, g.x)
==(y) = Fix2(==, y)
!=(y) = Fix2(!=, y)
<(y) = Fix2(<, y)
<=(y) = Fix2(<=, y)
>(y) = Fix2(>, y)
>=(y) = Fix2(>=, y)
in(y) = Fix2(in, y)
isequal(y) = Fix2(isequal, y)

==(x, y) = core.same(x, y)
!=(x, y) = !(x == y)
isequal(x, y) = x == y
>(x, y) = y < x
>=(x, y) = y <= x
<=(x, y) = (x < y) | (x == y)
<(x, y) = isless(x, y)
==(x::Symbol, y::Symbol) = core.same(x, y)
==(x::String, y::String) = core.same(x, y)
==(x::Type, y::Type) = core.same(x, y)

@inline Val(x) = __val(x)
(::Type{Val{N}})() where N = __val(N)

# --- conversion -----------------------------------------------------------------------------

convert(::Type{T}, x::T) where T = x
convert(::Type{Any}, x) = x
convert(::Type{T}, x::T) where T>:Nothing = x
convert(::Type{T}, x) where T>:Nothing = __convert_rest(T, nonnothingtype(T), x)
# What a value is converted to that is no `nothing` or `missing`.
function __convert_rest(T, Rest, x)
    (Rest === T || Rest === Union{}) && throw(MethodError(convert, (T, x)))
    return convert(Rest, x)
end
nonnothingtype(::Type{Nothing}) = Union{}
nonnothingtype(::Type{Union{T, Nothing}}) where T = T
nonnothingtype(::Type{T}) where T = T
# The type of what is of no known type, and the exact one of a type.
__late_typeof(x) = core.typeof(x)
__late_typeof(x::DataType) = DataType
__late_typeof(x::UnionAll) = UnionAll
__late_typeof(x::Union) = Union
Typeof(x) = core.typeof(x)
oftype(x, y) = convert(typeof(x), y)

# --- fields ---------------------------------------------------------------------------------

@inline getproperty(x, name::Symbol) = __defined(x, name, data.getfield(x, name))
@inline getproperty(x, k::Int64) = __defined(x, k, data.getfield(x, k))
@inline getfield(x, name::Symbol) = __defined(x, name, data.getfield(x, name))
@inline getfield(x, k::Int64) = __defined(x, k, data.getfield(x, k))
@inline __check_defined_field(v) = v === __undefined() ? throw(UndefRefError()) : v
isdefined(x, name::Symbol) = data.hasfield(x, name) && data.getfield(x, name) !== __undefined()
isdefined(x, k::Int64) = 1 <= k <= nfields(x) && data.getfield(x, k) !== __undefined()
@inline function setproperty!(x, name::Symbol, v)
    T = __fieldtype(typeof(x), name)
    data.setfield(x, name, convert(T, v)::T)
    return v
end
@inline function setfield!(x, name, v)
    name isa Int64 && !(1 <= name <= nfields(x)) && throw(BoundsError(x, name))
    T = __fieldtype(typeof(x), name)
    v isa T || throw(TypeError(:setfield!, "", T, v))
    data.setfield(x, name, v)
    return v
end
fieldtype(T::Type, k) = __fieldtype(T, k)
fieldnames(T::Type) = __fieldnames(T)
fieldname(T::Type, k) = __fieldnames(T)[k]
fieldcount(T::Type) = length(__fieldnames(T))
fieldtypes(T::Type) = map(k -> __fieldtype(T, k), __fieldnames(T))
@inline getproperty(T::Type, name::Symbol) =
    name === :parameters ? __parameters(T) : throw(ArgumentError(string("type ", T, " has no property ", name)))
propertynames(x) = __fieldnames(typeof(x))
hasproperty(x, name::Symbol) = data.hasfield(x, name)
nfields(x) = data.fieldcount(x)
supertype(T::Type) = __supertype(T)
isabstracttype(T::Type) = __type_kind(T) === :abstract && !(T isa Union)
isconcretetype(T::Type) = !(__type_kind(T) in (:abstract, :open))
ismutabletype(T::Type) = __type_kind(T) === :mutable
isbitstype(T::Type) = __type_kind(T) === :bits
isprimitivetype(T::Type) = T <: Union{Int64, Int32, Int16, Int8, Bool, Float64, Float32, Unsigned} && isconcretetype(T)
isstructtype(T::Type) = __type_kind(T) !== :abstract && !isprimitivetype(T)
ismutable(x) = ismutabletype(typeof(x))
isimmutable(x) = !ismutable(x)
isbits(x) = isbitstype(typeof(x))
hasfield(T::Type, name::Symbol) = name in __fieldnames(T)

# --- refs and captured variables ------------------------------------------------------------

Ref(x) = __new_ref(x)
__new_ref(x) = mem.ref_new(x)
(::Type{Ref{T}})(x) where T = mem.ref_new(convert(T, x))
(::Type{Ref{Any}})(x) = mem.ref_new(core.convert(Any, x))
getindex(r::Ref) = mem.ref_get(r)
@inline function setindex!(r::Ref{T}, v) where T
    mem.ref_set(r, convert(T, v))
    return r
end
@inline getproperty(r::Ref, name::Symbol) = mem.ref_get(r)
@inline getfield(r::Ref, name::Symbol) = name === :x ? mem.ref_get(r) : error("type RefValue has no field ", name)
@inline getfield(r::Ref, k::Int64) = k == 1 ? mem.ref_get(r) : throw(BoundsError(r, k))
@inline setfield!(r::Ref, name, v) = (mem.ref_set(r, v); v)
isdefined(r::Ref, name::Symbol) = name === :x
isdefined(r::Ref, k::Int64) = k == 1
hasproperty(r::Ref, name::Symbol) = name === :x
nfields(r::Ref) = 1
fieldtype(::Type{Ref{T}}, k) where T = T
@inline function setproperty!(r::Ref{T}, name::Symbol, v) where T
    mem.ref_set(r, convert(T, v))
    return v
end

mutable struct __Box
    set::Bool
    value
end
__box() = __Box(false, nothing)
@inline __box(x) = __Box(true, x)
function __box_get(b, name)
    if b.set
        return b.value
    end
    throw(UndefVarError(name))
end
@inline function __box_set(b, x)
    data.setfield(b, :value, x)
    data.setfield(b, :set, true)
    return x
end
# The cell of a variable, `__cell(names...)`: nothing if these functions have only methods of the library, which are done with
# the value that a closure holds when they return; otherwise a box, which tells the value that the variable has by then.
@inline __cell_get(cell::Nothing, x) = x
@inline __cell_get(cell, x) = cell.value
@inline __cell_set(cell::Nothing, x) = nothing
@inline __cell_set(cell, x) = __box_set(cell, x)
@inline function __check_defined(flag::Bool, name)
    if flag
        return nothing
    end
    throw(UndefVarError(name))
end

# --- text -----------------------------------------------------------------------------------

struct Module{P} end
@inline getproperty(m::Module, name::Symbol) = __module_member(m, name)
@inline getfield(m::Module, name::Symbol) = __module_member(m, name)
@inline getglobal(m::Module, name::Symbol) = __module_member(m, name)

abstract type IO end
# What was printed to it, in parts.
mutable struct IOBuffer <: IO
    parts::Vector{String}
end
struct __Output <: IO end
const stdout = __new(__Output)
__print_to(io::__Output, text) = core.print(text)
struct __ErrorOutput <: IO end
const stderr = __new(__ErrorOutput)
__print_to(io::__ErrorOutput, text) = core.host(:stderr, text)
String(x::String) = x
String(x::Symbol) = string(x)

# The methods of a function, as they are shown.
struct Method
    text::String
end
struct MethodList
    text::String
    methods::Vector{Method}
end
methods(f) = __method_list(__methods(f)...)
__method_list(text, lines) = MethodList(text, Method[Method(line) for line in lines])
length(m::MethodList) = length(m.methods)
getindex(m::MethodList, i::Integer) = m.methods[i]
iterate(m::MethodList) = iterate(m.methods)
iterate(m::MethodList, state) = iterate(m.methods, state)
first(m::MethodList) = m[1]
applicable(f, args...) = __has_method(f, typeof(args))
hasmethod(f, T::Type) = __has_method(f, T)
invoke(f, T::Type, args...) = __invoke(f, T, args...)
# Whatever is known of the function, its methods are looked up when it is called.
invokelatest(f, args...; kw...) = (Ref{Any}(f)[])(args...; kw...)
include(path) = eval(Expr(:call, :include, path))

# What is printed in place of a value that is not shown field by field.
__shown(x) = __has_own(show, Tuple{IOBuffer, typeof(x)}) ? sprint(show, x) : __has_own(show) ? __with_own(x) : x
__shown(x::Number) = __has_own(show, Tuple{IOBuffer, typeof(x)}) ? sprint(show, x) : x
__shown(x::Union{String, Symbol, Nothing, AbstractChar, Function, Type}) = x
__shown(x::Union{Tuple, NamedTuple}) = __has_own(show) ? __with_own(x) : x
__shown(x::Union{Array, AbstractRange}) = __has_own(show) ? __with_own(x) : x
__shown(x::AbstractArray) = __has_own(show, Tuple{IOBuffer, typeof(x)}) ? sprint(show, x) : __shown(collect(x))
show(io::IO, x) = __print_to(io, core.string(__repr(x)))
show(x) = show(stdout, x)
repr(x) = sprint(show, x)
string(xs...) = __spread("core.string", __unroll_map(__shown, xs))
string() = ""
# `@inferred f(x)`
function __inferred(f, args...; kw...)
    result = f(args...; kw...)
    T = __return_type(__Calling(f, values(kw)), map(Typeof, args)...)
    return result isa Type || typeof(result) === T ? result : __not_inferred(typeof(result), T)
end
struct __Calling{F, K} <: Function
    f::F
    given::K
end
(g::__Calling)(args...) = g.f(args...; g.given...)
__not_inferred(found, T) =
    throw(ErrorException(string("return type ", found, " does not match inferred return type ", T)))
# `@show x`
function __show(text, x)
    println(text, " = ", __repr(x))
    return x
end
__repr(x) = __shown(x)
# The same for the value of a statement.
__displayed(x) = __shown(x)
__repr(x::Union{Number, String, Symbol, AbstractChar}) = core.shown(x)
__repr(x::Union{AbstractArray, Tuple, NamedTuple}) = core.shown(__has_own(show) ? __with_own(x) : x)
# `"a $x b"`
__interpolated(parts...) = string(parts...)
print(xs...) = __spread("core.print", __unroll_map(__shown, xs))
println(xs...) = __spread("core.println", __unroll_map(__shown, xs))
println() = core.println()
