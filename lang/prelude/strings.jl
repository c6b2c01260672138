# Strings: UTF-8, indexed by byte as in Julia. `SubString`s are strings.

length(s::String) = __count_chars(s, 1, text.length(s))
function __count_chars(s, i, last)
    n = 0
    while i <= last
        n += 1
        i += __width(text.char(s, i))
    end
    return n
end
ncodeunits(s::String) = text.length(s)
sizeof(s::String) = text.length(s)
codeunit(s::String) = UInt8
codeunit(s::String, i::Integer) = 1 <= i <= text.length(s) ? __UInt8(text.byte(s, i)) : throw(BoundsError(s, i))
codeunits(s::String) = [__UInt8(text.byte(s, i)) for i in 1:text.length(s)]
isempty(s::String) = text.length(s) == 0
firstindex(s::String) = 1
lastindex(s::String) = text.length(s) == 0 ? 0 : thisind(s, text.length(s))
eltype(::Type{String}) = Char
isvalid(s::String) = true
isvalid(s::String, i::Integer) = text.char(s, i) >= Int32(0)
isascii(s::String) = all(isascii, s)
thisind(s::String, i::Integer) = i < 1 ? 0 : i > text.length(s) ? text.length(s) + 1 : isvalid(s, i) ? i : thisind(s, i - 1)
nextind(s::String, i::Integer) = i < 1 ? 1 : i > text.length(s) ? i + 1 : __next_start(s, i + 1)
nextind(s::String, i::Integer, n::Integer) = n <= 0 ? i : nextind(s, nextind(s, i), n - 1)
__next_start(s, i) = i > text.length(s) || isvalid(s, i) ? i : __next_start(s, i + 1)
prevind(s::String, i::Integer) = i <= 1 ? i - 1 : i > text.length(s) + 1 ? text.length(s) : thisind(s, i - 1)
prevind(s::String, i::Integer, n::Integer) = n <= 0 ? i : prevind(s, prevind(s, i), n - 1)
checkbounds(s::String, i::Integer) = 1 <= i <= text.length(s) ? nothing : throw(BoundsError(s, i))
struct StringIndexError <: Exception
    string::String
    index::Int64
end
function showerror(io::IO, e::StringIndexError)
    s, i = e.string, thisind(e.string, e.index)
    print(io, "StringIndexError: invalid index [", e.index, "], valid nearby indices [", i, "]=>", repr(s[i]))
    j = nextind(s, i)
    j <= ncodeunits(s) && print(io, ", [", j, "]=>", repr(s[j]))
end
@inline function getindex(s::String, i::Int64)
    code = text.char(s, i)
    code < Int32(0) && __no_char(s, i, code)
    return __Char(code)
end
@noinline __no_char(s, i, code) = throw(code == Int32(-1) ? BoundsError(s, i) : StringIndexError(s, i))
getindex(s::String, i::Integer) = s[Int64(i)]
getindex(s::String, v::AbstractVector) = __at_all(s, v)
__at_all(s, r::AbstractUnitRange) = __part(s, first(r), last(r))
__at_all(s, v) = join([s[i] for i in v])
getindex(s::String, ::Colon) = s
# Of characters from one index to another.
function __part(s, i, j)
    j < i && return ""
    (1 <= i && j <= text.length(s)) || throw(BoundsError(s, i:j))
    isvalid(s, i) || throw(StringIndexError(s, i))
    isvalid(s, j) || throw(StringIndexError(s, j))
    return text.slice(s, i, j + __width(text.char(s, j)) - 1)
end
SubString(s::String, i::Integer) = __part(s, i, lastindex(s))
SubString(s::String, i::Integer, j::Integer) = __part(s, i, j)
SubString(s::String, r::AbstractUnitRange) = s[r]
SubString(s::String) = s
view(s::String, r::AbstractUnitRange) = s[r]

@inline __start(s::String) = 1
@inline __done(s::String, i) = i > text.length(s)
@inline __item(s::String, i) = __Char(text.char(s, i))
@inline __next(s::String, i) = i + __width(text.char(s, i))
iterate(s::String) = iterate(s, 1)
iterate(s::String, i::Int64) = i > text.length(s) ? nothing : (s[i], nextind(s, i))
eachindex(s::String) = __EachIndex(s)
keys(s::String) = __EachIndex(s)
__number_at(s::String, k) = nextind(s, 0, k)
__number_at(a, k) = k
pairs(s::String) = Generator(i -> i => s[i], eachindex(s))
struct __EachIndex <: __Iterator
    text::String
