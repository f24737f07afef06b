"""The other side of pyg_stacks_test.cpp: classes of PyTorch Geometric's and torch's modules put together at random, under
names and in orders of registration as users choose them. With "make" it writes the graph, and of each class its modules,
weights and the state of an optimizer in the middle of a training, logits, and the weights one step later; with "take" it
reads weights and state strictly after the round trip.
Usage: pyg_stacks.py <folder> make | take"""
import pathlib
import random
import sys

try:
    import torch
    import torch_geometric.nn as pyg
    from torch_geometric.utils import degree
except ImportError as error:
    print(error)
    sys.exit(77)  # not an error: the test is skipped

folder, CASES = pathlib.Path(sys.argv[1]), 60
NODES, FEATURES, EDGE_COLUMNS, RELATIONS, CLASSES = 40, 6, 3, 4, 4
torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
data = torch.Generator().manual_seed(5)
x = torch.randn(NODES, FEATURES, generator=data)
edge_index = torch.randint(NODES - 1, (2, 170), generator=data)  # the last node has no edges
edge_index = edge_index[:, edge_index[0] != edge_index[1]].unique(dim=1)
EDGES = edge_index.size(1)
edge_attr = torch.randn(EDGES, EDGE_COLUMNS, generator=data)
edge_type = torch.randint(RELATIONS, (EDGES,), generator=data)
edge_weight = torch.rand(EDGES, generator=data) + 0.5
labels = torch.randint(CLASSES, (NODES,), generator=data)
DEGREES = torch.bincount(degree(edge_index[1], NODES).long())

ACTIVATIONS = {"relu": torch.nn.ReLU, "elu": torch.nn.ELU, "leaky_relu": torch.nn.LeakyReLU, "gelu": torch.nn.GELU,
               "tanh": torch.nn.Tanh, "silu": torch.nn.SiLU, "sigmoid": torch.nn.Sigmoid}
AGGREGATIONS = ["mean", "max", "sum"]


class Drawn:
    """One layer: the module, its inputs besides the rows, and its line in the description."""

    def __init__(self, module, layer, reads=(), **settings):
        self.module, self.kind, self.reads, self.settings = module, layer, reads, settings

    def line(self, name):
        return " ".join([self.kind, name] + [value if key == "kind" else f"{key}={value}"
                                              for key, value in self.settings.items()])

    def run(self, rows, edges):
        if self.kind != "conv":
            return self.module(rows)
        given = {"weight": {"edge_weight": edge_weight}, "attr": {"edge_attr": edge_attr}, "type": {"edge_type": edge_type}}
        return self.module(rows, edges, **{k: v for what in self.reads for k, v in given[what].items()})


def network(draw, a, b):
    """That inside of GIN and EdgeConv, in one of its forms, and its settings."""
    act = draw.choice(list(ACTIVATIONS))
    norm = draw.random() < 0.4
    form = draw.choice(["mlp", "sequential", "linear", "single"])
    if form == "linear":
        return torch.nn.Linear(a, b), {"mlp_layers": 1}
    if form == "single":
        return torch.nn.Sequential(torch.nn.Linear(a, b)), {"mlp_layers": 1}
    settings = {"activation": act, "norm": "batch" if norm else "none"}
    if form == "mlp":
        return pyg.MLP([a, b, b], norm="batch_norm" if norm else None, act=ACTIVATIONS[act]()), settings
    norms = [torch.nn.BatchNorm1d(b)] if norm else []
    drop = [torch.nn.Dropout(0)] if draw.random() < 0.3 else []
    return torch.nn.Sequential(torch.nn.Linear(a, b), *norms, ACTIVATIONS[act](), *drop, torch.nn.Linear(b, b)), settings


