#!/usr/bin/env python3
"""Makes testdata/doctor with TensorFlow: one broken network for each check of `grapnel doctor`, and healthy ones.

usage: make_doctor_cases.py [NAME...]     all of them, or those whose names begin so

In a case folder, graph.pb runs one training step (or only predicts), init.pb initializes the variables, and the fetched values of
the first step are TensorFlow's. docs/guide/doctor.md describes the defect of each. Everything is derived from seeds. This is one long
file: a list of small networks, each with its defect.
"""

import json
import multiprocessing
import pathlib
import shutil
import sys

import numpy as np
import tensorflow as tf

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
import tolerance

v1 = tf.compat.v1
OUT = pathlib.Path(__file__).resolve().parent.parent / "testdata" / "doctor"
CASES = {}
ROWS, WIDTH, CLASSES = 64, 12, 4


def case(function):
    CASES[function.__name__] = function
    return function


# --- Pieces of networks.

def rng(seed=1):
    return np.random.default_rng(seed)


def features(scale=1.0, shift=0.0, rows=ROWS):
    return (rng(2).normal(size=(rows, WIDTH)) * scale + shift).astype("f4")


def classes(x=None):
    """Labels that a linear model can find."""
    x = features() if x is None else x
    return (x @ rng(3).normal(size=(WIDTH, CLASSES))).argmax(1).astype("i4")


def variable(name, value):
    return v1.get_variable(name, initializer=np.asarray(value, "f4"), use_resource=True)


def he(seed, *shape):
    return rng(seed).normal(size=shape) * np.sqrt(2.0 / np.prod(shape[:-1]))


def dense(x, units, name, kernel=None, bias=None, activation=None):
    shape = (int(x.shape[-1]), units)
    seed = sum(map(ord, name))
    kernel = variable(name + "/kernel", he(seed, *shape) if kernel is None else kernel(shape))
    bias = variable(name + "/bias", np.zeros(units) if bias is None else np.full(units, bias))
    y = tf.nn.bias_add(tf.matmul(x, kernel), bias)
    return activation(y, name=name + "/out") if activation else y


def einsum_dense(x, units, name, kernel=None, bias=None, activation=None):
    """A layer as attention has it: the units as heads of four."""
    shape = (int(x.shape[-1]), units // 4, 4)
    w = variable(name + "/kernel", rng(sum(map(ord, name))).normal(size=shape) * np.sqrt(2.0 / shape[0]) if kernel is None else kernel(shape))
    y = tf.einsum("bi,iho->bho", x, w) + variable(name + "/bias", np.zeros(shape[1:]))
    y = activation(y) if activation else y
    back = variable(name + "/out/kernel", rng(sum(map(ord, name)) + 1).normal(size=(*shape[1:], units)) / np.sqrt(units))
    return tf.einsum("hou,bho->bu", back, y)


def gelu(x, form, name="gelu"):
    """Its three forms; TensorFlow itself writes the last two."""
    if form == "erf":
        return tf.multiply(x * 0.5, 1.0 + tf.math.erf(x / np.sqrt(2.0).astype("f4")), name=name)
    return tf.nn.gelu(x, approximate=form == "tanh", name=name)


def batch_norm(x, name, training, update=True):
    """As TF1 has it: the moving averages are updated by ops of their own, which the step must run."""
    width = int(x.shape[-1])
    gamma, beta = variable(name + "/gamma", np.ones(width)), variable(name + "/beta", np.zeros(width))
    mean, variance = variable(name + "/mean", np.zeros(width)), variable(name + "/variance", np.ones(width))
    image = tf.reshape(x, [-1, 1, 1, width])
    if not training:
        y, _, _ = v1.nn.fused_batch_norm(image, gamma, beta, mean, variance, is_training=False)
        return tf.reshape(y, [-1, width])
    y, batch_mean, batch_variance = v1.nn.fused_batch_norm(image, gamma, beta, is_training=True)
    if update:
        for moving, new in ((mean, batch_mean), (variance, batch_variance)):
            v1.add_to_collection("updates", moving.assign_sub((moving - new) * 0.1))
    return tf.reshape(y, [-1, width])


def cross_entropy(logits, labels):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits), name="loss")


def placeholders(x=None, labels=None):
    x = features() if x is None else x
    labels = classes() if labels is None else labels
    px = v1.placeholder(tf.float32, x.shape, "x")
    py = v1.placeholder(tf.as_dtype(labels.dtype), labels.shape, "labels")
    return px, py, {px: x, py: labels}


