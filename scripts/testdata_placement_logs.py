"""Makes testdata/placement_logs/: graphs that TensorFlow dumped, its logs of their placement, and what a reader should find.

needs: tensorflow-cpu==2.21.0        usage: scripts/testdata_placement_logs.py [OUT_DIR [KIND...]]

Each folder has a graph, placement.log, and case.json with the flags and the expected result: the nodes that the log names, with
device and line, what happened to the others, and the lines that cannot be read. It is derived from TensorFlow's dumps before and
after placement, by names alone, and from the numbers of the log's lines. Logs of TensorFlow 1 and of containers are session logs,
rewritten in the form of the public logs of those versions.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


# Programs. Each program traces and calls the functions that it is about.
def mlp(tf):
    w, b, v = (tf.Variable(tf.ones(s)) for s in ([7, 5], [5], [5, 2]))

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.matmul(tf.nn.relu(tf.matmul(x, w) + b), v) - y) ** 2) / 3.0
        for variable, grad in zip([w, b, v], tape.gradient(loss, [w, b, v])):
            variable.assign_sub(0.1 * grad)
        return loss

    step(tf.ones([3, 7]), tf.ones([3, 2]))


def rnn(tf):
    w = tf.Variable(tf.ones([4, 4]))

    @tf.function
    def recur(x):
        h = tf.zeros([2, 4])
        for t in range(5):
            h = tf.tanh(tf.matmul(x[:, t], w) + h / 2.0)
        return h

    recur(tf.ones([2, 5, 4]))


def layer_norm(tf):
    @tf.function
    def normalize(x):
        mean = tf.reduce_mean(x, -1, keepdims=True)
        return (x - mean) / tf.sqrt(tf.reduce_mean((x - mean) ** 2, -1, keepdims=True) + 1e-3)

    @tf.function
    def twice(x):
        return normalize(normalize(x)) / 4.0

    twice(tf.ones([3, 6], tf.float64))


def whole_numbers(tf):
    @tf.function
    def count(x):
        shape = tf.shape(tf.zeros([4, 3]))
        return tf.cast(x, tf.int64) * 1 + tf.cast(tf.reduce_prod(shape), tf.int64) + 0

    count(tf.constant([1, 2], tf.int32))


def images(tf):
    k = tf.Variable(tf.ones([3, 3, 1, 2]))
    bias = tf.Variable(tf.zeros([2]))

    @tf.function
    def convolve(picture):
        return tf.reduce_max(tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(picture, k, 1, "SAME"), bias)), [1, 2]) / 255.0

    convolve(tf.ones([1, 6, 6, 1]))


class Tower:
    def __init__(self, tf, device):
        self.device = device

        @tf.function
        def tower(x):
            with tf.device(self.device):
                return tf.nn.softmax(tf.matmul(x, x) * 2.0)

        self.tower = tower


def towers(tf):
    for device in ("/cpu:1", "/cpu:2", "/cpu:0"):
        Tower(tf, device).tower(tf.ones([2, 2]))


def dtypes(tf):
    @tf.function
    def scale(x):
        return tf.reduce_sum(tf.tanh(x) * tf.cast(3, x.dtype))

    for dtype in (tf.float32, tf.float64, tf.bfloat16):
        scale(tf.ones([3], dtype))


def shapes(tf):
    @tf.function
    def mean(rows):
        with tf.device(f"/cpu:{rows.shape[0] % 3}"):
            return tf.reduce_mean(rows, 0) + 1.0

    for size in (2, 4, 3):
        mean(tf.ones([size, 2]))


def table(tf):
    with tf.device("/cpu:1"):
        weights = tf.Variable(tf.ones([9, 3]), name="embedding")

    @tf.function
    def look_up(ids):
        with tf.device("/cpu:3"):
            found = tf.nn.embedding_lookup(weights, ids)
        with tf.device("/cpu:2"):
            return tf.reduce_sum(found, 1)

    look_up(tf.constant([1, 4]))


def counter(tf):
    with tf.device("/cpu:2"):
        total = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def add(step):
        with tf.device("/cpu:1"):
            doubled = step * 2
        return total.assign_add(doubled)

    add(tf.constant(3, tf.int64))


def two_arguments(tf):
    @tf.function
    def join(left, right):
        with tf.device("/cpu:3"):
            both = tf.concat([left, right], 0)
        with tf.device("/cpu:1"):
            size = tf.size(both)
        return both, size

    with tf.device("/cpu:2"):
        right = tf.ones([3])
    join(tf.ones([2]), right)


def words(tf):
    @tf.function
    def shout(text):
        with tf.device("/cpu:2"):
            upper = tf.strings.upper(text)
        return tf.strings.length(upper), upper

    shout(tf.constant(["a", "bc"]))


def branches(tf):
    scale = tf.Variable(2.0)

    @tf.function
    def choose(flag, x):
        with tf.device("/cpu:1"):
            return tf.cond(flag, lambda: x * scale, lambda: tf.exp(x))

    choose(tf.constant(True), tf.ones([2]))


def session(tf):
    v1 = tf.compat.v1
    v1.disable_eager_execution()
    x = v1.placeholder(tf.float32, [None, 4], name="features")
    with v1.variable_scope("layer"):
        w = v1.get_variable("kernel", [4, 2], use_resource=True)
        y = tf.nn.sigmoid(tf.matmul(x, w), name="scores")
    with tf.device("/cpu:1"):
        tf.reduce_max(y, name="best")
    path = os.environ["GRAPH_OUT"]
    with open(path, "wb") as file:
        file.write(v1.get_default_graph().as_graph_def().SerializeToString())
    with v1.Session(config=v1.ConfigProto(log_device_placement=True, device_count={"CPU": 2})) as run:
        run.run(v1.global_variables_initializer())


PROGRAMS = {f.__name__: f for f in (mlp, rnn, layer_norm, whole_numbers, images, towers, dtypes, shapes, table, counter, two_arguments,
                                    words, branches, session)}


def run_program(name, devices, folder, onednn="0"):
    """The log and the dumps of a program, run in a separate process."""
    dumps = os.path.join(folder, name)
    os.makedirs(dumps, exist_ok=True)
    env = os.environ | {"TF_DUMP_GRAPH_PREFIX": dumps, "TF_DUMP_GRAPH_NAME_FILTER": "*", "TF_ENABLE_ONEDNN_OPTS": onednn,
                        "CUDA_VISIBLE_DEVICES": "", "GRAPH_OUT": os.path.join(dumps, "session.pb")}
    done = subprocess.run([sys.executable, __file__, "--run", name, str(devices)], env=env, check=True, capture_output=True, text=True)
    return dumps, [line for line in done.stderr.splitlines() if "placer.cc:" in line or "execute.cc:" in line]


def run_here(name, devices):
    import tensorflow as tf
    tf.debugging.set_log_device_placement(True)
    if name != "session":  # which has a configuration of its own
        tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0],
                                                   [tf.config.LogicalDeviceConfiguration()] * devices)
    PROGRAMS[name](tf)


def read_graph(path):
    from google.protobuf import text_format
    from tensorflow.core.framework import graph_pb2
    with open(path, encoding="utf-8") as file:
        return text_format.Parse(file.read(), graph_pb2.GraphDef())


def dump_of(dumps, function, stage, number=0):
    found = [path for path in glob.glob(os.path.join(dumps, f"*.main.{stage}.pbtxt"))
             if re.match(rf"__inference_{function}_\d+\.", os.path.basename(path))]
    return sorted(found, key=lambda path: int(re.search(r"_(\d+)\.\d{4}\.", path)[1]))[number]


def placed_lines(log, function):
    """By function of that name, in order: {node: (line, op, device)} of the lines that belong to each call's first execution."""
    graphs, at = [], {}
    for number, line in enumerate(log, 1):
        ran = re.search(r"Executing op (\S+) in", line)
        node = re.search(r"placer\.cc:\d+\] (\S+): \((\w+)\): (\S+)", line)
        if node:
            at[node[1]] = (number, node[2], node[3])
        elif ran:
            if at and re.fullmatch(rf"__inference_{function}_\d+", ran[1]):
                graphs.append(at)
            at = {}
    return graphs


