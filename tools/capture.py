#!/usr/bin/env python3
"""Makes a case folder (a graph with inputs and the outputs TensorFlow computes for them) from a TensorFlow program.

As a module, where the program is:
    import capture
    capture.function(fn, [x, y], "case")                 a tf.function, ConcreteFunction, Keras model or Python function
    capture.saved_model("model_dir", {"x": x}, "case")   a signature of a SavedModel, TF1 or TF2
    capture.session(sess, {"x:0": x}, ["y:0"], "case")   a TF1 Session
As a command, for SavedModels:
    python tools/capture.py model_dir --signature serving_default --feed x=x.npy --out case

Then: grapnel replay case. Variables become constants, unless freeze=False or --no-freeze is given, the graph writes
variables or tables, or a function uses tables or iterators: then the values before the run are "variables" in
case.json. init.pb creates the tables and iterators. steps=[...] are the arguments or feeds of further calls, which run in order and keep the state.
The captured graph is then run again by itself, to verify that it gives the same outputs, unless check=False or
--no-check is given.

A case of a SavedModel uses the keys of the signature for its feeds and fetches, so that it runs on any model with that
signature; "tensors" in case.json maps them to the tensors of graph.pb.
A case is a folder or, if its name ends in .zip, one file; grapnel opens both alike.
needs: tensorflow 2, and tolerance.py, capture_state.py and case_archive.py next to this file
"""
# mypy: ignore-errors
import argparse
import inspect
import json
import os
import re
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
from tensorflow.python.framework import convert_to_constants
from tensorflow.python.saved_model import loader_impl

if __package__:                                               # in the Python package
    from . import capture_state as state
    from .case_archive import is_archive, pack
    from .tolerance import atol_of
else:
    import capture_state as state
    from case_archive import is_archive, pack
    from tolerance import atol_of

RTOL = 1e-4
GRAPH_LIMIT = 2**31 - 1                                       # protobuf's limit for one message


class CaptureError(Exception):
    """Says what could not be captured and why: one line, which may end with TensorFlow's own message of several lines."""


def to_npy(name, value):
    """Returns an array that numpy.save can write and grapnel can read: strings become fixed-width bytes."""
    a = np.asarray(value)
    if a.dtype.kind in "OU":
        flat = [s.encode() if isinstance(s, str) else s for s in a.ravel()]
        if not all(isinstance(s, bytes) for s in flat):
            raise CaptureError(f"'{name}' is neither numbers nor strings")
        if any(s.endswith(b"\0") for s in flat):
            raise CaptureError(f"'{name}' has a string that ends with a zero byte, which .npy cannot hold")
        return np.array(flat, dtype="S").reshape(a.shape)
    if a.dtype.kind == "V" and a.dtype.name != "bfloat16":
        raise CaptureError(f"'{name}' is {a.dtype.name}, which .npy cannot hold")
    return a


