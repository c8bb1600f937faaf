// What a page asks of one graph, as JSON: the model, a scope, a node, the list of all nodes.
#ifndef GRAPNEL_LIB_RENDER_GRAPH_PAGE_H_
#define GRAPNEL_LIB_RENDER_GRAPH_PAGE_H_

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lib/io/open.h"
#include "lib/ir/line_table.h"
#include "lib/render/node_filter.h"
#include "lib/render/page_opening.h"
#include "lib/render/scope_view.h"
#include "lib/render/xla_clusters.h"
#include "lib/shape/module_shapes.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// The device of a node as a page shows it.
std::string PageDevice(const Node& node, const struct PageMarks* marks);

// A document that can stand in HTML: '<', '>' and '&' occur in its strings only, where an escape
// says the same.
std::string PageDocument(llvm::function_ref<void(llvm::json::OStream&)> write);

// What a caller puts on nodes: what a diff found, what a debugger saw.
struct PageMarks {
  struct Detail {
    std::string what, before, after;
    std::string text;       // instead of before and after: lines to read
    std::string card = {};  // of a debugger, to lead to: "trace/11"; empty: none
  };
  struct Renamed {
    std::string before, after;  // names of scopes or nodes; empty: the top
    size_t nodes = 0;
  };
  std::string title;                        // of the legend
  std::vector<std::string> kinds;           // "removed", "added", ...: at most 4
  std::function<int(const Node&)> kind_of;  // an index of kinds; -1: none
  // Whether a marked node is in the lists and their counts, and as what; empty: each, by its name.
  // One that is marked for what is drawn within it is not.
  std::function<bool(const Node&)> is_listed;
  std::function<std::string(const Node&)> name_of;
  std::function<std::vector<Detail>(const Node&)> details;  // for the panel; may be empty
  std::function<std::string(const Node&)> device_of;  // instead of the one asked for; may be empty
  bool color_by_device = false;                      // at first, instead of by kind
  std::vector<std::string> open;     // scopes, as ViewOptions::scopes; empty: the largest
  std::vector<std::string> summary;  // lines about the whole
  std::vector<Renamed> renamed;      // what else is called here, most nodes first
};

// Where nodes were made, for a page: read when the first document that says so is asked for.
struct PageLines {
  struct Text {
    int first = 1;  // number of the first line
    std::vector<std::string> lines;
  };
  std::function<LineTable()> read;                              // empty: what the module says
  std::function<std::optional<Text>(const SourceFrame&)> text;  // around a line; may be empty
};

constexpr size_t kIndexPage = 4096;  // nodes in one page of an index

// Entries of a list (readers of an output, marked nodes of a kind, problems) that a document has,
// and that each further page of the list has.
constexpr size_t kFirstListed = 200, kListedAPage = 2000;

struct IndexPage {
  std::string json;
  NodeId next = 0;  // where to go on; Graph::end_id at the end
};

// Bodies are numbered: 0 is main, 1 + i the i-th function of the library. A body is looked at when
// first asked for. Safe to use from several threads. All text is UTF-8 without control characters;
// '<', '>' and '&' are escaped, so that a document can stand inside HTML.
class GraphPage {
 public:
  // Main and library of a module, and what its file says of signatures; all outlive the page.
  GraphPage(const Module& module, llvm::ArrayRef<Signature> signatures, std::string title,
            const PageMarks* marks = nullptr);
  ~GraphPage();
  // Before the first document: what each signature runs, in their order, and the number of the one
  // that is shown first (none: main is). Bodies are of this module.
  void BeginAt(std::vector<SignatureBody> of_signatures, std::optional<size_t> first) {
    entries_ = std::move(of_signatures);
    first_ = first;
  }

  // Likewise, after BeginAt: what is open at first instead of the largest scopes. Errors: a scope
  // or a function that is not there.
  Error OpenAs(const OpenRequest& wanted);
  // Likewise.
  void SetLines(PageLines lines) { page_lines_ = std::move(lines); }

