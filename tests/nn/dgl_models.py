#!/usr/bin/env python3
"""Models of DGL's layers in small, with data of edges: writes tests/data/dgl_models/NAME.npz.

Needs a Python with dgl 2.1:

    PYTHON tests/nn/dgl_models.py tests/data/dgl_models

Each file holds the inputs, "state.KEY" in the order of the state dict, the result "out", a cotangent
"cot", the gradients "gradp.KEY" of the sum of their product, and "after.KEY", the buffers after the
pass, all in f64. The test that reads a file, stored_models_test.cpp, contains the config of its model.
"""
import pathlib
import sys

import dgl
import dgl.nn.pytorch as layers
import numpy as np
import torch
from torch import nn

NODES, EDGES, IN, HIDDEN, OUT = 14, 40, 6, 8, 4
GRAPHS = [5, 5, 4]


def inputs(seed, apart):
    """With `apart`, edges stay within the graphs of a batch."""
    g = torch.Generator().manual_seed(seed)
    index = torch.randint(0, NODES - 1, (2, EDGES), generator=g)  # the last node is isolated
    if apart:
        group = torch.bucketize(index, torch.tensor([5, 10]), right=True)
        index = index[:, group[0] == group[1]]
    count = index.shape[1]
    return {
        "x": torch.randn(NODES, IN, generator=g, dtype=torch.float64),
        "edge_index": index,
        "edge_weight": torch.randn(count, generator=g, dtype=torch.float64),
        "edge_type": torch.randint(0, 3, (count,), generator=g),
    }


class Stack(nn.Module):
    """Layers with ReLU between them."""

    def __init__(self, convs, call):
        super().__init__()
        self.layers = nn.ModuleList(convs)
        self.call = call

    def forward(self, graph, x, weight, kind):
        for i, layer in enumerate(self.layers):
            x = self.call(layer, graph, x, weight, kind)
            if i + 1 < len(self.layers):
                x = x.relu()
        return x


class Network(nn.Module):
    """The content of the layers of the GIN example: two linear layers without bias, a batch norm between them."""

    def __init__(self, a, b):
        super().__init__()
        self.linears = nn.ModuleList([nn.Linear(a, b, bias=False), nn.Linear(b, b, bias=False)])
        self.batch_norm = nn.BatchNorm1d(b)

    def forward(self, x):
        return self.linears[1](self.batch_norm(self.linears[0](x)).relu())


class Scores(nn.Module):
    """The class of the GIN example, without its dropout."""

    def __init__(self):
        super().__init__()
        widths = [IN, HIDDEN, HIDDEN]
        self.ginlayers = nn.ModuleList(
            [layers.GINConv(Network(a, b), learn_eps=False) for a, b in zip(widths, widths[1:])])
        self.batch_norms = nn.ModuleList([nn.BatchNorm1d(HIDDEN) for _ in widths[1:]])
        self.linear_prediction = nn.ModuleList([nn.Linear(width, OUT) for width in widths])
        self.pool = layers.SumPooling()

    def forward(self, graph, x, weight, kind):
        rows = [x]
        for layer, norm in zip(self.ginlayers, self.batch_norms):
            rows.append(norm(layer(graph, rows[-1])).relu())
        return sum(head(self.pool(graph, r)) for head, r in zip(self.linear_prediction, rows))


def cases():
    weighted = lambda layer, graph, x, weight, kind: layer(graph, x, edge_weight=weight)
    for aggregator in ["mean", "gcn", "pool", "lstm"]:
        yield f"sage_{aggregator}", Stack([layers.SAGEConv(IN, HIDDEN, aggregator),
                                           layers.SAGEConv(HIDDEN, OUT, aggregator)], weighted)
    mlp = lambda a, b: nn.Sequential(nn.Linear(a, b), nn.ReLU(), nn.Linear(b, b))
    for aggregator in ["sum", "mean", "max"]:
        yield f"gin_{aggregator}", Stack([layers.GINConv(mlp(IN, HIDDEN), aggregator, 0.25, True),
                                          layers.GINConv(mlp(HIDDEN, OUT), aggregator, 0.25, True)], weighted)
    typed = lambda layer, graph, x, weight, kind: layer(graph, x, kind, weight.unsqueeze(1))
    yield "rgcn_norm", Stack([layers.RelGraphConv(IN, HIDDEN, 3, "basis", 2, layer_norm=True),
                              layers.RelGraphConv(HIDDEN, OUT, 3, "basis", 2, layer_norm=True)], typed)
    plain = lambda layer, graph, x, weight, kind: layer(graph, x)
    yield "edge_norm", Stack([layers.EdgeConv(IN, HIDDEN, True, True), layers.EdgeConv(HIDDEN, OUT, True, True)], plain)
    yield "gin_class", Scores()


def main(folder):
    torch.manual_seed(100)
    for k, (name, model) in enumerate(cases()):
        data = inputs(1, name == "gin_class")
        graph = dgl.graph((data["edge_index"][0], data["edge_index"][1]), num_nodes=NODES)
        if name == "gin_class":
            graph.set_batch_num_nodes(torch.tensor(GRAPHS))
            of_edges = torch.bucketize(data["edge_index"][1], torch.tensor([5, 10]), right=True)
            graph.set_batch_num_edges(torch.bincount(of_edges, minlength=3))
        model = model.double().train()
        with torch.no_grad():  # changes all initial values
            for value in model.state_dict().values():
                if value.is_floating_point():
                    value += 0.1 * torch.rand_like(value)
        state = {f"state.{key}": value.detach().numpy().copy() for key, value in model.state_dict().items()}
        out = model(graph, data["x"], data["edge_weight"], data["edge_type"])
        cot = torch.randn(out.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(k))
        (out * cot).sum().backward()
        grads = {f"gradp.{key}": value.grad.numpy() for key, value in model.named_parameters()}
        after = {f"after.{key}": value.numpy() for key, value in model.named_buffers()}
        arrays = {key: value.numpy() for key, value in data.items()}
        if name == "gin_class":
            arrays["graph_ptr"] = np.cumsum([0] + GRAPHS)
        np.savez(pathlib.Path(folder) / f"{name}.npz", **arrays, **state, out=out.detach().numpy(),
                 cot=cot.numpy(), **grads, **after)
        print(name, tuple(out.shape))


if __name__ == "__main__":
    main(sys.argv[1])
