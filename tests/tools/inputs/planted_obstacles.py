"""Plants an obstacle in a layer of an exported Keras model, and asks why the layer is not fused: the first rule of the answer must name the
obstacle.

usage: planted_obstacles.py MODELS FOLDER      `grapnel` is on PATH; the changed networks are written to FOLDER

Some models have an obstacle of their own; these are asked about as they are.
"""
import os
import re
import subprocess
import sys


class Network:
    """The network of a model as text, one node a line."""

    def __init__(self, path):
        with open(path) as file:
            self.lines = file.read().splitlines()
        self.fetches = [line.split(" ")[0][1:] for line in self.lines if re.match(r"%Identity(_\d+)? = Identity\(", line)]

    def text(self):
        return "\n".join(["fetch " + ", ".join("%" + name for name in self.fetches), *self.lines]) + "\n"

    def index(self, node):
        return next(i for i, line in enumerate(self.lines) if line.startswith(f"%{node} = "))

    def change(self, node, pattern, text):
        line = self.lines[self.index(node)]
        changed = re.sub(pattern, text, line, count=1)
        assert changed != line, f"{node}: {pattern} is not in {line}"
        self.lines[self.index(node)] = changed

    def add(self, line):
        self.lines.insert(2, line)  # after the versions

    def read(self, reader, old, new):
        self.change(reader, "%" + re.escape(old) + r"(?=[,)])", "%" + new)

    def readers(self, node):
        return [line.split(" ")[0].strip("% ") for line in self.lines if re.search("[(,] ?%" + re.escape(node) + r"[,)]", line)]

    # The obstacles.

    def second_reader(self, node):
        self.add(f"%probe = Softplus(%{node})")
        self.fetches.append("probe")

    def fetch(self, node):
        self.fetches.append(node)

    def between(self, producer, reader, op, attrs="", name="obstacle", more=()):
        name = reader.rpartition("/")[0] + "/" + name
        self.add(f"%{name} = {op}({', '.join('%' + node for node in (producer, *more))}) {{{attrs}}}")
        self.read(reader, producer, name)
        return name

    def cast(self, dtype, inputs, output):
        """Computes in another dtype: casts inputs, pairs of a reader and a node that it reads, and casts `output` back."""
        readers = self.readers(output)
        for number, (reader, node) in enumerate(inputs):
            self.between(node, reader, "Cast", f"DstT={dtype}", f"cast_{number}")
        self.add(f"%{output}/back = Cast(%{output}) {{DstT=float}}")
        for reader in readers:
            self.read(reader, output, output + "/back")

    def op(self, node, op):
        self.change(node, r"= \w+\(", f"= {op}(")

    def place(self, device, *nodes):
        for node in nodes:
            self.lines[self.index(node)] += " @" + device

    def forget_shapes(self):
        for i, line in enumerate(self.lines):
            while "_output_shapes=[" in line:
                begin = line.index("_output_shapes=[")
                depth, end = 0, begin + len("_output_shapes=")
                while depth or line[end] == "[":
                    depth += (line[end] == "[") - (line[end] == "]")
                    end += 1
                line = line[:begin].removesuffix(", ") + re.sub(r"^, (?=.)", ", " if line[:begin].endswith(", ") else "", line[end:])
            self.lines[i] = line

    def wait(self, node, source):
        self.add(f"%gate = Print(%{source}, %{source})")
        self.change(node, r"\) \{", ", ^gate) {")


CASES = []


def case(model, layer, first_rule):
    """A case is a function that changes the network; `first_rule` must be in the first rule's line of the answer."""

    def add(plant):
        CASES.append((model, layer, first_rule, plant))
        return plant

    return add


def own(model, layer, first_rule):
    CASES.append((model, layer, first_rule, None))


CONV1, CONV2, DENSE = "sequential_1/conv2d_1", "sequential_1/conv2d_1_2", "sequential_1/dense_1"
ENCODERS = "siamese_1/encoder_1", "siamese_1/encoder_3"
UNET, VAE, DISCRIMINATOR = "unet_1", "vae_1/encoder_1", "discriminator"

# A second reader.
case("cnn_plain", "conv2d", r"fuse_bias.*conv2d_1/convolution' is read 2 times")(lambda net: net.second_reader(CONV1 + "/convolution"))
case("cnn_plain", "conv2d_1", r"fuse_bias_activation.*conv2d_1_2/BiasAdd' is read 2 times")(
    lambda net: net.second_reader(CONV2 + "/BiasAdd")
)
case("gan_discriminator", "conv2d", r"fuse_bias_activation.*BiasAdd' is read 2 times")(
    lambda net: net.second_reader(DISCRIMINATOR + "/conv2d/BiasAdd")
)
case("mobile_separable", "separable_conv2d", r"fuse_bias.*separable_conv2d' is read 2 times")(
    lambda net: net.second_reader("functional_1/separable_conv2d_1/separable_conv2d")
)
case("cnn_batchnorm", "conv1", r"fuse_conv_batch_norm.*conv1/Conv2D' is read 2 times")(
    lambda net: net.second_reader("classifier/conv1/Conv2D")
)
case("cnn_batchnorm", "bn1", r"fuse_conv_batch_norm.*'stat' reads '.*:1'")(
    lambda net: (net.add("%stat = Softplus(%classifier/bn1/FusedBatchNormV3:1)"), net.fetch("stat"))
)
case("normalizations", "activation", r"fuse_swish.*Sigmoid' is read 2 times")(
    lambda net: net.second_reader("sequential_1/activation_1/Sigmoid")
)

