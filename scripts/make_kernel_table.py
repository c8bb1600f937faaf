"""Writes lib/place/tensorflow_kernels.txt: which ops TensorFlow has kernels for, on which kind of device, for which dtypes.
lib/place/tensorflow_kernels.h has the grammar.

needs: tensorflow-cpu==2.21.0        usage: scripts/make_kernel_table.py [--check]
--check writes nothing: it compares the table that is there with what would be written.

CPU and DEFAULT kernels (DEFAULT serves any device without one of its own: int32 and resources in host memory on a GPU) are
the registry of the PyPI wheel as it stands. The wheel without CUDA has few GPU kernels; the others are the lists below,
written from what TensorFlow's documentation and op reference say of GPU support. They are a model of the CUDA build and were
not compared with one: where a dtype is missing or too many, correct the list. Kernels with a label (chosen by the attribute
_kernel) are left out.
"""
import argparse
import collections
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
from tensorflow.core.framework import op_def_pb2, types_pb2
from tensorflow.python.client import pywrap_tf_session
from tensorflow.python.framework import kernels

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = os.path.join(ROOT, "lib", "place", "tensorflow_kernels.txt")

F2 = "half float double"
F3 = "bfloat16 half float double"
C = "complex64 complex128"
I = "int8 int16 int32 int64 uint8 uint16 uint32 uint64"
IS = "int8 int16 int64 uint8 uint16 uint32 uint64"  # int32 has a kernel in host memory instead
ANY = f"{F3} {C} {IS} bool"
# (ops, {attribute: dtypes}, arguments in host memory)
GPU = [
    ("Acos Acosh Asin Asinh Atan Atanh Cos Cosh Sin Sinh Tan Log Log1p Expm1 Reciprocal Inv Rsqrt Sqrt Exp Sigmoid Tanh "
     "SqrtGrad RsqrtGrad SigmoidGrad TanhGrad ReciprocalGrad InvGrad", {"T": f"{F3} {C}"}, ""),
    ("Erf Erfc Lgamma Digamma Ceil Floor Rint IsFinite IsInf IsNan BesselI0e BesselI1e", {"T": F3}, ""),
    ("Erfinv Ndtri BesselI0 BesselI1 BesselJ0 BesselJ1 BesselK0 BesselK1 BesselK0e BesselK1e BesselY0 BesselY1",
     {"T": F2}, ""),
    ("Abs Neg Sign Square", {"T": f"{F3} int8 int16 int64"}, ""),
    ("Neg Sign Square", {"T": C}, ""),
    ("Round", {"T": f"{F3} int32 int64"}, ""),
    ("Add AddV2 Sub Mul", {"T": f"{F3} {C} {IS}"}, ""),
    ("Div RealDiv", {"T": f"{F3} {C} uint8 uint16 int16 int64"}, ""),
    ("FloorDiv FloorMod Maximum Minimum", {"T": f"{F3} {IS}"}, ""),
    ("TruncateDiv", {"T": IS}, ""),
    ("Mod TruncateMod", {"T": "half float double"}, ""),
    ("SquaredDifference", {"T": f"{F3} {C} int64"}, ""),
    ("Pow", {"T": f"{F3} int64 {C}"}, ""),
    ("DivNoNan MulNoNan Xdivy Xlogy Xlog1py", {"T": f"{F3} {C}"}, ""),
    ("Atan2 NextAfter Igamma Igammac IgammaGradA Betainc Zeta Polygamma", {"T": "float double"}, ""),
    ("BitwiseAnd BitwiseOr BitwiseXor Invert LeftShift RightShift PopulationCount", {"T": I}, ""),
    ("Less LessEqual Greater GreaterEqual", {"T": f"{F3} {IS}"}, ""),
    ("Equal NotEqual", {"T": f"{F3} {C} {IS} bool"}, ""),
    ("ApproximateEqual", {"T": "half float double"}, ""),
    ("LogicalAnd LogicalOr LogicalNot", {}, ""),
    ("Select SelectV2", {"T": f"{ANY} int32"}, ""),
    ("Conj", {"T": f"{C} variant"}, ""),
    ("Real Imag Angle Complex ComplexAbs", {"T": None}, ""),
    ("Cast", {"SrcT": f"{F3} {C} {I} bool float8_e5m2 float8_e4m3fn", "DstT": f"{F3} {C} {I} bool float8_e5m2 float8_e4m3fn"}, ""),
    ("Bitcast", {}, ""),
    ("ClipByValue", {"T": f"{F3} int8 int16 int64 uint8 uint16 int32"}, ""),
    ("AddN AccumulateNV2", {"T": f"{F3} {C} int64 variant"}, ""),
    ("Relu Relu6 ReluGrad Relu6Grad", {"T": f"{F3} {IS} qint8"}, ""),
    ("Elu EluGrad Selu SeluGrad LeakyRelu LeakyReluGrad Softplus SoftplusGrad Softsign SoftsignGrad Softmax LogSoftmax",
     {"T": F3}, ""),
    ("MatMul BatchMatMul BatchMatMulV2", {"T": f"{F3} {C}"}, ""),
    ("BatchMatMulV3", {"Ta": f"{F3} {C} int8", "Tb": f"{F3} {C} int8"}, ""),
    ("Einsum", {"T": f"{F3} {C}"}, ""),
    ("_FusedMatMul", {"T": "half float bfloat16"}, ""),
    ("_FusedConv2D", {"T": "half float double bfloat16 int8"}, ""),
    ("Conv2D", {"T": f"{F3} int32"}, ""),
    ("Conv2DBackpropFilter", {"T": F3}, "filter_sizes"),
    ("Conv2DBackpropInput", {"T": F3}, "input_sizes"),
    ("Conv3D", {"T": F3}, ""),
    ("Conv3DBackpropFilterV2", {"T": F3}, "filter_sizes"),
    ("Conv3DBackpropInputV2", {"T": F3}, "input_sizes"),
    ("DepthwiseConv2dNative", {"T": F3}, ""),
    ("DepthwiseConv2dNativeBackpropFilter", {"T": F3}, "filter_sizes"),
    ("DepthwiseConv2dNativeBackpropInput", {"T": F3}, "input_sizes"),
    ("Dilation2D Dilation2DBackpropFilter Dilation2DBackpropInput", {"T": F3 + " int32 int64 uint8 int16 int8 uint16 uint32 uint64"}, ""),
    ("BiasAdd BiasAddGrad BiasAddV1", {"T": f"{F3} int32"}, ""),
    ("AvgPool MaxPool AvgPool3D MaxPool3D AvgPool3DGrad MaxPool3DGrad MaxPoolGrad MaxPoolGradGrad", {"T": F3}, ""),
    ("AvgPoolGrad", {"T": F3}, "orig_input_shape"),
    ("MaxPoolV2", {"T": F3}, "ksize strides"),
    ("MaxPoolWithArgmax MaxPoolGradWithArgmax", {"T": F3, "Targmax": "int64"}, ""),
    ("LRN LRNGrad", {"T": "float"}, ""),
    ("FusedBatchNorm FusedBatchNormGrad", {"T": "float"}, ""),
    ("FusedBatchNormV2 FusedBatchNormV3 FusedBatchNormGradV2 FusedBatchNormGradV3 _FusedBatchNormEx _FusedBatchNormGradEx",
     {"T": "half bfloat16 float", "U": "float"}, ""),
    ("BlockLSTM BlockLSTMV2 BlockLSTMGrad BlockLSTMGradV2 LSTMBlockCell LSTMBlockCellGrad GRUBlockCell GRUBlockCellGrad",
     {"T": "half float"}, ""),
    ("CudnnRNN CudnnRNNV2 CudnnRNNV3 CudnnRNNBackprop CudnnRNNBackpropV2 CudnnRNNBackpropV3 CudnnRNNParamsSize "
     "CudnnRNNCanonicalToParams CudnnRNNCanonicalToParamsV2 CudnnRNNParamsToCanonical CudnnRNNParamsToCanonicalV2",
     {"T": "bfloat16 half float double"}, ""),
    ("L2Loss", {"T": F3}, ""),
    ("SoftmaxCrossEntropyWithLogits", {"T": F3}, ""),
    ("SparseSoftmaxCrossEntropyWithLogits", {"T": "bfloat16 half float", "Tlabels": "int32 int64"}, ""),
    ("InTopKV2 InTopK", {"T": "int32 int64"}, ""),
    ("CTCLossV2", {}, ""),
    ("Sum Prod", {"T": f"{F3} {C} int64"}, "reduction_indices"),
    ("Mean EuclideanNorm", {"T": f"{F3} {C}"}, "reduction_indices"),
    ("Max Min", {"T": f"{F3} {IS}"}, "reduction_indices"),
    ("All Any", {}, "reduction_indices"),
    ("ArgMax ArgMin", {"T": f"{F3} {I} bool"}, "dimension"),
    ("Cumsum Cumprod", {"T": F3 + " int8 int16 int32 int64 uint8 uint16 uint32 uint64"}, "axis"),
    ("CumulativeLogsumexp", {"T": F2}, "axis"),
    ("Bincount", {"T": "int32 float"}, "size"),
    ("DenseBincount", {"T": "int32 float"}, "size"),
    ("TopKV2", {"T": f"{F3} {I}"}, "k"),
    ("Transpose ConjugateTranspose", {"T": f"{ANY} int32"}, "perm"),
    ("Fill", {"type": ANY}, "dims"),
    ("ZerosLike OnesLike", {"T": f"{ANY} variant"}, ""),
    ("Reshape", {"T": ANY}, "shape"),
    ("ExpandDims", {"T": ANY}, "dim"),
    ("Squeeze", {"T": ANY}, ""),
    ("Concat", {"T": f"{ANY} variant"}, "concat_dim"),
    ("ConcatV2", {"T": f"{ANY} variant"}, "axis"),
    ("Pack Unpack", {"T": f"{ANY} variant"}, ""),
    ("ParallelConcat _ParallelConcatUpdate", {"T": ANY}, ""),
    ("Split", {"T": ANY}, "split_dim"),
    ("SplitV", {"T": ANY}, "size_splits split_dim"),
    ("Slice", {"T": ANY}, "begin size"),
    ("StridedSlice", {"T": ANY}, "begin end strides"),
    ("StridedSliceGrad", {"T": ANY}, "shape begin end strides"),
    ("TensorStridedSliceUpdate StridedSliceAssign", {"T": ANY}, "begin end strides"),
    ("ResourceStridedSliceAssign", {"T": ANY}, "ref begin end strides"),
    ("Pad", {"T": f"{F3} {C} {IS}"}, "paddings"),
    ("PadV2", {"T": f"{F3} {C} {IS}"}, "paddings"),
    ("MirrorPad MirrorPadGrad", {"T": f"{F3} {C}"}, "paddings"),
    ("Tile", {"T": f"{F3} {C} int16 int32 int64 bool"}, "multiples"),
    ("BroadcastTo", {"T": ANY}, "shape"),
    ("Reverse", {"T": ANY}, "dims"),
    ("ReverseV2", {"T": ANY}, "axis"),
    ("ReverseSequence", {"T": f"{F3} {C} {IS} bool"}, ""),
    ("Roll", {"T": f"{F3} {C} int32 int64"}, "shift axis"),
    ("Gather", {"Tparams": f"{ANY} int32"}, ""),
    ("GatherV2", {"Tparams": f"{ANY}"}, "axis"),
    ("GatherNd ScatterNd TensorScatterAdd TensorScatterSub TensorScatterUpdate TensorScatterMax TensorScatterMin",
     {}, ""),
    ("DynamicPartition", {"T": f"{F3} {C} int32 int64"}, ""),
    ("DynamicStitch ParallelDynamicStitch", {"T": f"{F3} {C} {IS} bool int32"}, ""),
    ("OneHot", {"T": f"{ANY} int32"}, "depth"),
    ("Where", {"T": f"{F3} {C} {IS} int32 bool"}, ""),
    ("Unique UniqueV2 UniqueWithCounts UniqueWithCountsV2", {"T": f"{F3} {IS} bool"}, ""),
    ("UnsortedSegmentSum UnsortedSegmentProd", {"T": f"{F3} {C} int32"}, "num_segments"),
    ("UnsortedSegmentMax UnsortedSegmentMin", {"T": f"{F3} int32"}, "num_segments"),
    ("SegmentSum SegmentMean SegmentProd SegmentMin SegmentMax", {"T": "half float double int32"}, ""),
    ("SparseSegmentSum SparseSegmentMean SparseSegmentSqrtN", {"T": F3}, ""),
    ("SparseTensorDenseMatMul", {"T": f"float double half bfloat16 {C}"}, "a_shape"),
    ("SparseReorder SparseReshape SparseFillEmptyRows SparseSlice SparseToDense", {}, ""),
    ("MatrixBandPart MatrixDiag MatrixDiagPart MatrixSetDiag Diag DiagPart", {"T": f"{F3} {C}"}, ""),
    ("MatrixDiagV2 MatrixDiagV3", {"T": f"{F3} {C}"}, "k num_rows num_cols padding_value"),
    ("MatrixDiagPartV2 MatrixDiagPartV3", {"T": f"{F3} {C}"}, "k padding_value"),
    ("MatrixSetDiagV2 MatrixSetDiagV3", {"T": f"{F3} {C}"}, "k"),
    ("Cholesky MatrixDeterminant LogMatrixDeterminant MatrixInverse MatrixSolve MatrixTriangularSolve Qr Svd SelfAdjointEigV2 "
     "Lu TridiagonalSolve TridiagonalMatMul", {"T": f"float double {C}"}, ""),
    ("FFT FFT2D FFT3D IFFT IFFT2D IFFT3D", {}, ""),
    ("RFFT RFFT2D RFFT3D IRFFT IRFFT2D IRFFT3D", {}, "fft_length"),
    ("SpaceToDepth DepthToSpace", {"T": "half float bfloat16 uint8 qint8"}, ""),
    ("SpaceToBatchND BatchToSpaceND", {"T": "half float double bfloat16"}, "block_shape"),
    ("ExtractImagePatches ExtractVolumePatches", {"T": f"{F3} int8 int16 int32 int64 uint8 uint16 uint32 uint64"}, ""),
    ("ResizeBilinear ResizeNearestNeighbor", {"T": "half float double bfloat16"}, "size"),
    ("ResizeBilinearGrad", {"T": "half float double bfloat16"}, ""),
    ("ResizeNearestNeighborGrad", {"T": "half float double"}, "size"),
    ("CropAndResize", {"T": "half float double int8 int16 int32 int64 uint8 uint16"}, "crop_size"),
    ("NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4", {}, ""),
    ("AdjustContrastv2 AdjustHue AdjustSaturation", {"T": "half float"}, ""),
    ("RGBToHSV HSVToRGB", {"T": "half float double bfloat16"}, ""),
    ("ImageProjectiveTransformV2 ImageProjectiveTransformV3", {"dtype": "uint8 int32 int64 half float double"}, "output_shape"),
    ("FakeQuantWithMinMaxArgs FakeQuantWithMinMaxArgsGradient FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsGradient "
     "FakeQuantWithMinMaxVarsPerChannel FakeQuantWithMinMaxVarsPerChannelGradient", {}, ""),
    ("QuantizeAndDequantize QuantizeAndDequantizeV2 QuantizeAndDequantizeV3 QuantizeAndDequantizeV4",
     {"T": "half float double"}, ""),
    ("CheckNumerics CheckNumericsV2", {"T": F3}, ""),
    ("DataFormatDimMap DataFormatVecPermute", {"T": "int32 int64"}, ""),
    ("RandomUniform RandomStandardNormal TruncatedNormal", {"dtype": F3}, "shape"),
    ("RandomUniformInt", {"Tout": "int32 int64"}, "shape minval maxval"),
    ("StatelessRandomUniform StatelessRandomNormal StatelessTruncatedNormal", {"dtype": F3}, "shape seed"),
    ("StatelessRandomUniformV2 StatelessRandomNormalV2 StatelessTruncatedNormalV2", {"dtype": F3}, "shape alg"),
    ("StatefulStandardNormalV2 StatefulTruncatedNormal StatefulUniform", {"dtype": F3}, "resource algorithm shape"),
    ("Multinomial", {"T": F3}, "num_samples"),
    ("Variable VariableV2 TemporaryVariable", {"dtype": f"{F3} {C} int64 bool"}, ""),
    ("IsVariableInitialized", {"dtype": f"{F3} {C} int64 bool"}, "is_initialized"),
    ("Assign", {"T": f"{F3} {C} int64 bool"}, ""),
    ("AssignAdd AssignSub", {"T": f"{F3} {C} int64"}, ""),
    ("VarHandleOp", {"dtype": f"{ANY} variant"}, "resource"),
    ("ReadVariableOp AssignVariableOp", {"dtype": f"{ANY} variant"}, "resource"),
    ("AssignAddVariableOp AssignSubVariableOp", {"dtype": f"{F3} {C} int64"}, "resource"),
    ("VariableShape", {"dtype": f"{ANY}"}, "input output"),
    ("ResourceGather", {"dtype": f"{ANY}"}, "resource"),
    ("ResourceGatherNd", {"dtype": f"{F3}"}, "resource"),
    ("ResourceScatterAdd ResourceScatterSub ResourceScatterMul ResourceScatterDiv ResourceScatterMin ResourceScatterMax",
     {"dtype": f"{F3} int32 int64"}, "resource"),
    ("ResourceScatterUpdate", {"dtype": f"{F3} int64 bool variant"}, "resource"),
    ("ScatterAdd ScatterSub ScatterMul ScatterDiv ScatterMin ScatterMax ScatterUpdate", {"T": f"{F3}"}, ""),
    ("ScatterNdAdd ScatterNdSub ScatterNdUpdate", {"T": f"{F3} {C}"}, ""),
    ("ResourceScatterNdAdd ResourceScatterNdSub ResourceScatterNdUpdate", {"T": f"{F3} {C}"}, "ref"),
    ("ApplyGradientDescent ApplyMomentum ApplyAdam ApplyAdagrad ApplyAdagradV2 ApplyAdadelta ApplyRMSProp "
     "ApplyCenteredRMSProp ApplyAdaMax ApplyAddSign ApplyPowerSign ApplyFtrl ApplyFtrlV2", {"T": F2}, ""),
    ("ResourceApplyGradientDescent ResourceApplyProximalGradientDescent", {"T": f"{F3} {C}"}, "var"),
    ("ResourceApplyMomentum ResourceApplyKerasMomentum ResourceApplyAdagrad ResourceApplyAdagradV2", {"T": F3}, "var accum"),
    ("ResourceApplyAdadelta", {"T": F2}, "var accum accum_update"),
    ("ResourceApplyAdam ResourceApplyAdaMax", {"T": F3}, "var m v"),
    ("ResourceApplyAdamWithAmsgrad", {"T": F2}, "var m v vhat"),
    ("ResourceApplyRMSProp", {"T": F2}, "var ms mom"),
    ("ResourceApplyCenteredRMSProp", {"T": F2}, "var mg ms mom"),
    ("ResourceApplyAddSign ResourceApplyPowerSign", {"T": F2}, "var m"),
    ("ResourceApplyFtrl ResourceApplyFtrlV2", {"T": F2}, "var accum linear"),
    ("ResourceSparseApplyAdagrad ResourceSparseApplyAdagradV2 ResourceSparseApplyKerasMomentum",
     {"T": F2}, "var accum"),
    ("TensorArrayV3", {"dtype": f"{F3} {C} int64 bool"}, "size handle"),
    ("TensorArrayGradV3", {}, "handle grad_handle"),
    ("TensorArrayWriteV3", {"T": f"{F3} {C} int64 bool"}, "handle index"),
    ("TensorArrayReadV3", {"dtype": f"{F3} {C} int64 bool"}, "handle index"),
    ("TensorArrayGatherV3", {"dtype": f"{F3} {C} int64 bool"}, "handle indices"),
    ("TensorArrayScatterV3", {"T": f"{F3} {C} int64 bool"}, "handle indices"),
    ("TensorArrayConcatV3", {"dtype": f"{F3} {C} int64 bool"}, "lengths handle"),
    ("TensorArraySplitV3", {"T": f"{F3} {C} int64 bool"}, "lengths handle"),
    ("TensorArraySizeV3", {}, "handle size"),
    ("TensorArrayCloseV3", {}, "handle"),
    ("TensorListStack TensorListGather", {"element_dtype": f"{ANY}"}, ""),
    ("NcclAllReduce", {"T": "half float double bfloat16 int32 int64"}, ""),
    ("NcclReduce NcclBroadcast _NcclReduceSend _NcclReduceRecv _NcclBroadcastSend _NcclBroadcastRecv",
     {"T": "half float double int32 int64"}, ""),
    ("GetSessionTensor GuaranteeConst Snapshot", {}, ""),
    ("Identity StopGradient PreventGradient PlaceholderWithDefault", {"T": f"{ANY} variant"}, ""),
    ("RngReadAndSkip RngSkip", {}, "resource alg delta"),
]


