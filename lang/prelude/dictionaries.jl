# Dictionaries and sets: hash tables with open addressing. The entries stand in vectors, in the order in
# which they came; `slots` holds their numbers (0 for none) at the places that the hashes of the keys say.
# An entry that was deleted has the hash -1, and goes when the table grows.

abstract type AbstractDict{K, V} end
abstract type AbstractSet{T} end
mutable struct Dict{K, V} <: AbstractDict{K, V}
    slots::Vector{Int64}
    hashes::Vector{Int64}
    keys::Vector{K}
    vals::Vector{V}
    count::Int64
end
mutable struct IdDict{K, V} <: AbstractDict{K, V}
    slots::Vector{Int64}
    hashes::Vector{Int64}
    keys::Vector{K}
    vals::Vector{V}
    count::Int64
end
const __HashTable = Union{Dict, IdDict}
const OrderedDict = Union{Dict}
(::Type{Dict{K, V}})() where {K, V} = Dict{K, V}(zeros(Int64, 16), Int64[], K[], V[], 0)
(::Type{IdDict{K, V}})() where {K, V} = IdDict{K, V}(zeros(Int64, 16), Int64[], K[], V[], 0)
Dict() = Dict{Any, Any}()
IdDict() = IdDict{Any, Any}()
(::Type{Dict{K, V}})(ps::Pair...) where {K, V} = __put_all(Dict{K, V}(), ps)
(::Type{IdDict{K, V}})(ps::Pair...) where {K, V} = __put_all(IdDict{K, V}(), ps)
(::Type{Dict{K, V}})(it) where {K, V} = __put_all(Dict{K, V}(), it)
(::Type{IdDict{K, V}})(it) where {K, V} = __put_all(IdDict{K, V}(), it)
Dict(ps::Pair...) = __dict_of(Dict, ps)
IdDict(ps::Pair...) = __dict_of(IdDict, ps)
Dict(it) = __dict_of(Dict, collect(it))
IdDict(it) = __dict_of(IdDict, collect(it))
Dict(d::AbstractDict{K, V}) where {K, V} = __put_all(Dict{K, V}(), d)
__dict_of(D, ps) = __put_all(D{__entry_type(map(first, ps)), __entry_type(map(last, ps))}(), ps)
__entry_type(xs) = eltype(xs)
__entry_type(::Tuple{}) = Any
function __put_all(d, it)
    for (k, v) in it
        d[k] = v
    end
    return d
end

# --- the table ------------------------------------------------------------------------------

@inline __hash_in(d::Dict, key) = __key_hash(key)
@inline __hash_in(d::IdDict, key) = core.hash(key)
@inline __is_key(d::Dict, a, b) = isequal(a, b)
@inline __is_key(d::IdDict, a, b) = a === b
# The number of the entry of a key; 0 if there is none.
__entry(d, key) = max(__look_up(d, key, __hash_in(d, key)), 0)
# Likewise; if there is none, the place in `slots` where its number goes, negated.
function __look_up(d, key, h)
    slots = d.slots
    hashes = d.hashes
    keys = d.keys
    mask = mem.length(slots) - 1
    i = arith.and(h, mask) + 1
    while true
        e = mem.load(slots, i)
        e == 0 && return -i
        if mem.load(hashes, e) == h && __is_key(d, mem.load(keys, e), key)
            return e
        end
        i = arith.and(i, mask) + 1
    end
end
function __add_entry(d, key, value, h, place)
    hashes = d.hashes
    slots = d.slots
    mem.push(hashes, h)
    mem.push(d.keys, key)
    mem.push(d.vals, value)
    d.count += 1
    n = mem.length(hashes)
    mem.store(slots, n, place)
    if 3 * n > 2 * mem.length(slots)
        __rehash(d)
    end
    return nothing
