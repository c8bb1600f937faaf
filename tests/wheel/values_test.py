"""Values of runs: dtypes, strings, shared memory, errors."""

import struct

import ml_dtypes
import numpy as np
import pytest
import tfgrapnel as tg


def identity(dtype, shape="[?]"):
    text = f"fetch %y\n%x = Placeholder {{dtype={dtype}, shape={shape}}}\n%y = Identity(%x)\n"
    return tg.load(text.encode())


@pytest.mark.parametrize(
    "name, dtype",
    [("float", np.float32), ("double", np.float64), ("half", np.float16), ("bfloat16", ml_dtypes.bfloat16)]
    + [("float8_e5m2", ml_dtypes.float8_e5m2), ("complex64", np.complex64), ("complex128", np.complex128), ("bool", np.bool_)]
    + [(f"{sign}int{bits}", np.dtype(f"{sign}int{bits}")) for sign in ("", "u") for bits in (8, 16, 32, 64)],
)
def test_dtypes(name, dtype):
    given = np.array([0, 1, 0, 1], dtype)
    [value] = identity(name).run({"x": given}).values()
    assert value.dtype == dtype
    assert value.tobytes() == given.tobytes()


def test_strings():
    given = np.array([[b"\x00\xff", b""], ["ä".encode(), b"word"]], object)
    [value] = identity("string", "[?,?]").run({"x": given}).values()
    assert value.dtype == object and value.tolist() == given.tolist()
    [value] = identity("string", "[]").run({"x": "text"}).values()
    assert value.item() == b"text"


def test_numbers_and_lists_take_the_dtype_of_the_graph():
    graph = tg.load(b"fetch %y\n%x = Placeholder {dtype=float, shape=[2]}\n%y = Neg(%x)\n")
    assert graph.run({"x": [1, 2.5]})["y"].tolist() == [-1, -2.5]
    assert graph.run({"x": (3, 4)})["y"].dtype == np.float32


def test_numbers_that_do_not_fit():
    graph = identity("int32")
    assert graph.run({"x": [1, True]})["y"].tolist() == [1, 1]
    assert graph.run({"x": []})["y"].dtype == np.int32
    for given, what in [([1.5], "float64 cannot be converted to int32, which was expected"), ([1, None], "numbers or strings were expected")]:
        with pytest.raises(TypeError, match=f"^feed 'x': {what}"):
            graph.run({"x": given})
    with pytest.raises(ValueError, match="^feed 'x': Python int(eger)? "):
        graph.run({"x": [1 << 40]})
    assert identity("bfloat16").run({"x": [1, 2.5]})["y"].tolist() == [1, 2.5]


@pytest.mark.parametrize("given", [None, {"a": 1}, {1}, iter([1]), object(), np])
def test_what_is_no_array(given):
    with pytest.raises(TypeError, match="^feed 'x': an array, a number, a string or a list of them was expected, not an object of type "):
        identity("float").run({"x": given})
    with pytest.raises(TypeError, match="^feed 'x': an array, "):
        tg.run(identity("float"), feed={"x": given})


def test_arrays_of_no_tensor():
    for given in (np.array("2020-01-01", "M8[s]"), np.zeros(2, [("a", "f4")]), np.zeros(2, np.longdouble)):
        with pytest.raises(TypeError, match=r"^feed 'x': tensors cannot have dtype .*: .* \.astype"):
            identity("float").run({"x": given})
    for given in (np.array([1, 2], object), np.array(["a", None], object)):
        with pytest.raises(TypeError, match="^feed 'x': an array of objects must hold strings, and (1|None) is not a string; "):
            identity("string").run({"x": given})
    [value] = identity("string").run({"x": np.array([bytearray(b"a"), "b"], object)}).values()
    assert value.tolist() == [b"a", b"b"]
    [value] = identity("string").run({"x": np.array(["a", "ä"], np.dtypes.StringDType())}).values()
    assert value.tolist() == [b"a", "ä".encode()]


def test_numbers_take_the_dtype_of_the_graph_in_commands(tmp_path):
    graph = tg.load(b"fetch %y\n%x = Placeholder {dtype=float, shape=[2]}\n%y = Log(%x)\n")
    graph.convert(output=tmp_path / "log.pb")
    for model in (graph, str(tmp_path / "log.pb")):
        done = tg.run(model, feed={"x": [1, 1]})
        assert done["y:0"].tolist() == done["y"].tolist() == [0, 0]
        with pytest.raises(KeyError, match="'z' was not fetched; the fetches are: y"):
            done["z"]
        assert tg.blame(model, feed={"x": [0, 1]}).first_bad.op == "Log"
    served = tg.load("testdata/keras/model")
    assert tg.run(served, feed={"keras_tensor": [[1, 2, 3]]}, signature="serve")["output_0"].shape == (1, 2)


