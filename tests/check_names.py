#!/usr/bin/env python3
"""Checks that names of devices and tensors are taken apart in lib/ir alone (device_name.h, tensor_name.h).

  check_names.py [ROOT]        prints each line elsewhere that looks like a parser; exit 1 when there is one
  check_names.py --self-test   shows that it can fail
"""

import pathlib
import re
import sys
import tempfile

# Files that may have a pattern, and why.
ALLOWED = {
    "lib/io/case.cpp": "the syntax of JSON",
    "lib/io/ledger.cpp": "the syntax of JSON",
    "lib/place/device_set.cpp": "errors show what a device is called",
    "lib/place/log_line.cpp": "`): /job:` tells the lines of a log that place a node",
    "lib/job/plugin.cpp": "`FILE.cpp:FUNCTION`",
    "lib/job/graph_path.cpp": "`PATH:NAME` of a graph",
    "lib/diff/stage_names.cpp": "`FUNCTION:STAGE` of a dump folder",
    "tools/opt.cpp": "an example under --help",
    "tools/passes.cpp": "an example under --help",
    "lib/pass/op_pattern.cpp": "`NAME:OP` of a rule's pattern",
    "lib/watch/assertion.cpp": "`EXPR: MESSAGE` of --assert",
    "lib/watch/summary.cpp": "`KIND:TENSOR` of --summary",
    "lib/diff/ignore.cpp": "`attr:GLOB` and `op:GLOB` of --ignore",
    "lib/serve/routes/host_names.cpp": "NAME:PORT of an HTTP header",
    "kernels/cpu/state/checkpoint.cpp": "slices of a partitioned variable, `0,5:0,3`",
}
ROOMS = ("lib", "passes", "kernels", "tools")
HOME = "lib/ir/"
SOURCES = {".h", ".cpp", ".cc", ".cu", ".cuh", ".inc"}
COMMENT = re.compile(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|//.*""")
LOOKS = r"(?:r?split|r?find\w*|contains|take_\w+|drop_\w+|consume_\w+|starts_with|ends_with|HasPrefix|HasSuffix)"
PATTERNS = [
    (re.compile(r'"[^"]*/(?:device|job|replica|task):'), "a part of a device's name"),
    (re.compile(LOOKS + r"""\((?:[^;()]|\(\))*?(?:':'|":0?"|'\^'|"\^")"""), "a search for ':' or '^'"),
    (re.compile(r"""[=!]= *(?:':'|'\^')"""), "a comparison with ':' or '^'"),
    (re.compile(LOOKS + r"""\(\s*"(?:device|job|replica|task|[CGcg]PU):?"\)"""), "a part of a device's name"),
    (re.compile(r'device\(\)\.(?:r?split|r?find|contains|take_|drop_|substr)'), "a device's name taken apart"),
]


def problems_of(name, text):
    """Yields a line for each thing in a file that looks like a parser."""
    for number, line in enumerate(text.splitlines(), 1):
        code = COMMENT.sub(lambda match: match[1] or "", line)
        for pattern, what in PATTERNS:
            if pattern.search(code):
                yield f"{name}:{number}: {what}: use lib/ir/device_name.h or lib/ir/tensor_name.h: {line.strip()}"
                break


def check(root):
    problems, unused = [], set(ALLOWED)
    for path in sorted(p for room in ROOMS for p in (root / room).rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.suffix not in SOURCES or name.startswith(HOME):
            continue
        found = list(problems_of(name, path.read_text(errors="replace")))
        if name in ALLOWED:
            unused -= {name} if found else set()
        else:
            problems += found
    return problems, sorted(unused)


def self_test():
    wrong = [
        'auto at = device.find("/device:");',
        'std::string name = "/job:" + job;',
        "auto [node, port] = tensor.rsplit(':');",
        'bool control = text.consume_front("^");',
        "if (!input.empty() && input[0] == '^') ++controls;",
        'text.consume_back(":0");',
        'bool on_cpu = node.device().contains("CPU");',
        'part.consume_front("device:");',
    ]
    right = [
        "// \"/job:a/device:CPU:0\"; '^' stands before a control edge",
        "TensorName name = ReadTensorName(tensor);  // not tensor.rsplit(':')",
        'os << path << ":" << line;',
        'text += name + ": " + reason;',
        'auto [key, value] = rule.split("=");',
        'bool on_cpu = IsOn(node.device(), "CPU");',
    ]
    for line in wrong + right:
        with tempfile.TemporaryDirectory() as folder:
            for room, expected in (("lib/pass", line in wrong), ("lib/ir", False)):
                path = pathlib.Path(folder, room, "file.cpp")
                path.parent.mkdir(parents=True)
                path.write_text(line + "\n")
                found = check(pathlib.Path(folder))[0]
                if bool(found) != expected:
                    return [f"self-test: {room}: {line}: expected {expected}, got {found}"]
                path.unlink()
    return []


def main():
    if sys.argv[1:] == ["--self-test"]:
        problems = self_test()
    else:
        default = pathlib.Path(__file__).resolve().parent.parent
        problems, unused = check(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default)
        problems += [f"tests/check_names.py: {name} needs no permission any more" for name in unused]
    print("\n".join(problems) if problems else "names are read in lib/ir alone")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
