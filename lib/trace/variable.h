// Variables of a traced program: tensors that outlive a run.
//
//   Variable w(t, "w", initial::Glorot({784, 10}, /*seed=*/1));
//   Value logits = MatMul(x, w);   // reads it
//   w.AssignSub(0.1f * gradient);  // after earlier reads, before later ones
//
// In the main graph a variable is the VarHandleOp of its name, in functions the captured handle;
// nodes are named and ordered as tf.function's. With lib/trace/model.h several functions share
// variables; lib/job/program.h runs these functions. docs/guide/tracing.md is the guide.
#ifndef GRAPNEL_LIB_TRACE_VARIABLE_H_
#define GRAPNEL_LIB_TRACE_VARIABLE_H_

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/support/public.h"
#include "lib/trace/gradient.h"
#include "lib/trace/tracer.h"

namespace grapnel {

// A trace's record of a variable, for running or saving it.
struct GRAPNEL_PUBLIC VariableInfo {
  std::string name;  // in sessions and checkpoints: the node's shared_name
  std::string node;  // the VarHandleOp of the main graph
  std::string container;
  DataType dtype = proto::DT_INVALID;
  Shape shape;      // shape of its values; may be partly unknown
  Literal initial;  // dtype DT_INVALID: comes from a graph that was read, so unknown
  bool trainable = true;
  SourceLocation where = SourceLocation();
};

struct GRAPNEL_PUBLIC VariableOptions {
  bool trainable = true;       // whether `Trainable` includes it, for Optimizer::Minimize
  std::optional<Shape> shape;  // default: the initial value's
  std::string container;
};

// A variable: two words, cheap to copy; valid while its Tracer lives. Passing a Variable as a Value
// or an Operand reads it. After an error a Variable is not ok(), like a Value.
class GRAPNEL_PUBLIC Variable {
 public:
  Variable() = default;
  // Makes a variable named `name` within the open name scope. In a model with several functions
  // each may declare its variables: declarations of the same name are one variable, and must be
  // equal. `initial` is a Literal, or numbers, whose dtype is that of their C++ type (int is int32,
  // double is double). Errors, among others: a Value as the initial value; an initial value that
  // does not match options.shape; a name that is taken in the same function, except in eager mode;
  // a name that was declared differently before.
  Variable(Tracer& t, llvm::StringRef name, const Operand& initial,
           const VariableOptions& options = {}, SourceLocation where = SourceLocation());
  // Finds a variable by name in the graph that the tracer continues. If it does not exist, reports
  // an error with similar names.
  static Variable Find(Tracer& t, llvm::StringRef name, SourceLocation where = SourceLocation());

  bool ok() const { return info_ != nullptr; }
  const std::string& name() const { return info_->name; }  // this and the next three require ok()
  DataType dtype() const { return info_->dtype; }
  const Shape& shape() const { return info_->shape; }
  bool trainable() const { return info_->trainable; }
  // Returns the variable's handle, a resource: a value of the main graph.
  Value handle() const;
  Tracer& tracer() const { return *tracer_; }

  // Returns the value at the time the op runs. An op that takes the variable reads it in the op's
  // name scope (MatMul/ReadVariableOp), Read() in a name scope "Read", as read_value() does.
  Value Read(SourceLocation where = SourceLocation()) const;
  operator Value() const;
  static constexpr bool kIsVariable = true;  // for Operand

  // Assigns the value. If dtype or shape do not match, the error has those of the variable and of
  // the value.
  Operation Assign(const Operand& value) const { return Update("AssignVariableOp", value); }
  Operation AssignAdd(const Operand& value) const { return Update("AssignAddVariableOp", value); }
  Operation AssignSub(const Operand& value) const { return Update("AssignSubVariableOp", value); }

  // Gathers rows by index (tf.gather of the variable). Reads only these rows, and the variable's
  // gradient consists of slices (IndexedSlices).
  Value Gather(const Operand& indices, llvm::StringRef name = {}) const;
  Value GatherNd(const Operand& indices, llvm::StringRef name = {}) const;
  // These functions apply updates[i] to row indices[i]: ScatterUpdate replaces the row, ScatterAdd
  // adds to it, and so on. With repeated indices, all updates are applied; ScatterUpdate keeps one
  // of them.
  Operation ScatterUpdate(const Operand& indices, const Operand& updates) const {
    return Scatter("ResourceScatterUpdate", indices, updates);
  }
  Operation ScatterAdd(const Operand& indices, const Operand& updates) const {
    return Scatter("ResourceScatterAdd", indices, updates);
  }
  Operation ScatterSub(const Operand& indices, const Operand& updates) const {
    return Scatter("ResourceScatterSub", indices, updates);
  }
  Operation ScatterMul(const Operand& indices, const Operand& updates) const {
    return Scatter("ResourceScatterMul", indices, updates);
  }
  Operation ScatterDiv(const Operand& indices, const Operand& updates) const {
    return Scatter("ResourceScatterDiv", indices, updates);
  }
  Operation ScatterMin(const Operand& indices, const Operand& updates) const {
    return Scatter("ResourceScatterMin", indices, updates);
  }
  Operation ScatterMax(const Operand& indices, const Operand& updates) const {
    return Scatter("ResourceScatterMax", indices, updates);
  }
  // The ScatterNd functions take index vectors as `indices`.
  Operation ScatterNdUpdate(const Operand& indices, const Operand& updates) const {
    return Scatter("ResourceScatterNdUpdate", indices, updates);
  }
  Operation ScatterNdAdd(const Operand& indices, const Operand& updates) const {
    return Scatter("ResourceScatterNdAdd", indices, updates);
  }
  Operation ScatterNdSub(const Operand& indices, const Operand& updates) const {
    return Scatter("ResourceScatterNdSub", indices, updates);
  }
  const SourceLocation& where() const { return info_->where; }

