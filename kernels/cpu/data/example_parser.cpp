#include "kernels/cpu/data/example_parser.h"

#include <algorithm>

#include "kernels/cpu/array/data_move.h"
#include "lib/support/first_error.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

Error CheckType(llvm::StringRef kind, const FeatureSpec& spec) {
  if (spec.dtype == proto::DT_STRING || spec.dtype == proto::DT_FLOAT ||
      spec.dtype == proto::DT_INT64)
    return Error::success();
  return MakeError(
      "{0} feature '{1}' has dtype {2}, but an Example holds only string, float and int64", kind,
      spec.key, DataTypeName(spec.dtype));
}

Error FinishDense(DenseSpec& spec, const Shape& shape, const Tensor& otherwise) {
  if (!shape.known_rank()) return MakeError("dense_shape of '{0}' has unknown rank", spec.key);
  spec.shape = shape;
  spec.varies = shape.rank() > 0 && !shape.IsKnown(0);
  auto size = NumElements(shape.dims().drop_front(spec.varies ? 1 : 0));
  for (int d = spec.varies ? 1 : 0; d < shape.rank(); ++d) {
    if (!shape.IsKnown(d))
      return MakeError("dense_shape of '{0}': {1} has an unknown size after its first dimension",
                       spec.key, shape.ToString());
  }
  if (!size) return MakeError("dense_shape of '{0}': {1} is too large", spec.key, shape.ToString());
  spec.size = *size;
  spec.otherwise = otherwise;
  if (otherwise.dtype() != spec.dtype)
    return MakeError("dense feature '{0}' has dtype {2}, but its default has dtype {1}", spec.key,
                     DataTypeName(otherwise.dtype()), DataTypeName(spec.dtype));
  if (spec.varies && spec.size < 1)
    return MakeError(
        "dense_shape of '{0}': {1} must not have a size of 0 after its unknown first dimension",
        spec.key, shape.ToString());
  if (spec.varies && otherwise.num_elements() != 1)
    return MakeError(
        "dense_shape of '{0}' is of variable length: {1}, so its default must be one element, the "
        "padding, got shape {2}",
        spec.key, shape.ToString(), DimsText(otherwise.dims()));
  if (!spec.varies && otherwise.num_elements() > 0 && otherwise.dims() != shape.dims())
    return MakeError("dense feature '{0}' has shape {2}, but its default has shape {1}", spec.key,
                     DimsText(otherwise.dims()), shape.ToString());
  return Error::success();
}

}  // namespace

std::vector<DataType> TypesAttr(const Node& node, llvm::StringRef key) {
  auto attr = node.Attr(key);
  return attr ? attr->AsTypes().value_or(std::vector<DataType>()) : std::vector<DataType>();
}

std::vector<std::string> StringsAttr(const Node& node, llvm::StringRef key) {
  std::vector<std::string> strings;
  auto attr = node.Attr(key);
  for (llvm::StringRef text : attr ? attr->AsStrings().value_or(std::vector<llvm::StringRef>())
                                   : std::vector<llvm::StringRef>())
    strings.push_back(text.str());
  return strings;
}

std::vector<Shape> ShapesAttr(const Node& node, llvm::StringRef key) {
  auto attr = node.Attr(key);
  return attr ? attr->AsShapes().value_or(std::vector<Shape>()) : std::vector<Shape>();
}