end
@inline __start(e::__EachIndex) = 1
@inline __done(e::__EachIndex, i) = i > text.length(e.text)
@inline __item(e::__EachIndex, i) = i
@inline __next(e::__EachIndex, i) = i + __width(text.char(e.text, i))
length(e::__EachIndex) = length(e.text)
first(s::String) = s[1]
last(s::String) = s[lastindex(s)]
first(s::String, n::Integer) = n <= 0 ? "" : __part(s, 1, min(nextind(s, 0, n), lastindex(s)))
last(s::String, n::Integer) = n <= 0 ? "" : __part(s, max(prevind(s, text.length(s) + 1, n), 1), lastindex(s))
collect(s::String) = Char[c for c in s]
map(f, s::String) = join([f(c) for c in s])
filter(f, s::String) = join([c for c in s if f(c)])
in(c::Char, s::String) = text.find(s, text.of_char(c.code), 1) > 0
in(a::String, b::String) = throw(ErrorException("use occursin(needle, haystack) for string containment"))

# --- text of other things -------------------------------------------------------------------

String(v::AbstractVector{UInt8}) = __decoded(v)
String(v::AbstractVector{Char}) = join(v)
function __decoded(v)
    io = IOBuffer()
    i = 1
    while i <= length(v)
        b = Int64(v[i])
        n = b < 128 ? 1 : b < 224 ? 2 : b < 240 ? 3 : 4
        i + n - 1 <= length(v) || throw(ArgumentError("the bytes are not UTF-8"))
        code = n == 1 ? b : b & (255 >> (n + 1))
        for k in 1:n-1
            code = code << 6 | Int64(v[i + k]) & 63
        end
        print(io, Char(code))
        i += n
    end
    return __written(io)
end
string(n::__Int; base::Integer = 10, pad::Integer = 1) = base == 10 && pad == 1 ? core.string(n) : __in_base(n, base, pad)
string(n::__UInt; base::Integer = 10, pad::Integer = 1) = base == 10 && pad == 1 ? core.string(n) : __in_base(n, base, pad)
function __in_base(n, base, pad)
    2 <= base <= 62 || throw(ArgumentError(string("base must be 2 ≤ base ≤ 62, got ", base)))
    small, capital = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    symbols = base <= 36 ? string("0123456789", small) : string("0123456789", capital, small)
    out = String[]
    sign = n < 0 ? "-" : ""
    while !iszero(n) || length(out) < pad
        d = abs(Int64(rem(n, oftype(n, base)))) + 1
        push!(out, text.slice(symbols, d, d))
        n = div(n, oftype(n, base))
    end
    push!(out, sign)
    return text.join(reverse!(out))
end
bitstring(x::__Int) = join([isodd(arith.shr(x, k)) ? '1' : '0' for k in 8 * sizeof(x) - 1:-1:0])
bitstring(x::__UInt) = bitstring(x.bits)
bitstring(x::Float64) = bitstring(arith.bitcast(Int64, x))
bitstring(x::Float32) = bitstring(arith.bitcast(Int32, x))
function digits(n::Integer; base::Integer = 10, pad::Integer = 1)
    out = Int64[]
    while !iszero(n) || length(out) < pad
        push!(out, Int64(rem(n, oftype(n, base))))
        n = div(n, oftype(n, base))
    end
    return out
end
ndigits(n::Integer; base::Integer = 10, pad::Integer = 1) = max(length(digits(abs(n); base)), pad)
function parse(::Type{T}, s::String; base = 10) where T<:Real
    x = tryparse(T, s; base)
    x === nothing && throw(ArgumentError(isempty(s) && T <: Integer ? "input string is empty or only contains whitespace" :
        T <: Integer ? string("invalid base ", base, " digit in ", repr(s)) : string("cannot parse ", repr(s), " as ", T)))
    return x