def step(loss, rate=0.1, variables=None, fetches=(), optimizer=None):
    """The loss of this step, fetched after the update."""
    optimizer = optimizer or v1.train.GradientDescentOptimizer(rate)
    variables = [v for v in (variables or v1.trainable_variables()) if "mean" not in v.name and "variance" not in v.name]
    train = optimizer.minimize(loss, var_list=variables, name="train")
    with tf.control_dependencies([train, *v1.get_collection("updates")]):
        return [tf.identity(loss, "step"), *fetches]


def classifier(x=None, labels=None, rate=0.1, hidden=dense, activation=tf.nn.relu, loss=cross_entropy, layers=2, **keys):
    """What the broken networks differ from in one thing."""
    px, py, feeds = placeholders(x, labels)
    y = px
    for i in range(layers):
        y = hidden(y, 16, f"hidden{i}", activation=activation, **keys)
    return feeds, step(loss(dense(y, CLASSES, "logits"), py), rate)


# --- Healthy ones.

@case
def healthy_mlp():
    return classifier()


@case
def healthy_tanh_norm_dropout():
    px, py, feeds = placeholders()
    y = tf.tanh(batch_norm(dense(px, 16, "first"), "norm", training=True))
    y = tf.nn.dropout(y, rate=0.2, seed=7)
    y = dense(y, 16, "second", activation=tf.nn.relu)
    loss = cross_entropy(dense(y, CLASSES, "logits"), py)
    penalty = 1e-4 * tf.add_n([tf.nn.l2_loss(v) for v in v1.trainable_variables() if "kernel" in v.name])
    return feeds, step(tf.add(loss, penalty, name="total"))


@case
def healthy_regression():
    """Two inputs, a norm with a guard, zeros to begin with where that is right: in the last layer."""
    x, y = features(), (features() @ rng(4).normal(size=(WIDTH, 1))).astype("f4")
    px, py, feeds = placeholders(x, y)
    unit = px / tf.sqrt(tf.reduce_sum(tf.square(px), 1, keepdims=True) + 1e-6)
    h = dense(tf.concat([px, unit], 1), 16, "hidden", activation=tf.nn.elu)
    out = dense(h, 1, "out", kernel=np.zeros)
    return feeds, step(tf.reduce_mean(tf.math.squared_difference(out, py), name="loss"), 0.05)


@case
def healthy_gan():
    """Both networks take their step in one run."""
    rows = 32
    real = (rng(5).normal(size=(rows, 2)) * 0.5 + [1.0, -1.0]).astype("f4")
    noise = rng(6).normal(size=(rows, 4)).astype("f4")
    z, x = v1.placeholder(tf.float32, noise.shape, "z"), v1.placeholder(tf.float32, real.shape, "real")

    def generator(z):
        with v1.variable_scope("generator"):
            return dense(dense(z, 16, "hidden", activation=tf.nn.relu), 2, "out", activation=tf.tanh)

    def discriminator(x):
        with v1.variable_scope("discriminator", reuse=v1.AUTO_REUSE):
            return dense(dense(x, 16, "hidden", activation=tf.nn.leaky_relu), 1, "logit")

    fake = generator(z)
    on_real, on_fake = discriminator(x), discriminator(fake)
    entropy = tf.nn.sigmoid_cross_entropy_with_logits
    d_loss = tf.reduce_mean(entropy(labels=tf.ones_like(on_real), logits=on_real) +
                            entropy(labels=tf.zeros_like(on_fake), logits=on_fake), name="d_loss")
    g_loss = tf.reduce_mean(entropy(labels=tf.ones_like(on_fake), logits=on_fake), name="g_loss")
    own = lambda scope: [v for v in v1.trainable_variables() if v.name.startswith(scope)]
    d_train = v1.train.MomentumOptimizer(0.05, 0.5, name="d_train").minimize(d_loss, var_list=own("discriminator"))
    g_train = v1.train.AdamOptimizer(2e-3, beta1=0.5, name="g_train").minimize(g_loss, var_list=own("generator"))
    with tf.control_dependencies([d_train, g_train]):
        return {z: noise, x: real}, [tf.identity(d_loss, "d_step"), tf.identity(g_loss, "g_step")]