  // Title, bodies with their calls, signatures, problems, colors, and what is open at first.
  const std::string& ModelJson();
  // One opened scope, laid out as far as that needs no sizes; without a scope the outermost.
  // Errors: there is no such body or scope, or the scope is no core.
  Expected<std::string> ScopeJson(size_t body, std::optional<ScopeId> scope);
  // All that is known of one node: attributes in words, inputs, readers, the scopes around it.
  Expected<std::string> NodeJson(size_t body, NodeId node);
  // The nodes of a body with ids from `from` on, at most `limit`: names, ops, devices, output
  // types, attributes and XLA clusters, each distinct text once. "next" is where to go on.
  Expected<IndexPage> IndexJson(size_t body, NodeId from, size_t limit);
  // The same nodes in the same order: {"nodes": [id, its scope (-1: folded), what it reads ...]},
  // control inputs as -1 - id. The first page has "parents" too, a list by scope.
  Expected<IndexPage> LinksJson(size_t body, NodeId from, size_t limit);
  // The nodes of all bodies that fit a search (lib/render/node_query.h), or that a line of the
  // program made ("file.py:12", where a frame of a stack is there), the nearest first and
  // those in the graph's order, at most `limit`: {"hits": [{"body", "node", "name", "op", "device",
  // "types"}], "more": how many others fit}. Linear in names; some 100 ms for a million. Once
  // `is_gone` says so, only what was found until then.
  std::string SearchJson(llvm::StringRef text, size_t limit, llvm::function_ref<bool()> is_gone);

  // What there is to hide, of all bodies: {"op": [[text, nodes], ...], "job", "task", "device",
  // "cluster", "function"}, what there is most of first. Linear in the nodes.
  std::string FacetsJson() const;
  // {"body", "node"} of "x" or "function/x". Errors: there is none.
  Expected<std::string> FindJson(llvm::StringRef text) const;
  // What a filter leaves out of a body: {"states": of each id (0 shown, 1 hidden by words, 2
  // outside of the part), four to a byte, "nodes", "cut": of all, "ops": [[op, nodes that words
  // hide]], "folded_constants": of these, "scopes": of each box that lacks some how many, and what
  // all of it is (LackingScopes of graph_filter.cpp)}, bytes in base64. Errors: a wrong word, a
  // node that is not there, no path. Linear; 100 ms for a million nodes.
  Expected<std::string> HiddenJson(size_t body, const NodeFilter& filter);

  // The scopes around a node, from the outside in: those that must be open for it to be seen.
  std::vector<ScopeId> ScopesAround(size_t body, NodeId node);
  // Further pages of lists, from the `from`-th entry on; "next" is where to go on. Readers of an
  // output (the number of outputs: control edges); marked nodes of a kind; problems.
  Expected<std::string> ReadersJson(size_t body, NodeId node, size_t output, size_t from);
  Expected<std::string> MarkedJson(size_t kind, size_t from) const;
  std::string ProblemsJson(size_t from) const;
  size_t num_problems() const { return module_.problems.size(); }
  // Of each kind of marks.
  std::vector<size_t> MarkedCounts() const;

  // A node by name, of a function or (empty) of main: its body and id. nullopt: there is none.
  std::optional<std::pair<size_t, NodeId>> Find(llvm::StringRef function,
                                                llvm::StringRef node) const;
  size_t num_bodies() const { return bodies_.size(); }
  const Graph& graph(size_t body) const;
  // With what the body's callers give it.
  const ShapeMap& shapes(size_t body) const { return shapes_.Of(graph(body)); }
  // The nodes that lie in a scope at any depth, in the graph's order. Errors: there is no such body
  // or scope.
  Expected<std::vector<NodeId>> NodesIn(size_t body, ScopeId scope);
  // The scopes of a body that can be opened, from the outside in.
  std::vector<ScopeId> OpenableScopes(size_t body);

 private:
  struct Slot;
  struct Texts;
  const BodyScopes& Scopes(size_t body);
  Error Check(size_t body) const;
  std::optional<size_t> FindBody(llvm::StringRef function) const;
  const Function* First() const;  // whose body is shown first; null: main
  PageOpening OpensByItself() const;
  std::string MakeModelJson() const;
  void WriteMarked(llvm::json::OStream& json) const;
  template <typename Visit>
  void ForEachMarked(Visit&& visit) const;
  void WriteDevices(llvm::json::OStream& json) const;
  void WriteClusters(llvm::json::OStream& json) const;
  // The texts that nodes of all bodies have, those of the most nodes first; "" is none.
  std::vector<std::string> TextsOfNodes(llvm::function_ref<std::string(const Node&)> text_of) const;
  const SignatureBody* EntryOf(const Graph& graph) const;  // null: no signature runs it
  void WriteSignatures(llvm::json::OStream& json) const;

  const Module& module_;
  ModuleShapes shapes_;
  llvm::ArrayRef<Signature> signatures_;
  std::string title_;
  std::vector<SignatureBody> entries_;
  std::optional<size_t> first_;
  std::optional<PageOpening> opening_;  // what OpenAs was asked for
  const LineTable& Lines();
  PageLines page_lines_;
  std::once_flag lines_once_;
  LineTable lines_;
  const PageMarks* marks_;
  XlaClusters clusters_;
  std::vector<std::unique_ptr<Slot>> bodies_;
  llvm::StringMap<size_t> by_name_;
  std::once_flag model_once_;
  std::string model_json_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_GRAPH_PAGE_H_
