// What a traced function computes with: tensors that will exist when the graph runs.
#ifndef GRAPNEL_LIB_TRACE_VALUE_H_
#define GRAPNEL_LIB_TRACE_VALUE_H_

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "lib/ir/graph.h"
#include "lib/ir/literal.h"
#include "lib/ir/shape.h"
#include "lib/ir/types.h"
#include "lib/support/public.h"

namespace grapnel {

class Operand;
class TraceBody;  // lib/trace/body.h

// The line of the user's program that an op comes from. As a default argument it is the caller's
// line. The strings are the compiler's and live as long as the program.
struct GRAPNEL_PUBLIC Where {
  explicit Where(const char* file = __builtin_FILE(), int line = __builtin_LINE(),
                 const char* function = __builtin_FUNCTION())
      : file(file), line(line), function(function) {}
  const char* file;
  int line;
  const char* function;
};

// One output of a node that is being traced. Two words, copied freely; good while its Tracer lives.
//
// An operator makes one node, named as TensorFlow's Python operators name theirs (`x + 1.0f` is
// `add`, its constant `add/y`). A C++ number takes the dtype of the value beside it. Two values of
// different dtypes are an error, as in TensorFlow: nothing is cast silently. `/` is true division,
// which turns integers into floating point; FloorDiv is Python's `//`, and `%` follows it: the
// result has the sign of the divisor.
//
// C++ does not say which side of an operator is computed first. Where both sides make nodes, whose
// order and numbers (add, add_1) then follow the compiler, give one side a name on a line of its
// own.
//
// What cannot be made gives a value that is not ok(); the error, with the line of the user's
// program, is kept by the Tracer, and what is computed from such a value is not ok() either and
// adds no error of its own.
class GRAPNEL_PUBLIC Value {
 public:
  Value() = default;
  Value(TraceBody* body, Port port) : body_(body), port_(port) {}

  bool ok() const { return port_.node != kNoNode; }
  DataType dtype() const;    // DT_INVALID when not ok()
  Shape shape() const;       // as far as it is known before running
  std::string name() const;  // "mean/Sum:0"
  TraceBody* body() const { return body_; }
  Port port() const { return port_; }

  // A tensor has no truth while it is traced: see Tracer::If.
  explicit operator bool() const = delete;

  friend GRAPNEL_PUBLIC Value operator+(const Operand& x, const Operand& y);
  friend GRAPNEL_PUBLIC Value operator-(const Operand& x, const Operand& y);
  friend GRAPNEL_PUBLIC Value operator*(const Operand& x, const Operand& y);
  friend GRAPNEL_PUBLIC Value operator/(const Operand& x, const Operand& y);
  friend GRAPNEL_PUBLIC Value operator%(const Operand& x, const Operand& y);
  friend GRAPNEL_PUBLIC Value operator<(const Operand& x, const Operand& y);
  friend GRAPNEL_PUBLIC Value operator<=(const Operand& x, const Operand& y);
  friend GRAPNEL_PUBLIC Value operator>(const Operand& x, const Operand& y);
  friend GRAPNEL_PUBLIC Value operator>=(const Operand& x, const Operand& y);
  friend GRAPNEL_PUBLIC Value operator==(const Operand& x, const Operand& y);
  friend GRAPNEL_PUBLIC Value operator!=(const Operand& x, const Operand& y);
  // & and |: of bool, or bit by bit of integers.
  friend GRAPNEL_PUBLIC Value operator&(const Operand& x, const Operand& y);
  friend GRAPNEL_PUBLIC Value operator|(const Operand& x, const Operand& y);
  friend GRAPNEL_PUBLIC Value FloorDiv(const Operand& x, const Operand& y);
  friend GRAPNEL_PUBLIC Value Pow(const Operand& x, const Operand& y);
  friend GRAPNEL_PUBLIC Value Maximum(const Operand& x, const Operand& y);
  friend GRAPNEL_PUBLIC Value Minimum(const Operand& x, const Operand& y);
  Value operator-() const { return Negate(*this); }
  Value operator!() const { return Not(*this); }
  Value& operator+=(const Operand& y);
  Value& operator-=(const Operand& y);
  Value& operator*=(const Operand& y);
  Value& operator/=(const Operand& y);

 private:
  // The caller's line is not to be had for an operator without a second operand: the value's own
  // stands for it.
  static Value Negate(const Value& x);
  static Value Not(const Value& x);

  TraceBody* body_ = nullptr;
  Port port_;
};

using Values = std::vector<Value>;

// A node that is being traced: what an op with no output, or with several, gives.
class GRAPNEL_PUBLIC Operation {
 public:
  Operation() = default;
  Operation(TraceBody* body, NodeId node) : body_(body), node_(node) {}
  Operation(const Value& value) : body_(value.body()), node_(value.port().node) {}

  bool ok() const { return node_ != kNoNode; }
  int num_outputs() const;
  Value output(int i = 0) const;  // not ok() when there is no such output
  operator Value() const { return output(0); }
  std::string name() const;
  TraceBody* body() const { return body_; }
  NodeId node() const { return node_; }

