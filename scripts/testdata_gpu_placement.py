"""Makes testdata/gpu_placement/: graphs over a CPU and two GPUs, with the placement of TensorFlow's CUDA build.

usage: scripts/testdata_gpu_placement.py [OUT_DIR]
Each version's graphs are made and placed in its environment, which scripts/make_kernel_table.py creates if it is missing. The GPUs
are virtual: tests/python/cuda_placer.py.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CASES = {}


def case(version="2.21", soft=True):
    def add(make):
        CASES[make.__name__] = (version, soft, make)
        return make
    return add


# --- Embeddings under optimizers: whether the table can be on the GPU depends on the op that updates it.
def train_embedding(tf, optimizer, dtype="float32", ids="int32", resource=False):
    table = tf.get_variable("emb/table", [50, 8], dtype, tf.zeros_initializer(), use_resource=resource)
    words = tf.placeholder(ids, [None, 3], name="words")
    looked_up = tf.nn.embedding_lookup(table, words, name="lookup")
    dense = tf.get_variable("dense/kernel", [24, 2], dtype, tf.zeros_initializer(), use_resource=resource)
    logits = tf.matmul(tf.reshape(looked_up, [-1, 24]), dense, name="logits")
    labels = tf.placeholder("int32", [None], name="labels")
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=tf.cast(logits, "float32")))
    optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step(), name="train")


@case()
def embedding_momentum(tf):
    """Reference variables: SparseApplyMomentum has no kernel on a GPU"""
    train_embedding(tf, tf.train.MomentumOptimizer(.1, .9))


@case()
def embedding_adam(tf):
    """Reference variables: Adam scatters, which a GPU does"""
    train_embedding(tf, tf.train.AdamOptimizer(), ids="int64")


@case()
def embedding_ftrl_resource(tf):
    """Resource variables: ResourceSparseApplyFtrl has no kernel on a GPU"""
    train_embedding(tf, tf.train.FtrlOptimizer(.1), resource=True)


@case()
def embedding_adagrad_half(tf):
    """Resource variables of half precision"""
    train_embedding(tf, tf.train.AdagradOptimizer(.1), dtype="float16", ids="int64", resource=True)


@case()
def embedding_rmsprop_double(tf):
    """Reference variables in double precision: SparseApplyRMSProp"""
    train_embedding(tf, tf.train.RMSPropOptimizer(.1), dtype="float64")


@case(soft=False)
def embedding_momentum_hard(tf):
    """A table that asks for the GPU under hard placement, and cannot be there: an error"""
    with tf.device("/gpu:0"):
        train_embedding(tf, tf.train.MomentumOptimizer(.1, .9))


# --- int32 and other dtypes: those that a GPU keeps in host memory, and those without a kernel on a
# GPU.
@case()
def shapes_of_int64(tf):
    """Shape arithmetic in int64, which is the device's own"""
    x = tf.placeholder("float32", [None, None, 4], name="x")
    shape = tf.shape(x, out_type=tf.int64)
    tf.reshape(x, tf.stack([shape[0] * shape[1], tf.reduce_prod(shape[2:])]), name="y")
    tf.one_hot(tf.argmax(x, 2), 4, name="hot")


@case()
def integers(tf):
    """Arithmetic, reductions, scans and gathers over integers of several sizes"""
    for name in ("int8", "uint16", "int32", "int64"):
        x = tf.placeholder(name, [4, 4], name=name)
        for make in (lambda: x + x, lambda: x * x, lambda: x // x, lambda: tf.abs(x), lambda: tf.reduce_sum(x), lambda: tf.reduce_max(x, 0),
                     lambda: tf.gather(x, [0, 1]), lambda: tf.transpose(x), lambda: tf.concat([x, x], 1), lambda: tf.pad(x, [[1, 1], [0, 0]]),
                     lambda: tf.cumsum(x), lambda: tf.nn.top_k(x).values, lambda: tf.tile(x, [2, 1]), lambda: tf.where(x > x, x, x),
                     lambda: tf.bitwise.bitwise_and(x, x), lambda: tf.math.segment_sum(x, [0, 0, 1, 1]), lambda: tf.unique(x[0]).y,
                     lambda: tf.boolean_mask(x, [True, False, True, False]), lambda: tf.linalg.diag(x), lambda: tf.roll(x, 1, 0)):
            try:
                make()
            except (TypeError, ValueError):
                pass  # the op does not take the dtype


