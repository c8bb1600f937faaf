#!/usr/bin/env python3
"""Checks the names that commands print of Keras models: text output speaks of no saver and has no name of over 60 letters, and each
name of a node that it prints means this node alone when it is passed on.

  check_names_of_models.py MODELS SCRATCH [--full]

MODELS has a folder for each model. Without --full, passes on a few of the names of each model.
"""

import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys

from sampling import sample

LONGEST = 60
SAVER = re.compile(r"(?<![\w/])save/|SaveV2|RestoreV2|(?<![\w/])AssignVariableOp(?:_\d+)?: |MergeV2Checkpoints|ShardedFilename")
NAME = re.compile(r"[A-Za-z0-9_./>+*-]+")


def said(*arguments, may_differ=False):
    """The text that a command prints on both streams."""
    done = subprocess.run(["grapnel", *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode not in ((0, 1) if may_differ else (0,)):
        raise SystemExit(f"grapnel {' '.join(map(str, arguments))}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout + done.stderr


def few(names, is_full, count=6):
    """All names, or a few: the longest ones, and the first."""
    names = sorted(set(names), key=lambda name: (-len(name), name))
    return names if is_full or len(names) <= count else names[:count - 2] + names[-2:]


def node_of(model, name):
    """The node that `info --node` finds by a name; None if it is not one node."""
    done = subprocess.run(["grapnel", "info", model, "--node", name, "--json"], capture_output=True, text=True, check=False)
    return json.loads(done.stdout).get("node") if done.returncode == 0 else None


class Model:
    def __init__(self, path, other, scratch, is_full):
        self.path, self.other, self.scratch, self.is_full, self.problems = path, other, scratch, is_full, []

    def check(self):
        nodes = "SELECT name, op FROM nodes WHERE function IS NULL OR function = ''"
        texts = {
            "info": said("info", self.path),
            "diff": said("diff", self.path, self.other, may_differ=True),
            "diff of itself": said("diff", self.path, self.path),
            "why-not": said("passes", "--why-not", self.path),
            "place": said("place", self.path, "--devices", "cpu:1"),
            "doctor": said("doctor", self.path, may_differ=True),
            "query": said("query", self.path, nodes),
            "view": said("view", self.path, "-o", self.scratch / f"{self.path.parent.name}.dot"),
            "check": said("check", self.path, "--init"),
        }
        for command, text in texts.items():
            self.check_text(command, text.replace(str(self.path), "MODEL").replace(str(self.other), "OTHER").replace(str(self.scratch), "SCRATCH"))
        self.check_query(texts["query"], nodes)
        self.check_info(texts["info"])
        self.check_place(texts["place"])
        self.check_why_not(texts["why-not"])
        for name in re.findall(r"^# Today it finds .* node.* such as '(\S+)'", texts["check"], re.M):
            if node_of(self.path, name) is None:
                self.problems.append(f"check: '{name}' does not mean one node")
        return self.problems

    def check_text(self, command, text):
        for line in text.splitlines():
            if SAVER.search(line):
                self.problems.append(f"{command}: speaks of a saver: {line}")
        for name in sorted(set(NAME.findall(text))):
            if len(name) > LONGEST and not set(name) <= set("-."):
                self.problems.append(f"{command}: {len(name)} letters: {name}")

    def expect(self, where, name, node):
        found = node_of(self.path, name)
        if found != node:
            self.problems.append(f"{where}: '{name}' means {found}, not {node}")

    def check_query(self, text, nodes):
        """The document has the full names of the table's rows."""
        rows = json.loads(subprocess.run(["grapnel", "query", str(self.path), nodes, "--json"], capture_output=True, text=True,
                                         check=True).stdout)["rows"]
        lines = [line for line in text.splitlines() if not line.startswith("names are without ")][1:]
        full = {line.split()[0]: name for line, (name, op) in zip(lines, rows) if line}
        for name in few(full, self.is_full):
            self.expect("query", name, full[name])

    def check_info(self, text):
        rows = re.search(r"^largest constants\n((?:  .*\n)*)", text, re.M)
        for name in few([row.split()[-1] for row in rows[1].splitlines()], self.is_full) if rows else []:
            if node_of(self.path, name) is None:
                self.problems.append(f"info: '{name}' does not mean one node")

    def check_place(self, text):
        names = [line.split(": (")[0] for line in text.splitlines() if ": (" in line]
        for name in few(names, self.is_full):
            explained = said("place", self.path, "--devices", "cpu:1", "--explain", name)
            if explained.count("\n  - ") == 0 or " nodes here" in explained:
                self.problems.append(f"place: '{name}' is not explained alone: {explained.splitlines()[:1]}")

    def check_why_not(self, text):
        names = re.findall(r"^  ([\w*]\S*?)(?:, made for '\S+')?$", text, re.M)
        names += re.findall(r"^\w+/\w+: '(\S+)': ", text, re.M) + re.findall(r", made for '(\S+)'$", text, re.M)
        for name in few(names, self.is_full):
            done = subprocess.run(["grapnel", "passes", "--why-not", "--node", name, str(self.path), "--json"], capture_output=True,
                                  text=True, check=False)
            found = len(json.loads(done.stdout)["nodes"]) if done.returncode == 0 else done.stderr
            if found != 1:
                self.problems.append(f"why-not: '{name}' means {found}, not one node")


def main():
    models, scratch = map(pathlib.Path, sys.argv[1:3])
    scratch.mkdir(parents=True, exist_ok=True)
    paths = sample(sorted(path for path in models.glob("*/model") if path.is_dir()))
    pairs = [Model(path, other, scratch, "--full" in sys.argv) for path, other in zip(paths, paths[1:] + paths[:1])]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        results = list(pool.map(Model.check, pairs))
    for path, problems in zip(paths, results):
        for problem in problems[:20]:
            print(f"{path.parent.name}: {problem}")
    print(f"{sum(not problems for problems in results)} of {len(paths)} models")
    return 0


sys.exit(main())
