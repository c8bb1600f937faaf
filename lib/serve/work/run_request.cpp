#include "lib/serve/work/run_request.h"

#include "lib/exec/feed.h"
#include "lib/ir/find.h"
#include "lib/ir/function_ends.h"
#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "lib/render/graph_page.h"
#include "lib/render/labels.h"
#include "lib/serve/work/typed_value.h"
#include "lib/support/json.h"
#include "lib/support/printable.h"
#include "lib/support/suggest.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

constexpr size_t kMostOutputs = 20;

// An input in the form.
struct Input {
  std::string tensor, key;  // key: the name of a signature's argument
  DataType dtype = proto::DT_INVALID;
  Shape shape;
};

bool IsFeedable(const Node& node) {
  return node.op() == "Placeholder" || node.op() == "PlaceholderV2" || IsArgument(node);
}

// Returns what the graph says about a tensor; mostly empty if the graph does not have the tensor.
Input InputOf(const Graph& graph, const std::string& tensor) {
  Input input;
  input.tensor = tensor;
  auto port = FindTensorIfThere(graph, tensor);
  if (!port) return input;
  Node node = graph.node(port->node);
  if (IsArgument(node)) {  // the value of a variable is fed for its handle
    ArgumentType type = TypeOfArgument(node);
    bool is_handle = type.held != proto::DT_INVALID;
    input.dtype = is_handle ? type.held : type.dtype;
    input.shape = is_handle ? type.held_shape : type.shape;
    return input;
  }
  input.dtype = BaseType(TypeOfPort(graph, *port));
  if (auto shape = node.Attr("shape"); shape && IsFeedable(node))
    input.shape = shape->AsShape().value_or(Shape());
  return input;
}

std::vector<Input> InputsOf(const Signature& signature) {
  std::vector<Input> inputs;
  for (const SignatureTensor& tensor : signature.inputs)
    inputs.push_back({tensor.tensor, tensor.key, tensor.dtype, tensor.shape});
  return inputs;
}

// Returns the feeds of the case, then the placeholders and arguments of the graph that the case
// does not feed.
std::vector<Input> InputsOf(const OpenedGraph& opened) {
  const Graph& graph = opened.module().main;
  std::vector<Input> inputs;
  std::vector<Port> ports;
  if (const auto& values = opened.model().case_info) {
    for (const Case::Feed& feed : values->feeds) {
      inputs.push_back(InputOf(graph, feed.tensor));
      if (auto port = FindTensorIfThere(graph, feed.tensor)) ports.push_back(*port);
    }
  }
  for (Node node : graph.nodes()) {
    if (IsFeedable(node) && !llvm::is_contained(ports, Port{node.id(), 0}))
      inputs.push_back(InputOf(graph, OutputName(node.name(), 0)));
  }
  return inputs;
}

// Returns the fetches of the case or signature; else the results of a function; else the first
// outputs of nodes that no node reads. The last two are at most kMostOutputs.
std::vector<std::string> FetchesOf(const OpenedGraph& opened) {
  auto tensors = FeedsAndFetchesOf(opened, {}, {});
  if (tensors && !tensors->fetches.empty()) return std::move(tensors->fetches);
  if (!tensors) llvm::consumeError(tensors.takeError());
  std::vector<std::string> fetches;
  const Graph& graph = opened.module().main;
  if (IsFunctionGraph(graph)) {
    for (NodeId id : EndsOfFunctionGraph(graph).results)
      if (fetches.size() < kMostOutputs) fetches.push_back(OutputName(graph.node(id).name(), 0));
    return fetches;
  }
  for (Node node : graph.nodes()) {
    if (fetches.size() == kMostOutputs) break;
    if (node.uses().empty() && NumOutputs(node) > 0 && !IsFeedable(node))
      fetches.push_back(OutputName(node.name(), 0));
  }
  return fetches;
}

bool HasCaseValue(const OpenedGraph& opened, llvm::StringRef tensor) {
  const auto& values = opened.model().case_info;
  return values &&
         llvm::any_of(values->feeds, [&](const Case::Feed& feed) { return feed.tensor == tensor; });
}

void WriteInput(const OpenedGraph& opened, const Input& input, llvm::json::OStream& json) {
  std::string dims;
  for (int i = 0; input.shape.known_rank() && i < input.shape.rank(); ++i) {
    dims += (i ? "," : "");
    dims += std::to_string(input.shape.IsKnown(i) ? input.shape.dim(i) : 1);
  }
  json.object([&] {
    json.attribute("tensor", Printable(input.tensor));
    if (!input.key.empty()) json.attribute("key", Printable(input.key));
    json.attribute("type", TensorText(input.dtype, input.shape));
    json.attribute("shape", dims);
    if (input.dtype == proto::DT_STRING) json.attribute("text", true);
    if (HasCaseValue(opened, input.tensor)) json.attribute("case", true);
  });
}

void WriteEnds(const OpenedGraph& opened, llvm::ArrayRef<Input> inputs,
               llvm::ArrayRef<std::string> fetches, llvm::json::OStream& json) {
  json.attributeArray("inputs", [&] {
    for (const Input& input : inputs) WriteInput(opened, input, json);
  });
  json.attributeArray("fetches", [&] {
    for (const std::string& fetch : fetches) json.value(Printable(fetch));
  });
}

