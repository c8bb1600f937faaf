"""Freezes five Keras networks with weights from a seed, whose pictures must be readable: graphs for scripts/picture_layers.py.

needs: tensorflow-cpu==2.21.0        usage: scripts/network_graphs.py OUT_DIR [NAME...]

OUT_DIR gets NAME.pb, a frozen GraphDef, and NAME.json: {"layers": [[name, class, merges], ...]} in the order of model.operations,
the layers and other calls of the model, and {"nodes": {node: layer}}, the layer that made each node (except constants).
"""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

K = tf.keras
MERGES = ("Add", "Concatenate", "Multiply", "Average", "Maximum", "Subtract")


def bert_like(layers=6, width=64, heads=4, words=1000, length=32):
    """An encoder as BERT's, without names: token and position embeddings, a mask that every layer reads, a pooled answer."""
    tokens = K.Input((length,), dtype="int32", name="tokens")
    mask = K.Input((length,), dtype="int32", name="mask")
    seen = K.layers.Reshape((1, length))(mask)
    x = K.layers.Embedding(words, width)(tokens)
    places = K.layers.Embedding(length, width)(tf.range(length)[None])
    x = K.layers.Add()([x, places])
    x = K.layers.LayerNormalization()(x)
    for _ in range(layers):
        y = K.layers.MultiHeadAttention(heads, width // heads)(x, x, attention_mask=seen)
        x = K.layers.LayerNormalization()(K.layers.Add()([x, y]))
        y = K.layers.Dense(4 * width, activation="gelu")(x)
        y = K.layers.Dense(width)(y)
        x = K.layers.LayerNormalization()(K.layers.Add()([x, y]))
    first = K.layers.Lambda(lambda t: t[:, 0])(x)
    answer = K.layers.Dense(2)(K.layers.Dense(width, activation="tanh")(first))
    return K.Model([tokens, mask], answer, name="encoder")


NETWORKS = {
    "inception_v3": lambda: K.applications.InceptionV3(weights=None),
    "nasnet_mobile": lambda: K.applications.NASNetMobile(weights=None),
    "mobilenet_v3_large": lambda: K.applications.MobileNetV3Large(weights=None),
    "bert_like": bert_like,
    "convnext_tiny": lambda: K.applications.ConvNeXtTiny(weights=None),
}


def remember_layers(model, made):
    """Makes each layer of the model record the operations that it makes in a graph in `made`, {operation: layer}."""
    for layer in model.operations:
        def call(*args, _call=layer.__call__, _name=layer.name, **kwargs):
            graph = tf.compat.v1.get_default_graph()
            before = len(graph.get_operations())
            result = _call(*args, **kwargs)
            made.update((op.name, _name) for op in graph.get_operations()[before:])
            return result
        for node in layer._inbound_nodes:                     # pylint: disable=protected-access
            node.operation = Recorder(layer, call)


class Recorder:
    """A layer whose calls go through `call`."""

    def __init__(self, layer, call):
        self.__dict__.update(_layer=layer, _call=call)

    def __getattr__(self, name):
        return getattr(self._layer, name)

    def __call__(self, *args, **kwargs):
        return self._call(*args, **kwargs)


def freeze(model):
    """The frozen GraphDef, and the layer that made each of its nodes."""
    made = {}
    remember_layers(model, made)
    inputs = [tf.TensorSpec([1] + list(i.shape[1:]), i.dtype, i.name.split(":")[0]) for i in model.inputs]
    function = tf.function(lambda *args: model(list(args) if len(args) > 1 else args[0], training=False))
    graph = convert_variables_to_constants_v2(function.get_concrete_function(*inputs)).graph.as_graph_def()
    return graph, made


def write(name, out):
    K.backend.clear_session()
    K.utils.set_random_seed(7)
    model = NETWORKS[name]()
    layers = [[layer.name, type(layer).__name__, type(layer).__name__ in MERGES] for layer in model.operations]
    graph, made = freeze(model)
    rest = [n.name for n in graph.node if n.op not in ("Const", "Placeholder") and n.name not in made]
    with open(os.path.join(out, name + ".pb"), "wb") as f:
        f.write(graph.SerializeToString(deterministic=True))
    with open(os.path.join(out, name + ".json"), "w") as f:
        json.dump({"layers": layers, "nodes": {n.name: made[n.name] for n in graph.node if n.op != "Const" and n.name in made}}, f)
    print(f"{name}: {len(graph.node)} nodes, {len(layers)} layers; of no layer: {', '.join(rest)}")


def main():
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    for name in sys.argv[2:] or NETWORKS:
        write(name, out)


if __name__ == "__main__":
    main()
