"""Inspects many models: one row per model, computed on Ray, Spark, Dask or this machine, stored as Parquet, queried with SQL.

    from tfgrapnel import fleet
    fleet.run(paths, "rows", workers=2)
    fleet.query("rows", "SELECT path, sum(nodes) FROM ops WHERE dtype = 'double' GROUP BY path")
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os

from . import _fleet_process
from ._commands import check
from ._errors import Error
from ._fleet_files import Folder, demand_places, here, is_remote, need, parts_of, read_text
from ._fleet_schema import DEBUG_FOLDER, FORMAT, TABLES, USUAL, WORKS, demand_format, schema
from ._progress import Working
from ._tfgrapnel import MemoryFile, version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    import pyarrow as pa  # type: ignore[import-untyped]

    Path = str | os.PathLike[str]
    Bases = Path | Mapping[str, Path] | None

__all__ = ["FORMAT", "USUAL", "WORKS", "Update", "inspect", "on_dask", "on_ray", "on_spark", "query", "run", "schema"]

# The fields of the outcome of a partition; all are counts.
_DONE = ("models", "inspected", "failed", "written")
# Models per partition of a new folder, on average at most. If a worker dies, the work of one partition may be repeated.
_MODELS_OF_PART = 64


def inspect(
    batch: Any,
    *,
    works: Sequence[str] = USUAL,
    base: Path | None = None,
    policy: Path | None = None,
    devices: str = "cpu:1,gpu:1",
    timeout: float = 300,
    memory: str | int = "4G",
) -> Any:
    """Rows of `schema()` for a pyarrow.RecordBatch (or Table) of paths, in their order, as a RecordBatch (or Table).

    batch: column `path`, a file or folder that `load` takes, or an fsspec URL; optional column `base`, the model to compare with.
    works: the works to do, a subset of WORKS; default: all but `place`. base: the base of all models, if there is no column `base`.
    policy: a file as in `check`. devices: those of the work `place`.
    timeout: seconds, memory: bytes, "4G": for each model.

    A model that cannot be read, crashes, or exceeds these limits becomes a row with its error, and so does a remote model whose
    library is not installed. Raises TypeError or ValueError for an invalid argument, Error for an invalid policy, ImportError without
    pyarrow.
    """
    return _Inspection(works, policy, devices, timeout, memory).rows_of(batch, base)


_CHANGED = "changed while it was inspected"


class _Inspection:
    """The work to do for each model; pickled and sent to workers."""

    def __init__(self, works, policy, devices, timeout, memory):
        works = [works] if isinstance(works, str) else list(works)
        if unknown := [work for work in works if work not in WORKS]:
            raise ValueError(f"works: there is no '{unknown[0]}'; the works are: {', '.join(WORKS)}")
        if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout > 0:
            raise ValueError(f"timeout: seconds were expected, not {timeout!r}")
        _fleet_process.bytes_of(memory)
        if not isinstance(devices, str) or not devices:
            raise ValueError(f"devices: the devices of `place`, such as 'cpu:1,gpu:2', were expected, not {devices!r}")
        self.works = [work for work in WORKS if work in works]
        self.devices = devices
        self.policy = None if policy is None else _policy_of(os.fspath(policy))
        self.limits = {"timeout": timeout, "memory": str(memory)}
        self.stop = _fleet_process.Stop()

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name != "stop"}

    def __setstate__(self, state):
        self.__dict__ = state | {"stop": _fleet_process.Stop()}

    def rows_of(self, batch, base=None):
        pa = need("pyarrow")
        if not isinstance(batch, (pa.RecordBatch, pa.Table)):
            raise TypeError(f"batch: a pyarrow.RecordBatch or Table with a column 'path' was expected, not {type(batch).__name__}")
        if "path" not in batch.schema.names:
            raise ValueError(f"batch: a column 'path' was expected; its columns are: {', '.join(batch.schema.names) or 'none'}")
        paths = batch.column("path").to_pylist()
        for i, path in enumerate(paths):
            if not isinstance(path, str):
                raise ValueError(f"batch: column 'path': strings were expected, not {path!r} in row {i}")
        base = None if base is None else os.fspath(base)
        bases = batch.column("base").to_pylist() if "base" in batch.schema.names else [base] * len(paths)
        rows = [self.row(*pair) for pair in zip(paths, bases)]
        return _like(batch, pa.RecordBatch.from_pylist(rows, schema()))

    def row(self, path, base, known=None):
        """A row, or None if its key is already known."""
        row = {"path": path, "version": version, "format": FORMAT}
        with contextlib.ExitStack() as copies:
            try:
                model = copies.enter_context(here(path))
            except Exception as error:
                said = f"cannot be read: {_reason(error, path)}"
                key = self._key(said)
                return None if key == known else row | {"key": key, "error": said}
            other, lacking = self._base_here(base, copies)
            contents = (model.content, lacking if other is None else other.content)
            key, key_of_failed = self._key(*contents), self._key(*contents, self.limits)
            if known in (key, key_of_failed):
                return None
            task = {"path": model.path, "base": other and other.path, "works": self.works, "policy": self.policy, "devices": self.devices}
            if lacking:
                task["works"] = [work for work in self.works if work not in self._with_base()]
            shown = {model.path: path} | ({other.path: base} if other else {})
            shown = {there: said for there, said in shown.items() if there != said}
            found = _fleet_process.look(task | self.limits, shown, self.stop)
            if lacking and not found.get("error") and found["kind"] != DEBUG_FOLDER:
                found["failures"] = found.get("failures", []) + [{"work": work, "error": lacking} for work in self._with_base()]
            if not (model.is_as_it_was() and (other is None or other.is_as_it_was())):
                found["error"] = _CHANGED
                key_of_failed = self._key(_CHANGED)  # the next run inspects it again
        if found.get("error") or found.get("failures"):
            key = key_of_failed  # this key depends on the limits: with other limits the model may succeed
        return row | {"content": model.content, "key": key, "bytes": model.bytes} | found

    def _with_base(self):
        """The works that compare with a base."""
        return [work for work in self.works if work == "fusions" or work == "policy" and self.policy is not None]

    def _base_here(self, base, copies):
        """The Copy of the base, if works need it, and the reason if it is missing: works that need no base are still done."""
        if not base or not self._with_base():
            return None, None
        try:
            return copies.enter_context(here(base)), None
        except Exception as error:
            return None, f"base: cannot be read: {_reason(error, base)}"

    def _key(self, *contents):
        devices = self.devices if "place" in self.works else None
        told = [contents, self.works, self.policy, devices, version, FORMAT]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def _policy_of(path):
    """The policy's text. Its problems are reported now, not for each model."""
    text, model, policy = read_text(path), MemoryFile("model.gtxt"), MemoryFile(os.path.basename(path))
    model.write(b"%x = NoOp()\n")
    policy.write(text.encode())
    check(model.name, policy=policy.name)
    return text


