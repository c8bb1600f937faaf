#include "lib/serve/work/typed_value.h"

#include <cmath>
#include <cstring>
#include <random>

#include "lib/support/text.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

constexpr int kDeepest = 32;

// Parses nested lists in brackets.
class ListReader {
 public:
  explicit ListReader(llvm::StringRef text) : rest_(text) {}

  Error Read() {
    RETURN_IF_ERROR(ReadItem(0));
    SkipSpace();
    if (leaf_depth_ >= 0 && leaf_depth_ != static_cast<int>(dims.size())) return Ragged();
    if (!rest_.empty()) return MakeError("cannot read '{0}' after the value", rest_.take_front(20));
    return Error::success();
  }

  Dims dims;
  std::vector<std::string> elements;
  bool is_list = false;

 private:
  void SkipSpace() { rest_ = rest_.ltrim(" \t\r\n"); }

  Error ReadItem(int depth) {
    SkipSpace();
    if (!rest_.consume_front("[")) return ReadElement(depth);
    is_list = true;
    if (depth == kDeepest) return MakeError("more than {0} nested brackets", kDeepest);
    if (leaf_depth_ >= 0 && depth >= leaf_depth_) return Ragged();
    int64_t count = 0;
    for (SkipSpace(); !rest_.consume_front("]"); ++count) {
      if (count > 0 && !rest_.consume_front(","))
        return MakeError("expected ',' or ']' before '{0}'", rest_.take_front(20));
      RETURN_IF_ERROR(ReadItem(depth + 1));
      SkipSpace();
    }
    if (static_cast<int>(dims.size()) <= depth) dims.resize(depth + 1, -1);
    if (dims[depth] >= 0 && dims[depth] != count) return Ragged();
    dims[depth] = count;
    return Error::success();
  }

  Error ReadElement(int depth) {
    if (leaf_depth_ < 0) leaf_depth_ = depth;
    if (leaf_depth_ != depth) return Ragged();
    if (rest_.consume_front("\"")) return ReadString();
    llvm::StringRef word = rest_.take_until(
        [](char c) { return c == ',' || c == ']' || c == '[' || llvm::isSpace(c); });
    if (word.empty()) return MakeError("a value is missing before '{0}'", rest_.take_front(20));
    rest_ = rest_.drop_front(word.size());
    elements.push_back(word.str());
    return Error::success();
  }

  Error ReadString() {
    std::string text;
    while (!rest_.empty() && rest_[0] != '"') {
      if (rest_[0] == '\\' && rest_.size() > 1) rest_ = rest_.drop_front();
      text += rest_[0];
      rest_ = rest_.drop_front();
    }
    if (!rest_.consume_front("\"")) return MakeError("a string without its closing '\"'");
    elements.push_back(std::move(text));
    return Error::success();
  }

  static Error Ragged() {
    return MakeError("the lists have different lengths or depths, so they are not a tensor");
  }

  llvm::StringRef rest_;
  int leaf_depth_ = -1;
};

Error NotA(llvm::StringRef text, DataType dtype) {
  return MakeError("'{0}' is not a value of {1}", text, DataTypeName(dtype));
}

Expected<std::string> ElementBytes(llvm::StringRef text, DataType dtype) {
  if (dtype == proto::DT_BOOL) {
    bool is_true = text == "true" || text == "1";
    if (!is_true && text != "false" && text != "0") return NotA(text, dtype);
    return Literal::Scalar(dtype, is_true).bytes().str();
  }
  if (dtype == proto::DT_UINT64) {
    uint64_t integer = 0;
    if (text.getAsInteger(10, integer)) return NotA(text, dtype);
    return Literal::Integers(dtype, {}, {static_cast<int64_t>(integer)}).bytes().str();
  }
  if (IsInteger(dtype)) {
    int64_t integer = 0;
    if (text.getAsInteger(10, integer)) return NotA(text, dtype);
    Literal literal = Literal::Integers(dtype, {}, {integer});
    if (literal.AsInt(0) != integer) return NotA(text, dtype);
    return literal.bytes().str();
  }
  double number = 0;
  if (text.getAsDouble(number)) return NotA(text, dtype);
  return Literal::Scalar(dtype, number).bytes().str();
}

