// Replaces groups of ops by one fused op that has a faster kernel, as TensorFlow with oneDNN does.
//
//   Before:  x, w -> Conv2D -> BiasAdd(b) -> Relu -> y       After:  x, w, b -> _FusedConv2D
//   {fused_ops=[BiasAdd, Relu]} -> y
//
// The result has the name of the last node of the group. Nodes are visited from the results back,
// so that the longest group wins; the first rule that fits does. One file a rule, or a few that are
// alike.
//
// Refuses: contractions without a device of their own; nodes inside a group that are fetched, are
// read from outside or have control edges; dtypes and layouts without a fused kernel.
#include "passes/remapper/remapper.h"

#include "lib/ir/op_table.h"
#include "lib/pass/pass.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

struct RemapRule {
  bool (*apply)(Remapper&, const Node&);
  std::vector<llvm::StringRef> roots;  // ops of the last node of the group
};

// In the order in which TensorFlow tries them.
const std::vector<RemapRule>& Rules() {
  static const std::vector<llvm::StringRef> activations = {"Relu",      "Relu6", "Elu",
                                                           "LeakyRelu", "Tanh",  "Sigmoid"};
  static const std::vector<llvm::StringRef> batch_norms = {"FusedBatchNorm", "FusedBatchNormV2",
                                                           "FusedBatchNormV3"};
  static const std::vector<RemapRule> rules = {
      {FuseBiasAddActivation, activations},
      {FuseFusedConvActivation, {"LeakyRelu", "_MklFusedMish"}},
      {FuseBiasAdd, {"Add", "AddV2", "AddN"}},
      {FusePadConv3D, {"Conv3D", "_FusedConv3D"}},
      {FuseMish, {"Mul"}},
      {FuseConvSwish, {"Mul"}},
      {FuseLeakyRelu, {"Maximum"}},
      {FuseSwish, {"Mul"}},
      {FuseGelu, {"Mul"}},
      {FuseBatchMatMul, {"Add", "AddV2"}},
      {FuseBias, {"BiasAdd", "Add", "AddV2"}},
      {FuseBiasActivation, activations},
      {FuseSqueezeBias, {"BiasAdd"}},
      {FuseConvBatchNorm, batch_norms},
      {FuseConvBatchNormActivation, activations},
      {FuseBatchNormRelu, {"Relu"}},
      {FuseHashBucket, {"StringToHashBucketFast"}},
      {ExpandBatchNorm, batch_norms},
  };
  return rules;
}

bool AnyInput(const Node& node, llvm::function_ref<bool(const Node&)> is) {
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (is(node.input_node(i))) return true;
  }
  return false;
}

bool IsAddToContraction(const Node& node) {
  if (!IsAdd(node)) return false;
  return AnyInput(node, [](const Node& input) {
    bool is_bias = input.op() == "BiasAdd" || IsAdd(input);
    return IsContraction(input) || (is_bias && AnyInput(input, IsContraction));
  });
}

// Whether TensorFlow infers shapes when it comes to this node.
bool NeedsShapes(const Node& node) {
  llvm::StringRef op = node.op();
  if (op == "BiasAdd" || op == "Transpose" || IsAddToContraction(node)) return true;
  if (IsFusedBatchNorm(node))
    return node.GetType("T") == proto::DT_FLOAT && !node.GetBool("is_training", true);
  if (!IsActivation(node)) return false;
  Node input = node.input_node(0);
  if (IsAddToContraction(input)) return true;
  if (op != "Relu") return false;
  if (IsFusedBatchNorm(input) || (IsAdd(input) && AnyInput(input, IsFusedBatchNorm))) return true;
  bool after_conv = (input.op() == "BiasAdd" || IsAdd(input)) && input.num_inputs() > 0 &&
                    (input.input_node(0).op() == "Conv2D" || input.input_node(0).op() == "Conv3D");
  DataType type = node.GetType("T");
  return after_conv && (type == proto::DT_FLOAT || type == proto::DT_HALF);
}

