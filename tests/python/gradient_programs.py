"""Programs of a few ops each, for ops that no single op can show the gradient of: lists and arrays that have to be filled first,
variables, branches and loops, matrices that are variants. gradient_test.py compares them as it does the rows of gradient_cases.py.

  Program("TensorListPushBack TensorListPopBack", push_and_pop, F(2), F(2))

The ops are those of which the table then says that they were compared.
"""

import functools

import numpy as np
import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops
from tensorflow.dtensor.python import api as _  # registers the gradients of its ops
from tensorflow.dtensor.python import gen_dtensor_ops

from gradient_cases import F, I, Input, L, REALS, Row, SINGLE, WIDE

raw = tf.raw_ops


class Variable(Input):
    """A variable that has been set; what the program is given is its handle."""


class Program(Row):
    """`function` makes the outputs from the inputs. `v1`: TensorFlow's gradient is tf.gradients, not the tape's."""
    def __init__(self, ops, function, *inputs, v1=False, device=None, **options):
        options.setdefault("dtypes", REALS if v1 else WIDE)
        super().__init__(ops.split()[0], *inputs, **options)
        self.ops, self.function, self.v1, self.device = ops.split(), function, v1, device


# --- Lists.

def pushed(x, y):
    new = raw.EmptyTensorList(element_shape=[2], max_num_elements=-1, element_dtype=x.dtype)
    return raw.TensorListPushBack(input_handle=raw.TensorListPushBack(input_handle=new, tensor=x), tensor=y)


def lists():
    def push_and_pop(x, y):
        rest, last = raw.TensorListPopBack(input_handle=pushed(x, y), element_shape=[2], element_dtype=x.dtype)
        return last, raw.TensorListStack(input_handle=rest, element_shape=[2], element_dtype=x.dtype, num_elements=-1)

    def items(x, y):
        new = raw.TensorListFromTensor(tensor=x, element_shape=[2])
        new = raw.TensorListSetItem(input_handle=new, index=1, item=y, resize_if_index_out_of_bounds=False)
        item = raw.TensorListGetItem(input_handle=new, index=2, element_shape=[2], element_dtype=x.dtype)
        same = raw.TensorListGetItem(input_handle=new, index=1, element_shape=[2], element_dtype=x.dtype)
        return item, same, raw.TensorListStack(input_handle=new, element_shape=[2], element_dtype=x.dtype, num_elements=3)

    def grown(x, y):
        new = raw.TensorListFromTensor(tensor=x, element_shape=[2])
        new = raw.TensorListSetItem(input_handle=new, index=4, item=y, resize_if_index_out_of_bounds=True)
        return raw.TensorListStack(input_handle=new, element_shape=[2], element_dtype=x.dtype, num_elements=-1)

    def resized(x):
        new = raw.TensorListResize(input_handle=raw.TensorListFromTensor(tensor=x, element_shape=[2]), size=2)
        return raw.TensorListStack(input_handle=new, element_shape=[2], element_dtype=x.dtype, num_elements=-1)

    def gathered(x):
        new = raw.TensorListFromTensor(tensor=x, element_shape=[2])
        return raw.TensorListGather(input_handle=new, indices=[2, 0], element_shape=[2], element_dtype=x.dtype)

    def stack(new, x):
        return raw.TensorListStack(input_handle=new, element_shape=[2], element_dtype=x.dtype, num_elements=-1)

    def scattered(x):
        return stack(raw.TensorListScatter(tensor=x, indices=[2, 0, 1], element_shape=[2]), x)

    def scattered_to_size(x):
        return stack(raw.TensorListScatterV2(tensor=x, indices=[2, 0, 3], element_shape=[2], num_elements=4), x)

    def scattered_into(x, y):
        new = raw.TensorListFromTensor(tensor=x, element_shape=[2])
        return stack(raw.TensorListScatterIntoExistingList(input_handle=new, tensor=y, indices=[2, 0]), x)

    def split_and_joined(x):
        parts = raw.TensorListSplit(tensor=x, element_shape=[-1, 2], lengths=L([1, 2]))
        joined, _ = raw.TensorListConcatV2(input_handle=parts, element_shape=[-1, 2], leading_dims=L([]), element_dtype=x.dtype)
        first = raw.TensorListGetItem(input_handle=parts, index=0, element_shape=[1, 2], element_dtype=x.dtype)
        return joined, first

    def joined(x):
        parts = raw.TensorListSplit(tensor=x, element_shape=[-1, 2], lengths=L([2, 1]))
        return raw.TensorListConcat(input_handle=parts, element_dtype=x.dtype, element_shape=[None, 2])[0]

    yield Program("TensorListPushBack TensorListPopBack TensorListStack", push_and_pop, F(2), F(2))
    yield Program("TensorListGetItem TensorListSetItem TensorListFromTensor TensorListStack", items, F(3, 2), F(2))
    yield Program("TensorListSetItem", grown, F(3, 2), F(2))
    yield Program("TensorListResize", resized, F(3, 2))
    yield Program("TensorListGather", gathered, F(3, 2))
    yield Program("TensorListScatter", scattered, F(3, 2))
    yield Program("TensorListScatterV2", scattered_to_size, F(3, 2))
    yield Program("TensorListScatterIntoExistingList", scattered_into, F(3, 2), F(2, 2))
    yield Program("TensorListSplit TensorListConcatV2", split_and_joined, F(3, 2))
    yield Program("TensorListConcat", joined, F(3, 2))


