#!/bin/sh
# Compiles `loss.jl` and the program in C that calls it, into the folder OUT. REGRAFT is the command, and RUNTIME the
# static library that `cargo build --release -p regraft-runtime` makes.
set -e
here=$(dirname "$0")
out=${OUT:-$here}
regraft=${REGRAFT:-regraft}
runtime=${RUNTIME:-$here/../../target/release/libregraft_runtime.a}

"$regraft" emit "$here/loss.jl" 'loss(Matrix{Float64}, Vector{Float64}, Vector{Float64})' --gradient \
    --object "$out/loss.o" --header "$out/loss.h"
"${CC:-cc}" -O2 -Wall -Wextra -I "$out" "$here/main.c" "$out/loss.o" "$runtime" -lm -lpthread -ldl -o "$out/fit"
