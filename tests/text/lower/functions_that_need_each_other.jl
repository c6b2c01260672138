# Functions that need each other.
# RUN: --lowered
function f(n)
    even(n) = n == 0 ? true : odd(n - 1)
    odd(n) = n == 0 ? false : even(n - 1)
    even(n)
end
