"""Assertions on models, for tests: with pytest, unittest or by themselves.

    from tfgrapnel.testing import assert_fused
    assert_fused(model, "Conv2D + BiasAdd + Relu")

Models are anything that `load` takes. A failure is an AssertionError that says what was found instead, at which node, and what to do,
and names a page that shows it: in the folder of pytest's option --grapnel-pictures, by default beside the report of --junit-xml,
otherwise in a temporary folder. Keyword arguments that an assertion does not list are those of the commands that it names.
"""

from __future__ import annotations

import os
import re
import warnings

from ._commands import blame, check, diff, passes, place, view
from ._errors import Error, GrapnelWarning, demand_integer, demand_text, in_python
from ._graph import Graph, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ._call import GraphResult, Result
    from .results import NearMiss

__all__ = ["assert_all_finite", "assert_budget", "assert_fused", "assert_placed", "assert_same_graph"]

_LINES = 30  # the most lines of a command's text in a message
_NODES = 5  # the most nodes named in a message
_ALL = 1_000_000_000  # the limit for chains: none are left out


def _folder():
    import sys
    import tempfile

    plugin = sys.modules.get("tfgrapnel_pytest")
    folder = plugin.folder() if plugin else None
    if folder is None:
        return tempfile.mkdtemp(prefix="tfgrapnel-")
    os.makedirs(folder, exist_ok=True)
    return os.fspath(folder)


def _picture(draw: Callable[[str], object], has_svg: bool = True) -> str:
    """The last line of a message, with the path of a page. `draw` writes the page, and an SVG next to it if the view supports that. If
    drawing fails, the line has the error instead, since the rest of the message matters more."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "picture").rpartition(" (")[0] or "picture"
    file, _, within = test.partition("::")  # a test's parameters may contain a slash
    name = re.sub(r"[^\w.-]+", "-", f"{os.path.basename(file)}-{within}").strip("-")[:100]
    folder = _folder()
    number, path = 1, os.path.join(folder, f"{name}.html")
    while os.path.exists(path):
        number += 1
        path = os.path.join(folder, f"{name}-{number}.html")
    try:
        draw(path)
        if has_svg:
            draw(path.removesuffix("html") + "svg")
    except Error as error:
        return f"no picture: {error}"
    return f"picture: {path}"


def _cut(text, what="lines"):
    lines = text.strip("\n").splitlines()
    more = [f"... and {len(lines) - _LINES} more {what}"] if len(lines) > _LINES else []
    return "\n".join(lines[:_LINES] + more)


def _demand_mapping(name, what, given):
    if not hasattr(given, "items"):
        raise TypeError(f"{name}: {what} was expected, not an object of type {type(given).__name__}")


def _opened(model) -> Graph:
    graph = load(model)
    if not isinstance(graph, Graph):
        raise TypeError(f"one graph was expected, not {graph!r}")
    return graph


def assert_same_graph(a: Any, b: Any, **options: Any) -> None:
    """Asserts that two graphs are the same, matched by structure: names may differ, unless names=True. Options are those of `diff`:
    ignore="device"."""
    __tracebackhide__ = True
    first, second = _opened(a), _opened(b)
    difference = diff(first, second, **options)
    if difference.ok:
        return
    picture = _picture(lambda path: diff(first, second, output=path, **options))
    raise AssertionError(
        f"the graphs differ: {first.path} (-) and {second.path} (+)\n{_cut(difference.text)}\n"
        f"use ignore= to leave out what does not matter, or only= to compare nothing else\n{picture}"
    )


class _Optimized:
    """The result of the default passes on a model, and what became of each node."""

    def __init__(self, model, options):
        # Calls are inlined first, and what no fetch needs is dropped (the other signatures), so that chains, reasons and pictures
        # refer to the same graph.
        later = {name: options[name] for name in ("device", "feed", "keep_nan", "rewriter_config", "threads", "memory") if name in options}
        first = {name: value for name, value in options.items() if name != "rewriter_config"}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*a GraphDef cannot hold the values", GrapnelWarning)  # which fusing does not need
            opened: GraphResult = model.optimize(passes="function_optimizer,model_pruner/drop_unreachable", **first)
        self.before = opened.graph
        self.kept = {"fetch": opened.kept, **later}
        self.refused: Sequence[NearMiss] | None = None  # computed if a chain is not fused
        self.difference, self.after = self._compare(None)
        self.ops = {}
        for function, name, op in self.after.query("SELECT function, name, op FROM nodes"):
            self.ops[f"{function}/{name}" if function else name] = op
        self.became = {pair["a"]: pair["b"] for pair in self.difference.matched}
        for group in self.difference.groups:
            if len(group["b"]) == 1 and self.ops.get(group["b"][0]) != "Const":
                self.became.update({node: group["b"][0] for node in group["a"]})

    def _compare(self, page) -> tuple[Result, Graph]:
        import tempfile

        with tempfile.TemporaryDirectory(prefix="tfgrapnel-") as folder:
            ledger = os.path.join(folder, "ledger.jsonl")
            done = self.before.optimize(ledger=ledger, **self.kept)
            return diff(self.before, done.graph, ledger=ledger, output=page), done.graph

    def draw(self, path):
        self._compare(path)

    def chains(self, steps):
        """The chains of these ops in the graph: lists of nodes."""
        found = []
        for function, path, _ in self.before.find(" -> ".join(steps), limit=_ALL):
            found.append([f"{function}/{node}" if function else node for node in str(path).split(" -> ")])
        return found

    def is_one(self, nodes):
        ends = {self.became.get(node) for node in nodes}
        return len(ends) == 1 and None not in ends

    def fused(self):
        """{node: "Conv2D + BiasAdd"} of the fused nodes of the result."""
        rows = self.after.query(
            "SELECT n.function, n.name, n.op, a.value FROM nodes n LEFT JOIN attributes a ON a.node = n.id AND a.name = 'fused_ops' "
            "WHERE n.op LIKE '\\_Fused%' ESCAPE '\\'"
        )
        found = {}
        for function, name, op, ops in rows:
            parts = [str(op).removeprefix("_Fused"), *re.findall(r"[^\[\]\",\s]+", str(ops or ""))]
            found[f"{function}/{name}" if function else name] = " + ".join(parts)
        return found

    def origins(self, node):
        return [node, *(source for source, end in self.became.items() if end == node)]

    def reasons(self, nodes):
        """The reasons with which rules refused these nodes, one line each."""
        if self.refused is None:
            self.refused = passes(why_not=[self.before], **self.kept).near_misses
        return [f"{near['pass']}/{near['rule']}: '{near['node']}': {near['reason']}" for near in self.refused if near["node"] in nodes]

    def what_became(self, nodes):
        return ", ".join(self._what_became(node) for node in nodes)

    def _what_became(self, node):
        end = self.became.get(node)
        if end is None:
            return f"'{node}' (gone)"
        where = "" if end == node else f" '{end}'"
        return f"'{node}' ({self.ops.get(end, 'gone')}{where})"


def _fits(nodes, at):
    """True if `at` selects a node: `at` is the node's name, its scope, or a pattern that matches its name."""
    import fnmatch

    return at is None or any(fnmatch.fnmatchcase(node, at) or node.startswith(at + "/") for node in nodes)