@case
def healthy_inference():
    """The network of healthy_tanh_norm_dropout as it predicts."""
    px, _, feeds = placeholders()
    y = tf.tanh(batch_norm(dense(px, 16, "first"), "norm", training=False))
    y = dense(y, 16, "second", activation=tf.nn.relu)
    return {px: feeds[px]}, [tf.nn.softmax(dense(y, CLASSES, "logits"), name="probabilities")]


@case
def healthy_attention():
    """A block of a transformer: projections by Einsum, heads, a GELU of each form."""
    tokens, heads = 6, 3
    x = rng(12).normal(size=(32, tokens, WIDTH)).astype("f4")
    px, py, feeds = placeholders(x, classes(x.mean(1) * 3))
    project = lambda name, *shape: variable(name + "/kernel", rng(sum(map(ord, name))).normal(size=shape) / np.sqrt(WIDTH))
    q, k, v = (tf.einsum("btw,whd->bthd", px, project(n, WIDTH, heads, 4)) for n in ("query", "key", "value"))
    weights = tf.nn.softmax(tf.einsum("bqhd,bkhd->bhqk", q, k) * 0.5)
    y = px + tf.einsum("bthd,hdw->btw", tf.einsum("bhqk,bkhd->bqhd", weights, v), project("out", heads, 4, WIDTH))
    for i, form in enumerate(("erf", "erfc", "tanh")):
        wide = gelu(tf.einsum("btw,wu->btu", y, project(f"wide{i}", WIDTH, 24)) * 4.0, form, name=f"gelu{i}")
        y += tf.einsum("un,btu->btn", project(f"narrow{i}", 24, WIDTH), wide) * 0.2
    return feeds, step(cross_entropy(dense(tf.reduce_mean(y, 1), CLASSES, "logits"), py))


# --- Inputs and outputs.

@case
def constant_input():
    return classifier(x=np.zeros((ROWS, WIDTH), "f4"))


@case
def constant_input_labels():
    return classifier(labels=np.full(ROWS, 2, "i4"))


@case
def unscaled_input():
    pixels = rng(8).integers(0, 256, size=(ROWS, WIDTH)).astype("f4")
    return classifier(x=pixels, labels=classes((pixels - 128) / 64), rate=1e-5)


@case
def unused_input():
    px, py, feeds = placeholders()
    age = v1.placeholder(tf.float32, (ROWS, 1), "age")
    y = tf.concat([px, tf.zeros_like(age)], 1)   # what was meant is `age` itself
    loss = cross_entropy(dense(dense(y, 16, "hidden", activation=tf.nn.relu), CLASSES, "logits"), py)
    return {**feeds, age: features(rows=ROWS)[:, :1]}, step(loss)


@case
def constant_output():
    px, _, feeds = placeholders()
    y = dense(px, 16, "hidden", activation=tf.nn.relu)
    answer = tf.nn.softmax(dense(tf.zeros_like(y), CLASSES, "logits"), name="probabilities")
    return {px: feeds[px]}, [answer, tf.identity(y, "embedding")]


@case
def labels_out_of_range():
    px, py, feeds = placeholders(labels=(classes() + 1).astype("i4"))   # counted from 1
    y = dense(px, 16, "hidden", activation=tf.nn.relu)
    logits = dense(y, CLASSES, "logits")
    # One that does not fit becomes a row of zeros, without a word.
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=tf.one_hot(py, CLASSES), logits=logits), name="loss")
    return feeds, step(loss)


@case
def labels_out_of_range_sparse():
    """From the second batch on. TensorFlow's CPU kernel refuses these labels, its GPU kernel gives NaN."""
    feeds, fetches = classifier()
    return feeds, fetches, {"labels": (classes() + 1).astype("i4")}


@case
def labels_out_of_range_binary():
    """-1 and 1 where 0 and 1 are asked for."""
    px, py, feeds = placeholders(labels=(np.sign(features()[:, :1])).astype("f4"))
    logit = dense(dense(px, 16, "hidden", activation=tf.nn.relu), 1, "logit")
    return feeds, step(tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=py, logits=logit), name="loss"))


# --- Losses.

@case
def softmax_before_loss():
    return classifier(loss=lambda logits, labels: cross_entropy(tf.identity(tf.nn.softmax(logits)), labels))


