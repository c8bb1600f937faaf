// The values of a traced function: tensors that will exist when the graph runs or, in eager mode,
// exist already.
#ifndef GRAPNEL_LIB_TRACE_VALUE_H_
#define GRAPNEL_LIB_TRACE_VALUE_H_

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "lib/ir/graph.h"
#include "lib/ir/literal.h"
#include "lib/ir/shape.h"
#include "lib/ir/types.h"
#include "lib/support/error.h"
#include "lib/support/public.h"

namespace grapnel {

class Operand;
class Tensor;     // lib/exec/tensor.h
class TraceBody;  // lib/trace/body.h

// The object behind a Value or Operation in eager mode. Counts its owners, which are used on one
// thread at a time; the last owner deletes it and its tensor. May outlive its Tracer.
class GRAPNEL_PUBLIC EagerObject {
 public:
  EagerObject(TraceBody* body, bool is_operation) : body(body), is_operation(is_operation) {}
  EagerObject(const EagerObject&) = delete;
  EagerObject& operator=(const EagerObject&) = delete;
  virtual ~EagerObject();

  TraceBody* const body;
  const bool is_operation;
  uint32_t owners = 0;
};

// The body of a traced value, or the object of an eager one: one word, whose lowest bit says which
// of the two it is.
class GRAPNEL_PUBLIC ValueHome {
 public:
  ValueHome() = default;
  ValueHome(TraceBody* body) : bits_(reinterpret_cast<uintptr_t>(body)) {}
  ValueHome(EagerObject* object) : bits_(reinterpret_cast<uintptr_t>(object) | 1) {
    ++object->owners;
  }
  ValueHome(const ValueHome& other) noexcept : bits_(other.bits_) {
    if (EagerObject* shared = object()) ++shared->owners;
  }
  ValueHome& operator=(const ValueHome& other) noexcept {
    if (EagerObject* shared = other.object()) ++shared->owners;
    Release();
    bits_ = other.bits_;
    return *this;
  }
  ~ValueHome() { Release(); }
  bool operator==(const ValueHome& other) const { return bits_ == other.bits_; }

  // One word holds either of two pointers, hence the casts, because values are copied very often.
  EagerObject* object() const {  // null for a traced value
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return (bits_ & 1) != 0 ? reinterpret_cast<EagerObject*>(bits_ - 1) : nullptr;
  }
  TraceBody* body() const {
    EagerObject* shared = object();
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return shared ? shared->body : reinterpret_cast<TraceBody*>(bits_);
  }

 private:
  void Release() {
    EagerObject* shared = object();
    if (shared && --shared->owners == 0) delete shared;
  }
  uintptr_t bits_ = 0;
};

// The line of the user's program that an op comes from. As a default argument, SourceLocation() is
// the caller's line. The strings are the compiler's and live as long as the program.
struct GRAPNEL_PUBLIC SourceLocation {
  explicit SourceLocation(const char* file = __builtin_FILE(), int line = __builtin_LINE(),
                          const char* function = __builtin_FUNCTION())
      : file(file), line(line), function(function) {}
  // For nodes that no line of the user's program makes; messages then name no line.
  static SourceLocation Unknown() { return SourceLocation("", 0, ""); }
  bool is_known() const { return *file != '\0'; }
  const char* file;
  int line;
  const char* function;
};

// One output of a node that is being traced, or, in eager mode, a tensor (lib/trace/eager.h). Two
// words, cheap to copy; valid while its Tracer lives. Copies of an eager value keep its tensor
// alive.
//
// An operator makes the nodes that TensorFlow's Python operator makes, with the same names (`x +
// 1.0f` is `add`, its constant `add/y`). A C++ number takes the dtype of the other operand. Two
// values of different dtypes are an error, as in TensorFlow: nothing is cast silently. `/` is true
// division, which casts integers to floating point; FloorDiv is Python's `//`, and `%` is the
// remainder of FloorDiv, which has the sign of the divisor.
//
// C++ does not define which side of an operator is evaluated first. If both sides make nodes, their
// order and numbers (add, add_1) depend on the compiler: give one side a name on a line of its own.
//
// After an error the result is a value that is not ok(). The Tracer keeps the error with the line
// of the user's program; results computed from such a value are not ok() either and add no errors.
class GRAPNEL_PUBLIC Value {
 public:
  Value() = default;
  Value(const ValueHome& home, Port port) : home_(home), port_(port) {}

  bool ok() const { return port_.node != kNoNode; }
  DataType dtype() const;    // DT_INVALID if not ok()
  Shape shape() const;       // as far as it is known before running
  std::string name() const;  // "mean/Sum:0"; of an eager value its op, or "constant"
  // Eager mode only. Errors: the error because of which the value is not ok(); a traced value,
  // which has no tensor before its graph runs.
  Expected<Tensor> tensor() const;
  TraceBody* body() const { return home_.body(); }
  const ValueHome& home() const { return home_; }
  bool IsSame(const Value& other) const { return home_ == other.home_ && port_ == other.port_; }
  // For an eager value: its port in the recording (the ops that tapes and hooks see), if it is
  // recorded.
  Port port() const { return home_.object() ? RecordedPort() : port_; }

