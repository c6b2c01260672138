# Random numbers: the generator of Julia since 1.7, xoshiro256++ (D. Blackman, S. Vigna, "Scrambled linear
# pseudorandom number generators", 2021), with the streams of Julia 1.10 for seeds, numbers, ranges, normal numbers
# and arrays of these. Bits are in Int64, whose arithmetic wraps.

abstract type AbstractRNG end
mutable struct Xoshiro <: AbstractRNG
    s0::Int64
    s1::Int64
    s2::Int64
    s3::Int64
end
# Its numbers are those of a Xoshiro: the stream of Julia's is another.
mutable struct MersenneTwister <: AbstractRNG
    s0::Int64
    s1::Int64
    s2::Int64
    s3::Int64
end
Xoshiro(seed::Integer) = Xoshiro(__seed_state(Int64(seed))...)
MersenneTwister(seed::Integer) = MersenneTwister(__seed_state(Int64(seed))...)
Xoshiro() = Xoshiro(__next_bits(__default_rng), __next_bits(__default_rng), __next_bits(__default_rng), __next_bits(__default_rng))
MersenneTwister() = MersenneTwister(0)
copy(r::Xoshiro) = Xoshiro(r.s0, r.s1, r.s2, r.s3)
copy(r::MersenneTwister) = MersenneTwister(r.s0, r.s1, r.s2, r.s3)
==(a::AbstractRNG, b::AbstractRNG) =
    typeof(a) === typeof(b) && (a.s0, a.s1, a.s2, a.s3) == (b.s0, b.s1, b.s2, b.s3)

# A program begins with the stream of the seed 0.
const __default_rng = __new(Xoshiro, -2652715818296459297, 5248731803503122240, -8337926171026360342, 1806427324814722536)
default_rng() = __default_rng
const GLOBAL_RNG = __default_rng
seed!(seed::Integer) = seed!(__default_rng, seed)
seed!() = seed!(__default_rng, 0)
function seed!(r::AbstractRNG, seed::Integer)
    r.s0, r.s1, r.s2, r.s3 = __seed_state(Int64(seed))
    return r
end

@inline __rotate_left(x, k) = (x << k) | (x >>> (64 - k))
function __next_bits(r)
    s0, s1, s2, s3 = r.s0, r.s1, r.s2, r.s3
    bits = __rotate_left(s0 + s3, 23) + s0
    t = s1 << 17
    s2 = s2 ⊻ s0
    s3 = s3 ⊻ s1
    r.s1 = s1 ⊻ s2
    r.s0 = s0 ⊻ s3
    r.s2 = s2 ⊻ t
    r.s3 = __rotate_left(s3, 45)
    return bits
end

# --- seeds: SHA-256 of the bytes of the seed ---------------------------------------------------

