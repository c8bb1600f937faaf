"""Small graphs for Grappler, for scripts/make_testdata.py: one thing each that a pass does, or refuses to do."""
import numpy as np
import tensorflow as tf

raw = tf.raw_ops
REWRITES = {}                                                 # folder: (function that builds the graph, fetches)
# Pass to the name that RewriterConfig.optimizers has for it.
OPTIMIZER = {"model_pruner": "pruning", "common_subgraph_elimination": "common_subgraph_elimination",
             "constant_folding": "constfold", "dependency_optimizer": "dependency", "remapper": "remap",
             "loop_optimizer": "loop"}


def rewrite(*fetches):
    """Registers a function that builds a graph. Its name is PASS__CASE, its first line says what should happen."""
    def register(f):
        REWRITES[f.__name__.replace("__", ".")] = f, fetches
        return f
    return register


def var(name, *shape, dtype=tf.float32):
    """A variable: nothing is known of its value, so nothing folds."""
    return raw.VariableV2(shape=shape, dtype=dtype, name=name)


def const(name, value, dtype="f"):
    return tf.constant(np.asarray(value, dtype), name=name)


def after(*ops):
    return tf.control_dependencies(ops)


def identity(name, x):
    return raw.Identity(input=x, name=name)


def exp(name, x):
    return raw.Exp(x=x, name=name)


@rewrite("o:0")
def model_pruner__unreachable():
    """What the fetch does not need goes."""
    x = raw.Sqrt(x=var("x", 2, 2), name="x1")
    exp("dead", x)
    identity("o", x)


@rewrite("o:0")
def model_pruner__pass_through():
    """Identity, StopGradient, PreventGradient and a NoOp that only orders go."""
    x = raw.Sqrt(x=var("x", 2), name="s")
    x = raw.PreventGradient(input=raw.StopGradient(input=identity("i", x), name="sg"), message="m", name="pg")
    with after(tf.no_op(name="n0")):
        raw.Sin(x=exp("e", x), name="o")


@rewrite("o:0")
def model_pruner__identity_n():
    """An IdentityN of which one output is read."""
    x = raw.Sqrt(x=const("k", [1, 2]), name="s")
    exp("o", raw.IdentityN(input=[x, const("k2", [1]), const("k3", [3])], name="n")[0])


@rewrite("o:0", "o2:0")
def model_pruner__add_n_of_one():
    """An AddN of one input goes; Snapshot and CheckNumerics stay."""
    x = raw.Sqrt(x=const("k", [1, 2]), name="s")
    check = raw.CheckNumerics(tensor=x, message="m", name="cn")
    exp("o", raw.Snapshot(input=raw.AddN(inputs=[x], name="an"), name="sn"))
    exp("o2", check)


@rewrite("o:0")
def common_subgraph_elimination__chains():
    """Two equal chains become one, and so do sums whose terms are swapped."""
    x, y = var("x", 2), var("y", 2)
    a = raw.Tanh(x=raw.AddV2(x=exp("e1", x), y=y, name="a1"), name="t1")
    b = raw.Tanh(x=raw.AddV2(x=y, y=exp("e2", x), name="a2"), name="t2")
    raw.Mul(x=a, y=b, name="o")


@rewrite("o1:0", "o2:0")
def common_subgraph_elimination__devices():
    """Equal nodes on two devices both stay."""
    x = var("x", 2)
    with tf.device("/device:CPU:0"):
        a = exp("a", x)
    with tf.device("/device:CPU:1"):
        b = exp("b", x)
    identity("o1", a)
    identity("o2", b)


@rewrite("o1:0", "o2:0", "o3:0")
def common_subgraph_elimination__fetched():
    """Equal nodes that are fetched stay."""
    x = var("x", 2)
    exp("o1", x)
    exp("o2", x)
    identity("o3", exp("e3", x))


@rewrite("o1:0", "o2:0")
def common_subgraph_elimination__stateful():
    """Two reads of a variable stay two reads."""
    h = raw.VarHandleOp(dtype=tf.float32, shape=[2], name="h")
    for i in "12":
        identity("o" + i, raw.ReadVariableOp(resource=h, dtype=tf.float32, name="r" + i))


@rewrite("o:0", "c:0")
def constant_folding__constants():
    """What depends on constants only becomes a constant; the rest keeps its inputs."""
    k = raw.Mul(x=const("k1", [1, 2]), y=const("k2", [3, 4]), name="m")
    raw.AddV2(x=var("x", 2), y=exp("e", k), name="o")
    raw.Cast(x=const("i", [1, 2], "i4"), DstT=tf.float32, name="c")


