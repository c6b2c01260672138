//! Loops and reductions that threads share: values, derivatives, and that neither depends on the number of threads.

use regraft_exec::EngineKind;

use super::{check, session, shown};

/// Reductions and loops, each with the plain loop that it stands for.
const PAIRS: &str = "
f(x, p) = sin(x) * p + x^2
shared_sum(xs, p) = tmapreduce(x -> f(x, p), +, xs)
function plain_sum(xs, p)
    s = 0.0
    for x in xs
        s += f(x, p)
    end
    return s
end
function shared_loop(x, w)
    y = zeros(length(x))
    Threads.@threads for i in eachindex(x)
        y[i] = w[1] * x[i]^2 + w[2] * x[1]
    end
    return sum(y)
end
function plain_loop(x, w)
    y = zeros(length(x))
    for i in eachindex(x)
        y[i] = w[1] * x[i]^2 + w[2] * x[1]
    end
    return sum(y)
end
function shared_squares!(x)
    Threads.@threads for i in eachindex(x)
        x[i] = x[i]^2
    end
    return sum(x)
end
function shared_points!(z, p)
    Threads.@threads for i in eachindex(z)
        z[i] = z[i] * complex(1.0, p[i][1])
        p[i] = (p[i][1] + i, p[i][2] - 1)
    end
    return sum(z), sum(first, p), sum(last, p)
end
function plain_points!(z, p)
    for i in eachindex(z)
        z[i] = z[i] * complex(1.0, p[i][1])
        p[i] = (p[i][1] + i, p[i][2] - 1)
    end
    return sum(z), sum(first, p), sum(last, p)
end
points() = ([complex(k, -1.0) for k in 1:1000], [(0.5k, k) for k in 1:1000])
numbers = [0.25k for k in 1:1000]
distance(a, b) = maximum(abs.(a .- b) ./ max.(1.0, abs.(b)))
";

#[test]
fn gradients_are_those_of_the_plain_loop() {
    check(
        PAIRS,
        &[
            ("distance(shared_sum(numbers, 1.5), plain_sum(numbers, 1.5)) < 1e-12", "true"),
            (
                "distance(gradient(shared_sum, numbers, 1.5)[1], gradient(plain_sum, numbers, 1.5)[1]) < 1e-12",
                "true",
            ),
            (
                "distance(gradient(shared_sum, numbers, 1.5)[2], gradient(plain_sum, numbers, 1.5)[2]) < 1e-12",
                "true",
            ),
            ("gradient(p -> shared_sum([0.0, 1.0], p), 2.0)", "(0.8414709848078965,)"),
            (
                "gradient(shared_loop, [1.0, 2.0, 3.0], [2.0, 3.0])",
                "([13.0, 8.0, 12.0], [14.0, 3.0])",
            ),
            (
                "distance(gradient(shared_loop, numbers, [2.0, 3.0])[1], gradient(plain_loop, numbers, [2.0, 3.0])[1]) < 1e-12",
                "true",
            ),
            ("gradient(shared_squares!, [1.0, 2.0, 3.0])", "([2.0, 4.0, 6.0],)"),
            ("shared_points!(points()...) === plain_points!(points()...)", "true"),
            (
                "gradient((z, p) -> abs2(shared_points!(z, p)[1]), points()...) == gradient((z, p) -> abs2(plain_points!(z, p)[1]), points()...)",
                "true",
            ),
            ("gradient(x -> shared_squares!(copy(x)), numbers)[1] == 2 .* numbers", "true"),
        ],
    );
}

#[test]
fn forward_mode_and_second_derivatives() {
    check(
        PAIRS,
        &[
            ("derivative(p -> shared_sum([1.0, 2.0], p), 3.0)", "1.7507684116335782"),
            ("hessian(x -> tmapreduce(t -> t^3, +, x), [1.0, 2.0])", "[6.0 0.0; 0.0 12.0]"),
            (
                "hessian(w -> tmapreduce(k -> k * w[1]^2 * w[2], +, 1:3), [1.0, 2.0])",
                "[24.0 12.0; 12.0 0.0]",
            ),
            (
                "gradient(p -> derivative(q -> shared_sum([1.0], q * q), p), 3.0)",
                "(1.682941969615793,)",
            ),
            ("jacobian(x -> tmap(t -> t * x[1], x), [2.0, 3.0])", "[4.0 0.0; 3.0 2.0]"),
        ],
    );
}

#[test]
fn objects_that_are_read_and_written_at_once() {
    // The same array under two names, an array of arrays, a mutable struct.
    check(
        "
        function both!(x, y)
            Threads.@threads for i in eachindex(x)
                y[i] = 3x[i]
            end
            return sum(y)
        end
        function rows(m)
            out = zeros(length(m))
            Threads.@threads for i in eachindex(m)
                out[i] = sum(m[i]) * m[1][1]
            end
            return sum(out)
        end
        mutable struct Scale; by::Float64; end
        scaled(s, x) = tmapreduce(t -> s.by * t, +, x)
        struct Line; a::Float64; b::Float64; end
        fitted(l, x) = tmapreduce(t -> (l.a * t + l.b)^2, +, x)
        function last!(x)
            Threads.@threads for i in 1:length(x)-1
                x[i] = x[i] * x[end]
            end
            return sum(x)
        end
        ",
        &[
            ("gradient((x, y) -> both!(x, y), [1.0, 2.0], [0.0, 0.0])", "([3.0, 3.0], [0.0, 0.0])"),
            ("gradient(x -> both!(x, x), [1.0, 2.0])", "([3.0, 3.0],)"),
            ("gradient(rows, [[1.0, 2.0], [3.0]])", "([[7.0, 1.0], [1.0]],)"),
            ("gradient(scaled, Scale(2.0), [1.0, 2.0])", "((by = 3.0,), [2.0, 2.0])"),
            ("gradient(fitted, Line(1.0, 2.0), [1.0, 2.0])[1]", "(a = 22.0, b = 14.0)"),
            ("gradient(last!, [1.0, 2.0, 3.0])", "([3.0, 3.0, 4.0],)"),
        ],
    );
}

