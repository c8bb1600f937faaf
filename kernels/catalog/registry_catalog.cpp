// grapnel's own kernels as a catalog for the placer. Nodes that the executor runs itself
// (constants, placeholders, arguments, results, NoOp) can be on any device; control flow nodes,
// sends, receives and collectives only on the CPU.
#include "lib/exec/frames.h"
#include "lib/exec/kernel.h"
#include "lib/ir/module.h"
#include "lib/ir/op_table.h"
#include "lib/place/kernel_catalog.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

class GrapnelKernels : public KernelCatalog {
 public:
  GrapnelKernels() : defs_(KernelRegistry::Get().All()) {
    for (const KernelDef& def : defs_) by_op_[def.op].push_back(&def);
  }

  bool Knows(const Node& node) const override {
    return FindOp(node.op()) && !node.graph().module().FindFunction(node.op()) && !IsAnywhere(node);
  }

  std::optional<int> Priority(const Node& node, llvm::StringRef type) const override {
    bool is_flow = FlowKindOf(node.op()) != FlowKind::kKernel;
    if (is_flow ? type == "CPU" : Match(node, type) != nullptr) return 0;
    return std::nullopt;
  }

  std::vector<KernelSummary> KernelsOf(const Node& node) const override {
    std::vector<KernelSummary> all;
    for (const KernelDef* def : by_op_.lookup(node.op())) all.push_back(Summary(*def, node));
    return all;
  }

  std::optional<KernelSummary> Find(const Node& node, llvm::StringRef type) const override {
    const KernelDef* def = Match(node, type);
    if (!def) return std::nullopt;
    return Summary(*def, node);
  }

  std::string name() const override { return "grapnel"; }

 private:
  static bool IsAnywhere(const Node& node) {
    return llvm::StringSwitch<bool>(node.op())
        .Cases("Const", "HostConst", "Placeholder", "PlaceholderV2", true)
        .Cases("_Arg", "_Retval", "NoOp", true)
        .Default(false);
  }

  const KernelDef* Match(const Node& node, llvm::StringRef type) const {
    for (const KernelDef* def : by_op_.lookup(node.op())) {
      if (type != def->device) continue;
      if (def->Takes(node)) return def;
    }
    return nullptr;
  }

  static KernelSummary Summary(const KernelDef& def, const Node& node) {
    KernelSummary summary;
    summary.device = def.device;
    for (const OfTypes& choice : def.types) {
      std::vector<std::string> types;
      for (DataType type : choice.types) types.push_back(DataTypeName(type).str());
      summary.constraints.emplace_back(choice.attr, std::move(types));
    }
    const OpInfo* info = FindOp(node.op());
    if (!info) return summary;
    auto add = [&](const std::vector<OpArg>& args, bool is_input) {
      for (size_t i = 0; i < args.size(); ++i) {
        int count = static_cast<int>(args.size());
        if (is_input ? def.IsHostInput(i, count) : def.IsHostOutput(i, count))
          summary.host_arguments.push_back(args[i].name);
      }
    };
    add(info->inputs, true);
    add(info->outputs, false);
    return summary;
  }

  std::vector<KernelDef> defs_;
  llvm::StringMap<std::vector<const KernelDef*>> by_op_;
};

const RegisterKernelCatalog kRegistered("grapnel", []() -> std::unique_ptr<KernelCatalog> {
  return std::make_unique<GrapnelKernels>();
});

}  // namespace
}  // namespace grapnel
