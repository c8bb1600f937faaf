"""Errors, warnings, messages, tables, threads, Ctrl-C, memory, imports, types."""

import logging
import multiprocessing
import os
import pathlib
import pickle
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pyarrow
import pytest
import tfgrapnel as tg

MODEL = "testdata/models/lenet/graph.pb"


def test_errors_name_file_and_node(lenet):
    with pytest.raises(tg.Error, match="did you mean 'NoOp'") as wrong:
        lenet.optimize(fetch="NoOq")
    assert (wrong.value.file, wrong.value.node) == ("testdata/models/lenet", "NoOq")
    with pytest.raises(tg.Error, match="no_such_file: cannot open") as wrong:
        tg.load("no_such_file")
    assert (wrong.value.file, wrong.value.node) == ("no_such_file", None)
    with pytest.raises(tg.Error, match="check_numerics="):
        lenet.run and tg.run(lenet, skip_numerics="x")


def test_errors_have_the_name_that_they_are_caught_by():
    assert f"{tg.Error.__module__}.{tg.Error.__qualname__}" == "tfgrapnel.Error"
    assert tg.GrapnelWarning.__module__ == "tfgrapnel"
    again = pickle.loads(pickle.dumps(tg.Error("m: wrong", "m", "node")))
    assert (str(again), again.file, again.node) == ("m: wrong", "m", "node")


def test_what_is_no_model():
    with pytest.raises(TypeError, match="an object of type int is not a model: a path, bytes"):
        tg.load(3)
    with pytest.raises(tg.Error, match="bytes"):
        tg.load(b"\x00\x01\x02nothing")
    with pytest.raises(ValueError, match="'-' is the standard input"):
        tg.load("-")


def test_the_folder_may_change(monkeypatch, tmp_path):
    lenet, folder = tg.load("testdata/models/lenet"), tg.load("testdata/tfdbg/mnist_nan_FULL_HEALTH")
    untouched = tg.load("testdata/models/lenet")
    before, done = lenet.run(), lenet.optimize(fetch="Identity", output=os.path.relpath(tmp_path / "out.pb"))
    monkeypatch.chdir("testdata/models")
    assert lenet.optimize(fetch="Identity").nodes_before == 64
    assert untouched.run()["Identity:0"].tobytes() == before["Identity:0"].tobytes()  # reads the case's feeds
    assert lenet.run({"x": np.zeros((2, 16, 16, 1), np.float32)}).keys() == before.keys()
    assert folder.blame().first_bad is not None
    assert "64 -> 27 nodes" in done.text and done.data and len(done.graph) == done.nodes_after  # the text: it runs once more
    assert os.path.isabs(lenet.path)
    monkeypatch.chdir("../..")
    assert lenet.path == "testdata/models/lenet"
    assert tg.load(b"%x = NoOp()\n").optimize().nodes_before == 1


def test_options_are_checked(lenet):
    with pytest.raises(TypeError, match=r"optimize\(\) got an unexpected keyword argument 'quick'$"):
        lenet.optimize(quick=1)
    with pytest.raises(TypeError, match=r"got an unexpected keyword argument 'fech'[;.] [Dd]id you mean 'fetch'\?"):
        lenet.optimize(fech="Identity")
    with pytest.raises(TypeError, match=r"got an unexpected keyword argument 'devices_'[;.] [Dd]id you mean 'devices'\?"):
        tg.place(lenet, devices_="cpu:1")
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'model'"):
        tg.optimize()
    with pytest.raises(TypeError, match="repeat: an integer was expected, not 'x'"):
        tg.run(lenet, repeat="x")
    with pytest.raises(TypeError, match="passes: a string or a path was expected, not 3"):
        lenet.optimize(passes=3)
    with pytest.raises(TypeError, match=r"feeds: \{tensor: array\} was expected, not an object of type list"):
        lenet.run([1, 2])
    with pytest.raises(tg.Error, match="did you mean 'device'"):
        lenet.view(color_by="devise")
    with pytest.raises(TypeError, match=r"Graph.run\(\) got an unexpected keyword argument 'fetches'[;.] [Dd]id you mean 'fetch'\?"):
        lenet.run(fetches="Identity")


