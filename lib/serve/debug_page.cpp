#include "lib/serve/debug_page.h"

#include "lib/debug/debug_text.h"
#include "lib/render/labels.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

// Of one source line.
constexpr size_t kMostOps = 50;

}  // namespace

Expected<std::unique_ptr<DebugPage>> DebugPage::Open(llvm::StringRef path) {
  std::unique_ptr<DebugPage> page(new DebugPage);
  ASSIGN_OR_RETURN(page->folder_, ReadDebugFolder(path));
  const DebugRun& run = page->run();
  page->report_ = FindCauses(run);
  page->index_ = std::make_unique<DebugIndex>(run);
  page->module_ = MakeDebugModule(run);
  page->cards_ = std::make_unique<DebugCards>(run, *page->index_, page->module_);
  page->graph_ =
      std::make_unique<DebugGraphPage>(run, page->module_, *page->index_, page->report_,
                                       *page->cards_, llvm::sys::path::filename(path).str());
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
  return cards_->Trace(static_cast<int>(trace));
}

Expected<std::string> DebugPage::ExecutionJson(size_t execution) const {
  if (execution >= num_executions())
    return MakeError("there is no execution {0}: the run has {1}", execution, num_executions());
  return cards_->Execution(static_cast<int>(execution));
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

std::string DebugPage::ExecutionsJson(size_t from, size_t limit) const {
  size_t end = std::min(num_executions(), from + limit);
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attributeArray("executions", [&] {
        for (size_t i = from; i < end; ++i) {
          const DebugExecution& execution = run().executions[i];
          bool told = llvm::any_of(execution.outputs, [](auto& out) { return out.TellsBad(); });
          bool called = execution.graph >= 0;
          json.array([&] {
            json.value(i);
            json.value(Printable(called ? run().graphs[execution.graph].name : execution.op_type));
            json.value(Printable(execution.op_type));
            json.value(index_->IsBad(static_cast<int>(i)) ? 1 : told ? 0 : 2);
            json.value(called);
          });
        }
      });
      if (end < num_executions()) json.attribute("next", end);
    });
  });
}

std::string DebugPage::SourcesJson() const {
  return PageDocument([&](llvm::json::OStream& json) {
    json.array([&] {
      for (const DebugSource& source : run().sources) {
        json.array([&] {
          json.value(Printable(source.path));
          json.value(source.is_framework);
          json.value(SourceLines(source).size());
        });
      }
    });
  });
}

// Each op or execution as [card or "", body, node, op, name, bad].
void DebugPage::WriteLine(const DebugIndex::Line& line, llvm::json::OStream& json) const {
  json.attribute("count", line.ops.size() + line.executions.size());
  json.attributeArray("made", [&] {
    size_t left = kMostOps;
    for (const DebugTensor& made : line.ops) {
      if (left-- == 0) return;
      const DebugOp& op = run().graphs[made.graph].ops[made.op];
      llvm::ArrayRef<int> traces = index_->Traces(made.graph, made.op);
      const int* bad = llvm::find_if(traces, [&](int t) { return run().traces[t].value.bad; });
      bool is_bad = bad != traces.end();
      json.array([&] {
        json.value(traces.empty() ? "" : CardName(is_bad ? *bad : traces.front(), -1));
        json.value(module_.body_of[made.graph]);
        json.value(made.op);
        json.value(Printable(op.type));
        json.value(Printable(op.name));
        json.value(is_bad);
      });
    }
    for (int execution : line.executions) {
      if (left-- == 0) return;
      json.array([&] {
        json.value(CardName(-1, execution));
        json.value(0);
        json.value(execution);
        json.value(Printable(run().executions[execution].op_type));
        json.value("execution " + std::to_string(execution));
        json.value(index_->IsBad(execution));
      });
    }
  });
}

Expected<std::string> DebugPage::SourceJson(size_t source) const {
  if (source >= num_sources())
    return MakeError("there is no source file {0}: the run has {1}", source, num_sources());
  const DebugSource& file = run().sources[source];
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attribute("path", Printable(file.path));
      json.attributeArray("lines", [&] {
        for (llvm::StringRef line : SourceLines(file)) json.value(llvm::json::fixUTF8(line));
      });
      json.attributeArray("made", [&] {
        for (const auto& [number, line] : index_->LinesOf(static_cast<int>(source))) {
          json.object([&, &number = number, &line = line] {
            json.attribute("line", number);
            WriteLine(line, json);
          });
        }
      });
    });
  });
}

}  // namespace grapnel
