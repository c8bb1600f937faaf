"""Graphs around what TensorFlow 1 hands from op to op: arrays of tensors, stacks, queues, and the loops that use them.
Importing this adds them to OPS of testdata_ops."""
import contextlib

import numpy as np
import tensorflow as tf

from testdata_ops import X23, op, random, raw

V1 = tf.compat.v1


@contextlib.contextmanager
def old_control_flow():
    """Loops of Enter, Exit and NextIteration, and arrays of TensorArrayV3."""
    was_new = V1.control_flow_v2_enabled()
    V1.disable_control_flow_v2()
    try:
        yield
    finally:
        if was_new:
            V1.enable_control_flow_v2()


@op("an array that is written out of order, grows, is read and joined", x=X23)
def TensorArrayV3(x):
    array = raw.TensorArrayV3(size=2, dtype=tf.float32, dynamic_size=True, clear_after_read=False,
                              element_shape=[None])
    flow = raw.TensorArrayWriteV3(handle=array.handle, index=2, value=x[0], flow_in=array.flow)
    flow = raw.TensorArrayWriteV3(handle=array.handle, index=0, value=x[1], flow_in=flow)
    flow = raw.TensorArrayWriteV3(handle=array.handle, index=1, value=x[0] + x[1], flow_in=flow)
    return (raw.TensorArrayReadV3(handle=array.handle, index=2, flow_in=flow, dtype=tf.float32),
            raw.TensorArrayGatherV3(handle=array.handle, indices=[2, 0], flow_in=flow, dtype=tf.float32),
            *raw.TensorArrayConcatV3(handle=array.handle, flow_in=flow, dtype=tf.float32),
            raw.TensorArraySizeV3(handle=array.handle, flow_in=flow))


@op("rows of a tensor, and parts of it, as elements", x=random(4, 3), lengths=np.array([1, 0, 3], "i8"))
def TensorArraySplitV3(x, lengths):
    array = raw.TensorArrayV3(size=4, dtype=tf.float32, element_shape=[3])
    flow = raw.TensorArrayScatterV3(handle=array.handle, indices=[3, 1, 0, 2], value=x, flow_in=array.flow)
    parts = raw.TensorArrayV3(size=3, dtype=tf.float32)
    parts_flow = raw.TensorArraySplitV3(handle=parts.handle, value=x, lengths=lengths, flow_in=parts.flow)
    empty = raw.TensorArrayV3(size=2, dtype=tf.int32, element_shape=[2])
    return (raw.TensorArrayGatherV3(handle=array.handle, indices=[0, 1, 2, 3], flow_in=flow, dtype=tf.float32),
            *raw.TensorArrayConcatV3(handle=parts.handle, flow_in=parts_flow, dtype=tf.float32),
            raw.TensorArrayReadV3(handle=empty.handle, index=1, flow_in=empty.flow, dtype=tf.int32))


@op("what is written to a gradient twice is added up; what is not is zeros", x=X23)
def TensorArrayGradV3(x):
    array = raw.TensorArrayV3(size=3, dtype=tf.float32)
    flow = raw.TensorArrayScatterV3(handle=array.handle, indices=[0, 1, 2], value=tf.concat([x, x[:1]], 0),
                                    flow_in=array.flow)
    gradient = raw.TensorArrayGradV3(handle=array.handle, flow_in=flow, source="gradients")
    again = raw.TensorArrayGradV3(handle=array.handle, flow_in=flow, source="gradients")
    wide = raw.TensorArrayGradWithShape(handle=array.handle, flow_in=flow, shape_to_prepend=[2], source="wide")
    to = raw.TensorArrayWriteV3(handle=gradient.grad_handle, index=0, value=x[0], flow_in=gradient.flow_out)
    to = raw.TensorArrayWriteV3(handle=again.grad_handle, index=0, value=x[1], flow_in=to)
    to = raw.TensorArrayWriteV3(handle=again.grad_handle, index=2, value=x[1], flow_in=to)
    return (raw.TensorArrayGatherV3(handle=gradient.grad_handle, indices=[0, 1, 2], flow_in=to, dtype=tf.float32),
            raw.TensorArrayReadV3(handle=wide.grad_handle, index=1, flow_in=wide.flow_out, dtype=tf.float32))


