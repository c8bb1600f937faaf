"""Graphs around ops that keep or make up values (lists, tables, random numbers), for scripts/make_testdata.py."""
import numpy as np
import tensorflow as tf

from testdata_ops import X23, op, raw

SHAPE = np.array([7, 5], "i4")


@op("uniform and normal numbers of given seeds", _rtol=1e-4, shape=SHAPE)
def RandomUniform(shape):
    return (raw.RandomUniform(shape=shape, dtype=tf.float32, seed=3, seed2=9),
            raw.RandomUniform(shape=shape, dtype=tf.float64, seed=3, seed2=9),
            raw.RandomStandardNormal(shape=shape, dtype=tf.float32, seed=3, seed2=9),
            raw.TruncatedNormal(shape=shape, dtype=tf.float32, seed=3, seed2=9))


@op("whole numbers of given seeds, and rows in another order", shape=SHAPE)
def RandomUniformInt(shape):
    return (raw.RandomUniformInt(shape=shape, minval=-5, maxval=1000, seed=3, seed2=9),
            raw.RandomUniformInt(shape=shape, minval=np.int64(-5), maxval=np.int64(1000), seed=3, seed2=9),
            raw.RandomShuffle(value=tf.range(shape[0]), seed=4, seed2=5))


@op("numbers that follow from a seed that is fed", _rtol=1e-4, shape=SHAPE, seed=np.array([5, 6], "i4"))
def StatelessRandomNormal(shape, seed):
    key, counter, algorithm = raw.StatelessRandomGetKeyCounterAlg(seed=seed)
    return (raw.StatelessRandomNormal(shape=shape, seed=seed), raw.StatelessTruncatedNormal(shape=shape, seed=seed),
            raw.StatelessRandomUniformFullInt(shape=shape, seed=seed, dtype=tf.int64),
            raw.StatelessRandomUniformV2(shape=shape, key=key, counter=counter, alg=algorithm))


@op("a list is made of rows, written to, joined", x=X23)
def TensorListStack(x):
    any_shape = tf.constant(-1)
    rows = raw.TensorListFromTensor(tensor=x, element_shape=any_shape)
    rows = raw.TensorListSetItem(input_handle=rows, index=1, item=x[0])
    longer = raw.TensorListPushBack(input_handle=raw.TensorListResize(input_handle=rows, size=3), tensor=x[1])
    return (raw.TensorListStack(input_handle=longer, element_shape=any_shape, element_dtype=tf.float32, name="out"),
            raw.TensorListLength(input_handle=longer),
            raw.TensorListGather(input_handle=rows, indices=[1, 0], element_shape=any_shape, element_dtype=tf.float32))


@op("rows of a ragged tensor as variants and back", x=np.arange(6, dtype="f"), splits=np.array([0, 2, 2, 6], "i8"))
def RaggedTensorToVariant(x, splits):
    rows = raw.RaggedTensorToVariant(rt_nested_splits=[splits], rt_dense_values=x, batched_input=True)
    back = raw.RaggedTensorFromVariant(encoded_ragged=rows, input_ragged_rank=0, output_ragged_rank=1,
                                       Tvalues=tf.float32, Tsplits=tf.int64)
    return back.output_nested_splits[0], back.output_dense_values


@op("what RE2 matches and replaces", x=np.array(["grapnel", "apple", "", "a.b"], "S"))
def RegexReplace(x):
    return (raw.RegexReplace(input=x, pattern="a(p+)", rewrite=r"<\1>"), raw.StaticRegexFullMatch(input=x, pattern="a.*"),
            raw.RegexFullMatch(input=x, pattern="[a-z]*"))


@op("a table filled in the graph", keys=np.array(["b", "x", "a"], "S"))
def LookupTableFindV2(keys):
    table = raw.MutableHashTableV2(key_dtype=tf.string, value_dtype=tf.int64, shared_name="table")
    fill = raw.LookupTableInsertV2(table_handle=table, keys=["a", "b"], values=np.array([1, 2], "i8"))
    with tf.control_dependencies([fill] if fill is not None else None):
        return raw.LookupTableFindV2(table_handle=table, keys=keys, default_value=np.int64(-1), name="out")


@op("gamma values, for shapes below, at and above 1", _rtol=1e-5, shape=np.array([6], "i4"),
    alpha=np.array([[.3, 1.], [2.5, 40.]], "f8"))
def RandomGamma(shape, alpha):
    key, counter, algorithm = raw.StatelessRandomGetKeyCounterAlg(seed=np.array([5, 6]))
    return (raw.RandomGamma(shape=shape, alpha=alpha, seed=3, seed2=9),
            raw.RandomGamma(shape=shape, alpha=tf.cast(alpha, tf.float32), seed=4, seed2=9),
            raw.StatelessRandomGammaV2(shape=[3, 2, 2], seed=np.array([5, 6]), alpha=alpha),
            raw.StatelessRandomGammaV3(shape=[3, 2, 2], key=key, counter=counter, alg=algorithm, alpha=alpha))


@op("counts of given rates, small and large", shape=np.array([8], "i4"), rate=np.array([0., .5, 9., 30., 400.], "f8"))
def RandomPoissonV2(shape, rate):
    return (raw.RandomPoissonV2(shape=shape, rate=rate, seed=3, seed2=9),
            raw.RandomPoissonV2(shape=shape, rate=tf.cast(rate, tf.float32), seed=3, seed2=9, dtype=tf.float32),
            raw.StatelessRandomPoisson(shape=[4, 5], seed=np.array([5, 6]), lam=rate, dtype=tf.int32))


@op("classes as likely as their logits say", logits=np.array([[0., 1., -np.inf, 2.], [5., 0., 0., 0.]], "f"))
def Multinomial(logits):
    return (raw.Multinomial(logits=logits, num_samples=9, seed=3, seed2=9),
            raw.StatelessMultinomial(logits=logits, num_samples=5, seed=np.array([5, 6]), output_dtype=tf.int32))
