#include "lib/watch/recorded_tensor.h"

#include <algorithm>
#include <cmath>

#include "lib/exec/tensor.h"
#include "lib/ir/literal.h"
#include "lib/ir/wire.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

// How many elements the output of DebugNumericSummaryV2 has in each debug mode.
constexpr int kCurtColumns = 2, kConciseColumns = 5, kFullColumns = 11, kShapeColumns = 10,
              kSlots = 3;
constexpr int kShapeDims = 6;

int NumColumns(TensorDebugMode mode) {
  switch (mode) {
    case proto::CURT_HEALTH:
      return kCurtColumns;
    case proto::CONCISE_HEALTH:
      return kConciseColumns;
    case proto::FULL_HEALTH:
      return kFullColumns;
    case proto::SHAPE:
      return kShapeColumns;
    case proto::REDUCE_INF_NAN_THREE_SLOTS:
      return kSlots;
    default:
      return 0;
  }
}

// False for an empty message, which TensorFlow writes for an output that the mode does not apply
// to.
bool HasDtype(llvm::StringRef tensor_proto) {
  WireReader reader(tensor_proto);
  while (reader.Next()) {
    if (reader.Is(1, WireType::kVarint)) return reader.number() != proto::DT_INVALID;
  }
  return false;
}

int64_t CountAt(const Literal& summary, int column) {
  double value = summary.AsDouble(column);
  return value >= 0 && value < 9e18 ? static_cast<int64_t>(value) : 0;
}

DataType DtypeAt(const Literal& summary, int column) {
  int64_t number = CountAt(summary, column);
  bool known = number < 1000 && proto::DataType_IsValid(static_cast<int>(number));
  return known ? static_cast<DataType>(number) : proto::DT_INVALID;
}

void ReadBadCounts(const Literal& summary, int column, RecordedTensor* tensor) {
  tensor->health.neg_inf = CountAt(summary, column);
  tensor->health.pos_inf = CountAt(summary, column + 1);
  tensor->health.nan = CountAt(summary, column + 2);
  tensor->bad = tensor->health.IsBad();
}

void ReadFullHealth(const Literal& summary, RecordedTensor* tensor) {
  tensor->what = Recorded::kCounts;
  tensor->dtype = DtypeAt(summary, 2);
  tensor->rank = static_cast<int>(std::min<int64_t>(CountAt(summary, 3), 254));
  tensor->health.elements = CountAt(summary, 4);
  ReadBadCounts(summary, 5, tensor);
  tensor->health.negative = CountAt(summary, 8);
  tensor->health.zero = CountAt(summary, 9);
  tensor->health.positive = CountAt(summary, 10);
}

void ReadShape(const Literal& summary, RecordedTensor* tensor) {
  tensor->what = Recorded::kShape;
  tensor->dtype = DtypeAt(summary, 1);
  tensor->rank = static_cast<int>(std::min<int64_t>(CountAt(summary, 2), 254));
  tensor->health.elements = CountAt(summary, 3);
  tensor->dims.assign(std::max(tensor->rank - kShapeDims, 0), -1);
  for (int i = 0; i < std::min(tensor->rank, kShapeDims); ++i)
    tensor->dims.push_back(CountAt(summary, 4 + i));
}

void ReadSummary(TensorDebugMode mode, const Literal& summary, RecordedTensor* tensor) {
  switch (mode) {
    case proto::CURT_HEALTH:
      tensor->what = Recorded::kBad;
      tensor->bad = summary.AsDouble(1) != 0;
      break;
    case proto::CONCISE_HEALTH:
      tensor->what = Recorded::kBadCounts;
      tensor->health.elements = CountAt(summary, 1);
      ReadBadCounts(summary, 2, tensor);
      break;
    case proto::FULL_HEALTH:
      ReadFullHealth(summary, tensor);
      break;
    case proto::REDUCE_INF_NAN_THREE_SLOTS:
      tensor->what = Recorded::kBad;
      tensor->health.neg_inf = std::isinf(summary.AsDouble(0));
      tensor->health.pos_inf = std::isinf(summary.AsDouble(1));
      tensor->health.nan = std::isnan(summary.AsDouble(2));
      tensor->bad = tensor->health.IsBad();
      break;
    default:
      ReadShape(summary, tensor);
  }
}

