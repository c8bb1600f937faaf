"""Graphs of one op each around sparse tensors: sums, parts, counts, crosses, matrices by rows. Importing this adds them
to OPS of testdata_ops."""
import numpy as np
import tensorflow as tf

from testdata_kernels import case, words
from testdata_ops import op, random, raw

F, I = np.float32, np.int32

# ---- sparse tensors ----

_A, PLACES = np.array([[0, 1], [0, 3], [2, 0]]), np.array([[0, 0], [0, 1], [2, 0], [2, 2]])
_SHAPE = np.array([3, 4])
_PAIR = dict(a_indices=_A, a_shape=_SHAPE, b_indices=PLACES, b_shape=_SHAPE)
case("SparseAdd", "sums below the threshold go, what one has alone stays", a_values=np.array([1, -2, 3], "f"),
     thresh=F(.6), b_values=np.array([.5, -1.5, -3, 4], "f"), **_PAIR)
case("SparseAdd", "complex", "complex", a_values=np.array([1j, -2, 3], "F"), thresh=F(0),
     b_values=np.array([.5, -1.5, -3, 4j], "F"), **_PAIR)
case("SparseAdd", "integers", "int8", a_values=np.array([1, -128, 3], "i1"), thresh=np.int8(2),
     b_values=np.array([5, -1, -3, 4], "i1"), **_PAIR)
case("SparseAddGrad", "a place that the sum dropped", backprop_val_grad=random(4), a_indices=_A, b_indices=PLACES,
     sum_indices=np.array([[0, 0], [0, 1], [0, 3], [2, 2]]))
for _name in ("SparseSparseMaximum", "SparseSparseMinimum"):
    case(_name, "what one lacks is 0", a_values=np.array([1, -2, 3], "f"), b_values=np.array([.5, -1.5, 4, -1], "f"),
         **_PAIR)
_SPARSE = dict(sp_indices=PLACES, sp_values=np.array([1, 2, -3, 4], "f"), sp_shape=_SHAPE)
for _name in ("SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv"):
    case(_name, "a column for all", dense=random(3, 1), **_SPARSE)
case("SparseDenseCwiseDiv", "integers", "int32", **dict(_SPARSE, sp_values=np.array([7, -7, 9, 4], "i4")),
     dense=np.array([2, -3, 5, 3], "i4"))
case("SparseTensorDenseAdd", "a place that comes twice", a_indices=np.array([[0, 1], [0, 1], [2, 0]], "i4"),
     a_values=random(3), a_shape=np.array([3, 2], "i4"), b=random(3, 2, seed=1))
_CUBE = dict(input_indices=np.array([[0, 0, 1], [1, 1, 0], [0, 2, 1], [1, 1, 2], [0, 0, 0]]),
             input_values=np.array([-1, -2, 3, -.5, 2], "f"), input_shape=np.array([2, 3, 3]))
for _name in ("SparseReduceSum", "SparseReduceMax"):
    case(_name, "two axes, places out of order", reduction_axes=np.array([-1, 0], "i4"), **_CUBE)
    case(_name, "axes are kept as 1", "keep", reduction_axes=I(1), keep_dims=True, **_CUBE)
    case(_name + "Sparse", "one axis", reduction_axes=np.array([2], "i4"), **_CUBE)
    case(_name + "Sparse", "axes are kept as 1", "keep", reduction_axes=np.array([0, 2], "i4"), keep_dims=True, **_CUBE)
case("SparseReduceSumSparse", "every axis", "all", reduction_axes=np.array([0, 1, 2], "i4"), **_CUBE)
case("SparseSoftmax", "rows of different lengths", sp_indices=np.array([[0, 0, 1], [0, 0, 2], [0, 1, 0], [1, 0, 2]]),
     sp_values=np.array([1, 2, 3, -1000], "d"), sp_shape=np.array([2, 2, 3]))


@op("along the second dimension, places sorted anew", a=random(3), b=random(4), at=_A)
def SparseConcat(a, b, at):
    return raw.SparseConcat(indices=[at, PLACES], values=[a, b], shapes=[[3, 4], [3, 3]], concat_dim=-1, name="out")


@op("a dimension that does not come out even", values=words("a", "b", "c", "d"))
def SparseSplit(values):
    return tf.nest.flatten(raw.SparseSplit(split_dim=np.int64(1), indices=[[0, 0], [0, 1], [2, 0], [2, 4]],
                                           values=values, shape=[3, 5], num_split=3, name="out"))


case("SparseSlice", "past the end", indices=PLACES, values=words("a", "b", "c", "d"), shape=_SHAPE,
     start=np.array([0, 1]), size=np.array([9, 2]))