#[test]
fn what_the_loop_assigns_is_its_own() {
    check(
        "",
        &[
            (
                "let s = 0.0\n Threads.@threads for i in 1:3\n s += i\n end\n s\n end",
                "error: the loop of `@threads` assigns to `s`",
            ),
            (
                "let s = 1\n Threads.@threads :static for i in 1:3\n local s = i\n end\n s\n end",
                "1",
            ),
            (
                "begin\n using Base.Threads\n @threads for i in 1:0\n end\n nthreads() > 0\n end",
                "true",
            ),
            ("Threads.@threads 1 + 1", "error: @threads requires a `for` loop expression"),
            ("tmapreduce(abs, +, Float64[])", "error: reducing over an empty collection"),
            ("tmapreduce(abs, +, Int[]; init=3)", "3"),
            ("tmapreduce(+, max, [1, 2], [5, 3])", "6"),
            ("tmapreduce(+, max, [1, 2], [5])", "error: DimensionMismatch"),
            ("treduce(*, 1:5)", "120"),
            ("tmap(x -> x / 2, [1 2; 3 4])", "[0.5 1.0; 1.5 2.0]"),
            ("tmap(x -> x > 1 ? x : 0.5, [1, 2])", "Any[0.5, 2]"),
            ("let v = zeros(3)\n tforeach(k -> (v[k] = k), 1:3)\n v\n end", "[1.0, 2.0, 3.0]"),
            (
                "let v = zeros(3)\n Threads.@threads for (k, x) in collect(enumerate([4, 5, 6]))\n x == 5 && continue\n v[k] = x\n end\n v\n end",
                "[4.0, 0.0, 6.0]",
            ),
        ],
    );
}

/// Chunks that only read run again on the way back. These print as well.
#[test]
fn what_chunks_print_is_printed_once() {
    let mut session = session("f(x) = (println(\"at \", x); x^2)");
    let gradient = "gradient(x -> tmapreduce(f, +, x; init=0.0), [1.0, 2.0, 3.0])[1]";
    assert_eq!(shown(&mut session, gradient), "[2.0, 4.0, 6.0]");
    assert_eq!(session.take_output(), "at 1.0\nat 2.0\nat 3.0\n");
}

#[test]
fn results_do_not_depend_on_threads_or_engines() {
    let programs = [
        "shared_sum(numbers, 1.5)",
        "gradient(shared_sum, numbers, 1.5)",
        "gradient(shared_loop, numbers, [2.0, 3.0])",
        "gradient(x -> shared_squares!(copy(x)), numbers)",
        "shared_points!(points()...)",
        "tmapreduce(k -> [(k, 0.5k), (-k, 1.0)], vcat, 1:20)",
        "hessian(w -> tmapreduce(k -> sin(k * w[1]) * w[2], +, 1:300), [1.0, 2.0])",
        "tmapreduce(x -> x > 200 ? error(\"large: $x\") : x, +, numbers)",
        "tmapreduce(k -> (k, [1.0k]), (a, b) -> (a[1] + b[1], a[2] .+ b[2]), 1:200)",
    ];
    for program in programs {
        let mut found: Vec<String> = Vec::new();
        for (engine, threads) in [
            (EngineKind::Interpreter, 1),
            (EngineKind::Cranelift, 1),
            (EngineKind::Cranelift, 2),
            (EngineKind::Auto, 5),
        ] {
            let mut session = session(PAIRS);
            session.set_threads(threads);
            session.set_engine(engine).expect("there is such an engine");
            found.extend((0..3).map(|_| shown(&mut session, program)));
        }
        // The calls that led to an error are told in other words where code was inlined.
        let first_line = |text: &str| text.lines().next().unwrap_or_default().to_owned();
        found.iter_mut().for_each(|text| *text = first_line(text));
        for other in &found[1..] {
            assert_eq!(other, &found[0], "{program}");
        }
    }
}

#[test]
fn chunks_on_other_threads_share_elements_and_copy_the_rest() {
    let mut session = session(
        "
        mutable struct Cell; x::Float64; end
        function fill_all(n)
            cells = [Cell(0.0) for _ in 1:n]
            names = Vector{Any}(undef, n)
            numbers = zeros(n)
            Threads.@threads for i in 1:n
                cells[i].x = i / 2
                names[i] = (i, cells[i])
                numbers[i] = 2i
            end
            return (sum(c.x for c in cells), all(names[i][2] === cells[i] for i in 1:n), sum(numbers))
        end
        function failing(x)
            Threads.@threads for i in eachindex(x)
                x[i] = sqrt(x[i])
            end
            return x
        end
        ",
    );
    session.set_threads(3);
    session.set_engine(EngineKind::Cranelift).expect("there is such an engine");
    for _ in 0..4 {
        assert_eq!(shown(&mut session, "fill_all(300)"), "(22575.0, true, 90300.0)");
        let error = shown(&mut session, "failing([k == 70 ? -1.0 : 1.0k for k in 1:100])");
        assert!(
            error.contains("DomainError with -1.0") && error.contains("x[i] = sqrt(x[i])"),
            "{error}"
        );
    }
}
