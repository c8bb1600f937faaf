// Communication between devices, and compiler annotations: collectives of NCCL and TPUs, meshes of
// DTensor, sharding of XLA; and RNNs of cuDNN, which have an op for their gradient.
#include "lib/trace/array_ops.h"
#include "lib/trace/body.h"
#include "lib/trace/gradient_rule.h"

namespace grapnel {
namespace {

using G = GradientContext;

// --- NCCL: one op for each device.

bool IsSum(G& g) { return g.node().GetString("reduction") == "sum"; }
constexpr const char* kOnlySum = "its gradient is known only for the reduction 'sum'";

InputGradients NcclAllReduceOf(G& g) {
  if (!IsSum(g)) return g.Fail(kOnlySum);
  auto on_device = g.OnDeviceOfOp();
  std::string name = g.node().GetString("shared_name") + "_grad";
  std::vector<OpAttribute> attributes = g.Attrs({"reduction", "num_devices"});
  attributes.emplace_back("shared_name", llvm::StringRef(name));
  return {g.Op("NcclAllReduce", {g.dy()}, attributes)};
}
GRAPNEL_GRADIENT("NcclAllReduce", NcclAllReduceOf);

InputGradients NcclReduceOf(G& g) {
  if (!IsSum(g)) return g.Fail(kOnlySum);
  auto on_device = g.OnDeviceOfOp();
  Value all = g.Op("NcclBroadcast", {g.dy()}, {{"shape", g.dy().shape()}});
  return InputGradients(g.num_inputs(), all);
}
GRAPNEL_GRADIENT("NcclReduce", NcclReduceOf);

// The incoming gradient is already the sum of the gradients from the devices. If an AddN made this
// sum, NcclReduce sums the inputs of the AddN instead.
InputGradients NcclBroadcastOf(G& g) {
  Value dy = g.dy();
  Node sum = dy.body()->is_eager ? Node() : NodeOf(dy);
  Values parts;
  if (sum && sum.op() == "AddN") {
    for (int i = 0; i < sum.num_inputs(); ++i) parts.emplace_back(dy.home(), sum.input(i));
  } else {
    parts.push_back(dy);
  }
  auto on_device = g.OnDeviceOfOp();
  return {g.Op("NcclReduce", {parts}, {{"reduction", "sum"}})};
}
GRAPNEL_GRADIENT("NcclBroadcast", NcclBroadcastOf);

// --- TPUs.

GRAPNEL_GRADIENT("AllToAll", [](G& g) -> InputGradients {
  const Node& node = g.node();
  return {g.Op("AllToAll", {g.dy(), g.x(1)},
               {{"concat_dimension", node.GetInt("split_dimension")},
                {"split_dimension", node.GetInt("concat_dimension")},
                {"split_count", node.GetInt("split_count")}})};
});
GRAPNEL_GRADIENT("CollectivePermute", [](G& g) -> InputGradients {
  Value pairs = Slice(g.x(1), {kAll, Span({}, {}, -1)});
  return {g.Op("CollectivePermute", {g.dy(), pairs})};
});
GRAPNEL_GRADIENT("CrossReplicaSum", [](G& g) -> InputGradients {
  return {g.Op("CrossReplicaSum", {g.dy(), g.x(1)})};
});
GRAPNEL_REFUSED_GRADIENT("TPUEmbeddingActivations",
                         "TensorFlow keeps its gradient in a collection of Python for the TPU");

// --- XLA.

InputGradients XlaEinsumOf(G& g) {
  std::string equation = g.node().GetString("equation");
  auto [inputs, output] = llvm::StringRef(equation).split("->");
  auto [left, right] = inputs.split(',');
  auto product = [&](const Value& other, const llvm::Twine& of) {
    std::string text = of.str();
    return g.Op("XlaEinsum", {g.dy(), other}, {{"equation", llvm::StringRef(text)}});
  };
  Value of_left = product(g.x(1), output + "," + right + "->" + left);
  return {of_left, product(g.x(0), output + "," + left + "->" + right)};
}
GRAPNEL_GRADIENT("XlaEinsum", XlaEinsumOf);

GRAPNEL_GRADIENT("XlaSharding", [](G& g) -> InputGradients {
  std::string sharding = g.node().GetString("sharding");
  std::vector<OpAttribute> attributes = g.Attrs({"sharding", "unspecified_dims"});
  attributes.emplace_back("_XlaSharding", llvm::StringRef(sharding));
  return {g.Op("XlaSharding", {g.dy()}, attributes)};
});
GRAPNEL_GRADIENT("XlaSpmdFullToShardShape", [](G& g) -> InputGradients {
  std::vector<OpAttribute> attributes = g.Attrs({"manual_sharding", "dim", "unspecified_dims"});
  attributes.emplace_back("full_shape", g.x(0).shape());
  return {g.Op("XlaSpmdShardToFullShape", {g.dy()}, attributes)};
});
GRAPNEL_GRADIENT("XlaSpmdShardToFullShape", [](G& g) -> InputGradients {
  return {g.Op("XlaSpmdFullToShardShape", {g.dy()},
               g.Attrs({"manual_sharding", "dim", "unspecified_dims"}))};
});
GRAPNEL_REFUSED_GRADIENT("XlaClusterOutput",
                         "the gradient must be made within the code that xla.compile() compiles");

// --- DTensor: the gradient gets the layout, or the mesh, of the forward op's input.

InputGradients RelayoutOf(G& g) { return {g.Op("RelayoutLike", {g.dy(), g.x(0)})}; }
GRAPNEL_GRADIENT("Relayout", RelayoutOf);
GRAPNEL_GRADIENT("RelayoutLike", RelayoutOf);
InputGradients CopyToMeshOf(G& g) { return {g.Op("CopyToMeshGrad", {g.dy(), g.x(0)})}; }
GRAPNEL_GRADIENT("CopyToMesh", CopyToMeshOf);
GRAPNEL_GRADIENT("CopyToMeshGrad", CopyToMeshOf);

// --- cuDNN's RNNs.

InputGradients CudnnRnnOf(G& g, const char* op, int version) {
  if (!g.node().GetBool("is_training", true))
    return g.Fail("its gradient needs is_training to be true");
  std::vector<Operand> operands;
  operands.reserve(g.num_inputs() + 8);
  for (int i = 0; i < g.num_inputs(); ++i) operands.emplace_back(g.x(i));
  for (int i = 0; i < 3; ++i) operands.emplace_back(g.y(i));
  for (int i = 0; i < 3; ++i) operands.emplace_back(g.dy(i));
  operands.emplace_back(g.y(3));
  if (version > 1) operands.emplace_back(g.y(4));
  std::vector<const char*> keys = {"dropout",  "seed",       "seed2",
                                   "rnn_mode", "input_mode", "direction"};
  if (version == 3) keys.insert(keys.end(), {"time_major", "num_proj"});
  Operation made = g.Op(op, operands, g.Attrs(keys));
  InputGradients gradients;
  for (int i = 0; i < 4; ++i) gradients.push_back(made.output(i));
  return gradients;
}
GRAPNEL_GRADIENT("CudnnRNN", [](G& g) { return CudnnRnnOf(g, "CudnnRNNBackprop", 1); });
GRAPNEL_GRADIENT("CudnnRNNV2", [](G& g) { return CudnnRnnOf(g, "CudnnRNNBackpropV2", 2); });
GRAPNEL_GRADIENT("CudnnRNNV3", [](G& g) { return CudnnRnnOf(g, "CudnnRNNBackpropV3", 3); });

// --- Python functions.

GRAPNEL_REFUSED_GRADIENT("EagerPyFunc", "it is a Python function, which a graph cannot contain");

}  // namespace
}  // namespace grapnel
