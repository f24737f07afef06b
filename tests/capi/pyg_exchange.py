"""The other side of pyg_exchange_test.cpp: takes weights and states of optimizers from its files into models of PyTorch
Geometric and optimizers of PyTorch, compares logits and the next step, and writes the same of what is trained here.
Usage: pyg_exchange.py <folder> <folder of the data set Cora>"""
import json
import pathlib
import sys

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
    import torch_geometric
    from torch_geometric.nn import GAT, GCN, GIN, GINConv, GraphSAGE
except ImportError as error:
    print(error)
    sys.exit(77)  # not an error: the test is skipped

folder, cora = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]) / "plain"
torch.set_num_threads(1)
torch.manual_seed(1)



class OwnGin(torch.nn.Module):
    """As users write it: of torch's modules, a norm where it is used."""

    def __init__(self, width, hidden, _, classes):
        super().__init__()
        network = lambda a, b: torch.nn.Sequential(torch.nn.Linear(a, b), torch.nn.BatchNorm1d(b), torch.nn.ReLU(),
                                                   torch.nn.Linear(b, b))
        self.convs = torch.nn.ModuleList([GINConv(network(width, hidden)), GINConv(network(hidden, classes))])
        self.norms = torch.nn.ModuleList([torch.nn.BatchNorm1d(hidden)])

    def forward(self, x, edge_index):
        return self.convs[1](self.norms[0](self.convs[0](x, edge_index)).relu(), edge_index)


MODELS = {"sage": lambda *widths: GraphSAGE(*widths, jk="cat"), "gcn": GCN, "gat": lambda *widths: GAT(*widths, heads=4),
          "gin": lambda *widths: GIN(*widths, norm="batch_norm"), "gin_modules": OwnGin}
OPTIMIZERS = {"adam": lambda p, lr: torch.optim.Adam(p, lr, weight_decay=5e-4),
              "sgd": lambda p, lr: torch.optim.SGD(p, lr, momentum=0.9, weight_decay=5e-4)}

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
    kind, optimizer_kind = name.rsplit("_", 1)
    state = load(f"{name}.ours")
    x = features.to(next(iter(state.values())).dtype)
    new_model = lambda: MODELS[kind](facts["feat_dim"], 16, 2, facts["classes"]).to(x.dtype)

    model = new_model()
    assert list(state) == list(model.state_dict()), (name, list(state))
    model.load_state_dict(state, strict=True)
    close((name, "logits"), logits(model, x), torch.from_numpy(np.load(folder / f"{name}.ours.npy")))
    optimizer = OPTIMIZERS[optimizer_kind](model.parameters(), 1000)  # the rate comes with the state
    optimizer.load_state_dict(load(f"{name}.ours_optimizer"))
    step(model, optimizer, x)
    after = load(f"{name}.ours_after")
    for key, value in model.state_dict().items():
        close((name, "after a step", key), value, after[key])

    model = new_model()
    optimizer = OPTIMIZERS[optimizer_kind](model.parameters(), 0.01)
    for _ in range(3):
        step(model, optimizer, x)
    torch.save(model.state_dict(), folder / f"{name}.theirs.pth")
    torch.save(optimizer.state_dict(), folder / f"{name}.theirs_optimizer.pth")
    averages = {key: value * 0 for key, value in model.state_dict().items()}
    torch.save({"epoch": 3, "model": model.state_dict(), "averages": {"ema": averages, "swa": averages},
                "ema": averages, "optimizer": optimizer.state_dict()}, folder / f"{name}.theirs_checkpoint.pth")
    logits(model, x).numpy().tofile(folder / f"{name}.theirs.raw")
    step(model, optimizer, x)
    torch.save(model.state_dict(), folder / f"{name}.theirs_after.pth")


names = sorted(path.name.split(".")[0] for path in folder.glob("*.ours.pth"))
assert names, "nothing to exchange"
for one in names:
    exchange(one)
print(f"{len(names)} models went to PyTorch Geometric {torch_geometric.__version__} on PyTorch {torch.__version__} and back")
