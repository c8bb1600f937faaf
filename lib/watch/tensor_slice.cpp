#include "lib/watch/tensor_slice.h"

#include <cstring>

#include "lib/watch/expression_node.h"
#include "lib/watch/expression_parser.h"

namespace grapnel {
namespace {

// The indices that a slice selects along one dimension.
struct Run {
  int64_t first = 0, count = 0, step = 1, stride = 0;  // stride: elements from index i to i + 1
};

// Applies Python's rules: negative indices count from the end, and bounds are clamped.
Run RunOf(const SlicePart& part, int64_t size) {
  Run run;
  run.step = part.step.value_or(1);
  bool forward = run.step > 0;
  auto place = [&](int64_t given) {
    int64_t at = given < 0 ? given + size : given;
    return std::clamp<int64_t>(at, forward ? 0 : -1, forward ? size : size - 1);
  };
  run.first = part.begin ? place(*part.begin) : forward ? 0 : size - 1;
  int64_t end = part.end ? place(*part.end) : forward ? size : -1;
  int64_t length = forward ? end - run.first : run.first - end;
  uint64_t step = forward ? run.step : -static_cast<uint64_t>(run.step);
  if (length > 0) run.count = static_cast<int64_t>((length - 1) / step) + 1;
  return run;
}

Expected<std::vector<Run>> RunsOf(llvm::ArrayRef<int64_t> dims, const std::vector<SlicePart>& parts,
                                  Dims* sliced) {
  using Kind = SlicePart::Kind;
  size_t taken = 0, ellipses = 0;
  for (const SlicePart& part : parts) {
    taken += part.kind == Kind::kIndex || part.kind == Kind::kRange;
    ellipses += part.kind == Kind::kEllipsis;
  }
  if (ellipses > 1) return MakeError("a slice has one '...' at most");
  if (taken > dims.size()) {
    return MakeError("{0} indices are too many for a tensor of shape {1}", taken, DimsText(dims));
  }
  std::vector<Run> runs;
  size_t axis = 0;
  auto take_whole = [&](size_t count) {
    for (; count > 0; --count, ++axis) {
      runs.push_back({0, dims[axis], 1, 0});
      sliced->push_back(dims[axis]);
    }
  };
  for (const SlicePart& part : parts) {
    if (part.kind == Kind::kEllipsis) {
      take_whole(dims.size() - taken);
    } else if (part.kind == Kind::kNewAxis) {
      sliced->push_back(1);
    } else if (part.kind == Kind::kRange) {
      runs.push_back(RunOf(part, dims[axis++]));
      sliced->push_back(runs.back().count);
    } else {
      int64_t size = dims[axis++], at = part.index < 0 ? part.index + size : part.index;
      if (at < 0 || at >= size) {
        return MakeError("index {0} is out of range: axis {1} of shape {2} has {3} elements",
                         part.index, axis - 1, DimsText(dims), size);
      }
      runs.push_back({at, 1, 1, 0});
    }
  }
  take_whole(dims.size() - axis);
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0; stride *= dims[i]) runs[i].stride = stride;
  return runs;
}

// Returns the flat position in an array of shape `dims` of the element that is at position `flat`
// when the array is broadcast to shape `to`.
int64_t BroadcastPlace(int64_t flat, llvm::ArrayRef<int64_t> to, llvm::ArrayRef<int64_t> dims) {
  int64_t place = 0, stride = 1;
  for (size_t i = 0; i < to.size(); ++i) {
    int64_t at = flat % to[to.size() - 1 - i];
    flat /= to[to.size() - 1 - i];
    if (i >= dims.size()) continue;
    int64_t size = dims[dims.size() - 1 - i];
    if (size != 1) place += at * stride;
    stride *= size;
  }
  return place;
}

bool BroadcastsTo(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> to) {
  // Drop leading dimensions of size 1, which do not change a broadcast.
  while (dims.size() > to.size() && dims.front() == 1) dims = dims.drop_front();
  if (dims.size() > to.size()) return false;
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t size = dims[dims.size() - 1 - i];
    if (size != 1 && size != to[to.size() - 1 - i]) return false;
  }
  return true;
}

}  // namespace

