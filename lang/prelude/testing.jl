# Tests: `@test` and its like, and sets of them.

# What came of a test: it is shown as this text.
struct __TestResult
    text::String
end
struct __TestSetException <: Exception
    counts
end
struct __FallbackTestSetException <: Exception
    msg::String
end
showerror(io::IO, e::__FallbackTestSetException) = print(io, e.msg)
function showerror(io::IO, e::__TestSetException)
    c = e.counts
    print(io, "Some tests did not pass: ", c[1], " passed, ", c[2], " failed, ", c[3], " errored, ", c[4], " broken.")
end
function __result_of(kind)
    kind === :pass && return __TestResult("Test Passed")
    kind === :broken && return __TestResult("Test Broken")
    return __TestResult(kind === :fail ? "Test Failed" : "Error During Test")
end

# A set of tests, with what came of its own tests and of the sets in it.
mutable struct __TestSet
    name::String
    counts::Vector{Int64}
    children::Vector{Any}
    start::UInt64
    seconds::Float64
end
const __test_sets = mem.alloc(Array{Any, 1}, 0)
const __test_kinds = (:pass, :fail, :error, :broken)

function __record(kind)
    if isempty(__test_sets)
        kind === :pass || kind === :broken ||
            throw(__FallbackTestSetException("There was an error during testing"))
        return __result_of(kind)
    end
    counts = __test_sets[end].counts
    counts[__test_index(kind)] += 1
    return __result_of(kind)
end
function __test_index(kind)
    kind === :pass && return 1
    kind === :fail && return 2
    return kind === :error ? 3 : 4
end
function __test_title()
    return isempty(__test_sets) ? "" : string(__test_sets[end].name, ": ")
end

macro test(ex, options...)
    ex, broken, skip = __test_options(ex, options)
    source = string(__source__.file, ":", __source__.line)
    parts, value, rebuilt = __test_parts(ex)
    run = :(__run_test(() -> ($(map(esc, parts)...),), $(esc(value)), $(QuoteNode(ex)), $rebuilt, $source, $(esc(broken))))
    return skip === false ? run : :($(esc(skip)) ? __record(:broken) : $run)
end
macro test_broken(ex)
    source = string(__source__.file, ":", __source__.line)
    return :(__run_test(() -> ($(esc(ex)),), x -> x, $(QuoteNode(ex)), nothing, $source, true))
end
macro test_skip(ex)
    return :(__record(:broken))
end
function __test_options(ex, options)
    broken = false
    skip = false
    named = Any[]
    for option in options
        if isexpr(option, :(=)) && option.args[1] === :broken
            broken = option.args[2]
        elseif isexpr(option, :(=)) && option.args[1] === :skip
            skip = option.args[2]
        elseif isexpr(option, :(=))
            push!(named, Expr(:kw, option.args[1], option.args[2]))
        else
            throw(ArgumentError(string("invalid test macro call: @test ", ex, " ", option)))
        end
    end
    if !isempty(named)
        isexpr(ex, :call) || throw(ArgumentError("options of `@test` are for a call"))
        ex = Expr(:call, ex.args[1], Expr(:parameters, named...), ex.args[2:end]...)
    end
    return ex, broken, skip
end
# The parts of a condition that are shown with their values; a function that puts them together; and
# the code with the places of the values.
function __test_parts(ex)
    if isexpr(ex, :call) && __is_plain_call(ex)
        op = ex.args[1]
        named = Any[a for a in ex.args[2:end] if isexpr(a, :parameters)]
        given = Any[a for a in ex.args[2:end] if !isexpr(a, :parameters)]
        names = Any[gensym() for _ in given]
        return given, :(($(names...),) -> $(Expr(:call, op, named..., names...))), :(values -> Expr(:call, $(QuoteNode(op)), values...))
    elseif isexpr(ex, :comparison)
        given = ex.args[1:2:end]
        ops = ex.args[2:2:end]
        names = Any[gensym() for _ in given]
        return given, :(($(names...),) -> $(__woven(names, ops))), :(values -> __woven(values, $(QuoteNode(Expr(:tuple, ops...))).args))
    end
    return Any[ex], :(x -> x), :nothing
end
function __woven(values, ops)
    args = Any[]
    for k in 1:length(values)
        push!(args, values[k])
        k <= length(ops) && push!(args, ops[k])
    end
    return Expr(:comparison, args...)
end
function __is_plain_call(ex)
    op = ex.args[1]
    op isa Symbol || return false
    for a in ex.args[2:end]
        (isexpr(a, :...) || isexpr(a, :kw)) && return false
        isexpr(a, :parameters) && any(p -> !isexpr(p, :kw), a.args) && return false
    end
    shown = (:(==), :(!=), :≠, :<, :<=, :≤, :>, :>=, :≥, :(===), :(!==), :≈, :≉, :isapprox, :isa, :in, :∈, :isequal, :startswith, :endswith, :occursin, :isempty, :issubset, :⊆)
    return op in shown
