// Numbers for nodes from other tools, such as the times of a profile or the errors of a quantized
// model. lib/serve/web/node_data.js reads the same files in the page.
#ifndef GRAPNEL_LIB_RENDER_NODE_DATA_H_
#define GRAPNEL_LIB_RENDER_NODE_DATA_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/ir/module.h"
#include "lib/support/error.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"

namespace grapnel {

struct NodeNumber {
  double value = 0;
  std::string fill;  // "#rrggbb", the node's own color; empty: the scale decides
};

// The colors of numbers, if the file defines any. A `fill` is "#rrggbb".
struct NumberScale {
  struct Step {
    double at;
    std::string fill;
  };
  std::vector<Step> gradient;    // sorted; at 0: the smallest number, at 1: the largest
  std::vector<Step> thresholds;  // sorted; for numbers up to `at`; used if no gradient
};

// A named set of numbers, one for each node.
struct NodeData {
  struct Entry {
    std::string graph;  // the function, if the file names it; else empty
    std::string node;   // "x", "function/x", or an output of either, "x:0"
    NodeNumber number;
  };
  std::string name;
  // From a table, in the order of its lines; from JSON, sorted by graph and node.
  std::vector<Entry> entries;
  size_t not_numbers = 0;  // entries without a finite value, left out
  NumberScale scale;
};

// Reads the text of a file named `file`, whose first characters decide the format.
//
// JSON: Model Explorer's node data (ai-edge-model-explorer 0.1.34, node_data_builder.py), {"name",
// "results": {node: {"value", "bgColor"}}, "thresholds": [{"value", "bgColor"}], "gradient":
// [{"stop", "bgColor"}]} or {graph id: such an object}; objects with the same name are merged.
//
// Table: fields are separated by commas, or by tabs if the first line has one; quotes as in
// RFC 4180. The first line names the columns: the first column contains nodes, each other column
// is a NodeData of that name. An empty field is not a value; a column without a number is ignored.
//
// Errors name the file and, if they are about one, the line or node. A file without any number is
// an error.
Expected<std::vector<NodeData>> ReadNodeData(llvm::StringRef text, llvm::StringRef file);

// The numbers of one NodeData, by the nodes of one module; both must outlive this object.
class NodeNumbers {
 public:
  // Linear in the entries.
  NodeNumbers(const NodeData& data, const Module& module);

  const NodeData& data() const { return data_; }
  // Null if the node has no number.
  const NodeNumber* Of(const Node& node) const;
  size_t num_found() const { return num_found_; }
  double least() const { return least_; }  // of the nodes found
  double largest() const { return largest_; }

 private:
  void Take(const Node& node, const NodeNumber& number);

  const NodeData& data_;
  llvm::DenseMap<std::pair<const Graph*, NodeId>, const NodeNumber*> numbers_;
  size_t num_found_ = 0;
  double least_ = 0, largest_ = 0;
};

// Describes names in `data` that are not nodes of `modules`: "2 of 12 names are not nodes here:
// 'cnv', 'dns'; did you mean 'conv'?"; empty if all names are nodes. Errors: no name is a node. If
// nodes are missing, compares with the names of all nodes.
Expected<std::string> MissingNodes(llvm::ArrayRef<NodeData> data,
                                   llvm::ArrayRef<const Module*> modules);

// How the numbers of the nodes in a closed scope become one number.
enum class Aggregate { kMax, kMin, kMean, kSum, kCount };
std::optional<Aggregate> ParseAggregate(llvm::StringRef name);  // "max", "min", ...
llvm::StringRef AggregateName(Aggregate aggregate);

// The statistics of several numbers.
struct NumberSummary {
  size_t count = 0;
  double sum = 0, min = 0, max = 0;
  void Add(double value);
  void Add(const NumberSummary& others);
  double Get(Aggregate aggregate) const;  // 0 if there are no numbers
};

// Returns "#rrggbb" for a number in the range `least` to `largest`; empty if it is above the last
// threshold. Without a scale, colors run from pale yellow to orange.
std::string FillOf(const NumberScale& scale, double value, double least, double largest);
// Returns a number as text: "115,605,504", "4,407" for 4406.8, "0.03512".
std::string ValueText(double value);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_NODE_DATA_H_
