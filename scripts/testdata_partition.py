"""Makes testdata/partitions/: graphs that TensorFlow placed, and its partitions of them, one graph per device.

needs: tensorflow-cpu==2.21.0        usage: scripts/testdata_partition.py [OUT_DIR [GRAPH...]]

Each folder is a case folder: graph.pb (placed, before partitioning) with a value to feed and TensorFlow's result; and, for those
that are compared, one .pb per device, named after it. They are TensorFlow's dumps (before_opt_group_post_partitioning), without
attributes that only other passes added. `calls` and `signature` have placement.log, TensorFlow's lines: from a session for the
former, from the function called eagerly for the latter.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def edges(v, tf):
    """Values and control edges that cross, one value read twice."""
    x = v.placeholder(tf.float32, [2], name="x")
    with v.device("/cpu:0"):
        a = tf.add(x, 1.0, name="a")
        p = v.no_op(name="p")
    with v.device("/cpu:1"):
        with v.control_dependencies([p]):
            b = tf.multiply(a, 2.0, name="b")
            e = tf.subtract(a, 2.0, name="e")
        c = tf.multiply(a, 3.0, name="c")
    with v.device("/cpu:2"):
        with v.control_dependencies([b, p]):
            d = tf.add(c, e, name="d")
    with v.device("/cpu:0"):
        return tf.add(d, a, name="out")


def loop(v, tf):
    """A loop whose body is on another device."""
    x = v.placeholder(tf.float32, [2], name="x")

    def body(i, acc):
        with v.device("/cpu:1"):
            acc = tf.add(acc, 1.0, name="accadd")
        return tf.add(i, 1, name="inc"), acc
    with v.device("/cpu:0"):
        r = v.while_loop(lambda i, acc: tf.less(i, 3, name="less"), body, [tf.constant(0, name="i0"), x], name="loop")
    return tf.identity(r[1], name="out")


def loop_in_a_loop(v, tf):
    """A loop in a loop, three devices."""
    x = v.placeholder(tf.float32, [2], name="x")

    def inner(j, acc):
        with v.device("/cpu:2"):
            acc = tf.multiply(acc, 2.0, name="twice")
        return tf.add(j, 1, name="j_inc"), acc

    def outer(i, acc):
        with v.device("/cpu:1"):
            acc = tf.add(acc, 1.0, name="more")
        with v.device("/cpu:0"):
            r = v.while_loop(lambda j, acc: tf.less(j, i, name="j_less"), inner, [tf.constant(0, name="j0"), acc],
                             name="inner")
        return tf.add(i, 1, name="i_inc"), r[1]
    with v.device("/cpu:0"):
        r = v.while_loop(lambda i, acc: tf.less(i, 3, name="i_less"), outer, [tf.constant(0, name="i0"), x], name="outer")
    return tf.identity(r[1], name="out")


def branch(v, tf):
    """A v1 cond with a branch on another device."""
    x = v.placeholder(tf.float32, [2], name="x")
    with v.device("/cpu:0"):
        p = tf.less(tf.reduce_sum(x), 4.0, name="p")

        def other():
            with v.device("/cpu:1"):
                return tf.multiply(x, 3.0, name="thrice")
        r = v.cond(p, other, lambda: tf.negative(x, name="minus"), name="c")
    return tf.identity(r, name="out")


def far_ahead(v, tf):
    """A loop whose counter waits for nothing, while the work is on another device."""
    x = v.placeholder(tf.float32, [2], name="x")

    def body(i, acc):
        with v.device("/cpu:1"):
            acc = acc * 0.999 + 1.0
        return i + 1, acc
    with v.device("/cpu:0"):
        r = v.while_loop(lambda i, acc: i < 20000, body, [tf.constant(0), x], parallel_iterations=3, name="loop")
    return tf.identity(r[1], name="out")


def turns(v, tf):
    """Three devices that need each other's value in every iteration."""
    x = v.placeholder(tf.float32, [2], name="x")

    def body(i, acc):
        with v.device("/cpu:1"):
            acc = acc * 0.9
        with v.device("/cpu:2"):
            acc = acc + 1.0
        with v.device("/cpu:0"):
            return i + 1, tf.abs(acc)
    with v.device("/cpu:0"):
        r = v.while_loop(lambda i, acc: i < 2000, body, [tf.constant(0), x], name="loop")
    return tf.identity(r[1], name="out")


