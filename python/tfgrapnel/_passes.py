"""Passes and rules as functions of Python, by the protocol of those in C++ (docs/python.md)."""

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

_FIRST_PLACE = 100  # of a rule that says none: TensorFlow's rules take some 40


class Definition:
    """A pass or a rule, as _tfgrapnel reads it."""

    __slots__ = (
        "is_rule", "name", "help", "refuses", "file", "function",
        "order", "default_on", "run_once", "steps",
        "optimizer", "place", "ops", "pattern",
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


# By "pass" and "pass/rule", in the order in which they came. A change makes another dict, so that a call goes on with the
# passes that it began with.
_known: dict[str, Definition] = {}
_lock = allocate_lock()


def definitions() -> list[Definition]:
    return list(_known.values())


def _replace(added, removed=()):
    """Checks what there would be, passes first, and has it from now on."""
    global _known

    with _lock:
        there = {key: known for key, known in _known.items() if key not in removed}
        for key, definition in added.items():
            if definition.is_rule and definition.place is None:
                definition.place = _place_of(there, key, definition.optimizer)
            there[key] = definition
        there = dict(sorted(there.items(), key=lambda item: item[1].is_rule))
        try:
            _tfgrapnel.check_passes(list(there.values()))
        except _tfgrapnel.Error as error:
            raise error_of(str(error), [], {}) from None
        _known = there


def _place_of(there, key, optimizer):
    if key in there:
        return there[key].place
    return max((other.place + 1 for other in there.values() if other.is_rule and other.optimizer == optimizer), default=_FIRST_PLACE)


def _guarded(function):
    """Hands an exception back as (text, exception), for who calls from another language."""

    def call(*arguments):
        try:
            return function(*arguments)
        except BaseException as error:  # noqa: B902: it is raised again, where the command was called
            return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__, error

    return call


def _told(doc):
    """(help, refuses) of a docstring: its first sentence, and the paragraph that begins with "Refuses"."""
    paragraphs = [" ".join(part.split()) for part in (doc or "").split("\n\n")]
    refuses = next((text.partition(":")[2] for text in paragraphs if text.startswith("Refuses:")), "")
    return paragraphs[0].strip().rstrip("."), refuses.strip().rstrip(".")


def _definition(is_rule, of, function, name, help, refuses):
    if not callable(function):
        raise TypeError(f"a function or a class was expected, not {of!r}")
    told = _told(of.__doc__)
    name = demand_text("name", name or of.__name__)
    if not name or set(name) & set("/, "):
        raise ValueError(f"name: {name!r} has a character that stands between names of passes")
    code = getattr(function, "__code__", None) or getattr(getattr(function, "__func__", None), "__code__", None)
    file = code.co_filename if code else getattr(of, "__module__", "Python")
    return Definition(is_rule, name, help or told[0] or name, told[1] if refuses is None else refuses, file, _guarded(function))


def _of_class(decorated, method, fields):
    """The function of a class, an instance of which is made once, and the fields that it has as attributes."""
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
    place: int | None = None,
    ops: Iterable[str] | None = None,
    pattern: str | None = None,
    help: str | None = None,
    refuses: str | None = None,
) -> Any:
    """Makes a rule of a function, or of a class with these fields and a method `apply`:

        @tg.rule(pattern="Softmax -> Log")
        def log_of_softmax(rule, log): ...

    name: as in `passes=`, ledgers and refusals; default: the function's. One that is there already is replaced.
    optimizer: the pass that it belongs to, one of `tg.passes()`; default: a pass of the rule's own name.
    place: among the optimizer's rules; default: after the others.
    ops: of the nodes that it is shown; default: those of the pattern's last step, or all.
    pattern: a chain of ops as `find` takes it; the rule is shown the nodes that one ends at, and `rule.path` has the chain.
    help, refuses: for `tg.passes()`; default: the docstring's first sentence, and its paragraph that begins with "Refuses:".

    The function is called with a RuleContext and a Node. It answers with rule.not_mine() or None, rule.refuse(why), or makes
    its edits through rule.edit and answers rule.done(), rule.changed() or rule.replace_by(port).

    Raises Error where a pattern does not parse, an optimizer is not there, a name or a place is taken.
    """
    fields = {"name": name, "optimizer": optimizer, "place": place, "ops": ops, "pattern": pattern, "help": help, "refuses": refuses}

    def register(decorated: F, fields: dict[str, Any] = fields) -> F:
        function, said = _of_class(decorated, "apply", fields)
        made = _definition(True, decorated, function, said["name"], said["help"], said["refuses"])
        made.place = None if said["place"] is None else demand_integer("place", said["place"])
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

    if callable(name):  # @tg.rule alone
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
    """Makes a pass of a function, or of a class with these fields and a method `run`:

        @tg.pass_(steps={"shorten": "shortens names of devices"})
        def short_devices(edit): ...

    name: as in `passes=`, dumps and ledgers; default: the function's. One that is there already is replaced.
    steps: what it reports as rules, {name: help}; default: one step of the pass's own name.
    order: its place in the default pipeline, where default_on says that it is in it; TensorFlow's passes have 1 to 40.
    run_once: only in the first iteration.
    help, refuses: as of `rule`.

    The function is called with an Editor for the main graph and then for each function that is reached. It wraps each rewrite in
    edit.begin(step, node), which is False where limit= is used up, and edit.end(); it says edit.refuse(step, node, why) where a
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
    """Makes a pass that is a schedule of rules: those that name it as their optimizer, in their places, on each node in the order
    of the file. Fields are those of `pass_`."""
    import sys

    for what, text in (("name", name), ("help", help), ("refuses", refuses)):
        demand_text(what, text)
    demand_integer("order", order)
    file = sys._getframe(1).f_code.co_filename
    _replace({name: _pass(name, help, refuses, file, None, None, order, default_on, run_once)})


def unregister(name: str) -> None:
    """Forgets a pass, with its rules, or one rule ("pass/rule") that was made in Python. Calls that run go on with it."""
    removed = [key for key in _known if key == name or key.startswith(name + "/")]
    if not removed:
        there = ", ".join(_known) or "none"
        raise Error(f"no pass or rule of Python is called '{name}'; there are: {there}")
    _replace({}, removed)


def by_name_only(rule: str) -> str | None:
    """The pass of Python that "pass" or "pass/rule" names, where it runs only when it is asked for."""
    known = _known.get(rule.partition("/")[0])
    return known.name if known is not None and not known.default_on else None


def to_literal(value, dtype):
    """(dtype, dims, elements) of a constant: numbers that have no dtype are TensorFlow's float and int32."""
    if dtype is None and not hasattr(value, "dtype") and not hasattr(value, "__dlpack__") and not isinstance(value, (str, bytes)):
        import numpy as np

        dtype = {"f": "float", "i": "int32", "c": "complex64"}.get(np.asarray(value).dtype.kind)
    return to_value(value, dtype)
