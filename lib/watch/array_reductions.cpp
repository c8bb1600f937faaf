#include "lib/watch/array_reductions.h"

#include <cmath>
#include <map>

#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

using Number = NumberArray::Number;

DataType SumType(DataType type) {
  if (IsFloating(type)) return type;
  return IsUnsigned(type) ? proto::DT_UINT64 : proto::DT_INT64;
}

using Reducer = Expected<Number> (*)(llvm::ArrayRef<Number>);

Number SumOf(llvm::ArrayRef<Number> values) {
  Number sum = 0;
  for (Number value : values) sum += value;
  return sum;
}
Number MeanOf(llvm::ArrayRef<Number> values) { return SumOf(values) / values.size(); }
Number VarianceOf(llvm::ArrayRef<Number> values) {
  Number mean = MeanOf(values), sum = 0;
  for (Number value : values) sum += (value - mean) * (value - mean);
  return sum / values.size();
}

template <typename Better>
Expected<Number> BestPlace(llvm::ArrayRef<Number> values, Better better) {
  if (values.empty()) return MakeError("the array has no elements");
  size_t place = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) return static_cast<Number>(i);
    if (better(values[i], values[place])) place = i;
  }
  return static_cast<Number>(place);
}

Expected<Number> ArgMax(llvm::ArrayRef<Number> values) {
  return BestPlace(values, [](Number a, Number b) { return a > b; });
}
Expected<Number> ArgMin(llvm::ArrayRef<Number> values) {
  return BestPlace(values, [](Number a, Number b) { return a < b; });
}

Expected<Number> MedianOf(llvm::ArrayRef<Number> values) {
  if (values.empty() || llvm::any_of(values, [](Number x) { return std::isnan(x); })) return NAN;
  std::vector<Number> sorted(values.begin(), values.end());
  llvm::sort(sorted);
  size_t half = sorted.size() / 2;
  return sorted.size() % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

struct Reduction {
  Reducer apply;
  enum Result : uint8_t { kSame, kSum, kFloat, kTruth, kCount } result;
};

const std::map<llvm::StringRef, Reduction>& Reductions() {
  using Values = llvm::ArrayRef<Number>;
  static const std::map<llvm::StringRef, Reduction> reductions = {
      {"sum", {[](Values v) -> Expected<Number> { return SumOf(v); }, Reduction::kSum}},
      {"prod",
       {[](Values v) -> Expected<Number> {
          Number product = 1;
          for (Number value : v) product *= value;
          return product;
        },
        Reduction::kSum}},
      {"mean", {[](Values v) -> Expected<Number> { return MeanOf(v); }, Reduction::kFloat}},
      {"var", {[](Values v) -> Expected<Number> { return VarianceOf(v); }, Reduction::kFloat}},
      {"std",
       {[](Values v) -> Expected<Number> { return std::sqrt(VarianceOf(v)); }, Reduction::kFloat}},
      {"norm",
       {[](Values v) -> Expected<Number> {
          Number sum = 0;
          for (Number value : v) sum += value * value;
          return std::sqrt(sum);
        },
        Reduction::kFloat}},
      {"median", {MedianOf, Reduction::kFloat}},
      {"min",
       {[](Values v) -> Expected<Number> {
          ASSIGN_OR_RETURN(Number place, ArgMin(v));
          return v[static_cast<size_t>(place)];
        },
        Reduction::kSame}},
      {"max",
       {[](Values v) -> Expected<Number> {
          ASSIGN_OR_RETURN(Number place, ArgMax(v));
          return v[static_cast<size_t>(place)];
        },
        Reduction::kSame}},
      {"argmin", {ArgMin, Reduction::kCount}},
      {"argmax", {ArgMax, Reduction::kCount}},
      {"any",
       {[](Values v) -> Expected<Number> {
          return llvm::any_of(v, [](Number x) { return x != 0; });
        },
        Reduction::kTruth}},
      {"all",
       {[](Values v) -> Expected<Number> {
          return llvm::all_of(v, [](Number x) { return x != 0; });
        },
        Reduction::kTruth}},
      {"count_nonzero",
       {[](Values v) -> Expected<Number> {
          return llvm::count_if(v, [](Number x) { return x != 0; });
        },
        Reduction::kCount}},
  };
  return reductions;
}

DataType TypeOf(Reduction::Result result, DataType type) {
  switch (result) {
    case Reduction::kSame:
      return type;
    case Reduction::kSum:
      return SumType(type);
    case Reduction::kFloat:
      return IsFloating(type) ? type : proto::DT_DOUBLE;
    case Reduction::kTruth:
      return proto::DT_BOOL;
    case Reduction::kCount:
      return proto::DT_INT64;
  }
  return type;
}

}  // namespace