def write_case(out, graph_def, feeds, fetches, rtol=RTOL, atol=None, variables=None, about=None, init=None, steps=(),
               keys=None):
    """Writes the folder `out`, or one zip file if the name ends in .zip. Feeds and fetches are {tensor: value}, variables {node: value}, init a graph that runs
    first, steps pairs of further feeds and fetches; `about` is added to case.json. `keys`: if feeds and fetches are named
    by a signature's keys, two {key: tensor} that map its inputs and outputs to tensors of the graph. Without `atol`, the
    tolerance of each fetch is computed from the fetch's values. Returns the contents of case.json."""
    try:
        graph = graph_def.SerializeToString(deterministic=True)
    except Exception as e:                                    # protobuf's own errors differ from version to version
        raise CaptureError(f"the graph cannot be written: {first_line(e)}") from e
    if len(graph) > GRAPH_LIMIT:
        raise CaptureError(f"the graph is {len(graph)} bytes, over the limit of 2 GiB: try freeze=False")
    case = {"nodes": len(graph_def.node), "functions": len(graph_def.library.function), "feeds": {}, "fetches": {},
            "rtol": rtol, "atol": {}, **(about or {})}
    if keys:
        case["tensors"] = tensors_of(*keys)
    arrays = {}
    groups = ("feeds", "feed", feeds), ("fetches", "out", fetches), ("variables", "var", variables or {})
    for key, prefix, values in groups:
        for i, (name, value) in enumerate(values.items()):
            file = f"{prefix}_{i}.npy"
            arrays[file] = to_npy(name, value)
            case.setdefault(key, {})[name] = file
    for k, step in enumerate(steps, 1):
        case.setdefault("steps", []).append({})
        for key, prefix, values in zip(("feeds", "fetches"), ("feed", "out"), step):
            files = case["steps"][-1][key] = {}
            for i, (name, value) in enumerate(values.items()):
                files[name] = f"{prefix}_{k}_{i}.npy"
                arrays[files[name]] = to_npy(name, value)
    if init is not None and init.node:
        case["init"] = "init.pb"
    for name, file in case["fetches"].items():
        case["atol"][name] = atol_of(arrays[file], rtol) if atol is None else atol
    files = {"graph.pb": graph}
    if "init" in case:
        files[case["init"]] = init.SerializeToString(deterministic=True)
    files["case.json"] = (json.dumps(case, indent=1) + "\n").encode()
    try:
        if out.endswith(".zip") and not os.path.isdir(out):
            if os.path.exists(out) and not is_archive(out):
                raise CaptureError(f"{out}: is not a zip file: a new file or an older case was expected")
            with tempfile.TemporaryDirectory() as folder:
                write_files(folder, files, arrays)
                os.makedirs(os.path.dirname(os.path.abspath(out)), exist_ok=True)
                pack(folder, out)
        else:
            write_files(out, files, arrays)
    except OSError as e:
        raise CaptureError(f"{e.filename or out}: {e.strerror}") from e
    return case


def write_files(out, files, arrays):
    """Writes {name: bytes} and {name: array} into the folder `out`, in place of an older case there."""
    os.makedirs(out, exist_ok=True)
    there = os.listdir(out)
    if there and "case.json" not in there:
        raise CaptureError(f"{out}: contains other files and no case.json: a new folder or an older case was expected")
    for old in there:
        if re.fullmatch(r"(feed|out|var)_\d+(_\d+)?\.npy|init\.pb", old):
            os.remove(os.path.join(out, old))
    for file, a in arrays.items():
        np.save(os.path.join(out, file), a)
    for file, content in files.items():
        with open(os.path.join(out, file), "wb") as f:
            f.write(content)


def tensors_of(inputs, outputs):
    """"tensors" of case.json: one {key: tensor}, or one for feeds and one for fetches where both have a key."""
    shared = set(inputs) & set(outputs)
    return {"feeds": inputs, "fetches": outputs} if shared else {**inputs, **outputs}


def first_line(e):
    return (getattr(e, "message", None) or str(e) or type(e).__name__).strip().split("\n")[0]


def whole(e):
    """Returns TensorFlow's whole message, which may have many lines."""
    return (getattr(e, "message", None) or str(e) or type(e).__name__).strip()


def check_again(graph_def, steps, rtol, atol, variables=None, init=None, keys=None):
    """Runs all steps of the captured graph without the program, and compares with the program's results. `keys`: see write_case."""
    inputs, outputs = keys or ({}, {})
    try:
        with tf.Graph().as_default() as g, tf.compat.v1.Session(graph=g) as sess:
            tf.import_graph_def(graph_def, name="")
            state.prepare(sess, graph_def, variables or {}, init or tf.compat.v1.GraphDef())
            again = [sess.run([outputs.get(name, name) for name in fetches],
                              {inputs.get(name, name): value for name, value in feeds.items()}) for feeds, fetches in steps]
    except (tf.errors.OpError, ValueError, TypeError) as e:
        raise CaptureError(f"the captured graph does not run by itself: {whole(e)}") from e
    for (_, fetches), got in zip(steps, again):
        compare(fetches, got, rtol, atol)


def compare(fetches, again, rtol, atol):
    for (name, want), got in zip(fetches.items(), again):
        want, got = np.asarray(want), np.asarray(got)
        same = want.shape == got.shape and want.dtype == got.dtype
        if same and want.dtype.kind in "fc":
            same = np.allclose(got, want, rtol=rtol, atol=atol_of(want, rtol) if atol is None else atol, equal_nan=True)
        elif same:
            same = np.array_equal(got, want)
        if not same:
            raise CaptureError(f"output '{name}' differs when the graph is run again (random ops, or state?); "
                               "check=False (--no-check) captures it anyway")


