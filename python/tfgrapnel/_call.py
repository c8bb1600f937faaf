"""Calls a command with its options by name, from a table that is generated from the command line's description."""

from __future__ import annotations

import itertools
import os
import sys

from . import _tfgrapnel
from ._errors import demand_integer, demand_text, error_of, in_python, log, teller
from ._passes import definitions
from ._progress import Working
from ._shown import Shown
from ._values import is_typed, to_array, to_feed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from functools import cached_property as cached
    from typing import Any

    from numpy.typing import NDArray

    from ._graph import Graph

# tfgrapnel.load, which makes a Graph of a path or an object. _graph.py sets it: it imports this file.
load: Callable[..., Any]

_numbers = itertools.count(1)

# The format of the output of a command if no path is given: the output is then kept in memory. "": to= or format= gives the format.
_SUFFIXES = {"opt": ".pb", "cut": ".pb", "reduce": ".pb", "view": ".html", "convert": ""}

# The suffix in the name of the model that a command makes.
_MADE = {"opt": ", optimized", "cut": ", cut", "reduce": ", reduced"}

# Options of `run` that tap tensors. Without a file for them, their lines are kept in memory.
_TAPPING = ("tap", "tap_op", "tap_function", "tap_dtype", "taps_report")

# Commands that run a graph on the example arguments of `load`.
_FED = ("run", "blame", "doctor", "compare", "check-gradients", "bisect")

# Commands that write one document per line: `replay` one per case, `train` one per step.
_A_LINE_EACH = ("replay", "train")

# Options with which a command prints something other than a document.
_PRINTING = {
    "check": ("init",),
    "opt": ("print", "explain"),
    "query": ("csv", "schema"),
    "timeline": ("node", "changes"),
}


if not TYPE_CHECKING:

    class cached:
        """A property that is computed once, as in functools."""

        def __init__(self, compute):
            self.compute = compute
            self.__doc__ = compute.__doc__

        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            value = self.compute(instance)
            instance.__dict__[self.name] = value
            return value


class Spec:
    """An argument of a command."""

    __slots__ = ("option", "type", "by_position", "is_list", "default")

    def __init__(self, option: str, type: str, by_position: bool, is_list: bool, default: Any):
        self.option: str = option
        self.type: str = type
        self.by_position: bool = by_position
        self.is_list: bool = is_list
        self.default: Any = default


def temporary_name(what):
    return f"<{what} {next(_numbers)}>"


def current_folder() -> str | None:
    try:
        return os.getcwd()
    except FileNotFoundError:  # the folder no longer exists
        return None


def from_folder(folder: str | None, path: str) -> str:
    """A path that was relative to `folder`: unchanged, or absolute if the current folder has changed."""
    return path if folder in (None, current_folder()) else os.path.join(folder, path)


def _from(folder, word):
    """A word of a command line; if it names an existing file relative to `folder`, with the absolute path."""
    name, sign, value = word.rpartition("=")
    path = os.path.join(folder, value)
    return name + sign + path if value and os.path.lexists(path) else word


def _name_of_output(arguments):
    """The name of an output in memory. Its last part is the title of pages and pictures: the model's name and what the command did."""
    name = temporary_name(arguments.command)
    made = _MADE.get(arguments.command)
    if made is None or not arguments.positions:
        return name
    model = os.path.splitext(os.path.basename(os.path.normpath(arguments.positions[0])))[0]
    return f"{name}/{model.removesuffix(made)}{made}"


