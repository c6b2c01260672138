# The pullback of the call whose types are `S`, with the pullbacks of the calls in it.
struct Pullback{S, T}
    data::T
end
pullback_of(data, call...) = Pullback{Tuple{map(typeof, call)...}, typeof(data)}(data)

# The sum of cotangents; there may be none.
accumulated() = nothing
accumulated(x) = x
accumulated(::Nothing, x, more...) = accumulated(x, more...)
accumulated(x, ::Nothing, more...) = accumulated(x, more...)
accumulated(::Nothing, ::Nothing, more...) = accumulated(more...)
accumulated(x, y, more...) = accumulated(x + y, more...)

forward(::typeof(+), x, y) = x + y, dy -> (nothing, dy, dy)
forward(::typeof(*), x, y) = x * y, dy -> (nothing, dy * y, dy * x)
forward(::typeof(sin), x) = sin(x), dy -> (nothing, dy * cos(x))
