"""Both directions of the exchange of state dicts with PyTorch: loads the files that the test wrote to a folder,
compares them with the .npy files there, and saves files for the test to read. Usage: torch_exchange.py <folder>"""
import argparse
import collections
import datetime
import enum
import functools
import json
import pathlib
import sys
import zipfile

import numpy
import torch

try:
    import safetensors.torch
except ImportError:
    safetensors = None  # the format is simple enough to be read and written here

folder = pathlib.Path(sys.argv[1])
names = (folder / "names.txt").read_text(encoding="utf-8").splitlines()
expected = {}
for i, name in enumerate(names):
    array = torch.from_numpy(numpy.load(folder / f"{i}.npy"))
    # NumPy has no bfloat16; the bits come as 16-bit integers.
    expected[name] = array.view(torch.int16).view(torch.bfloat16) if name.startswith("bf16") else array


def check(what, found, ordered):
    keys = list(found)
    assert (keys if ordered else sorted(keys)) == (names if ordered else sorted(names)), (what, keys)
    for name in names:
        a, b = found[name], expected[name]
        assert a.dtype == b.dtype and a.shape == b.shape, (what, name, a.dtype, a.shape, b.dtype, b.shape)
        assert a.is_contiguous() and not a.requires_grad, (what, name)
        assert a.numpy(force=True).tobytes() == b.numpy(force=True).tobytes() if a.dtype != torch.bfloat16 else \
            torch.equal(a.view(torch.int16), b.view(torch.int16)), (what, name)


# Records of metadata, which torch.load passes over.
with zipfile.ZipFile(folder / "ours.pth") as archive:
    assert {"archive/extra/format", "archive/extra/by"} <= set(archive.namelist()), archive.namelist()
check("torch.load", torch.load(folder / "ours.pth", weights_only=True), True)
check("torch.load, whole pickles", torch.load(folder / "ours.pth", weights_only=False), True)
check("torch.load, mapped", torch.load(folder / "ours.pth", weights_only=True, mmap=True), True)

kinds = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64,
         "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool}
metadata = {"format": "pt", "by": "test"}


def read_safetensors(path):
    raw = path.read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:start])
    assert header.pop("__metadata__") == metadata
    found = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        flat = torch.frombuffer(bytearray(raw[start + begin:start + end]), dtype=torch.uint8) if end > begin else \
            torch.empty(0, dtype=torch.uint8)
        found[name] = flat.view(kinds[entry["dtype"]]).reshape(entry["shape"])
    return found


def write_safetensors(path, tensors):
    names_of_kinds = {kind: name for name, kind in kinds.items()}
    header, data = {"__metadata__": metadata}, b""
    for name, tensor in tensors.items():
        raw = tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""
        header[name] = {"dtype": names_of_kinds[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


check("safetensors", read_safetensors(folder / "ours.safetensors"), False)
if safetensors:
    check("load_file", safetensors.torch.load_file(folder / "ours.safetensors"), False)

state = collections.OrderedDict((name, expected[name]) for name in names)
torch.save(state, folder / "theirs.pth")
torch.save({"epoch": 3, "model": {"module." + name: value for name, value in state.items()}}, folder / "nested.pth")
write_safetensors(folder / "by_hand.safetensors", state)
if safetensors:
    safetensors.torch.save_file(state, folder / "theirs.safetensors", metadata)
whole = torch.arange(24.0).reshape(4, 6)
torch.save({"whole": whole, "row": whole[1], "turned": whole.t(), "column": whole[:, 2], "wide": whole[0, :1].expand(5),
            "parameter": torch.nn.Parameter(whole[2:])}, folder / "views.pth")
model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
torch.save(model.state_dict(), folder / "model.pth")
optimizer = torch.optim.Adam(model.parameters())
model(torch.ones(2, 3)).sum().backward()
optimizer.step()
torch.save(optimizer.state_dict(), folder / "optimizer.pth")
big = {f"layer.{i}.weight": torch.full((2,), float(i)) for i in range(1500)}
torch.save(big, folder / "many.pth")
for protocol in range(1, 6):
    torch.save({"epoch": 3, "model": state, "optimizer": optimizer.state_dict()}, folder / f"legacy{protocol}.pth",
               pickle_protocol=protocol, _use_new_zipfile_serialization=False)


class Colour(enum.Enum):
    RED = 1


class OwnDict(collections.OrderedDict):
    pass


class Node:
    """An object that its content refers to, like those of OmegaConf."""

    def __init__(self):
        self.children = {"parent": self}


Point = collections.namedtuple("Point", "x y")
values = {
    "epoch": 3, "loss": numpy.float64(0.5), "scores": numpy.arange(3), "args": argparse.Namespace(lr=0.1),
    "path": pathlib.PurePosixPath("/data"), "when": datetime.datetime(2020, 1, 2), "colour": Colour.RED,
    "counts": collections.Counter("aab"), "queue": collections.deque([1, 2]), "point": Point(1, 2), "node": Node(),
    "dtype": torch.float16, "large": 2**80, "some": {frozenset([1]), 1 + 2j, range(3), b"x"},
    "part": functools.partial(min, 1), "own": OwnDict(a=1),
}
state_with_values = collections.OrderedDict(state)
state_with_values.update(values)
for end, zipped in ("", True), ("_old", False):
    torch.save({**values, "model": state}, folder / f"beside{end}.pth", _use_new_zipfile_serialization=zipped)
    torch.save(state_with_values, folder / f"among{end}.pth", _use_new_zipfile_serialization=zipped)
