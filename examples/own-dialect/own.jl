# A loss with ops of the dialect: the derivative by w is softplus'(w·w) 2w and that of axpy!.
function loss(w, a)
    y = copy(w)
    axpy!(a, w, y)
    return softplus(owndot(w, y))
end
println(loss([1.0, 2.0], 0.5))
