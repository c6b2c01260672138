# A recording profiler: when each call begins and ends, however deep it is.
#
# What a dynamo makes of a function records its calls, and sends them through the dynamo.

using IRTools: IR, @dynamo, xcall, isexpr, insert!, insertafter!

module Recorder
    const names, kinds, stamps = Symbol[], Symbol[], Int[]

    function note(name, kind)
        push!(names, name)
        push!(kinds, kind)
        push!(stamps, time_ns())
        return nothing
    end
    started(name::Symbol) = note(name, :start)
    stopped(name::Symbol) = note(name, :stop)

    # The calls as a tree; times are those since the first, in nanoseconds.
    function show_tree(; times = false)
        depth = 0
        for (name, kind, stamp) in zip(names, kinds, stamps)
            kind == :stop && (depth -= 1; continue)
            println("  "^depth, name, times ? string(": ", stamp - stamps[1]) : "")
            depth += 1
        end
    end
    is_balanced() = count(==(:start), kinds) == count(==(:stop), kinds) && issorted(stamps)
end

named(f::GlobalRef) = QuoteNode(f.name)
# The ops that the library is written in, such as `arith.mul`, have a dot in their names.
is_op(f::GlobalRef) = occursin(".", string(f.name))
is_recorded(st) = isexpr(st.expr, :call) && st.expr.args[1] isa GlobalRef && !is_op(st.expr.args[1])

@dynamo function profiled(call...)
    ir = IR(call...)
    ir === nothing && return nothing
    for (v, st) in ir
        is_recorded(st) || continue
        name = named(st.expr.args[1])
        insert!(ir, v, xcall(Recorder, :started, name))
        insertafter!(ir, v, xcall(Recorder, :stopped, name))
        ir[v] = xcall(Main, :profiled, st.expr.args...)
    end
    return ir
end

area(r) = 3.0 * (r * r)
volume(r, h) = area(r) * h
foo(x, y) = (z = volume(x, y); z + sin(y))

println(profiled(foo, 1.0, 2.0) == foo(1.0, 2.0))
Recorder.show_tree()
println("balanced: ", Recorder.is_balanced())
