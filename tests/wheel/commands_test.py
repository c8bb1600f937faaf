"""The functions return what the binary prints, byte for byte; their options are those of --help."""

import inspect
import keyword
import pathlib
import re
import warnings

import numpy as np
import pytest
import tfgrapnel as tg
from conftest import SHARED

NOT_FUNCTIONS = {"serve", "debug", "completion", "man", "git-setup"}
NOT_KEYWORDS = {"help", "json", "quiet", "verbose", "log-level", "color", "plugin"}


@pytest.fixture(autouse=True)
def without_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def in_help(binary, command):
    """{option: how its value is shown, with its default} of a command's --help, and its arguments by position."""
    text = binary(command, "--help")[1].decode()
    options = re.findall(r"^  (?:-\w,)?--([a-z-]+)(?: (\S+))?", text, re.M)
    positions = re.search(r"^Positionals:\n((?:  .*\n)*)", text, re.M)
    names = re.findall(r"^  ([A-Z]+)\b", positions[1], re.M) if positions else []
    return dict(options), names


def python_name(name):
    name = name.lower().replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def test_each_command_is_a_function(binary):
    commands = set(re.findall(r"^  ([a-z-]+) ", binary("--help")[1].decode().partition("Subcommands:")[2], re.M))
    for command in commands - NOT_FUNCTIONS:
        options, positions = in_help(binary, command)
        function = getattr(tg, "optimize" if command == "opt" else python_name(command))
        parameters = inspect.signature(function).parameters
        expected = {python_name(name) for name in (options.keys() - NOT_KEYWORDS) | set(positions)}
        assert set(parameters) == expected, command
        for name, shown in options.items():
            if "=" not in shown or name in NOT_KEYWORDS or isinstance(parameters[python_name(name)].default, tuple):
                continue
            default = parameters[python_name(name)].default
            assert str(default).removesuffix(".0") == shown.rpartition("=")[2], (command, name)
    assert len(commands) > 20
    assert not hasattr(tg, "serve")


def same(function, binary, *arguments):
    """Calls a function, and compares with the binary: document and text, or the error."""
    wanted = binary(*arguments, "--json")
    if wanted[0] == 2:
        with pytest.raises(tg.Error):
            function()
        return None
    done = function()
    assert done.ok == (wanted[0] == 0)
    assert done.json.encode() == wanted[1]
    assert done.text.encode() == binary(*arguments)[1]
    return done


def test_info(binary, network):
    same(lambda: tg.info(network), binary, "info", network)


def test_optimize(binary, network, tmp_path):
    done = same(lambda: tg.optimize(network), binary, "opt", network)
    binary("opt", network, "-o", tmp_path / "graph.pb", "-q")
    assert done.data == (tmp_path / "graph.pb").read_bytes()
    assert len(done.graph) == done.nodes_after


def test_run(binary, network):
    done = same(lambda: tg.run(network), binary, "run", network)
    if done is None:
        return
    again = tg.load(network).run()
    assert {name: value.tobytes() for name, value in done.values.items()} == {name: value.tobytes() for name, value in again.items()}


@pytest.mark.parametrize("kind", ["html", "dot", "json"])
def test_view(binary, network, tmp_path, kind):
    assert tg.view(network, format=kind).data == binary("view", network, "-o", "-", "--format", kind)[1]
    made = tg.view(network, output=tmp_path / f"picture.{kind}")
    assert made.output == str(tmp_path / f"picture.{kind}")
    assert made.data == tg.view(network, format=kind).data


def test_blame(binary, network):
    same(lambda: tg.blame(network), binary, "blame", network)


def test_blame_of_a_debug_folder(binary):
    folder = str(SHARED.parent.parent / "tfdbg_logdirs" / "mnist_nan_FULL_HEALTH")
    if not pathlib.Path(folder).exists():
        pytest.skip("no ../shared")
    assert same(lambda: tg.blame(folder), binary, "blame", folder).first_bad
    assert tg.load(folder).blame().json == tg.blame(folder).json


