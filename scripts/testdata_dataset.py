"""Graphs of tf.data: a pipeline each, and the first elements of it. Importing this adds them to OPS of testdata_ops."""
import numpy as np
import tensorflow as tf

from testdata_ops import op, random, raw

D = tf.data.Dataset
V1 = tf.compat.v1


def elements(dataset, count):
    """The first elements, one after the other, through an iterator of the graph's own."""
    plain = tf.data.Options()
    plain.experimental_optimization.apply_default_optimizations = False
    dataset = dataset.with_options(plain)
    types = tf.nest.flatten(dataset.element_spec)
    kinds = dict(output_types=[t.dtype for t in types], output_shapes=[t.shape for t in types])
    iterator = raw.IteratorV2(shared_name="iterator", container="", **kinds)
    last, out = [raw.MakeIterator(dataset=dataset._variant_tensor, iterator=iterator)], []
    for _ in range(count):
        with tf.control_dependencies(last):
            last = raw.IteratorGetNext(iterator=iterator, **kinds)
        out += last
    return out


def whole(dataset):
    """All elements one below the other, and how many there are as far as the dataset knows."""
    spec = tf.nest.flatten(dataset.element_spec)[0]
    with_step = dataset.reduce(tf.zeros([0], spec.dtype), lambda all, *x: tf.concat([all, tf.reshape(x[0], [-1])], 0))
    return with_step, raw.DatasetCardinality(input_dataset=dataset._variant_tensor)


@op("rows, numbered, batched; the last batch is smaller", x=random(5, 2))
def BatchDatasetV2(x):
    return elements(D.zip((D.from_tensor_slices(x), D.range(10, 20, 3))).batch(3), 2)


@op("lengths that differ, filled up with another value", x=np.array([3, 1, 2, 4], "i4"))
def PaddedBatchDatasetV2(x):
    ragged = D.from_tensor_slices(x).map(lambda n: (tf.fill([n], n), tf.strings.as_string(n)))
    return elements(ragged.padded_batch(2, padded_shapes=([None], []), padding_values=(-1, "")), 2)


@op("a function with a captured tensor, in turn and in parallel, and into batches", x=random(4), y=random(3, seed=1))
def MapDataset(x, y):
    f = lambda a: (a * y, tf.reduce_sum(a + y))
    mapped = D.from_tensor_slices(x).map(f)
    spread = D.from_tensor_slices(x).map(f, num_parallel_calls=2, deterministic=True)
    both = raw.MapAndBatchDataset(
        input_dataset=D.range(5)._variant_tensor, other_arguments=[], batch_size=2, num_parallel_calls=2,
        drop_remainder=False, f=spread_function(), output_types=[tf.int64], output_shapes=[[None]],
        preserve_cardinality=True)
    return (*elements(D.zip((mapped, spread)), 4), raw.DatasetCardinality(input_dataset=both))


def spread_function():
    return tf.function(lambda i: i * i).get_concrete_function(tf.TensorSpec([], tf.int64))


@op("numbers that a predicate likes, up to the first that another does not", x=np.array([4, 1, 6, 3, 8, 10, 2], "i8"))
def FilterDataset(x):
    even = D.from_tensor_slices(x).filter(lambda a: a % 2 == 0)
    return (*whole(even), *whole(even.take_while(lambda a: a < 10)), *whole(D.from_tensor_slices(x % 3).unique()))


@op("a dataset of each element: one after the other, in turns, in parallel turns", n=np.int64(5))
def InterleaveDataset(n):
    inner = lambda a: D.range(a).map(lambda b: 10 * a + b)
    return (*whole(D.range(n).flat_map(inner)), *whole(D.range(n).interleave(inner, cycle_length=3, block_length=2)),
            *whole(D.range(n).interleave(inner, cycle_length=2, num_parallel_calls=2, deterministic=True)))


@op("the order that follows from the seeds, another one in each round, and always the same", n=np.int64(12))
def ShuffleDataset(n):
    kinds = dict(output_types=[tf.int64], output_shapes=[[]])
    numbers = D.range(n)._variant_tensor
    wrap = lambda v: tf.data.experimental.from_variant(v, tf.TensorSpec([], tf.int64))
    shuffled = [raw.ShuffleDataset(input_dataset=numbers, buffer_size=5, seed=5, seed2=7, reshuffle_each_iteration=r,
                                   **kinds) for r in (True, False)]
    third = raw.ShuffleDatasetV3(input_dataset=numbers, buffer_size=20, seed=5, seed2=7,
                                 seed_generator=raw.DummySeedGenerator(), **kinds)
    generator = raw.AnonymousSeedGenerator(seed=5, seed2=7, reshuffle=True)
    second = raw.ShuffleDatasetV2(input_dataset=numbers, buffer_size=3, seed_generator=generator.handle, **kinds)
    repeated = raw.ShuffleAndRepeatDataset(input_dataset=numbers, buffer_size=5, seed=5, seed2=7, count=2, **kinds)
    random_numbers = raw.RandomDataset(seed=5, seed2=7, **kinds)
    return (*whole(wrap(shuffled[0]).repeat(2)), *whole(wrap(shuffled[1]).repeat(2)), *whole(wrap(third)),
            *whole(wrap(second)), *whole(wrap(repeated)), whole(wrap(random_numbers).take(5))[0])