# --- TensorArrays. tf.gradients alone makes theirs in TensorFlow: the name of its scope tells them apart.

def arrays():
    def new(x, size):
        return raw.TensorArrayV3(size=size, dtype=x.dtype, clear_after_read=False)

    def read(handle, index, flow, x):
        return raw.TensorArrayReadV3(handle=handle, index=index, flow_in=flow, dtype=x.dtype)

    def written(x, y):
        handle, flow = new(x, 2)
        for i, value in enumerate((x, y)):
            flow = raw.TensorArrayWriteV3(handle=handle, index=i, value=value, flow_in=flow)
        rows = raw.TensorArrayGatherV3(handle=handle, indices=[1, 0, 1], flow_in=flow, dtype=x.dtype)
        return read(handle, 1, flow, x), rows

    def scattered(x):
        handle, flow = new(x, 3)
        flow = raw.TensorArrayScatterV3(handle=handle, indices=[2, 0, 1], value=x, flow_in=flow)
        return read(handle, 2, flow, x), read(handle, 0, flow, x)

    def split(x):
        handle, flow = new(x, 2)
        flow = raw.TensorArraySplitV3(handle=handle, value=x, lengths=L([1, 2]), flow_in=flow)
        return raw.TensorArrayConcatV3(handle=handle, flow_in=flow, dtype=x.dtype)[0]

    yield Program("TensorArrayReadV3 TensorArrayWriteV3 TensorArrayGatherV3", written, F(3), F(3), v1=True)
    yield Program("TensorArrayScatterV3 TensorArrayReadV3", scattered, F(3, 2), v1=True)
    yield Program("TensorArraySplitV3 TensorArrayConcatV3", split, F(3, 2), v1=True)


# --- Variables.

def variables():
    def read(handle, x):
        value = raw.ReadVariableOp(resource=handle, dtype=x.dtype)
        return value * x, tf.square(value)

    def rows(handle, x):
        some = raw.ResourceGather(resource=handle, indices=[2, 0, 2], dtype=x.dtype)
        return some * x

    def elements(index):
        return lambda handle, x: raw.ResourceGatherNd(resource=handle, indices=index, dtype=x.dtype) * x

    def rows_and_all(handle, x):
        return rows(handle, x), raw.ReadVariableOp(resource=handle, dtype=x.dtype)

    values = np.linspace(0.3, 2.0, 8).reshape(4, 2)
    yield Program("ReadVariableOp", read, Variable([0.5, -1.5]), F(2))
    yield Program("ResourceGather", rows, Variable(values), F(3, 2))
    yield Program("ResourceGather ReadVariableOp", rows_and_all, Variable(values), F(3, 2))
    yield Program("ResourceGatherNd", elements([[2, 0], [1, 1]]), Variable(values), F(2))
    yield Program("ResourceGatherNd", elements([[2], [0], [2]]), Variable(values), F(3, 2))


