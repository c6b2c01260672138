# Local functions refer to themselves.
# RUN: --lowered
function f(n)
    fact(m) = m <= 1 ? 1 : m * fact(m - 1)
    map(q -> fact(q), n)
end
