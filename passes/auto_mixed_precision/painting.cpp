#include "passes/auto_mixed_precision/painting.h"

#include "lib/ir/device_name.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel::auto_mixed_precision {
namespace {

bool IsTensorListReader(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("TensorListConcat", "TensorListConcatV2", "TensorListGather", true)
      .Cases("TensorListGetItem", "TensorListPopBack", "TensorListStack", true)
      .Default(false);
}

bool IsTensorListWriter(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("TensorListFromTensor", "TensorListPushBack", "TensorListPushBackBatch", true)
      .Cases("TensorListScatter", "TensorListScatterV2", true)
      .Cases("TensorListScatterIntoExistingList", "TensorListSetItem", "TensorListSplit", true)
      .Default(false);
}

// True for nodes behind which a tensor list cannot be followed: arguments, placeholders, results,
// calls and Optionals.
bool IsSourceOrSink(const Node& node) {
  return llvm::StringSwitch<bool>(node.op())
             .Cases("_Arg", "_Retval", "Placeholder", true)
             .Cases("OptionalFromValue", "OptionalGetValue", true)
             .Cases("PartitionedCall", "StatefulPartitionedCall", true)
             .Default(false) ||
         node.graph().module().FindFunction(node.op());
}

// True for an Identity of a TF1 variable, and for an Enter of such an Identity. They do not copy
// the variable, so they must keep its dtype.
bool ReadsVariable(const Node& node) {
  if (node.num_inputs() == 0) return false;
  Node input = node.input_node(0);
  if (!input) return false;
  if (node.op() == "Identity") return input.op() == "Variable" || input.op() == "VariableV2";
  return node.op() == "Enter" && ReadsVariable(input);
}

class Painter {
 public:
  Painter(TypeGraph& types, Mode mode, const OpLists& lists, const std::vector<bool>& to_process)
      : types_(types),
        mode_(mode),
        lists_(lists),
        to_process_(to_process),
        target_(mode == Mode::kBf16 ? proto::DT_BFLOAT16 : proto::DT_HALF),
        half_(types.size()),
        barred_(types.size()) {}

  std::vector<bool> Paint() {
    FindTensorLists();
    bool any = false;
    for (int i = 0; i < types_.size(); ++i) {
      if (!IsToProcess(i) || !Is(lists_.allow, i)) continue;
      half_[i] = true;
      any = true;
    }
    if (!any) return half_;
    PropagateDenyFwdThroughClearAndInfer();
    MatchTensorLists();
    AddClearAndInferToAllowIfBetweenAllow();
    if (mode_ != Mode::kCuda) AddInferToAllowIfFollowAllow();
    PropagateAllowThroughClear();
    TakeBackUnsupported();
    MatchTensorLists();
    MatchLoops();
    PaintCasts();
    return half_;
  }

 private:
  bool IsToProcess(int i) const { return to_process_[types_[i].node.id()]; }
  bool Is(const llvm::StringSet<>& list, int i) const { return list.contains(types_[i].node.op()); }
  bool IsFloat(int i) const { return types_[i].type == proto::DT_FLOAT; }

  // Whether the definition of the op allows half for this dtype of the node.
  bool Allows(int i) const {
    const TypeVertex& vertex = types_[i];
    const OpInfo* info = FindOp(vertex.node.op());
    if (!info) return false;
    if (vertex.attr.empty()) return vertex.type == target_;
    const OpAttr* attr = info->FindAttr(vertex.attr);
    return attr &&
           (attr->allowed_types.empty() || llvm::is_contained(attr->allowed_types, target_));
  }
  bool HasKernel(int i) const {
    if (!Allows(i) || types_[i].attr.empty()) return false;
    return mode_ == Mode::kCuda || HasCpuKernel(types_[i].node.op(), target_);
  }

  // --- Tensor lists.
  //
  // For an op on a tensor list: the vertex of the list's element dtype, if that is float; -1
  // otherwise.
  int ElementVertex(const Node& node) const {
    if (!node.op().contains("TensorList")) return -1;
    for (int i : types_.Of(node)) {
      if (!types_[i].attr.empty() && types_[i].index < 0 && IsFloat(i)) return i;
    }
    return -1;
  }