Expected<Health> HealthOfLiteral(const Literal& literal) {
  Literal counted = literal;
  if (literal.is_splat())
    counted = Literal::Make(literal.dtype(), {}, literal.bytes());  // a splat may be of any size
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::FromLiteral(counted));
  Health health = HealthOf(tensor);
  int64_t times = literal.is_splat() ? literal.num_elements() : 1;
  for (int64_t* count : {&health.elements, &health.neg_inf, &health.pos_inf, &health.nan,
                         &health.negative, &health.zero, &health.positive})
    *count *= times;
  return health;
}

Error ReadWholeTensor(const Literal& literal, RecordedTensor* tensor) {
  tensor->dtype = literal.dtype();
  tensor->rank = static_cast<int>(literal.dims().size());
  tensor->dims.assign(literal.dims().begin(), literal.dims().end());
  tensor->what = Recorded::kShape;
  tensor->health.elements = literal.num_elements();
  if (DataTypeSize(literal.dtype()) == 0 || !IsNumeric(literal.dtype())) return Error::success();
  ASSIGN_OR_RETURN(tensor->health, HealthOfLiteral(literal));
  tensor->what = Recorded::kCounts;
  tensor->bad = tensor->health.IsBad();
  return Error::success();
}

std::string Counted(llvm::StringRef name, int64_t count) {
  return name.str() + " x" + WithCommas(count);
}

void Append(std::string* list, const std::string& item) {
  *list += (list->empty() ? "" : ", ") + item;
}

}  // namespace

RecordedTensor ReadRecordedTensor(TensorDebugMode mode, llvm::StringRef tensor_proto,
                                  std::string* problem) {
  RecordedTensor tensor;
  int columns = NumColumns(mode);
  if ((columns == 0 && mode != proto::FULL_TENSOR) || !HasDtype(tensor_proto)) return tensor;
  auto literal = Literal::FromTensorProto(tensor_proto);
  if (!literal) {
    *problem = "its tensor cannot be read: " + TextOf(literal.takeError());
    return tensor;
  }
  if (mode == proto::FULL_TENSOR) {
    if (Error error = ReadWholeTensor(*literal, &tensor))
      *problem = "its tensor cannot be read: " + TextOf(std::move(error));
    return tensor;
  }
  bool is_number = IsFloating(literal->dtype()) || IsInteger(literal->dtype());
  if (!is_number || literal->num_elements() != columns) {
    *problem = llvm::formatv("its {0} summary has {1} numbers, {2} were expected",
                             DebugModeName(mode), is_number ? literal->num_elements() : 0, columns)
                   .str();
    return tensor;
  }
  ReadSummary(mode, *literal, &tensor);
  return tensor;
}

