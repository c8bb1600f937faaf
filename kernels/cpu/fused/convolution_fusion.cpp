// Fuses the neighbors of a convolution into it: zeros padded around the image become its padding; a
// scale, a shift and a swish after it go into its filter, its bias and its activation.
//
//   Before:  x -> Pad -> DepthwiseConv2dNative(w) -> Mul(s) -> AddV2(b) -> y
//   After:   x -> _FusedDepthwiseConv2dNative(w * s, b, padding of both) -> y
//
// Refuses: a filter or bias that is not constant; a scale or shift that is not constant or has more
// than one number per channel; an intermediate value that anything else reads; channels first;
// dtypes other than float; a convolution with fused ops other than a bias; Relu and similar
// activations, which would turn NaN into 0. The Pad stays if it pads other dimensions, by more than
// 1024 or with other numbers than 0, if the convolution's padding is SAME, or if the filter is not
// finite: then the product of the filter and the padded zeros would not be 0.
#include <algorithm>
#include <cmath>
#include <memory>

#include "kernels/common/fused_ops.h"
#include "lib/exec/fusion.h"
#include "lib/ir/attr.h"
#include "lib/ir/module.h"
#include "lib/support/file.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

// y = conv(pad(x), filter) * scale + shift, optionally followed by a swish.
struct Pattern {
  int conv = -1, pad = -1, last = -1;
  bool is_depthwise = false;
  int64_t channels = 0;             // of the result
  std::vector<float> scale, shift;  // empty: none
  bool has_swish = false;
};

bool IsFloat(const Tensor* tensor) { return tensor && tensor->dtype() == proto::DT_FLOAT; }

// A constant filter may have any alignment.
typedef float FloatAnywhere __attribute__((aligned(1)));
const FloatAnywhere* ValuesOf(const Tensor& tensor) {
  return static_cast<const FloatAnywhere*>(tensor.raw());
}

bool IsFinite(const Tensor& tensor) {
  const FloatAnywhere* values = ValuesOf(tensor);
  for (int64_t i = 0; i < tensor.num_elements(); ++i)
    if (!std::isfinite(values[i])) return false;
  return true;
}

// Returns the only step that reads `step`; nullopt if anything else can see the value of `step`, or
// if that reader must not be fused.
std::optional<int> OnlyReader(const FusionView& view, int step) {
  if (!view.IsHidden(step) || view.Readers(step).size() != 1) return std::nullopt;
  int reader = view.Readers(step)[0];
  return view.IsFree(reader) ? std::optional(reader) : std::nullopt;
}

// Matches a convolution whose filter and bias may be replaced.
bool ReadConv(const FusionView& view, int step, Pattern& found) {
  Node node = view.node(step);
  llvm::StringRef op = node.op();
  bool is_plain = op == "Conv2D" || op == "DepthwiseConv2dNative";
  bool is_fused = op == "_FusedConv2D" || op == "_FusedDepthwiseConv2dNative";
  if ((!is_plain && !is_fused) || node.GetType("T") != proto::DT_FLOAT) return false;
  if (node.GetString("data_format", "NHWC") != "NHWC") return false;
  const Tensor* filter = view.Constant(step, 1);
  if (!IsFloat(filter) || filter->rank() != 4 || filter->num_elements() == 0) return false;
  found.conv = found.last = step;
  found.is_depthwise = op.contains("Depthwise");
  found.channels = filter->dim(3) * (found.is_depthwise ? filter->dim(2) : 1);
  if (!is_fused) return true;
  auto attr = node.Attr("fused_ops");
  auto ops = attr ? attr->AsStrings() : std::nullopt;
  if (!ops || ops->size() != 1 || ops->front() != "BiasAdd" || view.num_inputs(step) != 3)
    return false;
  const Tensor* bias = view.Constant(step, 2);
  if (!IsFloat(bias) || !IsVectorOf(*bias, found.channels)) return false;
  found.shift.assign(bias->data<float>(), bias->data<float>() + found.channels);
  return true;
}

// Returns input `i` as one number per channel; empty if it is not a constant of that form.
std::vector<float> NumbersOf(const FusionView& view, int step, int i, const Pattern& found) {
  const Tensor* value = view.Constant(step, i);
  if (!IsFloat(value) || value->rank() > 4) return {};
  if (value->num_elements() == 1)
    return std::vector<float>(found.channels, value->data<float>()[0]);
  if (!IsVectorOf(*value, found.channels)) return {};
  return {value->data<float>(), value->data<float>() + found.channels};
}