end
# Leaves out deleted entries, and makes room for twice as many as there are.
function __rehash(d)
    hashes = d.hashes
    n = 0
    for e in 1:mem.length(hashes)
        h = mem.load(hashes, e)
        h < 0 && continue
        n += 1
        if n < e
            mem.store(hashes, h, n)
            d.keys[n] = d.keys[e]
            d.vals[n] = d.vals[e]
        end
    end
    resize!(hashes, n)
    resize!(d.keys, n)
    resize!(d.vals, n)
    size = 16
    while size < 4 * n
        size *= 2
    end
    slots = zeros(Int64, size)
    mask = size - 1
    for e in 1:n
        i = arith.and(mem.load(hashes, e), mask) + 1
        while mem.load(slots, i) != 0
            i = arith.and(i, mask) + 1
        end
        mem.store(slots, e, i)
    end
    d.slots = slots
    return nothing
end
__next_entry(d, e) = e > length(d.hashes) || d.hashes[e] >= 0 ? e : __next_entry(d, e + 1)

# --- dictionaries ---------------------------------------------------------------------------

length(d::__HashTable) = d.count
function getindex(d::__HashTable, key)
    e = __entry(d, key)
    e == 0 && throw(KeyError(key))
    return d.vals[e]
end
function setindex!(d::Union{Dict{K, V}, IdDict{K, V}}, value, key) where {K, V}
    k = __converted_key(K, key)
    h = __hash_in(d, k)
    e = __look_up(d, k, h)
    if e < 0
        __add_entry(d, k, convert(V, value), h, -e)
    else
        d.vals[e] = convert(V, value)
    end
    return d
end
function __converted_key(::Type{K}, key) where K
    k = convert(K, key)
    isequal(k, key) || throw(ArgumentError(string(key, " is not a valid key for type ", K)))
    return k
end
__converted_key(::Type{K}, key::K) where K = key
haskey(d::__HashTable, key) = __entry(d, key) != 0
function get(d::__HashTable, key, default)
    e = __entry(d, key)
    return e == 0 ? default : d.vals[e]
end
function get(f::Function, d::__HashTable, key)
    e = __entry(d, key)
    return e == 0 ? f() : d.vals[e]
end
get!(d::AbstractDict, key, default) = get!(() -> default, d, key)
function get!(f::Function, d::AbstractDict, key)
    haskey(d, key) && return d[key]
    value = f()
    d[key] = value
    return d[key]
end
getkey(d::__HashTable, key, default) = (e = __entry(d, key); e == 0 ? default : d.keys[e])
function delete!(d::__HashTable, key)
    e = __entry(d, key)
    if e != 0
        d.hashes[e] = -1
        d.count -= 1
    end
    return d
end
function pop!(d::AbstractDict, key)
    value = d[key]
    delete!(d, key)
    return value
end
pop!(d::AbstractDict, key, default) = haskey(d, key) ? pop!(d, key) : default
function pop!(d::AbstractDict)
    isempty(d) && throw(ArgumentError("dict must be non-empty"))
    p = last(collect(d))
    delete!(d, p.first)
    return p
end
function empty!(d::__HashTable)
    d.slots = zeros(Int64, 16)
    empty!(d.hashes)
    empty!(d.keys)
    empty!(d.vals)
    d.count = 0
    return d
end
empty(d::Dict{K, V}) where {K, V} = Dict{K, V}()
empty(d::IdDict{K, V}) where {K, V} = IdDict{K, V}()
copy(d::__HashTable) = __put_all(empty(d), d)
isempty(d::AbstractDict) = length(d) == 0
sizehint!(d::Union{AbstractDict, AbstractSet}, n) = d
eltype(::Type{Dict{K, V}}) where {K, V} = Pair{K, V}
eltype(::Type{IdDict{K, V}}) where {K, V} = Pair{K, V}
keytype(d::AbstractDict{K, V}) where {K, V} = K
valtype(d::AbstractDict{K, V}) where {K, V} = V
keytype(::Type{Dict{K, V}}) where {K, V} = K
valtype(::Type{Dict{K, V}}) where {K, V} = V
@inline __start(d::__HashTable) = __next_entry(d, 1)
@inline __done(d::__HashTable, e) = e > length(d.hashes)
@inline __item(d::__HashTable, e) = d.keys[e] => d.vals[e]
@inline __next(d::__HashTable, e) = __next_entry(d, e + 1)
iterate(d::__HashTable) = iterate(d, __start(d))
iterate(d::__HashTable, e) = __done(d, e) ? nothing : (__item(d, e), __next(d, e))
pairs(d::AbstractDict) = d
struct KeySet{D} <: __Iterator
    dict::D
