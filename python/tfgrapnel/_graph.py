"""Graphs: opens them from files and objects, reads them as tables, runs them on arrays."""

from __future__ import annotations

import os
from _thread import allocate_lock

from . import _call, _tfgrapnel
from ._commands import GraphCommands, blame, doctor, info, passes
from ._errors import demand_integer, demand_text, error_of, teller, with_nearest
from ._call import current_folder, from_folder, temporary_name
from ._passes import by_name_only
from ._shown import Shown
from ._state import case_of, has_state
from ._values import is_typed, to_array, to_feed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from ._call import Result

    Cell = int | float | str | None


def _opened(path, graph):
    try:
        kind, titles, opened = _tfgrapnel.open(path, graph or "")
    except _tfgrapnel.Error as error:
        raise error_of(str(error), [path], {}) from None
    if opened is not None:
        tell = teller({})
        if opened.note:
            tell("warning", opened.note)
        for problem in opened.problems[:_PROBLEMS]:
            tell("warning", problem)
        if len(opened.problems) > _PROBLEMS:
            tell("warning", f"{path}: and {len(opened.problems) - _PROBLEMS:,} more problems: .info() lists them")
    return kind, titles, opened


_PROBLEMS = 5  # number of problems reported when a file is opened


class Row(tuple["Any", ...]):
    """A row of a table: a tuple whose cells are also attributes, by column name."""

    _fields: tuple[str, ...] = ()  # as in a named tuple, for pandas.DataFrame(table)

    def __getattr__(self, name: str) -> Any:
        if name in self._fields:
            return self[self._fields.index(name)]
        raise AttributeError(f"there is no column '{name}'; the columns are: {', '.join(self._fields)}")

    def __reduce__(self) -> Any:
        return tuple, (tuple(self),)


class Table:
    """Rows with named columns. pandas, polars, DuckDB and pyarrow read it through Arrow's C stream interface, without a copy:
    `polars.DataFrame(table)`, `pyarrow.table(table)`, `pandas.DataFrame.from_arrow(table)`."""

    def __init__(self, table: _tfgrapnel.Table):
        self._table = table
        self._row = type("Row", (Row,), {"_fields": table.columns})

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._table.columns

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.stream()

    def __len__(self) -> int:
        return self._table.num_rows

    def __getitem__(self, key: str | int | slice) -> Any:
        """The cells of a column by its name, a row by its number, or the rows of a slice."""
        if isinstance(key, str):
            if key not in self.columns:
                raise KeyError(f"there is no column '{key}'; the columns are: {', '.join(self.columns)}")
            return self._table.column(key)
        if isinstance(key, slice):
            return [self._row(self._table.row(i)) for i in range(len(self))[key]]
        number = _number("row", key)
        if not -len(self) <= number < len(self):
            raise IndexError(f"there is no row {number}; the number of rows is {len(self):,}")
        return self._row(self._table.row(number % len(self)))

    def __iter__(self) -> Iterator[Row]:
        return (self._row(self._table.row(i)) for i in range(len(self)))

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.columns)

    def __repr__(self) -> str:
        shown = [self.columns, *self[:_ROWS]]
        cells = [["" if cell is None else _in_cell(str(cell)) for cell in row] for row in shown]
        widths = [max(map(len, column)) for column in zip(*cells)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells]
        if len(self) > _ROWS:
            lines.append(f"... and {len(self) - _ROWS:,} more rows")
        return "\n".join(lines if len(self) else [*lines, "(no rows)"])


_ROWS = 20  # number of rows printed, with at most _WIDTH characters per cell
_WIDTH = 80


def _number(what, key):
    import operator

    try:
        return operator.index(key)
    except TypeError:
        raise TypeError(f"a name or a number of a {what} was expected, not {key!r}") from None


def _in_cell(text):
    """The text of a cell. Escapes control characters, which names may contain. Shortens a long text in the middle, since names differ at the ends."""
    if len(text) > _WIDTH:
        text = f"{text[: _WIDTH // 2]}...{text[-_WIDTH // 2 + 3 :]}"
    return text if text.isprintable() else repr(text)[1:-1]


class Signature:
    """A signature of a model: `inputs` and `outputs` are {key: (tensor, dtype, shape)}, with shapes such as [?,224,224,3]."""

    def __init__(self, name: str, inputs: dict[str, tuple[str, str, str]], outputs: dict[str, tuple[str, str, str]]):
        self.name = name
        self.inputs = inputs
        self.outputs = outputs

    def __repr__(self) -> str:
        def side(tensors):
            return ", ".join(
                f"{key}: " + ("no tensor" if dtype == "invalid" else f"{dtype}{shape}") for key, (_, dtype, shape) in tensors.items()
            )

        return f"<Signature {self.name}({side(self.inputs)}) -> ({side(self.outputs)})>"


