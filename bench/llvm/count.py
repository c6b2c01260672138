#!/usr/bin/env python3
"""Counts the instructions that `functions.rs` executes after LLVM's -O2: writes `counts.txt`.

Needs `rustc` with the LLVM library that it comes with, and nothing else: rustc makes LLVM IR, a counter
is added to each basic block through LLVM's C interface, and the JIT compiler runs the calls of
`calls.txt`. Loops are not vectorised, and not unrolled in part: full unrolling, peeling and unswitching stay.

Each instruction is 1, a call of an intrinsic function too, but these, which are 0 for Regraft as well or have
no counterpart: phis, address computations (getelementptr, ptrtoint, inttoptr, bitcast), jumps without a
condition, alloca, freeze, unreachable, and calls of llvm.assume, llvm.lifetime.*, llvm.experimental.noalias.*.
"""

import ctypes
import glob
import os
import re
import subprocess
import sys
import tempfile
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_uint64, c_void_p

HERE = os.path.dirname(os.path.abspath(__file__))
FLAGS = [
    "--emit=llvm-ir", "-C", "opt-level=2", "-C", "panic=abort", "-C", "no-vectorize-loops", "-C", "no-vectorize-slp",
    "-C", "llvm-args=-unroll-runtime=false -unroll-allow-partial=false",
]
# Opcodes of LLVM's C interface (llvm-c/Core.h).
BR, UNREACHABLE, ALLOCA, GEP, PTR_TO_INT, INT_TO_PTR, BITCAST, PHI, CALL, FREEZE = 2, 7, 26, 29, 39, 40, 41, 44, 45, 68
FREE = {UNREACHABLE, ALLOCA, GEP, PTR_TO_INT, INT_TO_PTR, BITCAST, PHI, FREEZE}
FREE_CALLS = ("llvm.assume", "llvm.lifetime", "llvm.experimental.noalias", "llvm.dbg")
ROOM = 1024
# The code model in which functions of the C library may be anywhere.
LARGE = 6


class Options(ctypes.Structure):
    """LLVMMCJITCompilerOptions."""

    _fields_ = [("level", ctypes.c_uint), ("model", c_int), ("frames", c_int), ("fast", c_int), ("memory", c_void_p)]


def load():
    root = subprocess.check_output(["rustc", "--print", "sysroot"], text=True).strip()
    found = sorted(glob.glob(root + "/lib/libLLVM*.so*"), key=os.path.getsize)
    if not found:
        sys.exit("rustc comes without an LLVM library here")
    return ctypes.CDLL(found[-1])


class LLVM:
    """LLVM's C interface: names without the prefix, pointers unless said otherwise."""

    RESULTS = {
        "GetInstructionOpcode": c_int, "IsConditional": c_int, "IsDeclaration": c_int, "CreateMCJITCompilerForModule": c_int,
        "ParseIRInContext": c_int, "GetFunctionAddress": c_uint64, "GetGlobalValueAddress": c_uint64, "GetTypeKind": c_int, "GetValueName": c_char_p,
        "CreateMemoryBufferWithContentsOfFile": c_int,
    }

    def __init__(self):
        self.library = load()

    def __getattr__(self, name):
        function = getattr(self.library, "LLVM" + name)
        function.restype = self.RESULTS.get(name, c_void_p)

        def call(*args):
            return function(*[c_void_p(a) if isinstance(a, int) and a > 2**31 else a for a in args])

        return call


def chain(first, following, of):
    at = first(of)
    while at:
        yield at
        at = following(at)


def weight(llvm, inst):
    opcode = llvm.GetInstructionOpcode(inst)
    if opcode in FREE or opcode == BR and not llvm.IsConditional(inst):
        return 0
    if opcode == CALL:
        name = (llvm.GetValueName(llvm.GetCalledValue(inst)) or b"").decode()
        return 0 if name.startswith(FREE_CALLS) else 1
    return 1


