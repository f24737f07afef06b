#!/usr/bin/env bash
# Checks that every test in docs/promises.md exists: the case in a file below tests/, the entry in CMake, and the place where it
# runs, by the entry's labels. A row without a test must say so.
#   promises.sh <top of the source tree> [<build folder, or output of ctest --show-only=json-v1>...]
# An entry of a build that is not listed only has to be added by some CMakeLists.txt.
set -euo pipefail
exec python3 - "$@" <<'PYTHON'
import fnmatch
import json
import os
import re
import subprocess
import sys

source, builds = sys.argv[1], sys.argv[2:]
page = os.path.join(source, "docs", "promises.md")
HEADER = ["promise", "test (ctest entry: case)", "where"]
NONE = ("no test", "not built yet")
NOWHERE = "none"
PLACES = ("CI", "nightly", "GPU")
bad = 0


def complain(line, text):
    global bad
    bad += 1
    print(f"{page}:{line}: {text}")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def files_of(folder, wanted):
    for path, folders, names in os.walk(folder):
        folders[:] = [f for f in folders if f not in (".git", ".deps", "build", "target")]
        yield from (os.path.join(path, name) for name in names if wanted(name))


# The cases of GoogleTest in all programs.
CASE = re.compile(r"\b(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P)\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)")
cases = {f"{suite}.{case}"
         for path in files_of(os.path.join(source, "tests"), lambda name: name.endswith((".cpp", ".cc", ".h")))
         for suite, case in CASE.findall(read(path))}
cmake = "\n".join(re.sub(r"#.*", "", read(path)) for path in files_of(source, lambda name: name == "CMakeLists.txt"))
ADDED = re.compile(r"\bgnnmg_(?:add_(?:\w*test|fuzzer)|register_test)\s*\(\s*([\w${}]+)")
added = [re.sub(r"\$\{\w+\}", r"\\w+", name) for name in set(ADDED.findall(cmake)) if re.sub(r"\$\{\w+\}", "", name)]
presets = os.path.join(source, "CMakePresets.json")
presets = {p["name"] for p in json.loads(read(presets))["configurePresets"]} if os.path.exists(presets) else set()

# For each entry and build: its place, and the filters that select its cases.
entries = {}
for build in builds:
    listing = ["ctest", "--test-dir", build, "--show-only=json-v1"]
    listed = subprocess.check_output(listing, text=True) if os.path.isdir(build) else read(build)
    for test in json.loads(listed)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        labels, command = properties.get("LABELS", []), test.get("command", [])
        place = "nightly" if "long" in labels else "GPU" if {"gpu", "several_gpus"} & set(labels) else "CI"
        filters = [a.split("=", 1)[1] for a in command if a.startswith("--gtest_filter=")]
        filters += [v[13:] for v in properties.get("ENVIRONMENT", []) if v.startswith("GTEST_FILTER=")]
        entries.setdefault(test["name"], []).append((place, filters))


def passes(filters, case):
    """GoogleTest's own rule: some pattern before the minus, none after it; an instance has more name around it."""
    like = lambda patterns: any(
        fnmatch.fnmatchcase(name, pattern) for pattern in patterns.split(":") for name in (case, "x/" + case + "/0"))
    for text in filters:
        wanted, _, unwanted = text.partition("-")
        if not like(wanted or "*") or (unwanted and like(unwanted)):
            return False
    return True


def check_case(line, entry, case):
    if case not in cases:
        return complain(line, f"there is no case {case} in tests/")
    if entry is None:
        return complain(line, f"{case} follows no ctest entry")
    runs = entries.get(entry, [])
    if runs and not any(passes(filters, case) for _, filters in runs):
        complain(line, f"{entry} leaves {case} out")


def check_entry(line, entry, where):
    if entry in entries:
        places = {place for place, _ in entries[entry]}
        if where not in places:
            complain(line, f"{entry} runs in {' and '.join(sorted(places))}, not in {where}")
    elif not any(re.fullmatch(name, entry) for name in added):
        complain(line, f"there is no ctest entry {entry}")


rows, inside = [], False
for number, text in enumerate(read(page).splitlines(), 1):
    if not text.startswith("|"):
        inside = False
        continue
    cells = [cell.strip() for cell in text.strip().strip("|").split("|")]
    if cells == HEADER:
        inside = True
    elif inside and not set(text) <= set("|-: "):
        rows.append((number, cells))

seen, without = set(), 0
for line, cells in rows:
    if len(cells) != 3:
        complain(line, f"the row has {len(cells)} cells, expected {len(HEADER)}")
        continue
    tokens, where = re.findall(r"`([^`]+)`", cells[1]), cells[2]
    if cells[1].startswith(NONE):
        without += 1
        if tokens or where != NOWHERE:
            complain(line, f"a row without a test names none, and its place is \"{NOWHERE}\"")
        continue
    if where not in PLACES:
        complain(line, f"the place \"{where}\", expected one of {', '.join(PLACES)}")
    if not tokens:
        complain(line, f"names no test, and says neither \"{NONE[0]}\" nor \"{NONE[1]}\"")
    entry = None
    for token in tokens:
        if token in presets:  # names a build
            continue
        if "/" in token:  # a script, and the names of its parts
            path, *parts = token.split()
            if not os.path.exists(os.path.join(source, path)):
                complain(line, f"there is no {path}")
                continue
            for part in parts:
                if not re.search(rf"\b{re.escape(part)}\b", read(os.path.join(source, path))):
                    complain(line, f"{path} does not know \"{part}\"")
        elif re.fullmatch(r"\w+\.\w+", token):
            seen.add(token)
            check_case(line, entry, token)
        else:
            entry = token
            seen.add(token)
            check_entry(line, entry, where)
if not rows:
    complain(1, "no table has the columns " + " | ".join(HEADER))
if not bad:
    print(f"{len(rows)} rows, {len(seen)} entries and cases; {without} rows without a test")
sys.exit(bad > 0)
PYTHON