@case
def softmax_before_loss_sigmoid():
    px, py, feeds = placeholders(labels=(features()[:, :1] > 0).astype("f4"))
    p = tf.sigmoid(dense(dense(px, 16, "hidden", activation=tf.nn.relu), 1, "logit"))
    return feeds, step(tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=py, logits=p), name="loss"))


@case
def softmax_of_one():
    px, py, feeds = placeholders(labels=(features()[:, :1] > 0).astype("f4"))
    p = tf.nn.softmax(dense(dense(px, 16, "hidden", activation=tf.nn.relu), 1, "logit"))
    return feeds, step(tf.reduce_mean(tf.math.squared_difference(p, py), name="loss"))


@case
def loss_not_connected():
    px, py, feeds = placeholders()
    chosen = tf.cast(tf.argmax(dense(px, 16, "router"), 1), tf.float32)   # has no gradient
    y = dense(px, 16, "hidden", activation=tf.nn.relu) + tf.expand_dims(chosen / 16.0, 1)
    loss = cross_entropy(dense(y, CLASSES, "logits"), py)
    return feeds, step(loss, variables=[v for v in v1.trainable_variables() if "router" not in v.name])


@case
def loss_at_chance():
    return classifier(loss=lambda logits, labels: cross_entropy(logits * 1e-6, labels))


@case
def regularization_larger_than_loss():
    def loss(logits, labels):
        penalty = tf.add_n([tf.nn.l2_loss(v) for v in v1.trainable_variables() if "kernel" in v.name])
        return tf.add(cross_entropy(logits, labels), penalty * 0.5, name="total")
    return classifier(loss=loss, rate=0.01)


@case
def unguarded_op():
    def loss(logits, labels):
        log = tf.math.log(tf.nn.softmax(logits * 8.0))
        return tf.negative(tf.reduce_mean(tf.reduce_sum(tf.one_hot(labels, CLASSES) * log, 1)), name="loss")
    return classifier(loss=loss, rate=1e-4)


@case
def unguarded_op_norm():
    """A row of zeros has no direction."""
    x = features()
    x[5] = 0
    px, py, feeds = placeholders(x)
    unit = px / tf.sqrt(tf.reduce_sum(tf.square(px), 1, keepdims=True))
    unit = tf.where(tf.math.is_finite(unit), unit, tf.zeros_like(unit))
    y = dense(unit, 16, "hidden", activation=tf.nn.relu)
    return feeds, step(cross_entropy(dense(y, CLASSES, "logits"), py))


@case
def not_finite():
    """From the second step on."""
    return classifier(rate=1e30)


# --- Weights and steps.

@case
def symmetric_initialization():
    return classifier(kernel=lambda shape: np.full(shape, 0.1), layers=1)


@case
def symmetric_initialization_zero():
    return classifier(kernel=np.zeros, layers=2, activation=tf.tanh)


@case
def unchanged_variable():
    px, py, feeds = placeholders()
    y = dense(dense(px, 16, "frozen", activation=tf.nn.relu), 16, "hidden", activation=tf.nn.relu)
    loss = cross_entropy(dense(y, CLASSES, "logits"), py)
    return feeds, step(loss, variables=[v for v in v1.trainable_variables() if "frozen" not in v.name])


@case
def zero_gradient():
    px, py, feeds = placeholders()
    y = dense(px, 16, "hidden", activation=tf.nn.relu)
    branch = dense(px, 16, "branch", activation=tf.nn.relu) * 0.0
    return feeds, step(cross_entropy(dense(y + branch, CLASSES, "logits"), py))


@case
def exploding_gradient():
    """Each layer makes numbers four times as large, and gradients on their way back."""
    px, py, feeds = placeholders()
    y = px
    for i in range(6):
        y = dense(y, 16, f"hidden{i}", activation=tf.nn.relu, kernel=lambda shape: he(20 + i, *shape) * 4)
    return feeds, step(cross_entropy(dense(y, CLASSES, "logits"), py), rate=1e-3)


@case
def update_ratio():
    return classifier(rate=1e-8)


@case
def update_ratio_large():
    return classifier(rate=30.0)


# --- Activations and modes.

@case
def dead_relu():
    return classifier(bias=-30.0)


@case
def saturated_activation():
    return classifier(activation=tf.tanh, kernel=lambda shape: he(9, *shape) * 60)


@case
def activation_spread():
    return classifier(activation=tf.nn.relu, layers=4, kernel=lambda shape: he(10, *shape) * 0.02)


