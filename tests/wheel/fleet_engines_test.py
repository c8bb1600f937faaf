"""Fleets on Ray, Spark and Dask, on S3 and in memory, and DuckDB's answers, in an environment with all of these: GRAPNEL_FULL=1.

GRAPNEL_FLEET is the number of models; -s prints the engines' time, and GRAPNEL_FLEET_QUIET, for an idle machine, checks it.
"""

import functools
import http.server
import os
import pathlib
import re
import signal
import sys
import threading
import time
import urllib.request

import fleet_models
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from conftest import ROOT
from fleet_test import files_of, rows_in
from tfgrapnel import fleet

pytestmark = pytest.mark.skipif("GRAPNEL_FULL" not in os.environ, reason="without --full")
COUNT = int(os.environ.get("GRAPNEL_FLEET", "10000"))
LAYERS = (32, 96)
POLICY = """
[dtypes]
forbidden = ["float64"]
[nodes]
most = 500
[unguarded_ops]
"""
# A loop in one thread and engines with two workers should take a minute or more, and engines be faster by this factor.
LEAST_SECONDS, LEAST_GAIN = 60, 1.7


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return fleet_models.write(tmp_path_factory.mktemp("fleet") / "models", COUNT, layers=LAYERS)


@pytest.fixture(scope="module")
def options(models, tmp_path_factory):
    """Every work has something to do."""
    policy = tmp_path_factory.mktemp("policy") / "policy.toml"
    policy.write_text(POLICY)
    return {"base": models[0], "policy": policy}


@pytest.fixture(scope="module")
def loop(models, options, tmp_path_factory):
    """The files of a plain loop, and its time."""
    folder = tmp_path_factory.mktemp("loop")
    fleet.run(models[:20], folder / "start", **options)  # all is imported
    begin = time.monotonic()
    done = fleet.run(models, folder / "rows", **options)
    seconds = time.monotonic() - begin
    print(f"\nloop: {done}, {seconds:.1f} s")
    assert done.models == done.inspected == COUNT
    assert set(rows_in(folder / "rows")) == set(models)
    return bytes_of(folder / "rows"), seconds


def bytes_of(folder):
    """{file: its bytes}"""
    return {file.relative_to(folder): data for file, (_, data) in files_of(folder).items()}


def children_of(pid):
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == pid:
                found += [int(folder.name), *children_of(int(folder.name))]
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


def workers():
    """The worker processes: those that started a process that inspects models."""
    for pid in children_of(os.getpid()):
        try:
            is_inspector = b"tfgrapnel._fleet_child" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
            parent = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
        if is_inspector and parent != os.getpid():
            yield parent


class Killer:
    """Kills one worker when a third of the parts are written. `began`: when the first model was inspected."""

    def __init__(self, folder, parts):
        self.folder, self.parts, self.killed, self.is_over = folder, parts, None, False
        self.began = None
        self.thread = threading.Thread(target=self._watch)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.is_over = True
        self.thread.join()

    def _watch(self):
        while not self.is_over:
            time.sleep(0.1)
            if self.began is None and next(workers(), None):
                self.began = time.monotonic()
            if len(list(self.folder.glob("part=*/*.parquet"))) > self.parts // 3 and (found := next(workers(), None)):
                self.killed = found
                os.kill(found, signal.SIGKILL)
                return


class Ray:
    def __enter__(self):
        import ray

        os.environ["RAY_worker_niceness"] = "0"  # otherwise other processes have priority
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        ray.data.DataContext.get_current().enable_progress_bars = False
        return fleet.on_ray

    def __exit__(self, *error):
        import ray

        ray.shutdown()


class Spark:
    def __enter__(self):
        from pyspark.sql import SparkSession

        os.environ["PYSPARK_PYTHON"] = sys.executable  # otherwise it uses the first python3 of PATH

        builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
        self.session = builder.getOrCreate()
        return lambda *arguments, **options: fleet.on_spark(self.session, *arguments, **options)

    def __exit__(self, *error):
        self.session.stop()


class Dask:
    def __enter__(self):
        from distributed import Client, LocalCluster

        self.cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
        self.client = Client(self.cluster)
        return fleet.on_dask

    def __exit__(self, *error):
        self.client.close()
        self.cluster.close()


