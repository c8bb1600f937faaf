"""Observes TensorFlow: the graphs that it dumps, and where it places them."""

from __future__ import annotations

import os
import sys

from ._commands import place, timeline
from ._errors import Error
from ._graph import Graph, Graphs, load
from ._shown import Shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ._call import GraphResult, Result

_FILTERS = {"TF_DUMP_GRAPH_NAME_FILTER": "*", "TF_DUMP_GRAPH_GROUPS": "main"}


class _Environment:
    """Environment variables that are restored afterwards."""

    def __init__(self):
        self.before = {}

    def set(self, **variables):
        for name, value in variables.items():
            self.before.setdefault(name, os.environ.get(name))
            os.environ[name] = value

    def restore(self):
        for name, value in self.before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _context():
    from tensorflow.python.eager import context  # type: ignore[import-untyped]

    return context.context()


def _has_begun():
    """True if TensorFlow has initialized its devices, so that it may have run an op in this process."""
    return "tensorflow" in sys.modules and getattr(_context(), "_context_handle", True) is not None


def _functions():
    """The functions that TensorFlow knows, except those for single ops."""
    return {name for name in _context().list_function_names() if not name.startswith("__wrapped__")} if _has_begun() else set()


def _probe():
    """Runs a new function, which TensorFlow has not run yet."""
    import tensorflow as tf  # type: ignore[import-untyped]

    tf.function(lambda x: x + 1)(tf.constant(1.0))


class Timeline(Shown):
    """The graphs that TensorFlow dumped to a folder. The fields of the document of `timeline` are attributes: stages, ...

    path: the folder.
    """

    def __init__(self, path: str):
        self.path = path
        self._log: str | None = None  # the path of a log that shows the order of the files
        self._result: Result | None = None

    def _end(self, has_failed):
        if not any(name.endswith((".pbtxt", ".pb")) for name in os.listdir(self.path)):
            if has_failed:
                return
            raise Error(
                f"{self.path}: nothing was dumped: no function ran for the first time, or TensorFlow had already read its filters; "
                + _how_to_set(self.path),
                self.path,
            )
        self._result = timeline(self.path, log=self._log)

    @property
    def graphs(self) -> Graphs:
        """The dumped graphs in the order of the stages, by number or by the file's name."""
        return Graphs(self.path, [stage["file"] for stage in self.stages if stage["file"]])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if self._result is None:
            raise AttributeError(f"'{name}' is available after the block has ended")
        return getattr(self._result, name)

    def __str__(self) -> str:
        return repr(self) if self._result is None else str(self._result)

    def __repr__(self) -> str:
        what = "not ended" if self._result is None else f"{len(self._result.stages)} stages"
        return f"<Timeline {self.path}, {what}>"


def _how_to_set(path):
    variables = " ".join(f"{name}='{value}'" for name, value in _FILTERS.items())
    return f"start the program with {variables}, or call dumps.run(script, '{path}'), which does so"


