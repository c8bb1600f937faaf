#include "lib/check/reduce.h"

#include <set>

#include "lib/check/reductions.h"
#include "lib/ir/import.h"
#include "lib/ir/node_types.h"
#include "lib/support/delta_debugging.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Removes nodes that have no readers and are not results, then inputs of these nodes that have no
// other reader, and functions that the main graph does not reach. Arguments and results of
// functions stay.
class Cleaner {
 public:
  // Construct the Cleaner before the graph is changed: it treats the nodes that have no readers at
  // that time as results, which it does not remove.
  explicit Cleaner(Module& module) : module_(module) { KeepResults(); }

  // Treats the nodes that have no readers now as results too.
  void KeepResults() {
    for (Body body : Bodies(module_)) {
      for (Node node : body.graph->nodes()) {
        if (node.uses().empty()) results_.emplace(body.graph, node.id());
      }
    }
  }

  void Run() {
    for (Body body : Bodies(module_)) {
      Graph& graph = *body.graph;
      std::vector<NodeId> pending;
      for (Node node : graph.nodes()) pending.push_back(node.id());
      while (!pending.empty()) {
        NodeId id = pending.back();
        pending.pop_back();
        if (!graph.IsAlive(id)) continue;
        Node node = graph.node(id);
        if (!node.uses().empty() || node.op() == "_Arg" || node.op() == "_Retval" ||
            results_.count({&graph, id}))
          continue;
        if (body.function && IsControlResult(*body.function, id)) continue;
        for (Port port : node.inputs()) {
          if (port.node != kNoNode) pending.push_back(port.node);
        }
        graph.RemoveNode(id);
      }
    }
    RemoveFunctions();
  }

 private:
  static bool IsControlResult(const Function& function, NodeId id) {
    return llvm::any_of(function.control_results,
                        [&](const auto& result) { return result.second == id; });
  }

  void RemoveFunctions() {
    llvm::DenseSet<const Function*> called;
    std::vector<const Graph*> pending = {&module_.main};
    while (!pending.empty()) {
      const Graph* graph = pending.back();
      pending.pop_back();
      for (Node node : graph->nodes()) {
        for (llvm::StringRef name : CalledFunctions(node)) {
          const Function* function = module_.FindFunction(name);
          if (function && called.insert(function).second) pending.push_back(&function->body);
        }
      }
    }
    module_.RetainFunctions([&](const Function& function) { return called.contains(&function); });
  }

  Module& module_;
  std::set<std::pair<const Graph*, NodeId>> results_;
};

class Search {
 public:
  Search(std::unique_ptr<Module> module, const ReduceOptions& options)
      : best_(std::move(module)), options_(options) {}

  Expected<Reduced> Run() {
    ASSIGN_OR_RETURN(bool interesting, options_.interesting(*best_));
    ++checks_;
    if (!interesting) return MakeError("the check does not hold for the original graph");
    const std::vector<std::unique_ptr<Reduction>> reductions = AllReductions();
    do {
      progress_ = false;
      for (const auto& reduction : reductions) RETURN_IF_ERROR(RunReduction(*reduction));
    } while (progress_ && HasChecks());
    Reduced reduced;
    reduced.module = std::move(best_);
    reduced.checks = checks_;
    return reduced;
  }

 private:
  bool HasChecks() const { return options_.max_checks < 0 || checks_ < options_.max_checks; }

  Error RunReduction(const Reduction& reduction) {
    Items items = reduction.Find(*best_);
    return TakeInChunks(items.size(), [&](llvm::ArrayRef<size_t> numbers) -> Expected<bool> {
      if (!HasChecks()) return false;
      Items chunk;
      for (size_t number : numbers) chunk.push_back(items[number]);
      return Try(reduction, chunk);
    });
  }

  static std::string BytesOf(const Module& module) {
    std::string bytes;
    llvm::raw_string_ostream os(bytes);
    ExportGraphDef(module, os);
    os.flush();
    return bytes;
  }

  Expected<bool> Try(const Reduction& reduction, llvm::ArrayRef<Item> items) {
    std::string before = BytesOf(*best_);
    std::shared_ptr<const FileBytes> file = FileBytes::FromString(before, "the graph");
    ASSIGN_OR_RETURN(std::unique_ptr<Module> module, ImportGraphDef(file, file->bytes()));
    Cleaner cleaner(*module);
    reduction.Apply(*module, items);
    if (reduction.MakesResults()) cleaner.KeepResults();
    cleaner.Run();
    if (module->main.num_nodes() == 0 || BytesOf(*module) == before) return false;
    ++checks_;
    ASSIGN_OR_RETURN(bool interesting, options_.interesting(*module));
    if (!interesting) return false;
    best_ = std::move(module);
    progress_ = true;
    if (options_.found) RETURN_IF_ERROR(options_.found(*best_));
    return true;
  }

  std::unique_ptr<Module> best_;
  const ReduceOptions& options_;
  int checks_ = 0;
  bool progress_ = false;
};

}  // namespace

Expected<Reduced> Reduce(std::unique_ptr<Module> module, const ReduceOptions& options) {
  return Search(std::move(module), options).Run();
}

}  // namespace grapnel
