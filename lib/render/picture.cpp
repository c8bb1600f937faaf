#include "lib/render/picture.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "lib/ir/device_name.h"
#include "lib/ir/find.h"
#include "lib/ir/function_ends.h"
#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "lib/render/boxes.h"
#include "lib/render/labels.h"
#include "lib/render/opening.h"
#include "lib/render/picture_colors.h"
#include "lib/render/repeats.h"
#include "lib/render/selection.h"
#include "lib/shape/module_shapes.h"
#include "lib/support/text.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

constexpr size_t kMaxStubs = 8, kHiddenListed = 6, kEndsNamed = 3;

std::string Boxes(size_t count) { return WithCommas(count) + (count == 1 ? " box" : " boxes"); }

class PictureMaker {
 public:
  PictureMaker(const Module& module, const ViewOptions& options)
      : module_(module), options_(options), shapes_(module) {}

  Expected<Picture> Run() && {
    RETURN_IF_ERROR(Select());
    ASSIGN_OR_RETURN(plan_, MakePlan(module_, options_, only_, selected_));
    picture_.title = Printable(options_.title);
    picture_.notices = plan_.notices;
    picture_.direction = options_.direction;
    for (const auto& body : plan_.bodies) {
      if (body->drawn) DrawBody(*body);
    }
    if (picture_.boxes.empty()) return NothingToDraw();
    AddClosedFunctions();
    AddCalls();
    FoldRepeats(bodies_, &picture_);
    for (const BodyBoxes& body : bodies_) {
      if (options_.list_nodes) ListNodes(body, &picture_);
    }
    FoldControl();
    ColorBoxes(bodies_, options_, &picture_);
    MakeIdsUnique();
    WriteHeader();
    return std::move(picture_);
  }

 private:
  // Adds a header line: which signature is shown, and how many ops of the main graph are not shown.
  void ReportEntry() {
    const SignatureBody& entry = *options_.entry;
    std::string line = "signature '" + Printable(entry.name) + "'";
    if (entry.function) line += ": function '" + Printable(entry.function->name()) + "'";
    size_t beside = module_.main.num_nodes();
    if (!entry.function) beside -= std::count(entry.needed.begin(), entry.needed.end(), true);
    if (beside > 0) {
      line += llvm::formatv(
          "; not shown: {0} of the main graph, which call it, or save and restore "
          "variables (--whole)",
          Plural(beside, "op"));
    }
    picture_.header.push_back(line);
  }

  Error Select() {
    if (options_.entry && BeginsAtEntry(options_)) ReportEntry();
    if (!options_.around.empty()) {
      ASSIGN_OR_RETURN(Node center, FindNode(module_, options_.around));
      only_ = &center.graph();
      selected_ = NodesAround(center, options_.hops);
      picture_.header.push_back(llvm::formatv("within {0} of '{1}'", Plural(options_.hops, "edge"),
                                              Printable(options_.around)));
    }
    if (!options_.path_from.empty() || !options_.path_to.empty()) {
      ASSIGN_OR_RETURN(Node from, FindNode(module_, options_.path_from));
      ASSIGN_OR_RETURN(Node to, FindNode(module_, options_.path_to));
      ASSIGN_OR_RETURN(std::vector<bool> between, NodesBetween(from, to));
      if (only_ && only_ != &from.graph())
        return MakeError("the nodes of --around and --path are in different functions");
      only_ = &from.graph();
      for (size_t i = 0; i < selected_.size(); ++i) between[i] = between[i] && selected_[i];
      selected_ = std::move(between);
      picture_.header.push_back(llvm::formatv("on paths from '{0}' to '{1}'",
                                              Printable(options_.path_from),
                                              Printable(options_.path_to)));
    }
    return Error::success();
  }

