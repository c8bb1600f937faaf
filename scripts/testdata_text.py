"""Graphs of one op each: what parses, what is sparse, strings, tables, files. Importing this adds them to OPS of
testdata_ops."""
import gzip
import zlib

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import tensor_pb2

from testdata_dataset import D, elements
from testdata_kernels import case, words
from testdata_ops import integers, op, random, raw

F, I = np.float32, np.int32
Feature = tf.train.Feature


def none(dtype):
    """A default that is not there."""
    return np.zeros(0, tf.as_dtype(dtype).as_numpy_dtype)


def of(values):
    """A Feature: floats, bytes or integers by the first value, `()` says nothing."""
    if values == ():
        return Feature()
    first = values[0] if values else 0
    if isinstance(first, float):
        return Feature(float_list=tf.train.FloatList(value=values))
    if isinstance(first, bytes):
        return Feature(bytes_list=tf.train.BytesList(value=values))
    return Feature(int64_list=tf.train.Int64List(value=values))


def example(**features):
    feature = {k: of(v) for k, v in features.items()}
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString(deterministic=True)


def sequence(context, **lists):
    lists = {k: tf.train.FeatureList(feature=[of(v) for v in steps]) for k, steps in lists.items()}
    return tf.train.SequenceExample(
        context=tf.train.Features(feature={k: of(v) for k, v in context.items()}),
        feature_lists=tf.train.FeatureLists(feature_list=lists)).SerializeToString(deterministic=True)


# ---- examples ----

EXAMPLES = np.array([example(a=[1, -2], b=[1.5, 2.5], c=[b"x", b"yy"], d=[1, 2, 3, 4]), example(b=[-1.0, 0.5], a=()),
                     example(a=[2**40], b=[3.5, 4.5], c=[b""], d=[5, 6], e=[b"z"])])
_SPEC = dict(names=[], sparse_keys=["a", "c"], dense_keys=["b", "d", "e"],
             dense_defaults=[none(tf.float32), np.int64(9), np.array([b"no"])])
_TYPES = dict(sparse_types=[tf.int64, tf.string], dense_shapes=[[2], [None, 2], [1]])


@op("two sparse features, three dense ones: one needed, one padded, one with a default", serialized=EXAMPLES)
def ParseExample(serialized):
    out = raw.ParseExample(serialized=serialized, **_SPEC, **_TYPES, name="out")
    return tf.nest.flatten(out)


@op("sparse, dense and ragged features", serialized=EXAMPLES)
def ParseExampleV2(serialized):
    spec = dict(_SPEC, sparse_keys=["a"], dense_keys=["b"], dense_defaults=_SPEC["dense_defaults"][:1])
    return tf.nest.flatten(raw.ParseExampleV2(
        serialized=serialized, **spec, ragged_keys=["c", "d", "none"], num_sparse=1, sparse_types=[tf.int64],
        ragged_value_types=[tf.string, tf.int64, tf.float32], ragged_split_types=[tf.int32, tf.int64, tf.int64],
        dense_shapes=[[2]], name="out"))


@op("one example: no batch dimension, no row splits", serialized=EXAMPLES[0])
def ParseExampleV2_single(serialized):
    return tf.nest.flatten(raw.ParseExampleV2(
        serialized=serialized, **_SPEC, ragged_keys=["q"], num_sparse=2, ragged_value_types=[tf.int64],
        ragged_split_types=[tf.int32], **_TYPES, name="out"))


@op("no example at all", serialized=np.zeros(0, "S1"))
def ParseExampleV2_empty(serialized):
    return tf.nest.flatten(raw.ParseExampleV2(
        serialized=serialized, **_SPEC, ragged_keys=["q"], num_sparse=2, ragged_value_types=[tf.int64],
        ragged_split_types=[tf.int32], **_TYPES, name="out"))


@op("keys as attributes", serialized=EXAMPLES[2])
def ParseSingleExample(serialized):
    return tf.nest.flatten(raw.ParseSingleExample(
        serialized=serialized, dense_defaults=_SPEC["dense_defaults"], num_sparse=2, sparse_keys=["a", "c"],
        dense_keys=["b", "d", "e"], **_TYPES, name="out"))


SEQUENCES = np.array([
    sequence(dict(c=[1, 2], d=[1.5]), x=[[1], [], [2, 3]], y=[[1.0, 2.0], [3.0, 4.0]], z=[(), [b"p", b"q"]]),
    sequence(dict(c=[7], s=[b"k"]), y=[[5.0, 6.0]]), sequence(dict(d=[2.5]), x=[[4]], y=[], z=[[b"r"]])])
_CONTEXT = dict(context_sparse_keys=["c"], context_dense_keys=["d"], feature_list_sparse_keys=["x"],
                feature_list_dense_keys=["y", "w"])
_LISTS = dict(context_dense_defaults=[np.array([9], F)], context_sparse_types=[tf.int64],
              feature_list_dense_types=[tf.float32, tf.string], context_dense_shapes=[[1]],
              feature_list_sparse_types=[tf.int64], feature_list_dense_shapes=[[2], []])


