# Control flow: graphs, dominators, and loops and choices recovered from them.

# The blocks that each block leads to.
struct CFG
    graph::Vector{Vector{Int64}}
end
CFG(ir::IR) = CFG([Int64[br.block for br in explicitbranches(b) if !_leaves(br)] for b in blocks(ir)])
Base.:(==)(a::CFG, b::CFG) = a.graph == b.graph
Base.length(cfg::CFG) = length(cfg.graph)
Base.getindex(cfg::CFG, block) = cfg.graph[block]
Base.keys(cfg::CFG) = 1:length(cfg)
# The same with all branches the other way.
Base.adjoint(cfg::CFG) = CFG([Int64[from for from in keys(cfg) if to in cfg[from]] for to in keys(cfg)])
Base.transpose(cfg::CFG) = cfg'

# The blocks that every way from the entry to a block goes through, by the iteration of Allen and Cocke.
function dominators(cfg::CFG; entry = 1)
    above, all = cfg', Set(keys(cfg))
    found = Dict(b => b == entry ? Set([b]) : copy(all) for b in keys(cfg))
    changed = true
    while changed
        changed = false
        for b in keys(cfg)
            b == entry && continue
            new = union(Set([b]), isempty(above[b]) ? Set{Int64}() : intersect((found[from] for from in above[b])...))
            changed |= new != found[b]
            found[b] = new
        end
    end
    return found
end

# The nearest of the other dominators of each block.
function idoms(cfg::CFG; entry = 1)
    found = dominators(cfg; entry = entry)
    nearest(b) = argmax(d -> length(found[d]), setdiff(found[b], [b]))
    return Dict(b => nearest(b) for b in keys(cfg) if b != entry && length(found[b]) > 1)
end

# A block, with the trees of those that it is the nearest dominator of.
function domtree(cfg::CFG; entry = 1)
    above = idoms(cfg; entry = entry)
    tree(b) = b => Any[tree(c) for c in keys(cfg) if get(above, c, 0) == b]
    return tree(entry)
end
domorder(cfg::CFG; entry = 1) = _flat_tree(domtree(cfg; entry = entry))
_flat_tree(tree) = vcat([tree[1]], map(_flat_tree, tree[2])...)

# --- structured control flow -----------------------------------------------------------------------

# One block, then what follows it.
struct Simple
    block::Int64
    next
end
Simple(block) = Simple(block, nothing)
struct Loop
    inner
    next
end
Loop(inner) = Loop(inner, nothing)
# Several, of which one is entered.
struct Multiple
    inner::Vector{Any}
    next
end
Multiple(inner) = Multiple(inner, nothing)
Base.:(==)(a::Simple, b::Simple) = a.block == b.block && a.next == b.next
Base.:(==)(a::Loop, b::Loop) = a.inner == b.inner && a.next == b.next
Base.:(==)(a::Multiple, b::Multiple) = a.inner == b.inner && a.next == b.next

# The shapes of a graph (A. Zakai, "Emscripten", 2011).
reloop(cfg::CFG) = _reloop(cfg.graph, Set(keys(cfg)), [1])
function _reach(graph, nodes, start)
    seen, todo = Set{Int64}(), copy(start)
    while !isempty(todo)
        b = pop!(todo)
        b in nodes && !(b in seen) || continue
        push!(seen, b)
        append!(todo, graph[b])
    end
    return seen
