// Converts convolutions, matrix products and the ops between them to half precision.
//
//   Before:  x:float, w:float -> MatMul m -> Relu r -> Exp e
//   After:   x -> Cast -> m:half;  w -> Cast -> m;  m -> r:half -> Cast -> e
//            "<node>-<port>-CastToFp16-<i>-AutoMixedPrecision", "...-CastToFp32-..."
//
// auto_mixed_precision does so on GPUs, which are assumed to have tensor cores; _onednn_bfloat16,
// and _mkl, an older name for it, on the CPU with bfloat16. _cpu shows on the CPU how half would
// affect the values: it keeps the ops in float and rounds their inputs and outputs:
//
//   After:   x -> Cast to half -> Cast to float -> m -> Cast to half -> Cast to float -> r ...
//
// All changes of dtype and all Casts are one rewrite, because only some of them would leave edges
// between different dtypes. TensorFlow also runs auto_mixed_precision on CPUs that compute in half;
// grapnel does not, because its passes must not depend on the machine that they run on.
//
// Refuses: nodes that are fetched, fed or kept, or on another device; ops on the deny list, and the
// infer ops after them (through clear and infer ops, up to the next op of the allow list), with the
// clear ops in between; ops that do not take half; for _cpu, graphs with a loop that carries half;
// for bfloat16, TensorFlow without oneDNN.
#include "lib/pass/pass.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/auto_mixed_precision/painting.h"

namespace grapnel::auto_mixed_precision {
namespace {

class Converter {
 public:
  Converter(Editor& edit, const TypeGraph& types, Mode mode, const std::vector<bool>& half)
      : edit_(edit),
        types_(types),
        half_(half),
        emulate_(mode == Mode::kCpu),
        target_(mode == Mode::kBf16 ? proto::DT_BFLOAT16 : proto::DT_HALF) {}

  void Convert() {
    for (int i = 0; i < types_.size(); ++i) {
      const TypeVertex& vertex = types_[i];
      if (vertex.type != proto::DT_FLOAT) continue;
      if (half_[i] && !emulate_) SetTarget(vertex);
      for (int output : vertex.outputs) {
        Port port = {vertex.node.id(), output};
        if (half_[i] && emulate_) port = Round(port);
        if (port.node != kNoNode) CastFor(port, half_[i]);
      }
    }
    if (!emulate_) return;
    // The nodes compute in float: Casts convert their inputs, which by now are all rounded to half,
    // back.
    for (int i = 0; i < types_.size(); ++i) {
      if (half_[i] && types_[i].type == proto::DT_FLOAT) ReadAsFloat(types_[i]);
    }
  }

 private:
  void SetTarget(const TypeVertex& vertex) {
    if (vertex.index < 0) {
      edit_.SetAttr(vertex.node, vertex.attr, attr::Type(target_));
      return;
    }
    std::vector<DataType> types = *vertex.node.Attr(vertex.attr)->AsTypes();
    types[vertex.index] = target_;
    edit_.SetAttr(vertex.node, vertex.attr, attr::Types(types));
  }

  // Makes all readers of the port read it rounded to half. Returns no port if there are no readers.
  Port Round(Port port) {
    llvm::SmallVector<Use, 4> uses = edit_.graph().node(port.node).UsesOf(port.index);
    if (uses.empty()) return {};
    Node cast = AddCast(port, true);
    for (const Use& use : uses)
      edit_.SetInput(edit_.graph().node(use.node), use.slot, {cast.id(), 0});
    return {cast.id(), 0};
  }

  void ReadAsFloat(const TypeVertex& vertex) {
    for (int input : vertex.inputs) {
      Node cast = AddCast(vertex.node.input(input), false);
      edit_.SetInput(vertex.node, input, {cast.id(), 0});
    }
  }

  // Adds a Cast of the port for those of its readers that take the other precision.
  void CastFor(Port port, bool is_half) {
    Node cast;
    for (const Use& use : edit_.graph().node(port.node).UsesOf(port.index)) {
      Node reader = edit_.graph().node(use.node);
      if (!types_.Has(reader) || half_[types_.OfInput(reader, use.slot)] == is_half) continue;
      if (!cast) cast = AddCast(port, !is_half);
      edit_.SetInput(reader, use.slot, {cast.id(), 0});
    }
  }

  Node AddCast(Port port, bool to_half) {
    Node source = edit_.graph().node(port.node);
    const char* what = !to_half                        ? "CastToFp32"
                       : target_ == proto::DT_BFLOAT16 ? "CastToBf16"
                                                       : "CastToFp16";
    std::string name;
    int number = 0;
    do {
      name = llvm::formatv("{0}-{1}-{2}-{3}-AutoMixedPrecision", source.name(), port.index, what,
                           number++)
                 .str();
    } while (edit_.graph().Find(name));
    Node cast = edit_.AddNode(name, "Cast", source.device());
    edit_.AddInput(cast, port);
    edit_.SetAttr(cast, "SrcT", attr::Type(to_half ? proto::DT_FLOAT : target_));
    edit_.SetAttr(cast, "DstT", attr::Type(to_half ? target_ : proto::DT_FLOAT));
    edit_.SetAttr(cast, "Truncate", attr::Bool(false));
    return cast;
  }