class RemapperPass : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    Remapper remap(edit);
    StringTable& strings = edit.module().strings;
    llvm::DenseMap<StringId, llvm::SmallVector<const RemapRule*, 4>> rules;
    for (const RemapRule& rule : Rules()) {
      for (llvm::StringRef op : rule.roots) rules[strings.Intern(op)].push_back(&rule);
    }
    llvm::DenseSet<StringId> noting, asking;
    for (const char* op : {"Conv2D", "DepthwiseConv2dNative", "BiasAdd", "Transpose", "Sigmoid",
                           "MatMul", "FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"}) {
      noting.insert(strings.Intern(op));
    }
    for (const char* op :
         {"BiasAdd", "Transpose", "Add", "AddV2", "FusedBatchNorm", "FusedBatchNormV2",
          "FusedBatchNormV3", "Relu", "Relu6", "Elu", "LeakyRelu", "Tanh", "Sigmoid"}) {
      asking.insert(strings.Intern(op));
    }
    std::vector<NodeId> order = GrapplerOrder(edit.graph(), edit.ranks());
    for (NodeId id : llvm::reverse(order)) {
      if (!edit.graph().IsAlive(id)) continue;
      Node node = edit.graph().node(id);
      if (!remap.shapes_wanted && asking.contains(node.op_id()) && NeedsShapes(node))
        remap.WantShapes(/*trust_feeds=*/false);
      auto found = rules.find(node.op_id());
      bool done = found != rules.end() && llvm::any_of(found->second, [&](const RemapRule* rule) {
                    return rule->apply(remap, node);
                  });
      if (!done && remap.shapes_wanted && noting.contains(node.op_id())) NoteShapes(remap, node);
      if (remap.stopped) break;
    }
    return Error::success();
  }

 private:
  static void NoteShapes(Remapper& remap, const Node& node) {
    std::string shapes = remap.InputShapes(node);
    auto old = node.FindAttr("_input_shapes");
    if (shapes.empty() || (old && old->bytes() == shapes) ||
        !remap.Begin("note_input_shapes", node))
      return;
    remap.edit.SetAttr(node, "_input_shapes", shapes);
    remap.edit.End();
  }
};

GRAPNEL_PASS(
    RemapperPass,
    (PassInfo{"remapper", "remap", 13, true, false, "remapping",
              "replaces groups of ops by one fused op",
              "nodes without a device, inner nodes that are fetched or read from outside, control "
              "edges"}),
    {"fuse_bias", "Conv2D, DepthwiseConv2dNative, Conv3D or MatMul and its bias become one op"},
    {"fuse_bias_activation", "the same with the activation that follows"},
    {"fuse_bias_add", "a contraction, its bias and the residual that is added become one op"},
    {"fuse_bias_add_activation", "the same with the activation that follows"},
    {"fuse_squeeze_bias", "a convolution takes the bias that is added after a Squeeze"},
    {"fuse_conv_batch_norm", "Conv2D and an inference FusedBatchNorm become _FusedConv2D"},
    {"fuse_conv_batch_norm_activation", "the same with the activation that follows"},
    {"fuse_conv_swish", "Conv2D, bias or batch norm, and x * Sigmoid(x) become _FusedConv2D"},
    {"fuse_fused_conv_activation", "a fused convolution takes the LeakyRelu or Mish that follows"},
    {"fuse_batch_norm_relu", "FusedBatchNorm and Relu become _FusedBatchNormEx"},
    {"expand_batch_norm",
     "an inference FusedBatchNorm of constants becomes a multiplication and an addition"},
    {"fuse_leaky_relu", "Maximum(x, alpha * x) becomes LeakyRelu"},
    {"fuse_swish", "x * Sigmoid(x) becomes _MklSwish"},
    {"fuse_mish", "x * Tanh(Softplus(x)) becomes _MklFusedMish"},
    {"fuse_gelu", "MatMul, bias and GELU become _FusedMatMul"},
    {"fuse_batch_matmul", "BatchMatMulV2, Mul by a number and Add become _MklFusedBatchMatMulV2"},
    {"fuse_pad_conv3d", "Conv3D pads its input itself"},
    {"fuse_hash_bucket", "AsString and StringToHashBucketFast become _TensorToHashBucketFast"},
    {"note_input_shapes",
     "writes _input_shapes on nodes that oneDNN may rewrite when TensorFlow runs the graph"});

}  // namespace

bool Remapper::HasControls(const Node& node) {
  if (node.num_controls() > 0) return true;
  return llvm::any_of(node.uses(), [&](const Use& use) {
    return node.graph().node(use.node).input(use.slot).IsControl();
  });
}

bool Remapper::HasNoControls(const char* rule, const Node& root) {
  if (!HasControls(root)) return true;
  edit.Refuse(rule, root, "'{0}' has control edges", root.name());
  return false;
}

