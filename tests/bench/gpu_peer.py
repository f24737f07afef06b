#!/usr/bin/env python3
"""A peer's side of the benchmarks on a GPU: answers each line of its input, a task, with a line
of JSON. gpu.py starts it in the Python with torch:

    gpu_peer.py DEVICE FOLDER HIDDEN

DEVICE is cuda, or cpu to try the benchmark's own code; FOLDER has the blocks from bench_gpu. Layers
are PyTorch Geometric's if it can be imported (PYTHONPATH is enough, because it is pure Python), else
the same operators in the order of its SAGEConv; `info` names the choice.

    info
    mean WAY COLUMNS forward|backward LAYER    WAY: cusparse, csr (torch's sparse product), scatter
    first WAY COLUMNS NODES                    gather of rows from a table, own rows
                                               among them, then their mean
    epoch csr|lists NODES TF32                 a training step of PyG's layers on ready blocks
    forget
"""
import ctypes
import glob
import json
import sys
import time
import warnings

import numpy as np
import torch
import torch.nn.functional as F

CLASSES, FEATURES = 47, 100
AGREE, MOST_WINDOWS, LEAST = 0.02, 12, 50


class Timer:
    """Seconds of one call, from the device's events and the wall clock: the last of two windows of
    `times` calls that agree within 2 %."""

    def __init__(self, device):
        self.cuda = device.type == "cuda"

    def window(self, once, times):
        if self.cuda:
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda.synchronize()
        wall = time.perf_counter()
        if self.cuda:
            begin.record()
        for _ in range(times):
            once()
        if self.cuda:
            end.record()
            end.synchronize()
        wall = (time.perf_counter() - wall) / times
        return (1e-3 * begin.elapsed_time(end) / times if self.cuda else wall), wall

    def time(self, once, times):
        times, windows = (times, MOST_WINDOWS) if self.cuda else (1, 2)  # times on the CPU are no measurement
        device, wall = self.window(once, times)
        steady = False
        for _ in range(windows - 1):
            before = device
            device, wall = self.window(once, times)
            steady = abs(device - before) <= AGREE * before
            if steady:
                break
        return {"device": device, "wall": wall, "steady": steady}


