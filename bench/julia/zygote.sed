# Makes Zygote's tests compare `nothing` and zero as equal (see zygote.jl).
/@test/s/=== *(nothing|\()/== \1/g
/^ *(end|\]\)?) *=== */s/===/==/