__sha_constants() = [
    1116352408, 1899447441, 3049323471, 3921009573, 961987163, 1508970993, 2453635748, 2870763221,
    3624381080, 310598401, 607225278, 1426881987, 1925078388, 2162078206, 2614888103, 3248222580,
    3835390401, 4022224774, 264347078, 604807628, 770255983, 1249150122, 1555081692, 1996064986,
    2554220882, 2821834349, 2952996808, 3210313671, 3336571891, 3584528711, 113926993, 338241895,
    666307205, 773529912, 1294757372, 1396182291, 1695183700, 1986661051, 2177026350, 2456956037,
    2730485921, 2820302411, 3259730800, 3345764771, 3516065817, 3600352804, 4094571909, 275423344,
    430227734, 506948616, 659060556, 883997877, 958139571, 1322822218, 1537002063, 1747873779,
    1955562222, 2024104815, 2227730452, 2361852424, 2428436474, 2756734187, 3204031479, 3329325298,
]
@inline __rotate_right(x, k) = ((x >>> k) | (x << (32 - k))) & 4294967295
function __seed_state(seed)
    seed < 0 && throw(DomainError(seed, "seed must be non-negative"))
    words = zeros(Int64, 64)
    words[1] = __reversed_bytes(seed & 4294967295)
    count = 1
    if seed > 4294967295
        words[2] = __reversed_bytes(seed >>> 32)
        count = 2
    end
    words[count + 1] = 2147483648
    words[16] = 32 * count
    for i in 17:64
        a, b = words[i - 15], words[i - 2]
        x = __rotate_right(a, 7) ⊻ __rotate_right(a, 18) ⊻ (a >>> 3)
        y = __rotate_right(b, 17) ⊻ __rotate_right(b, 19) ⊻ (b >>> 10)
        words[i] = (words[i - 16] + x + words[i - 7] + y) & 4294967295
    end
    h = [1779033703, 3144134277, 1013904242, 2773480762, 1359893119, 2600822924, 528734635, 1541459225]
    a, b, c, d, e, f, g, k = h[1], h[2], h[3], h[4], h[5], h[6], h[7], h[8]
    constants = __sha_constants()
    for i in 1:64
        x = __rotate_right(e, 6) ⊻ __rotate_right(e, 11) ⊻ __rotate_right(e, 25)
        t = k + x + ((e & f) ⊻ (~e & 4294967295 & g)) + constants[i] + words[i]
        y = __rotate_right(a, 2) ⊻ __rotate_right(a, 13) ⊻ __rotate_right(a, 22)
        u = y + ((a & b) ⊻ (a & c) ⊻ (b & c))
        a, b, c, d, e, f, g, k = (t + u) & 4294967295, a, b, c, (d + t) & 4294967295, e, f, g
    end
    word(i, x) = __reversed_bytes((h[i] + x) & 4294967295)
    return (word(1, a) | word(2, b) << 32, word(3, c) | word(4, d) << 32,
            word(5, e) | word(6, f) << 32, word(7, g) | word(8, k) << 32)
end
@inline __reversed_bytes(x) = (x & 255) << 24 | (x & 65280) << 8 | (x >>> 8) & 65280 | (x >>> 24) & 255

# --- one number ---------------------------------------------------------------------------------

rand() = rand(__default_rng)
rand(r::AbstractRNG) = rand(r, Float64)
rand(T::Type) = rand(__default_rng, T)
rand(S::Union{AbstractArray, Tuple}) = rand(__default_rng, S)
rand(r::AbstractRNG, ::Type{Float64}) = __unit_float(__next_bits(r))
rand(r::AbstractRNG, ::Type{Float32}) = Float32(__next_bits(r) >>> 40) * 5.9604645f-8
rand(r::AbstractRNG, ::Type{Int64}) = __next_bits(r)
rand(r::AbstractRNG, ::Type{Int32}) = (__next_bits(r) >> 32) % Int32
rand(r::AbstractRNG, ::Type{Int16}) = (__next_bits(r) >> 48) % Int16
rand(r::AbstractRNG, ::Type{Int8}) = (__next_bits(r) >> 56) % Int8
rand(r::AbstractRNG, ::Type{Bool}) = isodd(__next_bits(r) >> 56)
@inline __unit_float(bits) = Float64(bits >>> 11) * 1.1102230246251565e-16
function rand(r::AbstractRNG, S::Union{AbstractArray, Tuple})
    n = length(S)
    n == 0 && throw(ArgumentError("collection must be non-empty"))
    return S[1 + __less_than(r, n)]
end
# From 0 to n - 1 (D. Lemire, "Fast random integer generation in an interval", 2019).
function __less_than(r, n)
    bits = __next_bits(r)
    low = bits * n
    if 0 <= low < n
        # 2^64 modulo n.
        half = mod(typemax(Int64), n) + 1
        half == n && (half = 0)
        least = half >= n - half ? half - (n - half) : half + half
        while 0 <= low < least
            bits = __next_bits(r)
            low = bits * n
        end
    end
    return __high_product(bits, n)