@pytest.mark.parametrize("engine", [Ray, Spark, Dask])
def test_an_engine_gives_the_rows_of_a_loop(engine, models, options, loop, tmp_path):
    """Also when one of its workers is killed; a second run changes nothing."""
    folder, (files, seconds) = tmp_path / "rows", loop
    with engine() as update:
        update(models[:20], tmp_path / "start", **options)  # all workers have imported, except Ray's actors
        with Killer(folder, parts=len(files)) as killer:
            done = update(models, folder, **options)
            end = time.monotonic()
        assert killer.killed
        by_two = end - killer.began  # without the engine's start: Ray's actors take 2.5 s
        print(f"\n{engine.__name__}: {done}, {by_two:.1f} s, {seconds / by_two:.2f} times a loop")
        assert done.models == COUNT
        assert bytes_of(folder) == files
        before = files_of(folder)
        again = update(models, folder, **options)
        assert (again.models, again.inspected, again.written) == (COUNT, 0, 0)
        assert files_of(folder) == before
    if "GRAPNEL_FLEET_QUIET" in os.environ:  # nothing else runs
        assert by_two >= LEAST_SECONDS and seconds / by_two >= LEAST_GAIN


@pytest.fixture
def bucket(monkeypatch):
    """A bucket of a server on loopback."""
    from moto.server import ThreadedMotoServer

    import s3fs

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in (("AWS_ACCESS_KEY_ID", "test"), ("AWS_SECRET_ACCESS_KEY", "test"), ("AWS_DEFAULT_REGION", "us-east-1")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    s3fs.S3FileSystem.clear_instance_cache()
    urllib.request.urlopen(f"http://{host}:{port}/moto-api/reset", data=b"").close()  # servers of a process have one store
    s3fs.S3FileSystem().mkdir("bucket")
    yield "s3://bucket"
    server.stop()


@pytest.fixture
def memory():
    import fsspec

    fsspec.filesystem("memory").store.clear()
    return "memory://bucket"


@pytest.mark.parametrize("where", ["bucket", "memory"])
def test_somewhere_else(where, request, tmp_path):
    """Remote models and rows, including a folder; the rows are those of the same models here."""
    import fsspec

    root = request.getfixturevalue(where)
    here = fleet_models.write(tmp_path / "models", 30)
    files, inner = fsspec.core.url_to_fs(root)
    for path in here:
        if os.path.exists(path):
            files.put_file(path, f"{inner}/models/{os.path.basename(path)}")
    for path in (ROOT / "testdata/models/lenet").iterdir():
        files.put_file(str(path), f"{inner}/models/lenet/{path.name}")
    paths = [f"{root}/models/{os.path.basename(path)}" for path in [*here, "lenet"]]
    folder = f"{root}/rows"
    done = fleet.run(paths, folder, workers=2)
    assert (done.models, done.inspected) == (31, 31)
    answer = fleet.query(folder, "SELECT * FROM rows ORDER BY path").to_pylist()
    fleet.run([*here, ROOT / "testdata/models/lenet"], tmp_path / "rows")
    expected = {os.path.basename(path): row for path, row in rows_in(tmp_path / "rows").items()}
    for row in answer:
        same = expected[os.path.basename(row["path"])]
        assert {name: row[name] for name in ("content", "kind", "ops", "scopes")} == {name: same[name] for name in ("content", "kind", "ops", "scopes")}
        assert "tfgrapnel-" not in str(row)
    files.put_file(here[1], f"{inner}/models/{os.path.basename(here[0])}")
    again = fleet.run(paths[:-1], folder)
    assert (again.models, again.inspected, again.written <= 2) == (30, 1, True)


def test_folders_that_are_objects(bucket):
    """S3's console and Hadoop store an empty object 'a/' for a folder."""
    import s3fs

    files = s3fs.S3FileSystem()
    for path in (ROOT / "testdata/models/lenet").iterdir():
        files.put_file(str(path), f"bucket/lenet/{path.name}")
    for name in ("lenet/", "lenet/logs/"):
        files.call_s3("put_object", Bucket="bucket", Key=name, Body=b"")
    assert "bucket/lenet/" in files.find("bucket/lenet")
    here, there = fleet.inspect(pa.table({"path": [str(ROOT / "testdata/models/lenet"), f"{bucket}/lenet"]})).to_pylist()
    assert there["error"] is None
    assert (there["content"], there["kind"], there["scopes"]) == (here["content"], here["kind"], here["scopes"])


def test_a_server_of_files(tmp_path):
    """A file is downloaded once, and its content is not listed."""
    asked = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            asked.append(self.command)

    fleet_models.write(tmp_path, 1)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=tmp_path)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        there = f"http://127.0.0.1:{server.server_port}"
        [row] = fleet.inspect(pa.table({"path": [f"{there}/model_00000.pb"]}), works="info").to_pylist()
        assert row["error"] is None and row["graphs"]
        assert asked.count("GET") <= 2  # its size, in some versions of fsspec, and its bytes
        [row] = fleet.inspect(pa.table({"path": [f"{there}/nothing.pb"]})).to_pylist()
        assert row["error"] == "cannot be read: no such file or folder"
        server.shutdown()
    [row] = fleet.inspect(pa.table({"path": [f"{there}/model_00000.pb"]})).to_pylist()
    assert re.match("cannot be read: no such file or folder: .*127.0.0.1", row["error"])


