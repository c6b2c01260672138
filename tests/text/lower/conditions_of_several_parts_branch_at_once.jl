# Conditions of several parts branch at once.
# RUN: --lowered
function f(a, b, i, n)
    while i <= n && (a[i] < b || a[i] == 0)
        i += 1
    end
    i
end
