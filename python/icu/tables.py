#!/usr/bin/env python3
"""Writes ICU's tables for text in other encodings as an object's source, OUTPUT. All tables of ICU would take 12 MB of a wheel, these
take 3 MB.

usage: tables.py ICUPKG LIBICUDATA OUTPUT     LIBICUDATA: libicudata.a; OUTPUT: a C file, whose folder gets the tables too
"""

import pathlib
import subprocess
import sys

icupkg, archive, output = map(pathlib.Path, sys.argv[1:])
folder = output.parent / "icu_tables"
folder.mkdir(exist_ok=True)
[member] = subprocess.run(["ar", "t", archive], capture_output=True, text=True, check=True).stdout.split()
name = member.removesuffix("_dat.o")  # icudt72l; ICU demands that the file has this name
(folder / member).write_bytes(subprocess.run(["ar", "p", archive, member], capture_output=True, check=True).stdout)
everything, tables = folder / f"all/{name}.dat", folder / f"{name}.dat"
everything.parent.mkdir(exist_ok=True)
subprocess.run(["objcopy", "-O", "binary", "--only-section=.rodata", folder / member, everything], check=True)
items = subprocess.run([icupkg, "-l", everything], capture_output=True, text=True, check=True).stdout.splitlines()
kept = [item for item in items if item.endswith(".cnv") or item == "cnvalias.icu"]
if len(kept) < 100:
    sys.exit(f"tables.py: {archive}: {len(kept)} tables for encodings, more were expected")
(folder / "removed.txt").write_text("".join(f"{item}\n" for item in items if item not in kept))
subprocess.run([icupkg, "-r", folder / "removed.txt", everything, tables], check=True)
symbol = f"{name.removesuffix('l')}_dat"
output.write_text(f'''// The tables of {name} for text in other encodings.
__asm__(".section .rodata\\n.balign 16\\n.globl {symbol}\\n.hidden {symbol}\\n{symbol}:\\n.incbin \\"{tables}\\"\\n.previous\\n");
''')
