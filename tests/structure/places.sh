#!/usr/bin/env bash
# Checks the table "Where to look" in src/README.md: every file exists, and every function is in a file of its row.
#   places.sh <top of the source tree>
set -euo pipefail
exec python3 - "$@" <<'PYTHON'
import os
import re
import sys

source = os.path.join(sys.argv[1], "src")
with open(os.path.join(source, "README.md"), encoding="utf-8") as file:
    table = file.read().split("## Where to look")[1].split("\n## ")[0]
bad = []
files = set()
for row in re.findall(r"^\| [A-Z].*\|$", table, re.MULTILINE):
    paths = re.findall(r"`([\w/]+\.\w+)`", row)
    files.update(paths)
    text = ""
    for path in paths:
        try:
            with open(os.path.join(source, path), encoding="utf-8") as file:
                text += file.read()
        except OSError:
            bad.append(f"src/README.md: there is no src/{path}")
    bad += [f"src/README.md: {name}() is in none of {', '.join(paths)}"
            for name in re.findall(r"`(\w+)\(\)`", row) if not re.search(rf"\b{name}\(", text)]
if not files:
    bad.append("src/README.md: the table \"Where to look\" has no files")
print("\n".join(bad) or f"{len(files)} files")
sys.exit(bool(bad))
PYTHON