end
# The upper half of the product of two numbers without signs.
function __high_product(x, y)
    mask = 4294967295
    xl, xh, yl, yh = x & mask, x >>> 32, y & mask, y >>> 32
    low, one, other = xl * yl, xl * yh, xh * yl
    middle = (low >>> 32) + (one & mask) + (other & mask)
    return xh * yh + (one >>> 32) + (other >>> 32) + (middle >>> 32)
end

# --- normal numbers: G. Marsaglia, W. W. Tsang, "The ziggurat method", 2000 ------------------------

# Where the layers end, as bits. The table is made when it is first needed.
const __layer_bits = mem.alloc(Array{Int64, 1}, 0)
@inline function __layer_end(layer)
    isempty(__layer_bits) && __make_layers!(__layer_bits)
    return reinterpret(Float64, __layer_bits[layer])
end
function __make_layers!(bits)
    append!(bits, [
        4596922926870951752, 4598826883057736668, 4599719729383619458, 4600429205097785128, 4601028504535748822,
        4601553250770510353, 4602023713623536266, 4602452629774980569, 4602763696980016056, 4602948221986299213,
        4603121538349217408, 4603285348271397629, 4603440979245258888, 4603589488610349565, 4603731733653926199,
        4603868420121795421, 4604000136706522800, 4604127380143526780, 4604250573846859422, 4604370081996701427,
        4604486220358319174, 4604599264708920697, 4604709457485035696, 4604817013086562944, 4604922122153162059,
        4605024955044924031, 4605125664700069537, 4605224388999958432, 4605321252740800242, 4605416369288693070,
        4605509841977648947, 4605601765297474913, 4605692225908643384, 4605781303513803939, 4605869071609788976,
        4605955598139432770, 4606040946058953274, 4606125173833813753, 4606208335873719143, 4606290482915583633,
        4606371662361835341, 4606451918580227861, 4606531293170350281, 4606609825201223256, 4606687551423704580,
        4606764506460876549, 4606840722979128019, 4606916231842259499, 4606991062250616461, 4607065241866983348,
        4607138796930739890, 4607197085580801263, 4607233275326992286, 4607269188381615616, 4607304835492126740,
        4607340226911794191, 4607375372432728343, 4607410281416215683, 4607444962820622447, 4607479425227101681,
        4607513676863311810, 4607547725625332036, 4607581579097940001, 4607615244573399607, 4607648729068891531,
        4607682039342705359, 4607715181909300273, 4607748163053330595, 4607780988842723052, 4607813665140884258,
        4607846197618109439, 4607878591762256770, 4607910852888745757, 4607942986149932764, 4607974996543912022,
        4608006888922786193, 4608038668000446682, 4608070338359900468, 4608101904460177060, 4608133370642846424,
        4608164741138176109, 4608196020070953575, 4608227211465997574, 4608258319253380579, 4608289347273382534,
        4608320299281194614, 4608351178951390303, 4608381989882179750, 4608412735599462239, 4608443419560690488,
        4608474045158559536, 4608504615724532062, 4608535134532211165, 4608565604800570886, 4608596029697054051,
        4608626412340546396, 4608656755804235345, 4608687063118361289, 4608717337272868730, 4608747581219964182,
        4608777797876587355, 4608807990126801727, 4608838160824110293, 4608868312793701945, 4608898448834633669,
        4608928571721953444, 4608958684208768525, 4608988789028263540, 4609018888895672633, 4609048986510209716,
        4609079084556960702, 4609109185708741461, 4609139292627925078, 4609169407968241901, 4609199534376555720,
        4609229674494619357, 4609259830960812832, 4609290006411867211, 4609320203484577173, 4609350424817505291,
        4609380673052680957, 4609410950837296872, 4609441260825405984, 4609471605679621751, 4609501988072824598,
        4609532410689877438, 4609562876229353159, 4609593387405276975, 4609623946948886597, 4609654557610413213,
        4609685222160886312, 4609715943393965457, 4609746724127802185, 4609777567206935294, 4609808475504222860,
        4609839451922814448, 4609870499398167091, 4609901620900108737, 4609932819434953006, 4609964098047669268,
        4609995459824112206, 4610026907893315222, 4610058445429852255, 4610090075656272779, 4610121801845615015,
        4610153627324002624, 4610185555473330443, 4610217589734045136, 4610249733608026936, 4610281990661579036,
        4610314364528531548, 4610346858913467393, 4610379477595077892, 4610412224429656360, 4610445103354738493,
        4610478118392898926, 4610511273655713954, 4610544573347901059, 4610578021771646624, 4610611623331133997,
        4610645382537284893, 4610679304012728070, 4610713392497010199, 4610747652852064940, 4610782090067957392,
        4610816709268922424, 4610851515719716719, 4610886514832305953, 4610921712172910151, 4610957113469432099,
        4610992724619295653, 4611028551697722991, 4611064600966482188, 4611100878883139124, 4611137392110850585,
        4611174147528738547, 4611211152242889094, 4611248413598023203, 4611285939189890825, 4611323736878444296,
        4611361814801852218, 4611400181391420585, 4611438845387494177, 4611477815856418157, 4611517102208647528,
        4611556714218100610, 4611596662042862271, 4611636956247353222, 4611677607826093579, 4611702323328295029,
        4611723023908587847, 4611743921090396843, 4611765021368579527, 4611786331527164798, 4611807858657797737,
        4611829610179669528, 4611851593861079637, 4611873817842794693, 4611896290663388233, 4611919021286767922,
        4611942019132122516, 4611965294106550200, 4611988856640663619, 4612012717727505719, 4612036888965155183,
        4612061382603451965, 4612086211595333365, 4612111389653340770, 4612136931311938477, 4612162851996381071,
        4612189168098977429, 4612215897063730746, 4612243057480489217, 4612270669189926018, 4612298753400886255,
        4612327332821900325, 4612356431808977120, 4612386076532169006, 4612416295163858552, 4612447118092274259,
        4612478578164423576, 4612510710963468533, 4612543555126603502, 4612577152710780067, 4612611549615231651,
        4612646796071774272, 4612682947216425226, 4612720063759157499, 4612758212772824230, 4612797468627760245,
        4612837914105734619, 4612879641736404628, 4612922755412081174, 4612967372353717181, 4613013625524410920,
        4613061666619099395, 4613111669804608578, 4613163836449128003, 4613218401174348828, 4613275639702719962,
        4613335879182373118, 4613399511996702283, 4613467014579645162, 4613538973596247490, 4613616123261870641,
        4613699400049326643, 4613790025564882546, 4613889637110697611, 4614000503375393331, 4614125902369553428,
        4614270835315655830, 4614443516301432747, 4614658945273067353, 4614949503030066608, 4615410839586450739,
        4615988662844643714,
    ])
    return nothing