  // A traced tensor has no truth value: see Tracer::If.
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
  // & and | are logical for bool, bitwise for integers.
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
  // An operator without a second operand cannot capture the caller's line; it uses the line of x.
  static Value Negate(const Value& x);
  static Value Not(const Value& x);
  Port RecordedPort() const;

  ValueHome home_;
  Port port_;
};

using Values = std::vector<Value>;

// A node that is being traced or, in eager mode, an op that has run. Used as a Value, it is its
// first output.
class GRAPNEL_PUBLIC Operation {
 public:
  Operation() = default;
  Operation(const ValueHome& home, NodeId node) : home_(home), node_(node) {}
  Operation(const Value& value)
      : home_(value.home()), node_(value.ok() ? value.port().node : kNoNode) {}

  bool ok() const { return node_ != kNoNode || (home_.object() && IsEagerOk()); }
  int num_outputs() const;        // 1 if made from an eager value
  Value output(int i = 0) const;  // not ok() if there is no such output
  operator Value() const { return output(0); }
  std::string name() const;
  TraceBody* body() const { return home_.body(); }
  const ValueHome& home() const { return home_; }
  NodeId node() const { return node_; }

 private:
  bool IsEagerOk() const;

  ValueHome home_;
  NodeId node_ = kNoNode;
};

// An input of an op: a value, a list of values, or a constant that becomes a Const node named after
// the op's argument (`Sum/reduction_indices`). Numbers, and vectors of numbers, are converted to
// the op's dtype; errors are an integer that does not fit, a float for an integer dtype, and a bool
// for a number or the reverse. A Literal keeps its own dtype. An Operand is constructed at the
// call, so that it records the caller's line.
class GRAPNEL_PUBLIC Operand {
 public:
  Operand(const Value& value, SourceLocation where = SourceLocation())
      : where(where), kind(kValue), values(1, value) {}
  Operand(const Operation& op, SourceLocation where = SourceLocation())
      : Operand(op.output(), where) {}
  Operand(const Values& values, SourceLocation where = SourceLocation())
      : where(where), kind(kList), values(values.begin(), values.end()) {}
  // Reads a Variable (lib/trace/variable.h).
  template <typename T, std::enable_if_t<T::kIsVariable, int> = 0>
  Operand(const T& variable, SourceLocation where = SourceLocation())
      : Operand(static_cast<Value>(variable), where) {}
  Operand(Literal literal, SourceLocation where = SourceLocation())
      : where(where), kind(kLiteral), literal(std::move(literal)) {}
  Operand(llvm::StringRef text, SourceLocation where = SourceLocation())
      : where(where), kind(kLiteral), literal(Literal::MakeStrings({}, {text.str()})) {}
  Operand(const char* text, SourceLocation where = SourceLocation())
      : Operand(llvm::StringRef(text), where) {}
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Operand(T number, SourceLocation where = SourceLocation())
      : where(where), kind(kNumbers), literal(LiteralOf<T>({}, &number, 1)) {}
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Operand(std::initializer_list<T> numbers, SourceLocation where = SourceLocation())
      : Operand(std::vector<T>(numbers), where) {}
  // Rows of equal length, {{1, 2}, {3, 4}}, and deeper nesting; unequal lengths are an error when
  // an op takes the operand.
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Operand(std::initializer_list<std::initializer_list<T>> rows,
          SourceLocation where = SourceLocation())
      : where(where), kind(kNumbers), literal(LiteralOfRows<T>(rows)) {}
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Operand(std::initializer_list<std::initializer_list<std::initializer_list<T>>> blocks,
          SourceLocation where = SourceLocation())
      : where(where), kind(kNumbers), literal(LiteralOfRows<T>(blocks)) {}
  template <typename T>
  Operand(const std::vector<std::vector<T>>& rows, SourceLocation where = SourceLocation())
      : where(where), kind(kNumbers), literal(LiteralOfRows<Element<T>>(rows)) {}
  Operand(std::vector<std::string> texts, SourceLocation where = SourceLocation())
      : where(where),
        kind(kLiteral),
        literal(Literal::MakeStrings({static_cast<int64_t>(texts.size())}, std::move(texts))) {}
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Operand(const std::vector<T>& numbers, SourceLocation where = SourceLocation())
      : where(where),
        kind(kNumbers),
        literal(
            LiteralOf<T>({static_cast<int64_t>(numbers.size())}, numbers.data(), numbers.size())) {}

  static constexpr const char* kUnequalRows = "rows of different lengths";
  // True if the operand was made of rows of unequal lengths; making a tensor of it is an error.
  bool IsRagged() const { return kind == kNumbers && literal.dtype() == proto::DT_STRING; }

  SourceLocation where;
  enum Kind { kValue, kList, kLiteral, kNumbers } kind;
  llvm::SmallVector<Value, 1> values;  // the value, or the list of values
  Literal literal;                     // for kNumbers, in the dtype of the C++ type

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
  // The element type of nested vectors.
  template <typename T>
  struct ElementOf {
    using Type = T;
  };
  template <typename T>
  struct ElementOf<std::vector<T>> : ElementOf<T> {};
  template <typename T>
  using Element = typename ElementOf<T>::Type;

  // Appends the numbers of nested lists; false if two lists at one level differ in length.
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
    // Numbers never have a string dtype, so a string Literal marks unequal rows: IsRagged.
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