 private:
  TraceBody* body_ = nullptr;
  NodeId node_ = kNoNode;
};

// What an op takes: a value, a list of values, or a constant that becomes a Const node named after
// the op's argument
// (`Sum/reduction_indices`). Numbers, and vectors of them, become the dtype that the op takes where
// no digit is lost; a Literal keeps its own. Made where it is used, and so it knows the line.
class GRAPNEL_PUBLIC Operand {
 public:
  Operand(const Value& value, Where where = Where()) : where(where), kind(kValue), values{value} {}
  Operand(const Operation& op, Where where = Where()) : Operand(op.output(), where) {}
  Operand(Values values, Where where = Where())
      : where(where), kind(kList), values(std::move(values)) {}
  Operand(Literal literal, Where where = Where())
      : where(where), kind(kLiteral), literal(std::move(literal)) {}
  Operand(llvm::StringRef text, Where where = Where())
      : where(where), kind(kLiteral), literal(Literal::MakeStrings({}, {text.str()})) {}
  Operand(const char* text, Where where = Where()) : Operand(llvm::StringRef(text), where) {}
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Operand(T number, Where where = Where())
      : where(where), kind(kNumbers), literal(LiteralOf<T>({}, &number, 1)) {}
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Operand(std::initializer_list<T> numbers, Where where = Where())
      : Operand(std::vector<T>(numbers), where) {}
  // Rows of one length, {{1, 2}, {3, 4}}, and what is made of them; others are an error when used.
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Operand(std::initializer_list<std::initializer_list<T>> rows, Where where = Where())
      : where(where), kind(kNumbers), literal(LiteralOfRows<T>(rows)) {}
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Operand(std::initializer_list<std::initializer_list<std::initializer_list<T>>> blocks,
          Where where = Where())
      : where(where), kind(kNumbers), literal(LiteralOfRows<T>(blocks)) {}
  template <typename T>
  Operand(const std::vector<std::vector<T>>& rows, Where where = Where())
      : where(where), kind(kNumbers), literal(LiteralOfRows<Element<T>>(rows)) {}
  Operand(std::vector<std::string> texts, Where where = Where())
      : where(where),
        kind(kLiteral),
        literal(Literal::MakeStrings({static_cast<int64_t>(texts.size())}, std::move(texts))) {}
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Operand(const std::vector<T>& numbers, Where where = Where())
      : where(where),
        kind(kNumbers),
        literal(
            LiteralOf<T>({static_cast<int64_t>(numbers.size())}, numbers.data(), numbers.size())) {}

  static constexpr const char* kUnequalRows = "rows of different lengths";
  // Whether it was made of such rows: an error for whoever makes a tensor of it.
  bool IsRagged() const { return kind == kNumbers && literal.dtype() == proto::DT_STRING; }

  Where where;
  enum Kind { kValue, kList, kLiteral, kNumbers } kind;
  Values values;    // one, or the list's
  Literal literal;  // of kNumbers: in the dtype that C++ has

 private:
  template <typename T>
  static constexpr DataType TypeOfNumber() {
    if (std::is_same_v<T, bool>) return proto::DT_BOOL;
    if (std::is_floating_point_v<T>) return sizeof(T) == 4 ? proto::DT_FLOAT : proto::DT_DOUBLE;
    constexpr DataType kSigned[] = {proto::DT_INT8, proto::DT_INT16, proto::DT_INT32,
                                    proto::DT_INT64};
    constexpr DataType kUnsigned[] = {proto::DT_UINT8, proto::DT_UINT16, proto::DT_UINT32,
                                      proto::DT_UINT64};
    constexpr int kLog2 = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return std::is_signed_v<T> ? kSigned[kLog2] : kUnsigned[kLog2];
  }
  // What nested vectors are made of.
  template <typename T>
  struct ElementOf {
    using Type = T;
  };
  template <typename T>
  struct ElementOf<std::vector<T>> : ElementOf<T> {};
  template <typename T>
  using Element = typename ElementOf<T>::Type;

  // Appends the numbers of nested lists; false where two lists beside each other differ in length.
  template <typename T, typename Rows>
  static bool Flatten(const Rows& rows, size_t depth, std::vector<int64_t>& dims,
                      std::vector<T>& numbers) {
    if constexpr (std::is_arithmetic_v<Rows>) {
      numbers.push_back(rows);
      return true;
    } else {
      if (dims.size() == depth) dims.push_back(static_cast<int64_t>(rows.size()));
      bool fits = dims[depth] == static_cast<int64_t>(rows.size());
      for (const auto& row : rows) fits = Flatten<T>(row, depth + 1, dims, numbers) && fits;
      return fits;
    }
  }
  template <typename T, typename Rows>
  static Literal LiteralOfRows(const Rows& rows) {
    std::vector<int64_t> dims;
    std::vector<T> numbers;
    // Numbers are never a text: IsRagged.
    if (!Flatten<T>(rows, 0, dims, numbers)) return Literal::MakeStrings({}, {kUnequalRows});
    std::unique_ptr<T[]> elements(new T[numbers.size()]);  // vector<bool> has no array
    std::copy(numbers.begin(), numbers.end(), elements.get());
    return LiteralOf<T>(dims, elements.get(), numbers.size());
  }
  template <typename T>
  static Literal LiteralOf(llvm::ArrayRef<int64_t> dims, const T* data, size_t count) {
    return Literal::Make(TypeOfNumber<T>(), dims,
                         {reinterpret_cast<const char*>(data), count * sizeof(T)});
  }
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_VALUE_H_
