#include "lib/render/graph_page.h"

#include <map>
#include <mutex>
#include <set>

#include "lib/ir/device_name.h"
#include "lib/ir/node_types.h"
#include "lib/render/labels.h"
#include "lib/render/node_texts.h"
#include "lib/render/page_body.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

constexpr size_t kMostRenamed = 200;  // in a page's list

void WriteMarks(const PageMarks& marks, llvm::json::OStream& json) {
  json.attributeObject("marks", [&] {
    json.attribute("title", marks.title);
    if (marks.color_by_device) json.attribute("by_device", true);
    json.attributeArray("kinds", [&] {
      for (const std::string& kind : marks.kinds) json.value(kind);
    });
    json.attributeArray("summary", [&] {
      for (const std::string& line : marks.summary) json.value(Printable(line));
    });
    json.attribute("renamed_count", static_cast<int64_t>(marks.renamed.size()));
    json.attributeArray("renamed", [&] {
      for (const PageMarks::Renamed& one :
           llvm::ArrayRef<PageMarks::Renamed>(marks.renamed).take_front(kMostRenamed)) {
        json.array([&] {
          json.value(Printable(one.before));
          json.value(Printable(one.after));
          json.value(static_cast<int64_t>(one.nodes));
        });
      }
    });
  });
}

// Writes the job and the task of a device as texts, "" if the device does not name them; nothing if
// it is not a device's name.
void WritePlace(llvm::StringRef device, llvm::json::OStream& json) {
  auto spec = DeviceSpec::Parse(device);
  if (!spec) {
    llvm::consumeError(spec.takeError());
    return;
  }
  json.value(Printable(spec->job.text()));
  json.value(spec->task == DeviceSpec::kOpen ? "" : std::to_string(spec->task));
}

void WriteColors(llvm::json::OStream& json) {
  json.attributeArray("groups", [&] {
    for (int group = 0; group <= static_cast<int>(OpGroup::kControl); ++group)
      json.value(OpGroupName(static_cast<OpGroup>(group)));
  });
}

void WriteOpen(const PageOpening& opening, const llvm::DenseMap<const Graph*, size_t>& number,
               llvm::json::OStream& json) {
  json.attributeArray("open", [&] {
    for (const PageOpening::Body& body : opening.bodies) {
      json.object([&] {
        json.attribute("body", number.lookup(body.graph));
        json.attributeArray("scopes", [&] {
          for (ScopeId id : body.scopes) json.value(id);
        });
        json.attributeArray("calls", [&] {
          for (NodeId caller : body.callers) json.value(caller);
        });
      });
    }
  });
  if (opening.asked) json.attribute("asked", true);
  if (!opening.viewport) return;
  json.attributeObject("viewport", [&] {
    json.attribute("body", number.lookup(opening.viewport->graph));
    json.attribute("scope", opening.viewport->scope);
  });
}

// Returns the texts without "".
std::vector<std::string> MostFrequentFirst(const std::map<std::string, size_t>& counts) {
  std::vector<std::pair<std::string, size_t>> order(counts.begin(), counts.end());
  llvm::stable_sort(order, [](auto& a, auto& b) { return a.second > b.second; });
  std::vector<std::string> texts;
  for (auto& [text, count] : order)
    if (!text.empty()) texts.push_back(std::move(text));
  return texts;
}

// Returns, by body, the first node of another body that calls it; an invalid node if none does.
std::vector<Node> CallersOf(const Module& module,
                            const llvm::DenseMap<const Graph*, size_t>& number) {
  std::vector<Node> callers(number.size());
  auto visit = [&](const Graph& graph) {
    for (Node node : graph.nodes()) {
      if (!MayCallFunctions(node)) continue;
      for (llvm::StringRef name : CalledFunctions(node)) {
        const Function* callee = module.FindFunction(name);
        if (!callee || &callee->body == &graph) continue;
        if (Node& caller = callers[number.lookup(&callee->body)]; !caller) caller = node;
      }
    }
  };
  visit(module.main);
  for (const auto& function : module.functions) visit(function->body);
  return callers;
}