RecordedTensor ReadV1Summary(llvm::StringRef debug_op, llvm::StringRef tensor_proto,
                             std::string* problem) {
  RecordedTensor tensor;
  auto literal = Literal::FromTensorProto(tensor_proto);
  if (!literal) {
    *problem = TextOf(literal.takeError());
    return tensor;
  }
  if (debug_op.starts_with("DebugNanCount") && literal->num_elements() == 1) {
    tensor.what = Recorded::kBad;
    tensor.health.nan = CountAt(*literal, 0);
    tensor.bad = tensor.health.nan > 0;
    return tensor;
  }
  // The elements of the summary: is initialized, number of elements, counts of NaN, -inf, negative,
  // zero, positive and +inf, then minimum, maximum, mean, variance, dtype, rank, dimensions.
  constexpr int kDtype = 12, kRank = 13, kDims = 14;
  if (!debug_op.starts_with("DebugNumericSummary") || literal->num_elements() < kDims) {
    *problem = llvm::formatv("{0} wrote {1} numbers, a summary of {2} or more was expected",
                             debug_op, literal->num_elements(), kDims)
                   .str();
    return tensor;
  }
  if (CountAt(*literal, 0) == 0) return tensor;
  tensor.what = Recorded::kCounts;
  tensor.health.elements = CountAt(*literal, 1);
  tensor.health.nan = CountAt(*literal, 2);
  tensor.health.neg_inf = CountAt(*literal, 3);
  tensor.health.negative = CountAt(*literal, 4);
  tensor.health.zero = CountAt(*literal, 5);
  tensor.health.positive = CountAt(*literal, 6);
  tensor.health.pos_inf = CountAt(*literal, 7);
  tensor.bad = tensor.health.IsBad();
  tensor.dtype = DtypeAt(*literal, kDtype);
  tensor.rank = static_cast<int>(
      std::min<int64_t>(CountAt(*literal, kRank), literal->num_elements() - kDims));
  for (int i = 0; i < tensor.rank; ++i) tensor.dims.push_back(CountAt(*literal, kDims + i));
  return tensor;
}

std::string BadText(const RecordedTensor& tensor) {
  if (!tensor.bad) return "";
  std::string text;
  if (tensor.what == Recorded::kBad) {  // which kinds are present may be known, not how many
    for (const std::string& kind : BadKinds(tensor)) Append(&text, kind == "nan" ? "NaN" : kind);
    return text.empty() ? "inf or NaN" : text;
  }
  if (tensor.health.nan) Append(&text, Counted("NaN", tensor.health.nan));
  if (tensor.health.pos_inf) Append(&text, Counted("+inf", tensor.health.pos_inf));
  if (tensor.health.neg_inf) Append(&text, Counted("-inf", tensor.health.neg_inf));
  return text;
}

std::vector<std::string> BadKinds(const RecordedTensor& tensor) {
  std::vector<std::string> kinds;
  if (tensor.what < Recorded::kBad) return kinds;
  if (tensor.health.pos_inf) kinds.push_back("+inf");
  if (tensor.health.neg_inf) kinds.push_back("-inf");
  if (tensor.health.nan) kinds.push_back("nan");
  return kinds;
}

std::string RecordedTensorText(const RecordedTensor& tensor) {
  if (tensor.what == Recorded::kNothing) return "not recorded";
  if (tensor.what == Recorded::kBad) return tensor.bad ? "holds " + BadText(tensor) : "finite";
  std::string head;
  if (tensor.dtype != proto::DT_INVALID) head = DataTypeName(tensor.dtype).str();
  std::string dims;
  for (int64_t dim : tensor.dims)
    dims += (dims.empty() ? "" : ",") + (dim < 0 ? "?" : std::to_string(dim));
  if (tensor.rank >= 0 && static_cast<size_t>(tensor.rank) == tensor.dims.size()) {
    head += "[" + dims + "]";
  } else if (tensor.rank >= 0) {
    head += llvm::formatv(" {0}-D", tensor.rank).str();
  }
  Append(&head, Plural(tensor.health.elements, "element"));
  if (tensor.what == Recorded::kShape) return head;
  std::string counts = BadText(tensor);
  if (tensor.what == Recorded::kBadCounts) return head + (tensor.bad ? ": " + counts : ": finite");
  if (tensor.health.negative) Append(&counts, Counted("negative", tensor.health.negative));
  if (tensor.health.zero) Append(&counts, Counted("zero", tensor.health.zero));
  if (tensor.health.positive) Append(&counts, Counted("positive", tensor.health.positive));
  return counts.empty() ? head : head + ": " + counts;
}

std::string DebugModeName(TensorDebugMode mode) {
  const std::string& name = proto::TensorDebugMode_Name(mode);
  return name.empty() ? "mode " + std::to_string(static_cast<int>(mode)) : name;
}

}  // namespace grapnel
