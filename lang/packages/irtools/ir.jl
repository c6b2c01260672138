# IR as a value, under the names of Julia's IRTools.
#
# An IR is a list of blocks; statements are numbered for good, and a block lists its own in order. So a statement that
# is inserted or deleted renumbers nothing.

export @code_ir

const Inner = IRTools

# --- parts -----------------------------------------------------------------------------------

struct Variable
    id::Int64
end
var(id::Integer) = Variable(id)

# What the function itself is called within its code.
struct Self end
const self = Self()

struct Statement
    expr
    type
    line::Int64
    # The instruction that it was made from, if it is one of a function that a pass works on; 0 if not.
    from::Int64
end
Statement(expr, type, line) = Statement(expr, type, line, 0)
Statement(x; type = Any, line = 0) = Statement(x, type, line)
Statement(st::Statement; expr = st.expr, type = st.type, line = st.line) = Statement(expr, type, line, st.from)
const stmt = Statement

# Taken if the condition is false, or always if it is `nothing`; block 0 is where a function returns to.
struct Branch
    condition
    block::Int64
    args::Vector{Any}
end
Branch(br::Branch; condition = br.condition, block = br.block, args = br.args) = Branch(condition, block, args)
isreturn(br::Branch) = br.block == 0 && !isempty(br.args)
isunreachable(br::Branch) = br.block == 0 && isempty(br.args)
isconditional(br::Branch) = br.condition !== nothing
_leaves(br::Branch) = br.block == 0
arguments(br::Branch) = br.args

mutable struct BasicBlock
    args::Vector{Int64}
    types::Vector{Any}
    order::Vector{Int64}
    branches::Vector{Any}
    # The block that it was made from, as of statements.
    from::Int64
end
BasicBlock(args, types, order, branches) = BasicBlock(args, types, order, branches, 0)
BasicBlock() = BasicBlock(Int64[], Any[], Int64[], Any[])

mutable struct IR
    list::Vector{BasicBlock}
    statements::Dict{Int64, Statement}
    # The block of a statement or argument.
    homes::Dict{Int64, Int64}
    # The last one that was inserted after a statement.
    after::Dict{Int64, Int64}
    count::Int64
    meta
end
IR(; meta = nothing) =
    IR([BasicBlock()], Dict{Int64, Statement}(), Dict{Int64, Int64}(), Dict{Int64, Int64}(), 0, meta)

struct Block
    ir::IR
    id::Int64
end

# What `IR(f, types...)` was made of, and whether the last argument is all the rest.
struct Method
    isva::Bool
end
struct Meta
    types::Vector{Any}
    method::Method
end
_takes_rest(ir) = ir.meta isa Meta && ir.meta.method.isva

# --- expressions -----------------------------------------------------------------------------

xcall(name::Symbol, args...) = Expr(:call, GlobalRef(Base, name), args...)
xcall(m::Module, name::Symbol, args...) = Expr(:call, GlobalRef(m, name), args...)
xcall(f, args...) = Expr(:call, f, args...)

walk(x, inner, outer) = outer(x)
walk(x::Expr, inner, outer) = outer(Expr(x.head, map(inner, x.args)...))
walk(x::Statement, inner, outer) = outer(Statement(x; expr = inner(x.expr)))
walk(x::Branch, inner, outer) = outer(Branch(x; condition = inner(x.condition), args = map(inner, x.args)))
postwalk(f, x) = walk(x, y -> postwalk(f, y), f)
prewalk(f, x) = walk(f(x), y -> prewalk(f, y), identity)
varmap(f, x) = prewalk(y -> y isa Variable ? f(y) : y, x)

_is_nested(x) = false
_is_nested(x::Expr) = !isexpr(x, (:quote, :inert, :lambda, :static_parameter, :line))

# The statement with its nested expressions taken out, each given to `add`, which says what stands in its place.
_flat(add, x) = x
function _flat(add, x::Expr)
    any(_is_nested, x.args) || return x
    return Expr(x.head, map(y -> _is_nested(y) ? add(_flat(add, y)) : y, x.args)...)
end

# --- blocks ----------------------------------------------------------------------------------

block(ir::IR, i = length(ir.list)) = 1 <= i <= length(ir.list) ? Block(ir, i) :
    throw(BoundsError(ir.list, i))
block(b::Block, i) = block(b.ir, i)
block(ir::IR, v::Variable) = Block(ir, _home(ir, v))
blocks(ir::IR) = [Block(ir, i) for i in 1:length(ir.list)]
_body(b::Block) = b.ir.list[b.id]
Base.:(==)(a::Block, b::Block) = a.ir === b.ir && a.id == b.id

_home(ir::IR, v::Variable) = get(ir.homes, v.id, 0) == 0 ?
    error("there is no ", v, " in this IR") : ir.homes[v.id]

