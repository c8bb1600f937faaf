// Expands an inference batch normalization of constants into a multiplication and an addition,
// which constant folding simplifies.
//
//   Before:  bn = FusedBatchNormV3(x, scale, offset, mean, variance)
//   After:   bn/Scaled = Rsqrt(variance + epsilon) * scale
//            bn = x * bn/Scaled + (offset - mean * bn/Scaled)
//
// Refuses: training mode; dtypes other than float; any output but the first that is read or
// fetched; a scale or a variance that is not constant, unless four of the five inputs are constant.
#include "passes/remapper/remapper.h"

namespace grapnel::remapper {
namespace {

// Makes the nodes that replace one FusedBatchNorm, all on its device.
class Expander {
 public:
  Expander(Remapper& rule, const Node& norm) : rule_(rule), norm_(norm) {}

  Port Make(const char* suffix, const char* op, llvm::ArrayRef<Port> inputs) {
    Node node = rule_.Make((norm_.name() + "/" + suffix).str(), op, norm_.device(), inputs);
    rule_.SetType(node, "T", proto::DT_FLOAT);
    return {node.id(), 0};
  }

  Port Constant(const std::string& suffix, const Literal& value,
                llvm::ArrayRef<Node> controls = {}) {
    Node node = rule_.edit.AddConstant((norm_.name() + "/" + suffix).str(), value, norm_.device(),
                                       controls);
    return {node.id(), 0};
  }

  // With channels first, reshapes the vectors scale, offset, mean and variance so that they
  // broadcast along the channels.
  void Reshape(llvm::MutableArrayRef<Port> statistics) {
    std::string format = norm_.GetString("data_format", "NHWC");
    if (format != "NCHW" && format != "NCDHW") return;
    std::vector<int32_t> dims(format.size(), 1);
    dims[1] = -1;
    Port shape = Constant(format + "Shape", Literal::Vector32(dims), {norm_.input_node(1)});
    const char* names[] = {"ShapedScale", "ShapedOffset", "ShapedMean", "ShapedVariance"};
    for (int i = 0; i < 4; ++i) {
      statistics[i] = Make((format + names[i]).c_str(), "Reshape", {statistics[i], shape});
      rule_.SetType(rule_.graph.node(statistics[i].node), "Tshape", proto::DT_INT32);
    }
  }

 private:
  Remapper& rule_;
  const Node& norm_;
};

bool IsOfConstants(Remapper& rule, const Node& norm) {
  auto is_constant = [&](int i) { return rule.edit.IsConstant(norm.input_node(i)); };
  int constants = 0;
  for (int i = 0; i < 5; ++i) constants += is_constant(i);
  if ((is_constant(1) && is_constant(4)) || constants >= 4) return true;
  return rule.Fails(
      "neither scale '{0}' and variance '{1}' nor four of the inputs are constant\n"
      "make the variables constants: --freeze",
      norm.input_node(1).name(), norm.input_node(4).name());
}

Verdict ExpandBatchNorm(Remapper& rule, const Node& root) {
  if (root.num_inputs() != 5) return rule.NotMine();
  if (root.GetType("T") != proto::DT_FLOAT || root.GetBool("is_training", true))
    return rule.NotMine(
        "'{0}' has dtype {1}{2}, float for inference was expected\n"
        "use the model for inference, training=False, in float",
        root.name(), DataTypeName(root.GetType("T")),
        root.GetBool("is_training", true) ? " and is in training mode" : "");
  if (!IsOfConstants(rule, root) || !rule.OnlyFirstIsUsed(root)) return rule.Refused();
  Expander expander(rule, root);
  Port x = root.input(0);
  Port statistics[] = {root.input(1), root.input(2), root.input(3), root.input(4)};
  expander.Reshape(statistics);
  auto [scale, offset, mean, variance] = statistics;
  float epsilon = root.GetFloat("epsilon");
  Port constant_epsilon = expander.Constant(
      "Const", Literal::Make(proto::DT_FLOAT, {}, {reinterpret_cast<const char*>(&epsilon), 4}));
  Port sum = expander.Make("VarPlusEpsilon", "Add", {variance, constant_epsilon});
  Port inverse = expander.Make("Inv", "Rsqrt", {sum});
  Port scaled = expander.Make("Scaled", "Mul", {inverse, scale});
  Port product = expander.Make("Mul", "Mul", {x, scaled});
  Port shift = expander.Make("Mul2", "Mul", {mean, scaled});
  llvm::SmallVector<Port, 4> inputs = {product, expander.Make("Offset", "Sub", {offset, shift})};
  for (int i = 0; i < root.num_controls(); ++i)
    inputs.push_back({root.control(i).id(), kControlPort});
  rule.Become(root, "Add", root.device(), inputs, {{"T", attr::Type(proto::DT_FLOAT)}});
  return rule.Done();
}

GRAPNEL_RULE(
    {.optimizer = "remapper",
     .after = "fuse_hash_bucket",
     .name = "expand_batch_norm",
     .ops = {"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"},
     .help = "an inference FusedBatchNorm of constants becomes a multiplication and an "
             "addition",
     .refuses =
         "training mode; dtypes other than float; other outputs than the first that are read or "
         "fetched; a scale or a variance that is not constant, unless four of the five inputs are",
     .pattern = "(_, Const, _, _, Const)",
     .apply = ExpandBatchNorm});

}  // namespace
}  // namespace grapnel::remapper
