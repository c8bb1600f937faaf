"""Graphs of one optimizer each: variables are assigned, a step is taken on all of them and on some rows, and what they
are then is fetched. Importing this adds them to OPS of testdata_ops."""
import numpy as np
import tensorflow as tf

from testdata_ops import op, random, raw

ROWS = np.array([3, 0, 3], "i4")                              # a row twice: two steps


def variable(name, value):
    """A variable and the op that gives it its value. Readers go through an Identity, so that capture.py, which wants
    values from before the run, does not use these readers to get them."""
    handle = raw.VarHandleOp(dtype=value.dtype, shape=value.shape, shared_name=name, name=name)
    return tf.identity(handle), raw.AssignVariableOp(resource=handle, value=value)


def step(kind, slots, scalars, gradient, dtype, flags, more):
    start = {s: random(4, 3, seed=i, low=-1. if s in ("var", "linear", "gradient_accumulator") else .1) + (s == "ms") * 2
             for i, s in enumerate(slots)}
    made = {s: variable(f"{kind}_{s}_{len(tf.compat.v1.get_default_graph().get_operations())}",
                        tf.constant(start[s], dtype)) for s in slots}
    inputs = {s: handle for s, (handle, _) in made.items()}
    inputs.update({k: v if k == "global_step" else tf.constant(v, dtype) for k, v in scalars.items()})
    with tf.control_dependencies([assign for _, assign in made.values()]):
        done = getattr(raw, kind)(**inputs, **gradient, **flags, **more)
    with tf.control_dependencies([done]):
        return [tf.cast(raw.ReadVariableOp(resource=made[s][0], dtype=dtype), tf.float32 if dtype.size == 2 else dtype)
                for s in slots]


def optimizer(name, slots, scalars, dense="grad", flags=({},), sparse=True, dtypes=(tf.float32, tf.float64)):
    """Cases of ResourceApplyNAME and, if there is one, ResourceSparseApplyNAME."""
    slots = ["var", *slots]

    @op("a step of an optimizer, with every flag" + (", and steps on rows" if sparse else ""), _rtol=1e-5,
        _name="ResourceApply" + name, grad=random(4, 3, seed=7), rows=random(3, 3, seed=8))
    def build(grad, rows):
        out = []
        for dtype in dtypes:
            for flag in flags:
                out += step("ResourceApply" + name, slots, scalars, {dense: tf.cast(grad, dtype)}, dtype, flag, {})
                if sparse:
                    out += step("ResourceSparseApply" + name, slots, scalars, {"grad": tf.cast(rows, dtype)}, dtype, flag,
                                {"indices": tf.constant(ROWS)})
        return out if sparse else out + [tf.identity(rows)]


BOTH = tf.float32, tf.float64
NESTEROV = {"use_nesterov": False}, {"use_nesterov": True}
FTRL = dict(lr=.1, l1=.2, l2=.3, lr_power=-.5)
optimizer("GradientDescent", [], dict(alpha=.1), dense="delta", sparse=False, dtypes=(*BOTH, tf.complex64))
optimizer("Momentum", ["accum"], dict(lr=.1, momentum=.9), flags=NESTEROV)
optimizer("KerasMomentum", ["accum"], dict(lr=.1, momentum=.9), flags=NESTEROV)
ADAM = dict(beta1_power=.81, beta2_power=.99, lr=.01, beta1=.9, beta2=.995, epsilon=1e-6)
optimizer("Adam", ["m", "v"], ADAM, flags=NESTEROV, sparse=False)
optimizer("AdamWithAmsgrad", ["m", "v", "vhat"], ADAM, sparse=False)
optimizer("AdaMax", ["m", "v"], {k: v for k, v in ADAM.items() if k != "beta2_power"}, sparse=False)
UPDATE = {"update_slots": True}, {"update_slots": False}
optimizer("Adagrad", ["accum"], dict(lr=.1), flags=UPDATE)
optimizer("AdagradV2", ["accum"], dict(lr=.1, epsilon=.01), flags=UPDATE)
optimizer("AdagradDA", ["gradient_accumulator", "gradient_squared_accumulator"],
          dict(lr=.1, l1=.05, l2=.3, global_step=np.int64(3)))
optimizer("Adadelta", ["accum", "accum_update"], dict(lr=.1, rho=.9, epsilon=.01))
RMS = dict(lr=.1, rho=.9, momentum=.8, epsilon=.01)
optimizer("RMSProp", ["ms", "mom"], RMS)
optimizer("CenteredRMSProp", ["mg", "ms", "mom"], RMS)
TIMES = {"multiply_linear_by_lr": False}, {"multiply_linear_by_lr": True}
optimizer("Ftrl", ["accum", "linear"], FTRL, flags=TIMES)
optimizer("FtrlV2", ["accum", "linear"], dict(FTRL, l2_shrinkage=.1, lr_power=-.7), flags=TIMES)
optimizer("ProximalAdagrad", ["accum"], dict(lr=.1, l1=.2, l2=.3))
SIGN = dict(lr=.1, sign_decay=.7, beta=.9)
optimizer("AddSign", ["m"], dict(SIGN, alpha=.8), sparse=False, dtypes=(*BOTH, tf.bfloat16))
optimizer("PowerSign", ["m"], dict(SIGN, logbase=2.), sparse=False)


@op("a proximal step, and one on rows", grad=random(4, 3, seed=7), rows=random(3, 3, seed=8))
def ResourceApplyProximalGradientDescent(grad, rows):
    scalars = dict(alpha=.1, l1=.2, l2=.3)
    return (step("ResourceApplyProximalGradientDescent", ["var"], scalars, {"delta": grad}, tf.float32, {}, {})
            + step("ResourceSparseApplyProximalGradientDescent", ["var"], scalars, {"grad": rows}, tf.float32, {},
                   {"indices": tf.constant(ROWS)}))
