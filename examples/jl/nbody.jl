# Planets that attract each other, by the symplectic Euler method: the energy stays nearly the same.

mutable struct Body
    position::NTuple{3, Float64}
    velocity::NTuple{3, Float64}
    mass::Float64
end

square(v) = v[1]^2 + v[2]^2 + v[3]^2

function advance!(bodies, dt)
    for (i, a) in enumerate(bodies)
        for b in bodies[i+1:end]
            d = a.position .- b.position
            pull = dt / (square(d) * sqrt(square(d)))
            a.velocity = a.velocity .- d .* (b.mass * pull)
            b.velocity = b.velocity .+ d .* (a.mass * pull)
        end
    end
    for b in bodies
        b.position = b.position .+ dt .* b.velocity
    end
end

function energy(bodies)
    e = 0.0
    for (i, a) in enumerate(bodies)
        e += 0.5 * a.mass * square(a.velocity)
        for j in i+1:length(bodies)
            e -= a.mass * bodies[j].mass / sqrt(square(a.position .- bodies[j].position))
        end
    end
    e
end

bodies = [Body((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 10.0),
          Body((1.0, 0.0, 0.0), (0.0, 3.0, 0.5), 0.1),
          Body((0.0, -2.0, 0.0), (2.0, 0.0, 0.0), 0.2)]
println(energy(bodies))
for step in 1:1000
    advance!(bodies, 0.001)
end
println(energy(bodies))
println(bodies[2].position)