end
randn() = randn(__default_rng)
randn(r::AbstractRNG) = __normal(r, __next_bits(r) >>> 12)
randn(T::Type) = randn(__default_rng, T)
randn(r::AbstractRNG, ::Type{T}) where T<:__Float = T(randn(r))
# The variance of a complex number is that of both parts together.
randn(r::AbstractRNG, ::Type{Complex{T}}) where T = Complex{T}(randn(r, T) * T(0.7071067811865476), randn(r, T) * T(0.7071067811865476))
rand(r::AbstractRNG, ::Type{Complex{T}}) where T = Complex{T}(rand(r, T), rand(r, T))
function __normal(r, bits)
    size = bits >> 1
    layer = size & 255
    stop = layer == 0 ? __layer_end(256) : __layer_end(layer)
    x = (isodd(bits) ? -size : size) * (stop * 4.440892098500626e-16)
    size < __surely_within(layer) && return x
    if layer == 0
        last = __layer_end(255)
        while true
            a = -log1p(-rand(r)) / last
            b = -log1p(-rand(r))
            b + b > a * a && return isodd(size >> 8) ? -last - a : last + a
        end
    end
    above = layer == 1 ? 1.0 : exp(-0.5 * __layer_end(layer - 1)^2)
    below = exp(-0.5 * stop^2)
    (above - below) * rand(r) + below < exp(-0.5 * x * x) && return x
    return randn(r)
