"""Runs one test for ctest and measures it.

  run_test.py <name> <class> <command>...

With GNNMG_TEST_FIGURES, which tests/run.sh sets, a line goes to that file: name, class, seconds, CPU seconds of the test
and of every process that it started, exit status. A class bounds the CPU seconds of its tests; a test that takes more than
three times as much fails.
"""
import ctypes
import os
import resource
import signal
import subprocess
import sys
import time

CPU_SECONDS = {"unit": 10, "dist": 40}  # "long" and "gpu" have no bound
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36

figures = os.environ.pop("GNNMG_TEST_FIGURES", None)
name, kind, command = sys.argv[1], sys.argv[2], sys.argv[3:]
if not figures:
    os.execvp(command[0], command)

# Processes that lose their parent become ours, so that their time counts; the test ends with this process.
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
begin = time.monotonic()
test = subprocess.Popen(command, preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))
status = test.wait()
seconds = time.monotonic() - begin
try:
    while os.waitpid(-1, os.WNOHANG)[0]:
        pass
except ChildProcessError:
    pass
used = resource.getrusage(resource.RUSAGE_CHILDREN)
cpu = used.ru_utime + used.ru_stime
if status < 0:
    print(f"{name}: ended by signal {-status}", flush=True)
    status = 128 - status
bound = 3 * CPU_SECONDS.get(kind, float("inf"))
if status == 0 and cpu > bound:
    print(f"{name}: {cpu:.1f} s of CPU, and a test of the class {kind} may take {bound} s", flush=True)
    status = 1
with open(figures, "a") as file:
    file.write(f"{name} {kind} {seconds:.2f} {cpu:.2f} {status}\n")
sys.exit(status)
