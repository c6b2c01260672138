"""Prints the tables and polynomials of regraft-math.

`python3 math/tables.py` writes the files in `math/src/tables/`. It needs mpmath (gmpy2 makes it fast).
Polynomials are interpolated at the Chebyshev nodes of their interval, which is within a few percent of
the least greatest error; numbers of two floats are the nearest float and the nearest float to the rest.
"""

from pathlib import Path

from mpmath import atan, cos, erf, exp, log, mp, mpf, pi, sin, sqrt

mp.prec = 600
FOLDER = Path(__file__).parent / "src" / "tables"
LN2 = log(mpf(2))


def short(x, bits):
    """Rounds to `bits` bits."""
    saved, mp.prec = mp.prec, bits
    x = +mpf(x)
    mp.prec = saved
    return x


def grid(x, step):
    """Rounds to a multiple of a power of two."""
    return mp.nint(x / step) * step


def two(x):
    high = float(x)
    return high, float(x - mpf(high))


def literal(x, digits=None):
    text = repr(float(x)) if digits is None else repr(float(f"{float(x):.{digits - 1}e}"))
    if "e" in text and "." not in text.split("e")[0]:
        text = text.replace("e", ".0e")
    mantissa, _, exponent = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    if len(fraction) > 6:
        fraction = "_".join(fraction[i : i + 3] for i in range(0, len(fraction), 3))
    text = whole + "." + fraction + (("e" + exponent.lstrip("+")) if exponent else "")
    return text


def array(name, doc, xs, digits=None):
    numbers = [literal(x, digits) + "," for x in xs]
    lines, line = [], "   "
    for number in numbers:
        if len(line) + 1 + len(number) > 118:
            lines.append(line)
            line = "   "
        line += " " + number
    lines.append(line)
    body = "\n".join(lines)
    return f"/// {doc}\n#[rustfmt::skip]\npub const {name}: [f64; {len(xs)}] = [\n{body}\n];\n"


def table(name, doc, xs, digits=None):
    return array(name, doc, xs, digits).replace("pub const", "pub static")


def number(name, doc, x):
    return f"/// {doc}\npub const {name}: f64 = {literal(x)};\n"


def fit(f, low, high, n):
    """The polynomial with `n` coefficients through `f` at the Chebyshev nodes, constant first."""
    low, high = mpf(low), mpf(high)
    nodes = [(low + high) / 2 + (high - low) / 2 * cos(pi * (2 * i + 1) / (2 * n)) for i in range(n)]
    matrix = mp.matrix(n, n)
    values = mp.matrix(n, 1)
    for i, x in enumerate(nodes):
        values[i] = f(x)
        for j in range(n):
            matrix[i, j] = x**j
    found = mp.lu_solve(matrix, values)
    coefficients = [found[j] for j in range(n)]
    checks = [low + (high - low) * i / 400 for i in range(401)]
    error = max(abs(sum(c * x**j for j, c in enumerate(coefficients)) - f(x)) for x in checks if x != 0)
    return coefficients, error


def near(f, low, high, n):
    """As `fit`, of a function whose value at 0 is a limit."""
    least = mpf(2) ** -90
    return fit(lambda x: f(x if abs(x) > least else least), low, high, n)


def write(name, head, items):
    lines = [f"//! {line}" if line else "//!" for line in head]
    text = "\n".join(lines) + "\n//!\n//! Written by `tables.py`.\n\n" + "\n".join(items)
    (FOLDER / f"{name}.rs").write_text(text)


def exponential():
    step = LN2 / 16
    powers = [mpf(2) ** (mpf(i) / 16) for i in range(16)]
    heads = [two(p)[0] for p in powers]
    tails = [(p - mpf(h)) / mpf(h) for p, h in zip(powers, heads)]
    bound = step / 2 * (1 + mpf(2) ** -20)
    q, error = near(lambda r: (exp(r) - 1 - r - r * r / 2) / r**3, -bound, bound, 5)
    print("exp", mp.nstr(error * bound**3, 3))
    ten = log(mpf(10))
    write(
        "exponential",
        ["Constants of exponentials: powers of two to sixteenths, and a polynomial."],
        [
            table("POWERS", "`2^(i / 16)`, rounded.", heads),
            table("TAILS", "The exact powers less the rounded ones, in parts of these.", tails),
            array("REST", "`(exp(r) - 1 - r - r^2 / 2) / r^3` for `|r| <= ln(2) / 32`.", q),
            number("STEPS", "Sixteenths of powers of two in a power of e: `16 / ln(2)`.", 16 / LN2),
            number("STEP", "`ln(2) / 16`, its high part.", two(step)[0]),
            number("STEP_LOW", "`ln(2) / 16`, its low part.", two(step)[1]),
            number("STEPS_10", "Sixteenths of powers of two in a power of ten.", 16 * ten / LN2),
            number("STEP_10", "`log10(2) / 16`, its high part.", two(LN2 / ten / 16)[0]),
            number("STEP_10_LOW", "`log10(2) / 16`, its low part.", two(LN2 / ten / 16)[1]),
            number("LN_2", "`ln(2)`, its high part.", two(LN2)[0]),
            number("LN_2_LOW", "`ln(2)`, its low part.", two(LN2)[1]),
            number("LN_10", "`ln(10)`, its high part.", two(ten)[0]),
            number("LN_10_LOW", "`ln(10)`, its low part.", two(ten)[1]),
        ],
    )


