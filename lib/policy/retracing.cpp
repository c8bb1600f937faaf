// Finds Python functions that TensorFlow traced repeatedly, so that the model has a copy for each
// shape or Python number that they were called with.
#include <algorithm>
#include <map>
#include <set>

#include "lib/diff/body_view.h"
#include "lib/diff/function_match.h"
#include "lib/ir/node_types.h"
#include "lib/policy/policy_checks.h"
#include "lib/proto/saved_object_graph.pb.h"
#include "lib/support/text.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

using Traces = std::map<std::string, std::set<uint64_t>>;

// Returns the traces recorded in a SavedModel's objects: each tf.function lists its traces, which
// are added to `listed`.
Traces TracesOfObjects(llvm::StringRef bytes, llvm::StringSet<>* listed) {
  Traces traces;
  proto::SavedObjectGraph objects;
  if (!objects.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return traces;
  for (const auto& object : objects.nodes()) {
    if (!object.has_function()) continue;
    const auto& names = object.function().concrete_functions();
    if (names.empty()) continue;
    std::set<uint64_t>& own = traces[*std::min_element(names.begin(), names.end())];
    for (const std::string& name : names) {
      own.insert(HashText(name));
      listed->insert(name);
    }
  }
  return traces;
}

// Returns the functions that nodes call with a PartitionedCall op, or as an op of that name. Leaves
// out branches and loop bodies, since different ones often have the same name.
std::set<llvm::StringRef> CalledByName(const OpenedGraph& opened) {
  const Module& module = opened.module();
  std::set<llvm::StringRef> called;
  VisitNodes(opened, [&](const Node& node, const std::string&) {
    llvm::StringRef op = node.op();
    if (module.FindFunction(op)) called.insert(op);
    if (!op.contains("PartitionedCall")) return;
    for (llvm::StringRef name : CalledFunctions(node)) called.insert(name);
  });
  return called;
}

// Returns a hash of the ops of all nodes, in order. Traces of one function usually have the same
// hash.
uint64_t HashOfOps(const Graph& graph) {
  uint64_t hash = 0;
  for (const Node& node : graph.nodes()) hash = HashInto(hash, HashText(node.op()));
  return hash;
}

uint64_t HashOfArguments(const ShapeMap& shapes, const Graph& graph) {
  uint64_t hash = 0;
  for (const Node& node : graph.nodes()) {
    if (node.op() == "_Arg")
      hash = HashInto(hash, HashText(shapes.OfPort({node.id(), 0}).ToString()));
  }
  return hash;
}

// Groups the called "__inference_" functions whose names differ only in numbers and which have the
// same ops, but other argument dtypes or shapes, or other constants. Different layers of one kind
// may be grouped too.
Traces TracesOfNames(const OpenedGraph& opened, const llvm::StringSet<>& listed) {
  const Module& module = opened.module();
  Traces traces;
  std::map<std::pair<std::string, uint64_t>, std::string> first_of;
  std::set<llvm::StringRef> called = CalledByName(opened);
  ModuleView view(module, {});
  ModuleShapes shapes(module);
  for (const auto& function : module.functions) {
    llvm::StringRef name = function->name();
    if (!called.count(name) || !HasPrefix(name, "__inference_") || listed.contains(name)) continue;
    auto [first, added] =
        first_of.try_emplace({NameClass(name), HashOfOps(function->body)}, name.str());
    uint64_t body = view.hash(view.Find(name));
    traces[first->second].insert(
        HashInto(body, HashOfArguments(shapes.Of(function->body), function->body)));
  }
  return traces;
}

}  // namespace

std::vector<std::pair<std::string, size_t>> RetracedFunctions(const OpenedGraph& opened,
                                                              size_t most) {
  // Functions that only other functions call are not in the SavedModel's objects; such functions
  // are found by name.
  llvm::StringSet<> listed;
  Traces all = TracesOfObjects(opened.file().object_graph, &listed);
  all.merge(TracesOfNames(opened, listed));
  std::vector<std::pair<std::string, size_t>> retraced;
  for (const auto& [name, traces] : all) {
    if (traces.size() > most) retraced.emplace_back(name, traces.size());
  }
  return retraced;
}

Judged CheckRetracing(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings) {
  auto most = static_cast<size_t>(std::min(rule.Number("most", kMostTraces), 1e9));
  for (const auto& [name, times] : RetracedFunctions(model.opened(), most)) {
    findings.Add(name, Sentence("this function was traced {0} times", times),
                 Plural(most, "trace") + " at most",
                 "give tf.function an input_signature with None where sizes differ, and pass "
                 "tensors instead of Python numbers");
  }
  return std::string();
}

}  // namespace grapnel
