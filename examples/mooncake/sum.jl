# The sum of the elements of an array, by the library.

x = [sin(1.0i) for i in 1:1000]
println(sum(x))
