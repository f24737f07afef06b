"""The other side of tu_exchange_test.cpp: writes random sets in TU Dortmund's form, with labels that have gaps and are
negative, in several columns, beside attributes and without, and the data that PyTorch Geometric's TUDataset makes of each.
Usage: tu_exchange.py <folder>. Each set lies in <folder>/<number>/S/raw, its data in <folder>/<number>/*.txt."""
import pathlib
import random
import sys

try:
    import torch
    from torch_geometric.datasets import TUDataset
except ImportError as error:
    print(error)
    sys.exit(77)  # not an error: the test is skipped

folder = pathlib.Path(sys.argv[1])
draw = random.Random(7)
LABELS = [[-1, 1], [1, 3, 7], [0, 1], [-5, 0, 40], [2, 4], [10, 11, 12, 30]]


def lines(path, rows):
    path.write_text("".join(f"{', '.join(map(str, row)) if isinstance(row, (tuple, list)) else row}\n" for row in rows))


def labels(count, columns):
    """Both ends occur, so that no column is all equal."""
    choices = [draw.choice(LABELS) for _ in range(columns)]
    rows = [[draw.choice(choice) for choice in choices] for _ in range(count)]
    for column, choice in enumerate(choices):
        for row, value in zip(draw.sample(range(count), 2), (choice[0], choice[-1])):
            rows[row][column] = value
    return rows


def numbers(count, columns):
    return [[draw.randint(-40, 40) / 8 for _ in range(columns)] for _ in range(count)]


def write_set(raw, number):
    sizes = [draw.randint(1, 6) for _ in range(draw.randint(4, 9))] + [2]
    edges, first = [], 1
    for size in sizes:
        nodes = range(first, first + size)
        pairs = [(u, v) for u in nodes for v in nodes if u < v < sum(sizes) and draw.random() < 0.6]
        edges += pairs + [(v, u) for u, v in pairs]
        edges += [(u, u) for u in nodes if draw.random() < 0.1]  # self-loops are dropped
        first += size
    edges += [(first - 2, first - 1), (first - 1, first - 2)]  # TUDataset drops last graphs without edges
    draw.shuffle(edges)
    edges.sort(key=lambda edge: sum(edge[0] >= 1 + sum(sizes[:g]) for g in range(len(sizes))))  # graph after graph
    lines(raw / "S_A.txt", edges)
    lines(raw / "S_graph_indicator.txt", [g + 1 for g, size in enumerate(sizes) for _ in range(size)])
    classes = draw.choice(LABELS)
    lines(raw / "S_graph_labels.txt", [draw.choice(classes) for _ in sizes])
    if number % 3 != 2:
        lines(raw / "S_node_labels.txt", labels(sum(sizes), 1 + number % 2))
    if number % 3 != 0:
        lines(raw / "S_node_attributes.txt", numbers(sum(sizes), 2))
    both = {(u, v): draw.random() for u, v in edges}
    if number % 2 and len(edges) > 1:
        lines(raw / "S_edge_labels.txt", labels(len(edges), 1 + number % 5 % 2))
    if number % 7 > 3:
        lines(raw / "S_edge_attributes.txt", numbers(len(edges), 1 + number % 2))
    return len(both)


def table(path, rows):
    rows = rows.tolist()
    path.write_text(f"{len(rows)} {len(rows[0]) if rows else 0}\n" + "".join(
        " ".join(f"{value:.9g}" for value in row) + "\n" for row in rows))


for number in range(24):
    place = folder / str(number)
    raw = place / "S" / "raw"
    raw.mkdir(parents=True)
    write_set(raw, number)
    sets = {"all": TUDataset(place, "S", use_node_attr=True, use_edge_attr=True), "labels": TUDataset(place, "S")}
    for name, graphs in sets.items():
        if graphs[0].x is not None and graphs[0].x.size(1) > 0:
            table(place / f"{name}.txt", torch.cat([graph.x for graph in graphs]))
    graphs = list(sets["all"])
    lines(place / "classes.txt", [int(graph.y) for graph in graphs])
    rows, first = [], 0
    for graph in graphs:
        features = [graph.edge_attr] if graph.edge_attr is not None else []
        rows.append(torch.cat([(graph.edge_index.t() + first).double(), *(f.double() for f in features)], 1))
        first += graph.num_nodes
    table(place / "edges.txt", torch.cat(rows))
print("TUDataset read 24 sets")