  void FindTensorLists() {
    llvm::DenseSet<int> grouped;
    for (int root = 0; root < types_.size(); ++root) {
      const TypeVertex& vertex = types_[root];
      bool is_handle = vertex.attr.empty() && vertex.type == proto::DT_VARIANT;
      int element = is_handle && IsToProcess(root) ? ElementVertex(vertex.node) : -1;
      if (element < 0 || grouped.contains(element)) continue;
      std::vector<int> group;
      types_.Walk(
          root, TypeGraph::kBoth, [](int) { return true; },
          [&](int i) {
            int other = ElementVertex(types_[i].node);
            if (other >= 0) {
              if (grouped.insert(other).second) group.push_back(other);
              if (!IsToProcess(i)) barred_[element] = true;
            } else if (IsSourceOrSink(types_[i].node)) {
              barred_[element] = true;
            }
          });
      tensor_lists_.push_back(std::move(group));
    }
    for (const std::vector<int>& group : tensor_lists_) {
      for (int reader : group) AddEdgesFromWriters(reader);
    }
  }

  void AddEdgesFromWriters(int reader) {
    if (!IsTensorListReader(types_[reader].node.op())) return;
    for (int handle : types_.Of(types_[reader].node)) {
      if (!types_[handle].attr.empty() || types_[handle].type != proto::DT_VARIANT) continue;
      std::vector<int> writers;
      types_.Walk(
          handle, TypeGraph::kFromInputs, [&](int i) { return IsToProcess(i); },
          [&](int i) {
            int element = ElementVertex(types_[i].node);
            if (element >= 0 && IsTensorListWriter(types_[i].node.op())) writers.push_back(element);
          });
      for (int writer : writers) types_.AddEdge(writer, reader);
    }
  }

  void MatchTensorLists() {
    for (const std::vector<int>& group : tensor_lists_) {
      bool any_barred = llvm::any_of(group, [&](int i) { return barred_[i]; });
      bool any_half = llvm::any_of(group, [&](int i) { return half_[i]; });
      for (int i : group) {
        if (any_barred) barred_[i] = true;
        if (any_barred || any_half) half_[i] = !any_barred;
      }
    }
  }

  // --- The steps; the first four have the names of TensorFlow's functions.
  void PropagateDenyFwdThroughClearAndInfer() {
    std::vector<bool> leads_on(types_.size());  // to a deny or infer op, through clear ops
    for (int root = 0; root < types_.size(); ++root) {
      if (!Is(lists_.deny, root) && !Is(lists_.infer, root)) continue;
      types_.Walk(
          root, TypeGraph::kFromInputs, [&](int i) { return !leads_on[i] && Is(lists_.clear, i); },
          [&](int i) { leads_on[i] = true; });
    }
    for (int root = 0; root < types_.size(); ++root) {
      if (barred_[root] || !Is(lists_.deny, root)) continue;
      types_.Walk(
          root, TypeGraph::kToOutputs, [&](int i) { return !barred_[i] && leads_on[i]; },
          [&](int i) { barred_[i] = true; });
    }
  }

  void AddClearAndInferToAllowIfBetweenAllow() {
    std::vector<bool> after(types_.size()), before(types_.size());
    for (int root = 0; root < types_.size(); ++root) {
      if (!IsToProcess(root) || !Is(lists_.allow, root)) continue;
      types_.Walk(
          root, TypeGraph::kToOutputs,
          [&](int i) {
            return !after[i] && !Is(lists_.allow, i) && !barred_[i] && IsToProcess(i) &&
                   IsFloat(i) && HasKernel(i) && (Is(lists_.clear, i) || Is(lists_.infer, i));
          },
          [&](int i) { after[i] = true; });
    }
    for (int root = 0; root < types_.size(); ++root) {
      if (!IsToProcess(root) || before[root] || !Is(lists_.allow, root)) continue;
      types_.Walk(
          root, TypeGraph::kFromInputs, [&](int i) { return !before[i] && after[i]; },
          [&](int i) {
            before[i] = true;
            half_[i] = true;
          });
    }
  }

