// What the functions of lib/trace/*_ops.h are made of: nodes that all have the line of one call of
// the user. Private to lib/trace.
#ifndef GRAPNEL_LIB_TRACE_OP_BUILDER_H_
#define GRAPNEL_LIB_TRACE_OP_BUILDER_H_

#include <string>
#include <vector>

#include "lib/trace/body.h"
#include "lib/trace/tracer.h"

namespace grapnel {

// SourceLocation no value was ever made there is no trace: every method then gives a Value that was never
// made, and whoever uses it says so.
class OpBuilder {
 public:
  OpBuilder(Tracer& t, const SourceLocation& where) : state_(&t.state()), where_(where) {}
  OpBuilder(const Value& x, const SourceLocation& where)
      : state_(x.body() ? x.body()->state : nullptr), where_(where) {}
  // Of the first value that was made.
  OpBuilder(llvm::ArrayRef<Value> values, const SourceLocation& where);

  // Named as Tracer::Op names it.
  Operation Op(llvm::StringRef op, llvm::ArrayRef<Operand> inputs,
               const std::vector<OpAttribute>& attributes = {}, llvm::StringRef name = {}) const;
  Operation Op(llvm::StringRef op, const Value& x, const std::vector<OpAttribute>& attributes = {},
               llvm::StringRef name = {}) const {
    return Op(op, Operand(x, where_), attributes, name);
  }
  Operation NoOp(llvm::StringRef name = {}) const {
    return Op("NoOp", llvm::ArrayRef<Operand>(), {}, name);
  }
  // The same, of a Python function that opens a scope of that name: OpRequest::own_scope.
  Value Scoped(llvm::StringRef op, llvm::ArrayRef<Operand> inputs,
               const std::vector<OpAttribute>& attributes = {}, llvm::StringRef name = {}) const;
  Value Scoped(llvm::StringRef op, const Value& x, const std::vector<OpAttribute>& attributes = {},
               llvm::StringRef name = {}) const {
    return Scoped(op, Operand(x, where_), attributes, name);
  }
  // The same, of the name of the open scope.
  Operation Exact(llvm::StringRef op, llvm::ArrayRef<Operand> inputs,
                  const std::vector<OpAttribute>& attributes = {}) const;
  Operation Exact(llvm::StringRef op, const Value& x,
                  const std::vector<OpAttribute>& attributes = {}) const {
    return Exact(op, Operand(x, where_), attributes);
  }
  [[nodiscard]] Tracer::ScopeGuard Scope(llvm::StringRef name) const;
  // Nodes made while it lasts run after `op`, which is of the current body.
  [[nodiscard]] Tracer::ScopeGuard After(const Operation& op) const;

  Value Constant(const Literal& literal, llvm::StringRef name = "Const") const;
  Value Scalar(double value, DataType dtype, llvm::StringRef name = "Const") const;
  Value Ints(llvm::ArrayRef<int64_t> values, llvm::StringRef name = "Const",
             DataType dtype = proto::DT_INT32) const;
  Value Text(llvm::StringRef text, llvm::StringRef name = "Const") const;
  // The value, or the constant in `dtype`; DT_INVALID: in its own.
  Value Convert(const Operand& operand, DataType dtype, llvm::StringRef name) const;
  // One tensor of scalars: a constant where all are numbers, else a Pack with their dtype.
  Value Packed(llvm::ArrayRef<Operand> scalars, llvm::StringRef name) const;

  // An error of the user's line; a value that is not ok.
  Value Fail(const std::string& text) const;
  bool ok() const { return state_ != nullptr; }
  TraceState& state() const { return *state_; }
  TraceBody& body() const { return *state_->current; }
  const SourceLocation& where() const { return where_; }

 private:
  TraceState* state_;
  const SourceLocation where_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_OP_BUILDER_H_
