# Counts how often control gets to each line of the program.
#
#     cover_lines(sign_of, -2)
#     sign.jl:2  1
#     sign.jl:4  1
#
# A line counts when control gets to it from another line of the function or into the function, so that a loop on one line counts
# once. Lines without a call or an operation (`else`, a literal) are not seen. With `sources = Dict("sign.jl" => text)` each line of
# these files is shown beside its count. Takes a look into a table per line.

Cassette.@context LineCounter

# `value` is that of the program, `counts` goes from `(file, line)` to numbers of times.
mutable struct LineCoverage
    value::Any
    counts::Dict{Tuple{String, Int}, Int}
    sources::Any
end

function Cassette.linehook(ctx::LineCounter, file, line)
    frame = ctx.metadata
    (frame.in_library || frame.is_moved && frame.line == line && frame.file == file) && return
    move!(frame, file, line)
    counts = frame.run.counts
    counts[(file, line)] = get(counts, (file, line), 0) + 1
    return
end
Cassette.overdub(ctx::LineCounter, f, args...) = descend(ctx, f, args...)

function cover_lines(f, args...; sources = Dict{String, String}())
    r = LineCoverage(nothing, Dict{Tuple{String, Int}, Int}(), sources)
    r.value = overdub(LineCounter(metadata = Frame(r)), f, args...)
    return r
end

Base.getindex(r::LineCoverage, file, line) = get(r.counts, (file, line), 0)
function Base.show(io::IO, r::LineCoverage)
    print(io, length(r.counts), " lines reached")
    for file in sort(unique([place[1] for place in keys(r.counts)]))
        _show_file(io, r, file)
    end
end
function _show_file(io, r, file)
    if haskey(r.sources, file)
        print(io, "\n", file)
        lines = split(r.sources[file], '\n')
        for k in 1:length(lines)
            k == length(lines) && isempty(lines[k]) && continue
            n = r[file, k]
            print(io, "\n", rstrip(string(lpad(n == 0 ? "" : string(n), 6), " | ", lines[k])))
        end
    else
        reached = sort([line for (name, line) in keys(r.counts) if name == file])
        print_table(io, [(string(file, ":", line), string(r[file, line])) for line in reached])
    end
end
