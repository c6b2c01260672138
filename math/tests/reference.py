"""Writes `math/tests/it/reference.txt`: arguments and correctly rounded results, as the bits of floats.

`python3 math/tests/reference.py`; it needs mpmath (gmpy2 makes it fast). Results are computed to 300 bits. Rows
that start with `?` are hard: of many random arguments, those whose result is nearest to the middle between two
floats, where either of them may come out.
"""

import math
import random
import struct
from pathlib import Path

from mpmath import mp, mpf

mp.prec = 300
RANDOM = random.Random(18)
INF, NAN = math.inf, math.nan
PLAIN, HARD, TRIED = 80, 30, 3000


def bits(x):
    return "nan" if x != x else f"{struct.unpack('<Q', struct.pack('<d', x))[0]:016x}"


def rounded(x):
    """The nearest float, ties to even, subnormals and overflow included."""
    if x == 0:
        return 0.0
    exponent = max(int(mp.floor(mp.log(abs(x), 2))) - 52, -1074)
    whole = int(mp.nint(x * mpf(2) ** -exponent))
    try:
        return math.ldexp(whole, exponent)
    except OverflowError:
        return math.copysign(INF, whole)


def distance(x):
    """How far a number is from the middle between two floats, in units of the last place."""
    exponent = max(int(mp.floor(mp.log(abs(x), 2))) - 52, -1074)
    scaled = x * mpf(2) ** -exponent
    return abs(abs(scaled - mp.floor(scaled)) - mpf(1) / 2)


def uniform(low, high):
    return lambda: RANDOM.uniform(low, high)


def size(low, high, signed=True):
    def draw():
        x = 2.0 ** RANDOM.uniform(low, high)
        return -x if signed and RANDOM.random() < 0.5 else x

    return draw


def any_bits():
    while True:
        x = struct.unpack("<d", struct.pack("<Q", RANDOM.getrandbits(64)))[0]
        if math.isfinite(x):
            return x


def near(step, spread):
    def draw():
        middle = RANDOM.randint(1, 100) * step
        return middle * (1 + RANDOM.uniform(-spread, spread))

    return draw