@case()
def strings_between(tf):
    """Strings between two products: an island on the CPU"""
    x = tf.placeholder("float32", [4, 4], name="x")
    text = tf.as_string(tf.matmul(x, x, name="before"), name="text")
    words = tf.strings.split(tf.strings.join([text[0], "1"], " ", name="joined")).values
    tf.matmul(tf.reshape(tf.string_to_number(words, name="back")[:4], [2, 2]), tf.ones([2, 2]), name="after")


@case()
def booleans_and_halves(tf):
    """bool, half, bfloat16, complex"""
    flag = tf.placeholder("bool", [4], name="flag")
    tf.logical_or(tf.reduce_any(flag), tf.reduce_all(flag))
    for name in ("float16", "bfloat16", "complex64"):
        x = tf.placeholder(name, [4, 4], name=name)
        y = tf.where(flag, tf.matmul(x, x), x)
        tf.linalg.inv(tf.cast(y, "float32" if name != "complex64" else name))
        tf.cast(y, "int32")
        tf.nn.relu(x) if name != "complex64" else tf.math.angle(x)
        tf.reduce_mean(y, 0)


@case()
def sparse(tf):
    """Sparse tensors"""
    s = tf.SparseTensor(tf.placeholder("int64", [None, 2], name="at"), tf.placeholder("float32", [None], name="values"), [8, 4])
    x = tf.placeholder("float32", [4, 2], name="x")
    tf.sparse_tensor_dense_matmul(s, x, name="product")
    tf.sparse_tensor_to_dense(tf.sparse_reorder(s), name="dense")
    tf.sparse_reduce_sum(s, 1)
    tf.sparse.softmax(s)
    tf.nn.embedding_lookup_sparse(tf.placeholder("float32", [10, 4]), tf.SparseTensor(s.indices, tf.cast(s.values, "int64"), [8, 4]), None,
                                  combiner="mean", name="bag")


@case()
def image_ops(tf):
    """Images: resizing, boxes, decoding"""
    file = tf.placeholder("string", [], name="file")
    image = tf.expand_dims(tf.cast(tf.image.decode_png(file, 3), "float32"), 0)
    small = tf.image.resize_bilinear(image, tf.shape(image)[1:3] // 2)
    boxes = tf.placeholder("float32", [None, 4], name="boxes")
    kept = tf.image.non_max_suppression(boxes, tf.placeholder("float32", [None], name="scores"), 5)
    tf.image.crop_and_resize(small, tf.gather(boxes, kept), tf.zeros_like(kept), [8, 8])
    tf.image.adjust_saturation(small, 2.)
    tf.nn.max_pool_with_argmax(small, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")


# --- Control flow, state, data.
@case()
def branches_and_loops(tf):
    """Control flow of single nodes: counters, predicates, TensorArrays"""
    tf.disable_control_flow_v2()
    x = tf.placeholder("float32", [4, 4], name="x")
    y = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.nn.relu(x), lambda: tf.tanh(x))
    array = tf.TensorArray("float32", 3)
    _, y, array = tf.while_loop(lambda i, *_: i < 3, lambda i, a, b: (i + 1, tf.matmul(a, x), b.write(i, a)), [0, y, array], name="loop")
    array.stack()
    tf.gradients(y, x)


@case()
def functional_control_flow(tf):
    """Control flow as functions, which is opened before it is placed"""
    tf.enable_control_flow_v2()
    x = tf.placeholder("float32", [4, 4], name="x")
    y = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.nn.relu(x), lambda: tf.string_to_number(tf.as_string(x)))
    array = tf.TensorArray("float32", 3)
    array = tf.while_loop(lambda i, *_: i < 3, lambda i, a, b: (i + 1, tf.matmul(a, x), b.write(i, a)), [0, y, array], name="loop")[2]
    array.stack()


