#!/usr/bin/env python3
"""Checks that rooms stand on each other as the table in docs/internals/how-grapnel-works.md says: no #include and no LINK goes against it,
no arrow of the table is unused, neither the folders inside a room nor the files of the Python package include each other in a
circle, a header that says "Private to lib/ROOM" stays there, no two rooms have twelve lines in a row that are alike but for
names, strings and numbers, and no two types that linkers see have one name: they would take one another's inline functions, and
no tool says so.

  check_rooms.py [ROOT]        prints what is wrong; exit 1 when anything is
  check_rooms.py --self-test   shows that it can fail
"""

import ast
import pathlib
import posixpath
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHART = ROOT / "docs" / "internals" / "how-grapnel-works.md"


def read_chart(text):
    """The table of rooms in docs/internals/how-grapnel-works.md: each room, and the rooms that it stands on directly; what those stand on
    is allowed too."""
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*) \|", text, re.M)
    return {room: re.findall(r"\w+", below.replace("nothing", "")) for room, below in rows}


STANDS_ON = read_chart(CHART.read_text())
OUTSIDE_LIB = ("passes", "kernels", "tools")
SOURCES = {".h", ".cpp", ".cc", ".cu", ".cuh", ".inc"}
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')
LINK = re.compile(r"grapnel_(?:library|objects|link)\((\S+)[^)]*?\bLINK\s([^)]*?)(?:\bUSES\b[^)]*)?\)")


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


def sources(root):
    for path in sorted(p for top in ("lib", *OUTSIDE_LIB) for p in (root / top).rglob("*")):
        if path.suffix in SOURCES or path.name == "CMakeLists.txt":
            yield path, path.relative_to(root), path.read_text(errors="replace")


def check(root):
    problems, private, drawn = [], {}, set()
    files = list(sources(root))
    for path, relative, text in files:
        if match := re.search(r"Private to lib/(\w+)\.", text[:400]):
            private[str(relative)] = match[1]
    for path, relative, text in files:
        room = room_of(relative)
        if room not in STANDS_ON:
            problems.append(f"{relative}: room '{room}' is not in the table of docs/internals/how-grapnel-works.md")
            continue
        for line, target, written in arrows(relative, text):
            if target is not None and target not in allowed(room):
                problems.append(f"{relative}:{line}: '{room}' may not reach '{target}': {written}")
            if path.name != "CMakeLists.txt":
                drawn.add((room, target))
            header = INCLUDE.match(written)
            if header and private.get(header[1], room) != room:
                problems.append(f"{relative}:{line}: '{header[1]}' is private to lib/{private[header[1]]}")
    return problems, drawn


def folder_cycles(root):
    """Folders side by side in a room whose files include each other in a circle."""
    drawn = {}  # folder of several -> child -> child that it includes -> where
    for path, relative, text in sources(root):
        if path.name == "CMakeLists.txt":
            continue
        for line, target, written in arrows(relative, text):
            included = INCLUDE.match(written)
            if target is None or target != room_of(relative) or not included:
                continue
            here, there = relative.parent.parts, pathlib.PurePosixPath(included[1]).parent.parts
            common = len(posixpath.commonprefix([here, there]))
            if len(here) > common and len(there) > common:
                around = drawn.setdefault("/".join(here[:common]), {})
                around.setdefault(here[common], {}).setdefault(there[common], f"{relative}:{line}")
    return [f"{folder}: folders include each other in a circle: {circle}"
            for folder, children in sorted(drawn.items()) for circle in circles(children, "includes")]


def python_cycles(root):
    """Files of the Python package that import each other in a circle, also when a function imports one of them late."""
    package = root / "python" / "tfgrapnel"
    imported = {}
    for path in sorted(package.glob("*.py")):
        if path.stem == "__init__":  # sets what the others are given
            continue
        tree = ast.parse(path.read_text())
        typing = {inner for node in tree.body if isinstance(node, ast.If) for inner in ast.walk(node)}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.level == 1 and node not in typing:
                for name in [node.module] if node.module else [alias.name for alias in node.names]:
                    imported.setdefault(path.stem, {}).setdefault(name, f"python/tfgrapnel/{path.name}:{node.lineno}")
    # The generated file.
    imported.setdefault("_commands", {}).update({"_call": "python/generate.py", "_errors": "python/generate.py"})
    return [f"python/tfgrapnel: files import each other in a circle: {circle}" for circle in circles(imported, "imports")]


