#!/usr/bin/env python3
"""DGL's side of results for all nodes: answers each line of its input with one pass over the whole graph,
as a line of JSON. embed.py starts it in the peer's own Python:

    embed_peer.py FOLDER THREADS

FOLDER is a data set in libgnnmg's own format. SAGEConv multiplies before it averages where that makes
rows narrower.
"""
import json
import os
import resource
import sys
import time

os.environ.setdefault("DGLBACKEND", "pytorch")
import dgl
import numpy as np
import torch
from dgl.nn import SAGEConv

HIDDEN, CLASSES = 256, 47


def load(folder, name):
    return torch.from_numpy(np.load(f"{folder}/{name}.npy"))


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    folder, threads = sys.argv[1], int(sys.argv[2])
    torch.set_num_threads(threads)
    x = load(folder, "node-node-x")
    indptr, indices = load(folder, "edge-edge.indptr"), load(folder, "edge-edge.indices")
    graph = dgl.graph(("csc", (indptr.int(), indices.int(), torch.empty(0, dtype=torch.int32))),
                      num_nodes=len(x)).formats("csc")
    widths = [x.shape[1], HIDDEN, HIDDEN, CLASSES]
    layers = [SAGEConv(i, o, "mean") for i, o in zip(widths, widths[1:])]
    loaded = peak_mb()
    for _ in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        with torch.inference_mode():
            rows = x
            for number, layer in enumerate(layers):
                rows = layer(graph, rows)
                if number + 1 < len(layers):
                    rows = rows.relu_()
        print(json.dumps({"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu,
                          "loaded_mb": loaded, "peak_mb": peak_mb()}), flush=True)
        del rows


if __name__ == "__main__":
    main()