void WriteCaller(const Node& caller, const llvm::DenseMap<const Graph*, size_t>& number,
                 llvm::json::OStream& json) {
  if (!caller) return;
  json.attributeArray("caller", [&] {
    json.value(number.lookup(&caller.graph()));
    json.value(caller.id());
    json.value(Printable(caller.op()));
    json.value(Printable(caller.name()));
  });
}

void WriteBody(const Graph& graph, const Function* function,
               const llvm::DenseMap<const Graph*, size_t>& number, llvm::json::OStream& json) {
  json.attribute("name", function ? Printable(function->name()) : "");
  json.attribute("nodes", graph.num_nodes());
  json.attribute("end", graph.end_id());
  uint64_t data = 0, control = 0;
  std::set<size_t> calls;
  for (Node node : graph.nodes()) {
    data += node.num_inputs();
    control += node.num_controls();
    if (!MayCallFunctions(node)) continue;
    for (llvm::StringRef name : CalledFunctions(node)) {
      if (const Function* callee = graph.module().FindFunction(name))
        calls.insert(number.lookup(&callee->body));
    }
  }
  json.attribute("data_inputs", data);
  json.attribute("control_inputs", control);
  json.attributeArray("calls", [&] {
    for (size_t body : calls) json.value(body);
  });
}

}  // namespace

std::string PageDevice(const Node& node, const PageMarks* marks) {
  bool placed = marks && marks->device_of;
  return Printable(ShortDevice(placed ? marks->device_of(node) : node.device().str()));
}

std::string PageDocument(llvm::function_ref<void(llvm::json::OStream&)> write) {
  std::string plain = JsonText(write), safe;
  safe.reserve(plain.size());
  for (char c : plain) {
    if (c == '<') {
      safe += "\\u003c";
    } else if (c == '>') {
      safe += "\\u003e";
    } else if (c == '&') {
      safe += "\\u0026";
    } else {
      safe += c;
    }
  }
  return safe;
}

struct GraphPage::Slot {
  const Graph* graph = nullptr;
  const Function* function = nullptr;
  std::once_flag once, kinds_once, body_once;
  std::unique_ptr<BodyScopes> scopes;
  std::vector<int8_t> kinds;
  std::optional<PageBody> body;
};

GraphPage::GraphPage(const Module& module, llvm::ArrayRef<Signature> signatures, std::string title,
                     const PageMarks* marks)
    : module_(module),
      shapes_(module),
      signatures_(signatures),
      title_(std::move(title)),
      marks_(marks),
      clusters_(module),
      find_([this](llvm::StringRef name) { return FindBody(name); }) {
  auto add = [&](const Graph* graph, const Function* function) {
    bodies_.push_back(std::make_unique<Slot>());
    bodies_.back()->graph = graph;
    bodies_.back()->function = function;
  };
  add(&module_.main, nullptr);
  for (const auto& function : module_.functions) {
    by_name_.try_emplace(function->name(), bodies_.size());
    add(&function->body, function.get());
  }
}

GraphPage::~GraphPage() = default;

Error GraphPage::Check(size_t body) const {
  if (body < bodies_.size()) return Error::success();
  return MakeError("there is no body {0}: the number of bodies is {1}", body, bodies_.size());
}

std::optional<size_t> GraphPage::FindBody(llvm::StringRef function) const {
  auto it = by_name_.find(function);
  return it == by_name_.end() ? std::nullopt : std::optional(it->second);
}

std::optional<std::pair<size_t, NodeId>> GraphPage::Find(llvm::StringRef function,
                                                         llvm::StringRef node) const {
  std::optional<size_t> body = function.empty() ? std::optional<size_t>(0) : FindBody(function);
  Node found = body ? graph(*body).Find(node) : Node();
  if (!found) return std::nullopt;
  return std::pair(*body, found.id());
}

const Graph& GraphPage::graph(size_t body) const { return *bodies_[body]->graph; }

