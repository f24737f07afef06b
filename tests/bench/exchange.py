#!/usr/bin/env python3
"""Compares the exchange between two ranks of one process in two builds:

    python3 tests/bench/exchange.py BEFORE AFTER [ROUNDS [OPTION...]]

BEFORE and AFTER are build folders, or folders with train and libgnnmg.so. They train in turns, ROUNDS times each (11), with
the OPTIONS (planted --ranks 2). Prints the share of an epoch that its all-reduces take, without waiting for slower ranks,
the seconds of an epoch, the CPU seconds of a run, and AFTER divided by BEFORE, round by round.
"""
import os
import re
import subprocess
import sys

from turns import in_turns, machine, quartiles

NAMES = {"share": "all-reduce, % of an epoch", "epoch": "seconds of an epoch", "cpu": "CPU seconds of a run"}


def trainer(folder, options):
    train = next((t for t in (f"{folder}/train", f"{folder}/examples/c/train") if os.path.exists(t)), None)
    if not train:
        sys.exit(f"{folder} has no train")

    def run():
        process = subprocess.Popen([train, *options], stdout=subprocess.PIPE, text=True,
                                   env={**os.environ, "LD_LIBRARY_PATH": os.path.abspath(folder)})
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            sys.exit(f"{train} ended with {status}")
        return {"share": float(re.search(r"all-reduce\s+([0-9.]+) %", output)[1]),
                "epoch": float(re.search(r"epochs of ([0-9.]+) s", output)[1]),
                "cpu": usage.ru_utime + usage.ru_stime}

    return train, run


def main(before, after, rounds="11", *options):
    options = options or ("planted", "--ranks", "2")
    sides = {name: trainer(folder, options) for name, folder in (("before", before), ("after", after))}
    print(machine(sides["after"][0]))
    results, others = in_turns({name: run for name, (_, run) in sides.items()}, int(rounds))
    print(f"train {' '.join(options)}, {rounds} rounds; other programs took {100 * others:.0f} % of the cores")
    for key, name in NAMES.items():
        values = {side: [result[key] for result in results[side]] for side in sides}
        ratios = [b / a for a, b in zip(values["before"], values["after"]) if a > 0]
        print(f"{name}: before {quartiles(values['before'])}, after {quartiles(values['after'])}, "
              f"after / before {quartiles(ratios)}")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
