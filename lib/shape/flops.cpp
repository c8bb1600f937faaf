#include "lib/shape/flops.h"

#include <algorithm>
#include <initializer_list>

#include "lib/ir/node_types.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

enum class Work {
  kElements,
  kReduction,
  kWindow,
  kNone,
  kMove,
  kMatMul,
  kBatchMatMul,
  kEinsum,
  kConvolution,
  kDepthwise,
  kInputGradient,
  kFilterGradient
};

llvm::StringMap<Work> WorkOfOps() {
  llvm::StringMap<Work> works;
  auto add = [&](Work work, std::initializer_list<llvm::StringRef> ops) {
    for (llvm::StringRef op : ops) works[op] = work;
  };
  add(Work::kMatMul, {"MatMul", "_FusedMatMul", "SparseMatMul", "QuantizedMatMul"});
  add(Work::kBatchMatMul, {"BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "_FusedBatchMatMulV2"});
  add(Work::kEinsum, {"Einsum"});
  add(Work::kConvolution, {"Conv2D", "_FusedConv2D", "Conv3D", "_FusedConv3D"});
  add(Work::kDepthwise, {"DepthwiseConv2dNative", "_FusedDepthwiseConv2dNative"});
  add(Work::kInputGradient, {"Conv2DBackpropInput", "Conv3DBackpropInputV2"});
  add(Work::kFilterGradient, {"Conv2DBackpropFilter", "Conv3DBackpropFilterV2"});
  add(Work::kReduction,
      {"Sum", "Prod", "Max", "Min", "All", "Any", "ArgMax", "ArgMin", "BiasAddGrad"});
  add(Work::kWindow, {"MaxPool", "AvgPool", "MaxPool3D", "AvgPool3D"});
  add(Work::kNone, {"Const",          "HostConst",    "Placeholder", "PlaceholderV2", "_Arg",
                    "_Retval",        "NoOp",         "Identity",    "IdentityN",     "Reshape",
                    "Squeeze",        "ExpandDims",   "Shape",       "ShapeN",        "Size",
                    "Rank",           "StopGradient", "Snapshot",    "VarHandleOp",   "VariableV2",
                    "ReadVariableOp", "Switch",       "Merge",       "Enter",         "Exit",
                    "NextIteration",  "LoopCond"});
  add(Work::kMove,
      {"Transpose", "ConcatV2", "Pack", "Unpack", "Split", "SplitV", "Slice", "StridedSlice",
       "GatherV2", "Pad", "PadV2", "Tile", "Fill", "Cast", "_Send", "_Recv"});
  return works;
}

Work WorkOf(llvm::StringRef op) {
  static const auto* works = new llvm::StringMap<Work>(WorkOfOps());
  auto found = works->find(op);
  return found == works->end() ? Work::kElements : found->second;
}

// Returns the operations per element of an op that takes several, as TensorFlow's profiler counts
// them. A softmax subtracts the maximum, which it looks for first, and divides by the sum of the
// exponentials.
int64_t PerElement(llvm::StringRef op) {
  return llvm::StringSwitch<int64_t>(op)
      .Cases("Rsqrt", "SquaredDifference", 2)
      .Case("RsqrtGrad", 4)
      .Cases("Softmax", "LogSoftmax", 5)
      .Default(1);
}

std::optional<int64_t> Elements(const Shape& shape) { return shape.NumElements(); }

std::optional<int64_t> DimOf(const Shape& shape, int from_end) {
  if (!shape.known_rank() || static_cast<int>(shape.dims().size()) < from_end) return std::nullopt;
  int64_t dim = shape.dims()[shape.dims().size() - from_end];
  return dim < 0 ? std::nullopt : std::optional<int64_t>(dim);
}

std::optional<int64_t> Product(std::optional<int64_t> a, std::optional<int64_t> b) {
  int64_t product;
  if (!a || !b || __builtin_mul_overflow(*a, *b, &product)) return std::nullopt;
  return product;
}

// Returns the multiply-adds per element of the gradient or output: the size of the filter without
// its output channels.
std::optional<int64_t> FilterOf(const Shape& filter) {
  std::optional<int64_t> all = Elements(filter), channels = DimOf(filter, 1);
  if (!all || !channels) return std::nullopt;
  return *channels == 0 ? 0 : *all / *channels;
}

// Returns the size of the dimension that a letter stands for in an equation's term, such as
// "b...ij".
std::optional<int64_t> DimOfLetter(const Shape& shape, llvm::StringRef term, size_t at) {
  size_t dots = term.find("...");
  if (dots != llvm::StringRef::npos && at > dots)
    return DimOf(shape, static_cast<int>(term.size() - at));
  bool is_known = shape.known_rank() && at < shape.dims().size() && shape.dims()[at] >= 0;
  return is_known ? std::optional<int64_t>(shape.dims()[at]) : std::nullopt;
}

// Each element of an einsum's output is a sum over all letters that do not occur in the output.
std::optional<int64_t> EinsumFlops(const Node& node, const ShapeMap& shapes) {
  std::string equation = node.GetString("equation");
  auto [left, right] = llvm::StringRef(equation).split("->");
  llvm::SmallVector<llvm::StringRef, 2> terms;
  left.split(terms, ',');
  std::optional<int64_t> sum = 1;
  std::string seen = right.str() + ".";
  for (int i = 0; i < node.num_inputs() && i < static_cast<int>(terms.size()); ++i) {
    for (size_t at = 0; at < terms[i].size(); ++at) {
      if (llvm::StringRef(seen).contains(terms[i][at])) continue;
      seen += terms[i][at];
      sum = Product(sum, DimOfLetter(shapes.OfPort(node.input(i)), terms[i], at));
    }
  }
  bool multiplies_and_adds = node.num_inputs() > 1 && sum != 1;
  return Product(multiplies_and_adds ? 2 : 1,
                 Product(Elements(shapes.OfPort({node.id(), 0})), sum));
}

std::optional<int64_t> LargestTensor(const Node& node, const ShapeMap& shapes) {
  int64_t largest = 0;
  auto see = [&](Port port) {
    std::optional<int64_t> elements = Elements(shapes.OfPort(port));
    if (elements) largest = std::max(largest, *elements);
    return elements.has_value();
  };
  bool known = true;
  for (int port = 0, end = NumOutputs(node); port < end; ++port) {
    // Outputs that nothing reads, such as what a batch normalization reserves for its gradient, may
    // have any shape.
    bool is_read = port == 0 || !node.UsesOf(port).empty();
    known &= see({node.id(), port}) || !is_read;
  }
  for (int i = 0; i < node.num_inputs(); ++i) known &= see(node.input(i));
  return known ? std::optional<int64_t>(largest) : std::nullopt;
}

}  // namespace

std::optional<int64_t> BytesOf(DataType type, const Shape& shape) {
  size_t size = DataTypeSize(BaseType(type));
  if (size == 0) return std::nullopt;
  return Product(shape.NumElements(), static_cast<int64_t>(size));
}

bool MovesNothing(llvm::StringRef op) { return WorkOf(op) == Work::kNone; }

std::optional<int64_t> EstimateFlops(const Node& node, const ShapeMap& shapes) {
  auto input = [&](int i) -> const Shape& { return shapes.OfPort(node.input(i)); };
  const Shape& output = shapes.OfPort({node.id(), 0});
  Work work = WorkOf(node.op());
  if (work == Work::kNone || work == Work::kMove) return 0;
  if (work == Work::kElements) return Product(PerElement(node.op()), LargestTensor(node, shapes));
  if (work == Work::kReduction) {  // n elements become one by n - 1 operations
    if (node.num_inputs() == 0) return std::nullopt;
    std::optional<int64_t> all = Elements(input(0)), left = Elements(output);
    if (!all || !left) return std::nullopt;
    return std::max<int64_t>(0, *all - *left);
  }
  if (work == Work::kWindow) {
    std::vector<int64_t> window = node.GetInts("ksize");
    return Product(NumElements(window), Elements(output));
  }
  if (work == Work::kEinsum) return EinsumFlops(node, shapes);
  int needed = work == Work::kInputGradient || work == Work::kFilterGradient ? 3 : 2;
  if (node.num_inputs() < needed) return std::nullopt;
  switch (work) {
    case Work::kMatMul:
      return Product(
          2, Product(Elements(output), DimOf(input(0), node.GetBool("transpose_a") ? 2 : 1)));
    case Work::kBatchMatMul:
      return Product(2, Product(Elements(output), DimOf(input(0), node.GetBool("adj_x") ? 2 : 1)));
    case Work::kConvolution:
      return Product(2, Product(Elements(output), FilterOf(input(1))));
    case Work::kDepthwise: {
      // The filter has the shape [height, width, channels, multiplier]: each output element reads
      // one channel.
      std::optional<int64_t> area = FilterOf(input(1)), channels = DimOf(input(1), 2);
      if (!area || !channels || *channels == 0) return std::nullopt;
      return Product(2, Product(Elements(output), *area / *channels));
    }
    case Work::kInputGradient: {
      // As TensorFlow's profiler, ignores the border, where the filter reads less.
      std::optional<int64_t> filter = Elements(input(1)), depth = DimOf(input(1), 2);
      std::optional<int64_t> strides = NumElements(node.GetInts("strides"));
      if (!filter || !depth || !strides || *depth == 0 || *strides <= 0) return std::nullopt;
      std::optional<int64_t> all = Product(2, Product(Elements(output), *filter / *depth));
      return all ? std::optional<int64_t>(*all / *strides) : std::nullopt;
    }
    default:
      return Product(2, Product(Elements(input(2)), FilterOf(output)));
  }
}

}  // namespace grapnel