bool Remapper::CanTake(const char* rule, const Node& root, const Node& inner) {
  if (HasControls(inner)) {
    edit.Refuse(rule, root, "'{0}' has control edges", inner.name());
  } else if (inner.uses().size() > 1) {
    edit.Refuse(rule, root, "'{0}' is read {1} times", inner.name(), inner.uses().size());
  } else if (edit.IsPreserved(inner)) {
    edit.Refuse(rule, root, "'{0}' is fetched, fed or kept", inner.name());
  } else {
    return true;
  }
  return false;
}

bool Remapper::Begin(const char* rule, const Node& root) {
  if (!edit.Begin(rule, root)) stopped = true;
  return !stopped;
}

bool Remapper::BeginWithoutGradient(const char* rule, const Node& root) {
  if (!edit.boundary().differentiable) return Begin(rule, root);
  edit.Refuse(rule, root, "a gradient is taken through '{0}', and the fused op has none",
              root.name());
  return false;
}

void Remapper::WantShapes(bool trust_feeds) {
  if (shapes_wanted) return;
  shapes_wanted = true;
  if (!trust_feeds) return;
  ShapeOptions options;
  options.fed = &edit.boundary().fed;
  trusting_ = std::make_unique<ShapeMap>(InferShapes(graph, options));
}

const Shape& Remapper::ShapeOf(Port port) {
  return trusting_ ? trusting_->OfPort(port) : edit.ShapeOf(port);
}

void Remapper::Become(const Node& node, llvm::StringRef op, llvm::StringRef device,
                      llvm::ArrayRef<Port> inputs, const RemapAttrs& attrs) {
  edit.SetOp(node, op);
  edit.SetDevice(node, device);
  edit.SetInputs(node, inputs);
  for (const auto& [key, value] : node.Attrs()) edit.RemoveAttr(node, key);
  for (const auto& [key, value] : attrs) edit.SetAttr(node, key, value);
  AddDefaults(node);
}

void Remapper::AddDefaults(const Node& node) {
  const OpInfo* info = FindOp(node.op());
  if (!info) return;
  for (const OpAttr& attr : info->attrs) {
    if (attr.default_value && !node.FindAttr(attr.name))
      edit.SetAttr(node, attr.name, *attr.default_value);
  }
}

void Remapper::EndRemoving(llvm::ArrayRef<Node> taken) {
  for (const Node& node : taken) edit.RemoveNode(node);
  edit.End();
}

// The rank that both operands of a contraction must have; 0 when the op demands none.
static int OperandRank(llvm::StringRef op) {
  op.consume_front("_Fused");
  return llvm::StringSwitch<int>(op)
      .Cases("Conv2D", "DepthwiseConv2dNative", 4)
      .Case("Conv3D", 5)
      .Case("MatMul", 2)
      .Default(0);
}

std::string Remapper::InputShapes(const Node& node) {
  if (!shapes_wanted || node.num_inputs() == 0) {
    auto attr = node.FindAttr("_input_shapes");
    return attr ? attr->bytes().str() : "";
  }
  std::vector<Shape> shapes;
  for (int i = 0; i < node.num_inputs(); ++i) {
    Shape shape = ShapeOf(node.input(i));
    // Of a fed tensor nothing is known but what the op demands. TensorFlow's oneDNN rewrite reads
    // these shapes and aborts the process on a contraction whose operands have no rank.
    int rank = i < 2 ? OperandRank(node.op()) : 0;
    shapes.push_back(shape.known_rank() || rank == 0 ? shape : Shape::UnknownOfRank(rank));
  }
  return attr::Shapes(shapes);
}

void CopyAttr(RemapAttrs* to, const Node& from, const char* key) {
  if (auto value = from.Attr(key)) to->emplace_back(key, value->bytes().str());
}

std::optional<float> ScalarOf(Remapper& remap, Port port) {
  Node node = remap.graph.node(port.node);
  if (node.op() == "Cast" && node.num_inputs() == 1) node = node.input_node(0);
  const Literal* literal = remap.edit.ConstantOf(node);
  if (!literal || literal->num_elements() != 1 || !IsFloating(literal->dtype()))
    return std::nullopt;
  return static_cast<float>(literal->AsDouble(0));
}

bool IsAdd(const Node& node) { return node.op() == "Add" || node.op() == "AddV2"; }
bool IsFusedBatchNorm(const Node& node) {
  llvm::StringRef op = node.op();
  return op == "FusedBatchNorm" || op == "FusedBatchNormV2" || op == "FusedBatchNormV3";
}
bool IsActivation(const Node& node) {
  llvm::StringRef op = node.op();
  return op == "Relu" || op == "Relu6" || op == "Elu" || op == "LeakyRelu" || op == "Tanh" ||
         op == "Sigmoid";
}

}  // namespace grapnel