def instrument(llvm, context, module):
    i64 = llvm.Int64TypeInContext(context)
    executed = llvm.AddGlobal(module, i64, b"executed")
    llvm.SetInitializer(executed, llvm.ConstInt(i64, c_uint64(0), 0))
    builder = llvm.CreateBuilderInContext(context)
    for function in list(chain(llvm.GetFirstFunction, llvm.GetNextFunction, module)):
        name = llvm.GetValueName(function).decode()
        if llvm.IsDeclaration(function):
            if not name.startswith("llvm."):
                # The way to a panic, which no call here takes.
                block = llvm.AppendBasicBlockInContext(context, function, b"")
                llvm.PositionBuilderAtEnd(builder, block)
                llvm.BuildUnreachable(builder)
            continue
        for block in chain(llvm.GetFirstBasicBlock, llvm.GetNextBasicBlock, function):
            insts = list(chain(llvm.GetFirstInstruction, llvm.GetNextInstruction, block))
            cost = sum(weight(llvm, inst) for inst in insts)
            start = next(inst for inst in insts if llvm.GetInstructionOpcode(inst) != PHI)
            llvm.PositionBuilderBefore(builder, start)
            before = llvm.BuildLoad2(builder, i64, executed, b"")
            after = llvm.BuildAdd(builder, before, llvm.ConstInt(i64, c_uint64(cost), 0), b"")
            llvm.BuildStore(builder, after, executed)


def array(kind, n):
    """`floats(n)` and `ints(n)` of `functions.jl`, with room behind them."""
    of = c_double if kind == "floats" else c_int64
    return (of * ROOM)(*[of(7 * i % 11 - 3) for i in range(1, n + 1)]), n


def arguments(text):
    values = []
    for kind, n, number in re.findall(r"(floats|ints)\((\d+)\)|(-?[\d.]+)", text):
        if kind:
            values.append(array(kind, int(n)))
        else:
            values.append(c_double(float(number)) if "." in number else c_int64(int(number)))
    return values


def main():
    llvm = LLVM()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "functions.ll")
        subprocess.check_call(["rustc", *FLAGS, os.path.join(HERE, "functions.rs"), "-o", path])
        context = llvm.ContextCreate()
        buffer, module, error = c_void_p(), c_void_p(), c_char_p()
        if llvm.CreateMemoryBufferWithContentsOfFile(path.encode(), byref(buffer), byref(error)):
            sys.exit(error.value)
        if llvm.ParseIRInContext(context, buffer, byref(module), byref(error)):
            sys.exit(error.value)
        module = module.value
    instrument(llvm, context, module)
    for name in ("TargetInfo", "Target", "TargetMC", "AsmPrinter"):
        getattr(llvm, "InitializeX86" + name)()
    llvm.LinkInMCJIT()
    library = ctypes.CDLL("libm.so.6")
    for name in ("sin", "cos", "exp", "memset", "memcpy", "memmove"):
        llvm.AddSymbol(name.encode(), ctypes.cast(getattr(library, name), c_void_p).value)
    engine, options = c_void_p(), Options(2, LARGE, 0, 0, None)
    if llvm.CreateMCJITCompilerForModule(byref(engine), module, byref(options), ctypes.sizeof(options), byref(error)):
        sys.exit(error.value)
    engine = engine.value
    executed = c_int64.from_address(llvm.GetGlobalValueAddress(engine, b"executed"))
    lines = ["# What LLVM executes for the calls of `calls.txt`, and what the function computes: `count.py` writes this.",
             "# name, instructions, result, sum of the elements of all arrays"]
    for line in open(os.path.join(HERE, "calls.txt")):
        if line.startswith("#") or not line.strip():
            continue
        name, args = re.fullmatch(r".*: (\w+)\((.*)\)", line.strip()).groups()
        returned = llvm.GetReturnType(llvm.GlobalGetValueType(llvm.GetNamedFunction(module, name.encode())))
        result_type = {3: c_double, 8: c_int64}.get(llvm.GetTypeKind(returned))
        values = arguments(args)
        types = [c_void_p if isinstance(v, tuple) else type(v) for v in values]
        address = llvm.GetFunctionAddress(engine, name.encode())
        function = ctypes.CFUNCTYPE(result_type, *types)(address)
        executed.value = 0
        result = function(*[ctypes.addressof(v[0]) if isinstance(v, tuple) else v for v in values])
        total = 0.0
        for v in values:
            if isinstance(v, tuple):
                total += sum(float(x) for x in v[0][: v[1]])
        result = "nothing" if result is None else repr(result)
        lines.append(f"{name} {executed.value} {result} {total!r}")
    with open(os.path.join(HERE, "counts.txt"), "w") as out:
        out.write("\n".join(lines) + "\n")


main()
