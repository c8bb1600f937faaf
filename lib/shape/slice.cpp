// Shape functions of ops that divide or join tensors along axes: slices, splits, packs,
// concatenations, padding, blocks.
#include <algorithm>
#include <cstdlib>

#include "lib/shape/functions.h"

namespace grapnel {
namespace {

int64_t DimAt(const Elements* elements, int i) {
  return elements && i < static_cast<int>(elements->size()) ? (*elements)[i] : kUnknownElement;
}

// Returns the length of the vector in input i, such as the number of begins; -1 if unknown.
int LengthOf(ShapeContext& c, int i) {
  const Shape& shape = c.in(i);
  if (!shape.known_rank() || shape.rank() != 1 || !shape.IsKnown(0) || shape.dim(0) > 254)
    return -1;
  return static_cast<int>(shape.dim(0));
}

void SliceShape(ShapeContext& c) {
  int rank = c.in(0).known_rank() ? c.in(0).rank() : std::max(LengthOf(c, 1), LengthOf(c, 2));
  if (rank < 0) return;
  for (int i = 1; i <= 2; ++i) {
    int length = LengthOf(c, i);
    if (length >= 0 && length != rank)
      return c.Fail("{0} needs {1} begins and sizes, got {2}", c.op(), rank, length);
  }
  Shape in = c.WithRank(0, rank), out = Shape::UnknownOfRank(rank);
  const Elements *begins = c.elements(1), *sizes = c.elements(2);
  for (int i = 0; i < rank; ++i) {
    int64_t begin = DimAt(begins, i), size = DimAt(sizes, i);
    if (size == -1) {
      out.set_dim(i, begin == 0              ? in.dim(i)
                     : IsKnownElement(begin) ? SubDims(in.dim(i), begin)
                                             : kUnknownDim);
    } else {
      out.set_dim(i, DimOfElement(size));
    }
  }
  std::optional<int64_t> count = out.NumElements();
  const Elements* elements = c.elements(0);
  if (elements && rank == 1 && count) {
    int64_t begin = DimAt(begins, 0), length = static_cast<int64_t>(elements->size());
    if (begin >= 0 && begin <= length && *count <= length - begin) {
      c.OutElements(0, Elements(elements->begin() + begin, elements->begin() + begin + *count));
    }
  }
  c.Out(0, std::move(out));
}

// The range of a strided slice in one dimension.
struct Range {
  int64_t begin, end, stride;  // elements
  bool from_start, to_end, shrink;
};

struct Taken {
  int64_t count = kUnknownDim;  // a dimension
  int64_t first = -1;           // index of the first element, if known
};

// Applies a range to a dimension of size `dim`, by Python's rules.
Taken Take(ShapeContext& c, int64_t dim, const Range& r) {
  if (r.stride == 0) {
    c.Fail("{0} needs strides that are not 0", c.op());
    return {};
  }
  bool whole = (r.from_start || r.begin == 0) &&
               (r.to_end || (dim != kUnknownDim && r.end == ElementOfDim(dim)));
  if (!r.shrink && r.stride == 1 && whole) return {dim, 0};
  if (!r.shrink && r.stride == -1 && r.from_start && r.to_end)
    return {dim, dim >= 0 ? dim - 1 : -1};
  if (dim < 0) return {};
  if (r.shrink) {
    if (!IsKnownElement(r.begin)) return {1, -1};
    int64_t at = r.begin < 0 ? r.begin + dim : r.begin;
    if (IsKnownElement(r.end) && (at < 0 || at >= dim))
      c.Fail("{0}: index {1} is outside of a dimension of size {2}", c.op(), r.begin, dim);
    return {1, at};
  }
  if (!IsKnownElement(r.stride) || std::abs(r.stride) > (int64_t{1} << 40)) return {};
  if ((!r.from_start && !IsKnownElement(r.begin)) || (!r.to_end && !IsKnownElement(r.end)))
    return {};
  bool forward = r.stride > 0;
  auto clamp = [&](int64_t at) {
    if (at < 0) at += dim;
    return std::clamp<int64_t>(at, forward ? 0 : -1, forward ? dim : dim - 1);
  };
  int64_t begin = r.from_start ? (forward ? 0 : dim - 1) : clamp(r.begin);
  int64_t end = r.to_end ? (forward ? dim : -1) : clamp(r.end);
  int64_t distance = forward ? end - begin : begin - end, step = std::abs(r.stride);
  return {distance <= 0 ? 0 : (distance + step - 1) / step, begin};
}

// Computes a StridedSlice. Entry i of begin, end and strides says what happens to the next
// dimension; bits of the masks change the meaning of the entry.
class StridedSlicer {
 public:
  explicit StridedSlicer(ShapeContext& c) : c_(c), count_(0) {
    for (int i = 1; i <= 3; ++i) count_ = std::max(count_, LengthOf(c, i));
    known_ = LengthOf(c, 1) >= 0 || LengthOf(c, 2) >= 0 || LengthOf(c, 3) >= 0;
  }

