"""Runs `train`, in any language, on a terminal of several widths: no line is longer than the terminal, the lines of the epochs stay
above the bar, and Ctrl-C stops the training in an orderly way, twice at once.

  terminal_test.py <command> [<argument>...]
"""
import fcntl
import os
import pty
import re
import signal
import struct
import sys
import termios
import time

TRAIN = sys.argv[1:]
CLEAR = "\033[K"  # clears the line to its end
LIMIT = 120  # seconds for one run


class Terminal:
    """A program on a terminal, and all that it has printed."""

    def __init__(self, columns, arguments):
        self.output = ""
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            os.execv(TRAIN[0], [*TRAIN, *arguments])
        self.end = time.monotonic() + LIMIT

    def resize(self, columns):
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def read(self):
        """Reads once; False after the program's end."""
        if time.monotonic() > self.end:
            os.kill(self.pid, signal.SIGKILL)
            sys.exit(f"after {LIMIT} s it has printed:\n{self.output}")
        try:
            piece = os.read(self.descriptor, 65536)
        except OSError:  # the program has closed its terminal
            return False
        self.output += piece.decode()
        return piece != b""

    def read_until(self, text, times=1, begin=0):
        while self.output.count(text, begin) < times:
            if not self.read():
                sys.exit(f"it ends without printing {text!r}:\n{self.output}")

    def interrupt(self):
        os.write(self.descriptor, b"\x03")  # Ctrl-C

    def finish(self):
        while self.read():
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def lines(self, begin=0):
        """All contents that lines of the terminal have had from a place of the output on, redrawn ones one by one."""
        return re.split(r"\r\n|\r|\n", self.output[begin:].replace(CLEAR, ""))


def expect(condition, text, terminal):
    if not condition:
        sys.exit(f"{text}:\n{terminal.output}")


def help_and_error():
    terminal = Terminal(80, ["--help"])
    expect(terminal.finish() == 0, "--help fails", terminal)
    expect(re.search(r"Examples\r\n +train\S* planted +on a generated graph", terminal.output), "the help has no example", terminal)
    terminal = Terminal(80, ["/gone"])
    expect(terminal.finish() != 0, "a data set that is not there is no error", terminal)
    expect("/gone: no such file or folder" in terminal.output, "the error names no file", terminal)
    expect("examples" not in terminal.output, "the error names a folder of the builder", terminal)


def widths():
    """The bar asks for the width each time that it is drawn. Then a Ctrl-C."""
    terminal = Terminal(60, ["planted:20000", "--epochs", "100", "--hidden", "8", "--ranks", "2", "--batch-size", "600"])
    longest = {}
    for columns, part in ((60, ""), (80, " left"), (200, "  training accuracy "), (60, "")):
        terminal.resize(columns)
        begin, redrawn, bars = len(terminal.output), 6, []
        while not any(part in bar for bar in bars):  # parts appear once they are known
            terminal.read_until("\r[", redrawn, begin)
            drawn = terminal.lines(begin)[4:-1]  # the first have the old width, the last may be incomplete
            bars = [line for line in drawn if line.startswith("[")]
            redrawn += 1
        for line in bars + [line for line in drawn if line.startswith("epoch")]:
            expect(len(line) < columns, f"{len(line)} characters on {columns} columns: {line!r}", terminal)
        longest[columns] = max(map(len, bars))
        if columns == 200:
            expect(re.search(r"validation accuracy [0-9.]+  training accuracy", "\n".join(bars)), "no names", terminal)
    expect(longest[60] < longest[80] < longest[200], f"more columns show no more: {longest}", terminal)
    expect("loading planted:20000 ..." in terminal.output, "nothing is printed while the data is read", terminal)
    expect(re.search(r"\033\[Kepoch +1/100  loss [0-9.]+[^\r\n]*\r\n", terminal.output), "no line of an epoch", terminal)
    before = len(terminal.output)
    terminal.interrupt()
    expect(terminal.finish() == 130, "after Ctrl-C it does not end with 130", terminal)
    text = terminal.output[before:]
    expect("stopping after this step; again: at once\r\n" in text, "no word about Ctrl-C", terminal)
    expect("test    accuracy" in text, "no result after Ctrl-C", terminal)
    expect(not re.search(r"\033\[[0-9;]*m", terminal.output), "colors, which nobody asked for", terminal)
    expect("  0 seeds/s" not in terminal.output, "figures before the first step", terminal)


def twice():
    """Steps of many seconds: only the second Ctrl-C ends the program."""
    terminal = Terminal(80, ["planted:100000", "--epochs", "100", "--batch-size", "all", "--hidden", "1024", "--fanouts", "25,25"])
    terminal.read_until("[....")
    terminal.interrupt()
    terminal.read_until("again: at once")
    terminal.interrupt()
    begin = time.monotonic()
    expect(terminal.finish() == 130, "after a second Ctrl-C it does not end with 130", terminal)
    expect("accuracy 0." not in terminal.output.split("again: at once")[1], "it evaluates after a second Ctrl-C", terminal)
    return time.monotonic() - begin


help_and_error()
widths()
print(f"train keeps to the terminal at 60, 80 and 200 columns; a second Ctrl-C ends it in {twice():.1f} s")
