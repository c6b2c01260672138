# Variables that are assigned (slots) and SSA form, registers, nested loops, and packed arguments.

# A variable that is assigned more than once.
struct Slot
    id::Symbol
    type
end
Slot(id) = Slot(id, Any)

# Arguments of blocks become slots, which a block reads first and branches assign before they are taken. What is assigned
# are values, never slots, so that the order does not matter.
function slots!(ir::IR)
    explicitbranch!(ir)
    slot(b, i) = Slot(Symbol("phi_", b, "_", i), argtypes(block(ir, b))[i])
    for b in blocks(ir), (k, br) in enumerate(branches(b))
        _leaves(br) && continue
        for (i, x) in enumerate(br.args)
            push!(b, Expr(:(=), slot(br.block, i), x))
        end
        branches(b)[k] = Branch(br; args = Any[])
    end
    for b in blocks(ir)[2:end]
        body = _body(b)
        for (i, id) in reverse(collect(enumerate(body.args)))
            ir.statements[id] = Statement(slot(b.id, i); type = body.types[i])
            pushfirst!(body.order, id)
        end
        empty!(body.args)
        empty!(body.types)
    end
    return ir
end

# The other way: every block gets every slot as an argument, and those that are not needed are taken away again. A slot
# that is read before it is assigned is `nothing`.
function ssa!(ir::IR)
    explicitbranch!(ir)
    found = Slot[]
    note(x) = (x isa Slot && all(s -> s.id != x.id, found) && push!(found, x); x)
    for (v, st) in ir
        prewalk(note, st.expr)
    end
    starts = [b.id == 1 ? Any[nothing for s in found] : Any[argument!(b; type = s.type, insert = false) for s in found]
        for b in blocks(ir)]
    for b in blocks(ir)
        now = Dict{Symbol, Any}(s.id => x for (s, x) in zip(found, starts[b.id]))
        read(x) = prewalk(y -> y isa Slot ? now[y.id] : y, x)
        for v in keys(b)
            ex = ir[v].expr
            if isexpr(ex, :(=)) && ex.args[1] isa Slot
                now[ex.args[1].id] = read(ex.args[2])
                delete!(ir, v)
            else
                ir.statements[v.id] = Statement(ir[v]; expr = read(ex))
            end
        end
        _body(b).branches = Any[_leaves(br) ? read(br) : Branch(read(br); args = Any[map(read, br.args)..., (now[s.id] for s in found)...])
            for br in branches(b)]
    end
    return prune!(ir)
end

# Deletes blocks that control does not get to.
function trimblocks!(ir::IR)
    cfg = CFG(ir)
    reached = _reach(cfg.graph, Set(keys(cfg)), [1])
    foreach(b -> deleteblock!(ir, b), sort(setdiff(keys(cfg), reached); rev = true))
    return ir
end

# --- registers -------------------------------------------------------------------------------

# What may not share a register.
struct Graph
    edges::Dict{Variable, Set{Variable}}
end
Graph() = Graph(Dict{Variable, Set{Variable}}())
Base.getindex(g::Graph, v) = get(g.edges, v, Set{Variable}())
Base.keys(g::Graph) = keys(g.edges)
function _connect!(g::Graph, live)
    for v in live
        union!(get!(g.edges, v, Set{Variable}()), setdiff(live, [v]))
    end
    return live
end

# Two variables interfere if both are live at one place.
function interference(ir::IR)
    starts, g = liveness(ir), Graph()
    for b in blocks(ir)
        live = Set{Variable}()
        foreach(c -> union!(live, setdiff(starts[c.id], arguments(c))), successors(b))
        note(x) = (push!(live, x); x)
        foreach(br -> varmap(note, br), branches(b))
        for v in reverse(keys(b))
            _connect!(g, union(live, [v]))
            delete!(live, v)
            varmap(note, ir[v].expr)
        end
        _connect!(g, union(live, arguments(b)))
    end
    return g
end