def circles(drawn, verb):
    """drawn: {name: {name: where}}. The texts of shortest circles, each once."""
    for name in sorted(drawn):
        if route := way_back(drawn, name):
            yield ", ".join(f"{a} {verb} {b} ({drawn[a][b]})" for a, b in zip(route, route[1:]))


def way_back(children, start):
    """The shortest circle through `start`, unless it has a folder that sorts before `start`: that one reports it."""
    routes = [[start]]
    for route in routes:
        for following in sorted(children.get(route[-1], {})):
            if following == start:
                return route + [start]
            if following > start and following not in route:
                routes.append(route + [following])
    return None


def unused(drawn):
    return [f"docs/internals/how-grapnel-works.md: '{room}' stands on '{below}', and includes nothing of it"
            for room, belows in STANDS_ON.items() for below in belows if (room, below) not in drawn]


TOKEN = re.compile(r""" "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' | [A-Za-z_]\w* | \d[\w.]* | \S """, re.X)
WORDS = set("if for while return switch case break continue else const auto struct class template static namespace".split())
WINDOW = 12
# Pairs of files that may be alike, and why.
ALIKE = {
    ("lib/ir/node_attrs.cpp", "lib/shape/functions.cpp"):
        "attributes by name: a shape function has its op's entry at hand, where a node looks it up each time",
}


def shape_of(line):
    """A line with names, strings and numbers aside."""
    def kind(token):
        if token[0] in "\"'":
            return "S"
        if token[0].isdigit():
            return "N"
        return token if token in WORDS or not (token[0].isalpha() or token[0] == "_") else "I"
    return " ".join(kind(token) for token in TOKEN.findall(line))


def repeats(root):
    """Places of two rooms that are alike for WINDOW lines. Lists, whose lines are all of one shape or two, do not count."""
    places = {}
    for path, relative, text in sources(root):
        if path.name == "CMakeLists.txt":
            continue
        lines = [(number, shape_of(line)) for number, line in
                 ((n, l.split("//")[0].strip()) for n, l in enumerate(text.splitlines(), 1)) if line and not line.startswith("#")]
        for i in range(len(lines) - WINDOW + 1):
            window = tuple(shape for _, shape in lines[i:i + WINDOW])
            if len(set(window)) >= WINDOW // 2:
                places.setdefault(window, {}).setdefault(room_of(relative), f"{relative}:{lines[i][0]}")
    found = sorted({tuple(sorted(by_room.values())) for by_room in places.values() if len(by_room) > 1})
    found = [where for where in found if tuple(place.split(":")[0] for place in where) not in ALIKE]
    return [f"{' and '.join(where)} are alike for {WINDOW} lines" for where in found]


TYPE = re.compile(r"(?:struct|class|union|enum(?: class)?) (?:GRAPNEL_PUBLIC )?(\w+)(?: final)?(?:$| {| :(?!.*\w;$))")
NAMESPACE = re.compile(r"(?:inline )?namespace(?: ([\w:]+))? {")


def twins(root):
    """Types outside of unnamed namespaces that are defined twice."""
    places = {}
    for path, relative, text in sources(root):
        scopes = []
        for number, line in enumerate(text.splitlines(), 1):
            if match := NAMESPACE.match(line):
                scopes.append(match[1])
            elif line.startswith("}  // namespace") and scopes:
                scopes.pop()
            elif (match := TYPE.match(line)) and None not in scopes:
                places.setdefault("::".join([*scopes, match[1]]), []).append(f"{relative}:{number}")
    return [f"{name} is defined twice: {' and '.join(where)}" for name, where in sorted(places.items()) if len(where) > 1]


def self_test_of_twins():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {"lib/ir/a.h": "namespace g {\nstruct A {\n};\nstruct B;\nstruct GRAPNEL_PUBLIC C {\n};\n}  // namespace g\n",
                           "lib/io/b.cpp": "namespace g {\nnamespace {\nstruct A {\n};\n}  // namespace\nclass C final : B {};\n}  // namespace g\n",
                           "lib/io/d.cpp": "namespace g {\ninline namespace d {\nstruct A {\n};\n}  // namespace d\n}  // namespace g\n",
                           "lib/io/c.h": "namespace g::h {\nclass A {\n};\n}  // namespace g::h\nclass B;\n"}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        found = twins(root)
        return [] if len(found) == 1 and found[0].startswith("g::C ") else [f"self-test: twins {found}"]