def _reason(error, path):
    """Why the model at `path` cannot be read; for a folder, with the name of the unreadable file."""
    if isinstance(error, ImportError):
        return str(error)
    text = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
    file, folder = getattr(error, "filename", None), os.path.abspath(str(path).removeprefix("file://")) + os.sep
    return f"{file.removeprefix(folder)}: {text}" if isinstance(file, str) and file.startswith(folder) else text


def _like(batch, made):
    pa = need("pyarrow")
    return made if isinstance(batch, pa.RecordBatch) else pa.Table.from_batches([made])


class Update:
    """The outcome of a run. models: rows in the folder now; inspected: new or changed models; failed: inspected models with an error;
    written: files written."""

    def __init__(self, models: int, inspected: int, failed: int, written: int):
        self.models = models
        self.inspected = inspected
        self.failed = failed
        self.written = written

    def __repr__(self) -> str:
        return f"<Update {self.models:,} models, {self.inspected:,} inspected, {self.failed:,} failed, {self.written:,} files written>"


class _Job:
    """The update of a folder. Each task updates one partition, and skips models that are already done."""

    def __init__(self, paths: Iterable[Path], folder: Path, base: Bases = None, **options):
        self.folder = _absolute(folder)
        if not is_remote(self.folder) and os.path.exists(self.folder) and not os.path.isdir(self.folder):
            raise NotADirectoryError(f"folder: {self.folder} is a file; a folder for Parquet files was expected")
        options = {"works": USUAL, "policy": None, "devices": "cpu:1,gpu:1", "timeout": 300, "memory": "4G"} | options
        self.inspection = _Inspection(**options)
        self._paths = _all_absolute(paths)
        self._bases = _bases_of(base, self._paths)
        demand_places([*self._paths, *self._bases.values()])
        self.tasks: Any = None

    @contextlib.contextmanager
    def begun(self):
        """Prepares the tasks and locks the folder."""
        store = Folder(self.folder)
        with store.alone():
            demand_format(store)
            self.tasks = self._tasks(store.parts())
            yield

    def _tasks(self, there):
        """The name, paths and bases of each partition."""
        digits = len(there[0]) if there else 1
        while not there and len(self._paths) > _MODELS_OF_PART * 16**digits:
            digits += 1
        parts: dict[str, list[str]] = {part: [] for part in there}
        for path in sorted(set(self._paths)):
            parts.setdefault(hashlib.sha256(path.encode()).hexdigest()[:digits], []).append(path)
        return [
            {"part": part, "paths": group, "bases": [self._bases.get(path) for path in group]} for part, group in sorted(parts.items())
        ]

    def num_batches(self):
        """The number of batches of tasks, for an engine whose own tasks cost about 50 ms. A retried batch skips the models that are done."""
        return len(self.tasks) // 4 if len(self.tasks) > 64 else max(len(self.tasks), 1)

    def __getstate__(self):  # the tasks are sent to the workers one by one
        return self.__dict__ | {"tasks": None, "_paths": None, "_bases": None}

    def __call__(self, batch):
        """Does the tasks of a batch, given as rows; returns the outcomes as rows."""
        done = self.do_all(batch.to_pylist())
        pa = need("pyarrow")
        return _like(batch, pa.RecordBatch.from_pylist(done, pa.schema([(name, pa.int64()) for name in _DONE])))

    def do_all(self, tasks):
        return [self.do(task) for task in tasks]

    def do(self, task):
        part, paths, bases = task["part"], task["paths"], task["bases"]
        store = Folder(self.folder)
        table = store.read(part)
        known = {} if table is None else dict(zip(*(table.column(name).to_pylist() for name in ("path", "key"))))
        rows = []
        try:
            for path, base in zip(paths, bases):
                self.inspection.stop.demand_work()
                if row := self.inspection.row(path, base, known.get(path)):
                    rows.append(row)
        except _fleet_process.Stopped:
            if rows:
                store.write(part, self._merged(rows, table, set(known)))  # the other rows stay unchanged
            raise
        kept = set(paths) - {row["path"] for row in rows}
        failed = sum(1 for row in rows if row.get("error"))
        is_changed = bool(rows) or kept != set(known)
        if is_changed and not paths:
            store.remove(part)
        elif is_changed:
            store.write(part, self._merged(rows, table, kept))
        return {"models": len(paths), "inspected": len(rows), "failed": failed, "written": int(is_changed)}

    def _merged(self, rows, table, kept):
        pa = need("pyarrow")
        merged = pa.Table.from_pylist(rows, schema())
        if table is not None:
            kept = kept - {row["path"] for row in rows}
            is_kept = need("pyarrow.compute").is_in(table.column("path"), pa.array(sorted(kept), pa.string()))
            merged = pa.concat_tables([table.filter(is_kept).cast(schema()), merged])
        return merged.sort_by("path")

    def update(self, done):
        """The Update that sums up all outcomes."""
        Folder(self.folder).sweep()
        done = list(done)
        return Update(*(sum(row[name] for row in done) for name in _DONE))