end
tryparse(::Type{T}, s::String; base = 10) where T<:__Float = __parsed(T, text.number(:float, s, 10))
tryparse(::Type{T}, s::String; base = 10) where T<:__Integers = __parsed_int(T, text.number(:int, s, base))
tryparse(::Type{Bool}, s::String; base = 10) = strip(s) == "true" ? true : strip(s) == "false" ? false : __parsed_int(Bool, text.number(:int, s, 10))
__parsed(T, x) = x isa Float64 ? convert(T, x) : nothing
__parsed_int(T, n) = n isa Int64 && __as_int(typemin(T)) <= n && (n <= __as_int(typemax(T)) || __as_int(typemax(T)) < 0) ? convert(T, n) : nothing
join(xs, between, last) = __joined(collect(xs), between, last)
function __joined(xs, between, last)
    length(xs) <= 1 && return join(xs, between)
    return string(join(xs[1:end-1], between), last, xs[end])
end
function join(xs, between)
    parts = String[]
    for x in xs
        isempty(parts) || push!(parts, string(between))
        push!(parts, string(x))
    end
    return text.join(parts)
end
function join(xs)
    parts = String[]
    for x in xs
        push!(parts, string(x))
    end
    return text.join(parts)
end
join(io::IO, xs, between...) = print(io, join(xs, between...))
function ^(s::String, n::Integer)
    n < 0 && throw(ArgumentError("can't repeat a string a negative number of times"))
    return text.join(fill(s, Int64(n)))
end
repeat(s::String, n::Integer) = s^n
lowercase(s::String) = text.change(:lower, s)
uppercase(s::String) = text.change(:upper, s)
titlecase(s::String) = text.change(:title, s)
uppercasefirst(s::String) = isempty(s) ? s : string(uppercase(s[1]), __part(s, nextind(s, 1), lastindex(s)))
lowercasefirst(s::String) = isempty(s) ? s : string(lowercase(s[1]), __part(s, nextind(s, 1), lastindex(s)))
reverse(s::String) = text.change(:reverse, s)
escape_string(s::String) = text.change(:escape, s)
textwidth(s::String) = length(s)
textwidth(c::Char) = 1
lpad(x, n::Integer, p = ' ') = __pad(string(x), n, p, true)
rpad(x, n::Integer, p = ' ') = __pad(string(x), n, p, false)
function __pad(s, n, p, left)
    p = string(p)
    missing_chars = n - length(s)
    missing_chars <= 0 && return s
    whole, rest = divrem(missing_chars, length(p))
    pad = string(p^whole, first(p, rest))
    return left ? string(pad, s) : string(s, pad)
end

nameof(f::Function) = Symbol(f)
nameof(T::Type) = Symbol(split(string(T), '{')[1])
nameof(m::Module) = Symbol(split(string(m), '.')[end])

# --- comparison -----------------------------------------------------------------------------

<(a::String, b::String) = text.compare(a, b) < 0
isless(a::String, b::String) = text.compare(a, b) < 0
cmp(a::String, b::String) = text.compare(a, b)
isequal(a::String, b::String) = core.same(a, b)
isless(a::Symbol, b::Symbol) = isless(string(a), string(b))

# --- parts ----------------------------------------------------------------------------------
# A pattern is a text, a character, a collection of characters, a predicate or a regular expression.
# `__find(p, s, i)` gives the first and last byte of its first occurrence from `i` on; (0, -1) if there is none.

function __find(p::String, s, i)
    at = text.find(s, p, i)
    return at == 0 ? (0, -1) : (at, at + text.length(p) - 1)
end
__find(c::Char, s, i) = __find(text.of_char(c.code), s, i)
function __find(f, s, i)
    while i <= text.length(s)
        c = s[i]
        __accepts(f, c) && return (i, i + __width(c.code) - 1)
        i += __width(c.code)
    end
    return (0, -1)