def dead_ends(v, tf):
    """Loops over devices in branches, one taken and one not; and in a loop a branch that is taken now and then."""
    x = v.placeholder(tf.float32, [2], name="x")

    def repeat(times, start):
        def body(i, acc):
            with v.device("/cpu:1"):
                more = tf.add(acc, 1.0)

            def thrice():
                with v.device("/cpu:2"):
                    return tf.multiply(more, 3.0)
            return i + 1, v.cond(tf.equal(i % 3, 1), thrice, lambda: tf.negative(more))
        with v.device("/cpu:0"):
            return v.while_loop(lambda i, acc: i < times, body, [tf.constant(0), start])[1]
    with v.device("/cpu:0"):
        small = tf.less(tf.reduce_sum(x), 4.0)
        a = v.cond(small, lambda: repeat(7, x), lambda: repeat(4, -x))
        b = v.cond(small, lambda: repeat(5, a), lambda: repeat(0, x))
        c = v.cond(small, lambda: tf.identity(b), lambda: repeat(2, b))
    with v.device("/cpu:1"):
        return tf.concat([a, b, c], 0, name="out")


def functions(v, tf):
    """A While, an If and a call whose functions ask for several devices, in one another."""
    x = v.placeholder(tf.float32, [2], name="x")

    @tf.function(autograph=False)
    def called(a, b):
        with tf.device("/cpu:1"):
            c = tf.multiply(a, b, name="c")
        with tf.device("/cpu:2"):
            return tf.subtract(c, 1.0, name="d")

    def small(acc):
        with tf.device("/cpu:2"):
            return tf.multiply(acc, -2.0, name="doubled")

    def body(i, acc):
        with tf.device("/cpu:1"):
            acc = tf.add(acc, 1.5, name="more")
        acc = tf.cond(tf.reduce_sum(acc) < 10.0, lambda: small(acc), lambda: called(acc, acc * 0.125))
        return i + 1, acc
    with tf.device("/cpu:0"):
        r = tf.while_loop(lambda i, acc: i < 20, body, [tf.constant(0), called(x, x)])
    return tf.identity(r[1], name="out")


def calls(v, tf):
    """Calls that stay, of functions over several devices, with an effect: in two places, from one another, in a loop."""
    x = v.placeholder(tf.float32, [2], name="x")
    stays = {"autograph": False, "experimental_attributes": {"_noinline": True}}
    with v.device("/cpu:1"):
        sum_of_all = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="sum")
        start = tf.raw_ops.AssignVariableOp(resource=sum_of_all, value=tf.zeros([2]))

    @tf.function(**stays)
    def counted(a):
        with tf.device("/cpu:2"):
            b = tf.multiply(a, 0.5, name="half")
        tf.raw_ops.AssignAddVariableOp(resource=sum_of_all, value=b)
        return tf.add(b, 1.0, name="more")

    @tf.function(**stays)
    def outer(a):
        with tf.device("/cpu:1"):
            c = tf.subtract(a, 1.0, name="less")
        return tf.multiply(counted(c), 3.0, name="thrice")

    with v.device("/cpu:0"), v.control_dependencies([start]):
        p = counted(x)
    with v.device("/cpu:1"), v.control_dependencies([p]):
        q = outer(p)
    with v.device("/cpu:0"), v.control_dependencies([q]):
        r = tf.while_loop(lambda i, acc: i < 5, lambda i, acc: (i + 1, counted(acc)), [tf.constant(0), q])
    with v.control_dependencies([r[1]]):
        total = tf.raw_ops.ReadVariableOp(resource=sum_of_all, dtype=tf.float32)
    return tf.concat([p, q, r[1], total], 0, name="out")


traced_eagerly = []  # a graph's own tracing gives other names


def signature(v, tf):
    """What a SavedModel's signature is: one call of a function, with calls, a branch and a loop over devices in it."""
    x = tf.constant([1.0, 2.0]) if tf.executing_eagerly() else v.placeholder(tf.float32, [2], name="x")

    @tf.function(autograph=False, experimental_attributes={"_noinline": True})
    def stays(a):
        with tf.device("/cpu:1"):
            return tf.cos(a, name="cosine")

    @tf.function(autograph=False)
    def opened(a):
        with tf.device("/cpu:2"):
            return tf.sin(a, name="sine") + 1.0

    @tf.function(autograph=False)
    def called(a):
        b = opened(a)
        b = tf.cond(tf.reduce_sum(b) > 2.0, lambda: tf.exp(b), lambda: tf.negative(b))

        def body(i, c):
            with tf.device("/cpu:1"):
                return i + 1, tf.sqrt(c + opened(c))
        return stays(tf.while_loop(lambda i, c: i < 3, body, [tf.constant(0), b])[1])
    if tf.executing_eagerly():
        traced_eagerly.append(called.get_concrete_function(tf.TensorSpec([2], tf.float32)))
    return traced_eagerly[0](x)