def is_tensor_like(x):
    return isinstance(x, (np.ndarray, np.generic, tf.Tensor, tf.Variable))


def concrete(fn, args, kwargs):
    """Returns the trace of fn for these arguments, and the positional and keyword arguments as fn's parameters take them."""
    if isinstance(fn, tf.types.experimental.ConcreteFunction):
        return fn, args, kwargs
    if hasattr(fn, "predict_on_batch"):                       # a Keras model
        model, fn = fn, lambda x, *more, **k: model(x, *more, training=False, **k)
    elif not callable(fn):
        raise CaptureError(f"{type(fn).__name__} is not a function")
    f = fn if hasattr(fn, "get_concrete_function") else tf.function(fn)
    try:
        bound = inspect.signature(getattr(f, "python_function", fn)).bind(*args, **kwargs)
        args, kwargs = list(bound.args), bound.kwargs
    except (TypeError, ValueError) as e:
        raise CaptureError(f"the arguments do not fit: {first_line(e)}") from e
    spec = lambda x: tf.TensorSpec(np.shape(x), tf.as_dtype(x.dtype)) if is_tensor_like(x) else x
    try:
        cf = f.get_concrete_function(*tf.nest.map_structure(spec, args), **tf.nest.map_structure(spec, kwargs))
    except Exception as e:                                    # any exception of the user's code during tracing
        raise CaptureError(f"the function cannot be traced: {whole(e)}") from e
    return cf, args, kwargs


def with_value(captures):
    return {name: v for name, v in captures.items() if v.dtype not in (tf.resource, tf.variant)}


def frozen(cf, captures):
    """Returns outputs and GraphDef of cf with variables as constants, and {input name: captured value} of all other captures."""
    try:
        done = convert_to_constants.convert_variables_to_constants_v2(cf, lower_control_flow=False)
    except Exception as e:                                    # TensorFlow raises several types
        raise CaptureError(f"the variables cannot become constants: {whole(e)}; "
                           "freeze=False (--no-freeze) keeps them") from e
    for t in done.inputs:
        if t.dtype in (tf.resource, tf.variant):
            raise CaptureError(f"input '{t.name}' is a captured {t.dtype.name} that cannot become a constant")
    inputs = {t.op.name: i for i, t in enumerate(done.inputs)}
    graph = done.graph.as_graph_def()
    nodes = sorted(graph.node, key=lambda n: inputs.get(n.name, len(inputs)))   # TensorFlow's order comes from a hash set
    del graph.node[:]
    graph.node.extend(nodes)
    return done.outputs, graph, {name: v for name, v in with_value(captures).items() if name.split(":")[0] in inputs}


def kept(cf, captures, variables):
    """Returns the GraphDef of cf with its state as resources, and the graph that creates tables and iterators."""
    graph = cf.graph.as_graph_def()
    try:
        init = state.hold_captures(graph, captures, variables)
    except state.StateError as e:
        raise CaptureError(str(e)) from e
    state.keep_effects(graph, [t.name for t in cf.outputs], [o.name for o in cf.graph.control_outputs])
    return graph, init


def called(cf, args, kwargs):
    """Returns the results of cf as arrays."""
    tensors = tf.nest.map_structure(lambda v: tf.convert_to_tensor(v) if is_tensor_like(v) else v, [args, kwargs])
    try:
        results = cf(*tensors[0], **tensors[1])
    except (tf.errors.OpError, ValueError, TypeError) as e:
        raise CaptureError(f"the function fails: {whole(e)}") from e
    return [r for r in tf.nest.flatten(results, expand_composites=True) if r is not None]


def function(fn, args, out, kwargs=None, freeze=True, rtol=RTOL, atol=None, check=True, about=None, steps=()):
    """Captures fn(*args, **kwargs), called once, and then with the arguments of each of `steps`, which are like `args`.
    Arrays and tensors become feeds, other arguments part of the graph. A Keras model is called with training=False.
    Returns the contents of case.json."""
    args = list(args) if isinstance(args, (list, tuple)) else [args]
    cf, args, kwargs = concrete(fn, args, kwargs or {})
    calls = [(given if isinstance(given, (list, tuple)) else [given], kwargs) for given in (args, *steps)]
    return capture_calls(cf, calls, out, freeze, rtol, atol, check, about)


