"""Pieces of random graphs that keep values: variables, tables, queues, datasets, lists, ragged rows."""
import tensorflow as tf

from graph_maker import HALVES, NUMBERS, RAW, V1, piece
from graph_pieces_flow import chain, frames, traced

VARIABLES = [tf.float32, tf.float32, tf.float64, tf.float16, tf.bfloat16, tf.int32, tf.int64, tf.complex64]


# ---- variables ----

def ready(m, dtype, shape):
    """A resource variable that has a value: its handle, and what a reader waits for."""
    handle = RAW.VarHandleOp(dtype=dtype, shape=shape, shared_name=f"v{len(V1.get_default_graph().get_operations())}")
    first = RAW.AssignVariableOp(resource=handle, value=m.const(dtype, shape, "any"))
    return handle, first


@piece("variables", 4)
def variable(m):
    dtype, shape = m.r.choice(VARIABLES), m.choice((), (2, 3), (4,))
    handle, first = ready(m, dtype, shape)
    read = lambda: RAW.ReadVariableOp(resource=handle, dtype=dtype)
    with tf.control_dependencies([first]):
        before = read()
        way = m.r.randrange(6)
        if way == 0:
            return [before, before * m.const(dtype), read() - before]
        change = m.r.choice([RAW.AssignAddVariableOp, RAW.AssignSubVariableOp, RAW.AssignVariableOp])
        with tf.control_dependencies([before]):
            changed = change(resource=handle, value=m.const(dtype, shape, "any"))
        with tf.control_dependencies([changed]):
            after = read()
        if way == 1 and shape:
            with tf.control_dependencies([after]):
                scattered = RAW.ResourceScatterAdd(resource=handle, indices=[0, 1], updates=m.const(dtype, (2, *shape[1:]), "any"))
            with tf.control_dependencies([scattered]):
                return [after, RAW.ResourceGather(resource=handle, indices=[1, 0], dtype=dtype)]
        if way == 2:
            return [after, RAW.VariableShape(input=handle), RAW.VarIsInitializedOp(resource=handle)]
        return [before, chain(m, after, 1)(after)] if way == 3 else after + before


@piece("variables", 2)
def variable_in_function(m):
    dtype, shape = m.r.choice([tf.float32, tf.float64, tf.int64]), (2, 2)
    handle, first = ready(m, dtype, shape)
    body, c = chain(m, tf.zeros(shape, dtype)), m.const(dtype, shape)

    def f(h, v):
        old = RAW.ReadVariableOp(resource=h, dtype=dtype)
        RAW.AssignVariableOp(resource=h, value=old + v)
        return body(RAW.ReadVariableOp(resource=h, dtype=dtype)), old
    options = {"experimental_attributes": {"_noinline": True}} if m.chance(.3) else {}
    with tf.control_dependencies([first]):
        once = traced(f, **options)(handle, c)
        with tf.control_dependencies(list(once)):
            again = m.r.choice([lambda: RAW.ReadVariableOp(resource=handle, dtype=dtype), lambda: traced(f)(handle, once[0])[0],
                                lambda: tf.cond(m.feed(tf.bool, []), lambda: traced(f)(handle, c)[0], lambda: c),
                                lambda: tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, traced(f)(handle, v)[0]), (0, c))[1]])()
    return [once[0], again]


@piece("variables", 2)
def reference(m):
    """A variable of old, whose node gives a reference."""
    dtype, shape = m.r.choice([tf.float32, tf.float64, tf.int32, tf.int64]), (2, 3)
    ref = RAW.VariableV2(shape=shape, dtype=dtype, shared_name=f"r{len(V1.get_default_graph().get_operations())}")
    first = RAW.Assign(ref=ref, value=m.const(dtype, shape, "any"))
    with tf.control_dependencies([first]):
        before = tf.add(tf.identity(ref), m.const(dtype))
    with tf.control_dependencies([before]):
        changed = m.choice(RAW.AssignAdd, RAW.AssignSub)(ref=first, value=m.const(dtype, shape, "any"), use_locking=m.chance(.5))
    with tf.control_dependencies([changed]):
        return [before, tf.identity(ref) * m.const(dtype)]


@piece("variables")
def table(m):
    keys, values = (tf.string, tf.int64) if m.chance(.5) else (tf.int64, tf.string)
    handle = RAW.MutableHashTableV2(key_dtype=keys, value_dtype=values, shared_name=f"t{len(V1.get_default_graph().get_operations())}")
    k = tf.constant(["a", "grape"]) if keys == tf.string else tf.constant([0, 2], tf.int64)
    filled = RAW.LookupTableInsertV2(table_handle=handle, keys=k, values=m.const(values, (2,), "any"))
    with tf.control_dependencies([filled]):
        found = RAW.LookupTableFindV2(table_handle=handle, keys=m.pick(keys, exact=True), default_value=m.const(values))
        return [found, RAW.LookupTableSizeV2(table_handle=handle)]