COMPARED = (edges, loop, loop_in_a_loop, branch)
AS_MADE = (functions, calls, signature)  # before TensorFlow inlines the calls
GRAPHS = COMPARED + (far_ahead, turns, dead_ends) + AS_MADE


def log_eagerly(v, tf):
    cpu, = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
    tf.debugging.set_log_device_placement(True)
    signature(v, tf)


def run(name, folder):
    """One graph in a process of its own: the numbers in names count on."""
    import numpy as np
    import tensorflow as tf
    v = tf.compat.v1
    if name == "signature":
        log_eagerly(v, tf)
    is_as_made = name in [g.__name__ for g in AS_MADE]
    if not is_as_made:
        v.disable_control_flow_v2()
    graph = v.Graph()
    with graph.as_default():
        out = {g.__name__: g for g in GRAPHS}[name](v, tf)
    config = v.ConfigProto(device_count={"CPU": 3}, log_device_placement=name == "calls")
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with v.Session(graph=graph, config=config) as session:
        fed = np.array([1.0, 2.0], np.float32)
        np.save(os.path.join(folder, "feed_0.npy"), fed)
        np.save(os.path.join(folder, "out_0.npy"), session.run(out, {graph.get_tensor_by_name("x:0"): fed}))
    if is_as_made:
        with open(os.path.join(folder, "graph.pb"), "wb") as f:
            f.write(graph.as_graph_def().SerializeToString(deterministic=True))
    with open(os.path.join(folder, "case.json"), "w") as f:
        feed = "x:0" if is_as_made else "_arg_x_0_0:0"
        json.dump({"feeds": {feed: "feed_0.npy"}, "fetches": {out.name: "out_0.npy"}, "rtol": 1e-4, "atol": 0}, f)
        f.write("\n")


def clean(path, to):
    from tensorflow.core.framework import graph_pb2
    graph = graph_pb2.GraphDef()
    with open(path, "rb") as f:
        graph.ParseFromString(f.read())
    for node in graph.node:
        for key in ("_XlaHasReferenceVars", "_has_manual_control_dependencies"):
            node.attr.pop(key, None)
    with open(to, "wb") as f:
        f.write(graph.SerializeToString(deterministic=True))


def main():
    if len(sys.argv) > 2 and sys.argv[1] == "--run":
        return run(sys.argv[2], sys.argv[3])
    out = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "testdata", "partitions"))
    for graph in GRAPHS:
        if len(sys.argv) > 2 and graph.__name__ not in sys.argv[2:]:
            continue
        folder = os.path.join(out, graph.__name__)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        with tempfile.TemporaryDirectory() as dumps:
            env = dict(os.environ, TF_DUMP_GRAPH_PREFIX=dumps, TF_DUMP_GRAPH_NAME_FILTER="*", TF_DUMP_GRAPH_FMT="BIN",
                       TF_CPP_MIN_LOG_LEVEL="3")
            command = [sys.executable, __file__, "--run", graph.__name__, folder]
            said = subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout
            placed, = glob.glob(os.path.join(dumps, "unknown_graph.*.after_opt_group_post_rewrite_for_exec.pb"))
            if graph not in AS_MADE:
                clean(placed, os.path.join(folder, "graph.pb"))
            lines = [line + "\n" for line in said.splitlines() if re.match(r"\S+: \(\w+\): /job:", line)]
            if graph is signature:  # what comes before is the argument, an eager constant
                lines = lines[[line.startswith("a: (_Arg)") for line in lines].index(True):]
            if lines:
                with open(os.path.join(folder, "placement.log"), "w") as f:
                    f.writelines(lines)
            for part in () if graph not in COMPARED else glob.glob(os.path.join(dumps, "*.0000.main.before_opt_group_post_partitioning.pb")):
                device = part.split("_device:")[1].split(".")[0].replace(":", "_").lower()
                clean(part, os.path.join(folder, device + ".pb"))
        print(f"{graph.__name__}: {graph.__doc__} {sorted(os.listdir(folder))}")


if __name__ == "__main__":
    main()
