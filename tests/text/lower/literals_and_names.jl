# Literals and names.
# RUN: --lowered
f() = ("s", :a, 1.5f0, 2.5, true, nothing, pi, sin)