const ShapeMap& GraphPage::CostShapes(size_t body) {
  if (!copy_sized_) return shapes(body);
  std::call_once(sized_once_, [&] {
    sized_ = &copy_sized_();
    sized_shapes_.emplace(*sized_);
  });
  return sized_shapes_->Of(body == 0 ? sized_->main : sized_->functions[body - 1]->body);
}

const BodyScopes& GraphPage::Scopes(size_t body) {
  Slot& slot = *bodies_[body];
  std::call_once(slot.once, [&] {
    PageBoxes boxes = Boxes();
    FoldOptions fold;
    fold.signature = boxes.signature;
    fold.of_loop = loops_.contains(slot.graph);
    slot.scopes = std::make_unique<BodyScopes>(*slot.graph, fold, shapes(body), boxes.layers,
                                               &CostShapes(body));
  });
  return *slot.scopes;
}

Expected<std::vector<NodeId>> GraphPage::NodesIn(size_t body, ScopeId scope) {
  RETURN_IF_ERROR(Check(body));
  const BodyScopes& scopes = Scopes(body);
  if (scope >= scopes.tree().size()) return MakeError("body {0} has no scope {1}", body, scope);
  return scopes.NodesIn(scope);
}

const PageBody& GraphPage::Body(size_t body) {
  Slot& slot = *bodies_[body];
  std::call_once(slot.body_once, [&] {
    slot.body.emplace(PageBody{Scopes(body), find_, marks_, KindsOfMarks(body),
                               EntryOf(graph(body)), clusters_, Stacks(), layers_, values_.get(),
                               LoopVariables(graph(body), loops_.lookup(slot.graph))});
  });
  return *slot.body;
}

const std::vector<int8_t>& GraphPage::KindsOfMarks(size_t body) const {
  Slot& slot = *bodies_[body];
  std::call_once(slot.kinds_once, [&] {
    if (!marks_) return;
    slot.kinds.assign(slot.graph->end_id(), -1);
    for (Node node : slot.graph->nodes())
      slot.kinds[node.id()] = static_cast<int8_t>(marks_->kind_of(node));
  });
  return slot.kinds;
}

void GraphPage::Analyze(size_t body) {
  Body(body);
  Scopes(body).costs();
}

const std::string& GraphPage::ModelJson() {
  std::call_once(model_once_, [&] { model_json_ = MakeModelJson(); });
  return model_json_;
}

std::string GraphPage::MakeModelJson() {
  llvm::DenseMap<const Graph*, size_t> number;
  for (size_t i = 0; i < bodies_.size(); ++i) number[bodies_[i]->graph] = i;
  std::vector<Node> callers = CallersOf(module_, number);
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attribute("title", Printable(title_));
      if (assumed_batch_ > 0) json.attribute("batch", assumed_batch_);
      json.attributeArray("bodies", [&] {
        for (size_t i = 0; i < bodies_.size(); ++i) {
          json.object([&] {
            WriteBody(*bodies_[i]->graph, bodies_[i]->function, number, json);
            WriteCaller(callers[i], number, json);
          });
        }
      });
      PageOpening opening = opening_ ? *opening_ : OpensByItself();
      if (opening.first) json.attribute("first", number.lookup(&opening.first->body));
      WriteOpen(opening, number, json);
      WriteColors(json);
      WriteDevices(json);
      WriteClusters(json);
      WriteSignatures(json);
      if (marks_) {
        WriteMarks(*marks_, json);
        WriteMarked(json);
      }
      WriteProblems(module_.problems, 0, kFirstListed, json);
    });
  });
}

const Function* GraphPage::First() const { return first_ ? entries_[*first_].function : nullptr; }

PageBoxes GraphPage::Boxes() {
  std::call_once(layers_once_, [this] {
    if (find_layers_) layers_ = find_layers_();
    loops_ = LoopGraphs(module_);
  });
  return {&layers_, first_ ? &entries_[*first_] : nullptr};
}

PageOpening GraphPage::OpensByItself() {
  OpenRequest wanted;
  if (marks_) wanted.scopes = marks_->open;
  auto opening = OpenPage(module_, First(), wanted, Boxes());
  if (opening) return std::move(*opening);
  llvm::consumeError(opening.takeError());
  PageOpening none;
  none.first = First();
  return none;
}