def draw_conv(draw, a, b):
    flag = lambda share=0.5: draw.random() < share
    kind = draw.choice(["sage", "gcn", "gat", "gatv2", "gin", "gine", "graphconv", "edge", "rgcn", "transformer", "pna"])
    bias, own = flag(0.8), {}
    if kind == "sage":
        aggr, root, normalize, project = draw.choice(AGGREGATIONS), flag(0.8), flag(0.3), flag(0.3)
        return Drawn(pyg.SAGEConv(a, b, aggr, normalize=normalize, root_weight=root, project=project, bias=bias), "conv", (),
                     architecture=kind, aggregation=aggr, root_weight=int(root), normalize=int(normalize), project=int(project),
                     bias=int(bias))
    if kind == "gcn":
        weighted, loops = flag(), flag(0.7)
        improved = weighted and loops and flag()
        return Drawn(pyg.GCNConv(a, b, improved=improved, add_self_loops=loops, bias=bias), "conv",
                     ("weight",) if weighted else (), architecture=kind, edge_weights=int(weighted), self_loops=int(loops),
                     improved=int(improved), bias=int(bias))
    if kind in ("gat", "gatv2"):
        heads, concat, loops, residual = draw.choice([1, 2, 4]), flag(0.7), flag(0.7), flag(0.3)
        columns = EDGE_COLUMNS if flag(0.4) else None
        own = {"share_weights": flag()} if kind == "gatv2" else {}
        module = {"gat": pyg.GATConv, "gatv2": pyg.GATv2Conv}[kind](
            a, b // heads if concat else b, heads, concat, 0.1, add_self_loops=loops, edge_dim=columns, bias=bias,
            residual=residual, **own)
        return Drawn(module, "conv", ("attr",) if columns else (), architecture=kind, heads=heads, concat=int(concat),
                     self_loops=int(loops), residual=int(residual), edge_dim=columns or 0, bias=int(bias),
                     negative_slope=0.1, **{key: int(value) for key, value in own.items()})
    if kind == "gin":
        inner, settings = network(draw, a, b)
        aggr, trained = draw.choice(AGGREGATIONS), flag()
        return Drawn(pyg.GINConv(inner, 0.25, trained, aggr=aggr), "conv", (), architecture=kind, aggregation=aggr, eps=0.25,
                     train_eps=int(trained), **settings)
    if kind == "gine":
        inner, settings = network(draw, a, b)
        trained = flag()
        return Drawn(pyg.GINEConv(inner, 0.25, trained, edge_dim=EDGE_COLUMNS), "conv", ("attr",), architecture=kind, eps=0.25,
                     edge_dim=EDGE_COLUMNS, train_eps=int(trained), **settings)
    if kind == "graphconv":
        aggr, weighted = draw.choice(AGGREGATIONS), flag()
        return Drawn(pyg.GraphConv(a, b, aggr, bias), "conv", ("weight",) if weighted else (), architecture=kind, aggregation=aggr,
                     bias=int(bias), edge_weights=int(weighted))
    if kind == "edge":
        inner, settings = network(draw, 2 * a, b)
        aggr = draw.choice(AGGREGATIONS)
        return Drawn(pyg.EdgeConv(inner, aggr), "conv", (), architecture=kind, aggregation=aggr, **settings)
    if kind == "rgcn":
        form = draw.choice(["plain", "bases", "blocks"])
        aggr, root = draw.choice(["mean", "sum"]), flag(0.8)
        module = pyg.RGCNConv(a, b, RELATIONS, 2 if form == "bases" else None, 2 if form == "blocks" else None,
                              aggr={"mean": "mean", "sum": "add"}[aggr], root_weight=root, bias=bias)
        return Drawn(module, "conv", ("type",), architecture=kind, num_relations=RELATIONS, aggregation=aggr, root_weight=int(root),
                     bias=int(bias), num_bases=2 * (form == "bases"), num_blocks=2 * (form == "blocks"))
    if kind == "transformer":
        heads, concat, root = draw.choice([1, 2, 4]), flag(0.7), flag(0.8)
        beta, columns = root and flag(0.4), EDGE_COLUMNS if flag(0.4) else None
        module = pyg.TransformerConv(a, b // heads if concat else b, heads, concat, beta, edge_dim=columns, bias=bias,
                                     root_weight=root)
        return Drawn(module, "conv", ("attr",) if columns else (), architecture=kind, heads=heads, concat=int(concat),
                     beta=int(beta), edge_dim=columns or 0, bias=int(bias), root_weight=int(root))
    towers, columns = draw.choice([1, 2]), EDGE_COLUMNS if flag(0.4) else None
    divide = towers == 2 and flag()
    module = pyg.PNAConv(a, b, ["mean", "min", "max", "std"], ["identity", "amplification", "attenuation"], DEGREES,
                         edge_dim=columns, towers=towers, divide_input=divide, pre_layers=draw.choice([1, 2]),
                         post_layers=draw.choice([1, 2]))
    return Drawn(module, "conv", ("attr",) if columns else (), architecture=kind, edge_dim=columns or 0, towers=towers,
                 divide_input=int(divide), pre_layers=len(module.pre_nns[0]) // 2 + 1,
                 post_layers=len(module.post_nns[0]) // 2 + 1,
                 average_degree=repr(module.aggr_module.avg_deg_lin.item()),
                 average_log_degree=repr(module.aggr_module.avg_deg_log.item()))