end
# Up to where a layer is under the curve, of 2^51.
function __surely_within(layer)
    layer == 1 && return 0
    layer == 0 && return 2104047571236786
    return trunc(Int64, __layer_end(layer - 1) / __layer_end(layer) * 2251799813685248.0)
end
# A stream of our own.
randexp() = randexp(__default_rng)
randexp(r::AbstractRNG) = -log1p(-rand(r))

# --- arrays -------------------------------------------------------------------------------------

rand(n::Integer, more::Integer...) = rand(__default_rng, Float64, (n, more...))
rand(T::Type, n::Integer, more::Integer...) = rand(__default_rng, T, (n, more...))
rand(T::Type, dims::Tuple) = rand(__default_rng, T, dims)
rand(S::Union{AbstractArray, Tuple}, n::Integer, more::Integer...) = rand(__default_rng, S, (n, more...))
rand(S::AbstractArray, dims::Tuple) = rand(__default_rng, S, dims)
rand(r::AbstractRNG, n::Integer, more::Integer...) = rand(r, Float64, (n, more...))
rand(r::AbstractRNG, T::Type, n::Integer, more::Integer...) = rand(r, T, (n, more...))
rand(r::AbstractRNG, S::Union{AbstractArray, Tuple}, n::Integer, more::Integer...) = rand(r, S, (n, more...))
rand(r::AbstractRNG, ::Type{T}, dims::Tuple) where T = rand!(r, Array{T, data.fieldcount(dims)}(undef, dims), T)
rand(r::AbstractRNG, S::Union{AbstractArray, Tuple}, dims::Tuple) =
    rand!(r, Array{eltype(S), data.fieldcount(dims)}(undef, dims), S)
rand!(a::AbstractArray) = rand!(__default_rng, a, eltype(a))
rand!(a::AbstractArray, S) = rand!(__default_rng, a, S)
rand!(r::AbstractRNG, a::AbstractArray) = rand!(r, a, eltype(a))
function rand!(r::AbstractRNG, a::AbstractArray, S)
    for k in 1:length(a)
        a[k] = rand(r, S)
    end
    return a
end
rand!(r::Xoshiro, a::Array{Float64}, ::Type{Float64}) = __fill_bits!(r, a, __unit_float)
rand!(r::Xoshiro, a::Array{Int64}, ::Type{Int64}) = __fill_bits!(r, a, identity)
# Long arrays come from eight generators in turn.
function __fill_bits!(r, a, f)
    n = length(a)
    k = 0
    if n >= 8
        lanes = __forked(r)
        while k + 8 <= n
            for lane in lanes
                k += 1
                a[k] = f(__next_bits(lane))
            end
        end
    end
    while k < n
        k += 1
        a[k] = f(__next_bits(r))
    end
    return a
end
function __forked(r)
    s0 = [144428425607543167 * __next_bits(r) for _ in 1:8]
    s1 = [6526988131186142725 * __next_bits(r) for _ in 1:8]
    s2 = [3929618674436644775 * __next_bits(r) for _ in 1:8]
    s3 = [(-8756321810734229919) * __next_bits(r) for _ in 1:8]
    return [Xoshiro(s0[k], s1[k], s2[k], s3[k]) for k in 1:8]
end
randn(n::Integer, more::Integer...) = randn(__default_rng, Float64, (n, more...))
randn(dims::Tuple{Vararg{Integer}}) = randn(__default_rng, Float64, dims)
randn(T::Type, n::Integer, more::Integer...) = randn(__default_rng, T, (n, more...))
randn(T::Type, dims::Tuple) = randn(__default_rng, T, dims)
randn(r::AbstractRNG, n::Integer, more::Integer...) = randn(r, Float64, (n, more...))
randn(r::AbstractRNG, dims::Tuple{Vararg{Integer}}) = randn(r, Float64, dims)
randn(r::AbstractRNG, T::Type, n::Integer, more::Integer...) = randn(r, T, (n, more...))
randn(r::AbstractRNG, ::Type{T}, dims::Tuple) where T = randn!(r, Array{T, data.fieldcount(dims)}(undef, dims))
randn!(a::AbstractArray) = randn!(__default_rng, a)
function randn!(r::AbstractRNG, a::AbstractArray)
    for k in 1:length(a)
        a[k] = randn(r, eltype(a))
    end
    return a