# A fetch.
case("cnn_plain", "dense", r"fuse_bias.*dense_1/MatMul' is fetched")(lambda net: net.fetch(DENSE + "/MatMul"))
case("compiled_adam", "dense", r"fuse_bias_activation.*BiasAdd' is fetched")(lambda net: net.fetch(DENSE + "/BiasAdd"))
case("vae", "encoder/z_mean", r"fuse_bias.*z_mean_1/MatMul' is fetched")(lambda net: net.fetch(VAE + "/z_mean_1/MatMul"))
case("cnn_batchnorm", "conv3", r"conv3/Conv2D' is fetched")(lambda net: net.fetch("classifier/conv3/Conv2D"))
case("residual", "conv2d", r"Identity\) is between .*BiasAdd.* and .*Relu.*is fetched")(
    lambda net: net.fetch(net.between("functional_1/conv2d_1/BiasAdd", "functional_1/conv2d_1/Relu", "Identity"))
)


# A dtype.
@case("unet", "down1_conv2", r"has dtype half")
def _(net):
    layer = UNET + "/down1_conv2_1/"
    net.cast(
        "half",
        [
            (layer + "convolution", UNET + "/down1_conv1_1/Relu"),
            (layer + "convolution", layer + "convolution/ReadVariableOp"),
            (layer + "BiasAdd", layer + "Squeeze"),
        ],
        layer + "Relu",
    )


@case("unet", "down2_conv2", r"has dtype bfloat16, which _FusedConv2D does not support")
def _(net):
    layer = UNET + "/down2_conv2_1/"
    net.cast(
        "bfloat16",
        [
            (layer + "convolution", UNET + "/down2_conv1_1/Relu"),
            (layer + "convolution", layer + "convolution/ReadVariableOp"),
            (layer + "BiasAdd", layer + "Squeeze"),
        ],
        layer + "Relu",
    )


@case("vae", "encoder/encoder_dense", r"has dtype double")
def _(net):
    layer = VAE + "/encoder_dense_1/"
    net.cast(
        "double",
        [
            (layer + "MatMul", "args_0"),
            (layer + "MatMul", layer + "Cast/ReadVariableOp"),
            (layer + "BiasAdd", layer + "BiasAdd/ReadVariableOp"),
        ],
        layer + "Relu",
    )


own("mixed_precision", "dense", r"fuse_bias.*has dtype half")
own("mixed_precision", "conv", r"fuse_bias.*has dtype half")


# An op in between.
@case("wide_and_deep", "deep_dense1", r"\(Cast\) are between .*MatMul.* and .*BiasAdd")
def _(net):
    layer = "wide_and_deep/deep_dense1/"
    down = net.between(layer + "MatMul", layer + "BiasAdd", "Cast", "DstT=bfloat16")
    net.between(down, layer + "BiasAdd", "Cast", "DstT=float", "up")


@case("wide_and_deep", "deep_dense2", r"Reshape\) is between .*MatMul.* and .*BiasAdd")
def _(net):
    net.add("%flat = Const [-1,1,8]")
    net.between("wide_and_deep/deep_dense2/MatMul", "wide_and_deep/deep_dense2/BiasAdd", "Reshape", more=["flat"])
    net.forget_shapes()


