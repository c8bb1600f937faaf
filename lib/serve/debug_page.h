// A folder of TensorFlow's debugger on a page: the first cause, what came of it, every tensor.
#ifndef GRAPNEL_LIB_SERVE_DEBUG_PAGE_H_
#define GRAPNEL_LIB_SERVE_DEBUG_PAGE_H_

#include <memory>
#include <string>

#include "lib/debug/debug_text.h"
#include "lib/support/error.h"

namespace grapnel {

constexpr size_t kTracesAPage = 500;

// The newest run of a folder. Safe to read from several threads.
class DebugPage {
 public:
  // Errors as ReadDebugFolder.
  static Expected<std::unique_ptr<DebugPage>> Open(llvm::StringRef path);

  // The story as WriteBlameJson has it, and what the folder holds.
  std::string Json() const;
  // The card of one tensor, as WriteCauseJson has it. Costs the records before it.
  Expected<std::string> TraceJson(size_t trace) const;
  // Tensors in the order of execution from `from` on, at most `limit`.
  std::string TracesJson(size_t from, size_t limit) const;
  size_t num_traces() const { return run().traces.size(); }

 private:
  DebugPage() = default;
  const DebugRun& run() const { return folder_.runs.back(); }

  DebugFolder folder_;
  BlameReport report_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_DEBUG_PAGE_H_
