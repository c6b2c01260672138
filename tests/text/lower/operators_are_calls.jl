# Operators are calls.
# RUN: --lowered
function f(a, b)
    a + b + 1
    -a
    !b
    a'
    2a^2
    1:2:a
    a ÷ b ≤ 1
    a ∉ b
    a ∘ b
end
