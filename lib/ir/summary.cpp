#include "lib/ir/summary.h"

#include <algorithm>
#include <set>

#include "lib/ir/function_ends.h"
#include "lib/ir/node_types.h"
#include "lib/ir/wire.h"
#include "llvm/ADT/DenseMap.h"

namespace grapnel {
namespace {

// The tensor of a Const, by its attributes: the elements are not read.
struct ConstantTensor {
  DataType dtype = proto::DT_INVALID;
  Shape shape = Shape::Scalar();
  uint64_t texts = 0, text_bytes = 0;  // the strings in the file

  explicit ConstantTensor(const Node& node) : dtype(node.GetType("dtype")) {
    auto value = node.FindAttr("value");
    auto tensor = value ? value->AsTensor() : std::nullopt;
    WireReader reader(tensor.value_or(llvm::StringRef()));
    while (reader.Next()) {
      if (reader.Is(2, WireType::kBytes)) {
        proto::TensorShapeProto dims;
        if (dims.ParseFromArray(reader.bytes().data(), reader.bytes().size()))
          shape = Shape::FromProto(dims);
      } else if (reader.Is(8, WireType::kBytes)) {
        ++texts;
        text_bytes += reader.bytes().size();
      }
    }
  }

  // Returns the bytes of the elements in memory; of strings, those of the texts, of which one may
  // stand for all. 0 if the shape is not known.
  uint64_t bytes() const {
    std::optional<int64_t> elements = shape.NumElements();
    if (!elements || *elements < 0) return 0;
    if (dtype == proto::DT_STRING) return texts == 1 ? text_bytes * *elements : text_bytes;
    return static_cast<uint64_t>(*elements) * DataTypeSize(dtype);
  }
};

ConstantSummary DescribeConstant(const Node& node, const Function* function) {
  ConstantTensor tensor(node);
  ConstantSummary constant;
  constant.name = function ? (function->name() + "/" + node.name()).str() : node.name().str();
  constant.dtype = DataTypeName(tensor.dtype).str();
  constant.shape = tensor.shape.ToString();
  constant.bytes = tensor.bytes();
  constant.stored_bytes = node.graph().Source(node.id()).size();
  return constant;
}

class Summarizer {
 public:
  Summarizer(const Module& module, llvm::function_ref<Shape(Port)> shape_of)
      : module_(module), shape_of_(shape_of) {}

  Summary Run() {
    summary_.nodes = module_.main.num_nodes();
    summary_.is_function = IsFunctionGraph(module_.main);
    if (summary_.is_function) DescribeFunctionEnds();
    std::vector<std::string> calls = Walk(module_.main, nullptr);
    summary_.called_from_main = calls;
    std::map<std::string, int> callers;
    for (const std::string& callee : calls) ++callers[callee];
    for (const auto& function : module_.functions) {
      FunctionSummary entry;
      entry.name = function->name().str();
      entry.nodes = function->body.num_nodes() - function->args.size() - function->results.size();
      entry.calls = Walk(function->body, function.get());
      for (const std::string& callee : entry.calls) ++callers[callee];
      summary_.function_nodes += entry.nodes;
      summary_.functions.push_back(std::move(entry));
    }
    for (FunctionSummary& function : summary_.functions) function.callers = callers[function.name];
    CountOps();
    LargestConstants();
    ReadVersions();
    return std::move(summary_);
  }

 private:
  struct Held {
    Node node;
    const Function* function;
    uint64_t bytes;
  };

  std::vector<std::string> Walk(const Graph& graph, const Function* function) {
    std::set<std::string> calls;
    StringId constant = module_.strings.Find("Const"),
             host_constant = module_.strings.Find("HostConst");
    StringId arg = module_.strings.Find("_Arg"), retval = module_.strings.Find("_Retval");
    for (Node node : graph.nodes()) {
      if (function && (node.op_id() == arg || node.op_id() == retval)) continue;
      ++op_counts_[node.op_id()];
      if (!function) {
        summary_.data_edges += node.num_inputs();
        summary_.control_edges += node.num_controls();
        ++device_counts_[node.device_id()];
        if (!summary_.is_function) DescribeEnds(node);
      }
      if (node.op_id() == constant || node.op_id() == host_constant) {
        summary_.constant_bytes += graph.Source(node.id()).size();
        constants_.push_back({node, function, ConstantTensor(node).bytes()});
        continue;
      }
      auto [it, added] = may_call_.try_emplace(node.op_id(), false);
      if (added) it->second = MayCallFunctions(node);
      if (!it->second) continue;
      for (llvm::StringRef name : CalledFunctions(node)) calls.insert(name.str());
    }
    return std::vector<std::string>(calls.begin(), calls.end());
  }