class CuSparse:
    """Products of one CSR matrix with dense rows by cuSPARSE itself: descriptors, buffer and
    preprocessing made once, the fastest of its algorithms for CSR."""
    INT32, BASE_ZERO, FLOAT, ROW_MAJOR, PLAIN = 2, 0, 0, 2, 0
    ALGORITHMS = {"default": 0, "CSR_ALG1": 4, "CSR_ALG2": 6, "CSR_ALG3": 12}

    def __init__(self, timer, indptr, indices, values, columns, x, out):
        self.library = ctypes.CDLL("libcusparse.so.12")
        self.kept = (indptr, indices, values, x, out)  # descriptors hold their addresses
        self.one, self.zero = ctypes.c_float(1), ctypes.c_float(0)
        self.handle = ctypes.c_void_p()
        self.call("cusparseCreate", ctypes.byref(self.handle))
        self.call("cusparseSetStream", self.handle, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
        self.columns = columns
        self.x, self.out = self.dense(x), self.dense(out)
        self.ways = {}
        for name, algorithm in self.ALGORITHMS.items():
            try:
                self.ways[name] = self.prepare(algorithm)
            except RuntimeError:  # the algorithm does not support the arguments
                continue
        if not self.ways:
            raise RuntimeError("cuSPARSE has no algorithm for this product")
        times = {name: timer.window(lambda way=way: self.product(way), 20)[0]
                 for name, way in self.ways.items() for _ in range(2)}
        self.algorithm = min(times, key=times.get)

    @staticmethod
    def address(tensor):
        return ctypes.c_void_p(tensor.data_ptr())

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status:
            raise RuntimeError(f"{name}: status {status}")

    def dense(self, tensor):
        descriptor = ctypes.c_void_p()
        rows, columns = tensor.shape
        self.call("cusparseCreateDnMat", ctypes.byref(descriptor), ctypes.c_int64(rows), ctypes.c_int64(columns),
                  ctypes.c_int64(tensor.stride(0)), self.address(tensor), self.FLOAT, self.ROW_MAJOR)
        return descriptor

    def sparse(self):
        """A matrix keeps only the last preparation, so each algorithm has its own descriptor."""
        indptr, indices, values = self.kept[:3]
        matrix = ctypes.c_void_p()
        self.call("cusparseCreateCsr", ctypes.byref(matrix), ctypes.c_int64(len(indptr) - 1),
                  ctypes.c_int64(self.columns), ctypes.c_int64(len(indices)), *map(self.address, (indptr, indices, values)),
                  self.INT32, self.INT32, self.BASE_ZERO, self.FLOAT)
        return matrix

    def arguments(self, algorithm, matrix):
        return (self.handle, self.PLAIN, self.PLAIN, ctypes.byref(self.one), matrix, self.x,
                ctypes.byref(self.zero), self.out, self.FLOAT, algorithm)

    def prepare(self, algorithm):
        size, matrix = ctypes.c_size_t(), self.sparse()
        self.call("cusparseSpMM_bufferSize", *self.arguments(algorithm, matrix), ctypes.byref(size))
        buffer = torch.empty(max(1, size.value), dtype=torch.uint8, device="cuda")
        self.call("cusparseSpMM_preprocess", *self.arguments(algorithm, matrix), self.address(buffer))
        return algorithm, matrix, buffer

    def product(self, way):
        algorithm, matrix, buffer = way
        self.call("cusparseSpMM", *self.arguments(algorithm, matrix), self.address(buffer))

    def __call__(self):
        self.product(self.ways[self.algorithm])


class Block:
    """One layer of a mini-batch, as CSR, as a list of edges, and transposed for gradients."""

    def __init__(self, folder, number, layer, sources, device):
        def load(part):
            return torch.from_numpy(np.load(f"{folder}/epoch_{number}_{layer}_{part}.npy")).to(device)
        self.indptr, self.indices = load("indptr"), load("indices")
        self.targets, self.sources = len(self.indptr) - 1, sources
        self.degrees = self.indptr.diff().clamp(min=1)
        self.target_of = torch.repeat_interleave(torch.arange(self.targets, device=device), self.indptr.diff().long())

    def mean_values(self):
        return (1.0 / self.degrees.float())[self.target_of]

    def transposed(self):
        """indptr, indices and values of the transposed matrix."""
        order = torch.argsort(self.indices, stable=True)
        counts = torch.bincount(self.indices, minlength=self.sources)
        indptr = F.pad(counts.cumsum(0), (1, 0)).int()
        return indptr, self.target_of[order].int(), self.mean_values()[order]

    def csr(self):
        return torch.sparse_csr_tensor(self.indptr, self.indices, torch.ones(len(self.indices), device=self.indices.device),
                                       (self.targets, self.sources))

    def edge_index(self):
        return torch.stack([self.indices.long(), self.target_of])


def blocks_of(folder, number, device, layers=None):
    nodes = torch.from_numpy(np.load(f"{folder}/epoch_{number}_nodes.npy")).to(device)
    count = len(glob.glob(f"{folder}/epoch_{number}_*_indptr.npy"))
    blocks, sources = [], len(nodes)
    for layer in range(count):
        blocks.append(Block(folder, number, layer, sources, device))
        sources = blocks[-1].targets
    return nodes, blocks


class OwnSage(torch.nn.Module):
    """PyG's SAGEConv((x, x[:targets]), block) from its own operators."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.lin_l = torch.nn.Linear(inputs, outputs)
        self.lin_r = torch.nn.Linear(inputs, outputs, bias=False)

    def forward(self, x, edges):
        if edges.layout == torch.sparse_csr:
            degrees = edges.crow_indices().diff().view(-1, 1).clamp(min=1)
            mean = torch.sparse.mm(edges, x[0]) / degrees
        else:
            source, target = edges
            index = target.view(-1, 1).expand(-1, x[0].shape[1])
            mean = x[0].new_zeros(x[1].shape).scatter_add_(0, index, x[0].index_select(0, source))
            mean = mean / x[0].new_zeros(len(x[1])).scatter_add_(0, target, x[0].new_ones(len(target))).clamp(min=1).view(-1, 1)
        return self.lin_l(mean) + self.lin_r(x[1])


def sage():
    try:
        import torch_geometric
        from torch_geometric.nn import SAGEConv
        return f"PyG {torch_geometric.__version__}", SAGEConv
    except ImportError:
        return "the operators of PyG's SAGEConv (no torch_geometric here)", OwnSage


class Training:
    """PyG's layers on blocks in device memory, rows gathered from a table on the device, Adam."""

    def __init__(self, peer, way, nodes, tf32):
        self.tf32, device = tf32, peer.device
        _, conv = sage()
        self.batches = []
        for number in range(len(glob.glob(f"{peer.folder}/epoch_*_nodes.npy"))):
            ids, blocks = blocks_of(peer.folder, number, device)
            edges = [block.csr() if way == "csr" else block.edge_index() for block in blocks]
            self.batches.append((ids, [block.targets for block in blocks], edges))
        self.x = torch.randn(nodes, FEATURES, device=device)
        self.y = torch.randint(CLASSES, (nodes,), device=device)
        widths = [FEATURES] + [peer.hidden] * (len(blocks) - 1) + [CLASSES]
        self.layers = torch.nn.ModuleList(conv(i, o) for i, o in zip(widths, widths[1:])).to(device)
        self.optimizer = torch.optim.Adam(self.layers.parameters(), lr=0.003, fused=device.type == "cuda")
        self.turn = 0

    def step(self):
        ids, targets, edges = self.batches[self.turn % len(self.batches)]
        self.turn += 1
        x = self.x[ids]
        for number, layer in enumerate(self.layers):
            x = layer((x, x[:targets[number]]), edges[number])
            if number + 1 < len(self.layers):
                x = F.dropout(F.relu(x), 0.5, True)
        loss = F.cross_entropy(x, self.y[ids[:targets[-1]]])
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def time(self, timer):
        torch.backends.cuda.matmul.allow_tf32 = self.tf32
        return {**timer.time(self.step, max(LEAST, len(self.batches))), "batches": len(self.batches)}


class Peer:
    def __init__(self, device, folder, hidden):
        self.device, self.folder, self.hidden = torch.device(device), folder, int(hidden)
        self.timer, self.kept = Timer(self.device), {}

    def info(self):
        cuda = self.device.type == "cuda"
        return {"torch": torch.__version__, "layers": sage()[0], "cuda": torch.version.cuda,
                "device": torch.cuda.get_device_name() if cuda else "cpu"}

    def once(self, key, make):
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]

    def rows(self, count, columns):
        return torch.rand(count, columns, device=self.device)

    def forward_of(self, way, block, x):
        """A call that aggregates, and the tensor for its result or None."""
        out = torch.empty(block.targets, x.shape[1], device=self.device)
        if way == "cusparse":
            return CuSparse(self.timer, block.indptr, block.indices, block.mean_values(), block.sources, x, out), out
        if way == "csr":
            matrix = torch.sparse_csr_tensor(block.indptr, block.indices, block.mean_values(),
                                             (block.targets, block.sources))
            return lambda: torch.sparse.mm(matrix, x), None
        if way == "scatter":
            index, sources = block.target_of.view(-1, 1).expand(-1, x.shape[1]), block.indices.long()
            degrees = block.degrees.view(-1, 1)
            return lambda: torch.zeros_like(out).scatter_add_(0, index, x.index_select(0, sources)) / degrees, None
        raise ValueError(f"no such way: {way}")

    def backward_of(self, way, block, dy):
        out = torch.empty(block.sources, dy.shape[1], device=self.device)
        indptr, indices, values = block.transposed()
        if way == "cusparse":
            return CuSparse(self.timer, indptr, indices, values, block.targets, dy, out), out
        if way == "csr":
            matrix = torch.sparse_csr_tensor(indptr, indices, values, (block.sources, block.targets))
            return lambda: torch.sparse.mm(matrix, dy), None
        if way == "scatter":
            index, degrees = block.indices.long().view(-1, 1).expand(-1, dy.shape[1]), block.degrees.view(-1, 1)
            return (lambda: torch.zeros_like(out).scatter_add_(0, index, (dy / degrees).index_select(0, block.target_of)),
                    None)
        raise ValueError(f"no such way: {way}")

    def answer(self, call, out, reference):
        timing = self.timer.time(call, LEAST)
        result = call()
        found = result if out is None else out
        wanted = reference()
        timing["error"] = ((found - wanted).abs().max() / wanted.abs().max()).item()
        timing["algorithm"] = getattr(call, "algorithm", "")
        return timing

    def mean(self, way, columns, direction, layer):
        def make():
            block = blocks_of(self.folder, 0, self.device)[1][int(layer)]
            backward = direction == "backward"
            x = self.rows(block.targets if backward else block.sources, int(columns))
            plain = (self.backward_of if backward else self.forward_of)("scatter", block, x)[0]
            return (*(self.backward_of if backward else self.forward_of)(way, block, x), plain)
        return self.answer(*self.once(("mean", way, columns, direction, layer), make))

    def first(self, way, columns, nodes):
        def make():
            ids, blocks = blocks_of(self.folder, 0, self.device)
            table = self.rows(int(nodes), int(columns))
            x = torch.empty(blocks[0].sources, int(columns), device=self.device)
            forward, out = self.forward_of(way, blocks[0], x)
            plain = self.forward_of("scatter", blocks[0], x)[0]

            def both():
                torch.index_select(table, 0, ids, out=x)
                return forward()
            both.algorithm = getattr(forward, "algorithm", "")
            return both, out, plain
        return self.answer(*self.once(("first", way, columns), make))

    def epoch(self, way, nodes, tf32):
        training = self.once(("epoch", way, tf32), lambda: Training(self, way, int(nodes), tf32 == "tf32"))
        return training.time(self.timer)

    def forget(self):
        self.kept = {}
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
        return {}


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    warnings.filterwarnings("ignore")  # a warning that sparse tensors are new
    peer = Peer(*sys.argv[1:])
    if peer.device.type == "cpu":
        torch.set_num_threads(1)
    for line in sys.stdin:
        task, *words = line.split()
        try:
            answer = getattr(peer, task)(*words)
        except Exception as error:  # reported to the caller; the next task may work
            answer = {"failed": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
