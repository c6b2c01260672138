# ADBench's bundle adjustment: how far each point lies from where a camera saw it. A camera is a
# column of eleven numbers: rotation (axis times angle), centre, focal length, principal point, and
# two coefficients of radial distortion.
#
#     regraft grad examples/adbench/ba.jl 'squared_errors(cameras, points, weights, observations, features)'

dot3(a, b) = a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
cross3(a, b) = (a[2] * b[3] - a[3] * b[2], a[3] * b[1] - a[1] * b[3], a[1] * b[2] - a[2] * b[1])

# Rodrigues' formula; to first order where the angle is zero.
function rotate(r, x)
    square = dot3(r, r)
    if square == 0
        return x .+ cross3(r, x)
    end
    angle = sqrt(square)
    axis = r ./ angle
    along = dot3(axis, x) * (1 - cos(angle))
    return x .* cos(angle) .+ cross3(axis, x) .* sin(angle) .+ axis .* along
end

function project(camera, point)
    rotation = (camera[1], camera[2], camera[3])
    center = (camera[4], camera[5], camera[6])
    x, y, z = rotate(rotation, (point[1], point[2], point[3]) .- center)
    u, v = x / z, y / z
    square = u^2 + v^2
    scale = camera[7] * (1 + camera[10] * square + camera[11] * square^2)
    return u * scale + camera[8], v * scale + camera[9]
end

# The two errors of one observation.
function reprojection_error(camera, point, weight, feature)
    u, v = project(camera, point)
    return weight * (u - feature[1]), weight * (v - feature[2])
end

weight_error(weight) = 1 - weight^2

# The errors of all observations, a column each, and those of their weights.
function ba_objective(cameras, points, weights, observations, features)
    errors = zeros(2, length(observations))
    weight_errors = zeros(length(weights))
    for (i, (c, p)) in enumerate(observations)
        camera, point = view(cameras, :, c), view(points, :, p)
        u, v = reprojection_error(camera, point, weights[i], view(features, :, i))
        errors[1, i] = u
        errors[2, i] = v
        weight_errors[i] = weight_error(weights[i])
    end
    return errors, weight_errors
end

function squared_errors(cameras, points, weights, observations, features)
    errors, weight_errors = ba_objective(cameras, points, weights, observations, features)
    return sum(abs2, errors) + sum(abs2, weight_errors)
end

# The derivatives of both errors of each observation, a column for each error: by the eleven numbers of the camera, by
# the point, and by the weight.
function ba_jacobian!(jacobian, cameras, points, weights, observations, features)
    for (i, (c, p)) in enumerate(observations)
        camera, point = ntuple(k -> cameras[k, c], 11), ntuple(k -> points[k, p], 3)
        feature = (features[1, i], features[2, i])
        error = (camera, point, weight) -> reprojection_error(camera, point, weight, feature)
        _, back = pullback(error, camera, point, weights[i])
        of_u, of_v = back((1.0, 0.0)), back((0.0, 1.0))
        jacobian[:, 2i - 1] .= (of_u[1]..., of_u[2]..., of_u[3])
        jacobian[:, 2i] .= (of_v[1]..., of_v[2]..., of_v[3])
    end
    return jacobian
end

cameras = [[0.1, -0.2, 0.3, 1.0, 0.5, -2.0, 5.0, 3.0, 2.0, 1e-2, 1e-3] [0.0, 0.0, 0.0, 0.0, 0.0, -5.0, 4.0, 3.0, 2.0, -1e-2, 0.0]]
points = [0.5 -1.0; 1.5 0.25; 4.0 2.0]
observations = [(1, 1), (1, 2), (2, 1), (2, 2)]
weights = [1.0, 0.5, 0.25, 2.0]
features = [3.0 2.0 3.0 2.0; 2.0 2.0 2.5 2.0]
println(ba_objective(cameras, points, weights, observations, features))
println(squared_errors(cameras, points, weights, observations, features))
println(ba_jacobian!(zeros(15, 8), cameras, points, weights, observations, features))
