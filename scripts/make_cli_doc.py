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
             "scripts/make_cli_doc.py makes this page from `--help`. MODEL is a GraphDef (.pb, .pbtxt, each also .gz), a graph as [text](text.md) (.gtxt),",
             "a SavedModel folder or file, MetaGraph, event file, dump folder, case folder, or `-` for standard input; grapnel recognizes it by its",
             "content, not by its name. Except for `serve`, MODEL may also be a C++ function, FILE.cpp:FUNCTION, which grapnel [compiles and",
             "traces](../guide/tracing.md). MODEL:NAME selects one graph of a file or folder with several: NAME is its title, or, in a dump folder,",
             "FUNCTION:STAGE.",
             "",
             "Where an option expects a tensor, `x:1` is output 1 of the node x, and `x` means `x:0`. Where an option expects a node, `x:1` and `^x` (a",
             "control edge) mean the node x; the node `x` of a function is `FUNCTION/x`. A full device name is",
             "`/job:worker/replica:0/task:1/device:GPU:0`; you may leave out any part, as in `/gpu:0`, and `--device` also takes `GPU:1`. A name that does",
             "not exist is an error (exit code 2) that lists similar names. A command that writes a file says so on stderr, `wrote x.html (64 nodes)`,",
             "but not with `--quiet`.",
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
