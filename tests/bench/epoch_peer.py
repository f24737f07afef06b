#!/usr/bin/env python3
"""A peer's side of whole training epochs: answers each line of its input with one epoch, as a line of
JSON. epoch.py starts it in the peer's own Python:

    epoch_peer.py WAY FOLDER THREADS

WAY is dgl (GraphBolt's data loader, DGL's SAGEConv on its blocks), pyg_blocks (PyG's SAGEConv on
sparse CSR blocks from bench_epoch, without sampling), pyg_trim (NeighborLoader, layers trimmed to
their inputs) or pyg_plain (NeighborLoader, as in its examples). All: 3 layers, 256
hidden units, fan-outs 15, 10, 5, mini-batches of 1,024, Adam, dropout 0.5.
"""
import glob
import json
import resource
import sys
import time
import warnings

import numpy as np
import torch
import torch.nn.functional as F

FANOUTS = [15, 10, 5]
BATCH, HIDDEN, CLASSES = 1024, 256, 47


def load(folder, name):
    return torch.from_numpy(np.load(f"{folder}/{name}.npy"))


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Parts:
    """Seconds of the parts of an epoch; lap() adds the time since the last lap to a part."""

    def __init__(self):
        self.seconds = dict.fromkeys(("sample", "gather", "compute", "step"), 0.0)
        self.last = time.perf_counter()

    def lap(self, part):
        now = time.perf_counter()
        self.seconds[part] += now - self.last
        self.last = now


class Model(torch.nn.Module):
    def __init__(self, conv, width):
        super().__init__()
        widths = [width, HIDDEN, HIDDEN, CLASSES]
        self.layers = torch.nn.ModuleList(conv(i, o) for i, o in zip(widths, widths[1:]))

    def forward(self, x, apply):
        """apply(number, layer, x) is one layer's convolution."""
        for number, layer in enumerate(self.layers):
            x = apply(number, layer, x)
            if number + 1 < len(self.layers):
                x = F.dropout(F.relu(x), 0.5, self.training)
        return x


class Peer:
    def __init__(self, folder):
        self.x, self.y = load(folder, "x"), load(folder, "y")

    def start(self, conv):
        torch.manual_seed(0)
        self.model = Model(conv, self.x.shape[1])
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.003)

    def train(self, parts, logits, labels):
        loss = F.cross_entropy(logits, labels)
        self.optimizer.zero_grad()
        loss.backward()
        parts.lap("compute")
        self.optimizer.step()
        parts.lap("step")
        return loss.item()

    def epoch(self):
        parts, losses = Parts(), []
        for loss in self.batches(parts):
            losses.append(loss)
        return parts.seconds, sum(losses) / len(losses)


class Dgl(Peer):
    def __init__(self, folder):
        super().__init__(folder)
        import dgl.graphbolt as gb
        from dgl.nn import SAGEConv
        graph = gb.fused_csc_sampling_graph(load(folder, "indptr"), load(folder, "indices"))
        items = gb.ItemSet(load(folder, "train").int(), names="seed_nodes")
        pipe = gb.ItemSampler(items, batch_size=BATCH, shuffle=True)
        # GraphBolt's list begins at the layer that is farthest from the seeds.
        pipe = pipe.sample_neighbor(graph, FANOUTS[::-1])
        self.loader = gb.DataLoader(pipe, num_workers=0)
        self.features = gb.TorchBasedFeature(self.x)
        self.start(lambda i, o: SAGEConv(i, o, "mean"))

    def batches(self, parts):
        for batch in self.loader:
            blocks = batch.to_dgl_blocks() if hasattr(batch, "to_dgl_blocks") else batch.blocks
            parts.lap("sample")
            x = self.features.read(batch.input_nodes)
            labels = self.y[batch.seed_nodes.long()]
            parts.lap("gather")
            yield self.train(parts, self.model(x, lambda i, layer, x: layer(blocks[i], x)), labels)


class PygBlocks(Peer):
    def __init__(self, folder):
        super().__init__(folder)
        from torch_geometric.nn import SAGEConv
        self.start(SAGEConv)
        self.folder, self.train_ids = folder, load(folder, "train")
        self.count = len(glob.glob(f"{folder}/epoch_*_nodes.npy"))

    def batches(self, parts):
        for number in range(self.count):
            name = f"epoch_{number}"
            nodes = load(self.folder, f"{name}_nodes")
            sources, blocks = len(nodes), []
            for layer in range(len(FANOUTS)):
                indptr, indices = (load(self.folder, f"{name}_{layer}_{part}") for part in ("indptr", "indices"))
                blocks.append(torch.sparse_csr_tensor(indptr.long(), indices.long(), torch.ones(len(indices)),
                                                      (len(indptr) - 1, sources)))
                sources = len(indptr) - 1
            parts.lap("sample")
            x, labels = self.x[nodes], self.y[nodes[:sources]]
            parts.lap("gather")
            yield self.train(parts, self.model(
                x, lambda i, layer, x: layer((x, x[:blocks[i].shape[0]]), blocks[i])), labels)


class PygLoader(Peer):
    def __init__(self, folder, trim):
        super().__init__(folder)
        from torch_geometric.data import Data
        from torch_geometric.loader import NeighborLoader
        from torch_geometric.nn import SAGEConv
        from torch_geometric.utils import trim_to_layer
        self.trim = trim_to_layer if trim else None
        indptr, indices = load(folder, "indptr"), load(folder, "indices").long()
        targets = torch.repeat_interleave(torch.arange(len(indptr) - 1), indptr.diff())
        data = Data(x=self.x, y=self.y, edge_index=torch.stack([indices, targets]))
        self.loader = NeighborLoader(data, FANOUTS, load(folder, "train"), batch_size=BATCH, shuffle=True,
                                     is_sorted=True)
        self.start(SAGEConv)

    def batches(self, parts):
        for batch in self.loader:  # samples and gathers at once
            parts.lap("sample")
            edges = batch.edge_index

            def apply(number, layer, x):
                nonlocal edges
                if self.trim:
                    x, edges, _ = self.trim(number, batch.num_sampled_nodes, batch.num_sampled_edges, x, edges)
                return layer(x, edges)

            logits = self.model(batch.x, apply)[:batch.batch_size]
            yield self.train(parts, logits, batch.y[:batch.batch_size])


WAYS = {"dgl": Dgl, "pyg_blocks": PygBlocks, "pyg_trim": lambda folder: PygLoader(folder, True),
        "pyg_plain": lambda folder: PygLoader(folder, False)}


def main():
    way, folder, threads = sys.argv[1:]
    torch.set_num_threads(int(threads))
    warnings.filterwarnings("ignore")  # a warning that sparse tensors are new
    peer = WAYS[way](folder)
    loaded = peak_mb()
    for _ in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        parts, loss = peer.epoch()
        print(json.dumps({"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, **parts,
                          "loss": loss, "loaded_mb": loaded, "peak_mb": peak_mb()}), flush=True)


if __name__ == "__main__":
    main()
