// An inference batch normalisation of constants becomes a multiplication and an addition, which
// constant folding works out.
//
//   Before:  bn = FusedBatchNormV3(x, scale, offset, mean, variance)
//   After:   bn/Scaled = Rsqrt(variance + epsilon) * scale;  bn = x * bn/Scaled + (offset - mean *
//   bn/Scaled)
//
// Refuses: training mode; dtypes other than float; a reader of any output but the first; scale or
// variance that are not constant, unless four inputs are.
#include "passes/remapper/remapper.h"

namespace grapnel {
namespace {

// Makes the nodes around one FusedBatchNorm, all on its device.
class Expander {
 public:
  Expander(Remapper& remap, const Node& norm) : remap_(remap), norm_(norm) {}

  Port Make(const char* suffix, const char* op, llvm::ArrayRef<Port> inputs,
            bool is_reshape = false) {
    Node node = remap_.edit.AddNode((norm_.name() + "/" + suffix).str(), op, norm_.device());
    remap_.edit.SetInputs(node, inputs);
    remap_.edit.SetAttr(node, "T", attr::Type(proto::DT_FLOAT));
    if (is_reshape) remap_.edit.SetAttr(node, "Tshape", attr::Type(proto::DT_INT32));
    return {node.id(), 0};
  }

  Port Constant(const std::string& suffix, const Literal& value,
                llvm::ArrayRef<Node> controls = {}) {
    Node node = remap_.edit.AddConstant((norm_.name() + "/" + suffix).str(), value, norm_.device(),
                                        controls);
    return {node.id(), 0};
  }

 private:
  Remapper& remap_;
  const Node& norm_;
};

// Statistics are vectors: with channels in front they need a shape that broadcasts.
void ShapeStatistics(Expander& make, const Node& norm, llvm::MutableArrayRef<Port> statistics) {
  std::string format = norm.GetString("data_format", "NHWC");
  if (format != "NCHW" && format != "NCDHW") return;
  std::vector<int32_t> dims(format.size(), 1);
  dims[1] = -1;
  Port shape = make.Constant(format + "Shape", Literal::Vector32(dims), {norm.input_node(1)});
  const char* names[] = {"ShapedScale", "ShapedOffset", "ShapedMean", "ShapedVariance"};
  for (int i = 0; i < 4; ++i) {
    statistics[i] = make.Make((format + names[i]).c_str(), "Reshape", {statistics[i], shape},
                              /*is_reshape=*/true);
  }
}

}  // namespace

bool ExpandBatchNorm(Remapper& remap, const Node& root) {
  constexpr const char* kRule = "expand_batch_norm";
  if (root.num_inputs() != 5 || root.GetType("T") != proto::DT_FLOAT ||
      root.GetBool("is_training", true))
    return false;
  bool constant[5];
  int constants = 0;
  for (int i = 0; i < 5; ++i) {
    constant[i] = remap.edit.IsConstant(root.input_node(i));
    constants += constant[i];
  }
  if (!(constant[1] && constant[4]) && constants < 4) {
    remap.edit.Refuse(kRule, root,
                      "neither scale '{0}' and variance '{1}' nor four inputs are constant",
                      root.input_node(1).name(), root.input_node(4).name());
    return false;
  }
  for (const Use& use : root.uses()) {
    Port read = remap.graph.node(use.node).input(use.slot);
    if (read.index <= 0) continue;
    remap.edit.Refuse(kRule, root, "'{0}' reads '{1}:{2}'", remap.graph.node(use.node).name(),
                      root.name(), read.index);
    return false;
  }
  if (!remap.Begin(kRule, root)) return true;
  Expander make(remap, root);
  Port x = root.input(0);
  Port statistics[] = {root.input(1), root.input(2), root.input(3), root.input(4)};
  ShapeStatistics(make, root, statistics);
  auto [scale, offset, mean, variance] = statistics;
  float epsilon = root.GetFloat("epsilon");
  Port constant_epsilon = make.Constant(
      "Const", Literal::Make(proto::DT_FLOAT, {}, {reinterpret_cast<const char*>(&epsilon), 4}));
  Port sum = make.Make("VarPlusEpsilon", "Add", {variance, constant_epsilon});
  Port inverse = make.Make("Inv", "Rsqrt", {sum});
  Port scaled = make.Make("Scaled", "Mul", {inverse, scale});
  Port product = make.Make("Mul", "Mul", {x, scaled});
  Port shift = make.Make("Mul2", "Mul", {mean, scaled});
  llvm::SmallVector<Port, 4> inputs = {product, make.Make("Offset", "Sub", {offset, shift})};
  for (int i = 0; i < root.num_controls(); ++i)
    inputs.push_back({root.control(i).id(), kControlPort});
  remap.Become(root, "Add", root.device(), inputs, {{"T", attr::Type(proto::DT_FLOAT)}});
  remap.EndRemoving({});
  return true;
}

}  // namespace grapnel