class _Arguments:
    """The command line of a call, and the objects that must live as long as the call."""

    def __init__(self, command: str, given: dict[str, Any]):
        self.command = command
        # These determine the dtypes of feeds.
        self.of_feeds: tuple[Any, Any, Any] = (given.get("graph"), given.get("signature"), given.get("function"))
        # The folder of the command line's relative paths. When the command runs again, the current folder may be another one.
        self.folder: str | None = current_folder()
        self.options: list[str] = []
        self.positions: list[str] = []
        self.title: str | None = None  # of the selected graph, if its file has several
        self.feeds: dict[str, tuple[Any, ...]] = {}
        self.files: list[str] = []  # paths that errors may begin with
        self.kept: list[object] = []  # graphs made for this call
        self.output: _tfgrapnel.MemoryFile | None = None  # a file in memory
        self.tap_file: _tfgrapnel.MemoryFile | None = None  # a file in memory, until the call ends

    def _text(self, value, name, is_model=False):
        if isinstance(value, (str, os.PathLike)):
            value = os.fspath(value)
            if value == "-":
                raise ValueError(f"{name}: '-' is the standard input or output of a command; give a path")
            if value == "" and is_model:
                raise ValueError(f"{name}: a path was expected, not ''")
            return demand_text(name, value)
        if not is_model or isinstance(value, (int, float)):
            raise TypeError(f"{name}: a string{', a path or a model' if is_model else ' or a path'} was expected, not {value!r:.100}")
        opened = load(value)
        self.kept.append(opened)
        if title := getattr(opened, "title", ""):
            self.title = self.title or title
        return opened.path

    def _type_of_feed(self, name):
        """The dtype of a feed in the graph, for a value without a dtype."""
        title, signature, function = self.of_feeds
        opened = next((one for one in self.kept if hasattr(one, "_type_of_feed")), None)
        if opened is None and self.positions:
            opened = load(self.positions[0], graph=title)
        return opened._type_of_feed(name, signature, function) if hasattr(opened, "_type_of_feed") else None

    def _feed(self, name, value):
        demand_text("feed", name)
        if isinstance(value, (str, os.PathLike)) and (os.path.exists(value) or os.fspath(value).endswith(".npy")):
            return f"{name}={os.fspath(value)}"
        at_hand = temporary_name("feed")
        self.feeds[at_hand] = to_feed(name, value, None if is_typed(value) else self._type_of_feed(name))
        return f"{name}={at_hand}"

    def add_examples(self, given: dict[str, Any]) -> None:
        """Feeds the example arguments of the model that the call does not feed."""
        model = next((one for one in self.kept if getattr(one, "default_feeds", None)), None)
        if model is None:
            return
        feeds = given.get("feed") or ()
        texts = [feeds] if isinstance(feeds, str) else list(feeds)
        names = [text.split("=")[0] for text in texts if isinstance(text, str)]
        besides: Any = model._feeds_besides  # type: ignore[attr-defined]
        for name, value in besides(names, given.get("signature")).items():
            self.options.append(f"--feed={self._feed(name, value)}")

    def _elements(self, name, value, is_model):
        if hasattr(value, "items"):
            if name == "feed":
                return [self._feed(key, given) for key, given in value.items()]
            pairs = [(demand_text(name, key), given) for key, given in value.items()]
            return [f"{key}={self._text(given, name)}" if given is not None else key for key, given in pairs]
        if not isinstance(value, (list, tuple)):
            is_one = is_model or isinstance(value, (str, bytes, os.PathLike)) or not hasattr(value, "__iter__")
            value = [value] if is_one else list(value)
        return [self._text(element, name, is_model) for element in value]

    def add(self, name: str, spec: Spec, value: Any) -> None:
        if spec.type == "flag":
            if type(value).__name__ not in ("bool", "bool_"):  # NumPy's
                raise TypeError(f"{name}: True or False was expected, not {value!r}")
            if value:
                self.options.append(f"--{spec.option}")
        elif spec.is_list:
            self._add_texts(spec, self._elements(name, value, spec.type == "model"))
        elif spec.type == "integer" or spec.type == "size" and not isinstance(value, str):
            self._add_texts(spec, [str(demand_integer(name, value))])
        elif spec.type == "number":
            if isinstance(value, (bool, str, bytes)) or not hasattr(value, "__float__"):
                raise TypeError(f"{name}: a number was expected, not {value!r}")
            self._add_texts(spec, [repr(float(value))])
        else:
            if spec.type == "text" and isinstance(value, (list, tuple)):  # such as devices=["cpu:1", "gpu:1"]
                value = ",".join(self._text(part, name) for part in value)
            self._add_texts(spec, [self._text(value, name, spec.type == "model")])

    def _add_texts(self, spec, texts):
        if spec.by_position:
            self.positions += texts
            self.files += texts
        elif spec.option == "why-not" and spec.is_list:  # one option whose values are a rule and a model
            self.options += [f"--{spec.option}", *texts]
        else:
            for text in texts:  # after "--option=" without a text, the next word would be the value
                self.options += [f"--{spec.option}={text}"] if text else [f"--{spec.option}", ""]

    def __getstate__(self) -> dict[str, Any]:
        output = None if self.output is None else (self.output.name, self.output.read())
        return self.__dict__ | {"output": output}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.output is not None:
            name, data = state["output"]
            self.output = _tfgrapnel.MemoryFile(_name_of_output(self) + os.path.splitext(name)[1])
            self.output.write(data)

    def line(self, as_document: bool, with_output: bool = True) -> list[str]:
        options, positions = self.options, self.positions
        if self.folder is not None and self.folder != current_folder():
            options, positions = ([_from(self.folder, word) for word in words] for words in (options, positions))
        words = [self.command, *(["--json"] if as_document else []), *options]
        if self.output is not None and with_output:
            words.append(f"--output={self.output.name}")
        if self.tap_file is not None:
            words.append(f"--tap-file={self.tap_file.name}")
        return [*words, "--", *positions]