def ops_by_name():
    ops = op_def_pb2.OpList.FromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList())).op
    return {op.name: op for op in ops}


def dtype(number):
    return types_pb2.DataType.Name(number)[len("DT_"):].lower()


def merge(rows):
    """rows: {attr: frozenset of dtypes}. Joins two that differ in one attribute until none do."""
    rows = list(dict.fromkeys(tuple(sorted(r.items())) for r in rows))
    changed = True
    while changed:
        changed = False
        for position in range(max((len(r) for r in rows), default=0)):
            groups = collections.OrderedDict()
            for row in rows:
                if position >= len(row):
                    groups.setdefault((row, None), set())
                    continue
                rest = row[:position] + ((row[position][0], None),) + row[position + 1:]
                groups.setdefault((rest, position), set()).update(row[position][1])
            joined = [key[0] if key[1] is None else
                      key[0][:position] + ((key[0][position][0], frozenset(types)),) + key[0][position + 1:]
                      for key, types in groups.items()]
            changed |= len(joined) < len(rows)
            rows = joined
    return rows


def registered():
    """{(op, device): {host arguments: [{attr: dtypes}]}} of the wheel's registry."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for kernel in kernels.get_all_registered_kernels().kernel:
        if kernel.label or kernel.device_type not in ("CPU", "GPU", "DEFAULT"):
            continue
        row = {c.name: frozenset(dtype(t) for t in c.allowed_values.list.type) for c in kernel.constraint}
        found[kernel.op, kernel.device_type][tuple(kernel.host_memory_arg)].append(row)
    return found


def add_gpu(found, ops):
    for names, constraints, host in GPU:
        for name in names.split():
            if name not in ops:
                continue
            attrs = {a.name for a in ops[name].attr}
            row = {}
            for attr, types in constraints.items():
                if types is not None and attr in attrs:
                    row[attr] = frozenset(types.split())
            found[name, "GPU"][tuple(host.split())].append(row)


def text():
    ops = ops_by_name()
    found = registered()
    add_gpu(found, ops)
    lines = collections.defaultdict(list)
    for (op, device), by_host in sorted(found.items()):
        for host, rows in sorted(by_host.items()):
            for row in sorted(merge(rows), key=lambda r: [(a, sorted(t)) for a, t in r]):
                fields = [f"{attr}={'|'.join(sorted(types))}" for attr, types in row]
                if host:
                    fields.append("host=" + "|".join(host))
                lines[op].append(f" {device}({' '.join(fields)})")
    head = ("# Kernels of TensorFlow 2.21.0, made by scripts/make_kernel_table.py: do not edit. CPU and DEFAULT: the registry "
            "of the PyPI wheel. GPU: put together from the documentation. Grammar: lib/place/tensorflow_kernels.h\n")
    return head + "".join(f"{op}{''.join(lines[op])}\n" for op in sorted(lines, key=lambda s: s.encode()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true", help="compare the table that is there")
    made = text()
    if parser.parse_args().check:
        if open(TABLE, encoding="utf-8").read() != made:
            sys.exit(f"{TABLE} is not what the registry says")
        return
    with open(TABLE, "w", encoding="utf-8") as out:
        out.write(made)


if __name__ == "__main__":
    main()
