# `break` leaves all clauses, and each iteration begins with the outer variable.
# RUN: --lowered
function h(a)
    for i in 1:3, j = 1:i
        a[i] == j && break
        i = 0
    end
end