@op("numbers joined, repeated, cut and dealt out", n=np.int64(7))
def ConcatenateDataset(n):
    numbers = D.range(n)
    return (*whole(numbers.concatenate(D.range(100, 103))), *whole(numbers.repeat(2).skip(5).take(4)),
            *whole(numbers.shard(3, 1)), *whole(numbers.take(-1).prefetch(2).cache().repeat(2)),
            *whole(numbers.skip(-1)), *whole(numbers.apply(tf.data.experimental.assert_cardinality(7))),
            raw.DatasetCardinality(input_dataset=numbers.repeat()._variant_tensor))


@op("windows that overlap and windows with gaps, as batches", n=np.int64(11))
def WindowDataset(n):
    def batches(**kwargs):
        return D.range(n).window(**kwargs).flat_map(lambda w: w.batch(4))
    return (*whole(batches(size=4, shift=2, stride=2)), *whole(batches(size=3, shift=1, drop_remainder=True)),
            *whole(batches(size=2, shift=4)), *whole(D.range(n).batch(3, drop_remainder=True).unbatch()))


@op("a running sum, a sum, one element by number and the only one", x=random(6))
def ScanDataset(x):
    numbers = D.from_tensor_slices(x)
    return (*whole(numbers.scan(tf.constant(0.), lambda s, a: (s + a, (s + a) * 2))),
            numbers.reduce(tf.constant(1.), lambda s, a: s * a), numbers.batch(6).get_single_element())


@op("groups of equal remainder, as batches when there are enough", n=np.int64(11))
def GroupByWindowDataset(n):
    return whole(D.range(n).group_by_window(lambda a: a % 3, lambda key, w: w.map(lambda a: a + 100 * key).batch(2),
                                            window_size=2))


@op("an element as an optional, and none at the end", x=random(1, 2))
def IteratorGetNextAsOptional(x):
    dataset = D.from_tensor_slices(x)
    kinds = dict(output_types=[tf.float32], output_shapes=[[2]])
    iterator = raw.AnonymousIteratorV3(**kinds)
    with tf.control_dependencies([raw.MakeIterator(dataset=dataset._variant_tensor, iterator=iterator)]):
        first = raw.IteratorGetNextAsOptional(iterator=iterator, **kinds)
    with tf.control_dependencies([first]):
        second = raw.IteratorGetNextAsOptional(iterator=iterator, **kinds)
    made = raw.OptionalFromValue(components=[x[0]])
    return (raw.OptionalHasValue(optional=first), *raw.OptionalGetValue(optional=first, **kinds),
            raw.OptionalHasValue(optional=second), *raw.OptionalGetValue(optional=made, **kinds),
            raw.OptionalHasValue(optional=raw.OptionalNone()))


@op("random numbers of a function go on within an iterator and begin anew in the next", n=np.int64(3))
def MapDataset_random(n):
    def dataset():
        return D.range(2).flat_map(lambda _: D.range(n).map(
            lambda _: raw.RandomUniformInt(shape=tf.zeros([0], tf.int32), minval=0, maxval=1000, seed=3, seed2=1)))
    made = dataset()
    return whole(made)[0], whole(made)[0]


@op("a dataset that the iterator makes by itself, once", n=np.int64(3))
def OneShotIterator(n):
    iterator = V1.data.make_one_shot_iterator(V1.data.Dataset.range(5).map(lambda x: x * 2).shuffle(3, seed=1).batch(2))
    return iterator.get_next(), tf.identity(n)


@op("an iterator found again by its name", n=np.int64(3))
def IteratorToStringHandle(n):
    kinds = dict(output_types=[tf.int64], output_shapes=[[]])
    iterator = raw.IteratorV2(shared_name="iterator", container="", **kinds)
    with tf.control_dependencies([raw.MakeIterator(dataset=D.range(n)._variant_tensor, iterator=iterator)]):
        handle = raw.IteratorToStringHandle(resource_handle=iterator)
    return raw.IteratorGetNext(iterator=raw.IteratorFromStringHandleV2(string_handle=handle, **kinds), **kinds)


@op("loops of a function over datasets, one with a break", n=np.int64(5))
def TakeWhileDataset_loop(n):
    @tf.function
    def f(n):
        total = tf.constant(0, tf.int64)
        for x in D.range(n).filter(lambda a: a != 2).batch(2):
            total = total * 10 + tf.reduce_sum(x)
            if total > 500:
                break
        numbers = iter(D.range(n))
        sum = next(numbers) * 100 + next(numbers)
        for i, x in D.range(3).enumerate():
            sum = sum * 2 + i * x
        return total, sum
    return f(n)


@op("elements of several datasets by chance and by number, sorted by length, in batches of another size", n=np.int64(6))
def DirectedInterleaveDataset(n):
    pair = [D.range(0, 4), D.range(10, 14)]
    lengths = D.range(n).map(lambda a: tf.fill([a], a)).bucket_by_sequence_length(lambda a: tf.shape(a)[0], [2, 4],
                                                                                  [2, 2, 2])
    return (*whole(D.sample_from_datasets(pair, seed=3, weights=[.5, .5])),
            *whole(D.choose_from_datasets(pair, D.range(2).repeat(3))), *whole(lengths.unbatch()),
            *whole(D.random(seed=4, rerandomize_each_iteration=True).take(3)), *whole(D.range(n).batch(4).rebatch(3)))
