"""Common parts of the comparisons: programs that answer line by line, and rounds measured in turns."""
import json
import os
import re
import statistics
import subprocess


class Server:
    """A program that answers each line of input with a line of JSON."""

    def __init__(self, command, environment=None):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **(environment or {})})

    def ask(self, *words):
        try:
            print(*words, file=self.process.stdin, flush=True)
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise OSError(f"{self.process.args[0]} ended with exit code {self.process.wait()}, asked for {' '.join(words)}")
        return json.loads(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def machine(program):
    """Processor, cores, memory, and the compiler of `program` according to itself: one line."""
    with open("/proc/cpuinfo") as info:
        models = re.findall(r"^model name\s*: (.*)$", info.read(), re.MULTILINE)
    gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    with open(program, "rb") as binary:
        compiler = re.search(rb"GCC: \([^)]*\) [0-9.]+|clang version [0-9.]+", binary.read())
    return (f"machine: {models[0] if models else os.uname().machine}, {len(os.sched_getaffinity(0))} of {os.cpu_count()} cores,"
            f" {gib:.1f} GiB, {compiler[0].decode() if compiler else 'compiler unknown'}")


def busy_ticks():
    fields = [int(x) for x in open("/proc/stat").readline().split()[1:]]
    return sum(fields) - fields[3] - fields[4], sum(fields)


def spread(values, digits=2):
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}-{max(values):.{digits}f})"


def quartiles(values, digits=2):
    lower, middle, upper = statistics.quantiles(values, n=4, method="inclusive")
    return f"{middle:.{digits}f} (quartiles {lower:.{digits}f}, {upper:.{digits}f})"


def in_turns(sides, rounds):
    """Asks each side in turn, `rounds` times; returns lists of their answers by name, and the median
    share of all cores that other programs took."""
    results = {name: [] for name in sides}
    others = []
    for _ in range(rounds):
        for name, side in sides.items():
            busy, total = busy_ticks()
            result = side()
            busy_after, total_after = busy_ticks()
            results[name].append(result)
            own = result["cpu"] * os.sysconf("SC_CLK_TCK")
            others.append(max(0.0, busy_after - busy - own) / max(1, total_after - total))
    return results, statistics.median(others)