# Numbers from 1 such that no two variables that interfere have the same: greedily, those with most neighbours first.
function colouring(g::Graph, pre = Dict())
    colours = Dict{Variable, Int64}(v => c for (v, c) in pre)
    for v in sort(collect(keys(g)); by = v -> (-length(g[v]), v.id))
        haskey(colours, v) && continue
        taken = [get(colours, w, 0) for w in g[v]]
        colours[v] = findfirst(c -> !(c in taken), 1:length(taken) + 1)
    end
    return colours
end

# --- nested loops ----------------------------------------------------------------------------

# The blocks of a graph in the order of its edges, where those of a loop are one component, with its own within.
struct Component
    children::Vector{Any}
end
Base.:(==)(a::Component, b::Component) = a.children == b.children
components(cfg::CFG; blocks = collect(keys(cfg))) = Component(Any[blocks[1], _components(cfg, blocks[2:end])...])
function _components(cfg, list)
    reach = Dict(b => _reach(cfg.graph, Set(list), cfg[b]) for b in list)
    loop(b) = [c for c in list if c == b || c in reach[b] && b in reach[c]]
    groups = unique(map(loop, list))
    # A group comes after all that lead to it.
    comes_first(group) = all(other -> other == group || !(group[1] in reach[other[1]]), groups)
    found = Any[]
    while !isempty(groups)
        group = groups[findfirst(comes_first, groups)]
        filter!(other -> other != group, groups)
        push!(found, length(group) == 1 ? group[1] : components(cfg; blocks = group))
    end
    return found
end

# --- arguments -------------------------------------------------------------------------------

# Adds an argument in front, which nobody is told of.
splicearg!(ir::IR) = argument!(ir; at = 1, insert = false)

# Makes one argument of those behind the first `n`: a tuple, of which the code takes them.
function varargs!(m, ir::IR, n = 0)
    old = arguments(ir)[n + 1:end]
    for v in reverse(old)
        deletearg!(ir, length(arguments(ir)))
    end
    packed = argument!(ir; insert = false)
    rest = _takes_rest(ir)
    for (i, v) in reverse(collect(enumerate(old)))
        expr = rest && i == length(old) ? xcall(IRTools, :_behind, packed, i - 1) : xcall(:getindex, packed, i)
        ir.homes[v.id] = 1
        ir.statements[v.id] = Statement(expr)
        pushfirst!(ir.list[1].order, v.id)
    end
    return ir
end
_behind(x, n) = x[n + 1:end]
argnames!(m, names...) = m

# The code that a function has for arguments of these types; of a dynamo, what it makes.
transform(f::Type, types::Type...) = IR(f, types...)

exprtype(ir::IR, v::Variable) = haskey(ir, v) ? ir[v].type : argtypes(block(ir, v))[findfirst(==(v), arguments(block(ir, v)))]
exprtype(ir::IR, x) = typeof(x)
exprline(ir::IR, v::Variable) = haskey(ir, v) ? ir[v].line : 0
returntype(b::Block) = exprtype(b.ir, returnvalue(b))
returntype(ir::IR) = returntype(block(ir))
function emptyargs!(b::Block)
    deletearg!(b, 1:length(arguments(b)))
    return b
end
branch(to::Integer, args...; unless = nothing) = Branch(unless, to, Any[args...])
branch(to::Block, args...; unless = nothing) = branch(to.id, args...; unless = unless)
const unreachable = Branch(nothing, 0, Any[])
const typed_meta = meta
macro typed_meta(ex)
    return Expr(:call, GlobalRef(IRTools, :_meta_of), map(esc, ex.args)...)
end

# The same as the walks without `!`, in place.
prewalk!(f, ir::IR) = _walk!(x -> prewalk(f, x), ir)
postwalk!(f, ir::IR) = _walk!(x -> postwalk(f, x), ir)
function _walk!(walked, ir)
    for id in collect(keys(ir.statements))
        ir.statements[id] = walked(ir.statements[id])
    end
    for b in ir.list
        b.branches = Any[walked(br) for br in b.branches]
    end
    return ir
end