  void Run() {
    const Shape& in = c_.in(0);
    if (!known_ || !in.known_rank() || count_ > 32) return;
    int64_t ellipsis = c_.Int("ellipsis_mask"), new_axis = c_.Int("new_axis_mask");
    int used = 0;
    for (int i = 0; i < count_; ++i) used += !Bit(ellipsis, i) && (!Bit(new_axis, i));
    if (used > in.rank())
      return c_.Fail("{0} slices {1} dimensions of an input of shape {2}", c_.op(), used,
                     in.ToString());
    int at = 0;
    bool seen_ellipsis = false;
    for (int i = 0; i < count_; ++i) {
      if (Bit(ellipsis, i)) {
        for (int left = in.rank() - used; left > 0; --left) out_.Append(in.dim(at++));
        seen_ellipsis = true;
      } else if (Bit(new_axis, i)) {
        out_.Append(1);
      } else if (at < in.rank()) {
        Dimension(i, in.dim(at++));
      }
    }
    while (!seen_ellipsis && at < in.rank()) out_.Append(in.dim(at++));
    c_.OutSizes(0, std::move(out_));
    if (c_.elements(0) && in.rank() == 1 && FollowsElements(ellipsis | new_axis)) {
      OutElements(used == 1);
    }
  }

 private:
  static bool Bit(int64_t mask, int i) { return mask >> i & 1; }

  void Dimension(int i, int64_t dim) {
    Range range{DimAt(c_.elements(1), i),   DimAt(c_.elements(2), i),
                DimAt(c_.elements(3), i),   Bit(c_.Int("begin_mask"), i),
                Bit(c_.Int("end_mask"), i), Bit(c_.Int("shrink_axis_mask"), i)};
    taken_ = Take(c_, dim, range);
    stride_ = range.stride;
    if (!range.shrink) out_.Append(taken_.count);
  }

  // True if the output's elements are tracked. Grappler tracks elements only through a plain range:
  // for Grappler, shape(x)[0] is an unknown number, and so are the elements of a range whose end
  // comes before its begin (InferenceContext::Subshape).
  bool FollowsElements(int64_t other_masks) const {
    if (c_.sees_inside) return true;
    if ((other_masks | c_.Int("shrink_axis_mask")) != 0) return false;
    auto size = static_cast<int64_t>(c_.elements(0)->size());
    auto end_of = [&](int input, const char* mask, int64_t otherwise) {
      int64_t at = Bit(c_.Int(mask), 0) ? otherwise : DimAt(c_.elements(input), 0);
      return at < 0 ? at + size : std::min(at, size);
    };
    int64_t begin = end_of(1, "begin_mask", 0), end = end_of(2, "end_mask", size);
    return stride_ < 0 ? begin >= end : begin <= end;
  }

  void OutElements(bool sliced) {
    const Elements& from = *c_.elements(0);
    if (!sliced) return c_.OutElements(0, from);
    if (taken_.count < 0 || (taken_.count > 0 && taken_.first < 0)) return;
    Elements elements;
    for (int64_t i = 0; i < taken_.count; ++i) {
      int64_t at = taken_.first + (taken_.count > 1 ? i * stride_ : 0);
      if (at < 0 || at >= static_cast<int64_t>(from.size())) return;
      elements.push_back(from[at]);
    }
    c_.OutElements(0, std::move(elements));
  }