def capture_calls(cf, calls, out, freeze, rtol, atol, check, about, signature=None):
    """Captures cf, called with each (args, kwargs) of `calls` in order. `signature`: the signature of cf, if
    its keys name the feeds and fetches."""
    count = len(cf.inputs) - len(cf.captured_inputs)
    captures = {t.name: v for t, v in zip(cf.inputs[count:], cf.captured_inputs)}
    handles = {id(v.handle): v for v in cf.graph.variables if hasattr(v, "handle")}
    others = any(v.dtype == tf.resource and id(v) not in handles for v in captures.values())
    freeze = freeze and not others and not state.writes(cf.graph.as_graph_def())
    before = {name.split(":")[0]: handles[id(v)].numpy() for name, v in captures.items() if id(v) in handles}
    outputs, init = cf.outputs, None
    if freeze:
        outputs, graph, extra = frozen(cf, captures)
        before = {}
    else:
        graph, init = kept(cf, captures, handles)
        extra = with_value(captures)
    for t in outputs:
        if t.dtype in (tf.resource, tf.variant):
            raise CaptureError(f"output '{t.name}' is a {t.dtype.name}, which has no value to compare")
    inputs, fetched, keys = [t.name for t in cf.inputs[:count]], [t.name for t in outputs], None
    if signature is not None:
        # Arguments are in the function's keyword order, results in the order of the sorted keys.
        keys = dict(zip(cf._arg_keywords, inputs)), dict(zip(sorted(signature.outputs), fetched))
        inputs, fetched = list(keys[0]), list(keys[1])
    done = []
    for args, kwargs in calls:
        if keys:
            values = [kwargs[key] for key in inputs]
        else:
            values = [v for v in tf.nest.flatten([args, kwargs], expand_composites=True) if is_tensor_like(v)]
        if count != len(values):
            raise CaptureError(f"the function takes {count} tensors, but {len(values)} were given")
        feeds = {name: np.asarray(v) for name, v in zip(inputs, values)}
        feeds.update((name, v.numpy()) for name, v in extra.items())
        done.append((feeds, {name: r.numpy() for name, r in zip(fetched, called(cf, args, kwargs))}))
    if not done[0][1]:
        raise CaptureError("the function returns nothing to compare with")
    if check:
        check_again(graph, done, rtol, atol, before, init, keys)
    return write_case(out, graph, *done[0], rtol, atol, None if freeze else before, about, init, done[1:], keys)


def tensor_name(t):
    name = t if isinstance(t, str) else t.name
    return name if ":" in name else name + ":0"


def variable_values(sess, graph):
    """Returns {node: value} of the variables in graph; resources are read through a reader in the session's graph."""
    readers = {n.input[0]: n.name for n in sess.graph.as_graph_def().node if n.op == "ReadVariableOp"}
    tensors = {n.name: n.name for n in graph.node if n.op in ("Variable", "VariableV2")}
    tensors.update((n.name, readers[n.name]) for n in graph.node if n.op == "VarHandleOp" and n.name in readers)
    return sess.run({name: f"{t}:0" for name, t in tensors.items()})


def frozen_session(sess, graph, nodes):
    try:
        return convert_to_constants.convert_variables_to_constants_from_session_graph(sess, graph, nodes)
    except Exception as e:                                    # TensorFlow raises several types
        raise CaptureError(f"the variables cannot become constants: {whole(e)}; "
                           "freeze=False (--no-freeze) keeps them") from e


