// Makes the texts that describe nodes in the page's documents.
#ifndef GRAPNEL_LIB_RENDER_NODE_TEXTS_H_
#define GRAPNEL_LIB_RENDER_NODE_TEXTS_H_

#include <string>

#include "lib/render/page_body.h"
#include "lib/render/page_texts.h"

namespace grapnel {

// Returns the JSON document that `write` writes.
std::string JsonText(llvm::function_ref<void(llvm::json::OStream&)> write);

// The attributes of a node as one text for searches: "T=float transpose_a=false", without tensors
// and `_output_shapes`.
std::string AttributesText(const Node& node);
// The types of a node's outputs, at most 64: "float[2,3] int32[]".
std::string OutputTypes(const ShapeMap& shapes, const Node& node);

// Makes the texts of nodes of one body, and numbers them. Not thread-safe. The texts:
//
//   traits   {"op", "label": shown instead of the op, "group": of colors, "input": true, "device",
//             "cluster", "types": of the first thousand outputs, "attributes": AttributesText,
//             "calls": [[role, function, body]]}
//   panel    {"device": as requested, "placed", "text", "custom": true, "value", "statistics",
//             "attributes": [[name, text, [body of a function in it]]], "in": names of the data
//             inputs, "out": names of the outputs, "types": {port: type} of further outputs}
//   box      {"notes", "noted": ids of the constants in the notes, less the node's, "flops",
//             "bytes"}
//   details  [{"what", "card", "lines"} or {"what", "card", "before", "after"}]
//   stack    {"line": "file.py:12", "frames": [{"file", "line", "function", "framework",
//             "first_line", "lines"}]}, the innermost frame first
//
// Absent fields are false, empty or 0. In the panel's "text", U+0001 stands for the node's name and
// U+0002 for its inputs in parentheses: so nodes that differ only by these have one text.
class NodeTexts {
 public:
  // All arguments must outlive this object.
  NodeTexts(const PageBody& body, PageTexts* texts) : body_(body), texts_(*texts) {}

  struct Shared {
    uint32_t traits = 0, panel = 0;
  };
  // Returns the numbers of the texts that many nodes share; the panel's is 0 unless `with_panel`.
  Shared SharedOf(const Node& node, bool with_panel);
  uint32_t BoxOf(const Node& node);
  uint32_t DetailsOf(const Node& node);
  uint32_t StackOf(const Node& node);

 private:
  std::string KeyOf(const Node& node) const;

  const PageBody& body_;
  PageTexts& texts_;
  llvm::StringMap<Shared> known_;  // by KeyOf
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_NODE_TEXTS_H_
