#!/usr/bin/env python3
"""Runs clang-tidy with the checks of .clang-tidy over the sources of a build, and fails on any finding.

    tidy.py <clang-tidy> <top of the source tree> <build folder> [--all] [--jobs <number>]

Most of the time goes to headers, so all files with the same options become one unit, parsed once. Without --all the rooms that
use LibTorch are left out, and so are the kernels' copies for an instruction set, which include the same files.
Other versions of the tool find other things, so only the pinned one counts; without it the test is skipped, and fails under
continuous integration.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

WANTED = "22.1.8"
# Options of GCC, of precompiled headers, of warnings and code, and of a single compilation.
DROPPED = re.compile(r"-c|-Xclang|-W.*|-O.|-g\d?|-fPIC|-fPIE|-fvisib.*|-fsanitize=.*|-fno-(sanitize.*|gnu-unique|pch-.*|math-errno)")
DROPPED_PAIRS = {"-o", "-include", "-include-pch"}


def options_of(words):
    """The options that change the meaning of a file, from the words of its compilation."""
    words = [word for word in words if word != "-Xclang"]
    kept = []
    while words:
        word = words.pop(0)
        if word in DROPPED_PAIRS:
            words.pop(0)
        elif not DROPPED.fullmatch(word):
            kept.append(word)
    return tuple(kept)


def units(build, everything):
    """Lists of C++ files below src, by options."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file, words = entry["file"], shlex.split(entry["command"])
        room = re.match(r"src/(\w+)/", words[words.index("-o") + 1])
        if not room or not file.endswith(".cpp") or "gnnmg_pch" in file:
            continue
        options = options_of([word for word in words[1:] if word != file])
        if "-fopenmp" in options:  # omp.h is GCC's
            found_in = subprocess.run([words[0], "-print-file-name=include"], text=True, capture_output=True, check=True)
            options += ("-idirafter", found_in.stdout.strip())
        copy = room[1] == "nn" and any(option.startswith("-mavx") for option in options)
        if everything or not copy and not any(option.endswith("/torch/include") for option in options):
            found.setdefault(options, []).append(file)
    return found


def run(tool, top, unit, options):
    command = [tool, "--quiet", f"--config-file={top}/.clang-tidy", f"--header-filter={top}/src/", str(unit)]
    command += ["--", *options, "-Wno-everything"]
    return subprocess.run(command, cwd=top, text=True, capture_output=True, check=False)


def findings(output, top):
    """The tool's reports: a line with file, line, column and check, and the source below it."""
    reports = []
    for line in output.splitlines():
        if re.match(r"\S+:\d+:\d+: (warning|error):", line):
            reports.append([])
        if reports:
            reports[-1].append(line.replace(f"{top}/", "").replace(",-warnings-as-errors]", "]"))
    return ["\n".join(report) for report in reports]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("top", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    top = arguments.top.resolve()
    try:
        version = subprocess.run([arguments.tool, "--version"], text=True, capture_output=True, check=False).stdout
    except OSError:
        version = ""
    if f"version {WANTED}" not in version:
        print(f"needs clang-tidy {WANTED} (src/cmake/setup.sh --tests installs it), found: {version.strip() or 'none'}")
        return 1 if os.environ.get("CI") == "true" else 77

    scratch = arguments.build / "tidy"
    scratch.mkdir(exist_ok=True)
    work = []
    for options, files in units(arguments.build, arguments.all).items():
        unit = (scratch / f"unit_{len(work)}.cpp").resolve()
        unit.write_text("".join(f'#include "{file}"\n' for file in files))
        work.append((unit, options))
    reports, broken = set(), not work
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for result in pool.map(lambda unit: run(arguments.tool, top, *unit), work):
            found = findings(result.stdout, top)
            for report in found:
                if report not in reports:
                    print(report, flush=True)
            reports.update(found)
            if result.returncode and not found:
                broken = True
                print(result.stdout, result.stderr, sep="\n")
    print(f"{len(work)} units, {len(reports)} findings")
    return 1 if reports or broken else 0


if __name__ == "__main__":
    sys.exit(main())
