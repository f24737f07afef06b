"""The other side of trainer_exchange_test.cpp: begins trainings in PyTorch Geometric that trainers go on with, and goes on
with trainings that trainers have begun.
Usage: trainer_exchange.py begin|end <folder> <folder of the data set Cora>"""
import json
import pathlib
import sys

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
    from torch_geometric.nn import GAT, GCN, GraphSAGE
except ImportError as error:
    print(error)
    sys.exit(77)  # not an error: the test is skipped

STEPS = 4
phase, folder, cora = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]) / "plain"
torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
torch.manual_seed(1)

MODELS = {"sage": GraphSAGE, "gcn": GCN, "gat": lambda *widths: GAT(*widths, heads=4),
          "gcn_dgl": lambda *widths: GCN(*widths, add_self_loops=False, normalize=False), "sage_dgl": GraphSAGE}
OPTIMIZERS = {"adam": lambda p: torch.optim.Adam(p, 0.01, weight_decay=5e-4),
              "amsgrad": lambda p: torch.optim.AdamW(p, 0.01, weight_decay=0.01, amsgrad=True),
              "sgd": lambda p: torch.optim.SGD(p, 0.05, momentum=0.9, nesterov=True, weight_decay=5e-4)}

facts = json.loads((cora / "meta.json").read_text())
array = lambda name: np.load(cora / f"{name}.npy")
x = torch.zeros(facts["nodes"], facts["feat_dim"])
x[np.repeat(np.arange(facts["nodes"]), np.diff(array("feat_indptr"))), array("feat_indices").astype(np.int64)] = \
    torch.from_numpy(array("feat_data")).double()
pairs = torch.from_numpy(array("edges").astype(np.int64)).t()
edges = torch.cat([pairs, pairs.flip(0)], 1)
labels = torch.from_numpy(array("labels").astype(np.int64))
train = torch.from_numpy(array("split_public")[0] == 1)


class Training:
    def __init__(self, name):
        model, optimizer = name.rsplit("_", 1)
        self.model = MODELS[model](facts["feat_dim"], 16, 2, facts["classes"])
        self.optimizer = OPTIMIZERS[optimizer](self.model.parameters())

    def run(self):
        for _ in range(STEPS):
            self.optimizer.zero_grad()
            F.cross_entropy(self.model(x, edges)[train], labels[train]).backward()
            self.optimizer.step()


for name in (folder / "names.txt").read_text().split():
    training = Training(name)
    save = lambda what, end: torch.save(what.state_dict(), folder / f"{name}.{end}.pth")
    if phase == "begin":
        training.run()
        save(training.model, "theirs")
        save(training.optimizer, "theirs_optimizer")
        training.run()
        save(training.model, "theirs_after")
        continue
    load = lambda end: torch.load(folder / f"{name}.{end}.pth", weights_only=True)
    training.model.load_state_dict(load("ours"), strict=True)
    training.optimizer.load_state_dict(load("ours_optimizer"))
    training.run()
    after = load("ours_after")
    for key, found in training.model.state_dict().items():
        worst = (found - after[key]).abs().max().item()
        assert worst <= 1e-10, (name, key, worst)