def write(out, name, graph, log, flags, expect, graph_name="graph.pbtxt"):
    folder = os.path.join(out, name)
    os.makedirs(folder, exist_ok=True)
    if isinstance(graph, bytes):
        with open(os.path.join(folder, graph_name), "wb") as file:
            file.write(graph)
    else:
        for node in graph.node:  # which lines of a program made it: paths of this machine
            node.ClearField("experimental_debug_info")
        graph.ClearField("debug_info")
        with open(os.path.join(folder, graph_name), "wb") as file:
            file.write(graph.SerializeToString(deterministic=True))
    with open(os.path.join(folder, "placement.log"), "w", encoding="utf-8", newline="") as file:
        file.write(log if isinstance(log, str) else "".join(line + "\n" for line in log))
    with open(os.path.join(folder, "case.json"), "w", encoding="utf-8") as file:
        json.dump({"graph": graph_name, "flags": flags, "expect": expect}, file, indent=1)
        file.write("\n")


def told(graph, lines):
    """What a reader should find of a graph, of which `lines` are the log's own."""
    nodes, same, changed, unknown = {}, 0, {}, []
    for node in graph.node:
        line = lines.get(node.name)
        if not line:
            unknown.append(node.name)
            continue
        nodes[node.name] = [line[2], line[0]]
        same += line[1] == node.op
        if line[1] != node.op:
            changed[node.name] = line[1]
    gone = [name for name in lines if name not in {node.name for node in graph.node}]
    return {"nodes": nodes, "same_op": same, "changed": changed, "unknown": unknown, "gone": len(gone)}


