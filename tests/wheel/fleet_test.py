"""Fleets of models: their rows, the folder of rows, and errors. Engines are in fleet_engines_test.py."""

import builtins
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import fleet_models
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
import tfgrapnel as tg
from conftest import SHARED
from tfgrapnel import _fleet_process, fleet

LENET = "testdata/models/lenet"
DEBUG = SHARED.parent.parent / "tfdbg_logdirs" / "mnist_nan_FULL_HEALTH"


def rows_of(paths, **options):
    batch = pa.RecordBatch.from_pydict({"path": [str(path) for path in paths]})
    made = fleet.inspect(batch, **options)
    assert isinstance(made, pa.RecordBatch)
    assert made.schema.equals(fleet.schema())
    return made.to_pylist()


def files_of(folder):
    """{file: (when it was written, its bytes)}"""
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in pathlib.Path(folder).rglob("*") if path.is_file()}


def rows_in(folder):
    """All rows of a folder, by path."""
    rows = [row for path in sorted(pathlib.Path(folder).rglob("*.parquet")) for row in parquet.ParquetFile(path).read().to_pylist()]
    assert len({row["path"] for row in rows}) == len(rows)
    return {row["path"]: row for row in rows}


@pytest.fixture
def models(tmp_path):
    return fleet_models.write(tmp_path / "models", 30)


def test_a_row_has_what_the_commands_say():
    [row] = rows_of([LENET])
    assert (row["path"], row["error"], row["format"], row["version"]) == (LENET, None, fleet.FORMAT, tg.__version__)
    assert row["kind"] == tg.load(LENET).kind
    info = tg.info(LENET, costs=True)
    assert row["graphs"][0]["nodes"] == 64
    assert row["graphs"][0]["flops"] == info.graphs[0]["run"]["flops"]
    assert sum(op["nodes"] for op in row["ops"]) == 64
    assert {"graph": row["graphs"][0]["title"], "op": "Conv2D", "dtype": "float", "nodes": 2} in row["ops"]
    scopes = tg.load(LENET).table("scopes")
    assert [scope["hash"] for scope in row["scopes"]] == scopes["hash"]
    found = [finding for finding in row["findings"] if finding["work"] == "doctor"]
    assert [finding["what"] for finding in found] == [finding["what"] for finding in tg.doctor(LENET).findings]


def test_layers_are_those_of_info():
    from tfgrapnel import _fleet_child

    [row] = rows_of([LENET], works="layers")
    assert not row["failures"] and len(row["layers"]) == len(tg.info(LENET).to_dict()["graphs"][0].get("layers", ()))
    conv = {"name": "conv", "class": "Conv2D", "shape": "[?,8,8,4]", "parameters": 40, "trainable": 40, "flops": 9216}
    block = {"name": "block", "parameters": 40, "layers": [conv]}
    assert list(_fleet_child._layers("g", [block], "")) == [
        {"graph": "g", "layer": "block", "class_name": None, "shape": None, "parameters": 40, "trainable": None, "flops": None},
        {"graph": "g", "layer": "block/conv", "class_name": "Conv2D", "shape": "[?,8,8,4]", "parameters": 40, "trainable": 40, "flops": 9216},
    ]


def test_devices(tmp_path):
    [row] = rows_of([LENET], works="place")
    assert [(one["device"][-5:], one["nodes"]) for one in row["devices"]] == [("CPU:0", 0), ("GPU:0", 64)]
    assert row["devices"][1]["weights"] > row["devices"][1]["peak_bytes"] > 0
    (tmp_path / "island.gtxt").write_text("fetch %y\n%x = Placeholder {dtype=float, shape=[2]}\n%a = Neg(%x)\n%s = AsString(%a)\n"
                                          "%n = StringToNumber(%s)\n%y = Neg(%n)\n")  # fmt: skip
    [row] = rows_of([str(tmp_path / "island.gtxt")], works=["place"], devices="cpu:1,gpu:2")
    assert len(row["devices"]) == 3
    [finding] = row["findings"]
    assert (finding["work"], finding["check_name"], finding["severity"], finding["node"]) == ("place", "cpu_island", "note", "s")
    assert "2 nodes on /job:localhost/replica:0/task:0/device:CPU:0 between nodes of another device: no kernel elsewhere for 's'" in finding["what"]
    assert not rows_of([LENET])[0]["devices"]
    fleet.run([LENET], tmp_path / "rows", works="place")
    assert fleet.run([LENET], tmp_path / "rows", works="place", devices="cpu:2").inspected == 1
    with pytest.raises(ValueError, match="devices: the devices of `place`, such as 'cpu:1,gpu:2', were expected, not ''"):
        rows_of([LENET], works="place", devices="")