class dumps:
    """Makes TensorFlow dump the graphs of the functions that first run in a `with` block, and returns their timeline.

        with tg.dumps("dumps") as timeline:
            f(x)
        print(timeline)

    dir: the folder, which is created.
    groups: "main", or "*" for each of TensorFlow's passes (TF_DUMP_GRAPH_GROUPS).

    TensorFlow reads its dump settings when it runs the first op or function of the process, and never again: entering the block later
    raises Error, unless the process was started with TF_DUMP_GRAPH_NAME_FILTER. After the block TensorFlow warns for each function that
    it cannot dump. `dumps.run(script, dir)` does it in a separate process.
    """

    def __init__(self, dir: str | os.PathLike[str], *, groups: str = "main"):
        self._path = os.path.abspath(dir)
        self._groups = groups
        self._environment = _Environment()

    def __enter__(self) -> Timeline:
        os.makedirs(self._path, exist_ok=True)
        self._environment.set(**(_FILTERS | {"TF_DUMP_GRAPH_GROUPS": self._groups}))
        if _has_begun() and not self._is_dumped():
            self._environment.restore()
            raise Error(f"dumps: TensorFlow has already run an op, and reads its dump filters only once; {_how_to_set(self._path)}")
        self._environment.set(TF_DUMP_GRAPH_PREFIX=self._path)
        self._timeline = Timeline(self._path)
        return self._timeline

    def _is_dumped(self):
        import tempfile

        with tempfile.TemporaryDirectory(prefix="tfgrapnel-") as folder:
            self._environment.set(TF_DUMP_GRAPH_PREFIX=folder)
            _probe()
            return bool(os.listdir(folder))

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._environment.restore()
        self._timeline._end(has_failed=kind is not None)

    @staticmethod
    def run(
        script: str | os.PathLike[str],
        dir: str | os.PathLike[str],
        args: Sequence[str] = (),
        *,
        groups: str = "main",
        env: Mapping[str, str] | None = None,
    ) -> Timeline:
        """Runs a Python script in a separate process, which dumps all its graphs to `dir`.

        args: arguments of the script. env: environment variables: {"TF_CPP_VMODULE": "meta_optimizer=4"} also dumps around
        Grappler's passes. Its stderr is forwarded, and saved as log.txt in the folder, because it shows the order of some dumps.
        Raises Error if the script fails, or dumps nothing.
        """
        import subprocess

        path = os.path.abspath(dir)
        os.makedirs(path, exist_ok=True)
        variables = os.environ | _FILTERS | {"TF_DUMP_GRAPH_GROUPS": groups, "TF_DUMP_GRAPH_PREFIX": path} | dict(env or {})
        made = Timeline(path)
        made._log = os.path.join(path, "log.txt")
        command = [sys.executable, os.fspath(script), *map(str, args)]
        last = ""
        with open(made._log, "w") as log, subprocess.Popen(command, env=variables, stderr=subprocess.PIPE, text=True, errors="replace") as process:
            assert process.stderr
            for line in process.stderr:
                log.write(line)
                sys.stderr.write(line)
                last = line.strip() or last
        if process.returncode:
            raise Error(f"{os.fspath(script)} ended with {process.returncode}" + (f": {last}" if last else ""), os.fspath(script))
        made._end(has_failed=False)
        return made


def _duplicate(descriptor):
    import fcntl

    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    except OSError:  # the stream is closed
        return None


class _Descriptors:
    """Redirects file descriptors 1 and 2 to a file. Python's own sys.stdout and sys.stderr are not redirected."""

    def __init__(self, path):
        self.path = path
        self.streams = {}

    @staticmethod
    def _flush():
        import contextlib
        import ctypes

        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(AttributeError, OSError, ValueError):  # the stream is missing or closed
                stream.flush()
        ctypes.CDLL(None).fflush(None)  # TensorFlow prints through C's stdio

    def begin(self):
        self._flush()
        self.saved: dict[int, int | None] = {number: _duplicate(number) for number in (1, 2)}
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            try:
                number = stream.fileno()
            except (AttributeError, OSError, ValueError):  # in a notebook, where the streams have no descriptors
                continue
            saved = self.saved.get(number)
            if saved is not None:
                self.streams[name] = stream
                setattr(sys, name, open(saved, "w", buffering=1, closefd=False, errors="replace"))
        file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for number in self.saved:
            os.dup2(file, number)
        if file not in self.saved:  # the first free number may be that of a descriptor that was closed before
            os.close(file)

    def end(self):
        self._flush()
        for number, saved in self.saved.items():
            if saved is None:
                os.close(number)
            else:
                os.dup2(saved, number)
        for name, stream in self.streams.items():
            setattr(sys, name, stream)
        for saved in self.saved.values():
            if saved is not None:
                os.close(saved)