end
__accepts(f, c) = f(c)::Bool
__accepts(c::Char, d) = c == d
__accepts(cs::Union{String, Tuple, AbstractArray}, c) = c in cs
startswith(s::String, p::String) = __slice_is(s, 1, p)
startswith(s::String, p) = !isempty(s) && __accepts(p, s[1])
endswith(s::String, p::String) = __slice_is(s, text.length(s) - text.length(p) + 1, p)
endswith(s::String, p) = !isempty(s) && __accepts(p, last(s))
startswith(p) = Fix2(startswith, p)
endswith(p) = Fix2(endswith, p)
__slice_is(s, i, p) = i >= 1 && text.find(s, p, i) == i
chopprefix(s::String, p::String) = startswith(s, p) ? text.slice(s, text.length(p) + 1, text.length(s)) : s
chopsuffix(s::String, p::String) = endswith(s, p) ? text.slice(s, 1, text.length(s) - text.length(p)) : s
occursin(p, s::String) = __find(p, s, 1)[1] > 0
occursin(s::String) = Fix2(occursin, s)
contains(s::String, p) = occursin(p, s)
contains(p) = Fix2(contains, p)
findfirst(p::Union{String, Char}, s::String) = __found(p, s, __find(p, s, 1))
findfirst(f::Function, s::String) = __found(f, s, __find(f, s, 1))
findnext(p, s::String, i::Integer) = __found(p, s, __find(p, s, i))
__found(p, s, at) = at[1] == 0 ? nothing : at[1]
__found(p::String, s, at) = at[1] == 0 ? nothing : at[1]:thisind(s, at[2])
findlast(p, s::String) = findprev(p, s, lastindex(s))
function findprev(p::String, s::String, i::Integer)
    at = text.find_last(s, p, i - text.length(p) + 1)
    return at == 0 ? nothing : at:thisind(s, at + text.length(p) - 1)
end
function findprev(p, s::String, i::Integer)
    while i >= 1
        __accepts(p, s[i]) && return i
        i = prevind(s, i)
    end
    return nothing
end
findall(p::Union{String, Char}, s::String) = __all_found(p, s)
findall(f::Function, s::String) = __all_found(f, s)
__all_found(p, s) = [__found(p, s, at) for at in __occurrences(p, s, typemax(Int64))]
count(p::Union{String, Char}, s::String) = length(__occurrences(p, s, typemax(Int64)))
count(f::Function, s::String) = length(__occurrences(f, s, typemax(Int64)))
# The places of at most so many occurrences that do not overlap.
function __occurrences(p, s, most)
    found = Tuple{Int64, Int64}[]
    i = 1
    while i <= text.length(s) + 1 && length(found) < most
        a, b = __find(p, s, i)
        a == 0 && break
        push!(found, (a, b))
        i = b < a ? nextind(s, a) : b + 1
    end
    return found
end
function split(s::String, p; limit::Integer = 0, keepempty::Bool = true)
    out = String[]
    start = 1
    for (a, b) in __occurrences(p, s, typemax(Int64))
        limit > 0 && length(out) >= limit - 1 && break
        b < a && (a <= 1 || a > text.length(s)) && continue
        part = text.slice(s, start, a - 1)
        (keepempty || !isempty(part)) && push!(out, part)
        start = max(b + 1, a)
    end
    part = text.slice(s, start, text.length(s))
    (keepempty || !isempty(part)) && push!(out, part)
    return out
end
split(s::String; limit::Integer = 0, keepempty::Bool = false) = split(s, isspace; limit, keepempty)
rsplit(s::String; limit::Integer = 0, keepempty::Bool = false) = rsplit(s, isspace; limit, keepempty)
function rsplit(s::String, p; limit::Integer = 0, keepempty::Bool = true)
    parts = split(s, p; keepempty)
    (limit <= 0 || length(parts) <= limit) && return parts
    at = __occurrences(p, s, typemax(Int64))
    cut = at[end - limit + 2]
    return vcat([text.slice(s, 1, cut[1] - 1)], parts[end - limit + 2:end])
end
eachsplit(s::String, p...; kw...) = split(s, p...; kw...)
function replace(s::String, pairs::Pair...; count::Integer = typemax(Int64))
    parts = String[]
    start, i, done = 1, 1, 0
    while i <= text.length(s) + 1 && done < count
        a, b, k = __earliest(pairs, s, i)
        a == 0 && break
        push!(parts, text.slice(s, start, a - 1))
        push!(parts, __replacement(pairs[k].first, pairs[k].second, text.slice(s, a, b)))
        done += 1
        start = max(b + 1, a)
        i = b < a ? nextind(s, a) : b + 1
        b < a && a <= text.length(s) && (push!(parts, text.slice(s, a, i - 1)); start = i)
    end
    push!(parts, text.slice(s, start, text.length(s)))
    return text.join(parts)
end
# The pattern that occurs first, of those at one place the first one.
function __earliest(pairs, s, i)
    best = (0, -1, 0)
    for k in 1:length(pairs)
        a, b = __find(pairs[k].first, s, i)
        if a > 0 && (best[1] == 0 || a < best[1])
            best = (a, b, k)
        end
    end
    return best
