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
const __default_rng = Xoshiro(-2652715818296459297, 5248731803503122240, -8337926171026360342, 1806427324814722536)
default_rng() = __default_rng
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

const __sha_constants = [
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
    for i in 1:64
        x = __rotate_right(e, 6) ⊻ __rotate_right(e, 11) ⊻ __rotate_right(e, 25)
        t = k + x + ((e & f) ⊻ (~e & 4294967295 & g)) + __sha_constants[i] + words[i]
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

# Where the layers end.
const __layer_ends = [
    0.21524189598488364, 0.2861745917920737, 0.3357375192144262, 0.37512133287838134, 0.4083891346119918, 0.43751840220787225,
    0.46363433679088273, 0.4874439661392365, 0.5094233296020922, 0.5299097206615585, 0.5491517023271655, 0.5673382570538191,
    0.5846167661063797, 0.601104617755993, 0.6168969900077518, 0.6320722363860615, 0.6466957148949941, 0.66082257424442,
    0.674499822837294, 0.6877678927957888, 0.7006618411068153, 0.7132122851909762, 0.7254461409099999, 0.7373872114342959,
    0.7490566620178155, 0.7604734064301083, 0.7716544242245683, 0.7826150233072333, 0.7933690588406235, 0.8039291169899714,
    0.8143066701352154, 0.8245122087522924, 0.8345553540863824, 0.844444954909154, 0.8541891710081639, 0.8637955455533091,
    0.8732710680888609, 0.8826222295851657, 0.8918550707329417, 0.900975224461222, 0.9099879534967187, 0.9188981836495907,
    0.9277105334020003, 0.9364293402865753, 0.9450586844681657, 0.9536024098810861, 0.9620641432230407, 0.9704473110642245,
    0.9787551552942247, 0.9869907470990626, 0.9951569996350911, 1.0032566795446731, 1.011292417439996, 1.0192667174654844,
    1.0271819660356458, 1.035040439833441, 1.0428443131441492, 1.05059566459093, 1.0582964833306752, 1.0659486747621225,
    1.0735540657924365, 1.081114409703404, 1.08863139065398, 1.0961066278520215, 1.1035416794246398, 1.1109380460135758,
    1.118297174119345, 1.1256204592155334, 1.1329092486525338, 1.1401648443681514, 1.1473885054208492, 1.1545814503599279,
    1.1617448594456115, 1.1688798767308333, 1.1759876120154522, 1.183069142682687, 1.190125515426692, 1.1971577478794417,
    1.2041668301443815, 1.2111537262436993, 1.2181193754854818, 1.2250646937565308, 1.2319905747461362, 1.2388978911056874,
    1.2457874955486274, 1.2526602218948972, 1.2595168860637143, 1.2663582870182295, 1.2731852076653565, 1.279998415713818,
    1.2867986644932436, 1.2935866937369478, 1.3003632303308372, 1.3071289890307312, 1.3138846731502205, 1.3206309752210563,
    1.327368577627926, 1.33409815321936, 1.3408203658964042, 1.3475358711805874, 1.3542453167626352, 1.360949343033283,
    1.3676485835974763, 1.3743436657731662, 1.3810352110758555, 1.3877238356899761, 1.394410150928141, 1.401094763679251,
    1.407778276846399, 1.4144612897754714, 1.4211443986753092, 1.4278281970302562, 1.4345132760058923, 1.4412002248487241,
    1.4478896312805762, 1.4545820818884103, 1.4612781625102755, 1.4679784586180797, 1.4746835556978557, 1.4813940396281875,
    1.4881104970574477, 1.4948335157804937, 1.501563685115464, 1.5083015962813116, 1.5150478427767147, 1.521803020760998,
    1.5285677294377125, 1.5353425714415143, 1.542128153229002, 1.5489250854741734, 1.5557339834691764, 1.562555467531045,
    1.5693901634151237, 1.5762387027359064, 1.5831017233960294, 1.589979870024191, 1.5968737944227882, 1.6037841560260946,
    1.6107116223698301, 1.6176568695730156, 1.624620582833035, 1.6316034569348736, 1.6386061967755479, 1.6456295179047824,
    1.652674147083056, 1.6597408228581827, 1.6668302961616657, 1.6739433309261251, 1.681080704725174, 1.6882432094371955,
    1.6954316519345616, 1.7026468547999232, 1.7098896570713018, 1.717160915017823, 1.724461502948045, 1.7317923140529632,
    1.7391542612859117, 1.7465482782817225, 1.7539753203176716, 1.7614363653189102, 1.7689324149112686, 1.776464495524523,
    1.7840336595494415, 1.7916409865521628, 1.7992875845497203, 1.806974591350821, 1.8147031759662828, 1.822474540093886,
    1.830289919682757, 1.8381505865828067, 1.8460578502851857, 1.854013059760202, 1.8620176053996742, 1.8700729210712668,
    1.8781804862929958, 1.8863418285367828, 1.8945585256707047, 1.9028322085504292, 1.9111645637712533, 1.9195573365931882,
    1.9280123340526658, 1.9365314282756947, 1.9451165600086784, 1.9537697423846467, 1.962493064944363, 1.9712886979336592,
    1.9801588969004766, 1.9891060076174383, 1.9981324713584196, 2.0072408305605287, 2.016433734906204, 2.025713947863854,
    2.035084353729619, 2.0445479652175313, 2.0541079316506523, 2.0637675478117323, 2.073530263518743, 2.0833996939983046,
    2.093379631138792, 2.1034740557148774, 2.113687150686653, 2.1240233156895236, 2.134487182846017, 2.145083634047889,
    2.1558178198767375, 2.1666951803543086, 2.177721467740293, 2.1889027716263607, 2.2002455466112765, 2.211756642884161,
    2.2234433400925107, 2.2353133849299214, 2.247375032947389, 2.2596370951737876, 2.2721089902283818, 2.2848008027244924,
    2.2977233489028634, 2.310888250601372, 2.3243080188711325, 2.337996148796529, 2.351967227379145, 2.366237056717291,
    2.3808227951720857, 2.3957431197819274, 2.4110184139011195, 2.4266709849371466, 2.442725318200364, 2.4592083743347053,
    2.476149939670523, 2.4935830412710467, 2.5115444416266945, 2.530075232159854, 2.5492215503247833, 2.569035452681844,
    2.5895759867082866, 2.6109105184888235, 2.6331163936315827, 2.6562830375767432, 2.680514643285745, 2.7059336561230625,
    2.7326853590440114, 2.760944005279986, 2.7909211740019275, 2.822877396826443, 2.8571387308732246, 2.894121053613412,
    2.9343668672088876, 2.978603279881843, 3.0278377917695933, 3.0835261320021434, 3.147889289518001, 3.224575052047802,
    3.3202447338398255, 3.449278298561431, 3.654152885361009, 3.910757959524916,
]
const __layer_area = 0.004928673233974655
randn() = randn(__default_rng)
randn(r::AbstractRNG) = __normal(r, __next_bits(r) >>> 12)
randn(T::Type) = randn(__default_rng, T)
randn(r::AbstractRNG, ::Type{T}) where T<:__Float = T(randn(r))
function __normal(r, bits)
    size = bits >> 1
    layer = size & 255
    stop = layer == 0 ? __layer_ends[256] : __layer_ends[layer]
    x = (isodd(bits) ? -size : size) * (stop * 4.440892098500626e-16)
    size < __surely_within(layer) && return x
    if layer == 0
        last = __layer_ends[255]
        while true
            a = -log1p(-rand(r)) / last
            b = -log1p(-rand(r))
            b + b > a * a && return isodd(size >> 8) ? -last - a : last + a
        end
    end
    above = layer == 1 ? 1.0 : exp(-0.5 * __layer_ends[layer - 1]^2)
    below = exp(-0.5 * stop^2)
    (above - below) * rand(r) + below < exp(-0.5 * x * x) && return x
    return randn(r)
end
# Up to where a layer is under the curve, of 2^51.
function __surely_within(layer)
    layer == 1 && return 0
    layer == 0 && return 2104047571236786
    return trunc(Int64, __layer_ends[layer - 1] / __layer_ends[layer] * 2251799813685248.0)
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
const GLOBAL_RNG = __default_rng