def self_test():
    wrong = {
        "lib/ir/up.h": '#include "lib/io/open.h"\n',
        "lib/pass/sideways.cpp": '#include "lib/exec/tensor.h"\n',
        "lib/exec/up.cpp": '#  include "lib/watch/tap.h"\n',
        "lib/render/out.cpp": '#include "passes/fold.h"\n',
        "lib/diff/climb.cpp": '#include "../pass/pass.h"\n',
        "passes/sideways.cpp": '#include "kernels/cpu/math.h"\n',
        "lib/unknown/room.h": "\n",
        "lib/proto/CMakeLists.txt": "grapnel_library(proto LINK ir USES zlib)\n",
    }
    right = {
        "lib/ir/graph.h": '#include <vector>\n#include "lib/proto/graph.pb.h"\n#include "lib/support/error.h"\n',
        "lib/watch/tap.cpp": '#include "lib/exec/tensor.h"\n',
        "lib/render/CMakeLists.txt": "grapnel_library(render LINK io diff USES grapnel_cgraph)\n",
        "kernels/cpu/math.cpp": '#include "kernels/cpu/math.h"\n#include "lib/exec/kernel.h"\n',
        "tools/main.cpp": '#include "kernels/cpu/fold.h"\n#include "lib/serve/http/server.h"\n',
    }
    for name, text in {**wrong, **right}.items():
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True)
            path.write_text(text)
            expected = 1 if name in wrong else 0
            found = check(pathlib.Path(folder))[0]
            if len(found) != expected:
                return [f"self-test: {name}: expected {expected} wrong arrow(s), got {found}"]
    return self_test_of_repeats() + self_test_of_twins() + self_test_of_cycles()


def self_test_of_cycles():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {"lib/serve/pages/a.h": '#include "lib/serve/work/b.h"\n#include "lib/serve/top.h"\n',
                           "lib/serve/work/b.h": '#include "lib/serve/web/deep/c.h"\n',
                           "lib/serve/top.h": '#include "lib/serve/pages/a.h"\n',
                           "lib/serve/web/deep/c.h": '#include "lib/serve/pages/a.h"\n'}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        package = root / "python" / "tfgrapnel"
        package.mkdir(parents=True)
        (package / "_a.py").write_text("from ._b import b\nif TYPE_CHECKING:\n    from ._c import c\n")
        (package / "_b.py").write_text("def late():\n    from . import _a\n")
        (package / "_c.py").write_text("from ._a import a\n")
        circular = python_cycles(root)
        if len(circular) != 1 or "_b imports _a (python/tfgrapnel/_b.py:2)" not in circular[0]:
            return [f"self-test: circles of Python files {circular}"]
        found = folder_cycles(root)
        if len(found) != 1 or "work includes web (lib/serve/work/b.h:1)" not in found[0]:
            return [f"self-test: circles of folders {found}"]
    return []


def self_test_of_repeats():
    body = "".join(f"int {name}(int x) {{ return x {sign} {number}; }}\n" for number, (name, sign) in enumerate(
        zip("abcdefghijkl", ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", ">"])))
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {"lib/ir/a.cpp": body, "lib/io/b.cpp": body.replace("x", "value"), "lib/exec/plan.h": "// Private to lib/exec.\n",
                           "lib/watch/c.cpp": '#include "lib/exec/plan.h"\n'}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        wrong, drawn = check(root)
        if len(repeats(root)) != 1 or len(wrong) != 1 or not unused(drawn):
            return [f"self-test: repeats {repeats(root)}, private headers {wrong}"]
    return []


def main():
    if sys.argv[1:] == ["--self-test"]:
        problems = self_test()
    else:
        root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
        problems, drawn = check(root)
        problems += unused(drawn) + folder_cycles(root) + python_cycles(root) + repeats(root) + twins(root)
    print("\n".join(problems) if problems else "all arrows point one way")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
