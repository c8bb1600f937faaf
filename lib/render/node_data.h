// Numbers for nodes from other tools: the times of a profile, the errors of a quantized model. The
// page reads the same files (lib/serve/web/node_data.js).
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
  std::string fill;  // "#rrggbb", the node's own; empty: the scale's
};

// The colors of numbers, if a file defines them; "#rrggbb" each.
struct NumberScale {
  struct Step {
    double at;
    std::string fill;
  };
  std::vector<Step> gradient;    // `at` from 0, the smallest number, to 1, the largest; sorted
  std::vector<Step> thresholds;  // for numbers up to `at`; sorted; used without a gradient
};

// One number for each node.
struct NodeData {
  struct Entry {
    std::string graph;  // the function in the file; empty: not given
    std::string node;   // "x", "function/x", or an output of either, "x:0"
    NodeNumber number;
  };
  std::string name;
  std::vector<Entry> entries;  // in a table's order; for JSON by graph and node
  size_t not_numbers = 0;      // nodes without a finite value: left out
  NumberScale scale;
};

// Reads the text of a file named `file`; the first characters decide the format.
//
// JSON: Model Explorer's node data (ai-edge-model-explorer 0.1.34, node_data_builder.py), {"name",
// "results": {node: {"value", "bgColor"}}, "thresholds": [{"value", "bgColor"}], "gradient":
// [{"stop", "bgColor"}]} or {graph id: such an object}; objects with the same name are merged.
//
// Else a table. Fields are separated by commas, or by tabs if the first line has one; quotes as in
// RFC 4180. The first line names the columns: the first column holds nodes, each other one is data
// of that name. An empty field is not a value; a column without a number is ignored.
//
// Errors name the file, and line or node. A file without a number is an error.
Expected<std::vector<NodeData>> ReadNodeData(llvm::StringRef text, llvm::StringRef file);

// The numbers of one NodeData on the nodes of one module; both must outlive it.
class NodeNumbers {
 public:
  // Linear in the entries.
  NodeNumbers(const NodeData& data, const Module& module);

  const NodeData& data() const { return data_; }
  // Null if the node has no number.
  const NodeNumber* Of(const Node& node) const;
  size_t num_found() const { return num_found_; }
  double least() const { return least_; }  // of those found
  double largest() const { return largest_; }

 private:
  void Take(const Node& node, const NodeNumber& number);

  const NodeData& data_;
  llvm::DenseMap<std::pair<const Graph*, NodeId>, const NodeNumber*> numbers_;
  size_t num_found_ = 0;
  double least_ = 0, largest_ = 0;
};

// Describes names in the data that are not nodes of these modules: "2 of 12 names are not nodes
// here: 'cnv', 'dns'; did you mean 'conv'?"; empty: all names are nodes. Errors: no name is a node.
// If some are missing, walks all names.
Expected<std::string> MissingNodes(llvm::ArrayRef<NodeData> data,
                                   llvm::ArrayRef<const Module*> modules);

// How a closed scope combines the numbers in it.
enum class Aggregate { kMax, kMin, kMean, kSum, kCount };
std::optional<Aggregate> ParseAggregate(llvm::StringRef name);  // "max", "min", ...
llvm::StringRef AggregateName(Aggregate aggregate);

// A summary of several numbers.
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
// "115,605,504", "4,407" for 4406.8, "0.03512".
std::string ValueText(double value);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_NODE_DATA_H_
