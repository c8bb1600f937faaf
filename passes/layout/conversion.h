// One conversion of a graph from one layout to another: the facts that the rules ask for, and the
// edits that they make.
#ifndef GRAPNEL_PASSES_LAYOUT_CONVERSION_H_
#define GRAPNEL_PASSES_LAYOUT_CONVERSION_H_

#include <string>
#include <vector>

#include "lib/pass/editor.h"
#include "passes/layout/families.h"

namespace grapnel::layout {

// From one format to another, for tensors of one rank.
struct Formats {
  std::string from, to;   // "NHWC"; "NDHWC" for rank 5
  std::vector<int> perm;  // Transpose by it takes `from` to `to`
  std::vector<int> back;
  int rank() const { return static_cast<int>(from.size()); }
  int IndexIn(char dim) const { return static_cast<int>(from.find(dim)); }  // in `from`
};

class Conversion {
 public:
  // `device`: "cpu" or "gpu". `from` and `to`: NHWC or NCHW.
  Conversion(Editor& edit, llvm::StringRef device, const std::string& from, const std::string& to,
             bool trust_feeds);

  Editor& edit;
  Graph& graph;
  const NodeId first_added;      // nodes from here on are ours
  bool out_of_rewrites = false;  // --limit is used up

  const Formats& OfRank(int rank) const { return rank == 5 ? of_rank_5_ : of_rank_4_; }
  bool IsAdded(const Node& node) const { return node.id() >= first_added; }

  // The shape, in the layout that the graph had. kUnknown for what has no rank.
  static constexpr int kUnknown = -1;
  Shape ShapeOf(Port port) const;
  int RankOf(Port port) const;
  int RankOfInput(const Node& node, int i) const {
    return i < node.num_inputs() ? RankOf(node.input(i)) : kUnknown;
  }
  // A constant must have these dimensions; what is no constant may have any.
  bool HasDimsIfConstant(const Node& node, int input, llvm::ArrayRef<int64_t> dims) const;

  bool IsOnDevice(const Node& node) const;
  // On the device, not preserved, and read by somebody. Refuses under `rule`.
  bool MayChange(const char* rule, const Node& node);
  // Reads, maybe through agnostic ops, what was converted back to the old layout.
  bool IsAfterConversion(const Node& node, const Formats& formats) const;
  // The node itself converts something back.
  bool IsConversionBack(const Node& node, const Formats& formats) const;

  // --- Edits, inside a rewrite.
  enum Kind {
    kTranspose,   // of the tensor
    kVecPermute,  // of a vector with an element for each dimension, or of pairs
    kDimMap,      // of numbers of dimensions
  };
  void ConvertInputs(const Node& node, llvm::ArrayRef<int> inputs, Kind kind,
                     const Formats& formats);
  // A node for each reader of each of the outputs.
  void ConvertOutputs(const Node& node, llvm::ArrayRef<int> outputs, Kind kind,
                      const Formats& formats);
  // data_format, and the attributes that have a number for each dimension.
  void UpdateFormat(const Node& node, const Formats& formats);
  bool IsInLoop(const Node& node) const;

 private:
  Node AddConversion(const std::string& prefix, Kind kind, Port source, bool forward,
                     llvm::StringRef device, bool in_loop, const Formats& formats);

  std::string device_;
  Formats of_rank_4_, of_rank_5_;
  ShapeMap shapes_;
  std::vector<int> depth_;  // how many loops the node is in
};

// Each returns whether it rewrote the node. Both set out_of_rewrites.
bool ConvertSensitive(Conversion& conversion, const Node& node);
bool ConvertAgnostic(Conversion& conversion, const Node& node);

// Whether the op has its layout in `formats`, and its tensors a rank that can be converted; null
// when not.
const Formats* FormatsOfSensitive(Conversion& conversion, const Node& node);

// Takes out pairs of conversions that undo each other.
void CancelPairs(Conversion& conversion);
// A Pad between two transposes that undo each other pads other dimensions instead.
void CancelAroundPads(Conversion& conversion);

}  // namespace grapnel::layout

#endif  // GRAPNEL_PASSES_LAYOUT_CONVERSION_H_