def session(sess, feeds, fetches, out, freeze=True, rtol=RTOL, atol=None, check=True, about=None, steps=(), keys=None):
    """Captures sess.run(fetches, feeds), run once, and then with each feeds of `steps`. Tensors are named or
    passed as objects; the graph is cut to what the fetches need. `keys`: two {key: tensor}, the inputs and outputs of a
    signature; the case then uses the keys. Returns the contents of case.json."""
    runs = [{tensor_name(k): np.asarray(v) for k, v in f.items()} for f in (feeds, *steps)]
    feeds = runs[0]
    names = [tensor_name(t) for t in ([fetches] if isinstance(fetches, str) or tf.is_tensor(fetches) else fetches)]
    nodes = [n.split(":")[0] for n in names]
    try:
        for n in [*feeds, *names]:
            sess.graph.get_tensor_by_name(n)
        graph = tf.compat.v1.graph_util.extract_sub_graph(sess.graph.as_graph_def(), nodes)
        before = variable_values(sess, graph)
        init, freeze = state.session_initializers(sess.graph.as_graph_def(), graph), freeze and not state.writes(graph)
        if freeze and before:
            graph, before = frozen_session(sess, graph, nodes), {}
        inside = {n.name for n in graph.node}
        runs = [{n: v for n, v in f.items() if n.split(":")[0] in inside} for f in runs]
        calls = [(f, dict(zip(names, sess.run(names, f)))) for f in runs]
        if keys:
            keys = {k: t for k, t in keys[0].items() if t in runs[0]}, keys[1]
            calls = [tuple({k: values[t] for k, t in of.items()} for of, values in zip(keys, call)) for call in calls]
    except KeyError as e:
        raise CaptureError(first_line(e).strip("\"'")) from e
    except (tf.errors.OpError, ValueError, TypeError) as e:
        raise CaptureError(f"the session fails: {whole(e)}") from e
    except state.StateError as e:
        raise CaptureError(str(e)) from e
    if check:
        check_again(graph, calls, rtol, atol, before, init, keys)
    return write_case(out, graph, *calls[0], rtol, atol, None if freeze else before, about, init, calls[1:], keys)


def random_feed(name, info, seed, dim):
    """Returns a random value with a signature input's dtype and shape; `dim` replaces each unknown dimension."""
    dtype = tf.as_dtype(info.dtype)
    if info.tensor_shape.unknown_rank or dtype in (tf.string, tf.resource, tf.variant):
        what = "of unknown shape" if info.tensor_shape.unknown_rank else f"a {dtype.name}"
        raise CaptureError(f"input '{name}' is {what}: pass it with --feed {name}=FILE.npy")
    shape = [d.size if d.size >= 0 else dim for d in info.tensor_shape.dim]
    r = np.random.RandomState(seed)
    if dtype.is_floating or dtype.is_complex:
        return r.rand(*shape).astype(dtype.as_numpy_dtype)
    return r.randint(0, 2 if dtype == tf.bool else 10, shape).astype(dtype.as_numpy_dtype)


def one_of(kind, name, names):
    if name not in names:
        raise CaptureError(f"no {kind} '{name}': there is " + (", ".join(sorted(names)) or "none"))
    return name


def values_of_inputs(signature, sig, feeds, seed, dim):
    """Returns {key: value} of all inputs; those missing in `feeds` are random."""
    for name in feeds:
        one_of(f"input of '{signature}' named", name, sig.inputs)
    values = {}
    for i, name in enumerate(sorted(sig.inputs)):
        values[name] = feeds[name] if name in feeds else random_feed(name, sig.inputs[name], seed + i, dim)
        dtype = tf.as_dtype(sig.inputs[name].dtype)
        if dtype != tf.string and np.asarray(values[name]).dtype != dtype.as_numpy_dtype:
            raise CaptureError(f"input '{name}' is {dtype.name}, but the given value is {np.asarray(values[name]).dtype}")
    return values


def keys_of(signature, sig):
    """Returns {key: tensor} of the inputs of a TF1 signature, and of its outputs."""
    inputs, outputs = ({k: t[k].name for k in sorted(t)} for t in (sig.inputs, sig.outputs))
    key_of = {}
    for key, tensor in inputs.items():
        if tensor in key_of:
            raise CaptureError(f"inputs '{key_of[tensor]}' and '{key}' of '{signature}' are the same tensor, '{tensor}'")
        key_of[tensor] = key
    return inputs, outputs