@case
def activation_spread_einsum():
    return classifier(hidden=einsum_dense, activation=tf.nn.relu, layers=4, kernel=lambda shape: he(10, *shape) * 0.02)


@case
def activation_spread_gelu():
    """By Erf in one network, by Erfc in the next, by Tanh in the last."""
    return classifier(activation=lambda y, name: gelu(y, "erf", name), layers=4, kernel=lambda shape: he(10, *shape) * 0.02)


@case
def activation_spread_gelu_erfc():
    return classifier(activation=lambda y, name: gelu(y, "erfc", name), layers=4, kernel=lambda shape: he(10, *shape) * 0.02)


@case
def activation_spread_gelu_tanh():
    """Too large."""
    return classifier(activation=lambda y, name: gelu(y, "tanh", name), layers=4, kernel=lambda shape: he(10, *shape) * 6, rate=1e-6)


@case
def batch_norm_mode():
    """Predicts by the statistics of the batch."""
    px, _, feeds = placeholders()
    y = tf.tanh(batch_norm(dense(px, 16, "first"), "norm", training=True, update=False))
    return {px: feeds[px]}, [tf.nn.softmax(dense(y, CLASSES, "logits"), name="probabilities")]


@case
def batch_norm_mode_no_update():
    """The moving averages are there, and the step does not run their updates."""
    px, py, feeds = placeholders()
    y = tf.tanh(batch_norm(dense(px, 16, "first"), "norm", training=True, update=False))
    return feeds, step(cross_entropy(dense(y, CLASSES, "logits"), py))


@case
def batch_norm_mode_frozen():
    """Trains gamma and beta by averages that nothing updates."""
    px, py, feeds = placeholders()
    y = tf.tanh(batch_norm(dense(px, 16, "first"), "norm", training=False))
    return feeds, step(cross_entropy(dense(y, CLASSES, "logits"), py))


@case
def dropout_mode():
    px, _, feeds = placeholders()
    y = tf.nn.dropout(dense(px, 16, "hidden", activation=tf.nn.relu), rate=0.5, seed=7)
    return {px: feeds[px]}, [tf.nn.softmax(dense(y, CLASSES, "logits"), name="probabilities")]


# --- Writing.

def write_case(name, build):
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tf.Graph().as_default() as graph:
        feeds, fetches, *more = build()
        init = v1.global_variables_initializer()
        with tf.control_dependencies([init]):
            tf.no_op(name="init")
        whole = graph.as_graph_def()
        extract = v1.graph_util.extract_sub_graph
        wanted = [f.op.name for f in fetches] + [p.op.name for p in feeds]
        (folder / "graph.pb").write_bytes(extract(whole, wanted).SerializeToString(deterministic=True))
        (folder / "init.pb").write_bytes(extract(whole, ["init"]).SerializeToString(deterministic=True))
        info = {"feeds": {}, "fetches": {}, "rtol": 1e-3, "atol": {}, "init": "init.pb"}
        for placeholder, value in feeds.items():
            np.save(folder / f"{placeholder.op.name}.npy", value)
            info["feeds"][placeholder.name] = f"{placeholder.op.name}.npy"
        with v1.Session(graph=graph) as session:
            session.run("init")
            values = session.run(fetches, feeds)
        for fetch, value in zip(fetches, values):
            file = f"out_{fetch.op.name}.npy"
            np.save(folder / file, value)
            info["fetches"][fetch.name] = file
            info["atol"][fetch.name] = tolerance.atol_of(np.asarray(value), info["rtol"])
    # Batches that TensorFlow refuses have no values of their own.
    for i, batch in enumerate(more, 2):
        files = dict(zip((p.op.name for p in feeds), info["feeds"].values()))
        for feed, value in batch.items():
            files[feed] = f"{feed}_{i}.npy"
            np.save(folder / files[feed], value)
        fetched = {f.name: info["fetches"][f.name] for f in fetches}
        info.setdefault("steps", []).append(
            {"feeds": {p.name: files[p.op.name] for p in feeds}, "fetches": fetched})
    (folder / "case.json").write_text(json.dumps(info, indent=1) + "\n")
    print(name, sum(f.stat().st_size for f in folder.iterdir()))


