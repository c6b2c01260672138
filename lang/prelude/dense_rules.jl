# Derivatives of what `dense.jl` has the library do, but for products, whose op has a derivative. What a pullback needs is copied: the program may write
# to its arrays meanwhile.

@inline __or_zeros(d::Nothing, a) = zero(a)
@inline __or_zeros(d, a) = d

# --- triangles ------------------------------------------------------------------------------

@inline __columns_times(a::Array{T, 1}, b::Array{T, 1}) where T = __dense_outer(a, b)
@inline __columns_times(a::Array{T, 2}, b::Array{T, 2}) where T = __dense_product(a, b, false, true)
@inline __times_any(a, b::Array{T, 1}, turned) where T = __dense_times!(mem.alloc(Array{T, 1}, turned ? size(a, 2) : size(a, 1)), a, b, turned)
@inline __times_any(a, b::Array{T, 2}, turned) where T = __dense_product(a, b, turned, false)
function frule(t, ::typeof(__dense_solve), a::Array{T, 2}, b::Array{T, N}, upper::Bool, turned::Bool, unit::Bool) where {T, N}
    x = __dense_solve(a, b, upper, turned, unit)
    d = __or_zeros(t[3], b)
    d = t[2] === nothing ? d : d - __times_any(__triangle(t[2], upper, unit ? 0 : 1), x, turned)
    return (x, __dense_solve(a, d, upper, turned, unit))
end
struct __SolveBack{A, X}
    a::A
    x::X
    upper::Bool
    turned::Bool
    unit::Bool
end
function (p::__SolveBack)(dy)
    db = __dense_solve(p.a, dy, p.upper, !p.turned, p.unit)
    da = p.turned ? __columns_times(p.x, db) : __columns_times(db, p.x)
    return (nothing, -__triangle(da, p.upper, p.unit ? 0 : 1), db, nothing, nothing, nothing)
end
function rrule(::typeof(__dense_solve), a::Array{T, 2}, b::Array{T, N}, upper::Bool, turned::Bool, unit::Bool) where {T, N}
    x = __dense_solve(a, b, upper, turned, unit)
    return (x, __SolveBack(a, x, upper, turned, unit))
end

# --- factorisations -------------------------------------------------------------------------

# Of `P A = L U`, where X = L⁻¹ P dA U⁻¹: the lower triangle of it belongs to `L`, the rest to `U`.
function frule(t, ::typeof(__lu_factors), a::Array{T, 2}) where T
    f, rows = __lu_factors(a)
    d = __dense_solve(f, __rows_of(t[2], rows), false, false, true)
    d = __solve_right(d, f, true, false)
    n = size(f, 1)
    dl = __dense_product(__triangle(f, false, 0) + __identity(T, n), __triangle(d, false, 0), false, false)
    du = __dense_product(__triangle(d, true, 1), __triangle(f, true, 1), false, false)
    return ((f, rows), (__triangle(dl, false, 0) + du, nothing))
end
struct __LuBack{F}
    f::F
    rows::Vector{Int64}
end
function (p::__LuBack)(dy)
    d = __or_zeros(dy[1], p.f)
    l = __triangle(p.f, false, 0) + __identity(eltype(p.f), size(p.f, 1))
    low = __triangle(__dense_product(l, __triangle(d, false, 0), true, false), false, 0)
    high = __triangle(__dense_product(__triangle(d, true, 1), __triangle(p.f, true, 1), false, true), true, 1)
    x = __solve_right(__dense_solve(p.f, low + high, false, true, true), p.f, true, true)
    return (nothing, __rows_back(x, p.rows))
end
function rrule(::typeof(__lu_factors), a::Array{T, 2}) where T
    f, rows = __lu_factors(a)
    return ((f, rows), __LuBack(copy(f), rows))
end
# `b` over a triangle, on the right.
__solve_right(b, t, upper, turned) = collect(transpose(__dense_solve(t, collect(transpose(b)), upper, !turned, false)))
function __rows_of(a, rows)
    out = zeros(eltype(a), size(a))
    for j in 1:size(a, 2)
        for i in 1:size(a, 1)
            @inbounds out[i, j] = a[rows[i], j]
        end
    end
    return out
end
function __rows_back(a, rows)
    out = zeros(eltype(a), size(a))
    for j in 1:size(a, 2)
        for i in 1:size(a, 1)
            @inbounds out[rows[i], j] = a[i, j]
        end
    end
    return out
end

