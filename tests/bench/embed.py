#!/usr/bin/env python3
"""Compares results for all nodes in turns: ours, other versions of the library, and DGL.

    build/bench/tests/bench/bench_embed save 244903 FOLDER
    python3 tests/bench/embed.py --bench build/bench/tests/bench/bench_embed --graph FOLDER --threads 1 \\
        --before BENCH_EMBED_OF_ANOTHER_VERSION --peer PYTHON

--peer is a Python with DGL, which runs as installed and with kept pages of freed memory. The first
pass of each is not counted.
"""
import argparse
import os

from epoch import KEPT
from turns import Server, in_turns, machine, quartiles, spread


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", required=True, help="the program bench_embed")
    parser.add_argument("--graph", required=True, help="the folder that it saved")
    parser.add_argument("--before", action="append", default=[])
    parser.add_argument("--peer", action="append", default=[])
    parser.add_argument("--threads", default="2")
    parser.add_argument("--repeat", type=int, default=11)
    options = parser.parse_args()
    print(machine(options.bench), flush=True)

    threads = {"OMP_NUM_THREADS": options.threads}
    servers = {"libgnnmg": Server([options.bench, "serve", options.graph], threads)}
    for program in options.before:
        servers[f"before, {program}"] = Server([program, "serve", options.graph], threads)
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "embed_peer.py")
    for python in options.peer:
        for name, kept in (("DGL", {}), ("DGL, pages kept", KEPT)):
            servers[name] = Server([python, script, options.graph, options.threads], {**threads, **kept})
    sides = {name: lambda server=server: server.ask("embed") for name, server in servers.items()}
    in_turns(sides, 1)
    results, others = in_turns(sides, options.repeat)
    print(f"{options.repeat} passes each, others took {100 * others:.0f} % of the machine")
    first = results["libgnnmg"]
    for name, rows in results.items():
        print(f"{name:32} wall {spread([r['wall'] for r in rows])} s, CPU {spread([r['cpu'] for r in rows])} s;"
              f" of the first's: wall {quartiles([r['wall'] / f['wall'] for r, f in zip(rows, first)])},"
              f" CPU {quartiles([r['cpu'] / f['cpu'] for r, f in zip(rows, first)])};"
              f" peak {rows[-1]['peak_mb']:.0f} MB, {rows[-1]['loaded_mb']:.0f} after loading;"
              f" bits {rows[-1].get('hash', '-')}")
    for server in servers.values():
        server.close()


if __name__ == "__main__":
    main()