void Multiply(const std::vector<float>& by, Pattern& found) {
  if (found.scale.empty()) found.scale.assign(found.channels, 1);
  for (int64_t c = 0; c < found.channels; ++c) found.scale[c] *= by[c];
  for (size_t c = 0; c < found.shift.size(); ++c) found.shift[c] *= by[c];
}

void Add(const std::vector<float>& what, float sign, Pattern& found) {
  if (found.shift.empty()) found.shift.assign(found.channels, 0);
  for (int64_t c = 0; c < found.channels; ++c) found.shift[c] += sign * what[c];
}

// Extends the match by `step`, which reads the last matched step. False if the convolution cannot
// absorb it.
bool TakeReader(const FusionView& view, int step, Pattern& found) {
  Node node = view.node(step);
  llvm::StringRef op = node.op();
  if (view.output_types(step).size() != 1 || view.output_types(step)[0] != proto::DT_FLOAT)
    return false;
  if (op == "_MklSwish") {
    found.has_swish = true;
    found.last = step;
    return true;
  }
  if (view.num_inputs(step) != 2) return false;
  if (op == "BiasAdd" && node.GetString("data_format", "NHWC") != "NHWC") return false;
  int side = view.Maker(step, 0) == found.last ? 1 : 0;
  std::vector<float> numbers = NumbersOf(view, step, side, found);
  if (numbers.empty()) return false;
  if (op == "Mul")
    Multiply(numbers, found);
  else if (op == "AddV2" || op == "Add" || (op == "BiasAdd" && side == 1))
    Add(numbers, 1, found);
  else if (op == "Sub" && side == 1)
    Add(numbers, -1, found);
  else
    return false;
  found.last = step;
  return true;
}

// Returns the sizes of a Pad that precedes the convolution: two for each of the four dimensions,
// before and after it. Returns nullopt if there is no Pad that the convolution can absorb.
std::optional<std::vector<int64_t>> PaddingBefore(const FusionView& view, int conv, int* pad) {
  int maker = view.Maker(conv, 0);
  if (maker < 0) return std::nullopt;
  std::optional<int> reader = OnlyReader(view, maker);
  if (!reader || *reader != conv) return std::nullopt;
  llvm::StringRef op = view.node(maker).op();
  if (op != "Pad" && op != "PadV2") return std::nullopt;
  const Tensor* paddings = view.Constant(maker, 1);
  if (!paddings || paddings->rank() != 2 || paddings->dim(0) != 4 || paddings->dim(1) != 2)
    return std::nullopt;
  if (op == "PadV2") {
    const Tensor* value = view.Constant(maker, 2);
    if (!IsFloat(value) || value->num_elements() != 1 || value->data<float>()[0] != 0)
      return std::nullopt;
  }
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < 8; ++i) {
    sizes.push_back(paddings->IntAt(i));
    bool is_space = i >= 2 && i < 6;
    // With larger padding, which a Pad may have, the convolution could not use oneDNN.
    if (sizes.back() < 0 || sizes.back() > (is_space ? 1024 : 0)) return std::nullopt;
  }
  *pad = maker;
  return sizes;
}

// Returns the padding of Pad and convolution together, as the latter's attribute; empty if they
// cannot be combined.
std::vector<int64_t> PaddingOf(const FusionView& view, Pattern& found) {
  Node node = view.node(found.conv);
  std::string own = node.GetString("padding");
  if (own != "VALID" && own != "EXPLICIT") return {};
  std::vector<int64_t> inside = node.GetInts("explicit_paddings");
  if (own == "VALID") inside.assign(8, 0);
  if (inside.size() != 8) return {};
  int pad = -1;
  auto outside = PaddingBefore(view, found.conv, &pad);
  // Checked last because it reads the whole filter.
  if (!outside || !IsFinite(*view.Constant(found.conv, 1))) return {};
  found.pad = pad;
  for (int i = 0; i < 8; ++i) inside[i] += (*outside)[i];
  return inside;
}

// The fused convolution as a separate node, with its inputs other than the image.
struct FusedConv {
  Module module;
  NodeId id;
  std::vector<Tensor> constants;
};

std::shared_ptr<FusedConv> MakeNode(const FusionView& view, const Pattern& found,
                                    const std::vector<int64_t>& padding) {
  auto conv = std::make_shared<FusedConv>();
  Node node = view.node(found.conv);
  Graph& graph = conv->module.main;
  conv->id = graph.AddNode(node.name(),
                           found.is_depthwise ? "_FusedDepthwiseConv2dNative" : "_FusedConv2D");
  auto set = [&](llvm::StringRef key, llvm::StringRef value) {
    graph.SetAttr(conv->id, key, conv->module.Keep(value));
  };
  for (llvm::StringRef key : {"T", "strides", "dilations", "padding", "explicit_paddings"}) {
    if (auto attr = node.FindAttr(key)) set(key, attr->bytes());
  }
  std::vector<llvm::StringRef> ops;
  if (!found.shift.empty()) ops.push_back("BiasAdd");
  if (found.has_swish) ops.push_back("_MklSwish");
  set("fused_ops", attr::Strings(ops));
  if (!padding.empty()) {
    set("padding", attr::String("EXPLICIT"));
    set("explicit_paddings", attr::Ints(padding));
  }
  return conv;
}