@rewrite("o_mul0:0", "o_mul1:0", "o_add0:0", "o_rsub0:0", "o_div1:0", "o_rdiv1:0", "o_mm0:0", "o_addb:0", "o_or:0")
def constant_folding__neutral_elements():
    """Operations with 0, 1 and true."""
    x, zero, one = var("x", 2, 2), const("z", np.zeros((2, 2))), const("on", np.ones((2, 2)))
    identity("o_mul0", raw.Mul(x=x, y=zero, name="mul0"))
    identity("o_mul1", raw.Mul(x=x, y=one, name="mul1"))
    identity("o_add0", raw.AddV2(x=x, y=zero, name="add0"))
    identity("o_rsub0", raw.Sub(x=zero, y=x, name="rsub0"))
    identity("o_div1", raw.RealDiv(x=x, y=one, name="div1"))
    identity("o_rdiv1", raw.RealDiv(x=one, y=x, name="rdiv1"))
    identity("o_mm0", raw.MatMul(a=x, b=zero, name="mm0"))
    identity("o_addb", raw.AddV2(x=x, y=const("zb", np.zeros((3, 2, 2))), name="addb"))
    identity("o_or", raw.LogicalOr(x=var("b", 2, dtype=tf.bool), y=const("t", [True, True], "?"), name="lor"))


@rewrite("o0:0", "o1:0", "o2:0", "o3:0")
def constant_folding__shapes():
    """Shape, ShapeN, Size and Rank of tensors whose shape is known."""
    x, y = var("x", 2, 3), var("y", 4)
    a, b = raw.ShapeN(input=[x, y], name="sn")
    identity("o0", a)
    identity("o1", raw.Size(input=x, name="sz"))
    identity("o2", raw.Rank(input=x, name="rk"))
    raw.Reshape(tensor=x, shape=raw.Shape(input=x, name="sh"), name="o3")
    identity("unused", b)


@rewrite("o:0")
def constant_folding__shape_of_a_feed():
    """The shape of a fed placeholder is not trusted."""
    x = raw.Placeholder(dtype=tf.float32, shape=[2, 3], name="x")
    identity("o", raw.Shape(input=x, name="sh"))


@rewrite("o:0", "o2:0", "o3:0")
def constant_folding__push_down():
    """Constants on two sides of an operation with a variable meet."""
    x = var("x", 2, 2)
    identity("o", raw.AddV2(x=const("c1", 1), y=raw.AddV2(x=const("c2", 2), y=x, name="ch"), name="pa"))
    identity("o2", raw.Mul(x=const("c3", 3), y=raw.Mul(x=const("c4", 2), y=x, name="ch2"), name="pa2"))
    identity("o3", raw.Sub(x=const("c5", 3), y=raw.Sub(x=x, y=const("c6", 2), name="ch3"), name="pa3"))


@rewrite("o:0")
def constant_folding__merge_concat():
    """A concat of a concat along the same axis."""
    x, y, z = (var(n, 2, 2) for n in "xyz")
    axis = const("ax", 0, "i4")
    identity("o", raw.ConcatV2(values=[raw.ConcatV2(values=[x, y], axis=axis, name="c1"), z], axis=axis, name="c2"))


@rewrite("o:0")
def constant_folding__select():
    """A select whose condition is known."""
    identity("o", raw.SelectV2(condition=const("tr", True, "?"), t=var("x", 2, 2), e=var("y", 2, 2), name="sel"))


@rewrite("str:0", "rnd:0", "obig:0")
def constant_folding__not_folded():
    """A random op, a join of strings and a result of 64 MB stay; the 16 KB before it fold."""
    raw.StringJoin(inputs=[tf.constant("a", name="a"), tf.constant("b", name="b")], name="str")
    raw.RandomUniform(shape=const("s", [2], "i4"), dtype=tf.float32, name="rnd")
    identity("obig", raw.Diag(diagonal=tf.fill([4096], const("one", 1), name="dg"), name="big"))


@rewrite("n2:0")
def dependency_optimizer__transitive():
    """A control edge that a data edge implies goes."""
    x = raw.RandomUniform(shape=const("s", [2], "i4"), dtype=tf.float32, name="x")
    n1 = raw.Neg(x=x, name="n1")
    with after(x.op):
        raw.Neg(x=n1, name="n2")


@rewrite("n2:0")
def dependency_optimizer__constant():
    """A control edge from a constant goes."""
    x, k = var("x", 1), const("k", [1])
    with after(k.op):
        raw.Neg(x=x, name="n2")