def make_rewriting(out, folder):
    for name, program, function, onednn in (("rewritten_mlp", "mlp", "step", "1"), ("rewritten_rnn", "rnn", "recur", "0"),
                                            ("rewritten_norm", "layer_norm", "twice", "0"),
                                            ("rewritten_count", "whole_numbers", "count", "0"),
                                            ("rewritten_image", "images", "convolve", "1")):
        dumps, log = run_program(program, 1, folder, onednn)
        graph = read_graph(dump_of(dumps, function, "after_graph_optimization"))
        write(out, name, graph, log, ["--devices", "cpu:1"], told(graph, placed_lines(log, function)[-1]), "graph.pb")


def make_traces(out, folder):
    for name, program, function, number, count in (("trace_tower_2", "towers", "tower", 1, 3), ("trace_tower_3", "towers", "tower", 2, 3),
                                                   ("trace_dtype", "dtypes", "scale", 1, 3), ("trace_shape", "shapes", "mean", 1, 3),
                                                   ("trace_shape_3", "shapes", "mean", 2, 3)):
        dumps, log = run_program(program, 3, folder)
        path = dump_of(dumps, function, "before_graph_optimization", number)
        graph = read_graph(path)
        traces = placed_lines(log, function)
        assert len(traces) == count
        expect = told(graph, traces[number]) | {"rivals": count - 1}
        title = re.match(r"__inference_(\w+_\d+)\.", os.path.basename(path))[1]
        write(out, name, graph, log, ["--devices", "cpu:3"], expect, title + ".pb")


def make_arguments(out, folder):
    for program, function in (("table", "look_up"), ("counter", "add"), ("two_arguments", "join"), ("words", "shout"), ("branches", "choose")):
        dumps, log = run_program(program, 4, folder)
        graph = read_graph(dump_of(dumps, function, "initial"))
        lines = placed_lines(log, function)[-1]
        expect = {"placements": {node: line[2] for node, line in lines.items()}}
        if program != "branches":  # whose nodes are inlined: TensorFlow numbers them differently
            expect |= told(graph, lines)
        else:
            expect["placements"] = {node: expect["placements"][node] for node in lines if "/_" not in node}
        expect["default"] = {node.name: "/job:localhost/replica:0/task:0/device:CPU:0" for node in graph.node if node.op == "_Arg"}
        expect["assumed"] = [node.name for node in graph.node if node.op == "_Arg"]
        write(out, "arguments_" + program, graph, log, ["--devices", "cpu:4"], expect, "graph.pb")