def draw_norm(draw, width):
    epsilon = draw.choice([1e-5, 1e-3, 0.1])
    affine, momentum = draw.random() < 0.7, draw.choice([0.1, 0.3, None])
    kind = draw.choice(["batch", "torch_batch", "layer", "torch_layer", "layer_graph", "graph", "instance", "pair", "pair_rows"])
    learned = dict(epsilon=epsilon, affine="on" if affine else "off")
    if kind in ("batch", "torch_batch"):
        module = pyg.BatchNorm if kind == "batch" else torch.nn.BatchNorm1d
        return Drawn(module(width, epsilon, momentum, affine), "norm", kind="batch", momentum=momentum or -1, **learned)
    if kind in ("layer", "layer_graph"):
        return Drawn(pyg.LayerNorm(width, epsilon, affine, "node" if kind == "layer" else "graph"), "norm", kind=kind, **learned)
    if kind == "torch_layer":
        return Drawn(torch.nn.LayerNorm(width, epsilon, affine), "norm", kind="layer", **learned)
    if kind == "graph":
        return Drawn(pyg.GraphNorm(width, epsilon), "norm", kind=kind, epsilon=epsilon)
    if kind == "instance":
        return Drawn(pyg.InstanceNorm(width, epsilon, affine=affine), "norm", kind=kind, **learned)
    return Drawn(pyg.PairNorm(1.5, kind == "pair_rows", epsilon), "norm", kind=kind, epsilon=epsilon, scale=1.5)


def draw_linear(draw, a, b):
    bias = draw.random() < 0.8
    return Drawn(draw.choice([torch.nn.Linear, pyg.Linear])(a, b, bias=bias), "linear", out=b, bias=int(bias))


def draw_activation(draw):
    kind = draw.choice(list(ACTIVATIONS) + ["prelu"])
    return Drawn(torch.nn.PReLU() if kind == "prelu" else ACTIVATIONS[kind](), "activation", kind=kind)