class _OfPath:
    """An object opened by a path; the path stays valid if the current folder changes."""

    def __init__(self, path: str):
        self._given = path
        self._folder = current_folder() if not os.path.isabs(path) and os.path.lexists(path) else None

    @property
    def path(self) -> str:
        """The path as it was given; absolute if it was relative and the current folder has changed."""
        return from_folder(self._folder, self._given)


class Graph(GraphCommands, _OfPath, Shown):
    """An open graph, made by `load`. The commands that take a model are its methods; each call reads the current file.

    path: the file, or the name of a file in memory.
    title: the graph's title, if its file has several; else "".
    kind: "GraphDef", "SavedModel", ...
    default_feeds: {tensor or key: array}: the example arguments of `load`. `run` and the commands that run the graph feed those that a
        call does not feed itself.

    The tables, `query`, `find` and `len` are about the network of the default signature of a SavedModel; those of `graph.whole` are about
    the whole file.
    """

    def __init__(self, path: str, title: str, kind: str, opened: _tfgrapnel.Opened, kept: Sequence[object] = ()):
        _OfPath.__init__(self, path)
        self.title = title
        self.kind = kind
        self.default_fetches: tuple[str, ...] = ()
        self.default_feeds: dict[str, Any] = {}
        self._opened = opened
        self._shown: _tfgrapnel.Opened | None = None  # what the tables show; None: not made yet
        self._kept = kept  # keeps `path` valid: a file in memory or a temporary folder
        self._runners: dict[tuple[Any, ...], _tfgrapnel.Runner] = {}
        self._lock = allocate_lock()

    @classmethod
    def in_memory(cls, file: _tfgrapnel.MemoryFile) -> Graph:
        kind, _, opened = _opened(file.name, None)
        return cls(file.name, "", kind, opened, kept=(file,))

    @property
    def whole(self) -> Graph:
        """The same graph; its tables also have the nodes that save, restore and initialize the model."""
        whole = Graph(self._given, self.title, self.kind, self._opened, self._kept)
        whole._shown, whole.default_fetches, whole.default_feeds = self._opened, self.default_fetches, self.default_feeds
        return whole

    def _take_feeds(self, feeds: Mapping[str, Any]) -> None:
        """Takes the example arguments whose names the graph has."""
        for name, value in feeds.items():
            try:
                self._opened.type_of_feed(name, "")
            except _tfgrapnel.Error:
                continue
            self.default_feeds[name] = value

    def _feeds_besides(self, names: Sequence[str], signature: str | None = None) -> dict[str, Any]:
        """The example arguments, except those of these names; of a chosen signature, its own."""
        given = {name.removesuffix(":0") for name in names}
        if signature:
            keys = self.signatures[signature].inputs if signature in self.signatures else ()
            return {name: value for name, value in self.default_feeds.items() if name in keys and name not in given}
        return {name: value for name, value in self.default_feeds.items() if name.removesuffix(":0") not in given}

    def _part(self):
        if self._shown is None:
            self._shown = self._do(self._opened.network)
        return self._shown

    @property
    def nodes(self) -> Table:
        """One row per node of the main graph and of functions: the table `nodes` of `query`."""
        return self.table("nodes")

    @property
    def edges(self) -> Table:
        """One row per input of a node: the edges of the graph."""
        return self.table("edges")

    @property
    def outputs(self) -> Table:
        """One row per output of a node: dtype, shape ([2,?,3]), rank, bytes."""
        return self.table("outputs")

    @property
    def layers(self) -> Table:
        """One row per layer of the model, in its order: name, class, parameters, flops, shape, and the nested model that has it."""
        return self.table("layers")

    def table(self, name: str) -> Table:
        """A table of `query` (docs/guide/query.md): nodes, edges, attributes, constants, statistics, outputs, costs,
        bodies, layers, scopes, functions, calls or lines."""
        names = ("nodes", "edges", "attributes", "constants", "statistics", "outputs", "costs", "bodies", "layers", "scopes", "functions",
                 "calls", "lines")
        if name not in names:
            raise ValueError(f"there is no table '{name}'; the tables are: {', '.join(names)}")
        return Table(self._do(self._part().table, name))

    def query(self, sql: str) -> Table:
        """The rows of an SQL statement (SQLite's) over the tables of `query`.

        >>> graph.query("SELECT op, count(*) FROM nodes GROUP BY op")
        """
        return Table(self._do(self._part().query, demand_text("sql", sql)))

    def find(self, chain: str, limit: int = 1000) -> Table:
        """Finds chains of ops, such as "MatMul -> * -> Softmax"; returns rows of function, path and ops. `*` is any op, `**` any number of nodes,
        OP[attribute=value] an op with that attribute value. limit: the most rows."""
        return Table(self._do(self._part().find, demand_text("chain", chain), demand_integer("limit", limit, 0, 2**32)))

    def why_not(self, rule: str | None = None, node: str | None = None, **options: Any) -> Result:
        """The nodes where a rule matched but a condition failed, or why one node is not rewritten: `why_not`."""
        return why_not(self, rule, node, **options)

    @property
    def signatures(self) -> dict[str, Signature]:
        """The signatures of a SavedModel or MetaGraph, by name."""
        return {name: Signature(name, inputs, outputs) for name, inputs, outputs in self._opened.signatures}

    @with_nearest
    def run(
        self,
        feeds: Mapping[str, Any] | None = None,
        fetch: str | Sequence[str] | None = None,
        *,
        signature: str | None = None,
        threads: int = 0,
    ) -> dict[str, NDArray[Any]]:
        """Runs the graph on arrays: {name: array}.

        feeds: {tensor or key of the signature: array}, besides the example arguments of `load`; dtypes must match the graph, and elements
        are not converted, except for numbers, strings and lists, which have no dtype. C-contiguous arrays are read without a copy.
        fetch: a tensor's name or several; default: as in the command `run`.
        threads: the maximum; 0: one per core.

        The first call with these names compiles, the next ones only run; variables keep their values between these runs. Raises Error
        if a name does not exist or a value does not match, TypeError or ValueError if a value cannot be a tensor.
        """
        if feeds is not None and not hasattr(feeds, "items"):
            raise TypeError(f"feeds: {{tensor: array}} was expected, not an object of type {type(feeds).__name__}")
        feeds = dict(feeds or {})
        feeds |= self._feeds_besides(tuple(name for name in feeds if isinstance(name, str)), signature)
        fetches = self._names(fetch)
        key = (tuple(feeds), fetches, signature or "", threads)
        with self._lock:
            runner = self._runners.get(key)
            if runner is None:
                self._runners[key] = runner = self._compiled(*key)
        values = [self._value(name, value, signature) for name, value in feeds.items()]
        try:
            done = runner.run(values, teller({}))
        except _tfgrapnel.Error as error:
            raise error_of(self._in_keys(str(error), signature), [self.path], {}) from None
        return {name: to_array(value) for name, value in done}

    def _names(self, fetch):
        try:
            names = (fetch,) if isinstance(fetch, (str, bytes)) else tuple(fetch if fetch is not None else ())
        except TypeError:
            raise TypeError(f"fetch: a tensor's name or several were expected, not {fetch!r}") from None
        return tuple([demand_text("fetch", name) for name in names]) or self.default_fetches

    def _compiled(self, feeds, fetches, signature, threads):
        for name in feeds:
            demand_text("feeds", name)
        demand_text("signature", signature)
        demand_integer("threads", threads, 0, 4096)
        if self.path != self._given and not self._runners:  # files next to the graph's file are read now
            _, _, self._opened = _opened(self.path, self.title or None)
        return _tfgrapnel.Runner(self._opened, list(feeds), list(fetches), signature, threads)

    def _value(self, name, given, signature):
        return to_feed(name, given, None if is_typed(given) else self._type_of_feed(name, signature))

    def _type_of_feed(self, name, signature, function=None):
        return self._do(self._opened.type_of_feed, name, signature or "", function or "")

    def _in_keys(self, text, signature):
        """Replaces the tensor names of inputs in a message by the signature's keys."""
        known = self.signatures
        chosen = known.get(signature) if signature else known.get("serving_default")
        for key, (tensor, _, _) in chosen.inputs.items() if chosen else ():
            for name in (tensor, tensor.removesuffix(":0")):
                text = text.replace(f"feed '{name}'", f"feed '{key}'").replace(f"'{name}' (Placeholder", f"'{key}' (Placeholder")
        return text

    def _do(self, method, *arguments):
        try:
            return method(*arguments)
        except _tfgrapnel.Error as error:
            raise error_of(str(error), [self.path], {}) from None

    def __reduce__(self) -> Any:
        """A pickled graph is opened from the file in the other process, with the variables as in the file."""
        in_memory = next((one for one in self._kept if isinstance(one, _tfgrapnel.MemoryFile)), None)
        if in_memory is not None:
            return _unpickled, (in_memory.read(), None, self.default_fetches, self.default_feeds)
        if self._kept:
            raise TypeError(f"a graph in a temporary folder cannot be pickled; save the model it was made from instead: {self!r}")
        return _unpickled, (os.path.abspath(self.path), self.title or None, self.default_fetches, self.default_feeds)

    def __len__(self) -> int:
        return self._part().num_nodes

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        functions = self._part().num_functions
        parts = [f"{self.kind} {self.path}", *([self.title] if self.title else []), f"{len(self):,} nodes"]
        if functions:
            parts.append(f"{functions:,} functions")
        return f"<Graph {', '.join(parts)}>"