# --- Branches, loops, calls.

def stateful(x):
    """The same, and an effect, so that what it is in is stateful; it prints nothing."""
    return raw.Print(input=x, data=[x], message="never", first_n=0)


def control_flow():
    def branch(above, mark=tf.identity):
        def function(x, y):
            is_above = tf.cast(tf.reduce_sum(x), tf.float32) > above
            return tf.cond(is_above, lambda: (mark(tf.tanh(x) * y), x), lambda: (x * x + y, y * 2))
        return function

    def case(which, mark=tf.identity):
        def function(x, y):
            index = tf.cast(tf.math.round(tf.cast(x[0] * 0, tf.float32)), tf.int32) + which
            return tf.switch_case(index, [lambda: mark(x * y), lambda: tf.sin(x) * y, lambda: y])
        return function

    def loop(mark=tf.identity):
        def function(x, y):
            return tf.while_loop(lambda i, v: i < 4, lambda i, v: (i + 1, mark(tf.tanh(v * y)) + x), [tf.constant(0), x])[1]
        return function

    def nested(x, y):
        def body(i, v):
            v = tf.cond(tf.equal(i % 2, 0), lambda: tf.sin(v) * y, lambda: v + tf.cos(y * v))
            return i + 1, tf.while_loop(lambda j, u: j < 2, lambda j, u: (j + 1, u * tf.cos(u)), [tf.constant(0), v])[1]
        return tf.while_loop(lambda i, v: i < 3, body, [tf.constant(0), x])[1]

    def arrays(x, y):
        rows = tf.TensorArray(x.dtype, size=4, element_shape=[3]).unstack(x)

        def body(i, h, made):
            h = tf.tanh(h * y + rows.read(i))
            return i + 1, h, made.write(i, h)
        start = [tf.constant(0), tf.zeros([3], x.dtype), tf.TensorArray(x.dtype, size=4, element_shape=[3])]
        return tf.while_loop(lambda i, h, made: i < 4, body, start)[2].stack()

    def call(mark=tf.identity):
        @tf.function(autograph=False)
        def inner(a, b):
            return tf.tanh(mark(a) * b) + a, tf.sin(a)

        def function(x, y):
            p, q = inner(x, y)
            return p * q, q
        return function

    by_name = {"If": stateful, "StatelessIf": tf.identity}
    for op, mark in by_name.items():
        yield Program(op, branch(-100.0, mark), F(3), F(3))
        yield Program(op, branch(100.0, mark), F(3), F(3))
    for which in range(3):
        yield Program("StatelessCase", case(which), F(3), F(3))
        yield Program("Case", case(which, stateful), F(3), F(3))
    yield Program("StatelessWhile", loop(), F(3), F(3))
    yield Program("While", loop(stateful), F(3), F(3))
    yield Program("StatelessWhile StatelessIf", nested, F(3), F(3), dtypes=("float32", "float64"))
    yield Program("StatelessWhile", arrays, F(4, 3), F(3), dynamic=False)
    yield Program("PartitionedCall", call(), F(3), F(3))
    yield Program("StatefulPartitionedCall", call(stateful), F(3), F(3))

    def switch_and_merge(above):
        def function(x, y):
            is_above = tf.cast(tf.reduce_sum(x), tf.float32) > above
            x_false, x_true = raw.Switch(data=x, pred=is_above)
            y_false, y_true = raw.Switch(data=y, pred=is_above)
            return raw.Merge(inputs=[x_false * x_false + y_false, tf.tanh(x_true) * y_true])[0]
        return function

    yield Program("Switch Merge", switch_and_merge(-100.0), F(3), F(3), v1=True)
    yield Program("Switch Merge", switch_and_merge(100.0), F(3), F(3), v1=True)


# --- Sparse matrices.

