#!/usr/bin/env bash
# Checks the table of operations in src/README.md: every entry of the tables of kernels is in one row, and the files of a row
# have its names.
#   operations.sh <top of the source tree>
set -euo pipefail
exec python3 - "$@" <<'PYTHON'
import os
import re
import sys

source = os.path.join(sys.argv[1], "src")
COLUMNS = ("nn/ops", "nn/kernels", "cuda/layer")
bad = []


def read(path):
    with open(os.path.join(source, path), encoding="utf-8") as file:
        return file.read()


def entries(path, struct):
    """The function pointers of a table of kernels."""
    body = read(path).split(f"struct {struct} {{")[1].split("\n};")[0]
    return re.findall(r"\(\*(\w+)\)", body)


expected = set(entries("nn/kernels/kernels.h", "Table")) | set(entries("nn/kernels/device.h", "DeviceLayers"))
segments = set(re.findall(r"\bvoid (\w*segments?\w*)\(", read("nn/kernels/segments.h")))
listed = []
for row in re.findall(r"^\| `.*`.*\|$", read("README.md").split("## An operation has one name")[1], re.MULTILINE):
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    names = re.findall(r"`(\w+)`", cells[0])
    listed += names
    for folder, cell in zip(COLUMNS, cells[1:]):
        if cell.startswith("none: "):
            continue
        files = re.findall(r"`([\w.]+)`", cell)
        text = "".join(read(f"{folder}/{file}") for file in files)
        # Some operations prepare others and exist on a GPU only.
        on_one_side = expected - set(entries("nn/kernels/kernels.h", "Table")) - segments
        for name in names:
            if not re.search(rf"\b{name}\b", text) and not (folder == "nn/kernels" and name in on_one_side):
                bad.append(f"src/{folder}: {name} is in none of {', '.join(files)}")
for name in sorted(expected - set(listed)):
    bad.append(f"src/README.md: the table of operations lacks {name}")
for name in sorted(set(listed) - expected - segments):
    bad.append(f"src/README.md: {name} is an entry of no table of kernels")
for name in sorted({name for name in listed if listed.count(name) > 1}):
    bad.append(f"src/README.md: {name} is in two rows of the table of operations")
print("\n".join(bad) or f"{len(listed)} operations in {len(expected)} entries")
sys.exit(bool(bad))
PYTHON
