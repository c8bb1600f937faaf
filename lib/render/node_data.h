// Numbers that somebody else has for nodes: the times of a profile, the errors of a quantized
// model. The page reads the same files (lib/serve/web/node_data.js).
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
  std::string fill;  // "#rrggbb", the node's own; empty: what the scale says
};

// What colors numbers have where a file says so; "#rrggbb" each.
struct NumberScale {
  struct Step {
    double at;
    std::string fill;
  };
  std::vector<Step> gradient;    // `at` from 0, the least number, to 1, the largest; sorted
  std::vector<Step> thresholds;  // numbers up to `at` have it; sorted; for who has no gradient
};

// One number a node.
struct NodeData {
  struct Entry {
    std::string graph;  // the function that the file says it is in; empty: it says none
    std::string node;   // "x", "function/x", or an output of either, "x:0"
    NodeNumber number;
  };
  std::string name;
  std::vector<Entry> entries;  // in a table's order; of JSON by graph and node
  size_t not_numbers = 0;      // nodes whose value is no finite number: left out
  NumberScale scale;
};

// Reads the text of a file called `file`, by what it begins with.
//
// JSON: Model Explorer's node data (ai-edge-model-explorer 0.1.34, node_data_builder.py),
// {"name", "results": {node: {"value", "bgColor"}}, "thresholds": [{"value", "bgColor"}],
// "gradient": [{"stop", "bgColor"}]} or {graph id: such an object}; those of one name are one.
//
// Else a table, fields apart by commas, or by tabs where the first line has one; quotes as RFC 4180
// has them. The first line names the columns: the first holds nodes, each other one is data of that
// name. An empty field is no value; a column without a number is passed over.
//
// Errors name the file, and line or node; one too when there is no number in it.
Expected<std::vector<NodeData>> ReadNodeData(llvm::StringRef text, llvm::StringRef file);

// The numbers of one NodeData on the nodes of one module; both outlive it.
class NodeNumbers {
 public:
  // Linear in the entries.
  NodeNumbers(const NodeData& data, const Module& module);

  const NodeData& data() const { return data_; }
  // Null: the node has none.
  const NodeNumber* Of(const Node& node) const;
  size_t num_found() const { return num_found_; }
  double least() const { return least_; }  // of those that were found
  double largest() const { return largest_; }

 private:
  void Take(const Node& node, const NodeNumber& number);

  const NodeData& data_;
  llvm::DenseMap<std::pair<const Graph*, NodeId>, const NodeNumber*> numbers_;
  size_t num_found_ = 0;
  double least_ = 0, largest_ = 0;
};

// What of a file's data is a node of none of these modules: "2 of 12 names are no nodes here:
// 'cnv', 'dns'; did you mean 'conv'?"; empty: all are. Errors: all are missing. Walks all names
// where some are.
Expected<std::string> MissingNodes(llvm::ArrayRef<NodeData> data,
                                   llvm::ArrayRef<const Module*> modules);

// What a closed scope has of the numbers in it.
enum class Aggregate { kMax, kMin, kMean, kSum, kCount };
std::optional<Aggregate> ParseAggregate(llvm::StringRef name);  // "max", "min", ...
llvm::StringRef AggregateName(Aggregate aggregate);

// Of several numbers.
struct NumberSummary {
  size_t count = 0;
  double sum = 0, min = 0, max = 0;
  void Add(double value);
  void Add(const NumberSummary& others);
  double Get(Aggregate aggregate) const;  // 0 of none
};

// "#rrggbb" of a number among those from `least` to `largest`; empty: none, beyond the last
// threshold. Without a scale from pale yellow to orange.
std::string FillOf(const NumberScale& scale, double value, double least, double largest);
// "115,605,504", "4,407" of 4406.8, "0.03512".
std::string ValueText(double value);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_NODE_DATA_H_
