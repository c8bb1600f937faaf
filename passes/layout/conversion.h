// A conversion of a graph from one layout to another: facts and edits for the rules.
#ifndef GRAPNEL_PASSES_LAYOUT_CONVERSION_H_
#define GRAPNEL_PASSES_LAYOUT_CONVERSION_H_

#include <string>
#include <utility>
#include <vector>

#include "lib/pass/rule.h"
#include "passes/layout/families.h"

namespace grapnel::layout {

// The old and the new format for tensors of one rank.
struct Formats {
  std::string from, to;   // "NHWC"; "NDHWC" for rank 5
  std::vector<int> perm;  // transposing by it turns `from` into `to`
  std::vector<int> back;
  int rank() const { return static_cast<int>(from.size()); }
  int IndexIn(char dim) const { return static_cast<int>(from.find(dim)); }  // in `from`
};

// The phases: the rules of each see the whole graph before the next phase begins.
constexpr int kSensitive = 0, kAgnostic = 1, kPairs = 2, kAroundPads = 3;

class Conversion : public RuleContext {
 public:
  static constexpr char kOptimizer[] = "layout";
  // `device`: "cpu" or "gpu". `from` and `to`: NHWC or NCHW.
  Conversion(Editor& edit, llvm::StringRef device, const std::string& from, const std::string& to,
             bool trust_feeds);

  const NodeId first_added;  // nodes from here on were added by the conversion

  const Formats& OfRank(int rank) const { return rank == 5 ? of_rank_5_ : of_rank_4_; }
  bool IsAdded(const Node& node) const { return node.id() >= first_added; }

  // RankOf and RankOfInput return kUnknown for an unknown rank; ShapeOf returns the shape in the
  // original layout.
  static constexpr int kUnknown = -1;
  Shape ShapeOf(Port port) override;
  int RankOf(Port port);
  int RankOfInput(const Node& node, int i) {
    return i < node.num_inputs() ? RankOf(node.input(i)) : kUnknown;
  }
  // True unless the input is missing, or is a Const that is fed or whose shape is not `dims`.
  bool HasDimsIfConstant(const Node& node, int input, llvm::ArrayRef<int64_t> dims) const;
  // The permutation of a Transpose if it is an int32 constant; otherwise empty.
  std::vector<int64_t> PermOf(const Node& node) const;

  bool IsOnDevice(const Node& node) const;
  // True if the node is on the device, not preserved, and read or waited for. Records a refusal of
  // `rule` if one of the first two is false. `rule` is a parameter because the pass also calls this
  // before any rule runs.
  bool MayChange(const char* rule, const Node& node);
  // True if the node reads, possibly through agnostic ops, a tensor that was converted back to the
  // old layout.
  bool IsAfterConversion(const Node& node, const Formats& formats) const;
  // True if the conversion added the node, and the node converts a tensor back to the old layout.
  bool IsConversionBack(const Node& node, const Formats& formats) const;

  // --- Edits.
  enum Kind {
    kTranspose,   // a tensor
    kVecPermute,  // a vector with one element, or pair, per dimension
    kDimMap,      // dimension numbers
  };
  // Data inputs of a node and how to convert each, in the order in which the nodes are made.
  using Inputs = std::vector<std::pair<int, Kind>>;
  void ConvertInputs(const Node& node, const Inputs& inputs, const Formats& formats);
  // Converts outputs back: adds one conversion for each read of each output.
  void ConvertOutputs(const Node& node, llvm::ArrayRef<int> outputs, Kind kind,
                      const Formats& formats);
  // Updates data_format and the attributes that have a number for each dimension.
  void UpdateFormat(const Node& node, const Formats& formats);
  bool IsInLoop(const Node& node) const;

 private:
  // Converts an input of `node` (`forward`: to the new layout) or an output (back to the old one).
  Node AddConversion(const Node& node, const std::string& prefix, Kind kind, Port source,
                     bool forward, const Formats& formats);

  std::string device_;
  Formats of_rank_4_, of_rank_5_;
  ShapeMap shapes_;
  std::vector<int> depth_;  // loop nesting depth by node
};

// The rule whose condition the pass itself checks in advance; the pass then records refusals under
// the rule's name.
constexpr char kConvertSensitive[] = "convert_sensitive";
// The formats for convert_sensitive to use at the node, if its op has the layout `from` and its
// tensors have a rank that can be converted; otherwise null, and a refusal of convert_sensitive may
// be recorded.
const Formats* FormatsOfSensitive(Conversion& conversion, const Node& node);

// True if `a` and `b`, both not empty, are inverse permutations.
bool AreInverse(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

}  // namespace grapnel::layout

#endif  // GRAPNEL_PASSES_LAYOUT_CONVERSION_H_
