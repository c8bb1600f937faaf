"""Graphs of one op each: what parses, strings, tables, images, summaries, datasets. Importing this adds them, and those
of testdata_sparse, to OPS of testdata_ops."""
import gzip
import zlib

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import tensor_pb2

from testdata_dataset import D, elements
from testdata_kernels import case, words
from testdata_ops import integers, op, random, raw
from testdata_sparse import PLACES, marked

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

# ---- strings ----

_GRID = words("a", "b", "c", "d", "e", "f").reshape(2, 3)
case("ReduceJoin", "the first axis changes first", inputs=_GRID, reduction_indices=np.array([0, 1], "i4"),
     separator="-")
case("ReduceJoin", "one axis, kept", "keep", inputs=_GRID, reduction_indices=I(-1), keep_dims=True)
case("ReduceJoin", "nothing to join", "empty", inputs=np.zeros((0, 2), "S1"), reduction_indices=np.array([0], "i4"))
_GRAMS = dict(data=words("a", "b", "c", "d"), data_splits=np.array([0, 3, 4, 4]), separator="|")
case("StringNGrams", "two widths, filled up on both sides", ngram_widths=[1, 3], left_pad="<", right_pad=">",
     pad_width=-1, preserve_short_sequences=False, **_GRAMS)
case("StringNGrams", "rows that are too short are kept", "short", ngram_widths=[3, 2], left_pad="", right_pad="",
     pad_width=0, preserve_short_sequences=True, **_GRAMS)
case("StringNGrams", "less padding than the width asks for", "padded", ngram_widths=[4], left_pad="<", right_pad=">",
     pad_width=1, preserve_short_sequences=True, **_GRAMS)
_UTF8 = np.array([b"a\xe9\xc3\xa9\xe2\x82", b"", b"\x01\xf0\x9f\x98\x80\t", b"\xed\xa0\x80a\xf5\x80\xc0\xaf\xf4\x90"])
case("UnicodeDecode", "bytes that are not UTF-8", input=_UTF8, input_encoding="UTF-8", Tsplits=tf.int32)
case("UnicodeDecodeWithOffsets", "errors and control characters left out", input=_UTF8, input_encoding="UTF-8",
     errors="ignore", replace_control_characters=True)
case("UnicodeDecodeWithOffsets", "UTF-16, half a pair", "utf16", input_encoding="UTF-16-BE",
     input=np.array([b"\x00a\xd8\x00\x01", b"\xd8\x3d\xde\x01\xff", b"\xfe\xff\x00a"]))
case("UnicodeDecodeWithOffsets", "UTF-32, past the end of Unicode", "utf32", input_encoding="UTF-32-BE",
     input=np.array([b"\0\0\0a\x00\x11\x00\x01", b"\1"]))
case("UnicodeDecodeWithOffsets", "Japanese, half a character", "shift_jis", input_encoding="Shift_JIS",
     input=np.array([b"a\x82\xa0\xb1\x81"]))
case("UnicodeEncode", "values that are not characters", input_values=np.array([97, 0x1f600, 0xd800, 0x110000, -1, 0xe9], "i4"),
     input_splits=np.array([0, 2, 6]), output_encoding="UTF-8")
case("UnicodeEncode", "left out", "utf16", input_values=np.array([97, 0x1f601, 0xd800, 0xe9], "i4"), errors="ignore",
     input_splits=np.array([0, 2, 4], "i4"), output_encoding="UTF-16-BE")
case("UnicodeTranscode", "another replacement", input=_UTF8[[0, 2]], input_encoding="UTF-8",
     output_encoding="UTF-16-BE", replacement_char=63, replace_control_characters=True)
case("UnicodeTranscode", "Latin", "latin1", input=np.array([b"caf\xe9"]), input_encoding="ISO-8859-1",
     output_encoding="UTF-8")
case("UnicodeTranscode", "a mark of the order of bytes", "utf16", input=np.array([b"\xff\xfea\x00\xe9\x01"[:5]]),
     input_encoding="UTF-16", output_encoding="UTF-8")
case("UnicodeScript", "several scripts, and none", input=np.array(
    [97, 0x3042, -1, 0x110000, 0x20, 0x400, 0x4e00, 0x1f600, 0x10ffff, 0x378, 0xe000, 0xac00, 0], "i4"))
