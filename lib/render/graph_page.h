// Makes the documents of one graph for the page: the model, a scope, a node, a list of all nodes.
#ifndef GRAPNEL_LIB_RENDER_GRAPH_PAGE_H_
#define GRAPNEL_LIB_RENDER_GRAPH_PAGE_H_

#include <functional>
#include <map>
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
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// Returns the text that the page shows as the node's device.
std::string PageDevice(const Node& node, const struct PageMarks* marks);

// Returns the JSON document that `write` writes, in a form that can be embedded in HTML: '<', '>'
// and '&' occur only in strings, and are escaped there.
std::string PageDocument(llvm::function_ref<void(llvm::json::OStream&)> write);

// Marks that a caller of GraphPage puts on nodes to show a result, such as that of a diff, of a
// debug run or of a placement.
struct PageMarks {
  struct Detail {
    std::string what, before, after;
    std::string text;       // lines to show instead of `before` and `after`
    std::string card = {};  // link to a debugger's card: "trace/11"; empty: no link
  };
  struct Renamed {
    std::string before, after;  // names of scopes or nodes; empty: the top level
    size_t nodes = 0;
  };
  std::string title;                        // of the legend
  std::vector<std::string> kinds;           // "removed", "added", ...: at most 5
  std::function<int(const Node&)> kind_of;  // required: an index in `kinds`; -1: not marked
  // Whether to list and count a marked node under its kind; if the function is empty, all marked
  // nodes are listed. Use it to leave out nodes that are marked only because of the nodes drawn
  // within them.
  std::function<bool(const Node&)> is_listed;
  std::function<std::string(const Node&)> name_of;  // in the list; may be empty: Node::name()
  std::function<std::vector<Detail>(const Node&)> details;  // lines for the panel; may be empty
  std::function<std::string(const Node&)> device_of;  // replaces the requested device; may be empty
  bool color_by_device = false;                       // first color by device, not by kind
  std::vector<std::string> open;     // as ViewOptions::scopes; empty: the largest scopes
  std::vector<std::string> summary;  // lines about the graph as a whole
  std::vector<Renamed> renamed;      // renamed scopes or nodes, most nodes first
};

// The source lines that made the nodes. `read` is called when the page first needs one.
struct PageLines {
  struct Text {
    int first = 1;  // number of the first line
    std::vector<std::string> lines;
  };
  std::function<LineTable()> read;                              // if empty, uses the module's own
  std::function<std::optional<Text>(const SourceFrame&)> text;  // text around a line; may be empty
};

// The values of the variables of the main graph, for panels. Several threads call the functions.
struct PageValues {
  // Returns the variable that a node is or reads, or whose handle it passes on as an argument of a
  // function; kNoNode if there is none.
  std::function<NodeId(const Node&)> variable_of;
  // Returns the value of a variable; nullopt if it is not known.
  std::function<std::optional<Literal>(NodeId)> read;
};

struct PageBody;
class KnownNodeTexts;
class PageRows;
class StackTexts;
class ValueTexts;

constexpr size_t kIndexPage = 4096;  // nodes in one page of an index

// Long lists (readers of an output, marked nodes of a kind, problems) come in pieces: the first
// kFirstListed entries in the document itself, then kListedAPage in each further page.
constexpr size_t kFirstListed = 200, kListedAPage = 2000;

// The documents of one module. Bodies are numbered: 0 is the main graph, 1 + i the i-th function of
// the library. A body is analyzed when it is first requested. Thread-safe. All text is UTF-8
// without control characters. Documents called ...Json are JSON; '<', '>' and '&' are escaped in
// them, so that they can be embedded in HTML. The others are tables of rows of nodes and scopes
// (lib/render/page_rows.h).
class GraphPage {
 public:
  // Makes a page for the main graph and library of a module, with the signatures of its file; all
  // arguments must outlive the page.
  GraphPage(const Module& module, llvm::ArrayRef<Signature> signatures, std::string title,
            const PageMarks* marks = nullptr);
  ~GraphPage();
  // Sets the body that each signature runs, in the order of the signatures, and the index of the
  // signature whose body is shown first (nullopt: the main graph). Call it before requesting a
  // document. The bodies must be of this page's module.
  void BeginAt(std::vector<SignatureBody> of_signatures, std::optional<size_t> first) {
    entries_ = std::move(of_signatures);
    first_ = first;
  }

  // Sets the function that finds the layers of the module, which are then boxes; it is called once,
  // when the first document needs it. Call it before OpenAs and before requesting a document.
  void SetLayers(std::function<BoxLayers()> find) { find_layers_ = std::move(find); }
  // Sets the scopes and functions that are open at first, instead of the largest scopes; call it
  // after BeginAt. Returns PageOpening::notices. Errors: a scope or a function that does not exist.
  Expected<std::vector<std::string>> OpenAs(const OpenRequest& wanted);
  // Sets the batch size that FLOPs assume because that of the module is unknown, and the function
  // that copies the module with inputs of this size: with bodies and nodes of the same numbers, to
  // outlive the page. It is called once, when the first document needs it. Call SetSized before
  // requesting a document.
  void SetSized(int64_t batch, std::function<const Module&()> copy) {
    assumed_batch_ = batch;
    copy_sized_ = std::move(copy);
  }
  // Call it before requesting a document.
  void SetLines(PageLines lines) { page_lines_ = std::move(lines); }
  // Call it before requesting a document.
  void SetValues(PageValues values);

