#!/usr/bin/env python3
"""Checks the exported symbols of the binary and of libgrapnel.so: those marked GRAPNEL_PUBLIC, LLVM's and protobuf's, and
nothing else; and of what is marked, everything that the library defines.

usage: exports.py GRAPNEL LIBGRAPNEL
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
from public_headers import closure  # noqa: E402

PREFIX = re.compile(r"^(vtable for |VTT for |typeinfo (name )?for |(non-)?virtual thunk to |guard variable for )+")
# The namespaces of LLVM's and protobuf's own; protobuf's are only in the binary, but for what is made for our messages.
GUESTS = re.compile(r"^(llvm|google::protobuf|descriptor_table_lib_2f)")

# Symbols that every program exports for the C++ library: operator new, functions of std.
OF_PROGRAMS = re.compile(r"^(operator (new|delete)|std::|__gnu_cxx::|_end$|__bss_start$)")


def marked():
    """(classes, functions) that public headers mark, by their unqualified names."""
    classes, functions = set(), set()
    for header, text in closure().items():
        for match in re.finditer(r"\b(?:class|struct) GRAPNEL_PUBLIC (\w+)", text):
            classes.add(match[1])
        text = re.sub(r"^#define(?:[^\n\\]|\\[\s\S])*", "", text, flags=re.M)
        for match in re.finditer(r"\bGRAPNEL_PUBLIC\s([^(;{]*?)(\w+|operator\s*[^\s(\w]+)\(", text):
            functions.add(re.sub(r"\s", "", match[2]))
    return classes, functions


def exported(file):
    """Names without arguments or result, as demangled."""
    out = subprocess.run(["nm", "-D", "--defined-only", "-C", file], capture_output=True, text=True, check=True).stdout
    return sorted({line.split(" ", 2)[2] for line in out.splitlines() if line.count(" ") >= 2})


def bare(symbol):
    """`std::vector<int> grapnel::A<grapnel::B>::f(int) const` -> `grapnel::A::f`: templates' arguments and results left out."""
    symbol = PREFIX.sub("", symbol)
    out, depth = "", 0
    for at, letter in enumerate(symbol):
        if letter == "<" and not out.endswith("operator"):
            depth += 1
        elif letter == ">" and depth:
            depth -= 1
        elif depth == 0 and letter == "(" and not symbol.startswith("(anonymous", at) and not out.endswith("operator"):
            break
        elif depth == 0:
            out += letter
    out = re.sub(r"\[abi:\w+\]", "", out)
    return re.search(r"(\S*\boperator\b.*|\S*)$", out)[1]


def problems_of(file, classes, functions, is_program):
    seen, messages = set(), 0
    for symbol in exported(file):
        name = bare(symbol)
        if GUESTS.match(name) or (is_program and (OF_PROGRAMS.match(name) or "@" in symbol)):
            continue
        parts = name.split("::")
        if parts[0] != "grapnel":
            yield f"{file}: exports '{symbol}'"
            continue
        if parts[1] == "proto":  # messages: protoc's
            messages += 1
            continue
        seen |= set(parts)
        inner = [part for part in parts[1:] if part in classes or re.sub(r"\s", "", part) in functions]
        if not inner:
            yield f"{file}: exports '{symbol}', which no public header marks"
    if len(seen) < 300 or not messages:
        yield f"{file}: exports only {len(seen)} names of ours and {messages} of messages"


def main():
    classes, functions = marked()
    problems = []
    for file in sys.argv[1:]:
        problems += problems_of(file, classes, functions, is_program=file == sys.argv[1])
    names = {part for symbol in exported(sys.argv[2]) for part in re.sub(r"\s", "", bare(symbol)).split("::")}
    headers = "".join(closure().values())
    for name in sorted(functions - names):
        if re.search(rf"\b{re.escape(name)}\b", headers):
            problems.append(f"{sys.argv[2]}: lacks '{name}', which a public header declares")
    print("\n".join(problems[:40]) or f"{len(classes)} classes, {len(functions)} functions")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