def test_wrong_types_are_named(lenet):
    graphs = tg.Graphs("x", ["a"])
    for call, expected in [
        (lambda: lenet.run({b"x": 1}), "feeds: a string was expected, not b'x'"),
        (lambda: lenet.run({}, 3), "fetch: a tensor's name or several were expected, not 3"),
        (lambda: lenet.run({}, ["Identity", 3]), "fetch: a string was expected, not 3"),
        (lambda: lenet.run({}, signature=3), "signature: a string was expected, not 3"),
        (lambda: lenet.run({}, threads="2"), "threads: an integer was expected, not '2'"),
        (lambda: lenet.query(b"SELECT 1"), "sql: a string was expected, not b'SELECT 1'"),
        (lambda: lenet.find(None), "chain: a string was expected, not None"),
        (lambda: lenet.find("Relu", limit=1.5), "limit: an integer was expected, not 1.5"),
        (lambda: lenet.nodes[None], "a name or a number of a row was expected, not None"),
        (lambda: graphs[1.5], "a name or a number of a graph was expected, not 1.5"),
        (lambda: tg.load("x.pb", graph=3), "graph: a string was expected, not 3"),
        (lambda: tg.load("x.pb", 3), "example arguments are only for a tf.function, and x and y for a Keras model, not for an object of type str"),
        (lambda: tg.load("x.pb", grahp="a"), r"load\(\) got an unexpected keyword argument 'grahp': it takes graph= and, "),
        (lambda: tg.load(test_threads), "an object of type function is not a model: .*; wrap a Python function in tf.function"),
        (lambda: lenet.optimize(fetch=b"Identity"), "fetch: a string or a path was expected, not b'Identity'"),
        (lambda: lenet.optimize(fetch={3: None}), "fetch: a string was expected, not 3"),
        (lambda: lenet.optimize(output=lenet), "output: a string or a path was expected, not <Graph "),
        (lambda: tg.optimize(3), "model: a string, a path or a model was expected, not 3"),
    ]:
        with pytest.raises(TypeError, match=f"^{expected}"):
            call()
    for call, expected in [
        (lambda: tg.load(""), "model: a path was expected, not ''"),
        (lambda: tg.optimize(""), "model: a path was expected, not ''"),
        (lambda: tg.load("\udcff.pb"), "model: a string that can be encoded as UTF-8 was expected"),
        (lambda: lenet.run(threads=-1), "threads: a number from 0 to 4096 was expected, not -1"),
        (lambda: lenet.find("Relu", limit=-1), "limit: a number from 0 "),
    ]:
        with pytest.raises(ValueError, match=f"^{expected}"):
            call()


def test_numbers_of_numpy_are_options(lenet):
    import numpy as np

    assert len(lenet.optimize(fetch="Identity", limit=np.int64(3)).stages) > 1
    assert tg.info("testdata/keras/model", costs=np.True_, batch=np.int32(2)).graphs[0].run
    assert lenet.compare(precision="bfloat16", rtol=np.float32(0.5)).ok
    assert lenet.optimize(fetch="Identity", memory=1 << 30).nodes_after


def test_texts_of_options(lenet):
    assert lenet.optimize(fetch="Identity", device="").nodes_after == 35
    assert lenet.place(devices=["cpu:1", "gpu:1"]).placements == lenet.place(devices="cpu:1,gpu:1").placements
    with pytest.raises(tg.Error, match="^no devices given: "):
        lenet.place(devices="")
    with pytest.raises(tg.Error, match="^nope.npy: cannot open"):
        tg.run(lenet, feed={"x": "nope.npy"})


