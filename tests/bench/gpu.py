#!/usr/bin/env python3
"""Checks the bars of a GPU, ours and a peer in turns on the same machine within the same minutes:

    python3 tests/bench/gpu.py --bench build/gpu/tests/bench/gpu/bench_gpu

prints a table: measurement, ours, the peer's, the ratio, the bar and the verdict. Its Python needs
torch; PyTorch Geometric is used if it can be imported. --check exits with 1 if a bar is missed.
--short measures once and less, epochs first, if there are few minutes. --smoke runs the benchmark's
own code on a fake GPU (bench_gpu_fake) and a peer on the CPU, at a tiny size: its numbers are no
measurement, and no bar is checked.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from turns import Server

HERE = os.path.dirname(os.path.abspath(__file__))
WIDTHS = (100, 256)
HEADER = "| bar | what | ours | peer | ratio | needed | |\n|---|---|---|---|---|---|---|"
ORDER_IF_SHORT = ("epochs", "sampling", "gathers", "means")
QUERY = "clocks.sm,clocks.mem,power.draw,power.limit,temperature.gpu"


def spread(values, unit=1.0, digits=2):
    values = [value / unit for value in values]
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}-{max(values):.{digits}f})"


def no_waits(epoch):
    """Bar 18: the few waits are those at the end of an epoch."""
    return epoch["waits"] + epoch["stalls"] <= 8 and epoch["pageable"] == 0 and epoch["allocations"] == 0


class Missing(Exception):
    """A task that failed, with its reason."""


class Bench:
    def __init__(self, options, ours, peer):
        self.options, self.ours, self.peer = options, ours, peer
        self.rows, self.missed, self.not_measured, self.unsteady, self.at_end = [], 0, 0, 0, {}

    def clocks(self):
        """The current clocks of the GPU."""
        if self.options.smoke:
            return ""
        found = subprocess.run(["nvidia-smi", "-i", "0", f"--query-gpu={QUERY}", "--format=csv,noheader"],
                               capture_output=True, text=True, check=False)
        return found.stdout.strip()

    def ask(self, *tasks):
        """Asks each (server, task) in turns and returns the answers of all rounds for each."""
        answers = [[] for _ in tasks]
        for _ in range(self.options.rounds):
            for own, (server, task) in zip(answers, tasks):
                found = server.ask(task)
                if "failed" in found:
                    raise Missing(f"{task}: {found['failed']}")
                self.unsteady += not found.get("steady", True)
                own.append(found)
        return answers

    def row(self, bar, what, ours, peer, ratio, needed, met):
        if self.options.smoke:
            needed, met = "", None
        cells = (bar, what, ours, peer, ratio, needed, {True: "met", False: "MISSED", None: ""}[met])
        self.rows.append("| " + " | ".join(cells) + " |")
        self.missed += met is False
        print(self.rows[-1], flush=True)

    def part(self, name, work):
        print(f"# {name}", flush=True)
        try:
            work()
        except (Missing, ValueError, OSError) as missing:  # ValueError and OSError if a program has ended
            self.missing(name, missing)
            try:
                self.forget()
            except (Missing, ValueError, OSError):
                pass
        self.at_end[name] = self.clocks()
        print(f"# {name}: at its end {self.at_end[name] or 'no measurement'}", flush=True)

    def missing(self, bar, why):
        self.not_measured += 1
        self.row(bar, "not measured", str(why), "", "", "", False)

    def that_work(self, bar, tasks):
        """The tasks that succeed in a first run, which is not counted."""
        working = []
        for task in tasks:
            try:
                self.ask_once(task)
                working.append(task)
            except Missing as missing:
                self.missing(bar, missing)
        return working

    # Bars 12 and 13.
    def sampling(self):
        ((same,),) = self.ask_once((self.ours, f"same {self.options.batches_compared}"))
        if same["same"] != self.options.batches_compared:
            raise Missing(f"{same['same']} of {self.options.batches_compared} mini-batches are the CPU's")
        self.row("-", "samples equal to the CPU's, whose uniformity its tests prove", f"{same['same']} mini-batches", "", "", "", None)
        more = self.options.at_once
        # All times are of whole epochs, including the last, smaller mini-batch.
        # Bars have no lists by source, which peers do not make; many mini-batches at once are a further goal.
        for place, at_once, lists, bar, wanted in (
                ("device", 1, "plain", 2.0, True), ("device", more, "plain", 5.0, False), ("device", 1, "by_source", None, False),
                ("device", more, "by_source", None, False), ("pinned", 1, "plain", 0.06, True)):
            if self.options.short and not wanted:
                continue
            (found,) = self.ask((self.ours, f"sample {place} {at_once} {lists}"))
            rates = [answer["edges"] / answer["device"] for answer in found]
            device, wall = (1e3 * statistics.median(answer[clock] for answer in found) for clock in ("device", "wall"))
            self.row("12" if place == "device" else "13",
                     f"sample and relabel{', and lists by source' if lists == 'by_source' else ''}, graph in {place} memory,"
                     f" {at_once} at once: {found[0]['edges']:.0f} edges, {found[0]['nodes']:.0f} nodes, {device:.3f} ms, wall {wall:.3f} ms",
                     f"{spread(rates, 1e9, 3)} G edges/s", "", "", f"{bar} G/s{'' if wanted else ' (stretch)'}" if bar else "",
                     statistics.median(rates) >= bar * 1e9 if wanted else None)
        self.forget()

    # Bars 14 and 15.
    def gathers(self):
        for place, sm, cases in (("device", 0, ((64, .85), (100, .85), (128, .85), (256, .85))),
                                 ("pinned", 8, ((128, .90), (100, .80)))):
            for columns, bar in cases:
                copy, gather = self.ask((self.ours, f"copy {place}"), (self.ours, f"gather {place} {columns} {sm}"))
                if any(answer["right"] != answer["rows"] for answer in gather):
                    raise Missing(f"gather {place} {columns}: rows are not as they were")
                # Both read and write each byte; a gather from host memory counts the bytes on the bus, as a copy does.
                copied = [answer["bytes"] / answer["device"] for answer in copy]
                gathered = [answer["bytes"] / answer["device"] for answer in gather]
                ratio = [g / c for g, c in zip(gathered, copied)]
                self.row("14" if place == "device" else "15",
                         f"gather of {gather[0]['rows']} rows of {4 * columns} bytes from {place} memory"
                         + (f", at most {sm} multiprocessors" if sm else ""),
                         f"{spread(gathered, 1e9, 1)} GB/s", f"copy {spread(copied, 1e9, 1)} GB/s", spread(ratio),
                         f"{bar} of the copy", statistics.median(ratio) >= bar)
            self.forget()

    def compare(self, bar, what, ours, peers, needed):
        """Compares one of ours with several ways of a peer in turns; `needed` has a ratio or None by way."""
        peers = {way: task for way, task in peers.items() if self.that_work(bar, [(self.peer, task)])}
        found = self.ask((self.ours, ours), *((self.peer, task) for task in peers.values()))
        if max(answer["error"] for answer in found[0]) > 1e-4:
            raise Missing(f"{ours}: differs by {found[0][0]['error']} from the CPU")
        own = [answer["device"] for answer in found[0]]
        for way, answers in zip(peers, found[1:]):
            if max(answer["error"] for answer in answers) > 1e-4:
                raise Missing(f"{peers[way]}: differs by {answers[0]['error']} from scatter")
            theirs = [answer["device"] for answer in answers]
            ratio = [t / o for t, o in zip(theirs, own)]
            algorithm = answers[-1]["algorithm"]
            self.row(bar, f"{what}: {found[0][0]['edges']} edges, {found[0][0]['targets']} targets", f"{spread(own, 1e-3, 3)} ms",
                     f"{way}{f' ({algorithm})' if algorithm else ''} {spread(theirs, 1e-3, 3)} ms", spread(ratio),
                     f"{needed[way]} times" if needed.get(way) else "",
                     statistics.median(ratio) >= needed[way] if needed.get(way) else None)

    def ways(self):
        return ("csr", "scatter") if self.options.smoke else ("cusparse", "csr", "scatter")

    # Bar 16.
    def means(self):
        needed = {"cusparse": 1.2, "scatter": 2.0}
        widths = WIDTHS[:1] if self.options.short else WIDTHS
        for layer in range(2):
            for columns in widths:
                for direction in ("forward", "backward"):
                    self.compare("16", f"mean, layer {layer}, {columns} columns, {direction}",
                                 f"mean {columns} {direction} {layer}",
                                 {way: f"mean {way} {columns} {direction} {layer}" for way in self.ways()}, needed)
            self.forget()
        for columns in widths:
            self.compare("16", f"first layer's [mean | own row] fused with the gather, {columns} columns", f"first {columns}",
                         {way: f"first {way} {columns} {self.info['nodes']}" for way in self.ways()}, {"cusparse": 1.5})
            self.forget()

    # Bars 17 and 18.
    def epochs(self):
        steps = self.info["mini_batches"]
        epochs = self.options.epochs
        ways, precisions = ["device captured tf32", "pinned captured tf32"], ["tf32"]
        if not self.options.short:
            ways += ["device captured float32", "device captured bf16", "device eager tf32", "device unpadded tf32",
                     "pinned unpadded tf32"]
            precisions += ["float32"]
        tasks = self.that_work("17", [(self.ours, f"epoch {how} {epochs + 1}") for how in ways])
        peers = self.that_work("17", [(self.peer, f"epoch {way} {self.info['nodes']} {precision}")
                                      for way in ("csr", "lists") for precision in precisions])
        if not tasks or not peers:
            raise Missing("no epoch of ours, or none of the peer's")
        found = self.ask(*tasks, *peers)
        (copy,) = self.ask((self.ours, "copy pinned"))
        (rows,) = self.ask_once((self.ours, "sample device 1 plain"))
        theirs = {}
        for (_, task), answers in zip(peers, found[len(tasks):]):
            _, way, _, precision = task.split()
            theirs[f"{way}, {precision}"] = [answer["device"] * steps for answer in answers]
        best = min(theirs, key=lambda way: statistics.median(theirs[way]))
        for way, values in theirs.items():
            self.row("17", f"PyG's layers on ready blocks ({way}), {steps} steps", "", f"{spread(values)} s", "", "", None)
        for (_, task), answers in zip(tasks, found):
            _, place, way, precision, _ = task.split()
            # The first epoch of an answer may have begun before it.
            seconds = [statistics.median(answer["seconds"][-epochs:]) for answer in answers]
            ratio = [t / o for t, o in zip(theirs[best], seconds)]
            last = answers[-1]
            parts = ", ".join(f"{part} {last[part]:.3f}" for part in ("sample", "gather", "wait", "compute"))
            judged = (way, precision) == ("captured", "tf32")
            if last["shapes"]:
                parts += f"; mini-batches: {last['shapes']}"
            way = f"{way}, {precision}"
            if place == "device":
                self.row("17", f"epoch, all in device memory, {way}: {last['steps']} steps ({parts})", f"{spread(seconds, digits=3)} s",
                         "", "", "0.30 s", statistics.median(seconds) <= 0.30 if judged else None)
                self.row("17", f"the same beside {best}", f"{spread(seconds, digits=3)} s", f"{spread(theirs[best], digits=3)} s",
                         spread(ratio), "3 times", statistics.median(ratio) >= 3 if judged else None)
                # The host waits for work with more work after it, to limit how far it runs ahead.
                self.row("18", f"host in an epoch, {way}: waits in calls; stalls, at whose end the GPU had no work; copies of"
                         " memory that is not pinned; allocations",
                         f"{last['waits']}; {last['stalls']}; {last['pageable']}; {last['allocations']}", "",
                         f"stalls {1e3 * last['stalled_seconds']:.2f} ms; of {last['waitings']} waitings,"
                         f" {last['waiting_seconds']:.3f} s, {last['asked'] / last['steps']:.1f} times a step not yet through",
                         "none a step (at most 8 waits and stalls an epoch)", no_waits(last) if judged else None)
            else:
                rate = statistics.median(answer["bytes"] / answer["device"] for answer in copy)
                # A row of 400 bytes always lies in four lines of 128.
                bound = rows[0]["nodes"] * steps * 512 / rate
                self.row("17", f"epoch, features pinned, {way}: {last['steps']} steps ({parts})", f"{spread(seconds, digits=3)} s",
                         f"link's bound {bound:.3f} s", f"{statistics.median(seconds) / bound:.2f}", "1.25 of the bound",
                         statistics.median(seconds) <= 1.25 * bound if judged else None)
        self.forget()

    def ask_once(self, *tasks):
        rounds, self.options.rounds = self.options.rounds, 1
        try:
            return self.ask(*tasks)
        finally:
            self.options.rounds = rounds

    def forget(self):
        self.ours.ask("forget")
        self.peer.ask("forget")

    def run(self, folder):
        ((peer,), (self.info,)) = self.ask_once((self.peer, "info"), (self.ours, "info"))  # the slower one comes last
        self.ours.ask("blocks", folder, min(self.options.blocks, self.info["mini_batches"]))
        self.head = (f"{self.info['name']}, {self.info['multiprocessors']} multiprocessors, {self.info['memory'] / 2**30:.0f} GiB,"
                     f" driver {self.info['driver']}, runtime {self.info['runtime']}; peer: torch {peer['torch']}, {peer['layers']};"
                     f" graph: {self.info['nodes']} nodes, {self.info['edges']} edges")
        print(f"Machine: {self.head}.\n\n{HEADER}", flush=True)
        parts = {"sampling": self.sampling, "gathers": self.gathers, "means": self.means, "epochs": self.epochs}
        for name in ORDER_IF_SHORT if self.options.short else parts:
            if not self.options.only or name in self.options.only.split(","):
                self.part(name, parts[name])

    def machine(self):
        if self.options.smoke:
            return "**No measurement**: the benchmark's own code, tried on a fake GPU."
        return (f"Machine: {self.head}. {QUERY} at the end of each part: "
                + "; ".join(f"{name} {clocks}" for name, clocks in self.at_end.items()) + ".")

    def how(self):
        return (f"Median (lowest to highest) of {self.options.rounds} rounds in turns; {self.unsteady} answers came from"
                " windows that had not agreed within 2 %.")

    def markdown(self):
        return "\n".join(["", self.machine(), "", HEADER, *self.rows, "", self.how(), ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", required=True, help="the program bench_gpu")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="of sampling,gathers,means,epochs, with commas")
    parser.add_argument("--short", action="store_true", help="once, and less: for a few minutes")
    parser.add_argument("--check", action="store_true", help="end with 1 when a bar is missed")
    parser.add_argument("--smoke", action="store_true", help="on a fake GPU, tiny: no measurement")
    parser.add_argument("--output", help="a file that the table is appended to")
    options = parser.parse_args()
    options.blocks, options.at_once, options.batches_compared, options.epochs = 64, 32, 20, 3
    if options.short:
        options.rounds, options.blocks, options.batches_compared, options.epochs = 1, 16, 5, 2
    size, device, hidden = [], "cuda", 256
    if options.smoke:
        size, device, hidden = ["1500", "16", "16"], "cpu", 16
        options.rounds, options.blocks, options.at_once, options.batches_compared, options.epochs = 2, 2, 2, 3, 1
    folder = tempfile.mkdtemp()
    ours = Server([options.bench, "serve", *size])
    peer = Server([sys.executable, os.path.join(HERE, "gpu_peer.py"), device, folder, str(hidden)])
    bench = Bench(options, ours, peer)
    try:
        bench.run(folder)
    except (Missing, OSError) as missing:
        sys.exit(f"gpu.py: {missing}")
    finally:
        for server in (ours, peer):
            server.process.kill()
            server.process.wait()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"\n{bench.how()}")
    if options.output:
        with open(options.output, "a", encoding="utf-8") as output:
            output.write(bench.markdown())
    return int((options.check and bench.missed > 0) or (options.smoke and bench.not_measured > 0))


if __name__ == "__main__":
    sys.exit(main())
