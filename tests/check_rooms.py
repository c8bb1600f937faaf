#!/usr/bin/env python3
"""Checks that the arrows between rooms point one way: no #include and no LINK goes against STANDS_ON.

  check_rooms.py [ROOT]        prints each wrong arrow; exit 1 when there is one
  check_rooms.py --self-test   shows that it can fail
"""

import pathlib
import posixpath
import re
import sys
import tempfile

# Each room, and the rooms that it stands on directly; what those stand on is allowed too.
STANDS_ON = {
    "support": [],
    "proto": ["support"],
    "ir": ["proto"],
    "shape": ["ir"],
    "io": ["shape"],
    "pass": ["io"],
    "function": ["pass"],
    "place": ["function"],
    "exec": ["io"],
    "diff": ["io"],
    "query": ["pass"],
    "trace": ["exec"],
    "watch": ["exec"],
    "tfdbg": ["watch"],
    "check": ["tfdbg", "pass"],
    "render": ["pass", "place", "exec", "diff"],
    "job": ["check", "render"],
    "serve": ["job"],
    "passes": ["job", "trace"],
    "kernels": ["job", "trace"],
    "tools": ["passes", "kernels", "serve", "query"],
}
OUTSIDE_LIB = ("passes", "kernels", "tools")
SOURCES = {".h", ".cpp", ".cc", ".cu", ".cuh", ".inc"}
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')
LINK = re.compile(r"grapnel_(?:room|objects|link)\((\S+)[^)]*?\bLINK\s([^)]*?)(?:\bUSES\b[^)]*)?\)")


def room_of(path):
    """The room of a path from the repository's root ('lib/ir/graph.h' -> 'ir'), or None."""
    parts = pathlib.PurePosixPath(path).parts
    if len(parts) > 2 and parts[0] == "lib":
        return parts[1]
    return parts[0] if len(parts) > 1 and parts[0] in OUTSIDE_LIB else None


def allowed(room):
    below = {room}
    for direct in STANDS_ON[room]:
        below |= allowed(direct)
    return below


def arrows(path, text):
    """path: from the root. Yields (line number, room reached, how it is written) for each arrow that a file draws."""
    if path.name == "CMakeLists.txt":
        for match in LINK.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            for target in match[2].split():
                yield line, re.sub("_(common|cpu|gpu|cuda|no_cuda)$", "", target), f"LINK {target}"
    else:
        for line, content in enumerate(text.splitlines(), 1):
            if match := INCLUDE.match(content):
                target = match[1]
                if target.startswith("."):
                    target = posixpath.normpath(path.parent / target)
                yield line, room_of(target), content.strip()


def check(root):
    problems = []
    for path in sorted(p for top in ("lib", *OUTSIDE_LIB) for p in (root / top).rglob("*")):
        if path.suffix not in SOURCES and path.name != "CMakeLists.txt":
            continue
        relative = path.relative_to(root)
        room = room_of(relative)
        if room not in STANDS_ON:
            problems.append(f"{relative}: room '{room}' is not in STANDS_ON of tests/check_rooms.py")
            continue
        for line, target, written in arrows(relative, path.read_text(errors="replace")):
            if target is not None and target not in allowed(room):
                problems.append(f"{relative}:{line}: '{room}' may not reach '{target}': {written}")
    return problems


def self_test():
    wrong = {
        "lib/ir/up.h": '#include "lib/io/open.h"\n',
        "lib/pass/sideways.cpp": '#include "lib/exec/tensor.h"\n',
        "lib/exec/up.cpp": '#  include "lib/trace/trace.h"\n',
        "lib/render/out.cpp": '#include "passes/fold.h"\n',
        "lib/diff/climb.cpp": '#include "../pass/pass.h"\n',
        "passes/sideways.cpp": '#include "kernels/cpu/math.h"\n',
        "lib/unknown/room.h": "\n",
        "lib/proto/CMakeLists.txt": "grapnel_room(proto LINK support ir USES zlib)\n",
    }
    right = {
        "lib/ir/graph.h": '#include <vector>\n#include "lib/proto/graph.pb.h"\n#include "lib/support/error.h"\n',
        "lib/trace/trace.cpp": '#include "lib/exec/tensor.h"\n',
        "lib/render/CMakeLists.txt": "grapnel_room(render LINK pass diff USES grapnel_cgraph)\n",
        "kernels/cpu/math.cpp": '#include "kernels/cpu/math.h"\n#include "lib/exec/kernel.h"\n',
        "tools/main.cpp": '#include "passes/fold.h"\n#include "lib/serve/http/server.h"\n',
    }
    for name, text in {**wrong, **right}.items():
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True)
            path.write_text(text)
            expected = 1 if name in wrong else 0
            found = check(pathlib.Path(folder))
            if len(found) != expected:
                return [f"self-test: {name}: expected {expected} wrong arrow(s), got {found}"]
    return []


def main():
    if sys.argv[1:] == ["--self-test"]:
        problems = self_test()
    else:
        default = pathlib.Path(__file__).resolve().parent.parent
        problems = check(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default)
    print("\n".join(problems) if problems else "all arrows point one way")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