class PlacementLog(Shown):
    """The devices on which TensorFlow placed the nodes of a run.

    text: the log.
    graphs: {function: graph}: the functions in the log, expanded as TensorFlow does, each node on its device; functions that
        others call are inside them.
    """

    def __init__(self):
        import tempfile

        self._folder = tempfile.TemporaryDirectory(prefix="tfgrapnel-")
        self._path = os.path.join(self._folder.name, "log.txt")
        self.text: str = ""
        self.graphs: dict[str, Graph] = {}
        self._devices = ""
        self._known: set[str] = set()  # functions that existed before the block

    @property
    def graph(self) -> Graph:
        """The placed graph; if there are several, the largest."""
        if not self.graphs:
            raise ValueError("no function ran for the first time in the block, or that function no longer exists, or the block has not ended")
        return max(self.graphs.values(), key=len)

    def place(self, model: Any, **options: Any) -> Result:
        """Runs `place` with this log on a model that ran in the block: .logged has TensorFlow's devices, .placements grapnel's."""
        return place(model, log=self._path, **({"devices": self._devices} | options))

    def __repr__(self) -> str:
        return f"<PlacementLog {len(self.text.splitlines())} lines, {', '.join(self.graphs) or 'no function'}>"

    def _read(self):
        import tensorflow as tf

        with open(self._path, errors="replace") as file:
            self.text = file.read()
        self._devices = ",".join(device.name for device in tf.config.list_logical_devices())
        library = tf.compat.v1.GraphDef()
        names = sorted(_functions(), key=lambda name: (len(name), name))
        if not names:
            return
        library.library.function.extend(_context().get_function_def(name) for name in names)
        model = load(library)
        called = set(model.query("SELECT DISTINCT function FROM calls")["function"])
        outer = [name for name in names if name not in called]
        # A function from before the block may also run here for the first time. But names of a retraced function's older traces are in
        # the log too.
        self._place(model, [name for name in outer if name not in self._known])
        if not self.graphs:
            self._place(model, [name for name in outer if name in self._known])

    def _place(self, model, functions):
        for name in functions:
            output = os.path.join(self._folder.name, f"{len(self.graphs)}.pb")
            if not self.place(model, function=name, output=output).logged:
                continue
            opened = load(output)
            opened._kept = (*opened._kept, self._folder)
            self.graphs[name] = opened


class placement_log:
    """Makes TensorFlow log where it places the nodes of functions that first run in a `with` block, and returns the placed graphs.

        with tg.placement_log() as log:
            f(x)
        print(log.graph.query("SELECT device, count(*) FROM nodes WHERE function IS NULL GROUP BY device"))

    It sets tf.debugging.set_log_device_placement, and reads file descriptors 1 and 2, to which TensorFlow's C++ writes; Python's own
    output is not affected. TensorFlow (2.21) reads the switch at its start: entering the block after the first op raises Error, unless
    the program set the switch before; and TensorFlow continues to log afterwards.
    """

    def __enter__(self) -> PlacementLog:
        import tensorflow as tf

        self._before = tf.debugging.get_log_device_placement()
        has_begun, known = _has_begun(), _functions()
        tf.debugging.set_log_device_placement(True)
        self._log = PlacementLog()
        self._log._known = known
        self._descriptors = _Descriptors(self._log._path)
        self._descriptors.begin()
        if has_begun and not self._is_logged():
            self._leave()
            raise Error(
                "placement_log: TensorFlow has already started, and reads its switch only once; call tf.debugging.set_log_device_placement(True) at the "
                "beginning of the program, or enter this before the first op"
            )
        return self._log

    def _is_logged(self):
        _probe()
        self._descriptors._flush()
        was_logged = os.path.getsize(self._log._path) > 0
        os.truncate(self._log._path, 0)
        return was_logged

    def _leave(self):
        import tensorflow as tf

        self._descriptors.end()
        tf.debugging.set_log_device_placement(self._before)

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._leave()
        if kind is None:
            self._log._read()
            return
        with open(self._log._path, errors="replace") as file:  # the log may contain the reason
            sys.stderr.write(file.read())