  Error NothingToDraw() const {
    if (module_.main.num_nodes() == 0 && module_.functions.empty())
      return MakeError("there is nothing to draw: the graph has no nodes");
    size_t hidden = 0;
    for (auto [op, count] : hidden_ops_) hidden += count;
    if (hidden > 0) {
      return MakeError(
          "there is nothing to draw, because --hide hides all ops that would have a box ({0}); "
          "hide fewer",
          hidden);
    }
    if (options_.hide_main && module_.functions.empty()) {
      return MakeError(
          "there is nothing to draw, because --hide main hides the main graph, and there are no "
          "functions");
    }
    return MakeError("the selection has nothing to draw{0}",
                     module_.functions.empty() ? "" : "; --function all draws the functions");
  }

  void DrawBody(const BodyPlan& plan) {
    BodyBoxes body = AddBoxes(plan, &picture_);
    PictureCounts& counts = picture_.counts;
    counts.constants += plan.folding.constants;
    counts.variables += plan.folding.variables;
    counts.constant_reads += plan.folding.constant_reads;
    counts.no_ops += plan.folding.no_ops;
    counts.forwards += plan.folding.forwards;
    counts.invariants += plan.folding.invariants;
    counts.nodes_of_graph += plan.graph->num_nodes();
    counts.nodes += std::count_if(plan.folding.uses.begin(), plan.folding.uses.end(),
                                  [](NodeUse use) { return use != NodeUse::kOutside; });
    const ShapeMap* shapes = options_.hide_shapes ? nullptr : &shapes_.Of(*plan.graph);
    AddNotes(body, options_, shapes, &picture_);
    MarkInputsAndOutputs(body);
    if (plan.is_entry) NameByKeys(body);
    if (!selected_.empty()) {
      MarkBorder(body);
      MarkFocus(body);
    }
    PortLabel label;
    if (shapes)
      label = [&](Port port) { return TensorText(shapes->TypeOf(port), shapes->OfPort(port)); };
    auto type = [&](Port port) { return shapes_.Of(*plan.graph).TypeOf(port); };
    for (EdgeBundle& bundle : BundleEdges(*plan.graph, body.box_of, label, type, &counts.edges)) {
      if (bundle.handles && options_.hide_handles) {
        counts.hidden_handles += bundle.count;
        continue;
      }
      PictureEdge edge;
      edge.kind = bundle.control ? PictureEdge::Kind::kControl : PictureEdge::Kind::kData;
      edge.from = bundle.from;
      edge.to = bundle.to;
      edge.count = bundle.count;
      edge.producers = bundle.producers;
      edge.waiters = bundle.waiters;
      edge.back = bundle.back;
      edge.label = std::move(bundle.label);
      picture_.edges.push_back(std::move(edge));
    }
    if (selected_.empty()) AddStubs(body);
    if (!options_.hidden.empty()) JoinThroughHidden(body);
    bodies_.push_back(std::move(body));
  }

  void JoinThroughHidden(const BodyBoxes& body) {
    const Graph& graph = *body.plan->graph;
    std::vector<bool> hidden(graph.end_id(), false);
    bool in_part = &graph == only_;
    for (Node node : graph.nodes()) {
      bool selected = !in_part || selected_.empty() || selected_[node.id()];
      if (!selected || !options_.hidden.Hides(node)) continue;
      hidden[node.id()] = true;
      ++hidden_ops_[node.op_id()];
    }
    for (auto [from, to] : EdgesThrough(graph, body.box_of, hidden)) {
      PictureEdge edge;
      edge.kind = PictureEdge::Kind::kThrough;
      edge.from = from;
      edge.to = to;
      picture_.edges.push_back(edge);
    }
  }

  // Describes the hidden ops, most frequent first: "24 Const, 3 Identity".
  std::string HiddenText() const {
    std::vector<std::pair<size_t, llvm::StringRef>> order;
    for (auto [op, count] : hidden_ops_) order.push_back({~count, module_.strings.Get(op)});
    std::sort(order.begin(), order.end());
    std::string text;
    for (size_t i = 0; i < order.size() && i < kHiddenListed; ++i)
      text += (i ? ", " : "") + WithCommas(~order[i].first) + " " + Printable(order[i].second);
    return order.size() > kHiddenListed ? text + ", \xe2\x80\xa6" : text;
  }