def write_checkpoints():
    """Folders of three checkpoints each; in the broken one a layer stays, another is zero, a third grows, the last breaks."""
    for name, broken in (("checkpoints", True), ("healthy_checkpoints", False)):
        folder = OUT / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        random = rng(11)
        values = {n: random.normal(size=(6, 4)).astype("f4") for n in ("first", "second", "third", "last", "fifth")}
        objects = {n: tf.Variable(v, name=n + "/kernel") for n, v in values.items()}
        objects["bias"] = tf.Variable(np.zeros(4, "f4"), name="bias")
        checkpoint = tf.train.Checkpoint(**objects)
        for i in range(3):
            for n, kernel in objects.items():
                change = random.normal(size=kernel.shape).astype("f4") * 0.01
                if broken and n == "first":
                    change = 0
                if broken and n == "second":
                    kernel.assign(tf.zeros_like(kernel))
                    change = 0
                if broken and n == "third":
                    kernel.assign(kernel * 20)
                kernel.assign_add(change * tf.ones_like(kernel))
            if broken and i == 2:
                objects["last"].assign(tf.where(objects["last"] > 1, np.nan, objects["last"]))
            checkpoint.write(str(folder / f"model-{(i + 1) * 100}"))


# --- What trainings wrote for TensorBoard.

def fit(folder, x, y, epochs, optimizer, validation=None, width=16, **keys):
    """Keras with its TensorBoard callback: scalars as tensors, train and validation apart."""
    import keras
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.layers.Dense(width, activation="relu"), keras.layers.Dense(CLASSES)])
    model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    callback = keras.callbacks.TensorBoard(folder, write_graph=False)
    model.fit(x, y, epochs=epochs, validation_data=validation, callbacks=[callback], verbose=0, batch_size=32, **keys)


def keras_well(folder):
    x = rng(30).normal(size=(512, WIDTH)).astype("f4")
    fit(folder, x[:256], classes(x)[:256], 15, "adam", (x[256:], classes(x)[256:]))


def keras_stays(folder):
    import keras
    fit(folder, features(), classes(), 8, keras.optimizers.SGD(0.0))


def keras_by_heart(folder):
    """Labels follow from nothing."""
    x, y = rng(31).normal(size=(128, WIDTH)).astype("f4"), rng(32).integers(0, CLASSES, 128).astype("i4")
    fit(folder, x[:64], y[:64], 60, "adam", (x[64:], y[64:]), width=128)


def keras_guesses(folder):
    fit(folder, features() * 0, np.arange(ROWS, dtype="i4") % CLASSES, 8, "sgd", shuffle=False)


def squares(rate, steps):
    """Losses of least squares by gradient descent, a batch of eight rows each."""
    random = rng(33)
    x = random.normal(size=(512, WIDTH))
    y, w = x @ random.normal(size=WIDTH) + random.normal(size=512) * 0.3, np.zeros(WIDTH)
    for i in range(steps):
        rows = slice(i * 8 % 512, i * 8 % 512 + 8)
        error = x[rows] @ w - y[rows]
        with np.errstate(over="ignore", invalid="ignore"):
            yield float(np.float32(np.mean(error ** 2)))
            w = w - rate * x[rows].T @ error


def simple_values(folder, values, **more):
    """tf.compat.v1.summary.scalar in a session: numbers by themselves."""
    with tf.Graph().as_default(), v1.summary.FileWriter(folder) as writer:
        for step, loss in enumerate(values):
            value = [v1.Summary.Value(tag=t, simple_value=v(step)) for t, v in more.items()]
            writer.add_summary(v1.Summary(value=[v1.Summary.Value(tag="loss", simple_value=loss), *value]), step)