def why_not(model: Any, rule: str | None = None, node: str | None = None, **options: Any) -> Result:
    """The nodes where a rule matched but a condition failed, the most costly first: `passes --why-not`. With `node`, what became of that node.

    rule: such as "fuse_bias" or "remapper/fuse_bias"; default: all rules. For a Python pass outside the default pipeline, only that pass runs.
    node: a node, a layer ("dense_1") or a pattern ("*/MatMul"): the result then has what became of each node, the rules that came closest
    to it, the condition that failed, and what would make it hold.
    Options are those of `passes`: fetch, device, without, all=True to list every node in the text, ...

    .near_misses: [{"pass", "rule", "node", "reason"}]; with `node`, .nodes: [{"node", "op", "became", "changes", "closest"}].
    Raises Error if there is no such rule or node.
    """
    if rule is not None and (own := by_name_only(demand_text("rule", rule))):
        options.setdefault("passes", own)
    if node is not None:
        options["node"] = demand_text("node", node)
    return passes(why_not=[model] if rule is None else [rule, model], **options)


class Graphs(_OfPath):
    """The graphs of a file or a folder with several, by number or by title; each is opened on access."""

    def __init__(self, path: str, titles: list[str]):
        super().__init__(path)
        self.titles = titles

    def __len__(self) -> int:
        return len(self.titles)

    def __getitem__(self, key: int | str) -> Graph:
        """A graph by its number or its title. Raises IndexError or Error if it does not exist."""
        title = key if isinstance(key, str) else self.titles[_number("graph", key)]
        if title in self.titles and os.path.isfile(file := os.path.join(self.path, title)):  # in a dump folder
            return load(file)
        kind, _, opened = _opened(self.path, title)
        return Graph(self.path, title, kind, opened)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.titles)

    def __repr__(self) -> str:
        return f"<Graphs {self.path}: {', '.join(self.titles[:5])}{', ...' if len(self) > 5 else ''}>"


