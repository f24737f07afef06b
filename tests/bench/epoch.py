#!/usr/bin/env python3
"""Compares whole training epochs in turns: ours, and peers, each in its own Python.

    build/bench/tests/bench/bench_rounds export FOLDER 244903
    build/bench/tests/bench/bench_epoch blocks FOLDER
    python3 tests/bench/epoch.py --bench build/bench/tests/bench/bench_epoch --graph FOLDER \\
        --ours 2,1,1,every_layer --peer dgl=PYTHON --peer pyg_blocks=PYTHON

--ours sets threads, ranks, loader threads per rank, the expansion, and "bf16" for products in bf16
(bench_epoch); --peer selects a way of epoch_peer.py, with the suffix "+kept" to keep the pages of
freed memory. Both can be repeated. The first epoch of each is not counted.
"""
import argparse
import os
import statistics

from turns import Server, in_turns, machine, quartiles, spread

KEPT = {"GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=17179869184:glibc.malloc.trim_threshold=17179869184"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", required=True, help="the program bench_epoch")
    parser.add_argument("--graph", required=True, help="the folder that bench_rounds exported to")
    parser.add_argument("--ours", action="append", default=[])
    parser.add_argument("--peer", action="append", default=[])
    parser.add_argument("--threads", default="2", help="of the peers")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    print(machine(options.bench), flush=True)

    servers = {}
    for ours in options.ours:
        servers[f"libgnnmg {ours}"] = Server([options.bench, "serve", options.graph, *ours.split(",")])
    for peer in options.peer:
        way, python = peer.split("=", 1)
        way, kept, _ = way.partition("+kept")
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "epoch_peer.py")
        servers[f"{way}{', pages kept' if kept else ''}"] = Server(
            [python, script, way, options.graph, options.threads], KEPT if kept else None)
    sides = {name: lambda server=server: server.ask("epoch") for name, server in servers.items()}
    in_turns(sides, 1)
    results, others = in_turns(sides, options.repeat)
    print(f"{options.repeat} epochs each, others took {100 * others:.0f} % of the machine")
    first = results[next(iter(results))]
    for name, rows in results.items():
        def middle(key):
            return f"{statistics.median(row.get(key, 0) for row in rows):.2f}"
        print(f"{name:32} wall {spread([r['wall'] for r in rows])} s, CPU {spread([r['cpu'] for r in rows])} s;"
              f" of the first's: wall {quartiles([r['wall'] / f['wall'] for r, f in zip(rows, first)])},"
              f" CPU {quartiles([r['cpu'] / f['cpu'] for r, f in zip(rows, first)])};"
              f" sample {middle('sample')}, gather {middle('gather')}, wait {middle('wait')},"
              f" compute {middle('compute')}, step {middle('step')}; loss {rows[-1]['loss']:.3f},"
              f" at most {max(abs(r['loss'] - f['loss']) for r, f in zip(rows, first)):.4f} from the first's;"
              f" peak {rows[-1]['peak_mb']:.0f} MB, {rows[-1]['loaded_mb']:.0f} after loading")
    for server in servers.values():
        server.close()


if __name__ == "__main__":
    main()
