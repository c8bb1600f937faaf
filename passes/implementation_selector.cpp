// Chooses among functions that do the same for different devices, and says which device it is.
//
//   Before:  x -> PartitionedCall(gru_cpu) on /device:GPU:0      gru_cpu, gru_gpu:
//   api_implements=gru After:   x -> PartitionedCall(gru_gpu) on /device:GPU:0
//
//   Before:  DeviceIndex([CPU, GPU]) -> Case on /device:GPU:0    After:  Const(1) -> Case
//
// Functions of one interface say so by the attribute api_implements, and for which device each is
// by api_preferred_device. Keras does that for its recurrent layers.
//
// Refuses: calls without a device; functions that specialisation made for a call; functions of a
// training pair with other dtypes than the one that is called.
#include <map>

#include "lib/ir/device_name.h"
#include "lib/ir/node_types.h"
#include "lib/pass/library.h"
#include "lib/pass/pass.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr const char* kSwap = "swap_implementation";
constexpr const char* kIndex = "fix_device_index";

std::string TextAttr(const Function& function, const char* key) {
  std::optional<AttrView> attr = FunctionAttr(function, key);
  return attr ? attr->AsString().value_or("").str() : "";
}

class ImplementationSelector : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    edit_ = &edit;
    std::vector<NodeId> nodes;
    for (Node node : edit.graph().nodes()) {
      if (node.op() == "DeviceIndex" || MayCall(node)) nodes.push_back(node.id());
    }
    for (NodeId id : nodes) {
      Node node = edit.graph().node(id);
      bool goes_on = node.op() == "DeviceIndex" ? FixIndex(node) : Swap(node);
      if (!goes_on) break;
    }
    return Error::success();
  }

 private:
  bool MayCall(const Node& node) {
    auto [it, added] = may_call_.try_emplace(node.op_id(), false);
    if (added) it->second = MayCallFunctions(node);
    return it->second;
  }

  // Functions of one interface, in the library's order. Read when first asked for: most bodies have
  // nothing to choose.
  llvm::ArrayRef<const Function*> FunctionsOf(const std::string& interface) {
    if (by_interface_.empty()) {
      for (const auto& function : edit_->module().functions) {
        std::string name = TextAttr(*function, "api_implements");
        if (!name.empty()) by_interface_[name].push_back(function.get());
      }
    }
    return by_interface_[interface];
  }

  // Both are false when --limit is used up.
  bool FixIndex(const Node& node) {
    for (const Use& use : node.UsesOf(0)) {
      Node reader = edit_->graph().node(use.node);
      if (reader.op() != "Case" && reader.op() != "StatelessCase") continue;
      llvm::StringRef type = DeviceTypeOf(reader.device());
      if (type.empty()) {
        edit_->Refuse(kIndex, node, "'{0}' is on no device", reader.name());
        continue;
      }
      std::optional<AttrView> attr = node.FindAttr("device_names");
      auto names = attr ? attr->AsStrings() : std::nullopt;
      if (!names) return true;
      int index = static_cast<int>(llvm::find(*names, type) - names->begin());
      if (!edit_->Begin(kIndex, node)) return false;
      llvm::SmallVector<Node, 4> controls;
      for (int i = 0; i < node.num_controls(); ++i) controls.push_back(node.control(i));
      edit_->TurnIntoConstant(node, Literal::Scalar(proto::DT_INT32, index), controls);
      edit_->End();
      return true;
    }
    return true;
  }

  bool Swap(const Node& node) {
    bool is_direct = edit_->module().FindFunction(node.op()) != nullptr;
    std::vector<std::string> keys;
    for (const auto& [key, value] : node.Attrs()) {
      if (value.kind() == AttrKind::kFunc) keys.push_back(key.str());
    }
    if (is_direct) {
      const Function* other = Better(node, node.op());
      if (other) {
        if (!edit_->Begin(kSwap, node)) return false;
        edit_->SetOp(node, other->name());
        edit_->End();
      }
    }
    for (const std::string& key : keys) {
      std::optional<AttrView> attr = node.FindAttr(key);
      const Function* other = Better(node, attr->AsFuncName().value_or(""));
      if (!other) continue;
      if (!edit_->Begin(kSwap, node)) return false;
      proto::AttrValue value;
      value.ParseFromArray(attr->bytes().data(), attr->bytes().size());
      value.mutable_func()->set_name(other->name().str());
      edit_->SetAttr(node, key, value.SerializeAsString());
      edit_->End();
    }
    return true;
  }

  // The function for the device of the call; null when that is called already, or there is none.
  const Function* Better(const Node& node, llvm::StringRef name) {
    const Function* called = edit_->module().FindFunction(name);
    if (!called) return nullptr;
    std::string interface = TextAttr(*called, "api_implements");
    if (interface.empty()) return nullptr;
    if (name.contains("_specialized_for_")) {
      edit_->Refuse(kSwap, node, "'{0}' was made for this call", name);
      return nullptr;
    }
    llvm::StringRef type = DeviceTypeOf(node.device());
    if (type.empty()) {
      edit_->Refuse(kSwap, node, "'{0}' is on no device: which of '{1}' is meant is not known",
                    node.name(), interface);
      return nullptr;
    }
    for (const Function* other : FunctionsOf(interface)) {
      if (other == called || TextAttr(*other, "api_preferred_device") != type) continue;
      if (PassOf(*other) != PassOf(*called)) continue;
      if (TextAttr(*called, "api_preferred_device") == type) return nullptr;
      if (SameTypes(*called, *other)) return other;
      edit_->Refuse(kSwap, node, "'{0}' takes or gives other dtypes than '{1}'", other->name(),
                    name);
    }
    return nullptr;
  }

  // Which of a pair for training the function is, if any: forward knows its backward and vice
  // versa.
  static int PassOf(const Function& function) {
    if (FunctionAttr(function, "backward_function_name")) return 1;
    return FunctionAttr(function, "forward_function_name") ? 2 : 0;
  }

  static bool SameTypes(const Function& a, const Function& b) {
    auto same = [](const std::vector<OpArg>& x, const std::vector<OpArg>& y) {
      return x.size() == y.size() &&
             std::equal(x.begin(), x.end(), y.begin(), [](const OpArg& one, const OpArg& other) {
               return one.type == other.type;
             });
    };
    return same(a.info.inputs, b.info.inputs) && same(a.info.outputs, b.info.outputs);
  }

  Editor* edit_ = nullptr;
  std::map<std::string, std::vector<const Function*>> by_interface_;
  llvm::DenseMap<StringId, bool> may_call_;  // by op
};

GRAPNEL_PASS(ImplementationSelector,
             (PassInfo{"implementation_selector", "implementation_selector", 3, true, false,
                       "implementation_selector",
                       "calls the function for the device among those of one interface",
                       "calls without a device, functions of other dtypes"}),
             {"fix_device_index",
              "a DeviceIndex that a Case reads becomes the number of its device"},
             {"swap_implementation",
              "a call calls the function that is meant for the device it is on"});

}  // namespace
}  // namespace grapnel