class DebugFolder(_OfPath, Shown):
    """A folder that TensorFlow's debugger wrote (tf.debugging.experimental.enable_dump_debug_info)."""

    def info(self, **options: Any) -> Result:
        """A summary of the recording: `info`."""
        return info(self.path, **options)

    def blame(self, **options: Any) -> Result:
        """The op that made the first NaN or infinity: `blame`."""
        return blame(self.path, **options)

    def doctor(self, **options: Any) -> Result:
        """Finds what keeps the network from learning: `doctor`."""
        return doctor(self.path, **options)

    def __repr__(self) -> str:
        return f"<DebugFolder {self.path}>"


def _from_path(path, graph):
    if _tfgrapnel.is_debug_folder(path):
        return DebugFolder(path)
    kind, titles, opened = _opened(path, graph)
    if opened is None or kind == "dump folder" and graph is None:
        return Graphs(path, titles)
    return Graph(path, graph or "", kind, opened)


def _unpickled(model, title, fetches, feeds):
    opened = _from_bytes(model, "bytes") if isinstance(model, bytes) else load(model, graph=title)
    opened.default_fetches, opened.default_feeds = fetches, feeds
    return opened


def _from_bytes(data, what):
    file = _tfgrapnel.MemoryFile(temporary_name(what))
    file.write(bytes(data))
    return Graph.in_memory(file)


def _is_keras(model):
    return hasattr(model, "layers") and hasattr(model, "weights") and not hasattr(model, "get_concrete_function")