def centres(count, offset):
    """The intervals of mantissas that a logarithm looks up, as the bits less `offset` order them."""
    import struct

    def of(bits):
        return mpf(struct.unpack("<d", struct.pack("<Q", bits))[0])

    width = (1 << 52) // count
    return [(of(offset + i * width), of(offset + (i + 1) * width)) for i in range(count)]


def logarithm():
    offset = 0x3FE6_8000_0000_0000
    inverses, most = [], mpf(0)
    for low, high in centres(16, offset):
        inverse = mpf(1) if low <= 1 < high else grid(2 / (low + high), mpf(2) ** -10)
        inverses.append(inverse)
        most = max(most, abs(low * inverse - 1), abs(high * inverse - 1))
    p, error = near(lambda r: (log(1 + r) - r + r * r / 2) / r**3, -most, most, 8)
    print("log", mp.nstr(most, 4), mp.nstr(error * most**2, 3))
    items = [
        table("INVERSES", "Inverses of the middles of the intervals, to ten bits.", inverses),
        array("REST", "`(log(1 + r) - r + r^2 / 2) / r^3` for `r` in every interval.", p),
    ]
    for name, base in [("E", None), ("2", mpf(2)), ("10", mpf(10))]:
        scale = 1 / log(base) if base else mpf(1)
        step = mpf(2) ** -42
        of_two = grid(LN2 * scale, step)
        heads, tails = [], []
        for inverse in inverses:
            exact = -log(inverse) * scale
            heads.append(grid(exact, step))
            tails.append(exact - heads[-1])
        items += [
            table(f"HEADS_{name}", f"Logarithms to base {name.lower()} of the middles, to 42 bits.", heads),
            table(f"TAILS_{name}", "Their low parts.", tails),
            number(f"TWO_{name}", f"The logarithm of 2 to base {name.lower()}, to 42 bits.", of_two),
            number(f"TWO_{name}_LOW", "Its low part.", LN2 * scale - of_two),
        ]
        items += [
            number(f"SCALE_{name}", f"The logarithm of e to base {name.lower()}, its high part.", two(scale)[0]),
            number(f"SCALE_{name}_LOW", "Its low part.", two(scale)[1]),
        ] if base else []
    write("logarithm", ["Constants of logarithms, for each base."], items)


def power():
    # The middle of an interval stands at 1.
    offset = 0x3FF0_0000_0000_0000 - (1 << 52) * 38 // 128 - (1 << 44)
    inverses, heads, tails, most = [], [], [], mpf(0)
    step = mpf(2) ** -42
    for low, high in centres(128, offset):
        inverse = mpf(1) if low <= 1 < high else grid(2 / (low + high), mpf(2) ** -13)
        inverses.append(inverse)
        exact = -log(inverse)
        heads.append(grid(exact, step))
        tails.append(exact - heads[-1])
        most = max(most, abs(low * inverse - 1), abs(high * inverse - 1))
    p, error = near(lambda r: (log(1 + r) - r + r * r / 2) / r**3, -most, most, 7)
    print("pow", hex(offset), mp.nstr(most, 4), mp.nstr(error * most**2, 3), mp.nstr(log(error * most**2, 2), 4))
    write(
        "power",
        ["Constants of powers: logarithms to twice the precision."],
        [
            f"/// The bits at which the first interval starts.\npub const START: u64 = {offset:#018x};\n",
            table("INVERSES", "Inverses of the middles of the intervals, to 13 bits.", inverses),
            table("HEADS", "Logarithms of the middles, to 42 bits.", heads),
            table("TAILS", "Their low parts.", tails),
            array("REST", "`(log(1 + r) - r + r^2 / 2) / r^3` for `r` in every interval.", p),
        ],
    )