// Computes the filter and bias with the scale folded in.
Error MakeConstants(const FusionView& view, const Pattern& found, FusedConv& conv) {
  const Tensor& filter = *view.Constant(found.conv, 1);
  conv.constants.push_back(filter);
  if (!found.scale.empty()) {
    ASSIGN_OR_RETURN(Tensor scaled,
                     Tensor::Allocate(proto::DT_FLOAT, filter.dims(), WeightAllocator()));
    // The result's channels are the filter's last dimension, or its last two (depthwise).
    const FloatAnywhere* values = ValuesOf(filter);
    const float* scale = found.scale.data();
    for (int64_t row = 0; row < filter.num_elements(); row += found.channels) {
      const FloatAnywhere* from = values + row;
      float* to = scaled.data<float>() + row;
      for (int64_t c = 0; c < found.channels; ++c) to[c] = from[c] * scale[c];
    }
    DropPages({static_cast<const char*>(filter.raw()), filter.byte_size()});
    conv.constants[0] = std::move(scaled);
  }
  if (found.shift.empty()) return Error::success();
  ASSIGN_OR_RETURN(Tensor bias, Tensor::Allocate(proto::DT_FLOAT, {found.channels}));
  llvm::copy(found.shift, bias.data<float>());
  conv.constants.push_back(std::move(bias));
  return Error::success();
}

Expected<KernelFn> MakeKernel(const std::shared_ptr<FusedConv>& conv, std::string name) {
  Node node = conv->module.main.node(conv->id);
  ASSIGN_OR_RETURN(const KernelDef* def, KernelRegistry::Get().Find(node, "CPU"));
  std::vector<DataType> inputs(1 + conv->constants.size(), proto::DT_FLOAT);
  std::vector<const Tensor*> constants = {nullptr};
  for (const Tensor& constant : conv->constants) constants.push_back(&constant);
  DataType output = proto::DT_FLOAT;
  ASSIGN_OR_RETURN(KernelFn run, def->factory(KernelSetup(node, inputs, output, constants)));
  conv->constants.clear();  // the kernel now owns the filter alone
  return KernelFn(
      [conv, run = std::move(run), name = std::move(name)](KernelContext& ctx) -> Error {
        if (ctx.input(0).dtype() != proto::DT_FLOAT)
          return Annotate(name, MakeError("input 0 is {0}, float was expected",
                                          DataTypeName(ctx.input(0).dtype())));
        Error error = run(ctx);
        return error ? Annotate(name, std::move(error)) : Error::success();
      });
}

std::optional<StepFusion> FindConvolution(const FusionView& view, int step) {
  Pattern found;
  if (!ReadConv(view, step, found)) return std::nullopt;
  std::vector<int64_t> padding = PaddingOf(view, found);
  StepFusion fusion;
  if (found.pad >= 0) fusion.steps.push_back(found.pad);
  fusion.steps.push_back(step);
  while (!found.has_swish) {
    std::optional<int> reader = OnlyReader(view, found.last);
    if (!reader || !TakeReader(view, *reader, found)) break;
    fusion.steps.push_back(found.last);
  }
  if (fusion.steps.size() < 2) return std::nullopt;
  std::shared_ptr<FusedConv> conv = MakeNode(view, found, padding);
  if (Error error = MakeConstants(view, found, *conv)) {  // out of memory: keep the steps unchanged
    llvm::consumeError(std::move(error));
    return std::nullopt;
  }
  fusion.inputs.push_back({found.pad >= 0 ? found.pad : step, 0, Tensor()});
  // A constant replaces the recorded input (the step's filter, input 1), whose only use is the
  // check that the constants are float.
  for (const Tensor& constant : conv->constants)
    fusion.inputs.push_back({step, 1, constant, /*is_kept=*/fusion.inputs.size() == 1});
  fusion.cost = KernelCost::kWide;
  size_t at = found.pad >= 0 ? 1 : 0;
  fusion.make = [conv, at](llvm::MutableArrayRef<FusedStep> steps) {
    return MakeKernel(conv, steps[at].name);
  };
  return fusion;
}

GRAPNEL_CPU_FUSION(1, FindConvolution);

}  // namespace
}  // namespace grapnel
