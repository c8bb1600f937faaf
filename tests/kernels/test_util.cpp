#include "tests/kernels/test_util.h"

#include "lib/exec/session.h"
#include "lib/ir/module.h"

namespace grapnel {

Expected<std::vector<Tensor>> OpRun::Try() {
  if (types_.empty()) types_.push_back(inputs_.at(0).dtype());
  Module module;
  NodeId id = module.main.AddNode("node", op_);
  if (!inputs_.empty()) module.main.SetAttr(id, "T", module.Keep(attr::Type(inputs_[0].dtype())));
  for (const auto& [key, value] : attrs_) module.main.SetAttr(id, key, module.Keep(value));
  std::vector<DataType> input_types;
  for (const Tensor& input : inputs_) input_types.push_back(input.dtype());
  std::vector<const Tensor*> constants(inputs_.size(), nullptr);
  Node node = module.main.node(id);
  ASSIGN_OR_RETURN(const KernelDef* def, KernelRegistry::Get().Find(node, "CPU"));
  ASSIGN_OR_RETURN(KernelFn kernel,
                   def->factory(KernelSetup(node, input_types, types_, constants)));
  std::vector<Tensor> outputs(types_.size());
  ThreadPool pool(2);
  MessageSink sink = [this](Severity, llvm::StringRef text) { printed_.push_back(text.str()); };
  Session own_session;
  RunServices services{HeapAllocator(), pool, sink, nullptr, session_ ? session_ : &own_session};
  services.onednn = onednn_;
  KernelContext ctx(inputs_, outputs, types_, services);
  RETURN_IF_ERROR(kernel(ctx));
  return outputs;
}

std::vector<Tensor> OpRun::All() {
  auto outputs = Try();
  if (outputs) return std::move(*outputs);
  ADD_FAILURE() << op_ << ": " << TextOf(outputs.takeError());
  return std::vector<Tensor>(types_.size(), llvm::cantFail(Tensor::Allocate(types_[0], {0})));
}

std::string OpRun::ErrorText() {
  auto outputs = Try();
  if (!outputs) return TextOf(outputs.takeError());
  return "no error";
}

}  // namespace grapnel
