# A sum of sines, by the library.

x = [0.01i for i in 1:1000]
println(sum(sin, x))