def test_a_model_is_held_against_a_policy(lenet, tmp_path):
    policy = tmp_path / "policy.toml"
    policy.write_text(lenet.check(init=True).text)
    report = lenet.check(policy=policy)
    assert report.ok and report.passes and report.findings == []
    for option, sign in [("junit", "<testsuite"), ("sarif", '"version": "2.1.0"'), ("markdown", "## grapnel check")]:
        done = lenet.check(policy=policy, **{option: tmp_path / "report"})
        assert done.passes and sign in (tmp_path / "report").read_text()
    policy.write_text('[ops]\nforbidden = ["Conv2D"]\n')
    report = lenet.check(policy=policy)
    assert not report.ok and [found.node for found in report.findings] == [f"sequential_1/conv2d_1{copy}/convolution" for copy in ("", "_2")]
    with pytest.raises(tg.Error, match="^check: policy= FILE is required"):
        lenet.check()


def test_tables_are_read_as_lists_are(lenet):
    nodes = lenet.nodes
    assert nodes[:2] == [nodes[0], nodes[1]] and nodes[-2:] == [nodes[62], nodes[63]]
    for number in (64, -65, 10**30):
        with pytest.raises(IndexError, match=f"there is no row {number}; the number of rows is 64"):
            nodes[number]
    with pytest.raises(KeyError, match="there is no column 'nam'; the columns are: id, name, op"):
        nodes["nam"]
    for sql, near in [("SELECT * FROM nods", "nodes"), ("SELECT n.opp FROM nodes n", "op"), ("SELECT nam FROM nodes", "name")]:
        with pytest.raises(tg.Error, match=rf"did you mean '{near}'\?$|did you mean '{near}', "):
            lenet.query(sql)


def test_rows_have_names(lenet):
    row = lenet.nodes[0]
    assert (row.name, row.op, row.readers) == ("x", "Placeholder", 1) and row == tuple(row)
    assert row._fields == lenet.nodes.columns == next(iter(lenet.nodes))._fields  # what pandas.DataFrame(table) looks for
    with pytest.raises(AttributeError, match="there is no column 'nam'; the columns are: id, name"):
        row.nam
    assert pickle.loads(pickle.dumps(row)) == row
    assert lenet.query("SELECT count(*) FROM nodes")[0] == (64,)


def test_graphs_and_results_are_pickled(lenet, tmp_path, monkeypatch):
    fast = lenet.optimize(fetch="Identity")
    kept = [pickle.dumps(what) for what in (lenet, fast, fast.graph, lenet.info(), tg.diff(lenet, fast.graph))]
    monkeypatch.chdir(tmp_path)
    graph, result, optimized, info, difference = map(pickle.loads, kept)
    expected = lenet.run()["Identity:0"].tobytes()
    assert graph.run()["Identity:0"].tobytes() == expected
    assert optimized.default_fetches == fast.graph.default_fetches and len(optimized) == len(result.graph) == fast.nodes_after
    assert result.data == fast.data and result.to_dict() == fast.to_dict()
    assert info.graphs[0].nodes == 64 and not difference.ok and difference.text == tg.diff(graph, optimized).text
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        assert pool.apply(tg.Graph.run, (graph,))["Identity:0"].tobytes() == expected


def test_a_node_of_a_function_is_fetched_by_its_name():
    served = tg.load("testdata/keras/model")
    name = served.find("MatMul")["path"][0]
    assert served.run({"keras_tensor": [[1, 2, 3]]}, name)[name].ndim == 2
    with pytest.raises(tg.Error, match="'sequential_1/nothing' not found"):
        served.run({"keras_tensor": [[1, 2, 3]]}, "sequential_1/nothing")


def test_a_list_is_what_is_gone_through(lenet):
    for passes in (("remapper",), {"remapper"}, iter(["remapper"]), {"remapper": None}.keys()):
        assert [stage.pass_ for stage in lenet.optimize(fetch="Identity", passes=passes).stages] == ["remapper"]