bool IsUnsigned(DataType type) {
  return type == proto::DT_UINT8 || type == proto::DT_UINT16 || type == proto::DT_UINT32 ||
         type == proto::DT_UINT64;
}

bool IsReduction(llvm::StringRef name) { return Reductions().count(name) > 0; }

std::vector<llvm::StringRef> ReductionNames() {
  std::vector<llvm::StringRef> names;
  for (const auto& [name, reduction] : Reductions()) names.push_back(name);
  return names;
}

Expected<NumberArray> Reduce(const TensorExpression::Node& call, NumberArray array) {
  const Reduction& reduction = Reductions().find(call.name)->second;
  if (array.IsComplex())
    return MakeError("{0} does not take complex numbers: take their abs(), real() or imag()",
                     call.name);
  NumberArray result;
  result.dtype = TypeOf(reduction.result, array.dtype);
  int64_t rank = static_cast<int64_t>(array.dims.size());
  if (!call.axis) {
    auto value = reduction.apply(array.values);
    if (!value) return Annotate(call.name, value.takeError());
    result.values = {RoundTo(result.dtype, *value)};
    if (call.keeps_dims) result.dims.assign(rank, 1);
    return result;
  }
  int64_t axis = *call.axis < 0 ? *call.axis + rank : *call.axis;
  if (axis < 0 || axis >= rank) {
    return MakeError("{0}: axis {1} is out of range for shape {2}", call.name, *call.axis,
                     DimsText(array.dims));
  }
  int64_t outer = 1, inner = 1, size = array.dims[axis];
  for (int64_t i = 0; i < rank; ++i) {
    (i < axis ? outer : inner) *= i == axis ? 1 : array.dims[i];
    if (i != axis) result.dims.push_back(array.dims[i]);
    if (i == axis && call.keeps_dims) result.dims.push_back(1);
  }
  std::vector<Number> along(size);
  for (int64_t i = 0; i < outer * inner; ++i) {
    int64_t first = i / inner * size * inner + i % inner;
    for (int64_t k = 0; k < size; ++k) along[k] = array.values[first + k * inner];
    auto value = reduction.apply(along);
    if (!value) return Annotate(call.name, value.takeError());
    result.values.push_back(RoundTo(result.dtype, *value));
  }
  return result;
}

bool BlockReduction::Has(llvm::StringRef name) {
  return llvm::is_contained({"min", "max", "sum", "mean", "any", "all", "count_nonzero"}, name);
}

void BlockReduction::Add(llvm::ArrayRef<Number> values) {
  if (values.empty()) return;
  auto is_one = [](Number x) { return x != 0; };
  bool is_first = count_ == 0;
  count_ += static_cast<int64_t>(values.size());
  if (name_ == "all") {
    value_ = (is_first || value_ != 0) && llvm::all_of(values, is_one);
  } else if (name_ == "any") {
    value_ = value_ != 0 || llvm::any_of(values, is_one);
  } else if (name_ == "count_nonzero") {
    value_ += llvm::count_if(values, is_one);
  } else if (name_ == "sum" || name_ == "mean") {
    for (Number value : values) value_ += value;
  } else {
    // If an element is NaN, it is the result of min and max.
    if (is_first) value_ = values[0];
    bool is_min = name_ == "min";
    for (Number value : values) {
      if (std::isnan(value)) value_ = value;
      if (is_min ? value < value_ : value > value_) value_ = value;
    }
  }
}

bool BlockReduction::IsDecided() const {
  if (name_ == "all") return count_ > 0 && value_ == 0;
  return name_ == "any" ? value_ != 0 : name_ != "count_nonzero" && std::isnan(value_);
}

NumberArray BlockReduction::Result(DataType dtype) const {
  NumberArray result;
  result.dtype = TypeOf(Reductions().find(name_)->second.result, dtype);
  result.values = {RoundTo(result.dtype, name_ == "mean" ? value_ / count_ : value_)};
  return result;
}

}  // namespace grapnel
