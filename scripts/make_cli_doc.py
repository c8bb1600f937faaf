#!/usr/bin/env python3
"""Writes docs/reference/cli.md from `grapnel --help`.

usage: make_cli_doc.py GRAPNEL            writes docs/reference/cli.md
       make_cli_doc.py GRAPNEL --check    exit 1 if docs/reference/cli.md is not up to date
"""

import pathlib
import re
import subprocess
import sys

DOC = pathlib.Path(__file__).resolve().parent.parent / "docs" / "reference" / "cli.md"


def text_of(grapnel, *arguments):
    run = subprocess.run([grapnel, *arguments, "--help"], capture_output=True, text=True, check=True)
    return "\n".join(line.rstrip() for line in run.stdout.strip().splitlines())


def document(grapnel):
    top = text_of(grapnel)
    names = re.findall(r"^  ([a-z][a-z-]*) ", top.split("Subcommands:")[-1], re.M)
    parts = ["# The command line", "",
             "scripts/make_cli_doc.py makes this page from `--help`. MODEL is a GraphDef (.pb, .pbtxt, each also .gz), SavedModel folder or file,",
             "MetaGraph, event file, dump folder, case folder, or `-` for standard input; grapnel recognizes it by its content, not by its name.",
             "MODEL:NAME selects one of several graphs: NAME is its title, or, in a dump folder, FUNCTION:STAGE.",
             "",
             "The tensor `x:1` is output 1 of node x; `x` means `x:0`. The node `x` in a function is `FUNCTION/x`; `x:1` and `^x` (a control edge)",
             "name the node x as well. A device is `/job:worker/replica:0/task:1/device:GPU:0`; you may leave out any part, as in `/gpu:0`;",
             "`--device` takes `GPU:1` too. A name that does not exist is an error (exit code 2) that lists similar names.",
             "", "```", top, "```"]
    for name in names:
        parts += ["", f"## {name}", "", "```", text_of(grapnel, name), "```"]
    return "\n".join(parts) + "\n"


def main():
    wanted = document(sys.argv[1])
    if "--check" not in sys.argv:
        DOC.write_text(wanted)
        return 0
    if DOC.read_text() == wanted:
        return 0
    print("docs/reference/cli.md is not what `--help` says: run scripts/make_cli_doc.py GRAPNEL")
    return 1


if __name__ == "__main__":
    sys.exit(main())
