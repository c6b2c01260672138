# Bundle adjustment: reprojection errors of points seen by cameras. A camera is eleven numbers:
# rotation (angle-axis), centre, focal length, principal point, two coefficients of distortion.

struct Camera{T}
    rotation::Vector{T}
    center::Vector{T}
    focal::T
    principal::Vector{T}
    radial::Tuple{T, T}
end

Camera(p::Vector{T}) where {T} = Camera{T}(p[1:3], p[4:6], p[7], p[8:9], (p[10], p[11]))

dot3(a, b) = a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
cross3(a, b) = [a[2] * b[3] - a[3] * b[2], a[3] * b[1] - a[1] * b[3], a[1] * b[2] - a[2] * b[1]]

# Rodrigues' formula; to first order where the angle is zero.
function rotate(rotation, x)
    square = dot3(rotation, rotation)
    if square > 0
        angle = sqrt(square)
        c, s = cos(angle), sin(angle)
        w = rotation ./ angle
        return x .* c .+ cross3(w, x) .* s .+ w .* (dot3(w, x) * (1 - c))
    end
    return x .+ cross3(rotation, x)
end

function distort(radial, p)
    r = p[1]^2 + p[2]^2
    p .* (1 + radial[1] * r + radial[2] * r^2)
end

function project(camera::Camera, x)
    y = rotate(camera.rotation, x .- camera.center)
    distort(camera.radial, y[1:2] ./ y[3]) .* camera.focal .+ camera.principal
end

function objective(cameras, points, weights, observations, features)
    errors = zeros(2, length(weights))
    zach = similar(weights)
    for (i, (c, p)) in enumerate(observations)
        errors[:, i] .= weights[i] .* (project(cameras[c], points[:, p]) .- features[:, i])
        zach[i] = 1 - weights[i]^2
    end
    errors, zach
end

cameras = [Camera([0.1, -0.2, 0.3, 1.0, 0.5, -2.0, 500.0, 320.0, 240.0, 1e-2, 1e-3]),
           Camera([0.0, 0.0, 0.0, 0.0, 0.0, -5.0, 400.0, 300.0, 200.0, -1e-2, 0.0])]
points = [0.5 -1.0; 1.5 0.25; 4.0 2.0]
observations = [(1, 1), (1, 2), (2, 1), (2, 2)]
weights = [1.0, 0.5, 0.25, 2.0]
features = zeros(2, 4)
errors, zach = objective(cameras, points, weights, observations, features)
println(errors)
println(zach)
