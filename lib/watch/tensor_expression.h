// What a person asks of tensors: `max(abs(x:0)) > 1e3`, `logits:0[0, :5]`, `np.sum(`a/b:0`)`.
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

// An expression of Python's and NumPy's form that was read.
//
//   x:0  scope/y  `scope/any-name:1`   a tensor; a name in backquotes has any characters, else
//                                      letters, digits, _ . / and an index
//   x[0, :, 1:-1:2, ...]               a slice; of one that is sliced, too
//   + - * / // % **  == != < <= > >=   element by element, broadcast; `/` with blanks around it
//   and or not & | ~                   of truth; `and`, `or`, `not` take a number or one element
//   abs(x), max(x), max(x, axis=1) ... see FunctionNames(); "np.", "tf." before them is left out,
//                                      and x.max() is max(x)
//   shape(x) == [?, 10]                as a whole; `?` and None are any size; rank(x), size(x)
//   dtype(x) == float                  or float32, 'float'
//   sum(x) == 1 +- 1e-5                both sides no further apart than that; not with !=, too
//   s == 'text'                        strings
//
// Results have NumPy 2's dtypes: sums of small integers are int64, means of integers float64, a
// number that is typed takes the dtype of the tensor beside it. All is computed in long double and
// then rounded, so that a sum may be nearer to the truth than NumPy's.
class TensorExpression {
 public:
  // The tensor of a name as it was typed; an error is given to the person.
  using Lookup = std::function<Expected<Tensor>(llvm::StringRef name)>;

  // Errors say the column, and what was expected.
  static Expected<TensorExpression> Parse(llvm::StringRef text);
  // The same of what `text` begins with, as much as is an expression; leaves the rest, without
  // blanks before it. Of an error: what cannot be read begins at `text`.
  static Expected<TensorExpression> ParseFirst(llvm::StringRef* text);

  // Errors: those of `lookup`; shapes that do not broadcast, an index out of range, a dtype without
  // numbers where they are computed with. A tensor that is only sliced keeps dtype and bits.
  Expected<Tensor> Evaluate(const Lookup& lookup) const;
  // The same of a question: whether it is true. Errors: it has no one element.
  Expected<bool> IsTrue(const Lookup& lookup) const;

  // Whether all of a question's elements are true.
  Expected<bool> AreTrue(const Lookup& lookup) const;

  // What is known of a tensor before anything runs.
  struct Form {
    DataType dtype = proto::DT_INVALID;
    Shape shape;
    Tensor value;  // of a constant
  };
  using FormLookup = std::function<Form(llvm::StringRef name)>;
  // Whether all elements are true whatever runs; nullopt: that is not known.
  std::optional<bool> Decide(const FormLookup& lookup) const;

  // What is compared, where the expression is a comparison, else all of it: for messages. Cost: as
  // Evaluate().
  std::vector<std::pair<std::string, Tensor>> Sides(const Lookup& lookup) const;

  const std::string& text() const { return text_; }
  // The tensors that are named, each once, in order.
  std::vector<std::string> Tensors() const;

  struct Node;

 private:
  std::string text_;
  std::shared_ptr<const Node> root_;
};

// What one may call, sorted: "abs", "all", "argmax", ...
std::vector<std::string> FunctionNames();

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_TENSOR_EXPRESSION_H_
