#include "lib/render/graph_page.h"

#include <map>
#include <mutex>
#include <set>

#include "lib/ir/device_name.h"
#include "lib/ir/node_types.h"
#include "lib/render/labels.h"
#include "lib/render/page_writers.h"
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

// Writes the job and the task of a device as texts, "" if the device does not name them.
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

void WriteBody(const Graph& graph, const Function* function,
               const llvm::DenseMap<const Graph*, size_t>& number, llvm::json::OStream& json) {
  json.attribute("name", function ? Printable(function->name()) : "");
  json.attribute("nodes", graph.num_nodes());
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
  std::string plain, safe;
  llvm::raw_string_ostream os(safe);
  llvm::raw_string_ostream plain_os(plain);
  {
    llvm::json::OStream json(plain_os);
    write(json);
  }
  for (char c : plain_os.str()) {
    if (c == '<') {
      os << "\\u003c";
    } else if (c == '>') {
      os << "\\u003e";
    } else if (c == '&') {
      os << "\\u0026";
    } else {
      os << c;
    }
  }
  return os.str();
}

struct GraphPage::Slot {
  const Graph* graph = nullptr;
  const Function* function = nullptr;
  std::once_flag once;
  std::unique_ptr<BodyScopes> scopes;
};

GraphPage::GraphPage(const Module& module, llvm::ArrayRef<Signature> signatures, std::string title,
                     const PageMarks* marks)
    : module_(module),
      shapes_(module),
      signatures_(signatures),
      title_(std::move(title)),
      marks_(marks),
      clusters_(module) {
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

const BodyScopes& GraphPage::Scopes(size_t body) {
  Slot& slot = *bodies_[body];
  std::call_once(slot.once, [&] {
    slot.scopes = std::make_unique<BodyScopes>(*slot.graph, FoldOptions(), shapes(body));
  });
  return *slot.scopes;
}

Expected<std::vector<NodeId>> GraphPage::NodesIn(size_t body, ScopeId scope) {
  RETURN_IF_ERROR(Check(body));
  const BodyScopes& scopes = Scopes(body);
  if (scope >= scopes.tree().size()) return MakeError("body {0} has no scope {1}", body, scope);
  return scopes.NodesIn(scope);
}

std::vector<ScopeId> GraphPage::OpenableScopes(size_t body) {
  const ScopeTree& tree = Scopes(body).tree();
  std::vector<ScopeId> scopes = {tree.scope(kRootScope).core};
  for (ScopeId id = 0; id < tree.size(); ++id) {
    if (id != scopes[0] && tree.scope(id).core == id && tree.scope(id).num_shown > 1)
      scopes.push_back(id);
  }
  return scopes;
}

const std::string& GraphPage::ModelJson() {
  std::call_once(model_once_, [&] { model_json_ = MakeModelJson(); });
  return model_json_;
}

std::string GraphPage::MakeModelJson() const {
  llvm::DenseMap<const Graph*, size_t> number;
  for (size_t i = 0; i < bodies_.size(); ++i) number[bodies_[i]->graph] = i;
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attribute("title", Printable(title_));
      json.attributeArray("bodies", [&] {
        for (const auto& slot : bodies_)
          json.object([&] { WriteBody(*slot->graph, slot->function, number, json); });
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

PageOpening GraphPage::OpensByItself() const {
  OpenRequest wanted;
  if (marks_) wanted.scopes = marks_->open;
  auto opening = OpenPage(module_, First(), wanted);
  if (opening) return std::move(*opening);
  llvm::consumeError(opening.takeError());
  PageOpening none;
  none.first = First();
  return none;
}

Expected<std::vector<std::string>> GraphPage::OpenAs(const OpenRequest& wanted) {
  ASSIGN_OR_RETURN(PageOpening opening, OpenPage(module_, First(), wanted));
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
  std::vector<std::string> devices =
      TextsOfNodes([&](const Node& node) { return PageDevice(node, marks_); });
  json.attributeArray("devices", [&] {
    for (const std::string& name : devices) json.value(name);
  });
  json.attributeArray("places", [&] {
    for (const std::string& name : devices) json.array([&] { WritePlace(name, json); });
  });
}

void GraphPage::WriteClusters(llvm::json::OStream& json) const {
  std::vector<std::string> clusters =
      TextsOfNodes([&](const Node& node) { return Printable(clusters_.Of(node)); });
  if (clusters.empty()) return;
  json.attributeArray("clusters", [&] {
    for (const std::string& name : clusters) json.value(name);
  });
}

std::vector<std::string> GraphPage::TextsOfNodes(
    llvm::function_ref<std::string(const Node&)> text_of) const {
  std::map<std::string, size_t> counts;
  for (const auto& slot : bodies_) {
    for (Node node : slot->graph->nodes()) {
      std::string text = text_of(node);
      if (!text.empty()) ++counts[text];
    }
  }
  std::vector<std::pair<std::string, size_t>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(),
                   [](auto& a, auto& b) { return a.second > b.second; });
  std::vector<std::string> texts;
  texts.reserve(order.size());
  for (auto& [text, count] : order) texts.push_back(text);
  return texts;
}

Expected<std::string> GraphPage::ScopeJson(size_t body, std::optional<ScopeId> scope) {
  RETURN_IF_ERROR(Check(body));
  const BodyScopes& scopes = Scopes(body);
  const ScopeTree& tree = scopes.tree();
  ScopeId id = scope.value_or(tree.scope(kRootScope).core);
  if (id >= tree.size() || tree.scope(id).core != id)
    return MakeError("body {0} has no scope {1} that can be opened", body, id);
  auto find = [&](llvm::StringRef name) { return FindBody(name); };
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attribute("body", body);
      if (id == tree.scope(kRootScope).core) {
        json.attributeObject("counts", [&] {
          json.attribute("constants", scopes.folding().constants);
          json.attribute("constant_reads", scopes.folding().constant_reads);
          json.attribute("no_ops", scopes.folding().no_ops);
          json.attribute("drawn", scopes.num_drawn_inputs());
          json.attribute("folded", scopes.num_folded_inputs());
          json.attribute("dangling", scopes.num_dangling_inputs());
        });
      }
      json.attributeBegin("view");
      WriteScope({scopes, find, marks_, EntryOf(graph(body)), &clusters_}, id, json);
      json.attributeEnd();
    });
  });
}

Expected<std::string> GraphPage::NodeJson(size_t body, NodeId node) {
  RETURN_IF_ERROR(Check(body));
  if (!graph(body).IsAlive(node)) return MakeError("body {0} has no node {1}", body, node);
  auto find = [&](llvm::StringRef name) { return FindBody(name); };
  return PageDocument([&](llvm::json::OStream& json) {
    WriteNode(
        {Scopes(body), find, marks_, EntryOf(graph(body)), &clusters_, &Lines(), &page_lines_},
        graph(body).node(node), json);
  });
}

const LineTable& GraphPage::Lines() {
  std::call_once(lines_once_,
                 [this] { lines_ = page_lines_.read ? page_lines_.read() : LineTable(module_); });
  return lines_;
}

std::vector<ScopeId> GraphPage::ScopesAround(size_t body, NodeId node) {
  return Scopes(body).Around(node);
}

}  // namespace grapnel
