"""Graphs of ops that keep tensors for others within one run: staging areas and accumulators of gradients. Importing this
adds them to OPS of testdata_ops."""
import numpy as np
import tensorflow as tf

from testdata_ops import X23, op, random, raw

after = tf.control_dependencies


@op("three go in, one is looked at, two come out, the rest is thrown away", x=X23)
def Stage(x):
    a = dict(shared_name="stage")
    types = dict(dtypes=[tf.float32, tf.int32], **a)
    done = None
    for i in range(3):
        with after([done] if done is not None else []):
            done = raw.Stage(values=[x + i, tf.constant(i)], **a)
    with after([done]):
        seen = raw.StagePeek(index=1, **types)
        with after(seen):
            first = raw.Unstage(**types)
    with after(first):
        second, size = raw.Unstage(**types), raw.StageSize(**types)
        with after([*second, size]):
            gone = raw.StageClear(**types)
    with after([gone]):
        return (*seen, *first, *second, raw.StageSize(**types))


def map_stage(prefix):
    @op("whole elements and one in two parts, looked at, taken by key and without one", _name=prefix + "Stage", x=X23)
    def build(x):
        a = dict(shared_name=prefix)
        types = dict(dtypes=[tf.float32, tf.int32], **a)
        def do(name, **k): return getattr(raw, prefix + name)(**k)
        one = do("Stage", key=tf.constant(7, tf.int64), indices=[0, 1], values=[x, tf.constant(1)], **types)
        with after([one]):
            half = do("Stage", key=tf.constant(3, tf.int64), indices=[1], values=[tf.constant(2)], **types)
        with after([half]):
            sizes = [do("Size", **types), do("IncompleteSize", **types)]
        with after(sizes):
            other = do("Stage", key=tf.constant(3, tf.int64), indices=[0], values=[x * 2], **types)
        with after([other]):
            seen = do("Peek", key=tf.constant(3, tf.int64), indices=[0, 1], **types)
        with after(seen):
            taken = do("Unstage", key=tf.constant(7, tf.int64), indices=[0, 1], **types)
        with after(taken):
            last = do("UnstageNoKey", indices=[0, 1], **types)
        with after([last.key]):
            gone = do("Clear", **types)
        with after([gone]):
            return (*sizes, *seen, *taken, last.key, *last.values, do("Size", **types))


map_stage("Map")
map_stage("OrderedMap")


def dense(make, prefix, reduction, dtype):
    def build(x):
        def do(name, **k): return getattr(raw, prefix + name)(handle=handle, **k)
        handle = make(dtype=dtype, shape=[2, 3], shared_name=make.__name__ + reduction, reduction_type=reduction)
        step, g = tf.constant(0, tf.int64), tf.cast(x, dtype)
        done = do("ApplyGradient", local_step=step, gradient=g)
        with after([done]):
            done = do("ApplyGradient", local_step=step + 5, gradient=g * g)
        with after([done]):
            first = do("TakeGradient", num_required=2, dtype=dtype)
        with after([first]):
            done = do("SetGlobalStep", new_global_step=tf.constant(4, tf.int64))
        with after([done]):
            done = do("ApplyGradient", local_step=step + 3, gradient=g)      # too old
        with after([done]):
            none = do("NumAccumulated")
        with after([none]):
            done = do("ApplyGradient", local_step=step + 4, gradient=g + 1)
        with after([done]):
            return first, none, do("TakeGradient", num_required=1, dtype=dtype)
    return build


op("a mean of two, an old one dropped", _name="ConditionalAccumulator", x=X23)(
    dense(raw.ConditionalAccumulator, "Accumulator", "MEAN", tf.float32))
op("a sum of two, an old one dropped", _name="ResourceConditionalAccumulator", x=X23)(
    dense(raw.ResourceConditionalAccumulator, "ResourceAccumulator", "SUM", tf.double))


@op("rows that meet and rows that do not: mean and sum", x=random(2, 3), y=random(3, 3, seed=1))
def SparseConditionalAccumulator(x, y):
    def take(reduction):
        handle = raw.SparseConditionalAccumulator(dtype=tf.float32, shape=[9, 3], shared_name="sparse" + reduction,
                                                  reduction_type=reduction)
        done = None
        for values, indices in ((x, [1, 4]), (y, [0, 4, 7]), (y * 2, [1, 4, 8])):
            with after([done] if done is not None else []):
                done = raw.SparseAccumulatorApplyGradient(
                    handle=handle, local_step=tf.constant(0, tf.int64), gradient_values=values, has_known_shape=True,
                    gradient_indices=tf.constant(indices, tf.int64), gradient_shape=tf.constant([9, 3], tf.int64))
        with after([done]):
            return raw.SparseAccumulatorTakeGradient(handle=handle, num_required=3, dtype=tf.float32)
    return (*take("MEAN"), *take("SUM"))


@op("components of elements arrive by key, in two orders and in batches; complete ones are taken; closed with one incomplete",
    x=X23)
def Barrier(x):
    types = [tf.float32, tf.int32]
    def insert(part, keys, values):
        return raw.BarrierInsertMany(handle=barrier, keys=keys, values=values, component_index=part)
    def take(n, **k):
        return raw.BarrierTakeMany(handle=barrier, num_elements=n, component_types=types, **k)
    barrier = raw.Barrier(component_types=types, shapes=[[3], []], shared_name="barrier")
    done = insert(0, ["b", "a"], x)
    with after([done]):
        done = insert(1, ["c", "a", "b"], [1, 2, 3])
    with after([done]):
        sizes = [raw.BarrierReadySize(handle=barrier), raw.BarrierIncompleteSize(handle=barrier)]
    with after(sizes):
        first = take(1)
    with after([first.keys]):
        done = raw.BarrierClose(handle=barrier)
    with after([done]):
        done = insert(0, ["c"], x[1:] * 2)
    with after([done]):
        rest = take(5, allow_small_batch=True)
    return (*sizes, first.indices, first.keys, *first.values, rest.indices, rest.keys, *rest.values)