@piece("variables")
def queue(m):
    x = m.pick(NUMBERS, known=True)
    handle = RAW.FIFOQueueV2(component_types=[x.dtype], shapes=[x.shape], shared_name=f"q{len(V1.get_default_graph().get_operations())}")
    put = RAW.QueueEnqueueV2(handle=handle, components=[x])
    with tf.control_dependencies([put]):
        got = RAW.QueueDequeueV2(handle=handle, component_types=[x.dtype])[0]
    got.set_shape(x.shape)
    return got


# ---- datasets ----

@piece("data", 4)
def pipeline(m):
    n = m.choice(3, 5, 6)
    ds = tf.data.Dataset.range(n) if m.chance(.5) else tf.data.Dataset.from_tensor_slices(m.const(tf.int64, (n,), "any"))
    odd = lambda v: tf.not_equal(v % 2, 0)
    steps = [lambda d: d.map(lambda v: v * 2 + 1), lambda d: d.map(lambda v: v * 1 + 0, num_parallel_calls=2, deterministic=True),
             lambda d: d.filter(odd), lambda d: d.take(3),
             lambda d: d.skip(1), lambda d: d.repeat(2), lambda d: d.prefetch(1), lambda d: d.shard(2, 0), lambda d: d.concatenate(d),
             lambda d: d.batch(2).unbatch(),
             lambda d: tf.data.Dataset.zip((d, d)).map(lambda a, b: a + b), lambda d: d.enumerate().map(lambda i, v: i * v),
             lambda d: d.cache(), lambda d: d.map(tf.identity),
             lambda d: d.flat_map(lambda v: tf.data.Dataset.from_tensors(v).repeat(2)),
             lambda d: d.interleave(lambda v: tf.data.Dataset.range(2), cycle_length=2),
             lambda d: d.scan(tf.constant(0, tf.int64), lambda s, v: (s + v, s)), lambda d: d.window(2).flat_map(lambda w: w),
             lambda d: d.take_while(lambda v: v < 4),
             lambda d: d.map(lambda v: tf.cond(v > 2, lambda: v, lambda: -v)),
             lambda d: d.map(lambda v: tf.strings.as_string(v)).map(lambda s: tf.strings.to_number(s, tf.int64))]
    for _ in range(m.choice(1, 2, 3)):
        ds = m.r.choice(steps)(ds)
    ends = [lambda d: d.reduce(tf.constant(0, tf.int64), lambda a, v: a * 3 + v), lambda d: d.batch(100).get_single_element(),
            lambda d: d.cardinality(),
            lambda d: tf.cast(d.map(lambda v: tf.cast(v, tf.float32) * .5).reduce(0., lambda a, v: a + v), tf.float32),
            lambda d: d.take(1).get_single_element() if n else None,
            lambda d: traced(lambda: d.reduce(tf.constant(0, tf.int64), lambda a, v: a + v))(),
            lambda d: V1.data.make_one_shot_iterator(d.concatenate(tf.data.Dataset.range(1))).get_next()]
    return m.r.choice(ends)(ds)


@piece("data", 2)
def of_tensors(m):
    x = m.pick([tf.float32, tf.int32, tf.float64, tf.string], rank=2)
    ds = tf.data.Dataset.from_tensor_slices(x)
    y = m.const(x.dtype)
    ways = [lambda: ds.map(lambda v: v + y), lambda: ds.map(lambda v: tf.reshape(v, tf.shape(v))),
            lambda: ds.map(lambda v: (v, v)).map(lambda a, b: a), lambda: ds.batch(1).map(lambda v: v[0]),
            lambda: ds.padded_batch(2, drop_remainder=False).unbatch(), lambda: ds.map(lambda v: traced(lambda u: tf.concat([u, u], 0))(v))]
    return m.r.choice(ways)().batch(50).get_single_element()


@piece("data")
def iterated(m):
    """An iterator in a function, read in a loop or once."""
    n, c = m.choice(2, 4), m.const(tf.int64)

    def once():
        it = iter(tf.data.Dataset.range(n).map(lambda v: v + c))
        return next(it) * 2 + next(it)

    def all_of_them():
        total = tf.constant(0, tf.int64)
        for v in tf.data.Dataset.range(n).map(lambda u: u * c):
            total += v
        return total
    return tf.function(m.choice(once, all_of_them), autograph=True)()


# ---- lists and ragged rows ----