  // Title, bodies with their calls, signatures, problems, colors, devices, XLA clusters, marks, and
  // the scopes and functions that are open at first.
  const std::string& ModelJson();
  // One opened scope: its contents, and the rows of the scopes and nodes in it and at its ports.
  // nullopt is the outermost scope. Errors: no such body or scope; the scope is not a core (see
  // Scope::core).
  Expected<std::string> ScopeTable(size_t body, std::optional<ScopeId> scope);
  // Everything about one node but the notes and costs in its box; the names and traits of its
  // inputs and readers, and the scopes around it.
  Expected<std::string> NodeTable(size_t body, NodeId node);
  // The names and traits of the nodes of a body with ids from `from` on, at most `limit`, and
  // "next"; the first table also has "parents".
  Expected<std::string> IndexTable(size_t body, NodeId from, size_t limit);
  // A page of a list: the readers of an output (if `output` is the number of ShownOutputs: the
  // nodes that wait for the node by a control edge), beginning at entry `from`, at most
  // kListedAPage, and "next". `with_names`: with their names and traits.
  Expected<std::string> ReadersTable(size_t body, NodeId node, size_t output, size_t from,
                                     bool with_names);
  // All rows of the nodes, or of the scopes, with ids from `begin` to `end`, for a page in a file.
  // The first rows of nodes come with "parents". `known` must outlive the rows.
  std::unique_ptr<PageRows> NodeRows(size_t body, NodeId begin, NodeId end,
                                     const KnownNodeTexts& known);
  std::unique_ptr<PageRows> ScopeRows(size_t body, ScopeId begin, ScopeId end);
  // Analyzes a body now, instead of when a document first needs it.
  void Analyze(size_t body);
  // The edges for which a line between two boxes stands, in the order of the graph: {"edges":
  // [{"from", "name", "port", "type", "to", "reader", "slot"}], "more": how many others}. The boxes
  // are given by their keys, "s12" for a scope and "n45" for a node. Errors: there is no such body
  // or box.
  Expected<std::string> EdgesJson(size_t body, llvm::StringRef from, llvm::StringRef to,
                                  bool control);
  // The nodes of all bodies that match a search (lib/render/node_query.h), or that a line of the
  // Python program made ("file.py:12", any frame of the stack). The matches of a search: first
  // those in `seen`, (body, node) pairs, then those in the same bodies, then others; of each the
  // best ones first, then in the graph's order. The nodes of a line: in the graph's order. At most
  // `limit`: {"hits": [{"body", "node", "name", "op", "device", "types"}], "more": how many others
  // match}. Takes time linear in the names, some 100 ms for a million. Once `is_gone` returns true
  // (the client has left), a search stops and returns the matches so far.
  using SeenNodes = llvm::DenseSet<std::pair<uint32_t, NodeId>>;
  std::string SearchJson(llvm::StringRef text, size_t limit, const SeenNodes& seen,
                         llvm::function_ref<bool()> is_gone);

  // The layers, and the boxes that show them: {"layers": [{"path", "class", "outputs": types of
  // the tensors that others read, "parameters": with those of layers in it, "trainable": of these,
  // if the file says it, "open": true if they are at least so many, "weights": [[name, type, node]]
  // of its own, where the node is that in the main graph, if it is there}], "boxes": [[layer, body,
  // scope, node]]}. A box is that of the scope or, if this is -1, that of the node; a layer without
  // a box of its own has that of its first node. Analyzes all bodies that have nodes of layers.
  std::string LayersJson();

  // The values that filters can hide, in all bodies: {"op": [[text, nodes], ...], "job", "task",
  // "device", "cluster", "function"}, most frequent first. Takes time linear in the nodes.
  std::string FacetsJson() const;
  // The body and id of the node "x" or "function/x": {"body", "node"}. Errors: no such node.
  Expected<std::string> FindJson(llvm::StringRef text) const;
  // The nodes that a filter removes from a body: {"states": for each id (0 shown, 1 hidden by
  // words, 2 outside of the selected part), four to a byte, "nodes", "cut": totals, "ops": [[op,
  // nodes that words hide]], "folded_constants": how many of the hidden nodes are folded constants,
  // "scopes": the number of removed nodes of each box that lacks some, packed as in LackingScopes
  // (graph_filter.cpp)}. "states" and "scopes" are in base64. Errors: no such body, an invalid
  // word, a node that does not exist, no path between the filter's two nodes. Takes time linear in
  // the nodes; 100 ms for a million.
  Expected<std::string> HiddenJson(size_t body, const NodeFilter& filter);

