#include "lib/pass/op_kinds.h"

#include <algorithm>

#include "lib/ir/op_table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

uint32_t KindsByName(llvm::StringRef op) {
  return llvm::StringSwitch<uint32_t>(op)
      .Case("Const", kConstOp)
      .Cases("Identity", "RefIdentity", kIdentityOp)
      .Case("IdentityN", kIdentityNOp)
      .Cases("StopGradient", "PreventGradient", kStopGradientOp)
      .Case("NoOp", kNoOpOp)
      .Case("AddN", kAddNOp)
      .Cases("Switch", "RefSwitch", "_SwitchN", kSwitchOp)
      .Cases("Merge", "RefMerge", "_XlaMerge", kMergeOp)
      .Cases("Enter", "RefEnter", "Exit", "RefExit", kFrameOp | kEnterOrExitOp)
      .Cases("NextIteration", "RefNextIteration", kFrameOp | kNextIterationOp)
      .Cases("Variable", "VariableV2", "AutoReloadVariable", "VarHandleOp", "ReadVariableOp",
             kVariableOp)
      .Cases("_VarHandlesOp", "_ReadVariablesOp", kVariableOp)
      .Cases("_Recv", "_HostRecv", kRecvOp)
      .Case("_Retval", kRetvalOp)
      .Cases("Assert", "Print", "PrintV2", kAssertOrPrintOp)
      .Cases("Shape", "ShapeN", "Rank", kShapeOrRankOp)
      .Cases("IteratorGetNext", "IteratorGetNextSync", "DatasetToSingleElement", "ReduceDataset",
             kStatefulOp)
      .Default(0);
}

bool IsPure(const OpInfo& info) {
  llvm::StringRef op = info.name;
  // A placeholder must stay because it may be fed.
  if (info.is_stateful || op == "Placeholder" || op == "PlaceholderV2" ||
      op == "PlaceholderWithDefault")
    return false;
  if (op.contains("Queue") || op == "_Send" || op == "_HostSend" ||
      op.contains_insensitive("inplace"))
    return false;
  if (info.FindAttr("in_place") || info.FindAttr("inplace")) return false;
  return llvm::none_of(info.inputs, [](const OpArg& arg) { return arg.is_ref; });
}

}  // namespace

uint32_t OpKinds::Find(StringId op) {
  auto [it, added] = kinds_.try_emplace(op, 0);
  if (added) {
    llvm::StringRef name = module_.strings.Get(op);
    uint32_t kinds = KindsByName(name);
    if (name.contains_insensitive("inplace")) kinds |= kInPlaceOp;
    if (const OpInfo* info = FindOp(name)) {
      kinds |= kKnownOp;
      if (info->is_stateful) kinds |= kStatefulOp;
      if (IsPure(*info)) kinds |= kPureOp;
      if (info->is_commutative || name == "Add") kinds |= kCommutativeOp;
      if (!info->outputs.empty()) kinds |= kHasOutputsOp;
    }
    if (const Function* function = module_.FindFunction(name)) {
      kinds |= kFunctionOp;
      if (function->info.is_stateful) kinds |= kStatefulOp;
    }
    it->second = kinds;
  }
  recent_[op % kRecent] = {op, it->second};
  return it->second;
}

bool IsIdentityNOfOne(const Node& node) {
  if (node.op() != "IdentityN") return false;
  std::optional<AttrView> types = node.FindAttr("T");
  auto list = types ? types->AsTypes() : std::nullopt;
  return list && list->size() == 1;
}

}  // namespace grapnel