def test_feeds_are_named_as_they_were_given(lenet):
    served = tg.load("testdata/keras/model")
    for options in ({}, {"signature": "serve"}):
        with pytest.raises(tg.Error, match="feed 'keras_tensor': holds double, float was expected"):
            served.run({"keras_tensor": np.zeros((1, 3))}, **options)
        with pytest.raises(tg.Error, match="feed 'keras_tensor' has shape "):
            served.run({"keras_tensor": np.zeros((1, 4), np.float32)}, **options)
        with pytest.raises(tg.Error, match="'keras_tensor' .Placeholder, .* needs a value"):
            served.run(**options)
    with pytest.raises(tg.Error, match="node 'images' not found; .*the input is 'x'$"):
        lenet.run({"images": np.zeros(1)}, "Identity")


def test_arrays_are_not_converted(lenet):
    with pytest.raises(tg.Error, match=r"feed 'x:?0?': holds double, float was expected .NumPy's float64 and float32.: \.astype\('float32'\) "):
        lenet.run({"x": np.zeros((2, 16, 16, 1))})
    lenet.run({"x": np.zeros((2, 16, 16, 1), np.float32)})
    with pytest.raises(tg.Error, match="holds double, float was expected"):
        lenet.run({"x": np.zeros((2, 16, 16, 1))})
    with pytest.raises(tg.Error) as wrong:
        lenet.run({"x": np.zeros((2, 3), np.float32)})
    assert wrong.value.file == "testdata/models/lenet"


@pytest.mark.parametrize("dtype, numpy", [("qint8", "int8"), ("quint8", "uint8"), ("qint16", "int16"), ("quint16", "uint16"), ("qint32", "int32")])
def test_quantized_numbers_are_integers_in_numpy(dtype, numpy):
    given = np.arange(3, dtype=numpy)
    got = identity(dtype).run({"x": given})["y"]
    assert got.dtype == given.dtype and got.tolist() == [0, 1, 2]
    other = "int64" if numpy == "int32" else "int32"
    with pytest.raises(tg.Error, match=f"holds {other}, {dtype} was expected"):
        identity(dtype).run({"x": np.arange(3, dtype=other)})


def test_memory_is_shared():
    graph = identity("float")
    given = np.arange(1 << 16, dtype=np.float32)
    [value] = graph.run({"x": given}).values()
    assert value.ctypes.data == given.ctypes.data
    assert not value.flags.writeable
    [made] = tg.load(b"fetch %y\n%x = Placeholder {dtype=float, shape=[?]}\n%y = Neg(%x)\n").run({"x": given}).values()
    made[0] = 1
    assert given[1] == 1


def test_layouts():
    given = np.arange(6, dtype=np.float32).reshape(2, 3)
    graph = identity("float", "[?,?]")
    assert graph.run({"x": given.T})["y"].tolist() == given.T.tolist()
    assert graph.run({"x": given.astype(">f4")})["y"].tolist() == given.tolist()
    odd = np.frombuffer(b"\0" + struct.pack("<6f", *range(6)), np.float32, offset=1).reshape(2, 3)
    assert graph.run({"x": odd})["y"].tolist() == given.tolist()
    assert graph.run({"x": np.zeros((0, 3), np.float32)})["y"].shape == (0, 3)


class OfAnotherLibrary:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack():
    given = np.arange(5, dtype=np.float32)
    [value] = identity("float").run({"x": OfAnotherLibrary(given)}).values()
    assert value.tolist() == given.tolist()
    assert np.from_dlpack(tg.load(b"%y = Identity([1.0,2.0])\nfetch %y\n").run()["y"].copy()).tolist() == [1, 2]


def test_the_command_takes_arrays(lenet):
    given = np.zeros((2, 16, 16, 1), np.float32)
    done = tg.run(lenet, feed={"x": given}, fetch="Identity")
    assert done["Identity"].tobytes() == lenet.run({"x": given}, "Identity")["Identity"].tobytes()
    assert tg.blame(lenet, feed={"x": given}).first_any is None


def test_variables_keep_what_runs_made():
    graph = tg.load(
        b"fetch %r\n%v = VarHandleOp {dtype=float, shape=[], shared_name=\"v\"}\n%one = Const {dtype=float, value=1.0}\n"
        b"%a = AssignVariableOp(%v, %one) {dtype=float}\n%r = ReadVariableOp(%v, ^a) {dtype=float}\n"
    )
    first = graph.run()["r"]
    assert first == 1 and graph.run()["r"] == 1 and first == 1