def test_bytes_give_what_a_path_gives(lenet):
    data = open("testdata/models/lenet/graph.pb", "rb").read()
    from_bytes = tg.load(data)
    assert from_bytes.path.startswith("<bytes ")
    assert from_bytes.optimize(fetch="Identity").data == tg.optimize("testdata/models/lenet/graph.pb", fetch="Identity").data
    assert tg.diff(from_bytes, "testdata/models/lenet/graph.pb").ok
    assert tg.diff(data, lenet).ok


def test_results_of_several_kinds(lenet):
    assert lenet.convert(to="pbtxt").data.startswith(b"node {")
    with pytest.raises(tg.Error, match="this file name has no known format: choose one with to="):
        lenet.convert()
    assert len(lenet.cut(outputs="Identity").graph) == 64
    assert lenet.bisect().to_dict() == {"format": 1, "found": False}
    assert [line["status"] for line in tg.replay([lenet, "testdata/models/transformer_block"]).lines] == ["pass", "pass"]
    assert tg.query(lenet, "SELECT 1 AS x").to_dict() == {"format": 1, "columns": ["x"], "rows": [[1]]}
    assert "no near misses" in tg.passes(why_not=["remapper", lenet]).text


def test_why_not(lenet):
    near = tg.why_not(lenet)
    assert near.json == tg.passes(why_not=[lenet]).json
    assert {"pass": "model_pruner", "rule": "bypass_identity", "node": "Identity", "reason": "'Identity' is fetched, fed or kept"} in near.near_misses
    assert [found["rule"] for found in lenet.why_not("remove_reshape").near_misses] == ["remove_reshape"]
    assert "no near misses" in lenet.why_not("remapper").text
    assert tg.why_not(lenet, "remapper").near_misses == []
    with pytest.raises(tg.Error, match="did you mean"):
        lenet.why_not("remove_reshap")


def test_dumps(lenet, tmp_path):
    lenet.optimize(dump_dir=tmp_path)
    graphs = tg.load(tmp_path)
    assert len(graphs) == len(graphs.titles) > 5
    assert len(graphs[-1]) == len(lenet.optimize().graph)
    assert tg.diff(graphs[0], lenet).ok
    assert graphs[graphs.titles[0]].path == str(tmp_path / graphs.titles[0])
    assert tg.info(tmp_path, graph=graphs.titles[0]).graphs[0]["title"] == graphs.titles[0]
    assert len(tg.timeline(tmp_path).stages) > 5


def test_the_answer_is_no(lenet):
    done = tg.diff(lenet, lenet.optimize().graph)
    assert not done.ok
    assert done.same is False
    assert "the answer is no" in repr(done)


def test_a_method_is_the_function(lenet):
    assert lenet.info().json == tg.info(lenet).json
    assert lenet.optimize(passes=["remapper"]).json == tg.optimize(lenet, passes="remapper").json


def test_help_has_the_options():
    assert "dump_dir: dump the graph first, last, and before and after" in tg.optimize.__doc__
    assert "(op, device, scope)" in tg.view.__doc__
    assert "--" not in tg.run.__doc__


def test_taps_and_lives_of_nodes(lenet, tmp_path):
    lenet.optimize(fetch="Identity", dump_dir=tmp_path)
    life = tg.timeline(tmp_path, node="sequential_1/conv2d_1/Relu")
    assert "fused with" in life.text and life.to_dict() == {}
    images = {"x": np.zeros((2, 16, 16, 1), np.float32)}
    tapped = tg.run(lenet, feed=images, tap_op="Relu")
    assert [tap["op"] for tap in tapped.taps] == ["Relu", "Relu"]
    assert tapped.runs[0]["fetches"][0]["name"] == "Identity:0"
    assert re.search(r"^ +min +mean +max .*\n.*sequential_1/conv2d_1/Relu:0 \(Relu\)$", tapped.text, re.M)
    assert tg.run(lenet, feed=images).taps == []
    tapped = tg.run(lenet, feed=images, tap_op="Relu", tap_file=str(tmp_path / "taps.jsonl"))
    assert tapped.taps == [] and tapped["Identity:0"].shape == (2, 10)


def test_a_missing_argument_is_not_called_near(lenet):
    with pytest.raises(TypeError, match="missing 1 required.*: 'devices'$"):
        lenet.place()
