#!/usr/bin/env python3
"""Prints a compile_commands.json with a command for each source file of a build, for clang-tidy and clangd.

usage: compile_commands.py FOLDER

Two things differ from the file that CMake writes in FOLDER: instead of a batch (cmake/libraries.cmake) there are its files, and no
precompiled header is used, so that each file must include what it needs.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BATCH = re.compile(r"/batch_\d+\.cpp$")
PRECOMPILED = re.compile(r"-Winvalid-pch |(?:-Xclang -include(?:-pch)? -Xclang \S+ ?)+")


def files_of(source):
    """The source files that a command compiles."""
    if not BATCH.search(source):
        return [source]
    return [str(ROOT / path) for path in re.findall(r'^#include "(.+)"$', pathlib.Path(source).read_text(), re.M)]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    entries = []
    for entry in json.loads((pathlib.Path(sys.argv[1]) / "compile_commands.json").read_text()):
        command = PRECOMPILED.sub("", entry["command"])
        for file in files_of(entry["file"]):
            entries.append({"directory": entry["directory"], "command": command.replace(entry["file"], file), "file": file})
    json.dump(entries, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