def matrices():
    places, dims = L([[0, 1], [1, 0], [1, 2]]), L([2, 3])

    def sparse(values, indices=places, shape=dims):
        return raw.SparseTensorToCSRSparseMatrix(indices=indices, values=values, dense_shape=shape)

    def dense(matrix, x):
        return raw.CSRSparseMatrixToDense(sparse_input=matrix, type=x.dtype)

    def to_dense(x):
        return dense(sparse(x), x)

    def from_dense(x):
        return raw.CSRSparseMatrixToSparseTensor(
            sparse_matrix=raw.DenseToCSRSparseMatrix(dense_input=x, indices=places), type=x.dtype)[1]

    def product(batch, flags):
        def function(x, y):
            indices, shape = places, dims
            if batch:
                indices, shape = L([[0, 0, 1], [0, 1, 2], [1, 1, 0]]), L([2, 2, 3])
            return raw.SparseMatrixMatMul(a=sparse(x, indices, shape), b=y, **flags)
        return function

    yield Program("SparseTensorToCSRSparseMatrix CSRSparseMatrixToDense", to_dense, F(3))
    yield Program("DenseToCSRSparseMatrix CSRSparseMatrixToSparseTensor", from_dense, F(2, 3))
    for turn_a in ("", "transpose_a", "adjoint_a"):
        for turn_b in ("", "transpose_b", "adjoint_b"):
            for outputs in ((), ("transpose_output",), ("conjugate_output",), ("transpose_output", "conjugate_output")):
                inner, other = (2, 4) if turn_a else (3, 4)
                y = F(other, inner) if turn_b else F(inner, other)
                flags = {flag: True for flag in (turn_a, turn_b, *outputs) if flag}
                yield Program("SparseMatrixMatMul", product(False, flags), F(3), y, dynamic=False, dtypes=("float64", "complex128"))
    yield Program("SparseMatrixMatMul", product(True, {}), F(3), F(2, 3, 2), dynamic=False)
    yield Program("SparseMatrixMatMul", product(True, {"transpose_a": True}), F(3), F(2, 2, 2), dynamic=False)

    others = L([[0, 0], [0, 1], [1, 2]])

    def added(x, y):
        return dense(raw.SparseMatrixAdd(a=sparse(x), b=sparse(y, others), alpha=tf.constant(2, x.dtype),
                                         beta=tf.constant(-0.5, x.dtype)), x)

    def transposed(conjugate):
        return lambda x: dense(raw.SparseMatrixTranspose(input=sparse(x), conjugate=conjugate, type=x.dtype), x)

    def softmax(x):
        return dense(raw.SparseMatrixSoftmax(logits=sparse(x), type=x.dtype), x)

    def sparse_product(flags):
        def function(x, y):
            turned_a = any(flag.endswith("_a") for flag in flags)
            turned_b = any(flag.endswith("_b") for flag in flags)
            shape = L([3, 2]) if turned_a == turned_b else dims
            indices = L([[0, 1], [1, 0], [2, 1]]) if turned_a == turned_b else places
            made = raw.SparseMatrixSparseMatMul(a=sparse(x), b=sparse(y, indices, shape), type=x.dtype, **flags)
            return dense(made, x)
        return function

    yield Program("SparseMatrixAdd", added, F(3), F(3), dynamic=False)
    for conjugate in (False, True):
        yield Program("SparseMatrixTranspose", transposed(conjugate), F(3), dynamic=False)
    yield Program("SparseMatrixSoftmax", softmax, F(3), dynamic=False)
    for turn_a in ("", "transpose_a", "adjoint_a"):
        for turn_b in ("", "transpose_b", "adjoint_b"):
            flags = {flag: True for flag in (turn_a, turn_b) if flag}
            yield Program("SparseMatrixSparseMatMul", sparse_product(flags), F(3), F(3), dtypes=("float64", "complex128"),
                          dynamic=False)


# --- Ragged tensors, and what wraps tensors up.

