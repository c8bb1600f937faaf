"""More graphs of one op each, most of them a line: gradients, linear algebra, segments, sparse and ragged tensors,
images, strings. Importing this adds them to OPS."""
import numpy as np
import tensorflow as tf

from testdata_ops import IMAGE, OPS, integers, op, random, raw

F, I = np.float32, np.int32


def case(name, what, _variant="", _rtol=1e-5, _keep=None, **values):
    """The op `name`. Arrays are fed, all else is an attribute or a constant; _keep says which outputs count."""
    feeds = {k: v for k, v in values.items() if isinstance(v, (np.ndarray, np.generic))}
    rest = {k: v for k, v in values.items() if k not in feeds}

    def build(*placeholders):
        out = getattr(raw, name)(**dict(zip(feeds, placeholders)), **rest, name="out")
        return out if _keep is None else [tf.nest.flatten(out)[i] for i in _keep]

    folder = name + ("_" + _variant if _variant else "")
    assert folder not in OPS, folder
    op(what, _rtol=_rtol, _name=folder, **feeds)(build)


# ---- windows ----

GRID = random(1, 5, 6, 2)
case("ExtractImagePatches", "overlapping, dilated, the edge filled up", images=GRID, ksizes=[1, 2, 3, 1],
     strides=[1, 2, 1, 1], rates=[1, 2, 1, 1], padding="SAME")
case("ExtractVolumePatches", "whole windows only", input=random(1, 3, 4, 3, 2), ksizes=[1, 2, 2, 2, 1],
     strides=[1, 1, 2, 1, 1], padding="VALID")
case("MaxPoolWithArgmax", "ties: the first wins", input=integers(2, 5, 4, 2, high=4).astype("f"), ksize=[1, 3, 2, 1],
     strides=[1, 2, 2, 1], padding="SAME")
case("MaxPoolWithArgmax", "indices count the batch too", "batch", input=integers(2, 5, 4, 2, high=4),
     ksize=[1, 2, 2, 1], strides=[1, 1, 2, 1], padding="VALID", include_batch_in_index=True, Targmax=tf.int32)