def _from_keras(model):
    import tempfile

    folder = tempfile.TemporaryDirectory(prefix="tfgrapnel-")
    if hasattr(model, "export"):
        model.export(folder.name, verbose=False)
    else:
        import tensorflow  # type: ignore[import-untyped]

        tensorflow.saved_model.save(model, folder.name)
    kind, _, opened = _opened(folder.name, None)
    return Graph(folder.name, "", kind, opened, kept=(folder,))


def _from_keras_with(model, x, y=None):
    """A Keras model with example inputs; with labels, the graph of its loss."""
    if y is not None:
        return _from_function(_loss_of(model), (_as_tensors(x), _as_tensors(y)), {})
    opened = _from_keras(model)
    known = opened.signatures.get("serving_default") or next(iter(opened.signatures.values()))
    if hasattr(x, "items"):
        given = dict(x)
    else:
        arrays = list(x) if isinstance(x, (list, tuple)) and len(known.inputs) > 1 else [x]
        given = dict(zip([name for name in getattr(model, "input_names", ()) if name in known.inputs] or known.inputs, arrays))
        if len(arrays) != len(known.inputs):
            raise ValueError(f"x: the model has the inputs {', '.join(known.inputs)}; {len(arrays)} arrays were given")
    for name, value in given.items():
        if name not in known.inputs:
            raise ValueError(f"x: the model has no input '{name}'; its inputs are {', '.join(known.inputs)}")
        opened.default_feeds[name] = _as_dtype(value, known.inputs[name][1])
    return opened


def _as_dtype(value, dtype):
    """An array of numbers with the dtype of an input, as Keras converts it."""
    import numpy

    array = numpy.asarray(value)
    name = {"float": "float32", "double": "float64", "half": "float16"}.get(dtype, dtype)
    return array.astype(name) if array.dtype.kind in "biuf" and name in numpy.sctypeDict else array


def _as_tensors(value):
    import tensorflow

    return tensorflow.nest.map_structure(tensorflow.convert_to_tensor, value)


def _loss_of(model):
    import inspect

    import tensorflow

    if not (getattr(model, "compiled", False) or getattr(model, "_is_compiled", False)):
        raise ValueError("y: the model has no loss: compile it, or leave y out")

    def loss(x, y):
        training = {"training": True} if "training" in inspect.signature(model.compute_loss).parameters else {}
        return model.compute_loss(x=x, y=y, y_pred=model(x, training=True), **training)

    return tensorflow.function(loss)


def _example_feeds(function, concrete, arguments, keywords):
    """{placeholder: array} of the tensors among the arguments of a trace; empty if they do not fit its inputs one by one."""
    import inspect

    import numpy
    import tensorflow

    try:  # in the order of the function's parameters
        bound = inspect.signature(getattr(function, "python_function", function)).bind(*arguments, **keywords)
        arguments, keywords = bound.args, bound.kwargs
    except (TypeError, ValueError):
        if keywords:
            return {}
    flat = tensorflow.nest.flatten([arguments, keywords], expand_composites=True)
    values = [value for value in flat if isinstance(value, (numpy.ndarray, numpy.generic, tensorflow.Tensor))]
    inputs = concrete.inputs[: len(concrete.inputs) - len(concrete.captured_inputs)]
    if len(values) != len(inputs) or any(tensor.dtype in (tensorflow.resource, tensorflow.variant) for tensor in inputs):
        return {}
    return {tensor.name: numpy.asarray(value) for tensor, value in zip(inputs, values)}


def _from_graph(graph, what):
    opened = _from_bytes(graph.as_graph_def().SerializeToString(), what)
    opened.default_fetches = tuple(tensor.name for tensor in getattr(graph, "outputs", ()))
    return opened


def _from_concrete(function):
    if not function.captured_inputs:
        return _from_graph(function.graph, _text_of(function.name))
    if has_state(function):
        folder = case_of(function)
        opened = load(folder.name)
        opened._kept = (folder,)
        opened.default_fetches = tuple(tensor.name for tensor in function.outputs)
        return opened
    # A GraphDef can hold the values of variables only as constants.
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2  # type: ignore

    function = convert_variables_to_constants_v2(function, lower_control_flow=False)
    return _from_graph(function.graph, _text_of(function.name))


def _text_of(name):
    return name.decode() if isinstance(name, bytes) else name


def _from_function(function, arguments, keywords):
    try:
        concrete = function.get_concrete_function(*arguments, **keywords)
    except TypeError as error:
        if arguments or keywords:
            raise
        raise TypeError(f"a tf.function needs example arguments, load(f, x): {error}") from None
    opened = _from_concrete(concrete)
    opened._take_feeds(_example_feeds(function, concrete, arguments, keywords))
    return opened