# Of `A = Uᵀ U`, of which the upper triangle is read (Murray, "Differentiation of the Cholesky
# decomposition", 2016).
function frule(t, ::typeof(__dense_cholesky), a::Array{T, 2}) where T
    u = __dense_cholesky(a)
    x = __solve_right(__dense_solve(u, __mirrored(t[2], true), true, true, false), u, true, false)
    return (u, __dense_product(__triangle(x, true, T(0.5)), u, false, false))
end
struct __CholeskyBack{U}
    u::U
end
function (p::__CholeskyBack)(dy)
    half = convert(eltype(p.u), 0.5)
    x = __triangle(__dense_product(p.u, dy, false, true), false, half)
    s = __solve_right(__dense_solve(p.u, x, true, false, false), p.u, true, true)
    return (nothing, __triangle(s + transpose(s), true, half))
end
function rrule(::typeof(__dense_cholesky), a::Array{T, 2}) where T
    u = __dense_cholesky(a)
    return (u, __CholeskyBack(copy(u)))
end

# Of a matrix with at least as many rows as columns, all of them independent (Walter and Lehmann,
# "Algorithmic differentiation of linear algebra functions", 2010).
function frule(t, ::typeof(__dense_qr), a::Array{T, 2}) where T
    q, r = __dense_qr(a)
    x = __solve_right(t[2], r, true, false)
    c = __dense_product(q, x, true, false)
    low = __triangle(c, false, 0)
    high = c - low + transpose(low)
    return ((q, r), (x - __dense_product(q, high, false, false), __dense_product(high, r, false, false)))
end
struct __QrBack{Q, R}
    q::Q
    r::R
end
function (p::__QrBack)(dy)
    dq = __or_zeros(dy[1], p.q)
    dr = __triangle(__or_zeros(dy[2], p.r), true, 1)
    m = __dense_product(p.r, dr, false, true) - __dense_product(dq, p.q, true, false)
    d = dq + __dense_product(p.q, __mirrored(m, false), false, false)
    return (nothing, __solve_right(d, p.r, true, true))
end
function rrule(::typeof(__dense_qr), a::Array{T, 2}) where T
    q, r = __dense_qr(a)
    return ((q, r), __QrBack(copy(q), copy(r)))
end

# Of eigenvalues that are equal, there is no derivative of the vectors; it counts as 0.
@inline __over(x) = iszero(x) ? zero(x) : inv(x)
function __over_differences(s)
    n = length(s)
    f = zeros(eltype(s), (n, n))
    for j in 1:n
        for i in 1:n
            f[i, j] = __over(s[j] - s[i])
        end
    end
    return f
end
function __diagonal_of(a)
    d = zeros(eltype(a), size(a, 1))
    for k in 1:size(a, 1)
        d[k] = a[k, k]
    end
    return d
end
function __plus_diagonal(a, d)
    out = copy(a)
    for k in 1:size(a, 1)
        out[k, k] += d[k]
    end
    return out
end
function frule(t, ::typeof(__symmetric_eigen), a::Array{T, 2}) where T
    s, v = __symmetric_eigen(a)
    m = __dense_product(v, __dense_product(t[2], v, false, false), true, false)
    return ((s, v), (__diagonal_of(m), __dense_product(v, __over_differences(s) .* m, false, false)))
end
struct __EigenBack{S, V}
    s::S
    v::V
end
function (p::__EigenBack)(dy)
    m = __over_differences(p.s) .* __dense_product(p.v, __or_zeros(dy[2], p.v), true, false)
    m = __plus_diagonal(m, __or_zeros(dy[1], p.s))
    d = __dense_product(__dense_product(p.v, m, false, false), p.v, false, true)
    return (nothing, (d + transpose(d)) / 2)
end
function rrule(::typeof(__symmetric_eigen), a::Array{T, 2}) where T
    s, v = __symmetric_eigen(a)
    return ((s, v), __EigenBack(copy(s), copy(v)))
end

# Of different singular values that are not 0 (Townsend, "Differentiating the singular value
# decomposition", 2016); else the terms that have no value count as 0.
function frule(t, ::typeof(__thin_svd), a::Array{T, 2}) where T
    u, s, vt = __thin_svd(a)
    da = t[2]
    f = __over_differences(s .* s)
    over = __over.(s)
    p = __dense_product(__dense_product(u, da, true, false), vt, false, true)
    row = transpose(s)
    du = __dense_product(u, f .* (p .* row + s .* transpose(p)), false, false)
    dv = __dense_product(vt, f .* (s .* p + transpose(p) .* row), true, false)
    ru = __dense_product(da, vt, false, true)
    du = du + (ru - __dense_product(u, p, false, false)) .* transpose(over)
    rv = __dense_product(da, u, true, false)
    dv = dv + (rv - __dense_product(vt, p, true, true)) .* transpose(over)
    return ((u, s, vt), (du, __diagonal_of(p), collect(transpose(dv))))
