// What a page asks of one graph, as JSON: the model, a scope, a node, the list of all nodes.
#ifndef GRAPNEL_LIB_RENDER_GRAPH_PAGE_H_
#define GRAPNEL_LIB_RENDER_GRAPH_PAGE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/io/open.h"
#include "lib/render/scope_view.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

struct IndexPage {
  std::string json;
  NodeId next = 0;  // where to go on; Graph::end_id at the end
};

// Bodies are numbered: 0 is main, 1 + i the i-th function of the library. A body is looked at when
// first asked for. Safe to use from several threads. All text is UTF-8 without control characters;
// '<', '>' and '&' are escaped, so that a document can stand inside HTML.
class GraphPage {
 public:
  // Main and library of `file`, which outlives the page.
  GraphPage(const GraphInFile& file, std::string title);
  ~GraphPage();

  // Title, bodies with their calls, signatures, problems, colours, and what is open at first.
  std::string ModelJson();
  // One opened scope, laid out as far as that needs no sizes; without a scope the outermost.
  // Errors: there is no such body or scope, or the scope is no core.
  Expected<std::string> ScopeJson(size_t body, std::optional<ScopeId> scope);
  // All that is known of one node: attributes in words, inputs, readers, the scopes around it.
  Expected<std::string> NodeJson(size_t body, NodeId node);
  // The nodes of a body with ids from `from` on, at most `limit`: names, ops, devices, output types
  // and attributes, each distinct text once. "next" is where to go on.
  Expected<IndexPage> IndexJson(size_t body, NodeId from, size_t limit);

  size_t num_bodies() const { return bodies_.size(); }
  const Graph& graph(size_t body) const;
  // The scopes of a body that can be opened, from the outside in.
  std::vector<ScopeId> OpenableScopes(size_t body);

 private:
  struct Slot;
  const BodyScopes& Scopes(size_t body);
  Error Check(size_t body) const;
  void WriteDevices(llvm::json::OStream& json) const;

  const GraphInFile& file_;
  const Module& module_;
  std::string title_;
  std::vector<std::unique_ptr<Slot>> bodies_;
  llvm::StringMap<size_t> by_name_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_GRAPH_PAGE_H_
