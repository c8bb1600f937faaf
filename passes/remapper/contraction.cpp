// Matches a contraction (convolution or MatMul) and its bias, and checks whether it can be fused,
// for several rules.
//
//   BiasAdd(Conv2D(x, w), b)
//   AddV2(Conv2D(x, w), b)      where b has the shape [C], [1,C], [1,1,1,C] ...
#include "lib/ir/device_name.h"
#include "lib/ir/shape.h"
#include "passes/remapper/remapper.h"

namespace grapnel::remapper {
namespace {

bool IsChannelLast(const Node& node) {
  std::string format = node.GetString("data_format", "NHWC");
  return format == "NHWC" || format == "NDHWC";
}

// True if adding `bias` to `value` adds one number to each channel.
bool IsBiasShape(const Shape& value, const Shape& bias) {
  if (!value.known_rank() || !bias.known_rank() || value.rank() < 2 || bias.rank() < 1)
    return false;
  if (bias.rank() > value.rank() || value == bias) return false;
  int64_t channels = value.dim(value.rank() - 1);
  if (channels < 0 || bias.dim(bias.rank() - 1) != channels) return false;
  for (int i = 0; i + 1 < bias.rank(); ++i) {
    if (bias.dim(i) != 1) return false;
  }
  return true;
}

// The bias port of an Add that TensorFlow treats as a BiasAdd; nullopt for other sums, with a
// refusal if one of the terms is a contraction.
std::optional<int> BiasPortOfAdd(Remapper& rule, const Node& add) {
  if (!IsAddOrAddV2(add) || add.num_inputs() != 2) return std::nullopt;
  int bias_port = IsContraction(add.input_node(0)) ? 1 : 0;
  Node contraction = add.input_node(1 - bias_port);
  if (!IsContraction(contraction)) return std::nullopt;
  if (!IsOn(rule.DeviceOf(add), "CPU")) {
    rule.RefuseAt(add,
                  "'{0}' is on {1}, a CPU was expected (see --device)\n"
                  "place it on a CPU, or add the bias with BiasAdd",
                  add.name(), QuotedDevice(add.device()));
    return std::nullopt;
  }
  for (int i = 0; i < 2; ++i) {
    if (IsChannelLast(add.input_node(i))) continue;
    rule.RefuseAt(add,
                  "the channels of '{0}' are not its last dimension\n"
                  "add the bias with BiasAdd, or use the data format NHWC",
                  add.input_node(i).name());
    return std::nullopt;
  }
  Shape value = rule.ShapeOf(add.input(1 - bias_port)), bias = rule.ShapeOf(add.input(bias_port));
  if (IsBiasShape(value, bias)) {
    if (!rule.HasOneDnn(add)) return std::nullopt;
    return bias_port;
  }
  rule.RefuseAt(add,
                "the shapes {0} and {1} do not make '{2}' a bias\n"
                "add a tensor with the shape [channels], of a known number of channels",
                value.ToString(), bias.ToString(), add.input_node(bias_port).name());
  return std::nullopt;
}

// True if TensorFlow's own CPU kernels of _FusedConv2D and _FusedMatMul support the contraction;
// otherwise records a refusal at `root`.
bool IsFusableWithoutOneDnn(Remapper& rule, const Node& root, const Node& contraction) {
  llvm::StringRef op = contraction.op();
  if (op != "Conv2D" && op != "MatMul") return rule.HasOneDnn(root);
  DataType type = contraction.GetType("T");
  if (type != proto::DT_FLOAT && (op != "Conv2D" || type != proto::DT_DOUBLE)) {
    rule.RefuseAt(root,
                  "'{0}' has dtype {1}, which has no fused kernel without oneDNN\n"
                  "compute it in float",
                  contraction.name(), DataTypeName(type));
    return false;
  }
  if (op == "MatMul") return true;
  std::string format = contraction.GetString("data_format");
  bool makes_nchw =
      rule.edit.config().cpu_layout_conversion() == proto::RewriterConfig::NHWC_TO_NCHW;
  if (format == "NHWC" || (format == "NCHW" && makes_nchw)) return true;
  rule.RefuseAt(root,
                "'{0}' has the layout {1}, which has no fused kernel without oneDNN\n"
                "use the data format NHWC",
                contraction.name(), format);
  return false;
}

// cuDNN has one fusion that TensorFlow uses by default: a convolution with its bias and a Relu, if
// the window is known and larger than one in both directions. Records a refusal at `root` for other
// groups.
bool IsFusableOnGpu(Remapper& rule, const Node& root, const Node& contraction) {
  if (contraction.op() != "Conv2D" || root.op() != "Relu") {
    rule.RefuseAt(root,
                  "on a GPU only Conv2D with a bias and a Relu is fused, '{0}' is a {1}{2}\n"
                  "place it on a CPU; on a GPU TensorFlow does not fuse it",
                  contraction.name(), contraction.op(),
                  root.op() == "Relu" ? "" : " without a Relu");
    return false;
  }
  DataType type = contraction.GetType("T");
  bool has_type =
      type == proto::DT_FLOAT || (type == proto::DT_HALF && !rule.edit.boundary().onednn);
  std::string format = contraction.GetString("data_format");
  if (!has_type || (format != "NHWC" && format != "NCHW")) {
    rule.RefuseAt(root,
                  "'{0}' has dtype {1} and layout {2}, which TensorFlow does not fuse on a GPU\n"
                  "compute it in float, in the data format NHWC or NCHW",
                  contraction.name(), DataTypeName(type), format);
    return false;
  }
  Shape window = rule.ShapeOf(contraction.input(1));
  bool is_wide = window.known_rank() && window.rank() == 4;
  for (int i = 0; i < 2 && is_wide; ++i) is_wide = window.dim(i) > 1;
  if (is_wide) return true;
  rule.RefuseAt(root,
                "the window of '{0}' has the shape {1}; on a GPU it must have several rows and "
                "columns\nuse a window of at least 2 x 2, of a known shape",
                contraction.name(), window.ToString());
  return false;
}

}  // namespace

bool IsContraction(const Node& node) {
  llvm::StringRef op = node.op();
  return op == "Conv2D" || op == "DepthwiseConv2dNative" || op == "MatMul" || op == "Conv3D";
}

bool HasSameChannels(Remapper& rule, const Node& node, const Node& conv) {
  if (conv.op() == "MatMul" || IsChannelLast(node) == IsChannelLast(conv)) return true;
  rule.RefuseAt(node,
                "'{0}' has the data format {1}, and '{2}' {3}; unlike TensorFlow, which fuses them "
                "and so changes the values\nuse one data format",
                node.name(), node.GetString("data_format", "NHWC"), conv.name(),
                conv.GetString("data_format", "NHWC"));
  return false;
}

std::optional<BiasedContraction> MatchBias(Remapper& rule, const Node& node) {
  int bias_port = 1;
  if (node.op() == "BiasAdd") {
    if (node.num_inputs() < 2 || !IsContraction(node.input_node(0))) return std::nullopt;
  } else {
    auto port = BiasPortOfAdd(rule, node);
    if (!port) return std::nullopt;
    bias_port = *port;
  }
  Node contraction = node.input_node(1 - bias_port);
  if (!rule.HasNoControls(node)) return std::nullopt;
  if (contraction.GetType("T") != node.GetType("T")) {
    rule.NotMine("'{0}' has dtype {1}, and '{2}' {3}\nuse one dtype", contraction.name(),
                 DataTypeName(contraction.GetType("T")), node.name(),
                 DataTypeName(node.GetType("T")));
    return std::nullopt;
  }
  if (!rule.CanTake(node, contraction) || !HasSameChannels(rule, node, contraction))
    return std::nullopt;
  return BiasedContraction{contraction, node, bias_port};
}

bool IsFusable(Remapper& rule, const Node& root, const Node& contraction) {
  if (IsOn(rule.DeviceOf(contraction), "GPU")) return IsFusableOnGpu(rule, root, contraction);
  if (!IsOn(rule.DeviceOf(contraction), "CPU")) {
    rule.RefuseAt(root, "'{0}' is on {1}, a CPU was expected (see --device)\nplace it on a CPU",
                  contraction.name(), QuotedDevice(contraction.device()));
    return false;
  }
  DataType type = contraction.GetType("T");
  if (!rule.edit.boundary().onednn) return IsFusableWithoutOneDnn(rule, root, contraction);
  // TensorFlow also supports half if the CPU has AVX512-FP16; grapnel does not, because its passes
  // must not depend on the machine that they run on.
  if (type != proto::DT_FLOAT && type != proto::DT_BFLOAT16) {
    rule.RefuseAt(root,
                  "'{0}' has dtype {1}, which has no fused kernel\n"
                  "compute it in float; all but Conv2D also fuse in bfloat16",
                  contraction.name(), DataTypeName(type));
    return false;
  }
  if (type == proto::DT_BFLOAT16 && contraction.op() == "Conv2D") {
    rule.RefuseAt(
        root,
        "'{0}' has dtype bfloat16, which _FusedConv2D does not support; unlike TensorFlow, which "
        "makes a graph that it cannot import\ncompute it in float",
        contraction.name());
    return false;
  }
  if (contraction.op() != "Conv2D" && contraction.op() != "Conv3D") return true;
  std::string format = contraction.GetString("data_format");
  if (format != "NHWC" && format != "NCHW" && format != "NDHWC" && format != "NCDHW") {
    rule.RefuseAt(root,
                  "'{0}' has the layout {1}, which has no fused kernel\n"
                  "use the data format NHWC or NCHW",
                  contraction.name(), format);
    return false;
  }
  return true;
}

llvm::StringRef FusedOpOf(const Node& contraction) {
  llvm::StringRef op = contraction.op();
  if (op == "Conv2D") return "_FusedConv2D";
  if (op == "Conv3D") return "_FusedConv3D";
  return op == "MatMul" ? "_FusedMatMul" : "_FusedDepthwiseConv2dNative";
}

RemapAttrs FusedAttrsOf(Remapper& rule, const Node& contraction,
                        llvm::ArrayRef<llvm::StringRef> fused_ops, int num_args, float epsilon,
                        const Node& activation) {
  constexpr size_t kMost = 16;
  RemapAttrs attrs;
  attrs.reserve(kMost);
  attrs.emplace_back("fused_ops", attr::Strings(fused_ops));
  attrs.emplace_back("num_args", attr::Int(num_args));
  attrs.emplace_back("epsilon", attr::Float(epsilon));
  CopyAttr(&attrs, contraction, "T");
  llvm::StringRef op = contraction.op();
  bool is_matmul = op == "MatMul" || op == "_FusedMatMul";
  if (is_matmul) {
    CopyAttr(&attrs, contraction, "transpose_a");
    CopyAttr(&attrs, contraction, "transpose_b");
  } else {
    for (const char* key : {"strides", "padding", "dilations", "data_format"})
      CopyAttr(&attrs, contraction, key);
  }
  if (op == "Conv2D") {
    attrs.emplace_back("TArgs",
                       attr::Types(std::vector<DataType>(num_args, contraction.GetType("T"))));
    attrs.emplace_back("num_host_args", attr::Int(0));
    CopyAttr(&attrs, contraction, "explicit_paddings");
    CopyAttr(&attrs, contraction, "use_cudnn_on_gpu");
  }
  if (op == "Conv2D" || is_matmul) {
    std::string shapes = rule.InputShapes(contraction);
    if (!shapes.empty()) attrs.emplace_back("_input_shapes", shapes);
  }
  bool takes_alpha = op != "DepthwiseConv2dNative" && activation && activation.op() == "LeakyRelu";
  if (takes_alpha) {
    if (auto alpha = activation.Attr("alpha"))
      attrs.emplace_back("leakyrelu_alpha", alpha->bytes().str());
  }
  return attrs;
}

}  // namespace grapnel::remapper
