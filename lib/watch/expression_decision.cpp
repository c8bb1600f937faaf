// Evaluates expressions before a run, from shapes, dtypes and constants (TensorExpression::Decide).
#include "lib/watch/expression_value.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

using ExpressionNode = TensorExpression::Node;
using Form = TensorExpression::Form;

// The known facts about a subexpression: its value; or, for a shape, its sizes, each of which may
// be unknown.
struct Known {
  std::optional<ExpressionValue> value;
  std::optional<std::vector<int64_t>> sizes;  // negative: unknown; kAnySize: `?`
  std::optional<bool> truth() const;
};

// Stands for `?` in `sizes`. Unknown dimensions have other negative numbers.
constexpr int64_t kAnySize = INT64_MIN;

Known OfNumber(int64_t number, DataType dtype = proto::DT_INT64) {
  Known known;
  known.value.emplace();
  known.value->numbers.dtype = dtype;
  known.value->numbers.values = {static_cast<NumberArray::Number>(number)};
  return known;
}
Known OfTruth(std::optional<bool> truth) {
  return truth ? OfNumber(*truth ? 1 : 0, proto::DT_BOOL) : Known();
}

std::optional<bool> Known::truth() const {
  if (!value) return std::nullopt;
  auto numbers = NumbersOf(*value);
  if (!numbers) {
    llvm::consumeError(numbers.takeError());
    return std::nullopt;
  }
  bool is_true = true;
  for (size_t i = 0; i < numbers->values.size(); ++i)
    is_true &= numbers->values[i] != 0 || (numbers->IsComplex() && numbers->imaginary[i] != 0);
  return is_true;
}

class Decider {
 public:
  explicit Decider(const TensorExpression::FormLookup& lookup) : lookup_(lookup) {}

  Known Of(const ExpressionNode& node) {
    if (IsConstant(node)) return OfConstant(node);
    if (node.kind == ExpressionNode::Kind::kTensor) {
      Known known;
      if (Form form = lookup_(node.name); form.value)
        known.value = ExpressionValue{form.value, {}, {}};
      return known;
    }
    if (node.kind == ExpressionNode::Kind::kSlice) return OfSlice(node);
    bool asks_form = node.operands.size() == 1 &&
                     node.operands[0].kind == ExpressionNode::Kind::kTensor &&
                     llvm::is_contained({"ndim", "rank", "shape", "size", "dtype"}, node.name);
    if (asks_form) return OfForm(node.name, lookup_(node.operands[0].name));
    std::vector<Known> operands;
    for (const ExpressionNode& operand : node.operands) operands.push_back(Of(operand));
    if (node.name == "same") return Same(operands[0], operands[1]);
    if (node.name == "and" || node.name == "or") return Join(node, operands);
    return Call(node, std::move(operands));
  }

 private:
  static Known OfConstant(const ExpressionNode& node) {
    Known known;
    ExpressionValue value = ConstantOf(node);
    if (node.kind == ExpressionNode::Kind::kList) {
      known.sizes.emplace();
      for (size_t i = 0; i < value.numbers.values.size(); ++i) {
        bool is_any = i < value.is_any.size() && value.is_any[i];
        known.sizes->push_back(is_any ? kAnySize : SizeOf(value.numbers.values[i]));
      }
    }
    if (value.is_any.empty()) known.value = std::move(value);
    return known;
  }

  static Known OfForm(llvm::StringRef what, const Form& form) {
    Known known;
    if (what == "dtype") {
      if (form.dtype == proto::DT_INVALID) return known;
      ExpressionNode text;
      text.kind = ExpressionNode::Kind::kText;
      text.name = DataTypeName(form.dtype).str();
      known.value = ConstantOf(text);
      return known;
    }
    if (!form.shape.known_rank()) return known;
    if (what == "ndim" || what == "rank") return OfNumber(form.shape.rank());
    if (what == "size") {
      auto elements = form.shape.NumElements();
      return elements ? OfNumber(*elements) : known;
    }
    known.sizes = form.shape.dims().vec();
    if (form.shape.IsFullyKnown()) {
      known.value.emplace();
      known.value->numbers.dtype = proto::DT_INT64;
      known.value->numbers.dims = {form.shape.rank()};
      known.value->numbers.values.assign(known.sizes->begin(), known.sizes->end());
    }
    return known;
  }

  // Evaluates a slice: one size of a shape, or a slice of a known value.
  Known OfSlice(const ExpressionNode& node) {
    Known whole = Of(node.operands[0]);
    bool is_index = node.slice.size() == 1 && node.slice[0].kind == SlicePart::Kind::kIndex;
    if (whole.sizes && is_index) {
      int64_t size = static_cast<int64_t>(whole.sizes->size()), index = node.slice[0].index;
      if (index < 0) index += size;
      if (index < 0 || index >= size || (*whole.sizes)[index] < 0) return Known();
      return OfNumber((*whole.sizes)[index]);
    }
    Known known;
    if (!whole.value) return known;
    auto tensor = TensorOf(std::move(*whole.value));
    auto sliced = tensor ? SliceTensor(*tensor, node.slice) : tensor.takeError();
    if (sliced)
      known.value = ExpressionValue{std::move(*sliced), {}, {}};
    else
      llvm::consumeError(sliced.takeError());
    return known;
  }

  static Known Same(const Known& a, const Known& b) {
    if (!a.sizes || !b.sizes || a.sizes->size() != b.sizes->size())
      return OfTruth(a.sizes && b.sizes ? std::optional(false) : std::nullopt);
    std::vector<int64_t> left = *a.sizes, right = *b.sizes;
    for (size_t i = 0; i < left.size(); ++i) {
      // `?` matches any size of the other shape.
      if (left[i] == kAnySize || right[i] == kAnySize) left[i] = right[i] = 0;
    }
    return OfTruth(AreSameSizes(left, right));
  }

  // Evaluates `and` and `or`: one operand may decide the result although the other is unknown.
  static Known Join(const ExpressionNode& node, llvm::ArrayRef<Known> operands) {
    bool decides = node.name == "or";
    bool all_known = true;
    for (const Known& operand : operands) {
      std::optional<bool> truth = operand.truth();
      if (truth == decides) return OfTruth(decides);
      all_known &= truth.has_value();
    }
    return all_known ? OfTruth(!decides) : Known();
  }

  static Known Call(const ExpressionNode& node, std::vector<Known> operands) {
    std::vector<ExpressionValue> values;
    for (Known& operand : operands) {
      if (!operand.value) return Known();
      values.push_back(std::move(*operand.value));
    }
    auto made = CallOn(node, std::move(values));
    Known known;
    if (made)
      known.value = std::move(*made);
    else
      llvm::consumeError(made.takeError());  // evaluation in the run reports the error again
    return known;
  }

  const TensorExpression::FormLookup& lookup_;
};

}  // namespace

std::optional<bool> TensorExpression::Decide(const FormLookup& lookup) const {
  return Decider(lookup).Of(*root_).truth();
}

}  // namespace grapnel
