# Leaves the tests of ForwardDiff that use functions alone: no `Dual`, no static arrays, no facts of
# configurations (see differences.jl).
/^(module|end # module|include\(|import |using |struct [A-Za-z]*TestTag|ForwardDiff\.:)/d
/^# test specialized StaticArray|^@testset "Specialized StaticArray/,/^end/d
/^for T in \(StaticArrays/,/^end/d
/^@info "testing specialized/d
/eltype\(.?.?.?.?.?.?cfg\) *==|InvalidTagException|<: ForwardDiff\.Dual/d
/^@testset "(functions with `Dual` output|allocation-free|_lyap_div|BigFloat|type stability)/,/^end/d
/^# AbstractIrrational numbers/,/^end/d
/^intrand|SVector|MVector|x0_[sm]vector|ForwardDiff\.partials/d
/# Check number of function evaluations/,/^        end$/{/^        end$/!d}
