"""Errors and messages of the library, with Python's names for options and commands."""

from __future__ import annotations

# At the top, this file and the others import only modules that Python has already loaded: importing others takes longer
# than this module does.
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])


class Error(Exception):
    """A file, a graph or an option is at fault; the text says what was expected.

    file: the path that the text begins with, or None.
    node: the node that the text names, or None.
    pass_, rule: the pass and the rule that failed, or None. The exception that a Python pass or rule raised is the error's __cause__.
    """

    def __init__(
        self, text: str, file: str | None = None, node: str | None = None, pass_: str | None = None, rule: str | None = None
    ):
        super().__init__(text)
        self.file: str | None = file
        self.node: str | None = node
        self.pass_: str | None = pass_
        self.rule: str | None = rule


class GrapnelWarning(UserWarning):
    """A problem that is not an error."""


# The public names of both classes, also in tracebacks.
Error.__module__ = GrapnelWarning.__module__ = "tfgrapnel"


def with_nearest(function: F) -> F:
    """Wraps a function so that its error for a misspelled keyword suggests a similar one."""

    def call(*arguments: Any, **keywords: Any) -> Any:
        try:
            return function(*arguments, **keywords)
        except TypeError as error:
            trace = error.__traceback__
            if trace is None or trace.tb_next is not None:  # the function itself raised it, not the call
                raise
            raise TypeError(_named_nearest(str(error), function)) from None

    named = {name: getattr(function, name) for name in ("__module__", "__name__", "__qualname__", "__doc__")}
    for name, value in (named | {"__wrapped__": function}).items():  # keeps its signature visible
        setattr(call, name, value)
    return call  # type: ignore[return-value]


def _named_nearest(text, function):
    import difflib

    unknown = text.partition("unexpected keyword argument ")[2].partition("'")[2].partition("'")[0]
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    near = difflib.get_close_matches(unknown, names, 1) if unknown and "did you mean" not in text.lower() else []
    return f"{text}; did you mean '{near[0]}'?" if near else text


def in_python(text, options):
    """Replaces the names of options and commands in a text of the library by those of keywords and functions."""
    if "-" not in text and "`" not in text:
        return text
    import re

    text = re.sub(r"`grapnel ([a-z]+)`", r"`tfgrapnel.\1()`", text)
    text = re.sub(r"(?<![\w-])-o (?=[A-Z])", "output=", text)
    return re.sub(r"(?<![\w-])--([a-z][a-z0-9-]*)", lambda match: options.get(match[1], match[1].replace("-", "_") + "="), text)


def _in_numpy(match):
    """For a message about an array of the wrong dtype: NumPy's names of the dtypes, and how to convert the array."""
    from ._values import numpy_dtype

    try:
        holds, expected = (numpy_dtype(name).name for name in match.groups())
    except (AttributeError, TypeError):  # a resource
        return match[0]
    if "object" in (holds, expected) or holds == expected or "complex" in holds:  # strings; a quantized dtype
        return match[0]
    return f"{match[0]} (NumPy's {holds} and {expected}): .astype('{expected}') converts"


def error_of(text, files, options):
    import re

    file = next((name for name in sorted(files, key=len, reverse=True) if text.startswith(name + ":")), None)
    if file is None and (match := re.match(r"(\S[^:\n]*[/.][^:\n]*): ", text)):
        file = match[1]
    # A message for an optional module that is not in the wheel (docs/guide/python.md).
    text = re.sub(r"/\S+/grapnel_(\w+)\.so is missing; '\./x build' builds it", r"the wheel has no \1 module", text)
    text = re.sub(r"\bfeed '.*?': holds (\w+), (\w+) was expected", _in_numpy, text)
    named = {kind: re.search(rf"\b{kind} '([^']+)'", text) for kind in ("node", "pass", "rule")}
    node, pass_, rule = (match and match[1] for match in named.values())
    return Error(in_python(text, options), file, node, pass_, rule)


def demand_text(name, value):
    """Returns a string that can be passed to the library. Raises TypeError or ValueError for other values."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: a string was expected, not {value!r}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name}: a string that can be encoded as UTF-8 was expected, not {value!r}") from None
    return value


def demand_integer(name, value, least=None, most=None):
    import operator

    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise TypeError(f"{name}: an integer was expected, not {value!r}")
    if least is not None and number < least or most is not None and number > most:
        raise ValueError(f"{name}: a number from {least}{'' if most is None else f' to {most}'} was expected, not {value!r}")
    return number


def stack_level():
    """The stack level of the first frame outside this package, for warnings."""
    level, frame = 1, sys._getframe(0).f_back
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "tfgrapnel":
        frame = frame.f_back
        level += 1
    return level


def log(text, severity="info"):
    """Writes a message to the logger "tfgrapnel"."""
    import logging

    logging.getLogger("tfgrapnel").log(logging.ERROR if severity == "error" else logging.INFO, text)


def teller(options):
    """A function that forwards messages: warnings through `warnings`, others through `logging`."""

    def tell(severity, text):
        text = in_python(text, options)
        if severity == "warning":
            import warnings

            warnings.warn(text, GrapnelWarning, stacklevel=stack_level())
        else:
            log(text, severity)

    return tell
