// One conversion of a graph from one layout to another: the facts that the rules ask for, and the
// edits that they make.
#ifndef GRAPNEL_PASSES_LAYOUT_CONVERSION_H_
#define GRAPNEL_PASSES_LAYOUT_CONVERSION_H_

#include <string>
#include <utility>
#include <vector>

#include "lib/pass/rule.h"
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

class Conversion : public RuleContext {
 public:
  static constexpr char kOptimizer[] = "layout";
  // `device`: "cpu" or "gpu". `from` and `to`: NHWC or NCHW.
  Conversion(Editor& edit, llvm::StringRef device, const std::string& from, const std::string& to,
             bool trust_feeds);

  const NodeId first_added;  // nodes from here on are ours

  const Formats& OfRank(int rank) const { return rank == 5 ? of_rank_5_ : of_rank_4_; }
  bool IsAdded(const Node& node) const { return node.id() >= first_added; }

  // The shape, in the layout that the graph had. kUnknown for what has no rank.
  static constexpr int kUnknown = -1;
  Shape ShapeOf(Port port) override;
  int RankOf(Port port);
  int RankOfInput(const Node& node, int i) {
    return i < node.num_inputs() ? RankOf(node.input(i)) : kUnknown;
  }
  // A constant must have these dimensions; what is no constant may have any.
  bool HasDimsIfConstant(const Node& node, int input, llvm::ArrayRef<int64_t> dims) const;
  // The constant permutation of a Transpose; empty when it has none.
  std::vector<int64_t> PermOf(const Node& node) const;

  bool IsOnDevice(const Node& node) const;
  // On the device, not preserved, and read by somebody. Refuses under `rule`, for the pass asks too
  // before any rule runs.
  bool MayChange(const char* rule, const Node& node);
  // Reads, maybe through agnostic ops, what was converted back to the old layout.
  bool IsAfterConversion(const Node& node, const Formats& formats) const;
  // The node itself converts something back.
  bool IsConversionBack(const Node& node, const Formats& formats) const;

  // --- Edits.
  enum Kind {
    kTranspose,   // of the tensor
    kVecPermute,  // of a vector with an element for each dimension, or of pairs
    kDimMap,      // of numbers of dimensions
  };
  // Data inputs of a node, each with what it takes to convert it, in the order in which the nodes
  // are made.
  using Inputs = std::vector<std::pair<int, Kind>>;
  void ConvertInputs(const Node& node, const Inputs& inputs, const Formats& formats);
  // A node for each reader of each of the outputs.
  void ConvertOutputs(const Node& node, llvm::ArrayRef<int> outputs, Kind kind,
                      const Formats& formats);
  // data_format, and the attributes that have a number for each dimension.
  void UpdateFormat(const Node& node, const Formats& formats);
  bool IsInLoop(const Node& node) const;

 private:
  // Of what `node` reads (`forward`: to the new layout) or gives (back to the old one).
  Node AddConversion(const Node& node, const std::string& prefix, Kind kind, Port source,
                     bool forward, const Formats& formats);

  std::string device_;
  Formats of_rank_4_, of_rank_5_;
  ShapeMap shapes_;
  std::vector<int> depth_;  // how many loops the node is in
};

// The rule of which the pass itself asks what it is going to do, and in whose name it refuses.
constexpr char kConvertSensitive[] = "convert_sensitive";
// The formats of the tensors that this rule converts at the node: its op has the one as its layout,
// and its tensors a rank that can be converted. Null when not. Refuses.
const Formats* FormatsOfSensitive(Conversion& conversion, const Node& node);

// Whether `a` and `b`, neither of them empty, undo each other.
bool AreInverse(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

}  // namespace grapnel::layout

#endif  // GRAPNEL_PASSES_LAYOUT_CONVERSION_H_