def test_a_library_of_a_place_is_not_installed(tmp_path):
    with pytest.raises(ImportError, match="gs://bucket/model.pb: .*install gcsfs"):
        fleet.run([ROOT / "testdata/models/lenet", "gs://bucket/model.pb"], tmp_path / "rows")
    assert not (tmp_path / "rows").exists()
    rows = fleet.inspect(pa.table({"path": ["gs://bucket/model.pb", str(ROOT / "testdata/models/lenet")]}), works="info").to_pylist()
    assert re.fullmatch("cannot be read: .*install gcsfs.*", rows[0]["error"])
    assert rows[1]["error"] is None


def test_a_place_that_is_none():
    rows = fleet.inspect(pa.table({"path": ["nonsense://x", "memory://nowhere/x"]})).to_pylist()
    assert rows[0]["error"].startswith("cannot be read: ValueError: Protocol not known: nonsense")
    assert rows[1]["error"] == "cannot be read: no such file or folder"


def test_questions(tmp_path):
    models = fleet_models.write(tmp_path / "models", 40)
    fleet.run(models, tmp_path / "rows")
    rows = rows_in(tmp_path / "rows")
    double = fleet.query(tmp_path / "rows", "SELECT DISTINCT path FROM ops WHERE dtype = 'double' ORDER BY 1")["path"].to_pylist()
    assert double == sorted(path for path, row in rows.items() if any(op["dtype"] == "double" for op in row["ops"] or []))
    assert double
    shared = "SELECT count(DISTINCT path) AS n FROM scopes WHERE nodes > 4 GROUP BY hash ORDER BY n DESC LIMIT 1"
    assert fleet.query(tmp_path / "rows", shared)["n"][0].as_py() > 5
    assert fleet.query(tmp_path / "rows", "SELECT count(*) AS n FROM models WHERE error IS NOT NULL")["n"][0].as_py() > 0
    assert fleet.query(tmp_path / "rows", "SELECT count(*) AS n FROM graphs")["n"][0].as_py() >= 32


def test_a_folder_whose_name_is_a_pattern(tmp_path):
    models = fleet_models.write(tmp_path / "models", 4)
    fleet.run(models, tmp_path / "rows")
    for name in ("r*s", "ro[w]s", "row?"):
        fleet.run(models[:1], tmp_path / name)
        assert fleet.query(tmp_path / name, "SELECT count(*) AS n FROM models")["n"].to_pylist() == [1]


def test_numbers_are_of_64_bits(tmp_path):
    """Sums too, unless they are larger."""
    fleet.run(fleet_models.write(tmp_path / "models", 1), tmp_path / "rows")
    found = fleet.query(tmp_path / "rows", "SELECT sum(nodes) AS n FROM ops WHERE op != 'Const'")
    assert found.schema.field("n").type == pa.int64()
    assert found["n"].to_pylist()[0] > 20
    much = fleet.query(tmp_path / "rows", "SELECT 9223372036854775808::HUGEINT AS n")
    assert int(much["n"].to_pylist()[0]) == 2**63
    with pytest.raises(ValueError, match="sql: a statement was expected, not ' '"):
        fleet.query(tmp_path / "rows", " ")


def test_a_folder_that_is_none(tmp_path):
    import tfgrapnel

    with pytest.raises(tfgrapnel.Error, match="there are no rows of a fleet"):
        fleet.query(tmp_path, "SELECT 1")


def test_examples(tmp_path, monkeypatch):
    (tmp_path / "testdata").symlink_to(ROOT / "testdata")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "guide" / "python-fleets.md").read_text(), re.M | re.S)
    names = {}
    for block in blocks:
        exec(compile(block, "docs/guide/python-fleets.md", "exec"), names)
    assert len(blocks) > 5
    assert parquet.read_table(next((tmp_path / "rows").rglob("*.parquet"))).num_rows
