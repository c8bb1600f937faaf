#include "lib/serve/work/debug_json.h"

#include "lib/debugger/debug_values.h"
#include "lib/ir/find.h"
#include "lib/ir/literal_json.h"
#include "lib/ir/tensor_name.h"
#include "lib/render/graph_page.h"
#include "lib/render/labels.h"
#include "lib/serve/work/node_links.h"
#include "lib/support/json.h"
#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "lib/watch/array_text.h"
#include "llvm/Support/Base64.h"

namespace grapnel {
namespace {

using Why = DebugStop::Why;

constexpr int64_t kMostListed = 12;               // elements of a value in a list of values
constexpr size_t kMostTensors = 100;              // tensors listed for one node
constexpr int64_t kMostDrawn = int64_t{1} << 22;  // elements in statistics and pictures
constexpr int64_t kMostPrintedElements = 20000;   // elements of a value as text

const char* WhyText(Why why) {
  switch (why) {
    case Why::kStep:
      return "step";
    case Why::kBreakpoint:
      return "breakpoint";
    case Why::kBack:
      return "back";
    case Why::kFailed:
      return "failed";
    default:
      return "ended";
  }
}

void WriteNode(const Module& module, const Node& node, llvm::json::OStream& json) {
  WriteNodeLink(BodyNumber(module, node.graph()), node, json);
}

// Writes "index", "name", "type", "text" and "bad" of a tensor into the open object.
void WriteTensor(size_t index, const std::string& name, const Tensor& tensor,
                 llvm::json::OStream& json) {
  json.attribute("index", index);
  json.attribute("name", Printable(name));
  json.attribute("type", DataTypeName(tensor.dtype()).str() + DimsText(tensor.dims()));
  json.attribute("text", PrintableStart(tensor.ToString(kMostListed)));
  json.attribute("bad", !tensor.HoldsObjects() && HealthOf(tensor).IsBad());
}

void WriteInputs(const Module& module, const DebugStop& stop, llvm::json::OStream& json) {
  size_t count =
      std::min({static_cast<size_t>(stop.node.num_inputs()), stop.inputs.size(), kMostTensors});
  for (size_t i = 0; i < count; ++i) {
    Port from = stop.node.input(static_cast<int>(i));
    if (from.node == kNoNode || !stop.inputs[i]) continue;
    Node maker = stop.node.graph().node(from.node);
    json.object([&] {
      WriteTensor(i, OutputName(maker.name(), from.index), stop.inputs[i], json);
      json.attributeBegin("node");
      WriteNode(module, maker, json);
      json.attributeEnd();
    });
  }
}

void WriteOutputs(const DebugStop& stop, llvm::json::OStream& json) {
  if (stop.phase != DebugStop::Phase::kAfter) return;
  for (size_t i = 0; i < std::min(stop.outputs.size(), kMostTensors); ++i) {
    if (!stop.outputs[i]) continue;
    json.object([&] {
      WriteTensor(i, OutputName(stop.node.name(), static_cast<int>(i)), stop.outputs[i], json);
    });
  }
}

// Writes the calls and loops, the outermost first, each call with the calling node if the graph has
// that node.
void WriteFrames(const Module& module, llvm::ArrayRef<StopFrame> frames,
                 llvm::json::OStream& json) {
  const Graph* body = &module.main;
  for (const StopFrame& frame : frames) {
    json.object([&] {
      if (frame.iteration >= 0) json.attribute("iteration", frame.iteration);
      if (!frame.function) {
        json.attribute("loop", Printable(frame.loop));
        return;
      }
      json.attribute("function", Printable(frame.function->name()));
      json.attribute("body", BodyNumber(module, frame.function->body));
      if (Node caller = body->Find(frame.caller)) {
        json.attributeBegin("caller");
        WriteNode(module, caller, json);
        json.attributeEnd();
      }
      body = &frame.function->body;
    });
  }
}

void WriteFetched(const Debugger& debugger, llvm::json::OStream& json) {
  const DebugStop& stop = debugger.stop();
  for (size_t i = 0; i < stop.fetched.size(); ++i) {
    if (!stop.fetched[i]) continue;
    json.object([&] { WriteTensor(i, debugger.fetches()[i], stop.fetched[i], json); });
  }
}

void WriteWholes(const DebugStop& stop, llvm::json::OStream& json) {
  for (const WholeValue& whole : WholeValuesAt(stop, kMostListed)) {
    json.object([&] {
      json.attribute("name", Printable(whole.name));
      json.attribute("text", Printable(whole.text));
      json.attribute("is_read", whole.is_read);
      json.attributeArray("ports", [&] {
        for (int port : whole.ports) json.value(port);
      });
    });
  }
}

void WriteStop(const Debugger& debugger, llvm::json::OStream& json) {
  const DebugStop& stop = debugger.stop();
  const Module& module = debugger.module();
  json.attribute("why", WhyText(stop.why));
  json.attribute("after", stop.phase == DebugStop::Phase::kAfter);
  json.attribute("run", stop.run);
  json.attribute("step", stop.step);
  if (stop.iteration() >= 0) json.attribute("iteration", stop.iteration());
  if (!stop.error.empty()) json.attribute("error", PrintableLines(stop.error));
  if (stop.output >= 0) json.attribute("output", stop.output);
  json.attributeArray("hits", [&] {
    for (int number : stop.breakpoints) json.value(number);
  });
  json.attributeArray("frames", [&] { WriteFrames(module, stop.frames, json); });
  json.attributeArray("fetched", [&] { WriteFetched(debugger, json); });
  if (!stop.node) return;
  json.attributeBegin("node");
  WriteNode(module, stop.node, json);
  json.attributeEnd();
  json.attributeArray("reads", [&] { WriteInputs(module, stop, json); });
  json.attributeArray("makes", [&] { WriteOutputs(stop, json); });
  json.attributeArray("wholes", [&] { WriteWholes(stop, json); });
}

Expected<Tensor> Evaluate(const Debugger& debugger, llvm::StringRef text) {
  ASSIGN_OR_RETURN(TensorExpression expression, TensorExpression::Parse(text));
  return expression.Evaluate([&](llvm::StringRef name) -> Expected<Tensor> {
    ASSIGN_OR_RETURN(const KeptValue* value, debugger.Value(name));
    return value->value;
  });
}

Expected<Tensor> Sliced(const Tensor& tensor, llvm::StringRef slice) {
  if (slice.empty()) return tensor;
  std::string text = (slice.starts_with("[") ? "_" + slice : "_[" + slice + "]").str();
  ASSIGN_OR_RETURN(TensorExpression expression, TensorExpression::Parse(text));
  return expression.Evaluate([&](llvm::StringRef) { return Expected<Tensor>(tensor); });
}

Error WritePicture(const Tensor& tensor, const FoundValue& value, const ValueRequest& request,
                   llvm::json::OStream& json) {
  std::optional<ImageAxes> axes;
  if (!request.axes.empty()) {
    ASSIGN_OR_RETURN(axes, ParseImageAxes(request.axes));
  } else if (request.slice.empty()) {
    axes = ImageAxesOf(value.port, tensor.rank());
  }
  ASSIGN_OR_RETURN(HeatMap map, HeatMapOf(tensor, axes));
  json.attributeObject("picture", [&] {
    json.attribute("svg", HeatMapSvg(map, value.name.empty() ? request.expression : value.name));
    json.attribute("layout", map.layout);
    json.attribute("colors", map.colors);
  });
  return Error::success();
}

// Writes the statistics and the picture of a tensor's numbers.
void WriteNumbers(const Tensor& tensor, const FoundValue& value, const ValueRequest& request,
                  llvm::json::OStream& json) {
  bool has_numbers = !tensor.HoldsObjects() && tensor.dtype() != proto::DT_STRING;
  if (!has_numbers || tensor.num_elements() < 2) return;
  if (tensor.num_elements() > kMostDrawn) {
    json.attribute("no_picture",
                   "all " + WithCommas(tensor.num_elements()) +
                       " elements are too many for statistics and a picture: choose a "
                       "slice of at most " +
                       WithCommas(kMostDrawn) + " elements");
    return;
  }
  if (auto statistics = StatisticsOf(tensor.ToLiteral())) {
    json.attributeBegin("statistics");
    WriteStatisticsJson(*statistics, json);
    json.attributeEnd();
  }
  if (Error error = WritePicture(tensor, value, request, json))
    json.attribute("no_picture", Printable(TextOf(std::move(error))));
}

}  // namespace

void WriteDebugStop(const Debugger& debugger, llvm::json::OStream& json) {
  const DebugStop& stop = debugger.stop();
  json.attributeObject("stop", [&] { WriteStop(debugger, json); });
  json.attribute("at_end", stop.why == Why::kEnded || stop.why == Why::kFailed);
}

Expected<ValueRequest> ValueRequest::Parse(llvm::StringRef text) {
  auto json = ParseJson(text);
  if (!json) return Annotate("the request is not JSON", json.takeError());
  const llvm::json::Object* object = json->getAsObject();
  if (!object) return MakeError("the request is not a JSON object");
  ValueRequest request;
  auto number = [&](const char* key, int64_t usual, int64_t most) {
    return std::clamp<int64_t>(object->getInteger(key).value_or(usual), 0, most);
  };
  request.of = object->getString("of").value_or("").str();
  request.index = static_cast<size_t>(number("index", 0, INT32_MAX));
  request.expression = object->getString("expression").value_or("").trim().str();
  request.slice = object->getString("slice").value_or("").trim().str();
  request.precision = static_cast<int>(number("precision", 8, 100));
  request.edge_items = number("edge_items", 3, kMostPrintedElements);
  request.threshold = number("threshold", 1000, kMostPrintedElements);
  request.axes = object->getString("axes").value_or("").trim().str();
  if (request.of.empty() && request.expression.empty())
    return MakeError("the request names no tensor ('of') and no 'expression'");
  return request;
}

Expected<FoundValue> FindValue(const Debugger& debugger, const ValueRequest& request) {
  const DebugStop& stop = debugger.stop();
  FoundValue found;
  auto of = [&](llvm::ArrayRef<Tensor> tensors) -> Error {
    if (request.index >= tensors.size() || !tensors[request.index])
      return MakeError("the stop has no {0} with index {1}", request.of, request.index);
    found.tensor = tensors[request.index];
    return Error::success();
  };
  int index = static_cast<int>(request.index);
  if (request.of == "input" && stop.node && index < stop.node.num_inputs()) {
    RETURN_IF_ERROR(of(stop.inputs));
    Port from = stop.node.input(index);
    if (from.node == kNoNode) return found;
    found.port = {&stop.node.graph(), from.node, from.index};
  } else if (request.of == "output" && stop.node) {
    RETURN_IF_ERROR(of(stop.outputs));
    found.port = {&stop.node.graph(), stop.node.id(), index};
  } else if (request.of == "fetch") {
    RETURN_IF_ERROR(of(stop.fetched));
    found.name = debugger.fetches()[request.index];
    if (auto port = FindTensorIfThere(debugger.module().main, found.name))
      found.port = {&debugger.module().main, port->node, port->index};
    return found;
  } else if (request.of.empty()) {
    const Graph* graph = nullptr;
    ASSIGN_OR_RETURN(found.tensor, Evaluate(debugger, request.expression));
    auto port = debugger.FindPort(request.expression, &graph);
    if (port) {
      found.port = {graph, port->node, port->index};
      found.name = request.expression;
    } else {
      llvm::consumeError(port.takeError());
    }
    return found;
  } else {
    return MakeError("the stop has no {0} with index {1}", request.of, request.index);
  }
  found.name = OutputName(found.port.graph->node(found.port.node).name(), found.port.output);
  return found;
}

Expected<std::string> ValueJson(const FoundValue& value, const ValueRequest& request) {
  ASSIGN_OR_RETURN(Tensor tensor, Sliced(value.tensor, request.slice));
  ArrayTextOptions options;
  options.precision = request.precision;
  options.edge_items = request.edge_items;
  options.threshold = request.threshold;
  std::string text = ArrayText(tensor, options);
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attribute("name", Printable(value.name));
      json.attribute("dtype", NumPyTypeName(tensor.dtype()));
      json.attribute("shape", NumPyShapeText(tensor.dims()));
      json.attribute("whole", NumPyShapeText(value.tensor.dims()));
      json.attribute("text", PrintableLines(text));
      WriteNumbers(tensor, value, request, json);
    });
  });
}

}  // namespace grapnel