  // The scopes that contain a node and must be open to show it, the outermost first.
  std::vector<ScopeId> ScopesAround(size_t body, NodeId node);
  // Further pages of lists, beginning at entry `from`: the marked nodes of a kind, and the
  // problems. "next" is the `from` of the next page.
  Expected<std::string> MarkedJson(size_t kind, size_t from) const;
  std::string ProblemsJson(size_t from) const;
  size_t num_problems() const { return module_.problems.size(); }
  // The number of marked nodes of each kind.
  std::vector<size_t> MarkedCounts() const;

  // Returns the body and id of a node of a function, or of the main graph if `function` is empty;
  // nullopt if there is no such node.
  std::optional<std::pair<size_t, NodeId>> Find(llvm::StringRef function,
                                                llvm::StringRef node) const;
  // Returns the body of a function; nullopt if there is none.
  std::optional<size_t> FindBody(llvm::StringRef function) const;
  size_t num_bodies() const { return bodies_.size(); }
  const Graph& graph(size_t body) const;
  // The shapes of a body's tensors, inferred for the inputs that its callers pass.
  const ShapeMap& shapes(size_t body) const { return shapes_.Of(graph(body)); }
  // The nodes in a scope at any depth, in the graph's order. Errors: no such body or scope.
  Expected<std::vector<NodeId>> NodesIn(size_t body, ScopeId scope);
  size_t num_scopes(size_t body) { return Scopes(body).tree().size(); }
  // The cost of a node without the functions it calls. The argument of a signature's body costs as
  // much as the constant or variable of the main graph that it receives.
  Cost CostOf(size_t body, NodeId node) { return Scopes(body).costs().OfNode(node); }
  // The body that is shown first instead of the main graph; null if the main graph is.
  const SignatureBody* entry() const { return first_ ? &entries_[*first_] : nullptr; }

 private:
  struct Slot;
  struct Texts;
  const BodyScopes& Scopes(size_t body);
  const ShapeMap& CostShapes(size_t body);
  const PageBody& Body(size_t body);
  // By node id, the kind of the node's mark, -1 without one; empty if the page has no marks.
  const std::vector<int8_t>& KindsOfMarks(size_t body) const;
  Error Check(size_t body) const;
  const Function* First() const;  // the function whose body is shown first; null: main graph
  PageBoxes Boxes();
  PageOpening OpensByItself();
  std::string MakeModelJson();
  // By kind: the marked nodes in lists, with their bodies.
  const std::vector<std::vector<std::pair<size_t, NodeId>>>& Marked() const;
  void WriteMarked(llvm::json::OStream& json) const;
  template <typename Visit>
  void ForEachMarked(Visit&& visit) const;
  void WriteDevices(llvm::json::OStream& json) const;
  void WriteClusters(llvm::json::OStream& json) const;
  // The numbers of nodes of all bodies by the text of their device, and of their XLA cluster.
  using Counts = std::map<std::string, size_t>;
  Counts CountDevices() const;
  Counts CountClusters() const;
  const SignatureBody* EntryOf(const Graph& graph) const;  // null: no signature runs this body
  void WriteSignatures(llvm::json::OStream& json) const;
  void WriteLayer(const BoxLayers::Layer& layer, llvm::json::OStream& json) const;

  const Module& module_;
  ModuleShapes shapes_;
  llvm::ArrayRef<Signature> signatures_;
  std::string title_;
  std::vector<SignatureBody> entries_;
  std::optional<size_t> first_;
  int64_t assumed_batch_ = 0;
  std::function<const Module&()> copy_sized_;
  std::once_flag sized_once_;
  const Module* sized_ = nullptr;
  std::optional<ModuleShapes> sized_shapes_;
  std::function<BoxLayers()> find_layers_;
  std::once_flag layers_once_;
  BoxLayers layers_;
  llvm::DenseMap<const Graph*, Node> loops_;
  std::optional<PageOpening> opening_;  // set by OpenAs
  const LineTable& Lines();
  StackTexts& Stacks();
  PageLines page_lines_;
  std::once_flag lines_once_;
  LineTable lines_;
  std::unique_ptr<StackTexts> stacks_;
  std::unique_ptr<ValueTexts> values_;  // null: the values of variables are not known
  const PageMarks* marks_;
  XlaClusters clusters_;
  std::vector<std::unique_ptr<Slot>> bodies_;
  llvm::StringMap<size_t> by_name_;
  std::function<std::optional<size_t>(llvm::StringRef)> find_;  // FindBody
  mutable std::once_flag marked_once_;
  mutable std::vector<std::vector<std::pair<size_t, NodeId>>> marked_;
  std::once_flag model_once_;
  std::string model_json_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_GRAPH_PAGE_H_