@op("lists that are shorter, and one that is not there", serialized=SEQUENCES)
def ParseSequenceExample(serialized):
    return tf.nest.flatten(raw.ParseSequenceExample(
        serialized=serialized, debug_name=[], feature_list_dense_missing_assumed_empty=["w"], **_CONTEXT, **_LISTS,
        Ncontext_sparse=1, Ncontext_dense=1, Nfeature_list_sparse=1, Nfeature_list_dense=2, name="out"))


@op("ragged ones too", serialized=SEQUENCES)
def ParseSequenceExampleV2(serialized):
    return tf.nest.flatten(raw.ParseSequenceExampleV2(
        serialized=serialized, debug_name=[], context_ragged_keys=["s"], feature_list_ragged_keys=["z"],
        feature_list_dense_missing_assumed_empty=[False, True], **_CONTEXT, **_LISTS, Ncontext_sparse=1,
        context_ragged_value_types=[tf.string], context_ragged_split_types=[tf.int32], Nfeature_list_sparse=1,
        Nfeature_list_dense=2, feature_list_ragged_value_types=[tf.string], feature_list_ragged_split_types=[tf.int64],
        name="out"))


@op("one example, which has no padding", serialized=SEQUENCES[0])
def ParseSingleSequenceExample(serialized):
    return tf.nest.flatten(raw.ParseSingleSequenceExample(
        serialized=serialized, feature_list_dense_missing_assumed_empty=["w"], debug_name="name", **_CONTEXT, **_LISTS,
        name="out"))


@op("batches of examples into features: sparse, dense and ragged", serialized=EXAMPLES)
def ParseExampleDatasetV2(serialized):
    features = dict(a=tf.io.VarLenFeature(tf.int64), b=tf.io.FixedLenFeature([2], tf.float32),
                    c=tf.io.RaggedFeature(tf.string))
    parsed = D.from_tensor_slices(serialized).batch(2).apply(tf.data.experimental.parse_example_dataset(features, 1))

    def dense(row):
        return row["a"].indices, row["a"].values, row["a"].dense_shape, row["b"], row["c"].values, row["c"].row_splits
    return elements(parsed.map(dense), 2)


# ---- bytes, lines, messages ----

def message(value):
    return np.array(tf.make_tensor_proto(value).SerializeToString())


case("DecodeRaw", "two numbers a string", bytes=words("abcd", "efgh"), out_type=tf.int16)
case("DecodeRaw", "the other order of bytes", "big_endian", bytes=words("abcdefgh"), out_type=tf.complex64,
     little_endian=False)
case("DecodeRaw", "one byte a number, whatever the order", "bytes", bytes=words("ab", "cd").reshape(2, 1),
     out_type=tf.uint8, little_endian=False)
case("DecodePaddedRaw", "cut off and filled up", input_bytes=words("abc", "", "abcdefghijkl"), fixed_length=8,
     out_type=tf.int16)
case("DecodePaddedRaw", "the other order of bytes", "big_endian", input_bytes=words("abc", "abcdefgh"),
     fixed_length=4, out_type=tf.float32, little_endian=False)
_FIELDS = [none(tf.int32), np.array([b"d"]), np.array([5], F), np.array([7])]
case("DecodeCSV", "quotes, defaults, space", records=words('1,"a""b,c",,3', "2 , x,1e3,", '3,"two\nlines",.5,NA'),
     record_defaults=_FIELDS, na_value="NA")
case("DecodeCSV", "some columns, another delimiter, quotes as they are", "columns",
     records=words('1;"a;2;x', '9;b";3;').reshape(2, 1), record_defaults=[np.array([b"d"]), np.array([5], F)],
     field_delim=";", use_quote_delim=False, select_cols=[1, 2])
case("DecodeCompressed", "gzip", bytes=np.array(gzip.compress(b"hello " * 9, mtime=0) + b"\1"),
     compression_type="GZIP")
case("DecodeCompressed", "zlib", "zlib", bytes=np.array([zlib.compress(b"hello " * 9)]),
     compression_type="ZLIB")
case("SerializeTensor", "numbers as they lie in memory", tensor=random(2, 3))
case("SerializeTensor", "strings", "strings", tensor=words("a", "", "ccc"))
case("ParseTensor", "numbers", serialized=message(random(2, 3)),
     out_type=tf.float32)
case("ParseTensor", "strings", "strings", serialized=message(["a", "bb"]),
     out_type=tf.string)
case("ParseTensor", "one value that stands for all", "splat", out_type=tf.int32, serialized=np.array(
    tensor_pb2.TensorProto(dtype=3, int_val=[5], tensor_shape=tf.TensorShape([2, 3]).as_proto()).SerializeToString(
        deterministic=True)))
case("DecodeJSONExample", "names in both spellings, one feature each", json_examples=words(
    '{"features":{"feature":{"a":{"int64_list":{"value":[1,"-2",3.0]}}}}}',
    '{"features":{"feature":{"b":{"bytesList":{"value":["YQ==","_-8"]}}}}}',
    '{"features":{"feature":{"c":{"float_list":{"value":[1.5,"-Infinity",2]}}}}}', "{}", '{"features":null}'))
