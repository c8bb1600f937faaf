"""The program `grapnel`, which is also `python -m tfgrapnel`."""

import os
import sys

from ._tfgrapnel import run_command_line


def main() -> int:
    """Runs the command line and returns the exit code."""
    program, *arguments = sys.argv
    if os.path.basename(program) == "__main__.py":  # python -m
        program = os.path.join(os.path.dirname(sys.executable), "grapnel")
    return run_command_line([os.fsencode(word) for word in (program, *arguments)])


if __name__ == "__main__":
    sys.exit(main())