  Box* OwnBox(const BodyBoxes& body, NodeId id) {
    uint32_t index = body.box_of[id];
    if (index >= kBoxFolded) return nullptr;
    return &picture_.boxes[index];
  }

  // Names arguments and results of a signature's body by their keys in the signature.
  void NameByKeys(const BodyBoxes& body) {
    const Graph& graph = *body.plan->graph;
    auto rename = [&](NodeId id, const std::string& key) {
      Box* box = id == kNoNode ? nullptr : OwnBox(body, id);
      if (box && box->node == id && box->layer.empty()) box->name = Printable(key);
    };
    for (const SignatureBody::End& end : options_.entry->inputs) rename(end.port.node, end.key);
    for (Node node : graph.nodes()) {
      if (!IsResult(node) || node.num_inputs() == 0) continue;
      Port port = node.input(0);
      for (const SignatureBody::End& end : options_.entry->outputs)
        if (end.port == port) rename(node.id(), end.key);
    }
  }

  void MarkInputsAndOutputs(const BodyBoxes& body) {
    const Graph& graph = *body.plan->graph;
    bool main = body.plan->function == nullptr;
    // The graph of a function has nodes for its results. In any other graph, outputs that no node
    // reads must be read from outside, so they are outputs of the picture.
    bool takes_unread = main && options_.fetches.empty() && !IsFunctionGraph(graph);
    for (Node node : graph.nodes()) {
      Box* box = OwnBox(body, node.id());
      if (!box || box->node != node.id()) continue;
      llvm::StringRef op = node.op();
      if (GroupOf(op) == OpGroup::kInput) box->input = true;
      if (IsResult(node)) box->output = true;
      if (takes_unread && node.uses().empty() && !box->input && NumOutputs(node) > 0)
        box->output = true;
    }
    if (!main) return;
    MarkTensors(body, options_.feeds, &Box::input, "fed");
    MarkTensors(body, options_.fetches, &Box::output, "fetched");
    if (!IsFunctionGraph(graph)) return;
    FunctionEnds ends = EndsOfFunctionGraph(graph);
    NameEndsWithin(body, ends.arguments, "argument");
    NameEndsWithin(body, ends.results, "result");
  }

  // Adds a note to each box of several ops: the names of the function's arguments or results
  // (`ends`) that it contains.
  void NameEndsWithin(const BodyBoxes& body, llvm::ArrayRef<NodeId> ends, const char* word) {
    std::map<uint32_t, std::vector<std::string>> inside;
    for (NodeId id : ends) {
      Box* box = OwnBox(body, id);
      if (box && box->node != id)
        inside[body.box_of[id]].push_back(Printable(body.plan->graph->node(id).name()));
    }
    for (auto& [index, names] : inside) {
      size_t more = names.size() > kEndsNamed ? names.size() - kEndsNamed : 0;
      names.resize(names.size() - more);
      std::string text = std::string(word) + ": " + llvm::join(names, ", ");
      if (more > 0) text += " and " + WithCommas(more) + " more";
      picture_.boxes[index].notes.push_back(std::move(text));
    }
  }

  void MarkTensors(const BodyBoxes& body, const std::vector<std::string>& tensors, bool Box::*mark,
                   const char* word) {
    std::map<uint32_t, std::string> inside;
    for (const std::string& tensor : tensors) {
      llvm::StringRef name = ReadTensorName(tensor).node;
      Node node = body.plan->graph->Find(name);
      Box* box = node ? OwnBox(body, node.id()) : nullptr;
      if (!box) continue;
      if (box->node == node.id()) {
        if (!(box->*mark) || mark == &Box::output) box->notes.push_back(word);
        box->*mark = true;
      } else {
        std::string& text = inside[body.box_of[node.id()]];
        text += (text.empty() ? std::string(word) + ": " : ", ") +
                Printable(name.substr(name.rfind('/') + 1));
      }
    }
    for (auto& [index, text] : inside) picture_.boxes[index].notes.push_back(text);
  }

