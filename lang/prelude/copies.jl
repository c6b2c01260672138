# Deep copies: objects that are met twice are copied once.

deepcopy(x) = deepcopy_internal(x, IdDict{Any, Any}())
deepcopy(x::Union{Number, Tuple{}, Symbol, String, Function, Nothing}) = x
deepcopy(a::Array{T, N}) where {T<:Union{__Num, Symbol, String}, N} = mem.copy(a)
deepcopy(d::Dict{K, V}) where {K, V<:Number} = copy(d)
deepcopy_internal(x::Union{Number, Tuple{}, Symbol, String, Function, Type, Nothing}, seen) = x
deepcopy_internal(t::Tuple, seen) = __unroll_map(__DeepCopy(seen), t)
deepcopy_internal(t::NamedTuple{K}, seen) where K = NamedTuple{K}(deepcopy_internal(values(t), seen))
function deepcopy_internal(a::Array, seen)
    haskey(seen, a) && return seen[a]
    out = mem.copy(a)
    seen[a] = out
    for i in eachindex(a)
        out[i] = deepcopy_internal(a[i], seen)
    end
    return out
end
function deepcopy_internal(x::T, seen) where T
    fields = __ntuple(__FieldOf(x), __val(data.fieldcount(x)))
    ismutabletype(T) || return __new(T, __unroll_map(__DeepCopy(seen), fields)...)
    haskey(seen, x) && return seen[x]
    out = __new(T, fields...)
    seen[x] = out
    for k in 1:length(fields)
        field = fields[k]
        data.setfield(out, k, __deep_copy(field, seen)::typeof(field))
    end
    return out
end
__deep_copy(x, seen) = x === __undefined() ? x : deepcopy_internal(x, seen)
struct __DeepCopy{D}
    seen::D
end
(d::__DeepCopy)(x) = __deep_copy(x, d.seen)
struct __FieldOf{T}
    x::T
end
(f::__FieldOf)(k) = data.getfield(f.x, k)
