#include "lib/render/page_rows.h"

#include <algorithm>
#include <limits>

#include "lib/ir/function_ends.h"
#include "lib/ir/node_types.h"
#include "lib/render/labels.h"
#include "lib/render/scope_texts.h"

namespace grapnel {
namespace {

constexpr int32_t kMissingData = -2, kMissingControl = -3;  // in the column "port"

int32_t Number(size_t count) {
  return static_cast<int32_t>(std::min<size_t>(count, std::numeric_limits<int32_t>::max()));
}

int32_t Difference(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b); }

// True if the node's box is an end of the graph. A function's ends are its results.
bool IsOutput(const Node& node) {
  bool is_end = IsResult(node) ||
                (node.uses().empty() && !IsFunctionGraph(node.graph()) && NumOutputs(node) > 0);
  return is_end && GroupOf(node.op()) != OpGroup::kInput;
}

std::vector<llvm::StringRef> RefsOf(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

}  // namespace

void PageRows::AddNode(NodeId id, unsigned fields) {
  const Folding& folding = body_.scopes.folding();
  node_.push_back(Difference(id, 0));
  Node node = body_.scopes.graph().node(id);
  bool is_shown = folding.uses[id] == NodeUse::kShown;
  auto add = [&](PageTextKind kind, uint32_t number) {
    numbers_[static_cast<size_t>(kind)].push_back(number);
  };
  bool has_name = fields & kName, has_panel = fields & kPanel;
  SharedTexts shared = has_name ? node_texts_.SharedOf(node, has_panel) : SharedTexts();
  names_.push_back(has_name ? Printable(node.name()) : "");
  add(PageTextKind::kTraits, shared.traits);
  add(PageTextKind::kPanel, shared.panel);
  add(PageTextKind::kBox, fields & kBox && is_shown ? node_texts_.BoxOf(node) : 0);
  add(PageTextKind::kDetails, has_panel ? node_texts_.DetailsOf(node) : 0);
  add(PageTextKind::kStack, has_panel ? node_texts_.StackOf(node) : 0);
  inside_.push_back(is_shown ? Difference(body_.scopes.tree().ScopeOf(id), 0) : -1);
  home_.push_back(has_name && !is_shown ? Difference(body_.scopes.HomeOf(id), id) : 0);
  output_.push_back(fields & kBox && is_shown && IsOutput(node));
  mark_.push_back(body_.kinds.empty() ? 0 : body_.kinds[id] + 1);
  if (fields & kEdges) {
    AddEdges(node);
    AddReaders(node);
  } else {
    inputs_.push_back(0);
    ports_.push_back(0);
  }
}

void PageRows::AddEdges(const Node& node) {
  int slot = 0;
  for (Port port : node.inputs()) {
    bool is_control = slot >= node.num_inputs();
    if (port.node == kNoNode) {
      missing_.push_back(Printable(node.DanglingText(slot)));
      from_.push_back(0);
      port_.push_back(is_control ? kMissingControl : kMissingData);
    } else {
      from_.push_back(Difference(port.node, node.id()));
      port_.push_back(is_control ? kControlPort : port.index);
    }
    ++slot;
  }
  inputs_.push_back(slot);
}

void PageRows::AddReaders(const Node& node) {
  llvm::SmallVector<std::pair<int32_t, NodeId>, 4> uses;
  for (const Use& use : node.uses()) {
    Node reader = node.graph().node(use.node);
    uses.push_back({reader.input(static_cast<int>(use.slot)).index, use.node});
  }
  llvm::stable_sort(uses, [](const auto& a, const auto& b) { return a.first < b.first; });
  int32_t ports = 0;
  for (size_t begin = 0, end; begin < uses.size(); begin = end) {
    for (end = begin; end < uses.size() && uses[end].first == uses[begin].first;) ++end;
    ++ports;
    read_.push_back(uses[begin].first);
    readers_.push_back(Number(end - begin));
    for (size_t i = begin; i < std::min(end, begin + kFirstListed); ++i)
      reader_.push_back(Difference(uses[i].second, node.id()));
  }
  ports_.push_back(ports);
}

void PageRows::AddScope(ScopeId id, unsigned fields) {
  const BodyScopes& scopes = body_.scopes;
  const ScopeTree& tree = scopes.tree();
  const Scope& scope = tree.scope(id);
  bool is_root = id == kRootScope;
  scope_.push_back(Difference(id, 0));
  parent_.push_back(is_root ? 0 : Difference(scope.parent, id));
  core_.push_back(Difference(scope.core, id));
  group_.push_back(scope.group || scope.made_for_layer);
  frame_.push_back(scopes.IsFrame(id));
  std::string path = Printable(tree.PathText(id)), title = Printable(tree.TitleText(id));
  titles_.push_back(title == path ? "" : std::move(title));
  paths_.push_back(std::move(path));
  bases_.push_back(is_root ? Printable(tree.BaseOf(id)) : "");
  ends_.push_back(is_root ? Printable(PrefixOfEnds(scopes.graph())) : "");
  layers_.push_back((is_root ? tree.LayerAround(id) : scope.layer).str());
  classes_.push_back(scope.layer_class.str());
  auto add = [&](PageTextKind kind, llvm::StringRef text) {
    numbers_[static_cast<size_t>(kind)].push_back(texts_.Number(kind, text));
  };
  add(PageTextKind::kAbout, fields & kAbout ? AboutText(body_, id) : "");
  ContentsText contents = fields & kContents ? ContentsOf(scopes, id) : ContentsText();
  add(PageTextKind::kContents, contents.text);
  anchor_.push_back(Difference(contents.anchor, 0));
  std::vector<int32_t> marked(body_.marks ? body_.marks->kinds.size() : 0, 0);
  if (fields & kAbout && !marked.empty()) CountMarked(body_, id, marked);
  marked_.insert(marked_.end(), marked.begin(), marked.end());
  if (!is_root) return;
  const Folding& folding = scopes.folding();
  counts_ = {Number(folding.constants),
             Number(folding.constant_reads),
             Number(folding.no_ops),
             Number(folding.invariants),
             Number(scopes.num_drawn_inputs()),
             Number(scopes.num_folded_inputs()),
             Number(scopes.num_dangling_inputs())};
}

void PageRows::AddParents() {
  const ScopeTree& tree = body_.scopes.tree();
  parents_ = {-1};
  for (ScopeId id = kRootScope + 1; id < tree.size(); ++id)
    parents_.push_back(Difference(tree.scope(id).parent, id));
}

std::string PageRows::Table(const TextNumbers* numbers) const {
  ColumnWriter out;
  if (!node_.empty()) WriteNodes(out);
  if (!scope_.empty()) WriteScopes(out);
  WriteTexts(numbers, out);
  out.Numbers("parents", parents_);
  out.Steps("next", next_);
  return std::move(out).Finish();
}

void PageRows::WriteNodes(ColumnWriter& out) const {
  out.Steps("node", node_);
  out.Texts("name", RefsOf(names_));
  out.Steps("inside", inside_);
  out.Numbers("home", home_);
  out.Numbers("output", output_);
  out.Numbers("mark", mark_);
  out.Numbers("inputs", inputs_);
  out.Numbers("from", from_);
  out.Numbers("port", port_);
  out.Texts("missing", RefsOf(missing_));
  out.Numbers("ports", ports_);
  out.Numbers("read", read_);
  out.Numbers("readers", readers_);
  out.Numbers("reader", reader_);
}

void PageRows::WriteScopes(ColumnWriter& out) const {
  out.Steps("scope", scope_);
  out.Numbers("parent", parent_);
  out.Numbers("core", core_);
  out.Numbers("group", group_);
  out.Numbers("frame", frame_);
  out.Texts("path", RefsOf(paths_));
  out.Texts("title", RefsOf(titles_));
  out.Texts("base", RefsOf(bases_));
  out.Texts("ends", RefsOf(ends_));
  out.Texts("layer", RefsOf(layers_));
  out.Texts("class", RefsOf(classes_));
  out.Steps("anchor", anchor_);
  out.Numbers("marked", marked_);
  out.Numbers("counts", counts_);
}

void PageRows::WriteTexts(const TextNumbers* numbers, ColumnWriter& out) const {
  for (size_t kind = 0; kind < kNumTextKinds; ++kind) {
    Column column;
    bool any = false;
    for (uint32_t number : numbers_[kind]) {
      bool in_file = number & NodeTexts::kInFile;
      if (in_file) number &= ~NodeTexts::kInFile;
      column.push_back(Difference(!in_file && numbers ? (*numbers)[kind][number] : number, 0));
      any |= number > 0;
    }
    if (any) out.Steps(TextKindName(kind), column);
    if (!numbers) out.Texts((TextKindName(kind) + " texts").str(), texts_.Of(kind));
  }
}

}  // namespace grapnel