def trigonometric():
    step = pi / 16
    sines = [sin(i * step) for i in range(16)]
    cosines = [cos(i * step) if i != 8 else mpf(0) for i in range(16)]
    high = two(step)[0]
    middle = float(short(step - mpf(high), 28))
    low = float(step - mpf(high) - mpf(middle))
    bound = step / 2 * (1 + mpf(2) ** -20)
    z = bound**2
    s, error = near(lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z, mpf(2) ** -60, z, 4)
    print("sin", mp.nstr(error * bound**3, 3))
    c, error = near(lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, mpf(2) ** -60, z, 3)
    print("cos", mp.nstr(error * z**2, 3))
    # Half of the inverse of pi, to 1280 bits.
    mp.prec = 1600
    words = int(mp.floor(mpf(2) ** 1279 / mp.pi))
    mp.prec = 600
    listed = [(words >> (64 * (19 - i))) & (2**64 - 1) for i in range(20)]
    words = "\n".join("    " + " ".join(f"{w:#018x}," for w in listed[i : i + 4]) for i in range(0, 20, 4))
    write(
        "trigonometric",
        ["Constants of sine, cosine and tangent: sines of sixteenths of pi, pi in parts, polynomials."],
        [
            table("SINES", "Sines of `i * pi / 16`, rounded.", [two(x)[0] for x in sines]),
            table("COSINES", "Cosines of `i * pi / 16`, rounded.", [two(x)[0] for x in cosines]),
            table("COSINES_LOW", "The low parts of the cosines.", [two(x)[1] for x in cosines]),
            table("SINES_LOW", "The low parts of the sines.", [two(x)[1] for x in sines]),
            array("SINE", "`(sin(r) - r) / r^3` in powers of `r^2` for `|r| <= pi / 32`.", s),
            array("COSINE", "`(cos(r) - 1 + r^2 / 2) / r^4` in powers of `r^2`.", c),
            number("SIXTEENTHS", "Sixteenths of pi in one: `16 / pi`.", 1 / step),
            number("SIXTEENTH", "`pi / 16`, its high part.", high),
            number("SIXTEENTH_MIDDLE", "Its next 28 bits.", middle),
            number("SIXTEENTH_LOW", "The low parts of these.", low),
            number("SIXTEENTH_REST", "`pi / 16` less its high part.", two(step)[1]),
            "/// `16 / pi` as a fraction of 32, in words from the highest.\n#[rustfmt::skip]\n"
            f"pub static INVERSE: [u64; 20] = [\n{words}\n];\n",
        ],
    )


def inverse_trigonometric():
    bound = mpf(2) ** -4
    a, error = near(lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z, mpf(2) ** -60, bound, 9)
    print("atan", mp.nstr(error * bound, 3))
    items = [array("ARC", "`(atan(q) - q) / q^3` in powers of `q^2` for `|q| <= 1/4`.", a)]
    for name, doc, x in [
        ("HALF", "The arc tangent of 1/2", atan(mpf(1) / 2)),
        ("ONE", "The arc tangent of 1", pi / 4),
        ("RIGHT", "A right angle", pi / 2),
        ("STRAIGHT", "A straight angle", +pi),
    ]:
        items += [
            number(name, f"{doc}, its high part.", two(x)[0]),
            number(f"{name}_LOW", "Its low part.", two(x)[1]),
        ]
    write("inverse_trigonometric", ["Constants of the arc tangent."], items)


def error_function():
    points = [mpf(i) / 64 for i in range(385)]
    values = [erf(r) for r in points]
    slopes = [2 / sqrt(pi) * exp(-r * r) for r in points]
    write(
        "error",
        ["Constants of the error function at multiples of 1/64."],
        [
            table("VALUES", "The error function.", [two(v)[0] for v in values]),
            table("VALUES_LOW", "Its low part.", [two(v)[1] for v in values], 9),
            table("SLOPES", "Its derivative.", [two(s)[0] for s in slopes]),
            table("SLOPES_LOW", "Its low part.", [two(s)[1] for s in slopes], 9),
        ],
    )


def hyperbolic():
    c, error = fit(lambda x: 1 / x, 1, 2, 4)
    print("inverse", mp.nstr(log(error, 2), 3))
    write("hyperbolic", ["Constants of the hyperbolic tangent."], [array("INVERSE", "`1 / x` for `x` in `[1, 2]`, to ten bits or so.", c)])


def root():
    c, error = near(lambda m: m ** (-mpf(1) / 3), mpf(1) / 2, 4, 5)
    print("cbrt", mp.nstr(error, 3))
    write("root", ["Constants of the cube root."], [array("INVERSE", "`m^(-1/3)` for `m` in `[1/2, 4]`, to seven bits or so.", c)])


exponential()
logarithm()
power()
trigonometric()
inverse_trigonometric()
error_function()
hyperbolic()
root()
