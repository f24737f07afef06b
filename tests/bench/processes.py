#!/usr/bin/env python3
"""Checks the cost and gain of a job of two processes against its bars:

    python3 tests/bench/processes.py BUILD [ROUNDS]

BUILD is a build folder with LibTorch, tests, examples and GNNMG_BENCH (targets train, bench_checkpoint and
train_process_fault_test), ROUNDS the number of runs of each way of training (3).

1. Seeds per second of whole epochs: one process, two independent trainings side by side, and one training of two
   processes, in turns, each process on its own core with one thread and one loader thread. Two processes reach at
   least 1.8 times the rate of one, and their all-reduce takes less than 5 % of an epoch. The rate side by side is the
   limit of the machine; below 1.9 times the rate of one, the machine cannot show the bar. Neither can a run in which
   other programs took a core. The first epoch of each run is not counted.
2. Training pauses for at most 50 ms while a checkpoint of 100 MB is taken.
3. A process with 4 ranks takes at most 1.2 times the memory of one with 1.

Exit status: 0 if all bars hold, 1 if one does not, 77 if one could not be measured and the others hold.
"""
import os
import re
import resource
import socket
import statistics
import subprocess
import sys
import tempfile

from turns import busy_ticks, machine, spread

EPOCHS = 4
OPTIONS = ("products --random-split 0.0803,0.0161 --layers 3 --hidden 256 --fanouts 15,10,5 --batch-size 1024"
           f" --evaluate-every 100 --loader-threads 1 --torch-threads 1 --dropout 0.5 --epochs {EPOCHS}").split()
DISTURBED = 0.2  # cores that others may have used in a run that counts
ENOUGH = 1.9     # least ratio to one process, side by side; below it the machine is the limit


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def cpu_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(commands):
    """Runs all (core, command, environment) at once; returns their outputs, and the cores that other programs took."""
    hertz = os.sysconf("SC_CLK_TCK")
    own, (busy, total) = cpu_of_children(), busy_ticks()
    started = [subprocess.Popen(["taskset", "-c", str(core), *command], stdout=subprocess.PIPE, text=True,
                                env={**os.environ, **environment}) for core, command, environment in commands]
    outputs = [process.communicate()[0] for process in started]
    if any(process.returncode for process in started):
        sys.exit(f"{commands[0][1][0]} ended with {[process.returncode for process in started]}")
    busy_after, total_after = busy_ticks()
    elapsed = max(1, total_after - total) / os.cpu_count()
    others = (busy_after - busy - hertz * (cpu_of_children() - own)) / elapsed
    return outputs, max(0.0, others)


def epochs_of(output):
    rates = [float(rate) for rate in re.findall(r"^epoch .* ([0-9]+) seeds/s$", output, re.MULTILINE)]
    if len(rates) != EPOCHS:
        sys.exit(f"train has reported {len(rates)} epochs, expected {EPOCHS}:\n{output}")
    return rates[1:]


def train(program, cores, together):
    """Seeds per second by epoch, and the shares of all-reduce and of waiting for the other rank."""
    environments = [{} for _ in cores]
    if together:
        shared = {"WORLD_SIZE": str(len(cores)), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
        environments = [{**shared, "RANK": str(r), "LOCAL_RANK": str(r)} for r in range(len(cores))]
    outputs, others = run([(core, [program, *OPTIONS], environment) for core, environment in zip(cores, environments)])
    if together:
        rates = epochs_of(outputs[0])
    else:
        rates = [sum(parts) for parts in zip(*map(epochs_of, outputs))]
    shares = [float(re.search(rf"{name} ([0-9.]+) %", outputs[0])[1]) for name in ("all-reduce", "slower ranks")]
    return {"rates": rates, "all-reduce": shares[0], "waiting": shares[1], "others": others}


class Verdict:
    def __init__(self):
        self.failed = self.unjudged = False

    def judge(self, text, good, why_not=None):
        word = "holds" if good else f"cannot be judged: {why_not}" if why_not else "DOES NOT HOLD"
        self.failed |= not good and not why_not
        self.unjudged |= not good and bool(why_not)
        print(f"  bar: {text}: {word}", flush=True)


def two_processes(program, rounds, verdict):
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        return verdict.judge("two processes >= 1.8 times one", False, "there is one core")
    ways = {"one process": (cores[:1], False), "side by side": (cores, False), "two processes": (cores, True)}
    results = {way: [] for way in ways}
    for number in range(rounds):
        for way, (used, together) in ways.items():
            result = train(program, used, together)
            results[way].append(result)
            print(f"round {number + 1}, {way:13}: {spread(result['rates'], 0)} seeds/s; others took"
                  f" {result['others']:.2f} cores{' (not counted)' if result['others'] > DISTURBED else ''}", flush=True)
    quiet = {way: [r for r in rows if r["others"] <= DISTURBED] for way, rows in results.items()}
    busy = None if all(quiet.values()) else f"others took more than {DISTURBED} cores in every run of one way"
    counted = quiet if not busy else results
    rates = {way: [rate for row in rows for rate in row["rates"]] for way, rows in counted.items()}
    middle = {way: statistics.median(values) for way, values in rates.items()}
    one = middle["one process"]
    for way, values in rates.items():
        print(f"{way:13}: {spread(values, 0)} seeds/s, {middle[way] / one:.2f} times one,"
              f" {middle[way] / middle['side by side']:.2f} times side by side")
    both = counted["two processes"]
    print(f"of an epoch of two processes: all-reduce {spread([r['all-reduce'] for r in both], 1)} %,"
          f" waiting for the slower rank {spread([r['waiting'] for r in both], 1)} %")
    limit = middle["side by side"] / one
    narrow = f"side by side is only {limit:.2f} times one" if limit < ENOUGH else None
    verdict.judge("two processes >= 1.8 times one", middle["two processes"] >= 1.8 * one, busy or narrow)
    verdict.judge("all-reduce < 5 % of an epoch", max(r["all-reduce"] for r in both) < 5, busy)


def checkpoint(program, verdict):
    with tempfile.TemporaryDirectory() as folder:
        # Not pinned, because the writer's thread needs its own core.
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        line = subprocess.run([program, folder], check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
    print(line, end="")
    megabytes = float(re.match(r"([0-9.]+) MB", line)[1])
    pause = float(re.search(r"stands still for ([0-9.]+) ms", line)[1])
    verdict.judge("at most 50 ms for 100 MB", pause * 100 / megabytes <= 50)


def memory(program, verdict):
    output = subprocess.run([program, "--gtest_filter=ProcessMemory.*"], stdout=subprocess.PIPE, text=True).stdout
    found = re.search(r"training: ([0-9]+) MB with 1 rank, ([0-9]+) MB with 4", output)
    if not found:
        sys.exit(f"{program} has not said how much memory the ranks take:\n{output}")
    one, four = map(int, found.groups())
    print(f"graph, features and training: {one} MB with 1 rank, {four} MB with 4, {four / one:.2f} times")
    verdict.judge("4 ranks <= 1.2 times 1", four <= 1.2 * one)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    build = sys.argv[1]
    program = os.path.join(build, "examples/c/train")
    print(machine(program), flush=True)
    verdict = Verdict()
    two_processes(program, int(sys.argv[2]) if len(sys.argv) == 3 else 3, verdict)
    checkpoint(os.path.join(build, "tests/bench/bench_checkpoint"), verdict)
    memory(os.path.join(build, "tests/train/train_process_fault_test"), verdict)
    sys.exit(1 if verdict.failed else 77 if verdict.unjudged else 0)


if __name__ == "__main__":
    main()
