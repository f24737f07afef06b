"""The other side of pyg_exchange_test.cpp: takes weights and states of optimizers from its files into models of PyTorch
Geometric and optimizers of PyTorch, compares logits and the next step, and writes the same files of its own trainings.
Usage: pyg_exchange.py <folder> <folder of the data set Cora> [make | take]
With "make" it writes weights of classes that mix modules, and with "take" it reads them after the round trip."""
import argparse
import json
import pathlib
import sys

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
    import torch_geometric
    from torch_geometric.nn import GAT, GCN, GIN, MLP, BatchNorm, EdgeCNN, EdgeConv, GCNConv, GINConv, GraphSAGE, LayerNorm
except ImportError as error:
    print(error)
    sys.exit(77)  # not an error: the test is skipped

folder, cora = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]) / "plain"
torch.set_num_threads(1)
torch.manual_seed(1)



class OwnGin(torch.nn.Module):
    """A user's own GIN: modules of torch, with the norm next to its layer."""

    def __init__(self, width, hidden, _, classes):
        super().__init__()
        network = lambda a, b: torch.nn.Sequential(torch.nn.Linear(a, b), torch.nn.BatchNorm1d(b), torch.nn.ReLU(),
                                                   torch.nn.Linear(b, b))
        self.convs = torch.nn.ModuleList([GINConv(network(width, hidden)), GINConv(network(hidden, classes))])
        self.norms = torch.nn.ModuleList([torch.nn.BatchNorm1d(hidden)])

    def forward(self, x, edge_index):
        return self.convs[1](self.norms[0](self.convs[0](x, edge_index)).relu(), edge_index)


class Mixture(torch.nn.Module):
    """Two layers around networks, a norm between them where there is one."""

    def __init__(self, network, norm=None, layer=GINConv):
        super().__init__()
        twice = 2 if layer is EdgeConv else 1
        self.convs = torch.nn.ModuleList([layer(network(twice * a, b)) for a, b in ((6, 8), (8, 4))])
        self.norms = torch.nn.ModuleList([norm(8)] if norm else [])

    def forward(self, x, edge_index):
        x = self.convs[0](x, edge_index)
        return self.convs[1]((self.norms[0](x) if len(self.norms) else x).relu(), edge_index)


class Turned(torch.nn.Module):
    """Two convolutions, between them two norms of equal shapes, registered in another order than they are used."""

    def __init__(self):
        super().__init__()
        self.conv1 = GCNConv(6, 8)
        self.second = LayerNorm(8, mode="node")
        self.first = BatchNorm(8)
        self.conv2 = GCNConv(8, 4)

    def forward(self, x, edge_index):
        return self.conv2(self.second(self.first(self.conv1(x, edge_index))).relu(), edge_index)


def sequential(*between, depth=2):
    linear = torch.nn.Linear
    if depth == 1:
        return lambda a, b: torch.nn.Sequential(linear(a, b), *(make(b) for make in between))
    return lambda a, b: torch.nn.Sequential(linear(a, b), *(make(b) for make in between), linear(b, b))


RELU, DROPOUT = lambda width: torch.nn.ReLU(), lambda width: torch.nn.Dropout(0.5)
MIXTURES = {
    "pyg_norm": lambda: Mixture(sequential(RELU), BatchNorm),
    "torch_norm": lambda: Mixture(lambda a, b: MLP([a, b, b], norm=None), torch.nn.BatchNorm1d),
    "single": lambda: Mixture(sequential(RELU, depth=1)),
    "dropout": lambda: Mixture(sequential(RELU, DROPOUT)),
    "inner_norm": lambda: Mixture(sequential(torch.nn.BatchNorm1d, RELU), torch.nn.BatchNorm1d),
    "edge_alone": lambda: Mixture(torch.nn.Linear, layer=EdgeConv),
    "edge_single": lambda: Mixture(sequential(RELU, depth=1), layer=EdgeConv),
    "turned": Turned,
    "edge_mlp": lambda: Mixture(lambda a, b: MLP([a, b]), layer=EdgeConv),
}