end
__replacement(p, with, part) = string(with)
__replacement(p, f::Function, part) = string(f(part))
__replacement(p::Union{Char, Function}, f::Function, part) = string(f(part[1]))
strip(s::String) = lstrip(rstrip(s))
strip(s::String, cs) = lstrip(rstrip(s, cs), cs)
strip(f::Function, s::String) = lstrip(f, rstrip(f, s))
lstrip(s::String) = lstrip(isspace, s)
rstrip(s::String) = rstrip(isspace, s)
lstrip(s::String, cs) = lstrip(c -> __accepts(cs, c), s)
rstrip(s::String, cs) = rstrip(c -> __accepts(cs, c), s)
function lstrip(f::Function, s::String)
    i = 1
    while i <= text.length(s) && f(s[i])
        i = nextind(s, i)
    end
    return text.slice(s, i, text.length(s))
end
function rstrip(f::Function, s::String)
    i = lastindex(s)
    while i >= 1 && f(s[i])
        i = prevind(s, i)
    end
    return __part(s, 1, i)
end
chomp(s::String) = endswith(s, "\r\n") ? __part(s, 1, lastindex(s) - 2) : endswith(s, "\n") ? __part(s, 1, lastindex(s) - 1) : s
chop(s::String; head::Integer = 0, tail::Integer = 1) = __part(s, nextind(s, 0, head + 1), prevind(s, text.length(s) + 1, tail + 1))

# --- regular expressions --------------------------------------------------------------------

struct Regex
    pattern::String
    flags::String
end
Regex(pattern) = Regex(pattern, "")
macro r_str(pattern, flags...)
    return Regex(pattern, string(flags...))
end
macro b_str(s)
    return :(codeunits($s))
end
__compiled(r) = isempty(r.flags) ? r.pattern : string("(?", r.flags, ")", r.pattern)
show(io::IO, r::Regex) = print(io, "r\"", r.pattern, "\"", r.flags)
__shown(r::Regex) = sprint(show, r)
struct RegexMatch
    match::String
    captures::Vector{Any}
    offset::Int64
    offsets::Vector{Int64}
    names::Vector{String}
end
show(io::IO, m::RegexMatch) = print(io, "RegexMatch(", repr(m.match), __captured(m), ")")
__shown(m::RegexMatch) = sprint(show, m)
function __captured(m)
    out = ""
    for k in 1:length(m.captures)
        name = isempty(m.names[k]) ? string(k) : m.names[k]
        out = string(out, ", ", name, "=", m.captures[k] === nothing ? "nothing" : repr(m.captures[k]))
    end
    return out
end
match(r::Regex, s::String) = match(r, s, 1)
function match(r::Regex, s::String, i::Integer)
    at = text.find_match(__compiled(r), s, Int64(i))
    return at isa Vector{Int64} ? __match_of(r, s, at) : nothing
end
function __match_of(r, s, at)
    part = k -> at[2k - 1] == 0 ? nothing : text.slice(s, at[2k - 1], at[2k])
    captures = Any[part(k) for k in 2:length(at) ÷ 2]
    offsets = [at[2k - 1] for k in 2:length(at) ÷ 2]
    return RegexMatch(text.slice(s, at[1], at[2]), captures, at[1], offsets, text.group_names(__compiled(r))::Vector{String})
end
getindex(m::RegexMatch, k::Integer) = m.captures[k]
getindex(m::RegexMatch, name) = m.captures[__group(m, string(name))]
haskey(m::RegexMatch, name) = string(name) in m.names
length(m::RegexMatch) = length(m.captures)
iterate(m::RegexMatch, k = 1) = k > length(m.captures) ? nothing : (m.captures[k], k + 1)
keys(m::RegexMatch) = [isempty(m.names[k]) ? k : m.names[k] for k in 1:length(m.names)]
function __group(m, name)
    k = findfirst(==(name), m.names)
    k === nothing && throw(ErrorException(string("no capture group named ", name)))
    return k
end
eachmatch(r::Regex, s::String) = [match(r, s, at[1]) for at in __occurrences(r, s, typemax(Int64))]
function __find(r::Regex, s, i)
    at = text.find_match(__compiled(r), s, Int64(i))
    return at isa Vector{Int64} ? (at[1], at[2]) : (0, -1)
