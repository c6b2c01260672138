# Macros of the library: clocks, messages, looking at code, types by keywords, enumerations.

time_ns() = UInt64(core.host(:time_ns)::Int64)
time() = core.host(:time)::Float64
# In short parts, so that the program can be stopped between them.
function sleep(seconds::Real)
    seconds >= 0 || throw(ArgumentError(string("cannot sleep for ", seconds, " seconds")))
    left = Float64(seconds)
    while left > 0
        core.host(:sleep, min(left, 0.05))
        left -= 0.05
    end
    return nothing
end
__fixed(x, digits) = text.format(string("%.", digits, "f"), Float64(x))
__padded(s, width, left) = left ? lpad(s, width) : rpad(s, width)
__live_bytes() = core.host(:live_bytes)::Int64

# The log of the profiler, for the package `LoggingProfiler`.
__record_start(event::Symbol) = prof.record_start(event)
__record_end(event::Symbol) = prof.record_end(event)
__reset_log() = prof.reset()
__resize_log(n::Int64) = prof.resize(n)
__report_log() = prof.report()

macro elapsed(ex)
    quote
        local start = time_ns()
        $(esc(ex))
        (time_ns() - start) / 1e9
    end
end
macro time(ex)
    return __timing("", ex)
end
macro time(text, ex)
    return __timing(:(string($(esc(text)), ":")), ex)
end
__timing(title, ex) = quote
    local start = time_ns()
    local value = $(esc(ex))
    __print_time($title, (time_ns() - start) / 1e9)
    value
end
__print_time(title, seconds) = println(title, __padded(__fixed(seconds, 6), 10, true), " seconds")
macro timed(ex)
    quote
        local bytes = __live_bytes()
        local start = time_ns()
        local value = $(esc(ex))
        (value = value, time = (time_ns() - start) / 1e9, bytes = max(0, __live_bytes() - bytes), gctime = 0.0)
    end
end
# The bytes of what is still there afterwards.
macro allocated(ex)
    quote
        local bytes = __live_bytes()
        local value = $(esc(ex))
        max(0, __live_bytes() - bytes)
    end
end

# --- messages -------------------------------------------------------------------------------

macro info(message, values...)
    return __log("Info", message, values, __source__, __module__)
end
macro warn(message, values...)
    return __log("Warning", message, values, __source__, __module__)
end
macro error(message, values...)
    return __log("Error", message, values, __source__, __module__)
end
macro debug(message, values...)
    return nothing
end
function __log(level, message, values, source, m)
    pairs = map(__logged, values)
    place = level == "Info" ? "" : string("@ ", m, " ", source.file, ":", source.line)
    return :(__write_log($level, $(esc(message)), $place, $(pairs...)))
end
__logged(x) = :(($(string(x)), $(esc(x))))
function __logged(x::Expr)
    isexpr(x, :(=)) || isexpr(x, :kw) || return :(($(string(x)), $(esc(x))))
    return :(($(string(x.args[1])), $(esc(x.args[2]))))
end
function __write_log(level, message, place, pairs...)
    lines = map(p -> string("  ", p[1], " = ", __repr(p[2])), Any[pairs...])
    place == "" || push!(lines, place)
    if isempty(lines)
        print(stderr, string("[ ", level, ": ", message, "\n"))
        return nothing
    end
    out = string("┌ ", level, ": ", message, "\n")
    for k in 1:length(lines)
        out = string(out, k == length(lines) ? "└ " : "│ ", lines[k], "\n")
    end
    print(stderr, out)
    return nothing
end

# --- looking --------------------------------------------------------------------------------

macro isdefined(x)
    return :(__is_defined(() -> $(esc(x))))
end
function __is_defined(f)
    try
        f()
        return true
    catch e
        e isa UndefVarError || rethrow()
        return false
    end
end

# What is shown as a text.
struct CodeText
    text::String
end
macro which(call)
    return __looking(:which, call)
