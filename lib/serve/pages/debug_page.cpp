#include "lib/serve/pages/debug_page.h"

#include "lib/check/cause_text.h"
#include "lib/ir/tensor_name.h"
#include "lib/render/labels.h"
#include "lib/support/printable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

// The largest number of executions, and of ops, listed for one source line.
constexpr size_t kMostMade = 50;

}  // namespace

Expected<std::unique_ptr<DebugPage>> DebugPage::Open(llvm::StringRef path) {
  std::unique_ptr<DebugPage> page(new DebugPage(llvm::sys::path::filename(path).str()));
  ASSIGN_OR_RETURN(page->folder_, ReadDebugFolder(path));
  const DebugRun& run = page->run();
  page->report_ = FindCauses(run);
  page->index_ = std::make_unique<DebugIndex>(run);
  page->module_ = MakeDebugModule(run);
  page->cards_ = std::make_unique<DebugCards>(run, *page->index_, page->module_);
  page->graph_ = std::make_unique<DebugGraphPage>(run, page->module_, *page->index_, page->report_,
                                                  *page->cards_, page->title());
  return page;
}

void DebugPage::WriteListed(llvm::json::OStream& json) const { json.attribute("kind", "debug"); }

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
    return MakeError("there is no tensor {0}: the number of recorded tensors is {1}", trace,
                     num_traces());
  return cards_->Trace(static_cast<int>(trace));
}

Expected<std::string> DebugPage::ExecutionJson(size_t execution) const {
  if (execution >= num_executions())
    return MakeError("there is no execution {0}: the number of executions is {1}", execution,
                     num_executions());
  return cards_->Execution(static_cast<int>(execution));
}

std::vector<DebugAlert> DebugPage::Causes() const {
  std::vector<DebugAlert> alerts;
  for (const Cause& cause : report_.causes) {
    alerts.push_back(cause.alert);
    alerts.back().execution = cause.execution;  // the call of the function has a card too
  }
  return alerts;
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
            json.value(OutputName(Printable(trace.op_name), trace.slot));
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
          json.array([&] {
            json.value(i);
            json.value(Printable(ExecutionLabel(run(), execution)));
            json.value(Printable(execution.op_type));
            json.value(index_->IsBad(static_cast<int>(i)) ? 1 : told ? 0 : 2);
            json.value(execution.graph >= 0);
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

int DebugPage::FirstBad(const DebugTensor& made) const {
  for (int trace : index_->Traces(made.graph, made.op))
    if (run().traces[trace].value.bad) return trace;
  return -1;
}

// Writes the line's executions, then its traced ops, each as [card or "", body, node, op, name,
// bad].
void DebugPage::WriteLine(const DebugIndex::Line& line, llvm::json::OStream& json) const {
  json.attribute("count", line.ops.size() + line.executions.size());
  json.attribute("bad", llvm::any_of(line.executions, [&](int e) { return index_->IsBad(e); }) ||
                            llvm::any_of(line.ops, [&](auto& op) { return FirstBad(op) >= 0; }));
  auto entry = [&](const std::string& card, int body, int node, llvm::StringRef op,
                   llvm::StringRef name, bool bad) {
    json.array([&] {
      json.value(card);
      json.value(body);
      json.value(node);
      json.value(Printable(op));
      json.value(Printable(name));
      json.value(bad);
    });
  };
  json.attributeArray("made", [&] {
    size_t executions = std::min(line.executions.size(), kMostMade);
    for (int execution : llvm::ArrayRef<int>(line.executions).take_front(executions))
      entry(CardName(-1, execution), 0, execution,
            ExecutionLabel(run(), run().executions[execution]),
            "execution " + std::to_string(execution), index_->IsBad(execution));
    for (size_t i = 0; i < std::min(line.ops.size(), kMostMade); ++i) {
      const DebugTensor& made = line.ops[i];
      const DebugOp& op = run().graphs[made.graph].ops[made.op];
      llvm::ArrayRef<int> traces = index_->Traces(made.graph, made.op);
      int bad = FirstBad(made);
      entry(traces.empty() ? "" : CardName(bad < 0 ? traces.front() : bad, -1),
            module_.body_of[made.graph], made.op, op.type, op.name, bad >= 0);
    }
  });
}

Expected<std::string> DebugPage::SourceJson(size_t source) const {
  if (source >= num_sources())
    return MakeError("there is no source file {0}: the number of files is {1}", source,
                     num_sources());
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
