"""Ways to export a model with its training step, for checkpoint_round_trips.py: each function makes a SavedModel from a seed, with the
signatures 'train' (x, y to loss, changes variables) and 'serve' (x to out)."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import numpy as np
import tensorflow as tf

try:
    import tf_keras  # Keras 2; the kinds of model that need it are skipped if it is not installed
except ImportError:
    tf_keras = None

WAYS = {}


def way(function):
    WAYS[function.__name__] = function
    return function


def way_of_keras_2(function):
    return way(function) if tf_keras else function


class Sizes:
    def __init__(self, seed):
        random = np.random.RandomState(seed)
        self.random = random
        self.columns, self.outputs, self.rows = (int(random.randint(2, 6)) for _ in range(3))
        # Often all of one shape, so that shapes alone do not distinguish variables.
        same = random.rand() < 0.5
        self.hidden = [self.columns] * 2 if same else [int(random.randint(2, 6)) for _ in range(2)]
        if same:
            self.outputs = self.columns
        self.names = list(random.permutation(["alpha", "beta", "zeta", "a", "m", "net", "layer_9", "layer_10"]))

    def normal(self, *shape):
        return self.random.randn(*shape).astype("f") * 0.5


def specs(sizes):
    return tf.TensorSpec([None, sizes.columns], name="x"), tf.TensorSpec([None, sizes.outputs], name="y")


def add_signatures(model, sizes, call, variables, update):
    """Gives a trackable object a step and a call, as functions; returns them as signatures."""
    x, y = specs(sizes)

    def train(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(call(x) - y))
        update(tape.gradient(loss, variables()), variables())
        return {"loss": loss}

    model.train = tf.function(train, input_signature=[x, y])
    model.serve = tf.function(lambda x: {"out": call(x)}, input_signature=[x])
    return {"train": model.train, "serve": model.serve}


def descend(gradients, variables):
    for gradient, variable in zip(gradients, variables):
        if gradient is not None:
            variable.assign_sub(0.05 * gradient)


class Affine(tf.Module):
    def __init__(self, sizes, rows, columns, names=("w", "b")):
        named = [{"name": name} if name else {} for name in names]
        self.w = tf.Variable(sizes.normal(rows, columns), **named[0])
        self.b = tf.Variable(sizes.normal(columns), **named[1])

    def __call__(self, x):
        return x @ self.w + self.b


def widths(sizes):
    all_widths = [sizes.columns, *sizes.hidden, sizes.outputs]
    return list(zip(all_widths, all_widths[1:]))


def apply_all(layers, x):
    for layer in layers[:-1]:
        x = tf.tanh(layer(x))
    return layers[-1](x)


def save_module(model, path, sizes, layers, names_of=lambda i: ("w", "b")):
    signatures = add_signatures(model, sizes, lambda x: apply_all(layers, x), lambda: [v for l in layers for v in (l.w, l.b)], descend)
    tf.saved_model.save(model, path, signatures=signatures)


# ---- tf.Module ----

@way
def module_of_named_variables(path, sizes):
    model = tf.Module()
    layers = [Affine(sizes, i, o, (f"{sizes.names[n]}/kernel", f"{sizes.names[n]}/bias")) for n, (i, o) in enumerate(widths(sizes))]
    for name, layer in zip(sizes.names, layers):
        setattr(model, name, layer)
    save_module(model, path, sizes, layers)


@way
def module_of_variables_without_names(path, sizes):
    model = tf.Module()
    layers = [Affine(sizes, i, o, (None, None)) for i, o in widths(sizes)]
    for name, layer in zip(sizes.names, layers):
        setattr(model, name, layer)
    save_module(model, path, sizes, layers)


@way
def module_of_variables_of_one_name(path, sizes):
    model = tf.Module()
    layers = [Affine(sizes, i, o, ("w", "w")) for i, o in widths(sizes)]
    for name, layer in zip(sizes.names, layers):
        setattr(model, name, layer)
    save_module(model, path, sizes, layers)


@way
def module_of_a_list(path, sizes):
    model = tf.Module()
    model.layers = [Affine(sizes, i, o) for i, o in widths(sizes)]
    save_module(model, path, sizes, model.layers)


@way
def module_of_a_dictionary(path, sizes):
    model = tf.Module()
    layers = [Affine(sizes, i, o) for i, o in widths(sizes)]
    model.parts = dict(zip([n + "/.x" for n in sizes.names], layers))
    save_module(model, path, sizes, layers)


@way
def module_with_averages(path, sizes):
    """Each variable has an average of its name, with another value, that the step updates."""
    model = tf.Module()
    model.layers = [Affine(sizes, i, o) for i, o in widths(sizes)]
    model.averages = [Affine(sizes, i, o) for i, o in widths(sizes)]
    model.steps = tf.Variable(np.int64(0), name="w", trainable=False)

    def update(gradients, variables):
        descend(gradients, variables)
        model.steps.assign_add(1)
        averages = [v for layer in model.averages for v in (layer.w, layer.b)]
        for average, variable in zip(averages, variables):
            average.assign(0.9 * average + 0.1 * variable)

    signatures = add_signatures(model, sizes, lambda x: apply_all(model.layers, x) + 0.1 * apply_all(model.averages, x),
                                lambda: [v for l in model.layers for v in (l.w, l.b)], update)
    tf.saved_model.save(model, path, signatures=signatures)


@way
def module_with_shared_layers(path, sizes):
    """Two names lead to one layer."""
    sizes.hidden = [sizes.columns] * 2
    model = tf.Module()
    first = Affine(sizes, sizes.columns, sizes.columns)
    layers = [first, first, Affine(sizes, sizes.columns, sizes.outputs)]
    model.z, model.a, model.m = layers
    save_module(model, path, sizes, layers)


@way
def module_with_a_loop(path, sizes):
    """The step reads and writes variables by their handles in a While and an If."""
    model = tf.Module()
    model.cell = Affine(sizes, sizes.columns, sizes.columns)
    model.end = Affine(sizes, sizes.columns, sizes.outputs)
    model.counts = tf.Variable(np.zeros(3, "i"), trainable=False)

    def call(x):
        for _ in tf.range(3):
            x = tf.tanh(model.cell(x))
        return model.end(x)

    def update(gradients, variables):
        descend(gradients, variables)
        for i in tf.range(3):
            if model.counts[i] < 5:
                model.counts.scatter_nd_add([[i]], [i + 1])

    signatures = add_signatures(model, sizes, call, lambda: [model.cell.w, model.cell.b, model.end.w, model.end.b], update)
    tf.saved_model.save(model, path, signatures=signatures)


@way
def module_saved_again(path, sizes):
    first = path + "_first"
    module_of_variables_of_one_name(first, sizes)
    loaded = tf.saved_model.load(first)
    tf.saved_model.save(loaded, path, signatures={"train": loaded.train, "serve": loaded.serve})


# ---- Keras 3 ----

def keras_layers(keras, sizes, kind):
    layers = keras.layers
    named = {"name": sizes.names[0]} if sizes.random.rand() < 0.5 else {}
    if kind == "plain":
        return [layers.Dense(sizes.hidden[0], activation="tanh", **named), layers.Dense(sizes.hidden[1], activation="tanh")]
    if kind == "normalized":
        return [layers.Dense(sizes.hidden[0]), layers.BatchNormalization(), layers.Dropout(0.5), layers.LayerNormalization(),
                layers.Dense(sizes.hidden[1], activation="tanh", **named)]
    return [layers.Reshape((sizes.columns, 1)), layers.GRU(sizes.hidden[0], **named), layers.Dense(sizes.hidden[1])]


def keras_net(keras, sizes, kind="plain", functional=False):
    keras.utils.set_random_seed(int(sizes.random.randint(1 << 30)))
    for _ in range(sizes.random.randint(3)):
        keras.layers.Dense(1).build((None, 1))  # so that the numbers in names start at any value
    parts = [*keras_layers(keras, sizes, kind), keras.layers.Dense(sizes.outputs)]
    if not functional:
        net = keras.Sequential([keras.Input((sizes.columns,)), *parts])
    else:
        x = begin = keras.Input((sizes.columns,))
        for part in parts:
            x = part(x)
        net = keras.Model(begin, x)
    for variable in net.variables:
        # A value that two variables share, such as a bias of zeros, could not tell them apart.
        if "float" in str(variable.dtype) and "variance" not in variable.name:
            variable.assign(variable + sizes.normal(*variable.shape) * 0.3)
    return net


def optimizer_of(keras, sizes):
    kind = sizes.random.randint(3)
    if kind == 0:
        return keras.optimizers.SGD(0.05, momentum=0.9)
    return keras.optimizers.Adam(0.02) if kind == 1 else keras.optimizers.RMSprop(0.01)


def keras_update(optimizer, variables):
    optimizer.build(variables)
    return lambda gradients, variables: optimizer.apply_gradients(zip(gradients, variables))


def save_archive(path, sizes, kind, functional=False):
    keras = tf.keras
    net = keras_net(keras, sizes, kind, functional)
    update = keras_update(optimizer_of(keras, sizes), net.trainable_variables)
    holder = tf.Module()
    # The export has no randomness, because a seed's state would make every run different.
    add_signatures(holder, sizes, lambda x: net(x, training=False), lambda: net.trainable_variables, update)
    archive = keras.export.ExportArchive()
    archive.track(net)
    x, y = specs(sizes)
    archive.add_endpoint("train", holder.train.python_function, input_signature=[x, y])
    archive.add_endpoint("serve", holder.serve.python_function, input_signature=[x])
    archive.write_out(path, verbose=False)


@way
def keras_3_archive(path, sizes):
    save_archive(path, sizes, "plain")


@way
def keras_3_archive_normalized(path, sizes):
    save_archive(path, sizes, "normalized", functional=True)


@way
def keras_3_archive_recurrent(path, sizes):
    save_archive(path, sizes, "recurrent")


def save_keras(keras, path, sizes, kind, functional=False):
    net = keras_net(keras, sizes, kind, functional)
    signatures = add_signatures(tf.Module(), sizes, lambda x: net(x, training=False), lambda: net.trainable_variables, descend_keras)
    tf.saved_model.save(net, path, signatures=signatures)


def save_module_of_keras(keras, path, sizes, kind, functional=False):
    model = tf.Module()
    model.net = keras_net(keras, sizes, kind, functional)
    model.optimizer = optimizer_of(keras, sizes)
    update = keras_update(model.optimizer, model.net.trainable_variables)
    signatures = add_signatures(model, sizes, lambda x: model.net(x, training=False), lambda: model.net.trainable_variables, update)
    tf.saved_model.save(model, path, signatures=signatures)


@way
def keras_3_saved(path, sizes):
    save_keras(tf.keras, path, sizes, "plain", functional=True)


@way
def keras_3_saved_normalized(path, sizes):
    save_keras(tf.keras, path, sizes, "normalized")


class Subclassed(tf.keras.Model):
    def __init__(self, sizes):
        super().__init__()
        keras = tf.keras
        self.blocks = [keras_net(keras, sizes, "plain") for _ in range(2)]
        self.ends = {"last": keras.layers.Dense(sizes.outputs, kernel_initializer="random_normal")}

    def call(self, x):
        return self.ends["last"](sum(block(x) for block in self.blocks))


@way
def keras_3_subclassed(path, sizes):
    net = Subclassed(sizes)
    net(np.zeros((1, sizes.columns), "f"))
    signatures = add_signatures(tf.Module(), sizes, net, lambda: net.trainable_variables, descend_keras)
    tf.saved_model.save(net, path, signatures=signatures)


def descend_keras(gradients, variables):
    for gradient, variable in zip(gradients, variables):
        variable.assign_sub(0.05 * gradient)


@way
def keras_3_in_a_module(path, sizes):
    save_module_of_keras(tf.keras, path, sizes, "normalized")


@way
def keras_3_twice_in_a_module(path, sizes):
    """Two nets of the same layers: a student and its teacher."""
    model = tf.Module()
    model.student, model.teacher = keras_net(tf.keras, sizes), keras_net(tf.keras, sizes)
    signatures = add_signatures(model, sizes, lambda x: model.student(x) + 0.5 * model.teacher(x),
                                lambda: model.student.trainable_variables, descend_keras)
    tf.saved_model.save(model, path, signatures=signatures)


# ---- Keras 2 ----

@way_of_keras_2
def keras_2_saved(path, sizes):
    save_keras(tf_keras, path, sizes, "normalized")


@way_of_keras_2
def keras_2_compiled(path, sizes):
    """As model.save writes it, with the optimizer's state."""
    net = keras_net(tf_keras, sizes, "plain", functional=True)
    net.compile(optimizer_of(tf_keras, sizes), "mse")
    net.optimizer.build(net.trainable_variables)
    x, y = specs(sizes)

    def train(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(net(x) - y))
        net.optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
        return {"loss": loss}

    net.save(path, save_format="tf", signatures={"train": tf.function(train, input_signature=[x, y]),
                                                 "serve": tf.function(lambda x: {"out": net(x)}, input_signature=[x])})


