#include "lib/shape/onednn_need.h"

#include "lib/ir/device_name.h"
#include "lib/shape/inference.h"
#include "lib/support/text.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

bool MayNeed(llvm::StringRef op) { return op.starts_with("_Fused") || op.starts_with("_Mkl"); }

bool IsFusedContraction(llvm::StringRef op) { return op == "_FusedConv2D" || op == "_FusedMatMul"; }

// True for ops that TensorFlow's fused kernels without oneDNN can apply after a product or a
// convolution.
bool IsPlain(llvm::StringRef op, llvm::StringRef fused) {
  if (fused == "Tanh" || fused == "Sigmoid") return op == "_FusedMatMul";
  if (fused == "FusedBatchNorm") return op == "_FusedConv2D";
  return llvm::is_contained({"BiasAdd", "Relu", "Relu6", "Elu", "LeakyRelu"}, fused);
}

// Examines the nodes of one body.
class BodyLook {
 public:
  explicit BodyLook(const Graph& graph) : graph_(graph) {}

  // Returns the reason why the node fails without oneDNN; empty if it does not fail.
  std::string ReasonOf(const Node& node) {
    llvm::StringRef op = node.op();
    if (IsOn(node.device(), "GPU")) return "";
    if (op == "_FusedDepthwiseConv2dNative" || op == "_FusedConv3D" || op == "_FusedBatchNormEx")
      return op.str();
    if (op.starts_with("_Mkl")) {
      // _MklSwish and _MklFusedMish have a float kernel that does not need oneDNN.
      bool is_float = node.GetType("T") == proto::DT_FLOAT;
      return is_float && (op == "_MklSwish" || op == "_MklFusedMish") ? "" : op.str();
    }
    if (!IsFusedContraction(op)) return "";
    auto attr = node.FindAttr("fused_ops");
    auto fused = attr ? attr->AsStrings() : std::nullopt;
    if (!fused) return "";
    for (llvm::StringRef one : *fused)
      if (!IsPlain(op, one)) return (op + " with " + one).str();
    if (op == "_FusedConv2D" && node.GetString("data_format", "NHWC") != "NHWC")
      return (op + " in " + node.GetString("data_format", "NHWC")).str();
    if (fused->front() == "BiasAdd" && node.num_inputs() > 2) {
      const Shape& bias = shapes().OfPort(node.input(2));
      if (bias.known_rank() && bias.rank() != 1)
        return (op + " with a bias of shape " + bias.ToString()).str();
    }
    return "";
  }

 private:
  const ShapeMap& shapes() {
    if (!shapes_) shapes_ = InferShapes(graph_);
    return *shapes_;
  }

  const Graph& graph_;
  std::optional<ShapeMap> shapes_;
};

void LookAt(const Graph& graph, llvm::StringRef function, OneDnnNeed* need) {
  BodyLook look(graph);
  llvm::DenseMap<StringId, bool> may_need;
  for (Node node : graph.nodes()) {
    auto [known, is_new] = may_need.try_emplace(node.op_id(), false);
    if (is_new) known->second = MayNeed(node.op());
    if (!known->second) continue;
    std::string reason = look.ReasonOf(node);
    if (!reason.empty() && need->nodes++ == 0) {
      need->first = function.empty() ? node.name().str() : (function + "/" + node.name()).str();
      need->reason = std::move(reason);
    }
    if (IsOn(node.device(), "GPU")) continue;
    need->has_fused = true;
    need->made_with |= need->nodes > 0 || node.FindAttr("_input_shapes").has_value();
  }
}

}  // namespace

std::string OneDnnNeed::Text() const {
  if (nodes == 0) return "";
  return Plural(nodes, "node") + (nodes == 1 ? " needs" : " need") + " TensorFlow with oneDNN" +
         (nodes == 1 ? ": '" : ", such as '") + first + "' (" + reason + ")";
}

OneDnnNeed FindOneDnnNeed(const Module& module) {
  OneDnnNeed need;
  LookAt(module.main, "", &need);
  for (const auto& function : module.functions) LookAt(function->body, function->name(), &need);
  return need;
}

}  // namespace grapnel