def _counted(names):
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return ", ".join(f"{count} x {name}" for name, count in sorted(counts.items())) or "nothing"


def _ends(chains):
    more = f" and {len(chains) - _NODES} more" if len(chains) > _NODES else ""
    return ", ".join(f"'{nodes[-1]}'" for nodes in chains[:_NODES]) + more


def _how_far(made, steps):
    """For a chain that does not occur: the longest beginning that does, and the ops that follow it."""
    for length in range(len(steps) - 1, 0, -1):
        start = steps[:length]
        if found := made.chains(start):
            followed = [ops.rpartition(" -> ")[2] for _, _, ops in made.before.find(" -> ".join([*start, "*"]), limit=_ALL)]
            return f"{' -> '.join(start)} occurs at {_ends(found)}, and is read by: {_counted(followed)}{_near(steps[length], followed)}"
    ops = sorted(set(made.before.nodes["op"]))
    return f"there is no {steps[0]}" + (_near(steps[0], ops) or f", but {', '.join(ops)}")


def _near(op, ops):
    import difflib

    near = difflib.get_close_matches(op, ops, 1)
    return f"; did you mean {near[0]}?" if near and op not in ops else ""


def _left_in_parts(made, left):
    """The rest of a message: what is not fused and why, and what is fused."""
    said = []
    for nodes in left[:_NODES]:
        said.append(f"  not fused: {made.what_became(nodes)}")
        said += [f"    {reason}" for reason in made.reasons(nodes)]
    if len(left) > _NODES:
        said.append(f"  ... and {len(left) - _NODES} more places")
    said.append("fused: " + _counted(made.fused().values()))
    said.append("fix the cause in the reason; fetch= sets the values that must stay, device= the device of the nodes; why_not(model) lists all refusals")
    return [*said, _picture(made.draw)]