  ShapeContext& c_;
  int count_;
  bool known_;
  Shape out_ = Shape::Scalar();
  Taken taken_;
  int64_t stride_ = 1;
};

void StridedSliceShape(ShapeContext& c) { StridedSlicer(c).Run(); }
void FirstAsShape(ShapeContext& c) { c.Out(0, c.ShapeFrom(0)); }

// Sets the elements of output `i` of a split vector: `count` elements from `*at` on, which it
// advances.
void OutSplitElements(ShapeContext& c, const Elements* elements, int i, int64_t* at,
                      int64_t count) {
  if (!elements || *at < 0 || count < 0 || count > static_cast<int64_t>(elements->size()) - *at) {
    *at = -1;
    return;
  }
  c.OutElements(i, Elements(elements->begin() + *at, elements->begin() + *at + count));
  *at += count;
}

void SplitShape(ShapeContext& c) {
  const Shape& in = c.in(1);
  std::optional<int64_t> axis = c.integer(0);
  if (!in.known_rank()) return;
  Shape out = Shape::UnknownOfRank(in.rank());
  if (axis) {
    std::optional<int> at = c.Axis(*axis, in.rank());
    if (!at) return;
    out = in;
    if (in.IsKnown(*at) && c.num_outputs() > 0 && in.dim(*at) % c.num_outputs() != 0) {
      return c.Fail("{0} cannot cut dimension {1} of {2} into {3} equal parts", c.op(), *at,
                    in.ToString(), c.num_outputs());
    }
    out.set_dim(*at, DivDims(in.dim(*at), c.num_outputs()));
    c.NameDim(out, *at);
  }
  int64_t from = 0;
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.Out(i, out);
    if (axis && in.rank() == 1) OutSplitElements(c, c.elements(1), i, &from, out.dim(0));
  }
}

void SplitVShape(ShapeContext& c) {
  const Shape& in = c.in(0);
  std::optional<int64_t> axis = c.integer(2);
  if (!in.known_rank()) return;
  if (!axis) {
    for (int i = 0; i < c.num_outputs(); ++i)
      c.Out(i, c.num_outputs() == 1 ? in : Shape::UnknownOfRank(in.rank()));
    return;
  }
  std::optional<int> at = c.Axis(*axis, in.rank());
  if (!at) return;
  const Elements* sizes = c.elements(1);
  int64_t rest = in.dim(*at), from = 0;
  int missing = 0;
  for (int i = 0; i < c.num_outputs(); ++i) {
    int64_t size = DimAt(sizes, i);
    missing += size == -1;
    if (size != -1) rest = SubDims(rest, DimOfElement(size));
  }
  for (int i = 0; i < c.num_outputs(); ++i) {
    int64_t size = DimAt(sizes, i);
    Shape out = in;
    out.set_dim(*at, size == -1 ? (missing == 1 ? rest : kUnknownDim) : DimOfElement(size));
    if (in.rank() == 1) OutSplitElements(c, c.elements(0), i, &from, out.dim(0));
    c.Out(i, std::move(out));
  }
}

// Sets the output's elements to those of the inputs, one after the other. For an input whose
// elements are unknown, adds unknown elements: as many as its shape says, or else `default_count`,
// if given.
void OutJoinedElements(ShapeContext& c, int first, int last, llvm::StringRef type_attr,
                       std::optional<int64_t> default_count = std::nullopt) {
  if (!ShapeContext::TracksElements(c.Type(type_attr))) return;
  Elements joined;
  for (int i = first; i < last; ++i) {
    // The elements may be known although the shape is not, as for ListDiff.
    const Elements* elements = c.elements(i);
    std::optional<int64_t> count = c.in(i).NumElements();
    if (!count) count = default_count;
    if (elements) count = static_cast<int64_t>(elements->size());
    if (!count || *count + static_cast<int64_t>(joined.size()) > ShapeMap::kMaxElements) return;
    if (elements) {
      joined.append(elements->begin(), elements->end());
    } else {
      joined.append(*count, kUnknownElement);
    }
  }
  c.OutElements(0, std::move(joined));
}

void PackShape(ShapeContext& c) {
  Shape part = c.in(0);
  for (int i = 1; i < c.num_inputs(); ++i) part = c.Equal(part, c.in(i));
  if (!part.known_rank()) {
    // Grappler treats every Pack of inputs of unknown rank as a Pack of scalars.
    if (!c.sees_inside) OutJoinedElements(c, 0, c.num_inputs(), "T", 1);
    return;
  }
  std::optional<int> axis = c.Axis(c.Int("axis"), part.rank() + 1);
  if (!axis) return;
  Dims dims(part.dims().begin(), part.dims().end());
  dims.insert(dims.begin() + *axis, c.num_inputs());
  c.Out(0, Shape(dims));
  if (*axis == 0) OutJoinedElements(c, 0, c.num_inputs(), "T");
}

void UnpackShape(ShapeContext& c) {
  const Shape& in = c.in(0);
  if (!in.known_rank()) return;
  if (in.rank() == 0) return c.Fail("{0} needs at least rank 1, got []", c.op());
  std::optional<int> axis = c.Axis(c.Int("axis"), in.rank());
  if (!axis) return;
  if (in.IsKnown(*axis) && in.dim(*axis) != c.num_outputs()) {
    return c.Fail("{0} of {1} has {2} outputs, but dimension {3} is {4}", c.op(), in.ToString(),
                  c.num_outputs(), *axis, in.dim(*axis));
  }
  Dims dims(in.dims().begin(), in.dims().end());
  dims.erase(dims.begin() + *axis);
  const Elements* elements = in.rank() == 1 ? c.elements(0) : nullptr;
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.Out(i, Shape(dims));
    if (elements && i < static_cast<int>(elements->size())) c.OutElements(i, {(*elements)[i]});
  }
}

