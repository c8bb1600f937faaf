// A page for a folder of TensorFlow's debugger: the first cause and its consequences, every tensor,
// Python's executions, the source files, and the ops as a graph.
#ifndef GRAPNEL_LIB_SERVE_PAGES_DEBUG_PAGE_H_
#define GRAPNEL_LIB_SERVE_PAGES_DEBUG_PAGE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/serve/pages/debug_graph_page.h"
#include "lib/serve/pages/page.h"
#include "lib/support/error.h"

namespace grapnel {

constexpr size_t kTracesAPage = 500;  // tensors, or executions, in one document

// A page with the newest run in a folder.
class DebugPage : public Page {
 public:
  // Errors are those of ReadDebugFolder.
  static Expected<std::unique_ptr<DebugPage>> Open(llvm::StringRef path);

  static bool classof(const Page* page) { return page->kind() == Kind::kDebug; }

  Expected<GraphPage*> Drawing() override { return &graph_->page(); }
  void WriteListed(llvm::json::OStream& json) const override;

  // Returns the report of WriteBlameJson with the debug mode, start time and TensorFlow version of
  // the run, the numbers of runs, executions and recorded tensors, and the problems of the folder.
  std::string Json() const;
  // Return the card of one tensor or execution, made by DebugCards.
  Expected<std::string> TraceJson(size_t trace) const;
  Expected<std::string> ExecutionJson(size_t execution) const;
  // Returns at most `limit` tensors in order of execution, beginning at number `from`.
  std::string TracesJson(size_t from, size_t limit) const;
  // Returns at most `limit` of Python's executions, beginning at number `from`: [number, label, op,
  // state, whether it called a function], where state is 0 (clean), 1 (bad) or 2 (unknown).
  std::string ExecutionsJson(size_t from, size_t limit) const;
  // SourcesJson lists the source files: [path, framework, lines]; SourceJson returns one file, with
  // the ops and executions of its lines.
  std::string SourcesJson() const;
  Expected<std::string> SourceJson(size_t source) const;

  size_t num_traces() const { return run().traces.size(); }
  size_t num_executions() const { return run().executions.size(); }
  size_t num_sources() const { return run().sources.size(); }
  bool IsFramework(size_t source) const { return run().sources[source].is_framework; }
  // The alerts of the report's causes, each with the execution in which it was recorded.
  std::vector<DebugAlert> Causes() const;

 private:
  explicit DebugPage(std::string title) : Page(Kind::kDebug, std::move(title)) {}
  const DebugRun& run() const { return folder_.runs.back(); }
  int FirstBad(const DebugTensor& made) const;  // the index of a trace; -1: none is bad
  void WriteLine(const DebugIndex::Line& line, llvm::json::OStream& json) const;

  DebugFolder folder_;
  BlameReport report_;
  std::unique_ptr<DebugIndex> index_;
  DebugModule module_;
  std::unique_ptr<DebugCards> cards_;
  std::unique_ptr<DebugGraphPage> graph_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_DEBUG_PAGE_H_
