# Why are these numbers not finite? The mean of the squares minus the square of the mean loses all digits of a variance that is
# small beside the mean; the division by the deviation then gives the first value that is not finite.

using Contexts

function deviation(xs)
    mean = sum(xs) / length(xs)
    squares = sum(x -> x^2, xs) / length(xs)
    return sqrt(max(squares - mean^2, 0.0))
end
function stable_deviation(xs)
    mean = sum(xs) / length(xs)
    return sqrt(sum(x -> (x - mean)^2, xs) / length(xs))
end
function standardise(xs, spread)
    mean = sum(xs) / length(xs)
    scale = spread(xs)
    return [(x - mean) / scale for x in xs]
end

xs = [1.0e9, 1.0e9 + 1, 1.0e9 + 2]
r = find_nonfinite(standardise, xs, deviation)
println(r.value)
println(r.result, " = ", r.callee, r.args, " at line ", r.line)
println(find_nonfinite(standardise, xs, stable_deviation))