def saved_model(path, feeds, out, signature="serving_default", freeze=True, tags=None, seed=0, dim=1, rtol=RTOL, atol=None,
                check=True, about=None, steps=()):
    """Captures a signature; the feeds and fetches of the case are named by its keys. feeds: {key: value}; missing
    inputs get a random value from `seed`, with `dim` for unknown dimensions. `tags` selects the meta graph (default:
    the first). steps: feeds of further calls; inputs missing there keep their values. The other arguments are those
    of function()."""
    try:
        metas = loader_impl.parse_saved_model(path).meta_graphs
    except (OSError, tf.errors.OpError) as e:
        raise CaptureError(f"{path}: {first_line(e)}") from e
    by_tags = {",".join(sorted(m.meta_info_def.tags)): m for m in metas}
    wanted = ",".join(sorted(tags.split(",") if isinstance(tags, str) else tags)) if tags else next(iter(by_tags), "")
    meta = by_tags[one_of("meta graph with tags", wanted, by_tags)]
    sig = meta.signature_def[one_of("signature", signature, meta.signature_def)]
    for name, info in list(sig.inputs.items()) + list(sig.outputs.items()):
        if info.WhichOneof("encoding") != "name":
            raise CaptureError(f"'{name}' of '{signature}' is not one tensor")
    about = {**(about or {}), "signature": signature}
    if set(sig.inputs) - set(feeds):
        about["seed"] = seed
    calls = [values_of_inputs(signature, sig, feeds, seed, dim)]
    for step in steps:
        calls.append(values_of_inputs(signature, sig, {**calls[-1], **step}, seed, dim))
    if meta.HasField("object_graph_def"):                     # TF2
        loaded = tf.saved_model.load(path, tags=list(meta.meta_info_def.tags))
        calls = [([], {n: tf.constant(v, tf.as_dtype(sig.inputs[n].dtype)) for n, v in values.items()}) for values in calls]
        return capture_calls(loaded.signatures[signature], calls, out, freeze, rtol, atol, check, about, sig)
    keys = keys_of(signature, sig)
    with tf.Graph().as_default() as g, tf.compat.v1.Session(graph=g) as sess:
        tf.compat.v1.saved_model.load(sess, list(meta.meta_info_def.tags), path)
        first, *more = ({keys[0][n]: v for n, v in values.items()} for values in calls)
        return session(sess, first, list(keys[1].values()), out, freeze, rtol, atol, check, about, more, keys)


def main(argv=None):
    p = argparse.ArgumentParser(
        description="Makes a case folder from a signature of a SavedModel: its graph, inputs, and the outputs that "
        "TensorFlow computes for them.",
        epilog="example: capture.py model_dir --signature serving_default --feed x=x.npy --out case")
    p.add_argument("model", metavar="MODEL_DIR", help="folder of a SavedModel")
    p.add_argument("--signature", default="serving_default", help="default: serving_default")
    p.add_argument("--tags", help="tags of the meta graph, comma-separated; default: the first one")
    p.add_argument("--feed", action="append", default=[], metavar="NAME=FILE.npy",
                   help="an input; missing inputs get random values")
    p.add_argument("--seed", type=int, default=0, help="seed of random values; default: 0")
    p.add_argument("--dim", type=int, default=1, help="size of unknown dimensions of random values; default: 1")
    p.add_argument("--no-freeze", dest="freeze", action="store_false", help="keep variables as variables")
    p.add_argument("--no-check", dest="check", action="store_false", help="do not run the captured graph again")
    p.add_argument("--rtol", type=float, default=RTOL, help=f"default: {RTOL}")
    p.add_argument("--atol", type=float, help="absolute tolerance of every output; default: from its values")
    p.add_argument("-o", "--out", required=True, metavar="CASE",
                   help="the case folder to write, or a zip file if the name ends in .zip")
    a = p.parse_args(argv)
    tf.get_logger().setLevel("ERROR")
    try:
        feeds = {}
        for f in a.feed:
            name, found, file = f.partition("=")
            if not found:
                raise CaptureError(f"--feed {f}: expected NAME=FILE.npy")
            try:
                feeds[name] = np.load(file, allow_pickle=False)
            except (OSError, ValueError) as e:
                raise CaptureError(f"{file}: {first_line(e)}") from e
        case = saved_model(a.model, feeds, a.out, a.signature, a.freeze, a.tags, a.seed, a.dim,
                           rtol=a.rtol, atol=a.atol, check=a.check)
    except CaptureError as e:
        print(f"capture.py: {e}", file=sys.stderr)
        return 2
    random = f", random inputs from seed {case['seed']}" if "seed" in case else ""
    print(f"{a.out}: {case['nodes']} nodes, {len(case['feeds'])} feeds, {len(case['fetches'])} fetches{random}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