 private:
  Variable(Tracer* tracer, const VariableInfo* info) : tracer_(tracer), info_(info) {}
  Operation Update(llvm::StringRef op, const Operand& value) const;
  Operation Scatter(llvm::StringRef op, const Operand& indices, const Operand& updates) const;
  Value ReadHere(const SourceLocation& where) const;
  TraceState& state() const { return tracer_->state(); }
  friend std::vector<Variable> VariablesOf(Tracer& t);

  Tracer* tracer_ = nullptr;
  const VariableInfo* info_ = nullptr;  // owned by the tracer
};

// Operators take variables as they take values.
GRAPNEL_PUBLIC Value operator+(const Operand& x, const Operand& y);
GRAPNEL_PUBLIC Value operator-(const Operand& x, const Operand& y);
GRAPNEL_PUBLIC Value operator*(const Operand& x, const Operand& y);
GRAPNEL_PUBLIC Value operator/(const Operand& x, const Operand& y);

// All variables made so far, in creation order; Trainable returns only trainable variables.
GRAPNEL_PUBLIC std::vector<Variable> VariablesOf(Tracer& t);
GRAPNEL_PUBLIC std::vector<Variable> Trainable(Tracer& t);
// Returns copies of the records of all variables. May be called after Finish, too.
GRAPNEL_PUBLIC std::vector<VariableInfo> VariableInfosOf(Tracer& t);

// Gradients with respect to variables, that is to their handles, as with TensorFlow's tape. Slices
// stay slices in SparseGradients. Passing a variable in a list of Values reads it: the result is
// then the gradient with respect to the value just read.
GRAPNEL_PUBLIC Values Gradients(Tracer& t, llvm::ArrayRef<Value> ys,
                                const std::vector<Variable>& xs,
                                const GradientOptions& options = {},
                                SourceLocation where = SourceLocation());
inline Values Gradients(Tracer& t, llvm::ArrayRef<Value> ys, std::initializer_list<Variable> xs,
                        const GradientOptions& options = {},
                        SourceLocation where = SourceLocation()) {
  return Gradients(t, ys, std::vector<Variable>(xs), options, where);
}
GRAPNEL_PUBLIC std::vector<Gradient> SparseGradients(Tracer& t, llvm::ArrayRef<Value> ys,
                                                     const std::vector<Variable>& xs,
                                                     const GradientOptions& options = {},
                                                     SourceLocation where = SourceLocation());

// Makes Finish write the graph as tf.function holds it: the handles of variables are placeholders,
// named after the op that reads them first. Such a graph cannot run; it serves for comparison.
GRAPNEL_PUBLIC void CaptureVariables(Tracer& t);

// Initial values. The same seed gives the same numbers everywhere.
namespace initial {
GRAPNEL_PUBLIC Literal Fill(llvm::ArrayRef<int64_t> dims, double value,
                            DataType dtype = proto::DT_FLOAT);
inline Literal Zeros(llvm::ArrayRef<int64_t> dims, DataType dtype = proto::DT_FLOAT) {
  return Fill(dims, 0, dtype);
}
inline Literal Ones(llvm::ArrayRef<int64_t> dims, DataType dtype = proto::DT_FLOAT) {
  return Fill(dims, 1, dtype);
}
GRAPNEL_PUBLIC Literal Uniform(llvm::ArrayRef<int64_t> dims, double low, double high, uint64_t seed,
                               DataType dtype = proto::DT_FLOAT);
// Uniform within +-sqrt(6 / (inputs + outputs)). `dims` are those of the kernel of a dense layer or
// a convolution, from which the numbers of inputs and outputs follow.
GRAPNEL_PUBLIC Literal Glorot(llvm::ArrayRef<int64_t> dims, uint64_t seed,
                              DataType dtype = proto::DT_FLOAT);
}  // namespace initial

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_VARIABLE_H_
