"""check_progress.py MODEL: checks the output of `grapnel run`, which never ends on MODEL, on a terminal and elsewhere."""

import os
import pty
import re
import subprocess
import sys


def on_terminal(*flags, term="xterm"):
    """What a terminal gets from `grapnel run`, ended after 1.8 s."""
    master, slave = pty.openpty()
    command = ["grapnel", "run", sys.argv[1], "--timeout", "1.8", *flags]
    with subprocess.Popen(command, stderr=slave, stdout=slave, env=dict(os.environ, TERM=term)) as run:
        os.close(slave)
        said = b""
        while True:
            try:
                part = os.read(master, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            said += part
        run.wait()
    os.close(master)
    assert run.returncode == 2, run.returncode
    return said.decode()


ERASE = "\r\x1b[K"
shown = on_terminal()
parts = shown.split(ERASE)
assert parts[0] == "" and len(parts) > 3, parts
assert all(re.fullmatch(r"(run \.\.\. \d+ s)?", part) for part in parts[1:-1]), parts
assert parts[-1].startswith("grapnel: ") and "not done after 1.8 s (--timeout)" in parts[-1], parts

# Those who asked for nothing, or cannot show it.
assert ERASE not in on_terminal("-q")
assert ERASE not in on_terminal(term="dumb")
piped = subprocess.run(["grapnel", "run", sys.argv[1], "--timeout", "1.4"], capture_output=True, text=True, check=False)
assert "\x1b" not in piped.stderr + piped.stdout and piped.returncode == 2, piped