end
findfirst(r::Regex, s::String) = __found("", s, __find(r, s, 1))
findnext(r::Regex, s::String, i::Integer) = __found("", s, __find(r, s, i))
findall(r::Regex, s::String) = [at[1]:thisind(s, at[2]) for at in __occurrences(r, s, typemax(Int64))]
count(r::Regex, s::String) = length(__occurrences(r, s, typemax(Int64)))
startswith(s::String, r::Regex) = __find(r, s, 1)[1] == 1
# `s"\1 and \2"` puts groups into the replacement.
struct SubstitutionString
    string::String
end
macro s_str(text)
    return SubstitutionString(text)
end
function __replacement(r::Regex, with::SubstitutionString, part)
    m = match(r, part)
    return replace(with.string, Regex("\\\\(\\d+|g<(\\w+)>)") => g -> __group_text(m, g))
end
function __group_text(m, g)
    name = strip(g, ['\\', 'g', '<', '>'])
    k = tryparse(Int64, name)
    c = k === nothing ? m[name] : k == 0 ? m.match : m[k]
    return c === nothing ? "" : c
end

# --- streams --------------------------------------------------------------------------------

IOBuffer(s::String) = IOBuffer([s])
IOBuffer() = IOBuffer(String[])
print(io::IO, xs...) = __print_to(io, string(xs...))
println(io::IO, xs...) = __print_to(io, string(xs..., "\n"))
@inline __print_to(io::IOBuffer, s) = (push!(io.parts, s); nothing)
write(io::IO, s::Union{String, Char}) = (print(io, s); ncodeunits(s))
write(io::IO, b::UInt8) = (print(io, Char(b)); 1)
# What was written to it and not read yet.
function __written(io::IOBuffer)
    if length(io.parts) != 1
        io.parts = [text.join(io.parts)]
    end
    return io.parts[1]
end
__rest(io, s) = (io.parts = [s]; nothing)
take!(io::IOBuffer) = (s = __written(io); __rest(io, ""); codeunits(s))
read(io::IOBuffer, ::Type{String}) = (s = __written(io); __rest(io, ""); s)
function read(io::IOBuffer, ::Type{Char})
    s = __written(io)
    isempty(s) && throw(EOFError())
    __rest(io, text.slice(s, nextind(s, 1), text.length(s)))
    return s[1]
end
eof(io::IOBuffer) = isempty(__written(io))
seekstart(io::IOBuffer) = io
close(io::IO) = nothing
flush(io::IO) = nothing
function readline(io::IOBuffer; keep::Bool = false)
    s = __written(io)
    at = text.find(s, "\n", 1)
    line = at == 0 ? s : text.slice(s, 1, at)
    __rest(io, at == 0 ? "" : text.slice(s, at + 1, text.length(s)))
    return keep ? line : chomp(line)
end
function readlines(io::IOBuffer; keep::Bool = false)
    lines = String[]
    while !eof(io)
        push!(lines, readline(io; keep))
    end
    return lines
end
eachline(io::IOBuffer; keep::Bool = false) = readlines(io; keep)
struct EOFError <: Exception end
showerror(io::IO, e::EOFError) = print(io, "EOFError: read end of file")
function sprint(f, args...; context = nothing)
    io = IOBuffer()
    f(io, args...)
    return __written(io)
end
# Settings do not change what is printed.
struct IOContext{T<:IO} <: IO
    io::T
    settings::Vector{Any}
end
IOContext(io::IO, settings...) = IOContext(io, Any[settings...])
__print_to(io::IOContext, s) = __print_to(io.io, s)
function get(io::IOContext, key, default)
    for p in io.settings
        p.first === key && return p.second
    end
    return default
end
get(io::IO, key, default) = default

# --- printf ---------------------------------------------------------------------------------

# The text of a format and its specifiers in turn.
function __format_parts(format)
    parts = String[]
    start, i, n = 1, 1, text.length(format)
    while true
        at = text.find(format, "%", i)
        at == 0 && break
        at == n && throw(ArgumentError("invalid format string: '%' at its end"))
        if text.byte(format, at + 1) == 37
            push!(parts, text.slice(format, start, at), "")
            start = i = at + 2
            continue
        end
        last = findnext(c -> isletter(c) && !(c in "lhzjtL"), format, at)
        last === nothing && throw(ArgumentError(string("invalid format string: ", repr(format))))
        push!(parts, text.slice(format, start, at - 1), text.slice(format, at, last))
        start = i = last + 1
    end
    push!(parts, text.slice(format, start, n))
    return parts
