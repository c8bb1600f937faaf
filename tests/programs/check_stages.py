"""Does `timeline` say of every stage what the names in the dumps say?

check_stages.py GRAPNEL ROOT [-v] [--only NAME...]

ROOT/NAME/dumps is a folder of dumps, ROOT/NAME/log.txt what the program wrote (dump.py makes both). Each dump is a stage, with the
log and without. A stage is right when

- it is compared with a dump before it in the story of its own function (a run of MetaOptimizer belongs to the function that the log
  names; without the log, to one whose before_graph_optimization has the nodes that the run begins with), and its `graph` names
  that function, and no other one of the folder;
- added and removed are the nodes whose names are in one of the two dumps only, FUNCTION/NODE in the library. A new node may also be
  a copy in `opened`; once in all. A function that only one dump has may be left out;
- nodes and edges are those of Grappler's log, or where it says nothing, those of the main graph, with or without the library.

Prints a line for each folder and mode, kinds of faults, with -v the first stages of each kind, and last 'N of M stages'.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys

from folder import NUMBERED, Folder

def names_told(stage):
    """Nodes that are new, with copies of opened calls, and nodes that are gone."""
    new, gone = (stage[kind] + stage["library"][kind] for kind in ("added", "removed"))
    return new + [node["copy"] for call in stage["opened"] for node in call["nodes"]], gone


def qualified(graph):
    """Names that have to be told apart, and those that may be: arguments and results of functions are nodes to some."""
    required, possible = set(graph.nodes), set(graph.nodes)
    for function, (nodes, ends) in graph.bodies.items():
        required |= {f"{function}/{n}" for n in nodes}
        possible |= {f"{function}/{n}" for n in nodes | ends}
    return required, possible


def fault_of_names(before, after, stage):
    """What is wrong with the lists of names, or None."""
    (was, could_be), (now, can_be) = qualified(before), qualified(after)
    for function in before.bodies.keys() ^ after.bodies.keys():
        prefix = f"{function}/"
        was = {n for n in was if not n.startswith(prefix)}
        now = {n for n in now if not n.startswith(prefix)}
    new, gone = names_told(stage)
    for kind, told, required, allowed in (("new", new, now - was, can_be - could_be), ("gone", gone, was - now, could_be - can_be)):
        if wrong := set(told) - allowed:
            return f"{kind}: a node that is in both" if wrong & could_be & can_be else f"{kind}: no such node", wrong
        if missing := required - set(told):
            return f"{kind}: not told", missing
        if twice := {n for n, times in collections.Counter(told).items() if times > 1}:
            return f"{kind}: told twice", twice
    return None


class Checked:
    def __init__(self, folder, stages, with_log):
        self.folder, self.with_log = folder, with_log and folder.logged
        self.stages = {s["file"]: s for s in stages}
        self.run_of = {f: i for i, run in enumerate(folder.runs) for f in run.files}
        self.faults = {f: list(self.faults_of(f)) for f in folder.order}

    def faults_of(self, file):
        """Yields what is wrong with a stage: (a kind, names)."""
        stage = self.stages.get(file)
        if stage is None:
            yield "no such stage", set()
            return
        yield from filter(None, [self.fault_of_owner(file, stage), self.fault_of_before(file, stage), self.fault_of_counts(file, stage)])
        if stage.get("before") in self.folder.files:
            yield from filter(None, [fault_of_names(self.folder.graph(stage["before"]), self.folder.graph(file), stage)])
        elif any(names_told(stage)):
            yield "a first stage with changes", set()

    def owners(self, file):
        """Functions that a dump may be of."""
        if m := NUMBERED.match(file):
            return {m["name"]}
        strict, by_name = self.folder.owners[self.run_of[file]]
        return strict if self.with_log else by_name

    def fault_of_owner(self, file, stage):
        owners, functions = self.owners(file), self.folder.functions()
        named = {f for f in functions | owners if re.search(rf"(?<![\w]){re.escape(f)}(?!\d|_\d)", stage["graph"])}
        if owners & functions and not named & owners:
            return "under no function" if not named else "under another function", {stage["graph"]}
        if named - owners and not named & owners and owners - {"tf_graph", None}:
            return "under another function", {stage["graph"]}
        return None

    def fault_of_before(self, file, stage):
        right = self.right_befores(file)
        before = stage.get("before")
        if before in right:
            return None
        if before is None:
            return "compared with nothing", set()
        if before not in self.folder.files:
            return "compared with no dump", {before}
        # Without the log, runs that have the same names can't be told apart.
        graphs = [self.folder.graph(r) for r in right if r]
        known = self.folder.graph(before)
        if not self.with_log and any(g.nodes == known.nodes for g in graphs):
            return None
        return "compared with a wrong dump", {before}

    def right_befores(self, file):
        return self.befores_in_series(file) if NUMBERED.match(file) else self.befores_in_run(file)

    def befores_in_series(self, file):
        m = NUMBERED.match(file)
        files = self.folder.series[m["name"], m["partition"]]
        k = files.index(file)
        right = {files[k - 1] if k else None}
        if m["tag"] == NUMBERED.match(files[0])["tag"]:  # a function that is instantiated, the first time or again
            right.add(None if not m["partition"] else self.last_before(file, self.folder.series.get((m["name"], None), [])))
        if m["name"] == "unknown_graph" and m["tag"].startswith("before_opt_group"):
            right.add(None)  # a Session's next run
        if not m["partition"]:
            runs = zip(self.folder.runs, self.folder.owners)
            ends = [run.files[-1] for run, (_, owners) in runs if m["name"] in (*owners, "unknown_graph")]
            last = self.last_before(file, ends)
            if last and (not k or self.folder.at[files[k - 1]] < self.folder.at[last]):
                right.add(last)
        return right

    def last_before(self, file, files):
        earlier = [f for f in files if self.folder.at[f] < self.folder.at[file]]
        return max(earlier, key=self.folder.at.get, default=None)

    def befores_in_run(self, file):
        i = self.run_of[file]
        run = self.folder.runs[i]
        k = run.files.index(file)
        previous = self.folder.previous_of(i)
        if k:
            is_result = previous is not None and "_iteration_" not in file
            return {run.files[k - 1]} | ({self.folder.runs[previous].files[-1]} if is_result else set())
        if previous is not None:
            return {self.folder.runs[previous].files[-1]}
        owners = self.owners(file)
        starts = [f for (name, partition), files in self.folder.series.items() if not partition and name in owners
                  for f in files if "before_graph_optimization" in f and self.folder.graph(f).nodes == self.folder.graph(file).nodes]
        right = {self.last_before(file, starts)} if self.with_log else set(starts)
        if not starts:
            right |= {None, self.last_before(file, self.folder.series.get(("unknown_graph", None), []))}
        return right

    def fault_of_counts(self, file, stage):
        graph = self.folder.graph(file)
        said = stage["nodes"], stage["edges"]
        if size := self.folder.sizes.get(file):
            return None if said == size else ("counts are not Grappler's", {f"{said} for {size}"})
        if said == (len(graph.nodes), graph.edges):
            return None
        if said[0] >= len(graph.nodes) + sum(len(nodes) for nodes, _ in graph.bodies.values()):
            return None
        return "counts of no graph", {f"{said} for {(len(graph.nodes), graph.edges)}"}


def check(grapnel, place, with_log, verbose, kinds):
    dumps, log = os.path.join(place, "dumps"), os.path.join(place, "log.txt")
    folder = folders(place, dumps, log)
    command = [grapnel, "timeline", dumps, *(["--log", log] if with_log else []), "--json"]
    try:
        stages = json.loads(subprocess.run(command, capture_output=True, text=True, timeout=300).stdout)["stages"]
    except (ValueError, KeyError, subprocess.TimeoutExpired) as wrong:
        print(f"{place}: {type(wrong).__name__}")
        stages = []
    faults = Checked(folder, stages, with_log).faults
    wrong = {f: fault for f, fault in faults.items() if fault}
    counted = collections.Counter(kind for faults_of_one in wrong.values() for kind, _ in faults_of_one)
    print(os.path.basename(place), "with log" if with_log else "without", len(faults) - len(wrong), "of", len(faults),
          "; ".join(f"{n} {kind}" for kind, n in counted.most_common()), flush=True)
    kinds.update(counted)
    shown = collections.Counter()
    for f, kind, names in ((f, *fault) for f in wrong for fault in wrong[f]) if verbose else ():
        shown[kind] += 1
        if shown[kind] <= 3:
            print(f"    {f}: {kind}" + (f": {', '.join(sorted(names)[:3])}" if names else ""))
    return len(faults) - len(wrong), len(faults)


last = {}


def folders(place, dumps, log):
    """A folder is read once for both modes."""
    if place not in last:
        last.clear()
        last[place] = Folder(dumps, log)
    return last[place]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("grapnel")
    parser.add_argument("root")
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("--only", nargs="+")
    wanted = parser.parse_args()
    right = total = 0
    kinds = collections.Counter()
    for name in sorted(os.listdir(wanted.root)):
        place = os.path.join(wanted.root, name)
        if not os.path.isdir(os.path.join(place, "dumps")) or (wanted.only and name not in wanted.only):
            continue
        for with_log in (True, False):
            good, of = check(wanted.grapnel, place, with_log, wanted.verbose, kinds)
            right, total = right + good, total + of
    for kind, n in kinds.most_common():
        print(f"{n:6} {kind}")
    print(f"{right} of {total} stages")
    return 0 if right == total else 1


if __name__ == "__main__":
    sys.exit(main())