Expected<std::vector<std::string>> GraphPage::OpenAs(const OpenRequest& wanted) {
  ASSIGN_OR_RETURN(PageOpening opening, OpenPage(module_, First(), wanted, Boxes()));
  opening_ = std::move(opening);
  opening_->asked = true;
  return opening_->notices;
}

const SignatureBody* GraphPage::EntryOf(const Graph& graph) const {
  for (const SignatureBody& entry : entries_) {
    if (entry.graph == &graph) return &entry;
  }
  return nullptr;
}

void GraphPage::WriteSignatures(llvm::json::OStream& json) const {
  auto tensors = [&](llvm::StringRef key, llvm::ArrayRef<SignatureTensor> list) {
    json.attributeArray(key, [&] {
      for (const SignatureTensor& tensor : list) {
        json.object([&] {
          json.attribute("key", Printable(tensor.key));
          json.attribute("tensor", Printable(tensor.tensor));
          json.attribute("type", TensorText(tensor.dtype, tensor.shape));
        });
      }
    });
  };
  json.attributeArray("signatures", [&] {
    for (size_t i = 0; i < signatures_.size(); ++i) {
      json.object([&] {
        json.attribute("name", Printable(signatures_[i].name));
        if (i < entries_.size() && entries_[i].function)
          json.attribute("body", FindBody(entries_[i].function->name()).value_or(0));
        tensors("inputs", signatures_[i].inputs);
        tensors("outputs", signatures_[i].outputs);
      });
    }
  });
}

// Writes the devices of nodes, assigned or requested, most frequent first.
void GraphPage::WriteDevices(llvm::json::OStream& json) const {
  std::vector<std::string> devices = MostFrequentFirst(CountDevices());
  json.attributeArray("devices", [&] {
    for (const std::string& name : devices) json.value(name);
  });
  json.attributeArray("places", [&] {
    for (const std::string& name : devices) json.array([&] { WritePlace(name, json); });
  });
}

void GraphPage::WriteClusters(llvm::json::OStream& json) const {
  std::vector<std::string> clusters = MostFrequentFirst(CountClusters());
  if (clusters.empty()) return;
  json.attributeArray("clusters", [&] {
    for (const std::string& name : clusters) json.value(name);
  });
}

// Shortening a device is expensive, so each one that the graph names is shortened only once.
GraphPage::Counts GraphPage::CountDevices() const {
  Counts devices;
  llvm::DenseMap<StringId, size_t> asked;
  for (const auto& slot : bodies_) {
    for (Node node : slot->graph->nodes()) {
      if (marks_ && marks_->device_of) {
        ++devices[PageDevice(node, marks_)];
      } else {
        ++asked[node.device_id()];
      }
    }
  }
  for (const auto& [id, count] : asked)
    devices[Printable(ShortDevice(module_.strings.Get(id)))] += count;
  return devices;
}

GraphPage::Counts GraphPage::CountClusters() const {
  Counts clusters;
  for (const auto& slot : bodies_) {
    if (clusters_.empty() && slot->graph->num_nodes() > 0) {
      clusters[""] += slot->graph->num_nodes();
      continue;
    }
    for (Node node : slot->graph->nodes()) ++clusters[Printable(clusters_.Of(node))];
  }
  return clusters;
}

const LineTable& GraphPage::Lines() {
  std::call_once(lines_once_, [this] {
    lines_ = page_lines_.read ? page_lines_.read() : LineTable(module_);
    stacks_ = std::make_unique<StackTexts>(lines_, page_lines_);
  });
  return lines_;
}

void GraphPage::SetValues(PageValues values) {
  values_ = std::make_unique<ValueTexts>(std::move(values));
}

StackTexts& GraphPage::Stacks() {
  Lines();
  return *stacks_;
}

std::vector<ScopeId> GraphPage::ScopesAround(size_t body, NodeId node) {
  return Scopes(body).Around(node);
}

}  // namespace grapnel
