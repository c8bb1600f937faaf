#!/usr/bin/env python3
"""Gives a module a private copy of protobuf.

usage: rename_protobuf.py PATCHELF MODULE COPY

Copies the protobuf library that MODULE needs to COPY, renames the symbols of the copy that contain "protobuf", and makes MODULE use the new names.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

patchelf, module, copy = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])


def said_by(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def path_of(library):
    for line in said_by("ldd", module).splitlines():
        name, _, rest = line.strip().partition(" => ")
        if name == library:
            return rest.split(" (")[0]
    sys.exit(f"rename_protobuf: {module} needs {library}, which does not exist")


library = next(name for name in said_by(patchelf, "--print-needed", module).split() if name.startswith("libprotobuf.so"))
original = path_of(library)
shutil.copy(original, copy)
names = [line.split()[-1] for line in said_by("nm", "-D", "--defined-only", original).splitlines()]
with tempfile.NamedTemporaryFile("w") as renames:
    renames.writelines(f"{name} tfgrapnel{name}\n" for name in names if "protobuf" in name)
    renames.flush()
    said_by(patchelf, "--set-soname", copy.name, "--set-rpath", "$ORIGIN", "--rename-dynamic-symbols", renames.name, str(copy))
    said_by(patchelf, "--replace-needed", library, copy.name, "--rename-dynamic-symbols", renames.name, module)
