#include "lib/serve/debug_page.h"

#include "lib/render/graph_page.h"
#include "lib/render/labels.h"

namespace grapnel {
Expected<std::unique_ptr<DebugPage>> DebugPage::Open(llvm::StringRef path) {
  std::unique_ptr<DebugPage> page(new DebugPage);
  ASSIGN_OR_RETURN(page->folder_, ReadDebugFolder(path));
  page->report_ = FindCauses(page->run());
  return page;
}

std::string DebugPage::Json() const {
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attribute("mode", DebugModeName(run().mode));
      json.attribute("started", TimeText(run().start_time));
      json.attribute("tensorflow", Printable(run().tensorflow_version));
      json.attribute("runs", folder_.runs.size());
      json.attribute("executions", run().executions.size());
      json.attribute("traces", run().traces.size());
      json.attributeArray("problems", [&] {
        for (const std::string& problem : folder_.problems) json.value(Printable(problem));
      });
      WriteBlameJson(run(), report_, json);
    });
  });
}

Expected<std::string> DebugPage::TraceJson(size_t trace) const {
  if (trace >= num_traces())
    return MakeError("there is no tensor {0}: the run has {1}", trace, num_traces());
  DebugAlert tensor;
  tensor.trace = static_cast<int>(trace);
  tensor.output = run().traces[trace].slot;
  Cause cause = ExplainTensor(run(), tensor);
  return PageDocument([&](llvm::json::OStream& json) { WriteCauseJson(run(), cause, json); });
}

std::string DebugPage::TracesJson(size_t from, size_t limit) const {
  size_t end = std::min(num_traces(), from + limit);
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attributeArray("traces", [&] {
        for (size_t i = from; i < end; ++i) {
          const DebugTrace& trace = run().traces[i];
          const DebugGraph* graph = trace.graph < 0 ? nullptr : &run().graphs[trace.graph];
          json.array([&] {
            json.value(i);
            json.value(Printable(trace.op_name) + ":" + std::to_string(trace.slot));
            json.value(graph && trace.op >= 0 ? Printable(graph->ops[trace.op].type) : "");
            json.value(graph ? Printable(graph->name) : "");
            json.value(RecordedTensorText(trace.value));
            json.value(trace.value.bad);
          });
        }
      });
      if (end < num_traces()) json.attribute("next", end);
    });
  });
}

}  // namespace grapnel