case("EncodeBase64", "every length", input=words("", "a", "ab", "abc", "\u00ff\u00fe?"), pad=False)
case("EncodeBase64", "padded", "pad", input=words("", "a", "ab", "abc"), pad=True)
case("DecodeBase64", "padded and not", input=words("", "YQ", "YQ==", "YWI", "YWJj", "w7_Dvj8"))
case("ShardedFilespec", "five digits", basename=np.array(b"a/b"), num_shards=I(12))
case("Fingerprint", "rows of strings", data=words("ab", "c", "ab", "d").reshape(2, 2), method="farmhash64")
case("Fingerprint", "a string each", "vector", data=words("ab", "c"), method="farmhash64")
case("Fingerprint", "a string each, in a column", "column", data=words("ab", "c").reshape(2, 1), method="farmhash64")
case("Fingerprint", "numbers", "numbers", data=integers(2, 3, 2), method="farmhash64")
_EDITS = dict(hypothesis_indices=np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1], [1, 1, 2]]),
              hypothesis_values=words("a", "b", "c", "a", "t"), hypothesis_shape=np.array([2, 2, 3]),
              truth_indices=np.array([[0, 1, 0], [1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]]),
              truth_values=words("a", "b", "c", "a", "t"), truth_shape=np.array([2, 2, 2]))
case("EditDistance", "sequences that one of the two lacks", **_EDITS)
case("EditDistance", "as they are", "absolute", normalize=False, **_EDITS)

# ---- tables and maps ----

@op("a table of the old kind: filled, read, and its size", keys=words("b", "x", "a"))
def HashTable(keys):
    table = raw.HashTable(key_dtype=tf.string, value_dtype=tf.int64, shared_name="old")
    fill = raw.InitializeTable(table_handle=table, keys=["a", "b"], values=np.array([1, 2]))
    with tf.control_dependencies([fill]):
        return (raw.LookupTableFind(table_handle=table, keys=keys, default_value=np.int64(-1)),
                raw.LookupTableSize(table_handle=table))


@op("a table of the old kind that changes", keys=np.array([3, 9, 1]))
def MutableHashTable(keys):
    table = raw.MutableHashTable(key_dtype=tf.int64, value_dtype=tf.float32, shared_name="old_mutable")
    with tf.control_dependencies([raw.LookupTableInsert(table_handle=table, keys=keys, values=[.5, 1.5, 2.5])]):
        first = raw.LookupTableFind(table_handle=table, keys=np.array([1, 2]), default_value=F(-1))
    with tf.control_dependencies([first]):
        fill = raw.LookupTableImport(table_handle=table, keys=np.array([7]), values=np.array([.25], F))
    with tf.control_dependencies([fill]):
        return first, *raw.LookupTableExport(table_handle=table, Tkeys=tf.int64, Tvalues=tf.float32)


@op("keys and values of several numbers; one is removed", keys=np.array([[1, 2], [3, 4], [5, 6]]))
def MutableDenseHashTableV2(keys):
    table = raw.MutableDenseHashTableV2(empty_key=np.array([0, 0]), deleted_key=np.array([-1, -1]),
                                        value_dtype=tf.float32, value_shape=[2], shared_name="dense")
    fill = raw.LookupTableInsertV2(table_handle=table, keys=keys, values=random(3, 2))
    with tf.control_dependencies([fill]):
        fill = raw.LookupTableRemoveV2(table_handle=table, keys=keys[1:2])
    with tf.control_dependencies([fill]):
        return (raw.LookupTableFindV2(table_handle=table, keys=keys, default_value=np.array([8, 9], F)),
                raw.LookupTableSizeV2(table_handle=table))


@op("pairs of a dataset into a table", n=np.int64(3))
def InitializeTableFromDataset(n):
    table = raw.HashTableV2(key_dtype=tf.int64, value_dtype=tf.int64, shared_name="of_dataset")
    pairs = D.range(n).map(lambda i: (i, 10 * i))
    fill = raw.InitializeTableFromDataset(table_handle=table, dataset=pairs._variant_tensor)
    with tf.control_dependencies([fill]):
        return raw.LookupTableFindV2(table_handle=table, keys=np.array([2, 3]), default_value=np.int64(-1))


@op("put in, replaced, taken out; the older map stays as it was", value=random(2))
def TensorMapLookup(value):
    empty = raw.EmptyTensorMap()
    one = raw.TensorMapInsert(input_handle=empty, key=b"a", value=value)
    two = raw.TensorMapInsert(input_handle=one, key=b"b", value=-value)
    other = raw.TensorMapInsert(input_handle=two, key=b"a", value=2 * value)
    less = raw.TensorMapErase(input_handle=other, key=b"a", value_dtype=tf.float32)
    return (raw.TensorMapLookup(input_handle=two, key=b"a", value_dtype=tf.float32),
            raw.TensorMapLookup(input_handle=other, key=b"a", value_dtype=tf.float32),
            raw.TensorMapHasKey(input_handle=less, key=b"a"), raw.TensorMapHasKey(input_handle=less, key=b"b"),
            raw.TensorMapSize(input_handle=two), raw.TensorMapStackKeys(input_handle=less, key_dtype=tf.string))

