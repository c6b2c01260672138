# Statements at top level.
# RUN: --lowered
x = 1
y, z = x, 2
x += y
global w = 3
const K = 3.0
println(x)
using LinearAlgebra
function decl end