end
struct __SvdBack{U, S}
    u::U
    s::S
    vt::U
end
function (p::__SvdBack)(dy)
    u, s, vt = p.u, p.s, p.vt
    du = __or_zeros(dy[1], u)
    dvt = __or_zeros(dy[3], vt)
    f = __over_differences(s .* s)
    over = __over.(s)
    uu = __dense_product(u, du, true, false)
    vv = __dense_product(vt, dvt, false, true)
    m = (f .* (uu - transpose(uu))) .* transpose(s) + s .* (f .* (vv - transpose(vv)))
    d = __dense_product(__plus_diagonal(m, __or_zeros(dy[2], s)), vt, false, false)
    d = d + over .* (dvt - __dense_product(vv, vt, true, false))
    rest = (du - __dense_product(u, uu, false, false)) .* transpose(over)
    return (nothing, __dense_product(u, d, false, false) + __dense_product(rest, vt, false, false))
end
function rrule(::typeof(__thin_svd), a::Array{T, 2}) where T
    u, s, vt = __thin_svd(a)
    return ((u, s, vt), __SvdBack(copy(u), copy(s), copy(vt)))
end

# Eigenvalues of any matrix, as long as they differ: each changes by the product of the left vector, the
# change of the matrix, and the right one.
function __eigenvalue_sides(a)
    re, im_part, vr, vi = __general_parts(a)
    v = complex.(vr, vi)
    return (v, inv(v))
end
function frule(t, ::typeof(__general_values), a::Array{T, 2}) where T
    v, left = __eigenvalue_sides(a)
    d = [sum(transpose(left[k, :]) * t[2] * v[:, k]) for k in 1:size(a, 1)]
    return (__general_values(a), (real.(d), imag.(d)))
end
struct __ValuesBack{V, T}
    v::V
    left::V
    re::Vector{T}
end
function (p::__ValuesBack)(dy)
    g = complex.(__or_zeros(dy[1], p.re), -__or_zeros(dy[2], p.re))
    return (nothing, real(transpose(p.left) * (g .* transpose(p.v))))
end
function rrule(::typeof(__general_values), a::Array{T, 2}) where T
    v, left = __eigenvalue_sides(a)
    values = __general_values(a)
    return (values, __ValuesBack(v, left, copy(values[1])))
end

# With their vectors, whose length stays 1 and whose largest element stays real.
function frule(t, ::typeof(__general_parts), a::Array{T, 2}) where T
    parts = __general_parts(a)
    s = complex.(parts[1], parts[2])
    v = complex.(parts[3], parts[4])
    m = inv(v) * t[2] * v
    d = v * (__over_differences(s) .* m)
    for j in 1:size(a, 1)
        k = __largest_in(v, j)
        stretch = real(dot(v[:, j], d[:, j]))
        turn = imag(d[k, j]) / real(v[k, j])
        for i in 1:size(a, 1)
            d[i, j] -= v[i, j] * Complex(stretch, turn)
        end
    end
    ds = __diagonal_of(m)
    return (parts, (real(ds), imag(ds), real(d), imag(d)))
end
struct __GeneralBack{V, S}
    v::V
    s::S
end
function (p::__GeneralBack)(dy)
    zeros_of = real(p.v)
    g = complex.(__or_zeros(dy[1], real(p.s)), __or_zeros(dy[2], real(p.s)))
    u = complex.(__or_zeros(dy[3], zeros_of), __or_zeros(dy[4], zeros_of))
    for j in 1:length(p.s)
        k = __largest_in(p.v, j)
        along = dot(u[:, j], p.v[:, j])
        for i in 1:length(p.s)
            u[i, j] -= real(along) * p.v[i, j]
        end
        u[k, j] += Complex(zero(real(along)), imag(along) / real(p.v[k, j]))
    end
    m = conj(__over_differences(p.s)) .* (adjoint(p.v) * u)
    m = __plus_diagonal(m, g)
    return (nothing, real(adjoint(inv(p.v)) * m * adjoint(p.v)))
end
function rrule(::typeof(__general_parts), a::Array{T, 2}) where T
    parts = __general_parts(a)
    return (parts, __GeneralBack(complex.(parts[3], parts[4]), complex.(parts[1], parts[2])))
end