def mixture_step(model, optimizer):
    torch.manual_seed(3)  # seed of the input and of dropout
    model.train()
    optimizer.zero_grad()
    model(torch.randn(12, 6).double(), torch.randint(12, (2, 40))).square().sum().backward()
    optimizer.step()


def make_mixtures():
    for name, make in MIXTURES.items():
        model = make().double()
        optimizer = torch.optim.Adam(model.parameters(), 0.01)
        mixture_step(model, optimizer)
        torch.save(model.state_dict(), folder / f"{name}.theirs.pth")
        torch.save(optimizer.state_dict(), folder / f"{name}.theirs_optimizer.pth")


def take_mixtures():
    for name, make in MIXTURES.items():
        for ending in ["pth", "safetensors"]:
            model, path = make().double(), folder / f"{name}.back.{ending}"
            if ending == "pth":
                state = torch.load(path, weights_only=True)
            else:
                state = safetensors_of(path)
            model.load_state_dict(state, strict=True)
            expected = load(f"{name}.theirs")
            assert set(state) == set(expected), (name, ending, list(state))
            for key, value in expected.items():
                assert torch.equal(state[key], value), (name, ending, key)
        optimizer = torch.optim.Adam(model.parameters(), 0.01)
        optimizer.load_state_dict(load(f"{name}.back_optimizer"))
        theirs = load(f"{name}.theirs_optimizer")["state"]
        ours = optimizer.state_dict()["state"]
        assert theirs and set(ours) == set(theirs), (name, list(ours))
        for number, values in ours.items():
            for key, value in theirs[number].items():
                assert torch.equal(values[key], value), (name, number, key)
        if name == "turned":  # the same state under the model's own numbers there, which are another order
            numbers = {key: i for i, (key, _) in enumerate(model.named_parameters())}
            own = load(f"{name}.own_optimizer")["state"]
            order = [numbers[key] for key in load(f"{name}.own") if key in numbers]
            assert sorted(order) == list(range(len(own))) and order != sorted(order), order
            for mine, number in enumerate(order):
                for key, value in theirs[number].items():
                    assert torch.equal(own[mine][key], value), (name, mine, number, key)
    print(f"{len(MIXTURES)} mixtures of modules came back")


def safetensors_of(path):
    """Reads the format: the length of a JSON header, the header, the bytes."""
    raw = path.read_bytes()
    end = 8 + int.from_bytes(raw[:8], "little")
    types = {"F64": torch.float64, "F32": torch.float32, "I64": torch.int64}
    state = {}
    for key, entry in json.loads(raw[8:end]).items():
        if key == "__metadata__":
            continue
        begin, stop = entry["data_offsets"]
        state[key] = torch.frombuffer(bytearray(raw[end + begin:end + stop]), dtype=types[entry["dtype"]]).reshape(
            entry["shape"])
    return state


MODELS = {"sage": lambda *widths: GraphSAGE(*widths, jk="cat"), "gcn": GCN, "gat": lambda *widths: GAT(*widths, heads=4),
          "gcn_decay": GCN, "sage_decay": GraphSAGE, "gin": lambda *widths: GIN(*widths, norm="batch_norm"), "gin_modules": OwnGin} | {
    f"edge_{name}": lambda *widths, norm=f"{name}_norm": EdgeCNN(*widths, norm=norm)
    for name in ("graph", "layer", "instance", "pair")}
OPTIMIZERS = {"adam": torch.optim.Adam, "sgd": lambda *groups, **decay: torch.optim.SGD(*groups, momentum=0.9, **decay)}