Error CheckSize(DataType dtype, llvm::ArrayRef<int64_t> dims) {
  std::optional<int64_t> count = NumElements(dims);
  int64_t size = std::max<int64_t>(DataTypeSize(dtype), sizeof(std::string) * !DataTypeSize(dtype));
  if (count && *count <= kLargestFill / size) return Error::success();
  return MakeError(
      "a tensor {0}{1} is too large to be made here (at most {2}): choose a .npy file instead",
      DataTypeName(dtype), DimsText(dims), HumanBytes(kLargestFill));
}

Error CheckElements(DataType dtype) {
  if (dtype == proto::DT_STRING || DataTypeSize(dtype) > 0) return Error::success();
  return MakeError("a value of dtype {0} can be neither typed nor filled", DataTypeName(dtype));
}

// Makes a literal from its elements in order, or from one element that is repeated.
Literal MakeLiteral(DataType dtype, llvm::ArrayRef<int64_t> dims,
                    std::vector<std::string> elements) {
  if (dtype == proto::DT_STRING) return Literal::MakeStrings(dims, std::move(elements));
  return Literal::Make(dtype, dims, llvm::join(elements, ""));
}

}  // namespace

Expected<Dims> ParseDims(llvm::StringRef text) {
  text = text.trim();
  if (text.consume_front("[") && !text.consume_back("]"))
    return MakeError("shape '[{0}': ']' is missing", text);
  Dims dims;
  for (const std::string& item : SplitList(text)) {
    int64_t dim = 0;
    if (llvm::StringRef(item).getAsInteger(10, dim) || dim < 0)
      return MakeError("shape '{0}': '{1}' is not a dimension", text, item);
    dims.push_back(dim);
  }
  return dims;
}

Expected<Tensor> ParseTypedValue(llvm::StringRef text, DataType dtype,
                                 llvm::ArrayRef<int64_t> dims) {
  RETURN_IF_ERROR(CheckElements(dtype));
  ListReader reader(text);
  RETURN_IF_ERROR(reader.Read());
  std::vector<std::string> elements;
  for (const std::string& element : reader.elements) {
    if (dtype == proto::DT_STRING) {
      elements.push_back(element);
      continue;
    }
    ASSIGN_OR_RETURN(std::string bytes, ElementBytes(element, dtype));
    elements.push_back(std::move(bytes));
  }
  bool laid_out =
      !reader.is_list || (reader.dims.size() == 1 && NumElements(dims) == reader.dims[0]);
  llvm::ArrayRef<int64_t> shape = laid_out ? dims : llvm::ArrayRef<int64_t>(reader.dims);
  RETURN_IF_ERROR(CheckSize(dtype, shape));
  return Tensor::FromLiteral(MakeLiteral(dtype, shape, std::move(elements)));
}

Expected<Tensor> FilledTensor(Fill fill, DataType dtype, llvm::ArrayRef<int64_t> dims,
                              uint64_t seed) {
  RETURN_IF_ERROR(CheckElements(dtype));
  RETURN_IF_ERROR(CheckSize(dtype, dims));
  bool is_string = dtype == proto::DT_STRING;
  if (fill != Fill::kNormal) {
    std::string one = fill == Fill::kOnes ? "1" : is_string ? "" : "0";
    std::string element = one;
    if (!is_string) element = Literal::Scalar(dtype, fill == Fill::kOnes).bytes().str();
    return Tensor::FromLiteral(MakeLiteral(dtype, dims, {element}));
  }
  if (is_string) return MakeError("strings cannot be filled with random numbers");
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, dims));
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  char* at = static_cast<char*>(tensor.raw());
  for (int64_t i = 0; i < tensor.num_elements(); ++i, at += DataTypeSize(dtype)) {
    double value = normal(random);
    if (dtype == proto::DT_FLOAT) {
      float narrow = static_cast<float>(value);
      std::memcpy(at, &narrow, sizeof narrow);
      continue;
    }
    if (IsInteger(dtype)) value = std::floor(std::fabs(value));
    if (dtype == proto::DT_BOOL) value = value > 0;
    Literal scalar = Literal::Scalar(dtype, value);
    std::memcpy(at, scalar.bytes().data(), scalar.bytes().size());
  }
  return tensor;
}

}  // namespace grapnel
