// Finds functions that TensorFlow traced repeatedly. TensorFlow traces a new graph for each
// different shape or Python number among the arguments; tracing takes far longer than a step.
// TensorFlow warns if five of about the last ten calls retrace.
#include <algorithm>
#include <map>

#include "lib/doctor/doctor.h"
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

// Returns the stack frame of the line in the user's code that created the body's first op; -1 if
// unknown. Skips arguments, whose stacks lead to the call instead.
int FirstFrame(const DebugRun& run, const DebugGraph& graph) {
  for (const DebugOp& op : graph.ops) {
    int frame = op.type == "Placeholder" ? -1 : UserFrame(run, op.stack);
    if (frame >= 0 && run.frames[frame].source >= 0) return frame;
  }
  return -1;
}

std::string LineOf(const DebugRun& run, int frame) {
  const DebugFrame& at = run.frames[frame];
  return Sentence("{0}:{1}", run.sources[at.source].path, at.line);
}

// Returns a key for the graph's function: its name and source line, since several functions may
// have the same name.
std::string KeyOf(const DebugRun& run, const DebugGraph& graph) {
  int frame = FirstFrame(run, graph);
  return graph.name.str() + " " + (frame < 0 ? "" : LineOf(run, frame));
}

class Retracing : public Check {
 public:
  std::string Run(const DoctorContext& context) override {
    const DebugRun& run = *context.debug;
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
  // Describes the first recorded tensor whose shape differs between tracings; empty if there is
  // none.
  static std::string ShapesText(const DebugRun& run, const Tracings& tracings) {
    std::vector<std::string> names;
    std::map<std::string, std::vector<std::string>> shapes_of;
    for (const DebugTrace& trace : run.traces) {
      bool is_of_these = std::find(tracings.graphs.begin(), tracings.graphs.end(), trace.graph) !=
                         tracings.graphs.end();
      bool has_shape =
          trace.value.rank > 0 && trace.value.rank == static_cast<int>(trace.value.dims.size());
      if (!is_of_these || !has_shape) continue;
      std::string name = Sentence("'{0}'", trace.op_name);
      std::vector<std::string>& shapes = shapes_of[name];
      if (shapes.empty()) names.push_back(name);
      std::string shape = DimsText(trace.value.dims);
      if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(shape);
    }
    for (const std::string& name : names) {
      const std::vector<std::string>& shapes = shapes_of[name];
      if (shapes.size() < 2) continue;
      std::string text = "; " + name + " was ";
      for (size_t i = 0; i < std::min<size_t>(shapes.size(), 4); ++i)
        text += (i ? ", " : "") + shapes[i];
      return text + (shapes.size() > 4 ? ", ..." : "");
    }
    return "";
  }

  void Report(const DebugRun& run, const Tracings& tracings) {
    size_t times = tracings.graphs.size();
    if (times < kFewest || tracings.calls > 2 * times) return;
    const DebugGraph& graph = run.graphs[tracings.graphs[0]];
    Find(Confidence::kLikely, graph.name.str(),
         Sentence("this function was traced {0} times in {1}{2}", times,
                  Plural(tracings.calls, "recorded call"), ShapesText(run, tracings)),
         "give tf.function an input_signature with None where sizes differ, or reduce_retracing; "
         "pass tensors instead of Python numbers, and create the function once, outside of the "
         "loop");
    int frame = FirstFrame(run, graph);
    if (frame >= 0) findings.back().file = LineOf(run, frame);
  }
};

GRAPNEL_CHECK(Retracing, {.name = "retracing",
                          .stage = CheckStage::kModel,
                          .looks_for = "a function that is retraced in most of its calls",
                          .needs = {Evidence::kDebugFolder}});

}  // namespace
}  // namespace grapnel