Error ParseFeed(const llvm::json::Value& value, PageRunRequest* request) {
  const llvm::json::Object* object = value.getAsObject();
  auto tensor = object ? object->getString("tensor") : std::nullopt;
  auto kind = object ? object->getString("kind") : std::nullopt;
  if (!tensor || !kind) return MakeError("a feed needs 'tensor' and 'kind'");
  PageRunRequest::Feed feed;
  feed.tensor = tensor->str();
  feed.kind = kind->str();
  feed.text = object->getString("text").value_or("").str();
  feed.shape = object->getString("shape").value_or("").str();
  feed.seed = static_cast<uint64_t>(object->getInteger("seed").value_or(0));
  feed.file = static_cast<uint64_t>(object->getInteger("file").value_or(0));
  request->feeds.push_back(std::move(feed));
  return Error::success();
}

Expected<Tensor> MakeFeed(const OpenedGraph& opened, const PageRunRequest::Feed& feed,
                          const UploadFinder& find) {
  const Graph& graph = opened.module().main;
  if (feed.kind == "case") {
    if (const auto& values = opened.model().case_info) {
      for (const Case::Feed& given : values->feeds) {
        if (given.tensor == feed.tensor) return LoadFeed(graph, feed.tensor, given.file);
      }
    }
    return MakeError("there is no case with a value for this tensor");
  }
  if (feed.kind == "file") {
    ASSIGN_OR_RETURN(auto file, find(feed.file));
    return grapnel::ReadFeed(graph, feed.tensor, std::move(file));
  }
  ASSIGN_OR_RETURN(DataType dtype, TypeOfFeed(graph, feed.tensor));
  if (dtype == proto::DT_INVALID)
    return MakeError("the graph does not define the tensor's dtype: choose a .npy file");
  ASSIGN_OR_RETURN(Dims dims, ParseDims(feed.shape));
  if (feed.kind == "text") return ParseTypedValue(feed.text, dtype, dims);
  if (feed.kind == "zeros") return FilledTensor(Fill::kZeros, dtype, dims, 0);
  if (feed.kind == "ones") return FilledTensor(Fill::kOnes, dtype, dims, 0);
  if (feed.kind == "normal") return FilledTensor(Fill::kNormal, dtype, dims, feed.seed);
  return MakeError("'{0}' is not a kind of value: expected case, file, text, zeros, ones or normal",
                   feed.kind);
}

}  // namespace

std::string RunFormJson(const OpenedGraph& opened) {
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      WriteEnds(opened, InputsOf(opened), FetchesOf(opened), json);
      json.attributeArray("signatures", [&] {
        for (const Signature& signature : opened.file().signatures) {
          std::vector<std::string> fetches;
          for (const SignatureTensor& tensor : signature.outputs) fetches.push_back(tensor.tensor);
          json.object([&] {
            json.attribute("name", Printable(signature.name));
            WriteEnds(opened, InputsOf(signature), fetches, json);
          });
        }
      });
      json.attributeArray("modes", [&] {
        for (const std::string& name : TapModeNames()) json.value(name);
      });
      if (Error error = CheckValid(opened, nullptr))
        json.attribute("problem", PrintableLines(TextOf(std::move(error))));
    });
  });
}

Expected<PageRunRequest> ParsePageRunRequest(llvm::StringRef text) {
  auto json = ParseJson(text);
  if (!json) return Annotate("the request is not JSON", json.takeError());
  const llvm::json::Object* object = json->getAsObject();
  const llvm::json::Array* feeds = object ? object->getArray("feeds") : nullptr;
  const llvm::json::Array* fetches = object ? object->getArray("fetches") : nullptr;
  if (!feeds || !fetches) return MakeError("the request needs the lists 'feeds' and 'fetches'");
  PageRunRequest request;
  for (const llvm::json::Value& feed : *feeds) RETURN_IF_ERROR(ParseFeed(feed, &request));
  for (const llvm::json::Value& fetch : *fetches) {
    if (!fetch.getAsString()) return MakeError("a fetch in the request is not a string");
    request.fetches.push_back(fetch.getAsString()->str());
  }
  if (request.fetches.empty()) return MakeError("nothing to fetch: name a tensor");
  request.devices = object->getString("devices").value_or("").trim().str();
  llvm::StringRef mode = object->getString("mode").value_or("");
  if (mode.empty()) return request;
  request.mode = ParseTapMode(mode);
  if (!request.mode) return NotFound("mode of a tap", mode, TapModeNames());
  std::vector<std::string> taps = SplitList(object->getString("taps").value_or(""));
  if (taps.empty()) taps = {"*"};
  auto globs = Glob::ParseAll(taps);
  if (!globs) return Annotate("taps", globs.takeError());
  request.taps.names = std::move(*globs);
  return request;
}

Expected<RunRequest> MakeRunRequest(const OpenedGraph& opened, const PageRunRequest& asked,
                                    const UploadFinder& find) {
  RunRequest request;
  for (const PageRunRequest::Feed& feed : asked.feeds) {
    auto value = MakeFeed(opened, feed, find);
    if (!value) return Annotate("feed " + feed.tensor, value.takeError());
    request.feeds.push_back({feed.tensor, "", std::move(*value)});
  }
  request.fetches = asked.fetches;
  request.completes = false;
  request.devices = asked.devices;
  request.may_read = false;
  // Error messages name the devices by the label in run_form.js and, since that form has no field
  // for a real device, by the flag of `grapnel run`.
  request.words.placer.devices = "'Devices'";
  request.words.device = "grapnel run --device";
  return request;
}

}  // namespace grapnel