def ragged():
    splits = L([0, 2, 2, 3])

    def to_dense(initial, types=("ROW_SPLITS",), partition=(splits,), shape=(-1, -1)):
        def function(x):
            return raw.RaggedTensorToTensor(shape=L(shape), values=x, default_value=tf.cast(initial, x.dtype),
                                            row_partition_tensors=list(partition), row_partition_types=list(types))
        return function

    def with_default(x, y):
        return raw.RaggedTensorToTensor(shape=L([4, 3] + [-1] * (len(x.shape) - 1)), values=x, default_value=y,
                                        row_partition_tensors=[splits], row_partition_types=["ROW_SPLITS"])

    def gathered(x):
        return raw.RaggedGather(params_nested_splits=[splits], params_dense_values=x, indices=L([2, 0, 2]),
                                OUTPUT_RAGGED_RANK=1)[1]

    def gathered_deep(x):
        return raw.RaggedGather(params_nested_splits=[L([0, 1, 3]), splits], params_dense_values=x, indices=L([1, 1]),
                                OUTPUT_RAGGED_RANK=2)[1]

    def as_variant(is_batched):
        def function(x):
            encoded = raw.RaggedTensorToVariant(rt_nested_splits=[splits], rt_dense_values=x, batched_input=is_batched)
            return raw.RaggedTensorFromVariant(encoded_ragged=encoded, input_ragged_rank=0 if is_batched else 1,
                                               output_ragged_rank=1, Tvalues=x.dtype, Tsplits=tf.int64)[1]
        return function

    def dense_as_variant(x):
        encoded = raw.RaggedTensorToVariant(rt_nested_splits=[], rt_dense_values=x, batched_input=False)
        return raw.RaggedTensorFromVariant(encoded_ragged=encoded, input_ragged_rank=0, output_ragged_rank=0, Tvalues=x.dtype,
                                           Tsplits=tf.int64)[1]

    def to_sparse(x):
        return raw.RaggedTensorToSparse(rt_nested_splits=[splits], rt_dense_values=x)[1]

    def filled(x, y):
        return raw.RaggedFillEmptyRows(value_rowids=L([0, 2, 2]), values=x, nrows=L(4), default_value=y)[1]

    yield Program("RaggedTensorToTensor", to_dense(0.5), F(3))
    yield Program("RaggedTensorToTensor", to_dense(0.5, shape=(3, 4, 2)), F(3, 2), dynamic=False)
    yield Program("RaggedTensorToTensor", to_dense(0.0, ("FIRST_DIM_SIZE", "VALUE_ROWIDS"), (L(4), L([0, 2, 2]))), F(3))
    yield Program("RaggedTensorToTensor", with_default, F(3), F())
    yield Program("RaggedTensorToTensor", with_default, F(3, 2), F(2))
    yield Program("RaggedTensorToTensor", with_default, F(3, 2, 2), F(1, 2))
    deep = (L([0, 1, 3]), splits)
    yield Program("RaggedTensorToTensor", to_dense(0.5, ("ROW_SPLITS", "ROW_SPLITS"), deep, (-1, -1, -1)), F(3))
    yield Program("RaggedTensorToTensor", to_dense(0.5, ("ROW_SPLITS", "ROW_SPLITS"), deep, (2, 2, 1, 2)), F(3, 2), dynamic=False)
    yield Program("RaggedGather", gathered, F(3))
    yield Program("RaggedGather", gathered, F(3, 2))
    yield Program("RaggedGather", gathered_deep, F(3, 2))
    for is_batched in (False, True):
        yield Program("RaggedTensorToVariant RaggedTensorFromVariant", as_variant(is_batched), F(3, 2))
    yield Program("RaggedTensorToVariant RaggedTensorFromVariant", dense_as_variant, F(3, 2))
    yield Program("RaggedTensorToSparse", to_sparse, F(3))
    yield Program("RaggedFillEmptyRows", filled, F(3), F())

    def nothing(x, y):
        return raw.RaggedTensorToTensor(shape=L([2, 3]), values=x, default_value=y, row_partition_tensors=[L([0, 0, 0])],
                                        row_partition_types=["ROW_SPLITS"])
    yield Program("RaggedTensorToTensor", nothing, F(0), F())

    def optional(x, y):
        made = raw.OptionalFromValue(components=[x, y])
        return raw.OptionalGetValue(optional=made, output_types=[x.dtype, y.dtype], output_shapes=[x.shape, y.shape])

    def composite(x):
        from tensorflow.python.ops import composite_tensor_ops
        value = tf.RaggedTensor.from_row_splits(x, splits)
        encoded = composite_tensor_ops.composite_tensor_to_variants(value)
        return composite_tensor_ops.composite_tensor_from_variant(encoded, tf.type_spec_from_value(value)).flat_values

    yield Program("OptionalFromValue OptionalGetValue", optional, F(2), F(3))
    yield Program("CompositeTensorVariantFromComponents CompositeTensorVariantToComponents", composite, F(3), dynamic=False)


