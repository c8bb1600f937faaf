"""Graphs of random ops that draw parts of images, classes and counts, with given seeds. Importing this adds them to OPS
of testdata_ops."""
import numpy as np
import tensorflow as tf

from testdata_ops import op, random, raw
from testdata_quantized import of_version

F, I, L = np.float32, np.int32, np.int64
SEED = np.array([5, 6])


@op("few and many successes, rare and frequent ones; none, all; in double, half, whole numbers",
    n=np.array([[3], [40.], [1000], [0]], F), p=np.array([.1, .5, .7, .99, 0, 1], F))
def StatelessRandomBinomial(n, p):
    draw = raw.StatelessRandomBinomial
    return (draw(shape=[3, 4, 6], seed=SEED, counts=n, probs=p, dtype=tf.float32),
            draw(shape=[5, 6], seed=SEED, counts=tf.constant(30., tf.double), probs=tf.cast(p, tf.double), dtype=tf.int32),
            draw(shape=[2, 6], seed=SEED, counts=tf.constant(30., tf.half), probs=tf.cast(p, tf.half), dtype=tf.int64))


@op("rows of numbers and texts", x=np.arange(14, dtype="i4").reshape(7, 2))
def StatelessShuffle(x):
    key, counter, algorithm = raw.StatelessRandomGetKeyCounterAlg(seed=SEED)
    def shuffle(v): return raw.StatelessShuffle(value=v, key=key, counter=counter, alg=algorithm)
    return shuffle(x), shuffle(tf.constant(list("abcdefg"))), shuffle(x[:1])


@op("small and large ranges, several at once, of each dtype", i=np.arange(10))
def RandomIndexShuffle(i):
    shuffle, seed = raw.RandomIndexShuffle, tf.constant([3, 4, 5])
    return (shuffle(index=i, seed=seed, max_index=tf.constant(9, tf.int64)),
            shuffle(index=tf.cast(i, tf.uint32), seed=seed, max_index=tf.constant(100000, tf.uint32), rounds=8),
            shuffle(index=i, seed=tf.cast(seed, tf.uint64), max_index=tf.constant(2**40 + 7, tf.int64), rounds=6),
            shuffle(index=tf.constant(3, tf.uint64), seed=seed, max_index=tf.constant(2**62 + 1, tf.uint64)),
            shuffle(index=tf.constant(0), seed=seed, max_index=tf.constant(0)))


@op("smaller both ways, one way, not at all", x=random(5, 6, 2))
def RandomCrop(x):
    of_version(7)
    return [raw.RandomCrop(image=x, size=size, seed=3, seed2=9) for size in ([2, 3], [5, 4], [5, 6])]


_BOXES = np.array([[[.1, .2, .6, .7], [.5, .5, .9, 1.]]], F)


@op("with seeds, with objects to cover, without any", boxes=_BOXES)
def SampleDistortedBoundingBox(boxes):
    size, none = tf.constant([60, 80, 3]), tf.zeros([1, 0, 4])
    return (*raw.SampleDistortedBoundingBox(image_size=size, bounding_boxes=boxes, seed=3, seed2=9),
            *raw.SampleDistortedBoundingBoxV2(image_size=tf.cast(size, tf.int64), bounding_boxes=boxes,
                                              min_object_covered=.9, seed=4, seed2=9, area_range=[.3, .8]),
            *raw.SampleDistortedBoundingBoxV2(image_size=tf.cast(size, tf.uint8), bounding_boxes=none,
                                              min_object_covered=.5, seed=4, seed2=9, aspect_ratio_range=[.5, 2.5],
                                              use_image_if_no_bounding_boxes=True),
            *raw.SampleDistortedBoundingBox(image_size=size, bounding_boxes=boxes, seed=3, seed2=9, max_attempts=2,
                                            min_object_covered=1., area_range=[.01, .02]))


@op("seeds as an input", boxes=_BOXES, seed=SEED)
def StatelessSampleDistortedBoundingBox(boxes, seed):
    sample = raw.StatelessSampleDistortedBoundingBox
    return [part for k in range(4) for part in sample(
        image_size=[480, 640, 3], bounding_boxes=boxes, min_object_covered=.3, seed=seed + k, area_range=[.1, 1.])]


_TRUE = np.array([[1, 4], [0, 7], [7, 7]])


def sampler(name, **more):
    @op("some, and different ones", _name=name, true=_TRUE)
    def build(true):
        return [part for unique in (False, True) for part in getattr(raw, name)(
            true_classes=true, num_true=2, num_sampled=6, unique=unique, seed=3, seed2=9, **more)]


sampler("UniformCandidateSampler", range_max=10)
sampler("LogUniformCandidateSampler", range_max=1000)
sampler("LearnedUnigramCandidateSampler", range_max=10)
sampler("ThreadUnsafeUnigramCandidateSampler", range_max=8)
sampler("FixedUnigramCandidateSampler", range_max=9, unigrams=[1., 2., 5., 4., .5, 9., 3., 8.], num_reserved_ids=1,
        distortion=.75)


@op("a shard of the weights", _name="FixedUnigramCandidateSampler_shard", true=_TRUE % 4)
def fixed_shard(true):
    return raw.FixedUnigramCandidateSampler(
        true_classes=true, num_true=2, num_sampled=6, unique=False, seed=3, seed2=9, range_max=4, num_shards=2, shard=1,
        unigrams=[1., 2., 5., 4., .5, 9., 3., 8.])


@op("every class, each once", true=_TRUE)
def AllCandidateSampler(true):
    return raw.AllCandidateSampler(true_classes=true, num_true=2, num_sampled=9, unique=True)


@op("one that was drawn twice, one that was not drawn", true=_TRUE, drawn=np.array([7, 3, 4, 7, 2]))
def ComputeAccidentalHits(true, drawn):
    return raw.ComputeAccidentalHits(true_classes=true, sampled_candidates=drawn, num_true=2)