  void MarkFocus(const BodyBoxes& body) {
    for (const std::string* text : {&options_.around, &options_.path_from, &options_.path_to}) {
      if (text->empty()) continue;
      auto node = FindNode(module_, *text);
      if (!node) {
        llvm::consumeError(node.takeError());
        continue;
      }
      Box* box = &node->graph() == body.plan->graph ? OwnBox(body, node->id()) : nullptr;
      if (box) box->focus = true;
    }
  }

  // Adds a note to each box with edges from or to nodes outside of the selection: how many inputs
  // and readers are not shown.
  void MarkBorder(const BodyBoxes& body) {
    std::map<uint32_t, std::pair<size_t, size_t>> beyond;
    for (Node node : body.plan->graph->nodes()) {
      if (body.box_of[node.id()] >= kBoxFolded) continue;
      auto count = [&](NodeId other, size_t* counter) {
        *counter += other != kNoNode && body.box_of[other] == kBoxOutside;
      };
      std::pair<size_t, size_t> here;
      for (Port port : node.inputs()) count(port.node, &here.first);
      for (const Use& use : node.uses()) count(use.node, &here.second);
      if (here.first + here.second == 0) continue;
      beyond[body.box_of[node.id()]].first += here.first;
      beyond[body.box_of[node.id()]].second += here.second;
    }
    for (auto& [index, count] : beyond) {
      std::string text = "not shown:";
      if (count.first) text += " " + Plural(count.first, "input");
      if (count.first && count.second) text += ",";
      if (count.second) text += " " + Plural(count.second, "reader");
      picture_.boxes[index].notes.push_back(text);
    }
  }

  void AddStubs(const BodyBoxes& body) {
    std::map<std::string, std::map<uint32_t, uint32_t>> readers;
    for (Node node : body.plan->graph->nodes()) {
      if (body.box_of[node.id()] >= kBoxFolded) continue;
      int slot = 0;
      for (Port port : node.inputs()) {
        if (port.node == kNoNode)
          ++readers[Printable(node.DanglingText(slot))][body.box_of[node.id()]];
        ++slot;
      }
    }
    std::map<uint32_t, uint32_t> others;
    size_t made = 0, folded = 0;
    for (auto& [text, boxes] : readers) {
      if (++made <= kMaxStubs || readers.size() == made + folded) {
        AddStub(text, body, boxes);
        continue;
      }
      ++folded;
      for (auto [box, count] : boxes) others[box] += count;
    }
    if (folded) AddStub(Plural(folded, "more missing input"), body, others);
  }

  void AddStub(const std::string& text, const BodyBoxes& body,
               const std::map<uint32_t, uint32_t>& readers) {
    Box box;
    box.kind = BoxKind::kStub;
    box.title = "not found";
    box.name = text;
    box.id = "not found: " + text;
    box.tooltip = "an input that no node of the graph provides: " + text;
    box.cluster = body.cluster;
    for (auto [reader, count] : readers) {
      PictureEdge edge;
      edge.kind = PictureEdge::Kind::kDangling;
      edge.from = static_cast<uint32_t>(picture_.boxes.size());
      edge.to = reader;
      edge.count = count;
      picture_.edges.push_back(edge);
    }
    picture_.boxes.push_back(std::move(box));
  }

