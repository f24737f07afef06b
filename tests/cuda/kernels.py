#!/usr/bin/env python3
"""Checks nvcc's machine code of the plug-in's kernels: no kernel spills registers or keeps an array in local memory, each has
enough resident warps per multiprocessor to read memory at full speed, and kernels that move rows in pieces of 16 bytes never
move a single number of a row (checked access by access, in the code for future GPUs).
  kernels.py <cuobjdump or -NOTFOUND> <libgnnmg_cuda.so> <architecture, as 90> ...
  kernels.py --table <cuobjdump> <libgnnmg_cuda.so> <architecture>    registers, shared memory and warps of each, as a list
"""
import collections
import os
import re
import subprocess
import sys

REGISTERS = 65536  # per multiprocessor; warps allocate 256 at a time
WARPS = 64
SHARED = {80: 163 * 1024, 90: 227 * 1024}  # bytes per multiprocessor, 99 KiB elsewhere; blocks take 1 KiB more than declared
BLOCKS = 32
TEAM_THREADS = 256  # launch.cuh's kBlockThreads
LEAST_WARPS = 16  # enough to keep sufficient reads in flight, four of 16 bytes per lane
LEAST_KERNELS = 300  # per architecture; fewer means that the list is incomplete

# Exceptions, as (part of a kernel's name, stack bytes at most, warps at least, reason). Each must be needed.
ALLOWED = [
    ("DeviceScanKernel", 8, 0, "CUB's own, of a scan that is a few microseconds"),
    ("::Attend<float, (gnnmg::cuda::Scores)2, 4>", 16, 16, "one or two numbers twice a tile's edges; half of the warps would cost more"),
    ("::Attend<double", 0, 8, "numbers of f64 take two registers each, and few train in f64"),
]
# Kernels that move pieces of rows, and those that copy rows, which have a second path for unaligned rows.
MOVES_PIECES = re.compile(r"\bByPieces<[24], |\brun_tiles<.*GatherRows<gnnmg::cuda::Keep<")
COPIES = re.compile(r"GatherRows<gnnmg::cuda::Keep<")
HELD_PIECES = 4  # feature/gather.h's kHeldPieces: pieces of a lane in flight at once
# Single numbers that kernels of pieces also read and write, as (part of a kernel's name, "ld" or "st", numbers for each
# instruction that moves a piece, at most, reason); the first match counts. A piece that is split is two or four. Each must be
# needed.
SINGLE = [
    ("SourceGradients<float, (gnnmg::cuda::Scores)2>", "ld", 25, "the edges' matrix, column by column"),
    ("SourceGradients<double, (gnnmg::cuda::Scores)2>", "ld", 13, "as above"),
    ("SourceGradients<", "ld", 1.2, "two weights of each edge, and GATv2's vector"),
    ("ListSum<", "ld", 1, "a weight for each row"),
    ("LastWinner<", "st", 99, "the numbers of edges, which stand apart"),
    ("ColumnParts<", "st", 99, "a column's sums, which stand apart"),
]
ACCESS = re.compile(r"\b(ld|st)\.(?:[a-z]+\.)*global(?:\.\w+(?:::\w+)?)*?(?:\.(v[24]))?\.([usbf]\d+)\b")


