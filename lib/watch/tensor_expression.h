// Expressions over tensors: `max(abs(x:0)) > 1e3`, `logits:0[0, :5]`, `np.sum(`a/b:0`)`.
#ifndef GRAPNEL_LIB_WATCH_TENSOR_EXPRESSION_H_
#define GRAPNEL_LIB_WATCH_TENSOR_EXPRESSION_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/watch/number_array.h"

namespace grapnel {

// A parsed expression in the style of Python and NumPy.
//
//   x:0  scope/y  `scope/any-name:1`   a tensor; a name in backquotes has any characters, else
//                                      letters, digits, _ . / and an index
//   x[0, :, 1:-1:2, ...]               a slice; also of a slice
//   + - * / // % **  == != < <= > >=   elementwise, broadcast; `/` needs blanks around it
//   and or not & | ~                   logical; `and`, `or` take one element each; ~ of integers is
//                                      bitwise
//   abs(x), max(x), max(x, axis=1) ... see FunctionNames(); a prefix "np." or "tf." is ignored,
//                                      and x.max() is max(x)
//   shape(x) == [?, 10]                compared as a whole; `?` and None match any size; rank(x),
//                                      size(x)
//   dtype(x) == float                  or float32, 'float'
//   sum(x) == 1 +- 1e-5                the sides differ by at most that much; != negates it
//   s == 'text'                        strings
//
// Results have NumPy 2's dtypes: sums of small integers are int64 or uint64, means of integers
// float64, a literal number takes the dtype of the tensor beside it if that can hold it.
// Computations are in long double and then rounded, so a sum may be more accurate than NumPy's.
class TensorExpression {
 public:
  // Returns the tensor for a name as the user typed it. The user sees its errors.
  using Lookup = std::function<Expected<Tensor>(llvm::StringRef name)>;

  // Most errors name the column and what was expected there.
  static Expected<TensorExpression> Parse(llvm::StringRef text);
  // Parses the longest expression at the beginning of `text`, and removes it and the blanks after
  // it from `text`. After an error `text` begins at the unreadable part.
  static Expected<TensorExpression> ParseFirst(llvm::StringRef* text);

  // Errors: those of `lookup`; a tensor has no value; operands that do not fit, such as shapes that
  // do not broadcast, an index out of range, or strings in arithmetic. The slice of a tensor has
  // the tensor's dtype and bits.
  Expected<Tensor> Evaluate(const Lookup& lookup) const;
  // Evaluates the expression as a condition. Errors: those of Evaluate; the result does not have
  // exactly one element, or no numbers.
  Expected<bool> IsTrue(const Lookup& lookup) const;

  // True if all elements of the result are true.
  Expected<bool> AreTrue(const Lookup& lookup) const;

  // The facts about a tensor that are known before a run.
  struct Form {
    DataType dtype = proto::DT_INVALID;
    Shape shape;
    Tensor value;  // set for a constant
  };
  using FormLookup = std::function<Form(llvm::StringRef name)>;
  // Returns true if all elements are true in every run, false if in no run; nullopt if that is not
  // known before a run.
  std::optional<bool> Decide(const FormLookup& lookup) const;

  // Returns the text and the value of each side of a comparison that names a tensor, for error
  // messages; nothing if the expression is not a comparison. Omits a side that cannot be evaluated.
  // Costs as much as Evaluate().
  std::vector<std::pair<std::string, Tensor>> Sides(const Lookup& lookup) const;

  const std::string& text() const { return text_; }
  // The tensors in the expression, each once, in order.
  std::vector<std::string> Tensors() const;

  struct Node;

 private:
  std::string text_;
  std::shared_ptr<const Node> root_;
};

// Returns the names of all functions that expressions may call, sorted: "abs", "all", "argmax", ...
std::vector<std::string> FunctionNames();

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_TENSOR_EXPRESSION_H_