def assert_fused(model: Any, chain: str, at: str | None = None, count: int | None = None, **options: Any) -> None:
    """Asserts that the default passes fuse the ops of `chain`, such as "Conv2D + BiasAdd + Relu", wherever these ops follow each other.

    at: only chains with a node of this name, within this scope, or matching this pattern.
    count: the expected number of fused chains, while others may stay unfused; by default all must be fused, and at least one.
    Options are those of `optimize`: fetch, signature, device, freeze, ... Nodes that were already fused count too, and so do
    ops from other passes, which turn a normalization after a Conv2D into other weights and a BiasAdd.
    """
    __tracebackhide__ = True
    steps = [step.strip() for step in re.split(r"\+|->", demand_text("chain", chain))]
    if len(steps) < 2 or not all(steps):
        raise ValueError(f"chain: ops joined by + were expected, such as 'Conv2D + BiasAdd', not '{chain}'")
    if count is not None:
        count = demand_integer("count", count, 0)
    opened = _opened(model)
    if opened.default_fetches:  # the fetches are known, as in a function
        options = {"fetch": opened.default_fetches} | options
    made = _Optimized(opened, options)
    name = " + ".join(steps)
    chains = [nodes for nodes in made.chains(steps) if _fits(nodes, at)]
    left = [nodes for nodes in chains if not made.is_one(nodes)]
    # This includes nodes that were already fused, and ops from passes, such as the BiasAdd that a pass makes from a normalization.
    named = {node for node, parts in made.fused().items() if f"{parts} + ".startswith(name + " + ") and _fits(made.origins(node), at)}
    fused = {made.became[nodes[0]] for nodes in chains if made.is_one(nodes)} | named
    if len(fused) == count or count is None and fused and not left:
        return

    where = (f" at '{at}'" if at is not None else "") + f" in {opened.path}"
    if count is None:
        said = [f"{name} is not fused{where}"]
    else:
        said = [f"{name} is fused {len(fused)} times{where}, {count} were expected"]
        said += [f"  fused: '{node}'" for node in sorted(fused)[:_NODES]]
    if not chains and not fused:
        elsewhere = made.chains(steps)
        said.append("  " + (f"the chain occurs at: {_ends(elsewhere)}" if elsewhere else _how_far(made, steps)))
    raise AssertionError("\n".join(said + _left_in_parts(made, left)))


def assert_all_finite(model: Any, feed: Mapping[str, Any] | None = None, **options: Any) -> None:
    """Asserts that no NaN and no infinity reaches a fetched tensor. An infinity that reaches no fetch, such as in a mask, is allowed.

    feed: {tensor: array}; a case folder has its own feeds. Options are those of `blame`: fetch, signature, repeat, ...
    The model may be a debug folder; then its newest run is checked.
    """
    __tracebackhide__ = True
    _demand_mapping("feed", "{tensor: array}", feed or {})
    opened = load(model)
    found = blame(opened, feed=feed or (), **options)
    if not found.first_bad and not found.to_dict().get("bad_fetches"):
        return
    said = [f"not all values are finite in {opened.path}", _cut(found.text)]
    if isinstance(opened, Graph) and found.first_bad:
        bad = found.first_bad
        node = f"{bad['function']}/{bad['node']}" if bad.get("function") else bad["node"]
        said.append(_picture(lambda path: view(opened, around=node, output=path)))
    raise AssertionError("\n".join(said))


def _is_on(placed, device):
    import fnmatch

    return any(fnmatch.fnmatchcase(placed.lower(), pattern.lower()) for pattern in (device, f"*{device}", f"*/device:{device}", f"*/device:{device}:*"))