class Kernel:
    def __init__(self, name, registers, stack, shared, arch):
        self.name, self.registers, self.stack, self.arch = name, registers, stack, arch
        self.shared = shared
        self.ours = re.search(r"\bgnnmg::cuda::run_(?:(?:each|tiles)<(\d+),|teams<)", name)
        self.cub = re.search(r"\bcub::", name)
        self.threads = int(self.ours[1] or TEAM_THREADS) if self.ours else 0

    def warps(self):
        """Resident on a multiprocessor, as registers, shared memory and threads allow."""
        of_block = self.threads // 32
        blocks = REGISTERS // (-(-self.registers // 8) * 8 * self.threads)
        blocks = min(blocks, WARPS // of_block, BLOCKS, SHARED.get(self.arch, 99 * 1024) // (self.shared + 1024))
        return blocks * of_block

    def short(self):
        return re.sub(r"^void |gnnmg::(cuda::)?|\((long|int64_t),.*$", "", self.name)


def kernels_of(dump):
    found, arch, name = [], 0, None
    for line in dump.splitlines():
        if match := re.match(r"arch = sm_(\d+)", line):
            arch = int(match[1])
        elif match := re.match(r" Function (\S+):", line):
            name = match[1]
        elif name and (match := re.search(r"REG:(\d+) STACK:(\d+) SHARED:(\d+) LOCAL:(\d+)", line)):
            registers, stack, shared, local = map(int, match.groups())
            found.append((name, registers, stack + local, shared, arch))
            name = None
    return [Kernel(name, *k[1:]) for name, k in zip(plain([k[0] for k in found]), found, strict=True)]


def plain(names):
    return subprocess.run(["c++filt"], input="\n".join(names), text=True, check=True, capture_output=True).stdout.splitlines()


def accesses_of(name, body):
    """Instructions that read or write pieces, and those for less; whole numbers that are read alone are places in lists."""
    copies, two = COPIES.search(name), "ByPieces<2" in name
    pieces, numbers = collections.Counter(), collections.Counter()
    for what, vector, type_ in ACCESS.findall(body):
        if vector == "v4" or vector and (two or type_ == "f64"):
            pieces[what] += 1
        elif vector or what == "st" or type_ in ("f32", "f64", "u16", "b16") or copies and type_ in ("u8", "u32"):
            numbers[what] += 1
    return pieces, numbers


def narrow_of(ptx, archs):
    """Faults of kernels that should move 16 bytes at once."""
    parts = re.split(r"\.entry (\w+)\(", ptx)[1:]
    faults, seen, needed = [], 0, set()
    for name, body in zip(plain(parts[::2]), parts[1::2], strict=True):
        if not MOVES_PIECES.search(name):
            continue
        seen += 1
        copies = COPIES.search(name)
        pieces, numbers = accesses_of(name, body)
        for what, how in (("ld", "reads"), ("st", "writes")):
            entry = next((e for e in SINGLE if e[0] in name and e[1] == what), None)
            if copies and pieces[what] < HELD_PIECES:
                faults.append(f"{name}: {how} {pieces[what]} pieces at once, expected {HELD_PIECES}")
            if copies and what == "st":
                continue
            most = entry[2] * max(pieces[what], 1) if entry else 0
            if numbers[what] > most or pieces[what] + numbers[what] == 0:
                faults.append(f"{name}: {how} {numbers[what]} single numbers beside {pieces[what]} pieces, expected {most:g} at "
                              "most: nvcc takes pieces apart where their instruction is not spelled out")
            elif numbers[what]:
                needed.add(entry)
    if {80, 90} <= set(archs):
        faults += [f"nothing needs single numbers of {e[0]} ({e[1]}) any more: take it away" for e in SINGLE if e not in needed]
    return faults if seen else ["no kernel that moves pieces of rows was found"]


def faults_of(kernels, archs):
    faults, needed = [], set()
    for kernel in kernels:
        stack, warps, reason = 0, LEAST_WARPS, None
        for entry in ALLOWED:
            if entry[0] in kernel.name:
                stack, warps, reason = entry[1], entry[2], entry
        where = f"sm_{kernel.arch} {kernel.short()}"
        if not kernel.ours and not kernel.cub:
            faults.append(f"{where}: no kernel that this test knows how it is started")
            continue
        if kernel.stack > 0 and kernel.stack <= stack:
            needed.add(reason)
        elif kernel.stack > 0:
            faults.append(f"{where}: {kernel.stack} bytes of a thread's own memory, expected {stack}: registers that are "
                          "spilled, or an array with places that are not known when it is compiled; say less "
                          "kLeastBlocks, or hold less")
        if not kernel.ours:
            continue
        resident = kernel.warps()
        if resident >= warps and resident < LEAST_WARPS:
            needed.add(reason)
        elif resident < warps:
            faults.append(f"{where}: {resident} warps of a multiprocessor at {kernel.registers} registers, {kernel.shared} "
                          f"bytes of shared memory and blocks of {kernel.threads}, expected {warps} or more; say more "
                          "kLeastBlocks, or hold less")
    for arch in archs:
        count = sum(kernel.arch == arch and bool(kernel.ours) for kernel in kernels)
        if count < LEAST_KERNELS:
            faults.append(f"sm_{arch}: {count} kernels, expected {LEAST_KERNELS} and more")
    if {80, 90} <= set(archs):  # the architectures of the exceptions
        faults += [f"nothing needs the exception for {entry[0]} any more: take it away" for entry in ALLOWED
                   if entry not in needed]
    return faults


def main(arguments):
    table = arguments[:1] == ["--table"]
    cuobjdump, plugin, *archs = arguments[1:] if table else arguments
    has_ptx = any(not arch.endswith("-real") for arch in archs)
    archs = [int(re.match(r"\d+", arch)[0]) for arch in archs]
    if cuobjdump.endswith("NOTFOUND"):
        print("needs cuobjdump, of a CUDA toolkit or as src/cmake/setup.sh --cuda-compiler fetches it")
        return 1 if os.environ.get("CI") == "true" else 77
    dump = subprocess.run([cuobjdump, "--dump-resource-usage", plugin], text=True, check=True, capture_output=True).stdout
    ptx = subprocess.run([cuobjdump, "--dump-ptx", plugin], text=True, check=True, capture_output=True).stdout
    kernels = kernels_of(dump)
    if table:
        for kernel in sorted((k for k in kernels if k.arch == archs[0] and k.ours), key=Kernel.short):
            print(f"{kernel.registers:3} registers {kernel.shared:6} B shared {kernel.warps():2} warps  {kernel.short()}")
        return 0
    faults = faults_of(kernels, archs) + (narrow_of(ptx, archs) if has_ptx else [])
    print(*faults, sep="\n")
    ours = [kernel for kernel in kernels if kernel.ours]
    if not faults:
        print(f"{len(ours)} kernels, {min(k.warps() for k in ours)} warps and more of each: none spills or moves pieces of rows "
              "number by number, exceptions apart")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