# Adds an empty block; those behind it are numbered anew.
function block!(ir::IR, at = length(ir.list) + 1)
    _renumber_blocks!(ir, i -> at <= i <= length(ir.list) ? i + 1 : i)
    insert!(ir.list, at, BasicBlock())
    return Block(ir, at)
end

# What led to a block that is deleted leads to the one before it.
function deleteblock!(ir::IR, at)
    b = ir.list[at]
    for id in vcat(b.args, b.order)
        delete!(ir.homes, id)
        delete!(ir.statements, id)
    end
    deleteat!(ir.list, at)
    _renumber_blocks!(ir, i -> i < at ? i : i - 1)
    return nothing
end

function _renumber_blocks!(ir::IR, f)
    for b in ir.list
        b.branches = Any[_leaves(br) ? br : Branch(br; block = f(br.block)) for br in b.branches]
    end
    for id in collect(keys(ir.homes))
        ir.homes[id] = f(ir.homes[id])
    end
    return nothing
end

arguments(b::Block) = [Variable(id) for id in _body(b).args]
arguments(ir::IR) = arguments(block(ir, 1))
argtypes(b::Block) = _body(b).types
argtypes(ir::IR) = argtypes(block(ir, 1))

_variable!(ir::IR, home) = (ir.count += 1; ir.homes[ir.count] = home; Variable(ir.count))

# Adds an argument, and its value to every branch that leads here.
function argument!(b::Block, value = nothing, t = Any; type = t, at = length(_body(b).args) + 1, insert = true)
    v = _variable!(b.ir, b.id)
    insert!(_body(b).args, at, v.id)
    insert!(_body(b).types, at, type)
    if insert
        for from in blocks(b.ir), br in branches(from, b)
            insert!(br.args, at, value)
        end
    end
    return v
end
argument!(ir::IR, value = nothing, t = Any; type = t, at = length(argtypes(ir)) + 1, insert = true) =
    argument!(block(ir, 1), value; type = type, at = at, insert = insert)

function deletearg!(b::Block, at::Integer)
    id = _body(b).args[at]
    deleteat!(_body(b).args, at)
    deleteat!(_body(b).types, at)
    delete!(b.ir.homes, id)
    for from in blocks(b.ir), br in branches(from, b)
        deleteat!(br.args, at)
    end
    return nothing
end
deletearg!(b::Block, list) = foreach(at -> deletearg!(b, at), sort(collect(list); rev = true))
deletearg!(ir::IR, at) = deletearg!(block(ir, 1), at)

# --- branches --------------------------------------------------------------------------------

branches(b::Block) = _body(b).branches
branches(ir::IR) = branches(block(ir))
branches(b::Block, to::Block) = filter(br -> br.block == to.id, explicitbranches(b))
branches(b::Block, to::Integer) = branches(b, block(b.ir, to))
branches(ir::IR, to) = branches(block(ir), to)
canbranch(b::Block) = isempty(branches(b)) || all(isconditional, branches(b))

# The branches, the one to the next block among them even if it is not written.
explicitbranches(b::Block) = branches(explicitbranch!(b))
function explicitbranch!(b::Block)
    if canbranch(b) && b.id < length(b.ir.list)
        branch!(b, b.id + 1)
    end
    return b
end
explicitbranch!(ir::IR) = (foreach(explicitbranch!, blocks(ir)); ir)

function branch!(b::Block, to::Integer, args...; unless = nothing)
    add(x) = _is_nested(x) ? push!(b, x) : x
    push!(branches(b), Branch(add(unless), to, Any[add(arg) for arg in args]))
    return b
end
branch!(b::Block, to::Block, args...; unless = nothing) = branch!(b, to.id, args...; unless = unless)
branch!(ir::IR, to, args...; unless = nothing) = branch!(block(ir), to, args...; unless = unless)
function return!(b::Block, x)
    value = _is_nested(x) ? push!(b, x) : x
    filter!(isconditional, branches(b))
    push!(branches(b), Branch(nothing, 0, Any[value]))
    return b.ir
end
return!(ir::IR, x) = return!(block(ir), x)
returnvalue(br::Branch) = br.args[1]
returnvalue(b::Block) = isempty(branches(b)) || !isreturn(branches(b)[end]) ?
    error("block ", b.id, " does not return") : returnvalue(branches(b)[end])
returnvalue(ir::IR) = returnvalue(block(ir))

successors(b::Block) = [block(b.ir, br.block) for br in explicitbranches(b) if !_leaves(br)]
predecessors(b::Block) = [from for from in blocks(b.ir) if !isempty(branches(from, b))]

# --- statements ------------------------------------------------------------------------------

_at(ir::IR, v::Variable) = findfirst(==(v.id), ir.list[_home(ir, v)].order)

