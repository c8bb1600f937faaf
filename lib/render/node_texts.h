// Makes the texts that describe nodes in the page's documents.
#ifndef GRAPNEL_LIB_RENDER_NODE_TEXTS_H_
#define GRAPNEL_LIB_RENDER_NODE_TEXTS_H_

#include <string>

#include "lib/render/page_body.h"
#include "lib/render/page_texts.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallString.h"

namespace grapnel {

// Returns the JSON document that `write` writes.
std::string JsonText(llvm::function_ref<void(llvm::json::OStream&)> write);

// The numbers of the texts that many nodes share.
struct SharedTexts {
  uint32_t traits = 0, panel = 0;
};

// The texts of nodes in earlier documents of a file, by a key: nodes of equal keys have equal
// texts, in all graphs of the file. So the texts of most nodes of a second graph need not be made.
class KnownNodeTexts {
 public:
  using Key = std::pair<uint64_t, uint64_t>;  // length and hash
  void Add(Key key, SharedTexts texts) { texts_.try_emplace(key, texts); }
  const SharedTexts* Find(Key key) const {
    auto found = texts_.find(key);
    return found == texts_.end() ? nullptr : &found->second;
  }

 private:
  llvm::DenseMap<Key, SharedTexts> texts_;
};

// The attributes of a node as one text for searches: "T=float transpose_a=false", without tensors
// and `_output_shapes`.
std::string AttributesText(const Node& node);
// The types of a node's outputs, at most 64: "float[2,3] int32[]".
std::string OutputTypes(const ShapeMap& shapes, const Node& node);

// Makes the texts of nodes of one body, and numbers them. Not thread-safe. The texts:
//
//   traits   {"op", "label": shown instead of the op, "key": instead of the name, "group": of
//             colors, "input": true, "device", "cluster", "types": of the first thousand
//             outputs, "attributes": AttributesText, "calls": [[role, function, body]]}
//   panel    {"device": as requested, "placed", "text", "custom": true, "value", "statistics",
//             "variable": the name of the variable that has this value, "attributes": [[name,
//             text, [body of a function in it]]], "in": names of the data inputs, "out": names of
//             the outputs, "types": {port: type} of further outputs}
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
  // All arguments must outlive this object. `known` may be null.
  NodeTexts(const PageBody& body, PageTexts* texts, const KnownNodeTexts* known)
      : body_(body), texts_(*texts), in_file_(known) {}

  // Added to the numbers that `known` gives, to distinguish them from those of `texts`.
  static constexpr uint32_t kInFile = uint32_t{1} << 31;
  // Returns the numbers of the texts that many nodes share; the panel's is 0 unless `with_panel`.
  SharedTexts SharedOf(const Node& node, bool with_panel);
  // Calls `visit` with the key and the numbers of all texts that were not known and that do not
  // depend on the page.
  void ForEachShared(llvm::function_ref<void(KnownNodeTexts::Key, SharedTexts)> visit) const;
  uint32_t BoxOf(const Node& node);
  uint32_t DetailsOf(const Node& node);
  uint32_t StackOf(const Node& node);

 private:
  struct Made {
    SharedTexts texts;
    bool is_of_page;  // the texts depend on the page or on the node's name
  };
  using Key = llvm::SmallString<512>;
  void MakeKey(const Node& node, bool with_panel, Key* key, bool* is_of_page) const;

  const PageBody& body_;
  PageTexts& texts_;
  const KnownNodeTexts* in_file_;
  llvm::StringMap<Made> known_;  // by MakeKey
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_NODE_TEXTS_H_