// Concatenates the inputs first .. last - 1 along the axis that input `axis_at` specifies.
void Concatenate(ShapeContext& c, int first, int last, int axis_at) {
  c.WithRank(axis_at, 0);
  std::optional<int64_t> axis = c.integer(axis_at);
  int rank = -1;
  for (int i = first; i < last; ++i) {
    if (!c.in(i).known_rank()) continue;
    if (rank >= 0 && c.in(i).rank() != rank) {
      return c.Fail("{0} needs inputs of equal rank, got rank {1} and shape {2}", c.op(), rank,
                    c.in(i).ToString());
    }
    rank = c.in(i).rank();
  }
  if (rank < 0) return;
  if (rank == 0) return c.Fail("{0} needs at least rank 1, got []", c.op());
  if (!axis) return c.Out(0, Shape::UnknownOfRank(rank));
  std::optional<int> at = c.Axis(*axis, rank);
  if (!at) return;
  Shape out = Shape::UnknownOfRank(rank);
  int64_t sum = 0;
  for (int i = first; i < last; ++i) {
    Shape in = c.WithRank(i, rank);
    sum =
        sum == kUnknownDim || in.dim(*at) == kUnknownDim ? kUnknownDim : AddDims(sum, in.dim(*at));
    in.set_dim(*at, kUnknownDim);
    out = c.Equal(out, in);
    if (!c.problem.empty()) return;
  }
  out.set_dim(*at, sum);
  c.Out(0, std::move(out));
  // Grappler tracks the elements of a concatenation only if it knows elements of every input; the
  // elements of a Pack may be unknown.
  for (int i = first; i < last && !c.sees_inside; ++i) {
    if (!c.elements(i)) return;
  }
  if (*at == 0) OutJoinedElements(c, first, last, "T");
}

void ConcatShape(ShapeContext& c) { Concatenate(c, 1, c.num_inputs(), 0); }
void ConcatV2Shape(ShapeContext& c) { Concatenate(c, 0, c.num_inputs() - 1, c.num_inputs() - 1); }

