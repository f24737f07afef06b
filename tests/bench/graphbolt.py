#!/usr/bin/env python3
"""Compares sampling with relabeling, and the gather, with GraphBolt and torch, in turns.

Needs a Python with dgl 2.1.0 (see docs/performance.md) and starts bench_rounds for our side:

    build/bench/tests/bench/bench_rounds export FOLDER 2449029
    PYTHON tests/bench/graphbolt.py --rounds build/bench/tests/bench/bench_rounds --graph FOLDER

Both sides get the same graph and the same mini-batches of 1,024 seeds, one thread each, and make
a new draw for every target of every layer. A round is some mini-batches on one side and then on the
other; rates are edges (or nodes) in the results. CPU time is printed next to wall time, because the
machine may run other programs; "others" is their share of all cores.
"""
import argparse
import statistics
import time

import dgl.graphbolt as gb
import numpy as np
import torch

from turns import Server, in_turns, machine, spread

BATCH = 1024


class GraphBolt:
    def __init__(self, folder, dtype):
        indptr = torch.from_numpy(np.load(f"{folder}/indptr.npy"))
        indices = torch.from_numpy(np.load(f"{folder}/indices.npy")).to(dtype)
        self.graph = gb.fused_csc_sampling_graph(indptr, indices)
        self.train = torch.from_numpy(np.load(f"{folder}/train.npy")).to(dtype)

    def batch(self, number, fanouts):
        """Nodes and number of edges of one mini-batch; fan-outs nearest to the seeds first."""
        nodes = self.train[number * BATCH % (len(self.train) - BATCH):][:BATCH]
        edges = 0
        for fanout in fanouts:
            hop = self.graph.sample_neighbors(nodes, torch.LongTensor([fanout]))
            nodes, compacted = gb.unique_and_compact_csc_formats(hop.sampled_csc, nodes)
            edges += len(compacted.indices)
        return nodes, edges

    def sample(self, fanouts, first, count):
        edges = nodes = 0
        wall, cpu = time.perf_counter(), time.process_time()
        for number in range(first, first + count):
            batch_nodes, batch_edges = self.batch(number, fanouts)
            edges += batch_edges
            nodes += len(batch_nodes)
        return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu,
                "edges": edges, "nodes": nodes}

    def gather(self, table, first, count, out):
        nodes, wall, cpu = 0, 0.0, 0.0
        for number in range(first, first + count):
            ids = self.batch(number, [15, 10, 5])[0].long()
            wall_start, cpu_start = time.perf_counter(), time.process_time()
            if out is None:
                rows = torch.index_select(table, 0, ids)
            else:
                rows = torch.index_select(table, 0, ids, out=out[:len(ids)])
            wall += time.perf_counter() - wall_start
            cpu += time.process_time() - cpu_start
            nodes += len(ids)
            del rows
        return {"wall": wall, "cpu": cpu, "edges": 0, "nodes": nodes}


def compare(title, unit, sides, rounds, batches):
    """Runs the sides in turns and prints rates in million units, and ratios to the first side."""
    for side in sides.values():
        side(0, 2)  # not timed
    number = {name: 0 for name in sides}

    def one(name):
        first = 2 + number[name] * batches
        number[name] += 1
        return sides[name](first, batches)

    results, others = in_turns({name: lambda name=name: one(name) for name in sides}, rounds)
    print(f"\n{title}: {rounds} rounds of {batches} mini-batches, others took "
          f"{100 * others:.0f} % of the machine")
    first = next(iter(sides))
    for name, rows in results.items():
        wall = [row[unit] / row["wall"] / 1e6 for row in rows]
        cpu = [row[unit] / row["cpu"] / 1e6 for row in rows]
        count = sum(row[unit] for row in rows) / rounds / batches
        ratio = [a["cpu"] / a[unit] / (b["cpu"] / b[unit])
                 for a, b in zip(rows, results[first])]
        print(f"  {name:24} {count:9.0f} {unit} a batch, {1e3 * statistics.median(r['cpu'] for r in rows) / batches:7.1f} ms CPU;"
              f" M {unit}/s wall {spread(wall)}, CPU {spread(cpu)};"
              f" CPU time of the first's {spread(ratio)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", required=True, help="the program bench_rounds")
    parser.add_argument("--graph", required=True, help="the folder it exported to")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--batches", type=int, default=8)
    parser.add_argument("--int64", action="store_true", help="also GraphBolt with 64-bit ids")
    parser.add_argument("--cols", type=int, default=100, help="f32 features of the gather")
    options = parser.parse_args()
    print(machine(options.rounds), flush=True)
    torch.set_num_threads(1)

    ours = Server([options.rounds, "serve", options.graph])
    peers = {"GraphBolt int32": GraphBolt(options.graph, torch.int32)}
    if options.int64:
        peers["GraphBolt int64"] = GraphBolt(options.graph, torch.int64)
    for fanouts in ([15, 10, 5], [25, 10]):
        text = ",".join(map(str, fanouts))
        sides = {"libgnnmg every_layer": lambda first, count: ours.ask(
            "sample", "every_layer", text, first, count)}
        for name, peer in peers.items():
            sides[name] = lambda first, count, peer=peer: peer.sample(fanouts, first, count)
        sides["libgnnmg once"] = lambda first, count: ours.ask("sample", "once", text, first, count)
        compare(f"sample + relabel {fanouts}", "edges", sides, options.repeat, options.batches)

    peer = peers["GraphBolt int32"]
    table = torch.ones(peer.graph.total_num_nodes, options.cols)
    out = torch.ones(1 << 20, options.cols)
    compare(f"gather of {4 * options.cols} B rows", "nodes", {
        "libgnnmg, reused output": lambda first, count: ours.ask(
            "gather", options.cols, first, count),
        "index_select": lambda first, count: peer.gather(table, first, count, None),
        "index_select(out=)": lambda first, count: peer.gather(table, first, count, out),
    }, options.repeat, options.batches)


if __name__ == "__main__":
    main()