Error FinishSpec(ExampleSpec& spec, llvm::ArrayRef<Shape> dense_shapes,
                 llvm::ArrayRef<Tensor> defaults) {
  if (dense_shapes.size() != spec.dense.size() || defaults.size() != spec.dense.size())
    return MakeError("there are {0} dense features, but {1} shapes and {2} defaults",
                     spec.dense.size(), dense_shapes.size(), defaults.size());
  for (size_t i = 0; i < spec.dense.size(); ++i) {
    RETURN_IF_ERROR(CheckType("dense", spec.dense[i]));
    RETURN_IF_ERROR(FinishDense(spec.dense[i], dense_shapes[i], defaults[i]));
  }
  llvm::StringSet<> sparse;
  for (const FeatureSpec& feature : spec.sparse) {
    RETURN_IF_ERROR(CheckType("sparse", feature));
    sparse.insert(feature.key);
  }
  for (const RaggedSpec& feature : spec.ragged) {
    RETURN_IF_ERROR(CheckType("ragged", feature));
    if (feature.split_type != proto::DT_INT32 && feature.split_type != proto::DT_INT64)
      return MakeError("row splits must be int32 or int64, not {0}",
                       DataTypeName(feature.split_type));
    if (sparse.contains(feature.key))
      return MakeError("feature '{0}' cannot be both ragged and sparse", feature.key);
  }
  return Error::success();
}

std::string NameOf(const ExampleBatch& batch, size_t i) {
  return i < batch.names.size() ? batch.names[i] : "<unknown>";
}

namespace {

class Parser {
 public:
  Parser(const RunServices& services, const ExampleSpec& spec, const ExampleBatch& batch)
      : services_(services),
        spec_(spec),
        batch_(batch),
        rows_(static_cast<int64_t>(batch.serialized.size())),
        width_(static_cast<int64_t>(spec.sparse.size() + spec.dense.size() + spec.ragged.size())) {}

  Expected<std::vector<Tensor>> Run();

 private:
  struct Slot {
    Feature feature;
    int64_t count = 0;
  };

  const FeatureSpec& SpecOf(int64_t k) const;
  Error Scan(int64_t row, const llvm::StringMap<llvm::SmallVector<int64_t, 1>>& slots_of);
  Error Check(int64_t row, int64_t k);
  const Slot& SlotAt(int64_t row, int64_t k) const { return slots_[row * width_ + k]; }
  // Returns where each row's values of feature k start, plus the end.
  std::vector<int64_t> StartsOf(int64_t k) const;
  void ForRows(llvm::function_ref<void(int64_t row)> body);
  Expected<Tensor> ValuesOf(int64_t k, llvm::ArrayRef<int64_t> starts);
  Error Sparse(int64_t k);
  Error Dense(int64_t k, const DenseSpec& spec);
  Error Ragged(int64_t k, const RaggedSpec& spec);
  Expected<Tensor> New(DataType dtype, llvm::ArrayRef<int64_t> dims) {
    return Tensor::Allocate(dtype, dims, services_.allocator);
  }