end
# Options such as `debuginfo = :none` change nothing of what is shown here.
macro code_lowered(args...)
    return __looking(:code_lowered, args[end])
end
macro code_typed(args...)
    return __looking(:code_typed, args[end])
end
macro code_warntype(args...)
    return __looking(:code_typed, args[end])
end
function __looking(what, call)
    isexpr(call, :call) || throw(ArgumentError(string("expected a call such as f(x), found ", call)))
    return :(__look($(QuoteNode(what)), $(map(esc, call.args)...)))
end
__look(what, f, args...) = __look_at(what, f, map(Typeof, args))
which(f, types) = __look_at(:which, f, __parameters(types))
code_lowered(f, types) = __look_at(:code_lowered, f, __parameters(types))
code_typed(f, types) = __look_at(:code_typed, f, __parameters(types))
__parameters(T::Type) = T.parameters
__parameters(t::Tuple) = t
function __look_at(what, f, types)
    what === :which && return CodeText(core.host(:which, f, types)::String)
    what === :code_lowered && return CodeText(core.host(:code_lowered, f, types)::String)
    return CodeText(core.host(:code_typed, f, types)::String)
end

# --- what changes nothing here --------------------------------------------------------------

macro fastmath(x)
    return esc(x)
end
macro boundscheck(x)
    return esc(x)
end
macro propagate_inbounds(x)
    return esc(x)
end
macro nospecializeinfer(x)
    return esc(x)
end
macro static(x)
    return esc(x)
end
macro assume_effects(args...)
    return esc(args[end])
end
macro constprop(how, x)
    return esc(x)
end
macro doc(x)
    return :(CodeText("No documentation found."))
end
macro doc(text, x)
    return esc(x)
end
macro deprecate(args...)
    return nothing
end
macro something(args...)
    ex = :nothing
    for arg in reverse(args)
        value = gensym()
        ex = :(let $value = $(esc(arg)); $value === nothing ? $ex : $value; end)
    end
    return ex
end
macro evalpoly(x, cs...)
    ex = esc(cs[end])
    for c in reverse(cs[1:end-1])
        ex = :(muladd(x, $ex, $(esc(c))))
    end
    return :(let x = $(esc(x)); $ex; end)
end

# --- views ----------------------------------------------------------------------------------

macro views(x)
    return esc(__with_views(x))
end
__with_views(x) = x
function __with_views(x::Expr)
    if x.head === :ref
        return __viewed(x)
    elseif x.head === :(=) || x.head === :(.=) || __is_update(x)
        return Expr(x.head, __with_inner_views(x.args[1]), __with_views(x.args[2]))
    elseif x.head === :quote || x.head === :inert
        return x
    end
    return Expr(x.head, map(__with_views, x.args)...)
end
@inline __maybe_view(a, indices...) = view(a, indices...)
@inline __maybe_view(a, indices::Integer...) = getindex(a, indices...)
__is_update(x) = length(x.args) == 2 && x.head in (:+=, :-=, :*=, :/=, :.+=, :.-=, :.*=, :./=)
# What is assigned to is no view, but what it is indexed by may have some.
__with_inner_views(x) = x
function __with_inner_views(x::Expr)
    x.head === :ref || return Expr(x.head, map(__with_inner_views, x.args)...)
    return Expr(:ref, map(__with_views, x.args)...)
end
function __viewed(x)
    of = __with_views(x.args[1])
    name = of isa Symbol ? of : gensym()
    count = length(x.args) - 1
    indices = Any[]
    for k in 1:count
        push!(indices, __without_end(__with_views(x.args[k+1]), name, k, count))
    end
    call = Expr(:call, GlobalRef(Base, :__maybe_view), name, indices...)
    return of isa Symbol ? call : Expr(:let, Expr(:(=), name, of), Expr(:block, call))
