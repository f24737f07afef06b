"""The other side of weight_forms_test.cpp: state dicts whose weights torch stores as the arguments of a function.
Writes NAME.pth, and NAME.plain.pth with the weights themselves.
Usage: weight_forms.py <folder>"""
import pathlib
import sys
import warnings

try:
    import torch
    from torch.nn.utils import parametrizations, prune, spectral_norm, weight_norm
    from torch.nn import Linear, Module, ModuleList, ReLU, Sequential
    from torch_geometric.nn import GINConv, GraphSAGE
except ImportError as error:
    print(error)
    sys.exit(77)  # not an error: the test is skipped

warnings.simplefilter("ignore")  # the older functions are deprecated
folder = pathlib.Path(sys.argv[1])
torch.manual_seed(3)


def registered_twice(linear):
    parametrizations.weight_norm(linear)
    parametrizations.spectral_norm(linear)


class Networks(Module):
    """Convolutions over linear layers of torch; those of PyG's classes also write the weight itself."""

    def __init__(self):
        super().__init__()
        self.convs = ModuleList(GINConv(Sequential(Linear(wide, end), ReLU(), Linear(end, end)))
                                for wide, end in [(6, 8), (8, 4)])

    def forward(self, x, edge_index):
        return self.convs[1](self.convs[0](x, edge_index).relu(), edge_index)


MODELS = {"gin": Networks, "sage": lambda: GraphSAGE(6, 8, 2, 4)}
FORMS = {"older": weight_norm,
         "older_columns": lambda linear: weight_norm(linear, dim=1),
         "older_whole": lambda linear: weight_norm(linear, dim=None),
         "registered": parametrizations.weight_norm,
         "registered_columns": lambda linear: parametrizations.weight_norm(linear, dim=1),
         "registered_whole": lambda linear: parametrizations.weight_norm(linear, dim=None),
         "pruned": lambda linear: prune.l1_unstructured(linear, "weight", 0.4),
         "spectral": parametrizations.spectral_norm,
         "older_spectral": spectral_norm,
         "orthogonal": parametrizations.orthogonal,
         "twice": registered_twice}
for kind, make in MODELS.items():
    for name, form in FORMS.items():
        for dtype in torch.float64, torch.float32:
            model, plain = make().to(dtype), make().to(dtype).state_dict()
            for key in plain:
                if key.endswith("weight"):
                    linear = model.get_submodule(key.rpartition(".")[0])
                    form(linear)
                    for parameter in linear.parameters():
                        parameter.data += 0.1 * torch.randn_like(parameter)
            with torch.no_grad():  # the older functions compute the weights in a pass
                model(torch.randn(3, 6, dtype=dtype), torch.tensor([[0, 1], [1, 2]]))
            model.eval()
            for key in plain:
                module, _, tensor = key.rpartition(".")
                plain[key] = getattr(model.get_submodule(module), tensor).detach().clone()
            end = "" if dtype == torch.float64 else ".f32"
            torch.save(model.state_dict(), folder / f"{kind}_{name}{end}.pth")
            torch.save(plain, folder / f"{kind}_{name}{end}.plain.pth")
