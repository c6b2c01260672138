# Definitions may stand under conditions.
# RUN: --lowered
if c
    f(x) = 1
    const A = 2
else
    f(x) = 2
end
begin
    g() = 1
    h = 2
end