def _absolute(path):
    path = os.fspath(path)
    if not path:
        raise ValueError("a path was expected, not ''")
    return path if is_remote(path) else os.path.abspath(path.removeprefix("file://"))


def _bases_of(base, paths):
    """{path: base}"""
    if base is None:
        return {}
    if isinstance(base, (str, os.PathLike)):
        return dict.fromkeys(paths, _absolute(base))
    bases = {_absolute(path): _absolute(other) for path, other in base.items()}
    if bases and paths and not bases.keys() & set(paths):
        raise ValueError(f"base: {{path: base}} was expected; none of its paths, such as {next(iter(bases))!r}, is among the models")
    return bases


def _all_absolute(paths):
    """The absolute paths. Raises TypeError for a string: its letters would count as paths, and the rows of all models would be removed."""
    if isinstance(paths, (str, bytes, os.PathLike)):
        shown = os.fspath(paths)
        raise TypeError(f"paths: a list of paths was expected, not {shown!r} alone: use [{shown!r}], or glob.glob({shown!r}) for a pattern")
    try:
        paths = [_absolute(path) for path in paths]
    except TypeError as error:
        raise TypeError(f"paths: a list of paths was expected: {error}") from None
    return paths


def run(paths: Iterable[Path], folder: Path, *, base: Bases = None, workers: int = 1, **options: Any) -> Update:
    """Updates a folder of rows on this machine: inspects new and changed models, and removes the rows of models that are not in
    `paths`.

    paths: all models of the fleet. folder: a folder of Parquet files, part=XX/models.parquet, with rows of `schema()`.
    base: the model to compare with: one for all, or {path: base}. workers: the number of models inspected in parallel.
    Options are those of `inspect`: works, policy, devices, timeout, memory; if they change, all models are inspected again; if only
    timeout or memory change, only the failed models.

    Ctrl-C stops it; rows of finished models are kept.

    Raises Error if the folder has rows of another format or another run is updating it, ImportError if a library that reads some
    of the paths is not installed, before any model is inspected, and the errors of `inspect`.
    """
    import concurrent.futures

    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise ValueError(f"workers: a number of at least 1 was expected, not {workers!r}")
    job = _Job(paths, folder, base, **options)
    with job.begun(), concurrent.futures.ThreadPoolExecutor(workers) as threads, Working("fleet.run") as show:
        try:
            return job.update(_shown(threads.map(job.do, job.tasks), sum(len(task["paths"]) for task in job.tasks), show))
        except BaseException:  # Ctrl-C: do not wait for the models that are being inspected
            job.inspection.stop.set()
            raise