def assert_placed(model: Any, expected: Mapping[str, str], devices: str = "cpu:1,gpu:1", **options: Any) -> None:
    """Asserts that TensorFlow would place nodes on the expected devices.

    expected: {pattern of nodes: device}: {"dense/*": "GPU:0", "*/embedding_lookup": "CPU"}; each pattern must match a node.
    devices: the available devices, as in the option of `place`. Options are those of `place`: hard, kernels, signature, ...
    """
    __tracebackhide__ = True
    import difflib
    import fnmatch

    _demand_mapping("expected", "{pattern of nodes: device}", expected)
    if not expected:
        raise ValueError("expected: empty; {pattern of nodes: device} was expected")
    opened = _opened(model)
    placed = place(opened, devices=devices, **options)
    if not placed.ok:
        raise AssertionError(f"{opened.path} cannot be placed on {devices}: {placed.error}")
    said, wrong = [], []
    for pattern, device in expected.items():
        fitting = fnmatch.filter(placed.placements, pattern)
        elsewhere = [node for node in fitting if not _is_on(placed.placements[node], device)]
        if not fitting:
            ends = {node.rpartition("/")[2] for node in placed.placements}
            near = difflib.get_close_matches(pattern.rpartition("/")[2], sorted(ends), 1)
            said.append(f"  no node matches '{pattern}'" + (f"; did you mean '{near[0]}'?" if near else ""))
        if elsewhere:
            said.append(f"  '{pattern}': {len(elsewhere)} of {len(fitting)} nodes are not on {device}:")
            said += [f"    '{node}' is on {placed.placements[node]}" for node in elsewhere[:_NODES]]
            said += [f"    ... and {len(elsewhere) - _NODES} more"] if len(elsewhere) > _NODES else []
            wrong.append(elsewhere[0])
    if not said:
        return
    if wrong:
        said.append(_cut(place(opened, devices=devices, explain=wrong, **options).text))
    said.append("tf.device in the program requests a device; devices= lists the available ones")
    picture = _picture(lambda path: place(opened, devices=devices, html=path, **options), has_svg=False)
    raise AssertionError("\n".join([f"not all nodes are placed as expected in {opened.path}, on {devices}", *said, picture]))


def _policy(budgets) -> str:
    """The text of a policy for `check` with these budgets, three lines each."""
    lines = []
    for name, most in budgets.items():
        if isinstance(most, str):
            value = '"' + re.sub(r'["\\\n]', "", most) + '"'
        elif isinstance(most, float) and most.is_integer():  # 1e9
            value = str(demand_integer(name, int(most), 0))
        elif isinstance(most, bool) or not hasattr(most, "__index__"):
            raise TypeError(f"{name}: an integer or a text such as '25 MB' was expected, not {most!r}")
        else:
            value = str(demand_integer(name, most, 0))
        lines.append(f"[{name}]\nmost = {value}\n\n")
    return "".join(lines)


def _checked(path, policy, budgets, options):
    try:
        return check(path, policy=policy, **options)
    except Error as error:
        if not (line := re.match(rf"{re.escape(policy)}:(\d+): 'most': (.*)", str(error))):
            raise
        name = list(budgets)[(int(line[1]) - 1) // 3]
        raise ValueError(f"{'bytes' if name == 'file_size' else name}: {line[2]}, not {budgets[name]!r}") from None


def _over(found):
    at = f" (at '{found['node']}')" if found["node"] else ""
    return f"  {found['check']}: {found['what']}{at}; {found['expected']}\n    {found['advice']}"


def assert_budget(
    model: Any,
    *,
    nodes: int | None = None,
    flops: float | None = None,
    bytes: int | str | None = None,
    parameters: int | None = None,
    peak_memory: int | str | None = None,
    **options: Any,
) -> None:
    """Asserts that a model stays within a budget: its nodes, the FLOPs of a run, the bytes of its file, its parameters, the peak memory
    of a run; bytes as a number or "25 MB". Options are those of `check`: batch and shape set dimensions that the file leaves unknown.
    """
    __tracebackhide__ = True
    import tempfile

    given = {"nodes": nodes, "flops": flops, "file_size": bytes, "parameters": parameters, "peak_memory": peak_memory}
    budgets = {name: most for name, most in given.items() if most is not None}
    if not budgets:
        but = f", but {', '.join(options)}" if options else ""
        raise ValueError(f"no budget was given: nodes, flops, bytes, parameters or peak_memory{but}")
    opened = _opened(model)
    with tempfile.TemporaryDirectory(prefix="tfgrapnel-") as folder:
        policy, path = os.path.join(folder, "policy.toml"), opened.path
        with open(policy, "w") as file:
            file.write(_policy(budgets))
        if bytes is not None and not os.path.exists(path):  # a model in memory has no file to measure
            path = os.path.join(folder, "graph.pb")
            opened.convert(output=path)
        looked = _checked(path if path != opened.path else opened, policy, budgets, options)
    said = [_over(found) for found in looked.findings]
    unknown = [f"  {one['check']}: {one['reason']}" for one in looked.checks if one["status"] != "looked"]
    unknown = [in_python(line, {"batch": "batch=", "shape": "shape="}) for line in unknown]
    if not said and not unknown:
        return
    node = next((found["node"] for found in looked.findings if found["node"]), None)
    picture = [_picture(lambda path: view(opened, around=node, output=path))] if node else []
    title = "is over its budget" if said else "has no known size to compare with a budget"
    raise AssertionError("\n".join([f"{opened.path} {title}", *said, *unknown, *picture]))