Expected<std::vector<int64_t>> SlicedPlaces(llvm::ArrayRef<int64_t> dims,
                                            const std::vector<SlicePart>& parts, Dims* sliced) {
  sliced->clear();
  ASSIGN_OR_RETURN(std::vector<Run> runs, RunsOf(dims, parts, sliced));
  std::vector<int64_t> places = {0};
  for (const Run& run : runs) {
    std::vector<int64_t> next;
    next.reserve(places.size() * run.count);
    for (int64_t before : places) {
      for (int64_t i = 0; i < run.count; ++i)
        next.push_back(before + (run.first + i * run.step) * run.stride);
    }
    places = std::move(next);
  }
  return places;
}

Expected<Tensor> SliceTensor(const Tensor& tensor, const std::vector<SlicePart>& parts) {
  if (!tensor) return MakeError("there is no value");
  Dims dims;
  ASSIGN_OR_RETURN(std::vector<int64_t> places, SlicedPlaces(tensor.dims(), parts, &dims));
  ASSIGN_OR_RETURN(Tensor slice, Tensor::Allocate(tensor.dtype(), dims));
  if (tensor.dtype() == proto::DT_STRING) {
    for (size_t i = 0; i < places.size(); ++i)
      slice.data<std::string>()[i] = tensor.data<std::string>()[places[i]];
  } else if (tensor.HoldsObjects()) {
    for (size_t i = 0; i < places.size(); ++i)
      slice.data<ObjectRef>()[i] = tensor.data<ObjectRef>()[places[i]];
  } else {
    size_t size = DataTypeSize(tensor.dtype());
    auto* to = static_cast<char*>(slice.raw());
    const auto* from = static_cast<const char*>(tensor.raw());
    for (size_t i = 0; i < places.size(); ++i)
      std::memcpy(to + i * size, from + places[i] * size, size);
  }
  return slice;
}

Expected<Tensor> WithElements(const Tensor& tensor, llvm::StringRef slice, const Tensor& value) {
  if (tensor.HoldsObjects())
    return MakeError("{0} is an object, whose elements cannot be set", tensor.ToString());
  std::vector<SlicePart> parts;
  if (!slice.empty()) {
    ASSIGN_OR_RETURN(parts, ParseSlice(slice));
  }
  Dims dims;
  ASSIGN_OR_RETURN(std::vector<int64_t> places, SlicedPlaces(tensor.dims(), parts, &dims));
  if (!BroadcastsTo(value.dims(), dims)) {
    return MakeError("a value of shape {0} does not broadcast to shape {1}", DimsText(value.dims()),
                     DimsText(dims));
  }
  bool is_text = tensor.dtype() == proto::DT_STRING;
  if (is_text != (value.dtype() == proto::DT_STRING) || value.HoldsObjects()) {
    return MakeError("a value of dtype {0} does not fit a tensor of dtype {1}",
                     DataTypeName(value.dtype()), DataTypeName(tensor.dtype()));
  }
  ASSIGN_OR_RETURN(Tensor made, Tensor::Allocate(tensor.dtype(), tensor.dims()));
  if (is_text) {
    std::copy_n(tensor.data<std::string>(), tensor.num_elements(), made.data<std::string>());
    for (size_t i = 0; i < places.size(); ++i)
      made.data<std::string>()[places[i]] =
          value.data<std::string>()[BroadcastPlace(i, dims, value.dims())];
    return made;
  }
  ASSIGN_OR_RETURN(NumberArray numbers, NumbersOf(value));
  if (numbers.IsComplex() && !IsComplex(tensor.dtype()))
    return MakeError("a complex value does not fit a tensor of dtype {0}",
                     DataTypeName(tensor.dtype()));
  numbers.dtype = tensor.dtype();
  ASSIGN_OR_RETURN(Tensor cast, TensorOf(numbers));
  size_t size = DataTypeSize(tensor.dtype());
  auto* to = static_cast<char*>(made.raw());
  const auto* from = static_cast<const char*>(cast.raw());
  std::memcpy(to, tensor.raw(), tensor.byte_size());
  for (size_t i = 0; i < places.size(); ++i)
    std::memcpy(to + places[i] * size, from + BroadcastPlace(i, dims, value.dims()) * size, size);
  return made;
}

}  // namespace grapnel
