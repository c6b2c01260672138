before = 5
println("about to fail")
after = [1][2]