@rewrite("o:0")
def dependency_optimizer__no_op():
    """A NoOp between control edges is bypassed, and so is an Identity read for control only."""
    r = [raw.RandomUniform(shape=const(f"s{i}", [2], "i4"), dtype=tf.float32, name=f"r{i}") for i in "12"]
    i1 = identity("i1", r[0])
    with after(i1.op, r[1].op):
        n = tf.no_op(name="n")
    x = var("x", 2)
    with after(n):
        raw.Neg(x=x, name="o")


def conv(x, w, **kw):
    return raw.Conv2D(input=x, filter=w, strides=[1, 1, 1, 1], padding="SAME", name="cv", **kw)


def bias(x, channels=4):
    return raw.BiasAdd(value=x, bias=var("b", channels), name="ba")


def batch_norm(x, channels):
    statistics = dict(scale=[1, 2, 3, 4], offset=[0, 1, 0, 1], mean=[.1, .2, .3, .4], variance=[1, .5, .25, 2])
    return raw.FusedBatchNormV3(x=x, epsilon=1e-3, is_training=False, name="bn",
                                **{name: const(name, v[:channels]) for name, v in statistics.items()}).y


def conv_inputs():
    return var("x", 1, 8, 8, 3), var("w", 2, 2, 3, 4)


@rewrite("o:0")
def remapper__conv_bias():
    """Conv2D and BiasAdd on a CPU become _FusedConv2D."""
    with tf.device("/device:CPU:0"):
        identity("o", bias(conv(*conv_inputs())))


@rewrite("o:0")
def remapper__conv_bias_relu():
    """Conv2D, BiasAdd and Relu become _FusedConv2D."""
    with tf.device("/device:CPU:0"):
        identity("o", raw.Relu(features=bias(conv(*conv_inputs())), name="act"))


@rewrite("o:0")
def remapper__no_device():
    """The same without a device is left alone."""
    identity("o", bias(conv(*conv_inputs())))


@rewrite("o:0")
def remapper__control_input():
    """A convolution with a control input is left alone."""
    with tf.device("/device:CPU:0"):
        k = const("k", 1)
        x, w = conv_inputs()
        with after(k.op):
            c = conv(x, w)
        identity("o", bias(c))


@rewrite("o:0", "o2:0")
def remapper__two_readers():
    """A convolution that something else reads too is left alone."""
    with tf.device("/device:CPU:0"):
        c = conv(*conv_inputs())
        identity("o", bias(c))
        exp("o2", c)


@rewrite("o:0")
def remapper__pad_conv3d():
    """Pad and Conv3D become _FusedConv3D with a list of paddings."""
    with tf.device("/device:CPU:0"):
        paddings = const("p", [[0, 0], [1, 0], [0, 2], [1, 1], [0, 0]], "i4")
        padded = raw.Pad(input=var("x", 1, 2, 4, 4, 3), paddings=paddings, name="pad")
        w = var("w", 2, 2, 2, 3, 5)
        identity("o", raw.Conv3D(input=padded, filter=w, strides=[1] * 5, padding="VALID", name="conv"))


@rewrite("o:0")
def remapper__batch_matmul_mul_add():
    """BatchMatMulV2, Mul by a number and Add of a mask become _MklFusedBatchMatMulV2."""
    with tf.device("/device:CPU:0"):
        scores = raw.BatchMatMulV2(x=var("q", 2, 3, 4, 6), y=var("k", 2, 3, 5, 6), adj_y=True, name="scores")
        scaled = raw.Mul(x=scores, y=const("s", .25), name="scaled")
        identity("o", raw.AddV2(x=scaled, y=var("m", 2, 1, 1, 5), name="masked"))


@rewrite("o:0")
def remapper__matmul_bias_relu():
    """MatMul, BiasAdd and Relu become _FusedMatMul."""
    with tf.device("/device:CPU:0"):
        product = raw.MatMul(a=var("x", 2, 3), b=var("w", 3, 4), name="mm")
        identity("o", raw.Relu(features=bias(product), name="act"))


@rewrite("o:0")
def remapper__depthwise_bias_relu6():
    """DepthwiseConv2dNative, BiasAdd and Relu6 become _FusedDepthwiseConv2dNative."""
    with tf.device("/device:CPU:0"):
        c = raw.DepthwiseConv2dNative(input=var("x", 1, 8, 8, 3), filter=var("w", 2, 2, 3, 1), strides=[1, 1, 1, 1],
                                      padding="SAME", name="cv")
        identity("o", raw.Relu6(features=bias(c, 3), name="act"))


