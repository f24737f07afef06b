#!/usr/bin/env python3
"""Compares whole layers, forward and backward: ours, plain LibTorch and PyG's, in turns on one thread.

Needs a Python with torch_geometric, and starts bench_convs for our side and the plain one:

    PYTHON tests/bench/convs.py --bench build/bench/tests/bench/bench_convs --data DATA

The inputs are sampled blocks of two generated graphs, all edges of one, and those of the data sets
cora, amazon-photo and coauthor-physics in DATA. "Plain" is index_select, index_add and softmax by scatter
on the same LibTorch. PyG's layers get a pair of edge lists or a sparse CSR matrix, and the faster
of the two counts in every round. No side keeps results from one pass to the next: PyG's GCN has
cached=False, and all sides compute weights from degrees in every pass. The transposed edges, which
our sampler makes with a block, and the CSR matrix of PyG exist before the first pass. PyG's GCN takes
no pairs of sources and targets: on blocks it makes rows for all sources.

Ratios are of CPU time. The exit status is 1 if a median is below its bar.

    PYTHON tests/bench/convs.py --bench build/bench/tests/bench/bench_convs --memory

measures the peak of memory of a pass of GAT and GATv2 over half a million edges, for several numbers
of heads and channels, each in its own process. The exit status is 1 if twice the channels cost at
least a quarter of edges times heads times the additional channels.
"""
import argparse
import os
import statistics
import sys
import tempfile
import time

import numpy as np

BARS = {"plain": 2.0, "PyG": 1.5}
GRAPHS = {  # graph and part of each measurement, by name
    "block-60000": ("log_normal:60000", "block"),
    "block-244903": ("log_normal:244903", "block"),
    "graph-60000": ("log_normal:60000", "graph"),
    "cora": ("cora", "graph"),
    "amazon-photo": ("amazon-photo", "graph"),
    "coauthor-physics": ("coauthor-physics", "graph"),
}
SECONDS = 0.25  # CPU seconds of a side in a round


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", required=True, help="the program bench_convs")
    parser.add_argument("--data", help="the folder of data sets; without it generated graphs alone")
    parser.add_argument("--only", default="", help=f"some of {','.join(GRAPHS)}")
    parser.add_argument("--layers", default="GCN,GAT,GATv2,GIN")
    parser.add_argument("--repeat", type=int, default=5, help="rounds")
    parser.add_argument("--shape", default="100,64,4", help="columns in, columns out, heads")
    parser.add_argument("--no-pyg", action="store_true", help="ours and the plain one alone")
    parser.add_argument("--memory", action="store_true", help="peak memory of attention, no times")
    return parser.parse_args()


