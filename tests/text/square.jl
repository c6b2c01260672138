# Methods of scripts are named by the types of their arguments.
# RUN: O1 --entry 'square(Float64)'
# RUN: inline, simplify-cfg --entry 'sum_of_squares(Float64, Float64)'
square(x) = x * x
sum_of_squares(x, y) = square(x) + square(y)