end
function __run_test(parts, condition, ex, rebuilt, source, broken)
    values = nothing
    result = nothing
    try
        values = parts()
        result = condition(values...)
    catch e
        broken && return __record(:broken)
        e isa InterruptException && rethrow()
        println(__test_title(), "Error During Test at ", source)
        println("  Test threw exception")
        println("  Expression: ", ex)
        println("  ", sprint(showerror, e))
        return __record(:error)
    end
    if !(result isa Bool)
        println(__test_title(), "Error During Test at ", source)
        println("  Expression evaluated to non-Boolean")
        println("  Expression: ", ex)
        println("       Value: ", __repr(result))
        return __record(:error)
    end
    if broken && result
        println(__test_title(), "Error During Test at ", source)
        println(" Unexpected Pass")
        println(" Expression: ", ex)
        println(" Got correct result, please change to @test if no longer broken.")
        return __record(:error)
    end
    broken && return __record(:broken)
    result && return __record(:pass)
    println(__test_title(), "Test Failed at ", source)
    println("  Expression: ", ex)
    rebuilt === nothing || println("   Evaluated: ", rebuilt(values))
    return __record(:fail)
end

macro test_throws(expected, ex)
    source = string(__source__.file, ":", __source__.line)
    return :(__run_test_throws(() -> $(esc(ex)), $(esc(expected)), $(QuoteNode(ex)), $(QuoteNode(expected)), $source))
end
function __run_test_throws(f, expected, ex, shown, source)
    thrown = nothing
    try
        f()
    catch e
        e isa InterruptException && rethrow()
        __fits_exception(e, expected) && return __record(:pass)
        thrown = e
    end
    println(__test_title(), "Test Failed at ", source)
    println("  Expression: ", ex)
    println("    Expected: ", shown)
    if thrown === nothing
        println("  No exception thrown")
    else
        println("      Thrown: ", typeof(thrown))
        println("  ", sprint(showerror, thrown))
    end
    return __record(:fail)
end
__fits_exception(e, expected::Type) = e isa expected
__fits_exception(e, expected::String) = occursin(expected, sprint(showerror, e))
__fits_exception(e, expected::Function) = expected(sprint(showerror, e))
function __fits_exception(e, expected)
    typeof(e) === typeof(expected) || return false
    for name in fieldnames(typeof(e))
        __repr(getfield(e, name)) == __repr(getfield(expected, name)) || return false
    end
    return true
end

macro test_nowarn(ex)
    return esc(ex)
end

macro testset(args...)
    body = args[end]
    name = "test set"
    for arg in args[1:end-1]
        if arg isa String || isexpr(arg, :string)
            name = arg
        end
    end
    if isexpr(body, :for)
        return Expr(:for, esc(body.args[1]), Expr(:block, __testset_code(name, body.args[2])))
    end
    name = isexpr(body, :call) && name == "test set" ? string(body.args[1]) : name
    return __testset_code(name, body)
end
function __testset_code(name, body)
    return quote
        let set = __begin_set(string($(esc(name))))
            try
                let
                    $(esc(body))
                end
            catch e
                __set_failed(e)
            end
            __end_set(set)
        end
    end
end
function __begin_set(name)
    set = __TestSet(name, [0, 0, 0, 0], Any[], time_ns(), 0.0)
    push!(__test_sets, set)
    return set
end
# Closes the sets that a run left open which a limit ended.
__leave_test_sets(sets) = empty!(sets)
function __set_failed(e)
    e isa InterruptException && rethrow(e)
    println(__test_title(), "Error During Test")
    println("  Got exception outside of a @test")
    println("  ", sprint(showerror, e))
    __record(:error)
end
function __end_set(set)
    while pop!(__test_sets) !== set
    end
    set.seconds = (time_ns() - set.start) / 1e9
    if !isempty(__test_sets)
        push!(__test_sets[end].children, set)
        return nothing
    end
    total = __total(set)
    __print_summary(set, total)
    total[2] + total[3] == 0 || throw(__TestSetException(total))
    return __TestResult(string("Test.DefaultTestSet(", __repr(set.name), ")"))
end
function __total(set)
    total = copy(set.counts)
    for child in set.children
        total .+= __total(child)
    end
    return total
end
function __print_summary(set, total)
    rows = Any[]
    __summary_rows!(rows, set, 0, total[2] + total[3] > 0)
    width = max(13, maximum(map(row -> length(row[1]), rows)))
    titles = ("Pass", "Fail", "Error", "Broken")
    used = Any[k for k in 1:4 if total[k] > 0]
    out = string(__padded("Test Summary:", width, false), " | ")
    for k in used
        out = string(out, __padded(titles[k], __column(titles[k], total[k]), true), "  ")
    end
    sum_of = total[1] + total[2] + total[3] + total[4]
    out = string(out, __padded("Total", __column("Total", sum_of), true), "  Time\n")
    for (title, counts, seconds) in rows
        out = string(out, __padded(title, width, false), " | ")
        for k in used
            out = string(out, __padded(counts[k] == 0 ? "" : string(counts[k]), __column(titles[k], total[k]), true), "  ")
        end
        n = counts[1] + counts[2] + counts[3] + counts[4]
        out = string(out, __padded(n == 0 ? "None" : string(n), __column("Total", sum_of), true), "  ", __fixed(seconds, 1), "s\n")
    end
    print(out)
    return nothing
end
__column(title, n) = max(length(title), length(string(n)))
function __summary_rows!(rows, set, depth, all)
    push!(rows, (string(repeat("  ", depth), set.name), __total(set), set.seconds))
    if all
        for child in set.children
            __summary_rows!(rows, child, depth + 1, all)
        end
    end
    return nothing
end