class Model(torch.nn.Module):
    def __init__(self, number):
        super().__init__()
        draw = random.Random(number)
        torch.manual_seed(number)
        self.used, width = [], FEATURES
        if draw.random() < 0.3:
            self.used.append(draw_linear(draw, width, 8))
            width = 8
        convs = draw.choice([1, 2, 2, 3])
        for k in range(convs):
            out = draw.choice([4, 8, 8, 8])
            self.used.append(draw_conv(draw, width, out))
            self.used[-1].settings["output_dim"] = width = out
            if draw.random() < 0.8:
                self.used.append(draw_norm(draw, width))
            if draw.random() < 0.3:
                self.used.append(draw_norm(draw, width))
            if draw.random() < 0.8:
                self.used.append(draw_activation(draw))
        self.used.append(draw_linear(draw, width, CLASSES))
        self.names = getattr(self, "as_" + draw.choice(["lists", "sequential", "attributes", "blocks"]))(draw)
        for name, value in self.named_parameters():  # away from where they begin
            value.data += 0.1 * torch.randn_like(value)

    def as_lists(self, draw):
        kinds = sorted({layer.kind for layer in self.used})
        draw.shuffle(kinds)
        for kind in kinds:
            setattr(self, kind + "s", torch.nn.ModuleList([l.module for l in self.used if l.kind == kind]))
        count = {kind: 0 for kind in kinds}
        names = []
        for layer in self.used:
            names.append(f"{layer.kind}s.{count[layer.kind]}")
            count[layer.kind] += 1
        return names

    def as_sequential(self, draw):
        for k, layer in enumerate(self.used):
            setattr(self, f"module_{k}", layer.module)
        return [f"module_{k}" for k in range(len(self.used))]

    def as_attributes(self, draw):
        names = [f"{layer.kind}{k}" for k, layer in enumerate(self.used)]
        order = list(range(len(names)))
        draw.shuffle(order)
        for k in order:
            setattr(self, names[k], self.used[k].module)
        return names

    def as_blocks(self, draw):
        self.blocks = torch.nn.ModuleList()
        names = []
        for layer in self.used:
            if layer.kind in ("conv", "linear") or not len(self.blocks):
                self.blocks.append(torch.nn.Module())
            name = f"{layer.kind}_{len(list(self.blocks[-1].children()))}"
            setattr(self.blocks[-1], name, layer.module)
            names.append(f"blocks.{len(self.blocks) - 1}.{name}")
        return names

    def forward(self, rows, edges):
        for layer in self.used:
            rows = layer.run(rows, edges)
        return rows


def step(model, optimizer):
    model.train()
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x, edge_index), labels).backward()
    optimizer.step()


def make():
    def raw(name, values):
        values.contiguous().numpy().tofile(folder / name)
    for name, values in [("x", x), ("sources", edge_index[0]), ("targets", edge_index[1]), ("edge_attr", edge_attr),
                         ("edge_type", edge_type), ("edge_weight", edge_weight), ("labels", labels)]:
        raw(name + ".raw", values)
    (folder / "cases").write_text(f"{CASES}\n")
    for number in range(CASES):
        model = Model(number)
        lines = [layer.line(name) for layer, name in zip(model.used, model.names)]
        (folder / f"{number}.spec").write_text("\n".join(lines) + "\n")
        optimizer = torch.optim.Adam(model.parameters(), 0.01)
        for _ in range(2):
            step(model, optimizer)
        torch.save(model.state_dict(), folder / f"{number}.pth")
        torch.save(optimizer.state_dict(), folder / f"{number}.optimizer.pth")
        model.eval()
        with torch.no_grad():
            raw(f"{number}.logits", model(x, edge_index))
        step(model, optimizer)
        torch.save(model.state_dict(), folder / f"{number}.after.pth")
        torch.save(optimizer.state_dict(), folder / f"{number}.after_optimizer.pth")


def close(what, found, expected):
    assert found.shape == expected.shape and found.dtype == expected.dtype, (what, found, expected)
    worst = (found.double() - expected.double()).abs().max().item() if found.numel() else 0
    assert worst <= 1e-8 * max(1, expected.double().abs().max().item() if expected.numel() else 0), (what, worst)


def take():
    load = lambda number, name: torch.load(folder / f"{number}.{name}.pth", weights_only=True)
    for number in range(CASES):
        model, expected = Model(number), load(number, "after")
        optimizer = torch.optim.Adam(model.parameters(), 0.01)
        state = load(number, "back")
        assert list(state) == list(model.state_dict()), (number, list(state), list(model.state_dict()))
        model.load_state_dict(state, strict=True)
        optimizer.load_state_dict(load(number, "back_optimizer"))
        for key, value in expected.items():
            close((number, key), model.state_dict()[key], value)
        theirs = load(number, "after_optimizer")["state"]
        names = [name for name, _ in model.named_parameters()]
        ours = optimizer.state_dict()["state"]
        for i, values in theirs.items():
            for key, value in values.items():
                close((number, names[i], key), ours[i][key].to(value.dtype), value)  # step counts have two types
    print(f"{CASES} classes came back")


make() if sys.argv[2] == "make" else take()
