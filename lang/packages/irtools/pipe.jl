# Pipes: copies of IR that are made statement by statement.

# Copies an IR statement by statement, while what was copied last can be changed.
struct Pipe
    from::IR
    to::IR
    map::Dict{Any, Any}
end
# A variable of the copy, among those of the original.
struct NewVariable
    id::Int64
end

Pipe(ir::IR) = Pipe(ir, IR(meta = ir.meta), Dict{Any, Any}())

substitute(p::Pipe, x::Union{Variable, NewVariable}) =
    x isa NewVariable ? Variable(x.id) : haskey(p.map, x) ? p.map[x] : error(x, " is not defined yet")
substitute(p::Pipe, x::Union{Expr, Statement, Branch}) = walk(x, y -> substitute(p, y), identity)
substitute(p::Pipe, x) = x
substitute(p::Pipe) = x -> substitute(p, x)
substitute!(p::Pipe, x, y) = (p.map[x] = y; x)

function _begin!(p::Pipe)
    foreach(i -> block!(p.to), 2:length(p.from.list))
    foreach((b, from) -> b.from = from.from, p.to.list, p.from.list)
    p.map[:block] = 1
    _arguments!(p, 1)
end
function _arguments!(p::Pipe, b)
    for (v, type) in zip(arguments(block(p.from, b)), argtypes(block(p.from, b)))
        p.map[v] = argument!(block(p.to, b); type = type, insert = false)
    end
    return nothing
end
# Blocks in an order in which definitions come before their uses: of a depth-first walk, those that are left last first; then
# so for those that are never come to, where the walk goes from definitions to uses: ways say nothing of these there.
function _order(ir::IR)
    next, seen, found = CFG(ir).graph, Set{Int64}(), Int64[]
    function visit(b)
        b in seen && return nothing
        push!(seen, b)
        foreach(visit, reverse(next[b]))
        pushfirst!(found, b)
        return nothing
    end
    visit(1)
    reached = copy(found)
    length(reached) == length(next) && return reached
    empty!(found)
    next = [b in seen ? Int64[] : _readers(ir, b, seen) for b in 1:length(next)]
    foreach(visit, 1:length(next))
    return vcat(reached, found)
end
# The blocks outside of `seen` that use what a block defines.
function _readers(ir::IR, b, seen)
    found = Int64[]
    note(x, user) = (x isa Variable && x in defined && !(user in found) && push!(found, user); x)
    defined = Set{Any}(vcat(keys(block(ir, b)), arguments(block(ir, b))))
    for user in 1:length(ir.list)
        user in seen && continue
        foreach(v -> prewalk(x -> note(x, user), ir[v]), keys(block(ir, user)))
        foreach(br -> prewalk(x -> note(x, user), br), branches(block(ir, user)))
    end
    return found
end
# The blocks of the copy are made at once; their arguments when they are come to.
Base.iterate(p::Pipe) = (_begin!(p); _step(p, _order(p.from), 1, keys(block(p.from, 1)), 1))
Base.iterate(p::Pipe, (order, k, list, at)) = _step(p, order, k, list, at)
function _step(p::Pipe, order, k, list, at)
    while at > length(list)
        for br in branches(block(p.from, order[k]))
            push!(branches(block(p.to, order[k])), substitute(p, br))
        end
        k += 1
        if k > length(order)
            delete!(p.map, :block)
            return nothing
        end
        p.map[:block] = order[k]
        _arguments!(p, order[k])
        list, at = keys(block(p.from, order[k])), 1
    end
    v = list[at]
    st = p.from[v]
    p.map[v] = push!(block(p.to, order[k]), substitute(p, st))
    return (v, st), (order, k, list, at + 1)
end

# The block that is being copied; behind the copy, the last one.
_last(p::Pipe) = findlast(b -> !isempty(b.order) || !isempty(b.args), p.to.list)
_current(p::Pipe) = block(p.to, get(p.map, :block, something(_last(p), 1)))
function finish(p::Pipe)
    isempty(p.map) && foreach(identity, p)
    return p.to
end

Base.push!(p::Pipe, x) = NewVariable(push!(_current(p), substitute(p, x)).id)
Base.pushfirst!(p::Pipe, x) = NewVariable(pushfirst!(p.to, substitute(p, x)).id)
function Base.insert!(p::Pipe, v, x)
    at = substitute(p, v)
    b = block(p.to, at)
    if _body(b).order[end] == at.id && v isa Variable
        # What was copied last takes the next number, so that the numbers stay in order.
        st = p.to[at]
        p.to[at] = Statement(substitute(p, x))
        p.map[v] = push!(b, st)
        return NewVariable(at.id)
    end
    return NewVariable(insert!(p.to, at, substitute(p, x)).id)
end
insertafter!(p::Pipe, v, x) = NewVariable(insertafter!(p.to, substitute(p, v), substitute(p, x)).id)
Base.getindex(p::Pipe, v) = p.to[substitute(p, v)]
Base.setindex!(p::Pipe, x, v) = p.to[substitute(p, v)] = substitute(p, x)
Base.setindex!(p::Pipe, x::Union{Variable, NewVariable}, v) = (delete!(p.to, substitute(p, v)); p.map[v] = substitute(p, x))
function Base.delete!(p::Pipe, v)
    delete!(p.to, substitute(p, v))
    delete!(p.map, v)
    return p
end
return!(p::Pipe, x) = return!(_current(p), substitute(p, x))
branch!(p::Pipe, to, args...; unless = nothing) =
    branch!(_current(p), to, map(substitute(p), args)...; unless = substitute(p, unless))
argument!(p::Pipe, value = nothing; type = Any, at = length(argtypes(p.to)) + 1, insert = true) =
    NewVariable(argument!(block(p.to, 1), substitute(p, value); type = type, at = at, insert = insert).id)
block(p::Pipe, i = length(p.to.list)) = block(p.to, i)
blocks(p::Pipe) = blocks(p.to)
arguments(p::Pipe) = arguments(p.to)

# The same with numbers in order, and constants where they are used.
function renumber(ir::IR)
    p = Pipe(ir)
    for (v, st) in p
        if !(st.expr isa Expr) && !(st.expr isa GlobalRef)
            p[v] = st.expr isa Variable ? st.expr : (delete!(p.to, p.map[v]); p.map[v] = st.expr)
        end
    end
    return finish(p)
end