end
function __formatted(parts, args)
    out = String[parts[1]]
    n = 0
    for k in 2:2:length(parts)
        spec = parts[k]
        if !isempty(spec)
            while occursin('*', spec)
                n += 1
                spec = replace(spec, '*' => string(args[n]); count = 1)
            end
            n += 1
            n <= length(args) || throw(ArgumentError("mismatch between supplied arguments and format specifiers"))
            push!(out, __format_one(spec, args[n]))
        end
        push!(out, parts[k + 1])
    end
    return text.join(out)
end
__format_one(spec, x) = text.format(spec, x)
__format_one(spec, x::Union{__Float, Bool, Rational, AbstractIrrational}) = text.format(spec, endswith(spec, ('s', 'c')) ? string(x) : Float64(x))
__format_one(spec, x::Float64) = text.format(spec, endswith(spec, 's') ? string(x) : x)
__format_one(spec, x::__Integers) = text.format(spec, endswith(spec, 's') ? string(x) : endswith(spec, 'c') ? string(Char(x)) : Int64(x))
struct Format
    parts::Vector{String}
end
Format(format::String) = Format(__format_parts(format))
format(f::Format, args...) = __formatted(f.parts, args)
format(io::IO, f::Format, args...) = print(io, __formatted(f.parts, args))
macro sprintf(format, args...)
    return :(__formatted($(__format_parts(format)), ($(map(esc, args)...),)))
end
macro printf(args...)
    args[1] isa String && return :(print(__formatted($(__format_parts(args[1])), ($(map(esc, args[2:end])...),))))
    return :(print($(esc(args[1])), __formatted($(__format_parts(args[2])), ($(map(esc, args[3:end])...),))))
end

# --- version numbers ------------------------------------------------------------------------

struct VersionNumber
    major::Int64
    minor::Int64
    patch::Int64
    prerelease::String
    build::String
end
VersionNumber(major::Integer, minor::Integer = 0, patch::Integer = 0) =
    VersionNumber(major, minor, patch, "", "")
function VersionNumber(s::String)
    found = match(Regex("^v?([0-9]+)(?:\\.([0-9]+))?(?:\\.([0-9]+))?(?:-([0-9A-Za-z.-]*))?(?:\\+([0-9A-Za-z.-]*))?\$"), s)
    found === nothing && throw(ArgumentError(string("invalid version string: ", s)))
    number(k) = found.captures[k] === nothing ? 0 : parse(Int64, found.captures[k])
    # `v"1.2-"` comes before every prerelease.
    name(k) = found.captures[k] === nothing ? "" : found.captures[k] == "" ? "-" : String(found.captures[k])
    return VersionNumber(number(1), number(2), number(3), name(4), name(5))
end
const VERSION = __new(VersionNumber, 1, 11, 0, "", "")
macro v_str(s)
    return :(VersionNumber($s))
end
function isless(a::VersionNumber, b::VersionNumber)
    a.major == b.major || return a.major < b.major
    a.minor == b.minor || return a.minor < b.minor
    a.patch == b.patch || return a.patch < b.patch
    a.prerelease == b.prerelease && return a.build < b.build
    # A release comes behind what leads to it.
    a.prerelease == "" && return false
    return b.prerelease == "" || __prerelease_less(a.prerelease, b.prerelease)
end
function __prerelease_less(a, b)
    a == "-" && return true
    b == "-" && return false
    left, right = split(a, "."), split(b, ".")
    for k in 1:min(length(left), length(right))
        x, y = String(left[k]), String(right[k])
        x == y && continue
        m, n = tryparse(Int64, x), tryparse(Int64, y)
        m === nothing || n === nothing || return m < n
        # Numbers come before names.
        return m !== nothing || n === nothing && x < y
    end
    return length(left) < length(right)
end
<(a::VersionNumber, b::VersionNumber) = isless(a, b)
function __version_text(v::VersionNumber)
    text = string(v.major, ".", v.minor, ".", v.patch)
    v.prerelease == "" || (text = string(text, v.prerelease == "-" ? "-" : string("-", v.prerelease)))
    return v.build == "" ? text : string(text, "+", v.build)
end
__shown(v::VersionNumber) = __version_text(v)
__displayed(v::VersionNumber) = __repr(v)
__repr(v::VersionNumber) = string("v\"", __version_text(v), "\"")
show(io::IO, v::VersionNumber) = print(io, __repr(v))
