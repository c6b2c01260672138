# Dictionaries and sets: hash tables with open addressing. The entries stand in vectors, in the order in
# which they came, with room for more; `slots` is the index in which `mem.probe` finds the number of an entry
# by the hash of its key. The number of the last one is `last`. An entry that was deleted has the hash -1, and
# goes when the table grows; until then it is one of the `holes`.

abstract type AbstractDict{K, V} end
abstract type AbstractSet{T} end
mutable struct Dict{K, V} <: AbstractDict{K, V}
    slots::Vector{Int32}
    hashes::Vector{Int32}
    keys::Vector{K}
    vals::Vector{V}
    last::Int64
    holes::Int64
end
mutable struct IdDict{K, V} <: AbstractDict{K, V}
    slots::Vector{Int32}
    hashes::Vector{Int32}
    keys::Vector{K}
    vals::Vector{V}
    last::Int64
    holes::Int64
end
const __HashTable = Union{Dict, IdDict}
const OrderedDict = Union{Dict}
(::Type{Dict{K, V}})() where {K, V} = Dict{K, V}(Int32[], Int32[], K[], V[], 0, 0)
(::Type{IdDict{K, V}})() where {K, V} = IdDict{K, V}(Int32[], Int32[], K[], V[], 0, 0)
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
# What `mem.probe` finds of a key: the place of its entry in `slots`, and below 32 bits its number; 0 if there
# is none.
function __look_up(d, key)
    slots = d.slots
    h = __hash_in(d, key)
    found = mem.probe(slots, h, 0)
    while found != 0 && !__is_key(d, mem.load(d.keys, __number(found)), key)
        found = mem.probe(slots, h, __slot(found))
    end
    return found
end
@inline __number(found) = arith.and(found, 4294967295)
@inline __slot(found) = arith.ashr(found, 32)
# The number of the entry of a key; 0 if there is none.
@inline __entry(d, key) = __number(__look_up(d, key))
# Leaves out deleted entries, and makes room for twice as many as there are. `vals` grows last: as long as it is too
# short for another entry, whatever may fail before has changed nothing that can be seen.
function __grow(d)
    size = 16
    while size < 3 * length(d) || div(2 * size, 3) < mem.length(d.vals)
        size *= 2
    end
    size > 1073741824 && throw(OutOfMemoryError())
    slots = zeros(Int32, size)
    most = div(2 * size, 3)
    longer = most > mem.length(d.vals)
    if longer
        mem.resize(d.hashes, most)
        mem.resize(d.keys, most)
    end
    d.holes > 0 && __compact(d)
    mem.index_entries(slots, d.hashes, 1, d.last)
    d.slots = slots
    longer && mem.resize(d.vals, most)
    return nothing
end
function __compact(d)
    n = 0
    for e in 1:d.last
        __is_deleted(d, e) && continue
        n += 1
        if n < e
            mem.store(d.hashes, mem.load(d.hashes, e), n)
            d.keys[n] = d.keys[e]
            d.vals[n] = d.vals[e]
        end
    end
    d.last = n
    d.holes = 0
    return nothing
end
@inline __is_deleted(d, e) = arith.lt(mem.load(d.hashes, e), Int32(0))
# The number of the first entry from `e` on that is there.
function __next_entry(d, e)
    while e <= d.last && __is_deleted(d, e)
        e += 1
    end
    return e
end

# --- dictionaries ---------------------------------------------------------------------------

length(d::__HashTable) = d.last - d.holes
# What `__look_up` does stands here once more, and in `setindex!`: it saves a call.
function getindex(d::__HashTable, key)
    slots = d.slots
    h = __hash_in(d, key)
    found = mem.probe(slots, h, 0)
    while found != 0
        e = __number(found)
        __is_key(d, mem.load(d.keys, e), key) && return mem.load(d.vals, e)
        found = mem.probe(slots, h, __slot(found))
    end
    throw(KeyError(key))
end
function setindex!(d::Union{Dict{K, V}, IdDict{K, V}}, value, key) where {K, V}
    k = __converted_key(K, key)
    v = convert(V, value)
    h = __hash_in(d, k)
    slots = d.slots
    found = mem.probe(slots, h, 0)
    while found != 0
        e = __number(found)
        if __is_key(d, mem.load(d.keys, e), k)
            mem.store(d.vals, v, e)
            return d
        end
        found = mem.probe(slots, h, __slot(found))
    end
    e = d.last + 1
    vals = d.vals
    if e > mem.length(vals)
        __grow(d)
        return setindex!(d, v, k)
    end
    hashes = d.hashes
    mem.store(hashes, arith.wrap(Int32, arith.and(h, 2147483647)), e)
    mem.store(d.keys, k, e)
    mem.store(vals, v, e)
    mem.index_entries(slots, hashes, e, e)
    d.last = e
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
function get(f::Callable, d::__HashTable, key)
    e = __entry(d, key)
    return e == 0 ? f() : d.vals[e]
end
get!(d::AbstractDict, key, default) = get!(() -> default, d, key)
function get!(f::Callable, d::AbstractDict, key)
    haskey(d, key) && return d[key]
    value = f()
    d[key] = value
    return d[key]
end
getkey(d::__HashTable, key, default) = (e = __entry(d, key); e == 0 ? default : d.keys[e])
function delete!(d::__HashTable, key)
    found = __look_up(d, key)
    if found != 0
        mem.store(d.hashes, Int32(-1), __number(found))
        mem.store(d.slots, Int32(-1), __slot(found))
        d.holes += 1
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
    d.slots = Int32[]
    empty!(d.hashes)
    empty!(d.keys)
    empty!(d.vals)
    d.last = 0
    d.holes = 0
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
@inline __done(d::__HashTable, e) = e > d.last
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
@inline __item_type(k::KeySet{Dict{K, V}}) where {K, V} = K
@inline __item_type(k::ValueIterator{Dict{K, V}}) where {K, V} = V
length(k::__DictView) = length(k.dict)
in(key, k::KeySet) = haskey(k.dict, key)
in(p::Pair, d::AbstractDict) = haskey(d, p.first) && d[p.first] == p.second
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
function map!(f, v::ValueIterator{<:__HashTable})
    for e in 1:v.dict.last
        __is_deleted(v.dict, e) || (v.dict.vals[e] = f(v.dict.vals[e]))
    end
    return v
end
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
findmax(d::AbstractDict) = __best_entry(findmax, d)
findmin(d::AbstractDict) = __best_entry(findmin, d)
argmax(d::AbstractDict) = findmax(d)[2]
argmin(d::AbstractDict) = findmin(d)[2]
function __best_entry(find, d)
    best, k = find(collect(values(d)))
    return (best, collect(keys(d))[k])
end

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
