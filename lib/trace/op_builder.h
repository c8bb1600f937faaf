// The basis of the functions in lib/trace/*_ops.h: makes nodes that all have the source line of one
// call of the user. Private to lib/trace.
#ifndef GRAPNEL_LIB_TRACE_OP_BUILDER_H_
#define GRAPNEL_LIB_TRACE_OP_BUILDER_H_

#include <string>
#include <vector>

#include "lib/trace/body.h"
#include "lib/trace/tracer.h"

namespace grapnel {

// TensorFlow's graph seed if only the op has a seed.
constexpr int64_t kGraphSeed = 87654321;
// TensorFlow writes a tensor of equal numbers as a constant only if it has fewer elements than this
// and all its dimensions are known; else as a Fill.
constexpr int64_t kLargeConstant = 1000;

// Makes ops in the trace to which its values belong. If all values are default Values, there is no
// trace: every method then returns a default Value, and the op that takes it reports the error.
class OpBuilder {
 public:
  OpBuilder(Tracer& t, const SourceLocation& where) : state_(&t.state()), where_(where) {}
  OpBuilder(const Value& x, const SourceLocation& where)
      : state_(x.body() ? x.body()->state : nullptr), where_(where) {}
  // Uses the trace of the first value that is not a default Value.
  OpBuilder(llvm::ArrayRef<Value> values, const SourceLocation& where);

  // Makes an op, named as Tracer::Op names it.
  Operation Op(llvm::StringRef op, llvm::ArrayRef<Operand> inputs,
               const std::vector<OpAttribute>& attributes = {}, llvm::StringRef name = {}) const;
  Operation Op(llvm::StringRef op, const Value& x, const std::vector<OpAttribute>& attributes = {},
               llvm::StringRef name = {}) const {
    return Op(op, Operand(x, where_), attributes, name);
  }
  Operation NoOp(llvm::StringRef name = {}) const {
    return Op("NoOp", llvm::ArrayRef<Operand>(), {}, name);
  }
  // Like Op, for a Python function that opens a name scope with the op's name: see
  // OpRequest::own_scope.
  Value Scoped(llvm::StringRef op, llvm::ArrayRef<Operand> inputs,
               const std::vector<OpAttribute>& attributes = {}, llvm::StringRef name = {}) const;
  Value Scoped(llvm::StringRef op, const Value& x, const std::vector<OpAttribute>& attributes = {},
               llvm::StringRef name = {}) const {
    return Scoped(op, Operand(x, where_), attributes, name);
  }
  // Like Op, but the node gets the name of the open scope.
  Operation Exact(llvm::StringRef op, llvm::ArrayRef<Operand> inputs,
                  const std::vector<OpAttribute>& attributes = {}) const;
  Operation Exact(llvm::StringRef op, const Value& x,
                  const std::vector<OpAttribute>& attributes = {}) const {
    return Exact(op, Operand(x, where_), attributes);
  }
  [[nodiscard]] Tracer::ScopeGuard Scope(llvm::StringRef name) const;
  // While the returned guard exists, new nodes run after `op`, which is in the current body.
  [[nodiscard]] Tracer::ScopeGuard After(const Operation& op) const;

  Value Constant(const Literal& literal, llvm::StringRef name = "Const") const;
  Value Scalar(double value, DataType dtype, llvm::StringRef name = "Const") const;
  Value Ints(llvm::ArrayRef<int64_t> values, llvm::StringRef name = "Const",
             DataType dtype = proto::DT_INT32) const;
  Value Text(llvm::StringRef text, llvm::StringRef name = "Const") const;
  // Returns the operand's value if it is a Value; otherwise makes a constant of `dtype`, or, with
  // DT_INVALID, of its own dtype.
  Value Convert(const Operand& operand, DataType dtype, llvm::StringRef name) const;
  // Returns one tensor of scalars: a constant if all are C++ integers, else a Pack with the dtype
  // of the first Value.
  Value Packed(llvm::ArrayRef<Operand> scalars, llvm::StringRef name) const;

  // Reports an error at the user's line; returns a value that is not ok().
  Value Fail(const std::string& text) const;
  bool ok() const { return state_ != nullptr; }
  TraceState& state() const { return *state_; }
  TraceBody& body() const { return *state_->current; }
  const SourceLocation& where() const { return where_; }

 private:
  TraceState* state_;
  const SourceLocation where_;
};

// Makes an op with one input.
Value UnaryOp(llvm::StringRef op, const Value& x, const SourceLocation& where);
// Returns the operand that is a Value, which leads to the trace; an empty Value if neither is one.
const Value& FirstValue(const Operand& x, const Operand& y);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_OP_BUILDER_H_
