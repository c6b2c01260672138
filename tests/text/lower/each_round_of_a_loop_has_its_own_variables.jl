# Each iteration of a loop has its own variables.
# RUN: --lowered
function f()
    fs = []
    for i in 1:3
        push!(fs, () -> i)
        j = i
        j += 1
        push!(fs, () -> j)
    end
    fs
end