@op("the last that was pushed comes first", x=X23)
def StackV2(x):
    stack = raw.StackV2(max_size=-1, elem_type=tf.float32)
    with tf.control_dependencies([raw.StackPushV2(handle=stack, elem=x)]):
        with tf.control_dependencies([raw.StackPushV2(handle=stack, elem=-x)]):
            first = raw.StackPopV2(handle=stack, elem_type=tf.float32)
    with tf.control_dependencies([first]):
        second = raw.StackPopV2(handle=stack, elem_type=tf.float32)
    return first, second


@op("the gradient of a loop of single nodes: each round's values are kept on stacks", x=X23)
def StackPushV2_loop(x):
    with old_control_flow():
        out = V1.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, tf.tanh(y * y + x)), [0, x])
        return out[1], V1.gradients(out[1], x)


@op("a recurrent layer over sequences of different lengths, and its gradient", x=random(3, 4, 2),
    lengths=np.array([4, 0, 2], "i4"), w=random(5, 3))
def TensorArrayReadV3_dynamic_rnn(x, lengths, w):
    with old_control_flow():
        inputs = V1.TensorArray(tf.float32, 4, clear_after_read=False).unstack(tf.transpose(x, [1, 0, 2]))
        outputs = V1.TensorArray(tf.float32, 4)

        def body(t, state, outputs):
            new = tf.tanh(tf.matmul(tf.concat([inputs.read(t), state], 1), w))
            alive = (t < lengths)[:, None]
            state = tf.where(alive, new, state)
            return t + 1, state, outputs.write(t, tf.where(alive, new, tf.zeros_like(new)))

        _, state, outputs = V1.while_loop(lambda t, *_: t < 4, body, [0, tf.zeros([3, 3]), outputs])
        y = outputs.stack()
        return y, state, V1.gradients(tf.reduce_sum(y * y) + tf.reduce_sum(state), [x, w])


def then(ops, make):
    with tf.control_dependencies([o for o in ops if o is not None]):
        return make()


@op("first in, first out; a batch; what is left", x=random(5, 2), n=np.arange(5, dtype="i4"))
def FIFOQueueV2(x, n):
    queue = raw.FIFOQueueV2(component_types=[tf.float32, tf.int32], shapes=[[2], []], capacity=7, shared_name="fifo")
    types = dict(handle=queue, component_types=[tf.float32, tf.int32])
    put = raw.QueueEnqueueManyV2(handle=queue, components=[x, n])
    one = then([put], lambda: raw.QueueEnqueueV2(handle=queue, components=[-x[0], n[1]]))
    first = then([one], lambda: raw.QueueDequeueV2(**types))
    batch = then(first, lambda: raw.QueueDequeueManyV2(n=3, **types))
    size = then(batch, lambda: raw.QueueSizeV2(handle=queue))
    rest = then([size], lambda: raw.QueueDequeueUpToV2(n=2, **types))
    return (*first, *batch, size, *rest, then(rest, lambda: raw.QueueIsClosedV2(handle=queue)))


@op("elements of different lengths are filled up with zeros", x=random(3), y=random(2, seed=1))
def PaddingFIFOQueueV2(x, y):
    queue = raw.PaddingFIFOQueueV2(component_types=[tf.float32], shapes=[[None]], shared_name="padding")
    put = raw.QueueEnqueueV2(handle=queue, components=[x])
    put = then([put], lambda: raw.QueueEnqueueV2(handle=queue, components=[y]))
    return then([put], lambda: raw.QueueDequeueManyV2(handle=queue, n=2, component_types=[tf.float32]))


@op("an order that follows from the seeds", x=np.arange(10, dtype="i4"))
def RandomShuffleQueueV2(x):
    queue = raw.RandomShuffleQueueV2(component_types=[tf.int32], shapes=[[]], min_after_dequeue=2, seed=3, seed2=4,
                                     shared_name="shuffle")
    put = raw.QueueEnqueueManyV2(handle=queue, components=[x])
    one = then([put], lambda: raw.QueueDequeueV2(handle=queue, component_types=[tf.int32]))
    return (*one, *then(one, lambda: raw.QueueDequeueManyV2(handle=queue, n=7, component_types=[tf.int32])))


@op("the lowest number first; of equal ones in the order of a heap", p=np.array([5, 1, 3, 1, 3, 1], "i8"),
    x=np.arange(6, dtype="f"))
def PriorityQueueV2(p, x):
    queue = raw.PriorityQueueV2(component_types=[tf.float32], shapes=[[]], shared_name="priority")
    put = raw.QueueEnqueueManyV2(handle=queue, components=[p, x])
    return then([put], lambda: raw.QueueDequeueManyV2(handle=queue, n=6, component_types=[tf.int64, tf.float32]))
