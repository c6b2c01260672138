use crate::check;

#[test]
fn whole_numbers() {
    check(
        "",
        &[
            (
                "collect(1:4), collect(4:1), collect(1:2:8), collect(5:-2:0)",
                "([1, 2, 3, 4], Int64[], [1, 3, 5, 7], [5, 3, 1])",
            ),
            ("length(1:4), length(4:1), length(1:2:8), length(5:-2:0)", "(4, 0, 4, 3)"),
            ("first(3:7), last(3:7), last(1:2:8), step(1:2:8), step(1:3)", "(3, 7, 7, 2, 1)"),
            ("(3:7)[2], (1:2:8)[3], collect((3:7)[2:3])", "(4, 5, [4, 5])"),
            ("(1:3)[4]", "error: BoundsError"),
            ("sum(1:100), sum(1:2:9), sum(3:2)", "(5050, 25, 0)"),
            ("4 in 1:5, 4 in 1:2:8, 2.0 in 1:3, 2.5 in 1:3", "(true, false, true, false)"),
            ("1:3 == 1:3, 1:3 == [1, 2, 3], 2:1 == 5:4", "(true, true, true)"),
            (
                "collect(reverse(1:3)), isempty(1:0), maximum(2:5), minimum(2:5)",
                "([3, 2, 1], true, 5, 2)",
            ),
            ("eltype(1:3), typeof(Int32(1):Int32(2)) == typeof(1:2)", "(Int64, false)"),
            ("let s = 0; for i in 10:-3:1 s = 10s + i end; s end", "10741"),
            ("(1:2:10) isa AbstractVector, (1:3) isa AbstractUnitRange", "(true, true)"),
            ("1:0:5", "error: step cannot be zero"),
            ("collect((1:3) .+ 2), string(1:3), string(1:2:5)", "([3, 4, 5], \"1:3\", \"1:2:5\")"),
            ("map(x -> x^2, 1:3), [2i for i in 1:3]", "([1, 4, 9], [2, 4, 6])"),
        ],
    );
}

#[test]
fn floats() {
    check(
        "",
        &[
            ("length(0:0.1:1), (0:0.1:1)[4], last(0:0.1:1)", "(11, 0.3, 1.0)"),
            ("collect(0:0.1:0.5)", "[0.0, 0.1, 0.2, 0.3, 0.4, 0.5]"),
            ("collect(0.0:0.25:1.0), length(1.0:3.0)", "([0.0, 0.25, 0.5, 0.75, 1.0], 3)"),
            ("collect(1.0:-0.5:0.0), length(0.0:0.3:1.0)", "([1.0, 0.5, 0.0], 4)"),
            ("length(0:π:10), (0:π:10)[2]", "(4, 3.141592653589793)"),
            (
                "collect(LinRange(0, 1, 5)), collect(range(0, 1, 5))",
                "([0.0, 0.25, 0.5, 0.75, 1.0], [0.0, 0.25, 0.5, 0.75, 1.0])",
            ),
            ("sum(0:0.5:2)", "5.0"),
        ],
    );
}