  void DescribeFunctionEnds() {
    const Graph& graph = module_.main;
    FunctionEnds ends = EndsOfFunctionGraph(graph);
    for (NodeId id : ends.arguments) {
      ArgumentType type = TypeOfArgument(graph.node(id));
      TensorSummary tensor = EndWithIndex(graph.node(id), type.dtype, type.shape);
      if (type.held != proto::DT_INVALID) {
        tensor.held_dtype = DataTypeName(type.held).str();
        tensor.held_shape = type.held_shape.ToString();
      }
      summary_.inputs.push_back(std::move(tensor));
    }
    for (NodeId id : ends.results) {
      Node result = graph.node(id);
      bool reads = result.num_inputs() > 0 && result.input(0).node != kNoNode;
      DataType type = reads ? BaseType(TypeOfPort(graph, result.input(0))) : proto::DT_INVALID;
      if (type == proto::DT_INVALID) type = result.GetType("T");
      Shape shape = reads && shape_of_ ? shape_of_(result.input(0)) : Shape::Unknown();
      summary_.outputs.push_back(EndWithIndex(result, type, shape));
    }
    for (NodeId id : ends.stateful) {
      llvm::StringRef op = graph.node(id).op();
      if (!OnlyReadsState(op)) summary_.effects.push_back({graph.node(id).name().str(), op.str()});
    }
  }

  static TensorSummary EndWithIndex(const Node& end, DataType dtype, const Shape& shape) {
    TensorSummary tensor;
    tensor.name = end.name().str();
    tensor.op = end.op().str();
    if (dtype != proto::DT_INVALID) tensor.dtype = DataTypeName(dtype).str();
    tensor.shape = shape.ToString();
    if (end.FindAttr("index")) tensor.index = end.GetInt("index");
    return tensor;
  }

  void DescribeEnds(const Node& node) {
    llvm::StringRef op = node.op();
    bool is_input = op == "Placeholder" || op == "PlaceholderV2" || op == "PlaceholderWithDefault";
    bool is_output = node.uses().empty() && op != "NoOp" && op != "Const" && !is_input;
    if (!is_input && !is_output) return;
    auto attr = node.FindAttr("shape");
    auto shape = attr ? attr->AsShape() : std::nullopt;
    for (int port = 0, end = std::max(NumOutputs(node), 1); port < end; ++port) {
      TensorSummary tensor;
      tensor.name = node.name().str();
      if (port > 0) tensor.name += ":" + std::to_string(port);
      tensor.op = op.str();
      DataType type = TypeOfPort(module_.main, {node.id(), port});
      if (type != proto::DT_INVALID) tensor.dtype = DataTypeName(type).str();
      tensor.shape = shape ? shape->ToString() : "?";
      (is_input ? summary_.inputs : summary_.outputs).push_back(std::move(tensor));
    }
  }

  void CountOps() {
    for (const auto& [op, count] : op_counts_)
      summary_.ops.emplace_back(module_.strings.Get(op).str(), count);
    std::sort(summary_.ops.begin(), summary_.ops.end(), [](const auto& a, const auto& b) {
      return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    for (const auto& [device, count] : device_counts_)
      summary_.devices[module_.strings.Get(device).str()] = count;
  }

  void LargestConstants() {
    summary_.constants = constants_.size();
    size_t shown = std::min<size_t>(10, constants_.size());
    std::partial_sort(constants_.begin(), constants_.begin() + shown, constants_.end(),
                      [](const Held& a, const Held& b) {
                        return a.bytes != b.bytes ? a.bytes > b.bytes : a.node.id() < b.node.id();
                      });
    for (size_t i = 0; i < shown; ++i) {
      summary_.largest_constants.push_back(
          DescribeConstant(constants_[i].node, constants_[i].function));
    }
  }

  void ReadVersions() {
    WireReader reader(module_.versions);
    while (reader.Next()) {
      if (reader.Is(1, WireType::kVarint)) summary_.producer = static_cast<int>(reader.number());
      if (reader.Is(2, WireType::kVarint))
        summary_.min_consumer = static_cast<int>(reader.number());
    }
  }

  const Module& module_;
  llvm::function_ref<Shape(Port)> shape_of_;
  Summary summary_;
  llvm::DenseMap<StringId, size_t> op_counts_, device_counts_;
  llvm::DenseMap<StringId, bool> may_call_;
  std::vector<Held> constants_;
};

}  // namespace

Summary Summarize(const Module& module, llvm::function_ref<Shape(Port)> shape_of) {
  return Summarizer(module, shape_of).Run();
}

size_t CountNodes(const Module& module) {
  size_t nodes = module.main.num_nodes();
  for (const auto& function : module.functions) nodes += function->body.num_nodes();
  return nodes;
}

}  // namespace grapnel
