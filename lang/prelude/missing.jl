# `missing`: a value that is not known.

struct Missing end
const missing = __new(Missing)
@inline ismissing(x) = x === missing
coalesce() = missing
coalesce(x, xs...) = ismissing(x) ? coalesce(xs...) : x
__shown(x::Missing) = "missing"
+(x::Missing) = missing
-(x::Missing) = missing
+(x::Missing, y::Union{Number, Missing}) = missing
+(x::Number, y::Missing) = missing
-(x::Missing, y::Union{Number, Missing}) = missing
-(x::Number, y::Missing) = missing
*(x::Missing, y::Union{Number, Missing}) = missing
*(x::Number, y::Missing) = missing
/(x::Missing, y::Union{Number, Missing}) = missing
/(x::Number, y::Missing) = missing
^(x::Missing, y::Union{Number, Missing}) = missing
^(x::Number, y::Missing) = missing
==(x::Missing, y) = missing
==(x, y::Missing) = missing
==(x::Missing, y::Missing) = missing
<(x::Missing, y) = missing
<(x, y::Missing) = missing
<(x::Missing, y::Missing) = missing
isequal(x::Missing, y::Missing) = true
isequal(x::Missing, y) = false
isequal(x, y::Missing) = false
isless(x::Missing, y::Missing) = false
isless(x::Missing, y) = false
isless(x, y::Missing) = true
!(x::Missing) = missing
abs(x::Missing) = missing
sqrt(x::Missing) = missing
exp(x::Missing) = missing
log(x::Missing) = missing
sin(x::Missing) = missing
cos(x::Missing) = missing
round(x::Missing; kw...) = missing
floor(x::Missing; kw...) = missing
ceil(x::Missing; kw...) = missing
trunc(x::Missing; kw...) = missing
round(x::Missing, mode::RoundingMode; kw...) = missing
&(x::Missing, y::Bool) = y ? missing : false
&(x::Bool, y::Missing) = x ? missing : false
|(x::Missing, y::Bool) = y ? true : missing
|(x::Bool, y::Missing) = x ? true : missing
skipmissing(it) = __filter(x -> !ismissing(x), it)
nonmissingtype(::Type{Missing}) = Union{}
nonmissingtype(::Type{Union{T, Missing}}) where T = T
nonmissingtype(::Type{T}) where T = T
convert(::Type{T}, x::T) where T>:Missing = x
convert(::Type{T}, x) where T>:Missing = __convert_rest(T, nonmissingtype(T), x)
convert(::Type{T}, x::T) where T>:Union{Missing, Nothing} = x
convert(::Type{T}, x) where T>:Union{Missing, Nothing} = __convert_rest(T, nonmissingtype(nonnothingtype(T)), x)