function _place!(b::Block, at, st::Statement)
    v = _variable!(b.ir, b.id)
    b.ir.statements[v.id] = st
    insert!(_body(b).order, at, v.id)
    return v
end
# Nested expressions become statements in front.
function _add!(b::Block, at, x)
    st, before = Statement(x), length(_body(b).order)
    next() = at + length(_body(b).order) - before
    expr = _flat(y -> _place!(b, next(), Statement(st; expr = y)), st.expr)
    return _place!(b, next(), Statement(st; expr = expr))
end

Base.push!(b::Block, x) = _add!(b, length(_body(b).order) + 1, x)
Base.push!(ir::IR, x) = push!(block(ir), x)
Base.pushfirst!(b::Block, x) = _add!(b, 1, x)
Base.pushfirst!(ir::IR, x) = pushfirst!(block(ir, 1), x)
function Base.insert!(ir::IR, v::Variable, x)
    haskey(ir, v) || error(v, " is an argument: there is nothing before it")
    return _add!(block(ir, v), _at(ir, v), x)
end
# In the order of the calls: what was inserted after a statement before comes first.
function insertafter!(ir::IR, v::Variable, x)
    last = get(ir.after, v.id, v.id)
    last = haskey(ir.statements, last) ? Variable(last) : v
    b = block(ir, v)
    new = _add!(b, haskey(ir, last) ? _at(ir, last) + 1 : 1, x)
    ir.after[v.id] = new.id
    return new
end
Base.insert!(b::Block, at::Integer, x) = _add!(b, at, x)

Base.getindex(ir::IR, v::Variable) =
    haskey(ir, v) ? ir.statements[v.id] : error("there is no statement ", v, " in this IR")
Base.getindex(b::Block, v::Variable) = b.ir[v]
Base.get(ir::IR, v::Variable, default) = haskey(ir, v) ? ir[v] : default
Base.setindex!(ir::IR, x::Statement, v::Variable) = _set!(ir, v, x)
Base.setindex!(ir::IR, x, v::Variable) = _set!(ir, v, Statement(ir[v]; expr = x))
Base.setindex!(b::Block, x, v::Variable) = setindex!(b.ir, x, v)
function _set!(ir::IR, v::Variable, st)
    expr = _flat(y -> _place!(block(ir, v), _at(ir, v), Statement(st; expr = y)), st.expr)
    ir.statements[v.id] = Statement(st; expr = expr)
    return nothing
end
function Base.delete!(ir::IR, v::Variable)
    haskey(ir, v) || error("there is no statement ", v, " in this IR")
    deleteat!(ir.list[_home(ir, v)].order, _at(ir, v))
    delete!(ir.statements, v.id)
    delete!(ir.homes, v.id)
    return ir
end
Base.delete!(b::Block, v::Variable) = delete!(b.ir, v)
Base.haskey(ir::IR, v::Variable) = haskey(ir.statements, v.id)
Base.haskey(b::Block, v::Variable) = get(b.ir.homes, v.id, 0) == b.id && haskey(b.ir, v)
Base.keys(b::Block) = [Variable(id) for id in _body(b).order]
Base.keys(ir::IR) = [Variable(id) for b in ir.list for id in b.order]
Base.length(ir::IR) = sum(length(b.order) for b in ir.list)
Base.length(b::Block) = length(_body(b).order)
# Statements that are inserted while one goes through are not visited.
Base.iterate(ir::IR) = _next(ir, keys(ir), 1)
Base.iterate(ir::IR, (list, at)) = _next(ir, list, at)
Base.iterate(b::Block) = _next(b.ir, keys(b), 1)
Base.iterate(b::Block, (list, at)) = _next(b.ir, list, at)
_next(ir, list, at) = at > length(list) ? nothing : ((list[at], ir[list[at]]), (list, at + 1))

function Base.findfirst(f::Function, ir::IR)
    for (v, st) in ir
        f((v, st)) && return v
    end
    return nothing
end

function walk(ir::IR, inner, outer)
    ir = copy(ir)
    for id in collect(keys(ir.statements))
        ir.statements[id] = inner(ir.statements[id])
    end
    for b in ir.list
        b.branches = Any[inner(br) for br in b.branches]
    end
    return outer(ir)
end

Base.empty(ir::IR) = IR(meta = ir.meta)
Base.isempty(b::Block) = isempty(_body(b).order) && isempty(branches(b))
function Base.copy(ir::IR)
    copied(b) = BasicBlock(copy(b.args), copy(b.types), copy(b.order),
        Any[Branch(br; args = copy(br.args)) for br in b.branches], b.from)
    list = BasicBlock[copied(b) for b in ir.list]
    return IR(list, copy(ir.statements), copy(ir.homes), copy(ir.after), ir.count, ir.meta)
end