case("MaxPoolGradWithArgmax", "indices that meet add up", input=random(1, 4, 4, 1), grad=random(1, 2, 2, 1, seed=1),
     argmax=np.array([0, 5, 5, 15]).reshape(1, 2, 2, 1), ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
case("MaxPoolGrad", "ties: the first takes it", orig_input=integers(1, 5, 4, 2, high=3).astype("f"),
     orig_output=random(1, 3, 2, 2), grad=random(1, 3, 2, 2, seed=1), ksize=[1, 3, 2, 1], strides=[1, 2, 2, 1],
     padding="SAME")
case("MaxPoolGradV2", "sizes as inputs, overlapping windows", orig_input=random(1, 4, 4, 2),
     orig_output=random(1, 3, 3, 2), grad=random(1, 3, 3, 2, seed=1), ksize=[1, 2, 2, 1],
     strides=[1, 1, 1, 1], padding="VALID")
case("AvgPoolGrad", "windows at the edge average what is there", orig_input_shape=[2, 5, 4, 3],
     grad=random(2, 3, 2, 3), ksize=[1, 3, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
case("MaxPool3D", "windows at the edge", input=random(1, 3, 4, 5, 2), ksize=[1, 2, 3, 2, 1], strides=[1, 2, 2, 2, 1],
     padding="SAME")
case("AvgPool3D", "windows at the edge", input=random(1, 3, 4, 5, 2), ksize=[1, 2, 3, 2, 1], strides=[1, 2, 2, 2, 1],
     padding="SAME")
_X3 = integers(1, 2, 4, 4, 1, high=3).astype("f")
case("MaxPool3DGrad", "ties: each takes it", orig_input=_X3,
     orig_output=_X3.reshape(1, 1, 2, 2, 2, 2, 2, 1).max(axis=(2, 4, 6)),
     grad=random(1, 1, 2, 2, 1), ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding="VALID")
case("AvgPool3DGrad", "windows at the edge", orig_input_shape=[1, 3, 4, 5, 2], grad=random(1, 2, 2, 3, 2),
     ksize=[1, 2, 3, 2, 1], strides=[1, 2, 2, 2, 1], padding="SAME")

# ---- convolutions over padded images ----

_MARGINS = [[0, 0], [1, 2], [3, 0], [0, 0]]
_ONE = IMAGE[:1]           # of a batch TensorFlow computes the first image only, again and again
case("FusedPadConv2D", "mirrored margins without the border, strided, SAME padding beyond them", input=_ONE,
     paddings=_MARGINS, filter=random(2, 3, 3, 4), mode="REFLECT", strides=[1, 2, 1, 1], padding="SAME")
case("FusedPadConv2D", "mirrored margins with the border, in double", "double", input=_ONE.astype("f8"),
     paddings=_MARGINS, filter=random(3, 2, 3, 2).astype("f8"), mode="SYMMETRIC", strides=[1, 1, 2, 1], padding="VALID")
case("FusedResizeAndPadConv2D", "smaller one way, larger the other, mirrored margins with the border", input=_ONE,
     size=[4, 9], paddings=_MARGINS, filter=random(2, 3, 3, 4), mode="SYMMETRIC", strides=[1, 1, 1, 1],
     padding="VALID", _rtol=1e-4)
case("FusedResizeAndPadConv2D", "corners onto corners, mirrored margins without the border", "corners", input=_ONE,
     size=[5, 11], paddings=_MARGINS, filter=random(3, 3, 3, 2), mode="REFLECT", strides=[1, 2, 2, 1], padding="SAME",
     resize_align_corners=True, _rtol=1e-4)

# ---- gradients of convolutions ----

case("Conv2DBackpropInput", "strided, SAME padding, which is uneven here", input_sizes=[2, 7, 6, 3],
     filter=random(2, 3, 3, 4), out_backprop=random(2, 4, 3, 4, seed=1), strides=[1, 2, 2, 1], padding="SAME")
case("Conv2DBackpropInput", "explicit padding", "explicit", input_sizes=[1, 6, 6, 4], filter=random(2, 3, 4, 2),
     out_backprop=random(1, 7, 9, 2, seed=1), strides=[1, 1, 1, 1], padding="EXPLICIT",
     explicit_paddings=[0, 0, 1, 1, 2, 3, 0, 0])
case("Conv2DBackpropFilter", "strided, SAME padding", input=IMAGE, filter_sizes=[2, 3, 3, 4],
     out_backprop=random(2, 4, 3, 4, seed=1), strides=[1, 2, 2, 1], padding="SAME")
case("Conv2DBackpropFilter", "explicit padding", "explicit", input=IMAGE, filter_sizes=[3, 3, 3, 2],
     out_backprop=random(2, 8, 5, 2, seed=1), strides=[1, 1, 1, 1], padding="EXPLICIT",
     explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0])
case("Conv3DBackpropInputV2", "strided, whole windows only", input_sizes=[1, 4, 5, 4, 2], filter=random(2, 2, 3, 2, 3),
     out_backprop=random(1, 3, 2, 2, 3, seed=1), strides=[1, 1, 2, 1, 1], padding="VALID")
case("Conv3DBackpropFilterV2", "strided, SAME padding", input=random(1, 4, 5, 4, 2), filter_sizes=[2, 2, 3, 2, 3],
     out_backprop=random(1, 2, 3, 4, 3, seed=1), strides=[1, 2, 2, 1, 1], padding="SAME")
case("DepthwiseConv2dNativeBackpropInput", "two filters for each channel", input_sizes=[2, 7, 6, 3],
     filter=random(3, 2, 3, 2), out_backprop=random(2, 4, 3, 6, seed=1), strides=[1, 2, 2, 1], padding="SAME")
case("DepthwiseConv2dNativeBackpropFilter", "two filters for each channel", input=IMAGE, filter_sizes=[3, 2, 3, 2],
     out_backprop=random(2, 5, 5, 6, seed=1), strides=[1, 1, 1, 1], padding="VALID")

# ---- gradients of normalization, bias, activations; losses ----

case("BiasAddGrad", "channels last", out_backprop=IMAGE)
for _training in (True, False):
    case("FusedBatchNormGradV3", "training" if _training else "inference: mean and variance are constants",
         "" if _training else "inference", _keep=[0, 1, 2], y_backprop=IMAGE, x=random(2, 7, 6, 3, seed=1),
         scale=random(3, low=.5), reserve_space_1=random(3, seed=2), reserve_space_2=random(3, low=.2, seed=3),
         reserve_space_3=np.zeros(0, "f"), epsilon=1e-3, is_training=_training)
_UP, _AT = random(11, seed=1), np.array([-40, -3, -1, -.5, -0., 0, .5, 1, 3, 6, 40], "f")
for _name in ("ReluGrad", "Relu6Grad", "LeakyReluGrad", "SoftplusGrad", "SoftsignGrad"):
    case(_name, "on both sides of 0 and far from it", gradients=_UP, features=_AT)
for _name in ("EluGrad", "SeluGrad"):
    case(_name, "on both sides of 0", gradients=_UP, outputs=np.clip(_AT, -1.5, 40))
for _name in ("TanhGrad", "SigmoidGrad", "ReciprocalGrad", "InvGrad", "SqrtGrad", "RsqrtGrad"):
    case(_name, "infinities where the result is 0", y=_AT, dy=_UP)
case("TanhGrad", "complex: y as it is", "complex", y=np.array([1 + 2j, -.5j], "F"), dy=np.array([2 - 1j, 3], "F"))
case("SqrtGrad", "complex: of y's conjugate", "complex", y=np.array([1 + 2j, -.5j], "F"), dy=np.array([2 - 1j, 3], "F"))
case("SoftmaxCrossEntropyWithLogits", "one row of labels for all", features=random(3, 4, high=9),
     labels=random(1, 4, low=0))
case("SparseSoftmaxCrossEntropyWithLogits", "labels by number", features=random(3, 4, high=9),
     labels=np.array([3, 0, 0]))

# ---- sequences, diagonals, linear algebra ----

case("ReverseSequence", "rows of different lengths", input=integers(3, 4, 2), seq_lengths=np.array([0, 3, 4]),
     seq_dim=1, batch_dim=0)
case("ReverseSequence", "time first", "time_major", input=integers(4, 3, 2), seq_lengths=np.array([1, 2, 4], "i4"),
     seq_dim=0, batch_dim=1)
case("MatrixDiagV2", "one diagonal above the main one", diagonal=random(2, 3), k=1, num_rows=-1, num_cols=-1,
     padding_value=F(9))
case("MatrixDiagV3", "a band, diagonals at the right and the left end", diagonal=random(2, 3, 3), k=[-1, 1], num_rows=3,
     num_cols=4, padding_value=F(9))
case("MatrixDiagPartV2", "below the main diagonal", input=random(2, 3, 4), k=-1, padding_value=F(9))
for _align in ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"):
    case("MatrixDiagPartV3", "a band, short diagonals filled up", _align.lower(), input=random(2, 3, 4), k=[-2, 3],
         padding_value=F(9), align=_align)
case("MatrixSetDiag", "the main diagonal", input=random(2, 2, 3), diagonal=random(2, 2, seed=1))
case("MatrixSetDiagV2", "one below", input=random(3, 2), diagonal=random(2, seed=1), k=-1)
case("MatrixSetDiagV3", "a band", input=random(2, 3, 4), diagonal=random(2, 3, 3, seed=1), k=[-1, 1],
     align="LEFT_RIGHT")
_SQUARE = random(2, 3, 3)
_POSITIVE = _SQUARE @ _SQUARE.transpose(0, 2, 1) + np.eye(3, dtype="f")
case("MatrixDeterminant", "two matrices", input=_SQUARE)
case("LogMatrixDeterminant", "one is singular", input=np.stack([_SQUARE[0], np.ones((3, 3), "f")]))
case("MatrixInverse", "of the transpose", _rtol=1e-4, input=_SQUARE, adjoint=True)
case("MatrixSolve", "two right-hand sides", _rtol=1e-4, matrix=_SQUARE, rhs=random(2, 3, 2, seed=1))
case("MatrixTriangularSolve", "one matrix for two right-hand sides, transposed", _rtol=1e-4, matrix=_POSITIVE[:1],
     rhs=random(2, 3, 2, seed=1), adjoint=True)
case("Cholesky", "two positive matrices", input=_POSITIVE)
case("Qr", "more rows than columns, thin", input=random(2, 4, 3))
case("Qr", "more columns than rows, full", "full", input=random(3, 4), full_matrices=True)
case("Svd", "more rows than columns, thin", _rtol=1e-4, input=random(2, 4, 3))
case("Svd", "singular values alone", "values", _keep=[0], input=random(3, 4), compute_uv=False)
case("SelfAdjointEigV2", "two symmetric matrices", _rtol=1e-4, input=_SQUARE + _SQUARE.transpose(0, 2, 1))

# ---- counting and segments ----

case("Bincount", "with weights, one number too large", arr=np.array([1, 5, 1, 0], "i4"), size=3, weights=random(4))
case("DenseBincount", "each row by itself", input=integers(2, 6, high=5), size=4, weights=np.zeros(0, "f"))
case("DenseBincount", "which occur at all", "binary", input=np.array([1, 5, 1]), size=np.int64(4),
     weights=np.zeros(0, "i4"), binary_output=True)
case("RaggedBincount", "rows of different lengths", splits=np.array([0, 2, 2, 5]), values=integers(5, high=4), size=4,
     weights=random(5))
_IDS = np.array([0, 0, 1, 3], "i4")
for _name in ("Sum", "Prod", "Min", "Max", "Mean"):
    case("Segment" + _name, "one segment without rows", data=random(4, 3), segment_ids=_IDS)
    if _name != "Mean":
        case("UnsortedSegment" + _name, "one segment without rows, one row without segment", data=random(5, 3),
             segment_ids=np.array([3, 0, -1, 0, 1], "i4"), num_segments=4)
for _name in ("Sum", "Mean", "SqrtN"):
    _picked = dict(indices=np.array([2, 0, 1, 1], "i4"), segment_ids=_IDS)
    case("SparseSegment" + _name, "one segment without rows", data=random(3, 2), **_picked)
    case("SparseSegment" + _name + "WithNumSegments", "segments without rows at the end", data=random(3, 2), **_picked,
         num_segments=6)
    case("SparseSegment" + _name + "Grad", "a row picked twice", grad=random(4, 2), **_picked, output_dim0=4)

# ---- sparse tensors and sets ----

_AT2 = np.array([[0, 1], [0, 3], [2, 0]])
case("SparseToDense", "with a default", sparse_indices=_AT2, output_shape=[3, 4], sparse_values=random(3),
     default_value=F(-1))
case("SparseToDense", "one string in a vector", "strings", sparse_indices=np.array([1, 2], "i4"), output_shape=[4],
     sparse_values=np.array("s", "S"), default_value=np.array("-", "S"))
case("SparseReorder", "with an index twice", input_indices=np.array([[1, 2], [0, 1], [1, 2], [0, 0]]),
     input_values=random(4), input_shape=[2, 3])
case("SparseReshape", "one size to be found", input_indices=_AT2, input_shape=[3, 4], new_shape=[2, -1, 3])
case("SparseFillEmptyRows", "rows out of order", indices=np.array([[2, 1], [0, 3], [2, 0]]), values=random(3),
     dense_shape=[4, 4], default_value=F(9))
case("SparseFillEmptyRowsGrad", "what was filled in", reverse_index_map=np.array([0, 2]), grad_values=random(4))
case("SparseTensorDenseMatMul", "the sparse one transposed", a_indices=_AT2, a_values=random(3), a_shape=[3, 4],
     b=random(3, 2), adjoint_a=True)
_SETS = dict(set1=np.array([[3, 1, 3], [2, 2, 2]], "i4"), set2=np.array([[1, 9], [2, 5]], "i4"))
for _kind in ("a-b", "b-a", "intersection", "union"):
    case("DenseToDenseSetOperation", "repeated elements", _kind.replace("-", "_minus_"), **_SETS, set_operation=_kind)
case("DenseToSparseSetOperation", "one sparse", set1=_SETS["set1"], set2_indices=np.array([[0, 0], [1, 0], [1, 1]]),
     set2_values=np.array([3, 2, 7], "i4"), set2_shape=[2, 4], set_operation="union")
case("SparseToSparseSetOperation", "strings, groups that one of them lacks", set1_indices=np.array([[0, 0], [2, 0]]),
     set1_values=np.array([b"b", b"a"]), set1_shape=[3, 4], set2_indices=np.array([[0, 0], [1, 0], [1, 1]]),
     set2_values=np.array([b"b", b"d", b"c"]), set2_shape=[3, 4], set_operation="union")
case("SetSize", "a group without elements, one with an element twice", set_indices=np.array([[0, 0], [1, 0], [1, 1]]),
     set_values=np.array([3, 7, 7], "i4"), set_shape=[3, 4])

# ---- Fourier transforms ----

_WAVE = (random(2, 3, 5) + 1j * random(2, 3, 5, seed=1)).astype("F")
for _d, _suffix in ((1, ""), (2, "2D"), (3, "3D")):
    case("FFT" + _suffix, "lengths that are not powers of 2", input=_WAVE)
    case("IFFT" + _suffix, "lengths that are not powers of 2", input=_WAVE)
    case("RFFT" + _suffix, "the last dimension cut off", input=random(2, 3, 7), fft_length=[2, 3, 6][-_d:])
    case("IRFFT" + _suffix, "an odd length", input=_WAVE, fft_length=[2, 3, 9][-_d:])
case("RFFT", "double, a prime length", "prime", input=random(2, 13, dtype="d"), fft_length=[13], Tcomplex=tf.complex128)

# ---- images ----

_PIXELS = np.concatenate([random(6, 3, low=0), [[0, 0, 0], [.3, .3, .3], [1, .5, .5]]]).astype("f").reshape(1, 3, 3, 3)
case("RGBToHSV", "gray and black among them", images=_PIXELS)
case("HSVToRGB", "gray and black among them", images=_PIXELS)
case("AdjustHue", "turned back over red", images=_PIXELS, delta=-.3)
case("AdjustSaturation", "more than there can be", images=_PIXELS, scale=3.)
case("AdjustContrastv2", "two images", images=random(2, 3, 4, 2), contrast_factor=1.5)
_BOXES = dict(boxes=np.array([[0, 0, 1, 1], [-.2, .3, .7, 1.4], [.9, .8, .1, .2]], "f"),
              box_ind=np.array([1, 0, 1], "i4"))
for _method in ("bilinear", "nearest"):
    case("CropAndResize", "beside the image, and a box upside down", _method, image=random(2, 5, 4, 2), **_BOXES,
         crop_size=[3, 4], method=_method, extrapolation_value=-1.)
    case("CropAndResizeGradImage", "beside the image, and a box upside down", _method, grads=random(3, 3, 4, 2),
         **_BOXES, image_size=[2, 5, 4, 2], T=tf.float32, method=_method)
case("CropAndResizeGradBoxes", "beside the image, and a box upside down", _rtol=1e-4, grads=random(3, 3, 4, 2),
     image=random(2, 5, 4, 2), **_BOXES)
case("ResizeArea", "smaller in one dimension, larger in the other", images=random(1, 5, 3, 2), size=[3, 4])
case("ResizeArea", "corners aligned", "align", images=random(1, 5, 3, 2), size=[3, 4], align_corners=True)
for _variant, _flags in (("", {}), ("half_pixel", {"half_pixel_centers": True}), ("align", {"align_corners": True})):
    case("ResizeBicubic", "smaller in one dimension, larger in the other", _variant, images=random(1, 5, 3, 2),
         size=[3, 5], **_flags)
    case("ResizeBicubicGrad", "smaller in one dimension, larger in the other", _variant, grads=random(1, 3, 5, 2),
         original_image=random(1, 5, 3, 2), **_flags)
    case("ResizeBilinearGrad", "smaller in one dimension, larger in the other", _variant, grads=random(1, 3, 5, 2),
         original_image=random(1, 5, 3, 2), **_flags)
    case("ResizeNearestNeighborGrad", "smaller in one dimension, larger in the other", _variant,
         grads=random(1, 3, 5, 2), size=[5, 3], **_flags)

# ---- boxes ----

_CORNERS = random(12, 4, low=0)
_SCORES = (integers(12, high=8) / 8 + .1).astype("f")
case("NonMaxSuppression", "equal scores: the earlier box", boxes=_CORNERS, scores=_SCORES, max_output_size=4,
     iou_threshold=.1)
case("NonMaxSuppressionV2", "the threshold as an input", boxes=_CORNERS, scores=_SCORES, max_output_size=20,
     iou_threshold=.1)
case("NonMaxSuppressionV3", "low scores dropped", boxes=_CORNERS, scores=_SCORES, max_output_size=20, iou_threshold=.1,
     score_threshold=.4)
case("NonMaxSuppressionV4", "filled up", boxes=_CORNERS, scores=_SCORES, max_output_size=12, iou_threshold=.1,
     score_threshold=.4, pad_to_max_output_size=True)
case("NonMaxSuppressionV5", "scores fall with overlap", boxes=_CORNERS, scores=_SCORES, max_output_size=12,
     iou_threshold=.5, score_threshold=.2, soft_nms_sigma=.5)
case("NonMaxSuppressionWithOverlaps", "overlaps given", overlaps=random(6, 6, low=0), scores=random(6),
     max_output_size=4, overlap_threshold=.7, score_threshold=-.9)
for _pad in (False, True):
    case("CombinedNonMaxSuppression",
         "boxes for each class, " + ("as many as classes give" if _pad else "cut to [0, 1]"), "pad" if _pad else "",
         boxes=random(2, 8, 3, 4, low=-.5, high=1.5), scores=random(2, 8, 3, low=0),
         max_output_size_per_class=3, max_total_size=20, iou_threshold=.2, score_threshold=.3, pad_per_class=_pad,
         clip_boxes=not _pad)

# ---- quantization ----

_REALS = np.array([-7, -6.1, -1.23, -0., .02, 3.3, 6, 7], "f")
case("FakeQuantWithMinMaxArgs", "8 bits", inputs=_REALS)
case("FakeQuantWithMinMaxArgs", "4 bits, a narrow range that moves", "narrow", inputs=_REALS, min=-1.1, max=3.3,
     num_bits=4, narrow_range=True)
case("FakeQuantWithMinMaxArgsGradient", "cut off on both sides", gradients=random(8), inputs=_REALS, min=-1.1, max=3.3)
case("FakeQuantWithMinMaxVars", "a range above 0", inputs=_REALS, min=F(2), max=F(5))
case("FakeQuantWithMinMaxVarsGradient", "cut off on both sides", gradients=random(8), inputs=_REALS, min=F(-1.1),
     max=F(3.3))
_ENDS = dict(min=np.array([0, -1.1], "f"), max=np.array([0, 2.3], "f"))
case("FakeQuantWithMinMaxVarsPerChannel", "one channel with no range", inputs=_REALS.reshape(4, 2), **_ENDS)
case("FakeQuantWithMinMaxVarsPerChannelGradient", "one channel with no range", gradients=random(4, 2),
     inputs=_REALS.reshape(4, 2), **_ENDS)


def quantization(T, mode, **attrs):
    """There and back: Dequantize of QuantizeV2. Files of cases hold no quantized values."""
    def build(x):
        q = raw.QuantizeV2(input=x, min_range=-3., max_range=4., T=T, mode=mode, **attrs)
        return raw.Dequantize(input=q.output, min_range=q.output_min, max_range=q.output_max, mode=mode, name="out")
    op("there and back, some cut off", _name=f"Dequantize_{T.name}_{mode.lower()}", x=_REALS)(build)


for _type in (tf.qint8, tf.quint8, tf.qint16, tf.quint16):
    for _mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
        quantization(_type, _mode)


@op("one range for each column, narrow", x=_REALS.reshape(4, 2))
def Dequantize_axis(x):
    q = raw.QuantizeV2(input=x, min_range=[-1., -2.], max_range=[6., 3.], T=tf.qint8, mode="SCALED", axis=1,
                       narrow_range=True)
    return raw.Dequantize(input=q.output, min_range=q.output_min, max_range=q.output_max, mode="SCALED", axis=1,
                          narrow_range=True, name="out")


# ---- strings ----

def words(*texts):
    return np.array([t.encode() for t in texts])


case("StringToNumber", "floats with space, hexadecimal, too large",
     string_tensor=words(" 1.5\n", "-4e3", "0x10", "inf", "1e400", ".5"))
case("StringToNumber", "integers with signs", "int64", string_tensor=words("+3", " -4 ", "99999999999"),
     out_type=tf.int64)
case("StringSplit", "at any of two characters", input=words("a,b,;c", "", ",", "a"), delimiter=b",;")
case("StringSplitV2", "at a text, once", input=words("a::b::c", "", "::", "a"), sep=b"::", maxsplit=1)
case("StringSplitV2", "at space", "space", input=words("  a b   c  ", "", " "), sep=b"")
case("StringLength", "characters of UTF-8", input=words("a\u00e9", "", "\u20ac"), unit="UTF8_CHAR")
case("StringStrip", "space on both sides", input=words(" a b\t\n", "", " "))
case("Substr", "from the end, and past it", input=words("hello", "world"), pos=np.array([1, -3], "i4"),
     len=np.array([2, 9], "i4"))
case("Substr", "characters of UTF-8", "utf8", input=words("w\u00f6rld", "\u20acuro"), pos=I(1), len=I(2),
     unit="UTF8_CHAR")
_LENGTHS = words("", "a", "abc", "abcde", "hello world", "x" * 20, "y" * 40, "z" * 64, "w" * 65, "v" * 200)
case("StringToHashBucketFast", "strings of every length that is hashed in its own way", input=_LENGTHS,
     num_buckets=2**62)
case("StringToHashBucketStrong", "with a key", input=_LENGTHS, num_buckets=2**62, key=[1, 2])
case("StringToHashBucket", "the old one", string_tensor=_LENGTHS, num_buckets=1000)

# ---- ragged tensors ----

case("RaggedRange", "up, down, none, one step for all", starts=np.array([0, 5, 8], "f"),
     limits=np.array([1, 5.7, 8], "f"), deltas=F(.3))
case("RaggedRange", "counting down", "int", starts=np.array([0, 5], "i4"), limits=I(-4), deltas=np.array([1, -2], "i4"),
     Tsplits=tf.int32)
_SPLITS = [np.array([0, 2, 3]), np.array([0, 1, 3, 5])]


@op("rows of rows, by a matrix of indices", values=random(5, 2), indices=np.array([[1, 0], [1, 1]]))
def RaggedGather(values, indices):
    return raw.RaggedGather(params_nested_splits=_SPLITS, params_dense_values=values, indices=indices,
                            OUTPUT_RAGGED_RANK=3, name="out")


@op("two ragged dimensions, one dense", values=random(5, 2))
def RaggedTensorToSparse(values):
    return raw.RaggedTensorToSparse(rt_nested_splits=_SPLITS, rt_dense_values=values, name="out")


def dense(name, what, shape, default, partitions, types, **feeds):
    def build(values):
        return raw.RaggedTensorToTensor(shape=np.array(shape, "i8"), values=values, default_value=default,
                                        row_partition_tensors=[np.array(p, "i8") for p in partitions],
                                        row_partition_types=types, name="out")
    op(what, _name=name, **feeds)(build)


dense("RaggedTensorToTensor", "two ragged dimensions", [-1, -1, -1], 9., _SPLITS, ["ROW_SPLITS"] * 2, values=random(5))
dense("RaggedTensorToTensor_row_ids", "rows by number, cut off and filled up with a row", [4, 2, 2], [7., 8.],
      [3, [0, 0, 0, 2, 2]], ["FIRST_DIM_SIZE", "VALUE_ROWIDS"], values=random(5, 2))

# ---- second gradients, joined segments ----

_POOLED = integers(2, 4, 4, 2, high=5).astype("f")
case("MaxPoolGradGrad", "ties: the first is taken", orig_input=_POOLED,
     orig_output=_POOLED.reshape(2, 2, 2, 2, 2, 2).max(axis=(2, 4)), grad=random(2, 4, 4, 2, seed=1),
     ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
case("MaxPoolGradGradV2", "sizes as inputs, a window at the edge", orig_input=random(1, 3, 3, 2),
     orig_output=np.stack([[random(1, 3, 3, 2)[:, i:i + 2, j:j + 2].max(axis=(1, 2)) for j in (0, 2)] for i in (0, 2)])
     .transpose(2, 0, 1, 3), grad=random(1, 3, 3, 2, seed=1), ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
case("MaxPool3DGradGrad", "ties: the first is taken", orig_input=_X3,
     orig_output=_X3.reshape(1, 1, 2, 2, 2, 2, 2, 1).max(axis=(2, 4, 6)), grad=random(1, 2, 4, 4, 1),
     ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding="VALID")
for _op in ("Sum", "Mean", "SqrtN"):
    case(f"SparseSegment{_op}GradV2", "only the rows that were picked", grad=random(3, 2),
         indices=np.array([4, 1, 4, 0]), segment_ids=np.array([0, 0, 2, 2]), dense_output_dim0=I(6))
case("UnsortedSegmentJoin", "numbers out of order, and one that is missing", inputs=np.array([[b"a", b"b"], [b"", b"c"],
     [b"d", b"e"], [b"f", b"g"]]), segment_ids=np.array([2, 0, 2, 1]), num_segments=I(4), separator="-")
