"""Random graphs, placed on a CPU and two GPUs by TensorFlow's CUDA build (cuda_placer.py) and by `grapnel place`.

usage: gpu_placement_fuzz.py [--kernels NAME] [--keep FOLDER] SEED COUNT
Runs in the environment of one version of TensorFlow (scripts/make_kernel_table.py makes them); --kernels is grapnel's name of it.

Half of each graph is nodes of any op of the registry with dtypes as they come, their inputs placeholders or each other; the other half
is what people build: shape arithmetic, variables, embeddings, optimizers, branches, loops, queues, datasets, requests for devices,
colocation. Even seeds are placed soft. Two placements agree when every node is on the same device, or both are refused.
The last line: 'N graphs: S the same (R refused by both), D differ (X of Y nodes agree)'. Exit 1 when one differs.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cuda_placer import CudaPlacer
import tensorflow.compat.v1 as tf
from tensorflow.core.framework import attr_value_pb2, op_def_pb2, types_pb2
from tensorflow.python.client import pywrap_tf_session
from tensorflow.python.framework import kernels

GRAPNEL = os.environ.get("GRAPNEL", "build/release/bin/grapnel")
REQUESTS = (None,) * 8 + ("/gpu:0", "/gpu:1", "/cpu:0", "/device:GPU:*", "/job:localhost/task:1", "/job:localhost", "/gpu:7",
                          "/job:localhost/replica:0/task:0/device:CPU:0", "/job:localhost/replica:0/task:1/device:GPU:1")
TYPES = [tf.float32] * 4 + [tf.int32] * 4 + [tf.float64, tf.float16, tf.bfloat16, tf.int64, tf.int64, tf.int8, tf.uint8, tf.int16, tf.bool,
                                             tf.string, tf.complex64, tf.uint16, tf.uint32, tf.uint64]
# Ops that TensorFlow itself takes apart, joins or refuses before it places.
LEFT_OUT = {"_Arg", "_Retval", "_Send", "_Recv", "_HostSend", "_HostRecv", "ParallelConcat", "AccumulateNV2", "Switch", "Merge", "Enter",
            "Exit", "NextIteration", "LoopCond", "RefEnter", "RefExit", "RefNextIteration", "RefSwitch", "RefMerge", "Placeholder"}


def ops_of_registry():
    ops = op_def_pb2.OpList.FromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList())).op
    placed = {k.op for k in kernels.get_all_registered_kernels().kernel if k.device_type in ("CPU", "GPU", "DEFAULT")}
    return [op for op in ops if op.name in placed and op.name not in LEFT_OUT and not op.name.startswith("_") and
            not any("func" in attr.type for attr in op.attr)]


def random_type(r, allowed):
    known = [t for t in TYPES if not allowed or t.as_datatype_enum in allowed]
    return r.choice(known) if known else tf.as_dtype(r.choice(list(allowed)))


def random_attr(r, attr, value):
    """Fills `value`; False where nothing sensible can be made up."""
    allowed = attr.allowed_values.list
    kind, minimum = attr.type, attr.minimum if attr.has_minimum else 1
    if kind == "type":
        value.type = random_type(r, list(allowed.type)).as_datatype_enum
    elif kind == "list(type)":
        for _ in range(max(minimum, r.randint(1, 2))):
            value.list.type.append(random_type(r, list(allowed.type)).as_datatype_enum)
    elif attr.HasField("default_value"):
        value.CopyFrom(attr.default_value)
    elif kind == "int":
        value.i = max(minimum, r.randint(1, 2))
    elif kind == "bool":
        value.b = r.random() < .5
    elif kind == "float":
        value.f = 1.
    elif kind == "string":
        value.s = r.choice(list(allowed.s)) if allowed.s else b"text"
    elif kind == "shape":
        value.shape.unknown_rank = True
    elif kind == "list(int)":
        value.list.i.extend([1] * max(minimum, 4))
    elif kind == "list(string)":
        value.list.s.extend([b"text"] * max(minimum, 1))
    elif kind == "list(shape)":
        value.list.shape.add().unknown_rank = True
    else:
        return False
    return True


def has_kernel(op, attrs):
    """Whether a kernel on the CPU or a GPU takes the attributes; nearly all graphs are to be placed, not refused."""
    def takes(kernel):
        for constraint in kernel.constraint:
            allowed, value = constraint.allowed_values.list, attrs.get(constraint.name)
            if value is None or (allowed.type and not set(value.list.type or [value.type]) <= set(allowed.type)):
                return False
        return not kernel.label and kernel.device_type in ("CPU", "GPU", "DEFAULT")
    return any(takes(kernel) for kernel in kernels.get_registered_kernels_for_op(op.name).kernel)


class Builder:
    def __init__(self, r, ops):
        self.r, self.ops, self.pool, self.variables = r, ops, [], []

    def tensor(self, dtype):
        """One of the dtype: a placeholder, a constant, or what an earlier node gives."""
        there = [t for t in self.pool if t.dtype == dtype]
        if there and self.r.random() < .6:
            return self.r.choice(there)
        base = dtype.base_dtype
        if dtype != base:
            return None if base.name in ("resource", "variant") else tf.Variable(tf.zeros([2], base), use_resource=False)._variable
        return tf.placeholder(dtype)

    def any_op(self):
        """A node of any op; None where one that TensorFlow takes could not be made."""
        op = self.r.choice(self.ops)
        for _ in range(6):
            attrs = {}
            for attr in op.attr:
                attrs[attr.name] = attr_value_pb2.AttrValue()
                if not random_attr(self.r, attr, attrs[attr.name]):
                    return None
            if has_kernel(op, attrs) or self.r.random() < .02:
                break
        else:
            return None
        inputs = []
        for arg in op.input_arg:
            if arg.type_list_attr:
                types = list(attrs[arg.type_list_attr].list.type)
            else:
                types = [attrs[arg.type_attr].type if arg.type_attr else arg.type]
                types *= attrs[arg.number_attr].i if arg.number_attr else 1
            for number in types:
                dtype = tf.as_dtype(number + 100 if arg.is_ref else number)
                found = self.tensor(dtype)
                if found is None:
                    return None
                inputs.append(found)
        try:
            made = tf.get_default_graph().create_op(op.name, inputs, attrs=attrs, name=op.name)
        except (ValueError, TypeError, RuntimeError, tf.errors.OpError):
            return None
        return made.outputs

    def float_matrix(self):
        there = [t for t in self.pool if t.dtype == tf.float32 and t.shape.rank == 2 and t.shape.as_list() == [4, 4]]
        return self.r.choice(there) if there else tf.placeholder(tf.float32, [4, 4])

    def variable(self, dtype=tf.float32, rows=4):
        made = tf.get_variable(f"v{len(self.variables)}", [rows, 4], dtype, tf.zeros_initializer(), use_resource=self.r.random() < .5)
        self.variables.append(made)
        return made

    def built(self):
        r, x = self.r, self.float_matrix()
        what = r.randrange(16)
        if what == 0:  # Flatten
            shape = tf.shape(x, out_type=r.choice([tf.int32, tf.int64]))
            return [tf.reshape(x, tf.stack([shape[0] * shape[1]])), shape]
        if what == 1:  # a dense layer on three dimensions
            x3 = tf.placeholder(tf.float32, [None, None, 4])
            return [tf.tensordot(x3, self.variable(), [[2], [0]])]
        if what == 2:
            ids = tf.placeholder(r.choice([tf.int32, tf.int64]), [None])
            return [tf.nn.embedding_lookup(self.variable(rows=r.choice([10, 50])), ids)]
        if what == 3:
            return [tf.identity(r.choice([tf.assign, tf.assign_add, tf.assign_sub])(self.variable(), x))]
        if what == 4:
            with tf.device(r.choice(REQUESTS)):
                return [tf.nn.relu(x), tf.matmul(x, self.variable())]
        if what == 5:
            z = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.nn.relu(x), lambda: (tf.as_string(x), tf.tanh(x))[1])
            return [z]
        if what == 6:
            return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.matmul(y, x)), [tf.constant(0, r.choice([tf.int32, tf.int64])), x])
        if what == 7:
            queue = tf.FIFOQueue(4, [tf.float32], [[4, 4]])
            queue.enqueue([x])
            return [queue.dequeue()]
        if what == 8:
            y = tf.nn.sigmoid(x)
            y.op._set_attr("_class", attr_value_pb2.AttrValue(list=attr_value_pb2.AttrValue.ListValue(s=[b"loc:@" + x.op.name.encode()])))
            return [y]
        if what == 9:
            with tf.colocate_with(x):
                return [tf.as_string(x) if r.random() < .5 else tf.exp(x)]
        if what == 10:
            data = tf.data.Dataset.from_tensor_slices(tf.ones([8, 4, 4])).batch(1).repeat()
            return [tf.reshape(tf.data.make_one_shot_iterator(data).get_next(), [4, 4])] if r.random() < .5 else [
                tf.reshape(tf.data.make_initializable_iterator(data).get_next(), [4, 4])]
        if what == 11:
            array = tf.TensorArray(tf.float32, 2).write(0, x).write(1, x)
            return [array.read(r.randrange(2)), array.stack()]
        if what == 12:
            sparse = tf.SparseTensor(tf.placeholder(tf.int64, [None, 2]), tf.placeholder(tf.float32, [None]), [4, 4])
            return [tf.sparse_tensor_dense_matmul(sparse, x), tf.sparse_reduce_sum(sparse)]
        if what == 13:
            table = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(tf.constant(["a", "b"]), tf.constant([0, 1], tf.int64)), 1)
            return [tf.one_hot(table.lookup(tf.placeholder(tf.string, [None])), 4)]
        if what == 14:
            parts = tf.split(x, [1, 3], r.choice([0, 1]))
            i = tf.range(tf.size(x))
            return [parts[0], tf.reverse(i, [0]), tf.cumsum(i), tf.gather(i, i % 3), tf.cast(i, tf.float32)]
        with tf.control_dependencies([x]):
            return [tf.random_uniform(tf.shape(x)), tf.identity(x)]

    def train(self):
        r = self.r
        optimizer = r.choice([lambda: tf.train.GradientDescentOptimizer(.1), lambda: tf.train.MomentumOptimizer(.1, .9, use_nesterov=True),
                              lambda: tf.train.AdamOptimizer(), lambda: tf.train.FtrlOptimizer(.1), lambda: tf.train.AdagradOptimizer(.1),
                              lambda: tf.train.RMSPropOptimizer(.1, centered=True), lambda: tf.train.AdadeltaOptimizer(),
                              lambda: tf.train.ProximalAdagradOptimizer(.1)])()
        loss = tf.add_n([tf.reduce_sum(tf.square(tf.cast(t, tf.float32))) for t in self.pool[-6:] if t.dtype.is_floating] +
                        [tf.reduce_sum(tf.nn.embedding_lookup(v, [0, 1])) for v in self.variables if v.dtype.base_dtype == tf.float32])
        try:
            optimizer.minimize(loss)
        except (ValueError, LookupError, TypeError):
            pass  # a node without a gradient lies on the way

    def build(self, size):
        while len(self.pool) < size:
            with tf.device(self.r.choice(REQUESTS) if self.r.random() < .3 else None):
                made = self.any_op() if self.r.random() < .5 else self.built()
            self.pool += [t for t in made or [] if isinstance(t, tf.Tensor)]
        if self.variables and self.r.random() < .6:
            self.train()


def grapnel_places(graph, devices, soft, names):
    with tempfile.NamedTemporaryFile(suffix=".pb") as file:
        file.write(graph.as_graph_def().SerializeToString())
        file.flush()
        done = subprocess.run([GRAPNEL, "place", file.name, "--devices", ",".join(devices), "--kernels", names, "--json"] +
                              ([] if soft else ["--hard"]), capture_output=True, text=True, timeout=120)
    try:
        said = json.loads(done.stdout)
    except ValueError:
        return {}, done.stderr.strip() or f"exit code {done.returncode}"
    return said["placements"], said["error"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--kernels", default="tensorflow")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for graphs that differ")
    flags = parser.parse_args()
    tf.disable_eager_execution()
    placer, ops = CudaPlacer(), ops_of_registry()
    same = refused = right = nodes = 0
    for seed in range(flags.seed, flags.seed + flags.count):
        r, soft = random.Random(seed), seed % 2 == 0
        (tf.disable_control_flow_v2 if r.random() < .5 else tf.enable_control_flow_v2)()
        with tf.Graph().as_default() as graph:
            Builder(r, ops).build(10 + seed % 40)
        want, error = placer.place(graph, soft)
        got, own_error = grapnel_places(graph, placer.devices, soft, flags.kernels)
        bad = [f"{name} {device[-5:]}/{got.get(name, 'none')[-5:]}" for name, device in want.items() if got.get(name) != device]
        if bool(error) != bool(own_error):
            print(f"seed {seed}: TensorFlow: {(error or 'places it')[:300]!r}; grapnel: {(own_error or 'places it')[:300]!r}", flush=True)
        elif bad or not (want or error):
            print(f"seed {seed}: {len(bad)} of {len(want)} nodes: {', '.join(bad[:6])}", flush=True)
        else:
            same += 1
            refused += bool(error)
        if not error and not own_error:
            nodes += len(want)
            right += len(want) - len(bad)
        if flags.keep and (bad or bool(error) != bool(own_error)):
            flags.keep.mkdir(parents=True, exist_ok=True)
            (flags.keep / f"{seed}.pb").write_bytes(graph.as_graph_def().SerializeToString())
            (flags.keep / f"{seed}.json").write_text(json.dumps({"want": want, "error": error, "got": got, "own_error": own_error}))
    print(f"{flags.count} graphs: {same} the same ({refused} refused by both), {flags.count - same} differ ({right} of {nodes} nodes agree)")
    sys.exit(0 if same == flags.count else 1)


if __name__ == "__main__":
    main()