// Quantized ops also return the minimum and maximum of the result.
void QuantizedConcatShape(ShapeContext& c) {
  int count = (c.num_inputs() - 1) / 3;
  c.Out(1, Shape::Scalar());
  c.Out(2, Shape::Scalar());
  Concatenate(c, 1, 1 + count, 0);
}

void QuantizedConcatV2Shape(ShapeContext& c) {
  int count = (c.num_inputs() - 1) / 3;
  c.Out(1, Shape::Scalar());
  c.Out(2, Shape::Scalar());
  Concatenate(c, 0, count, count);
}

void ConcatOffsetShape(ShapeContext& c) {
  std::optional<int64_t> axis = c.integer(0);
  int64_t offset = 0;
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.Out(i, c.in(i + 1));
    const Elements* shape = c.elements(i + 1);
    if (!axis || !shape || offset == kUnknownDim || *axis < -static_cast<int64_t>(shape->size()) ||
        *axis >= static_cast<int64_t>(shape->size())) {
      offset = kUnknownDim;
      continue;
    }
    size_t at = *axis < 0 ? *axis + shape->size() : *axis;
    Elements offsets(shape->size(), 0);
    offsets[at] = ElementOfDim(offset);
    c.OutElements(i, std::move(offsets));
    offset = AddDims(offset, DimOfElement((*shape)[at]));
  }
}

// Pads each dimension by [before, after], its row of the paddings; with `sign` -1, removes the
// padding.
void PadDims(ShapeContext& c, int sign) {
  Shape paddings = c.WithRank(1, 2);
  int rank = c.in(0).known_rank() ? c.in(0).rank() : -1;
  if (paddings.IsKnown(0)) {
    if (rank >= 0 && paddings.dim(0) != rank) {
      return c.Fail("{0} of {1} needs {2} rows of paddings, got {3}", c.op(), c.in(0).ToString(),
                    rank, paddings.dim(0));
    }
    rank = static_cast<int>(std::min<int64_t>(paddings.dim(0), 254));
  }
  if (rank < 0) return;
  Shape in = c.WithRank(0, rank), out = Shape::UnknownOfRank(rank);
  const Elements* sizes = c.elements(1);
  for (int i = 0; sizes && i < rank; ++i) {
    int64_t padding =
        AddDims(DimOfElement(DimAt(sizes, 2 * i)), DimOfElement(DimAt(sizes, 2 * i + 1)));
    out.set_dim(i, sign > 0 ? AddDims(in.dim(i), padding) : SubDims(in.dim(i), padding));
  }
  c.Out(0, std::move(out));
}

void PadShape(ShapeContext& c) { PadDims(c, 1); }
void MirrorPadGradShape(ShapeContext& c) { PadDims(c, -1); }

// Moves blocks of the spatial dimensions into the depth dimension, or back.
void DepthSpaceShape(ShapeContext& c) {
  if (c.String("data_format") == "NCHW_VECT_C") return c.Out(0, Shape::UnknownOfRank(5));
  const Shape in = c.WithRank(0, 4);
  Shape shape = in;
  int64_t block = c.Int("block_size", 1);
  if (block < 1) return c.Fail("{0} needs a block size of at least 1, got {1}", c.op(), block);
  bool first = c.String("data_format") == "NCHW", to_depth = c.op() == "SpaceToDepth";
  int depth = first ? 1 : 3, space = first ? 2 : 1;
  for (int i = 0; i < 2; ++i) {
    int64_t dim = shape.dim(space + i);
    shape.set_dim(space + i, to_depth ? DivDims(dim, block) : MulDims(dim, block));
  }
  int64_t area = MulDims(block, block);
  for (int i : {space, space + 1, depth}) {
    int64_t divisor = i == depth ? area : block;
    if (to_depth == (i != depth) && in.IsKnown(i) && in.dim(i) % divisor != 0) {
      return c.Fail("{0} needs dimension {1} to be a multiple of {2}, got {3}", c.op(), i, divisor,
                    in.ToString());
    }
  }
  shape.set_dim(depth,
                to_depth ? MulDims(shape.dim(depth), area) : DivDims(shape.dim(depth), area));
  c.Out(0, std::move(shape));
}