ODD = [(0.0, 0.0), (-0.0, -0.0), (NAN, NAN), (5e-324, 5e-324), (-1e-310, -1e-310), (1e-300, 1e-300)]
LOGS = [(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (INF, INF), (NAN, NAN), (-1.0, NAN), (-INF, NAN)]
ANGLES = [ODD, [(INF, NAN), (-INF, NAN)]]
ONE = [uniform(-1, 1)]

FUNCTIONS = {
    "exp": (mp.exp, [ONE, [uniform(-708, 709.7)], [uniform(-745, -708)], [size(-60, 0)]],
            [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN), (710.0, INF), (-746.0, 0.0),
             (-745.0, 5e-324), (709.782712893384, 1.7976931348622732e308)]),
    "exp2": (lambda x: mpf(2) ** x, [ONE, [uniform(-1022, 1023.9)], [uniform(-1074, -1022)]],
             [(0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN), (1024.0, INF), (-1076.0, 0.0), (-1074.0, 5e-324),
              (10.0, 1024.0), (-1022.0, 2.2250738585072014e-308), (1023.0, 2.0**1023)]),
    "exp10": (lambda x: mpf(10) ** x, [ONE, [uniform(-307, 308.2)], [uniform(-323, -307)]],
              [(0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN), (309.0, INF), (-324.0, 0.0)]
              + [(float(k), float(f"1e{k}")) for k in range(-22, 23)]),
    "expm1": (mp.expm1, [ONE, [uniform(-60, 709)], [size(-300, 0)], [uniform(-0.1, 0.1)]],
              ODD + [(INF, INF), (-INF, -1.0), (710.0, INF), (-708.0, -1.0), (-750.0, -1.0)]),
    "log": (mp.log, [[uniform(0.5, 2)], [size(-1022, 1023, False)], [uniform(0.95, 1.05)], [size(-1074, -1022, False)]],
            LOGS),
    "log2": (lambda x: mp.log(x, 2), [[uniform(0.5, 2)], [size(-1022, 1023, False)], [uniform(0.95, 1.05)],
                                      [size(-1074, -1022, False)]],
             LOGS + [(2.0**k, float(k)) for k in (-1074, -1022, -5, -1, 1, 3, 10, 1023)]),
    "log10": (mp.log10, [[uniform(0.5, 2)], [size(-1022, 1023, False)], [uniform(0.95, 1.05)],
                         [size(-1074, -1022, False)]],
              LOGS + [(float(f"1e{k}"), float(k)) for k in range(1, 23)]),
    "log1p": (mp.log1p, [[uniform(-0.9, 1)], [size(-300, 1023, False)], [uniform(-0.05, 0.05)], [size(-60, -1)]],
              ODD + [(-1.0, -INF), (-2.0, NAN), (-INF, NAN), (INF, INF)]),
    "sin": (mp.sin, [ONE, [uniform(-100, 100)], [uniform(-4e6, 4e6)], [size(22, 1023)], [near(math.pi, 1e-9)]],
            sum(ANGLES, [])),
    "cos": (mp.cos, [ONE, [uniform(-100, 100)], [uniform(-4e6, 4e6)], [size(22, 1023)], [near(math.pi / 2, 1e-9)]],
            ANGLES[1] + [(0.0, 1.0), (-0.0, 1.0), (NAN, NAN), (1e-300, 1.0)]),
    "tan": (mp.tan, [ONE, [uniform(-100, 100)], [uniform(-4e6, 4e6)], [size(22, 1023)], [near(math.pi / 2, 1e-9)]],
            sum(ANGLES, [])),
    "asin": (mp.asin, [ONE, [size(-60, 0)], [lambda: 1 - 2.0 ** RANDOM.uniform(-50, -1)]],
             ODD + [(1.5, NAN), (-INF, NAN), (1.0, math.pi / 2), (-1.0, -math.pi / 2)]),
    "acos": (mp.acos, [ONE, [size(-60, 0)], [lambda: 1 - 2.0 ** RANDOM.uniform(-50, -1)],
                       [lambda: 2.0 ** RANDOM.uniform(-50, -1) - 1]],
             [(1.0, 0.0), (-1.0, math.pi), (0.0, math.pi / 2), (-0.0, math.pi / 2), (NAN, NAN), (1.5, NAN),
              (INF, NAN)]),
    "atan": (mp.atan, [ONE, [uniform(-10, 10)], [size(-60, 60)]],
             ODD + [(INF, math.pi / 2), (-INF, -math.pi / 2), (1e300, math.pi / 2)]),
    "atan2": (mp.atan2, [[uniform(-1, 1), uniform(-1, 1)], [size(-60, 60), size(-60, 60)], [any_bits, any_bits],
                         [size(-1074, -1060), size(-1074, -1060)], [size(1000, 1023), size(1000, 1023)]],
              [(0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (0.0, -0.0, math.pi), (-0.0, -0.0, -math.pi), (1.0, 0.0, math.pi / 2),
               (-1.0, -0.0, -math.pi / 2), (0.0, 1.0, 0.0), (-0.0, 1.0, -0.0), (0.0, -1.0, math.pi),
               (INF, INF, math.pi / 4), (INF, -INF, 3 * math.pi / 4), (-INF, 1.0, -math.pi / 2), (1.0, INF, 0.0),
               (-1.0, INF, -0.0), (1.0, -INF, math.pi), (NAN, 1.0, NAN), (1.0, NAN, NAN), (1e-300, 1e300, 0.0)]),
    "sinh": (mp.sinh, [ONE, [uniform(-20, 20)], [uniform(-710.4, 710.4)], [size(-60, 0)]],
             ODD + [(INF, INF), (-INF, -INF), (711.0, INF), (-711.0, -INF)]),
    "cosh": (mp.cosh, [ONE, [uniform(-20, 20)], [uniform(-710.4, 710.4)], [size(-60, 0)]],
             [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, INF), (NAN, NAN), (711.0, INF)]),
    "tanh": (mp.tanh, [ONE, [uniform(-20, 20)], [size(-60, 0)]],
             ODD + [(INF, 1.0), (-INF, -1.0), (30.0, 1.0), (-700.0, -1.0)]),
    "pow": (lambda x, y: x**y, [[uniform(0, 2), uniform(-10, 10)], [size(-1022, 1023, False), uniform(-1, 1)],
                                [uniform(0.99, 1.01), uniform(-50000, 50000)], [size(-1074, -1022, False), uniform(-1, 1)],
                                [uniform(0.1, 0.5), uniform(310, 320)],
                                [lambda: -RANDOM.uniform(1, 9), lambda: float(RANDOM.randint(-300, 300))]],
            [(0.0, 0.0, 1.0), (NAN, 0.0, 1.0), (1.0, NAN, 1.0), (1.0, INF, 1.0), (-1.0, INF, 1.0), (-1.0, -INF, 1.0),
             (0.0, 2.0, 0.0), (-0.0, 3.0, -0.0), (-0.0, 2.0, 0.0), (0.0, -1.0, INF), (-0.0, -1.0, -INF),
             (-0.0, -2.0, INF), (-0.0, 0.5, 0.0), (-0.0, -0.5, INF), (INF, 2.0, INF), (INF, -2.0, 0.0),
             (-INF, 3.0, -INF), (-INF, 2.0, INF), (-INF, -3.0, -0.0), (-INF, 0.5, INF), (2.0, INF, INF),
             (2.0, -INF, 0.0), (0.5, INF, 0.0), (0.5, -INF, INF), (-2.0, INF, INF), (-0.5, INF, 0.0), (0.0, INF, 0.0),
             (0.0, -INF, INF), (-2.0, 0.5, NAN), (-2.0, 3.0, -8.0), (-2.0, -3.0, -0.125), (2.0, NAN, NAN),
             (NAN, 2.0, NAN), (2.0, 1024.0, INF), (2.0, -1074.0, 5e-324), (2.0, -1080.0, 0.0), (-2.0, 1025.0, -INF),
             (-2.0, -1081.0, -0.0), (10.0, 2.0, 100.0), (10.0, 22.0, 1e22), (3.0, 33.0, float(3**33)), (4.0, 0.5, 2.0),
             (1e308, -0.5, 1e-154), (0.9999999999999999, 1e300, 0.0), (1.0000000000000002, 1e300, INF),
             (-1.0, 9007199254740993.0, 1.0), (-1.0, 9007199254740991.0, -1.0)]),
    "erf": (mp.erf, [ONE, [uniform(-6, 6)], [uniform(-0.1, 0.1)], [size(-300, 0)]], ODD[:3] + [(INF, 1.0), (-INF, -1.0), (7.0, 1.0)]),
    "cbrt": (lambda x: mp.cbrt(x) if x > 0 else -mp.cbrt(-x), [ONE, [any_bits], [size(-1074, -1022)]],
             ODD[:3] + [(INF, INF), (-INF, -INF)] + [(float(k**3), float(k)) for k in range(-9, 10) if k]),
    "hypot": (lambda x, y: mp.sqrt(x * x + y * y), [[uniform(-1, 1), uniform(-1, 1)], [size(-3, 3), size(-3, 3)],
                                                    [size(-1074, -1000), size(-1074, -1000)],
                                                    [size(1000, 1023), size(1000, 1023)], [any_bits, any_bits]],
              [(0.0, 0.0, 0.0), (-0.0, 0.0, 0.0), (3.0, 4.0, 5.0), (INF, NAN, INF), (NAN, -INF, INF), (NAN, 1.0, NAN),
               (1.0, NAN, NAN), (INF, 1.0, INF), (0.0, -3.0, 3.0), (5e-324, 0.0, 5e-324), (1.5e308, 1.5e308, INF)]),
    "sqrt": (mp.sqrt, [[uniform(0, 2)], [size(-1022, 1023, False)], [size(-1074, -1022, False)]],
             ODD[:3] + [(INF, INF), (-INF, NAN), (-1.0, NAN), (4.0, 2.0), (5e-324, 2.0**-537)]),
}


def main():
    lines = []
    for name, (function, ranges, special) in FUNCTIONS.items():
        exact = lambda args: function(*map(mpf, args))
        lines += [" ".join([name, *map(bits, row)]) for row in special]
        for draws in ranges:
            tried = []
            for i in range(TRIED):
                args = tuple(draw() for draw in draws)
                value = exact(args)
                if value == 0 or not math.isfinite(rounded(value)):
                    continue
                if i < PLAIN // len(ranges):
                    lines.append(" ".join([name, *map(bits, args), bits(rounded(value))]))
                elif abs(rounded(value)) > 0:
                    tried.append((distance(value), args, rounded(value)))
            tried.sort(key=lambda row: row[0])
            for _, args, value in tried[: HARD // len(ranges)]:
                lines.append(" ".join(["?", name, *map(bits, args), bits(value)]))
    (Path(__file__).parent / "it" / "reference.txt").write_text("\n".join(lines) + "\n")


main()
