"""Passes and rules written in Python, with the same protocol as in C++ (docs/guide/python.md)."""

from __future__ import annotations

from _thread import allocate_lock

from . import _tfgrapnel
from ._errors import Error, demand_integer, demand_text, error_of, with_nearest
from ._values import to_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])


class Definition:
    """The definition of a pass or a rule, which _tfgrapnel reads."""

    __slots__ = (
        "is_rule", "name", "help", "refuses", "file", "function",
        "order", "default_on", "run_once", "steps",
        "optimizer", "phase", "after", "ops", "pattern",
    )  # fmt: skip

    def __init__(self, is_rule, name, help, refuses, file, function):
        self.is_rule = is_rule
        self.name = name
        self.help = help
        self.refuses = refuses
        self.file = file
        self.function = function
        self.order: int = 0
        self.default_on: bool = False
        self.run_once: bool = False
        self.steps: dict[str, str] = {}


# The definitions by "pass" and "pass/rule", in registration order. A change makes a new dict, so that a running call keeps the
# passes with which it began.
_known: dict[str, Definition] = {}
_lock = allocate_lock()


def definitions() -> list[Definition]:
    return list(_known.values())


def _replace(added, removed=()):
    """Checks the new set of passes and rules, passes first, and installs it."""
    global _known

    with _lock:
        there = {key: known for key, known in _known.items() if key not in removed}
        there = dict(sorted((there | added).items(), key=lambda item: item[1].is_rule))
        try:
            _tfgrapnel.check_passes(list(there.values()))
        except _tfgrapnel.Error as error:
            raise error_of(str(error), [], {}) from None
        _known = there


def _guarded(function):
    """Wraps a function: an exception is returned as (text, exception), for callers in C++."""

    def call(*arguments):
        try:
            return function(*arguments)
        except BaseException as error:  # noqa: B902: the command's caller raises it again
            text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            return text.encode(errors="backslashreplace").decode(), error

    return call


def _told(doc):
    """(help, refuses) of a docstring: its first paragraph, and the paragraph that begins with "Refuses:"."""
    paragraphs = [" ".join(part.split()) for part in (doc or "").split("\n\n")]
    refuses = next((text.partition(":")[2] for text in paragraphs if text.startswith("Refuses:")), "")
    return paragraphs[0].strip().rstrip("."), refuses.strip().rstrip(".")


def _definition(is_rule, of, function, name, help, refuses):
    if not callable(function):
        raise TypeError(f"a function or a class was expected, not {of!r}")
    told = _told(of.__doc__)
    name = demand_text("name", name or of.__name__)
    if not name or set(name) & set("/, "):
        raise ValueError(f"name: {name!r} has a character that separates names of passes")
    code = getattr(function, "__code__", None) or getattr(getattr(function, "__func__", None), "__code__", None)
    file = code.co_filename if code else getattr(of, "__module__", "Python")
    return Definition(is_rule, name, help or told[0] or name, told[1] if refuses is None else refuses, file, _guarded(function))


def _of_class(decorated, method, fields):
    """The bound method of an instance of a class, and the fields that the class has as attributes."""
    if not isinstance(decorated, type):
        return decorated, fields
    made = decorated()
    if not callable(getattr(made, method, None)):
        raise TypeError(f"{decorated.__name__} has no method {method}()")
    own = {field: getattr(made, field) for field in fields if fields[field] is None and hasattr(made, field)}
    return getattr(made, method), fields | own


@with_nearest
def rule(
    name: Any = None,
    *,
    optimizer: str | None = None,
    after: str | None = None,
    phase: int | None = None,
    ops: Iterable[str] | None = None,
    pattern: str | None = None,
    help: str | None = None,
    refuses: str | None = None,
) -> Any:
    """Makes a rule from a function, or from a class with these fields and a method `apply`:

        @tg.rule(pattern="Softmax -> Log")
        def log_of_softmax(rule, log): ...

    name: as in `passes=`, ledgers and refusals; default: the function's. An existing Python rule of that name is replaced.
    optimizer: the pass that it belongs to, one of `tg.passes()`; default: a pass of the rule's own name.
    after: the rule of the optimizer that it follows; "": it is the first one; default: it comes after the others.
    phase: for an optimizer that visits the graph several times, each time with rules of its own; default: the first, 0.
    ops: the ops of the nodes that it applies to; default: those of the pattern's last step, or all.
    pattern: a chain of ops as in `find`; the rule applies to the nodes at the end of a match, and `rule.path` is the match.
    help, refuses: for `tg.passes()`; default: the docstring's first paragraph, and its paragraph that begins with "Refuses:".

    The function is called with a RuleContext and a Node. It returns rule.not_mine() or None, rule.refuse(why), or makes its
    edits through rule.edit and returns rule.done(), rule.changed() or rule.replace_by(port).

    Raises Error if a pattern does not parse, an optimizer does not exist, a rule to follow does not exist, or a name is taken.
    """
    fields = {"name": name, "optimizer": optimizer, "after": after, "phase": phase, "ops": ops, "pattern": pattern, "help": help, "refuses": refuses}

    def register(decorated: F, fields: dict[str, Any] = fields) -> F:
        function, said = _of_class(decorated, "apply", fields)
        made = _definition(True, decorated, function, said["name"], said["help"], said["refuses"])
        made.after = None if said["after"] is None else demand_text("after", said["after"])
        made.phase = 0 if said["phase"] is None else demand_integer("phase", said["phase"])
        made.pattern = _parsed(said["pattern"])
        given = said["ops"]
        if given is None:
            given = [made.pattern.last_op] if made.pattern is not None and made.pattern.last_op else []
        if not hasattr(given, "__iter__"):
            raise TypeError(f"ops: names of ops were expected, not {given!r}")
        made.ops = [demand_text("ops", op) for op in ([given] if isinstance(given, str) else given)]
        made.optimizer = said["optimizer"] or made.name
        added = {f"{made.optimizer}/{made.name}": made}
        if not said["optimizer"]:
            added = {made.name: _pass(made.name, made.help, made.refuses, made.file)} | added
        _replace(added)
        return decorated

    if callable(name):  # @tg.rule without arguments
        return register(name, fields | {"name": None})
    return register


