// The typed builders in lib/trace/ops/*.h use this class: it has one op's inputs and attributes, in
// the order of the op's definition, and its outputs by argument.
//
//   ops::Conv2DOptions options;
//   options.data_format = "NHWC";
//   Value y = ops::Conv2D(t, x, filter, {1, 2, 2, 1}, "SAME", options);
#ifndef GRAPNEL_LIB_TRACE_OP_CALL_H_
#define GRAPNEL_LIB_TRACE_OP_CALL_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "lib/support/public.h"
#include "lib/trace/tracer.h"

namespace grapnel {

class GRAPNEL_PUBLIC OpCall {
 public:
  // An empty `name` stands for the op's name.
  OpCall(Tracer& t, llvm::StringRef op, llvm::StringRef name, SourceLocation where)
      : tracer_(t), op_(op), name_(name), where_(where) {}

  void Input(const Operand& operand) { inputs_.push_back(operand); }
  template <typename T>
  void Attr(llvm::StringRef key, const T& value) {
    attributes_.emplace_back(key, value);
  }
  void Attr(llvm::StringRef key, const std::string& value) { Attr(key, llvm::StringRef(value)); }
  // If `value` is empty, the attribute has the op's default.
  template <typename T>
  void Attr(llvm::StringRef key, const std::optional<T>& value) {
    if (value) Attr(key, *value);
  }
  // Sets attributes that name functions of the library.
  void Function(llvm::StringRef key, llvm::StringRef name) {
    attributes_.push_back(OpAttribute::Serialized(key, attr::Func(name)));
  }
  void Function(llvm::StringRef key, const std::vector<std::string>& names) {
    attributes_.push_back(OpAttribute::Serialized(key, attr::Funcs(names)));
  }
  void Function(llvm::StringRef key, const std::optional<std::string>& name) {
    if (name) Function(key, llvm::StringRef(*name));
  }

  // Returns the node, made at the first call. After an error neither it nor its outputs are ok().
  Operation Make();
  // Return output argument number `argument` of the op's definition: Single its one tensor, List
  // its list of tensors.
  Value Single(int argument);
  Values List(int argument);

 private:
  Tracer& tracer_;
  llvm::StringRef op_, name_;
  SourceLocation where_;
  llvm::SmallVector<Operand, 4> inputs_;
  llvm::SmallVector<OpAttribute, 4> attributes_;
  std::optional<Operation> made_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_OP_CALL_H_