class Result(Shown):
    """The result of a command. The fields of its document are attributes.

    ok: False if the answer is "no": graphs differ, a case fails, a graph cannot be placed.
    messages: what the command line prints to stderr, except warnings, which Python's `warnings` reports.
    output: the path of the file that the command wrote, or None.
    """

    def __init__(
        self,
        arguments: _Arguments,
        keywords: dict[str, str],
        output: str | os.PathLike[str] | None,
        as_document: bool,
        done: tuple[int, str, str, list[Any]],
    ):
        code, self._out, messages, self._values = done
        self.messages: str = messages
        self._arguments = arguments
        self._keywords = keywords
        self._as_document = as_document
        self.ok: bool = code == 0
        self._fetches: tuple[str, ...] = ()  # the requested fetches
        self._tap_lines: bytes = b""
        self.output: str | None = None if output is None else os.fspath(output)

    @property
    def json(self) -> str:
        """The document as the command line prints it with --json, or ''."""
        return self._out if self._as_document else ""

    @cached
    def _document(self) -> dict[str, Any]:
        import json

        if self._arguments.command in _A_LINE_EACH and self._as_document:
            return {"lines": [json.loads(line) for line in self.json.splitlines()]}
        document: dict[str, Any] = json.loads(self.json or "{}")
        return document

    def to_dict(self) -> dict[str, Any]:
        """The document of --json; for `replay` and `train`, which write one document per line, {"lines": [...]}."""
        return self._document

    @cached
    def text(self) -> str:
        """The text that the command line prints without --json. If the command has a document, the first access to the text runs
        the command again, which writes its files again; `train` is not run again and raises ValueError."""
        if not self._as_document:
            return self._out
        if self._arguments.command == "train":
            raise ValueError("text: training is not repeated; see .messages and the document")
        return _call(self._arguments, self._keywords, as_document=False, with_output=False)[1]

    @cached
    def _data(self) -> bytes | None:
        if self.output is None:
            return self._arguments.output.read() if self._arguments.output is not None else None
        with open(self._written(), "rb") as file:
            return file.read()

    def _written(self):
        assert self.output is not None
        return from_folder(self._arguments.folder, self.output)

    @property
    def data(self) -> bytes | None:
        """The bytes of the output, or None if the command has no output."""
        return self._data

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            if name in self._document:
                return self._document[name]
            fields = ", ".join(self._document) or "nothing"
            raise AttributeError(f"the document of {self._arguments.command} has no '{name}'; it has {fields}")
        raise AttributeError(name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(key for key in self._document if key.isidentifier())]

    def __str__(self) -> str:
        """The text, with options as keywords."""
        return in_python(self.text.rstrip("\n"), self._keywords)

    def __repr__(self) -> str:
        parts = [" ".join([self._arguments.command, *self._arguments.positions])]
        if not self.ok:
            parts.append("the answer is no")
        if self._document:
            parts.append("fields: " + ", ".join(self._document))
        if self.output is not None:
            parts.append(f"written to {self.output}")
        elif self._arguments.output is not None:
            parts.append("output in .data")
        return f"<{type(self).__name__} {'; '.join(parts)}>"