@case()
def dataset(tf):
    """Iterators have kernels on a GPU, and TensorFlow prefers the CPU for them"""
    data = tf.data.Dataset.from_tensor_slices(tf.ones([8, 4, 4])).map(lambda x: x * 2.).batch(2).prefetch(1)
    iterator = tf.data.make_initializable_iterator(data)
    x = iterator.get_next()
    tf.matmul(x, x, name="y")
    tf.shape(x, name="shape")


@case()
def queues_and_tables(tf):
    """Resources: queues, hash tables, random generators, barriers"""
    queue = tf.FIFOQueue(4, ["float32"], [[4, 4]])
    queue.enqueue([tf.random_uniform([4, 4])])
    x = tf.matmul(*[queue.dequeue()] * 2)
    keys = tf.lookup.KeyValueTensorInitializer(tf.constant(["a", "b"]), tf.constant([0, 1], tf.int64))
    ids = tf.lookup.StaticHashTable(keys, 2).lookup(tf.placeholder("string", [4], name="words"))
    tf.gather(x, ids, name="rows")
    tf.random.stateless_uniform([4], [1, 2])
    tf.raw_ops.StatefulUniform(resource=tf.get_variable("rng", [3], "int64", tf.zeros_initializer(), use_resource=True).handle,
                               algorithm=1, shape=[2], dtype=tf.float32)


@case()
def requests(tf):
    """Requests that a dtype cannot meet, on the second GPU and the CPU"""
    with tf.device("/gpu:1"):
        x = tf.placeholder("float32", [4, 4], name="x")
        n = tf.size(x, name="n")
        tf.as_string(n, name="text")
        step = tf.get_variable("step", [], "int32", tf.zeros_initializer(), use_resource=False)
        tf.assign_add(step, n, name="count")
    with tf.device("/cpu:0"):
        tf.matmul(x, x, name="on_cpu")
        tf.add(n, 1, name="more")


# --- Keras: one inference, frozen.
def keras_graph(keras_tf, model, *shape, dtype="float32"):
    """The graph of a model's call with an open batch, its variables as constants."""
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
    spec = keras_tf.TensorSpec([None, *shape], dtype, name="x")
    function = keras_tf.function(lambda x: model(x, training=False)).get_concrete_function(spec)
    return convert_variables_to_constants_v2(function, lower_control_flow=False).graph.as_graph_def()


def layers():
    import tensorflow as tf
    tf.keras.utils.set_random_seed(1)
    return tf, tf.keras, tf.keras.layers


def flatten():
    tf, keras, l = layers()
    x = keras.Input((8, 8, 1))
    return tf, keras.Model(x, l.Dense(2)(l.Flatten()(l.MaxPooling2D()(l.Conv2D(2, 3, activation="relu")(x))))), (8, 8, 1)


def dense_of_three():
    tf, keras, l = layers()
    x = keras.Input((None, 4))
    return tf, keras.Model(x, l.Softmax()(l.Dense(3)(l.Dense(4, "gelu")(x)))), (None, 4)


@case()
def keras3_flatten(_):
    """Keras 3: convolution, Flatten, Dense"""
    tf, model, shape = flatten()
    return keras_graph(tf, model, *shape)


@case()
def keras3_dense_of_three(_):
    """Keras 3: Dense on [batch, time, features]"""
    tf, model, shape = dense_of_three()
    return keras_graph(tf, model, *shape)


@case()
def keras3_attention(_):
    """Keras 3: attention with a mask from int32 tokens"""
    tf, keras, l = layers()
    x = keras.Input((None,), dtype="int32")
    y = l.Embedding(12, 4, mask_zero=True)(x)
    y = l.GlobalAveragePooling1D()(l.LayerNormalization()(y + l.MultiHeadAttention(2, 2)(y, y)))
    return keras_graph(tf, keras.Model(x, y), None, dtype="int32")