def _shown(done, total, show):
    models = 0
    for row in done:
        models += row["models"]
        if show is not None:
            show("models", models, total)
        yield row


class _Actor:
    """Ray needs a class, which it instantiates in each process of a pool."""

    def __init__(self, job):
        self.job = job

    def __call__(self, batch):
        return self.job(batch)


def on_ray(paths: Iterable[Path], folder: Path, *, base: Bases = None, **options: Any) -> Update:
    """Like `run`, with a pool of Ray Data actors: one per CPU of the cluster, and more if the cluster grows. All workers must be able to access the
    folder."""
    job, data = _Job(paths, folder, base, **options), need("ray.data")
    with job.begun(), parts_of("ray"):
        return _by_ray(job, data)


def _by_ray(job, data):
    tasks = data.from_items(job.tasks, override_num_blocks=job.num_batches())
    # Two batches wait at each actor, since Ray needs about 150 ms to notice that a batch is done and to send another.
    count = min(job.num_batches(), max(1, int(need("ray").cluster_resources().get("CPU", 1))))
    pool = data.ActorPoolStrategy(initial_size=count, max_tasks_in_flight_per_actor=2)
    done = tasks.map_batches(_Actor, fn_constructor_args=(job,), compute=pool, batch_format="pyarrow", batch_size=None)
    return job.update(done.take_all())


def on_spark(session: Any, paths: Iterable[Path], folder: Path, *, base: Bases = None, **options: Any) -> Update:
    """Like `run`, with a SparkSession's mapInArrow. Spark retries failed tasks on clusters and with masters such as `local[2,4]`."""
    job = _Job(paths, folder, base, **options)
    with job.begun(), parts_of("pyspark"):
        tasks = session.createDataFrame(job.tasks, "part string, paths array<string>, bases array<string>")
        done = tasks.repartition(job.num_batches()).mapInArrow(
            lambda batches: map(job, batches), ", ".join(f"{name} bigint" for name in _DONE)
        )
        return job.update([row.asDict() for row in done.collect()])


def on_dask(paths: Iterable[Path], folder: Path, *, base: Bases = None, **options: Any) -> Update:
    """Like `run`, with Dask: the current Client if there is one, else Dask's threads."""
    job, dask = _Job(paths, folder, base, **options), need("dask")
    with job.begun(), parts_of("dask"):
        batches = job.num_batches()
        done = dask.compute(*(dask.delayed(job.do_all)(job.tasks[i::batches]) for i in range(batches)))
        return job.update([row for batch in done for row in batch])


def query(folder: Path, sql: str) -> pa.Table:
    """Runs an SQL statement with DuckDB on a folder of rows.

    Views: `models`, one row per path; `graphs`, `signatures`, `ops`, `scopes`, `layers`, `devices`, `findings`, `problems`, `failures`, one row per
    element, with its path; `rows` has these elements in lists, as the files do. docs/guide/python-fleets.md describes them.

    Integers are int64, and so are sums of them if they fit.

    Raises Error if the folder has no rows, or rows of another format; duckdb.Error if the statement is invalid.
    """
    folder = _absolute(folder)
    duckdb, store = need("duckdb"), Folder(folder)
    files = store.files()
    if not files:
        raise Error(f"{folder}: there are no rows of a fleet: part=*/models.parquet, as fleet.run writes them, was expected", os.fspath(folder))
    demand_format(store)
    connection = duckdb.connect()
    if is_remote(folder):
        connection.register_filesystem(need("fsspec").core.url_to_fs(folder)[0])
    names = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
    connection.execute(f"CREATE VIEW rows AS SELECT * FROM read_parquet([{names}], hive_partitioning=false)")
    connection.execute(f"CREATE VIEW models AS SELECT * EXCLUDE ({', '.join(TABLES)}) FROM rows")
    for table in TABLES:
        connection.execute(f"CREATE VIEW {table} AS SELECT path, unnest({table}, recursive := true) FROM rows")
    found = connection.sql(sql)
    if found is None:
        raise ValueError(f"sql: a statement was expected, not {sql!r}")
    return _in_numbers(need("pyarrow").table(found))


def _in_numbers(table):
    """DuckDB's sums of integers are HUGEINT with 128 bits: converts them to 64 if they fit, as in pandas and NumPy."""
    pa = need("pyarrow")
    for i, field in enumerate(table.schema):
        if field.type == pa.decimal128(38, 0):
            with contextlib.suppress(pa.ArrowInvalid):
                table = table.set_column(i, field.name, table.column(i).cast(pa.int64()))
    return table