def pyg_layers(columns, out, heads):
    import torch
    from torch_geometric.nn import GATConv, GATv2Conv, GCNConv, GINConv
    network = torch.nn.Sequential(torch.nn.Linear(columns, out), torch.nn.ReLU(), torch.nn.Linear(out, out))
    return {
        "GCN": GCNConv(columns, out, cached=False, add_self_loops=False),
        "GAT": GATConv(columns, out // heads, heads=heads, add_self_loops=False),
        "GATv2": GATv2Conv(columns, out // heads, heads=heads, add_self_loops=False),
        "GIN": GINConv(network),
    }


class Pyg:
    """PyG's layers on the edges of the other sides."""

    def __init__(self, start, size, shape):
        import warnings
        import torch
        warnings.filterwarnings("ignore", message="Sparse")  # a warning that CSR tensors are in beta
        self.torch, self.size, self.shape = torch, size, shape
        torch.set_num_threads(1)
        sources, targets = (np.load(f"{start}_{end}.npy") for end in ("sources", "targets"))
        self.pairs = torch.from_numpy(np.stack([sources, targets]))
        self.indptr = torch.from_numpy(np.concatenate([[0], np.bincount(targets, minlength=size["targets"]).cumsum()]))
        self.layers = pyg_layers(*shape)

    def sides(self, name):
        """Functions that run the layer a number of times, by the form of their edges."""
        torch, size, layer = self.torch, self.size, self.layers[name]
        square = name == "GCN" or size["sources"] == size["targets"]
        rows = size["sources"] if square else size["targets"]
        x = torch.rand(size["sources"], self.shape[0], requires_grad=True)
        rows_of_ends = x if square else (x, x[:rows])
        dy = torch.rand(rows, self.shape[1])
        missing = self.indptr.new_full((rows - size["targets"],), len(self.pairs[0]))
        csr = torch.sparse_csr_tensor(torch.cat([self.indptr, missing]), self.pairs[0], torch.ones(len(self.pairs[0])),
                                      (rows, size["sources"]))
        found = {}
        for form, edges in (("lists", self.pairs), ("CSR", csr)):
            def timed(count, edges=edges):
                wall, cpu = time.perf_counter(), time.process_time()
                for _ in range(count):
                    x.grad = None
                    layer(rows_of_ends, edges).backward(dy)
                return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
            try:
                timed(1)
            except (ValueError, TypeError, NotImplementedError, RuntimeError, AssertionError) as error:
                print(f"  {name}: PyG has no form for {form}: {str(error).splitlines()[0][:70]}")
                continue
            found[form] = timed
        return found


def compare(name, ours, pyg, rounds):
    """Prints one line of figures; True if it is within the bars."""
    from turns import in_turns, spread
    difference = ours.ask(name, "check")["difference"]
    sides = {"ours": lambda count: ours.ask(name, "ours", count), "plain": lambda count: ours.ask(name, "plain", count)}
    if pyg:
        sides.update(pyg.sides(name))
    counts = {}
    for side, run in sides.items():
        run(1)
        counts[side] = max(1, round(SECONDS / run(1)["cpu"]))
    results, others = in_turns({side: lambda side=side: sides[side](counts[side]) for side in sides}, rounds)
    ms = {side: [1e3 * answer["cpu"] / counts[side] for answer in answers] for side, answers in results.items()}
    line, good = f"  {name:6} ours {spread(ms['ours'])} ms", True
    peers = {"plain": ("plain", ms["plain"])}
    if pyg:
        form = min((side for side in ms if side not in ("ours", "plain")), key=lambda side: statistics.median(ms[side]))
        best = [min(of_round) for of_round in zip(*(ms[side] for side in ms if side not in ("ours", "plain")))]
        peers["PyG"] = (f"PyG by {form}", best)
    for peer, (label, times) in peers.items():
        ratios = [theirs / mine for theirs, mine in zip(times, ms["ours"])]
        passed = statistics.median(ratios) >= BARS[peer]
        good = good and passed
        line += f"; {label} {spread(ratios)} {'pass' if passed else 'FAIL'}"
    print(f"{line}; results differ by {difference:.0e}; others took {100 * others:.0f} %", flush=True)
    return good


def memory(bench):
    """Peaks of attention on all edges of a graph; True if channels need no memory per edge."""
    from turns import Server
    graph, part = "log_normal:10000", "graph"
    good = True
    for layer in ("GAT", "GATv2"):
        for heads in (2, 4, 8):
            before = {}
            for channels in (8, 16, 32):
                peaks = {}
                for side in ("ours", "plain"):
                    server = Server([bench, "serve", graph, part, "100", str(heads * channels), str(heads)])
                    with tempfile.TemporaryDirectory() as folder:
                        edges = server.ask("edges", f"{folder}/convs")["edges"]
                    peaks[side] = server.ask(layer, f"peak-{side}")["bytes"]
                    server.close()
                line = f"  {layer:5} {edges} edges, {heads} heads of {channels:2} channels: peak of a pass"
                line += f" {peaks['ours'] / 2**20:6.0f} MB, plain {peaks['plain'] / 2**20:6.0f} MB"
                if before:
                    added = peaks["ours"] - before["ours"]
                    passed = added < edges * heads * channels // 2 * 4 / 4
                    good = good and passed
                    line += f"; twice the channels add {added / 2**20:.0f} MB,"
                    line += f" plain {(peaks['plain'] - before['plain']) / 2**20:.0f} MB: {'pass' if passed else 'FAIL'}"
                print(line, flush=True)
                before = peaks
    return good


def main():
    options = arguments()
    shape = [int(number) for number in options.shape.split(",")]
    os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
    from turns import Server, machine
    print(machine(options.bench))
    if options.memory:
        sys.exit(0 if memory(options.bench) else 1)
    print(f"rows of {shape[0]} to {shape[1]}, {shape[2]} heads; bars: {BARS}; ratios: median (lowest-highest)")
    good = True
    for name in options.only.split(",") if options.only else GRAPHS:
        graph, part = GRAPHS[name]
        if not graph.startswith("log_normal:"):
            if not options.data:
                continue
            graph = os.path.join(options.data, graph, "plain")
        ours = Server([options.bench, "serve", graph, part, *map(str, shape)])
        with tempfile.TemporaryDirectory() as folder:
            size = ours.ask("edges", f"{folder}/convs")
            pyg = None if options.no_pyg else Pyg(f"{folder}/convs", size, shape)
        print(f"{name}: {size['edges']} edges from {size['sources']} sources to {size['targets']} targets", flush=True)
        for layer in options.layers.split(","):
            good = compare(layer, ours, pyg, options.repeat) and good
        ours.close()
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
