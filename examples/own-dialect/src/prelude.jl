softplus(x::Float64) = own.softplus(x)
owndot(x::Vector{Float64}, y::Vector{Float64}) = own.dot(x, y)
axpy!(a::Float64, x::Vector{Float64}, y::Vector{Float64}) = (own.axpy(a, x, y); y)