case("SparseSliceGrad", "what was cut out", backprop_val_grad=random(2), input_indices=PLACES,
     input_start=np.array([0, 1]), output_indices=np.array([[0, 0], [2, 1]]))
case("SparseMatMul", "both transposed", a=random(4, 3), b=random(2, 4, seed=1), transpose_a=True, transpose_b=True,
     a_is_sparse=True)


def marked(strings):
    """With an end of their own: .npy takes zeros at the end away."""
    return strings + b"|"


@op("strings", values=random(4))
def SerializeSparse(values):
    return marked(raw.SerializeSparse(sparse_indices=PLACES, sparse_values=values, sparse_shape=_SHAPE, name="out"))


@op("a row without places", values=random(4))
def SerializeManySparse(values):
    return marked(raw.SerializeManySparse(sparse_indices=PLACES, sparse_values=values, sparse_shape=_SHAPE, name="out"))


@op("through variants and strings, one and many", values=random(4))
def DeserializeSparse(values):
    sparse = dict(sparse_indices=PLACES, sparse_values=values, sparse_shape=_SHAPE)
    variant = raw.SerializeSparse(**sparse, out_type=tf.variant)
    rows = raw.SerializeManySparse(**sparse)
    twice = tf.stack([rows, rows[::-1]])
    return tf.nest.flatten([raw.DeserializeSparse(serialized_sparse=variant, dtype=tf.float32),
                            raw.DeserializeManySparse(serialized_sparse=rows, dtype=tf.float32),
                            raw.DeserializeSparse(serialized_sparse=twice, dtype=tf.float32)])


@op("one kept, many kept, all taken in another order", values=words("a", "b", "c", "d"))
def TakeManySparseFromTensorsMap(values):
    kind = dict(container="", shared_name="map")
    rows = raw.AddManySparseToTensorsMap(sparse_indices=PLACES, sparse_values=values, sparse_shape=_SHAPE, **kind)
    one = raw.AddSparseToTensorsMap(sparse_indices=[[5]], sparse_values=values[:1], sparse_shape=[7], **kind)
    handles = tf.reverse(tf.concat([rows, one[None]], 0), [0])
    return tf.nest.flatten(raw.TakeManySparseFromTensorsMap(sparse_handles=handles, dtype=tf.string, **kind))

# ---- sparse matrices by rows ----

_CSR_AT = np.array([[0, 0, 1], [0, 2, 0], [0, 2, 3], [1, 1, 2]])


@op("a batch: from places and from a dense one, back, its parts", values=random(4), dense=random(3, 4))
def CSRSparseMatrixToDense(values, dense):
    batch = raw.SparseTensorToCSRSparseMatrix(indices=_CSR_AT, values=values, dense_shape=[2, 3, 4])
    one = raw.DenseToCSRSparseMatrix(dense_input=dense, indices=_CSR_AT[:3, 1:])
    return (raw.CSRSparseMatrixToDense(sparse_input=batch, type=tf.float32),
            raw.CSRSparseMatrixToDense(sparse_input=one, type=tf.float32),
            *raw.CSRSparseMatrixToSparseTensor(sparse_matrix=batch, type=tf.float32),
            *raw.CSRSparseMatrixComponents(csr_sparse_matrix=batch, index=1, type=tf.float32),
            *raw.CSRSparseMatrixComponents(csr_sparse_matrix=one, index=0, type=tf.float32),
            raw.SparseMatrixNNZ(sparse_matrix=batch), raw.SparseMatrixNNZ(sparse_matrix=one))


@op("products of complex matrices: as they are, transposed, adjoint", values=random(4, 2), b=random(2, 4, 3, 2))
def SparseMatrixMatMul(values, b):
    values, b = tf.complex(values[:, 0], values[:, 1]), tf.complex(b[..., 0], b[..., 1])
    a = raw.SparseTensorToCSRSparseMatrix(indices=_CSR_AT, values=values, dense_shape=[2, 3, 4])
    turned = tf.transpose(b, [0, 2, 1])
    return (raw.SparseMatrixMatMul(a=a, b=b), raw.SparseMatrixMatMul(a=a, b=turned, transpose_b=True),
            raw.SparseMatrixMatMul(a=a, b=turned, adjoint_b=True),
            raw.SparseMatrixMatMul(a=a, b=turned, adjoint_a=True),
            raw.SparseMatrixMatMul(a=a, b=b, transpose_output=True, conjugate_output=True))


# ---- counts and crosses ----

_COUNTED = np.array([[4, 1, 1], [0, 1, 4]])
case("DenseCountSparseOutput", "rows with weights", values=_COUNTED, weights=random(2, 3), binary_output=False)
case("DenseCountSparseOutput", "whether at all, up to a limit", "binary", values=_COUNTED.astype("i4"), maxlength=4,
     weights=np.zeros(0, "i4"), binary_output=True)
