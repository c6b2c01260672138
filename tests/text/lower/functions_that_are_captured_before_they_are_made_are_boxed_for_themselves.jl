# Functions that are captured before they are made are boxed for themselves.
# RUN: --lowered
function f(n)
    g() = h(n)
    h(m) = m <= 0 ? 0 : h(m - 1)
    g()
end