  void AddClosedFunctions() {
    for (const Function* function : plan_.closed) {
      Box box;
      std::string name = Printable(function->name());
      box.kind = BoxKind::kFunction;
      box.id = "function " + name;
      box.title = name;
      box.tooltip = box.id + " (--function " + name + " opens it)";
      box.notes.push_back(Plural(function->body.num_nodes(), "op"));
      box.graph = &function->body;
      function_boxes_[function] = static_cast<uint32_t>(picture_.boxes.size());
      picture_.boxes.push_back(std::move(box));
    }
  }

  void AddCalls() {
    std::set<const Function*> said;
    for (const DrawnCall& call : plan_.calls) {
      const BodyBoxes* caller = nullptr;
      for (const BodyBoxes& body : bodies_) {
        if (body.plan == plan_.bodies[call.body].get()) caller = &body;
      }
      if (!caller || caller->box_of[call.caller] >= kBoxFolded) continue;
      PictureEdge edge;
      edge.kind = PictureEdge::Kind::kCall;
      edge.from = caller->box_of[call.caller];
      edge.label = call.role.empty() ? "calls" : Printable(call.role);
      auto closed = function_boxes_.find(call.callee);
      if (closed != function_boxes_.end()) {
        edge.to = closed->second;
      } else if (!FirstBoxOf(call.callee, &edge)) {
        continue;
      }
      said.insert(call.callee);
      picture_.edges.push_back(std::move(edge));
    }
    for (const auto& function : module_.functions) {
      bool drawn = said.count(function.get()) != 0;
      for (const BodyBoxes& body : bodies_) drawn |= body.plan->function == function.get();
      picture_.counts.functions_closed += !drawn;
    }
  }

  bool FirstBoxOf(const Function* function, PictureEdge* edge) const {
    for (const BodyBoxes& body : bodies_) {
      if (body.plan->function != function) continue;
      for (uint32_t box : body.box_of) {
        if (box >= kBoxFolded) continue;
        edge->to = box;
        edge->to_cluster = body.cluster;
        return true;
      }
    }
    return false;
  }

  void FoldControl() {
    struct Fan {
      size_t boxes = 0, ops = 0;
    };
    std::vector<Fan> in(picture_.boxes.size()), out(picture_.boxes.size());
    auto each = [&](auto&& visit) {
      for (const PictureEdge& edge : picture_.edges) {
        if (edge.kind == PictureEdge::Kind::kControl) visit(edge);
      }
    };
    each([&](const PictureEdge& edge) {
      ++in[edge.to].boxes;
      in[edge.to].ops += edge.producers;
    });
    bool fold = !options_.show_control;
    auto folded_in = [&](const PictureEdge& edge) {
      return fold && in[edge.to].boxes > kControlFan;
    };
    each([&](const PictureEdge& edge) {
      if (folded_in(edge)) return;
      ++out[edge.from].boxes;
      out[edge.from].ops += edge.waiters;
    });
    auto folded_out = [&](const PictureEdge& edge) {
      return fold && out[edge.from].boxes > kControlFan;
    };
    for (size_t i = 0; fold && !options_.hide_control && i < picture_.boxes.size(); ++i) {
      std::vector<std::string>& notes = picture_.boxes[i].notes;
      if (in[i].boxes > kControlFan)
        notes.push_back(
            llvm::formatv("waits for {0} in {1}", Plural(in[i].ops, "op"), Boxes(in[i].boxes)));
      if (out[i].boxes > kControlFan)
        notes.push_back(llvm::formatv("{0} in {1} wait for this", Plural(out[i].ops, "op"),
                                      Boxes(out[i].boxes)));
    }
    std::erase_if(picture_.edges, [&](const PictureEdge& edge) {
      if (edge.kind != PictureEdge::Kind::kControl) return false;
      if (options_.hide_control) {
        picture_.counts.hidden_control += edge.count;
        return true;
      }
      bool drop = folded_in(edge) || folded_out(edge);
      if (drop) picture_.counts.stubbed_control += edge.count;
      return drop;
    });
  }

