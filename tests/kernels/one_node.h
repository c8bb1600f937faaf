// A single node with input values, run through its kernel, for kernel tests and benchmarks.
#ifndef GRAPNEL_TESTS_KERNELS_ONE_NODE_H_
#define GRAPNEL_TESTS_KERNELS_ONE_NODE_H_

#include <string>
#include <vector>

#include "lib/exec/kernel.h"
#include "lib/ir/attr.h"
#include "lib/ir/module.h"

namespace grapnel {

class OneNode {
 public:
  explicit OneNode(llvm::StringRef op) : id_(module_.main.AddNode("node", op)) {}

  // `value` is serialized: attr::Int(3).
  OneNode& Attr(llvm::StringRef key, const std::string& value) {
    module_.main.SetAttr(id_, key, module_.Keep(value));
    return *this;
  }
  OneNode& Ints(llvm::StringRef key, llvm::ArrayRef<int64_t> values) {
    return Attr(key, attr::Ints(values));
  }
  OneNode& Text(llvm::StringRef key, llvm::StringRef value) {
    return Attr(key, attr::String(value));
  }
  OneNode& Type(llvm::StringRef key, DataType value) { return Attr(key, attr::Type(value)); }
  // A constant input is known when the kernel is created. Do not call after the first run.
  OneNode& Input(Tensor tensor, bool constant = false) {
    inputs_.push_back(std::move(tensor));
    constant_.push_back(constant);
    return *this;
  }
  OneNode& Outputs(std::vector<DataType> types) {
    output_types_ = std::move(types);
    return *this;
  }

  // Returns the outputs. `give` lets the kernel overwrite the inputs, which nothing else then
  // holds.
  Expected<std::vector<Tensor>> Run(ThreadPool& pool, Allocator& allocator = HeapAllocator(),
                                    bool give = false) {
    if (!kernel_) RETURN_IF_ERROR(Make());
    std::vector<Tensor> inputs = inputs_, outputs(output_types_.size());
    if (give) inputs_.clear();
    MessageSink sink;
    RunServices services{allocator, pool, sink};
    KernelContext ctx(inputs, outputs, output_types_, services);
    RETURN_IF_ERROR(kernel_(ctx));
    return outputs;
  }

 private:
  Error Make() {
    Node node = module_.main.node(id_);
    if (output_types_.empty()) output_types_ = {inputs_[0].dtype()};
    std::vector<DataType> types;
    std::vector<const Tensor*> constants;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      types.push_back(inputs_[i].dtype());
      constants.push_back(constant_[i] ? &inputs_[i] : nullptr);
    }
    ASSIGN_OR_RETURN(const KernelDef* def, KernelRegistry::Get().Find(node, "CPU"));
    ASSIGN_OR_RETURN(kernel_, def->factory(KernelSetup(node, types, output_types_, constants)));
    return Error::success();
  }

  Module module_;
  NodeId id_;
  std::vector<Tensor> inputs_;
  std::vector<bool> constant_;
  std::vector<DataType> output_types_;
  KernelFn kernel_;
};

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_KERNELS_ONE_NODE_H_