def _signatures_of(model):
    """The functions of a tf.Module, or of a loaded SavedModel, that have a known signature."""
    import tensorflow

    if signatures := getattr(model, "signatures", None):
        return dict(signatures)
    if not isinstance(model, tensorflow.Module):
        return {}
    members = {name: getattr(model, name, None) for name in dir(model) if not name.startswith("__") or name == "__call__"}
    return {
        name: function for name, function in members.items()
        if hasattr(function, "get_concrete_function") and getattr(function, "input_signature", None) is not None
    }  # fmt: skip


def _from_module(model, signatures):
    import tempfile

    import tensorflow

    folder = tempfile.TemporaryDirectory(prefix="tfgrapnel-")
    tensorflow.saved_model.save(model, folder.name, signatures=signatures)
    kind, _, opened = _opened(folder.name, None)
    return Graph(folder.name, "", kind, opened, kept=(folder,))


def _from_path_given(path, graph):
    path = os.fspath(path)
    if path == "-":
        raise ValueError("model: '-' is the standard input of a command; give a path or bytes")
    if not path:
        raise ValueError("model: a path was expected, not ''")
    return _from_path(demand_text("model", path), None if graph is None else demand_text("graph", graph))


def _from_object(model):
    if hasattr(model, "as_graph_def"):
        return _from_graph(model, type(model).__name__)
    if hasattr(model, "captured_inputs"):
        return _from_concrete(model)
    if hasattr(model, "SerializeToString"):
        return _from_bytes(model.SerializeToString(), type(model).__name__)
    if _is_keras(model):
        return _from_keras(model)
    if hasattr(model, "graph"):
        return load(model.graph)
    if hasattr(model, "_trackable_children") and (signatures := _signatures_of(model)):
        return _from_module(model, signatures)
    hint = "; wrap a Python function in tf.function" if hasattr(model, "__code__") or hasattr(model, "__func__") else ""
    raise TypeError(
        f"an object of type {type(model).__name__} is not a model: a path, bytes, a GraphDef, tf.Graph, ConcreteFunction, "
        f"tf.function, tf.Module with signatures or Keras model was expected{hint}"
    )


def load(model: Any, *arguments: Any, graph: str | None = None, **keywords: Any) -> Graph | Any:
    """Opens a graph.

    model: the path of anything that TensorFlow writes (GraphDef, SavedModel, MetaGraph, event file, dump folder, debug folder), of
    a case folder or of a grapnel text; the bytes of such a file; a GraphDef or another TensorFlow message; a tf.Graph; a
    ConcreteFunction; a tf.function, with example arguments and keywords; a tf.Module, or a loaded SavedModel; a Keras model, also with
    example inputs, load(model, x), or with labels too, load(model, x, y): then the graph is that of its loss. Later calls feed the
    examples (Graph.default_feeds).
    Variables of functions become constants, unless the function writes one or uses a table or an iterator: then it becomes a case folder with their
    current values. A Keras model or a tf.Module is saved to a temporary SavedModel.
    graph: the title of a graph in a file with several; for a dump folder also FUNCTION:STAGE, such as "train_step:after remapper".

    Returns a Graph; for a file with several graphs, Graphs; for a debug folder, a DebugFolder. Raises Error if the file does not
    exist or contains no graph, TypeError if the object is not a model.
    """
    if hasattr(model, "get_concrete_function"):
        return _from_function(model, arguments, keywords)
    if arguments and _is_keras(model) and not keywords and len(arguments) <= 2:
        return _from_keras_with(model, *arguments)
    if keywords:
        raise TypeError(f"load() got an unexpected keyword argument '{next(iter(keywords))}': it takes graph= and, for a tf.function, its arguments")
    if arguments:
        raise TypeError(
            f"example arguments are only for a tf.function, and x and y for a Keras model, not for an object of type {type(model).__name__}"
        )
    if isinstance(model, (Graph, Graphs, DebugFolder)):
        return model
    if isinstance(model, (str, os.PathLike)):
        return _from_path_given(model, graph)
    if isinstance(model, _tfgrapnel.MemoryFile):  # the output of a command
        return Graph.in_memory(model)
    if isinstance(model, (bytes, bytearray, memoryview)):
        return _from_bytes(model, "bytes")
    return _from_object(model)


_call.load = load