@way_of_keras_2
def keras_2_in_a_module(path, sizes):
    save_module_of_keras(tf_keras, path, sizes, "recurrent")


@way_of_keras_2
def keras_2_archive(path, sizes):
    net = keras_net(tf_keras, sizes, "plain")
    holder = tf.Module()
    add_signatures(holder, sizes, lambda x: net(x, training=False), lambda: net.trainable_variables, descend)
    archive = tf_keras.export.ExportArchive()
    archive.track(net)
    x, y = specs(sizes)
    archive.add_endpoint("train", holder.train.python_function, input_signature=[x, y])
    archive.add_endpoint("serve", holder.serve.python_function, input_signature=[x])
    archive.write_out(path)


# ---- TensorFlow 1 ----

def save_v1(path, sizes, use_resource, momentum, parts=None):
    v1 = tf.compat.v1
    graph = tf.Graph()
    partitioner = v1.fixed_size_partitioner(parts) if parts else None
    with graph.as_default(), v1.Session(graph=graph) as session:
        x = v1.placeholder(tf.float32, [None, sizes.columns], "x")
        y = v1.placeholder(tf.float32, [None, sizes.outputs], "y")
        out = x
        for i, (rows, columns) in enumerate(widths(sizes)):
            with v1.variable_scope(sizes.names[i], use_resource=use_resource):
                w = v1.get_variable("w", [rows, columns], initializer=v1.random_normal_initializer(seed=i), partitioner=partitioner)
                b = v1.get_variable("b", initializer=sizes.normal(columns))
                out = tf.tanh(tf.matmul(out, tf.convert_to_tensor(w)) + b)
        loss = tf.reduce_mean(tf.square(out - y))
        optimizer = v1.train.MomentumOptimizer(0.05, 0.9) if momentum else v1.train.AdamOptimizer(0.02)
        with tf.control_dependencies([loss]):
            step = optimizer.minimize(loss)
        with tf.control_dependencies([step]):
            stepped = tf.identity(loss, name="stepped")
        session.run(v1.global_variables_initializer())
        builder = v1.saved_model.Builder(path)
        define = v1.saved_model.predict_signature_def
        builder.add_meta_graph_and_variables(session, ["serve"], signature_def_map={
            "train": define({"x": x, "y": y}, {"loss": stepped}), "serve": define({"x": x}, {"out": out})})
        builder.save()


@way
def v1_of_references(path, sizes):
    save_v1(path, sizes, use_resource=False, momentum=True)


@way
def v1_of_resources(path, sizes):
    save_v1(path, sizes, use_resource=True, momentum=False)


@way
def v1_in_parts(path, sizes):
    """Variables in parts, which are slices of one tensor of the checkpoint."""
    save_v1(path, sizes, use_resource=bool(sizes.random.randint(2)), momentum=True, parts=2)