def test_a_subinterpreter_is_refused():
    program = """
import sys
import tfgrapnel
try:
    import _interpreters as many  # of Python 3.13 on; it returns the failure
except ImportError:
    import _xxsubinterpreters as many
failure = many.run_string(many.create(), "import tfgrapnel")
sys.exit(failure and failure.formatted)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=60)
    # From 3.12 on Python asks the module, and has its own words for it.
    reason = "does not support loading in subinterpreters" if sys.version_info >= (3, 12) else "works only in the main interpreter of a process"
    assert done.returncode == 1 and "ImportError" in done.stderr and reason in done.stderr, done.stderr


@pytest.mark.parametrize("work", ["graph.run()", "graph.info()", "graph.optimize(passes='look,remapper')"])
def test_the_process_ends_while_threads_work(work):
    program = f"""
import atexit, threading, time
import tfgrapnel as tg
graph = tg.load("testdata/models/lenet")

@tg.rule(ops=["Relu"])
def look(rule, node):
    return None

def go_on():
    while True:
        {work}

for _ in range(4):
    threading.Thread(target=go_on, daemon=True).start()
atexit.register(lambda: print(len(graph.run())))
time.sleep(0.3)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


def test_a_file_that_is_cut_short_is_told(tmp_path):
    (tmp_path / "cut.pb").write_bytes(pathlib.Path("testdata/models/lenet/graph.pb").read_bytes()[:3000])
    with pytest.warns(tg.GrapnelWarning, match="the graph is cut off or damaged"):
        tg.load(tmp_path / "cut.pb")


def test_texts_are_in_pythons_words(lenet, tmp_path):
    done = lenet.optimize(fetch="Identity")
    assert "-o FILE" in done.text and "output=FILE" in str(done)
    with pytest.raises(tg.Error, match=r"pass 'nope' not found \(`tfgrapnel.passes\(\)` lists them\)"):
        lenet.optimize(passes="nope")


def test_what_the_wheel_leaves_out(lenet):
    with pytest.raises(tg.Error, match="the wheel has no cuda module"):
        tg.run(lenet, device="gpu:0")


@pytest.mark.parametrize("encoding", ["LATIN1", "Shift_JIS", "GB18030", "EUC-KR", "Big5", "ISO-2022-JP", "windows-1251", "KOI8-R", "UTF-16"])
def test_text_in_other_encodings(encoding):
    """ICU's tables for encodings are in the wheel."""
    text = {"LATIN1": "\u00e9", "EUC-KR": "\ud55c", "windows-1251": "\u0436", "KOI8-R": "\u0436"}.get(encoding, "\u6f22") + "a"
    graph = tg.load(b'fetch %y\n%x = Placeholder {dtype=string, shape=[]}\n'
                    b'%y = UnicodeTranscode(%x) {input_encoding="' + encoding.encode() + b'", output_encoding="UTF-8"}\n')
    assert graph.run({"x": text.encode(encoding)}, "y")["y"].item() == text.encode()


