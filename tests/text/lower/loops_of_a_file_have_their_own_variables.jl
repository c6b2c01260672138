# Loops of a file have their own variables.
# RUN: --lowered
x = 0
for i in 1:3
    x = i
end
for i in 1:3
    global x = i
end
let
    y = x
end