  void MakeIdsUnique() {
    std::set<std::string> taken;
    auto take = [&](std::string* id) {
      std::string base = *id;
      for (int i = 2; !taken.insert(*id).second; ++i) *id = base + " (" + std::to_string(i) + ")";
    };
    for (Box& box : picture_.boxes) take(&box.id);
    for (Cluster& cluster : picture_.clusters) take(&cluster.id);
  }

  void WriteHeader() {
    PictureCounts& counts = picture_.counts;
    size_t repeats = 0;
    for (const Box& box : picture_.boxes) {
      if (box.kind == BoxKind::kRest) counts.rest += box.num_ops;
      if (box.repeat > 1) repeats += box.repeat;
    }
    std::string first = Plural(counts.nodes, "op");
    if (counts.nodes != counts.nodes_of_graph) first += " of " + WithCommas(counts.nodes_of_graph);
    first += ": " + Boxes(picture_.boxes.size());
    if (repeats) first += llvm::formatv(" (equal ones merged: {0})", Plural(repeats, "op"));
    std::vector<std::string> parts = {first};
    bool hidden = options_.hide_constants;
    if (counts.constants || counts.variables) {
      std::string text = counts.constants ? Plural(counts.constants, "constant") : "";
      if (counts.variables)
        text += (text.empty() ? "" : ", ") + Plural(counts.variables, "variable");
      if (counts.constant_reads) text += " and " + Plural(counts.constant_reads, "op") + " on them";
      parts.push_back(text +
                      (hidden ? " hidden" : " folded into their readers (--show-constants)"));
    }
    if (!hidden_ops_.empty()) parts.push_back("hidden: " + HiddenText());
    if (counts.hidden_handles)
      parts.push_back(Plural(counts.hidden_handles, "edge") + " of resources not drawn");
    if (counts.rest)
      parts.push_back(Plural(counts.rest, "op") + " beyond --max-boxes " +
                      std::to_string(options_.max_boxes));
    if (plan_.left_closed)
      parts.push_back(WithCommas(plan_.left_closed) + " left closed by --max-boxes " +
                      std::to_string(options_.max_boxes));
    std::string control;
    uint64_t unseen = counts.stubbed_control + counts.hidden_control;
    if (unseen) control = Plural(unseen, "control edge") + " not drawn";
    if (counts.no_ops)
      control += (control.empty() ? "" : ", ") + Plural(counts.no_ops, "NoOp") + " folded";
    if (counts.invariants)
      parts.push_back(Plural(counts.invariants, "argument") +
                      " and results that loops do not change left out (--show-constants)");
    if (counts.forwards)
      parts.push_back(WithCommas(counts.forwards) + " Identity folded into " +
                      (counts.forwards == 1 ? "its result" : "their results"));
    if (!control.empty())
      parts.push_back(control + (counts.hidden_control ? "" : " (--show-control)"));
    if (counts.functions_closed)
      parts.push_back(Plural(counts.functions_closed, "function") + " not drawn (--function NAME)");
    if (counts.edges.dangling)
      parts.push_back(Plural(counts.edges.dangling, "input") + " not found");
    std::string line;
    for (std::string& part : parts) {
      if (!line.empty() && line.size() + part.size() > 110) {
        picture_.header.push_back(line + ";");
        line.clear();
      }
      line += (line.empty() ? "" : "; ") + part;
    }
    picture_.header.push_back(line);
  }

  const Module& module_;
  const ViewOptions& options_;
  const Graph* only_ = nullptr;
  std::vector<bool> selected_;
  Plan plan_;
  std::map<StringId, size_t> hidden_ops_;
  Picture picture_;
  ModuleShapes shapes_;
  std::vector<BodyBoxes> bodies_;
  std::map<const Function*, uint32_t> function_boxes_;
};

}  // namespace

Expected<Picture> MakePicture(const Module& module, const ViewOptions& options) {
  return PictureMaker(module, options).Run();
}

}  // namespace grapnel
