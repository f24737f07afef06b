#!/usr/bin/env python3
"""Compares aggregation along the edges of a sampled block with DGL or PyG, in turns.

Needs a Python with dgl or torch_geometric, and starts bench_nn for our side:

    build/bench/tests/bench/bench_rounds export FOLDER 2449029
    build/bench/tests/bench/bench_nn export FOLDER
    PYTHON tests/bench/layers.py --bench build/bench/tests/bench/bench_nn --graph FOLDER

DGL aggregates with its message passing kernels, PyG as in its SAGEConv, from a pair of edge lists
(gather and scatter) or a sparse CSR matrix. Peers allocate their results as usual; with
GLIBC_TUNABLES=glibc.malloc.mmap_threshold=17179869184:glibc.malloc.trim_threshold=17179869184 in
the environment they keep the pages of earlier ones.
"""
import argparse
import time

import numpy as np
import torch

from turns import Server, in_turns, machine, spread

COUNT = 2  # runs per round


class Dgl:
    def __init__(self, indptr, indices, sources):
        import dgl
        self.ops = dgl.ops
        self.graph = dgl.create_block(("csc", (indptr, indices, [])), num_src_nodes=sources,
                                      num_dst_nodes=len(indptr) - 1)
        self.graph.create_formats_()
        self.ways = {"DGL": self.aggregate}

    def aggregate(self, x, reduce):
        return getattr(self.ops, f"copy_u_{reduce}")(self.graph, x)


class Pyg:
    def __init__(self, indptr, indices, sources):
        from torch_geometric.utils import scatter, spmm
        self.scatter, self.spmm = scatter, spmm
        self.indices = indices
        self.size = len(indptr) - 1
        self.targets = torch.repeat_interleave(torch.arange(self.size), indptr.diff())
        self.matrix = torch.sparse_csr_tensor(indptr, indices, torch.ones(len(indices)), (self.size, sources))
        self.ways = {"PyG, edge lists": self.by_edges, "PyG, sparse CSR": self.by_rows}

    def by_edges(self, x, reduce):
        return self.scatter(x.index_select(0, self.indices), self.targets, 0, self.size, reduce)

    def by_rows(self, x, reduce):
        return self.spmm(self.matrix, x, reduce)


def timed(way, x, reduce, dy, threads):
    torch.set_num_threads(threads)
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(COUNT):
        if dy is None:
            with torch.no_grad():
                way(x, reduce)
        else:
            way(x, reduce).backward(dy)
            x.grad = None
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", required=True, help="the program bench_nn")
    parser.add_argument("--graph", required=True, help="the folder that bench_rounds exported to")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--reduce", nargs="+", default=["mean", "sum", "max"])
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    options = parser.parse_args()
    print(machine(options.bench), flush=True)
    try:
        import dgl  # noqa: F401
        peer_type = Dgl
    except ImportError:
        peer_type = Pyg
    ours = Server([options.bench, "serve", options.graph])
    for fanouts in ("15,10,5", "25,10"):
        start = f"{options.graph}/block_{fanouts}"
        indptr, indices = (torch.from_numpy(np.load(f"{start}_{part}.npy")) for part in ("indptr", "indices"))
        sources = int(np.load(f"{start}_sources.npy")[0])
        peer = peer_type(indptr, indices, sources)
        print(f"[{fanouts}]: {len(indices)} edges from {sources} sources to {len(indptr) - 1} targets")
        for reduce in options.reduce:
            for width in (100, 256):
                x = torch.rand(sources, width, requires_grad=True)
                ones = torch.ones(len(indptr) - 1, width)
                for direction in ("forward", "both"):
                    dy = ones if direction == "both" else None
                    for threads in options.threads:
                        sides = {"libgnnmg": lambda: ours.ask(fanouts, reduce, width, threads, direction, COUNT)}
                        for name, way in peer.ways.items():
                            sides[name] = lambda way=way: timed(way, x, reduce, dy, threads)
                        in_turns(sides, 1)  # not counted
                        results, others = in_turns(sides, options.repeat)
                        first = results["libgnnmg"]
                        for name, rows in results.items():
                            cpu, wall = ([row[kind] / COUNT * 1e3 for row in rows] for kind in ("cpu", "wall"))
                            of_ours = {kind: spread([row[kind] / one[kind] for row, one in zip(rows, first)])
                                       for kind in ("wall", "cpu")}
                            print(f"  {reduce:4} {width} {direction:7} {threads} thread(s) {name:16}"
                                  f" wall {spread(wall, 1)} ms, CPU {spread(cpu, 1)};"
                                  f" of ours: wall {of_ours['wall']}, CPU {of_ours['cpu']}"
                                  f" (others {100 * others:.0f} %)", flush=True)
    ours.close()


if __name__ == "__main__":
    main()
