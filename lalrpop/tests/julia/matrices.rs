//! Arrays, and comprehensions.

use crate::{check, check_errors};

#[test]
fn vectors() {
    check(&[
        ("[]", "(vect)"),
        ("[1]", "(vect 1)"),
        ("[1, 2,]", "(vect 1 2)"),
        ("[1,\n 2,\n 3\n]", "(vect 1 2 3)"),
        ("[a..., b]", "(vect (... a) b)"),
        ("[1:3]", "(vect (call : 1 3))"),
        ("[-1, -x]", "(vect -1 (call - x))"),
    ]);
}

#[test]
fn blank_space_parts_elements() {
    check(&[
        ("[1 2]", "(matrix (row 1 2))"),
        ("[1 -2]", "(matrix (row 1 -2))"),
        ("[1 - 2]", "(vect (call - 1 2))"),
        ("[1-2]", "(vect (call - 1 2))"),
        ("[a -b]", "(matrix (row a (call - b)))"),
        ("[a' b']", "(matrix (row (call ' a) (call ' b)))"),
        ("[f(x) g(y)]", "(matrix (row (call f x) (call g y)))"),
        ("[f (x)]", "(matrix (row f x))"),
        ("[a [1]]", "(matrix (row a (vect 1)))"),
        ("[a[1] b]", "(matrix (row (index a 1) b))"),
        ("[(a -b) c]", "(matrix (row (call - a b) c))"),
        ("[2x 3y]", "(matrix (row (call * 2 x) (call * 3 y)))"),
        ("[a == b c]", "(matrix (row (call == a b) c))"),
        ("[!a !b]", "(matrix (row (call ! a) (call ! b)))"),
        ("[a ? b : c d]", "(matrix (row (if a b c) d))"),
        ("[1 +2 + 3]", "(matrix (row 1 (call + (call + 2) 3)))"),
    ]);
}

#[test]
fn rows() {
    check(&[
        ("[1; 2]", "(matrix (row 1) (row 2))"),
        ("[1 2; 3 4]", "(matrix (row 1 2) (row 3 4))"),
        ("[1 2\n 3 4]", "(matrix (row 1 2) (row 3 4))"),
        ("[\n 1 2\n 3 4\n]", "(matrix (row 1 2) (row 3 4))"),
        ("[1 2;\n 3 4;]", "(matrix (row 1 2) (row 3 4))"),
        ("[a; -b]", "(matrix (row a) (row (call - b)))"),
        ("[1\n-2]", "(matrix (row 1) (row -2))"),
        // The longest runs of semicolons part an array first.
        ("[1;; 2]", "(call #ncat 2 1 2)"),
        ("[1; 2;; 3]", "(call #ncat 2 (call #ncat 1 1 2) 3)"),
        ("[1; 2;;;3;;4]", "(call #ncat 3 (call #ncat 1 1 2) (call #ncat 2 3 4))"),
        ("[1 2;;; 3 4]", "(call #ncat 3 (matrix (row 1 2)) (matrix (row 3 4)))"),
        ("T[1;;]", "(call #typed_matrix T (call #ncat 2 1))"),
    ]);
    check_errors(&[
        ("[1, 2 3]", "elements of an array are parted by commas, or by blank space and `;`", " "),
        (
            "a[i, 1 2]",
            "indices are parted by commas, elements of a matrix by blank space and `;`",
            " ",
        ),
        ("[a = 1]", "expected an element, found an assignment", "a = 1"),
    ]);
}

#[test]
fn comprehensions() {
    check(&[
        ("[x^2 for x in xs]", "(comprehension (call ^ x 2) ((in x xs)))"),
        ("[x for x = 1:3]", "(comprehension x ((in x (call : 1 3))))"),
        ("[i + j for i in a, j in b]", "(comprehension (call + i j) ((in i a) (in j b)))"),
        ("[x for y in z for x in y]", "(flat-comprehension x ((in y z) (in x y)))"),
        ("[x for x in xs if x > 0]", "(comprehension x ((in x xs) (filter (call > x 0))))"),
        ("[x\n for x in xs\n if x in ys]", "(comprehension x ((in x xs) (filter (call in x ys))))"),
        ("Float64[x for x in xs]", "(comprehension :: Float64 x ((in x xs)))"),
        ("[a[i] for (i, a) ∈ z]", "(comprehension (index a i) ((in (tuple i a) z)))"),
        ("sum(x for x in xs)", "(call sum (generator x ((in x xs))))"),
        ("(x for x in xs)", "(generator x ((in x xs)))"),
        ("f(a, x for x in xs)", "(call f a (generator x ((in x xs))))"),
        (
            "[(i, j) for i in 1:2 for j in 1:i]",
            "(flat-comprehension (tuple i j) ((in i (call : 1 2)) (in j (call : 1 i))))",
        ),
        ("[[x for x in y] for y in z]", "(comprehension (comprehension x ((in x y))) ((in y z)))"),
    ]);
}