@piece("lists", 3)
def array(m):
    x = m.pick([*NUMBERS, tf.string], rank=2, known=True)
    n = x.shape.as_list()[0]
    body = chain(m, x[0], 1)
    with frames(m.chance(.5)):
        ta = V1.TensorArray(x.dtype, n, clear_after_read=m.choice(None, False), infer_shape=m.chance(.8)).unstack(x)
        if m.chance(.5):
            out = V1.TensorArray(x.dtype, n)
            out = V1.while_loop(lambda i, o: i < n, lambda i, o: (i + 1, o.write(i, body(tf.ensure_shape(ta.read(i), x.shape[1:])))),
                                [0, out])[1]
            ta = out
        return m.r.choice([ta.stack, ta.concat, lambda: ta.gather([0]), lambda: ta.read(0), ta.size] if n else [ta.size])()


@piece("lists", 3)
def tensor_list(m):
    x = m.pick([*NUMBERS, tf.string, tf.bool], rank=2, known=True)
    n, dims = x.shape.as_list()
    if not n or not dims:
        return None
    h = RAW.TensorListFromTensor(tensor=x, element_shape=tf.constant([dims]))
    item = lambda l: RAW.TensorListGetItem(input_handle=l, index=0, element_shape=tf.constant([dims]), element_dtype=x.dtype)
    ways = [lambda: RAW.TensorListStack(input_handle=h, element_shape=tf.constant([dims]), element_dtype=x.dtype), lambda: item(h),
            lambda: RAW.TensorListLength(input_handle=h),
            lambda: item(RAW.TensorListSetItem(input_handle=h, index=0, item=m.const(x.dtype, (dims,)))),
            lambda: RAW.TensorListPopBack(input_handle=h, element_shape=tf.constant([dims]), element_dtype=x.dtype)[1],
            lambda: RAW.TensorListLength(input_handle=RAW.TensorListPushBack(input_handle=h, tensor=x[0])),
            lambda: RAW.TensorListElementShape(input_handle=h, shape_type=tf.int32),
            lambda: RAW.TensorListConcatV2(input_handle=h, element_shape=tf.constant([dims]), leading_dims=tf.constant([], tf.int64),
                                           element_dtype=x.dtype)[0],
            lambda: RAW.TensorListGather(input_handle=h, indices=[0, n - 1], element_shape=tf.constant([dims]), element_dtype=x.dtype),
            lambda: item(tf.zeros_like(h)) if x.dtype not in HALVES else None,
            lambda: item(traced(lambda l: RAW.TensorListSetItem(input_handle=l, index=0, item=m.const(x.dtype, (dims,))))(h)),
            lambda: item(tf.cond(m.feed(tf.bool, []), lambda: h, lambda: RAW.TensorListSetItem(input_handle=h, index=0, item=x[n - 1])))]
    return m.r.choice(ways)()


@piece("lists", 2)
def ragged(m):
    flat = m.pick([tf.float32, tf.int32, tf.int64, tf.string, tf.float64], rank=2, known=True)
    n = flat.shape.num_elements()
    first = m.r.randrange(n + 1)
    rt = tf.RaggedTensor.from_row_lengths(tf.reshape(flat, [-1]), m.choice([first, n - first], [first, 0, n - first]),
                                          validate=m.chance(.5))
    ways = [rt.to_tensor, rt.row_lengths, lambda: tf.concat([rt, rt], 0).flat_values, lambda: tf.concat([rt, rt], 1).flat_values,
            lambda: rt[:1].flat_values, lambda: rt[0],
            lambda: tf.gather(rt, [1, 0]).flat_values, lambda: tf.ragged.stack([rt, rt]).flat_values, lambda: rt[:, :1].flat_values,
            rt.value_rowids, lambda: rt.to_sparse().indices,
            lambda: tf.strings.reduce_join(rt, 1) if rt.dtype == tf.string else tf.reduce_sum(rt, 1),
            lambda: traced(lambda v: v.to_tensor())(rt)]
    return m.r.choice(ways)()


@piece("lists")
def sparse(m):
    x = m.pick([tf.float32, tf.int32, tf.float64], rank=2, known=True, exact=True)
    s = tf.sparse.from_dense(x)
    ways = [lambda: tf.sparse.to_dense(s), lambda: tf.sparse.to_dense(tf.sparse.concat(0, [s, s])), lambda: tf.sparse.reduce_sum(s, 1),
            lambda: tf.sparse.to_dense(tf.sparse.transpose(s)),
            lambda: s.values, lambda: tf.sparse.to_dense(tf.sparse.add(s, s)), lambda: tf.sparse.to_dense(tf.sparse.reorder(s)),
            lambda: tf.sparse.sparse_dense_matmul(s, tf.transpose(x))]
    return m.r.choice(ways)()