@rewrite("o:0")
def remapper__conv_batch_norm():
    """Conv2D, FusedBatchNormV3 with constants and Relu."""
    with tf.device("/device:CPU:0"):
        c = conv(*conv_inputs())
        identity("o", raw.Relu(features=batch_norm(c, 4), name="act"))


@rewrite("o:0")
def remapper__batch_norm():
    """A FusedBatchNormV3 of constant statistics that follows no convolution becomes a multiplication and a sum."""
    with tf.device("/device:CPU:0"):
        identity("o", batch_norm(var("x", 1, 4, 4, 3), 3))


# ---- loop_optimizer ----

def switch(name, x, predicate):
    """The false and the true side."""
    return raw.Switch(data=x, pred=predicate, name=name)


def merge(name, *inputs):
    return raw.Merge(inputs=list(inputs), name=name)


@rewrite("o:0", "o2:0")
def loop_optimizer__dead_branch():
    """The side of a Switch that a constant rules out goes, and the Merge with it; what only waits for it too."""
    x = identity("x", var("v", 2))
    false, true = switch("sw", x, tf.constant(True, name="p"))
    dead, live = exp("dead", false), raw.Sin(x=true, name="live")
    identity("o", merge("m", dead, live)[0])
    with after(dead):
        late = raw.Cos(x=const("c", [1, 1]), name="late")
    identity("o2", merge("m2", late, live)[0])


@rewrite("o:0")
def loop_optimizer__false_branch():
    """The other side; and a Switch inside the branch that goes."""
    x = identity("x", var("v", 2))
    p = identity("p", var("q", dtype=tf.bool))
    false, true = switch("sw", x, tf.constant(False, name="never"))
    inner_false, inner_true = switch("inner", true, p)
    inner = merge("inner_m", exp("e1", inner_false), exp("e2", inner_true))[0]
    identity("o", merge("m", raw.Sin(x=false, name="live"), inner)[0])


@rewrite("o:0", "i:0")
def loop_optimizer__choice_is_read():
    """A Merge whose branch index is read keeps both sides."""
    false, true = switch("sw", identity("x", var("v", 2)), tf.constant(True, name="p"))
    value, index = merge("m", exp("dead", false), raw.Sin(x=true, name="live"))
    identity("o", value)
    identity("i", index)


@rewrite("o:0", "dead:0")
def loop_optimizer__dead_and_fetched():
    """A dead side that is fetched stays; of two Switches only the other goes."""
    x, p = identity("x", var("v", 2)), tf.constant(True, name="p")
    false, true = switch("sw", x, p)
    identity("o", merge("m", exp("dead", false), raw.Sin(x=true, name="live"))[0])
    false, true = switch("sw2", x, p)
    with after(merge("m2", exp("dead2", false), raw.Sin(x=true, name="live2"))[0]):
        tf.no_op(name="n")


@rewrite("o:0")
def loop_optimizer__no_iteration():
    """A loop whose condition is false at once has no body."""
    x = identity("x", var("v", 2))
    loop = tf.compat.v1.while_loop(lambda i, a: tf.less(i, 10), lambda i, a: [i + 1, a * 2.0], [tf.constant(20, name="i"), x])
    identity("o", loop[1])


@rewrite("o:0")
def loop_optimizer__iterations():
    """A loop that runs stays."""
    x = identity("x", var("v", 2))
    loop = tf.compat.v1.while_loop(lambda i, a: tf.less(i, 10), lambda i, a: [i + 1, a * 2.0], [tf.constant(2, name="i"), x])
    identity("o", loop[1])


def stack():
    handle = raw.StackV2(max_size=tf.constant(5, name="size"), elem_type=tf.float32, stack_name="", name="stack")
    return raw.Enter(data=handle, frame_name="f", is_constant=True, name="enter")


@rewrite("o:0")
def loop_optimizer__stack_without_pop():
    """A push on a stack that is never popped becomes an Identity."""
    x = raw.Enter(data=identity("x", var("v", 2)), frame_name="f", name="xe")
    identity("o", raw.StackPushV2(handle=stack(), elem=x, swap_memory=True, name="push"))


@rewrite("o:0", "q:0")
def loop_optimizer__stack_with_pop():
    """A stack that is popped stays."""
    x = raw.Enter(data=identity("x", var("v", 2)), frame_name="f", name="xe")
    handle = stack()
    push = raw.StackPushV2(handle=handle, elem=x, name="push")
    identity("o", push)
    with after(push):
        identity("q", raw.StackPopV2(handle=handle, elem_type=tf.float32, name="pop"))