case("gan_discriminator", "conv2d", r"CheckNumerics\) is between .*Conv2D.* and .*BiasAdd")(
    lambda net: net.between(DISCRIMINATOR + "/conv2d/Conv2D", DISCRIMINATOR + "/conv2d/BiasAdd", "CheckNumerics", 'message="nan"')
)
case("siamese", "shared_projection", r"Mul\) is between .*MatMul.* and .*BiasAdd")(
    lambda net: net.between(
        "siamese_1/shared_projection_1/MatMul",
        "siamese_1/shared_projection_1/BiasAdd",
        "Mul",
        more=["siamese_1/shared_projection_1/BiasAdd/ReadVariableOp"],
    )
)
case("siamese", "encoder/conv", r"Abs\) is between .*Conv2D.* and .*BiasAdd")(
    lambda net: [net.between(f"{call}/conv_1/convolution", f"{call}/conv_1/BiasAdd", "Abs") for call in ENCODERS]
)
case("compiled_adam", "dense", r"Mul\) is between .*BiasAdd.* and .*Relu")(
    lambda net: net.between(DENSE + "/BiasAdd", DENSE + "/Relu", "Mul", more=[DENSE + "/BiasAdd/ReadVariableOp"])
)
case("cnn_batchnorm", "conv2", r"Relu\) is between .*Conv2D.* and .*FusedBatchNorm")(
    lambda net: net.between("classifier/conv2/Conv2D", "classifier/bn2/FusedBatchNormV3", "Relu")
)
own("mobilenet_v2", "Conv1", r"Mul\) is between .*Conv2D.* and .*AddV2")
own("gan_generator", "dense", r"Mul\) is between .*MatMul.* and .*AddV2")
own("text_transformer", "block0_ffn1", r"Reshape\) is between .*MatMul.* and .*BiasAdd")
own("forecaster_conv1d", "causal_2", r"BatchToSpaceND\) is between .*Squeeze.* and .*BiasAdd")


# A device.
@case("unet", "down2_conv1", r"on a GPU only Conv2D with a bias and a Relu")
def _(net):
    layer = UNET + "/down2_conv1_1/"
    net.op(layer + "Relu", "Elu")
    net.place("gpu:0", layer + "convolution", layer + "BiasAdd", layer + "Relu")


case("unet", "down2_conv2", r"is on '/device:tpu:0'")(
    lambda net: net.place("tpu:0", *[f"{UNET}/down2_conv2_1/{node}" for node in ("convolution", "BiasAdd", "Relu")])
)
case("saved_model_save", "dense", r"on a GPU only Conv2D")(
    lambda net: net.place("gpu:0", *[f"functional_1/dense_1/{node}" for node in ("MatMul", "BiasAdd", "Relu")])
)


# A missing shape.
@case("text_lstm", "sentiment", r"fuse_bias.*the shapes .* do not make 'offset' a bias")
def _(net):
    net.add("%offset = Placeholder {dtype=float}")
    net.read("reviews_1/sentiment_1/Add", "reviews_1/sentiment_1/Add/ReadVariableOp", "offset")
    net.forget_shapes()


@case("custom_layer", "dense_4", r"fuse_bias.*the shapes .* do not make 'offset' a bias")
def _(net):
    net.add("%offset = Placeholder {dtype=float}")
    net.read("sequential_1/dense_4_1/Add", "sequential_1/dense_4_1/Add/ReadVariableOp", "offset")
    net.forget_shapes()


# Another op than the rule takes, training mode, an edge that orders nodes.
case("vae", "encoder/encoder_dense", r"fuse_bias_activation.*Relu.* was expected, not .*\(Selu\)")(
    lambda net: net.op(VAE + "/encoder_dense_1/Relu", "Selu")
)
case("subclassed", "features", r"Sigmoid is only fused with a MatMul")(lambda net: net.op("classifier_1/features_1/Relu", "Sigmoid"))
case("two_towers", "user_dense", r"MatMul.* was expected, not .*\(BatchMatMulV2\)")(
    lambda net: net.op("two_towers_1/user_dense_1/MatMul", "BatchMatMulV2")
)
own("time_distributed", "dense", r"fuse_bias_activation.* was expected, not .*\(Softmax\)")
case("cnn_batchnorm", "bn2", r"is in training mode")(
    lambda net: net.change("classifier/bn2/FusedBatchNormV3", "is_training=false", "is_training=true")
)
case("wide_and_deep", "output", r"fuse_bias.*has control edges")(
    lambda net: net.wait("wide_and_deep/output/MatMul", "wide_and_deep/output/BiasAdd/ReadVariableOp")
)
case("gan_discriminator", "conv2d_1", r"has control edges")(lambda net: net.wait(DISCRIMINATOR + "/conv2d_1/Conv2D", "input_1"))


def ask(path, layer):
    command = ["grapnel", "passes", "--why-not", "--node", layer, path, "--onednn", "on", "-q"]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


def main(models, folder):
    os.makedirs(folder, exist_ok=True)
    missed = 0
    for number, (model, layer, first_rule, plant) in enumerate(CASES):
        path = os.path.join(models, model, "model")
        if plant:
            network = os.path.join(folder, f"{number}.gtxt")
            subprocess.run(["grapnel", "cut", path, "--signature", "serving_default", "-o", network, "-q"], check=True)
            net = Network(network)
            plant(net)
            with open(network, "w") as file:
                file.write(net.text())
            path = network
        answer = ask(path, layer)
        rules = [line for line in answer.splitlines() if re.match(r"  \w", line)]
        if not rules or not re.search(first_rule, rules[0]):
            missed += 1
            print(f"{model} {layer}: '{first_rule}' is not the first rule of\n{answer}")
    print(f"{len(CASES)} obstacles, {missed} missed")


main(*sys.argv[1:])