# ---- images and sound ----

_PHOTO = (np.indices((19, 21, 3)).sum(0) * 7 % 256 + integers(19, 21, 3, high=30)).clip(0, 255).astype("u1")
_PIXELS = integers(5, 7, 4, high=256).astype("u1")


@op("colors with fewer of them, gray, progressive; what is decoded again", image=_PHOTO)
def EncodeJpeg(image):
    files = (raw.EncodeJpeg(image=image), raw.EncodeJpeg(image=image[:, :, :1], quality=40, optimize_size=True),
             raw.EncodeJpeg(image=image, progressive=True, chroma_downsampling=False, density_unit="cm", x_density=7,
                            xmp_metadata="<x/>"), raw.EncodeJpegVariableQuality(images=image, quality=11))
    return (*files, *(raw.DecodeJpeg(contents=f) for f in files),
            *(raw.ExtractJpegShape(contents=f, output_type=tf.int64) for f in files))


@op("smaller, gray, plain upscaling, the accurate transform; a window", image=_PHOTO)
def DecodeJpeg(image):
    file = raw.EncodeJpeg(image=image, quality=80)
    return (raw.DecodeJpeg(contents=file, ratio=2), raw.DecodeJpeg(contents=file, ratio=8, channels=1),
            raw.DecodeJpeg(contents=file, fancy_upscaling=False), raw.DecodeJpeg(contents=file, channels=1),
            raw.DecodeJpeg(contents=file, dct_method="INTEGER_ACCURATE"),
            raw.DecodeImage(contents=file, channels=3, dtype=tf.float32),
            raw.DecodeAndCropJpeg(contents=file, crop_window=[0, 0, 16, 21]))


@op("every number of channels, of 8 and 16 bits, there and back", image=_PIXELS)
def EncodePng(image):
    wide = tf.cast(image, tf.uint16) * 200 + 77
    parts = [x[:, :, :n] for x in (image, wide) for n in (1, 2, 3, 4)]
    return [raw.DecodePng(contents=raw.EncodePng(image=x), dtype=x.dtype) for x in parts]


@op("other numbers of channels and bits than in the file", image=_PIXELS)
def DecodePng(image):
    gray, color = (raw.EncodePng(image=image[:, :, :n], compression=9) for n in (1, 4))
    wide = raw.EncodePng(image=tf.cast(image, tf.uint16) * 200 + 77)
    return ([raw.DecodePng(contents=gray, channels=n) for n in (1, 3, 4)] +
            [raw.DecodePng(contents=color, channels=n) for n in (1, 3, 4)] +
            [raw.DecodePng(contents=wide, channels=n) for n in (1, 3)] +
            [raw.DecodePng(contents=gray, dtype=tf.uint16), raw.DecodeImage(contents=color, dtype=tf.float32),
             raw.DecodeImage(contents=wide, channels=1), raw.DecodeJpeg(contents=color, channels=3)])


def png(width, height, bits, color, rows, *more):
    def chunk(name, data):
        return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")
    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([bits, color, 0, 0, 0])
    data = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))
    return np.array(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(chunk(*c) for c in more) +
                    chunk(b"IDAT", data) + chunk(b"IEND", b""))


_PALETTE = (b"PLTE", bytes([255, 0, 0, 0, 255, 0, 1, 2, 3]))
for _what, _variant, _file in (
        ("a palette", "palette", png(5, 2, 2, 3, [[0x18, 0x40], [0x86, 0x00]], _PALETTE)),
        ("a palette with clear colors", "clear", png(3, 1, 8, 3, [[0, 1, 2]], _PALETTE, (b"tRNS", bytes([9, 200])))),
        ("one bit a pixel", "bit", png(10, 2, 1, 0, [[0xa5, 0x40], [0x0f, 0x80]]))):
    case("DecodePng", _what, _variant, contents=_file)
    case("DecodePng", _what + ", as colors with alpha", _variant + "_rgba", contents=_file, channels=4)


