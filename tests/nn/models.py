#!/usr/bin/env python3
"""Models of PyG in small, with data of edges and with readouts: writes tests/data/models/NAME.npz.

Needs a Python with torch_geometric 2.8:

    PYTHON tests/nn/models.py tests/data/models

Each file holds the inputs, "state.KEY" in the order of the state dict, the result "out", a cotangent
"cot" and the gradients "gradp.KEY" of the sum of their product, and for norms "after.KEY", the buffers
after the pass, all in f64. The test that reads a file, stored_models_test.cpp, contains the config of
its model.
"""
import pathlib
import sys

import numpy as np
import torch
from torch import nn
import torch_geometric.nn as pyg

NODES, EDGES, IN, HIDDEN, OUT, D = 14, 40, 6, 8, 4, 3


def inputs(seed):
    g = torch.Generator().manual_seed(seed)
    index = torch.randint(0, NODES - 1, (2, EDGES), generator=g)  # the last node is isolated
    return {
        "x": torch.randn(NODES, IN, generator=g, dtype=torch.float64),
        "edge_index": index,
        "edge_attr": torch.randn(EDGES, D, generator=g, dtype=torch.float64),
        "edge_weight": torch.rand(EDGES, generator=g, dtype=torch.float64) + 0.1,
        "edge_type": torch.randint(0, 3, (EDGES,), generator=g),
    }


class Stack(nn.Module):
    """Layers with ReLU between them; with a readout also ReLU after the last, the readout and a linear layer."""

    def __init__(self, convs, names, readout=None, wide=1, encoders=None):
        super().__init__()
        if encoders:
            self.atom_encoder = Categories([5, 3], HIDDEN)
            self.bond_encoder = Categories([4, 2], D)
        self.convs = nn.ModuleList(convs)
        self.names = names
        if readout is not None:
            self.readout = readout
            self.lin = nn.Linear(wide * HIDDEN, OUT)

    def forward(self, x, edge_index, batch=None, **carried):
        if hasattr(self, "atom_encoder"):
            x = self.atom_encoder(x)
            carried["edge_attr"] = self.bond_encoder(carried["edge_attr"])
        for i, conv in enumerate(self.convs):
            x = conv(x, edge_index, **{name: carried[name] for name in self.names})
            if i + 1 < len(self.convs) or hasattr(self, "readout"):
                x = x.relu()
        return self.lin(self.readout(x, batch)) if hasattr(self, "readout") else x


class Pooled(nn.Module):
    """A model class and the sum of each graph's rows; the state dict is the class's."""

    def __init__(self, model):
        super().__init__()
        for name, child in model.named_children():
            self.add_module(name, child)
        self.model = [model]  # keeps it from being saved under a second name

    def forward(self, x, edge_index, batch):
        return pyg.global_add_pool(self.model[0](x, edge_index, batch=batch), batch, 4)


class NodeStack(Stack):
    """The same model without features: the first layer reads the nodes themselves."""

    def forward(self, x, edge_index, **carried):
        return super().forward(None, edge_index, **carried)


class Categories(nn.Module):
    """OGB's encoders of atoms and bonds, with the name of its list of tables."""

    def __init__(self, sizes, width):
        super().__init__()
        tables = nn.ModuleList(nn.Embedding(size, width) for size in sizes)
        self.add_module("atom_embedding_list" if width == HIDDEN else "bond_embedding_list", tables)
        self.tables = [tables]  # keeps them from being saved under a second name

    def forward(self, codes):
        return sum(table(codes[:, k]) for k, table in enumerate(self.tables[0]))


def degrees(index):
    d = torch.bincount(index[1], minlength=NODES)
    return torch.bincount(d)