  const RunServices& services_;
  const ExampleSpec& spec_;
  const ExampleBatch& batch_;
  const int64_t rows_, width_;
  std::vector<Slot> slots_;  // by row, then by feature: sparse, dense, ragged
  std::vector<Tensor> indices_, values_, shapes_, dense_, ragged_, splits_;
};

const FeatureSpec& Parser::SpecOf(int64_t k) const {
  size_t i = static_cast<size_t>(k);
  if (i < spec_.sparse.size()) return spec_.sparse[i];
  i -= spec_.sparse.size();
  if (i < spec_.dense.size()) return spec_.dense[i];
  return spec_.ragged[i - spec_.dense.size()];
}

void Parser::ForRows(llvm::function_ref<void(int64_t)> body) {
  services_.pool.ParallelFor(rows_, 300 + 20.0 * static_cast<double>(width_),
                             [&](int64_t begin, int64_t end) {
                               for (int64_t row = begin; row < end; ++row) body(row);
                             });
}

Error Parser::Scan(int64_t row, const llvm::StringMap<llvm::SmallVector<int64_t, 1>>& slots_of) {
  bool good = ReadExample(batch_.serialized[row], [&](llvm::StringRef key, const Feature& feature) {
    auto it = slots_of.find(key);
    if (it == slots_of.end()) return;
    for (int64_t k : it->second) slots_[row * width_ + k].feature = feature;
  });
  if (!good)
    return MakeError("Name: {0}, could not parse example input {1}: {2} bytes", NameOf(batch_, row),
                     row, batch_.serialized[row].size());
  for (int64_t k = 0; k < width_; ++k) RETURN_IF_ERROR(Check(row, k));
  return Error::success();
}

// Checks feature k of a row: whether it may be missing, its dtype, the number of its values.
Error Parser::Check(int64_t row, int64_t k) {
  Slot& slot = slots_[row * width_ + k];
  const FeatureSpec& spec = SpecOf(k);
  int64_t d = k - static_cast<int64_t>(spec_.sparse.size());
  const DenseSpec* dense =
      d >= 0 && d < static_cast<int64_t>(spec_.dense.size()) ? &spec_.dense[d] : nullptr;
  if (slot.feature.dtype == proto::DT_INVALID) {
    if (!dense || dense->varies || dense->otherwise.num_elements() > 0 || dense->size == 0)
      return Error::success();
    return MakeError("Name: {0}, Feature: {1} (data type: {2}) is required but could not be found",
                     NameOf(batch_, row), spec.key, DataTypeName(spec.dtype));
  }
  if (slot.feature.dtype != spec.dtype)
    return MakeError(
        "Name: {0}, Key: {1}, Index: {2}: data types don't match, {3} was expected, the feature is "
        "{4}",
        NameOf(batch_, row), spec.key, row, DataTypeName(spec.dtype),
        DataTypeName(slot.feature.dtype));
  slot.count = CountValues(slot.feature);
  if (slot.count < 0)
    return MakeError("Name: {0}, Key: {1}, Index: {2}: the list of values is damaged",
                     NameOf(batch_, row), spec.key, row);
  bool fits = !dense || (dense->varies ? slot.count % dense->size == 0 : slot.count == dense->size);
  if (fits) return Error::success();
  return MakeError(
      "Name: {0}, Key: {1}, Index: {2}: number of {3} values != expected, values size {4} but "
      "output shape {5}",
      NameOf(batch_, row), spec.key, row, DataTypeName(spec.dtype), slot.count,
      dense->shape.ToString());
}

std::vector<int64_t> Parser::StartsOf(int64_t k) const {
  std::vector<int64_t> starts{0};
  for (int64_t row = 0; row < rows_; ++row) starts.push_back(starts.back() + SlotAt(row, k).count);
  return starts;
}

Expected<Tensor> Parser::ValuesOf(int64_t k, llvm::ArrayRef<int64_t> starts) {
  ASSIGN_OR_RETURN(Tensor values, New(SpecOf(k).dtype, {starts.back()}));
  ForRows([&](int64_t row) {
    if (SlotAt(row, k).count > 0) FillValues(SlotAt(row, k).feature, values, starts[row]);
  });
  return values;
}

Error Parser::Sparse(int64_t k) {
  std::vector<int64_t> starts = StartsOf(k);
  int64_t depth = batch_.single ? 1 : 2, longest = 0;
  ASSIGN_OR_RETURN(Tensor values, ValuesOf(k, starts));
  ASSIGN_OR_RETURN(Tensor indices, New(proto::DT_INT64, {starts.back(), depth}));
  ASSIGN_OR_RETURN(Tensor shape, New(proto::DT_INT64, {depth}));
  int64_t* to = indices.data<int64_t>();
  for (int64_t row = 0; row < rows_; ++row) {
    int64_t count = SlotAt(row, k).count;
    longest = std::max(longest, count);
    for (int64_t i = 0; i < count; ++i) {
      if (!batch_.single) *to++ = row;
      *to++ = i;
    }
  }
  if (!batch_.single) shape.data<int64_t>()[0] = rows_;
  shape.data<int64_t>()[depth - 1] = longest;
  indices_.push_back(std::move(indices));
  values_.push_back(std::move(values));
  shapes_.push_back(std::move(shape));
  return Error::success();
}

Error Parser::Dense(int64_t k, const DenseSpec& spec) {
  Dims dims;
  int64_t length = spec.size;  // of a row
  if (!batch_.single) dims.push_back(rows_);
  dims.append(spec.shape.dims().begin(), spec.shape.dims().end());
  if (spec.varies) {
    int64_t steps = 0;
    for (int64_t row = 0; row < rows_; ++row)
      steps = std::max(steps, SlotAt(row, k).count / spec.size);
    dims[batch_.single ? 0 : 1] = steps;
    length = steps * spec.size;
  }
  if (!NumElements(dims))
    return MakeError("dense feature '{0}': {1} is too large", spec.key, DimsText(dims));
  ASSIGN_OR_RETURN(Tensor out, New(spec.dtype, dims));
  ForRows([&](int64_t row) {
    const Slot& slot = SlotAt(row, k);
    if (slot.count > 0) FillValues(slot.feature, out, row * length);
    int64_t at = slot.count;
    if (spec.varies) {
      for (; at < length; ++at)
        CopyElements(spec.dtype, spec.otherwise.raw(), At(out, row * length + at), 1);
    } else if (at < length) {
      CopyElements(spec.dtype, spec.otherwise.raw(), At(out, row * length), length);
    }
  });
  dense_.push_back(std::move(out));
  return Error::success();
}

Error Parser::Ragged(int64_t k, const RaggedSpec& spec) {
  std::vector<int64_t> starts = StartsOf(k);
  ASSIGN_OR_RETURN(Tensor values, ValuesOf(k, starts));
  if (spec.split_type == proto::DT_INT32 && starts.back() > INT32_MAX)
    return MakeError("{0} values of '{1}' do not fit in row splits of int32", starts.back(),
                     spec.key);
  ASSIGN_OR_RETURN(Tensor splits, New(spec.split_type, {batch_.single ? 0 : rows_ + 1}));
  for (int64_t i = 0; i < splits.num_elements(); ++i) {
    if (spec.split_type == proto::DT_INT32)
      splits.data<int32_t>()[i] = static_cast<int32_t>(starts[i]);
    else
      splits.data<int64_t>()[i] = starts[i];
  }
  ragged_.push_back(std::move(values));
  splits_.push_back(std::move(splits));
  return Error::success();
}

Expected<std::vector<Tensor>> Parser::Run() {
  if (!batch_.names.empty() && batch_.names.size() != batch_.serialized.size())
    return MakeError("there are {0} names, but {1} examples", batch_.names.size(), rows_);
  llvm::StringMap<llvm::SmallVector<int64_t, 1>> slots_of;
  for (int64_t k = 0; k < width_; ++k) slots_of[SpecOf(k).key].push_back(k);
  slots_.resize(rows_ * width_);
  FirstError first;
  ForRows([&](int64_t row) {
    if (Error error = Scan(row, slots_of)) first.Report(row, std::move(error));
  });
  RETURN_IF_ERROR(first.Take());
  int64_t k = 0;
  for (size_t i = 0; i < spec_.sparse.size(); ++i) RETURN_IF_ERROR(Sparse(k++));
  for (const DenseSpec& dense : spec_.dense) RETURN_IF_ERROR(Dense(k++, dense));
  for (const RaggedSpec& ragged : spec_.ragged) RETURN_IF_ERROR(Ragged(k++, ragged));
  std::vector<Tensor> all;
  for (auto* list : {&indices_, &values_, &shapes_, &dense_, &ragged_, &splits_})
    all.insert(all.end(), list->begin(), list->end());
  return all;
}

}  // namespace

Expected<std::vector<Tensor>> ParseExamples(const RunServices& services, const ExampleSpec& spec,
                                            const ExampleBatch& batch) {
  return Parser(services, spec, batch).Run();
}

}  // namespace grapnel