def _parsed(pattern):
    if pattern is None:
        return None
    try:
        return _tfgrapnel.Pattern(demand_text("pattern", pattern))
    except _tfgrapnel.Error as error:
        raise error_of(str(error), [], {}) from None


def _pass(name, help, refuses, file, function=None, steps=None, order=0, default_on=False, run_once=False):
    made = Definition(False, name, help, refuses, file, function)
    if steps is not None and not hasattr(steps, "items"):
        raise TypeError(f"steps: {{name: help}} was expected, not {steps!r}")
    made.steps = {demand_text("steps", step): demand_text("steps", text) for step, text in (steps or {}).items()}
    made.order = order
    made.default_on = default_on
    made.run_once = run_once
    return made


@with_nearest
def pass_(
    name: Any = None,
    *,
    steps: Mapping[str, str] | None = None,
    order: int | None = None,
    default_on: bool | None = None,
    run_once: bool | None = None,
    help: str | None = None,
    refuses: str | None = None,
) -> Any:
    """Makes a pass from a function, or from a class with these fields and a method `run`:

        @tg.pass_(steps={"shorten": "shortens names of devices"})
        def short_devices(edit): ...

    name: as in `passes=`, dumps and ledgers; default: the function's. An existing Python pass of that name is replaced.
    steps: the steps that it reports like rules, {name: help}; default: one step with the pass's name.
    order: its place in the default pipeline, if default_on is set; TensorFlow's passes have 1 to 40.
    run_once: only in the first iteration.
    help, refuses: as in `rule`.

    The function is called with an Editor for the main graph and then for each reachable function. It wraps each rewrite in
    edit.begin(step, node), which returns False if limit= is used up, and edit.end(); it calls edit.refuse(step, node, why) if a
    pattern matched and a condition failed.
    """
    fields = {
        "name": name, "steps": steps, "order": order, "default_on": default_on, "run_once": run_once,
        "help": help, "refuses": refuses,
    }  # fmt: skip

    def register(decorated: F, fields: dict[str, Any] = fields) -> F:
        function, said = _of_class(decorated, "run", fields)
        of = _definition(False, decorated, function, said["name"], said["help"], said["refuses"])
        made = _pass(
            of.name, of.help, of.refuses, of.file, of.function, said["steps"] or {of.name: of.help},
            demand_integer("order", said["order"] or 0), bool(said["default_on"]), bool(said["run_once"]),
        )  # fmt: skip
        _replace({made.name: made}, [key for key in _known if key.startswith(made.name + "/")])
        return decorated

    if callable(name):
        return register(name, fields | {"name": None})
    return register


def optimizer(name: str, *, help: str, refuses: str = "", order: int = 0, default_on: bool = False, run_once: bool = False) -> None:
    """Makes a pass that applies the rules that name it as their optimizer, in order, to each node in file
    order. The fields are those of `pass_`."""
    import sys

    for what, text in (("name", name), ("help", help), ("refuses", refuses)):
        demand_text(what, text)
    demand_integer("order", order)
    file = sys._getframe(1).f_code.co_filename
    _replace({name: _pass(name, help, refuses, file, None, None, order, default_on, run_once)})


def unregister(name: str) -> None:
    """Unregisters a Python pass with its rules, or one rule ("pass/rule"). Running calls still use it."""
    removed = [key for key in _known if key == name or key.startswith(name + "/")]
    if not removed:
        there = ", ".join(_known) or "none"
        raise Error(f"there is no Python pass or rule '{name}'; known: {there}")
    _replace({}, removed)


def by_name_only(rule: str) -> str | None:
    """The Python pass that "pass" or "pass/rule" names, if it runs only when selected by name."""
    known = _known.get(rule.partition("/")[0])
    return known.name if known is not None and not known.default_on else None


def to_literal(value, dtype):
    """(dtype, dims, elements) of a constant: numbers without a dtype become TensorFlow's float, int32 or complex64."""
    if dtype is None and not hasattr(value, "dtype") and not hasattr(value, "__dlpack__") and not isinstance(value, (str, bytes)):
        import numpy as np

        dtype = {"f": "float", "i": "int32", "c": "complex64"}.get(np.asarray(value).dtype.kind)
    return to_value(value, dtype)