@case()
def keras3_lstm(_):
    """Keras 3: an LSTM, a loop over steps"""
    tf, keras, l = layers()
    x = keras.Input((None, 3))
    return keras_graph(tf, keras.Model(x, l.Dense(1)(l.LSTM(2)(x))), None, 3)


@case()
def keras3_reshape_upsample(_):
    """Keras 3: Reshape, Permute, UpSampling, cropping, separable and transposed convolutions"""
    tf, keras, l = layers()
    x = keras.Input((16,))
    y = l.Permute((2, 1, 3))(l.Reshape((4, 2, 2))(x))
    y = l.Conv2DTranspose(2, 3, strides=2)(l.SeparableConv2D(2, 1)(l.UpSampling2D()(y)))
    return keras_graph(tf, keras.Model(x, l.GlobalMaxPooling2D()(l.Cropping2D(1)(l.ZeroPadding2D(1)(y)))), 16)


@case("2.16")
def keras3_dense_of_three_2_16(_):
    """Keras 3 with TensorFlow 2.16: Dense on [batch, time, features]"""
    tf, model, shape = dense_of_three()
    return keras_graph(tf, model, *shape)


@case("2.13")
def keras2_flatten(_):
    """Keras 2 with TensorFlow 2.13: convolution, Flatten, Dense"""
    tf, model, shape = flatten()
    return keras_graph(tf, model, *shape)


@case("2.13")
def keras2_gru(_):
    """Keras 2 with TensorFlow 2.13: a GRU"""
    tf, keras, l = layers()
    x = keras.Input((None, 3))
    return keras_graph(tf, keras.Model(x, l.Dense(1)(l.GRU(2)(x))), None, 3)


@case("2.13")
def complex_sum_2_13(tf):
    """TensorFlow 2.13 adds to no complex variable on a GPU, later versions do"""
    total = tf.get_variable("total", [4], "complex64", tf.zeros_initializer(), use_resource=True)
    total.assign_add(tf.placeholder("complex64", [4], name="more"))
    x = tf.placeholder("int32", [4], name="x")
    tf.raw_ops.TensorScatterUpdate(tensor=x, indices=[[0]], updates=[1], name="updated")


def record(version, out):
    """In the environment of that version."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.path.insert(0, str(ROOT / "tests" / "python"))
    from cuda_placer import CudaPlacer
    placer = CudaPlacer()
    tf = placer.tf
    short = {device: ":".join(device.rsplit(":", 2)[1:]) for device in placer.devices}
    for name, (of, soft, make) in CASES.items():
        if of != version:
            continue
        frozen = make(tf) if name.startswith("keras") else None
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(frozen, name="") if frozen else make(tf)
        data = graph.as_graph_def().SerializeToString(deterministic=True)
        placed, error = placer.place(graph, soft)
        if error:
            start = error.find("Cannot assign a device")
            assert start >= 0, error
            error = error[start:].split(":")[0]
        by_device = {}
        for node, device in sorted(placed.items()):
            by_device.setdefault(short[device], []).append(node)
        folder = out / name
        folder.mkdir()
        (folder / "in.pb").write_bytes(data)
        (folder / "case.json").write_text(json.dumps({
            "what": make.__doc__, "kernels": "tensorflow" if version == "2.21" else f"tensorflow-{version}", "devices": ["cpu:1", "gpu:2"],
            "soft": soft, "default_device": None, "error": error, "placed": by_device}, indent=1) + "\n")


def main():
    if sys.argv[1:2] == ["--record"]:
        record(sys.argv[2], pathlib.Path(sys.argv[3]))
        return
    from make_kernel_table import VERSIONS, python_of
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "testdata" / "gpu_placement")
    out.mkdir(parents=True, exist_ok=True)
    for folder in out.iterdir():
        if folder.is_dir():
            shutil.rmtree(folder)
    for version in VERSIONS:
        subprocess.run([str(python_of(version)), __file__, "--record", version.rpartition(".")[0], str(out)], check=True)


if __name__ == "__main__":
    main()