def make_cut(out, folder):
    dumps, log = run_program("mlp", 1, folder, "0")
    graph = read_graph(dump_of(dumps, "step", "before_graph_optimization"))
    lines = placed_lines(log, "step")[-1]
    order = sorted(lines, key=lambda node: lines[node][0])
    first = lines[order[0]][0]

    def cut(name, text, lost, extra):
        kept = {node: line for node, line in lines.items() if node not in lost}
        write(out, name, graph, text, ["--devices", "cpu:1"], told(graph, kept) | extra, "graph.pb")

    last = lines[order[20]][0]
    text = "".join(line + "\n" for line in log[:last - 1])
    cut("cut_in_device", text + log[last - 1][:-12], order[20:], {"cut": [last, order[20]]})
    cut("cut_in_name", text + log[last - 1][:log[last - 1].index("] ") + 2 + len(order[20]) - 1], order[20:], {"cut": [last, None]})
    # Text of another thread interrupts a line; the rest of the line comes later.
    at = first + 7
    whole = log[at - 1]
    mixed = log[:at - 1] + [whole[:-20] + "Epoch 1/5", whole[-20:]] + log[at:]
    shifted = {node: (line[0] + (line[0] > at), line[1], line[2]) for node, line in lines.items()}
    joined = {node: (at if line[0] == at + 1 else line[0], line[1], line[2]) for node, line in lines.items()}
    for name, mix, lost in (("cut_by_text", mixed, order[7:8]),
                            ("cut_by_line", log[:at - 1] + [whole[:-20] + log[at], whole[-20:]] + log[at + 1:], order[7:8])):
        kept = {node: line for node, line in (joined if name == "cut_by_line" else shifted).items() if node not in lost}
        write(out, name, graph, mix, ["--devices", "cpu:1"], told(graph, kept) | {"unreadable": [at]}, "graph.pb")
    # A thread id that does not occur elsewhere: two threads that alternate line by line.
    other = [line.replace(re.search(r" (\d+) placer", line)[1], "4711") if "placer.cc" in line else line for line in log[first - 1:first + 30]]
    woven = log[:first - 1]
    numbers = {}
    for i, line in enumerate(log[first - 1:]):
        woven.append(line)
        numbers[first + i] = len(woven)
        if i < len(other):
            woven.append(other[i].replace("device:CPU:0", "device:GPU:-1" if i == 3 else "device:CPU:0"))
    kept = {node: (numbers[line[0]], line[1], line[2]) for node, line in lines.items()}
    write(out, "cut_by_thread", graph, woven, ["--devices", "cpu:1"],
          told(graph, kept) | {"unreadable": [numbers[first + 3] + 1]}, "graph.pb")


def old_forms():
    """By name: a line of a node in the form of an old TensorFlow or a container, and whether devices are spelled the old way."""
    prefix = "I tensorflow/core/common_runtime/simple_placer.cc"
    stamp = "2018-11-05T09:12:44.123456789Z"
    return {
        "tf1_012": (lambda n, o, d: f"{n}: {d}", True),
        "tf1_10": (lambda n, o, d: f"{prefix}:827] {n}: ({o}){d}", True),
        "tf1_113": (lambda n, o, d: f"2019-03-01 10:00:00.000001: I tensorflow/core/common_runtime/placer.cc:1059] {n}: ({o}){d}", False),
        "tf1_docker": (lambda n, o, d: json.dumps({"log": f"2018-11-05 09:12:44.1: I tensorflow/core/common_runtime/placer.cc:922] "
                                                          f"{n}: ({o}){d}\n", "stream": "stderr", "time": stamp}), False),
        "tf1_kubernetes": (lambda n, o, d: f"{stamp} stderr F {prefix}:874] {n}: ({o}){d}", True),
    }


def make_old(out, folder):
    dumps, log = run_program("session", 2, folder)
    with open(os.path.join(dumps, "session.pb"), "rb") as file:
        from tensorflow.core.framework import graph_pb2
        graph = graph_pb2.GraphDef.FromString(file.read())
    nodes = [re.search(r"placer\.cc:\d+\] (\S+): \((\w+)\): (\S+)", line) for line in log]
    for name, (line_of, is_old) in old_forms().items():
        lines, expected = ["Device mapping: no known devices."], {}
        for node in filter(None, nodes):
            device = node[3].replace("/device:CPU:", "/cpu:") if is_old else node[3]
            lines.append(line_of(node[1], node[2], device))
            expected[node[1]] = (len(lines), node[2], node[3])
        write(out, name, graph, lines, ["--devices", "cpu:2"], told(graph, expected), "graph.pb")


KINDS = {"rewriting": make_rewriting, "traces": make_traces, "arguments": make_arguments, "cut": make_cut, "old": make_old}


def main():
    if sys.argv[1:2] == ["--run"]:
        return run_here(sys.argv[2], int(sys.argv[3]))
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "testdata", "placement_logs")
    with tempfile.TemporaryDirectory() as folder:
        for kind, make in KINDS.items():
            if len(sys.argv) < 3 or kind in sys.argv[2:]:
                make(out, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