end
struct ValueIterator{D} <: __Iterator
    dict::D
end
keys(d::AbstractDict) = KeySet(d)
values(d::AbstractDict) = ValueIterator(d)
const __DictView = Union{KeySet, ValueIterator}
@inline __start(k::__DictView) = __start(k.dict)
@inline __done(k::__DictView, s) = __done(k.dict, s)
@inline __next(k::__DictView, s) = __next(k.dict, s)
@inline __item(k::KeySet, s) = __item(k.dict, s).first
@inline __item(k::ValueIterator, s) = __item(k.dict, s).second
@inline __item(k::KeySet{<:__HashTable}, s) = k.dict.keys[s]
@inline __item(k::ValueIterator{<:__HashTable}, s) = k.dict.vals[s]
length(k::__DictView) = length(k.dict)
in(key, k::KeySet) = haskey(k.dict, key)
in(p::Pair, d::AbstractDict) = haskey(d, p.first) && d[p.first] == p.second
function first(d::AbstractDict)
    isempty(d) && throw(ArgumentError("collection must be non-empty"))
    return __item(d, __start(d))
end
merge!(d::AbstractDict, others::AbstractDict...) = (foreach(o -> __put_all(d, o), others); d)
merge(d::Dict{K, V}, others::AbstractDict...) where {K, V} =
    merge!(Dict{__joined_type(K, map(keytype, others)), __joined_type(V, map(valtype, others))}(), d, others...)
__joined_type(T, others) = __unroll_fold(__join_entry_types, T, others)
__join_entry_types(S, T) = S === T ? S : __wider(S, T)
__wider(S, T) = promote_type(S, T)
mergewith(f, d::AbstractDict, others::AbstractDict...) = mergewith!(f, copy(d), others...)
function mergewith!(f, d::AbstractDict, others::AbstractDict...)
    for o in others, (k, v) in o
        d[k] = haskey(d, k) ? f(d[k], v) : v
    end
    return d
end
merge(f::Function, d::AbstractDict, others::AbstractDict...) = mergewith(f, d, others...)
merge!(f::Function, d::AbstractDict, others::AbstractDict...) = mergewith!(f, d, others...)
filter(f, d::AbstractDict) = __put_all(empty(d), [p for p in d if f(p)])
function filter!(f, d::AbstractDict)
    for p in collect(d)
        f(p) || delete!(d, p.first)
    end
    return d
end
map!(f, v::ValueIterator{<:__HashTable}) = (map!(f, v.dict.vals, v.dict.vals); v)
function ==(a::AbstractDict, b::AbstractDict)
    length(a) == length(b) || return false
    for (k, v) in a
        (haskey(b, k) && b[k] == v) || return false
    end
    return true
end
isequal(a::AbstractDict, b::AbstractDict) = length(a) == length(b) && all(p -> haskey(b, p.first) && isequal(b[p.first], p.second), a)
==(p::Pair, q::Pair) = p.first == q.first && p.second == q.second
isequal(p::Pair, q::Pair) = isequal(p.first, q.first) && isequal(p.second, q.second)
isless(p::Pair, q::Pair) = isequal(p.first, q.first) ? isless(p.second, q.second) : isless(p.first, q.first)
hash(p::Pair, h::UInt64) = hash(p.second, hash(p.first, h))
function hash(d::AbstractDict, h::UInt64)
    total = zero(UInt64)
    for p in d
        total = xor(total, hash(p))
    end
    return hash(total, h)
end
findfirst(f::Function, d::AbstractDict) = __key_where(f, d)
function __key_where(f, d)
    for (k, v) in d
        f(v) && return k
    end
    return nothing
end
findall(f::Function, d::AbstractDict) = [p.first for p in d if f(p.second)]

# --- sets -----------------------------------------------------------------------------------

struct Set{T} <: AbstractSet{T}
    dict::Dict{T, Nothing}
    Set{T}() where T = new{T}(Dict{T, Nothing}())
