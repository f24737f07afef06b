#!/usr/bin/env python3
"""Whole layers, forward and backward, against PyG's own, in turns on one thread.

Runs in a Python that has torch_geometric, and starts bench_convs for our side:

    build/bench/tests/bench/bench_rounds export FOLDER 60000
    build/bench/tests/bench/bench_convs export FOLDER
    PYTHON tests/bench/convs.py --bench build/bench/tests/bench/bench_convs --graph FOLDER

PyG's layers are given a pair of edge lists or a sparse CSR matrix, whichever is faster for them is
what counts. Its GCN takes no pairs of sources and targets: on blocks it makes rows for all sources.
"""
import argparse
import time

import numpy as np
import torch
from torch_geometric.nn import GATConv, GATv2Conv, GCNConv, GINConv

from turns import Server, in_turns, spread

COUNT = 2  # runs a round
IN, OUT, HEADS = 100, 64, 4


def layers():
    def gin():
        return GINConv(torch.nn.Sequential(torch.nn.Linear(IN, OUT), torch.nn.ReLU(), torch.nn.Linear(OUT, OUT)))
    return {
        "GCN": GCNConv(IN, OUT, add_self_loops=False),
        "GAT": GATConv(IN, OUT // HEADS, heads=HEADS, add_self_loops=False),
        "GATv2": GATv2Conv(IN, OUT // HEADS, heads=HEADS, add_self_loops=False),
        "GIN": gin(),
    }


def timed(layer, x, edges, dy):
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(COUNT):
        layer(x, edges).backward(dy)
        (x[0] if isinstance(x, tuple) else x).grad = None
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", required=True, help="the program bench_convs")
    parser.add_argument("--graph", required=True, help="the folder that bench_rounds exported to")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for part in ("block", "graph"):
        start = f"{options.graph}/convs_{part}"
        try:
            sources, targets, sizes = (np.load(f"{start}_{name}.npy") for name in ("sources", "targets", "sizes"))
        except FileNotFoundError:
            continue
        num_sources, num_targets = (int(size) for size in sizes)
        pairs = torch.from_numpy(np.stack([sources, targets]))
        indptr = torch.from_numpy(np.concatenate([[0], np.bincount(targets, minlength=num_targets).cumsum()]))
        square = torch.cat([indptr, indptr.new_full((num_sources - num_targets,), len(sources))])
        print(f"{part}: {len(sources)} edges from {num_sources} sources to {num_targets} targets")
        ours = Server([options.bench, "serve", options.graph, part])
        for name, layer in layers().items():
            whole = name == "GCN"
            rows = num_sources if whole else num_targets
            x = torch.rand(num_sources, IN, requires_grad=True)
            pair = x if whole else (x, x[:num_targets])
            dy = torch.rand(rows, OUT)
            csr = torch.sparse_csr_tensor(square if whole else indptr, torch.from_numpy(sources),
                                          torch.ones(len(sources)), (rows, num_sources))
            sides = {"libgnnmg": lambda: ours.ask(name, COUNT)}
            for way, edges in (("PyG, edge lists", pairs), ("PyG, sparse CSR", csr)):
                try:
                    timed(layer, pair, edges, dy)
                except (ValueError, TypeError, NotImplementedError, RuntimeError, AssertionError) as error:
                    print(f"  {name:6} {way}: {str(error).splitlines()[0][:90]}")
                    continue
                sides[way] = lambda edges=edges: timed(layer, pair, edges, dy)
            in_turns(sides, 1)  # not counted
            results, others = in_turns(sides, options.repeat)
            first = results["libgnnmg"]
            for way, answers in results.items():
                cpu = [answer["cpu"] / COUNT * 1e3 for answer in answers]
                of_ours = [answer["cpu"] / one["cpu"] for answer, one in zip(answers, first)]
                print(f"  {name:6} {way:16} CPU {spread(cpu, 1)} ms; of ours {spread(of_ours)}"
                      f" (others {100 * others:.0f} %)", flush=True)
        ours.close()


if __name__ == "__main__":
    main()