# --- What other machines run: the graphs alone are compared.

def machines():
    def all_reduce(x):
        return raw.NcclAllReduce(input=x, reduction="sum", num_devices=2, shared_name="n")

    def reduce(x, y):
        return raw.NcclReduce(input=[x, y], reduction="sum")

    def rnn(version):
        def function(x, h, c, params):
            more = {"sequence_lengths": I([2, 3])} if version == "V3" else {}
            return getattr(raw, "CudnnRNN" + version)(input=x, input_h=h, input_c=c, params=params, **more)[:3]
        return function

    group = I([[0, 1]])
    # The bundles of TensorFlow for the CPU have no op of cuDNN's or NCCL's with a kernel.
    for version in ("", "V2", "V3"):
        yield Program("CudnnRNN" + version, rnn(version), F(2, 2, 3), F(1, 2, 4), F(1, 2, 4), F(40), dtypes=SINGLE, dynamic=False)
    yield Program("NcclAllReduce", all_reduce, F(3), dtypes=SINGLE, dynamic=False, v1=True, device="/gpu:0")
    yield Program("NcclReduce", reduce, F(3), F(3), dtypes=SINGLE, dynamic=False, v1=True,
                  device="/gpu:0")
    yield Row("AllToAll", F(4, 2), group, concat_dimension=0, split_dimension=1, split_count=2, dtypes=SINGLE)
    yield Row("CollectivePermute", F(3), I([[0, 1], [1, 0]]), dtypes=SINGLE)
    yield Row("CrossReplicaSum", F(3), group, dtypes=SINGLE)
    for op, options in (("xla_sharding", {"sharding": ""}), ("xla_spmd_full_to_shard_shape", {"manual_sharding": ""}),
                        ("xla_spmd_shard_to_full_shape", {"manual_sharding": "", "full_shape": [4, 3]})):
        name = "".join(word.capitalize() for word in op.split("_"))
        yield Program(name, functools.partial(getattr(gen_xla_ops, op), **options), F(2, 3), dtypes=SINGLE, dynamic=False)
    yield Program("XlaEinsum", lambda x, y: gen_xla_ops.xla_einsum(x, y, equation="ij,jk->ik"), F(2, 3), F(3, 4), dtypes=SINGLE)
    yield Program("Relayout", lambda x: gen_dtensor_ops.relayout(x, layout=""), F(2, 3), dtypes=SINGLE)
    yield Program("RelayoutLike", gen_dtensor_ops.relayout_like, F(2, 3), F(2, 3), by=(0,), dtypes=SINGLE)
    yield Program("CopyToMesh", lambda x: gen_dtensor_ops.copy_to_mesh(x, mesh=""), F(2, 3), dtypes=SINGLE)
    yield Program("CopyToMeshGrad", gen_dtensor_ops.copy_to_mesh_grad, F(2, 3), F(2, 3), by=(0,), dtypes=SINGLE)
    yield Row("CTCLossV2", F(5, 2, 4), L([[0, 0], [0, 1], [1, 0]]), I([1, 2, 0]), I([5, 5]), outputs=(0,), dtypes=SINGLE)


def rows():
    for family in (lists, arrays, variables, control_flow, matrices, ragged, machines):
        yield from family()
