"""Makes testdata/virtual_gpus/: cases of graphs for several GPUs, with the values of TensorFlow on a machine without one.

needs: tensorflow-cpu==2.21.0        usage: scripts/testdata_virtual_gpus.py [OUT_DIR [NAME...]]

Where a graph asks for GPUs, TensorFlow runs it with soft placement; `mirrored` is a step of a MirroredStrategy over logical CPUs.
"""
# mypy: ignore-errors
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
GRAPHS = {}


def graph(make):
    GRAPHS[make.__name__] = make
    return make


def floats(np, *shape, seed):
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype("f")


# A graph's function builds it, and returns the feeds by placeholder, and what to fetch.

@graph
def towers(tf, v, np):
    """Three replicas with one variable on the first GPU; what no GPU computes (strings, sizes) was asked for on GPUs as well"""
    x = v.placeholder(tf.float32, [6, 4], name="x")
    with tf.device("/GPU:0"):
        w = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[4, 3], shared_name="w", name="w")
        start = tf.raw_ops.AssignVariableOp(resource=w, value=floats(np, 4, 3, seed=1), name="start")
    losses = []
    for i, part in enumerate(tf.split(x, 3, name="parts")):
        with tf.device(f"/GPU:{i}"), v.name_scope(f"tower_{i}"), v.control_dependencies([start]):
            product = tf.matmul(part, tf.raw_ops.ReadVariableOp(resource=w, dtype=tf.float32), name="product")
            losses.append(tf.reduce_sum(tf.tanh(product), name="loss"))
    with tf.device("/GPU:2"):
        shown = tf.strings.as_string(tf.stack(losses, name="losses"), precision=3, name="shown")
        rows = tf.add(tf.shape(x, name="shape")[0], 1, name="rows")
    return {x: floats(np, 6, 4, seed=2)}, [tf.add_n(losses, name="loss"), shown, rows]


@graph
def functions(tf, v, np):
    """A call, a branch and a loop whose functions ask for GPUs, one of them a call that stays"""
    x = v.placeholder(tf.float32, [2], name="x")

    @tf.function(autograph=False, experimental_attributes={"_noinline": True})
    def stays(a):
        with tf.device("/device:GPU:1"):
            return tf.cos(a, name="cosine")

    @tf.function(autograph=False)
    def opened(a):
        with tf.device("/gpu:1"):
            return tf.sin(a, name="sine") + 1.0

    def body(i, acc):
        with tf.device("/gpu:1"):
            acc = tf.add(acc, 1.5, name="more")
        acc = tf.cond(tf.reduce_sum(acc) < 10.0, lambda: opened(acc) * 2.0, lambda: stays(acc))
        return i + 1, acc
    with tf.device("/gpu:0"):
        r = tf.while_loop(lambda i, acc: i < 6, body, [tf.constant(0), opened(x)])
    return {x: np.array([1.0, 2.0], "f")}, [tf.identity(r[1], name="out")]


@graph
def single_nodes(tf, v, np):
    """A loop of single nodes whose body is on two GPUs, in a branch of single nodes"""
    v.disable_control_flow_v2()
    x = v.placeholder(tf.float32, [2], name="x")

    def body(i, acc):
        with tf.device("/gpu:1"):
            acc = tf.multiply(acc, 0.5, name="half")
        with tf.device("/gpu:2"):
            acc = tf.add(acc, tf.cast(i, tf.float32), name="more")
        return tf.add(i, 1, name="next"), acc

    def loop():
        return v.while_loop(lambda i, acc: i < 5, body, [tf.constant(0), x], name="loop")[1]
    with tf.device("/gpu:0"):
        r = v.cond(tf.reduce_sum(x) > 1.0, loop, lambda: tf.negative(x), name="branch")
    return {x: np.array([1.0, 2.0], "f")}, [tf.identity(r, name="out")]


@graph
def mixed(tf, v, np):
    """Full and partial names, CPUs and GPUs, several dtypes, and a GPU that the list has not"""
    x, n = v.placeholder(tf.float64, [3], name="x"), v.placeholder(tf.int64, [3], name="n")
    with tf.device("/job:localhost/replica:0/task:0/device:GPU:1"):
        a = tf.sqrt(tf.abs(x, name="size"), name="root")
    with tf.device("/device:CPU:1"):
        b = tf.multiply(a, tf.cast(n, tf.float64), name="scaled")
    with tf.device("/GPU:7"):
        c = tf.cast(b, tf.float16, name="small")
    with tf.device("/GPU:0"):
        c = tf.add(c, 1, name="one_more")
        order = tf.argsort(b, name="order")
    with tf.device("/CPU:0"):
        fetches = [tf.cast(c, tf.float32, name="out"), tf.gather(n, order, name="sorted")]
    return {x: np.array([4.0, -9.0, 0.25]), n: np.array([3, -1, 7])}, fetches


@graph
def mirrored(tf, v, np):
    """A step of training by a MirroredStrategy over two logical CPUs: its variables, their update and the loss"""
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"], tf.distribute.HierarchicalCopyAllReduce())
    with strategy.scope():
        w = tf.Variable(floats(np, 4, 3, seed=3), name="w")
        b = tf.Variable(np.zeros(3, "f"), name="b")

    def replica(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.nn.relu(x @ w + b) - y))
        for variable, gradient in zip((w, b), tape.gradient(loss, (w, b))):
            variable.assign_sub(0.1 * tf.distribute.get_replica_context().all_reduce("mean", gradient))
        return loss

    @tf.function(input_signature=[tf.TensorSpec([4, 4], tf.float32), tf.TensorSpec([4, 3], tf.float32)])
    def step(x, y):
        def deal(t):
            return strategy.experimental_distribute_values_from_function(lambda c: t[2 * c.replica_id_in_sync_group:][:2])
        return strategy.reduce("sum", strategy.run(replica, [deal(x), deal(y)]), None)
    return step, [floats(np, 4, 4, seed=4), floats(np, 4, 3, seed=5)]


def save(name, folder):
    import capture
    import numpy as np
    import tensorflow as tf
    cpu, = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    v = tf.compat.v1
    if name == "mirrored":
        return capture.function(*GRAPHS[name](tf, v, np), str(folder))
    with v.Graph().as_default() as built:
        feeds, fetches = GRAPHS[name](tf, v, np)
        config = v.ConfigProto(device_count={"CPU": 2}, allow_soft_placement=True)
        with v.Session(graph=built, config=config) as session:
            values = dict(zip([tensor.name for tensor in fetches], session.run(fetches, feeds)))
    capture.write_case(str(folder), built.as_graph_def(), {tensor.name: value for tensor, value in feeds.items()}, values)


def readme(out):
    rows = [f"| `{name}` | {make.__doc__} |" for name, make in GRAPHS.items()]
    (out / "README.md").write_text("\n".join([
        "# Graphs for several GPUs", "",
        "Made by `scripts/testdata_virtual_gpus.py` with TensorFlow 2.21.0; do not edit by hand. Each folder is a case. TensorFlow computed",
        "the values on a machine without GPUs, with soft placement.", "", "| case | what it is |", "|---|---|", *rows, ""]))


def main(out=str(ROOT / "testdata" / "virtual_gpus"), *names):
    out = pathlib.Path(out)
    if names[:1] == ("--save",):
        save(names[1], out / names[1])
        return
    for name in names or GRAPHS:
        shutil.rmtree(out / name, ignore_errors=True)
        out.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, __file__, str(out), "--save", name], check=True)  # in a process of its own
    readme(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
