"""Inspects models in a separate process: a model that crashes, hangs or takes too much memory ends this process, not a worker.

Reads a line of JSON for each model. Writes lines, each with some columns of the model's row, and with the work that is done next; the
last line has no "next".
"""

from __future__ import annotations

import collections
import json
import os
import signal
import sys

import tfgrapnel as tg

from . import _tfgrapnel
from ._fleet_schema import DEBUG_FOLDER, TABLES
from ._graph import _opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OPS = """SELECT nodes.op, outputs.dtype, count(*) FROM nodes LEFT JOIN outputs ON outputs.node = nodes.id AND outputs.output = 0
GROUP BY 1, 2 ORDER BY 1, 2"""
SEVERITIES = {"certain": "error", "likely": "warning", "possible": "note"}
OF_DEBUG_FOLDERS = ("doctor", "blame")
LONGEST = 10**9  # the timer's maximum in seconds: a timeout may be infinite
LOST_FUSIONS = "[lost_fusions]\n"


class Model:
    """A model to inspect. `graphs`: the titles of its graphs; `limits`: options of all runs."""

    def __init__(self, task):
        self.path = task["path"]
        self.base = task["base"]
        self.policy = task["policy"]
        self.devices = task["devices"]
        self.limits = {"threads": 1, "memory": task["memory"]}
        self.is_debug_folder = _tfgrapnel.is_debug_folder(self.path)
        self.kind, self.graphs, self._opened = DEBUG_FOLDER, [""], None
        if not self.is_debug_folder:
            self.kind, self.graphs, self._opened = _opened(self.path, None)

    def open(self, title):
        if self._opened is not None and len(self.graphs) == 1:
            return tg.Graph(self.path, title, self.kind, self._opened)
        opened = tg.load(self.path)
        return opened[title] if isinstance(opened, tg.Graphs) else opened

    def works(self, names):
        """The requested works that apply to the model."""
        if self.is_debug_folder:
            return [name for name in names if name in OF_DEBUG_FOLDERS]
        idle = {"blame"} | (set() if self.base else {"fusions"}) | (set() if self.policy else {"policy"})
        return [name for name in names if name not in idle]

    def which(self, title):
        """The option that names a graph, if the model has several."""
        return {"graph": title} if len(self.graphs) > 1 else {}


def info(model):
    found = tg.info(model.path, costs=True, threads=1).to_dict()
    return {
        "problems": [{"graph": graph["title"], "problem": text} for graph in found["graphs"] for text in graph.get("problems", ())],
        "graphs": [_graph(graph) for graph in found["graphs"]],
        "signatures": [tensor for graph in found["graphs"] for tensor in _signatures(graph)],
    }


def _graph(graph):
    """The columns of a graph; for a graph in a dump folder only the title."""
    counted = {name: len(graph[name]) for name in ("functions", "variables") if name in graph}
    told = graph | counted | graph.get("run", {})
    return {name: told.get(name) for name in TABLES["graphs"]}


def _signatures(graph):
    for signature in graph.get("signatures", ()):
        for side in ("inputs", "outputs"):
            for tensor in signature[side]:
                yield {"graph": graph["title"], "signature": signature["name"], "side": side[:-1], **tensor}


def ops(model):
    return {
        "ops": [
            {"graph": title, "op": op, "dtype": dtype, "nodes": count}
            for title in model.graphs
            for op, dtype, count in model.open(title).query(OPS)
        ]
    }


def scopes(model):
    names = ("scope", "function", "nodes", "hash")
    found = []
    for title in model.graphs:
        table = model.open(title).table("scopes")
        found += [{"graph": title, **dict(zip(names, cells))} for cells in zip(*(table[name] for name in names))]
    return {"scopes": found}


def layers(model):
    """The layers of each graph, as far as `info` finds any."""
    found = tg.info(model.path, threads=1).to_dict()
    return {"layers": [row for graph in found["graphs"] for row in _layers(graph["title"], graph.get("layers", ()), "")]}


def _layers(title, listed, outer):
    """The rows of layers, each before the layers that are in it, whose names it begins."""
    for layer in listed:
        told = layer | {"graph": title, "layer": outer + layer["name"], "class_name": layer.get("class")}
        yield {name: told.get(name) for name in TABLES["layers"]}
        yield from _layers(title, layer.get("layers", ()), told["layer"] + "/")


