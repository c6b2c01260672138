# Makes each case in Mooncake's lists a test of its own, behind the functions that it uses (see mooncake.jl).
/^"""/,/^"""/d
/^using \.\.Mooncake:/,/^$/d
/^(using|Pkg\.|module |@testset)/d
# The end: the tests.
/^export |^    @testset for/{
    g
    p
    q
}
/^function generate_test_functions|^    test_cases = vcat\(/,/^(end|    \))$/{
    /^function |^end|^    (return |test_cases = )?(vcat\(|Any\[|\]|\))$/d
    /^ {8}(Any\[|\],)$/d
    # Cases that are computed: a list.
    /^ {8}(map\(\[|vec\()$/,/^ {8}(end|\)),$/{
        s/^ {8}(map|vec)/list = \1/
        s/^ {8}(end|\)),$/\1\nfor c in list; @test case(c...) end/
        H
        d
    }
    s/^( {8}| {12})\((false|true), (.*)\),( #.*)?$/@test case(\2, \3)\4/
    s/^( {8}| {12})\($/@test case(/
    s/^( {8}| {12})\),( #.*)?$/)\2/
    H
    d
}
p
