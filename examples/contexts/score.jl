# Does a score depend on what it must not depend on, and does a message tell what it must not tell?

using Contexts

struct Applicant
    income::Float64
    age::Int
    postcode::Int
end
function score(person, weights)
    region = person.postcode ÷ 1000
    println("region ", region)
    return weights[1] * person.income + weights[2] * person.age
end
assess(income, age, postcode) = score(Applicant(income, age, postcode), [0.5, 2.0])
# The same with numbers in the place of a struct: each goes its own way.
function assess_parts(income, age, postcode)
    println("region ", postcode ÷ 1000)
    return 0.5 * income + 2.0 * age
end

r = track_taint(assess_parts, 100.0, 40, 12345; sinks = (println,))
println(r.value, " comes from ", r.sources)
for call in r.sinks
    println(call.callee, call.args, " tells of ", call.sources)
end
# A struct is one value: its fields come from all that it was made of.
println(track_taint(assess, 100.0, 40, 12345).sources)