def doctor(model):
    findings, failures = [], []
    for title in model.graphs:
        found = tg.doctor(model.path, **model.which(title), **model.limits).to_dict()
        for finding in found["findings"]:
            findings.append(_finding(title, "doctor", finding) | {"severity": SEVERITIES[finding["certainty"]]})
        if found["failure"]:
            failures.append({"work": "doctor", "error": found["failure"]})
    return {"findings": findings, "failures": failures}


def blame(model):
    first = tg.blame(model.path).first_bad
    if not first:
        return {}
    line = first.get("source")
    told = {
        "check": "first_bad",
        "severity": "error",
        "source": line and f"{line['file']}:{line['line']} in {line['function']}",
        "what": first["text"],
        "advice": first.get("fix") or None,
    }
    return {"findings": [_finding(None, "blame", first | told)]}


def fusions(model):
    return _checked(model, "fusions", LOST_FUSIONS)


def policy(model):
    return _checked(model, "policy", model.policy)


def place(model):
    """The devices of each graph, and a finding for each group of nodes on a CPU between nodes of another device."""
    devices, findings, failures = [], [], []
    for title in model.graphs:
        done = tg.place(model.path, devices=model.devices, table=True, threads=1, **model.which(title)).to_dict()
        if done["error"]:
            failures.append({"work": "place", "error": done["error"]})
            continue
        nodes = collections.Counter(done["placements"].values())
        for device, memory in done["memory"].items():
            told = {"peak_bytes": memory["peak"], "open": memory["unknown"], "weights": memory["weights"]}
            devices.append({"graph": title, "device": device, "nodes": nodes[device], **told})
        findings += [_finding(title, "place", _island(island)) for island in done["islands"]]
    return {"devices": devices, "findings": findings, "failures": failures}


def _island(island):
    """An island of `place` as a finding."""
    because = f": no kernel elsewhere for '{island['because_of']}'" if "because_of" in island else ", as they request"
    count = len(island["nodes"])
    text = f"{count:,} node{'s' * (count > 1)} on {island['device']} between nodes of another device{because}"
    return {"check": "cpu_island", "severity": "note", "node": island.get("because_of") or island["nodes"][0], "what": text}


def _checked(model, work, text):
    """The findings of `check`, except those that a waiver allows."""
    file = _tfgrapnel.MemoryFile("policy.toml")
    file.write(text.encode())
    findings = []
    for title in model.graphs:
        done = tg.check(model.path, policy=file.name, against=model.base, **model.which(title), **model.limits)
        findings += [_finding(title, work, finding) for finding in done.findings if not finding["waiver"]]
    return {"findings": findings}


def _finding(title, work, found):
    """A finding as a row. Its `check` becomes check_name, because CHECK is an SQL keyword."""
    told = {"graph": title, "work": work, "check_name": found["check"]}
    return {name: found.get(name) for name in TABLES["findings"]} | told


WORKS = {work.__name__: work for work in (info, ops, scopes, layers, doctor, blame, fusions, policy, place)}


def columns(task):
    """Yields the columns of a model's row, a few at a time."""
    try:
        model = Model(task)
    except Exception as error:
        yield {"error": _text(error)}
        return
    found: dict[str, Any] = {"kind": model.kind}
    for name in model.works(task["works"]):
        yield found | {"next": name}
        try:
            found = WORKS[name](model)
        except Exception as error:
            found = {"failures": [{"work": name, "error": _text(error)}]}
    yield found


def _text(error):
    return str(error) if isinstance(error, tg.Error) else f"{type(error).__name__}: {error}"


def limit_memory(limit):
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main(memory):
    import logging
    import warnings

    # The output of a model must not mix with the answers, and Ctrl-C is for the parent process, which may have ended.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    logging.getLogger("tfgrapnel").addHandler(logging.NullHandler())
    warnings.simplefilter("ignore")
    limit_memory(memory)
    for line in sys.stdin:
        task = json.loads(line)
        # After the timeout, SIGALRM ends the process, whatever it is doing.
        signal.setitimer(signal.ITIMER_REAL, min(task["timeout"], LONGEST))
        for found in columns(task):
            if "next" not in found:
                signal.setitimer(signal.ITIMER_REAL, 0)
            print(json.dumps(found), file=answers, flush=True)
