# Prints every call that a function makes, and every call that those make.

using IRTools: IR, @dynamo, xcall, arguments, recurse!, self

report(f, args...) = println(nameof(f), "(", join(args, ", "), ")")

@dynamo function logged(call...)
    ir = IR(call...)
    # A function without code is called as it is.
    ir === nothing && return nothing
    recurse!(ir)
    pushfirst!(ir, xcall(Main, :report, arguments(ir)...))
    return ir
end

square(x) = x * x
norm2(x, y) = square(x) + square(y)

println("= ", logged(norm2, 3, 4))
