#include "lib/exec/evaluator.h"

#include "lib/exec/bound_kernel.h"
#include "lib/ir/node_types.h"
#include "lib/support/denormals.h"
#include "lib/support/file.h"

namespace grapnel {
namespace {

class CpuEvaluator : public Evaluator {
 public:
  explicit CpuEvaluator(ThreadPool& pool) : pool_(pool), allocator_(MakePoolAllocator()) {}

  bool CanEvaluate(const Node& node) override {
    auto def = KernelRegistry::Get().Find(node, "CPU");
    if (def) return true;
    llvm::consumeError(def.takeError());
    return false;
  }

  Expected<std::vector<Literal>> Evaluate(const Node& node,
                                          llvm::ArrayRef<Literal> inputs) override {
    const OpInfo* info = DefinitionOf(node);
    if (!info) return MakeError("op '{0}' is unknown", node.op());
    ASSIGN_OR_RETURN(NodeTypes types, TypesOf(node, *info));
    if (types.inputs.size() != inputs.size()) {
      return MakeError("got {0} inputs, but op '{1}' takes {2}", inputs.size(), node.op(),
                       types.inputs.size());
    }
    // For an op that forwards its input, return the input literal itself, without copying its
    // bytes.
    bool hands_on = node.op() == "Identity" || node.op() == "StopGradient" ||
                    node.op() == "PreventGradient" || node.op() == "Snapshot";
    if (hands_on && inputs.size() == 1 && inputs[0].dtype() == types.outputs[0])
      return std::vector<Literal>{inputs[0]};
    llvm::SmallVector<Tensor, 4> tensors, outputs(types.outputs.size());
    llvm::SmallVector<const Tensor*, 4> constants;
    for (const Literal& input : inputs) {
      ASSIGN_OR_RETURN(Tensor tensor, Tensor::FromLiteral(input, *allocator_));
      tensors.push_back(std::move(tensor));
    }
    for (const Tensor& tensor : tensors) constants.push_back(&tensor);
    ASSIGN_OR_RETURN(const KernelDef* def, KernelRegistry::Get().Find(node, "CPU"));
    KernelSetup setup(node, types.inputs, types.outputs, constants);
    ASSIGN_OR_RETURN(BoundKernel kernel, BoundKernel::Make(*def, setup));
    MessageSink silent;
    llvm::SmallVector<Tensor, 4> arguments = tensors;
    FlushDenormals flush;
    RunServices services{*allocator_, pool_, silent};
    services.onednn = false;  // TensorFlow folds constants before it rewrites nodes for oneDNN
    KernelContext context(arguments, outputs, types.outputs, services);
    RETURN_IF_ERROR(kernel.Call(context));
    for (const Literal& input : inputs) {
      if (input.bytes().size() >= kLarge) DropPages(input.bytes());
    }
    std::vector<Literal> results;
    for (const Tensor& output : outputs) {
      if (output.HoldsObjects())
        return MakeError("{0} cannot be the value of a constant", output.ToString());
      results.push_back(output.ToLiteral());
    }
    return results;
  }

 private:
  // Inputs of at least this many bytes count as weights, which are used once in folding. Their
  // mapped pages are dropped once the kernel has succeeded; a later search for equal constants
  // loads them again.
  static constexpr size_t kLarge = size_t{64} << 10;
  ThreadPool& pool_;
  std::unique_ptr<Allocator> allocator_;
};

}  // namespace

std::unique_ptr<Evaluator> MakeCpuEvaluator(ThreadPool& pool) {
  return std::make_unique<CpuEvaluator>(pool);
}

}  // namespace grapnel
