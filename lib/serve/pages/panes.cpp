#include "lib/serve/pages/panes.h"

#include <map>

#include "lib/render/labels.h"
#include "lib/support/printable.h"

namespace grapnel {
namespace {

// Calls `pair` with the enclosing scopes of nodes `a` and `b` at each depth; not at all if the
// nodes' depths differ.
void PairScopes(llvm::StringRef a, llvm::StringRef b,
                llvm::function_ref<void(llvm::StringRef, llvm::StringRef)> pair) {
  if (a.count('/') != b.count('/')) return;
  for (;;) {
    a = a.take_front(a.rfind('/') == llvm::StringRef::npos ? 0 : a.rfind('/'));
    b = b.take_front(b.rfind('/') == llvm::StringRef::npos ? 0 : b.rfind('/'));
    if (a.empty() || b.empty()) return;
    pair(a, b);
  }
}

using PlacePair = std::pair<DiffGraph::Place, DiffGraph::Place>;

// Writes pairs of nodes as four columns.
void WritePlaces(const std::string& name, llvm::ArrayRef<PlacePair> pairs, ColumnWriter& out) {
  auto write = [&](const char* what, auto&& number_of) {
    std::vector<int32_t> numbers;
    numbers.reserve(pairs.size());
    for (const auto& pair : pairs) numbers.push_back(static_cast<int32_t>(number_of(pair)));
    out.Steps(name + what, numbers);
  };
  write(" body", [](const auto& pair) { return pair.first.first; });
  write(" node", [](const auto& pair) { return pair.first.second; });
  write(" merged body", [](const auto& pair) { return pair.second.first; });
  write(" merged node", [](const auto& pair) { return pair.second.second; });
}

}  // namespace

Panes::Panes(const Module& a, const Module& b, const Diff& diff, const DiffGraph& merged)
    : merged_(merged) {
  bodies_of_b_[&b.main] = 0;
  for (size_t i = 0; i < b.functions.size(); ++i) bodies_of_b_[&b.functions[i]->body] = i + 1;
  for (const FunctionEntry& function : diff.functions) {
    if (!function.a.empty() && !function.b.empty()) bodies_.push_back({function.a, function.b});
  }
  for (const GroupEntry& group : diff.groups) {
    Node first = OfB(group.b[0].node);
    for (size_t i = 1; i < group.b.size() && first; ++i) {
      if (Node other = OfB(group.b[i].node))
        aliases_.push_back({merged_.PlaceOf(other), merged_.PlaceOf(first)});
    }
  }
  SetUp(&a_, a, "A", [this](const Node& node) { return merged_.OfA(node); });
  a_.marks.open.clear();  // those scopes have B's names
  SetUp(&b_, b, "B", [this](const Node& node) { return OfB(node); });
}

void Panes::SetUp(Side* side, const Module& module, const char* title,
                  const std::function<Node(const Node&)>& here) {
  side->module = &module;
  PageMarks& marks = side->marks;
  marks = merged_.marks();
  marks.summary.clear();
  marks.renamed.clear();
  marks.kind_of = [this, here](const Node& node) {
    Node shown = here(node);
    return shown ? merged_.marks().kind_of(shown) : -1;
  };
  marks.is_listed = [this, here](const Node& node) {
    Node shown = here(node);
    return shown && merged_.marks().is_listed(shown);
  };
  marks.name_of = nullptr;
  marks.details = [this, here](const Node& node) {
    Node shown = here(node);
    return shown ? merged_.marks().details(shown) : std::vector<PageMarks::Detail>();
  };
  side->page = std::make_unique<GraphPage>(module, llvm::ArrayRef<Signature>(), title, &marks);
}

Node Panes::OfB(const Node& b) const {
  return Node(&merged_.page().graph(bodies_of_b_.lookup(&b.graph())), b.id());
}

void Panes::WriteNodes(const char* name, const Side& side,
                       llvm::function_ref<Node(const Node&)> here, ColumnWriter& out) const {
  std::vector<PlacePair> pairs;
  for (size_t body = 0; body < side.page->num_bodies(); ++body) {
    for (Node node : side.page->graph(body).nodes()) {
      if (Node shown = here(node)) pairs.push_back({{body, node.id()}, merged_.PlaceOf(shown)});
    }
  }
  WritePlaces(name, pairs, out);
}

// For each scope of A, writes the scope of B in which most of its nodes are, unless that has the
// same name. Of most graphs nearly all nodes keep their names, so counts first the nodes that do
// not.
void Panes::WriteScopes(ColumnWriter& out) const {
  std::map<std::pair<size_t, std::string>, std::map<std::string, size_t>> votes;
  auto count = [&](bool renamed) {
    for (size_t body = 0; body < a_.page->num_bodies(); ++body) {
      for (Node node : a_.page->graph(body).nodes()) {
        Node shown = merged_.OfA(node);
        if (!shown || (node.name() != shown.name()) != renamed) continue;
        PairScopes(node.name(), shown.name(), [&](llvm::StringRef a, llvm::StringRef b) {
          std::pair<size_t, std::string> scope = {body, a.str()};
          if (renamed || votes.count(scope)) ++votes[scope][b.str()];
        });
      }
    }
  };
  count(/*renamed=*/true);
  if (!votes.empty()) count(/*renamed=*/false);
  std::vector<int32_t> bodies;
  std::vector<std::string> in_a, in_b;
  for (const auto& [scope, counts] : votes) {
    auto most =
        llvm::max_element(counts, [](const auto& x, const auto& y) { return x.second < y.second; });
    if (most->first == scope.second) continue;
    bodies.push_back(static_cast<int32_t>(scope.first));
    in_a.push_back(Printable(scope.second));
    in_b.push_back(Printable(most->first));
  }
  out.Steps("scope body", bodies);
  out.Texts("scope in a", std::vector<llvm::StringRef>(in_a.begin(), in_a.end()));
  out.Texts("scope in b", std::vector<llvm::StringRef>(in_b.begin(), in_b.end()));
}

std::string Panes::MatchTable() const {
  ColumnWriter out;
  WriteNodes(
      "a", a_, [&](const Node& node) { return merged_.OfA(node); }, out);
  WriteNodes(
      "b", b_, [&](const Node& node) { return OfB(node); }, out);
  WritePlaces("alias", aliases_, out);
  std::vector<int32_t> of_a, of_b;
  auto number = [](const Side& side, const std::string& name) {
    const auto& functions = side.module->functions;
    auto found = llvm::find_if(functions, [&](const auto& f) { return f->name() == name; });
    return static_cast<int32_t>(1 + (found - functions.begin()));
  };
  for (const auto& [a, b] : bodies_) {
    of_a.push_back(number(a_, a));
    of_b.push_back(number(b_, b));
  }
  out.Steps("of a", of_a);
  out.Steps("of b", of_b);
  WriteScopes(out);
  return std::move(out).Finish();
}

}  // namespace grapnel
