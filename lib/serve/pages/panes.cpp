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

void WritePlaces(DiffGraph::Place from, DiffGraph::Place to, llvm::json::OStream& json) {
  json.array([&] {
    json.value(from.first);
    json.value(from.second);
    json.value(to.first);
    json.value(to.second);
  });
}

}  // namespace

Panes::Panes(const Module& a, const Module& b, const Diff& diff, const DiffGraph& merged)
    : merged_(merged) {
  for (const auto& function : b.functions) functions_[&function->body] = function->name().str();
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
  return merged_.OfB(functions_.lookup(&b.graph()), b.name());
}

void Panes::WriteNodes(const Side& side, llvm::function_ref<Node(const Node&)> here,
                       llvm::json::OStream& json) const {
  json.array([&] {
    for (size_t body = 0; body < side.page->num_bodies(); ++body) {
      for (Node node : side.page->graph(body).nodes()) {
        if (Node shown = here(node)) WritePlaces({body, node.id()}, merged_.PlaceOf(shown), json);
      }
    }
  });
}

// For each scope of A, writes the scope of B in which most of its nodes are, unless that has the
// same name.
void Panes::WriteScopes(llvm::json::OStream& json) const {
  std::map<std::pair<size_t, std::string>, std::map<std::string, size_t>> votes;
  for (size_t body = 0; body < a_.page->num_bodies(); ++body) {
    for (Node node : a_.page->graph(body).nodes()) {
      Node shown = merged_.OfA(node);
      if (!shown) continue;
      PairScopes(node.name(), shown.name(), [&](llvm::StringRef a, llvm::StringRef b) {
        ++votes[{body, a.str()}][b.str()];
      });
    }
  }
  json.array([&] {
    for (const auto& [scope, counts] : votes) {
      auto most = llvm::max_element(
          counts, [](const auto& x, const auto& y) { return x.second < y.second; });
      if (most->first == scope.second) continue;
      json.array([&, &scope = scope] {
        json.value(scope.first);
        json.value(Printable(scope.second));
        json.value(Printable(most->first));
      });
    }
  });
}

std::string Panes::MatchJson() const {
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attributeBegin("a");
      WriteNodes(
          a_, [&](const Node& node) { return merged_.OfA(node); }, json);
      json.attributeEnd();
      json.attributeBegin("b");
      WriteNodes(
          b_, [&](const Node& node) { return OfB(node); }, json);
      json.attributeEnd();
      json.attributeArray("aliases", [&] {
        for (const auto& [from, to] : aliases_) WritePlaces(from, to, json);
      });
      json.attributeArray("bodies", [&] {
        for (const auto& [a, b] : bodies_) {
          auto number = [](const Side& side, const std::string& name) {
            const auto& functions = side.module->functions;
            return 1 + (llvm::find_if(functions, [&](const auto& f) { return f->name() == name; }) -
                        functions.begin());
          };
          json.array([&, &a = a, &b = b] {
            json.value(number(a_, a));
            json.value(number(b_, b));
          });
        }
      });
      json.attributeBegin("scopes");
      WriteScopes(json);
      json.attributeEnd();
    });
  });
}

}  // namespace grapnel