def test_the_folder_may_change(monkeypatch):
    """The inspecting processes started in another folder."""
    [before] = rows_of([LENET], works=["info", "doctor"])
    monkeypatch.chdir("testdata")
    [after] = rows_of(["models/lenet"], works=["info", "doctor"], base="models/lenet")
    assert after["error"] is None and after["failures"] == []
    assert after["graphs"] == before["graphs"]
    [lost] = rows_of(["models/lenot"])
    assert lost["error"] == "cannot be read: No such file or directory"


def test_a_table_gives_a_table():
    assert isinstance(fleet.inspect(pa.table({"path": [LENET]}), works="info"), pa.Table)
    assert fleet.inspect(pa.table({"path": pa.array([], pa.string())})).num_rows == 0


def test_a_bad_file_is_a_row(models, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    rows = rows_of([*models, tmp_path / "pipe", tmp_path])
    for seed, row in enumerate(rows[:30]):
        how = fleet_models.BREAKAGES[seed // 5 % 5] if seed % 5 == 4 else None
        if how == "missing":
            assert row["error"] == "cannot be read: No such file or directory"
        elif how == "dangling":
            assert row["error"] is None and row["problems"]
        elif how in ("noise", "empty"):
            assert row["error"].startswith(row["path"])
        elif how is None:
            assert row["error"] is None and not row["problems"], row
    assert rows[30]["error"] == "cannot be read: neither a file nor a folder"
    assert rows[31]["error"]


def test_a_folder_has_what_its_links_lead_to(tmp_path):
    """Links to folders are entered, once each; dangling links and pipes are not part of a model; unreadable files are named."""
    model, weights = tmp_path / "model", tmp_path / "weights"
    for folder in (model, weights):
        folder.mkdir()
    (model / "graph.pb").write_bytes(fleet_models.network(1).bytes())
    (weights / "one").write_text("1")
    (model / "weights").symlink_to(weights)
    (weights / "back").symlink_to(model)
    (model / "gone").symlink_to(tmp_path / "nowhere")
    os.mkfifo(model / "pipe")
    [before] = rows_of([model], works="info")
    (weights / "one").write_text("2")
    [after] = rows_of([model], works="info")
    assert before["error"] is None and after["error"] is None
    assert before["content"] != after["content"]
    assert before["bytes"] == (model / "graph.pb").stat().st_size + 1
    (weights / "one").unlink()
    (weights / "one").symlink_to("one")  # a loop is a link to nothing, too
    assert rows_of([model], works="info")[0]["error"] is None
    if os.geteuid() != 0:
        (model / "graph.pb").chmod(0)
        assert rows_of([model])[0]["error"] == "cannot be read: graph.pb: Permission denied"


def test_a_file_that_changes_meanwhile(tmp_path, monkeypatch):
    """Its row does not count for the hashed content: the next run inspects it again."""
    model, look = tmp_path / "model.pb", _fleet_process.look
    model.write_bytes(fleet_models.network(1).bytes())

    def changing(*arguments):
        row = look(*arguments)
        model.write_bytes(fleet_models.network(2).bytes())
        return row

    with monkeypatch.context() as patched:
        patched.setattr(_fleet_process, "look", changing)
        assert fleet.run([model], tmp_path / "rows", works="info").failed == 1
    assert rows_in(tmp_path / "rows")[str(model)]["error"] == "changed while it was inspected"
    assert fleet.run([model], tmp_path / "rows", works="info").inspected == 1
    assert rows_in(tmp_path / "rows")[str(model)]["error"] is None
    assert fleet.run([model], tmp_path / "rows", works="info").inspected == 0


def test_names_that_are_no_text(tmp_path):
    """Names with arbitrary bytes appear in rows as in tables."""
    net = fleet_models.Network()
    net.op(b"\xff/y", "Neg", net.op(b"\xff/x", "Identity", net.input("x", (2,))))
    (tmp_path / "model.pb").write_bytes(net.bytes())
    [row] = rows_of([tmp_path / "model.pb"])
    assert row["error"] is None and not row["failures"]
    assert [scope["scope"] for scope in row["scopes"]] == tg.load(tmp_path / "model.pb").table("scopes")["scope"]


def test_a_debug_folder_is_blamed():
    if not DEBUG.exists():
        pytest.skip("no ../shared")
    [row] = rows_of([DEBUG])
    assert (row["kind"], row["error"]) == ("debug folder", None)
    [blamed] = [finding for finding in row["findings"] if finding["work"] == "blame"]
    first = tg.blame(str(DEBUG)).first_bad
    assert (blamed["node"], blamed["what"]) == (first["node"], first["text"])
    assert f":{first['source']['line']} in " in blamed["source"]


def test_policies_and_lost_fusions(tmp_path):
    base, model = fleet_models.Network(), fleet_models.Network()
    for net in (base, model):
        net.dense("dense", net.input("x", (2, 8)), 8, 8)
    model.op("also", "Neg", "dense/BiasAdd")
    for net, name in ((base, "base"), (model, "model")):
        net.op("y", "Identity", "dense/Relu")
        (tmp_path / f"{name}.pb").write_bytes(net.bytes())
    (tmp_path / "policy.toml").write_text('[ops]\nforbidden = ["Neg"]\n')
    [row] = rows_of([tmp_path / "model.pb"], base=tmp_path / "base.pb", policy=tmp_path / "policy.toml")
    assert not row["failures"]
    found = {finding["check_name"]: finding for finding in row["findings"] if finding["work"] in ("fusions", "policy")}
    assert set(found) == {"lost_fusions", "ops"}
    assert found["ops"]["node"] == "also"
    assert found["lost_fusions"]["scope"] == "dense"


def test_a_base_that_is_not_there(tmp_path):
    """Works that compare with it fail, all others are done; the next run looks for it again."""
    lost = {"error": "base: cannot be read: No such file or directory"}
    (tmp_path / "policy.toml").write_text('[ops]\nforbidden = ["Neg"]\n')
    options = {"base": {LENET: tmp_path / "base"}, "policy": tmp_path / "policy.toml", "works": ["info", "fusions", "policy"]}
    fleet.run([LENET], tmp_path / "rows", **options)
    [row] = rows_in(tmp_path / "rows").values()
    assert row["error"] is None and row["graphs"]
    assert row["failures"] == [{"work": "fusions", **lost}, {"work": "policy", **lost}]
    assert fleet.run([LENET], tmp_path / "rows", **options).inspected == 0
    (tmp_path / "base").symlink_to(os.path.abspath(LENET))
    assert fleet.run([LENET], tmp_path / "rows", **options).inspected == 1
    assert not rows_in(tmp_path / "rows").popitem()[1]["failures"]
    [row] = rows_of([LENET], works="info", base="nowhere")  # which nothing asks for
    assert row["error"] is None and not row["failures"]
    if DEBUG.exists():
        assert not rows_of([DEBUG], base="nowhere")[0]["failures"]


def test_a_file_of_several_graphs():
    [row] = rows_of(["tests/query/inputs/blocks.gtxt"])
    assert row["error"] is None and not row["failures"], row["failures"]
    hashes = {(scope["graph"], scope["scope"]): scope["hash"] for scope in row["scopes"]}
    assert hashes["a", "dense"] == hashes["b", "net/other_1"]
    assert [graph["title"] for graph in row["graphs"]] == list(dict.fromkeys(op["graph"] for op in row["ops"]))


def test_a_model_that_takes_too_long():
    [row, next] = rows_of(["tests/tools/inputs/endless.gtxt", LENET], timeout=1.5, works=["info", "ops", "doctor"])
    assert row["error"] == "doctor: took more than 1.5 s (timeout=)"
    assert row["ops"]
    assert next["error"] is None


def test_a_timeout_may_be_endless():
    assert [row["error"] for timeout in (float("inf"), 1e30) for row in rows_of([LENET], works="info", timeout=timeout)] == [None, None]


def test_ctrl_c_ends_what_is_looked_at(tmp_path):
    """Not only when the models are done or their time is over; finished rows are kept."""
    code = f"""
import os, signal, threading, time
from tfgrapnel import fleet
threading.Timer(4, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    fleet.run([{LENET!r}, "tests/tools/inputs/endless.gtxt"], {str(tmp_path / "rows")!r}, works="doctor", workers=2)
except KeyboardInterrupt:
    print("stopped")
"""
    begin = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("stopped\n", "")
    assert time.monotonic() - begin < 20  # of 300
    assert list(rows_in(tmp_path / "rows")) == [os.path.abspath(LENET)]


def test_a_model_that_takes_too_much_memory(tmp_path):
    net = fleet_models.Network()
    dims = net.const("dims", (2,), fleet_models.INT32, (30000, 30000))
    net.add("big", "Fill", dims, net.const("one", (), content=(1,)), attrs=(fleet_models.of_type("T", 1),))
    net.op("y", "Identity", "big")
    (tmp_path / "big.pb").write_bytes(net.bytes())
    rows = rows_of([tmp_path / "big.pb", LENET], memory="600M")
    assert "memory" in (rows[0]["error"] or rows[0]["failures"][0]["error"])
    assert rows[1]["error"] is None


def test_a_process_that_dies_is_a_row(tmp_path, monkeypatch):
    """A killed process: the model's row says so, and the next model has a new process."""
    [row] = rows_of([LENET], works="info")
    victim = _fleet_process._idle[-1].process
    ask = _fleet_process._Inspector.ask

    def killed(self, task):
        if self.process is victim:
            victim.send_signal(signal.SIGSEGV)
            victim.wait()
        return ask(self, task)

    monkeypatch.setattr(_fleet_process._Inspector, "ask", killed)
    dead, alive = rows_of([LENET, LENET], works="info")
    assert "SIGSEGV" in dead["error"]
    assert alive == row


def test_what_was_asked_wrongly(tmp_path):
    with pytest.raises(ValueError, match="a column 'path' was expected; its columns are: x"):
        fleet.inspect(pa.table({"x": [1]}))
    with pytest.raises(ValueError, match="column 'path': strings were expected, not None in row 1"):
        fleet.inspect(pa.table({"path": ["x", None]}))
    with pytest.raises(ValueError, match="there is no 'inf'"):
        fleet.inspect(pa.table({"path": ["x"]}), works="inf")
    with pytest.raises(ValueError, match="memory: a size"):
        fleet.inspect(pa.table({"path": ["x"]}), memory="much")
    for memory in (0, -1, "5M"):
        with pytest.raises(ValueError, match=f"memory: 100M or more was expected, since the process itself needs that, not {memory!r}"):
            fleet.inspect(pa.table({"path": ["x"]}), memory=memory)
    with pytest.raises(ValueError, match="a path was expected, not ''"):
        fleet.run([LENET, ""], tmp_path / "rows")
    with pytest.raises(ValueError, match="none of its paths, such as '/x/lenot', is among the models"):
        fleet.run([LENET], tmp_path / "rows", base={"/x/lenot": LENET})
    with pytest.raises(ValueError, match="timeout: seconds were expected, not nan"):
        fleet.inspect(pa.table({"path": ["x"]}), timeout=float("nan"))
    with pytest.raises(TypeError, match="pyarrow.RecordBatch or Table with a column 'path' was expected, not list"):
        fleet.inspect(["x"])
    with pytest.raises(FileNotFoundError):
        fleet.inspect(pa.table({"path": ["x"]}), policy="nowhere.toml")
    (tmp_path / "team.toml").write_text("[nodez]\nmost = 1\n")
    with pytest.raises(tg.Error, match="team.toml:1: check 'nodez' not found; did you mean 'nodes'?"):
        fleet.run([LENET], tmp_path / "rows", policy=tmp_path / "team.toml")
    for workers in (0, 1.5, True):
        with pytest.raises(ValueError, match=f"workers: a number of at least 1 was expected, not {workers}"):
            fleet.run([LENET], tmp_path / "rows", workers=workers)
    with pytest.raises(NotADirectoryError, match="team.toml is a file; a folder for Parquet files was expected"):
        fleet.run([LENET], tmp_path / "team.toml")
    assert not (tmp_path / "rows").exists()


def test_a_text_is_no_list_of_paths(tmp_path):
    fleet.run([LENET], tmp_path / "rows", works="info")
    for paths in ("models/*.pb", pathlib.Path("models"), b"models"):
        with pytest.raises(TypeError, match="paths: a list of paths was expected, not b?'models"):
            fleet.run(paths, tmp_path / "rows", works="info")
    with pytest.raises(TypeError, match="paths: a list of paths was expected: .*int"):
        fleet.run([1], tmp_path / "rows")
    assert len(rows_in(tmp_path / "rows")) == 1  # none went


def test_a_folder_is_brought_up_to_date(models, tmp_path):
    folder = tmp_path / "rows"
    done = fleet.run(models, folder, workers=2)
    assert (done.models, done.inspected) == (30, 30)
    rows = rows_in(folder)
    assert set(rows) == set(models)
    assert list(rows.values()) == sorted(rows_of(rows), key=lambda row: list(rows).index(row["path"]))
    before = files_of(folder)

    again = fleet.run(reversed(models), folder)
    assert (again.models, again.inspected, again.written) == (30, 0, 0)
    assert files_of(folder) == before

    pathlib.Path(models[0]).write_bytes(fleet_models.network(99).bytes())
    new = fleet_models.write(tmp_path / "models", 1, first=1000)
    done = fleet.run(models[:-1] + new, folder)
    assert (done.models, done.inspected) == (30, 2)
    after = rows_in(folder)
    assert set(after) == set(models[:-1] + new)
    assert {path for path in models[:-1] if after[path] != rows[path]} == {models[0]}
    assert done.written <= 3

    gone = fleet.run([], folder)
    assert gone.models == 0 and not files_of(folder)


def test_other_options_inspect_anew(models, tmp_path):
    fleet.run(models[:3], tmp_path / "rows", works="info")
    assert fleet.run(models[:3], tmp_path / "rows", works=["info", "ops"]).inspected == 3
    assert fleet.run(models[:3], tmp_path / "rows", works=["ops", "info"], timeout=200).inspected == 0


def test_other_limits_inspect_what_failed(tmp_path):
    models, options = ["tests/tools/inputs/endless.gtxt", LENET], {"works": "doctor"}
    assert fleet.run(models, tmp_path / "rows", timeout=0.5, **options).failed == 1
    assert fleet.run(models, tmp_path / "rows", timeout=0.5, **options).inspected == 0
    assert fleet.run(models, tmp_path / "rows", timeout=0.6, **options).inspected == 1


def test_what_was_left_half_written_goes(models, tmp_path):
    fleet.run(models[:3], tmp_path / "rows", works="info")
    part = next((tmp_path / "rows").iterdir())
    (part / ".host.1.2").write_bytes(b"PAR1")
    (part / ".note").write_text("mine")
    (tmp_path / "rows" / "part=x").write_text("a file")
    assert fleet.run(models[:3], tmp_path / "rows", works="info").written == 0
    assert not (part / ".host.1.2").exists()
    assert (part / ".note").exists()


def test_two_runs_at_a_time(models, tmp_path, monkeypatch):
    """The second run reports it, while the first one is running."""
    inspect = fleet._Inspection.row
    text = "rows: another run is updating this folder: wait until it is done, or use another folder"

    def beside(self, *arguments):
        with pytest.raises(tg.Error, match=text):
            fleet.run([], tmp_path / "rows")
        return inspect(self, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(fleet._Inspection, "row", beside)
        assert fleet.run(models[:1], tmp_path / "rows", works="info").inspected == 1
    assert fleet.run(models[:1], tmp_path / "rows", works="info").inspected == 0


def test_a_folder_of_another_format(models, tmp_path):
    folder = tmp_path / "rows" / "part=1"
    folder.mkdir(parents=True)
    parquet.write_table(pa.table({"x": [1]}), folder / "models.parquet")
    with pytest.raises(tg.Error, match="part=1/models.parquet: not written by tfgrapnel.fleet"):
        fleet.run(models, tmp_path / "rows")
    other = fleet.schema().with_metadata({"tfgrapnel.fleet": "7"})
    parquet.write_table(pa.Table.from_pylist([], other), folder / "models.parquet")
    with pytest.raises(tg.Error, match="format 7, this tfgrapnel writes format 2: use another folder"):
        fleet.run(models, tmp_path / "rows")
    (folder / "models.parquet").write_text("no Parquet")
    with pytest.raises(tg.Error, match="part=1/models.parquet: cannot be read as Parquet"):
        fleet.run(models, tmp_path / "rows")


def _without_pandas(name, *arguments, **keywords):
    """Imports as where Ray is installed and pandas, which Ray Data needs, is not."""
    if name.partition(".")[0] == "ray":
        raise ModuleNotFoundError("No module named 'pandas'", name="pandas")
    return builtins.__import__(name, *arguments, **keywords)


def test_a_library_that_is_missing(monkeypatch, tmp_path):
    load = builtins.__import__

    def without(name, *arguments, **keywords):
        if name.partition(".")[0] in ("duckdb", "dask", "fsspec"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return load(name, *arguments, **keywords)

    monkeypatch.setattr("importlib.import_module", without)
    with pytest.raises(ImportError, match=r"tfgrapnel.fleet needs duckdb: pip install duckdb"):
        fleet.query("x", "SELECT 1")
    with pytest.raises(ImportError, match=r"tfgrapnel.fleet needs fsspec: pip install fsspec"):
        fleet.run([LENET, "s3://bucket/model"], tmp_path / "rows")
    assert not (tmp_path / "rows").exists()  # said before a model is looked at
    monkeypatch.setattr("importlib.import_module", _without_pandas)
    with pytest.raises(ImportError, match=r"^tfgrapnel.fleet needs pandas for ray: pip install pandas$"):
        fleet.on_ray([LENET], tmp_path / "rows")
    monkeypatch.setattr("importlib.import_module", without)
    [row] = rows_of(["s3://bucket/model"])
    assert row["error"] == "cannot be read: tfgrapnel.fleet needs fsspec: pip install fsspec"


def test_nothing_is_imported_before_it_is_used():
    code = "import sys; from tfgrapnel import fleet; print([m for m in sys.modules if m.split('.')[0] in ('pyarrow', 'numpy', 'duckdb')])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


def test_its_processes_end_with_it(models, tmp_path):
    code = f"""
import pyarrow as pa
from tfgrapnel import _fleet_process, fleet
fleet.inspect(pa.table({{"path": {models[:1]!r}}}), works="info")
print(_fleet_process._idle[0].process.pid)
"""
    for how in ("", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"):
        done = subprocess.run([sys.executable, "-c", code + "import sys; sys.stdout.flush()\n" + how], capture_output=True, text=True)
        pid = int(done.stdout)
        for _ in range(100):
            if not pathlib.Path(f"/proc/{pid}").exists() or "State:\tZ" in pathlib.Path(f"/proc/{pid}/status").read_text():
                break
            time.sleep(0.05)
        else:
            pytest.fail("the process that looks at models is still there")


def test_rows_are_json_but_for_numbers():
    [row] = rows_of([LENET])
    json.dumps(row)