end
function _reloop(graph, nodes, entries)
    isempty(entries) && return nothing
    inside(list) = [b for b in list if b in nodes]
    returns(b) = b in _reach(graph, nodes, inside(graph[b]))
    if length(entries) == 1 && !returns(entries[1])
        b = entries[1]
        rest = setdiff(nodes, [b])
        return Simple(b, _reloop(graph, rest, unique([c for c in graph[b] if c in rest])))
    end
    if all(returns, entries)
        inner = Set(b for b in nodes if any(e -> e in _reach(graph, nodes, [b]), entries))
        rest = setdiff(nodes, inner)
        out = unique([c for b in sort(collect(inner)) for c in graph[b] if c in rest])
        cut = [b in inner ? setdiff(graph[b], entries) : graph[b] for b in 1:length(graph)]
        return Loop(_reloop(cut, inner, entries), _reloop(graph, rest, out))
    end
    reach = [_reach(graph, nodes, [e]) for e in entries]
    own(k) = setdiff(reach[k], (reach[j] for j in 1:length(reach) if j != k)...)
    handled = [k for k in 1:length(entries) if entries[k] in own(k)]
    groups = [own(k) for k in handled]
    rest = setdiff(nodes, groups...)
    out = [e for e in entries if e in rest]
    for group in groups, b in sort(collect(group)), c in graph[b]
        c in rest && !(c in out) && push!(out, c)
    end
    return Multiple(Any[_reloop(graph, groups[k], [entries[handled[k]]]) for k in 1:length(handled)], _reloop(graph, rest, out))
end

# The code of an IR with loops and choices instead of branches; its arguments are called `arg1`, `arg2` and so on.
function reloop(ir::IR)
    ir = explicitbranch!(copy(ir))
    args = arguments(ir)
    name(v) = v in args ? Symbol("arg", findfirst(==(v), args)) : Symbol("%", v.id)
    named(x) = prewalk(y -> y isa Variable ? name(y) : y, x)
    result, target = gensym("result"), gensym("target")
    code = Expr(:block, :($result = nothing), :($target = 1))
    for b in blocks(ir), v in arguments(b)
        b.id > 1 && push!(code.args, :($(name(v)) = nothing))
    end
    function block_code(b)
        lines = Any[:($(name(v)) = $(named(b.ir[v].expr))) for v in keys(b)]
        taken = Expr(:block)
        for br in reverse(branches(b))
            jump = if isreturn(br)
                Expr(:block, :($result = $(named(br.args[1]))), :($target = 0))
            else
                params = map(name, arguments(block(ir, br.block)))
                Expr(:block, Expr(:(=), Expr(:tuple, target, params...), Expr(:tuple, br.block, map(named, br.args)...)))
            end
            taken = isconditional(br) ? Expr(:if, named(br.condition), taken, jump) : jump
        end
        return push!(lines, taken)
    end
    is_target(list) = foldl((x, y) -> :($x || $y), Any[:($target == $b) for b in list])
    entered(s) = Expr(:if, is_target(_entries(s)), Expr(:block, shape_code(s)...))
    after(s) = s === nothing ? Any[] : Any[entered(s)]
    shape_code(s::Simple) = vcat(block_code(block(ir, s.block)), after(s.next))
    shape_code(s::Loop) = vcat(Any[Expr(:while, is_target(_entries(s.inner)), Expr(:block, shape_code(s.inner)...))], after(s.next))
    shape_code(s::Multiple) =
        vcat(Any[entered(one) for one in s.inner], after(s.next))
    append!(code.args, shape_code(reloop(CFG(ir))))
    push!(code.args, result)
    return code
end
_entries(s::Simple) = [s.block]
_entries(s::Loop) = _entries(s.inner)
_entries(s::Multiple) = vcat(map(_entries, s.inner)...)

# The scopes of branches as in WebAssembly: forward, from the block before which a scope opens to the one that follows
# it; backward, from where a loop ends to where it begins.
function stackify(cfg::CFG)
    above, below = idoms(cfg), dominators(cfg)
    back = [b => c for b in keys(cfg) for c in cfg[b] if c in below[b]]
    loops = Dict(h => union(Set([h]), [_reach(cfg'.graph, setdiff(Set(keys(cfg)), [h]), [b]) for (b, c) in back if c == h]...) for (_, h) in back)
    forward = Pair{Int64, Int64}[]
    for to in keys(cfg)
        haskey(above, to) || continue
        from = above[to]
        for h in reverse(sort(collect(keys(loops))))
            from in loops[h] && !(to in loops[h]) && haskey(above, h) && (from = above[h])
        end
        push!(forward, from => to)
    end
    return forward, back
end
