#!/usr/bin/env python3
"""Writes the tables of docs/reference/grappler.md: every pass and rule, and which test covers each of TensorFlow's unit tests.

usage: make_grappler_doc.py GRAPNEL            writes docs/reference/grappler.md
       make_grappler_doc.py GRAPNEL --check    exit 1 if docs/reference/grappler.md is not up to date

The text of the file before the first table is kept. A grapnel test covers a TensorFlow test if it contains its name.
"""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOC = ROOT / "docs" / "reference" / "grappler.md"
NAMES = ROOT / "tests" / "reference" / "tensorflow_unit_tests.txt"
MARK = "<!-- made by scripts/make_grappler_doc.py from here on -->"


def passes(grapnel):
    listed = json.loads(subprocess.run([grapnel, "passes", "--json"], capture_output=True, text=True, check=True).stdout)
    lines = ["## Passes and rules", "", "Passes are in the order in which they run. `grapnel passes --why-not RULE MODEL` says where a rule nearly fired."]
    for one in listed["passes"]:
        state = "on" if one["default_on"] else "off"
        where = f"place {one['order']}, {state} by default" if one["order"] else "only if you request it"
        once = ", once" if one["run_once"] else ""
        lines += ["", f"### {one['name']}", "", f"{where}{once}; `{one['config_name']}` in `optimizers`. {one['help']}. Does not change: {one['refuses']}.",
                  ""]
        lines += [f"- `{rule['name']}`: {rule['help']}" + (f". Refuses: {rule['refuses']}" if rule.get('refuses') else '') for rule in one['rules']]
    return lines


def tests_by_word():
    """{word: test files that contain it}."""
    found = {}
    for path in sorted((ROOT / "tests").rglob("*")):
        if path.suffix not in (".gtxt", ".pbtxt", ".test", ".cpp", ".py") or path.parent.name == "bench":
            continue
        for word in set(re.findall(r"\w+", path.read_text(errors="replace"))):
            found.setdefault(word, []).append(str(path.relative_to(ROOT)))
    return found


# Test names that are ordinary words: our tests name them with the stem of their file, "loop_optimizer_test.Basic".
PLAIN = {"Basic", "Const", "Enter", "Packing", "Log1p", "Expm1", "ControlOutput", "MergeConcat", "NoOpReshape", "FusedBatchNorm"}


def coverage():
    found = tests_by_word()
    texts = {path: (ROOT / path).read_text(errors="replace") for paths in found.values() for path in paths}
    lines, covered, total = [], 0, 0
    for line in NAMES.read_text().splitlines():
        if line.startswith("#"):
            continue
        if line.endswith(".cc"):
            current = line[: -len(".cc")]
            lines += ["", f"### {line}", "", "| test | covered by |", "|---|---|"]
            continue
        for name, reason in re.findall(r"(\w+)(?:\[([^]]*)\])?", line):
            if name in PLAIN:
                ours = [path for path, text in sorted(texts.items()) if re.search(rf"\({name}\)|{current}\.{name}\b", text)]
            else:
                ours = found.get(name, [])
            total += 1
            covered += bool(ours)
            lines.append(f"| {name} | {', '.join(ours) if ours else 'none: ' + (reason or 'no test names it')} |")
    head = ["## TensorFlow's unit tests", "",
            f"{covered} of {total} are covered; the first sentence of each grapnel test names the tests that it covers."]
    return head + lines


def main():
    old = DOC.read_text() if DOC.exists() else ""
    kept = old.split(MARK)[0].rstrip()
    wanted = "\n".join([kept, "", MARK, "", *passes(sys.argv[1]), "", *coverage()]) + "\n"
    if "--check" not in sys.argv:
        DOC.write_text(wanted)
        print(*[l for l in wanted.splitlines() if "no test names it" in l], sep="\n")
        return 0
    if old == wanted:
        return 0
    print("docs/reference/grappler.md is not up to date: run scripts/make_grappler_doc.py GRAPNEL")
    return 1


sys.exit(main())