  void AddInferToAllowIfFollowAllow() {
    for (int i = 0; i < types_.size(); ++i) {
      bool may = IsToProcess(i) && !barred_[i] && !half_[i] && Is(lists_.infer, i) && IsFloat(i) &&
                 Allows(i);
      if (!may || llvm::any_of(types_[i].from, [&](int from) { return barred_[from]; })) continue;
      if (llvm::any_of(types_[i].from, [&](int from) { return half_[from]; })) half_[i] = true;
    }
  }

  void PropagateAllowThroughClear() {
    std::vector<bool> seen(types_.size());
    for (int root = 0; root < types_.size(); ++root) {
      if (!IsToProcess(root) || seen[root] || !half_[root]) continue;
      types_.Walk(
          root, TypeGraph::kBoth,
          [&](int i) {
            return !half_[i] && !barred_[i] && IsToProcess(i) && IsFloat(i) && HasKernel(i) &&
                   Is(lists_.clear, i) && !ReadsVariable(types_[i].node);
          },
          [&](int i) {
            seen[i] = true;
            half_[i] = true;
          });
    }
  }

  void TakeBackUnsupported() {
    for (int i = 0; i < types_.size(); ++i) {
      if (!half_[i] || !Is(lists_.allow, i)) continue;
      bool is_quantized = llvm::any_of(types_.Of(types_[i].node),
                                       [&](int own) { return IsQuantized(types_[own].type); });
      if (is_quantized || !Allows(i)) half_[i] = false;
    }
  }

  void MatchLoops() {
    for (int i = 0; i < types_.size(); ++i) {
      const TypeVertex& next = types_[i];
      if (next.node.op() != "NextIteration" || next.attr != "T") continue;
      bool all_half = llvm::all_of(next.to, [&](int merge) { return half_[merge]; });
      half_[i] = all_half;
      if (!all_half) {
        for (int merge : next.to) half_[merge] = false;
      }
    }
  }

  void PaintCasts() {
    for (int i = 0; i < types_.size(); ++i) {
      const TypeVertex& cast = types_[i];
      if (cast.node.op() != "Cast" || cast.attr != "DstT" || !IsFloat(i) || cast.to.empty())
        continue;
      if (llvm::all_of(cast.to, [&](int reader) { return half_[reader]; })) half_[i] = true;
    }
  }

  TypeGraph& types_;
  const Mode mode_;
  const OpLists& lists_;
  const std::vector<bool>& to_process_;
  const DataType target_;
  std::vector<bool> half_, barred_;
  std::vector<std::vector<int>> tensor_lists_;  // vertices of their element dtypes
};

}  // namespace

std::vector<bool> NodesToProcess(Editor& edit, Mode mode, const OpLists& lists) {
  const Graph& graph = edit.graph();
  bool has_gpu = false;
  for (Node node : graph.nodes()) has_gpu |= DevicePartMentions(node.device(), "gpu");
  llvm::StringRef wanted = mode == Mode::kCuda ? "gpu" : "cpu";
  std::vector<bool> to_process(graph.end_id());
  for (Node node : graph.nodes()) {
    // A node without a device counts as on a GPU if the graph names one.
    bool is_here = node.device().empty() ? has_gpu == (mode == Mode::kCuda)
                                         : DevicePartMentions(node.device(), wanted);
    to_process[node.id()] = is_here && !edit.IsPreserved(node);
    if (to_process[node.id()] || !lists.allow.contains(node.op())) continue;
    if (is_here) {
      edit.Refuse(
          "convert", node,
          "'{0}' is fetched, fed or kept\nuse another node for that, such as an Identity of it",
          node.name());
    } else {
      edit.Refuse("convert", node, "'{0}' is on {1}, a {2} was expected\nplace it there",
                  node.name(), QuotedDevice(node.device()), wanted.upper());
    }
  }
  return to_process;
}

std::vector<bool> Paint(TypeGraph& types, Mode mode, const OpLists& lists,
                        const std::vector<bool>& to_process) {
  return Painter(types, mode, lists, to_process).Paint();
}

}  // namespace grapnel::auto_mixed_precision
