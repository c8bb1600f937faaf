"""Types to `grapnel debug`, and to `grapnel run --break`, at a terminal of its own, and says what was wrong.

usage: debug_terminal.py GRAPH FOLDER      GRAPH runs for ever; FOLDER becomes the home
"""
import os
import pty
import re
import select
import sys
import time

PROMPT = b"(grapnel) "


class Terminal:
    def __init__(self, *command):
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.execvp(command[0], command)
        self.said = b""  # and not asked for yet

    def has(self, text, seconds):
        end = time.time() + seconds
        while text not in self.said and time.time() < end:
            if select.select([self.file], [], [], 0.1)[0]:
                self.said += os.read(self.file, 65536)
                self.said = re.sub(rb"\x1b\[[0-9;]*[A-Za-z]", b"", self.said)
        return text in self.said

    def read_until(self, text):
        if not self.has(text, 60):
            sys.exit(f"no {text!r} in {self.said!r}")
        self.said = self.said.partition(text)[2]

    def ask(self, keys, *answers):
        """Types the keys; all answers come, and then the prompt."""
        os.write(self.file, keys)
        for answer in answers:
            self.read_until(answer)
        self.read_until(PROMPT)

    def exit(self):
        os.write(self.file, b"exit\n")
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def main(graph, folder):
    os.environ |= {"TERM": "xterm", "HOME": folder}
    os.environ.pop("XDG_STATE_HOME", None)
    terminal = Terminal("grapnel", "debug", graph)
    terminal.read_until(b"before")
    terminal.read_until(PROMPT)
    terminal.ask(b"fin\t\n", b"the run is not in a function")  # a command is completed
    terminal.ask(b"ni w\n", b"Op: While")
    terminal.ask(b"s\n", b"in cond that w calls")
    terminal.ask(b"\n", b"in body that w calls, iteration 0")  # once more
    os.write(terminal.file, b"c\n")
    terminal.read_until(b"c\r\n")
    # Ctrl-C stops it somewhere in the loop. One that comes before the run goes on is lost.
    while not terminal.has(PROMPT, 0.5):
        os.write(terminal.file, b"\x03")
    terminal.read_until(PROMPT)
    terminal.ask(b"pt k:0\n", b"dtype: int32")
    code = terminal.exit()
    with open(os.path.join(folder, ".local/state/grapnel/debug_history")) as f:
        has_history = "pt" in f.read()
    print(f"exit code {code}, {'a' if has_history else 'no'} history")
    # Where the filter holds there is the same prompt.
    terminal = Terminal("grapnel", "run", graph, "--break", "func:body iteration 2")
    terminal.read_until(b"breakpoint 1, func:body iteration 2")
    terminal.read_until(PROMPT)
    terminal.ask(b"iteration\n", b"in body that w calls, iteration 3")
    print(f"run --break: exit code {terminal.exit()}")


if __name__ == "__main__":
    main(*sys.argv[1:])
