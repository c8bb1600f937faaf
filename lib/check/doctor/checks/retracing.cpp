// A function that TensorFlow traced again and again: for every shape or Python number that it was
// called with it made a graph, which takes far longer than a step. TensorFlow warns from five of
// six calls on.
#include <map>
#include <set>

#include "lib/check/doctor/doctor.h"
#include "lib/ir/shape.h"
#include "lib/support/text.h"
#include "lib/tfdbg/debug_folder.h"

namespace grapnel {
namespace {

constexpr size_t kFewest = 5;

struct Tracings {
  std::vector<int> graphs;
  size_t calls = 0;
};

// Functions of one name are told apart by where their first op was made.
std::string KeyOf(const DebugRun& run, const DebugGraph& graph) {
  for (const DebugOp& op : graph.ops) {
    int frame = UserFrame(run, op.stack);
    if (frame < 0) continue;
    const DebugFrame& at = run.frames[frame];
    std::string path = at.source >= 0 ? run.sources[at.source].path.str() : "";
    return Sentence("{0} {1}:{2}", graph.name, llvm::StringRef(path), at.line);
  }
  return graph.name.str();
}

class Retracing : public Check {
 public:
  std::string Look(const Patient& patient) override {
    const DebugRun& run = *patient.debug;
    std::map<std::string, Tracings> functions;
    std::map<int, std::string> key_of;
    for (size_t i = 0; i < run.graphs.size(); ++i) {
      const DebugGraph& graph = run.graphs[i];
      bool is_derived = HasPrefix(graph.name, "__backward") || HasPrefix(graph.name, "__forward");
      if (graph.ops.empty() || graph.name.empty() || is_derived) continue;
      if (run.OutermostFunction(static_cast<int>(i)) != static_cast<int>(i)) continue;
      std::string key = key_of[static_cast<int>(i)] = KeyOf(run, graph);
      functions[key].graphs.push_back(static_cast<int>(i));
    }
    for (const DebugExecution& execution : run.executions) {
      auto key = key_of.find(execution.graph);
      if (key != key_of.end()) ++functions[key->second].calls;
    }
    for (const auto& [key, tracings] : functions) Report(run, tracings);
    return "";
  }

 private:
  // What is known of the shapes: of the first tensor of each tracing that was recorded with one.
  static std::string ShapesText(const DebugRun& run, const Tracings& tracings) {
    std::map<int, std::string> shape_of;
    for (const DebugTrace& trace : run.traces) {
      bool has_shape =
          trace.value.rank > 0 && trace.value.rank == static_cast<int>(trace.value.dims.size());
      if (has_shape) shape_of.emplace(trace.graph, DimsText(trace.value.dims));
    }
    std::vector<std::string> shapes;
    std::set<std::string> seen;
    for (int graph : tracings.graphs) {
      auto shape = shape_of.find(graph);
      if (shape != shape_of.end() && seen.insert(shape->second).second)
        shapes.push_back(shape->second);
    }
    if (shapes.size() < 2) return "";
    std::string text = ", with shapes such as ";
    for (size_t i = 0; i < std::min<size_t>(shapes.size(), 4); ++i)
      text += (i ? ", " : "") + shapes[i];
    return text;
  }

  void Report(const DebugRun& run, const Tracings& tracings) {
    size_t times = tracings.graphs.size();
    if (times < kFewest || tracings.calls > 2 * times) return;
    const DebugGraph& graph = run.graphs[tracings.graphs[0]];
    Find(
        Sureness::kLikely, graph.name.str(),
        Sentence("this function was traced {0} times in {1}{2}", times,
                 Plural(tracings.calls, "recorded call"), ShapesText(run, tracings)),
        "give tf.function an input_signature with None where sizes differ, or reduce_retracing; "
        "pass tensors in place of Python numbers, and make the function once, outside of the loop");
    int frame = graph.ops.empty() ? -1 : UserFrame(run, graph.ops[0].stack);
    if (frame < 0 || run.frames[frame].source < 0) return;
    findings.back().file =
        Sentence("{0}:{1}", run.sources[run.frames[frame].source].path, run.frames[frame].line);
  }
};

GRAPNEL_CHECK(Retracing, {.name = "retracing",
                          .stage = Stage::kModel,
                          .looks_for = "a function that is traced again in most of its calls",
                          .needs = {Evidence::kDebugFolder}});

}  // namespace
}  // namespace grapnel
