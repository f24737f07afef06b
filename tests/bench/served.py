#!/usr/bin/env python3
"""Compares a training epoch over graph servers with the same epoch from memory, in turns.

    build/bench/tests/bench/bench_rounds export GRAPH 244903
    build/bench/tests/bench/bench_epoch save GRAPH OWN
    build/release/examples/c/partition OWN PARTS 4
    python3 tests/bench/served.py --bench build/bench/tests/bench/bench_epoch --graph GRAPH \\
        --server build/release/gnnmg-server --parts PARTS

The trainer reads part 0 from its folder and requests the others from a server on the same machine. Each way trains on
one rank: "local" from memory, "served" without a cache, "cached" with a cache of 20 % of the rows,
"TLS" without a cache with mutual TLS. The CPU time of an epoch includes the server's. The first
epoch of each way is not counted.
"""
import argparse
import contextlib
import os
import subprocess
import tempfile

from turns import Server, in_turns, machine, spread

CACHE_SHARE = 0.2


def make_certificates(folder):
    """An authority's certificate, and one for each end that it has signed."""
    def run(*words):
        subprocess.run(["openssl", *words], check=True, stderr=subprocess.DEVNULL)
    make = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    run(*make, "-subj", "/CN=authority", "-keyout", f"{folder}/ca.key", "-out", f"{folder}/ca.pem")
    for end in ("server", "client"):
        run(*make, "-subj", f"/CN={end}", "-addext", "subjectAltName=IP:127.0.0.1", "-CA", f"{folder}/ca.pem",
            "-CAkey", f"{folder}/ca.key", "-keyout", f"{folder}/{end}.key", "-out", f"{folder}/{end}.pem")


class GraphServer:
    """gnnmg-server on a free port of the loopback interface."""

    def __init__(self, options, tls=None):
        command = [options.server, "--data", options.parts, "--listen", "127.0.0.1:0"]
        if tls:
            command += ["--tls-cert", f"{tls}/server.pem", "--tls-key", f"{tls}/server.key", "--tls-ca", f"{tls}/ca.pem"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().split()[-1]

    def cpu(self):
        """Seconds of CPU since the start."""
        fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self):
        self.process.terminate()
        self.process.wait()


class Way:
    """A trainer, with the server that it reads from."""

    def __init__(self, options, server=None, cache_bytes=0, tls=None):
        command = [options.bench, "serve", options.graph, str(options.threads), "1", "1", "once"]
        if server:
            command += [options.parts, server.address, "0", str(cache_bytes)] + ([tls] if tls else [])
        self.trainer, self.server = Server(command), server

    def epoch(self):
        before = self.server.cpu() if self.server else 0
        result = self.trainer.ask("epoch")
        result["server"] = self.server.cpu() - before if self.server else 0
        result["cpu"] += result["server"]
        return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", required=True, help="the program bench_epoch")
    parser.add_argument("--server", required=True, help="the program gnnmg-server")
    parser.add_argument("--graph", required=True, help="the folder that bench_rounds exported to")
    parser.add_argument("--parts", required=True, help="the folder of its four parts")
    parser.add_argument("--threads", type=int, default=2, help="of the trainer")
    parser.add_argument("--repeat", type=int, default=7)
    options = parser.parse_args()
    print(machine(options.bench), flush=True)

    num_rows = os.path.getsize(f"{options.graph}/x.npy") // 400
    with tempfile.TemporaryDirectory() as tls, contextlib.ExitStack() as servers:
        make_certificates(tls)
        plain, secured = (servers.enter_context(contextlib.closing(GraphServer(options, folder))) for folder in (None, tls))
        ways = {"local": Way(options), "served": Way(options, plain),
                "cached": Way(options, plain, int(CACHE_SHARE * num_rows) * 400),
                "TLS": Way(options, secured, 0, tls)}
        sides = {name: way.epoch for name, way in ways.items()}
        in_turns(sides, 1)
        results, others = in_turns(sides, options.repeat)
        print(f"{options.repeat} epochs each, others took {100 * others:.0f} % of the machine")
        for name, rows in results.items():
            local = results["local"]
            assert all(r["loss"] == f["loss"] for r, f in zip(rows, local)), "another loss than from memory"
            print(f"{name:7} wall {spread([r['wall'] for r in rows])} s, CPU {spread([r['cpu'] for r in rows])} s, of it the"
                  f" server {spread([r['server'] for r in rows])} s; speed of local's:"
                  f" wall {spread([f['wall'] / r['wall'] for r, f in zip(rows, local)])},"
                  f" CPU {spread([f['cpu'] / r['cpu'] for r, f in zip(rows, local)])}")
        for way in ways.values():
            way.trainer.close()


if __name__ == "__main__":
    main()
