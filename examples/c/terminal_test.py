"""Runs `train` on terminals of several widths: no line is longer than the terminal, the lines of the epochs stay above the bar,
and Ctrl-C stops the training in an orderly way, twice at once.

  terminal_test.py <train>
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

TRAIN = sys.argv[1]
CLEAR = "\033[K"  # clears the line to its end
LIMIT = 120  # seconds for one run


class Terminal:
    """A program on a terminal, and all that it has printed."""

    def __init__(self, columns, arguments):
        self.output = ""
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            os.execv(TRAIN, [TRAIN, *arguments])
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

    def read_until(self, text):
        while text not in self.output:
            if not self.read():
                sys.exit(f"it ends without printing {text!r}:\n{self.output}")

    def interrupt(self):
        os.write(self.descriptor, b"\x03")  # Ctrl-C

    def finish(self):
        while self.read():
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def lines(self):
        """All contents that lines of the terminal have had, redrawn ones one by one."""
        return re.split(r"\r\n|\r|\n", self.output.replace(CLEAR, ""))


def expect(condition, text, terminal):
    if not condition:
        sys.exit(f"{text}:\n{terminal.output}")


def check_width(terminal, columns):
    bars = [line for line in terminal.lines() if line.startswith("[")]
    expect(bars, f"no bar on {columns} columns", terminal)
    for line in bars + [line for line in terminal.lines() if line.startswith(("epoch", "loading"))]:
        expect(len(line) < columns, f"{len(line)} characters on {columns} columns: {line!r}", terminal)
    return bars


def widths():
    longest = 0
    for columns in (60, 80, 200):
        terminal = Terminal(columns, ["planted:12000", "--epochs", "4", "--ranks", "2", "--batch-size", "256"])
        expect(terminal.finish() == 0, "it fails", terminal)
        bars = check_width(terminal, columns)
        expect(max(map(len, bars)) > longest, f"no more is shown on {columns} columns", terminal)
        longest = max(map(len, bars))
        expect("loading planted:12000 ..." in terminal.output, "nothing is printed while the data is read", terminal)
        for epoch in range(1, 5):
            found = re.search(rf"\033\[Kepoch +{epoch}/4  loss [0-9.]+[^\r\n]*\r\n", terminal.output)
            expect(found, f"no line of epoch {epoch}", terminal)
        expect("test    accuracy" in terminal.output, "no result", terminal)
        if columns == 200:
            expect(re.search(r"validation accuracy [0-9.]+  training accuracy", "\n".join(bars)), "no names", terminal)


def narrower():
    """The bar asks for the width each time that it is drawn."""
    terminal = Terminal(200, ["planted:3000", "--epochs", "100000", "--hidden", "8"])
    terminal.read_until("seeds/s")
    terminal.resize(60)
    terminal.read_until("epoch  20/")
    before = len(terminal.output)
    terminal.interrupt()
    expect(terminal.finish() == 130, "after Ctrl-C it does not end with 130", terminal)
    text = terminal.output[before:]
    expect("stopping after this step; again: at once" in text, "no word about Ctrl-C", terminal)
    expect("test    accuracy" in text, "no result after Ctrl-C", terminal)
    last = [line for line in terminal.lines() if line.startswith("[")][-1]
    expect(len(last) < 60, f"{last!r} on 60 columns", terminal)


def twice():
    """Steps of many seconds: only the second Ctrl-C ends the program."""
    terminal = Terminal(80, ["planted:60000", "--epochs", "100", "--batch-size", "all", "--hidden", "512", "--fanouts", "25,25"])
    terminal.read_until("[....")
    terminal.interrupt()
    terminal.read_until("again: at once")
    terminal.interrupt()
    begin = time.monotonic()
    expect(terminal.finish() == 130, "after a second Ctrl-C it does not end with 130", terminal)
    expect("accuracy 0." not in terminal.output.split("again: at once")[1], "it evaluates after a second Ctrl-C", terminal)
    return time.monotonic() - begin


widths()
narrower()
print(f"train keeps to the terminal at 60, 80 and 200 columns; a second Ctrl-C ends it in {twice():.1f} s")