case("DenseCountSparseOutput", "a vector, at least this wide", "vector", values=_COUNTED[0], minlength=7,
     weights=np.zeros(0, "f"), binary_output=False)
case("SparseCountSparseOutput", "a row without places", indices=PLACES, values=np.array([4, 1, 1, 1]),
     dense_shape=_SHAPE, weights=random(4), binary_output=False)
case("RaggedCountSparseOutput", "a row without values", splits=np.array([0, 2, 2, 4]), values=np.array([4, 1, 1, 1]),
     weights=np.zeros(0, "d"), binary_output=False)
case("SparseBincount", "rows with weights", indices=PLACES, values=np.array([4, 1, 1, 1]), dense_shape=_SHAPE,
     size=np.int64(3), weights=random(4))
case("SparseBincount", "a vector", "vector", indices=np.array([[0], [2]]), values=np.array([4, 1], "i4"),
     dense_shape=np.array([9]), size=I(5), weights=np.zeros(0, "i4"), binary_output=True)
case("RaggedFillEmptyRows", "rows out of order", value_rowids=np.array([2, 0, 2]), values=words("a", "b", "c"),
     nrows=np.int64(5), default_value=np.array(b"-"))
case("RaggedFillEmptyRowsGrad", "what was filled in", reverse_index_map=np.array([0, 2]), grad_values=random(4))


@op("rows of a ragged tensor there and back", values=random(5, 2))
def RaggedTensorToVariantGradient(values):
    splits = np.array([0, 2, 2, 5])
    rows = raw.RaggedTensorToVariant(rt_nested_splits=[splits], rt_dense_values=values, batched_input=True)
    return raw.RaggedTensorToVariantGradient(encoded_ragged_grad=rows, row_splits=splits, dense_values_shape=[5, 2],
                                             Tvalues=tf.float32, name="out")


_CROSSED = dict(indices=[np.array([[0, 0], [1, 0], [1, 1]]), np.array([[0, 0], [1, 0], [2, 0]])],
                shapes=[np.array([3, 2]), np.array([3, 1])])
_DENSE = np.array([[5, 6], [7, 8], [9, 10]])


def crossed(make, **more):
    def build(text, numbers):
        return make(values=[numbers, text], dense_inputs=[_DENSE, text[:, None]], **_CROSSED, **more, name="out")
    return build


_CROSS_FEEDS = dict(text=words("a", "bb", "c"), numbers=np.array([1, 2, 300]))
op("hashes, sparse and dense", _name="SparseCross", **_CROSS_FEEDS)(
    crossed(raw.SparseCross, hashed_output=True, num_buckets=0, hash_key=956888297470, out_type=tf.int64,
            internal_type=tf.int64))
op("hashes in buckets", _name="SparseCross_buckets", **_CROSS_FEEDS)(
    crossed(raw.SparseCross, hashed_output=True, num_buckets=100, hash_key=7, out_type=tf.int64,
            internal_type=tf.int64))
op("text", _name="SparseCrossV2", **_CROSS_FEEDS)(crossed(raw.SparseCrossV2, sep="_Y_"))
op("hashes", _name="SparseCrossHashed", **_CROSS_FEEDS)(
    crossed(raw.SparseCrossHashed, num_buckets=np.int64(0), strong_hash=False, salt=[1, 2]))


@op("keyed hashes in buckets", _name="SparseCrossHashed_strong", **_CROSS_FEEDS)
def _strong(text, numbers):
    return raw.SparseCrossHashed(values=[numbers, text], dense_inputs=[text[:, None]], **_CROSSED, num_buckets=1000,
                                 strong_hash=True, salt=[1, 2], name="out")


def ragged_crossed(**more):
    def build(text, numbers):
        return raw.RaggedCross(ragged_values=[numbers], ragged_row_splits=[np.array([0, 1, 1, 3])],
                               sparse_indices=_CROSSED["indices"][1:], sparse_values=[text],
                               sparse_shape=_CROSSED["shapes"][1:], dense_inputs=[_DENSE], **more, name="out")
    return build


op("text", _name="RaggedCross", **_CROSS_FEEDS)(
    ragged_crossed(input_order="SRD", hashed_output=False, num_buckets=0, hash_key=5, out_values_type=tf.string,
                   out_row_splits_type=tf.int64))
op("hashes", _name="RaggedCross_hashed", **_CROSS_FEEDS)(
    ragged_crossed(input_order="DRS", hashed_output=True, num_buckets=50, hash_key=5, out_values_type=tf.int64,
                   out_row_splits_type=tf.int64))
