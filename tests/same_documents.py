#!/usr/bin/env python3
"""Compares what two builds of grapnel write about the same models: documents (--json), ledgers and dumps.

usage: same_documents.py OLD NEW MODEL...      OLD, NEW: binaries; MODEL: a model, a case folder, or a folder of those

Every difference is printed, except in the fields below: those that a later version renamed, and those that hold sentences for users,
whose words may change. Exit code 1 if anything else differs.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# New name of a field -> the name that it had; documents keep both for one version of their format (docs/reference/json.md).
RENAMED = {"diverged": "parted", "first_diverged": "first_parted", "fix": "mend"}
# Fields that hold sentences for users, or times.
SENTENCES = {"reason", "text", "why", "what", "advice", "detail", "details", "message", "refuses", "help", "title", "description", "summary",
             "fix", "mend", "error", "warning", "warnings", "note", "notes", "because", "verdict_text", "looks_for", "needs", "because_of",
             "explanation", "problem", "problems", "skipped", "hint", "condition"}
TIMES = {"seconds", "ms", "median_ms", "total_ms", "time", "times_ms", "duration_ms", "grapnel", "version"}

COMMANDS = [
    ("info", "MODEL"), ("info", "MODEL", "--unsupported"), ("passes", "--why-not", "MODEL"), ("query", "MODEL", "select op, count(*) from nodes group by op order by 1"),
    ("place", "MODEL", "--devices", "/device:CPU:0,/device:GPU:0"), ("doctor", "MODEL"), ("run", "MODEL"), ("blame", "MODEL"),
    ("view", "MODEL", "--format", "json", "-o", "-"),
]
MODES = ("on", "off")


def run(binary, arguments, cwd):
    done = subprocess.run([binary, *arguments], capture_output=True, cwd=cwd, timeout=600, check=False)
    return done.returncode, done.stdout.decode(errors="replace")


def parsed(text):
    decoder, at, documents = json.JSONDecoder(), 0, []
    while at < len(text):
        try:
            document, at = decoder.raw_decode(text, at)
        except ValueError:
            documents.append(text[at:])
            break
        documents.append(document)
        at += len(text[at:]) - len(text[at:].lstrip())
    return documents


def without(value):
    """The value without sentences and times, and with the old names of fields."""
    if isinstance(value, list):
        return [without(item) for item in value]
    if not isinstance(value, dict):
        return value
    out = {}
    for key, item in value.items():
        if key in SENTENCES or key in TIMES:
            continue
        if key in RENAMED:
            continue  # the old name is there too
        out[key] = without(item)
    return out


def differences(old, new, where=""):
    if type(old) is not type(new):
        yield where, old, new
    elif isinstance(old, dict):
        for key in sorted(old.keys() | new.keys()):
            if key not in old or key not in new:
                yield f"{where}.{key}", old.get(key, "(absent)"), new.get(key, "(absent)")
            else:
                yield from differences(old[key], new[key], f"{where}.{key}")
    elif isinstance(old, list):
        if len(old) != len(new):
            yield f"{where}[]", len(old), len(new)
        for i, (one, other) in enumerate(zip(old, new)):
            yield from differences(one, other, f"{where}[{i}]")
    elif old != new:
        yield where, old, new


def documents_of(binary, model, folder):
    """{what: documents} of everything that the binary writes about a model."""
    out = {}
    for mode in MODES:
        for command in COMMANDS:
            arguments = [model if word == "MODEL" else word for word in command] + ["--json", "--quiet"]
            if command[0] in ("passes", "place", "info"):
                arguments += ["--onednn", mode] if "--why-not" in command else []
            if mode == "off" and "--onednn" not in arguments:
                continue
            code, text = run(binary, arguments, folder)
            out[f"{' '.join(command)} --onednn {mode}"] = [code, *parsed(text)]
        made = pathlib.Path(folder) / f"dumps_{mode}"
        code, text = run(binary, ["opt", model, "-o", f"out_{mode}.pb", "--dump-dir", str(made), "--ledger", f"ledger_{mode}.jsonl", "--onednn", mode,
                                  "--json", "--quiet"], folder)
        out[f"opt --onednn {mode}"] = [code, *parsed(text.replace(str(made), "DUMPS"))]
        for path in sorted(made.glob("*")) if made.exists() else []:
            if path.name == "timings.json":
                continue
            text = path.read_text(errors="replace").replace(str(made), "DUMPS")
            out[f"dump {mode} {path.name}"] = parsed(text) if path.suffix in (".json", ".jsonl") else [text]
        ledger = pathlib.Path(folder) / f"ledger_{mode}.jsonl"
        if ledger.exists():
            out[f"ledger {mode}"] = parsed(ledger.read_text())
        written = pathlib.Path(folder) / f"out_{mode}.pb"
        if written.is_file():
            out[f"output {mode}"] = [written.read_bytes().hex()]
    return out


def models_of(paths):
    for path in map(pathlib.Path, paths):
        is_model = path.is_file() or any((path / name).exists() for name in ("graph.pb", "saved_model.pb", "case.json"))
        if is_model:
            yield path.resolve()
        else:
            yield from models_of(sorted(child for child in path.iterdir() if child.is_dir() or child.suffix in (".pb", ".pbtxt", ".gtxt")))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("models", nargs="+")
    args = parser.parse_args()
    tally, seen = collections.Counter(), collections.Counter()
    for model in models_of(args.models):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            old, new = documents_of(os.path.abspath(args.old), str(model), one), documents_of(os.path.abspath(args.new), str(model), other)
        for what in sorted(old.keys() | new.keys()):
            tally["documents"] += 1
            for where, before, after in differences(without(old.get(what, [])), without(new.get(what, []))):
                tally["different"] += 1
                field = re.sub(r"\[\d+\]", "[]", where)
                seen[field] += 1
                if seen[field] <= 3:
                    print(f"{model.name}: {what}: {where}: {str(before)[:200]!r} -> {str(after)[:200]!r}", flush=True)
        tally["models"] += 1
    print(f"{tally['models']} models, {tally['documents']} documents, {tally['different']} differences")
    return 1 if tally["different"] or not tally["documents"] else 0


if __name__ == "__main__":
    sys.exit(main())