def gif(width, height, palette, *frames):
    """Codes of one size only: a clear code before the table grows."""
    out = b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little") + bytes([0x81, 0, 0]) + palette
    for left, top, w, h, clear, pixels, flags in frames:
        if clear is not None:
            out += bytes([0x21, 0xf9, 4, 1, 5, 0, clear, 0])
        out += b"," + b"".join(v.to_bytes(2, "little") for v in (left, top, w, h)) + bytes([flags, 2])
        codes = [c for i, p in enumerate(pixels) for c in ([4, p] if i % 2 == 0 else [p])] + [5]
        bits = sum(c << 3 * i for i, c in enumerate(codes)).to_bytes((3 * len(codes) + 7) // 8, "little")
        out += bytes([len(bits)]) + bits + b"\0"
    return np.array(out + b";")


_COLORS = bytes([0, 0, 0, 255, 0, 0, 0, 255, 0, 9, 8, 7])
_GIF = gif(3, 2, _COLORS, (0, 0, 3, 2, None, [0, 1, 2, 3, 2, 1], 0), (1, 0, 2, 2, 3, [3, 1, 2, 3], 0),
           (0, 0, 3, 2, None, [1, 1, 1, 2, 2, 2], 0x40))
case("DecodeGif", "frames that are parts, with a clear color, interlaced", contents=_GIF)
case("DecodeGif", "a PNG: one frame", "png", contents=png(10, 2, 1, 0, [[0xa5, 0x40], [0x0f, 0x80]]))
case("DecodeImage", "the first frame only", "first", contents=_GIF, expand_animations=False)
case("DecodeImage", "every frame, 16 bits", "wide", contents=_GIF, dtype=tf.uint16)


def bmp(width, height, bits, data):
    head = b"BM" + b"\0" * 8 + (54).to_bytes(4, "little") + (40).to_bytes(4, "little")
    return np.array(head + width.to_bytes(4, "little") + height.to_bytes(4, "little", signed=True) + b"\1\0" +
                    bits.to_bytes(2, "little") + b"\0" * 24 + data)


case("DecodeBmp", "from the bottom up, rows filled up", contents=bmp(3, 2, 24, bytes(range(1, 25))))
case("DecodeBmp", "from the top down, with alpha", "alpha", contents=bmp(2, -2, 32, bytes(range(1, 17))), channels=4)
case("DecodeBmp", "gray", "gray", contents=bmp(3, 2, 8, bytes(range(1, 9))))


@op("there and back; fewer and more channels and samples", audio=random(6, 2, low=-1.2, high=1.2))
def EncodeWav(audio):
    file = raw.EncodeWav(audio=audio, sample_rate=8000)
    return (file + b"|", *raw.DecodeWav(contents=file), *raw.DecodeWav(contents=file, desired_channels=1),
            *raw.DecodeWav(contents=file, desired_channels=3, desired_samples=9),
            *raw.DecodeWav(contents=file, desired_samples=4))

# ---- summaries ----

case("ScalarSummary", "two tags", tags=words("a", "b"), values=np.array([1.5, -3]))
case("HistogramSummary", "numbers far apart, zeros", tag=np.array(b"tag"),
     values=np.array([0, 0, 1e-14, -2.5, 3e7, 1e30, 1, 1.05], "f"))
case("TensorSummary", "numbers", tensor=random(2, 3))
case("TensorSummaryV2", "strings, with metadata", tag=np.array(b"tag"), tensor=words("a", "bc"),
     serialized_summary_metadata=b"\x0a\x03\x0a\x01p")


@op("of two inputs", a=F(2), b=random(3))
def MergeSummary(a, b):
    return raw.MergeSummary(inputs=[raw.ScalarSummary(tags="a", values=a),
                                    tf.stack([raw.HistogramSummary(tag="b", values=b),
                                              raw.ScalarSummary(tags=[b"c", b"d"], values=[1, 2])])])


@op("positive and not; a pixel of NaN; half, gray; bytes with alpha; one at most", image=random(2, 3, 4, 3))
def ImageSummary(image):
    holes = tf.concat([image, tf.fill([1, 3, 4, 3], np.nan)], 0)
    return (raw.ImageSummary(tag="a", tensor=tf.abs(image)), raw.ImageSummary(tag="b", tensor=holes, max_images=5),
            raw.ImageSummary(tag="c", tensor=tf.cast(image[..., :1], tf.half)),
            raw.ImageSummary(tag="d", tensor=np.arange(96, dtype="u1").reshape(2, 3, 4, 4), max_images=1),
            raw.ImageSummary(tag="e", tensor=image * 0, bad_color=tf.make_tensor_proto([1, 2, 3, 4], tf.uint8)))


@op("mono and stereo; one at most", audio=random(2, 6, low=-1.2, high=1.2))
def AudioSummaryV2(audio):
    return (raw.AudioSummaryV2(tag="a", tensor=audio, sample_rate=8000.),
            raw.AudioSummaryV2(tag="b", tensor=tf.reshape(audio, [2, 3, 2]), sample_rate=44100., max_outputs=1))


@op("bad and good numbers; none; integers; bounds; mute", x=np.array([[-np.inf, -2.5, -0., 0.], [1, 3, np.inf, np.nan]], "f"))
def DebugNumericSummary(x):
    finite = tf.cast(tf.reshape(x, [-1])[1:6], tf.double)

    def of(value, **attributes):
        return raw.DebugNumericSummary(input=value, tensor_name="x:0", **attributes)
    return (of(x), of(finite), of(x[:0]), of(tf.cast(finite, tf.int32)), of(finite > 0),
            of(x, lower_bound=-2.5, upper_bound=3.), of(finite, mute_if_healthy=True))


@op("all modes; half, integers; seven dimensions", x=np.array([[-np.inf, -2.5, -0., 0.], [1, 3, np.inf, np.nan]], "f"))
def DebugNumericSummaryV2(x):
    def of(mode, value=x, dtype=tf.double):
        return raw.DebugNumericSummaryV2(input=value, output_dtype=dtype, tensor_debug_mode=mode, tensor_id=5)
    deep = tf.reshape(x, [1, 2, 1, 2, 1, 2, 1])
    return (*[of(mode) for mode in (2, 3, 4, 5, 8)], *[of(mode, x[1:, :2], tf.float32) for mode in (2, 3, 4, 5, 8)],
            of(4, tf.cast(x, tf.half)), of(5, tf.cast(x[:, 1:3], tf.int64)), of(5, deep), of(2, x[:0]), of(4, x[:0]))


@op("nothing", values=np.zeros(0, "i8"))
def HistogramSummary_empty(values):
    return marked(raw.HistogramSummary(tag=b"tag", values=values, name="out"))


# ---- datasets ----

def dataset(variant, *spec):
    """What an op of raw_ops gives, as a dataset of Python's."""
    return tf.data.experimental.from_variant(variant, spec if len(spec) > 1 else spec[0])


def kinds(*spec):
    return dict(output_types=[s.dtype for s in spec], output_shapes=[s.shape for s in spec])


_I64, _F32 = tf.TensorSpec([], tf.int64), tf.TensorSpec([], tf.float32)


@op("windows that overlap, with a stride", n=np.int64(9))
def SlidingWindowDataset(n):
    spec = tf.TensorSpec([None], tf.int64)
    windows = raw.SlidingWindowDataset(
        input_dataset=D.range(n)._variant_tensor, window_size=np.int64(3), window_shift=np.int64(2),
        window_stride=np.int64(2), **kinds(spec))
    return elements(dataset(windows, spec), 3)


@op("sums by the remainder", n=np.int64(7))
def GroupByReducerDataset(n):
    reducer = tf.data.experimental.Reducer(lambda key: (key, np.int64(0)), lambda state, x: (state[0], state[1] + x),
                                           lambda key, total: (key, total))
    return elements(D.range(n).apply(tf.data.experimental.group_by_reducer(lambda x: -(x % 3), reducer)), 3)


@op("tensors in turn", x=random(2), y=random(2, seed=1))
def ListDataset(x, y):
    spec = tf.TensorSpec([2], tf.float32)
    return elements(dataset(raw.ListDataset(tensors=[x, y, x], **kinds(spec)), spec), 3)


@op("elements of a chance by seeds", n=np.int64(40))
def SamplingDataset(n):
    picked = raw.SamplingDataset(input_dataset=D.range(n)._variant_tensor, rate=F(.4), seed=np.int64(3),
                                 seed2=np.int64(9), **kinds(_I64))
    return elements(dataset(picked, _I64), 12)


@op("shards by data, slowly, one of several, under their older names", n=np.int64(7))
def AutoShardDataset(n):
    numbers = D.range(n)._variant_tensor
    shard = raw.AutoShardDataset(input_dataset=numbers, num_workers=np.int64(1), index=np.int64(0), **kinds(_I64))
    slow = raw.ExperimentalSleepDataset(input_dataset=shard, sleep_microseconds=np.int64(1), **kinds(_I64))
    return elements(dataset(slow, _I64), 7)


def parts(sparse):
    return sparse.indices, sparse.values, sparse.dense_shape


@op("rows of a sparse tensor, one without values", values=random(4))
def SparseTensorSliceDataset(values):
    return elements(D.from_tensor_slices(tf.SparseTensor(PLACES, values, [3, 4])).map(parts), 3)


@op("vectors of different lengths as rows of sparse matrices", n=np.int64(3))
def DenseToSparseBatchDataset(n):
    rows = D.range(n).map(lambda i: tf.range(i + 1))
    return elements(rows.apply(tf.data.experimental.dense_to_sparse_batch(2, [4])).map(parts), 2)