// Pads the spatial dimensions by `paddings` and moves blocks of them into the batch dimension; or
// moves blocks back, and crops the result by `paddings`.
void BatchSpace(ShapeContext& c, const Elements* blocks, int num_blocks, const Elements* paddings,
                bool to_batch) {
  Shape shape = c.WithRankAtLeast(0, num_blocks + 1);
  if (!shape.known_rank() || num_blocks < 0) return;
  if (!c.problem.empty()) return;
  int64_t batch = shape.dim(0);
  for (int i = 0; i < num_blocks; ++i) {
    int64_t block = DimOfElement(DimAt(blocks, i));
    int64_t padding =
        AddDims(DimOfElement(DimAt(paddings, 2 * i)), DimOfElement(DimAt(paddings, 2 * i + 1)));
    int64_t dim = shape.dim(i + 1);
    shape.set_dim(i + 1, to_batch ? DivDims(AddDims(dim, padding), block)
                                  : SubDims(MulDims(dim, block), padding));
    batch = to_batch ? MulDims(batch, block) : DivDims(batch, block);
  }
  shape.set_dim(0, batch);
  c.Out(0, std::move(shape));
}

void BatchSpaceNDShape(ShapeContext& c) {
  BatchSpace(c, c.elements(1), LengthOf(c, 1), c.elements(2), c.op() == "SpaceToBatchND");
}

void BatchSpaceShape(ShapeContext& c) {
  Elements blocks(2, c.Int("block_size", 1));
  BatchSpace(c, &blocks, 2, c.elements(1), c.op() == "SpaceToBatch");
}

// The shape stays the same; the elements of a short vector are reversed.
void ReverseV2Shape(ShapeContext& c) {
  c.Out(0, c.in(0));
  const Elements* elements = c.elements(0);
  if (!elements || c.in(0).rank() != 1 || !c.integer(1)) return;
  c.OutElements(0, Elements(elements->rbegin(), elements->rend()));
}

void ReverseSequenceShape(ShapeContext& c) {
  Shape shape = c.in(0), lengths = c.WithRank(1, 1);
  if (!shape.known_rank()) return;
  int64_t batch = c.Int("batch_dim");
  if (batch < 0 || batch >= shape.rank())
    return c.Fail("batch_dim {0} of {1} is not an axis of shape {2}", batch, c.op(),
                  shape.ToString());
  shape.set_dim(batch, c.Equal(shape.dim(batch), lengths.dim(0), "batch sizes"));
  c.Out(0, std::move(shape));
}

constexpr ShapeRule kRules[] = {
    {"Slice", SliceShape},

    {"StridedSlice", StridedSliceShape},
    {"StridedSliceGrad", FirstAsShape},
    {"StridedSliceAssign", SameAsInput},
    {"TensorStridedSliceUpdate", SameAsInput},
    {"Split", SplitShape},
    {"SplitV", SplitVShape},
    {"Pack", PackShape},
    {"Unpack", UnpackShape},
    {"Concat", ConcatShape},
    {"ConcatV2", ConcatV2Shape},
    {"QuantizedConcat", QuantizedConcatShape},
    {"QuantizedConcatV2", QuantizedConcatV2Shape},
    {"ConcatOffset", ConcatOffsetShape},
    {"Pad", PadShape},
    {"PadV2", PadShape},
    {"MirrorPad", PadShape},
    {"MirrorPadGrad", MirrorPadGradShape},
    {"SpaceToDepth", DepthSpaceShape},
    {"DepthToSpace", DepthSpaceShape},
    {"SpaceToBatchND", BatchSpaceNDShape},
    {"BatchToSpaceND", BatchSpaceNDShape},
    {"SpaceToBatch", BatchSpaceShape},
    {"BatchToSpace", BatchSpaceShape},
    {"Reverse", SameAsInput},
    {"ReverseV2", ReverseV2Shape},
    {"ReverseSequence", ReverseSequenceShape},
    {"Roll", SameAsInput},
};

}  // namespace

llvm::ArrayRef<ShapeRule> SliceShapeRules() { return kRules; }

}  // namespace grapnel