end
function __without_end(x, name, k, count)
    x === :end && return count == 1 ? :(lastindex($name)) : :(lastindex($name, $k))
    x === :begin && return count == 1 ? :(firstindex($name)) : :(firstindex($name, $k))
    return x
end
function __without_end(x::Expr, name, k, count)
    x.head === :ref && return x
    return Expr(x.head, map(y -> __without_end(y, name, k, count), x.args)...)
end

# --- types ----------------------------------------------------------------------------------

macro kwdef(definition)
    isexpr(definition, :struct) || throw(ArgumentError("expected a struct after `@kwdef`"))
    name = definition.args[2]
    head = isexpr(name, :<:) ? name.args[1] : name
    fields = Any[]
    names = Any[]
    params = Any[]
    for field in definition.args[3].args
        if field isa LineNumberNode || isexpr(field, :function) || field isa String
            push!(fields, field)
            continue
        end
        fixed = isexpr(field, :const)
        field = fixed ? field.args[1] : field
        plain = isexpr(field, :(=)) && !isexpr(field.args[1], :call) ? field.args[1] : field
        if plain === field && isexpr(field, :(=))
            push!(fields, field)
            continue
        end
        symbol = isexpr(plain, :(::)) ? plain.args[1] : plain
        push!(fields, fixed ? Expr(:const, plain) : plain)
        push!(names, symbol)
        push!(params, isexpr(field, :(=)) ? Expr(:kw, symbol, field.args[2]) : symbol)
    end
    made = Expr(:struct, definition.args[1], name, Expr(:block, fields...))
    plain_name = isexpr(head, :curly) ? head.args[1] : head
    outer = :($plain_name($(Expr(:parameters, params...))) = $plain_name($(names...)))
    isexpr(head, :curly) || return esc(Expr(:block, made, outer, :nothing))
    statics = head.args[2:end]
    bare = map(s -> isexpr(s, :<:) ? s.args[1] : s, statics)
    applied = Expr(:curly, plain_name, bare...)
    inner = Expr(:(=), Expr(:where, :($applied($(Expr(:parameters, params...)))), statics...), :($applied($(names...))))
    return esc(Expr(:block, made, outer, inner, :nothing))
end

abstract type Enum end
# The values and names of an enumeration.
function __enum_table end
macro enum(T, items...)
    if length(items) == 1 && isexpr(items[1], :block)
        items = filter(x -> !(x isa LineNumberNode), items[1].args)
    end
    name = isexpr(T, :(::)) ? T.args[1] : T
    made = Any[]
    next = 0
    table = Any[]
    for item in items
        symbol = item
        if isexpr(item, :(=))
            symbol = item.args[1]
            next = eval(__module__, item.args[2])
        end
        push!(made, :(const $symbol = $name($next)))
        push!(table, :(($next, $(QuoteNode(symbol)))))
        next = next + 1
    end
    return esc(quote
        struct $name <: Base.Enum
            value::Int
            name::Symbol
            $name(x::Integer) = new(x, Base.__enum_name($name, x))
        end
        Base.__enum_table(::Type{$name}) = ($(table...),)
        $(made...)
        nothing
    end)
end
function __enum_name(T, x)
    for (value, name) in __enum_table(T)
        value == x && return name
    end
    throw(ArgumentError(string("invalid value for Enum ", T, ": ", x)))
end
instances(T::Type{<:Enum}) = map(pair -> T(pair[1]), __enum_table(T))
Int64(x::Enum) = x.value
(::Type{Integer})(x::Enum) = x.value
Symbol(x::Enum) = x.name
isless(x::Enum, y::Enum) = x.value < y.value
<(x::Enum, y::Enum) = x.value < y.value

# --- scripts --------------------------------------------------------------------------------

const ARGS = mem.alloc(Array{String, 1}, 0)
const PROGRAM_FILE = ""
printstyled(xs...; color = :normal, bold = false) = print(xs...)
printstyled(io::IO, xs...; color = :normal, bold = false) = print(io, xs...)
splat(f) = args -> f(args...)