end
function randn!(r::Xoshiro, a::Array{Float64})
    if length(a) < 7
        for k in 1:length(a)
            a[k] = randn(r)
        end
        return a
    end
    bits = rand!(r, Array{Int64, 1}(undef, length(a)), Int64)
    for k in 1:length(a)
        a[k] = __normal(r, bits[k] >>> 12)
    end
    return a
end
randexp(T::Type, n::Integer, more::Integer...) = randexp(__default_rng, T, (n, more...))
randexp(T::Type, dims::Tuple) = randexp(__default_rng, T, dims)
randexp(r::AbstractRNG, ::Type{T}) where T<:__Float = T(randexp(r))
randexp(r::AbstractRNG, n::Integer, more::Integer...) = randexp(r, Float64, (n, more...))
randexp(r::AbstractRNG, T::Type, n::Integer, more::Integer...) = randexp(r, T, (n, more...))
randexp(r::AbstractRNG, T::Type, dims::Tuple) = map(x -> T(-log1p(-x)), rand(r, dims...))
randexp(n::Integer, more::Integer...) = map!(x -> -log1p(-x), zeros(n, more...), rand(n, more...))

# --- orders -------------------------------------------------------------------------------------

@inline function __below_masked(r, n, mask)
    while true
        x = (__next_bits(r) >>> 12) & mask
        x < n && return x
    end
end
shuffle(a::AbstractArray) = shuffle!(__default_rng, collect(a))
shuffle(r::AbstractRNG, a::AbstractArray) = shuffle!(r, collect(a))
shuffle!(a::AbstractArray) = shuffle!(__default_rng, a)
function shuffle!(r::AbstractRNG, a::AbstractArray)
    mask = 3
    for i in 2:length(a)
        j = 1 + __below_masked(r, i, mask)
        a[i], a[j] = a[j], a[i]
        i == 1 + mask && (mask = 2mask + 1)
    end
    return a
end
randperm(n::Integer) = randperm(__default_rng, n)
function randperm(r::AbstractRNG, n::Integer)
    a = Array{Int64, 1}(undef, n)
    n == 0 && return a
    a[1] = 1
    mask = 3
    for i in 2:n
        j = 1 + __below_masked(r, i, mask)
        if i != j
            a[i] = a[j]
        end
        a[j] = i
        i == 1 + mask && (mask = 2mask + 1)
    end
    return a
end

# --- texts, sets, parts of collections: streams of our own ----------------------------------------

rand(s::String) = rand(__default_rng, s)
rand(r::AbstractRNG, s::String) = rand(r, collect(s))
rand(s::Union{Set, Dict}) = rand(__default_rng, s)
rand(r::AbstractRNG, s::Union{Set, Dict}) = rand(r, collect(s))
randstring(n::Integer = 8) = randstring(__default_rng, n)
randstring(r::AbstractRNG, n::Integer) = join(rand(r, collect("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"), n))
randstring(s::String, n::Integer) = join(rand(collect(s), n))
randsubseq(a, p::Real) = randsubseq(__default_rng, a, p)
randsubseq(r::AbstractRNG, a, p::Real) = [x for x in a if rand(r) < p]
randcycle(n::Integer) = randcycle(__default_rng, n)
# A permutation of one cycle (Sattolo's algorithm).
function randcycle(r::AbstractRNG, n::Integer)
    a = collect(1:n)
    for i in n:-1:2
        j = rand(r, 1:i-1)
        a[i], a[j] = a[j], a[i]
    end
    return a
end