def session_well(folder):
    simple_values(folder, squares(0.01, 200), learning_rate=lambda i: 0.01, loss_scale=lambda i: 2.0 ** (i // 20 + 10))


def session_rises(folder):
    simple_values(folder, squares(0.15, 60))


def summaries_break(folder):
    """tf.summary.scalar, in two files: the training was taken up again from step 20."""
    losses = list(squares(0.6, 80))
    for first, last in ((0, 30), (20, 80)):
        with tf.summary.create_file_writer(folder, filename_suffix=f".{first:02}").as_default():
            for step in range(first, last):
                tf.summary.scalar("train/loss", losses[step], step=step)


SCALARS = {
    "healthy_scalars": keras_well, "healthy_scalars_session": session_well, "loss_curve": keras_stays, "loss_curve_rises": session_rises,
    "loss_curve_by_heart": keras_by_heart, "loss_at_chance_scalars": keras_guesses, "not_finite_scalars": summaries_break,
}


def write_scalars(name, build):
    """The files without what is this machine's: names and times."""
    import tempfile
    from tensorflow.core.util import event_pb2
    shutil.rmtree(OUT / name, ignore_errors=True)
    with tempfile.TemporaryDirectory() as home:
        build(home)
        for number, path in enumerate(sorted(pathlib.Path(home).rglob("*tfevents*"), key=lambda p: (p.parent, p.name[-3:]))):
            target = OUT / name / path.parent.relative_to(home) / f"events.out.tfevents.{1600000000 + number}.host"
            target.parent.mkdir(parents=True, exist_ok=True)
            with tf.io.TFRecordWriter(str(target)) as writer:
                for i, record in enumerate(tf.data.TFRecordDataset(str(path))):
                    event = event_pb2.Event.FromString(record.numpy())
                    event.wall_time = 1.6e9 + i
                    event.ClearField("source_metadata")
                    if event.WhichOneof("what") != "graph_def":
                        writer.write(event.SerializeToString(deterministic=True))
    print(name, sum(f.stat().st_size for f in (OUT / name).rglob("*") if f.is_file()))


TRAIN = """import tensorflow as tf

w = tf.Variable(tf.ones([3, 2]), name="w")


@tf.function{signature}
def predict(x):
    return tf.nn.relu(tf.matmul(x, w))


def main():
    for rows in range(1, 13):
        predict(tf.ones([rows, 3]))
"""


def scrub(source, target, home):
    """The files of a debug folder, without what is this machine's: paths, names, times, and the text of TensorFlow's own
    files."""
    from tensorflow.core.protobuf import debug_event_pb2
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for path in sorted(source.iterdir()):
        kind = path.name.rsplit(".", 1)[-1]
        with tf.io.TFRecordWriter(str(target / f"tfdbg_events.1600000000.host.{kind}")) as writer:
            for i, record in enumerate(tf.data.TFRecordDataset(str(path))):
                event = debug_event_pb2.DebugEvent.FromString(record.numpy())
                event.wall_time = 1.6e9 + i / 1000
                what = event.WhichOneof("what")
                if what == "debug_metadata":
                    event.debug_metadata.tfdbg_run_id = "doctor"
                if what == "source_file":
                    file = event.source_file
                    if home not in file.file_path:
                        del file.lines[:]
                    where = file.file_path.split("/lib/python")
                    file.file_path = ("/home/me/lib/python" + where[-1] if len(where) > 1 else
                                      "/home/me/" + pathlib.Path(file.file_path).name)
                    file.host_name = "host"
                for part in ("graph_op_creation", "execution"):
                    if what == part:
                        getattr(event, part).code_location.host_name = "host"
                writer.write(event.SerializeToString(deterministic=True))


def write_debug_folder(name, signature):
    """A function that is called with twelve shapes. In a process of its own: TensorFlow numbers files through all runs."""
    import importlib.util
    import tempfile
    with tempfile.TemporaryDirectory() as home:
        program, dump = pathlib.Path(home) / "train.py", pathlib.Path(home) / "dump"
        program.write_text(TRAIN.format(signature=signature))
        spec = importlib.util.spec_from_file_location("train", program)
        train = importlib.util.module_from_spec(spec)
        tf.debugging.experimental.enable_dump_debug_info(str(dump), tensor_debug_mode="SHAPE", circular_buffer_size=-1)
        spec.loader.exec_module(train)
        train.main()
        tf.debugging.experimental.disable_dump_debug_info()
        scrub(dump, OUT / name, home)
    print(name)


def main():
    names = sys.argv[1:]
    wanted = lambda name: not names or any(name.startswith(n) for n in names)
    for name, build in CASES.items():
        if wanted(name):
            write_case(name, build)
    if wanted("checkpoints") or wanted("healthy_checkpoints"):
        write_checkpoints()
    for name, build in SCALARS.items():
        if wanted(name):
            write_scalars(name, build)
    for name, signature in (("retracing", ""), ("healthy_tracing", "(input_signature=[tf.TensorSpec([None, 3])])")):
        if wanted(name):
            process = multiprocessing.get_context("spawn").Process(target=write_debug_folder, args=(name, signature))
            process.start()
            process.join()


if __name__ == "__main__":
    main()
