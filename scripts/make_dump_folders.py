"""Makes dump folders with many TensorFlow programs and flags, each with the log of its program, to read with `timeline`.

needs: tensorflow-cpu==2.21.0        usage: scripts/make_dump_folders.py OUT_DIR [FOLDER...]

Each folder has log.txt, the stderr of the programs that dumped to it, one after the other. `misspelt` has empty files: TensorFlow
does not know its TF_DUMP_GRAPH_FMT. `small` is testdata/dumps/small; its log has only the lines about dumps.
"""
import os
import shutil
import subprocess
import sys

HARMONIC = """
import tensorflow as tf
@tf.function
def harmonic_mean(x):
    lo = tf.reduce_min(x, name="lo")
    return tf.cast(tf.size(x), x.dtype) / tf.reduce_sum(1.0 / x)
harmonic_mean(tf.constant([1., 2., 4.]))
"""
CONTROL = """
import tensorflow as tf
tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2)
v = tf.Variable(1.0)
@tf.function
def inner(a): return tf.sqrt(a) + v
@tf.function
def loop_and_branch(x, n):
    s, i = tf.constant(0.0), tf.constant(0)
    while i < n:
        s, i = s + inner(x), i + 1
    with tf.device("/CPU:1"): t = tf.sin(s)
    return t * 2.0 if t > 0 else t - 1.0
loop_and_branch(tf.constant(4.0), tf.constant(3))
"""
SESSION = """
import tensorflow.compat.v1 as tf
tf.disable_eager_execution()
x = tf.placeholder(tf.float32, [None, 3], name="x")
b = tf.Variable([0.1, 0.2], name="b")
z = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, tf.constant([[1., 2.], [3., 4.], [5., 6.]])), b), name="z")
with tf.Session() as s:
    s.run(tf.global_variables_initializer())
    s.run(z, {x: [[1., 2., 3.]]})
"""
COMPILED = """
import tensorflow as tf
@tf.function(jit_compile=True)
def compiled(x): return tf.reduce_sum(tf.square(x) + 1.0)
@tf.function
def around(x): return compiled(x) * 2.0
around(tf.constant([1., 2., 3.]))
"""
PIPELINE = """
import tensorflow as tf
for element in tf.data.Dataset.range(10).map(lambda x: x * 2).batch(2).prefetch(1): pass
"""
TRAINING = """
import tensorflow as tf
w = tf.Variable(tf.ones([3, 2]))
@tf.function
def step(x):
    with tf.GradientTape() as tape: loss = tf.reduce_mean((x @ w) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss
@tf.function
def evaluate(x): return tf.reduce_max(x @ w)
for rows in (2, 4):
    step(tf.ones([rows, 3]))
evaluate(tf.ones([2, 3]))
"""

FILTER = {"TF_DUMP_GRAPH_NAME_FILTER": "*"}
FOLDERS = {  # programs, TF_CPP_VMODULE, other variables
    "groups": ([HARMONIC], "", {**FILTER, "TF_DUMP_GRAPH_GROUPS": "*"}),
    "passes": ([CONTROL], "meta_optimizer=4,optimization_registry=5", {}),
    "session": ([SESSION], "placer=3,memory_types=2,graph_partition=2,optimization_registry=3", {}),
    "mixed": ([HARMONIC], "meta_optimizer=4,type_inference=1,replicate_constants_pass=1,memory_types=2", FILTER),
    "everything": ([CONTROL], "", {"TF_CPP_MAX_VLOG_LEVEL": "3"}),
    "binary": ([CONTROL], "meta_optimizer=4,placer=3", {**FILTER, "TF_DUMP_GRAPH_FMT": "BIN"}),
    "compiled": ([COMPILED], "xla_compiler=2,encapsulate_subgraphs_pass=1,build_xla_ops_pass=1,meta_optimizer=1", FILTER),
    "pipeline": ([PIPELINE], "meta_optimizer=4", {**FILTER, "TF_DUMP_GRAPH_WRAPPED": "1"}),
    "processes": ([CONTROL, SESSION, TRAINING], "meta_optimizer=4,graph_partition=2", {"TF_DUMP_GRAPH_NAME_FILTER": "__inference"}),
    "retraced": ([TRAINING], "placer=3,graph_partition=2", {"TF_DUMP_GRAPH_NAME_FILTER": "step"}),
    "small": ([HARMONIC], "placer=3,memory_types=2,replicate_constants_pass=1", {}),
    "misspelt": ([HARMONIC], "", {**FILTER, "TF_DUMP_GRAPH_FMT": "TEXT"}),
}


def make(name, folder):
    programs, vmodule, variables = FOLDERS[name]
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    env = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "0", "TF_CPP_VMODULE": vmodule, "TF_DUMP_GRAPH_PREFIX": ".", **variables}
    log_path = os.path.join(folder, "log.txt")
    with open(log_path, "w") as log:
        for i, program in enumerate(programs):
            path = os.path.join(folder, f"program{i}.py")  # autograph reads its source
            with open(path, "w") as f:
                f.write(program)
            subprocess.run([sys.executable, path], cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=log, check=True)
            os.remove(path)
    if name == "small":
        with open(log_path) as log:
            lines = [line[line.index("dump_graph.cc"):] for line in log if "Dumped Graph to" in line]
        with open(log_path, "w") as log:
            log.writelines(lines)


def main():
    out, names = sys.argv[1], sys.argv[2:] or FOLDERS
    for name in names:
        make(name, os.path.join(os.path.abspath(out), name))
        print(f"{name}: {len(os.listdir(os.path.join(out, name))) - 1} files")


if __name__ == "__main__":
    main()