end
const OrderedSet = Union{Set}
(::Type{Set{T}})(it) where T = __put_in(Set{T}(), it)
Set() = Set{Any}()
Set(it) = __set_of(collect(it))
__set_of(xs) = __put_in(Set{eltype(xs)}(), xs)
function __put_in(s, it)
    for x in it
        push!(s, x)
    end
    return s
end
push!(s::Set, x) = (s.dict[x] = nothing; s)
push!(s::AbstractSet, x, y, more...) = __put_in(push!(push!(s, x), y), more)
push!(d::AbstractDict, p::Pair) = (d[p.first] = p.second; d)
push!(d::AbstractDict, p::Pair, q::Pair, more::Pair...) = __put_all(push!(push!(d, p), q), more)
delete!(s::Set, x) = (delete!(s.dict, x); s)
function pop!(s::Set, x)
    x in s || throw(KeyError(x))
    delete!(s, x)
    return x
end
pop!(s::Set) = pop!(s, last(collect(s)))
empty!(s::Set) = (empty!(s.dict); s)
empty(s::Set{T}) where T = Set{T}()
copy(s::Set) = __put_in(empty(s), s)
length(s::Set) = length(s.dict)
isempty(s::AbstractSet) = length(s) == 0
eltype(::Type{Set{T}}) where T = T
in(x, s::Set) = haskey(s.dict, x)
@inline __start(s::Set) = __start(s.dict)
@inline __done(s::Set, e) = __done(s.dict, e)
@inline __item(s::Set, e) = s.dict.keys[e]
@inline __next(s::Set, e) = __next(s.dict, e)
iterate(s::Set) = iterate(s, __start(s))
iterate(s::Set, e) = __done(s, e) ? nothing : (__item(s, e), __next(s, e))
first(s::AbstractSet) = isempty(s) ? throw(ArgumentError("collection must be non-empty")) : __item(s, __start(s))
union(s::AbstractSet, others...) = union!(__wide_copy(s, others), others...)
__wide_copy(s, others) = __put_in(Set{__joined_type(eltype(s), map(eltype, others))}(), s)
union!(s::AbstractSet, others...) = (foreach(o -> __put_in(s, o), others); s)
intersect(s::AbstractSet, others...) = filter(x -> all(o -> x in o, others), s)
setdiff(s::AbstractSet, others...) = filter(x -> !any(o -> x in o, others), s)
setdiff!(s::AbstractSet, others...) = (foreach(o -> foreach(x -> delete!(s, x), o), others); s)
intersect!(s::AbstractSet, others...) = filter!(x -> all(o -> x in o, others), s)
symdiff(a::AbstractSet, b) = union(setdiff(a, b), setdiff(Set(b), a))
filter(f, s::AbstractSet) = __put_in(empty(s), [x for x in s if f(x)])
function filter!(f, s::AbstractSet)
    for x in collect(s)
        f(x) || delete!(s, x)
    end
    return s
end
# Of other collections, the elements in the order in which they come first.
union(a, others...) = collect(union(Set(a), others...))
intersect(a, others...) = collect(intersect(Set(a), others...))
intersect(r::UnitRange, s::UnitRange) = max(first(r), first(s)):min(last(r), last(s))
setdiff(a, others...) = collect(setdiff(Set(a), others...))
symdiff(a, b) = collect(symdiff(Set(a), b))
union!(v::Vector, others...) = append!(unique!(v), setdiff(union(v, others...), v))
intersect!(v::Vector, others...) = filter!(x -> all(o -> x in o, others), unique!(v))
setdiff!(v::Vector, others...) = filter!(x -> !any(o -> x in o, others), unique!(v))
issubset(a, b) = all(x -> x in b, a)
⊆(a, b) = issubset(a, b)
⊇(a, b) = issubset(b, a)
⊊(a, b) = issubset(a, b) && length(a) < length(b)
∪(a, b) = union(a, b)
∩(a, b) = intersect(a, b)
isdisjoint(a, b) = !any(x -> x in b, a)
==(a::AbstractSet, b::AbstractSet) = length(a) == length(b) && issubset(a, b)
isequal(a::AbstractSet, b::AbstractSet) = a == b
hash(s::AbstractSet, h::UInt64) = hash(s.dict, h)
issetequal(a, b) = issubset(a, b) && issubset(b, a)