def cases(data):
    deg = degrees(data["edge_index"])
    pna = dict(aggregators=["mean", "min", "max", "std"], scalers=["identity", "amplification", "attenuation"], deg=deg)
    attr, weight, kind = ["edge_attr"], ["edge_weight"], ["edge_type"]
    mlp = lambda a, b: pyg.MLP([a, b, b], norm=None)
    sage = lambda: [pyg.SAGEConv(IN, HIDDEN), pyg.SAGEConv(HIDDEN, HIDDEN)]
    yield "pna", pyg.PNA(IN, HIDDEN, 2, OUT, edge_dim=D, norm="batch_norm", jk="cat", **pna), attr
    yield "pna_towers", pyg.PNA(IN, HIDDEN, 2, OUT, towers=2, divide_input=True,
                                **{**pna, "aggregators": ["sum", "var"], "scalers": ["linear", "inverse_linear"]}), []
    yield "gat_edges", pyg.GAT(IN, HIDDEN, 2, OUT, heads=2, edge_dim=D), attr
    yield "gatv2_edges", pyg.GAT(IN, HIDDEN, 2, OUT, v2=True, heads=2, edge_dim=D), attr
    yield "gcn_weights", pyg.GCN(IN, HIDDEN, 2, OUT, improved=True), weight
    yield "gine", Stack([pyg.GINEConv(mlp(IN, HIDDEN), edge_dim=D), pyg.GINEConv(mlp(HIDDEN, OUT), edge_dim=D)], attr), attr
    yield "rgcn_bases", Stack([pyg.RGCNConv(IN, HIDDEN, 3, num_bases=2), pyg.RGCNConv(HIDDEN, OUT, 3, num_bases=2)], kind), kind
    yield "rgcn_blocks", Stack([pyg.RGCNConv(IN, HIDDEN, 3, num_blocks=2, aggr="sum"),
                                pyg.RGCNConv(HIDDEN, OUT, 3, num_blocks=2, aggr="sum")], kind), kind
    yield "transformer", Stack([pyg.TransformerConv(IN, HIDDEN // 2, heads=2, beta=True, edge_dim=D),
                                pyg.TransformerConv(HIDDEN, OUT, heads=2, concat=False, beta=True, edge_dim=D)], attr), attr
    yield "graphconv", Stack([pyg.GraphConv(IN, HIDDEN, aggr="mean"), pyg.GraphConv(HIDDEN, OUT, aggr="mean")], weight), weight
    gate = pyg.AttentionalAggregation(nn.Linear(HIDDEN, 1))
    yield "readout_attention", Stack(sage(), [], gate), ["batch"]
    yield "readout_set2set", Stack(sage(), [], pyg.Set2Set(HIDDEN, 4), 2), ["batch"]
    yield "readout_sort", Stack(sage(), [], pyg.SortAggregation(3), 3), ["batch"]
    yield "categories", Stack([pyg.GINEConv(mlp(HIDDEN, HIDDEN), edge_dim=D), pyg.GINEConv(mlp(HIDDEN, OUT), edge_dim=D)],
                              attr, encoders=True), attr
    yield "pna_layers", pyg.PNA(IN, HIDDEN, 2, OUT, edge_dim=D, towers=2, pre_layers=2, post_layers=3, **pna), attr
    yield "rgcn_nodes", NodeStack([pyg.RGCNConv(NODES, HIDDEN, 3), pyg.RGCNConv(HIDDEN, OUT, 3)], kind), kind
    for aggr in ["mean", "max"]:
        yield f"gin_{aggr}", Stack([pyg.GINConv(mlp(IN, HIDDEN), aggr=aggr), pyg.GINConv(mlp(HIDDEN, OUT), aggr=aggr)], []), []
        yield f"gine_{aggr}", Stack([pyg.GINEConv(mlp(IN, HIDDEN), edge_dim=D, aggr=aggr),
                                     pyg.GINEConv(mlp(HIDDEN, OUT), edge_dim=D, aggr=aggr)], attr), attr
    norms = {"layer": "layer_norm", "graph": "graph_norm", "instance": "instance_norm", "batch": "batch_norm"}
    for name, norm in norms.items():
        yield f"gin_graphs_{name}", Pooled(pyg.GIN(IN, HIDDEN, 2, OUT, norm=norm)), ["batch"]
    yield "gin_graphs_pair", Pooled(pyg.GIN(IN, HIDDEN, 2, OUT, norm="pair_norm")), ["batch"]
    for name, norm in norms.items():
        yield f"edge_graphs_{name}", Pooled(pyg.EdgeCNN(IN, HIDDEN, 2, OUT, norm=norm)), ["batch"]
    yield "sage_lstm", pyg.GraphSAGE(IN, HIDDEN, 2, OUT, aggr="lstm", project=True), ["by_target"]
    yield "edge_nodes_batch", pyg.EdgeCNN(IN, HIDDEN, 2, OUT, norm="batch_norm", act="prelu", act_first=True), []
    yield "edge_nodes_elu", pyg.EdgeCNN(IN, HIDDEN, 2, OUT, act="elu"), []
    yield "gin_nodes_graph", pyg.GIN(IN, HIDDEN, 2, OUT, norm="graph_norm"), []
    yield "gin_nodes_layer", pyg.GIN(IN, HIDDEN, 2, OUT, norm="layer_norm", act_first=True), []
    for fill in ["add", "max", "min", 0.5]:
        name = "constant" if fill == 0.5 else fill
        yield f"gat_fill_{name}", pyg.GAT(IN, HIDDEN, 2, OUT, heads=2, edge_dim=D, fill_value=fill), attr
        yield f"gatv2_fill_{name}", pyg.GAT(IN, HIDDEN, 2, OUT, v2=True, heads=2, edge_dim=D, fill_value=fill), attr
    yield "gat_residual", pyg.GAT(IN, HIDDEN, 2, OUT, heads=2, residual=True), []
    yield "gat_hidden", pyg.GAT(IN, HIDDEN, 2, heads=2), []
    yield "sage_hidden", pyg.GraphSAGE(IN, HIDDEN, 2), []
    yield "sage_hidden_cat", pyg.GraphSAGE(IN, HIDDEN, 2, jk="cat"), []
    yield "graphconv_max", Stack([pyg.GraphConv(IN, HIDDEN, aggr="max"), pyg.GraphConv(HIDDEN, OUT, aggr="max")], weight), weight
    yield "gine_plain", Stack([pyg.GINEConv(mlp(D, D)), pyg.GINEConv(mlp(D, OUT))], attr), attr
    yield "sage_several", pyg.GraphSAGE(IN, HIDDEN, 2, OUT, aggr=["mean", "max", "std"]), []
    yield "sage_several_project", pyg.GraphSAGE(IN, HIDDEN, 2, OUT, aggr=["sum", "min", "var"], project=True), []
    yield "pna_train", pyg.PNA(IN, HIDDEN, 2, OUT, train_norm=True,
                               **{**pna, "scalers": ["linear", "attenuation", "inverse_linear"]}), []
    for act in ["silu", "sigmoid", "gelu", "tanh", "leaky_relu"]:
        yield f"sage_{act}", pyg.GraphSAGE(IN, HIDDEN, 2, OUT, act=act), []
    yield "gin_silu", pyg.GIN(IN, HIDDEN, 2, OUT, act="silu"), []
    yield "gin_sigmoid", pyg.GIN(IN, HIDDEN, 2, OUT, act="sigmoid"), []
    yield "norm_batch", pyg.GIN(IN, HIDDEN, 2, OUT, norm="batch_norm", norm_kwargs=dict(eps=0.01, momentum=0.3, affine=False)), []
    yield "norm_cumulative", pyg.GraphSAGE(IN, HIDDEN, 2, OUT, norm="batch_norm", norm_kwargs=dict(momentum=None)), []
    yield "norm_layer", pyg.GraphSAGE(IN, HIDDEN, 2, OUT, norm="layer_norm", norm_kwargs=dict(eps=0.1, affine=False)), []
    yield "norm_row", pyg.GraphSAGE(IN, HIDDEN, 2, OUT, norm="layer_norm", norm_kwargs=dict(eps=0.1, mode="node")), []
    yield "norm_instance", pyg.GraphSAGE(IN, HIDDEN, 2, OUT, norm="instance_norm", norm_kwargs=dict(eps=0.1, affine=True)), []
    yield "norm_graph", pyg.GraphSAGE(IN, HIDDEN, 2, OUT, norm="graph_norm", norm_kwargs=dict(eps=0.1)), []
    yield "norm_pair", pyg.GraphSAGE(IN, HIDDEN, 2, OUT, norm="pair_norm", norm_kwargs=dict(eps=0.1)), []
    yield "rgcn_max", Stack([pyg.RGCNConv(IN, HIDDEN, 3, aggr="max"), pyg.RGCNConv(HIDDEN, OUT, 3, aggr="max")], kind), kind
    yield "gcn_loops", pyg.GCN(IN, HIDDEN, 2, OUT), weight + ["loops"]
    yield "gcn_loops_improved", pyg.GCN(IN, HIDDEN, 2, OUT, improved=True), weight + ["loops"]
    yield "gat_output_heads", Stack([pyg.GATConv(IN, HIDDEN // 2, heads=2), pyg.GATConv(HIDDEN, OUT, heads=1, concat=False)], []), []


def distinct(index):
    """Graphs of nodes 0-4, none, 5-9, 10-13: edges within a graph, and at most one loop per node."""
    group = lambda v: torch.bucketize(v, torch.tensor([5, 10]), right=True)
    keep, loops = [], set()
    for e, (s, t) in enumerate(index.t().tolist()):
        if s == t and s in loops:
            continue
        loops |= {s} if s == t else set()
        keep.append(e)
    index = index[:, keep]
    inside = group(index[0]) == group(index[1])
    return torch.tensor(keep), inside


def main(folder):
    torch.manual_seed(100)
    for k, (name, model, carried) in enumerate(cases(inputs(1))):
        data = inputs(1)
        keep, inside = distinct(data["edge_index"])
        if "batch" in carried:
            keep = keep[inside]
        if "loops" in carried:  # several per node, with others in between
            data["edge_index"][:, ::6] = data["edge_index"][1, ::6] % 3
            keep = torch.arange(EDGES)
        if "by_target" in carried:
            keep = keep[torch.argsort(data["edge_index"][1, keep], stable=True)]
        for key in ["edge_index"]:
            data[key] = data[key][:, keep]
        for key in ["edge_attr", "edge_weight", "edge_type"]:
            data[key] = data[key][keep]
        if name == "gine_plain":
            data["x"] = data["x"][:, :D]
        if name == "categories":
            data["x"] = torch.stack([torch.arange(NODES) % 5, torch.arange(NODES) * 7 % 3], 1)
            n = len(keep)
            data["edge_attr"] = torch.stack([torch.arange(n) % 4, torch.arange(n) * 5 % 2], 1)
        model = model.double().train()
        arguments = {key: data[key] for key in carried if key in data}
        graph_ptr = [0, 5, 5, 10, 14]
        if "batch" in carried:
            arguments["batch"] = torch.tensor([0] * 5 + [2] * 5 + [3] * 4)
            graph_ptr = [0, 5, 10, 14] if name == "readout_sort" else graph_ptr
            if name == "readout_sort":
                arguments["batch"] = torch.tensor([0] * 5 + [1] * 5 + [2] * 4)
        state = {f"state.{key}": value.detach().numpy().copy() for key, value in model.state_dict().items()}
        out = model(data["x"], data["edge_index"], **arguments)
        cot = torch.randn(out.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(k))
        (out * cot).sum().backward()
        grads = {f"gradp.{key}": value.grad.numpy() for key, value in model.named_parameters() if value.grad is not None}
        arrays = {key: data[key].numpy() for key in ["x", "edge_index", "edge_attr", "edge_weight", "edge_type"]}
        if "batch" in carried:
            arrays["graph_ptr"] = np.array(graph_ptr)
        after = {f"after.{key}": value.numpy() for key, value in model.named_buffers()} if name.startswith("norm_") else {}
        np.savez(pathlib.Path(folder) / f"{name}.npz", **arrays, **state, out=out.detach().numpy(), cot=cot.numpy(), **grads, **after)
        print(name, tuple(out.shape))


if __name__ == "__main__":
    main(sys.argv[1])