  Editor& edit_;
  const TypeGraph& types_;
  const std::vector<bool>& half_;
  const bool emulate_;
  const DataType target_;
};

// Replaces FusedBatchNorm and its gradient with their V2, which has a separate dtype for scale and
// offset. Returns false if --limit is used up.
bool UpdateBatchNorms(Editor& edit, const std::vector<bool>& to_process) {
  if (!edit.Runs("update_batch_norm")) return true;
  for (Node node : edit.graph().nodes()) {
    llvm::StringRef op = node.op();
    if (!to_process[node.id()] || (op != "FusedBatchNorm" && op != "FusedBatchNormGrad")) continue;
    if (!edit.Begin("update_batch_norm", node)) return false;
    edit.SetOp(node, op == "FusedBatchNorm" ? "FusedBatchNormV2" : "FusedBatchNormGradV2");
    edit.SetAttr(node, "U", attr::Type(proto::DT_FLOAT));
    edit.End();
  }
  return true;
}

// Refuses the graph if a loop passes half back to its start, because TensorFlow crashes on the Cast
// that this needs.
bool RefuseLoops(Editor& edit, const TypeGraph& types, const std::vector<bool>& half) {
  for (int i = 0; i < types.size(); ++i) {
    if (!half[i] || types[i].node.op() != "NextIteration") continue;
    edit.Refuse("convert", types[i].node,
                "'{0}' would pass half precision back to the start of a loop, on which TensorFlow "
                "crashes\nkeep the loop in float",
                types[i].node.name());
    return true;
  }
  return false;
}

template <Mode mode>
class AutoMixedPrecision : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    if (mode == Mode::kBf16 && !edit.boundary().onednn) return RefuseAll(edit);
    OpLists lists = ListsFor(mode);
    std::vector<bool> to_process = NodesToProcess(edit, mode, lists);
    if (!UpdateBatchNorms(edit, to_process) || !edit.Runs("convert")) return Error::success();
    ASSIGN_OR_RETURN(TypeGraph types, TypeGraph::Make(edit.graph()));
    std::vector<bool> half = Paint(types, mode, lists, to_process);
    auto first = llvm::find(half, true);
    if (first == half.end()) return Error::success();
    if (mode == Mode::kCpu && RefuseLoops(edit, types, half)) return Error::success();
    if (!edit.Begin("convert", types[static_cast<int>(first - half.begin())].node))
      return Error::success();
    Converter(edit, types, mode, half).Convert();
    edit.End();
    return Error::success();
  }

 private:
  // Records a refusal at the first MatMul or Conv2D. TensorFlow has the bfloat16 pass only with
  // oneDNN, since it has no faster bfloat16 kernels otherwise.
  static Error RefuseAll(Editor& edit) {
    for (Node node : edit.graph().nodes()) {
      if (node.op() != "MatMul" && node.op() != "Conv2D") continue;
      edit.Refuse("convert", node,
                  "'{0}' stays: TensorFlow has this pass only with oneDNN, which is off (--onednn "
                  "on)\nrun TensorFlow with oneDNN",
                  node.name());
      break;
    }
    return Error::success();
  }
};

#define GRAPNEL_MIXED_PRECISION(mode, pass, does)                                          \
  GRAPNEL_PASS(AutoMixedPrecision<mode>,                                                   \
               (PassInfo{.name = pass,                                                     \
                         .config_name = pass,                                              \
                         .order = 9,                                                       \
                         .run_once = true,                                                 \
                         .toggle = pass,                                                   \
                         .help = does,                                                     \
                         .refuses = "nodes that are fetched, fed or kept, other devices, " \
                                    "ops on the deny list and infer ops after "            \
                                    "them, ops that do not take half"}),                   \
               {.name = "convert", .help = "changes dtypes, and adds casts around them"},  \
               {.name = "update_batch_norm",                                               \
                .help = "FusedBatchNorm and FusedBatchNormGrad become their V2"})

GRAPNEL_MIXED_PRECISION(
    Mode::kCuda, "auto_mixed_precision",
    "convolutions, matrix products and ops between them run in half precision on GPUs");
GRAPNEL_MIXED_PRECISION(
    Mode::kCpu, "auto_mixed_precision_cpu",
    "rounds values to half on the CPU, to show how half precision affects them");
GRAPNEL_MIXED_PRECISION(Mode::kBf16, "auto_mixed_precision_mkl",
                        "auto_mixed_precision_onednn_bfloat16 under its old name");
GRAPNEL_MIXED_PRECISION(
    Mode::kBf16, "auto_mixed_precision_onednn_bfloat16",
    "convolutions, matrix products and ops around them run in bfloat16 on the CPU");

}  // namespace
}  // namespace grapnel::auto_mixed_precision