class GraphResult(Result):
    """The result of a command that makes a graph, with that graph."""

    @cached
    def graph(self) -> Graph:
        """The graph, opened."""
        graph: Graph = load(self._arguments.output or self._written())
        graph.default_fetches = self._fetches
        source = next(iter(self._arguments.kept), None)
        graph._take_feeds(getattr(source, "default_feeds", {}))
        return graph


class RunResult(Result):
    """The result of a run: `values` by the names of the fetches, as NumPy arrays."""

    @cached
    def values(self) -> dict[str, NDArray[Any]]:
        return {name: to_array(value) for name, value in self._values}

    @cached
    def taps(self) -> list[dict[str, Any]]:
        """The tensors that `tap=` and `tap_op=` observed, one dict per tensor, in order; empty if tap_file= or logdir= receives them."""
        import json

        return [json.loads(line) for line in self._tap_lines.splitlines()]

    def __getitem__(self, name: str) -> NDArray[Any]:
        """The value of a fetch by the fetch's name, with or without ":0"."""
        for known in (name, f"{name}:0", name.removesuffix(":0")):
            if known in self.values:
                return self.values[known]
        raise KeyError(f"'{name}' was not fetched; the fetches are: {', '.join(self.values) or 'none'}")


def _call(arguments, keywords, as_document, with_output=True):
    line = arguments.line(as_document, with_output)
    try:
        with Working(arguments.command) as show:
            return _tfgrapnel.call(line, arguments.feeds, teller(keywords), definitions(), show)
    except _tfgrapnel.Error as error:
        raise error_of(str(error), arguments.files, keywords) from error.__cause__


def _is_default(value, default):
    return value is None or value is default or (isinstance(value, (str, int, float, tuple)) and value == default)


def _onednn_of_tensorflow():
    """"on" or "off", as in the TensorFlow that this process has imported; None without TensorFlow."""
    port = sys.modules.get("tensorflow.python.util._pywrap_util_port")
    return None if port is None else "on" if port.IsMklEnabled() else "off"


def call(command, specs, keywords, given, result=Result):
    """Runs a command. `given`: the arguments of its function, by name; `keywords`: the options' Python names."""
    arguments = _Arguments(command, given)
    for name, spec in specs.items():
        if not _is_default(given[name], spec.default):
            arguments.add(name, spec, given[name])
    # A policy's own setting applies to `check`, whichever TensorFlow is imported here.
    if "onednn" in specs and given["onednn"] in (None, "auto") and (command != "check" or given.get("init")):
        if word := _onednn_of_tensorflow():
            arguments.add("onednn", specs["onednn"], word)
    if arguments.title and "graph" not in specs:
        raise ValueError(f"{command} cannot select a graph of a file with several; write '{arguments.title}' to a file of its own: cut, convert")
    if arguments.title and given["graph"] is None:
        arguments.options.append(f"--graph={arguments.title}")
    if command in _FED or given.get("check_values"):
        arguments.add_examples(given)
    output = given.get("output")
    if "output" in specs and output is None and command in _SUFFIXES:
        suffix = "" if given.get("format") or given.get("to") else _SUFFIXES[command]
        arguments.output = _tfgrapnel.MemoryFile(_name_of_output(arguments) + suffix)
    as_document = "json" in keywords and not any(given.get(name) for name in _PRINTING.get(command, ()))
    if command == "run" and any(given.get(name) for name in _TAPPING) and not (given.get("tap_file") or given.get("logdir")):
        arguments.tap_file = _tfgrapnel.MemoryFile(temporary_name("taps"))
    done = _call(arguments, keywords, as_document)
    for line in done[2].splitlines():
        log(in_python(line, keywords))
    made = result(arguments, keywords, output, as_document, done)
    fetches = given.get("fetch") or ()
    if arguments.tap_file is not None:
        made._tap_lines, arguments.tap_file = arguments.tap_file.read(), None
    made._fetches = (fetches,) if isinstance(fetches, str) else tuple(fetches)
    return made
