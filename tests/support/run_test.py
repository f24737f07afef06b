"""Runs one test for ctest and measures its time.

  run_test.py <name> <class> <factor> <command>...

If GNNMG_TEST_FIGURES is set, as by tests/run.sh, the script writes two lines to that file: build/name and "begun", and after
the test build/name, class, seconds, CPU seconds of the test and of every process that it started, exit status. A class bounds
the CPU seconds of its tests; a test that takes more than three times the bound, times the factor of its build, fails.
"""
import ctypes
import os
import resource
import signal
import subprocess
import sys
import time

CPU_SECONDS = {"unit": 10, "dist": 40, "bindings": 100}  # "long" and "gpu" have no bound
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36

figures = os.environ.pop("GNNMG_TEST_FIGURES", None)
name, kind, factor, command = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4:]
if not figures:
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # set by Python
        signal.signal(ignored, signal.SIG_DFL)
    os.execvp(command[0], command)


def tell(line):
    with open(figures, "a") as file:
        file.write(line + "\n")


folders = os.getcwd().split("/")
build = folders[folders.index("build") + 1] if "build" in folders[:-1] else "build"
tell(f"{build}/{name} begun")

# Orphaned processes become children of this one, so that their time counts; the test ends with this process.
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
bound = 3 * factor * CPU_SECONDS.get(kind, float("inf"))
if status == 0 and cpu > bound:
    print(f"{name}: {cpu:.1f} s of CPU, and a test of the class {kind} may take {bound:.0f} s", flush=True)
    status = 1
tell(f"{build}/{name} {kind} {seconds:.2f} {cpu:.2f} {status}")
sys.exit(status)