def make_optimizer(name, model, rate):
    kind, optimizer = name.rsplit("_", 1)
    if not kind.endswith("_decay"):
        return OPTIMIZERS[optimizer](model.parameters(), rate, weight_decay=5e-4)
    first = list(model.convs[0].parameters())  # decay of the first layer alone
    others = [p for p in model.parameters() if all(p is not q for q in first)]
    return OPTIMIZERS[optimizer]([{"params": first, "weight_decay": 5e-4}, {"params": others, "weight_decay": 0}], rate)


facts = json.loads((cora / "meta.json").read_text())
array = lambda name: np.load(cora / f"{name}.npy")
features = torch.zeros(facts["nodes"], facts["feat_dim"])
indptr = array("feat_indptr")
features[np.repeat(np.arange(facts["nodes"]), np.diff(indptr)), array("feat_indices").astype(np.int64)] = \
    torch.from_numpy(array("feat_data"))
pairs = torch.from_numpy(array("edges").astype(np.int64)).t()
edges = torch.cat([pairs, pairs.flip(0)], 1)
labels = torch.from_numpy(array("labels").astype(np.int64))


def close(what, found, expected):
    assert found.dtype == expected.dtype and found.shape == expected.shape, (what, found, expected)
    found, expected, tolerance = found.double(), expected.double(), 1e-9 if found.dtype == torch.float64 else 1e-4
    worst = (found - expected).abs().max().item()
    assert worst <= tolerance * max(1, expected.abs().max().item()), (what, worst)


def logits(model, x):
    model.eval()
    with torch.no_grad():
        return model(x, edges)


def step(model, optimizer, x):
    model.train()
    optimizer.zero_grad()
    F.cross_entropy(model(x, edges), labels).backward()
    optimizer.step()


def load(name):
    return torch.load(folder / f"{name}.pth", weights_only=True)


def exchange(name):
    kind = name.rsplit("_", 1)[0]
    state = load(f"{name}.ours")
    x = features.to(next(iter(state.values())).dtype)
    new_model = lambda: MODELS[kind](facts["feat_dim"], 16, 2, facts["classes"]).to(x.dtype)

    model = new_model()
    assert list(state) == list(model.state_dict()), (name, list(state))
    model.load_state_dict(state, strict=True)
    close((name, "logits"), logits(model, x), torch.from_numpy(np.load(folder / f"{name}.ours.npy")))
    optimizer = make_optimizer(name, model, 1000)  # the rate comes with the state
    optimizer.load_state_dict(load(f"{name}.ours_optimizer"))
    step(model, optimizer, x)
    after = load(f"{name}.ours_after")
    for key, value in model.state_dict().items():
        close((name, "after a step", key), value, after[key])

    model = new_model()
    optimizer = make_optimizer(name, model, 0.01)
    for _ in range(3):
        step(model, optimizer, x)
    torch.save(model.state_dict(), folder / f"{name}.theirs.pth")
    torch.save(optimizer.state_dict(), folder / f"{name}.theirs_optimizer.pth")
    averages = {key: value * 0 for key, value in model.state_dict().items()}
    torch.save({"epoch": 3, "model": model.state_dict(), "averages": {"ema": averages, "swa": averages},
                "ema": averages, "optimizer": optimizer.state_dict()}, folder / f"{name}.theirs_checkpoint.pth")
    torch.save({**model.state_dict(), "epoch": 3, "args": argparse.Namespace(lr=0.1)},
               folder / f"{name}.theirs_among.pth")
    logits(model, x).numpy().tofile(folder / f"{name}.theirs.raw")
    step(model, optimizer, x)
    torch.save(model.state_dict(), folder / f"{name}.theirs_after.pth")


if len(sys.argv) > 3:
    make_mixtures() if sys.argv[3] == "make" else take_mixtures()
    sys.exit()
names = sorted(path.name.split(".")[0] for path in folder.glob("*.ours.pth"))
assert names, "nothing to exchange"
for one in names:
    exchange(one)
print(f"{len(names)} models went to PyTorch Geometric {torch_geometric.__version__} on PyTorch {torch.__version__} and back")
