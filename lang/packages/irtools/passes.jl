# Changes to whole IR, and facts about it.

# The variables that a block defines, and the statements and branches that use each variable.
definitions(b::Block) = vcat(arguments(b), keys(b))
definitions(ir::IR) = [definitions(b) for b in blocks(ir)]
function usages(ir::IR)
    found = Dict{Variable, Vector{Variable}}()
    for (v, st) in ir
        varmap(x -> (push!(get!(found, x, Variable[]), v); x), st.expr)
    end
    return found
end
_uses(b::Block) = (us = Set{Variable}(); note(x) = (push!(us, x); x);
    foreach(v -> varmap(note, b.ir[v].expr), keys(b)); foreach(br -> varmap(note, br), branches(b)); us)

# The variables that are used at or after the beginning of each block, and defined before it.
function liveness(ir::IR)
    list = blocks(explicitbranch!(ir))
    found = [setdiff(_uses(b), definitions(b)) for b in list]
    changed = true
    while changed
        changed = false
        for b in reverse(list), c in successors(b)
            new = union(found[b.id], setdiff(found[c.id], definitions(b)))
            changed |= length(new) != length(found[b.id])
            found[b.id] = new
        end
    end
    return found
end

# Gives every block what it uses of others as arguments.
function expand!(ir::IR)
    live = liveness(ir)
    wanted(b) = b.id == 1 ? Variable[] : sort(collect(live[b.id]); by = v -> v.id)
    envs = [Dict{Variable, Variable}(v => argument!(b, v) for v in wanted(b)) for b in blocks(ir)]
    foreach(b -> _rename!(b, x -> get(envs[b.id], x, x)), blocks(ir))
    return ir
end
function _rename!(b::Block, f)
    for v in keys(b)
        b.ir.statements[v.id] = varmap(f, b.ir[v])
    end
    _body(b).branches = Any[varmap(f, br) for br in branches(b)]
    return nothing
end

# Takes away arguments that are the same on every way in.
function prune!(ir::IR)
    explicitbranch!(ir)
    changed = true
    while changed
        changed = false
        for b in blocks(ir), (i, v) in reverse(collect(enumerate(arguments(b))))
            b.id == 1 && continue
            given = setdiff(unique([br.args[i] for from in blocks(ir) for br in branches(from, b)]), Any[v])
            length(given) == 1 || continue
            deletearg!(b, i)
            foreach(c -> _rename!(c, x -> x == v ? given[1] : x), blocks(ir))
            changed = true
        end
    end
    return ir
end

# One block returns, and the others lead to it.
function merge_returns!(ir::IR)
    explicitbranch!(ir)
    count(b -> any(isreturn, branches(b)), blocks(ir)) > 1 || return ir
    last = block!(ir)
    v = argument!(last; insert = false)
    for b in blocks(ir)
        b == last && continue
        _body(b).branches = Any[isreturn(br) ? Branch(br; block = last.id) : br for br in branches(b)]
    end
    return!(last, v)
    return ir
end

# The IR with the code of a call in its place.
function inline(ir::IR, v::Variable, source::IR)
    ir, source = explicitbranch!(copy(ir)), explicitbranch!(copy(source))
    at, first, args = _at(ir, v), _home(ir, v), ir[v].expr.args
    length(args) == length(arguments(source)) || error("the call has ", length(args), " arguments, the IR takes ", length(arguments(source)))
    last = first + length(source.list) + 1
    foreach(i -> block!(ir, i), first + 1:last)
    # What follows the call, of which the result is the argument.
    before, behind = ir.list[first], ir.list[last]
    behind.order, behind.args, behind.types, behind.branches = before.order[at + 1:end], [v.id], Any[Any], before.branches
    before.order, before.branches = before.order[1:at - 1], Any[Branch(nothing, first + 1, Any[])]
    delete!(ir.statements, v.id)
    foreach(id -> ir.homes[id] = last, vcat(behind.order, behind.args))
    env = Dict{Variable, Any}(zip(arguments(source), args))
    for b in blocks(source)
        to = block(ir, first + b.id)
        b.id > 1 && foreach(w -> env[w] = argument!(to; insert = false), arguments(b))
        foreach(w -> env[w] = _place!(to, length(to) + 1, source[w]), keys(b))
    end
    renamed(x) = env[x]
    for b in blocks(source)
        to = block(ir, first + b.id)
        foreach(w -> ir.statements[w.id] = varmap(renamed, ir.statements[w.id]), keys(to))
        for br in branches(b)
            target = isreturn(br) ? last : first + br.block
            push!(branches(to), Branch(varmap(renamed, br); block = target))
        end
    end
    return ir
end

# A choice between two functions without arguments.
cond(c, t, f) = c ? t() : f()

# The same without branches: a block is a function, which holds what it uses of others; a branch is a call of it. A block
# that is in a loop calls itself by what it is given last.
function functional(ir::IR)
    length(ir.list) == 1 && return ir
    ir = expand!(merge_returns!(copy(ir)))
    made = IR(meta = ir.meta)
    env = Dict{Any, Any}(v => argument!(made) for v in arguments(ir))
    lambdas = Any[nothing for _ in ir.list]
    # All blocks but the first take all functions, of which they call some.
    n = length(ir.list)
    for b in blocks(ir)
        b.id == 1 && continue
        inner = IR()
        argument!(inner)
        own = Dict{Any, Any}(v => argument!(inner) for v in arguments(b))
        others = [argument!(inner) for _ in 2:n]
        _functional!(inner, ir, b, own, others)
        lambdas[b.id] = inner
    end
    others = [push!(made, Expr(:lambda, lambdas[i])) for i in 2:n]
    _functional!(made, ir, block(ir, 1), env, others)
    return made
end
function _functional!(to, ir, b, env, others)
    renamed(x) = env[x]
    for v in keys(b)
        env[v] = push!(to, varmap(renamed, ir[v]))
    end
    return!(to, _chosen!(to, branches(b), env, others))
end
function _chosen!(to, list, env, others)
    br = list[1]
    renamed(x) = env[x]
    if !isconditional(br)
        isreturn(br) && return varmap(renamed, br.args[1])
        return push!(to, Expr(:call, others[br.block - 1], map(x -> varmap(renamed, x), br.args)..., others...))
    end
    held = unique(Any[x for x in values(env)])
    arm(rest) = push!(to, Expr(:lambda, _arm(rest, env, held, others), held..., others...))
    taken = arm(list[2:end])
    left = arm(Any[Branch(br; condition = nothing)])
    return push!(to, xcall(IRTools, :cond, varmap(renamed, br.condition), taken, left))
end
# A function without arguments that goes on with branches.
function _arm(list, env, held, others)
    inner = IR()
    me = argument!(inner)
    got = Dict{Any, Any}(x => push!(inner, xcall(:getindex, me, i)) for (i, x) in enumerate(held))
    own = Dict{Any, Any}(v => got[x] for (v, x) in env)
    functions = [push!(inner, xcall(:getindex, me, length(held) + i)) for i in 1:length(others)]
    return!(inner, _chosen!(inner, list, own, functions))
    return inner
end