def test_warnings_point_at_the_caller():
    with pytest.warns(tg.GrapnelWarning, match="no fetch= given: the one node without consumers is kept: 'Identity'") as given:
        tg.optimize(MODEL)
    assert given[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tg.optimize(MODEL, fetch="Identity")


def test_messages_are_logged(caplog):
    caplog.set_level(logging.INFO, "tfgrapnel")
    graph = tg.load(b'fetch %y\n%x = Const {dtype=float, value=1.0}\n%s = StringFormat(%x) {template="said {}", placeholder="{}"}\n'
                    b"%p = PrintV2(%s)\n%y = Identity(%x, ^p)\n")
    graph.run()
    assert "said 1" in caplog.text


def test_tables(lenet):
    nodes = pyarrow.table(lenet.nodes)
    assert nodes.num_rows == len(lenet) == len(lenet.nodes)
    assert nodes.schema.field("id").type == pyarrow.int64()
    assert nodes.column("op").to_pylist() == lenet.nodes["op"]
    assert nodes.column("function").null_count == len(lenet)
    assert lenet.nodes[0][1] == "x" and lenet.nodes[-1] == list(lenet.nodes)[-1]
    for name in ("nodes", "edges", "attributes", "constants", "statistics", "outputs", "costs", "bodies", "layers", "functions", "calls",
                 "lines"):
        ours = lenet.table(name)
        asked = lenet.query(f"SELECT * FROM {name}")
        assert ours.columns == asked.columns
        assert list(ours) == list(asked)
        assert pyarrow.table(ours).to_pylist() == [dict(zip(ours.columns, row)) for row in ours]
    assert "sequential_1" not in lenet.layers["name"] and set(lenet.nodes["layer"]) - {None} <= set(lenet.layers["name"])
    assert sum(lenet.layers["parameters"]) > 0
    assert lenet.find("Conv2D -> BiasAdd")["ops"] == ["Conv2D -> BiasAdd"] * 2
    counted = pyarrow.table(lenet.query("SELECT op, count(*) AS n, avg(inputs) AS mean FROM nodes GROUP BY op"))
    assert [str(field.type) for field in counted.schema] == ["large_string", "int64", "double"]
    with pytest.raises(tg.Error, match="no such column"):
        lenet.query("SELECT nope FROM nodes")


def test_what_is_shown(lenet):
    assert repr(lenet) == "<Graph case folder testdata/models/lenet, 64 nodes>"
    assert repr(lenet.nodes).splitlines()[0].startswith("id  name")
    assert repr(lenet.nodes).splitlines()[-1] == "... and 44 more rows"
    assert repr(lenet.query("SELECT name FROM nodes WHERE 0")).splitlines() == ["name", "(no rows)"]
    [_, line] = repr(lenet.query(f"SELECT '{'a' * 90 + 'z'}' AS long")).splitlines()
    assert line == "a" * 40 + "..." + "a" * 36 + "z"
    odd = tg.load(b'node { name: "a\\n\\033[2Jb" op: "NoOp" }')
    assert repr(odd.nodes).splitlines()[1].startswith(r"0   a\n\x1b[2Jb  NoOp")
    done = lenet.optimize()
    assert "nodes_after" in repr(done) and "nodes_after" in dir(done)
    with pytest.raises(AttributeError, match="the document of opt has no 'nope'; it has format, path"):
        done.nope


def test_threads(lenet):
    given = np.zeros((2, 16, 16, 1), np.float32)
    expected = lenet.optimize().data, lenet.run({"x": given}, "Identity")["Identity"].tobytes(), lenet.view(format="dot").data
    wrong = []

    def work():
        for _ in range(10):
            graph = tg.load(lenet.path)
            got = graph.optimize().data, lenet.run({"x": given}, "Identity")["Identity"].tobytes(), graph.view(format="dot").data
            if got != expected:
                wrong.append(got)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong




@pytest.mark.parametrize("work", ["tg.run(g, repeat=2000000000)", "[g.run() for _ in range(10**9)]", "[g.optimize() for _ in range(10**9)]"])
def test_interrupt(work):
    program = f"""if 1:
        import numpy, signal, time  # NumPy, whose import does not like to be interrupted
        signal.signal(signal.SIGINT, signal.default_int_handler)
        import tfgrapnel as tg
        g = tg.load("testdata/models/lenet")
        print("begun", flush=True)
        try:
            {work}
        except KeyboardInterrupt:
            print(time.monotonic(), flush=True)
        print(len(g.run()))
    """
    with subprocess.Popen([sys.executable, "-W", "ignore", "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begun\n"
        time.sleep(0.5)
        pressed = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert float(process.stdout.readline()) - pressed < 1
        assert process.stdout.readline() == "1\n"


def test_timeout(lenet):
    with pytest.raises(tg.Error, match=r"not done after 0.2 s \(timeout=\)"):
        tg.run(lenet, repeat=2000000000, timeout=0.2)


def test_memory_does_not_grow():
    program = f"""if 1:
        import os, pathlib, tfgrapnel
        data = pathlib.Path({MODEL!r}).read_bytes()
        def resident():
            return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * {resource.getpagesize()}
        for i in range(10000):
            tfgrapnel.load({MODEL!r})
            tfgrapnel.load(data)
            if i == 999:
                begin = resident()
        print(resident() - begin, len(os.listdir("/proc/self/fd")))
    """
    grown, files = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert int(grown) < 2_000_000
    assert int(files) < 10


def test_a_process_that_is_forked():
    program = f"""if 1:
        import os, tfgrapnel
        tfgrapnel.info({MODEL!r})
        child = os.fork()
        tfgrapnel.info({MODEL!r})
        if child == 0:
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    """
    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == 0


def test_an_older_processor():
    emulator = shutil.which("qemu-x86_64")
    if not emulator:
        pytest.skip("no qemu-user")
    done = subprocess.run([emulator, "-cpu", "Nehalem", sys.executable, "-c", "import tfgrapnel"], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.endswith("tfgrapnel needs a processor with AVX2, FMA and BMI2 (x86-64-v3); this one lacks avx2, fma, bmi2\n")


def test_import_is_light():
    # The most that it was; what getrusage says of a process is its parent's too.
    most = "; print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"

    def measure(code):
        best = 1e9
        for _ in range(5):
            begin = time.perf_counter()
            said = subprocess.run([sys.executable, "-c", code + most], capture_output=True, check=True)
            best = min(best, time.perf_counter() - begin)
        return best, int(said.stdout) * 1024

    (seconds, bytes_), (bare_seconds, bare_bytes) = measure("import tfgrapnel, sys; assert 'numpy' not in sys.modules"), measure("pass")
    assert bytes_ - bare_bytes < 30_000_000
    assert seconds - bare_seconds < 0.05 * float(os.environ.get("GRAPNEL_SLOWER", "2"))


# Lines of `used` are wrong where they say so.
def test_types(tmp_path):
    used = tmp_path / "used.py"
    used.write_text(
        "import tfgrapnel as tg\n"
        'graph = tg.load("m")\n'
        "assert isinstance(graph, tg.Graph)\n"
        'count: int = len(graph.optimize(fetch="y").graph)\n'
        "text: str = tg.info(graph).text\n"
        "tg.optimize(graph, nope=1)  # wrong\n"
        'tg.blame(graph, repeat="x")  # wrong\n'
        "from tfgrapnel.testing import assert_budget\n"
        'assert_budget(graph, nodes="x")  # wrong\n'
        "with tg.dumps('d') as timeline, tg.placement_log() as log:\n"
        "    placed: tg.Graph = log.graph\n"
        "    path: int = timeline.path  # wrong\n"
        'fast = graph.optimize(fetch="y")\n'
        "before: int = fast.nodes_before\n"
        "why: str = fast.stages[0].pass_\n"
        "wrong: str = fast.nodes_before  # wrong\n"
        "tg.info(graph).graphs[0].nope  # wrong\n"
    )

    def said_by(*checker):
        bin_ = os.path.dirname(sys.executable)
        environment = os.environ | {"PATH": f"{bin_}:{os.environ['PATH']}", "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
        return subprocess.run([f"{bin_}/{checker[0]}", *checker[1:]], capture_output=True, text=True, cwd=tmp_path, env=environment).stdout

    def errors(*checker):
        return [line for line in said_by(*checker).splitlines() if " error: " in line]

    mypy = ("mypy", "--check-untyped-defs", "--cache-dir", tmp_path / "cache")
    assert said_by(*mypy, "-p", "tfgrapnel", "-p", "tfgrapnel_pytest").startswith("Success: ")
    # The types of all that is public are known.
    assert "Type completeness score: 100%" in said_by("pyright", "--verifytypes", "tfgrapnel", "--ignoreexternal")
    wrong = [str(number) for number, line in enumerate(used.read_text().splitlines(), 1) if "# wrong" in line]
    for checker in (mypy, ("pyright",)):
        assert [line.split(":")[1] for line in errors(*checker, used)] == wrong
