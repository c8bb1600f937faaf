#include "lib/place/op_facts.h"

#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

bool IsTied(DataType type) {
  return type == proto::DT_RESOURCE || type == proto::DT_VARIANT || IsRefType(type);
}

bool MayTie(const OpArg& arg, const OpInfo& info) {
  if (arg.is_ref) return true;
  llvm::StringRef attr_name = arg.type_attr.empty() ? arg.type_list_attr : arg.type_attr;
  if (attr_name.empty()) return IsTied(arg.type);
  const OpAttr* attr = info.FindAttr(attr_name);
  return !attr || attr->allowed_types.empty() || llvm::any_of(attr->allowed_types, IsTied);
}

// True for dataset ops, which have one variant output: "RangeDataset", "BatchDatasetV2".
bool IsDataset(llvm::StringRef op, const OpInfo& info) {
  if (info.outputs.size() != 1 || info.outputs[0].type != proto::DT_VARIANT) return false;
  llvm::StringRef stem = op.rtrim("0123456789");
  if (stem.size() < op.size()) stem.consume_back("V");
  return HasSuffix(stem, "Dataset") || op == "DatasetFromGraph";
}

OpFacts MakeFacts(const Node& node) {
  OpFacts facts;
  facts.info = DefinitionOf(node);
  llvm::StringRef op = node.op();
  facts.is_identity = op == "Identity" || op == "RefIdentity";
  facts.is_metadata = op == "Shape" || op == "Size" || op == "Rank";
  bool is_partitioned = op == "PartitionedCall" || op == "StatefulPartitionedCall";
  facts.is_exempt = is_partitioned || op == "IdentityN" || op == "ReduceDataset" ||
                    op == "ScanDataset" || op == "ExperimentalScanDataset";
  facts.is_call = is_partitioned || node.graph().module().FindFunction(op);
  if (!facts.info) return facts;
  const OpInfo& info = *facts.info;
  facts.is_dataset = IsDataset(op, info);
  facts.may_tie = llvm::any_of(info.inputs, [&](const OpArg& arg) { return MayTie(arg, info); });
  facts.makes_one = info.outputs.size() == 1;
  facts.output_is_ref = facts.makes_one && info.outputs[0].is_ref;
  return facts;
}

}  // namespace

const OpFacts& OpFactsTable::Of(const Node& node) {
  StringId op = node.op_id();
  if (op >= by_op_.size()) by_op_.resize(std::max<size_t>(op + 1, module_.strings.size()));
  if (by_op_[op] == 0) {
    facts_.push_back(MakeFacts(node));
    by_op_[op] = facts_.size();
  }
  return facts_[by_op_[op] - 1];
}

const Function* CalleeOf(const Node& call) {
  const Module& module = call.graph().module();
  if (const Function* function = module.FindFunction(call.op())) return function;
  auto attr = call.Attr("f");
  auto name = attr ? attr->AsFuncName() : std::nullopt;
  return name ? module.FindFunction(*name) : nullptr;
}

bool IsGenerator(const Node& node, const OpFacts& facts) {
  if (node.num_inputs() > 0 || !facts.info || facts.info->outputs.empty()) return false;
  if (facts.makes_one && facts.info->outputs[0].number_attr.empty() &&
      facts.info->outputs[0].type_list_attr.empty())
    return !facts.output_is_ref;
  return NumOutputs(node) == 1 && !IsRefType(TypeOfPort(node.graph(), {node.id(), 0}));
}

bool MakesResourceOrReference(const Node& node, const OpFacts& facts) {
  if (node.num_inputs() > 0 || !facts.makes_one) return false;
  if (facts.output_is_ref) return true;
  const OpArg& output = facts.info->outputs[0];
  if (output.type == proto::DT_RESOURCE) return true;
  if (output.type_attr.empty() && output.type_list_attr.empty()) return false;
  DataType type = TypeOfPort(node.graph(), {node.id(), 0});
  return type == proto::DT_RESOURCE || IsRefType(type);
}

}  // namespace grapnel
