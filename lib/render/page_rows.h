// The rows of nodes and scopes of which the page's documents consist.
#ifndef GRAPNEL_LIB_RENDER_PAGE_ROWS_H_
#define GRAPNEL_LIB_RENDER_PAGE_ROWS_H_

#include <string>
#include <vector>

#include "lib/render/columns.h"
#include "lib/render/node_texts.h"
#include "lib/render/page_body.h"
#include "lib/render/page_texts.h"

namespace grapnel {

// The rows of some nodes and scopes of one body, in columns (lib/render/columns.h). A page in a
// file has tables of all rows, in blocks of consecutive ids; the server's answers have those that
// the page needs to show one node or one scope. lib/render/web/page_rows.js reads both, and
// page_documents.js makes from the rows what the page shows. The columns, "texts" for the numbers
// of texts of a kind (lib/render/page_texts.h):
//
//   node       ids
//   name       names
//   traits, panel, box, details, stack    texts
//   inside     innermost scope; -1 for a folded node
//   home       for a folded node: the node whose box shows it, less the node's id
//   output     1: the box is an end of the graph
//   mark       1 + the kind of the node's mark; 0: none
//   inputs     how many inputs the node has, control inputs included; then, for each of these:
//   from, port the node that it reads, less the node's id; the output, -1 for a control input; for
//              an input that the graph does not have, 0 and -2, or -3 if it is a control input
//   missing    the texts of the inputs that the graph does not have
//   ports      how many outputs of the node are read, -1 being the control output; then, for each:
//   read, readers      the output; how many inputs read it
//   reader     the first kFirstListed of the nodes that read each of these outputs, less the node's
//              id
//
//   scope      ids
//   parent, core       ids less the scope's id; 0 for the root's parent
//   group      1: a group, or a scope made for a layer: its path is not that of a name scope
//   frame      1: the scope can be opened
//   path, title        the title only if it is not the path
//   base       with the root scope: the beginning of names that boxes in it leave out
//   ends       with the root scope: what boxes of arguments and results leave out (PrefixOfEnds)
//   layer, class       of a scope that is a layer, the layer's path and class; of the outermost scope,
//                      the layer that the whole body is in
//   about, contents    texts; only scopes that can be opened have contents
//   anchor     what the ids of nodes in the contents are less by
//   marked     by scope and kind of mark: how many nodes have it
//   counts     with the root scope: folded constants, folded reads of constants and variables,
//              folded NoOps, and what loops do not change; the inputs that are drawn, that are
//              folded, and that the graph does not have
//
//   parents    by scope of the body: the scope around it, less the scope's id; -1 for the root
//   next       one number: where the following document begins
//   traits texts, ...  the texts themselves, unless they are in other documents
class PageRows {
 public:
  // The parts of a node's row. A row without any has only the id, "inside" and "mark".
  enum NodeField : unsigned { kName = 1, kEdges = 2, kBox = 4, kPanel = 8, kAllOfNode = 15 };
  // The parts of a scope's row besides its names and its place in the tree. Only a core
  // (Scope::core) has contents.
  enum ScopeField : unsigned { kAbout = 1, kContents = 2 };

  // `body` must outlive this object, and so must `known`, the texts of nodes in earlier documents
  // of a file; null for an answer of the server.
  explicit PageRows(const PageBody& body, const KnownNodeTexts* known = nullptr)
      : body_(body), node_texts_(body, &texts_, known) {}
  PageRows(const PageRows&) = delete;
  PageRows& operator=(const PageRows&) = delete;

  void AddNode(NodeId id, unsigned fields);
  void AddScope(ScopeId id, unsigned fields);
  void AddParents();
  void SetNext(NodeId next) { next_ = {static_cast<int32_t>(next)}; }

  const PageTexts& texts() const { return texts_; }
  const NodeTexts& node_texts() const { return node_texts_; }
  // Returns the table. `numbers`: other numbers for the texts, which are then not in the table.
  std::string Table(const TextNumbers* numbers = nullptr) const;

 private:
  using Column = std::vector<int32_t>;
  void AddEdges(const Node& node);
  void AddReaders(const Node& node);
  void WriteNodes(ColumnWriter& out) const;
  void WriteScopes(ColumnWriter& out) const;
  void WriteTexts(const TextNumbers* numbers, ColumnWriter& out) const;

  const PageBody& body_;
  PageTexts texts_;
  NodeTexts node_texts_;

  std::array<std::vector<uint32_t>, kNumTextKinds> numbers_;  // by kind: those of each row
  Column node_, inside_, home_, output_, mark_, inputs_, from_, port_, ports_, read_, readers_,
      reader_;
  std::vector<std::string> names_, missing_;
  Column scope_, parent_, core_, group_, frame_, anchor_, marked_, counts_;
  std::vector<std::string> paths_, titles_, bases_, ends_, layers_, classes_;
  Column parents_, next_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_PAGE_ROWS_H_
